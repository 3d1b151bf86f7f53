"""A coding -> the names of its levels."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from slfs.coding.codebook import NONE, Coding

_NAMED = 3
"""Number of categories that are named in a group."""


def level_names(coding: Coding, column: int) -> list[str]:
    """Return the names of the levels of a column: intervals, categories, "missing", "rare"."""
    missing, rare = int(coding.columns["missing"][column]), int(coding.columns["rare"][column])
    names = [""] * int(coding.n_levels[column])
    thresholds = coding.column_thresholds(column)
    if column in coding.categories:
        members: list[list[object]] = [[] for _ in names]
        for value, level in coding.categories[column].items():
            members[level].append(value)
        names = [_group_name(values) for values in members]
    elif coding.cut[column]:
        n_intervals = len(names) - (missing != NONE)
        names[:n_intervals] = _intervals(thresholds)[:n_intervals]
    else:
        names[: len(thresholds)] = _distinct(thresholds)
    if rare != NONE:
        names[rare] = f"rare ({int(coding.columns['n_distinct'][column]) - rare} others)"
    if missing != NONE:
        names[missing] = "missing"
    return names


def as_text(value: object) -> str:
    """Convert any value to text that can be encoded in UTF-8."""
    return str(value).encode("utf-8", "replace").decode("utf-8")


def _group_name(values: list[object]) -> str:
    """Name a group of categories by its first ones, which are the most frequent."""
    texts = [as_text(value) for value in values[:_NAMED]]
    n_others = len(values) - len(texts)
    if n_others == 1:
        return ", ".join([*texts, as_text(values[-1])])
    return ", ".join([*texts, f"+{n_others} others"] if n_others else texts)


def _intervals(cuts: NDArray[np.float64]) -> list[str]:
    if len(cuts) == 0:
        return ["all values"]
    texts = _distinct(cuts)
    between = [f"{low} < x ≤ {high}" for low, high in itertools.pairwise(texts)]
    return [f"≤ {texts[0]}", *between, f"> {texts[-1]}"]


def _distinct(values: NDArray[np.float64]) -> list[str]:
    """Format numbers with as few digits as distinguish them, at least six."""
    texts: list[str] = []
    for digits in (6, 9, 12, 17):
        texts = [f"{value:.{digits}g}" for value in values.tolist()]
        if len(set(texts)) == len(texts):
            break
    return texts
