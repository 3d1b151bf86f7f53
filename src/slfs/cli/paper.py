"""Commands around the paper and this machine: demo, datasets, reproduce, bench."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markdown import Markdown

from slfs.cli.common import ERRORS, Jobs, progress, show_table
from slfs.writing import check_output


def demo(
    report: Annotated[Path | None, typer.Argument(help="Write a report to this file (HTML).")] = None,
) -> None:
    """Select features of a dataset that scikit-learn carries, and classify with them.

    Example:  slfs demo report.html
    """
    from slfs.demo import demonstrate

    check_output(report)
    typer.echo(demonstrate(report))
    if report is not None:
        typer.echo(f"\nWritten: {report}. Open it in a browser.")


def datasets() -> None:
    """List the nine datasets of the paper, and which of them are already here.

    Example:  SLFS_DATA=~/data slfs datasets
    """
    from slfs.datasets import DATASETS, FOLDER_VARIABLE, find

    lines = []
    for entry in DATASETS.values():
        path = find(entry.name)
        where = str(path) if path else f"to be downloaded (OpenML {entry.openml})"
        numbers = (entry.n_samples, entry.n_features, entry.n_classes)
        lines.append([entry.name, *map(str, numbers), where])
    show_table(["name", "samples", "columns", "classes", "where"], lines)
    typer.echo(
        f"\nslfs.datasets.load(name) loads one. {FOLDER_VARIABLE} may name a folder of .npz files."
    )


class Part(StrEnum):
    """What of the paper to reproduce."""

    table1 = "table1"
    table2 = "table2"
    table3 = "table3"
    stability = "stability"
    figures = "figures"
    networks = "networks"
    all = "all"


def reproduce(
    part: Annotated[Part, typer.Argument(help="Which part of the paper.")],
    rows: Annotated[Path, typer.Option(help="Folder of stored rows.")] = Path("experiments"),
    docs: Annotated[Path, typer.Option(help="Folder for results.md and pictures.")] = Path("docs"),
    config: Annotated[Path | None, typer.Option(help="Another configuration (TOML).")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Small smoke run in folder/quick.")] = False,
    n_jobs: Jobs = -1,
) -> None:
    """Reproduce a table or figure of the paper, from stored rows or, where these are missing, anew.

    Everything anew takes about an hour on two cores. Stop it with Ctrl-C and start it again:
    finished cells are kept.

    Example:  slfs reproduce table3
    """
    try:
        from slfs.experiments.config import read_config
        from slfs.experiments.reproduce import Reproduction
    except ImportError as error:
        raise ImportError(f"reproduce needs {error.name}: pip install 'slfs[all]'") from error
    setting = read_config(config)
    if quick:
        setting, rows, docs = setting.quick(), rows / "quick", rows / "quick"
    count = (os.cpu_count() or 1) if n_jobs == -1 else max(1, n_jobs)
    try:
        text = getattr(Reproduction(setting, rows, docs, count, progress), part.value)()
    except KeyboardInterrupt:
        ERRORS.print(
            f"slfs: stopped. Finished cells are in {rows}; the same command goes on from there."
        )
        raise typer.Exit(130) from None
    if sys.stdout.isatty():
        Console().print(Markdown(text))
    else:
        typer.echo(text)


def bench(
    cases: Annotated[list[str] | None, typer.Argument(help="Which cases; by default all.")] = None,
) -> None:
    """Measure speed and memory on this machine, beside peers and floors.

    Example:  slfs bench count mdlp
    """
    from slfs.benchmarks.__main__ import main

    main(cases or [])  # type: ignore[no-untyped-call]
