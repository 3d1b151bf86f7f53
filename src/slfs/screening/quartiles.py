"""Columns of numbers -> packed quartiles with a score each, for trends of residuals over a column."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from slfs._core.ragged import starts
from slfs.coding.codebook import NONE, Learned
from slfs.counting.planes import N_CUTS, PackedBlock, SampleLayout, pack_block
from slfs.counting.value_planes import Codes

Ints = NDArray[np.int64]


def pack_quartiles(
    learned: Learned,
    codes: Codes,
    columns: Ints,
    layout: SampleLayout,
    cuts: NDArray[np.float64] | None = None,
) -> PackedBlock:
    """Pack columns whose levels are ordered and do not depend on the class, with `level_scores`.

    ``cuts`` are the cut points of columns of numbers: a row per column, with NaN for those it has not.
    """
    if cuts is None:
        cuts = np.full((len(columns), N_CUTS), np.nan)
    block = pack_block(layout, columns, codes, learned.coding.n_levels, learned.class_counts)
    return replace(block, scores=level_scores(learned, layout.n_classes), cuts=cuts)


def pack_without_order(columns: Ints, layout: SampleLayout) -> PackedBlock:
    """Pack columns of categories, which have no trend, as columns of a single level with score 0."""
    ones, none = np.ones(len(columns), np.uint64), np.empty(0, np.uint64)
    counts = np.tile(layout.totals, len(columns))
    scores, cuts = np.zeros(len(columns)), np.full((len(columns), N_CUTS), np.nan)
    return PackedBlock(columns, ones, none, counts, scores=scores, cuts=cuts)


def level_scores(learned: Learned, n_classes: int) -> NDArray[np.float64]:
    """Return the mean rank of the samples of each level, with mean 0 and variance 1 over the samples.

    Missing values have no score: NaN.
    """
    n_levels = learned.coding.n_levels
    size = learned.class_counts.reshape(-1, n_classes).sum(axis=1)
    first = starts(n_levels)
    missing = learned.coding.columns["missing"].astype(np.int64)
    has_missing = missing != NONE
    size[(first[:-1] + missing)[has_missing]] = 0
    column = np.repeat(np.arange(len(n_levels)), n_levels)
    through = np.cumsum(size)
    before = np.concatenate([[0], through])[first]
    total = np.diff(before)
    # twice the mean rank, less its mean: integers, so that these sums are exact
    doubled = 2 * (through - before[:-1][column]) - size - total[column]
    doubled[(first[:-1] + missing)[has_missing]] = 0
    squares = np.bincount(column, size * doubled.astype(np.float64) ** 2, minlength=len(n_levels))
    deviation = np.sqrt(squares / np.maximum(total, 1))
    scores: NDArray[np.float64] = doubled / np.where(deviation > 0, deviation, 1.0)[column]
    scores[(first[:-1] + missing)[has_missing]] = np.nan
    return scores
