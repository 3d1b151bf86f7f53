"""JMI: joint mutual information (Yang & Moody)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slfs.measures.information import Information
from slfs.selectors._shared.greedy import GreedySelector
from slfs.selectors.registry import register

Floats = NDArray[np.float64]


@register("jmi")
class JMI(GreedySelector):
    """Take the features that tell most about the class together with each of those taken.

    The next feature has the largest sum over the features s already taken of I(f,s;Y).

    Parameters
    ----------
    n_features_to_select : int, float or "auto", default="auto"
        Most features to take, the same as a share of the columns, or as many as pay: "auto" leaves out
        what does not earn the description of its own table, 2 N I(f;Y) <= (d-1)(c-1) log N, and stops
        before the first feature that does not beside some feature already taken, with I(f;Y|s).
    categorical_features : "from_dtype", "all" or array-like, default="from_dtype"
        Columns of numbers to take as categories, as in `SLFS`.
    n_jobs : int or None, default=None
        Threads. The result is the same to the bit for any number.
    memory_limit : int, str or None, default=None
        Memory that the process may take in ``fit``, such as ``"2GiB"``: blocks become smaller, and
        planes go to a temporary file. See the page on scaling.

    Attributes
    ----------
    indices_ : ndarray of shape (n_features_,)
        Selected columns in the order in which they were taken.
    selection_scores_ : ndarray of shape (n_features_,)
        What each scored when it was taken, in nats.
    support_, network_, features_, n_features_
        As in `SLFS`.

    References
    ----------
    H. H. Yang and J. Moody, "Data visualization and feature selection: new algorithms for
    nongaussian data", NIPS 1999.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from slfs import JMI
    >>> JMI(n_features_to_select=2).fit(*load_iris(return_X_y=True)).indices_
    array([3, 2])
    """

    def _bounded(self) -> bool:
        return False  # sums over the columns taken

    def _begin(self, relevance: Floats) -> Floats:
        return np.zeros(len(relevance))

    def _meet(
        self, information: Information, last: int, others: NDArray[np.int64], memory: Floats
    ) -> None:
        memory += information.pairs(last, others).of_other_given_one  # I(f;Y|s)
        memory += information.relevance[last]  # I(f,s;Y) = I(f;Y|s) + I(s;Y)

    def _score(
        self, _information: Information, _relevance: Floats, memory: Floats, _n_taken: int
    ) -> Floats:
        return memory
