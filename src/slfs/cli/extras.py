"""Commands that need no data file: methods, datasets, demo."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from slfs.cli.common import timed_fit
from slfs.cli.output import show_table


def methods() -> None:
    """List the selection methods that --method accepts.

    Example:  slfs methods
    """
    from slfs.selectors import selectors

    lines = []
    for name, kind in selectors().items():
        summary = (kind.__doc__ or "").strip().partition("\n")[0]
        lines.append([name, kind.__name__, summary])
    show_table(["method", "class", "description"], lines)


def datasets() -> None:
    """List the datasets of the paper and where they are stored.

    Example:  SLFS_DATA=~/data slfs datasets
    """
    from slfs.datasets.paper import DATASETS, FOLDER_VARIABLE, find

    lines = []
    for entry in DATASETS.values():
        path = find(entry.name)
        numbers = (entry.n_samples, entry.n_features, entry.n_classes)
        where = str(path) if path else f"not here; OpenML {entry.openml}"
        lines.append([entry.name, *map(str, numbers), where])
    numbers_head = ["samples", "columns", "classes"]
    show_table(["name", *numbers_head, "location"], lines, right=numbers_head)
    typer.echo(
        "\nIn Python, slfs.datasets.load(name) loads a dataset and downloads it if necessary.\n"
        f"{FOLDER_VARIABLE} may name a folder with the datasets as .npz files."
    )


def demo(
    report: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="Write a report to this file (HTML).")
    ] = None,
) -> None:
    """Run an example: select columns of the breast cancer data.

    Shows the selected columns, the tree, an explanation and the accuracy.

    Example:  slfs demo report.html
    """
    from sklearn.datasets import load_breast_cancer

    from slfs import SLFS
    from slfs.evaluation import compare_accuracy
    from slfs.files.writing import check_output
    from slfs.report import write_report

    check_output(report)
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    y = y.map({0: "malignant", 1: "benign"}).rename("diagnosis")
    selector = SLFS(n_jobs=-1)
    seconds = timed_fit(selector, X, y)
    size = f"{X.shape[0]} samples x {X.shape[1]} columns"
    typer.echo(f"Breast cancer, {size}: {selector.n_features_} selected in {seconds:.2f} s.\n")
    kept = selector.features_[selector.indices_]
    lines = [[record["name"], record["role"], f"{record['relevance']:.3f}"] for record in kept]
    show_table(["column", "role", "relevance (nats)"], lines, right=["relevance (nats)"])
    dropped = selector.features_[~selector.support_]
    example = dropped[dropped["relevance"].argmax()]["name"]
    typer.echo(f"\n{selector.network_}\n\n{selector.explain(example)}\n")
    accuracy = compare_accuracy(selector, X, y)
    scores = [
        [model["name"], f"{100 * model['mean']:.1f} ± {100 * model['std']:.1f}"]
        for model in accuracy["models"]
    ]
    title = f"accuracy in %, {accuracy['n_splits']}-fold cross-validation"
    show_table(["classifier", title], scores)
    if report is not None:
        write_report(selector, report, data="breast cancer", accuracy=accuracy, seconds=seconds)
        typer.echo(f"\nWritten: {report}. Open it in a browser.")
