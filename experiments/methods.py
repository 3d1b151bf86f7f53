"""A name of a configuration -> a selector.

These are the selectors of slfs, and three baselines made with scikit-learn. Each has ``fit(X, y)`` and
``indices_``, the selected columns in order of selection.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from slfs.evaluation.numbers import Standardizer
from slfs.selectors.registry import selectors


class L1Logistic(BaseEstimator):  # type: ignore[misc]
    """Select columns by their largest coefficient in one-vs-rest L1 logistic regressions.

    "auto" selects the columns with a coefficient other than zero, at scikit-learn's default penalty.
    """

    def __init__(self, n_features_to_select: int | str = "auto") -> None:
        self.n_features_to_select = n_features_to_select

    def fit(self, X: Any, y: NDArray[Any]) -> L1Logistic:
        """Rank the columns of X."""
        numbers = Standardizer().fit(X)
        model = LogisticRegression(solver="liblinear", l1_ratio=1.0, tol=0.01, random_state=0)
        models = OneVsRestClassifier(model).fit(numbers.transform(X), y).estimators_
        size = numbers.by_column(np.abs(np.vstack([one.coef_ for one in models])).max(axis=0))
        self.indices_ = _largest(size, self.n_features_to_select, threshold=0.0)
        return self


class ForestImportance(BaseEstimator):  # type: ignore[misc]
    """Select columns by their importance in a random forest; "auto": those above the mean."""

    def __init__(self, n_features_to_select: int | str = "auto") -> None:
        self.n_features_to_select = n_features_to_select

    def fit(self, X: Any, y: NDArray[Any]) -> ForestImportance:
        """Rank the columns of X."""
        numbers = Standardizer().fit(X)
        forest = RandomForestClassifier(200, random_state=0).fit(numbers.transform(X), y)
        importance = numbers.by_column(forest.feature_importances_)
        self.indices_ = _largest(importance, self.n_features_to_select, float(importance.mean()))
        return self


class AllFeatures(BaseEstimator):  # type: ignore[misc]
    """Select all columns."""

    def fit(self, X: Any, y: NDArray[Any]) -> AllFeatures:  # noqa: ARG002
        """Keep every column of X."""
        self.indices_ = np.arange(X.shape[1])
        return self


OWN = {kind.__name__: kind for kind in selectors().values()}
"""The selectors of slfs, by class name."""

ESTIMATORS: dict[str, Callable[..., Any]] = {
    **OWN,
    **{kind.__name__: kind for kind in (L1Logistic, ForestImportance, AllFeatures)},
}
"""All selectors that a configuration can name."""

STOPS_AT_SIZE = ("SLFS", "MRMR", "JMI", "CMIM", "Chi2Ranking", "L1Logistic", "ForestImportance")
"""Selectors that are given the number of columns. The others are fitted once, at their own size, and
their selection is cut off: this is how the stored rows were computed."""


def make(estimator: str, parameters: dict[str, Any], size: int | None) -> Any:
    """Make a selector of at most ``size`` columns, or of its own size (None).

    If the estimator is not in `STOPS_AT_SIZE`, the caller must cut off its ``indices_``.
    """
    if size is not None and estimator in STOPS_AT_SIZE:
        parameters = {**parameters, "n_features_to_select": max(size, 1)}
    return ESTIMATORS[estimator](**parameters)


def _largest(scores: NDArray[np.float64], size: int | str, threshold: float) -> NDArray[np.int64]:
    """Return the indices of the largest scores, at least one; ties go to the smaller column index."""
    count = int((scores > threshold).sum()) if size == "auto" else int(size)
    return np.argsort(-scores, kind="stable")[: max(count, 1)]
