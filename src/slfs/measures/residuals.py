"""Columns -> a log-linear model of the class with one table per column, and its residuals.

The model is log P(c | x) = log prior + sum of B_f[level of x_f, c] over its columns, up to a constant.
The residual of a sample is [y = c] - P(c | x), its weight P (1 - P). Both are rounded to fixed point, so
that their sums over the samples of a level are exact integers.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from numba import types
from numpy.typing import NDArray

from slfs._core.compile import inlined, kernel
from slfs._core.ragged import starts
from slfs._core.vectors import four, load_floats, store, total
from slfs.counting.residuals import GAIN_RIDGE, RESIDUAL_SCALE, WEIGHT_SCALE, row_length

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.uint8]

TABLE_RIDGE = 3.0
"""Ridge penalty of the tables."""
DAMPING = 0.5
"""Share of a Newton step that is taken."""
SWEEPS = 2
"""Sweeps over the columns of the model after each new column."""

LANES = 4
"""Number of classes that are processed together."""

_TO_INTEGER = 1.5 * 2.0**52
"""Adding this number removes the fraction of a smaller one."""
_f1, _f2, _i1 = types.float64[::1], types.float64[:, ::1], types.int64[::1]
ZERO, ONE, FOUR = np.uint64(0), np.uint64(1), np.uint64(4)


class AdditiveModel:
    """A log-linear model of the class with one table per column, to which columns can be added.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
        Class of each sample.
    totals : ndarray of shape (n_classes,)
        Number of samples of each class.

    Attributes
    ----------
    tables : list of ndarray of shape (n_levels, n_classes)
        The table of each column, in the order in which they were added.
    """

    def __init__(self, labels: NDArray[np.int32], totals: Ints) -> None:
        self.labels = labels
        share = totals / totals.sum()
        self.log_prior: Floats = np.log(share)
        self.tables: list[Floats] = []
        self._odds = np.zeros((len(labels), _padded(len(totals), LANES)))
        self._odds[:, : len(totals)] = share
        self._codes: list[Codes] = []
        self._counts = np.zeros((0, self._odds.shape[1]))
        self._tables = np.zeros((0, self._odds.shape[1]))

    @property
    def probability(self) -> Floats:
        """P(class | columns of the model) of each sample: an array of shape (n_samples, n_classes)."""
        return self._odds[:, : len(self.log_prior)]

    @property
    def n_residuals(self) -> int:
        """Number of different residuals: with two classes one is the negative of the other."""
        n_classes = len(self.log_prior)
        return n_classes if n_classes > 2 else 1

    def add(self, codes: Codes, class_counts: Ints) -> None:
        """Add a column, and fit its table and those of the columns before it.

        Damped Newton steps are taken for one table after another, the newest first.
        """
        n_levels, n_classes = class_counts.shape
        new = np.zeros((n_levels, self._odds.shape[1]))
        self._tables = np.concatenate([self._tables, new])
        new[:, :n_classes] = class_counts
        self._counts = np.concatenate([self._counts, new])
        self._codes.append(codes)
        offset = starts(np.array([*map(len, self.tables), n_levels]))
        flat = (part.reshape(-1) for part in (self._counts, self._odds, self._tables))
        sweep_tables(np.stack(self._codes), offset, *flat)
        tables = self._tables[:, :n_classes].copy()
        self.tables = [tables[begin:end] for begin, end in itertools.pairwise(offset)]

    def log_loss(self) -> float:
        """Return the mean negative log probability of the class."""
        own = self._odds[np.arange(len(self.labels)), self.labels]
        return float(-np.log(own).mean())

    def weights(self) -> NDArray[np.int16]:
        """Return residuals and weights in fixed point: at least 2 * n_residuals integers per sample.

        Residuals have 16 bits and weights 14; the largest ones are a unit smaller than they should be.
        The rows are padded with zeros as `slfs.counting.residuals.row_length` says.
        """
        n = self.n_residuals
        weights = np.zeros((len(self.labels), row_length(n)), np.int16)
        fixed_point(self._odds, self.labels, n, weights)
        return weights


def _padded(number: int, multiple: int) -> int:
    return -(-number // multiple) * multiple


@kernel(types.void(_f2, types.int32[::1], types.int64, types.int16[:, ::1]))
def fixed_point(
    probability: Floats, labels: NDArray[np.int32], n: int, weights: NDArray[np.int16]
) -> None:
    """Round the first n residuals and weights of each sample to fixed point."""
    n_residuals = np.uint64(n)
    for i in range(np.uint64(weights.shape[0])):
        for c in range(n_residuals):
            p = probability[i, c]
            weights[i, c] = np.int16(np.int32(_rounded(-p * RESIDUAL_SCALE)))
            weight = min(p * (1.0 - p) * WEIGHT_SCALE, 16383.0)
            weights[i, n_residuals + c] = np.int16(np.int32(_rounded(weight)))
        own = np.uint64(labels[i])
        if own < n_residuals:
            residual = (1.0 - probability[i, own]) * RESIDUAL_SCALE
            weights[i, own] = np.int16(_rounded(min(residual, 32767.0)))


@inlined
def _rounded(number: float) -> float:
    """Round to the nearest integer, ties to even, as `numpy.rint` does but much faster."""
    return (number + _TO_INTEGER) - _TO_INTEGER


@kernel(types.void(types.uint8[:, ::1], _i1, _f1, _f1, _f1))
def sweep_tables(codes: Codes, offset: Ints, counts: Floats, odds: Floats, tables: Floats) -> None:
    """Update the table of each column SWEEPS times, the last column first.

    ``odds`` are the probabilities of each sample and class. They are multiplied by the exponentials of
    each step, so that no exponential per sample is needed. All floats are in flat arrays of rows of
    classes, which are padded with zeros to a multiple of LANES.
    """
    n_columns, n_samples = np.uint64(codes.shape[0]), np.uint64(codes.shape[1])
    width = np.uint64(odds.shape[0]) // n_samples
    most = ZERO
    for k in range(n_columns):
        most = max(most, np.uint64(offset[k + ONE] - offset[k]))
    totals, squares = np.empty(most * width), np.empty(most * width)
    factors = np.ones(most * width)
    before = n_columns - ONE  # the column whose step is not yet in the odds
    for turn in range(np.uint64(SWEEPS) * n_columns + ONE):
        k = n_columns - ONE - turn % n_columns
        totals[:], squares[:] = 0.0, 0.0
        for i in range(n_samples):
            row, step = i * width, np.uint64(codes[before, i]) * width
            size = four(0.0)
            for c in range(ZERO, width, FOUR):
                size = size + load_floats(odds, row + c) * load_floats(factors, step + c)
            inverse = four(1.0 / total(size))
            level = np.uint64(codes[k, i]) * width
            for c in range(ZERO, width, FOUR):
                p = load_floats(odds, row + c) * load_floats(factors, step + c) * inverse
                store(p, odds, row + c)
                store(load_floats(totals, level + c) + p, totals, level + c)
                store(load_floats(squares, level + c) + p * p, squares, level + c)
        if turn == np.uint64(SWEEPS) * n_columns:
            break
        first = np.uint64(offset[k]) * width
        for cell in range(np.uint64(offset[k + ONE]) * width - first):
            residual = counts[first + cell] - totals[cell]
            weight = totals[cell] - squares[cell]
            change = residual - TABLE_RIDGE * tables[first + cell]
            change *= DAMPING / (weight + GAIN_RIDGE + TABLE_RIDGE)
            tables[first + cell] += change
            factors[cell] = math.exp(change)
        before = k
