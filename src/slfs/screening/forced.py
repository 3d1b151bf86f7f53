"""The parameters include, exclude and condition_on -> what they mean for each column."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slfs._core.interface import parameter
from slfs.measures.adjusted_numbers import AnyCovariates
from slfs.measures.beyond import Baseline
from slfs.screening.reasons import SIGNIFICANT, Reason
from slfs.tables.choice import resolve_columns, resolve_groups

Ints = NDArray[np.int64]

FORCED = (Reason.INCLUDED, Reason.CONDITIONING)
"""Columns that are packed whatever they tell about the class."""

_MOST_INTERVALS = 10


@dataclass(frozen=True)
class Forced:
    """What the user has decided about each column.

    Attributes
    ----------
    reason : ndarray of int8 of shape (n_columns,)
        `Reason.INCLUDED`, `Reason.EXCLUDED` or `Reason.CONDITIONING`; `Reason.CANDIDATE` for columns
        about which the method decides.
    covariates : Covariates, NumberCovariates or None
        The model of the class given the conditioning columns, for tests; None without such columns.
    baseline : Baseline or None
        The same model, for the information of other columns: with weights and all classes.
    group : ndarray of shape (n_columns,) or None
        Number of the group of each column, -1 for none; None without groups.
    group_names : tuple of str
        Names of the groups.
    found : ndarray of bool of shape (n_columns,) or None
        Columns that certainly depend on the class given the conditioning columns.
    """

    reason: NDArray[np.int8]
    covariates: AnyCovariates | None = None
    baseline: Baseline | None = None
    group: Ints | None = None
    group_names: tuple[str, ...] = ()
    found: NDArray[np.bool_] | None = None

    @property
    def conditioning(self) -> Ints:
        """The conditioning columns."""
        return np.flatnonzero(self.reason == Reason.CONDITIONING)

    @property
    def n_included(self) -> int:
        return int((self.reason == Reason.INCLUDED).sum())

    def in_group(self, columns: Ints) -> NDArray[np.bool_]:
        """Return which columns are judged together with others."""
        if self.group is None:
            return np.zeros(len(columns), np.bool_)
        free = self.reason[columns] == Reason.CANDIDATE
        grouped: NDArray[np.bool_] = free & (self.group[columns] >= 0)
        return grouped

    def coded_as(self, columns: Ints) -> NDArray[np.int8]:
        """Return the reason after which the levels of columns are learned.

        A column of a group needs levels, as an included one does, whatever it tells on its own, and so
        does one that depends on the class given the conditioning columns.
        """
        own, needed = self.reason[columns], self.in_group(columns)
        if self.found is not None:
            needed = needed | (self.found[columns] & (own == Reason.CANDIDATE))
        return np.where(needed, Reason.INCLUDED, own).astype(np.int8)

    def with_found(self, columns: Ints, found: NDArray[np.bool_]) -> Forced:
        """Take note of which of some columns depend on the class given the conditioning columns."""
        every = np.zeros(len(self.reason), np.bool_)
        every[columns] = found
        return replace(self, found=every)

    def judge(
        self,
        columns: Ints,
        judged: NDArray[np.int8],
        p_values: NDArray[np.float64],
        own_p_values: NDArray[np.float64],
        unused: NDArray[np.bool_],
    ) -> NDArray[np.int8]:
        """Adapt the reasons of some columns, which were judged on their own.

        With conditioning columns, ``p_values`` are given these, and ``own_p_values`` without them: only
        what is significant on its own can be explained by others. ``unused`` columns distinguish only
        missing values, and these are not significant.
        """
        own, reasons = self.reason[columns], judged.copy()
        if self.covariates is not None:
            kept = (reasons == Reason.CANDIDATE) | (reasons == Reason.NOT_SIGNIFICANT)
            dropped = np.where(own_p_values > SIGNIFICANT, Reason.NOT_SIGNIFICANT, Reason.EXPLAINED)
            reasons = np.where(kept & unused, Reason.GAPS_NOT_SIGNIFICANT, reasons)
            reasons = np.where(kept & (p_values > SIGNIFICANT), dropped, reasons)
        reasons[self.in_group(columns)] = Reason.CANDIDATE
        return np.where(own == Reason.CANDIDATE, reasons, own).astype(np.int8)


EXPLAINED_SHARE = 0.5
"""Maximum share of its information that a column has left given the columns that explain it."""


def read_forced(selector: Any, n_columns: int, names: NDArray[Any] | None) -> Forced | None:
    """Resolve the parameters of a selector that list columns; None if it has none.

    Columns that are in two of include, exclude and condition_on are an error, and groups that are only
    partly in one of them.
    """
    own = (selector.include, selector.exclude, selector.condition_on)
    if all(choice is None for choice in own) and selector.feature_groups is None:
        return None
    forced = _read_lists(*own, n_columns, names)
    if selector.feature_groups is None:
        return forced
    group, found = resolve_groups(selector.feature_groups, n_columns, names, "feature_groups")
    for number, name in enumerate(found):
        members = np.flatnonzero(group == number)
        if len(np.unique(forced.reason[members])) > 1:
            raise ValueError(
                f"Some columns of the group {name!r} are in {parameter('include')}, "
                f"{parameter('exclude')} or {parameter('condition_on')}, others "
                "are not. List all of them or none."
            )
    return replace(forced, group=group, group_names=tuple(found))


def _read_lists(
    include: Any, exclude: Any, condition_on: Any, n_columns: int, names: NDArray[Any] | None
) -> Forced:
    reason = np.full(n_columns, Reason.CANDIDATE, np.int8)
    lists = {
        "include": (include, Reason.INCLUDED),
        "exclude": (exclude, Reason.EXCLUDED),
        "condition_on": (condition_on, Reason.CONDITIONING),
    }
    of_reason = {own: name for name, (_, own) in lists.items()}
    for name, (choice, own) in lists.items():
        columns = resolve_columns(choice, n_columns, names, name)
        taken = columns[reason[columns] != Reason.CANDIDATE]
        if len(taken):
            other = of_reason[Reason(int(reason[taken[0]]))]
            shown = [str(column if names is None else names[column]) for column in taken[:5].tolist()]
            raise ValueError(
                f"Columns are in {other!r} and in {name!r}: {', '.join(shown)}. A column can be in "
                "one of the two only."
            )
        reason[columns] = own
    if not np.isin(reason, (Reason.CANDIDATE, Reason.INCLUDED)).any():
        given = [repr(name) for name, (_, own) in lists.items() if (reason == own).any()]
        raise ValueError(
            f"{' and '.join(given)} list{'s' * (len(given) == 1)} all columns. Leave at least one that "
            "can be selected."
        )
    return Forced(reason)


def n_intervals(n_samples: int) -> int:
    """Return the number of equal-frequency intervals of a conditioning column of numbers.

    Few intervals leave much of what the column explains unexplained, many cost parameters.
    """
    return min(max(round(math.sqrt(n_samples) / 2), 4), _MOST_INTERVALS)
