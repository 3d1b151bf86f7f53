"""JSON Lines files, one object per line <-> pandas DataFrames."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

from slfs.files.inference import TableError, infer_types
from slfs.files.marks import Marks
from slfs.files.registry import ReadOptions, register_format


def _read(content: io.BytesIO, options: ReadOptions) -> tuple[Any, Any]:
    return infer_types(_read_original(content, options), Marks(options.missing)), None


def _read_original(content: io.BytesIO, _options: ReadOptions) -> Any:
    """Read the values as Python values; keys that a line does not have are missing values."""
    import pandas as pd

    records, names = [], dict[str, None]()
    for number, line in enumerate(content, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line.decode("utf-8-sig"))
        except (ValueError, RecursionError) as error:
            raise TableError(f"line {number} is not JSON ({error})") from error
        if not isinstance(record, dict):
            kind = {list: "an array"}.get(type(record), "a single value")
            example = '{"age": 31, "class": "a"}'
            raise TableError(f"line {number} is {kind}. Each line must be an object, such as {example}")
        records.append(record)
        names.update(dict.fromkeys(record))
    if not names:
        raise TableError("it has no rows")
    rows = [[record.get(name) for name in names] for record in records]
    return pd.DataFrame(rows, columns=list(names), dtype=object)


def _write(frame: Any, path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        missing = frame.isna().to_numpy()
        names = list(map(str, frame.columns))
        for row, empty in zip(frame.itertuples(index=False, name=None), missing, strict=True):
            values = [None if lost else _plain(value) for value, lost in zip(row, empty, strict=True)]
            record = dict(zip(names, values, strict=True))
            file.write(json.dumps(record, ensure_ascii=False, default=str) + "\n")


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
