"""ARFF files of Weka -> pandas DataFrames."""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Any

from slfs.files.encodings import not_utf8
from slfs.files.inference import TableError
from slfs.files.registry import ReadOptions, register_format

_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_ATTRIBUTE = re.compile(
    rf"@attribute\s+({_QUOTED}|[^\s{{}}]+)\s+(\{{.*\}}|numeric|real|integer|string|date\b.*?)\s*(?:%.*)?",
    re.IGNORECASE,
)
_VALUES = {
    separator: re.compile(
        rf"(?:^|{separator}){blank}({_QUOTED}|[^{separator}]*?){blank}(?={separator}|$)"
    )
    for separator, blank in ((",", r"\s*"), ("\t", " *"))
}
"""A value, with the separator before it."""

_BATCH = 1000
"""Number of rows whose text is in memory at the same time."""

_COMMENT = re.compile(rf"((?>(?:{_QUOTED}|[^%]|(?<!\s)%)*))%.*")
"""A line with a comment behind its values."""

_WEIGHT = re.compile(r"\{[^{}]*\}")
"""The weight of a row, behind its values."""

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
    rows = _read_rows(lines, len(attributes))
    parts: list[Any] = []
    while (batch := list(itertools.islice(rows, _BATCH))) or not parts:
        parts.append(_convert_rows(batch, attributes))
    table = pd.concat(parts, ignore_index=True)
    return table.set_axis([name for name, _ in attributes], axis=1), None


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


def _read_rows(lines: Iterator[tuple[int, str]], n_values: int) -> Iterator[list[str | None]]:
    """Read the values of each row; those that are missing are None."""
    pattern = None
    for number, line in lines:
        if not line or line.lstrip()[:1] in ("", "%"):
            continue
        if line.lstrip().startswith("{"):
            raise TableError(f"line {number} is a sparse row, which is not supported")
        if pattern is None:
            pattern = _VALUES["\t" if "\t" in line and "," not in line else ","]
        found = _COMMENT.fullmatch(line)
        values = pattern.findall(line if found is None else found[1].rstrip())
        if len(values) == n_values + 1 and _WEIGHT.fullmatch(values[-1]):
            raise TableError(
                f"line {number} ends with a weight, {values[-1]}. Write weights as an attribute, "
                "and name it with --weights"
            )
        if len(values) != n_values:
            raise TableError(
                f"line {number} has {len(values)} values, but there are {n_values} attributes"
            )
        yield [None if value == "?" else _plain(value) for value in values]


def _convert_rows(rows: Sequence[list[str | None]], attributes: Sequence[tuple[str, str]]) -> Any:
    """Convert the text of some rows to the types that the header declares."""
    import pandas as pd

    table = pd.DataFrame(rows, columns=range(len(attributes)), dtype=object)
    columns = {}
    for column, (name, kind) in enumerate(attributes):
        try:
            columns[column] = _convert(table[column], kind)
        except TableError:
            raise
        except ValueError as error:
            raise TableError(f"a value of the attribute {name!r} has another type: {error}") from error
    return pd.DataFrame(columns)


def _convert(values: Any, kind: str) -> Any:
    """Convert the text of a column to the type that the header declares."""
    import pandas as pd

    if kind.startswith("{"):
        levels = dict.fromkeys(map(_plain, filter(None, _VALUES[","].findall(kind[1:-1]))))
        others = values[values.notna() & ~values.isin(levels)]
        if len(others):
            raise ValueError(f"{others.iloc[0]!r} is not one of {', '.join(map(repr, [*levels][:5]))}")
        return pd.Categorical(values, categories=list(levels))
    word = kind.split(maxsplit=1)[0].lower()
    if word == "string":
        return values
    if word == "date":
        form = _plain(kind[4:].strip()) or _ISO
        python_format = _python_format(form)
        try:
            return pd.to_datetime(values, format=python_format)
        except ValueError:
            raise ValueError(f"not all of its dates have the format {form!r}") from None
    return pd.to_numeric(values).astype(float)


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
