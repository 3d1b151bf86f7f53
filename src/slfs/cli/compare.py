"""The command compare: methods and classifiers on a user's own file."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slfs._core.rounding import short_number
from slfs.cli.common import labels, make_selector, read_labelled
from slfs.cli.options import (
    Categorical,
    Data,
    Drop,
    DropMissingTarget,
    Format,
    Groups,
    Id,
    Jobs,
    Json,
    Missing,
    NoHeader,
    Sheet,
    Size,
    Target,
    TargetsFrom,
    TargetType,
    Transpose,
)
from slfs.cli.output import progress, show_json, show_table

if TYPE_CHECKING:
    from slfs.files.data_file import DataFile

CLASSIFIERS, REGRESSORS = "3-NN,SVM,NB,BNSLFS", "ridge,7-NN,RF,BNSLFS"
"""The models that are compared by default."""


def compare(
    data: Data,
    target: Target = None,
    methods: Annotated[
        str, typer.Option(metavar="NAMES", help="Selection methods, separated by commas.")
    ] = "slfs,mrmr,jmi,cmim,fcbf,chi2-ranking",
    target_type: TargetType = "auto",
    classifiers: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Of 3-NN, 5-NN, 7-NN, SVM, NB, BNSLFS, TAN; separated by commas [default: "
            f"{CLASSIFIERS}].",
        ),
    ] = None,
    regressors: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="For a quantity, of ridge, 3-NN, 5-NN, 7-NN, RF, BNSLFS; separated by commas "
            f"[default: {REGRESSORS}].",
        ),
    ] = None,
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
    groups: Groups = None,
    drop: Drop = None,
    ids: Id = None,
    targets_from: TargetsFrom = None,
    drop_missing_target: DropMissingTarget = False,
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
    """Compare methods and models by cross-validation.

    All methods may select equally many columns: as many as SLFS does in the same fold (one if that is
    none), or -k. Discretization and selection are repeated in each fold, on its training samples only.

    Example:  slfs compare cancer.csv --target diagnosis --plot compare.png
    """
    from slfs._core.progress import progress_callback
    from slfs.evaluation.methods import SLFS_SIZE, compare_methods
    from slfs.files.writing import check_output, write_table

    check_output(out, inputs=[data], table=True)
    check_output(plot, out, inputs=[data], picture=True)
    if networks and plot is not None:
        raise ValueError("--plot cannot be combined with --networks. Use --out to write the results.")
    if networks and groups is not None:
        raise ValueError("--groups cannot be combined with --networks.")
    if n_features_to_select == "auto":
        raise ValueError("-k auto is not available here. Use --own-size to let each method choose.")
    if own_size and n_features_to_select is not None:
        raise ValueError("--own-size cannot be combined with -k, which sets the size of all methods.")
    file = read_labelled(
        data,
        target,
        file_format,
        missing=missing,
        groups=groups,
        drop=drop,
        ids=ids,
        targets_from=targets_from,
        drop_missing_target=drop_missing_target,
        target_type=target_type,
        transpose=transpose,
        no_header=no_header,
        sheet=sheet,
    )
    if networks:
        _compare_networks(file, n_features_to_select, categorical, cv, seed, n_jobs, out, as_json)
        return
    models = _models(labels(file), target_type, classifiers, regressors)
    selectors = {name: make_selector(name, file, categorical=categorical) for name in _listed(methods)}
    size = None if own_size else SLFS_SIZE if n_features_to_select is None else n_features_to_select
    with progress("comparing") as tick, progress_callback(tick):
        rows = compare_methods(
            file.in_memory(),
            labels(file),
            selectors,
            _listed(models),
            target=target_type,
            n_features_to_select=size,
            cv=cv,
            groups=file.groups,
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


def _models(y: Any, target_type: str, classifiers: str | None, regressors: str | None) -> str:
    """Return the names of the models to compare; raise an error if they do not fit the target."""
    from slfs._core.warn import quiet
    from slfs.tables.target import REGRESSION, read_target

    with quiet():  # the same warnings again
        regression = read_target(y, target_type).kind == REGRESSION
    if regression and classifiers is not None:
        raise ValueError(
            "The target is a quantity, which classifiers cannot predict. Use --regressors, or "
            "--target-type classification."
        )
    if not regression and regressors is not None:
        raise ValueError(
            "The target has classes, which regressors cannot predict. Use --classifiers, or "
            "--target-type regression."
        )
    return (regressors or REGRESSORS) if regression else (classifiers or CLASSIFIERS)


def _size_text(size: float | str | None) -> str:
    """What limits the number of columns."""
    if size is None:
        return "Each method selects as many columns as it chooses"
    if isinstance(size, str):
        return "Each method may select as many columns as SLFS in the same fold, or one if that is none"
    return f"All methods select at most {size:g} {'columns' if size >= 1 else 'of the columns'}"


def _show(rows: Any) -> None:
    """Print the means over the folds of each method with each classifier or regressor."""
    means, kind = _means(rows), _kind(rows)
    lines, last = [], ""
    for record in means.to_dict("records"):
        title = record[kind] if record[kind] != last else ""
        last = record[kind]
        size, seconds = f"{record['n_features']:.1f}", f"{record['seconds']:.3f}"
        lines.append([title, record["method"], size, *_figures(record), seconds])
    if kind == "regressor":
        figures = ["R²", "rank\ncorrelation", "absolute\nerror"]
        note = (
            "rank correlation: Spearman's, of predictions and targets.\n"
            "absolute error: its mean, in units of the target."
        )
    else:
        figures = ["accuracy\n(%)", "balanced\n(%)", "AUC", "log loss\n(nats)"]
        note = (
            "balanced: mean accuracy within\nthe classes. AUC: each class against the others, averaged."
        )
    numbers = ["columns", *figures, "seconds"]
    show_table([kind, "method", *numbers], lines, right=numbers)
    typer.echo(
        f"\nMeans over the folds. columns: number of selected columns. {note} seconds: time of the "
        "selection."
    )
    for note in _notes_on_nothing(rows):
        typer.echo(note)


def _notes_on_nothing(rows: Any) -> list[str]:
    """Name the methods that select no column in some folds; their rows are those of the frequencies."""
    first = rows[rows[_kind(rows)] == rows[_kind(rows)].iloc[0]]
    counts = first["n_features"].eq(0).groupby(first["method"], sort=False).agg(["sum", "size"])
    regression = _kind(rows) == "regressor"
    predicted = (
        "regressors predict the mean" if regression else "classifiers predict the class frequencies"
    )
    return [
        f"{method} selects no column in {n_empty} of {n_folds} folds. There, all {predicted}."
        for method, n_empty, n_folds in counts.itertuples()
        if n_empty
    ]


def _figures(record: dict[str, Any]) -> list[str]:
    """Format the metrics of one method with one model."""
    from slfs.evaluation.metrics import METRICS, REGRESSION_METRICS

    if "r2" in record:
        first, second, third = (record[name] for name in REGRESSION_METRICS)
        return [f"{first:.3f}", f"{second:.3f}", short_number(third)]
    percents = [f"{100 * record[name]:.1f}" for name in METRICS[:2]]
    others = ["" if record[name] != record[name] else f"{record[name]:.3f}" for name in METRICS[2:]]
    return [*percents, *others]


def _kind(rows: Any) -> str:
    """What the models of the rows are: "classifier" or "regressor"."""
    return "regressor" if "regressor" in rows else "classifier"


def _means(rows: Any) -> Any:
    """The means over the folds, the methods of each classifier or regressor together."""
    from slfs.evaluation.metrics import METRICS, REGRESSION_METRICS

    kind = _kind(rows)
    metrics = REGRESSION_METRICS if kind == "regressor" else METRICS
    figures = ["n_features", *metrics, "seconds"]
    means = rows.groupby([kind, "method"], sort=False)[figures].mean().reset_index()
    order = {name: index for index, name in enumerate(rows[kind].unique())}
    return means.sort_values(kind, key=lambda names: names.map(order), kind="stable")


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
        raise ValueError("--methods, --classifiers and --regressors need at least one name each.")
    return names
