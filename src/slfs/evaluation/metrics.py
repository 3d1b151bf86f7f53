"""Predictions of a classifier or a regressor -> accuracy, AUC and log loss, or R² and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr
from sklearn.metrics import mean_absolute_error, r2_score, roc_auc_score

METRICS = ("accuracy", "balanced_accuracy", "auc", "log_loss")
"""Names of the metrics, in the order in which they are shown."""

REGRESSION_METRICS = ("r2", "rank_correlation", "mean_absolute_error")
"""Names of the metrics of a regressor."""

Metrics = dict[str, float]


def classification_metrics(fitted: Any, X: Any, y: NDArray[Any]) -> Metrics:
    """Score a fitted classifier on test samples.

    ``balanced_accuracy`` is the mean of the accuracies within the classes. ``auc`` is the area under the
    ROC curve of each class against the others, averaged over the classes. ``log_loss`` is the mean
    negative logarithm of the probability of the true class, in nats. The last two are NaN if the
    classifier has no ``predict_proba``.
    """
    right = fitted.predict(X) == y
    within = [float(right[y == label].mean()) for label in np.unique(y)]
    found = {"accuracy": float(right.mean()), "balanced_accuracy": float(np.mean(within))}
    if not hasattr(fitted, "predict_proba"):
        return {**found, "auc": np.nan, "log_loss": np.nan}
    shares = fitted.predict_proba(X)
    is_class = y[:, None] == np.asarray(fitted.classes_)[None, :]
    return {**found, "auc": _auc(is_class, shares), "log_loss": _log_loss(is_class, shares)}


def regression_metrics(fitted: Any, X: Any, y: NDArray[Any]) -> Metrics:
    """Score a fitted regressor on test samples.

    ``rank_correlation`` is Spearman's; it is 0 if all predictions are equal.
    """
    predicted = np.asarray(fitted.predict(X))
    varied = np.ptp(predicted) > 0 and np.ptp(y) > 0
    return {
        "r2": float(r2_score(y, predicted)) if len(y) > 1 else np.nan,
        "rank_correlation": float(spearmanr(y, predicted).statistic) if varied else 0.0,
        "mean_absolute_error": float(mean_absolute_error(y, predicted)),
    }


def _auc(is_class: NDArray[np.bool_], shares: NDArray[np.float64]) -> float:
    """Average the area over the classes that some, but not all test samples have."""
    areas = [
        float(roc_auc_score(truth, share))
        for truth, share in zip(is_class.T, shares.T, strict=True)
        if 0 < truth.sum() < len(truth)
    ]
    return float(np.mean(areas)) if areas else float("nan")


def _log_loss(is_class: NDArray[np.bool_], shares: NDArray[np.float64]) -> float:
    """Limit probabilities to the precision of floats, as scikit-learn does."""
    true = (shares * is_class).sum(axis=1)
    return float(-np.log(np.clip(true, np.finfo(np.float64).eps, 1)).mean())
