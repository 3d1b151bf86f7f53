"""Experiments: each row is computed once, statistics are as published, pages agree with rows."""

import contextlib
import json
import os
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

from experiments import effective_stability, growth, stability, statistics
from experiments.cells import KEY, cells, key
from experiments.check import check, report
from experiments.config import Config, Method, read_config
from experiments.figures import connected_groups
from experiments.jobs import Job, Selections, run_job, score_cell
from experiments.pages import results_page
from experiments.run import run
from experiments.sensitivity import sensitivity_config
from experiments.storage import read_journal, read_rows
from slfs import SLFS
from slfs.datasets.paper import load
from slfs.evaluation.classify import FoldScores
from slfs.evaluation.cross_validation import Fold
from slfs.evaluation.numbers import Standardizer

ROOT = Path(__file__).parent.parent
STORED = ROOT / "experiments" / "results"


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


def wait_for_journal(folder):
    """Wait until a run has finished its first cell."""
    for _ in range(1200):
        if folder.exists() and any(path.stat().st_size for path in folder.iterdir()):
            return
        time.sleep(0.05)


def must_not_load(name):
    raise AssertionError(f"{name} is loaded although all its rows are stored")


@pytest.mark.slow
def test_rows_are_what_a_plain_loop_gives(config, tmp_path):
    rows = run(config, tmp_path, n_jobs=1, progress=quietly)
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


@pytest.mark.slow
def test_stored_rows_are_not_computed_again(config, tmp_path):
    first = run(config, tmp_path, n_jobs=1, progress=quietly)
    again = run(config, tmp_path, n_jobs=1, progress=quietly, load=must_not_load)
    pd.testing.assert_frame_equal(again, first)
    fewer = replace(config, methods=config.methods[:1], classifiers=("NB",))
    part = run(fewer, tmp_path, n_jobs=1, progress=quietly, load=must_not_load)
    assert set(part["method"]) == {"SLFS"}
    assert set(part["classifier"]) == {"NB"}
    told = []
    more = replace(config, methods=(*config.methods, Method("FCBF", "FCBF")))
    second = run(more, tmp_path, n_jobs=1, progress=lambda *counts: told.append(counts))
    assert told[0][0] > 0, "stored rows count as done"
    old = second[second["method"] != "FCBF"].reset_index(drop=True)
    pd.testing.assert_frame_equal(old, first)
    other = replace(config, seed=8, classifiers=("5-NN",))
    assert set(run(other, tmp_path, n_jobs=1, progress=quietly)["seed"]) == {8}
    kept = run(config, tmp_path, n_jobs=1, progress=quietly)
    pd.testing.assert_frame_equal(kept, first)  # another configuration leaves these rows alone
    wider = run(
        replace(config, classifiers=(*config.classifiers, "TAN")), tmp_path, n_jobs=1, progress=quietly
    )
    assert (wider["classifier"] == "TAN").sum() == len(first) / 3


@pytest.mark.slow
def test_a_killed_run_continues(config, tmp_path):
    """Cells that are in a journal are kept, a truncated line is computed again."""
    whole = run(config, tmp_path / "whole", n_jobs=1, progress=quietly)
    folder = tmp_path / "killed"
    (folder / "cells").mkdir(parents=True)
    job = Job(config, "voting", 1, folder / "cells" / "voting-1.jsonl", "", load)
    run_job(job)
    lines = job.journal.read_text().splitlines()
    marked = json.loads(lines[0])
    for row in marked:
        row["machine"] = "kept"
    job.journal.write_text(json.dumps(marked) + "\n" + lines[1] + "\n" + lines[2][:40])
    again = run(config, folder, n_jobs=1, progress=quietly)
    assert (again.query("fold == 1 and method == 'SLFS'")["machine"] == "kept").all()
    same = ["dataset", "fold", "method", "size", "classifier", "accuracy", "n_features", "columns"]
    pd.testing.assert_frame_equal(again[same], whole[same])


@pytest.mark.slow
def test_killed_by_sigkill(paper_data, tmp_path):
    """The second run finishes with all rows and keeps those of the first."""
    paper_data("voting")
    paper_data("breastcancer")
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
    wait_for_journal(journal)
    killed.kill()
    killed.wait()
    assert not (tmp_path / "rows.parquet").exists()
    before = [line for path in sorted(journal.iterdir()) for line in path.read_text().split("\n")[:-1]]
    assert before
    config = read_config(tmp_path / "small.toml")
    rows = run(config, tmp_path, n_jobs=2, progress=quietly)
    assert len(rows) == 2 * 4 * 2 * 2
    for line in before:
        for row in json.loads(line):
            found = rows[(rows[KEY] == [row[name] for name in KEY]).all(axis=1)]
            found = found[found["classifier"] == row["classifier"]]
            assert found["selection_seconds"].tolist() == [row["selection_seconds"]], "kept"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("seed = ", "not a valid configuration"),
        ("seed = 1", "not a valid configuration"),
        ('seed=1\nfolds=2\ndatasets=["iris"]\nclassifiers=[]\n[methods]', "Unknown dataset 'iris'"),
        (
            'seed=1\nfolds=2\ndatasets=[]\nclassifiers=[]\n[methods.a]\nestimator="X"\nsizes=["own"]',
            "Unknown estimator 'X'",
        ),
        (
            'seed=1\nfolds=2\ndatasets=[]\nclassifiers=[]\n[methods.a]\nestimator="SLFS"\nsizes=["equal"]',
            "first method determines",
        ),
        (
            'seed=1\nfolds=2\ndatasets=[]\nclassifiers=[]\n[methods.a]\nestimator="SLFS"\nsizes=[]',
            "first method determines",
        ),
        (
            """seed=1\nfolds=2\ndatasets=[]\nclassifiers=[]
            [methods.a]\nestimator="SLFS"\nsizes=["own"]\nparameters={lamda=1}""",
            "Invalid parameters for the method 'a'",
        ),
        ("seed=1\nfold=2\nfolds=2\ndatasets=[]\nclassifiers=[]\n[methods]", "Unknown key 'fold'"),
    ],
)
def test_a_wrong_configuration_is_refused(text, message, tmp_path):
    path = tmp_path / "wrong.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_config(path)


def test_the_selection_of_an_estimator_without_a_size_is_cut_off(config):
    data = load("voting")
    rows = np.arange(len(data.target))
    fold = Fold(data.data, data.target, rows[::2], rows[1::2])
    select, alpha = Selections(fold), Method("alpha", "AlphaInvesting")
    whole, two = select(alpha, None), select(alpha, 2)
    assert whole.selector is two.selector, "fitted once"
    assert two.columns.tolist() == whole.columns[:2].tolist()
    cell = dict.fromkeys(KEY, "")
    job = Job(config, "voting", 0, Path(), "", load)
    found = score_cell(cell, two, FoldScores(fold), job)
    assert {row["n_features"] for row in found} == {2}


def test_no_columns_means_the_most_frequent_class():
    y = np.array(["a", "b", "b", "b", "a", "b"])
    fold = Fold(pd.DataFrame({"x": np.arange(6.0)}), y, np.arange(4), np.arange(4, 6))
    assert FoldScores(fold).score(np.array([], np.int64), "SVM")[0] == 0.5


def test_categories_become_numbers_and_back_to_columns():
    frame = pd.DataFrame({"a": ["x", "y", "x"], "b": ["p", "q", "r"]}, dtype="category")
    numbers = Standardizer().fit(frame)
    assert numbers.transform(frame).shape == (3, 5)
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
    assert connected_groups(np.array([1.0, 1.5, 2.4, 4.0]), 1.0) == [(0, 1), (1, 2)]
    assert connected_groups(np.array([1.0, 3.0]), 1.0) == []


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
    wanted = {key(cell) for cell in cells(read_config())}
    assert {key(row) for row in rows[KEY].to_dict("records")} == wanted
    assert not rows.duplicated([*KEY, "classifier"]).any()


@pytest.mark.parametrize("part", ["", "sensitivity"])
def test_nothing_is_computed_for_the_published_rows(part, tmp_path):
    """`make reproduce` finds all rows under the parameter names that the code uses."""
    config = read_config() if not part else sensitivity_config(read_config())
    (tmp_path / "rows.parquet").write_bytes((STORED / part / "rows.parquet").read_bytes())
    rows = run(config, tmp_path, n_jobs=1, progress=quietly, load=must_not_load)
    assert len(rows) == len(pd.read_parquet(STORED / part / "rows.parquet"))


def published_text():
    """The README and all pages except the results page, as one line."""
    pages = [path for path in sorted((ROOT / "docs").glob("*.md")) if path.name != "results.md"]
    texts = [path.read_text("utf-8") for path in [ROOT / "README.md", *pages]]
    return " ".join(" ".join(texts).split())


def test_the_published_figures_are_those_of_the_rows():
    rows = pd.read_parquet(STORED / "rows.parquet")
    equal = statistics.accuracies(statistics.comparison(rows))[list(statistics.FILTERS)]
    naive = statistics.accuracies(statistics.comparison(rows, bayes="NB"))[list(statistics.FILTERS)]
    ranks, own = statistics.mean_ranks(equal), statistics.comparison(rows, "own")
    own_ranks = statistics.mean_ranks(statistics.accuracies(own))
    figures = [
        *(f"{ranks[name]:.2f}" for name in ("SLFS", "CMIM", "JMI")),
        *(f"{statistics.mean_ranks(naive)[name]:.2f}" for name in ("SLFS", "CMIM")),
        *(f"{own_ranks[name]:.2f}" for name in ("SLFS", "CMIM")),
        *(f"{100 * equal[name].mean():.2f}%" for name in ("SLFS", "CMIM")),
        *(f"{statistics.friedman(equal).ranks[name]:.2f}" for name in ("SLFS", "CMIM")),
    ]
    kinds = rows[rows["method"] == "SLFS"].pivot_table(
        index="dataset", columns="classifier", values="accuracy"
    )
    gain = 100 * (kinds["BNSLFS"] - kinds["NB"])
    figures += [f"{gain['letter']:.1f} points on Letter", f"loses {-gain['dorothea']:.1f} on"]
    text = published_text()
    assert [figure for figure in figures if figure not in text] == []


@pytest.mark.slow
def test_the_results_page_is_that_of_the_rows():
    rows, growth_rows = (pd.read_parquet(STORED / name) for name in ("rows.parquet", "growth.parquet"))
    sensitivity = pd.read_parquet(STORED / "sensitivity" / "rows.parquet")
    subsamples = pd.read_parquet(STORED / "stability.parquet")
    page = (ROOT / "docs" / "results.md").read_text("utf-8")
    assert results_page(rows, growth_rows, sensitivity, subsamples) == page


@pytest.mark.slow
def test_the_stored_selections_on_subsamples_are_those_of_the_methods(paper_data):
    paper_data("yeast")
    config = read_config()
    rows = pd.read_parquet(STORED / "stability.parquet")
    kinds = len(stability.METHODS) * 2 + 1
    assert len(rows) == len(config.datasets) * config.subsamples * kinds
    stored = rows[rows["dataset"] == "yeast"].reset_index(drop=True)
    again = pd.DataFrame(stability.select_on_subsamples("yeast", config, n_jobs=2))
    pd.testing.assert_frame_equal(again, stored)


def test_stability_on_arcene_in_the_stored_rows():
    """mRMR is more stable than SLFS, FCBF less at its own size, as published."""
    rows = pd.read_parquet(STORED / "stability.parquet")
    found = stability.stabilities(rows, "equal").loc["arcene"]
    assert found["SLFS"].n_runs == 50
    assert found["FCBF"].high < found["SLFS"].low < found["SLFS"].high < found["mRMR MID"].low
    equal = rows[(rows["dataset"] == "arcene") & (rows["size"] == "equal")]
    sizes = rows[(rows["dataset"] == "arcene") & (rows["size"] == "own")]["n_selected"]
    assert equal["limit"].unique().tolist() == [int(sizes.median())]
    text = published_text()
    for method in ("SLFS", "mRMR MID", "FCBF"):
        one = found[method]
        assert f"{one.value:.2f} [{one.low:.2f}, {one.high:.2f}]" in text, method


@pytest.mark.slow
def test_the_measured_rows_are_stored_and_not_measured_again(paper_data, tmp_path):
    paper_data("voting")
    config = replace(read_config(), datasets=("voting",), subsamples=4)
    path, told = tmp_path / "stability.parquet", []
    first = stability.measure(path, config, 1, lambda *counts: told.append(counts))
    assert told == [(0, 1), (1, 1)]
    assert set(first["subsample"]) == set(range(4))
    assert (first["n_selected"] <= np.where(first["limit"] < 0, 16, first["limit"])).all()
    again = stability.measure(path, config, 1, quietly, load=must_not_load)
    pd.testing.assert_frame_equal(again, first)


def test_effective_stability_of_a_table_of_copies(tmp_path):
    """SLFS selects one column of each pair of copies. Stored datasets are not read again."""
    random = np.random.default_rng(0)
    y = np.repeat([0, 1], 60)
    X = np.repeat(random.normal(size=(120, 30)) + np.linspace(0, 1, 30) * y[:, None], 2, axis=1)
    np.savez(tmp_path / "copies.npz", X=X + 0.01 * random.normal(size=X.shape), y=y)
    stored, told = tmp_path / "rows.csv", []
    rows = effective_stability.measure(tmp_path, stored, ("copies",), told.append)
    assert told == ["copies"]
    assert rows["method"].tolist() == list(effective_stability.METHODS)
    assert (rows["n_selected"] <= effective_stability.SIZE).all()
    assert (rows["effective"] <= 1.001).all()
    by_method = rows.set_index("method")
    assert (
        by_method.loc["SLFS conditional", "effective"]
        > by_method.loc["SLFS conditional", "nogueira"] + 0.05
    )
    (tmp_path / "copies.npz").unlink()
    again = effective_stability.measure(tmp_path, stored, ("copies",), told.append)
    assert told == ["copies"]
    assert effective_stability.describe(again) == effective_stability.describe(rows)


def test_the_page_shows_the_stored_effective_stability():
    rows = pd.read_csv(effective_stability.STORED)
    assert effective_stability.describe(rows) in (ROOT / "docs" / "stability.md").read_text("utf-8")


@pytest.mark.slow
def test_check_finds_changed_selections(paper_data, tmp_path):
    """On the smallest datasets: stored selections are confirmed, a changed row is reported.

    The stored subsamples of SLFS itself are from a version that kept redundant columns.
    """
    for name in ("voting", "yeast"):
        paper_data(name)
    (tmp_path / "sensitivity").mkdir()
    for name in ("rows.parquet", "sensitivity/rows.parquet", "stability.parquet"):
        (tmp_path / name).write_bytes((STORED / name).read_bytes())
    config = replace(read_config(), datasets=("voting", "yeast"))
    found = check(config, tmp_path, quietly)
    assert len(found) == 2 * (27 + 13)
    different = [one.name for one in found if not one.agrees]
    assert all(", SLFS," in name and "paper" not in name for name in different), report(found)
    rows = pd.read_parquet(tmp_path / "rows.parquet")
    changed = rows.query("dataset == 'voting' and fold == 0 and method == 'JMI' and size == 'own'").index
    rows.loc[changed, "columns"] = "[0, 1]"
    rows.to_parquet(tmp_path / "rows.parquet")
    text = report(check(config, tmp_path, quietly))
    assert text.startswith(f"{79 - len(different)} of 80 stored selections are unchanged.")
    assert "voting, fold 0, JMI, own size" in text


def reproduce(*arguments, cwd=ROOT):
    """Run the command; return exit code, standard output and standard error."""
    command = [sys.executable, "-m", "experiments", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.slow
def test_a_quick_run_of_the_command(paper_data, tmp_path):
    paper_data("voting")
    paper_data("breastcancer")
    quick = tmp_path / "quick"
    code, out, error = reproduce("all", "--quick", "--rows", tmp_path)
    assert (code, error) == (0, "")
    assert "results.md" in out
    page = (quick / "results.md").read_text("utf-8")
    for heading in ("Summary", "Claims of the paper", "At most the size of SLFS", "Table 1", "Table 3"):
        assert heading in page
    for name in ("accuracy", "critical-difference", "network-voting", "network-breastcancer"):
        assert f"results/{name}.png" in page
        assert (quick / "results" / f"{name}.png").exists()
    first = (quick / "rows.parquet").read_bytes()
    assert reproduce("figures", "--quick", "--rows", tmp_path)[0] == 0
    assert (quick / "rows.parquet").read_bytes() == first, "nothing is computed again"
    assert reproduce("check", "--quick", "--rows", tmp_path)[0] == 0
    (quick / "rows.parquet").write_bytes(b"PAR1 half")
    code, _, error = reproduce("figures", "--quick", "--rows", tmp_path)
    assert code == 1
    assert "is damaged" in error
    assert "Traceback" not in error


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="processes cannot be sent SIGINT")
def test_ctrl_c_says_how_to_continue(paper_data, tmp_path):
    paper_data("voting")
    paper_data("breastcancer")
    command = [sys.executable, "-m", "experiments", "figures", "--quick", "--rows", tmp_path, "-j", "1"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    wait_for_journal(tmp_path / "quick" / "cells")
    said = None
    for _ in range(20):  # a signal is lost if it arrives in a callback from C; two kill at exit
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            _, said = process.communicate(timeout=5)
            break
    assert process.returncode == 130, said
    assert "run the same command to continue" in " ".join(said.split())
    assert "Traceback" not in said


def kill_worker(_name):
    """Loads no dataset but kills the process."""
    os._exit(1)


@pytest.mark.slow
def test_a_lost_worker_is_reported(config, tmp_path):
    with pytest.raises(ChildProcessError, match="Finished cells are kept"):
        run(config, tmp_path, n_jobs=2, progress=quietly, load=kill_worker)


def test_damaged_rows_are_reported(tmp_path):
    (tmp_path / "rows.parquet").write_bytes(b"PAR1 half")
    with pytest.raises(ValueError, match=r"rows\.parquet is damaged.*Restore it, or remove it"):
        read_rows(tmp_path / "rows.parquet")


def test_damaged_lines_of_a_journal_are_skipped(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'[{"a": 1}]\n[{"a": 2}\x00\x00\xff\n[{"a": 3}]\n[{"a"')
    assert [row["a"] for row in read_journal(path)] == [1, 3]
