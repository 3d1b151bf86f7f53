"""Columns and the ranks of a continuous target -> what rank tests need to know of each column (numba).

The columns are given as runs, which have all distinct values of a column in order (or bins of them, if
the rows are read in pieces), so that nothing is sorted here.
"""

from __future__ import annotations

import math

import numpy as np
from numba import types
from numpy.typing import NDArray

from slfs._core.compile import kernel
from slfs.coding.run_kernels import RUNS, Runs

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

N_POWERS = 4
"""Sums of the first to the fourth power of the ranks are needed for the kurtosis."""

_f2 = types.float64[:, ::1]
_i1, _i2 = types.int64[::1], types.int64[:, ::1]


@kernel(types.void(RUNS, _f2, _i1, _i1, _f2))
def add_target_ranks(runs: Runs, value: Floats, rank: Ints, sums: Ints, powers: Floats) -> None:
    """Add the rank of each sample to the sum of its value, and its powers to those of the column.

    ``value`` has one row per column and ``rank`` one entry per sample. ``sums[r]`` gets the sum of the
    ranks if run r is the last one of a value, ``powers[j]`` the sums of the powers of the ranks of all
    samples whose value is not missing.
    """
    for j in range(value.shape[0]):
        for i in range(value.shape[1]):
            x = value[j, i]
            if np.isnan(x):
                continue
            power = 1.0
            for k in range(N_POWERS):
                power *= rank[i]
                powers[j, k] += power
            low, high = runs.start[j], runs.stop[j]  # the last run whose value is at most x
            while high - low > 1:
                middle = (low + high) >> 1
                if runs.value[middle] <= x:
                    low = middle
                else:
                    high = middle
            sums[low] += rank[i]


@kernel(types.void(RUNS, _i1, _i2, _i2, _f2))
def summarize_target_ranks(
    runs: Runs, sums: Ints, group_sizes: Ints, group_sums: Ints, out: Floats
) -> None:
    """Correlate the ranks of each column and of the target, and sum the latter over groups of values.

    ``group_sizes`` and ``group_sums`` get the number of samples and the sum of the ranks of the target
    in each group. If a column has no more values than there are groups, each value is a group. Otherwise
    a value of more than half of the samples is the last group, and the other values are in as many
    equal-frequency intervals as there are other groups. A value is in the interval of its middle sample,
    as in `slfs.coding.cut_kernels.quantile_counts`. The rows of ``out`` are the number of samples, the
    sum of products of the ranks, the sum of squares and the kurtosis of the ranks of the column, the
    size of its largest tie, the sum of log n! over its ties, and its number of distinct values.
    """
    n_groups = group_sizes.shape[1]
    for j in range(runs.start.shape[0]):
        stop = runs.stop[j]
        size, largest, distinct = np.int64(0), np.int64(0), np.int64(0)
        r = runs.start[j]
        while r < stop:
            first, tied = r, np.int64(0)
            while r < stop and runs.value[r] == runs.value[first]:
                tied += runs.size[r]
                r += 1
            size += tied
            largest = max(largest, tied)
            distinct += 1
        frequent = largest if 2 * largest > size else np.int64(0)
        below, cut, index = np.int64(0), np.int64(0), np.int64(0)
        product, second, fourth, log_ties = 0.0, 0.0, 0.0, 0.0
        r = runs.start[j]
        while r < stop:
            first, tied = r, np.int64(0)
            while r < stop and runs.value[r] == runs.value[first]:
                tied += runs.size[r]
                r += 1
            score = float(2 * below + tied - size)  # twice the midrank, minus its mean
            product += score * sums[r - 1]
            second += tied * score**2
            fourth += tied * score**4
            if tied > 1:
                log_ties += math.lgamma(tied + 1.0)
            if distinct <= n_groups:
                group = index
            elif tied == frequent:
                group = np.int64(n_groups - 1)
            else:
                group = (2 * cut + tied) * (n_groups - 1) // (2 * (size - frequent))
                cut += tied
            group_sizes[j, group] += tied
            group_sums[j, group] += sums[r - 1]
            below += tied
            index += 1
        out[0, j], out[1, j], out[2, j] = size, product, second
        out[3, j] = size * fourth / (second * second) if second > 0.0 else 0.0
        out[4, j], out[5, j], out[6, j] = largest, log_ties, distinct
