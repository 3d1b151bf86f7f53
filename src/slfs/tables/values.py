"""Python values of a column -> whether they are numbers, which are missing, and the numbers."""

from __future__ import annotations

from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slfs.tables.dates import TEMPORAL, days_of

_NA_TYPES = ("NAType", "NaTType")


def missing_values(values: list[Any]) -> NDArray[np.bool_]:
    """Return which values are missing: None, NaN, and NA and NaT of pandas."""
    return np.fromiter((_is_missing(value) for value in values), bool, len(values))


def are_numbers(values: list[Any], name: object) -> bool:
    """Return whether all values that are not missing are numbers, or all are dates.

    Booleans do not count as numbers here: they are categories.
    """
    kinds = {kind for kind in set(map(type, values)) if kind.__name__ not in _NA_TYPES}
    kinds -= {type(None)}
    dates = [kind for kind in kinds if issubclass(kind, TEMPORAL)]
    if dates:
        others = {kind for kind in kinds if not issubclass(kind, TEMPORAL)}
        if others and any(value == value for value in values if type(value) in others):
            found = sorted(kind.__name__ for kind in kinds)
            raise ValueError(
                f"The column {name!r} of X mixes dates or times with other values ({', '.join(found)}). "
                "Convert all of them to dates, numbers or text."
            )
        return True
    return all(issubclass(kind, Real | Decimal) and not issubclass(kind, bool) for kind in kinds)


def to_numbers(values: list[Any]) -> NDArray[np.float64]:
    """Convert each value to a number, or to NaN if it is not one."""
    return np.fromiter((_number(value) for value in values), np.float64, len(values))


def masked_as_missing(values: Any) -> Any:
    """Replace the masked values of a masked array by NaN or None; return anything else unchanged."""
    if not isinstance(values, np.ma.MaskedArray):
        return values
    mask, found = np.ma.getmaskarray(values), values.data
    if found.dtype.kind in "biufOSUT" and mask.any():
        numbers = found.dtype.kind in "iuf"
        found = found.astype(np.result_type(found, np.float16) if numbers else object)
        found[mask] = np.nan if numbers else None
    elif found.dtype.kind in "mM":
        found = np.where(mask, found.dtype.type("NaT"), found)
    return found


def is_dask(X: Any) -> bool:
    """Return whether X is a Dask collection, without importing Dask."""
    return type(X).__module__.startswith("dask.")


def _number(value: Any) -> float:
    if isinstance(value, TEMPORAL):
        return float("nan") if _is_missing(value) else days_of(value)
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
    except (TypeError, ValueError):
        return float("nan")


def _is_missing(value: Any) -> bool:
    if value is None:
        return True
    if isinstance(value, float | np.floating | Decimal):
        return bool(value != value)
    return type(value).__name__ in _NA_TYPES
