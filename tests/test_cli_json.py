"""--json of every command: one JSON value on standard output, and nothing else."""

import json

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
