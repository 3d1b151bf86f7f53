"""Columns of any kind -> what distances and linear models need: standardised numbers.

Numbers are centred and scaled by the training part, sparse ones scaled only (which changes no distance);
categories become one column for each value.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.preprocessing import OneHotEncoder, StandardScaler


class StandardNumbers:
    """Standardised numbers of a table of numbers, dense or sparse."""

    def __init__(self, *, centred: bool) -> None:
        self._scaler = StandardScaler(with_mean=centred)

    def fit(self, X: Any) -> Any:
        """Learn from the training part; return its numbers."""
        return self._scaler.fit_transform(X.astype(np.float64))

    def transform(self, X: Any) -> Any:
        """The numbers of another part."""
        return self._scaler.transform(X.astype(np.float64))

    def by_column(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores of the numbers to scores of the columns that they come from."""
        return scores


class CategoryNumbers:
    """One number, 0 or 1, for each value of each column of categories."""

    def __init__(self) -> None:
        self._encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)

    def fit(self, X: Any) -> Any:
        """Learn from the training part; return its numbers."""
        return self._encoder.fit_transform(X)

    def transform(self, X: Any) -> Any:
        """The numbers of another part."""
        return self._encoder.transform(X)

    def by_column(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores of the numbers to scores of the columns that they come from: the largest of each."""
        lengths = [len(values) for values in self._encoder.categories_]
        return cast("NDArray[np.float64]", np.maximum.reduceat(scores, np.cumsum([0, *lengths[:-1]])))


def to_numbers(X: Any) -> StandardNumbers | CategoryNumbers:
    """What makes numbers of a table like X, all of whose columns are of one kind."""
    if sparse.issparse(X):
        return StandardNumbers(centred=False)
    if (X.dtypes == "category").all():
        return CategoryNumbers()
    return StandardNumbers(centred=True)
