"""Naive Bayes, tree-augmented naive Bayes (TAN) and Chow-Liu trees over coded columns."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from slfs._core.resources import Resources
from slfs.base import CODING_CONSTRAINTS
from slfs.classifiers.base import SMOOTHING, NetworkClassifier
from slfs.counting.backend import make_backend
from slfs.measures.information import Information
from slfs.network.spanning_tree import spanning_tree
from slfs.network.tree import ROOT
from slfs.screening.advice import warn_about_values
from slfs.screening.judging import drop_one_level
from slfs.screening.pipeline import screen_table
from slfs.selectors._shared.selection import Selection, count_edges, make_network


class _AllColumns(NetworkClassifier):
    """Base class of the classifiers that use every column with more than one level."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha": [SMOOTHING],
        **CODING_CONSTRAINTS,
    }

    _dependence: ClassVar[str] = "augmented"
    """What a column depends on: the class and its parent, or ("tree") only its parent."""

    backoff: float | None = None
    categorical_features: Any
    n_jobs: int | None
    memory_limit: int | str | None

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> _AllColumns:
        """Learn the structure and estimate the probabilities.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weight of each row; see `SLFS.fit`.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        data = self._read_training_data(X, y, sample_weight)
        with Resources(self.n_jobs, self.memory_limit) as resources:
            facts, store = screen_table(
                data.table, data.layout, data.categorical, resources, drop_one_level
            )
            warn_about_values(facts.coding, self._feature_names(), facts.n_seen, None)
            information = Information(make_backend(store.packed(), resources.threads))
            nodes, parents = self._structure(information)
            selection = Selection(nodes, parents)
            names = self._feature_names()
            network = make_network(information, selection, names, data.target.name)
            counts = count_edges(information, selection, facts.coding, parents)
        self._set_network(
            network, counts, data.target.classes, structure=self._dependence, backoff=self.backoff
        )
        return self

    def _structure(self, information: Information) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the columns in order of insertion, and the position of each one's parent."""
        n_columns = len(information.packed)
        return np.arange(n_columns), np.full(n_columns, ROOT)


class NaiveBayes(_AllColumns):
    """Naive Bayes classifier for tables of mixed types.

    Every column depends on the class only. Numbers are discretized by MDLP; categories and missing
    values are levels.

    Parameters
    ----------
    alpha : float, default=1.0
        Additive (Laplace) smoothing of P(class) and P(feature | class).
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
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    network_ : TreeNetwork
        The network, with all columns as children of the class.
    parents_ : ndarray of shape (n_nodes,)
        -1 for every node: no column depends on another one.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Importance of each column: its mean contribution to the true class, as a share of the sum; see
        `explain_prediction`.
    n_features_in_ : int
        Number of columns seen during ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns seen during ``fit``. Defined only when all of them are strings.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from slfs import NaiveBayes
    >>> X, y = load_iris(return_X_y=True)
    >>> NaiveBayes().fit(X, y).predict(X[[0, 60, 120]])
    array([0, 1, 2])
    """

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        categorical_features: Any = "from_dtype",
        class_weight: Any = None,
        n_jobs: int | None = None,
        memory_limit: int | str | None = None,
    ) -> None:
        self.alpha = alpha
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit


class _SpanningTree(_AllColumns):
    """Base class of the classifiers that learn a maximum spanning tree over all columns."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **_AllColumns._parameter_constraints,
        "backoff": [SMOOTHING, None],
    }

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        backoff: float | None = 5.0,
        categorical_features: Any = "from_dtype",
        class_weight: Any = None,
        n_jobs: int | None = None,
        memory_limit: int | str | None = None,
    ) -> None:
        self.alpha = alpha
        self.backoff = backoff
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit


class TAN(_SpanningTree):
    """Tree-augmented naive Bayes classifier (TAN).

    Every column depends on the class and at most one other column. The tree over the columns maximizes
    the sum of I(f;k|Y) over its edges. It is built from the first column with Prim's algorithm; ties:
    the column with the smaller index.

    Parameters
    ----------
    alpha : float, default=1.0
        Additive (Laplace) smoothing of P(class) and P(feature | class).
    backoff : float or None, default=5.0
        Smoothing of P(feature | class, parent) towards P(feature | class): the weight of the latter as a
        number of samples. ``None`` means Laplace smoothing with ``alpha`` instead.
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
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    network_ : TreeNetwork
        The tree over the columns, with the class as its root.
    parents_ : ndarray of shape (n_nodes,)
        Index of the node of ``network_`` on which each node depends in addition to the class; -1 for
        none.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Importance of each column: its mean contribution to the true class, as a share of the sum; see
        `explain_prediction`.
    n_features_in_ : int
        Number of columns seen during ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns seen during ``fit``. Defined only when all of them are strings.

    Notes
    -----
    pgmpy, bnclassify and WEKA with its entropy score build the same tree. pyAgrum smooths the counts
    first and drops edges below half the mean strength, and WEKA uses another score by default, so their
    trees may differ.

    References
    ----------
    N. Friedman, D. Geiger and M. Goldszmidt, "Bayesian network classifiers", Machine Learning 29, 1997.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from slfs import TAN
    >>> X, y = load_iris(return_X_y=True)
    >>> classifier = TAN().fit(X, y)
    >>> print(classifier.network_)
    class
    └── x0
        ├── x2
        │   └── x3
        └── x1
    """

    def _structure(self, information: Information) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return spanning_tree(
            np.full(len(information.packed), -1.0),
            lambda node, rest: information.pairs(node, rest).given_class,
        )


class ChowLiu(_SpanningTree):
    """Chow-Liu tree classifier.

    The tree over the columns and the class maximizes the sum of I(f;k) over its edges, which maximizes
    the likelihood of the data. The class is a variable like any other, unlike in `SLFS` and `TAN`: only
    its neighbours in the tree are used for predictions. The tree is built from the class with Prim's
    algorithm; ties: the class, then the column with the smaller index.

    Parameters
    ----------
    alpha : float, default=1.0
        Additive (Laplace) smoothing of P(class), P(feature | class) and P(feature).
    backoff : float or None, default=5.0
        Smoothing of P(feature | parent) towards P(feature): the weight of the latter as a number of
        samples. ``None`` means Laplace smoothing with ``alpha`` instead.
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
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    network_ : TreeNetwork
        The tree, with the class as its root.
    parents_ : ndarray of shape (n_nodes,)
        Index of the node of ``network_`` on which each node depends; -1 for the class.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Importance of each column: its mean contribution to the true class, as a share of the sum; see
        `explain_prediction`.
    n_features_in_ : int
        Number of columns seen during ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns seen during ``fit``. Defined only when all of them are strings.

    References
    ----------
    C. K. Chow and C. N. Liu, "Approximating discrete probability distributions with dependence trees",
    IEEE Transactions on Information Theory 14, 1968.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from slfs import ChowLiu
    >>> X, y = load_iris(return_X_y=True)
    >>> classifier = ChowLiu().fit(X, y)
    >>> print(classifier.network_)
    class
    ├── x3
    │   └── x1
    └── x2
        └── x0
    """

    _dependence = "tree"

    def _structure(self, information: Information) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return spanning_tree(information.relevance.copy(), information.mutual_information)
