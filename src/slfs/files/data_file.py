"""A table that was read from a file, with its labels and its original values. Needs pandas."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from slfs._core.suggest import similar_names
from slfs.files.columns import FileColumns, FileRows

TRUTH = ("True", "TRUE", "true", "False", "FALSE", "false")
"""Text that is a boolean in files with types."""


class HeaderNote(str):
    """That the names of columns look like data: untrue if other names than these were looked for."""

    __slots__ = ()


class ColumnNote(str):
    """What the user should know about some columns of a file; text that begins with their names."""

    columns: list[str]
    remark: str

    def __new__(cls, columns: list[str], remark: str) -> Self:
        """Join the names of the columns and the remark."""
        note = super().__new__(cls, f"{some_names(columns)}: {remark}")
        note.columns, note.remark = columns, remark
        return note

    def only(self, column: str) -> ColumnNote | None:
        """Return the note about one column, or None if it is about others."""
        return ColumnNote([column], self.remark) if column in self.columns else None


@dataclass(frozen=True)
class DataFile:
    """A table that was read from a file.

    Attributes
    ----------
    X : DataFrame, sparse array or FileColumns
        The columns without the target. Those of Parquet, npy and AnnData files are read when they are
        needed.
    y : array-like or None
        The target, if there is one.
    name : str
        Name of the file, "stdin" for the standard input.
    target : str
        Name of the target.
    fingerprint : str
        SHA-256 of the bytes of the file; if another file has the labels, of the fingerprints of both.
    all_names : list of str
        Names of all columns of the file, including the target, ids and dropped columns.
    ids : list of str
        Names of the columns that identify the samples. They are not columns of ``X``.
    notes : list of str
        What the user should know about the file, such as a first row that looks like data.
    read_originals : callable or None
        Takes names of columns and returns a DataFrame with their original values; see `originals`.
    typed_ids : DataFrame or None
        The ids of a CSV or TSV file, with the types that their values look like.
    weights : array-like or None
        Sample weights, if a column of the file contains them; see `with_column_as`.
    groups : array-like or None
        Groups of the rows, such as patients, if a column of the file contains them.
    form : str
        Name of its format, if it was read into memory.
    style : dict
        How a CSV file is written: its ``"separator"``, and its ``"decimal"`` separator if that is a
        comma. A DataFrame with these ``attrs`` is written in the same way.
    keep : callable or None
        Takes indices of rows and returns the same file with only these rows; see `with_rows`. None if
        the types of the columns do not depend on the rows, or if no label is missing.
    """

    X: Any
    y: Any
    name: str
    target: str
    fingerprint: str
    all_names: list[str]
    ids: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    read_originals: Callable[[list[str]], Any] | None = None
    typed_ids: Any = None
    weights: Any = None
    groups: Any = None
    form: str = ""
    style: dict[str, str] = field(default_factory=dict)
    keep: Callable[[NDArray[np.int64]], DataFile] | None = None

    @property
    def names(self) -> list[str]:
        """Names of the columns, x0, x1, ... if they have none."""
        return self.X.names if isinstance(self.X, FileColumns) else column_names(self.X)

    def locate(self, column: str) -> int:
        """Return the index in ``all_names`` of a column given by its name or index."""
        return find_column(column, self.all_names, self.name)

    def find(self, column: str) -> int:
        """Return the index in ``X`` of a column given by its name, or by its index in the file."""
        name = self.all_names[self.locate(column)]
        if name not in self.names:
            others = {self.target: "is the target", **dict.fromkeys(self.ids, "is an id")}
            what = others.get(
                name, "is already used for another option, such as --weights, --groups or --drop"
            )
            raise ValueError(f"The column {name!r} of {self.name} {what}.")
        return self.names.index(name)

    def find_all(self, columns: Sequence[str]) -> list[int]:
        """Return the indices in ``X`` of columns; see `split_names`."""
        return [self.find(one) for one in split_names(columns, self.all_names)]

    def with_column_as(self, field: str, column: str, *, keep_column: bool = False) -> DataFile:
        """Return the same file with one column as "weights" or "groups", no longer as part of ``X``.

        The groups may be an id, which ``X`` does not have anyway. With ``keep_column``, ``X`` keeps it.
        """
        keep = self.keep
        again = (
            None
            if keep is None
            else lambda rows: keep(rows).with_column_as(field, column, keep_column=keep_column)
        )
        name = self.all_names[self.locate(column)]
        on_disk = isinstance(self.X, FileColumns)
        values: Any
        if field == "groups" and name in self.ids:
            labels = self.originals([])[name].astype(object)
            blank = labels.map(lambda label: isinstance(label, str) and not label.strip())
            values = labels.mask(blank, None)
        else:
            index = self.find(column)
            values = self.X.read(name) if on_disk else as_column(self.X, index)
        X = self.X
        if not keep_column and name in self.names:
            X = X.without([name]) if on_disk else without(X, [self.names.index(name)])
        if field == "groups":
            return replace(self, X=X, groups=values, keep=again)
        return replace(self, X=X, weights=values, keep=again)

    def missing_labels(self) -> dict[str, int]:
        """Return the text that was read as a missing target, such as None, and how often it occurs."""
        import pandas as pd

        missing = pd.Series(np.asarray(self.y)).isna().to_numpy()
        if not missing.any() or self.read_originals is None or self.target not in self.all_names:
            return {}
        texts = self.read_originals([self.target])[self.target].to_numpy()
        return dict(Counter(text for text in texts[missing] if isinstance(text, str) and text.strip()))

    def with_target_only(self) -> DataFile:
        """Return the same file without the rows whose target is missing, and a note about them."""
        import pandas as pd

        known = pd.Series(np.asarray(self.y)).notna().to_numpy()
        if known.all() or not known.any():
            return self
        rows, number = np.flatnonzero(known), len(known) - int(known.sum())
        note = (
            f"{number} of {len(known)} rows of {self.name} are left out, because their target "
            f"{self.target!r} is missing."
        )
        kept = self.with_rows(rows)
        return replace(kept, y=whole_numbers(np.asarray(kept.y)), notes=[*kept.notes, note])

    def with_rows(self, rows: NDArray[np.int64]) -> DataFile:
        """Return the same file with some of its rows.

        Its columns have the types that they would have without the others: a row of units or totals
        may have the only text of a column of numbers.
        """
        if self.keep is not None:
            return self.keep(rows)
        read = self.read_originals
        return replace(
            self,
            X=FileRows(self.X, rows) if isinstance(self.X, FileColumns) else take_rows(self.X, rows),
            y=None if self.y is None else np.asarray(self.y)[rows],
            weights=None if self.weights is None else np.asarray(self.weights)[rows],
            groups=None if self.groups is None else np.asarray(self.groups)[rows],
            typed_ids=None if self.typed_ids is None else take_rows(self.typed_ids, rows),
            read_originals=None if read is None else lambda names: take_rows(read(names), rows),
        )

    def in_memory(self) -> Any:
        """Return the columns as a DataFrame or a sparse array."""
        return self.X.in_memory() if isinstance(self.X, FileColumns) else self.X

    def take(self, columns: NDArray[np.int64]) -> Any:
        """Return some of the columns."""
        if isinstance(self.X, FileColumns):
            return self.X.take(columns)
        return self.X[:, columns] if is_sparse(self.X) else self.X.iloc[:, columns]

    def originals(self, names: list[str], *, kinds: str = "") -> Any:
        """Return the ids, some columns and the target, if any, with the values that the file has.

        Values of text files are text: 02139 and 1e5 stay as they are. With ``kinds`` of dtypes, such as
        "biuf", they are numbers, booleans or dates if they look like them. Other formats keep their
        types.
        """
        if kinds and self.typed_ids is not None:
            part = self._typed(names, kinds)
            if self.y is None:
                return part
            part = with_target(part, part.columns, self)
            truth = part[part.columns[-1]].map({text: text.lower() == "true" for text in TRUTH})
            return part if truth.isna().any() else part.assign(**{part.columns[-1]: truth.astype(bool)})
        wanted = [*self.ids, *names, *([] if self.y is None else [self.target])]
        if self.read_originals is not None:
            return self.read_originals(wanted)
        part = self.take(np.array([self.names.index(name) for name in names], np.int64))
        return with_target(part, names, self)

    def _typed(self, names: list[str], kinds: str) -> Any:
        """Return the ids and some columns with types, as long as no digit of a number is lost.

        Ids are numbers only if they are written as in the file; integers above 2**53 stay text.
        """
        import pandas as pd

        part = pd.concat([self.typed_ids, self.X[names]], axis=1).reset_index(drop=True)
        of_text = [name for name, kind in part.dtypes.items() if kind.kind in {*"mM"} - {*kinds}]
        floats = [name for name, kind in part.dtypes.items() if kind.kind == "f"]
        large = [name for name in floats if part[name].abs().between(2**53, np.inf, "left").any()]
        unsure = [name for name in floats if name in self.ids and name not in large]
        if (of_text or large or unsure) and self.read_originals is not None:
            texts = self.read_originals([*of_text, *large, *unsure])
            for name in texts.columns:
                text = texts[name].astype(object).where(part[name].notna().to_numpy(), None)
                exact = _as_numbers(part[name], text) if name in unsure else None
                part[name] = text.array if exact is None else exact.array
        return part


def _as_numbers(numbers: Any, texts: Any) -> Any:
    """Return a column of floats as integers or floats that are written as their text; None if not."""
    known = numbers[numbers.notna()].tolist()
    written = [text.strip() for text in texts if text is not None]
    if all(number.is_integer() for number in known) and written == [str(int(one)) for one in known]:
        return numbers.astype("Int64")
    return numbers if written == list(map(str, known)) else None


def whole_numbers(labels: NDArray[Any]) -> NDArray[Any]:
    """Return labels as integers if they are floats only because others were missing."""
    if labels.dtype.kind != "f" or not (np.abs(labels) < 2**53).all():
        return labels
    return labels.astype(np.int64) if (labels == np.floor(labels)).all() else labels


def take_rows(table: Any, rows: NDArray[np.int64]) -> Any:
    """Return some rows of a DataFrame or a sparse array."""
    if is_sparse(table):
        return table[rows]
    part = table.iloc[rows].reset_index(drop=True)
    part.attrs = table.attrs
    return part


def with_target(part: Any, names: Sequence[str], file: DataFile) -> Any:
    """Make a DataFrame of some columns and the target of a file, ready to be written."""
    import pandas as pd

    if isinstance(part, pd.DataFrame):
        part = part.copy(deep=False)
    else:
        part = pd.DataFrame(part.toarray() if is_sparse(part) else part, columns=list(names))
    target = file.target
    while target in part.columns:
        target += "'"
    part[target] = np.asarray(file.y)
    return part


def column_names(table: Any) -> list[str]:
    """Return the names of the columns of a DataFrame, or x0, x1, ... for a sparse array."""
    if is_sparse(table):
        return [f"x{column}" for column in range(table.shape[1])]
    return list(map(str, table.columns))


def find_column(wanted: str, names: Sequence[str], where: str) -> int:
    """Return the index of a column given by its name or index; suggest names if there is none.

    "" is the first column without a name.
    """
    if not wanted:
        wanted = next((name for name in names if name.startswith("Unnamed: ")), wanted)
    if wanted in names:
        return list(names).index(wanted)
    try:
        index = int(wanted)
    except ValueError:
        near = similar_names(wanted, names, cutoff=0.5)
        hint = (
            f"Did you mean {' or '.join(map(repr, near))}?" if near else f"It has {some_names(names)}."
        )
        raise ValueError(f"{where} has no column {wanted!r}. {hint}") from None
    if not -len(names) <= index < len(names):
        raise ValueError(f"{where} has no column {index}: it has {len(names)} columns.")
    return index % len(names)


def split_names(given: Sequence[str], known: Sequence[str]) -> list[str]:
    """Split lists of columns at commas, except those that are the name of a column."""
    found: list[str] = []
    for one in given:
        whole = "," not in one or one in known
        found += [one] if whole else filter(None, map(str.strip, one.split(",")))
    return found


def some_names(names: Sequence[str]) -> str:
    """List the first names, and the number of columns if there are more."""
    shown = ", ".join(repr(name) for name in names[:8])
    return f"{shown}, ... ({len(names)} columns)" if len(names) > 8 else shown


def is_sparse(table: Any) -> bool:
    """Return whether a table is a sparse array."""
    return hasattr(table, "tocsr")


def as_column(table: Any, column: int) -> Any:
    """Return one column of a DataFrame or a sparse array."""
    return table[:, [column]].toarray()[:, 0] if is_sparse(table) else table.iloc[:, column]


def without(table: Any, columns: list[int]) -> Any:
    """Leave columns out; those of a sparse array become empty, so that the others keep their indices."""
    kept = np.ones(table.shape[1], np.bool_)
    kept[columns] = False
    if is_sparse(table):
        from scipy import sparse

        entries = sparse.coo_array(table)
        chosen = kept[entries.coords[1]]
        rows, indices = (part[chosen] for part in entries.coords)
        return sparse.csr_array((entries.data[chosen], (rows, indices)), shape=table.shape)
    part = table.loc[:, kept]
    part.columns = part.columns.map(str)
    return part
