"""Intervals of BNSLFSRegressor are wider by what unknown values would have added."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from slfs import MRMR, SLFS, BNSLFSRegressor
from slfs.measures import squared
from slfs.measures.squared import fit_squared
from slfs.saving import load, save
from slfs.selectors._shared import additive_numbers

pytestmark = pytest.mark.filterwarnings("ignore::slfs.UnseenValueWarning")

NAMES = ["size", "city", "age", "rooms"]


def houses(n_samples, seed=0):
    """Four columns without missing values; two of them are correlated, and two interact."""
    rng = np.random.default_rng(seed)
    size = rng.normal(size=n_samples)
    X = pd.DataFrame(
        {
            "size": size,
            "city": rng.choice(["Rome", "Oslo", "Bonn"], n_samples, p=[0.5, 0.3, 0.2]),
            "age": rng.integers(0, 90, n_samples).astype(float),
            "rooms": size + rng.normal(0, 0.7, n_samples),
        }
    )
    city = X["city"].map({"Rome": 2.0, "Oslo": 0.0, "Bonn": -2.0})
    y = 2 * X["size"] + X["rooms"] + city + np.where(X["city"] == "Rome", 0.07, 0.02) * X["age"]
    return X, y + rng.normal(0, 0.5, n_samples)


def without(X, *names):
    return X.assign(**dict.fromkeys(names))


@pytest.fixture(scope="module")
def fitted():
    """A regressor that uses all four columns, with tables of edges."""
    regressor = BNSLFSRegressor(MRMR(n_features_to_select=4)).fit(*houses(1500))
    assert sorted(regressor.network_.names) == sorted(NAMES)
    assert (regressor.parents_ >= 0).any()
    return regressor


@pytest.mark.parametrize("unknown", [*([name] for name in NAMES), ["city", "age"], NAMES])
def test_intervals_cover_new_samples_with_unknown_values(fitted, unknown):
    X, y = houses(4000, seed=1)
    lower, upper = fitted.predict_interval(without(X, *unknown), coverage=0.9).T
    assert 0.85 < np.mean((lower <= y) & (y <= upper)) < 0.97


@pytest.mark.parametrize("coverage", [0.95, 0.99, 0.995])
def test_large_coverages(coverage):
    """Groups of 50 samples have too few residuals; those of all samples are enough."""
    covered = []
    for seed in range(8):
        regressor = BNSLFSRegressor(MRMR(n_features_to_select=4)).fit(*houses(400, seed))
        X, y = houses(4000, seed=100 + seed)
        lower, upper = regressor.predict_interval(X, coverage).T
        covered.append(np.mean((lower <= y) & (y <= upper)))
    assert coverage - 0.01 < np.mean(covered) < (1 + 2 * coverage) / 3 + 0.005


@pytest.mark.parametrize("seed", [0, 2, 5])
def test_intervals_with_a_frequent_value_contain_it(seed):
    """The lower end was just above 0, and 14% of the targets were below it, for any coverage."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(3000, 5))
    y = random.exponential(np.exp(0.6 * X[:, 0] + 0.3 * X[:, 1])) * (random.random(3000) >= 0.3)
    regressor = BNSLFSRegressor().fit(X[:2000], y[:2000])
    for coverage in (0.9, 0.95, 0.99):
        lower, upper = regressor.predict_interval(X[2000:], coverage).T
        inside = (lower <= y[2000:]) & (y[2000:] <= upper)
        assert inside.mean() > coverage - 0.015
    assert regressor._additive.frequent.tolist() == [0.0]
    assert BNSLFSRegressor().fit(X, X[:, 0] + X[:, 1])._additive.frequent.size == 0


def test_intervals_of_rounded_targets_are_not_wider():
    X = np.random.default_rng(0).normal(size=(4000, 6))
    y = (20 + 4 * X[:, 0] + 2 * X[:, 1] + 4 * np.random.default_rng(1).normal(size=4000)).round()
    regressor = BNSLFSRegressor().fit(X[:1000], y[:1000])
    for coverage in (0.1, 0.5, 0.8, 0.9):
        lower, upper = regressor.predict_interval(X[1000:], coverage).T
        inside = np.mean((lower <= y[1000:]) & (y[1000:] <= upper))
        assert coverage - 0.03 < inside < coverage + 0.06


@pytest.mark.parametrize("seed", [0, 7, 17])
def test_intervals_with_unknown_values_contain_a_frequent_target(seed):
    """They ended just above 0, the target of 60% of the samples."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(5000, 4))
    zero = random.random(5000) < 1 / (1 + np.exp(X[:, 0] - 0.5))
    y = np.where(zero, 0, random.exponential(5, 5000) + 1 + X[:, 1].clip(0))
    regressor = BNSLFSRegressor().fit(X[:1000], y[:1000])
    X[:, 0] = np.nan
    lower, upper = regressor.predict_interval(X[1000:]).T
    assert np.mean((lower <= y[1000:]) & (y[1000:] <= upper)) > 0.88


def test_a_coverage_that_the_samples_do_not_allow():
    X, y = houses(159)
    regressor = BNSLFSRegressor(MRMR(n_features_to_select=4)).fit(X, y)
    widths = [np.ptp(regressor.predict_interval(X, coverage), axis=1) for coverage in (0.9, 0.95, 0.98)]
    with pytest.warns(UserWarning, match=r"coverage=0\.999 is too large .* contain about 98\.8%"):
        widths.append(np.ptp(regressor.predict_interval(X, 0.999), axis=1))
    assert (np.diff(widths, axis=0) >= 0).all()


def test_intervals_of_known_values_do_not_depend_on_other_samples(fitted):
    X, _ = houses(300, seed=2)
    some = X.copy()
    some.loc[::3, "city"] = None
    some.loc[::5, ["size", "age"]] = np.nan
    known = some.notna().all(axis=1)
    np.testing.assert_array_equal(
        fitted.predict_interval(some)[known], fitted.predict_interval(X)[known]
    )
    widths = np.ptp(fitted.predict_interval(some), axis=1)
    assert widths[~known].min() > widths[known].max()


@pytest.mark.parametrize("unknown", [*([name] for name in NAMES), ["size", "age"], NAMES])
def test_half_widths_add_like_standard_deviations(unknown, monkeypatch):
    monkeypatch.setattr(additive_numbers, "_GROUPS", 1)  # residuals do not depend on the prediction
    X, y = houses(900)
    regressor = BNSLFSRegressor(MRMR(n_features_to_select=4)).fit(X, y)
    less = without(X, *unknown)
    missed = (regressor.predict(X) - regressor.predict(less)).std()
    assert missed > 0
    assert (regressor.parents_ >= 0).any(), "unknown values at one end of an edge matter, too"
    for coverage in (0.5, 0.9):
        known = np.abs(regressor.predict_interval(X, coverage) - regressor.predict(X)[:, np.newaxis])
        found = regressor.predict_interval(less, coverage) - regressor.predict(less)[:, np.newaxis]
        expected = np.hypot(known, norm.ppf((1 + coverage) / 2) * missed)
        np.testing.assert_allclose(np.abs(found), expected)


def test_integer_weights_are_repeated_rows():
    X, y = houses(200)
    weights = np.random.default_rng(0).integers(0, 4, len(y))
    rows = np.repeat(np.arange(len(y)), weights)
    weighted = BNSLFSRegressor(MRMR(n_features_to_select=4)).fit(X, y, sample_weight=weights)
    repeated = BNSLFSRegressor(MRMR(n_features_to_select=4)).fit(X.iloc[rows], y.iloc[rows])
    less = without(X, "size")
    np.testing.assert_allclose(weighted.predict_interval(less), repeated.predict_interval(less))


def test_uneven_weights_count():
    X, y = houses(1000)
    weights = np.where(X["city"] == "Rome", 1.5, 0.25)  # as if most houses were in Rome
    regressor = BNSLFSRegressor(MRMR(n_features_to_select=4)).fit(X, y, sample_weight=weights)
    less = regressor._encode(without(X, "city"))
    missed = regressor.predict(X) - regressor._predict(less)
    expected = np.sqrt(np.average(missed**2, weights=weights))
    found = regressor._additive._deviations(less, np.arange(10))
    np.testing.assert_allclose(found, expected, rtol=0.02)
    assert np.sqrt(np.mean(missed**2)) > 1.1 * expected


def test_many_columns_have_few_factors(monkeypatch):
    rng = np.random.default_rng(0)
    codes, y = rng.integers(0, 3, (80, 400)).astype(np.uint8), rng.normal(size=400)
    y += codes[:20].sum(axis=0)
    levels, others = np.full(80, 3), np.full(80, -1)
    exact = fit_squared(codes, levels, others, y).spread
    monkeypatch.setattr(squared, "MOST_FACTORS", 60)
    few = fit_squared(codes, levels, others, y).spread
    assert exact.shape == (80, 2, 80)
    assert few.shape == (60, 2, 80)
    for unknown in (slice(0, 80), slice(0, 5), slice(10, 30)):
        lengths = [np.linalg.norm(spread[:, 0, unknown].sum(axis=1)) for spread in (exact, few)]
        assert lengths[1] == pytest.approx(lengths[0], rel=0.3)


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_targets_of_any_size(scale):
    X, y = houses(300)
    regressor, less = BNSLFSRegressor(SLFS(n_features_to_select=3)), without(X, *NAMES)
    expected = regressor.fit(X, y).predict_interval(less)
    np.testing.assert_allclose(regressor.fit(X, y * scale).predict_interval(less) / scale, expected)


def test_files_and_reduced_models_have_the_same_intervals(tmp_path):
    X, y = houses(300)
    X["noise"] = np.random.default_rng(0).normal(size=300)
    fitted = BNSLFSRegressor(MRMR(n_features_to_select=3)).fit(X, y)
    names = fitted.feature_names_in_[fitted.selector_.support_]
    save(fitted.reduce(), tmp_path / "model.slfs")
    less = without(X, "city", "rooms")
    found = load(tmp_path / "model.slfs").predict_interval(less[names])
    np.testing.assert_array_equal(found, fitted.predict_interval(less))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda spread: np.full_like(spread, np.nan), "the spread is infinite"),
        (lambda spread: spread[:, :1], "the spread is float64"),
        (lambda spread: spread[..., 1:], "the spread is float64"),
        (lambda _: 1.0, "the spread is float"),
    ],
)
def test_forged_files_are_refused(change, message, tmp_path):
    regressor = BNSLFSRegressor(MRMR(n_features_to_select=2)).fit(*houses(200))
    tables = regressor._additive
    object.__setattr__(tables, "spread", change(tables.spread))
    with pytest.raises(ValueError, match=message):
        save(regressor, tmp_path / "forged.slfs")
