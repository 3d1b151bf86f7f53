"""AnnData files (h5ad, Zarr) -> tables whose matrix stays on disk. Needs anndata."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slfs.files.columns import FileColumns
from slfs.files.inference import TableError
from slfs.files.limits import refuse_beyond
from slfs.files.marks import Marks
from slfs.files.registry import read_in_place_only, register_format
from slfs.tables.table import Columns, LabelBlock, NumberBlock, Order

_REMEDY = "Check the file, or write it again with anndata."


class AnnDataColumns(FileColumns):
    """An AnnData file as a table that need not fit in memory: the columns are its variables (genes).

    Sparse matrices stay sparse. A CSC matrix is read by columns; a CSR or dense matrix is copied once,
    by columns, to the folder for temporary files. The columns of ``obs`` are not features, but they can
    be read.

    Parameters
    ----------
    path : str or Path
        An h5ad file, or a Zarr folder.
    layer : str or None, default=None
        The layer to read, "raw" or "X", the default.
    drop : sequence of str, default=()
        Variables to leave out.
    missing : sequence of str, default=()
        Texts that mean a missing value in ``obs``; those that are numbers also in the matrix.

    Attributes
    ----------
    names : list of str
    shape : tuple of int

    Examples
    --------
    >>> from slfs import SLFS
    >>> from slfs.files import AnnDataColumns
    >>> table = AnnDataColumns("cells.h5ad")  # doctest: +SKIP
    >>> SLFS().fit(table, table.read("cell_type"))  # doctest: +SKIP
    """

    def __init__(
        self,
        path: str | Path,
        *,
        layer: str | None = None,
        drop: Sequence[str] = (),
        missing: Sequence[str] = (),
    ) -> None:
        from slfs.tables.anndata import AnnDataTable, annotation_name  # imports SciPy
        from slfs.tables.stored import read_stored

        path, self._marks = Path(path), Marks(missing)
        try:
            import anndata  # noqa: F401
        except ImportError as error:
            raise ImportError("AnnData files need anndata: pip install 'slfs[anndata]'") from error
        try:
            root = _open(path)
            part, matrix = _find_matrix(root, layer, path)
            obs, var_names = _read_frame(root, "obs", path), _read_frame(part, "var", path).index
            stored = read_stored(matrix)
        except (FileNotFoundError, PermissionError, ImportError, MemoryError):
            raise
        except TableError as error:
            raise ValueError(str(error)) from None
        except Exception as error:  # the libraries raise anything for a damaged file
            raise ValueError(f"{path} cannot be read as anndata: {error}. {_REMEDY}") from error
        if stored.shape != (len(obs), len(var_names)):
            raise ValueError(
                f"{path} is damaged: the matrix has the shape {stored.shape}, but obs has {len(obs)} "
                f"rows and var {len(var_names)}. {_REMEDY}"
            )
        duplicates = var_names[var_names.duplicated()].unique().tolist()
        if duplicates:
            raise ValueError(
                f"{path} has duplicate names of variables: {duplicates[:5]}. Read it with anndata, call "
                "adata.var_names_make_unique() and write it again."
            )
        if stored.is_sparse and 0 in self._marks.numbers:
            raise ValueError("0 cannot mean a missing value in a sparse matrix. Remove --missing 0.")
        genes = [str(name) for name in var_names]
        names = {"obs_names", str(obs.index.name or "obs_names")} - set(obs)
        annotations = obs.assign(**dict.fromkeys(sorted(names), obs.index.to_numpy()))
        known = set(genes)
        self._annotations = [annotation_name(name, known) for name in annotations.columns]
        self._table = AnnDataTable(stored, genes, self._marks.remove(annotations))
        self._dtype, self._source_of = (
            stored.dtype,
            {name: j for j, name in enumerate(self._table.names)},
        )
        super().__init__(path, self._table.names, len(obs), [*self._annotations, *drop])

    @property
    def index_names(self) -> list[str]:
        """Names of the columns of ``obs``, and of its index; they are not in ``names``."""
        return self._annotations

    def check_name(self, name: str) -> None:
        """Raise an error if a column of ``obs`` and a variable have the same name.

        Parameters
        ----------
        name : str
        """
        from slfs.tables.anndata import annotation_name

        other = annotation_name(name, {name})
        if other in self._annotations:
            raise ValueError(
                f"{name!r} is a column of obs, and a variable of {self.path} has the same name. Write "
                f"{other} for the column of obs."
            )

    def take(self, columns: Columns) -> Any:
        """Read some columns into a pandas DataFrame.

        Parameters
        ----------
        columns : ndarray of int
            Their indices in ``names``.

        Returns
        -------
        frame : DataFrame
        """
        import pandas as pd

        part = self._table.take(self._sources(columns))
        if not isinstance(part, pd.DataFrame):
            dense = part.toarray() if hasattr(part, "toarray") else part
            part = pd.DataFrame(dense, columns=[self.names[column] for column in columns])
        return self._marks.remove(part)

    def in_memory(self) -> Any:
        """Read all columns.

        Returns
        -------
        table : DataFrame or csr_array
            Without names if the matrix is sparse; a sparse matrix with annotations stays on disk.
        """
        if not self._table.is_sparse:
            return super().in_memory()
        if set(self.names) & set(self._annotations):
            return self
        return self._marks.remove(self._table.take(self._sources(np.arange(self.n_features))).tocsr())

    def number_block(self, columns: Columns, order: Order) -> NumberBlock:
        block = self._table.number_block(self._sources(columns), order)
        if not self._marks.numbers:
            return block
        return replace(block, value=self._marks.remove_numbers(block.value, self._dtype))

    def label_block(self, column: int, order: Order) -> LabelBlock:
        block = self._table.label_block(int(self._sources(np.array([column]))[0]), order)
        if not self._marks.numbers:
            return block
        marked = [value in self._marks for value in block.values]
        return replace(block, missing=block.missing | np.array(marked, np.bool_))

    def _kind(self, name: str) -> tuple[bool, bool]:
        column = self._source_of[name]
        return bool(self._table.numbers[column]), bool(self._table.categorical[column])

    def _values(self, name: str) -> NDArray[Any]:
        column = np.array([self._source_of[name]])
        part = self._table.take(column)
        if hasattr(part, "iloc"):
            return np.asarray(part.iloc[:, 0])
        dense = part.toarray() if hasattr(part, "toarray") else part
        return self._marks.remove_numbers(dense[:, 0])

    def _sources(self, columns: Columns) -> Columns:
        """Return the indices in the file of columns of the table."""
        return np.array([self._source_of[self.names[column]] for column in columns], np.int64)


def _open(path: Path) -> Any:
    """Open a file, and check that it is an AnnData."""
    if path.is_dir():
        import zarr

        root: Any = zarr.open_group(path, mode="r")
    else:
        import h5py

        root = h5py.File(path, "r")
    lacking = [name for name in ("obs", "var") if name not in root]
    if lacking:
        raise TableError(
            f"{path} is not an AnnData file: it has no {' and no '.join(lacking)}. {_REMEDY}"
        )
    return root


def _find_matrix(root: Any, layer: str | None, path: Path) -> tuple[Any, Any]:
    """Return the part of a file that has the names of the variables, and the matrix."""
    layers = list(root["layers"].keys()) if "layers" in root else []
    known = [*layers, *(["raw"] if "raw" in root else [])]
    if layer in layers:
        return root, root["layers"][layer]
    if layer not in (None, "X", *known):
        shown = ", ".join(map(repr, known)) or "none"
        raise TableError(
            f"{path} has no layer {layer!r}. The layers are: {shown}. If X has such values, set --layer "
            "X."
        )
    part = root["raw"] if layer == "raw" else root
    if "X" not in part:
        raise TableError(
            f"{path} has no X. Set --layer to one of: {', '.join(map(repr, known)) or 'none'}."
        )
    return part, part["X"]


def _read_frame(root: Any, name: str, path: Path) -> Any:
    """Read ``obs`` or ``var``; a small file may claim to contain more than fits in memory."""
    from anndata.io import read_elem

    if not hasattr(root[name], "keys"):
        raise TableError(
            f"{path} was written by anndata before version 0.7, or is damaged: {name} is an array. Read "
            "it with anndata.read_h5ad and write it again."
        )
    _refuse_large(root[name])
    return read_elem(root[name])


def _refuse_large(node: Any) -> None:
    if hasattr(node, "keys"):
        for name in node.keys():  # noqa: SIM118, a group is not a dictionary
            _refuse_large(node[name])
    else:
        refuse_beyond(8 * int(node.size), f"{node.name!r}")


register_format(
    "anndata",
    ["h5ad", "zarr"],
    read_in_place_only(
        "it is read in place: pass the path of a file that is not compressed, without --transpose and "
        "--targets-from"
    ),
    open_columns=AnnDataColumns,
    requirement="slfs[anndata]",
)
