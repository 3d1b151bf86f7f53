"""TAN: tree-augmented naive Bayes; Chow-Liu trees; and naive Bayes, all over the same codes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from slfs._core.resources import Resources
from slfs.base import CODING_CONSTRAINTS
from slfs.classifiers.base import SMOOTHING, NetworkClassifier
from slfs.counting.backend import make_backend
from slfs.measures.information import Information
from slfs.network.tree import ROOT
from slfs.screening.judging import drop_one_level
from slfs.screening.pipeline import screen_table
from slfs.selectors._shared.selection import Selection, count_edges, make_network


class _AllColumns(NetworkClassifier):
    """Base of the classifiers that use every column with more than one level."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha": [SMOOTHING],
        **CODING_CONSTRAINTS,
    }

    _dependence: ClassVar[str] = "augmented"
    """What a column depends on: the class and its parent, or ("tree") its parent alone."""

    backoff: float | None = None
    categorical_features: Any
    n_jobs: int | None
    memory_limit: int | str | None

    def fit(self, X: Any, y: ArrayLike) -> _AllColumns:
        """Learn the structure and the tables.

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
            facts, store = screen_table(
                data.table, data.layout, data.categorical, resources, drop_one_level
            )
            self._warn_about_identifiers(facts.coding, facts.n_samples)
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
        """The columns in the order in which they join, and the place of each one's parent."""
        n_columns = len(information.packed)
        return np.arange(n_columns), np.full(n_columns, ROOT)


class NaiveBayes(_AllColumns):
    """Naive Bayes over the same codes as all else here: every column depends on the class alone.

    Numbers are cut by MDLP, categories and missing values are levels.

    Parameters
    ----------
    alpha : float, default=1.0
        Laplace smoothing.
    categorical_features : "from_dtype", "all" or array-like, default="from_dtype"
        Columns of numbers to take as categories, as in `SLFS`.
    n_jobs : int or None, default=None
        Threads.
    memory_limit : int, str or None, default=None
        Memory that the process may take in ``fit``, such as ``"2GiB"``: blocks become smaller, and
        planes go to a temporary file. See the page on scaling.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    network_ : TreeNetwork
        The columns below the class.

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
        n_jobs: int | None = None,
        memory_limit: int | str | None = None,
    ) -> None:
        self.alpha = alpha
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit


class _SpanningTree(_AllColumns):
    """Base of the classifiers that grow a tree over all columns."""

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
        n_jobs: int | None = None,
        memory_limit: int | str | None = None,
    ) -> None:
        self.alpha = alpha
        self.backoff = backoff
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit


class TAN(_SpanningTree):
    """Tree-augmented naive Bayes: every column depends on the class and at most one other column.

    The tree over the columns is the one with the largest sum of I(f;k|Y) (Chow and Liu, given the
    class); it is grown from the first column by Prim's algorithm, ties: the smaller column.

    Parameters
    ----------
    alpha : float, default=1.0
        Laplace smoothing of P(class) and P(feature | class).
    backoff : float or None, default=5.0
        Weight, in samples, with which P(feature | class, parent) is drawn to P(feature | class). None:
        Laplace smoothing there as well.
    categorical_features : "from_dtype", "all" or array-like, default="from_dtype"
        Columns of numbers to take as categories, as in `SLFS`.
    n_jobs : int or None, default=None
        Threads. The result is the same to the bit for any number.
    memory_limit : int, str or None, default=None
        Memory that the process may take in ``fit``, such as ``"2GiB"``: blocks become smaller, and
        planes go to a temporary file. See the page on scaling.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    network_ : TreeNetwork
        The tree over the columns, drawn below the class.
    parents_ : ndarray
        Beside the class: the place among the nodes of ``network_`` of each one's parent; -1 for none.

    Notes
    -----
    pgmpy, bnclassify and WEKA with its entropy score build this same tree. pyAgrum drops edges below
    half the mean strength and smooths the counts first, and WEKA's default score is another: they may
    differ.

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
        return _spanning_tree(
            np.full(len(information.packed), -1.0),
            lambda node, rest: information.pairs(node, rest).given_class,
        )


class ChowLiu(_SpanningTree):
    """The tree over columns and class that explains the data best: each depends on one other alone.

    The tree is the one with the largest sum of I(f;k) over its edges, the class being one of the
    variables (Chow and Liu). It does not favour the class, as `SLFS` and `TAN` do: only the neighbours
    of the class in the tree speak to it. It is grown from the class by Prim's algorithm, ties: the
    class, then the smaller column.

    Parameters
    ----------
    alpha : float, default=1.0
        Laplace smoothing of P(class), P(feature | class) and P(feature).
    backoff : float or None, default=5.0
        Weight, in samples, with which P(feature | parent) is drawn to P(feature). None: Laplace
        smoothing there as well.
    categorical_features : "from_dtype", "all" or array-like, default="from_dtype"
        Columns of numbers to take as categories, as in `SLFS`.
    n_jobs : int or None, default=None
        Threads. The result is the same to the bit for any number.
    memory_limit : int, str or None, default=None
        Memory that the process may take in ``fit``, such as ``"2GiB"``: blocks become smaller, and
        planes go to a temporary file. See the page on scaling.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    network_ : TreeNetwork
        The tree, its root the class.
    parents_ : ndarray
        The place among the nodes of ``network_`` of each one's parent; -1 for the class.

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
        return _spanning_tree(information.relevance.copy(), information.mutual_information)


def _spanning_tree(
    weight: NDArray[np.float64],
    strength: Callable[[int, NDArray[np.int64]], NDArray[np.float64]],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The columns of the heaviest tree in the order in which they join, and each one's parent.

    ``weight`` is that of the edge from the class to each column, and is used up; ``strength`` is that of
    the edges between one column and others. Ties: the class, then the smaller column.
    """
    rest = np.arange(len(weight))
    parent = np.full(len(weight), ROOT)
    nodes: list[int] = []
    parents: list[int] = []
    while len(rest):
        best = int(weight[rest].argmax())
        node = int(rest[best])
        nodes.append(node)
        parents.append(int(parent[node]))
        rest = np.delete(rest, best)
        found = strength(node, rest)
        nearer = found > weight[rest]
        weight[rest[nearer]] = found[nearer]
        parent[rest[nearer]] = len(nodes) - 1
    return np.array(nodes, np.int64), np.array(parents, np.int64)
