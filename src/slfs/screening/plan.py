"""A table and what a fit may use -> blocks of columns, and how many of them to work on at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from slfs._core.resources import Resources
from slfs.tables.table import Table

BLOCK_ENTRIES = 1 << 20
"""Most numbers read at a time: a few megabytes, which stay in the processor's cache."""

_AT_ONCE = 4
"""Blocks per thread that are in work, or finished and waiting for an earlier one."""

_BLOCKS = 4
"""Blocks to aim at, so that several threads have about the same work."""

_ENTRY_BYTES = 120
"""Memory for reading, sorting and cutting a column, per entry."""

_COLUMN_BYTES = 600
"""Memory per column until the end: its record, its facts, its entry in queues."""

_SAMPLE_BYTES = 24
"""Memory per sample beside its entries: the table of n log n, its codes."""

_LEAST_ROWS = 1 << 12
"""Reading rows in pieces smaller than this would not help."""

Result = TypeVar("Result")


@dataclass(frozen=True)
class Block:
    """Consecutive columns of one kind ("mdlp", "levels" or "labels"), read ``n_rows`` rows at a time."""

    columns: NDArray[np.int64]
    kind: str
    n_rows: int


@dataclass(frozen=True)
class Plan:
    """How to go through a table: blocks, how many at once, and how many bytes of planes to keep."""

    blocks: list[Block]
    at_once: int
    plane_bytes: float


@dataclass(frozen=True)
class BlockLimits:
    """Upper limits for tests and measurements: results must not depend on them."""

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


@runtime_checkable
class SpreadTable(Protocol):
    """A table on other machines: the work is sent to its columns."""

    def map_blocks(
        self, work: Callable[[Table, Block], Result], blocks: list[Block]
    ) -> Iterable[Result]:
        """Do the work on each block of columns, or on pieces of it; results in the order of columns."""


def make_plan(table: Table, categorical: NDArray[np.bool_], resources: Resources) -> Plan:
    """Cut the columns, in order, into blocks of one kind, of a size that suits cache and memory."""
    n_samples, n_rows = table.n_samples, table.n_samples
    entries, at_once, rest = BLOCK_ENTRIES, _AT_ONCE * resources.threads.count, math.inf
    budget = resources.budget
    if budget.limit < math.inf and not isinstance(table, SpreadTable):
        # by the limit, not by what is free now: the same call must give the same bins
        tall = n_samples * _ENTRY_BYTES > budget.limit / 4
        kept = table.n_features * _COLUMN_BYTES + n_samples * _SAMPLE_BYTES
        rest = (budget.spare() - kept) / 2  # the other half is for the planes
        least = min(n_samples, _LEAST_ROWS) if tall else n_samples
        if rest < least * _ENTRY_BYTES:
            what = f"{n_samples} samples x {table.n_features} columns"
            raise budget.too_small(kept + 2 * least * _ENTRY_BYTES, what)
        most = int(rest / _ENTRY_BYTES)
        at_once = max(1, min(resources.threads.count, most // min(n_samples, BLOCK_ENTRIES)))
        entries = min(BLOCK_ENTRIES, most // at_once)
        n_rows = min(n_samples - 1, most // at_once) if tall else n_samples
    kind = np.where(table.numbers, np.where(categorical, "levels", "mdlp"), "labels")
    limits = _limits.get() or BlockLimits()
    parts = split_columns(kind, n_samples, entries, limits.n_columns)
    n_rows = int(min(n_rows, limits.n_rows))
    blocks = [Block(part, str(kind[part[0]]), n_rows) for part in parts]
    return Plan(blocks, at_once, min(rest, limits.plane_bytes))


def split_columns(
    kind: NDArray[np.str_], n_samples: int, entries: int, most: float = math.inf
) -> list[NDArray[np.int64]]:
    """Cut 0 .. len(kind) - 1 where the kind changes, and where a part would become too wide.

    Columns of labels are blocks of their own.
    """
    width = int(max(1, min(entries // max(n_samples, 1), -(-len(kind) // _BLOCKS), most)))
    alone = kind == "labels"
    begins = np.flatnonzero(np.concatenate([[True], (kind[1:] != kind[:-1]) | alone[1:]]))
    parts = []
    for begin, end in zip(begins, [*begins[1:], len(kind)], strict=True):
        parts += [np.arange(b, min(b + width, end)) for b in range(begin, end, width)]
    return parts
