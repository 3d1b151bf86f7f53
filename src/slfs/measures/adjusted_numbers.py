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
from scipy.special import betainc
from scipy.stats import rankdata

from slfs.measures.adjusted import Covariates, fit_covariates
from slfs.measures.strata import (
    Known,
    Pooled,
    cut_rows,
    gram_factor,
    has_many_strata,
    joint_p_values,
    least_squares,
    make_strata,
    pool_rare,
    quadratic,
    solve,
    trends,
    without_order,
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

    def test(self, codes: Codes, ordered: NDArray[np.bool_] | None = None) -> Floats:
        """Test columns for independence from the target given the columns of the model.

        Parameters
        ----------
        codes : ndarray of shape (n_columns, n_samples)
            Level of each sample.
        ordered : ndarray of bool of shape (n_columns, 256), default=None
            Levels that are in ascending order, for a test of trend. Others, such as that of missing
            values, have no order; by default all.

        Returns
        -------
        p_values : ndarray of shape (n_columns,)
            1 if the columns of the model determine the column. If column and target have so many ties
            that ranks are not nearly normal, that of the bins of the target.
        """
        p_values, n_samples = np.empty(len(codes)), codes.shape[1]
        ordered = without_order(codes) if ordered is None else ordered
        most = np.array([np.bincount(own).max() for own in codes], np.int64)
        tied = (n_samples - most) * self.n_untied / n_samples < _FEWEST_UNTIED
        tied &= self.n_untied < n_samples / 2
        if tied.any():
            p_values[tied] = self._bins.test(codes[tied], ordered[tied])
        others = np.flatnonzero(~tied)
        for columns in pool_rare(codes[others], ordered[others], max(self.design.shape)):
            p_values[others[columns.rows]] = self._rank_tests(columns)
        return p_values

    def _rank_tests(self, columns: Pooled) -> Floats:
        n_strata = self.design.shape[0]
        by_stratum = columns.count(self.stratum, n_strata)
        if has_many_strata(self.design):
            share = by_stratum / by_stratum.sum(axis=1, keepdims=True)
            variances = -share @ by_stratum.swapaxes(1, 2)
        else:
            crossed = by_stratum.reshape(-1, n_strata) @ self.design
            crossed = crossed.reshape(*columns.sizes.shape, -1)
            variances = -crossed @ solve(self._factor, crossed).swapaxes(1, 2)
        level = np.arange(columns.sizes.shape[1])
        variances[:, level, level] += columns.sizes
        for slope in self.slopes:
            own = columns.sum(slope)
            variances -= own[:, :, np.newaxis] * own[:, np.newaxis]
        scores = columns.sum(self.residual)
        p_values, freedom = self._p_values(scores, variances)
        several = np.flatnonzero(columns.has_trend & (freedom > 1))
        if len(several) == 0:
            return p_values
        own_trends = trends(columns.position[several], scores[several], variances[several])
        by_trend, freedom = self._p_values(*own_trends)
        joint = joint_p_values(by_trend, p_values[several])
        p_values[several] = np.where(freedom > 0, joint, p_values[several])
        return p_values

    def _p_values(self, scores: Floats, variances: Floats) -> tuple[Floats, Ints]:
        """Return the p-values of the shares of the squared residuals that scores explain."""
        statistics, freedom = quadratic(scores, variances)
        left = len(self.residual) - self.design.shape[1] - len(self.slopes) - freedom
        total = float(self.residual @ self.residual)
        untested = (freedom == 0) | (left < _FEWEST_LEFT) | (total <= _NOTHING * self.scale)
        if untested.all():
            return np.ones(len(scores)), freedom
        unexplained = np.clip(1 - statistics / total, 0.0, 1.0)
        tested = betainc(np.maximum(left, 1) / 2, np.maximum(freedom, 1) / 2, unexplained)
        return np.where(untested, 1.0, tested), freedom


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
