"""Files that are tables without being in memory: columns are read when they are asked for."""

from __future__ import annotations

import functools
import threading
from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from slfs.files.arrow import open_parquet, read_parquet
from slfs.files.limits import TooLargeError, check_array
from slfs.tables.table import (
    ArrayTable,
    ColumnSource,
    FrameTable,
    LabelBlock,
    NumberBlock,
    Rows,
    dense_block,
)


class FileColumns(ColumnSource):
    """A file whose columns are read when they are asked for; some of them may be left out.

    Attributes
    ----------
    path : Path
    names : list of str
    shape : tuple of int
    """

    def __init__(
        self,
        path: Path,
        names: list[str],
        n_samples: int,
        drop: Sequence[str],
    ) -> None:
        self.path, self.n_samples = path, n_samples
        self._all_names = self.names = names
        self.n_features = len(names)
        if drop:
            vars(self).update(vars(self.without(drop)))

    @functools.cached_property
    def numbers(self) -> NDArray[np.bool_]:  # type: ignore[override]
        """Which columns hold numbers (booleans among them)."""
        return np.array([self._kind(name)[0] for name in self.names], np.bool_)

    @functools.cached_property
    def categorical(self) -> NDArray[np.bool_]:  # type: ignore[override]
        """Which columns are categorical by their type."""
        return np.array([self._kind(name)[1] for name in self.names], np.bool_)

    def without(self, columns: Sequence[str]) -> Self:
        """Leave columns out.

        Parameters
        ----------
        columns : sequence of str

        Returns
        -------
        table : FileColumns
            The same file with fewer columns.
        """
        unwanted, known = set(columns), set(self.names)
        unknown = [name for name in columns if name not in known]
        if unknown:
            raise ValueError(f"{self.path} has no column(s) {unknown[:5]} that could be left out.")
        table = object.__new__(type(self))
        vars(table).update(vars(self))  # the same open file
        table.names = [name for name in self.names if name not in unwanted]
        table.n_features = len(table.names)
        for worked_out in ("numbers", "categorical"):
            vars(table).pop(worked_out, None)
        return table

    def read(self, column: str) -> NDArray[Any]:
        """Read one column of the file, be it left out or not.

        Parameters
        ----------
        column : str

        Returns
        -------
        values : ndarray of shape (n_samples,)
        """
        if column not in self._all_names:
            raise ValueError(f"{self.path} has no column {column!r}.")
        return self._values(column)

    @abstractmethod
    def _values(self, name: str) -> NDArray[Any]:
        """All values of one column."""

    @abstractmethod
    def _kind(self, name: str) -> tuple[bool, bool]:
        """Whether a column is one of numbers, and whether it is categorical."""


class ParquetColumns(FileColumns):
    """A Parquet file as a table that need not fit in memory.

    Give it to ``fit``, ``predict`` or ``transform`` like a dataframe: a block of columns is read, coded,
    packed and forgotten, so that memory is that of the blocks in work and of the packed planes.

    Parameters
    ----------
    path : str or Path
        The file, with as many row groups as it likes. The index of a dataframe that was written to it is
        no column.
    drop : sequence of str, default=()
        Columns that are no features, such as the target.

    Attributes
    ----------
    names : list of str
    shape : tuple of int

    Examples
    --------
    >>> import tempfile, pandas
    >>> from sklearn.datasets import load_iris
    >>> from slfs import SLFS
    >>> from slfs.files.columns import ParquetColumns
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     load_iris(as_frame=True).frame.to_parquet(f"{folder}/iris.parquet")
    ...     table = ParquetColumns(f"{folder}/iris.parquet", drop=["target"])
    ...     selector = SLFS().fit(table, table.read("target"))
    >>> selector.get_feature_names_out().tolist()[-1]
    'petal width (cm)'
    """

    def __init__(self, path: str | Path, *, drop: Sequence[str] = ()) -> None:
        try:
            self._file, self._careful = open_parquet(path)
            schema = self._schema = self._file.schema_arrow
            index = (schema.pandas_metadata or {}).get("index_columns", ())
        except ImportError as error:
            raise ImportError("Parquet files need pyarrow: pip install 'slfs[parquet]'") from error
        except (FileNotFoundError, PermissionError):
            raise
        except Exception as error:  # PyArrow may stumble over anything
            raise ValueError(f"{path} cannot be read as parquet: {error}") from error
        path = Path(path)
        self._lock = threading.Lock()  # one file position for all threads
        about = self._file.metadata
        if not schema.names or about.num_rows == 0:
            raise ValueError(f"{path} has no columns or no rows.")
        groups = range(about.num_row_groups)
        self._ends = np.cumsum([about.row_group(group).num_rows for group in groups])
        self._kinds: dict[Any, tuple[bool, bool]] = {}
        unwanted = [*(name for name in index if name in schema.names), *drop]
        super().__init__(path, list(schema.names), about.num_rows, unwanted)

    def __getstate__(self) -> dict[str, Any]:
        return {name: part for name, part in vars(self).items() if name not in ("_file", "_lock")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._file, self._careful = open_parquet(self.path)
        self._lock = threading.Lock()

    def take(self, columns: NDArray[np.int64]) -> Any:
        """Read some columns into a pandas DataFrame.

        Parameters
        ----------
        columns : ndarray of int
            Their places among ``names``.

        Returns
        -------
        frame : DataFrame
        """
        return self._read([self.names[column] for column in columns]).to_pandas()

    def number_block(self, columns: NDArray[np.int64], order: Rows) -> NumberBlock:
        """Read columns as numbers.

        Parameters
        ----------
        columns : ndarray of int
            Their places among ``names``.
        order : ndarray of int
            The rows, in the order in which they are wanted.

        Returns
        -------
        block : NumberBlock
        """
        part, order = self._read_rows([self.names[column] for column in columns], order)
        values = np.empty((len(columns), len(order)))
        for place, column in enumerate(part.columns):
            if column.null_count == 0 and _PLAIN.issuperset({str(column.type)}):
                values[place] = column.to_numpy()[order]
            else:
                one = FrameTable(nw.from_native(part.select([place]), eager_only=True))
                values[place] = one.number_block(np.array([0]), order).value
        return dense_block(values)

    def label_block(self, column: int, order: Rows) -> LabelBlock:
        """Read one column as Python values.

        Parameters
        ----------
        column : int
            Its place among ``names``.
        order : ndarray of int
            The rows, in the order in which they are wanted.

        Returns
        -------
        block : LabelBlock
        """
        part, order = self._read_rows([self.names[column]], order)
        return FrameTable(nw.from_native(part, eager_only=True)).label_block(0, order)

    def _kind(self, name: str) -> tuple[bool, bool]:
        kind = self._schema.field(name).type
        if kind not in self._kinds:
            self._kinds[kind] = _kind_of(name, kind)
        return self._kinds[kind]

    def _values(self, name: str) -> NDArray[Any]:
        values: NDArray[Any] = self._read([name]).column(0).to_pandas().to_numpy()
        return values

    def _read(self, names: list[str], groups: range | None = None) -> Any:
        """Read some columns, of all row groups or of some."""
        chosen = range(len(self._ends)) if groups is None else groups
        try:
            with self._lock:
                part = read_parquet(self._file, self._careful, chosen, names)
        except TooLargeError:
            raise
        except (OSError, ValueError) as error:
            raise ValueError(f"{self.path} is damaged: {error}. Write it again.") from error
        expected = self._ends[chosen[-1]] - (self._ends[chosen[0] - 1] if chosen[0] else 0)
        if part.num_rows != expected:
            raise ValueError(
                f"{self.path} is damaged: it has {part.num_rows} rows, not the {expected} that it "
                "speaks of. Write it again."
            )
        return part

    def _read_rows(self, names: list[str], order: Rows) -> tuple[Any, Rows]:
        """Read the row groups that hold some rows; return the places of the rows in what was read."""
        if len(order) == self.n_samples:
            return self._read(names), order
        first, last = np.searchsorted(self._ends, [order.min(), order.max()], side="right")
        part = self._read(names, range(first, last + 1))
        return part, order - (self._ends[first - 1] if first else 0)


class NpyColumns(FileColumns):
    """A two-dimensional array of numbers in a .npy file as a table that need not fit in memory.

    Its columns are called x0, x1, ... Files in column-major order (``np.asfortranarray``) are read
    fastest.

    Parameters
    ----------
    path : str or Path
    drop : sequence of str, default=()
        Columns that are no features, such as the target.

    Attributes
    ----------
    names : list of str
    shape : tuple of int

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from slfs import SLFS
    >>> from slfs.files.columns import NpyColumns
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/table.npy", np.eye(20)[:, :3].repeat(3, axis=0))
    ...     table = NpyColumns(f"{folder}/table.npy", drop=["x2"])
    ...     SLFS(categorical_features="all").fit(table, table.read("x2")).n_features_in_
    2
    """

    def __init__(self, path: str | Path, *, drop: Sequence[str] = ()) -> None:
        path = Path(path)
        with path.open("rb") as file:
            try:
                check_array(file, path.stat().st_size, path.name)
            except Exception as error:  # the parser of headers may stumble over anything
                raise ValueError(
                    f"{path} is damaged, or no .npy file: {error}. Write it again."
                ) from error
        array = np.load(path, mmap_mode="r", allow_pickle=False)
        if array.ndim != 2 or array.dtype.kind not in "biuf":
            found = f"{array.dtype} of shape {array.shape}"
            raise ValueError(f"{path} holds {found}; expected numbers in two dimensions.")
        if 0 in array.shape:
            raise ValueError(f"{path} has no columns or no rows.")
        self._array = array
        super().__init__(path, [f"x{column}" for column in range(array.shape[1])], len(array), drop)

    def take(self, columns: NDArray[np.int64]) -> Any:
        """Read some columns into a pandas DataFrame.

        Parameters
        ----------
        columns : ndarray of int
            Their places among ``names``.

        Returns
        -------
        frame : DataFrame
        """
        import pandas as pd

        names = [self.names[column] for column in columns]
        return pd.DataFrame(np.array(self._array[:, self._places(columns)]), columns=names)

    def number_block(self, columns: NDArray[np.int64], order: Rows) -> NumberBlock:
        """Read columns as numbers.

        Parameters
        ----------
        columns : ndarray of int
            Their places among ``names``.
        order : ndarray of int
            The rows, in the order in which they are wanted.

        Returns
        -------
        block : NumberBlock
        """
        return ArrayTable(self._array).number_block(self._places(columns), order)

    def label_block(self, column: int, order: Rows) -> LabelBlock:
        """Read one column as Python values.

        Parameters
        ----------
        column : int
            Its place among ``names``.
        order : ndarray of int
            The rows, in the order in which they are wanted.

        Returns
        -------
        block : LabelBlock
        """
        return ArrayTable(self._array).label_block(int(self._places(np.array([column]))[0]), order)

    def _kind(self, _name: str) -> tuple[bool, bool]:
        return True, self._array.dtype.kind == "b"

    def _values(self, name: str) -> NDArray[Any]:
        return np.array(self._array[:, int(name[1:])])

    def _places(self, columns: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.array([int(self.names[column][1:]) for column in columns], np.int64)


_PLAIN = {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float", "double"}
"""Arrow's types that are NumPy's, where nothing is missing."""


def _kind_of(name: str, kind: Any) -> tuple[bool, bool]:
    """Whether a column of a type of Arrow's is one of numbers, and whether it is categorical."""
    import pyarrow as pa

    empty = pa.table({name: pa.array([], kind)})
    table = FrameTable(nw.from_native(empty, eager_only=True))
    return bool(table.numbers[0]), bool(table.categorical[0])
