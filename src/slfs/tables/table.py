"""Anything a user has -> validated blocks of columns.

The only file that knows dataframes. A table hands out its columns in blocks: numbers as entries
(value, sample), everything else as Python values with a mask of the missing ones.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_array

from slfs._core.ragged import ragged, starts
from slfs.tables.gather import gather
from slfs.tables.values import (
    DATES,
    are_numbers,
    is_dask,
    masked_as_missing,
    missing_values,
    plain_values,
    to_numbers,
)

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class NumberBlock:
    """A few columns of numbers as entries: those of column j are ``indptr[j]:indptr[j + 1]``.

    ``sample`` is None where every sample has an entry, in order; otherwise it names the sample of each
    entry, and samples without one have the value 0. Where they all are whole numbers from 0 to 255 the
    values of a dense block may be bytes, an eighth of the memory to move.
    """

    n_samples: int
    indptr: NDArray[np.int64]
    value: NDArray[Any]
    sample: NDArray[np.int64] | None

    def take(self, columns: NDArray[np.int64]) -> NumberBlock:
        """Some columns of the block."""
        if len(columns) == len(self.indptr) - 1:
            return self
        if self.sample is None:
            return dense_block(self.value.reshape(-1, self.n_samples)[columns])
        indptr, source = ragged(self.indptr[columns], np.diff(self.indptr)[columns])
        return NumberBlock(self.n_samples, indptr, self.value[source], self.sample[source])

    def dense(self) -> NDArray[np.float64]:
        """All values: one row for each column, one entry for each sample."""
        if self.sample is None:
            return self.value.reshape(-1, self.n_samples).astype(np.float64, copy=False)
        n_columns = len(self.indptr) - 1
        values = np.zeros((n_columns, self.n_samples))
        values[np.repeat(np.arange(n_columns), np.diff(self.indptr)), self.sample] = self.value
        return values


@dataclass(frozen=True)
class LabelBlock:
    """One column as Python values, which of them are missing, and what the column is called."""

    values: list[Any]
    missing: NDArray[np.bool_]
    name: object


class Table(Protocol):
    """What the rest of the library sees of a user's table."""

    n_samples: int
    n_features: int
    numbers: NDArray[np.bool_]
    """Which columns hold numbers (booleans among them)."""
    categorical: NDArray[np.bool_]
    """Which columns are categorical by their type."""

    def number_block(self, columns: NDArray[np.int64], order: Rows) -> NumberBlock:
        """Columns as numbers, NaN for what is none; the given samples, in this order."""

    def label_block(self, column: int, order: Rows) -> LabelBlock:
        """One column as Python values, the given samples in this order."""


class ColumnSource(ABC):
    """A table that is somewhere else and hands its columns out when asked for them.

    Attributes
    ----------
    names : list of str
        Names of the columns.
    n_samples, n_features, numbers, categorical
        As in `Table`.
    """

    names: list[str]
    n_samples: int
    n_features: int
    numbers: NDArray[np.bool_]
    categorical: NDArray[np.bool_]

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""
        return self.n_samples, self.n_features

    def __len__(self) -> int:
        return self.n_samples

    @abstractmethod
    def number_block(self, columns: NDArray[np.int64], order: Rows) -> NumberBlock:
        """Columns as numbers, NaN for what is none; samples in the given order."""

    @abstractmethod
    def label_block(self, column: int, order: Rows) -> LabelBlock:
        """One column as Python values, samples in the given order."""

    @abstractmethod
    def take(self, columns: NDArray[np.int64]) -> Any:
        """Some columns as a dataframe in memory."""


def read_table(X: Any, *, min_samples: int = 1) -> Table:
    """Recognise a table and check it.

    Parameters
    ----------
    X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
        NumPy (numbers, strings, objects, memmap), SciPy sparse, pandas, polars, PyArrow or whatever
        narwhals reads eagerly; arrays and dataframes of Dask's, which stay where they are.
    min_samples : int, default=1
        With fewer rows a ValueError is raised.

    Returns
    -------
    table : Table
    """
    if isinstance(X, ColumnSource):
        check_size((X.n_samples, X.n_features), min_samples)
        return X
    if is_dask(X):
        from slfs.tables.dask import read_dask

        return read_dask(X, min_samples)
    if nw.dependencies.is_into_dataframe(X):
        return _read_frame(X, min_samples)
    if isinstance(X, str | Path):
        raise TypeError(
            f"X is a path or a string ({str(X)[:60]!r}): read the file first, for example with "
            "pandas.read_csv, or give slfs.files.columns.ParquetColumns(path)."
        )
    if isinstance(X, nw.LazyFrame) or type(X).__name__ == "LazyFrame":
        raise TypeError("X is a lazy frame, which has no values yet. Give X.collect() instead.")
    array = check_array(
        keep_types(masked_as_missing(X)),
        accept_sparse=("csc", "csr"),
        accept_large_sparse=True,
        dtype=None,
        ensure_all_finite=False,
        ensure_min_samples=min_samples,
    )
    if sparse.issparse(array):
        check_places(array)
        return SparseTable(array)
    if array.dtype.kind in "mM":
        raise ValueError(f"X has dtype {array.dtype}: {DATES}")
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported: give the real and imaginary parts as columns.")
    if array.dtype.kind in "biuf":
        return ArrayTable(array)
    return ObjectTable(array)


def resolve_categorical(
    choice: str | Sequence[Any] | NDArray[Any], table: Table, names: NDArray[Any] | None
) -> NDArray[np.bool_]:
    """Turn the parameter ``categorical_features`` into a mask over the columns."""
    if isinstance(choice, str):
        return table.categorical if choice == "from_dtype" else np.ones(table.n_features, bool)
    chosen = np.asarray(choice)
    if chosen.dtype.kind == "T":
        chosen = chosen.astype(object)
    mask: NDArray[np.bool_] = table.categorical.copy()
    if chosen.dtype == bool:
        if chosen.shape != (table.n_features,):
            raise ValueError(
                f"The mask 'categorical_features' has shape {chosen.shape}; expected "
                f"({table.n_features},), one entry for each column of X."
            )
        mask |= chosen
        return mask
    if chosen.dtype.kind in "UO":
        known = {} if names is None else {name: place for place, name in enumerate(names)}
        unknown = [name for name in chosen.tolist() if name not in known]
        if unknown:
            raise ValueError(
                f"'categorical_features' names columns that X does not have: {unknown[:5]}. "
                f"X has {'no column names' if names is None else list(names[:10])}."
            )
        chosen = np.array([known[name] for name in chosen.tolist()], dtype=int)
    outside = [index for index in chosen.tolist() if index not in range(table.n_features)]
    if outside:
        raise ValueError(
            f"'categorical_features' has the index {outside[0]}; X has columns "
            f"0 to {table.n_features - 1}."
        )
    mask[chosen.astype(int)] = True
    return mask


def check_places(matrix: Any) -> None:
    """Refuse a matrix in rows or columns (csr, csc) whose entries lie outside of it.

    SciPy and the kernels trust them; SciPy's own check passes over a matrix that says it has no entries.
    """
    bounds, places = matrix.indptr, matrix.indices
    n_parts, n_places = matrix.shape if matrix.format == "csr" else matrix.shape[::-1]
    sound = len(bounds) == n_parts + 1 and bounds[0] == 0 and bool((bounds[1:] >= bounds[:-1]).all())
    if sound:
        places = places[: bounds[-1]]
        sound = bounds[-1] == len(places) <= len(matrix.data)
        sound = sound and (len(places) == 0 or 0 <= places.min() <= places.max() < n_places)
    if not sound:
        raise ValueError(
            f"X is a sparse matrix of shape {matrix.shape} that does not hold together: its indptr, "
            "indices and data do not fit. Make it anew from its entries, for example with "
            "scipy.sparse.coo_array."
        )


class ArrayTable:
    """A NumPy array of numbers or booleans, any memory order, memory-mapped or not."""

    def __init__(self, array: NDArray[Any]) -> None:
        self._array = array
        self.n_samples, self.n_features = array.shape
        self.numbers = np.ones(self.n_features, bool)
        self.categorical = np.full(self.n_features, array.dtype.kind == "b")

    def number_block(self, columns: NDArray[np.int64], order: Rows) -> NumberBlock:
        return dense_block(gather(self._array, columns, order))

    def label_block(self, column: int, order: Rows) -> LabelBlock:
        return _label_block(self._array[order, column].tolist(), column)


class SparseTable:
    """A SciPy sparse matrix; what it does not store is 0."""

    def __init__(self, matrix: Any) -> None:
        self._matrix = sparse.csc_array(matrix)
        if not self._matrix.has_canonical_format:
            self._matrix = self._matrix.copy()  # the user's own is left as it is
            self._matrix.sum_duplicates()
        self.n_samples, self.n_features = matrix.shape
        self.numbers = np.ones(self.n_features, bool)
        self.categorical = np.full(self.n_features, matrix.dtype.kind == "b")

    def number_block(self, columns: NDArray[np.int64], order: Rows) -> NumberBlock:
        place = np.full(self.n_samples, -1)
        place[order] = np.arange(len(order))
        lengths = np.diff(self._matrix.indptr)[columns].astype(np.int64)
        indptr, source = ragged(self._matrix.indptr[columns], lengths)
        sample = place[self._matrix.indices[source]]
        if len(order) < self.n_samples:  # some rows only
            wanted = sample >= 0
            source, sample, indptr = source[wanted], sample[wanted], starts(wanted)[indptr]
        return NumberBlock(len(order), indptr, self._matrix.data[source].astype(np.float64), sample)

    def label_block(self, column: int, order: Rows) -> LabelBlock:
        return _label_block(self._matrix[:, [column]].toarray()[order, 0].tolist(), column)


class ObjectTable:
    """A NumPy array of strings or Python objects: each column is numbers or labels."""

    def __init__(self, array: NDArray[Any]) -> None:
        self._array = array
        self.n_samples, self.n_features = array.shape
        self.numbers = np.array(
            [are_numbers(array[:, j].tolist(), j) for j in range(self.n_features)], dtype=bool
        )
        self.categorical = ~self.numbers

    def number_block(self, columns: NDArray[np.int64], order: Rows) -> NumberBlock:
        values = [to_numbers(self._array[order, column].tolist()) for column in columns]
        return dense_block(np.array(values).reshape(len(columns), len(order)))

    def label_block(self, column: int, order: Rows) -> LabelBlock:
        return _label_block(self._array[order, column].tolist(), column)


class FrameTable:
    """A dataframe, read column by column."""

    def __init__(self, frame: nw.DataFrame[Any]) -> None:
        self._columns = list(frame.iter_columns())
        self.n_samples, self.n_features = frame.shape
        kinds = [_kind(series) for series in self._columns]
        self.numbers = np.array([kind != "label" for kind in kinds])
        self.categorical = np.array([kind != "number" for kind in kinds])

    def number_block(self, columns: NDArray[np.int64], order: Rows) -> NumberBlock:
        values = np.empty((len(columns), len(order)))
        for place, column in enumerate(columns):
            values[place] = _series_numbers(self._columns[column])[order]
        return dense_block(values)

    def label_block(self, column: int, order: Rows) -> LabelBlock:
        series = self._columns[column]
        block = _label_block(plain_values(series)[order].tolist(), series.name)
        null = series.is_null().to_numpy()[order]
        return LabelBlock(block.values, block.missing | null, series.name)


def keep_types(X: Any) -> Any:
    """Rows of a list that have text in them as objects: NumPy would turn their numbers into text."""
    if isinstance(X, list | tuple) and any(
        isinstance(cell, str) for row in X if isinstance(row, list | tuple) for cell in row
    ):
        return np.asarray(X, dtype=object)
    return X


def _read_frame(X: Any, min_samples: int) -> Table:
    names = Counter(getattr(X, "column_names", getattr(X, "columns", ())))
    if len(names) < sum(names.values()):
        twice = [name for name, count in names.items() if count > 1]
        raise ValueError(
            f"X has duplicate column names: {twice[:5]}. Rename or drop the copies, so that each "
            "selected feature is one column."
        )
    frame = nw.from_native(X, eager_only=True)
    check_size(frame.shape, min_samples)
    if frame.implementation.is_pandas() and len(set(X.dtypes)) == 1:
        dtype = X.dtypes.iloc[0]
        if isinstance(dtype, np.dtype) and dtype.kind in "biuf":
            return ArrayTable(X.to_numpy())
    return FrameTable(frame)


def check_size(shape: tuple[int, int], min_samples: int) -> None:
    """Refuse what scikit-learn refuses of arrays."""
    if shape[1] == 0:
        raise ValueError(
            f"Found array with 0 feature(s) (shape={shape}) while a minimum of 1 is required."
        )
    if shape[0] < min_samples:
        raise ValueError(
            f"Found array with {shape[0]} sample(s) (shape={shape}) while a minimum of {min_samples} is "
            "required."
        )


def _kind(series: nw.Series[Any]) -> str:
    """What a column of a dataframe is: "number", "boolean" or "label"; refuse what can be none."""
    if _holds_objects(series):
        return "number" if are_numbers(plain_values(series).tolist(), series.name) else "label"
    dtype = series.dtype
    if dtype.is_temporal():
        raise ValueError(f"The column {series.name!r} of X has type {dtype}: {DATES}")
    held = _held_type(series)
    if held.is_nested() or held == nw.Binary or (held == nw.Unknown and not series.is_null().all()):
        raise ValueError(
            f"The column {series.name!r} of X has type {dtype}, which slfs cannot code. "
            "Expand it into plain columns, turn it into numbers, or drop it."
        )
    if dtype.is_numeric() or dtype == nw.Unknown:
        return "number"
    return "boolean" if dtype == nw.Boolean else "label"


def _held_type(series: nw.Series[Any]) -> Any:
    """The type of a column, or of the values of a dictionary of PyArrow's: narwhals calls these text."""
    if series.dtype != nw.Categorical or not series.implementation.is_pyarrow():
        return series.dtype
    import pyarrow

    empty = pyarrow.chunked_array([], series.to_native().type.value_type)
    return nw.from_native(empty, series_only=True).dtype


def _holds_objects(series: nw.Series[Any]) -> bool:
    """Tell a column of Python objects, which narwhals may take for strings by its first values."""
    native = getattr(series.to_native(), "dtype", None)
    return (isinstance(native, np.dtype) and native.kind == "O") or series.dtype == nw.Object


def _series_numbers(series: nw.Series[Any]) -> NDArray[np.float64]:
    if series.dtype == nw.Boolean and not _holds_objects(series):
        series = series.cast(nw.Int8)
    values = plain_values(series)
    if values.dtype.kind in "biuf":
        return values.astype(np.float64)
    return to_numbers(values.tolist())


def _label_block(values: list[Any], name: object) -> LabelBlock:
    return LabelBlock(values, missing_values(values), name)


def dense_block(values: NDArray[np.float64] | NDArray[np.uint8]) -> NumberBlock:
    """A block of one row for each column, one entry for each sample."""
    n_columns, n_samples = values.shape
    indptr = np.arange(n_columns + 1, dtype=np.int64) * n_samples
    return NumberBlock(n_samples, indptr, values.reshape(-1), None)
