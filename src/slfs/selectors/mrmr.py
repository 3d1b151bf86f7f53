"""mRMR: maximal relevance, minimal redundancy (Peng, Long & Ding)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import StrOptions

from slfs.information import Information
from slfs.selectors.greedy import GreedySelector


class MRMR(GreedySelector):
    """Take the features that are most relevant to the class and least redundant with those taken.

    The next feature has the largest relevance I(f;Y) less ("MID") or over ("MIQ") its redundancy, the
    mean of I(f;s) over the features s already taken.

    Parameters
    ----------
    criterion : {"MID", "MIQ"}, default="MID"
        Difference or quotient of relevance and redundancy.
    k : int, float or "auto", default="auto"
        Most features to take, the same as a share of the columns, or as many as pay: "auto" leaves out
        what does not earn the description of its own table, 2 N I(f;Y) <= (d-1)(c-1) log N, and stops
        before the first feature that does not beside some feature already taken, with I(f;Y|s).
    categorical_features : "from_dtype", "all" or array-like, default="from_dtype"
        Columns of numbers to take as categories, as in `SLFS`.
    n_jobs : int or None, default=None
        Threads. The result is the same to the bit for any number.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_features_,)
        Selected columns in the order in which they were taken.
    scores_ : ndarray of shape (n_features_,)
        What each scored when it was taken, in nats.
    support_, network_, features_, n_features_
        As in `SLFS`.

    References
    ----------
    H. Peng, F. Long and C. Ding, "Feature selection based on mutual information: criteria of
    max-dependency, max-relevance, and min-redundancy", IEEE TPAMI 27, 2005.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from slfs import MRMR
    >>> MRMR(k=2).fit(*load_iris(return_X_y=True)).ranking_
    array([3, 2])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GreedySelector._parameter_constraints,
        "criterion": [StrOptions({"MID", "MIQ"})],
    }

    def __init__(
        self,
        k: float | str = "auto",
        *,
        criterion: str = "MID",
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
    ) -> None:
        self.k = k
        self.criterion = criterion
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    _memory_type = int  # sums of integers: redundancy is exact whatever the order of the features

    def _rescore(
        self, information: Information, taken: list[int], memory: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        information.add_mutual_information(taken[-1], memory)
        relevance, redundancy = information.relevance, information.to_nats(memory) / len(taken)
        if self.criterion == "MID":
            return relevance - redundancy
        with np.errstate(divide="ignore"):
            return np.where(relevance > 0, relevance / redundancy, 0.0)
