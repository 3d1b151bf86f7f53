"""Benchmarks: their access to internals still works, and two checkouts can be compared."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import slfs
from benchmarks import internals, peers, public_cases
from benchmarks.cases import CASES
from benchmarks.public_cases import indices, sized
from tests.helpers import dependent_codes

ROOT = Path(__file__).parent.parent


def run(*arguments):
    command = [sys.executable, "-m", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


@pytest.mark.slow
def test_cases_are_listed():
    done = run("benchmarks", "--list")
    assert [line.split()[0] for line in done.stdout.splitlines()] == list(CASES)
    assert run("benchmarks", "nothing").returncode == 1


def test_access_to_internals():
    codes, y = dependent_codes(0, 200, 6, n_levels=3)
    X = np.ascontiguousarray(codes.T)
    found = internals.information(X, y)
    assert internals.planes(found).shape[:2] == (6, 2)
    np.testing.assert_allclose(found.relevance, slfs.SLFS(categorical_features="all").fit(X, y).scores_)
    assert len(internals.pack(X.astype(float), y, categorical=False, n_jobs=2).packed()) <= 6
    with internals.without_early_stopping():
        slfs.evaluation.p_values(X, y, n_permutations=10)


def test_parameters_of_both_versions():
    class OldSelector:
        def __init__(self, k=5):
            self.k, self.ranking_ = k, [2, 1]

    assert sized(slfs.MRMR, 3).n_features_to_select == 3
    assert sized(OldSelector, 3).k == 3
    assert indices(OldSelector()) == [2, 1]


def test_praznik_gets_the_table_and_is_left_out_where_it_is_missing(tmp_path, monkeypatch):
    X, y = np.arange(6).reshape(3, 2), np.array([0, 1, 0])
    monkeypatch.setenv("PATH", str(tmp_path))
    assert np.isnan(peers.praznik(X, y)).all()
    script = f"""#!{sys.executable}
import sys
import numpy as np
assert sys.argv[2:] == ["3", "2"]
print(*np.fromfile("table", np.int32)[[1, 3, 7]], sep="\\n")
"""
    program = tmp_path / "Rscript"
    program.write_text(script)
    program.chmod(0o755)
    if sys.platform != "win32":
        assert peers.praznik(X, y) == [2, 1, 1]
        program.write_text(f"#!{sys.executable}\nraise SystemExit('there is no package called praznik')")
        assert np.isnan(peers.praznik(X, y)).all()
        program.write_text(f"#!{sys.executable}\nraise SystemExit('out of memory')")
        with pytest.raises(subprocess.CalledProcessError):
            peers.praznik(X, y)


def test_history_measures_the_public_cases(monkeypatch):
    from benchmarks.history.public import PublicCases

    selected = []
    monkeypatch.setitem(public_cases.CASES, "tan-fit", lambda: lambda: selected.append(1))
    measured = PublicCases()
    measured.setup("tan-fit")
    assert selected == [1], "the first call, which loads kernels, is not measured"
    measured.time_case("tan-fit")
    measured.peakmem_case("tan-fit")
    assert selected == [1, 1, 1]
    assert {"mrmr-A", "stream", *public_cases.CASES} == set(PublicCases.params)


def test_history_leaves_out_cases_whose_dataset_is_missing(monkeypatch):
    from benchmarks.history.public import PublicCases

    monkeypatch.setattr("benchmarks.data.find", lambda _: None)
    with pytest.raises(NotImplementedError, match="the dataset arcene is missing"):
        PublicCases().setup("slfs-arcene")


def test_paths_of_the_history_exist():
    folder = ROOT / "benchmarks"
    settings = json.loads((folder / "asv.conf.json").read_text(encoding="utf-8"))
    assert (folder / settings["repo"] / "pyproject.toml").exists()
    assert (folder / settings["benchmark_dir"] / "public.py").exists()
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert settings["env_dir"].split("/")[1] + "/" in ignored


@pytest.mark.slow
def test_comparison_of_a_checkout_with_itself():
    done = run("benchmarks.against", ROOT, "tan-fit")
    assert done.returncode == 0, done.stderr
    assert "yes" in next(line for line in done.stdout.splitlines() if line.startswith("tan-fit"))
    assert "There is no slfs package" in run("benchmarks.against", ROOT / "docs").stderr
