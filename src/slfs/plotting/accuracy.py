"""Accuracy against the number of selected columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from slfs.evaluation.accuracy import accuracy_curve
from slfs.evaluation.cross_validation import CV
from slfs.plotting.base import STRONG, Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class AccuracyCurveDisplay(Display):
    """Cross-validated accuracy of a classifier on the first columns of a selection.

    Parameters
    ----------
    sizes : ndarray of shape (n_sizes,)
        Numbers of columns.
    accuracy : ndarray of shape (n_sizes, n_splits)

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
        cv: CV = 5,
        random_state: int = 0,
        ax: Axes | None = None,
    ) -> AccuracyCurveDisplay:
        """Cross-validate a classifier on the first columns that a selector selects, and plot the curve.

        Parameters
        ----------
        estimator : object
            A selector; it is cloned and fitted to the training part of each fold.
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classifier : object, optional
            Classifier for the selected columns; by default `NaiveBayes`.
        cv : int, splitter or iterable of splits, default=5
            Number of stratified folds, a scikit-learn splitter, or an iterable of training and test
            indices.
        random_state : int, default=0
            Seed of the shuffling if ``cv`` is a number.
        ax : matplotlib Axes, optional
            Axes to draw in; by default those of a new figure.

        Returns
        -------
        display : AccuracyCurveDisplay
        """
        sizes, accuracy = accuracy_curve(
            estimator, X, y, classifier=classifier, cv=cv, random_state=random_state
        )
        return cls(sizes, accuracy).plot(ax=ax)

    def _draw(self, ax: Axes) -> None:
        mean, spread = 100 * self.accuracy.mean(axis=1), 100 * self.accuracy.std(axis=1)
        ax.fill_between(self.sizes, mean - spread, mean + spread, color=STRONG, alpha=0.18, linewidth=0)
        ax.plot(self.sizes, mean, color=STRONG, marker="o", markersize=3.5)
        ax.set_xlabel("columns, in order of selection")
        ax.set_ylabel(f"accuracy, % ({self.accuracy.shape[1]} folds, ± standard deviation)")
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(linewidth=0.4, alpha=0.6)
