"""Counts -> nats: entropy, mutual information and its conditional forms. Floats begin here.

All estimates are plug-in. With S(.) for the sum of n log n over the cells of a table of counts:

    H(f)     = (S() - S(f)) / N
    I(f;k)   = (S(f,k) - S(f) - S(k) + S()) / N
    I(f;Y|k) = (S(f,k,Y) - S(f,k) - S(k,Y) + S(k)) / N
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from slfs._core.ragged import starts
from slfs._core.threads import Threads
from slfs.counting.kernels import PackedArrays, decode, marginal_sums, pair_sums
from slfs.counting.nlogn import NLogN, nlogn_table
from slfs.counting.planes import PackedColumns

Floats = NDArray[np.float64]

_THREAD_WORTH = 300_000
"""Nanoseconds of counting below which a second thread costs more than it saves."""

_HALF, _LOWER = 32, 0xFFFF_FFFF
"""Half of a word: its bits, and the mask of the lower half."""

_NO_TABLES = np.empty((0, 0, 0), np.int64)


def column_sums(
    class_counts: NDArray[np.int64], n_levels: NDArray[np.int64], n_classes: int, nlogn: NLogN
) -> NDArray[np.int64]:
    """For each column the sums S(f) and S(f,Y), as integers: an array of shape (n_columns, 2)."""
    levels = n_levels.astype(np.uint64)
    offset = starts(n_levels * n_classes).astype(np.uint64)
    sums = np.empty((len(levels), 2), np.int64)
    marginal_sums(class_counts, offset, levels, np.uint64(n_classes), nlogn.table, nlogn.rest, sums)
    return sums


def column_information(
    sums: NDArray[np.int64], class_totals: NDArray[np.int64]
) -> tuple[Floats, Floats]:
    """Entropy H(f) and relevance R(f) = I(f;Y) of each column, from its two sums."""
    nlogn = nlogn_table(int(class_totals.sum()))
    whole = nlogn.table[-1]
    classes = nlogn.table[class_totals].sum()
    entropy = _nats(whole - sums[:, 0], nlogn)
    relevance = _nats(sums[:, 1] - sums[:, 0] - classes + whole, nlogn)
    return entropy, relevance


def chi2_statistics(packed: PackedColumns) -> tuple[Floats, Floats]:
    """Pearson's statistic of independence from the class and its p-value for each packed column."""
    if len(packed) == 0:
        return np.empty(0), np.empty(0)
    totals, levels = packed.layout.totals, packed.arrays.levels.astype(np.int64)
    counts = packed.arrays.class_counts.reshape(-1, len(totals))
    sizes = np.einsum("ij->i", counts).astype(np.float64)
    expected = sizes[:, np.newaxis] * totals / packed.layout.n_samples
    cells = np.einsum("ij->i", (counts - expected) ** 2 / expected)
    statistics = np.add.reduceat(cells, starts(levels)[:-1])
    return statistics, chi2.sf(statistics, (levels - 1) * (len(totals) - 1))


class PairInformation:
    """What the tables (f, k, Y) of one column f with several columns k say: arrays of nats.

    Worked out when asked for, from the integer sums over the tables.
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
        whole = self._information.nlogn.table[-1]
        return self._nats(self._both - pooled[self._others] - (pooled[self._f] - whole))

    @property
    def of_one_given_other(self) -> Floats:
        """I(f;Y|k): what f tells about Y that k does not."""
        pooled, by_class = self._information.pooled_sums, self._information.class_sums
        return self._nats(self._both_class - self._both - by_class[self._others] + pooled[self._others])

    @property
    def of_other_given_one(self) -> Floats:
        """I(k;Y|f): what each k tells about Y that f does not."""
        given = self._information.class_sums[self._f] - self._information.pooled_sums[self._f]
        return self._nats(self._both_class - self._both - given)

    @property
    def given_class(self) -> Floats:
        """I(f;k|Y)."""
        by_class, classes = self._information.class_sums, self._information.sum_of_classes
        return self._nats(self._both_class - by_class[self._others] - (by_class[self._f] - classes))

    def _nats(self, sums: NDArray[np.int64]) -> Floats:
        return _nats(sums, self._information.nlogn)


class Information:
    """Everything that counts of packed columns say, in nats. Columns go by their packed index.

    Parameters
    ----------
    packed : PackedColumns
    threads : Threads
        Large questions are answered in pieces. The pieces do not change a bit of the answer.

    Attributes
    ----------
    entropy, relevance : ndarray of shape (n_packed,)
        H(f) and R(f) = I(f;Y).
    pooled_sums, class_sums : ndarray of shape (n_packed,)
        S(f) and S(f,Y), as integers.
    sum_of_classes : int
        S(Y).
    nlogn : NLogN
        What turns integers into nats.
    """

    def __init__(self, packed: PackedColumns, threads: Threads) -> None:
        self.packed = packed
        self.nlogn = nlogn_table(packed.layout.n_samples)
        self._threads = threads
        self._pooled: PackedArrays | None = None
        levels, n_classes = packed.arrays.levels.astype(np.int64), packed.layout.n_classes
        sums = column_sums(packed.arrays.class_counts, levels, n_classes, self.nlogn)
        self.pooled_sums, self.class_sums = np.ascontiguousarray(sums.T)
        self.sum_of_classes = int(self.nlogn.table[packed.layout.totals].sum())
        self.entropy, self.relevance = column_information(sums, packed.layout.totals)

    def pairs(self, f: int, others: NDArray[np.int64] | None = None) -> PairInformation:
        """Confront one column with several others, by default with all: one table of counts each."""
        others = np.arange(len(self.packed)) if others is None else others
        sums = np.empty((len(others), 2), np.int64)
        self._count_in_pieces(self.packed.arrays, f, others, sums)
        return PairInformation(self, f, others, sums)

    def mutual_information(self, f: int, others: NDArray[np.int64]) -> Floats:
        """I(f;k) alone, for each k of ``others``: cheaper, since classes are not told apart."""
        return PairInformation(self, f, others, self._pooled_sums(f, others)).mutual_information

    def add_mutual_information(self, f: int, others: NDArray[np.int64], sums: NDArray[np.int64]) -> None:
        """Add I(f;k) for each k of ``others`` to running sums of integers; `to_nats` makes nats of them.

        Integers: what is added up is exact, whatever the order. One word holds the sum of a few terms
        only, so each sum has two, the upper and the lower half: an array of shape (n_others, 2).
        """
        both = self._pooled_sums(f, others)[:, 0]
        both += self.nlogn.table[-1] - self.pooled_sums[f]
        both -= self.pooled_sums[others]
        sums[:, 0] += both >> _HALF
        sums[:, 1] += both & _LOWER

    def to_nats(self, sums: NDArray[np.int64], n_terms: int) -> Floats:
        """Nats of running sums of so many terms: their means."""
        upper, lower = sums[:, 0] + (sums[:, 1] >> _HALF), sums[:, 1] & _LOWER
        whole = upper * 2.0**_HALF + lower  # rounded once
        return np.maximum(whole, 0) / (self.nlogn.scale * self.nlogn.n_samples * n_terms)

    def _pooled_sums(self, f: int, others: NDArray[np.int64]) -> NDArray[np.int64]:
        if self._pooled is None:
            self._pooled = self.packed.pooled()
        sums = np.empty((len(others), 2), np.int64)
        self._count_in_pieces(self._pooled, f, others, sums)
        return sums

    def joint_counts(self, f: int, k: int) -> NDArray[np.int64]:
        """Counts of two columns: an array of shape (n_classes, levels of f, levels of k)."""
        levels = self.packed.arrays.levels
        shape = (self.packed.layout.n_classes, int(levels[f]), int(levels[k]))
        tables = np.empty((1, shape[0], shape[1] * shape[2]), np.int64)
        pair_sums(
            self.packed.arrays,
            np.uint64(f),
            np.array([k], np.uint64),
            self.nlogn.table,
            self.nlogn.rest,
            np.empty((1, 2), np.int64),
            tables,
        )
        return tables.reshape(shape)

    def codes(self, f: int) -> NDArray[np.uint8]:
        """The level of each sample, sorted by class, in one column."""
        codes = np.empty(self.packed.layout.n_samples, np.uint8)
        decode(self.packed.arrays, np.uint64(f), codes)
        return codes

    def _count_in_pieces(
        self, arrays: PackedArrays, f: int, others: NDArray[np.int64], sums: NDArray[np.int64]
    ) -> None:
        indices = others.view(np.uint64)

        def count(piece: slice) -> None:
            table, rest = self.nlogn.table, self.nlogn.rest
            pair_sums(arrays, np.uint64(f), indices[piece], table, rest, sums[piece], _NO_TABLES)

        self._threads.map(count, self._pieces(f, len(others)))

    def _pieces(self, f: int, n_others: int) -> list[slice]:
        planes = float(self.packed.arrays.levels[f])
        work = n_others * (15 + 0.15 * planes * planes * self.packed.layout.n_words)
        count = self._threads.count if work > _THREAD_WORTH else 1
        bounds = [n_others * piece // count for piece in range(count + 1)]
        return [slice(begin, end) for begin, end in itertools.pairwise(bounds)]


def _nats(sums: NDArray[np.int64], nlogn: NLogN) -> Floats:
    """Integer sums of n log n to nats a sample; what rounding left below zero is zero."""
    return np.maximum(sums, 0) / (nlogn.scale * nlogn.n_samples)
