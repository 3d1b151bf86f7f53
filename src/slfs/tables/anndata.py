"""AnnData objects -> tables: a matrix of cells and genes, in memory or on disk, and notes on the cells.

This module does not import anndata: whoever has such an object has imported it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from slfs._core.suggest import similar_names
from slfs.tables.parts import Part
from slfs.tables.registry import read_table
from slfs.tables.stored import StoredTable, is_stored, read_stored
from slfs.tables.table import Columns, ColumnSource, LabelBlock, NumberBlock, Order, Table, interleave


def table_of(
    adata: Any, *, layer: str | None = None, use_raw: bool = False, obs: Sequence[str] = ()
) -> AnnDataTable:
    """Read a matrix of an AnnData, and some of the annotations of its observations.

    Parameters
    ----------
    adata : AnnData
    layer : str or None, default=None
        The layer to read; None reads ``X``.
    use_raw : bool, default=False
        Whether to read ``raw.X``.
    obs : sequence of str, default=()
        Columns of ``obs`` to append to the variables.

    Returns
    -------
    table : AnnDataTable
    """
    names = (adata.raw if use_raw and adata.raw is not None else adata).var_names
    duplicates = names[names.duplicated()].unique().tolist()
    if duplicates:
        raise ValueError(
            f"var_names has duplicates: {duplicates[:5]}. Call adata.var_names_make_unique(), so that "
            "each selected feature is one column."
        )
    matrix = _matrix(adata, layer, use_raw)
    frame = adata.obs[list(obs)] if obs else None
    return AnnDataTable(matrix, [str(name) for name in names], frame)


def _matrix(adata: Any, layer: str | None, use_raw: bool) -> Any:
    """Return a matrix in memory, a `StoredTable`, or a part of one for a view."""
    if use_raw and layer is not None:
        raise ValueError(f"layer={layer!r} cannot be combined with use_raw=True. Remove one of them.")
    if use_raw and adata.raw is None:
        raise ValueError("use_raw=True, but the AnnData has no raw. Use X or a layer.")
    layers = list(adata.layers)
    if layer is not None and layer not in layers:
        raise ValueError(
            f"Unknown layer {layer!r}. The layers are {', '.join(map(repr, layers)) or 'none'}."
        )
    if adata.is_view and adata.isbacked and layer is None:  # anndata would read the view into memory
        whole = _matrix(adata._adata_ref, None, use_raw)
        if isinstance(whole, StoredTable):
            rows = np.arange(whole.n_samples)[adata._oidx]
            columns = np.arange(whole.n_features)
            columns = columns if use_raw else columns[adata._vidx]
            return _StoredView(whole, [whole.names[column] for column in columns], rows, columns)
    matrix = adata.raw.X if use_raw else adata.X if layer is None else adata.layers[layer]
    if matrix is None:
        raise ValueError(
            f"The AnnData has no X. Set layer; the layers are {', '.join(map(repr, layers))}."
        )
    if type(matrix).__module__.startswith("dask."):
        raise TypeError(
            "The matrix of the AnnData is a Dask array. Pass the array itself as X, and "
            "adata.obs[target].to_numpy() as y."
        )
    return read_stored(matrix) if is_stored(matrix) else matrix


class _StoredView(Part):
    """Some rows and columns of a matrix on disk."""

    def take(self, columns: Columns) -> Any:
        """Read some columns into an array or a sparse array."""
        return self._table.take(self._source(columns))[self._rows]  # type: ignore[attr-defined]

    @property
    def is_sparse(self) -> bool:
        """Whether zeros are not stored."""
        return bool(self._table.is_sparse)  # type: ignore[attr-defined]


class AnnDataTable(ColumnSource):
    """A matrix with named columns, followed by annotations of the rows.

    Parameters
    ----------
    matrix : array, sparse matrix or ColumnSource
    names : list of str
        Names of the columns of the matrix.
    annotations : DataFrame or None, default=None
        Further columns. If one has the name of a column of the matrix, ``obs:`` is put before it.
    """

    how_to_select = "X[:, list(estimator.feature_names_in_)]"

    def __init__(self, matrix: Any, names: list[str], annotations: Any = None) -> None:
        self._matrix = matrix
        table: Table = read_table(matrix, min_samples=0)
        self._width, known = len(names), set(names)
        self._tables, self.names = [table], list(names)
        self._annotations = annotations
        if annotations is not None and annotations.shape[1]:
            self._tables.append(read_table(annotations.reset_index(drop=True), min_samples=0))
            self.names += [annotation_name(name, known) for name in annotations.columns]
        self.n_samples, self.n_features = table.n_samples, len(self.names)
        self.numbers = np.concatenate([part.numbers for part in self._tables])
        self.categorical = np.concatenate([part.categorical for part in self._tables])

    @property
    def is_sparse(self) -> bool:
        """Whether the zeros of the matrix are not stored."""
        return hasattr(self._matrix, "tocsr") or bool(getattr(self._matrix, "is_sparse", False))

    def take(self, columns: Columns) -> Any:
        """Return some columns in memory.

        Parameters
        ----------
        columns : ndarray of int

        Returns
        -------
        part : array or sparse matrix, or a DataFrame if there are annotations among the columns
        """
        inside = columns[columns < self._width]
        part = (
            self._matrix.take(inside)
            if isinstance(self._matrix, ColumnSource)
            else self._matrix[:, inside]
        )
        if len(inside) == len(columns):
            return part
        import pandas as pd

        dense = part.toarray() if hasattr(part, "toarray") else np.asarray(part)
        frame = pd.DataFrame(dense, columns=[self.names[column] for column in inside])
        for column in columns[columns >= self._width]:
            frame[self.names[column]] = self._annotations.iloc[:, column - self._width].array
        return frame[[self.names[column] for column in columns]]

    def number_block(self, columns: Columns, order: Order) -> NumberBlock:
        """Return columns as numbers; a block with annotations is dense."""
        outside = columns >= self._width
        if not outside.any():
            return self._tables[0].number_block(columns, order)
        own = self._tables[1].number_block(columns[outside] - self._width, order)
        if outside.all():
            return own
        first = self._tables[0].number_block(columns[~outside], order)
        return interleave(first, own, outside)

    def label_block(self, column: int, order: Order) -> LabelBlock:
        """Return one column as Python values."""
        outside = column >= self._width
        block = self._tables[int(outside)].label_block(column - self._width * outside, order)
        return replace(block, name=self.names[column])


def annotation_name(name: object, known: set[str]) -> str:
    """Return the name of a column of annotations among those of the matrix."""
    return f"obs:{name}" if str(name) in known else str(name)


def annotation(adata: Any, column: str) -> Any:
    """Return a column of ``obs``; raise an error that suggests names if there is none."""
    names = list(map(str, adata.obs.columns))
    if column not in names:
        near = similar_names(column, names, cutoff=0.5)
        hint = (
            f"Did you mean {' or '.join(map(repr, near))}?"
            if near
            else f"It has {', '.join(map(repr, names[:8]))}."
        )
        raise ValueError(f"adata.obs has no column {column!r}. {hint}")
    return adata.obs[column]
