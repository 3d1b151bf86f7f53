"""Chi2Ranking: feature selection by the chi-squared statistic with the class."""

from __future__ import annotations

from typing import Any

import numpy as np

from slfs.measures.information import Information, chi2_statistics
from slfs.screening.facts import ColumnFacts
from slfs.screening.reasons import Decision, Reason
from slfs.selectors._shared.selection import Selection, below_class
from slfs.selectors.base import BaseSelector
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
    categorical_features : "from_dtype", "all" or array-like, default="from_dtype"
        Numeric columns to treat as categorical: a mask, indices or column names, or ``"all"`` for all
        columns. With ``"from_dtype"``, all numeric columns are discretized. Booleans, strings and
        columns of a categorical dtype are always categorical.
    n_jobs : int or None, default=None
        Number of threads used for coding and counting. ``None`` means 1 unless in a
        ``joblib.parallel_backend`` context; ``-1`` means all cores. Results do not depend on it.
    memory_limit : int, str or None, default=None
        Maximum memory of the process during ``fit``, for example ``"2GiB"``. To stay below the limit,
        smaller blocks are read and bit planes are moved to a temporary file. ``None`` means no limit.

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
    support_, network_, features_, n_features_, classes_, n_features_in_, feature_names_in_
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

    def __init__(
        self,
        n_features_to_select: float | str = "auto",
        *,
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
        memory_limit: int | str | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit

    def _select(self, information: Information, facts: ColumnFacts) -> Selection:
        statistic, p_value = chi2_statistics(information.packed)
        order = np.argsort(-statistic, kind="stable")
        n_columns = len(facts.coding)
        wanted = self._n_wanted(n_columns)
        if wanted is not None:
            kept = order[:wanted]
            return Selection(kept, below_class(kept), statistic[kept])
        significant = p_value * n_columns < 0.05
        kept, others = order[significant[order]], np.flatnonzero(~significant)
        dropped = dict.fromkeys(others.tolist(), Decision(Reason.NOT_SIGNIFICANT))
        return Selection(kept, below_class(kept), statistic[kept], dropped)
