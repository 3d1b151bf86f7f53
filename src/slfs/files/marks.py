"""Texts and numbers that a user calls missing -> missing values, in tables that have types.

Readers of text files recognize such marks themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from slfs.files.inference import exact_integers

if TYPE_CHECKING:
    import pyarrow as pa


class Marks:
    """Values that mean a missing value.

    Parameters
    ----------
    texts : sequence of str
        A text is missing if it equals one of them. A number is missing if one of them is this number:
        "-99" stands for -99 and -99.0 as well.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = list(texts)
        self.numbers = [number for number in map(_number, texts) if number is not None]
        self._all = {*self.texts, *self.numbers}

    def __contains__(self, value: object) -> bool:
        """Return whether a value of Python or NumPy means a missing value; True is not a number."""
        known = isinstance(value, str | Real | Decimal) and not isinstance(value, bool)
        return known and value in self._all

    def remove(self, table: Any) -> Any:
        """Return a DataFrame, a Series or a sparse array with missing values in place of the marks."""
        if not self.texts:
            return table
        if hasattr(table, "tocsr"):
            return self._remove_sparse(table)
        if table.ndim == 1:
            return self._remove_column(table)
        table = table.copy(deep=False)
        for index in range(table.shape[1]):
            column = table.iloc[:, index]
            cleaned = self._remove_column(column)
            if cleaned is not column:
                table.isetitem(index, cleaned)
        return table

    def remove_numbers(self, values: NDArray[Any], kind: np.dtype[Any] | None = None) -> NDArray[Any]:
        """Return an array of numbers with NaN in place of the marks.

        ``kind`` is the type that the numbers had in the file, in whose precision they are compared.
        """
        found = self._found_numbers(values, values.dtype if kind is None else kind)
        if not found.any():
            return values
        values = values.astype(np.float64)
        values[found] = np.nan
        return values

    def _found_numbers(self, values: NDArray[Any], kind: np.dtype[Any]) -> NDArray[np.bool_]:
        numbers = np.array(self.numbers, kind if kind.kind == "f" else np.float64)
        found: NDArray[np.bool_] = np.isin(values, numbers)
        return found

    def _remove_column(self, column: Any) -> Any:
        if hasattr(column, "cat"):
            gone = [value for value in column.cat.categories if value in self]
            return column.cat.remove_categories(gone) if gone else column
        if column.dtype.kind in "bmM":
            return column
        if column.dtype.kind == "f" and isinstance(column.dtype, np.dtype):
            found = self._found_numbers(column.to_numpy(), column.dtype)
        else:
            found = np.array([value in self for value in column], np.bool_)
        if not found.any():
            return column
        if column.dtype.kind in "iu" and isinstance(column.dtype, np.dtype):
            # not floats, which would round large integers
            large = bool((column > 2**53).any() or (column < -(2**53)).any())
            return exact_integers(column.astype(object).mask(found)) if large else column.mask(found)
        return column.mask(found)

    def _remove_sparse(self, table: Any) -> Any:
        if 0 in self.numbers:
            raise ValueError("0 cannot mean a missing value in a sparse table. Remove --missing 0.")
        table = table.copy()
        table.data = self.remove_numbers(table.data)
        return table

    def remove_arrow(self, table: pa.Table) -> pa.Table:
        """Return a table of Arrow with nulls in place of the marks."""
        for index, column in enumerate(table.columns if self.texts else ()):
            cleaned = self._remove_chunks(column)
            if cleaned is not column:
                table = table.set_column(index, table.schema.field(index), cleaned)
        return table

    def _remove_chunks(self, column: pa.ChunkedArray) -> pa.ChunkedArray:
        import pyarrow as pa
        import pyarrow.compute as pc

        if pa.types.is_dictionary(column.type):
            kind = column.type
            chunks = [
                pa.DictionaryArray.from_arrays(
                    pc.if_else(self._found(chunk.cast(kind.value_type)), None, chunk.indices),
                    chunk.dictionary,
                    ordered=kind.ordered,
                )
                for chunk in column.chunks
            ]
            return pa.chunked_array(chunks, kind)
        found = self._found(column)
        return column if found is None else pc.if_else(found, pa.scalar(None, column.type), column)

    def _found(self, column: Any) -> Any:
        """Return which values are marks; None if values of this type cannot be."""
        import pyarrow as pa
        import pyarrow.compute as pc

        kind = column.type
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            return pc.is_in(column, pa.array(self.texts, kind))
        if pa.types.is_floating(kind):
            # in the precision of the column, in which the marks were written
            numbers = np.array(self.numbers, kind.to_pandas_dtype())
            return pc.is_in(column, pa.array(numbers, kind))
        if pa.types.is_integer(kind):
            limits = np.iinfo(kind.to_pandas_dtype())
            whole = [int(one) for one in self.numbers if one == one // 1]
            own = [one for one in whole if limits.min <= one <= limits.max]
            return pc.is_in(column, pa.array(own, kind))
        if pa.types.is_decimal(kind):
            return pa.array([value in self for value in column.to_pylist()], pa.bool_())
        return None


def _number(text: str) -> float | int | None:
    """Read a number; None if a text is not a finite one."""
    try:
        return int(text)
    except ValueError:
        pass
    try:
        number = float(text)
    except ValueError:
        return None
    return number if np.isfinite(number) else None
