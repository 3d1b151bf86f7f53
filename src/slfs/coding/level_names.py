"""A coding -> the names of its levels."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from slfs._core.rounding import short_number
from slfs.coding.codebook import NONE, Coding
from slfs.tables.dates import TimeKind, as_date

_ALL = "all values"
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
        if coding.time_kind(column) == TimeKind.DATE:  # the categories are numbers of days
            members = [[as_date(float(str(day))) for day in group] for group in members]
        elif coding.columns["boolean"][column]:
            members = [[bool(value) for value in group] for group in members]
        ordered = bool(coding.columns["ordered"][column])
        names = [_range_name(values) if ordered else _group_name(values) for values in members]
        if (new := int(coding.columns["new"][column])) not in (NONE, rare):
            names[new] = f"new or {names[new]}"
    elif coding.cut[column]:
        n_intervals = len(names) - (missing != NONE)
        names[:n_intervals] = _intervals(threshold_texts(coding, column))[:n_intervals]
    else:
        names[: len(thresholds)] = threshold_texts(coding, column)
    if rare != NONE:
        n_others = int(coding.columns["n_distinct"][column]) - rare
        names[rare] = f"rare ({n_others} others)" if rare else _ALL
    if missing != NONE:
        names[missing] = "missing"
        names = ["not missing" if name == _ALL else name for name in names]
    return names


def as_text(value: object) -> str:
    """Convert any value to text that can be encoded in UTF-8."""
    return str(value).encode("utf-8", "replace").decode("utf-8")


def _group_name(values: list[object]) -> str:
    """Name a group of categories by its first ones, which are the most frequent."""
    texts = [_category_text(value) for value in values[:_NAMED]]
    n_others = len(values) - len(texts)
    if n_others == 1:
        return ", ".join([*texts, _category_text(values[-1])])
    return ", ".join([*texts, f"+{n_others} others"] if n_others else texts)


def _range_name(values: list[object]) -> str:
    """Name neighbouring categories by the first and the last one."""
    ends = [_category_text(value) for value in (*values[:1], *values[1:][-1:])]
    return "..".join(ends)


def _category_text(value: object) -> str:
    """Write a category; integers that were read as floats without a decimal point."""
    return as_text(int(value) if isinstance(value, float) and value.is_integer() else value)


def threshold_texts(coding: Coding, column: int) -> list[str]:
    """Write the thresholds with as few digits as separate the same values; dates as dates."""
    values = coding.column_thresholds(column)
    texts: list[str] = []
    formats: list[Callable[[float], str]]
    gap = np.inf
    if coding.columns["boolean"][column]:
        formats = [lambda value: str(bool(value))]
    elif coding.time_kind(column) == TimeKind.DATE:
        formats = [functools.partial(as_date, timespec=spec) for spec in ("seconds", "microseconds")]
    else:
        formats = [functools.partial(short_number, digits=digits) for digits in (6, 9, 12, 15, 17)]
        gap = float(coding.columns["gap"][column])
    for write in formats:
        texts = [write(value) for value in values.tolist()]
        if len(set(texts)) == len(texts) and (np.isinf(gap) or _are_near(texts, values, gap)):
            break
    return texts


def _are_near(texts: list[str], values: NDArray[np.float64], gap: float) -> bool:
    """Return whether no value of the column is between a threshold and its text."""
    written = np.array(list(map(float, texts)))
    with np.errstate(over="ignore", invalid="ignore"):  # infinite values are equal to theirs
        near = np.abs(written - values) < gap
    return bool(((written == values) | near).all())


def plain_cuts(coding: Coding, column: int) -> list[float] | list[str]:
    """Return the cut points of a column, for JSON: numbers, or dates as text."""
    if not coding.cut[column]:
        return []
    if coding.time_kind(column) == TimeKind.DATE:
        return threshold_texts(coding, column)
    numbers: list[float] = coding.column_thresholds(column).tolist()
    return numbers


def _intervals(texts: list[str]) -> list[str]:
    if not texts:
        return [_ALL]
    between = [f"{low} < x ≤ {high}" for low, high in itertools.pairwise(texts)]
    return [f"≤ {texts[0]}", *between, f"> {texts[-1]}"]
