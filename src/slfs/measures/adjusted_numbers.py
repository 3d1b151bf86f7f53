"""Levels of columns -> tests of independence from a continuous target, given other columns.

The ranks of the target less what the conditioning columns explain of them, by least squares, are
compared between the levels of a column: an analysis of covariance of ranks (Quade 1967). The
conditioning columns explain by their levels and, if they are numbers, by their ranks.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import cho_solve
from scipy.special import betainc
from scipy.stats import rankdata

from slfs.measures.adjusted import Covariates, fit_covariates
from slfs.measures.strata import (
    Known,
    centred_positions,
    count_cells,
    cut_rows,
    gram_factor,
    has_many_strata,
    joint_p_value,
    least_squares,
    make_strata,
    pool_rare,
    quadratic,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.uint8]

_FEWEST_UNTIED = 10
"""Expected number of samples outside the most frequent value of both the column and the target, below
which ranks are not tested."""

_NOTHING = 1e-9
"""Share of the squared ranks that may be left by rounding where the model determines the target."""

_FEWEST_LEFT = 3
"""Degrees of freedom of the residuals, below which nothing can be said."""


@dataclass(frozen=True)
class NumberCovariates:
    """A linear model of the ranks of a continuous target given some columns.

    Attributes
    ----------
    stratum : ndarray of shape (n_samples,)
        Stratum of each sample: samples with the same levels are in the same one.
    design : csr_array of shape (n_strata, n_parameters)
        The levels of each stratum, with a constant.
    slopes : ndarray of shape (n_numbers, n_samples)
        Ranks of the columns of numbers less what the strata explain of them: orthonormal rows.
    residual : ndarray of shape (n_samples,)
        Rank of the target of each sample, less what the model explains of it.
    codes : list of ndarray of shape (n_samples,)
        The levels of the columns of the model.
    labels : ndarray of shape (n_samples,)
        Bin of the target of each sample.
    n_untied : int
        Number of samples whose target is not the most frequent one.
    scale : float
        Sum of the squared ranks of the target.
    """

    stratum: Ints
    design: sparse.csr_array
    slopes: Floats
    residual: Floats
    codes: Sequence[NDArray[np.integer]]
    labels: NDArray[np.integer]
    n_untied: int
    scale: float

    @functools.cached_property
    def _bins(self) -> Covariates:
        """The model of the bins of the target."""
        return fit_covariates(self.codes, self.labels)

    @functools.cached_property
    def _factor(self) -> tuple[Floats, bool]:
        return gram_factor(self.design, self.stratum)

    def cut_residuals(self, numbers: Floats) -> Codes:
        """Cut columns of numbers into intervals, after removing what the model explains of their ranks.

        Parameters
        ----------
        numbers : ndarray of shape (n_columns, n_samples)
        """

        def unexplained(ranks: Floats, known: Known) -> Floats:
            stratum, slopes = self.stratum[known], self.slopes
            if not isinstance(known, slice):  # without the other samples they are not orthonormal
                slopes = _orthonormal(self.design, stratum, slopes[:, known])
            return _unexplained(self.design, stratum, slopes, ranks)

        return cut_rows(numbers, unexplained)

    def test(self, codes: Codes, ordered: Ints | None = None) -> float:
        """Test one column for independence from the target given the columns of the model.

        Parameters
        ----------
        codes : ndarray of shape (n_samples,)
            Level of each sample.
        ordered : ndarray or None, default=None
            The levels in ascending order, for a test of trend; other levels, such as that of missing
            values, have no order. None if no level has one.

        Returns
        -------
        p_value : float
            1 if the columns of the model determine the column. If column and target have so many ties
            that ranks are not nearly normal, that of the bins of the target.
        """
        n_samples = len(codes)
        outside = (n_samples - int(np.bincount(codes).max())) * self.n_untied / n_samples
        if outside < _FEWEST_UNTIED and self.n_untied < n_samples / 2:
            return self._bins.test(codes, ordered)
        levels, rest = pool_rare(codes)
        n_levels, n_strata = int(levels.max()) + 1, self.design.shape[0]
        sizes = np.bincount(levels)
        by_stratum = count_cells(levels, self.stratum, n_levels, n_strata)
        if has_many_strata(self.design):
            explained = (by_stratum / by_stratum.sum(axis=0)) @ by_stratum.T
        else:
            crossed = by_stratum @ self.design
            explained = crossed @ cho_solve(self._factor, crossed.T)
        variance = np.diag(sizes) - explained
        for slope in self.slopes:
            own = np.bincount(levels, slope)
            variance -= np.outer(own, own)
        score = np.bincount(levels, self.residual).astype(np.float64)
        p_value, freedom = self._p_value(score, variance)
        if ordered is None or freedom <= 1 or (rest[ordered] < 0).any():
            return p_value
        trend = centred_positions(sizes, rest[ordered])[np.newaxis]
        by_trend, freedom = self._p_value(trend @ score, trend @ variance @ trend.T)
        return joint_p_value(by_trend, p_value) if freedom else p_value

    def _p_value(self, score: Floats, variance: Floats) -> tuple[float, int]:
        """Return the p-value of the share of the squared residuals that a score explains."""
        statistic, freedom = quadratic(score, variance)
        left = len(self.residual) - self.design.shape[1] - len(self.slopes) - freedom
        total = float(self.residual @ self.residual)
        if freedom == 0 or left < _FEWEST_LEFT or total <= _NOTHING * self.scale:
            return 1.0, freedom
        unexplained = min(max(1 - statistic / total, 0.0), 1.0)
        return float(betainc(left / 2, freedom / 2, unexplained)), freedom


AnyCovariates = Covariates | NumberCovariates


def fit_number_covariates(
    codes: Sequence[NDArray[np.integer]], ranks: Floats, target: Ints, labels: NDArray[np.integer]
) -> NumberCovariates:
    """Fit the model of the ranks of a continuous target given some columns.

    Parameters
    ----------
    codes : list of ndarray of shape (n_samples,)
        The levels of each column.
    ranks : ndarray of shape (n_numbers, n_samples)
        The ranks of those that are numbers; see `centred_ranks`.
    target, labels : ndarray of shape (n_samples,)
        The ranks of the target, and its bins.
    """
    design, stratum = make_strata(codes)
    slopes = _orthonormal(design, stratum, ranks)
    residual = _unexplained(design, stratum, slopes, target[np.newaxis].astype(np.float64))[0]
    n_untied = len(target) - int(np.unique(target, return_counts=True)[1].max())
    scale = float((target.astype(np.float64) ** 2).sum())
    return NumberCovariates(stratum, design, slopes, residual, codes, labels, n_untied, scale)


def centred_ranks(numbers: Floats) -> Floats:
    """Return the ranks of the numbers in each row, less their mean; missing ones have rank 0."""
    ranks = rankdata(numbers, axis=1, nan_policy="omit")
    known = ~np.isnan(ranks)
    mean = np.nansum(ranks, axis=1) / np.maximum(known.sum(axis=1), 1)
    return np.where(known, ranks - mean[:, np.newaxis], 0.0)


def _orthonormal(design: sparse.csr_array, stratum: Ints, rows: Floats) -> Floats:
    """Return rows less what strata and the rows before explain of them, of length one."""
    found = np.empty((0, rows.shape[1]))
    for row in rows:
        left = _unexplained(design, stratum, found, row[np.newaxis])
        length = float(np.linalg.norm(left))
        if length > 1e-6 * np.linalg.norm(row):  # not a function of the levels
            found = np.concatenate([found, left / length])
    return found


def _unexplained(design: sparse.csr_array, stratum: Ints, slopes: Floats, rows: Floats) -> Floats:
    """Return rows of numbers less what strata and slopes explain of them."""
    left = rows - least_squares(design, stratum, rows)
    return np.asarray(left - (left @ slopes.T) @ slopes)
