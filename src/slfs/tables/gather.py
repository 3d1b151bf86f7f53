"""Some columns of an array in any memory order -> one row per column, samples in the given order.

Each kernel is compiled once per dtype and memory order, when it is first needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from slfs._core.compile import late_kernel

Order = NDArray[np.uint64]
Floats = NDArray[np.float64]
Bytes = NDArray[np.uint8]

_TYPES = [np.dtype(name) for name in ("bool", "i1", "i2", "i4", "i8", "u1", "f4", "f8")]
"""Types that kernels read directly; others (half floats, foreign byte orders) are converted first."""

_BYTE = np.int64(255)


def gather(array: NDArray[Any], columns: NDArray[np.int64], order: NDArray[np.int64]) -> Floats | Bytes:
    """Copy columns to rows: out[j, i] = array[order[i], columns[j]].

    The result holds bytes if the array holds integers or booleans and all values are from 0 to 255, and
    floats otherwise.
    """
    first = int(columns[0]) if len(columns) else 0
    if len(columns) and not np.array_equal(columns, np.arange(first, first + len(columns))):
        array, first = array[:, columns], 0
    if array.dtype not in _TYPES:
        array, first = array[:, first : first + len(columns)].astype(np.float64), 0
    shape, rows = (len(columns), len(order)), order.astype(np.uint64)
    by_column = array.strides[0] < array.strides[1]
    if array.dtype.kind in "biu":
        small = np.empty(shape, np.uint8)
        if (_bytes_by_column if by_column else _bytes_by_row)(array, first, rows, small):
            return small
    values = np.empty(shape)
    (_floats_by_column if by_column else _floats_by_row)(array, first, rows, values)
    return values


@late_kernel
def _floats_by_column(source: NDArray[Any], first: int, order: Order, out: Floats) -> None:
    for j in range(out.shape[0]):
        own = source[:, first + j]
        for i in range(out.shape[1]):
            out[j, i] = own[order[i]]


@late_kernel
def _floats_by_row(source: NDArray[Any], first: int, order: Order, out: Floats) -> None:
    n_columns, n_rows = out.shape
    for begin in range(0, n_rows, 8):  # eight floats fill a cache line
        end = min(begin + 8, n_rows)
        for j in range(n_columns):
            for i in range(begin, end):
                out[j, i] = source[order[i], first + j]


@late_kernel
def _bytes_by_column(source: NDArray[Any], first: int, order: Order, out: Bytes) -> bool:
    """Return False, with ``out`` undefined, if a number does not fit in a byte."""
    for j in range(out.shape[0]):
        own, bits = source[:, first + j], np.int64(0)
        for i in range(out.shape[1]):
            bits |= np.int64(own[order[i]])
            out[j, i] = np.uint8(own[order[i]])
        if bits & ~_BYTE:
            return False
    return True


@late_kernel
def _bytes_by_row(source: NDArray[Any], first: int, order: Order, out: Bytes) -> bool:
    """Return False, with ``out`` undefined, if a number does not fit in a byte.

    Eight rows at a time become one word per column, written without a loop so that the compiler
    vectorizes it.
    """
    n_columns, n_rows = out.shape
    last, whole = first + n_columns, n_rows - n_rows % 8
    words = np.empty(n_columns, np.uint64)
    for i in range(0, whole, 8):
        r0, r1 = source[order[i], first:last], source[order[i + 1], first:last]
        r2, r3 = source[order[i + 2], first:last], source[order[i + 3], first:last]
        r4, r5 = source[order[i + 4], first:last], source[order[i + 5], first:last]
        r6, r7 = source[order[i + 6], first:last], source[order[i + 7], first:last]
        bits = np.int64(0)
        for j in range(n_columns):
            bits |= np.int64(r0[j] | r1[j] | r2[j] | r3[j] | r4[j] | r5[j] | r6[j] | r7[j])
            low = np.uint64(r0[j]) | np.uint64(r1[j]) << np.uint64(8)
            low |= np.uint64(r2[j]) << np.uint64(16) | np.uint64(r3[j]) << np.uint64(24)
            high = np.uint64(r4[j]) | np.uint64(r5[j]) << np.uint64(8)
            high |= np.uint64(r6[j]) << np.uint64(16) | np.uint64(r7[j]) << np.uint64(24)
            words[j] = low | high << np.uint64(32)
        if bits & ~_BYTE:
            return False
        for j in range(n_columns):
            word = words[j]
            for k in range(8):
                out[j, i + k] = np.uint8(word >> np.uint64(8 * k) & np.uint64(255))
    bits = np.int64(0)
    for i in range(whole, n_rows):
        for j in range(n_columns):
            bits |= np.int64(source[order[i], first + j])
            out[j, i] = np.uint8(source[order[i], first + j])
    return not bits & ~_BYTE
