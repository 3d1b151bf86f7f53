"""The type of a table -> the function that reads it.

A kind of table is registered under a type, or under the name of the module that defines its types. A
name needs no import: the reader, and the library behind it, are imported on first use.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from pathlib import PurePath
from typing import Any, NoReturn

import numpy as np

from slfs.tables.table import ColumnSource, Table, check_size

Reader = Callable[[Any], Table]

_ARRAY = "slfs.tables.arrays:read_array"
_SPARSE = "slfs.tables.sparse:read_sparse"
_FRAME = "slfs.tables.frames:read_frame"
_IN_MEMORY = {_ARRAY, _SPARSE, _FRAME}


def register_table(kind: type | str, reader: Callable[[Any], ColumnSource]) -> None:
    """Add a kind of table that estimators accept.

    Parameters
    ----------
    kind : type or str
        The type of the table, or the name of a module or package, which stands for all types that it
        defines. Subclasses are included.
    reader : callable
        Takes the table and returns a `ColumnSource`. It raises TypeError or ValueError with a remedy if
        the table cannot be used.

    Examples
    --------
    >>> import numpy as np
    >>> from slfs import SLFS
    >>> from slfs.tables import ColumnSource, register_table
    >>> class Records:
    ...     def __init__(self, rows):
    ...         self.rows = rows
    >>> class RecordColumns(ColumnSource):
    ...     def __init__(self, records):
    ...         self.rows, self.names = records.rows, list(records.rows[0])
    ...         self.n_samples, self.n_features = len(self.rows), len(self.names)
    ...         self.numbers = np.ones(self.n_features, bool)
    ...         self.categorical = np.zeros(self.n_features, bool)
    ...
    ...     def take(self, columns):
    ...         return np.array([[row[self.names[j]] for j in columns] for row in self.rows])
    >>> register_table(Records, RecordColumns)
    >>> X = Records([{"noise": i % 3, "signal": i % 2} for i in range(60)])
    >>> SLFS().fit(X, [0, 1] * 30).get_feature_names_out().tolist()
    ['signal']
    """
    READERS[kind] = reader


def read_table(X: Any, *, min_samples: int = 1) -> Table:
    """Find the reader for a table, read the table and check it.

    Parameters
    ----------
    X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
        NumPy (numbers, strings, objects, memmap), SciPy sparse, pandas, polars, PyArrow or whatever
        narwhals reads eagerly; AnnData, whose matrix may stay on disk; Dask arrays and dataframes, which
        stay on their workers; CuPy arrays, which stay on the card; any kind that was added by
        `register_table`.
    min_samples : int, default=1
        With fewer rows a ValueError is raised.

    Returns
    -------
    table : Table
    """
    reader = _find(type(X))
    if isinstance(reader, str):
        module, _, function = reader.partition(":")
        reader = getattr(importlib.import_module(module), function)
    table: Table = reader(X)
    check_size((table.n_samples, table.n_features), min_samples)
    return table


def is_in_memory(X: Any) -> bool:
    """Return whether X is an array, a sparse matrix or a dataframe, which can be indexed as it is."""
    return _find(type(X)) in _IN_MEMORY


def _find(kind: type) -> Reader | str:
    """Return the most specific reader: that of the type, of its module, then of the base classes."""
    return next(READERS[key] for key in _keys(kind) if key in READERS)


def _keys(kind: type) -> Iterator[type | str]:
    for base in kind.__mro__:
        yield base
        module = base.__module__
        while module:
            yield module
            module = module.rpartition(".")[0]


def _as_it_is(X: Table) -> Table:
    return X


def _refuse_path(X: str | PurePath) -> NoReturn:
    raise TypeError(
        f"X is a path or a string ({str(X)[:60]!r}); expected a table. Read the file first, for example "
        "with slfs.files.read_file or pandas.read_csv, or pass slfs.files.ParquetColumns(path)."
    )


READERS: dict[type | str, Reader | str] = {
    "slfs.tables": _as_it_is,  # what is a table already, such as a ColumnSource
    np.ndarray: _ARRAY,
    list: _ARRAY,
    tuple: _ARRAY,
    str: _refuse_path,
    PurePath: _refuse_path,
    "scipy.sparse": _SPARSE,
    "anndata._core.anndata": "slfs.tables.anndata:table_of",
    "anndata._core.sparse_dataset": "slfs.tables.stored:read_stored",  # X of a backed AnnData
    "cupy": "slfs.tables.cupy_arrays:read_cupy",
    "dask": "slfs.tables.dask:refuse",
    "dask.array": "slfs.tables.dask_array:read_dask_array",
    "dask.dataframe": "slfs.tables.dask_frame:read_dask_frame",
    object: _FRAME,  # read by narwhals if possible, otherwise converted by NumPy
}
"""A type, or the name of a module, -> the reader, or the module and function to import."""
