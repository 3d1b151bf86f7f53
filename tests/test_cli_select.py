"""What ``slfs select`` tells a person: the selection first, or why nothing is selected."""

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer

from slfs import BNSLFS, SLFS, ResidualPursuit, StabilitySelection, saving
from slfs.cli.commands import _show_once

pytestmark = pytest.mark.filterwarnings("ignore:.* selected 0 of")


@pytest.fixture
def noise(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(60, 4)), columns=list("abcd"))
    frame.assign(y=np.arange(60) % 2).to_csv("noise.csv", index=False)
    return tmp_path


def test_nothing_selected_names_the_column_with_the_smallest_p_value(noise, slfs):
    frame = pd.read_csv(noise / "noise.csv")
    frame["c"] += 0.75 * frame["y"]
    frame.to_csv("noise.csv", index=False)
    _, _, error = slfs(
        "select", "noise.csv", "-t", "y", "--set", "irrelevance=test", "--set", "fdr=1e-6"
    )
    assert "comes closest: 'c'" in error


@pytest.mark.usefixtures("noise")
def test_nothing_selected_names_the_column_that_most_subsamples_select(slfs):
    random = np.random.default_rng(2)
    y = np.arange(80) % 2
    frame = pd.DataFrame(random.normal(size=(80, 40)) + 0.5 * y[:, None]).add_prefix("c")
    frame.assign(y=y).to_csv("noise.csv", index=False)
    selector = StabilitySelection(SLFS(n_features_to_select=2), n_subsamples=20, random_state=0)
    records = selector.fit(frame, y).features_
    most = records["name"][records["frequency"].argmax()]
    assert most != records["name"][records["p_value"].argmin()]
    code, _, error = slfs("select", "noise.csv", "-t", "y", "--stability", "20", "-k", "2")
    assert code == 3
    assert f"comes closest: '{most}'" in error


def test_nothing_selected_has_an_exit_code_and_a_remedy(noise, slfs):
    (noise / "out.csv").write_text("kept")
    code, out, error = slfs("select", "noise.csv", "-t", "y", "--out", "out.csv", "--report", "r.html")
    assert code == 3
    assert out.startswith("noise.csv: 0 of 4 columns selected")
    for words in ("No column is selected", "comes closest", "What to try", "use more samples"):
        assert words in error
    assert "out.csv is not written." in error
    assert "Traceback" not in error
    assert (noise / "out.csv").read_text() == "kept"
    assert (noise / "r.html").exists(), "the report explains every column"
    code, out, _ = slfs("select", "noise.csv", "-t", "y", "--json")
    assert (code, json.loads(out)["selected"]) == (3, [])


def test_no_model_without_columns(noise, slfs):
    code, _, error = slfs("fit", "noise.csv", "-t", "y", "-o", "m.slfs")
    assert code == 3
    assert "m.slfs is not written." in error
    assert not (noise / "m.slfs").exists()


def test_the_selection_comes_first_and_the_time_last(noise, slfs):
    y = np.arange(60) % 2
    pd.DataFrame({"good": y, "y": np.where(y, "yes", "no")}).to_csv("a.csv", index=False)
    code, out, error = slfs("select", "a.csv", "-t", "y", "--out", "out.csv")
    assert (code, error) == (0, ""), noise
    lines = out.splitlines()
    assert lines[0] == "a.csv: 1 of 1 columns selected to predict 'y' (60 samples: no 30, yes 30)."
    assert lines[3].split()[:2] == ["column", "role"]
    assert lines[4].startswith("good    strongly relevant  overwhelming")
    assert lines[-2] == "Written: out.csv"
    assert lines[-1].startswith("Selection took ")


def test_warnings_are_shown_once(capsys):
    show = _show_once()
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show
        for _ in range(3):
            warnings.warn("something odd", UserWarning, stacklevel=1)
    assert capsys.readouterr().err == "slfs: warning: something odd\n"


@pytest.fixture
def cancer(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X.assign(y=np.where(y, "benign", "malignant")).to_csv("cancer.csv", index=False)
    return X, np.where(y, "benign", "malignant")


def test_the_number_of_columns_that_was_found(cancer, slfs):
    path = SLFS(order="residual").fit(*cancer).size_path_
    code, out, error = slfs("select", "cancer.csv", "-t", "y", "--order", "residual", "-k", "auto")
    assert (code, error) == (0, "")
    assert out.startswith(f"cancer.csv: {path.best} of 30 columns selected")
    most = path.n_features[-1]
    assert f"is nearly the smallest of 0 to {most} columns" in out
    code, out, error = slfs("select", "cancer.csv", "-t", "y", "-m", "residual", "--one-standard-error")
    assert (code, error) == (0, "")
    fewest = path.within_one_standard_error
    assert out.startswith(f"cancer.csv: {fewest} of 30 columns selected")
    assert f"{fewest} columns are the fewest whose cross-validated log loss" in out
    code, out, _ = slfs("select", "cancer.csv", "-t", "y", "--order", "residual", "--json")
    found = json.loads(out)["size_path"]
    np.testing.assert_allclose(found["log_loss"], path.log_loss, rtol=1e-3)
    assert found["size"] == path.best
    code, out, _ = slfs("fit", "cancer.csv", "-t", "y", "--order", "residual", "-o", "m.slfs")
    assert f"{path.best} columns are the fewest whose cross-validated log loss" in out
    code, out, _ = slfs("select", "cancer.csv", "-t", "y", "--order", "conditional")
    assert (code, "log loss" in out) == (0, False)


@pytest.mark.usefixtures("cancer")
@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("-m", "mrmr", "--order", "residual"), "mrmr has no parameter 'order'"),
        (("-m", "mrmr", "--one-standard-error"), "mrmr has no parameter 'one_standard_error'"),
        (("--order", "residual", "-k", "5", "--one-standard-error"), "without -k"),
        (("--order", "conditional", "--one-standard-error"), "use --order residual"),
    ],
)
def test_options_of_an_automatic_size(arguments, problem, slfs):
    code, _, error = slfs("select", "cancer.csv", "-t", "y", *arguments)
    assert (code, problem in error) == (1, True), error


def test_the_structure_of_the_classifier(cancer, slfs):
    X, y = cancer
    common = ("fit", "cancer.csv", "-t", "y", "-m", "residual", "-k", "3", "-o", "m.slfs")
    for options, structure in (
        ((), "additive"),
        (("--structure", "augmented"), "augmented"),
        (("--bif", "m.bif"), "linked"),
    ):
        code, _, error = slfs(*common, *options)
        assert (code, error) == (0, "")
        classifier = saving.load("m.slfs")
        assert classifier.structure == structure
        expected = BNSLFS(ResidualPursuit(3), structure=structure).fit(X, y)
        np.testing.assert_array_equal(classifier.predict_proba(X), expected.predict_proba(X))
    before = Path("m.slfs").read_bytes()
    code, _, error = slfs(*common, "--bif", "m.bif", "--structure", "additive")
    assert (code, "Use --structure linked." in error) == (1, True)
    assert Path("m.slfs").read_bytes() == before, "nothing is written"
    code, _, error = slfs("compare", "cancer.csv", "-t", "y", "-k", "auto")
    assert (code, "Use --own-size" in error) == (1, True)


def test_the_threshold_of_a_stability_selection(tmp_path, slfs):
    random = np.random.default_rng(20)
    y = np.repeat(["a", "b"], 30)
    X = pd.DataFrame(random.normal(size=(60, 60)))
    X.iloc[:, :10] += 0.75 * (y == "b")[:, np.newaxis]
    X.assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    command = ["select", tmp_path / "t.csv", "-t", "y", "--method", "mrmr", "-k", "8"]
    assert slfs(*command, "--stability", "20")[0] == 3
    code, out, _ = slfs(*command, "--stability", "20", "--threshold", "0.2")
    assert code == 0
    assert "selected in at least 4 of 20 subsamples" in out
    code, _, error = slfs(*command, "--threshold", "0.2")
    assert (code, "--threshold needs --stability" in error) == (1, True)


def test_many_classes_of_numbers_are_a_quantity(tmp_path, monkeypatch, slfs):
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    x = random.normal(size=900)
    price = (1000 + 200 * x + 100 * random.normal(size=900)).round().astype(int) // 4
    pd.DataFrame({"x": x, "price": price}).to_csv("a.csv", index=False)
    code, out, error = slfs("select", "a.csv", "-t", "price", "--target-type", "classification")
    assert code == 3, (out, error)
    assert "if the target is a quantity, add --target-type regression" in out + error
    assert "--include" not in out.rpartition("What to try")[2]
    assert slfs("select", "a.csv", "-t", "price", "--target-type", "regression")[0] == 0
