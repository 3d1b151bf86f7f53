"""Blocks of columns -> levels and their counts -> codes.

Numbers are cut by MDLP, everything else keeps its levels; a missing value is a level of its own. What a
block has taught is a `Coding`, which codes the same columns of any later table.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slfs.coding.kernels import (
    MAX_CUTS,
    Runs,
    assign,
    counted_runs,
    cut_points,
    interval_counts,
    merge_classes,
    sorted_runs,
)
from slfs.counting.planes import SampleLayout
from slfs.nlogn import NLogN
from slfs.table import LabelBlock, NumberBlock, ragged

MAX_LEVELS = 255
"""A categorical column with more levels keeps the most frequent ones and pools the rest."""

NONE = -1


@dataclass(frozen=True)
class Coding:
    """How columns become levels 0, 1, 2, ...: arrays with one entry for each column.

    Attributes
    ----------
    mdlp : ndarray of bool
        Cut by MDLP. The other columns are categorical.
    n_levels : ndarray of int
        Levels, that of pooled categories and that of missing values included.
    rare, missing : ndarray of int
        The level of pooled categories and of missing values; -1 where there is none.
    n_distinct : ndarray of int
        Different values of a categorical column before any were pooled; 0 for the other columns.
    fallback : ndarray of int
        The most frequent level: the code of what was never seen, where no missing value was seen either.
    low, high : ndarray of float
        The least and the largest value of a column of numbers (NaN for the rest).
    offset, thresholds : ndarray
        ``thresholds[offset[j]:offset[j + 1]]`` are the cut points of column j, or the level values of
        a categorical column of numbers. Code = number of thresholds below the value.
    categories : dict
        For each categorical column that does not hold numbers, or too many of them: the level of each
        value. Which columns are in it decides how a later table is read.
    """

    mdlp: NDArray[np.bool_]
    n_levels: NDArray[np.int64]
    rare: NDArray[np.int64]
    missing: NDArray[np.int64]
    n_distinct: NDArray[np.int64]
    fallback: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    offset: NDArray[np.int64]
    thresholds: NDArray[np.float64]
    categories: dict[int, dict[Any, int]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.n_levels)

    def column_thresholds(self, column: int) -> NDArray[np.float64]:
        return self.thresholds[self.offset[column] : self.offset[column + 1]]

    def take(self, columns: NDArray[np.int64]) -> Coding:
        """The coding of some of the columns."""
        offset, source = ragged(self.offset[columns], np.diff(self.offset)[columns])
        place = {int(old): new for new, old in enumerate(columns)} if self.categories else {}
        return Coding(
            self.mdlp[columns],
            self.n_levels[columns],
            self.rare[columns],
            self.missing[columns],
            self.n_distinct[columns],
            self.fallback[columns],
            self.low[columns],
            self.high[columns],
            offset,
            self.thresholds[source],
            {place[old]: levels for old, levels in self.categories.items() if old in place},
        )


def join_codings(codings: Sequence[Coding]) -> Coding:
    """Put the codings of consecutive columns one after another."""
    first = itertools.accumulate((len(coding) for coding in codings), initial=0)
    return Coding(
        np.concatenate([coding.mdlp for coding in codings]),
        np.concatenate([coding.n_levels for coding in codings]),
        np.concatenate([coding.rare for coding in codings]),
        np.concatenate([coding.missing for coding in codings]),
        np.concatenate([coding.n_distinct for coding in codings]),
        np.concatenate([coding.fallback for coding in codings]),
        np.concatenate([coding.low for coding in codings]),
        np.concatenate([coding.high for coding in codings]),
        starts(np.concatenate([np.diff(coding.offset) for coding in codings])),
        np.concatenate([coding.thresholds for coding in codings]),
        {
            start + column: levels
            for start, coding in zip(first, codings, strict=False)
            for column, levels in coding.categories.items()
        },
    )


@dataclass(frozen=True)
class Learned:
    """What a block of columns has taught: its coding, and the counts of each level and class.

    ``class_counts`` holds, column after column, n_levels rows of n_classes counts.
    """

    coding: Coding
    class_counts: NDArray[np.int64]


# -- numbers ---------------------------------------------------------------------------------------


def make_runs(block: NumberBlock, layout: SampleLayout) -> tuple[Runs, NDArray[np.int64]]:
    """Count the (value, class) pairs of each column, by rising value; and the missing by class."""
    n_columns, n_classes = len(block.indptr) - 1, layout.n_classes
    label = layout.labels[:0] if block.sample is None else layout.labels[block.sample]
    runs = _empty_runs(n_columns, len(block.value) + n_columns * n_classes)
    missing = np.zeros((n_columns, n_classes), np.int64)
    counted = np.empty(n_columns, np.bool_)
    counted_runs(block.indptr, block.value, label, layout.totals, runs, missing, counted)
    rest = np.flatnonzero(~counted)
    if len(rest) == 0:
        return runs, missing
    indptr, value, label = _sorted_entries(block, rest, layout)
    more = _empty_runs(len(rest), len(value) + len(rest) * n_classes)
    more_missing = np.zeros((len(rest), n_classes), np.int64)
    sorted_runs(indptr, value, label, layout.totals, more, more_missing)
    filled = int(runs.stop[-1])
    runs.start[rest], runs.stop[rest] = more.start + filled, more.stop + filled
    missing[rest] = more_missing
    if filled == 0:
        return Runs(runs.start, runs.stop, more.value, more.label, more.size), missing
    used = int(more.stop[-1])
    joined = Runs(
        runs.start,
        runs.stop,
        np.concatenate([runs.value[:filled], more.value[:used]]),
        np.concatenate([runs.label[:filled], more.label[:used]]),
        np.concatenate([runs.size[:filled], more.size[:used]]),
    )
    return joined, missing


def mdlp_cuts(runs: Runs, n_classes: int, nlogn: NLogN) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The cut points of columns of numbers by MDLP, one column after another, and how many of each."""
    n_columns = len(runs.start)
    cuts = np.empty((n_columns, MAX_CUTS))
    n_cuts = np.empty(n_columns, np.int64)
    cut_points(runs, n_classes, nlogn.table, nlogn.scale, cuts, n_cuts)
    return cuts[np.arange(MAX_CUTS) < n_cuts[:, np.newaxis]], n_cuts


def learn_numbers(
    runs: Runs,
    missing: NDArray[np.int64],
    layout: SampleLayout,
    thresholds: NDArray[np.float64],
    n_cuts: NDArray[np.int64],
) -> Learned:
    """Count the samples between the cut points of columns of numbers."""
    n_columns, n_classes = len(runs.start), layout.n_classes
    offset = starts(n_cuts)
    has_missing = missing.any(axis=1)
    n_intervals = np.where(runs.stop > runs.start, n_cuts + 1, 0)
    n_levels = n_intervals + has_missing
    counts_offset = starts(n_levels * n_classes)
    class_counts = np.zeros(counts_offset[-1], np.int64)
    interval_counts(runs, n_classes, thresholds, offset, counts_offset, class_counts)
    _add_missing(class_counts, counts_offset, n_levels, missing)
    coding = Coding(
        mdlp=np.ones(n_columns, np.bool_),
        n_levels=n_levels,
        rare=np.full(n_columns, NONE),
        missing=np.where(has_missing, n_levels - 1, NONE),
        n_distinct=np.zeros(n_columns, np.int64),
        fallback=_most_frequent(class_counts, n_levels, n_classes),
        low=_first(runs, runs.start),
        high=_first(runs, runs.stop - 1),
        offset=offset,
        thresholds=thresholds,
    )
    return Learned(coding, class_counts)


def learn_levels(runs: Runs, missing: NDArray[np.int64], layout: SampleLayout) -> Learned:
    """Keep the values of categorical columns of numbers as levels."""
    n_columns, n_classes = len(runs.start), layout.n_classes
    lengths = runs.stop - runs.start
    first, source = ragged(runs.start, lengths)
    value, label, count = runs.value[source], runs.label[source], runs.size[source]
    column = np.repeat(np.arange(n_columns), lengths)
    new = np.ones(len(value), np.bool_)
    new[1:] = (value[1:] != value[:-1]) | (column[1:] != column[:-1])
    n_distinct = np.bincount(column[new], minlength=n_columns)
    level = np.cumsum(new) - 1 - starts(n_distinct)[column]
    if n_distinct.max(initial=0) > MAX_LEVELS:
        parts = []
        for j in range(n_columns):
            own = slice(first[j], first[j + 1])
            values = value[own][new[own]].tolist()
            parts.append(_learn_categories(values, level[own], label[own], missing[j], count[own]))
        return join_learned(parts)
    has_missing = missing.any(axis=1)
    n_levels = n_distinct + has_missing
    counts_offset = starts(n_levels * n_classes)
    cell = counts_offset[column] + level * n_classes + label
    class_counts = np.bincount(cell, weights=count, minlength=counts_offset[-1]).astype(np.int64)
    _add_missing(class_counts, counts_offset, n_levels, missing)
    coding = Coding(
        mdlp=np.zeros(n_columns, np.bool_),
        n_levels=n_levels,
        rare=np.full(n_columns, NONE),
        missing=np.where(has_missing, n_levels - 1, NONE),
        n_distinct=n_distinct,
        fallback=_most_frequent(class_counts, n_levels, n_classes),
        low=_first(runs, runs.start),
        high=_first(runs, runs.stop - 1),
        offset=starts(n_distinct),
        thresholds=value[new],
    )
    return Learned(coding, class_counts)


def encode_numbers(coding: Coding, block: NumberBlock, *, seen: bool = False) -> NDArray[np.uint8]:
    """Code a block of numbers: one row for each column, one entry for each sample.

    ``seen`` promises that the coding was learned from this very block.
    """
    n_columns, n_samples = len(coding), block.n_samples
    codes = _entry_codes(coding, block.indptr, block.value, seen)
    if block.sample is None:
        return codes.reshape(n_columns, n_samples)
    zero = _entry_codes(coding, np.arange(n_columns + 1), np.zeros(n_columns), seen=False)
    dense = np.repeat(zero[:, np.newaxis], n_samples, axis=1)
    dense[np.repeat(np.arange(n_columns), np.diff(block.indptr)), block.sample] = codes
    return dense


def _entry_codes(
    coding: Coding, indptr: NDArray[np.int64], value: NDArray[np.float64], seen: bool
) -> NDArray[np.uint8]:
    codes = np.empty(len(value), np.uint8)
    missing = _missing_codes(coding)
    exact = np.zeros(len(coding), np.bool_) if seen else ~coding.mdlp
    assign(indptr, value, coding.thresholds, coding.offset, exact, missing, codes)
    for column in coding.categories:
        own = slice(indptr[column], indptr[column + 1])
        entries = value[own].tolist()
        block = LabelBlock(entries, np.isnan(value[own]), column)
        codes[own] = encode_labels(coding, column, block)[0]
    return codes


def _sorted_entries(
    block: NumberBlock, columns: NDArray[np.int64], layout: SampleLayout
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int32]]:
    """Sort the entries of each of the columns by value, with their classes."""
    if block.sample is None:
        values = block.value.reshape(-1, block.n_samples)[columns]
        for begin, end in itertools.pairwise(layout.first_sample.tolist()):
            values[:, begin:end].sort(axis=1)  # class by class, since that is how samples stand
        label = np.empty(values.shape, np.int32)
        merge_classes(values, layout.totals, label)
        indptr = np.arange(len(columns) + 1) * block.n_samples
        return indptr, values.reshape(-1), label.reshape(-1)
    lengths = np.diff(block.indptr)[columns]
    indptr, source = ragged(block.indptr[columns], lengths)
    values = block.value[source]
    order = np.lexsort((values, np.repeat(np.arange(len(columns)), lengths)))
    return indptr, values[order], layout.labels[block.sample[source[order]]]


def _empty_runs(n_columns: int, capacity: int) -> Runs:
    return Runs(
        np.zeros(n_columns, np.int64),
        np.zeros(n_columns, np.int64),
        np.empty(capacity),
        np.empty(capacity, np.int32),
        np.empty(capacity, np.int64),
    )


def _first(runs: Runs, places: NDArray[np.int64]) -> NDArray[np.float64]:
    """The value of one run of each column, NaN for a column without any."""
    filled = runs.stop > runs.start
    return np.where(filled, runs.value[np.where(filled, places, 0)], np.nan)


# -- labels ----------------------------------------------------------------------------------------


def learn_labels(block: LabelBlock, layout: SampleLayout) -> Learned:
    """Keep the values of a column as levels, whatever they are."""
    present = [value for value, gone in zip(block.values, block.missing, strict=True) if not gone]
    index: dict[Any, int] = {}
    try:
        level = np.array([index.setdefault(value, len(index)) for value in present], dtype=int)
    except TypeError as error:
        kind = next(type(value).__name__ for value in present if not isinstance(value, Hashable))
        raise TypeError(
            f"The column {block.name!r} of X has a cell of type {kind}, which is no category "
            f"({error}): argument must be a string, a boolean or a number. Expand such cells into "
            "plain columns."
        ) from error
    values = _sorted(list(index))
    place = np.empty(len(values), int)
    place[[index[value] for value in values]] = np.arange(len(values))
    missing = np.bincount(layout.labels[block.missing], minlength=layout.n_classes)
    return _learn_categories(values, place[level], layout.labels[~block.missing], missing, None)


def encode_labels(coding: Coding, column: int, block: LabelBlock) -> NDArray[np.uint8]:
    """Code one column by the values of its categories: an array of shape (1, n_samples)."""
    missing = int(_missing_codes(coding)[column])
    levels = coding.categories[column]
    codes = [
        missing if gone or not isinstance(value, Hashable) else levels.get(value, missing)
        for value, gone in zip(block.values, block.missing, strict=True)
    ]
    return np.array([codes], np.uint8)


def _sorted(values: list[Any]) -> list[Any]:
    """Values by type and size, or by their looks where they cannot be compared."""
    try:
        return sorted(values, key=lambda value: (type(value).__name__, value))
    except TypeError:
        return sorted(values, key=lambda value: (type(value).__name__, repr(value)))


# -- both ------------------------------------------------------------------------------------------


def join_learned(parts: Sequence[Learned]) -> Learned:
    """Put what consecutive columns have taught one after another."""
    return Learned(
        join_codings([part.coding for part in parts]),
        np.concatenate([part.class_counts for part in parts]),
    )


def starts(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each of several consecutive pieces begins, and where the last one ends."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])


def _learn_categories(
    values: list[Any],
    level: NDArray[np.int64],
    label: NDArray[np.int32],
    missing: NDArray[np.int64],
    size: NDArray[np.int64] | None,
) -> Learned:
    """Turn the sorted values of one column into its levels.

    ``level`` and ``label`` are the value (its place) and the class of each sample, or of ``size``
    samples each. With more than MAX_LEVELS values the most frequent keep a level each, ties: the first;
    the others share one.
    """
    n_distinct, n_classes = len(values), len(missing)
    code = np.arange(n_distinct)
    rare = NONE
    if n_distinct > MAX_LEVELS:
        rare = MAX_LEVELS - 1
        by_count = np.argsort(-np.bincount(level, weights=size, minlength=n_distinct), kind="stable")
        code[:] = rare
        code[np.sort(by_count[:rare])] = np.arange(rare)
    n_present = min(n_distinct, MAX_LEVELS)
    cells = code[level] * n_classes + label
    table = np.bincount(cells, weights=size, minlength=n_present * n_classes).astype(np.int64)
    table = table.reshape(n_present, n_classes)
    missing_level = NONE
    if missing.any():
        missing_level = len(table)
        table = np.vstack([table, missing])
    coding = Coding(
        mdlp=np.zeros(1, np.bool_),
        n_levels=np.array([len(table)]),
        rare=np.array([rare]),
        missing=np.array([missing_level]),
        n_distinct=np.array([n_distinct]),
        fallback=np.array([int(table.sum(axis=1).argmax())]),
        low=np.array([np.nan]),
        high=np.array([np.nan]),
        offset=np.zeros(2, np.int64),
        thresholds=np.empty(0),
        categories={0: dict(zip(values, code.tolist(), strict=True))},
    )
    return Learned(coding, table.reshape(-1))


def _missing_codes(coding: Coding) -> NDArray[np.uint8]:
    """The code of a missing value in each column, and of one that was never seen."""
    return np.where(coding.missing != NONE, coding.missing, coding.fallback).astype(np.uint8)


def _add_missing(
    class_counts: NDArray[np.int64],
    counts_offset: NDArray[np.int64],
    n_levels: NDArray[np.int64],
    missing: NDArray[np.int64],
) -> None:
    n_classes = missing.shape[1]
    for j in np.flatnonzero(missing.any(axis=1)):
        begin = counts_offset[j] + (n_levels[j] - 1) * n_classes
        class_counts[begin : begin + n_classes] = missing[j]


def _most_frequent(
    class_counts: NDArray[np.int64], n_levels: NDArray[np.int64], n_classes: int
) -> NDArray[np.int64]:
    """The most frequent level of each column; ties: the smaller level."""
    totals = class_counts.reshape(-1, n_classes).sum(axis=1)
    column = np.repeat(np.arange(len(n_levels)), n_levels)
    order = np.lexsort((-totals, column))
    first = starts(n_levels)
    return order[first[:-1]] - first[:-1]
