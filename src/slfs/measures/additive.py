"""Codes and classes -> the tables of a log-linear model of the class, for columns and pairs of columns.

The model is log P(c | x) = log prior + sum of its tables at the levels of x, up to a constant. A table
belongs to one column, or to a pair of columns. The tables minimize the log loss of the samples plus
RIDGE / 2 times the sum of their squares.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from numba import types
from numpy.typing import NDArray

from slfs._core.compile import kernel
from slfs._core.ragged import starts

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.uint8]

RIDGE = 3.0
"""Weight of the squares of the tables."""
DAMPING = 0.5
"""Share of a Newton step that is taken: the steps of several tables overlap."""
SWEEPS = 20
"""Number of steps for each table."""

_f2, _i1 = types.float64[:, ::1], types.int64[::1]


def fit_tables(
    codes: Codes, n_levels: Ints, others: Ints, labels: NDArray[np.int32], totals: Ints
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

    Returns
    -------
    tables : list of ndarray of shape (n_levels, n_classes)
    pairs : list of ndarray of shape (n_levels, n_levels of the other column, n_classes), or None
    """
    n_classes = len(totals)
    paired = np.flatnonzero(others >= 0)
    first = np.concatenate([np.arange(len(codes)), paired])
    second = np.concatenate([np.arange(len(codes)), others[paired]])
    width = np.concatenate([np.ones(len(codes), np.int64), n_levels[others[paired]]])
    offset = starts(n_levels[first] * width)
    tables = np.zeros((int(offset[-1]), n_classes))
    odds = np.tile(totals / totals.sum(), (len(labels), 1))
    sweep(codes, first, second, width, offset, labels, odds, tables)
    parts = [tables[begin:end] for begin, end in itertools.pairwise(offset)]
    pairs: list[Floats | None] = [None] * len(codes)
    for column, table in zip(paired.tolist(), parts[len(codes) :], strict=True):
        pairs[column] = table.reshape(int(n_levels[column]), -1, n_classes)
    return parts[: len(codes)], pairs


@kernel(types.void(types.uint8[:, ::1], _i1, _i1, _i1, _i1, types.int32[::1], _f2, _f2))
def sweep(
    codes: Codes,
    first: Ints,
    second: Ints,
    width: Ints,
    offset: Ints,
    labels: NDArray[np.int32],
    odds: Floats,
    tables: Floats,
) -> None:
    """Take damped Newton steps, one table after another, SWEEPS times.

    Table t has the level ``codes[first[t]] * width[t] + codes[second[t]]`` or, if its width is 1, the
    level ``codes[first[t]]``. ``odds`` are the probabilities of each sample and class. They are
    multiplied by the exponentials of each step, so that no exponential per sample is needed.
    """
    n_tables, n_samples, n_classes = first.shape[0], codes.shape[1], odds.shape[1]
    most = 0
    for t in range(n_tables):
        most = max(most, offset[t + 1] - offset[t])
    residual, weight = np.empty((most, n_classes)), np.empty((most, n_classes))
    level = np.empty(n_samples, np.int64)
    for _ in range(SWEEPS):
        for t in range(n_tables):
            n_levels = offset[t + 1] - offset[t]
            residual[:n_levels], weight[:n_levels] = 0.0, 0.0
            for i in range(n_samples):
                a = np.int64(codes[first[t], i])
                if width[t] > 1:
                    a = a * width[t] + np.int64(codes[second[t], i])
                level[i] = a
                for c in range(n_classes):
                    p = odds[i, c]
                    residual[a, c] -= p
                    weight[a, c] += p * (1.0 - p)
                residual[a, labels[i]] += 1.0
            for a in range(n_levels):
                for c in range(n_classes):
                    row = offset[t] + a
                    step = DAMPING * (residual[a, c] - RIDGE * tables[row, c]) / (weight[a, c] + RIDGE)
                    tables[row, c] += step
                    weight[a, c] = math.exp(step)  # the factor by which the odds change
            for i in range(n_samples):
                a, size = level[i], 0.0
                for c in range(n_classes):
                    odds[i, c] *= weight[a, c]
                    size += odds[i, c]
                for c in range(n_classes):
                    odds[i, c] /= size
