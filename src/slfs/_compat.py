"""Private names of scikit-learn that slfs uses, imported in one place."""

from sklearn.utils import _safe_indexing as safe_indexing
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
