"""Number of samples -> n log n for every count, as integers.

Entropies are sums of n log n over counts. As fixed-point integers these sums do not depend on the order
of addition: equal counts give equal bits, for any number of threads, block size or order of rows and
columns, and columns with equal counts tie exactly. The last bit is about 1e-11 for a million samples,
before it is divided by the number of samples.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_PIECE = 1 << 20
"""Number of entries computed at a time, to keep temporary arrays small."""

MANY_CELLS = 100_000
"""Number of small cells above which the rounding errors of the cells are corrected."""

REST_BITS = 16
"""Number of additional bits in which `NLogN.rest` is stored."""

_FINE_ENOUGH = 2.0**38
"""Scale from which rounding errors are below 1e-12 nats per sample, even if all have the same sign."""


@dataclass(frozen=True)
class NLogN:
    """``table[n] / scale`` is n log n in nats, for n = 0 .. n_samples."""

    table: NDArray[np.int64]
    scale: float
    rest: NDArray[np.int64]
    """Rounding errors of the first 256 entries; empty if they can be neglected."""

    @property
    def n_samples(self) -> int:
        return len(self.table) - 1


@functools.lru_cache(maxsize=2)
def nlogn_table(n_samples: int) -> NLogN:
    """Create the table, with as many fractional bits as the largest sum allows."""
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
