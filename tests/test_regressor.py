"""BNSLFSRegressor: its tables are those of a plain least-squares fit; intervals, explanations, files."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.model_selection import GridSearchCV, KFold, train_test_split

from slfs import BNSLFS, MRMR, SLFS, BNSLFSRegressor, StabilitySelection
from slfs.measures import squared
from slfs.measures.squared import fit_squared
from slfs.saving import load, save

ROOT = -1


@pytest.fixture(scope="module")
def diabetes():
    return load_diabetes(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def fitted(diabetes):
    return BNSLFSRegressor(SLFS(n_features_to_select=4)).fit(*diabetes)


def mixed(n_samples=600, seed=0):
    """A table with numbers, categories and missing values; the target depends on three columns."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "size": rng.normal(size=n_samples),
            "city": rng.choice(["Rome", "Oslo", "Bonn"], n_samples),
            "age": rng.integers(0, 90, n_samples).astype(float),
            "noise": rng.normal(size=n_samples),
        }
    )
    X.loc[rng.random(n_samples) < 0.2, "age"] = np.nan
    city = X["city"].map({"Rome": 3.0, "Oslo": 0.0, "Bonn": -2.0})
    y = 2 * (X["size"] > 0) + city + np.where(X["age"].isna(), 4, 0.0) + rng.normal(0, 0.5, n_samples)
    return X, y.rename("price")


def one_hot(codes, n_levels, others):
    """The cells of all tables, as a dense matrix, and which of them belong to pairs."""
    parts = [np.eye(n)[own] for own, n in zip(codes, n_levels, strict=True)]
    pairs = [
        np.eye(n_levels[f] * n_levels[k])[codes[f].astype(int) * n_levels[k] + codes[k]]
        for f, k in enumerate(others)
        if k >= 0
    ]
    of_pair = [False] * sum(n_levels) + [True] * sum(part.shape[1] for part in pairs)
    return np.hstack([*parts, *pairs]), np.array(of_pair)


def centred_ridge(cells, y, penalties):
    cells, y = cells - cells.mean(axis=0), y - y.mean()
    return np.linalg.solve(cells.T @ cells + np.diag(penalties), cells.T @ y)


@pytest.fixture
def made():
    rng = np.random.default_rng(1)
    n_levels, others = np.array([3, 2, 4]), np.array([-1, 0, 0])
    codes = np.array([rng.integers(0, n, 80) for n in n_levels], np.uint8)
    y = codes[0] + 2.0 * (codes[1] == codes[0]) + rng.normal(size=80) + 10
    return codes, n_levels, others, y


def predictions_of(fit, codes, others):
    found = np.full(codes.shape[1], fit.mean)
    for f, table in enumerate(fit.tables):
        found += table[codes[f]]
        if fit.pairs[f] is not None:
            found += fit.pairs[f][codes[f], codes[others[f]]]
    return found


def test_tables_and_residuals_are_those_of_plain_least_squares(made, monkeypatch):
    codes, n_levels, others, y = made
    monkeypatch.setattr(squared, "PENALTIES", (3.0,))
    monkeypatch.setattr(squared, "PAIR_SCALES", (0.5,))
    fit = fit_squared(codes, n_levels, others, y)
    cells, of_pair = one_hot(codes, n_levels, others)
    penalties = np.where(of_pair, 3.0 / 0.25, 3.0)

    def predict(rows, wanted):
        coefficients = centred_ridge(cells[rows], y[rows], penalties)
        return y[rows].mean() + (cells[wanted] - cells[rows].mean(axis=0)) @ coefficients

    everything = np.arange(80)
    expected = predict(everything, everything)
    np.testing.assert_allclose(predictions_of(fit, codes, others), expected)
    np.testing.assert_allclose(fit.predictions, expected)
    for table, own in zip(fit.tables, codes, strict=True):
        assert table[own].mean() == pytest.approx(0, abs=1e-12)
    without = [y[i] - predict(np.delete(everything, i), [i])[0] for i in range(80)]
    # the mean is not penalized, but the cells are centred by all samples: equal up to that
    np.testing.assert_allclose(fit.residuals, without, rtol=0.02, atol=0.02)


def test_the_penalty_has_the_smallest_generalized_cross_validation_error(made):
    codes, n_levels, others, y = made
    fit = fit_squared(codes, n_levels, others, y)
    cells, of_pair = one_hot(codes, n_levels, others)
    cells = cells - cells.mean(axis=0)
    scores = {}
    for scale in squared.PAIR_SCALES:
        used = cells * np.where(of_pair, scale, 1)
        for penalty in squared.PENALTIES:
            hat = used @ np.linalg.inv(used.T @ used + penalty * np.eye(len(of_pair))) @ used.T + 1 / 80
            scores[scale, penalty] = ((y - hat @ y) ** 2).sum() / (1 - np.trace(hat) / 80) ** 2, hat @ y
    best = min(scores, key=lambda key: scores[key][0])
    np.testing.assert_allclose(predictions_of(fit, codes, others), scores[best][1])


def test_many_cells_are_fitted_iteratively(made, monkeypatch):
    codes, n_levels, others, y = made
    monkeypatch.setattr(squared, "MOST_CELLS", 8)  # the pairs do not fit, the columns do not either
    fit = fit_squared(codes, n_levels, others, y)
    assert fit.pairs == [None, None, None]
    cells, of_pair = one_hot(codes, n_levels, np.full(3, ROOT))
    expected = (cells - cells.mean(axis=0)) @ centred_ridge(
        cells, y, np.full(len(of_pair), squared.FIXED_PENALTY)
    )
    np.testing.assert_allclose(predictions_of(fit, codes, others), y.mean() + expected, atol=1e-6)


def test_repeated_samples_in_units_are_the_samples(made):
    codes, n_levels, others, y = made
    once = fit_squared(codes, n_levels, others, y)
    copies = np.full(len(y), 4)
    four = fit_squared(np.repeat(codes, 4, axis=1), n_levels, others, np.repeat(y, 4), copies, unit=4.0)
    for one, other in zip(once.tables, four.tables, strict=True):
        np.testing.assert_allclose(one, other)
    np.testing.assert_allclose(once.residuals, four.residuals)
    np.testing.assert_array_equal(four.weights, 1.0)


def test_columns_of_all_kinds_are_used():
    X, y = mixed()
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    regressor = BNSLFSRegressor().fit(X_train, y_train)
    assert set(regressor.selector_.get_feature_names_out()) == {"size", "city", "age"}
    assert regressor.score(X_test, y_test) > 0.9
    assert regressor.feature_importances_[3] == 0
    assert regressor.feature_importances_.sum() == pytest.approx(1)
    assert regressor.feature_importances_[1] > regressor.feature_importances_[0]


def test_unknown_values_add_nothing():
    X, y = mixed()
    regressor = BNSLFSRegressor().fit(X, y)
    new = X.head(1).copy()
    explained = regressor.explain_prediction(new)
    city = explained.feature_names.index("city")
    new["city"] = "Paris"
    with pytest.warns(UserWarning, match="not seen in fit"):
        without = regressor.explain_prediction(new)
    assert without.contributions[0, city] == 0
    assert not without.known[0, city]
    with pytest.warns(UserWarning, match="not seen in fit"):
        assert regressor.predict(new)[0] == pytest.approx(without.predictions[0])
    assert explained.contributions[0, city] != 0


@pytest.mark.parametrize("coverage", [0.5, 0.9])
def test_intervals_cover_new_samples(diabetes, coverage):
    X, y = diabetes
    inside = []
    for train, test in KFold(5, shuffle=True, random_state=0).split(X):
        regressor = BNSLFSRegressor().fit(X.iloc[train], y.iloc[train])
        ends = regressor.predict_interval(X.iloc[test], coverage)
        predicted = regressor.predict(X.iloc[test])
        assert (ends[:, 0] <= predicted).all()
        assert (predicted <= ends[:, 1]).all()
        inside += ((ends[:, 0] <= y.iloc[test]) & (y.iloc[test] <= ends[:, 1])).tolist()
    assert coverage - 0.06 < np.mean(inside) < coverage + 0.06


def test_intervals_are_wider_where_the_target_varies_more():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (1000, 1))
    y = 10.0 * X[:, 0] + rng.normal(0, np.where(X[:, 0] == 0, 0.1, 3.0))
    widths = np.ptp(BNSLFSRegressor().fit(X, y).predict_interval([[0], [1]]), axis=1)
    assert widths[1] > 10 * widths[0]


def test_intervals_use_the_residuals_of_their_own_prediction():
    """Limits between groups are not hit by rounding errors of the predictions."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x = rng.integers(0, 3, 300)
        y = 10 * x + rng.normal(size=300) * np.array([0.1, 3, 0.1])[x] + rng.normal(0, 100)
        regressor = BNSLFSRegressor(MRMR(n_features_to_select=1)).fit(x[:, np.newaxis], y)
        widths = np.ptp(regressor.predict_interval([[0], [1], [2]]), axis=1)
        assert widths[[0, 2]].max() < 1 < 5 < widths[1], seed


def test_intervals_cover_new_samples_with_weights():
    inside = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        x = rng.integers(0, 3, (240, 6))
        y = x[:, 0] + 0.5 * x[:, 1] + rng.normal(size=240)
        regressor = BNSLFSRegressor(MRMR(n_features_to_select=6))
        regressor.fit(x[:40], y[:40], sample_weight=rng.lognormal(0, 1.2, 40))
        ends = regressor.predict_interval(x[40:])
        inside.append(np.mean((ends[:, 0] <= y[40:]) & (y[40:] <= ends[:, 1])))
    assert 0.88 < np.mean(inside) < 0.95


@pytest.mark.parametrize("coverage", [0, 1, 90, "most", None])
def test_other_coverages_are_refused(fitted, diabetes, coverage):
    with pytest.raises(ValueError, match=f"coverage must be a number between 0 and 1.*{coverage!r}"):
        fitted.predict_interval(diabetes[0], coverage)


def test_contributions_add_up_to_the_prediction(fitted, diabetes):
    X, _ = diabetes
    explained = fitted.explain_prediction(X)
    np.testing.assert_allclose(explained.predictions, fitted.predict(X))
    assert explained.baseline == fitted.baseline_ == pytest.approx(diabetes[1].mean())
    assert len(explained) == len(X)
    assert repr(explained[[1, 5]]) == "RegressionExplanation(2 samples, 4 features)"
    frame = explained[:2].to_frame()
    sums = explained.baseline + frame.groupby("sample")["contribution"].sum()
    np.testing.assert_allclose(sums, fitted.predict(X.head(2)))
    name, level, added = explained.reasons(1)[0][0]
    assert abs(added) == pytest.approx(np.abs(explained.contributions[0]).max())
    text = str(explained)
    assert text.startswith(f"sample 0: predicted {fitted.predict(X.head(1))[0]:.4g}")
    assert name in text
    assert level in text
    assert "... and 437 more samples" in text
    assert str(explained[3]).startswith("sample 3: ")


def test_a_selector_becomes_the_same_regressor(diabetes):
    X, y = diabetes
    selector = SLFS(target="regression", n_features_to_select=4).fit(X, y)
    fitted = BNSLFSRegressor(SLFS(n_features_to_select=4)).fit(X, y)
    np.testing.assert_array_equal(selector.to_regressor().predict(X), fitted.predict(X))
    with pytest.raises(ValueError, match=r"MRMR has not kept: fit BNSLFSRegressor\(selector\)"):
        MRMR(target="regression").fit(X, y).to_regressor()
    with pytest.raises(ValueError, match=r"fitted to classes.*to_classifier"):
        SLFS().fit(X, y > 100).to_regressor()
    with pytest.raises(ValueError, match=r"fitted to a continuous target.*BNSLFSRegressor\(selector\)"):
        selector.to_classifier()
    with pytest.raises(ValueError, match="BNSLFSRegressor predicts them"):
        BNSLFS().fit(X, y + 0.5)
    with pytest.raises(ValueError, match="model needs target='regression'"):
        BNSLFSRegressor(SLFS(target="classification")).fit(X, y)


def test_files_and_reduced_models_predict_the_same(fitted, diabetes, tmp_path):
    X, _ = diabetes
    save(fitted, tmp_path / "model.slfs")
    loaded = load(tmp_path / "model.slfs")
    small = loaded.reduce()
    used = X[small.feature_names_in_]
    assert used.shape[1] == 4
    for model, table in ((loaded, X), (small, used)):
        np.testing.assert_array_equal(model.predict(table), fitted.predict(X))
        np.testing.assert_array_equal(model.predict_interval(table), fitted.predict_interval(X))
        assert model.explain("bmi") == fitted.explain("bmi")


def test_other_selectors_and_searches(diabetes):
    X, y = diabetes
    search = GridSearchCV(BNSLFSRegressor(), {"selector__n_features_to_select": [1, 4]}, cv=3).fit(X, y)
    assert search.best_params_ == {"selector__n_features_to_select": 4}
    for selector in (MRMR(n_features_to_select=3), StabilitySelection(SLFS(), n_subsamples=4)):
        regressor = BNSLFSRegressor(selector).fit(X, y)
        assert regressor.score(X, y) > 0.3
        assert clone(regressor).selector is not selector


def test_integer_weights_are_repeated_rows(diabetes):
    X, y = diabetes
    weights = np.random.default_rng(0).integers(0, 4, len(y))
    rows = np.repeat(np.arange(len(y)), weights)
    selector = MRMR(n_features_to_select=4)
    weighted = BNSLFSRegressor(selector).fit(X, y, sample_weight=weights)
    repeated = BNSLFSRegressor(selector).fit(X.iloc[rows], y.iloc[rows])
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X))
    np.testing.assert_allclose(weighted.predict_interval(X), repeated.predict_interval(X))


def test_no_selected_column_predicts_the_mean():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 3)), rng.normal(size=100)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        regressor = BNSLFSRegressor().fit(X, y)
    assert len(regressor.network_) == 0
    np.testing.assert_allclose(regressor.predict(X), y.mean())
    ends = regressor.predict_interval(X)
    assert 0.85 < np.mean((ends[:, 0] <= y) & (y <= ends[:, 1])) < 0.95


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_targets_of_any_size(diabetes, scale):
    X, y = diabetes
    regressor = BNSLFSRegressor(SLFS(n_features_to_select=3))
    expected = clone(regressor).fit(X, y).predict(X)
    found = clone(regressor).fit(X, y * scale).predict(X)
    np.testing.assert_allclose(found / scale, expected, rtol=1e-6)
