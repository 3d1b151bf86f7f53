"""The commands select and explain."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slfs.cli.common import labels, make_selector, make_stable, read_labelled, timed_fit
from slfs.cli.options import (
    Categorical,
    ClassWeight,
    ConditionOn,
    Data,
    Device,
    Drop,
    DropMissingTarget,
    EscapeFormulas,
    Exclude,
    Format,
    Groups,
    Id,
    Include,
    Jobs,
    Json,
    Memory,
    Method,
    Missing,
    NoHeader,
    OneStandardError,
    Order,
    Rate,
    Setting,
    Sheet,
    Size,
    Stability,
    Target,
    TargetsFrom,
    TargetType,
    Threshold,
    Transpose,
    Weights,
)
from slfs.cli.output import NOTHING_SELECTED, progress, show_json, status
from slfs.cli.selection import explain_nothing, explanation, results_frame, show_selection

if TYPE_CHECKING:
    from slfs.files.data_file import DataFile


def select(
    data: Data,
    target: Target = None,
    target_type: TargetType = "auto",
    method: Method = "slfs",
    n_features_to_select: Size = None,
    order: Order = None,
    one_standard_error: OneStandardError = False,
    settings: Setting = None,
    stability: Stability = None,
    fdr: Rate = None,
    threshold: Threshold = None,
    categorical: Categorical = None,
    include: Include = None,
    exclude: Exclude = None,
    condition_on: ConditionOn = None,
    weights: Weights = None,
    groups: Groups = None,
    class_weight: ClassWeight = None,
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
        typer.Option(
            metavar="FILE",
            help="Write ids, selected columns and target: .csv, .tsv, .xlsx, .json, .jsonl, .parquet, "
            ".arrow; PLINK: .bed, .snplist.",
        ),
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a table: p-value, role of all columns."),
    ] = None,
    escape_formulas: EscapeFormulas = False,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write an interactive report (HTML).")
    ] = None,
    as_json: Json = False,
    tree: Annotated[bool, typer.Option("--tree", help="Also print the tree of columns.")] = False,
    n_jobs: Jobs = -1,
    memory_limit: Memory = None,
    device: Device = "cpu",
) -> None:
    """Select the columns that predict the class, or a number.

    Example:  slfs select genes.csv --target tumour --report report.html
    """
    from slfs._core.progress import progress_callback
    from slfs.files.cohort import is_variant_file, write_variants
    from slfs.files.writing import check_output, kinds_of, write_table

    check_output(out, inputs=[data], table=not is_variant_file(data, out))
    check_output(results, out, inputs=[data], table=True)
    check_output(report, out, results, inputs=[data])
    file = read_labelled(
        data,
        target,
        file_format,
        missing=missing,
        weights=weights,
        groups=groups,
        drop=drop,
        ids=ids,
        targets_from=targets_from,
        drop_missing_target=drop_missing_target,
        target_type=target_type,
        transpose=transpose,
        no_header=no_header,
        sheet=sheet,
        covariates=[*(condition_on or ()), *(include or ())],
    )
    selector = make_selector(
        method,
        file,
        target_type=target_type,
        settings=settings,
        size=n_features_to_select,
        order=order,
        one_standard_error=one_standard_error,
        categorical=categorical,
        include=include,
        exclude=exclude,
        condition_on=condition_on,
        class_weight=class_weight,
        n_jobs=n_jobs,
        memory_limit=memory_limit,
        device=device,
    )
    selector = make_stable(
        selector, stability, fdr=fdr, threshold=threshold, size=n_features_to_select, n_jobs=n_jobs
    )
    with progress("selecting") as tick, progress_callback(tick):
        run = timed_fit(selector, file.X, labels(file), file.weights, file.groups)
    selected = [file.names[column] for column in selector.indices_]
    if out is not None and selected:
        in_order = [name for name, kept in zip(file.names, selector.support_, strict=True) if kept]
        if is_variant_file(data, out):
            write_variants(file.X, out, in_order)
        else:
            table = file.originals(in_order, kinds=kinds_of(out))
            table.attrs |= file.style
            if file.form == "tsv":  # decimal commas between commas are not read as numbers again
                table.attrs["separator"] = ";" if file.style.get("decimal") == "," else ","
            write_table(table, out, escape_formulas=escape_formulas)
    if results is not None:
        write_table(results_frame(file, selector), results, escape_formulas=escape_formulas)
    if as_json or report is not None:
        facts = _report(file, selector, run, report)
    if as_json:
        show_json({"selected": selected, "target": file.target, "ids": file.ids, **facts})
    else:
        show_selection(file, selector)
        if tree and selected:
            typer.echo(f"\n{selector.network_}")
        typer.echo()
        for path in (out if selected else None, results, report):
            if path is not None:
                typer.echo(f"Written: {path}")
        typer.echo(f"Selection took {run['seconds']:.2f} s.")
    if not selected:
        explain_nothing(selector, out)
        raise typer.Exit(NOTHING_SELECTED)


def explain(
    column: Annotated[
        str,
        typer.Argument(
            metavar="COLUMN",
            help="Name or index of a column of DATA (with --model: of the model).",
        ),
    ],
    data: Annotated[
        str | None,
        typer.Argument(metavar="[DATA]", help="Data file; or use --model.", show_default=False),
    ] = None,
    target: Target = None,
    target_type: TargetType = "auto",
    model: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Model saved by 'slfs fit'.")
    ] = None,
    method: Method = "slfs",
    n_features_to_select: Size = None,
    order: Order = None,
    one_standard_error: OneStandardError = False,
    settings: Setting = None,
    stability: Stability = None,
    fdr: Rate = None,
    threshold: Threshold = None,
    categorical: Categorical = None,
    include: Include = None,
    exclude: Exclude = None,
    condition_on: ConditionOn = None,
    weights: Weights = None,
    groups: Groups = None,
    class_weight: ClassWeight = None,
    drop: Drop = None,
    ids: Id = None,
    targets_from: TargetsFrom = None,
    drop_missing_target: DropMissingTarget = False,
    transpose: Transpose = False,
    missing: Missing = None,
    no_header: NoHeader = False,
    sheet: Sheet = None,
    file_format: Format = None,
    as_json: Json = False,
    n_jobs: Jobs = -1,
) -> None:
    """Explain why a column is selected or dropped.

    For a selected column, also how strong the evidence is that it is related to the target.

    Example:  slfs explain "mean radius" cancer.csv --target diagnosis
    """
    from slfs._core.warn import focus

    if (model is None) == (data is None):
        raise typer.BadParameter("pass either DATA or --model")
    if model is not None:
        _show_explanation(*_from_model(model, column), as_json)
        return
    if not Path(str(data)).exists() and Path(column).is_file():
        raise ValueError(
            f"The name of the column comes before the file: slfs explain {shlex.quote(str(data))} "
            f"{shlex.quote(column)}."
        )
    file = read_labelled(
        str(data),
        target,
        file_format,
        missing=missing,
        weights=weights,
        groups=groups,
        drop=drop,
        ids=ids,
        targets_from=targets_from,
        drop_missing_target=drop_missing_target,
        target_type=target_type,
        transpose=transpose,
        no_header=no_header,
        sheet=sheet,
        column=column,
        covariates=[*(condition_on or ()), *(include or ())],
    )
    selector = make_selector(
        method,
        file,
        target_type=target_type,
        settings=settings,
        size=n_features_to_select,
        order=order,
        one_standard_error=one_standard_error,
        categorical=categorical,
        include=include,
        exclude=exclude,
        condition_on=condition_on,
        class_weight=class_weight,
        n_jobs=n_jobs,
    )
    selector = make_stable(
        selector, stability, fdr=fdr, threshold=threshold, size=n_features_to_select, n_jobs=n_jobs
    )
    index = file.find(column)
    with status("selecting"), focus(file.names[index]):
        timed_fit(selector, file.X, labels(file), file.weights, file.groups)
    _show_explanation(selector, index, as_json)


def _show_explanation(selector: Any, column: Any, as_json: bool) -> None:
    if as_json:
        show_json(explanation(selector, column))
    else:
        typer.echo(selector.explain(column))


def _from_model(model: Path, column: str) -> tuple[Any, Any]:
    """The selector of a saved model, and the column as its name or index."""
    from slfs.saving import load

    fitted = load(model)
    if not hasattr(fitted, "explain"):
        raise ValueError(
            f"{model} contains a {type(fitted).__name__}, which does not select columns. Pass a model "
            "saved by 'slfs fit'."
        )
    known = getattr(fitted, "feature_names_in_", ())
    is_index = column not in known and re.fullmatch(r"-?[0-9]+", column)
    return getattr(fitted, "selector_", fitted), int(column) if is_index else column


def _report(file: DataFile, selector: Any, run: dict[str, Any], path: Path | None) -> dict[str, Any]:
    """Everything that is known about a selection; also written as a report if there is a path."""
    import sys

    from slfs.report import make_facts, write_report
    from slfs.report.html import measure_accuracy

    about: dict[str, Any] = {
        "data": file.name,
        **run,
        "fingerprint": file.fingerprint,
        "command": shlex.join(["slfs", *sys.argv[1:]]),
    }
    if path is not None:
        with status("cross-validating"):
            about["accuracy"] = measure_accuracy(selector, file.X, labels(file))
            write_report(selector, path, **about)
    return make_facts(selector, **about)
