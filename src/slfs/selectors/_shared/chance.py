"""Records of columns -> the information of columns with many levels that is due to chance."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from slfs.coding.grouping import MANY
from slfs.selectors._shared.selection import NetworkCounts

_MUCH = 1 / 3
"""Share of the relevance of a column that is worth mentioning."""


def due_to_chance(records: NDArray[Any], counts: NetworkCounts) -> NDArray[np.float64]:
    """Return how many nats of the relevance of each column chance explains, if that is much; else 0.

    The mutual information of a sample is positive even if column and class are independent. This is
    noticeable in columns of many categories that were not grouped.
    """
    n_samples = counts.class_totals.sum() / counts.unit
    freedom = (records["n_levels"].astype(np.float64) - 1) * (len(counts.class_totals) - 1)
    expected: NDArray[np.float64] = np.minimum(freedom / (2 * n_samples), records["relevance"])
    much = (records["n_levels"] > MANY) & (expected >= _MUCH * records["relevance"])
    return np.where(much, expected, 0.0)
