"""Columns whose values look like something else -> warnings that say what to do with them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from slfs._core.warn import warn
from slfs.coding.codebook import Coding
from slfs.coding.grouping import MANY
from slfs.tables.table import Table

_NAMED = 5
"""Maximum number of columns in a warning."""

_SAMPLE_VALUES, _NEARLY_ALL = 200, 0.95
"""Number of values whose text is examined, and the share of them that must match."""

_SAMPLE_ROWS, _MIN_ROWS = 4096, 20
"""Number of rows in which identifiers are searched, and the minimum number of rows."""

_DENSE = 1.5
"""Maximum range of consecutive identifiers, as a multiple of the number of rows."""

_NUMBER = re.compile(
    r"\s*[-+(]?\s*(?P<before>[$€£¥]|[A-Z]{3}\b)?\s*[-+]?"
    r"(?:\d{1,3}(?:[,.' \u00a0\u202f]\d{3})+|\d+)(?:[.,]\d+)?(?:[eE][-+]?\d+)?"
    r"\s*(?P<after>[%‰$€£¥°]?[A-Za-zµ²³/]{0,8})\s*\)?\s*"
)
_PLAIN_NUMBER = re.compile(r"\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\s*")
_DATE = re.compile(
    r"\s*(?:\d{4}[-/.]\d{1,2}(?:[-/.]\d{1,2})?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}"
    r"|\d{1,2}[-/. ][A-Za-z]{3,9}\.?[-/., ]+\d{2,4}|[A-Za-z]{3,9}\.? \d{1,2},? \d{4})"
    r"(?:[T ]\s*\d{1,2}:\d{2}.*)?\s*|\s*\d{1,2}:\d{2}(?::\d{2})?(?:\s*[AaPp][Mm])?\s*"
)
_IDENTIFIER_NAME = re.compile(r"(?:^|[\W_])(?:[Ii][Dd]|uuid|key|index|row)$|[a-z]I[Dd]$")


def warn_about_text(
    coding: Coding, names: NDArray[np.object_], n_samples: int, used: NDArray[np.bool_]
) -> None:
    """Warn about columns of text that look like dates, numbers or identifiers.

    ``used`` are the columns that were selected. Identifiers that were dropped do no harm; dates and
    numbers that were dropped as categories may be useful once they are converted.
    """
    n_distinct = coding.columns["n_distinct"]
    text = [
        column
        for column in coding.categories
        if n_distinct[column] > MANY and isinstance(next(iter(coding.categories[column])), str)
    ]
    dates = [column for column in text if _all_dates(coding.categories[column])]
    numbers = [
        column for column in text if column not in dates and _all_numbers(coding.categories[column])
    ]
    _warn_about_converted(dates, "dates or times", _CONVERT_DATES, coding, names, used)
    spoiled = [column for column in numbers if _not_numbers(coding.categories[column])]
    written = [column for column in numbers if column not in spoiled]
    if spoiled:
        how = _READ_AS_MISSING.format(_not_numbers(coding.categories[spoiled[0]])[0])
        _warn_about_converted(spoiled, "numbers", how, coding, names, used)
    _warn_about_converted(written, "numbers", _CONVERT_NUMBERS, coding, names, used)
    alike = (n_distinct > n_samples / 2) & used
    alike[dates + numbers] = False
    columns = np.flatnonzero(alike)
    if len(columns):
        warn(
            f"{len(columns)} selected column(s) have more categories than half the number of samples: "
            f"{_listed(names[columns])}. Most of their categories occur once and will not occur again. "
            "If they are likely identifiers, drop them; if they are numbers, do not declare them "
            "categorical."
        )


_CONVERT_DATES = (
    "Convert them to dates, for example with pandas.to_datetime, or to categories such as month and "
    "weekday."
)
_CONVERT_NUMBERS = (
    "Convert them to numbers: remove currency signs, units and thousands separators, and use "
    "pandas.to_numeric."
)

_READ_AS_MISSING = (
    "If the other text means a missing value, read it as one: na_values=[{0!r}] in pandas.read_csv, "
    "--missing {0!r} on the command line."
)


def _warn_about_converted(
    columns: list[int],
    what: str,
    how: str,
    coding: Coding,
    names: NDArray[np.object_],
    used: NDArray[np.bool_],
) -> None:
    if not columns:
        return
    shown = [
        f"{names[column]!r} ({_example(coding.categories[column])}; "
        f"{'selected' if used[column] else 'dropped'})"
        for column in columns[:_NAMED]
    ]
    more = ", ..." if len(columns) > _NAMED else ""
    warn(
        f"{len(columns)} column(s) of text look like {what} and are treated as categories: "
        f"{', '.join(shown)}{more}. {how}"
    )


def _example(values: Iterable[object]) -> str:
    """Show the values that are not numbers if all others are, or the first value."""
    others = _not_numbers(values)
    return f"all but {_listed(others)}" if others else f"e.g. {next(iter(values))!r}"


def _not_numbers(values: Iterable[object]) -> list[str]:
    """Return the values that spoil a column of plain numbers; none if it has units or the like."""
    texts = [str(value) for value in values]
    plain = [_PLAIN_NUMBER.fullmatch(text) is not None for text in texts]
    others = [text for text, is_number in zip(texts, plain, strict=True) if not is_number]
    return others if len(others) <= (1 - _NEARLY_ALL) * len(texts) else []


def _all_numbers(values: Iterable[object]) -> bool:
    """Whether values are numbers with at most a few different currencies and units."""
    found = [_NUMBER.fullmatch(value) for value in _first(values)]
    matches = [match for match in found if match is not None]
    units = {(match["before"], match["after"]) for match in matches}
    return len(matches) >= _NEARLY_ALL * len(found) and len(units) <= 3


def _all_dates(values: Iterable[object]) -> bool:
    found = [_DATE.fullmatch(value) for value in _first(values)]
    return sum(match is not None for match in found) >= _NEARLY_ALL * len(found)


def _first(values: Iterable[object]) -> list[str]:
    return [str(value) for value in itertools.islice(values, _SAMPLE_VALUES)]


def are_dates(X: Any, columns: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether columns of the user's table contain dates or times, which are used as numbers."""
    if not nw.dependencies.is_into_dataframe(X):
        return np.zeros(len(columns), np.bool_)
    frame = nw.from_native(X, eager_only=True)
    return np.array([frame[:, j].dtype.is_temporal() for j in columns.tolist()], np.bool_)


def warn_about_row_numbers(
    table: Table, columns: NDArray[np.int64], coding: Coding, names: NDArray[np.object_]
) -> None:
    """Warn about selected columns of integers that look like identifiers or row numbers.

    Their values are all different, and they increase or decrease from row to row, have nearly no gaps,
    or have the name of an identifier. ``coding`` and ``names`` are those of the selected columns. Only
    the first rows are read.
    """
    n_rows = min(table.n_samples, _SAMPLE_ROWS)
    low, high = coding.columns["low"], coding.columns["high"]
    spread = np.where(np.isfinite(low), high, 0.0) - np.where(np.isfinite(low), low, 0.0)
    candidates = coding.cut & (low == np.floor(low)) & (spread >= table.n_samples - 1)
    if n_rows < _MIN_ROWS or not candidates.any():
        return
    found = []
    for node in np.flatnonzero(candidates).tolist():
        values = table.number_block(columns[[node]], np.arange(n_rows)).dense()[0]
        whole = np.isfinite(values).all() and (values == np.floor(values)).all()
        if not whole or len(np.unique(values)) < n_rows:
            continue
        steps = np.diff(values)
        in_order = (steps > 0).all() or (steps < 0).all()
        dense = spread[node] < _DENSE * table.n_samples
        if in_order or dense or _IDENTIFIER_NAME.search(str(names[node])):
            found.append(names[node])
    if found:
        warn(
            f"{len(found)} selected column(s) of integers have a different value in every row and are "
            f"likely row numbers or identifiers: {_listed(found)}. They tell only how the rows are "
            "sorted. Drop them unless they measure something."
        )


def _listed(names: Sequence[str] | NDArray[np.object_]) -> str:
    shown = ", ".join(repr(name) for name in names[:_NAMED])
    return f"{shown}, ..." if len(names) > _NAMED else shown
