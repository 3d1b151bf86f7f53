#!/usr/bin/env python3
# /// script
# dependencies = ["nox>=2024.4.15"]
# ///
"""The commands of this repository: `nox -s test -- -k mdlp`, or, with make, `make test ARGS="-k mdlp"`.

All sessions share the environment .venv, so that each library is installed once. Packages are installed
again if pyproject.toml has changed.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import sys
from pathlib import Path

import nox

ROOT = Path(__file__).parent
SCRIPTS, SUFFIX = ("Scripts", ".exe") if os.name == "nt" else ("bin", "")
nox.needs_version = ">=2024.4.15"
nox.options.default_venv_backend = "none"
command = functools.partial(nox.session, default=False)

# Kernels are seen by coverage with the JIT off only, where the other tests would take hours.
KERNEL_TESTS = [
    "test_backends.py",
    "test_chi2.py",
    "test_contingency.py",
    "test_counting.py",
    "test_information.py::test_laws",
    "test_information.py::test_pooled_counts_are_the_same_bits_however_they_are_counted",
    "test_information.py::test_sums_over_few_levels_are_those_of_their_tables",
    "test_mdlp.py",
    "test_residual.py::test_equal_to_the_algorithm_in_floats",
    "test_significance.py::test_permutations_approach_the_count_of_all_of_them",
    "test_slfs.py",
    "test_stream.py",
    "test_table.py::test_columns_become_rows_whatever_type_and_memory_order",
    "test_vectors.py",
]
SCHEMAS = {
    "citation-file-format": "CITATION.cff",
    "dependabot": ".github/dependabot.yml",
    "github-issue-forms": ".github/ISSUE_TEMPLATE/[!c]*.yml",
    "github-workflows": ".github/workflows/*.yml",
}
# Old libraries use what newer ones that they depend on have deprecated; new ones deprecate what we use.
DEPRECATIONS = ["-W", "ignore::DeprecationWarning", "-W", "ignore::PendingDeprecationWarning"]


class Environment:
    """A virtual environment in a folder of the repository, with the packages that were asked for."""

    def __init__(self, session: nox.Session, folder: str = ".venv") -> None:
        self.session, self.path = session, ROOT / folder
        if not self.program("python").exists():
            python = os.environ.get("PYTHON", sys.executable)
            session.run(python, "-m", "venv", str(self.path), external=True)

    def program(self, name: str) -> Path:
        return self.path / SCRIPTS / (name + SUFFIX)

    def run(self, name: str, *arguments: object, **options: object) -> object:
        return self.session.run(str(self.program(name)), *map(str, arguments), external=True, **options)

    def python(self, *arguments: object, **options: object) -> object:
        return self.run("python", *arguments, **options)

    def install(self, name: str, *arguments: object) -> Environment:
        """Install what pip's arguments say, unless that was done since pyproject.toml has changed."""
        stamp = self.path / f"{name}.stamp"
        if not stamp.exists() or stamp.stat().st_mtime < (ROOT / "pyproject.toml").stat().st_mtime:
            self.python("-m", "pip", "install", "--quiet", "--upgrade", "pip")  # groups need pip 25.1
            self.python("-m", "pip", "install", "--quiet", *arguments)
            stamp.touch()
        return self


def group(session: nox.Session, name: str = "") -> Environment:
    """Return .venv with slfs, its extras, and a dependency group."""
    extra = ["--group", name] if name else []
    return Environment(session).install(name or "all", "--editable", ".[all]", *extra)


@command
def demo(session: nox.Session) -> None:
    """Install, select features from a dataset, classify, write demo-report.html"""
    group(session).run("slfs", "demo", "demo-report.html")


@nox.session
def test(session: nox.Session) -> None:
    """Run all tests (ARGS="-k mdlp": some)"""
    group(session, "test").python("-m", "pytest", "-n", "auto", *session.posargs)


@command
def quick(session: nox.Session) -> None:
    """Run the tests that are not marked slow, in under two minutes"""
    session.env["SLFS_EXAMPLES"] = "5"
    group(session, "test").python("-m", "pytest", "-m", "not slow", "-n", "auto", *session.posargs)


@command
def oldest(session: nox.Session) -> None:
    """Run the quick tests with the oldest versions that pyproject.toml allows"""
    old = Environment(session, ".venv-oldest")
    pins = old.path / "requirements.txt"
    pins.write_text(str(old.python("tests/long/oldest.py", silent=True)), encoding="utf-8")
    old.install("oldest", "--requirement", pins, "--editable", ".")
    session.env["NUMBA_CACHE_DIR"] = str(old.path / "kernels")
    chosen = ["-m", "not slow", "-n", "auto", "-p", "no:cacheprovider"]
    old.python("-m", "pytest", *chosen, *DEPRECATIONS, *session.posargs)


@command
def nightly(session: nox.Session) -> None:
    """Run the quick tests with pre-releases of the dependencies"""
    new = Environment(session, ".venv-nightly")
    new.install("nightly", "--pre", "--upgrade", "--editable", ".[all]", "--group", "test")
    new.python("-m", "pytest", "-m", "not slow", "-n", "auto", *DEPRECATIONS, *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Check format, style, types and the direction of imports"""
    environment = group(session, "lint")
    environment.run("ruff", "format", "--check", ".")
    environment.run("ruff", "check", ".")
    environment.run("mypy")
    environment.run("lint-imports")


@command
def docs(session: nox.Session) -> None:
    """Build the documentation in docs/_build/html"""
    build = ["-W", "--keep-going", "-q", "-b", "html", "docs", "docs/_build/html"]
    group(session, "docs").run("sphinx-build", *build, *session.posargs)


@command
def wheel(session: nox.Session) -> None:
    """Build and check sdist and wheel; run the demo and the README from the wheel"""
    tools = Environment(session).install("release", "--group", "release")
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    tools.python("-m", "build")
    built = sorted((ROOT / "dist").iterdir())
    tools.run("twine", "check", "--strict", *built)
    wheel = next(path for path in built if path.suffix == ".whl")
    tools.run("check-wheel-contents", wheel)
    shutil.rmtree(ROOT / ".venv-wheel", ignore_errors=True)
    empty = Environment(session, ".venv-wheel")
    empty.python("-m", "pip", "install", "--quiet", f"{wheel}[all]")
    with session.chdir(session.create_tmp()):  # where src/ cannot be imported by accident
        empty.run("slfs", "demo", "demo-report.html")
        empty.python("-P", ROOT / "tests" / "long" / "readme.py")


@command
def reproduce(session: nox.Session) -> None:
    """Write docs/results.md from experiments/results/ (ARGS="table3": a part)"""
    group(session).python("-m", "experiments", *(session.posargs or ["all"]))


@command
def verify(session: nox.Session) -> None:
    """Check that the code still selects what the stored rows contain (needs SLFS_DATA)"""
    group(session).python("-m", "experiments", "check")


@command
def quality(session: nox.Session) -> None:
    """Compare selection methods; 47 of 67 datasets need SLFS_DATA (ARGS="--minutes 30")"""
    environment = group(session, "quality")
    regression = ["--config", "experiments/quality/regression.toml"]
    environment.python("-m", "experiments.quality", *regression, *session.posargs)
    environment.python("-m", "experiments.quality", *session.posargs)


@command
def bench(session: nox.Session) -> None:
    """Compare speed with other packages (ARGS="mdlp pack": cases)"""
    Environment(session, ".venv-orange").install("orange", "Orange3")  # pins older libraries
    Environment(session, ".venv-peers").install("peers", "--group", "peers")
    group(session, "test").python("-m", "benchmarks", *session.posargs)


@command(name="bench-against")
def bench_against(session: nox.Session) -> None:
    """Compare speed with another checkout (ARGS="/path/to/checkout [CASE ...]")"""
    group(session, "test").python("-m", "benchmarks.against", *session.posargs)


@command(name="bench-history")
def bench_history(session: nox.Session) -> None:
    """Measure HEAD with asv, beside earlier commits (ARGS="v0.2.0^! --quick")"""
    asv = functools.partial(Environment(session).install("history", "--group", "history").run, "asv")
    config = ["--config", "benchmarks/asv.conf.json"]
    asv("machine", "--yes", *config)  # hardware and system, for the results
    asv("run", *config, "--skip-existing-successful", *(session.posargs or ["HEAD^!"]))
    asv("publish", *config)  # plots, in .asv/html


@command
def fuzz(session: nox.Session) -> None:
    """Fuzz every entry point with tables and files (ARGS="--minutes 60 --seed 1")"""
    group(session, "test").python("-m", "tests.long.fuzz", *session.posargs)


@command
def kills(session: nox.Session) -> None:
    """Kill jobs at random moments and check what is left (ARGS="--kills 200")"""
    group(session, "test").python("-m", "tests.long.kills", *session.posargs)


@command
def soak(session: nox.Session) -> None:
    """Fit for an hour and watch memory (ARGS="--minutes 5")"""
    group(session, "test").python("-m", "tests.long.soak", *session.posargs)


@command
def coverage(session: nox.Session) -> None:
    """Branch coverage, kernels as plain Python; at least 95%"""
    environment = group(session, "test")
    pytest = ["run", "-m", "pytest", "-q", "-n", "auto", "-p", "no:cacheprovider"]
    environment.run("coverage", "erase")
    environment.run("coverage", *pytest, env={"SLFS_EXAMPLES": "20"})
    plain = {"NUMBA_DISABLE_JIT": "1", "SLFS_EXAMPLES": "5"}
    environment.run("coverage", *pytest, *(f"tests/{name}" for name in KERNEL_TESTS), env=plain)
    # Tests that kill processes may leave a damaged file of data: combine says so and leaves it out.
    environment.run("coverage", "combine", "-q", success_codes=[0, 1])
    environment.run("coverage", "report", "--skip-covered", "--fail-under=95")


@command
def mutants(session: nox.Session) -> None:
    """Mutation testing (ARGS="slfs.network*")"""
    environment = Environment(session, ".venv-mutants")  # mutmut 3.8 needs a pytest before 9.2
    environment.install("mutants", "mutmut", "pytest<9.2", "--editable", ".[all]", "--group", "test")
    environment.run("mutmut", "run", *session.posargs, success_codes=[0, 1])
    results = str(environment.run("mutmut", "results", silent=True))
    print(re.sub(r".*not checked.*\n?", "", results))


@command
def audit(session: nox.Session) -> None:
    """Check installed packages for known vulnerabilities"""
    environment = group(session, "test")
    environment.python("-m", "pip", "install", "--quiet", "pip-audit", success_codes=[0, 1])
    environment.python("-m", "tests.long.audit")


@command
def standards(session: nox.Session) -> None:
    """Check the repository and its workflows with repo-review, zizmor and others"""
    environment = Environment(session, ".venv-standards")
    environment.install("standards", "--group", "standards")
    environment.run("repo-review", ".")
    environment.run("zizmor", "--offline", ".github")
    environment.run("codespell")
    environment.run("rumdl", "check", ".")
    for schema, pattern in SCHEMAS.items():
        builtin = f"vendor.{schema}"
        environment.run("check-jsonschema", "--builtin-schema", builtin, *ROOT.glob(pattern))


if __name__ == "__main__":
    nox.main()
