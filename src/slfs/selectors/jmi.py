"""JMI: feature selection by joint mutual information (Yang & Moody)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slfs.measures.information import Information
from slfs.selectors._shared.greedy import GreedySelector
from slfs.selectors.registry import register

Floats = NDArray[np.float64]


@register("jmi")
class JMI(GreedySelector):
    """Select features with maximal joint mutual information (JMI).

    Features are selected one after another. The next feature maximizes the sum of I(f,s;Y), the
    information of the pair (f, s) about the class, over the features s already selected.

    Parameters
    ----------
    n_features_to_select : int, float or "auto", default="auto"
        Number of features to select, or fraction of the columns. ``"auto"`` stops at the first
        feature whose information does not exceed the cost of its parameters (MDL), on its own or
        given any selected feature: 2 N I <= (d-1)(c-1) log N, where I is I(f;Y) or I(f;Y|s), d the
        number of levels, c the number of classes and N the number of samples.
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
        Sum of I(f,s;Y) of each selected column when it was selected, in nats; the relevance for the
        first one.
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
        return False  # a sum over the selected columns may exceed the relevance

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
