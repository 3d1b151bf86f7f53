"""The harness: rows once and only once, statistics as published, pages from rows."""

import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.model_selection import StratifiedKFold

from experiments import growth, pages, run, stability, statistics
from experiments.config import Config, Method, read_config
from experiments.figures import _groups
from slfs import SLFS
from slfs.datasets.paper import load
from slfs.evaluation.classify import Fold
from slfs.evaluation.numbers import to_numbers

STORED = Path(__file__).parent.parent / "experiments"


@pytest.fixture
def config(paper_data):
    paper_data("voting")
    methods = (
        Method("SLFS", "SLFS"),
        Method("mRMR MID", "MRMR", {}, ("equal", "own")),
        Method("OSFS", "OSFS", {}, ("own", "equal")),
    )
    return Config(7, 3, ("voting",), ("3-NN", "NB", "BNSLFS"), methods)


def quietly(_done, _total):
    pass


def test_rows_are_what_a_plain_loop_gives(config, tmp_path):
    rows = run.run(config, tmp_path, n_jobs=1, progress=quietly)
    assert len(rows) == 3 * 5 * 3
    assert not (tmp_path / "cells").exists()
    data = load("voting")
    splitter = StratifiedKFold(3, shuffle=True, random_state=7)
    for fold, (train, test) in enumerate(splitter.split(data.data, data.target)):
        selector = SLFS().fit(data.data.iloc[train], data.target[train])
        predicted = selector.to_classifier().predict(data.data.iloc[test])
        own = rows[rows["fold"] == fold]
        row = own.query("method == 'SLFS' and classifier == 'BNSLFS'").iloc[0]
        assert row["accuracy"] == (predicted == data.target[test]).mean()
        assert json.loads(row["columns"]) == selector.indices_.tolist()
        assert (own[own["size"] == "equal"]["n_features"] <= selector.n_features_).all()


def test_stored_rows_are_not_worked_out_again(config, tmp_path, monkeypatch):
    first = run.run(config, tmp_path, n_jobs=1, progress=quietly)
    monkeypatch.setattr(run, "run_job", None)
    pd.testing.assert_frame_equal(run.run(config, tmp_path, n_jobs=1, progress=quietly), first)
    fewer = replace(config, methods=config.methods[:1], classifiers=("NB",))
    part = run.run(fewer, tmp_path, n_jobs=1, progress=quietly)
    assert set(part["method"]) == {"SLFS"}
    assert set(part["classifier"]) == {"NB"}
    told = []
    more = replace(config, methods=(*config.methods, Method("FCBF", "FCBF")))
    monkeypatch.undo()
    second = run.run(more, tmp_path, n_jobs=1, progress=lambda *counts: told.append(counts))
    assert told[0][0] > 0, "what was stored counts as done"
    old = second[second["method"] != "FCBF"].reset_index(drop=True)
    pd.testing.assert_frame_equal(old, first)
    other = replace(config, seed=8, classifiers=("5-NN",))
    assert set(run.run(other, tmp_path, n_jobs=1, progress=quietly)["seed"]) == {8}
    kept = run.run(config, tmp_path, n_jobs=1, progress=quietly)
    pd.testing.assert_frame_equal(kept, first)  # another configuration leaves these rows alone
    wider = run.run(
        replace(config, classifiers=(*config.classifiers, "TAN")), tmp_path, n_jobs=1, progress=quietly
    )
    assert (wider["classifier"] == "TAN").sum() == len(first) / 3


def test_a_killed_run_goes_on_where_it_was(config, tmp_path):
    """Cells that are in a journal are kept, a torn line is worked out again."""
    whole = run.run(config, tmp_path / "whole", n_jobs=1, progress=quietly)
    folder = tmp_path / "killed"
    (folder / "cells").mkdir(parents=True)
    job = run.Job(config, "voting", 1, folder / "cells" / "voting-1.jsonl", "")
    run.run_job(job)
    lines = job.journal.read_text().splitlines()
    marked = json.loads(lines[0])
    for row in marked:
        row["machine"] = "kept"
    job.journal.write_text(json.dumps(marked) + "\n" + lines[1] + "\n" + lines[2][:40])
    again = run.run(config, folder, n_jobs=1, progress=quietly)
    assert (again.query("fold == 1 and method == 'SLFS'")["machine"] == "kept").all()
    same = ["dataset", "fold", "method", "size", "classifier", "accuracy", "n_features", "columns"]
    pd.testing.assert_frame_equal(again[same], whole[same])


def test_killed_for_good(config, tmp_path):
    """SIGKILL in the middle of the command; the second run ends with all rows."""
    text = """
seed = 7
folds = 4
datasets = ["voting", "breastcancer"]
classifiers = ["3-NN", "NB"]
[methods.SLFS]
estimator = "SLFS"
sizes = ["own"]
[methods.forest]
estimator = "ForestImportance"
sizes = ["own"]
"""
    (tmp_path / "small.toml").write_text(text)
    script = (
        "import sys; from pathlib import Path; from experiments.config import read_config\n"
        "from experiments.run import run\n"
        f"run(read_config(Path({str(tmp_path / 'small.toml')!r})), Path({str(tmp_path)!r}), n_jobs=1,"
        " progress=lambda *_: None)"
    )
    killed = subprocess.Popen([sys.executable, "-c", script])
    journal = tmp_path / "cells"
    for _ in range(600):
        if journal.exists() and any(path.stat().st_size for path in journal.iterdir()):
            break
        time.sleep(0.05)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert not (tmp_path / "rows.parquet").exists()
    before = [line for path in sorted(journal.iterdir()) for line in path.read_text().split("\n")[:-1]]
    assert before
    config = read_config(tmp_path / "small.toml")
    rows = run.run(config, tmp_path, n_jobs=2, progress=quietly)
    assert len(rows) == 2 * 4 * 2 * 2
    for line in before:
        for row in json.loads(line):
            found = rows[(rows[list(run.KEY)] == [row[name] for name in run.KEY]).all(axis=1)]
            found = found[found["classifier"] == row["classifier"]]
            assert found["selection_seconds"].tolist() == [row["selection_seconds"]], "kept, not redone"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("seed = ", "not a configuration"),
        ("seed = 1", "not a configuration"),
        ('seed=1\nfolds=2\ndatasets=["iris"]\nclassifiers=[]\n[methods]', "no dataset 'iris'"),
        (
            'seed=1\nfolds=2\ndatasets=[]\nclassifiers=[]\n[methods.a]\nestimator="X"\nsizes=["own"]',
            "no estimator 'X'",
        ),
        (
            'seed=1\nfolds=2\ndatasets=[]\nclassifiers=[]\n[methods.a]\nestimator="SLFS"\nsizes=["equal"]',
            "first method decides",
        ),
        (
            'seed=1\nfolds=2\ndatasets=[]\nclassifiers=[]\n[methods.a]\nestimator="SLFS"\nsizes=[]',
            "first method decides",
        ),
        (
            """seed=1\nfolds=2\ndatasets=[]\nclassifiers=[]
            [methods.a]\nestimator="SLFS"\nsizes=["own"]\nparameters={lamda=1}""",
            "parameters of the method 'a' are wrong",
        ),
        ("seed=1\nfold=2\nfolds=2\ndatasets=[]\nclassifiers=[]\n[methods]", "no key 'fold'"),
    ],
)
def test_a_wrong_configuration_is_refused(text, message, tmp_path):
    path = tmp_path / "wrong.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_config(path)


def test_the_first_columns_of_a_selector_that_cannot_be_told_a_size(config):
    data = load("voting")
    rows = np.arange(len(data.target))
    fold = Fold(data.data, data.target, rows[::2], rows[1::2])
    select = run._Selectors(fold)
    alpha = Method("alpha", "AlphaInvesting")
    assert select(alpha, None)[0] is select(alpha, 2)[0], "fitted once"
    cell = dict.fromkeys(run.KEY, "")
    job = run.Job(config, "voting", 0, Path(), "")
    found = run._run_cell(cell, select(alpha, 2), 2, fold, job)
    assert {row["n_features"] for row in found} == {2}


def test_no_columns_means_the_most_frequent_class():
    y = np.array(["a", "b", "b", "b", "a", "b"])
    fold = Fold(pd.DataFrame({"x": np.arange(6.0)}), y, np.arange(4), np.arange(4, 6))
    assert fold.score(np.array([], np.int64), "SVM")[0] == 0.5


def test_categories_become_numbers_and_back_to_columns():
    frame = pd.DataFrame({"a": ["x", "y", "x"], "b": ["p", "q", "r"]}, dtype="category")
    numbers = to_numbers(frame)
    assert numbers.fit(frame).shape == (3, 5)
    scores = numbers.by_column(np.array([0.1, 0.7, 0.2, 0.3, 0.0]))
    assert scores.tolist() == [0.7, 0.3]


@pytest.mark.parametrize(("n_methods", "quantile"), [(3, 2.343), (5, 2.728), (10, 3.164)])
def test_critical_difference_is_that_of_demsar(n_methods, quantile):
    """Table 5 of Demšar (2006)."""
    random = np.random.default_rng(0)
    blocks = pd.MultiIndex.from_product([range(12), ["3-NN"]], names=["dataset", "column"])
    table = pd.DataFrame(random.random((12, n_methods)), blocks)
    result = statistics.friedman(table)
    expected = quantile * np.sqrt(n_methods * (n_methods + 1) / (6 * 12))
    assert result.critical_difference == pytest.approx(expected, rel=1e-3)
    assert result.p_value == pytest.approx(stats.friedmanchisquare(*table.to_numpy().T).pvalue)


def test_corrected_t_test_by_hand():
    differences = np.array([0.02, -0.01, 0.03, 0.01, 0.0])
    t = 0.01 / np.sqrt((1 / 5 + 1 / 4) * 0.00025)
    assert statistics.corrected_t_test(differences, 1 / 4) == pytest.approx(2 * stats.t.sf(t, 4))
    assert statistics.corrected_t_test(np.zeros(5), 0.25) == 1
    assert statistics.corrected_t_test(np.full(5, 0.25), 0.25) == 0


def test_holm_by_hand():
    np.testing.assert_allclose(
        statistics.holm(np.array([0.01, 0.04, 0.03, 0.005])), [0.03, 0.06, 0.06, 0.02]
    )


def test_groups_of_ranks():
    assert _groups(np.array([1.0, 1.5, 2.4, 4.0]), 1.0) == [(0, 1), (1, 2)]
    assert _groups(np.array([1.0, 3.0]), 1.0) == []


def test_slopes_of_known_growth():
    times = pd.DataFrame(
        [
            {"method": method, "varied": varied, "n_features": size, "n_samples": size,
             "n_selected": size, "seconds": 1e-6 * size**power}
            for method, power in zip(growth.STATED, (1, 2, 3, 0.5, 1), strict=True)
            for varied in growth.VARIED
            for size in (10, 20, 40)
        ]
    )  # fmt: skip
    found = growth.slopes(times)
    np.testing.assert_allclose(found.loc["mRMR"], 2)
    np.testing.assert_allclose(found.loc["alpha-investing"], 0.5)


def test_slfs_leads_at_equal_size_in_the_stored_rows():
    """The published claim, from the published rows."""
    rows = pd.read_parquet(STORED / "rows.parquet")
    table = statistics.accuracies(statistics.comparison(rows))[list(statistics.FILTERS)]
    assert table.shape[0] == 9 * 5
    assert not table.isna().any().any()
    assert statistics.mean_ranks(table).index[0] == "SLFS"


def test_the_stored_rows_are_complete():
    rows = pd.read_parquet(STORED / "rows.parquet")
    wanted = {run._key(cell) for cell in run._cells(read_config())}
    assert {run._key(row) for row in rows[run.KEY].to_dict("records")} == wanted
    assert not rows.duplicated([*run.KEY, "classifier"]).any()


def test_the_figures_of_the_readme_are_those_of_the_rows():
    rows = pd.read_parquet(STORED / "rows.parquet")
    equal = statistics.accuracies(statistics.comparison(rows))[list(statistics.FILTERS)]
    naive = statistics.accuracies(statistics.comparison(rows, bayes="NB"))[list(statistics.FILTERS)]
    ranks, own = statistics.mean_ranks(equal), statistics.comparison(rows, "own")
    text = (STORED.parent / "README.md").read_text("utf-8")
    own_ranks = statistics.mean_ranks(statistics.accuracies(own))
    figures = [
        *(f"{ranks[name]:.2f}" for name in ("SLFS", "CMIM", "JMI")),
        *(f"{statistics.mean_ranks(naive)[name]:.2f}" for name in ("SLFS", "CMIM")),
        *(f"{own_ranks[name]:.2f}" for name in ("SLFS", "CMIM")),
        *(f"{100 * equal[name].mean():.2f} %" for name in ("SLFS", "CMIM")),
        *(f"{statistics.friedman(equal).ranks[name]:.2f}" for name in ("SLFS", "CMIM")),
    ]
    kinds = rows[rows["method"] == "SLFS"].pivot_table(
        index="dataset", columns="classifier", values="accuracy"
    )
    gain = 100 * (kinds["BNSLFS"] - kinds["NB"])
    figures += [f"{gain['letter']:.1f} points on Letter", f"loses {-gain['dorothea']:.1f} on"]
    folded = " ".join(text.split())
    assert [figure for figure in figures if figure not in folded] == []


def test_the_results_page_is_that_of_the_rows():
    rows, growth_rows = (pd.read_parquet(STORED / name) for name in ("rows.parquet", "growth.parquet"))
    sensitivity = pd.read_parquet(STORED / "sensitivity" / "rows.parquet")
    subsamples = pd.read_parquet(STORED / "stability.parquet")
    page = (STORED.parent / "docs" / "results.md").read_text("utf-8")
    assert pages.results_page(rows, growth_rows, sensitivity, subsamples) == page


def test_the_stored_selections_on_subsamples_are_those_of_the_methods(paper_data):
    paper_data("yeast")
    config = read_config()
    rows = pd.read_parquet(STORED / "stability.parquet")
    kinds = len(stability.METHODS) * 2 + 1
    assert len(rows) == len(config.datasets) * config.subsamples * kinds
    stored = rows[rows["dataset"] == "yeast"].reset_index(drop=True)
    again = pd.DataFrame(stability._select("yeast", config, n_jobs=2))
    pd.testing.assert_frame_equal(again, stored)


def test_stability_on_arcene_in_the_stored_rows():
    """What the page and the README say: mRMR is more stable than SLFS, FCBF less at its own size."""
    rows = pd.read_parquet(STORED / "stability.parquet")
    found = stability.stabilities(rows, "equal").loc["arcene"]
    assert found["SLFS"].n_runs == 50
    assert found["FCBF"].high < found["SLFS"].low < found["SLFS"].high < found["mRMR MID"].low
    equal = rows[(rows["dataset"] == "arcene") & (rows["size"] == "equal")]
    sizes = rows[(rows["dataset"] == "arcene") & (rows["size"] == "own")]["n_selected"]
    assert equal["limit"].unique().tolist() == [int(sizes.median())]
    text = " ".join((STORED.parent / "README.md").read_text("utf-8").split())
    for method in ("SLFS", "mRMR MID", "FCBF"):
        one = found[method]
        assert f"{one.value:.2f} [{one.low:.2f}, {one.high:.2f}]" in text, method


def test_the_measured_rows_are_stored_and_not_measured_again(paper_data, tmp_path, monkeypatch):
    paper_data("voting")
    config = replace(read_config(), datasets=("voting",), subsamples=4)
    path, told = tmp_path / "stability.parquet", []
    first = stability.measure(path, config, 1, lambda *counts: told.append(counts))
    assert told == [(0, 1), (1, 1)]
    assert set(first["subsample"]) == set(range(4))
    assert (first["n_selected"] <= np.where(first["limit"] < 0, 16, first["limit"])).all()
    monkeypatch.setattr(stability, "_select", None)
    pd.testing.assert_frame_equal(stability.measure(path, config, 1, quietly), first)


def test_a_quick_reproduction_writes_the_page_and_its_figures(paper_data, tmp_path, monkeypatch):
    testing = pytest.importorskip("typer.testing")
    import typer

    from experiments.__main__ import reproduce

    paper_data("voting")
    monkeypatch.chdir(tmp_path)
    app = typer.Typer()
    app.command()(reproduce)

    def run_part(part):
        result = testing.CliRunner().invoke(app, [part, "--quick", "--rows", "rows"])
        assert result.exit_code == 0, result.output
        return result.output

    assert "results.md" in run_part("all")
    quick = tmp_path / "rows" / "quick"
    page = (quick / "results.md").read_text("utf-8")
    claims = ["Summary", "The paper's claims", "At most the size of SLFS"]
    for heading in [*claims, "Table 1", "Table 2", "Table 3"]:
        assert heading in page
    for name in ("accuracy", "critical-difference", "network-voting", "network-breastcancer"):
        assert f"results/{name}.png" in page
        assert (quick / "results" / f"{name}.png").exists()
    first = (quick / "rows.parquet").read_bytes()
    run_part("table3")
    run_part("table1")
    assert (quick / "rows.parquet").read_bytes() == first, "stored rows are not computed again"
