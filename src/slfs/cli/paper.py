"""Commands that need no file of the user: demo, datasets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from slfs.cli.common import show_table
from slfs.files.writing import check_output


def demo(
    report: Annotated[Path | None, typer.Argument(help="Write a report to this file (HTML).")] = None,
) -> None:
    """Select features of a dataset that scikit-learn carries, and classify with them.

    Example:  slfs demo report.html
    """
    from slfs.cli.demo import demonstrate

    check_output(report)
    typer.echo(demonstrate(report))
    if report is not None:
        typer.echo(f"\nWritten: {report}. Open it in a browser.")


def datasets() -> None:
    """List the nine datasets of the paper, and which of them are already here.

    Example:  SLFS_DATA=~/data slfs datasets
    """
    from slfs.datasets.paper import DATASETS, FOLDER_VARIABLE, find

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
