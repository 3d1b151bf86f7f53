"""The command discretize."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Annotated

import typer

from slfs.cli.common import categorical_columns, labels, read_labelled, with_target
from slfs.cli.options import Categorical, Data, Drop, EscapeFormulas, Format, Jobs, Missing, Target
from slfs.cli.output import show_table, status


def discretize(
    data: Data,
    target: Target = None,
    categorical: Categorical = None,
    drop: Drop = None,
    missing: Missing = None,
    file_format: Format = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write the interval codes and the target: .parquet, .csv, .tsv, .arrow."
        ),
    ] = None,
    escape_formulas: EscapeFormulas = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the cut points as JSON.")] = False,
    n_jobs: Jobs = -1,
) -> None:
    """Cut numeric columns into intervals (MDLP discretization).

    Example:  slfs discretize cancer.csv --target diagnosis --out codes.csv
    """
    from slfs import MDLPDiscretizer
    from slfs.files.writing import check_output, write_table

    check_output(out, data, table=True)
    file = read_labelled(data, target, file_format, missing, drop)
    categories = categorical_columns(categorical, file)
    discretizer = MDLPDiscretizer(categorical_features=categories, n_jobs=n_jobs)
    with status("discretizing"):
        table = file.in_memory()
        discretizer.fit(table, labels(file))
        if out is not None:
            codes = with_target(discretizer.transform(table), discretizer.get_feature_names_out(), file)
            write_table(codes, out, escape_formulas=escape_formulas)
    cuts = [points.tolist() for points in discretizer.cut_points_]
    if as_json:
        plain = [[point if math.isfinite(point) else str(point) for point in points] for points in cuts]
        typer.echo(json.dumps(dict(zip(file.names, plain, strict=True)), ensure_ascii=False))
        return
    lines = [
        [name, str(levels), ", ".join(f"{point:.6g}" for point in points)]
        for name, levels, points in zip(file.names, discretizer.n_levels_, cuts, strict=True)
    ]
    show_table(["column", "levels", "cut points"], lines)
    if out is not None:
        typer.echo(f"\nWritten: {out}")
