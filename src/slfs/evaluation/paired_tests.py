"""Two classifiers on the same samples -> p-values of their difference."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import stats


def corrected_t_test(differences: NDArray[np.float64], test_share: float) -> float:
    """Return the p-value of the t-test of paired differences, corrected for overlapping training parts.

    ``test_share`` is the size of the test part divided by that of the training part (Nadeau & Bengio
    2003). The test is two-sided.
    """
    n = len(differences)
    variance = differences.var(ddof=1)
    if variance == 0:
        return 1.0 if differences.mean() == 0 else 0.0
    statistic = differences.mean() / np.sqrt((1 / n + test_share) * variance)
    return float(2 * stats.t.sf(abs(statistic), n - 1))


def mcnemar(first_only: int, second_only: int) -> float:
    """Return the exact two-sided p-value of McNemar's test.

    ``first_only`` and ``second_only`` count the samples that only one of two classifiers predicts
    correctly.
    """
    if first_only + second_only == 0:
        return 1.0
    return float(stats.binomtest(first_only, first_only + second_only).pvalue)
