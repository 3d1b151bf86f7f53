"""The counting backend in plain NumPy: slow, short, and the reference for all other backends.

Columns are unpacked to codes; every method is a `bincount` or a sum over them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from slfs._core.indices import PackedIndex
from slfs.counting.backend import Codes, ConditionalCounts, CountingBackend, Ints
from slfs.counting.nlogn import MANY_CELLS, REST_BITS
from slfs.counting.planes import MAX_PLANE_LEVELS


class NumpyBackend(CountingBackend):
    """Count by unpacking columns to codes."""

    def codes(self, f: PackedIndex) -> Codes:
        arrays, layout = self.packed.arrays, self.packed.layout
        levels = int(arrays.levels[f])
        column = arrays.words[int(arrays.offset[f]) : int(arrays.offset[f + 1])].astype("<u8")
        if levels > MAX_PLANE_LEVELS:  # stored as one byte per sample
            return column.view(np.uint8)[: layout.n_samples].copy()
        bits = np.unpackbits(column.view(np.uint8), bitorder="little")
        planes = bits.reshape(levels - 1, 64 * layout.n_words)[:, layout.bit_positions()]
        codes = np.full(layout.n_samples, levels - 1, np.uint8)
        for level, plane in enumerate(planes):
            codes[plane == 1] = level
        return codes

    def column_sums(self) -> Ints:
        sums = np.empty((len(self.packed), 2), np.int64)
        for f in range(len(self.packed)):
            table = self.class_counts(PackedIndex(f))
            n, levels, classes = table.sum(), table.sum(axis=1), table.sum(axis=0)
            pooled, by_class = self._sum(levels), self._sum(table, exact=True)
            if (table * n == np.outer(levels, classes)).all():  # independent: information exactly 0
                by_class = pooled + self._sum(classes) - self._sum(n)
            sums[f] = pooled, by_class
        return sums

    def pair_sums(self, f: PackedIndex, others: Ints) -> Ints:
        tables = [self.joint_counts(f, PackedIndex(k)) for k in others.tolist()]
        sums = [(self._sum(table.sum(axis=0)), self._sum(table, exact=True)) for table in tables]
        return np.array(sums, np.int64).reshape(len(others), 2)

    def pooled_pair_sums(self, f: PackedIndex, others: Ints) -> Ints:
        return self.pair_sums(f, others)[:, 0]

    def joint_counts(self, f: PackedIndex, k: PackedIndex) -> Ints:
        levels = self.packed.arrays.levels
        shape = (self.packed.layout.n_classes, int(levels[f]), int(levels[k]))
        return _count([self.packed.layout.labels, self.codes(f), self.codes(k)], shape)

    def conditional_counts(self, f: PackedIndex, given: Sequence[int]) -> ConditionalCounts:
        levels = [int(self.packed.arrays.levels[k]) for k in (*given, f)]
        columns = [self.codes(PackedIndex(k)) for k in (*given, f)]
        shape = (*levels, self.packed.layout.n_classes)
        table = _count([*columns, self.packed.layout.labels], shape).reshape(-1, *shape[-2:])
        half = self._sum(table) - self._sum(table.sum(axis=2)) - self._sum(table.sum(axis=1))
        return ConditionalCounts(table, half + self._sum(table.sum(axis=(1, 2))))

    def weighted_sums(self, columns: Ints, weights: Ints) -> Ints:
        parts = []
        for f in columns.tolist():
            sums = np.zeros((int(self.packed.arrays.levels[f]), weights.shape[1]), np.int64)
            np.add.at(sums, self.codes(PackedIndex(f)), weights)
            parts.append(sums)
        return np.concatenate(parts) if parts else np.empty((0, weights.shape[1]), np.int64)

    def label_sums(self, labels: Codes) -> Ints:
        levels, sums = self.packed.arrays.levels, np.empty(len(self.packed), np.int64)
        for f in range(len(sums)):
            shape = (int(levels[f]), int(labels.max()) + 1)
            sums[f] = self._sum(_count([self.codes(PackedIndex(f)), labels], shape))
        return sums

    def count_exceedances(
        self, columns: Ints, permuted: Codes, observed: Ints, enough: int, hits: Ints, draws: Ints
    ) -> None:
        for labels in permuted:
            sums = self.label_sums(labels)
            drawn = columns[hits[columns] < enough]
            draws[drawn] += 1
            hits[drawn] += sums[drawn] >= observed[drawn]

    def pair_tables(self, pairs: Ints) -> Ints:
        widest = int(self.packed.arrays.levels.max())
        tables = np.zeros((len(pairs), self.packed.layout.n_classes, widest, widest), np.int64)
        for table, (f, k) in zip(tables, pairs.tolist(), strict=True):
            counts = self.joint_counts(PackedIndex(f), PackedIndex(k))
            table[:, : counts.shape[1], : counts.shape[2]] = counts
        return tables

    def _sum(self, counts: Ints, *, exact: bool = False) -> int:
        """Sum n log n; ``exact`` corrects the rounding errors of very many small cells."""
        counts = np.asarray(counts)
        total, rest = int(self.nlogn.table[counts].sum()), self.nlogn.rest
        if exact and len(rest) and counts.size > MANY_CELLS:
            small = counts[(counts > 0) & (counts < len(rest))]
            if small.size > MANY_CELLS:
                total += int(rest[small].sum()) >> REST_BITS
        return total


def _count(columns: Sequence[np.ndarray], shape: tuple[int, ...]) -> Ints:
    """Count the combinations of codes of several columns."""
    cells = np.ravel_multi_index([column.astype(np.int64) for column in columns], shape)
    return np.bincount(cells, minlength=int(np.prod(shape))).reshape(shape)
