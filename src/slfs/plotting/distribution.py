"""Chart of one selected column: its distribution in each class, or a continuous target at each level."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from slfs.coding.level_names import level_names
from slfs.plotting.base import PALETTE, STRONG, Display, grouped_bars, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class DistributionDisplay(Display):
    """Bar chart of the distribution of a column in each class.

    The levels of the column are intervals or categories, and one for missing values. For a continuous
    target, the chart shows the median of the target at each level (a dot), and its quartiles (a line).

    Parameters
    ----------
    counts : ndarray of shape (n_levels, n_classes)
        Number of samples of each level and class.
    levels, classes : list of str
        Names of the levels and of the classes.
    name : str
        Name of the column.
    target : ndarray of shape (n_levels, 4) or None, default=None
        Mean, lower quartile, median and upper quartile of a continuous target at each level.
    target_name : str, default=""
        Name of the continuous target.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from slfs import SLFS
    >>> from slfs.plotting import DistributionDisplay
    >>> selector = SLFS().fit(*load_iris(return_X_y=True, as_frame=True))
    >>> display = DistributionDisplay.from_estimator(selector, "petal width (cm)")
    """

    def __init__(
        self,
        counts: NDArray[np.int64],
        levels: list[str],
        classes: list[str],
        name: str,
        *,
        target: NDArray[np.float64] | None = None,
        target_name: str = "",
    ) -> None:
        self.counts, self.levels, self.classes, self.name = counts, levels, classes, name
        self.target, self.target_name = target, target_name

    @classmethod
    def from_estimator(
        cls, estimator: Any, column: str | int, *, ax: Axes | None = None
    ) -> DistributionDisplay:
        """Draw one selected column of a fitted selector.

        Parameters
        ----------
        estimator : object
            A fitted selector.
        column : str or int
            Name or index of a selected column.
        ax : matplotlib Axes, optional

        Returns
        -------
        display : DistributionDisplay
        """
        index = estimator._column_index(column)
        nodes = estimator.network_.columns.tolist()
        if index not in nodes:
            selected = ", ".join(map(repr, estimator.network_.names[:8]))
            raise ValueError(
                f"Column {column!r} was not selected, so its distribution is not known. Choose one of "
                f"the selected columns: {selected}."
            )
        node = nodes.index(index)
        counts = estimator.network_counts_
        by_level = estimator._target_by_level
        return cls(
            counts.class_counts[node],
            level_names(counts.coding, node),
            estimator._class_names(),
            estimator.network_.names[node],
            target=None if by_level is None else by_level[node],
            target_name=estimator.network_.class_name,
        ).plot(ax=ax)

    def _size(self) -> tuple[float, float]:
        n_marks = self.counts.size if self.target is None else 3 * len(self.levels)
        return 2.5 + 0.28 * n_marks, 4.0

    def _draw(self, ax: Axes) -> None:
        if self.target is None:
            self._draw_shares(ax)
        else:
            self._draw_quartiles(ax, self.target)
        names = [plain(level, 24) for level in self.levels]
        tilted: dict[str, Any] = {"rotation": 25, "ha": "right"} if max(map(len, names)) > 8 else {}
        ax.set_xticks(np.arange(len(names)), names, **tilted)
        ax.set_title(plain(self.name, 50), fontsize=10, loc="left")
        ax.spines[["top", "right"]].set_visible(False)

    def _draw_shares(self, ax: Axes) -> None:
        """Draw the share of each level in each class."""
        shares = 100 * self.counts / np.maximum(self.counts.sum(axis=0), 1)
        grouped_bars(ax, shares, [plain(label, 20) for label in self.classes], PALETTE)
        ax.set_ylabel("% of the samples of the class")
        ax.legend(frameon=False, fontsize=8, ncols=1 + shares.shape[1] // 9)

    def _draw_quartiles(self, ax: Axes, target: NDArray[np.float64]) -> None:
        """Draw the median of the target at each level, and its quartiles."""
        x, (_, lower, median, upper) = np.arange(len(target)), target.T
        ax.vlines(x, lower, upper, color=STRONG, linewidth=5, alpha=0.4)
        ax.plot(x, median, "o", color=STRONG)
        ax.set_xlim(-0.6, len(target) - 0.4)
        ax.set_ylabel(f"{plain(self.target_name, 40)}: median, quartiles")
