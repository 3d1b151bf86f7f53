"""Tables of log-odds per level and class -> residuals of a log-linear model, and the gain of columns.

The model is log P(c | x) = log prior + sum of B_f[level of x_f, c] over its columns, up to a constant. The
residual of a sample is [y = c] - P(c | x), its weight P (1 - P). Both are rounded to fixed point, so that
their sums over the samples of a level are exact integers.
"""

from __future__ import annotations

import itertools

import numpy as np
from numba import types
from numpy.typing import NDArray

from slfs._core.compile import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.uint8]

GAIN_RIDGE = 5.0
"""Regularizer of the gain of a column, and of the steps of the fit."""
TABLE_RIDGE = 3.0
"""Ridge penalty of the tables."""
DAMPING = 0.5
"""Share of a Newton step that is taken."""
SWEEPS = 2
"""Sweeps over the columns of the model after each new column."""

RESIDUAL_SCALE = 2.0**15
WEIGHT_SCALE = 2.0**16

_f1, _f2, _i1, _i2 = types.float64[::1], types.float64[:, ::1], types.int64[::1], types.int64[:, ::1]


class AdditiveModel:
    """A log-linear model of the class with one table per column, to which columns can be added.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
        Class of each sample.
    totals : ndarray of shape (n_classes,)
        Number of samples of each class.
    """

    def __init__(self, labels: NDArray[np.int32], totals: Ints) -> None:
        self.labels = labels
        self.log_prior: Floats = np.log(totals / totals.sum())
        self.tables: list[Floats] = []
        self._codes: list[Codes] = []
        self._class_counts: list[Ints] = []

    @property
    def n_residuals(self) -> int:
        """Number of different residuals: with two classes one is the negative of the other."""
        n_classes = len(self.log_prior)
        return n_classes if n_classes > 2 else 1

    def add(self, codes: Codes, class_counts: Ints) -> None:
        """Add a column, and fit its table and those of the columns before it."""
        self.tables.append(np.zeros(class_counts.shape))
        self._codes.append(codes)
        self._class_counts.append(class_counts)
        self._fit()

    def scores(self) -> Floats:
        """Return log prior + sum of the tables for each sample and class."""
        scores = np.repeat(self.log_prior[np.newaxis], len(self.labels), axis=0)
        for table, codes in zip(self.tables, self._codes, strict=True):
            scores += table[codes]
        return scores

    def probabilities(self) -> Floats:
        """Return P(class | columns of the model) for each sample."""
        return _softmax(self.scores())

    def log_loss(self) -> float:
        """Return the mean negative log probability of the class."""
        own = self.probabilities()[np.arange(len(self.labels)), self.labels]
        return float(-np.log(own).mean())

    def weights(self) -> Ints:
        """Return residuals and weights in fixed point: (n_samples, 2 * n_residuals) integers."""
        probability = self.probabilities()
        residual = -probability
        residual[np.arange(len(self.labels)), self.labels] += 1.0
        spread = probability * (1 - probability)
        n = self.n_residuals
        both = (residual[:, :n] * RESIDUAL_SCALE, spread[:, :n] * WEIGHT_SCALE)
        weights = np.rint(np.concatenate(both, axis=1)).astype(np.int64)
        # 16 bits for residuals and 14 for weights: the largest ones are a unit smaller
        np.minimum(weights[:, :n], 2**15 - 1, out=weights[:, :n])
        np.minimum(weights[:, n:], 2**14 - 1, out=weights[:, n:])
        return weights

    def _fit(self) -> None:
        """Take damped Newton steps for one table after another, the newest first."""
        n_levels = np.array([len(table) for table in self.tables])
        offset = np.concatenate([[0], np.cumsum(n_levels)])
        tables = np.concatenate(self.tables)
        counts = np.concatenate(self._class_counts)
        codes = np.stack(self._codes)
        scores = self.scores()
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        for _ in range(SWEEPS):
            sweep_tables(codes, offset, counts, odds, tables)
        self.tables = [tables[begin:end] for begin, end in itertools.pairwise(offset)]


@kernel(types.void(types.uint8[:, ::1], _i1, _i2, _f2, _f2))
def sweep_tables(codes: Codes, offset: Ints, counts: Ints, odds: Floats, tables: Floats) -> None:
    """Update the table of each column once, the last column first.

    ``odds`` are the exponentials of the scores of each sample and class, up to a factor per sample. They
    are multiplied by the exponentials of each step, so that no exponential per sample is needed.
    """
    n_columns, n_samples = codes.shape
    n_classes = odds.shape[1]
    most = 0
    for k in range(n_columns):
        most = max(most, offset[k + 1] - offset[k])
    total, square = np.empty((most, n_classes)), np.empty((most, n_classes))
    factor = np.ones((most, n_classes))
    for k in range(n_columns - 1, -1, -1):
        first, n_levels = offset[k], offset[k + 1] - offset[k]
        total[:], square[:] = 0.0, 0.0
        for i in range(n_samples):
            level = codes[k, i]
            size = 0.0
            for c in range(n_classes):
                size += odds[i, c]
            inverse = 1.0 / size
            for c in range(n_classes):
                p = odds[i, c] * inverse
                odds[i, c] = p
                total[level, c] += p
                square[level, c] += p * p
        for level in range(n_levels):
            for c in range(n_classes):
                residual = counts[first + level, c] - total[level, c]
                weight = total[level, c] - square[level, c]
                step = residual - TABLE_RIDGE * tables[first + level, c]
                step *= DAMPING / (weight + GAIN_RIDGE + TABLE_RIDGE)
                tables[first + level, c] += step
                factor[level, c] = np.exp(step)
        for i in range(n_samples):
            level = codes[k, i]
            for c in range(n_classes):
                odds[i, c] *= factor[level, c]


def _softmax(scores: Floats) -> Floats:
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    return odds / odds.sum(axis=1, keepdims=True)


@kernel(types.void(_i2, _i1, types.boolean, _f1))
def column_gains(sums: Ints, offset: Ints, two_classes: bool, out: Floats) -> None:
    """Compute the gain of each column from the sums of residuals and weights of its levels.

    The gain is the sum of (sum of residuals)^2 / (sum of weights + GAIN_RIDGE) over levels and classes.
    """
    n = sums.shape[1] // 2
    for j in range(offset.shape[0] - 1):
        gain = 0.0
        for row in range(offset[j], offset[j + 1]):
            for c in range(n):
                residual = sums[row, c] / RESIDUAL_SCALE
                gain += residual * residual / (sums[row, n + c] / WEIGHT_SCALE + GAIN_RIDGE)
        out[j] = 2 * gain if two_classes else gain
