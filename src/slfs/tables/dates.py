"""Dates, times and durations -> days, as numbers: days since 1970-01-01 (UTC), or a number of days."""

from __future__ import annotations

import datetime
import enum
import logging
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

EPOCH = datetime.date(1970, 1, 1)
"""The day that has the number 0."""

TEMPORAL = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)
"""Types of values that are converted to days; datetime.datetime and pandas.Timestamp are dates."""


class TimeKind(enum.IntEnum):
    """What the numbers of a column stand for; a value of another kind is unknown to the column."""

    NUMBER = 0
    DATE = 1
    """Days since the epoch."""
    DURATION = 2
    """Days; also times of day."""


_MICROSECONDS = 86_400_000_000
_FIRST = datetime.datetime(1970, 1, 1)


def time_kind(value: Any) -> TimeKind:
    """Return what a value, or the values of an array of a temporal dtype, stand for as a number."""
    if isinstance(value, np.ndarray):
        kinds = {"M": TimeKind.DATE, "m": TimeKind.DURATION}
        return kinds.get(value.dtype.kind, TimeKind.NUMBER)
    if not isinstance(value, TEMPORAL):
        return TimeKind.NUMBER
    return TimeKind.DATE if isinstance(value, datetime.date | np.datetime64) else TimeKind.DURATION


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


def as_date(number: float, timespec: str = "seconds") -> str:
    """Write a number of days since 1970-01-01 as a date, with the time if it is not midnight.

    ``timespec`` is the precision of the time; see `datetime.datetime.isoformat`.
    """
    try:
        moment = _FIRST + datetime.timedelta(days=number)
    except (OverflowError, ValueError):  # infinity, NaN, or years outside of 1 to 9999
        return str(number)
    has_time = moment.time() != datetime.time()
    return moment.isoformat(sep=" ", timespec=timespec) if has_time else moment.date().isoformat()


def from_days(values: NDArray[np.float64], kind: TimeKind) -> NDArray[Any]:
    """Convert numbers of days to datetime64 or timedelta64, NaN to NaT; the inverse of `days`."""
    if kind == TimeKind.NUMBER:
        return values
    dtype = "datetime64[us]" if kind == TimeKind.DATE else "timedelta64[us]"
    missing = np.isnan(values)
    count = np.where(missing, 0, values * _MICROSECONDS).round().astype(np.int64)
    moments = count.astype(dtype)
    moments[missing] = np.array("NaT", dtype)
    return moments


def report_dates(names: Sequence[Any]) -> None:
    """Tell the logger "slfs" which columns hold dates."""
    if names:
        logging.getLogger("slfs").info(
            "The columns %s hold dates or durations, used as numbers of days (of dates since %s).",
            names,
            EPOCH,
        )
