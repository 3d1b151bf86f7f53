"""Packed columns -> all pairs that may interact, block against block, with their p-values.

The result does not depend on blocks or threads: it consists of the pairs with the smallest p-values.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from slfs._core.progress import steps
from slfs.counting.backend import CountingBackend
from slfs.files.atomic import replace_file
from slfs.measures.interactions import interaction_p_values, pair_screen

Ints = NDArray[np.int64]

FOUND = np.dtype([("f", np.int32), ("k", np.int32), ("statistic", np.float64), ("p_value", np.float64)])
"""dtype of a pair, by packed indices f < k."""

MOST_KEPT = 100_000
"""Number of pairs that are kept, those with the smallest p-values; more than that are not needed."""

_EXPECTED = 5_000
"""Number of pairs without interaction that are expected to be kept."""

_MOST_CELLS = 4_000_000
"""Maximum number of cells of the tables that are counted at once: some 200,000 pairs of three levels."""

_SAVE_SECONDS = 30.0
_AT_ONCE = 4


@dataclass(frozen=True)
class Rectangle:
    """All pairs of two blocks of packed columns; ``ordered``: only those with f < k."""

    left: Ints
    right: Ints
    ordered: bool = False

    @property
    def n_pairs(self) -> int:
        n = len(self.left)
        return n * (n - 1) // 2 if self.ordered else n * len(self.right)


def rectangles(columns: Ints, partners: Ints) -> list[Rectangle]:
    """Split the pairs of a column and a partner, each pair once, into rectangles."""
    both = np.intersect1d(columns, partners)
    alone, others = np.setdiff1d(columns, both), np.setdiff1d(partners, both)
    parts = [Rectangle(both, both, ordered=True), Rectangle(alone, partners), Rectangle(both, others)]
    return [part for part in parts if part.n_pairs]


def scan_pairs(
    backend: CountingBackend, parts: list[Rectangle], fdr: float, checkpoint: Path | None = None
) -> NDArray[np.void]:
    """Test all pairs and return those with the smallest p-values, in order, at most `MOST_KEPT`.

    All pairs are returned with p <= ``fdr`` times `MOST_KEPT` / number of pairs, unless there are
    more than `MOST_KEPT`: enough for the method of Benjamini and Hochberg. A scan with a
    ``checkpoint`` stores its state in this file now and then, and starts from there.
    """
    n_pairs = sum(part.n_pairs for part in parts)
    if n_pairs == 0:
        return np.empty(0, FOUND)
    limit = min(1.0, max(_EXPECTED, fdr * MOST_KEPT) / n_pairs)
    kept = _Kept(limit)
    saved = None if checkpoint is None else _Checkpoint(checkpoint, backend, parts, fdr)
    done = saved.load(kept) if saved is not None else 0
    step = steps(sum(_n_tasks(part, *backend.PAIR_BLOCK) for part in parts))
    tasks = itertools.islice(_tasks(parts, *backend.PAIR_BLOCK), done, None)
    for _ in range(done):
        step()
    screen = functools.cache(functools.partial(pair_screen, backend))

    def test(task: Rectangle) -> NDArray[np.void]:
        at_most = kept.limit
        found = backend.screen_pairs(task.left, task.right, screen(at_most), ordered=task.ordered)
        return _test(backend, found, at_most)

    for found in backend.threads.each(test, tasks, _AT_ONCE * backend.threads.count):
        kept.add(found)
        done += 1
        if saved is not None:
            saved.store(kept, done)
        step()
    if saved is not None:
        saved.remove()
    return kept.best()


def _test(backend: CountingBackend, pairs: Ints, p_limit: float) -> NDArray[np.void]:
    """Return the pairs with a p-value of at most ``p_limit``."""
    pairs = np.sort(pairs, axis=1)
    levels = backend.packed.arrays.levels.astype(np.int64)
    n_classes = backend.packed.layout.n_classes
    size = max(_MOST_CELLS // (n_classes * int(levels.max(initial=2)) ** 2), 1)
    parts = [np.empty(0, FOUND)]
    for begin in range(0, len(pairs), size):
        own = pairs[begin : begin + size]
        freedom = (levels[own] - 1).prod(axis=1) * (n_classes - 1)
        statistic, p_value = interaction_p_values(backend.pair_tables(own), freedom, p_limit)
        passed = p_value <= p_limit
        found = np.empty(int(passed.sum()), FOUND)
        found["f"], found["k"] = own[passed].T
        found["statistic"], found["p_value"] = statistic[passed], p_value[passed]
        parts.append(found)
    return np.concatenate(parts)


def _n_tasks(part: Rectangle, n_left: int, n_right: int) -> int:
    begins = range(0, len(part.left), n_left)
    return sum(-(-(len(part.right) - part.ordered * begin) // n_right) for begin in begins)


def _tasks(parts: list[Rectangle], n_left: int, n_right: int) -> Iterator[Rectangle]:
    for part in parts:
        for begin in range(0, len(part.left), n_left):
            left = part.left[begin : begin + n_left]
            for first in range(begin if part.ordered else 0, len(part.right), n_right):
                right = part.right[first : first + n_right]
                ordered = part.ordered and first < begin + n_left
                yield Rectangle(left, right, ordered)


class _Kept:
    """The pairs with the smallest p-values so far, and the largest p-value that is still needed."""

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.parts: list[NDArray[np.void]] = []
        self.number = 0

    def add(self, found: NDArray[np.void]) -> None:
        if len(found):
            self.parts.append(found)
            self.number += len(found)
        if self.number > 2 * MOST_KEPT:
            self.limit = float(self.best()["p_value"][-1])

    def best(self) -> NDArray[np.void]:
        """Return the pairs in order, and drop all others."""
        every = np.concatenate(self.parts) if self.parts else np.empty(0, FOUND)
        order = np.lexsort((every["k"], every["f"], -every["statistic"], every["p_value"]))
        best: NDArray[np.void] = every[order[:MOST_KEPT]]
        self.parts, self.number = [best], len(best)
        return best


class _Checkpoint:
    """The file in which an unfinished scan is stored."""

    def __init__(self, path: Path, backend: CountingBackend, parts: list[Rectangle], fdr: float) -> None:
        self.path, self._last = path, time.monotonic()
        arrays, layout = backend.packed.arrays, backend.packed.layout
        digest = hashlib.blake2b(repr((layout.totals.tolist(), fdr, backend.PAIR_BLOCK)).encode())
        for array in (
            arrays.words,
            arrays.levels,
            *(p for part in parts for p in (part.left, part.right)),
        ):
            digest.update(np.ascontiguousarray(array).view(np.uint8).data)
        self._digest = digest.hexdigest()

    def load(self, kept: _Kept) -> int:
        """Restore the state of a scan; return the number of finished blocks."""
        if not self.path.exists():
            return 0
        try:
            stored = np.load(self.path, allow_pickle=False)
            if not isinstance(stored, np.lib.npyio.NpzFile):
                raise TypeError("it is a single array")
            with stored:
                digest, done, limit, found = (
                    str(stored["digest"]), int(stored["done"]), float(stored["limit"]), stored["found"]
                )  # fmt: skip
        except (OSError, TypeError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise ValueError(
                f"{self.path} is not the state of an unfinished scan of pairs ({error}). Pass another "
                "file."
            ) from error
        if digest != self._digest or found.dtype != FOUND:
            raise ValueError(
                f"{self.path} belongs to a scan of other data, columns or parameters. Remove it, or "
                "pass another file."
            )
        kept.limit = limit
        kept.add(found)
        return done

    def store(self, kept: _Kept, done: int) -> None:
        """Write the state, unless it was written a short time ago."""
        if time.monotonic() - self._last < _SAVE_SECONDS:
            return
        state = {"digest": self._digest, "done": done, "limit": kept.limit, "found": kept.best()}

        def write(draft: Path) -> None:
            with draft.open("wb") as file:
                np.savez(file, **state)  # type: ignore[arg-type]

        replace_file(self.path, write)
        self._last = time.monotonic()

    def remove(self) -> None:
        """Remove the file of a finished scan."""
        self.path.unlink(missing_ok=True)
