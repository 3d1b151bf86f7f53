"""One fold and some of its columns -> the scores of a classifier or regressor, by name."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from slfs.classifiers.bnslfs import BNSLFS
from slfs.classifiers.bnslfs_regressor import BNSLFSRegressor
from slfs.classifiers.tan import TAN, NaiveBayes
from slfs.evaluation.cross_validation import Fold
from slfs.evaluation.metrics import Metrics
from slfs.evaluation.numbers import Standardizer
from slfs.selectors.chi2_ranking import Chi2Ranking

MAX_PAIRED_COLUMNS = 1000
"""TAN and BNSLFS compare all pairs of columns: they are skipped for more columns than this."""

PAIRED = ("TAN", "BNSLFS")

CLASSIFIERS: dict[str, Callable[[int], Any]] = {
    "3-NN": lambda _: make_pipeline(Standardizer(), KNeighborsClassifier(3)),
    "5-NN": lambda _: make_pipeline(Standardizer(), KNeighborsClassifier(5)),
    "7-NN": lambda _: make_pipeline(Standardizer(), KNeighborsClassifier(7)),
    # SVC is LIBSVM, which is fast enough here even for 18000 samples
    "SVM": lambda _: make_pipeline(Standardizer(), SVC(kernel="linear", C=1.0, cache_size=500)),
    "NB": lambda _: NaiveBayes(),
    "BNSLFS": lambda size: BNSLFS(Chi2Ranking(n_features_to_select=size)),  # keeps all columns
    "TAN": lambda _: TAN(),
}
"""By name: a function that takes the number of columns and returns a classifier."""

REGRESSORS: dict[str, Callable[[int], Any]] = {
    "ridge": lambda _: make_pipeline(Standardizer(), Ridge()),
    "3-NN": lambda _: make_pipeline(Standardizer(), KNeighborsRegressor(3)),
    "5-NN": lambda _: make_pipeline(Standardizer(), KNeighborsRegressor(5)),
    "7-NN": lambda _: make_pipeline(Standardizer(), KNeighborsRegressor(7)),
    "RF": lambda _: make_pipeline(Standardizer(), RandomForestRegressor(50, random_state=0)),
    "BNSLFS": lambda size: BNSLFSRegressor(Chi2Ranking(n_features_to_select=size)),
}
"""By name: a function that takes the number of columns and returns a regressor."""


class FoldScores:
    """Accuracies of classifiers on columns of one fold. Each set of columns is scored only once.

    Parameters
    ----------
    fold : Fold
        Its table must be a pandas dataframe or a sparse array.
    classifiers : mapping
        Classifiers by name, as in `CLASSIFIERS`.
    """

    def __init__(
        self, fold: Fold, classifiers: Mapping[str, Callable[[int], Any]] = CLASSIFIERS
    ) -> None:
        self._fold, self._classifiers = fold, classifiers
        self._known: dict[tuple[bytes, str], float] = {}
        self._metrics: dict[tuple[bytes, str], Metrics] = {}

    def score(
        self, columns: NDArray[np.int64], classifier: str, fitted: Any = None
    ) -> tuple[float, float] | None:
        """Return the accuracy of a classifier on these columns, and the seconds it took.

        ``fitted`` is a classifier for the whole table that the selector has already learned. Returns
        None if there are too many columns for the classifier.
        """
        begin = time.perf_counter()
        if fitted is not None:
            return self._fold.accuracy(fitted), time.perf_counter() - begin
        columns = np.sort(columns)
        if classifier in PAIRED and len(columns) > MAX_PAIRED_COLUMNS:
            return None
        key = (columns.tobytes(), classifier)
        if key not in self._known:
            self._known[key] = self._accuracy(columns, classifier)
        return self._known[key], time.perf_counter() - begin

    def metrics(self, columns: NDArray[np.int64], classifier: str, fitted: Any = None) -> Metrics | None:
        """Return all metrics of a classifier on these columns; the arguments are those of `score`."""
        if fitted is not None:
            return self._fold.metrics(fitted)
        columns = np.sort(columns)
        if classifier in PAIRED and len(columns) > MAX_PAIRED_COLUMNS:
            return None
        key = (columns.tobytes(), classifier)
        if key not in self._metrics:
            model, used = self._model(columns, classifier)
            self._metrics[key] = self._fold.metrics(model, used)
        return self._metrics[key]

    def remember(self, columns: NDArray[np.int64], classifier: str, accuracy: float) -> None:
        """Add an accuracy that was computed in an earlier run."""
        self._known[np.sort(columns).tobytes(), classifier] = accuracy

    def _accuracy(self, columns: NDArray[np.int64], classifier: str) -> float:
        return self._fold.accuracy(*self._model(columns, classifier))

    def _model(
        self, columns: NDArray[np.int64], classifier: str
    ) -> tuple[Any, NDArray[np.int64] | None]:
        """Fit a classifier; return it with the columns that it needs, None for all."""
        if len(columns) == 0:  # the most frequent class, or the mean, whatever the columns
            nothing = DummyRegressor() if self._classifiers is REGRESSORS else DummyClassifier()
            return self._fold.fit(nothing), None
        return self._fold.fit(self._classifiers[classifier](len(columns)), columns), columns
