"""Why a column was selected or dropped, as data. `slfs.selectors._shared.sentences` makes sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import Any

SIGNIFICANT = 0.05
"""Maximum q-value of a column that counts as dependent on the class: no role contradicts it."""


class Role(StrEnum):
    """Role of a column: the four kinds of the paper, and others where these would be wrong."""

    STRONG = "strongly relevant"
    WEAK = "weakly relevant, non-redundant"
    SUPPORTING = "supporting"  # in the tree, but adds nothing significant to its parent alone
    TENTATIVE = "tentative"  # in the tree, but not significant
    INCLUDED = "included"  # by the user, and not significant
    SELECTED = "selected"  # by a method without a tree
    REDUNDANT = "redundant"
    NO_ROOM = "no room"  # adds information, but the tree is full
    OUTRANKED = "outranked"
    UNCONFIRMED = "unconfirmed"  # selected in too few subsamples
    TOO_WEAK = "too weak"  # depends on the class, but too weakly
    IRRELEVANT = "irrelevant"
    EXCLUDED = "excluded"  # by the user
    CONDITIONING = "conditioned on"  # by the user


class Reason(IntEnum):
    """Why a column is selected or dropped. A `Decision` adds the figures to it."""

    CANDIDATE = 0  # not decided yet
    SELECTED = 1
    # irrelevant or too weak: decided for the column on its own
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
    ONE_GROUP = 13
    EQUAL_AS_FLOATS = 14
    NO_GAIN = 15
    ALL_MISSING = 16
    CRITERION_NOT_MET = 17  # by any column
    GAPS_NOT_SIGNIFICANT = 18  # and its numbers are not cut
    # redundant: because of other columns
    DUPLICATE = 20
    NEAR_DUPLICATE = 21
    ADDS_NOTHING = 22
    CLOSER_TO_ANOTHER = 23
    SEPARATED = 24
    EXPLAINED = 25  # by the conditioning columns
    # dropped although it adds information
    NO_ROOM = 30
    # outranked: other columns were preferred
    OUTRANKED = 40
    BEYOND_SIZE = 41
    # unconfirmed: decided by the subsamples
    RARELY_SELECTED = 42
    NO_THRESHOLD = 43
    # decided by the user
    INCLUDED = 50
    EXCLUDED = 51
    CONDITIONING = 52

    @property
    def label(self) -> str:
        """The reason in a few words, as in ``features_["reason"]``."""
        return self.name.lower().replace("_", " ")

    @property
    def role(self) -> Role:
        """The role of a column that is dropped for this reason, without regard to its q-value."""
        if self < Reason.DUPLICATE:
            return Role.IRRELEVANT
        if self == Reason.NO_ROOM:
            return Role.NO_ROOM
        if self in _OWN_ROLES:
            return _OWN_ROLES[self]
        return Role.REDUNDANT if self <= Reason.EXPLAINED else Role.OUTRANKED


_OWN_ROLES = {
    Reason.RARELY_SELECTED: Role.UNCONFIRMED,
    Reason.NO_THRESHOLD: Role.UNCONFIRMED,
    Reason.INCLUDED: Role.SELECTED,
    Reason.EXCLUDED: Role.EXCLUDED,
    Reason.CONDITIONING: Role.CONDITIONING,
}

BY_LABEL = {reason.label: reason for reason in Reason}


@dataclass(frozen=True)
class Decision:
    """A reason with the figures that a sentence about it needs."""

    reason: Reason
    figures: Mapping[str, Any] = field(default_factory=dict)
