"""A table -> some of its rows and columns, or the table with noise columns added, without copying it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from slfs.counting.planes import SampleLayout
from slfs.tables.planes import PlaneBlock, as_planes, is_planes
from slfs.tables.table import (
    Columns,
    ColumnSource,
    LabelBlock,
    NumberBlock,
    Order,
    Rows,
    Table,
    interleave,
)


class Part(ColumnSource):
    """Some rows and columns of a table, which is read when a block is requested.

    Parameters
    ----------
    table : Table
    names : list of str
        Names of the columns of the part.
    rows : ndarray of int
        The rows of the part.
    columns : ndarray of int or None, default=None
        The columns of the part. None: all columns.
    """

    def __init__(
        self, table: Table, names: list[str], rows: Rows, columns: Columns | None = None
    ) -> None:
        self._table, self._rows, self._columns = table, rows, columns
        self.names, self.n_samples, self.n_features = names, len(rows), len(names)
        self.numbers, self.categorical = table.numbers, table.categorical
        if columns is not None:
            self.numbers, self.categorical = table.numbers[columns], table.categorical[columns]
        self.planes = is_planes(table) if columns is None else is_planes(table)[columns]

    def number_block(self, columns: Columns, order: Order) -> NumberBlock:
        """Return columns as numbers."""
        return self._table.number_block(self._source(columns), self._source_rows(order))

    def label_block(self, column: int, order: Order) -> LabelBlock:
        """Return one column as Python values."""
        source = int(self._source(np.array([column]))[0])
        return self._table.label_block(source, self._source_rows(order))

    def plane_block(self, columns: Columns, layout: SampleLayout) -> PlaneBlock:
        """Return columns as planes."""
        table = as_planes(self._table)
        assert table is not None  # otherwise no column is a plane
        block = table.plane_block(
            self._source(columns), replace(layout, order=self._source_rows(layout.order))
        )
        return replace(block, layout=layout)

    def take(self, columns: Columns) -> Part:
        """Return some columns of the part."""
        names = [self.names[column] for column in columns]
        return Part(self._table, names, self._rows, self._source(columns))

    def _source(self, columns: Columns) -> Columns:
        return columns if self._columns is None else self._columns[columns]

    def _source_rows(self, order: Order) -> Rows:
        return self._rows if order is None else self._rows[order]


class WithNoise(ColumnSource):
    """A table with as many noise columns: copies of its columns whose rows are shuffled in the same way.

    A noise column has the values of a real one and depends on the other noise columns as real columns
    depend on each other, but is independent of the classes and of the real columns. Noise columns are
    inserted at random positions; real columns keep their order, and so do noise columns.

    Parameters
    ----------
    table : Table
    names : list of str
    random : numpy Generator

    Attributes
    ----------
    is_noise : ndarray of bool of shape (n_features,)
    source : ndarray of int of shape (n_features,)
        The column of ``table`` that each column is a copy of.
    """

    def __init__(self, table: Table, names: list[str], random: np.random.Generator) -> None:
        self._table = table
        self._shuffled = random.permutation(table.n_samples)
        self.is_noise = random.permutation(np.repeat([False, True], table.n_features))
        self.source = np.where(self.is_noise, np.cumsum(self.is_noise), np.cumsum(~self.is_noise)) - 1
        self.names = [
            f"noise of {names[column]}" if noise else names[column]
            for column, noise in zip(self.source.tolist(), self.is_noise.tolist(), strict=True)
        ]
        self.n_samples, self.n_features = table.n_samples, len(self.names)
        self.numbers, self.categorical = table.numbers[self.source], table.categorical[self.source]

    def number_block(self, columns: Columns, order: Order) -> NumberBlock:
        """Return columns as numbers."""
        noise, source = self.is_noise[columns], self.source[columns]
        if not noise.any():
            return self._table.number_block(source, order)
        shuffled = self._table.number_block(source[noise], self._shuffled_rows(order))
        if noise.all():
            return shuffled
        real = self._table.number_block(source[~noise], order)
        return interleave(real, shuffled, noise)

    def label_block(self, column: int, order: Order) -> LabelBlock:
        """Return one column as Python values."""
        rows = self._shuffled_rows(order) if self.is_noise[column] else order
        return self._table.label_block(int(self.source[column]), rows)

    def take(self, columns: Columns) -> Part:
        """Return some columns, with noise columns among them."""
        names = [self.names[column] for column in columns]
        return Part(self, names, np.arange(self.n_samples), columns)

    def _shuffled_rows(self, order: Order) -> Rows:
        return self._shuffled if order is None else self._shuffled[order]
