"""Two blocks of packed columns -> the pairs that may interact, and their tables (numba)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from slfs._core.compile import helper, inlined, kernel, popcount
from slfs.counting.kernels import (
    FOUR,
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

    def needed(self, f: Counts | int, k: Counts, levels: Counts) -> Counts:
        """Return the least S(f,k,Y) - S(f,k) that passes; ``levels`` are those of all columns."""
        least: Counts = self.least[(levels[f] - 1) * (levels[k] - 1)]
        return least + self.own[f] + self.own[k] - self.slack[f] * self.slack[k]


SMALL = 256
"""Counts below this are small."""

STRIDE = np.uint64(SMALL + 8)
"""Distance of the rows of `class_gains`; rows at powers of two displace each other in the cache."""

FIVE = np.uint64(5)

_u1, _i1 = types.uint64[::1], types.int64[::1]
_SCREEN = types.NamedUniTuple(_i1, 3, PairScreen)  # type: ignore[no-untyped-call]


def class_gains(nlogn: Counts) -> Counts:
    """Return S(a) + S(b) - S(a + b) for all small counts a and b of two classes, at a * STRIDE + b."""
    count = np.minimum(np.arange(2 * int(STRIDE)), len(nlogn) - 1)  # counts above N do not occur
    table = nlogn[count]
    a, b = np.divmod(np.arange(SMALL * int(STRIDE)), int(STRIDE))
    gains: Counts = table[a] + table[b] - table[a + b]
    return gains


@kernel(types.int64(PACKED, _u1, _u1, types.boolean, _SCREEN, _i1, _i1, types.int64[:, ::1]))
def screen_pairs(
    packed: PackedArrays,
    left: Words,
    right: Words,
    ordered: bool,
    screen: PairScreen,
    nlogn: Counts,
    gains: Counts,
    out: Counts,
) -> np.int64:
    """Write the pairs that pass the screen to ``out``; return their number.

    ``gains`` is the result of `class_gains`. With ``ordered``, only pairs with f < k are counted.
    Some columns of the right block stay in the cache while they are counted with all columns of the
    left block.
    """
    n_words = packed.home_word[np.uint64(packed.home_word.shape[0] - 1)]
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
            small_f = planes_f == TWO and _has_small_counts(packed, f)
            for j in range(begin, end):
                k = right[j]
                if ordered and f >= k:
                    continue
                planes_k = packed.levels[k] - ONE
                if small_f and planes_k == TWO:
                    score = _score_of_three(packed, f, k, n_words, gains)
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
def _has_small_counts(packed: PackedArrays, f: np.uint64) -> bool:
    """Whether there are two classes, and no level of f has so many samples that `class_gains` ends."""
    if packed.first_word.shape[0] != 3:
        return False
    begin, most = packed.counts_offset[f], np.int64(0)
    for i in range(begin, begin + TWO * packed.levels[f]):
        most = max(most, packed.class_counts[i])
    return bool(most < SMALL)


@inlined
def _score_of_three(
    packed: PackedArrays, f: np.uint64, k: np.uint64, n_words: np.uint64, gains: Counts
) -> np.int64:
    """Return S(f,k,Y) - S(f,k) for three levels, two classes and small counts.

    One look into a larger table replaces three, which matters where the logarithms take as much time as
    the counts: with less than some thousand samples.
    """
    words, counts, bounds = packed.words, packed.class_counts, packed.first_word
    f0, k0 = packed.offset[f], packed.offset[k]
    f1, k1 = f0 + n_words, k0 + n_words
    n00, n01, n10, n11 = ZERO, ZERO, ZERO, ZERO
    for w in range(bounds[ZERO], bounds[ONE]):
        x0, x1, z0, z1 = words[f0 + w], words[f1 + w], words[k0 + w], words[k1 + w]
        n00 += np.uint64(popcount(x0 & z0))
        n01 += np.uint64(popcount(x0 & z1))
        n10 += np.uint64(popcount(x1 & z0))
        n11 += np.uint64(popcount(x1 & z1))
    m00, m01, m10, m11 = ZERO, ZERO, ZERO, ZERO
    for w in range(bounds[ONE], bounds[TWO]):
        x0, x1, z0, z1 = words[f0 + w], words[f1 + w], words[k0 + w], words[k1 + w]
        m00 += np.uint64(popcount(x0 & z0))
        m01 += np.uint64(popcount(x0 & z1))
        m10 += np.uint64(popcount(x1 & z0))
        m11 += np.uint64(popcount(x1 & z1))
    # the place in the table is linear in the counts, so that the last level follows as in each class
    t00, t01 = n00 * STRIDE + m00, n01 * STRIDE + m01
    t10, t11 = n10 * STRIDE + m10, n11 * STRIDE + m11
    in_f, in_k = packed.counts_offset[f], packed.counts_offset[k]
    t02 = np.uint64(counts[in_f]) * STRIDE + np.uint64(counts[in_f + ONE]) - t00 - t01
    t12 = np.uint64(counts[in_f + TWO]) * STRIDE + np.uint64(counts[in_f + THREE]) - t10 - t11
    t20 = np.uint64(counts[in_k]) * STRIDE + np.uint64(counts[in_k + ONE]) - t00 - t10
    t21 = np.uint64(counts[in_k + TWO]) * STRIDE + np.uint64(counts[in_k + THREE]) - t01 - t11
    t22 = np.uint64(counts[in_f + FOUR]) * STRIDE + np.uint64(counts[in_f + FIVE]) - t20 - t21
    score: np.int64 = gains[t00] + gains[t01] + gains[t02] + gains[t10] + gains[t11] + gains[t12]
    score += gains[t20] + gains[t21] + gains[t22]
    return score


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
    for part in range(packed.first_word.shape[0] - 1):
        c = np.uint64(part)
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
        for part in range(n_classes):
            c = np.uint64(part)
            total[:] = 0
            count_planes(packed, f, k, c, nlogn, table, total)
            out[i, c] = 0
            for a in range(levels_f):
                for b in range(levels_k):
                    out[i, c, a, b] = total[a * levels_k + b]
