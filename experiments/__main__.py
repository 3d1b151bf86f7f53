"""Reproduce a part of the paper: ``python -m experiments table3``. Needs the extra ``all``.

Stored rows are used where they exist; to compute everything takes about an hour on two cores. The run
can be stopped with Ctrl-C and started again: finished cells are kept.
"""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markdown import Markdown

from experiments.check import check, report
from experiments.config import read_config
from experiments.reproduce import Reproduction
from slfs.cli.options import Jobs
from slfs.cli.output import progress

HERE = Path(__file__).parent


class Part(StrEnum):
    """The parts of the paper that can be reproduced, and the check of stored selections."""

    table1 = "table1"
    table2 = "table2"
    table3 = "table3"
    stability = "stability"
    figures = "figures"
    networks = "networks"
    all = "all"
    check = "check"


def reproduce(
    part: Annotated[Part, typer.Argument(help="Part of the paper.")],
    rows: Annotated[Path, typer.Option(help="Folder of stored rows.")] = HERE / "results",
    docs: Annotated[Path, typer.Option(help="Folder for results.md and pictures.")] = (
        HERE.parent / "docs"
    ),
    config: Annotated[Path | None, typer.Option(help="Another configuration (TOML).")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Small test run in ROWS/quick.")] = False,
    n_jobs: Jobs = -1,
) -> None:
    """Reproduce a table or figure of the paper from stored rows; missing rows are computed.

    "check" repeats a part of the stored selections instead and fails if one of them has changed.
    """
    setting = read_config(config)
    if quick:
        setting, rows, docs = setting.quick(), rows / "quick", rows / "quick"
    if part is Part.check:
        with progress("checking") as tick:
            found = check(setting, rows, tick)
        typer.echo(report(found))
        raise typer.Exit(0 if all(one.agrees for one in found) else 1)
    count = (os.cpu_count() or 1) if n_jobs == -1 else max(1, n_jobs)
    try:
        text = getattr(Reproduction(setting, rows, docs, count, progress), part.value)()
    except KeyboardInterrupt:
        typer.echo(f"Stopped. Finished cells are in {rows}; run the same command to continue.", err=True)
        raise typer.Exit(130) from None
    if sys.stdout.isatty():
        Console().print(Markdown(text))
    else:
        typer.echo(text)


if __name__ == "__main__":
    typer.run(reproduce)
