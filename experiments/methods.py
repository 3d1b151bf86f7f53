"""What selects features in the experiments: our selectors, and three of scikit-learn's kind.

Each is an estimator with ``fit(X, y)`` and then ``indices_``, the selected columns from the best on.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

import slfs
from slfs.evaluation.numbers import to_numbers


class L1Logistic(BaseEstimator):  # type: ignore[misc]
    """Columns by their largest coefficient in logistic regressions, one a class, with an L1 price.

    "auto" takes those with a coefficient that is not zero, with scikit-learn's default price.
    """

    def __init__(self, n_features_to_select: int | str = "auto") -> None:
        self.n_features_to_select = n_features_to_select

    def fit(self, X: Any, y: NDArray[Any]) -> L1Logistic:
        """Rank the columns of X."""
        numbers = to_numbers(X)
        model = LogisticRegression(solver="liblinear", l1_ratio=1.0, tol=0.01, random_state=0)
        models = OneVsRestClassifier(model).fit(numbers.fit(X), y).estimators_
        size = numbers.by_column(np.abs(np.vstack([one.coef_ for one in models])).max(axis=0))
        self.indices_ = _best(
            size,
            int((size > 0).sum())
            if self.n_features_to_select == "auto"
            else int(self.n_features_to_select),
        )
        return self


class ForestImportance(BaseEstimator):  # type: ignore[misc]
    """Columns by their importance in a random forest of 200 trees; "auto": those above the mean."""

    def __init__(self, n_features_to_select: int | str = "auto") -> None:
        self.n_features_to_select = n_features_to_select

    def fit(self, X: Any, y: NDArray[Any]) -> ForestImportance:
        """Rank the columns of X."""
        numbers = to_numbers(X)
        forest = RandomForestClassifier(200, random_state=0).fit(numbers.fit(X), y)
        importance = numbers.by_column(forest.feature_importances_)
        above = int((importance > importance.mean()).sum())
        self.indices_ = _best(
            importance, above if self.n_features_to_select == "auto" else int(self.n_features_to_select)
        )
        return self


class AllFeatures(BaseEstimator):  # type: ignore[misc]
    """No selection."""

    def fit(self, X: Any, y: NDArray[Any]) -> AllFeatures:  # noqa: ARG002
        """Keep every column of X."""
        self.indices_ = np.arange(X.shape[1])
        return self


ESTIMATORS: dict[str, Callable[..., Any]] = {
    kind.__name__: kind
    for kind in (
        slfs.SLFS,
        slfs.MRMR,
        slfs.JMI,
        slfs.CMIM,
        slfs.FCBF,
        slfs.OSFS,
        slfs.FastOSFS,
        slfs.SAOLA,
        slfs.AlphaInvesting,
        slfs.Chi2Ranking,
        slfs.Chi2,
        L1Logistic,
        ForestImportance,
        AllFeatures,
    )
}
"""By the name that a configuration gives them."""


def make(estimator: str, parameters: dict[str, Any], size: int | None) -> Any:
    """Make a selector that keeps at most ``size`` columns, or as many as it likes (None)."""
    kind = ESTIMATORS[estimator]
    if size is not None and "n_features_to_select" in inspect.signature(kind).parameters:
        parameters = {**parameters, "n_features_to_select": max(size, 1)}
    return kind(**parameters)


def _best(scores: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    """The places of the largest scores, at least one; ties: the smaller column."""
    return np.argsort(-scores, kind="stable")[: max(count, 1)]
