"""CuPy arrays -> tables: the array stays on the card; blocks of columns are moved when they are read."""

from __future__ import annotations

from typing import Any

import numpy as np

from slfs.tables.table import Columns, LabelBlock, NumberBlock, Order, dense_block, make_label_block


def read_cupy(X: Any) -> CupyTable:
    """Read a two-dimensional CuPy array of numbers or booleans."""
    import cupy

    if not isinstance(X, cupy.ndarray):
        raise TypeError(
            f"X is a {type(X).__name__} of CuPy, which is not supported. Pass a cupy.ndarray or X.get()."
        )
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got {X.ndim}D array instead. Reshape your data.")
    if X.dtype.kind not in "biuf":
        raise ValueError(f"X has dtype {X.dtype}, which is not supported. Pass real numbers.")
    return CupyTable(X)


class CupyTable:
    """A CuPy array of numbers or booleans."""

    def __init__(self, array: Any) -> None:
        self._array = array
        self.n_samples, self.n_features = array.shape
        self.numbers = np.ones(self.n_features, bool)
        self.categorical = np.full(self.n_features, array.dtype.kind == "b")

    def number_block(self, columns: Columns, order: Order) -> NumberBlock:
        return dense_block(np.ascontiguousarray(self._part(columns, order).T.get(), np.float64))

    def label_block(self, column: int, order: Order) -> LabelBlock:
        return make_label_block(self._part([column], order)[:, 0].get().tolist(), column)

    def take(self, columns: Columns) -> Any:
        """Return some columns, as a CuPy array."""
        return self._part(columns, None)

    def _part(self, columns: Any, order: Order) -> Any:
        import cupy

        part = self._array[:, cupy.asarray(columns)]
        return part if order is None else part[cupy.asarray(order)]
