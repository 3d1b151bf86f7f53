"""A selection -> sentences and figures for a reader.

The report and the command line take everything that they say about a column from here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import entr

from slfs.selectors.confidence import grade
from slfs.selectors.records import (
    IRRELEVANT,
    OUTRANKED,
    REDUNDANT,
    SELECTED,
    STRONG,
    WEAK,
    explain,
    explain_in_full,
)

__all__ = [
    "ROLES",
    "class_entropy",
    "explain_in_full",
    "fdr_text",
    "frequency_text",
    "grade",
    "sentence_templates",
    "summary",
]

ROLES = [STRONG, WEAK, SELECTED, REDUNDANT, OUTRANKED, IRRELEVANT]
"""In the order in which they are listed."""

DROPPED = [REDUNDANT, OUTRANKED, IRRELEVANT]


def class_entropy(selector: Any) -> float:
    """The entropy of the class in nats: the largest relevance that a column can have."""
    totals = selector.network_counts_.class_totals
    return float(entr(totals / totals.sum()).sum())


def fdr_text(q_value: float) -> str:
    """A q-value as a percentage; "" where it is not known."""
    if math.isnan(q_value):
        return ""
    return "< 0.01 %" if q_value < 1e-4 else f"{float(f'{100 * q_value:.2g}'):g} %"


def frequency_text(selector: Any, column: int) -> str:
    """In how many subsamples a stability selection has selected a column."""
    n_subsamples = selector.n_subsamples
    return f"{round(selector.frequencies_[column] * n_subsamples)} of {n_subsamples} subsamples"


class _NumberField(float):
    """A number that is formatted as the name of its field, such as {relevance}."""

    field: str

    def __new__(cls, field: str, value: float = 1.0) -> _NumberField:
        made = super().__new__(cls, value)
        made.field = field
        return made

    def __format__(self, _: str) -> str:
        return f"{{{self.field}}}"


class _TextField(str):
    """A string that is formatted as the name of its field, whatever its value."""

    __slots__ = ("field",)
    field: str

    def __new__(cls, field: str, value: str = "") -> _TextField:
        made = super().__new__(cls, value)
        made.field = field
        return made

    def __format__(self, _: str) -> str:
        return f"{{{self.field}}}"

    def __repr__(self) -> str:
        return f"{{{self.field}}}"


def sentence_templates(records: np.recarray[Any, Any]) -> Iterator[str]:
    """The sentence of `explain` for each column, with fields such as {relevance} for its own figures.

    Thousands of columns share a few such templates, which keeps the report of a wide table small.
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
                    "name": _TextField("name"),
                    "role": role,
                    "reason": _TextField("reason", reason),
                    "parent": None if parent is None else _TextField("other"),
                    "lost_to": None if winner is None else _TextField("other"),
                    "relevance": _NumberField("relevance"),
                    "mutual_information": _NumberField("mutual_information"),
                    "conditional_relevance": _NumberField("conditional_relevance", 1 - nothing),
                }
            )
        yield known[key]


def summary(facts: dict[str, Any]) -> str:
    """Summarise a selection in one sentence."""
    selected, total, roles = facts["n_selected"], facts["n_columns"], facts["role_counts"]
    table = f" of {facts['data']}" if facts["data"] else ""
    variable = "the class" if facts["class_name"] == "class" else facts["class_name"]
    samples = f"{len(facts['classes'])} classes, {facts['n_samples']:,} samples"
    if selected == total:
        share = f"all {total:,} columns" if total > 1 else "the only column"
    elif selected == 0:
        share = f"none of the {total:,} columns" if total > 1 else "not even the only column"
    else:
        share = f"{selected:,} of {total:,} columns"
    parts = []
    if facts["depth"] > 1:
        direct = sum(node["level"] == 1 for node in facts["nodes"])
        parts.append(f"{direct} directly below the class and {selected - direct} deeper in the tree")
    dropped = [f"{roles[role]:,} {role}" for role in DROPPED if role in roles]
    if dropped:
        columns = "column is" if total - selected == 1 else "columns are"
        parts.append(f"{_listed(dropped)} {columns} dropped")
    details = f": {'; '.join(parts)}" if parts else ""
    return f"{facts['method']} selects {share}{table} to predict {variable} ({samples}){details}."


def _listed(words: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
