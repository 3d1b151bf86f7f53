"""Dask dataframes -> tables whose columns stay on the workers."""

from __future__ import annotations

from typing import Any

import numpy as np

from slfs.tables.dask import DaskTable, import_dask, refuse, task_widths
from slfs.tables.registry import read_table
from slfs.tables.table import Columns, ColumnSource


def read_dask_frame(X: Any) -> DaskFrameTable:
    """Read a Dask dataframe; the table has names if all columns are named by strings."""
    import_dask()
    import dask.dataframe

    if not isinstance(X, dask.dataframe.DataFrame):
        refuse(X)
    named = all(isinstance(name, str) for name in X.columns)
    return NamedDaskTable(X) if named else DaskFrameTable(X)


class DaskFrameTable(DaskTable):
    """A Dask dataframe, in partitions of known or unknown lengths."""

    def __init__(self, frame: Any) -> None:
        from dask.dataframe.dispatch import meta_nonempty

        alike = read_table(meta_nonempty(frame._meta))
        self._frame = frame
        self.n_samples, self.n_features = len(frame), alike.n_features
        self.numbers, self.categorical = alike.numbers, alike.categorical
        objects = [isinstance(dtype, np.dtype) and dtype.kind == "O" for dtype in frame.dtypes]
        self._inspect_objects(np.flatnonzero(objects))

    def take(self, columns: Columns) -> Any:
        """Compute some columns as a pandas DataFrame."""
        return self._frame[list(self._frame.columns[columns])].compute()

    def _widths(self) -> list[int]:
        _, width = task_widths(self.n_samples, self.n_features)
        return [min(width, self.n_features - first) for first in range(0, self.n_features, width)]

    def _parts(self, groups: list[Columns]) -> list[Any]:
        import dask

        partitions = self._frame.to_delayed()
        select, join = dask.delayed(_select, pure=False), dask.delayed(_join, pure=False)
        return [
            join([select(partition, columns) for partition in partitions])
            for columns in map(_as_slice, groups)
        ]


class NamedDaskTable(DaskFrameTable, ColumnSource):
    """A Dask dataframe whose columns are all named by strings."""

    def __init__(self, frame: Any) -> None:
        super().__init__(frame)
        self.names = list(frame.columns)


def _as_slice(columns: Columns) -> Columns | slice:
    """Return consecutive columns as a slice, which takes few bytes to send."""
    if (np.diff(columns) == 1).all():
        return slice(int(columns[0]), int(columns[-1]) + 1)
    return columns


def _select(partition: Any, columns: Columns | slice) -> Any:
    return partition.iloc[:, columns]


def _join(partitions: list[Any]) -> Any:
    """Join the rows of partitions; categories that differ are united."""
    from dask.dataframe.dispatch import concat

    return concat(partitions) if len(partitions) > 1 else partitions[0]
