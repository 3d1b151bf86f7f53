"""ResidualPursuit: feature selection by what the selected columns together still get wrong."""

from __future__ import annotations

from typing import Any

import numpy as np

from slfs._core.resources import Resources
from slfs.base import TrainingData
from slfs.measures.information import Information
from slfs.screening.facts import ColumnFacts
from slfs.screening.reasons import Reason
from slfs.selectors._shared.pursuit import describe_steps
from slfs.selectors._shared.selection import Selection, below_class
from slfs.selectors._shared.size_path import AutomaticSizeMixin
from slfs.selectors.registry import register


@register("residual")
class ResidualPursuit(AutomaticSizeMixin):
    """Select the features that best explain what the features before them get wrong.

    A log-linear model with one table per selected feature is fitted to the class. The next feature is
    the one whose levels best explain the residuals of this model. Unlike methods that look at pairs of
    features, this considers all selected features together.

    Parameters
    ----------
    n_features_to_select : int, float or "auto", default="auto"
        Number of features to select, or fraction of the columns. ``"auto"`` finds the
        number by the cross-validated log loss of the model; see ``size_path_``.
    cv : int, splitter or list of (train, test), default=5
        Folds for ``n_features_to_select="auto"``: their number, a splitter of scikit-learn, or the rows
        of each split.
    max_features : int, default=100
        Largest number of features that ``n_features_to_select="auto"`` tries.
    one_standard_error : bool, default=False
        With ``n_features_to_select="auto"``, take the smallest number of features whose log loss is at
        most one standard error (or 0.001 nats) above the smallest.
    trends : bool, default=True
        Whether the gain of a column of numbers is the mean of that of its levels and, with twice the
        weight, that of a trend over its quartiles, which the additive classifier then uses, too.
        ``False`` is the criterion of gamma-OMP on the levels alone. A continuous target is explained by
        levels only.
    include : array-like, str or None, default=None
        Columns that are selected in any case, given by name, by index or as a mask. They are the first
        ones, and count towards ``n_features_to_select``.
    exclude : array-like, str or None, default=None
        Columns that are never selected.
    condition_on : array-like, str or None, default=None
        Columns such as age, sex or batch whose influence is taken into account, but which are not
        selected: the others are judged by what they tell about the class beyond these. Their p-values
        are given these columns, and a column without significant information given these is dropped.
    feature_groups : dict, array-like or None, default=None
        Groups of columns that are selected together or not at all, such as the columns of a one-hot
        encoding or the genes of a pathway: a mapping of names to columns, given by name, by index or as
        a mask, or one label per column (``None`` or -1 for a column of its own). A group is judged by
        what the tables of all its columns together explain.
    target : {"auto", "classification", "regression"}, default="auto"
        Type of the target. With ``"auto"``, floats with fractional parts are a continuous target, and
        integers, strings and booleans are class labels. A continuous target is cut into bins at its
        quantiles, which are used like classes, and its numbers are explained beside the bins; p-values
        compare columns with the numbers themselves.
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
        Smallest gain of each selected column over all steps until it was selected: how well its levels
        explain the residuals of the model.
    size_path_ : SizePath or None
        Cross-validated log loss by number of features; None unless ``n_features_to_select="auto"``. If
        its ``best`` is 0, a feature is selected nevertheless if it is significant.
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
    I. Tsamardinos et al., "The gamma-OMP algorithm for feature selection with application to gene
    expression data", IEEE/ACM TCBB 19, 2022. S. Perkins, K. Lacker and J. Theiler, "Grafting: fast,
    incremental feature selection by gradient descent in function space", JMLR 3, 2003.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from slfs import ResidualPursuit
    >>> ResidualPursuit(n_features_to_select=4).fit(*load_breast_cancer(return_X_y=True)).indices_
    array([22, 27, 21, 13])
    """

    def __init__(
        self,
        n_features_to_select: float | str = "auto",
        *,
        cv: int = 5,
        max_features: int = 100,
        one_standard_error: bool = False,
        trends: bool = True,
        include: Any = None,
        exclude: Any = None,
        condition_on: Any = None,
        feature_groups: Any = None,
        target: str = "auto",
        categorical_features: Any = "from_dtype",
        class_weight: Any = None,
        n_jobs: int | None = None,
        memory_limit: int | str | None = None,
        device: str = "cpu",
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.cv = cv
        self.max_features = max_features
        self.one_standard_error = one_standard_error
        self.trends = trends
        self.include = include
        self.exclude = exclude
        self.condition_on = condition_on
        self.feature_groups = feature_groups
        self.target = target
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.device = device

    def _fits_additive_tables(self) -> bool:
        return True

    def _fit_table(self, data: TrainingData, resources: Resources) -> None:
        self._fit_by_pursuit(data, resources)

    def _select(self, information: Information, facts: ColumnFacts) -> Selection:
        pursuit = self._pursuit(information, facts)
        size = self._size(pursuit, information, facts)
        steps = list(pursuit.take(size))
        nodes = np.array([step.column for step in steps], np.int64)
        otherwise = Reason.OUTRANKED if size else Reason.NO_GAIN
        return Selection(nodes, below_class(nodes), otherwise=otherwise, **describe_steps(steps))
