"""A classifier or regressor of the configuration, a fold and some of its columns -> its scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.stats import spearmanr
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from experiments.quality.methods import late_import
from slfs import BNSLFS, TAN, Chi2Ranking, NaiveBayes

if TYPE_CHECKING:
    from experiments.quality.config import Classifier, Config
    from experiments.quality.data import Part

Ints = NDArray[np.int64]
Metrics = dict[str, float]

METRICS = {
    "classification": ("accuracy", "balanced_accuracy", "log_loss"),
    "regression": ("r2", "rank_correlation", "relative_error"),
}
"""The scores of each task, the most important one first."""


def light_gbm(**parameters: Any) -> Any:
    """Make a boosted tree; half the time of scikit-learn's for 40 classes, 300 rows and 50 columns."""
    return late_import("lightgbm", "LGBMClassifier")(n_jobs=1, verbose=-1, **parameters)


STANDARDIZED: dict[str, Callable[..., Any]] = {
    "KNeighbors": KNeighborsClassifier,
    "LinearSVC": LinearSVC,
    "GaussianNB": GaussianNB,
    "RandomForest": RandomForestClassifier,
    "LightGBM": light_gbm,
    "Ridge": Ridge,
    "KNeighborsRegressor": KNeighborsRegressor,
    "RandomForestRegressor": RandomForestRegressor,
}
"""Classifiers and regressors of standardized columns."""

LEVELS: dict[str, Callable[..., Any]] = {"NaiveBayes": NaiveBayes, "TAN": TAN, "BNSLFS": BNSLFS}
"""Classifiers of slfs, which discretize the columns by themselves."""

CLASSIFIERS = {**STANDARDIZED, **LEVELS}
"""All estimators that a configuration can name."""

DENSE = ("GaussianNB", "LightGBM", *LEVELS)
"""Estimators that are not fitted to sparse tables here."""


class FoldScores:
    """Scores of classifiers on columns of one fold; each set of columns is scored only once."""

    def __init__(self, train: Part, test: Part, config: Config) -> None:
        self._train, self._test = train, test
        self._config = config
        self._known: dict[tuple[str, bytes], Metrics] = {}

    def score(self, classifier: Classifier, columns: Ints) -> Metrics:
        """Return the metrics of a classifier that was fitted to these columns of the training part."""
        key = (classifier.name, np.sort(columns).tobytes())
        if key not in self._known:
            self._known[key] = self._score(classifier, np.sort(columns))
        return self._known[key]

    def remember(self, classifier: str, columns: Ints, metrics: Metrics) -> None:
        """Add the scores of an earlier run."""
        self._known[classifier, np.sort(columns).tobytes()] = metrics

    def _score(self, classifier: Classifier, columns: Ints) -> Metrics:
        if len(columns) == 0:
            nothing = np.zeros((len(self._test.y), 1))
            regression = self._config.task == "regression"
            model = DummyRegressor() if regression else DummyClassifier(strategy="prior")
            model.fit(np.zeros((len(self._train.y), 1)), self._train.y)
            return self._measure(model, nothing)
        if classifier.estimator in LEVELS:
            model = _on_levels(classifier, self._train.categorical[columns])
            model.fit(self._train.dense(columns), self._train.y)
            return self._measure(model, self._test.dense(columns))
        scaler, train, test = self._tables(columns)
        wide = classifier.wide if len(columns) > self._config.wide_columns else {}
        model = STANDARDIZED[classifier.estimator](**{**classifier.parameters, **wide})
        model.fit(scaler.fit_transform(train), self._train.y)
        return self._measure(model, scaler.transform(test))

    def _measure(self, model: Any, X: Any) -> Metrics:
        """Score a fitted model on the test part."""
        if self._config.task == "regression":
            return measure_regressor(model, X, self._test.y)
        return measure(model, X, self._test.y)

    def _tables(self, columns: Ints) -> tuple[StandardScaler, Any, Any]:
        """Return both parts with a scaler; very wide sparse tables stay sparse and are not centred."""
        n_cells = (len(self._train.y) + len(self._test.y)) * len(columns)
        if sparse.issparse(self._train.X) and n_cells > self._config.max_dense_cells:
            train, test = (
                sparse.csr_matrix(part.X[:, columns], dtype=np.float64)
                for part in (self._train, self._test)
            )
            return StandardScaler(with_mean=False), train, test
        return StandardScaler(), self._train.dense(columns), self._test.dense(columns)


def measure(model: Any, X: Any, y: Ints) -> Metrics:
    """Return accuracy, mean accuracy within classes, and log loss (NaN without probabilities)."""
    log_loss = np.nan
    if hasattr(model, "predict_proba"):
        shares = model.predict_proba(X)
        predicted = np.asarray(model.classes_)[shares.argmax(axis=1)]
        true = shares[np.arange(len(y)), np.searchsorted(model.classes_, y)]
        log_loss = float(-np.log(np.clip(true, np.finfo(np.float64).eps, 1)).mean())
    else:
        predicted = model.predict(X)
    right = predicted == y
    within = np.bincount(y, right) / np.maximum(np.bincount(y), 1)
    return {
        "accuracy": float(right.mean()),
        "balanced_accuracy": float(within[np.unique(y)].mean()),
        "log_loss": log_loss,
    }


def measure_regressor(model: Any, X: Any, y: NDArray[np.float64]) -> Metrics:
    """Return R², Spearman's correlation, and the mean absolute error in standard deviations of y.

    The correlation of constant predictions is 0.
    """
    predicted = model.predict(X)
    varied = np.ptp(predicted) > 0
    return {
        "r2": float(r2_score(y, predicted)),
        "rank_correlation": float(spearmanr(y, predicted).statistic) if varied else 0.0,
        "relative_error": float(np.abs(y - predicted).mean() / y.std()),
    }


def _on_levels(classifier: Classifier, categorical: NDArray[np.bool_]) -> Any:
    """Make a classifier of slfs that uses all columns."""
    kinds: dict[str, Any] = {"categorical_features": categorical} if categorical.any() else {}
    if classifier.estimator == "BNSLFS":
        ranking = Chi2Ranking(n_features_to_select=len(categorical), **kinds)
        return BNSLFS(ranking, **classifier.parameters)
    return LEVELS[classifier.estimator](**classifier.parameters, **kinds)
