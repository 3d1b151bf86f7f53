"""Columns whose values look like something else -> warnings that say what to do with them."""

from __future__ import annotations

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
    has_decimal_comma,
    has_decimal_commas,
    is_number,
    is_written_number,
    look_like_numbers,
    not_numbers,
    not_plain,
    partly_numbers,
    pitfalls,
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
_TIME = re.compile(r"\s*\d{1,2}:\d{2}(?P<seconds>:\d{2})?(?P<half>\s*[AaPp][Mm])?\s*")
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
    fractions = _has_fractions(coding)
    commas = {column: not fractions or _mostly_commas(text[column]) for column in text}
    numbers, spoiled, written = [], [], []
    for column, values in text.items():
        if column in dates or column in times or has_codes(values):
            continue
        if n_distinct[column] > MANY:
            if not look_like_numbers(values) and not not_numbers(values, commas=commas[column]):
                continue
            numbers.append(column)
        if not_numbers(values, commas=commas[column]):
            spoiled.append(column)
        elif n_distinct[column] > MANY:
            written.append(column)
    if selected is not None:  # those that matter are named first
        for columns in (dates, times, spoiled, written):
            columns.sort(key=lambda column: not selected[column])
    _warn_about_converted(dates, "dates", _CONVERT_DATES, text, names, selected)
    _warn_about_converted(times, "times", _convert_times(times, text), text, names, selected)
    others = {column: not_numbers(text[column], commas=commas[column]) for column in spoiled}
    how = _read_as_missing(others, text, commas=any(commas[column] for column in spoiled))
    _warn_about_converted(spoiled, "numbers", how, text, names, selected, others)
    how = _convert_numbers(written, text, commas=any(commas[column] for column in written))
    _warn_about_converted(written, "numbers", how, text, names, selected)
    alike = n_distinct > n_samples / 2
    alike &= coding.n_levels > 1 if selected is None else selected
    alike[numbers if selected is not None else dates + times + numbers] = False
    columns = in_focus(np.flatnonzero(alike), names)
    if columns:
        chosen = "" if selected is None else "selected "
        warn(
            f"{len(columns)} {chosen}column(s) have more categories than half the number of samples: "
            f"{_listed(names[columns])}. Most of their categories occur once and will not occur again. "
            f"If they are likely identifiers, drop them{_unless_identifiers(columns, text, names)}.",
            about_focus=True,
        )


def _unless_identifiers(
    columns: list[int], text: Mapping[int, list[object]], names: NDArray[np.object_]
) -> str:
    """Say what to do with columns of many categories that are numbers, by why they are categories."""
    advice = ""
    declared = [column for column in columns if column not in text]
    if declared:
        which = "" if len(declared) == len(columns) else f" ({_listed(names[declared])})"
        advice += f"; if they are numbers, do not declare them categorical{which}"
    others = {column: partly_numbers(text[column]) for column in columns if column in text}
    mixed = [column for column, found in others.items() if found]
    if mixed:
        shown = ", ".join(f"{names[j]!r} (all but {_listed(others[j])})" for j in mixed[:_NAMED])
        advice += (
            f"; if they are numbers, as most values of {shown} are, replace or remove the other text, "
            "currency signs, units and thousands separators, and use pandas.to_numeric"
        )
    return advice


_CONVERT_DATES = (
    "Convert them to dates, for example with pandas.to_datetime (errors='coerce' makes missing values "
    "of other text), or to categories such as month and weekday."
)


def _convert_times(columns: list[int], text: Mapping[int, list[object]]) -> str:
    """Say how to convert times to hours; pandas wants seconds, and reads 24:10:00 as a duration only."""
    texts = [str(value) for column in columns for value in text[column]]
    matches = list(filter(None, map(_TIME.fullmatch, texts)))
    seconds = {match["seconds"] is not None for match in matches}
    if len(seconds) > 1 or any(match["half"] for match in matches):
        code = "pandas.to_datetime(column, format='mixed').dt.hour"
    else:
        more = "" if seconds == {True} else " + ':00'"
        code = f"pandas.to_timedelta(column{more}).dt.total_seconds() / 3600"
    return f"Convert them to numbers, for example to hours: {code}."


def _has_fractions(coding: Coding) -> bool:
    """Whether a column has numbers with fractions, which were not written with decimal commas."""
    ends = np.concatenate([coding.columns[name][coding.cut] for name in ("low", "high")])
    return bool((ends[np.isfinite(ends)] % 1 != 0).any())


def _mostly_commas(values: list[object]) -> bool:
    """Whether at least half of the values of a column have a comma."""
    return sum("," in str(value) for value in values) >= len(values) / 2


def _convert_numbers(columns: list[int], text: Mapping[int, list[object]], *, commas: bool) -> str:
    """Say how to convert text to numbers; ``commas``: all numbers may have decimal commas."""
    texts = [str(value) for column in columns for value in text[column]]
    removed = "remove currency signs, units and thousands separators, "
    then = removed if not_plain(texts) else ""
    if has_decimal_commas(texts):
        thousands = ", thousands='.'" if any("." in value for value in texts) else ""
        reading = f" (decimal=','{thousands} in pandas.read_csv)" if commas else ""
        then += f"replace decimal commas by decimal points{reading}, "
    elif any(map(has_decimal_comma, texts)):
        then += "replace decimal commas by decimal points, "
    noted = dict.fromkeys(
        itertools.chain.from_iterable(pitfalls(list(map(str, text[column]))) for column in columns)
    )
    mind = f" Mind that {'; '.join(noted)}." if noted else ""
    others = list(dict.fromkeys(value for value in texts if not is_written_number(value)))
    coerced = (
        f"(column, errors='coerce'), which makes missing values of other text such as {others[0]!r}"
        if others
        else ""
    )
    option = remedy("categorical_features", "--categorical")
    return (
        f"If they are quantities, convert them to numbers: {then}{'and ' if then else ''}use "
        f"pandas.to_numeric{coerced}.{mind} If they are codes, {option} avoids this warning."
    )


def _read_as_missing(
    others: Mapping[int, list[str]], text: Mapping[int, list[object]], *, commas: bool
) -> str:
    """Say how to read the text that spoils columns of numbers as missing values."""
    markers = list(dict.fromkeys(itertools.chain(*others.values())))[:_NAMED]
    options = " ".join(f"--missing {marker!r}" for marker in markers)
    commas = commas and any(has_decimal_commas(map(str, text[column])) for column in others)
    decimal = " and decimal=','" if commas else ""
    objects = any(map(is_number, itertools.chain(*(text[column] for column in others))))
    excel = " or pandas.read_excel, or pandas.to_numeric(column, errors='coerce')" if objects else ""
    how = remedy(f"na_values={markers!r}{decimal} in pandas.read_csv{excel}", options)
    return f"If the other text means a missing value, read it as one: {how}."


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
    first = next(filter(is_written_number, texts), texts[0])
    return f"all but {_listed(others)}" if others else f"e.g. {first!r}"


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
