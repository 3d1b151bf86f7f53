"""The pages of the site and the tutorials run, show what they print, and link to what exists."""

from __future__ import annotations

import importlib
import re
import runpy
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

import slfs

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
pytestmark = pytest.mark.skipif(not DOCS.exists(), reason="the site is not part of this copy")

HAND_WRITTEN = sorted(
    page
    for page in DOCS.rglob("*.md")
    if page.name != "results.md" and not {"_build", "generated"} & set(page.relative_to(DOCS).parts)
)
TUTORIALS = sorted((ROOT / "examples").glob("plot_*.py"))


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.fixture
def run_pages(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(DOCS))
    yield importlib.import_module("run_pages")
    sys.modules.pop("run_pages", None)


@pytest.mark.parametrize("page", HAND_WRITTEN, ids=_name)
def test_page_shows_what_its_code_prints(
    page: Path, run_pages: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for block in run_pages.run_page(page):
        assert block.shown == block.printed, (
            f"{_name(page)}, code below line {block.line}: the page shows something else than the code "
            f"prints. If the new output is right: python docs/run_pages.py {_name(page)}"
        )


def test_commands_of_the_page_on_the_command_line(
    run_pages: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    testing = pytest.importorskip("typer.testing")
    from slfs.cli import app

    monkeypatch.chdir(tmp_path)
    page = DOCS / "command-line.md"
    list(run_pages.run_page(page))  # makes the files
    commands = re.findall(
        r"^```sh\nslfs (.*)\n```\n(?:\n```text\n((?s:.*?))```)?", page.read_text(), re.M
    )
    assert len(commands) >= 5
    for command, shown in commands:
        result = testing.CliRunner().invoke(app, shlex.split(command))
        assert result.exit_code == 0, f"slfs {command}: {result.output}"
        assert not shown or result.stdout == shown


@pytest.mark.parametrize("page", HAND_WRITTEN, ids=_name)
def test_local_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
        made = target.endswith("results.md") or "generated/" in target
        assert made or target.startswith("http") or (page.parent / target).exists(), (
            f"{_name(page)} links to {target}, which does not exist"
        )


@pytest.mark.parametrize("tutorial", TUTORIALS, ids=_name)
def test_tutorial_runs_and_draws(tutorial: Path) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    before = pyplot.get_backend()
    pyplot.switch_backend("Agg")
    try:
        runpy.run_path(str(tutorial), run_name="__main__")
        assert len(pyplot.get_fignums()) >= 2
    finally:
        pyplot.close("all")
        pyplot.switch_backend(before)


def test_tutorials_exist() -> None:
    assert {path.stem for path in TUTORIALS} >= {"plot_genes", "plot_survey", "plot_text"}


def test_reference_lists_everything_public() -> None:
    text = (DOCS / "api" / "index.md").read_text(encoding="utf-8")
    missing = {"slfs": slfs.__all__}
    for module in re.findall(r"currentmodule:: (slfs\.\w+)", text):
        missing[module] = getattr(importlib.import_module(module), "__all__", [])
    listed = set(text.split())
    assert {module: set(names) - listed for module, names in missing.items()} == {
        module: set() for module in missing
    }


def test_every_method_has_a_page() -> None:
    text = "\n".join(page.read_text(encoding="utf-8") for page in (DOCS / "methods").glob("*.md"))
    methods = {name for name in slfs.__all__ if hasattr(getattr(slfs, name), "fit")}
    assert methods - set(re.findall(r"Class `slfs\.(\w+)`", text)) == {
        "BNSLFS",
        "MDLPDiscretizer",
        "StabilitySelection",
    }
