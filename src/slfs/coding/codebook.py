"""The mapping of values to levels: learned from a block of columns, applied to later tables."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slfs._core.ragged import ragged, starts
from slfs.tables.dates import TimeKind
from slfs.tables.table import Alleles

MAX_LEVELS = 255
"""A categorical column with more levels keeps the most frequent ones and pools the rest."""

NONE = -1
"""Level of rare, missing or new values in columns without a level of such values."""

Level = np.int16
"""dtype of a level or NONE; small, because there may be millions of columns."""

COLUMN = np.dtype(
    [
        ("cut", np.bool_),
        ("ordered", np.bool_),
        ("n_levels", np.int32),
        ("n_distinct", np.int64),
        ("rare", Level),
        ("missing", Level),
        ("new", Level),
        ("few_missing", np.bool_),
        ("fallback", Level),
        ("low", np.float64),
        ("high", np.float64),
        ("gap", np.float64),
        ("time_kind", np.int8),
        ("rounded", np.bool_),
        ("boolean", np.bool_),
    ]
)
"""dtype of the record of a column; see `Coding`."""


@dataclass(frozen=True)
class Coding:
    """Mapping of the values of columns to levels 0, 1, 2, ...

    Attributes
    ----------
    columns : structured ndarray of shape (n_columns,)
        One record per column, with these fields:

        - ``cut``: whether the column is numeric and cut into intervals; other columns are categorical.
        - ``ordered``: whether the column has ordered categories, of which neighbours are joined.
        - ``n_levels``: number of levels, including those of rare and missing values.
        - ``rare``, ``missing``: level of pooled categories and of missing values; -1 if there is none.
        - ``new``: level of categories that were not seen in ``fit``; -1 if nothing is known about them.
          If most categories occur once, or all have the same level, new ones have that level too.
        - ``few_missing``: whether too few samples of a selected column were missing to learn what that
          means. Missing values are unknown then.
        - ``n_distinct``: number of distinct values of a categorical column before pooling; 0 for other
          columns.
        - ``fallback``: the most frequent level, to which `MDLPDiscretizer` assigns values not seen in
          ``fit``, if no values were missing and new categories have no level.
        - ``low``, ``high``: smallest and largest value of a column of numbers; NaN for other columns.
        - ``gap``: smallest distance between a cut point and a value of a column of numbers; 0 for other
          columns.
        - ``time_kind``: what the numbers stand for, a `slfs.tables.dates.TimeKind`.
        - ``rounded``: whether different integers of the column are the same 64-bit float.
        - ``boolean``: whether the numbers are 0 for False and 1 for True.
    offset, thresholds : ndarray
        ``thresholds[offset[j]:offset[j + 1]]`` are the cut points of column j, or the values of a
        categorical column of numbers. The code of a value is the number of thresholds below it.
    categories : dict
        Level of each value, for each categorical column that contains other values than numbers, or more
        than MAX_LEVELS numbers.
    alleles : dict
        What the numbers of a column of genotypes count: its counted and its other allele.
    """

    columns: NDArray[np.void]
    offset: NDArray[np.int64]
    thresholds: NDArray[np.float64]
    categories: dict[int, dict[Any, int]] = field(default_factory=dict)
    alleles: dict[int, Alleles] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def cut(self) -> NDArray[np.bool_]:
        return self.columns["cut"]

    @property
    def n_levels(self) -> NDArray[np.int64]:
        return self.columns["n_levels"].astype(np.int64)

    @property
    def only_missing(self) -> NDArray[np.bool_]:
        """Which columns distinguish only whether a value is missing."""
        found: NDArray[np.bool_] = (self.columns["missing"] != NONE) & (self.n_levels == 2)
        return found

    def time_kind(self, column: int) -> TimeKind:
        return TimeKind(int(self.columns["time_kind"][column]))

    def column_thresholds(self, column: int) -> NDArray[np.float64]:
        return self.thresholds[self.offset[column] : self.offset[column + 1]]

    def take(self, columns: NDArray[np.int64]) -> Coding:
        """Return the coding of some of the columns."""
        offset, source = ragged(self.offset[columns], np.diff(self.offset)[columns])
        named = self.categories or self.alleles
        position = {int(old): new for new, old in enumerate(columns)} if named else {}
        return Coding(
            self.columns[columns],
            offset,
            self.thresholds[source],
            {position[old]: levels for old, levels in self.categories.items() if old in position},
            {position[old]: pair for old, pair in self.alleles.items() if old in position},
        )


def join_codings(codings: list[Coding]) -> Coding:
    """Concatenate the codings of consecutive columns.

    The list is emptied to save memory: only one field at a time is in memory twice.
    """
    first = list(itertools.accumulate((len(coding) for coding in codings), initial=0))
    categories, alleles = (
        {
            start + column: own
            for start, coding in zip(first, codings, strict=False)
            for column, own in getattr(coding, name).items()
        }
        for name in ("categories", "alleles")
    )
    lengths = np.concatenate([np.diff(coding.offset) for coding in codings])
    columns = [coding.columns for coding in codings]
    thresholds = [coding.thresholds for coding in codings]
    codings.clear()
    return Coding(join_arrays(columns), starts(lengths), join_arrays(thresholds), categories, alleles)


def join_arrays(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """Concatenate the arrays of a list, and empty it."""
    joined = np.concatenate(parts)
    parts.clear()
    return joined


def make_columns(n_columns: int, **fields: Any) -> NDArray[np.void]:
    """Create records of columns; fields that are not given have their default value."""
    columns = np.zeros(n_columns, COLUMN)
    for name in ("rare", "missing", "new"):
        columns[name] = NONE
    columns["low"] = columns["high"] = np.nan
    for name, values in fields.items():
        columns[name] = values
    return columns


@dataclass(frozen=True)
class Learned:
    """Result of learning from a block of columns: its coding, and the counts of each level and class.

    ``class_counts`` contains n_levels rows of n_classes counts for each column. ``seen_counts`` contains
    the same without weights, as `SampleLayout.tested` counts, for columns of categories that are not
    grouped yet; None where weights do not matter any more or there are none. ``all_values`` contains,
    for such columns with pooled values, the class counts of each single value, in the order of the
    categories, and the same without weights.
    """

    coding: Coding
    class_counts: NDArray[np.int64]
    seen_counts: NDArray[np.int64] | None = None
    all_values: dict[int, tuple[NDArray[np.int64], NDArray[np.int64]]] = field(default_factory=dict)

    def take(self, columns: NDArray[np.int64]) -> Learned:
        """Return the result for some of the columns."""
        n_levels = self.coding.n_levels
        width = self.class_counts.size // max(int(n_levels.sum()), 1)
        _, rows = ragged(starts(n_levels)[:-1][columns], n_levels[columns])
        counts = self.class_counts.reshape(-1, width)[rows].reshape(-1)
        return Learned(self.coding.take(columns), counts)


def join_learned(parts: Sequence[Learned]) -> Learned:
    """Concatenate the results of consecutive columns."""
    seen = [part.seen_counts for part in parts if part.seen_counts is not None]
    first = itertools.accumulate((len(part.coding) for part in parts), initial=0)
    all_values = {
        start + column: counts
        for start, part in zip(first, parts, strict=False)
        for column, counts in part.all_values.items()
    }
    return Learned(
        join_codings([part.coding for part in parts]),
        np.concatenate([part.class_counts for part in parts]),
        np.concatenate(seen) if len(seen) == len(parts) else None,
        all_values,
    )


def missing_codes(coding: Coding) -> NDArray[np.uint8]:
    """Return the code of missing values in each column; the most frequent level if there were none.

    Unknown values also get this code, where a code is needed.
    """
    missing, fallback = coding.columns["missing"], coding.columns["fallback"]
    return np.where(missing != NONE, missing, fallback).astype(np.uint8)
