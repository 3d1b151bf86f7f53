"""The fixed benchmark: rows are those of a plain loop, computed once, and the page agrees with them."""

import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn
from packaging.version import Version
from sklearn.datasets import make_classification
from sklearn.linear_model import Ridge
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from experiments.quality import run as running
from experiments.quality.config import DEFAULT, REGRESSION, Classifier, Method, read_config
from experiments.quality.methods import cut_target, l1_path
from experiments.quality.page import write_page
from experiments.quality.regression_data import with_copies
from experiments.quality.regression_page import write_regression_page
from experiments.quality.run import run
from experiments.quality.storage import read_all
from experiments.quality.summary import Summary, wins_ties_losses
from slfs import MRMR

ROOT = Path(__file__).parent.parent

TINY = """
reference = "MID"
folds = 3
seed = 1
min_class_size = 5
max_rows = 90
sizes = [2, 4]
max_pair_cells = 1e3
max_dense_cells = 1e6
wide_columns = 5
max_seconds = 60
[datasets]
made = ["one", "two"]
[methods]
"MID" = {estimator = "MRMR", version = 1, sizes = ["fixed", "own"]}
"Chi2" = {estimator = "Chi2Ranking", version = 1, sizes = ["fixed"]}
"MultiSURF" = {estimator = "MultiSURF", version = 1, sizes = ["fixed"]}
"all columns" = {estimator = "AllColumns", version = 1, sizes = ["own"]}
[classifiers]
"3-NN" = {estimator = "KNeighbors", version = 1, parameters = {n_neighbors = 3}, wide = {n_neighbors=1}}
"GNB" = {estimator = "GaussianNB", version = 1}
"SVM" = {estimator = "LinearSVC", version = 1}
"naive Bayes" = {estimator = "NaiveBayes", version = 1, methods = ["MID"], sizes = [4]}
[[stages]]
folds = [0, 1]
classifiers = ["3-NN", "GNB", "naive Bayes"]
[[stages]]
"""

FIGURES = ["accuracy", "balanced_accuracy", "log_loss", "n_features"]
KEY = ["dataset", "fold", "method", "size", "classifier"]


@pytest.fixture
def tiny(tmp_path):
    """A configuration and the folder of its datasets."""
    folder = tmp_path / "data" / "made"
    folder.mkdir(parents=True)
    for seed, name in enumerate(("one", "two")):
        X, y = make_classification(
            120,
            9,
            n_informative=5,
            n_redundant=0,
            n_classes=3,
            n_clusters_per_class=1,
            random_state=seed,
        )
        X, y = np.vstack([X, X[:3]]), np.append(y, [3, 3, 3])  # a class that is too small
        np.savez(folder / f"{name}.npz", X=X, y=y)
    path = tmp_path / "tiny.toml"
    path.write_text(TINY)
    return read_config(path), tmp_path / "data", path


def rows_of(config, folder):
    """All scores, one line per cell."""
    scores = read_all(config, folder)[1]
    assert not scores.duplicated(KEY).any()
    return scores.set_index(KEY).sort_index()


def test_the_configuration_is_complete_and_checked(tmp_path):
    config = read_config()
    assert len(config.datasets) == 47
    assert config.methods[config.reference].estimator == "ResidualPursuit"
    everything = config.stages[-1]
    assert everything.classifiers == tuple(config.classifiers)
    assert everything.folds == (0, 1, 2, 3, 4)
    assert everything.sizes == ("5", "10", "20", "50", "own")
    bad = tmp_path / "bad.toml"
    text = DEFAULT.read_text()
    for old, new, message in (
        ('"ResidualPursuit"', '"Residual"', "Unknown estimator 'Residual'"),
        ('reference = "residual"', 'reference = "mine"', "Unknown method 'mine'"),
        ('"wine",', '"wine", "west",', "listed twice"),
        ("folds = 5", "", "not a valid configuration: KeyError"),
    ):
        bad.write_text(text.replace(old, new, 1))
        with pytest.raises(ValueError, match=message):
            read_config(bad)


def test_rows_are_what_a_plain_loop_gives(tiny, tmp_path):
    config, data, _ = tiny
    assert run(config, data, tmp_path / "rows", n_jobs=1)
    rows = rows_of(config, tmp_path / "rows")
    assert len(rows) == 2 * 3 * ((3 + 2 + 1) * 3 + 1)  # MultiSURF is left out, naive Bayes is extra
    with np.load(data / "made" / "one.npz") as arrays:
        kept = np.flatnonzero(arrays["y"] < 3)
        chosen = kept[np.random.default_rng(0).permutation(120)[:90]]
        X, y = arrays["X"][chosen], arrays["y"][chosen]
    splits = StratifiedKFold(3, shuffle=True, random_state=1).split(X, y)
    for fold, (train, test) in enumerate(splits):
        columns = MRMR(n_features_to_select=4).fit(X[train], y[train]).indices_
        for size in (2, 4):
            scaler = StandardScaler().fit(X[train][:, columns[:size]])
            model = GaussianNB().fit(scaler.transform(X[train][:, columns[:size]]), y[train])
            expected = model.score(scaler.transform(X[test][:, columns[:size]]), y[test])
            row = rows.loc["one", fold, "MID", str(size), "GNB"]
            assert row["accuracy"] == pytest.approx(expected)
            assert row["n_features"] == min(size, len(columns))
        wide = StandardScaler().fit(X[train])
        nearest = KNeighborsClassifier(1).fit(wide.transform(X[train]), y[train])
        row = rows.loc["one", fold, "all columns", "own", "3-NN"]  # with the parameters for wide tables
        assert row["accuracy"] == pytest.approx(nearest.score(wide.transform(X[test]), y[test]))
    assert rows["log_loss"].xs("SVM", level="classifier").isna().all()
    assert rows["log_loss"].drop("SVM", level="classifier").notna().all()


def test_finished_rows_are_not_computed_again_and_versions_are_not_mixed(tiny, tmp_path, monkeypatch):
    config, data, _ = tiny
    folder, selected = tmp_path / "rows", []

    def select(method, train, size):
        selected.append((method.name, size))
        return plain(method, train, size)

    plain = running.select
    monkeypatch.setattr(running, "select", select)
    assert not run(config, data, folder, n_jobs=1, seconds=0)
    assert not selected
    assert run(config, data, folder, n_jobs=1)
    before = rows_of(config, folder)
    selected.clear()
    assert run(config, data, folder, n_jobs=1)
    assert not selected

    newer = replace(config, methods={**config.methods, "Chi2": Method("Chi2", "JMI", 2, ("2", "4"))})
    assert "Chi2" not in rows_of(newer, folder).index.get_level_values("method")
    assert run(newer, data, folder, n_jobs=1)
    assert {name for name, _ in selected} == {"Chi2"}
    after = rows_of(newer, folder)
    assert len(after) == len(before)
    others = before.index.get_level_values("method") != "Chi2"
    pd.testing.assert_frame_equal(after[others], before[others])  # with the seconds of the first run
    assert (after[~others]["accuracy"] != before[~others]["accuracy"]).any()

    selected.clear()
    added = {**newer.classifiers, "SVM": Classifier("SVM", "LinearSVC", 2)}
    assert run(replace(newer, classifiers=added), data, folder, n_jobs=1)
    assert not selected  # columns are kept, only scores are computed
    assert run(replace(newer, max_rows=80), data, folder, n_jobs=1)
    assert {name for name, _ in selected} == {"MID", "Chi2", "all columns"}


def test_methods_that_are_slow_or_fail_do_not_stop_the_others(tiny, tmp_path, monkeypatch):
    config, data, _ = tiny
    slow = []

    def select(method, train, size):
        if method.name == "Chi2":
            slow.append(train)
            while True:
                pass
        if method.name == "MID" and size is None:
            raise ValueError("no idea")
        return plain(method, train, size)

    plain = running.select
    monkeypatch.setattr(running, "select", select)
    quick = replace(config, max_seconds=0.5, stages=config.stages[:1])
    assert run(quick, data, tmp_path / "rows", n_jobs=1)
    assert len(slow) == 2, "once per dataset"
    page = write_page(quick, tmp_path / "rows", tmp_path / "docs").read_text()
    assert "Chi2 is left out of one, two: more than 0.5 seconds." in page
    assert "MID is left out of one, two: failed: ValueError: no idea." in page
    assert set(rows_of(quick, tmp_path / "rows").index.get_level_values("method")) == {
        "MID",
        "all columns",
    }


@pytest.mark.slow
def test_a_killed_run_continues(tiny, tmp_path):
    config, data, path = tiny
    assert run(config, data, tmp_path / "whole", n_jobs=1)
    expected = rows_of(config, tmp_path / "whole")
    folder = tmp_path / "killed"
    command = [
        sys.executable, "-m", "experiments.quality", "--config", str(path), "--data", str(data),
        "--rows", str(folder), "--docs", str(tmp_path / "docs"), "--jobs", "2",
    ]  # fmt: skip
    first = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.time() + 120
    while first.poll() is None and not list(folder.glob("scores/*.parquet")) and time.time() < deadline:
        time.sleep(0.01)
    first.kill()
    first.wait()
    time.sleep(1)  # a worker finishes what it is writing
    kept = rows_of(config, folder)
    assert 0 < len(kept) < len(expected)
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    assert found.returncode == 0, found.stderr
    assert "All rows are computed" in found.stdout
    rows = rows_of(config, folder)
    pd.testing.assert_frame_equal(rows[FIGURES], expected[FIGURES])
    pd.testing.assert_frame_equal(rows.loc[kept.index], kept)  # with the seconds of the first run


def test_the_page_agrees_with_the_rows(tiny, tmp_path):
    config, data, _ = tiny
    assert run(config, data, tmp_path / "rows", n_jobs=1)
    selections, scores = read_all(config, tmp_path / "rows")
    page = write_page(config, tmp_path / "rows", tmp_path / "docs").read_text()
    fixed = scores[scores["size"].isin(["2", "4"]) & (scores["classifier"] != "naive Bayes")]
    means = fixed.groupby("method")["accuracy"].mean()
    for name, shown in (("MID", "**MID**"), ("Chi2", "Chi2")):
        line = next(line for line in page.splitlines() if line.startswith(f"| {shown} | "))
        assert line.split(" | ")[2] == f"{100 * means[name]:.2f}"
    blocks = fixed.groupby(["dataset", "size", "classifier", "method"])["accuracy"].mean().unstack()
    assert f"Its mean rank is {blocks.rank(axis=1, ascending=False).mean()['MID']:.2f}" in page
    assert "MultiSURF is left out of one, two: too many pairs of rows." in page
    assert (tmp_path / "docs" / "quality" / "accuracy.png").stat().st_size > 1000
    assert "2 of 2" in page
    by_fold = [
        set(columns[:2]) for columns in selections.query("method == 'MID' and not own")["columns"]
    ]
    assert len(by_fold) == 6
    stable = Summary(config, selections, scores).stability(2)
    assert set(stable.index) == {"MID", "Chi2"}
    assert stable.between(-1, 1).all()


def test_incomplete_datasets_and_later_stages_are_not_used(tiny, tmp_path):
    config, data, _ = tiny
    first = replace(config, stages=config.stages[:1])
    only = replace(first, datasets={"one": "made"})
    assert run(only, data, tmp_path / "rows", n_jobs=1)
    summary = Summary(config, *read_all(config, tmp_path / "rows"))
    assert summary.datasets == ["one"]
    assert summary.folds == (0, 1)
    assert {name for _, name in summary.pairs} == {"3-NN", "GNB"}
    page = write_page(config, tmp_path / "rows", tmp_path / "docs").read_text()
    assert "use 1 of 2 datasets, the folds 0, 1 of 3 and the classifiers 3-NN, GNB." in page
    empty = write_page(config, tmp_path / "nothing", tmp_path / "empty").read_text()
    assert "No dataset is complete for two methods yet" in empty


def test_a_classifier_is_used_with_all_sizes_or_with_none(tiny, tmp_path):
    """Otherwise means over classifiers could not be compared between sizes."""
    config, data, _ = tiny
    assert run(config, data, tmp_path / "rows", n_jobs=1)
    selections, scores = read_all(config, tmp_path / "rows")
    assert ("4", "GNB") in Summary(config, selections, scores).pairs
    gone = (scores["classifier"] == "GNB") & (scores["size"] == "2")
    first = replace(config.stages[0], classifiers=("3-NN",))
    partly = replace(config, stages=(first, *config.stages[1:]))
    pairs = Summary(partly, selections, scores[~gone]).pairs
    assert ("4", "GNB") not in pairs
    assert {("2", "3-NN"), ("4", "3-NN"), ("own", "GNB")} <= set(pairs)


def test_wins_ties_and_losses_are_counted_over_datasets():
    pair = pd.DataFrame({"accuracy": [0.9, 0.8, 0.7, 0.6], "other": [0.8, 0.8005, 0.75, 0.5]})
    assert wins_ties_losses(pair) == (2, 1, 1)


@pytest.mark.skipif(Version(sklearn.__version__) < Version("1.8"), reason="needs scikit-learn 1.8")
def test_the_l1_path_starts_with_the_column_that_tells_most():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 20))
    y = (2 * X[:, 7] + X[:, 3] + random.normal(size=300) > 0).astype(np.int64)
    part = running.Part(X, y, np.zeros(20, np.bool_))
    assert l1_path(part, 2).tolist() == [7, 3]
    assert len(set(l1_path(part, 12).tolist())) == 12


TINY_REGRESSION = """
task = "regression"
reference = "MID"
folds = 3
seed = 1
max_rows = 150
sizes = [2, 4]
max_seconds = 60
[datasets]
scikit-learn = ["diabetes"]
[methods]
"MID" = {estimator = "MRMR", version = 1, sizes = ["fixed"]}
"MID, 2 bins" = {estimator = "MRMR", version = 1, sizes = ["fixed"], parameters = {target_bins = 2}}
"f_regression" = {estimator = "FRegression", version = 1, sizes = ["fixed"]}
"all columns" = {estimator = "AllColumns", version = 1, sizes = ["own"]}
[classifiers]
"ridge" = {estimator = "Ridge", version = 1}
"7-NN" = {estimator = "KNeighborsRegressor", version = 1, parameters = {n_neighbors = 7}}
[[stages]]
folds = [0, 1]
"""


def test_continuous_targets(tmp_path):
    path = tmp_path / "tiny.toml"
    path.write_text(TINY_REGRESSION)
    config, folder = read_config(path), tmp_path / "rows"
    assert run(config, tmp_path, folder, n_jobs=1)
    rows = rows_of(config, folder)
    assert len(rows) == 2 * (3 * 2 + 1) * 2
    data = running.load("diabetes", config, tmp_path)
    assert data.X.shape == (150, 30)
    train, test = running.split(data, config, 0)
    columns = MRMR(n_features_to_select=4, target="regression").fit(train.X, train.y).indices_[:2]
    scaler = StandardScaler().fit(train.X[:, columns])
    model = Ridge().fit(scaler.transform(train.X[:, columns]), train.y)
    row = rows.loc["diabetes", 0, "MID", "2", "ridge"]
    assert row["r2"] == pytest.approx(model.score(scaler.transform(test.X[:, columns]), test.y))
    assert row["relative_error"] > 0
    page = write_regression_page(config, folder, tmp_path).read_text()
    line = next(line for line in page.splitlines() if line.startswith("| **MID** | "))
    fixed = rows[rows.index.get_level_values("size") != "own"]
    assert line.split(" | ")[2] == f"{fixed['r2'].groupby('method').mean()['MID']:.3f}"
    assert "has a mean R² of" in page
    assert "Folds 0, 1 of 3, shuffled" in page
    assert "No dataset is complete" in write_regression_page(config, tmp_path, tmp_path).read_text()


def test_the_configuration_for_continuous_targets():
    config = read_config(REGRESSION)
    assert len(config.datasets) >= 12
    assert config.metrics[0] == "r2"
    assert len(config.classifiers) == 3
    assert set(config.sizes) == {3, 5, 10, 20}


def test_copies_of_columns_are_permuted_or_noisy():
    X = np.arange(200.0).reshape(100, 2) ** 2
    table = with_copies(X, np.random.default_rng(0))
    assert table.shape == (100, 6)
    same = [j for j in range(6) if any(np.array_equal(table[:, j], own) for own in X.T)]
    permuted = [
        j
        for j in range(6)
        if j not in same and any(np.array_equal(np.sort(table[:, j]), own) for own in X.T)
    ]
    assert len(same) == len(permuted) == 2


def test_a_target_is_cut_into_bins_of_equal_size():
    y = np.random.default_rng(0).normal(size=100)
    codes = cut_target(y, 4)
    assert np.bincount(codes).tolist() == [25, 25, 25, 25]
    assert (np.diff(codes[np.argsort(y)]) >= 0).all()
