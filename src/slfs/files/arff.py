"""ARFF files of Weka -> pandas DataFrames."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from typing import Any

from slfs.files.inference import TableError
from slfs.files.registry import ReadOptions, register_format

_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_ATTRIBUTE = re.compile(
    rf"@attribute\s+({_QUOTED}|[^\s{{}}]+)\s+(\{{.*\}}|numeric|real|integer|string|date\b.*?)\s*(?:%.*)?",
    re.IGNORECASE,
)
_VALUE = re.compile(rf"\s*({_QUOTED}|[^,]*?)\s*(?:,|$)")
_QUOTATION = re.compile(r'(?:^|,)\s*"', re.MULTILINE)
_JAVA = {"yyyy": "%Y", "yy": "%y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S", "'": ""}
"""Parts of a date in the notation of Java, and in that of Python."""

_ISO = "yyyy-MM-dd'T'HH:mm:ss"
"""Format of dates if the header has none."""


def _read(content: io.BytesIO, _options: ReadOptions) -> tuple[Any, Any]:
    import pandas as pd

    lines = enumerate(content.getvalue().decode("utf-8-sig").splitlines(), 1)
    attributes = _read_header(lines)
    rows = list(_read_rows(lines, len(attributes)))
    table = pd.DataFrame(rows, columns=range(len(attributes)), dtype=object)
    for column, (name, kind) in enumerate(attributes):
        try:
            table[column] = _convert(table[column], kind)
        except ValueError as error:
            raise TableError(f"a value of the attribute {name!r} has another type: {error}") from error
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
    numbered = [(number, line) for number, line in lines if line.strip() and line.lstrip()[0] != "%"]
    mark = '"' if _QUOTATION.search("\n".join(line for _, line in numbered[:1000])) else "'"
    texts = (line for _, line in numbered)
    reader = csv.reader(texts, quotechar=mark, escapechar="\\", skipinitialspace=True)
    for row in reader:
        number, line = numbered[reader.line_num - 1]
        if line.lstrip().startswith("{"):
            raise TableError(f"line {number} is a sparse row, which is not supported")
        if len(row) != n_values:
            raise TableError(f"line {number} has {len(row)} values, but there are {n_values} attributes")
        values = map(str.strip, row)
        yield [None if value == "?" else value for value in values]


def _convert(values: Any, kind: str) -> Any:
    """Convert the text of a column to the type that the header declares."""
    import pandas as pd

    if kind.startswith("{"):
        levels = dict.fromkeys(_plain(value) for value in _VALUE.findall(kind[1:-1]) if value)
        others = values[values.notna() & ~values.isin(levels)]
        if len(others):
            raise ValueError(f"{others.iloc[0]!r} is not one of {', '.join(map(repr, [*levels][:5]))}")
        return pd.Categorical(values, categories=list(levels))
    word = kind.split(maxsplit=1)[0].lower()
    if word == "string":
        return values
    if word == "date":
        form = _plain(kind[4:].strip()) or _ISO
        for java, python in _JAVA.items():
            form = form.replace(java, python)
        return pd.to_datetime(values, format=form)
    return pd.to_numeric(values).astype(float)


def _plain(text: str) -> str:
    """Remove blanks, quotation marks and escapes."""
    text = text.strip()
    return re.sub(r"\\(.)", r"\1", text[1:-1]).strip() if text[:1] in ("'", '"') else text


register_format("arff", ["arff"], _read, requirement="slfs[cli]")
