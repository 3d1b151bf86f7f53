"""The commands fit and predict: save a classifier and apply it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from slfs.cli.common import make_selector, read_labelled
from slfs.cli.options import (
    Categorical,
    Data,
    Drop,
    EscapeFormulas,
    Format,
    Id,
    Jobs,
    Json,
    Memory,
    Method,
    Missing,
    NoHeader,
    Setting,
    Sheet,
    Size,
    Target,
    TargetsFrom,
    Transpose,
)
from slfs.cli.output import NOTHING_SELECTED, progress, show_json, status
from slfs.cli.selection import explain_nothing


def fit(
    data: Data,
    model: Annotated[
        Path, typer.Option("--model", "-o", metavar="FILE", help="File to save the classifier to.")
    ],
    target: Target = None,
    method: Method = "slfs",
    n_features_to_select: Size = None,
    settings: Setting = None,
    structure: Annotated[
        str, typer.Option(metavar="NAME", help="Network structure: linked, augmented or tree.")
    ] = "linked",
    categorical: Categorical = None,
    drop: Drop = None,
    ids: Id = None,
    targets_from: TargetsFrom = None,
    transpose: Transpose = False,
    missing: Missing = None,
    no_header: NoHeader = False,
    sheet: Sheet = None,
    file_format: Format = None,
    bif: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write the network in the interchange format BIF."),
    ] = None,
    as_json: Json = False,
    n_jobs: Jobs = -1,
    memory_limit: Memory = None,
) -> None:
    """Select columns, then fit and save a classifier.

    The classifier is the Bayesian network that the selection has learned (BNSLFS).

    Example:  slfs fit cancer.csv --target diagnosis --model cancer.slfs
    """
    import numpy as np

    from slfs import BNSLFS
    from slfs._core.progress import progress_callback
    from slfs.files.writing import check_output
    from slfs.saving import save
    from slfs.saving.interchange import write_bif

    check_output(model, data)
    check_output(bif, data, model)
    file = read_labelled(
        data,
        target,
        file_format,
        missing=missing,
        drop=drop,
        ids=ids,
        targets_from=targets_from,
        transpose=transpose,
        no_header=no_header,
        sheet=sheet,
    )
    selector = make_selector(
        method,
        file,
        settings=settings,
        size=n_features_to_select,
        categorical=categorical,
        n_jobs=n_jobs,
        memory_limit=memory_limit,
    )
    with progress("fitting") as tick, progress_callback(tick):
        classifier = BNSLFS(selector, structure=structure).fit(file.X, np.asarray(file.y))
    selected = [file.names[column] for column in classifier.selector_.indices_]
    if selected:
        save(classifier, model)
        if bif is not None:
            write_bif(classifier, bif)
    if as_json:
        show_json(
            {
                "selected": selected,
                "data": file.name,
                "target": file.target,
                "ids": file.ids,
                "classes": [str(label) for label in classifier.classes_],
                "n_columns": file.X.shape[1],
                "model": str(model) if selected else None,
                "bif": str(bif) if bif is not None and selected else None,
            }
        )
    else:
        typer.echo(f"{file.name}: {len(selected)} of {file.X.shape[1]} columns selected.")
        for path in (model, bif):
            if path is not None and selected:
                typer.echo(f"Written: {path}")
    if not selected:
        explain_nothing(classifier.selector_, model)
        raise typer.Exit(NOTHING_SELECTED)


def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Model saved by 'slfs fit'.")],
    data: Data,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="File for the predictions; without it they are printed as CSV."
        ),
    ] = None,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", "-p", help="Also the probability of each class.")
    ] = False,
    escape_formulas: EscapeFormulas = False,
    missing: Missing = None,
    file_format: Format = None,
) -> None:
    """Predict the classes of new samples with a saved model.

    Columns are matched by name; additional columns, such as the target, are ignored.

    Example:  slfs predict cancer.slfs new.csv --out predictions.csv
    """
    import pandas as pd

    from slfs import BNSLFS
    from slfs.files.reading import read_file
    from slfs.files.writing import check_output, without_formulas, write_table
    from slfs.saving import load

    check_output(out, data, model, table=True)
    classifier = load(model)
    if not isinstance(classifier, BNSLFS):
        raise TypeError(
            f"{model} contains a {type(classifier).__name__}. Pass a model saved by 'slfs fit'."
        )
    with status("predicting"):
        text = _text_columns(classifier)
        file = read_file(data, file_format=file_format, missing=missing or (), text=text)
        table = _match_columns(file.in_memory(), classifier, file.name)
        found = pd.DataFrame({"prediction": classifier.predict(table)})
        if probabilities:
            shares = classifier.predict_proba(table)
            for index, label in enumerate(classifier.classes_):
                found[f"P({label})"] = shares[:, index]
    if out is None:
        shown = without_formulas(found) if escape_formulas else found
        shown.to_csv(sys.stdout, index=False)
    else:
        write_table(found, out, escape_formulas=escape_formulas)
        typer.echo(f"{len(found)} predictions. Written: {out}")


def _match_columns(table: Any, classifier: Any, source: str) -> Any:
    """Return the columns of a table that were seen in fit, in the order of the classifier."""
    import pandas as pd
    from scipy import sparse

    names = getattr(classifier, "feature_names_in_", None)
    if names is not None and isinstance(table, pd.DataFrame):
        lacking = [name for name in names if name not in table.columns]
        if lacking:
            raise ValueError(
                f"{source} is missing {len(lacking)} column(s) that were seen in fit: {lacking[:5]}."
            )
        table = _with_booleans(table[list(names)], classifier)
    if sparse.issparse(table) and table.shape[1] < classifier.n_features_in_:
        table.resize(table.shape[0], classifier.n_features_in_)  # svmlight files omit columns of zeros
    return table


def _text_columns(classifier: Any) -> list[str]:
    """The columns whose categories are text in the model, even if they look like numbers."""
    coding, names = classifier.selector_.network_counts_.coding, classifier.network_.names
    return [
        names[node]
        for node, levels in coding.categories.items()
        if all(isinstance(value, str) for value in levels)
    ]


def _with_booleans(table: Any, classifier: Any) -> Any:
    """Restore booleans in columns that pandas has read as text because of another value in them."""
    truth = {"true": True, "false": False}
    coding, table = classifier.selector_.network_counts_.coding, table.copy(deep=False)
    for node, name in enumerate(classifier.network_.names):
        known = all(isinstance(value, bool) for value in coding.categories.get(node, ()))
        if known and not coding.cut[node] and table[name].dtype.kind not in "biuf":
            table[name] = [truth.get(str(value).lower(), value) for value in table[name]]
    return table
