"""The content of a file -> all its columns, and how to read their original values. Needs pandas."""

from __future__ import annotations

import io
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slfs.files.data_file import ColumnNote, column_names, split_names, take_rows
from slfs.files.inference import TableError, infer_types, spoiled_columns
from slfs.files.marks import Marks
from slfs.files.matching import Labels, read_text, transposed, typed
from slfs.files.registry import MIXED, SELF_DESCRIBING, TEXT, Format, ReadOptions, formats
from slfs.files.remarks import note_index


@dataclass(frozen=True)
class Loaded:
    """The content of a file: all columns, labels of its own, and how to read the original values."""

    table: Any
    y: Any
    originals: Callable[[Sequence[int] | None], Any]
    """Takes the indices of the columns that are needed, or None for all."""
    ids: Sequence[str]
    drop: Sequence[str]
    left_out: Sequence[str] = ()
    """Samples of a transposed file that were not read, because they have no label."""
    infer: Callable[[Any], Any] | None = None
    """Takes original values and returns them with their types; None if the file states the types."""

    def only(self, rows: NDArray[np.int64]) -> Loaded:
        """Return some of the rows, with the types that the columns have without the others."""
        table = take_rows(self.table, rows)
        spoiled = [] if self.infer is None else spoiled_columns(self.table, rows)
        if self.infer is not None and spoiled:
            values = self.originals(spoiled)
            if values.shape[1] == table.shape[1]:  # not all formats leave the others out
                values = values.iloc[:, spoiled]
            values = take_rows(values, rows)
            values.attrs = table.attrs
            inferred = self.infer(values)
            for place, index in enumerate(spoiled):
                table.isetitem(index, inferred.iloc[:, place])
        return replace(
            self,
            table=table,
            y=None if self.y is None else np.asarray(self.y)[rows],
            originals=lambda columns: take_rows(self.originals(columns), rows),
        )


def load(
    form: Format,
    content: io.BytesIO,
    options: ReadOptions,
    name: str,
    again: Callable[[], io.BytesIO],
    ids: Sequence[str],
    drop: Sequence[str],
    others: Sequence[str],
) -> Loaded:
    """Read all columns; the index of a dataframe in the file is one if it is named by a list."""
    table, y = _read(form, form.read, content, options, name)
    if form.name in SELF_DESCRIBING:
        table = _with_index(table, [*ids, *others, *drop], options.notes)
    if options.missing and form.name not in (*TEXT, *SELF_DESCRIBING):  # these have done it
        table, y = _without_marks(table, y, Marks(options.missing))

    def originals(columns: Sequence[int] | None = None) -> Any:
        wanted = replace(options, columns=columns, notes=[])  # the remarks would be the same again
        return _read(form, form.original, again(), wanted, name)

    names = column_names(table)
    if not names:  # JSON without rows
        return Loaded(table, y, originals, (), ())
    infer = _inference(form, options) if form.name in (*TEXT, *MIXED) else None
    own, unwanted = split_names(ids, names), split_names(drop, names)
    return Loaded(table, y, originals, own, unwanted, infer=infer)


def _inference(form: Format, options: ReadOptions) -> Callable[[Any], Any]:
    """Return a function that gives original values of a file the types that they look like."""

    def infer(values: Any) -> Any:
        if form.name not in TEXT:
            return infer_types(values, Marks(options.missing), options.text)
        decimal = values.attrs.get("decimal")
        own = replace(options, decimal=decimal, notes=[])
        # with commas as separators, there are no decimal commas
        table = read_text(values, own, "tsv" if decimal == "," else "csv")
        options.notes.extend(note for note in own.notes if isinstance(note, ColumnNote))
        return table

    return infer


def _with_index(table: Any, wanted: Sequence[str], notes: list[str]) -> Any:
    """Make columns of the parts of the index that are wanted, after all others; note the other parts."""
    import pandas as pd

    if isinstance(table.index, pd.RangeIndex):  # it is not stored as a column
        return table
    names = column_names(table)
    levels = enumerate(table.index.names)  # a column of the same name hides one of them
    index = {name: level for level, name in levels if name is not None and name not in names}
    chosen = set(split_names(wanted, [*index, *names])).intersection(index)
    note_index([name for name in index if name not in chosen], notes)
    added = {name: table.index.get_level_values(index[name]) for name in index if name in chosen}
    return table.reset_index(drop=True).assign(**added)


def _without_marks(table: Any, y: Any, marks: Marks) -> tuple[Any, Any]:
    import pandas as pd

    return marks.remove(table), None if y is None else marks.remove(pd.Series(y)).to_numpy()


def load_transposed(
    form: Format,
    content: io.BytesIO,
    options: ReadOptions,
    name: str,
    labels: Labels | None,
    ids: Sequence[str],
    drop: Sequence[str],
) -> Loaded:
    """Exchange rows and columns; the names of the columns become the ids of the samples."""
    sample_id = labels.id_name if labels else ids[0] if ids else "sample"
    known = None if labels is None else frozenset(labels.ids)

    def turned(content: io.BytesIO, options: ReadOptions) -> Any:
        frame = form.original(content, replace(options, transposed=True))
        if form.name in SELF_DESCRIBING:
            frame = _with_names(frame, form, content, options)
        if labels is not None and known is not None:
            _note_first_sample(frame, labels.source, known, options.notes)
            if form.name in TEXT:
                _note_first_name(frame, labels, known, options.notes)
        return transposed(frame, sample_id, known, drop)

    frame = _read(form, turned, content, options, name)
    left_out, unwanted = frame.attrs.pop("left_out"), frame.attrs.pop("drop")
    table = typed(frame, options)
    table.attrs |= frame.attrs
    ids = [sample_id, *(labels.file.ids[1:] if labels is not None and labels.file is not None else ())]
    infer = _inference(form, replace(options, text=[*options.text, sample_id]))
    return Loaded(table, None, lambda _: frame.copy(deep=False), ids, unwanted, left_out, infer)


def _with_names(frame: Any, form: Format, content: io.BytesIO, options: ReadOptions) -> Any:
    """Make the index of the dataframe that was written to a file the index again: it has the names."""
    content.seek(0)
    index = form.read(content, replace(options, notes=[]))[0].index
    name = index.name if index.name is not None else "__index_level_0__"  # as PyArrow calls it
    return frame.set_index(name) if name in frame.columns else frame


def _note_first_sample(frame: Any, source: str, known: Container[str], notes: list[str]) -> None:
    """Note that the first column, which contains the names of the features, is one of the samples."""
    import pandas as pd

    if not isinstance(frame.index, pd.RangeIndex) or not frame.shape[1]:
        return
    first = str(frame.columns[0])
    if first in known:
        notes.append(
            f"The first column of the file, {first!r}, is a sample of {source}, but its values, such as "
            f"{str(frame.iloc[0, 0])!r}, are used as the names of the columns, and this sample is left "
            "out. Insert a first column with the names."
        )


def _note_first_name(frame: Any, labels: Labels, known: frozenset[str], notes: list[str]) -> None:
    """Note that the first name of a header with a name too few may not be that of a sample."""
    import pandas as pd

    names = list(map(str, frame.columns))
    if isinstance(frame.index, pd.RangeIndex) or known.isdisjoint(names):
        return
    if names[0] not in known.union(labels.empty):
        notes.append(
            "The header has one name fewer than the rows have fields, so that its first name, "
            f"{names[0]!r}, is used as a sample, but {labels.source} has no such id. If it is the name "
            "of the first column, the name of a sample is missing, and the samples before it have the "
            "values of the next one: add the name to the header."
        )


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


def by_name(read: Callable[[Sequence[int] | None], Any], names: list[str]) -> Callable[[list[str]], Any]:
    """Return a function that reads some columns by name."""

    def choose(wanted: list[str]) -> Any:
        frame = read([names.index(name) for name in wanted if name in names])
        attributes = frame.attrs
        frame.columns = frame.columns.map(str)
        part = frame[wanted]
        part.attrs = attributes
        return part

    return choose
