"""NumPy arrays and lists of rows -> tables."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from slfs.tables.dates import days, time_kind
from slfs.tables.table import (
    Columns,
    LabelBlock,
    NumberBlock,
    Order,
    dense_block,
    make_label_block,
    reorder,
)
from slfs.tables.values import kind_of_numbers, masked_as_missing, to_numbers


def read_array(X: Any) -> ArrayTable | ObjectTable:
    """Read a two-dimensional array, or an object that NumPy can convert to one."""
    array = check_any_array(keep_types(masked_as_missing(X)))
    if array.dtype.kind in "mM":
        return TimeTable(array)
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported: pass real and imaginary parts as columns.")
    return ArrayTable(array) if array.dtype.kind in "biuf" else ObjectTable(array)


def check_any_array(X: Any) -> Any:
    """Let scikit-learn check an array or a sparse matrix of any dtype, missing values and size."""
    return check_array(
        X,
        accept_sparse=("csc", "csr"),
        accept_large_sparse=True,
        dtype=None,
        ensure_all_finite=False,
        ensure_min_samples=0,
        ensure_min_features=0,
    )


def keep_types(X: Any) -> Any:
    """Convert a list of rows to an array; an object array if it contains text, to keep the numbers."""
    if not isinstance(X, list | tuple):
        return X
    text = any(isinstance(cell, str) for row in X if isinstance(row, list | tuple) for cell in row)
    return np.asarray(X, dtype=object if text else None)


def indexable(X: Any) -> Any:
    """Convert a table to a format that supports `safe_indexing`, if necessary."""
    if hasattr(X, "tocsr"):  # coordinate and diagonal formats cannot be indexed
        return X.tocsr()
    return keep_types(nw.to_native(X, pass_through=True))


class ArrayTable:
    """A NumPy array of numbers or booleans, in any memory order, memory-mapped or not."""

    def __init__(self, array: NDArray[Any]) -> None:
        self._array = array
        self.n_samples, self.n_features = array.shape
        self.numbers = np.ones(self.n_features, bool)
        self.categorical = np.full(self.n_features, array.dtype.kind == "b")

    def number_block(self, columns: Columns, order: Order) -> NumberBlock:
        if order is None:
            return dense_block(np.array(self._array[:, columns].T, dtype=np.float64, order="C"))
        from slfs.tables.gather import gather  # imports numba, which prediction does without

        return dense_block(gather(self._array, columns, order))

    def label_block(self, column: int, order: Order) -> LabelBlock:
        return make_label_block(reorder(self._array[:, column], order).tolist(), column)


class TimeTable(ArrayTable):
    """A NumPy array of dates or of durations, which are used as numbers of days."""

    def __init__(self, array: NDArray[Any]) -> None:
        super().__init__(days(array))
        self._times = array

    def number_block(self, columns: Columns, order: Order) -> NumberBlock:
        kinds = np.full(len(columns), time_kind(self._times), np.int8)
        return replace(super().number_block(columns, order), time_kind=kinds)

    def label_block(self, column: int, order: Order) -> LabelBlock:
        return make_label_block(list(reorder(self._times[:, column], order)), column)


class ObjectTable:
    """A NumPy array of strings or Python objects: each column holds numbers or labels."""

    def __init__(self, array: NDArray[Any]) -> None:
        self._array = array
        self.n_samples, self.n_features = array.shape
        kinds = [kind_of_numbers(array[:, j].tolist()) for j in range(self.n_features)]
        self._time_kinds = np.array([kind or 0 for kind in kinds], np.int8)
        self.numbers = np.array([kind is not None for kind in kinds], dtype=bool)
        self.categorical = ~self.numbers

    def number_block(self, columns: Columns, order: Order) -> NumberBlock:
        n_samples = self.n_samples if order is None else len(order)
        values = np.empty((len(columns), n_samples))
        for index, column in enumerate(columns):
            values[index] = to_numbers(reorder(self._array[:, column], order).tolist())
        return dense_block(values, self._time_kinds[columns])

    def label_block(self, column: int, order: Order) -> LabelBlock:
        return make_label_block(reorder(self._array[:, column], order).tolist(), column)
