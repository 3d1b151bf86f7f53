"""mRMR: maximal relevance, minimal redundancy (Peng, Long & Ding)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from slfs._compat import StrOptions
from slfs.measures.information import Information
from slfs.selectors._shared.greedy import GreedySelector
from slfs.selectors.registry import register

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@register("mrmr")
class MRMR(GreedySelector):
    """Take the features that are most relevant to the class and least redundant with those taken.

    The next feature has the largest relevance I(f;Y) less ("MID") or over ("MIQ") its redundancy, the
    mean of I(f;s) over the features s already taken.

    Parameters
    ----------
    n_features_to_select : int, float or "auto", default="auto"
        Most features to take, the same as a share of the columns, or as many as pay: "auto" leaves out
        what does not earn the description of its own table, 2 N I(f;Y) <= (d-1)(c-1) log N, and stops
        before the first feature that does not beside some feature already taken, with I(f;Y|s).
    criterion : {"MID", "MIQ"}, default="MID"
        Difference or quotient of relevance and redundancy.
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
    H. Peng, F. Long and C. Ding, "Feature selection based on mutual information: criteria of
    max-dependency, max-relevance, and min-redundancy", IEEE TPAMI 27, 2005.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from slfs import MRMR
    >>> MRMR(n_features_to_select=2).fit(*load_iris(return_X_y=True)).indices_
    array([3, 2])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **GreedySelector._parameter_constraints,
        "criterion": [StrOptions({"MID", "MIQ"})],
    }

    def __init__(
        self,
        n_features_to_select: float | str = "auto",
        *,
        criterion: str = "MID",
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
        memory_limit: int | str | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.criterion = criterion
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit

    def _bounded(self) -> bool:
        return self.criterion == "MID"

    def _begin(self, relevance: Floats) -> Ints:
        return np.zeros((len(relevance), 2), np.int64)

    def _meet(self, information: Information, last: int, others: Ints, memory: Ints) -> None:
        information.add_mutual_information(last, others, memory)

    def _score(self, information: Information, relevance: Floats, memory: Ints, n_taken: int) -> Floats:
        redundancy = information.to_nats(memory, n_taken)
        if self.criterion == "MID":
            return relevance - redundancy
        with np.errstate(divide="ignore"):
            return np.where(relevance > 0, relevance / redundancy, 0.0)
