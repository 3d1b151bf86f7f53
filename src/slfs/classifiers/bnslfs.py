"""BNSLFS: classifier over the features of a selector, additive or a Bayesian network."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from slfs._compat import HasMethods, StrOptions
from slfs.classifiers.base import SMOOTHING, NetworkClassifier
from slfs.classifiers.selector_model import SelectorModel
from slfs.coding.encode import Encoded
from slfs.selectors._shared.additive import AdditiveTables
from slfs.selectors._shared.row_groups import row_arguments
from slfs.selectors.base import BaseSelector
from slfs.selectors.slfs import SLFS


class BNSLFS(SelectorModel, NetworkClassifier):
    """Classifier on the features selected by a selector: a log-linear model or a Bayesian network.

    ``BNSLFS().fit(X, y)`` selects features and fits the classifier to them. The classifier is made from
    what the selector has learned, so ``SLFS().fit(X, y).to_classifier()`` is the same classifier, and
    does not read the data again.

    Parameters
    ----------
    selector : selector or None, default=None
        Selector to use. ``None`` means ``SLFS()``, which finds the number of features by
        cross-validation; its parameters can be set by names such as
        ``selector__max_depth``, also in a grid search. Its ``n_jobs`` is also used for predictions.
    structure : {"additive", "linked", "augmented", "tree"}, default="additive"
        Model of the class and the selected features.

        - ``"additive"``: a log-linear model of P(class | features). It has a table for each feature and
          for each significant edge of a tree over the features, the tree with the largest sum of
          I(f;k|Y). The levels of numbers are divided at their quartiles, unless the selector has
          ``trends=False`` or is an online method. The tables are fitted together, so that features that
          share information are not counted twice. If the selector finds the number of features by
          cross-validation, the probabilities are calibrated with the samples left out of the folds.

        The others are Bayesian networks: they model P(class, features). Only they have ``sample`` and
        ``score_samples``, and can be written as BIF files for other programs. On what a feature depends:

        - ``"tree"``: on its parent in the tree. Only children of the class depend directly on the class.
        - ``"augmented"``: on the class and on its parent in the tree.
        - ``"linked"``: as ``"augmented"``. In addition, each child f of the class depends on the more
          relevant sibling k with the largest I(f;k|Y).
    alpha : float, default=1.0
        Additive (Laplace) smoothing of P(class) and P(feature | class). Not used by ``"additive"``.
    backoff : float or None, default=5.0
        Smoothing of P(feature | class, parent) towards P(feature | class), which has the weight of
        ``backoff`` samples. With ``None``, Laplace smoothing with ``alpha`` is used instead. Not used by
        ``"additive"``.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class, in the selection and in the model; see `SLFS`. ``None`` means the
        ``class_weight`` of ``selector``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    selector_ : selector
        The fitted selector.
    network_ : TreeNetwork
        The tree over the selected features, as in the selector.
    parents_ : ndarray of shape (n_selected,)
        Index of the node of ``network_`` on which each node depends in addition to the class, or with
        which it has a table in common; -1 if there is none.
    feature_importances_ : ndarray of shape (n_features_in_,)
        Importance of each column, as a share of the sum: how much its terms differ between the classes.
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
    array([[0.025, 0.962, 0.013]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "selector": [HasMethods(["fit", "to_classifier"]), None],
        "structure": [StrOptions({"additive", "linked", "augmented", "tree"})],
        "alpha": [SMOOTHING],
        "backoff": [SMOOTHING, None],
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    _fitted: ClassVar[frozenset[str]] = NetworkClassifier._fitted | SelectorModel._fitted | {"_additive"}

    def __init__(
        self,
        selector: BaseSelector | None = None,
        *,
        structure: str = "additive",
        alpha: float = 1.0,
        backoff: float | None = 5.0,
        class_weight: Any = None,
    ) -> None:
        self.selector = selector
        self.structure = structure
        self.alpha = alpha
        self.backoff = backoff
        self.class_weight = class_weight

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> BNSLFS:
        """Select features and fit the model of the class to them.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weight of each row, in the selection and in the model; see `SLFS.fit`.
        groups : array-like of shape (n_samples,) or None, default=None
            Group of each row, which is passed to the selector; see `SLFS.fit`.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        self._validate_params()
        selector = SLFS() if self.selector is None else clone(self.selector)
        if self.class_weight is not None:
            nested = "class_weight" not in selector.get_params(deep=False)  # a StabilitySelection
            name = "selector__class_weight" if nested else "class_weight"
            selector.set_params(**{name: self.class_weight})
        given = row_arguments(selector, sample_weight, groups)
        with selector._for_model("classification", additive=self.structure == "additive"):
            selector.fit(X, y, **given)
        return self._take_over(selector)

    @classmethod
    def from_selector(
        cls,
        selector: BaseSelector,
        *,
        structure: str | None = None,
        alpha: float = 1.0,
        backoff: float | None = 5.0,
    ) -> BNSLFS:
        """Create a fitted classifier from a fitted selector, without the data.

        Parameters
        ----------
        selector : object
            A fitted selector of this library.
        structure : {"additive", "linked", "augmented", "tree"} or None, default=None
            Model of the class and the selected features; see `BNSLFS`. ``None`` means ``"additive"`` for
            a selection by residual pursuit, which has the tables, and ``"linked"`` for others.
        alpha : float, default=1.0
            Laplace smoothing; see `BNSLFS`.
        backoff : float or None, default=5.0
            Smoothing of tables with a parent feature; see `BNSLFS`.

        Returns
        -------
        classifier : BNSLFS
            The fitted classifier.
        """
        if selector.target_bins_ is not None:
            raise ValueError(
                f"This {type(selector).__name__} was fitted to a continuous target, but a classifier "
                "needs classes. Fit BNSLFSRegressor(selector) on X and y instead."
            )
        if structure is None:
            structure = "linked" if selector._additive is None else "additive"
        classifier = cls(clone(selector), structure=structure, alpha=alpha, backoff=backoff)
        classifier._validate_params()
        return classifier._take_over(selector)

    def _take_over(self, selector: BaseSelector) -> BNSLFS:
        self._keep_selector(selector)
        self._additive: AdditiveTables | None = None
        if self.structure == "additive":
            self._take_additive_tables(selector)
            return self
        self._set_network(
            selector.network_,
            selector.network_counts_,
            selector.classes_,
            structure=self.structure,
            backoff=self.backoff,
        )
        return self

    def _take_additive_tables(self, selector: BaseSelector) -> None:
        tables = selector._additive
        if tables is None:
            raise ValueError(
                f"structure='additive' needs the samples, which this {type(selector).__name__} has not "
                "kept: fit BNSLFS(selector, structure='additive') on X and y, or use "
                "structure='linked'."
            )
        self._additive = tables
        self.classes_, self.network_ = selector.classes_, selector.network_
        self.parents_, self._log_prior, self._tables = tables.parents, tables.log_prior, []
        self._coding = tables.coding

    def _scores(self, encoded: Encoded) -> NDArray[np.float64]:
        return super()._scores(encoded) if self._additive is None else self._additive.scores(encoded)

    def _log_factors(self, encoded: Encoded) -> NDArray[np.float64]:
        tables = self._additive
        if tables is None:
            return super()._log_factors(encoded)
        return tables.log_factors(encoded)

    def _mean_contributions(self) -> NDArray[np.float64]:
        if self._additive is None:
            return super()._mean_contributions()
        return self._additive.importances
