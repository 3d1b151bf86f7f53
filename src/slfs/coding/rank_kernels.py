"""Runs -> what a rank test needs to know of each column (numba)."""

from __future__ import annotations

import math

import numpy as np
from numba import types
from numpy.typing import NDArray

from slfs._core.compile import helper, kernel
from slfs.coding.run_kernels import RUNS, Runs

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_f1 = types.float64[::1]

_FEW = 64
"""Number of samples up to which exchanges of classes of the same size are counted."""


@kernel(types.void(RUNS, types.int64[:, ::1], _f1, types.float64[:, ::1]))
def summarize_ranks(
    runs: Runs,
    totals: Ints,
    log_factorial: Floats,
    out: Floats,
) -> None:
    """Sum up the midranks of each column by class.

    The rows of ``out`` are the fields of `slfs.measures.ranks.RankSummary`. ``totals`` are the numbers
    of samples of each column and class without missing values.
    """
    sums = np.zeros(totals.shape[1], np.int64)
    for j in range(runs.start.shape[0]):
        size, smallest = np.int64(0), np.int64(2**62)
        found, inverse, log_p = 0, 0.0, 0.0
        for c in range(totals.shape[1]):
            sums[c] = 0
            count = totals[j, c]
            size += count
            if count > 0:
                found += 1
                inverse += 1.0 / count
                smallest = min(smallest, count)
                log_p += _log_factorial(count, log_factorial)
        log_p -= _log_factorial(size, log_factorial)
        below, largest = np.int64(0), np.int64(0)
        second, fourth = 0.0, 0.0
        r, stop = runs.start[j], runs.stop[j]
        while r < stop:
            first, tied = r, runs.size[r]
            r += 1
            while r < stop and runs.value[r] == runs.value[first]:
                tied += runs.size[r]
                r += 1
            score = 2 * below + tied - size  # twice the midrank, minus its mean
            for k in range(first, r):
                sums[runs.label[k]] += score * runs.size[k]
            square = float(score) * float(score)
            second += tied * square
            fourth += tied * square * square
            if tied > 1:
                log_p += _log_factorial(tied, log_factorial)
                for k in range(first, r):
                    log_p -= _log_factorial(runs.size[k], log_factorial)
            below += tied
            largest = max(largest, tied)
        between = 0.0
        for c in range(totals.shape[1]):
            if totals[j, c] > 0:
                between += float(sums[c]) * float(sums[c]) / totals[j, c]
        log_p += _log_of_equal_tables(totals[j], size, largest)
        varied = second > 0.0
        out[0, j] = size
        out[1, j] = min(between / second, 1.0) if varied else 0.0
        out[2, j] = size * fourth / (second * second) if varied else 0.0
        out[3, j], out[4, j], out[5, j] = found, inverse, 0.0
        if size > 0:
            out[5, j] = smallest * float(size - largest) / size
        out[6, j] = math.exp(min(log_p, 0.0))


@helper
def _log_factorial(n: int, table: Floats) -> float:
    """Return log n!, from the table if n is in it."""
    return table[n] if n < table.shape[0] else math.lgamma(n + 1.0)


@helper
def _log_of_equal_tables(totals: Ints, size: int, largest: int) -> float:
    """Return the log of a number of tables that have the same statistic as the observed one.

    Classes of the same size can be exchanged, and without ties the ranks can be reversed.
    """
    log_number = 0.0
    if size <= _FEW:
        for c in range(totals.shape[0]):
            equal = 0
            for d in range(c + 1):
                equal += totals[d] == totals[c]
            if totals[c] > 0:
                log_number += math.log(float(equal))
    return max(log_number, math.log(2.0)) if largest == 1 else log_number
