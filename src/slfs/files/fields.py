"""The text of a table -> how many fields its rows have, and what the user should know about it."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from slfs.files.inference import TableError

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]

_PIECE = 1 << 24
"""Number of bytes that are read at a time."""

_ROW_NAMES = (
    "The rows have one field more than the header. The first field, which differs in all rows, is left "
    "out as row names. To use it with --id or --targets-from, give it a name in the header."
)

_QUOTE, _LINE_END, _BYTE_ORDER_MARK = ord('"'), ord("\n"), 0xBF
"""Bytes; the last one of the byte order mark."""


def check_fields(
    content: io.BytesIO,
    separator: str,
    header: list[str] | None,
    table: Any,
    *,
    transposed: bool = False,
) -> list[str]:
    """Compare the fields of the rows with the columns of the table that a parser has made of them.

    Returns notes about rows with fewer fields than the table has columns, and about rows that have one
    more than the header, as those of files that R has written. Raises an error if other rows have more:
    pandas would shift all columns and use the surplus fields as an index, or lose the last ones. Rows of
    a table that is to be ``transposed`` have names, which need no note.

    Where quotation marks are part of the text, rows cannot be distinguished here, and only the index is
    examined.
    """
    import pandas as pd

    has_row_names = not isinstance(table.index, pd.RangeIndex)
    width = table.shape[1] + has_row_names
    if width < 2:
        return []
    rows = _read_rows(content, separator, skip=header is not None)
    if rows is None or len(rows.counts) != len(table):
        rows = _NO_ROWS
    notes = []
    if header is not None and has_row_names:
        several = isinstance(table.index, pd.MultiIndex)
        several = several or not (transposed or table.index.is_unique)
        if several or (rows.counts != width).any():
            raise TableError(_without_names(header, rows))
        notes += [_ROW_NAMES] * (not transposed)
    lost = rows.with_surplus(width, ord(separator))
    if len(lost):
        raise TableError(_surplus(rows, int(lost[0]), f"the table has {width} columns"))
    few = np.flatnonzero(rows.counts < width)
    if len(few):
        what = "1 row has" if len(few) == 1 else f"{len(few)} rows have"
        at_end = len(few) == 1 and few[0] == len(rows.counts) - 1 and not _ends_with_line(content)
        cut = " The file may have been cut off there." if at_end else ""
        first = int(few[0])
        notes.append(
            f"{what} fewer than {width} fields: line {rows.line(first)} has {rows.counts[first]}. The "
            f"fields that are not there are read as missing values.{cut} Check that the values of these "
            "rows are in the right columns."
        )
    return notes


class _Rows(NamedTuple):
    """Where the rows of a text begin and end, and how many fields they have; no blank rows."""

    text: Bytes
    begin: Ints
    end: Ints
    counts: Ints

    def line(self, row: int) -> int:
        """Return the number of the line in which a row begins."""
        return int(np.count_nonzero(self.text[: self.begin[row]] == _LINE_END)) + 1

    def with_surplus(self, width: int, separator: int) -> Ints:
        """Return the rows with more fields than columns, unless those at the end are empty."""
        found = np.flatnonzero(self.counts > width)
        last = self.end[found] - 1
        last -= self.text[last] == ord("\r")
        full = np.zeros(len(found), np.bool_)
        for back in range(int(self.counts.max(initial=width)) - width):
            counted = self.counts[found] - width > back
            full |= counted & (self.text[last - back] != separator)
        return found[full]


_NO_ROWS = _Rows(np.empty(0, np.uint8), *np.zeros((3, 0), np.int64))


def _without_names(header: list[str], rows: _Rows) -> str:
    """Say that rows have more fields than the header has names."""
    names = f"{len(header)} name{'s' if len(header) > 1 else ''}"
    shown = f"{', '.join(map(repr, header[:3]))}{', ...' if len(header) > 3 else ''}"
    its = f"its header has {names} ({shown})"
    more = np.flatnonzero(rows.counts > len(header))
    if not len(more):  # quotation marks are part of the text
        return f"{its}, but its rows have more fields. Add the missing names"
    if 2 * len(more) < len(rows.counts):
        return _surplus(rows, int(more[0]), its)
    line, count = rows.line(int(more[0])), rows.counts[more[0]]
    return (
        f"{its}, but line {line} has {count} fields. Add the missing names to the header, or remove the "
        "lines above the header"
    )


def _surplus(rows: _Rows, row: int, its: str) -> str:
    return (
        f"{its}, but line {rows.line(row)} has {rows.counts[row]} fields. Fix the row, for example by "
        "putting text with separators into quotation marks"
    )


def _read_rows(content: io.BytesIO, separator: str, *, skip: bool) -> _Rows | None:
    """Find the rows, without the first one if that is to be skipped; None if that is not possible."""
    text = np.frombuffer(content.getbuffer(), np.uint8)
    ends, before, n_separators = [], [], 0  # line ends, and the number of separators before each
    for first, piece in _unquoted(text, ord(separator)):
        if piece is None:
            return None
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
    begin = np.append(0, end[:-1] + 1)
    full = counts > 1
    for row in np.flatnonzero(~full).tolist():
        full[row] = bool(text[begin[row] : end[row]].tobytes().strip())
    return _Rows(text, *(part[full][int(skip) :] for part in (begin, end, counts)))


def _unquoted(text: Bytes, separator: int) -> Iterator[tuple[int, Bytes | None]]:
    """Yield pieces of a text and where they begin; what is between quotation marks is zero.

    A mark that begins a quotation must follow a separator, the end of a line or another mark. If one
    does not, it is part of the text, and the piece is None.
    """
    inside = False
    for begin in range(0, len(text), _PIECE):
        piece = text[begin : begin + _PIECE]
        quotes = piece == _QUOTE
        if quotes.any() or inside:
            quoted = np.bitwise_xor.accumulate(quotes) ^ inside
            inside = bool(quoted[-1])
            opening = begin + np.flatnonzero(quotes & quoted)
            opening = opening[opening > 0]
            if not np.isin(text[opening - 1], (separator, _LINE_END, _QUOTE, _BYTE_ORDER_MARK)).all():
                yield begin, None
                return
            piece = np.where(quoted, 0, piece)
        yield begin, piece


def _ends_with_line(content: io.BytesIO) -> bool:
    return bytes(content.getbuffer()[-1:]) == b"\n"
