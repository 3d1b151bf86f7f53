"""Base class of all estimators: the user's table and labels -> validated data, ready to be coded."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from slfs._compat import StrOptions
from slfs._core.interface import parameter
from slfs.counting.planes import SampleLayout
from slfs.tables.alignment import warn_about_order
from slfs.tables.parts import Part
from slfs.tables.registry import read_table
from slfs.tables.table import ColumnSource, SpreadTable, Table, resolve_categorical
from slfs.tables.target import CLASSIFICATION, KINDS, Target, read_target
from slfs.tables.weights import SampleWeights, make_layout, make_weights, read_sample_weight

CODING_CONSTRAINTS: dict[str, list[Any]] = {
    "categorical_features": ["array-like", StrOptions({"from_dtype", "all"})],
    "class_weight": [dict, StrOptions({"balanced"}), None],
    "n_jobs": [None, Integral],
    "memory_limit": [None, Integral, str],
}

TARGET_CONSTRAINTS: dict[str, list[Any]] = {"target": [StrOptions(set(KINDS))]}


@dataclass(frozen=True)
class TrainingData:
    """A validated table with its target, samples sorted by class or by bin of the target."""

    table: Table
    target: Target
    layout: SampleLayout
    categorical: NDArray[np.bool_]
    weights: SampleWeights | None = None
    """How often each row is counted; None: once."""
    groups: NDArray[np.int64] | None = None
    """Number of the group of each row, such as a patient; None: each row is on its own."""

    @property
    def samples(self) -> NDArray[np.int64]:
        """The row of each sample: rows with a frequency as sample weight are several samples."""
        return np.arange(self.table.n_samples) if self.weights is None else self.weights.samples()

    def layout_of(self, samples: NDArray[np.int64], codes: NDArray[np.int64]) -> SampleLayout:
        """Return the layout of some samples, given their class codes: all from 0 on occur."""
        own = None if self.weights is None else self.weights.of_samples(samples)
        values = None if self.target.values is None else self.target.values[samples]
        return make_layout(codes, int(codes.max()) + 1, own, values)


@functools.lru_cache(maxsize=1)  # hundreds of fits to tables of the same width are common
def _default_names(number: int) -> NDArray[np.object_]:
    """Return x0, x1, ...; the array cannot be written to."""
    names = np.array(list(map("x%d".__mod__, range(number))), dtype=object)
    names.flags.writeable = False
    return names


class TableEstimator(BaseEstimator):  # type: ignore[misc]
    """Base class of all estimators: tables of mixed types, with missing values, dense or sparse."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]]

    class_weight: Any = None
    memory_limit: int | str | None = None

    _fitted: ClassVar[frozenset[str]] = frozenset({"n_features_in_", "feature_names_in_"})
    """Attributes of a fitted estimator; a model file contains the same attributes."""

    target: str = CLASSIFICATION
    """Type of the target; a parameter of the estimators that accept continuous targets."""

    _target_of_model: str | None = None
    """Type of the target that a model made from this estimator needs; None without a model."""

    def _read_training_data(self, X: Any, y: ArrayLike, sample_weight: Any = None) -> TrainingData:
        """Validate parameters, table, target and weights; store number and names of the columns.

        `SampleWeights` are those of a part of a table, which contain the weights of the classes.
        """
        self._validate_params()
        table = read_table(X, min_samples=2)
        warn_about_order(X, y)
        weights = sample_weight if isinstance(sample_weight, SampleWeights) else None
        values = None
        if weights is None and sample_weight is not None:
            values = read_sample_weight(sample_weight, table.n_samples)
        target = self._read_target(y, values, whole=not isinstance(table, Part))
        validate_data(self, table if isinstance(table, ColumnSource) else X, skip_check_array=True)
        if isinstance(table, ColumnSource):
            self.feature_names_in_ = np.array(table.names, dtype=object)
        if table.n_samples != len(target.codes):
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: X has "
                f"{table.n_samples} rows, y has {len(target.codes)} labels."
            )
        if weights is None:
            local = None if isinstance(table, SpreadTable) else table
            weights = make_weights(values, self.class_weight, target, self.memory_limit, local)
        return TrainingData(
            table,
            target,
            make_layout(target.codes, len(target.classes), weights, target.values),
            resolve_categorical(
                self.categorical_features, table, getattr(self, "feature_names_in_", None)
            ),
            weights,
        )

    def _read_target(
        self, y: ArrayLike, weights: NDArray[np.float64] | None = None, *, whole: bool = True
    ) -> Target:
        """Read the target as the parameters say."""
        needed = self._target_of_model
        if needed is not None and self.target not in ("auto", needed):
            remedy = "Use BNSLFSRegressor" if needed == CLASSIFICATION else "Use BNSLFS"
            raise ValueError(
                f"{type(self).__name__} has {parameter('target', self.target)}, but the model needs "
                f"{parameter('target', needed)}. {remedy}, or {parameter('target', 'auto')}."
            )
        declared = self._declares_classes()
        return read_target(
            y,
            needed or self.target,
            whole=whole,
            weights=weights,
            # metrics of scikit-learn refuse classes that are fractions, so that models need others
            declared=declared and needed is None,
            assumed=not declared,
        )

    def _declares_classes(self) -> bool:
        """Whether the user has said that the target has classes, and not a default value."""
        return self.target == CLASSIFICATION and "target" in self.get_params(deep=False)

    def _read_new_data(self, X: Any) -> Table:
        """Read a table and check it against the one seen in fit."""
        check_is_fitted(self)
        table = read_table(X, min_samples=0)
        self._check_columns(table if isinstance(table, ColumnSource) else X)
        return table

    def _check_columns(self, X: Any) -> None:
        """Raise an error if a table does not have the columns seen in fit."""
        if not isinstance(X, ColumnSource):
            try:
                validate_data(self, X, reset=False, skip_check_array=True)
            except ValueError as error:
                hint = self._column_hint(X)
                raise ValueError(f"{str(error).rstrip()}\n{hint}" if hint else str(error)) from None
            return
        fitted = self._feature_names().tolist()
        if X.names != fitted:
            known = set(X.names)
            missing = [name for name in fitted if name not in known]
            how = f"missing: {missing[:5]}" if missing else "X has more columns or another order"
            if not missing and X.how_to_select:
                how += f". Select them: {X.how_to_select}"
            raise ValueError(
                f"The columns of X do not match those seen in fit of {type(self).__name__}: {how}."
            )

    def _column_hint(self, X: Any) -> str:
        """Say how to select the columns seen in fit if X is a dataframe that has them."""
        names = set(getattr(X, "column_names", getattr(X, "columns", ())))
        fitted = getattr(self, "feature_names_in_", None)
        if fitted is None or not names.issuperset(fitted):
            return ""
        return (
            "X has all columns seen in fit, but also others or another order. Select them: "
            "X[list(estimator.feature_names_in_)]."
        )

    def _take_columns(self, columns: NDArray[np.int64]) -> Self:
        """Return a copy of this fitted estimator for tables that have only some of the columns.

        ``columns`` are increasing indices that include all selected columns. Subclasses adapt the
        attributes that refer to columns.
        """
        copy = object.__new__(type(self))
        copy.__dict__.update(vars(self))
        copy.n_features_in_ = len(columns)
        if hasattr(self, "feature_names_in_"):
            copy.feature_names_in_ = self.feature_names_in_[columns]
        return copy

    def _feature_names(self) -> NDArray[np.object_]:
        """Return the names of the columns seen in fit, or x0, x1, ... if they have none."""
        names = getattr(self, "feature_names_in_", None)
        return _default_names(self.n_features_in_) if names is None else np.asarray(names, dtype=object)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags
