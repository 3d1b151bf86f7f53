"""Private names of scikit-learn that slfs uses, imported in one place."""

from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions, validate_params
from sklearn.utils._set_output import _get_output_config as get_output_config

__all__ = [
    "HasMethods",
    "Interval",
    "StrOptions",
    "get_output_config",
    "safe_indexing",
    "validate_params",
]


def safe_indexing(X: Any, indices: Any, *, axis: int = 0) -> Any:
    """Return some rows or columns of a table; scikit-learn indexes PyArrow tables since 1.7 only."""
    if type(X).__module__.partition(".")[0] != "pyarrow":
        return _safe_indexing(X, indices, axis=axis)
    places = np.arange(len(X) if axis == 0 else X.num_columns)[indices]
    return X.take(places) if axis == 0 else X.select(places.tolist())
