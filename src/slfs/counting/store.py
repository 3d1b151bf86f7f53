"""Blocks of packed columns, one after another -> all of them, in memory or in a file.

The file has no name, so that nothing of it is left whatever happens; it lies where the system keeps
temporary files (``TMPDIR``). Its pages are the system's cache: they come when they are counted and go
when the memory is needed.
"""

from __future__ import annotations

import math
import mmap
import tempfile
import weakref
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from slfs.counting.kernels import PackedArrays
from slfs.counting.planes import PackedBlock, PackedColumns, SampleLayout, column_words, unsigned_starts


class PlaneStore:
    """Packed columns that become more.

    Parameters
    ----------
    layout : SampleLayout
    max_bytes : float, default=inf
        Planes that take more memory are moved to a file.

    Attributes
    ----------
    layout : SampleLayout
    """

    def __init__(self, layout: SampleLayout, max_bytes: float = math.inf) -> None:
        self.layout = layout
        self._columns = _Growing(np.empty(0, np.int64))
        self._levels = _Growing(np.empty(0, np.uint64))
        self._counts = _Growing(np.empty(0, np.int64))
        self._words: _Growing | _Filed = _Growing(np.empty(0, np.uint64))
        self.max_bytes = max_bytes

    def __len__(self) -> int:
        return self._columns.length

    def append(self, block: PackedBlock, first: int = 0) -> None:
        """Take in one more block; its columns are counted from column ``first`` of the table."""
        self._columns.append(block.columns + first)
        self._levels.append(block.levels)
        self._counts.append(block.class_counts)
        self._words.append(block.words)
        if 8 * self._words.length > self.max_bytes:
            self.spill()

    def spill(self) -> bool:
        """Move the planes to a file; False if there are none in memory."""
        if isinstance(self._words, _Filed) or self._words.length == 0:
            return False
        self._words = _Filed(self._words)
        return True

    def start_of(self, n_columns: int) -> PlaneStore:
        """A store with the first columns: this one if there are no others, or else a copy of them."""
        if n_columns == len(self):
            return self
        packed = self.packed(n_columns)
        own = PlaneStore(self.layout, self.max_bytes)
        arrays = packed.arrays
        own.append(PackedBlock(packed.columns, arrays.levels, arrays.words, arrays.class_counts))
        return own

    def packed(self, n_columns: int | None = None) -> PackedColumns:
        """The first columns, or all that are there now; what comes later does not change them."""
        levels = self._levels.joined()[:n_columns]
        offset = unsigned_starts(column_words(levels, self.layout))
        counts_offset = unsigned_starts(levels * np.uint64(self.layout.n_classes))
        arrays = PackedArrays(
            words=self._words.joined()[: int(offset[-1])],
            offset=offset,
            levels=levels,
            class_counts=self._counts.joined()[: int(counts_offset[-1])],
            counts_offset=counts_offset,
            first_word=self.layout.first_word,
            first_sample=self.layout.first_sample,
            home_word=self.layout.first_word,
            home_sample=self.layout.first_sample,
        )
        return PackedColumns(self.layout, self._columns.joined()[:n_columns], arrays)


class _Growing:
    """An array in memory that grows at its end.

    What comes waits in parts until all is asked for. The first time they are put together as they are;
    later there is room for as much again, so that a stream is not copied once a block.
    """

    def __init__(self, array: NDArray[Any]) -> None:
        self._array = array
        self._filled = self.length = len(array)
        self._parts: list[NDArray[Any]] = []

    def append(self, part: NDArray[Any]) -> None:
        self._parts.append(part)
        self.length += len(part)

    def joined(self) -> NDArray[Any]:
        if self.length > len(self._array):
            room = np.empty(self.length if self._filled == 0 else 2 * self.length, self._array.dtype)
            room[: self._filled] = self._array[: self._filled]
            self._array = room
        self._parts.reverse()
        while self._parts:  # each is forgotten once it is copied
            part = self._parts.pop()
            self._array[self._filled : self._filled + len(part)] = part
            self._filled += len(part)
        return self._array[: self.length]


class _Filed:
    """An array of words in a file that grows at its end."""

    def __init__(self, before: _Growing) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile(buffering=0, prefix="slfs-planes-")  # noqa: SIM115
        weakref.finalize(self, self._file.close)  # the mapped pages stay
        self.length = 0
        for part in (before._array[: before._filled], *before._parts):
            self.append(part)

    def append(self, part: NDArray[Any]) -> None:
        try:
            self._file.seek(8 * self.length)
            left = part.view(np.uint8)
            while len(left):
                left = left[self._file.write(left.data) :]
        except OSError as error:
            raise OSError(
                error.errno,
                f"The planes do not fit in the folder for temporary files ({error.strerror}). Set "
                "TMPDIR to a folder on a larger disk, or raise memory_limit",
                tempfile.gettempdir(),
            ) from error
        self.length += len(part)

    def joined(self) -> NDArray[np.uint64]:
        if self.length == 0:
            return np.empty(0, np.uint64)
        pages = mmap.mmap(self._file.fileno(), 8 * self.length, access=mmap.ACCESS_WRITE)
        return np.frombuffer(pages, np.uint64)

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy is made in memory, and moved to a file of its own."""
        return _Filed, (_Growing(np.array(self.joined())),)
