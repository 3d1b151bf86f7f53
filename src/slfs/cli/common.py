"""What the commands share: options, methods by name, progress."""

from __future__ import annotations

import difflib
import inspect
import json
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

import slfs
from slfs.files.reading import DataFile, read_file

if TYPE_CHECKING:
    from slfs._core.progress import Listener

ERRORS = Console(stderr=True)

METHODS: dict[str, Any] = {
    "slfs": slfs.SLFS,
    "mrmr": slfs.MRMR,
    "jmi": slfs.JMI,
    "cmim": slfs.CMIM,
    "fcbf": slfs.FCBF,
    "chi2-ranking": slfs.Chi2Ranking,
    "chi2": slfs.Chi2,
    "osfs": slfs.OSFS,
    "fast-osfs": slfs.FastOSFS,
    "saola": slfs.SAOLA,
    "alpha-investing": slfs.AlphaInvesting,
}

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="CSV, TSV, Parquet, Arrow, npy, npz, svmlight or ARFF, maybe .gz, .bz2, .xz; - is stdin.",
    ),
]
Target = Annotated[
    str | None, typer.Option("--target", "-t", help="Column of the classes: its name, or its place.")
]
Format = Annotated[str | None, typer.Option("--format", help="Format, if the name does not tell.")]
Missing = Annotated[
    list[str] | None, typer.Option("--missing", help="Text that means missing; may be repeated.")
]
Drop = Annotated[list[str] | None, typer.Option("--drop", help="Column to leave out; may be repeated.")]
Categorical = Annotated[
    list[str] | None,
    typer.Option("--categorical", "-c", help="Column of numbers that are categories, or 'all'."),
]
Method = Annotated[str, typer.Option("--method", "-m", help=f"One of {', '.join(METHODS)}.")]
Size = Annotated[int | None, typer.Option("--features", "-k", help="Keep at most so many.")]
Setting = Annotated[
    list[str] | None,
    typer.Option("--set", "-s", metavar="NAME=VALUE", help="Parameter of the method; may be repeated."),
]
Memory = Annotated[
    str | None,
    typer.Option("--memory-limit", metavar="SIZE", help="Memory to take at most, such as 2GiB."),
]
Stability = Annotated[
    int | None,
    typer.Option("--stability", metavar="N", help="Keep what is chosen in most of N subsamples."),
]
Rate = Annotated[
    float | None,
    typer.Option("--fdr", metavar="Q", help="With --stability: a share Q of noise may be kept."),
]
EscapeFormulas = Annotated[
    bool, typer.Option("--escape-formulas", help="In CSV, text like =1+1 gets a ' in front.")
]
Jobs = Annotated[int, typer.Option("--n-jobs", "-j", help="Threads or processes; -1: one a core.")]


def read_labelled(
    source: str,
    target: str | None,
    file_format: str | None,
    missing: list[str] | None,
    drop: list[str] | None,
) -> DataFile:
    """Read a file that must have class labels."""
    with ERRORS.status("reading"):
        file = read_file(
            source, target=target, file_format=file_format, missing=missing or (), drop=drop or ()
        )
    if file.y is None:
        last = f"--target {file.names[-1]!r}"
        raise ValueError(
            f"Which column of {file.name} has the classes? Give --target, for example {last}."
        )
    return file


def make_selector(
    method: str,
    settings: Sequence[str] | None,
    size: int | None,
    categorical: Sequence[str] | None,
    n_jobs: int,
    file: DataFile,
    memory_limit: str | None = None,
) -> Any:
    """Make a selector of what the options say."""
    kind = METHODS.get(method)
    if kind is None:
        raise ValueError(f"There is no method {method!r}.{_near(method, METHODS)}")
    known = inspect.signature(kind).parameters
    given = {"n_jobs": n_jobs, "memory_limit": memory_limit}
    parameters: dict[str, Any] = {name: value for name, value in given.items() if name in known}
    for setting in settings or ():
        name, equals, value = setting.partition("=")
        name = "relevance_weight" if name == "lambda" else name.replace("-", "_")
        if not equals or name not in known:
            raise ValueError(
                f"--set {setting!r} is not NAME=VALUE with a parameter of {method}.{_near(name, known)}"
            )
        parameters[name] = _value(value)
    if size is not None:
        if not takes_size(method):
            raise ValueError(f"--features does not go with {method}, which chooses how many by itself.")
        parameters["n_features_to_select"] = size
    if categorical:
        parameters["categorical_features"] = categorical_columns(categorical, file)
    return kind(**parameters)


def make_stable(
    selector: Any, stability: int | None, rate: float | None, size: int | None, n_jobs: int
) -> Any:
    """The selector itself, or a stability selection with it if the options ask for one."""
    if stability is None:
        if rate is not None:
            raise ValueError("--fdr needs --stability, for example --stability 50.")
        return selector
    return slfs.StabilitySelection(
        selector,
        n_subsamples=stability,
        n_features_to_select="auto" if size is None else size,
        fdr=rate,
        n_jobs=n_jobs,
    )


def stability_sentence(selector: slfs.StabilitySelection) -> str:
    """Say how much the subsamples agree, and how often a column must be chosen."""
    found, needed = selector.stability_, selector.threshold_ * selector.n_subsamples
    asked = f"At least {needed:.0f} of {selector.n_subsamples} subsamples were asked for."
    if math.isinf(needed):
        asked = "No threshold holds the false discovery rate: 'slfs explain COLUMN' tells why."
    meaning = "1: the same columns in every subsample; 0: no better than chance"
    note = " Nearly all columns are chosen every time, which leaves little to agree on beyond chance."
    return f"{asked} {str(found).capitalize()} ({meaning}).{note if found.share > 0.9 else ''}"


def stability_facts(selector: Any) -> dict[str, Any]:
    """What JSON says of a stability selection; nothing of other selectors."""
    if not isinstance(selector, slfs.StabilitySelection):
        return {}
    found = {
        name: None if math.isnan(value) else value
        for name in ("value", "low", "high", "level")
        for value in [getattr(selector.stability_, name)]
    }
    needed = None if math.isinf(selector.threshold_) else selector.threshold_
    frequencies = dict(zip(selector._feature_names(), selector.frequencies_.tolist(), strict=True))
    about = {"n_subsamples": selector.n_subsamples, "threshold": needed, "frequencies": frequencies}
    return {"stability": {**found, **about}}


def labels(file: DataFile) -> Any:
    """The labels, with the name of their column."""
    import pandas as pd

    return pd.Series(np.asarray(file.y), name=file.target)


def categorical_columns(names: Sequence[str] | None, file: DataFile) -> Any:
    """The parameter ``categorical_features`` of what the options say."""
    if not names:
        return "from_dtype"
    return "all" if list(names) == ["all"] else [file.find(name) for name in names]


def takes_size(method: str) -> bool:
    """Whether a method can be told how many columns to keep."""
    kind = METHODS.get(method)
    return kind is not None and "n_features_to_select" in inspect.signature(kind).parameters


def show_table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
    """Print a table: fitted to a terminal, in full width elsewhere."""
    console = Console()
    if not console.is_terminal:
        console.width = 10_000
    table = Table(box=None, pad_edge=False)
    for title in head:
        table.add_column(title, no_wrap=not console.is_terminal)
    for line in lines:
        table.add_row(*map(Text, line))
    console.print(table)


@contextmanager
def progress(title: str) -> Iterator[Listener]:
    """A bar on stderr where that is a terminal, nothing elsewhere."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=ERRORS, disable=not ERRORS.is_terminal, transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _value(text: str) -> Any:
    """A number, true, false, null, or the text itself."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def _near(wrong: str, known: Any) -> str:
    near = difflib.get_close_matches(wrong, list(known), n=2)
    return f" Did you mean {' or '.join(near)}?" if near else f" There are {', '.join(known)}."
