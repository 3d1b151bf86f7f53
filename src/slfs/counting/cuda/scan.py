"""All pairs of two blocks of columns -> the pairs whose score may reach a limit, on tensor cores."""

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

_ERROR = 0.05
"""Bound of the error of a score, which is a sum of single-precision floats, in units of 2 N nats."""

_CAPACITY = 1 << 24
"""Maximum number of pairs that are returned by one scan."""


class TooManyPairsError(Exception):
    """More pairs than `_CAPACITY` reach the limit."""


class PairScan:
    """Columns of two or three levels in the layout of a scan, on the card.

    Parameters
    ----------
    packed : PackedColumns
        The columns.
    planes : CardPlanes
        Their planes.
    columns : ndarray
        The packed indices of the columns to scan, increasing; all have two or three levels.
    """

    def __init__(self, packed: PackedColumns, planes: CardPlanes, columns: Ints) -> None:
        import cupy

        layout, arrays = packed.layout, packed.arrays
        self.columns, self._n_classes = columns, layout.n_classes
        words = np.diff(layout.first_word.astype(np.int64))
        chunks = np.concatenate([[0], np.cumsum(-(-8 * words // _CHUNK))])
        self._first_chunk = cupy.asarray(chunks.astype(np.int32))
        self._plane_bytes = int(chunks[-1]) * _CHUNK
        size = 2 * len(columns) * self._plane_bytes
        self._left, self._right = cupy.empty(size, cupy.uint8), cupy.empty(size, cupy.uint8)
        levels = arrays.levels[columns].astype(np.int64)
        self.levels = levels
        self._levels = cupy.asarray(levels.astype(np.int32))
        for piece in planes.pieces():
            first, last = np.searchsorted(columns, [piece.first, piece.last]).tolist()
            own = columns[first:last]
            if len(own):
                begin = 2 * first * self._plane_bytes
                arguments = (
                    piece.address, cupy.asarray(arrays.offset[:-1][own]), self._levels[first:last],
                    cupy.asarray(layout.first_word), self._first_chunk, np.int32(layout.n_classes),
                    np.uint64(layout.n_words), np.int32(len(own)), self._left[begin:],
                    self._right[begin:],
                )  # fmt: skip
                launch("scan_planes", len(own), 1, arguments, source="scan.cu")
        self._margins, self._scales = _margins(packed, columns)
        self._n_samples = layout.n_samples

    def above(
        self, i: slice, j: slice, limits: Floats, slack: Floats, *, ordered: bool
    ) -> tuple[Ints, Floats]:
        """Return the pairs whose score may reach its limit, by their place in ``columns``, and scores.

        A score is 2 N synergy + slack[i] slack[j]; its limit is limits[(d_i - 1) (d_j - 1)].
        """
        import cupy

        found = cupy.empty((_CAPACITY, 2), cupy.int32)
        scores = cupy.empty(_CAPACITY, cupy.float32)
        number = cupy.zeros(1, cupy.int32)
        tiles = -(-(i.stop - i.start) // _COLUMNS_I) * -(-(j.stop - j.start) // _COLUMNS_J)
        arguments = (
            self._left, self._right, np.int64(self._plane_bytes), self._first_chunk,
            np.int32(self._n_classes),
            self._margins, self._scales, cupy.asarray(slack.astype(np.float32)), self._levels,
            np.int32(len(self.columns)), np.int32(i.start), np.int32(i.stop), np.int32(j.start),
            np.int32(j.stop), np.int32(ordered), cupy.asarray((limits - _ERROR).astype(np.float32)),
            np.int32(_CAPACITY), found, scores, number,
        )  # fmt: skip
        launch("scan_pairs", 16 * tiles, 16, arguments, shared=_SHARED, source="scan.cu")
        count = int(number[0])
        if count > _CAPACITY:
            raise TooManyPairsError
        return found[:count].get().astype(np.int64), scores[:count].get().astype(np.float64)


def _margins(packed: PackedColumns, columns: Ints) -> tuple[Any, Any]:
    """Return the counts of each column and its part of the score, by part, and the scales of the parts.

    The parts are the classes and all samples. A column of two levels has an empty middle level.
    """
    import cupy

    n_classes = packed.layout.n_classes
    levels = packed.arrays.levels[columns].astype(np.int64)
    start = packed.arrays.counts_offset[:-1][columns].astype(np.int64)
    counts = np.zeros((len(columns), 3, n_classes + 1))
    for level in range(3):
        row = np.where(level == 2, levels - 1, level)
        inside = (level == 2) | (level < levels - 1)
        place = start[:, np.newaxis] + (row * n_classes)[:, np.newaxis] + np.arange(n_classes)
        own = packed.arrays.class_counts[np.where(inside[:, np.newaxis], place, 0)]
        counts[:, level, :n_classes] = np.where(inside[:, np.newaxis], own, 0)
    counts[:, :, n_classes] = counts[:, :, :n_classes].sum(axis=2)
    totals = np.append(packed.layout.totals, packed.layout.n_samples).astype(np.float64)
    # N I(f;k) in bits is the sum of n log(n s) over the cells, less a part of each column. With
    # s = 9 / N all terms are small if levels are about equally frequent: single precision is enough.
    scales = 9 / np.maximum(totals, 1)
    terms = counts * np.log2(np.maximum(counts, 1))
    own = terms.sum(axis=1) - 0.5 * totals * np.log2(np.maximum(totals, 1) / scales)
    both = np.concatenate([counts, -own[:, np.newaxis]], axis=1).transpose(2, 0, 1)
    margins = np.ascontiguousarray(both, np.float32)
    return cupy.asarray(margins), cupy.asarray(scales.astype(np.float32))
