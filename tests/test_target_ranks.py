"""P-values against a continuous target are those of rank tests: valid, and the same in any block."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from slfs import SLFS
from slfs.evaluation.significance import assess, p_values
from slfs.measures.target_ranks import group_p_values, target_moments
from slfs.screening.plan import BlockLimits, block_limits
from slfs.tables.target import centered_ranks


def exact_p_values(x, y):
    """Enumerate all permutations: p-values of Spearman's test and of y over the quartiles of x."""
    a, s = centered_ranks(x), centered_ranks(y)
    group = (a + len(x)) * 4 // (2 * len(x))
    sizes = np.bincount(group)
    group[np.isin(group, np.flatnonzero(sizes == 1))] = 4  # single samples are pooled
    groups = [group == level for level in np.unique(group)]
    permuted = s[np.array(list(itertools.permutations(range(len(y)))))]
    products = (permuted @ a) ** 2
    between = sum(permuted[:, own].sum(axis=1) ** 2 / own.sum() for own in groups)
    return float((products >= products[0]).mean()), float((between >= between[0] - 1e-9).mean())


def test_the_tests_are_nearly_exact_for_eight_samples():
    random = np.random.default_rng(0)
    for shift in np.linspace(0, 3, 12):
        x = random.normal(size=8)
        y = shift * x + random.normal(size=8)
        correlation, groups = exact_p_values(x, y)
        (found,) = p_values(x.reshape(-1, 1), y)
        assert found == pytest.approx(min(correlation / 0.75, groups / 0.25, 1), abs=0.02, rel=0.15)


def test_two_levels_are_tested_as_by_mann_and_whitney():
    random = np.random.default_rng(1)
    for shift in (0, 1, 2):
        level = np.repeat(["u", "v"], 12)
        y = random.normal(size=24) + shift * (level == "v")
        exact = stats.mannwhitneyu(y[:12], y[12:], method="exact").pvalue
        X = pd.DataFrame({"text": level, "number": (level == "v") * 1.0})
        text, number = p_values(X, y)
        assert text == pytest.approx(exact, rel=0.25, abs=0.01)
        assert number == text, "two values are two levels, and no error rate is lost"


def test_p_values_are_near_those_of_scipy():
    """A tenth of the error rate goes to the bins, and a quarter of the rest to the quartiles."""
    random = np.random.default_rng(2)
    y = random.normal(size=300)
    monotone = np.exp(y + random.normal(size=300) * 4)
    level = random.integers(0, 4, 300)
    X = pd.DataFrame({"monotone": monotone, "level": np.array(list("abcd"))[level]})
    X["gaps"] = np.where(random.random(300) < 0.3, np.nan, monotone)
    found = dict(zip(X.columns, p_values(X, y + 0.2 * level), strict=True))
    target = y + 0.2 * level
    seen, share = X["gaps"].notna(), 0.75 * 0.9
    spearman = stats.spearmanr(monotone, target).pvalue
    assert found["monotone"] == pytest.approx(spearman / share, rel=0.05)
    spearman = stats.spearmanr(X["gaps"][seen], target[seen]).pvalue
    assert found["gaps"] == pytest.approx(spearman / share, rel=0.1)
    kruskal = stats.kruskal(*(target[level == k] for k in range(4))).pvalue
    assert found["level"] == pytest.approx(kruskal / 0.9, rel=0.1)


def test_other_shapes_and_missing_values_are_found():
    random = np.random.default_rng(3)
    y = random.normal(size=200)
    X = pd.DataFrame({"square": y**2 + random.normal(size=200) * 0.3})  # y: positive or negative
    X["bump"] = np.where(np.abs(y) < 0.7, random.normal(size=200), 3 + random.normal(size=200))
    X["gaps"] = np.where(y + random.normal(size=200) > 1, np.nan, random.normal(size=200))
    X["noise"] = random.normal(size=200)
    found = p_values(X.assign(hat=-np.abs(X["noise"])), np.abs(X["noise"]) + y**2)
    assert found[X.columns.get_loc("square")] < 1e-10
    assert found[-1] < 1e-3
    noise = X["noise"].to_numpy()
    quadratic = noise**2 + random.normal(size=200) * 0.5
    shaped = p_values(noise.reshape(-1, 1), quadratic)[0]
    assert stats.spearmanr(noise, quadratic).pvalue > 0.01
    assert shaped < 1e-4
    assert p_values(X[["gaps"]], y)[0] < 1e-6
    assert p_values(X[["noise"]], y)[0] > 0.01


@pytest.mark.parametrize("n_values", [4, 40])
def test_a_value_of_most_samples_does_not_hide_the_others(n_values):
    random = np.random.default_rng(4)
    x = np.where(random.random(400) < 0.9, 0, random.integers(1, n_values, 400)) * 1.0
    y = random.normal(size=400) + 2 * ((x > 0) & (x < n_values / 3)) - 2 * (x > 2 * n_values / 3)
    assert stats.spearmanr(x, y).pvalue > 0.001
    assert p_values(x.reshape(-1, 1), y)[0] < 1e-6


def zero_inflated(random, shape, share):
    return np.where(random.random(shape) < share, 0.0, random.exponential(size=shape))


@pytest.mark.parametrize("n_samples", [20, 50, 200])
@pytest.mark.parametrize("target", ["normal", "half zeros", "five values"])
@pytest.mark.parametrize("column", ["normal", "three values", "rare", "gaps", "half zeros", "text"])
def test_noise_is_significant_as_often_as_it_should_be(n_samples, target, column):
    random = np.random.default_rng(n_samples)
    y = {
        "normal": random.normal(size=n_samples),
        "half zeros": zero_inflated(random, n_samples, 0.5),
        "five values": random.integers(0, 5, n_samples) + 0.5,
    }[target]
    shape = (n_samples, 300 if column == "text" else 5000)
    X = {
        "normal": random.normal(size=shape),
        "three values": random.integers(0, 3, shape) * 1.0,
        "rare": (random.random(shape) < 0.05) * 1.0,
        "gaps": np.where(random.random(shape) < 0.3, np.nan, random.normal(size=shape)),
        "half zeros": zero_inflated(random, shape, 0.6),
        "text": np.array(list("abcdefghij"), object)[random.geometric(0.4, shape).clip(max=10) - 1],
    }[column]
    found = p_values(X, y)
    n = len(found)
    for level in (0.05, 0.01, 0.001):
        count = int((found <= level).sum())
        assert stats.binom.sf(count - 1, n, 1.15 * level) > 1e-4, (level, count / n)
    if n_samples == 200 and column in ("normal", "gaps"):
        assert (found <= 0.05).mean() > 0.035, "and not much less often"


def test_rare_levels_of_a_target_with_ties_fall_back_on_its_bins():
    y = np.zeros(400)
    y[:6] = [1.5, 2.5, 3.5, 4.5, 5.5, 6.5]
    level = np.where(np.arange(400) < 5, "rare", "common")
    sizes = np.array([[5, 395]])
    ranks = centered_ranks(y)
    sums = np.array([[ranks[:5].sum(), ranks[5:].sum()]])
    assert np.isnan(group_p_values(sizes, sums, target_moments(ranks)))[0]
    (found,) = p_values(level.reshape(-1, 1).astype(object), y)
    assert found == pytest.approx(1 / math.comb(400, 5) * 6, rel=0.5)


def make_table(n_samples=500):
    random = np.random.default_rng(4)
    y = random.normal(size=n_samples)
    X = pd.DataFrame(random.normal(size=(n_samples, 6)), columns=list("abcdef"))
    X["b"] += y
    X.loc[::7, "b"] = np.nan
    X["c"] = np.round(X["c"] + 0.3 * y, 1)
    X["text"] = np.where(y + random.normal(size=n_samples) > 0, "u", "v")
    X["code"] = random.integers(0, 5, n_samples)
    return X, y


def test_a_monotone_transformation_of_the_target_changes_only_words():
    X, y = make_table()
    given = {"order": "conditional", "irrelevance": "test", "categorical_features": ["code"]}
    selector, other = SLFS(**given).fit(X, y), SLFS(**given).fit(X, np.exp(3 * y) - 5)
    for name in ("indices_", "scores_", "pvalues_", "qvalues_", "support_"):
        np.testing.assert_array_equal(getattr(selector, name), getattr(other, name))
    assert str(selector.network_) == str(other.network_)
    assert [selector.explain(name) for name in X] == [other.explain(name) for name in X]
    down = p_values(X, -y, categorical_features=["code"])
    np.testing.assert_allclose(down, selector.pvalues_, rtol=1e-12)


def test_monotone_transformations_of_columns_change_nothing():
    X, y = make_table()
    other = X.assign(a=np.exp(X["a"]), b=X["b"] ** 3, c=X["c"] * 10 + 1)
    np.testing.assert_allclose(p_values(X, y), p_values(other, y), rtol=1e-12)


def test_p_values_do_not_depend_on_blocks_or_pieces_of_rows():
    X, y = make_table(3000)
    X["fine"] = np.random.default_rng(5).normal(size=3000)
    whole = p_values(X, y, categorical_features=["code"])
    for limits in (BlockLimits(n_columns=1), BlockLimits(n_rows=170), BlockLimits(n_rows=999)):
        with block_limits(limits):
            np.testing.assert_allclose(p_values(X, y, categorical_features=["code"]), whole, rtol=1e-9)
    shuffled = np.random.default_rng(6).permutation(3000)
    again = p_values(X.iloc[shuffled], y[shuffled], categorical_features=["code"])
    np.testing.assert_allclose(again, whole, rtol=1e-9)


def test_sparse_columns_have_the_p_values_of_dense_ones():
    from scipy import sparse

    random = np.random.default_rng(7)
    X = np.where(random.random((200, 8)) < 0.7, 0, random.normal(size=(200, 8)))
    y = X[:, 0] + random.normal(size=200)
    np.testing.assert_array_equal(p_values(sparse.csr_array(X), y), p_values(X, y))


def test_permutations_and_conditional_tests_use_the_bins():
    X, y = make_table()
    found = p_values(X[["a", "b"]], y, n_permutations=199)
    assert found[0] > 0.02
    assert found[1] == 1 / 200
    selector = SLFS().fit(X[::2], y[::2])
    records = assess(selector, X[1::2], y[1::2])
    np.testing.assert_array_equal(records.p_value, p_values(X[1::2], y[1::2]))


def test_one_more_sample_in_a_group_of_its_own_is_no_evidence():
    """A tiny group must not make the tail lighter than that of the other groups."""
    random = np.random.default_rng(3)
    group = random.integers(0, 3, 500)
    y = random.normal(size=500) + 0.9 * (group == 0)
    for size in (1, 2, 3):
        labels = np.where(np.arange(500) < size, 3, group)
        with_rare = p_values(labels[:, np.newaxis].astype(str), y)[0]
        without = p_values(labels[size:, np.newaxis].astype(str), y[size:])[0]
        assert 0.1 < with_rare / without < 10
        as_class = p_values(y[:, np.newaxis], labels)[0]
        assert 0.1 < as_class / p_values(y[size:, np.newaxis], group[size:])[0] < 10
