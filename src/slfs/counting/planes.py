"""Codes -> bit planes, samples sorted by class: the only form in which samples are stored.

A column with d levels has d - 1 planes of one bit per sample. Each class is padded to a multiple of 64
samples, so that the counts of a class are popcounts over its words.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slfs._core.ragged import ragged, starts
from slfs.counting.kernels import MAX_PLANES, PackedArrays, pack
from slfs.counting.value_planes import Codes, LevelPlanes, join_values

MAX_PLANE_LEVELS = int(MAX_PLANES) + 1
"""Columns with more levels are stored as codes: their planes would take more memory than the codes."""


N_CUTS = 3
"""Number of cut points between quartiles."""


@dataclass(frozen=True)
class SampleLayout:
    """The order of the samples, sorted by class.

    Attributes
    ----------
    order : ndarray of shape (n_samples,)
        Row of the table at each position.
    labels : ndarray of shape (n_samples,)
        Class code at each position, non-decreasing.
    totals : ndarray of shape (n_classes,)
        Number of samples of each class.
    first_sample, first_word : ndarray of shape (n_classes + 1,)
        Start of each class, in samples and in words of a plane.
    counts : ndarray of shape (n_rows,) or None
        How often each row of the table occurs in ``order``. None: once.
    unit : float
        Number of positions that are worth one sample. It is not 1 only with sample weights that are not
        whole numbers; see `slfs.tables.weights`.
    tested : SampleLayout or None
        The samples for tests of significance, without such weights. None: these samples.
    target_ranks : ndarray of int or None
        Ranks of a continuous target, by row of the table: twice the midrank, minus its mean. The
        classes are then bins of the target.
    target_values : ndarray of float or None
        A continuous target, by row of the table. The copies of a layout for workers do not have it.
    """

    order: NDArray[np.int64]
    labels: NDArray[np.int32]
    totals: NDArray[np.int64]
    first_sample: NDArray[np.uint64]
    first_word: NDArray[np.uint64]
    counts: NDArray[np.int64] | None = None
    unit: float = 1.0
    tested: SampleLayout | None = None
    target_ranks: NDArray[np.int64] | None = None
    target_values: NDArray[np.float64] | None = None

    @classmethod
    def from_class_codes(
        cls,
        class_codes: NDArray[np.int64],
        n_classes: int,
        counts: NDArray[np.int64] | None = None,
    ) -> SampleLayout:
        """Sort the samples by class, keeping the order within each class.

        ``counts`` says how often each row is repeated, 0 for rows that are left out. None: once.
        """
        order = np.argsort(class_codes, kind="stable")
        if counts is None:
            return cls.from_sorted(order, np.bincount(class_codes, minlength=n_classes))
        order = np.repeat(order, counts[order])
        totals = np.bincount(class_codes[order], minlength=n_classes)
        return replace(cls.from_sorted(order, totals), counts=counts)

    @classmethod
    def from_sorted(cls, order: NDArray[np.int64], totals: NDArray[np.int64]) -> SampleLayout:
        """Create the layout of rows that are already sorted by class, given the class sizes."""
        return cls(
            order=order,
            labels=np.repeat(np.arange(len(totals), dtype=np.int32), totals),
            totals=totals,
            first_sample=unsigned_starts(totals),
            first_word=unsigned_starts(-(-totals // 64)),
        )

    @property
    def n_samples(self) -> int:
        return len(self.order)

    @property
    def evidence(self) -> float:
        """Number of samples that the data are worth, in units of one sample."""
        return self.n_samples / self.unit

    @property
    def n_seen(self) -> int:
        """Number of samples that were seen, whatever they weigh."""
        return (self.tested or self).n_samples

    @property
    def n_classes(self) -> int:
        return len(self.totals)

    @property
    def n_words(self) -> int:
        """Number of words of one plane."""
        return int(self.first_word[-1])

    def rows_at(self, samples: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the rows of some samples, which are numbered in the order of the table."""
        if self.counts is None:
            return samples
        return np.searchsorted(np.cumsum(self.counts), samples, side="right")

    def bit_positions(self) -> NDArray[np.int64]:
        """Return the position of each sample's bit in a plane."""
        shift = 64 * self.first_word[:-1].astype(np.int64) - self.first_sample[:-1].astype(np.int64)
        return np.arange(self.n_samples) + np.repeat(shift, self.totals)

    def sample_bits(self) -> NDArray[np.uint64]:
        """Return a plane with the bits of all samples set, and those of the padding cleared."""
        words = np.full(self.n_words, ~np.uint64(0))
        short = self.totals % 64
        for c in np.flatnonzero(short):
            words[self.first_word[c + 1] - np.uint64(1)] = (1 << int(short[c])) - 1
        return words


@dataclass(frozen=True)
class PackedColumns:
    """Packed columns of a table, with their indices in the table.

    Attributes
    ----------
    layout : SampleLayout
        The order of the samples.
    columns : ndarray of shape (n_packed,)
        Index of each column in the table, increasing.
    arrays : PackedArrays
        The arrays that the kernels read.
    quartiles : PackedColumns or None
        The quartiles of the same columns, whatever their levels are; None if nobody asked for them.
    scores : ndarray
        For quartiles, the score of each of them, column after column; see `slfs.screening.quartiles`.
    cuts : ndarray of shape (n_packed, 3)
        For quartiles, the cut points between them; NaN where there are fewer.
    """

    layout: SampleLayout
    columns: NDArray[np.int64]
    arrays: PackedArrays
    quartiles: PackedColumns | None = None
    scores: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    cuts: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, N_CUTS)))

    def __len__(self) -> int:
        return len(self.columns)

    def class_counts(self, index: int) -> NDArray[np.int64]:
        """Return the counts of column ``index``: one row per level, one column per class."""
        levels, n_classes = int(self.arrays.levels[index]), self.layout.n_classes
        start = int(self.arrays.counts_offset[index])
        flat = self.arrays.class_counts[start : start + levels * n_classes]
        return flat.reshape(levels, n_classes)

    @functools.cached_property
    def level_starts(self) -> NDArray[np.int64]:
        """Index of the first level of each column among all levels, and their number."""
        return starts(self.arrays.levels)

    def scores_of(self, index: int) -> NDArray[np.float64]:
        """Return the scores of the levels of column ``index``, if these are quartiles."""
        return self.scores[self.level_starts[index] : self.level_starts[index + 1]]

    def take(self, indices: NDArray[np.int64]) -> PackedColumns:
        """Copy some columns, given by increasing indices."""
        arrays, levels = self.arrays, self.arrays.levels[indices]

        def pieces(begins: NDArray[np.uint64], lengths: NDArray[Any]) -> NDArray[np.int64]:
            return ragged(begins[indices].astype(np.int64), lengths.astype(np.int64))[1]

        n_words, n_counts = column_words(levels, self.layout), levels * np.uint64(self.layout.n_classes)
        taken = arrays._replace(
            words=np.asarray(arrays.words[pieces(arrays.offset, n_words)]),
            offset=unsigned_starts(n_words),
            levels=levels,
            class_counts=arrays.class_counts[pieces(arrays.counts_offset, n_counts)],
            counts_offset=unsigned_starts(n_counts),
        )
        quartiles = None if self.quartiles is None else self.quartiles.take(indices)
        scores, cuts = self.scores, self.cuts
        if len(scores):
            scores = scores[pieces(self.level_starts.astype(np.uint64), levels)]
            cuts = cuts[indices]
        return PackedColumns(self.layout, self.columns[indices], taken, quartiles, scores, cuts)

    def pooled(self) -> PackedArrays:
        """Return the same planes for counting all samples together instead of class by class."""
        by_level = self.arrays.class_counts.reshape(-1, self.layout.n_classes)
        return self.arrays._replace(
            class_counts=np.einsum("ij->i", by_level),  # faster than sum for few classes
            counts_offset=unsigned_starts(self.arrays.levels),
            first_word=self.layout.first_word[[0, -1]],
            first_sample=self.layout.first_sample[[0, -1]],
        )


@dataclass(frozen=True)
class PackedBlock:
    """Planes and counts of a block of columns; the last three fields are as in `PackedColumns`."""

    columns: NDArray[np.int64]
    levels: NDArray[np.uint64]
    words: NDArray[np.uint64]
    class_counts: NDArray[np.int64]
    quartiles: PackedBlock | None = None
    scores: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    cuts: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, N_CUTS)))


def pack_block(
    layout: SampleLayout,
    columns: NDArray[np.int64],
    codes: Codes,
    levels: NDArray[np.int64],
    class_counts: NDArray[np.int64],
) -> PackedBlock:
    """Pack the codes of a block, samples in the order of ``layout``."""
    unsigned = levels.astype(np.uint64)
    offset = unsigned_starts(column_words(unsigned, layout))
    words = np.zeros(int(offset[-1]), np.uint64)
    if isinstance(codes, LevelPlanes):
        join_values(codes.words, codes.level, unsigned, offset, layout.sample_bits(), words)
    else:
        pack(codes, unsigned, offset, layout.first_word, layout.first_sample, words)
    return PackedBlock(columns, unsigned, words, class_counts)


def column_words(levels: NDArray[np.uint64], layout: SampleLayout) -> NDArray[np.uint64]:
    """Return the number of words of each column: of its planes, or of its codes for many levels."""
    planes = (levels - np.uint64(1)) * np.uint64(layout.n_words)
    return np.where(levels > MAX_PLANES + 1, np.uint64(-(-layout.n_samples // 8)), planes)


def unsigned_starts(lengths: NDArray[Any]) -> NDArray[np.uint64]:
    """Return the start of each of several pieces, in the unsigned type of the kernels."""
    return starts(lengths).astype(np.uint64)
