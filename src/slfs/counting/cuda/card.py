"""The GPU: whether there is one, its kernels, and planes that are larger than its memory."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from importlib import resources
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

SHARE = 0.8
"""Share of the free memory of the card that planes may take."""

_PIECES = 8
"""Planes that do not fit are moved to the card in pieces, of which this many would fit."""


def why_unavailable() -> str:
    """Return why there is no GPU to count with, and what to do, or ""."""
    try:
        import cupy
    except ImportError:
        return "CuPy is not installed: install slfs[gpu], or use device='cpu'."
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        return f"CUDA does not work ({error}): check the NVIDIA driver, or use device='cpu'."
    return "" if count else "There is no NVIDIA GPU: use device='cpu'."


@functools.cache
def _module(file: str, device: int) -> Any:  # noqa: ARG001
    import cupy

    source = resources.files(__package__).joinpath(file).read_text("utf-8")
    return cupy.RawModule(code=source, options=("-std=c++17",))


def is_started() -> bool:
    """Whether kernels of this process run on the card already."""
    return _module.cache_info().currsize > 0


def launch(
    name: str,
    n_warps: int,
    warps: int,
    arguments: tuple[Any, ...],
    *,
    shared: int = 0,
    source: str = "kernels.cu",
) -> None:
    """Run a kernel of ``n_warps`` warps, ``warps`` of them per block."""
    import cupy

    kernel = _module(source, cupy.cuda.Device().id).get_function(name)
    if shared > 48 << 10:
        kernel.max_dynamic_shared_size_bytes = shared
    kernel((-(-n_warps // warps),), (32 * warps,), arguments, shared_mem=shared)


class Piece(NamedTuple):
    """Planes of the columns first ... last - 1; plane words are counted from those of column 0."""

    first: int
    last: int
    address: np.uint64
    words: Any


class CardPlanes:
    """Planes of all columns: on the card if they fit, else moved there piece by piece.

    Parameters
    ----------
    words : ndarray
        The words of all columns; an array on the card is used as it is.
    offset : ndarray of shape (n_columns + 1,)
        Start of each column in ``words``.
    """

    def __init__(self, words: Any, offset: NDArray[np.uint64]) -> None:
        import cupy

        self._words, self._offset = words, offset
        free, _ = cupy.cuda.runtime.memGetInfo()
        free += cupy.get_default_memory_pool().free_bytes()
        self._most = max(1, int(SHARE * free / 8))
        self._held = None
        if isinstance(words, cupy.ndarray) or len(words) <= self._most:
            self._held = cupy.asarray(words)

    @property
    def resident(self) -> bool:
        """Whether all planes are on the card."""
        return self._held is not None

    def pieces(self, columns: NDArray[np.int64] | None = None) -> Iterator[Piece]:
        """Yield the columns piece by piece, on the card; only pieces that have one of ``columns``."""
        import cupy

        if columns is not None and len(columns) == 0:
            return
        n_columns = len(self._offset) - 1
        if self._held is not None:
            yield Piece(0, n_columns, np.uint64(self._held.data.ptr), self._held)
            return
        first = 0
        while first < n_columns:
            limit = self._offset[first] + np.uint64(max(1, self._most // _PIECES))
            last = max(first + 1, int(np.searchsorted(self._offset, limit, side="right")) - 1)
            if columns is None or ((columns >= first) & (columns < last)).any():
                begin, end = int(self._offset[first]), int(self._offset[last])
                words = cupy.asarray(self._words[begin:end])
                yield Piece(first, last, np.uint64(words.data.ptr - 8 * begin), words)
            first = last

    def column(self, f: int) -> Any:
        """Return the words of one column, on the card."""
        import cupy

        begin, end = int(self._offset[f]), int(self._offset[f + 1])
        return cupy.asarray(self._words[begin:end] if self._held is None else self._held[begin:end])
