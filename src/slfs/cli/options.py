"""Options that several commands share, as annotated types."""

from __future__ import annotations

from typing import Annotated, Any

import typer


def number_or_share(text: str) -> float | str:
    """Read a number of columns, such as 10, a fraction of the columns, such as 0.1, or "auto"."""
    if text == "auto":
        return text
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} is not a number. Use a number of columns, such as 10, a fraction, such as 0.1, "
            "or auto."
        ) from None


def usable_device(name: str) -> str:
    """Check that there is such a device, before the data are read."""
    if name != "cpu":
        from slfs.counting.backend import DEVICES, use_device

        if name not in DEVICES:
            raise typer.BadParameter(f"{name!r} is not a device. Use {', '.join(DEVICES)}.")
        try:
            with use_device(name):
                pass
        except RuntimeError as error:
            raise typer.BadParameter(str(error)) from None
    return name


Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="CSV, TSV, Excel, JSON, JSON Lines, Parquet, Arrow, npy, npz, svmlight, ARFF, h5ad, zarr "
        "or PLINK file, also compressed; - for stdin.",
    ),
]
Target = Annotated[
    str | None,
    typer.Option("--target", "-t", metavar="COLUMN", help="Column to predict: name or index."),
]
TargetType = Annotated[
    str,
    typer.Option(
        "--target-type",
        metavar="NAME",
        help="What the target is: classification, regression or auto.",
    ),
]
DropMissingTarget = Annotated[
    bool,
    typer.Option("--drop-missing-target", help="Leave out the rows whose target is missing."),
]
TargetsFrom = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="File with the target, if DATA lacks it; rows are matched by --id."
    ),
]
Id = Annotated[
    list[str] | None,
    typer.Option(
        "--id",
        metavar="A,B",
        help="Columns that identify samples: kept, not selected; repeatable.",
    ),
]
Transpose = Annotated[
    bool,
    typer.Option("--transpose", help="DATA has one row per column, and one column per sample."),
]
NoHeader = Annotated[
    bool,
    typer.Option("--no-header", help="The first row is data; columns are called column_1, column_2."),
]
Sheet = Annotated[
    str | None,
    typer.Option(
        "--sheet",
        "--layer",
        metavar="NAME",
        help="Sheet of an Excel file, or layer of AnnData.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the results as JSON, and nothing else.")]
Format = Annotated[
    str | None,
    typer.Option("--format", metavar="NAME", help="File format, if the suffix does not show it."),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(
        "--missing", metavar="TEXT", help="Text or number that means a missing value; repeatable."
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option("--drop", metavar="A,B", help="Columns to leave out; repeatable."),
]
Categorical = Annotated[
    list[str] | None,
    typer.Option(
        "--categorical",
        "-c",
        metavar="A,B",
        help="Numeric columns to treat as categories, or 'all'; repeatable.",
    ),
]
Include = Annotated[
    list[str] | None,
    typer.Option("--include", metavar="A,B", help="Columns that are always selected; repeatable."),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(
        "--exclude",
        metavar="A,B",
        help="Columns that are never selected, but stay in the results; repeatable.",
    ),
]
ConditionOn = Annotated[
    list[str] | None,
    typer.Option(
        "--condition-on",
        metavar="A,B",
        help="Covariates, such as age: taken into account, not selected; repeatable.",
    ),
]
Weights = Annotated[
    str | None,
    typer.Option("--weights", metavar="COLUMN", help="Column with sample weights; not selected."),
]
Groups = Annotated[
    str | None,
    typer.Option(
        "--groups",
        metavar="COLUMN",
        help="Column of groups of rows that stay together.",
    ),
]
ClassWeight = Annotated[
    str | None,
    typer.Option(
        "--class-weight", metavar="NAME", help="'balanced' gives all classes the same total weight."
    ),
]
Method = Annotated[
    str,
    typer.Option("--method", "-m", metavar="NAME", help="Selection method; 'slfs methods' lists them."),
]
Size = Annotated[
    Any,
    typer.Option(
        "--n-features-to-select",
        "-k",
        parser=number_or_share,
        metavar="K",
        help="Maximum number of columns to select, or a fraction of all columns, such as 0.1; auto: the "
        "method chooses.",
    ),
]
Order = Annotated[
    str | None,
    typer.Option(
        "--order",
        metavar="NAME",
        help="How slfs orders the columns: auto, residual, conditional, relevance or given.",
    ),
]
OneStandardError = Annotated[
    bool,
    typer.Option(
        "--one-standard-error",
        help="Fewer columns: the fewest within one standard error of the smallest log loss.",
    ),
]
Setting = Annotated[
    list[str] | None,
    typer.Option("--set", "-s", metavar="NAME=VALUE", help="Set a parameter of the method; repeatable."),
]
Memory = Annotated[
    str | None,
    typer.Option("--memory-limit", metavar="SIZE", help="Memory limit, such as 2GiB."),
]
Stability = Annotated[
    int | None,
    typer.Option(
        "--stability",
        metavar="N",
        help="Select on N subsamples; keep the columns that most of them select.",
    ),
]
Rate = Annotated[
    float | None,
    typer.Option(
        "--fdr",
        metavar="Q",
        help="With --stability: false discovery rate.",
    ),
]
Threshold = Annotated[
    float | None,
    typer.Option(
        "--threshold",
        metavar="SHARE",
        help="With --stability: share of subsamples [0.6].",
    ),
]
EscapeFormulas = Annotated[
    bool,
    typer.Option("--escape-formulas", help="In CSV and TSV, put ' in front of text such as =1+1."),
]
Jobs = Annotated[
    int,
    typer.Option(
        "--n-jobs", "-j", metavar="N", help="Number of threads or processes; -1: one per core."
    ),
]
Device = Annotated[
    str,
    typer.Option(
        "--device",
        metavar="NAME",
        callback=usable_device,
        help="Where columns are counted: cpu, cuda (an NVIDIA GPU) or auto (a GPU if there is one).",
    ),
]
