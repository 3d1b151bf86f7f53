"""A table and its classes -> the held-out log loss of residual pursuit by number of columns."""

from __future__ import annotations

from collections.abc import Callable, Sized
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax

from slfs._compat import HasMethods, Interval
from slfs._core.progress import counting
from slfs._core.resources import Resources
from slfs.base import TrainingData
from slfs.coding.encode import encode_table
from slfs.counting.backend import make_backend
from slfs.counting.planes import SampleLayout
from slfs.measures.false_discovery import q_values
from slfs.measures.information import Information
from slfs.screening.facts import ColumnFacts
from slfs.screening.forced import Forced
from slfs.screening.pipeline import screen_table
from slfs.screening.plan import least_bytes
from slfs.screening.reasons import SIGNIFICANT, Reason
from slfs.selectors._shared.additive import AdditiveTables, node_scores
from slfs.selectors._shared.calibration import MOST_FOLDS, Fold, fit_calibrated
from slfs.selectors._shared.folds import Split, make_folds
from slfs.selectors._shared.joint_gain import Group
from slfs.selectors._shared.pursuit import Pursuit, pursuit_bytes
from slfs.selectors._shared.selection import packed_as, with_few_missing
from slfs.selectors._shared.size_sentences import size_sentence
from slfs.selectors._shared.wording import listed
from slfs.selectors.base import FORCED_CONSTRAINTS, GROUP_CONSTRAINTS, BaseSelector
from slfs.tables.parts import Part

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_LEAST_PROBABILITY = 1e-15

_NEGLIGIBLE = 0.001
"""Difference of log losses that does not count, in nats."""

_FOLD_BYTES = 1
"""Memory that is kept of a column selected without a fold, per sample: levels and quartiles."""

_ROWS_BYTES = 32
"""Memory that is kept of a fold itself, per sample: its rows, their order, classes and weights."""

_SWEEPS = 4
"""Steps for each table before the log loss of a number of columns is computed."""


@dataclass(frozen=True)
class SizePath:
    """Cross-validated log loss by number of columns.

    Attributes
    ----------
    n_features : ndarray of shape (n_sizes,)
        Number of columns, from 0 or from the number of included columns on.
    log_loss : ndarray of shape (n_sizes,)
        Mean log loss on the samples left out, over the folds.
    standard_error : ndarray of shape (n_sizes,)
        Standard error of this mean over the folds.
    best : int
        Smallest number of columns with the smallest log loss, to 0.001 nats.
    within_one_standard_error : int
        Smallest number of columns whose log loss is at most one standard error, or 0.001 nats if that is
        more, above the smallest.
    limit : float
        The largest log loss that is so.
    """

    n_features: Ints
    log_loss: Floats
    standard_error: Floats

    @property
    def best(self) -> int:
        limit = self.log_loss.min() + _NEGLIGIBLE
        return int(self.n_features[np.flatnonzero(self.log_loss <= limit)[0]])

    @property
    def within_one_standard_error(self) -> int:
        return int(self.n_features[np.flatnonzero(self.log_loss <= self.limit)[0]])

    @property
    def limit(self) -> float:
        lowest = int(self.log_loss.argmin())
        return float(self.log_loss[lowest] + max(self.standard_error[lowest], _NEGLIGIBLE))

    @property
    def margin(self) -> str:
        """What `limit` is above the smallest log loss, in words."""
        larger = self.standard_error[self.log_loss.argmin()] >= _NEGLIGIBLE
        return "one standard error" if larger else f"{_NEGLIGIBLE:g} nats"

    def at(self, n_columns: int) -> int:
        """Return the index of a number of columns."""
        return int(np.searchsorted(self.n_features, n_columns))

    def up_to(self, n_columns: int) -> SizePath:
        """Return the part of the path up to a number of columns."""
        end = self.at(n_columns) + 1
        return SizePath(self.n_features[:end], self.log_loss[:end], self.standard_error[:end])


def make_size_path(
    selector: AutomaticSizeMixin,
    data: TrainingData,
    folds: list[Split],
    resources: Resources,
    step: Callable[[], None],
) -> tuple[SizePath, list[Fold]]:
    """Run the pursuit without each fold in turn, and compute the log loss on the fold.

    The levels of the columns, the selection and the tables are learned without the fold. ``step`` is
    called after each one. Also returns what was selected without each fold.
    """
    losses, learned = [], []
    forced = selector._forced()
    first = 0 if forced is None else forced.n_included
    for train, test in folds:
        loss, fold = _run_fold(selector, data, train, test, resources, forced)
        losses.append(loss[first:])
        if len(folds) <= MOST_FOLDS:
            learned.append(fold)
        step()
    sizes = [len(loss) for loss in losses] or [1]
    table = np.zeros((len(losses), max(sizes)))
    for row, loss in zip(table, losses, strict=True):
        row[:] = loss[-1]  # no columns are left to add
        row[: len(loss)] = loss
    error = table.std(axis=0, ddof=1) / np.sqrt(len(table)) if len(table) > 1 else np.zeros(max(sizes))
    mean = table.mean(axis=0) if len(table) else np.zeros(max(sizes))
    return SizePath(first + np.arange(max(sizes)), mean, error), learned


def _run_fold(
    selector: AutomaticSizeMixin,
    data: TrainingData,
    train: Ints,
    test: Ints,
    resources: Resources,
    forced: Forced | None,
) -> tuple[Floats, Fold]:
    """Return the log loss on the test samples for 0, 1, ... columns, and what was selected."""
    y, names = data.target.codes, selector._feature_names().tolist()
    present, codes = np.unique(y[train], return_inverse=True)
    layout = data.layout_of(train, codes)
    part = Part(data.table, names, train)
    facts, store = screen_table(
        part,
        layout,
        data.categorical,
        resources,
        selector._judge(),
        tested=selector._tested_in_folds(),
        quartiles=selector._needs_quartiles(layout),
        forced=forced,
        measure_beyond=False,
    )
    information = Information(make_backend(store.packed(), resources.threads))
    pursuit = selector._pursuit(information, facts)
    column_of = information.packed.columns
    chosen: list[int] = column_of[pursuit.given].tolist()
    n_given, selected = len(chosen), []
    steps = pursuit.take(selector.max_features)
    tables = [pursuit.model.refined_tables(_SWEEPS)]  # of the given columns
    for step in steps:
        selected.append(step.column)
        chosen.append(int(column_of[step.column]))
        if len(chosen) == n_given + step.n_after:  # a whole group
            tables += [tables[-1]] * (step.n_after - len(tables))
            tables.append(pursuit.model.refined_tables(_SWEEPS))
    columns = np.array(chosen, np.int64)
    nodes = np.array([*pursuit.given, *selected], np.int64)
    coding = with_few_missing(information, nodes, facts.coding.take(columns))
    left_out = Part(data.table, names, test)
    encoded = encode_table(left_out, coding, columns, resources.threads)
    known = np.isin(y[test], present)
    label = np.searchsorted(present, y[test])
    tested = None if data.weights is None else data.weights.of_samples(test)
    weights = None if tested is None else tested.counts[known]
    losses = np.empty(len(tables))
    for size, own in enumerate(tables):
        probability = softmax(node_scores(pursuit.model.log_prior, own, encoded), axis=1)
        right = probability[known, label[known]]
        losses[size] = np.average(-np.log(np.maximum(right, _LEAST_PROBABILITY)), weights=weights)
    values = data.target.values
    fold = Fold(
        packed=information.packed.take(np.sort(selected).astype(np.int64)),
        order=np.argsort(np.argsort(selected)),
        coding=coding.take(np.arange(n_given, len(columns))),
        columns=columns[n_given:],
        left_out=left_out,
        target=np.where(known, label, -1) if values is None else values[test],
        weights=np.ones(len(test)) if tested is None else tested.counts / tested.unit,
        values=None if values is None else values[train],
    )
    return losses, fold


class AutomaticSizeMixin(BaseSelector):
    """Selectors by residual pursuit, which find the number of columns by cross-validation."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseSelector._parameter_constraints,
        **FORCED_CONSTRAINTS,
        **GROUP_CONSTRAINTS,
        "cv": [
            Interval(Integral, 2, None, closed="left"),
            HasMethods(["split", "get_n_splits"]),
            "array-like",
        ],
        "max_features": [Interval(Integral, 1, None, closed="left")],
        "one_standard_error": ["boolean"],
        "trends": ["boolean"],
    }

    _fitted: ClassVar[frozenset[str]] = BaseSelector._fitted | {"size_path_"}

    cv: Any
    max_features: int
    one_standard_error: bool
    trends: bool

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Select features for classification.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            Training data. Numbers are discretized by MDLP; strings, booleans and categories are used as
            they are, ordered categories of pandas are cut by MDLP; missing values are a separate level.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weight of each row. Whole numbers are frequencies: the result is the same as if each row were
            repeated as often. Other weights say how much a row matters; their scale is irrelevant, see
            the page "Sample weights" of the documentation. Rows with weight 0 are left out. ``None``
            means 1 for every row.
        groups : array-like of shape (n_samples,) or None, default=None
            Group of each row, such as a patient or a site. Rows of a group are in the same fold when
            the number of features is found. See ``feature_groups`` for groups of columns.

        Returns
        -------
        self : object
            The fitted selector.
        """
        return self._fit_rows(X, y, sample_weight, groups)

    def _fit_by_pursuit(self, data: TrainingData, resources: Resources) -> None:
        """Find the number of columns if it was not given, and select."""
        needed, reading = self._needed_bytes(data)
        what = f"the residuals of {self._n_steps(data.table.n_features)} steps"
        with resources.budget.reserve(needed, what, beside=reading):
            self._fit_with_size(data, resources)

    def _needed_bytes(self, data: TrainingData) -> tuple[int, int]:
        """Return the memory for pursuits and folds, and for reading whole columns beside them."""
        n_samples, n_columns = data.layout.n_samples, data.table.n_features
        n_steps, n_folds = self._n_steps(n_columns), self._most_folds()
        kept = _ROWS_BYTES + (_FOLD_BYTES * n_steps if n_folds <= MOST_FOLDS else 0)
        needed = pursuit_bytes(n_steps, data.layout) + n_samples * n_folds * kept
        return needed, least_bytes(n_samples, n_columns, n_rows=n_samples)

    def _most_folds(self) -> int:
        """Return the number of folds, or a larger one, without making them."""
        if self.n_features_to_select != "auto":
            return 0
        if isinstance(self.cv, Integral):
            return int(self.cv)
        return len(self.cv) if isinstance(self.cv, Sized) else getattr(self.cv, "n_splits", MOST_FOLDS)

    def _fit_with_size(self, data: TrainingData, resources: Resources) -> None:
        self.size_path_: SizePath | None = None
        if self.n_features_to_select != "auto":
            BaseSelector._fit_table(self, data, resources)
            return
        folds = make_folds(self.cv, data, self._forced(), self._feature_names())
        with counting(len(folds) + 1) as step:
            self.size_path_, learned = make_size_path(self, data, folds, resources, step)
            self._learned_in_folds = learned, resources.threads
            try:
                BaseSelector._fit_table(self, data, resources)
            finally:
                del self._learned_in_folds
            step()

    def _fit_model(self, fit: Callable[..., AdditiveTables]) -> AdditiveTables:
        """Fit the additive model so that it predicts the samples left out of the folds best."""
        learned = getattr(self, "_learned_in_folds", None)
        return fit() if learned is None else fit_calibrated(fit, self.network_.columns, *learned)

    def _n_steps(self, n_columns: int) -> int:
        """Return the largest number of steps of the pursuit."""
        return min(self._n_wanted(n_columns) or self.max_features, n_columns)

    def _pursuit(self, information: Information, facts: ColumnFacts) -> Pursuit:
        """Return the pursuit that selects columns, in a fold and in the whole table."""
        return Pursuit(
            information,
            packed_as(information, facts, Reason.CANDIDATE),
            given=packed_as(information, facts, Reason.CONDITIONING),
            included=packed_as(information, facts, Reason.INCLUDED),
            groups=self._packed_groups(information, facts),
        )

    def _packed_groups(self, information: Information, facts: ColumnFacts) -> list[Group]:
        """Return the groups of packed columns that may be selected."""
        forced = self._forced()
        if forced is None or forced.group is None:
            return []
        candidates = packed_as(information, facts, Reason.CANDIDATE)
        number = forced.group[information.packed.columns[candidates]]
        groups = [Group(candidates[number == own], name) for own, name in enumerate(forced.group_names)]
        return [group for group in groups if len(group.columns)]

    def _needs_quartiles(self, layout: SampleLayout) -> bool:
        """Whether the pursuit uses trends, which select no better for a continuous target."""
        return self.trends and layout.target_values is None

    def _tested_in_folds(self) -> frozenset[str]:
        """Return the kinds of columns whose p-values decide whether they are candidates."""
        return frozenset()

    def _shared_figures(self) -> dict[str, Any]:
        """Add the smallest and largest number of columns of cross-validation, and the best one."""
        path, shared = self.size_path_, super()._shared_figures()
        if path is None:
            return shared
        first, last = int(path.n_features[0]), int(path.n_features[-1])
        least = int(path.n_features[path.log_loss.argmin()])
        sizes = {"n_best": path.best, "n_least": least, "n_found": self._found_size(path)}
        return {**shared, "n_first": first, "n_tried": last, **sizes, "margin": path.margin}

    def _size_sentence(self) -> str:
        """Say how many columns cross-validation has found; "" if their number was given."""
        path = getattr(self, "size_path_", None)
        if path is None:
            return ""
        given = listed(self.conditioning_)
        size, noun, full = self._found_size(path), self._target_noun(), self._tree_is_full()
        text = size_sentence(path, size, self.n_features_, full=full, given=given, noun=noun)
        single = int((self.network_counts_.class_totals == 1).sum())
        if single and isinstance(self.cv, Integral) and path.log_loss[0] > 0:
            text += (
                f" Classes with a single sample ({single}) cannot be both learned and predicted: these "
                "samples do not count in the log loss."
            )
        if path.best == self.max_features < self.n_features_in_:
            text += f" More were not tried: see max_features={self.max_features}."
        return text

    def _tree_is_full(self) -> bool:
        """Whether there is a tree that has no room for more columns."""
        return False

    def _found_size(self, path: SizePath) -> int:
        """Return the number of columns that cross-validation has found."""
        return path.within_one_standard_error if self.one_standard_error else path.best

    def _size(self, pursuit: Pursuit, information: Information, facts: ColumnFacts) -> int:
        """Return the number of columns to select.

        If cross-validation finds none, "auto" selects the first significant one, if there is one that
        does not join with others of its group. The pursuit is limited to those. With groups of rows
        there is none: p-values treat rows as independent.
        """
        path = self.size_path_
        if path is None:
            wanted = self._n_wanted(len(facts.coding))
            assert wanted is not None  # "auto" has a path
            return wanted
        self.size_path_ = path.up_to(len(pursuit.included) + len(pursuit.candidates))
        found = self._found_size(self.size_path_)
        if found or self._rows_are_grouped():
            return found
        q_value = q_values(facts.p_value)[information.packed.columns[pursuit.candidates]]
        significant = pursuit.candidates[q_value <= SIGNIFICANT]
        groups = [group.columns for group in pursuit.groups if len(group.columns) > 1]
        alone = np.setdiff1d(significant, np.concatenate(groups)) if groups else significant
        pursuit.limit_to(alone)
        return min(len(alone), 1)
