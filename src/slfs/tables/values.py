"""Python values of a column -> whether they are numbers, which are missing, and the numbers."""

from __future__ import annotations

from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slfs.tables.dates import TEMPORAL, TimeKind, days_of, time_kind

_NA_TYPES = ("NAType", "NaTType")


def missing_values(values: list[Any]) -> NDArray[np.bool_]:
    """Return which values are missing: None, NaN, and NA and NaT of pandas."""
    return np.fromiter((_is_missing(value) for value in values), bool, len(values))


def kind_of_numbers(values: list[Any]) -> TimeKind | None:
    """Return what the values are if all that are not missing are numbers, dates or durations.

    None for any other or mixed values. Booleans do not count as numbers here: they are categories.
    """
    types = set(map(type, values))
    if any(issubclass(kind, TEMPORAL) for kind in types):
        found = {time_kind(value) for value in values if not _is_missing(value)}
        return found.pop() if len(found) == 1 else None if found else TimeKind.NUMBER
    types = {kind for kind in types if kind.__name__ not in _NA_TYPES} - {type(None)}
    numbers = all(issubclass(kind, Real | Decimal) and not issubclass(kind, bool) for kind in types)
    return TimeKind.NUMBER if numbers else None


def to_numbers(values: list[Any], kind: TimeKind | None = None) -> NDArray[np.float64]:
    """Convert each value to a number, or to NaN if it is not one, or not one of the given kind."""
    if kind is not None:
        values = [value if time_kind(value) == kind else None for value in values]
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


def in_memory(values: Any) -> Any:
    """Compute a Dask collection, and copy a CuPy array from the GPU; return anything else unchanged."""
    if is_dask(values):
        values = values.compute()
    return values.get() if type(values).__module__.partition(".")[0] == "cupy" else values


def is_dask(X: Any) -> bool:
    """Return whether X is a Dask collection, without importing Dask."""
    return type(X).__module__.startswith("dask.")


def _number(value: Any) -> float:
    if isinstance(value, TEMPORAL):
        return float("nan") if _is_missing(value) else days_of(value)
    if isinstance(value, str) and "_" in value:  # Python would read 2024_01 as a number
        return float("nan")
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
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    return type(value).__name__ in _NA_TYPES
