"""Commands on a user's file: select, explain, discretize."""

from __future__ import annotations

import json
import math
import re
import time
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from scipy import sparse

from slfs import MDLPDiscretizer, StabilitySelection
from slfs._core.progress import progress_callback
from slfs.cli.common import (
    ERRORS,
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
    categorical_columns,
    labels,
    make_selector,
    make_stable,
    progress,
    read_labelled,
    show_table,
    stability_facts,
    stability_sentence,
)
from slfs.files.reading import DataFile
from slfs.files.writing import check_output, write_table
from slfs.measures.false_discovery import q_values
from slfs.selectors._shared.sentences import frequency, grade, percent


def select(
    data: Data,
    target: Target = None,
    method: Method = "slfs",
    features: Size = None,
    settings: Setting = None,
    stability: Stability = None,
    rate: Rate = None,
    categorical: Categorical = None,
    drop: Drop = None,
    missing: Missing = None,
    file_format: Format = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Write selected columns and target: .parquet, .csv, .tsv, .arrow."),
    ] = None,
    escape_formulas: EscapeFormulas = False,
    report: Annotated[Path | None, typer.Option(help="Write a report to look at (HTML).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    tree: Annotated[bool, typer.Option("--tree", help="Print the tree as well.")] = False,
    n_jobs: Jobs = -1,
    memory_limit: Memory = None,
) -> None:
    """Select the columns that tell the classes apart.

    Example:  slfs select genes.csv --target tumour --report report.html
    """
    check_output(out, data, table=True)
    check_output(report, data, out)
    file = read_labelled(data, target, file_format, missing, drop)
    selector = make_selector(method, settings, features, categorical, n_jobs, file, memory_limit)
    selector = make_stable(selector, stability, rate, features, n_jobs)
    with progress("selecting") as tick, progress_callback(tick):
        begin = time.perf_counter()
        selector.fit(file.X, labels(file))
        seconds = time.perf_counter() - begin
    if out is not None:
        write_table(_selected(file, selector), out, escape_formulas=escape_formulas)
    if as_json or report is not None:
        facts = _facts(file, selector, seconds, with_accuracy=report is not None)
        if report is not None:
            from slfs.report import write_report

            write_report(facts, report)
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
            help="The column to explain: its name, or its place in DATA (in a model: among its columns)."
        ),
    ],
    data: Annotated[
        str | None, typer.Argument(metavar="DATA", help="The file; or give --model.")
    ] = None,
    target: Target = None,
    model: Annotated[Path | None, typer.Option(help="A model that 'slfs fit' has saved.")] = None,
    method: Method = "slfs",
    features: Size = None,
    settings: Setting = None,
    stability: Stability = None,
    rate: Rate = None,
    categorical: Categorical = None,
    drop: Drop = None,
    missing: Missing = None,
    file_format: Format = None,
    n_jobs: Jobs = -1,
) -> None:
    """Say why a column is selected or not, and how sure it is that it has to do with the class.

    Example:  slfs explain "worst radius" cancer.csv --target diagnosis
    """
    if (model is None) == (data is None):
        raise typer.BadParameter("give either DATA or --model")
    file = None
    if model is not None:
        from slfs.saving import load

        fitted = load(model)
    else:
        file = read_labelled(str(data), target, file_format, missing, drop)
        selector = make_selector(method, settings, features, categorical, n_jobs, file)
        selector = make_stable(selector, stability, rate, features, n_jobs)
        with ERRORS.status("selecting"):
            fitted = selector.fit(file.X, labels(file))
    if not hasattr(fitted, "explain"):
        raise ValueError(f"{model} holds a {type(fitted).__name__}, which drops no column.")
    if file is not None:
        place: str | int = file.find(column)
    else:
        known = getattr(fitted, "feature_names_in_", ())
        place = int(column) if column not in known and re.fullmatch(r"-?[0-9]+", column) else column
    typer.echo(fitted.explain(place))


def discretize(
    data: Data,
    target: Target = None,
    categorical: Categorical = None,
    drop: Drop = None,
    missing: Missing = None,
    file_format: Format = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the codes and the target: .parquet, .csv, .tsv, .arrow.")
    ] = None,
    escape_formulas: EscapeFormulas = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the cut points as JSON.")] = False,
    n_jobs: Jobs = -1,
) -> None:
    """Cut columns of numbers into intervals by MDLP.

    Example:  slfs discretize cancer.csv --target diagnosis --out codes.csv
    """
    check_output(out, data, table=True)
    file = read_labelled(data, target, file_format, missing, drop)
    categories = categorical_columns(categorical, file)
    discretizer = MDLPDiscretizer(categorical_features=categories, n_jobs=n_jobs)
    with ERRORS.status("discretizing"):
        table = file.in_memory()
        discretizer.fit(table, labels(file))
        if out is not None:
            codes = discretizer.transform(table)
            coded = _with_target(codes, discretizer.get_feature_names_out(), file)
            write_table(coded, out, escape_formulas=escape_formulas)
    names = file.names
    cuts = [points.tolist() for points in discretizer.cut_points_]
    if as_json:
        plain = [[point if math.isfinite(point) else str(point) for point in points] for points in cuts]
        typer.echo(json.dumps(dict(zip(names, plain, strict=True)), ensure_ascii=False))
        return
    lines = [
        [name, str(levels), ", ".join(f"{point:.6g}" for point in points)]
        for name, levels, points in zip(names, discretizer.n_levels_, cuts, strict=True)
    ]
    show_table(["column", "levels", "cut points"], lines)
    if out is not None:
        typer.echo(f"Written: {out}")


def _facts(file: DataFile, selector: Any, seconds: float, *, with_accuracy: bool) -> dict[str, Any]:
    from slfs.evaluation.accuracy import compare_accuracy
    from slfs.report import make_facts

    accuracy = None
    if with_accuracy:
        with ERRORS.status("cross-validating"):
            accuracy = compare_accuracy(selector, file.in_memory(), np.asarray(file.y))
    facts = make_facts(
        selector, data=file.name, accuracy=accuracy, seconds=seconds, fingerprint=file.fingerprint
    )
    return facts | stability_facts(selector)


def _show(file: DataFile, selector: Any, seconds: float) -> None:
    """Print the selected columns, best first, and how many were dropped why."""
    shape = f"{file.X.shape[0]} samples x {file.X.shape[1]} columns, {len(selector.classes_)} classes"
    typer.echo(f"{file.name}: {shape}. {selector.n_features_} selected in {seconds:.2f} s.\n")
    stable = isinstance(selector, StabilitySelection)
    shares = q_values(selector.features_["p_value"])
    lines = []
    for column in selector.indices_:
        record = selector.features_[column]
        below = str(record["parent"] or selector.network_.class_name)
        how = frequency(record["frequency"], selector.n_subsamples) if stable else record["role"]
        lines.append([record["name"], how, f"{record['relevance']:.4f}", below])
        lines[-1] += [grade(shares[column]), percent(shares[column])]
    if lines:
        how = "how often" if stable else "role"
        show_table(["column", how, "I(f;Y)", "below", "evidence", "flukes"], lines)
        typer.echo(
            "\nevidence: how sure it is that the column has to do with the class at all; flukes: the "
            "share of chance\nfindings to expect among the columns that look at least as good."
        )
    if stable:
        typer.echo(f"\n{stability_sentence(selector)}")
    dropped = Counter(selector.features_["role"][~selector.support_].tolist())
    if dropped:
        counted = ", ".join(f"{count} {role}" for role, count in dropped.most_common())
        typer.echo(f"\nDropped: {counted}. 'slfs explain COLUMN' with the same options tells why.")


def _selected(file: DataFile, selector: Any) -> Any:
    columns, names = np.flatnonzero(selector.support_), file.names
    return _with_target(file.take(columns), [names[column] for column in columns], file)


def _with_target(part: Any, names: Any, file: DataFile) -> Any:
    import pandas as pd

    if isinstance(part, pd.DataFrame):
        part = part.copy(deep=False)
    else:
        part = pd.DataFrame(part.toarray() if sparse.issparse(part) else part, columns=list(names))
    name = file.target
    while name in part.columns:
        name += "'"
    part[name] = np.asarray(file.y)
    return part
