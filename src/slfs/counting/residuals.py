"""Sums of residuals and weights of each level, in fixed point -> the gain of a column (numba).

The gain of a table is the sum of (sum of residuals)^2 / (sum of weights + ridge) over the levels of a
column and the classes: how much a Newton step of the table lowers the log loss of the model. The gain
of a trend is the same for one slope per class over the scores of the quartiles of a column of numbers. A
trend has fewer parameters than a table, and uses the order of the numbers beyond the cut points; the
gain of a column of numbers is a weighted mean of both. Missing values are a level of their own in both.

These are the only floats in `slfs.counting`: each gain is computed from exact integers, in a fixed
order.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from slfs._core.compile import helper, inlined, kernel, popcount
from slfs._core.ragged import ragged, starts
from slfs._core.vectors import eight_zeros, load_ints, store
from slfs.counting.kernels import MAX_PLANES, PACKED, WORD, PackedArrays
from slfs.counting.planes import PackedColumns
from slfs.counting.queue import lower_first, newest_unseen

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Words = NDArray[np.uint64]
Rows = NDArray[np.int16]

GAIN_RIDGE = 5.0
"""Regularizer of the gain, as a number of samples."""

TREND_SHARE = 2 / 3
"""Share of the trend in the gain of a column that has one; the rest is that of its table."""

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


def residual_gains(
    packed: PackedColumns, columns: Ints, sums: Ints, quartile_sums: Ints | None
) -> Floats:
    """Compute the gains of some columns: of their tables, or the mean with those of their trends.

    ``sums`` has one row per level, column after column: the sums of the residuals, then those of the
    weights. ``quartile_sums`` are the same for the quartiles. With two classes there is one residual
    only, since that of the other class is its negative.
    """
    ridge = GAIN_RIDGE * packed.layout.unit
    gains = np.empty(len(columns))
    table_gains(sums, starts(packed.arrays.levels[columns]), ridge, gains)
    quartiles = packed.quartiles
    if quartiles is not None and quartile_sums is not None:
        levels = quartiles.arrays.levels[columns].astype(np.int64)
        first, chosen = ragged(quartiles.level_starts[columns], levels)
        mix_trend_gains(quartile_sums, first, quartiles.scores[chosen], ridge, gains)
    return gains


@inlined
def _gain(residual: int, weight: int, ridge: float) -> float:
    part = residual / RESIDUAL_SCALE
    return part * part / (weight / WEIGHT_SCALE + ridge)


@helper
def _table_gain(sums: Ints, first: int, stop: int, n: int, ridge: float) -> float:
    """Return the gain of a table, the sums of whose levels are rows of ``sums``."""
    gain = 0.0
    for row in range(first, stop):
        for c in range(n):
            gain += _gain(sums[row, c], sums[row, n + c], ridge)
    return 2.0 * gain if n == 1 else gain


@helper
def _trend_gain(sums: Ints, first: int, stop: int, n: int, scores: Floats, ridge: float) -> float:
    """Return the gain of a slope over the scores of the levels from row ``first`` on.

    The weights are those of deviations from the mean score, because the model has a constant. Missing
    values, whose score is NaN, have a constant of their own, and so have the others then.
    """
    gain = 0.0
    for c in range(n):
        residual, weight, linear, square = 0.0, 0.0, 0.0, 0.0
        known, has_missing = 0, False
        for row in range(first, stop):
            score = scores[row - first]
            if math.isnan(score):
                has_missing = True
                gain += _gain(sums[row, c], sums[row, n + c], ridge)
                continue
            own = sums[row, n + c] / WEIGHT_SCALE
            residual += score * (sums[row, c] / RESIDUAL_SCALE)
            weight += own
            linear += score * own
            square += score * score * own
            known += sums[row, c]
        if has_missing:
            gain += (known / RESIDUAL_SCALE) ** 2 / (weight + ridge)
        if weight > 0.0:
            square = max(square - linear * linear / weight, 0.0)
            if has_missing:  # otherwise the constant of the model has made the residuals add up to 0
                residual -= linear / weight * (known / RESIDUAL_SCALE)
        gain += residual * residual / (square + ridge)
    return 2.0 * gain if n == 1 else gain


@kernel(types.void(_i2, _i1, types.float64, _f1))
def table_gains(sums: Ints, first: Ints, ridge: float, out: Floats) -> None:
    """Compute the gain of the table of each column from the sums of its levels, from ``first[j]`` on."""
    n = sums.shape[1] // 2
    for j in range(first.shape[0] - 1):
        out[j] = _table_gain(sums, first[j], first[j + 1], n, ridge)


@helper
def _mixed_gain(table: float, sums: Ints, first: int, n: int, scores: Floats, ridge: float) -> float:
    """Return the weighted mean of the gains of a table and of a trend, if the column has a trend.

    Otherwise its first score is 0.
    """
    if scores[0] == 0.0:
        return table
    trend = _trend_gain(sums, first, first + scores.shape[0], n, scores, ridge)
    return (1.0 - TREND_SHARE) * table + TREND_SHARE * trend


@kernel(types.void(_i2, _i1, _f1, types.float64, _f1))
def mix_trend_gains(sums: Ints, first: Ints, scores: Floats, ridge: float, out: Floats) -> None:
    """Replace the gains of tables by `_mixed_gain`; one score per row of the sums."""
    n = sums.shape[1] // 2
    for j in range(first.shape[0] - 1):
        own = scores[first[j] : first[j + 1]]
        out[j] = _mixed_gain(out[j], sums, first[j], n, own, ridge)


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
        totals = np.zeros(rows.shape[1], np.int64)
        add_rows(rows, totals)
        return cls(rows, totals, n_residuals)

    def weights(self) -> Ints:
        """Return the residuals and weights without the zeros at the end of each row."""
        return self.rows[:, : 2 * self.n_residuals].astype(np.int64)


@kernel(types.void(types.int16[:, ::1], _i1))
def add_rows(rows: Rows, totals: Ints) -> None:
    """Add up rows of 16-bit integers, three times as fast as NumPy does."""
    for i in range(np.uint64(rows.shape[0])):
        for w in range(np.uint64(rows.shape[1])):
            totals[w] += rows[i, w]


class Trends(NamedTuple):
    """The quartiles of the columns for a kernel.

    Attributes
    ----------
    quartiles : PackedArrays
        The quartiles as bit planes.
    first : ndarray of shape (n_columns + 1,)
        Start of the scores of each column; a single entry if there are no quartiles.
    scores : ndarray
        The score of each quartile, column after column.
    """

    quartiles: PackedArrays
    first: Ints
    scores: Floats

    @classmethod
    def of(cls, packed: PackedColumns) -> Trends:
        """Return the quartiles of packed columns, if they have any."""
        own = packed.quartiles
        if own is None:
            return cls(packed.arrays, np.zeros(1, np.int64), np.empty(0))
        return cls(own.arrays, own.level_starts, own.scores)


TRENDS = types.NamedTuple([PACKED, _i1, _f1], Trends)
"""The type of `Trends` in the signature of a kernel."""


@kernel(
    types.void(
        PACKED,
        TRENDS,
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
    trends: Trends,
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
    sums = np.empty((256, totals.shape[0]), np.int64)
    while newest_unseen(seen, columns[ZERO], n_steps) == step:
        j = columns[ZERO]
        _add_levels(packed, j, rows, totals, sums)
        gain = _table_gain(sums, 0, np.int64(packed.levels[j]), n_residuals, ridge)
        if trends.first.shape[0] > 1:
            own = trends.scores[trends.first[j] : trends.first[j + ONE]]
            if own[0] != 0.0:
                _add_levels(trends.quartiles, j, rows, totals, sums)
            gain = _mixed_gain(gain, sums, 0, n_residuals, own, ridge)
        lower_first(columns, bounds, seen, step, gain)


@helper
def _add_levels(packed: PackedArrays, j: np.uint64, rows: Rows, totals: Ints, sums: Ints) -> None:
    """Add up the rows of the samples of each level of a column."""
    n_samples = packed.home_sample[np.uint64(packed.home_sample.shape[0] - 1)]
    length, levels = np.uint64(totals.shape[0]), packed.levels[j]
    sums[:levels] = 0
    if levels > MAX_PLANES + ONE:
        for i in range(n_samples):
            word = packed.words[packed.offset[j] + (i >> THREE)]
            level = (word >> ((i & np.uint64(7)) << THREE)) & np.uint64(255)
            for w in range(length):
                sums[level, w] += rows[i * length + w]
        return
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
