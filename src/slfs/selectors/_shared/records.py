"""A selection -> one record per column, the attribute ``features_``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from slfs._core.indices import TableIndex
from slfs.measures.false_discovery import q_values
from slfs.measures.information import Information
from slfs.network.tree import ROOT, TreeNetwork
from slfs.screening.facts import ColumnFacts
from slfs.screening.reasons import Reason, Role
from slfs.selectors._shared.selection import Selection

Figures = dict[TableIndex, dict[str, Any]]
"""Figures on which the decision about a column is based, by its index in the table."""

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
        ("q_value", float),
        ("reason", object),
    ]
)


def make_records(
    names: NDArray[np.object_],
    facts: ColumnFacts,
    information: Information,
    selection: Selection,
    network: TreeNetwork,
) -> tuple[np.recarray[Any, Any], Figures]:
    """Record role and reason of every column, and return the figures behind each decision."""
    records = np.zeros(len(names), _FIELDS)
    records["name"] = names
    records["relevance"], records["entropy"] = facts.relevance, facts.entropy
    records["n_levels"] = facts.coding.columns["n_levels"]
    records["p_value"], records["q_value"] = facts.p_value, q_values(facts.p_value)
    records["parent"] = records["lost_to"] = None
    records["mutual_information"] = records["conditional_relevance"] = np.nan
    figures = _record_reasons(records, facts, information, selection)
    column_of = information.packed.columns
    for winner, losers in _grouped(selection.winners()).items():
        pair = information.pairs(winner, losers)
        rows = column_of[losers]
        records["mutual_information"][rows] = pair.mutual_information
        records["conditional_relevance"][rows] = pair.of_other_given_one
        records["lost_to"][rows] = names[column_of[winner]]
    kept = network.columns
    records["level"][kept] = network.levels
    records["role"][kept] = str(Role.SELECTED)
    if selection.tree:
        records["role"][kept] = np.where(network.levels == 1, str(Role.STRONG), str(Role.WEAK))
    records["reason"][kept] = Reason.SELECTED.label
    below = network.parents != ROOT
    records["parent"][kept[below]] = names[kept[network.parents[below]]]
    records["mutual_information"][kept[below]] = network.mutual_information[below]
    records["conditional_relevance"][kept[below]] = network.conditional_relevance[below]
    return records.view(np.recarray), figures


def set_reason(records: NDArray[Any], columns: NDArray[Any], reason: Reason) -> None:
    """Record why some columns, given by a mask or indices, were dropped."""
    records["role"][columns] = str(reason.role)
    records["reason"][columns] = reason.label


def _record_reasons(
    records: NDArray[Any], facts: ColumnFacts, information: Information, selection: Selection
) -> Figures:
    """Fill in the roles and reasons of all columns; the selected ones are overwritten later."""
    reason, column_of = facts.reason.copy(), information.packed.columns
    reason[column_of] = Reason.OUTRANKED
    dropped = column_of[np.fromiter(selection.dropped, np.int64, len(selection.dropped))]
    reason[dropped] = [decision.reason for decision in selection.dropped.values()]
    for code in np.flatnonzero(np.bincount(reason)).tolist():
        set_reason(records, reason == code, Reason(code))
    return {
        TableIndex(column): dict(decision.figures)
        for column, decision in zip(dropped.tolist(), selection.dropped.values(), strict=True)
        if decision.figures
    }


def _grouped(rivals: dict[int, int]) -> dict[int, NDArray[np.int64]]:
    groups: dict[int, list[int]] = {}
    for loser, winner in rivals.items():
        groups.setdefault(winner, []).append(loser)
    return {winner: np.array(losers) for winner, losers in groups.items()}
