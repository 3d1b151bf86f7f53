"""Blocks of packed columns -> all packed columns, in memory or in a temporary file.

The file is unlinked, so that nothing remains after a crash; it is stored in the folder for temporary
files (``TMPDIR``). It is memory-mapped: pages are read when they are counted and dropped when the system
needs the memory.
"""

from __future__ import annotations

import math
import mmap
import tempfile
import weakref
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from slfs._core.interface import parameter
from slfs.counting.kernels import PackedArrays
from slfs.counting.planes import (
    N_CUTS,
    PackedBlock,
    PackedColumns,
    SampleLayout,
    column_words,
    unsigned_starts,
)

_SMALL = 1 << 20
"""Counts of fewer bytes stay in memory in any case."""


class PlaneStore:
    """A growing collection of packed columns.

    Parameters
    ----------
    layout : SampleLayout
        The order of the samples.
    max_bytes : float, default=inf
        Maximum size of planes and counts in memory; larger ones are moved to a temporary file. Quartiles
        have as much for themselves.

    Attributes
    ----------
    layout : SampleLayout
        The order of the samples.
    """

    def __init__(self, layout: SampleLayout, max_bytes: float = math.inf) -> None:
        self.layout = layout
        self._columns = _Growing(np.empty(0, np.int64))
        self._levels = _Growing(np.empty(0, np.uint64))
        self._counts: _Growing | _Filed = _Growing(np.empty(0, np.int64))
        self._words: _Growing | _Filed = _Growing(np.empty(0, np.uint64))
        self._scores, self._cuts = _Growing(np.empty(0)), _Growing(np.empty(0))
        self._quartiles: PlaneStore | None = None
        self.max_bytes = max_bytes

    def __len__(self) -> int:
        return self._columns.length

    def append(self, block: PackedBlock, first: int = 0) -> None:
        """Append a block, whose column indices are relative to column ``first`` of the table."""
        self._columns.append(block.columns + first)
        self._levels.append(block.levels)
        self._counts.append(block.class_counts)
        self._words.append(block.words)
        self._scores.append(block.scores)
        self._cuts.append(block.cuts.reshape(-1))
        if block.quartiles is not None:
            self._quartiles = self._quartiles or PlaneStore(self.layout, self.max_bytes)
            self._quartiles.append(block.quartiles, first)
        if 8 * self._words.length > self.max_bytes:
            self.spill()
        if isinstance(self._counts, _Growing) and 8 * self._counts.length > _SMALL:
            planes = self._words.length if isinstance(self._words, _Growing) else 0
            if 8 * (self._counts.length + planes) > self.max_bytes / 2:  # they are copied when joined
                self._counts = _Filed(self._counts)  # large only with many classes

    def spill(self) -> bool:
        """Move the planes to a temporary file; returns False if there are none in memory."""
        freed = self._quartiles is not None and self._quartiles.spill()
        if isinstance(self._words, _Filed) or self._words.length == 0:
            return freed
        self._words = _Filed(self._words)
        return True

    def start_of(self, n_columns: int) -> PlaneStore:
        """Return a store with the first columns: this store if it has no others, or else a copy."""
        if n_columns == len(self):
            return self
        packed = self.packed(n_columns)
        own = PlaneStore(self.layout, self.max_bytes)
        arrays = packed.arrays
        own.append(PackedBlock(packed.columns, arrays.levels, arrays.words, arrays.class_counts))
        return own

    def packed(self, n_columns: int | None = None) -> PackedColumns:
        """Return the first columns, or all; blocks that are appended later do not change them."""
        levels = self._levels.joined()[:n_columns]
        offset = unsigned_starts(column_words(levels, self.layout))
        counts_offset = unsigned_starts(levels * np.uint64(self.layout.n_classes))
        arrays = PackedArrays(
            words=self._words.joined()[: int(offset[-1])],
            offset=offset,
            levels=levels,
            class_counts=self._counts.joined()[: int(counts_offset[-1])].view(np.int64),
            counts_offset=counts_offset,
            first_word=self.layout.first_word,
            first_sample=self.layout.first_sample,
            home_word=self.layout.first_word,
            home_sample=self.layout.first_sample,
        )
        quartiles = None if self._quartiles is None else self._quartiles.packed(n_columns)
        if quartiles is not None and quartiles.arrays.levels.max(initial=0) <= 1:
            quartiles = None  # no column has a trend
        scores = self._scores.joined()[: int(levels.sum())]
        cuts = self._cuts.joined()[: N_CUTS * len(levels)].reshape(-1, N_CUTS)
        return PackedColumns(
            self.layout, self._columns.joined()[:n_columns], arrays, quartiles, scores, cuts
        )


class _Growing:
    """An array in memory that can be appended to.

    As long as nobody else has the array, it grows by a quarter and in place: the system moves large
    arrays without copying them, so that they are never in memory twice. Once it was requested, a larger
    one is a copy of twice the size, so that a stream is not copied for every block.
    """

    def __init__(self, array: NDArray[Any]) -> None:
        self._array = array.copy()  # owns its memory
        self.length = len(array)
        self._requested = False

    def append(self, part: NDArray[Any]) -> None:
        end = self.length + len(part)
        if end > len(self._array) and not self._requested:
            self._array.resize(max(end, self.length + self.length // 4), refcheck=False)
        elif end > len(self._array):
            room = np.empty(2 * end, self._array.dtype)
            room[: self.length] = self._array[: self.length]
            self._array = room
        self._array[self.length : end] = part
        self.length = end

    def joined(self) -> NDArray[Any]:
        if not self._requested and self.length < len(self._array):
            self._array.resize(self.length, refcheck=False)
        self._requested = True
        return self._array[: self.length]


class _Filed:
    """An array of words in a temporary file that can be appended to."""

    def __init__(self, before: _Growing) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile(buffering=0, prefix="slfs-planes-")  # noqa: SIM115
        weakref.finalize(self, self._file.close)  # mapped pages stay valid
        self.length = 0
        self.append(before.joined())

    def append(self, part: NDArray[Any]) -> None:
        try:
            self._file.seek(8 * self.length)
            left = part.view(np.uint8)
            while len(left):
                left = left[self._file.write(left.data) :]
        except OSError as error:
            raise OSError(
                error.errno,
                f"The bit planes do not fit in the folder for temporary files ({error.strerror}). Set "
                f"TMPDIR to a folder on a larger disk, or raise {parameter('memory_limit')}",
                tempfile.gettempdir(),
            ) from error
        self.length += len(part)

    def joined(self) -> NDArray[np.uint64]:
        if self.length == 0:
            return np.empty(0, np.uint64)
        pages = mmap.mmap(self._file.fileno(), 8 * self.length, access=mmap.ACCESS_WRITE)
        return np.frombuffer(pages, np.uint64)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the array itself; a copy moves it to a file of its own."""
        return _Filed, (_Growing(np.array(self.joined())),)
