"""What the user should know about the columns of a file: notes, and errors with a remedy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from slfs.files.data_file import ColumnNote, column_names, find_column, is_sparse, some_names
from slfs.tables.dates import EPOCH

FIRST_ROWS = 20
"""Number of rows in which a header is searched."""

_SUMMED, _LEAST_ROWS = 100, 5
"""Maximum number of columns, and minimum number of rows, among which a row of totals is searched."""


def refuse_target(
    target: str, ids: Sequence[str], drop: Sequence[str], name: str, notes: Sequence[str] = ()
) -> None:
    """Raise an error if the target is also a column of ids or a column to leave out."""
    if target in ids:
        text = f"The column {target!r} of {name} is both the id and the target."
        raise ValueError(" ".join([text, "Set the column of the ids with --id.", *map(str, notes)]))
    if target in drop:
        raise ValueError(
            f"The column {target!r} of {name} is the target and cannot be dropped. Remove --drop "
            f"{target!r}, or choose another --target."
        )


def find(
    wanted: str,
    table: Any,
    name: str,
    notes: list[str],
    *,
    transposed: bool,
    second: bool = False,
    is_id: bool = False,
) -> int:
    """Find a column; the error contains what is known about the file, such as other sheets.

    ``second`` says that it is the file of --targets-from, ``is_id`` that --id names the column.
    """
    try:
        return find_column(wanted, column_names(table), name)
    except ValueError as error:
        hints = list(notes)
        unnamed = not is_sparse(table) and str(table.columns[0]).startswith("Unnamed: 0")
        if second and unnamed:
            hints.append(
                f"Its first column has no name. If it has the ids, call it {wanted!r} in the header: "
                "both files need a column of the name that --id gives."
            )
        elif second and is_id:
            hints.append(
                "Both files need a column of ids of the same name, that of --id: rename one of them."
            )
        header = "" if is_sparse(table) or transposed else header_below(wanted, table)
        if header:
            hints.append(header)
        elif not is_sparse(table) and wanted in set(table.iloc[:, 0].astype(str)):
            first = f"{wanted!r} is a value of its first column. If the samples are in columns"
            if transposed:
                hints.append(
                    "It is the name of a column of the file before rows and columns are exchanged. If "
                    "the samples are in rows, remove --transpose."
                )
            elif second:
                hints.append(
                    f"{first}, exchange its rows and columns first: the file of --targets-from needs "
                    "one row per sample, also with --transpose."
                )
            else:
                hints.append(f"{first}, add --transpose.")
        raise ValueError(" ".join([str(error), *hints])) from None


def header_below(wanted: str, table: Any) -> str:
    """Say that one of the first rows of the table seems to be its header, if it has a wanted name.

    The first row is then a title, so that most columns have no name.
    """
    names = column_names(table)
    if not any(name.startswith("Unnamed: ") for name in names[1:]):
        return ""
    for place in range(min(len(table), FIRST_ROWS)):
        row = table.iloc[place].dropna().tolist()
        if wanted in row and all(isinstance(one, str) for one in row) and len(set(row)) == len(row):
            numbers = table.attrs.get("row_numbers")
            where = f"row {numbers[place]}" if numbers else "a row below"
            return (
                f"The header seems to be in {where} ({some_names(row)}), but the first row is used as "
                "the names of the columns. Remove the rows above the header."
            )
    return ""


def note_copies(header: Sequence[str], names: Sequence[str], notes: list[str]) -> None:
    """Note names that occur twice in a header, and the names that the copies have been given."""
    twice = [name for name, count in Counter(header).items() if count > 1 and name]
    copies = [new for old, new in zip(header, names, strict=True) if old in twice and new != old]
    if copies:
        notes.append(
            f"The column name{'s' if len(twice) > 1 else ''} {some_names(twice)} occur"
            f"{'' if len(twice) > 1 else 's'} more than once. The copies are called "
            f"{some_names(copies)}."
        )


def note_totals(table: Any, notes: list[str]) -> None:
    """Note that the last row has the sums of the others, as the totals of an exported table do.

    Two columns must have them; one is enough if most of the row is empty. Sums are larger than all
    values above them, and of several that are not zero.
    """
    import numpy as np

    found = []
    kinds = zip(range(table.shape[1]), table.dtypes, strict=True)
    numbers = [index for index, kind in kinds if kind.kind in "iuf"][:_SUMMED]
    for index in numbers if len(table) >= _LEAST_ROWS else ():
        column = table.iloc[:, index].to_numpy(np.float64, na_value=np.nan)
        above, total = column[:-1][np.isfinite(column[:-1])], column[-1]
        if np.count_nonzero(above) >= _LEAST_ROWS - 1 and abs(total) > np.abs(above).max():
            with np.errstate(over="ignore"):
                found += [index] if np.isclose(total, above.sum(), rtol=1e-9, atol=0) else []
    if len(found) >= 2 or (found and table.iloc[-1].isna().mean() >= 0.5):
        names = column_names(table)
        notes.append(
            f"{some_names([names[index] for index in found])}: the last row has the sums of the other "
            "rows, so that it is likely a row of totals. It is used as a sample; remove it if it is not "
            "one."
        )


def note_index(names: list[str], notes: list[str]) -> None:
    """Note the names of the index that a dataframe had when it was written to the file."""
    if names:
        notes.append(
            f"{some_names(names)}: the index of the dataframe in the file is left out. It can be used "
            "with --id or --target."
        )


def note_types(dates: list[str], numbers: list[str], notes: list[str]) -> None:
    """Note the columns whose values are used in a way that the user may not expect."""
    if dates:
        text = f"dates and durations are used as numbers of days (of dates since {EPOCH})."
        notes.append(ColumnNote(dates, text))
    if numbers:
        text = (
            "numbers that are stored as text or categories are used as categories. In a CSV file, they "
            "would be read as numbers."
        )
        notes.append(ColumnNote(numbers, text))
