"""A table and its classes -> the coding of every column, and bit planes of the candidate columns.

Columns are processed block by block: read, learn the coding, screen, encode, pack. Blocks do not depend
on each other, so the result does not depend on their size or on the number of threads. If not even one
column fits in the memory limit, the rows of a block are read in pieces.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from slfs._core.indices import PackedIndex
from slfs._core.progress import counted
from slfs._core.resources import Resources
from slfs.coding.codebook import MAX_LEVELS, Coding, join_codings
from slfs.counting.backend import make_backend
from slfs.counting.marginals import column_sums
from slfs.counting.nlogn import nlogn_table
from slfs.counting.planes import PackedBlock, PackedColumns, SampleLayout, pack_block
from slfs.counting.store import PlaneStore
from slfs.counting.value_planes import decoded
from slfs.measures.adjusted import fit_covariates
from slfs.measures.adjusted_numbers import AnyCovariates, centred_ranks, fit_number_covariates
from slfs.measures.beyond import Baseline, fit_baseline
from slfs.measures.information import column_information
from slfs.screening.facts import ColumnFacts, Judge, join_facts
from slfs.screening.few_levels import FewColumn, FineColumn, learn_few, learn_fine, pack_few
from slfs.screening.forced import EXPLAINED_SHARE, FORCED, Forced, n_intervals
from slfs.screening.judging import CERTAIN, pays
from slfs.screening.learn import Cuts, LearnedBlock, block_p_values, learn_block
from slfs.screening.p_values import INTERVALS, adjusted_p_values, pack_blind
from slfs.screening.plan import Block, Plan, make_plan
from slfs.screening.reasons import Reason
from slfs.tables.choice import number_categories
from slfs.tables.table import ColumnSource, SpreadTable, Table

Mask = NDArray[np.bool_]
Result = TypeVar("Result")


_CODED_AT_ONCE = 16
"""Number of columns whose codes are in memory for their information beyond covariates."""


@dataclass(frozen=True)
class _Screened:
    facts: ColumnFacts
    packed: PackedBlock


def learn_table(table: Table, layout: SampleLayout, categorical: Mask, resources: Resources) -> Coding:
    """Learn the coding of every column, without packing them."""
    work = functools.partial(_learn_coding, layout=layout)
    plan = make_plan(table, layout.n_samples, categorical, resources)
    return join_codings(list(_each_block(table, work, plan, resources)))


def screen_table(
    table: Table,
    layout: SampleLayout,
    categorical: Mask,
    resources: Resources,
    judge: Judge,
    *,
    pack: bool = True,
    tested: frozenset[str] = frozenset(),
    quartiles: bool = False,
    cuts: Cuts | None = None,
    forced: Forced | None = None,
    store: PlaneStore | None = None,
    first: int = 0,
) -> tuple[ColumnFacts, PlaneStore]:
    """Learn the coding of every column, drop irrelevant columns, and pack the others.

    Parameters
    ----------
    table : Table
        The columns.
    layout : SampleLayout
        The samples sorted by class.
    categorical : ndarray of bool
        Columns of numbers to treat as categories.
    resources : Resources
        Threads and memory limit.
    judge : callable
        Decides about each column on its own; see `slfs.screening.judging`.
    pack : bool, default=True
        Whether to pack the candidate columns. False returns facts only.
    tested : frozenset of str, default=frozenset()
        The kinds of columns whose p-values are computed, see `slfs.screening.plan.Block`.
    quartiles : bool, default=False
        Whether to pack the quartiles of the candidate columns, too.
    cuts : sequence of ndarray or None, default=None
        Cut points of each column of numbers; None means MDLP.
    forced : Forced or None, default=None
        The columns that are included, excluded or conditioned on; p-values are then given the latter.
    store : PlaneStore or None, default=None
        Store to which the planes are appended; None creates a new one.
    first : int, default=0
        Index of the first column of this table among all columns.

    Returns
    -------
    facts : ColumnFacts
        Facts about every column.
    store : PlaneStore
        Bit planes of the candidate columns.
    """
    if forced is not None and len(forced.conditioning):
        codes = _covariate_codes(table, layout, categorical, resources, forced)
        ordered = [own[layout.order] for own in codes]
        baseline = fit_baseline(ordered, layout.labels, layout.n_classes)
        ranks = _covariate_ranks(table, layout, categorical, resources, forced)
        forced = replace(forced, covariates=_fit_covariates(codes, ranks, layout), baseline=baseline)
    work = functools.partial(
        _screen,
        layout=layout,
        judge=judge,
        pack=pack,
        tested=tested,
        quartiles=quartiles,
        cuts=cuts,
        forced=forced,
    )
    try:
        plan = make_plan(table, layout.n_samples, categorical, resources, layout.n_classes)
    except MemoryError:
        if store is None or not store.spill():
            raise
        plan = make_plan(table, layout.n_samples, categorical, resources, layout.n_classes)
    if store is None:
        store = PlaneStore(layout, plan.plane_bytes / 2 if quartiles else plan.plane_bytes)
    facts = []
    for part in _each_block(table, work, plan, resources):
        facts.append(part.facts)
        store.append(part.packed, first)
    return join_facts(facts), store


def table_p_values(
    table: Table,
    layout: SampleLayout,
    categorical: Mask,
    resources: Resources,
    forced: Forced | None = None,
) -> NDArray[np.float64]:
    """Compute the p-value of independence from the class of every column.

    With conditioning columns in ``forced``, given these; their own p-values are NaN.
    """
    if forced is not None and len(forced.conditioning):
        codes = _covariate_codes(table, layout, categorical, resources, forced)
        ranks = _covariate_ranks(table, layout, categorical, resources, forced)
        covariates = _fit_covariates(codes, ranks, layout)
        work = functools.partial(_adjusted, layout=layout, covariates=covariates)
        plan = make_plan(table, layout.n_samples, categorical, resources)
        found = np.concatenate(list(_each_block(table, work, plan, resources)))
        found[forced.conditioning] = np.nan
        return found
    work = functools.partial(_p_values, layout=layout)
    plan = make_plan(table, layout.n_samples, categorical, resources)
    return np.concatenate(list(_each_block(table, work, plan, resources)))


def _covariate_codes(
    table: Table, layout: SampleLayout, categorical: Mask, resources: Resources, forced: Forced
) -> list[NDArray[np.int64]]:
    """Return the levels of the conditioning columns in each row of the table, of those with samples.

    Categories are not pooled: samples of different categories must not be in the same stratum.
    """
    layout = layout.tested or layout
    keep = forced.reason == Reason.CONDITIONING
    packed = pack_table_blind(
        table,
        categorical,
        keep,
        MAX_LEVELS,
        resources,
        counts=layout.counts,
        intervals=n_intervals(layout.n_samples),
    )
    backend = make_backend(packed, resources.threads)
    codes = np.zeros((len(packed), table.n_samples), np.int64)
    for f in range(len(packed)):
        codes[f, np.sort(layout.order)] = backend.codes(PackedIndex(f))
    found = dict(zip(packed.columns.tolist(), codes, strict=True))
    many = np.zeros_like(keep)
    many[packed.columns[packed.arrays.levels == MAX_LEVELS]] = True
    if many.any():
        work = functools.partial(_category_codes, keep=many)
        found.update(_by_column(table, layout, categorical, work, resources))
    return list(found.values())


def _category_codes(table: Table, block: Block, *, keep: Mask) -> dict[int, NDArray[np.int64]]:
    """Number the categories of some columns in a block, however many there are."""
    found = {}
    for column in block.columns[keep[block.columns]].tolist() if block.kind != "mdlp" else ():
        labels = table.label_block(column, None)
        found[column] = number_categories(labels.values, labels.missing)
    return found


def _covariate_ranks(
    table: Table, layout: SampleLayout, categorical: Mask, resources: Resources, forced: Forced
) -> NDArray[np.float64]:
    """Return the ranks of conditioning columns of numbers, in the order of the samples.

    Only tests of a continuous target use them.
    """
    layout = layout.tested or layout
    if layout.target_ranks is None:
        return np.empty((0, layout.n_samples))
    keep = forced.reason == Reason.CONDITIONING
    work = functools.partial(_rank_block, order=layout.order, keep=keep)
    plan = make_plan(table, layout.n_samples, categorical, resources)
    return np.concatenate(list(_each_block(table, work, plan, resources)))


def _rank_block(
    table: Table, block: Block, *, order: NDArray[np.int64], keep: Mask
) -> NDArray[np.float64]:
    """Return the ranks of some columns of numbers in a block."""
    columns = block.columns[keep[block.columns]]
    if block.kind != "mdlp" or len(columns) == 0:
        return np.empty((0, len(order)))
    return centred_ranks(table.number_block(columns, order).dense())


def _fit_covariates(
    codes: list[NDArray[np.int64]], ranks: NDArray[np.float64], layout: SampleLayout
) -> AnyCovariates:
    """Fit the model of the target given the conditioning columns, for tests.

    ``codes`` are their levels in each row of the table, ``ranks`` those of `_covariate_ranks`.
    """
    layout = layout.tested or layout
    ordered = [own[layout.order] for own in codes]
    if layout.target_ranks is not None:
        target = layout.target_ranks[layout.order]
        return fit_number_covariates(ordered, ranks, target, layout.labels)
    return fit_covariates(ordered, layout.labels)


def pack_table_blind(
    table: Table,
    categorical: Mask,
    keep: Mask,
    most_levels: int,
    resources: Resources,
    *,
    counts: NDArray[np.int64] | None = None,
    intervals: int = INTERVALS,
) -> PackedColumns:
    """Pack some columns in levels that do not depend on the class, samples in the order of the table.

    ``counts`` says how often each row is repeated; None: once.
    """
    layout = SampleLayout.from_class_codes(np.zeros(table.n_samples, np.int64), 1, counts)
    work = functools.partial(
        _pack_blind, layout=layout, keep=keep, most_levels=most_levels, intervals=intervals
    )
    plan = make_plan(table, layout.n_samples, categorical, resources)
    store = PlaneStore(layout, plan.plane_bytes)
    for part in _each_block(table, work, plan, resources):
        store.append(part)
    return store.packed()


def pack_table_few(
    table: Table,
    layout: SampleLayout,
    categorical: Mask,
    keep: Mask,
    most_levels: int,
    resources: Resources,
) -> PackedColumns:
    """Pack some columns in a few levels that do not depend on the class, none of them rare."""
    work = functools.partial(_pack_few, layout=layout, keep=keep, most_levels=most_levels)
    plan = make_plan(table, layout.n_samples, categorical, resources)
    store = PlaneStore(layout, plan.plane_bytes)
    for part in _each_block(table, work, plan, resources):
        store.append(part)
    return store.packed()


def describe_few(
    table: Table,
    layout: SampleLayout,
    categorical: Mask,
    keep: Mask,
    most_levels: int,
    resources: Resources,
) -> dict[int, FewColumn]:
    """Return the names of the levels of some columns, and the cut points of numbers."""
    work = functools.partial(_describe_few, layout=layout, keep=keep, most_levels=most_levels)
    return _by_column(table, layout, categorical, work, resources)


def code_fine(
    table: Table,
    layout: SampleLayout,
    categorical: Mask,
    keep: Mask,
    most_levels: int,
    resources: Resources,
) -> dict[int, FineColumn]:
    """Code some columns like `pack_table_few`, before their levels are merged."""
    work = functools.partial(_code_fine, layout=layout, keep=keep, most_levels=most_levels)
    return _by_column(table, layout, categorical, work, resources)


def _by_column(
    table: Table,
    layout: SampleLayout,
    categorical: Mask,
    work: Callable[[Table, Block], dict[int, Result]],
    resources: Resources,
) -> dict[int, Result]:
    """Apply a function to all blocks; return what it found of each column."""
    plan = make_plan(table, layout.n_samples, categorical, resources)
    parts = _each_block(table, work, plan, resources)
    return {column: found for part in parts for column, found in part.items()}


def _each_block(
    table: Table, work: Callable[[Table, Block], Result], plan: Plan, resources: Resources
) -> Iterator[Result]:
    if isinstance(table, SpreadTable):
        yield from table.map_blocks(work, plan.blocks)
        return
    reported = counted(functools.partial(work, table), len(plan.blocks))
    yield from resources.threads.each(reported, plan.blocks, plan.at_once)


def _learn_coding(table: Table, block: Block, *, layout: SampleLayout) -> Coding:
    return _with_alleles(learn_block(table, block, layout).learned.coding, table, block.columns)


def _with_alleles(
    coding: Coding, table: Table, columns: NDArray[np.int64], kept: NDArray[np.int64] | None = None
) -> Coding:
    """Add to a coding what the genotypes among its columns, or those to keep, count."""
    if not isinstance(table, ColumnSource):
        return coding
    places = np.arange(len(columns)) if kept is None else kept
    pairs = zip(places.tolist(), table.alleles(columns[places]), strict=True)
    return replace(coding, alleles={place: pair for place, pair in pairs if pair is not None})


def _p_values(table: Table, block: Block, *, layout: SampleLayout) -> NDArray[np.float64]:
    return block_p_values(table, block, layout)


def _pack_blind(
    table: Table,
    block: Block,
    *,
    layout: SampleLayout,
    keep: Mask,
    most_levels: int,
    intervals: int,
) -> PackedBlock:
    columns = block.columns[keep[block.columns]]
    if len(columns) == 0:
        return _pack_nothing(layout)
    return pack_blind(table, columns, block.kind, layout, most_levels, intervals)


def _adjusted(
    table: Table, block: Block, *, layout: SampleLayout, covariates: AnyCovariates
) -> NDArray[np.float64]:
    """Compute the p-values of a block given covariates."""
    if block.n_rows < layout.n_samples:
        raise MemoryError(
            "condition_on reads all samples of a column at once, which memory_limit has no room for. "
            "Raise memory_limit, or pass fewer rows."
        )
    return adjusted_p_values(table, block.columns, block.kind, layout, covariates)


def _pack_few(
    table: Table, block: Block, *, layout: SampleLayout, keep: Mask, most_levels: int
) -> PackedBlock:
    columns = block.columns[keep[block.columns]]
    if len(columns) == 0:
        return _pack_nothing(layout)
    return pack_few(table, columns, block.kind, layout, most_levels)


def _describe_few(
    table: Table, block: Block, *, layout: SampleLayout, keep: Mask, most_levels: int
) -> dict[int, FewColumn]:
    columns = block.columns[keep[block.columns]]
    if len(columns) == 0:
        return {}
    few, _ = learn_few(table, columns, block.kind, layout, most_levels)
    return {column: few.describe(j) for j, column in enumerate(columns.tolist())}


def _code_fine(
    table: Table, block: Block, *, layout: SampleLayout, keep: Mask, most_levels: int
) -> dict[int, FineColumn]:
    columns = block.columns[keep[block.columns]]
    if len(columns) == 0:
        return {}
    fine = learn_fine(table, columns, block.kind, layout, most_levels)
    return dict(zip(columns.tolist(), fine, strict=True))


def _screen(
    table: Table,
    block: Block,
    *,
    layout: SampleLayout,
    judge: Judge,
    pack: bool,
    tested: frozenset[str],
    quartiles: bool,
    cuts: Cuts | None,
    forced: Forced | None,
) -> _Screened:
    adjusted = None
    if forced is not None and forced.covariates is not None:
        seen = layout.tested or layout
        adjusted = _adjusted(table, block, layout=seen, covariates=forced.covariates)
        forced = forced.with_found(block.columns, adjusted <= CERTAIN)
    own = learn_block(table, block, layout, cuts, forced)
    coding, counts = own.learned.coding, own.learned.class_counts
    sums = column_sums(counts, coding.n_levels, layout.n_classes, nlogn_table(layout.n_samples))
    entropy, relevance = column_information(sums, layout.totals)
    own_p_value = np.full(len(coding), np.nan)
    if block.kind in tested or adjusted is not None:
        own_p_value = (
            own.p_values() if layout.tested is None else block_p_values(table, block, layout.tested)
        )
    p_value = own_p_value if adjusted is None else adjusted
    unknown, undecided = np.full(len(coding), np.nan), np.zeros(len(coding), np.int8)
    facts = ColumnFacts(
        layout.evidence,
        layout.n_seen,
        layout.n_classes,
        coding,
        entropy,
        relevance,
        p_value,
        unknown,
        undecided,
    )
    if forced is not None and forced.covariates is not None:
        gaps = np.flatnonzero(coding.only_missing & pays(facts))
        p_value[gaps] = _gap_p_values(own, gaps, layout, forced.covariates)
    reason = judge(facts)
    if forced is not None:
        reason = forced.judge(block.columns, reason, p_value, own_p_value)
        decided = np.isin(reason, (Reason.EXCLUDED, Reason.CONDITIONING))
        facts = replace(facts, p_value=np.where(decided, np.nan, p_value))
        if forced.baseline is not None:
            given = _given_relevance(own, ~decided, layout, forced.baseline)
            facts = replace(facts, given_relevance=given)
            left = ~(given < EXPLAINED_SHARE * relevance)
            reason[(reason == Reason.EXPLAINED) & left] = Reason.NOT_SIGNIFICANT
    facts = replace(facts, reason=reason)
    candidate = np.isin(facts.reason, (Reason.CANDIDATE, *FORCED))
    kept = np.flatnonzero(candidate)
    facts = replace(facts, coding=_with_alleles(coding, table, block.columns, kept))
    if not pack or len(kept) == 0:
        return _Screened(facts, _pack_nothing(layout))
    rows = np.repeat(candidate, coding.n_levels)
    kept_counts = counts.reshape(-1, layout.n_classes)[rows].reshape(-1)
    levels = coding.n_levels[kept]
    packed = pack_block(layout, block.columns[kept], own.encode(kept), levels, kept_counts)
    if quartiles:
        packed = replace(packed, quartiles=own.quartiles(kept))
    return _Screened(facts, packed)


def _gap_p_values(
    own: LearnedBlock, columns: NDArray[np.int64], layout: SampleLayout, covariates: AnyCovariates
) -> NDArray[np.float64]:
    """Test columns, which are informative by their missing values only, by these, given covariates."""
    tested, found = layout.tested or layout, np.empty(len(columns))
    gap = np.zeros(int(layout.order.max()) + 1, np.uint8)
    for i in range(len(columns)):
        gap[layout.order] = decoded(own.encode(columns[i : i + 1]), layout)[0]
        found[i] = covariates.test(gap[tested.order])
    return found


def _given_relevance(
    own: LearnedBlock, wanted: Mask, layout: SampleLayout, baseline: Baseline
) -> NDArray[np.float64]:
    """Compute the information of some columns beyond the covariates; NaN for the others."""
    found = np.where(wanted, 0.0, np.nan)
    columns = np.flatnonzero(wanted & (own.learned.coding.n_levels > 1))
    for part in np.array_split(columns, -(-len(columns) // _CODED_AT_ONCE) or 1):
        if len(part):
            found[part] = [baseline.added(codes) for codes in decoded(own.encode(part), layout)]
    return found


def _pack_nothing(layout: SampleLayout) -> PackedBlock:
    none = np.empty(0, np.int64)
    return pack_block(layout, none, np.empty((0, layout.n_samples), np.uint8), none, none)
