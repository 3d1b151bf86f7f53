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


@dataclass(frozen=True)
class NLogN:
    """``table[n] / scale`` is n log n in nats, for n = 0 .. n_samples."""

    table: NDArray[np.int64]
    scale: float

    @property
    def n_samples(self) -> int:
        return len(self.table) - 1


@functools.lru_cache(maxsize=2)
def nlogn_table(n_samples: int) -> NLogN:
    """Make the table, with as many bits after the point as the largest sum leaves room for."""
    counts = np.arange(n_samples + 1, dtype=np.float64)
    exact = counts * np.log(np.maximum(counts, 1.0))  # 0 log 0 = 0
    scale = 2.0 ** (61 - np.frexp(max(exact[-1], 1.0))[1])
    table = np.round(exact * scale).astype(np.int64)
    return NLogN(table, float(scale))
