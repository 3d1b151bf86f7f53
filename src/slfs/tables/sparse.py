"""SciPy sparse matrices and arrays -> tables."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from slfs._core.ragged import ragged, starts
from slfs.tables.arrays import check_any_array
from slfs.tables.table import Columns, LabelBlock, NumberBlock, Order, make_label_block, reorder


def read_sparse(X: Any) -> SparseTable:
    """Read a sparse matrix of any format."""
    matrix = check_any_array(X)
    check_indices(matrix)
    return SparseTable(matrix)


def check_indices(matrix: Any) -> None:
    """Raise an error if a csr or csc matrix has entries outside its shape.

    SciPy and the kernels trust the indices, and would read or write foreign memory. SciPy's own check
    passes a matrix whose last ``indptr`` is 0.
    """
    bounds, indices = matrix.indptr, matrix.indices
    n_lines, n_indices = matrix.shape if matrix.format == "csr" else matrix.shape[::-1]
    valid = len(bounds) == n_lines + 1 and bounds[0] == 0 and bool((bounds[1:] >= bounds[:-1]).all())
    if valid:
        indices = indices[: bounds[-1]]
        valid = bounds[-1] == len(indices) <= len(matrix.data)
        valid = valid and (len(indices) == 0 or 0 <= indices.min() <= indices.max() < n_indices)
    if not valid:
        raise ValueError(
            f"X is an invalid sparse matrix of shape {matrix.shape}: its indptr, indices and data do "
            "not match, or point outside its shape. Build it again from its entries, for example with "
            "scipy.sparse.coo_array."
        )


class SparseTable:
    """A SciPy sparse matrix; entries that are not stored are 0."""

    def __init__(self, matrix: Any) -> None:
        self._matrix = sparse.csc_array(matrix)
        if not self._matrix.has_canonical_format:
            self._matrix = self._matrix.copy()  # the user's matrix must not change
            self._matrix.sum_duplicates()
        self.n_samples, self.n_features = matrix.shape
        self.numbers = np.ones(self.n_features, bool)
        self.categorical = np.full(self.n_features, matrix.dtype.kind == "b")

    def number_block(self, columns: Columns, order: Order) -> NumberBlock:
        lengths = np.diff(self._matrix.indptr)[columns].astype(np.int64)
        indptr, source = ragged(self._matrix.indptr[columns], lengths)
        sample = self._matrix.indices[source].astype(np.int64)
        n_samples = self.n_samples
        if order is not None:
            n_samples = len(order)
            copies = np.bincount(order, minlength=self.n_samples)
            if copies.max() > 1:  # repeated rows
                positions = np.argsort(order, kind="stable")
                first, place = ragged(starts(copies)[sample], copies[sample])
                source, sample = np.repeat(source, copies[sample]), positions[place]
                indptr = first[indptr]
                return self._block(n_samples, indptr, source, sample)
            position = np.full(self.n_samples, -1)
            position[order] = np.arange(n_samples)
            sample = position[sample]
        if n_samples < self.n_samples:
            wanted = sample >= 0
            source, sample, indptr = source[wanted], sample[wanted], starts(wanted)[indptr]
        return self._block(n_samples, indptr, source, sample)

    def _block(self, n_samples: int, indptr: Any, source: Any, sample: Any) -> NumberBlock:
        return NumberBlock(n_samples, indptr, self._matrix.data[source].astype(np.float64), sample)

    def label_block(self, column: int, order: Order) -> LabelBlock:
        values = self._matrix[:, [column]].toarray()[:, 0]
        return make_label_block(reorder(values, order).tolist(), column)
