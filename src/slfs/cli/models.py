"""Commands that save a classifier and apply it: fit, predict."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from scipy import sparse

from slfs import BNSLFS
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
    Setting,
    Size,
    Target,
    make_selector,
    progress,
    read_labelled,
)
from slfs.files.reading import read_file
from slfs.files.writing import check_output, without_formulas, write_table


def fit(
    data: Data,
    model: Annotated[Path, typer.Option("--model", "-o", help="File to save the classifier in.")],
    target: Target = None,
    method: Method = "slfs",
    features: Size = None,
    settings: Setting = None,
    structure: Annotated[str, typer.Option(help="linked, augmented or tree.")] = "linked",
    categorical: Categorical = None,
    drop: Drop = None,
    missing: Missing = None,
    file_format: Format = None,
    bif: Annotated[Path | None, typer.Option(help="Write the network for other programs (BIF).")] = None,
    n_jobs: Jobs = -1,
    memory_limit: Memory = None,
) -> None:
    """Select columns and save the classifier that comes with them.

    Example:  slfs fit cancer.csv --target diagnosis --model cancer.slfs
    """
    from slfs.saving import save
    from slfs.saving.interchange import write_bif

    check_output(model, data)
    check_output(bif, data, model)
    file = read_labelled(data, target, file_format, missing, drop)
    selector = make_selector(method, settings, features, categorical, n_jobs, file, memory_limit)
    with progress("fitting") as tick, progress_callback(tick):
        classifier = BNSLFS(selector, structure=structure).fit(file.X, np.asarray(file.y))
    save(classifier, model)
    if bif is not None:
        write_bif(classifier, bif)
    kept = classifier.selector_.n_features_
    typer.echo(f"{file.name}: {kept} of {file.X.shape[1]} columns selected. Written: {model}")


def predict(
    model: Annotated[Path, typer.Argument(help="A model that 'slfs fit' has saved.")],
    data: Data,
    out: Annotated[
        Path | None, typer.Option(help="File for the predictions; by default they are printed as CSV.")
    ] = None,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", "-p", help="Probabilities of all classes as well.")
    ] = False,
    escape_formulas: EscapeFormulas = False,
    missing: Missing = None,
    file_format: Format = None,
) -> None:
    """Predict the classes of new rows with a saved model.

    Columns are found by name; others in the file, such as the target, do no harm.

    Example:  slfs predict cancer.slfs new.csv --out predictions.csv
    """
    import pandas as pd

    from slfs.saving import load

    check_output(out, data, model, table=True)
    classifier = load(model)
    if not isinstance(classifier, BNSLFS):
        raise TypeError(f"{model} holds a {type(classifier).__name__}, not what 'slfs fit' saves.")
    with ERRORS.status("predicting"):
        file = read_file(
            data, file_format=file_format, missing=missing or (), text=_text_columns(classifier)
        )
        table = file.in_memory()
        names = getattr(classifier, "feature_names_in_", None)
        if names is not None and isinstance(table, pd.DataFrame):
            lacking = [name for name in names if name not in table.columns]
            if lacking:
                raise ValueError(
                    f"{file.name} lacks {len(lacking)} column(s) that the model needs: {lacking[:5]}."
                )
            table = _with_booleans(table[list(names)], classifier)
        if sparse.issparse(table) and table.shape[1] < classifier.n_features_in_:
            table.resize(table.shape[0], classifier.n_features_in_)  # the last columns are all zero here
        found = pd.DataFrame({"prediction": classifier.predict(table)})
        if probabilities:
            shares = classifier.predict_proba(table)
            for place, label in enumerate(classifier.classes_):
                found[f"P({label})"] = shares[:, place]
    if out is None:
        shown = without_formulas(found) if escape_formulas else found
        shown.to_csv(sys.stdout, index=False)
    else:
        write_table(found, out, escape_formulas=escape_formulas)
        typer.echo(f"{len(found)} predictions. Written: {out}")


def _text_columns(classifier: Any) -> list[str]:
    """The columns whose values the model knows as text: 1 and 2 may be names."""
    coding, names = classifier.selector_.network_counts_.coding, classifier.network_.names
    return [
        names[node]
        for node, levels in coding.categories.items()
        if all(isinstance(value, str) for value in levels)
    ]


def _with_booleans(table: Any, classifier: Any) -> Any:
    """A table whose truth values are such even where another cell of their column is text."""
    truth = {"true": True, "false": False}
    coding, table = classifier.selector_.network_counts_.coding, table.copy(deep=False)
    for node, name in enumerate(classifier.network_.names):
        known = all(isinstance(value, bool) for value in coding.categories.get(node, ()))
        if known and not coding.cut[node] and table[name].dtype.kind not in "biuf":
            table[name] = [truth.get(str(value).lower(), value) for value in table[name]]
    return table
