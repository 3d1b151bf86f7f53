"""The commands select and explain."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slfs.cli.common import labels, make_selector, make_stable, read_labelled, timed_fit, with_target
from slfs.cli.options import (
    Categorical,
    Data,
    Drop,
    EscapeFormulas,
    Format,
    Jobs,
    Memory,
    Method,
    Missing,
    Rate,
    Setting,
    Size,
    Stability,
    Target,
)
from slfs.cli.output import progress, show_table, status

if TYPE_CHECKING:
    from slfs.files.reading import DataFile


def select(
    data: Data,
    target: Target = None,
    method: Method = "slfs",
    n_features_to_select: Size = None,
    settings: Setting = None,
    stability: Stability = None,
    fdr: Rate = None,
    categorical: Categorical = None,
    drop: Drop = None,
    missing: Missing = None,
    file_format: Format = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the selected columns and the target: .parquet, .csv, .tsv, .arrow.",
        ),
    ] = None,
    escape_formulas: EscapeFormulas = False,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write an interactive report (HTML).")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print all results as JSON.")] = False,
    tree: Annotated[bool, typer.Option("--tree", help="Also print the tree of columns.")] = False,
    n_jobs: Jobs = -1,
    memory_limit: Memory = None,
) -> None:
    """Select the columns that predict the class.

    Example:  slfs select genes.csv --target tumour --report report.html
    """
    from slfs._core.progress import progress_callback
    from slfs.files.writing import check_output, write_table

    check_output(out, data, table=True)
    check_output(report, data, out)
    file = read_labelled(data, target, file_format, missing, drop)
    selector = make_selector(
        method,
        file,
        settings=settings,
        size=n_features_to_select,
        categorical=categorical,
        n_jobs=n_jobs,
        memory_limit=memory_limit,
    )
    selector = make_stable(selector, stability, fdr, n_features_to_select, n_jobs)
    with progress("selecting") as tick, progress_callback(tick):
        seconds = timed_fit(selector, file.X, labels(file))
    if out is not None:
        write_table(_selected(file, selector), out, escape_formulas=escape_formulas)
    if as_json or report is not None:
        facts = _report(file, selector, seconds, report)
    if as_json:
        typer.echo(json.dumps(facts, ensure_ascii=False))
        return
    _show(file, selector, seconds)
    if tree:
        typer.echo(f"\n{selector.network_}")
    for path in (out, report):
        if path is not None:
            typer.echo(f"Written: {path}")


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
    model: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Model saved by 'slfs fit'.")
    ] = None,
    method: Method = "slfs",
    n_features_to_select: Size = None,
    settings: Setting = None,
    stability: Stability = None,
    fdr: Rate = None,
    categorical: Categorical = None,
    drop: Drop = None,
    missing: Missing = None,
    file_format: Format = None,
    n_jobs: Jobs = -1,
) -> None:
    """Explain why a column is selected or dropped.

    For a selected column, also how strong the evidence is that it is related to the class.

    Example:  slfs explain "worst radius" cancer.csv --target diagnosis
    """
    if (model is None) == (data is None):
        raise typer.BadParameter("pass either DATA or --model")
    if model is not None:
        typer.echo(_explain_model(model, column))
        return
    file = read_labelled(str(data), target, file_format, missing, drop)
    selector = make_selector(
        method,
        file,
        settings=settings,
        size=n_features_to_select,
        categorical=categorical,
        n_jobs=n_jobs,
    )
    selector = make_stable(selector, stability, fdr, n_features_to_select, n_jobs)
    with status("selecting"):
        selector.fit(file.X, labels(file))
    typer.echo(selector.explain(file.find(column)))


def _explain_model(model: Path, column: str) -> str:
    from slfs.saving import load

    fitted = load(model)
    if not hasattr(fitted, "explain"):
        raise ValueError(
            f"{model} contains a {type(fitted).__name__}, which does not select columns. Pass a model "
            "saved by 'slfs fit'."
        )
    known = getattr(fitted, "feature_names_in_", ())
    is_index = column not in known and re.fullmatch(r"-?[0-9]+", column)
    text: str = fitted.explain(int(column) if is_index else column)
    return text


def _report(file: DataFile, selector: Any, seconds: float, path: Path | None) -> dict[str, Any]:
    """Everything that is known about a selection; also written as a report if there is a path."""
    import shlex
    import sys

    import numpy as np

    from slfs.evaluation import compare_accuracy
    from slfs.report import make_facts, write_report

    about: dict[str, Any] = {
        "data": file.name,
        "seconds": seconds,
        "fingerprint": file.fingerprint,
        "command": shlex.join(["slfs", *sys.argv[1:]]),
    }
    if path is not None:
        with status("cross-validating"):
            about["accuracy"] = compare_accuracy(selector, file.in_memory(), np.asarray(file.y))
            write_report(selector, path, **about)
    return make_facts(selector, **about)


def _show(file: DataFile, selector: Any, seconds: float) -> None:
    """Print the selected columns in order of selection, and the number of dropped columns by role."""
    from slfs import StabilitySelection
    from slfs.selectors._shared.sentences import percent

    shape = f"{file.X.shape[0]} samples x {file.X.shape[1]} columns, {len(selector.classes_)} classes"
    typer.echo(f"{file.name}: {shape}. {selector.n_features_} selected in {seconds:.2f} s.\n")
    stable = isinstance(selector, StabilitySelection)
    entropy = selector._class_entropy()
    lines = []
    for column in selector.indices_:
        record = selector.features_[column]
        role = record["role"].partition(",")[0]
        if stable:
            role = f"{round(record['frequency'] * selector.n_subsamples)} of {selector.n_subsamples}"
        parent = str(record["parent"] or selector.network_.class_name)
        share = f"{100 * record['relevance'] / entropy:.1f}"
        numbers = [f"{record['relevance']:.4f}", share, percent(record["q_value"])]
        lines.append([record["name"], role, parent, *numbers])
    if lines:
        role = "subsamples" if stable else "role"
        numbers = ["relevance\n(nats)", "% of class\nentropy", "FDR\n(q-value)"]
        show_table(["column", role, "parent", *numbers], lines, right=numbers)
        typer.echo(
            "\nrelevance: mutual information with the class. FDR (q-value): expected share of false\n"
            "discoveries among the columns with at least this much evidence of a relation to the class."
        )
    if stable:
        typer.echo(f"\n{_stability_text(selector)}")
    dropped = Counter(selector.features_["role"][~selector.support_].tolist())
    if dropped:
        counted = ", ".join(f"{count} {role}" for role, count in dropped.most_common())
        typer.echo(f"\nDropped: {counted}. 'slfs explain COLUMN' with the same options explains each.")


def _stability_text(selector: Any) -> str:
    """How well the subsamples agree, and how many of them had to select a column."""
    stability, needed = selector.stability_, selector.threshold_ * selector.n_subsamples
    threshold = f"Threshold: selected in at least {needed:.0f} of {selector.n_subsamples} subsamples."
    if math.isinf(needed):
        threshold = "No threshold reaches the requested FDR: 'slfs explain COLUMN' explains why."
    note = " Nearly all columns are selected every time, so agreement beyond chance is hard to measure."
    return (
        f"{threshold} {str(stability).capitalize()} (1: the same columns in every subsample; 0: no "
        f"better than chance).{note if stability.share > 0.9 else ''}"
    )


def _selected(file: DataFile, selector: Any) -> Any:
    """The selected columns of a file with its target."""
    import numpy as np

    columns, names = np.flatnonzero(selector.support_), file.names
    return with_target(file.take(columns), [names[column] for column in columns], file)
