"""The parameters include, exclude and condition_on -> what they mean for each column."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slfs.measures.adjusted import Covariates
from slfs.screening.reasons import SIGNIFICANT, Reason
from slfs.tables.choice import resolve_columns

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
    covariates : Covariates or None
        The model of the class given the conditioning columns; None without such columns.
    """

    reason: NDArray[np.int8]
    covariates: Covariates | None = None

    @property
    def conditioning(self) -> Ints:
        """The conditioning columns."""
        return np.flatnonzero(self.reason == Reason.CONDITIONING)

    @property
    def n_included(self) -> int:
        return int((self.reason == Reason.INCLUDED).sum())

    def judge(
        self, columns: Ints, judged: NDArray[np.int8], p_values: NDArray[np.float64]
    ) -> NDArray[np.int8]:
        """Adapt the reasons of some columns, which were judged on their own."""
        own, reasons = self.reason[columns], judged.copy()
        if self.covariates is not None:
            kept = (reasons == Reason.CANDIDATE) | (reasons == Reason.NOT_SIGNIFICANT)
            reasons[kept & (p_values > SIGNIFICANT)] = Reason.EXPLAINED
        return np.where(own == Reason.CANDIDATE, reasons, own).astype(np.int8)


def read_forced(
    include: Any, exclude: Any, condition_on: Any, n_columns: int, names: NDArray[Any] | None
) -> Forced:
    """Resolve the three parameters; columns that are in two of them are an error."""
    reason = np.full(n_columns, Reason.CANDIDATE, np.int8)
    lists = {
        "include": (include, Reason.INCLUDED),
        "exclude": (exclude, Reason.EXCLUDED),
        "condition_on": (condition_on, Reason.CONDITIONING),
    }
    of_reason = {own: parameter for parameter, (_, own) in lists.items()}
    for parameter, (choice, own) in lists.items():
        columns = resolve_columns(choice, n_columns, names, parameter)
        taken = columns[reason[columns] != Reason.CANDIDATE]
        if len(taken):
            other = of_reason[Reason(int(reason[taken[0]]))]
            shown = [str(column if names is None else names[column]) for column in taken[:5].tolist()]
            raise ValueError(
                f"Columns are in {other!r} and in {parameter!r}: {', '.join(shown)}. A column can be in "
                "one of the two only."
            )
        reason[columns] = own
    if (reason == Reason.EXCLUDED).all():
        raise ValueError("'exclude' lists all columns. Leave at least one that can be selected.")
    return Forced(reason)


def n_intervals(n_samples: int) -> int:
    """Return the number of equal-frequency intervals of a conditioning column of numbers.

    Few intervals leave much of what the column explains unexplained, many cost parameters.
    """
    return min(max(round(math.sqrt(n_samples) / 2), 4), _MOST_INTERVALS)
