"""Pages and tutorials run, show their real output and link to existing files; the README is true."""

from __future__ import annotations

import importlib
import re
import runpy
import shlex
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

import slfs

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
README = ROOT / "README.md"
pytestmark = pytest.mark.skipif(not DOCS.exists(), reason="this copy has no documentation")

PAGES = sorted(
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


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_page_shows_the_output_of_its_code(
    page: Path, run_pages: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for package in re.findall(
        r"^<!-- needs: (\w+) -->$", page.read_text(encoding="utf-8"), re.MULTILINE
    ):
        warnings.simplefilter("ignore")  # those of other packages; pytest restores the filters
        pytest.importorskip(package)
    for block in run_pages.run_page(page):
        assert block.shown == block.printed, (
            f"{_name(page)}, line {block.line}: the page does not show the output of this block. If the "
            f"new output is right, run: python docs/run_pages.py {_name(page)}"
        )


@pytest.mark.slow
def test_commands_on_the_command_line_page_run(
    run_pages: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    testing = pytest.importorskip("typer.testing")
    from slfs.cli.commands import app

    monkeypatch.chdir(tmp_path)
    page = DOCS / "command-line.md"
    list(run_pages.run_page(page))  # writes the data files
    commands = re.findall(
        r"^```sh\nslfs (.*)\n```\n(?:\n```text\n((?s:.*?))```)?", page.read_text(), re.MULTILINE
    )
    assert len(commands) >= 5
    for command, shown in commands:
        result = testing.CliRunner().invoke(app, shlex.split(command))
        assert result.exit_code == 0, f"slfs {command}: {result.output} {result.exception!r}"
        assert not shown or result.stdout == shown, f"slfs {command}"


@pytest.mark.parametrize("page", [*PAGES, README], ids=_name)
def test_local_links_exist(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
        generated = target.endswith("results.md") or "generated/" in target
        assert generated or target.startswith("http") or (page.parent / target).exists(), (
            f"{_name(page)} links to {target}, which does not exist"
        )


@pytest.mark.slow
@pytest.mark.parametrize("tutorial", TUTORIALS, ids=_name)
def test_tutorial_runs_and_plots(tutorial: Path) -> None:
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


def test_api_reference_lists_all_public_names() -> None:
    text = (DOCS / "api" / "index.md").read_text(encoding="utf-8")
    modules = {"slfs", *re.findall(r"currentmodule:: (slfs[.\w]*)", text)}
    packages = ("anndata", "datasets", "evaluation", "files", "measures", "plotting", "report", "saving")
    assert modules >= {f"slfs.{name}" for name in packages}
    listed = set(re.findall(r"\w+", text))
    for module in sorted(modules):
        public = getattr(importlib.import_module(module), "__all__", [])
        assert set(public) <= listed, module


def test_every_method_has_a_page() -> None:
    text = "\n".join(page.read_text(encoding="utf-8") for page in (DOCS / "methods").glob("*.md"))
    methods = {name for name in slfs.__all__ if hasattr(getattr(slfs, name), "fit")}
    assert methods - set(re.findall(r"Class `slfs\.(\w+)`", text)) == {
        "BNSLFS",
        "BNSLFSRegressor",
        "MDLPDiscretizer",
        "StabilitySelection",
    }


def test_readme_is_short_and_shows_both_commands() -> None:
    text = README.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 150
    assert "make demo" in text
    assert "make test" in text


def test_figures_of_the_readme_are_those_of_the_benchmarks_page() -> None:
    text = README.read_text(encoding="utf-8")
    benchmarks = (DOCS / "benchmarks.md").read_text(encoding="utf-8")
    praznik, ours = (
        [float(cell) for cell in re.findall(r"[\d.]+", line.split("|", 2)[2])]
        for library in ("praznik", "slfs")
        for line in re.findall(rf"^\| mRMR, {library}.*$", benchmarks, re.MULTILINE)
    )
    ratios = [theirs / own for theirs, own in zip(praznik, ours, strict=True)]
    assert f"**{min(ratios):.0f} to {max(ratios):.0f} times** faster" in text
    seconds, memory = re.findall(
        r"^\| 1000 × 10 000 000 \| ([\d.]+ s) \| ([\d.]+ GiB)", benchmarks, re.MULTILINE
    )[0]
    assert f"**{seconds}** and {memory} of memory for a stream of 10 million columns" in text
