"""Anything a user has -> validated blocks of columns, and label codes.

The only file that knows dataframes. A table hands out its columns in blocks: numbers as entries
(value, sample), everything else as Python values with a mask of the missing ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import narwhals as nw
import numba
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import column_or_1d

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class NumberBlock:
    """A few columns of numbers as entries: those of column j are ``indptr[j]:indptr[j + 1]``.

    ``sample`` is None where every sample has an entry, in order; otherwise it names the sample of each
    entry, and samples without one have the value 0.
    """

    n_samples: int
    indptr: NDArray[np.int64]
    value: NDArray[np.float64]
    sample: NDArray[np.int64] | None

    def take(self, columns: NDArray[np.int64]) -> NumberBlock:
        """Some columns of the block."""
        if len(columns) == len(self.indptr) - 1:
            return self
        if self.sample is None:
            return _dense_block(self.value.reshape(-1, self.n_samples)[columns])
        indptr, source = ragged(self.indptr[columns], np.diff(self.indptr)[columns])
        return NumberBlock(self.n_samples, indptr, self.value[source], self.sample[source])


@dataclass(frozen=True)
class LabelBlock:
    """One column of values that are not numbers, and which of them are missing."""

    values: list[Any]
    missing: NDArray[np.bool_]


class Table(Protocol):
    """What the rest of the library sees of a user's table."""

    n_samples: int
    n_features: int
    numbers: NDArray[np.bool_]
    """Which columns hold numbers (booleans among them)."""
    categorical: NDArray[np.bool_]
    """Which columns are categorical by their type."""

    def number_block(self, columns: NDArray[np.int64], order: Rows) -> NumberBlock:
        """Columns of numbers, samples in the given order."""

    def label_block(self, column: int, order: Rows) -> LabelBlock:
        """One other column, samples in the given order."""


@dataclass(frozen=True)
class Target:
    """The classes, sorted, and the place of each sample's class among them."""

    classes: NDArray[Any]
    codes: NDArray[np.int64]


def read_table(X: Any, *, min_samples: int = 1) -> Table:
    """Recognise a table and check it.

    Parameters
    ----------
    X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
        NumPy (numbers, strings, objects, memmap), SciPy sparse, pandas, polars, PyArrow or whatever
        narwhals reads eagerly.
    min_samples : int, default=1
        With fewer rows a ValueError is raised.

    Returns
    -------
    table : Table
    """
    if nw.dependencies.is_into_dataframe(X):
        return _read_frame(X, min_samples)
    if isinstance(X, list | tuple) and _has_text(X):
        X = np.asarray(X, dtype=object)
    array = check_array(
        X,
        accept_sparse=("csc", "csr"),
        accept_large_sparse=True,
        dtype=None,
        ensure_all_finite=False,
        ensure_min_samples=min_samples,
    )
    if sparse.issparse(array):
        return SparseTable(array)
    if array.dtype.kind in "mM":
        raise ValueError(f"X has dtype {array.dtype}: {_DATES}")
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported: give the real and imaginary parts as columns.")
    if array.dtype.kind in "biuf":
        return ArrayTable(array)
    return ObjectTable(array)


def read_target(y: ArrayLike) -> Target:
    """Recognise class labels and check them: one class for each sample, at least two classes."""
    if y is None:
        raise ValueError(
            "requires y to be passed, but the target y is None. Give one class label for each row."
        )
    if nw.dependencies.is_into_series(y):
        y = nw.from_native(y, series_only=True).to_numpy()
    labels = column_or_1d(np.asarray(y), warn=True)
    if labels.dtype.kind in "mM":
        raise ValueError(f"y has dtype {labels.dtype}: {_DATES}")
    missing = missing_values(labels.tolist()) if labels.dtype.kind in "Of" else np.zeros(1, bool)
    if missing.any():
        raise ValueError(
            f"Input y contains NaN: {missing.sum()} missing label(s), the first at row "
            f"{int(missing.argmax())}. Drop these rows, or give them a class of their own."
        )
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError(
            "Input y contains infinity or a value too large for dtype('float64'). "
            "Give class labels: integers, strings or booleans."
        )
    kind = type_of_target(labels, input_name="y")
    if kind not in ("binary", "multiclass"):
        raise ValueError(
            f"Unknown label type: {kind}. slfs selects for classification: bin y into classes first, "
            "for example with pandas.qcut or sklearn.preprocessing.KBinsDiscretizer."
        )
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError as error:
        raise ValueError(
            f"y mixes labels that cannot be sorted ({error}). Give labels of one type."
        ) from error
    if len(classes) < 2:
        raise ValueError(
            f"y contains one class only ({classes.tolist()[0]!r}): nothing can be relevant to it. "
            "Give rows of at least two classes."
        )
    return Target(classes, codes.astype(np.int64))


def check_same_length(table: Table, target: Target) -> None:
    """Refuse a table and a target of different lengths."""
    if table.n_samples != len(target.codes):
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {table.n_samples} "
            f"rows, y has {len(target.codes)} labels."
        )


def resolve_categorical(
    choice: str | Sequence[Any] | NDArray[Any], table: Table, names: NDArray[Any] | None
) -> NDArray[np.bool_]:
    """Turn the parameter ``categorical_features`` into a mask over the columns."""
    if isinstance(choice, str):
        return table.categorical if choice == "from_dtype" else np.ones(table.n_features, bool)
    chosen = np.asarray(choice)
    mask: NDArray[np.bool_] = ~table.numbers
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
    if chosen.size and (chosen.min() < 0 or chosen.max() >= table.n_features):
        raise ValueError(
            f"'categorical_features' has the index {int(chosen.max())}; X has columns "
            f"0 to {table.n_features - 1}."
        )
    mask[chosen.astype(int)] = True
    return mask


def ragged(
    begins: NDArray[np.int64], lengths: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where pieces of an array stand once put one after another, and the indices that put them so."""
    offset = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    return offset, np.arange(offset[-1]) + np.repeat(begins - offset[:-1], lengths)


def missing_values(values: list[Any]) -> NDArray[np.bool_]:
    """Tell which values stand for a missing one: None, NaN, pandas' NA and NaT."""
    return np.fromiter((_is_missing(value) for value in values), bool, len(values))


class ArrayTable:
    """A NumPy array of numbers or booleans, any memory order, memory-mapped or not."""

    def __init__(self, array: NDArray[Any]) -> None:
        self._array = array
        self.n_samples, self.n_features = array.shape
        self.numbers = np.ones(self.n_features, bool)
        self.categorical = np.full(self.n_features, array.dtype.kind == "b")

    def number_block(self, columns: NDArray[np.int64], order: Rows) -> NumberBlock:
        if len(columns) and (np.diff(columns) == 1).all():  # neighbours: no copy
            part = self._array[:, columns[0] : columns[-1] + 1]
        else:
            part = self._array[:, columns]
        values = np.empty((len(columns), len(order)))
        _gather(part if part.dtype in _GATHERED else part.astype(np.float64), order, values)
        return _dense_block(values)

    def label_block(self, column: int, order: Rows) -> LabelBlock:  # noqa: ARG002
        raise AssertionError("an array of numbers has no other columns")


class SparseTable:
    """A SciPy sparse matrix; what it does not store is 0."""

    def __init__(self, matrix: Any) -> None:
        self._matrix = sparse.csc_array(matrix)
        self._matrix.sum_duplicates()
        self.n_samples, self.n_features = matrix.shape
        self.numbers = np.ones(self.n_features, bool)
        self.categorical = np.full(self.n_features, matrix.dtype.kind == "b")

    def number_block(self, columns: NDArray[np.int64], order: Rows) -> NumberBlock:
        place = np.empty(self.n_samples, np.int64)
        place[order] = np.arange(self.n_samples)
        lengths = np.diff(self._matrix.indptr)[columns].astype(np.int64)
        indptr, source = ragged(self._matrix.indptr[columns], lengths)
        value = self._matrix.data[source].astype(np.float64)
        return NumberBlock(self.n_samples, indptr, value, place[self._matrix.indices[source]])

    def label_block(self, column: int, order: Rows) -> LabelBlock:  # noqa: ARG002
        raise AssertionError("a sparse matrix has no other columns")


class ObjectTable:
    """A NumPy array of strings or Python objects: each column is numbers or labels."""

    def __init__(self, array: NDArray[Any]) -> None:
        self._array = array
        self.n_samples, self.n_features = array.shape
        kinds = [set(map(type, array[:, j].tolist())) for j in range(self.n_features)]
        self.numbers = np.array([_are_numbers(found) for found in kinds])
        self.categorical = ~self.numbers

    def number_block(self, columns: NDArray[np.int64], order: Rows) -> NumberBlock:
        values = np.empty((len(columns), len(order)))
        for place, column in enumerate(columns):
            plain = self._array[order, column].tolist()
            missing = missing_values(plain)
            values[place] = [np.nan if m else v for v, m in zip(plain, missing, strict=True)]
        return _dense_block(values)

    def label_block(self, column: int, order: Rows) -> LabelBlock:
        values = self._array[order, column].tolist()
        return LabelBlock(values, missing_values(values))


class FrameTable:
    """A dataframe, read column by column."""

    def __init__(self, frame: nw.DataFrame[Any], schema: dict[Any, Any]) -> None:
        self._frame = frame
        self.n_samples, self.n_features = frame.shape
        dtypes = list(schema.values())
        objects = {
            place: frame[:, place].to_numpy().tolist()
            for place, dtype in enumerate(dtypes)
            if dtype == nw.Object
        }
        self.numbers = np.array(
            [
                _are_numbers(set(map(type, objects[place])))
                if place in objects
                else dtype.is_numeric() or dtype == nw.Boolean
                for place, dtype in enumerate(dtypes)
            ]
        )
        booleans = np.array([dtype == nw.Boolean for dtype in dtypes])
        self.categorical = ~self.numbers | booleans

    def number_block(self, columns: NDArray[np.int64], order: Rows) -> NumberBlock:
        values = np.empty((len(columns), len(order)))
        for place, column in enumerate(columns):
            series = self._frame[:, int(column)]
            if series.dtype == nw.Boolean:
                series = series.cast(nw.Int8)
            values[place] = series.to_numpy().astype(np.float64)[order]
        return _dense_block(values)

    def label_block(self, column: int, order: Rows) -> LabelBlock:
        series = self._frame[:, column]
        values = series.to_numpy()[order].tolist()
        missing = series.is_null().to_numpy()[order] | missing_values(values)
        return LabelBlock(values, missing)


_DATES = (
    "dates and times are neither numbers nor categories. Turn them into numbers (days since a date, "
    "hour of the day) or into categories (month, weekday) first."
)


def _read_frame(X: Any, min_samples: int) -> Table:
    names = [str(name) for name in getattr(X, "column_names", getattr(X, "columns", ()))]
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise ValueError(
            f"X has duplicate column names: {twice[:5]}. Rename or drop the copies, so that each "
            "selected feature is one column."
        )
    frame = nw.from_native(X, eager_only=True)
    if frame.shape[1] == 0:
        raise ValueError(
            f"Found array with 0 feature(s) (shape={frame.shape}) while a minimum of 1 is required."
        )
    if frame.shape[0] < min_samples:
        raise ValueError(
            f"Found array with {frame.shape[0]} sample(s) (shape={frame.shape}) while a minimum of "
            f"{min_samples} is required."
        )
    schema = dict(frame.schema)
    for name, dtype in schema.items():
        if dtype.is_temporal():
            raise ValueError(f"The column {name!r} of X has type {dtype}: {_DATES}")
        if dtype.is_nested() or dtype in (nw.Binary, nw.Unknown):
            raise ValueError(
                f"The column {name!r} of X has type {dtype}, which slfs cannot code. "
                "Expand it into plain columns, or drop it."
            )
    plain = nw.get_native_namespace(frame).__name__ == "pandas" and len(set(X.dtypes)) == 1
    if plain and isinstance(X.dtypes.iloc[0], np.dtype) and X.dtypes.iloc[0].kind in "biuf":
        return ArrayTable(X.to_numpy())
    return FrameTable(frame, schema)


_GATHERED = [np.dtype(name) for name in ("bool", "i1", "i2", "i4", "i8", "u1", "f4", "f8")]
"""Read as they are; other types of number (half floats, foreign byte orders) are converted first."""


@numba.njit(nogil=True, cache=True)
def _gather(source: NDArray[Any], order: Rows, out: NDArray[np.float64]) -> None:
    """Transpose a few columns with the rows in the given order: out[j, i] = source[order[i], j].

    One version for each type of number, compiled when it is first met.
    """
    n_rows, n_columns = order.shape[0], source.shape[1]
    for begin in range(0, n_rows, 8):
        end = min(begin + 8, n_rows)
        for j in range(n_columns):
            for i in range(begin, end):
                out[j, i] = source[order[i], j]


def _dense_block(values: NDArray[np.float64]) -> NumberBlock:
    n_columns, n_samples = values.shape
    indptr = np.arange(n_columns + 1, dtype=np.int64) * n_samples
    return NumberBlock(n_samples, indptr, values.reshape(-1), None)


def _has_text(rows: Sequence[Any]) -> bool:
    """Tell whether a list of rows has a string in it, which NumPy would turn all numbers into."""
    return any(isinstance(cell, str) for row in rows if isinstance(row, list | tuple) for cell in row)


def _are_numbers(kinds: set[type]) -> bool:
    """Tell whether values of these types are a column of numbers (missing ones among them)."""
    present = {kind for kind in kinds if kind is not type(None) and kind.__name__ not in _NA_TYPES}
    return all(issubclass(kind, int | float | np.number) and kind is not bool for kind in present)


_NA_TYPES = ("NAType", "NaTType")


def _is_missing(value: Any) -> bool:
    if value is None:
        return True
    if isinstance(value, float | np.floating):
        return bool(value != value)
    return type(value).__name__ in _NA_TYPES
