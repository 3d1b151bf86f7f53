"""Sample weights: whole numbers are repeated rows, to the bit; others are scaled; class weights."""

import os

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from slfs import (
    BNSLFS,
    OSFS,
    SAOLA,
    SLFS,
    TAN,
    FastOSFS,
    MDLPDiscretizer,
    StabilitySelection,
)
from slfs.saving.registry import estimators
from slfs.screening.plan import BlockLimits, block_limits
from slfs.selectors import selectors
from slfs.tables.weights import make_weights

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
        ([1.0, np.nan] + [1.0] * 38, "the first is nan in row 1 .* missing or infinite"),
        ([np.inf] * 40, "40 invalid"),
        ([0] * 40, "All sample weights are zero"),
        (["a"] * 40, "must contain numbers"),
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
    with pytest.raises(ValueError, match="higher memory_limit"):
        SLFS(memory_limit="1GiB").fit(X, y, sample_weight=np.full(40, 10**6))


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
    """Weights 3.5 and 7 are counted as 1 and 2, twice as many would make MDLP cut more."""
    X, y, _ = make_table(5, n_rows=60)
    kind, parameters = type(estimator), estimator.get_params(deep=False)
    coarse = kind(**parameters).fit(X, y)
    data = SLFS()._read_training_data(X, y)
    weights = make_weights(np.full(60, 1.0), {0: 2.0, 1: 2.0}, data.target, None)
    assert weights is None, "equal class weights change nothing"
    from slfs.tables.weights import SampleWeights

    fine = SampleWeights(np.full(60, 4), 4.0, np.ones(60, np.int64))
    if isinstance(estimator, BNSLFS):
        pytest.skip("BNSLFS hands over the weights to its selector, which is tested itself")
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
    else:
        np.testing.assert_array_equal(found.transform(X), coarse.transform(X))
