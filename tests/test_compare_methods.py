"""Methods side by side: equally many columns, and metrics that agree with scikit-learn."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.feature_selection import RFE
from sklearn.linear_model import Ridge
from sklearn.metrics import (
    balanced_accuracy_score,
    log_loss,
    mean_absolute_error,
    r2_score,
    roc_auc_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

from slfs import FCBF, MRMR, SLFS, BNSLFSRegressor
from slfs.evaluation import compare_accuracy, compare_methods
from slfs.evaluation.cross_validation import make_splits
from slfs.evaluation.metrics import classification_metrics, regression_metrics
from slfs.tables.target import read_target

SELECTORS = {"slfs": SLFS(max_children=3, max_depth=1), "mrmr": MRMR(), "fcbf": FCBF()}


@pytest.fixture(scope="module")
def cancer():
    return load_breast_cancer(return_X_y=True, as_frame=True)


def sizes(rows):
    return rows.pivot_table(index="fold", columns="method", values="n_features")


def test_all_methods_have_the_size_of_slfs_in_the_same_fold(cancer):
    X, y = cancer
    found = sizes(compare_methods(X, y, SELECTORS, ["NB"], cv=3))
    for fold, (train, _) in enumerate(make_splits(read_target(y), 3)):
        assert found.loc[fold, "slfs"] == SELECTORS["slfs"].fit(X.iloc[train], y.iloc[train]).n_features_
    assert (found["mrmr"] == found["slfs"]).all()
    assert (found["fcbf"] <= found["slfs"]).all()


def test_a_given_size_a_default_slfs_and_own_sizes(cancer):
    X, y = cancer
    two = {"mrmr": MRMR(n_features_to_select=7), "fcbf": FCBF()}
    assert set(sizes(compare_methods(X, y, two, ["NB"], cv=2, n_features_to_select=4))["mrmr"]) == {4}
    assert set(sizes(compare_methods(X, y, two, ["NB"], cv=2, n_features_to_select=0.2))["mrmr"]) == {6}
    own = sizes(compare_methods(X, y, two, ["NB"], cv=2, n_features_to_select=None))
    assert set(own["mrmr"]) == {7}
    expected = [
        SLFS().fit(X.iloc[train], y.iloc[train]).n_features_
        for train, _ in make_splits(read_target(y), 2)
    ]
    assert sizes(compare_methods(X, y, two, ["NB"], cv=2))["mrmr"].tolist() == expected
    with pytest.raises(ValueError, match=r"must be a number, 'slfs' or None\. Got 'all' instead"):
        compare_methods(X, y, two, ["NB"], n_features_to_select="all")


@pytest.mark.parametrize("load", [load_breast_cancer, load_wine])
def test_metrics_agree_with_scikit_learn(load):
    X, y = load(return_X_y=True)
    labels = np.array(["c", "a", "b"])[y]
    model = GaussianNB().fit(X[::2, :3], labels[::2])
    test, truth = X[1::2, :3], labels[1::2]
    found, shares = classification_metrics(model, test, truth), model.predict_proba(test)
    assert found["accuracy"] == pytest.approx(model.score(test, truth))
    expected = balanced_accuracy_score(truth, model.predict(test))
    assert found["balanced_accuracy"] == pytest.approx(expected)
    assert found["log_loss"] == pytest.approx(log_loss(truth, shares))
    score = shares[:, 1] if shares.shape[1] == 2 else shares
    assert found["auc"] == pytest.approx(roc_auc_score(truth, score, multi_class="ovr"))


def test_metrics_that_a_classifier_cannot_give():
    X, y = load_wine(return_X_y=True)
    found = classification_metrics(SVC().fit(X, y), X, y)
    assert np.isnan([found["auc"], found["log_loss"]]).all()
    one = classification_metrics(GaussianNB().fit(X, y), X[:5], y[:5])
    assert np.isnan(one["auc"]), "all test samples have the same class"


def test_the_accuracy_of_the_report_has_all_metrics():
    X, y = load_wine(return_X_y=True, as_frame=True)
    for model in compare_accuracy(SLFS(), X, y)["models"]:
        assert 0.9 < model["balanced_accuracy"] <= 1
        assert 0.9 < model["auc"] <= 1
        assert 0 < model["log_loss"] < 0.5


def test_the_command_compares_at_equal_sizes(cancer, slfs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = cancer
    X.assign(diagnosis=y).to_csv("cancer.csv", index=False)
    common = (
        "compare",
        "cancer.csv",
        "-t",
        "diagnosis",
        "--methods",
        "slfs,mrmr",
        "--cv",
        "2",
        "-j",
        "1",
    )
    common = (*common, "--classifiers", "NB,SVM")
    code, out, error = slfs(*common, "--out", "rows.csv")
    assert (code, error) == (0, "")
    assert (
        "Each method may select as many columns as SLFS in the same fold, or one if that is none." in out
    )
    found = sizes(pd.read_csv("rows.csv"))
    assert (found["mrmr"] == found["slfs"]).all()
    lines = [line.split() for line in out.splitlines()[4:8]]
    assert [line[:2] for line in lines] == [
        ["NB", "slfs"],
        ["mrmr", lines[1][1]],
        ["SVM", "slfs"],
        ["mrmr", lines[3][1]],
    ]
    assert [len(line) for line in lines] == [8, 7, 6, 5], "SVM has neither AUC nor log loss"
    code, out, _ = slfs(*common, "-k", "3")
    assert (code, "All methods select at most 3 columns." in out) == (0, True)
    code, out, _ = slfs(*common, "--own-size", "--out", "own.csv")
    assert code == 0
    assert "Each method selects as many columns as it chooses" in out
    own = sizes(pd.read_csv("own.csv"))
    assert (own["mrmr"] != own["slfs"]).any()
    code, _, error = slfs(*common, "--own-size", "-k", "3")
    assert (code, "--own-size cannot be combined with -k" in error) == (1, True)


def test_metrics_of_regressors_agree_with_scikit_learn():
    X, y = load_diabetes(return_X_y=True)
    model = Ridge().fit(X[::2], y[::2])
    predicted = model.predict(X[1::2])
    assert regression_metrics(model, X[1::2], y[1::2]) == pytest.approx(
        {
            "r2": r2_score(y[1::2], predicted),
            "rank_correlation": spearmanr(y[1::2], predicted).statistic,
            "mean_absolute_error": mean_absolute_error(y[1::2], predicted),
        }
    )
    constant = Ridge().fit(0 * X, y)
    assert regression_metrics(constant, X, y)["rank_correlation"] == 0


def test_regressors_are_compared_on_a_continuous_target():
    X, y = load_diabetes(return_X_y=True, as_frame=True)  # whole numbers
    methods = {"slfs": SLFS(), "mrmr": MRMR()}
    rows = compare_methods(X, y, methods, ["ridge", "7-NN", "RF", "BNSLFS"], target="regression", cv=2)
    assert len(rows) == 2 * 4 * 2
    assert rows["r2"].between(0, 1).all()
    found = rows.set_index(["method", "regressor", "fold"])
    for fold, (train, test) in enumerate(make_splits(read_target(y, "regression"), 2)):
        size = SLFS(target="regression").fit(X.iloc[train], y.iloc[train]).n_features_
        own = BNSLFSRegressor(SLFS(n_features_to_select=size)).fit(X.iloc[train], y.iloc[train])
        expected = own.score(X.iloc[test], y.iloc[test])
        assert found.loc[("slfs", "BNSLFS", fold), "r2"] == pytest.approx(expected)
        assert found.loc[("mrmr", "ridge", fold), "n_features"] == size
    assert set(compare_methods(X, y + 0.5, methods, ["ridge"], cv=2)["regressor"]) == {"ridge"}
    with pytest.raises(ValueError, match="Unknown regressor 'NB'"):
        compare_methods(X, y, methods, ["NB"], target="regression")
    with pytest.raises(ValueError, match="Unknown classifier 'ridge'"):
        compare_methods(X, y > 100, methods, ["ridge"])
    with pytest.raises(ValueError, match="RFE does not accept a continuous target"):
        compare_methods(X, y, {"rfe": RFE(Ridge())}, ["ridge"], target="regression")
