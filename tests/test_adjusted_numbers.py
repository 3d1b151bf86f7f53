"""p-values of a continuous target given covariates: those of an analysis of covariance, calibrated."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import f as f_distribution
from scipy.stats import rankdata

from slfs import SLFS
from slfs.evaluation.significance import p_values
from slfs.measures.adjusted_numbers import centred_ranks, fit_number_covariates


def residual_squares(design, target):
    fitted = design @ np.linalg.lstsq(design, target, rcond=None)[0]
    return float(((target - fitted) ** 2).sum())


def dummies(codes):
    return (codes[:, np.newaxis] == np.unique(codes)[1:]).astype(float)


def covariance_analysis(levels, codes, numbers, target):
    """The F test of the levels in a linear model of ranks, with all dummy variables written out."""
    ranks = [rankdata(row)[:, np.newaxis] for row in numbers]
    alone = np.column_stack([np.ones(len(target)), *map(dummies, codes), *ranks])
    whole = np.column_stack([alone, dummies(levels)])
    n_alone, n_whole = map(np.linalg.matrix_rank, (alone, whole))
    small, large = residual_squares(whole, target), residual_squares(alone, target)
    left = len(target) - n_whole
    statistic = (large - small) / (n_whole - n_alone) / (small / left)
    return f_distribution.sf(statistic, n_whole - n_alone, left)


@given(st.integers(0, 10_000), st.integers(2, 4), st.booleans())
def test_equal_to_an_analysis_of_covariance(seed, n_levels, number):
    random = np.random.default_rng(seed)
    n_samples = 120
    age, levels = random.normal(size=n_samples), random.integers(0, n_levels, n_samples)
    group = random.integers(0, 3, n_samples).astype(np.uint8)
    bins = np.searchsorted([-0.5, 0.5], age).astype(np.uint8)
    y = age + 0.3 * levels + random.normal(size=n_samples)
    target = (2 * rankdata(y) - n_samples - 1).astype(np.int64)
    numbers = age[np.newaxis] if number else np.empty((0, n_samples))
    codes = [group, bins]
    model = fit_number_covariates(codes, centred_ranks(numbers), target, (y > 0).astype(int))
    expected = covariance_analysis(levels, codes, numbers, target.astype(float))
    assert model.test(levels.astype(np.uint8)[np.newaxis])[0] == pytest.approx(expected, rel=1e-4)


def test_a_covariate_that_determines_the_column_leaves_nothing_to_test():
    group = np.repeat(np.arange(4, dtype=np.uint8), 20)
    target = np.arange(-79, 80, 2)
    model = fit_number_covariates([group], np.empty((0, 80)), target, (target > 0).astype(int))
    assert model.test(np.stack([group // 2, group])).tolist() == [1.0, 1.0]


def test_the_numbers_are_tested_and_not_their_bins():
    """Exchanging the targets within each bin must change the p-value."""
    random = np.random.default_rng(0)
    c, x = random.normal(size=(2, 300))
    y = c + 0.3 * x + random.normal(size=300)
    X = pd.DataFrame({"c": c, "x": x})
    selector = SLFS(condition_on=["c"]).fit(X, y)
    assert selector.pvalues_[1] < 1e-5
    bins = np.digitize(y, selector.target_bins_["lower"][1:])
    shuffled = y.copy()
    for number in np.unique(bins):
        own = np.flatnonzero(bins == number)
        shuffled[own] = random.permutation(y[own])
    assert SLFS(condition_on=["c"]).fit(X, shuffled).pvalues_[1] > 1e-4


@pytest.mark.parametrize("n_samples", [20, 300])
@pytest.mark.parametrize("strength", [1, 3])
def test_calibrated_if_a_number_explains_both_sides(n_samples, strength):
    """Intervals alone leave some of its influence: without ranks, 18% of p-values were below 5%."""
    small = []
    for seed in range(4):
        random = np.random.default_rng(seed)
        c = random.normal(size=n_samples)
        X = pd.DataFrame(c[:, np.newaxis] + random.normal(size=(n_samples, 250)))
        X.columns = X.columns.map(str)
        y = strength * c + random.normal(size=n_samples)
        found = p_values(X.assign(c=c), y, condition_on=["c"], target="regression")[:250]
        small.append((found <= 0.05).mean())
    assert 0.02 <= np.mean(small) <= 0.075


def test_ties_of_both_sides_are_tested_by_bins():
    random = np.random.default_rng(0)
    rare = random.random(200) < 0.03
    X = pd.DataFrame({"rare": rare, "sex": random.integers(0, 2, 200)})
    y = np.where(random.random(200) < 0.04, random.random(200), 0.0)
    y[rare] = 0.0
    y[np.flatnonzero(rare)[0]] = 1.0
    found = p_values(X, y, condition_on=["sex"], target="regression")[0]
    assert 0.01 < found <= 1


@pytest.mark.parametrize("continuous", [False, True])
def test_a_few_missing_values_do_not_cost_the_power(continuous):
    """The other numbers are still cut by their ranks less what the covariate explains."""
    found = {}
    for n_missing in (0, 1, 4, 12):
        small = []
        for seed in range(20):
            random = np.random.default_rng(seed)
            batch, y = np.arange(80) % 4, np.repeat([0.0, 1.0], 40)
            x = 3 * batch + random.normal(size=80) + y
            if continuous:
                y = batch + 0.7 * (x - 3 * batch) + random.normal(size=80)
            x[random.choice(80, n_missing, replace=False)] = np.nan
            X = pd.DataFrame({"x": x, "batch": batch.astype(str)})
            kind = "regression" if continuous else "classification"
            small.append(p_values(X, y, condition_on="batch", target=kind)[0] <= 0.05)
        found[n_missing] = np.mean(small)
    assert min(found.values()) >= found[0] - 0.15
    assert found[0] >= 0.7


def test_noise_beside_a_covariate_is_not_said_to_be_explained_by_it():
    random = np.random.default_rng(27)
    y, x = np.repeat(["a", "b"], 60), random.normal(size=120)
    x[random.choice(np.arange(60, 120), 7, replace=False)] = 3 + random.random(7)
    X = pd.DataFrame({"gene": x, "batch": random.choice(["u", "v"], 120)})
    selector = SLFS(condition_on="batch")
    with pytest.warns(UserWarning, match="selected 0 of"):
        selector.fit(X, y)
    assert p_values(X[["gene"]], y)[0] < 0.05 < selector.pvalues_[0]
    assert selector.features_["role"][0] == "irrelevant"
    assert "given 'batch' it is not significant" in selector.explain("gene")


@pytest.mark.parametrize("target", ["classification", "regression"])
def test_columns_without_values_given_covariates(target):
    random = np.random.default_rng(0)
    X = pd.DataFrame({"c": random.normal(size=200), "x": random.normal(size=200), "empty": np.nan})
    y = np.round(X["c"] + random.normal(size=200))
    for known in (["c"], ["c", "empty"]):
        found = p_values(X, y, condition_on=known, target=target)
        assert np.isnan(found[0])
        assert found[1] > 0.001


@pytest.mark.parametrize("n_groups", [6, 40])
def test_nothing_is_left_where_a_covariate_determines_the_target(n_groups):
    """What rounding leaves of the ranks must not be tested."""
    random = np.random.default_rng(0)
    group, value = random.integers(0, n_groups, 500), random.normal(size=n_groups)
    X = pd.DataFrame(value[group][:, np.newaxis] + 0.5 * random.normal(size=(500, 30)))
    X.columns = X.columns.map(str)
    X["group"] = group.astype(str)
    found = p_values(X, value[group], condition_on=["group"], target="regression")
    np.testing.assert_array_equal(found[:30], 1.0)
    numbers = X.drop(columns="group").assign(y=value[group])
    found = p_values(numbers, value[group], condition_on=["y"], target="regression")
    np.testing.assert_array_equal(found[:30], 1.0)
