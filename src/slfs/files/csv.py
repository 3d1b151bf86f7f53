"""CSV and TSV files <-> pandas DataFrames."""

from __future__ import annotations

import functools
import io
import re
import warnings
from pathlib import Path
from typing import IO, Any

from slfs.files.registry import ReadOptions, register_format

_SEPARATORS = ",;\t|"
_COMMA_NUMBER = r"\s*[+-]?(\d+(,\d*)?|,\d+)([eE][+-]?\d+)?\s*"
_THOUSANDS = r"\s*[+-]?\d{1,3}(,\d{3})*\s*"


def _read(content: io.BytesIO, options: ReadOptions, separator: str | None = None) -> tuple[Any, Any]:
    import pandas as pd

    separator = separator or _guess_separator(content)
    arguments: dict[str, Any] = {
        "sep": separator,
        "na_values": list(options.missing),
        "encoding": "utf-8-sig",
        "low_memory": False,
        "dtype": dict.fromkeys(options.text, str),
    }
    if _rows_end_with(content, separator):
        arguments["index_col"] = False  # pandas would take the first column as row names
    with warnings.catch_warnings():
        # pandas warns that what follows the last separator is lost: it is empty
        warnings.simplefilter("ignore", pd.errors.ParserWarning)
        table = pd.read_csv(content, **arguments)
        if separator != "," and _has_decimal_commas(table.drop(columns=options.text, errors="ignore")):
            content.seek(0)
            table = pd.read_csv(content, decimal=",", **arguments)
    if table.shape[1] == 0 or len(table) == 0:
        raise ValueError("it has no rows")
    return table, None


def _guess_separator(content: IO[bytes]) -> str:
    """Take the separator that occurs most often in the header, outside quotes."""
    header = content.readline().decode("utf-8-sig", "replace")
    content.seek(0)
    return max(_SEPARATORS, key=re.sub(r'"[^"]*"', "", header).count)


def _rows_end_with(content: IO[bytes], separator: str) -> bool:
    """Return whether the rows end with a separator, but the header does not."""
    header, *rows = [content.readline().rstrip(b"\r\n") for _ in range(20)]
    content.seek(0)
    ends = [row.endswith(separator.encode()) for row in rows if row]
    return bool(ends) and all(ends) and not header.endswith(separator.encode())


def _has_decimal_commas(table: Any) -> bool:
    """Return whether a text column has numbers such as 3,14, and no column has numbers such as 3.14."""
    found = False
    for name in table.columns:
        column = table[name]
        if column.dtype.kind == "f" and (column.dropna() % 1 != 0).any():
            return False
        if column.dtype.kind not in "biuf":
            present = column.dropna().astype(str)
            numbers = present.str.fullmatch(_COMMA_NUMBER).all()
            found |= bool(numbers and not present.str.fullmatch(_THOUSANDS).all())
    return found


def _write(frame: Any, path: Path, separator: str = ",") -> None:
    frame.to_csv(path, index=False, sep=separator)


register_format("csv", ["csv", "txt"], _read, write=_write, requirement="slfs[cli]")
register_format(
    "tsv",
    ["tsv", "tab"],
    functools.partial(_read, separator="\t"),
    write=functools.partial(_write, separator="\t"),
    requirement="slfs[cli]",
)
