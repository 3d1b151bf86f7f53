"""Columns -> a queue by decreasing upper bound of their score, for lazy evaluation (numba)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slfs._core.compile import late_kernel

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Words = NDArray[np.uint64]

ZERO, ONE, TWO = (np.uint64(n) for n in range(3))


class Queue:
    """Columns by decreasing upper bound of their score, as a binary heap; ties: the smaller index.

    The score of a column is the minimum of its gains over all steps, so any gain is an upper bound.

    Parameters
    ----------
    bounds : ndarray of shape (n_columns,)
        First upper bound of each column.
    columns : ndarray or None, default=None
        The columns of the queue. None: all of them.

    Attributes
    ----------
    columns : ndarray
        The columns that are still open, as a heap.
    bounds : ndarray of shape (n_columns,)
        Minimum of the gains that have been computed.
    seen : ndarray of shape (n_words, n_columns)
        Bit s of word w: whether the gain in step 64 w + s has been computed.
    """

    def __init__(self, bounds: Floats, columns: Ints | None = None) -> None:
        self.bounds = bounds
        columns = np.arange(len(bounds)) if columns is None else np.sort(columns)
        order = np.argsort(-bounds[columns], kind="stable")  # sorted columns are a heap
        self.columns = columns[order].astype(np.uint64)
        self.seen = np.zeros((1, len(bounds)), np.uint64)

    def __len__(self) -> int:
        return len(self.columns)

    def reserve(self, n_steps: int) -> None:
        """Extend the marks to a number of steps."""
        if n_steps > 64 * len(self.seen):
            self.seen = np.concatenate([self.seen, np.zeros_like(self.seen[:1])])

    def newest_unseen(self, n_steps: int) -> int:
        """Return the newest step that the first column has not seen, or -1."""
        return int(newest_unseen(self.seen, self.columns[0], n_steps))

    def lower_first(self, step: int, gain: float) -> None:
        """Lower the bound of the first column to its gain in a step, and put it where it belongs."""
        lower_first(self.columns, self.bounds, self.seen, step, gain)

    def front(self, number: int) -> Words:
        """Return the columns with the highest bounds, the first one among them, in any order."""
        if number >= len(self):
            return self.columns.copy()
        highest = np.argpartition(-self.bounds[self.columns], number)[:number]
        chosen: Words = self.columns[np.union1d(highest, [0])]
        return chosen

    def newest_unseen_by(self, columns: Words, n_steps: int) -> Ints:
        """Return the newest step that each of some columns has not seen, or -1."""
        newest = np.full(len(columns), -1)
        for step in range(n_steps):
            unseen = (self.seen[step >> 6, columns] >> np.uint64(step & 63)) & ONE == ZERO
            newest[unseen] = step
        return newest

    def lower(self, columns: Ints, step: int, gains: Floats) -> None:
        """Lower the bounds of several columns to their gains in a step; then call `restore`."""
        self.seen[step >> 6, columns] |= ONE << np.uint64(step & 63)
        self.bounds[columns] = np.minimum(self.bounds[columns], gains)

    def restore(self) -> None:
        """Make the columns a heap again after `lower`."""
        _make_heap(self.columns, self.bounds)

    def remove_first(self) -> int:
        """Take the first column out of the queue, and return it."""
        first = int(self.columns[0])
        self.columns[0], self.columns = self.columns[-1], self.columns[:-1]
        _sink(self.columns, self.bounds, 0)
        return first


@late_kernel
def newest_unseen(seen: Words, column: np.uint64, n_steps: int) -> int:
    for step in range(n_steps - 1, -1, -1):
        if not (seen[step >> 6, column] >> np.uint64(step & 63)) & ONE:
            return step
    return -1


@late_kernel
def _make_heap(columns: Words, bounds: Floats) -> None:
    """Reorder columns so that they are a heap."""
    for place in range(columns.shape[0] // 2 - 1, -1, -1):
        _sink(columns, bounds, place)


@late_kernel
def _sink(columns: Words, bounds: Floats, start: int) -> None:
    """Exchange a column of a heap with its successors until none of them precedes it."""
    place, size = np.uint64(start), np.uint64(columns.shape[0])
    while True:
        best = place
        for child in (TWO * place + ONE, TWO * place + TWO):
            if child < size:
                f, g = columns[child], columns[best]
                if bounds[f] > bounds[g] or (bounds[f] == bounds[g] and f < g):
                    best = child
        if best == place:
            return
        columns[place], columns[best] = columns[best], columns[place]
        place = best


@late_kernel
def lower_first(columns: Words, bounds: Floats, seen: Words, step: int, gain: float) -> None:
    first = columns[ZERO]
    seen[step >> 6, first] |= ONE << np.uint64(step & 63)
    if gain < bounds[first]:
        bounds[first] = gain
        _sink(columns, bounds, 0)
