"""Sample weights: whole numbers are repeated rows, to the bit; others are scaled; class weights."""

import json
import os
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn import config_context
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline

from slfs import (
    BNSLFS,
    CMIM,
    MRMR,
    OSFS,
    SAOLA,
    SLFS,
    TAN,
    FastOSFS,
    MDLPDiscretizer,
    ResidualPursuit,
    StabilitySelection,
    interactions,
    saving,
)
from slfs.evaluation.significance import assess, p_values
from slfs.report import make_facts, write_report
from slfs.saving.registry import estimators
from slfs.screening.plan import BlockLimits, block_limits
from slfs.selectors import selectors
from slfs.tables.registry import read_table
from slfs.tables.target import read_target
from slfs.tables.weights import ERROR, FINEST, SampleWeights, make_weights

# small random tables are warned about in many ways
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

EXAMPLES = int(os.environ.get("SLFS_EXAMPLES", "25"))

VARIANTS = [
    SLFS(order="residual", n_features_to_select=3),
    SLFS(order="conditional"),
    SLFS(order="relevance", irrelevance="test"),
    SLFS(order="given", swap="objective"),
    OSFS(statistic="fisher_z"),
    FastOSFS(statistic="chi2", samples_per_df=0, degrees_of_freedom="adjusted"),
    BNSLFS(SLFS(n_features_to_select=3), structure="linked"),
    BNSLFS(SLFS(n_features_to_select=3), structure="tree"),
]


def make(name):
    """Make an estimator that does not draw folds or subsamples."""
    if name == "BNSLFS":
        return BNSLFS(SLFS(n_features_to_select=3))
    kind = estimators()[name]
    if name in selectors() or "n_features_to_select" in kind().get_params():
        return kind(n_features_to_select=3)
    return kind()


DETERMINISTIC = [make(name) for name in estimators() if name != "StabilitySelection"] + VARIANTS


def make_table(seed, n_rows=40, n_classes=2):
    """Numbers, categories, booleans and missing values, some of which depend on the class."""
    random = np.random.default_rng(seed)
    y = random.integers(0, n_classes, n_rows)
    y[:n_classes] = np.arange(n_classes)
    shifted = random.normal(size=n_rows).round(1) + y
    X = pd.DataFrame(
        {
            "shifted": shifted,
            "noise": random.normal(size=n_rows).round(1),
            "few": random.integers(0, 4, n_rows) + y,
            "copy": shifted * 2,
            "text": np.array(list("abcdefghijklmnopqrst"))[(random.integers(0, 18, n_rows) + y) % 20],
            "yes": random.random(n_rows) < 0.3 + 0.4 * (y > 0),
        }
    )
    X.loc[random.random(n_rows) < 0.2, "noise"] = np.nan
    X.loc[random.random(n_rows) < 0.1 + 0.2 * (y > 0), "text"] = None
    return X, y, random


def repeated(X, y, weights):
    rows = np.repeat(np.arange(len(y)), weights)
    return X.iloc[rows].reset_index(drop=True), y[rows]


def assert_same(one, other, X):
    """Compare everything that two fitted estimators know and predict, to the bit."""
    if isinstance(one, BNSLFS):
        assert_same(one.selector_, other.selector_, X)
    if hasattr(one, "features_"):
        pd.testing.assert_frame_equal(
            pd.DataFrame(one.features_), pd.DataFrame(other.features_), check_exact=True
        )
        np.testing.assert_array_equal(one.indices_, other.indices_)
        np.testing.assert_array_equal(one.selection_scores_, other.selection_scores_)
        np.testing.assert_array_equal(
            one.network_counts_.class_totals, other.network_counts_.class_totals
        )
        assert one._figures == other._figures
    if hasattr(one, "predict_proba"):
        np.testing.assert_array_equal(one.classes_, other.classes_)
        np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
        np.testing.assert_array_equal(one.feature_importances_, other.feature_importances_)
    if hasattr(one, "cut_points_"):
        for own, its in zip(one.cut_points_, other.cut_points_, strict=True):
            np.testing.assert_array_equal(own, its)
    if hasattr(one, "n_levels_"):
        np.testing.assert_array_equal(one.transform(X), other.transform(X))


@pytest.mark.parametrize("estimator", DETERMINISTIC, ids=repr)
@settings(max_examples=EXAMPLES, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n_classes=st.integers(2, 3), most=st.integers(1, 5))
def test_whole_numbers_are_repeated_rows(estimator, seed, n_classes, most):
    X, y, random = make_table(seed, n_classes=n_classes)
    weights = random.integers(0, most + 1, len(y))
    weights[:n_classes] = 1  # every class has a row
    kind, parameters = type(estimator), estimator.get_params(deep=False)
    X = X.drop(columns="text") if seed % 2 else X
    weighted = kind(**parameters).fit(X, y, sample_weight=weights)
    plain = kind(**parameters).fit(*repeated(X, y, weights))
    assert_same(weighted, plain, X)


@pytest.mark.parametrize("make_matrix", [sparse.csr_array, sparse.csc_array, np.asarray])
def test_rows_of_arrays_and_sparse_matrices_are_repeated(make_matrix):
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 60)
    X = random.poisson(0.3 + 0.7 * y[:, np.newaxis], (60, 8)) * random.normal(size=(60, 8)).round(1)
    weights = random.integers(0, 4, 60)
    again = np.repeat(np.arange(60), weights)
    selector = SLFS(n_features_to_select=3, categorical_features=[0, 1])
    weighted = selector.fit(make_matrix(X), y, sample_weight=weights)
    plain = SLFS(**selector.get_params()).fit(make_matrix(X[again]), y[again])
    assert_same(weighted, plain, X)


@pytest.mark.parametrize("n_rows", [7, 32, 1000])
@pytest.mark.parametrize("weights", ["whole", "other"])
def test_the_result_does_not_depend_on_pieces_of_rows(n_rows, weights):
    X, y, random = make_table(1, n_rows=200)
    w = random.integers(0, 4, 200) if weights == "whole" else random.random(200)
    with block_limits(BlockLimits(n_rows=n_rows)):
        in_pieces = TAN().fit(X, y, sample_weight=w)
    assert_same(in_pieces, TAN().fit(X, y, sample_weight=w), X)


def test_rows_with_weight_zero_are_not_there():
    X, y, _ = make_table(2, n_classes=3)
    weights = np.where(y == 1, 0, 1)
    labels = pd.Series(y.astype(float)).where(y != 1)  # a missing label that does not count
    selector = SLFS(n_features_to_select=2).fit(X, labels, sample_weight=weights)
    assert selector.classes_.tolist() == [0, 2]
    assert_same(selector, SLFS(n_features_to_select=2).fit(X[y != 1], labels[y != 1]), X)
    automatic = SLFS().fit(X, labels, sample_weight=weights)
    assert_same(automatic, SLFS().fit(X[y != 1], labels[y != 1]), X)
    np.testing.assert_array_equal(
        automatic.size_path_.log_loss, SLFS().fit(X[y != 1], labels[y != 1]).size_path_.log_loss
    )


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0] * 39, "X has 40 rows, sample_weight has 39 numbers"),
        ([[1.0]] * 40, r"shape \(40, 1\); expected \(40,\)"),
        ([-1.0] + [1.0] * 39, "the first is -1 in row 0"),
        (pd.Series(pd.date_range("2024-01-01", periods=40)), "must contain numbers. Got datetime64"),
        ([1.0, np.nan] + [1.0] * 38, "the first is nan in row 1 .* missing or infinite"),
        ([np.inf] * 40, "40 invalid"),
        ([0] * 40, "All sample weights are zero"),
        (["a"] * 40, "must contain numbers"),
        (["1", "2"] * 20, "must contain numbers. Got the text '1' instead. Convert it to numbers."),
        (pd.Series([1.0, "2"] * 20), "must contain numbers. Got the text '2' instead"),
        ([10**12] * 40, "divide them by their mean"),
    ],
)
def test_invalid_weights(weights, message):
    X, y, _ = make_table(0)
    for estimator in (SLFS(), TAN(), MDLPDiscretizer(), BNSLFS(), StabilitySelection()):
        with pytest.raises(ValueError, match=message):
            estimator.fit(X, y, sample_weight=weights)
    with pytest.raises(ValueError, match=message):
        SAOLA().fit_stream([X], y, sample_weight=weights)


def test_only_one_class_has_weight():
    X, y, _ = make_table(0)
    with pytest.raises(ValueError, match="only one class"):
        SLFS().fit(X, y, sample_weight=y)


def test_a_memory_limit_refuses_a_large_total():
    X, y, _ = make_table(0)
    with pytest.raises(ValueError, match="set memory_limit to at least"):
        SLFS(memory_limit="1GiB").fit(X, y, sample_weight=np.full(40, 10**6))


@pytest.mark.parametrize("memory_limit", [None, "1GiB"])
def test_a_limit_that_the_machine_has_not_is_not_advised(memory_limit):
    X, y, _ = make_table(0)
    with pytest.raises(ValueError, match=r"divide them by a whole number and round\.$"):
        SLFS(memory_limit=memory_limit).fit(X, y, sample_weight=np.full(40, 10**12))


def test_the_memory_of_the_columns_limits_the_total(monkeypatch):
    """The system killed the process: each sample is worth a row of planes."""
    monkeypatch.setattr("slfs.tables.weights.available_memory", lambda: 24 << 30)
    random = np.random.default_rng(0)
    X, y = random.normal(size=(63, 143)), random.integers(0, 2, 63)
    weights = random.choice([250_000, 500_000, 1_000_000], 63)

    def refused(X, total):
        try:
            with warnings.catch_warnings(action="ignore"):
                make_weights(np.full(63, total // 63), None, read_target(y), None, read_table(X))
        except ValueError:
            return True
        return False

    assert refused(X, weights.sum()), "before a fit takes so much memory"
    with pytest.raises(ValueError, match=r"With 24 GiB of memory and 143 columns .* set memory_limit"):
        SLFS().fit(X, y, sample_weight=weights)
    assert not refused(X, 7_350_000), "7.6 GB"
    assert not refused((X > 0).astype(float), 200_000_000), "63 bytes per sample"
    assert not refused(pd.DataFrame(X > 0).astype(str).add_prefix("c"), 100_000_000)
    monkeypatch.setattr("slfs.tables.weights.available_memory", lambda: 2 << 30)
    assert not refused(X, 1_470_000), "1.8 GB"
    assert refused(np.tile(X, (1, 70)), 630_000), "25 GB"


@pytest.mark.parametrize(
    "kind", [np.array, list, tuple, pd.Series, lambda w: pd.array(w, dtype="Int64")]
)
def test_weights_of_any_type(kind):
    X, y, random = make_table(3)
    weights = random.integers(1, 4, 40)
    assert_same(
        TAN().fit(X, y, sample_weight=kind(weights.tolist())), TAN().fit(X, y, sample_weight=weights), X
    )


@pytest.mark.parametrize("estimator", DETERMINISTIC, ids=repr)
def test_other_weights_do_not_depend_on_their_scale(estimator):
    X, y, random = make_table(4, n_rows=80, n_classes=3)
    weights = random.gamma(2.0, size=80)
    kind, parameters = type(estimator), estimator.get_params(deep=False)
    one = kind(**parameters).fit(X, y, sample_weight=weights)
    for factor in (1e-6, 3.7, 2.0**40):
        assert_same(kind(**parameters).fit(X, y, sample_weight=factor * weights), one, X)
    same = kind(**parameters).fit(X, y, sample_weight=np.full(80, 0.3))
    assert_same(same, kind(**parameters).fit(X, y), X)


@pytest.mark.parametrize("estimator", DETERMINISTIC, ids=repr)
def test_the_amount_of_evidence_does_not_depend_on_the_resolution(estimator):
    """Rows that are counted four times, four of which are one sample, are the same evidence."""
    X, y, _ = make_table(5, n_rows=60)
    kind, parameters = type(estimator), estimator.get_params(deep=False)
    coarse = kind(**parameters).fit(X, y)
    fine = SampleWeights(np.full(60, 4), 4.0, np.ones(60, np.int64))
    found = kind(**parameters).fit(X, y, sample_weight=fine)
    if hasattr(found, "indices_"):
        np.testing.assert_array_equal(found.indices_, coarse.indices_)
        np.testing.assert_allclose(found.selection_scores_, coarse.selection_scores_, rtol=1e-3)
        np.testing.assert_array_equal(found.pvalues_, coarse.pvalues_)
        assert found.features_["reason"].tolist() == coarse.features_["reason"].tolist()
        assert found.network_counts_.n_samples == 60
        np.testing.assert_allclose(
            BNSLFS.from_selector(found, structure="linked").predict_proba(X),
            BNSLFS.from_selector(coarse, structure="linked").predict_proba(X),
        )
        if found._additive is not None:
            np.testing.assert_allclose(
                found.to_classifier().predict_proba(X), coarse.to_classifier().predict_proba(X)
            )
    elif hasattr(found, "predict_proba"):
        np.testing.assert_allclose(found.predict_proba(X), coarse.predict_proba(X))
    elif hasattr(found, "predict"):
        np.testing.assert_allclose(found.predict(X), coarse.predict(X), rtol=1e-6)
    else:
        np.testing.assert_array_equal(found.transform(X), coarse.transform(X))


@pytest.mark.parametrize(
    ("labels", "weights", "class_weight", "expected", "unit"),
    [
        ("aabb", None, None, None, None),
        ("aabb", [1, 1, 1, 1], None, None, None),
        ("aabb", [0.5, 0.5, 0.5, 0.5], None, [1, 1, 1, 1], 1.0),
        ("aabb", [2, 0, 1, 3], None, [2, 0, 1, 3], 1.0),
        ("aabb", [0.5, 1.5, 1.0, 1.0], None, [1, 3, 2, 2], 18 / 8),
        ("aabb", [0.5, 0, 1.0, 1.0], None, [1, 0, 2, 2], 9 / 5),
        ("abbb", None, "balanced", [3, 1, 1, 1], 12 / 6),
        ("aaab", [1, 1, 1, 3], "balanced", [1, 1, 1, 3], 1.0),
        ("aaab", [1, 1, 1, 6], "balanced", [2, 2, 2, 6], (3 * 4 + 6) / 12),
        ("abbb", None, {"a": 2}, [2, 1, 1, 1], 7 / 5),
        ("aabb", [0.5, 0.5, 1.5, 1.5], "balanced", [1, 1, 1, 1], 1.0),
        ("abbb", [1, 1, 2, 1], {"a": 2}, [2, 1, 2, 1], 8 / 6),
        ("abbb", None, {"a": 5, "b": 5}, None, None),
        ("abbb", None, {"a": 2, "b": 1, "c": 9}, [2, 1, 1, 1], 7 / 5),
    ],
)
def test_how_often_rows_are_counted(labels, weights, class_weight, expected, unit):
    values = None if weights is None else np.array(weights, float)
    found = make_weights(values, class_weight, read_target(list(labels)), None)
    assert (found is None) == (expected is None)
    if found is not None:
        assert (found.counts.tolist(), found.unit) == (expected, pytest.approx(unit))


@given(st.lists(st.floats(1e-3, 1e3), min_size=4, max_size=40))
@settings(max_examples=EXAMPLES, deadline=None)
def test_rounding_of_weights(weights):
    """Rounding errors are as documented, and equal weights are counted equally often."""
    values = np.array(weights)
    target = read_target([0, 1] * (len(values) // 2) + [0] * (len(values) % 2))
    found = make_weights(values, None, target, None)
    if found is None or found.frequencies is None:  # all are whole numbers
        return
    assert found.counts.min() >= 1
    assert found.counts.mean() <= FINEST + 1
    scaled = values / values.mean()
    factors = np.linspace(0.5, FINEST, 200)
    error = min(np.abs(found.counts / factor - scaled).mean() for factor in factors)
    assert error <= max(ERROR, 0.5 / FINEST) + (scaled < 1 / FINEST).sum() / FINEST / len(values) + 0.02
    for value in np.unique(values):
        assert len(np.unique(found.counts[values == value])) == 1


def test_invalid_class_weights():
    X, y, _ = make_table(0)
    with pytest.raises(ValueError, match=r"weights for \['b'\], which are not classes of y"):
        TAN(class_weight={"b": 2, 0: 1}).fit(X, y)
    for wrong in (0, -1, np.nan):
        with pytest.raises(ValueError, match="must contain positive numbers"):
            TAN(class_weight={0: wrong}).fit(X, y)
    with pytest.raises(ValueError, match="'class_weight' parameter of TAN must be"):
        TAN(class_weight="equal").fit(X, y)


@pytest.mark.parametrize(
    "estimator", [one for one in DETERMINISTIC if "class_weight" in one.get_params(deep=False)], ids=repr
)
def test_balanced_class_weights_are_sample_weights(estimator):
    X, y, _ = make_table(6, n_rows=90, n_classes=3)
    y = np.where(y == 2, np.arange(90) % 2, y) * (np.arange(90) % 3 > 0)
    kind, parameters = type(estimator), estimator.get_params(deep=False)
    balanced = kind(**{**parameters, "class_weight": "balanced"}).fit(X, y)
    by_hand = kind(**parameters).fit(X, y, sample_weight=(1 / np.bincount(y))[y])
    assert_same(balanced, by_hand, X)
    if hasattr(balanced, "pvalues_"):
        plain = kind(**parameters).fit(X, y)
        np.testing.assert_array_equal(balanced.pvalues_, plain.pvalues_)
        assert not np.array_equal(balanced.scores_, plain.scores_)


@pytest.mark.parametrize("estimator", [SLFS(n_features_to_select=3), TAN(), MDLPDiscretizer()], ids=repr)
def test_class_weights_of_repeated_rows(estimator):
    X, y, random = make_table(7, n_classes=3)
    weights = random.integers(1, 4, len(y))
    kind, parameters = type(estimator), {**estimator.get_params(), "class_weight": "balanced"}
    weighted = kind(**parameters).fit(X, y, sample_weight=weights)
    assert_same(weighted, kind(**parameters).fit(*repeated(X, y, weights)), X)


def rare_class(seed, n_samples=4000):
    """Eight columns tell two common classes apart, three others a class with 2% of the samples."""
    random = np.random.default_rng(seed)
    y = random.choice(3, n_samples, p=[0.49, 0.49, 0.02])
    X = random.normal(size=(n_samples, 30))
    X[:, :8] += 0.5 * (y == 1)[:, np.newaxis]
    X[:, 10:13] += 1.2 * (y == 2)[:, np.newaxis]
    return X, y


@pytest.mark.parametrize("kind", [SLFS, ResidualPursuit, MRMR, CMIM])
@pytest.mark.parametrize("seed", range(2))
def test_balanced_weights_recover_the_columns_of_a_rare_class(kind, seed):
    X, y = rare_class(seed)
    rare = {10, 11, 12}
    assert not rare & set(kind(n_features_to_select=6).fit(X, y).indices_.tolist())
    balanced = kind(n_features_to_select=6, class_weight="balanced").fit(X, y)
    assert rare <= set(balanced.indices_.tolist()) <= rare | set(range(8)), "and no noise"


def test_balanced_weights_raise_the_balanced_accuracy():
    X, y = rare_class(0)
    new, labels = rare_class(9)
    recall = []
    for class_weight in (None, "balanced"):
        predicted = (
            BNSLFS(SLFS(n_features_to_select=6), class_weight=class_weight).fit(X, y).predict(new)
        )
        recall.append(np.mean([np.mean(predicted[labels == c] == c) for c in range(3)]))
    assert recall[1] > recall[0] + 0.08


def test_heavy_rows_are_not_evidence():
    """One row in fifty is 100 times as heavy: it must not make noise look informative."""
    random = np.random.default_rng(0)
    X, y = random.normal(size=(1000, 40)), random.integers(0, 2, 1000)
    weights = np.where(np.arange(1000) % 50, 0.5, 50.0)
    assert SLFS(order="conditional").fit(X, y, sample_weight=weights).n_features_ <= 2


@pytest.mark.parametrize(
    "estimator",
    [
        SLFS(),
        ResidualPursuit(),
        BNSLFS(),
        BNSLFS(class_weight="balanced"),
        StabilitySelection(SLFS(n_features_to_select=2), n_subsamples=6),
        StabilitySelection(SLFS(n_features_to_select=2, class_weight="balanced"), n_subsamples=6),
    ],
    ids=repr,
)
def test_folds_and_subsamples_of_frequencies_are_those_of_repeated_rows(estimator):
    X, y, random = make_table(16, n_rows=60, n_classes=3)
    weights = random.integers(0, 4, 60)
    kind, parameters = type(estimator), estimator.get_params(deep=False)
    weighted = kind(**parameters).fit(X, y, sample_weight=weights)
    plain = kind(**parameters).fit(*repeated(X, y, weights))
    assert_same(weighted, plain, X)
    if hasattr(plain, "frequencies_"):
        np.testing.assert_array_equal(weighted.frequencies_, plain.frequencies_)


def test_folds_of_other_weights_are_drawn_over_rows():
    """Copies of a row in the training and the test part would make every identifier look useful."""
    random = np.random.default_rng(0)
    X, y = random.integers(0, 12, (60, 6)).astype(str), np.arange(60) % 2
    copied = SLFS().fit(X, y, sample_weight=np.full(60, 8))
    assert copied.size_path_.log_loss.min() < 0.57, "frequencies are different samples"
    weighted = SLFS().fit(X, y, sample_weight=np.where(np.arange(60) % 4 < 2, 0.5, 4.0))
    assert weighted.size_path_.log_loss.min() > 0.6


def test_the_held_out_loss_is_weighted():
    X, y = rare_class(0, 1000)
    plain = SLFS(max_features=3).fit(X, y).size_path_
    balanced = SLFS(max_features=3, class_weight="balanced").fit(X, y).size_path_
    assert plain.log_loss[0] == pytest.approx(0.78, abs=0.03)
    assert balanced.log_loss[0] == pytest.approx(np.log(3), abs=0.03)


@pytest.mark.parametrize("cv", [KFold(3), StratifiedKFold(4, shuffle=True, random_state=0), 3, "list"])
def test_automatic_size_with_any_splitter(cv):
    X, y, random = make_table(8, n_rows=120)
    weights = random.integers(0, 3, 120)
    splits = list(StratifiedKFold(3).split(X, y)) if cv == "list" else cv
    selector = SLFS(cv=splits).fit(X, y, sample_weight=weights)
    assert selector.n_features_ == len(selector.indices_) > 0
    assert selector.size_path_.log_loss[-1] < selector.size_path_.log_loss[0]


def test_splits_without_two_classes():
    X, y, _ = make_table(8)
    order = np.argsort(y, kind="stable")
    with pytest.raises(ValueError, match="do not contain two classes"):
        SLFS(cv=[(order[:5], order[5:])]).fit(X, y)
    with pytest.raises(ValueError, match=r"split with the row 40; X has the rows 0 to 39"):
        SLFS(cv=[(np.arange(30), np.arange(30, 41))]).fit(X, y)
    with pytest.raises(ValueError, match="split with the row -1"):
        SLFS(cv=[(np.arange(30), np.arange(-1, 10))]).fit(X, y)
    with pytest.raises(ValueError, match=r"Use np\.flatnonzero for masks"):
        SLFS(cv=[(np.arange(40) < 30, np.arange(40) >= 30)]).fit(X, y)
    with pytest.raises(ValueError, match="those of X, not of a subsample"):
        StabilitySelection(SLFS(cv=[(order[::2], order[1::2])]), n_subsamples=2).fit(X, y)
    with pytest.raises(ValueError, match="'cv' parameter of SLFS must be"):
        SLFS(cv="many").fit(X, y)


@pytest.mark.parametrize("weights", ["whole", "other", "balanced"])
def test_stability_selection(weights):
    X, y, random = make_table(9, n_rows=120)
    w = {"whole": random.integers(0, 3, 120), "other": random.random(120), "balanced": None}[weights]
    class_weight = "balanced" if weights == "balanced" else None
    inner = SLFS(n_features_to_select=2, class_weight=class_weight)
    selector = StabilitySelection(inner, n_subsamples=6).fit(X, y, sample_weight=w)
    assert selector.frequencies_.max() > 0.5
    assert selector.network_counts_.n_used == (120 if w is None else (w > 0).sum())
    again = StabilitySelection(inner, n_subsamples=6, n_jobs=2).fit(X, y, sample_weight=w)
    np.testing.assert_array_equal(selector.frequencies_, again.frequencies_)
    if weights == "whole":
        left_out = StabilitySelection(inner, n_subsamples=6).fit(X[w > 0], y[w > 0], w[w > 0])
        np.testing.assert_array_equal(selector.frequencies_, left_out.frequencies_)


def test_class_weights_of_labels_in_stability_selection():
    X, y, _ = make_table(9, n_rows=120)
    labels = np.array(["a", "b"])[y]
    plain = StabilitySelection(SLFS(n_features_to_select=2), n_subsamples=4).fit(X, labels)
    inner = SLFS(n_features_to_select=2, class_weight={"a": 1, "b": 1})
    equal = StabilitySelection(inner, n_subsamples=4).fit(X, labels)
    np.testing.assert_array_equal(equal.frequencies_, plain.frequencies_)


def test_the_class_weight_of_a_classifier_is_that_of_its_selector():
    X, y, _ = make_table(10, n_rows=90)
    y = y * (np.arange(90) % 3 == 0)
    one = BNSLFS(SLFS(n_features_to_select=2), class_weight="balanced").fit(X, y)
    other = BNSLFS(SLFS(n_features_to_select=2, class_weight="balanced")).fit(X, y)
    assert_same(one, other, X)
    stable = StabilitySelection(SLFS(n_features_to_select=2), n_subsamples=4)
    nested = BNSLFS(stable, structure="linked", class_weight="balanced").fit(X, y)
    assert nested.selector_.selector.class_weight == "balanced"
    assert stable.selector.class_weight is None


@pytest.mark.parametrize("weights", ["whole", "other"])
@pytest.mark.parametrize("selector", [SAOLA(), SLFS(order="given"), OSFS()], ids=repr)
def test_streams(selector, weights):
    X, y, random = make_table(11, n_rows=80)
    w = random.integers(0, 3, 80) if weights == "whole" else random.random(80)
    kind, parameters = type(selector), selector.get_params()
    whole = kind(**parameters).fit(X, y, sample_weight=w)
    stream = kind(**parameters).fit_stream([X.iloc[:, :2], X.iloc[:, 2:4]], y, sample_weight=w)
    assert_same(stream.extend(X.iloc[:, 4:]), whole, X)
    with pytest.raises(ValueError, match="has 10 rows, but y has 80 labels"):
        stream.extend(X.iloc[:10].add_prefix("new "))


@pytest.mark.parametrize("weights", ["whole", "other"])
def test_dask(weights):
    dask_array = pytest.importorskip("dask.array")
    random = np.random.default_rng(0)
    y = random.integers(0, 3, 90)
    X = random.normal(size=(90, 12)) + 0.3 * y[:, np.newaxis] * (np.arange(12) < 4)
    w = random.integers(0, 3, 90) if weights == "whole" else random.random(90)
    spread = dask_array.from_array(X, chunks=(30, 5))
    selector = SLFS(order="conditional")
    found = selector.fit(spread, y, sample_weight=dask_array.from_array(w))
    assert_same(found, SLFS(order="conditional").fit(X, y, sample_weight=w), X)


def test_significance_with_weights():
    X, y, random = make_table(12)
    w = random.integers(0, 4, 40)
    again = repeated(X, y, w)
    np.testing.assert_array_equal(p_values(X, y, sample_weight=w), p_values(*again))
    np.testing.assert_array_equal(
        p_values(X, y, sample_weight=w, n_permutations=99), p_values(*again, n_permutations=99)
    )
    other = np.where(w, random.random(40), 0)
    np.testing.assert_array_equal(p_values(X, y, sample_weight=other), p_values(X[w > 0], y[w > 0]))
    selector = SLFS(order="given").fit(X, y)
    for n_permutations in (0, 99):
        found = assess(selector, X, y, sample_weight=w, n_permutations=n_permutations)
        expected = assess(selector, *again, n_permutations=n_permutations)
        pd.testing.assert_frame_equal(pd.DataFrame(found), pd.DataFrame(expected))


@pytest.mark.parametrize("target", ["classification", "regression"])
def test_interactions_with_weights(target):
    X, y, random = make_table(12, n_rows=120)
    if target == "regression":
        y = y + random.normal(size=120)
    w = random.integers(0, 4, 120)

    def found(X, y, **options):
        result = interactions(X, y, target=target, **options).to_dict()
        return json.dumps(result, default=str)

    assert found(X, y, sample_weight=w) == found(*repeated(X, y, w))
    other = np.where(w, random.random(120), 0)
    assert found(X, y, sample_weight=other) == found(X[w > 0], y[w > 0])


def test_saving_and_reporting(tmp_path):
    X, y, _ = make_table(13, n_rows=80)
    y = y * (np.arange(80) % 4 == 0)
    classifier = BNSLFS(SLFS(n_features_to_select=2), class_weight={0: 1, 1: 4}).fit(X, y)
    saving.save(classifier, tmp_path / "model.slfs")
    loaded = saving.load(tmp_path / "model.slfs")
    assert loaded.class_weight == {0: 1, 1: 4}
    assert_same(loaded, classifier, X)
    facts = make_facts(classifier.selector_)
    assert facts["n_samples"] == 80
    assert facts["effective_samples"] < 80, "weighted samples are worth less"
    assert abs(sum(facts["class_counts"]) - facts["effective_samples"]) <= 1
    size = f"80 rows weighted as {facts['effective_samples']} samples"
    assert (facts["size"], size in facts["summary"]) == (size, True)
    write_report(classifier.selector_, tmp_path / "report.html", X=X, y=y)
    frequencies = SLFS(n_features_to_select=2).fit(X, y, sample_weight=np.full(80, 3))
    facts = make_facts(frequencies)
    assert (facts["n_samples"], facts["effective_samples"]) == (240, None)
    assert (facts["size"], "(2 classes, 240 samples)" in facts["summary"]) == ("240 samples", True)
    write_report(frequencies, tmp_path / "report.html", X=X, y=y)


def test_metadata_routing():
    X, y, random = make_table(14, n_rows=80)
    X = X.drop(columns="text")
    w = random.integers(1, 4, 80)
    with config_context(enable_metadata_routing=True):
        selector = SLFS(n_features_to_select=2).set_fit_request(sample_weight=True)
        discretizer = MDLPDiscretizer().set_fit_request(sample_weight=True)
        bayes = CategoricalNB().set_fit_request(sample_weight=False)
        routed = make_pipeline(selector, discretizer, bayes).fit(X, y, sample_weight=w)
        assert_same(routed[0], SLFS(n_features_to_select=2).fit(X, y, sample_weight=w), X)
        classifier = BNSLFS(SLFS(n_features_to_select=2)).set_fit_request(sample_weight=True)
        classifier.set_score_request(sample_weight=True)
        search = GridSearchCV(classifier, {"alpha": [1.0]}, cv=2).fit(X, y, sample_weight=w)
        expected = BNSLFS(SLFS(n_features_to_select=2)).fit(X, y, sample_weight=w)
        assert_same(search.best_estimator_, expected, X)
    plain = make_pipeline(SLFS(n_features_to_select=2), MDLPDiscretizer(), CategoricalNB())
    plain.fit(X, y, slfs__sample_weight=w)
    assert_same(plain[0], routed[0], X)


def test_command_line(tmp_path, monkeypatch, slfs):
    monkeypatch.chdir(tmp_path)
    X, y, random = make_table(15, n_rows=80)
    w = random.integers(0, 3, 80)
    table = X.assign(w=w, y=np.where(y, "yes", "no"))
    table.to_csv("a.csv", index=False)
    table.to_parquet("a.parquet")
    table.iloc[np.repeat(np.arange(80), w)].to_csv("b.csv", index=False)
    options = ("-t", "y", "-k", "2", "--order", "conditional", "--json")
    expected = json.loads(slfs("select", "b.csv", "--drop", "w", *options)[1])
    for file in ("a.csv", "a.parquet"):
        code, out, _ = slfs("select", file, "--weights", "w", *options)
        found = json.loads(out)
        assert code == 0
        for part in ("selected", "nodes", "n_samples", "class_counts"):
            assert found[part] == expected[part]
    code, out, _ = slfs(
        "select", "a.csv", "-t", "y", "--drop", "w", "-k", "2", "--class-weight", "balanced"
    )
    assert (code, "80 rows weighted as " in out) == (0, True)
    code, _, _ = slfs("fit", "a.csv", "-t", "y", "--weights", "w", "-k", "2", "-o", "m.slfs")
    model = saving.load("m.slfs")
    assert (code, "w" in model.feature_names_in_) == (0, False)
    assert model.selector_.network_counts_.n_samples == w.sum()
    code, _, error = slfs("select", "a.csv", "-t", "y", "--weights", "y")
    assert (code, "is the target" in error) == (1, True)
    expected = json.loads(slfs("discretize", "b.csv", "-t", "y", "--drop", "w", "--json")[1])
    found = json.loads(slfs("discretize", "a.csv", "-t", "y", "--weights", "w", "--json")[1])
    assert found["cut_points"] == expected["cut_points"]
    code, _, error = slfs("compare", "a.csv", "-t", "y", "--weights", "w")
    assert (code, "No such option" in error, "--weights" in error) == (2, True, True)


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_whole_numbers_that_may_be_survey_weights_are_warned_about(class_weight):
    """As frequencies they turn chance into evidence, whatever the weights of the classes."""
    random = np.random.default_rng(0)
    X, y = random.normal(size=(500, 5)), random.integers(0, 2, 500)
    weights = random.integers(50, 400, 500)
    selector = MRMR(n_features_to_select=1, class_weight=class_weight)
    with pytest.warns(UserWarning, match=rf"500 rows count as {weights.sum()} samples.*by their mean"):
        selector.fit(X, y, sample_weight=weights)
    selector.fit(X, y, sample_weight=weights / weights.mean())
    with pytest.warns(UserWarning, match="20 rows count as"):
        selector.fit(X[:20], y[:20], sample_weight=weights[:20])


def test_frequencies_of_the_cells_of_a_table_are_not_warned_about():
    """A dose occurs with each outcome, and a combination of categories does too; rows have numbers."""
    cells = pd.MultiIndex.from_product([[0.5, 1.2, 2.5, 4.1], ["f", "m"], [0, 1]]).to_frame(index=False)
    cells.columns = ["dose", "sex", "sick"]
    cells["row"] = np.arange(1, len(cells) + 1)
    counts = np.random.default_rng(0).integers(50, 400, len(cells))
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="sample_weight contains whole numbers")
        for columns in (["dose", "sex", "row"], ["sex"], ["dose"]):
            SLFS(n_features_to_select=1).fit(cells[columns], cells["sick"], sample_weight=counts)
