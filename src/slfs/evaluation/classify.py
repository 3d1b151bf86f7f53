"""One fold of a dataset: how well the classifiers do on some of its columns."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from slfs._compat import safe_indexing
from slfs.classifiers.bnslfs import BNSLFS
from slfs.classifiers.tan import TAN, NaiveBayes
from slfs.evaluation.numbers import to_numbers
from slfs.selectors.chi2_ranking import Chi2Ranking
from slfs.tables.arrays import indexable

MOST_PAIRED = 1000
"""TAN and BNSLFS look at pairs of columns: with more columns than this they are left out."""

PAIRED = ("TAN", "BNSLFS")

ON_NUMBERS: dict[str, Callable[[], Any]] = {
    "3-NN": lambda: KNeighborsClassifier(3),
    "5-NN": lambda: KNeighborsClassifier(5),
    "7-NN": lambda: KNeighborsClassifier(7),
    "SVM": lambda: SVC(kernel="linear", C=1.0, cache_size=500),
}
"""They see standardised numbers. SVC is LIBSVM, which is fast enough here even for 18000 samples."""

CLASSIFIERS = (*ON_NUMBERS, "NB", "BNSLFS", "TAN")
"""The last three see codes, learned inside the fold like everything else."""


class Fold:
    """A training and a test part; remembers what was worked out for the same columns before.

    Parameters
    ----------
    X, y
        The whole table and its labels.
    train, test : ndarray
        Rows of the two parts.
    """

    def __init__(
        self,
        X: Any,
        y: NDArray[Any],
        train: NDArray[np.int64],
        test: NDArray[np.int64],
    ) -> None:
        self._known: dict[tuple[bytes, str], float] = {}
        X = indexable(X)
        self.train, self.test = safe_indexing(X, train), safe_indexing(X, test)
        self.train_labels, self.test_labels = y[train], y[test]

    def score(
        self, columns: NDArray[np.int64], classifier: str, fitted: Any = None
    ) -> tuple[float, float] | None:
        """Accuracy of a classifier on these columns, and seconds; None where it cannot be had.

        ``fitted`` is a classifier that the selector left behind, for the whole table.
        """
        begin = time.perf_counter()
        if fitted is not None:
            return self._accuracy(fitted.predict(self.test)), time.perf_counter() - begin
        columns = np.sort(columns)
        if classifier in PAIRED and len(columns) > MOST_PAIRED:
            return None
        key = (columns.tobytes(), classifier)
        if key not in self._known:
            self._known[key] = self._accuracy(self._predict(columns, classifier))
        return self._known[key], time.perf_counter() - begin

    def remember(self, columns: NDArray[np.int64], classifier: str, accuracy: float) -> None:
        """Take over what an earlier run has worked out."""
        self._known[np.sort(columns).tobytes(), classifier] = accuracy

    def _accuracy(self, predicted: NDArray[Any]) -> float:
        return float((predicted == self.test_labels).mean())

    def _predict(self, columns: NDArray[np.int64], classifier: str) -> Any:
        if len(columns) == 0:  # the most frequent class
            labels, counts = np.unique(self.train_labels, return_counts=True)
            return np.full(len(self.test_labels), labels[counts.argmax()])
        train = safe_indexing(self.train, columns, axis=1)
        test = safe_indexing(self.test, columns, axis=1)
        if classifier in ON_NUMBERS:
            numbers = to_numbers(train)
            model = ON_NUMBERS[classifier]().fit(numbers.fit(train), self.train_labels)
            return model.predict(numbers.transform(test))
        model = {
            "NB": NaiveBayes(),
            "TAN": TAN(),
            "BNSLFS": BNSLFS(Chi2Ranking(n_features_to_select=len(columns))),  # all of them, linked
        }[classifier]
        return model.fit(train, self.train_labels).predict(test)
