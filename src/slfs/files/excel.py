"""Excel files (.xlsx) <-> pandas DataFrames. Needs openpyxl."""

from __future__ import annotations

import contextlib
import datetime
import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from slfs.files.data_file import some_names
from slfs.files.inference import TableError, infer_types, unnamed_columns
from slfs.files.limits import old_excel_remark, refuse_beyond
from slfs.files.marks import Marks
from slfs.files.registry import ReadOptions, register_format
from slfs.files.remarks import FIRST_ROWS, note_copies

_MAX_ROWS, _MAX_COLUMNS = 1_048_576, 16_384


def _read(content: io.BytesIO, options: ReadOptions) -> tuple[Any, Any]:
    frame, numbers = _read_cells(content, options)
    table = infer_types(frame, Marks(options.missing), options.text)
    table.attrs["row_numbers"] = numbers[:FIRST_ROWS]
    return table, None


def _read_original(content: io.BytesIO, options: ReadOptions) -> Any:
    return _read_cells(content, options)[0]


def _read_cells(content: io.BytesIO, options: ReadOptions) -> tuple[Any, list[int]]:
    """Read the values of the cells as Python values, and the numbers of the rows, which may have gaps.

    Of formulas, read the values that Excel has stored.
    """
    import openpyxl
    import pandas as pd

    if remark := old_excel_remark(content):
        raise TableError(f"it {remark}")
    with zipfile.ZipFile(content) as archive:
        refuse_beyond(sum(member.file_size for member in archive.infolist()), "the decompressed file")
    book = openpyxl.load_workbook(content, read_only=True, data_only=True)
    try:
        sheet = _sheet(book, options)
        rows = list(_rows(sheet))
    finally:
        book.close()
    numbers = [number for number, row in enumerate(rows, 1) if any(cell is not None for cell in row)]
    rows = [rows[number - 1] for number in numbers]
    width = max((_width(row) for row in rows), default=0)
    rows = [(row + [None] * width)[:width] for row in rows]
    if options.header and rows:
        header = ["" if cell is None else str(cell) for cell in rows[0]]
        names = list(_unique(rows.pop(0)))
        numbers.pop(0)
        note_copies(header, names, options.notes)
    else:
        names = unnamed_columns(width, options.like, options.notes)
    if not rows and not (options.allow_empty and names):
        others = [name for name in book.sheetnames if name != sheet.title]
        hint = f". Its other sheets are {', '.join(map(repr, others))}: use --sheet" if others else ""
        raise TableError(f"the sheet {sheet.title!r} has no rows{hint}")
    return pd.DataFrame(rows, columns=names, dtype=object), numbers


def _sheet(book: Any, options: ReadOptions) -> Any:
    """Find the sheet that the options ask for, by default the first one."""
    names = book.sheetnames
    if options.sheet is None and options.sheet_with and len(names) > 1:
        return book[_sheet_with(book, options)]
    if options.sheet is None:
        if len(names) > 1:
            options.notes.append(
                f"The sheet {names[0]!r} is read, the first of {len(names)}. Use --sheet to read "
                f"another: {', '.join(map(repr, names[1:]))}."
            )
        return book[names[0]]
    if options.sheet not in names:
        raise TableError(
            f"it has no sheet {options.sheet!r}. Its sheets are {', '.join(map(repr, names))}"
        )
    return book[options.sheet]


def _sheet_with(book: Any, options: ReadOptions) -> str:
    """Return the name of the only sheet that has one of the columns."""
    names = book.sheetnames
    found = [name for name in names if not set(_header(book[name])).isdisjoint(options.sheet_with)]
    columns = some_names(options.sheet_with)
    if len(found) > 1:
        raise TableError(
            f"{len(found)} of its sheets have a column {columns}: {', '.join(map(repr, found))}. Save "
            "the one to use as a file of its own, for example as CSV"
        )
    if not found:
        raise TableError(
            f"none of its sheets ({', '.join(map(repr, names))}) has a column {columns} in its first "
            "row. Check the name of the column"
        )
    options.notes.append(f"The sheet {found[0]!r} is read, the only one with a column {columns}.")
    return str(found[0])


def _header(sheet: Any) -> list[str]:
    """Return the names of the columns: the first row that is not empty."""
    return list(
        _unique(next((row for row in _rows(sheet) if any(cell is not None for cell in row)), []))
    )


def _rows(sheet: Any) -> Iterator[list[Any]]:
    """Return the values of each row; the size that some programs write to the file is wrong."""
    sheet.reset_dimensions()
    return map(list, sheet.iter_rows(values_only=True))


def _width(row: list[Any]) -> int:
    """Return the number of cells up to the last one that is not empty."""
    return max((index + 1 for index, cell in enumerate(row) if cell is not None), default=0)


def _unique(header: list[Any]) -> Iterator[str]:
    """Name columns as pandas does in CSV files: 'Unnamed: 0' without a name, 'a.1' for a second 'a'."""
    plain = [f"Unnamed: {index}" if cell is None else str(cell) for index, cell in enumerate(header)]
    taken, seen = set(plain), set[str]()
    for name in plain:
        new, count = name, 0
        while new in (taken if count else seen):
            count += 1
            new = f"{name}.{count}"
        taken.add(new)
        seen.add(new)
        yield new


def _write(frame: Any, path: Path) -> None:
    import openpyxl

    if len(frame) >= _MAX_ROWS or frame.shape[1] > _MAX_COLUMNS:
        raise ValueError(
            f"An Excel sheet holds at most {_MAX_ROWS} rows and {_MAX_COLUMNS} columns. Got a table of "
            f"shape {frame.shape}: write .csv or .parquet instead."
        )
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("Sheet1")
    try:
        _fill(sheet, frame)
        content = io.BytesIO()
        book.save(content)
    except OSError:  # openpyxl writes sheets to temporary files, and would print a second error later
        with contextlib.suppress(Exception):
            sheet.close()
        raise
    path.write_bytes(content.getbuffer())


def _fill(sheet: Any, frame: Any) -> None:
    """Write names and values of a dataframe to a sheet."""
    from openpyxl.cell import WriteOnlyCell

    missing = frame.isna().to_numpy()
    rows = zip(frame.itertuples(index=False, name=None), missing, strict=True)
    for row in ([str(name) for name in frame.columns], *(_cells(row, empty) for row, empty in rows)):
        cells = []
        for value in row:
            cell = WriteOnlyCell(sheet, value)
            if isinstance(value, str):
                cell.data_type = "s"  # text such as =1+1 would become a formula
            cells.append(cell)
        sheet.append(cells)


def _cells(row: tuple[Any, ...], missing: Any) -> list[Any]:
    """Convert the values of a row to types that openpyxl can write."""
    found: list[Any] = []
    for value, empty in zip(row, missing, strict=True):
        plain = None if empty else value.item() if hasattr(value, "item") else value
        if isinstance(plain, datetime.datetime) and plain.tzinfo is not None:
            plain = plain.astimezone(datetime.UTC).replace(tzinfo=None)
        known = isinstance(plain, str | int | float | datetime.date | datetime.timedelta | None)
        rounded = isinstance(plain, int) and abs(plain) > 2**53  # Excel holds floats
        found.append(plain if known and not rounded else str(plain))
    return found


register_format(
    "excel",
    ["xlsx", "xlsm"],
    _read,
    read_original=_read_original,
    write=_write,
    requirement="slfs[excel]",
)
