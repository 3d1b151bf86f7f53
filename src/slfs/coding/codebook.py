"""How columns become levels: what a block has taught, and what codes a later table by it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slfs._core.ragged import ragged, starts

MAX_LEVELS = 255
"""A categorical column with more levels keeps the most frequent ones and pools the rest."""

NONE = -1

Level = np.int16
"""The type of a level, or NONE: there may be millions of columns."""


@dataclass(frozen=True)
class Coding:
    """How columns become levels 0, 1, 2, ...: arrays with one entry for each column.

    Attributes
    ----------
    mdlp : ndarray of bool
        Cut by MDLP. The other columns are categorical.
    n_levels : ndarray of int
        Levels, that of pooled categories and that of missing values included.
    rare, missing : ndarray of int
        The level of pooled categories and of missing values; -1 where there is none.
    n_distinct : ndarray of int
        Different values of a categorical column before any were pooled; 0 for the other columns.
    fallback : ndarray of int
        The most frequent level: the code of what was never seen, where no missing value was seen either.
    low, high : ndarray of float
        The least and the largest value of a column of numbers (NaN for the rest).
    offset, thresholds : ndarray
        ``thresholds[offset[j]:offset[j + 1]]`` are the cut points of column j, or the level values of
        a categorical column of numbers. Code = number of thresholds below the value.
    categories : dict
        For each categorical column that does not hold numbers, or too many of them: the level of each
        value. Which columns are in it decides how a later table is read.
    """

    mdlp: NDArray[np.bool_]
    n_levels: NDArray[np.int64]
    rare: NDArray[Level]
    missing: NDArray[Level]
    n_distinct: NDArray[np.int64]
    fallback: NDArray[Level]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    offset: NDArray[np.int64]
    thresholds: NDArray[np.float64]
    categories: dict[int, dict[Any, int]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.n_levels)

    def column_thresholds(self, column: int) -> NDArray[np.float64]:
        return self.thresholds[self.offset[column] : self.offset[column + 1]]

    def take(self, columns: NDArray[np.int64]) -> Coding:
        """The coding of some of the columns."""
        offset, source = ragged(self.offset[columns], np.diff(self.offset)[columns])
        place = {int(old): new for new, old in enumerate(columns)} if self.categories else {}
        return Coding(
            self.mdlp[columns],
            self.n_levels[columns],
            self.rare[columns],
            self.missing[columns],
            self.n_distinct[columns],
            self.fallback[columns],
            self.low[columns],
            self.high[columns],
            offset,
            self.thresholds[source],
            {place[old]: levels for old, levels in self.categories.items() if old in place},
        )


def join_codings(codings: list[Coding]) -> Coding:
    """Put the codings of consecutive columns one after another.

    The list is emptied: where nobody else holds the parts, one field at a time is in memory twice.
    """
    first = itertools.accumulate((len(coding) for coding in codings), initial=0)
    categories = {
        start + column: levels
        for start, coding in zip(first, codings, strict=False)
        for column, levels in coding.categories.items()
    }
    lengths = np.concatenate([np.diff(coding.offset) for coding in codings])
    fields = [
        [getattr(coding, name) for coding in codings]
        for name in (
            "mdlp", "n_levels", "rare", "missing", "n_distinct", "fallback", "low", "high", "thresholds",
        )
    ]  # fmt: skip
    codings.clear()
    mdlp, n_levels, rare, missing, n_distinct, fallback, low, high, thresholds = map(join_arrays, fields)
    return Coding(
        mdlp,
        n_levels,
        rare,
        missing,
        n_distinct,
        fallback,
        low,
        high,
        starts(lengths),
        thresholds,
        categories,
    )


def join_arrays(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """Concatenate the arrays of a list, and empty it."""
    joined = np.concatenate(parts)
    parts.clear()
    return joined


@dataclass(frozen=True)
class Learned:
    """What a block of columns has taught: its coding, and the counts of each level and class.

    ``class_counts`` holds, column after column, n_levels rows of n_classes counts.
    """

    coding: Coding
    class_counts: NDArray[np.int64]


def join_learned(parts: Sequence[Learned]) -> Learned:
    """Put what consecutive columns have taught one after another."""
    return Learned(
        join_codings([part.coding for part in parts]),
        np.concatenate([part.class_counts for part in parts]),
    )


def missing_codes(coding: Coding) -> NDArray[np.uint8]:
    """The code of a missing value in each column, and of one that was never seen."""
    return np.where(coding.missing != NONE, coding.missing, coding.fallback).astype(np.uint8)
