"""Entropies and information compared with 50 digits of mpmath, for counts that are hard to sum."""

from collections import Counter

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

from slfs import MRMR, SLFS, Chi2Ranking
from slfs._core.threads import Threads
from slfs.coding.cut_kernels import merge_intervals
from slfs.counting.marginals import column_sums
from slfs.counting.nlogn import nlogn_table
from slfs.counting.numba_backend import NumbaBackend
from slfs.counting.planes import SampleLayout
from slfs.counting.store import PlaneStore
from slfs.measures.contingency import independence_p_values
from slfs.measures.independence import _corrected_chi2
from slfs.measures.information import Information, chi2_statistics, column_information
from slfs.selectors._shared.selection import _compact
from tests.helpers import information_of, pack_codes

mpmath.mp.dps = 50


def total(counts):
    """S: the sum of n log n over counts."""
    distinct = Counter(np.asarray(counts).ravel().tolist())
    return mpmath.fsum(many * n * mpmath.log(n) for n, many in distinct.items() if n)


def truth(table):
    """H(f), I(f;Y), I(f;k), I(f;Y|k) of counts of shape (classes, levels of f, levels of k)."""
    size = int(table.sum())
    both, f_class, k_class = table.sum(axis=0), table.sum(axis=2), table.sum(axis=1)
    f, k, classes, whole = both.sum(axis=1), both.sum(axis=0), f_class.sum(axis=1), total(size)
    return {
        "entropy": (whole - total(f)) / size,
        "relevance": (total(f_class) - total(f) - total(classes) + whole) / size,
        "shared": (total(both) - total(f) - total(k) + whole) / size,
        "news": (total(table) - total(both) - total(k_class) + total(k)) / size,
    }


def ours(table):
    """The same figures from samples that have these counts."""
    classes, f, k = np.nonzero(table)
    repeats = table[classes, f, k]
    codes = np.stack([np.repeat(f, repeats), np.repeat(k, repeats)])
    information = information_of(codes, np.repeat(classes, repeats))
    pair = information.pairs(0, np.array([1]))
    return {
        "entropy": information.entropy[0],
        "relevance": information.relevance[0],
        "shared": pair.mutual_information[0],
        "news": pair.of_one_given_other[0],
    }


def check(table, tolerance=1e-12):
    expected, found = truth(table), ours(table)
    for name, value in found.items():
        assert value >= 0, name
        assert abs(mpmath.mpf(float(value)) - expected[name]) < tolerance, name


AWKWARD = {
    "one sample apart": np.array([[[10**6 - 3, 1], [1, 0]], [[0, 0], [0, 1]]]),
    "ten million, nearly all alike": np.array([[[10**7 - 4, 1], [1, 1]], [[0, 0], [0, 1]]]),
    "independent": np.multiply.outer([3, 5], np.multiply.outer([7, 11, 13], [17, 19, 23])) * 50,
    "copies": np.stack([np.diag([10**5, 3, 1]), np.diag([1, 10**5, 7])]),
    "many small cells": np.full((3, 200, 200), 2) + np.arange(3)[:, np.newaxis, np.newaxis],
    "powers of two": 2 ** np.arange(18).reshape(2, 3, 3),
    "primes": np.array([[[2, 3, 5], [7, 11, 13]], [[999983, 1, 17], [19, 23, 999979]]]),
}


@pytest.mark.parametrize("name", AWKWARD)
def test_figures_of_awkward_counts(name):
    check(AWKWARD[name])


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.sampled_from([10, 1000, 10**5]), st.sampled_from([0.01, 0.1, 1.0]))
def test_figures_of_random_counts(seed, size, evenness):
    random = np.random.default_rng(seed)
    shape = tuple(random.integers(2, 9, 3))
    table = random.multinomial(size, random.dirichlet(np.full(np.prod(shape), evenness))).reshape(shape)
    for axis in range(3):  # levels and classes that nobody has are none
        table = np.compress(table.any(axis=tuple({0, 1, 2} - {axis})), table, axis=axis)
    check(table)


@pytest.mark.parametrize(
    "counts", [[[10**7 - 1, 0], [0, 1]], [[1, 2], [3, 10**7 - 6]], [[5 * 10**6, 0]]]
)
def test_columns_of_ten_million_samples(counts):
    counts = np.array(counts)
    size, classes = int(counts.sum()), counts.sum(axis=0)
    sums = column_sums(counts.reshape(-1), np.array([len(counts)]), 2, nlogn_table(size))
    entropy, relevance = column_information(sums, classes)
    expected = truth(counts.T[:, :, np.newaxis])
    assert abs(mpmath.mpf(float(entropy[0])) - expected["entropy"]) < 1e-12
    assert abs(mpmath.mpf(float(relevance[0])) - expected["relevance"]) < 1e-12


@pytest.mark.slow
def test_rounding_is_put_back_where_cells_are_many_and_small():
    """Half a unit in the last place for each of 650 250 cells would be 3e-12."""
    table = np.full((10, 255, 255), 15)
    rest = nlogn_table(int(table.sum())).rest
    assert abs(rest[15]) > 2**12, "else this shows nothing"
    check(table)
    table[:, ::2, 1::2] = 3
    check(table)


@pytest.mark.parametrize("n_classes", [40, 500])
def test_a_copy_has_no_news_among_millions(n_classes):
    """Rounding is corrected in the same way in the sums of a column and in those of it and its copy."""
    random = np.random.default_rng(0)
    f, y = random.integers(0, 255, (1, 10**6)), random.integers(0, n_classes, 10**6)
    information = information_of(np.concatenate([f, f]), y)
    assert information.nlogn.rest.any()
    assert information.pairs(0, np.array([1])).of_one_given_other[0] == 0


def test_sums_of_mutual_information_are_exact_beyond_a_word():
    """The mean over many columns is bitwise that of Python integers."""
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 500)
    codes = np.stack([random.permutation(500) % 100 for _ in range(3)] + [np.arange(500) % 100])
    information = Information(NumbaBackend(pack_codes(codes, y), Threads(1)))
    others = np.arange(3)
    sums, exact = np.zeros((3, 2), np.int64), [0, 0, 0]
    for _ in range(40):
        one = np.zeros((3, 2), np.int64)
        information.add_mutual_information(3, others, one)
        exact = [
            before + int(up) * 2**32 + int(low) for before, (up, low) in zip(exact, one, strict=True)
        ]
        information.add_mutual_information(3, others, sums)
    assert max(exact) > 2**63
    assert not information.to_nats(np.zeros((3, 2), np.int64), 7).any()
    nlogn = information.nlogn
    expected = [value / (nlogn.scale * nlogn.n_samples * 40) for value in exact]
    np.testing.assert_array_equal(information.to_nats(sums, 40), expected)
    np.testing.assert_allclose(
        information.to_nats(sums, 40), information.mutual_information(3, others), rtol=1e-15
    )


@pytest.mark.parametrize("n_columns", [1, 3])
def test_chi2_statistics_are_those_of_scipy(n_columns):
    random = np.random.default_rng(0)
    y = random.integers(0, 3, 300)
    codes = np.stack([random.integers(0, 3 + j, 300) for j in range(3)])[:n_columns]
    statistics, p_values = chi2_statistics(pack_codes(codes, y))
    for index, column in enumerate(codes):
        table = np.zeros((column.max() + 1, 3), np.int64)
        np.add.at(table, (column, y), 1)
        expected = chi2_contingency(table, correction=False)
        assert statistics[index] == pytest.approx(expected.statistic, rel=1e-12)
        assert p_values[index] == pytest.approx(expected.pvalue, rel=1e-9)


def test_a_ranking_of_no_columns_at_all():
    layout = SampleLayout.from_class_codes(np.arange(30) % 3, 3)
    assert [len(part) for part in chi2_statistics(PlaneStore(layout).packed())] == [0, 0]
    assert Chi2Ranking(n_features_to_select=3).fit(np.ones((30, 2)), np.arange(30) % 3).n_features_ == 0


def test_statistics_of_more_than_two_to_the_32_samples():
    small = np.array([[[3, 5], [7, 2]]]) * 10**3
    large = small * 10**7
    assert large.sum() > 2**32
    even = np.full(4, 10**10)
    assert independence_p_values(even, np.array([2]), 2, even.sum())[0] == 1
    assert independence_p_values(large, np.array([2]), 2, large.sum())[0] < 1e-300
    assert _corrected_chi2(large.astype(float)) == pytest.approx(
        _corrected_chi2(small.astype(float)) * 10**7, rel=1e-3
    )
    counts, group = large[0].copy(), np.empty(2, np.int64)
    assert merge_intervals(counts, 100.0, 255, group) == 2, "they differ, however many they are"
    counts = np.array([[10**10, 10**10], [10**10, 10**10]])
    assert merge_intervals(counts, 100.0, 255, group) == 1
    np.testing.assert_array_equal(counts[0], [2 * 10**10] * 2)


def test_counts_beyond_32_bits_keep_their_digits():
    counts = np.array([[[2**33, 1], [0, 5]]])
    assert _compact(counts)[0, 0, 0] == 2**33
    assert _compact(counts // 8).dtype == np.int32


def test_nothing_negative_is_shown():
    """Columns that are independent of the class and of each other, to the last sample."""
    grid = np.stack(np.meshgrid(*[np.arange(3)] * 3), axis=-1).reshape(-1, 3).repeat(7, axis=0)
    X, y = grid[:, :2], grid[:, 2]
    for selector in (SLFS(irrelevance="printed", categorical_features="all"), MRMR(2)):
        fitted = selector.set_params(categorical_features="all").fit(X, y)
        for field in ("relevance", "entropy"):
            assert (fitted.features_[field] >= 0).all()
            assert not np.signbit(fitted.features_[field]).any()
        assert "-" not in fitted.explain(0).replace("'x0'", "")


class RecordingThreads(Threads):
    """Threads that record the pieces of the last question."""

    def map(self, work, pieces):
        self.pieces = list(pieces)
        return super().map(work, self.pieces)


def test_small_questions_are_not_split_and_large_ones_are():
    """15 ns per column, 0.15 ns per word and pair of planes: a second thread is used from 0.3 ms on."""
    codes, y = np.arange(60).reshape(1, -1) % 2, np.arange(60) // 30
    threads = RecordingThreads(3)
    backend = NumbaBackend(pack_codes(codes, y), threads)
    assert backend.packed.layout.n_words == 2

    def ends(n_others):
        threads.pieces = [slice(0, n_others)]  # a small question is answered without the threads
        backend.pair_sums(0, np.zeros(n_others, np.int64))
        return [piece.stop for piece in threads.pieces]

    most = int(300_000 / (15 + 0.15 * 2 * 2 * 2))
    assert ends(most) == [most]
    assert ends(3 * most) == [most, 2 * most, 3 * most]
    assert len(ends(most + 1)) == 3
