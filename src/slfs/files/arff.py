"""ARFF files of Weka -> pandas DataFrames.

The rows are written as CSV, which pandas reads quickly; then columns get the types that the header
declares.
"""

from __future__ import annotations

import csv
import functools
import io
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from slfs.files.encodings import not_utf8
from slfs.files.inference import TableError, exact_integers, large_float_columns
from slfs.files.registry import ReadOptions, register_format

_QUOTED = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\")"""
_LEVEL = rf"\s*(?:{_QUOTED}\s*(?=[,}}])|[^,}}]*)"
_ATTRIBUTE = re.compile(
    rf"@attribute\s+({_QUOTED}|[^\s{{}}]+)\s+"
    rf"(\{{(?>{_LEVEL}(?:,{_LEVEL})*)\}}|numeric|real|integer|string|date\b.*?)\s*(?:%.*)?",
    re.IGNORECASE,
)
_VALUES = {
    separator: re.compile(
        rf"{blank}({_QUOTED}|(?:[^{separator}%]|(?<!\s)%)*?){blank}(?:{separator}|($|(?<=\s)%))"
    )
    for separator, blank in ((",", r"\s*"), ("\t", " *"))
}
"""A value and the separator after it; the last one is followed by the end of the line or a comment."""

_SPECIAL = re.compile(r"""['"%{]|nan""", re.IGNORECASE)
"""Lines without a match have plain values only."""

_MISSING = "\ue000"
"""Stands for a missing value in CSV."""

_WEIGHT = re.compile(r"\{[^{}]*\}")
"""The weight of a row, behind its values."""

_NAMED, _LONGEST = 5, 60
"""Maximum number of categories, and of characters of a value, in a message."""

_NUMBERS = ("numeric", "real", "integer")

_INTEGER = r"[+-]?\d+"

_JAVA = {
    "yyyy": "%Y", "yy": "%y", "MM": "%m", "M": "%m", "dd": "%d", "d": "%d", "HH": "%H", "H": "%H",
    "mm": "%M", "m": "%M", "ss": "%S", "s": "%S", "SSS": "%f", "MMM": "%b", "MMMM": "%B",
    "EEE": "%a", "EEEE": "%A", "a": "%p", "hh": "%I", "h": "%I", "Z": "%z", "XXX": "%z",
}  # fmt: skip
"""Parts of a date in the notation of Java, and in that of Python."""

_JAVA_PART = re.compile(r"'([^']*)'|(([A-Za-z])\3*)")

_ISO = "yyyy-MM-dd'T'HH:mm:ss"
"""Format of dates if the header has none."""


def _read(content: io.BytesIO, _options: ReadOptions) -> tuple[Any, Any]:
    import pandas as pd

    try:
        text = content.getvalue().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TableError(not_utf8(content.getvalue(), error.start)) from error
    lines = enumerate(map(str.rstrip, io.StringIO(text, newline=None)), 1)
    attributes = _read_header(lines)
    rows, numbers = io.StringIO(newline=""), []
    writer = csv.writer(rows, lineterminator="\n")
    writer.writerow(range(len(attributes)))  # names of the columns
    are_numbers = [_word(kind) in _NUMBERS for _, kind in attributes]
    for number, values in _read_rows(lines, are_numbers):
        writer.writerow(values)
        numbers.append(number)
    table = _read_csv(rows, {j: str for j, is_number in enumerate(are_numbers) if not is_number})
    columns = {}
    for j, (name, kind) in enumerate(attributes):
        converted, invalid, expected = _convert(table[j], kind)
        if invalid.any():
            first = int(invalid.argmax())
            raise TableError(
                f"line {numbers[first]} has {str(table[j][first])[:_LONGEST]!r} for the attribute "
                f"{name!r}, which is not {expected}"
            )
        columns[j] = converted
    return pd.DataFrame(columns).set_axis([name for name, _ in attributes], axis=1), None


def _read_csv(rows: io.StringIO, kinds: dict[int, type]) -> Any:
    """Read CSV with numbers as names of columns; integers that pandas would round are exact."""
    import pandas as pd

    rows.seek(0)
    read = functools.partial(
        pd.read_csv, rows, na_values=[_MISSING], keep_default_na=False, skip_blank_lines=False
    )
    table = read(dtype=kinds, low_memory=False)
    table = table.set_axis(range(table.shape[1]), axis=1)
    if large := large_float_columns(table):
        rows.seek(0)
        texts = read(dtype=str, usecols=large).set_axis(large, axis=1)
        for j in large:
            if texts[j].dropna().str.fullmatch(_INTEGER).all():
                table.isetitem(j, exact_integers(texts[j]))
    return table


def _read_header(lines: Iterator[tuple[int, str]]) -> list[tuple[str, str]]:
    """Return the name and the type of each attribute; the first line that is not ARFF is an error."""
    attributes: list[tuple[str, str]] = []
    for number, text in lines:
        line = text.strip()
        word = line.split(maxsplit=1)[0].lower() if line else ""
        if not line or line.startswith("%") or word == "@relation":
            continue
        where = f"line {number} of its header, {line[:60]!r},"
        if word == "@data":
            if not attributes:
                raise TableError(f"{where} comes before any @attribute")
            return attributes
        if word != "@attribute":
            raise TableError(f"{where} is not @relation, @attribute or @data")
        found = _ATTRIBUTE.fullmatch(line)
        if found is None:
            raise TableError(
                f"{where} is not '@attribute NAME TYPE', with the type numeric, real, integer, string, "
                "date or {a,b}"
            )
        attributes.append((_plain(found[1]), found[2]))
    raise TableError("its header has no line @data")


def _read_rows(
    lines: Iterator[tuple[int, str]], are_numbers: Sequence[bool]
) -> Iterator[tuple[int, list[str]]]:
    """Read the number of each line with values, and the values as text."""
    separator, n_values = "", len(are_numbers)
    for number, line in lines:
        start = line.lstrip()[:1]
        if start in ("", "%"):
            continue
        if start == "{":
            raise TableError(f"line {number} is a sparse row, which is not supported")
        separator = separator or ("\t" if "\t" in line and "," not in line else ",")
        is_plain = _SPECIAL.search(line) is None
        values = list(map(str.strip, line.split(separator))) if is_plain else _split(line, separator)
        if len(values) == n_values + 1 and _WEIGHT.fullmatch(values[-1]):
            raise TableError(
                f"line {number} ends with a weight, {values[-1]}. Write weights as an attribute, "
                "and name it with --weights"
            )
        if len(values) != n_values:
            raise TableError(
                f"line {number} has {len(values)} values, but there are {n_values} attributes"
            )
        values = [_MISSING if value in ("?", "") else value for value in values]
        if not is_plain:
            values = [
                _MISSING if is_number and value.lower() == "nan" else _plain(value)
                for value, is_number in zip(values, are_numbers, strict=True)
            ]
        yield number, values


def _split(line: str, separator: str) -> list[str]:
    """Divide a line into values, with their quotation marks, and leave out a comment behind them."""
    values, position, end = [], 0, None
    while end is None:
        found = _VALUES[separator].match(line, position)
        if found is None:
            break
        values.append(found[1])
        position, end = found.end(), found[2]
    return values


def _convert(column: Any, kind: str) -> tuple[Any, Any, str]:
    """Convert a column to the type that the header declares.

    Also return which values are invalid, and what valid ones are.
    """
    import pandas as pd

    if kind.startswith("{"):
        levels = dict.fromkeys(map(_plain, filter(None, _split(kind[1:-1], ","))))
        named = ", ".join(map(repr, [*levels][:_NAMED]))
        invalid = column.notna() & ~column.isin(levels)
        return pd.Categorical(column.mask(invalid), [*levels]), invalid, f"one of {named}"
    if _word(kind) == "date":
        form = _plain(kind[4:].strip()) or _ISO
        python_format = _python_format(form)
        zoned = "%z" in python_format
        dates = pd.to_datetime(column, format=python_format, errors="coerce", utc=zoned)
        invalid = column.notna() & dates.isna()
        return dates.dt.tz_localize(None) if zoned else dates, invalid, f"a date like {form!r}"
    if _word(kind) == "string" or column.dtype.kind in "iuf":
        return column, np.zeros(len(column), bool), ""
    texts = column.astype(str).where(column.notna())  # pandas has found other values, or large integers
    numbers = pd.to_numeric(texts, errors="coerce")
    if texts.dropna().str.fullmatch(_INTEGER).all():
        numbers = exact_integers(texts)
    return numbers, texts.notna() & numbers.isna(), "a number"


def _word(kind: str) -> str:
    """Return the first word of a type: "date" has a format behind it."""
    return kind.split(maxsplit=1)[0].lower()


def _python_format(form: str) -> str:
    """Convert the format of dates in the notation of Java to that of Python."""

    def convert(part: re.Match[str]) -> str:
        if part[2] is None:
            return (part[1] or "'").replace("%", "%%")
        if part[2] not in _JAVA:
            raise TableError(
                f"the format of dates {form!r} has {part[2]!r}, which is not supported. Declare the "
                "attribute as string, or write the dates as 2020-12-31"
            )
        return _JAVA[part[2]]

    return _JAVA_PART.sub(convert, form)


def _plain(text: str) -> str:
    """Remove blanks around a value, or its quotation marks and escapes."""
    text = text.strip()
    quoted = len(text) > 1 and text[0] in ("'", '"') and text[0] == text[-1]
    return re.sub(r"\\(.)", r"\1", text[1:-1]) if quoted else text


register_format("arff", ["arff"], _read, requirement="slfs[cli]")
