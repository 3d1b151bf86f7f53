"""Number of samples -> n log n for every count, as integers.

Entropies are sums of n log n over counts. As fixed-point integers these sums do not depend on the order
in which they are added: equal counts give equal bits, whatever the threads, the blocks or the order of
rows and columns, and what is equal count by count ties exactly. The last bit is worth about 1e-11 for a
million samples, and is divided by their number afterwards.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_PIECE = 1 << 20
"""Entries worked out at a time: what is needed on the way stays small."""

MANY_CELLS = 100_000
"""Number of small cells above which the rounding of each is added back into their sum."""

REST_BITS = 16
"""Bits after the last one of the table in which `NLogN.rest` is kept."""

_FINE_ENOUGH = 2.0**38
"""From this scale on, rounding all cells of a table alike is worth less than 1e-12 nats a sample."""


@dataclass(frozen=True)
class NLogN:
    """``table[n] / scale`` is n log n in nats, for n = 0 .. n_samples."""

    table: NDArray[np.int64]
    scale: float
    rest: NDArray[np.int64]
    """What rounding took from the first 256 entries; nobody needs it where it is empty."""

    @property
    def n_samples(self) -> int:
        return len(self.table) - 1


@functools.lru_cache(maxsize=2)
def nlogn_table(n_samples: int) -> NLogN:
    """Make the table, with as many bits after the point as the largest sum leaves room for."""
    largest = _exact(np.array([n_samples]))[0]
    scale = 2.0 ** (61 - np.frexp(max(largest, 1.0))[1])
    table = np.empty(n_samples + 1, np.int64)
    for begin in range(0, n_samples + 1, _PIECE):
        counts = np.arange(begin, min(begin + _PIECE, n_samples + 1))
        table[counts] = np.round(_exact(counts) * scale)
    rest = np.empty(0, np.int64)
    if scale < _FINE_ENOUGH:
        small = np.arange(256)
        rest = np.round((_exact(small) * scale - table[small]) * 2.0**REST_BITS).astype(np.int64)
    return NLogN(table, float(scale), rest)


def _exact(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    numbers = counts.astype(np.float64)
    exact: NDArray[np.float64] = numbers * np.log(np.maximum(numbers, 1.0))  # 0 log 0 = 0
    return exact
