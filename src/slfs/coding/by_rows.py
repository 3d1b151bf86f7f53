"""Columns with too many rows for the memory limit, read in pieces -> their runs and codes.

Runs are counts of (value, class), so the runs of several pieces can be added. A column with more than
MAX_BINS values is counted in bins between quantiles of a sample of the rows: MDLP then chooses cut
points between bins instead of between values. The bins do not depend on how the rows are split.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slfs._core.ragged import starts
from slfs.coding.codebook import Coding
from slfs.coding.cut_kernels import move_between
from slfs.coding.numbers import encode_numbers, make_runs
from slfs.coding.run_kernels import Runs
from slfs.counting.planes import SampleLayout
from slfs.tables.table import Table, TimeKinds

MAX_BINS = 4096
"""Maximum number of distinct values, or bins, among which MDLP chooses cut points."""

SAMPLE_ROWS = 1 << 17
"""Approximate number of rows that are sampled to define the bins."""


@dataclass(frozen=True)
class Piece:
    """Consecutive rows of a table: their layout, and the position of each class in the full layout."""

    layout: SampleLayout
    class_starts: NDArray[np.int64]

    def put(self, part: NDArray[np.uint8], out: NDArray[np.uint8]) -> None:
        """Copy codes (n_columns, rows of the piece) to their positions among those of all rows."""
        bounds = self.layout.first_sample.astype(np.int64)
        for c, start in enumerate(self.class_starts):
            out[:, start : start + bounds[c + 1] - bounds[c]] = part[:, bounds[c] : bounds[c + 1]]


def cut_rows(layout: SampleLayout, n_rows: int) -> Iterator[Piece]:
    """Split the rows of a table into pieces of about ``n_rows``; copies of a row stay together."""
    if n_rows >= layout.n_samples:
        yield Piece(layout, layout.first_sample[:-1].astype(np.int64))
        return
    first = layout.first_sample.astype(np.int64)
    of_class = [layout.order[first[c] : first[c + 1]] for c in range(layout.n_classes)]  # sorted
    begins = np.zeros(layout.n_classes, np.int64)
    bounds = layout.rows_at(np.arange(n_rows, layout.n_samples, n_rows))
    for end in [*np.unique(bounds).tolist(), int(layout.order.max()) + 1]:
        ends = np.array([np.searchsorted(rows, end) for rows in of_class])
        order = [rows[b:e] for rows, b, e in zip(of_class, begins, ends, strict=True)]
        yield Piece(SampleLayout.from_sorted(np.concatenate(order), ends - begins), first[:-1] + begins)
        begins = ends


@dataclass(frozen=True)
class Tally:
    """The runs of a few columns over all rows; the value of a bin is its smallest value.

    ``missing`` contains the number of missing values by class, ``top`` the largest value of the bin of
    each run, and ``time_kinds`` what the numbers of each column stand for.
    """

    runs: Runs
    missing: NDArray[np.int64]
    top: NDArray[np.float64]
    time_kinds: TimeKinds

    def between_bins(
        self, thresholds: NDArray[np.float64], n_cuts: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """Move cut points to the middle between the largest value below them and the next value."""
        moved = np.empty_like(thresholds)
        move_between(self.runs, self.top, thresholds, n_cuts, moved)
        return moved

    def take(self, columns: NDArray[np.int64]) -> Tally:
        """Return the runs of some of the columns."""
        runs = self.runs._replace(start=self.runs.start[columns], stop=self.runs.stop[columns])
        return Tally(runs, self.missing[columns], self.top, self.time_kinds[columns])


def tally_rows(
    table: Table, columns: NDArray[np.int64], layout: SampleLayout, n_rows: int, *, binned: bool
) -> Tally:
    """Add up the runs of columns over pieces of rows; ``binned`` allows bins."""
    edges = _sample_edges(table, columns, layout, n_rows) if binned else [None] * len(columns)
    sums = [_ColumnTally(own, layout.n_classes) for own in edges]
    missing = np.zeros((len(columns), layout.n_classes), np.int64)
    for piece in cut_rows(layout, n_rows):
        block = table.number_block(columns, piece.layout.order)
        runs, own_missing = make_runs(block, piece.layout)
        missing += own_missing
        for j, column in enumerate(sums):
            own = slice(runs.start[j], runs.stop[j])
            column.add(runs.value[own], runs.label[own], runs.size[own])
    parts = [column.finished() for column in sums]
    ends = starts(np.array([len(value) for value, *_ in parts]))
    value, label, size, top = (np.concatenate(own) for own in zip(*parts, strict=True))
    return Tally(Runs(ends[:-1], ends[1:], value, label, size), missing, top, block.time_kinds())


def encode_rows(
    table: Table, coding: Coding, columns: NDArray[np.int64], layout: SampleLayout, n_rows: int
) -> NDArray[np.uint8]:
    """Code columns of numbers piece by piece: one row per column, samples sorted by class."""
    codes = np.empty((len(columns), layout.n_samples), np.uint8)
    for piece in cut_rows(layout, n_rows) if len(columns) else ():
        block = table.number_block(columns, piece.layout.order)
        piece.put(encode_numbers(coding, block), codes)
    return codes


class _ColumnTally:
    """The runs of one column so far: of single values, until there are too many, and of bins."""

    def __init__(self, edges: NDArray[np.float64] | None, n_classes: int) -> None:
        self._edges = edges
        self._exact = True
        self._value, self._label, self._size = np.empty(0), np.empty(0, np.int32), np.empty(0, np.int64)
        n_bins = 0 if edges is None else len(edges) + 1
        self._counts = np.zeros((n_bins, n_classes), np.int64)
        self._low, self._high = np.full(n_bins, np.inf), np.full(n_bins, -np.inf)

    def add(self, value: NDArray[np.float64], label: NDArray[np.int32], size: NDArray[np.int64]) -> None:
        """Add the runs of a piece, sorted by value."""
        if self._edges is not None and len(value):
            bin_of_value = np.searchsorted(self._edges, value)
            np.add.at(self._counts, (bin_of_value, label), size)
            bins, first = np.unique(bin_of_value, return_index=True)
            last = np.append(first[1:], len(value)) - 1
            self._low[bins] = np.minimum(self._low[bins], value[first])
            self._high[bins] = np.maximum(self._high[bins], value[last])
            self._exact &= _n_distinct(value) <= MAX_BINS
        if self._exact:
            self._value, self._label, self._size = _added(
                np.concatenate([self._value, value]),
                np.concatenate([self._label, label]),
                np.concatenate([self._size, size]),
            )
            self._exact = self._edges is None or _n_distinct(self._value) <= MAX_BINS

    def finished(
        self,
    ) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int64], NDArray[np.float64]]:
        """Return value, class and size of each run, and the largest value of its bin."""
        if self._exact:
            return self._value, self._label, self._size, self._value
        bins, label = np.nonzero(self._counts)
        return self._low[bins], label.astype(np.int32), self._counts[bins, label], self._high[bins]


def _n_distinct(ordered: NDArray[np.float64]) -> int:
    return 1 + int((ordered[1:] != ordered[:-1]).sum())


def _added(
    value: NDArray[np.float64], label: NDArray[np.int32], size: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int64]]:
    """Sort runs by value and class, and add up runs with the same value and class."""
    if len(value) == 0:
        return value, label, size
    order = np.lexsort((label, value))
    value, label, size = value[order], label[order], size[order]
    new = np.append(True, (value[1:] != value[:-1]) | (label[1:] != label[:-1]))
    return value[new], label[new], np.add.reduceat(size, np.flatnonzero(new))


def _sample_edges(
    table: Table, columns: NDArray[np.int64], layout: SampleLayout, n_rows: int
) -> list[NDArray[np.float64] | None]:
    """Return the bin edges of each column: the values of a sample of rows, or their quantiles.

    The sample contains one random row of each group of consecutive rows, so that the
    sample is representative of periodic data. It does not depend on the pieces in which it is read.
    """
    step = max(1, layout.n_samples // SAMPLE_ROWS)
    first = np.arange(0, layout.n_samples, step)
    sample = first + np.random.default_rng(0).integers(step, size=len(first))
    sample = layout.rows_at(sample[sample < layout.n_samples])
    sampled: list[list[NDArray[np.float64]]] = [[] for _ in columns]
    for part in np.split(sample, np.searchsorted(sample, np.arange(n_rows, table.n_samples, n_rows))):
        if len(part):
            values = table.number_block(columns, part).dense()
            for own, value in zip(sampled, values, strict=True):
                own.append(value[~np.isnan(value)])
    edges: list[NDArray[np.float64] | None] = []
    for own in sampled:
        value = np.sort(np.concatenate(own))
        distinct = np.unique(value)
        if len(distinct) > MAX_BINS:
            distinct = np.unique(value[len(value) * np.arange(1, MAX_BINS) // MAX_BINS])
        edges.append(distinct)
    return edges
