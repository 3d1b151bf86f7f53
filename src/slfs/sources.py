"""Files that are tables without being in memory: columns are read when they are asked for."""

from __future__ import annotations

import copy
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from slfs.table import ColumnSource, FrameTable, LabelBlock, NumberBlock, Rows, dense_block


class ParquetColumns(ColumnSource):
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
    >>> from slfs.sources import ParquetColumns
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     load_iris(as_frame=True).frame.to_parquet(f"{folder}/iris.parquet")
    ...     table = ParquetColumns(f"{folder}/iris.parquet", drop=["target"])
    ...     selector = SLFS().fit(table, table.read("target"))
    >>> selector.get_feature_names_out().tolist()[-1]
    'petal width (cm)'
    """

    def __init__(self, path: str | Path, *, drop: Sequence[str] = ()) -> None:
        try:
            import pyarrow.parquet
        except ImportError as error:
            raise ImportError("Parquet files need pyarrow: pip install 'slfs[parquet]'") from error
        self.path = Path(path)
        self._file = pyarrow.parquet.ParquetFile(self.path)
        self._lock = threading.Lock()  # one file position for all threads
        schema = self._file.schema_arrow
        if len(set(schema.names)) < len(schema.names):
            raise ValueError(f"{path} has columns of the same name. Rename the copies.")
        self._all_names = self.names = list(schema.names)
        if not self.names or self._file.metadata.num_rows == 0:
            raise ValueError(f"{path} has no columns or no rows.")
        self.n_samples, self.n_features = self._file.metadata.num_rows, len(self.names)
        kinds = {kind: _kind_of(kind) for kind in set(schema.types)}
        self.numbers, self.categorical = np.array([kinds[kind] for kind in schema.types]).T
        about = schema.pandas_metadata or {}
        index = [name for name in about.get("index_columns", ()) if name in self.names]
        if drop or index:
            self.__dict__.update(self.without([*index, *drop]).__dict__)

    def without(self, columns: Sequence[str]) -> ParquetColumns:
        """Leave columns out.

        Parameters
        ----------
        columns : sequence of str

        Returns
        -------
        table : ParquetColumns
            The same file with fewer columns.
        """
        unknown = [name for name in columns if name not in self.names]
        if unknown:
            raise ValueError(f"{self.path} has no column(s) {unknown[:5]} that could be left out.")
        unwanted = set(columns)
        kept = np.array([name not in unwanted for name in self.names])
        table = copy.copy(self)
        table.names = [name for name in self.names if name not in unwanted]
        table.n_features = len(table.names)
        table.numbers, table.categorical = self.numbers[kept], self.categorical[kept]
        return table

    def read(self, column: str) -> NDArray[Any]:
        """Read one column of the file, be it dropped or not.

        Parameters
        ----------
        column : str

        Returns
        -------
        values : ndarray of shape (n_samples,)
        """
        if column not in self._all_names:
            raise ValueError(f"{self.path} has no column {column!r}.")
        values: NDArray[Any] = self._read([column]).column(0).to_pandas().to_numpy()
        return values

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
        part = self._read([self.names[column] for column in columns])
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
        part = self._read([self.names[column]])
        return FrameTable(nw.from_native(part, eager_only=True)).label_block(0, order)

    def _read(self, names: list[str]) -> Any:
        try:
            with self._lock:
                part = self._file.read(columns=names)
        except (OSError, ValueError) as error:
            raise ValueError(f"{self.path} is damaged: {error}. Write it again.") from error
        if part.num_rows != self.n_samples:
            raise ValueError(
                f"{self.path} is damaged: it has {part.num_rows} rows, not the {self.n_samples} that it "
                "speaks of. Write it again."
            )
        return part


_PLAIN = {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float", "double"}
"""Arrow's types that are NumPy's, where nothing is missing."""


def _kind_of(kind: Any) -> tuple[bool, bool]:
    """Whether a column of a type of Arrow's is one of numbers, and whether it is categorical."""
    import pyarrow as pa

    empty = pa.table({"column": pa.array([], kind)})
    table = FrameTable(nw.from_native(empty, eager_only=True))
    return bool(table.numbers[0]), bool(table.categorical[0])
