"""Counts -> nats: entropy, mutual information and conditional mutual information.

All estimates are plug-in estimates. S(.) is the sum of n log n over the cells of a contingency table.
The sums are integers; this is the first module that computes floats.

    H(f)     = (S() - S(f)) / N
    I(f;k)   = (S(f,k) - S(f) - S(k) + S()) / N
    I(f;Y|k) = (S(f,k,Y) - S(f,k) - S(k,Y) + S(k)) / N
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from slfs._core.indices import PackedIndex
from slfs._core.ragged import starts
from slfs.counting.backend import CountingBackend
from slfs.counting.nlogn import NLogN, nlogn_table
from slfs.counting.planes import PackedColumns

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_HALF, _LOWER = 32, 0xFFFF_FFFF
"""Number of bits of half a word, and the mask of the lower half."""


def column_information(
    sums: NDArray[np.int64], class_totals: NDArray[np.int64]
) -> tuple[Floats, Floats]:
    """Compute entropy H(f) and relevance R(f) = I(f;Y) of each column from S(f) and S(f,Y)."""
    nlogn = nlogn_table(int(class_totals.sum()))
    total = nlogn.table[-1]  # S() = N log N
    classes = nlogn.table[class_totals].sum()
    entropy = _nats(total - sums[:, 0], nlogn)
    relevance = _nats(sums[:, 1] - sums[:, 0] - classes + total, nlogn)
    return entropy, relevance


def chi2_statistics(packed: PackedColumns) -> tuple[Floats, Floats]:
    """Compute Pearson's chi-squared statistic with the class, and its p-value, of each packed column."""
    if len(packed) == 0:
        return np.empty(0), np.empty(0)
    totals, levels = packed.layout.totals, packed.arrays.levels.astype(np.int64)
    counts = packed.arrays.class_counts.reshape(-1, len(totals))
    sizes = np.einsum("ij->i", counts).astype(np.float64)
    expected = sizes[:, np.newaxis] * totals / packed.layout.n_samples
    cells = np.einsum("ij->i", (counts - expected) ** 2 / expected)
    statistics = np.add.reduceat(cells, starts(levels)[:-1]) / packed.layout.unit
    return statistics, chi2.sf(statistics, (levels - 1) * (len(totals) - 1))


class PairInformation:
    """Information of one column f with several columns k and the class Y: arrays in nats.

    The values are computed on access from the integer sums over the tables (f, k, Y).
    """

    def __init__(
        self, information: Information, f: int, others: NDArray[np.int64], sums: NDArray[np.int64]
    ) -> None:
        self._information, self._f, self._others = information, f, others
        self._both, self._both_class = sums[:, 0], sums[:, 1]

    @property
    def mutual_information(self) -> Floats:
        """I(f;k)."""
        pooled = self._information.pooled_sums
        total = self._information.nlogn.table[-1]
        return self._nats(self._both - pooled[self._others] - (pooled[self._f] - total))

    @property
    def of_one_given_other(self) -> Floats:
        """I(f;Y|k): information of f about Y that k does not contain."""
        pooled, by_class = self._information.pooled_sums, self._information.class_sums
        return self._nats(self._both_class - self._both - by_class[self._others] + pooled[self._others])

    @property
    def of_other_given_one(self) -> Floats:
        """I(k;Y|f): information of each k about Y that f does not contain."""
        given = self._information.class_sums[self._f] - self._information.pooled_sums[self._f]
        return self._nats(self._both_class - self._both - given)

    @property
    def given_class(self) -> Floats:
        """I(f;k|Y)."""
        by_class, classes = self._information.class_sums, self._information.sum_of_classes
        return self._nats(self._both_class - by_class[self._others] - (by_class[self._f] - classes))

    @property
    def joint_relevance(self) -> Floats:
        """I(f,k;Y): information of both columns together about Y."""
        total, classes = self._information.nlogn.table[-1], self._information.sum_of_classes
        return self._nats(self._both_class - self._both + (total - classes))

    @property
    def joint_entropy(self) -> Floats:
        """H(f,k,Y)."""
        return self._nats(self._information.nlogn.table[-1] - self._both_class)

    def _nats(self, sums: NDArray[np.int64]) -> Floats:
        return _nats(sums, self._information.nlogn)


class Information:
    """Entropy and information of packed columns, in nats. Columns are given by their packed index.

    Parameters
    ----------
    backend : CountingBackend
        Counts the columns.

    Attributes
    ----------
    entropy, relevance : ndarray of shape (n_packed,)
        H(f) and R(f) = I(f;Y).
    pooled_sums, class_sums : ndarray of shape (n_packed,)
        S(f) and S(f,Y), as integers.
    sum_of_classes : int
        S(Y).
    nlogn : NLogN
        Converts integers to nats.
    """

    def __init__(self, backend: CountingBackend) -> None:
        self.backend = backend
        self.packed = backend.packed
        self.nlogn = backend.nlogn
        sums = backend.column_sums()
        self.pooled_sums, self.class_sums = np.ascontiguousarray(sums.T)
        self.sum_of_classes = int(self.nlogn.table[self.packed.layout.totals].sum())
        self.entropy, self.relevance = column_information(sums, self.packed.layout.totals)

    def pairs(self, f: int, others: Ints | None = None) -> PairInformation:
        """Return the information of one column with several others, by default with all."""
        others = np.arange(len(self.packed)) if others is None else others
        return PairInformation(self, f, others, self.backend.pair_sums(PackedIndex(f), others))

    def mutual_information(self, f: int, others: Ints) -> Floats:
        """Return I(f;k) for each k in ``others``; cheaper than `pairs`, which also counts by class."""
        both = self.backend.pooled_pair_sums(PackedIndex(f), others)
        return _nats(both - self.pooled_sums[others] - self._own_part(f), self.nlogn)

    def add_mutual_information(self, f: int, others: Ints, sums: Ints) -> None:
        """Add I(f;k) for each k in ``others`` to running integer sums; `to_nats` converts them.

        Integer sums do not depend on the order of the terms. A single word would overflow after a few
        terms, so each sum has two words, the upper and the lower half: an array of shape (n_others, 2).
        """
        both = self.backend.pooled_pair_sums(PackedIndex(f), others)
        both -= self._own_part(f)
        both -= self.pooled_sums[others]
        sums[:, 0] += both >> _HALF
        sums[:, 1] += both & _LOWER

    def to_nats(self, sums: Ints, n_terms: int) -> Floats:
        """Convert running sums of ``n_terms`` terms to their means in nats."""
        upper, lower = sums[:, 0] + (sums[:, 1] >> _HALF), sums[:, 1] & _LOWER
        total = upper * 2.0**_HALF + lower  # rounded once
        return np.maximum(total, 0) / (self.nlogn.scale * self.nlogn.n_samples * n_terms)

    def joint_counts(self, f: int, k: int) -> Ints:
        """Count two columns: an array of shape (n_classes, levels of f, levels of k)."""
        return self.backend.joint_counts(PackedIndex(f), PackedIndex(k))

    def codes(self, f: int) -> NDArray[np.uint8]:
        """Return the level of each sample in one column, samples sorted by class."""
        return self.backend.codes(PackedIndex(f))

    def _own_part(self, f: int) -> int:
        """Return S(f) - S()."""
        return int(self.pooled_sums[f] - self.nlogn.table[-1])


def _nats(sums: Ints, nlogn: NLogN) -> Floats:
    """Convert integer sums of n log n to nats per sample; negative rounding errors become zero."""
    return np.maximum(sums, 0) / (nlogn.scale * nlogn.n_samples)
