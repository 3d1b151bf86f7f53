"""Margins of a table -> mean and variance of its statistic over all permutations of the class.

Pearson's statistic and that of Kruskal and Wallis compare two sets of scores of the same samples:
indicators of levels, or ranks, on one side, indicators of classes on the other. Both are a multiple of
the sum T of the squared canonical correlations of the two sides, whose mean and variance over all
permutations are known exactly (Nass 1959; Mielke and Berry 1985). They depend on the number of
dimensions of each side and on the sum of the squared leverages of the samples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Side:
    """One side of a comparison, for several columns.

    Attributes
    ----------
    dimensions : ndarray of float
        Number of levels or classes minus 1; 1 for ranks.
    leverages : ndarray of float
        Sum of the squared leverages of the samples.
    """

    dimensions: Floats
    leverages: Floats

    @classmethod
    def of_groups(cls, n_groups: Floats, inverse_sizes: Floats, n_samples: Floats) -> Side:
        """Describe levels or classes by their number and the sum of 1 / size."""
        return cls(n_groups - 1, inverse_sizes - (2 * n_groups - 1) / n_samples)


def permutation_moments(n_samples: Floats, one: Side, other: Side) -> tuple[Floats, Floats]:
    """Return mean and variance of T over all permutations of the samples of one side.

    Pearson's statistic is n T, that of Kruskal and Wallis (n - 1) T. Both moments are exact.

    Parameters
    ----------
    n_samples : ndarray of shape (n_columns,)
        Number of samples n of each column, at least 2.
    one, other : Side
        The two sides.

    Returns
    -------
    mean, variance : ndarray of shape (n_columns,)
        Moments of T.
    """
    n = n_samples
    mean = one.dimensions * other.dimensions / (n - 1)
    (even_one, odd_one), (even_other, odd_other) = _parts(n, one), _parts(n, other)
    # with three samples the first part is zero, with two samples T is constant
    first = 2 * even_one * even_other / np.where(n > 3, n * (n - 3), np.inf)
    variance = np.where(n > 2, first + odd_one * odd_other / (n - 1), 0.0)
    return mean, np.maximum(variance, 0.0)


def _parts(n: Floats, side: Side) -> tuple[Floats, Floats]:
    """Split the spread of a side: what dimensions alone would give, and what unequal leverages add."""
    odd = (n * side.leverages - side.dimensions**2) / np.maximum(n - 2, 1)
    return side.dimensions * (n - 1 - side.dimensions) / (n - 1) - odd, odd
