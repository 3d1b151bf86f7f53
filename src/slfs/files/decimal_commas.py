"""Columns of a CSV file -> whether their numbers have decimal commas, and thousands separators."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

_DOTTED = r"[1-9]\d{0,2}(?:\.\d{3})+"
_COMMA_NUMBER = rf"\s*[+-]?(?:(?:{_DOTTED}|\d+)(?:,\d*)?|,\d+)(?:[eE][+-]?\d+)?\s*"
_COMMA_THOUSANDS = r"\s*[+-]?(?:[1-9]\d{0,2}(?:,\d{3})+|\d{1,3})\s*"
_DOT_THOUSANDS = rf"\s*[+-]?(?:{_DOTTED}|\d{{1,3}})(?:,\d*)?\s*"

_FEW_DOTTED = 5
"""Minimum number of distinct numbers with three digits behind a dot that are not so by chance."""

_FIRST_ROWS = 20
"""Number of rows that are looked at before the others."""

_WORDS = 3
"""Maximum number of different texts without digits in a column of numbers."""


def comma_columns(table: Any, text: Collection[str] = ()) -> list[int]:
    """Return the indices of the text columns of numbers such as 3,14 or 1.234,5.

    They may have a few words, such as marks of missing values, in less than half of the rows. A column
    of which all commas may be thousands separators, such as 1,234 (but not 0,234), is not one of them.
    Neither are columns named in ``text``.
    """
    found = []
    for index, _ in _text_columns(table, text):
        present = table.iloc[:, index].dropna().astype(str)
        has_digits = present.str.contains(r"\d")
        numbers, words = present[has_digits], present[~has_digits]
        if (
            len(words) < len(present) / 2
            and words.nunique() <= _WORDS
            and numbers.str.contains(",", regex=False).any()
            and numbers.str.fullmatch(_COMMA_NUMBER).all()
            and not numbers.str.fullmatch(_COMMA_THOUSANDS).all()
        ):
            found.append(index)
    return found


def has_decimal_points(texts: Any) -> bool:
    """Return whether a column has dots that are not thousands separators, as in 0.5 or 2.13.

    In 2.134 the dot may be one, but not if other numbers of the column, such as 1200, have none.
    """
    present = texts.dropna()
    dotted = present.str.contains(".", regex=False)
    return bool(dotted.any()) and not present.str.fullmatch(_DOT_THOUSANDS).all()


def may_have_thousands(table: Any) -> list[int]:
    """Find columns of numbers that were read with decimal points but may have thousands separators.

    Some of their numbers have decimals, at most three, others none, and none is below 1. Their text
    decides.
    """
    floats = np.flatnonzero([kind.kind == "f" for kind in table.dtypes])
    first = table.iloc[:_FIRST_ROWS, floats].to_numpy(float)  # rules out most columns of a wide table
    likely = floats[_are_short(first).all(axis=0)].tolist()
    found = []
    for column in likely:
        values = table.iloc[:, column].to_numpy(float)
        if _are_short(values).all() and (values % 1 > 0).any() and (values % 1 == 0).any():
            found.append(column)
    return found


def _are_short(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which values are missing, 0, or from 1 to 1000 with at most three decimals."""
    size = np.abs(values)
    near = np.where(size < 1000, size, 0.5)  # a number that is not short
    short: NDArray[np.bool_] = near % 1 == 0
    short |= (near >= 1) & ((near * 1000).round(6) % 1 == 0)
    return short | np.isnan(size)


def first_dotted(texts: Any) -> str:
    """Return the first number with a dot if all of them have three digits behind it, and others none."""
    present = texts.dropna()
    dotted = present[present.str.contains(".", regex=False)]
    if dotted.nunique() < _FEW_DOTTED or len(dotted) == len(present):
        return ""
    return str(dotted.iloc[0]).strip() if present.str.fullmatch(_DOT_THOUSANDS).all() else ""


def read_thousands(
    table: Any, text: Collection[str] = (), *, expected: bool = False
) -> tuple[Any, dict[str, str]]:
    """Convert text columns with thousands separators, such as 1.234 or 12.345.678,9, to numbers.

    Columns that also contain words stay text, but their numbers are written with decimal points, as the
    functions that look for numbers in text expect. If decimal commas are ``expected``, as in the file of
    a model, each number is converted, whatever else the column contains.

    Also returns an example for each column of numbers that could as well have decimal points.
    """
    import pandas as pd

    ambiguous = {}
    for index, name in _text_columns(table, text):
        column = table.iloc[:, index]
        present = column.dropna().astype(str)
        dotted = present[present.str.contains(".", regex=False)]
        if len(dotted) and present.str.fullmatch(_DOT_THOUSANDS).all():
            table.isetitem(index, pd.to_numeric(_with_points(present)).reindex(column.index))
            if not present.str.contains(",", regex=False).any() and dotted.str.count(r"\.").max() == 1:
                ambiguous[str(name)] = dotted.iloc[0].strip()
            continue
        numbers = present[present.str.contains(r"\d")]
        fits = numbers.str.fullmatch(_COMMA_NUMBER)
        if expected or (fits.all() and numbers.str.contains(",", regex=False).any()):
            table.isetitem(index, _with_points(numbers[fits]).reindex(column.index).fillna(column))
    return table, ambiguous


def _text_columns(table: Any, text: Collection[str]) -> list[tuple[int, Any]]:
    """Return index and name of the columns that do not hold numbers, except those in ``text``."""
    kinds = zip(table.columns, table.dtypes, strict=True)
    return [
        (index, name)
        for index, (name, kind) in enumerate(kinds)
        if kind.kind not in "biuf" and name not in text
    ]


def _with_points(texts: Any) -> Any:
    """Write numbers such as 1.234,5 as 1234.5."""
    return texts.str.replace(".", "", regex=False).str.replace(",", ".", regex=False)
