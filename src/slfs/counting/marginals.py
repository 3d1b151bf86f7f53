"""Counts of columns and classes -> integer sums of n log n over each column's table."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slfs._core.ragged import starts
from slfs.counting.kernels import marginal_sums
from slfs.counting.nlogn import NLogN


def column_sums(
    class_counts: NDArray[np.int64], n_levels: NDArray[np.int64], n_classes: int, nlogn: NLogN
) -> NDArray[np.int64]:
    """Return S(f) and S(f,Y) of each column, as integers: an array of shape (n_columns, 2).

    ``class_counts`` contains one row of class counts per level, column by column.
    """
    levels = n_levels.astype(np.uint64)
    offset = starts(n_levels * n_classes).astype(np.uint64)
    sums = np.empty((len(levels), 2), np.int64)
    marginal_sums(class_counts, offset, levels, np.uint64(n_classes), nlogn.table, nlogn.rest, sums)
    return sums
