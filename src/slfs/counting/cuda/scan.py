"""All pairs of two blocks of columns -> the pairs that may pass a screen, on tensor cores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from slfs.counting.cuda.card import CardPlanes, launch
from slfs.counting.planes import PackedColumns

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_CHUNK = 64
"""Bytes of a plane that are multiplied at once; each class is padded to a multiple. As in scan.cu."""

_COLUMNS_I, _COLUMNS_J = 128, 64
"""Columns of a tile, as in scan.cu."""

_SHARED = 3 * (256 + 128) * _CHUNK + 4 * 4 * _COLUMNS_I * _COLUMNS_J

_ERROR, _ERROR_PER_SAMPLE = 0.05, 8e-6
"""Bound of the error of a score in units of 2 N nats.

It is a sum of single-precision floats, which are large if a level has most of the samples.
"""

_CAPACITY = 1 << 22
"""Maximum number of pairs that are returned by one scan."""

_MOST_SAMPLES = 1 << 23
"""Counts below this number are exact in single precision."""


def can_scan(n_samples: int) -> bool:
    """Whether the card multiplies bits and has enough shared memory, and the counts are exact."""
    import cupy

    device = cupy.cuda.Device()
    shared = device.attributes["MaxSharedMemoryPerBlockOptin"]
    multiplies = device.compute_capability[0] in "89"  # later ones do not
    return multiplies and shared >= _SHARED and n_samples < _MOST_SAMPLES


class PairScan:
    """Scans pairs of columns of two or three levels.

    Parameters
    ----------
    packed : PackedColumns
        The columns; none of them has more than three levels.
    planes : CardPlanes
        Their planes.
    """

    def __init__(self, packed: PackedColumns, planes: CardPlanes) -> None:
        import cupy

        layout = packed.layout
        words = np.diff(layout.first_word.astype(np.int64))
        chunks = np.concatenate([[0], np.cumsum(-(-8 * words // _CHUNK))])
        self._planes, self._n_classes = planes, layout.n_classes
        self._n_words, self._plane_bytes = layout.n_words, int(chunks[-1]) * _CHUNK
        self._first_chunk = cupy.asarray(chunks.astype(np.int32))
        self._first_word = cupy.asarray(layout.first_word)
        self._offset = cupy.asarray(packed.arrays.offset)
        self._levels = cupy.asarray(packed.arrays.levels.astype(np.int32))
        self._error = _ERROR + _ERROR_PER_SAMPLE * layout.n_samples
        margins, scales = _margins(packed)
        self._margins, self._scales = cupy.asarray(margins), cupy.asarray(scales)

    def most_columns(self) -> int:
        """Return the number of columns of a block whose copy surely fits on the card."""
        import cupy

        free = cupy.cuda.runtime.memGetInfo()[0] + cupy.get_default_memory_pool().free_bytes()
        return max(_COLUMNS_I, int(0.4 * free) // (2 * max(1, self._plane_bytes)))

    def above(self, left: Ints, right: Ints, slack: Floats, limits: Floats, *, ordered: bool) -> Ints:
        """Return the pairs whose score may reach its limit, with f in ``left`` and k in ``right``.

        A score is 2 N synergy + slack[f] slack[k]; its limit is limits[(d_f - 1) (d_k - 1)]. With
        ``ordered``, only pairs with f < k are returned.
        """
        import cupy

        if len(left) == 0 or len(right) == 0:
            return np.empty((0, 2), np.int64)
        most = self.most_columns()
        if max(len(left), len(right)) > most:
            parts = [
                self.above(left[i : i + most], right[j : j + most], slack, limits, ordered=ordered)
                for i in range(0, len(left), most)
                for j in range(0, len(right), most)
            ]
            return np.concatenate(parts)
        found, number = cupy.empty((_CAPACITY, 2), cupy.int32), cupy.zeros(1, cupy.int32)
        card_slack = cupy.asarray(slack.astype(np.float32))
        card_limits = cupy.asarray((limits - self._error).astype(np.float32))
        arguments = (
            *self._block(left, card_slack, is_left=True),
            *self._block(right, card_slack, is_left=False),
            np.int64(self._plane_bytes), self._first_chunk, np.int32(self._n_classes), self._scales,
            np.int32(ordered), card_limits, np.int32(_CAPACITY), found, number,
        )  # fmt: skip
        tiles = -(-len(left) // _COLUMNS_I) * -(-len(right) // _COLUMNS_J)
        launch("scan_pairs", 16 * tiles, 16, arguments, shared=_SHARED, source="scan.cu")
        count = int(number[0])
        if count > _CAPACITY:
            halves = np.array_split(right, 2)
            parts = [self.above(left, half, slack, limits, ordered=ordered) for half in halves]
            return np.concatenate(parts)
        pairs: Ints = found[:count].get().astype(np.int64)
        return pairs

    def _block(self, columns: Ints, slack: Any, *, is_left: bool) -> tuple[Any, ...]:
        """Return the arguments of the kernel for one block: planes, margins, slack, levels, indices."""
        import cupy

        ids = cupy.asarray(columns.astype(np.int32))
        planes = cupy.empty(2 * len(columns) * self._plane_bytes, cupy.uint8)
        for piece in self._planes.pieces():
            first, last = np.searchsorted(columns, [piece.first, piece.last]).tolist()
            if first < last:
                arguments = (
                    piece.address, self._offset, self._levels, self._first_word, self._first_chunk,
                    np.int32(self._n_classes), np.uint64(self._n_words), ids[first:last],
                    np.int32(last - first), np.int32(is_left), planes[2 * first * self._plane_bytes :],
                )  # fmt: skip
                launch("scan_planes", 4 * (last - first), 4, arguments, source="scan.cu")
        margins = cupy.ascontiguousarray(self._margins[:, ids])
        return planes, margins, slack[ids], self._levels[ids], ids, np.int32(len(columns))


def _margins(packed: PackedColumns) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the counts of each column and its part of the score, by part, and the scales of the parts.

    The parts are the classes and all samples. A column of two levels has an empty middle level.
    """
    arrays, n_classes = packed.arrays, packed.layout.n_classes
    two = (arrays.levels == 2)[:, np.newaxis]
    rows = arrays.counts_offset[:-1, np.newaxis].astype(np.int64) + np.arange(n_classes)
    counts = np.zeros((len(packed), 3, n_classes + 1))
    counts[:, 0, :-1] = arrays.class_counts[rows]
    counts[:, 1, :-1] = np.where(two, 0, arrays.class_counts[rows + n_classes])
    counts[:, 2, :-1] = packed.layout.totals - counts[:, 0, :-1] - counts[:, 1, :-1]
    counts[:, :, -1] = counts[:, :, :-1].sum(axis=2)
    totals = np.append(packed.layout.totals, packed.layout.n_samples).astype(np.float64)
    # N I(f;k) in bits is the sum of n log(n s) over the cells, less a part of each column. With
    # s = 9 / N all terms are small if levels are about equally frequent: single precision is enough.
    scales = 9 / np.maximum(totals, 1)
    terms = counts * np.log2(np.maximum(counts, 1))
    own = terms.sum(axis=1) - 0.5 * totals * np.log2(np.maximum(totals, 1) / scales)
    both = np.concatenate([counts, -own[:, np.newaxis]], axis=1).transpose(2, 0, 1)
    return np.ascontiguousarray(both, np.float32), scales.astype(np.float32)
