"""Results on the datasets of the paper."""

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline

from slfs import BNSLFS, SLFS, MDLPDiscretizer

TABLE_3 = [(15, 1, 2), (8, 1.5, 2), (8, 1.5, 3), (15, 1.5, 2), (15, 0.75, 1), (15, 1, 1)]
"""NCH, lambda and MAXDEPTH of the six rows."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reading", "expected"),
    [
        ({"order": "given", "irrelevance": "reversed"}, [75, 53, 147, 75, 15, 15]),
        ({"order": "given"}, [145, 67, 230, 145, 15, 15]),
        ({"order": "relevance"}, [99, 59, 197, 107, 15, 15]),
        ({"order": "given", "rule": "printed", "irrelevance": "printed"}, [6, 6, 13, 6, 1, 1]),
    ],
    ids=["reversed", "mdl", "relevance", "printed"],
)
def test_table_3_of_the_paper(reading, expected, paper_data):
    """Number of selected features on Isolet; the expected ones come from another implementation."""
    X, y = paper_data("isolet")
    found = [
        SLFS(max_children=n, relevance_weight=weight, max_depth=depth, n_jobs=2, **reading)
        .fit(X, y)
        .n_features_
        for n, weight, depth in TABLE_3
    ]
    np.testing.assert_allclose(found, expected, rtol=0.06)
    assert found[2] > found[0] >= found[1] >= found[4] == found[5]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "gain"), [("letter", 0.10), ("isolet", 0.04)])
def test_linked_network_beats_naive_bayes_on_the_same_columns(name, gain, paper_data):
    X, y = paper_data(name)
    linked, plain = [], []
    for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(X, y):
        selector = SLFS(relevance_weight=1, order="relevance", n_jobs=2).fit(X[train], y[train])
        kept = selector.support_
        naive_bayes = make_pipeline(MDLPDiscretizer(n_jobs=2), CategoricalNB())
        naive_bayes.fit(X[train][:, kept], y[train])
        plain.append(naive_bayes.score(X[test][:, kept], y[test]))
        linked.append(selector.to_classifier().score(X[test], y[test]))
    assert np.mean(linked) >= np.mean(plain) + gain


def test_dorothea_from_a_sparse_matrix(paper_data):
    X, y = paper_data("dorothea")
    selector = SLFS(n_jobs=2).fit(X, y)
    assert selector.n_features_in_ == 100_000
    assert 20 < selector.n_features_ <= 100
    assert selector.transform(X).shape == (1150, selector.n_features_)
    assert selector.to_classifier().score(X, y) > 0.95


@pytest.mark.parametrize("name", ["arcene", "breastcancer", "dexter", "madelon", "voting", "yeast"])
def test_the_other_datasets_are_better_than_guessing(name, paper_data):
    X, y = paper_data(name)
    scores = []
    for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(np.zeros(len(y)), y):
        categorical = "all" if name == "voting" else "from_dtype"
        classifier = BNSLFS(SLFS(categorical_features=categorical)).fit(X[train], y[train])
        scores.append(classifier.score(X[test], y[test]))
    assert np.mean(scores) > np.bincount(y).max() / len(y) + 0.05
