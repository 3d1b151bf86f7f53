"""Facts and records -> sentences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from slfs.selectors.records import IRRELEVANT, OUTRANKED, REDUNDANT, explain


class _NumberHole(float):
    """A number that is written as the name of its field."""

    field: str

    def __new__(cls, field: str, value: float = 1.0) -> _NumberHole:
        hole = super().__new__(cls, value)
        hole.field = field
        return hole

    def __format__(self, _: str) -> str:
        return f"{{{self.field}}}"


class _TextHole(str):
    """A text that is written as the name of its field, whatever it says."""

    __slots__ = ("field",)
    field: str

    def __new__(cls, field: str, value: str = "") -> _TextHole:
        hole = super().__new__(cls, value)
        hole.field = field
        return hole

    def __format__(self, _: str) -> str:
        return f"{{{self.field}}}"

    def __repr__(self) -> str:
        return f"{{{self.field}}}"


def sentence_templates(records: np.recarray[Any, Any]) -> Iterator[str]:
    """The sentence of `explain` for each column, with holes such as {relevance} for what is its own.

    Thousands of columns share a few such templates, and the words stay those of `explain`.
    """
    known: dict[tuple[Any, ...], str] = {}
    fields = ("role", "reason", "parent", "lost_to")
    nothing_new = (records["conditional_relevance"] < 1e-9).tolist()
    for role, reason, parent, winner, nothing in zip(
        *(records[field].tolist() for field in fields), nothing_new, strict=True
    ):
        key = (role, reason, parent is None, winner is None, nothing)
        if key not in known:
            known[key] = explain(
                {
                    "name": _TextHole("name"),
                    "role": role,
                    "reason": _TextHole("reason", reason),
                    "parent": None if parent is None else _TextHole("other"),
                    "lost_to": None if winner is None else _TextHole("other"),
                    "relevance": _NumberHole("relevance"),
                    "mutual_information": _NumberHole("mutual_information"),
                    "conditional_relevance": _NumberHole("conditional_relevance", 1 - nothing),
                }
            )
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
    dropped = [f"{roles[role]:,} {role}" for role in (REDUNDANT, OUTRANKED, IRRELEVANT) if role in roles]
    if dropped:
        parts.append(f"{_listed(dropped)} {'one is' if total - kept == 1 else 'ones are'} dropped")
    return f"{facts['method']} keeps {share}{table} {purpose}: {'; '.join(parts) or 'all at one level'}."


def _listed(words: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
