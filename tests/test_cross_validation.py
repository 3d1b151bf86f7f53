"""Cross-validation: the same folds everywhere, ``cv`` as a number or a splitter, quiet folds."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import KFold, RepeatedStratifiedKFold, ShuffleSplit, StratifiedKFold
from sklearn.naive_bayes import GaussianNB

from slfs import MRMR, SLFS, NaiveBayes, compare_networks, progress_callback
from slfs.evaluation import accuracy_curve, compare_accuracy
from slfs.evaluation.cross_validation import Fold, cross_validate, make_splits
from slfs.evaluation.methods import compare_methods
from slfs.plotting import AccuracyCurveDisplay
from slfs.tables.target import read_target

SHUFFLED = StratifiedKFold(3, shuffle=True, random_state=4)


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


def test_a_number_means_shuffled_stratified_folds():
    y = np.repeat(["a", "b"], [20, 8])
    found = make_splits(read_target(y), 3, 4)
    for (train, test), (known_train, known_test) in zip(found, SHUFFLED.split(y, y), strict=True):
        np.testing.assert_array_equal(train, known_train)
        np.testing.assert_array_equal(test, known_test)


@pytest.mark.parametrize(
    "cv", [KFold(2), ShuffleSplit(4, random_state=0), [([0, 1], [2]), ([1, 2], [0])]]
)
def test_splitters_and_lists_are_used_as_they_are(cv):
    target = read_target([0, 1, 0, 1])
    found = make_splits(target, cv)
    known = cv if isinstance(cv, list) else list(cv.split(np.zeros(4)))
    assert len(found) == len(known)
    for (train, test), (known_train, known_test) in zip(found, known, strict=True):
        assert (list(train), list(test)) == (list(known_train), list(known_test))


def test_a_number_that_does_not_fit_is_explained():
    target = read_target(["a"] * 20 + ["b"] * 8)
    expected = r"cv=12 is too large: the smallest class \('b'\) has 8 samples. Use at most 8, or remove"
    with pytest.raises(ValueError, match=expected):
        make_splits(target, 12)
    with pytest.raises(ValueError, match=r"'q'\) has 1 sample\. Remove rare classes"):
        make_splits(read_target(["p", "p", "q"]), 2)
    with pytest.raises(ValueError, match=r"cv must be an integer of at least 2.*Got 1 instead"):
        make_splits(target, 1)


@pytest.mark.parametrize(
    "compare",
    [
        lambda X, y, cv, seed: compare_accuracy(SLFS(), X, y, cv=cv, random_state=seed)["models"],
        lambda X, y, cv, seed: (
            compare_methods(X, y, {"slfs": SLFS()}, ["3-NN", "NB"], cv=cv, random_state=seed)
            .drop(columns="seconds")
            .to_dict("records")
        ),
        lambda X, y, cv, seed: compare_networks(X, y, cv=cv, repeats=1, random_state=seed).scores,
        lambda X, y, cv, seed: AccuracyCurveDisplay.from_estimator(
            MRMR(n_features_to_select=4), X, y, cv=cv, random_state=seed
        ).accuracy.tolist(),
    ],
    ids=["compare_accuracy", "compare_methods", "compare_networks", "AccuracyCurveDisplay"],
)
def test_every_comparison_takes_a_number_or_a_splitter(compare, wine):
    pytest.importorskip("matplotlib").use("Agg")
    X, y = wine
    assert compare(X, y, 3, 4) == compare(X, y, SHUFFLED, 0)


def test_networks_with_overlapping_test_parts(wine):
    """A splitter is used once, and McNemar's test counts a sample the first time it is tested."""
    X, y = wine
    repeated = compare_networks(
        X, y, cv=RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=0)
    )
    assert (repeated.n_splits, repeated.repeats) == (4, 1)
    assert [score.fold for score in repeated.scores[::3]] == [0, 1, 2, 3]
    splits = list(RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=0).split(X, y))
    first = compare_networks(X, y, cv=splits[:2])
    for one, other in zip(repeated.pairs, first.pairs, strict=True):
        assert (one.first_only, one.second_only) == (other.first_only, other.second_only)


@pytest.mark.parametrize("convert", [np.asarray, pd.DataFrame, sparse.csr_array])
def test_a_fold_fits_a_clone_to_the_training_part(convert):
    X, y = load_iris(return_X_y=True)
    train, test = np.arange(0, 150, 2), np.arange(1, 150, 2)
    fold, columns, model = Fold(convert(X), y, train, test), np.array([2, 3]), NaiveBayes()
    fitted = fold.fit(model, columns)
    assert not hasattr(model, "classes_")
    expected = NaiveBayes().fit(X[train][:, columns], y[train]).score(X[test][:, columns], y[test])
    assert fold.accuracy(fitted, columns) == pytest.approx(expected)


def test_a_curve_with_another_classifier():
    X, y = load_iris(return_X_y=True)
    sizes, accuracy = accuracy_curve(MRMR(n_features_to_select=3), X, y, classifier=GaussianNB(), cv=3)
    assert sizes.tolist() == [1, 2, 3]
    for fold, (train, test) in enumerate(make_splits(read_target(y), 3)):
        first = MRMR(n_features_to_select=3).fit(X[train], y[train]).indices_[:1]
        model = GaussianNB().fit(X[train][:, first], y[train])
        assert accuracy[0, fold] == model.score(X[test][:, first], y[test])


@pytest.mark.parametrize("prefer", ["threads", pytest.param("processes", marks=pytest.mark.slow)])
def test_progress_per_fold_and_no_warnings(prefer):
    """Warnings about columns of one fold are silenced; progress is not reported within folds."""
    y = np.tile([0, 1], 30)
    X = np.c_[np.arange(60).astype(str), np.where(y == 1, "p", "q")].astype(object)
    with pytest.warns(UserWarning, match="look like numbers"):
        SLFS().fit(X, y)
    told = []
    splits = make_splits(read_target(y), 3)
    with warnings.catch_warnings(), progress_callback(lambda *counts: told.append(counts)):
        warnings.simplefilter("error")
        found = cross_validate(fold_number, X, y, splits, n_jobs=2, prefer=prefer)
    assert found == [0, 1, 2]
    assert told == [(1, 3), (2, 3), (3, 3)]


def fold_number(fold):
    fold.fit(SLFS())
    return fold.number
