"""A file of any registered format -> a table, its labels, and where they come from. Needs pandas."""

from __future__ import annotations

import difflib
import hashlib
import io
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from slfs.files.about import read_about
from slfs.files.cohort import open_cohort
from slfs.files.columns import FileColumns
from slfs.files.data_file import (
    ColumnNote,
    DataFile,
    as_column,
    column_names,
    find_column,
    is_sparse,
    some_names,
    split_names,
    whole_numbers,
    without,
)
from slfs.files.inference import TableError, date_columns, number_texts
from slfs.files.limits import OPENERS, decompress, decompress_bytes, zip_remark
from slfs.files.marks import Marks
from slfs.files.matching import Labels, match, transposed, typed
from slfs.files.registry import Format, ReadOptions, format_of_name, format_of_suffix, formats
from slfs.tables.dates import EPOCH

STDIN = "-"

_SELF_DESCRIBING = ("parquet", "arrow", "excel", "jsonl", "json")
"""Formats that distinguish numbers from text."""

_TEXT = ("csv", "tsv")
"""Formats whose values are text, until their types are inferred."""

_COHORTS = ("bed", "pgen")
"""Formats of genotypes, in which samples have ids."""

_PLAIN = (*_TEXT, "jsonl", "json", "svmlight", "arff")
"""Formats that are text."""

_NAMES_INSIDE = (
    *("parquet", "arrow", "jsonl", "json", "npy", "npz", "svmlight", "arff", "anndata"),
    *_COHORTS,
)
"""Formats without a row of names."""

_FOLDERS = (".zarr",)
"""Suffixes of formats that are folders."""


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
    transpose: bool = False,
    allow_empty: bool = False,
    covariates: Sequence[str] = (),
    decimal: str | None = None,
    like: tuple[int, int | None] | None = None,
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
        Columns of a CSV file to read as text even if they look like numbers or dates.
    header : bool, default=True
        Whether the first row of a CSV or Excel file contains the names of the columns. Otherwise they
        are called column_1, column_2, ...
    sheet : str, optional
        Name of the sheet of an Excel file, by default the first one; layer of an AnnData file, or "raw",
        by default X.
    transpose : bool, default=False
        Whether the file has one row per column of the table, with its name in the first column, and one
        column per sample.
    allow_empty : bool, default=False
        Whether a CSV file may have a header and no rows.
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

    Returns
    -------
    file : DataFile
    """
    form = _format(source) if file_format is None else format_of_name(file_format)
    _check_options(form, header, sheet)
    on_disk = form.open_columns is not None and source != STDIN and not _is_compressed(source)
    if on_disk and not transpose and form.name in _COHORTS:
        if target is not None and targets_from is None and Path(target).is_file():
            target, targets_from = None, target
        path = existing_file(source)
        table: Any = _open(form, path, missing)
        about = None if targets_from is None else read_about(targets_from, read_file, missing, table)
        return open_cohort(path, table, about, target=target, ids=ids, drop=drop, covariates=covariates)
    if on_disk and not transpose and targets_from is None:
        return _open_columns(source, form, target, drop, ids, missing, sheet, covariates)
    options = ReadOptions(
        missing, text, header, sheet, allow_empty, decimal, like=None if transpose else like
    )
    labels = None
    name = "stdin" if source == STDIN else source
    content = _content(source)
    if not content.getbuffer().nbytes:
        raise ValueError(f"{name} is empty.")
    if form.name in _PLAIN and (remark := zip_remark(content)):
        raise ValueError(f"{name} {remark}.")
    fingerprint = hashlib.sha256(content.getbuffer()).hexdigest()
    if transpose:
        if targets_from is not None:
            labels = _read_labels(targets_from, target, ids, options, covariates)
        found = _load_transposed(form, content, options, name, labels, ids, drop)
    else:
        found = _load(form, content, options, name, _content_again(source, content), ids, drop)
        if targets_from is not None:
            if not found.ids:
                raise ValueError("--targets-from needs --id COLUMN, to match the rows of both files.")
            labels = _read_labels(targets_from, target, found.ids[:1], options, covariates)
    notes, target_name = options.notes, "class"
    style = dict(found.table.attrs) if form.name in _TEXT else {}
    if labels is not None:
        found, note = _with_labels(found, labels, name, covariates)
        notes.append(note)
        target_name = labels.name
    names = column_names(found.table)
    unwanted, y = (
        [_find(column, found.table, name, notes) for column in (*found.ids, *found.drop)],
        found.y,
    )
    if labels is not None:
        unwanted += [names.index(target_name)] if y is not None and target_name in names else []
    elif y is not None and target is not None:
        raise ValueError(f"{name} already contains class labels. Remove --target {target!r}.")
    elif target is not None:
        column = _find(target, found.table, name, notes)
        y, target_name = as_column(found.table, column), names[column]
        if form.name in _TEXT and set(y.dropna().map(type)) == {bool}:
            y = _as_written(y, _chosen(found.originals, names)([target_name])[target_name])
        others = [names[index] for index in unwanted]
        _refuse_target(target_name, others[: len(found.ids)], others[len(found.ids) :], name)
        unwanted.append(column)
    unwanted += _row_names(found.table, unwanted, notes)
    X = without(found.table, unwanted)
    if not is_sparse(X):
        _note_types(date_columns(X), number_texts(X) if form.name in _SELF_DESCRIBING else [], notes)
    id_names = [names[column] for column in unwanted[: len(found.ids)]]
    has_columns_only = not is_sparse(X) and (labels is not None or found.y is None)
    originals = _chosen(found.originals, names) if has_columns_only else None
    is_text = has_columns_only and form.name in _TEXT
    typed_ids = found.table.set_axis(names, axis=1)[id_names] if is_text else None
    return DataFile(
        X, y, name, target_name, fingerprint, names, id_names, notes, originals, typed_ids, style=style
    )


def is_cohort(source: str, file_format: str | None = None) -> bool:
    """Return whether a file contains genotypes, by its suffix or the name of its format."""
    return (_format(source) if file_format is None else format_of_name(file_format)).name in _COHORTS


def _refuse_target(target: str, ids: Sequence[str], drop: Sequence[str], name: str) -> None:
    """Raise an error if the target is also a column of ids or a column to leave out."""
    if target in ids:
        raise ValueError(
            f"The column {target!r} of {name} is both the id and the target. "
            "Set the column of the ids with --id."
        )
    if target in drop:
        raise ValueError(
            f"The column {target!r} of {name} is the target and cannot be dropped. Remove --drop "
            f"{target!r}, or choose another --target."
        )


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


@dataclass(frozen=True)
class _Loaded:
    """The content of a file: all columns, labels of its own, and how to read the original values."""

    table: Any
    y: Any
    originals: Callable[[Sequence[int] | None], Any]
    """Takes the indices of the columns that are needed, or None for all."""
    ids: Sequence[str]
    drop: Sequence[str]
    left_out: Sequence[str] = ()
    """Samples of a transposed file that were not read, because they have no label."""


def _load(
    form: Format,
    content: io.BytesIO,
    options: ReadOptions,
    name: str,
    again: Callable[[], io.BytesIO],
    ids: Sequence[str],
    drop: Sequence[str],
) -> _Loaded:
    table, y = _read(form, form.read, content, options, name)
    if options.missing and form.name not in (*_TEXT, *_SELF_DESCRIBING):  # these have done it
        table, y = _without_marks(table, y, Marks(options.missing))

    def originals(columns: Sequence[int] | None = None) -> Any:
        wanted = replace(options, columns=columns, notes=[])  # the remarks would be the same again
        return _read(form, form.original, again(), wanted, name)

    names = column_names(table)
    return _Loaded(table, y, originals, split_names(ids, names), split_names(drop, names))


def _without_marks(table: Any, y: Any, marks: Marks) -> tuple[Any, Any]:
    import pandas as pd

    return marks.remove(table), None if y is None else marks.remove(pd.Series(y)).to_numpy()


def _load_transposed(
    form: Format,
    content: io.BytesIO,
    options: ReadOptions,
    name: str,
    labels: Labels | None,
    ids: Sequence[str],
    drop: Sequence[str],
) -> _Loaded:
    """Exchange rows and columns; the names of the columns become the ids of the samples."""
    sample_id = labels.id_name if labels else ids[0] if ids else "sample"
    known = None if labels is None else set(labels.ids)

    def turned(content: io.BytesIO, options: ReadOptions) -> Any:
        return transposed(form.original(content, options), sample_id, known, drop)

    frame = _read(form, turned, content, options, name)
    left_out, unwanted = frame.attrs.pop("left_out"), frame.attrs.pop("drop")
    table = typed(frame, options)
    ids = ["0", *(labels.file.ids[1:] if labels is not None and labels.file is not None else ())]
    return _Loaded(table, None, lambda _: frame.copy(deep=False), ids, unwanted, left_out)


def _read(form: Format, read: Callable[..., Any], content: io.BytesIO, options: Any, name: str) -> Any:
    """Call a function that reads a file; its errors name the file and a remedy."""
    content.seek(0)
    try:
        return read(content, options)
    except ImportError as error:
        raise form.missing_library(error) from error
    except TableError as error:
        raise ValueError(f"{name} cannot be read as {form.name}: {error}.") from error
    except Exception as error:  # the libraries behind the formats may raise anything
        raise ValueError(
            f"{name} cannot be read as {form.name}: {str(error) or type(error).__name__}. Set the "
            f"correct --format ({', '.join(sorted(formats()))}), or fix the file."
        ) from error


def _read_labels(
    source: str,
    target: str | None,
    ids: Sequence[str],
    options: ReadOptions,
    covariates: Sequence[str],
) -> Labels:
    """Read the file of --targets-from, which may contain only covariates."""
    import pandas as pd

    if target is None and not covariates:
        raise ValueError(f"--targets-from needs --target, the column of the class labels in {source}.")
    own = ids or ["0"]
    file = read_file(source, target=target, ids=own, missing=options.missing, text=options.text)
    originals = file.originals([])
    every = originals.iloc[:, 0].map(str)
    if file.y is None:
        rows = np.arange(len(originals))
        return Labels(every.tolist(), None, None, "class", file.ids[0], source, (), file, rows)
    values = pd.Series(np.asarray(file.y))
    labelled = values.notna().to_numpy()  # a sample with an empty label has none
    if not labelled.all():
        values = pd.Series(whole_numbers(values[labelled].to_numpy()))
    return Labels(
        every[labelled].tolist(),
        values,
        originals[labelled].iloc[:, -1],
        file.target,
        file.ids[0],
        source,
        every[~labelled].tolist(),
        file,
        np.flatnonzero(labelled),
    )


def _chosen(read: Callable[[Sequence[int] | None], Any], names: list[str]) -> Callable[[list[str]], Any]:
    """Return a function that reads some columns by name."""

    def choose(wanted: list[str]) -> Any:
        frame = read([names.index(name) for name in wanted if name in names])
        attributes = frame.attrs
        frame.columns = frame.columns.map(str)
        part = frame[wanted]
        part.attrs = attributes
        return part

    return choose


def _with_labels(
    found: _Loaded, labels: Labels, name: str, covariates: Sequence[str]
) -> tuple[_Loaded, str]:
    """Keep the samples that another file has, with their labels; also return a note about their number.

    Covariates and further ids that only the other file has become columns.
    """
    import pandas as pd

    names = column_names(found.table)
    column = find_column(found.ids[0], names, name)
    own_ids = found.originals([column])[names[column]].map(str).tolist()
    rows, places, note = match(own_ids, labels, name, found.left_out)
    added = _added(found, labels, names, name, covariates)
    more, more_originals = labels.columns(added, places)
    if labels.values is not None and labels.name in names:
        note += (
            f" The column {labels.name!r} of {name} has the name of the target, and is left out; rename "
            "it to use it."
        )

    def originals(columns: Sequence[int] | None) -> Any:
        own = None if columns is None else [index for index in columns if index < len(names)]
        frame = found.originals(own)
        part = frame.iloc[rows].reset_index(drop=True)
        if labels.values is not None:
            part = part.drop(columns=labels.name, errors="ignore")
        part = pd.concat([part, more_originals], axis=1)
        if labels.values is not None:
            part[labels.name] = labels.originals.iloc[places].to_numpy()
        part.attrs = frame.attrs
        return part

    table = found.table.iloc[rows].reset_index(drop=True)
    y = None if labels.values is None else labels.values.iloc[places].to_numpy()
    table = pd.concat([table, more], axis=1) if added else table
    return replace(found, table=table, y=y, originals=originals), note


def _added(
    found: _Loaded, labels: Labels, names: list[str], name: str, covariates: Sequence[str]
) -> list[str]:
    """Return the columns to add from the other file: covariates, and ids after the first."""
    assert labels.file is not None
    others = [*labels.file.names, *labels.file.ids[1:]]
    wanted = split_names(covariates, [*names, *others])
    if labels.values is not None and labels.name in wanted:
        raise ValueError(
            f"The column {labels.name!r} of {labels.source} is the target, so that no other option can "
            "use it."
        )
    for one in wanted if labels.values is not None else ():  # a model may need columns of either file
        find_column(one, [*names, *others], f"{name} (or {labels.source})")
    own = set(names)
    in_both = [one for one in wanted if one in own and one in others]
    if in_both and labels.values is not None:
        raise ValueError(
            f"{in_both[0]!r} is a column of {name} and of {labels.source}. Rename one of them, so that "
            "it is clear which one is meant."
        )
    return [one for one in dict.fromkeys([*found.ids[1:], *wanted]) if one in others and one not in own]


def _open_columns(
    source: str,
    form: Format,
    target: str | None,
    drop: Sequence[str],
    ids: Sequence[str],
    missing: Sequence[str],
    layer: str | None,
    covariates: Sequence[str],
) -> DataFile:
    """Open a file whose columns stay on disk."""
    path = existing_file(source)
    fingerprint = _fingerprint(path)
    table = _open(form, path, missing, layer)
    names, index = table.names, table.index_names

    def find(column: str) -> str:
        searched = names if re.fullmatch(r"-?\d+", column) else [*index, *names]
        return column if column in index else searched[find_column(column, searched, source)]

    def find_all(columns: Sequence[str]) -> list[str]:
        return [find(column) for column in split_names(columns, [*index, *names])]

    for column in (*ids, *covariates, *([] if target is None else [target])):
        if f"obs:{column}" in index:
            raise ValueError(
                f"{column!r} is a column of obs, and a variable of {source} has the same name. Write "
                f"obs:{column} for the column of obs."
            )
    id_names, dropped = find_all(ids), find_all(drop)
    unwanted = [*id_names, *dropped]
    label = None if target is None else find(target)
    if label is not None:
        _refuse_target(label, id_names, dropped, source)
    taken = [*unwanted, *([] if label is None else [label])]
    kept = table.without([name for name in taken if name not in index])
    added = [name for name in dict.fromkeys(find_all(covariates)) if name in index and name not in taken]
    kept, names = kept.including(added), [*names, *added]
    y = None if label is None else table.read(label)
    notes: list[str] = []
    unused = [name for name in index if name not in taken and not name.startswith("__index_level_")]
    if unused and form.name in _SELF_DESCRIBING:
        notes.append(
            f"{some_names(unused)}: the index of the dataframe in the file is left out. It can be used "
            "with --id or --target."
        )
    if form.name in _SELF_DESCRIBING:
        _note_types(kept.date_names, number_texts(kept.first_texts()), notes)
    return DataFile(
        kept, y, source, label or "class", fingerprint, names, id_names, notes, table.originals
    )


def _fingerprint(path: Path) -> str:
    """Return the SHA-256 of a file, or of all files of a folder."""
    total = hashlib.sha256()
    for part in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if part.is_file():
            with part.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256")
            if part == path:
                return digest.hexdigest()
            total.update(f"{part.relative_to(path).as_posix()} {digest.hexdigest()}\n".encode())
    return total.hexdigest()


def _open(form: Format, path: Path, missing: Sequence[str], layer: str | None = None) -> FileColumns:
    """Open a table whose columns stay on disk."""
    assert form.open_columns is not None
    try:
        return form.open_columns(path, missing=missing, **({} if layer is None else {"layer": layer}))
    except ImportError as error:
        raise form.missing_library(error) from error
    except OSError as error:
        raise ValueError(f"{path} cannot be read as {form.name}: {error}") from error


def _find(wanted: str, table: Any, name: str, notes: list[str]) -> int:
    """Find a column; the error contains what is known about the file, such as other sheets."""
    try:
        return find_column(wanted, column_names(table), name)
    except ValueError as error:
        hints = list(notes)
        if not is_sparse(table) and wanted in set(table.iloc[:, 0].astype(str)):
            hints.append(
                f"{wanted!r} is a value of its first column. If the samples are in columns, add "
                "--transpose."
            )
        raise ValueError(" ".join([str(error), *hints])) from None


def _row_names(table: Any, known: list[int], notes: list[str]) -> list[int]:
    """Return the first column if it has no name and all its values differ: it names the rows."""
    if is_sparse(table) or not str(table.columns[0]).startswith("Unnamed: 0") or 0 in known:
        return []
    first = table.iloc[:, 0]
    if first.dtype.kind == "f" or not first.is_unique or table.shape[1] < 2:
        return []
    notes.append("The first column has no name and all its values differ: it is left out as row names.")
    return [0]


def _note_types(dates: list[str], numbers: list[str], notes: list[str]) -> None:
    """Note the columns whose values are used in a way that the user may not expect."""
    if dates:
        notes.append(ColumnNote(dates, f"dates and times are used as numbers of days since {EPOCH}."))
    if numbers:
        text = (
            "numbers that are stored as text or categories are used as categories. In a CSV file, they "
            "would be read as numbers."
        )
        notes.append(ColumnNote(numbers, text))


def _format(source: str) -> Format:
    if source == STDIN:
        return format_of_name("csv")
    path = Path(source)
    found = format_of_suffix(path.with_suffix("") if _is_compressed(source) else path)
    if found is None:
        if path.is_file():
            with path.open("rb") as file:
                if remark := zip_remark(file):
                    raise ValueError(f"{source} {remark}.")
        known = sorted(f".{suffix}" for one in formats().values() for suffix in one.suffixes)
        raise ValueError(
            f"The format of {source!r} cannot be inferred from its suffix. Known suffixes are "
            f"{', '.join(known)}. Rename the file, or set --format to one of "
            f"{', '.join(sorted(formats()))}."
        )
    return found


def _is_compressed(source: str) -> bool:
    return Path(source).suffix[1:].lower() in OPENERS


def _content(source: str) -> io.BytesIO:
    if source == STDIN:
        if sys.stdin is None:
            raise ValueError("The standard input is closed and cannot be read.")
        return decompress_bytes(sys.stdin.buffer.read(), "stdin")
    return decompress(existing_file(source))


def _content_again(source: str, content: io.BytesIO) -> Callable[[], io.BytesIO]:
    """Return a function that reads a file again; what cannot be read twice is kept in memory."""
    if source == STDIN or not Path(source).is_file():
        return lambda: content
    return lambda: _content(source)


def existing_file(source: str) -> Path:
    """Return the path of a file; raise an error that suggests names if there is none."""
    path = Path(source)
    if not path.exists():
        near = difflib.get_close_matches(path.name, [p.name for p in path.parent.glob("*")], n=2)
        raise FileNotFoundError(
            f"There is no file {source!r}." + (f" Did you mean {' or '.join(near)}?" if near else "")
        )
    if path.is_dir() and path.suffix not in _FOLDERS:
        raise IsADirectoryError(f"{source!r} is a folder; expected a file.")
    return path
