"""Relevance against redundancy of every column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from slfs.plotting.base import DROPPED, STRONG, WEAK, Display, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
        kept = np.flatnonzero(level > 0)
        for column in kept[np.argsort(-relevance[kept], kind="stable")[:_NAMED]]:
            ax.annotate(
                plain(str(records["name"][column]), 24),
                (relevance[column], shared[column]),
                xytext=(4, 4),
                textcoords="offset points",
                fontsize=7.5,
            )
        ax.set_xlabel("relevance I(f;Y), nats")
        ax.set_ylabel("shared with parent or winner, nats")
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False, fontsize=8)
