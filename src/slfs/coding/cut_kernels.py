"""Runs -> cut points -> counts and codes (numba)."""

from __future__ import annotations

import math

import numpy as np
from numba import types
from numpy.typing import NDArray

from slfs._core.compile import helper, inlined, kernel, late_kernel
from slfs.coding.run_kernels import RUNS, Runs

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.uint8]

MAX_CUTS = 254
"""Maximum number of cut points: 255 intervals and the level of missing values fit in a byte."""

_f1, _i1 = types.float64[::1], types.int64[::1]
_c1 = types.uint8[::1]


def midpoint(low: float, high: float) -> float:
    """Return the midpoint of two values, or the lower one if there is no float between them."""
    if low == -np.inf:
        return low
    middle = 0.5 * low + 0.5 * high
    return middle if low <= middle < high else low


_midpoint = inlined(midpoint)


@inlined
def _present(counts: Ints) -> int:
    present = 0
    for c in range(counts.shape[0]):
        if counts[c] > 0:
            present += 1
    return present


@inlined
def _best_split(runs: Runs, begin: int, end: int, nlogn: Ints, left: Ints, right: Ints) -> int:
    """Find the split of the runs begin .. end - 1 with the smallest class entropy.

    Writes the class counts of both sides to ``left`` and ``right`` and returns the first run of the
    right side (``begin`` if all values are equal). Ties: the smallest cut point.
    """
    for c in range(left.shape[0]):
        left[c] = 0
        right[c] = 0
    size = np.int64(0)
    for r in range(begin, end):
        right[runs.label[r]] += runs.size[r]
        size += runs.size[r]
    gain_left, gain_right = np.int64(0), np.int64(0)
    for c in range(right.shape[0]):
        gain_right += nlogn[right[c]]
    split, least, n_left = begin, np.int64(0), np.int64(0)
    for r in range(begin, end - 1):
        c, count = runs.label[r], runs.size[r]
        gain_left += nlogn[left[c] + count] - nlogn[left[c]]
        gain_right += nlogn[right[c] - count] - nlogn[right[c]]
        left[c] += count
        right[c] -= count
        n_left += count
        if runs.value[r + 1] != runs.value[r]:
            entropy = nlogn[n_left] - gain_left + nlogn[size - n_left] - gain_right
            if split == begin or entropy < least:
                split, least = r + 1, entropy
    for c in range(left.shape[0]):
        left[c] = 0
        right[c] = 0
    for r in range(begin, end):
        if r < split:
            left[runs.label[r]] += runs.size[r]
        else:
            right[runs.label[r]] += runs.size[r]
    return split


@inlined
def _accepted(left: Ints, right: Ints, nlogn: Ints, scale: float, unit: float) -> bool:
    """Whether the gain of a split exceeds its description length (Fayyad & Irani 1993).

    ``unit`` counts are one sample.
    """
    n_left, n_right = left.sum(), right.sum()
    size = n_left + n_right
    sum_left, sum_right, sum_whole, k = np.int64(0), np.int64(0), np.int64(0), 0
    for c in range(left.shape[0]):
        sum_left += nlogn[left[c]]
        sum_right += nlogn[right[c]]
        sum_whole += nlogn[left[c] + right[c]]
        if left[c] + right[c] > 0:
            k += 1
    whole = (nlogn[size] - sum_whole) / scale  # N Ent(S)
    parts_left = (nlogn[n_left] - sum_left) / scale
    parts_right = (nlogn[n_right] - sum_right) / scale
    k_left, k_right = _present(left), _present(right)
    change = k * whole / size - k_left * parts_left / n_left - k_right * parts_right / n_right
    description = k * math.log(3.0) + math.log1p(-2.0 * 3.0 ** (-k)) - change
    others = size / unit - 1.0
    return others > 0.0 and (whole - parts_left - parts_right) / unit > math.log(others) + description


@kernel(types.void(RUNS, types.int64, _i1, types.float64, types.float64, types.float64[:, ::1], _i1))
def cut_points(
    runs: Runs,
    n_classes: int,
    nlogn: Ints,
    scale: float,
    unit: float,
    cuts: Floats,
    n_cuts: Ints,
) -> None:
    """Split the runs of each column by MDLP; write the sorted cut points to the rows of ``cuts``.

    The search is breadth-first: a column with more than MAX_CUTS cut points keeps the coarsest ones.
    """
    left, right = np.empty(n_classes, np.int64), np.empty(n_classes, np.int64)
    segments = np.empty((2 * MAX_CUTS + 1, 2), np.int64)
    for j in range(runs.start.shape[0]):
        found, first, last = 0, 0, 1
        segments[0, 0], segments[0, 1] = runs.start[j], runs.stop[j]
        while first < last and found < MAX_CUTS:
            begin, end = segments[first, 0], segments[first, 1]
            first += 1
            split = _best_split(runs, begin, end, nlogn, left, right)
            if split == begin or not _accepted(left, right, nlogn, scale, unit):
                continue
            cut = _midpoint(runs.value[split - 1], runs.value[split])
            position = found
            while position > 0 and cuts[j, position - 1] > cut:
                cuts[j, position] = cuts[j, position - 1]
                position -= 1
            cuts[j, position] = cut
            found += 1
            segments[last, 0], segments[last, 1] = begin, split
            segments[last + 1, 0], segments[last + 1, 1] = split, end
            last += 2
        n_cuts[j] = found


@kernel(types.void(RUNS, types.int64, _f1, _i1, _i1, _i1, _f1))
def interval_counts(
    runs: Runs,
    n_classes: int,
    thresholds: Floats,
    offset: Ints,
    counts_offset: Ints,
    class_counts: Ints,
    gaps: Floats,
) -> None:
    """Add up the runs between thresholds: counts of each level and class of each column.

    ``gaps`` contains the smallest distance of each column from a threshold to a value beside it.
    """
    for j in range(runs.start.shape[0]):
        level, n_thresholds, gap = 0, offset[j + 1] - offset[j], np.inf
        for r in range(runs.start[j], runs.stop[j]):
            while level < n_thresholds and runs.value[r] > thresholds[offset[j] + level]:
                threshold, below = thresholds[offset[j] + level], runs.value[r - 1]
                if threshold == below:  # no float is between the values, or both are infinite
                    gap = 0.0
                else:
                    gap = min(gap, runs.value[r] - threshold, threshold - below)
                level += 1
            class_counts[counts_offset[j] + level * n_classes + runs.label[r]] += runs.size[r]
        gaps[j] = gap


@kernel(types.void(RUNS, types.int64[:, :, :]))
def quantile_counts(runs: Runs, out: Ints) -> None:
    """Add up the runs of each column in equal-frequency intervals, which do not depend on the class.

    A value is in the interval of its middle sample, so that a frequent value does not absorb the rare
    ones next to it: two values are always in two intervals.
    """
    n_bins = out.shape[1]
    for j in range(runs.start.shape[0]):
        size = np.int64(0)
        for r in range(runs.start[j], runs.stop[j]):
            size += runs.size[r]
        below, r = np.int64(0), runs.start[j]
        while r < runs.stop[j]:
            first, tied = r, _count_tied(runs, r, runs.stop[j])
            level = (2 * below + tied) * n_bins // (2 * size)
            below += tied
            while r < runs.stop[j] and runs.value[r] == runs.value[first]:
                out[j, level, runs.label[r]] += runs.size[r]
                r += 1


@late_kernel
def quantile_cuts(runs: Runs, cuts: Floats, n_cuts: Ints) -> None:
    """Find the cut points between the non-empty intervals of `quantile_counts`."""
    n_bins = cuts.shape[1] + 1
    for j in range(runs.start.shape[0]):
        size = np.int64(0)
        for r in range(runs.start[j], runs.stop[j]):
            size += runs.size[r]
        below, level, found, r = np.int64(0), np.int64(-1), 0, runs.start[j]
        while r < runs.stop[j]:
            first, tied = r, _count_tied(runs, r, runs.stop[j])
            now = (2 * below + tied) * n_bins // (2 * size)
            if now != level and first > runs.start[j]:
                cuts[j, found] = _midpoint(runs.value[first - 1], runs.value[first])
                found += 1
            level = now
            below += tied
            while r < runs.stop[j] and runs.value[r] == runs.value[first]:
                r += 1
        n_cuts[j] = found


@late_kernel
def move_between(runs: Runs, top: Floats, thresholds: Floats, n_cuts: Ints, out: Floats) -> None:
    """Move cut points to the middle between the bins beside them, with largest values ``top``."""
    cut = 0
    for j in range(n_cuts.shape[0]):
        value, tops = runs.value[runs.start[j] : runs.stop[j]], top[runs.start[j] : runs.stop[j]]
        for _ in range(n_cuts[j]):
            above = np.searchsorted(value, thresholds[cut], side="right")
            out[cut] = _midpoint(tops[above - 1], value[above])
            cut += 1


@helper
def _count_tied(runs: Runs, first: int, stop: int) -> int:
    """Return the number of samples with the value of a run, which is the first one with this value."""
    tied, r = np.int64(0), first
    while r < stop and runs.value[r] == runs.value[first]:
        tied += runs.size[r]
        r += 1
    return tied


@inlined
def _chi2_of_pair(counts: Ints, a: int, b: int) -> float:
    """Chi-squared statistic of two intervals and the classes; expected counts of 0 are set to 0.1."""
    first, second = counts[a].sum(), counts[b].sum()
    statistic = 0.0
    for c in range(counts.shape[1]):
        both = counts[a, c] + counts[b, c]
        for interval, size in ((a, first), (b, second)):
            expected = float(size) * both / (first + second)
            if expected == 0.0:
                expected = 0.1
            statistic += (counts[interval, c] - expected) ** 2 / expected
    return statistic


@late_kernel
def merge_intervals(counts: Ints, threshold: float, most: int, group: Ints) -> int:
    """Merge adjacent intervals (rows of class counts) with similar class distributions.

    The pair with the smallest chi-squared statistic is merged first (ties: the lower pair), while the
    statistic is below ``threshold`` or there are more than ``most`` intervals. The remaining rows are
    moved to the top of ``counts``; ``group`` contains the new index of each old row. Returns the number
    of remaining rows.
    """
    size = counts.shape[0]
    leaves = 1
    while leaves < size:
        leaves *= 2
    least = np.full(2 * leaves, np.inf)  # a tree: each node is the minimum of its two children
    following, before = np.empty(size, np.int64), np.empty(size, np.int64)
    for i in range(size):
        following[i], before[i] = i + 1, i - 1
        if i + 1 < size:
            least[leaves + i] = _chi2_of_pair(counts, i, i + 1)
    for node in range(leaves - 1, 0, -1):
        least[node] = min(least[2 * node], least[2 * node + 1])
    left = size
    while left > 1 and (least[1] < threshold or left > most):
        node = 1
        while node < leaves:
            node = 2 * node if least[2 * node] <= least[2 * node + 1] else 2 * node + 1
        a = node - leaves
        b = following[a]
        counts[a] += counts[b]
        following[a] = following[b]
        if following[a] < size:
            before[following[a]] = a
        before[b] = -2
        left -= 1
        for i in (b, a, before[a]):
            if i >= 0:
                value = np.inf
                if before[i] != -2 and following[i] < size:
                    value = _chi2_of_pair(counts, i, following[i])
                node = leaves + i
                least[node] = value
                while node > 1:
                    node //= 2
                    least[node] = min(least[2 * node], least[2 * node + 1])
    last = -1
    for i in range(size):
        if before[i] != -2:
            last += 1
            counts[last] = counts[i]
        group[i] = last
    return left


@kernel(types.void(_i1, _f1, _f1, _i1, _c1, _c1))
def assign(
    indptr: Ints,
    value: Floats,
    thresholds: Floats,
    offset: Ints,
    missing: Codes,
    codes: Codes,
) -> None:
    """Code each entry by the number of its column's thresholds below it; NaN by ``missing``."""
    for j in range(indptr.shape[0] - 1):
        own = value[indptr[j] : indptr[j + 1]]
        out = codes[indptr[j] : indptr[j + 1]]
        rising = thresholds[offset[j] : offset[j + 1]]
        if rising.shape[0] <= 16:
            for e in range(own.shape[0]):
                out[e] = 0
            for t in range(rising.shape[0]):
                threshold = rising[t]
                for e in range(own.shape[0]):
                    out[e] += np.uint8(own[e] > threshold)
        else:
            for e in range(own.shape[0]):
                low, high = 0, rising.shape[0]
                while low < high:
                    middle = (low + high) // 2
                    if own[e] > rising[middle]:
                        low = middle + 1
                    else:
                        high = middle
                out[e] = low
        for e in range(own.shape[0]):
            if own[e] != own[e]:
                out[e] = missing[j]


@kernel(types.void(types.uint8[:, ::1], _f1, _i1, types.uint8[:, ::1]))
def assign_bytes(value: Codes, thresholds: Floats, offset: Ints, codes: Codes) -> None:
    """Code each byte by the number of its column's thresholds below it."""
    code_of = np.empty(256, np.uint8)
    for j in range(value.shape[0]):
        rising = thresholds[offset[j] : offset[j + 1]]
        if rising.shape[0] <= 16:
            codes[j, :] = 0
            for t in range(rising.shape[0]):
                whole = np.uint8(min(np.floor(rising[t]), 255.0))
                for e in range(value.shape[1]):
                    codes[j, e] += np.uint8(value[j, e] > whole)
        else:
            code = 0
            for number in range(256):
                while code < rising.shape[0] and rising[code] < number:
                    code += 1
                code_of[number] = code
            for e in range(value.shape[1]):
                codes[j, e] = code_of[value[j, e]]
