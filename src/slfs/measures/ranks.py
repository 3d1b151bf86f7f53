"""Summaries of ranks -> p-values of the Kruskal-Wallis test, valid for small classes and ties."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from slfs.measures.moments import (
    beta_tails,
    gamma_tails,
    group_leverages,
    permutation_moments,
)

Floats = NDArray[np.float64]

UPPER_END = 1.5
"""Upper end of the beta distribution with which the explained share is compared.

The largest possible share is 1. With 1 the tail is too light: for 2 to 50 classes of 1 to 190 samples,
p <= 1e-4 has a probability of up to 4e-4. With 1.5 it is 0.4e-4 to 1.1e-4 in most cases.
"""

MOST_KURTOSIS = 1.85
"""Maximum kurtosis of ranks for the beta distribution: 1.8 without ties.

A large tie makes the tail heavier; the statistic is then compared with a gamma distribution.
"""

TIED_KURTOSIS, LEAST_UNTIED = 2.3, 10.0
"""Ranks with a higher kurtosis are tested only if the smallest class has enough untied samples.

This is the expected number of samples of the smallest class that are outside the largest tie. With
fewer, the tail is heavier than that of the gamma distribution, and the levels of the column are tested
instead.
"""


_RARE, _RARE_SHARE = 5, 0.25
"""Classes with fewer samples, and less than this share of the mean size of a class, are rare.

What a class of a few samples adds to the statistic is bounded, so that the moments of the statistic
belong to a distribution with a lighter tail than that of the large classes.
"""


def pool_rare_groups(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the group that each group is pooled with for a rank test; itself for most groups.

    Rare groups, and groups of a single sample, are pooled with each other; a sample that would remain
    alone is pooled with the smallest other group.

    Parameters
    ----------
    sizes : ndarray of shape (n_columns, n_groups)
        Number of samples; a group may be empty.

    Returns
    -------
    group : ndarray of shape (n_columns, n_groups)
    """
    number = np.maximum((sizes > 0).sum(axis=1, keepdims=True), 1)
    least = np.minimum(_RARE, _RARE_SHARE * sizes.sum(axis=1, keepdims=True) / number)
    rare = (sizes == 1) | ((sizes > 0) & (sizes < least))
    together = np.where(rare, sizes, 0).sum(axis=1)
    smallest = np.where(rare | (sizes == 0), np.iinfo(np.int64).max, sizes).argmin(axis=1)
    home = np.where(together == 1, smallest, rare.argmax(axis=1))
    own = np.broadcast_to(np.arange(sizes.shape[1]), sizes.shape)
    group: NDArray[np.int64] = np.where(rare, home[:, np.newaxis], own)
    return group


class RankSummary(NamedTuple):
    """What the rank test needs to know of several columns: arrays with one entry per column.

    Attributes
    ----------
    n_samples : ndarray of float
        Number of samples without a missing value.
    explained : ndarray of float
        Share of the variance of the ranks that the classes explain.
    kurtosis : ndarray of float
        Kurtosis of the ranks, which depends on ties only.
    n_classes, inverse_sizes : ndarray of float
        Number of classes that occur, and the sum of 1 / size over them.
    untied : ndarray of float
        Expected number of samples of the smallest class outside the largest tie.
    floor : ndarray of float
        Probability of the tables of values and classes that obviously have the same statistic, given
        the margins.
    """

    n_samples: Floats
    explained: Floats
    kurtosis: Floats
    n_classes: Floats
    inverse_sizes: Floats
    untied: Floats
    floor: Floats


def rank_p_values(summary: RankSummary) -> Floats:
    """Test whether the ranks of a column differ between classes (Kruskal and Wallis 1952).

    The share T of the variance of the ranks that the classes explain is compared with a beta
    distribution, or with many ties a gamma distribution, that has the exact mean and variance of T over
    all permutations of the class. If a class is rare, the p-value is at least that of the distribution
    of T for normally distributed numbers. A p-value is at least the probability of the observed
    table of values and classes and of its mirror images, which no permutation test can go below.

    Parameters
    ----------
    summary : RankSummary
        The columns.

    Returns
    -------
    p_values : ndarray of shape (n_columns,)
        p-value of each column, greater than 0 and at most 1; NaN for columns that are not tested,
        because they have fewer than two values or classes or too many ties.
    """
    n_samples, explained, kurtosis, n_classes, inverse_sizes, untied, floor = summary
    reliable = (kurtosis <= TIED_KURTOSIS) | (untied >= LEAST_UNTIED)
    tested = np.flatnonzero((n_classes > 1) & (kurtosis > 0) & reliable & (n_samples > 2))
    n, share = n_samples[tested], explained[tested]
    mean, variance, tail = (np.empty(len(tested)) for _ in range(3))
    classes = n_classes[tested]
    spread = group_leverages(classes, inverse_sizes[tested], n)
    permutation_moments(n, np.ones(len(n)), kurtosis[tested] / n, classes - 1, spread, mean, variance)
    beta_tails(share / UPPER_END, mean / UPPER_END, variance / UPPER_END**2, tail)
    tied = np.flatnonzero(kurtosis[tested] > MOST_KURTOSIS)
    if len(tied):
        gamma_tail = np.empty(len(tied))
        gamma_tails(share[tied], mean[tied], variance[tied], gamma_tail)
        tail[tied] = gamma_tail
    rare = np.flatnonzero(untied[tested] < np.minimum(_RARE, _RARE_SHARE * n / classes))
    within, between = (n[rare] - classes[rare]) / 2, (classes[rare] - 1) / 2
    tail[rare] = np.maximum(tail[rare], betainc(within, between, 1 - share[rare]))
    p_values = np.full(len(n_samples), np.nan)
    p_values[tested] = np.clip(tail, floor[tested], 1.0)
    return p_values
