"""A file whose columns stay on disk -> a table that reads them when they are needed, and its target."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from slfs.files.columns import FileColumns
from slfs.files.data_file import DataFile, find_column, split_names
from slfs.files.inference import number_texts
from slfs.files.registry import SELF_DESCRIBING, Format
from slfs.files.remarks import note_index, note_types, refuse_target
from slfs.files.source import existing_file, fingerprint_of


def open_columns(
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
    fingerprint = fingerprint_of(path)
    table = open_table(form, path, missing, layer)
    names, index = table.names, table.index_names

    def find(column: str) -> str:
        searched = names if re.fullmatch(r"-?\d+", column) else [*index, *names]
        return column if column in index else searched[find_column(column, searched, source)]

    def find_all(columns: Sequence[str]) -> list[str]:
        return [find(column) for column in split_names(columns, [*index, *names])]

    for column in (*ids, *covariates, *([] if target is None else [target])):
        table.check_name(column)
    id_names, dropped = find_all(ids), find_all(drop)
    unwanted = [*id_names, *dropped]
    label = None if target is None else find(target)
    if label is not None:
        refuse_target(label, id_names, dropped, source)
    taken = [*unwanted, *([] if label is None else [label])]
    kept = table.without([name for name in taken if name not in index])
    added = [name for name in dict.fromkeys(find_all(covariates)) if name in index and name not in taken]
    kept, names = kept.including(added), [*names, *added]
    y = None if label is None else table.read(label)
    notes: list[str] = []
    unused = [name for name in index if name not in taken and not name.startswith("__index_level_")]
    if form.name in SELF_DESCRIBING:
        note_index(unused, notes)
        note_types(kept.date_names, number_texts(kept.first_texts()), notes)
    return DataFile(
        kept, y, source, label or "class", fingerprint, names, id_names, notes, table.originals
    )


def open_table(
    form: Format, path: Path, missing: Sequence[str], layer: str | None = None
) -> FileColumns:
    """Open a table whose columns stay on disk."""
    assert form.open_columns is not None
    try:
        return form.open_columns(path, missing=missing, **({} if layer is None else {"layer": layer}))
    except ImportError as error:
        raise form.missing_library(error) from error
    except OSError as error:
        raise ValueError(f"{path} cannot be read as {form.name}: {error}") from error
