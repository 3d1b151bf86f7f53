"""Selections of several runs -> how stable the selection is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.stats import norm

__all__ = ["Stability", "nogueira"]


@dataclass(frozen=True)
class Stability:
    """Nogueira's stability measure with a confidence interval.

    Attributes
    ----------
    value : float
        1 if all runs select the same features, about 0 if they select at random. NaN if it is undefined,
        because no run selects any feature or every run selects all features.
    low, high : float
        Confidence interval; ``high`` is at most 1.
    level : float
        Confidence level of the interval.
    standard_error : float
        Standard error of ``value``.
    n_runs : int
        Number of runs.
    share : float
        Mean share of the features that a run selects. If it is close to 0 or 1, runs cannot agree much
        more than by chance, and the measure is small or uncertain.

    Examples
    --------
    >>> from slfs.measures.stability import nogueira
    >>> print(nogueira([[1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 0]]))
    stability 0.50 (95% interval 0.08 to 0.92): fair
    """

    value: float
    low: float
    high: float
    level: float
    standard_error: float
    n_runs: int
    share: float

    @property
    def word(self) -> str:
        """Interpretation of the paper, after Fleiss: poor (below 0.4), fair, excellent (above 0.75)."""
        if math.isnan(self.value):
            return "not defined"
        return "poor" if self.value < 0.4 else "excellent" if self.value > 0.75 else "fair"

    def __str__(self) -> str:
        if math.isnan(self.value):
            return "stability not defined: no run selects any feature, or every run selects all"
        share = f"{100 * self.level:g}% interval {self.low:.2f} to {self.high:.2f}"
        return f"stability {self.value:.2f} ({share}): {self.word}"


def nogueira(supports: Any, *, level: float = 0.95) -> Stability:
    """Measure the agreement of the selections of several runs, corrected for chance.

    Parameters
    ----------
    supports : array-like or sparse matrix of shape (n_runs, n_features)
        Mask of the features that each run has selected: zeros and ones, or booleans.
    level : float, default=0.95
        Confidence level of the interval.

    Returns
    -------
    stability : Stability
        The measure with its confidence interval.

    Notes
    -----
    With p features, B runs, p_f the share of the runs that select the feature f and k the mean size of a
    selection, the measure is 1 - mean(B/(B-1) p_f (1-p_f)) / (k/p (1-k/p)). The runs may select
    different numbers of features. The interval is asymptotic and assumes independent runs. Runs on
    subsamples of one dataset are independent only given that dataset: the interval describes how
    precisely the stability on this dataset is estimated, not the variation between datasets.

    References
    ----------
    S. Nogueira, K. Sechidis and G. Brown, "On the stability of feature selection algorithms",
    JMLR 18(174), 2018.

    Examples
    --------
    >>> from slfs.measures.stability import nogueira
    >>> nogueira([[1, 0, 1], [1, 0, 1]]).value
    1.0
    """
    chosen = _read(supports)
    if not 0 < level < 1:
        raise ValueError(f"level must be a float between 0 and 1. Got {level!r} instead.")
    n_runs, n_features = chosen.shape
    share = np.asarray(chosen.sum(axis=0)).ravel() / n_runs
    size = np.asarray(chosen.sum(axis=1)).ravel() / n_features  # k_i / p of each run
    mean_size = float(size.mean())
    chance = mean_size * (1 - mean_size)
    if not size.any() or (size == 1).all():
        return Stability(math.nan, math.nan, math.nan, level, math.nan, n_runs, mean_size)
    value = float(1 - n_runs / (n_runs - 1) * (share * (1 - share)).mean() / chance)
    # the contribution of each run, from which the variance is estimated (phi_i of the paper)
    agreement = np.asarray(chosen @ share).ravel() / n_features
    spread = value / 2 * (2 * size * mean_size - size - mean_size + 1)
    parts = (agreement - size * mean_size + spread) / chance
    error = float(np.sqrt(4 / n_runs * parts.var()))
    reach = float(norm.ppf((1 + level) / 2)) * error
    return Stability(value, value - reach, min(value + reach, 1.0), level, error, n_runs, mean_size)


def _read(supports: Any) -> Any:
    """Validate the selections, and convert them to a sparse array of zeros and ones."""
    if not sparse.issparse(supports):
        supports = np.asarray(supports)
        if supports.ndim != 2:
            raise ValueError(
                f"supports must have two dimensions, with one row per run. Got {supports.ndim} instead."
            )
    chosen = sparse.csr_array(supports).astype(np.float64)
    if chosen.shape[0] < 2 or chosen.shape[1] < 1:
        raise ValueError(
            "supports must have at least two runs (rows) and one feature (column). Got the shape "
            f"{chosen.shape} instead."
        )
    if not np.isin(chosen.data, (0, 1)).all():
        raise ValueError(
            "supports must contain zeros and ones, or booleans: 1 for each feature that a run selects. "
            f"Got the values {np.unique(chosen.data)[:5].tolist()}."
        )
    return chosen
