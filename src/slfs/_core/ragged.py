"""Ragged arrays: pieces of different lengths, stored one after another in one array."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def starts(lengths: NDArray[Any]) -> NDArray[np.int64]:
    """Return the start of each of several consecutive pieces, and the end of the last one."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])


def ragged(
    begins: NDArray[np.int64], lengths: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the starts of pieces once they are concatenated, and the indices of their elements."""
    offset = starts(lengths)
    return offset, np.arange(offset[-1]) + np.repeat(begins - offset[:-1], lengths)


def consecutive_runs(indices: NDArray[np.int64]) -> list[slice]:
    """Return the slices of an array of indices in which each index follows the one before it."""
    begins = np.flatnonzero(np.diff(indices, prepend=-2) != 1)
    ends = np.append(begins, len(indices))[1:]
    return [slice(*bounds) for bounds in zip(begins.tolist(), ends.tolist(), strict=True)]
