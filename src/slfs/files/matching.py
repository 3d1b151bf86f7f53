"""Tables with samples in columns, and labels in another file -> samples in rows, with their labels.

Needs pandas.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slfs.files.data_file import DataFile, split_names
from slfs.files.inference import TableError, infer_types
from slfs.files.marks import Marks
from slfs.files.registry import ReadOptions, format_of_name

_SHOWN = 3


@dataclass(frozen=True)
class Labels:
    """The labels of samples, from a file of their own; without a label, only other columns of it."""

    ids: list[str]
    """The id of each sample, as text."""
    values: Any
    """The label of each sample; None if there is none."""
    name: str
    """Name of the target."""
    id_name: str
    """Name of the column of the ids."""
    source: str
    """Name of the file."""
    empty: Sequence[str] = ()
    """The ids of the rows of the file whose label is missing."""
    file: DataFile | None = None
    """The file, if columns of it may be used as well."""
    rows: Any = None
    """Which rows of the file the samples are."""


def transposed(
    frame: Any, sample_id: str, samples: Collection[str] | None, drop: Sequence[str] = ()
) -> Any:
    """Exchange rows and columns: one row per sample, with its id in the first column, ``sample_id``.

    The names of the new columns are the first column of the frame, or its index if it has one, as files
    that R has written do. Only columns in ``samples`` become rows, if it is given, and none in ``drop``.
    """
    import pandas as pd

    if isinstance(frame.index, pd.RangeIndex):
        if frame.shape[1] < 2:
            raise TableError("it has one column, so it cannot be transposed")
        frame = frame.set_index(frame.columns[0])
    names = frame.index.map(str)
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise TableError(
            f"its first column contains {twice[0]!r} more than once. With --transpose, it must contain "
            "the names of the columns. Remove or rename the copies"
        )
    own = set(map(str, frame.columns))
    drop = split_names(drop, [*names, *own])
    kept = [name for name in frame.columns if str(name) not in drop]
    twice = [name for name, count in Counter(map(str, kept)).items() if count > 1]
    if twice:
        raise TableError(
            f"the sample {twice[0]!r} occurs more than once in its header. Remove or rename the copies"
        )
    found = [name for name in kept if samples is None or str(name) in samples]
    found = found or kept  # if no sample has a label, matching raises the error
    turned = pd.DataFrame(frame[found].to_numpy(dtype=object).T, columns=names, dtype=object)
    turned.insert(0, sample_id, [str(name) for name in found], allow_duplicates=True)
    turned.attrs |= frame.attrs
    turned.attrs["drop"] = [name for name in drop if name in turned.columns or name not in own]
    turned.attrs["left_out"] = [str(name) for name in kept if name not in set(found)]
    return turned


def typed(frame: Any, options: ReadOptions) -> Any:
    """Give a transposed table the types that its values have; text is read like a text file.

    There may be many columns, so all values are converted at once if that is possible.
    """
    import pandas as pd

    values = frame.iloc[:, 1:].to_numpy()
    kinds = set(map(type, values.ravel().tolist()))
    if kinds == {str}:
        return read_text(
            frame, replace(options, text=[*options.text, frame.columns[0]], notes=[]), "tsv"
        )
    marks = Marks(options.missing)
    as_text = [name for name in options.text if name in frame.columns]
    if as_text or any(issubclass(kind, str | bool) or not issubclass(kind, Real) for kind in kinds):
        return infer_types(frame, marks, as_text)
    table = pd.DataFrame(marks.remove_numbers(values.astype(np.float64)), columns=frame.columns[1:])
    table.insert(0, frame.columns[0], frame.iloc[:, 0], allow_duplicates=True)
    return table


def read_text(frame: Any, options: ReadOptions, form: str) -> Any:
    """Give a table of text the types that it has in a CSV or TSV file."""
    text = io.StringIO()
    # the separator must be found, whatever the names of the columns contain
    writer = csv.writer(text, delimiter="\t" if form == "tsv" else ",", quoting=csv.QUOTE_ALL)
    writer.writerow(frame.columns)
    writer.writerows(frame.to_numpy().tolist())
    own = replace(options, header=True, columns=None)
    return format_of_name(form).read(io.BytesIO(text.getvalue().encode()), own)[0]


def match(
    ids: list[str], labels: Labels, name: str, left_out: Sequence[str] = ()
) -> tuple[NDArray[np.int64], NDArray[np.int64], str]:
    """Match samples with labels: rows of both in the order of the samples, and a note about it.

    ``left_out`` are samples of the file, or other columns of a transposed one, without a label.
    """
    twice = [one for one, count in Counter(labels.ids).items() if count > 1]
    if twice:
        raise ValueError(
            f"The id {twice[0]!r} occurs more than once in the column {labels.id_name!r} of "
            f"{labels.source}. Each sample must have one row there; --id names the column of the ids."
        )
    rows, found = in_both(ids, labels.ids)
    known = set(labels.ids)
    without = [*left_out, *(one for one in ids if one not in known)]
    own = set(ids)
    hint = _alike(without, [one for one in labels.ids if one not in own], matched=len(rows) > 0)
    empty = set(labels.empty)
    unlabelled = [one for one in without if one in empty]
    if len(rows) == 0 and unlabelled:
        raise ValueError(
            f"No sample of {name} has a label: {len(unlabelled)} of them ({_some(unlabelled)}) are in "
            f"the column {labels.id_name!r} of {labels.source}, but their values of {labels.name!r} are "
            "missing there. Choose another --target, or write the labels into that file."
        )
    if len(rows) == 0:
        raise ValueError(
            f"No sample of {name} ({_some(ids)}) is in the column {labels.id_name!r} of {labels.source} "
            f"({_some(labels.ids)}). Set the column of the ids with --id.{hint}"
        )
    have = "are in" if labels.file is not None and labels.values is None else "have a label in"
    counts = f"{len(rows)} of {len(rows) + len(without)} samples of {name} {have} {labels.source}"
    if without:
        texts = [] if labels.file is None else list(labels.file.missing_labels())
        text = f": {' or '.join(map(repr, texts[:2]))} is read as missing" if texts else ""
        lost = f"; the label of {len(unlabelled)} of them is missing there{text}" if unlabelled else ""
        counts += f" (the others are left out: {_some(without)}{lost})"
    unused = len(labels.ids) - len(set(found.tolist()))
    verb = "labels" if have == "have a label in" else "has"
    others = f", which {verb} {unused} other{'s' if unused > 1 else ''}" if unused else ""
    return rows, found, f"{counts}{others}.{hint}"


def _alike(ids: list[str], others: list[str], *, matched: bool) -> str:
    """Say which ids that are in one file only would be in both if they were written alike."""
    forms: dict[str, Callable[[str], str]] = {
        "spaces around them": str.strip,
        "capital letters": str.lower,
        "leading zeros": lambda text: text.lstrip("0"),
        "zeros after the point": lambda text: re.sub(r"\.0+$", "", text),
    }
    for what, form in forms.items():
        known = set(map(form, others))
        alike = [one for one in ids if form(one) in known]
        if alike:
            number = f"{len(alike)} {'more ' if matched else ''}id{'s' if len(alike) > 1 else ''}"
            return (
                f" {number} ({_some(alike)}) would match without {what}: write them alike in both files."
            )
    return ""


def id_texts(ids: Any) -> list[str]:
    """Return ids as text; whole numbers that are floats, as if some are missing, without a point."""
    if ids.dtype.kind == "f":
        known = ids[ids.notna()].to_numpy(np.float64)
        ids = ids.astype("Int64") if (known == np.floor(known)).all() else ids
    return list(map(str, ids))


def in_both(ids: Sequence[str], others: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the indices of the ids that are among others, and their indices there."""
    places = {one: index for index, one in enumerate(others)}
    rows = [row for row, one in enumerate(ids) if one in places]
    return np.array(rows, np.int64), np.array([places[ids[row]] for row in rows], np.int64)


def _some(ids: list[str]) -> str:
    return ", ".join(map(repr, ids[:_SHOWN])) + (", ..." if len(ids) > _SHOWN else "")
