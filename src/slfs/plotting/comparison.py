"""Bar chart of the accuracy, or of R², of selection methods with several models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from slfs.plotting.base import PALETTE, Display, grouped_bars

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class ComparisonDisplay(Display):
    """Bar chart of mean accuracies or R², one group of bars per model, one bar per selection method.

    Error bars show one standard deviation over the folds. The legend shows the mean number of selected
    columns of each method.

    Parameters
    ----------
    rows : DataFrame
        One row per fold with the columns method, classifier, accuracy and n_features, or method,
        regressor, r2 and n_features, as written by ``slfs compare --out``.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    def __init__(self, rows: Any) -> None:
        self.rows = rows

    def _size(self) -> tuple[float, float]:
        return 3.0 + 1.4 * self.rows[self._model()].nunique(), 4.4

    def _model(self) -> str:
        return "regressor" if "regressor" in self.rows else "classifier"

    def _draw(self, ax: Axes) -> None:
        regression = self._model() == "regressor"
        groups = self.rows.groupby([self._model(), "method"], sort=False)
        values, scale = (groups["r2"], 1) if regression else (groups["accuracy"], 100)
        means, spreads = scale * values.mean().unstack("method"), scale * values.std().unstack("method")
        sizes = self.rows.groupby("method", sort=False)["n_features"].mean()
        labels = [f"{method} ({sizes[method]:.3g} columns)" for method in means.columns]
        grouped_bars(ax, means.to_numpy(), labels, PALETTE, spreads.to_numpy())
        low = float((means - spreads).min().min())
        if regression:
            ax.set_ylim(min(0.0, np.floor(10 * low) / 10), 1.01)
        else:
            ax.set_ylim(max(0.0, np.floor(low / 10) * 10 - 5), 101)
        ax.set_xticks(np.arange(len(means)), list(means.index))
        ax.set_ylabel("R²" if regression else "accuracy in % (axis truncated)")
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(axis="y", linewidth=0.4, alpha=0.6)
        ax.set_axisbelow(True)
        ax.legend(frameon=False, fontsize=8, ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.08))
