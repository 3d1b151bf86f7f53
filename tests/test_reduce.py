"""A classifier reduced to the columns that it uses, and batches without rows."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer
from sklearn.utils.validation import check_is_fitted

import slfs
from slfs import BNSLFS, MRMR, SLFS, TAN, Chi2, ChowLiu, MDLPDiscretizer, NaiveBayes, StabilitySelection
from slfs.saving import load, save
from slfs.selectors import selectors


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    noise = np.random.default_rng(0).normal(size=len(X))
    return X.assign(**{"mean radius": 1.0, "noise": noise}), y


CLASSIFIERS = {
    **{name: BNSLFS(kind()) for name, kind in selectors().items()},
    "three": BNSLFS(SLFS(n_features_to_select=3)),
    "stability": BNSLFS(StabilitySelection(MRMR(4), n_subsamples=6)),
    "tan": TAN(),
    "chow-liu": ChowLiu(),
    "naive": NaiveBayes(),
}


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_reduced_classifier_predicts_the_same_from_its_own_columns(name, cancer, tmp_path):
    X, y = cancer
    whole = CLASSIFIERS[name].fit(X, y)
    used = np.sort(whole.network_.columns)
    assert 0 < len(used) < X.shape[1]
    reduced = whole.reduce()
    check_is_fitted(reduced)
    assert reduced.feature_names_in_.tolist() == X.columns[used].tolist()
    assert reduced.n_features_in_ == len(used)
    part = X.iloc[:, used]
    np.testing.assert_array_equal(reduced.predict_proba(part), whole.predict_proba(X))
    assert whole.n_features_in_ == X.shape[1], "the original is unchanged"
    assert whole.network_.columns.max() == used.max()
    save(reduced, tmp_path / "reduced.slfs")
    np.testing.assert_array_equal(
        load(tmp_path / "reduced.slfs").predict_proba(part), whole.predict_proba(X)
    )
    np.testing.assert_array_equal(reduced.reduce().predict(part), whole.predict(X))


@pytest.mark.parametrize("name", ["slfs", "chi2", "stability", "alpha-investing"])
def test_the_reduced_selector_describes_the_same_columns(name, cancer):
    X, y = cancer
    whole = CLASSIFIERS[name].fit(X, y)
    used, small = np.sort(whole.network_.columns), whole.reduce().selector_
    assert small.get_support().all()
    assert small.get_feature_names_out().tolist() == X.columns[used].tolist()
    assert small.features_.name.tolist() == X.columns[used].tolist()
    for attribute in ("scores_", "pvalues_", "qvalues_"):
        np.testing.assert_array_equal(
            getattr(small, attribute), getattr(whole.selector_, attribute)[used]
        )
    for column in X.columns[used]:
        assert small.explain(column) == whole.explain(column)
    assert [small.features_.name[i] for i in small.indices_] == list(small.network_.names)
    again = small.to_classifier().predict_proba(X.iloc[:, used])
    np.testing.assert_array_equal(again, whole.predict_proba(X))
    if isinstance(small, Chi2):
        for own, index in zip(small.cut_points_, used, strict=True):
            np.testing.assert_array_equal(own, whole.selector_.cut_points_[index])
    if isinstance(small, StabilitySelection):
        both = whole.selector_
        np.testing.assert_array_equal(small.frequencies_, both.frequencies_[used])
        np.testing.assert_array_equal(small.supports_.toarray(), both.supports_.toarray()[:, used])
        names = {-1: "class", **dict(enumerate(X.columns))}
        edges = {(names[e.parent], names[e.child]): e.frequency for e in both.edges_}
        for edge in small.edges_:
            parent = small.feature_names_in_[edge.parent] if edge.parent >= 0 else "class"
            assert edges[parent, small.feature_names_in_[edge.child]] == edge.frequency
        assert len(small.edges_) >= len(used)


def test_arrays_without_names_can_be_reduced(cancer):
    X, y = cancer[0].to_numpy(), cancer[1]
    whole = BNSLFS(SLFS(n_features_to_select=3)).fit(X, y)
    used = np.sort(whole.network_.columns)
    reduced = whole.reduce()
    assert not hasattr(reduced, "feature_names_in_")
    np.testing.assert_array_equal(reduced.predict(X[:, used]), whole.predict(X))


def test_parameters_of_a_reduced_classifier_are_its_own(cancer):
    whole = BNSLFS(SLFS(n_features_to_select=3)).fit(*cancer)
    whole.reduce().set_params(selector__n_features_to_select=1)
    assert whole.selector.n_features_to_select == 3
    assert BNSLFS().fit(*cancer).reduce().selector is None


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_errors_mention_reduce(cancer):
    X, y = cancer
    classifier = BNSLFS(SLFS(n_features_to_select=3)).fit(X, y)
    names = sorted(classifier.network_.names)
    with pytest.raises(ValueError, match=r"(?s)now missing.*uses only 3 of 31 columns: reduce\(\)"):
        classifier.predict(X[names])
    with pytest.raises(ValueError, match=r"(?s)has 3 features, but .*expecting 31.*reduce\(\)"):
        classifier.predict(X[names].to_numpy())
    for model, table in ((classifier.reduce(), X[names[:2]]), (classifier, X.drop(columns=names[0]))):
        with pytest.raises(ValueError, match="now missing") as caught:
            model.predict(table)
        assert "reduce" not in str(caught.value)  # it would not help


@pytest.mark.parametrize("make", [pd.DataFrame, pl.from_pandas], ids=["pandas", "polars"])
def test_errors_say_how_to_select_the_columns(make, cancer):
    """A reduced classifier is often given the table that it was fitted to."""
    X, y = cancer
    reduced = BNSLFS(SLFS(n_features_to_select=3)).fit(X, y).reduce()
    names = list(reduced.feature_names_in_)
    remedy = r"(?s)feature names should match.*X\[list\(estimator\.feature_names_in_\)\]"
    for table in (make(X), make(X[names[::-1]])):
        with pytest.raises(ValueError, match=remedy):
            reduced.predict(table)
        assert len(reduced.predict(table[list(reduced.feature_names_in_)])) == len(X)
    selector = SLFS().fit(X[names], y)
    with pytest.raises(ValueError, match=remedy):
        selector.transform(make(X))


def test_a_classifier_without_columns_cannot_be_reduced():
    X = np.random.default_rng(0).normal(size=(50, 2))
    with pytest.raises(ValueError, match="BNSLFS cannot be reduced: it uses none of the columns"):
        BNSLFS().fit(X, [0, 1] * 25).reduce()


EMPTY = {
    "pandas": lambda X: X.iloc[:0],
    "objects": lambda X: X.iloc[:0].astype(object),
    "numpy": lambda X: X.to_numpy()[:0],
    "polars": lambda X: pl.from_pandas(X)[:0],
    "arrow": lambda X: pl.from_pandas(X)[:0].to_arrow(),
    "sparse": lambda X: sparse.csr_array(X.to_numpy())[:0],
}


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("kind", EMPTY)
def test_empty_batches(kind, cancer):
    X, y = cancer
    empty = EMPTY[kind](X)
    for classifier in (BNSLFS(SLFS(n_features_to_select=4)).fit(X, y), TAN().fit(X, y)):
        assert classifier.explain_prediction(empty).log_factors.shape[0] == 0
        assert classifier.predict(empty).shape == (0,)
        assert classifier.predict(empty).dtype == classifier.classes_.dtype
        assert classifier.predict_proba(empty).shape == (0, 2)
        assert classifier.predict_log_proba(empty).shape == (0, 2)
    assert classifier.score_samples(empty).shape == (0,)
    for selector in (SLFS(n_features_to_select=4).fit(X, y), MRMR(4).fit(X, y)):
        assert selector.transform(empty).shape == (0, 4)
        for container in ("pandas", "polars"):
            if kind not in ("numpy", "sparse"):
                assert selector.set_output(transform=container).transform(empty).shape == (0, 4)
    assert MDLPDiscretizer().fit(X, y).transform(empty).shape == (0, X.shape[1])


def test_empty_batches_of_mixed_columns():
    y = np.array([0, 1] * 30)
    frame = pd.DataFrame({"a": np.where(y == 1, "u", "v"), "b": y == 1, "c": y + 0.5})
    for table in (frame, pl.from_pandas(frame)):
        assert NaiveBayes().fit(table, y).predict_proba(table[:0]).shape == (0, 2)


def test_fit_still_needs_rows(cancer):
    X, y = cancer
    with pytest.raises(ValueError, match="0 sample"):
        slfs.BNSLFS().fit(X.iloc[:0], y.iloc[:0])
