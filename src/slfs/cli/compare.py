"""The command compare: methods and classifiers on a user's own file."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slfs.cli.common import labels, make_selector, read_labelled
from slfs.cli.options import Categorical, Data, Drop, Format, Jobs, Missing, Size, Target
from slfs.cli.output import progress, show_table

if TYPE_CHECKING:
    from slfs.files.reading import DataFile


def compare(
    data: Data,
    target: Target = None,
    methods: Annotated[
        str, typer.Option(metavar="NAMES", help="Selection methods, separated by commas.")
    ] = "slfs,mrmr,jmi,cmim,fcbf,chi2-ranking",
    classifiers: Annotated[
        str,
        typer.Option(
            metavar="NAMES", help="Of 3-NN, 5-NN, 7-NN, SVM, NB, BNSLFS, TAN; separated by commas."
        ),
    ] = "3-NN,SVM,NB,BNSLFS",
    n_features_to_select: Size = None,
    cv: Annotated[int, typer.Option(metavar="N", help="Number of cross-validation folds.")] = 5,
    seed: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, metavar="N", help="Random seed of the folds.")
    ] = 0,
    categorical: Categorical = None,
    drop: Drop = None,
    missing: Missing = None,
    file_format: Format = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write one row per fold: .csv, .tsv, .parquet, .arrow."),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Plot the comparison: .png, .svg, .pdf.")
    ] = None,
    networks: Annotated[
        bool, typer.Option("--networks", help="Compare the networks SLFS, TAN and Chow-Liu instead.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print all results as JSON.")] = False,
    n_jobs: Jobs = -1,
) -> None:
    """Compare selection methods and classifiers by cross-validation.

    Discretization and selection are repeated in each fold, on its training samples only.

    Example:  slfs compare cancer.csv --target diagnosis --plot compare.png
    """
    import numpy as np

    from slfs._core.progress import progress_callback
    from slfs.evaluation.methods import compare_methods
    from slfs.files.writing import check_output, write_table

    check_output(out, data, table=True)
    check_output(plot, data, out, picture=True)
    if networks and plot is not None:
        raise ValueError("--plot cannot be combined with --networks. Use --out to write the results.")
    file = read_labelled(data, target, file_format, missing, drop)
    if networks:
        _compare_networks(file, n_features_to_select, categorical, cv, seed, n_jobs, out, as_json)
        return
    selectors = {
        name: make_selector(name, file, size=n_features_to_select, categorical=categorical)
        for name in _listed(methods)
    }
    with progress("comparing") as tick, progress_callback(tick):
        rows = compare_methods(
            file.in_memory(),
            np.asarray(file.y),
            selectors,
            _listed(classifiers),
            cv=cv,
            random_state=seed,
            n_jobs=n_jobs,
        )
    if out is not None:
        write_table(rows, out)
    if plot is not None:
        from slfs.plotting import ComparisonDisplay

        ComparisonDisplay(rows).plot().save(plot)
    if as_json:
        typer.echo(json.dumps(rows.to_dict("records"), ensure_ascii=False))
        return
    typer.echo(f"{file.name}: accuracy in %, {cv}-fold cross-validation.\n")
    _show(rows)
    for path in (out, plot):
        if path is not None:
            typer.echo(f"Written: {path}")


def _show(rows: Any) -> None:
    """Print the mean accuracy of each method with each classifier."""
    means = rows.pivot_table(index="method", columns="classifier", values="accuracy", sort=False)
    others = rows.groupby("method", sort=False)[["n_features", "seconds"]].mean()
    lines = []
    for method in means.index:
        accuracy = [f"{100 * value:.1f}" for value in means.loc[method]]
        size, seconds = others.loc[method, "n_features"], others.loc[method, "seconds"]
        lines.append([method, *accuracy, f"{size:.1f}", f"{seconds:.3f}"])
    numbers = [*means.columns, "columns", "seconds"]
    show_table(["method", *numbers], lines, right=numbers)


def _compare_networks(
    file: DataFile,
    size: float | None,
    categorical: list[str] | None,
    cv: int,
    seed: int,
    n_jobs: int,
    out: Path | None,
    as_json: bool,
) -> None:
    """Compare the networks over the columns that SLFS selects."""
    import pandas as pd

    from slfs._core.progress import progress_callback
    from slfs.evaluation import compare_networks
    from slfs.files.writing import write_table

    selector = make_selector("slfs", file, size=size, categorical=categorical, n_jobs=n_jobs)
    with progress("comparing") as tick, progress_callback(tick):
        found = compare_networks(
            file.X, labels(file), selector=selector, cv=cv, random_state=seed, n_jobs=n_jobs
        )
    if out is not None:
        write_table(pd.DataFrame([asdict(score) for score in found.scores]), out)
    if as_json:
        typer.echo(json.dumps(found.to_dict(), ensure_ascii=False))
        return
    repeated = f"{cv}-fold cross-validation, repeated {found.repeats} times"
    typer.echo(f"{file.name}: networks over the columns that SLFS selects, {repeated}. In nats.")
    for head, lines in found.tables():
        typer.echo()
        show_table(head, lines)
    if out is not None:
        typer.echo(f"Written: {out}")


def _listed(text: str) -> list[str]:
    """Split a list of names at its commas."""
    names = [part.strip() for part in text.split(",") if part.strip()]
    if not names:
        raise ValueError("--methods and --classifiers need at least one name each.")
    return names
