"""Counts -> tests of conditional independence of a column and the class, for the online methods."""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, ndtr

from slfs._core.indices import PackedIndex
from slfs.counting.backend import CountingBackend


class Separation(NamedTuple):
    """Columns given which another one counts as independent of the class, and the p-value of the test.

    The p-value is 1 if there were too few samples for a test.
    """

    given: tuple[int, ...]
    p_value: float


class IndependenceTest(ABC):
    """Base class: test whether a column is independent of the class given other columns."""

    def __init__(self, alpha: float) -> None:
        self._alpha = alpha

    @abstractmethod
    def p_value(self, f: int, given: Sequence[int] = ()) -> float:
        """Return the p-value of independence of f and the class given some columns."""

    def separating_set(
        self, f: int, others: Sequence[int], max_size: int, with_column: int | None = None
    ) -> Separation | None:
        """Find the first set of at most ``max_size`` others given which f counts as independent.

        Smaller sets are tried first, then in the order of ``others``. If ``with_column`` is given, only
        sets that contain it are tried.
        """
        for size in range(1, min(max_size, len(others)) + 1):
            for given in itertools.combinations(others, size):
                if with_column is not None and with_column not in given:
                    continue
                p_value = self.p_value(f, given)
                if p_value >= self._alpha:
                    return Separation(given, p_value)
        return None


class TableTest(IndependenceTest):
    """Test the independence of a packed column and the class given other packed columns.

    The degrees of freedom are (d_f - 1)(c - 1) times the product of the numbers of levels of the given
    columns, as in the authors' LOFS. Adjusted for empty cells they are the sum of
    (levels - 1)(classes - 1) over the strata, where only levels and classes that occur are counted.

    Parameters
    ----------
    backend : CountingBackend
        Counts the columns.
    alpha : float
        Columns with a p-value of at least ``alpha`` are treated as independent.
    statistic : {"g2", "chi2"}
        Likelihood ratio, or Pearson's statistic with 0.5 subtracted from the differences in cells with
        an expected count below 10, as in LOFS.
    samples_per_df : float
        Minimum number of samples per degree of freedom (5 in LOFS). With fewer samples the test is
        skipped and the columns are treated as independent. The rule keeps the test valid, but on small
        datasets it drops columns without a test: every column is independent given a conditioning set
        that is large enough for the rule to apply. 0 disables the rule.
    adjusted : bool
        Adjust the degrees of freedom for empty cells. The rule above uses the full degrees of freedom.
    """

    def __init__(
        self,
        backend: CountingBackend,
        alpha: float,
        statistic: str,
        samples_per_df: float,
        *,
        adjusted: bool = False,
    ) -> None:
        super().__init__(alpha)
        self._backend = backend
        self._statistic = statistic
        self._samples_per_df = samples_per_df
        self._adjusted = adjusted

    def p_value(self, f: int, given: Sequence[int] = ()) -> float:
        """Return the p-value of independence given some columns; 1 if there are too few samples."""
        packed = self._backend.packed
        levels = [int(packed.arrays.levels[k]) for k in (f, *given)]
        freedom = (levels[0] - 1) * (packed.layout.n_classes - 1) * math.prod(levels[1:])
        if freedom == 0 or packed.layout.evidence < self._samples_per_df * freedom:
            return 1.0
        table, half = self._backend.conditional_counts(PackedIndex(f), given)
        scale, unit = self._backend.nlogn.scale, packed.layout.unit
        statistic = 2 * half / (scale * unit)
        if self._statistic == "chi2":
            statistic = _corrected_chi2(table / unit)
        if self._adjusted:
            rows, columns = (table.any(axis=2)).sum(axis=1), (table.any(axis=1)).sum(axis=1)
            freedom = int((np.maximum(rows - 1, 0) * np.maximum(columns - 1, 0)).sum())
            if freedom == 0:
                return 1.0
        return float(chdtrc(freedom, max(statistic, 0.0)))


class FisherTest(IndependenceTest):
    """Test columns of numbers with Fisher's z of their partial correlation with the class.

    Class codes are used as numbers; missing values must be replaced before, see `filled`.

    Parameters
    ----------
    values : mapping
        Numbers of each column that may be tested. Columns may be added later.
    target : ndarray of shape (n_samples,)
        Class codes.
    alpha : float
        Columns with a p-value of at least ``alpha`` are treated as independent.
    unit : float, default=1.0
        Number of samples that count as one.
    """

    def __init__(
        self,
        values: Mapping[int, NDArray[np.float64]],
        target: NDArray[np.float64],
        alpha: float,
        unit: float = 1.0,
    ) -> None:
        super().__init__(alpha)
        self._values = values
        self._target = target
        self._unit = unit

    def p_value(self, f: int, given: Sequence[int] = ()) -> float:
        """Return the p-value of independence given some columns; 1 if f is constant."""
        freedom = len(self._target) / self._unit - len(given) - 3
        raw = np.stack([self._values[f], self._target, *(self._values[k] for k in given)])
        table = raw - raw.mean(axis=1, keepdims=True)
        x, y = table[0], table[1]
        if given:
            basis = np.linalg.qr(table[2:].T)[0]
            x, y = x - basis @ (basis.T @ x), y - basis @ (basis.T @ y)
        if freedom < 1 or _vanishes(x, table[0], raw[0]) or _vanishes(y, table[1], raw[1]):
            return 1.0
        correlation = float(x @ y) / math.sqrt(float(x @ x) * float(y @ y))
        correlation = min(max(correlation, -1 + 1e-15), 1 - 1e-15)
        return float(2 * ndtr(-math.sqrt(freedom) * abs(math.atanh(correlation))))


def filled(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Replace missing and infinite numbers, and scale very large or small ones, for linear algebra.

    Missing values are replaced by the mean, infinities by the largest or smallest finite number. Numbers
    whose squares would overflow or underflow are scaled by a power of two, which changes neither
    correlations nor regressions.
    """
    finite = np.isfinite(values)
    present = values[finite]
    if len(present) == 0:
        return np.where(np.isinf(values), np.sign(values), 0.0)
    _, exponent = np.frexp(np.abs(present).max())
    if abs(int(exponent)) > _LARGEST_EXPONENT:
        values, present = np.ldexp(values, -exponent), np.ldexp(present, -exponent)
    if finite.all():
        return values
    values = np.clip(values, present.min(), present.max())
    return np.where(np.isnan(values), values[~np.isnan(values)].mean(), values)


_LARGEST_EXPONENT = 200
"""Binary exponent beyond which numbers are scaled."""


def _vanishes(rest: NDArray[np.float64], centred: NDArray[np.float64], raw: NDArray[np.float64]) -> bool:
    """Whether the residual of a column is a rounding error: it is constant, or others determine it."""
    size = float(np.linalg.norm(centred))
    return size <= 1e-13 * float(np.linalg.norm(raw)) or float(np.linalg.norm(rest)) <= 1e-10 * size


def _corrected_chi2(table: NDArray[np.float64]) -> float:
    """Compute Pearson's statistic over strata; 0.5 is subtracted for expected counts below 10 (LOFS)."""
    total = table.sum(axis=(1, 2))[:, np.newaxis, np.newaxis]
    shares = table.sum(axis=1, keepdims=True)
    expected = table.sum(axis=2, keepdims=True) * shares / np.where(total > 0, total, 1)
    difference = np.abs(table - expected)
    difference -= np.where(expected < 10, 0.5, 0.0)
    occurs = expected > 0
    return float((difference[occurs] ** 2 / expected[occurs]).sum())
