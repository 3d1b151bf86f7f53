"""Columns of numbers -> intervals or levels and their counts -> codes."""

from __future__ import annotations

import itertools
from typing import overload

import numpy as np
from numpy.typing import NDArray

from slfs._core.ragged import ragged, starts
from slfs.coding.categories import learn_categories
from slfs.coding.codebook import (
    MAX_LEVELS,
    NONE,
    Coding,
    Learned,
    Level,
    join_learned,
    make_columns,
    missing_codes,
)
from slfs.coding.cut_kernels import MAX_CUTS, assign, assign_bytes, cut_points, interval_counts
from slfs.coding.encode import encode_labels
from slfs.coding.run_kernels import Runs, byte_runs, counted_runs, merge_classes, sorted_runs
from slfs.counting.nlogn import NLogN
from slfs.counting.planes import SampleLayout
from slfs.counting.value_planes import Codes, LevelPlanes
from slfs.tables.planes import Numbers, PlaneBlock
from slfs.tables.table import LabelBlock, NumberBlock, dense_block

MAX_EXACT = 2.0**53
"""Up to this number, all integers are different 64-bit floats."""


def make_runs(block: Numbers, layout: SampleLayout) -> tuple[Runs, NDArray[np.int64]]:
    """Count the (value, class) pairs of each column, sorted by value, and missing values by class."""
    if isinstance(block, PlaneBlock):
        return _plane_runs(block, layout)
    n_columns, n_classes = len(block.indptr) - 1, layout.n_classes
    dense = block.sample is None
    label = layout.labels[:0] if dense else layout.labels[block.sample]
    runs = _empty_runs(n_columns, len(block.value) + n_columns * n_classes)
    missing = np.zeros((n_columns, n_classes), np.int64)
    if block.value.dtype == np.uint8:
        byte_runs(block.value.reshape(n_columns, -1), layout.totals, runs)
        return runs, missing
    counted = np.empty(n_columns, np.bool_)
    counted_runs(block.indptr, block.value, label, dense, layout.totals, runs, missing, counted)
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


def may_be_rounded(runs: Runs) -> NDArray[np.bool_]:
    """Return which columns have numbers so large that different integers may be the same float."""
    low, high = _value_of(runs, runs.start), _value_of(runs, runs.stop - 1)
    large: NDArray[np.bool_] = (low <= -MAX_EXACT) | (high >= MAX_EXACT)
    return large


def mdlp_cuts(
    runs: Runs, n_classes: int, nlogn: NLogN, unit: float = 1.0
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the MDLP cut points of columns of numbers, column by column, and their numbers.

    ``unit`` counts are one sample.
    """
    n_columns = len(runs.start)
    cuts = np.empty((n_columns, MAX_CUTS))
    n_cuts = np.empty(n_columns, np.int64)
    cut_points(runs, n_classes, nlogn.table, nlogn.scale, unit, cuts, n_cuts)
    return cuts[np.arange(MAX_CUTS) < n_cuts[:, np.newaxis]], n_cuts


def learn_numbers(
    runs: Runs,
    missing: NDArray[np.int64],
    layout: SampleLayout,
    thresholds: NDArray[np.float64],
    n_cuts: NDArray[np.int64],
) -> Learned:
    """Count the samples in the intervals between the cut points of columns of numbers."""
    n_columns, n_classes = len(runs.start), layout.n_classes
    offset = starts(n_cuts)
    has_missing = missing.any(axis=1)
    n_intervals = np.where(runs.stop > runs.start, n_cuts + 1, 0)
    n_levels = n_intervals + has_missing
    counts_offset = starts(n_levels * n_classes)
    class_counts = np.zeros(counts_offset[-1], np.int64)
    gap = np.empty(n_columns)
    interval_counts(runs, n_classes, thresholds, offset, counts_offset, class_counts, gap)
    _add_missing(class_counts, counts_offset, n_levels, missing)
    columns = make_columns(
        n_columns,
        cut=True,
        n_levels=n_levels,
        missing=np.where(has_missing, n_levels - 1, NONE),
        fallback=_most_frequent(class_counts, n_levels, n_classes),
        low=_value_of(runs, runs.start),
        high=_value_of(runs, runs.stop - 1),
        gap=gap,
    )
    return Learned(Coding(columns, offset, thresholds), class_counts)


def learn_levels(
    runs: Runs,
    missing: NDArray[np.int64],
    layout: SampleLayout,
    seen: tuple[Runs, NDArray[np.int64]] | None = None,
) -> Learned:
    """Learn the levels of categorical columns of numbers: their distinct values.

    ``seen`` contains the runs and missing values of ``layout.tested``: the same runs of other sizes.
    """
    n_columns, n_classes = len(runs.start), layout.n_classes
    first, source = ragged(runs.start, runs.stop - runs.start)
    value = runs.value[source]
    new = np.ones(len(value), np.bool_)  # True where a new value or a new column starts
    new[1:] = value[1:] != value[:-1]
    new[first[:-1][first[:-1] < first[1:]]] = True
    before = np.concatenate([[0], np.cumsum(new)])
    n_distinct = np.diff(before[first])
    if n_distinct.max(initial=0) > MAX_LEVELS:
        sizes = [(missing, runs.size[source])]
        if seen is not None:
            _, same = ragged(seen[0].start, seen[0].stop - seen[0].start)
            sizes.append((seen[1], seen[0].size[same]))
        parts = []
        for j in range(n_columns):
            own = slice(first[j], first[j + 1])
            values = value[own][new[own]].tolist()
            level = np.cumsum(new[own]) - 1
            counted = [(gone[j], size[own]) for gone, size in sizes]
            parts.append(learn_categories(values, level, runs.label[source[own]], *counted))
        return join_learned(parts)
    has_missing = missing.any(axis=1)
    n_levels = n_distinct + has_missing
    offset, thresholds = starts(n_distinct), value[new]
    counts_offset = starts(n_levels * n_classes)

    def counted_in(runs: Runs, missing: NDArray[np.int64]) -> NDArray[np.int64]:
        counts = np.zeros(counts_offset[-1], np.int64)
        interval_counts(runs, n_classes, thresholds, offset, counts_offset, counts, np.empty(n_columns))
        _add_missing(counts, counts_offset, n_levels, missing)
        return counts

    class_counts = counted_in(runs, missing)
    columns = make_columns(
        n_columns,
        n_levels=n_levels,
        missing=np.where(has_missing, n_levels - 1, NONE),
        n_distinct=n_distinct,
        fallback=_most_frequent(class_counts, n_levels, n_classes),
        low=_value_of(runs, runs.start),
        high=_value_of(runs, runs.stop - 1),
    )
    seen_counts = None if seen is None else counted_in(*seen)
    return Learned(Coding(columns, offset, thresholds), class_counts, seen_counts)


@overload
def encode_numbers(coding: Coding, block: NumberBlock) -> NDArray[np.uint8]: ...
@overload
def encode_numbers(coding: Coding, block: Numbers) -> Codes: ...
def encode_numbers(coding: Coding, block: Numbers) -> Codes:
    """Code the block of numbers that a coding was learned from: one row per column.

    The block contains no new values; `slfs.coding.encode` is for new tables.
    """
    if isinstance(block, PlaneBlock):
        values = np.tile(np.append(block.values, np.nan), (len(coding), 1))
        return LevelPlanes(block.words, encode_numbers(coding, dense_block(values)))
    n_columns, n_samples = len(coding), block.n_samples
    if block.value.dtype == np.uint8 and not coding.categories:
        bytes_ = block.value.reshape(n_columns, n_samples)
        codes = np.empty(bytes_.shape, np.uint8)
        assign_bytes(bytes_, coding.thresholds, coding.offset, codes)
        return codes
    codes = _entry_codes(coding, block.indptr, block.value.astype(np.float64, copy=False))
    if block.sample is None:
        return codes.reshape(n_columns, n_samples)
    zero = _entry_codes(coding, np.arange(n_columns + 1), np.zeros(n_columns))
    dense = np.repeat(zero[:, np.newaxis], n_samples, axis=1)
    dense[np.repeat(np.arange(n_columns), np.diff(block.indptr)), block.sample] = codes
    return dense


def _entry_codes(
    coding: Coding, indptr: NDArray[np.int64], value: NDArray[np.float64]
) -> NDArray[np.uint8]:
    codes = np.empty(len(value), np.uint8)
    assign(indptr, value, coding.thresholds, coding.offset, missing_codes(coding), codes)
    for column in coding.categories:
        own = slice(indptr[column], indptr[column + 1])
        block = LabelBlock(value[own].tolist(), np.isnan(value[own]), column)
        codes[own] = encode_labels(coding, column, block)[0]
    return codes


def _sorted_entries(
    block: NumberBlock, columns: NDArray[np.int64], layout: SampleLayout
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int32]]:
    """Sort the entries of each column by value, together with their classes."""
    if block.sample is None:
        values = block.value.reshape(-1, block.n_samples)[columns]
        for begin, end in itertools.pairwise(layout.first_sample.tolist()):
            values[:, begin:end].sort(axis=1)  # class by class, because samples are sorted by class
        label = np.empty(values.shape, np.int32)
        merge_classes(values, layout.totals, label)
        indptr = np.arange(len(columns) + 1) * block.n_samples
        return indptr, values.reshape(-1), label.reshape(-1)
    lengths = np.diff(block.indptr)[columns]
    indptr, source = ragged(block.indptr[columns], lengths)
    values = block.value[source]
    order = np.lexsort((values, np.repeat(np.arange(len(columns)), lengths)))
    return indptr, values[order], layout.labels[block.sample[source[order]]]


def _plane_runs(block: PlaneBlock, layout: SampleLayout) -> tuple[Runs, NDArray[np.int64]]:
    """Make the runs of columns that are planes, whose classes may be pooled in ``layout``."""
    counts, totals = block.class_counts(), layout.totals
    if layout.n_classes < block.layout.n_classes:
        counts = counts.sum(axis=2, keepdims=True)
    column, value, label = np.nonzero(counts)
    ends = starts(np.bincount(column, minlength=len(counts)))
    size = counts[column, value, label]
    runs = Runs(ends[:-1], ends[1:], block.values[value], label.astype(np.int32), size)
    return runs, totals - counts.sum(axis=1)


def _empty_runs(n_columns: int, capacity: int) -> Runs:
    return Runs(
        np.zeros(n_columns, np.int64),
        np.zeros(n_columns, np.int64),
        np.empty(capacity),
        np.empty(capacity, np.int32),
        np.empty(capacity, np.int64),
    )


def _value_of(runs: Runs, indices: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the value of one run of each column; NaN for columns without runs."""
    filled = runs.stop > runs.start
    return np.where(filled, runs.value[np.where(filled, indices, 0)], np.nan)


def _add_missing(
    class_counts: NDArray[np.int64],
    counts_offset: NDArray[np.int64],
    n_levels: NDArray[np.int64],
    missing: NDArray[np.int64],
) -> None:
    n_classes = missing.shape[1]
    having = np.flatnonzero(missing.any(axis=1))
    begin = counts_offset[having] + (n_levels[having] - 1) * n_classes
    class_counts[begin[:, np.newaxis] + np.arange(n_classes)] = missing[having]


def _most_frequent(
    class_counts: NDArray[np.int64], n_levels: NDArray[np.int64], n_classes: int
) -> NDArray[Level]:
    """Return the most frequent level of each column; ties: the smaller level."""
    totals = np.einsum("ij->i", class_counts.reshape(-1, n_classes))  # faster than sum for few classes
    first = starts(n_levels)[:-1]
    most = np.flatnonzero(totals == np.repeat(np.maximum.reduceat(totals, first), n_levels))
    return (most[np.searchsorted(most, first)] - first).astype(Level)
