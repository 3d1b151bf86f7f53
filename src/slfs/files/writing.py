"""A dataframe -> a file, whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from slfs.files.atomic import replace_file

PICTURES = [".png", ".svg", ".pdf"]

_WRITERS: dict[str, Callable[[Any, Path], Any]] = {
    ".csv": lambda frame, path: frame.to_csv(path, index=False),
    ".tsv": lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
    ".parquet": lambda frame, path: frame.to_parquet(path, index=False),
    ".arrow": lambda frame, path: frame.to_feather(path),
    ".feather": lambda frame, path: frame.to_feather(path),
}


_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What spreadsheets take for the beginning of a formula."""


def write_table(frame: Any, path: Path, *, escape_formulas: bool = False) -> None:
    """Write a dataframe in the format that the name of the file tells.

    ``escape_formulas`` concerns CSV and TSV; see `without_formulas`.
    """
    check_output(path, table=True)
    if escape_formulas and path.suffix.lower() in (".csv", ".tsv"):
        frame = without_formulas(frame)
    try:
        replace_file(path, lambda draft: _WRITERS[path.suffix.lower()](frame, draft))
    except ImportError as error:
        raise ImportError(f"Writing {path} needs pyarrow: pip install 'slfs[parquet]'") from error


def without_formulas(frame: Any) -> Any:
    """A dataframe that a spreadsheet shows as it is: text that looks like a formula begins with '.

    A cell such as =HYPERLINK(...) that somebody has put into the data would otherwise be run by the
    spreadsheet of whoever opens the file. Numbers stay numbers.
    """
    safe = frame.copy()
    for name in frame.select_dtypes(exclude=["number", "bool", "datetime"]).columns:
        safe[name] = frame[name].astype(object).map(_escaped)
    return safe.rename(columns=_escaped)


def _escaped(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def check_output(
    path: Path | None, *taken: Path | str | None, table: bool = False, picture: bool = False
) -> None:
    """Refuse a file that cannot be written, or is ``taken``, before any work is done."""
    if path is None:
        return
    if any(other is not None and path.resolve() == Path(other).resolve() for other in taken):
        raise ValueError(
            f"{str(path)!r} is named twice: it would be overwritten. Give each file a name of its own."
        )
    endings = list(_WRITERS) if table else PICTURES if picture else None
    if endings is not None and path.suffix.lower() not in endings:
        raise ValueError(
            f"{str(path)!r} has an ending that is not known. Give a name that ends in "
            f"{', '.join(endings)}."
        )
    if path.is_dir() or not path.parent.is_dir():
        raise ValueError(f"{str(path)!r} cannot be written: it is a folder, or is in none.")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ValueError(f"{str(path)!r} cannot be written: there is no permission to.")
