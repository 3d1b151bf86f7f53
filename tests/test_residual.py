"""Residual pursuit: equal to the references, exact for any threads and blocks, size by folds."""

import itertools
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import KFold, LeaveOneOut

from slfs import SLFS, MDLPDiscretizer, ResidualPursuit, make_network_classification, saving
from slfs._core.threads import Threads
from slfs.counting.backend import use_backend
from slfs.counting.numpy_backend import NumpyBackend
from slfs.counting.queue import Queue
from slfs.counting.residuals import (
    RESIDUAL_SCALE,
    TREND_SHARE,
    WEIGHT_SCALE,
    Residuals,
    mix_trend_gains,
    row_length,
)
from slfs.measures.information import Information
from slfs.measures.residuals import AdditiveModel
from slfs.screening.plan import BlockLimits, block_limits
from slfs.selectors._shared.pursuit import Pursuit
from slfs.selectors._shared.size_path import SizePath
from tests.helpers import dependent_codes, information_of, pack_codes
from tests.test_selectors import REFERENCES, load


@pytest.mark.parametrize("name", sorted(REFERENCES["residual"]))
def test_order_and_scores_equal_the_reference(name):
    X, y, parameters = load(name)
    expected = REFERENCES["residual"][name]
    selector = ResidualPursuit(len(expected["selected"]), trends=False, **parameters).fit(X, y)
    assert selector.indices_.tolist() == expected["selected"]
    # the reference has no limit of the steps: one score of digits differs by 0.16%
    np.testing.assert_allclose(selector.selection_scores_, expected["scores"], rtol=2e-3)


def naive_pursuit(codes, y, size):
    """The algorithm in floats: every gain is computed in every step, from codes (columns, samples)."""
    n_classes = max(y) + 1
    own = np.eye(n_classes)[y]
    score = np.log(own.mean(axis=0)) + np.zeros(own.shape)
    lowest, chosen, tables = np.full(len(codes), np.inf), [], {}

    def residuals():
        odds = np.exp(score)
        p = odds / odds.sum(axis=1, keepdims=True)
        return own - p, p * (1 - p)

    def sums(column, values):
        out = np.zeros((codes[column].max() + 1, n_classes))
        np.add.at(out, codes[column], values)
        return out

    while len(chosen) < size:
        g, h = residuals()
        for f in range(len(codes)):
            if f not in chosen:
                gain = (sums(f, g) ** 2 / (sums(f, h) + 5)).sum()
                lowest[f] = min(lowest[f], gain)
        open_columns = [f for f in range(len(codes)) if f not in chosen]
        chosen.append(max(open_columns, key=lambda f: (lowest[f], -f)))
        tables[chosen[-1]] = np.zeros((codes[chosen[-1]].max() + 1, n_classes))
        for _ in range(2):
            for k in reversed(chosen):
                g, h = residuals()
                step = 0.5 * (sums(k, g) - 3 * tables[k]) / (sums(k, h) + 8)
                tables[k] += step
                score = score + step[codes[k]]
    return chosen, tables, score


@given(st.integers(0, 2**32 - 1), st.integers(2, 4))
@settings(max_examples=15)
def test_equal_to_the_algorithm_in_floats(seed, n_classes):
    codes, y = dependent_codes(seed, 211, 12, n_classes=n_classes)
    pursuit = Pursuit(information_of(codes, y))
    found = [step.column for step in itertools.islice(pursuit, 5)]
    expected, tables, score = naive_pursuit(codes, y, 5)
    assert found == expected
    order = np.argsort(y, kind="stable")
    for f, table in zip(found, pursuit.model.tables, strict=True):
        np.testing.assert_allclose(table, tables[f], atol=1e-9)
    odds = np.exp(score[order])
    shares = odds / odds.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(pursuit.model.probability, shares, atol=1e-9)
    loss = -np.log(shares[np.arange(len(y)), y[order]]).mean()
    assert pursuit.model.log_loss() == pytest.approx(loss)


def numbers_and_classes(seed, n_classes, n_samples=300, n_columns=40):
    """Numbers whose means depend on the class, some of them rounded, some missing."""
    random = np.random.default_rng(seed)
    y = random.integers(0, n_classes, n_samples)
    X = random.normal(size=(n_samples, n_columns)) + random.normal(size=(n_classes, n_columns))[y] / 2
    X[:, ::3] = X[:, ::3].round()
    X[random.random(X.shape) < 0.1] = np.nan
    X[:, 1::3] = np.nan_to_num(X[:, 1::3])
    return X, y


def naive_quartile_scores(column):
    """The standardized mean rank of the quartile of each sample; NaN for missing values."""
    present = ~np.isnan(column)
    values = column[present]
    below = (values[:, np.newaxis] > values).sum(axis=1)
    tied = (values[:, np.newaxis] == values).sum(axis=1)
    quartile = (2 * below + tied) * 4 // (2 * len(values))
    rank = below + (tied + 1) / 2
    scores = np.array([rank[quartile == own].mean() for own in quartile]) - rank.mean()
    found = np.full(len(column), np.nan)
    found[present] = scores / scores.std()
    return found


@pytest.mark.parametrize("n_classes", [2, 3])
def test_gains_include_trends_over_quartiles(n_classes):
    X, y = numbers_and_classes(1, n_classes)
    own = np.eye(n_classes)[y]
    share = own.mean(axis=0)
    g, h = own - share, np.tile(share * (1 - share), (len(y), 1))
    discretizer = MDLPDiscretizer().fit(X, y)
    codes = discretizer.transform(X)
    cut = np.flatnonzero([len(cuts) for cuts in discretizer.cut_points_])
    assert len(cut) > 5
    for f in cut:
        levels = np.eye(codes[:, f].max() + 1)[codes[:, f]]
        table = ((levels.T @ g) ** 2 / (levels.T @ h + 5)).sum()
        score = naive_quartile_scores(X[:, f])
        known = ~np.isnan(score)
        score, g_known, h_known = score[known], g[known], h[known]
        weight = (score**2) @ h_known - (score @ h_known) ** 2 / h_known.sum(axis=0)
        trend = ((score @ g_known) ** 2 / (weight + 5)).sum()
        for part in (known, ~known) if not known.all() else ():
            trend += (g[part].sum(axis=0) ** 2 / (h[part].sum(axis=0) + 5)).sum()
        found = ResidualPursuit(1, include=[int(f)]).fit(X, y).selection_scores_[0]
        assert found == pytest.approx((table + 2 * trend) / 3, rel=1e-3)
        without = ResidualPursuit(1, include=[int(f)], trends=False).fit(X, y).selection_scores_[0]
        assert without == pytest.approx(table, rel=1e-3)


@pytest.mark.parametrize("seed", range(5))
def test_gains_of_trends_are_those_of_linear_models(seed):
    """The slope was not that of a model with a constant for known values, where others are missing."""
    random = np.random.default_rng(seed)
    weights, residuals = random.integers(1, 30, (5, 2)), random.integers(-9, 9, (5, 2))
    scores = np.array([-1.342, -0.447, 0.447, 1.342, np.nan])
    known, ridge = ~np.isnan(scores), 1e-7
    terms = np.column_stack([known, ~known, np.where(known, scores, 0)])
    expected = 0.0
    for residual, weight in zip(residuals.T, weights.T, strict=True):
        u = terms.T @ residual
        expected += u @ np.linalg.solve(terms.T @ (terms * weight[:, np.newaxis]), u)
    sums = np.hstack([residuals * RESIDUAL_SCALE, weights * WEIGHT_SCALE]).astype(np.int64)
    found = np.zeros(1)
    mix_trend_gains(sums, np.array([0, 5]), scores, ridge, found)
    assert found[0] == pytest.approx(TREND_SHARE * expected, rel=1e-6)


def test_monotone_transformations_change_nothing():
    X, y = numbers_and_classes(2, 3)
    first, other = (ResidualPursuit(12).fit(table, y) for table in (X, np.exp(X)))
    np.testing.assert_array_equal(other.indices_, first.indices_)
    np.testing.assert_array_equal(other.selection_scores_, first.selection_scores_)


def test_ordered_categories_have_trends_as_numbers_have():
    X, y = numbers_and_classes(3, 3)
    X = np.nan_to_num(X.round(), nan=0.0).clip(-3, 3)
    names = np.array(["---", "--", "-", "0", "+", "++", "+++"])
    ordered = pd.DataFrame(
        {
            f"x{j}": pd.Categorical(names[column.astype(int) + 3], categories=names, ordered=True)
            for j, column in enumerate(X.T)
        }
    )
    first, other = (ResidualPursuit(8).fit(table, y) for table in (X, ordered))
    np.testing.assert_array_equal(other.indices_, first.indices_)
    np.testing.assert_array_equal(other.selection_scores_, first.selection_scores_)


@pytest.mark.parametrize("groups", [None, {"both": ["x0", "text"]}])
def test_numbers_and_text_in_the_reference_backend(groups):
    X, y = numbers_and_classes(5, 3, n_columns=8)
    table = pd.DataFrame(X, columns=[f"x{j}" for j in range(8)])
    table["text"] = np.where(np.random.default_rng(0).random(len(y)) < 0.3 + 0.4 * (y == 1), "u", "v")
    table["missing"] = np.where(y == 2, np.nan, 1.0)
    fast = ResidualPursuit(6, feature_groups=groups).fit(table, y)
    with use_backend("numpy"):
        slow = ResidualPursuit(6, feature_groups=groups).fit(table, y)
    assert "missing" in fast.get_feature_names_out()
    np.testing.assert_array_equal(slow.indices_, fast.indices_)
    np.testing.assert_allclose(slow.selection_scores_, fast.selection_scores_, rtol=1e-12)


def test_words_do_not_say_that_a_loss_falls_that_rises():
    random = np.random.default_rng(0)
    y = np.repeat([0, 1], 20)
    noisy = [
        np.where(np.arange(40) == 0, 1, np.where(random.permutation(40) < 5, 1 - y, y))
        for _ in range(40)
    ]
    X = np.column_stack([y + random.normal(0, 0.01, 40), *noisy])
    selector = SLFS(n_features_to_select=30).fit(X, y)
    found = [
        re.search(
            r"(lowers|changes) the training log loss .* from (\S+) to (\S+)\. E", selector.explain(f)
        )
        for f in selector.indices_
    ]
    rises = [float(match[3]) > float(match[2]) for match in found]
    assert any(rises)
    assert all((match[1] == "changes") >= up for match, up in zip(found, rises, strict=True))


def test_trends_select_columns_with_larger_effects():
    better = worse = 0
    for seed in range(40):
        random = np.random.default_rng(seed)
        y = np.arange(100) % 5
        effect = random.uniform(0, 0.75, 200)
        means = random.normal(size=(5, 200))
        means = (means - means.mean(axis=0)) / means.std(axis=0)
        X = random.normal(size=(100, 200)) + effect * means[y]
        chosen = (ResidualPursuit(5, trends=trends).fit(X, y).indices_ for trends in (True, False))
        with_trends, without = (effect[columns].mean() for columns in chosen)
        better, worse = better + (with_trends > without), worse + (with_trends < without)
    assert better > 1.5 * worse


def test_missing_values_count_as_much_as_categories_do():
    """The trend of a column knew nothing of missing values: they counted a third."""
    first = 0
    for seed in range(20):
        random = np.random.default_rng(seed)
        y = np.arange(62) % 62 < 22
        lost = y & (random.random(62) < 0.7)
        X = pd.DataFrame({"gene": random.normal(size=62) + 1.4 * y})
        X["lod"] = np.where(lost, np.nan, random.normal(size=62))
        text = X.assign(lod=np.where(lost, "below", "above"))
        pursuits = [ResidualPursuit(1, include=["lod"]).fit(table, y) for table in (X, text)]
        gains = [pursuit.selection_scores_[0] for pursuit in pursuits]
        assert gains[0] == pytest.approx(gains[1], rel=0.2)
        first += ResidualPursuit(1).fit(X, y).get_feature_names_out()[0] == "lod"
    assert first > 10


@pytest.mark.parametrize("kind", ["codes", "numbers"])
@pytest.mark.parametrize("n_classes", [2, 7])
def test_same_bits_for_any_backend_threads_and_blocks(n_classes, kind):
    parameters = {"n_features_to_select": 12}
    if kind == "codes":
        codes, y = dependent_codes(3, 300, 200, n_classes=n_classes)
        X = codes.T
        parameters["categorical_features"] = "all"
    else:
        X, y = numbers_and_classes(4, n_classes)
    first = ResidualPursuit(**parameters).fit(X, y)
    fits = [ResidualPursuit(n_jobs=2, **parameters).fit(X, y)]
    with use_backend("numpy"):
        fits.append(ResidualPursuit(**parameters).fit(X, y))
    with block_limits(BlockLimits(n_rows=50, n_columns=7, plane_bytes=0)):
        fits.append(ResidualPursuit(**parameters).fit(X, y))
    for other in fits:
        np.testing.assert_array_equal(other.indices_, first.indices_)
        np.testing.assert_array_equal(other.selection_scores_, first.selection_scores_)
    turned = ResidualPursuit(**parameters).fit(X[:, ::-1], y)
    np.testing.assert_array_equal(turned.selection_scores_, first.selection_scores_)


@pytest.mark.parametrize("n_classes", [2, 3, 20])
def test_many_steps_and_levels(n_classes):
    """Marks of more than 64 steps, columns stored as codes, rows of one and of several vectors."""
    codes, y = dependent_codes(4, 250, 75, n_classes=n_classes)
    codes[::7] = np.random.default_rng(0).integers(0, 100, codes[::7].shape)
    fast = list(Pursuit(information_of(codes, y)))
    assert fast == list(Pursuit(Information(NumpyBackend(pack_codes(codes, y), Threads(1)))))
    assert sorted(step.column for step in fast) == list(range(75))


def test_sums_of_more_samples_than_fit_in_32_bits():
    n_samples = 70_000
    codes = np.zeros((1, n_samples), np.int64)
    codes[0, :2] = 1
    information = information_of(codes, np.arange(n_samples) % 3)
    rows = np.full((n_samples, row_length(3)), -(2**15), np.int16)
    queue = Queue(np.full(1, np.inf))
    information.backend.settle_first(queue, [Residuals.of_rows(rows, 3)])
    weight = -32768 / 2**16
    expected = 3 * sum(n**2 / (n * weight + 5) for n in (n_samples - 2, 2))
    assert queue.bounds[0] == pytest.approx(expected, rel=1e-12)


def test_most_columns_are_looked_at_rarely():
    """Of noise columns, which all have similar gains, only the best ones meet each new step."""
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 300)
    codes = random.integers(0, 3, (400, 300))
    codes[:5, :200] = y[:200]
    backend, looks = NumpyBackend(pack_codes(codes, y), Threads(1)), []
    count = backend.weighted_sums
    backend.weighted_sums = lambda *given: looks.append(1) or count(*given)
    list(itertools.islice(Pursuit(Information(backend)), 20))
    assert 19 <= len(looks) < 0.1 * 20 * len(codes)


def test_the_size_is_that_of_the_smallest_held_out_loss(tmp_path):
    made = make_network_classification(600, n_noise=60, random_state=1)
    selector = ResidualPursuit(categorical_features="all").fit(made.data, made.target)
    path = selector.size_path_
    assert selector.n_features_ == path.best <= path.log_loss.argmin()
    assert path.log_loss[path.best] <= path.log_loss.min() + 0.001
    assert set(made.blanket) <= set(selector.indices_)
    assert path.log_loss[0] == pytest.approx(np.log(2), abs=0.05)
    smaller = ResidualPursuit(categorical_features="all", one_standard_error=True)
    smaller.fit(made.data, made.target)
    assert 0 < smaller.n_features_ == path.within_one_standard_error <= path.best
    saving.save(selector, tmp_path / "model.slfs")
    again = saving.load(tmp_path / "model.slfs")
    np.testing.assert_array_equal(again.size_path_.log_loss, path.log_loss)
    assert ResidualPursuit(3).fit(made.data, made.target).size_path_ is None


def test_noise_and_rare_classes():
    random = np.random.default_rng(0)
    y = np.append([2, 3, 3], random.integers(0, 2, 97))
    X = pd.DataFrame(random.normal(size=(100, 20)), columns=[f"x{j}" for j in range(20)])
    X["text"] = random.choice(["a", "b", None], 100)
    assert ResidualPursuit().fit(X, y).n_features_ <= 3
    X["copy"] = np.where(y < 2, y, 0)
    assert ResidualPursuit().fit(X, y).indices_[0] == 21


def test_probabilities_sum_to_one_with_many_steps():
    codes, y = dependent_codes(5, 400, 8, n_classes=3)
    model = AdditiveModel(np.sort(y).astype(np.int32), np.bincount(y))
    order = np.argsort(y, kind="stable")
    for column in codes[:, order]:
        counts = np.zeros((column.max() + 1, 3), np.int64)
        np.add.at(counts, (column, y[order]), 1)
        model.add(column.astype(np.uint8), counts)
    np.testing.assert_allclose(model.probability.sum(axis=1), 1)
    weights = model.weights()
    assert np.abs(weights[:, :3]).max() < 2**15
    assert 0 <= weights[:, 3:].min() <= weights[:, 3:].max() < 2**14


def test_accuracy_of_few_features():
    X, y = load_breast_cancer(return_X_y=True)
    selector = ResidualPursuit(5).fit(X[::2], y[::2])
    assert selector.to_classifier().score(X[1::2], y[1::2]) > 0.9


@pytest.mark.parametrize("limits", [{}, {"max_children": 3}])
def test_slfs_places_every_column_that_the_pursuit_chose(limits):
    X, y = load_breast_cancer(return_X_y=True)
    selector = SLFS(order="residual", n_features_to_select=12, **limits).fit(X, y)
    pursuit = ResidualPursuit(12).fit(X, y)
    np.testing.assert_array_equal(selector.indices_, pursuit.indices_)
    np.testing.assert_array_equal(selector.selection_scores_, pursuit.selection_scores_)
    assert selector.network_.levels.max() == 2
    sizes = np.bincount(selector.network_.parents + 1)
    assert sizes.max() <= limits.get("max_children", 15)


def test_a_full_tree_and_the_roles_of_the_others():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X["copy"] = X["worst perimeter"]
    full = SLFS(order="residual", n_features_to_select=20, max_children=2, max_depth=1)
    with pytest.warns(UserWarning, match="the tree is full"):
        full.fit(X, y)
    assert full.n_features_ == 2
    roles = dict(zip(full.features_["name"], full.features_["role"], strict=True))
    assert roles["worst perimeter"] == "strongly relevant"
    assert roles["copy"] == "redundant"
    assert "no room" in roles.values()
    assert "outranked" not in roles.values()
    cut = SLFS(order="residual", n_features_to_select=2).fit(X, y)
    np.testing.assert_array_equal(cut.indices_, full.indices_)
    roles = set(cut.features_["role"])
    assert "outranked" in roles
    assert "no room" not in roles
    dropped = cut.features_["name"][cut.features_["role"] == "outranked"][0]
    assert "only 2 columns were asked for" in cut.explain(dropped)


def test_copies_are_not_selected_although_there_is_room():
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 300)
    noisy = np.where(random.random(300) < 0.2, 1 - y, y)
    X = pd.DataFrame({"a": noisy, "b": noisy, "c": 1 - noisy, "d": random.integers(0, 2, 300)})
    selector = SLFS(order="residual", n_features_to_select=3, categorical_features="all").fit(X, y)
    roles = dict(zip(X.columns, selector.features_["role"], strict=True))
    assert roles["a"] == "strongly relevant"
    assert roles["b"] == roles["c"] == "redundant"


def test_the_size_of_the_tree_is_that_of_the_path():
    X, y = load_breast_cancer(return_X_y=True)
    selector = SLFS(order="residual").fit(X, y)
    assert selector.n_features_ == selector.size_path_.best > 5
    np.testing.assert_array_equal(selector.indices_, ResidualPursuit().fit(X, y).indices_)
    smaller = SLFS(order="residual", one_standard_error=True).fit(X, y)
    assert smaller.n_features_ == selector.size_path_.within_one_standard_error < selector.n_features_
    assert SLFS(order="conditional").fit(X, y).size_path_ is None
    last = smaller.features_["name"][smaller.features_["role"] == "outranked"][0]
    assert "the fewest within one standard error" in smaller.explain(last)


@pytest.mark.parametrize(
    "selector", [ResidualPursuit(3), SLFS(order="residual", n_features_to_select=3)]
)
def test_what_a_column_added_is_said_in_words(selector):
    X, y = load_breast_cancer(return_X_y=True)
    selector.fit(X, y)
    steps = list(itertools.islice(Pursuit(information_of(*coded(X, y))), 3))
    first, second, third = (selector.explain(int(column)) for column in selector.indices_)
    loss = f"{steps[0].log_loss:.3g}"
    fell = f"lowers the training log loss of the growing model from 0.66 to {loss}"
    assert f"It was selected first: it {fell}." in first
    assert "number 2: it best explains what the model of the column before it still gets wrong" in second
    assert (
        "number 3: it best explains what the model of the 2 columns before it still gets wrong" in third
    )
    assert f"from {steps[1].log_loss:.3g} to {steps[2].log_loss:.3g}" in third


def coded(X, y):
    return MDLPDiscretizer().fit_transform(X, y).astype(int).T, y


def test_the_size_does_not_depend_on_the_names_of_the_classes():
    X, y = load_breast_cancer(return_X_y=True)
    path = ResidualPursuit(max_features=10).fit(X, y).size_path_
    renamed = ResidualPursuit(max_features=10).fit(X, np.array(["malignant", "benign"])[y]).size_path_
    np.testing.assert_allclose(renamed.log_loss, path.log_loss)


def test_the_size_is_found_with_the_columns_that_may_be_selected():
    """Three thousand columns of noise have cut points by chance, but are not significant."""
    random = np.random.default_rng(1)
    y = np.repeat([0, 1], 20)
    X = random.normal(size=(40, 3000))
    X[:, :2] += 2.5 * y[:, np.newaxis]
    tested = SLFS(irrelevance="test").fit(X, y)
    assert len(tested.size_path_.n_features) <= 4
    assert len(SLFS().fit(X, y).size_path_.n_features) > 20
    assert tested.n_features_ == tested.size_path_.best


def test_functions_of_a_selected_column_are_redundant():
    random = np.random.default_rng(0)
    sub = random.integers(0, 6, 1000)
    y = (sub + random.normal(0, 1, 1000) > 2).astype(int)
    X = pd.DataFrame({"sub": sub, "grade": sub // 2, "other": y ^ (random.random(1000) < 0.4)}).astype(
        str
    )
    selector = SLFS(n_features_to_select=3).fit(X, y)
    assert selector.get_feature_names_out().tolist() == ["sub", "other"]
    assert selector.explain("grade").startswith("'grade' is dropped as redundant")


def test_copies_do_not_count_in_the_model():
    random = np.random.default_rng(0)
    y = np.repeat([0, 1], 10)
    gene = 10 * y + random.normal(size=20)
    X = pd.DataFrame({"gene": gene, "weak": 1.8 * y + random.normal(size=20)})
    copies = X.assign(**{f"copy{j}": j * gene + 5 for j in range(1, 6)})
    alone, beside = (SLFS(n_features_to_select=2).fit(table, y) for table in (X, copies))
    assert beside.get_feature_names_out().tolist() == ["gene", "weak"]
    assert beside.explain("weak") == alone.explain("weak")
    assert beside.explain("copy1").startswith("'copy1' is dropped as redundant")


def test_a_column_that_was_not_asked_for_is_not_called_redundant():
    """It adds nothing significant to a single column, but the pursuit would take it next."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    short = SLFS(n_features_to_select=5).fit(X, y)
    longer = SLFS(n_features_to_select=12).fit(X, y)
    roles = dict(zip(X.columns, short.features_["role"], strict=True))
    for name in longer.network_.names[5:]:
        assert roles[name] == "outranked"
    outranked = short.features_[short.features_["role"] == "outranked"]
    contained = outranked["conditional_relevance"] < 0.1 * outranked["relevance"]
    assert 0 < contained.sum() < len(outranked)
    for record, inside in zip(outranked, contained, strict=True):
        assert (record["lost_to"] is not None) == inside
        assert ("contains nearly all of its information" in short.explain(record["name"])) == inside


@pytest.mark.parametrize("flips", [0, 0.01, 0.1])
def test_columns_that_add_nothing_to_the_first_one_are_not_selected(flips):
    """Given the first column, the others are independent of the class."""
    random = np.random.default_rng(0)
    y = random.random(6000) < 0.3
    first = y ^ (random.random(6000) < flips)
    columns = {"first": first} | {f"child{j}": first ^ (random.random(6000) < 0.3) for j in range(4)}
    selector = SLFS().fit(pd.DataFrame(columns).astype(str), y)
    assert selector.get_feature_names_out().tolist() == ["first"]
    share = y.mean()
    assert selector.size_path_.log_loss[0] == pytest.approx(
        -share * np.log(share) - (1 - share) * np.log(1 - share), abs=0.001
    )
    table = pd.crosstab(first, y)
    expected = -(table * np.log((table + 1e-9).div(table.sum(axis=1), axis=0))).to_numpy().sum() / 6000
    assert selector.size_path_.log_loss[1] == pytest.approx(expected, abs=0.006)


def test_auto_does_without_a_pursuit_where_it_costs_too_much(monkeypatch):
    X, y = load_breast_cancer(return_X_y=True)
    assert SLFS().fit(X, y).order_ == "residual"
    assert SLFS(irrelevance="printed").fit(X, y).order_ == "conditional"
    monkeypatch.setattr("slfs.selectors.slfs._MOST_WORK", 1e4)
    selector = SLFS().fit(X, y)
    assert selector.order_ == "conditional"
    assert selector.size_path_ is None
    np.testing.assert_array_equal(selector.indices_, SLFS(order="conditional").fit(X, y).indices_)
    assert selector.to_classifier().structure == "linked"


def test_auto_stays_below_the_memory_limit(monkeypatch):
    X, y = load_breast_cancer(return_X_y=True)
    monkeypatch.setattr("slfs._core.memory.memory_taken", lambda: 980 << 20)
    limit = (1020 << 20) + 400_000  # libraries need 40 MiB
    with pytest.warns(UserWarning, match="order='auto' uses 'conditional'.* Raise memory_limit"):
        assert SLFS(memory_limit=limit).fit(X, y).order_ == "conditional"
    with pytest.raises(MemoryError, match="the residuals of 30 steps need") as error:
        SLFS(order="residual", memory_limit=limit).fit(X, y)
    enough = re.search(r"Set memory_limit to ([\d.]+ [MG]iB)", str(error.value))[1]
    for order in ("residual", "auto"):
        assert SLFS(order=order, memory_limit=enough).fit(X, y).order_ == "residual"


@pytest.mark.parametrize("limit", ["1GiB", 1 << 20, (980 << 20) + 1])
def test_too_little_memory_for_any_order_is_an_error_without_a_warning(monkeypatch, limit):
    """If not even the memory of the process fits, the error was that of the order 'residual'."""
    X, y = load_breast_cancer(return_X_y=True)
    monkeypatch.setattr("slfs._core.memory.memory_taken", lambda: 1 << 30)
    with pytest.raises(MemoryError, match="569 samples x 30 columns need"):
        SLFS(memory_limit=limit).fit(X, y)


def test_the_memory_of_folds_counts_before_any_work(monkeypatch):
    """The residuals fitted, but not the folds beside them: the error came after the first fold."""
    X, y = load_breast_cancer(return_X_y=True)
    monkeypatch.setattr("slfs._core.memory.memory_taken", lambda: 0)

    def needed(cv, size="auto"):
        selector = SLFS(cv=cv, n_features_to_select=size)
        return sum(selector._needed_bytes(selector._read_training_data(X, y)))

    splits = [(np.arange(0, 569, 2), np.arange(1, 569, 2))] * 3
    assert needed(5, 30) < needed(3) == needed(splits) == needed(KFold(3)) < needed(20)
    assert needed(LeaveOneOut()) == needed(20)


def test_the_fewest_within_one_standard_error_of_the_smallest_log_loss():
    """The limit was above a log loss that is only nearly the smallest, by several standard errors."""
    loss = np.array([0.7, 0.02, 0.00903, 0.0088, 0.0082, 0.008])
    path = SizePath(np.arange(6), loss, np.full(6, 0.0003))
    assert (path.best, path.within_one_standard_error, path.margin) == (3, 3, "0.001 nats")
    path = SizePath(np.arange(6), loss, np.full(6, 0.0025))
    assert (path.best, path.within_one_standard_error, path.margin) == (3, 2, "one standard error")
    assert path.limit == pytest.approx(0.0105)
