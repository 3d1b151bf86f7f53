"""BNSLFS: Bayesian network classifier over the features of a selector."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from slfs._compat import HasMethods, StrOptions
from slfs.classifiers.base import SMOOTHING, NetworkClassifier
from slfs.selectors._shared.nested import DefaultSelectorMixin
from slfs.selectors.base import BaseSelector
from slfs.selectors.slfs import SLFS


class BNSLFS(DefaultSelectorMixin, NetworkClassifier):
    """Bayesian network classifier on the features selected by a selector.

    The probabilities are estimated from the counts of the selection, so
    ``SLFS().fit(X, y).to_classifier()`` does not read the data again. ``BNSLFS().fit(X, y)`` selects
    features and estimates the probabilities in one step.

    Parameters
    ----------
    selector : selector or None, default=None
        Selector to use. ``None`` means ``SLFS()``; its parameters can be set by names such as
        ``selector__max_depth``, also in a grid search. Its ``n_jobs`` is also used for predictions.
    structure : {"linked", "augmented", "tree"}, default="linked"
        Dependencies of each selected feature.

        - ``"tree"``: on its parent in the tree. Only children of the class depend directly on the class.
        - ``"augmented"``: on the class and on its parent in the tree.
        - ``"linked"``: as ``"augmented"``. In addition, each child f of the class depends on the more
          relevant sibling k with the largest I(f;k|Y).
    alpha : float, default=1.0
        Additive (Laplace) smoothing of P(class) and P(feature | class).
    backoff : float or None, default=5.0
        Smoothing of P(feature | class, parent) towards P(feature | class), which has the weight of
        ``backoff`` samples. With ``None``, Laplace smoothing with ``alpha`` is used instead.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    selector_ : selector
        The fitted selector.
    network_ : TreeNetwork
        The network of the selected features.
    parents_ : ndarray of shape (n_selected,)
        Index of the node of ``network_`` on which each node depends in addition to the class; -1 if
        there is none.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Importance of each column: its mean contribution to the true class, as a share of the sum; see
        `explain_prediction`.
    n_features_in_ : int
        Number of columns seen during ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns seen during ``fit``. Defined only when all of them are strings.

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
    array([[0.   , 0.984, 0.016]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "selector": [HasMethods(["fit", "to_classifier"]), None],
        "structure": [StrOptions({"linked", "augmented", "tree"})],
        "alpha": [SMOOTHING],
        "backoff": [SMOOTHING, None],
    }

    _fitted: ClassVar[frozenset[str]] = NetworkClassifier._fitted | {"selector_"}

    def __init__(
        self,
        selector: BaseSelector | None = None,
        *,
        structure: str = "linked",
        alpha: float = 1.0,
        backoff: float | None = 5.0,
    ) -> None:
        self.selector = selector
        self.structure = structure
        self.alpha = alpha
        self.backoff = backoff

    def fit(self, X: Any, y: ArrayLike) -> BNSLFS:
        """Select features and estimate the probabilities of their network.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,)
            Class labels.

        Returns
        -------
        self : object
            The fitted classifier.
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
        backoff: float | None = 5.0,
    ) -> BNSLFS:
        """Create a fitted classifier from a fitted selector, without the data.

        Parameters
        ----------
        selector : object
            A fitted selector of this library.
        structure : {"linked", "augmented", "tree"}, default="linked"
            Dependencies between the selected features; see `BNSLFS`.
        alpha : float, default=1.0
            Laplace smoothing; see `BNSLFS`.
        backoff : float or None, default=5.0
            Smoothing of tables with a parent feature; see `BNSLFS`.

        Returns
        -------
        classifier : BNSLFS
            The fitted classifier.
        """
        classifier = cls(clone(selector), structure=structure, alpha=alpha, backoff=backoff)
        classifier._validate_params()
        return classifier._take_over(selector)

    def explain(self, column: str | int) -> str:
        """Explain why a column was selected or dropped.

        Parameters
        ----------
        column : str or int
            Name of the column, or its index in the table.

        Returns
        -------
        text : str
            One sentence; for a selected column a second one about the evidence that it depends on the
            class.
        """
        check_is_fitted(self)
        return self.selector_.explain(column)

    def _n_jobs(self) -> int | None:
        n_jobs: int | None = self.selector_.n_jobs
        return n_jobs

    def _take_columns(self, columns: NDArray[np.int64]) -> Self:
        copy = super()._take_columns(columns)
        copy.selector_ = self.selector_._take_columns(columns)
        copy.network_ = copy.selector_.network_
        return copy

    def _take_over(self, selector: BaseSelector) -> BNSLFS:
        self.selector_ = selector
        self.n_features_in_ = selector.n_features_in_
        self.__dict__.pop("feature_names_in_", None)  # from an earlier fit
        if hasattr(selector, "feature_names_in_"):
            self.feature_names_in_ = selector.feature_names_in_
        self._set_network(
            selector.network_,
            selector.network_counts_,
            selector.classes_,
            structure=self.structure,
            backoff=self.backoff,
        )
        return self
