"""The command discretize."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slfs.cli.common import categorical_columns, labels, read_labelled
from slfs.cli.options import (
    Categorical,
    ClassWeight,
    Data,
    Drop,
    DropMissingTarget,
    EscapeFormulas,
    Format,
    Id,
    Jobs,
    Json,
    Missing,
    NoHeader,
    Sheet,
    Target,
    TargetsFrom,
    TargetType,
    Transpose,
    Weights,
)
from slfs.cli.output import show_json, show_table, status

if TYPE_CHECKING:
    from slfs.files.data_file import DataFile


def discretize(
    data: Data,
    target: Target = None,
    target_type: TargetType = "auto",
    categorical: Categorical = None,
    weights: Weights = None,
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
            help="Write ids, interval codes and target: .csv, .tsv, .xlsx, .json, .jsonl, .parquet, "
            ".arrow.",
        ),
    ] = None,
    escape_formulas: EscapeFormulas = False,
    as_json: Json = False,
    n_jobs: Jobs = -1,
) -> None:
    """Cut numeric columns into intervals (MDLP discretization).

    Example:  slfs discretize cancer.csv --target diagnosis --out codes.csv
    """
    from slfs import MDLPDiscretizer
    from slfs.coding.codebook import NONE
    from slfs.coding.level_names import plain_cuts, threshold_texts
    from slfs.files.writing import check_output, kinds_of, write_table

    check_output(out, inputs=[data], table=True)
    file = read_labelled(
        data,
        target,
        file_format,
        missing=missing,
        weights=weights,
        drop=drop,
        ids=ids,
        takes_groups=False,
        targets_from=targets_from,
        drop_missing_target=drop_missing_target,
        target_type=target_type,
        transpose=transpose,
        no_header=no_header,
        sheet=sheet,
    )
    categories = categorical_columns(categorical, file)
    discretizer = MDLPDiscretizer(
        target=target_type,
        categorical_features=categories,
        class_weight=class_weight,
        n_jobs=n_jobs,
    )
    with status("discretizing"):
        table = file.in_memory()
        discretizer.fit(table, labels(file), sample_weight=file.weights)
        if out is not None:
            coded = _coded(file, discretizer, table, kinds=kinds_of(out))
            write_table(coded, out, escape_formulas=escape_formulas)
    coding = discretizer._coding
    if as_json:
        cuts = [plain_cuts(coding, column) for column in range(len(coding))]
        plain = [
            [str(point) if point in (math.inf, -math.inf) else point for point in points]
            for points in cuts
        ]
        show_json(
            {
                "data": file.name,
                "target": file.target,
                "ids": file.ids,
                "n_levels": dict(zip(file.names, discretizer.n_levels_.tolist(), strict=True)),
                "cut_points": dict(zip(file.names, plain, strict=True)),
            }
        )
        return
    lines = []
    for column, (name, levels) in enumerate(zip(file.names, discretizer.n_levels_, strict=True)):
        shown = threshold_texts(coding, column) if coding.cut[column] else []
        if coding.cut[column] and coding.columns["missing"][column] != NONE:
            shown.append("missing values")  # a level of their own
        lines.append([name, str(levels), ", ".join(shown)])
    show_table(["column", "levels", "cut points"], lines)
    if out is not None:
        typer.echo(f"\nWritten: {out}")


def _coded(file: DataFile, discretizer: Any, table: Any, *, kinds: str) -> Any:
    """The ids, the codes of the intervals and the target."""
    from slfs.files.data_file import with_target

    codes = with_target(discretizer.transform(table), discretizer.get_feature_names_out(), file)
    if file.ids:
        originals = file.originals([], kinds=kinds)
        for position, name in enumerate(file.ids):
            codes.insert(position, name, originals[name].to_numpy())
    return codes
