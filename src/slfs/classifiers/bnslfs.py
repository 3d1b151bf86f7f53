"""BNSLFS: the Bayesian network classifier that a selection leaves behind."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp
from sklearn.base import ClassifierMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from slfs._threads import Threads
from slfs.classifiers.tables import LogTable, decode_levels, make_tables
from slfs.coding.pipeline import encode_table
from slfs.estimator import TableEstimator
from slfs.network import ROOT, TreeNetwork
from slfs.selectors.base import BaseSelector
from slfs.selectors.slfs import SLFS


class BNSLFS(ClassifierMixin, TableEstimator):  # type: ignore[misc]
    """Classify with the tree Bayesian network over the selected features.

    The counts that built the tree are the parameters of the classifier:
    ``SLFS().fit(X, y).to_classifier()`` touches the data no more, ``BNSLFS().fit(X, y)`` does both.

    Parameters
    ----------
    selector : selector or None, default=None
        Selects the features; None: ``SLFS()``.
    structure : {"linked", "augmented", "tree"}, default="linked"
        What each selected feature depends on. "tree": its parent in the tree, so that only the children
        of the class speak to the class. "augmented": the class and its parent. "linked": the same, and a
        child of the class takes, beside it, the more relevant sibling with the largest I(f;k|Y).
    alpha : float, default=1.0
        Laplace smoothing of P(class) and P(feature | class).
    backoff : float, default=5.0
        Weight, in samples, with which P(feature | class, parent) is drawn to P(feature | class).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    selector_ : selector
        The fitted selector.
    network_ : TreeNetwork
        The tree over the selected features.
    parents_ : ndarray of shape (n_selected,)
        Beside the class: the place among the nodes of ``network_`` of the feature on which each one
        depends; -1 for none.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where all are strings.

    References
    ----------
    H. Zare and M. Niazi, "Relevant based structure learning for feature selection", Engineering
    Applications of Artificial Intelligence 55, 2016.
    N. Friedman, D. Geiger and M. Goldszmidt, "Bayesian network classifiers", Machine Learning 29, 1997.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from slfs import BNSLFS
    >>> X, y = load_iris(return_X_y=True)
    >>> classifier = BNSLFS().fit(X, y)
    >>> classifier.predict(X[[0, 60, 120]])
    array([0, 1, 2])
    >>> classifier.predict_proba(X[[60]]).round(3)
    array([[0.   , 0.989, 0.011]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "selector": [HasMethods(["fit", "to_classifier"]), None],
        "structure": [StrOptions({"linked", "augmented", "tree"})],
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "backoff": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        selector: BaseSelector | None = None,
        *,
        structure: str = "linked",
        alpha: float = 1.0,
        backoff: float = 5.0,
    ) -> None:
        self.selector = selector
        self.structure = structure
        self.alpha = alpha
        self.backoff = backoff

    def fit(self, X: Any, y: ArrayLike) -> BNSLFS:
        """Select features and estimate the tables of the network over them.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels.

        Returns
        -------
        self : object
        """
        self._validate_params()
        selector = SLFS() if self.selector is None else clone(self.selector)
        return self._take_over(selector.fit(X, y))

    @classmethod
    def from_selector(
        cls,
        selector: BaseSelector,
        *,
        structure: str = "linked",
        alpha: float = 1.0,
        backoff: float = 5.0,
    ) -> BNSLFS:
        """Make a fitted classifier of a fitted selector, without the data."""
        classifier = cls(clone(selector), structure=structure, alpha=alpha, backoff=backoff)
        classifier._validate_params()
        return classifier._take_over(selector)

    def _take_over(self, selector: BaseSelector) -> BNSLFS:
        counts = selector.network_counts_
        self.selector_ = selector
        self.classes_ = selector.classes_
        self.network_: TreeNetwork = selector.network_
        self.n_features_in_ = selector.n_features_in_
        if hasattr(selector, "feature_names_in_"):
            self.feature_names_in_ = selector.feature_names_in_
        totals = counts.class_totals + self.alpha
        self._log_prior = np.log(totals / totals.sum())
        self._tables: list[LogTable] = make_tables(
            counts, self.network_.parents, self.structure, self.alpha, self.backoff
        )
        self.parents_ = np.array([table.parent for table in self._tables], np.int64)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each sample.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)

        Returns
        -------
        y : ndarray of shape (n_samples,)
        """
        joint = self.predict_joint_log_proba(X)
        best: NDArray[Any] = self.classes_[joint.argmax(axis=1)]
        return best

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """P(class | features): an array of shape (n_samples, n_classes)."""
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """log P(class | features): an array of shape (n_samples, n_classes)."""
        joint = self.predict_joint_log_proba(X)
        posterior: NDArray[np.float64] = joint - logsumexp(joint, axis=1, keepdims=True)
        return posterior

    def predict_joint_log_proba(self, X: Any) -> NDArray[np.float64]:
        """log P(class, selected features): an array of shape (n_samples, n_classes)."""
        table = self._read_new_data(X)
        coding = self.selector_.network_counts_.coding
        with Threads(None) as threads:
            codes = encode_table(table, coding, self.network_.columns, threads)
        joint = np.tile(self._log_prior, (table.n_samples, 1))
        for node, own in enumerate(self._tables):
            parent = 0 if own.parent == ROOT else codes[own.parent]
            joint += own.values[codes[node], parent]
        return joint

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Log density of each sample under the network: log P(selected features), class summed out.

        Features count by their levels: the density is that of the discretised sample.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)

        Returns
        -------
        log_density : ndarray of shape (n_samples,)
        """
        density: NDArray[np.float64] = logsumexp(self.predict_joint_log_proba(X), axis=1)
        return density

    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[NDArray[Any], NDArray[Any]]:
        """Draw samples from the network.

        Parameters
        ----------
        n_samples : int, default=1
        random_state : int, RandomState or None, default=None

        Returns
        -------
        X : ndarray of shape (n_samples, n_selected)
            The selected features, in the order of the table. Numbers are uniform within the drawn
            interval, the outer ones reaching to the least and largest value seen. An array of objects if
            some column does not hold numbers.
        y : ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        random = check_random_state(random_state)
        classes = random.choice(len(self.classes_), n_samples, p=np.exp(self._log_prior))
        codes = np.zeros((len(self._tables), n_samples), np.int64)
        for node in self._parents_first():
            own = self._tables[node]
            parent = 0 if own.parent == ROOT else codes[own.parent]
            cumulative = np.exp(own.values[:, parent, classes]).cumsum(axis=0)
            codes[node] = (random.random_sample(n_samples) * cumulative[-1] >= cumulative).sum(axis=0)
        coding = self.selector_.network_counts_.coding
        columns = [
            decode_levels(coding, node, codes[node], random)
            for node in np.argsort(self.network_.columns)
        ]
        if any(column.dtype == object for column in columns):
            columns = [column.astype(object) for column in columns]
        X = np.stack(columns, axis=1) if columns else np.empty((n_samples, 0))
        return X, self.classes_[classes]

    def _parents_first(self) -> list[int]:
        order: list[int] = []
        waiting = list(range(len(self._tables)))
        while waiting:
            ready = [n for n in waiting if self.parents_[n] == ROOT or self.parents_[n] in order]
            order += ready
            waiting = [n for n in waiting if n not in ready]
        return order
