"""A table -> some of its rows and columns, or the same with columns of noise, without a copy of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slfs._core.ragged import ragged
from slfs.tables.table import ColumnSource, LabelBlock, NumberBlock, Rows, Table, dense_block

Ints = NDArray[np.int64]


class Part(ColumnSource):
    """Some rows and columns of a table; the table itself is read when a block is asked for.

    Parameters
    ----------
    table : Table
    names : list of str
        Names of the columns of the part.
    rows : ndarray of int
        Each at most once.
    columns : ndarray of int or None, default=None
        None: all of them.
    """

    def __init__(self, table: Table, names: list[str], rows: Rows, columns: Ints | None = None) -> None:
        self._table, self._rows, self._columns = table, rows, columns
        self.names, self.n_samples, self.n_features = names, len(rows), len(names)
        self.numbers, self.categorical = table.numbers, table.categorical
        if columns is not None:
            self.numbers, self.categorical = table.numbers[columns], table.categorical[columns]

    def number_block(self, columns: Ints, order: Rows) -> NumberBlock:
        """Columns as numbers, samples in the given order."""
        return self._table.number_block(self._source(columns), self._rows[order])

    def label_block(self, column: int, order: Rows) -> LabelBlock:
        """One column as Python values, samples in the given order."""
        return self._table.label_block(int(self._source(np.array([column]))[0]), self._rows[order])

    def take(self, columns: Ints) -> Part:
        """Some columns of the part."""
        names = [self.names[column] for column in columns]
        return Part(self._table, names, self._rows, self._source(columns))

    def _source(self, columns: Ints) -> Ints:
        return columns if self._columns is None else self._columns[columns]


class WithNoise(ColumnSource):
    """A table with as many columns of noise: its own columns, their rows shuffled all in the same way.

    A noise column has the values of a real one and depends on the other noise columns as real ones on
    each other, but neither on the classes nor on any real column. It stands at a random place among the
    others; the real ones keep their order, and so does the noise.

    Parameters
    ----------
    table : Table
    names : list of str
    random : numpy Generator

    Attributes
    ----------
    is_noise : ndarray of bool of shape (n_features,)
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

    def number_block(self, columns: Ints, order: Rows) -> NumberBlock:
        """Columns as numbers, samples in the given order."""
        noise, source = self.is_noise[columns], self.source[columns]
        if not noise.any():
            return self._table.number_block(source, order)
        made = self._table.number_block(source[noise], self._shuffled[order])
        if noise.all():
            return made
        real = self._table.number_block(source[~noise], order)
        return _interleaved(real, made, noise)

    def label_block(self, column: int, order: Rows) -> LabelBlock:
        """One column as Python values, samples in the given order."""
        rows = self._shuffled[order] if self.is_noise[column] else order
        return self._table.label_block(int(self.source[column]), rows)

    def take(self, columns: Ints) -> Part:
        """Some columns, noise among them."""
        names = [self.names[column] for column in columns]
        return Part(self, names, np.arange(self.n_samples), columns)


def _interleaved(first: NumberBlock, second: NumberBlock, from_second: NDArray[np.bool_]) -> NumberBlock:
    """The columns of two blocks of one table in one block, each where the mask says."""
    place = np.argsort(np.argsort(from_second, kind="stable"))  # in first, then second
    value = np.concatenate([first.value, second.value])
    if first.sample is None or second.sample is None:
        return dense_block(value.reshape(len(place), first.n_samples)[place])
    begins = np.concatenate([first.indptr[:-1], first.indptr[-1] + second.indptr[:-1]])
    lengths = np.concatenate([np.diff(first.indptr), np.diff(second.indptr)])
    indptr, source = ragged(begins[place], lengths[place])
    sample = np.concatenate([first.sample, second.sample])[source]
    return NumberBlock(first.n_samples, indptr, value[source], sample)
