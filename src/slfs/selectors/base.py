"""Base class of all selectors: a table and its classes -> support, network, one record per column.

A selector defines which columns are dropped on their own (`_judge`) and which of the others are selected
(`_select`). Everything public is implemented once, here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Self

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import config_context
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted, validate_data

from slfs._compat import Interval, StrOptions, get_output_config
from slfs._core.indices import TableIndex
from slfs._core.interface import parameter
from slfs._core.resources import Resources
from slfs._core.suggest import similar_names
from slfs._core.warn import LeakageWarning, in_focus, warn
from slfs.base import CODING_CONSTRAINTS, TARGET_CONSTRAINTS, TableEstimator, TrainingData
from slfs.coding.level_names import as_text
from slfs.counting.backend import DEVICES, make_backend, use_device
from slfs.counting.duplicates import find_duplicates
from slfs.counting.planes import SampleLayout
from slfs.measures.information import Information
from slfs.screening.advice import warn_about_row_numbers, warn_about_values
from slfs.screening.facts import ColumnFacts, Judge
from slfs.screening.forced import Forced, read_forced
from slfs.screening.judging import drop_uninformative
from slfs.screening.learn import Cuts
from slfs.screening.pipeline import screen_table
from slfs.screening.plan import ALL_KINDS
from slfs.screening.reasons import Reason, Role
from slfs.selectors._shared import remedies, sentences, wording
from slfs.selectors._shared.additive import AdditiveTables
from slfs.selectors._shared.additive_numbers import fit_model
from slfs.selectors._shared.leaks import describe_leak, find_leaks
from slfs.selectors._shared.records import make_records
from slfs.selectors._shared.row_groups import ALIKE, GIVEN, grouping, warn_about_tests
from slfs.selectors._shared.selection import (
    Selection,
    count_network,
    describe_levels,
    make_network,
)
from slfs.tables.alleles import recounted
from slfs.tables.arrays import keep_types
from slfs.tables.choice import read_row_groups, resolve_columns
from slfs.tables.frames import refuse_other_frames, to_numpy
from slfs.tables.registry import is_in_memory
from slfs.tables.table import SpreadTable
from slfs.tables.target import Target

if TYPE_CHECKING:
    from slfs.classifiers.bnslfs import BNSLFS
    from slfs.classifiers.bnslfs_regressor import BNSLFSRegressor

FORCED_CONSTRAINTS: dict[str, list[Any]] = {
    name: ["array-like", str, None] for name in ("include", "exclude", "condition_on")
}
GROUP_CONSTRAINTS: dict[str, list[Any]] = {"feature_groups": ["array-like", dict, None]}

_NAMED = 5
"""Maximum number of columns in a warning."""


class BaseSelector(SelectorMixin, TableEstimator):  # type: ignore[misc]
    """Base class of the selectors; see `SLFS` for the fitted attributes."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_features_to_select": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="neither"),
            StrOptions({"auto"}),
        ],
        **TARGET_CONSTRAINTS,
        "device": [StrOptions(set(DEVICES))],
        **CODING_CONSTRAINTS,
    }

    _fitted: ClassVar[frozenset[str]] = TableEstimator._fitted | {
        "network_", "network_counts_", "features_", "support_", "n_features_", "indices_",
        "selection_scores_", "scores_", "pvalues_", "qvalues_", "duplicates_", "target_type_",
        "target_bins_", "_target_by_level", "_figures", "_additive", "conditioning_",
    }  # fmt: skip

    n_features_to_select: float | str
    target: str = "auto"
    categorical_features: Any
    n_jobs: int | None
    memory_limit: int | str | None = None
    device: str = "cpu"
    include: Any = None
    exclude: Any = None
    condition_on: Any = None
    feature_groups: Any = None

    _additive_requested: bool = False
    _only_selects: bool = False
    """Whether only the selected columns are needed, and no model of them."""

    @contextmanager
    def _for_model(self, target: str, *, additive: bool) -> Iterator[None]:
        """Within this context, ``fit`` reads the target as "classification" or "regression".

        ``additive`` also fits the tables of an additive model.
        """
        self._additive_requested, self._target_of_model = additive, target
        try:
            yield
        finally:
            del self._additive_requested, self._target_of_model

    def _fits_additive_tables(self) -> bool:
        """Whether the tables of an additive model are fitted to the selected columns."""
        return self._additive_requested

    def _needs_quartiles(self, layout: SampleLayout) -> bool:
        """Whether the selection or the tables use the quartiles of columns of numbers."""
        return self._additive_requested and layout.target_values is None

    def _judge(self) -> Judge:
        """Return the function that decides about each column alone; see `slfs.screening.judging`."""
        return drop_uninformative

    def _select(self, information: Information, facts: ColumnFacts) -> Selection:
        """Select among the packed columns."""
        raise NotImplementedError

    def _cut_points(self, data: TrainingData, resources: Resources) -> Cuts | None:  # noqa: ARG002
        """Return the cut points of the columns of numbers; None means MDLP."""
        return None

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> BaseSelector:
        """Select features that predict the target.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            Training data. Numbers are discretized by MDLP; strings, booleans and categories are used as
            they are; missing values are a separate level.
        y : array-like of shape (n_samples,)
            Class labels, or numbers; see ``target``.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weight of each row. Whole numbers are frequencies: the result is the same as if each row were
            repeated as often. Other weights say how much a row matters; their scale is irrelevant, see
            the page "Sample weights" of the documentation. Rows with weight 0 are left out. ``None``
            means 1 for every row.

        Returns
        -------
        self : object
            The fitted selector.
        """
        return self._fit_rows(X, y, sample_weight)

    def _fit_rows(
        self, X: Any, y: ArrayLike, sample_weight: Any = None, groups: ArrayLike | None = None
    ) -> Self:
        """Read the data and select features; ``groups`` are those of the rows."""
        data = self._read_training_data(X, y, sample_weight)
        given = {"sample_weight": sample_weight, "groups": groups}
        self._row_arguments = [name for name, value in given.items() if value is not None]
        self.__dict__.pop("_grouping", None)  # from an earlier fit
        if groups is not None:
            numbered = read_row_groups(groups, data.table.n_samples)
            data = replace(data, groups=numbered)
            self._grouping = grouping(numbered, data, self._forced())
        with use_device(self.device), Resources(self.n_jobs, self.memory_limit) as resources:
            self._fit_table(data, resources)
        if not isinstance(data.table, SpreadTable):
            names = self.features_["name"][self.indices_]
            warn_about_row_numbers(data.table, self.indices_, self.network_counts_.coding, names)
        # the warning that nothing is selected says it, too
        if data.groups is not None and self.n_features_:
            used = data.groups[np.unique(data.samples)]  # without rows of weight 0
            warn_about_tests(used, self._grouping, self._target_noun())
        return self

    def _forced(self) -> Forced | None:
        """Return what the user has decided about columns; None if nothing."""
        names = getattr(self, "feature_names_in_", None)
        n_columns = getattr(self, "n_features_in_", 0)  # unknown in a stream, which refuses such lists
        forced = read_forced(self._forcing(), n_columns, names)
        wanted = self._n_wanted(n_columns)
        if forced is not None and wanted is not None and forced.n_included > wanted:
            raise ValueError(
                f"'include' lists {forced.n_included} columns, more than the {wanted} of "
                f"{parameter('n_features_to_select', self.n_features_to_select)}. Included columns "
                f"count: raise {parameter('n_features_to_select')}, or include fewer."
            )
        return forced

    def _forcing(self) -> Any:
        """Return the selector whose parameters list columns."""
        return self

    def _fit_table(self, data: TrainingData, resources: Resources) -> None:
        facts, store = screen_table(
            data.table,
            data.layout,
            data.categorical,
            resources,
            self._judge(),
            tested=ALL_KINDS,
            quartiles=self._needs_quartiles(data.layout),
            cuts=self._cut_points(data, resources),
            forced=self._forced(),
            measure_beyond=not self._only_selects,
        )
        information = Information(make_backend(store.packed(), resources.threads))
        selection = self._select(information, facts)
        self._set_fitted(information, facts, selection, data.target)

    def _n_wanted(self, n_columns: int) -> int | None:
        """Return ``n_features_to_select`` as a number of columns; None for "auto"."""
        wanted = self.n_features_to_select
        if isinstance(wanted, str):
            return None
        return int(wanted) if wanted >= 1 else max(1, round(wanted * n_columns))

    def _set_fitted(
        self,
        information: Information,
        facts: ColumnFacts,
        selection: Selection,
        target: Target,
    ) -> None:
        """Set the fitted attributes."""
        names = self._feature_names()
        selection = selection.truncate(self._n_wanted(len(names)), information.relevance)
        self.conditioning_: list[str] = [
            str(name) for name in names[facts.reason == Reason.CONDITIONING].tolist()
        ]
        self.network_ = make_network(information, selection, names, target.name)
        self.network_counts_ = count_network(information, selection, facts.coding)
        self._additive: AdditiveTables | None = None
        if self._fits_additive_tables() and not self._only_selects:
            coding = self.network_counts_.coding
            self._additive = self._fit_model(
                functools.partial(fit_model, information, selection.nodes, coding, target.values)
            )
        self.features_, self._figures = make_records(names, facts, information, selection, self.network_)
        self.support_ = np.zeros(len(names), np.bool_)
        self.support_[self.network_.columns] = True
        self.n_features_ = len(self.network_)
        self.indices_ = self.network_.columns
        self.selection_scores_ = (
            information.relevance[selection.nodes] if selection.scores is None else selection.scores
        )
        self.scores_ = facts.relevance
        self.pvalues_, self.qvalues_ = facts.p_value, self.features_["q_value"].copy()
        self.duplicates_ = self._find_duplicates(information, names)
        self._set_target(target)
        self._target_by_level: list[NDArray[np.float64]] | None = None
        if target.values is not None:
            self._target_by_level = describe_levels(information, selection.nodes, target.values)
        self._warn(facts)

    def _fit_model(self, fit: Callable[..., AdditiveTables]) -> AdditiveTables:
        """Fit the additive model; ``fit`` is `fit_model` of the selected columns."""
        return fit()

    def _set_target(self, target: Target) -> None:
        """Set what is kept of the target."""
        self.target_type_, self.target_bins_ = target.kind, target.bins
        self.__dict__.pop("classes_", None)  # from an earlier fit
        if target.bins is None:
            self.classes_ = target.classes

    def _class_names(self) -> list[str]:
        """Return the names of the classes, or of the bins of a continuous target."""
        labels = self.classes_ if self.target_bins_ is None else self.target_bins_["name"]
        return list(map(as_text, labels.tolist()))

    def _target_noun(self) -> str:
        """Return what sentences call the target: "class", or "target" if it is continuous."""
        return "class" if self.target_bins_ is None else "target"

    def _find_duplicates(self, information: Information, names: NDArray[np.object_]) -> list[list[str]]:
        sums = np.column_stack([information.pooled_sums, information.class_sums])
        groups = find_duplicates(information.packed, sums)
        return [names[information.packed.columns[group]].tolist() for group in groups]

    def _warn(self, facts: ColumnFacts) -> None:
        """Warn about columns that should be checked, and about an empty selection."""
        names, entropy = self.features_["name"], self._class_entropy()
        warn_about_values(facts.coding, names, facts.n_seen, self.support_, self._intended(facts))
        leaks = in_focus(find_leaks(self.features_, entropy), names)
        if leaks:
            records = self.features_[leaks[:_NAMED]]
            noun = self._target_noun()
            described = [
                f"{record['name']!r} {describe_leak(record, entropy, noun)}" for record in records
            ]
            more = f"; and {len(leaks) - _NAMED} more" if len(leaks) > _NAMED else ""
            warn(
                f"Possible target leakage: {'; '.join(described)}{more}. Drop columns that are derived "
                f"from the {noun} or are not known when it is predicted.",
                LeakageWarning,
                about_focus=True,
            )
        for hint in self._hints():
            warn(hint)
        if self.n_features_ == 0:
            warn(self._nothing_selected())
        elif fewer := self._fewer_selected():
            warn(fewer)

    def _intended(self, facts: ColumnFacts) -> NDArray[np.bool_]:
        """Return which columns the user has excluded, conditioned on or declared categorical."""
        intended = np.isin(facts.reason, (Reason.EXCLUDED, Reason.CONDITIONING))
        if not isinstance(self.categorical_features, str):
            names = getattr(self, "feature_names_in_", None)
            declared = resolve_columns(
                self.categorical_features, len(intended), names, "categorical_features"
            )
            intended[declared] = True
        return intended

    def _nothing_selected(self) -> str:
        """Say why no column was selected, and what to try."""
        figures, wanted = self._shared_figures(), self._n_wanted(len(self.features_))
        return remedies.nothing_selected(self.features_, type(self).__name__, figures, wanted)

    def _fewer_selected(self) -> str:
        """Say why fewer columns are selected than were asked for; "" if that is not so."""
        dropped = self.features_[~self.support_]
        if (dropped["role"] == Role.NO_ROOM).any():
            return ""  # a hint has told
        figures, wanted = self._shared_figures(), self._n_wanted(len(self.features_))
        return remedies.fewer_selected(dropped, figures, wanted)

    def _hints(self) -> list[str]:
        """Return what a user should know about the selection as a whole; ``fit`` warns about it."""
        return []

    @property
    def leaks_(self) -> list[str]:
        """Names of columns that determine the class nearly completely, selected or not.

        They contain at least 98% of the class entropy, in enough samples that this is not due to chance.
        For a continuous target, its bins are the classes.
        """
        check_is_fitted(self)
        leaks = find_leaks(self.features_, self._class_entropy())
        names: list[str] = self.features_["name"][leaks].tolist()
        return names

    def transform(self, X: Any) -> Any:
        """Reduce a table to the selected columns.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            Input data.

        Returns
        -------
        X_selected : array or sparse matrix of shape (n_samples, n_features_)
            The selected columns, in the order of the table. A dataframe if ``set_output`` was used to
            request one; its columns keep their types.
        """
        if not is_in_memory(X):
            alleles = self.network_counts_.coding.alleles
            table: Any = recounted(self._read_new_data(X), alleles, self.indices_)
            return table.take(np.flatnonzero(self.support_))
        check_is_fitted(self)
        if not nw.dependencies.is_into_dataframe(X):
            refuse_other_frames(X)
            return self._transform(
                validate_data(
                    self,
                    keep_types(X),
                    dtype=None,
                    accept_sparse="csr",
                    ensure_all_finite=False,
                    ensure_min_samples=0,
                    reset=False,
                )
            )
        self._check_columns(X)
        frame = nw.from_native(X, eager_only=True)
        container = get_output_config("transform", self)["dense"]
        if self.n_features_ == 0 and container != "polars":  # a polars frame without columns has no rows
            return self._transform(
                np.empty(frame.shape) if container == "default" else frame.to_pandas()
            )
        frame = frame[:, np.flatnonzero(self.support_).tolist()]
        if container == "pandas":
            return frame.to_pandas()
        return frame.to_polars() if container == "polars" else to_numpy(frame)

    def inverse_transform(self, X: Any) -> Any:
        """Return a table with all columns, of which those that were not selected are 0.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features_)
            The selected columns, which may contain missing values and text.

        Returns
        -------
        table : array of shape (n_samples, n_features_in_)
        """
        with config_context(assume_finite=True):  # scikit-learn refuses missing values
            return super().inverse_transform(X)

    def to_classifier(
        self, *, structure: str | None = None, alpha: float = 1.0, backoff: float | None = 5.0
    ) -> BNSLFS:
        """Create a fitted classifier of the selected columns, without the data.

        Parameters
        ----------
        structure : {"additive", "linked", "augmented", "tree"} or None, default=None
            Model of the class and the selected features; see `BNSLFS`. ``None`` means ``"additive"`` for
            a selection by residual pursuit, which has the tables, and ``"linked"`` for others.
        alpha : float, default=1.0
            Laplace smoothing; see `BNSLFS`.
        backoff : float or None, default=5.0
            Smoothing of tables with a parent feature; see `BNSLFS`.

        Returns
        -------
        classifier : BNSLFS
            The fitted classifier.
        """
        from slfs.classifiers.bnslfs import BNSLFS

        check_is_fitted(self)
        return BNSLFS.from_selector(self, structure=structure, alpha=alpha, backoff=backoff)

    def to_regressor(self) -> BNSLFSRegressor:
        """Create a fitted regressor of the selected columns, without the data.

        This needs a selection for a continuous target by residual pursuit, which has fitted the tables.
        Fit ``BNSLFSRegressor(selector)`` for others.

        Returns
        -------
        regressor : BNSLFSRegressor
            The fitted regressor.
        """
        from slfs.classifiers.bnslfs_regressor import BNSLFSRegressor

        check_is_fitted(self)
        return BNSLFSRegressor.from_selector(self)

    def explain(self, column: str | int) -> str:
        """Explain why a column was selected or dropped.

        Parameters
        ----------
        column : str or int
            Name of the column, or its index in the table.

        Returns
        -------
        text : str
            Why the column was selected or dropped; the evidence that it depends on the class (see
            `slfs.evaluation` for the tests that are used); and for a column that determines the class
            nearly completely, a sentence about target leakage.
        """
        check_is_fitted(self)
        index = self._column_index(column)
        record = self.features_[index]
        figures = self._figures_of(index)
        sentence = sentences.explain(record, figures)
        tested = record["role"] not in (Role.EXCLUDED, Role.CONDITIONING) and record["p_value"] < 1
        if self.support_[index] or tested:
            given, alone = wording.listed(self.conditioning_), "partner" in figures
            numbers = figures.get("only_missing") == "numbers"
            evidence = wording.evidence(
                record["p_value"],
                record["q_value"],
                given,
                self._target_noun(),
                alone=alone,
                subject="its numbers and missing values depend" if numbers else "it depends",
            )
            sentence = f"{sentence} {evidence}".rstrip()
            if self._rows_are_grouped() and evidence:
                sentence += " The test treats the rows of a group as independent samples."
        if record["name"] in self.leaks_:
            leak = describe_leak(record, self._class_entropy(), self._target_noun())
            sentence += f" Possible target leakage: it {leak}."
        return sentence

    def _take_columns(self, columns: NDArray[np.int64]) -> Self:
        copy = super()._take_columns(columns)
        copy.network_ = self.network_.take_columns(columns)
        copy.indices_ = copy.network_.columns
        for name in ("features_", "support_", "scores_", "pvalues_", "qvalues_"):
            setattr(copy, name, getattr(self, name)[columns])
        copy._figures = {
            TableIndex(index): self._figures[TableIndex(column)]
            for index, column in enumerate(columns.tolist())
            if column in self._figures
        }
        copy.__dict__.pop("_arrived", None)  # the samples that a stream would be extended with
        return copy

    def _figures_of(self, index: TableIndex) -> dict[str, Any]:
        """Return the figures that a sentence about a column may mention."""
        share = float(self.scores_[index]) / self._class_entropy()
        return {**self._shared_figures(), "relevance_share": share, **self._figures.get(index, {})}

    def _shared_figures(self) -> dict[str, Any]:
        """Return the figures for all columns: the parameters and the number of selected columns."""
        own = {
            "n_features_": self.n_features_,
            "noun": self._target_noun(),
            "conditioning": self.conditioning_,
            "class_entropy": self._class_entropy(),
            "n_wanted": self._n_wanted(len(self.features_)),
            "grouped": self._rows_are_grouped(),
            "grouping": getattr(self, "_grouping", ALIKE),
        }
        return {**self.get_params(deep=False), **own}

    def _rows_are_grouped(self) -> bool:
        """Whether groups of rows were given to ``fit`` that tests do not take into account."""
        given = "groups" in getattr(self, "_row_arguments", ())
        return given and getattr(self, "_grouping", ALIKE) != GIVEN

    def _class_entropy(self) -> float:
        """Return H(Y) in nats; for a continuous target that of its bins."""
        shares = self.network_counts_.class_totals / self.network_counts_.class_totals.sum()
        return -float((shares * np.log(shares)).sum())

    def _column_index(self, column: str | int) -> TableIndex:
        """Return the index of a column given by name or index (negative: from the end)."""
        names = self.features_["name"]
        if isinstance(column, Integral):
            if not -len(names) <= column < len(names):
                raise ValueError(
                    f"There is no column {column}: X had {len(names)} columns. Use an index from 0 to "
                    f"{len(names) - 1}."
                )
            return TableIndex(int(column) % len(names))
        indices = np.flatnonzero(names == column)
        if len(indices) == 0:
            near = similar_names(str(column), names.tolist())
            hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
            if not hasattr(self, "feature_names_in_"):
                hint = f" X had no column names: use an index, 0 to {len(names) - 1}."
            raise ValueError(f"There is no column {column!r} in the table seen in fit.{hint}")
        return TableIndex(int(indices[0]))

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)
        return bundle | {"text/html": self._repr_html_inner()} if "text/html" in bundle else bundle

    def _repr_html_inner(self) -> str:
        """Return the HTML for notebooks: scikit-learn's diagram and, once fitted, the tree."""
        diagram: str = estimator_html_repr(self)
        return diagram + self.network_._repr_html_() if self.__sklearn_is_fitted__() else diagram

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "support_")

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_
