"""Parquet files -> tables whose columns stay on disk, or pandas DataFrames, and back. Needs PyArrow.

Parquet stores a long text once and repeats its number, so that a few bytes may become a very large
column: such text is read in pieces, until it exceeds the limit.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from slfs.files.arrow import original_frame
from slfs.files.columns import FileColumns
from slfs.files.limits import TooLargeError, max_bytes, refuse_beyond
from slfs.files.marks import Marks
from slfs.files.registry import ReadOptions, register_format
from slfs.tables.table import Columns, LabelBlock, NumberBlock, Order, Rows, Table, dense_block, reorder

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

_PLAIN = {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float", "double"}
"""Arrow types that NumPy has too, as long as no value is missing."""


class ParquetColumns(FileColumns):
    """A Parquet file as a table that need not fit in memory.

    Pass it to ``fit``, ``predict`` or ``transform`` like a dataframe. Columns are read, coded and packed
    block by block, so that only the current blocks and the packed columns are in memory.

    Parameters
    ----------
    path : str or Path
        The file, with any number of row groups. If a dataframe was written with its index, the index is
        not a column of the table.
    drop : sequence of str, default=()
        Columns that are not features, such as the target.
    missing : sequence of str, default=()
        Texts that mean a missing value. If one is a number, such as "-99", numbers that are equal to it
        are missing too.

    Attributes
    ----------
    names : list of str
    shape : tuple of int

    Examples
    --------
    >>> import tempfile, pandas
    >>> from sklearn.datasets import load_iris
    >>> from slfs import SLFS
    >>> from slfs.files import ParquetColumns
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     load_iris(as_frame=True).frame.to_parquet(f"{folder}/iris.parquet")
    ...     table = ParquetColumns(f"{folder}/iris.parquet", drop=["target"])
    ...     selector = SLFS().fit(table, table.read("target"))
    ...     del table  # Windows does not remove files that are open
    >>> selector.get_feature_names_out().tolist()[-1]
    'petal width (cm)'
    """

    def __init__(
        self, path: str | Path, *, drop: Sequence[str] = (), missing: Sequence[str] = ()
    ) -> None:
        self._marks = Marks(missing)
        try:
            self._file, self._text_rows = _open(path)
            schema = self._schema = self._file.schema_arrow
            index = (schema.pandas_metadata or {}).get("index_columns", ())
        except ImportError as error:
            raise ImportError("Parquet files need pyarrow: pip install 'slfs[parquet]'") from error
        except (FileNotFoundError, PermissionError):
            raise
        except Exception as error:  # PyArrow may raise anything
            raise ValueError(f"{path} cannot be read as parquet: {error}") from error
        path = Path(path)
        self._lock = threading.Lock()  # all threads share the position in the file
        about = self._file.metadata
        if not schema.names:
            raise ValueError(f"{path} has no columns.")
        groups = range(about.num_row_groups)
        self._ends = np.cumsum([about.row_group(group).num_rows for group in groups])
        self._kinds: dict[Any, tuple[bool, bool]] = {}
        self._index = [name for name in index if name in schema.names]
        unwanted = [*self._index, *drop]
        super().__init__(path, list(schema.names), about.num_rows, unwanted)

    def __getstate__(self) -> dict[str, Any]:
        return {name: part for name, part in vars(self).items() if name not in ("_file", "_lock")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._file, self._text_rows = _open(self.path)
        self._lock = threading.Lock()

    def take(self, columns: Columns) -> Any:
        """Read some columns into a pandas DataFrame.

        Parameters
        ----------
        columns : ndarray of int
            Their indices in ``names``.

        Returns
        -------
        frame : DataFrame
        """
        names = [self.names[column] for column in columns]
        return self._read_groups(names).to_pandas(date_as_object=False)

    def originals(self, names: list[str]) -> Any:
        """Read columns by name, even dropped ones, into a DataFrame with the types of the file.

        Parameters
        ----------
        names : list of str

        Returns
        -------
        frame : DataFrame
        """
        return original_frame(self._read_groups(names, marks=Marks(())))

    @property
    def index_names(self) -> list[str]:
        """Names of the index of a dataframe that was written to the file; they are not in ``names``."""
        return self._index

    @property
    def date_names(self) -> list[str]:
        """Names of the columns that hold dates or times."""
        from pyarrow.types import is_temporal

        return [name for name in self.names if is_temporal(self._schema.field(name).type)]

    def first_texts(self) -> Any:
        """Return the first row group of the columns that are not numbers.

        Returns
        -------
        frame : DataFrame
            The columns, with their values as they are.
        """
        names = [self.names[column] for column in np.flatnonzero(~self.numbers)]
        return self._read_groups(names, range(1)).to_pandas()

    def number_block(self, columns: Columns, order: Order) -> NumberBlock:
        part, order = self._read_rows([self.names[column] for column in columns], order)
        values = np.empty((len(columns), part.num_rows if order is None else len(order)))
        time_kind = np.zeros(len(columns), np.int8)
        for index, column in enumerate(part.columns):
            if column.null_count == 0 and str(column.type) in _PLAIN:
                values[index] = reorder(column.to_numpy(), order)
            else:
                own = _frame(part.select([index])).number_block(np.array([0]), order)
                values[index], time_kind[index] = own.value, own.time_kinds()[0]
        return dense_block(values, time_kind)

    def label_block(self, column: int, order: Order) -> LabelBlock:
        part, order = self._read_rows([self.names[column]], order)
        return _frame(part).label_block(0, order)

    def _kind(self, name: str) -> tuple[bool, bool]:
        import pyarrow as pa

        kind = self._schema.field(name).type
        if kind not in self._kinds:
            table = _frame(pa.table({name: pa.array([], kind)}))
            self._kinds[kind] = bool(table.numbers[0]), bool(table.categorical[0])
        return self._kinds[kind]

    def _values(self, name: str) -> NDArray[Any]:
        values: NDArray[Any] = self._read_groups([name]).column(0).to_pandas().to_numpy()
        return values

    def _read_groups(
        self, names: list[str], groups: range | None = None, *, marks: Marks | None = None
    ) -> pa.Table:
        """Read some columns of all row groups, or of the given ones.

        Values in ``marks``, by default those that the user has given, are missing.
        """
        chosen = range(len(self._ends)) if groups is None else groups
        try:
            with self._lock:
                part = _read_columns(self._file, self._text_rows, chosen, names)
        except TooLargeError:
            raise
        except (OSError, ValueError) as error:
            raise ValueError(f"{self.path} is damaged: {error}. Write it again.") from error
        expected = self._ends[chosen[-1]] - (self._ends[chosen[0] - 1] if chosen[0] else 0)
        if part.num_rows != expected:
            raise ValueError(
                f"{self.path} is damaged: it has {part.num_rows} rows, but its metadata says "
                f"{expected}. Write it again."
            )
        return (self._marks if marks is None else marks).remove_arrow(part)

    def _read_rows(self, names: list[str], order: Order) -> tuple[pa.Table, Order]:
        """Read the row groups that hold the given rows; also return the indices of the rows in them."""
        if order is None or len(order) == self.n_samples:
            return self._read_groups(names), order
        first, last = np.searchsorted(self._ends, [order.min(), order.max()], side="right")
        part = self._read_groups(names, range(first, last + 1))
        inside: Rows = order - (self._ends[first - 1] if first else 0)
        return part, inside


def _frame(table: pa.Table) -> Table:
    import narwhals as nw

    from slfs.tables.frames import FrameTable

    return FrameTable(nw.from_native(table, eager_only=True))


def _open(source: Any) -> tuple[pq.ParquetFile, dict[str, int]]:
    """Open a file; also return how many rows are safe to read of columns that may be too large."""
    import pyarrow.parquet as pq

    file = pq.ParquetFile(source)
    about, leaves, names, limit = file.metadata, file.schema, file.schema_arrow.names, max_bytes()
    refuse_beyond(8 * about.num_rows, "a column")
    if len(set(names)) < len(names):
        raise ValueError("it has duplicate column names. Rename the copies.")
    text_rows = {}
    for index in range(about.num_columns):
        if leaves.column(index).physical_type != "BYTE_ARRAY":
            continue
        parts = [about.row_group(group).column(index) for group in range(about.num_row_groups)]
        longest = max((part.total_uncompressed_size for part in parts), default=0)  # bound of one text
        if longest * about.num_rows > limit:
            text_rows[leaves.column(index).path] = max(limit // longest, 1)
    return file, text_rows


def _read_columns(
    file: pq.ParquetFile, text_rows: dict[str, int], groups: range, columns: list[str]
) -> pa.Table:
    """Read columns of some row groups; raise an error if their text exceeds the limit."""
    import pyarrow as pa

    table = file.read_row_groups(groups, columns=[name for name in columns if name not in text_rows])
    size = 0
    for name in columns:
        if name not in text_rows:
            continue
        pieces = []
        for batch in file.iter_batches(text_rows[name], row_groups=list(groups), columns=[name]):
            size += batch.nbytes
            refuse_beyond(size, f"the text of {name!r}")
            pieces.append(batch.column(0))
        table = table.append_column(batch.schema.field(0), pa.chunked_array(pieces))
    table.validate(full=True)
    return table.select(columns)


def _read(content: io.BytesIO, options: ReadOptions) -> tuple[Any, Any]:
    table = Marks(options.missing).remove_arrow(_read_table(content))
    return table.to_pandas(self_destruct=True, split_blocks=False, date_as_object=False), None


def _read_original(content: io.BytesIO, _options: ReadOptions) -> Any:
    return original_frame(_read_table(content))


def _read_table(content: io.BytesIO) -> pa.Table:
    file, text_rows = _open(content)
    refuse_beyond(file.metadata.num_rows * file.metadata.num_columns, "the table")
    groups = range(file.num_row_groups)
    return _read_columns(file, text_rows, groups, file.schema_arrow.names)


def _write(frame: Any, path: Path) -> None:
    frame.to_parquet(path, index=False)


register_format(
    "parquet",
    ["parquet", "pq"],
    _read,
    read_original=_read_original,
    open_columns=ParquetColumns,
    write=_write,
    requirement="slfs[parquet]",
)
