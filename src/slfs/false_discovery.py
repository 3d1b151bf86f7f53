"""p-values -> which of many findings to believe: of all columns at once, or of a stream."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.stats import false_discovery_control

Floats = NDArray[np.float64]

_SCALE = 0.079
"""Makes the shares of LORD++ sum to just below one."""


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
    >>> from slfs.false_discovery import q_values
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

    Attributes
    ----------
    alpha : float
        The false discovery rate.
    n_seen : int
        Tests made so far.
    discoveries : list of int
        Which of them found something, counted from 1.

    References
    ----------
    A. Ramdas, F. Yang, M. J. Wainwright and M. I. Jordan, "Online control of the false discovery rate
    with decaying memory", NeurIPS 2017. A. Javanmard and A. Montanari, "Online rules for control of
    false discovery rate and false discovery exceedance", Annals of Statistics 46, 2018.
    """

    alpha: float
    n_seen: int = 0
    discoveries: list[int] = field(default_factory=list)

    def level(self, test: int) -> float:
        """What the p-value of test number ``test`` (from 1; one still to come) must not exceed."""
        share = 0.5 * float(_shares(np.array([test]))[0])
        if self.discoveries:
            earned = _shares(test - np.array(self.discoveries))
            share += float(earned.sum()) - 0.5 * float(earned[0])
        return self.alpha * share

    def decide(self, p_values: Floats) -> NDArray[np.bool_]:
        """Take in the p-values of the next columns: which of them are discoveries."""
        found = np.zeros(len(p_values), np.bool_)
        for place in np.flatnonzero(p_values <= self.alpha):  # no level is above alpha
            test = self.n_seen + int(place) + 1
            if p_values[place] <= self.level(test):
                found[place] = True
                self.discoveries.append(test)
        self.n_seen += len(p_values)
        return found


def _shares(distance: NDArray[np.int64]) -> Floats:
    """How much of what is there goes to the test at each distance from 1 on."""
    logarithm = np.log(distance)
    share: Floats = _SCALE * np.log(np.maximum(distance, 2)) / (distance * np.exp(np.sqrt(logarithm)))
    return share
