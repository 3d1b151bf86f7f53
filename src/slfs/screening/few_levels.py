"""Columns -> a few levels that do not depend on the class and are not rare, for tests of pairs.

Columns of numbers are cut at quantiles into twice as many intervals as wanted, and adjacent
intervals are merged to the most even division: terciles for most columns, and the values themselves
for columns like 0, 1, 2. Of categories the most frequent ones are kept and the others pooled.
Missing values are a level of their own if they are frequent; otherwise they join the most frequent
level.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slfs._core.ragged import starts
from slfs.coding.codebook import NONE, Coding
from slfs.coding.level_names import level_names
from slfs.counting.planes import PackedBlock, SampleLayout, pack_block
from slfs.counting.value_planes import Codes, LevelPlanes, decoded
from slfs.screening.p_values import code_blind
from slfs.tables.table import Table

Ints = NDArray[np.int64]
Groups = NDArray[np.uint8]

_EXPECTED = 5
"""Expected number of samples that have the rarest level of two independent columns."""

_FINE = 16
"""Maximum number of levels before merging; rarer ones of the same group are one level."""

_NAMED = 3
"""Number of categories that are named in a group."""


@dataclass(frozen=True)
class FewColumn:
    """The names of the levels of one column; the cut points between them if it is numeric."""

    names: list[str]
    cuts: NDArray[np.float64]


@dataclass(frozen=True)
class FewLevels:
    """Coding of a block of columns, and the group of each of its levels.

    Attributes
    ----------
    coding : Coding
        Levels before merging.
    group : ndarray of shape (n_columns, most levels of a column)
        Group of each level.
    n_groups : ndarray of shape (n_columns,)
        Number of groups of each column.
    """

    coding: Coding
    group: Groups
    n_groups: Ints

    def describe(self, column: int) -> FewColumn:
        """Return the names and cut points of the groups of a column."""
        cuts = self._cuts(column) if self.coding.cut[column] else np.empty(0)
        return FewColumn(self._names(column), cuts)

    def _cuts(self, column: int) -> NDArray[np.float64]:
        """Return the cut points between the groups of a column of numbers."""
        thresholds = self.coding.column_thresholds(column)
        group = self.group[column, : len(thresholds) + 1]
        cuts: NDArray[np.float64] = thresholds[group[1:] != group[:-1]]
        return cuts

    def _names(self, column: int) -> list[str]:
        """Return the names of the groups of a column."""
        group, n_groups = self.group[column], int(self.n_groups[column])
        if self.coding.cut[column]:
            names = level_names(self._merged(column), 0)
            missing = int(self.coding.columns["missing"][column])
            if missing != NONE and len(names) == len(self._cuts(column)) + 1:  # they joined an interval
                names[group[missing]] += " or missing"
            return names
        members: list[list[str]] = [[] for _ in range(n_groups)]
        for name, own in zip(level_names(self.coding, column), group.tolist(), strict=False):
            members[own].append(name)
        return [
            ", ".join(
                names
                if len(names) <= _NAMED + 1
                else [*names[:_NAMED], f"+{len(names) - _NAMED} others"]
            )
            for names in members
        ]

    def _merged(self, column: int) -> Coding:
        """Return the coding of the groups of a column of numbers."""
        record, cuts = self.coding.columns[[column]].copy(), self._cuts(column)
        record["n_levels"] = self.n_groups[column]
        alone = self.n_groups[column] > len(cuts) + 1  # missing values are a group of their own
        record["missing"] = len(cuts) + 1 if alone else NONE
        return Coding(record, np.array([0, len(cuts)]), cuts)


@dataclass(frozen=True)
class FineColumn:
    """The levels of one column before they are merged; rare ones of a group are one level.

    Attributes
    ----------
    codes : ndarray of shape (n_samples,)
        Level of each sample.
    group : ndarray of shape (n_levels,)
        Group of each level.
    """

    codes: Groups
    group: Ints

    @property
    def is_merged(self) -> bool:
        """Whether a group has several levels."""
        return len(self.group) > len(np.unique(self.group))


def learn_few(
    table: Table, columns: Ints, kind: str, layout: SampleLayout, most_levels: int
) -> tuple[FewLevels, Codes]:
    """Learn the levels of columns of one kind, and code them, samples in the order of ``layout``."""
    few, codes = _learn(table, columns, kind, layout, most_levels)
    if isinstance(codes, LevelPlanes):
        return few, codes.merged(few.group)
    return few, np.take_along_axis(few.group, codes.astype(np.intp), axis=1)


def learn_fine(
    table: Table, columns: Ints, kind: str, layout: SampleLayout, most_levels: int
) -> list[FineColumn]:
    """Code columns of one kind before levels are merged, samples in the order of ``layout``."""
    few, every = _learn(table, columns, kind, layout, most_levels)
    found = []
    for group, codes in zip(few.group, decoded(every, layout), strict=True):
        sizes = np.bincount(codes, minlength=len(group))
        fine = np.arange(len(group))
        rare = np.argsort(-sizes, kind="stable")[_FINE:]
        fine[rare] = len(group) + group[rare]
        _, first, own = np.unique(fine[sizes > 0], return_index=True, return_inverse=True)
        code_of = np.zeros(len(group), np.uint8)
        code_of[sizes > 0] = own
        found.append(FineColumn(code_of[codes], group[sizes > 0][first].astype(np.int64)))
    return found


def least_samples(n_samples: int) -> float:
    """Return the number of samples that a level must have, so that tables of two columns are filled."""
    return math.sqrt(_EXPECTED * n_samples)


def _learn(
    table: Table, columns: Ints, kind: str, layout: SampleLayout, most_levels: int
) -> tuple[FewLevels, Codes]:
    """Learn the levels of columns of one kind; the codes are those before levels are merged."""
    blind = SampleLayout.from_sorted(layout.order, np.array([layout.n_samples]))
    learned, codes = code_blind(table, columns, kind, blind, 2 * most_levels, layout)
    coding = learned.coding
    n_levels = coding.n_levels
    counts = np.zeros((len(columns), int(n_levels.max(initial=1))), np.int64)
    counts[np.arange(counts.shape[1]) < n_levels[:, np.newaxis]] = learned.class_counts
    least = least_samples(layout.n_samples)
    group = np.zeros(counts.shape, np.int64)
    cut, missing = coding.cut, coding.columns["missing"].astype(np.int64)
    if cut.any():
        group[cut] = _merge_intervals(counts[cut], missing[cut], most_levels, least)
    if not cut.all():
        group[~cut] = _pool_rare(counts[~cut], most_levels, least)
    n_groups = np.where(counts > 0, group, 0).max(axis=1) + 1
    return FewLevels(coding, group.astype(np.uint8), n_groups), codes


def pack_few(
    table: Table, columns: Ints, kind: str, layout: SampleLayout, most_levels: int
) -> PackedBlock:
    """Pack columns of one kind in few levels; columns with a single level are left out."""
    few, codes = learn_few(table, columns, kind, layout, most_levels)
    several = few.n_groups > 1
    n_levels = few.n_groups[several]
    if isinstance(codes, LevelPlanes):
        codes = codes.take(several)
        counts = codes.level_counts(n_levels, layout)
    else:
        codes = np.ascontiguousarray(codes[several])
        cells = (codes.astype(np.int64) + starts(n_levels)[:-1, np.newaxis]) * layout.n_classes
        cells += layout.labels
        counts = np.bincount(cells.reshape(-1), minlength=int(n_levels.sum()) * layout.n_classes)
    return pack_block(layout, columns[several], codes, n_levels, counts.astype(np.int64))


def _merge_intervals(counts: Ints, missing: Ints, most: int, least: float) -> Ints:
    """Merge adjacent intervals to at most ``most`` groups of ``least`` samples, as evenly as possible.

    The level ``missing`` is the last one of a column. Of all divisions, the one with the smallest sum of
    squared sizes is the most even; ties: the one with fewer groups, then the one with earlier cuts.
    """
    n_columns, n_levels = counts.shape
    rows = np.arange(n_columns)
    has = missing != NONE
    gone = np.where(has, counts[rows, missing], 0)
    counts = counts.copy()
    counts[rows[has], missing[has]] = 0
    alone = gone >= least
    room = most - alone
    below = np.concatenate([np.zeros((n_columns, 1), np.int64), np.cumsum(counts, axis=1)], axis=1)
    best = np.full(n_columns, np.inf)
    group = np.zeros(counts.shape, np.int64)
    for n_cuts in range(most):
        for cuts in itertools.combinations(range(1, n_levels), n_cuts):
            sizes = np.diff(below[:, [0, *cuts, n_levels]], axis=1)
            uneven = (sizes.astype(np.float64) ** 2).sum(axis=1)
            better = (uneven < best) & (n_cuts < room) & ((sizes.min(axis=1) >= least) | (n_cuts == 0))
            best[better] = uneven[better]
            group[better] = np.searchsorted(cuts, np.arange(n_levels), side="right")
    largest = group[rows, counts.argmax(axis=1)]
    own = np.where(
        alone & (below[:, -1] > 0), group.max(axis=1, where=counts > 0, initial=0) + 1, largest
    )
    group[rows[has], missing[has]] = own[has]
    return group


def _pool_rare(counts: Ints, most: int, least: float) -> Ints:
    """Keep the most frequent levels and pool the others, in at most ``most`` groups of ``least``."""
    order = np.argsort(-counts, axis=1, kind="stable")
    ranked = np.take_along_axis(counts, order, axis=1)
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.arange(counts.shape[1])[np.newaxis], axis=1)
    n_groups = np.ones(len(counts), np.int64)
    for wanted in range(2, min(most, counts.shape[1]) + 1):
        pool = ranked[:, wanted - 1 :].sum(axis=1)
        enough = (ranked[:, wanted - 2] >= least) & (pool >= least)
        n_groups[enough] = wanted
    last = n_groups[:, np.newaxis] - 1
    alone = ((rank >= last) & (counts > 0)).sum(axis=1, keepdims=True) == 1  # nothing is pooled
    kept = (rank < last) | (alone & (counts > 0))
    return np.where(kept, np.cumsum(kept, axis=1) - 1, last)  # in the order of the levels
