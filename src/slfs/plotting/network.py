"""Drawing of the tree that a selector has learned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from slfs.network.tree import ROOT, TreeNetwork
from slfs.plotting.base import CLASS, DROPPED, STRONG, WEAK, Display, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class NetworkDisplay(Display):
    """Drawing of the tree of a selector, with the class on the left and children right of their parent.

    The area of a node shows its relevance, the width of an edge the information that it shares with its
    parent. Children of the class are blue, deeper nodes orange.

    Parameters
    ----------
    network : TreeNetwork

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from slfs import SLFS
    >>> from slfs.plotting import NetworkDisplay
    >>> selector = SLFS().fit(*load_iris(return_X_y=True, as_frame=True))
    >>> display = NetworkDisplay.from_estimator(selector)
    """

    def __init__(self, network: TreeNetwork) -> None:
        self.network = network

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None) -> NetworkDisplay:
        """Draw the network of a fitted selector or classifier.

        Parameters
        ----------
        estimator : object
            A fitted estimator with an attribute ``network_``.
        ax : matplotlib Axes, optional

        Returns
        -------
        display : NetworkDisplay
        """
        return cls(estimator.network_).plot(ax=ax)

    def _size(self) -> tuple[float, float]:
        depth = int(self.network.levels.max(initial=1))
        leaves = len(self.network) - len(set(self.network.parents[self.network.parents != ROOT]))
        return 2.4 + 2.5 * depth, 1.0 + 0.3 * max(leaves, 3)

    def _draw(self, ax: Axes) -> None:
        network = self.network
        rows = _rows(network)
        depth = int(network.levels.max(initial=1))
        middle = float(np.mean(rows[network.parents == ROOT])) if len(network) else 0.0
        largest = network.mutual_information.max(initial=1e-12)
        for node, parent in enumerate(network.parents):
            begin = (0.0, middle) if parent == ROOT else (float(network.levels[parent]), rows[parent])
            end = (float(network.levels[node]), rows[node])
            bend = end[0] - 0.6
            strength = 0.6 + 3.4 * network.mutual_information[node] / largest
            ax.plot(
                [begin[0], bend, end[0]], [begin[1], end[1], end[1]],
                color=DROPPED, linewidth=strength, zorder=1, solid_capstyle="round",
            )  # fmt: skip
        area = 30 + 170 * network.relevance / max(network.relevance.max(initial=0), 1e-12)
        colours = np.where(network.levels == 1, STRONG, WEAK)
        ax.scatter(network.levels, rows, s=area, c=list(colours), zorder=2)
        ax.scatter([0], [middle], s=200, c=CLASS, marker="s", zorder=2)
        for node, name in enumerate(network.names):
            _label(ax, float(network.levels[node]), rows[node], name)
        _label(ax, 0.0, middle, network.class_name, weight="bold")
        ax.set_xlim(-0.15, depth + 1.1)
        ax.set_ylim(rows.max(initial=0) + 0.7, -0.7)
        ax.set_axis_off()


def _rows(network: TreeNetwork) -> NDArray[np.float64]:
    """Vertical positions: leaves below each other, parents at the middle of their children."""
    rows = np.zeros(len(network))
    next_row = 0.0
    waiting = [(node, False) for node, _ in network.drawn_children(ROOT)]
    while waiting:
        node, placed = waiting.pop()
        children = [child for child, _ in network.drawn_children(node)]
        if not children:
            rows[node], next_row = next_row, next_row + 1
        elif placed:
            rows[node] = (rows[children[0]] + rows[children[-1]]) / 2
        else:
            waiting += [(node, True), *((child, False) for child in children)]
    return rows


def _label(ax: Axes, x: float, y: float, text: str, weight: str = "normal") -> None:
    ax.annotate(
        plain(text), (x, y), xytext=(9, 0), textcoords="offset points", va="center",
        fontsize=8.5, fontweight=weight, zorder=3,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6, "alpha": 0.85},
    )  # fmt: skip
