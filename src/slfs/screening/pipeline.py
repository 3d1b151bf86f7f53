"""A table and its classes -> coding of every column, packed planes of those worth keeping.

Block by block of columns: read, learn, judge, code, pack, forget. A block never meets another, so the
result does not depend on their size or on the threads that work on them. Where not even one column fits
in the memory allowed, the rows of a block are read in pieces.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from slfs._core.progress import counted
from slfs._core.threads import Threads
from slfs.coding.by_rows import Piece, Tally, cut_rows, encode_rows, tally_rows
from slfs.coding.categories import encode_labels, learn_labels
from slfs.coding.codebook import Coding, Learned, join_arrays, join_codings
from slfs.coding.numbers import encode_numbers, learn_levels, learn_numbers, make_runs, mdlp_cuts
from slfs.counting.nlogn import nlogn_table
from slfs.counting.planes import PackedBlock, PackedColumns, SampleLayout, pack_block
from slfs.counting.store import PlaneStore
from slfs.measures.information import column_information, column_sums
from slfs.screening.blind import level_p_values, pack_blind, quartile_p_values
from slfs.tables.table import LabelBlock, NumberBlock, Table

_BLOCK_ENTRIES = 1 << 20
"""Most numbers read at a time: a few megabytes, which stay in the processor's cache."""

_AT_ONCE = 4
"""Blocks for each thread that are worked on, or done and waiting for one before them."""

_BLOCKS = 4
"""Blocks to aim at, so that several threads have about the same work."""

_ENTRY_BYTES = 120
"""What reading, sorting and cutting a column takes for each of its entries."""

_COLUMN_BYTES = 600
"""What a column takes until the end: its record, what is known of it, its place in queues."""

_SAMPLE_BYTES = 24
"""What a sample takes beside its entries: the table of n log n, its codes."""

_LEAST_ROWS = 1 << 12
"""Rows below which reading them in pieces is no way out."""


@dataclass(frozen=True)
class ColumnFacts:
    """What is known of each column before any two are compared: arrays of one entry a column.

    ``p_value`` is that of independence from the class on levels which have not seen the class (NaN
    unless asked for).
    """

    n_samples: int
    n_classes: int
    coding: Coding
    entropy: NDArray[np.float64]
    relevance: NDArray[np.float64]
    p_value: NDArray[np.float64]


Keep = Callable[[ColumnFacts], NDArray[np.bool_]]
Cuts = Sequence[NDArray[np.float64]]
Encode = Callable[[NDArray[np.int64]], NDArray[np.uint8]]
Result = TypeVar("Result")


@dataclass(frozen=True)
class _Block:
    columns: NDArray[np.int64]
    kind: str  # "mdlp", "levels" or "labels"
    n_rows: int  # read so many at a time


@dataclass(frozen=True)
class _Plan:
    """How to go through a table: blocks, how many at once, and how many bytes of planes to keep."""

    blocks: list[_Block]
    at_once: int
    plane_bytes: float


@dataclass(frozen=True)
class _Coded:
    facts: ColumnFacts
    packed: PackedBlock


@runtime_checkable
class SpreadTable(Protocol):
    """A table that is on other machines: the work goes to its columns, not they to the work."""

    def map_blocks(
        self, work: Callable[[Table, _Block], Result], blocks: list[_Block]
    ) -> Iterable[Result]:
        """Do the work on each block of columns, or on pieces of it; results in the order of columns."""


def learn_table(
    table: Table, layout: SampleLayout, categorical: NDArray[np.bool_], threads: Threads
) -> Coding:
    """Learn the coding of every column, and nothing else."""
    work = functools.partial(_learn_coding, layout=layout)
    return join_codings(list(_each_block(table, work, _plan(table, categorical, threads), threads)))


def code_table(
    table: Table,
    layout: SampleLayout,
    categorical: NDArray[np.bool_],
    threads: Threads,
    *,
    keep: Keep,
    test: bool = False,
    cuts: Cuts | None = None,
    store: PlaneStore | None = None,
    first: int = 0,
) -> tuple[ColumnFacts, PlaneStore]:
    """Learn the coding of every column and pack those for which ``keep`` says so.

    ``test`` asks for the p-values of the columns. ``cuts`` are the cut points of each column of numbers,
    by default those of MDLP. The planes join those in ``store``, columns being numbered from ``first``.
    """
    work = functools.partial(_code, layout=layout, keep=keep, test=test, cuts=cuts)
    try:
        plan = _plan(table, categorical, threads)
    except MemoryError:
        if store is None or not store.spill():
            raise
        plan = _plan(table, categorical, threads)
    store = PlaneStore(layout, plan.plane_bytes) if store is None else store
    facts = []
    for part in _each_block(table, work, plan, threads):
        facts.append(part.facts)
        store.append(part.packed, first)
    return join_facts(facts), store


def table_p_values(
    table: Table, layout: SampleLayout, categorical: NDArray[np.bool_], threads: Threads
) -> NDArray[np.float64]:
    """p-values of independence from the class, one a column, and nothing else."""
    work = functools.partial(_p_values, layout=layout)
    plan = _plan(table, categorical, threads)
    return np.concatenate(list(_each_block(table, work, plan, threads)))


def pack_table_blind(
    table: Table,
    categorical: NDArray[np.bool_],
    keep: NDArray[np.bool_],
    most_levels: int,
    threads: Threads,
) -> PackedColumns:
    """Pack some columns in levels that have not seen the class, samples as they stand."""
    layout = SampleLayout.from_class_codes(np.zeros(table.n_samples, np.int64), 1)
    work = functools.partial(_pack_blind, layout=layout, keep=keep, most_levels=most_levels)
    plan = _plan(table, categorical, threads)
    store = PlaneStore(layout, plan.plane_bytes)
    for part in _each_block(table, work, plan, threads):
        store.append(part)
    return store.packed()


def join_facts(parts: list[ColumnFacts]) -> ColumnFacts:
    """Put what is known of consecutive columns one after another; the list is emptied to save memory."""
    if len(parts) == 1:
        return parts.pop()
    n_samples, n_classes = parts[0].n_samples, parts[0].n_classes
    codings = [part.coding for part in parts]
    fields = [[getattr(part, name) for part in parts] for name in ("entropy", "relevance", "p_value")]
    parts.clear()
    coding = join_codings(codings)
    entropy, relevance, p_value = (join_arrays(own) for own in fields)
    return ColumnFacts(n_samples, n_classes, coding, entropy, relevance, p_value)


def encode_table(
    table: Table, coding: Coding, columns: NDArray[np.int64], threads: Threads
) -> NDArray[np.uint8]:
    """Code some columns of a table: an array (n_columns, n_samples). ``coding`` is that of these."""
    order = np.arange(table.n_samples)
    codes = np.empty((len(columns), table.n_samples), np.uint8)

    def encode(part: NDArray[np.int64]) -> None:
        if labels[part[0]]:
            label_block = table.label_block(int(columns[part[0]]), order)
            codes[part] = encode_labels(coding, int(part[0]), label_block)
        else:
            block = table.number_block(columns[part], order)
            codes[part] = encode_numbers(coding.take(part), block)

    labels = np.isin(np.arange(len(columns)), list(coding.categories))
    if len(columns):
        threads.map(encode, _split(labels, labels, table.n_samples))
    return codes


@functools.cache
def _reuse_freed_memory() -> None:
    """Let malloc keep the few megabytes that a block takes for the next one.

    glibc hands freed blocks back to the system, and faults every page in again, unless it has seen a
    block of that size freed before (a quarter of the time of MDLP). These pages are never touched.
    """
    np.empty(30 << 20, np.uint8)


def _plan(table: Table, categorical: NDArray[np.bool_], threads: Threads) -> _Plan:
    """Cut the columns, in order, into blocks of one kind, of a size that suits cache and memory."""
    n_samples, n_rows = table.n_samples, table.n_samples
    entries, at_once, rest = _BLOCK_ENTRIES, _AT_ONCE * threads.count, math.inf
    limit = threads.budget.limit
    if limit < math.inf and not isinstance(table, SpreadTable):
        tall = n_samples * _ENTRY_BYTES > limit / 4  # not by what is free: the same call, the same bins
        kept = table.n_features * _COLUMN_BYTES + n_samples * _SAMPLE_BYTES
        rest = (threads.budget.spare() - kept) / 2  # the other half is for the planes
        least = min(n_samples, _LEAST_ROWS) if tall else n_samples
        if rest < least * _ENTRY_BYTES:
            what = f"{n_samples} samples x {table.n_features} columns"
            raise threads.budget.too_small(kept + 2 * least * _ENTRY_BYTES, what)
        most = int(rest / _ENTRY_BYTES)
        at_once = max(1, min(threads.count, most // min(n_samples, _BLOCK_ENTRIES)))
        entries = min(_BLOCK_ENTRIES, most // at_once)
        n_rows = min(n_samples - 1, most // at_once) if tall else n_samples
    kind = np.where(table.numbers, np.where(categorical, "levels", "mdlp"), "labels")
    parts = _split(kind, kind == "labels", n_samples, entries)
    return _Plan([_Block(part, str(kind[part[0]]), n_rows) for part in parts], at_once, rest)


def _each_block(
    table: Table, work: Callable[[Table, _Block], Result], plan: _Plan, threads: Threads
) -> Iterator[Result]:
    if isinstance(table, SpreadTable):
        yield from table.map_blocks(work, plan.blocks)
        return
    told = counted(functools.partial(work, table), len(plan.blocks))
    yield from threads.each(told, plan.blocks, plan.at_once)


def _split(
    kind: NDArray[np.generic],
    alone: NDArray[np.bool_],
    n_samples: int,
    entries: int = _BLOCK_ENTRIES,
) -> list[NDArray[np.int64]]:
    """Cut 0 .. len(kind) - 1 where the kind changes, and where a part would become too wide."""
    width = max(1, min(entries // max(n_samples, 1), -(-len(kind) // _BLOCKS)))
    begins = np.flatnonzero(np.concatenate([[True], (kind[1:] != kind[:-1]) | alone[1:]]))
    parts = []
    for begin, end in zip(begins, [*begins[1:], len(kind)], strict=True):
        parts += [np.arange(b, min(b + width, end)) for b in range(begin, end, width)]
    return parts


def _learn_coding(table: Table, block: _Block, *, layout: SampleLayout) -> Coding:
    learned, _, _ = _learn(table, layout, block)
    return learned.coding


def _p_values(table: Table, block: _Block, *, layout: SampleLayout) -> NDArray[np.float64]:
    if block.kind == "labels":
        return level_p_values(_learn_labels(table, layout, block)[0], layout)
    tally, _ = _read_numbers(table, layout, block, binned=block.kind == "mdlp")
    if block.kind == "levels":
        return level_p_values(learn_levels(tally.runs, tally.missing, layout), layout)
    return quartile_p_values(tally.runs, tally.missing, layout)


def _pack_blind(
    table: Table,
    block: _Block,
    *,
    layout: SampleLayout,
    keep: NDArray[np.bool_],
    most_levels: int,
) -> PackedBlock:
    columns = block.columns[keep[block.columns]]
    if len(columns) == 0:
        none = np.empty(0, np.int64)
        return pack_block(layout, columns, np.empty((0, layout.n_samples), np.uint8), none, none)
    return pack_blind(table, columns, block.kind, layout, most_levels)


def _learn(
    table: Table,
    layout: SampleLayout,
    block: _Block,
    test: bool = False,
    cuts: Cuts | None = None,
) -> tuple[Learned, Encode, NDArray[np.float64]]:
    """Learn one block; return it with a function that codes some of its columns, and p-values."""
    _reuse_freed_memory()
    p_value = np.full(len(block.columns), np.nan)
    if block.kind == "labels":
        learned, encode_label = _learn_labels(table, layout, block)
        if test:
            p_value = level_p_values(learned, layout)
        return learned, encode_label, p_value
    tally, numbers = _read_numbers(table, layout, block, binned=block.kind == "mdlp" and cuts is None)
    runs, missing = tally.runs, tally.missing
    if block.kind == "levels":
        learned = learn_levels(runs, missing, layout)
    else:
        if cuts is None:
            thresholds, n_cuts = mdlp_cuts(runs, layout.n_classes, nlogn_table(layout.n_samples))
            if numbers is None:
                thresholds = tally.between_bins(thresholds, n_cuts)
        else:
            own = [cuts[column] for column in block.columns]
            thresholds, n_cuts = np.concatenate(own), np.array([len(part) for part in own])
        learned = learn_numbers(runs, missing, layout, thresholds, n_cuts)
    if test and block.kind == "levels":
        p_value = level_p_values(learned, layout)
    elif test:
        p_value = quartile_p_values(runs, missing, layout)

    def encode(kept: NDArray[np.int64]) -> NDArray[np.uint8]:
        coding = learned.coding.take(kept)
        if numbers is None:
            return encode_rows(table, coding, block.columns[kept], layout, block.n_rows)
        return encode_numbers(coding, numbers.take(kept), seen=True)

    return learned, encode, p_value


def _read_numbers(
    table: Table, layout: SampleLayout, block: _Block, *, binned: bool
) -> tuple[Tally, NumberBlock | None]:
    """The runs of a block of numbers, and the block itself if it fits in the memory allowed."""
    if block.n_rows < layout.n_samples:
        return tally_rows(table, block.columns, layout, block.n_rows, binned=binned), None
    numbers = table.number_block(block.columns, layout.order)
    runs, missing = make_runs(numbers, layout)
    return Tally(runs, missing, runs.value), numbers


def _learn_labels(table: Table, layout: SampleLayout, block: _Block) -> tuple[Learned, Encode]:
    """Learn one column of labels; return it with a function that codes it."""
    column = int(block.columns[0])
    held = None
    if block.n_rows >= layout.n_samples:
        held = table.label_block(column, layout.order)

    def pieces() -> Iterator[tuple[Piece, LabelBlock]]:
        for piece in cut_rows(layout, block.n_rows):
            yield piece, table.label_block(column, piece.layout.order) if held is None else held

    learned = learn_labels(((labels, piece.layout) for piece, labels in pieces()), layout.n_classes)

    def encode(_kept: NDArray[np.int64]) -> NDArray[np.uint8]:
        codes = np.empty((1, layout.n_samples), np.uint8)
        for piece, labels in pieces():
            piece.put(encode_labels(learned.coding, 0, labels), codes)
        return codes

    return learned, encode


def _code(
    table: Table,
    block: _Block,
    *,
    layout: SampleLayout,
    keep: Keep,
    test: bool,
    cuts: Cuts | None,
) -> _Coded:
    learned, encode, p_value = _learn(table, layout, block, test, cuts)
    n_levels = learned.coding.n_levels
    nlogn = nlogn_table(layout.n_samples)
    sums = column_sums(learned.class_counts, n_levels, layout.n_classes, nlogn)
    entropy, relevance = column_information(sums, layout.totals)
    facts = ColumnFacts(layout.n_samples, layout.n_classes, learned.coding, entropy, relevance, p_value)
    kept = np.flatnonzero(keep(facts))
    rows = np.repeat(np.isin(np.arange(len(n_levels)), kept), n_levels)
    packed = pack_block(
        layout,
        block.columns[kept],
        encode(kept) if len(kept) else np.empty((0, layout.n_samples), np.uint8),
        n_levels[kept],
        learned.class_counts.reshape(-1, layout.n_classes)[rows].reshape(-1),
    )
    return _Coded(facts, packed)
