"""Columns of text or of Python values -> columns of numbers, booleans, dates or text. Needs pandas."""

from __future__ import annotations

import math
from collections.abc import Collection, Container
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

_ISO = r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}([.,]\d+)?)?(Z|[+-]\d{2}(:?\d{2})?)?)?"
_NUMBER = r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*"

MISSING = {
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
    *("<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
    *("#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!"),
}
"""Text that means a missing value: what pandas.read_csv accepts, and the error values of Excel."""


class TableError(ValueError):
    """The content of a file is readable, but it is not a table that can be used."""


def unnamed_columns(width: int, like: tuple[int, int | None] | None, notes: list[str]) -> list[str]:
    """Name the columns of a file without header column_1, column_2, ...

    ``like`` is the number of columns of an earlier file, and the index of its target. A file without
    the target has the same names for the other columns, and a note.
    """
    names = [f"column_{number}" for number in range(1, width + 1)]
    if like is None or width == like[0]:
        return names
    expected, target = like
    if target is None or width != expected - 1:
        or_less = (
            "" if target is None else f" or {expected - 1}, without the target (column_{target + 1})"
        )
        raise TableError(
            f"it has {width} columns without names, but the model was fitted to a file with {expected} "
            "columns, so they cannot be matched. Pass a file with the same columns in the same order: "
            f"{expected}{or_less}"
        )
    names = [f"column_{number}" for number in range(1, expected + 1)]
    note = (
        f"The file has {width} columns, one fewer than that of fit: the target, {names.pop(target)!r}, "
        "is taken to be the one that is left out, and the others are numbered as in fit."
    )
    if note not in notes:  # a file may be parsed twice
        notes.append(note)
    return names


def parse_dates(frame: Any, text: Collection[str] = ()) -> Any:
    """Convert text columns to dates if all their values are ISO 8601 dates or timestamps.

    Columns named in ``text`` stay as they are. Time zones are converted to UTC.
    """
    import pandas as pd

    for index, name in _other_columns(frame):
        column = frame.iloc[:, index]
        if name in text or not _is_text(column):
            continue
        present = column.dropna()
        if present.empty or not _all_match(present, _ISO):
            continue
        dates = pd.to_datetime(column, format="ISO8601", errors="coerce", utc=True)
        if dates.notna().sum() == len(present):  # 2020-02-31 looks like a date but is not one
            frame = _with_column(frame, index, dates.dt.tz_localize(None))
    return frame


def infer_types(frame: Any, missing: Container[Any] = (), text: Collection[str] = ()) -> Any:
    """Give columns of Python values the types that the same values have in a CSV file.

    Text that means a missing value becomes one, as do all values in ``missing``. Columns that mix text
    with other values, and those named in ``text``, become text.
    """
    import pandas as pd

    columns = []
    for index, name in enumerate(frame.columns):
        values = frame.iloc[:, index].astype(object)
        gone = [(isinstance(v, str) and v in MISSING) or v in missing for v in values]
        values = values.mask(np.array(gone, bool), None)
        present = values.dropna()
        texts = sum(isinstance(value, str) for value in present)
        if name in text or 0 < texts < len(present):
            values = values.map(str, na_action="ignore")
        elif texts == 0 and all(isinstance(v, Real) and not isinstance(v, bool) for v in present):
            numbers = pd.to_numeric(values)
            integers = all(isinstance(value, Integral) for value in present)
            values = (
                exact_integers(values)
                if integers and large_float_columns(numbers.to_frame())
                else numbers
            )
        else:
            values = values.infer_objects()
        columns.append(values)
    table = pd.concat(columns, axis=1) if columns else frame
    table.columns = frame.columns
    return parse_dates(table, text)


def large_float_columns(frame: Any) -> list[int]:
    """Return the indices of the columns of floats that may be rounded integers."""
    floats = np.flatnonzero([kind.kind == "f" for kind in frame.dtypes])
    size = np.abs(frame.iloc[:, floats].to_numpy(np.float64, na_value=np.nan))
    found: list[int] = floats[((size >= 2.0**53) & (size < math.inf)).any(axis=0)].tolist()
    return found


def exact_integers(column: Any) -> Any:
    """Convert a column of integers, or of their text, and missing values to a type with all digits."""
    import pandas as pd

    missing = column.isna()
    values = [None if gone else int(value) for value, gone in zip(column, missing, strict=True)]
    integers = [value for value in values if value is not None]
    for kind, low, high in (("Int64", -(2**63), 2**63), ("UInt64", 0, 2**64)):
        if all(low <= value < high for value in integers):
            data = np.array([value or 0 for value in values], kind.lower())
            return pd.Series(pd.arrays.IntegerArray(data, missing.to_numpy()), column.index)
    return pd.Series(values, column.index, dtype=object)


def number_texts(frame: Any) -> list[str]:
    """Return the names of the columns of text or categories that a CSV file would hold as numbers."""
    found = []
    for index, name in _other_columns(frame):
        column = frame.iloc[:, index]
        if hasattr(column, "cat"):
            column = column.cat.categories.to_series()
            if column.dtype.kind in "iuf":
                found.append(str(name))
                continue
        if _holds_numbers(column):
            found.append(str(name))
    return found


def _holds_numbers(column: Any) -> bool:
    """Return whether all values of a column of text are numbers, and not codes such as 02139."""
    present = column.dropna()
    is_text = len(present) > 0 and _is_text(column)
    return is_text and _all_match(present, _NUMBER) and not are_codes(present)


def are_codes(texts: Any) -> bool:
    """Return whether texts are integers with leading zeros, such as 02139, which stay text."""
    texts = texts.astype(object).map(str)
    has_zeros = bool(texts.str.fullmatch(r"\s*[+-]?0\d+\s*").any())
    return has_zeros and bool(texts.str.fullmatch(r"\s*[+-]?\d+\s*").all())


def date_columns(frame: Any) -> list[str]:
    """Return the names of the columns that hold dates or times."""
    kinds = zip(frame.columns, frame.dtypes, strict=True)
    return [str(name) for name, kind in kinds if kind.kind in "mM"]


def spoiled_columns(frame: Any, rows: NDArray[np.int64]) -> list[int]:
    """Return the indices of the columns of text that may have another type without the other rows.

    Others than ``rows`` have values there, such as units or the word total.
    """
    found, others = [], np.setdiff1d(np.arange(len(frame)), rows)
    for index, _ in _other_columns(frame):
        column = frame.iloc[:, index]
        if not _is_text(column) or not column.iloc[others].notna().any():
            continue
        first = str(column.iloc[rows].dropna().head(1).squeeze())
        has_digits = any(map(str.isdigit, first))
        if has_digits or first.lower() in ("true", "false") or column.iloc[rows].isna().all():
            found.append(index)
    return found


def _other_columns(frame: Any) -> list[tuple[int, Any]]:
    """Return index and name of the columns that do not hold numbers, booleans or dates."""
    kinds = zip(frame.columns, frame.dtypes, strict=True)
    return [(index, name) for index, (name, kind) in enumerate(kinds) if kind.kind not in "biufmM"]


def _is_text(column: Any) -> bool:
    """Return whether a column holds text: by its type, or by its first value that is not missing."""
    from pandas.api.types import is_string_dtype

    if hasattr(column, "cat"):
        return False
    first = column.first_valid_index()
    return bool(is_string_dtype(column.dtype)) or isinstance(
        None if first is None else column.loc[first], str
    )


def _all_match(present: Any, pattern: str) -> bool:
    """Return whether all values match; the first one is tried alone, because most columns fail there."""
    import pandas as pd

    first = pd.Series([present.iloc[0]], dtype=object)
    return all(
        bool(part.astype(object).map(str).str.fullmatch(pattern).all()) for part in (first, present)
    )


def _with_column(frame: Any, index: int, column: Any) -> Any:
    """Replace a column by its position, since names need not be unique."""
    frame = frame.copy(deep=False)
    frame.isetitem(index, column)
    return frame
