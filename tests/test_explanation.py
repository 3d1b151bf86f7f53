"""Explained predictions: contributions add up to the prediction, and importances are their means."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.feature_selection import SelectFromModel

from slfs import BNSLFS, SLFS, TAN, ChowLiu, NaiveBayes, PredictionExplanation
from tests.helpers import dependent_codes

CLASSIFIERS = {
    "linked": BNSLFS(
        SLFS(order="conditional", categorical_features="all", max_children=2, max_depth=3),
        structure="linked",
    ),
    "augmented": BNSLFS(SLFS(categorical_features="all"), structure="augmented"),
    "tree": BNSLFS(SLFS(categorical_features="all", max_children=2), structure="tree"),
    "tan": TAN(categorical_features="all"),
    "chow-liu": ChowLiu(categorical_features="all"),
    "naive": NaiveBayes(categorical_features="all"),
}


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True, as_frame=True)
    labels = np.array(["setosa", "versicolor", "virginica"])[y]
    return X, labels, BNSLFS(SLFS(order="conditional"), structure="linked").fit(X, labels)


@pytest.mark.filterwarnings("ignore::slfs.UnseenValueWarning")
@pytest.mark.parametrize("share_missing", [0, 0.4])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_contributions_add_up_to_the_prediction(name, share_missing):
    codes, y = dependent_codes(3, 150, 7, n_levels=3)
    classifier = CLASSIFIERS[name].fit(codes.T, y)
    X = codes.T[:60].astype(float)
    X[np.random.default_rng(0).random(X.shape) < share_missing] = np.nan
    found = classifier.explain_prediction(X)
    assert isinstance(found, PredictionExplanation)
    assert len(found) == 60
    used = np.sort(classifier.network_.columns)
    assert found.feature_names == [f"x{column}" for column in used]
    np.testing.assert_array_equal(found.known, ~np.isnan(X[:, used]))
    joint = classifier.predict_joint_log_proba(X)
    np.testing.assert_allclose(found.log_prior + found.log_factors.sum(axis=1), joint, atol=1e-9)
    shares = classifier.predict_proba(X)
    np.testing.assert_allclose(found.probabilities, shares, atol=1e-12)
    summed = softmax(found.log_prior + found.contributions.sum(axis=1), axis=1)
    np.testing.assert_allclose(summed, shares, atol=1e-12)
    np.testing.assert_array_equal(found.predictions, classifier.predict(X))
    assert not found.contributions[~found.known].any()
    prior = np.exp(found.log_prior)
    np.testing.assert_allclose(np.exp(found.contributions) @ prior, 1)


@pytest.mark.filterwarnings("ignore::slfs.UnseenValueWarning")
@pytest.mark.parametrize("structure", ["additive", "linked"])
def test_the_exponential_of_a_contribution_is_the_effect_of_the_factor_alone(structure):
    codes, y = dependent_codes(3, 150, 7, n_levels=3)
    selector = SLFS(order="residual", n_features_to_select=4, categorical_features="all")
    classifier = BNSLFS(selector, structure=structure).fit(codes.T, y)
    X = codes.T[:60].astype(float)
    found = classifier.explain_prediction(X)
    alone = np.exp(found.log_prior + found.contributions)
    np.testing.assert_allclose(alone.sum(axis=2), 1)
    np.testing.assert_allclose(alone, softmax(found.log_prior + found.log_factors, axis=2))
    columns = classifier.network_.columns
    order = np.argsort(columns)
    free = [j for j, node in enumerate(order) if classifier.parents_[node] < 0]
    assert 0 < len(free) < len(order)
    if structure == "additive":
        return  # a prediction from one value is shifted so that the mean is right
    for feature in free:
        only = np.full(X.shape, np.nan)
        only[:, columns[order[feature]]] = X[:, columns[order[feature]]]
        np.testing.assert_allclose(alone[:, feature], classifier.predict_proba(only))


def test_contributions_are_attributed_to_their_features(iris):
    """For naive Bayes a contribution depends on one column, and is the ratio of two shares."""
    X, y, _ = iris
    classifier = NaiveBayes(alpha=1e-12).fit(X, y)
    found = classifier.explain_prediction(X)
    width = X["petal width (cm)"]
    level = (width > 0.8).astype(int) + (width > 1.75)
    sample, feature = 70, X.columns.get_loc("petal width (cm)")
    alike = level == level[sample]
    for c, label in enumerate(classifier.classes_):
        share = alike[y == label].mean() / alike.mean()
        assert np.exp(found.contributions[sample, feature, c]) == pytest.approx(share, abs=1e-9)
    assert found.levels[sample, feature] == "> 1.75"
    other = X.copy()
    other["sepal length (cm)"] = X["sepal length (cm)"].to_numpy()[::-1]
    changed = classifier.explain_prediction(other).contributions
    np.testing.assert_array_equal(changed[:, 1:], found.contributions[:, 1:])
    assert not np.array_equal(changed[:, 0], found.contributions[:, 0])


def test_evidence_adds_up_to_the_log_odds(iris):
    X, _, classifier = iris
    found = classifier.explain_prediction(X)
    shares = np.sort(classifier.predict_proba(X), axis=1)
    first, second = (
        np.searchsorted(classifier.classes_, labels) for labels in (found.predictions, found.rivals)
    )
    prior = found.log_prior[first] - found.log_prior[second]
    np.testing.assert_allclose(
        prior + found.evidence().sum(axis=1), np.log(shares[:, -1] / shares[:, -2])
    )
    chosen = found.evidence("setosa", "virginica")
    np.testing.assert_allclose(chosen, found.log_factors[:, :, 0] - found.log_factors[:, :, 2])
    np.testing.assert_allclose(chosen, found.contributions[:, :, 0] - found.contributions[:, :, 2])
    of_setosa = found[found.predictions != "setosa"].evidence("setosa")
    rival = found[found.predictions != "setosa"]
    np.testing.assert_allclose(
        of_setosa[0],
        rival[0].evidence("setosa", rival.predictions[0])[0],
        err_msg="the most probable other",
    )
    with pytest.raises(ValueError, match=r"no class 'rose'. The classes are \['setosa', 'versicolor'"):
        found.evidence("rose")


def test_reasons_are_the_strongest_evidence(iris):
    X, _, classifier = iris
    found = classifier.explain_prediction(X.iloc[[70, 0]])
    reasons = found.reasons(2)
    assert [name for name, _, _ in reasons[0]] == ["petal width (cm)", "petal length (cm)"]
    assert reasons[0][0][1] == "> 1.75"
    assert reasons[0][0][2] == pytest.approx(np.abs(found.evidence()[0]).max())
    assert len(reasons[1]) == 2


def test_printed(iris):
    X, _, classifier = iris
    text = str(classifier.explain_prediction(X.iloc[[70]]))
    lines = text.splitlines()
    assert lines[0] == "sample 0: predicted virginica (P = 0.988) rather than versicolor (P = 0.012)"
    assert lines[2].split() == ["petal", "width", "(cm)", ">", "1.75", "+3.14", "x", "23"]
    assert lines[-2].split() == ["(class", "frequencies)", "+0.00", "x", "1"]
    assert lines[-1].split()[:2] == ["(sum)", "+4.41"]
    many = classifier.explain_prediction(X)
    assert str(many).count("predicted") == 5
    assert str(many).endswith("... and 145 more samples")
    assert repr(many) == "PredictionExplanation(150 samples, 2 features, 3 classes)"
    assert str(many[:0]) == repr(many[:0])
    assert str(many[70]) == text.replace("sample 0", "sample 70")
    assert many[[5, 2]][1:].to_frame()["sample"].unique().tolist() == [2]
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    large = TAN().fit(X, y)
    assert f"({len(large.network_) - 10} other features)" in str(large.explain_prediction(X[:1]))


def test_an_unknown_value_is_not_a_category_of_that_name():
    y = np.array([0, 1] * 40)
    frame = pd.DataFrame({"a": np.where(y == 1, "(unknown)", "v")})
    found = NaiveBayes().fit(frame, y).explain_prediction(frame)
    assert found.known.all()
    assert (found.contributions != 0).all()


def test_to_frame(iris):
    X, _, classifier = iris
    found = classifier.explain_prediction(X.iloc[:10])
    frame = found.to_frame()
    assert frame.columns.tolist() == ["sample", "feature", "level", "class", "contribution"]
    wide = frame.pivot(index=["sample", "class"], columns="feature", values="contribution")
    for feature, name in enumerate(found.feature_names):
        np.testing.assert_array_equal(
            wide[name].to_numpy().reshape(10, 3), found.contributions[:, feature]
        )
    level = frame[(frame["sample"] == 4) & (frame["feature"] == "petal width (cm)")]["level"]
    assert level.unique().tolist() == ["≤ 0.8"]


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_importances_are_mean_contributions_to_the_true_class(name):
    """The sum over all samples of a network, by the definition."""
    codes, y = dependent_codes(3, 150, 5, n_levels=3)
    classifier = CLASSIFIERS[name].fit(codes.T, y)
    every = np.array(list(itertools.product(range(3), repeat=5)))
    used = np.sort(classifier.network_.columns)
    _, first = np.unique(every[:, used], axis=0, return_index=True)
    weight = np.exp(classifier.predict_joint_log_proba(every[first]))
    assert weight.sum() == pytest.approx(1)
    contributions = classifier.explain_prediction(every[first]).contributions
    mean = (weight[:, np.newaxis] * contributions).sum(axis=(0, 2))
    expected = np.zeros(5)
    expected[used] = mean / mean.sum()
    np.testing.assert_allclose(classifier.feature_importances_, expected, atol=1e-12)
    assert classifier.feature_importances_.sum() == pytest.approx(1)
    assert (classifier.feature_importances_ >= 0).all()


def test_importances_in_scikit_learn(iris):
    X, _, classifier = iris
    chosen = SelectFromModel(classifier, prefit=True, max_features=2, threshold=-np.inf)
    assert chosen.transform(X.to_numpy()).shape == (150, 2)
    random = np.random.default_rng(0)
    empty = BNSLFS().fit(random.normal(size=(50, 3)), [0, 1] * 25)
    assert empty.feature_importances_.tolist() == [0, 0, 0]
    assert not hasattr(BNSLFS(), "feature_importances_")
    nothing = empty.explain_prediction(random.normal(size=(2, 3)))
    assert nothing.contributions.shape == (2, 0, 2)
    assert "(class frequencies)" in str(nothing)


def test_empty_batch(iris):
    X, _, classifier = iris
    found = classifier.explain_prediction(X.iloc[:0])
    assert found.contributions.shape == (0, 2, 3)
    assert found.reasons() == []
    assert len(found.to_frame()) == 0
