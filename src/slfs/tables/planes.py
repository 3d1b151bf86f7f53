"""Columns that already are bit planes, such as genotypes: no values are read, sorted or coded.

A table with such columns has a mask ``planes`` and a method ``plane_block``. All else works on the
counts of the values, which are popcounts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from slfs.counting.planes import SampleLayout
from slfs.counting.value_planes import LevelPlanes, count_values
from slfs.tables.table import Columns, NumberBlock, Table, TimeKinds


@dataclass(frozen=True)
class PlaneBlock:
    """Some columns of numbers with few values, as one bit plane per value.

    Attributes
    ----------
    values : ndarray of shape (n_values,)
        The values that may occur, in ascending order.
    words : ndarray of uint64 of shape (n_columns, n_values, n_words)
        The plane of each value. Samples without a bit in any plane of a column are missing.
    layout : SampleLayout
        The order of the samples.
    """

    values: NDArray[np.float64]
    words: NDArray[np.uint64]
    layout: SampleLayout

    def take(self, columns: Columns) -> PlaneBlock:
        """Return some columns of the block."""
        every = len(columns) == len(self.words)
        return self if every else replace(self, words=self.words[columns])

    def time_kinds(self) -> TimeKinds:
        """Return the `TimeKind` of each column: they are numbers."""
        return np.zeros(len(self.words), np.int8)

    def class_counts(self) -> NDArray[np.int64]:
        """Count the samples of each value and class, of shape (n_columns, n_values, n_classes)."""
        counts = np.empty((*self.words.shape[:2], self.layout.n_classes), np.int64)
        count_values(self.words, self.layout.first_word, counts)
        return counts

    def dense(self) -> NDArray[np.float64]:
        """Return all values, of shape (n_columns, n_samples), with NaN for missing ones."""
        level = np.tile(np.arange(len(self.values) + 1, dtype=np.uint8), (len(self.words), 1))
        values = np.append(self.values, np.nan)
        return values[LevelPlanes(self.words, level).decoded(self.layout)]


class PlaneTable(Protocol):
    """A table that has columns as bit planes.

    These are columns of ``numbers``, and `number_block` can read them, too.
    """

    planes: NDArray[np.bool_]
    """Which columns are planes."""

    def plane_block(self, columns: Columns, layout: SampleLayout) -> PlaneBlock:
        """Return columns as planes, with the samples in the order of ``layout``."""


Numbers = NumberBlock | PlaneBlock
"""Columns of numbers as a table has them."""


def as_planes(table: Table) -> PlaneTable | None:
    """Return a table as one that has planes; None if it has none."""
    return cast("PlaneTable", table) if hasattr(table, "plane_block") else None


def is_planes(table: Table) -> NDArray[np.bool_]:
    """Return which columns of a table are planes."""
    own = as_planes(table)
    return np.zeros(table.n_features, np.bool_) if own is None else own.planes


def read_numbers(table: Table, columns: Columns, layout: SampleLayout) -> Numbers:
    """Read columns of numbers: as planes if all of them are planes."""
    own = as_planes(table)
    if own is not None and len(columns) and own.planes[columns].all():
        return own.plane_block(columns, layout)
    return table.number_block(columns, layout.order)
