"""CuPy arrays -> tables: the array stays on the card; blocks of columns are moved when they are read.

An array of small integers, such as genotypes or fingerprints, is packed into bit planes on the card, and
only these are moved.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slfs.counting.cuda.pack import pack_values
from slfs.counting.planes import SampleLayout
from slfs.tables.planes import PlaneBlock
from slfs.tables.table import Columns, LabelBlock, NumberBlock, Order, dense_block, make_label_block

_N_VALUES = 4
"""The integers below this number are packed on the card."""

_CHECKED_AT_ONCE = 1 << 26
"""Number of values that are checked at a time, which bounds the memory of the check."""


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

    @functools.cached_property
    def planes(self) -> NDArray[np.bool_]:
        """Which columns can be packed on the card: all, if all values are small or missing, or none."""
        height = max(1, _CHECKED_AT_ONCE // max(self.n_features, 1))
        parts = (self._array[first : first + height] for first in range(0, self.n_samples, height))
        return np.full(self.n_features, all(_are_small(part) for part in parts))

    def plane_block(self, columns: Columns, layout: SampleLayout) -> PlaneBlock:
        """Return columns as planes, with the samples in the order of ``layout``."""
        source = np.full(64 * layout.n_words, -1, np.int32)  # the row of each bit; -1: of none
        source[layout.bit_positions()] = layout.order
        words = pack_values(self._array, columns, source, _N_VALUES)
        return PlaneBlock(np.arange(_N_VALUES, dtype=np.float64), words, layout)

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


def _are_small(values: Any) -> bool:
    """Whether all values are integers below `_N_VALUES`, or missing."""
    if values.dtype.kind == "b":
        return True
    small = (values >= 0) & (values < _N_VALUES)
    if values.dtype.kind == "f":
        small = (small & (values % 1 == 0)) | (values != values)  # NaN
    return bool(small.all())
