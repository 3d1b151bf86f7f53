"""Dask arrays -> tables whose columns stay on the workers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from slfs.tables.dask import DaskTable, import_dask, refuse, task_widths
from slfs.tables.registry import read_table
from slfs.tables.table import Columns


def read_dask_array(X: Any) -> DaskArrayTable:
    """Read a Dask array of two dimensions."""
    dask = import_dask()
    if not isinstance(X, dask.array.Array):
        refuse(X)
    if isinstance(X._meta, np.ma.MaskedArray):
        raise TypeError("X is a masked Dask array. Pass dask.array.ma.filled(X, float('nan')) instead.")
    if not isinstance(X._meta, np.ndarray):
        raise TypeError(
            f"X is a Dask array whose chunks are of type {type(X._meta).__name__}; expected NumPy "
            "arrays. Convert the chunks with X.map_blocks."
        )
    return DaskArrayTable(X)


class DaskArrayTable(DaskTable):
    """A Dask array of numbers, booleans, strings or Python objects, in chunks of any shape."""

    def __init__(self, array: Any) -> None:
        if np.isnan(array.shape).any():
            array = array.copy()  # compute_chunk_sizes would change the user's array
            array.compute_chunk_sizes()
        objects = array.dtype.kind not in "biufcmM"
        dtype = np.dtype(float) if objects else array.dtype
        alike = read_table(np.broadcast_to(np.zeros((), dtype), array.shape), min_samples=0)
        self._array = array
        self.n_samples, self.n_features = alike.n_samples, alike.n_features
        self.numbers, self.categorical = alike.numbers, alike.categorical
        if objects:
            self._inspect_objects(np.arange(self.n_features))

    def take(self, columns: Columns) -> NDArray[Any]:
        """Compute some columns as a NumPy array."""
        values: NDArray[Any] = self._array[:, columns].compute()
        return values

    def _widths(self) -> list[int]:
        """Follow the chunks, but join very narrow ones and split very wide ones."""
        least, most = task_widths(self.n_samples, self.n_features)
        widths = [0]
        for chunk in self._array.chunks[1]:
            if widths[-1] + chunk <= least:
                widths[-1] += chunk
            else:
                pieces = max(1, round(chunk / most))
                widths += [(chunk + piece) // pieces for piece in range(pieces)]
        return [width for width in widths if width]

    def _parts(self, groups: list[Columns]) -> list[Any]:
        widths = tuple(len(group) for group in groups)
        whole = self._array.rechunk({0: (self.n_samples,), 1: widths}, method="tasks")
        return list(whole.to_delayed().ravel())
