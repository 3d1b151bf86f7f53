"""Reproduce a part of the paper: ``python -m experiments table3``. Needs the extra ``all``.

Stored rows are used where they exist; to compute everything takes about an hour on two cores. The run
can be stopped with Ctrl-C and started again: finished cells are kept.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markdown import Markdown
from rich.progress import Progress

from experiments.check import check, report
from experiments.config import read_config
from experiments.reproduce import Reproduction
from slfs._core.progress import Listener

HERE = Path(__file__).parent

errors = Console(stderr=True)


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
    part: Annotated[Part, typer.Argument(help="Part of the paper, or check.")],
    rows: Annotated[Path, typer.Option(help="Folder of stored rows.")] = HERE / "results",
    docs: Annotated[Path, typer.Option(help="Folder for results.md and pictures.")] = (
        HERE.parent / "docs"
    ),
    config: Annotated[Path | None, typer.Option(help="Another configuration (TOML).")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Small test run in ROWS/quick.")] = False,
    n_jobs: Annotated[int, typer.Option("--n-jobs", "-j", help="Processes; -1: one per core.")] = -1,
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
        errors.print(f"Stopped. Finished cells are in {rows}; run the same command to continue.")
        raise typer.Exit(130) from None
    if sys.stdout.isatty():
        Console().print(Markdown(text))
    else:
        typer.echo(text)


@contextmanager
def progress(title: str) -> Iterator[Listener]:
    """Show a progress bar if stderr is a terminal; yield its callback."""
    with Progress(console=errors, disable=not errors.is_terminal, transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def main() -> None:
    """Run the command; print errors of data and parameters in one line."""
    app = typer.Typer(pretty_exceptions_enable=False)
    app.command()(reproduce)
    try:
        app()
    except (ValueError, OSError, ImportError) as error:
        errors.print(f"experiments: {error}", style="red", markup=False, soft_wrap=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
