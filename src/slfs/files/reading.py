"""A file of any registered format -> a table, its labels, and where they come from. Needs pandas."""

from __future__ import annotations

import difflib
import hashlib
import io
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slfs.files.columns import FileColumns
from slfs.files.limits import OPENERS, decompress
from slfs.files.registry import Format, ReadOptions, format_of_name, format_of_suffix, formats

STDIN = "-"


@dataclass(frozen=True)
class DataFile:
    """A table that was read from a file.

    Attributes
    ----------
    X : DataFrame, sparse array or FileColumns
        The columns without the target. Those of Parquet and npy files are read when they are needed.
    y : array-like or None
        The target, if there is one.
    name : str
        Name of the file, "stdin" for the standard input.
    target : str
        Name of the target.
    fingerprint : str
        SHA-256 of the bytes of the file.
    all_names : list of str
        Names of all columns of the file, including the target and dropped columns.
    """

    X: Any
    y: Any
    name: str
    target: str
    fingerprint: str
    all_names: list[str]

    @property
    def names(self) -> list[str]:
        """Names of the columns, x0, x1, ... if they have none."""
        return self.X.names if isinstance(self.X, FileColumns) else _names(self.X)

    def find(self, column: str) -> int:
        """Return the index in ``X`` of a column given by its name, or by its index in the file."""
        name = self.all_names[find_column(column, self.all_names, self.name)]
        if name not in self.names:
            raise ValueError(f"The column {name!r} of {self.name} is the target or was dropped.")
        return self.names.index(name)

    def in_memory(self) -> Any:
        """Return the columns as a DataFrame or a sparse array."""
        return self.take(np.arange(self.X.shape[1])) if isinstance(self.X, FileColumns) else self.X

    def take(self, columns: NDArray[np.int64]) -> Any:
        """Return some of the columns."""
        if isinstance(self.X, FileColumns):
            return self.X.take(columns)
        return self.X[:, columns] if _is_sparse(self.X) else self.X.iloc[:, columns]


def read_file(
    source: str,
    *,
    target: str | None = None,
    file_format: str | None = None,
    missing: Sequence[str] = (),
    drop: Sequence[str] = (),
    text: Sequence[str] = (),
) -> DataFile:
    """Read a table from a file.

    Parameters
    ----------
    source : str
        A path, or "-" for the standard input. A file whose name ends in .gz, .bz2 or .xz is
        decompressed.
    target : str, optional
        The column of the class labels, by name or by index (negative ones count from the end). Some
        formats, such as svmlight, have labels of their own.
    file_format : str, optional
        Name of the format, if the suffix of the file does not give it.
    missing : sequence of str, default=()
        Further strings that mean a missing value in CSV files.
    drop : sequence of str, default=()
        Columns to leave out, by name or index. Those of a sparse table become empty, so that the other
        columns keep their indices.
    text : sequence of str, default=()
        Columns of a CSV file to read as text even if they look like numbers.

    Returns
    -------
    file : DataFile
    """
    form = _format(source) if file_format is None else format_of_name(file_format)
    if form.open_columns is not None and source != STDIN and not _is_compressed(source):
        return _open_columns(source, form, target, drop)
    content = _content(source)
    name = "stdin" if source == STDIN else source
    fingerprint = hashlib.sha256(content.getbuffer()).hexdigest()
    try:
        table, y = form.read(content, ReadOptions(missing, text))
    except ImportError as error:
        raise form.missing_library(error) from error
    except Exception as error:  # the libraries behind the formats may raise anything
        raise ValueError(
            f"{name} cannot be read as {form.name}: {str(error) or type(error).__name__}. Set the "
            f"correct --format ({', '.join(sorted(formats()))}), or fix the file."
        ) from error
    names = _names(table)
    unwanted = [find_column(column, names, name) for column in drop]
    target_name = "class"
    if y is not None and target is not None:
        raise ValueError(f"{name} already contains class labels. Remove --target {target!r}.")
    if target is not None:
        column = find_column(target, names, name)
        y, target_name = _column(table, column), names[column]
        unwanted.append(column)
    return DataFile(_without(table, unwanted), y, name, target_name, fingerprint, names)


def find_column(wanted: str, names: Sequence[str], where: str) -> int:
    """Return the index of a column given by its name or index; suggest names if there is none."""
    if wanted in names:
        return list(names).index(wanted)
    try:
        index = int(wanted)
    except ValueError:
        near = difflib.get_close_matches(wanted, names, n=3, cutoff=0.5)
        hint = f"Did you mean {' or '.join(map(repr, near))}?" if near else f"It has {_some(names)}."
        raise ValueError(f"{where} has no column {wanted!r}. {hint}") from None
    if not -len(names) <= index < len(names):
        raise ValueError(f"{where} has no column {index}: it has {len(names)} columns.")
    return index % len(names)


def _open_columns(source: str, form: Format, target: str | None, drop: Sequence[str]) -> DataFile:
    """Open a file whose columns stay on disk."""
    path = _existing(source)
    with path.open("rb") as file:
        fingerprint = hashlib.file_digest(file, "sha256").hexdigest()
    assert form.open_columns is not None
    try:
        table = form.open_columns(path)
    except OSError as error:
        raise ValueError(f"{source} cannot be read as {form.name}: {error}") from error
    names = table.names
    unwanted = [names[find_column(column, names, source)] for column in drop]
    if target is None:
        return DataFile(table.without(unwanted), None, source, "class", fingerprint, names)
    label = names[find_column(target, names, source)]
    kept = table.without([*unwanted, label])
    return DataFile(kept, table.read(label), source, label, fingerprint, names)


def _format(source: str) -> Format:
    if source == STDIN:
        return format_of_name("csv")
    path = Path(source)
    found = format_of_suffix(path.with_suffix("") if _is_compressed(source) else path)
    if found is None:
        raise ValueError(
            f"The format of {source!r} cannot be inferred from its suffix. Set --format to one of "
            f"{', '.join(sorted(formats()))}."
        )
    return found


def _is_compressed(source: str) -> bool:
    return Path(source).suffix[1:].lower() in OPENERS


def _content(source: str) -> io.BytesIO:
    if source == STDIN:
        if sys.stdin is None:
            raise ValueError("The standard input is closed and cannot be read.")
        return io.BytesIO(sys.stdin.buffer.read())
    return decompress(_existing(source))


def _existing(source: str) -> Path:
    path = Path(source)
    if not path.exists():
        near = difflib.get_close_matches(path.name, [p.name for p in path.parent.glob("*")], n=2)
        raise FileNotFoundError(
            f"There is no file {source!r}." + (f" Did you mean {' or '.join(near)}?" if near else "")
        )
    if path.is_dir():
        raise IsADirectoryError(f"{source!r} is a folder; expected a file.")
    return path


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:8])
    return f"{shown}, ... ({len(names)} columns)" if len(names) > 8 else shown


def _names(table: Any) -> list[str]:
    if _is_sparse(table):
        return [f"x{column}" for column in range(table.shape[1])]
    return list(map(str, table.columns))


def _column(table: Any, column: int) -> Any:
    return table[:, [column]].toarray()[:, 0] if _is_sparse(table) else table.iloc[:, column]


def _without(table: Any, columns: list[int]) -> Any:
    kept = np.ones(table.shape[1], np.bool_)
    kept[columns] = False
    if _is_sparse(table):
        from scipy import sparse

        entries = sparse.coo_array(table)
        chosen = kept[entries.coords[1]]
        rows, indices = (part[chosen] for part in entries.coords)
        return sparse.csr_array((entries.data[chosen], (rows, indices)), shape=table.shape)
    part = table.loc[:, kept]
    part.columns = part.columns.map(str)
    return part


def _is_sparse(table: Any) -> bool:
    return hasattr(table, "tocsr")
