"""A table of any kind -> some of its rows or columns, of the same kind."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from slfs.tables.table import keep_types


def pick_rows(X: Any, rows: NDArray[np.int64]) -> Any:
    """Some rows of a dataframe, a sparse matrix, an array or lists (which become an array)."""
    if nw.dependencies.is_into_dataframe(X):
        return nw.from_native(X, eager_only=True)[rows.tolist(), :].to_native()
    return X.tocsr()[rows] if sparse.issparse(X) else np.asarray(keep_types(X))[rows]


def pick_columns(X: Any, columns: NDArray[np.int64]) -> Any:
    """Some columns of what `pick_rows` returned."""
    if nw.dependencies.is_into_dataframe(X):
        return nw.from_native(X, eager_only=True)[:, columns.tolist()].to_native()
    return X[:, columns]
