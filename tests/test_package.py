"""The package as a whole: import, compilation of kernels, version, README."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import slfs

ROOT = Path(__file__).parents[1]


def run(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )


@pytest.mark.parametrize("module", ["slfs", "slfs.report", "slfs.plotting", "slfs.cli"])
def test_import_loads_no_other_library(module):
    code = f"""
import sys
before = set(sys.modules)
import {module}
added = {{name.split(".")[0] for name in set(sys.modules) - before}}
print(*sorted(added - set(sys.stdlib_module_names)))
"""
    assert run(code).stdout == "slfs\n"


def test_every_public_name_is_found():
    for name in slfs.__all__:
        assert getattr(slfs, name).__name__ == name
    assert {*slfs.__all__, "report", "saving"} <= set(dir(slfs))
    assert slfs.report.write_report is slfs.report.html.write_report
    with pytest.raises(AttributeError, match="module 'slfs' has no attribute 'SLSF'"):
        _ = slfs.SLSF


def test_import_writes_no_warning_and_changes_no_setting():
    code = """
import logging, warnings
before = (list(warnings.filters), logging.root.handlers[:])
import sklearn.feature_selection, numba
before = (list(warnings.filters), logging.root.handlers[:])
import slfs
assert before == (list(warnings.filters), logging.root.handlers[:])
"""
    assert run(code).stderr == ""


FIT = """
from sklearn.datasets import load_iris
from slfs import SLFS
print(SLFS().fit(*load_iris(return_X_y=True)).n_features_)
"""


@pytest.mark.slow
def test_a_first_call_says_that_it_compiles_and_later_ones_are_silent(tmp_path):
    first = run(FIT, NUMBA_CACHE_DIR=str(tmp_path))
    assert first.stderr.count("\n") == 1
    assert "compiles its kernels; each is compiled once" in first.stderr
    assert list(tmp_path.rglob("*.nbi")), "the cache is filled"
    second = run(FIT, NUMBA_CACHE_DIR=str(tmp_path))
    assert second.stderr == ""
    assert second.stdout == first.stdout


@pytest.mark.slow
def test_kernels_are_plain_python_too():
    """The same tests pass without the JIT: kernels do not depend on the integer rules of numba."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-W", "error"]
    chosen = [
        "tests/test_counting.py",
        "tests/test_mdlp.py",
        "-k",
        "oracle or edges or ways or window or extremes",
    ]
    result = subprocess.run(
        [*command, *chosen],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "SLFS_EXAMPLES": "5"},
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert result.returncode == 0, result.stdout[-3000:]


def test_kernels_refuse_other_types():
    """Each kernel has one signature: a call with other types fails instead of compiling again."""
    import numpy as np

    from slfs.counting.kernels import marginal_sums

    with pytest.raises(TypeError):
        marginal_sums(
            np.zeros(2), *(np.zeros(2, np.uint64),) * 2, 1, *(np.zeros(2),) * 2, np.zeros((2, 2))
        )


def test_versions_agree():
    """The changelog starts with this version; the citation is that of the latest release."""
    versions = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)
    assert versions[0] == slfs.__version__
    released = next(version for version in versions if ".dev" not in version)
    assert f"\nversion: {released}\n" in (ROOT / "CITATION.cff").read_text()


def test_readme_examples_run(tmp_path, monkeypatch):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    assert blocks
    monkeypatch.chdir(tmp_path)
    namespace = {}
    for block in blocks:
        exec(block, namespace)


def test_public_docstrings_name_every_parameter():
    for name in slfs.__all__:
        public = getattr(slfs, name)
        text = public.__doc__
        assert "Examples\n" in text, name
        described = public.__init__ if isinstance(public, type) else public
        for parameter in getattr(described, "__annotations__", ()):  # exceptions have none
            if parameter not in ("return", "self"):
                assert re.search(rf"^    (?:\w+, )*{parameter}\b.* :", text, re.MULTILINE), parameter


@pytest.mark.slow
def test_kernels_compile_where_nothing_can_be_cached():
    code = (
        """
import numba
from numba.core import caching
caching.CacheImpl._locator_classes = []
"""
        + FIT
    )
    result = run(code)
    assert result.stdout.strip() == "4"
    assert result.stderr.count("compiles its kernels") == 1
