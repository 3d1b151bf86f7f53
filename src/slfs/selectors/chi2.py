"""Chi2: discretise and select by merging intervals while the data stay consistent (Liu & Setiono)."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from slfs._compat import Interval
from slfs._core.indices import PackedIndex
from slfs._core.resources import Resources
from slfs.base import TrainingData
from slfs.coding.codebook import MAX_LEVELS
from slfs.coding.cut_kernels import merge_intervals, midpoint
from slfs.counting.backend import make_backend
from slfs.counting.planes import SampleLayout
from slfs.measures.information import Information, chi2_statistics
from slfs.screening.facts import ColumnFacts, Judge
from slfs.screening.judging import drop_one_level
from slfs.screening.learn import Cuts
from slfs.screening.pipeline import screen_table
from slfs.screening.reasons import Reason
from slfs.selectors._shared.selection import Selection, below_class
from slfs.selectors.base import BaseSelector
from slfs.selectors.registry import register
from slfs.tables.table import Table

_LEVELS = [0.5, 0.4, 0.3, 0.2] + [m * 10.0**-e for e in range(1, 12) for m in (1.0, 0.5, 0.2)]
"""Falling levels of significance; after the last one all intervals are merged."""


@register("chi2")
class Chi2(BaseSelector):
    """Merge alike intervals of each column of numbers; columns left with one interval are dropped.

    Neighbouring intervals with the least chi-square are merged, at a falling level of significance,
    first for all columns together and then for each in turn, as long as the rate of inconsistency stays
    at most ``delta``: the share of samples that agree in all intervals with others, but not with the
    majority of these in the class. Categorical columns stay as they are.

    Parameters
    ----------
    delta : float, default=0.05
        Largest rate of inconsistency, at most half the share of all classes but the largest. Where the
        raw data are less consistent already, their own rate.
    n_features_to_select : int, float or "auto", default="auto"
        Maximum number of features, or share of the columns; "auto": all that the method selects. If the
        method selects more, the first ones are kept.
    categorical_features : "from_dtype", "all" or array-like, default="from_dtype"
        Columns of numbers to take as categories, as in `SLFS`.
    n_jobs : int or None, default=None
        Threads that code the columns.
    memory_limit : int, str or None, default=None
        Memory that the process may take in ``fit``, such as ``"2GiB"``: blocks become smaller, and
        planes go to a temporary file. See the page on scaling.

    Attributes
    ----------
    cut_points_ : list of ndarray
        Rising cut points of each column; empty for a categorical one.
    indices_ : ndarray of shape (n_features_,)
        Selected columns by falling chi-square of their final intervals and the classes.
    selection_scores_ : ndarray of shape (n_features_,)
        These statistics.
    support_, network_, features_, n_features_
        As in `SLFS`.

    Notes
    -----
    The paper leaves the steps of the level open; here 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01, ...
    A column has at most 255 intervals from the start.

    References
    ----------
    H. Liu and R. Setiono, "Chi2: feature selection and discretization of numeric attributes",
    ICTAI 1995.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from slfs import Chi2
    >>> selector = Chi2().fit(*load_iris(return_X_y=True))
    >>> selector.indices_
    array([3])
    >>> selector.cut_points_[3]
    array([0.8 , 1.75])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseSelector._parameter_constraints,
        "delta": [Interval(Real, 0, 1, closed="left")],
    }

    _fitted: ClassVar[frozenset[str]] = BaseSelector._fitted | {"cut_points_"}

    def __init__(
        self,
        *,
        delta: float = 0.05,
        n_features_to_select: float | str = "auto",
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
        memory_limit: int | str | None = None,
    ) -> None:
        self.delta = delta
        self.n_features_to_select = n_features_to_select
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit

    def _cut_points(self, data: TrainingData, resources: Resources) -> Cuts:
        mergeable = data.table.numbers & ~data.categorical
        columns = [_read_column(data.table, int(j), data.layout) for j in np.flatnonzero(mergeable)]
        patterns = _fixed_patterns(data, ~mergeable, resources)
        _merge_while_consistent(columns, patterns, data.layout, self.delta)
        self.cut_points_ = [np.empty(0)] * data.table.n_features
        for place, column in zip(np.flatnonzero(mergeable), columns, strict=True):
            self.cut_points_[place] = column.cut_points()
        return self.cut_points_

    def _judge(self) -> Judge:
        return functools.partial(drop_one_level, merged=Reason.MERGED)

    def _select(self, information: Information, facts: ColumnFacts) -> Selection:  # noqa: ARG002
        statistic, _ = chi2_statistics(information.packed)
        order = np.argsort(-statistic, kind="stable")
        return Selection(order, below_class(order), statistic[order])


@dataclass
class _Column:
    """A column of numbers as it is merged: its distinct values, their intervals, the class counts."""

    values: NDArray[np.float64]
    rank: NDArray[np.int64]  # place of each sample's value, len(values) for a missing one
    interval: NDArray[np.int64]  # of each value
    counts: NDArray[np.int64]  # of each interval and class

    def merged(self, threshold: float) -> _Column:
        """The same column with all neighbours merged whose chi-square is below a threshold."""
        counts, group = self.counts.copy(), np.empty(len(self.counts), np.int64)
        left = merge_intervals(counts, threshold, MAX_LEVELS, group)
        return _Column(self.values, self.rank, group[self.interval], counts[:left])

    def pattern(self, key: np.uint64) -> NDArray[np.uint64]:
        """What the column adds to the pattern of each sample."""
        interval = np.append(self.interval, len(self.counts)).astype(np.uint64) + np.uint64(1)
        return _mix(interval * key)[self.rank]

    def cut_points(self) -> NDArray[np.float64]:
        last = np.flatnonzero(np.diff(self.interval))
        pairs = zip(self.values[last].tolist(), self.values[last + 1].tolist(), strict=True)
        return np.array([midpoint(low, high) for low, high in pairs], np.float64)


def _merge_while_consistent(
    columns: list[_Column], patterns: NDArray[np.uint64], layout: SampleLayout, delta: float
) -> None:
    """Merge the intervals of all columns, in place, in the two phases of the paper."""
    n_freedom = layout.n_classes - 1
    thresholds = [*(float(chdtri(n_freedom, level)) for level in _LEVELS), np.inf]
    keys = _mix(np.arange(1, len(columns) + 1).astype(np.uint64)) | np.uint64(1)

    def together(some: list[_Column]) -> NDArray[np.uint64]:
        whole = patterns.copy()
        for column, key in zip(some, keys, strict=True):
            whole += column.pattern(key)
        return whole

    columns[:] = [column.merged(-1.0) for column in columns]
    minority = 1 - layout.totals.max() / layout.n_samples
    allowed = max(min(delta, minority / 2), _inconsistency(together(columns), layout))
    # Phase 1: all columns at the same level, as low as consistency allows
    step = 0
    while step < len(thresholds):
        tried = [column.merged(thresholds[step]) for column in columns]
        if _inconsistency(together(tried), layout) > allowed:
            break
        columns[:] = tried
        step += 1
    # Phase 2: each column at its own level, in turn
    whole = together(columns)
    steps = dict.fromkeys((j for j, c in enumerate(columns) if len(c.counts) > 1), step)
    while steps:
        for j, own in list(steps.items()):
            if own == len(thresholds) or len(columns[j].counts) == 1:
                del steps[j]
                continue
            merged = columns[j].merged(thresholds[own])
            changed = whole - columns[j].pattern(keys[j]) + merged.pattern(keys[j])
            if _inconsistency(changed, layout) > allowed:
                del steps[j]
            else:
                columns[j], whole, steps[j] = merged, changed, own + 1


def _read_column(table: Table, column: int, layout: SampleLayout) -> _Column:
    numbers = table.number_block(np.array([column]), layout.order).dense()[0]
    present = ~np.isnan(numbers)
    values, place = np.unique(numbers[present], return_inverse=True)
    rank = np.full(len(numbers), len(values))
    rank[present] = place
    cells = place * layout.n_classes + layout.labels[present]
    counts = np.bincount(cells, minlength=len(values) * layout.n_classes)
    return _Column(values, rank, np.arange(len(values)), counts.reshape(len(values), layout.n_classes))


def _fixed_patterns(
    data: TrainingData, fixed: NDArray[np.bool_], resources: Resources
) -> NDArray[np.uint64]:
    """What the columns that are not merged add to the pattern of each sample."""
    patterns = np.zeros(data.table.n_samples, np.uint64)
    if not fixed.any():
        return patterns
    _, store = screen_table(data.table, data.layout, data.categorical, resources, _drop_cut)
    backend = make_backend(store.packed(), resources.threads)
    keys = _mix(2**40 + np.arange(len(backend.packed)).astype(np.uint64)) | np.uint64(1)
    for f, key in enumerate(keys):
        patterns += _mix((backend.codes(PackedIndex(f)).astype(np.uint64) + np.uint64(1)) * key)
    return patterns


def _drop_cut(facts: ColumnFacts) -> NDArray[np.int8]:
    """Keep the columns that are not cut into intervals."""
    return np.where(facts.coding.cut, Reason.MERGED, Reason.CANDIDATE).astype(np.int8)


def _inconsistency(patterns: NDArray[np.uint64], layout: SampleLayout) -> float:
    """The share of samples that are not of the most frequent class of their pattern."""
    _, place = np.unique(patterns, return_inverse=True)
    cells = np.bincount(place * layout.n_classes + layout.labels, minlength=0)
    cells = np.append(cells, np.zeros(-len(cells) % layout.n_classes, np.int64))
    majority = cells.reshape(-1, layout.n_classes).max(axis=1).sum()
    return float(1 - majority / layout.n_samples)


def _mix(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scatter 64-bit words, so that sums of them stand for the sets that they are made of."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
