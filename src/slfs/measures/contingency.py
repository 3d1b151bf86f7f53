"""Contingency tables -> p-values of independence that are accurate in the tail and for small counts.

The p-value depends on the counts only: the same table gives the same bits in any block, stream or
worker.
"""

from __future__ import annotations

import functools
import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from slfs._core.ragged import starts
from slfs.measures.contingency_kernels import TINY, summarize_tables, test_cells
from slfs.measures.moments import gamma_tails, group_leverages, permutation_moments

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LEAST_EXPECTED = 1.0
"""If an expected count is smaller than this, cells are also tested one by one."""

CELL_SHARE = 0.25
"""Share of the error rate that is spent on the tests of cells."""


def independence_p_values(counts: Ints, n_levels: Ints, n_classes: int, most_samples: int) -> Floats:
    """Test the independence of levels and classes in each of several contingency tables.

    - Tables with two levels or two classes and few samples: the exact test of Fisher, Freeman, Halton.
    - Other tables: the smaller of G and Pearson's statistic, compared with a gamma distribution that has
      the exact mean and variance of Pearson's statistic over all permutations of the class (Nass 1959).
      The p-value is at least the probability of the table itself, which no exact test can go below.
    - If an expected count is below `LEAST_EXPECTED`, each cell is also tested with Fisher's exact
      test (this level or not, this class or not). Three quarters of the error rate go to the table, one
      quarter to the cells: p = min(p of the table / 0.75, cells * smallest p of a cell / 0.25).

    The choice depends on the sizes of levels and classes only, not on their association, so that it does
    not bias the p-value. Empty levels and classes are ignored. Levels with a single sample tell nothing
    on their own and are pooled, and so are classes with a single sample. If a single level or class
    remains, p = 1.

    Parameters
    ----------
    counts : ndarray
        Counts of all tables, one after another: level by level, one count per class.
    n_levels : ndarray of shape (n_tables,)
        Number of levels of each table.
    n_classes : int
        Number of classes of all tables.
    most_samples : int
        Upper bound of the number of samples of a table.

    Returns
    -------
    p_values : ndarray of shape (n_tables,)
        p-value of each table, greater than 0 and at most 1.
    """
    found = _Summary(counts, n_levels, n_classes, most_samples)
    cell = np.full(len(n_levels), np.nan)
    sparse = np.isnan(found.exact) & (found.expected < LEAST_EXPECTED)
    if sparse.any():
        test_cells(
            counts.reshape(-1), found.offset, n_classes, log_factorials(most_samples), sparse, cell
        )
    p_value = found.p_values()
    p_value = np.where(np.isnan(cell), p_value, np.fmin(p_value / (1 - CELL_SHARE), cell / CELL_SHARE))
    p_value = np.where(np.isnan(found.exact), p_value, found.exact)
    return np.clip(p_value, TINY, 1.0)


def stratified_p_value(tables: Ints) -> float:
    """Test the independence of level and class within strata: counts (strata, levels, classes).

    The statistics of the strata are added, and so are their exact means and variances. Strata with a
    single level or class contain no information and are ignored. A single remaining stratum is tested
    like any other table.
    """
    _, n_levels, n_classes = tables.shape
    informative = (tables.any(axis=2).sum(axis=1) > 1) & (tables.any(axis=1).sum(axis=1) > 1)
    tables = np.ascontiguousarray(tables[informative])
    if len(tables) <= 1:
        sizes = np.full(len(tables), n_levels)
        alone = independence_p_values(tables, sizes, n_classes, int(tables.sum()))
        return float(alone[0]) if len(tables) else 1.0
    found = _Summary(tables, np.full(len(tables), n_levels), n_classes, int(tables.sum()))
    statistic, mean, variance = (
        np.array([part.sum()]) for part in (found.statistic, found.mean, found.variance)
    )
    tail = np.empty(1)
    gamma_tails(statistic, mean, variance, tail)
    return min(max(float(tail[0]), math.exp(found.log_floor.sum()), TINY), 1.0)


class _Summary:
    """What the tests need to know of several tables; the moments are those of Pearson's statistic."""

    def __init__(self, counts: Ints, n_levels: Ints, n_classes: int, most_samples: int) -> None:
        figures = np.empty((9, len(n_levels)))
        self.offset = starts(n_levels * n_classes)
        table = log_factorials(most_samples)
        summarize_tables(counts.reshape(-1), self.offset, n_classes, table, figures)
        self.n_samples, self.statistic, self.expected, self.log_floor, self.exact = figures[:5]
        n_rows, row_inverse, n_columns, column_inverse = figures[5:]
        n = np.maximum(self.n_samples, 1.0)
        self.mean, self.variance = np.empty((2, len(n_levels)))
        permutation_moments(
            self.n_samples,
            n_rows - 1,
            group_leverages(n_rows, row_inverse, n),
            n_columns - 1,
            group_leverages(n_columns, column_inverse, n),
            self.mean,
            self.variance,
        )
        self.mean *= n
        self.variance *= n * n

    def p_values(self) -> Floats:
        """Compare each statistic with a gamma distribution that has its mean and variance."""
        tail = np.empty(len(self.mean))
        gamma_tails(self.statistic, self.mean, self.variance, tail)
        p_values: Floats = np.maximum(tail, np.exp(self.log_floor))
        return p_values


_MAX_FACTORIALS = 1 << 17
"""Length of the table of log factorials; larger ones are computed on demand to save memory."""


@functools.lru_cache(maxsize=2)
def log_factorials(n_samples: int) -> Floats:
    """Return log 0!, log 1!, ... up to the number of samples or `_MAX_FACTORIALS`."""
    logarithms: Floats = gammaln(np.arange(1.0, min(n_samples, _MAX_FACTORIALS) + 2))
    return logarithms
