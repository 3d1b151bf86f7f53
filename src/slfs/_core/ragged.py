"""Pieces of different lengths in one array: where each begins, and how to pick some of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def starts(lengths: NDArray[Any]) -> NDArray[np.int64]:
    """Where each of several consecutive pieces begins, and where the last one ends."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])


def ragged(
    begins: NDArray[np.int64], lengths: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where pieces of an array stand once put one after another, and the indices that put them so."""
    offset = starts(lengths)
    return offset, np.arange(offset[-1]) + np.repeat(begins - offset[:-1], lengths)
