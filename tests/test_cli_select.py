"""What ``slfs select`` tells a person: the selection first, or why nothing is selected."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest

from slfs.cli.commands import _show_once

pytestmark = pytest.mark.filterwarnings("ignore:.* selected 0 of")


@pytest.fixture
def noise(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(60, 4)), columns=list("abcd"))
    frame.assign(y=np.arange(60) % 2).to_csv("noise.csv", index=False)
    return tmp_path


def test_nothing_selected_has_an_exit_code_and_a_remedy(noise, slfs):
    (noise / "out.csv").write_text("kept")
    code, out, error = slfs("select", "noise.csv", "-t", "y", "--out", "out.csv", "--report", "r.html")
    assert code == 3
    assert out.startswith("noise.csv: 0 of 4 columns selected")
    for words in ("No column is selected", "comes closest", "What to try", "--method mrmr -k 5"):
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
