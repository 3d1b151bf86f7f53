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

from slfs._core.compile import kernel
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

_f1 = types.float64[::1]
ZERO, ONE, FOUR = np.uint64(0), np.uint64(1), np.uint64(4)


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
    places = []
    for a, b, width, (begin, end) in zip(
        first.tolist(),
        second.tolist(),
        n_others.tolist(),
        itertools.pairwise(offset.tolist()),
        strict=True,
    ):
        level = codes[a].astype(np.int64) * max(width, 1) + (codes[b] if width else 0)
        cells = np.bincount(level * n_classes + labels, minlength=(end - begin) * n_classes)
        counts[begin:end] = cells.reshape(-1, n_classes)
        places.append(Place(a, b, width, begin, end - begin))
    odds = padded_rows(np.tile(totals / totals.sum(), (len(labels), 1)))
    padded = np.zeros((len(counts), odds.shape[1]))
    sweep(codes, places, (RIDGE * unit, 0.0), SWEEPS, (padded_rows(counts), odds, padded))
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


def sweep(
    codes: Codes,
    places: Sequence[Place],
    ridge: tuple[float, float],
    n_sweeps: int,
    rows: tuple[Floats, ...],
) -> None:
    """Take damped Newton steps, one table after another, ``n_sweeps`` times.

    ``ridge`` is the weight of the squares of the tables, and what is added to it in the sums of weights
    by which the steps are divided. ``rows`` are the counts of
    levels and classes, the probabilities of each sample and the tables, made by `padded_rows`; the last
    two are updated.
    """
    if len(places) == 0:
        return
    _sweep(codes, np.array(places, np.int64), *ridge, n_sweeps, *(part.reshape(-1) for part in rows))


@kernel(
    types.void(
        types.uint8[:, ::1],
        types.int64[:, ::1],
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
    ridge: float,
    added: float,
    n_sweeps: int,
    counts: Floats,
    odds: Floats,
    tables: Floats,
) -> None:
    """Take the steps of `sweep`; ``places`` has one row per table, with the fields of `Place`.

    The odds of each sample and class are multiplied by the exponentials of each step, so that no
    exponential per sample is needed, while the next step is computed.
    """
    ridge_sum = added + ridge
    n_samples, n_tables = np.uint64(codes.shape[1]), np.uint64(places.shape[0])
    width = np.uint64(odds.shape[0]) // n_samples
    most = np.uint64(places[:, 4].max()) * width
    totals, squares, factors = np.empty(most), np.empty(most), np.ones(most)
    rows = np.zeros((2, n_samples), np.uint64)  # the row of each sample in this table and the one before
    for turn in range(np.uint64(n_sweeps) * n_tables + ONE):
        t, now = turn % n_tables, turn & ONE
        first, second = np.uint64(places[t, 0]), np.uint64(places[t, 1])
        n_others = np.uint64(places[t, 2])
        for i in range(n_samples):
            level = np.uint64(codes[first, i])
            if n_others > ZERO:
                level = level * n_others + np.uint64(codes[second, i])
            rows[now, i] = level * width
        totals[:], squares[:] = 0.0, 0.0
        for i in range(n_samples):
            own, step, level = i * width, rows[ONE - now, i], rows[now, i]
            size = four(0.0)
            for c in range(ZERO, width, FOUR):
                size = size + load_floats(odds, own + c) * load_floats(factors, step + c)
            inverse = four(1.0 / total(size))
            for c in range(ZERO, width, FOUR):
                p = load_floats(odds, own + c) * load_floats(factors, step + c) * inverse
                store(p, odds, own + c)
                store(load_floats(totals, level + c) + p, totals, level + c)
                store(load_floats(squares, level + c) + p * p, squares, level + c)
        if turn == np.uint64(n_sweeps) * n_tables:
            break
        begin = np.uint64(places[t, 3]) * width
        for cell in range(np.uint64(places[t, 4]) * width):
            residual = counts[begin + cell] - totals[cell]
            weight = totals[cell] - squares[cell]
            change = DAMPING * (residual - ridge * tables[begin + cell]) / (weight + ridge_sum)
            change = min(max(change, -MAX_CHANGE), MAX_CHANGE)
            tables[begin + cell] += change
            factors[cell] = math.exp(change)
