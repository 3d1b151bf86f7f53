"""Levels and quartiles of the selected columns -> finer levels, on which tables of both can be added."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from slfs._core.indices import PackedIndex
from slfs._core.ragged import starts
from slfs.coding.codebook import MAX_LEVELS, NONE, Coding
from slfs.measures.information import Information

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.uint8]


@dataclass(frozen=True)
class Refinement:
    """The levels of columns, divided at their quartiles.

    Attributes
    ----------
    coding : Coding
        The finer levels.
    codes : ndarray of shape (n_columns, n_samples)
        The finer level of each sample.
    level : list of ndarray
        The level of each finer level, by column.
    quartile : list of ndarray
        The quartile of each finer level, by column; empty for columns that are not divided.
    quartile_codes : ndarray of shape (n_divided, n_samples)
        The quartiles of the samples in the columns that are divided.
    """

    coding: Coding
    codes: Codes
    level: list[Ints]
    quartile: list[Ints]
    quartile_codes: Codes

    @property
    def divided(self) -> Ints:
        """The columns that are divided."""
        return np.flatnonzero([len(own) for own in self.quartile])

    def node(self, column: int, table: Floats, of_quartiles: Floats | None) -> Floats:
        """Add the table of the quartiles of a column to that of its levels."""
        own: Floats = table[self.level[column]]
        return own if of_quartiles is None else own + of_quartiles[self.quartile[column]]

    def edge(self, column: int, other: int, table: Floats) -> Floats:
        """Repeat the table of the levels of two columns for their finer levels."""
        repeated: Floats = table[np.ix_(self.level[column], self.level[other])]
        return repeated


def refine_levels(information: Information, columns: Ints, codes: Codes, coding: Coding) -> Refinement:
    """Divide the levels of packed columns, whose codes and coding are given, at their quartiles.

    Categories, and columns whose quartiles are not packed, are left as they are.
    """
    quartiles = information.backend.quartiles
    records, fine, found = coding.columns.copy(), codes.copy(), []
    thresholds, level, quartile = [], [], []
    for j, f in enumerate(columns.tolist()):
        own, cuts = coding.column_thresholds(j), np.empty(0)
        if quartiles is not None and coding.cut[j]:
            cuts = quartiles.packed.cuts[f]
            cuts = cuts[~np.isnan(cuts)]
        union, n_levels = np.union1d(own, cuts), int(coding.n_levels[j])
        has_missing = records["missing"][j] != NONE
        if quartiles is None or len(cuts) == 0 or len(union) + 1 + has_missing > MAX_LEVELS:
            thresholds.append(own)
            level.append(np.arange(n_levels))
            quartile.append(np.empty(0, np.int64))
            continue
        ends = np.append(union, np.inf)
        last = [n_levels - 1] if has_missing else []  # missing values
        level.append(np.append(np.searchsorted(own, ends), last).astype(np.int64))
        last = [len(cuts) + 1] if has_missing else []
        quartile.append(np.append(np.searchsorted(cuts, ends), last).astype(np.int64))
        thresholds.append(union)
        found.append(quartiles.codes(PackedIndex(f)))
        place = np.zeros((n_levels, len(cuts) + 2), np.uint8)
        place[level[j], quartile[j]] = np.arange(len(level[j]))
        fine[j] = place[codes[j], found[-1]]
        records["n_levels"][j] = len(level[j])
        records["missing"][j] = len(level[j]) - 1 if has_missing else NONE
        records["fallback"][j] = np.bincount(fine[j]).argmax()
    offset = starts(np.array([len(own) for own in thresholds], np.int64))
    joined = np.concatenate([*thresholds, np.empty(0)])
    refined = replace(coding, columns=records, offset=offset, thresholds=joined)
    of_samples = np.array(found, np.uint8).reshape(len(found), codes.shape[1])
    return Refinement(refined, fine, level, quartile, of_samples)
