"""mRMR: feature selection by maximal relevance and minimal redundancy (Peng, Long & Ding)."""

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
    """Select features with maximal relevance and minimal redundancy (mRMR).

    Features are selected one after another. The next feature maximizes the difference ("MID") or the
    quotient ("MIQ") of its relevance I(f;Y) and its redundancy, the mean of I(f;s) over the features s
    already selected.

    Parameters
    ----------
    n_features_to_select : int, float or "auto", default="auto"
        Number of features to select, or fraction of the columns. ``"auto"`` stops at the first
        feature whose information does not exceed the cost of its parameters (MDL), on its own or
        given any selected feature: 2 N I <= (d-1)(c-1) log N, where I is I(f;Y) or I(f;Y|s), d the
        number of levels, c the number of classes and N the number of samples.
    criterion : {"MID", "MIQ"}, default="MID"
        Whether to maximize the difference or the quotient of relevance and redundancy.
    include : array-like, str or None, default=None
        Columns that are selected in any case, given by name, by index or as a mask. They are the first
        ones, and count towards ``n_features_to_select``.
    exclude : array-like, str or None, default=None
        Columns that are never selected.
    condition_on : array-like, str or None, default=None
        Columns such as age, sex or batch whose influence is taken into account, but which are not
        selected: the others are judged by what they tell about the class beyond these. Their p-values
        are given these columns, and a column without significant information given these is dropped.
    target : {"auto", "classification", "regression"}, default="auto"
        Type of the target. With ``"auto"``, floats with fractional parts are a continuous target, and
        integers, strings and booleans are class labels. A continuous target is cut into bins at its
        quantiles, which are used like classes; p-values compare columns with the numbers themselves.
    categorical_features : "from_dtype", "all" or array-like, default="from_dtype"
        Numeric columns to treat as categorical: a mask, indices or column names, or ``"all"`` for all
        columns. With ``"from_dtype"``, all numeric columns are discretized. Booleans, strings and
        columns of a categorical dtype are always categorical.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class, by its label; the classes without an entry have weight 1. ``"balanced"``
        gives all classes the same total weight. Sample weights are multiplied by it.
    n_jobs : int or None, default=None
        Number of threads used for coding and counting. ``None`` means 1 unless in a
        ``joblib.parallel_backend`` context; ``-1`` means all cores. Results do not depend on it.
    memory_limit : int, str or None, default=None
        Maximum memory of the process during ``fit``, for example ``"2GiB"``. To stay below the limit,
        smaller blocks are read and bit planes are moved to a temporary file. ``None`` means no limit.
    device : {"cpu", "cuda", "auto"}, default="cpu"
        Where columns are counted. ``"cuda"`` needs an NVIDIA GPU and the extra ``gpu``; ``"auto"`` uses
        a GPU if there is one. Results do not depend on it.

    Attributes
    ----------
    indices_ : ndarray of shape (n_features_,)
        Selected columns, in order of selection.
    selection_scores_ : ndarray of shape (n_features_,)
        Value of the criterion for each selected column at the time of its selection: in nats for
        ``"MID"``, a ratio for ``"MIQ"``. For the first column it is the relevance.
    scores_ : ndarray of shape (n_features_in_,)
        Relevance I(f;Y) of every column, in nats.
    pvalues_, qvalues_ : ndarray of shape (n_features_in_,)
        p-value of each column for independence from the class, and the corresponding q-value.
    support_, network_, features_, n_features_, n_features_in_, feature_names_in_
        As in `SLFS`.
    target_type_, target_bins_, classes_
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
        include: Any = None,
        exclude: Any = None,
        condition_on: Any = None,
        target: str = "auto",
        categorical_features: Any = "from_dtype",
        class_weight: Any = None,
        n_jobs: int | None = None,
        memory_limit: int | str | None = None,
        device: str = "cpu",
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.criterion = criterion
        self.include = include
        self.exclude = exclude
        self.condition_on = condition_on
        self.target = target
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.device = device

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
