"""Counts of levels -> samples drawn from a network, and what to correct where values are unknown.

An additive model leaves out the tables of unknown values. Probabilities are not linear in its scores, so
that the mean of the predictions would no longer be the class frequencies: if a column nearly excludes a
class at one of its levels, it makes the class more likely at all others, which only holds together. So
scores are shifted by one number per class, such that the mean prediction remains what it is. And tables
are fitted together: without those of other columns, some may say too much, or even the opposite. So what
the known values add is multiplied by a number.

Both are found with samples that are drawn from a network of the columns: a model contains no training
samples.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, softmax

from slfs.network.tree import ROOT

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.uint8]

_SAMPLES, _MOST_CLASSES = 300, 50
"""Number of samples that are drawn, and number of classes above which none are: nothing is corrected."""

_ROUNDS, _TOLERANCE = 100, 1e-3
"""Maximum number of steps to find a shift, and the relative error of the mean at which they end."""

_SCALES = (1.0, 0.9, 0.8, 0.65, 0.5, 0.35, 0.2, 0.1, 0.0)
"""Scales that are tried, as long as the log loss falls."""

_RIDGE = 0.01
"""Added to the slope, relative to the class frequency: predictions that are certain do not move."""


def draw_samples(
    codes: Codes, n_levels: Ints, parents: Ints, labels: NDArray[np.int32], totals: Ints
) -> Codes:
    """Draw samples from the network of the columns: each depends on the class and on its parent.

    The classes are as frequent as in the data, to one sample. Only counts are used, so that the order of
    the samples does not matter.
    """
    n_classes = len(totals)
    size = _SAMPLES if n_classes <= _MOST_CLASSES else 0
    drawn_classes = _classes(np.log(totals / totals.sum()), size)
    random = np.random.default_rng(0)
    drawn = np.zeros((len(codes), size), np.uint8)
    for node in _parents_first(parents):
        parent, width = int(parents[node]), int(n_levels[node])
        given, drawn_given, n_given = labels.astype(np.int64), drawn_classes, n_classes
        if parent != ROOT:
            n_given *= int(n_levels[parent])
            given = given * int(n_levels[parent]) + codes[parent]
            drawn_given = drawn_given * int(n_levels[parent]) + drawn[parent]
        counts = np.bincount(given * width + codes[node], minlength=n_given * width)
        ranks = np.cumsum(counts.reshape(n_given, width), axis=1)[drawn_given]
        chosen = random.random(size) * ranks[:, -1]
        drawn[node] = (ranks <= chosen[:, np.newaxis]).sum(axis=1)
    return drawn


def _parents_first(parents: Ints) -> list[int]:
    """Return the nodes of a forest in an order in which each comes after its parent."""
    order = np.flatnonzero(parents == ROOT).tolist()
    for node in order:  # grows
        order += np.flatnonzero(parents == node).tolist()
    return order


def find_scale(added: Floats, log_prior: Floats, wanted: Floats) -> float:
    """Return by what to multiply what known values add to the scores of the samples that are drawn.

    It is the scale, from 0 to 1, with the smallest log loss.
    """
    rows, classes = np.arange(len(added)), _classes(log_prior, len(added))

    def loss(scale: float) -> float:
        scores = log_prior + scale * added
        scores = scores + find_shift(scores, wanted)
        return float(-log_softmax(scores, axis=1)[rows, classes].mean())

    best, least = _SCALES[0], loss(_SCALES[0])
    for scale in _SCALES[1:]:
        now = loss(scale)
        if now >= least:
            break
        best, least = scale, now
    return best


def _classes(log_prior: Floats, size: int) -> Ints:
    """Return the classes of evenly spaced samples, if all samples are sorted by class."""
    ends = np.cumsum(np.exp(log_prior))[:-1]
    return np.searchsorted(ends, (np.arange(size) + 0.5) / size)


def find_shift(scores: Floats, wanted: Floats) -> Floats:
    """Return what to add to the scores of samples, by class, for a mean prediction that is wanted.

    ``scores`` has the shape (n_samples, n_classes).
    """
    shift = np.zeros(len(wanted))
    for _ in range(_ROUNDS):
        shares = softmax(scores + shift, axis=1)
        mean = shares.mean(axis=0)
        if np.abs(mean - wanted).max() <= _TOLERANCE * wanted.min():
            break
        slope = np.diag(mean) - shares.T @ shares / len(shares)  # singular: all may be shifted alike
        step = np.linalg.solve(slope + np.diag(_RIDGE * wanted), wanted - mean)
        shift += np.clip(step - step.mean(), -1.0, 1.0)
    return shift
