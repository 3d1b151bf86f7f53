"""Margins and a statistic -> its mean and variance over all permutations of the class -> a p-value.

Pearson's statistic and that of Kruskal and Wallis compare two sets of scores of the same samples:
indicators of levels, or ranks, on one side, indicators of classes on the other. Both are a multiple of
the sum T of the squared canonical correlations of the two sides, whose mean and variance over all
permutations are known exactly (Nass 1959; Mielke and Berry 1985). They depend on the number of
dimensions of each side and on the sum of the squared leverages of the samples.

The tails are computed here because SciPy's ``gammaincc`` and ``betaincc`` take as long as the rest of a
wide fit.
"""

from __future__ import annotations

import math

import numpy as np
from numba import types
from numpy.typing import NDArray

from slfs._core.compile import helper, inlined, kernel

Floats = NDArray[np.float64]

_f1 = types.float64[::1]
_ACCURACY = 1e-13


def group_leverages(n_groups: Floats, inverse_sizes: Floats, n_samples: Floats) -> Floats:
    """Sum the squared leverages of levels or classes, given their number and the sum of 1 / size."""
    return inverse_sizes - (2 * n_groups - 1) / n_samples


@kernel(types.void(_f1, _f1, _f1, _f1, _f1, _f1, _f1))
def permutation_moments(
    n_samples: Floats,
    dimensions: Floats,
    leverages: Floats,
    other_dimensions: Floats,
    other_leverages: Floats,
    mean: Floats,
    variance: Floats,
) -> None:
    """Compute mean and variance of T over all permutations of the samples of one side; both are exact.

    Pearson's statistic is n T, that of Kruskal and Wallis (n - 1) T. ``dimensions`` are the number of
    levels or classes minus 1, or 1 for ranks; ``leverages`` are the sums of the squared leverages.
    """
    for j in range(n_samples.shape[0]):
        n = n_samples[j]
        mean[j], variance[j] = 0.0, 0.0
        if n < 2:
            continue
        mean[j] = dimensions[j] * other_dimensions[j] / (n - 1)
        if n == 2:  # T is constant
            continue
        uneven = _uneven(n, dimensions[j], leverages[j])
        other_uneven = _uneven(n, other_dimensions[j], other_leverages[j])
        variance[j] = uneven * other_uneven / (n - 1)
        if n > 3:  # with three samples the first part is zero
            even = dimensions[j] * (n - 1 - dimensions[j]) / (n - 1) - uneven
            other_even = other_dimensions[j] * (n - 1 - other_dimensions[j]) / (n - 1) - other_uneven
            variance[j] += 2 * even * other_even / (n * (n - 3))
        variance[j] = max(variance[j], 0.0)


@inlined
def _uneven(n: float, dimensions: float, leverages: float) -> float:
    """Part of the spread of one side that comes from unequal leverages."""
    return (n * leverages - dimensions * dimensions) / (n - 2)


@kernel(types.void(_f1, _f1, _f1, _f1))
def gamma_tails(statistic: Floats, mean: Floats, variance: Floats, out: Floats) -> None:
    """Compute the tail of the gamma distribution with this mean and variance; 1 if it is a constant."""
    last_shape, log_gamma = -1.0, 0.0
    for j in range(statistic.shape[0]):
        if not variance[j] > 1e-12 * mean[j] * mean[j] or statistic[j] <= 0.0:
            out[j] = 1.0
            continue
        shape, x = mean[j] * mean[j] / variance[j], statistic[j] * mean[j] / variance[j]
        if shape != last_shape:
            last_shape, log_gamma = shape, math.lgamma(shape)
        front = math.exp(shape * math.log(x) - x - log_gamma)
        if x < shape + 1:  # the series of the lower tail
            term = total = 1.0 / shape
            k = shape
            while term > _ACCURACY * total:
                k += 1.0
                term *= x / k
                total += term
            out[j] = max(1.0 - front * total, 0.0)
        else:  # the continued fraction of the upper tail, by Lentz's method
            b = x + 1.0 - shape
            c, d = 1e290, 1.0 / b
            value, factor, k = d, 0.0, 0.0
            while abs(factor - 1.0) > _ACCURACY:
                k += 1.0
                a = k * (shape - k)
                b += 2.0
                d, c = 1.0 / _not_zero(a * d + b), _not_zero(b + a / c)
                factor = d * c
                value *= factor
            out[j] = front * value


@kernel(types.void(_f1, _f1, _f1, _f1))
def beta_tails(share: Floats, mean: Floats, variance: Floats, out: Floats) -> None:
    """Compute the tail of the beta distribution with this mean and variance; 1 if it is a constant."""
    last_a, last_b, log_beta = -1.0, -1.0, 0.0
    for j in range(share.shape[0]):
        x, spread = share[j], mean[j] * (1.0 - mean[j])
        if not 1e-12 * spread < variance[j] < spread or x <= 0.0:
            out[j] = 1.0
            continue
        if x >= 1.0:
            out[j] = 0.0
            continue
        total = spread / variance[j] - 1.0
        a, b = mean[j] * total, (1.0 - mean[j]) * total
        if a != last_a or b != last_b:
            last_a, last_b = a, b
            log_beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
        front = math.exp(a * math.log(x) + b * math.log1p(-x) - log_beta)
        if x < (a + 1) / (a + b + 2):
            out[j] = max(1.0 - front * _beta_fraction(a, b, x) / a, 0.0)
        else:
            out[j] = front * _beta_fraction(b, a, 1.0 - x) / b


@helper
def _beta_fraction(a: float, b: float, x: float) -> float:
    """Evaluate the continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8)."""
    c, d = 1.0, 1.0 / _not_zero(1.0 - (a + b) * x / (a + 1.0))
    value, factor, m = d, 0.0, 0.0
    while abs(factor - 1.0) > _ACCURACY:
        m += 1.0
        term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d, c = 1.0 / _not_zero(1.0 + term * d), _not_zero(1.0 + term / c)
        value *= d * c
        term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d, c = 1.0 / _not_zero(1.0 + term * d), _not_zero(1.0 + term / c)
        factor = d * c
        value *= factor
    return value


@inlined
def _not_zero(number: float) -> float:
    """Replace a number near zero, by which Lentz's method could not divide."""
    return number if abs(number) > 1e-290 else 1e-290
