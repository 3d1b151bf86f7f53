"""A selection -> words: roles with their colours, templates of the explanations, summaries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from slfs._core.indices import TableIndex
from slfs.screening.reasons import Role
from slfs.selectors._shared.sentences import explain
from slfs.selectors._shared.wording import enumerated
from slfs.selectors.base import BaseSelector


@dataclass(frozen=True)
class RoleWords:
    """How the report shows a role: its colour, a class in parts.css, and its meaning in a few words."""

    tone: str = "grey"
    meaning: str = ""


ROLES: dict[str, RoleWords] = {
    Role.STRONG: RoleWords("blue", "new information about the {noun}, child of the {noun} in the tree"),
    Role.WEAK: RoleWords("orange", "related to another selected column, below it if there is room"),
    Role.SUPPORTING: RoleWords("teal", "adds nothing significant to its parent alone"),
    Role.TENTATIVE: RoleWords("violet", "in the tree, but not significant"),
    Role.INCLUDED: RoleWords("violet", "selected by request (include), but not significant"),
    Role.SELECTED: RoleWords("blue", "selected by a method without a tree"),
    Role.REDUNDANT: RoleWords("grey", "hardly any information that other columns do not have"),
    Role.NO_ROOM: RoleWords("grey", "adds information, but the tree is full"),
    Role.OUTRANKED: RoleWords("grey", "other columns were preferred"),
    Role.UNCONFIRMED: RoleWords(
        "grey", "selected in too few subsamples, or no threshold controls the FDR"
    ),
    Role.TOO_WEAK: RoleWords("pale", "depends on the {noun}, but too weakly"),
    Role.IRRELEVANT: RoleWords("pale", "no reliable information about the {noun}"),
    Role.EXCLUDED: RoleWords("pale", "excluded by request"),
    Role.CONDITIONING: RoleWords("pale", "taken into account, cannot be selected"),
}
"""Words and colours of the roles; {noun} stands for "class" or "target".

A role that is not listed is shown in grey, by its name only.
"""


class _NumberField(float):
    """A number that is formatted as the name of its field, such as {relevance}."""

    field: str

    def __new__(cls, field: str, value: float = 1.0) -> Self:
        made = super().__new__(cls, value)
        made.field = field
        return made

    def __format__(self, _: str) -> str:
        return f"{{{self.field}}}"


class _TextField(str):
    """A string that is formatted as the name of its field, whatever its value."""

    __slots__ = ("field",)
    field: str

    def __new__(cls, field: str, value: str = "") -> Self:
        made = super().__new__(cls, value)
        made.field = field
        return made

    def __format__(self, _: str) -> str:
        return f"{{{self.field}}}"

    def __repr__(self) -> str:
        return f"{{{self.field}}}"


def sentence_templates(selector: BaseSelector) -> Iterator[str]:
    """The sentence of `explain` for each column, with fields such as {relevance} for its own figures.

    Thousands of columns share a few such templates, which keeps the report of a wide table small.
    """
    records, shared = selector.features_, selector._shared_figures()
    known: dict[tuple[Any, ...], str] = {}
    fields = [records[field].tolist() for field in ("role", "reason", "parent", "lost_to")]
    ungiven = np.isnan(records["relevance_given"]).tolist()
    frequencies = getattr(selector, "frequencies_", np.ones(len(records))).tolist()
    for index, (role, reason, parent, lost_to, alone, frequency) in enumerate(
        zip(*fields, ungiven, frequencies, strict=True)
    ):
        own = selector._figures.get(TableIndex(index), {})
        key = (role, reason, parent is None, lost_to is None, alone, frequency, repr(own))
        if key not in known:
            record = {
                "name": _TextField("name"),
                "role": role,
                "reason": reason,
                "parent": None if parent is None else _TextField("other"),
                "lost_to": None if lost_to is None else _TextField("other"),
                "frequency": frequency,
                "relevance": _NumberField("relevance"),
                "mutual_information": _NumberField("mutual_information"),
                "conditional_relevance": _NumberField("conditional_relevance"),
                "relevance_given": np.nan if alone else _NumberField("relevance_given"),
                "p_value": _NumberField("p_value"),
            }
            figures = {**shared, **own, "relevance_share": _NumberField("relevance_share")}
            known[key] = explain(record, figures)
        yield known[key]


def summary(facts: dict[str, Any]) -> str:
    """Summarise a selection in one sentence."""
    selected, total = facts["n_selected"], facts["n_columns"]
    table = f" of {facts['data']}" if facts["data"] else ""
    variable = "the class" if facts["class_name"] == "class" else facts["class_name"]
    if facts["noun"] == "target":
        variable = f"the number {facts['class_name']}"
    classes = "classes" if facts["noun"] == "class" else "bins"
    samples = f"{len(facts['classes'])} {classes}, {facts['size']}"
    if selected == total:
        share = f"all {total:,} columns" if total > 1 else "the only column"
    elif selected == 0:
        share = f"none of the {total:,} columns" if total > 1 else "not even the only column"
    else:
        share = f"{selected:,} of {total:,} columns"
    return f"{facts['method']} selects {share}{table} to predict {variable} ({samples})."


def role_words(role: str) -> RoleWords:
    """Return colour and meaning of a role; grey and no meaning for roles of other packages."""
    return ROLES.get(role, RoleWords())


def role_meaning(role: str, noun: str) -> str:
    """Return the meaning of a role in a few words; ``noun`` is "class" or "target"."""
    return role_words(role).meaning.replace("{noun}", noun)


def dropped_summary(counts: dict[str, int], noun: str) -> str:
    """Say in one sentence why columns were not selected, given their number by role; "" if all were."""
    if not counts:
        return ""
    parts = []
    for role, count in counts.items():
        meaning = role_meaning(role, noun)
        parts.append(f"{count:,} {role}" + (f" ({meaning})" if meaning else ""))
    return f"Not selected: {enumerated(parts)}."


def leak_warning(name: str, share: float, noun: str) -> str:
    """Warn about a column that contains nearly all information about the class or target."""
    what = "the class" if noun == "class" else "the bin of the target"
    return (
        f"Possible target leakage: {name!r} alone contains {100 * share:.3g}% of the information about "
        f"{what}. Drop it if it is derived from the {noun}, or not known when the {noun} is predicted."
    )
