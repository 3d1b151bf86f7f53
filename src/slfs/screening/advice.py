"""Columns whose values look like something else -> warnings that say what to do with them."""

from __future__ import annotations

import datetime
import itertools
import re
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from slfs._core.interface import remedy
from slfs._core.warn import in_focus, warn
from slfs.coding.codebook import Coding
from slfs.coding.grouping import MANY
from slfs.tables.dates import TimeKind
from slfs.tables.number_text import (
    has_codes,
    has_decimal_commas,
    is_number,
    is_written_number,
    look_like_numbers,
    not_numbers,
    not_plain,
    some_texts,
)
from slfs.tables.table import Table

_NAMED = 5
"""Maximum number of columns in a warning."""

_NEARLY_ALL = 0.95
"""Share of the values that must be dates."""

_SAMPLE_ROWS, _MIN_ROWS = 4096, 20
"""Number of rows in which identifiers are searched, and the minimum number of rows."""

_DENSE = 1.5
"""Maximum range of consecutive identifiers, as a multiple of the number of rows."""

_DATE = re.compile(
    r"\s*(?:\d{4}[-/.]\d{1,2}(?:[-/.]\d{1,2})?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}"
    r"|\d{1,2}[-/. ][A-Za-z]{3,9}\.?[-/., ]+\d{2,4}|[A-Za-z]{3,9}\.? \d{1,2},? \d{4})"
    r"(?:[T ]\s*\d{1,2}:\d{2}.*)?\s*"
)
_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_TIME = re.compile(r"\s*\d{1,2}:\d{2}(?::\d{2})?(?:\s*[AaPp][Mm])?\s*")
_IDENTIFIER_NAME = re.compile(r"(?:^|[\W_])(?:[Ii][Dd]|uuid|key|index|row)$|[a-z]I[Dd]$")


def warn_about_values(
    coding: Coding,
    names: NDArray[np.object_],
    n_samples: int,
    selected: NDArray[np.bool_] | None,
    intended: NDArray[np.bool_] | None = None,
) -> None:
    """Warn about large integers that are rounded, and about text that should not be categories.

    ``selected`` is None if all columns are used. ``intended`` are columns that the user has decided
    about, whose text is not examined.
    """
    rounded = in_focus(np.flatnonzero(coding.columns["rounded"]), names)
    if rounded:
        option = remedy("categorical_features", "--categorical")
        warn(
            f"{len(rounded)} column(s) of numbers have integers above 2**53, some of which are equal "
            f"when they are rounded to 64-bit floats: {_listed(names[rounded])}. If they are "
            f"identifiers, drop them. If they are codes, declare them categorical ({option}); "
            "categories are compared exactly. If they are quantities, subtract the smallest one.",
            about_focus=True,
        )
    _warn_about_text(coding, names, n_samples, selected, intended)


def _warn_about_text(
    coding: Coding,
    names: NDArray[np.object_],
    n_samples: int,
    selected: NDArray[np.bool_] | None,
    intended: NDArray[np.bool_] | None,
) -> None:
    """Warn about columns with text that look like dates, numbers or identifiers.

    Identifiers that were dropped do no harm; dates and numbers that were dropped as categories may be
    useful once they are converted.
    """
    n_distinct = coding.columns["n_distinct"]
    text = {
        column: list(coding.categories[column])
        for column in in_focus(list(coding.categories), names)
        if any(isinstance(value, str) for value in coding.categories[column])
        and (intended is None or not intended[column])
    }
    many = [column for column in text if n_distinct[column] > MANY]
    dates = [column for column in many if _nearly_all(_DATE, text[column])]
    times = [column for column in many if _nearly_all(_TIME, text[column])]
    numbers, spoiled, written = [], {}, []
    for column, values in text.items():
        if column in dates or column in times or has_codes(values):
            continue
        others = not_numbers(values)
        if n_distinct[column] > MANY and (others or look_like_numbers(values)):
            numbers.append(column)
        if others:
            spoiled[column] = others
        elif column in numbers:
            written.append(column)
    if selected is not None:  # those that matter are named first
        for columns in (dates, times, written):
            columns.sort(key=lambda column: not selected[column])
        spoiled = dict(sorted(spoiled.items(), key=lambda item: not selected[item[0]]))
    strays = {column: others for column in dates if (others := _not_dates(text[column]))}
    stray = list(dict.fromkeys(itertools.chain(*strays.values())))[:_NAMED]
    _warn_about_converted(list(strays), "dates", _stray_dates(stray), text, names, selected, strays)
    written_otherwise = [column for column in dates if column not in strays]
    _warn_about_converted(written_otherwise, "dates", _convert_dates(), text, names, selected)
    _warn_about_converted(times, "times", _CONVERT_TIMES, text, names, selected)
    _warn_about_converted(
        list(spoiled), "numbers", _read_as_missing(spoiled, text), text, names, selected, spoiled
    )
    _warn_about_converted(written, "numbers", _convert_numbers(), text, names, selected)
    alike = n_distinct > n_samples / 2
    alike &= coding.n_levels > 1 if selected is None else selected
    alike[numbers if selected is not None else dates + times + numbers] = False
    columns = in_focus(np.flatnonzero(alike), names)
    if columns:
        chosen = "" if selected is None else "selected "
        warn(
            f"{len(columns)} {chosen}column(s) have more categories than half the number of samples: "
            f"{_listed(names[columns])}. Most of their categories occur once and will not occur again. "
            f"If they are identifiers, drop them; if they are quantities, {_as_numbers(columns, text)}.",
            about_focus=True,
        )


def _as_numbers(columns: list[int], text: Mapping[int, list[object]]) -> str:
    """Say how categories become numbers: text is converted, declared categories need not be declared."""
    texts = any(column in text for column in columns)
    declared = any(column not in text for column in columns)
    how = ["convert their text to numbers"] * texts + ["do not declare numbers categorical"] * declared
    return " and ".join(how)


def _not_dates(values: list[object]) -> list[str]:
    """Return the few texts that spoil a column of dates such as 2020-12-31."""
    texts = [str(value) for value in values]
    others = [text for text in texts if not _is_iso_date(text)]
    return others if len(others) <= min(_NAMED, (1 - _NEARLY_ALL) * len(texts)) else []


def _is_iso_date(text: str) -> bool:
    try:
        datetime.datetime.fromisoformat(text)
    except ValueError:
        return False
    return _ISO_DATE.match(text) is not None


def _stray_dates(others: list[str]) -> str:
    """Say how to read the text that spoils columns of dates as missing values."""
    return _as_missing(others, "pandas.to_datetime(column, format='ISO8601', errors='coerce')")


def _as_missing(others: list[str], in_python: str) -> str:
    """Say how to read some text as missing values; text of files with types stays text."""
    options = " ".join(f"--missing {other!r}" for other in others)
    how = remedy(in_python, f"{options} in CSV, Excel and JSON files")
    convert = remedy("", " In other files, such as Parquet, convert the column.")
    return f"If the other text means a missing value, read it as one: {how}.{convert}"


def _convert_dates() -> str:
    files = " In CSV, Excel and JSON files, dates are recognized if all are written as 2020-12-31."
    return f"Convert them to dates, or to categories such as month and weekday.{remedy('', files)}"


_CONVERT_TIMES = "Convert them to numbers, for example of hours since midnight."


def _convert_numbers() -> str:
    option = remedy("categorical_features", "--categorical")
    return (
        "If they are quantities, convert them to numbers of one unit, written as -1234.5. If they are "
        f"codes, {option} avoids this warning."
    )


def _read_as_missing(others: Mapping[int, list[str]], text: Mapping[int, list[object]]) -> str:
    """Say how to read the text that spoils columns of numbers as missing values."""
    markers = list(dict.fromkeys(itertools.chain(*others.values())))[:_NAMED]
    commas = any(has_decimal_commas(map(str, text[column])) for column in others)
    decimal = " and decimal=','" if commas else ""
    objects = any(map(is_number, itertools.chain(*(text[column] for column in others))))
    excel = " or pandas.read_excel, or pandas.to_numeric(column, errors='coerce')" if objects else ""
    return _as_missing(markers, f"na_values={markers!r}{decimal} in pandas.read_csv{excel}")


def _warn_about_converted(
    columns: list[int],
    what: str,
    how: str,
    text: Mapping[int, list[object]],
    names: NDArray[np.object_],
    selected: NDArray[np.bool_] | None,
    others: Mapping[int, list[str]] | None = None,
) -> None:
    if not columns:
        return
    shown = []
    for column in columns[:_NAMED]:
        about = _example(text[column], (others or {}).get(column, []))
        if selected is not None:
            about += "; selected" if selected[column] else "; dropped"
        shown.append(f"{names[column]!r} ({about})")
    more = ", ..." if len(columns) > _NAMED else ""
    objects = any(map(is_number, itertools.chain(*(text[column] for column in columns))))
    warn(
        f"{len(columns)} column(s) {'with' if objects else 'of'} text look like {what} and are treated "
        f"as categories: {', '.join(shown)}{more}. {how}",
        about_focus=True,
    )


def _example(values: list[object], others: list[str]) -> str:
    """Show the values that are not numbers if all others are, or the first text."""
    texts = [value for value in values if isinstance(value, str)]
    first = next(filter(_looks_like_more, texts), texts[0])
    return f"all but {_listed(others)}" if others else f"e.g. {first!r}"


def _looks_like_more(text: str) -> bool:
    return any((is_written_number(text), _DATE.fullmatch(text), _TIME.fullmatch(text)))


def _nearly_all(pattern: re.Pattern[str], values: list[object]) -> bool:
    """Whether the text of a column is written by a pattern, and not as plain numbers."""
    texts = some_texts(values)
    written = [text for text in not_plain(texts) if pattern.fullmatch(text)]  # 1999.12 is a number
    return len(written) >= _NEARLY_ALL * len(texts)


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
    with np.errstate(over="ignore"):
        spread = np.where(np.isfinite(low), high, 0.0) - np.where(np.isfinite(low), low, 0.0)
    candidates = coding.cut & (low == np.floor(low)) & (spread >= table.n_samples - 1)
    candidates &= coding.columns["time_kind"] == TimeKind.NUMBER
    if n_rows < _MIN_ROWS or not candidates.any():
        return
    found = []
    for node in in_focus(np.flatnonzero(candidates), names):
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
            f"likely row numbers or identifiers: {_listed(found)}. Drop them unless they measure "
            "something: identifiers tell only how the rows are sorted.",
            about_focus=True,
        )


def _listed(names: Sequence[str] | NDArray[np.object_]) -> str:
    shown = ", ".join(repr(name) for name in names[:_NAMED])
    return f"{shown}, ..." if len(names) > _NAMED else shown
