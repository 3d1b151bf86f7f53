"""Columns -> a log-linear model of the class with one table per column, and its residuals.

The model is log P(c | x) = log prior + sum of B_f[level of x_f, c] over its columns, up to a constant.
The residual of a sample is [y = c] - P(c | x), its weight P (1 - P). Both are rounded to fixed point, so
that their sums over the samples of a level are exact integers. A continuous target has the residuals of
its bins and those of its numbers.
"""

from __future__ import annotations

import numpy as np
from numba import types
from numpy.typing import NDArray

from slfs._core.compile import inlined, kernel
from slfs.counting.residuals import GAIN_RIDGE, RESIDUAL_SCALE, WEIGHT_SCALE, row_length
from slfs.measures.additive import RIDGE, Place, find_runs, padded_rows, sweep
from slfs.measures.number_residuals import NumberModel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.uint8]

SWEEPS, SWEEPS_OF_NUMBERS = 2, 4
"""Sweeps over the columns of the model after each new column, for classes and for a continuous target.

Two leave a quarter of what a single column explains, enough for its noisy copies to come next if it
explains most of a continuous target. More than two select no better classes.
"""

_ROUNDS, _AT_ONCE, _SETTLED = 50, 10, 1e-4
"""Maximum number of rounds of steps until tables are settled, steps in each, and the last change."""

_TO_INTEGER = 1.5 * 2.0**52
"""Adding this number removes the fraction of a smaller one."""
_f2 = types.float64[:, ::1]


class AdditiveModel:
    """A log-linear model of the class with one table per column, to which columns can be added.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
        Class of each sample.
    totals : ndarray of shape (n_classes,)
        Number of samples of each class.
    unit : float, default=1.0
        Number of samples that count as one.
    values : ndarray of shape (n_samples,) or None, default=None
        A continuous target, whose bins are the classes.
    """

    def __init__(
        self,
        labels: NDArray[np.int32],
        totals: Ints,
        unit: float = 1.0,
        values: Floats | None = None,
    ) -> None:
        self.labels, self._unit = labels, unit
        self._numbers = None if values is None else NumberModel(values, unit)
        self._sweeps = SWEEPS if values is None else SWEEPS_OF_NUMBERS
        share = totals / totals.sum()
        self.log_prior: Floats = np.log(share)
        self._odds = padded_rows(np.repeat(share[np.newaxis], len(labels), axis=0))
        self._codes: list[Codes] = []
        self._places: list[Place] = []  # the newest first, as the runs
        self._runs: list[Codes] = []
        self._counts = np.zeros((0, self._odds.shape[1]))
        self._tables = np.zeros((0, self._odds.shape[1]))

    @property
    def tables(self) -> list[Floats]:
        """The table of each column, in the order in which they were added."""
        return self._by_column(self._tables)

    @property
    def probability(self) -> Floats:
        """P(class | columns of the model) of each sample: an array of shape (n_samples, n_classes)."""
        return self._odds[:, : len(self.log_prior)]

    @property
    def n_residuals(self) -> int:
        """Number of different residuals: with two classes one is the negative of the other.

        A continuous target has one residual per bin, and that of the number itself.
        """
        return n_residuals(len(self.log_prior), continuous=self._numbers is not None)

    def add(self, codes: Codes, class_counts: Ints) -> None:
        """Add a column, and fit its table and those of the columns before it.

        Damped Newton steps are taken for one table after another, the newest first.
        """
        counts = padded_rows(class_counts)
        self._counts = np.concatenate([self._counts, counts])
        self._tables = np.concatenate([self._tables, np.zeros_like(counts)])
        self._codes.append(codes)
        place = Place(len(self._places), 0, 0, len(self._tables) - len(counts), len(counts))
        self._places.insert(0, place)
        self._runs.insert(0, find_runs(codes.astype(np.int64), len(class_counts)))
        self._sweep(GAIN_RIDGE, self._sweeps, self._odds, self._tables)
        if self._numbers is not None:
            self._numbers.add(codes, len(class_counts), self._sweeps)

    def settle(self) -> None:
        """Take steps until the tables hardly change, as those of columns that are not selected must."""
        for _ in range(_ROUNDS if self._places else 0):
            before = self._tables.copy()
            self._sweep(0.0, _AT_ONCE, self._odds, self._tables)
            if np.abs(self._tables - before).max() < _SETTLED:
                break
        if self._numbers is not None:
            self._numbers.settle(_ROUNDS * _AT_ONCE, _SETTLED)

    def refined_tables(self, n_sweeps: int) -> list[Floats]:
        """Return the tables after more steps; the model is not changed.

        The few steps after each new column are enough to rank columns, but leave the tables too small.
        """
        odds, tables = padded_rows(self._odds), self._tables.copy()
        self._sweep(0.0, n_sweeps, odds, tables)
        return self._by_column(tables)

    def _sweep(self, added: float, n_sweeps: int, odds: Floats, tables: Floats) -> None:
        """Take steps; ``added`` is what is added to the sums of weights, as a number of samples."""
        if self._places:
            ridge, rows = (RIDGE * self._unit, added * self._unit), (self._counts, odds, tables)
            sweep(np.stack(self._codes), self._places, np.stack(self._runs), ridge, n_sweeps, rows)

    def _by_column(self, tables: Floats) -> list[Floats]:
        own = tables[:, : len(self.log_prior)]
        return [own[place.begin : place.begin + place.n_rows] for place in reversed(self._places)]

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
        n_own = n if self._numbers is None else n - 1
        weights = np.zeros((len(self.labels), row_length(n)), np.int16)
        fixed_point(self._odds, self.labels, n_own, n, weights)
        if self._numbers is not None:
            self._numbers.write(weights[:, n_own], weights[:, n + n_own])
        return weights


def n_residuals(n_classes: int, *, continuous: bool) -> int:
    """Return the number of residuals of a sample."""
    if continuous:
        return n_classes + 1
    return n_classes if n_classes > 2 else 1


@kernel(types.void(_f2, types.int32[::1], types.int64, types.int64, types.int16[:, ::1]))
def fixed_point(
    probability: Floats, labels: NDArray[np.int32], n: int, first: int, weights: NDArray[np.int16]
) -> None:
    """Round the first n residuals of each sample to fixed point, and its weights from ``first`` on."""
    n_residuals, first_weight = np.uint64(n), np.uint64(first)
    for i in range(np.uint64(weights.shape[0])):
        for c in range(n_residuals):
            p = probability[i, c]
            weights[i, c] = np.int16(np.int32(_rounded(-p * RESIDUAL_SCALE)))
            weight = min(p * (1.0 - p) * WEIGHT_SCALE, 16383.0)
            weights[i, first_weight + c] = np.int16(np.int32(_rounded(weight)))
        own = np.uint64(labels[i])
        if own < n_residuals:
            residual = (1.0 - probability[i, own]) * RESIDUAL_SCALE
            weights[i, own] = np.int16(_rounded(min(residual, 32767.0)))


@inlined
def _rounded(number: float) -> float:
    """Round to the nearest integer, ties to even, as `numpy.rint` does but much faster."""
    return (number + _TO_INTEGER) - _TO_INTEGER
