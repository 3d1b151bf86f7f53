"""The command predict: apply a saved classifier or regressor to new samples."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slfs._core.rounding import short_number
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
from slfs.cli.output import label_key, show_csv, show_json, show_note, status

if TYPE_CHECKING:
    from slfs.classifiers.model import NetworkModel
    from slfs.files.data_file import DataFile

_REASONS = 3
"""Number of reasons for each prediction."""

_LONGEST = 80
"""Maximum number of characters of a value in a reason, except in JSON."""

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
    coverage: Annotated[
        float | None,
        typer.Option(
            metavar="P",
            help="Share of the samples whose quantity is in the predicted interval [default: 0.9].",
        ),
    ] = None,
    explain: Annotated[
        bool,
        typer.Option("--explain", help=f"Also the {_REASONS} main reasons for each prediction."),
    ] = False,
    ids: Id = None,
    targets_from: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="File with columns that the model uses and DATA lacks, as in 'slfs fit'; rows are "
            "matched by --id.",
        ),
    ] = None,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="Print one JSON object per sample, with probabilities or interval, and nothing else.",
        ),
    ] = False,
    escape_formulas: EscapeFormulas = False,
    transpose: Transpose = False,
    missing: Missing = None,
    no_header: NoHeader = False,
    sheet: Sheet = None,
    file_format: Format = None,
) -> None:
    """Predict the targets of new samples with a saved model.

    Columns are matched by name. Only the columns that the model uses are needed; others, such as the
    target, are ignored. Values that were not seen in fit carry no information, except new texts among
    texts that mostly occurred once. A predicted quantity has an interval, from "lower" to "upper".

    Example:  slfs predict cancer.slfs new.csv --out predictions.csv
    """
    from slfs._core.warn import quiet
    from slfs.files.data_file import ColumnNote, HeaderNote
    from slfs.files.reading import read_file
    from slfs.files.source import format_of, is_cohort
    from slfs.files.writing import JSON_KINDS, check_output, kinds_of, without_formulas, write_table

    check_output(out, inputs=[data, model], table=True)
    fitted = _load(model, data)
    _check_options(fitted, probabilities, coverage)
    reading = getattr(fitted, "_reading", {})
    marks = [*(missing or ()), *reading.get("missing", ())]
    genotypes = is_cohort(data, file_format)
    if sheet is None and format_of(data, file_format).name == "anndata":
        sheet = reading.get("layer")
    used: list[str] = []
    if (genotypes or targets_from is not None) and len(fitted.network_):
        used = list(fitted.reduce().feature_names_in_)
    with status("predicting"):
        file = read_file(
            data,
            targets_from=None if genotypes else targets_from,
            covariates=() if genotypes else used,
            ids=ids or (),
            file_format=file_format,
            missing=marks,
            text=_text_columns(fitted),
            header=not no_header,
            sheet=sheet,
            transpose=transpose,
            allow_empty=True,
            decimal=reading.get("decimal", "."),
            like=reading.get("like"),
        )
        if genotypes:
            file = _with_covariates(used, file, targets_from, ids or (), marks)
        _check_ids(file, _output_names(fitted, out, probabilities, explain, as_json))
        source = _Source(targets_from, transpose=transpose, header=not no_header)
        needed, table = _match_columns(fitted, file, source)
        labels = needed.predict(table)
        with quiet():  # the same warnings again
            more, objects = _further(needed, table, probabilities, 0.9 if coverage is None else coverage)
            reasons = _reasons(needed, table) if explain else None
    # how columns are used is up to the model, and names that it has found are no data
    settled = (ColumnNote, HeaderNote) if hasattr(needed, "feature_names_in_") else ColumnNote
    for note in file.notes:
        if not isinstance(note, settled):
            show_note(note)
    if out is not None or not as_json:
        found = _as_frame(_ids(file, kinds_of(out)), labels, more, reasons)
        found.attrs |= file.style  # as the file is written
        if out is not None:
            if file.form == "tsv":  # .csv has commas instead
                del found.attrs["separator"]
            write_table(found, out, escape_formulas=escape_formulas)
        else:
            found = without_formulas(found) if escape_formulas else found
            show_csv(found)
    if as_json:
        _print_lines(_ids(file, JSON_KINDS), labels, objects, reasons)
    elif out is not None:
        typer.echo(f"{len(found)} predictions. Written: {out}")


Reasons = list[list[tuple[str, str, float]]]


def _with_covariates(
    used: Sequence[str], file: DataFile, source: str | None, ids: Sequence[str], missing: Sequence[str]
) -> DataFile:
    """Add the columns that a model uses to genotypes, from the files about their samples."""
    from slfs.files.about import read_about
    from slfs.files.cohort import with_covariates
    from slfs.files.reading import read_file

    read = functools.partial(read_file, sheet_with=used)
    about = None if source is None else read_about(source, read, missing, file.X)
    return with_covariates(file, about, used, ids)


def _check_options(fitted: Any, probabilities: bool, coverage: float | None) -> None:
    """Raise an error if an option does not fit the model, and warn if a coverage is too large."""
    if hasattr(fitted, "predict_interval"):
        if probabilities:
            raise ValueError("--probabilities is for classifiers, but the model predicts a quantity.")
        if coverage is not None and not 0 < coverage < 1:
            raise ValueError(f"--coverage must be between 0 and 1. Got {coverage:g} instead.")
        if coverage is not None:
            fitted._warn_about_coverage(coverage)
    elif coverage is not None:
        raise ValueError("--coverage is for quantities, but the model predicts classes.")


def _further(
    fitted: Any, table: Any, probabilities: bool, coverage: float
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """What is written next to the predictions: columns of a table, and one JSON object per sample."""
    if hasattr(fitted, "predict_interval"):
        lower, upper = fitted.predict_interval(table, coverage).T
        ends = zip(lower.tolist(), upper.tolist(), strict=True)
        return {"lower": lower, "upper": upper}, [{"lower": low, "upper": high} for low, high in ends]
    shares, keys = fitted.predict_proba(table), list(map(label_key, fitted.classes_))
    columns = {f"P({label})": share for label, share in zip(fitted.classes_, shares.T, strict=True)}
    objects = [{"probabilities": dict(zip(keys, own, strict=True))} for own in shares.tolist()]
    return columns if probabilities else {}, objects


def _load(model: Path, data: str) -> NetworkModel:
    """Load a model; errors say what is wrong with the file."""
    from slfs.classifiers.model import NetworkModel
    from slfs.files.source import existing_file
    from slfs.saving import ModelFileError, load

    existing_file(str(model))
    try:
        fitted = load(model)
    except ModelFileError as error:
        swapped = Path(data).suffix == ".slfs"
        hint = " The model comes first: slfs predict MODEL DATA." if swapped else ""
        raise ValueError(f"{error}{hint}") from error
    if not isinstance(fitted, NetworkModel):
        raise TypeError(
            f"{model} contains a {type(fitted).__name__}, which cannot predict. Pass a model saved "
            "by 'slfs fit'."
        )
    return fitted


def _output_names(
    fitted: Any, out: Path | None, probabilities: bool, explain: bool, as_json: bool
) -> list[str]:
    """The names of the columns, or the keys, that are written next to the ids."""
    regression = hasattr(fitted, "predict_interval")
    names = ["prediction", *(["lower", "upper"] if regression else [])]
    if as_json:
        names += [*(["reasons"] if explain else []), *([] if regression else ["probabilities"])]
    if out is not None or not as_json:
        names += [f"P({label})" for label in fitted.classes_] if probabilities else []
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


@dataclass(frozen=True)
class _Source:
    """How the user says that a file is read."""

    targets_from: str | None
    transpose: bool
    header: bool


def _match_columns(fitted: NetworkModel, file: DataFile, source: _Source) -> tuple[NetworkModel, Any]:
    """Return the model, reduced to the columns that it uses, and a table of these columns."""
    import numpy as np
    import pandas as pd

    from slfs.files.columns import FileColumns
    from slfs.files.data_file import some_names
    from slfs.tables.alleles import recounted

    names = getattr(fitted, "feature_names_in_", None)
    n_samples, n_features = file.X.shape
    nothing_to_read = n_samples == n_features == 0  # JSON without rows
    if len(fitted.network_) == 0 or nothing_to_read:  # class frequencies, whatever the columns
        nothing = np.zeros((n_samples, fitted.n_features_in_))
        return fitted, nothing if names is None else pd.DataFrame(nothing, columns=names)
    reduced = fitted.reduce()
    if names is not None and hasattr(file.X, "tocsr"):
        return reduced, _named_columns(file, reduced, names.tolist())
    if names is None:
        if hasattr(file.X, "tocsr") and n_features < fitted.n_features_in_:
            file.X.resize(n_samples, fitted.n_features_in_)  # svmlight omits columns of zeros
        elif n_features != fitted.n_features_in_:
            raise ValueError(
                f"{file.name} has {n_features} columns; the model has no column names and expects "
                f"{fitted.n_features_in_} columns. The columns of an svmlight file are counted from 0 "
                "on: fit the model to a file of the same format."
            )
        part = file.take(np.sort(fitted.network_.columns))
        return reduced, part.to_numpy() if isinstance(part, pd.DataFrame) else part
    if isinstance(file.X, FileColumns):
        known = set(file.X.index_names) - set(file.names)
        added = [name for name in reduced.feature_names_in_ if name in known]
        file = replace(file, X=file.X.including(added))
    indices = {name: index for index, name in enumerate(file.names)}
    lacking = [name for name in reduced.feature_names_in_ if name not in indices]
    if lacking:
        remedy = _remedy(fitted, file, lacking, source)
        raise ValueError(
            f"{file.name} is missing {len(lacking)} of the {len(fitted.network_)} columns that the "
            f"model uses: {some_names(lacking)}.{remedy}"
        )
    columns, nodes = (
        np.array([indices[name] for name in names], np.int64)
        for names in (reduced.feature_names_in_, reduced.network_.names)
    )
    # a frame does not know which alleles it counts, so this cannot wait for predict
    table: Any = recounted(file.X, reduced._coding.alleles, nodes)
    part = file.take(columns) if table is file.X else table.take(columns)
    return reduced, part


def _named_columns(file: DataFile, reduced: NetworkModel, names: list[str]) -> Any:
    """Return the columns of a sparse array that a model uses, which was fitted to a dense one."""
    import pandas as pd

    if file.form == "svmlight":
        raise ValueError(
            f"{file.name} has no names of columns, but the model was fitted to a table with names. The "
            "first column of an svmlight file may have the number 0 or 1, so that columns cannot be "
            "matched by position. Predict from a table with the names, or fit the model to an svmlight "
            "file."
        )
    if file.names != names:  # x0, x1, ... in arrays without names
        raise ValueError(
            f"{file.name} has {len(file.names)} columns without names, but the model was fitted to a "
            f"table of {len(names)} columns with names, such as {names[0]!r}. Predict from a table with "
            "these names."
        )
    columns = [names.index(name) for name in reduced.feature_names_in_]
    return pd.DataFrame(file.X[:, columns].toarray(), columns=reduced.feature_names_in_)


def _remedy(fitted: NetworkModel, file: DataFile, lacking: list[str], source: _Source) -> str:
    """Where the columns that a file lacks may come from."""
    from slfs.files.data_file import HeaderNote
    from slfs.files.remarks import header_below

    if (used := [name for name in file.ids if name in lacking]) and not source.transpose:
        return f" Features are not ids: leave {', '.join(map(repr, used))} out of --id."
    spelled = {name.strip().lower(): name for name in file.names}
    alike = {name: spelled[name.strip().lower()] for name in lacking if name.strip().lower() in spelled}
    if alike:
        shown = ", ".join(f"{other!r} to {name!r}" for name, other in list(alike.items())[:5])
        return f" Rename {shown}{', ...' if len(alike) > 5 else ''}."
    if file.read_originals is not None and file.all_names:
        unnamed = any(name.startswith("Unnamed: ") for name in file.all_names)
        wanted = file.all_names if unnamed or not source.header else file.all_names[:1]
        table = file.read_originals(wanted)
        if not source.header and set(lacking) <= set(map(str, table.iloc[:1].to_numpy().ravel())):
            return " They are in its first row. Remove --no-header."
        if not source.transpose and (hint := header_below(lacking[0], table)):
            return f" {hint}"
        first = set(map(str, table.iloc[:, 0]))
        most = 2 * len(set(lacking) & first) > len(lacking)
        if most and source.transpose:
            return " They are the samples. If the samples of the file are in rows, remove --transpose."
        if most:
            return " They are in its first column. If the samples are in columns, add --transpose."
    if "like" in getattr(fitted, "_reading", {}):
        return " The model was fitted with --no-header. If the file has no header either, add it."
    if not source.header or any(isinstance(note, HeaderNote) for note in file.notes):
        return " If the file has no header, add one with the names of the columns."
    if source.targets_from is not None:
        return f" {source.targets_from} does not have them either."
    return " Another file with them and the ids of the samples can be passed as --targets-from."


def _text_columns(fitted: NetworkModel) -> list[str]:
    """The columns whose categories are text in the model, even if they look like numbers."""
    return [
        fitted.network_.names[node]
        for node, levels in fitted._coding.categories.items()
        if all(isinstance(value, str) for value in levels)
    ]


def _reasons(fitted: NetworkModel, table: Any) -> Reasons:
    """The main reasons for each prediction, in blocks of rows to save memory."""
    import numpy as np

    from slfs._compat import safe_indexing

    found: Reasons = []
    for first in range(0, table.shape[0], _ROWS):
        rows = np.arange(first, min(first + _ROWS, table.shape[0]))
        found += fitted.explain_prediction(safe_indexing(table, rows)).reasons(_REASONS)
    return found


def _ids(file: DataFile, kinds: str) -> Any:
    """The id columns as a DataFrame, with the values that the file has."""
    import pandas as pd

    if not file.ids:
        return pd.DataFrame(index=range(file.X.shape[0]))
    return file.originals([], kinds=kinds).reset_index(drop=True)


def _as_frame(ids: Any, labels: Any, more: dict[str, Any], reasons: Reasons | None) -> Any:
    """One row per sample: ids, prediction, probabilities or interval, reasons."""
    import pandas as pd

    found = pd.DataFrame({"prediction": labels, **more})
    if reasons is not None:
        quantity = "lower" in more  # or nats
        for position in range(_REASONS):
            texts = [
                _reason(*own[position], quantity=quantity) if position < len(own) else None
                for own in reasons
            ]
            found[f"reason {position + 1}"] = pd.Series(texts, dtype=object)
    return pd.concat([ids, found], axis=1)


def _reason(name: str, level: str, evidence: float, *, quantity: bool) -> str:
    number = short_number(evidence, sign="+") if quantity else f"{evidence:+.2f}"
    level = level if len(level) <= _LONGEST else f"{level[:_LONGEST]}..."
    return f"{name}: {level} ({number})"


def _print_lines(ids: Any, labels: Any, more: list[dict[str, Any]], reasons: Reasons | None) -> None:
    """Print one JSON object per sample."""
    own_ids = ids.astype(object).where(ids.notna(), None).to_dict("records")
    own_ids = own_ids or [{}] * len(labels)  # pandas 2 has no records of a table without columns
    for sample, (label, own) in enumerate(zip(labels.tolist(), own_ids, strict=True)):
        record: dict[str, Any] = {**own, "prediction": label, **more[sample]}
        key = "contribution" if "lower" in more[sample] else "evidence"
        if reasons is not None:
            record["reasons"] = [
                {"feature": name, "value": level, key: evidence}
                for name, level, evidence in reasons[sample]
            ]
        show_json(record, default=str)
