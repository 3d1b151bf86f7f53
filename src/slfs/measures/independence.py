"""Counts -> is a column independent of the class, given a few others? What the online methods ask."""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, ndtr

from slfs._core.indices import PackedIndex
from slfs.counting.backend import CountingBackend


class IndependenceTest(ABC):
    """Is a column independent of the class, given some others?"""

    def __init__(self, alpha: float) -> None:
        self._alpha = alpha

    @abstractmethod
    def p_value(self, f: int, given: Sequence[int] = ()) -> float:
        """The p-value of independence of f and the class given some columns."""

    def separating_set(
        self, f: int, others: Sequence[int], most: int, with_column: int | None = None
    ) -> tuple[int, ...] | None:
        """The first set of 1 to ``most`` of the others given which f is independent of the class.

        Small sets come first, then the order of ``others``. With ``with_column`` only sets that have it.
        """
        for size in range(1, min(most, len(others)) + 1):
            for given in itertools.combinations(others, size):
                if with_column is not None and with_column not in given:
                    continue
                if self.p_value(f, given) >= self._alpha:
                    return given
        return None


class TableTest(IndependenceTest):
    """Test a packed column and the class for independence given other packed columns.

    The degrees of freedom are (d_f - 1)(c - 1) times the product of the numbers of levels of the given
    columns, as in the authors' LOFS; adjusted for empty cells they are the sum of
    (levels - 1)(classes - 1), counting the levels and classes that occur, over the strata that occur.

    Parameters
    ----------
    backend : CountingBackend
    alpha : float
        Columns with a p-value of at least ``alpha`` count as independent.
    statistic : {"g2", "chi2"}
        Likelihood ratio, or Pearson's statistic with 0.5 subtracted from the differences in cells that
        expect less than 10, as in LOFS.
    samples_per_df : float
        With fewer samples per degree of freedom than this the test is skipped and the columns count as
        independent. LOFS uses 5. The rule keeps the test valid, but on small data it drops columns
        whatever they contain: any column with a conditioning set large enough for the rule to apply
        counts as independent given that set. 0 turns the rule off.
    adjusted : bool
        Adjust the degrees of freedom for empty cells. The rule above uses the full ones.
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
        """The p-value of independence of f and the class given some columns; 1 by the rule of LOFS."""
        packed = self._backend.packed
        levels = [int(packed.arrays.levels[k]) for k in (f, *given)]
        freedom = (levels[0] - 1) * (packed.layout.n_classes - 1) * math.prod(levels[1:])
        if freedom == 0 or packed.layout.n_samples < self._samples_per_df * freedom:
            return 1.0
        table, half = self._backend.conditional_counts(PackedIndex(f), given)
        scale = self._backend.nlogn.scale
        statistic = 2 * half / scale if self._statistic == "g2" else _corrected_chi2(table)
        if self._adjusted:
            rows, columns = (table.any(axis=2)).sum(axis=1), (table.any(axis=1)).sum(axis=1)
            freedom = int((np.maximum(rows - 1, 0) * np.maximum(columns - 1, 0)).sum())
            if freedom == 0:
                return 1.0
        return float(chdtrc(freedom, max(statistic, 0.0)))


class FisherTest(IndependenceTest):
    """Test columns of numbers by Fisher's z of their partial correlation with the class.

    Class codes are taken as numbers, missing values as the mean of their column.

    Parameters
    ----------
    values : mapping
        The numbers of each column that may be asked for; read at every question, so it may grow.
    target : ndarray of shape (n_samples,)
        Class codes.
    alpha : float
        Independent are those with a p-value of at least ``alpha``.
    """

    def __init__(
        self, values: Mapping[int, NDArray[np.float64]], target: NDArray[np.float64], alpha: float
    ) -> None:
        super().__init__(alpha)
        self._values = values
        self._target = target

    def p_value(self, f: int, given: Sequence[int] = ()) -> float:
        """The p-value of independence of f and the class given some columns; 1 if f is constant."""
        freedom = len(self._target) - len(given) - 3
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
    """Numbers that linear algebra can work with, in their own unit or in another.

    What is missing has the mean, an infinity the value of the furthest finite number. Numbers whose
    squares a float cannot hold are scaled by a power of two, which changes neither correlations nor
    regressions.
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


def _vanishes(rest: NDArray[np.float64], centred: NDArray[np.float64], raw: NDArray[np.float64]) -> bool:
    """Whether what is left of a column is rounding: it is constant, or others explain all of it."""
    size = float(np.linalg.norm(centred))
    return size <= 1e-13 * float(np.linalg.norm(raw)) or float(np.linalg.norm(rest)) <= 1e-10 * size


def _corrected_chi2(table: NDArray[np.int64]) -> float:
    """Pearson's statistic over strata, 0.5 taken off where less than 10 is expected."""
    whole = table.sum(axis=(1, 2))[:, np.newaxis, np.newaxis]
    shares = table.sum(axis=1, keepdims=True).astype(np.float64)
    expected = table.sum(axis=2, keepdims=True) * shares / np.maximum(whole, 1)
    difference = np.abs(table - expected)
    difference -= np.where(expected < 10, 0.5, 0.0)
    filled = expected > 0
    return float((difference[filled] ** 2 / expected[filled]).sum())
