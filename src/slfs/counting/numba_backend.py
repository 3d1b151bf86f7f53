"""The counting backend with numba kernels, on one or several threads."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from slfs._core.indices import PackedIndex
from slfs._core.ragged import starts
from slfs.counting.backend import Codes, ConditionalCounts, CountingBackend, Ints
from slfs.counting.kernels import PackedArrays, decode, level_sums, pair_sums
from slfs.counting.marginals import column_sums
from slfs.counting.pairs import PairScreen, class_gains, count_pairs, screen_pairs
from slfs.counting.permutations import count_exceedances, sums_with_labels
from slfs.counting.planes import MAX_PLANE_LEVELS, SampleLayout, pack_block
from slfs.counting.queue import Queue
from slfs.counting.residuals import GAIN_RIDGE, Residuals, Trends, settle_in_step
from slfs.counting.strata import strata_by_planes, strata_by_samples
from slfs.counting.weights import ADD, PreparedWeights, level_sums_by_planes

_THREAD_WORTH = 300_000
"""Nanoseconds of counting below which several threads are slower than one."""

_WEIGHT_BITS = 30
_MAX_WEIGHT = 1 << _WEIGHT_BITS
"""Weights from here on are split into two parts, each of which fits in 32 bits."""

_NO_TABLES = np.empty((0, 0, 0), np.int64)


class NumbaBackend(CountingBackend):
    """Count with popcounts of AND-ed planes, or sample by sample where that is cheaper."""

    _pooled: PackedArrays | None = None
    _sample_bits: NDArray[np.uint64] | None = None
    _decoded: dict[int, Codes] | None = None
    _gains: Ints | None = None

    def codes(self, f: PackedIndex) -> Codes:
        codes = np.empty(self.packed.layout.n_samples, np.uint8)
        decode(self.packed.arrays, np.uint64(f), codes)
        return codes

    def column_sums(self) -> Ints:
        levels = self.packed.arrays.levels.astype(np.int64)
        counts, n_classes = self.packed.arrays.class_counts, self.packed.layout.n_classes
        return column_sums(counts, levels, n_classes, self.nlogn)

    def pair_sums(self, f: PackedIndex, others: Ints) -> Ints:
        return self._pair_sums(self.packed.arrays, f, others)

    def pooled_pair_sums(self, f: PackedIndex, others: Ints) -> Ints:
        if self._pooled is None:
            self._pooled = self.packed.pooled()
        return self._pair_sums(self._pooled, f, others)[:, 0]

    def joint_counts(self, f: PackedIndex, k: PackedIndex) -> Ints:
        levels = self.packed.arrays.levels
        shape = (self.packed.layout.n_classes, int(levels[f]), int(levels[k]))
        tables = np.empty((1, shape[0], shape[1] * shape[2]), np.int64)
        other, sums = np.array([k], np.uint64), np.empty((1, 2), np.int64)
        table, rest = self.nlogn.table, self.nlogn.rest
        pair_sums(self.packed.arrays, np.uint64(f), other, table, rest, sums, tables)
        return tables.reshape(shape)

    def conditional_counts(self, f: PackedIndex, given: Sequence[int]) -> ConditionalCounts:
        arrays, layout = self.packed.arrays, self.packed.layout
        levels = int(arrays.levels[f])
        n_strata = int(np.prod([int(arrays.levels[k]) for k in given], dtype=np.int64))
        nlogn = self.nlogn.table
        if self._by_planes(f, given, n_strata):
            if self._sample_bits is None:
                self._sample_bits = layout.sample_bits()
            table = np.zeros((n_strata, levels, layout.n_classes), np.int64)
            chosen = np.array(given, np.uint64)
            half = strata_by_planes(arrays, np.uint64(f), chosen, self._sample_bits, nlogn, table)
            return ConditionalCounts(table, int(half))
        strata = np.zeros(layout.n_samples, np.uint64)
        for k in given:
            strata = strata * arrays.levels[k] + self._kept_codes(k)
        if n_strata > layout.n_samples:  # most strata are empty: renumber the others
            found, index = np.unique(strata, return_inverse=True)
            strata, n_strata = index.astype(np.uint64), len(found)
        table = np.zeros((n_strata, levels, layout.n_classes), np.int64)
        half = strata_by_samples(self._kept_codes(f), strata, layout.first_sample, nlogn, table)
        return ConditionalCounts(table, int(half))

    def weighted_sums(self, columns: Ints, weights: Ints) -> Ints:
        if weights.size and max(-int(weights.min()), int(weights.max())) >= _MAX_WEIGHT:
            upper, lower = weights >> _WEIGHT_BITS, weights & (_MAX_WEIGHT - 1)
            above = self.weighted_sums(columns, upper) << _WEIGHT_BITS
            return above + self.weighted_sums(columns, lower)
        levels = self.packed.arrays.levels[columns].astype(np.int64)
        sums = np.empty((int(levels.sum()), weights.shape[1]), np.int64)
        offset = starts(levels)
        own = PreparedWeights(weights, self.packed.layout)

        def add(piece: slice) -> None:
            chosen = columns[piece].astype(np.uint64)
            out = sums[offset[piece.start] : offset[piece.stop]]
            if own.by_planes(levels[piece]):
                level_sums_by_planes(self.packed.arrays, chosen, *own.planes, out)
            else:
                level_sums(self.packed.arrays, chosen, own.rows, own.at_once, out)

        work = len(columns) * self.packed.layout.n_samples * weights.shape[1] * ADD
        count = min(self.threads.count if work > _THREAD_WORTH else 1, max(1, len(columns)))
        self.threads.map(add, _split(len(columns), count))
        return sums

    def settle_first(self, queue: Queue, steps: Sequence[Residuals]) -> None:
        arrays = (queue.columns, queue.bounds, queue.seen)
        packed, trends = self.packed.arrays, Trends.of(self.packed)
        ridge = GAIN_RIDGE * self.packed.layout.unit
        while (step := queue.newest_unseen(len(steps))) >= 0:
            rows, totals, n = steps[step]
            flat = rows.reshape(-1)
            settle_in_step(packed, trends, flat, totals, n, ridge, step, len(steps), *arrays)

    def label_sums(self, labels: Codes) -> Ints:
        sums = np.empty(len(self.packed), np.int64)
        planes, counts = _label_planes(labels[np.newaxis])[0], np.bincount(labels)
        sums_with_labels(self.packed.arrays, planes, counts, self.nlogn.table, sums)
        return sums

    def count_exceedances(
        self, columns: Ints, permuted: Codes, observed: Ints, enough: int, hits: Ints, draws: Ints
    ) -> None:
        planes, counts = _label_planes(permuted), np.bincount(permuted[0])
        arrays, nlogn = self.packed.arrays, self.nlogn.table

        def draw(part: NDArray[np.uint64]) -> None:
            count_exceedances(arrays, part, planes, counts, nlogn, observed, enough, hits, draws)

        self.threads.map(draw, np.array_split(columns.astype(np.uint64), self.threads.count))

    def screen_pairs(self, left: Ints, right: Ints, screen: PairScreen, *, ordered: bool) -> Ints:
        found = np.empty((len(left) * len(right), 2), np.int64)
        blocks = left.view(np.uint64), right.view(np.uint64)
        if self._gains is None:
            self._gains = class_gains(self.nlogn.table)
        tables = self.nlogn.table, self._gains
        number = screen_pairs(self.packed.arrays, *blocks, ordered, screen, *tables, found)
        return found[:number].copy()

    def pair_tables(self, pairs: Ints) -> Ints:
        widest = int(self.packed.arrays.levels.max())
        tables = np.empty((len(pairs), self.packed.layout.n_classes, widest, widest), np.int64)
        count_pairs(self.packed.arrays, pairs, self.nlogn.table, tables)
        return tables

    def _pair_sums(self, arrays: PackedArrays, f: PackedIndex, others: Ints) -> Ints:
        sums = np.empty((len(others), 2), np.int64)
        indices = others.view(np.uint64)
        table, rest = self.nlogn.table, self.nlogn.rest

        def count(piece: slice) -> None:
            pair_sums(arrays, np.uint64(f), indices[piece], table, rest, sums[piece], _NO_TABLES)

        planes = float(self.packed.arrays.levels[f])
        work = len(others) * (15 + 0.15 * planes * planes * self.packed.layout.n_words)
        if work > _THREAD_WORTH:
            self.threads.map(count, _split(len(others), self.threads.count))
        else:
            pair_sums(arrays, np.uint64(f), indices, table, rest, sums, _NO_TABLES)
        return sums

    def _by_planes(self, f: PackedIndex, given: Sequence[int], n_strata: int) -> bool:
        """Whether counting strata with planes is cheaper than by samples; the counts are the same."""
        arrays, layout = self.packed.arrays, self.packed.layout
        if max(int(arrays.levels[k]) for k in (f, *given)) > MAX_PLANE_LEVELS:
            return False
        planes = n_strata * (int(arrays.levels[f]) + 1)
        by_planes = planes * (0.4 * layout.n_words + 2 * layout.n_classes)
        return by_planes < (3 + len(given)) * layout.n_samples

    def _kept_codes(self, f: int) -> Codes:
        """Return the codes of a column, and cache them because they are likely to be needed again."""
        if self._decoded is None:
            self._decoded = {}
        if f not in self._decoded:
            self._decoded[f] = self.codes(PackedIndex(f))
        return self._decoded[f]


def _split(number: int, count: int) -> list[slice]:
    """Split 0 ... number - 1 into pieces of nearly equal length."""
    bounds = [number * piece // count for piece in range(count + 1)]
    return [slice(begin, end) for begin, end in itertools.pairwise(bounds)]


def _label_planes(labels: Codes) -> NDArray[np.uint64]:
    """Pack each row of labels as bit planes."""
    layout = SampleLayout.from_class_codes(np.zeros(labels.shape[1], np.int64), 1)
    n_labels = np.full(len(labels), int(labels.max()) + 1)
    none = np.empty(0, np.int64)
    return pack_block(layout, none, labels, n_labels, none).words.reshape(len(labels), -1)
