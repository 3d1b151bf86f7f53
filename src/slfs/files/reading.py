"""A file of any registered format -> a table, its labels, and where they come from. Needs pandas."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from slfs.files.about import PHENOTYPE, read_about
from slfs.files.cohort import open_cohort
from slfs.files.data_file import ColumnNote, DataFile, as_column, column_names, is_sparse, without
from slfs.files.inference import date_columns, number_texts
from slfs.files.limits import container_remark
from slfs.files.loading import Loaded, by_name, load, load_transposed
from slfs.files.matching import Labels
from slfs.files.on_disk import open_columns, open_table
from slfs.files.registry import COHORTS, SELF_DESCRIBING, TEXT, Format, ReadOptions
from slfs.files.remarks import find, note_totals, note_types, refuse_target
from slfs.files.second_file import read_labels, sheet_columns, transpose_hint, with_labels
from slfs.files.source import (
    STDIN,
    content_again,
    content_of,
    existing_file,
    format_of,
    format_of_second,
    format_of_text,
    is_compressed,
    joint_fingerprint,
)

_PLAIN = (*TEXT, "jsonl", "json", "svmlight", "arff")
"""Formats that are text."""

_NAMES_INSIDE = (
    *("parquet", "arrow", "jsonl", "json", "npy", "npz", "svmlight", "arff", "anndata"),
    *COHORTS,
)
"""Formats without a row of names."""


def read_file(
    source: str,
    *,
    target: str | None = None,
    targets_from: str | None = None,
    ids: Sequence[str] = (),
    file_format: str | None = None,
    missing: Sequence[str] = (),
    drop: Sequence[str] = (),
    text: Sequence[str] = (),
    header: bool = True,
    sheet: str | None = None,
    sheet_with: Sequence[str] = (),
    transpose: bool = False,
    allow_empty: bool = False,
    covariates: Sequence[str] = (),
    decimal: str | None = None,
    like: tuple[int, int | None] | None = None,
    second: bool = False,
) -> DataFile:
    """Read a table from a file.

    Parameters
    ----------
    source : str
        A path, or "-" for the standard input. Compressed files (gzip, bzip2, xz) are decompressed.
    target : str, optional
        The column of the class labels, by name or by index (negative ones count from the end). Some
        formats, such as svmlight, have labels of their own.
    targets_from : str, optional
        Another file, which contains the target. Its rows are matched with the samples by the first of
        ``ids``, which both files must have. If the table is transposed, the ids of the samples are the
        names of the columns of ``source``, and those of the other file are in its first column or in
        the first of ``ids``. Without ``target``, it contains only ``covariates``, unless ``source`` is a
        PLINK file.
    ids : sequence of str, default=()
        Columns that identify the samples, by name or index. They are not part of the table. Text that
        is not the name of a column is a list of names, separated by commas; also in ``drop`` and
        ``covariates``.
    file_format : str, optional
        Name of the format, if the suffix of the file does not give it.
    missing : sequence of str, default=()
        Further strings that mean a missing value. If one is a number, such as "-99", numbers that are
        equal to it are missing too.
    drop : sequence of str, default=()
        Columns to leave out, by name or index. Those of a sparse table become empty, so that the other
        columns keep their indices.
    text : sequence of str, default=()
        Columns of a CSV, Excel or JSON file to read as text even if they hold or look like numbers or
        dates.
    header : bool, default=True
        Whether the first row of a CSV or Excel file contains the names of the columns. Otherwise they
        are called column_1, column_2, ...
    sheet : str, optional
        Name of the sheet of an Excel file, by default the first one; layer of an AnnData file, or "raw",
        by default X.
    sheet_with : sequence of str, default=()
        Without ``sheet``: names of columns. Of an Excel file with several sheets, the only one that has
        one of these columns is read, instead of the first.
    transpose : bool, default=False
        Whether the file has one row per column of the table, with its name in the first column, and one
        column per sample.
    allow_empty : bool, default=False
        Whether the file may have no rows. JSON then has no columns either.
    covariates : sequence of str, default=()
        Annotations of the samples to include in the table, if the format does not count them as features
        (``obs`` of an AnnData file), or columns of ``targets_from`` to add to the table if it lacks
        them. The target of a PLINK file may be a path, too, which then is the file with the target: its
        first column that is not an id or covariate.
    decimal : {",", "."} or None, default=None
        The decimal separator of an earlier file with the same columns. If it is a comma, numbers of a
        CSV file such as 1.234 have thousands separators, unless others, such as 0.5, have decimal
        points. None: they have if other columns have decimal commas.
    like : tuple of int and (int or None), optional
        With ``header=False``: the number of columns of an earlier file, and the index of its target. The
        file must have the same columns, or all but the target.
    second : bool, default=False
        Whether this is the file of ``targets_from`` of another one, which errors then mention.

    Returns
    -------
    file : DataFile
    """
    form = format_of(source, file_format)
    given = content_of(source) if source == STDIN else None
    if given is not None and file_format is None:
        form = format_of_text(given)
    _check_options(form, header, sheet)
    on_disk = form.open_columns is not None and source != STDIN and not is_compressed(source)
    if on_disk and not transpose and form.name in COHORTS:
        if target is not None and targets_from is None and Path(target).is_file():
            target, targets_from = None, target
        path = existing_file(source)
        table: Any = open_table(form, path, missing)
        named = None if target == PHENOTYPE else target
        read = functools.partial(read_file, sheet_with=sheet_columns(named, ()))
        about = None if targets_from is None else read_about(targets_from, read, missing, table)
        return open_cohort(path, table, about, target=target, ids=ids, drop=drop, covariates=covariates)
    if on_disk and not transpose and targets_from is None:
        return open_columns(source, form, target, drop, ids, missing, sheet, covariates)
    options = ReadOptions(
        missing, text, header, sheet, sheet_with, allow_empty, decimal, None if transpose else like
    )
    labels = None
    name = "stdin" if source == STDIN else source
    content = content_of(source) if given is None else given
    if not content.getbuffer().nbytes and not (allow_empty and form.name == "jsonl"):
        raise ValueError(f"{name} is empty.")
    if form.name in _PLAIN and (remark := container_remark(content, name)):
        raise ValueError(f"{name} {remark}.")
    fingerprint = hashlib.sha256(content.getbuffer()).hexdigest()
    read_second = functools.partial(read_file, file_format=format_of_second(targets_from, file_format))
    if transpose:
        if targets_from is not None:
            labels = read_labels(read_second, targets_from, target, ids, options, covariates)
        found = load_transposed(form, content, options, name, labels, ids, drop)
    else:
        others = [*covariates, *([] if target is None or targets_from is not None else [target])]
        found = load(form, content, options, name, content_again(source, content), ids, drop, others)
        if targets_from is not None:
            if is_sparse(found.table):
                raise ValueError(
                    f"{name} has no column of ids, so that --targets-from cannot be matched. Write the "
                    "labels to the file itself, for example with sklearn.datasets.dump_svmlight_file."
                )
            if not found.ids and column_names(found.table)[0].startswith("Unnamed: 0"):
                found = replace(found, ids=[""])  # the names of the rows, of both files
            if not found.ids:
                raise ValueError(
                    "--targets-from needs --id COLUMN, to match the rows of both files."
                    + transpose_hint(read_second, targets_from, found.table, name)
                )
            own = [one for one in found.ids[:1] if one]  # else the first column
            labels = read_labels(read_second, targets_from, target, own, options, covariates)
    if labels is not None:
        found, note = with_labels(found, labels, name, covariates)
        options.notes.append(note)
        if labels.file is not None:  # the samples and their labels
            fingerprint = joint_fingerprint(fingerprint, labels.file.fingerprint)
    known = _Known(form, name, fingerprint, target, labels, options, transpose, second)
    return _as_file(found, known)


class _Known(NamedTuple):
    """What `read_file` knows about a file besides its content."""

    form: Format
    name: str
    fingerprint: str
    target: str | None
    labels: Labels | None
    options: ReadOptions
    transpose: bool
    second: bool


def _as_file(found: Loaded, known: _Known) -> DataFile:
    """Separate ids, the target and columns to leave out from the others."""
    import pandas as pd

    form, name, fingerprint, target, labels, options, transpose, second = known
    notes, target_name = [*options.notes], "class" if labels is None else labels.name
    style = dict(found.table.attrs) if form.name in TEXT else {}
    if form.name == "tsv":
        style["separator"] = "\t"
    names = column_names(found.table)
    unwanted, y = (
        [
            find(column, found.table, name, notes, transposed=transpose, second=second, is_id=is_id)
            for columns, is_id in ((found.ids, True), (found.drop, False))
            for column in columns
        ],
        found.y,
    )
    if labels is not None:
        unwanted += [names.index(target_name)] if y is not None and target_name in names else []
    elif y is not None and target is not None:
        raise ValueError(f"{name} already contains class labels. Remove --target {target!r}.")
    elif target is not None:
        column = find(target, found.table, name, notes, transposed=transpose, second=second)
        y, target_name = as_column(found.table, column), names[column]
        if form.name in TEXT and y.dtype.kind not in "biufmM":
            y = y.mask(y.map(lambda label: isinstance(label, str) and not label.strip()), None)
        if form.name in TEXT and set(y.dropna().map(type)) == {bool}:
            y = _as_written(y, by_name(found.originals, names)([target_name])[target_name])
        others = [names[index] for index in unwanted]
        refuse_target(target_name, others[: len(found.ids)], others[len(found.ids) :], name, notes)
        unwanted.append(column)
    unwanted += _row_names(found.table, unwanted, notes)
    X = without(found.table, unwanted)
    if not is_sparse(X):
        note_types(date_columns(X), number_texts(X) if form.name in SELF_DESCRIBING else [], notes)
        note_totals(found.table, notes)
    id_names = [names[column] for column in unwanted[: len(found.ids)]]
    has_columns_only = not is_sparse(X) and (labels is not None or found.y is None)
    originals = by_name(found.originals, names) if has_columns_only else None
    if id_names and originals is None:
        raise ValueError(f"{name} has no columns of ids. Remove --id.")
    is_text = has_columns_only and form.name in TEXT
    typed_ids = None
    if is_text:
        typed_ids = _typed_ids(found.table.set_axis(names, axis=1)[id_names], originals)
    # otherwise, the whole table would take memory in vain
    keeps = found.infer is not None and (second or bool(pd.Series(y).isna().any()))
    return DataFile(
        *(X, y, name, target_name, fingerprint, names, id_names, notes, originals, typed_ids),
        form=form.name,
        style=style,
        keep=(lambda rows: _as_file(found.only(rows), known)) if keeps else None,
    )


def _typed_ids(ids: Any, originals: Any) -> Any:
    """Return ids as the text of the file where some of them, such as NA, were read as missing."""
    spoiled = [name for name in ids.columns if ids[name].isna().any()]
    if not spoiled:
        return ids
    texts = originals(spoiled).set_axis(ids.index)
    lost = [name for name in spoiled if texts[name][ids[name].isna()].astype(str).str.strip().any()]
    return ids.assign(**{name: texts[name].where(texts[name] != "", None) for name in lost})


def _as_written(labels: Any, texts: Any) -> Any:
    """Return class labels that look like booleans as the text of the file, such as TRUE.

    They stay booleans if the file has several spellings of one of them.
    """
    texts = texts.set_axis(labels.index).astype(object).where(labels.notna(), None)
    return texts if texts.nunique() == labels.nunique() else labels


def _check_options(form: Format, header: bool, sheet: str | None) -> None:
    """Raise an error for options that do not apply to a format of this package."""
    if not header and form.name in _NAMES_INSIDE:
        raise ValueError(f"--no-header is for CSV and Excel files; the file is read as {form.name}.")
    if sheet is not None and form.name != "anndata" and form.name in (*_NAMES_INSIDE, "csv", "tsv"):
        raise ValueError(
            f"--sheet is for Excel files, --layer for AnnData files; the file is read as {form.name}."
        )


def _row_names(table: Any, known: list[int], notes: list[str]) -> list[int]:
    """Return the first column if it has no name and all its values differ: it names the rows."""
    if (
        is_sparse(table)
        or not table.shape[1]
        or not str(table.columns[0]).startswith("Unnamed: 0")
        or 0 in known
    ):
        return []
    first = table.iloc[:, 0]
    if table.shape[1] < 2:
        return []
    if not first.is_unique:  # names such as 1978.1 and 1978.10 are equal numbers
        name = str(table.columns[0])
        remark = f"the first column has no name. If it names the rows, add --drop {name!r}."
        notes.append(ColumnNote([name], remark))
        return []
    notes.append("The first column has no name and all its values differ: it is left out as row names.")
    return [0]
