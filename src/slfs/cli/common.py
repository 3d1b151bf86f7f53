"""Options -> a file that was read and a selector that can be fitted."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from slfs._core.suggest import similar_names
from slfs.cli.output import show_note, status

if TYPE_CHECKING:
    from slfs.files.data_file import DataFile


def read_labelled(
    source: str,
    target: str | None,
    file_format: str | None,
    *,
    missing: Sequence[str] | None = None,
    drop: Sequence[str] | None = None,
    ids: Sequence[str] | None = None,
    targets_from: str | None = None,
    drop_missing_target: bool = False,
    transpose: bool = False,
    no_header: bool = False,
    sheet: str | None = None,
    column: str | None = None,
    weights: str | None = None,
    groups: str | None = None,
    takes_groups: bool = True,
    covariates: Sequence[str] = (),
    target_type: str = "auto",
) -> DataFile:
    """Read a file that must have class labels, and show what the user should know about it.

    With ``column``, remarks about other columns are not shown. ``weights`` is the column of the sample
    weights, ``groups`` that of the groups of rows, an option that not all commands take
    (``takes_groups``). ``covariates`` are columns that other options name:
    annotations of the samples, or columns of the file of the target. With the ``target_type``
    "classification", a few numbers with fractional parts are labels.
    """
    from slfs.files.about import FAMILY
    from slfs.files.cohort import own_phenotype, with_family_groups
    from slfs.files.data_file import ColumnNote, split_names
    from slfs.files.genotypes import GenotypeColumns
    from slfs.files.reading import read_file

    with status("reading"):
        file = read_file(
            source,
            target=target,
            targets_from=targets_from,
            ids=ids or (),
            file_format=file_format,
            missing=missing or (),
            drop=drop or (),
            header=not no_header,
            sheet=sheet,
            transpose=transpose,
            covariates=[*covariates, *(column for column in (weights, groups) if column is not None)],
        )
    if file.y is None and isinstance(file.X, GenotypeColumns):
        file = own_phenotype(file)
    if weights is not None:
        file = file.with_column_as("weights", weights)
    if groups is not None:  # they may be conditioned on as well
        used = [file.all_names[file.locate(one)] for one in split_names(covariates, file.all_names)]
        own = file.all_names[file.locate(groups)]
        file = file.with_column_as("groups", own, keep_column=own in used)
        if own == FAMILY and isinstance(file.X, GenotypeColumns):
            file = with_family_groups(file)
    notes = []
    if file.y is not None:
        notes = _note_missing_labels(file, missing or (), dropped=drop_missing_target)
    if drop_missing_target and file.y is not None:
        file = file.with_target_only()
    name = None if column is None else file.names[file.find(column)]
    for note in (*notes, *file.notes, *_notes_on_rows(file, takes_groups=takes_groups)):
        shown = note.only(name) if name is not None and isinstance(note, ColumnNote) else note
        if shown is not None:
            show_note(shown)
    if file.y is None:
        example = next(iter(getattr(file.X, "index_names", ())), file.names[-1])
        raise ValueError(
            f"{file.name} does not contain class labels. Set the column with the class labels, or the "
            f"numbers to predict, with --target, for example --target {example!r}."
        )
    if not file.names:
        raise ValueError(
            f"{file.name} has no column besides the target, ids, weights, groups and dropped columns."
        )
    _check_target(file)
    return _with_text_labels(file) if target_type == "classification" else file


def _notes_on_rows(file: DataFile, *, takes_groups: bool) -> Iterator[str]:
    """Note ids that occur more than once, and weights that are read as frequencies."""
    from slfs.files.inference import MISSING
    from slfs.tables.registry import read_table
    from slfs.tables.weights import may_be_survey, read_sample_weight

    if file.ids and file.groups is None:
        known = file.originals([])[file.ids].dropna()
        known = known[~known.astype(str).isin(MISSING).any(axis=1)]
        n_copies = int(known.duplicated().sum())
        if n_copies:
            same = " and ".join(map(repr, file.ids))
            one = n_copies == 1
            how = "use --groups: otherwise all rows"
            if not takes_groups:
                how = f"use one row for each {same}: all rows"
            yield (
                f"{n_copies} {'row has' if one else 'rows have'} the same {same} as a row before. "
                f"Remove {'it if it is a copy' if one else 'them if they are copies'}. "
                f"If they belong together, as samples of a patient do, {how} are treated as independent."
            )
    if file.weights is not None:
        weights = read_sample_weight(file.weights, len(file.weights))
        whole = (weights % 1 == 0).all() and (weights > 1).any()
        table = read_table(file.X) if file.names else None
        if whole and not may_be_survey(weights, table):  # fit warns about these
            yield (
                "The weights are whole numbers, which say how often each row occurs: "
                f"{(weights > 0).sum():,} rows are {weights.sum():,.0f} samples. If they are survey "
                "weights, divide them by their mean."
            )


def _note_missing_labels(file: DataFile, declared: Sequence[str], *, dropped: bool) -> list[str]:
    """Note the text of the target that is read as missing; ``dropped``: its rows are left out."""
    notes = []
    for text, number in file.missing_labels().items():
        are = "is" if number == 1 else "are"
        what = f"{number} of the labels in {file.target!r} {are} the text {text!r}"
        mark = next((mark for mark in declared if _same_mark(text, mark)), None)
        if mark is None:
            notes.append(
                f"{what}, which is read as a missing value. If it is a class instead, give it another "
                "name in the file."
            )
        elif dropped:
            notes.append(f"{what}, which --missing {mark} makes missing: these rows are left out, too.")
        else:
            notes.append(
                f"{what}, which --missing {mark} makes missing values in all columns. If it is a class, "
                "omit this option, or leave the missing values of the other columns empty in the file."
            )
    return notes


def _same_mark(text: str, mark: str) -> bool:
    """Whether a text is one that the user has declared missing: 0 and 0.0 are the same number."""
    try:
        return text.strip() == mark.strip() or float(text) == float(mark)
    except ValueError:
        return False


def _check_target(file: DataFile) -> None:
    """Raise an error if the target has no values."""
    import pandas as pd

    if bool(pd.isna(pd.Series(file.y)).all()):
        raise ValueError(
            f"All values of the target {file.target!r} of {file.name} are missing. Choose another "
            "--target, or fix the file."
        )


def _with_text_labels(file: DataFile) -> DataFile:
    """Return the file with a target of a few fractions as text, which all classifiers accept."""
    import numpy as np
    import pandas as pd

    from slfs.tables.target import MANY_CLASSES

    values = np.asarray(file.y)
    if values.dtype.kind != "f" or np.isinf(values).any():
        return file
    known = ~np.isnan(values)
    distinct = np.unique(values[known])
    if not (distinct % 1).any() or len(distinct) > min(MANY_CLASSES, known.sum() / 2):
        return file
    texts = [
        f"{value:.15g}" if is_known else None for value, is_known in zip(values, known, strict=True)
    ]
    return replace(file, y=pd.Series(texts, dtype=object).to_numpy())


def labels(file: DataFile) -> Any:
    """The target as a pandas Series that has the name of its column."""
    import numpy as np
    import pandas as pd

    return pd.Series(np.asarray(file.y), name=file.target)


def make_selector(
    method: str,
    file: DataFile,
    *,
    target_type: str = "auto",
    settings: Sequence[str] | None = None,
    size: float | str | None = None,
    order: str | None = None,
    one_standard_error: bool = False,
    categorical: Sequence[str] | None = None,
    include: Sequence[str] | None = None,
    exclude: Sequence[str] | None = None,
    condition_on: Sequence[str] | None = None,
    class_weight: str | None = None,
    n_jobs: int = 1,
    memory_limit: str | None = None,
    device: str = "cpu",
) -> Any:
    """Make the selector that the options describe."""
    from slfs.selectors import selectors

    known = selectors()
    if method not in known:
        raise ValueError(f"Unknown method {method!r}.{_suggestion(method, known)}")
    names = inspect.signature(known[method]).parameters
    given: dict[str, Any] = {"n_jobs": n_jobs, "memory_limit": memory_limit}
    parameters = {name: value for name, value in given.items() if name in names}
    if target_type != "auto":
        parameters["target"] = target_type
    if categorical:
        parameters["categorical_features"] = categorical_columns(categorical, file)
    listed = {"include": include, "exclude": exclude, "condition_on": condition_on}
    parameters |= {name: file.find_all(own) for name, own in listed.items() if own}
    if size is not None:
        parameters["n_features_to_select"] = size
    if order is not None:
        parameters["order"] = order
    if class_weight is not None:
        parameters["class_weight"] = class_weight
    if one_standard_error:
        parameters["one_standard_error"] = True
    if device != "cpu":
        parameters["device"] = device
    parameters |= dict(map(_setting, settings or ()))
    for name in parameters:
        if name in listed and name not in names:
            raise ValueError(
                f"--{name.replace('_', '-')} cannot be used with --method {method}, which has no "
                f"parameter {name!r}. Use slfs, residual, mrmr or cmim, for example."
            )
        if name not in names:
            raise ValueError(f"{method} has no parameter {name!r}.{_suggestion(name, names)}")
    selector = known[method](**parameters)
    if one_standard_error and not _finds_size(selector):
        raise ValueError(
            "--one-standard-error needs a number of columns that is found by cross-validation: use "
            "--order residual or --method residual, without -k."
        )
    return selector


def _finds_size(selector: Any) -> bool:
    """Whether a selector finds its number of columns by cross-validation."""
    by_residuals = getattr(selector, "order", "residual") in ("auto", "residual")
    return by_residuals and selector.n_features_to_select == "auto"


def make_stable(
    selector: Any,
    stability: int | None,
    *,
    fdr: float | None,
    threshold: float | None,
    size: Any,
    n_jobs: int,
) -> Any:
    """Wrap a selector in a stability selection if the options ask for it."""
    from slfs import StabilitySelection

    options = {"fdr": fdr, "threshold": threshold, "n_features_to_select": size}
    given = {name: value for name, value in options.items() if value is not None}
    if stability is None:
        alone = [name for name in ("fdr", "threshold") if name in given]
        if alone:
            raise ValueError(f"--{alone[0]} needs --stability, for example --stability 50.")
        return selector
    return StabilitySelection(selector, n_subsamples=stability, n_jobs=n_jobs, **given)


def categorical_columns(names: Sequence[str] | None, file: DataFile) -> Any:
    """The parameter ``categorical_features`` for the columns that the option lists."""
    if not names:
        return "from_dtype"
    return "all" if list(names) == ["all"] else file.find_all(names)


def _setting(text: str) -> tuple[str, Any]:
    """Read NAME=VALUE, where VALUE is JSON (a number, true, false, null) or plain text."""
    name, equals, value = text.partition("=")
    if not equals:
        raise ValueError(f"Invalid --set {text!r}: expected NAME=VALUE, such as max_depth=2.")
    try:
        return name.replace("-", "_"), json.loads(value)
    except json.JSONDecodeError:
        return name.replace("-", "_"), value


def _suggestion(wrong: str, known: Iterable[str]) -> str:
    near = similar_names(wrong, list(known))
    return f" Did you mean {' or '.join(near)}?" if near else f" Available: {', '.join(known)}."


def timed_fit(
    selector: Any, X: Any, y: Any, sample_weight: Any = None, groups: Any = None
) -> dict[str, Any]:
    """Fit a selector; return the seconds it took and the warnings that it issued, for the report.

    The seconds are without those of compiling kernels on a new machine.
    """
    import time

    from slfs._core.compile import compile_seconds
    from slfs._core.warn import collect
    from slfs.selectors._shared.row_groups import row_arguments

    begin, compiled = time.perf_counter(), compile_seconds()
    with collect() as texts:
        selector.fit(X, y, **row_arguments(selector, sample_weight, groups))
    seconds = time.perf_counter() - begin - (compile_seconds() - compiled)
    return {"seconds": seconds, "warnings": texts}
