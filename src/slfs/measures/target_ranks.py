"""Summaries of the ranks of a continuous target over a column -> p-values of rank tests.

The tests are those of Spearman, for numbers, and of Kruskal and Wallis, for levels of a column. Both
statistics are compared with distributions that have their exact mean and variance over all permutations
of the target, so that the p-values are valid for small samples and ties.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from slfs.measures.moments import beta_tails, permutation_moments
from slfs.measures.ranks import (
    LEAST_UNTIED,
    TIED_KURTOSIS,
    RankSummary,
    pool_rare_groups,
    rank_p_values,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


UPPER_END = 1.1
"""Upper end of the beta distribution with which the squared correlation is compared.

The largest possible value is 1. With 1 the tail is too light: p <= 1e-4 has a probability of 1.2e-4 to
4e-4 for 8 to 50 samples. With 1.1 it is at most 1.3e-4, also with ties.
"""


class TargetMoments(NamedTuple):
    """What the tests need to know of the ranks of a target (twice the midrank, minus its mean)."""

    n_samples: int
    powers: Floats
    """Sums of the first to the fourth power of the ranks."""
    largest_tie: int
    log_ties: float
    """Sum of log n! over the ties."""


class NumberSummary(NamedTuple):
    """What the rank correlation needs to know of several columns: arrays with one entry per column.

    Attributes
    ----------
    n_samples : ndarray of float
        Number of samples without a missing value.
    product : ndarray of float
        Sum of the products of the ranks of the column and of the target.
    squares, kurtosis : ndarray of float
        Sum of squares and kurtosis of the ranks of the column.
    largest_tie, log_ties : ndarray of float
        Size of the largest tie of the column, and the sum of log n! over its ties.
    n_distinct : ndarray of float
        Number of distinct values of the column.
    """

    n_samples: Floats
    product: Floats
    squares: Floats
    kurtosis: Floats
    largest_tie: Floats
    log_ties: Floats
    n_distinct: Floats


def target_moments(ranks: Ints) -> TargetMoments:
    """Summarize the ranks of a target."""
    ties = np.unique(ranks, return_counts=True)[1]
    score = ranks.astype(np.float64)
    powers = np.array([0.0, (score**2).sum(), (score**3).sum(), (score**4).sum()])
    return TargetMoments(len(ranks), powers, int(ties.max()), float(gammaln(ties + 1.0).sum()))


def correlation_p_values(summary: NumberSummary, powers: Floats, target: TargetMoments) -> Floats:
    """Test whether the ranks of a column and of the target are correlated (Spearman 1904).

    The squared correlation is compared with a beta distribution that has its exact mean and variance
    over all permutations.

    Parameters
    ----------
    summary : NumberSummary
        The columns.
    powers : ndarray of shape (n_columns, 4)
        Sums of the powers of the ranks of the target, without the samples whose value is missing.
    target : TargetMoments
        The target.

    Returns
    -------
    p_values : ndarray of shape (n_columns,)
        p-value of each column, greater than 0 and at most 1; NaN for columns that are not tested,
        because they have fewer than two values or, like the target, too many ties.
    """
    n, _, squares, kurtosis, largest, log_ties, _ = summary
    complete = n == target.n_samples
    first, second, third, fourth = np.where(complete, target.powers[:, np.newaxis], powers.T)
    size = np.maximum(n, 1)
    mean = first / size
    variation = second - size * mean**2
    fourth = fourth - 4 * mean * third + 6 * mean**2 * second - 3 * size * mean**4
    varied = (squares > 0) & (variation > 1e-9 * second) & (n > 2)
    variation = np.where(varied, variation, 1.0)
    target_kurtosis = n * fourth / variation**2
    tied = (kurtosis > TIED_KURTOSIS) & (target_kurtosis > TIED_KURTOSIS)
    untied = (n - largest) * (1 - target.largest_tie / target.n_samples)
    tested = np.flatnonzero(varied & (~tied | (untied >= LEAST_UNTIED)))
    n = n[tested]
    share = np.minimum(summary.product[tested] ** 2 / (squares[tested] * variation[tested]), 1.0)
    mean, variance, tail, one = np.empty(len(n)), np.empty(len(n)), np.empty(len(n)), np.ones(len(n))
    spread, other = kurtosis[tested] / n, target_kurtosis[tested] / n
    permutation_moments(n, one, spread, one, other, mean, variance)
    beta_tails(share / UPPER_END, mean / UPPER_END, variance / UPPER_END**2, tail)
    floor = _floor(n, log_ties[tested], target, reversible=True)
    p_values = np.full(len(kurtosis), np.nan)
    p_values[tested] = np.clip(tail, floor, 1.0)
    return p_values


def group_p_values(sizes: Ints, sums: Ints, target: TargetMoments) -> Floats:
    """Test whether the ranks of the target differ between groups of samples (Kruskal and Wallis 1952).

    Rare groups are pooled (`pool_rare_groups`).

    Parameters
    ----------
    sizes, sums : ndarray of shape (n_columns, n_groups)
        Number of samples and sum of the ranks of the target in each group of each column; a group may be
        empty. All samples of the target are in a group.
    target : TargetMoments
        The target.

    Returns
    -------
    p_values : ndarray of shape (n_columns,)
        p-value of each column, greater than 0 and at most 1; NaN for columns that are not tested,
        because they have fewer than two groups or too few samples outside the largest tie of the target.
    """
    group = pool_rare_groups(sizes)
    row = np.arange(len(sizes))[:, np.newaxis]
    pooled = np.zeros((2, *sizes.shape), np.int64)
    for part, values in zip(pooled, (sizes, sums), strict=True):
        np.add.at(part, (row, group), values)
    sizes, sums = pooled
    filled = sizes > 0
    size = np.where(filled, sizes, 1).astype(np.float64)
    squares = target.powers[1]
    n_columns, n = len(sizes), float(target.n_samples)
    smallest = np.where(filled, sizes, target.n_samples).min(axis=1)
    explained = (sums.astype(np.float64) ** 2 / size).sum(axis=1) / max(squares, 1.0)
    log_sizes = gammaln(size + 1.0).sum(axis=1)
    every = np.full(n_columns, n)
    return rank_p_values(
        RankSummary(
            every,
            np.minimum(explained, 1.0),
            np.full(n_columns, n * target.powers[3] / max(squares, 1.0) ** 2),
            filled.sum(axis=1).astype(np.float64),
            np.where(filled, 1 / size, 0.0).sum(axis=1),
            smallest * (1 - target.largest_tie / n),
            _floor(every, log_sizes, target, reversible=target.largest_tie == 1),
        )
    )


def _floor(n_samples: Floats, log_groups: Floats, target: TargetMoments, *, reversible: bool) -> Floats:
    """Return a lower bound of the probability of a table given its margins, or of the smallest p-value.

    The table has one row per group or value of the column and one column per value of the target. Its
    probability is the product of the factorials of all margins, divided by n! and by those of all cells,
    whose product is at most that of the rows or that of the columns. The ties of the target are not
    known, and at least 1, where samples are missing. ``reversible`` says that the reverse order of the
    target has the same statistic.
    """
    log_ties = np.where(n_samples == target.n_samples, target.log_ties, 0.0)
    log_p = np.maximum(log_groups, log_ties) - gammaln(n_samples + 1.0)
    log_p += np.log(2) * reversible
    floor: Floats = np.exp(np.clip(log_p, np.log(np.finfo(float).tiny), 0.0))
    return floor
