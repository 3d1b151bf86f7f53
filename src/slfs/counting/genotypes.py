"""Genotypes in two bits each -> one bit plane per value, samples in any order, without decoding them.

PLINK stores a variant after the other, four samples per byte. Sixty-four variants are transposed in
squares of 64 x 64 bits, so that the genotypes of a sample are two words; samples are then
picked in the order of the planes, and transposed back.
"""

from __future__ import annotations

import numpy as np
from numba import types
from numpy.typing import NDArray

from slfs._core.compile import helper, kernel

Words = NDArray[np.uint64]

ZERO, ONE, TWO, WORD = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(64)
LANES = np.uint64(4)
"""Number of squares that are transposed at once, in the lanes of vector registers."""

_MASKS = np.array(
    [0x00000000FFFFFFFF, 0x0000FFFF0000FFFF, 0x00FF00FF00FF00FF, 0x0F0F0F0F0F0F0F0F,
     0x3333333333333333, 0x5555555555555555], np.uint64
)  # fmt: skip

_u2, _u3 = types.uint64[:, ::1], types.uint64[:, :, ::1]


@helper
def _transpose(squares: Words) -> None:
    """Exchange rows and bits of ``LANES`` squares: bit c of row r becomes bit r of row c.

    The rows r of all squares are next to each other, so that every step is a loop over neighbours.
    """
    width = np.uint64(32)
    for step in range(np.uint64(6)):
        mask, span = _MASKS[step], width * LANES
        for begin in range(ZERO, WORD * LANES, TWO * span):
            upper, lower = squares[begin : begin + span], squares[begin + span : begin + TWO * span]
            for i in range(span):
                moved = ((upper[i] >> width) ^ lower[i]) & mask
                lower[i] ^= moved
                upper[i] ^= moved << width
        width >>= ONE


@kernel(types.void(_u2, types.uint32[::1], _u3))
def split_genotypes(pairs: Words, source: NDArray[np.uint32], words: Words) -> None:
    """Write the planes of the values 0, 1 and 2 of each variant into ``words``.

    ``pairs`` has one row per variant and 32 samples per word. ``source`` is the sample of each bit of a
    plane; a number beyond the samples of ``pairs`` is a bit of no sample.
    """
    n_variants, n_pairs, n_words = (
        np.uint64(pairs.shape[0]), np.uint64(pairs.shape[1]), np.uint64(words.shape[2])
    )  # fmt: skip
    half = WORD // TWO
    n_samples = n_pairs * half
    by_sample = np.zeros(((n_pairs + LANES) * half, TWO), np.uint64)
    low, high = np.zeros(WORD * LANES, np.uint64), np.zeros(WORD * LANES, np.uint64)
    for begin in range(ZERO, n_variants, WORD):
        n_rows = min(WORD, n_variants - begin)
        for w in range(ZERO, n_pairs, LANES):
            n_lanes = min(LANES, n_pairs - w)
            for row in range(n_rows):
                for lane in range(n_lanes):
                    low[row * LANES + lane] = pairs[begin + row, w + lane]
            _transpose(low)
            for lane in range(n_lanes):
                for sample in range(half):
                    by_sample[(w + lane) * half + sample, ZERO] = low[TWO * sample * LANES + lane]
                    by_sample[(w + lane) * half + sample, ONE] = low[(TWO * sample + ONE) * LANES + lane]
        for sample in range(n_samples, n_samples + half):  # no genotype
            by_sample[sample, ZERO], by_sample[sample, ONE] = ~ZERO, ZERO
        for w in range(ZERO, n_words, LANES):
            n_lanes = min(LANES, n_words - w)
            for lane in range(n_lanes):
                for bit in range(WORD):
                    own = np.uint64(source[(w + lane) * WORD + bit])
                    low[bit * LANES + lane], high[bit * LANES + lane] = (
                        by_sample[own, ZERO],
                        by_sample[own, ONE],
                    )
            _transpose(low)
            _transpose(high)
            for row in range(n_rows):
                for lane in range(n_lanes):
                    first, second = low[row * LANES + lane], high[row * LANES + lane]
                    words[begin + row, ZERO, w + lane] = first & second
                    words[begin + row, ONE, w + lane] = second & ~first
                    words[begin + row, TWO, w + lane] = ~(first | second)
