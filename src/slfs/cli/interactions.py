"""The command interactions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slfs.cli.common import categorical_columns, labels, read_labelled
from slfs.cli.options import (
    Categorical,
    Data,
    Device,
    Drop,
    DropMissingTarget,
    EscapeFormulas,
    Format,
    Id,
    Jobs,
    Json,
    Memory,
    Missing,
    NoHeader,
    Sheet,
    Target,
    TargetsFrom,
    TargetType,
    Transpose,
    Weights,
)
from slfs.cli.output import progress, show_json, show_table

if TYPE_CHECKING:
    from slfs.evaluation.pairs import Interactions


def interactions(
    data: Data,
    target: Target = None,
    target_type: TargetType = "auto",
    columns: Annotated[
        list[str] | None,
        typer.Option("--columns", metavar="A,B", help="Columns to test; repeatable. Default: all."),
    ] = None,
    partners: Annotated[
        list[str] | None,
        typer.Option("--with", metavar="A,B", help="Test only pairs with these columns; repeatable."),
    ] = None,
    n_top: Annotated[
        int, typer.Option("--top", metavar="N", min=0, help="Number of pairs to show.")
    ] = 20,
    fdr: Annotated[
        float, typer.Option("--fdr", metavar="Q", help="False discovery rate of the pairs.")
    ] = 0.05,
    max_levels: Annotated[
        int, typer.Option("--max-levels", metavar="N", help="Maximum number of levels of a column.")
    ] = 3,
    categorical: Categorical = None,
    weights: Weights = None,
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
        typer.Option(metavar="FILE", help="Write one row per pair: .csv, .tsv, .parquet, .arrow."),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Store the state of a long scan here, and go on from it."),
    ] = None,
    escape_formulas: EscapeFormulas = False,
    as_json: Json = False,
    memory_limit: Memory = None,
    device: Device = "cpu",
    n_jobs: Jobs = -1,
) -> None:
    """Find pairs of columns that tell more together than alone.

    All pairs are tested for an interaction beyond the effects of both columns; q-values are
    corrected for the number of all pairs. --out and --json have all significant pairs, and at least
    the best --top. A scan that is stopped with Ctrl-C can be continued if --resume was used.

    Example:  slfs interactions cancer.csv --target diagnosis --with age
    """
    from slfs._core.progress import progress_callback
    from slfs.evaluation import interactions as find_interactions
    from slfs.files.writing import check_output, write_table

    check_output(out, resume, inputs=[data], table=True)
    check_output(resume, inputs=[data])
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
        covariates=[*(columns or ()), *(partners or ())],
    )
    with progress("testing pairs") as tick, progress_callback(tick):
        found = find_interactions(
            file.X,
            labels(file),
            sample_weight=file.weights,
            columns=None if not columns else file.find_all(columns),
            partners=None if not partners else file.find_all(partners),
            n_top=n_top,
            fdr=fdr,
            max_levels=max_levels,
            target=target_type,
            categorical_features=categorical_columns(categorical, file),
            n_jobs=n_jobs,
            memory_limit=memory_limit,
            device=device,
            checkpoint=resume,
        )
    if out is not None:
        write_table(_with_places(found.to_frame(), file.X), out, escape_formulas=escape_formulas)
    if as_json:
        about = {"data": file.name, "target": file.target, "ids": file.ids}
        show_json({**about, **found.to_dict()})
        return
    _show(found, file.name)
    if out is not None:
        typer.echo(f"\nWritten: {out}")


def _with_places(pairs: Any, table: Any) -> Any:
    """Add chromosome, position and alleles of both columns to pairs of variants."""
    import pandas as pd

    from slfs.files.genotypes import GenotypeColumns

    if not isinstance(table, GenotypeColumns):
        return pairs
    known = table.annotations()
    places = [
        known.iloc[pairs[f"{which}_index"]].reset_index(drop=True).add_prefix(f"{which}_")
        for which in ("first", "second")
    ]
    return pd.concat([pairs.reset_index(drop=True), *places], axis=1)


def _show(found: Interactions, name: str) -> None:
    """Print the best pairs, and how the first one is distributed over the classes."""
    from slfs.files.data_file import some_names
    from slfs.measures.interactions import classes_by_interaction

    are = "is" if found.n_significant == 1 else "are"
    result = (
        f"{found.n_significant} of {found.n_tested} pairs {are} significant (false discovery rate "
        f"{found.fdr:g})"
    )
    typer.echo(f"{name}: {result if found.n_tested else 'no pair was tested'}.")
    if found.untested:
        columns = "column cannot" if len(found.untested) == 1 else "columns cannot"
        typer.echo(
            f"{len(found.untested)} {columns} be tested: constant, or one level is left when rare "
            f"ones are pooled: {some_names(found.untested)}."
        )
    typer.echo()
    shown: Any = found.pairs[: len(found.tables)]
    if len(shown) == 0:  # with --top 0
        return
    lines = [
        [
            row.first,
            row.second,
            f"{row.synergy:.4f}",
            f"{row.joint_information:.4f}",
            f"{row.p_value:.2g}",
            f"{row.q_value:.2g}",
        ]
        for row in shown
    ]
    numbers = ["synergy", "together", "p-value", "q-value"]
    show_table(["first", "second", *numbers], lines, right=numbers)
    more = found.n_significant - len(shown)
    if more > 0:
        are = "pair is" if more == 1 else "pairs are"
        typer.echo(f"\n{more} more {are} significant: --top shows more, --out and --json have all.")
    typer.echo(
        "\nsynergy: information about the target in nats that the pair has in addition to the sum of\n"
        "both columns; together: all information of the pair. q-value: corrected for all pairs."
    )
    best = found.tables[0]
    label = int(classes_by_interaction(best.counts)[0])
    share = best.counts[:, :, label] / best.counts.sum(axis=2).clip(min=1)
    why = "" if len(found.classes) == 2 else ", the class with the largest interaction"
    typer.echo(
        f"\nShare of {found.classes[label]} (samples) by {best.first} (rows) and {best.second}{why}:"
    )
    cells = zip(share.tolist(), best.counts.sum(axis=2).tolist(), strict=True)
    rows = [
        [
            level,
            *(
                f"{part:.0%} ({size})" if size else "(0)"
                for part, size in zip(parts, sizes, strict=True)
            ),
        ]
        for level, (parts, sizes) in zip(best.first_levels, cells, strict=True)
    ]
    show_table(["", *best.second_levels], rows, right=best.second_levels)
