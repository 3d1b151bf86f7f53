"""--json of every command: one JSON value on standard output, and nothing else."""

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from slfs import SLFS
from slfs.cli.commands import app


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 90)
    frame = pd.DataFrame({"key": np.arange(90), "good": y + random.normal(0, 0.3, 90)})
    frame["café"] = np.where(y ^ (random.random(90) < 0.1), "a", "b")
    frame["noise"] = random.normal(size=90)
    frame["when"] = "2020-01-0" + pd.Series(random.integers(1, 9, 90).astype(str))
    frame["y"] = np.where(y, "yes", "no")
    frame.to_csv("a.csv", index=False)
    return frame


DATA = ("a.csv", "-t", "y", "--id", "key")
COMMANDS = {
    "select": DATA,
    "explain": ("good", *DATA),
    "fit": (*DATA, "-o", "a.slfs"),
    "predict": ("a.slfs", "a.csv"),
    "compare": (*DATA, "--cv", "2", "--methods", "slfs,mrmr", "--classifiers", "NB,SVM", "-j", "1"),
    "discretize": DATA,
    "interactions": DATA,
    "methods": (),
    "datasets": (),
    "demo": (),
}


def refuse(name):
    pytest.fail(f"{name} is not JSON")


def run(slfs, command, *arguments):
    code, out, error = slfs(command, *arguments, "--json")
    assert code == 0, error
    assert out.count("\n") == 1
    return json.loads(out, parse_constant=refuse)


def test_all_commands_are_tested():
    assert set(COMMANDS) == {command.callback.__name__ for command in app.registered_commands}


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "predict"])
def test_standard_output_is_json(command, slfs):
    found = run(slfs, command, *COMMANDS[command])
    assert isinstance(found, dict)
    if command in ("select", "fit", "compare", "discretize"):
        assert (found["data"], found["target"], found["ids"]) == ("a.csv", "y", ["key"])


def test_the_selection_is_a_list_of_names_in_order(here, slfs):
    X, y = here.drop(columns=["key", "y"]), here["y"]
    X["when"] = pd.to_datetime(X["when"])
    selector = SLFS().fit(X, y)
    expected = X.columns[selector.indices_].tolist()
    for command in ("select", "fit"):
        assert run(slfs, command, *COMMANDS[command])["selected"] == expected


@pytest.mark.usefixtures("here")
def test_explain_has_figures_and_the_sentence(slfs):
    found = run(slfs, "explain", "café", *DATA)
    assert (found["column"], found["selected"], found["role"]) == ("café", True, "strongly relevant")
    assert found["explanation"] == slfs("explain", "café", *DATA)[1].rstrip("\n")
    assert 0 <= found["p_value"] < 1e-5
    slfs("fit", *DATA, "-o", "a.slfs")
    assert run(slfs, "explain", "café", "--model", "a.slfs") == found
    assert run(slfs, "explain", "noise", *DATA)["selected"] is False


@pytest.mark.usefixtures("here")
def test_classifiers_without_probabilities_have_null(slfs):
    found = run(slfs, "compare", *COMMANDS["compare"])
    assert len(found["rows"]) == 2 * 2 * 2
    assert {row["classifier"]: row["auc"] is None for row in found["summary"]} == {
        "NB": False,
        "SVM": True,
    }
    assert {row["log_loss"] is None for row in found["rows"] if row["classifier"] == "SVM"} == {True}


@pytest.mark.usefixtures("here")
def test_names_of_methods_are_those_of_the_option(slfs):
    names = [entry["method"] for entry in run(slfs, "methods")["methods"]]
    assert {"slfs", "mrmr", "fcbf"} <= set(names)


def test_errors_leave_standard_output_empty(here, slfs):
    code, out, error = slfs("select", "a.csv", "-t", "nothing", "--json")
    assert (code, out) == (1, "")
    assert error.startswith("slfs: a.csv has no column 'nothing'"), here


def warned(slfs, *arguments):
    """Run select; return the texts of its warnings, and the facts."""
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        code, out, error = slfs("select", *arguments, "--json")
    assert code in (0, 3), error
    lines = error.splitlines()
    texts = [line.removeprefix("slfs: warning: ") for line in lines if line.startswith("slfs: warning")]
    return texts, json.loads(out)


@pytest.mark.usefixtures("here")
def test_warnings_are_in_the_facts_and_in_the_report(slfs):
    """They were only printed."""
    random = np.random.default_rng(0)
    y = np.where(np.arange(200) % 2, "Yes", "no")
    price = [f"{10 + 5 * (label == 'Yes') + random.random():.2f} EUR" for label in y]
    y[:3] = "NO"
    leak = pd.factorize(y)[0]
    pd.DataFrame({"price": price, "leak": leak, "y": y}).to_csv("w.csv", index=False)
    printed, found = warned(slfs, "w.csv", "-t", "y", "--report", "w.html")
    kinds = [
        "Some classes of the target 'y'",
        "1 column(s) of text look like",
        "Possible target leakage",
    ]
    assert [text[: len(kind)] for text, kind in zip(printed, kinds, strict=True)] == kinds
    assert found["warnings"][-2:] == printed[:2]
    assert [text[:23] for text in found["warnings"]].count("Possible target leakage") == 1
    assert len(found["warnings"]) == 3
    assert "look like numbers" in Path("w.html").read_text()


@pytest.mark.usefixtures("here")
def test_that_nothing_is_selected_is_not_a_warning_too(slfs):
    random = np.random.default_rng(0)
    pd.DataFrame({"a": random.random(60), "y": np.arange(60) % 2}).to_csv("n.csv", index=False)
    printed, found = warned(slfs, "n.csv", "-t", "y")
    assert (found["warnings"], found["dropped"]) == ([], printed[0])


def test_fit_warns_about_the_target_by_its_name(here, slfs):
    frame = here.rename(columns={"y": "had"})
    frame.loc[:5, "had"] = frame.loc[:5, "had"].str.upper()
    frame.to_csv("had.csv", index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        code, _, error = slfs("fit", "had.csv", "-t", "had", "-o", "had.slfs")
    assert code == 0, error
    assert "classes of the target 'had' differ only in upper" in error
