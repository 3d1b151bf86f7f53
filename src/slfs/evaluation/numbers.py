"""Columns of any kind -> standardised numbers, as distances and linear models need them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from slfs.tables.dates import days

Floats = NDArray[np.float64]


class Standardizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Standardise numeric columns and one-hot encode the others. Dates count as numbers of days.

    Missing and infinite values are replaced by the mean of the training part. Sparse columns are scaled
    but not centred, which changes no distance. The output has the numeric columns first.
    """

    def fit(self, X: Any, y: Any = None) -> Standardizer:  # noqa: ARG002
        """Learn means, scales and categories from a pandas dataframe or a sparse array."""
        if sparse.issparse(X):
            self._scaler = StandardScaler(with_mean=False).fit(X.astype(np.float64))
            self._numeric, self._other = np.arange(X.shape[1]), np.arange(0)
            return self
        numeric = np.array([kind.kind in "iufbmM" for kind in X.dtypes], dtype=bool)
        self._numeric, self._other = np.flatnonzero(numeric), np.flatnonzero(~numeric)
        if len(self._numeric):
            self._scaler = make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler())
            self._scaler.fit(self._floats(X))
        if len(self._other):
            self._encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
            self._encoder.fit(self._texts(X))
        return self

    def transform(self, X: Any) -> Any:
        """Return the numbers of a table with the same columns."""
        if sparse.issparse(X):
            return self._scaler.transform(X.astype(np.float64))
        parts = []
        if len(self._numeric):
            parts.append(self._scaler.transform(self._floats(X)))
        if len(self._other):
            parts.append(self._encoder.transform(self._texts(X)))
        return np.hstack(parts)

    def by_column(self, scores: Floats) -> Floats:
        """Turn scores of the output columns into scores of the input columns: the largest of each."""
        found = np.empty(len(self._numeric) + len(self._other))
        found[self._numeric] = scores[: len(self._numeric)]
        if len(self._other):
            lengths = [len(values) for values in self._encoder.categories_]
            begins = len(self._numeric) + np.cumsum([0, *lengths[:-1]])
            found[self._other] = np.maximum.reduceat(scores, begins)
        return found

    def _floats(self, X: Any) -> Floats:
        part = X.iloc[:, self._numeric].copy(deep=False)
        for name in part.columns[[kind.kind in "mM" for kind in part.dtypes]]:
            part[name] = days(part[name].to_numpy())
        values: Floats = part.to_numpy(dtype=np.float64, na_value=np.nan, copy=True)
        values[np.isinf(values)] = np.nan
        return values

    def _texts(self, X: Any) -> NDArray[np.object_]:
        values: NDArray[np.object_] = X.iloc[:, self._other].astype(str).to_numpy(dtype=object)
        return values
