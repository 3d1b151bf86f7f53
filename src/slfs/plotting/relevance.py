"""Scatter plot of relevance and redundancy of all columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from slfs.plotting.base import DROPPED, STRONG, WEAK, Display, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

_NAMED = 12
"""Number of columns whose names are shown."""


class RelevanceDisplay(Display):
    """Scatter plot of all columns: relevance and the information shared with another column.

    The other column is the parent of a selected column, or the one that made a dropped column redundant.
    Children of the class are blue, deeper nodes orange, dropped columns grey. Columns that were never
    compared with another one are at the bottom.

    Parameters
    ----------
    features : recarray
        ``features_`` of a fitted selector.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from slfs import SLFS
    >>> from slfs.plotting import RelevanceDisplay
    >>> selector = SLFS().fit(*load_breast_cancer(return_X_y=True, as_frame=True))
    >>> display = RelevanceDisplay.from_estimator(selector)
    """

    def __init__(self, features: Any) -> None:
        self.features = features

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None) -> RelevanceDisplay:
        """Draw the columns of a fitted selector.

        Parameters
        ----------
        estimator : object
            A fitted selector.
        ax : matplotlib Axes, optional

        Returns
        -------
        display : RelevanceDisplay
        """
        return cls(estimator.features_).plot(ax=ax)

    def _draw(self, ax: Axes) -> None:
        records = self.features
        relevance = records["relevance"]
        shared = np.nan_to_num(records["mutual_information"])
        level = records["level"]
        kinds = (
            (level == 0, DROPPED, "dropped", "x"),
            (level > 1, WEAK, "selected, deeper in the tree", "o"),
            (level == 1, STRONG, "selected, child of the target", "o"),
        )
        for chosen, colour, label, marker in kinds:
            if chosen.any():
                ax.scatter(
                    relevance[chosen],
                    shared[chosen],
                    c=colour,
                    label=label,
                    marker=marker,
                    s=28,
                    alpha=0.8,
                )
        self._label(ax, relevance, shared)
        ax.set_xlabel("relevance: mutual information with the target (nats)")
        ax.set_ylabel("shared with parent or preferred column (nats)")
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False, fontsize=8)

    def _label(self, ax: Axes, relevance: Floats, shared: Floats) -> None:
        """Label the most relevant selected columns whose labels do not overlap."""
        kept = np.flatnonzero(self.features["level"] > 0)
        width, height = max(relevance.max(initial=0), 1e-12), max(shared.max(initial=0), 1e-12)
        labelled: list[tuple[float, float]] = []
        for column in kept[np.argsort(-relevance[kept], kind="stable")[:_NAMED]]:
            x, y = relevance[column] / width, shared[column] / height
            right = x > 0.7
            if all(abs(x - other) > 0.3 or abs(y - level) > 0.05 for other, level in labelled):
                labelled.append((x, y))
                ax.annotate(
                    plain(str(self.features["name"][column]), 24),
                    (relevance[column], shared[column]),
                    xytext=(-5 if right else 5, 5),
                    textcoords="offset points",
                    ha="right" if right else "left",
                    fontsize=7.5,
                )
