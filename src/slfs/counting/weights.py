"""Packed columns and integer weights per sample -> sums of the weights of each level (numba).

A weight is the sum of 2^b times its bit b. With the bits as planes, the sum of the weights of a level is
a sum of popcounts of AND-ed planes, shifted. With many weights per sample it is faster to add the
weights of one sample after another (`slfs.counting.kernels.level_sums`). Both give the same integers.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from slfs._core.compile import kernel, popcount
from slfs.counting.kernels import PACKED, PackedArrays
from slfs.counting.planes import MAX_PLANE_LEVELS, SampleLayout

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

_i1, _i2, _u1 = types.int64[::1], types.int64[:, ::1], types.uint64[::1]
_u3 = types.uint64[:, :, ::1]
ZERO, ONE = np.uint64(0), np.uint64(1)

# Measured times in nanoseconds, used to choose the cheaper way.
POPCOUNT, SAMPLE, ADD = 0.35, 2.0, 0.12


class WeightPlanes(NamedTuple):
    """Weights as bit planes.

    Attributes
    ----------
    words : ndarray of shape (n_weights, n_bits, n_words)
        The bits of each weight, in the layout of the columns' planes.
    lowest : ndarray of shape (n_weights,)
        Smallest weight, which is subtracted so that none is negative.
    totals : ndarray of shape (n_weights,)
        Sum of each weight over all samples.
    """

    words: Words
    lowest: Ints
    totals: Ints


class PreparedWeights:
    """Weights of shape (n_samples, n_weights) in the forms that the kernels read.

    Parameters
    ----------
    weights : ndarray of shape (n_samples, n_weights)
        Integers of less than 32 bits.
    layout : SampleLayout
        The order of the samples.
    """

    def __init__(self, weights: Ints, layout: SampleLayout) -> None:
        self.weights, self._layout = weights, layout
        self._n_bits = max(1, (int(weights.max()) - int(weights.min())).bit_length())

    @functools.cached_property
    def planes(self) -> WeightPlanes:
        """The weights as bit planes."""
        lowest = self.weights.min(axis=0)
        shape = (self.weights.shape[1], self._n_bits, self._layout.n_words)
        words = np.zeros(shape, np.uint64)
        pack_weights(self.weights - lowest, self._layout.bit_positions(), words)
        return WeightPlanes(words, lowest, self.weights.sum(axis=0))

    @functools.cached_property
    def rows(self) -> NDArray[np.int32]:
        """The weights in 32 bits."""
        return self.weights.astype(np.int32)

    @functools.cached_property
    def at_once(self) -> int:
        """Number of samples whose weights can be added in 32 bits."""
        return max(1, (2**31 - 1) // max(1, -int(self.weights.min()), int(self.weights.max())))

    def by_planes(self, levels: Ints) -> bool:
        """Whether popcounts are cheaper than adding sample by sample; the sums are the same."""
        if len(levels) == 0 or levels.max() > MAX_PLANE_LEVELS:
            return False
        n_samples, n_weights = self.weights.shape
        n_popcounts = (float(levels.mean()) - 1) * self._layout.n_words * self._n_bits * n_weights
        return n_popcounts * POPCOUNT < n_samples * (SAMPLE + ADD * n_weights)


@kernel(types.void(_i2, _i1, _u3))
def pack_weights(weights: Ints, position: Ints, words: Words) -> None:
    """Write the bits of non-negative weights; ``position`` is the bit of each sample in a plane."""
    for i in range(weights.shape[0]):
        word, bit = position[i] >> 6, np.uint64(position[i] & 63)
        for w in range(weights.shape[1]):
            weight = np.uint64(weights[i, w])
            for b in range(words.shape[1]):
                words[w, b, word] |= ((weight >> np.uint64(b)) & ONE) << bit


@kernel(types.void(PACKED, _u1, _u3, _i1, _i1, _i2))
def level_sums_by_planes(
    packed: PackedArrays, columns: Words, words: Words, lowest: Ints, totals: Ints, out: Ints
) -> None:
    """Add up the weights of the samples of each level: one row per level, column by column.

    The arguments ``words``, ``lowest`` and ``totals`` are the fields of `WeightPlanes`. The last level
    is what remains of the totals.
    """
    n_words = packed.home_word[np.uint64(packed.home_word.shape[0] - 1)]
    n_classes = np.uint64(packed.first_word.shape[0] - 1)
    n_weights, n_bits = np.uint64(words.shape[0]), np.uint64(words.shape[1])
    first = ZERO
    for i in range(np.uint64(columns.shape[0])):
        j = columns[i]
        last = packed.levels[j] - ONE
        for w in range(n_weights):
            out[first + last, w] = totals[w]
        for a in range(last):
            size = np.int64(0)
            for c in range(n_classes):
                size += packed.class_counts[packed.counts_offset[j] + a * n_classes + c]
            start = packed.offset[j] + a * n_words
            for w in range(n_weights):
                total = size * lowest[w]
                for b in range(n_bits):
                    count = ZERO
                    for k in range(n_words):
                        count += popcount(packed.words[start + k] & words[w, b, k])
                    total += np.int64(count << b)
                out[first + a, w] = total
                out[first + last, w] -= total
        first += packed.levels[j]
