"""Comparisons -> pictures of the page."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from experiments.figures import COLOURS, OURS, save

Floats = NDArray[np.float64]


def accuracy_by_size(table: pd.DataFrame, ours: str, everything: float | None, path: Path) -> None:
    """Draw the mean accuracy of each method at each size as one line per method.

    ``table`` has a row per number of columns and a column per method; ``everything`` is the mean
    accuracy with all columns.
    """
    means = 100 * table
    figure = Figure(figsize=(9, 5.4), layout="constrained")
    ax: Axes = figure.subplots()
    positions = np.arange(len(means))
    order = means.iloc[-1].sort_values(ascending=False).index
    others = [name for name in order if name != ours]
    colours = dict(zip(others, [*COLOURS[1:]] * len(others), strict=False)) | {ours: OURS}
    for index, name in enumerate(order):
        width, size, level = (3.0, 5, 3) if name == ours else (1.3, 3, 2)
        style = "--" if index % 2 and name != ours else "-"
        ax.plot(positions, means[name], style, color=colours[name], linewidth=width, zorder=level)
        ax.plot(positions, means[name], "o", color=colours[name], markersize=size, zorder=level)
    low, high = ax.get_ylim()
    if everything is not None:
        low, high = min(low, 100 * everything - 0.5), max(high, 100 * everything + 0.5)
        ax.axhline(100 * everything, color="black", linewidth=0.8, linestyle=":")
        ax.text(0, 100 * everything, "all columns", fontsize=8, va="bottom")
    ax.set_ylim(low, high)
    ends = means.iloc[-1][order].to_numpy()
    for name, end, height in zip(order, ends, _spread(ends, (high - low) / 26), strict=True):
        ax.annotate(
            f"{name} {end:.1f}",
            (positions[-1], end),
            (positions[-1] + 0.15, height),
            fontsize=8,
            va="center",
            color=colours[name],
            fontweight="bold" if name == ours else "normal",
            arrowprops={
                "arrowstyle": "-", "color": colours[name], "linewidth": 0.5, "relpos": (0, 0.5)
            },
        )  # fmt: skip
    ax.set_xlim(-0.1, len(means) - 1 + 0.75)
    ax.set_xticks(positions, [str(size) for size in means.index])
    ax.set_xlabel("number of columns")
    ax.set_ylabel("mean accuracy, %")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", linewidth=0.4, alpha=0.6)
    save(figure, path)


def _spread(values: Floats, gap: float) -> Floats:
    """Move descending values apart, so that neighbours have at least this distance."""
    heights = np.array(values, np.float64)
    for _ in range(1000):
        overlap = np.maximum(gap - (heights[:-1] - heights[1:]), 0)
        if overlap.max(initial=0) < gap / 100:
            break
        heights[:-1] += overlap / 2
        heights[1:] -= overlap / 2
    return heights
