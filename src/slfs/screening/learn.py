"""One block of columns -> its coding, counts and p-values, and a function that codes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slfs._core.memory import reuse_freed_memory
from slfs.coding.by_rows import Piece, Tally, cut_rows, encode_rows, tally_rows
from slfs.coding.categories import Labels, learn_labels, read_labels
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
from slfs.coding.ordered import category_runs, cut_categories, join_categories
from slfs.counting.nlogn import nlogn_table
from slfs.counting.planes import PackedBlock, SampleLayout
from slfs.counting.value_planes import Codes, decoded
from slfs.screening.forced import Forced, n_intervals
from slfs.screening.p_values import (
    INTERVALS,
    TargetRankSums,
    blind_cuts,
    level_p_values,
    level_rank_p_values,
    number_p_values,
)
from slfs.screening.plan import Block
from slfs.screening.quartiles import pack_quartiles, pack_without_order
from slfs.screening.reasons import Reason
from slfs.tables.planes import Numbers, read_numbers
from slfs.tables.table import Table
from slfs.tables.values import to_numbers

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Cuts = Sequence[NDArray[np.float64]] | Mapping[int, NDArray[np.float64]]
"""Cut points of every column of numbers, or of some by their index; the others are cut by MDLP."""

Encode = Callable[[NDArray[np.int64]], Codes]


@dataclass(frozen=True)
class LearnedBlock:
    """Coding and counts of a block, with functions that code, test and cut its columns at quartiles."""

    learned: Learned
    encode: Encode
    p_values: Callable[[], NDArray[np.float64]]
    quartiles: Callable[[NDArray[np.int64]], PackedBlock]
    """Packs the quartiles of some columns of the block."""


def learn_block(
    table: Table,
    block: Block,
    layout: SampleLayout,
    cuts: Cuts | None = None,
    forced: Forced | None = None,
) -> LearnedBlock:
    """Learn the levels of one block; ``cuts`` are the cut points of all or some columns, else MDLP.

    The levels of conditioning columns, and those of included columns that would have a single one, do
    not depend on the class.
    """
    reuse_freed_memory()
    own = None if forced is None else forced.coded_as(block.columns)
    if block.kind == "labels":
        return _learn_labels(table, block, layout, own)
    binned = block.kind == "mdlp" and not isinstance(cuts, Sequence)
    tally, numbers = _read_numbers(table, block, layout, binned=binned)
    large = may_be_rounded(tally.runs)
    if block.kind == "levels":
        if large.any():
            return _learn_exactly(table, block, layout, large, forced)
        seen = None
        if layout.tested is not None:
            unweighted, _ = _read_numbers(table, block, layout.tested, binned=False)
            seen = unweighted.runs, unweighted.missing
        ungrouped = learn_levels(tally.runs, tally.missing, layout, seen)
        learned = _ungroup_forced(ungrouped, group_levels(ungrouped, layout), own)
        learned.coding.columns["boolean"] = table.categorical[block.columns]  # by their type
    else:
        thresholds, n_cuts = _cut_points(tally, block, layout, cuts, in_pieces=numbers is None)
        if own is not None:
            thresholds, n_cuts = _cut_forced(tally, thresholds, n_cuts, own, layout.n_seen)
        learned = learn_numbers(tally.runs, tally.missing, layout, thresholds, n_cuts)
        for j in np.flatnonzero(large):
            learned.coding.columns["rounded"][j] = _is_rounded(
                table, int(block.columns[j]), block.n_rows
            )
    learned.coding.columns["time_kind"] = tally.time_kinds

    def encode(kept: NDArray[np.int64]) -> Codes:
        every = len(kept) == len(block.columns)
        coding = learned.coding if every else learned.coding.take(kept)
        if numbers is None:
            return encode_rows(table, coding, block.columns[kept], layout, block.n_rows)
        return encode_numbers(coding, numbers.take(kept))

    def p_values() -> NDArray[np.float64]:
        if block.kind != "levels":
            return _number_p_values(table, block, layout, tally, numbers)
        if layout.target_ranks is None:
            return level_p_values(ungrouped, layout)  # groups depend on the class
        if numbers is None:
            codes = encode_rows(table, ungrouped.coding, block.columns, layout, block.n_rows)
        else:
            codes = decoded(encode_numbers(ungrouped.coding, numbers), layout)
        return level_rank_p_values(codes, layout.order, ungrouped, layout)

    def quartiles(kept: NDArray[np.int64]) -> PackedBlock:
        columns = block.columns[kept]
        if block.kind == "levels":
            return pack_without_order(columns, layout)
        own = tally.take(kept)
        thresholds, n_cuts = _quantiles(own, INTERVALS)
        cut = learn_numbers(own.runs, own.missing, layout, thresholds, n_cuts)
        if numbers is None:
            codes: Codes = encode_rows(table, cut.coding, columns, layout, block.n_rows)
        else:
            codes = encode_numbers(cut.coding, numbers.take(kept))
        cuts = np.full((len(kept), INTERVALS - 1), np.nan)
        cuts[np.arange(INTERVALS - 1) < n_cuts[:, np.newaxis]] = thresholds
        return pack_quartiles(cut, codes, columns, layout, cuts)

    return LearnedBlock(learned, encode, p_values, quartiles)


def block_p_values(table: Table, block: Block, layout: SampleLayout) -> NDArray[np.float64]:
    """Compute the p-values of one block, without searching cut points."""
    if block.kind != "mdlp":
        return learn_block(table, block, layout).p_values()
    tally, numbers = _read_numbers(table, block, layout, binned=True)
    return _number_p_values(table, block, layout, tally, numbers)


def _number_p_values(
    table: Table, block: Block, layout: SampleLayout, tally: Tally, numbers: Numbers | None
) -> NDArray[np.float64]:
    """Compute the p-values of a block of numbers; ``numbers`` is None if its rows are read in pieces."""
    if layout.target_ranks is None:
        return number_p_values(tally.runs, tally.missing, layout)
    sums = TargetRankSums(tally.runs, tally.missing, layout)
    for piece in cut_rows(layout, block.n_rows):
        order = piece.layout.order
        sums.add(table.number_block(block.columns, order) if numbers is None else numbers, order)
    return sums.p_values()


def _cut_points(
    tally: Tally, block: Block, layout: SampleLayout, cuts: Cuts | None, *, in_pieces: bool
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the cut points of a block of numbers, column by column, and their number per column."""
    if isinstance(cuts, Sequence):
        own = [cuts[column] for column in block.columns]
        return np.concatenate(own), np.array([len(part) for part in own])
    nlogn = nlogn_table(layout.n_samples)
    thresholds, n_cuts = mdlp_cuts(tally.runs, layout.n_classes, nlogn, layout.unit)
    if in_pieces:
        thresholds = tally.between_bins(thresholds, n_cuts)
    if cuts and not cuts.keys().isdisjoint(block.columns.tolist()):
        by_mdlp = _by_column(thresholds, n_cuts)
        own = [cuts.get(c, part) for c, part in zip(block.columns.tolist(), by_mdlp, strict=True)]
        return np.concatenate(own), np.array([len(part) for part in own])
    return thresholds, n_cuts


def _read_numbers(
    table: Table, block: Block, layout: SampleLayout, *, binned: bool
) -> tuple[Tally, Numbers | None]:
    """Return the runs of a block of numbers, and the block itself if it fits in the memory limit."""
    if block.n_rows < layout.n_samples:
        return tally_rows(table, block.columns, layout, block.n_rows, binned=binned), None
    numbers = read_numbers(table, block.columns, layout)
    runs, missing = make_runs(numbers, layout)
    return Tally(runs, missing, runs.value, numbers.time_kinds()), numbers


def _learn_exactly(
    table: Table,
    block: Block,
    layout: SampleLayout,
    large: NDArray[np.bool_],
    forced: Forced | None,
) -> LearnedBlock:
    """Learn categorical columns of numbers; those with large numbers by their values, not as floats."""
    kinds = np.where(large, "labels", "levels").tolist()
    parts = [
        learn_block(table, Block(block.columns[[j]], kind, block.n_rows), layout, forced=forced)
        for j, kind in enumerate(kinds)
    ]
    only = np.array([0])
    return LearnedBlock(
        join_learned([part.learned for part in parts]),
        lambda kept: np.concatenate([decoded(parts[j].encode(only), layout) for j in kept.tolist()]),
        lambda: np.concatenate([part.p_values() for part in parts]),
        lambda kept: pack_without_order(block.columns[kept], layout),
    )


def _is_rounded(table: Table, column: int, n_rows: int) -> bool:
    """Whether different integers of a column, in the first rows of it, are the same float."""
    rows = np.arange(min(n_rows, table.n_samples))
    integers = {value for value in table.label_block(column, rows).values if isinstance(value, int)}
    return len(np.unique(to_numbers(list(integers)))) < len(integers)


def _cut_forced(
    tally: Tally, thresholds: Floats, n_cuts: Ints, own: NDArray[np.int8], n_samples: int
) -> tuple[Floats, Ints]:
    """Cut conditioning columns, and included columns without a cut point, at quantiles."""
    conditioning = own == Reason.CONDITIONING
    if not (conditioning | (own == Reason.INCLUDED)).any():
        return thresholds, n_cuts
    parts = _by_column(thresholds, n_cuts)
    few, many = (_by_column(*_quantiles(tally, n)) for n in (INTERVALS, n_intervals(n_samples)))
    for j in np.flatnonzero(conditioning).tolist():
        parts[j] = many[j]
    for j in np.flatnonzero((own == Reason.INCLUDED) & (n_cuts == 0)).tolist():
        parts[j] = few[j]
    return np.concatenate(parts), np.array([len(part) for part in parts])


def _quantiles(tally: Tally, intervals: int) -> tuple[Floats, Ints]:
    """Return the cut points of equal-frequency intervals, column by column, and their numbers."""
    cuts, n_cuts = blind_cuts(tally.runs, intervals)
    return tally.between_bins(cuts, n_cuts), n_cuts


def _by_column(thresholds: Floats, n_cuts: Ints) -> list[Floats]:
    return np.split(thresholds, np.cumsum(n_cuts)[:-1])


def _ungroup_forced(ungrouped: Learned, grouped: Learned, own: NDArray[np.int8] | None) -> Learned:
    """Leave the levels of conditioning columns, and of included ones in a single group, as they are."""
    if own is None:
        return grouped
    single = grouped.coding.n_levels == 1
    blind = (own == Reason.CONDITIONING) | ((own == Reason.INCLUDED) & single)
    if not blind.any():
        return grouped
    return join_learned(
        [
            (ungrouped if is_blind else grouped).take(np.array([j]))
            for j, is_blind in enumerate(blind.tolist())
        ]
    )


def _learn_labels(
    table: Table, block: Block, layout: SampleLayout, own: NDArray[np.int8] | None = None
) -> LearnedBlock:
    """Learn one column of labels."""
    column = int(block.columns[0])
    held = None
    if block.n_rows >= layout.n_samples:
        held = read_labels(table, column, layout.order)

    def pieces() -> Iterator[tuple[Piece, Labels]]:
        for piece in cut_rows(layout, block.n_rows):
            yield piece, read_labels(table, column, piece.layout.order) if held is None else held

    seen = None if layout.tested is None else layout.tested.counts
    read = ((labels, piece.layout) for piece, labels in pieces())
    ungrouped = learn_labels(read, layout.n_classes, seen)
    ordered = bool(ungrouped.coding.columns["ordered"][0])
    group = cut_categories if ordered else group_levels
    learned = _ungroup_forced(ungrouped, group(ungrouped, layout), own)

    def code(levels: Learned) -> NDArray[np.uint8]:
        codes = np.empty((1, layout.n_samples), np.uint8)
        for piece, labels in pieces():
            piece.put(encode_labels(levels.coding, 0, labels.block)[:, labels.place], codes)
        return codes

    def p_values() -> NDArray[np.float64]:
        if layout.target_ranks is not None:
            return level_rank_p_values(code(ungrouped), layout.order, ungrouped, layout)
        if ordered:
            return number_p_values(*category_runs(ungrouped, layout), layout)
        return level_p_values(ungrouped, layout)

    def quartiles(kept: NDArray[np.int64]) -> PackedBlock:
        if not ordered:
            return pack_without_order(block.columns[kept], layout)
        cuts, _ = blind_cuts(category_runs(ungrouped, layout)[0], INTERVALS)
        cut = join_categories(ungrouped, layout, cuts)
        return pack_quartiles(cut, code(cut), block.columns, layout)

    return LearnedBlock(learned, lambda _kept: code(learned), p_values, quartiles)
