"""Comparisons -> pictures of the page."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.figures import COLOURS, OURS, save


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
        own = name == ours
        ax.plot(
            positions, means[name], color=colours[name], linewidth=3 if own else 1.3, marker="o",
            markersize=5 if own else 3, zorder=3 if own else 2, linestyle="-" if index % 2 or own else "--",
        )  # fmt: skip
    low, high = ax.get_ylim()
    if everything is not None:
        low, high = min(low, 100 * everything - 0.5), max(high, 100 * everything + 0.5)
        ax.axhline(100 * everything, color="black", linewidth=0.8, linestyle=":")
        ax.text(0, 100 * everything, "all columns", fontsize=8, va="bottom")
    ax.set_ylim(low, high)
    heights = _spread(means.iloc[-1][order].to_numpy(), (high - low) / 24)
    for name, height in zip(order, heights, strict=True):
        weight = "bold" if name == ours else "normal"
        ax.annotate(
            f"{name} {means[name].iloc[-1]:.1f}", (positions[-1], means[name].iloc[-1]),
            (positions[-1] + 0.12, height), fontsize=8, va="center", color=colours[name], fontweight=weight,
            arrowprops={"arrowstyle": "-", "color": colours[name], "linewidth": 0.5}, annotation_clip=False,
        )  # fmt: skip
    ax.set_xlim(-0.1, len(means) - 1 + 0.75)
    ax.set_xticks(positions, [str(size) for size in means.index])
    ax.set_xlabel("number of columns")
    ax.set_ylabel("mean accuracy, %")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", linewidth=0.4, alpha=0.6)
    save(figure, path)


def _spread(values: np.ndarray[tuple[int], np.dtype[np.float64]], gap: float) -> list[float]:
    """Move descending values apart, so that neighbours have at least this distance."""
    heights: list[float] = []
    for value in values:
        heights.append(min(float(value), heights[-1] - gap) if heights else float(value))
    shift = (float(np.mean(values)) - float(np.mean(heights))) if heights else 0.0
    return [height + shift for height in heights]
