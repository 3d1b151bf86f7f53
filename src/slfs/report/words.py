"""Facts and records -> sentences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from slfs.screening.reasons import Role
from slfs.selectors._shared.sentences import explain
from slfs.selectors.base import BaseSelector


class _NumberField(float):
    """A number that is written as the name of its field."""

    field: str

    def __new__(cls, field: str, value: float = 1.0) -> _NumberField:
        hole = super().__new__(cls, value)
        hole.field = field
        return hole

    def __format__(self, _: str) -> str:
        return f"{{{self.field}}}"


class _TextField(str):
    """A text that is written as the name of its field, whatever it says."""

    __slots__ = ("field",)
    field: str

    def __new__(cls, field: str, value: str = "") -> _TextField:
        hole = super().__new__(cls, value)
        hole.field = field
        return hole

    def __format__(self, _: str) -> str:
        return f"{{{self.field}}}"

    def __repr__(self) -> str:
        return f"{{{self.field}}}"


def sentence_templates(selector: BaseSelector) -> Iterator[str]:
    """The sentence of `explain` for each column, with fields such as {relevance} for its own values.

    Thousands of columns share a few such templates.
    """
    records, shared = selector.features_, selector._shared_figures()
    known: dict[tuple[Any, ...], str] = {}
    fields = [records[field].tolist() for field in ("role", "reason", "parent", "lost_to")]
    nothing_new = (records["conditional_relevance"] < 1e-9).tolist()
    for index, (role, reason, parent, winner, nothing) in enumerate(
        zip(*fields, nothing_new, strict=True)
    ):
        own = selector._figures.get(index, {})
        key = (role, reason, parent is None, winner is None, nothing, repr(own))
        if key not in known:
            record = {
                "name": _TextField("name"),
                "role": role,
                "reason": reason,
                "parent": None if parent is None else _TextField("other"),
                "lost_to": None if winner is None else _TextField("other"),
                "frequency": _NumberField("frequency"),
                "relevance": _NumberField("relevance"),
                "mutual_information": _NumberField("mutual_information"),
                "conditional_relevance": _NumberField("conditional_relevance", 1 - nothing),
            }
            figures = {**shared, **own, "relevance_share": _NumberField("relevance_share")}
            known[key] = explain(record, figures)
        yield known[key]


def summary(facts: dict[str, Any]) -> str:
    """The selection in one sentence."""
    kept, total, roles = facts["n_selected"], facts["n_columns"], facts["role_counts"]
    table = f" of {facts['data']}" if facts["data"] else ""
    variable = "" if facts["class_name"] == "class" else f" of {facts['class_name']}"
    purpose = (
        f"to tell the {len(facts['classes'])} classes{variable} apart ({facts['n_samples']:,} samples)"
    )
    if kept == total:
        share = f"all {total:,} columns" if total > 1 else "the only column"
    elif kept == 0:
        share = f"none of the {total:,} columns" if total > 1 else "not even the only column"
    else:
        share = f"{kept:,} of {total:,} columns"
    parts = []
    if facts["depth"] > 1:
        direct = sum(node["level"] == 1 for node in facts["nodes"])
        parts.append(f"{direct} directly below the class and {kept - direct} deeper in the tree")
    dropped = [
        f"{roles[role]:,} {role}"
        for role in (Role.REDUNDANT, Role.OUTRANKED, Role.IRRELEVANT)
        if role in roles
    ]
    if dropped:
        parts.append(f"{_listed(dropped)} {'one is' if total - kept == 1 else 'ones are'} dropped")
    return f"{facts['method']} keeps {share}{table} {purpose}: {'; '.join(parts) or 'all at one level'}."


def _listed(words: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
