"""BNSLFS: posteriors of the reference implementation, valid distributions, no pass over the data."""

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

from slfs import BNSLFS, SLFS, MDLPDiscretizer
from tests import naive
from tests.helpers import dependent_codes


@pytest.mark.parametrize("alpha", [0, 5e-324, 1e-31, 1e31, 1.7e308])
def test_smoothing_that_floats_cannot_take(alpha):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r"'alpha' .* range \[1e-30, 1e\+30\]"):
        BNSLFS(alpha=alpha).fit(X, y)


@pytest.mark.parametrize("alpha", [1e-30, 1e30])
def test_the_least_and_the_largest_smoothing(alpha):
    X, y = load_iris(return_X_y=True)
    found = BNSLFS(structure="linked", alpha=alpha, backoff=alpha).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(found.sum(axis=1), 1)


@pytest.mark.parametrize("structure", ["tree", "augmented", "linked"])
@pytest.mark.parametrize(("alpha", "backoff"), [(1.0, 5.0), (0.3, 2.0)])
def test_joint_probabilities_equal_the_oracle(structure, alpha, backoff):
    codes, y = dependent_codes(5, 211, 16)
    selector = SLFS(categorical_features="all", max_children=3)
    classifier = BNSLFS(selector, structure=structure, alpha=alpha, backoff=backoff).fit(codes.T, y)
    network = classifier.network_
    assert len(network) >= 5
    assert len(network.children()) >= 2
    columns = {int(c): codes[c].tolist() for c in network.columns}
    parents, tree_only = oracle_parents(network, columns, y.tolist(), structure)
    found = classifier.predict_joint_log_proba(codes.T[:20])
    for i, label in itertools.product(range(20), range(3)):
        sample = {c: column[i] for c, column in columns.items()}
        expected = naive.joint_log_probability(
            sample, label, columns, y.tolist(), parents, alpha, backoff, tree_only=tree_only
        )
        assert found[i, label] == pytest.approx(expected, abs=1e-10)


def oracle_parents(network, columns, y, structure):
    """Parents other than the class, by definition; and the columns without the class as a parent."""
    parents, tree_only = {}, set()
    top = [int(network.columns[node]) for node in network.children()]
    relevance = {c: naive.mutual_information(columns[c], y) for c in top}
    for node, column in enumerate(network.columns.tolist()):
        if network.parents[node] >= 0:
            parents[column] = int(network.columns[network.parents[node]])
            if structure == "tree":
                tree_only.add(column)
            continue
        ahead = [c for c in top if (relevance[c], -c) > (relevance[column], -column)]
        parents[column] = None
        if structure == "linked" and ahead:
            parents[column] = max(
                ahead, key=lambda c: naive.conditional_information(columns[column], columns[c], y)
            )
    return parents, tree_only


@pytest.mark.parametrize("structure", ["tree", "augmented", "linked"])
def test_probabilities_of_all_samples_sum_to_one(structure):
    codes, y = dependent_codes(1, 120, 4, n_levels=3)
    classifier = BNSLFS(SLFS(categorical_features="all"), structure=structure).fit(codes.T, y)
    every = np.array(list(itertools.product(range(3), repeat=4)))
    selected = every[:, classifier.selector_.support_]
    _, first = np.unique(selected, axis=0, return_index=True)
    assert np.exp(classifier.score_samples(every[first])).sum() == pytest.approx(1)
    joint = classifier.predict_joint_log_proba(every[first])
    assert np.exp(joint).sum() == pytest.approx(1)
    np.testing.assert_allclose(classifier.predict_proba(every).sum(axis=1), 1)
    np.testing.assert_allclose(
        np.exp(classifier.predict_log_proba(every)), classifier.predict_proba(every)
    )
    labels = classifier.classes_[classifier.predict_proba(every).argmax(axis=1)]
    np.testing.assert_array_equal(classifier.predict(every), labels)


def test_tree_structure_hears_the_children_of_the_class_only():
    X, y = load_breast_cancer(return_X_y=True)
    classifier = BNSLFS(structure="tree").fit(X, y)
    changed = X.copy()
    deep = classifier.network_.columns[classifier.network_.levels > 1]
    changed[:, deep] = X[::-1, deep]
    np.testing.assert_allclose(classifier.predict_proba(changed), classifier.predict_proba(X))
    assert not np.allclose(classifier.score_samples(changed), classifier.score_samples(X))


@pytest.mark.parametrize("structure", ["tree", "augmented", "linked"])
def test_to_classifier_equals_fitting_one(structure):
    X, y = load_breast_cancer(return_X_y=True)
    made = SLFS(max_depth=3).fit(X, y).to_classifier(structure=structure, alpha=0.5, backoff=3)
    fitted = BNSLFS(SLFS(max_depth=3), structure=structure, alpha=0.5, backoff=3).fit(X, y)
    np.testing.assert_array_equal(made.predict_proba(X), fitted.predict_proba(X))
    np.testing.assert_array_equal(made.parents_, fitted.parents_)
    assert made.get_params()["selector__max_depth"] == 3


def test_to_classifier_makes_no_pass_over_the_data(monkeypatch):
    X, y = load_iris(return_X_y=True)
    selector = SLFS().fit(X, y)
    expected = selector.to_classifier().predict_proba(X)
    copy = X.copy()
    X[:] = np.nan
    import slfs.base

    monkeypatch.setattr(slfs.base, "read_target", None)
    np.testing.assert_array_equal(selector.to_classifier().predict_proba(copy), expected)


def test_samples_follow_the_network():
    X, y = load_iris(return_X_y=True)
    classifier = BNSLFS(SLFS(order="given"), structure="linked").fit(X, y)
    drawn, labels = classifier.sample(60_000, random_state=0)
    assert drawn.shape == (60_000, classifier.selector_.n_features_)
    again, _ = classifier.sample(60_000, random_state=0)
    np.testing.assert_array_equal(drawn, again)
    assert drawn.min() >= X.min()
    assert drawn.max() <= X.max()
    assert classifier.selector_.support_.all()
    codes = MDLPDiscretizer().fit(X, y).transform(drawn)
    for i in range(0, 40, 7):
        alike = (codes == codes[i]).all(axis=1)
        expected = np.exp(classifier.predict_joint_log_proba(drawn[i : i + 1]))[0]
        for c, p in enumerate(expected):
            share = (alike & (labels == c)).mean()
            assert share == pytest.approx(p, abs=5 * np.sqrt(p / 60_000) + 1e-4)


def test_samples_of_mixed_columns_have_values_that_were_seen():
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 400)
    flip = np.where(random.random(400) < 0.85, y, 1 - y)
    frame = pd.DataFrame(
        {
            "word": np.where(random.random(400) < 0.1, None, np.array(["lo", "hi"])[flip]),
            "number": np.where(random.random(400) < 0.1, np.nan, y * 2 + random.normal(size=400)),
            "flag": np.where(random.random(400) < 0.8, y == 1, y == 0),
        }
    )
    classifier = BNSLFS(structure="linked").fit(frame, y)
    assert classifier.selector_.n_features_ == 3
    drawn, labels = classifier.sample(500, random_state=1)
    assert set(drawn[:, 0]) == {"lo", "hi", None}
    numbers = drawn[:, 1].astype(float)
    assert 0 < np.isnan(numbers).mean() < 0.3
    assert set(drawn[:, 2]) == {0.0, 1.0}
    assert set(labels) == {0, 1}
    table = pd.DataFrame(drawn, columns=frame.columns).astype({"number": float, "flag": bool})
    assert np.mean(classifier.predict(table) == labels) > 0.85


@pytest.mark.parametrize("structure", ["tree", "augmented", "linked"])
def test_every_structure_can_be_sampled(structure):
    codes, y = dependent_codes(5, 211, 16)
    selector = SLFS(categorical_features="all", max_children=2, max_depth=3).fit(codes.T, y)
    classifier = selector.to_classifier(structure=structure)
    drawn, labels = classifier.sample(20_000, random_state=0)
    whole = np.zeros((20_000, 16))
    whole[:, selector.support_] = drawn
    density = -classifier.score_samples(whole).mean()
    assert density == pytest.approx(-classifier.score_samples(codes.T).mean(), rel=0.1)
    shares = np.exp(classifier.predict_log_proba(whole)).mean(axis=0)
    np.testing.assert_allclose(np.bincount(labels) / 20_000, shares, atol=0.02)
    for wrong in (0, -1, 2.5):
        with pytest.raises(ValueError, match=f"n_samples must be .* Got {wrong} instead"):
            classifier.sample(wrong)


def test_refitting_the_selector_leaves_its_classifier_alone():
    X, y = load_iris(return_X_y=True)
    selector = SLFS().fit(X, y)
    classifier = selector.to_classifier()
    expected = classifier.predict_proba(X)
    selector.fit(X[:, :1], y)
    np.testing.assert_array_equal(classifier.predict_proba(X), expected)


def test_string_labels_come_back():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    classifier = BNSLFS().fit(X, names)
    assert set(classifier.predict(X)) == set(names)
    assert classifier.score(X, names) > 0.92


def test_a_refit_on_a_table_without_names_forgets_the_old_ones():
    X, y = load_iris(return_X_y=True, as_frame=True)
    classifier = BNSLFS().fit(X, y)
    classifier.fit(X.to_numpy()[:, :3], y)
    assert not hasattr(classifier, "feature_names_in_")
    assert classifier.predict(X.to_numpy()[:5, :3]).tolist() == [0] * 5
