"""Packed columns -> integer counts, and sums of n log n over them (numba).

All indices are unsigned: numba then omits the check for negative indices, which halves the time of the
inner loops. Nothing here is a float: ``nlogn`` is a table of integers (see `slfs.counting.nlogn`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from slfs._core.compile import helper, inlined, kernel, late_kernel, popcount
from slfs.counting.nlogn import MANY_CELLS, REST_BITS

Words = NDArray[np.uint64]
Counts = NDArray[np.int64]
Codes = NDArray[np.uint8]

ZERO, ONE, TWO, THREE, FOUR = (np.uint64(n) for n in range(5))
WORD = np.uint64(64)

MAX_PLANES = np.uint64(63)
"""Columns with more levels than this plus one are stored as codes: planes would be larger."""

# Measured times in nanoseconds, used to choose the cheaper way to count a pair.
WORD_PAIR, PLANE_PAIR, INCREMENT, CELL = 0.3, 1.2, 2.6, 0.3


class PackedArrays(NamedTuple):
    """Columns as bit planes (or codes), samples sorted by class, stored one after another.

    The planes of column j start at ``words[offset[j]]``: ``levels[j] - 1`` planes of ``home_word[-1]``
    words, class c in words ``home_word[c]:home_word[c + 1]`` of each. A column with more than
    MAX_PLANES + 1 levels is stored as codes instead, one byte per sample.

    ``first_word`` and ``first_sample`` are the bounds of the parts that are counted separately: the
    classes, or all samples as one part. The counts of column j in these parts start at
    ``class_counts[counts_offset[j]]``, level by level, one entry per part.
    """

    words: Words
    offset: Words
    levels: Words
    class_counts: Counts
    counts_offset: Words
    first_word: Words
    first_sample: Words
    home_word: Words
    home_sample: Words


_u1, _i1 = types.uint64[::1], types.int64[::1]
PACKED = types.NamedTuple([_u1, _u1, _u1, _i1, _u1, _u1, _u1, _u1, _u1], PackedArrays)
"""The type of `PackedArrays` in the signature of a kernel."""


@kernel(types.void(types.uint8[:, ::1], _u1, _u1, _u1, _u1, _u1))
def pack(
    codes: Codes,
    levels: Words,
    offset: Words,
    first_word: Words,
    first_sample: Words,
    words: Words,
) -> None:
    """Write the planes of a block of columns (codes of class-sorted samples) into ``words``."""
    n_classes = np.uint64(first_word.shape[0] - 1)
    n_words = first_word[n_classes]
    for j in range(np.uint64(codes.shape[0])):
        if levels[j] > MAX_PLANES + ONE:
            for i in range(np.uint64(codes.shape[1])):
                words[offset[j] + i // np.uint64(8)] |= np.uint64(codes[j, i]) << (
                    np.uint64(8) * (i % np.uint64(8))
                )
            continue
        for c in range(n_classes):
            for w in range(first_word[c], first_word[c + ONE]):
                begin = first_sample[c] + (w - first_word[c]) * WORD
                length = min(WORD, first_sample[c + ONE] - begin)
                for a in range(levels[j] - ONE):
                    word = ZERO
                    if length == WORD:
                        for bit in range(WORD):
                            word |= np.uint64(codes[j, begin + bit] == a) << bit
                    else:
                        for bit in range(length):
                            word |= np.uint64(codes[j, begin + bit] == a) << bit
                    words[offset[j] + a * n_words + w] = word


@helper
def _decode(packed: PackedArrays, j: np.uint64, codes: Codes) -> None:
    """Write the codes of column j, one per sample, samples sorted by class."""
    n_samples = packed.home_sample[np.uint64(packed.home_sample.shape[0] - 1)]
    start = packed.offset[j]
    if packed.levels[j] > MAX_PLANES + ONE:
        for i in range(n_samples):
            word = packed.words[start + i // np.uint64(8)]
            codes[i] = np.uint8((word >> (np.uint64(8) * (i % np.uint64(8)))) & np.uint64(255))
        return
    n_classes = np.uint64(packed.home_word.shape[0] - 1)
    n_words = packed.home_word[n_classes]
    last = packed.levels[j] - ONE
    for i in range(n_samples):
        codes[i] = np.uint8(last)
    for c in range(n_classes):
        for w in range(packed.home_word[c], packed.home_word[c + ONE]):
            begin = packed.home_sample[c] + (w - packed.home_word[c]) * WORD
            for a in range(last):
                word = packed.words[start + a * n_words + w]
                while word != ZERO:
                    bit = np.uint64(popcount((word & (~word + ONE)) - ONE))
                    codes[begin + bit] = np.uint8(a)
                    word &= word - ONE


@helper
def most_levels_by_planes(packed: PackedArrays, f: np.uint64) -> np.uint64:
    """Return the maximum number of levels for which counting with f by planes is cheaper; 0 for none.

    For more levels it is cheaper to increment the cells of a table sample by sample.
    """
    levels = packed.levels[f]
    if levels > MAX_PLANES + ONE:
        return ZERO
    n_classes = np.uint64(packed.first_word.shape[0] - 1)
    planes = float(levels - ONE)
    by_planes = planes * (WORD_PAIR * packed.first_word[n_classes] + PLANE_PAIR * n_classes)
    by_samples = INCREMENT * packed.first_sample[n_classes]
    growth = by_planes - CELL * levels * n_classes
    most = float(MAX_PLANES + ONE)
    if growth * most > by_planes + by_samples:
        most = (by_planes + by_samples) / growth
    if by_planes * most > by_planes + 2 * by_samples:  # as cheap as counting the filled cells only
        most = (by_planes + 2 * by_samples) / by_planes
    return np.uint64(most)


@inlined
def count_planes(
    packed: PackedArrays,
    f: np.uint64,
    k: np.uint64,
    c: np.uint64,
    nlogn: Counts,
    table: Counts,
    total: Counts,
) -> np.int64:
    """Fill ``table`` (levels of f x levels of k, flat) with the counts in class c, from planes.

    Adds them to ``total`` and returns the sum of n log n over them. Planes are processed in pairs, so
    that each word read is used twice. The last level of each column has no plane: its row and column
    follow from the class counts.
    """
    levels_f, levels_k = packed.levels[f], packed.levels[k]
    last_f, last_k = levels_f - ONE, levels_k - ONE
    n_classes = np.uint64(packed.first_word.shape[0] - 1)
    n_words = packed.first_word[n_classes]
    low, high = packed.first_word[c], packed.first_word[c + ONE]
    words, counts = packed.words, packed.class_counts
    a = ZERO
    while a + ONE < last_f:
        f0 = packed.offset[f] + a * n_words
        f1 = f0 + n_words
        row = a * levels_k
        b = ZERO
        while b + ONE < last_k:
            k0 = packed.offset[k] + b * n_words
            k1 = k0 + n_words
            n00, n01, n10, n11 = ZERO, ZERO, ZERO, ZERO
            for w in range(low, high):
                x0, x1, z0, z1 = words[f0 + w], words[f1 + w], words[k0 + w], words[k1 + w]
                n00 += np.uint64(popcount(x0 & z0))
                n01 += np.uint64(popcount(x0 & z1))
                n10 += np.uint64(popcount(x1 & z0))
                n11 += np.uint64(popcount(x1 & z1))
            table[row + b] = n00
            table[row + b + ONE] = n01
            table[row + levels_k + b] = n10
            table[row + levels_k + b + ONE] = n11
            b += TWO
        if b < last_k:
            k0 = packed.offset[k] + b * n_words
            n00, n10 = ZERO, ZERO
            for w in range(low, high):
                z0 = words[k0 + w]
                n00 += np.uint64(popcount(words[f0 + w] & z0))
                n10 += np.uint64(popcount(words[f1 + w] & z0))
            table[row + b] = n00
            table[row + levels_k + b] = n10
        a += TWO
    if a < last_f:
        f0 = packed.offset[f] + a * n_words
        for b in range(last_k):
            k0 = packed.offset[k] + b * n_words
            n00 = ZERO
            for w in range(low, high):
                n00 += np.uint64(popcount(words[f0 + w] & words[k0 + w]))
            table[a * levels_k + b] = n00
    last_row = last_f * levels_k
    for b in range(levels_k):
        table[last_row + b] = counts[packed.counts_offset[k] + b * n_classes + c]
    by_class = np.int64(0)
    for a in range(last_f):
        row = a * levels_k
        rest = counts[packed.counts_offset[f] + a * n_classes + c]
        for b in range(last_k):
            count = table[row + b]
            rest -= count
            table[last_row + b] -= count
            total[row + b] += count
            by_class += nlogn[np.uint64(count)]
        table[row + last_k] = rest
        table[last_row + last_k] -= rest
        total[row + last_k] += rest
        by_class += nlogn[np.uint64(rest)]
    for b in range(levels_k):
        count = table[last_row + b]
        total[last_row + b] += count
        by_class += nlogn[np.uint64(count)]
    return by_class


@helper
def _count_codes(
    codes_f: Codes,
    codes_k: Codes,
    low: np.uint64,
    high: np.uint64,
    levels_f: np.uint64,
    levels_k: np.uint64,
    nlogn: Counts,
    table: Counts,
    total: Counts,
) -> np.int64:
    """Do the same for the samples low .. high - 1, with one increment per sample."""
    cells = levels_f * levels_k
    for cell in range(cells):
        table[cell] = 0
    for i in range(low, high):
        table[np.uint64(codes_f[i]) * levels_k + np.uint64(codes_k[i])] += 1
    by_class = np.int64(0)
    for cell in range(cells):
        total[cell] += table[cell]
        by_class += nlogn[np.uint64(table[cell])]
    return by_class


@helper
def _count_filled(
    codes_f: Codes,
    codes_k: Codes,
    low: np.uint64,
    high: np.uint64,
    levels_k: np.uint64,
    nlogn: Counts,
    table: Counts,
    total: Counts,
    often: Counts,
) -> np.int64:
    """Do the same, but visit only the cells that are not empty; ``table`` is zero before and after.

    Also adds the number of cells with count n to ``often[n]``.
    """
    for i in range(low, high):
        table[np.uint64(codes_f[i]) * levels_k + np.uint64(codes_k[i])] += 1
    by_class = np.int64(0)
    for i in range(low, high):
        cell = np.uint64(codes_f[i]) * levels_k + np.uint64(codes_k[i])
        count = table[cell]
        if count > 0:
            total[cell] += count
            by_class += nlogn[np.uint64(count)]
            if count < often.shape[0]:
                often[np.uint64(count)] += 1
            table[cell] = 0
    return by_class


@inlined
def sums_of_few_levels(
    packed: PackedArrays, f: np.uint64, k: np.uint64, nlogn: Counts
) -> tuple[np.int64, np.int64]:
    """Return the sums of n log n over the tables (f, k) and (f, k, class) for 2 or 3 levels.

    This is the most frequent case; the table stays in registers. A column with 2 levels is treated as if
    it had an empty middle level.
    """
    n_classes = np.uint64(packed.first_word.shape[0] - 1)
    n_words = packed.home_word[np.uint64(packed.home_word.shape[0] - 1)]
    words, counts = packed.words, packed.class_counts
    three_f, three_k = packed.levels[f] == THREE, packed.levels[k] == THREE
    f0, k0 = packed.offset[f], packed.offset[k]
    f1, k1 = f0 + n_words, k0 + n_words
    own_f, own_k = packed.counts_offset[f], packed.counts_offset[k]
    last_f = (packed.levels[f] - ONE) * n_classes
    t00, t01, t02 = np.int64(0), np.int64(0), np.int64(0)
    t10, t11, t12 = np.int64(0), np.int64(0), np.int64(0)
    t20, t21, t22 = np.int64(0), np.int64(0), np.int64(0)
    by_class = np.int64(0)
    for c in range(n_classes):
        low, high = packed.first_word[c], packed.first_word[c + ONE]
        u00, u01, u10, u11 = ZERO, ZERO, ZERO, ZERO
        if three_f and three_k:
            for w in range(low, high):
                x0, x1, z0, z1 = words[f0 + w], words[f1 + w], words[k0 + w], words[k1 + w]
                u00 += np.uint64(popcount(x0 & z0))
                u01 += np.uint64(popcount(x0 & z1))
                u10 += np.uint64(popcount(x1 & z0))
                u11 += np.uint64(popcount(x1 & z1))
        elif three_f:
            for w in range(low, high):
                u00 += np.uint64(popcount(words[f0 + w] & words[k0 + w]))
                u10 += np.uint64(popcount(words[f1 + w] & words[k0 + w]))
        elif three_k:
            for w in range(low, high):
                u00 += np.uint64(popcount(words[f0 + w] & words[k0 + w]))
                u01 += np.uint64(popcount(words[f0 + w] & words[k1 + w]))
        else:
            for w in range(low, high):
                u00 += np.uint64(popcount(words[f0 + w] & words[k0 + w]))
        n00, n01, n10, n11 = np.int64(u00), np.int64(u01), np.int64(u10), np.int64(u11)
        middle_f = counts[own_f + n_classes + c] if three_f else np.int64(0)
        middle_k = counts[own_k + n_classes + c] if three_k else np.int64(0)
        n02 = counts[own_f + c] - n00 - n01
        n12 = middle_f - n10 - n11
        n20 = counts[own_k + c] - n00 - n10
        n21 = middle_k - n01 - n11
        n22 = counts[own_f + last_f + c] - n20 - n21
        by_class += nlogn[np.uint64(n00)] + nlogn[np.uint64(n01)] + nlogn[np.uint64(n02)]
        by_class += nlogn[np.uint64(n10)] + nlogn[np.uint64(n11)] + nlogn[np.uint64(n12)]
        by_class += nlogn[np.uint64(n20)] + nlogn[np.uint64(n21)] + nlogn[np.uint64(n22)]
        t00, t01, t02 = t00 + n00, t01 + n01, t02 + n02
        t10, t11, t12 = t10 + n10, t11 + n11, t12 + n12
        t20, t21, t22 = t20 + n20, t21 + n21, t22 + n22
    if n_classes == ONE:
        return by_class, by_class
    pooled = nlogn[np.uint64(t00)] + nlogn[np.uint64(t01)] + nlogn[np.uint64(t02)]
    pooled += nlogn[np.uint64(t10)] + nlogn[np.uint64(t11)] + nlogn[np.uint64(t12)]
    pooled += nlogn[np.uint64(t20)] + nlogn[np.uint64(t21)] + nlogn[np.uint64(t22)]
    return pooled, by_class


@helper
def _count_small(counts: Counts, often: Counts) -> None:
    """Add the number of cells with count n to ``often[n]``, for 0 < n < len(often)."""
    for cell in range(np.uint64(counts.shape[0])):
        if 0 < counts[cell] < often.shape[0]:
            often[np.uint64(counts[cell])] += 1


@helper
def _put_back(often: Counts, rest: Counts) -> np.int64:
    """Return the rounding errors of n log n over ``often[n]`` cells each, if there are many cells.

    For fewer cells the errors are negligible; the hot loops are not slowed down for them.
    """
    taken = np.int64(0)
    if often.sum() > MANY_CELLS:
        for n in range(often.shape[0]):
            taken += often[n] * rest[n]
    return taken >> REST_BITS


@kernel(types.void(PACKED, types.uint64, _u1, _i1, _i1, types.int64[:, ::1], types.int64[:, :, ::1]))
def pair_sums(
    packed: PackedArrays,
    f: np.uint64,
    others: Words,
    nlogn: Counts,
    rest: Counts,
    out: Counts,
    tables: Counts,
) -> None:
    """Compute the sums of n log n over the tables (f, k) and (f, k, class) for each k in ``others``.

    The tables are written to ``tables[i, c]``, flat (levels of f x levels of k), unless it is empty.
    """
    n_classes = np.uint64(packed.first_word.shape[0] - 1)
    n_samples = packed.first_sample[n_classes]
    levels_f = packed.levels[f]
    widest = ONE
    for i in range(np.uint64(others.shape[0])):
        widest = max(widest, packed.levels[others[i]])
    table = np.empty(levels_f * widest, np.int64)
    total = np.empty(levels_f * widest, np.int64)
    codes_f = np.empty(n_samples, np.uint8)
    codes_k = np.empty(n_samples, np.uint8)
    limit = most_levels_by_planes(packed, f)
    few = levels_f in (TWO, THREE) and tables.shape[0] == 0
    decoded = False
    often = np.empty(rest.shape[0], np.int64)
    for i in range(np.uint64(others.shape[0])):
        k = others[i]
        levels_k = packed.levels[k]
        if few and levels_k in (TWO, THREE):
            out[i, ZERO], out[i, ONE] = sums_of_few_levels(packed, f, k, nlogn)
            continue
        planes = levels_k <= limit
        if not planes:
            if not decoded:
                _decode(packed, f, codes_f)
                decoded = True
            _decode(packed, k, codes_k)
        cells = levels_f * levels_k
        for cell in range(cells):
            total[cell] = 0
        by_class = np.int64(0)
        often[:] = 0
        may_be_many = rest.shape[0] > 0 and cells * n_classes > MANY_CELLS
        filled = not planes and tables.shape[0] == 0 and cells * n_classes > FOUR * n_samples
        if filled:
            for cell in range(cells):
                table[cell] = 0
        for c in range(n_classes):
            if filled:
                low, high = packed.first_sample[c], packed.first_sample[c + ONE]
                by_class += _count_filled(
                    codes_f, codes_k, low, high, levels_k, nlogn, table, total, often
                )
                continue
            if planes:
                by_class += count_planes(packed, f, k, c, nlogn, table, total)
            else:
                low, high = packed.first_sample[c], packed.first_sample[c + ONE]
                by_class += _count_codes(
                    codes_f, codes_k, low, high, levels_f, levels_k, nlogn, table, total
                )
            if may_be_many:
                _count_small(table[:cells], often)
            if tables.shape[0] > 0:
                for cell in range(cells):
                    tables[i, c, cell] = table[cell]
        pooled = by_class
        if n_classes > ONE:
            pooled = np.int64(0)
            for cell in range(cells):
                pooled += nlogn[np.uint64(total[cell])]
        out[i, ZERO] = pooled
        out[i, ONE] = by_class + _put_back(often, rest)


@kernel(types.void(_i1, _u1, _u1, types.uint64, _i1, _i1, types.int64[:, ::1]))
def marginal_sums(
    class_counts: Counts,
    counts_offset: Words,
    levels: Words,
    n_classes: np.uint64,
    nlogn: Counts,
    rest: Counts,
    out: Counts,
) -> None:
    """Compute the sums of n log n over the levels of each column and over its table with the class.

    If levels and classes are exactly independent, the second sum is set so that the information is
    exactly 0: rounded logarithms would give about 1e-16.
    """
    of_class = np.empty(n_classes, np.int64)
    often = np.empty(rest.shape[0], np.int64)
    for j in range(np.uint64(levels.shape[0])):
        start = counts_offset[j]
        of_class[:] = 0
        for a in range(levels[j]):
            for c in range(n_classes):
                of_class[c] += class_counts[start + a * n_classes + c]
        whole = of_class.sum()
        pooled, by_class, independent = np.int64(0), np.int64(0), True
        for a in range(levels[j]):
            total = np.int64(0)
            for c in range(n_classes):
                count = class_counts[start + a * n_classes + c]
                total += count
                by_class += nlogn[np.uint64(count)]
            for c in range(n_classes):
                count = class_counts[start + a * n_classes + c]
                independent &= count * whole == total * of_class[c]
            pooled += nlogn[np.uint64(total)]
        if rest.shape[0] > 0 and levels[j] * n_classes > MANY_CELLS:
            often[:] = 0
            _count_small(class_counts[start : start + levels[j] * n_classes], often)
            by_class += _put_back(often, rest)
        if independent:
            by_class = pooled - nlogn[np.uint64(whole)]
            for c in range(n_classes):
                by_class += nlogn[np.uint64(of_class[c])]
        out[j, ZERO] = pooled
        out[j, ONE] = by_class


@kernel(types.void(PACKED, _u1, types.int32[:, ::1], types.int64, types.int64[:, ::1]))
def level_sums(
    packed: PackedArrays, columns: Words, weights: NDArray[np.int32], at_once: int, out: Counts
) -> None:
    """Add up the weights of the samples of each level: one row per level, column by column.

    The weights of ``at_once`` samples are added in 32 bits, which is faster; they must not overflow.
    """
    n_samples, n_weights = np.uint64(weights.shape[0]), np.uint64(weights.shape[1])
    codes = np.empty(n_samples, np.uint8)
    sums = np.empty((256, n_weights), np.int32)
    first = ZERO
    for i in range(np.uint64(columns.shape[0])):
        levels = packed.levels[columns[i]]
        _decode(packed, columns[i], codes)
        out[first : first + levels] = 0
        for begin in range(ZERO, n_samples, np.uint64(at_once)):
            sums[:levels] = 0
            for s in range(begin, min(begin + np.uint64(at_once), n_samples)):
                level = np.uint64(codes[s])
                for w in range(n_weights):
                    sums[level, w] += weights[s, w]
            for level in range(levels):
                for w in range(n_weights):
                    out[first + level, w] += sums[level, w]
        first += levels


@late_kernel
def decode(packed: PackedArrays, j: np.uint64, codes: Codes) -> None:
    """Write the codes of column j, one per sample, samples sorted by class."""
    _decode(packed, j, codes)
