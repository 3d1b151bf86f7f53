"""Dates, times and durations -> days, as numbers: days since 1970-01-01 (UTC), or a number of days."""

from __future__ import annotations

import datetime
import logging
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

EPOCH = datetime.date(1970, 1, 1)
"""The day that has the number 0."""

TEMPORAL = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)
"""Types of values that are converted to days; datetime.datetime and pandas.Timestamp are dates."""

_MICROSECONDS = 86_400_000_000
_FIRST = datetime.datetime(1970, 1, 1)


def days(values: NDArray[Any]) -> NDArray[np.float64]:
    """Convert an array of datetime64 or timedelta64 to days, NaT to NaN.

    All units are converted to microseconds first, so that the same date is the same number in every
    table.
    """
    kind = "datetime64[us]" if values.dtype.kind == "M" else "timedelta64[us]"
    count = values.astype(kind).astype(np.int64)
    return np.where(np.isnat(values), np.nan, count / _MICROSECONDS)


def days_of(value: Any) -> float:
    """Convert one date, time or duration to days; a time of day is a fraction of a day."""
    if isinstance(value, np.datetime64 | np.timedelta64):
        return float(days(np.array([value]))[0])
    if isinstance(value, datetime.timedelta):
        return value / datetime.timedelta(microseconds=1) / _MICROSECONDS
    if isinstance(value, datetime.time):
        value = datetime.datetime.combine(EPOCH, value)
    elif not isinstance(value, datetime.datetime):
        value = datetime.datetime.combine(value, datetime.time())
    if value.tzinfo is not None:
        value = value.astimezone(datetime.UTC).replace(tzinfo=None)
    return float((value - _FIRST) / datetime.timedelta(microseconds=1) / _MICROSECONDS)


def as_date(number: float) -> str:
    """Write a number of days since 1970-01-01 as a date, with the time if it is not midnight."""
    if not abs(number) < 10**6:
        return str(number)
    moment = _FIRST + datetime.timedelta(days=number)
    has_time = moment.time() != datetime.time()
    return moment.isoformat(sep=" ", timespec="seconds") if has_time else moment.date().isoformat()


def report_dates(names: Sequence[Any]) -> None:
    """Tell the logger "slfs" which columns hold dates."""
    if names:
        logging.getLogger("slfs").info(
            "The columns %s hold dates or times. They are used as numbers of days since %s.",
            names,
            EPOCH,
        )
