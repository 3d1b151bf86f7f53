"""Columns of any kind -> what distances and linear models need: standardised numbers.

Numbers are centred and scaled by the training part, holes and infinities filled by the mean; sparse are
scaled only (which changes no distance); categories become one column for each value.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

Floats = NDArray[np.float64]


class SparseNumbers:
    """Scaled numbers of a sparse table."""

    def __init__(self) -> None:
        self._scaler = StandardScaler(with_mean=False)

    def fit(self, X: Any) -> Any:
        """Learn from the training part; return its numbers."""
        return self._scaler.fit_transform(X.astype(np.float64))

    def transform(self, X: Any) -> Any:
        """The numbers of another part."""
        return self._scaler.transform(X.astype(np.float64))

    def by_column(self, scores: Floats) -> Floats:
        """Scores of the numbers to scores of the columns that they come from."""
        return scores


class FrameNumbers:
    """Standardised numbers of a dataframe: first those of its columns of numbers, then 0 and 1."""

    def __init__(self) -> None:
        self._scaler = make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler())
        self._encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)

    def fit(self, X: Any) -> Any:
        """Learn from the training part; return its numbers."""
        numbers = np.array([kind.kind in "iufb" for kind in X.dtypes])
        self._numbers, self._categories = np.flatnonzero(numbers), np.flatnonzero(~numbers)
        parts = []
        if len(self._numbers):
            parts.append(self._scaler.fit_transform(self._floats(X)))
        if len(self._categories):
            parts.append(self._encoder.fit_transform(self._texts(X)))
        return np.hstack(parts)

    def transform(self, X: Any) -> Any:
        """The numbers of another part."""
        parts = []
        if len(self._numbers):
            parts.append(self._scaler.transform(self._floats(X)))
        if len(self._categories):
            parts.append(self._encoder.transform(self._texts(X)))
        return np.hstack(parts)

    def by_column(self, scores: Floats) -> Floats:
        """Scores of the numbers to scores of the columns: the largest of each."""
        found = np.empty(len(self._numbers) + len(self._categories))
        found[self._numbers] = scores[: len(self._numbers)]
        if len(self._categories):
            lengths = [len(values) for values in self._encoder.categories_]
            begins = len(self._numbers) + np.cumsum([0, *lengths[:-1]])
            found[self._categories] = np.maximum.reduceat(scores, begins)
        return found

    def _floats(self, X: Any) -> Floats:
        values: Floats = X.iloc[:, self._numbers].to_numpy(dtype=np.float64, na_value=np.nan, copy=True)
        values[np.isinf(values)] = np.nan
        return values

    def _texts(self, X: Any) -> NDArray[np.object_]:
        values: NDArray[np.object_] = X.iloc[:, self._categories].astype(str).to_numpy(dtype=object)
        return values


def to_numbers(X: Any) -> SparseNumbers | FrameNumbers:
    """What makes numbers of a table like X, a dataframe or a sparse array."""
    return SparseNumbers() if sparse.issparse(X) else FrameNumbers()
