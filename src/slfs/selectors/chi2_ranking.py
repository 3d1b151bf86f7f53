"""Chi2Ranking: rank features by the chi-square statistic with the class."""

from __future__ import annotations

from typing import Any

import numpy as np

from slfs.measures.information import Information, chi2_statistics
from slfs.screening.facts import ColumnFacts
from slfs.selectors._shared.selection import Selection, below_class
from slfs.selectors.base import BaseSelector
from slfs.selectors.registry import register


@register("chi2-ranking")
class Chi2Ranking(BaseSelector):
    """Keep the features whose levels depart most from independence of the class.

    The score is Pearson's chi-square statistic of the table of levels and classes. Unlike scikit-learn's
    ``chi2``, which sums the values of a feature as if they were counts, this is the statistic of the
    contingency table, so any kind of column can be ranked. Redundancy is not looked at.

    Parameters
    ----------
    n_features_to_select : int, float or "auto", default="auto"
        Number of features, share of the columns, or "auto": those whose p-value, by Bonferroni's
        correction for the number of columns, is below 0.05. MDLP has seen the class, so on numbers this
        is a ranking with a cut, not a test.
    categorical_features : "from_dtype", "all" or array-like, default="from_dtype"
        Columns of numbers to take as categories, as in `SLFS`.
    n_jobs : int or None, default=None
        Threads.
    memory_limit : int, str or None, default=None
        Memory that the process may take in ``fit``, such as ``"2GiB"``: blocks become smaller, and
        planes go to a temporary file. See the page on scaling.

    Attributes
    ----------
    indices_ : ndarray of shape (n_features_,)
        Selected columns by falling statistic; ties: the smaller column.
    selection_scores_ : ndarray of shape (n_features_,)
        Their statistics.
    support_, network_, features_, n_features_
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
        kept = order[p_value[order] * n_columns < 0.05] if wanted is None else order[:wanted]
        return Selection(kept, below_class(kept), statistic[kept])
