"""A continuous target -> bins of about equal size, which are used like classes.

The bins depend on the order of the values and on ties only, so that a monotone transformation of the
target changes nothing but the numbers in the names of the bins.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slfs._core.rounding import short_number

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MANY = 500
"""Number of samples from which a target is cut into 5 bins; fewer samples give 3."""

_SMALLEST = 4
"""A bin has at least this fraction (a quarter) of an equal share of the samples."""

_SWEEPS = 20
"""Maximum number of times that the cuts are moved towards the middle of their neighbours."""

BIN = np.dtype(
    [
        ("name", object),
        ("lower", float),
        ("upper", float),
        ("smallest", float),
        ("largest", float),
        ("mean", float),
        ("n_samples", np.int64),
    ]
)
"""dtype of the record of a bin.

Bin k contains lower < y <= upper; the first lower and the last upper bound are infinite. The other
fields are the smallest and the largest value of the bin, their mean, and their number.
"""


def number_of_bins(n_samples: int) -> int:
    """Return the number of bins of a target without large ties."""
    return 5 if n_samples >= MANY else 3


def bin_target(
    values: Floats, name: str, frequencies: Ints | None = None
) -> tuple[Ints, np.recarray[Any, Any]]:
    """Cut a continuous target at its quantiles, or next to values that are more frequent than a bin.

    Parameters
    ----------
    values : ndarray of shape (n_samples,)
        The target: finite, with at least two distinct values.
    name : str
        Name of the target, for the names of the bins.
    frequencies : ndarray of shape (n_samples,) or None, default=None
        How often each sample was seen. None: once.

    Returns
    -------
    codes : ndarray of shape (n_samples,)
        The bin of each sample. Equal values are in the same bin.
    bins : recarray of shape (n_bins,)
        One record per bin; see `BIN`.
    """
    distinct, index = np.unique(values, return_inverse=True)
    counts = np.bincount(index, frequencies).astype(np.int64)
    cuts = cut_counts(counts, number_of_bins(int(counts.sum())))
    first = np.concatenate([[0], cuts, [len(distinct)]])
    low, high = distinct[cuts - 1], distinct[cuts]
    middle = 0.5 * low + 0.5 * high
    edges = np.where((low <= middle) & (middle < high), middle, low)
    codes = np.searchsorted(cuts, index, side="right").astype(np.int64)
    bin_of_value = np.searchsorted(cuts, np.arange(len(distinct)), side="right")
    n_samples = np.bincount(bin_of_value, counts).astype(np.int64)
    bins = np.zeros(len(first) - 1, BIN)
    bins["name"] = interval_names(low, high, name)
    bins["lower"], bins["upper"] = np.append(-np.inf, edges), np.append(edges, np.inf)
    bins["smallest"], bins["largest"] = distinct[first[:-1]], distinct[first[1:] - 1]
    # values near the largest float must not overflow
    bins["mean"] = np.bincount(bin_of_value, distinct * (counts / n_samples[bin_of_value]))
    bins["mean"] = np.clip(bins["mean"], bins["smallest"], bins["largest"])
    bins["n_samples"] = n_samples
    return codes, bins.view(np.recarray)


def cut_counts(counts: Ints, n_bins: int) -> Ints:
    """Cut sorted values into bins of sizes as equal as ties allow, given how often each value occurs.

    Returns the index of the first value of every bin but the first one. There are fewer bins if ties
    leave too few samples for one of them, but at least two.
    """
    below = np.cumsum(counts)[:-1]  # number of samples before each possible cut
    n_samples = int(counts.sum())
    quantiles = n_samples * np.arange(1, n_bins) / n_bins
    cuts = sorted({_nearest(below, 0, len(below), quantile, n_samples) for quantile in quantiles})
    while len(cuts) < n_bins - 1 and _split_largest(cuts, below, n_samples):
        pass
    for _ in range(_SWEEPS):
        moved = _balanced(cuts, below, n_samples)
        if _unevenness(moved, below, n_samples) >= _unevenness(cuts, below, n_samples):
            break
        cuts = moved
    smallest = n_samples / (_SMALLEST * n_bins)
    while len(cuts) > 1:
        sizes = np.diff([0, *below[cuts], n_samples])
        bin_ = int(sizes.argmin())
        if sizes[bin_] >= smallest:
            break
        last = len(sizes) - 1
        joins_next = bin_ == 0 or (bin_ < last and sizes[bin_ + 1] < sizes[bin_ - 1])
        del cuts[bin_ if joins_next else bin_ - 1]
        cuts = _balanced(cuts, below, n_samples)
    return np.array(cuts, np.int64) + 1


def _nearest(below: Ints, begin: int, end: int, wanted: float, n_samples: int) -> int:
    """Return the cut in begin .. end - 1 with about ``wanted`` samples below it.

    Of two that are equally near, the one nearer to the median: the same from above and from below.
    """
    above = min(max(int(np.searchsorted(below[begin:end], wanted)) + begin, begin), end - 1)
    candidates = [above - 1, above] if above > begin else [above]
    return min(candidates, key=lambda k: (abs(below[k] - wanted), abs(2 * below[k] - n_samples)))


def _split_largest(cuts: list[int], below: Ints, n_samples: int) -> bool:
    """Add a cut in the middle of the largest bin that has two values; False if there is none."""
    ends = [-1, *cuts, len(below)]
    counted = [0, *below[cuts].tolist(), n_samples]
    sizes = [
        (high - low if right - left > 1 else -1)
        for (left, right), (low, high) in zip(
            itertools.pairwise(ends), itertools.pairwise(counted), strict=True
        )
    ]
    largest = int(np.argmax(sizes))
    if sizes[largest] < 0:
        return False
    middle = (counted[largest] + counted[largest + 1]) / 2
    cuts.insert(largest, _nearest(below, ends[largest] + 1, ends[largest + 1], middle, n_samples))
    return True


def _balanced(cuts: list[int], below: Ints, n_samples: int) -> list[int]:
    """Move each cut to the middle between its neighbours, as far as ties allow."""
    moved = list(cuts)
    for k in range(len(moved)):
        left = moved[k - 1] if k > 0 else -1
        right = moved[k + 1] if k + 1 < len(moved) else len(below)
        low = 0 if left < 0 else int(below[left])
        high = n_samples if right == len(below) else int(below[right])
        moved[k] = _nearest(below, left + 1, right, (low + high) / 2, n_samples)
    return moved


def _unevenness(cuts: list[int], below: Ints, n_samples: int) -> int:
    """Return the sum of the squared sizes of the bins, which is smallest if they are equal."""
    sizes = np.diff([0, *below[cuts].tolist(), n_samples])
    return int((sizes * sizes).sum())


def interval_names(low: Floats, high: Floats, name: str) -> list[str]:
    """Name the intervals between cuts, such as "y ≤ 2.5".

    ``low`` and ``high`` are the values next to each cut. The number in the name has as few digits as
    separate them.
    """
    texts = [_between(*pair) for pair in zip(low.tolist(), high.tolist(), strict=True)]
    between = [f"{lower} < {name} ≤ {upper}" for lower, upper in itertools.pairwise(texts)]
    return [f"{name} ≤ {texts[0]}", *between, f"{name} > {texts[-1]}"]


def _between(low: float, high: float) -> str:
    """Write a number x with low <= x < high in few digits."""
    middle = 0.5 * low + 0.5 * high
    texts = (short_number(float(f"{middle:.{digits}g}"), digits) for digits in range(3, 17))
    return next((text for text in texts if low <= float(text) < high), repr(low))
