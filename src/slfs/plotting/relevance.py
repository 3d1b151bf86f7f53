"""Relevance against redundancy of every column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from slfs.plotting.base import DROPPED, STRONG, WEAK, Display, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

_NAMED = 12
"""Columns whose names are written beside their points."""


class RelevanceDisplay(Display):
    """Each column by what it tells about the class and what it shares with its parent or winner.

    Children of the class are blue, deeper ones orange, redundant ones grey; columns of which only the
    relevance is known lie at the bottom.

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
            (level > 1, WEAK, "selected, below another", "o"),
            (level == 1, STRONG, "selected, below the class", "o"),
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
        self._write_names(ax, relevance, shared)
        ax.set_xlabel("relevance I(f;Y), nats")
        ax.set_ylabel("shared with parent or winner, nats")
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False, fontsize=8)

    def _write_names(self, ax: Axes, relevance: Floats, shared: Floats) -> None:
        """Name the most relevant of the selected columns, as far as there is room."""
        kept = np.flatnonzero(self.features["level"] > 0)
        width, height = max(relevance.max(initial=0), 1e-12), max(shared.max(initial=0), 1e-12)
        written: list[tuple[float, float]] = []
        for column in kept[np.argsort(-relevance[kept], kind="stable")[:_NAMED]]:
            x, y = relevance[column] / width, shared[column] / height
            right = x > 0.7
            if all(abs(x - other) > 0.3 or abs(y - level) > 0.05 for other, level in written):
                written.append((x, y))
                ax.annotate(
                    plain(str(self.features["name"][column]), 24),
                    (relevance[column], shared[column]),
                    xytext=(-5 if right else 5, 5),
                    textcoords="offset points",
                    ha="right" if right else "left",
                    fontsize=7.5,
                )
