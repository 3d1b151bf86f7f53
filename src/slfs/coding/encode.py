"""A coding and a new table -> codes, for `predict` and `transform`. Plain NumPy, no kernels."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
from numpy.typing import NDArray

from slfs._core.threads import Threads
from slfs.coding.codebook import Coding, missing_codes
from slfs.tables.table import LabelBlock, Table

_FEW_THRESHOLDS = 24
"""Comparing with each of this few thresholds is faster than a binary search."""

_BLOCK_ENTRIES = 1 << 20
"""Maximum number of values that are read at a time."""


def encode_table(
    table: Table, coding: Coding, columns: NDArray[np.int64], threads: Threads
) -> NDArray[np.uint8]:
    """Code some columns of a table, given their coding: an array of shape (n_columns, n_samples)."""
    codes = np.empty((len(columns), table.n_samples), np.uint8)

    def encode(part: NDArray[np.int64]) -> None:
        if int(part[0]) in coding.categories:
            labels = table.label_block(int(columns[part[0]]), None)
            codes[part] = encode_labels(coding, int(part[0]), labels)
        else:
            values = table.number_block(columns[part], None).dense()
            codes[part] = _encode_numbers(coding.take(part), values)

    if len(columns):
        threads.map(encode, _blocks(coding, table.n_samples))
    return codes


def encode_labels(coding: Coding, column: int, block: LabelBlock) -> NDArray[np.uint8]:
    """Code one column by the values of its categories: an array of shape (1, n_samples)."""
    missing = int(missing_codes(coding)[column])
    levels = coding.categories[column]
    codes = [
        missing if gone or not isinstance(value, Hashable) else levels.get(value, missing)
        for value, gone in zip(block.values, block.missing, strict=True)
    ]
    return np.array([codes], np.uint8)


def _blocks(coding: Coding, n_samples: int) -> list[NDArray[np.int64]]:
    """Split the columns: categories one by one, numbers in blocks that fit in the cache."""
    width = max(1, _BLOCK_ENTRIES // max(n_samples, 1))
    blocks: list[list[int]] = [[]]
    for column in range(len(coding)):
        alone = column in coding.categories
        if alone or len(blocks[-1]) == width or (blocks[-1] and blocks[-1][0] in coding.categories):
            blocks.append([])
        blocks[-1].append(column)
    return [np.array(block) for block in blocks if block]


def _encode_numbers(coding: Coding, values: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Code numbers, one row per column, by the number of the column's thresholds below each."""
    codes = np.zeros(values.shape, np.uint8)
    missing = missing_codes(coding)
    for j, (row, out) in enumerate(zip(values, codes, strict=True)):
        thresholds = coding.column_thresholds(j)
        if len(thresholds) <= _FEW_THRESHOLDS:
            for threshold in thresholds.tolist():
                out += row > threshold
        else:
            out[:] = np.searchsorted(thresholds, row)
        unknown = np.isnan(row)
        if not coding.cut[j]:  # the thresholds are the known values: all others are new
            unknown |= np.append(thresholds, np.nan)[out] != row
        if unknown.any():
            out[unknown] = missing[j]
    return codes
