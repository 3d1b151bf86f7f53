"""A file of any usual format -> a table, its labels, and where they come from. Needs pandas."""

from __future__ import annotations

import bz2
import difflib
import gzip
import hashlib
import io
import lzma
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from slfs.sources import ParquetColumns

FORMATS = {
    "csv": "csv",
    "txt": "csv",
    "tsv": "tsv",
    "tab": "tsv",
    "parquet": "parquet",
    "pq": "parquet",
    "arrow": "arrow",
    "feather": "arrow",
    "ipc": "arrow",
    "npz": "npz",
    "svm": "svmlight",
    "svmlight": "svmlight",
    "libsvm": "svmlight",
    "arff": "arff",
}
"""Ending of a file name -> format."""

_OPENERS: dict[str, Callable[..., Any]] = {"gz": gzip.open, "bz2": bz2.open, "xz": lzma.open}

STDIN = "-"


@dataclass(frozen=True)
class DataFile:
    """What was read.

    Attributes
    ----------
    X : DataFrame, sparse array or ParquetColumns
        The columns without the target. Parquet files are read when they are needed.
    y : array-like or None
        The target, if there is one.
    name : str
        The file, "stdin" for the standard input.
    target : str
        What the target is called.
    fingerprint : str
        SHA-256 of the bytes of the file.
    """

    X: Any
    y: Any
    name: str
    target: str
    fingerprint: str

    @property
    def names(self) -> list[str]:
        """Names of the columns, x0, x1, ... where they have none."""
        if isinstance(self.X, ParquetColumns):
            return self.X.names
        if sparse.issparse(self.X):
            return [f"x{column}" for column in range(self.X.shape[1])]
        return list(map(str, self.X.columns))

    def in_memory(self) -> Any:
        """The columns as a DataFrame or a sparse array."""
        return self.take(np.arange(self.X.shape[1])) if isinstance(self.X, ParquetColumns) else self.X

    def take(self, columns: NDArray[np.int64]) -> Any:
        """Some of the columns."""
        if isinstance(self.X, ParquetColumns):
            return self.X.take(columns)
        return self.X[:, columns] if sparse.issparse(self.X) else self.X.iloc[:, columns]


def read_file(
    source: str,
    *,
    target: str | None = None,
    file_format: str | None = None,
    missing: Sequence[str] = (),
    drop: Sequence[str] = (),
) -> DataFile:
    """Read a table from a file.

    Parameters
    ----------
    source : str
        A path, or "-" for the standard input. A name that ends in .gz, .bz2 or .xz is unpacked.
    target : str, optional
        The column of the class labels: its name, or its place (negative ones count from the end). Files
        of the svmlight format have labels of their own.
    file_format : str, optional
        One of the formats, if the name does not tell.
    missing : sequence of str, default=()
        Further texts that mean a missing value in CSV files.
    drop : sequence of str, default=()
        Columns to leave out.

    Returns
    -------
    file : DataFile
    """
    kind = file_format or _format(source)
    if kind == "parquet" and source != STDIN and not _packed(source):
        return _parquet_file(source, target, drop)
    content = _content(source)
    name = "stdin" if source == STDIN else source
    fingerprint = hashlib.sha256(content.getbuffer()).hexdigest()
    try:
        table, y = _READERS[kind](content, list(missing))
    except ImportError as error:
        extra = "parquet" if kind in _ARROW else "cli"
        raise ImportError(f"Reading {kind} needs {error.name}: pip install 'slfs[{extra}]'") from error
    except (ValueError, OSError, KeyError, NotImplementedError, UnicodeDecodeError) as error:
        raise ValueError(
            f"{name} cannot be read as {kind}: {error}. Give the right --format ("
            f"{', '.join(sorted(_READERS))}), or mend the file."
        ) from error
    target_name = "class"
    if y is None and target is not None:
        column = find_column(target, list(map(str, table.columns)), name)
        y, target_name = table.iloc[:, column], str(table.columns[column])
        table = table.drop(columns=table.columns[column])
    for unwanted in drop:
        table = _without(table, unwanted, name)
    return DataFile(table, y, name, target_name, fingerprint)


def _parquet_file(source: str, target: str | None, drop: Sequence[str]) -> DataFile:
    """A Parquet file that stays where it is."""
    path = _existing(source)
    with path.open("rb") as file:
        fingerprint = hashlib.file_digest(file, "sha256").hexdigest()
    try:
        table = ParquetColumns(path)
    except (OSError, ValueError) as error:
        raise ValueError(f"{source} cannot be read as parquet: {error}") from error
    names = table.names
    unwanted = [names[find_column(one, names, source)] for one in drop]
    if target is None:
        return DataFile(table.without(unwanted), None, source, "class", fingerprint)
    label = names[find_column(target, names, source)]
    return DataFile(table.without([*unwanted, label]), table.read(label), source, label, fingerprint)


def find_column(wanted: str, names: Sequence[str], where: str) -> int:
    """The place of a column that is given by its name or its place; a wrong one gets a hint."""
    if wanted in names:
        return list(names).index(wanted)
    try:
        place = int(wanted)
    except ValueError:
        near = difflib.get_close_matches(wanted, names, n=3, cutoff=0.5)
        hint = f"Did you mean {' or '.join(map(repr, near))}?" if near else f"It has {_some(names)}."
        raise ValueError(f"{where} has no column {wanted!r}. {hint}") from None
    if not -len(names) <= place < len(names):
        raise ValueError(f"{where} has no column {place}: it has {len(names)} columns.")
    return place % len(names)


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:8])
    return f"{shown}, ... ({len(names)} columns)" if len(names) > 8 else shown


def _without(table: Any, unwanted: str, where: str) -> Any:
    if sparse.issparse(table):
        column = find_column(unwanted, [str(j) for j in range(table.shape[1])], where)
        return table[:, np.delete(np.arange(table.shape[1]), column)]
    return table.drop(columns=table.columns[find_column(unwanted, list(map(str, table.columns)), where)])


def _content(source: str) -> io.BytesIO:
    if source == STDIN:
        return io.BytesIO(sys.stdin.buffer.read())
    path = _existing(source)
    ending = path.suffix[1:].lower()
    try:
        with _OPENERS.get(ending, Path.open)(path, "rb") as file:
            return io.BytesIO(file.read())
    except (EOFError, gzip.BadGzipFile, lzma.LZMAError) as error:
        raise ValueError(f"{source} is damaged: {error}.") from error


def _packed(source: str) -> bool:
    return Path(source).suffix[1:].lower() in _OPENERS


def _existing(source: str) -> Path:
    path = Path(source)
    if not path.exists():
        near = difflib.get_close_matches(path.name, [p.name for p in path.parent.glob("*")], n=2)
        raise FileNotFoundError(
            f"There is no file {source!r}." + (f" Did you mean {' or '.join(near)}?" if near else "")
        )
    if path.is_dir():
        raise IsADirectoryError(f"{source!r} is a folder: give a file.")
    return path


def _format(source: str) -> str:
    if source == STDIN:
        return "csv"
    path = Path(source)
    if _packed(source):
        path = path.with_suffix("")
    kind = FORMATS.get(path.suffix[1:].lower())
    if kind is None:
        raise ValueError(
            f"The name {source!r} does not tell its format. Give --format, one of "
            f"{', '.join(sorted(_READERS))}."
        )
    return kind


def _read_csv(content: IO[bytes], missing: list[str], separator: str | None = None) -> tuple[Any, Any]:
    import pandas as pd

    if separator is None:
        first = content.readline().decode("utf-8-sig", "replace")
        content.seek(0)
        separator = max(",;\t|", key=first.count)
    table = pd.read_csv(
        content, sep=separator, na_values=missing, low_memory=False, encoding="utf-8-sig"
    )
    if table.shape[1] == 0 or len(table) == 0:
        raise ValueError("it has no rows")
    return table, None


def _read_tsv(content: IO[bytes], missing: list[str]) -> tuple[Any, Any]:
    return _read_csv(content, missing, "\t")


def _read_parquet(content: IO[bytes], _missing: list[str]) -> tuple[Any, Any]:
    import pyarrow.parquet

    return pyarrow.parquet.read_table(content).to_pandas(self_destruct=True, split_blocks=False), None


def _read_arrow(content: IO[bytes], _missing: list[str]) -> tuple[Any, Any]:
    import pyarrow.feather

    return pyarrow.feather.read_table(content).to_pandas(), None


def _read_svmlight(content: IO[bytes], _missing: list[str]) -> tuple[Any, Any]:
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(content, zero_based=True)  # column x7 is what the file calls 7
    whole = y.astype(np.int64)
    return sparse.csr_array(X), whole if (whole == y).all() else y


def _read_npz(content: IO[bytes], _missing: list[str]) -> tuple[Any, Any]:
    import pandas as pd

    with np.load(content, allow_pickle=False) as file:
        arrays = dict(file)
    y = arrays.get("y")
    if y is not None and "classes" in arrays:
        y = arrays["classes"][y]
    if "indptr" in arrays:
        parts = (arrays["data"], arrays["indices"], arrays["indptr"])
        return sparse.csr_array(parts, shape=tuple(arrays["shape"])), y
    if "X" not in arrays or arrays["X"].ndim != 2:
        raise ValueError(f"it has the arrays {sorted(arrays)}; expected X (two-dimensional) and y")
    names = arrays.get("feature_names", np.array([f"x{j}" for j in range(arrays["X"].shape[1])]))
    return pd.DataFrame(arrays["X"], columns=names.astype(str)), y


def _read_arff(content: IO[bytes], _missing: list[str]) -> tuple[Any, Any]:
    import pandas as pd
    from scipy.io import arff

    rows, about = arff.loadarff(io.TextIOWrapper(content, "utf-8"))
    table = pd.DataFrame(rows)
    for name, kind in zip(about.names(), about.types(), strict=True):
        if kind == "nominal":
            text = table[name].str.decode("utf-8")
            table[name] = text.where(text != "?", None).astype("category")
    return table, None


_ARROW = ("parquet", "arrow")
_READERS: dict[str, Callable[[Any, list[str]], tuple[Any, Any]]] = {
    "csv": _read_csv,
    "tsv": _read_tsv,
    "parquet": _read_parquet,
    "arrow": _read_arrow,
    "svmlight": _read_svmlight,
    "npz": _read_npz,
    "arff": _read_arff,
}
