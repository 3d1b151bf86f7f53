"""The counting protocol: the interface through which the library counts packed columns.

All backends return exactly the same integers. Sums of n log n are the fixed-point integer sums of
`slfs.counting.nlogn`, so that results are exact and do not depend on threads, blocks or machines.
`NumpyBackend` is the reference for all others.

Columns are given by their packed index; samples are in the order of the layout (sorted by class).
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from slfs._core.indices import PackedIndex
from slfs._core.threads import Threads
from slfs.counting.nlogn import nlogn_table
from slfs.counting.pairs import PairScreen
from slfs.counting.planes import PackedColumns
from slfs.counting.queue import Queue
from slfs.counting.residuals import Residuals, residual_gains

Ints = NDArray[np.int64]
Codes = NDArray[np.uint8]
Floats = NDArray[np.float64]


class ConditionalCounts(NamedTuple):
    """Counts of a column and the class within the strata of other columns.

    ``table`` has shape (n_strata, n_levels, n_classes); strata without samples may be left out.
    ``half_g`` is S(f,Y,Z) - S(f,Z) - S(Y,Z) + S(Z): half the G statistic of f and Y given Z, in the unit
    of the n log n table.
    """

    table: Ints
    half_g: int


class CountingBackend(ABC):
    """Base class of counting backends.

    S(...) is the sum of n log n over the cells of a contingency table, as a fixed-point integer.

    Parameters
    ----------
    packed : PackedColumns
        The columns as bit planes.
    threads : Threads
        Threads that a backend may use.
    """

    def __init__(self, packed: PackedColumns, threads: Threads) -> None:
        self.packed = packed
        self.threads = threads
        self.nlogn = nlogn_table(packed.layout.n_samples)

    # -- one column and the class ----------------------------------------------------------------

    @abstractmethod
    def codes(self, f: PackedIndex) -> Codes:
        """Return the level of each sample in one column."""

    def class_counts(self, f: PackedIndex) -> Ints:
        """Return the counts of one column: one row per level, one column per class."""
        return self.packed.class_counts(f)

    @abstractmethod
    def column_sums(self) -> Ints:
        """Return S(f) and S(f,Y) of every column: an array of shape (n_packed, 2)."""

    # -- one column against many -----------------------------------------------------------------

    @abstractmethod
    def pair_sums(self, f: PackedIndex, others: Ints) -> Ints:
        """Return S(f,k) and S(f,k,Y) for each k in ``others``: an array of shape (n_others, 2)."""

    @abstractmethod
    def pooled_pair_sums(self, f: PackedIndex, others: Ints) -> Ints:
        """Return only S(f,k) for each k in ``others``: an array of shape (n_others,)."""

    # -- tables of counts ------------------------------------------------------------------------

    @abstractmethod
    def joint_counts(self, f: PackedIndex, k: PackedIndex) -> Ints:
        """Count two columns: an array of shape (n_classes, levels of f, levels of k)."""

    @abstractmethod
    def conditional_counts(self, f: PackedIndex, given: Sequence[int]) -> ConditionalCounts:
        """Count a column and the class for each combination of levels of the given columns."""

    # -- weights and labels that are not in the planes -------------------------------------------

    @abstractmethod
    def weighted_sums(self, columns: Ints, weights: Ints) -> Ints:
        """Return the sums of integer weights over the samples of each level.

        ``weights`` has shape (n_samples, n_weights); the result has one row per level, column after
        column, and one column per weight.
        """

    @functools.cached_property
    def quartiles(self) -> CountingBackend | None:
        """The same backend for the quartiles of the columns; None if these are not packed."""
        own = self.packed.quartiles
        return None if own is None else type(self)(own, self.threads)

    def gains(self, columns: Ints, residuals: Residuals) -> Floats:
        """Return how well each of some columns explains the residuals of a step of a pursuit."""
        weights = residuals.weights()
        trends = None if self.quartiles is None else self.quartiles.weighted_sums(columns, weights)
        return residual_gains(self.packed, columns, self.weighted_sums(columns, weights), trends)

    def settle_first(self, queue: Queue, steps: Sequence[Residuals]) -> None:
        """Lower the bounds of columns until the first column of the queue has seen all steps.

        Only the first column is looked at, in the newest step that it has not seen; its gain is that of
        `gains`. The queue is changed in place.
        """
        while (step := queue.newest_unseen(len(steps))) >= 0:
            first = queue.columns[:1].astype(np.int64)
            queue.lower_first(step, float(self.gains(first, steps[step])[0]))

    @abstractmethod
    def label_sums(self, labels: Codes) -> Ints:
        """Return S(f, labels) of every column, for labels other than the classes, one per sample."""

    @abstractmethod
    def count_exceedances(
        self, columns: Ints, permuted: Codes, observed: Ints, enough: int, hits: Ints, draws: Ints
    ) -> None:
        """Count how often permuted labels, one permutation per row, reach the observed S(f, labels).

        For the given columns, adds the number of such permutations to ``hits`` and the number of
        permutations tried to ``draws``, which are arrays of all columns. A column with ``enough`` hits
        is not tried again.
        """

    # -- blocks of columns -----------------------------------------------------------------------

    def block_sums(self, left: Ints, right: Ints) -> Ints:
        """Return S(f,k) and S(f,k,Y) for all pairs: an array of shape (n_left, n_right, 2)."""
        sums = np.empty((len(left), len(right), 2), np.int64)
        for row, f in zip(sums, left.tolist(), strict=True):
            row[:] = self.pair_sums(PackedIndex(f), right)
        return sums

    # -- pairs that may interact -----------------------------------------------------------------

    PAIR_BLOCK: ClassVar[tuple[int, int]] = (64, 1024)
    """Numbers of columns of the two blocks that `screen_pairs` is best called with."""

    def screen_pairs(self, left: Ints, right: Ints, screen: PairScreen, *, ordered: bool) -> Ints:
        """Count all pairs of two blocks of columns and return those that pass a screen, in any order.

        The result has shape (n_found, 2): f in ``left``, k in ``right``. With ``ordered``, only
        pairs with f < k are considered. All columns have planes. Several threads may call this at
        the same time.
        """
        levels = self.packed.arrays.levels.astype(np.int64)
        found = [np.empty((0, 2), np.int64)]
        for f in left.tolist():
            others = right[right > f] if ordered else right
            sums = self.pair_sums(PackedIndex(f), others)
            kept = others[sums[:, 1] - sums[:, 0] >= screen.needed(f, others, levels)]
            found.append(np.column_stack([np.full(len(kept), f), kept]))
        return np.concatenate(found)

    @abstractmethod
    def pair_tables(self, pairs: Ints) -> Ints:
        """Count the given pairs: an array of shape (n_pairs, n_classes, n_levels, n_levels).

        ``n_levels`` is the maximum of all packed columns; cells of levels that a column does not have
        are 0.
        """


BackendFactory = Callable[[PackedColumns, Threads], CountingBackend]


def _numba(packed: PackedColumns, threads: Threads) -> CountingBackend:
    from slfs.counting.numba_backend import NumbaBackend

    return NumbaBackend(packed, threads)


def _numpy(packed: PackedColumns, threads: Threads) -> CountingBackend:
    from slfs.counting.numpy_backend import NumpyBackend

    return NumpyBackend(packed, threads)


def _cuda(packed: PackedColumns, threads: Threads) -> CountingBackend:
    from slfs.counting.cuda.backend import CudaBackend

    return CudaBackend(packed, threads)


_FACTORIES: dict[str, BackendFactory] = {"numba": _numba, "numpy": _numpy, "cuda": _cuda}
_current: ContextVar[str] = ContextVar("slfs_backend", default="numba")


def register_backend(name: str, factory: BackendFactory) -> None:
    """Make a backend available to `use_backend` under a name.

    Parameters
    ----------
    name : str
        Name of the backend.
    factory : callable
        Function of the packed columns and the threads that returns a `CountingBackend`.
    """
    _FACTORIES[name] = factory


@contextmanager
def use_backend(name: str) -> Iterator[None]:
    """Count with another backend inside a ``with`` block, in the current thread.

    Parameters
    ----------
    name : str
        "numba" (the default), "numpy" (slow, the reference), "cuda" (an NVIDIA GPU) or a registered
        name.
    """
    if name not in _FACTORIES:
        raise ValueError(f"Unknown counting backend {name!r}. Available: {', '.join(_FACTORIES)}.")
    token = _current.set(name)
    try:
        yield
    finally:
        _current.reset(token)


DEVICES = ("cpu", "cuda", "auto")


@contextmanager
def use_device(device: str) -> Iterator[None]:
    """Count on the CPU or on a GPU inside a ``with`` block, in the current thread.

    Parameters
    ----------
    device : {"cpu", "cuda", "auto"}
        "cpu" keeps the backend in use; "auto" uses a GPU if there is one.
    """
    if device == "cpu":
        yield
        return
    from slfs.counting.cuda.card import why_unavailable

    reason = why_unavailable()
    if reason and device == "cuda":
        raise RuntimeError(f"device='cuda': {reason}")
    with use_backend(_current.get() if reason else "cuda"):
        yield


def make_backend(packed: PackedColumns, threads: Threads) -> CountingBackend:
    """Create the backend in use for some packed columns."""
    return _FACTORIES[_current.get()](packed, threads)
