"""Additive models are as sure of new samples as they should be."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.special import log_softmax
from sklearn.base import clone
from sklearn.datasets import load_digits, load_wine
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import KFold, LeaveOneOut, ShuffleSplit

from slfs import BNSLFS, SLFS, BNSLFSRegressor, ResidualPursuit, StabilitySelection
from slfs._core.threads import Threads
from slfs.counting.numba_backend import NumbaBackend
from slfs.report import make_facts
from slfs.selectors._shared import calibration
from tests.helpers import dependent_codes, pack_codes


def wide(n_samples, n_columns, seed):
    """Noise, of which five columns are informative: half of the rows are for training."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(2 * n_samples, n_columns))
    return X, X[:, :5].sum(axis=1) + random.normal(size=len(X))


def test_the_scale_minimizes_the_loss_of_the_samples_left_out():
    random = np.random.default_rng(0)
    prior, added = np.log([[0.3, 0.7]]), random.normal(size=(200, 2))
    target = (random.random(200) < 0.5 + 0.2 * np.sign(added[:, 1] - added[:, 0])).astype(int)
    weights = random.integers(1, 4, 200).astype(float)
    target[:20] = -1  # a class that the training samples do not have

    def fold(rows):
        empty = np.empty(0, np.int64)
        packed = SimpleNamespace(layout=SimpleNamespace(evidence=weights.sum() - weights[rows].sum()))
        return calibration.Fold(packed, empty, None, empty, None, target[rows], weights[rows], None)

    parts = np.array_split(np.arange(200), 3)
    folds, predicted = map(
        list, zip(*[(fold(rows), (prior, added[rows])) for rows in parts], strict=True)
    )
    scale, loss = calibration._find_scale(folds, predicted)

    def expected(scale):
        own = log_softmax(prior + scale * added, axis=1)[np.arange(200), target]
        return (scale - 1) ** 2 / 2 - (weights * own)[20:].sum()

    grid = np.linspace(0.05, 3, 5000)
    losses = [expected(one) for one in grid]
    assert scale == pytest.approx(grid[np.argmin(losses)], abs=2e-3)
    assert loss == pytest.approx(min(losses), rel=1e-6)


@pytest.mark.parametrize("edges", [True, False])
def test_the_tables_are_those_of_a_fixed_size_times_a_scale(edges):
    if edges:
        X, y = load_digits(return_X_y=True)
        X, y = X[y < 4][:, 20:40], y[y < 4]
    else:
        (X, y), _ = independent_categories(1500, np.random.default_rng(2))
    found = SLFS().fit(X, y)
    fixed = SLFS(n_features_to_select=found.n_features_).fit(X, y)
    np.testing.assert_array_equal(found.indices_, fixed.indices_)
    own, other = found._additive, fixed._additive
    assert edges == any(edge is not None for edge in own.edges)
    if not edges:  # they would be fitted beside the nodes
        assert all(edge is None for edge in other.edges)
    ratios = [table / before for table, before in zip(own.nodes, other.nodes, strict=True)]
    ratios = np.concatenate([own[np.isfinite(own)] for own in ratios])
    np.testing.assert_allclose(ratios, ratios[0])
    assert abs(ratios[0] - 1) > 0.05
    np.testing.assert_allclose(own.importances, ratios[0] * other.importances)


@pytest.mark.slow
def test_probabilities_of_wide_tables_are_not_too_sure():
    sure, right, losses = [], [], []
    for seed in range(6):
        X, effect = wide(100, 1000, seed)
        y = effect > 0
        found = SLFS().fit(X[:100], y[:100])
        models = [found.to_classifier()]
        models.append(BNSLFS(SLFS(n_features_to_select=max(found.n_features_, 1))).fit(X[:100], y[:100]))
        probability = [model.predict_proba(X[100:]) for model in models]
        losses.append([log_loss(y[100:], own) for own in probability])
        sure.append([own.max(axis=1).mean() for own in probability])
        right.append(np.mean(models[0].predict(X[100:]) == y[100:]))
    assert np.mean(sure, axis=0)[0] < np.mean(right) + 0.06 < np.mean(sure, axis=0)[1]
    assert np.mean(losses, axis=0)[0] < np.mean(losses, axis=0)[1]


@pytest.mark.slow
@pytest.mark.parametrize(("n_samples", "n_columns"), [(100, 1000), (300, 20)])
def test_intervals_contain_as_many_new_targets_as_they_say(n_samples, n_columns):
    inside = []
    for seed in range(5):
        X, y = wide(n_samples, n_columns, seed)
        model = BNSLFSRegressor().fit(X[:n_samples], y[:n_samples])
        lower, upper = model.predict_interval(X[n_samples:], coverage=0.9).T
        inside.append(np.mean((lower <= y[n_samples:]) & (y[n_samples:] <= upper)))
    assert 0.86 < np.mean(inside) < 0.95


def independent_categories(n, random):
    effect = random.normal(0, 0.5, (4, 10))

    def draw(n):
        level = random.integers(0, 10, (n, 4))
        share = 1 / (1 + np.exp(-effect[np.arange(4), level].sum(axis=1)))
        X = pd.DataFrame(np.array(list("abcdefghij"))[level], columns=["shop", "plan", "region", "job"])
        return X, np.where(random.random(n) < share, "yes", "no")

    return draw(n), draw(20_000)


@pytest.mark.parametrize("seed", [0, 1])
def test_independent_columns_share_no_table_and_the_loss_is_the_stated_one(seed):
    (X, y), (X_new, y_new) = independent_categories(2500, np.random.default_rng(seed))
    selector = SLFS().fit(X, y)
    classifier = selector.to_classifier()
    assert (classifier.parents_ < 0).all()
    stated = selector.size_path_.log_loss[selector.n_features_]
    assert log_loss(y_new, classifier.predict_proba(X_new)) == pytest.approx(stated, abs=0.01)


def test_the_candidates_of_the_folds_are_those_of_the_fit():
    """Significant categories are candidates although they cost more than their information (MDL)."""
    (X, y), (X_new, y_new) = independent_categories(1500, np.random.default_rng(0))
    selector = SLFS().fit(X, y)
    assert len(selector.size_path_.n_features) == 3
    assert selector.n_features_ == 2
    assert make_facts(selector)["size_path"]["sentence"].startswith("2 columns have the smallest")
    assert accuracy_score(y_new, selector.to_classifier().predict(X_new)) > 0.58


@pytest.mark.parametrize("n_levels", [3, 100])
def test_some_packed_columns(n_levels):
    codes, y = dependent_codes(0, 500, 6, n_levels)
    packed = pack_codes(codes, y)
    taken = packed.take(np.array([1, 4]))
    np.testing.assert_array_equal(taken.columns, packed.columns[[1, 4]])
    with Threads(1) as threads:
        for index, source in enumerate([1, 4]):
            np.testing.assert_array_equal(taken.class_counts(index), packed.class_counts(source))
            own, other = NumbaBackend(taken, threads), NumbaBackend(packed, threads)
            np.testing.assert_array_equal(own.codes(index), other.codes(source))


def test_the_folds_are_forgotten_after_fit():
    selector = ResidualPursuit().fit(*load_wine(return_X_y=True))
    assert not hasattr(selector, "_learned_in_folds")


@pytest.mark.parametrize("unit", [1e200, 1e-200])
def test_the_unit_of_the_target_does_not_matter(unit):
    X, y = wide(100, 12, 0)
    expected = BNSLFSRegressor().fit(X, y)
    found = BNSLFSRegressor().fit(X, y * unit)
    np.testing.assert_allclose(found.predict(X), unit * expected.predict(X))
    np.testing.assert_allclose(found.predict_interval(X), unit * expected.predict_interval(X))


def test_intervals_do_not_rest_on_a_few_samples():
    X, y = wide(100, 6, 1)
    few = ShuffleSplit(1, test_size=5, random_state=0)
    lower, upper = BNSLFSRegressor(SLFS(cv=few)).fit(X[:150], y[:150]).predict_interval(X[150:], 0.9).T
    assert np.mean((lower <= y[150:]) & (y[150:] <= upper)) > 0.8


def test_samples_in_several_folds_count_once():
    X, y = wide(100, 6, 1)
    once = BNSLFSRegressor(SLFS(cv=KFold(4))).fit(X, y)._additive
    rows = [(train, test) for train, test in KFold(4).split(X) for _ in range(3)]
    often = BNSLFSRegressor(SLFS(cv=rows)).fit(X, y)._additive
    assert sum(own.sum() for own in often.weights) == pytest.approx(200)
    np.testing.assert_allclose(often.nodes[0], once.nodes[0])


def test_many_folds_do_not_calibrate():
    X, effect = wide(20, 3, 0)
    y = effect > 0
    found = SLFS(cv=LeaveOneOut()).fit(X, y)
    fixed = SLFS(n_features_to_select=found.n_features_).fit(X, y)
    np.testing.assert_array_equal(found._additive.nodes[0], fixed._additive.nodes[0])


@pytest.mark.filterwarnings("ignore:p-values and q-values treat")
@pytest.mark.parametrize("groups", [False, True])
def test_frequencies_are_copies_where_folds_have_groups(groups):
    random = np.random.default_rng(0)
    pair, y = np.repeat([f"p{i}" for i in range(60)], 2), np.tile([0, 1], 60)
    X = pd.DataFrame(random.normal(size=(120, 6)), columns=list("abcdef"))
    X["a"] += 1.2 * y
    X["pair"] = pair
    often = random.integers(1, 4, 60).repeat(2)
    rows = np.repeat(np.arange(120), often)
    selector = SLFS(exclude=["pair"]) if groups else SLFS(condition_on=["pair"])
    paths = []
    for taken, weight in ((np.arange(120), often), (rows, None)):
        given = {"groups": pair[taken]} if groups else {}
        fitted = clone(selector).fit(X.iloc[taken], y[taken], sample_weight=weight, **given)
        paths.append(fitted.size_path_.log_loss)
    np.testing.assert_array_equal(*paths)


def test_numbers_of_pairs_are_not_a_quantity():
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.normal(size=(120, 4)), columns=list("abcd"))
    X["a"] += 2 * np.tile([0, 1], 60)
    X["pair"] = np.repeat(np.arange(60), 2)
    with pytest.warns(UserWarning, match=r"declare it categorical: categorical_features=\['pair'\]"):
        SLFS(condition_on="pair").fit(X, np.tile([0, 1], 60))
    SLFS(condition_on="pair", categorical_features=["pair"]).fit(X, np.tile([0, 1], 60))


def test_samples_that_are_the_only_ones_of_their_class_are_mentioned():
    random = np.random.default_rng(1)
    y = np.r_[np.repeat(["a", "b"], 40), [f"c{i}" for i in range(5)]]
    X = pd.DataFrame({"x": random.normal(size=85) + 2 * (y == "a"), "z": random.normal(size=85)})
    told = make_facts(SLFS().fit(X, y))["size_path"]["sentence"]
    assert told.endswith(
        "Classes with a single sample (5) cannot be both learned and predicted: these samples do not "
        "count in the log loss."
    )


def test_subsamples_fit_no_model(monkeypatch):
    X, y = load_wine(return_X_y=True)
    monkeypatch.setattr("slfs.selectors.base.fit_model", None)
    StabilitySelection(SLFS(), n_subsamples=4).fit(X, y)
