"""Chi2: discretization and feature selection by merging intervals (Liu & Setiono)."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Self

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
"""Decreasing significance levels; after the last one all intervals are merged."""


@register("chi2")
class Chi2(BaseSelector):
    """Select features by merging intervals with the Chi2 algorithm.

    Adjacent intervals of each numeric column with the smallest chi-squared statistic are merged, at
    decreasing significance levels, first for all columns together and then for each column in turn. This
    goes on while the inconsistency rate is at most ``delta``: the share of samples that have the same
    intervals in all columns as other samples, but not the majority class of these. Numeric columns with
    a single remaining interval are dropped. Categorical columns are not changed.

    Parameters
    ----------
    delta : float, default=0.05
        Maximum inconsistency rate. It is limited to half the share of samples outside the largest class,
        and raised to the inconsistency rate of the raw data if that is larger.
    n_features_to_select : int, float or "auto", default="auto"
        Maximum number of features to select, or fraction of the columns. ``"auto"`` keeps all
        features that the method selects; otherwise only those with the largest statistic are kept.
    target : {"auto", "classification", "regression"}, default="auto"
        Type of the target. With ``"auto"``, floats with fractional parts are a continuous target, and
        integers, strings and booleans are class labels. A continuous target is cut into bins at its
        quantiles, which are used like classes; p-values compare columns with the numbers themselves.
    categorical_features : "from_dtype", "all" or array-like, default="from_dtype"
        Numeric columns to treat as categorical: a mask, indices or column names, or ``"all"`` for all
        columns. With ``"from_dtype"``, all numeric columns are discretized. Booleans, strings and
        columns of a categorical dtype are always categorical.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class, by its label; the classes without an entry have weight 1. ``"balanced"``
        gives all classes the same total weight. Sample weights are multiplied by it.
    n_jobs : int or None, default=None
        Number of threads used for coding and counting. ``None`` means 1 unless in a
        ``joblib.parallel_backend`` context; ``-1`` means all cores. Results do not depend on it.
    memory_limit : int, str or None, default=None
        Maximum memory of the process during ``fit``, for example ``"2GiB"``. To stay below the limit,
        smaller blocks are read and bit planes are moved to a temporary file. ``None`` means no limit.
    device : {"cpu", "cuda", "auto"}, default="cpu"
        Where columns are counted. ``"cuda"`` needs an NVIDIA GPU and the extra ``gpu``; ``"auto"`` uses
        a GPU if there is one. Results do not depend on it.

    Attributes
    ----------
    cut_points_ : list of ndarray
        Cut points of each column in increasing order; empty for categorical columns.
    indices_ : ndarray of shape (n_features_,)
        Selected columns, by decreasing chi-squared statistic of the final intervals and the classes.
    selection_scores_ : ndarray of shape (n_features_,)
        This statistic of each selected column.
    scores_ : ndarray of shape (n_features_in_,)
        Relevance I(f;Y) of every column, in nats.
    pvalues_, qvalues_ : ndarray of shape (n_features_in_,)
        p-value of each column for independence from the class, and the corresponding q-value.
    support_, network_, features_, n_features_, n_features_in_, feature_names_in_
        As in `SLFS`.
    target_type_, target_bins_, classes_
        As in `SLFS`.

    Notes
    -----
    The paper does not specify the significance levels; here they are 0.5, 0.4, 0.3, 0.2, 0.1, 0.05,
    0.02, 0.01, and so on. Columns with more than 255 intervals are merged to 255 at the start.

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
        target: str = "auto",
        categorical_features: Any = "from_dtype",
        class_weight: Any = None,
        n_jobs: int | None = None,
        memory_limit: int | str | None = None,
        device: str = "cpu",
    ) -> None:
        self.delta = delta
        self.n_features_to_select = n_features_to_select
        self.target = target
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.device = device

    def _take_columns(self, columns: NDArray[np.int64]) -> Self:
        copy = super()._take_columns(columns)
        copy.cut_points_ = [self.cut_points_[column] for column in columns.tolist()]
        return copy

    def _cut_points(self, data: TrainingData, resources: Resources) -> Cuts:
        mergeable = data.table.numbers & ~data.categorical
        columns = [_read_column(data.table, int(j), data.layout) for j in np.flatnonzero(mergeable)]
        patterns = _fixed_patterns(data, ~mergeable, resources)
        _merge_while_consistent(columns, patterns, data.layout, self.delta)
        self.cut_points_ = [np.empty(0)] * data.table.n_features
        for index, column in zip(np.flatnonzero(mergeable), columns, strict=True):
            self.cut_points_[index] = column.cut_points()
        return self.cut_points_

    def _judge(self) -> Judge:
        return functools.partial(drop_one_level, merged=Reason.MERGED)

    def _select(self, information: Information, facts: ColumnFacts) -> Selection:  # noqa: ARG002
        statistic, _ = chi2_statistics(information.packed)
        order = np.argsort(-statistic, kind="stable")
        return Selection(order, below_class(order), statistic[order])


@dataclass
class _Column:
    """The state of a numeric column during merging: distinct values, intervals and class counts."""

    values: NDArray[np.float64]
    rank: NDArray[np.int64]  # index of each sample's value, len(values) for a missing value
    interval: NDArray[np.int64]  # interval of each value
    counts: NDArray[np.int64]  # class counts of each interval

    def merged(self, threshold: float) -> _Column:
        """Merge the adjacent intervals whose chi-squared statistic is below a threshold."""
        counts, group = self.counts.copy(), np.empty(len(self.counts), np.int64)
        left = merge_intervals(counts, threshold, MAX_LEVELS, group)
        return _Column(self.values, self.rank, group[self.interval], counts[:left])

    def pattern(self, key: np.uint64) -> NDArray[np.uint64]:
        """Return what the column adds to the pattern of each sample."""
        interval = np.append(self.interval, len(self.counts)).astype(np.uint64) + np.uint64(1)
        return _mix(interval * key)[self.rank]

    def cut_points(self) -> NDArray[np.float64]:
        last = np.flatnonzero(np.diff(self.interval))
        pairs = zip(self.values[last].tolist(), self.values[last + 1].tolist(), strict=True)
        return np.array([midpoint(low, high) for low, high in pairs], np.float64)


def _merge_while_consistent(
    columns: list[_Column], patterns: NDArray[np.uint64], layout: SampleLayout, delta: float
) -> None:
    """Merge the intervals of all columns in place, in the two phases of the paper."""
    n_freedom = layout.n_classes - 1
    thresholds = [*(layout.unit * float(chdtri(n_freedom, level)) for level in _LEVELS), np.inf]
    keys = _mix(np.arange(1, len(columns) + 1).astype(np.uint64)) | np.uint64(1)

    def combined(some: list[_Column]) -> NDArray[np.uint64]:
        total = patterns.copy()
        for column, key in zip(some, keys, strict=True):
            total += column.pattern(key)
        return total

    columns[:] = [column.merged(-1.0) for column in columns]
    minority = 1 - layout.totals.max() / layout.n_samples
    allowed = max(min(delta, minority / 2), _inconsistency(combined(columns), layout))
    # Phase 1: the same significance level for all columns, decreased while the data are consistent
    step = 0
    while step < len(thresholds):
        tried = [column.merged(thresholds[step]) for column in columns]
        if _inconsistency(combined(tried), layout) > allowed:
            break
        columns[:] = tried
        step += 1
    # Phase 2: a significance level of its own for each column, in turn
    total = combined(columns)
    steps = dict.fromkeys((j for j, c in enumerate(columns) if len(c.counts) > 1), step)
    while steps:
        for j, own in list(steps.items()):
            if own == len(thresholds) or len(columns[j].counts) == 1:
                del steps[j]
                continue
            merged = columns[j].merged(thresholds[own])
            changed = total - columns[j].pattern(keys[j]) + merged.pattern(keys[j])
            if _inconsistency(changed, layout) > allowed:
                del steps[j]
            else:
                columns[j], total, steps[j] = merged, changed, own + 1


def _read_column(table: Table, column: int, layout: SampleLayout) -> _Column:
    numbers = table.number_block(np.array([column]), layout.order).dense()[0]
    present = ~np.isnan(numbers)
    values, index = np.unique(numbers[present], return_inverse=True)
    rank = np.full(len(numbers), len(values))
    rank[present] = index
    cells = index * layout.n_classes + layout.labels[present]
    counts = np.bincount(cells, minlength=len(values) * layout.n_classes)
    return _Column(values, rank, np.arange(len(values)), counts.reshape(len(values), layout.n_classes))


def _fixed_patterns(
    data: TrainingData, fixed: NDArray[np.bool_], resources: Resources
) -> NDArray[np.uint64]:
    """Return what the columns that are not merged add to the pattern of each sample."""
    patterns = np.zeros(data.layout.n_samples, np.uint64)
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
    """Return the share of samples that do not have the most frequent class of their pattern."""
    _, index = np.unique(patterns, return_inverse=True)
    cells = np.bincount(index * layout.n_classes + layout.labels, minlength=0)
    cells = np.append(cells, np.zeros(-len(cells) % layout.n_classes, np.int64))
    majority = cells.reshape(-1, layout.n_classes).max(axis=1).sum()
    return float(1 - majority / layout.n_samples)


def _mix(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Hash 64-bit words, so that different sets of words have different sums."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
