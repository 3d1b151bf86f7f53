"""The counting backend on an NVIDIA GPU."""

from __future__ import annotations

import functools
import threading
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from slfs._core.indices import PackedIndex
from slfs._core.ragged import starts
from slfs._core.threads import Threads
from slfs.counting.backend import Codes, ConditionalCounts, CountingBackend, Ints
from slfs.counting.cuda.card import CardPlanes, is_started, launch, why_unavailable
from slfs.counting.cuda.scan import PairScan, can_scan
from slfs.counting.marginals import column_sums
from slfs.counting.nlogn import MANY_CELLS
from slfs.counting.numba_backend import NumbaBackend
from slfs.counting.pairs import PairScreen
from slfs.counting.planes import (
    MAX_PLANE_LEVELS,
    PackedBlock,
    PackedColumns,
)
from slfs.counting.queue import Queue
from slfs.counting.residuals import Residuals, residual_gains
from slfs.counting.store import PlaneStore
from slfs.counting.weights import PreparedWeights

_MOST_CELLS = 1024
"""Number of cells of a table of two columns above which it is counted on the CPU."""

_AT_ONCE = 4
"""Columns, or planes, that a warp counts at once; as in kernels.cu."""

_SETTLED_ON_HOST = 20_000
"""Number of samples below which one column after another, on the CPU, is faster."""

_STEPS_HELD = 64
"""Number of steps of a pursuit whose residuals are kept on the card."""

_SETTLED_AT_ONCE = 4096
"""Number of columns whose gains are computed together at first; then twice as many, and so on."""


class CudaBackend(CountingBackend):
    """Count on the GPU; single columns and tables of very many cells are counted on the CPU.

    Parameters
    ----------
    packed : PackedColumns
        The columns as bit planes, in the memory of the computer or of the card.
    threads : Threads
        Threads for what is counted on the CPU.
    """

    def __init__(self, packed: PackedColumns, threads: Threads) -> None:
        reason = why_unavailable()
        if reason:
            raise RuntimeError(f"device='cuda': {reason}")
        super().__init__(packed, threads)
        self._levels = packed.arrays.levels.astype(np.int64)
        self._few = (self._levels >= 2) & (self._levels <= 3)
        self._all_few = bool(self._few.all())
        self._on_card = not isinstance(packed.arrays.words, np.ndarray)
        self._host_nanoseconds = 0.0
        self._lock = threading.Lock()
        self._step_planes: dict[int, tuple[Residuals, Any]] = {}

    HOST_SECONDS: ClassVar[float] = 0.3
    """Time of counting on the CPU after which the planes are moved to the card.

    Most of it pays for the start of the card; once kernels are loaded, a tenth is enough.
    """

    def _stays_on_host(self, n_columns: int) -> bool:
        """Whether to count some columns on the CPU, because there is too little work for the card."""
        if self._on_card:
            return False
        self._host_nanoseconds += 0.7 * n_columns * self.packed.layout.n_words
        enough = self.HOST_SECONDS / 10 if is_started() else self.HOST_SECONDS
        self._on_card = self._host_nanoseconds > 1e9 * enough
        return not self._on_card

    @functools.cached_property
    def _planes(self) -> CardPlanes:
        return CardPlanes(self.packed.arrays.words, self.packed.arrays.offset)

    @functools.cached_property
    def _offset(self) -> Any:
        import cupy

        return cupy.asarray(self.packed.arrays.offset)

    @functools.cached_property
    def _card_levels(self) -> Any:
        import cupy

        return cupy.asarray(self._levels.astype(np.int32))

    @functools.cached_property
    def _table(self) -> Any:
        import cupy

        return cupy.asarray(self.nlogn.table)

    # -- single columns: on the CPU --------------------------------------------------------------

    def codes(self, f: PackedIndex) -> Codes:
        backend, (own,) = self._on_host([f])
        return backend.codes(PackedIndex(own))

    def column_sums(self) -> Ints:
        counts, n_classes = self.packed.arrays.class_counts, self.packed.layout.n_classes
        return column_sums(counts, self._levels, n_classes, self.nlogn)

    def joint_counts(self, f: PackedIndex, k: PackedIndex) -> Ints:
        backend, (own, other) = self._on_host([f, k])
        return backend.joint_counts(PackedIndex(own), PackedIndex(other))

    def conditional_counts(self, f: PackedIndex, given: Sequence[int]) -> ConditionalCounts:
        backend, (own, *others) = self._on_host([f, *given])
        return backend.conditional_counts(PackedIndex(own), others)

    # -- one column against many -----------------------------------------------------------------

    def pair_sums(self, f: PackedIndex, others: Ints) -> Ints:
        if self._stays_on_host(len(others)):
            return self._whole_host.pair_sums(f, others)
        return self._pair_sums(f, others, pooled=False)

    def pooled_pair_sums(self, f: PackedIndex, others: Ints) -> Ints:
        if self._stays_on_host(len(others)):
            return self._whole_host.pooled_pair_sums(f, others)
        return self._pair_sums(f, others, pooled=True)[:, 0]

    def _pair_sums(self, f: PackedIndex, others: Ints, *, pooled: bool) -> Ints:
        parts = self._pooled if pooled else self._by_class
        if self._all_few and self._planes.resident and len(others):
            piece = next(self._planes.pieces())
            every: Ints = self._count_pairs("few", f, others, piece.address, parts).get()
            return every
        sums = np.empty((len(others), 2), np.int64)
        levels_f, levels = self._levels[f], self._levels[others]
        n_cells = levels_f * levels
        large = (np.maximum(levels_f, levels) > MAX_PLANE_LEVELS) | (n_cells > _MOST_CELLS)
        large |= n_cells * self.packed.layout.n_classes > MANY_CELLS  # rounding errors are corrected
        few = self._few[others] & self._few[f]
        for piece in self._planes.pieces(others[~large]):
            inside = ~large & (others >= piece.first) & (others < piece.last)
            for kernel, chosen in (("few", inside & few), ("any", inside & ~few)):
                rows = np.flatnonzero(chosen)
                if len(rows):
                    found = self._count_pairs(kernel, f, others[rows], piece.address, parts)
                    sums[rows] = found.get()
        rows = np.flatnonzero(large)
        if len(rows):
            backend, (first, *rest) = self._on_host([f, *others[rows].tolist()])
            count = backend.pooled_pair_sums if pooled else backend.pair_sums
            found = count(PackedIndex(first), np.array(rest))
            sums[rows] = found.reshape(len(rows), -1)
        return sums

    def _count_pairs(self, kernel: str, f: int, others: Ints, address: np.uint64, parts: _Parts) -> Any:
        """Count one column with others that are on the card; "few" is for 2 or 3 levels."""
        levels, start = int(self._levels[f]), int(parts.counts_offset[f])
        counts = parts.card_counts[start : start + levels * parts.n_parts]
        return self._count_with(kernel, (self._planes.column(f), levels, counts), others, address, parts)

    def _count_with(
        self, kernel: str, column: tuple[Any, int, Any], others: Ints, address: np.uint64, parts: _Parts
    ) -> Any:
        """Count a column, given by its planes, levels and counts, with others that are on the card."""
        import cupy

        own, levels, counts = column
        sums = cupy.empty((len(others), 2), cupy.int64)
        first = (own, np.int32(levels), counts)
        planes = (address, self._offset, self._card_levels, parts.card_counts, parts.card_offset)
        size = (np.int32(parts.n_parts), np.uint64(self.packed.layout.n_words))
        asked = (cupy.asarray(others.astype(np.int32)), np.int32(len(others)))
        if kernel == "few":
            bounds = (parts.first_word, parts.totals)
            arguments: tuple[Any, ...] = (*first, *planes, *bounds, *size, *asked, self._table, sums)
            launch("pair_sums_few", -(-len(others) // _AT_ONCE), 4, arguments)
        else:
            most = int((levels * self._levels[others]).max())
            tables = (np.int32(most), self._table, sums)
            arguments = (*first, *planes, parts.first_word, *size, *asked, *tables)
            launch("pair_sums_any", len(others), 4, arguments, shared=4 * 2 * 4 * most)
        return sums

    @functools.cached_property
    def _by_class(self) -> _Parts:
        layout, arrays = self.packed.layout, self.packed.arrays
        return _Parts(arrays.class_counts, arrays.counts_offset, layout.first_word, layout.totals)

    @functools.cached_property
    def _pooled(self) -> _Parts:
        layout, arrays = self.packed.layout, self.packed.pooled()
        totals = np.array([layout.n_samples])
        return _Parts(arrays.class_counts, arrays.counts_offset, layout.first_word[[0, -1]], totals)

    # -- weights ---------------------------------------------------------------------------------

    def weighted_sums(self, columns: Ints, weights: Ints) -> Ints:
        if weights.size and max(-int(weights.min()), int(weights.max())) >= 1 << 31:
            backend, indices = self._on_host(columns.tolist())
            return backend.weighted_sums(np.array(indices, np.int64), weights)
        return self._weighted_sums(columns, self._weight_planes(weights), weights)

    def _weight_planes(self, weights: Ints) -> Any:
        import cupy

        own = PreparedWeights(weights, self.packed.layout).planes
        return own._replace(words=cupy.asarray(own.words))

    def _weighted_sums(self, columns: Ints, planes: Any, weights: Ints) -> Ints:
        import cupy

        levels, n_weights = self._levels[columns], len(planes.totals)
        offset = starts(levels)
        sums = np.empty((int(offset[-1]), n_weights), np.int64)
        coded = levels > MAX_PLANE_LEVELS
        last = np.zeros(len(sums), np.bool_)
        last[offset[1:] - 1] = True
        by_planes = np.repeat(~coded, levels)
        column = np.repeat(columns, levels)
        n_words = self.packed.layout.n_words
        level = np.arange(len(sums)) - np.repeat(offset[:-1], levels)
        start = self.packed.arrays.offset[column] + (level * n_words).astype(np.uint64)
        for piece in self._planes.pieces(columns[~coded]):
            inside = by_planes & ~last & (column >= piece.first) & (column < piece.last)
            rows = np.flatnonzero(inside)
            if len(rows):
                found = cupy.empty((len(rows), n_weights), cupy.int64)
                n_bits = np.int32(planes.words.shape[1])
                sizes = (planes.words, np.int32(n_weights), n_bits, np.uint64(n_words))
                arguments = (
                    piece.address, cupy.asarray(start[rows]), np.int64(len(rows)), *sizes, found,
                )  # fmt: skip
                launch("plane_sums", -(-len(rows) // _AT_ONCE), 8, arguments)
                sums[rows] = found.get()
        counts = self._pooled.counts[self._pooled.counts_offset[column].astype(np.int64) + level]
        own = np.flatnonzero(by_planes & ~last)
        sums[own] += counts[own, np.newaxis] * planes.lowest
        sums[last & by_planes] = 0
        whole = np.add.reduceat(sums, offset[:-1], axis=0) if len(columns) else sums
        sums[last & by_planes] = (planes.totals - whole)[~coded]
        for j in np.flatnonzero(coded):
            here, (f,) = self._on_host([int(columns[j])])
            sums[offset[j] : offset[j + 1]] = here.weighted_sums(np.array([f]), weights)
        return sums

    def settle_first(self, queue: Queue, steps: Sequence[Residuals]) -> None:
        small = self.packed.layout.n_samples < _SETTLED_ON_HOST and self.HOST_SECONDS > 0
        if small and isinstance(self.packed.arrays.words, np.ndarray):
            self._whole_host.settle_first(queue, steps)
            return
        at_once = _SETTLED_AT_ONCE
        while queue.newest_unseen(len(steps)) >= 0:
            front = queue.front(at_once)
            newest = queue.newest_unseen_by(front, len(steps))
            for step in np.unique(newest[newest >= 0]).tolist():
                columns = front[newest == step].astype(np.int64)
                rows = steps[step].weights()
                planes = self._planes_of_step(step, steps[step], rows)
                sums = self._weighted_sums(columns, planes, rows)
                trends = None
                if self.quartiles is not None:
                    assert isinstance(self.quartiles, CudaBackend)
                    trends = self.quartiles._weighted_sums(columns, planes, rows)
                queue.lower(columns, step, residual_gains(self.packed, columns, sums, trends))
            queue.restore()
            at_once *= 2

    def _planes_of_step(self, step: int, residuals: Residuals, rows: Ints) -> Any:
        """Return the residuals of a step on the card, which are kept for later."""
        held = self._step_planes.get(step)
        if held is None or held[0] is not residuals:
            held = residuals, self._weight_planes(rows)
            if len(self._step_planes) >= _STEPS_HELD:
                del self._step_planes[min(self._step_planes)]
            self._step_planes[step] = held
        return held[1]

    # -- labels ----------------------------------------------------------------------------------

    def label_sums(self, labels: Codes) -> Ints:
        if self._stays_on_host(len(self.packed)):
            return self._whole_host.label_sums(labels)
        return self._label_sums(np.arange(len(self.packed)), labels)

    def count_exceedances(
        self, columns: Ints, permuted: Codes, observed: Ints, enough: int, hits: Ints, draws: Ints
    ) -> None:
        for labels in permuted:
            drawn = columns[hits[columns] < enough]
            draws[drawn] += 1
            hits[drawn] += self._label_sums(drawn, labels) >= observed[drawn]

    def _label_sums(self, columns: Ints, labels: Codes) -> Ints:
        """Count columns with labels as if the labels were one more column, in a table of its own."""
        import cupy

        layout, n_labels = self.packed.layout, int(labels.max()) + 1
        levels = self._levels[columns]
        large = (levels > MAX_PLANE_LEVELS) | (levels * n_labels > _MOST_CELLS)
        sums = np.empty(len(columns), np.int64)
        positions = layout.bit_positions()
        bits = np.zeros((n_labels - 1, 64 * layout.n_words), np.uint8)
        for label in range(n_labels - 1):
            bits[label, positions[labels == label]] = 1
        own = cupy.asarray(np.packbits(bits, axis=1, bitorder="little").view(np.uint64).reshape(-1))
        column = own, n_labels, cupy.asarray(np.bincount(labels, minlength=n_labels))
        for piece in self._planes.pieces(columns[~large]):
            rows = np.flatnonzero(~large & (columns >= piece.first) & (columns < piece.last))
            if len(rows):
                found = self._count_with("any", column, columns[rows], piece.address, self._pooled)
                sums[rows] = found[:, 0].get()
        for j in np.flatnonzero(large).tolist():
            codes = self.codes(PackedIndex(int(columns[j]))).astype(np.int64)
            table = np.bincount(codes * n_labels + labels)
            sums[j] = self.nlogn.table[table].sum()
        return sums

    # -- pairs that may interact -----------------------------------------------------------------

    PAIR_BLOCK = (1 << 12, 1 << 13)  # if all of these pairs pass, their list has 0.5 GB

    def screen_pairs(self, left: Ints, right: Ints, screen: PairScreen, *, ordered: bool) -> Ints:
        if not (self._all_few and can_scan(self.packed.layout.n_samples)):
            with self._lock:
                return super().screen_pairs(left, right, screen, ordered=ordered)
        table, scale = self.nlogn.table, self.nlogn.scale
        class_entropy = table[-1] - table[self.packed.layout.totals].sum()
        slack = screen.slack * np.sqrt(2 / scale)
        sums = self.column_sums()
        margin = 2 * int((screen.own - (sums[:, 1] - sums[:, 0])).min(initial=0))
        with self._lock:
            limits = 2 * (screen.least + margin - class_entropy) / scale
            pairs = self._scan.above(left, right, slack, limits, ordered=ordered)
            sums = self._listed_sums(pairs)
        needed = screen.needed(pairs[:, 0], pairs[:, 1], self._levels)
        passed: Ints = pairs[sums[:, 1] - sums[:, 0] >= needed]
        return passed

    def _listed_sums(self, pairs: Ints) -> Ints:
        """Return S(f,k) and S(f,k,Y) of each pair; all columns have two or three levels."""
        import cupy

        sums = np.empty((len(pairs), 2), np.int64)
        parts = self._by_class
        if len(pairs) == 0:
            return sums
        if not self._planes.resident:
            for place, (f, k) in enumerate(pairs.tolist()):
                sums[place] = self._whole_host.pair_sums(PackedIndex(f), np.array([k]))[0]
            return sums
        piece = next(self._planes.pieces())
        listed, found = cupy.asarray(pairs.astype(np.int32)), cupy.empty((len(pairs), 2), cupy.int64)
        arguments = (
            piece.address, self._offset, self._card_levels, parts.card_counts, parts.card_offset,
            parts.first_word, np.int32(parts.n_parts), np.uint64(self.packed.layout.n_words), listed,
            np.int32(len(pairs)), np.int32(9), self._table, found,
        )  # fmt: skip
        launch("pair_sums_listed", len(pairs), 4, arguments, shared=4 * 2 * 4 * 9)
        sums[:] = found.get()
        return sums

    def pair_tables(self, pairs: Ints) -> Ints:
        columns, places = np.unique(pairs, return_inverse=True)
        backend, indices = self._on_host(columns.tolist())
        return backend.pair_tables(np.array(indices, np.int64)[places.reshape(pairs.shape)])

    @functools.cached_property
    def _scan(self) -> PairScan:
        return PairScan(self.packed, self._planes)

    # -- planes on the CPU -----------------------------------------------------------------------

    def _on_host(self, columns: Sequence[int]) -> tuple[NumbaBackend, list[int]]:
        """Return a backend on the CPU that has some columns, and their indices there."""
        if isinstance(self.packed.arrays.words, np.ndarray):
            return self._whole_host, list(columns)
        n_classes = self.packed.layout.n_classes
        counts = [self.packed.class_counts(PackedIndex(f)).reshape(-1) for f in columns]
        block = PackedBlock(
            np.array(columns, np.int64),
            self.packed.arrays.levels[list(columns)],
            np.concatenate([self._planes.column(f).get() for f in columns]),
            np.concatenate(counts) if n_classes else np.empty(0, np.int64),
        )
        store = PlaneStore(self.packed.layout)
        store.append(block)
        return NumbaBackend(store.packed(), self.threads), list(range(len(columns)))

    @functools.cached_property
    def _whole_host(self) -> NumbaBackend:
        return NumbaBackend(self.packed, self.threads)


class _Parts:
    """What is counted separately: the classes, or all samples; counts of all columns on the card."""

    def __init__(
        self,
        counts: Ints,
        counts_offset: NDArray[np.uint64],
        first_word: NDArray[np.uint64],
        totals: Ints,
    ) -> None:
        import cupy

        self.counts, self.counts_offset, self.n_parts = counts, counts_offset, len(totals)
        self.card_counts, self.card_offset = cupy.asarray(counts), cupy.asarray(counts_offset)
        self.first_word, self.totals = cupy.asarray(first_word), cupy.asarray(totals)
