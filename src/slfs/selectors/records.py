"""A selection -> one record for each column, and a sentence that explains it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from slfs.measures.information import Information
from slfs.network.tree import ROOT, TreeNetwork
from slfs.screening.pipeline import ColumnFacts
from slfs.selectors.confidence import confidence
from slfs.selectors.selection import Selection

STRONG = "strongly relevant"
WEAK = "weakly relevant, non-redundant"
REDUNDANT = "redundant"
IRRELEVANT = "irrelevant"
SELECTED = "selected"
OUTRANKED = "outranked"

NO_PLACE = "the tree has no place left where it belongs (max_depth, max_children)"

_FIELDS = np.dtype(
    [
        ("name", object),
        ("role", object),
        ("relevance", float),
        ("entropy", float),
        ("n_levels", np.int32),
        ("level", np.int32),
        ("parent", object),
        ("lost_to", object),
        ("mutual_information", float),
        ("conditional_relevance", float),
        ("p_value", float),
        ("reason", object),
    ]
)


def make_records(
    names: NDArray[np.object_],
    facts: ColumnFacts,
    irrelevance: NDArray[np.object_],
    information: Information,
    selection: Selection,
    network: TreeNetwork,
) -> np.recarray[Any, Any]:
    """Put down what became of every column, and why."""
    records = np.zeros(len(names), _FIELDS)
    dropped = irrelevance != ""
    records["name"] = names
    records["role"] = OUTRANKED
    records["role"][dropped] = IRRELEVANT
    records["relevance"], records["entropy"] = facts.relevance, facts.entropy
    records["n_levels"], records["p_value"] = facts.coding.n_levels, facts.p_value
    records["parent"] = records["lost_to"] = None
    records["mutual_information"] = records["conditional_relevance"] = np.nan
    records["reason"] = selection.outranked
    records["reason"][dropped] = irrelevance[dropped]
    column_of = information.packed.columns

    for index, reason in selection.irrelevant.items():
        records["role"][column_of[index]] = IRRELEVANT
        records["reason"][column_of[index]] = reason
    redundant = dict.fromkeys(selection.lost_to, NO_PLACE)
    for index, reason in {**redundant, **selection.redundant}.items():
        records["role"][column_of[index]] = REDUNDANT
        records["reason"][column_of[index]] = reason
    for winner, losers in _grouped(selection.winners()).items():
        pair = information.pairs(winner, losers)
        rows = column_of[losers]
        records["mutual_information"][rows] = pair.mutual_information
        records["conditional_relevance"][rows] = pair.of_other_given_one
        records["lost_to"][rows] = names[column_of[winner]]

    kept = network.columns
    records["level"][kept] = network.levels
    records["role"][kept] = SELECTED
    if selection.scores is None:  # the paper's two kinds, where the method tells them apart
        records["role"][kept] = np.where(network.levels == 1, STRONG, WEAK)
    records["reason"][kept] = "selected"
    below = network.parents != ROOT
    records["parent"][kept[below]] = names[kept[network.parents[below]]]
    records["mutual_information"][kept[below]] = network.mutual_information[below]
    records["conditional_relevance"][kept[below]] = network.conditional_relevance[below]
    return records.view(np.recarray)


def explain(record: Any) -> str:
    """Say in one sentence why a column was kept or dropped."""
    told = f"it tells {record['relevance']:.3g} nats about the class"
    shared = f"shares {record['mutual_information']:.3g} nats with"
    new = f"{record['conditional_relevance']:.3g} nats about the class that"
    name, parent, winner = record["name"], record["parent"], record["lost_to"]
    if record["role"] == STRONG:
        return f"{name!r} is kept as strongly relevant: {told} and stands directly below it."
    if record["role"] == WEAK and record["conditional_relevance"] < 1e-9:
        return (
            f"{name!r} is kept as weakly relevant: below {parent!r} it {shared} it; it tells nothing "
            f"about the class that {parent!r} does not, but the tree has room for it (max_depth)."
        )
    if record["role"] == WEAK:
        return (
            f"{name!r} is kept as weakly relevant but not redundant: below {parent!r} it {shared} it "
            f"and still tells {new} {parent!r} does not."
        )
    if record["role"] == SELECTED:
        return f"{name!r} is kept: {told}."
    if winner is not None and record["reason"] == NO_PLACE:
        return (
            f"{name!r} is dropped as redundant: {told}, but it {shared} {winner!r}, tells only {new} "
            f"{winner!r} does not, and {record['reason']}."
        )
    return f"{name!r} is dropped as {record['role']}: {told}; {record['reason']}."


def explain_in_full(record: Any, q_value: float) -> str:
    """Say the same, and how far a column can be believed; ``q_value`` is NaN where that is not known."""
    return " ".join(filter(None, [explain(record), confidence(record["p_value"], q_value)]))


def _grouped(rivals: dict[int, int]) -> dict[int, NDArray[np.int64]]:
    groups: dict[int, list[int]] = {}
    for loser, winner in rivals.items():
        groups.setdefault(winner, []).append(loser)
    return {winner: np.array(losers) for winner, losers in groups.items()}
