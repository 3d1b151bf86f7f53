"""Chi2Ranking: feature selection by the chi-squared statistic with the class."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from slfs.measures.information import Information, chi2_statistics
from slfs.screening.facts import ColumnFacts
from slfs.screening.reasons import Decision, Reason
from slfs.selectors._shared.selection import Selection, below_class, packed_as
from slfs.selectors.base import FORCED_CONSTRAINTS, BaseSelector
from slfs.selectors.registry import register


@register("chi2-ranking")
class Chi2Ranking(BaseSelector):
    """Select the features with the largest chi-squared statistic.

    The score is Pearson's chi-squared statistic of the contingency table of levels and classes. Unlike
    scikit-learn's ``chi2``, which sums the values of a feature as if they were counts, it can be
    computed for any kind of column. Redundancy between features is not considered.

    Parameters
    ----------
    n_features_to_select : int, float or "auto", default="auto"
        Number of features to select, or fraction of the columns. ``"auto"`` selects the features
        whose p-value, with Bonferroni's correction for the number of columns, is below 0.05. MDLP
        uses the class to cut columns of numbers, so for these the p-value is a threshold for the
        ranking rather than a valid test.
    include : array-like, str or None, default=None
        Columns that are selected in any case, given by name, by index or as a mask. They are the first
        ones, and count towards ``n_features_to_select``.
    exclude : array-like, str or None, default=None
        Columns that are never selected.
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
        Selected columns, by decreasing statistic; ties: the column with the smaller index.
    selection_scores_ : ndarray of shape (n_features_,)
        Chi-squared statistic of each selected column.
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
    H. Liu and R. Setiono, "Chi2: feature selection and discretization of numeric attributes",
    ICTAI 1995 (the statistic; `Chi2Ranking` does not merge intervals).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from slfs import Chi2Ranking
    >>> Chi2Ranking(n_features_to_select=2).fit(*load_iris(return_X_y=True)).indices_
    array([3, 2])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseSelector._parameter_constraints,
        **{name: FORCED_CONSTRAINTS[name] for name in ("include", "exclude")},
    }

    def __init__(
        self,
        n_features_to_select: float | str = "auto",
        *,
        include: Any = None,
        exclude: Any = None,
        target: str = "auto",
        categorical_features: Any = "from_dtype",
        class_weight: Any = None,
        n_jobs: int | None = None,
        memory_limit: int | str | None = None,
        device: str = "cpu",
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.include = include
        self.exclude = exclude
        self.target = target
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.device = device

    def _select(self, information: Information, facts: ColumnFacts) -> Selection:
        statistic, p_value = chi2_statistics(information.packed)
        included = packed_as(information, facts, Reason.INCLUDED)
        order = packed_as(information, facts, Reason.CANDIDATE)
        order = order[np.argsort(-statistic[order], kind="stable")]
        n_columns = len(facts.coding)
        wanted = self._n_wanted(n_columns)
        dropped: dict[int, Decision] = {}
        if wanted is None:
            significant = p_value[order] * n_columns < 0.05
            dropped = dict.fromkeys(order[~significant].tolist(), Decision(Reason.NOT_SIGNIFICANT))
            order = order[significant]
        kept = np.append(included, order if wanted is None else order[: wanted - len(included)])
        n_included = len(included)
        return Selection(kept, below_class(kept), statistic[kept], dropped, n_included=n_included)
