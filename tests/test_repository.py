"""The files around the package: lower bounds, commands, workflows, citation."""

import re
import tomllib
from pathlib import Path

import pytest

import slfs

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.skipif(not (ROOT / "noxfile.py").exists(), reason="this copy is an sdist")


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_every_dependency_has_one_lower_bound():
    from tests.long.oldest import oldest

    pins = oldest(tomllib.loads(read("pyproject.toml")), "all", "test")
    assert {pin.split("==")[0] for pin in pins} >= {"numpy", "numba", "pandas", "pytest", "pyarrow"}


def test_make_has_the_sessions_of_nox():
    sessions = re.findall(r"\ndef (\w+)\(session: nox.Session\) -> None", read("noxfile.py"))
    listed = re.search(r"^COMMANDS := ((?:.*\\\n)*.*)", read("Makefile"), re.MULTILINE)[1]
    assert listed.replace("\\", "").split() == [name.replace("_", "-") for name in sessions]


def test_contributing_names_only_commands_that_exist():
    listed = set(re.findall(r"^make ([a-z-]+)", read("CONTRIBUTING.md"), re.MULTILINE))
    assert "test" in listed
    assert listed <= set(re.findall(r"[a-z-]+", read("Makefile")))


def test_workflows_pin_actions_by_hash_and_give_few_permissions():
    workflows = list((ROOT / ".github" / "workflows").glob("*.yml"))
    assert workflows
    for path in workflows:
        text = path.read_text(encoding="utf-8")
        assert "\npermissions: {}\n" in text
        for action in re.findall(r"uses: (\S+)", text):
            assert action.startswith("./") or re.search(r"@[0-9a-f]{40}$", action), action
        for session in re.findall(r"nox --session ([a-z ]+)", text):
            assert set(session.split()) <= set(re.findall(r"[a-z-]+", read("Makefile")))


def test_the_conda_recipe_agrees_with_pyproject():
    project = tomllib.loads(read("pyproject.toml"))["project"]
    wanted = {*project["dependencies"], *project["optional-dependencies"]["cli"]}
    recipe = read("recipe/recipe.yaml")
    run = recipe.split("\n  run:")[1].split("\ntests:")[0]
    found = re.findall(r"- (?!python )(\S+) (>=\S+)", run)
    assert {name + bound for name, bound in found} == wanted
    assert f'  python_min: "{project["requires-python"].removeprefix(">=")}"' in recipe
    assert f'  version: "{slfs.__version__.partition(".dev")[0]}"' in recipe


def test_the_paper_cites_what_it_lists_and_its_figures_are_those_of_the_documentation():
    paper, bibliography = read("paper/paper.md"), read("paper/paper.bib")
    assert set(re.findall(r"@(\w+)", paper)) == set(
        re.findall(r"^@\w+\{(\w+),", bibliography, re.MULTILINE)
    )
    for figure in re.findall(r"\]\((\S+\.png)\)", paper):
        assert (ROOT / "paper" / figure).exists()
    pages = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.md"))
    text = paper.split("\n# Summary")[1]
    figures = re.findall(r"\d+\.\d+(?: s| GiB|%)?", text)
    assert len(figures) >= 7
    for figure in figures:
        assert figure in pages, f"{figure} is in paper/paper.md, but not in docs/"
