"""A dataframe -> a file, replaced atomically."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from slfs.files.atomic import replace_file
from slfs.files.registry import Format, format_of_suffix, formats

_ELSEWHERE = "Write to another folder."

PICTURES = [".png", ".svg", ".pdf"]

_OPENED_BY_SPREADSHEETS = ("csv", "tsv")

JSON_KINDS = "biuf"
"""Kinds of dtypes that JSON distinguishes from text: booleans and numbers."""

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How text begins that spreadsheets read as a formula."""

_NUMBER = r"[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?"


def write_table(frame: Any, path: Path, *, escape_formulas: bool = False) -> None:
    """Write a dataframe in the format that the suffix of the file gives.

    ``escape_formulas`` applies to CSV and TSV; see `without_formulas`.
    """
    check_output(path, table=True)
    file_format = _format(path)
    if escape_formulas and file_format.name in _OPENED_BY_SPREADSHEETS:
        frame = without_formulas(frame)
    write = file_format.write
    assert write is not None
    try:
        replace_file(path, lambda draft: write(frame, draft))
    except ImportError as error:
        raise file_format.missing_library(error) from error


def kinds_of(path: Path | None) -> str:
    """Return the kinds of dtypes that the format of a file distinguishes from text."""
    if path is None or _format(path).name in _OPENED_BY_SPREADSHEETS:
        return ""
    return JSON_KINDS if _format(path).name in ("json", "jsonl") else JSON_KINDS + "mM"


def without_formulas(frame: Any) -> Any:
    """Put a ' before text that looks like a formula, so that spreadsheets show it as text.

    Otherwise a cell such as =HYPERLINK(...) in data from an untrusted source would be executed by the
    spreadsheet program of whoever opens the file. Numbers stay numbers, also those that are text.
    """
    safe = frame.copy()
    for name in frame.select_dtypes(exclude=["number", "bool", "datetime"]).columns:
        safe[name] = frame[name].astype(object).map(_escaped)
    return safe.rename(columns=_escaped)


def _escaped(value: Any) -> Any:
    if isinstance(value, str) and value.startswith(_FORMULA) and not re.fullmatch(_NUMBER, value):
        return f"'{value}"
    return value


def check_output(
    path: Path | None,
    *outputs: Path | None,
    inputs: Sequence[Path | str] = (),
    table: bool = False,
    picture: bool = False,
) -> None:
    """Raise an error, before any work is done, if a file cannot be written or is used otherwise."""
    if path is None:
        return
    if any(_is_same(path, Path(other)) for other in inputs):
        raise ValueError(
            f"{str(path)!r} is the input and would be overwritten. Use another name for the output."
        )
    if any(other is not None and _is_same(path, other) for other in outputs):
        raise ValueError(
            f"{str(path)!r} is used for two outputs and would be overwritten. Use different file names."
        )
    if table:
        _format(path)
    if picture and path.suffix.lower() not in PICTURES:
        raise _unknown_suffix(path, PICTURES)
    if path.is_dir() or not path.parent.is_dir():
        raise ValueError(
            f"{str(path)!r} cannot be written: it is a folder, or its folder does not exist."
        )
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ValueError(f"{str(path)!r} cannot be written: permission denied. {_ELSEWHERE}")
    if not path.exists() or path.is_file():
        try:
            with tempfile.TemporaryFile(dir=path.resolve().parent):
                pass
        except OSError as error:
            raise ValueError(
                f"{str(path)!r} cannot be written: no file can be created in its folder "
                f"({error.strerror}). {_ELSEWHERE}"
            ) from error


def _is_same(path: Path, other: Path) -> bool:
    """Return whether two paths are the same file, also on file systems that ignore case."""
    path, other = path.resolve(), other.resolve()
    alike = str(path).casefold() == str(other).casefold()
    return path == other or (alike and path.exists() and other.exists() and path.samefile(other))


def _format(path: Path) -> Format:
    """Find the format to write a file in."""
    found = format_of_suffix(path)
    if found is None or found.write is None:
        writable = [one.suffixes for one in formats().values() if one.write is not None]
        raise _unknown_suffix(path, sorted(f".{suffix}" for suffixes in writable for suffix in suffixes))
    return found


def _unknown_suffix(path: Path, known: list[str]) -> ValueError:
    return ValueError(
        f"{str(path)!r} has an unknown suffix {path.suffix!r}. Use one of {', '.join(known)}."
    )
