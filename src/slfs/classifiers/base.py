"""A Bayesian network over coded columns -> predicted classes, probabilities, densities, samples."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.base import ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from slfs._compat import Interval
from slfs.classifiers.explanation import PredictionExplanation
from slfs.classifiers.inference import (
    expected_contributions,
    joint_log_proba,
    log_factors,
    parents_first,
)
from slfs.classifiers.model import NetworkModel
from slfs.classifiers.tables import LogTable, decode_levels, make_tables
from slfs.coding.encode import Encoded
from slfs.network.tree import ROOT, TreeNetwork
from slfs.selectors._shared.selection import NetworkCounts

SMOOTHING = Interval(Real, 1e-30, 1e30, closed="both")
"""Valid smoothing parameters: outside of this range, log probabilities may become infinite."""


def _models_features(classifier: NetworkClassifier) -> bool:
    """Whether P(features | class) is modelled; raises an error that says what to use otherwise."""
    if getattr(classifier, "structure", None) == "additive":
        raise AttributeError(
            "structure='additive' models P(class | features), but not the distribution of the features. "
            "Use structure='linked'."
        )
    return True


class NetworkClassifier(ClassifierMixin, NetworkModel):  # type: ignore[misc]
    """Base class of the classifiers: each feature depends on the class and at most one other feature."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]]

    _fitted: ClassVar[frozenset[str]] = NetworkModel._fitted | {"classes_", "_log_prior", "_tables"}

    alpha: float

    def _set_network(
        self,
        network: TreeNetwork,
        counts: NetworkCounts,
        classes: NDArray[Any],
        *,
        structure: str = "augmented",
        backoff: float | None = None,
    ) -> None:
        """Estimate the probability tables of a network from its counts."""
        alpha = float(self.alpha) * counts.unit
        totals = counts.class_totals + alpha
        self.classes_ = classes
        self.network_ = network
        self._coding = counts.coding
        self._log_prior = np.log(totals / totals.sum())
        self._tables: list[LogTable] = make_tables(
            counts,
            network.parents,
            structure,
            alpha,
            None if backoff is None else float(backoff) * counts.unit,
        )
        self.parents_ = np.array([table.parent for table in self._tables], np.int64)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each sample.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            Input data.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Most probable class of each sample.
        """
        scores = self._scores(self._encode(X))
        best: NDArray[Any] = self.classes_[scores.argmax(axis=1)]
        return best

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Predict the probability of each class.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            Input data.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Probabilities of the classes, in the order of ``classes_``.
        """
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Predict the logarithm of the probability of each class.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            Input data.

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
            Log probabilities of the classes, in the order of ``classes_``.
        """
        scores = self._scores(self._encode(X))
        posterior: NDArray[np.float64] = scores - logsumexp(scores, axis=1, keepdims=True)
        return posterior

    @available_if(_models_features)  # type: ignore[untyped-decorator]
    def predict_joint_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Compute the logarithm of the joint probability of each class and the features of the network.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            Input data.

        Returns
        -------
        joint : ndarray of shape (n_samples, n_classes)
            Log probabilities log P(class, features), in the order of ``classes_``.
        """
        return self._scores(self._encode(X))

    def explain_prediction(self, X: Any) -> PredictionExplanation:
        """Explain predictions by the exact contribution of each feature to each class.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            Input data.

        Returns
        -------
        explanation : PredictionExplanation
            The contributions, which add up to the prediction. ``print`` shows them as text,
            ``to_frame()`` converts them, and `slfs.plotting.EvidenceDisplay` draws them.
        """
        encoded = self._encode(X)
        names, levels, known, order = self._name_levels(encoded)
        factors = self._log_factors(encoded)[:, order]
        return PredictionExplanation(
            names, self.classes_, levels, known, self._log_prior, factors, np.arange(len(levels))
        )

    @available_if(_models_features)  # type: ignore[untyped-decorator]
    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Compute the log density of each sample: log P(features), summed over the classes.

        This is the density of the discretized sample.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            Input data.

        Returns
        -------
        log_density : ndarray of shape (n_samples,)
            Log density of each sample.
        """
        density: NDArray[np.float64] = logsumexp(self.predict_joint_log_proba(X), axis=1)
        return density

    @available_if(_models_features)  # type: ignore[untyped-decorator]
    def sample(self, n_samples: int = 1, random_state: Any = None) -> tuple[NDArray[Any], NDArray[Any]]:
        """Draw samples from the network.

        Parameters
        ----------
        n_samples : int, default=1
            Number of samples to draw.
        random_state : int, RandomState or None, default=None
            Controls the random numbers. Pass an int for reproducible samples.

        Returns
        -------
        X : ndarray of shape (n_samples, n_selected)
            Values of the features of the network, in the order of the table. Numbers are drawn uniformly
            from the interval; the outer intervals end at the smallest and largest value seen during
            ``fit``. The array has dtype object if some column does not contain numbers.
        y : ndarray of shape (n_samples,)
            Class of each sample.
        """
        check_is_fitted(self)
        if not isinstance(n_samples, Integral) or n_samples < 1:
            raise ValueError(
                f"n_samples must be an integer greater than or equal to 1. Got {n_samples!r} instead."
            )
        random = check_random_state(random_state)
        classes = random.choice(len(self.classes_), n_samples, p=np.exp(self._log_prior))
        codes = np.zeros((len(self._tables), n_samples), np.int64)
        for node in parents_first(self.parents_):
            own = self._tables[node]
            parent = 0 if own.parent == ROOT else codes[own.parent]
            given = classes if own.values.shape[2] > 1 else 0  # independent of the class
            table = np.broadcast_to(own.values[:, parent, given].T, (n_samples, len(own.values))).T
            cumulative = np.exp(table).cumsum(axis=0)
            codes[node] = (random.random_sample(n_samples) * cumulative[-1] >= cumulative).sum(axis=0)
        columns = [
            decode_levels(self._coding, node, codes[node], random)
            for node in np.argsort(self.network_.columns)
        ]
        if any(column.dtype == object for column in columns):
            columns = [column.astype(object) for column in columns]
        X = np.stack(columns, axis=1) if columns else np.empty((n_samples, 0))
        return X, self.classes_[classes]

    def _scores(self, encoded: Encoded) -> NDArray[np.float64]:
        """Return log P(class, features), up to a constant per sample: (n_samples, n_classes)."""
        return joint_log_proba(self._tables, self._log_prior, encoded)

    def _log_factors(self, encoded: Encoded) -> NDArray[np.float64]:
        """Return what each node adds to the scores: (n_samples, n_nodes, n_classes)."""
        return log_factors(self._tables, len(self.classes_), encoded)

    def _mean_contributions(self) -> NDArray[np.float64]:
        return expected_contributions(self._tables, self._log_prior)
