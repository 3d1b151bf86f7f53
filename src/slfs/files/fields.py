"""The text of a table -> how many fields its rows have, and what the user should know about it."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slfs.files.inference import TableError

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]

_PIECE = 1 << 24
"""Number of bytes that are read at a time."""

_QUOTE, _LINE_END = ord('"'), ord("\n")


def check_fields(content: io.BytesIO, separator: str, header: list[str] | None, table: Any) -> list[str]:
    """Compare the fields of the rows with the columns of the table that a parser has made of them.

    Returns notes about rows with fewer fields than the table has columns, and about rows that have one
    more than the header, as those of files that R has written. Raises an error if other rows have more:
    pandas would shift all columns, and use the surplus fields as an index.

    Where the parser has found another number of rows, because quotation marks are part of the text, rows
    cannot be distinguished here, and only the index is examined.
    """
    import pandas as pd

    has_row_names = not isinstance(table.index, pd.RangeIndex)
    if table.shape[1] + has_row_names < 2:
        return []
    lines, counts = (part[header is not None :] for part in _count_fields(content, separator))
    width = table.shape[1] + has_row_names
    known = len(counts) == len(table)
    notes = []
    if header is not None and has_row_names:
        several = isinstance(table.index, pd.MultiIndex) or not table.index.is_unique
        if several or (known and (counts != width).any()):
            raise TableError(_without_names(header, counts, lines))
        notes.append(
            "The rows have one field more than the header. The first field, which differs in all rows, "
            "is left out as row names."
        )
    few = np.flatnonzero(counts < width)
    if known and len(few):
        what = "1 row has" if len(few) == 1 else f"{len(few)} rows have"
        ends_there = len(few) == 1 and few[0] == len(counts) - 1 and not _ends_with_line(content)
        cut = " The file may have been cut off there." if ends_there else ""
        notes.append(
            f"{what} fewer than {width} fields: line {lines[few[0]]} has {counts[few[0]]}. The fields "
            f"that are not there are read as missing values.{cut} Check that the values of these rows "
            "are in the right columns."
        )
    return notes


def _without_names(header: list[str], counts: Ints, lines: Ints) -> str:
    """Say that rows have more fields than the header has names."""
    names = f"{len(header)} name{'s' if len(header) > 1 else ''}"
    shown = f"{', '.join(map(repr, header[:3]))}{', ...' if len(header) > 3 else ''}"
    more = np.flatnonzero(counts > len(header))
    if not len(more):  # quotation marks are part of the text
        return f"its header has {names} ({shown}), but its rows have more fields. Add the missing names"
    found = f"its header has {names} ({shown}), but line {lines[more[0]]} has {counts[more[0]]} fields"
    if 2 * len(more) < len(counts):
        return f"{found}. Fix the row, for example by putting text with separators into quotation marks"
    return f"{found}. Add the missing names to the header, or remove the lines above the header"


def _count_fields(content: io.BytesIO, separator: str) -> tuple[Ints, Ints]:
    """Return the line in which each row begins, and its number of fields; blank rows are left out."""
    text = np.frombuffer(content.getbuffer(), np.uint8)
    ends, before, n_separators = [], [], 0  # line ends, and the number of separators before each
    for first, piece in _unquoted(text):
        ends.append(np.flatnonzero(piece == _LINE_END))
        separators = np.flatnonzero(piece == ord(separator))
        before.append(n_separators + np.searchsorted(separators, ends[-1]))
        ends[-1] += first
        n_separators += len(separators)
    if not _ends_with_line(content):
        ends.append(np.array([len(text)]))
        before.append(np.array([n_separators]))
    end, total = np.concatenate(ends), np.concatenate(before)
    counts = total - np.append(0, total[:-1]) + 1
    begin = np.concatenate([[0], end[:-1] + 1])
    full = counts > 1
    for row in np.flatnonzero(~full).tolist():
        full[row] = bool(text[begin[row] : end[row]].tobytes().strip())
    line_ends = np.flatnonzero(text == _LINE_END)
    lines = np.searchsorted(line_ends, begin[full]) + 1
    return lines, counts[full]


def _unquoted(text: Bytes) -> Iterator[tuple[int, Bytes]]:
    """Yield pieces of a text and where they begin; what is between quotation marks is zero."""
    inside = False
    for begin in range(0, len(text), _PIECE):
        piece = text[begin : begin + _PIECE]
        quotes = piece == _QUOTE
        if quotes.any() or inside:
            quoted = np.bitwise_xor.accumulate(quotes) ^ inside
            inside = bool(quoted[-1])
            piece = np.where(quoted, 0, piece)
        yield begin, piece


def _ends_with_line(content: io.BytesIO) -> bool:
    return bytes(content.getbuffer()[-1:]) == b"\n"
