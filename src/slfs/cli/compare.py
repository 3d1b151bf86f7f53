"""The command compare: methods and classifiers on a user's own file."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slfs.cli.common import labels, make_selector, read_labelled
from slfs.cli.options import (
    Categorical,
    Data,
    Drop,
    Format,
    Id,
    Jobs,
    Json,
    Missing,
    NoHeader,
    Sheet,
    Size,
    Target,
    TargetsFrom,
    Transpose,
)
from slfs.cli.output import progress, show_json, show_table

if TYPE_CHECKING:
    from slfs.files.data_file import DataFile


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
    own_size: Annotated[
        bool,
        typer.Option(
            "--own-size",
            help="Let each method choose its number of columns; by default all have that of SLFS.",
        ),
    ] = False,
    cv: Annotated[int, typer.Option(metavar="N", help="Number of cross-validation folds.")] = 5,
    seed: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, metavar="N", help="Random seed of the folds.")
    ] = 0,
    categorical: Categorical = None,
    drop: Drop = None,
    ids: Id = None,
    targets_from: TargetsFrom = None,
    transpose: Transpose = False,
    missing: Missing = None,
    no_header: NoHeader = False,
    sheet: Sheet = None,
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
    as_json: Json = False,
    n_jobs: Jobs = -1,
) -> None:
    """Compare methods and classifiers by cross-validation.

    All methods select equally many columns: as many as SLFS does in the same fold, or -k. Discretization
    and selection are repeated in each fold, on its training samples only.

    Example:  slfs compare cancer.csv --target diagnosis --plot compare.png
    """
    from slfs._core.progress import progress_callback
    from slfs.evaluation.methods import SLFS_SIZE, compare_methods
    from slfs.files.writing import check_output, write_table

    check_output(out, inputs=[data], table=True)
    check_output(plot, out, inputs=[data], picture=True)
    if networks and plot is not None:
        raise ValueError("--plot cannot be combined with --networks. Use --out to write the results.")
    if n_features_to_select == "auto":
        raise ValueError("-k auto is not available here. Use --own-size to let each method choose.")
    if own_size and n_features_to_select is not None:
        raise ValueError("--own-size cannot be combined with -k, which sets the size of all methods.")
    file = read_labelled(
        data,
        target,
        file_format,
        missing=missing,
        drop=drop,
        ids=ids,
        targets_from=targets_from,
        transpose=transpose,
        no_header=no_header,
        sheet=sheet,
    )
    if networks:
        _compare_networks(file, n_features_to_select, categorical, cv, seed, n_jobs, out, as_json)
        return
    selectors = {name: make_selector(name, file, categorical=categorical) for name in _listed(methods)}
    size = None if own_size else SLFS_SIZE if n_features_to_select is None else n_features_to_select
    with progress("comparing") as tick, progress_callback(tick):
        rows = compare_methods(
            file.in_memory(),
            labels(file),
            selectors,
            _listed(classifiers),
            n_features_to_select=size,
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
        about = {"data": file.name, "target": file.target, "ids": file.ids, "cv": cv, "seed": seed}
        show_json({**about, "summary": _records(_means(rows)), "rows": _records(rows)})
        return
    typer.echo(f"{file.name}: {cv}-fold cross-validation. {_size_text(size)}.\n")
    _show(rows)
    for path in (out, plot):
        if path is not None:
            typer.echo(f"Written: {path}")


def _size_text(size: float | str | None) -> str:
    """What limits the number of columns."""
    if size is None:
        return "Each method selects as many columns as it chooses"
    if isinstance(size, str):
        return "All methods select at most as many columns as SLFS does in the same fold"
    return f"All methods select at most {size:g} {'columns' if size >= 1 else 'of the columns'}"


def _show(rows: Any) -> None:
    """Print the means over the folds of each method with each classifier."""
    from slfs.evaluation.metrics import METRICS

    means = _means(rows)
    lines, last = [], ""
    for record in means.to_dict("records"):
        percents = [f"{100 * record[name]:.1f}" for name in METRICS[:2]]
        others = ["" if record[name] != record[name] else f"{record[name]:.3f}" for name in METRICS[2:]]
        title = record["classifier"] if record["classifier"] != last else ""
        last = record["classifier"]
        size, seconds = f"{record['n_features']:.1f}", f"{record['seconds']:.3f}"
        lines.append([title, record["method"], size, *percents, *others, seconds])
    numbers = ["columns", "accuracy\n(%)", "balanced\n(%)", "AUC", "log loss\n(nats)", "seconds"]
    show_table(["classifier", "method", *numbers], lines, right=numbers)
    typer.echo(
        "\nMeans over the folds. columns: number of selected columns. balanced: mean accuracy within\n"
        "the classes. AUC: each class against the others, averaged. seconds: time of the selection."
    )
    for note in _notes_on_nothing(rows):
        typer.echo(note)


def _notes_on_nothing(rows: Any) -> list[str]:
    """Name the methods that select no column in some folds; their rows are those of the frequencies."""
    first = rows[rows["classifier"] == rows["classifier"].iloc[0]]
    counts = first["n_features"].eq(0).groupby(first["method"], sort=False).agg(["sum", "size"])
    return [
        f"{method} selects no column in {n_empty} of {n_folds} folds. There, all classifiers predict "
        "the class frequencies."
        for method, n_empty, n_folds in counts.itertuples()
        if n_empty
    ]


def _means(rows: Any) -> Any:
    """The means over the folds, the methods of each classifier together."""
    from slfs.evaluation.metrics import METRICS

    figures = ["n_features", *METRICS, "seconds"]
    means = rows.groupby(["classifier", "method"], sort=False)[figures].mean().reset_index()
    order = {name: index for index, name in enumerate(rows["classifier"].unique())}
    return means.sort_values("classifier", key=lambda names: names.map(order), kind="stable")


def _records(frame: Any) -> list[dict[str, Any]]:
    """The rows of a DataFrame as plain values; JSON has no NaN."""
    return [
        {name: None if value != value else value for name, value in record.items()}
        for record in frame.to_dict("records")
    ]


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
        about = {"data": file.name, "target": file.target, "ids": file.ids, "cv": cv, "seed": seed}
        show_json({**about, **found.to_dict()})
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
