"""Run the fixed benchmark and write its page: ``python -m experiments.quality``.

It needs the dependency group ``quality``. It can be stopped and started again: finished rows are kept.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from experiments.__main__ import errors, progress
from experiments.quality.config import DEFAULT, read_config
from experiments.quality.page import write_page
from experiments.quality.regression_page import write_regression_page
from experiments.quality.run import run
from slfs.datasets.paper import FOLDER_VARIABLE

HERE = Path(__file__).parent


def quality(
    data: Annotated[
        Path | None, typer.Option(help="Folder of the datasets [default: $SLFS_DATA].")
    ] = None,
    rows: Annotated[
        Path | None, typer.Option(help="Folder of stored rows [default: in experiments/results].")
    ] = None,
    docs: Annotated[Path, typer.Option(help="Folder for the page and its pictures.")] = (
        HERE.parents[1] / "docs"
    ),
    config: Annotated[Path, typer.Option(help="Another configuration (TOML).")] = DEFAULT,
    datasets: Annotated[str, typer.Option(help="Only these datasets, separated by commas.")] = "",
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Processes; -1: one per core.")] = -1,
    minutes: Annotated[float, typer.Option(help="Start no further method after this time.")] = float(
        "inf"
    ),
    page: Annotated[bool, typer.Option("--page", help="Only write the page from stored rows.")] = False,
) -> None:
    """Compute the rows of the benchmark that are missing, then write the page from all stored rows."""
    setting = read_config(config)
    regression = setting.task == "regression"
    if rows is None:
        rows = HERE.parent / "results" / ("quality-regression" if regression else "quality")
    if not page:
        folder = data or Path(os.environ.get(FOLDER_VARIABLE, ""))
        if data is None and FOLDER_VARIABLE not in os.environ and not regression:
            raise ValueError(f"Set {FOLDER_VARIABLE} or --data to the folder of the datasets.")
        chosen = setting
        if datasets:
            names = datasets.split(",")
            unknown = sorted(set(names) - set(setting.datasets))
            if unknown:
                raise ValueError(f"Unknown datasets {', '.join(unknown)}: not in {config}.")
            chosen = replace(setting, datasets={name: setting.datasets[name] for name in names})
        count = (os.cpu_count() or 1) if jobs == -1 else max(1, jobs)
        try:
            with progress("quality") as tick:
                complete = run(chosen, folder, rows, n_jobs=count, seconds=60 * minutes, progress=tick)
        except KeyboardInterrupt:
            errors.print(f"Stopped. Finished rows are in {rows}; run the same command to continue.")
            raise typer.Exit(130) from None
        typer.echo("All rows are computed." if complete else "Some rows are missing: run it again.")
    write = write_regression_page if regression else write_page
    typer.echo(f"Written: {write(setting, rows, docs)}")


def main() -> None:
    """Run the command; print errors of data and parameters in one line."""
    app = typer.Typer(pretty_exceptions_enable=False)
    app.command()(quality)
    try:
        app()
    except (ValueError, OSError, ImportError) as error:
        errors.print(f"quality: {error}", style="red", markup=False, soft_wrap=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
