"""Shared by all displays: creating the figure, colours, saving."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from slfs.files.atomic import replace_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CLASS, STRONG, WEAK, DROPPED = "#222222", "#0b6e99", "#e08e0b", "#9aa5ad"
PALETTE = (STRONG, WEAK, "#6a994e", "#b7410e", "#9d7cbf", "#7f7f7f", "#c2b280", "#4a4e69")
"""Blue for children of the class, orange for deeper nodes, grey for dropped columns."""


class Display(ABC):
    """Base of the displays: a plot that is drawn when `plot` is called.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    ax_: Axes
    figure_: Figure

    def plot(self, *, ax: Axes | None = None) -> Self:
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw in; by default those of a new figure.

        Returns
        -------
        self : object
        """
        if ax is None:
            ax = _new_figure(self._size()).subplots()
        self._draw(ax)
        figure: Any = ax.get_figure()
        self.ax_, self.figure_ = ax, figure
        return self

    def save(self, path: str | Path) -> None:
        """Save the plot to a file; the suffix decides the format (.png, .svg, .pdf).

        Parameters
        ----------
        path : str or Path
            File to write. An existing file is replaced.
        """
        if not hasattr(self, "figure_"):
            self.plot()
        replace_file(Path(path), lambda draft: self.figure_.savefig(draft, dpi=150))

    def _size(self) -> tuple[float, float]:
        """Width and height of a new figure, in inches."""
        return 6.4, 4.4

    @abstractmethod
    def _draw(self, ax: Axes) -> None:
        """Draw into the axes."""


def grouped_bars(
    ax: Axes,
    heights: NDArray[np.float64],
    labels: Sequence[str],
    colours: Sequence[str],
    errors: NDArray[np.float64] | None = None,
) -> None:
    """Draw groups of bars at x = 0, 1, ...: rows of ``heights`` are groups, columns the bars in them."""
    n_groups, n_bars = heights.shape
    width = 0.84 / n_bars
    for index, label in enumerate(labels):
        ax.bar(
            np.arange(n_groups) + (index - (n_bars - 1) / 2) * width,
            heights[:, index],
            width * 0.92,
            yerr=None if errors is None else errors[:, index],
            color=colours[index % len(colours)],
            label=label,
            error_kw={"linewidth": 0.8, "alpha": 0.6},
        )


def plain(text: str, longest: int = 34) -> str:
    """Shorten a name and escape $ so that matplotlib does not read it as a formula."""
    shown = text if len(text) <= longest else text[: longest - 1] + "…"
    return shown.replace("$", r"\$")


def _new_figure(size: tuple[float, float]) -> Figure:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(
            "Plots need matplotlib, which is not installed: pip install 'slfs[plot]'"
        ) from error
    return pyplot.figure(figsize=size, layout="constrained")
