"""Commands that need no data file: methods, datasets, demo."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from slfs.cli.common import timed_fit
from slfs.cli.options import Json
from slfs.cli.output import show_json, show_table


def methods(as_json: Json = False) -> None:
    """List the selection methods that --method accepts.

    Example:  slfs methods
    """
    from slfs.selectors import selectors

    head, lines = ["method", "class", "description"], []
    for name, kind in selectors().items():
        summary = (kind.__doc__ or "").strip().partition("\n")[0]
        lines.append([name, kind.__name__, summary])
    if as_json:
        show_json({"methods": [dict(zip(head, line, strict=True)) for line in lines]})
    else:
        show_table(head, lines)


def datasets(as_json: Json = False) -> None:
    """List the datasets of the paper and where they are stored.

    Example:  SLFS_DATA=~/data slfs datasets
    """
    from slfs.datasets.paper import DATASETS, FOLDER_VARIABLE, find

    lines, records = [], []
    for entry in DATASETS.values():
        path = find(entry.name)
        sizes = {name: getattr(entry, name) for name in ("n_samples", "n_features", "n_classes")}
        location = None if path is None else str(path)
        records.append({"name": entry.name, **sizes, "location": location, "openml": entry.openml})
        numbers = (entry.n_samples, entry.n_features, entry.n_classes)
        where = str(path) if path else f"not here; OpenML {entry.openml}"
        lines.append([entry.name, *map(str, numbers), where])
    if as_json:
        show_json({"datasets": records})
        return
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
    as_json: Json = False,
) -> None:
    """Run an example: select columns of the breast cancer data.

    Shows the selected columns, the tree, an explanation and the accuracy.

    Example:  slfs demo report.html
    """
    from sklearn.datasets import load_breast_cancer

    from slfs import SLFS
    from slfs.evaluation import compare_accuracy
    from slfs.files.writing import check_output
    from slfs.report import make_facts, write_report

    check_output(report)
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    y = y.map({0: "malignant", 1: "benign"}).rename("diagnosis")
    selector = SLFS(n_jobs=-1)
    run = timed_fit(selector, X, y)
    accuracy = compare_accuracy(selector, X, y)
    about: dict[str, Any] = {"data": "breast cancer", "accuracy": accuracy, **run}
    if report is not None:
        write_report(selector, report, **about)
    if as_json:
        selected = X.columns[selector.indices_].tolist()
        show_json({"selected": selected, "target": y.name, **make_facts(selector, **about)})
        return
    size = f"{X.shape[0]} samples x {X.shape[1]} columns"
    typer.echo(f"Breast cancer, {size}: {selector.n_features_} selected.\n")
    kept = selector.features_[selector.indices_]
    lines = [[record["name"], record["role"], f"{record['relevance']:.3f}"] for record in kept]
    show_table(["column", "role", "relevance (nats)"], lines, right=["relevance (nats)"])
    dropped = selector.features_[~selector.support_]
    example = dropped[dropped["relevance"].argmax()]["name"]
    typer.echo(f"\n{selector.network_}\n\n{selector.explain(example)}\n")
    scores = [
        [model["name"], f"{100 * model['mean']:.1f} ± {100 * model['std']:.1f}"]
        for model in accuracy["models"]
    ]
    title = f"accuracy in %, {accuracy['n_splits']}-fold cross-validation"
    show_table(["classifier", title], scores)
    typer.echo(f"\nSelection took {run['seconds']:.2f} s.")
    if report is not None:
        typer.echo(f"Written: {report}. Open it in a browser.")
