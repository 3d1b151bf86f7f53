"""Sums of residuals and weights of each level, in fixed point -> the gain of a column (numba).

The gain is the sum of (sum of residuals)^2 / (sum of weights + GAIN_RIDGE) over the levels of a column
and the classes: how much a Newton step of its table lowers the log loss of the model. These are the only
floats in `slfs.counting`: each gain is computed from exact integers, in a fixed order.
"""

from __future__ import annotations

import numpy as np
from numba import types
from numpy.typing import NDArray

from slfs._core.compile import inlined, kernel, popcount
from slfs._core.ragged import starts
from slfs.counting.kernels import PACKED, PackedArrays

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Words = NDArray[np.uint64]

GAIN_RIDGE = 5.0
"""Regularizer of the gain."""

RESIDUAL_SCALE, WEIGHT_SCALE = 2.0**15, 2.0**16
"""Residuals have 16 bits, weights (at most 1/4) 14."""

_i1, _i2, _u1, _f1 = types.int64[::1], types.int64[:, ::1], types.uint64[::1], types.float64[::1]
ZERO, ONE = np.uint64(0), np.uint64(1)


def residual_gains(sums: Ints, n_levels: Ints) -> Floats:
    """Compute the gain of each column.

    ``sums`` has one row per level, column after column: the sums of the residuals, then those of the
    weights. With two classes there is one residual only, since that of the other class is its negative.
    """
    gains = np.empty(len(n_levels))
    column_gains(sums, starts(n_levels), gains)
    return gains


@inlined
def _gain(residual: int, weight: int) -> float:
    part = residual / RESIDUAL_SCALE
    return part * part / (weight / WEIGHT_SCALE + GAIN_RIDGE)


@kernel(types.void(_i2, _i1, _f1))
def column_gains(sums: Ints, offset: Ints, out: Floats) -> None:
    """Compute the gain of each column from the sums of its levels, from ``offset[j]`` on."""
    n = sums.shape[1] // 2
    for j in range(offset.shape[0] - 1):
        gain = 0.0
        for row in range(offset[j], offset[j + 1]):
            for c in range(n):
                gain += _gain(sums[row, c], sums[row, n + c])
        out[j] = 2.0 * gain if n == 1 else gain


@kernel(types.void(PACKED, _u1, types.uint64[:, :, :, ::1], _i2, _i2, _i1, _f1, types.float64))
def lower_scores_by_planes(
    packed: PackedArrays,
    columns: Words,
    words: Words,
    lowest: Ints,
    totals: Ints,
    seen: Ints,
    scores: Floats,
    least: float,
) -> None:
    """Lower the scores of columns, step by step, to the gains that they have not seen.

    ``words``, ``lowest`` and ``totals`` are the fields of `slfs.counting.weights.WeightPlanes`, one per
    step. The last level of a column is what remains of the totals.
    """
    n_words = packed.home_word[np.uint64(packed.home_word.shape[0] - 1)]
    n_classes = np.uint64(packed.first_word.shape[0] - 1)
    n_weights, n_bits = np.uint64(words.shape[1]), np.uint64(words.shape[2])
    n = n_weights >> ONE
    sums, rest = np.empty(n_weights, np.int64), np.empty(n_weights, np.int64)
    for i in range(np.uint64(columns.shape[0])):
        j = columns[i]
        for step in range(np.uint64(seen[j]), np.uint64(words.shape[0])):
            if not scores[j] >= least:
                break
            gain = 0.0
            for w in range(n_weights):
                rest[w] = totals[step, w]
            for a in range(packed.levels[j]):
                if a == packed.levels[j] - ONE:
                    for w in range(n_weights):
                        sums[w] = rest[w]
                else:
                    size = np.int64(0)
                    for c in range(n_classes):
                        size += packed.class_counts[packed.counts_offset[j] + a * n_classes + c]
                    start = packed.offset[j] + a * n_words
                    for w in range(n_weights):
                        total = size * lowest[step, w]
                        for b in range(n_bits):
                            count = ZERO
                            for k in range(n_words):
                                count += popcount(packed.words[start + k] & words[step, w, b, k])
                            total += np.int64(count << b)
                        sums[w] = total
                        rest[w] -= total
                for c in range(n):
                    gain += _gain(sums[c], sums[n + c])
            if n == ONE:
                gain *= 2.0
            scores[j] = min(scores[j], gain)
            seen[j] = np.int64(step) + 1
