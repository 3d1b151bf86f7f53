"""The command ``slfs``."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

try:
    import typer
    from rich.console import Console
    from rich.markdown import Markdown
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
    from rich.table import Table
except ImportError as error:
    raise SystemExit(
        f"The command slfs needs the extra 'cli' ({error.name} is missing): pip install 'slfs[cli]'"
    ) from error

import slfs

if TYPE_CHECKING:
    from slfs.experiments.reproduce import Tick

app = typer.Typer(
    help="Which columns matter, why the others do not, and a model that can be explained.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
_errors = Console(stderr=True)


@app.callback(invoke_without_command=True)
def _main(
    version: Annotated[bool, typer.Option("--version", help="Show the version and leave.")] = False,
) -> None:
    if version:
        typer.echo(f"slfs {slfs.__version__}")
        raise typer.Exit


@app.command()
def demo(
    report: Annotated[Path | None, typer.Argument(help="Write the result to this file as well.")] = None,
) -> None:
    """Select features of a dataset that scikit-learn carries, and classify with them.

    Example:  slfs demo report.md
    """
    from slfs.demo import main

    main(report)


@app.command()
def datasets() -> None:
    """List the nine datasets of the paper, and which of them are already here.

    Example:  SLFS_DATA=~/data slfs datasets
    """
    from slfs.datasets import DATASETS, FOLDER_VARIABLE, find

    table = Table("name", "samples", "columns", "classes", "where", box=None, pad_edge=False)
    for entry in DATASETS.values():
        path = find(entry.name)
        where = str(path) if path else f"to be downloaded (OpenML {entry.openml})"
        numbers = (entry.n_samples, entry.n_features, entry.n_classes)
        table.add_row(entry.name, *map(str, numbers), where)
    Console(width=None if sys.stdout.isatty() else 120).print(table)
    typer.echo(
        f"\nslfs.datasets.load(name) loads one. {FOLDER_VARIABLE} may name a folder of .npz files."
    )


class Part(StrEnum):
    """What of the paper to reproduce."""

    table1 = "table1"
    table2 = "table2"
    table3 = "table3"
    figures = "figures"
    networks = "networks"
    all = "all"


@app.command()
def reproduce(
    part: Annotated[Part, typer.Argument(help="Which part of the paper.")],
    rows: Annotated[Path, typer.Option(help="Folder of stored rows.")] = Path("experiments"),
    docs: Annotated[Path, typer.Option(help="Folder for results.md and pictures.")] = Path("docs"),
    config: Annotated[Path | None, typer.Option(help="Another configuration (TOML).")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Small smoke run in folder/quick.")] = False,
    n_jobs: Annotated[int, typer.Option(help="Processes; -1: one a core.")] = -1,
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
        _fail(f"reproduce needs the extra 'all' ({error.name} is missing): pip install 'slfs[all]'")
    try:
        setting = read_config(config)
        if quick:
            setting, rows, docs = setting.quick(), rows / "quick", rows / "quick"
        count = (os.cpu_count() or 1) if n_jobs == -1 else max(1, n_jobs)
        text = getattr(Reproduction(setting, rows, docs, count, _progress), part.value)()
    except (ValueError, OSError) as error:
        _fail(str(error))
    except KeyboardInterrupt:
        _fail(f"Stopped. What is finished is kept in {rows}: run the same command again to go on.", 130)
    if sys.stdout.isatty():
        Console().print(Markdown(text))
    else:
        typer.echo(text)


@contextmanager
def _progress(title: str) -> Iterator[Tick]:
    """A bar on stderr where that is a terminal, nothing elsewhere."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=_errors, disable=not _errors.is_terminal, transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _fail(message: str, code: int = 1) -> None:
    _errors.print(f"slfs: {message}", style="red", markup=False, highlight=False, soft_wrap=True)
    raise typer.Exit(code)
