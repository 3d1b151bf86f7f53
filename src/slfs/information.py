"""Counts -> nats: entropy, mutual information and its conditional forms. Floats begin here.

All estimates are plug-in. With S(.) for the sum of n log n over the cells of a table of counts:

    H(f)     = (S() - S(f)) / N
    I(f;k)   = (S(f,k) - S(f) - S(k) + S()) / N
    I(f;Y|k) = (S(f,k,Y) - S(f,k) - S(k,Y) + S(k)) / N
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from slfs._threads import Threads
from slfs.counting.kernels import joint_counts, marginal_sums, pair_sums
from slfs.counting.planes import PackedColumns
from slfs.nlogn import NLogN, nlogn_table

Floats = NDArray[np.float64]

_THREAD_WORTH = 2_000_000
"""Words and samples read below which a second thread costs more than it saves."""


def column_sums(
    class_counts: NDArray[np.int64], n_levels: NDArray[np.int64], n_classes: int, nlogn: NLogN
) -> NDArray[np.int64]:
    """For each column the sums S(f) and S(f,Y), as integers: an array of shape (n_columns, 2)."""
    levels = n_levels.astype(np.uint64)
    offset = np.concatenate([[0], np.cumsum(levels)]).astype(np.uint64) * np.uint64(n_classes)
    sums = np.empty((len(levels), 2), np.int64)
    marginal_sums(class_counts, offset, levels, np.uint64(n_classes), nlogn.table, sums)
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


def independence_p_values(counts: NDArray[np.int64]) -> Floats:
    """G-test of independence for a stack of tables (n_tables, n_levels, n_classes).

    Empty rows and columns do not count towards the degrees of freedom. A table with one row or one
    column left has p = 1.
    """
    rows, columns, size = counts.sum(axis=2), counts.sum(axis=1), counts.sum(axis=(1, 2))
    expected = rows[:, :, np.newaxis] * columns[:, np.newaxis, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = counts * np.log(counts * size[:, np.newaxis, np.newaxis] / expected)
    statistic = 2.0 * np.where(counts > 0, terms, 0.0).sum(axis=(1, 2))
    freedom = ((rows > 0).sum(axis=1) - 1) * ((columns > 0).sum(axis=1) - 1)
    return np.where(freedom > 0, chi2.sf(statistic, np.maximum(freedom, 1)), 1.0)


@dataclass(frozen=True)
class PairInformation:
    """What the tables (f, k, Y) of one column f with several columns k say.

    Attributes
    ----------
    mutual_information : ndarray
        I(f;k).
    of_one_given_other : ndarray
        I(f;Y|k): what f tells about Y that k does not.
    of_other_given_one : ndarray
        I(k;Y|f).
    given_class : ndarray
        I(f;k|Y).
    """

    mutual_information: Floats
    of_one_given_other: Floats
    of_other_given_one: Floats
    given_class: Floats


class Information:
    """Everything that counts of packed columns say, in nats. Columns go by their packed index.

    Parameters
    ----------
    packed : PackedColumns
    threads : Threads
        Large questions are answered in pieces. The pieces do not change a bit of the answer.
    """

    def __init__(self, packed: PackedColumns, threads: Threads) -> None:
        self.packed = packed
        self._threads = threads
        self._nlogn = nlogn_table(packed.layout.n_samples)
        levels = packed.arrays.levels.astype(np.int64)
        n_classes = packed.layout.n_classes
        self._sums = column_sums(packed.arrays.class_counts, levels, n_classes, self._nlogn)
        self._class_sum = self._nlogn.table[packed.layout.totals].sum()
        self.entropy, self.relevance = column_information(self._sums, packed.layout.totals)

    def pairs(self, f: int, others: NDArray[np.int64]) -> PairInformation:
        """Confront one column with several others: one joint table of counts each."""
        indices = others.astype(np.uint64)
        sums = np.empty((len(others), 2), np.int64)
        pieces = self._pieces(f, len(others))
        self._threads.map(
            lambda piece: pair_sums(
                self.packed.arrays, np.uint64(f), indices[piece], self._nlogn.table, sums[piece]
            ),
            pieces,
        )
        whole = self._nlogn.table[-1]
        f_pooled, f_by_class = self._sums[f]
        k_pooled, k_by_class = self._sums[others, 0], self._sums[others, 1]
        both, both_by_class = sums[:, 0], sums[:, 1]
        return PairInformation(
            mutual_information=self._nats(both - f_pooled - k_pooled + whole),
            of_one_given_other=self._nats(both_by_class - both - k_by_class + k_pooled),
            of_other_given_one=self._nats(both_by_class - both - f_by_class + f_pooled),
            given_class=self._nats(both_by_class - f_by_class - k_by_class + self._class_sum),
        )

    def joint_counts(self, f: int, k: int) -> NDArray[np.int64]:
        """Counts of two columns: an array of shape (n_classes, levels of f, levels of k)."""
        arrays = self.packed.arrays
        levels_f, levels_k = int(arrays.levels[f]), int(arrays.levels[k])
        out = np.empty((self.packed.layout.n_classes, levels_f * levels_k), np.int64)
        joint_counts(arrays, np.uint64(f), np.uint64(k), out)
        return out.reshape(-1, levels_f, levels_k)

    def _nats(self, sums: NDArray[np.int64]) -> Floats:
        return _nats(sums, self._nlogn)

    def _pieces(self, f: int, n_others: int) -> list[slice]:
        planes = float(self.packed.arrays.levels[f])
        work = n_others * planes * planes * self.packed.layout.n_words
        count = self._threads.count if work > _THREAD_WORTH else 1
        bounds = np.linspace(0, n_others, count + 1).astype(int)
        return [slice(begin, end) for begin, end in itertools.pairwise(bounds)]


def _nats(sums: NDArray[np.int64], nlogn: NLogN) -> Floats:
    """Integer sums of n log n to nats a sample; what rounding left below zero is zero."""
    return np.maximum(sums, 0) / (nlogn.scale * nlogn.n_samples)
