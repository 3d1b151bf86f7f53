"""A second file with labels (--targets-from) -> labels and covariates of the samples. Needs pandas."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from slfs.files.data_file import DataFile, column_names, find_column, split_names, whole_numbers
from slfs.files.loading import Loaded
from slfs.files.matching import Labels, id_texts, match
from slfs.files.registry import ReadOptions


def read_labels(
    read: Callable[..., DataFile],
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
    file = read(
        source,
        target=target,
        ids=own,
        missing=options.missing,
        text=options.text,
        sheet_with=sheet_columns(target, covariates),
        second=True,
    )
    originals = file.originals([])
    every = pd.Series(id_texts(originals.iloc[:, 0]))
    if file.y is None:
        rows = np.arange(len(originals))
        return Labels(every.tolist(), None, "class", file.ids[0], source, (), file, rows)
    values = pd.Series(np.asarray(file.y))
    labelled = values.notna().to_numpy()  # a sample with an empty label has none
    return Labels(
        every[labelled].tolist(),
        values[labelled],
        file.target,
        file.ids[0],
        source,
        every[~labelled].tolist(),
        file,
        np.flatnonzero(labelled),
    )


def transpose_hint(read: Callable[..., DataFile], source: str, table: Any, name: str) -> str:
    """Say that samples are in columns if their names are ids of the file of --targets-from, else ""."""
    import pandas as pd

    try:
        ids = read(source, ids=["0"], second=True).originals([]).iloc[:, 0]
    except (ValueError, OSError):  # it is not the problem that the user is told about
        return ""
    shared = pd.Index(column_names(table)).intersection(ids.map(str))
    if len(shared) < 2:  # a single one may be so by chance
        return ""
    return (
        f" Column names of {name}, such as {shared[0]!r}, are ids in {source}: the samples seem to be "
        "in columns. If so, add --transpose."
    )


def sheet_columns(target: str | None, covariates: Sequence[str]) -> list[str]:
    """Return the columns by which the sheet of an Excel file is found: the target, or covariates."""
    names = covariates if target is None else [target]
    return [name for name in names if not re.fullmatch(r"-?\d+", name)]  # these are indices


def with_labels(
    found: Loaded, labels: Labels, name: str, covariates: Sequence[str]
) -> tuple[Loaded, str]:
    """Keep the samples that another file has, with their labels; also return a note about their number.

    Covariates and further ids that only the other file has become columns.
    """
    import pandas as pd

    assert labels.file is not None
    names = column_names(found.table)
    column = find_column(found.ids[0], names, name)
    own_ids = id_texts(found.originals([column])[names[column]])
    rows, places, note = match(own_ids, labels, name, found.left_out)
    added = _added(found, labels, names, name, covariates)
    kept, other = found.only(rows), labels.file.with_rows(labels.rows[places])
    written = other.originals([one for one in added if one in other.names])  # has ids and labels, too
    if labels.values is not None and labels.name in names:
        note += (
            f" The column {labels.name!r} of {name} has the name of the target, and is left out; rename "
            "it to use it."
        )

    def originals(columns: Sequence[int] | None) -> Any:
        own = None if columns is None else [index for index in columns if index < len(names)]
        part = frame = kept.originals(own)
        if labels.values is not None:
            part = part.drop(columns=labels.name, errors="ignore")
        more = [written[added]]
        if labels.values is not None:
            more.append(written.iloc[:, [-1]].set_axis([labels.name], axis=1))
        part = pd.concat([part, *(own.set_axis(part.index) for own in more)], axis=1)
        part.attrs = frame.attrs
        return part

    y = None if labels.values is None else whole_numbers(np.asarray(other.y))
    table = pd.concat([kept.table, _columns(other, added, written)], axis=1) if added else kept.table
    table.attrs = kept.table.attrs
    return replace(kept, table=table, y=y, originals=originals), note


def _columns(file: DataFile, names: Sequence[str], originals: Any) -> Any:
    """Return columns of a file, whose ids have no types, as a DataFrame."""
    import pandas as pd

    table, own = file.in_memory(), file.names
    parts = {
        name: table.iloc[:, own.index(name)].array if name in own else originals[name] for name in names
    }
    return pd.DataFrame(parts, index=range(len(originals)))


def _added(
    found: Loaded, labels: Labels, names: list[str], name: str, covariates: Sequence[str]
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
