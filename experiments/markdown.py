"""Figures -> Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Format a table."""
    rule = ["---"] * len(head)
    cells = ([cell.replace("|", "\\|") for cell in line] for line in [head, rule, *lines])
    return "\n".join("| " + " | ".join(line) + " |" for line in cells)


def seconds(value: float) -> str:
    """Format a time."""
    return f"{value:.3f}" if value < 1 else f"{value:.1f}"


def first(values: pd.Series, count: int = 3) -> str:
    """List the first values with their names."""
    return ", ".join(f"{name} {value:.2f}" for name, value in values.iloc[:count].items())
