"""Bar chart of the distribution of one selected column in each class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from slfs.coding.level_names import level_names
from slfs.plotting.base import PALETTE, Display, grouped_bars, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class DistributionDisplay(Display):
    """Bar chart of the distribution of a column in each class.

    The levels of the column are intervals or categories, and one for missing values.

    Parameters
    ----------
    counts : ndarray of shape (n_levels, n_classes)
        Number of samples of each level and class.
    levels, classes : list of str
        Names of the levels and of the classes.
    name : str
        Name of the column.

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
        self, counts: NDArray[np.int64], levels: list[str], classes: list[str], name: str
    ) -> None:
        self.counts, self.levels, self.classes, self.name = counts, levels, classes, name

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
        classes = list(map(str, estimator.classes_))
        names = level_names(counts.coding, node)
        return cls(counts.class_counts[node], names, classes, estimator.network_.names[node]).plot(ax=ax)

    def _size(self) -> tuple[float, float]:
        return 2.5 + 0.28 * self.counts.size, 4.0

    def _draw(self, ax: Axes) -> None:
        shares = 100 * self.counts / np.maximum(self.counts.sum(axis=0), 1)
        n_levels, n_classes = shares.shape
        grouped_bars(ax, shares, [plain(label, 20) for label in self.classes], PALETTE)
        names = [plain(level, 24) for level in self.levels]
        tilted: dict[str, Any] = {"rotation": 25, "ha": "right"} if max(map(len, names)) > 8 else {}
        ax.set_xticks(np.arange(n_levels), names, **tilted)
        ax.set_ylabel("% of the samples of the class")
        ax.set_title(plain(self.name, 50), fontsize=10, loc="left")
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False, fontsize=8, ncols=1 + n_classes // 9)
