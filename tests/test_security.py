"""Untrusted input: it is not executed, nor interpreted as markup or formulas."""

import ast
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import slfs
from slfs import SLFS
from slfs.cli import main
from slfs.files.writing import without_formulas
from tests.long.audit import unsafe

SOURCES = sorted(Path(slfs.__file__).parent.rglob("*.py"))
CODE_LOADERS = {"pickle", "cPickle", "dill", "marshal", "shelve", "cloudpickle", "joblib.load", "runpy"}
WITH_REASON = {("dask.py", "cloudpickle"), ("dask.py", "pickle")}
"""Dask sends functions to its workers with them; no file is read with them."""


def test_no_pickle_and_no_eval_in_the_sources():
    assert len(SOURCES) > 80
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            imported = []
            if isinstance(node, ast.Import):
                imported = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                imported = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            for name in CODE_LOADERS.intersection(imported):
                assert (path.name, name) in WITH_REASON, f"{path} imports {name}"
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                assert called not in ("eval", "exec", "compile", "__import__", "os.system"), path
                keywords = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
                assert keywords.get("shell") != "True", path
                if called.endswith("np.load"):
                    assert keywords.get("allow_pickle", "False") == "False", path


HOSTILE = "=HYPERLINK(\"http://evil\",'x')"


def test_formulas_in_csv_files(tmp_path, monkeypatch, capsys):
    y = np.arange(60) % 2
    cells = np.where(y, HOSTILE, "-1+1")
    frame = pd.DataFrame({"@name": cells, "number": -1.5 * y, "y": y})
    frame.to_csv(tmp_path / "in.csv", index=False)
    for options, expected in ([], "=HYPERLINK"), (["--escape-formulas"], "'=HYPERLINK"):
        out = tmp_path / "out.csv"
        arguments = [
            "slfs",
            "select",
            str(tmp_path / "in.csv"),
            "--target",
            "y",
            "--method",
            "mrmr",
            "-k",
            "2",
            "--out",
            str(out),
            *options,
        ]
        monkeypatch.setattr("sys.argv", arguments)
        with pytest.raises(SystemExit) as left:
            main()
        assert left.value.code in (0, None), capsys.readouterr().err
        written = pd.read_csv(out)
        assert written.iloc[1, 0].startswith(expected)
        assert written["number"].tolist() == frame["number"].tolist(), "numbers stay numbers"
    assert list(written.columns) == ["'@name", "number", "y"]
    assert set(written.iloc[:, 0]) == {f"'{HOSTILE}", "'-1+1"}


def test_escaping_formulas_in_categories_and_missing_values():
    frame = pd.DataFrame({"a": pd.Categorical(["=1", "b", None]), "b": [True, False, True]})
    safe = without_formulas(frame)
    assert safe["a"].tolist()[:2] == ["'=1", "b"]
    assert safe["a"].isna().tolist() == [False, False, True]
    assert safe["b"].tolist() == [True, False, True]


def test_names_are_text_in_html():
    y = np.arange(60) % 2
    name = '<script>alert("1")</script>'
    network = SLFS().fit(pd.DataFrame({name: y.astype(float)}), pd.Series(y, name="<b>")).network_
    shown = network._repr_html_()
    assert "<script" not in shown
    assert "<b>" not in shown
    assert "&lt;script&gt;" in shown


def test_installed_libraries_have_no_known_vulnerability():
    assert unsafe() == []
