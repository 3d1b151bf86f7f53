"""p-values -> which of many findings to believe: of all columns at once, or of a stream."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.stats import false_discovery_control

Floats = NDArray[np.float64]

_SCALE = 0.079
"""Makes the shares of LORD++ sum to just below one."""

_LATEST = 64
"""Discoveries that are looked at first: most that is found is found by what these have earned."""


def q_values(p_values: Floats, *, method: str = "bh") -> Floats:
    """The least false discovery rate at which each column would be found.

    Parameters
    ----------
    p_values : ndarray of shape (n_columns,)
        NaN where there is none: such a column does not count.
    method : {"bh", "by"}, default="bh"
        Benjamini and Hochberg (1995), for columns that are independent or hang together positively; or
        Benjamini and Yekutieli (2001), for any.

    Returns
    -------
    q_values : ndarray of shape (n_columns,)

    Examples
    --------
    >>> import numpy as np
    >>> from slfs.measures.false_discovery import q_values
    >>> q_values(np.array([0.01, 0.5, 0.02]))
    array([0.03, 0.5 , 0.03])
    """
    found = np.full(len(p_values), np.nan)
    known = np.flatnonzero(~np.isnan(p_values))
    if len(known):
        found[known] = false_discovery_control(p_values[known], method=method)
    return found


@dataclass
class LordPlusPlus:
    """Decide column by column, as they come, with the false discovery rate held at every moment.

    The level of test t is w(t) alpha/2, and alpha w(t - s) more for each discovery s before it, half of
    it for the first. The shares w sum to one: those of Javanmard and Montanari, w(t) in proportion to
    log(t) / (t exp(sqrt(log t))). A discovery earns what later tests may spend, so the result depends on
    the order in which columns come, and on nothing else.

    Parameters
    ----------
    alpha : float
        The false discovery rate.
    n_seen : int, default=0
        Tests made so far.
    discoveries : ndarray of int, default=none
        Which of them found something, counted from 1.

    References
    ----------
    A. Ramdas, F. Yang, M. J. Wainwright and M. I. Jordan, "Online control of the false discovery rate
    with decaying memory", NeurIPS 2017. A. Javanmard and A. Montanari, "Online rules for control of
    false discovery rate and false discovery exceedance", Annals of Statistics 46, 2018.
    """

    alpha: float
    n_seen: int = 0
    discoveries: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))

    def decide(self, p_values: Floats) -> NDArray[np.bool_]:
        """Take in the p-values of the next columns.

        Parameters
        ----------
        p_values : ndarray of shape (n_columns,)

        Returns
        -------
        found : ndarray of shape (n_columns,)
            Which of them are discoveries.
        """
        found = np.zeros(len(p_values), np.bool_)
        candidates = np.flatnonzero(p_values <= self.alpha)  # no level is above alpha
        times = np.append(self.discoveries, np.empty(len(candidates), np.int64))
        number = len(self.discoveries)
        for place, p_value in zip(candidates.tolist(), p_values[candidates].tolist(), strict=True):
            test = self.n_seen + place + 1
            latest = times[max(0, number - _LATEST) : number]
            enough = 0.5 * self.alpha * float(_shares(test - latest).sum())  # the level is not below
            if p_value <= enough or p_value <= self._level(test, times[:number]):
                found[place] = True
                times[number] = test
                number += 1
        self.discoveries = times[:number].copy()
        self.n_seen += len(p_values)
        return found

    def _level(self, test: int, discoveries: NDArray[np.int64]) -> float:
        """What the p-value of test number ``test``, counted from 1, must not exceed."""
        earned = _shares(test - np.append(0, discoveries))
        return self.alpha * (float(earned.sum()) - 0.5 * float(earned[:2].sum()))


def _shares(distance: NDArray[np.int64]) -> Floats:
    """How much of what is there goes to the test at each distance from 1 on."""
    logarithm = np.log(distance)
    share: Floats = _SCALE * np.log(np.maximum(distance, 2)) / (distance * np.exp(np.sqrt(logarithm)))
    return share
