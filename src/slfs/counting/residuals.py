"""Sums of residuals and weights of each level, in fixed point -> the gain of a column (numba).

The gain is the sum of (sum of residuals)^2 / (sum of weights + ridge) over the levels of a column
and the classes: how much a Newton step of its table lowers the log loss of the model. These are the only
floats in `slfs.counting`: each gain is computed from exact integers, in a fixed order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from slfs._core.compile import helper, inlined, kernel, late_kernel, popcount
from slfs._core.ragged import starts
from slfs._core.vectors import eight_zeros, load_ints, store
from slfs.counting.kernels import MAX_PLANES, PACKED, WORD, PackedArrays

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Words = NDArray[np.uint64]
Rows = NDArray[np.int16]

GAIN_RIDGE = 5.0
"""Regularizer of the gain, as a number of samples."""

RESIDUAL_SCALE, WEIGHT_SCALE = 2.0**15, 2.0**16
"""Residuals have 16 bits, weights (at most 1/4) 14."""

_i1, _i2, _f1 = types.int64[::1], types.int64[:, ::1], types.float64[::1]
_u1, _u2 = types.uint64[::1], types.uint64[:, ::1]
ZERO, ONE, TWO, THREE, FOUR = (np.uint64(n) for n in range(5))
EIGHT = np.uint64(8)

AT_ONCE = np.uint64(1000)
"""Number of words of samples whose residuals can be added in 32 bits."""


def row_length(n_residuals: int) -> int:
    """Return the length of a row with the residuals and weights of one sample.

    One pair stays as it is; longer rows are padded to a multiple of eight.
    """
    return 2 if n_residuals == 1 else -(-2 * n_residuals // 8) * 8


def residual_gains(sums: Ints, n_levels: Ints, ridge: float = GAIN_RIDGE) -> Floats:
    """Compute the gain of each column.

    ``sums`` has one row per level, column after column: the sums of the residuals, then those of the
    weights. With two classes there is one residual only, since that of the other class is its negative.
    """
    gains = np.empty(len(n_levels))
    column_gains(sums, starts(n_levels), ridge, gains)
    return gains


@inlined
def _gain(residual: int, weight: int, ridge: float) -> float:
    part = residual / RESIDUAL_SCALE
    return part * part / (weight / WEIGHT_SCALE + ridge)


@kernel(types.void(_i2, _i1, types.float64, _f1))
def column_gains(sums: Ints, offset: Ints, ridge: float, out: Floats) -> None:
    """Compute the gain of each column from the sums of its levels, from ``offset[j]`` on."""
    n = sums.shape[1] // 2
    for j in range(offset.shape[0] - 1):
        gain = 0.0
        for row in range(offset[j], offset[j + 1]):
            for c in range(n):
                gain += _gain(sums[row, c], sums[row, n + c], ridge)
        out[j] = 2.0 * gain if n == 1 else gain


class Residuals(NamedTuple):
    """Residuals and weights of the samples in one step of a pursuit, in fixed point.

    Attributes
    ----------
    rows : ndarray of shape (n_samples, row length)
        The residuals of each sample, its weights, and zeros, see `row_length`.
    totals : ndarray of shape (row length,)
        The sum of the rows.
    n_residuals : int
        Number of residuals of each sample, and of its weights.
    """

    rows: Rows
    totals: Ints
    n_residuals: int

    @classmethod
    def of_rows(cls, rows: Rows, n_residuals: int) -> Residuals:
        """Add up the rows."""
        return cls(rows, rows.sum(axis=0, dtype=np.int64), n_residuals)

    def weights(self) -> Ints:
        """Return the residuals and weights without the zeros at the end of each row."""
        return self.rows[:, : 2 * self.n_residuals].astype(np.int64)


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
        return int(_newest_unseen(self.seen, self.columns[0], n_steps))

    def lower_first(self, step: int, gain: float) -> None:
        """Lower the bound of the first column to its gain in a step, and put it where it belongs."""
        _lower_first(self.columns, self.bounds, self.seen, step, gain)

    def front(self, number: int) -> Words:
        """Return the columns with the highest bounds, the first one among them, in any order."""
        if number >= len(self):
            return self.columns.copy()
        highest = np.argpartition(-self.bounds[self.columns], number)[:number]
        return self.columns[np.union1d(highest, [0])]

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
def _newest_unseen(seen: Words, column: np.uint64, n_steps: int) -> int:
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
def _lower_first(columns: Words, bounds: Floats, seen: Words, step: int, gain: float) -> None:
    first = columns[ZERO]
    seen[step >> 6, first] |= ONE << np.uint64(step & 63)
    if gain < bounds[first]:
        bounds[first] = gain
        _sink(columns, bounds, 0)


@kernel(
    types.void(
        PACKED,
        types.int16[::1],
        _i1,
        types.int64,
        types.float64,
        types.int64,
        types.int64,
        _u1,
        _f1,
        _u2,
    )
)
def settle_in_step(
    packed: PackedArrays,
    rows: Rows,
    totals: Ints,
    n_residuals: int,
    ridge: float,
    step: int,
    n_steps: int,
    columns: Words,
    bounds: Floats,
    seen: Words,
) -> None:
    """Compute gains in a step while it is the newest that the first column of a queue has not seen.

    ``rows`` (flat), ``totals`` and ``n_residuals`` are the fields of `Residuals`; ``columns``,
    ``bounds`` and ``seen`` those of `Queue`.
    """
    n_samples = packed.home_sample[np.uint64(packed.home_sample.shape[0] - 1)]
    length = np.uint64(totals.shape[0])
    n = np.uint64(n_residuals)
    sums = np.empty((256, length), np.int64)
    while _newest_unseen(seen, columns[ZERO], n_steps) == step:
        j = columns[ZERO]
        levels = packed.levels[j]
        sums[:levels] = 0
        if levels > MAX_PLANES + ONE:
            for i in range(n_samples):
                word = packed.words[packed.offset[j] + (i >> THREE)]
                level = (word >> ((i & np.uint64(7)) << THREE)) & np.uint64(255)
                for w in range(length):
                    sums[level, w] += rows[i * length + w]
        else:
            last = levels - ONE
            for w in range(length):
                sums[last, w] = totals[w]
            for level in range(last):
                if length == TWO:
                    _add_pairs(packed, j, level, rows, sums)
                else:
                    _add_rows(packed, j, level, rows, length, sums)
                for w in range(length):
                    sums[last, w] -= sums[level, w]
        gain = 0.0
        for level in range(levels):
            for c in range(n):
                gain += _gain(sums[level, c], sums[level, n + c], ridge)
        _lower_first(columns, bounds, seen, step, 2.0 * gain if n == ONE else gain)


@helper
def _add_pairs(packed: PackedArrays, j: np.uint64, level: np.uint64, rows: Rows, sums: Ints) -> None:
    """Add up the rows of the samples of a level: one residual and one weight."""
    n_classes = np.uint64(packed.home_word.shape[0] - 1)
    plane = packed.offset[j] + level * packed.home_word[n_classes]
    residual, weight = np.int64(0), np.int64(0)
    for c in range(n_classes):
        first = TWO * packed.home_sample[c]
        for k in range(packed.home_word[c], packed.home_word[c + ONE]):
            word = packed.words[plane + k]
            while word != ZERO:
                place = first + TWO * popcount((word & (~word + ONE)) - ONE)
                residual += rows[place]
                weight += rows[place + ONE]
                word &= word - ONE
            first += TWO * WORD
    sums[level, ZERO], sums[level, ONE] = residual, weight


@helper
def _add_rows(
    packed: PackedArrays, j: np.uint64, level: np.uint64, rows: Rows, length: np.uint64, sums: Ints
) -> None:
    """Add up the rows of the samples of a level, four vectors at a time, in 32 bits for a while."""
    n_classes = np.uint64(packed.home_word.shape[0] - 1)
    plane = packed.offset[j] + level * packed.home_word[n_classes]
    for begin in range(ZERO, length, FOUR * EIGHT):
        # Beyond the end of the rows: the last vector once more, which is faster than to distinguish.
        w1, w2 = min(begin + EIGHT, length - EIGHT), min(begin + TWO * EIGHT, length - EIGHT)
        w3 = min(begin + THREE * EIGHT, length - EIGHT)
        v0, v1, v2, v3 = eight_zeros(), eight_zeros(), eight_zeros(), eight_zeros()
        n_words = ZERO
        for c in range(n_classes):
            first = length * packed.home_sample[c]
            for k in range(packed.home_word[c], packed.home_word[c + ONE]):
                word = packed.words[plane + k]
                while word != ZERO:
                    row = first + length * popcount((word & (~word + ONE)) - ONE)
                    v0 = v0 + load_ints(rows, row + begin)
                    v1 = v1 + load_ints(rows, row + w1)
                    v2 = v2 + load_ints(rows, row + w2)
                    v3 = v3 + load_ints(rows, row + w3)
                    word &= word - ONE
                first += length * WORD
                n_words += ONE
                if n_words == AT_ONCE:
                    _add_vectors(v0, v1, v2, v3, begin, sums[level])
                    v0, v1, v2, v3 = eight_zeros(), eight_zeros(), eight_zeros(), eight_zeros()
                    n_words = ZERO
        _add_vectors(v0, v1, v2, v3, begin, sums[level])


@helper
def _add_vectors(v0: Any, v1: Any, v2: Any, v3: Any, begin: np.uint64, sums: Ints) -> None:
    """Add four vectors to the sums from ``begin`` on."""
    part = np.empty(FOUR * EIGHT, np.int32)
    store(v0, part, ZERO)
    store(v1, part, EIGHT)
    store(v2, part, TWO * EIGHT)
    store(v3, part, THREE * EIGHT)
    for k in range(min(FOUR * EIGHT, np.uint64(sums.shape[0]) - begin)):
        sums[begin + k] += part[k]
