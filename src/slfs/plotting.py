"""Pictures with matplotlib, as Display objects: made from an estimator, drawn with ``plot()``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from slfs.network import ROOT, TreeNetwork

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CLASS_COLOUR, STRONG_COLOUR, WEAK_COLOUR, EDGE_COLOUR = "#222222", "#0b6e99", "#e08e0b", "#9aa5ad"


class NetworkDisplay:
    """The tree of a selector, the class at the left, each feature to the right of its parent.

    The area of a node grows with its relevance, the width of an edge with the information that it
    carries. Children of the class are blue, the others orange.

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
    >>> display = NetworkDisplay.from_estimator(selector)  # doctest: +SKIP
    """

    ax_: Axes
    figure_: Figure

    def __init__(self, network: TreeNetwork) -> None:
        self.network = network

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None) -> NetworkDisplay:
        """Draw the network of a fitted selector or classifier.

        Parameters
        ----------
        estimator : object
            With an attribute ``network_``.
        ax : matplotlib Axes, optional

        Returns
        -------
        display : NetworkDisplay
        """
        return cls(estimator.network_).plot(ax=ax)

    def plot(self, *, ax: Axes | None = None) -> NetworkDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure that is large enough for the names.

        Returns
        -------
        display : NetworkDisplay
        """
        network = self.network
        rows = _rows(network)
        depth = int(network.levels.max(initial=1))
        if ax is None:
            pyplot = _pyplot()
            _, ax = pyplot.subplots(
                figsize=(2.2 + 2.6 * depth, 1.0 + 0.32 * max(len(set(rows)), 3)), layout="constrained"
            )
        middle = float(np.mean(rows[network.parents == ROOT])) if len(network) else 0.0
        largest = network.mutual_information.max(initial=1e-12)
        for node, parent in enumerate(network.parents):
            begin = (0.0, middle) if parent == ROOT else (float(network.levels[parent]), rows[parent])
            end = (float(network.levels[node]), rows[node])
            bend = end[0] - 0.6
            strength = 0.6 + 3.4 * network.mutual_information[node] / largest
            ax.plot(
                [begin[0], bend, end[0]], [begin[1], end[1], end[1]],
                color=EDGE_COLOUR, linewidth=strength, zorder=1, solid_capstyle="round",
            )  # fmt: skip
        area = 30 + 170 * network.relevance / max(network.relevance.max(initial=0), 1e-12)
        colours = np.where(network.levels == 1, STRONG_COLOUR, WEAK_COLOUR)
        ax.scatter(network.levels, rows, s=area, c=list(colours), zorder=2)
        ax.scatter([0], [middle], s=200, c=CLASS_COLOUR, marker="s", zorder=2)
        for node, name in enumerate(network.names):
            _label(ax, float(network.levels[node]), rows[node], name)
        _label(ax, 0.0, middle, network.class_name, weight="bold")
        ax.set_xlim(-0.15, depth + 1.1)
        ax.set_ylim(rows.max(initial=0) + 0.7, -0.7)
        ax.set_axis_off()
        self.ax_, self.figure_ = ax, ax.get_figure()  # type: ignore[assignment]
        return self


def _rows(network: TreeNetwork) -> NDArray[np.float64]:
    """The height of each node: leaves one below another, parents beside the middle of their children."""
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
    shown = text if len(text) <= 34 else text[:33] + "…"
    ax.annotate(
        shown.replace("$", r"\$"), (x, y), xytext=(9, 0), textcoords="offset points", va="center",
        fontsize=8.5, fontweight=weight, zorder=3,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6, "alpha": 0.85},
    )  # fmt: skip


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(
            "Plots need matplotlib: pip install matplotlib, or slfs with its extra 'plot'."
        ) from error
    return pyplot
