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

from slfs._core.compile import kernel
from slfs._core.ragged import starts
from slfs.counting.residuals import GAIN_RIDGE, RESIDUAL_SCALE, WEIGHT_SCALE

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.uint8]

TABLE_RIDGE = 3.0
"""Ridge penalty of the tables."""
DAMPING = 0.5
"""Share of a Newton step that is taken."""
SWEEPS = 2
"""Sweeps over the columns of the model after each new column."""

_f2, _i1, _i2 = types.float64[:, ::1], types.int64[::1], types.int64[:, ::1]


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
    probability : ndarray of shape (n_samples, n_classes)
        P(class | columns of the model) of each sample.
    """

    def __init__(self, labels: NDArray[np.int32], totals: Ints) -> None:
        self.labels = labels
        share = totals / totals.sum()
        self.log_prior: Floats = np.log(share)
        self.tables: list[Floats] = []
        self.probability: Floats = np.repeat(share[np.newaxis], len(labels), axis=0)
        self._codes: list[Codes] = []
        self._class_counts: list[Ints] = []

    @property
    def n_residuals(self) -> int:
        """Number of different residuals: with two classes one is the negative of the other."""
        n_classes = len(self.log_prior)
        return n_classes if n_classes > 2 else 1

    def add(self, codes: Codes, class_counts: Ints) -> None:
        """Add a column, and fit its table and those of the columns before it.

        Damped Newton steps are taken for one table after another, the newest first.
        """
        self.tables.append(np.zeros(class_counts.shape))
        self._codes.append(codes)
        self._class_counts.append(class_counts)
        offset = starts(np.array([len(table) for table in self.tables]))
        tables, counts = np.concatenate(self.tables), np.concatenate(self._class_counts)
        sweep_tables(np.stack(self._codes), offset, counts, self.probability, tables)
        self.tables = [tables[begin:end] for begin, end in itertools.pairwise(offset)]

    def log_loss(self) -> float:
        """Return the mean negative log probability of the class."""
        own = self.probability[np.arange(len(self.labels)), self.labels]
        return float(-np.log(own).mean())

    def weights(self) -> Ints:
        """Return residuals and weights in fixed point: (n_samples, 2 * n_residuals) integers.

        Residuals have 16 bits and weights 14; the largest ones are a unit smaller than they should be.
        """
        n = self.n_residuals
        weights = np.empty((len(self.labels), 2 * n), np.int64)
        fixed_point(self.probability, self.labels, weights)
        return weights


@kernel(types.void(_f2, types.int32[::1], _i2))
def fixed_point(probability: Floats, labels: NDArray[np.int32], weights: Ints) -> None:
    """Round residuals and weights to fixed point."""
    n = weights.shape[1] // 2
    for i in range(probability.shape[0]):
        for c in range(n):
            p = probability[i, c]
            residual = (1.0 - p if labels[i] == c else -p) * RESIDUAL_SCALE
            weights[i, c] = min(np.int64(np.rint(residual)), np.int64(32767))
            weights[i, n + c] = min(np.int64(np.rint(p * (1.0 - p) * WEIGHT_SCALE)), np.int64(16383))


@kernel(types.void(types.uint8[:, ::1], _i1, _i2, _f2, _f2))
def sweep_tables(codes: Codes, offset: Ints, counts: Ints, odds: Floats, tables: Floats) -> None:
    """Update the table of each column SWEEPS times, the last column first.

    ``odds`` are the probabilities of each sample and class. They are multiplied by the exponentials of
    each step, so that no exponential per sample is needed.
    """
    n_columns, n_samples = codes.shape
    n_classes = odds.shape[1]
    most = 0
    for k in range(n_columns):
        most = max(most, offset[k + 1] - offset[k])
    total, square = np.empty((most, n_classes)), np.empty((most, n_classes))
    factor = np.ones((most, n_classes))
    before = n_columns - 1  # the column whose step is not yet in the odds
    for turn in range(SWEEPS * n_columns + 1):
        k = n_columns - 1 - turn % n_columns
        first, n_levels = offset[k], offset[k + 1] - offset[k]
        total[:], square[:] = 0.0, 0.0
        for i in range(n_samples):
            step_level, level = codes[before, i], codes[k, i]
            size = 0.0
            for c in range(n_classes):
                odds[i, c] *= factor[step_level, c]
                size += odds[i, c]
            inverse = 1.0 / size
            for c in range(n_classes):
                p = odds[i, c] * inverse
                odds[i, c] = p
                total[level, c] += p
                square[level, c] += p * p
        if turn == SWEEPS * n_columns:
            break
        for level in range(n_levels):
            for c in range(n_classes):
                residual = counts[first + level, c] - total[level, c]
                weight = total[level, c] - square[level, c]
                step = residual - TABLE_RIDGE * tables[first + level, c]
                step *= DAMPING / (weight + GAIN_RIDGE + TABLE_RIDGE)
                tables[first + level, c] += step
                factor[level, c] = math.exp(step)
        before = k
