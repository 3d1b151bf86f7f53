"""The files around the package: lower bounds, commands, workflows, citation."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.skipif(not (ROOT / "noxfile.py").exists(), reason="this copy is an sdist")


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_every_dependency_has_one_lower_bound():
    from tests.long.oldest import oldest

    pins = oldest(tomllib.loads(read("pyproject.toml")), "all", "test")
    assert {pin.split("==")[0] for pin in pins} >= {"numpy", "numba", "pandas", "pytest", "pyarrow"}


def test_make_has_the_sessions_of_nox():
    sessions = re.findall(r"^def (\w+)\(session: nox.Session\) -> None:", read("noxfile.py"), re.MULTILINE)
    listed = re.search(r"^COMMANDS := ((?:.*\\\n)*.*)", read("Makefile"), re.MULTILINE)[1]
    assert listed.replace("\\", "").split() == [name.replace("_", "-") for name in sessions]


def test_contributing_names_only_commands_that_exist():
    listed = set(re.findall(r"^make ([a-z-]+)", read("CONTRIBUTING.md"), re.MULTILINE))
    assert "test" in listed
    assert listed <= set(re.findall(r"[a-z-]+", read("Makefile")))
