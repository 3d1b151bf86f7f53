"""Records of columns -> columns that determine the class nearly completely."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

NEARLY_ALL = 0.98
"""Minimum share of the class entropy that a leak contains."""

_ACCIDENT = 0.001
"""Maximum p-value of a leak, corrected for the number of numeric columns, or of others: with few samples
and many columns, some of them determine the class by chance."""

_SAME = 1e-9
"""Relative difference of entropies that counts as rounding error."""


def find_leaks(records: NDArray[Any], class_entropy: float) -> NDArray[np.int64]:
    """Return the indices of the columns that contain nearly all information about the class.

    Such a column is often derived from the class, or was recorded after it was known.
    """
    determined = records["relevance"] >= NEARLY_ALL * class_entropy
    n_numeric = int(records["numeric"].sum())
    n_alike = np.where(records["numeric"], n_numeric, len(records) - n_numeric)
    return np.flatnonzero(determined & (records["p_value"] * n_alike <= _ACCIDENT))


def describe_leak(record: Any, class_entropy: float, noun: str) -> str:
    """Describe in a few words how a column determines the class, or the bins of a target."""
    what = "the class" if noun == "class" else "the bin of the target"
    share = record["relevance"] / class_entropy
    if share >= 1 - _SAME and record["entropy"] <= (1 + _SAME) * class_entropy:
        return f"determines {what} completely, as a copy or a recoding of it does"
    return f"alone contains {min(100 * share, 100):.3g}% of the information about {what}"
