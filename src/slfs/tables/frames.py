"""Dataframes of pandas, polars, PyArrow and other libraries that narwhals supports -> tables."""

from __future__ import annotations

from collections import Counter
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from slfs.tables.arrays import ArrayTable, read_array
from slfs.tables.dates import TimeKind, days, report_dates
from slfs.tables.table import (
    Columns,
    LabelBlock,
    NumberBlock,
    Order,
    Table,
    dense_block,
    make_label_block,
    reorder,
)
from slfs.tables.values import kind_of_numbers, to_numbers


def read_frame(X: Any) -> Table:
    """Read a dataframe; other objects are read as arrays."""
    if not nw.dependencies.is_into_dataframe(X):
        refuse_other_frames(X)
        return read_array(X)
    names = Counter(getattr(X, "column_names", getattr(X, "columns", ())))
    if len(names) < sum(names.values()):
        duplicates = [name for name, count in names.items() if count > 1]
        raise ValueError(
            f"X has duplicate column names: {duplicates[:5]}. Rename or drop the copies, so that each "
            "selected feature is one column."
        )
    frame = nw.from_native(X, eager_only=True)
    if frame.implementation.is_pandas():
        dtypes = X.dtypes.to_list()
        plain = np.array([isinstance(dtype, np.dtype) and dtype.kind in "biuf" for dtype in dtypes])
        if plain.all() and len(set(dtypes)) == 1:
            return ArrayTable(X.to_numpy())
        if plain.any():
            others = np.flatnonzero(~plain)
            return PandasTable(X, plain, read_columns(frame[:, others.tolist()]))
    return read_columns(frame)


def refuse_other_frames(X: Any) -> None:
    """Raise an error about frames that would be read as arrays, without the names of their columns."""
    if isinstance(X, nw.LazyFrame) or type(X).__name__ == "LazyFrame":
        raise TypeError("X is a lazy frame, which is not supported. Pass X.collect() instead.")
    if hasattr(X, "schema") and (hasattr(X, "__arrow_c_array__") or hasattr(X, "__arrow_c_stream__")):
        raise TypeError(
            f"X is a {type(X).__name__}, which is not supported. Pass it as a table: pyarrow.table(X)."
        )


def read_columns(frame: nw.DataFrame[Any]) -> FrameTable:
    """Read the columns of a dataframe, whatever their type."""
    table = FrameTable(frame)
    report_dates([series.name for series in table.columns if series.dtype.is_temporal()])
    return table


class FrameTable:
    """A dataframe, read column by column."""

    def __init__(self, frame: nw.DataFrame[Any]) -> None:
        self.columns = list(map(_in_utc, frame.iter_columns()))
        self.n_samples, self.n_features = frame.shape
        kinds = [_kind(_dense(series)) for series in self.columns]
        self.numbers = np.array([kind != "label" for kind in kinds])
        self.categorical = np.array([kind in ("label", "boolean") for kind in kinds])
        self._time_kinds = np.array(
            [kind if isinstance(kind, TimeKind) else 0 for kind in kinds], np.int8
        )

    def number_block(self, columns: Columns, order: Order) -> NumberBlock:
        values = np.empty((len(columns), self.n_samples if order is None else len(order)))
        for index, column in enumerate(columns):
            values[index] = reorder(_series_numbers(_dense(self.columns[column])), order)
        return dense_block(values, self._time_kinds[columns])

    def label_block(self, column: int, order: Order) -> LabelBlock:
        return _label_block(_dense(self.columns[column]), order)


def _label_block(series: nw.Series[Any], order: Order) -> LabelBlock:
    """Return the labels of a column, with those that are missing."""
    null = series.is_null().to_numpy()
    if series.dtype.is_integer() and null.any():  # NumPy would round large integers to floats
        values = reorder(np.array(series.to_list(), dtype=object), order)
    else:
        values = reorder(plain_values(series), order)
    # tolist turns nanoseconds into integers
    plain = list(values) if values.dtype.kind in "mM" else values.tolist()
    block = make_label_block(plain, series.name)
    missing = block.missing | reorder(null, order)
    return LabelBlock(block.values, missing, series.name, _category_order(series))


class PandasTable:
    """A pandas dataframe that has, among others, columns of NumPy numbers: those are read together.

    Parameters
    ----------
    frame : pandas.DataFrame
        The dataframe.
    plain : ndarray of bool
        Which columns are NumPy numbers or booleans.
    others : FrameTable
        The other columns.
    """

    def __init__(self, frame: Any, plain: NDArray[np.bool_], others: FrameTable) -> None:
        self._frame, self._plain, self._others = frame, plain, others
        self.n_samples, self.n_features = frame.shape
        self._place = np.cumsum(~plain) - 1
        self.numbers = plain.copy()
        self.numbers[~plain] = others.numbers
        self.categorical = np.array([dtype == np.bool_ for dtype in frame.dtypes.to_list()])
        self.categorical[~plain] = others.categorical

    def number_block(self, columns: Columns, order: Order) -> NumberBlock:
        if self._plain[columns].all():
            values = self._frame.iloc[:, columns].to_numpy(np.float64)
            return dense_block(np.ascontiguousarray(reorder(values, order).T))
        if not self._plain[columns].any():
            return self._others.number_block(self._place[columns], order)
        parts = [self.number_block(column, order) for column in columns[:, np.newaxis]]
        values = np.concatenate([part.dense() for part in parts])
        return dense_block(values, np.concatenate([part.time_kinds() for part in parts]))

    def label_block(self, column: int, order: Order) -> LabelBlock:
        if not self._plain[column]:
            return self._others.label_block(int(self._place[column]), order)
        series = nw.from_native(self._frame.iloc[:, column], series_only=True)
        return _label_block(series, order)


def plain_values(series: nw.Series[Any]) -> NDArray[Any]:
    """Return a column of a dataframe as an array."""
    if series.dtype in (nw.Int128, nw.UInt128):
        return np.array(series.to_list(), dtype=object)  # NumPy has no such type
    if series.implementation.is_pyarrow() and series.dtype == nw.Categorical:
        series = series.cast(nw.String)  # PyArrow's own conversion of dictionaries drops nulls
    values: NDArray[Any] = series.to_numpy()
    return values


def _category_order(series: nw.Series[Any]) -> list[Any] | None:
    """Return the categories of an ordered categorical column in order; None for others.

    These are columns of pandas, also if they were written to a Parquet or Arrow file. An Enum of polars
    has an order too, but it is used for categories of any kind.
    """
    native = series.to_native()
    if series.implementation.is_pyarrow() and getattr(native.type, "ordered", False):
        chunks = native.unify_dictionaries().chunks
        if not chunks:
            return None
        categories = chunks[0].dictionary.cast("string").to_pylist()  # as `plain_values` returns them
        return [category for category in categories if category is not None] or None
    dtype = getattr(native, "dtype", None)
    if not getattr(dtype, "ordered", False):
        return None
    found: list[Any] = getattr(dtype, "categories", np.empty(0)).tolist()
    return found or None


def _in_utc(series: nw.Series[Any]) -> nw.Series[Any]:
    """Convert timestamps of pandas to UTC if narwhals does not know the name of their time zone."""
    native = series.to_native()
    if series.dtype != nw.Unknown or getattr(getattr(native, "dtype", None), "tz", None) is None:
        return series
    return nw.from_native(native.dt.tz_convert("UTC"), series_only=True)


def to_numpy(frame: nw.DataFrame[Any]) -> NDArray[Any]:
    """Convert a dataframe to an array, also if it has sparse columns of pandas beside dense ones."""
    sparse = [series for series in frame.iter_columns() if _is_sparse(series)]
    return (frame.with_columns(*map(_dense, sparse)) if sparse else frame).to_numpy()


def _is_sparse(series: nw.Series[Any]) -> bool:
    """Whether a column is a sparse one of pandas, which narwhals does not know."""
    return series.dtype == nw.Unknown and hasattr(
        getattr(series.to_native(), "dtype", None), "fill_value"
    )


def _dense(series: nw.Series[Any]) -> nw.Series[Any]:
    if not _is_sparse(series):
        return series
    return nw.from_native(series.to_native().sparse.to_dense(), series_only=True)


def _kind(series: nw.Series[Any]) -> TimeKind | str:
    """Classify a column as a kind of numbers, "boolean" or "label"; raise an error for other types."""
    if _holds_objects(series):
        found = kind_of_numbers(plain_values(series).tolist())
        return "label" if found is None else found
    dtype = series.dtype
    held = _value_type(series)
    if held.is_nested() or held == nw.Binary or (held == nw.Unknown and not series.is_null().all()):
        native = series.to_native()
        shown = getattr(native, "dtype", getattr(native, "type", dtype)) if held == nw.Unknown else dtype
        raise ValueError(
            f"The column {series.name!r} of X has type {shown}, which is not supported. "
            "Expand it into several columns, convert it to numbers, or drop it."
        )
    if dtype.is_temporal():
        return TimeKind.DATE if dtype in (nw.Date, nw.Datetime) else TimeKind.DURATION
    if dtype.is_numeric() or dtype == nw.Unknown:
        return TimeKind.NUMBER
    return "boolean" if dtype == nw.Boolean else "label"


def _value_type(series: nw.Series[Any]) -> Any:
    """Return the type of the values; narwhals calls every PyArrow dictionary a column of text."""
    if series.dtype != nw.Categorical or not series.implementation.is_pyarrow():
        return series.dtype
    import pyarrow

    empty = pyarrow.chunked_array([], series.to_native().type.value_type)
    return nw.from_native(empty, series_only=True).dtype


def _holds_objects(series: nw.Series[Any]) -> bool:
    """Return whether a column contains Python objects; narwhals may report them as strings."""
    native = getattr(series.to_native(), "dtype", None)
    return (isinstance(native, np.dtype) and native.kind == "O") or series.dtype == nw.Object


def _series_numbers(series: nw.Series[Any]) -> NDArray[np.float64]:
    if series.dtype == nw.Boolean and not _holds_objects(series):
        series = series.cast(nw.Int8)
    values = plain_values(series)
    if values.dtype.kind in "biuf":
        return values.astype(np.float64)
    if values.dtype.kind in "mM":
        return days(values)
    return to_numbers(values.tolist())
