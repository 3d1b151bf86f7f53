"""MDLPDiscretizer: any table -> levels, as a scikit-learn transformer of its own."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags

from slfs._core.resources import Resources
from slfs._core.threads import Threads
from slfs.base import CODING_CONSTRAINTS, TableEstimator
from slfs.coding.encode import encode_table
from slfs.screening.pipeline import learn_table


class MDLPDiscretizer(OneToOneFeatureMixin, TransformerMixin, TableEstimator):  # type: ignore[misc]
    """Cut numeric columns into intervals that tell the classes apart (Fayyad and Irani).

    A column is split in two where the class entropy is least, and each part again, as long as the split
    pays for its own description (minimum description length principle). Cut points are half-way between
    adjacent values; the interval k holds cut[k-1] < x <= cut[k]. A column with no cut has one level.

    Categorical columns keep their levels; with more than 255, the 254 most frequent ones, the rest
    pooled. A missing value is a level of its own, the last. What ``transform`` has not seen in ``fit``
    is coded as missing, or as the most frequent level where nothing was missing.

    Numbers are compared as 64-bit floats: give whole numbers above 2**53 that must be told apart, such
    as keys, as strings.

    Parameters
    ----------
    categorical_features : "from_dtype", "all" or array-like, default="from_dtype"
        Columns of numbers to take as categories: by type (booleans), all, or a mask, indices or names.
        Strings and categories are always categorical.
    n_jobs : int or None, default=None
        Threads.
    memory_limit : int, str or None, default=None
        Memory that the process may take in ``fit``, such as ``"2GiB"``: blocks become smaller, and
        planes go to a temporary file. See the page on scaling.

    Attributes
    ----------
    cut_points_ : list of ndarray
        Rising cut points of each column; empty for a categorical one.
    n_levels_ : ndarray of shape (n_features_in_,)
        Levels of each column, that of missing values included.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where all are strings.

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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = CODING_CONSTRAINTS

    _fitted: ClassVar[frozenset[str]] = TableEstimator._fitted | {"cut_points_", "n_levels_", "_coding"}

    def __init__(
        self,
        *,
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
        memory_limit: int | str | None = None,
    ) -> None:
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit

    def fit(self, X: Any, y: ArrayLike) -> MDLPDiscretizer:
        """Find the cut points and levels of every column.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels.

        Returns
        -------
        self : object
        """
        data = self._read_training_data(X, y)
        with Resources(self.n_jobs, self.memory_limit) as resources:
            self._coding = learn_table(data.table, data.layout, data.categorical, resources)
        self._warn_about_identifiers(self._coding, data.table.n_samples)
        self.cut_points_ = [
            self._coding.column_thresholds(j) if self._coding.cut[j] else np.empty(0)
            for j in range(len(self._coding))
        ]
        self.n_levels_ = self._coding.n_levels
        return self

    def transform(self, X: Any) -> NDArray[np.uint8]:
        """Replace every value by its level.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)

        Returns
        -------
        codes : ndarray of shape (n_samples, n_features), dtype uint8
            Levels 0, 1, ...; a dataframe where ``set_output`` asks for one.
        """
        table = self._read_new_data(X)
        columns = np.arange(table.n_features)
        with Threads(self.n_jobs) as threads:
            return encode_table(table, self._coding, columns, threads).T

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags
