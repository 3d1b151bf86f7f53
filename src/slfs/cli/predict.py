"""The command predict: apply a saved classifier to new samples."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slfs.cli.options import (
    Data,
    EscapeFormulas,
    Format,
    Id,
    Missing,
    NoHeader,
    Sheet,
    Transpose,
)
from slfs.cli.output import label_key, plain_label, show_note, status

if TYPE_CHECKING:
    from slfs.classifiers.base import NetworkClassifier
    from slfs.files.data_file import DataFile

_REASONS = 3
"""Number of reasons for each prediction."""

_ROWS = 10_000
"""Number of samples that are explained at a time."""


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
    explain: Annotated[
        bool,
        typer.Option("--explain", help=f"Also the {_REASONS} main reasons for each prediction."),
    ] = False,
    ids: Id = None,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print one JSON object per sample, with the probabilities, and nothing else."
        ),
    ] = False,
    escape_formulas: EscapeFormulas = False,
    transpose: Transpose = False,
    missing: Missing = None,
    no_header: NoHeader = False,
    sheet: Sheet = None,
    file_format: Format = None,
) -> None:
    """Predict the classes of new samples with a saved model.

    Columns are matched by name. Only the columns that the model uses are needed; others, such as the
    target, are ignored. Values that were not seen in fit carry no information.

    Example:  slfs predict cancer.slfs new.csv --out predictions.csv
    """
    from slfs._core.warn import quiet
    from slfs.files.data_file import ColumnNote
    from slfs.files.reading import read_file
    from slfs.files.writing import check_output, keeps_types, without_formulas, write_table

    check_output(out, inputs=[data, model], table=True)
    classifier = _load(model, data)
    with status("predicting"):
        file = read_file(
            data,
            ids=ids or (),
            file_format=file_format,
            missing=[*(missing or ()), *getattr(classifier, "_missing_texts", ())],
            text=_text_columns(classifier),
            header=not no_header,
            sheet=sheet,
            transpose=transpose,
            allow_empty=True,
        )
        _check_ids(file, _output_names(classifier, out, probabilities, explain, as_json))
        needed, table = _match_columns(classifier, file)
        labels = needed.predict(table)
        with quiet():  # the same warnings again
            shares = needed.predict_proba(table) if probabilities or as_json else None
            reasons = _reasons(needed, table) if explain else None
    for note in file.notes:
        if not isinstance(note, ColumnNote):  # how columns are used is up to the model
            show_note(note)
    names = _ids(file, typed=keeps_types(out))
    if out is not None or not as_json:
        shown = shares if probabilities else None
        found = _as_frame(names, labels, classifier.classes_, shown, reasons)
        if out is not None:
            write_table(found, out, escape_formulas=escape_formulas)
        else:
            found = without_formulas(found) if escape_formulas else found
            found.to_csv(sys.stdout, index=False)
    if as_json:
        _print_lines(names, labels, classifier.classes_, shares, reasons)
    elif out is not None:
        typer.echo(f"{len(found)} predictions. Written: {out}")


Reasons = list[list[tuple[str, str, float]]]


def _load(model: Path, data: str) -> NetworkClassifier:
    """Load a classifier; errors say what is wrong with the file."""
    from slfs.classifiers.base import NetworkClassifier
    from slfs.files.reading import existing_file
    from slfs.saving import ModelFileError, load

    existing_file(str(model))
    try:
        classifier = load(model)
    except ModelFileError as error:
        swapped = Path(data).suffix == ".slfs"
        hint = " The model comes first: slfs predict MODEL DATA." if swapped else ""
        raise ValueError(f"{error}{hint}") from error
    if not isinstance(classifier, NetworkClassifier):
        raise TypeError(
            f"{model} contains a {type(classifier).__name__}, which cannot predict. Pass a model saved "
            "by 'slfs fit'."
        )
    return classifier


def _output_names(
    classifier: NetworkClassifier, out: Path | None, probabilities: bool, explain: bool, as_json: bool
) -> list[str]:
    """The names of the columns, or the keys, that are written next to the ids."""
    names = ["prediction"]
    if as_json:
        names += ["probabilities", *(["reasons"] if explain else [])]
    if out is not None or not as_json:
        names += [f"P({label})" for label in classifier.classes_] if probabilities else []
        names += [f"reason {position + 1}" for position in range(_REASONS)] if explain else []
    return names


def _check_ids(file: DataFile, names: list[str]) -> None:
    """Raise an error if an id has the name of another column of the output."""
    for name in file.ids:
        if name in names:
            raise ValueError(
                f"The id column {name!r} of {file.name} has the name of a column of the output. Rename "
                f"it in {file.name}, or remove --id {name!r}."
            )


def _match_columns(classifier: NetworkClassifier, file: DataFile) -> tuple[NetworkClassifier, Any]:
    """Return the classifier, reduced to the columns that it uses, and a table of these columns."""
    import numpy as np
    import pandas as pd

    from slfs.files.data_file import some_names

    names = getattr(classifier, "feature_names_in_", None)
    n_samples, n_features = file.X.shape
    if len(classifier.network_) == 0:  # it predicts the class frequencies, whatever the columns
        nothing = np.zeros((n_samples, classifier.n_features_in_))
        return classifier, nothing if names is None else pd.DataFrame(nothing, columns=names)
    reduced = classifier.reduce()
    if names is None or hasattr(file.X, "tocsr"):
        if hasattr(file.X, "tocsr") and n_features < classifier.n_features_in_:
            file.X.resize(n_samples, classifier.n_features_in_)  # svmlight omits columns of zeros
        elif n_features != classifier.n_features_in_:
            raise ValueError(
                f"{file.name} has {n_features} columns; the model has no column names and expects "
                f"{classifier.n_features_in_} columns."
            )
        part = file.take(np.sort(classifier.network_.columns))
        return reduced, part.to_numpy() if names is None and isinstance(part, pd.DataFrame) else part
    indices = {name: index for index, name in enumerate(file.names)}
    lacking = [name for name in reduced.feature_names_in_ if name not in indices]
    if lacking:
        as_ids = " Columns given by --id are not features." if set(lacking) & set(file.ids) else ""
        raise ValueError(
            f"{file.name} is missing {len(lacking)} of the {len(classifier.network_)} columns that the "
            f"model uses: {some_names(lacking)}.{as_ids}"
        )
    part = file.take(np.array([indices[name] for name in reduced.feature_names_in_], np.int64))
    return reduced, _with_types(part, reduced)


def _text_columns(classifier: NetworkClassifier) -> list[str]:
    """The columns whose categories are text in the model, even if they look like numbers."""
    return [
        classifier.network_.names[node]
        for node, levels in classifier._coding.categories.items()
        if all(isinstance(value, str) for value in levels)
    ]


def _with_types(table: Any, classifier: NetworkClassifier) -> Any:
    """Restore booleans and dates in columns that were read as text because of another value in them."""
    from slfs.files.inference import restore_dates
    from slfs.tables.dates import TimeKind

    truth = {"true": True, "false": False}
    coding, table = classifier._coding, table.copy(deep=False)
    for node, name in enumerate(classifier.network_.names):
        if coding.time_kind(node) == TimeKind.DATE:
            table[name] = restore_dates(table[name])
        known = all(isinstance(value, bool) for value in coding.categories.get(node, ()))
        if known and not coding.cut[node] and table[name].dtype.kind not in "biuf":
            table[name] = [truth.get(str(value).lower(), value) for value in table[name]]
    return table


def _reasons(classifier: NetworkClassifier, table: Any) -> Reasons:
    """The main reasons for each prediction, in blocks of rows to save memory."""
    import numpy as np

    from slfs._compat import safe_indexing

    found: Reasons = []
    for first in range(0, table.shape[0], _ROWS):
        rows = np.arange(first, min(first + _ROWS, table.shape[0]))
        found += classifier.explain_prediction(safe_indexing(table, rows)).reasons(_REASONS)
    return found


def _ids(file: DataFile, *, typed: bool) -> Any:
    """The id columns as a DataFrame, with the values that the file has."""
    import pandas as pd

    if not file.ids:
        return pd.DataFrame(index=range(file.X.shape[0]))
    if file.read_originals is None:
        raise ValueError(f"{file.name} has no columns of ids. Remove --id.")
    return file.originals([], typed=typed).reset_index(drop=True)


def _as_frame(ids: Any, labels: Any, classes: Any, shares: Any, reasons: Reasons | None) -> Any:
    """One row per sample: ids, prediction, probabilities, reasons."""
    import pandas as pd

    found = pd.DataFrame({"prediction": labels})
    if shares is not None:
        for index, label in enumerate(classes):
            found[f"P({label})"] = shares[:, index]
    if reasons is not None:
        for position in range(_REASONS):
            texts = [
                "{}: {} ({:+.2f})".format(*own[position]) if position < len(own) else None
                for own in reasons
            ]
            found[f"reason {position + 1}"] = pd.Series(texts, dtype=object)
    return pd.concat([ids, found], axis=1)


def _print_lines(ids: Any, labels: Any, classes: Any, shares: Any, reasons: Reasons | None) -> None:
    """Print one JSON object per sample."""
    keys = list(map(label_key, classes))
    own_ids = ids.astype(object).where(ids.notna(), None).to_dict("records")
    for sample, (label, own) in enumerate(zip(labels.tolist(), own_ids, strict=True)):
        record: dict[str, Any] = {
            **own,
            "prediction": plain_label(label),
            "probabilities": dict(zip(keys, shares[sample].tolist(), strict=True)),
        }
        if reasons is not None:
            record["reasons"] = [
                {"feature": name, "value": level, "evidence": evidence}
                for name, level, evidence in reasons[sample]
            ]
        typer.echo(json.dumps(record, ensure_ascii=False, default=str))
