"""Matrices in HDF5 or Zarr files -> tables that need not fit in memory.

A CSC matrix has its columns one after another, so that they are read where they are. The rows of CSR and
dense matrices are read once, block by block, into a temporary file in which each block is stored by
columns.
"""

from __future__ import annotations

import functools
import tempfile
import threading
import weakref
from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import IO, Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from slfs._core.ragged import consecutive_runs, starts
from slfs.tables.sparse import check_indices
from slfs.tables.table import Columns, ColumnSource

_BLOCK_ENTRIES = 1 << 22
"""Entries per block of rows: about a hundred megabytes while the block is turned."""

Result = TypeVar("Result")


def read_stored(X: Any) -> StoredTable:
    """Read the matrix of a file, as a backed AnnData has it or as the library of the file does.

    ``X`` is a group that contains data, indices and indptr, or a two-dimensional array.
    """
    node = getattr(X, "group", X)  # anndata wraps the groups of sparse matrices
    if not hasattr(node, "keys"):
        return DenseRows(node, node.shape)
    form, shape = _sparse_form(node)
    return (StoredColumns if form == "csc" else SparseRows)(node, shape)


def is_stored(X: Any) -> bool:
    """Return whether X is a matrix in a file: an array of h5py or zarr, or anndata's sparse matrix."""
    library = type(X).__module__.partition(".")[0]
    return library in ("h5py", "zarr") or (hasattr(X, "group") and hasattr(X, "format"))


def _sparse_form(group: Any) -> tuple[str, tuple[int, int]]:
    """Return the format ("csr" or "csc") and the shape of a sparse matrix in a file."""
    about = dict(group.attrs)
    form = str(about.get("encoding-type", about.get("h5sparse_format", "")))[:3]
    shape = about.get("shape", about.get("h5sparse_shape"))
    parts = {"data", "indices", "indptr"}
    if form not in ("csr", "csc") or shape is None or len(shape) != 2 or not parts <= set(group.keys()):
        raise ValueError(
            f"{_place(group)} is not a matrix: expected an array of two dimensions, or a csr or csc "
            "matrix with data, indices and indptr. Write the file again with anndata."
        )
    return form, (int(shape[0]), int(shape[1]))


def _place(node: Any) -> str:
    """Name a part of a file, for messages."""
    file = getattr(getattr(node, "file", None), "filename", None)
    return f"{node.name.strip('/')!r} of {file or getattr(node, 'store_path', 'the file')}"


class StoredTable(ColumnSource):
    """A matrix of numbers in a file.

    Parameters
    ----------
    node : h5py or zarr group or array
    shape : tuple of int
    """

    def __init__(self, node: Any, shape: tuple[int, int]) -> None:
        self._node = node
        if len(shape) != 2:
            raise ValueError(f"{_place(node)} has the shape {shape}; expected two dimensions.")
        self.n_samples, self.n_features = shape
        self.dtype = self._read(lambda: np.dtype(self._values.dtype))
        if self.dtype.kind not in "biuf":
            raise ValueError(f"{_place(node)} contains {self.dtype}; expected numbers.")
        self.names = [f"x{column}" for column in range(self.n_features)]
        self.numbers = np.ones(self.n_features, np.bool_)
        self.categorical = np.full(self.n_features, self.dtype.kind == "b")

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the name of an HDF5 file, which is opened again; other processes read it themselves."""
        state = {name: part for name, part in vars(self).items() if name not in ("_spool", "_lock")}
        if type(self._node).__module__.startswith("h5py"):
            state["_node"] = (self._node.file.filename, self._node.name)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        if isinstance(self._node, tuple):
            import h5py

            self._node = h5py.File(self._node[0], "r")[self._node[1]]
        self._prepare()

    def _prepare(self) -> None:
        """Set what is not pickled."""

    @property
    def is_sparse(self) -> bool:
        """Whether zeros are not stored."""
        return hasattr(self._node, "keys")

    @property
    def _values(self) -> Any:
        return self._node["data"] if self.is_sparse else self._node

    def _read(self, read: Callable[[], Result]) -> Result:
        """Read from the file; errors say that it is damaged."""
        try:
            return read()
        except MemoryError:
            raise
        except Exception as error:  # the libraries raise anything for a damaged file
            raise ValueError(
                f"{_place(self._node)} is damaged and cannot be read: {error}. Write the file again."
            ) from error

    def _bounds(self) -> NDArray[np.int64]:
        """Read and check the indptr of a sparse matrix."""
        bounds = self._read(lambda: np.asarray(self._node["indptr"][:], np.int64))
        n_lines = self.n_features if isinstance(self, StoredColumns) else self.n_samples
        n_entries = self._read(lambda: min(self._node[part].shape[0] for part in ("data", "indices")))
        if (
            len(bounds) != n_lines + 1
            or bounds[0] != 0
            or (np.diff(bounds) < 0).any()
            or bounds[-1] > n_entries
        ):
            raise ValueError(
                f"{_place(self._node)} is damaged: indptr, indices and data do not match. Write the "
                "file again."
            )
        return bounds

    def _check(self, matrix: Any) -> Any:
        """Return a sparse matrix whose indices are inside its shape: SciPy would use others."""
        try:
            check_indices(matrix)
        except ValueError as error:
            raise ValueError(
                f"{_place(self._node)} is damaged: indices are outside its shape. Write the file again."
            ) from error
        return matrix

    def _entries(self, begin: int, end: int) -> tuple[NDArray[Any], NDArray[Any]]:
        node = self._node
        return self._read(
            lambda: (np.asarray(node["data"][begin:end]), np.asarray(node["indices"][begin:end]))
        )


class StoredColumns(StoredTable):
    """A CSC matrix in a file: consecutive columns are read together."""

    def __init__(self, node: Any, shape: tuple[int, int]) -> None:
        super().__init__(node, shape)
        self._starts = self._bounds()

    def take(self, columns: Columns) -> Any:
        """Read some columns into a sparse array.

        Parameters
        ----------
        columns : ndarray of int

        Returns
        -------
        part : csc_array of shape (n_samples, n_columns)
        """
        runs = [columns[run] for run in consecutive_runs(columns)]
        parts = [self._entries(self._starts[run[0]], self._starts[run[-1] + 1]) for run in runs]
        return self._check(_csc(parts, np.diff(self._starts)[columns], self.n_samples, self.dtype))


class _Rows(StoredTable):
    """A matrix in a file that is read by rows, once, when columns are first needed."""

    def __init__(self, node: Any, shape: tuple[int, int]) -> None:
        super().__init__(node, shape)
        self._prepare()

    def _prepare(self) -> None:
        self._lock = threading.Lock()
        self._spool: _Spool | None = None

    def _spooled(self) -> _Spool:
        with self._lock:
            if self._spool is None:
                spool = _Spool()
                for block in self._turned():
                    for part in block:
                        spool.write(part)
                self._spool = spool
            return self._spool

    @abstractmethod
    def _turned(self) -> Iterator[tuple[NDArray[Any], ...]]:
        """Yield blocks of rows, each as arrays that are sorted by column."""


class SparseRows(_Rows):
    """A CSR matrix in a file."""

    def take(self, columns: Columns) -> Any:
        """Read some columns into a sparse array.

        Parameters
        ----------
        columns : ndarray of int

        Returns
        -------
        part : csc_array of shape (n_samples, n_columns)
        """
        spool = self._spooled()
        values, samples, lengths = [], [], []
        runs = [columns[run] for run in consecutive_runs(columns)]
        for block in range(0, len(spool.parts), 3):
            for run in runs:
                bounds = spool.read(block, run[0], run[-1] + 2)
                lengths.append(np.diff(bounds))
                values.append(spool.read(block + 1, bounds[0], bounds[-1]))
                samples.append(spool.read(block + 2, bounds[0], bounds[-1]))
        counts = (
            np.concatenate(lengths).reshape(-1, len(columns)) if runs else np.zeros((1, 0), np.int64)
        )
        # blocks follow each other in every column: a stable sort by column keeps the order of the rows
        column = np.repeat(np.tile(np.arange(len(columns)), len(counts)), counts.reshape(-1))
        order = np.argsort(column, kind="stable")
        value, sample = (np.concatenate(parts)[order] if parts else None for parts in (values, samples))
        if value is None:
            return sparse.csc_array((self.n_samples, len(columns)), dtype=self.dtype)
        return _csc([(value, sample)], counts.sum(axis=0), self.n_samples, self.dtype)

    def _turned(self) -> Iterator[tuple[NDArray[Any], ...]]:
        bounds = self._bounds()
        first = 0
        while first < self.n_samples:
            last = int(np.searchsorted(bounds, bounds[first] + _BLOCK_ENTRIES, side="right")) - 1
            last = min(max(last, first + 1), self.n_samples)
            data, indices = self._entries(bounds[first], bounds[last])
            shape = (last - first, self.n_features)
            rows = sparse.csr_array(
                (data, indices, bounds[first : last + 1] - bounds[first]), shape=shape
            )
            self._check(rows)
            turned = rows.tocsc()
            narrow = np.int32 if self.n_samples < 1 << 31 else np.int64
            yield (
                turned.indptr.astype(np.int64),
                turned.data,
                turned.indices.astype(narrow) + narrow(first),
            )
            first = last


class DenseRows(_Rows):
    """A dense matrix in a file."""

    def take(self, columns: Columns) -> Any:
        """Read some columns into an array.

        Parameters
        ----------
        columns : ndarray of int

        Returns
        -------
        part : ndarray of shape (n_samples, n_columns)
        """
        spool = self._spooled()
        part = np.empty((len(columns), self.n_samples), self.dtype)
        runs = consecutive_runs(columns)
        end = 0
        for block, (_, length, _) in enumerate(spool.parts):
            n_rows = length // max(self.n_features, 1)
            begin, end = end, end + n_rows
            for run in runs:
                own = columns[run]
                values = spool.read(block, n_rows * own[0], n_rows * (own[-1] + 1))
                part[run, begin:end] = values.reshape(len(own), n_rows)
        return part.T

    def _turned(self) -> Iterator[tuple[NDArray[Any], ...]]:
        n_rows = max(1, _BLOCK_ENTRIES // max(self.n_features, 1))
        for first in range(0, self.n_samples, n_rows):
            rows = slice(first, first + n_rows)
            block = self._read(functools.partial(self._node.__getitem__, rows))
            yield (np.ascontiguousarray(np.asarray(block).T).reshape(-1),)


class _Spool:
    """Arrays one after another in a temporary file, of which slices can be read.

    The file has no name, so that nothing remains after a crash. It is not memory-mapped: its pages would
    count as memory of this process.
    """

    def __init__(self) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile(prefix="slfs-columns-")  # noqa: SIM115
        weakref.finalize(self, self._file.close)
        self._lock = threading.Lock()  # all threads share the position in the file
        self.parts: list[tuple[int, int, np.dtype[Any]]] = []

    def write(self, array: NDArray[Any]) -> None:
        """Append an array."""
        self.parts.append((self._file.tell(), len(array), array.dtype))
        try:
            self._file.write(np.ascontiguousarray(array).data)
        except OSError as error:
            raise OSError(
                error.errno,
                f"The columns do not fit in the folder for temporary files ({error.strerror}). Set "
                "TMPDIR to a folder on a larger disk, or write the matrix as CSC",
                tempfile.gettempdir(),
            ) from error

    def read(self, part: int, begin: int, end: int) -> NDArray[Any]:
        """Return a slice of an array."""
        offset, _, dtype = self.parts[part]
        with self._lock:
            self._file.seek(offset + int(begin) * dtype.itemsize)
            return np.frombuffer(self._file.read((int(end) - int(begin)) * dtype.itemsize), dtype)


def _csc(parts: list[Any], lengths: NDArray[np.int64], n_samples: int, dtype: np.dtype[Any]) -> Any:
    """Make a sparse array from the values and rows of consecutive columns."""
    values = np.concatenate([np.empty(0, dtype), *(value for value, _ in parts)])
    rows = np.concatenate([np.empty(0, np.int64), *(row for _, row in parts)])
    return sparse.csc_array((values, rows, starts(lengths)), shape=(n_samples, len(lengths)))
