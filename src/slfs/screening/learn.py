"""One block of columns -> its coding, counts and p-values, and a function that codes it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slfs.coding.by_rows import Piece, Tally, cut_rows, encode_rows, tally_rows
from slfs.coding.categories import learn_labels
from slfs.coding.codebook import Learned, join_learned
from slfs.coding.encode import encode_labels
from slfs.coding.grouping import group_levels
from slfs.coding.numbers import (
    encode_numbers,
    learn_levels,
    learn_numbers,
    make_runs,
    may_be_rounded,
    mdlp_cuts,
)
from slfs.counting.nlogn import nlogn_table
from slfs.counting.planes import SampleLayout
from slfs.screening.p_values import level_p_values, number_p_values
from slfs.screening.plan import Block
from slfs.tables.table import LabelBlock, NumberBlock, Table
from slfs.tables.values import to_numbers

Cuts = Sequence[NDArray[np.float64]]
Encode = Callable[[NDArray[np.int64]], NDArray[np.uint8]]


@dataclass(frozen=True)
class LearnedBlock:
    """Coding and counts of a block, with functions that code some of its columns and test them."""

    learned: Learned
    encode: Encode
    p_values: Callable[[], NDArray[np.float64]]


def learn_block(
    table: Table, block: Block, layout: SampleLayout, cuts: Cuts | None = None
) -> LearnedBlock:
    """Learn the levels of one block; ``cuts`` are the cut points of all columns, None means MDLP."""
    _reuse_freed_memory()
    if block.kind == "labels":
        return _learn_labels(table, block, layout)
    binned = block.kind == "mdlp" and cuts is None
    tally, numbers = _read_numbers(table, block, layout, binned=binned)
    large = may_be_rounded(tally.runs)
    if block.kind == "levels":
        if large.any():
            return _learn_exactly(table, block, layout, large)
        ungrouped = learn_levels(tally.runs, tally.missing, layout)
        learned = group_levels(ungrouped, layout)
        learned.coding.columns["boolean"] = table.categorical[block.columns]  # by their type
    else:
        thresholds, n_cuts = _cut_points(tally, block, layout, cuts, in_pieces=numbers is None)
        learned = learn_numbers(tally.runs, tally.missing, layout, thresholds, n_cuts)
        for j in np.flatnonzero(large):
            learned.coding.columns["rounded"][j] = _is_rounded(
                table, int(block.columns[j]), block.n_rows
            )
    learned.coding.columns["time_kind"] = tally.time_kinds

    def encode(kept: NDArray[np.int64]) -> NDArray[np.uint8]:
        every = len(kept) == len(block.columns)
        coding = learned.coding if every else learned.coding.take(kept)
        if numbers is None:
            return encode_rows(table, coding, block.columns[kept], layout, block.n_rows)
        return encode_numbers(coding, numbers.take(kept))

    def p_values() -> NDArray[np.float64]:
        if block.kind == "levels":
            return level_p_values(ungrouped, layout)  # groups depend on the class
        return number_p_values(tally.runs, tally.missing, layout)

    return LearnedBlock(learned, encode, p_values)


def block_p_values(table: Table, block: Block, layout: SampleLayout) -> NDArray[np.float64]:
    """Compute the p-values of one block, without searching cut points."""
    if block.kind != "mdlp":
        return learn_block(table, block, layout).p_values()
    tally, _ = _read_numbers(table, block, layout, binned=True)
    return number_p_values(tally.runs, tally.missing, layout)


def _cut_points(
    tally: Tally, block: Block, layout: SampleLayout, cuts: Cuts | None, *, in_pieces: bool
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the cut points of a block of numbers, column by column, and their number per column."""
    if cuts is not None:
        own = [cuts[column] for column in block.columns]
        return np.concatenate(own), np.array([len(part) for part in own])
    thresholds, n_cuts = mdlp_cuts(tally.runs, layout.n_classes, nlogn_table(layout.n_samples))
    return tally.between_bins(thresholds, n_cuts) if in_pieces else thresholds, n_cuts


def _read_numbers(
    table: Table, block: Block, layout: SampleLayout, *, binned: bool
) -> tuple[Tally, NumberBlock | None]:
    """Return the runs of a block of numbers, and the block itself if it fits in the memory limit."""
    if block.n_rows < layout.n_samples:
        return tally_rows(table, block.columns, layout, block.n_rows, binned=binned), None
    numbers = table.number_block(block.columns, layout.order)
    runs, missing = make_runs(numbers, layout)
    return Tally(runs, missing, runs.value, numbers.time_kinds()), numbers


def _learn_exactly(
    table: Table, block: Block, layout: SampleLayout, large: NDArray[np.bool_]
) -> LearnedBlock:
    """Learn categorical columns of numbers; those with large numbers by their values, not as floats."""
    kinds = np.where(large, "labels", "levels").tolist()
    parts = [
        learn_block(table, Block(block.columns[[j]], kind, block.n_rows), layout)
        for j, kind in enumerate(kinds)
    ]
    only = np.array([0])
    return LearnedBlock(
        join_learned([part.learned for part in parts]),
        lambda kept: np.concatenate([parts[j].encode(only) for j in kept.tolist()]),
        lambda: np.concatenate([part.p_values() for part in parts]),
    )


def _is_rounded(table: Table, column: int, n_rows: int) -> bool:
    """Whether different integers of a column, in the first rows of it, are the same float."""
    rows = np.arange(min(n_rows, table.n_samples))
    integers = {value for value in table.label_block(column, rows).values if isinstance(value, int)}
    return len(np.unique(to_numbers(list(integers)))) < len(integers)


def _learn_labels(table: Table, block: Block, layout: SampleLayout) -> LearnedBlock:
    """Learn one column of labels."""
    column = int(block.columns[0])
    held = None
    if block.n_rows >= layout.n_samples:
        held = table.label_block(column, layout.order)

    def pieces() -> Iterator[tuple[Piece, LabelBlock]]:
        for piece in cut_rows(layout, block.n_rows):
            yield piece, table.label_block(column, piece.layout.order) if held is None else held

    ungrouped = learn_labels(((labels, piece.layout) for piece, labels in pieces()), layout.n_classes)
    learned = group_levels(ungrouped, layout)

    def encode(_kept: NDArray[np.int64]) -> NDArray[np.uint8]:
        codes = np.empty((1, layout.n_samples), np.uint8)
        for piece, labels in pieces():
            piece.put(encode_labels(learned.coding, 0, labels), codes)
        return codes

    return LearnedBlock(learned, encode, lambda: level_p_values(ungrouped, layout))


@functools.cache
def _reuse_freed_memory() -> None:
    """Make malloc reuse the memory of one block for the next one.

    glibc returns freed blocks to the system, so that every page must be mapped again, until a block of
    that size has been freed once; this saves a quarter of the time of MDLP. The pages allocated here are
    never touched.
    """
    np.empty(30 << 20, np.uint8)
