"""CSV and TSV files <-> pandas DataFrames."""

from __future__ import annotations

import csv
import functools
import io
import itertools
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np

from slfs.files.data_file import ColumnNote, HeaderNote, some_names
from slfs.files.decimal_commas import (
    comma_columns,
    first_dotted,
    has_decimal_points,
    may_have_thousands,
    read_thousands,
)
from slfs.files.encodings import as_utf8, not_utf8
from slfs.files.fields import check_fields
from slfs.files.inference import (
    TableError,
    are_codes,
    exact_integers,
    large_float_columns,
    parse_dates,
    unnamed_columns,
)
from slfs.files.registry import ReadOptions, register_format
from slfs.files.remarks import note_copies

_ROWS_TO_COMPARE, _FIRST_ROWS = 20, 100

_MANY_COLUMNS = 1000

_NUMBER_NAME = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")

_EQUAL_STEPS = 3
"""Number of equal steps from which numbers in a header are years, wavelengths or the like."""

_LONGEST_FIELD = 2**31 - 1
"""The largest limit that Python's csv module accepts on all systems."""


def _read(content: io.BytesIO, options: ReadOptions, separator: str | None = None) -> tuple[Any, Any]:
    content = as_utf8(content)
    found = separator or _guess_separator(content, options)
    style = {} if separator else {"separator": found}
    separator = found
    types = dict.fromkeys(options.text, str)
    arguments: dict[str, Any] = {"na_values": _marks(options), "dtype": types}
    table = _parse(content, options, separator, arguments)
    options.notes.extend(_check_fields(content, separator, table, options))
    if separator != ",":
        commas = _read_decimal_commas(table, content, options, separator, arguments)
        if commas is not None:
            table, style["decimal"] = commas, ","
    if table.shape[1] == 1:
        _note_blanks(content, options)
    if options.header:
        _note_header(content, separator, table, options)
    _note_dots(table, content, options, separator)
    table = _restore_leading_zeros(table, content, options, separator)
    table = _restore_large_integers(table, content, options, separator)
    table = parse_dates(table, options.text)
    table.attrs |= style
    return table, None


def _marks(options: ReadOptions) -> list[str]:
    """Return the marks of missing values, also with spaces: some files have them after commas."""
    return [text for mark in options.missing for text in (mark, f" {mark}", f"{mark} ", f" {mark} ")]


def _read_original(content: io.BytesIO, options: ReadOptions, separator: str | None = None) -> Any:
    """Read fields as text, unchanged."""
    content = as_utf8(content)
    found = separator or _guess_separator(content, options)
    table = _parse(content, options, found, {"dtype": str, "na_filter": False})
    if options.transposed:
        options.notes.extend(_check_fields(content, found, table, options))
        header = _first_rows(content, found)[:1] if options.header else []
        if header and len(header[0]) == table.shape[1]:  # pandas has renamed samples that occur twice
            table.columns = [own or new for own, new in zip(header[0], table.columns, strict=True)]
    if separator is None:
        table.attrs["separator"] = found  # a CSV file that is written from it has the same
    return table


def _check_fields(content: io.BytesIO, separator: str, table: Any, options: ReadOptions) -> list[str]:
    rows = _first_rows(content, separator)[:1] if options.header else []
    header = rows[0] if rows else None
    return check_fields(content, separator, header, table, transposed=options.transposed)


def _refuse_comment(content: IO[bytes]) -> None:
    """Raise an error if the first line is a comment above the header, as in tables of QIIME."""
    content.seek(0)
    first, second = (content.readline().decode("utf-8-sig", "replace") for _ in range(2))
    content.seek(0)
    try:
        with _fields_of_any_length():
            fields = [
                tuple(len(next(csv.reader([line], delimiter=separator), [])) for line in (first, second))
                for separator in ",;\t|"
            ]
    except csv.Error:  # a text of several lines
        return
    if re.fullmatch(r"#1\.[23]", first.strip()):
        raise TableError(
            "it is a GCT file. Remove its first two lines, the version and the size of the table, for "
            "example with: tail -n +3, and add --transpose --drop Description"
        )
    # R's headers have one name fewer
    is_header = any(own > 1 and own in (other, other - 1) for own, other in fields)
    shorter = any(own <= max(other - 2, 1) < other for own, other in fields)
    if first.lstrip('"').startswith("#") and shorter and not is_header:
        raise TableError(
            f"its first line, {first.strip()[:60]!r}, looks like a comment above the header. Remove it, "
            "for example with: tail -n +2"
        )


def _parse(content: io.BytesIO, options: ReadOptions, separator: str, arguments: Any) -> Any:
    """Read the file with pandas; columns of a file without header are called column_1, column_2, ..."""
    import pandas as pd

    check_line_ends(content)
    _refuse_comment(content)
    arguments = {"sep": separator, "encoding": "utf-8-sig", "low_memory": False, **arguments}
    rows = _first_rows(content, separator)
    if not options.header:
        arguments["header"] = None
        width = max(map(len, rows), default=0)
        arguments["names"] = unnamed_columns(width, options.like, options.notes)
        arguments["index_col"] = False
    elif _rows_end_with(content, separator):
        arguments["index_col"] = False  # pandas would take the first column as row names
    if options.columns is not None and len({len(row) for row in rows}) == 1:  # no row names
        arguments["usecols"] = list(options.columns)
    if rows and all(len(row) == 1 for row in rows):
        arguments["skip_blank_lines"] = not _first_line(content).strip()  # a blank field is missing
    content.seek(0)
    with warnings.catch_warnings():
        # pandas warns that what follows the last separator is lost: it is empty
        warnings.simplefilter("ignore", pd.errors.ParserWarning)
        try:
            table = pd.read_csv(content, **arguments)
        except UnicodeDecodeError as error:
            raise TableError(not_utf8(content.getvalue(), error.start)) from error
        except pd.errors.EmptyDataError:
            raise TableError("it has no columns and no rows") from None
        except pd.errors.ParserError as error:
            if "source failed" in str(error):  # pandas makes it of a KeyboardInterrupt
                raise KeyboardInterrupt from error
            raise TableError(_parser_message(str(error))) from error
    content.seek(0)
    if table.shape[1] > _MANY_COLUMNS:
        table = table.copy()  # one array per type instead of one per column, which makes it faster
    surplus = options.header and len(rows) > 1 and len(rows[1]) > len(rows[0])
    if surplus and "index_col" not in arguments and table.index.nlevels == 1:
        table.index = table.index.map(str)  # row names, also if they are 1, 2, ...
    if table.shape[1] == 0 or (len(table) == 0 and not options.allow_empty):
        raise TableError("it has a header, but no rows")
    return table


def _parser_message(text: str) -> str:
    """Say in which line pandas has found too many fields, and what to do."""
    found = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", text)
    if found is None:
        return text.strip().rstrip(".")
    expected, line, seen = found.groups()
    tail, quote = f"tail -n +{line}", "putting text with separators into quotation marks"
    what = f"Fix it, for example by {quote}. If the lines above it are no rows, remove them: {tail}"
    if int(expected) == 1:  # as in lines with a title
        what = (
            f"If they are not part of the table, remove them, for example with: {tail}. Otherwise fix "
            f"the line, for example by {quote}"
        )
    return f"line {line} has {seen} fields, but the lines above it have {expected}. {what}"


def check_line_ends(content: IO[bytes]) -> None:
    """Raise an error if there is a carriage return inside one of the first lines: it would end a row.

    Files whose rows end with carriage returns only have a single line.
    """
    content.seek(0)
    lines = [line.rstrip(b"\r\n") for line in itertools.islice(content, _ROWS_TO_COMPARE)]
    content.seek(0)
    for number, line in enumerate(lines if any(lines[1:]) else [], 1):
        if line.count(b'"') % 2:  # a text of several lines begins
            return
        if b"\r" in re.sub(rb'"[^"]*"', b"", line):
            raise TableError(
                f"there is a carriage return (\\r) inside line {number}, so that a row would end there. "
                "Remove it, for example with: tr -d '\\r'"
            )


def _guess_separator(content: IO[bytes], options: ReadOptions) -> str:
    """Take the separator that occurs most often in the header, outside quotes.

    Of several, those that give all rows as many fields as the header come first: names of columns may
    contain others.
    """
    header = _header_text(content)
    separators = ";\t|," if options.decimal == "," else ",;\t|"  # of one column, it is the first
    counts = {one: re.sub(r'"[^"]*"', "", header).count(one) for one in separators}
    found = [one for one in separators if counts[one]]
    fitting = [one for one in found if len(found) > 1 and _fits(_first_rows(content, one))]
    return max(fitting or separators, key=lambda one: counts[one])


def _first_line(content: IO[bytes]) -> str:
    content.seek(0)
    line = content.readline().decode("utf-8-sig", "replace")
    content.seek(0)
    return line


def _header_text(content: IO[bytes]) -> str:
    """Return the first line, and those below it that belong to a name in quotation marks."""
    content.seek(0)
    header = b""
    for line in itertools.islice(content, _ROWS_TO_COMPARE):
        header += line
        if header.count(b'"') % 2 == 0:
            break
    else:  # a quotation mark of its own
        header = header.partition(b"\n")[0]
    content.seek(0)
    return header.decode("utf-8-sig", "replace")


def _fits(rows: list[list[str]]) -> bool:
    """Return whether all rows have as many fields as the header, or one more, the name of the row."""
    numbers = set(map(len, rows[1:]))
    return len(numbers) == 1 and numbers.pop() - len(rows[0]) in (0, 1)


def _first_rows(content: IO[bytes], separator: str) -> list[list[str]]:
    """Return the fields of the first rows, without empty rows; no rows if they cannot be split."""
    content.seek(0)
    lines = (line.decode("utf-8-sig", "replace") for line in content)
    try:
        with _fields_of_any_length():
            rows = (
                row
                for row in csv.reader(lines, delimiter=separator)
                if len(row) > 1 or any(map(str.strip, row))
            )
            return list(itertools.islice(rows, _ROWS_TO_COMPARE))
    except csv.Error:
        return []
    finally:
        content.seek(0)


@contextmanager
def _fields_of_any_length() -> Iterator[None]:
    """Let Python's csv module split lines of any length: with another separator, a line is one field."""
    limit = csv.field_size_limit(_LONGEST_FIELD)
    try:
        yield
    finally:
        csv.field_size_limit(limit)


def _rows_end_with(content: IO[bytes], separator: str) -> bool:
    """Return whether the rows end with a separator, but the header does not."""
    header, *rows = [content.readline().rstrip(b"\r\n") for _ in range(20)]
    content.seek(0)
    ends = [row.endswith(separator.encode()) for row in rows if row]
    return bool(ends) and all(ends) and not header.endswith(separator.encode())


def _note_dots(table: Any, content: io.BytesIO, options: ReadOptions, separator: str) -> None:
    """Note columns of numbers such as 2.520 and 168, whose dots may separate thousands."""
    found = [] if options.decimal == "," else may_have_thousands(table)
    if not found:
        return
    arguments = {"dtype": str, "na_values": _marks(options)}
    first = _parse(
        content, replace(options, columns=found), separator, {**arguments, "nrows": _FIRST_ROWS}
    )
    found = [i for i in found if not has_decimal_points(first[table.columns[i]])]
    if not found:
        return
    texts = _parse(content, replace(options, columns=found), separator, arguments)
    examples = {str(table.columns[i]): first_dotted(texts[table.columns[i]]) for i in found}
    names = [name for name, example in examples.items() if example]
    if names:
        example = examples[names[0]]
        remark = (
            f"all numbers with a dot have three digits behind it, such as {example}, and all others are "
            f"below 1000. They are read with decimal points. If the dots separate thousands ({example} "
            f"is {example.replace('.', '')}), remove them from the file."
        )
        options.notes.append(ColumnNote(names, remark))


def _restore_leading_zeros(table: Any, content: io.BytesIO, options: ReadOptions, separator: str) -> Any:
    """Replace columns of codes such as 02139, which pandas has read as numbers, by their text.

    A quick search in the bytes comes first: few files have such fields.
    """
    numbers = [index for index, kind in enumerate(table.dtypes) if kind.kind in "iuf"]
    begins = (separator.encode(), b"\n", b'"')
    end = rb'0\d+["\s' + re.escape(separator.encode()) + rb"]"
    if not numbers or not any(
        re.search(re.escape(begin) + end, content.getbuffer()) for begin in begins
    ):
        return table
    arguments = {"dtype": str, "na_values": _marks(options)}
    texts = _parse(content, replace(options, columns=numbers), separator, arguments)
    for index in numbers:
        column = texts[table.columns[index]]
        if are_codes(column.dropna()):
            table.isetitem(index, column)
    return table


def _restore_large_integers(
    table: Any, content: io.BytesIO, options: ReadOptions, separator: str
) -> Any:
    """Replace large integers that pandas has rounded to floats, because values are missing."""
    large = large_float_columns(table)
    if not large:
        return table
    arguments = {"dtype": str, "na_values": _marks(options)}
    texts = _parse(content, replace(options, columns=large), separator, arguments)
    for index in large:
        column = texts[table.columns[index]]
        if column.dropna().str.fullmatch(r"\s*[+-]?\d+\s*").all():
            table.isetitem(index, exact_integers(column))
    return table


def _read_decimal_commas(
    table: Any, content: io.BytesIO, options: ReadOptions, separator: str, arguments: dict[str, Any]
) -> Any:
    """Read the file again if it has numbers such as 3,14, and no column has numbers such as 3.14.

    The same if ``options`` say that such a file is expected. Otherwise, return None.
    """
    commas = comma_columns(table, options.text)
    if not commas and options.decimal != ",":
        return None
    floats = [index for index, kind in enumerate(table.dtypes) if kind.kind == "f"]
    texts = table
    if floats:
        as_text = {**arguments, "dtype": str}
        texts = _parse(content, replace(options, columns=floats), separator, as_text)
    for name in table.columns[floats]:
        if has_decimal_points(texts[name]):
            example = texts[name][texts[name].str.contains(".", regex=False, na=False)].iloc[0]
            if not commas:
                options.notes.append(
                    f"{str(name)!r} has decimal points, such as {example!r}, but the file of fit had "
                    "decimal commas. All dots are read as decimal points."
                )
                return None
            first = table.iloc[:, commas[0]].dropna().astype(str)
            comma = first[first.str.contains(",", regex=False)].iloc[0]
            options.notes.append(
                f"{some_names([str(table.columns[index]) for index in commas])}: numbers with commas, "
                f"such as {comma!r}, are read as text, because {str(name)!r} has decimal points, such "
                f"as {example!r}. Use the same decimal separator in all columns."
            )
            return None
    table = _parse(content, options, separator, {"decimal": ",", **arguments})
    table, ambiguous = read_thousands(table, options.text, expected=options.decimal == ",")
    if ambiguous:
        name, example = next(iter(ambiguous.items()))
        why = "because other columns have decimal commas" if commas else "as in the file of fit"
        remark = (
            f"dots are read as thousands separators ({example} is {example.replace('.', '')}), {why}. "
            "If they are decimal points, replace them by commas."
        )
        note = ColumnNote(list(ambiguous), remark)
        like_fit = bool(commas) and options.decimal in (None, ",")
        options.notes.append(note if like_fit else str(note))  # notes about columns are not for predict
    return table


def _note_blanks(content: IO[bytes], options: ReadOptions) -> None:
    """Note that the fields of a table with a single column may be separated by blanks."""
    numbers = {len(row[0].split()) for row in _first_rows(content, "\n")}
    if len(numbers) == 1 and numbers != {1}:
        options.notes.append(
            f"The file has a single column, but {numbers.pop()} words in each row. Separate its fields "
            "by , ; tab or |, for example with: awk '{$1=$1} 1' OFS=,"
        )


def _note_header(content: IO[bytes], separator: str, table: Any, options: ReadOptions) -> None:
    """Note names that occur twice, and a first row that looks like the rows below it."""
    rows = _first_rows(content, separator)
    if not rows:
        return
    header_like_data = looks_like_data(rows[0], table)
    if header_like_data:
        shown = ", ".join(map(repr, rows[0][:4])) + (", ..." if len(rows[0]) > 4 else "")
        options.notes.append(
            HeaderNote(
                f"The first row ({shown}) looks like data, but is used as the names of the columns. If "
                "the file has no header, add --no-header."
            )
        )
    elif len(rows[0]) == table.shape[1]:
        note_copies(rows[0], list(map(str, table.columns)), options.notes)


def looks_like_data(header: list[str], table: Any) -> bool:
    """Return whether the names of columns could be a row of the table.

    Names of columns of numbers must be numbers, and other names must be values of their column, or have
    digits and differ from a value only in them, as dates do. At least one name must be a number, unless
    the table has no numbers. Numbers with equal steps are names such as years or wavelengths. If numbers
    neither increase nor decrease, some other names may differ from their column, most of whose values
    occur once, unless nothing else tells that the numbers are values.
    """
    if len(header) != table.shape[1]:
        return False
    are_numbers = [kind.kind in "iuf" for kind in table.dtypes]
    if not header[0].strip() and not are_numbers[0] and table.iloc[:, 0].is_unique:
        return False  # the first column has the names of rows
    named = {
        index: header[index].strip()
        for index, is_number in enumerate(are_numbers)
        if is_number and header[index].strip()
    }
    if not all(map(_NUMBER_NAME.fullmatch, named.values())):
        return False
    steps = np.diff([float(name) for name in named.values()])
    if len(steps) >= _EQUAL_STEPS and steps[0] and np.allclose(steps, steps[0], rtol=1e-6, atol=0):
        return False
    others = [index for index, is_number in enumerate(are_numbers) if header[index] and not is_number]
    known = {index: _could_be_in(table.iloc[:, index].dropna(), header[index]) for index in others}
    if len(set(np.sign(steps).tolist())) > 1 and not all(known.values()):
        unlike = [table.iloc[:, index].dropna() for index in others if not known[index]]
        are_alike = any(known.values()) or _are_written_alike(table, named)
        return are_alike and all(column.nunique() > len(column) / 2 for column in unlike)
    return bool(named or not any(are_numbers)) and all(known.values())


def _are_written_alike(table: Any, names: dict[int, str]) -> bool:
    """Return whether some names have decimals, and exactly those of columns that have decimals."""
    written = {index: "." in name for index, name in names.items()}
    found = {index: bool((table.iloc[:, index].dropna() % 1).any()) for index in names}
    return written == found and len(set(written.values())) > 1


def _could_be_in(present: Any, name: str) -> bool:
    """Return whether a column that does not hold numbers has a value, or one with other digits."""
    if set(map(type, present)) == {bool}:
        return name.lower() in ("true", "false")
    values = set(present.astype(str))
    shape = re.sub(r"\d+", "0", name)
    return name in values or (
        "0" in shape and any(re.sub(r"\d+", "0", value) == shape for value in values)
    )


def write_csv(frame: Any, path: Path | IO[str], separator: str | None = None) -> None:
    """Write a dataframe, with the separators in its ``attrs`` if it has some."""
    separator = separator or frame.attrs.get("separator", ",")
    decimal = "." if separator == "," else frame.attrs.get("decimal", ".")
    frame.to_csv(path, index=False, sep=separator, decimal=decimal, lineterminator="\n")


register_format(
    "csv", ["csv", "txt"], _read, read_original=_read_original, write=write_csv, requirement="slfs[cli]"
)
register_format(
    "tsv",
    ["tsv", "tab"],
    functools.partial(_read, separator="\t"),
    read_original=functools.partial(_read_original, separator="\t"),
    write=functools.partial(write_csv, separator="\t"),
    requirement="slfs[cli]",
)
