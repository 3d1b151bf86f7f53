"""Packed columns and planes of permuted labels -> counts for permutation tests (numba)."""

from __future__ import annotations

import numpy as np

from slfs._core.compile import inlined, late_kernel, popcount
from slfs.counting.kernels import ONE, ZERO, Counts, PackedArrays, Words


@inlined
def _sum_with_labels(
    packed: PackedArrays,
    j: np.uint64,
    labels: Words,
    n_words: np.uint64,
    label_counts: Counts,
    nlogn: Counts,
    rest: Counts,
) -> np.int64:
    """Return S(f, labels), the sum of n log n over the table of column j and labels given as planes.

    For fixed sizes of levels and labels, it increases with the G statistic.
    """
    n_labels, n_levels = np.uint64(label_counts.shape[0]), packed.levels[j]
    for c in range(n_labels):
        rest[c] = label_counts[c]
    sum_ = np.int64(0)
    for a in range(n_levels - ONE):
        start = packed.offset[j] + a * n_words
        left = packed.class_counts[packed.counts_offset[j] + a]
        for c in range(n_labels - ONE):
            count = ZERO
            for w in range(n_words):
                count += np.uint64(popcount(packed.words[start + w] & labels[c * n_words + w]))
            left -= np.int64(count)
            rest[c] -= np.int64(count)
            sum_ += nlogn[count]
        rest[n_labels - ONE] -= left
        sum_ += nlogn[np.uint64(left)]
    for c in range(n_labels):
        sum_ += nlogn[np.uint64(rest[c])]
    return sum_


@late_kernel
def sums_with_labels(
    packed: PackedArrays, labels: Words, label_counts: Counts, nlogn: Counts, out: Counts
) -> None:
    """Compute S(f, labels) of every packed column."""
    n_words = packed.first_word[1]
    rest = np.empty(label_counts.shape[0], np.int64)
    for j in range(np.uint64(out.shape[0])):
        out[j] = _sum_with_labels(packed, j, labels, n_words, label_counts, nlogn, rest)


@late_kernel
def count_exceedances(
    packed: PackedArrays,
    columns: Words,
    permuted: Words,
    label_counts: Counts,
    nlogn: Counts,
    observed: Counts,
    enough: int,
    hits: Counts,
    draws: Counts,
) -> None:
    """Count for some columns the permutations that reach the observed sum, and the permutations tried.

    ``permuted`` contains one row of planes per permutation. A column with ``enough`` hits is finished.
    """
    n_words = packed.first_word[1]
    rest = np.empty(label_counts.shape[0], np.int64)
    for i in range(np.uint64(columns.shape[0])):
        j = columns[i]
        for t in range(permuted.shape[0]):
            draws[j] += 1
            found = _sum_with_labels(packed, j, permuted[t], n_words, label_counts, nlogn, rest)
            if found >= observed[j]:
                hits[j] += 1
                if hits[j] == enough:
                    break
