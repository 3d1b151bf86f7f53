"""JSON Lines files, one object per line, and JSON arrays of objects <-> pandas DataFrames."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from slfs.files.encodings import as_utf8, not_utf8
from slfs.files.inference import TableError, infer_types
from slfs.files.marks import Marks
from slfs.files.registry import ReadOptions, register_format

_EXAMPLE = '{"age": 31, "class": "a"}'


def _read(content: io.BytesIO, options: ReadOptions) -> tuple[Any, Any]:
    frame = _read_original(content, options)
    return infer_types(frame, Marks(options.missing), options.text), None


def _read_original(content: io.BytesIO, options: ReadOptions) -> Any:
    """Read the values as Python values; keys that a line does not have are missing values."""
    records: list[dict[str, Any]] = []
    for number, line in enumerate(as_utf8(content), 1):
        if not line.strip():
            continue
        is_array = not records and line.lstrip(b"\xef\xbb\xbf \t").startswith(b"[")
        hint = ". If the file is one array of objects, set --format json" if is_array else ""
        try:
            record = json.loads(line.decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            raise TableError(f"line {number}: {not_utf8(line, error.start)}") from error
        except (ValueError, RecursionError) as error:
            raise TableError(f"line {number} is not JSON ({error}){hint}") from error
        records.append(_checked(record, f"line {number}", "Each line must be", hint))
    return _as_frame(records, options)


def _read_array(content: io.BytesIO, options: ReadOptions) -> tuple[Any, Any]:
    frame = _read_original_array(content, options)
    return infer_types(frame, Marks(options.missing), options.text), None


def _read_original_array(content: io.BytesIO, options: ReadOptions) -> Any:
    """Read an array of objects; many files named .json have one object per line instead."""
    text = as_utf8(content).read()
    try:
        records = json.loads(text.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise TableError(not_utf8(text, error.start)) from error
    except (ValueError, RecursionError) as error:
        if text.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
            return _read_original(io.BytesIO(text), options)
        raise TableError(f"it is not JSON ({error})") from error
    if isinstance(records, dict) and not any(isinstance(one, list | dict) for one in records.values()):
        records = [records]
    if not isinstance(records, list):
        raise TableError(f"it is not an array. It must be an array of objects, such as [{_EXAMPLE}]")
    for number, record in enumerate(records, 1):
        _checked(record, f"item {number} of the array", "Each item must be")
    return _as_frame(records, options)


def _checked(record: Any, where: str, must: str, hint: str = "") -> dict[str, Any]:
    """Return a record; raise an error if it is not an object."""
    if isinstance(record, dict):
        return record
    kind = {list: "an array"}.get(type(record), "a single value")
    raise TableError(f"{where} is {kind}. {must} an object, such as {_EXAMPLE}{hint}")


def _as_frame(records: list[dict[str, Any]], options: ReadOptions) -> Any:
    import pandas as pd

    names = dict.fromkeys(name for record in records for name in record)
    if not names and not (options.allow_empty and not records):
        raise TableError("it has no rows")
    rows = [[record.get(name) for name in names] for record in records]
    return pd.DataFrame(rows, columns=list(names), dtype=object)


def _write(frame: Any, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in _lines(frame))


def _write_array(frame: Any, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for number, line in enumerate(_lines(frame)):
            file.write(f"{',' if number else '['}\n{line}")
        file.write("\n]\n" if len(frame) else "[]\n")


def _lines(frame: Any) -> Iterator[str]:
    """Yield one JSON object per row."""
    missing = frame.isna().to_numpy()
    names = list(map(str, frame.columns))
    for row, empty in zip(frame.itertuples(index=False, name=None), missing, strict=True):
        values = [None if lost else _plain(value) for value, lost in zip(row, empty, strict=True)]
        yield json.dumps(dict(zip(names, values, strict=True)), ensure_ascii=False, default=str)


def _plain(value: Any) -> Any:
    """Convert a value of NumPy to one of Python."""
    return value.item() if hasattr(value, "item") else value


register_format(
    "jsonl",
    ["jsonl", "ndjson"],
    _read,
    read_original=_read_original,
    write=_write,
    requirement="slfs[cli]",
)
register_format(
    "json",
    ["json"],
    _read_array,
    read_original=_read_original_array,
    write=_write_array,
    requirement="slfs[cli]",
)
