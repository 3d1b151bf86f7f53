"""Two blocks of packed columns -> the pairs that may interact, and their tables (numba)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from slfs._core.compile import kernel
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

_CACHE_WORDS = 1 << 11
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

    With ``ordered``, only pairs with f < k are counted. Some columns of the right block stay in the cache
    while they are counted with all columns of the left block.
    """
    n_classes = np.uint64(packed.first_word.shape[0] - 1)
    n_words = packed.home_word[np.uint64(packed.home_word.shape[0] - 1)]
    n_left, n_right = np.uint64(left.shape[0]), np.uint64(right.shape[0])
    widest = TWO
    for i in range(n_left):
        widest = max(widest, packed.levels[left[i]])
    for i in range(n_right):
        widest = max(widest, packed.levels[right[i]])
    table = np.empty(widest * widest, np.int64)
    total = np.empty(widest * widest, np.int64)
    found = 0
    begin = ZERO
    while begin < n_right:
        end, size = begin, ZERO
        while end < n_right and (end == begin or size < np.uint64(_CACHE_WORDS)):
            size += (packed.levels[right[end]] - ONE) * n_words
            end += ONE
        for i in range(n_left):
            f = left[i]
            levels_f = packed.levels[f]
            few = levels_f in (TWO, THREE)
            for j in range(begin, end):
                k = right[j]
                if ordered and f >= k:
                    continue
                levels_k = packed.levels[k]
                if few and levels_k in (TWO, THREE):
                    pooled, by_class = sums_of_few_levels(packed, f, k, nlogn)
                else:
                    cells = levels_f * levels_k
                    for cell in range(cells):
                        total[cell] = 0
                    pooled, by_class = np.int64(0), np.int64(0)
                    for c in range(n_classes):
                        by_class += count_planes(packed, f, k, c, nlogn, table, total)
                    for cell in range(cells):
                        pooled += nlogn[np.uint64(total[cell])]
                needed = screen.least[(levels_f - ONE) * (levels_k - ONE)]
                needed += screen.own[f] + screen.own[k] - screen.slack[f] * screen.slack[k]
                if by_class - pooled >= needed:
                    out[found, 0], out[found, 1] = np.int64(f), np.int64(k)
                    found += 1
        begin = end
    return found


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
