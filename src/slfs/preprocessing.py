"""MDLPDiscretizer: any table -> levels, as a scikit-learn transformer."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags

from slfs._core.resources import Resources
from slfs._core.threads import Threads
from slfs.base import CODING_CONSTRAINTS, TARGET_CONSTRAINTS, TableEstimator
from slfs.coding.encode import encode_table, warn_about_unknown
from slfs.screening.advice import warn_about_values
from slfs.screening.pipeline import learn_table


class MDLPDiscretizer(OneToOneFeatureMixin, TransformerMixin, TableEstimator):  # type: ignore[misc]
    """Supervised discretization of numeric columns with MDLP (Fayyad and Irani).

    Each column is split recursively at the cut point with the smallest class entropy, as long as the
    information gain exceeds the description length of the split (minimum description length principle).
    Cut points are midpoints between adjacent values; interval k contains
    cut[k-1] < x <= cut[k]. A column without a cut point has one level.

    Categorical columns with up to 16 levels keep them. In a column with more levels, those with a
    similar distribution of the classes are grouped; a column of noise becomes a single group. A column
    with more than 255 levels keeps the 254 most frequent ones, and the others are pooled before they are
    grouped. Missing values form a separate level, the last one.

    In ``transform``, a value that was not seen during ``fit`` (a new category, a missing value in a
    column that had none, text or a date in a column of numbers) is coded as missing or, if there were no
    missing values, as the most frequent level, and a warning counts these values. So the codes are
    always among those that the next step of a pipeline was trained on. The classifiers of this library
    leave such values out of the prediction instead. If most categories of a column occurred once in
    ``fit``, or all have the same level, new categories are expected: they have the level of these,
    without a warning.

    Numbers are compared as 64-bit floats. A warning names columns with integers above 2**53 that become
    equal. Categories are compared exactly, also if they are integers.

    Parameters
    ----------
    target : {"auto", "classification", "regression"}, default="auto"
        Type of the target. With ``"auto"``, floats with fractional parts are a continuous target, and
        integers, strings and booleans are class labels. A continuous target is cut into bins at its
        quantiles, which are used like classes.
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

    Attributes
    ----------
    cut_points_ : list of ndarray
        Cut points of each column in increasing order; empty for categorical columns. Those of dates are
        days since 1970-01-01.
    n_levels_ : ndarray of shape (n_features_in_,)
        Number of levels of each column, including the level of missing values.
    target_bins_ : recarray of shape (n_bins,) or None
        The bins of a continuous target, as in `SLFS`; None for classes.
    n_features_in_ : int
        Number of columns seen during ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns seen during ``fit``. Defined only when all of them are strings.

    References
    ----------
    U. M. Fayyad and K. B. Irani, "Multi-interval discretization of continuous-valued attributes for
    classification learning", IJCAI 1993.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from slfs import MDLPDiscretizer
    >>> X, y = load_iris(return_X_y=True)
    >>> discretizer = MDLPDiscretizer().fit(X, y)
    >>> discretizer.cut_points_[3]
    array([0.8 , 1.75])
    >>> discretizer.transform(X[[0, 60, 120]])
    array([[0, 2, 0, 0],
           [0, 0, 1, 1],
           [2, 1, 2, 2]], dtype=uint8)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **TARGET_CONSTRAINTS,
        **CODING_CONSTRAINTS,
    }

    _fitted: ClassVar[frozenset[str]] = TableEstimator._fitted | {
        "cut_points_",
        "n_levels_",
        "target_bins_",
        "_coding",
    }

    def __init__(
        self,
        *,
        target: str = "auto",
        categorical_features: Any = "from_dtype",
        class_weight: Any = None,
        n_jobs: int | None = None,
        memory_limit: int | str | None = None,
    ) -> None:
        self.target = target
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> MDLPDiscretizer:
        """Find the cut points and levels of every column.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,)
            Class labels, or numbers; see ``target``.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weight of each row; see `SLFS.fit`.

        Returns
        -------
        self : object
            The fitted discretizer.
        """
        data = self._read_training_data(X, y, sample_weight)
        with Resources(self.n_jobs, self.memory_limit) as resources:
            self._coding = learn_table(data.table, data.layout, data.categorical, resources)
        warn_about_values(self._coding, self._feature_names(), data.layout.n_seen, None)
        self.cut_points_ = [
            self._coding.column_thresholds(j) if self._coding.cut[j] else np.empty(0)
            for j in range(len(self._coding))
        ]
        self.n_levels_ = self._coding.n_levels
        self.target_bins_ = data.target.bins
        return self

    def transform(self, X: Any) -> NDArray[np.uint8]:
        """Encode each value as its level.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            Input data.

        Returns
        -------
        codes : ndarray of shape (n_samples, n_features), dtype uint8
            Levels 0, 1, and so on. A dataframe if ``set_output`` was used to request one.
        """
        table = self._read_new_data(X)
        columns = np.arange(table.n_features)
        with Threads(self.n_jobs) as threads:
            encoded = encode_table(table, self._coding, columns, threads)
        warn_about_unknown(
            encoded, self._feature_names().tolist(), "are coded as missing or as the most frequent level"
        )
        return encoded.codes.T

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags
