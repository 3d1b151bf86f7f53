"""Codes and classes -> the tables of a log-linear model of the class, for columns and pairs of columns.

The model is log P(c | x) = log prior + sum of its tables at the levels of x, up to a constant. A table
belongs to one column, or to a pair of columns. The tables minimize the log loss of the samples plus
RIDGE / 2 times the sum of their squares.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from slfs._core.compile import helper, kernel
from slfs._core.ragged import starts
from slfs._core.vectors import four, load_floats, store, total

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.uint8]

RIDGE = 3.0
"""Weight of the squares of the tables."""
DAMPING = 0.5
"""Share of a Newton step that is taken: the steps of several tables overlap."""
MAX_CHANGE = 2.0
"""Largest change of an entry of a table in one step.

Where a class is rare, the weights are small before a step and large after it: full steps would jump from
one side of the solution to the other, further each time.
"""
SWEEPS = 20
"""Number of steps for each table, unless a model is extended column by column."""

LANES = 4
"""Number of classes that are processed together."""
BLOCK = np.uint64(256)
"""Number of samples that are processed together; their positions have eight bits."""

_f1, _u1 = types.float64[::1], types.uint8[::1]
ZERO, ONE, FOUR, EIGHT = (np.uint64(n) for n in (0, 1, 4, 8))


def fit_tables(
    codes: Codes,
    n_levels: Ints,
    others: Ints,
    labels: NDArray[np.int32],
    totals: Ints,
    unit: float = 1.0,
) -> tuple[list[Floats], list[Floats | None]]:
    """Fit one table per column, and one per pair of a column and its ``others``.

    Parameters
    ----------
    codes : ndarray of shape (n_columns, n_samples)
        Level of each sample.
    n_levels : ndarray of shape (n_columns,)
        Number of levels.
    others : ndarray of shape (n_columns,)
        The column with which each column makes a pair; negative for none.
    labels : ndarray of shape (n_samples,)
        Class of each sample.
    totals : ndarray of shape (n_classes,)
        Number of samples of each class.
    unit : float, default=1.0
        Number of samples that count as one.

    Returns
    -------
    tables : list of ndarray of shape (n_levels, n_classes)
    pairs : list of ndarray of shape (n_levels, n_levels of the other column, n_classes), or None
    """
    n_classes = len(totals)
    paired = np.flatnonzero(others >= 0)
    first = np.concatenate([np.arange(len(codes)), paired])
    second = np.concatenate([np.arange(len(codes)), others[paired]])
    n_others = np.concatenate([np.zeros(len(codes), np.int64), n_levels[others[paired]]])
    offset = starts(n_levels[first] * np.maximum(n_others, 1))
    counts = np.zeros((int(offset[-1]), n_classes), np.int64)
    sizes = np.diff(offset)
    rows = zip(first, second, n_others, offset[:-1], sizes, strict=True)
    places = [Place(*map(int, row)) for row in rows]
    runs = np.empty((len(places), 2, len(labels)), np.uint8)
    for number, (a, b, width, begin, size) in enumerate(places):
        row = codes[a].astype(np.int64) * max(width, 1) + (codes[b] if width else 0)
        cells = np.bincount(row * n_classes + labels, minlength=size * n_classes)
        counts[begin : begin + size] = cells.reshape(-1, n_classes)
        runs[number] = find_runs(row, size)
    odds = padded_rows(np.tile(totals / totals.sum(), (len(labels), 1)))
    padded = np.zeros((len(counts), odds.shape[1]))
    sweep(codes, places, runs, (RIDGE * unit, 0.0), SWEEPS, (padded_rows(counts), odds, padded))
    tables = padded[:, :n_classes].copy()
    parts = [tables[begin:end] for begin, end in itertools.pairwise(offset)]
    pairs: list[Floats | None] = [None] * len(codes)
    for column, table in zip(paired.tolist(), parts[len(codes) :], strict=True):
        pairs[column] = table.reshape(int(n_levels[column]), -1, n_classes)
    return parts[: len(codes)], pairs


def padded_rows(values: NDArray[Any]) -> Floats:
    """Return an array of floats with the columns of another one, and zeros up to a multiple of LANES."""
    shape = len(values), -(-values.shape[1] // LANES) * LANES
    flat = np.zeros(shape[0] * shape[1] + LANES)
    skipped = -(flat.ctypes.data // flat.itemsize) % LANES  # aligned vectors are faster
    rows = flat[skipped : skipped + shape[0] * shape[1]].reshape(shape)
    rows[:, : values.shape[1]] = values
    return rows


class Place(NamedTuple):
    """Where a table is: its columns (rows of the codes) and its rows among those of all tables.

    ``n_others`` is the number of levels of ``second``, or 0 for a table of one column.
    """

    first: int
    second: int
    n_others: int
    begin: int
    n_rows: int


def find_runs(rows: Ints, n_rows: int) -> NDArray[np.uint8]:
    """Group the samples of each block by their row of a table, for `sweep`.

    Returns two arrays. The first has the positions of the samples in their block, group after group,
    in ascending order in each group. The second has the size of each group less one, where it begins.
    """
    runs = np.empty((2, len(rows)), np.uint8)
    _find_runs(rows, n_rows, runs[0], runs[1])
    return runs


@kernel(types.void(types.int64[::1], types.int64, _u1, _u1))
def _find_runs(rows: Ints, n_rows: int, positions: Codes, sizes: Codes) -> None:
    """Group samples; see `find_runs`."""
    n_samples = np.uint64(rows.shape[0])
    group, block_of = np.zeros(n_rows, np.uint64), np.full(n_rows, n_samples)
    ends, size = np.zeros(BLOCK + ONE, np.uint64), np.zeros(BLOCK, np.uint64)
    for block in range(ZERO, n_samples, BLOCK):
        n, n_groups = min(BLOCK, n_samples - block), ZERO
        for i in range(block, block + n):
            row = rows[i]
            if block_of[row] != block:
                block_of[row], group[row], size[n_groups] = block, n_groups, ZERO
                n_groups += ONE
            size[group[row]] += ONE
        ends[ZERO] = ZERO
        for g in range(n_groups):
            sizes[block + ends[g]] = size[g] - ONE
            ends[g + ONE] = ends[g] + size[g]
        for i in range(n):
            g = group[rows[block + i]]
            positions[block + ends[g + ONE] - size[g]] = i
            size[g] -= ONE


def sweep(
    codes: Codes,
    places: Sequence[Place],
    runs: Codes,
    ridge: tuple[float, float],
    n_sweeps: int,
    rows: tuple[Floats, ...],
) -> None:
    """Take damped Newton steps, one table after another, ``n_sweeps`` times.

    ``runs`` has the result of `find_runs` of each table. ``ridge`` is the weight of the squares of the
    tables, and what is added to it in the sums of weights by which the steps are divided. ``rows`` are
    the counts of levels and classes, the probabilities of each sample and the tables, made by
    `padded_rows`; the last two are updated.
    """
    if len(places) == 0:
        return
    given = codes, np.array(places, np.int64), runs
    _sweep(*given, *ridge, n_sweeps, *(part.reshape(-1) for part in rows))


@kernel(
    types.void(
        types.uint8[:, ::1],
        types.int64[:, ::1],
        types.uint8[:, :, ::1],
        types.float64,
        types.float64,
        types.int64,
        _f1,
        _f1,
        _f1,
    )
)
def _sweep(
    codes: Codes,
    places: Ints,
    runs: Codes,
    ridge: float,
    added: float,
    n_sweeps: int,
    counts: Floats,
    odds: Floats,
    tables: Floats,
) -> None:
    """Take the steps of `sweep`; ``places`` has one row per table, with the fields of `Place`.

    The odds of each sample and class are multiplied by the exponentials of each step, so that no
    exponential per sample is needed. The probabilities are added up by row of the next table, while a
    block of samples is in the cache.
    """
    ridge_sum = added + ridge
    n_samples, n_tables = np.uint64(codes.shape[1]), np.uint64(places.shape[0])
    width = np.uint64(odds.shape[0]) // n_samples
    most = np.uint64(places[:, 4].max()) * width
    totals, squares, factors = np.empty(most), np.empty(most), np.ones(most)
    inverse = np.ones(n_samples)  # what makes the odds of each sample probabilities
    before = ZERO
    for turn in range(np.uint64(n_sweeps) * n_tables):
        t = turn % n_tables
        totals[:], squares[:] = 0.0, 0.0
        for block in range(ZERO, n_samples, BLOCK):
            end = min(block + BLOCK, n_samples)
            _multiply(codes, places[before], block, end, factors, odds, inverse)
            _add_up(codes, places[t], runs[t], block, end, odds, inverse, totals, squares)
        begin = np.uint64(places[t, 3]) * width
        for cell in range(np.uint64(places[t, 4]) * width):
            residual = counts[begin + cell] - totals[cell]
            weight = totals[cell] - squares[cell]
            change = DAMPING * (residual - ridge * tables[begin + cell]) / (weight + ridge_sum)
            change = min(max(change, -MAX_CHANGE), MAX_CHANGE)
            tables[begin + cell] += change
            factors[cell] = math.exp(change)
        before = t
    _multiply(codes, places[before], ZERO, n_samples, factors, odds, inverse)
    for i in range(n_samples):
        for c in range(i * width, (i + ONE) * width):
            odds[c] *= inverse[i]


@helper
def _multiply(
    codes: Codes,
    place: Ints,
    first: np.uint64,
    end: np.uint64,
    factors: Floats,
    odds: Floats,
    inverse: Floats,
) -> None:
    """Multiply the probabilities of some samples by the factors of their rows of a table.

    A function for the row of a sample would take three times as long: numba counts references to arrays.
    """
    width = np.uint64(odds.shape[0]) // np.uint64(codes.shape[1])
    column, other, n_others = np.uint64(place[0]), np.uint64(place[1]), np.uint64(place[2])
    for i in range(first, end):
        row = np.uint64(codes[column, i])
        if n_others > ZERO:
            row = row * n_others + np.uint64(codes[other, i])
        own, factor = i * width, row * width
        scale, size = four(inverse[i]), four(0.0)
        for c in range(ZERO, width, FOUR):
            product = load_floats(odds, own + c) * scale * load_floats(factors, factor + c)
            store(product, odds, own + c)
            size = size + product
        inverse[i] = 1.0 / total(size)


@helper
def _add_up(
    codes: Codes,
    place: Ints,
    runs: Codes,
    block: np.uint64,
    end: np.uint64,
    odds: Floats,
    inverse: Floats,
    totals: Floats,
    squares: Floats,
) -> None:
    """Add the probabilities of a block of samples, and their squares, to those of their rows."""
    width = np.uint64(odds.shape[0]) // np.uint64(codes.shape[1])
    column, other, n_others = np.uint64(place[0]), np.uint64(place[1]), np.uint64(place[2])
    start = block
    while start < end:
        stop, first = start + ONE + np.uint64(runs[ONE, start]), block + np.uint64(runs[ZERO, start])
        row = np.uint64(codes[column, first])
        if n_others > ZERO:
            row = row * n_others + np.uint64(codes[other, first])
        for c in range(ZERO, width, EIGHT):
            w, both = row * width + c, c + FOUR < width
            sum_0, square_0 = load_floats(totals, w), load_floats(squares, w)
            if both:
                sum_1, square_1 = load_floats(totals, w + FOUR), load_floats(squares, w + FOUR)
                for j in range(start, stop):
                    i = block + np.uint64(runs[ZERO, j])
                    own, scale = i * width + c, four(inverse[i])
                    p, q = load_floats(odds, own) * scale, load_floats(odds, own + FOUR) * scale
                    sum_0, square_0 = sum_0 + p, square_0 + p * p
                    sum_1, square_1 = sum_1 + q, square_1 + q * q
                store(sum_1, totals, w + FOUR)
                store(square_1, squares, w + FOUR)
            else:
                for j in range(start, stop):
                    i = block + np.uint64(runs[ZERO, j])
                    p = load_floats(odds, i * width + c) * four(inverse[i])
                    sum_0, square_0 = sum_0 + p, square_0 + p * p
            store(sum_0, totals, w)
            store(square_0, squares, w)
        start = stop
