"""Packed columns -> counts of a column and the class within strata of other columns (numba)."""

from __future__ import annotations

import numpy as np

from slfs._core.compile import inlined, late_kernel, popcount
from slfs.counting.kernels import ONE, ZERO, Codes, Counts, PackedArrays, Words


@inlined
def half_g(table: Counts, nlogn: Counts) -> np.int64:
    """Return S(f,Y) - S(f) - S(Y) + S() of one stratum (levels x classes), half its G statistic."""
    half, whole = np.int64(0), np.int64(0)
    for a in range(table.shape[0]):
        of_level = np.int64(0)
        for c in range(table.shape[1]):
            half += nlogn[np.uint64(table[a, c])]
            of_level += table[a, c]
        half -= nlogn[np.uint64(of_level)]
        whole += of_level
    for c in range(table.shape[1]):
        half -= nlogn[np.uint64(table[:, c].sum())]
    return half + nlogn[np.uint64(whole)]


@late_kernel
def strata_by_samples(
    codes: Codes, strata: Words, first_sample: Words, nlogn: Counts, out: Counts
) -> np.int64:
    """Count levels and classes in each stratum, with one increment per sample.

    Returns S(f,Y,Z) - S(f,Z) - S(Y,Z) + S(Z): half the G statistic of f and Y given Z, in the unit of
    ``nlogn``. ``out`` (strata x levels x classes) must contain zeros.
    """
    for c in range(np.uint64(first_sample.shape[0] - 1)):
        for i in range(first_sample[c], first_sample[c + ONE]):
            out[strata[i], np.uint64(codes[i]), c] += 1
    half = np.int64(0)
    for z in range(out.shape[0]):
        half += half_g(out[z], nlogn)
    return half


@late_kernel
def strata_by_planes(
    packed: PackedArrays,
    f: np.uint64,
    given: Words,
    samples: Words,
    nlogn: Counts,
    out: Counts,
) -> np.int64:
    """Do the same with planes; ``samples`` has the bits of all samples set and the padding cleared.

    The strata are enumerated like the digits of a number, the last given column fastest; the AND of the
    planes of the preceding columns is kept. All columns must have planes.
    """
    n_classes, n_given = np.uint64(packed.first_word.shape[0] - 1), given.shape[0]
    n_words = packed.first_word[n_classes]
    last = packed.levels[f] - ONE
    masks = np.empty((n_given + 1, n_words), np.uint64)
    masks[0] = samples
    digits = np.full(n_given + 1, -1)
    half, z, depth = np.int64(0), 0, 0
    while depth >= 0:
        if depth < n_given:
            k = given[depth]
            levels = np.int64(packed.levels[k])
            digits[depth] += 1
            if digits[depth] == levels:
                digits[depth] = -1
                depth -= 1
                continue
            if digits[depth] < levels - 1:
                start = packed.offset[k] + np.uint64(digits[depth]) * n_words
                for w in range(n_words):
                    masks[depth + 1, w] = masks[depth, w] & packed.words[start + w]
            else:
                for w in range(n_words):
                    others = ZERO
                    for a in range(np.uint64(levels - 1)):
                        others |= packed.words[packed.offset[k] + a * n_words + w]
                    masks[depth + 1, w] = masks[depth, w] & ~others
            depth += 1
            continue
        for c in range(n_classes):
            low, high = packed.first_word[c], packed.first_word[c + ONE]
            rest = np.int64(0)
            for w in range(low, high):
                rest += np.int64(popcount(masks[depth, w]))
            for a in range(last):
                start = packed.offset[f] + a * n_words
                count = np.int64(0)
                for w in range(low, high):
                    count += np.int64(popcount(masks[depth, w] & packed.words[start + w]))
                out[z, a, c] = count
                rest -= count
            out[z, last, c] = rest
        half += half_g(out[z], nlogn)
        z += 1
        depth -= 1
    return half
