"""The command compare: methods and classifiers on a user's own file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from slfs.cli.common import (
    Categorical,
    Data,
    Drop,
    Format,
    Jobs,
    Missing,
    Size,
    Target,
    make_selector,
    progress,
    read_labelled,
    show_table,
    takes_size,
)
from slfs.writing import check_output, write_table


def compare(
    data: Data,
    target: Target = None,
    methods: Annotated[str, typer.Option(help="Methods, separated by commas.")] = (
        "slfs,mrmr,jmi,cmim,fcbf,chi2-ranking"
    ),
    classifiers: Annotated[
        str, typer.Option(help="3-NN, 5-NN, 7-NN, SVM, NB, BNSLFS, TAN; separated by commas.")
    ] = "3-NN,SVM,NB,BNSLFS",
    features: Size = None,
    folds: Annotated[int, typer.Option(help="Folds of the cross-validation.")] = 5,
    seed: Annotated[int, typer.Option(help="Seed of the folds.")] = 0,
    categorical: Categorical = None,
    drop: Drop = None,
    missing: Missing = None,
    file_format: Format = None,
    out: Annotated[Path | None, typer.Option(help="Write one row a fold: .csv, .parquet, ...")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the comparison (PNG, SVG, PDF).")] = None,
    n_jobs: Jobs = -1,
) -> None:
    """Compare methods and classifiers by cross-validation, everything learned inside the folds.

    Example:  slfs compare cancer.csv --target diagnosis --plot compare.png
    """
    from slfs.experiments.compare import compare_methods

    check_output(out, table=True)
    check_output(plot, picture=True)
    file = read_labelled(data, target, file_format, missing, drop)
    selectors = {
        name: make_selector(name, None, features if takes_size(name) else None, categorical, 1, file)
        for name in _listed(methods)
    }
    with progress("comparing") as tick:
        rows = compare_methods(
            file.in_memory(),
            np.asarray(file.y),
            selectors,
            _listed(classifiers),
            folds=folds,
            random_state=seed,
            n_jobs=n_jobs,
            progress=tick,
            size=features,
        )
    means = rows.pivot_table(index="method", columns="classifier", values="accuracy", sort=False)
    others = rows.groupby("method", sort=False)[["n_features", "seconds"]].mean()
    lines = []
    for method in means.index:
        shares = [f"{100 * value:.1f}" for value in means.loc[method]]
        size, seconds = others.loc[method, "n_features"], others.loc[method, "seconds"]
        lines.append([method, *shares, f"{size:.1f}", f"{seconds:.3f}"])
    typer.echo(f"{file.name}: accuracy in per cent, {folds}-fold cross-validation.\n")
    show_table(["method", *means.columns, "columns", "seconds"], lines)
    if out is not None:
        write_table(rows, out)
    if plot is not None:
        from slfs.plotting import ComparisonDisplay

        ComparisonDisplay(rows).plot().save(plot)
    for path in (out, plot):
        if path is not None:
            typer.echo(f"Written: {path}")


def _listed(text: str) -> list[str]:
    names = [part.strip() for part in text.split(",") if part.strip()]
    if not names:
        raise ValueError("--methods and --classifiers need at least one name each.")
    return names
