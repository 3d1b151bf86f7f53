"""Why a column was selected or dropped, as data. `slfs.selectors._shared.sentences` makes sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import Any


class Role(StrEnum):
    """Role of a column: the four kinds of the paper, and two for methods without a tree."""

    STRONG = "strongly relevant"
    WEAK = "weakly relevant, non-redundant"
    SELECTED = "selected"
    REDUNDANT = "redundant"
    OUTRANKED = "outranked"
    IRRELEVANT = "irrelevant"


class Reason(IntEnum):
    """Why a column is selected or dropped. A `Decision` adds the figures to it."""

    CANDIDATE = 0  # not decided yet
    SELECTED = 1
    # irrelevant: decided for the column on its own
    CONSTANT = 2
    NO_CUT = 3
    NO_INFORMATION = 4
    COSTS_MORE = 5
    NOT_SIGNIFICANT = 6
    MERGED = 7
    EQUATION_7 = 8
    LOW_UNCERTAINTY = 9
    INDEPENDENT = 10
    TOO_FEW_SAMPLES = 11
    NOT_AFFORDABLE = 12
    # redundant: because of other columns
    NO_ROOM = 13
    CLOSER_TO_ANOTHER = 14
    SEPARATED = 15
    # outranked: other columns were preferred
    OUTRANKED = 16
    BEYOND_SIZE = 17
    RARELY_SELECTED = 18
    NO_THRESHOLD = 19

    @property
    def label(self) -> str:
        """The reason in a few words, as in ``features_["reason"]``."""
        return self.name.lower().replace("_", " ")

    @property
    def role(self) -> Role:
        """The role of a column that is dropped for this reason."""
        if self <= Reason.NOT_AFFORDABLE:
            return Role.IRRELEVANT
        return Role.REDUNDANT if self <= Reason.SEPARATED else Role.OUTRANKED


BY_LABEL = {reason.label: reason for reason in Reason}


@dataclass(frozen=True)
class Decision:
    """A reason with the figures that a sentence about it needs."""

    reason: Reason
    figures: Mapping[str, Any] = field(default_factory=dict)
