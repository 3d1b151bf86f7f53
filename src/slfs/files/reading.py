"""A file of any usual format -> a table, its labels, and where they come from. Needs pandas."""

from __future__ import annotations

import difflib
import hashlib
import io
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from slfs.files.arrow import open_parquet, read_arrow, read_parquet
from slfs.files.columns import FileColumns, NpyColumns, ParquetColumns
from slfs.files.limits import OPENERS, read_array, read_arrays, refuse_beyond, unpack
from slfs.tables.table import check_places

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
    "npy": "npy",
    "npz": "npz",
    "svm": "svmlight",
    "svmlight": "svmlight",
    "libsvm": "svmlight",
    "arff": "arff",
}
"""Ending of a file name -> format."""

STDIN = "-"

_COLUMN_BYTES = 200
"""What a column costs at least, be it empty: a line of a sparse file may name a column far out."""


@dataclass(frozen=True)
class DataFile:
    """What was read.

    Attributes
    ----------
    X : DataFrame, sparse array or FileColumns
        The columns without the target. Parquet and .npy files are read when they are needed.
    y : array-like or None
        The target, if there is one.
    name : str
        The file, "stdin" for the standard input.
    target : str
        What the target is called.
    fingerprint : str
        SHA-256 of the bytes of the file.
    all_names : list of str
        Names of all columns of the file, the target and dropped ones among them.
    """

    X: Any
    y: Any
    name: str
    target: str
    fingerprint: str
    all_names: list[str]

    @property
    def names(self) -> list[str]:
        """Names of the columns, x0, x1, ... where they have none."""
        return self.X.names if isinstance(self.X, FileColumns) else _names(self.X)

    def find(self, column: str) -> int:
        """The place in ``X`` of a column that is given by its name or its place in the file."""
        name = self.all_names[find_column(column, self.all_names, self.name)]
        if name not in self.names:
            raise ValueError(f"The column {name!r} of {self.name} is the target, or is left out.")
        return self.names.index(name)

    def in_memory(self) -> Any:
        """The columns as a DataFrame or a sparse array."""
        return self.take(np.arange(self.X.shape[1])) if isinstance(self.X, FileColumns) else self.X

    def take(self, columns: NDArray[np.int64]) -> Any:
        """Some of the columns."""
        if isinstance(self.X, FileColumns):
            return self.X.take(columns)
        return self.X[:, columns] if sparse.issparse(self.X) else self.X.iloc[:, columns]


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
        A path, or "-" for the standard input. A name that ends in .gz, .bz2 or .xz is unpacked.
    target : str, optional
        The column of the class labels: its name, or its place (negative ones count from the end). Files
        of the svmlight format have labels of their own.
    file_format : str, optional
        One of the formats, if the name does not tell.
    missing : sequence of str, default=()
        Further texts that mean a missing value in CSV files.
    drop : sequence of str, default=()
        Columns to leave out, by name or place. Those of a sparse table become empty, so that the others
        keep their numbers.
    text : sequence of str, default=()
        Columns of a CSV file to read as text even if they look like numbers.

    Returns
    -------
    file : DataFile
    """
    kind = file_format or _format(source)
    if kind in _STAYING and source != STDIN and not _packed(source):
        return _staying_file(source, kind, target, drop)
    content = _content(source)
    name = "stdin" if source == STDIN else source
    fingerprint = hashlib.sha256(content.getbuffer()).hexdigest()
    try:
        table, y = _READERS[kind](content, list(missing), list(text))
    except ImportError as error:
        extra = "parquet" if kind in _ARROW else "cli"
        raise ImportError(f"Reading {kind} needs {error.name}: pip install 'slfs[{extra}]'") from error
    except Exception as error:  # the readers of other libraries may stumble over anything
        raise ValueError(
            f"{name} cannot be read as {kind}: {str(error) or type(error).__name__}. Give the right "
            f"--format ({', '.join(sorted(_READERS))}), or mend the file."
        ) from error
    names = _names(table)
    unwanted = [find_column(one, names, name) for one in drop]
    target_name = "class"
    if y is not None and target is not None:
        raise ValueError(f"{name} has labels of its own: leave --target {target!r} out.")
    if target is not None:
        column = find_column(target, names, name)
        y, target_name = _column(table, column), names[column]
        unwanted.append(column)
    return DataFile(_without(table, unwanted), y, name, target_name, fingerprint, names)


def _staying_file(source: str, kind: str, target: str | None, drop: Sequence[str]) -> DataFile:
    """A file whose columns stay where they are."""
    path = _existing(source)
    with path.open("rb") as file:
        fingerprint = hashlib.file_digest(file, "sha256").hexdigest()
    try:
        table = _STAYING[kind](path)
    except OSError as error:
        raise ValueError(f"{source} cannot be read as {kind}: {error}") from error
    names = table.names
    unwanted = [names[find_column(one, names, source)] for one in drop]
    if target is None:
        return DataFile(table.without(unwanted), None, source, "class", fingerprint, names)
    label = names[find_column(target, names, source)]
    kept = table.without([*unwanted, label])
    return DataFile(kept, table.read(label), source, label, fingerprint, names)


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


def _names(table: Any) -> list[str]:
    if sparse.issparse(table):
        return [f"x{column}" for column in range(table.shape[1])]
    return list(map(str, table.columns))


def _column(table: Any, column: int) -> Any:
    return table[:, [column]].toarray()[:, 0] if sparse.issparse(table) else table.iloc[:, column]


def _without(table: Any, columns: list[int]) -> Any:
    kept = np.ones(table.shape[1], np.bool_)
    kept[columns] = False
    if sparse.issparse(table):
        entries = sparse.coo_array(table)
        chosen = kept[entries.coords[1]]
        rows, places = (part[chosen] for part in entries.coords)
        return sparse.csr_array((entries.data[chosen], (rows, places)), shape=table.shape)
    part = table.loc[:, kept]
    part.columns = part.columns.map(str)
    return part


def _content(source: str) -> io.BytesIO:
    if source == STDIN:
        if sys.stdin is None:
            raise ValueError("The standard input is closed: there is nothing to read.")
        return io.BytesIO(sys.stdin.buffer.read())
    return unpack(_existing(source))


def _packed(source: str) -> bool:
    return Path(source).suffix[1:].lower() in OPENERS


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


def _read_csv(
    content: IO[bytes], missing: list[str], text: list[str], separator: str | None = None
) -> tuple[Any, Any]:
    import pandas as pd

    if separator is None:
        first = content.readline().decode("utf-8-sig", "replace")
        content.seek(0)
        bare = re.sub(r'"[^"]*"', "", first)
        separator = max(",;\t|", key=bare.count)
    options: dict[str, Any] = {"sep": separator, "na_values": missing, "encoding": "utf-8-sig"}
    options |= {"low_memory": False, "dtype": dict.fromkeys(text, str)}
    if _ending_with(content, separator):  # pandas would take the first column for names of rows
        options |= {"index_col": False}
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", pd.errors.ParserWarning
        )  # what follows the last separator is lost
        table = pd.read_csv(content, **options)
        if separator != "," and _decimal_commas(table.drop(columns=text, errors="ignore")):
            content.seek(0)
            table = pd.read_csv(content, decimal=",", **options)
    if table.shape[1] == 0 or len(table) == 0:
        raise ValueError("it has no rows")
    return table, None


def _ending_with(content: IO[bytes], separator: str) -> bool:
    """Whether lines end with a separator, but not the header."""
    header, *lines = [content.readline().rstrip(b"\r\n") for _ in range(20)]
    content.seek(0)
    ends = [line.endswith(separator.encode()) for line in lines if line]
    return bool(ends) and all(ends) and not header.endswith(separator.encode())


_COMMA_NUMBER = r"\s*[+-]?(\d+(,\d*)?|,\d+)([eE][+-]?\d+)?\s*"
_THOUSANDS = r"\s*[+-]?\d{1,3}(,\d{3})*\s*"


def _decimal_commas(table: Any) -> bool:
    """Whether a column of text holds numbers such as 3,14, and no column has such as 3.14."""
    found = False
    for name in table.columns:
        column = table[name]
        if column.dtype.kind == "f" and (column.dropna() % 1 != 0).any():
            return False
        if column.dtype.kind not in "biuf":
            present = column.dropna().astype(str)
            numbers = present.str.fullmatch(_COMMA_NUMBER).all()
            found |= bool(numbers and not present.str.fullmatch(_THOUSANDS).all())
    return found


def _read_tsv(content: IO[bytes], missing: list[str], text: list[str]) -> tuple[Any, Any]:
    return _read_csv(content, missing, text, "\t")


def _read_parquet(content: IO[bytes], _missing: list[str], _text: list[str]) -> tuple[Any, Any]:
    file, careful = open_parquet(content)
    refuse_beyond(file.metadata.num_rows * file.metadata.num_columns, "the table")
    table = read_parquet(file, careful, range(file.num_row_groups), file.schema_arrow.names)
    return table.to_pandas(self_destruct=True, split_blocks=False), None


def _read_arrow(content: io.BytesIO, _missing: list[str], _text: list[str]) -> tuple[Any, Any]:
    return read_arrow(content).to_pandas(), None


def _read_svmlight(content: IO[bytes], _missing: list[str], _text: list[str]) -> tuple[Any, Any]:
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(content, zero_based=True)  # column x7 is what the file calls 7
    with np.errstate(invalid="ignore"):  # a label may be anything
        whole = y.astype(np.int64)
    return _checked_sparse(X), whole if (whole == y).all() else y


def _read_npy(content: IO[bytes], _missing: list[str], _text: list[str]) -> tuple[Any, Any]:
    import pandas as pd

    array = read_array(content.read(), "the file")
    if array.ndim != 2:
        raise ValueError(f"it holds an array of shape {array.shape}; expected two dimensions")
    return pd.DataFrame(array, columns=[f"x{column}" for column in range(array.shape[1])]), None


def _read_npz(content: IO[bytes], _missing: list[str], _text: list[str]) -> tuple[Any, Any]:
    import pandas as pd

    arrays = read_arrays(content)
    y = arrays.get("y")
    if y is not None and "classes" in arrays:
        y = arrays["classes"][y]
    if "X" not in arrays and "shape" in arrays:
        return _checked_sparse(_sparse_of(arrays)), y
    if "X" not in arrays or arrays["X"].ndim != 2:
        raise ValueError(f"it has the arrays {sorted(arrays)}; expected X (two-dimensional) and y")
    names = arrays.get("feature_names", np.array([f"x{j}" for j in range(arrays["X"].shape[1])]))
    return pd.DataFrame(arrays["X"], columns=names.astype(str)), y


def _sparse_of(arrays: dict[str, NDArray[Any]]) -> Any:
    """The matrix that scipy.sparse.save_npz has written; without a format it is in rows."""
    kind = str(arrays["format"].astype(str)) if "format" in arrays else "csr"
    shape = tuple(arrays["shape"].tolist())
    if kind == "coo":
        refuse_beyond(8 * shape[0], f"a table of {shape[0]} rows")
        return sparse.coo_array((arrays["data"], (arrays["row"], arrays["col"])), shape=shape).tocsr()
    if kind not in ("csr", "csc"):
        raise ValueError(f"it holds a sparse matrix of the format {kind!r}; expected csr, csc or coo")
    maker = sparse.csr_array if kind == "csr" else sparse.csc_array
    return maker((arrays["data"], arrays["indices"], arrays["indptr"]), shape=shape)


def _checked_sparse(table: Any) -> sparse.csr_array:
    """A sparse table whose places are inside of it, and whose columns memory can hold."""
    refuse_beyond(table.shape[1] * _COLUMN_BYTES, f"a table of {table.shape[1]} columns")
    check_places(table)
    return sparse.csr_array(table)


def _read_arff(content: IO[bytes], _missing: list[str], _text: list[str]) -> tuple[Any, Any]:
    import pandas as pd
    from scipy.io import arff

    rows, about = arff.loadarff(io.TextIOWrapper(content, "utf-8"))
    table = pd.DataFrame(rows)
    for name, kind in zip(about.names(), about.types(), strict=True):
        if kind == "nominal":
            text = table[name].str.decode("utf-8")
            table[name] = text.where(text != "?", None).astype("category")
    return table, None


_STAYING: dict[str, Callable[[Path], FileColumns]] = {"parquet": ParquetColumns, "npy": NpyColumns}
"""Formats whose columns are read when they are needed."""

_ARROW = ("parquet", "arrow")
_READERS: dict[str, Callable[..., tuple[Any, Any]]] = {
    "csv": _read_csv,
    "tsv": _read_tsv,
    "parquet": _read_parquet,
    "arrow": _read_arrow,
    "svmlight": _read_svmlight,
    "npy": _read_npy,
    "npz": _read_npz,
    "arff": _read_arff,
}
