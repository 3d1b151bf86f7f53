"""The formats of files: a name or a suffix -> the functions that read and write the format."""

from __future__ import annotations

import functools
import importlib
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from slfs.files.inference import TableError

if TYPE_CHECKING:
    from slfs.files.columns import FileColumns

BUILT_IN = (
    *("csv", "parquet", "arrow", "excel", "jsonl", "npy", "npz", "svmlight", "arff"),
    *("anndata", "plink", "pgen"),
)
"""Modules of this package that register formats."""

TEXT = ("csv", "tsv")
"""Formats whose values are text, until their types are inferred."""

SELF_DESCRIBING = ("parquet", "arrow", "excel", "jsonl", "json")
"""Formats that distinguish numbers from text."""

MIXED = ("excel", "jsonl", "json")
"""Those of them whose columns have no types, so that a column may have numbers and text."""

COHORTS = ("bed", "pgen")
"""Formats of genotypes, in which samples have ids."""

ENTRY_POINTS = "slfs.formats"
"""The group of entry points by which installed packages add formats."""


@dataclass(frozen=True)
class ReadOptions:
    """Options for reading a file; each format uses those that apply to it."""

    missing: Sequence[str] = ()
    """Further strings that mean a missing value; numbers that are equal to one are missing too."""
    text: Sequence[str] = ()
    """Columns to read as text even if they hold or look like numbers or dates, if the file is a CSV,
    Excel or JSON file."""
    header: bool = True
    """Whether the first row of a CSV or Excel file contains the names of the columns."""
    sheet: str | None = None
    """Name of the sheet of an Excel file; None means the first one, or that of ``sheet_with``."""
    sheet_with: Sequence[str] = ()
    """Columns of which only the sheet to read has one, if the Excel file has several sheets."""
    allow_empty: bool = False
    """Whether the file may have no rows; without a header, then also no columns."""
    decimal: str | None = None
    """The decimal separator of numbers such as 1.234, which may have either; None: that of the file."""
    like: tuple[int, int | None] | None = None
    """Of an earlier file without header: the number of its columns, and the index of its target."""
    transposed: bool = False
    """Whether the rows are columns of the table, with their names in the first field."""
    columns: Sequence[int] | None = None
    """Indices of the columns that are needed; a reader may leave out the others. None means all."""
    notes: list[str] = field(default_factory=list)
    """Readers append what the user should know, such as a first row that looks like data."""


Read = Callable[[io.BytesIO, ReadOptions], tuple[Any, Any]]
ReadOriginal = Callable[[io.BytesIO, ReadOptions], Any]
Open = Callable[..., "FileColumns"]
Write = Callable[[Any, Path], object]


@dataclass(frozen=True)
class Format:
    """One format; see `register_format` for its fields."""

    name: str
    suffixes: tuple[str, ...]
    read: Read
    read_original: ReadOriginal | None = None
    open_columns: Open | None = None
    write: Write | None = None
    requirement: str = ""

    def original(self, content: io.BytesIO, options: ReadOptions) -> Any:
        """Read the values as they are written in the file."""
        if self.read_original is not None:
            return self.read_original(content, options)
        return self.read(content, options)[0]

    def missing_library(self, error: ImportError) -> ImportError:
        """Make the error to raise if the library behind the format is not installed."""
        library = error.name or "a library that is not installed"  # pandas does not say which
        return ImportError(f"{self.name} files need {library}: pip install '{self.requirement}'")


_formats: dict[str, Format] = {}


def register_format(
    name: str,
    suffixes: Sequence[str],
    read: Read,
    *,
    read_original: ReadOriginal | None = None,
    open_columns: Open | None = None,
    write: Write | None = None,
    requirement: str = "",
) -> None:
    """Add a file format, or replace the one of the same name.

    Parameters
    ----------
    name : str
        Name of the format, as given to ``--format``.
    suffixes : sequence of str
        File name suffixes without the dot.
    read : callable
        Takes the content of a file as a binary stream and `ReadOptions`. Returns the table, a pandas
        DataFrame or a SciPy sparse array, and the class labels, or None if the format has none of its
        own.
    read_original : callable, optional
        Takes the same arguments and returns a DataFrame with the same rows and columns, whose values are
        written to other files unchanged: as text for text files, in the types of the file for others. By
        default, this is the table that ``read`` returns.
    open_columns : callable, optional
        Takes a path and the keyword argument ``missing``, the texts and numbers that mean a missing
        value; with ``--layer``, also ``layer``. Returns a `FileColumns`, whose columns are read when
        they are needed. Used instead of ``read`` for files that are not compressed.
    write : callable, optional
        Takes a pandas DataFrame and a path.
    requirement : str, optional
        What pip must install if a library is missing, such as ``"slfs[parquet]"``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pandas as pd
    >>> from slfs.files import read_file, register_format
    >>> def read_bars(content, options):
    ...     return pd.read_csv(content, sep="|"), None
    >>> register_format("bars", ["bars"], read_bars)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "table.bars")
    ...     _ = path.write_text("a|b\\n1|3\\n2|4\\n")
    ...     read_file(str(path), target="b").names
    ['a']
    """
    lower = tuple(suffix.lower().removeprefix(".") for suffix in suffixes)
    _formats[name] = Format(name, lower, read, read_original, open_columns, write, requirement)


def read_in_place_only(remedy: str) -> Read:
    """Make the function ``read`` of a format whose columns are always read when they are needed.

    It is called if the file is compressed, transposed or the standard input: ``remedy`` says what to do.
    """

    def refuse(_content: io.BytesIO, _options: ReadOptions) -> NoReturn:
        raise TableError(remedy)

    return refuse


def formats() -> dict[str, Format]:
    """Return all formats by name."""
    _register_built_in()
    return _formats


def format_of_name(name: str) -> Format:
    """Find a format by its name."""
    if name not in formats():
        _register_entry_points()
    if name not in _formats:
        raise ValueError(f"Unknown file format {name!r}. The formats are {', '.join(sorted(_formats))}.")
    return _formats[name]


def format_of_suffix(path: Path) -> Format | None:
    """Find the format of a file by its suffix; the format that was registered last takes precedence."""
    _register_built_in()
    found = _with_suffix(path.suffix)
    if found is None:
        _register_entry_points()
        found = _with_suffix(path.suffix)
    return found


def _with_suffix(suffix: str) -> Format | None:
    wanted = suffix[1:].lower()
    return next((one for one in reversed(_formats.values()) if wanted in one.suffixes), None)


@functools.cache
def _register_built_in() -> None:
    for module in BUILT_IN:
        importlib.import_module(f"slfs.files.{module}")


@functools.cache
def _register_entry_points() -> None:
    """Import the modules of installed packages; looking for them takes time, so only when needed."""
    for entry in metadata.entry_points(group=ENTRY_POINTS):
        entry.load()
