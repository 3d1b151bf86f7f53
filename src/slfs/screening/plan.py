"""A table, threads and a memory limit -> blocks of columns, and how many to process at once."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slfs._core.resources import Resources
from slfs.tables.planes import is_planes
from slfs.tables.table import SpreadTable, Table

BLOCK_ENTRIES = 1 << 20
"""Maximum number of entries of a block: a few megabytes, which fit in the processor's cache."""

_AT_ONCE = 4
"""Blocks per thread that are being processed, or finished and waiting for an earlier one."""

_BLOCKS = 4
"""Minimum number of blocks to aim at, so that the work is balanced between threads."""

_ENTRY_BYTES = 120
"""Memory for reading, sorting and cutting a column, per entry."""

_CLASS_BYTES = 2 * 256 * 8
"""Memory for the counts of a column, per class: two copies of a count for each of 256 levels."""

_COLUMN_BYTES = 600
"""Memory per column that is kept until the end: its record, its facts, its entry in queues."""

_SAMPLE_BYTES = 24
"""Memory per sample in addition to its entries: the table of n log n, its codes."""

_PLANE_SHARE = 8
"""Number of entries of columns that are bit planes which take at most as much memory as one number."""

_MIN_ROWS = 1 << 12
"""Minimum number of rows to read at a time: smaller pieces would not save memory."""


@dataclass(frozen=True)
class Block:
    """Consecutive columns of one kind ("mdlp", "levels" or "labels"), read ``n_rows`` rows at a time."""

    columns: NDArray[np.int64]
    kind: str
    n_rows: int


CATEGORIES = frozenset({"levels", "labels"})
ALL_KINDS = CATEGORIES | {"mdlp"}
"""Kinds of blocks."""


@dataclass(frozen=True)
class Plan:
    """How to process a table: blocks, how many at once, and the maximum size of planes in memory."""

    blocks: list[Block]
    at_once: int
    plane_bytes: float


@dataclass(frozen=True)
class BlockLimits:
    """Upper limits for tests and benchmarks; results must not depend on them."""

    n_rows: float = math.inf
    n_columns: float = math.inf
    plane_bytes: float = math.inf


_limits: ContextVar[BlockLimits | None] = ContextVar("slfs_block_limits", default=None)


@contextmanager
def block_limits(limits: BlockLimits) -> Iterator[None]:
    """Limit the size of blocks and of planes in memory, in the current thread."""
    token = _limits.set(limits)
    try:
        yield
    finally:
        _limits.reset(token)


def make_plan(
    table: Table,
    n_samples: int,
    categorical: NDArray[np.bool_],
    resources: Resources,
    n_classes: int = 1,
    *,
    whole: bool = False,
) -> Plan:
    """Split the columns, in order, into blocks of one kind whose size suits cache and memory limit.

    ``n_samples`` is the number of rows to read, which may be more than the table has: sample weights
    repeat rows. ``whole`` does not allow to read columns in parts of the rows.
    """
    n_rows = n_samples
    column_entries = n_samples
    entries, at_once, rest = BLOCK_ENTRIES, _AT_ONCE * resources.threads.count, math.inf
    budget = resources.budget
    if budget.limit < math.inf and not isinstance(table, SpreadTable):
        kept = _kept_bytes(n_samples, table.n_features)
        rest = (budget.spare() - kept) / 2  # the other half is for the planes
        # depends on the limit, not on the memory that is free now, where a whole column fits: equal
        # calls must give equal bins
        tall = not whole and n_samples * _ENTRY_BYTES > min(budget.limit / 4, rest)
        min_rows = n_samples if whole else min(n_samples, _MIN_ROWS)
        if rest < min_rows * _ENTRY_BYTES:
            what = f"{n_samples} samples x {table.n_features} columns"
            raise budget.too_small(least_bytes(n_samples, table.n_features, min_rows), what)
        max_entries = int(rest / _ENTRY_BYTES)
        column_entries += n_classes * _CLASS_BYTES // _ENTRY_BYTES
        at_once = max(1, min(resources.threads.count, max_entries // min(column_entries, BLOCK_ENTRIES)))
        entries = min(BLOCK_ENTRIES, max_entries // at_once)
        n_rows = min(n_samples - 1, max_entries // at_once) if tall else n_samples
    kind = np.where(table.numbers, np.where(categorical, "levels", "mdlp"), "labels")
    limits = _limits.get() or BlockLimits()
    planes = is_planes(table)
    apart = np.char.add(kind, np.where(planes, " as planes", "")) if planes.any() else kind
    per_column = np.where(planes, -(-column_entries // _PLANE_SHARE), column_entries)
    parts = split_columns(apart, per_column, entries, limits.n_columns)
    n_rows = int(min(n_rows, limits.n_rows))
    blocks = [Block(part, str(kind[part[0]]), n_rows) for part in parts]
    return Plan(blocks, at_once, min(rest, limits.plane_bytes))


def least_bytes(n_samples: int, n_features: int, n_rows: int = _MIN_ROWS) -> int:
    """Return the memory in which a table can be read, a number of rows at a time."""
    return _kept_bytes(n_samples, n_features) + 2 * min(n_samples, n_rows) * _ENTRY_BYTES


def _kept_bytes(n_samples: int, n_features: int) -> int:
    return n_features * _COLUMN_BYTES + n_samples * _SAMPLE_BYTES


def split_columns(
    kind: NDArray[np.str_], per_column: NDArray[np.int64], entries: int, max_width: float = math.inf
) -> list[NDArray[np.int64]]:
    """Split 0 .. len(kind) - 1 where the kind changes, and where a part would have too many entries.

    ``per_column`` is the number of entries of each column, equal for columns of one kind. Each column of
    labels is a block of its own.
    """
    widths = np.minimum(entries // np.maximum(per_column, 1), min(-(-len(kind) // _BLOCKS), max_width))
    widths = np.maximum(widths, 1).astype(np.int64)
    alone = kind == "labels"
    begins = np.flatnonzero(np.concatenate([[True], (kind[1:] != kind[:-1]) | alone[1:]]))
    parts = []
    for begin, end in zip(begins, [*begins[1:], len(kind)], strict=True):
        width = int(widths[begin])
        parts += [np.arange(b, min(b + width, end)) for b in range(begin, end, width)]
    return parts
