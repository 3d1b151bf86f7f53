"""Columns -> p-values of independence from the class, on ranks and levels that do not depend on it.

MDLP cuts where the classes differ, so its intervals appear relevant by construction. Ranks and quantiles
depend on the column only, and the levels of a categorical column are given by the user.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slfs._core.memory import reuse_freed_memory
from slfs.coding.categories import learn_labels, read_labels
from slfs.coding.codebook import MAX_LEVELS, NONE, Learned, join_learned
from slfs.coding.cut_kernels import quantile_counts, quantile_cuts
from slfs.coding.encode import encode_labels
from slfs.coding.numbers import (
    encode_numbers,
    learn_levels,
    learn_numbers,
    make_runs,
    may_be_rounded,
)
from slfs.coding.rank_kernels import summarize_ranks
from slfs.coding.run_kernels import Runs
from slfs.coding.target_rank_kernels import N_POWERS, add_target_ranks, summarize_target_ranks
from slfs.counting.planes import PackedBlock, SampleLayout, pack_block
from slfs.counting.value_planes import Codes, decoded
from slfs.measures.adjusted_numbers import AnyCovariates
from slfs.measures.contingency import independence_p_values, log_factorials
from slfs.measures.ranks import RankSummary, pool_rare_groups, rank_p_values
from slfs.measures.target_ranks import (
    NumberSummary,
    correlation_p_values,
    group_p_values,
    target_moments,
)
from slfs.tables.planes import Numbers, PlaneBlock, read_numbers
from slfs.tables.table import Table

INTERVALS = 4
"""Number of equal-frequency intervals of the levels that do not depend on the class: quartiles."""

_TWENTIETHS = (0, 2, 5, 10, 15, 18)
"""Where the intervals begin that are used to test columns of numbers: at 10, 25, 50, 75 and 90%.

Quartiles alone miss what happens in a tail, for example a class that is the highest tenth.
"""

RANK_SHARE = 0.75
"""Share of the error rate that is spent on the rank test of columns of numbers."""

LEVEL_SHARE = 0.9
"""Share of the error rate that is spent on tests of the level of a continuous target.

Its bins are also tested: a column may tell how much the target varies, and not how large it is.
"""


def level_p_values(learned: Learned, layout: SampleLayout) -> NDArray[np.float64]:
    """Compute p-values of independence from the class for columns whose levels the user has given."""
    return independence_p_values(
        learned.class_counts, learned.coding.n_levels, layout.n_classes, layout.n_samples
    )


def number_p_values(runs: Runs, missing: NDArray[np.int64], layout: SampleLayout) -> NDArray[np.float64]:
    """Compute p-values of independence from the class for columns of numbers.

    The ranks and the table of six intervals and missing values are tested. Three quarters of the error
    rate go to the rank test, which is more powerful if the classes differ in location; the intervals
    find other differences. Columns with too many ties for the rank test are tested by their intervals
    only.
    """
    by_table = _interval_p_values(runs, missing, layout)
    present = layout.totals - missing
    group, own = pool_rare_groups(layout.totals[np.newaxis])[0], np.arange(layout.n_classes)
    if (group != own).any():
        label = group.astype(np.int32).take(runs.label, mode="clip")  # the arrays are not full
        runs = runs._replace(label=label)
        present = np.stack([present[:, group == c].sum(axis=1) for c in own], axis=1)
    ranks = np.empty((len(RankSummary._fields), len(missing)))
    summarize_ranks(runs, present, log_factorials(layout.n_samples), ranks)
    return _either(rank_p_values(RankSummary(*ranks)), by_table, RANK_SHARE)


def _interval_p_values(
    runs: Runs, missing: NDArray[np.int64], layout: SampleLayout
) -> NDArray[np.float64]:
    """Test the table of six intervals and missing values by the classes, or the bins of the target."""
    fine = np.zeros((len(missing), 20, layout.n_classes), np.int64)
    quantile_counts(runs, fine)
    intervals = np.add.reduceat(fine, _TWENTIETHS, axis=1)
    counts = np.concatenate([intervals, missing[:, np.newaxis]], axis=1)
    n_levels = np.full(len(missing), counts.shape[1])
    return independence_p_values(counts, n_levels, layout.n_classes, layout.n_samples)


def _either(
    first: NDArray[np.float64], second: NDArray[np.float64], share: float
) -> NDArray[np.float64]:
    """Return the p-values of two tests of the same columns together; NaN: the column is not tested.

    The first test gets this share of the error rate, or all of it if the second one does not test.
    """
    both = np.minimum(np.fmin(first / share, second / (1 - share)), 1.0)
    return np.where(np.isnan(first), second, np.where(np.isnan(second), first, both))


def adjusted_p_values(
    table: Table,
    columns: NDArray[np.int64],
    kind: str,
    layout: SampleLayout,
    covariates: AnyCovariates,
) -> NDArray[np.float64]:
    """Compute p-values of independence from the class given covariates.

    Numbers with more values than intervals are cut by their ranks less what the covariates explain of
    them: the patients of paired samples differ more than the samples of a patient.
    """
    fine = np.zeros(len(columns), np.bool_)
    if kind == "mdlp":
        numbers = read_numbers(table, columns, layout)
        learned, codes = _cut_blind(numbers, layout, INTERVALS)
        levels = decoded(codes, layout)
        if not isinstance(numbers, PlaneBlock):
            fine = learned.coding.cut.copy()
            values = numbers.dense()[fine]
            several = (np.diff(np.sort(values, axis=1)) > 0).sum(axis=1) >= INTERVALS
            fine[fine] = several
            levels[fine] = covariates.cut_residuals(values[several])
    else:
        learned, codes = code_blind(table, columns, kind, layout)
        levels = decoded(codes, layout)
    records = learned.coding.columns
    n_levels = np.where(fine, levels.max(axis=1).astype(np.int64) + 1, learned.coding.n_levels)
    missing = np.where(fine & (records["missing"] != NONE), n_levels - 1, records["missing"])
    level = np.arange(MAX_LEVELS + 1)
    ordered = (level < n_levels[:, np.newaxis]) & (level != missing[:, np.newaxis])
    ordered &= (fine | records["cut"] | records["ordered"])[:, np.newaxis]
    return covariates.test(levels, ordered)


def blind_cuts(runs: Runs, intervals: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the cut points of equal-frequency intervals, column by column, and their numbers."""
    cuts = np.empty((len(runs.start), intervals - 1))
    n_cuts = np.empty(len(runs.start), np.int64)
    quantile_cuts(runs, cuts, n_cuts)
    return cuts[np.arange(intervals - 1) < n_cuts[:, np.newaxis]], n_cuts


class TargetRankSums:
    """Sums of the ranks of a continuous target over the values of columns of numbers.

    Parameters
    ----------
    runs : Runs
        The distinct values of the columns, or bins of them.
    missing : ndarray of shape (n_columns, n_classes)
        Number of missing values by bin of the target.
    layout : SampleLayout
        The samples, with the ranks of the target.
    """

    def __init__(self, runs: Runs, missing: NDArray[np.int64], layout: SampleLayout) -> None:
        self._runs, self._missing, self._layout = runs, missing, layout
        self._sums = np.zeros(len(runs.value), np.int64)
        self._powers = np.zeros((len(missing), N_POWERS))

    def add(self, numbers: Numbers, rows: NDArray[np.int64]) -> None:
        """Add the samples of some rows."""
        ranks = _target_ranks(self._layout)[rows]
        add_target_ranks(self._runs, numbers.dense(), ranks, self._sums, self._powers)

    def p_values(self) -> NDArray[np.float64]:
        """Compute p-values of independence from the target, given all samples.

        Spearman's test finds monotone dependence, and the test of Kruskal and Wallis of the target over
        the quartiles and the missing values of the column any other dependence of its level; few values,
        and a value of more than half of the samples, are not joined with others. The table of six
        intervals and the bins of the target finds differences of its spread. They share the error rate
        as the tests of `number_p_values` do.
        """
        runs, layout, n_columns = self._runs, self._layout, len(self._missing)
        target = target_moments(_target_ranks(layout)[layout.order])
        sizes, sums = (np.zeros((n_columns, INTERVALS + 1), np.int64) for _ in range(2))
        summary = np.empty((len(NumberSummary._fields), n_columns))
        summarize_target_ranks(runs, self._sums, sizes, sums, summary)
        numbers = NumberSummary(*summary)
        sizes = np.column_stack([sizes, self._missing.sum(axis=1)])
        sums = np.column_stack([sums, -sums.sum(axis=1)])  # the ranks of all samples sum to zero
        by_group = group_p_values(sizes, sums, target)
        by_rank = correlation_p_values(numbers, self._powers, target)
        same = (numbers.n_distinct == 2) & (numbers.n_samples == layout.n_samples)
        by_rank[same & ~np.isnan(by_group)] = np.nan  # both tests compare the same two groups
        by_table = _interval_p_values(runs, self._missing, layout)
        return _either(_either(by_rank, by_group, RANK_SHARE), by_table, LEVEL_SHARE)


def level_rank_p_values(
    codes: NDArray[np.uint8], rows: NDArray[np.int64], learned: Learned, layout: SampleLayout
) -> NDArray[np.float64]:
    """Compute p-values of independence from a continuous target for columns with given levels.

    The ranks of the target are compared between the levels (Kruskal and Wallis), and its bins, to find
    differences of its spread. ``codes`` has one row per column and the samples in the order of ``rows``.
    """
    ranks = _target_ranks(layout)
    width = int(learned.coding.n_levels.max())
    sizes = np.array([np.bincount(row, minlength=width) for row in codes])
    sums = np.array([np.bincount(row, ranks[rows], minlength=width) for row in codes])
    by_rank = group_p_values(sizes, sums.astype(np.int64), target_moments(ranks[layout.order]))
    return _either(by_rank, level_p_values(learned, layout), LEVEL_SHARE)


def _target_ranks(layout: SampleLayout) -> NDArray[np.int64]:
    assert layout.target_ranks is not None  # the target is continuous
    return layout.target_ranks


def pack_blind(
    table: Table,
    columns: NDArray[np.int64],
    kind: str,
    layout: SampleLayout,
    most_levels: int,
    intervals: int = INTERVALS,
) -> PackedBlock:
    """Pack the levels of columns of one kind; with more than ``most_levels`` the rarest are pooled.

    ``layout`` has a single class with all samples.
    """
    learned, codes = code_blind(table, columns, kind, layout, intervals)
    n_levels, counts = learned.coding.n_levels.copy(), learned.class_counts
    if n_levels.max(initial=0) > most_levels:
        codes = decoded(codes, layout)
        for column in np.flatnonzero(n_levels > most_levels):
            codes[column] = pool_levels(codes[column], most_levels)
        n_levels = codes.max(axis=1).astype(np.int64) + 1
        parts = [np.bincount(row, minlength=d) for row, d in zip(codes, n_levels, strict=True)]
        counts = np.concatenate(parts)
    return pack_block(layout, columns, codes, n_levels, counts)


def code_blind(
    table: Table,
    columns: NDArray[np.int64],
    kind: str,
    layout: SampleLayout,
    intervals: int = INTERVALS,
    order: SampleLayout | None = None,
) -> tuple[Learned, Codes]:
    """Learn and code levels that do not depend on the class; numbers in intervals of equal frequency.

    ``layout`` has a single class with all samples. ``order`` is the same with the classes in which
    planes are packed, if these are not a single one.
    """
    reuse_freed_memory()
    if kind == "labels":
        labels = read_labels(table, int(columns[0]), layout.order)
        learned = learn_labels([(labels, layout)], layout.n_classes)
        return learned, encode_labels(learned.coding, 0, labels.block)[:, labels.place]
    numbers = read_numbers(table, columns, order or layout)
    if kind != "levels":
        return _cut_blind(numbers, layout, intervals)
    runs, missing = make_runs(numbers, layout)
    large = may_be_rounded(runs)
    if large.any():  # integers that are not told apart as floats
        kinds = np.where(large, "labels", "levels").tolist()
        parts = [
            code_blind(table, columns[[j]], own, layout, intervals, order) for j, own in enumerate(kinds)
        ]
        codes = np.concatenate([decoded(own, order or layout) for _, own in parts])
        return join_learned([own for own, _ in parts]), codes
    learned = learn_levels(runs, missing, layout)
    return learned, encode_numbers(learned.coding, numbers)


def _cut_blind(numbers: Numbers, layout: SampleLayout, intervals: int) -> tuple[Learned, Codes]:
    """Cut columns of numbers into intervals of equal frequency."""
    runs, missing = make_runs(numbers, layout)
    learned = learn_numbers(runs, missing, layout, *blind_cuts(runs, intervals))
    return learned, encode_numbers(learned.coding, numbers)


def pool_levels(codes: NDArray[np.integer], most_levels: int) -> NDArray[np.uint8]:
    """Keep the most frequent levels (ties: the smaller one) and pool the others as the last level."""
    counts = np.bincount(codes)
    level = np.full(len(counts), most_levels - 1)
    kept = np.sort(np.argsort(-counts, kind="stable")[: most_levels - 1])
    level[kept] = np.arange(len(kept))
    pooled: NDArray[np.uint8] = level[codes].astype(np.uint8)
    return pooled
