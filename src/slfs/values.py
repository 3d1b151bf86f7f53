"""Python values of a column -> are they numbers, which are missing, what numbers are they?"""

from __future__ import annotations

import datetime
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

DATES = (
    "dates and times are neither numbers nor categories. Turn them into numbers (days since a date, "
    "hour of the day) or into categories (month, weekday) first."
)

_NA_TYPES = ("NAType", "NaTType")


def missing_values(values: list[Any]) -> NDArray[np.bool_]:
    """Tell which values stand for a missing one: None, NaN, pandas' NA and NaT."""
    return np.fromiter((_is_missing(value) for value in values), bool, len(values))


def are_numbers(values: list[Any], name: object) -> bool:
    """Tell whether these values are a column of numbers, missing ones aside; refuse dates.

    Booleans are no numbers here: they are categories.
    """
    kinds = {kind for kind in set(map(type, values)) if kind.__name__ not in _NA_TYPES}
    if any(issubclass(kind, datetime.date | datetime.time | datetime.timedelta) for kind in kinds):
        raise ValueError(f"The column {name!r} of X holds dates or times: {DATES}")
    kinds -= {type(None)}
    return all(issubclass(kind, Real | Decimal) and not issubclass(kind, bool) for kind in kinds)


def to_numbers(values: list[Any]) -> NDArray[np.float64]:
    """Read each value as a number; NaN for what is none."""
    return np.fromiter((_number(value) for value in values), np.float64, len(values))


def _number(value: Any) -> float:
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


def is_dask(X: Any) -> bool:
    """Tell a collection of Dask's without importing Dask."""
    return type(X).__module__.startswith("dask.")
