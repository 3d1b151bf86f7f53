"""Two blocks of packed columns -> the pairs that may interact, and their tables (numba)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from slfs._core.compile import helper, inlined, kernel, popcount
from slfs.counting.kernels import (
    ONE,
    PACKED,
    THREE,
    TWO,
    ZERO,
    Counts,
    PackedArrays,
    Words,
    count_planes,
    sums_of_few_levels,
)

_CACHE_WORDS = 1 << 13
"""Words of the columns that all columns of the other block are counted with, one after another."""


class PairScreen(NamedTuple):
    """Which pairs of columns to keep, as integers in the unit of the n log n table.

    A pair (f, k) is kept if S(f,k,Y) - S(f,k) + slack[f] slack[k] is at least
    own[f] + own[k] + least[(d_f - 1) (d_k - 1)], where d_f and d_k are numbers of levels.
    """

    own: Counts
    slack: Counts
    least: Counts


_u1, _i1 = types.uint64[::1], types.int64[::1]
_SCREEN = types.NamedUniTuple(_i1, 3, PairScreen)


@kernel(types.int64(PACKED, _u1, _u1, types.boolean, _SCREEN, _i1, types.int64[:, ::1]))
def screen_pairs(
    packed: PackedArrays,
    left: Words,
    right: Words,
    ordered: bool,
    screen: PairScreen,
    nlogn: Counts,
    out: Counts,
) -> int:
    """Write the pairs that pass the screen to ``out``; return their number.

    With ``ordered``, only pairs with f < k are counted. Some columns of the right block stay in the
    cache while they are counted with all columns of the left block.
    """
    n_words = packed.home_word[np.uint64(packed.home_word.shape[0] - 1)]
    two_classes = packed.first_word.shape[0] == 3
    n_left, n_right = np.uint64(left.shape[0]), np.uint64(right.shape[0])
    widest = TWO
    for i in range(n_left):
        widest = max(widest, packed.levels[left[i]])
    for i in range(n_right):
        widest = max(widest, packed.levels[right[i]])
    table = np.empty((2, widest * widest), np.int64)
    found = ZERO
    begin = ZERO
    while begin < n_right:
        end, size = begin, ZERO
        while end < n_right and (end == begin or size < np.uint64(_CACHE_WORDS)):
            size += (packed.levels[right[end]] - ONE) * n_words
            end += ONE
        for i in range(n_left):
            f = left[i]
            planes_f, own_f, slack_f = packed.levels[f] - ONE, screen.own[f], screen.slack[f]
            for j in range(begin, end):
                k = right[j]
                if ordered and f >= k:
                    continue
                planes_k = packed.levels[k] - ONE
                if two_classes and planes_f == TWO and planes_k == TWO:
                    score = _score_of_three(packed, f, k, n_words, nlogn)
                elif planes_f - ONE < TWO and planes_k - ONE < TWO:
                    pooled, by_class = sums_of_few_levels(packed, f, k, nlogn)
                    score = by_class - pooled
                else:
                    score = _score_of_many(packed, f, k, nlogn, table)
                needed = screen.least[planes_f * planes_k] + own_f + screen.own[k]
                if score + slack_f * screen.slack[k] >= needed:
                    out[found, ZERO], out[found, ONE] = np.int64(f), np.int64(k)
                    found += ONE
        begin = end
    return np.int64(found)


@inlined
def _count_two_planes(
    words: Words, f: np.uint64, k: np.uint64, n_words: np.uint64, low: np.uint64, high: np.uint64
) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
    """Count the samples of both planes of two columns, which start at ``words[f]`` and ``words[k]``."""
    n00, n01, n10, n11 = ZERO, ZERO, ZERO, ZERO
    for w in range(low, high):
        x0, x1 = words[f + w], words[f + n_words + w]
        z0, z1 = words[k + w], words[k + n_words + w]
        n00 += np.uint64(popcount(x0 & z0))
        n01 += np.uint64(popcount(x0 & z1))
        n10 += np.uint64(popcount(x1 & z0))
        n11 += np.uint64(popcount(x1 & z1))
    return n00, n01, n10, n11


@inlined
def _sum_of_nine(
    n00: np.uint64,
    n01: np.uint64,
    n10: np.uint64,
    n11: np.uint64,
    f0: np.uint64,
    f1: np.uint64,
    k0: np.uint64,
    k1: np.uint64,
    size: np.uint64,
    nlogn: Counts,
) -> np.int64:
    """Return the sum of n log n over a table of three levels, from four counts and the margins."""
    n20, n21 = k0 - n00 - n10, k1 - n01 - n11
    sum_ = nlogn[n00] + nlogn[n01] + nlogn[f0 - n00 - n01] + nlogn[n10] + nlogn[n11]
    sum_ += nlogn[f1 - n10 - n11] + nlogn[n20] + nlogn[n21] + nlogn[size - f0 - f1 - n20 - n21]
    return sum_


@inlined
def _score_of_three(
    packed: PackedArrays, f: np.uint64, k: np.uint64, n_words: np.uint64, nlogn: Counts
) -> np.int64:
    """Return S(f,k,Y) - S(f,k) for three levels and two classes, the most frequent case."""
    words, counts, bounds = packed.words, packed.class_counts, packed.first_word
    at_f, at_k = packed.offset[f], packed.offset[k]
    n00, n01, n10, n11 = _count_two_planes(words, at_f, at_k, n_words, bounds[ZERO], bounds[ONE])
    m00, m01, m10, m11 = _count_two_planes(words, at_f, at_k, n_words, bounds[ONE], bounds[TWO])
    in_f, in_k = packed.counts_offset[f], packed.counts_offset[k]
    f0, f1 = np.uint64(counts[in_f]), np.uint64(counts[in_f + TWO])
    g0, g1 = np.uint64(counts[in_f + ONE]), np.uint64(counts[in_f + THREE])
    k0, k1 = np.uint64(counts[in_k]), np.uint64(counts[in_k + TWO])
    l0, l1 = np.uint64(counts[in_k + ONE]), np.uint64(counts[in_k + THREE])
    first = packed.first_sample[ONE]
    second = packed.first_sample[TWO] - first
    score = _sum_of_nine(n00, n01, n10, n11, f0, f1, k0, k1, first, nlogn)
    score += _sum_of_nine(m00, m01, m10, m11, g0, g1, l0, l1, second, nlogn)
    n00, n01, n10, n11 = n00 + m00, n01 + m01, n10 + m10, n11 + m11
    f0, f1, k0, k1 = f0 + g0, f1 + g1, k0 + l0, k1 + l1
    return score - _sum_of_nine(n00, n01, n10, n11, f0, f1, k0, k1, first + second, nlogn)


@helper
def _score_of_many(
    packed: PackedArrays, f: np.uint64, k: np.uint64, nlogn: Counts, table: Counts
) -> np.int64:
    """Return S(f,k,Y) - S(f,k) for any number of levels; ``table`` has room for two tables."""
    cells = packed.levels[f] * packed.levels[k]
    own, total = table[0], table[1]
    for cell in range(cells):
        total[cell] = 0
    pooled, by_class = np.int64(0), np.int64(0)
    for c in range(np.uint64(packed.first_word.shape[0] - 1)):
        by_class += count_planes(packed, f, k, c, nlogn, own, total)
    for cell in range(cells):
        pooled += nlogn[np.uint64(total[cell])]
    return by_class - pooled


@kernel(types.void(PACKED, types.int64[:, ::1], _i1, types.int64[:, :, :, ::1]))
def count_pairs(packed: PackedArrays, pairs: Counts, nlogn: Counts, out: Counts) -> None:
    """Write the table of each pair (classes x levels of f x levels of k); unused cells are 0."""
    n_classes = np.uint64(packed.first_word.shape[0] - 1)
    widest = np.uint64(out.shape[2])
    table = np.empty(widest * widest, np.int64)
    total = np.empty(widest * widest, np.int64)
    for i in range(np.uint64(pairs.shape[0])):
        f, k = np.uint64(pairs[i, ZERO]), np.uint64(pairs[i, ONE])
        levels_f, levels_k = packed.levels[f], packed.levels[k]
        for c in range(n_classes):
            total[:] = 0
            count_planes(packed, f, k, c, nlogn, table, total)
            out[i, c] = 0
            for a in range(levels_f):
                for b in range(levels_k):
                    out[i, c, a, b] = total[a * levels_k + b]
