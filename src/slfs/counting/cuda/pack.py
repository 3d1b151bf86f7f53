"""An array of small integers on the card -> one bit plane per value."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from slfs.counting.cuda.card import launch


def pack_values(
    array: Any, columns: NDArray[np.int64], source: NDArray[np.int32], n_values: int
) -> NDArray[np.uint64]:
    """Pack columns of a CuPy array: the planes of the values 0 ... ``n_values`` - 1, at most 4.

    ``source`` is the row of each bit, -1 for bits of no sample. The result has shape (n_columns,
    n_values, n_words); other values have no bit.
    """
    import cupy

    name = "pack_b1" if array.dtype.kind == "b" else f"pack_{array.dtype.kind}{array.dtype.itemsize}"
    if name == "pack_f2":
        array, name = array[:, cupy.asarray(columns)].astype(cupy.float32), "pack_f4"
        columns = np.arange(len(columns))
    n_words = len(source) // 64
    strides = (np.int64(stride // array.dtype.itemsize) for stride in array.strides)
    words = cupy.empty((len(columns), n_values, n_words), cupy.uint64)
    asked = (cupy.asarray(columns.astype(np.int64)), np.int64(len(columns)))
    bits = (cupy.asarray(source), np.int64(n_words), np.int32(n_values))
    launch(name, -(-len(columns) * n_words // 32), 4, (array, *strides, *asked, *bits, words))
    packed: NDArray[np.uint64] = words.get()
    return packed
