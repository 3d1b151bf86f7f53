"""The template of every selector: a table and its classes -> support, network, a record a column.

A selector says which columns are out at once (`_irrelevance`) and what it keeps of the rest (`_select`).
Everything public is written once, here.
"""

from __future__ import annotations

import difflib
import math
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import estimator_html_repr
from sklearn.utils.validation import check_is_fitted, validate_data

from slfs._compat import Interval, StrOptions, get_output_config
from slfs._core.threads import Threads
from slfs.base import CODING_CONSTRAINTS, TableEstimator, TrainingData
from slfs.counting.planes import SampleLayout
from slfs.counting.store import PlaneStore
from slfs.measures.false_discovery import q_values
from slfs.measures.information import Information
from slfs.screening.pipeline import ColumnFacts, Cuts, code_table
from slfs.selectors.records import explain, explain_in_full, make_records
from slfs.selectors.selection import Selection, count_network, make_network
from slfs.tables.arrays import keep_types
from slfs.tables.registry import is_in_memory
from slfs.tables.table import Table

if TYPE_CHECKING:
    from slfs.classifiers.bnslfs import BNSLFS


SIZE_CONSTRAINTS = [
    Interval(Integral, 1, None, closed="left"),
    Interval(Real, 0, 1, closed="neither"),
    StrOptions({"auto"}),
]
"""Valid values of ``n_features_to_select``: a number of columns, a share of them, or "auto"."""


class BaseSelector(SelectorMixin, TableEstimator):  # type: ignore[misc]
    """Base of the selectors: see `SLFS` for what each attribute holds."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = CODING_CONSTRAINTS

    categorical_features: Any
    n_jobs: int | None
    memory_limit: int | str | None = None

    def _irrelevance(self, facts: ColumnFacts) -> NDArray[np.object_]:
        """Why each column is irrelevant before any two are compared; "" where it is not."""
        coding = facts.coding
        reasons = np.full(len(coding), "", dtype=object)
        reasons[facts.relevance <= 0] = "its levels say nothing about the class"
        reasons[coding.n_levels == 1] = "it has one value only"
        reasons[(coding.n_levels == 1) & (coding.low < coding.high)] = "MDLP finds no cut worth making"
        return reasons

    def _select(self, information: Information, facts: ColumnFacts) -> Selection:
        """Choose among the packed columns."""
        raise NotImplementedError

    def _cut_points(self, data: TrainingData, threads: Threads) -> Cuts | None:  # noqa: ARG002
        """Where to cut the columns of numbers; None: by MDLP."""
        return None

    def fit(self, X: Any, y: ArrayLike) -> BaseSelector:
        """Select features for telling the classes apart.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            Numbers are discretised by MDLP; strings, booleans and categories are used as they are;
            missing values are a level of their own.
        y : array-like of shape (n_samples,)
            Class labels.

        Returns
        -------
        self : object
        """
        data = self._read_training_data(X, y)
        with Threads(self.n_jobs, self.memory_limit) as threads:
            self._fit_table(data, threads)
        return self

    def _fit_table(self, data: TrainingData, threads: Threads) -> None:
        cuts = self._cut_points(data, threads)
        facts, store = self._code(data.table, data.layout, data.categorical, threads, cuts)
        information = Information(store.packed(), threads)
        selection = self._select(information, facts)
        self._store(information, facts, selection, data.target.classes, data.target.name)

    def _code(
        self,
        table: Table,
        layout: SampleLayout,
        categorical: NDArray[np.bool_],
        threads: Threads,
        cuts: Cuts | None = None,
        store: PlaneStore | None = None,
        first: int = 0,
    ) -> tuple[ColumnFacts, PlaneStore]:
        """Code all columns and pack those that are relevant, beside what is in the store."""
        return code_table(
            table,
            layout,
            categorical,
            threads,
            keep=lambda facts: self._irrelevance(facts) == "",
            test=True,
            cuts=cuts,
            store=store,
            first=first,
        )

    def _store(
        self,
        information: Information,
        facts: ColumnFacts,
        selection: Selection,
        classes: NDArray[Any],
        class_name: str,
    ) -> None:
        """Set the fitted attributes."""
        names = self._feature_names()
        self._warn_of_identifiers(facts.coding, facts.n_samples)
        self.network_ = make_network(information, selection, names, class_name)
        self.network_counts_ = count_network(information, selection, facts.coding)
        reasons = self._irrelevance(facts)
        self.features_ = make_records(names, facts, reasons, information, selection, self.network_)
        self.support_ = np.zeros(len(names), np.bool_)
        self.support_[self.network_.columns] = True
        self.n_features_ = len(self.network_)
        self.indices_ = self.network_.columns
        self.selection_scores_ = information.relevance[selection.nodes]
        if selection.scores is not None:
            self.selection_scores_ = selection.scores
        self.classes_ = classes

    def transform(self, X: Any) -> Any:
        """Reduce a table to the selected columns.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)

        Returns
        -------
        X_selected : array or sparse matrix of shape (n_samples, n_features_)
            A dataframe where ``set_output`` asks for one; its columns keep their types.
        """
        if not is_in_memory(X):
            table: Any = self._read_new_data(X)
            return table.take(np.flatnonzero(self.support_))
        if not nw.dependencies.is_into_dataframe(X):
            return super().transform(keep_types(X))
        check_is_fitted(self)
        validate_data(self, X, reset=False, skip_check_array=True)
        frame = nw.from_native(X, eager_only=True)
        container = get_output_config("transform", self)["dense"]
        if self.n_features_ == 0 and container != "polars":  # polars has no rows without columns
            return self._transform(
                np.empty(frame.shape) if container == "default" else frame.to_pandas()
            )
        frame = frame[:, np.flatnonzero(self.support_).tolist()]
        if container == "pandas":
            return frame.to_pandas()
        return frame.to_polars() if container == "polars" else frame.to_numpy()

    def to_classifier(
        self, *, structure: str = "linked", alpha: float = 1.0, backoff: float | None = 5.0
    ) -> BNSLFS:
        """Make a fitted classifier of the counts that the selection was made of.

        The data are not touched again.

        Parameters
        ----------
        structure : {"linked", "augmented", "tree"}, default="linked"
            As in `BNSLFS`, like the others.
        alpha : float, default=1.0
            Smoothing.
        backoff : float or None, default=5.0
            Smoothing of the tables with a parent.

        Returns
        -------
        classifier : BNSLFS
        """
        from slfs.classifiers.bnslfs import BNSLFS

        check_is_fitted(self)
        return BNSLFS.from_selector(self, structure=structure, alpha=alpha, backoff=backoff)

    def explain(self, column: str | int) -> str:
        """Say why a column was kept or dropped, and how far a kept one can be believed.

        Parameters
        ----------
        column : str or int
            Its name, or its place in the table.

        Returns
        -------
        text : str
            A sentence; for a selected column one more, on the evidence that it has to do with the class
            at all. See `slfs.evaluation.significance` for what the figures in it mean.
        """
        check_is_fitted(self)
        place = self.place(column)
        record = self.features_[place]
        if not self.support_[place]:
            return explain(record)
        return explain_in_full(record, q_values(self.features_["p_value"])[place])

    def place(self, column: str | int) -> int:
        """Find a column.

        Parameters
        ----------
        column : str or int
            Its name, or its place in the table (negative: from the end).

        Returns
        -------
        place : int
        """
        names = self.features_["name"]
        if isinstance(column, Integral):
            if not -len(names) <= column < len(names):
                raise ValueError(f"There is no column {column}: X had columns 0 to {len(names) - 1}.")
            return int(column) % len(names)
        places = np.flatnonzero(names == column)
        if len(places) == 0:
            near = difflib.get_close_matches(str(column), names.tolist(), n=3)
            hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
            if not hasattr(self, "feature_names_in_"):
                hint = f" It had no column names: give a place, 0 to {len(names) - 1}."
            raise ValueError(f"There is no column {column!r} in the table that was fitted.{hint}")
        return int(places[0])

    def _html_repr(self) -> str:
        """What a notebook shows: scikit-learn's diagram and, once fitted, the tree."""
        diagram: str = estimator_html_repr(self)
        return diagram + self.network_._repr_html_() if self.__sklearn_is_fitted__() else diagram

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "support_")  # the parameter relevance_weight looks like a fitted attribute

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_


def pays(facts: ColumnFacts) -> NDArray[np.bool_]:
    """Whether each column pays for the table of its levels: 2 N R(f) > (d-1)(c-1) log N."""
    price = (facts.coding.n_levels - 1) * (facts.n_classes - 1) * math.log(facts.n_samples)
    return 2 * facts.n_samples * facts.relevance > price


def limit(k: float | str, n_columns: int) -> int:
    """How many columns an int or a share ``k`` asks for."""
    return int(k) if isinstance(k, int | np.integer) else max(1, round(float(k) * n_columns))


def outranked(n_taken: int) -> str:
    """Why a column is not among those that a ranking method has taken."""
    if n_taken == 0:
        return "no feature is worth taking"
    return f"{n_taken} other feature{'s come' if n_taken > 1 else ' comes'} before it"
