"""The interface of a table, which returns validated blocks of its columns.

Numbers come as entries (value, sample), everything else as Python values with a mask of the missing
ones.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from slfs._core.ragged import ragged
from slfs.tables.choice import resolve_columns
from slfs.tables.values import missing_values

Columns = NDArray[np.int64]
Rows = NDArray[np.int64]
Order = Rows | None
"""The samples that are wanted, in the order in which they are wanted. None: all, as they are."""

TimeKinds = NDArray[np.int8]
"""A `slfs.tables.dates.TimeKind` per column."""

Alleles = tuple[str, str]
"""The allele whose copies a genotype counts, and the other one."""

Array = TypeVar("Array", bound=NDArray[Any])
Block = TypeVar("Block")
Result = TypeVar("Result")


@dataclass(frozen=True)
class NumberBlock:
    """Some columns of numbers, dense or sparse.

    Attributes
    ----------
    n_samples : int
        Number of rows.
    indptr : ndarray of shape (n_columns + 1,)
        The entries of column j are ``indptr[j]:indptr[j + 1]``.
    value : ndarray of shape (n_entries,)
        Values of the entries. If all values of a dense block are integers from 0 to 255, they may be
        stored as bytes, which is an eighth of the memory to move.
    sample : ndarray of shape (n_entries,) or None
        Row of each entry; rows without an entry have the value 0. None if every row has an entry, in
        order.
    time_kind : ndarray of int8 of shape (n_columns,) or None, default=None
        The `TimeKind` of each column. None if no column holds dates or durations.
    """

    n_samples: int
    indptr: NDArray[np.int64]
    value: NDArray[Any]
    sample: NDArray[np.int64] | None
    time_kind: TimeKinds | None = None

    def take(self, columns: Columns) -> NumberBlock:
        """Return some columns of the block.

        Parameters
        ----------
        columns : ndarray of int
            Indices of the columns in the block.

        Returns
        -------
        block : NumberBlock
        """
        if len(columns) == len(self.indptr) - 1:
            return self
        time_kind = None if self.time_kind is None else self.time_kind[columns]
        if self.sample is None:
            return dense_block(self.value.reshape(-1, self.n_samples)[columns], time_kind)
        indptr, source = ragged(self.indptr[columns], np.diff(self.indptr)[columns])
        return NumberBlock(self.n_samples, indptr, self.value[source], self.sample[source], time_kind)

    def time_kinds(self) -> TimeKinds:
        """Return the `TimeKind` of each column.

        Returns
        -------
        kinds : ndarray of int8 of shape (n_columns,)
        """
        return np.zeros(len(self.indptr) - 1, np.int8) if self.time_kind is None else self.time_kind

    def dense(self) -> NDArray[np.float64]:
        """Return all values.

        Returns
        -------
        values : ndarray of shape (n_columns, n_samples)
        """
        n_columns = len(self.indptr) - 1
        if self.sample is None:
            return self.value.reshape(n_columns, self.n_samples).astype(np.float64, copy=False)
        values = np.zeros((n_columns, self.n_samples))
        values[np.repeat(np.arange(n_columns), np.diff(self.indptr)), self.sample] = self.value
        return values


@dataclass(frozen=True)
class LabelBlock:
    """One column as Python values.

    Attributes
    ----------
    values : list
        Values of the rows.
    missing : ndarray of bool of shape (n_samples,)
        Which values are missing.
    name : object
        Name of the column, for messages.
    order : list or None, default=None
        All categories in ascending order, if they are ordered.
    """

    values: list[Any]
    missing: NDArray[np.bool_]
    name: object
    order: list[Any] | None = None


class Table(Protocol):
    """Interface of a table that is used by the rest of the library."""

    n_samples: int
    n_features: int
    numbers: NDArray[np.bool_]
    """Which columns hold numbers or booleans."""
    categorical: NDArray[np.bool_]
    """Which columns are categorical by their type."""

    def number_block(self, columns: Columns, order: Order) -> NumberBlock:
        """Return columns as numbers, with NaN for values that are not numbers.

        Parameters
        ----------
        columns : ndarray of int
            Indices of the columns.
        order : ndarray of int or None
            Rows to return, in this order; None returns all rows.

        Returns
        -------
        block : NumberBlock
        """

    def label_block(self, column: int, order: Order) -> LabelBlock:
        """Return one column as Python values.

        Parameters
        ----------
        column : int
            Index of the column.
        order : ndarray of int or None
            Rows to return, in this order; None returns all rows.

        Returns
        -------
        block : LabelBlock
        """


@runtime_checkable
class SpreadTable(Protocol):
    """A table that is distributed over other machines, to which the work is sent."""

    def map_blocks(
        self, work: Callable[[Table, Block], Result], blocks: list[Block]
    ) -> Iterable[Result]:
        """Apply a function to each block of columns, or to parts of it; results in column order."""


class ColumnSource(ABC):
    """Base class of tables whose columns are loaded on demand.

    Subclasses set the attributes and implement `take`. They may override `number_block` and
    `label_block` if there is a faster way than with `take`.

    Attributes
    ----------
    names : list of str
        Names of the columns.
    n_samples, n_features : int
        Number of rows and columns.
    numbers : ndarray of bool of shape (n_features,)
        Which columns hold numbers or booleans.
    categorical : ndarray of bool of shape (n_features,)
        Which columns are categorical by their type.
    how_to_select : str
        Code that selects the columns seen in ``fit`` from X, if there is a short one.
    """

    how_to_select = ""
    names: list[str]
    n_samples: int
    n_features: int
    numbers: NDArray[np.bool_]
    categorical: NDArray[np.bool_]

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""
        return self.n_samples, self.n_features

    def __len__(self) -> int:
        return self.n_samples

    @abstractmethod
    def take(self, columns: Columns) -> Any:
        """Return some columns in memory, with all rows.

        Parameters
        ----------
        columns : ndarray of int
            Indices of the columns.

        Returns
        -------
        table : array or dataframe of shape (n_samples, n_columns)
        """

    def number_block(self, columns: Columns, order: Order) -> NumberBlock:
        """Return columns as numbers, with NaN for values that are not numbers.

        Parameters
        ----------
        columns : ndarray of int
            Indices of the columns.
        order : ndarray of int or None
            Rows to return, in this order; None returns all rows.

        Returns
        -------
        block : NumberBlock
        """
        return _read(self.take(columns)).number_block(np.arange(len(columns)), order)

    def label_block(self, column: int, order: Order) -> LabelBlock:
        """Return one column as Python values.

        Parameters
        ----------
        column : int
            Index of the column.
        order : ndarray of int or None
            Rows to return, in this order; None returns all rows.

        Returns
        -------
        block : LabelBlock
        """
        block = _read(self.take(np.array([column]))).label_block(0, order)
        return replace(block, name=self.names[column])

    def alleles(self, columns: Columns) -> Sequence[Alleles | None]:
        """Return what the numbers of columns count.

        Parameters
        ----------
        columns : ndarray of int
            Indices of the columns.

        Returns
        -------
        alleles : sequence of (str, str) or None
            For genotypes the counted and the other allele; None for all other columns. If a table has
            genotypes, its method `take` returns pandas DataFrames.
        """
        return [None] * len(columns)


def dense_block(
    values: NDArray[np.float64] | NDArray[np.uint8], time_kind: TimeKinds | None = None
) -> NumberBlock:
    """Make a dense block.

    Parameters
    ----------
    values : ndarray of shape (n_columns, n_samples)
        Floats, or bytes.
    time_kind : ndarray of int8 of shape (n_columns,) or None, default=None
        The `TimeKind` of each column. None if no column holds dates or durations.

    Returns
    -------
    block : NumberBlock
    """
    n_columns, n_samples = values.shape
    indptr = np.arange(n_columns + 1, dtype=np.int64) * n_samples
    return NumberBlock(n_samples, indptr, values.reshape(-1), None, time_kind)


def interleave(first: NumberBlock, second: NumberBlock, from_second: NDArray[np.bool_]) -> NumberBlock:
    """Join the columns of two blocks of the same samples, in the order that the mask gives.

    The result is sparse if both blocks are.
    """
    position = np.argsort(np.argsort(from_second, kind="stable"))  # in first followed by second
    time_kind = np.concatenate([first.time_kinds(), second.time_kinds()])[position]
    if first.sample is None or second.sample is None:
        values = [
            block.value.reshape(len(block.indptr) - 1, block.n_samples)  # bytes stay bytes
            if block.sample is None
            else block.dense()
            for block in (first, second)
        ]
        return dense_block(np.concatenate(values)[position], time_kind)
    begins = np.concatenate([first.indptr[:-1], first.indptr[-1] + second.indptr[:-1]])
    lengths = np.concatenate([np.diff(first.indptr), np.diff(second.indptr)])
    indptr, source = ragged(begins[position], lengths[position])
    value = np.concatenate([first.value, second.value])[source]
    sample = np.concatenate([first.sample, second.sample])[source]
    return NumberBlock(first.n_samples, indptr, value, sample, time_kind)


def make_label_block(values: list[Any], name: object) -> LabelBlock:
    """Make a block from the values of a column."""
    return LabelBlock(values, missing_values(values), name)


def reorder(values: Array, order: Order) -> Array:
    """Return the entries of an array for the given samples; None returns it unchanged."""
    return values if order is None else values[order]  # type: ignore[return-value]


def check_size(shape: tuple[int, int], min_samples: int) -> None:
    """Raise the errors that scikit-learn raises for arrays with too few rows or columns."""
    if shape[1] == 0:
        raise ValueError(
            f"Found array with 0 feature(s) (shape={shape}) while a minimum of 1 is required."
        )
    if shape[0] < min_samples:
        raise ValueError(
            f"Found array with {shape[0]} sample(s) (shape={shape}) while a minimum of {min_samples} is "
            "required."
        )


def resolve_categorical(
    choice: str | Sequence[Any] | NDArray[Any], table: Table, names: NDArray[Any] | None
) -> NDArray[np.bool_]:
    """Turn the parameter ``categorical_features`` into a mask over the columns."""
    if isinstance(choice, str):
        return table.categorical if choice == "from_dtype" else np.ones(table.n_features, bool)
    mask: NDArray[np.bool_] = table.categorical.copy()
    mask[resolve_columns(choice, table.n_features, names, "categorical_features")] = True
    return mask


def _read(X: Any) -> Table:
    from slfs.tables.registry import read_table  # it imports this module

    return read_table(X, min_samples=0)
