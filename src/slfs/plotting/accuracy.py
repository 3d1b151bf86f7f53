"""Accuracy against the number of selected columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from slfs._compat import safe_indexing
from slfs.classifiers.tan import NaiveBayes
from slfs.plotting.base import STRONG, Display
from slfs.tables.arrays import indexable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_SIZES = 25


class AccuracyCurveDisplay(Display):
    """Cross-validated accuracy of the first k columns of a ranking, for rising k.

    Parameters
    ----------
    sizes : ndarray of shape (n_sizes,)
        Numbers of columns.
    accuracy : ndarray of shape (n_sizes, n_folds)

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    def __init__(self, sizes: NDArray[np.int64], accuracy: NDArray[np.float64]) -> None:
        self.sizes, self.accuracy = sizes, accuracy

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        classifier: Any = None,
        cv: int = 5,
        random_state: int = 0,
        ax: Axes | None = None,
    ) -> AccuracyCurveDisplay:
        """Cross-validate a selector: it is fitted inside each fold, its first k columns are classified.

        Parameters
        ----------
        estimator : object
            A selector; it need not be fitted.
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classifier : object, optional
            What classifies on the selected columns; by default `NaiveBayes` of their codes.
        cv : int, default=5
            Folds.
        random_state : int, default=0
            Seed of the folds.
        ax : matplotlib Axes, optional

        Returns
        -------
        display : AccuracyCurveDisplay
        """
        classifier = NaiveBayes() if classifier is None else classifier
        X, labels = indexable(X), np.asarray(y)
        splitter = StratifiedKFold(cv, shuffle=True, random_state=random_state)
        splits = list(splitter.split(np.zeros(len(labels)), labels))
        parts = []
        for train, test in splits:
            tables = safe_indexing(X, train), safe_indexing(X, test)
            ranking = clone(estimator).fit(tables[0], labels[train]).indices_
            parts.append((tables, labels[train], labels[test], ranking))
        longest = min(len(ranking) for *_, ranking in parts)
        if longest == 0:
            raise ValueError(f"{estimator} selects nothing in some fold: there is no curve to draw.")
        sizes = np.unique(np.geomspace(1, longest, _MOST_SIZES).round().astype(int))
        accuracy = np.empty((len(sizes), cv))
        for fold, (tables, fitted_to, truth, ranking) in enumerate(parts):
            for place, size in enumerate(sizes):
                train, test = (safe_indexing(table, ranking[:size], axis=1) for table in tables)
                predicted = clone(classifier).fit(train, fitted_to).predict(test)
                accuracy[place, fold] = (predicted == truth).mean()
        return cls(sizes, accuracy).plot(ax=ax)

    def _draw(self, ax: Axes) -> None:
        mean, spread = 100 * self.accuracy.mean(axis=1), 100 * self.accuracy.std(axis=1)
        ax.fill_between(self.sizes, mean - spread, mean + spread, color=STRONG, alpha=0.18, linewidth=0)
        ax.plot(self.sizes, mean, color=STRONG, marker="o", markersize=3.5)
        ax.set_xlabel("columns, best first")
        ax.set_ylabel(f"accuracy, % ({self.accuracy.shape[1]} folds, ± standard deviation)")
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(linewidth=0.4, alpha=0.6)
