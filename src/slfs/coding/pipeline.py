"""A table and its classes -> coding of every column, packed planes of those worth keeping.

Block by block of columns: read, learn, judge, code, pack, forget. A block never meets another, so the
result does not depend on their size or on the threads that work on them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from slfs._threads import Threads
from slfs.coding.blind import level_p_values, pack_blind, quartile_p_values
from slfs.coding.categories import encode_labels, learn_labels
from slfs.coding.codebook import Coding, Learned, join_arrays, join_codings
from slfs.coding.numbers import encode_numbers, learn_levels, learn_numbers, make_runs, mdlp_cuts
from slfs.counting.planes import PackedBlock, PackedColumns, SampleLayout, join_blocks, pack_block
from slfs.information import column_information, column_sums
from slfs.nlogn import nlogn_table
from slfs.progress import counted
from slfs.table import Table

_BLOCK_ENTRIES = 1 << 20
"""Most numbers read at a time: a few megabytes, which stay in the processor's cache."""

_BLOCKS = 4
"""Blocks to aim at, so that several threads have about the same work."""


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
Result = TypeVar("Result")


@dataclass(frozen=True)
class _Block:
    columns: NDArray[np.int64]
    kind: str  # "mdlp", "levels" or "labels"


@dataclass(frozen=True)
class _Coded:
    facts: ColumnFacts
    packed: PackedBlock


@runtime_checkable
class SpreadTable(Protocol):
    """A table that is on other machines: the work goes to its columns, not they to the work."""

    def map_blocks(self, work: Callable[[Table, _Block], Result], blocks: list[_Block]) -> list[Result]:
        """Do the work on each block of columns, or on pieces of it; results in the order of columns."""


def learn_table(
    table: Table, layout: SampleLayout, categorical: NDArray[np.bool_], threads: Threads
) -> Coding:
    """Learn the coding of every column, and nothing else."""
    work = functools.partial(_learn_coding, layout=layout)
    return join_codings(_map_blocks(table, work, plan_blocks(table, categorical), threads))


def code_table(
    table: Table,
    layout: SampleLayout,
    categorical: NDArray[np.bool_],
    threads: Threads,
    *,
    keep: Keep,
    test: bool = False,
    cuts: Cuts | None = None,
) -> tuple[ColumnFacts, PackedColumns]:
    """Learn the coding of every column and pack those for which ``keep`` says so.

    ``test`` asks for the p-values of the columns. ``cuts`` are the cut points of each column of numbers,
    by default those of MDLP.
    """
    work = functools.partial(_code, layout=layout, keep=keep, test=test, cuts=cuts)
    coded = _map_blocks(table, work, plan_blocks(table, categorical), threads)
    facts = join_facts([part.facts for part in coded])
    return facts, join_blocks(layout, [part.packed for part in coded])


def table_p_values(
    table: Table, layout: SampleLayout, categorical: NDArray[np.bool_], threads: Threads
) -> NDArray[np.float64]:
    """p-values of independence from the class, one a column, and nothing else."""
    work = functools.partial(_p_values, layout=layout)
    return np.concatenate(_map_blocks(table, work, plan_blocks(table, categorical), threads))


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
    return join_blocks(layout, _map_blocks(table, work, plan_blocks(table, categorical), threads))


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


def plan_blocks(table: Table, categorical: NDArray[np.bool_]) -> list[_Block]:
    """Cut the columns, in order, into blocks of one kind and of a size that suits the cache."""
    kind = np.where(table.numbers, np.where(categorical, "levels", "mdlp"), "labels")
    parts = _split(kind, kind == "labels", table.n_samples)
    return [_Block(part, str(kind[part[0]])) for part in parts]


def _map_blocks(
    table: Table, work: Callable[[Table, _Block], Result], blocks: list[_Block], threads: Threads
) -> list[Result]:
    if isinstance(table, SpreadTable):
        return table.map_blocks(work, blocks)
    return threads.map(counted(functools.partial(work, table), len(blocks)), blocks)


def _split(
    kind: NDArray[np.generic], alone: NDArray[np.bool_], n_samples: int
) -> list[NDArray[np.int64]]:
    """Cut 0 .. len(kind) - 1 where the kind changes, and where a part would become too wide."""
    width = max(1, min(_BLOCK_ENTRIES // max(n_samples, 1), -(-len(kind) // _BLOCKS)))
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
        return level_p_values(
            learn_labels(table.label_block(int(block.columns[0]), layout.order), layout), layout
        )
    runs, missing = make_runs(table.number_block(block.columns, layout.order), layout)
    if block.kind == "levels":
        return level_p_values(learn_levels(runs, missing, layout), layout)
    return quartile_p_values(runs, missing, layout)


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
) -> tuple[Learned, Callable[[NDArray[np.int64]], NDArray[np.uint8]], NDArray[np.float64]]:
    """Learn one block; return it with a function that codes some of its columns, and p-values."""
    _reuse_freed_memory()
    p_value = np.full(len(block.columns), np.nan)
    if block.kind == "labels":
        labels = table.label_block(int(block.columns[0]), layout.order)
        learned = learn_labels(labels, layout)
        if test:
            p_value = level_p_values(learned, layout)
        return learned, lambda _columns: encode_labels(learned.coding, 0, labels), p_value
    numbers = table.number_block(block.columns, layout.order)
    runs, missing = make_runs(numbers, layout)
    if block.kind == "levels":
        learned = learn_levels(runs, missing, layout)
    else:
        if cuts is None:
            thresholds, n_cuts = mdlp_cuts(runs, layout.n_classes, nlogn_table(layout.n_samples))
        else:
            own = [cuts[column] for column in block.columns]
            thresholds, n_cuts = np.concatenate(own), np.array([len(part) for part in own])
        learned = learn_numbers(runs, missing, layout, thresholds, n_cuts)
    if test and block.kind == "levels":
        p_value = level_p_values(learned, layout)
    elif test:
        p_value = quartile_p_values(runs, missing, layout)
    return (
        learned,
        lambda kept: encode_numbers(learned.coding.take(kept), numbers.take(kept), seen=True),
        p_value,
    )


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
