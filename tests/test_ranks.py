"""Rank tests of columns of numbers: equal to SciPy's for large classes, exact moments, valid tails."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betaincc, gammaincc
from scipy.stats import beta, chi2, gamma, kruskal, mannwhitneyu, rankdata

from slfs.coding.numbers import make_runs
from slfs.coding.rank_kernels import summarize_ranks
from slfs.counting.planes import SampleLayout
from slfs.measures.contingency import log_factorials
from slfs.measures.moments import beta_tails, gamma_tails
from slfs.measures.ranks import MOST_KURTOSIS, TIED_KURTOSIS, UPPER_END, RankSummary, rank_p_values
from slfs.tables.table import dense_block


def rank_p_value(column, y):
    """The p-value of a single column."""
    layout = SampleLayout.from_class_codes(np.asarray(y), int(np.max(y)) + 1)
    values = np.asarray(column, float)[layout.order]
    return rank_tests(values[np.newaxis], layout)[0]


def rank_tests(values, layout):
    """The p-values of several columns, samples sorted by class."""
    runs, missing = make_runs(dense_block(values), layout)
    out = np.empty((7, len(values)))
    summarize_ranks(runs, layout.totals - missing, log_factorials(layout.n_samples), out)
    return rank_p_values(RankSummary(*out))


def explained_share(column, y):
    """Share of the variance of the ranks that the classes explain."""
    ranks = rankdata(column) - (len(column) + 1) / 2
    return sum(ranks[y == c].sum() ** 2 / (y == c).sum() for c in set(y.tolist())) / (ranks**2).sum()


def naive_p_value(column, y):
    """The moments of all permutations, by enumeration, and a beta distribution that has them."""
    shares = [explained_share(column, np.array(order)) for order in itertools.permutations(y.tolist())]
    mean, variance = np.mean(shares), np.var(shares)
    if variance < 1e-20:
        return 1.0
    ranks = rankdata(column) - (len(y) + 1) / 2
    if len(y) * (ranks**4).sum() / (ranks**2).sum() ** 2 > MOST_KURTOSIS:
        tail = gamma.sf(explained_share(column, y), mean**2 / variance, scale=variance / mean)
    else:
        mean, variance = mean / UPPER_END, variance / UPPER_END**2
        total = mean * (1 - mean) / variance - 1
        tail = beta.sf(explained_share(column, y) / UPPER_END, mean * total, (1 - mean) * total)
    sizes, ties = np.bincount(y), np.unique(column, return_counts=True)[1]
    if sizes.min() * (1 - ties.max() / len(y)) < min(5, 0.25 * sizes.mean()):  # a rare class
        within, between = (len(y) - len(sizes)) / 2, (len(sizes) - 1) / 2
        tail = max(tail, beta.sf(explained_share(column, y), between, within))
    values = np.unique(column)
    table = np.array([[np.sum((column == v) & (y == c)) for c in set(y.tolist())] for v in values])
    margins = [*table.sum(axis=0), *table.sum(axis=1)]
    floor = sum(math.lgamma(m + 1) for m in margins) - math.lgamma(len(y) + 1)
    floor = math.exp(floor - sum(math.lgamma(n + 1) for n in table.flat))
    sizes = sizes.tolist()
    mirrored = math.prod(math.factorial(sizes.count(size)) for size in set(sizes))
    if len(values) == len(column):
        mirrored = max(mirrored, 2)
    return min(1.0, max(tail, floor * mirrored))


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2)), min_size=4, max_size=7))
def test_equal_to_the_moments_of_all_permutations(samples):
    column, y = (np.array(part) for part in zip(*samples, strict=True))
    _, y = np.unique(y, return_inverse=True)
    found = rank_p_value(column, y)
    if math.isnan(found):
        ranks = rankdata(column) - (len(y) + 1) / 2
        tied = len(set(column.tolist())) == 1 or (
            len(y) * (ranks**4).sum() / (ranks**2).sum() ** 2 > TIED_KURTOSIS
        )
        assert tied or y.max() == 0
    else:
        assert found == pytest.approx(naive_p_value(column, y), rel=1e-9)


def test_equal_to_scipy_for_large_classes():
    random = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [300, 500, 700])
    for shift in (0.0, 0.05, 0.1):
        column = (random.normal(size=1500) + shift * y).round(2)
        expected = kruskal(*(column[y == c] for c in range(3))).pvalue
        assert rank_p_value(column, y) == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("sizes", [(2, 2), (3, 3), (3, 4), (5, 5), (6, 6), (2, 9), (4, 8)])
def test_separated_classes_have_the_exact_p_value_of_a_rank_test(sizes):
    first, second = np.arange(sizes[0]), np.arange(sizes[0], sum(sizes))
    exact = mannwhitneyu(first, second, method="exact").pvalue
    found = rank_p_value(np.concatenate([first, second]), np.repeat([0, 1], sizes))
    assert exact * 0.999 < found < exact * 1.2


def test_missing_values_are_left_out():
    random = np.random.default_rng(1)
    y = random.integers(0, 3, 60)
    column = random.normal(size=60) + y
    incomplete = np.where(random.random(60) < 0.3, np.nan, column)
    kept = ~np.isnan(incomplete)
    assert rank_p_value(incomplete, y) == pytest.approx(rank_p_value(column[kept], y[kept]), rel=1e-12)


def test_columns_with_too_many_ties_are_not_tested():
    y = np.repeat([0, 1], [10, 90])
    assert math.isnan(rank_p_value(np.arange(100) < 5, y))
    assert math.isnan(rank_p_value(np.zeros(100), y))
    assert math.isnan(rank_p_value(np.full(100, np.nan), y))
    assert not math.isnan(rank_p_value(np.arange(100) < 40, y))
    assert not math.isnan(rank_p_value(np.arange(1000) < 100, np.arange(1000) % 2)), "large classes"


@pytest.mark.parametrize(
    "sizes", [(10, 10), (4, 16), (30, 30), (1, 2, 2, 3, 4, 5, 6, 7), (4, 5, 6, 6, 7, 8, 9, 12)]
)
def test_small_p_values_are_not_too_small(sizes):
    """A hundred thousand columns of noise: p <= a with probability of at most about a."""
    random = np.random.default_rng(0)
    y = np.repeat(np.arange(len(sizes)), sizes)
    layout = SampleLayout.from_class_codes(y, len(sizes))
    noise = (random.random((20_000, len(y))) for _ in range(5))
    found = np.concatenate([rank_tests(values, layout) for values in noise])
    for level in (0.1, 0.05, 0.01, 1e-3):
        spread = 4 * math.sqrt(level / len(found))
        assert np.mean(found <= level) <= 1.2 * level + spread
    assert np.mean(found <= 0.05) > 0.04, "and not too large either"


@given(st.floats(0.05, 500), st.floats(0.05, 5e5), st.floats(0, 1))
def test_beta_tails_are_those_of_scipy(a, b, x):
    mean, variance = a / (a + b), a * b / (a + b) ** 2 / (a + b + 1)
    out = np.empty(1)
    beta_tails(np.array([x]), np.array([mean]), np.array([variance]), out)
    assert out[0] == pytest.approx(betaincc(a, b, x), rel=1e-7, abs=1e-11 if out[0] < 0.5 else 1e-9)


@given(st.floats(0.05, 5000), st.floats(0, 8))
def test_gamma_tails_are_those_of_scipy(shape, factor):
    out = np.empty(1)
    gamma_tails(np.array([shape * factor]), np.array([shape]), np.array([shape]), out)
    assert out[0] == pytest.approx(gammaincc(shape, shape * factor), rel=1e-8, abs=1e-300)


def test_far_tails_keep_their_accuracy():
    out = np.empty(2)
    gamma_tails(np.array([900.0, 3000.0]), np.array([3.0, 26.0]), np.array([6.0, 52.0]), out)
    np.testing.assert_allclose(out, chi2.sf([900, 3000], [3, 26]), rtol=1e-9)
    beta_tails(np.array([0.9, 0.5]), np.full(2, 0.01), np.full(2, 1e-4), out)
    total = 0.01 * 0.99 / 1e-4 - 1
    np.testing.assert_allclose(out, betaincc(0.01 * total, 0.99 * total, [0.9, 0.5]), rtol=1e-9)
    assert 0 < out[0] < 1e-80
