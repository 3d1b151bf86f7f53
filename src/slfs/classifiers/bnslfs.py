"""BNSLFS: the Bayesian network classifier that a selection leaves behind."""

from __future__ import annotations

from typing import Any, ClassVar

from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from slfs._compat import HasMethods, StrOptions
from slfs.classifiers.base import SMOOTHING, NetworkClassifier
from slfs.selectors.base import BaseSelector
from slfs.selectors.slfs import SLFS


class BNSLFS(NetworkClassifier):
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
    backoff : float or None, default=5.0
        Weight, in samples, with which P(feature | class, parent) is drawn to P(feature | class). None:
        Laplace smoothing there as well.

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
        backoff: float | None = 5.0,
    ) -> BNSLFS:
        """Make a fitted classifier of a fitted selector, without the data.

        Parameters
        ----------
        selector : object
            A fitted selector of this library.
        structure : {"linked", "augmented", "tree"}, default="linked"
            As in the class, like the others.
        alpha : float, default=1.0
            Smoothing.
        backoff : float or None, default=5.0
            Smoothing of the tables with a parent.

        Returns
        -------
        classifier : BNSLFS
        """
        classifier = cls(clone(selector), structure=structure, alpha=alpha, backoff=backoff)
        classifier._validate_params()
        return classifier._take_over(selector)

    def explain(self, column: str | int) -> str:
        """Say why a column is in the network or not, and how far one that is can be believed.

        Parameters
        ----------
        column : str or int
            Its name, or its place in the table.

        Returns
        -------
        sentence : str
        """
        check_is_fitted(self)
        return self.selector_.explain(column)

    def _n_jobs(self) -> int | None:
        n_jobs: int | None = self.selector_.n_jobs
        return n_jobs

    def _take_over(self, selector: BaseSelector) -> BNSLFS:
        self.selector_ = selector
        self.n_features_in_ = selector.n_features_in_
        self.__dict__.pop("feature_names_in_", None)  # of an earlier fit
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
