"""A table and its classes -> the coding of every column, and bit planes of the candidate columns.

Columns are processed block by block: read, learn the coding, screen, encode, pack. Blocks do not depend
on each other, so the result does not depend on their size or on the number of threads. If not even one
column fits in the memory limit, the rows of a block are read in pieces.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from slfs._core.resources import Resources
from slfs.coding.codebook import Coding, join_codings
from slfs.counting.marginals import column_sums
from slfs.counting.nlogn import nlogn_table
from slfs.counting.planes import PackedBlock, SampleLayout, pack_block
from slfs.counting.store import PlaneStore
from slfs.counting.value_planes import decoded
from slfs.measures.adjusted_numbers import AnyCovariates
from slfs.measures.beyond import Baseline, fit_baseline
from slfs.measures.information import column_information
from slfs.screening.blocks import each_block, pack_nothing
from slfs.screening.covariates import learn_covariates
from slfs.screening.facts import ColumnFacts, Judge, join_facts
from slfs.screening.forced import EXPLAINED_SHARE, FORCED, Forced
from slfs.screening.judging import CERTAIN, pays
from slfs.screening.learn import Cuts, LearnedBlock, block_p_values, learn_block
from slfs.screening.p_values import adjusted_p_values
from slfs.screening.plan import Block, make_plan
from slfs.screening.reasons import SIGNIFICANT, Reason
from slfs.tables.table import ColumnSource, Table

Mask = NDArray[np.bool_]


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
    return join_codings(list(each_block(table, work, plan, resources)))


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
    measure_beyond: bool = True,
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
    measure_beyond : bool, default=True
        Whether to measure the information of columns beyond those that are conditioned on.

    Returns
    -------
    facts : ColumnFacts
        Facts about every column.
    store : PlaneStore
        Bit planes of the candidate columns.
    """
    if forced is not None and len(forced.conditioning):
        codes, covariates = learn_covariates(table, layout, categorical, resources, forced)
        forced = replace(forced, covariates=covariates)
        if measure_beyond:
            ordered = [own[layout.order] for own in codes]
            baseline = fit_baseline(ordered, layout.labels, layout.n_classes)
            forced = replace(forced, baseline=baseline)
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
    given = forced is not None and forced.covariates is not None  # tests of whole columns
    planned = functools.partial(
        make_plan, table, layout.n_samples, categorical, resources, layout.n_classes, whole=given
    )
    try:
        plan = planned()
    except MemoryError:
        if store is None or not store.spill():
            raise
        plan = planned()
    if store is None:
        store = PlaneStore(layout, plan.plane_bytes / 2 if quartiles else plan.plane_bytes)
    facts = []
    for part in each_block(table, work, plan, resources):
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
        _, covariates = learn_covariates(table, layout, categorical, resources, forced)
        work = functools.partial(_adjusted, layout=layout, covariates=covariates)
        plan = make_plan(table, layout.n_samples, categorical, resources, whole=True)
        found = np.concatenate(list(each_block(table, work, plan, resources)))
        found[forced.conditioning] = np.nan
        return found
    work = functools.partial(_p_values, layout=layout)
    plan = make_plan(table, layout.n_samples, categorical, resources)
    return np.concatenate(list(each_block(table, work, plan, resources)))


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


def _adjusted(
    table: Table, block: Block, *, layout: SampleLayout, covariates: AnyCovariates
) -> NDArray[np.float64]:
    """Compute the p-values of a block given covariates."""
    return adjusted_p_values(table, block.columns, block.kind, layout, covariates)


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
    unused = np.zeros(len(coding), np.bool_)
    if forced is not None and forced.covariates is not None:
        gaps = np.flatnonzero(coding.cut & coding.only_missing & pays(facts))
        by_gap = 2 * _gap_p_values(own, gaps, layout, forced.covariates)
        p_value[gaps] = np.minimum(np.minimum(2 * p_value[gaps], by_gap), 1)
        unused[gaps] = by_gap > SIGNIFICANT
    reason = judge(facts)
    if forced is not None:
        reason = forced.judge(block.columns, reason, p_value, own_p_value, unused)
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
        return _Screened(facts, pack_nothing(layout))
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
    """Test whether the missing values of some columns depend on the class given covariates."""
    if len(columns) == 0:
        return np.empty(0)
    tested = layout.tested or layout
    gaps = np.zeros((len(columns), int(layout.order.max()) + 1), np.uint8)
    gaps[:, layout.order] = decoded(own.encode(columns), layout)
    return covariates.test(gaps[:, tested.order])


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
