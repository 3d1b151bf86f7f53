"""Base of files that are tables without being in memory: columns are read when they are needed."""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from slfs.tables.table import Columns, ColumnSource, LabelBlock, NumberBlock, Order, Rows


class FileColumns(ColumnSource):
    """A file whose columns are read when they are needed; some of them may be left out.

    Subclasses implement `take`, ``_values`` and ``_kind``.

    Parameters
    ----------
    path : Path
    names : list of str
        Names of all columns of the file.
    n_samples : int
    drop : sequence of str
        Columns to leave out.

    Attributes
    ----------
    path : Path
    names : list of str
    shape : tuple of int
    """

    def __init__(self, path: Path, names: list[str], n_samples: int, drop: Sequence[str]) -> None:
        self.path, self.n_samples = path, n_samples
        self._all_names = self.names = names
        self.n_features = len(names)
        if drop:
            vars(self).update(vars(self.without(drop)))

    @functools.cached_property
    def numbers(self) -> NDArray[np.bool_]:  # type: ignore[override]
        """Which columns hold numbers or booleans."""
        return np.array([self._kind(name)[0] for name in self.names], np.bool_)

    @functools.cached_property
    def categorical(self) -> NDArray[np.bool_]:  # type: ignore[override]
        """Which columns are categorical by their type."""
        return np.array([self._kind(name)[1] for name in self.names], np.bool_)

    def without(self, columns: Sequence[str]) -> Self:
        """Leave columns out.

        Parameters
        ----------
        columns : sequence of str

        Returns
        -------
        table : FileColumns
            The same file with fewer columns.
        """
        unwanted, known = set(columns), set(self.names)
        unknown = [name for name in columns if name not in known]
        if unknown:
            raise ValueError(f"Cannot drop columns {unknown[:5]}: {self.path} does not have them.")
        table = object.__new__(type(self))
        vars(table).update(vars(self))  # shares the open file
        table.names = [name for name in self.names if name not in unwanted]
        table.n_features = len(table.names)
        for cached in ("numbers", "categorical"):
            vars(table).pop(cached, None)
        return table

    def including(self, columns: Sequence[str]) -> Self:
        """Add columns of ``index_names`` to the table.

        Parameters
        ----------
        columns : sequence of str

        Returns
        -------
        table : FileColumns
            The same file with more columns.
        """
        table = self.without([])
        table.names = [*self.names, *columns]
        table.n_features = len(table.names)
        return table

    def check_name(self, name: str) -> None:
        """Raise an error if a name, such as that of the target, may mean two columns of the file.

        Parameters
        ----------
        name : str
        """

    def in_memory(self) -> Any:
        """Read all columns.

        Returns
        -------
        table : DataFrame
        """
        return self.take(np.arange(self.n_features))

    def read(self, column: str) -> NDArray[Any]:
        """Read one column of the file, even if it was dropped.

        Parameters
        ----------
        column : str

        Returns
        -------
        values : ndarray of shape (n_samples,)
        """
        if column not in self._all_names:
            raise ValueError(f"{self.path} has no column {column!r}.")
        return self._values(column)

    @property
    def index_names(self) -> list[str]:
        """Names of columns that are not features, such as the index of a dataframe; not in ``names``."""
        return []

    def originals(self, names: list[str]) -> Any:
        """Read columns by name, even dropped ones, into a DataFrame.

        Parameters
        ----------
        names : list of str

        Returns
        -------
        frame : DataFrame
        """
        import pandas as pd

        return pd.DataFrame({name: self.read(name) for name in names})

    @property
    def date_names(self) -> list[str]:
        """Names of the columns that hold dates or times."""
        return []

    def first_texts(self) -> Any:
        """Return the first rows of the columns that are not numbers.

        Returns
        -------
        frame : DataFrame
            The columns, with their values as they are.
        """
        return self.take(np.flatnonzero(~self.numbers))

    @abstractmethod
    def _values(self, name: str) -> NDArray[Any]:
        """Return all values of one column."""

    @abstractmethod
    def _kind(self, name: str) -> tuple[bool, bool]:
        """Return whether a column holds numbers, and whether it is categorical."""


class FileRows(FileColumns):
    """Some rows of a file whose columns are read when they are needed.

    Parameters
    ----------
    table : FileColumns
    rows : ndarray of int
    """

    def __init__(self, table: FileColumns, rows: Rows) -> None:
        self._table, self._rows = table, rows
        super().__init__(table.path, table.names, len(rows), ())
        self._all_names = table._all_names

    def without(self, columns: Sequence[str]) -> Self:
        """Leave columns out."""
        return type(self)(self._table.without(columns), self._rows)

    def take(self, columns: Columns) -> Any:
        """Read some columns into a pandas DataFrame."""
        return self._table.take(columns).iloc[self._rows].reset_index(drop=True)

    def in_memory(self) -> Any:
        """Read all columns; sparse ones stay sparse."""
        table = self._table.in_memory()
        if isinstance(table, FileColumns):
            return self
        return (
            table[self._rows]
            if hasattr(table, "tocsr")
            else table.iloc[self._rows].reset_index(drop=True)
        )

    def number_block(self, columns: Columns, order: Order) -> NumberBlock:
        return self._table.number_block(columns, self._source(order))

    def label_block(self, column: int, order: Order) -> LabelBlock:
        return self._table.label_block(column, self._source(order))

    def originals(self, names: list[str]) -> Any:
        """Read columns by name, even dropped ones, into a DataFrame."""
        return self._table.originals(names).iloc[self._rows].reset_index(drop=True)

    def _source(self, order: Order) -> Rows:
        return self._rows if order is None else self._rows[order]

    def _values(self, name: str) -> NDArray[Any]:
        return self._table.read(name)[self._rows]

    def _kind(self, name: str) -> tuple[bool, bool]:
        return self._table._kind(name)
