"""Columns of numbers -> runs: the counts of each (value, class), sorted by value (numba).

A column is given as entries (value, class); samples without an entry have the value 0, so that dense and
sparse columns use the same code. NaN entries are counted separately, as missing values.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from slfs._core.compile import inlined, kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Labels = NDArray[np.int32]
Mask = NDArray[np.bool_]
Bytes = NDArray[np.uint8]

WINDOW = 1024
"""Integers whose range is smaller than this are counted instead of sorted."""


class Runs(NamedTuple):
    """Runs of several columns; those of column j are ``start[j]:stop[j]``."""

    start: Ints
    stop: Ints
    value: Floats
    label: Labels
    size: Ints


_f1, _i1, _l1 = types.float64[::1], types.int64[::1], types.int32[::1]
_b1 = types.boolean[::1]
RUNS = types.NamedTuple([_i1, _i1, _f1, _l1, _i1], Runs)
"""The type of `Runs` in the signature of a kernel."""


@inlined
def _without_entry(label: Labels, begin: int, end: int, totals: Ints, absent: Ints) -> bool:
    """Count the samples of each class without an entry; returns whether there are any."""
    if end - begin == totals.sum():
        for c in range(totals.shape[0]):
            absent[c] = 0
        return False
    for c in range(totals.shape[0]):
        absent[c] = totals[c]
    for e in range(begin, end):
        absent[label[e]] -= 1
    return True


@inlined
def _whole_range(own: Floats) -> tuple[int, int, bool]:
    """Return the smallest and the largest value, and whether all values except NaN are integers."""
    low, high, whole = np.int64(2**62), np.int64(-(2**62)), True
    for e in range(own.shape[0]):  # without a branch, so that it is vectorized
        number = own[e] if abs(own[e]) < 2.0**53 else 0.5
        integer = np.int64(number)
        whole &= np.float64(integer) == number
        low, high = min(low, integer), max(high, integer)
    if whole:
        return low, high, whole
    low, high = np.int64(2**62), np.int64(-(2**62))
    for e in range(own.shape[0]):
        if own[e] == own[e]:
            if not (abs(own[e]) < 2.0**53) or np.float64(np.int64(own[e])) != own[e]:
                return low, high, False
            low, high = min(low, np.int64(own[e])), max(high, np.int64(own[e]))
    return low, high, True


@inlined
def _tally(number: float, c: int, low: int, n_classes: int, table: Ints, missing: Ints) -> None:
    """Count one entry of class c."""
    if number == number:
        table[np.uint64((np.int64(number) - low) * n_classes + c)] += 1
    else:
        missing[c] += 1


@kernel(types.void(_i1, _f1, _l1, types.boolean, _i1, RUNS, types.int64[:, ::1], _b1))
def counted_runs(
    indptr: Ints,
    value: Floats,
    label: Labels,
    dense: bool,
    totals: Ints,
    runs: Runs,
    missing: Ints,
    counted: Mask,
) -> None:
    """Make the runs of columns of integers in a small range; mark these columns in ``counted``.

    ``dense`` means that every sample has an entry and that entries are sorted by class; then ``label``
    is empty.
    """
    n_classes = totals.shape[0]
    table = np.zeros(WINDOW * n_classes, np.int64)
    absent = np.zeros(n_classes, np.int64)
    filled = np.int64(0)
    for j in range(indptr.shape[0] - 1):
        begin, end = indptr[j], indptr[j + 1]
        low, high, fits = _whole_range(value[begin:end])
        zeros = not dense and _without_entry(label, begin, end, totals, absent)
        if zeros:
            low, high = min(low, np.int64(0)), max(high, np.int64(0))
        counted[j] = fits and high - low < WINDOW
        runs.start[j] = filled
        runs.stop[j] = filled
        if not counted[j]:
            continue
        if zeros:
            for c in range(n_classes):
                table[-low * n_classes + c] = absent[c]
        if dense:
            first = begin
            for c in range(n_classes):
                own = value[first : first + totals[c]]
                first += totals[c]
                if high - low < 8:
                    present = np.int64(0)
                    for offset in range(high - low + 1):
                        count = np.int64(0)
                        for e in range(own.shape[0]):
                            count += own[e] == np.float64(low + offset)
                        table[offset * n_classes + c] = count
                        present += count
                    missing[j, c] = own.shape[0] - present
                else:
                    for e in range(own.shape[0]):
                        _tally(own[e], c, low, n_classes, table, missing[j])
        else:
            for e in range(begin, end):
                _tally(value[e], label[e], low, n_classes, table, missing[j])
        for offset in range(high - low + 1):
            for c in range(n_classes):
                if table[offset * n_classes + c] > 0:
                    runs.value[filled] = low + offset
                    runs.label[filled] = c
                    runs.size[filled] = table[offset * n_classes + c]
                    table[offset * n_classes + c] = 0
                    filled += 1
        runs.stop[j] = filled


@kernel(types.void(types.uint8[:, ::1], _i1, RUNS))
def byte_runs(value: Bytes, totals: Ints, runs: Runs) -> None:
    """Make the runs of dense columns of bytes, samples sorted by class."""
    n_classes = totals.shape[0]
    table = np.zeros(256 * n_classes, np.int64)
    filled = np.int64(0)
    for j in range(value.shape[0]):
        high = np.uint8(0)
        for e in range(value.shape[1]):
            high = max(high, value[j, e])
        first = np.int64(0)
        for c in range(n_classes):
            own = value[j, first : first + totals[c]]
            first += totals[c]
            if high < 8:
                for number in range(np.int64(high) + 1):
                    count = np.int64(0)
                    for e in range(own.shape[0]):
                        count += own[e] == np.uint8(number)
                    table[number * n_classes + c] = count
            else:
                for e in range(own.shape[0]):
                    table[np.uint64(own[e]) * np.uint64(n_classes) + np.uint64(c)] += 1
        runs.start[j] = filled
        for number in range(np.int64(high) + 1):
            for c in range(n_classes):
                if table[number * n_classes + c] > 0:
                    runs.value[filled] = number
                    runs.label[filled] = c
                    runs.size[filled] = table[number * n_classes + c]
                    table[number * n_classes + c] = 0
                    filled += 1
        runs.stop[j] = filled


@kernel(types.void(types.float64[:, ::1], _i1, types.int32[:, ::1]))
def merge_classes(value: Floats, totals: Ints, label: Labels) -> None:
    """Merge-sort each row, whose classes are sorted separately, with NaN last in each class.

    Writes the classes in the new order to ``label``; NaN are moved to the end of the row. Adjacent
    pieces are merged in rounds, between two pairs of buffers.
    """
    n_classes, n_samples = totals.shape[0], np.uint64(value.shape[1])
    bounds = np.empty(n_classes + 2, np.uint64)
    values = np.empty((2, n_samples))
    labels = np.empty((2, n_samples), np.int32)
    one = np.uint64(1)
    for row in range(value.shape[0]):
        e, filled, last = np.uint64(0), np.uint64(0), n_samples
        for c in range(n_classes):
            bounds[c] = filled
            for _ in range(totals[c]):
                if value[row, e] == value[row, e]:
                    values[0, filled] = value[row, e]
                    labels[0, filled] = c
                    filled += one
                else:
                    last -= one
                    label[row, last] = c
                e += one
        pieces, now = n_classes, 0
        while pieces > 1:
            bounds[pieces] = filled
            bounds[pieces + 1] = filled  # an odd piece is merged with an empty one
            for piece in range(0, pieces, 2):
                i, middle = bounds[piece], bounds[piece + 1]
                j, end = middle, bounds[piece + 2]
                for e in range(i, end):
                    if i == middle or (j < end and values[now, j] < values[now, i]):
                        values[1 - now, e] = values[now, j]
                        labels[1 - now, e] = labels[now, j]
                        j += one
                    else:
                        values[1 - now, e] = values[now, i]
                        labels[1 - now, e] = labels[now, i]
                        i += one
                bounds[piece // 2] = bounds[piece]
            pieces, now = (pieces + 1) // 2, 1 - now
        for e in range(filled):
            value[row, e] = values[now, e]
            label[row, e] = labels[now, e]
        for e in range(filled, n_samples):
            value[row, e] = np.nan


@kernel(types.void(_i1, _f1, _l1, _i1, RUNS, types.int64[:, ::1]))
def sorted_runs(
    indptr: Ints,
    value: Floats,
    label: Labels,
    totals: Ints,
    runs: Runs,
    missing: Ints,
) -> None:
    """Make the runs of columns whose entries are sorted by value, NaN last."""
    n_classes = totals.shape[0]
    absent = np.empty(n_classes, np.int64)
    tied = np.zeros(n_classes, np.int64)
    filled = np.int64(0)
    for j in range(indptr.shape[0] - 1):
        begin, end = indptr[j], indptr[j + 1]
        waiting = _without_entry(label, begin, end, totals, absent)
        runs.start[j] = filled
        e = begin
        while e < end or waiting:
            number = value[e] if e < end else np.nan
            if waiting and not (number < 0.0):
                number = 0.0
            if number != number:
                missing[j, label[e]] += 1
                e += 1
                continue
            if waiting and number == 0.0:
                for c in range(n_classes):
                    tied[c] += absent[c]
                waiting = False
            elif e + 1 == end or value[e + 1] != number:
                runs.value[filled] = number
                runs.label[filled] = label[e]
                runs.size[filled] = 1
                filled += 1
                e += 1
                continue
            while e < end and value[e] == number:
                tied[label[e]] += 1
                e += 1
            for c in range(n_classes):
                if tied[c] > 0:
                    runs.value[filled] = number
                    runs.label[filled] = c
                    runs.size[filled] = tied[c]
                    tied[c] = 0
                    filled += 1
        runs.stop[j] = filled
