"""One bit plane per value -> counts, planes of levels, or codes (numba).

This is for columns that come as planes instead of numbers: ``words[j, v]`` is the plane of value v of
column j. Samples without a bit in any plane of a column are missing there. ``level[j, v]`` is the level
of value v, and ``level[j, -1]`` that of missing values.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numba import types
from numpy.typing import NDArray

from slfs._core.compile import kernel, popcount

if TYPE_CHECKING:
    from slfs.counting.planes import SampleLayout

Words = NDArray[np.uint64]
Levels = NDArray[np.uint8]

_ZERO, _ONE, _WORD = np.uint64(0), np.uint64(1), np.uint64(64)
_u1, _u3, _levels = types.uint64[::1], types.uint64[:, :, ::1], types.uint8[:, ::1]


@kernel(types.void(_u3, _u1, types.int64[:, :, :]))
def count_values(words: Words, first_word: Words, counts: NDArray[np.int64]) -> None:
    """Count the samples of each column, value and class."""
    for j in range(np.uint64(words.shape[0])):
        for v in range(np.uint64(words.shape[1])):
            for c in range(np.uint64(counts.shape[2])):
                total = _ZERO
                for w in range(first_word[c], first_word[c + _ONE]):
                    total += np.uint64(popcount(words[j, v, w]))
                counts[j, v, c] = total


@kernel(types.void(_u3, _levels, _u1, _u1, _u1, _u1))
def join_values(
    words: Words, level: Levels, levels: Words, offset: Words, samples: Words, out: Words
) -> None:
    """Write the planes of all levels but the last of each column to ``out``, which is zero.

    ``samples`` is a plane with the bits of all samples.
    """
    n_values, n_words = np.uint64(words.shape[1]), np.uint64(words.shape[2])
    for j in range(np.uint64(words.shape[0])):
        for v in range(n_values):
            if level[j, v] + _ONE < levels[j]:
                first = offset[j] + level[j, v] * n_words
                for w in range(n_words):
                    out[first + w] |= words[j, v, w]
        if level[j, n_values] + _ONE < levels[j]:
            first = offset[j] + level[j, n_values] * n_words
            for w in range(n_words):
                missing = samples[w]
                for v in range(n_values):
                    missing &= ~words[j, v, w]
                out[first + w] |= missing


@kernel(types.void(_u3, _levels, _u1, _u1, _levels))
def decode_values(
    words: Words, level: Levels, first_word: Words, first_sample: Words, codes: Levels
) -> None:
    """Write the level of each sample, samples sorted by class."""
    n_values = np.uint64(words.shape[1])
    for j in range(np.uint64(words.shape[0])):
        for i in range(np.uint64(codes.shape[1])):
            codes[j, i] = level[j, n_values]
        for c in range(np.uint64(first_word.shape[0] - 1)):
            for w in range(first_word[c], first_word[c + _ONE]):
                begin = first_sample[c] + (w - first_word[c]) * _WORD
                for v in range(n_values):
                    word = words[j, v, w]
                    while word != _ZERO:
                        bit = np.uint64(popcount((word & (~word + _ONE)) - _ONE))
                        codes[j, begin + bit] = level[j, v]
                        word &= word - _ONE


@dataclass(frozen=True)
class LevelPlanes:
    """Coded columns that stay planes of values: the level of each value, and of missing values."""

    words: Words
    level: Levels

    def take(self, columns: NDArray[np.integer] | NDArray[np.bool_]) -> LevelPlanes:
        """Return some of the columns."""
        return LevelPlanes(self.words[columns], self.level[columns])

    def merged(self, group: Levels) -> LevelPlanes:
        """Replace level a of column j by ``group[j, a]``."""
        known = np.minimum(self.level, group.shape[1] - 1)  # values that do not occur have any level
        return replace(self, level=np.take_along_axis(group, known.astype(np.intp), axis=1))

    def level_counts(self, n_levels: NDArray[np.int64], layout: SampleLayout) -> NDArray[np.int64]:
        """Count the samples of each level and class, column after column."""
        counts = np.zeros((*self.level.shape, layout.n_classes), np.int64)
        count_values(self.words, layout.first_word, counts[:, :-1])
        counts[:, -1] = layout.totals - counts.sum(axis=1)
        column, value = np.nonzero(counts.any(axis=2))
        first = np.cumsum(n_levels) - n_levels
        out = np.zeros((int(n_levels.sum()), layout.n_classes), np.int64)
        np.add.at(out, first[column] + self.level[column, value], counts[column, value])
        return out.reshape(-1)

    def decoded(self, layout: SampleLayout) -> Levels:
        """Return the codes, of shape (n_columns, n_samples)."""
        codes = np.empty((len(self.words), layout.n_samples), np.uint8)
        decode_values(self.words, self.level, layout.first_word, layout.first_sample, codes)
        return codes


Codes = Levels | LevelPlanes
"""Levels of columns: of shape (n_columns, n_samples), or as planes."""


def decoded(codes: Codes, layout: SampleLayout) -> Levels:
    """Return the codes of columns as an array; ``layout`` is the order of the samples."""
    return codes.decoded(layout) if isinstance(codes, LevelPlanes) else codes
