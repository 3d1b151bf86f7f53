"""Comparisons -> pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.statistics import COLUMNS, Friedman
from slfs.datasets.paper import DATASETS
from slfs.files.atomic import replace_file
from slfs.plotting.base import grouped_bars

OURS = "#0b6e99"
COLOURS = [OURS, "#e08e0b", "#7f7f7f", "#b7410e", "#6a994e", "#9d7cbf", "#c2b280", "#4a4e69"]


def accuracy_bars(table: pd.DataFrame, methods: list[str], path: Path) -> None:
    """Draw one panel per classifier with one group of bars per dataset, as in the paper.

    ``table`` is the result of `experiments.statistics.accuracies`.
    """
    figure = Figure(figsize=(11, 2.6 * len(COLUMNS)), layout="constrained")
    axes = figure.subplots(len(COLUMNS), 1, sharex=True)
    datasets = [name for name in DATASETS if name in table.index.get_level_values("dataset")]
    for ax, column in zip(axes, COLUMNS, strict=True):
        part = 100 * table.xs(column, level="column").loc[datasets, methods]
        grouped_bars(ax, part.to_numpy(), methods, COLOURS)
        low = max(0.0, np.floor(part.min().min() / 10) * 10 - 5)
        ax.set_ylim(low, 100)
        ax.set_ylabel("accuracy, %" + (" (axis cut)" if low else ""))
        ax.set_title(_title(column), loc="left", fontsize=10)
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(axis="y", linewidth=0.4, alpha=0.6)
        ax.set_axisbelow(True)
    axes[-1].set_xticks(np.arange(len(datasets)), [DATASETS[name].title for name in datasets])
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    save(figure, path)


def mean_accuracy(table: pd.DataFrame, path: Path) -> None:
    """Draw the mean accuracy of each method over datasets and classifiers as one dot.

    ``table`` is the result of `experiments.statistics.accuracies`.
    """
    means = 100 * table.mean().sort_values()
    figure = Figure(figsize=(8, 0.7 + 0.27 * len(means)), layout="constrained")
    ax: Axes = figure.subplots()
    colours = [OURS if name == "SLFS" else "#7d8a92" for name in means.index]
    ax.hlines(list(means.index), means.min() - 2, means.to_numpy(), color="#dfe5e8", linewidth=2)
    ax.scatter(means.to_numpy(), list(means.index), color=colours, s=45, zorder=2)
    for index, (name, value) in enumerate(means.items()):
        weight = "bold" if name == "SLFS" else "normal"
        ax.text(value + 0.6, index, f"{value:.2f}%", va="center", fontsize=9, fontweight=weight)
    ax.set_xlim(means.min() - 2, means.max() + 4)
    ax.set_xlabel("mean accuracy, %")
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    save(figure, path)


def critical_difference(result: Friedman, path: Path, ours: str = "SLFS") -> None:
    """Draw mean ranks on a line; bars join methods without a significant difference (Nemenyi)."""
    ranks, methods = result.ranks.to_numpy(), list(result.ranks.index)
    groups = connected_groups(ranks, result.critical_difference)
    rows = (len(methods) + 1) // 2
    height = 1.1 + 0.24 * rows + 0.12 * len(groups)
    figure = Figure(figsize=(8, height), layout="constrained")
    ax: Axes = figure.subplots()
    low, high = 1.0, float(len(methods))
    top = -0.5 - 0.45 * len(groups)
    ax.plot([low, high], [0, 0], color="black", linewidth=1)
    for tick in range(int(low), int(high) + 1):
        ax.plot([tick, tick], [0, 0.18], color="black", linewidth=1)
        ax.text(tick, 0.28, str(tick), ha="center", va="bottom", fontsize=8)
    for index, (first, last) in enumerate(groups):
        level = -0.35 - 0.45 * index
        ends = [ranks[first] - 0.05, ranks[last] + 0.05]
        ax.plot(ends, [level, level], color="#555555", linewidth=3, solid_capstyle="round")
    for index, (rank, method) in enumerate(zip(ranks, methods, strict=True)):
        left = index < rows
        level = top - (index if left else len(methods) - 1 - index) * 0.85
        edge, side = (low - 0.2, "right") if left else (high + 0.2, "left")
        bold = "bold" if method == ours else "normal"
        colour = OURS if method == ours else "black"
        ax.plot([rank, rank, edge], [0, level, level], color=colour, linewidth=0.8)
        shift = -0.1 if left else 0.1
        ax.text(edge + shift, level, f"{method}  {rank:.2f}", ha=side, va="center", fontsize=9,
                fontweight=bold, color=colour)  # fmt: skip
    ax.plot([low, low + result.critical_difference], [1.5, 1.5], color="black", linewidth=2)
    ax.text(low, 1.7, f"critical difference {result.critical_difference:.2f}", fontsize=8, va="bottom")
    ax.set_xlim(low - 3.2, high + 3.2)
    ax.set_axis_off()
    save(figure, path)


def connected_groups(ranks: Any, difference: float) -> list[tuple[int, int]]:
    """Return the longest runs of sorted ranks within the critical difference (first, last)."""
    found: list[tuple[int, int]] = []
    for first in range(len(ranks)):
        last = int(np.searchsorted(ranks, ranks[first] + difference, side="right")) - 1
        if last > first and (not found or last > found[-1][1]):
            found.append((first, last))
    return found


def _title(column: str) -> str:
    return "BNSLFS for SLFS, naive Bayes for the others" if column == "Bayes" else column


def save(figure: Figure, path: Path) -> None:
    """Write a figure to a file, the same bytes for the same figure."""
    replace_file(path, lambda draft: figure.savefig(draft, dpi=110, metadata={"Software": None}))
