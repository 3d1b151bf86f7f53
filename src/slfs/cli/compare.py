"""The command compare: methods and classifiers on a user's own file."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from slfs._core.progress import progress_callback
from slfs.cli.common import (
    Categorical,
    Data,
    Drop,
    Format,
    Jobs,
    Missing,
    Size,
    Target,
    labels,
    make_selector,
    progress,
    read_labelled,
    show_table,
    takes_size,
)
from slfs.files.reading import DataFile
from slfs.files.writing import check_output, write_table


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
    cv: Annotated[int, typer.Option(help="Number of folds.")] = 5,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of the folds.")] = 0,
    categorical: Categorical = None,
    drop: Drop = None,
    missing: Missing = None,
    file_format: Format = None,
    out: Annotated[Path | None, typer.Option(help="Write one row per fold (.csv, .parquet).")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the comparison (PNG, SVG, PDF).")] = None,
    networks: Annotated[
        bool, typer.Option("--networks", help="Compare the SLFS tree, TAN and Chow-Liu instead.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    n_jobs: Jobs = -1,
) -> None:
    """Compare methods and classifiers by cross-validation.

    Example:  slfs compare cancer.csv --target diagnosis --plot compare.png
    """
    from slfs.evaluation.methods import compare_methods

    check_output(out, data, table=True)
    check_output(plot, data, out, picture=True)
    if networks and plot is not None:
        raise ValueError("--plot does not go with --networks: remove one of the two options.")
    file = read_labelled(data, target, file_format, missing, drop)
    if networks:
        _compare_networks(file, features, categorical, cv, seed, n_jobs, out, as_json)
        return
    selectors = {
        name: make_selector(name, None, features if takes_size(name) else None, categorical, 1, file)
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
            size=features,
        )
    means = rows.pivot_table(index="method", columns="classifier", values="accuracy", sort=False)
    others = rows.groupby("method", sort=False)[["n_features", "seconds"]].mean()
    lines = []
    for method in means.index:
        shares = [f"{100 * value:.1f}" for value in means.loc[method]]
        size, seconds = others.loc[method, "n_features"], others.loc[method, "seconds"]
        lines.append([method, *shares, f"{size:.1f}", f"{seconds:.3f}"])
    if out is not None:
        write_table(rows, out)
    if as_json:
        typer.echo(json.dumps(rows.to_dict("records"), ensure_ascii=False))
    else:
        typer.echo(f"{file.name}: accuracy in per cent, {cv}-fold cross-validation.\n")
        show_table(["method", *means.columns, "columns", "seconds"], lines)
    if plot is not None:
        from slfs.plotting import ComparisonDisplay

        ComparisonDisplay(rows).plot().save(plot)
    for path in (out, plot):
        if path is not None and not as_json:
            typer.echo(f"Written: {path}")


def _compare_networks(
    file: DataFile,
    features: int | None,
    categorical: list[str] | None,
    cv: int,
    seed: int,
    n_jobs: int,
    out: Path | None,
    as_json: bool,
) -> None:
    import pandas as pd

    from slfs.evaluation import compare_networks

    selector = make_selector("slfs", None, features, categorical, n_jobs, file)
    with progress("comparing") as tick, progress_callback(tick):
        found = compare_networks(
            file.X, labels(file), selector=selector, cv=cv, random_state=seed, n_jobs=n_jobs
        )
    if out is not None:
        write_table(pd.DataFrame([asdict(score) for score in found.scores]), out)
    if as_json:
        typer.echo(json.dumps(found.to_dict(), ensure_ascii=False))
        return
    repeated = f"{cv}-fold cross-validation, {found.repeats} times"
    typer.echo(f"{file.name}: networks on the columns that SLFS selects, {repeated}. In nats.")
    for head, lines in found.tables():
        typer.echo()
        show_table(head, lines)
    if out is not None:
        typer.echo(f"Written: {out}")


def _listed(text: str) -> list[str]:
    names = [part.strip() for part in text.split(",") if part.strip()]
    if not names:
        raise ValueError("--methods and --classifiers need at least one name each.")
    return names
