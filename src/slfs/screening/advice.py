"""Columns whose values look like something else -> warnings that say what to do with them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from slfs._core.warn import in_focus, warn
from slfs.coding.codebook import Coding
from slfs.coding.grouping import MANY
from slfs.tables.dates import TimeKind
from slfs.tables.table import Table

_NAMED = 5
"""Maximum number of columns in a warning."""

_SAMPLE_VALUES, _NEARLY_ALL = 200, 0.95
"""Number of values whose text is examined, and the share of them that must match."""

_SAMPLE_ROWS, _MIN_ROWS = 4096, 20
"""Number of rows in which identifiers are searched, and the minimum number of rows."""

_MIN_NUMBERS = 2
"""Minimum number of distinct numbers in a column of which all other values look missing."""

_DENSE = 1.5
"""Maximum range of consecutive identifiers, as a multiple of the number of rows."""

_NUMBER = re.compile(
    r"\s*[-+(]?\s*(?P<before>[$€£¥]|[A-Z]{3}\b)?\s*[-+]?"
    r"(?:\d{1,3}(?:[,.' \u00a0\u202f]\d{3})+|\d+)(?:[.,]\d+)?(?:[eE][-+]?\d+)?"
    r"\s*(?P<after>[%‰$€£¥°]?[A-Za-zµ²³/]{0,8})\s*\)?\s*"
)
_PLAIN_NUMBER = re.compile(r"\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\s*")
_COMMA_NUMBER = re.compile(r"\s*[-+]?(?:\d+,?\d*|,\d+)(?:[eE][-+]?\d+)?\s*")
_COMMA_THOUSANDS = re.compile(r"\s*[-+]?\d{1,3}(?:,\d{3})*\s*")
_CODE = re.compile(r"\s*0\d+\s*")
"""An integer with leading zeros: a code, such as a postcode."""

_MISSING_MARKER = re.compile(
    r"[\W_]*|\s*(?:n\.?/?a\.?n?|k\. ?a\.|none|nil|null|missing|unknown|unk)\s*"
    r"|\s*(?:not|no) (?:available|known|applicable|data|answer)\s*",
    re.IGNORECASE,
)
"""Text that often means a missing value: signs such as ?, -- and *, and words."""

_DATE = re.compile(
    r"\s*(?:\d{4}[-/.]\d{1,2}(?:[-/.]\d{1,2})?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}"
    r"|\d{1,2}[-/. ][A-Za-z]{3,9}\.?[-/., ]+\d{2,4}|[A-Za-z]{3,9}\.? \d{1,2},? \d{4})"
    r"(?:[T ]\s*\d{1,2}:\d{2}.*)?\s*|\s*\d{1,2}:\d{2}(?::\d{2})?(?:\s*[AaPp][Mm])?\s*"
)
_IDENTIFIER_NAME = re.compile(r"(?:^|[\W_])(?:[Ii][Dd]|uuid|key|index|row)$|[a-z]I[Dd]$")


def warn_about_values(
    coding: Coding, names: NDArray[np.object_], n_samples: float, selected: NDArray[np.bool_] | None
) -> None:
    """Warn about large integers that are rounded, and about text that should not be categories.

    ``selected`` is None if all columns are used.
    """
    rounded = in_focus(np.flatnonzero(coding.columns["rounded"]), names)
    if rounded:
        warn(
            f"{len(rounded)} column(s) of numbers have integers above 2**53, some of which are equal "
            f"when they are rounded to 64-bit floats: {_listed(names[rounded])}. If they are "
            "identifiers, drop them. If they are codes, declare them categorical (categorical_features, "
            "--categorical on the command line); categories are compared exactly. If they are "
            "quantities, subtract the smallest one.",
            about_focus=True,
        )
    _warn_about_text(coding, names, n_samples, selected)


def _warn_about_text(
    coding: Coding, names: NDArray[np.object_], n_samples: float, selected: NDArray[np.bool_] | None
) -> None:
    """Warn about columns of text that look like dates, numbers or identifiers.

    Identifiers that were dropped do no harm; dates and numbers that were dropped as categories may be
    useful once they are converted.
    """
    n_distinct = coding.columns["n_distinct"]
    text = [
        column
        for column in in_focus(list(coding.categories), names)
        if isinstance(next(iter(coding.categories[column]), None), str)
    ]
    many = [column for column in text if n_distinct[column] > MANY]
    dates = [column for column in many if _all_dates(coding.categories[column])]
    codes = [column for column in text if any(map(_CODE.fullmatch, coding.categories[column]))]
    numbers = [
        column
        for column in many
        if column not in dates and column not in codes and _all_numbers(coding.categories[column])
    ]
    _warn_about_converted(dates, "dates or times", _CONVERT_DATES, coding, names, selected)
    spoiled = [
        column
        for column in text
        if (column in numbers or (n_distinct[column] <= MANY and column not in codes))
        and _not_numbers(coding.categories[column])
    ]
    written = [column for column in numbers if column not in spoiled]
    if spoiled:
        markers = dict.fromkeys(itertools.chain(*(_not_numbers(coding.categories[j]) for j in spoiled)))
        commas = any(_has_commas(map(str, coding.categories[column])) for column in spoiled)
        how = _read_as_missing(list(markers)[:_NAMED], commas=commas)
        _warn_about_converted(spoiled, "numbers", how, coding, names, selected)
    _warn_about_converted(written, "numbers", _CONVERT_NUMBERS, coding, names, selected)
    alike = n_distinct > n_samples / 2
    alike &= coding.n_levels > 1 if selected is None else selected
    alike[dates + numbers] = False
    columns = in_focus(np.flatnonzero(alike), names)
    chosen = "" if selected is None else "selected "
    if columns:
        warn(
            f"{len(columns)} {chosen}column(s) have more categories than half the number of samples: "
            f"{_listed(names[columns])}. Most of their categories occur once and will not occur again. "
            "If they are likely identifiers, drop them; if they are numbers, do not declare them "
            "categorical.",
            about_focus=True,
        )


_CONVERT_DATES = (
    "Convert them to dates, for example with pandas.to_datetime, or to categories such as month and "
    "weekday."
)
_CONVERT_NUMBERS = (
    "Convert them to numbers: remove currency signs, units and thousands separators, and use "
    "pandas.to_numeric."
)


def _read_as_missing(markers: list[str], *, commas: bool) -> str:
    options = " ".join(f"--missing {marker!r}" for marker in markers)
    decimal = " and decimal=','" if commas else ""
    return (
        f"If the other text means a missing value, read it as one: na_values={markers!r}{decimal} in "
        f"pandas.read_csv, {options} on the command line."
    )


def _warn_about_converted(
    columns: list[int],
    what: str,
    how: str,
    coding: Coding,
    names: NDArray[np.object_],
    selected: NDArray[np.bool_] | None,
) -> None:
    if not columns:
        return
    shown = []
    for column in columns[:_NAMED]:
        about = _example(coding.categories[column])
        if selected is not None:
            about += "; selected" if selected[column] else "; dropped"
        shown.append(f"{names[column]!r} ({about})")
    more = ", ..." if len(columns) > _NAMED else ""
    warn(
        f"{len(columns)} column(s) of text look like {what} and are treated as categories: "
        f"{', '.join(shown)}{more}. {how}",
        about_focus=True,
    )


def _example(values: Iterable[object]) -> str:
    """Show the values that are not numbers if all others are, or the first value."""
    others = _not_numbers(values)
    return f"all but {_listed(others)}" if others else f"e.g. {next(iter(values))!r}"


def _not_numbers(values: Iterable[object]) -> list[str]:
    """Return the values that spoil a column of plain numbers; none if it has units or the like."""
    texts = [str(value) for value in values]
    number = _COMMA_NUMBER if _has_commas(texts) else _PLAIN_NUMBER
    plain = [number.fullmatch(text) is not None for text in texts]
    others = [text for text, is_number in zip(texts, plain, strict=True) if not is_number]
    if len(texts) - len(others) >= _MIN_NUMBERS and all(map(_MISSING_MARKER.fullmatch, others)):
        return others
    return others if len(others) <= (1 - _NEARLY_ALL) * len(texts) else []


def _has_commas(texts: Iterable[str]) -> bool:
    """Whether texts have decimal commas: numbers with a comma that is not a thousands separator."""
    return any(
        _COMMA_NUMBER.fullmatch(text) and not _COMMA_THOUSANDS.fullmatch(text)
        for text in texts
        if "," in text
    )


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
            f"likely row numbers or identifiers: {_listed(found)}. They tell only how the rows are "
            "sorted. Drop them unless they measure something.",
            about_focus=True,
        )


def _listed(names: Sequence[str] | NDArray[np.object_]) -> str:
    shown = ", ".join(repr(name) for name in names[:_NAMED])
    return f"{shown}, ..." if len(names) > _NAMED else shown
