"""A selection -> one record per column, the attribute ``features_``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from slfs._core.indices import TableIndex
from slfs.coding.codebook import NONE
from slfs.measures.false_discovery import q_values
from slfs.measures.information import Information
from slfs.network.tree import ROOT, TreeNetwork
from slfs.screening.facts import ColumnFacts
from slfs.screening.reasons import SIGNIFICANT, Reason, Role
from slfs.selectors._shared.redundancy import NOTHING, adds_nothing, find_copies, judge_losers
from slfs.selectors._shared.selection import Selection

Figures = dict[TableIndex, dict[str, Any]]
"""Figures on which the decision about a column is based, by its index in the table."""

_TREE = (Reason.NO_ROOM, Reason.ADDS_NOTHING)
"""Reasons of columns that found no place in the tree of SLFS."""

_LITTLE = 0.1
"""A column that lacks a smaller share of the information of another one contains nearly all of it."""

_MUCH = 0.2
"""A larger share of the information of a column is said to be lost in new samples."""

_FIELDS = np.dtype(
    [
        ("name", object),
        ("role", object),
        ("relevance", float),
        ("entropy", float),
        ("numeric", np.bool_),
        ("n_levels", np.int32),
        ("level", np.int32),
        ("parent", object),
        ("lost_to", object),
        ("mutual_information", float),
        ("conditional_relevance", float),
        ("relevance_given", float),
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
    records["relevance_given"] = facts.given_relevance
    records["numeric"], records["n_levels"] = facts.coding.cut, facts.coding.n_levels
    records["p_value"], records["q_value"] = facts.p_value, q_values(facts.p_value)
    records["parent"] = records["lost_to"] = None
    records["mutual_information"] = records["conditional_relevance"] = np.nan
    reason, column_of = _reasons(facts, information, selection), information.packed.columns
    winners = selection.winners()
    full = [f for f in winners if reason[column_of[f]] in _TREE]
    winners |= find_copies(information, selection.nodes, np.array(full, np.int64))
    for winner, losers in _grouped(winners).items():
        pair = information.pairs(winner, losers)
        rows = column_of[losers]
        shared, added = pair.mutual_information, pair.of_other_given_one
        records["mutual_information"][rows], records["conditional_relevance"][rows] = shared, added
        lost = np.isin(reason[rows], _TREE)
        judged = judge_losers(information, winner, losers[lost], shared[lost], added[lost])
        if not selection.pairwise:
            judged[(judged == Reason.ADDS_NOTHING) & (added[lost] >= NOTHING)] = Reason.NO_ROOM
        reason[rows[lost]] = np.where(judged == Reason.NO_ROOM, selection.otherwise, judged)
        records["lost_to"][rows] = names[column_of[winner]]
    if not selection.pairwise:  # most columns lost to all selected columns together
        added = records["conditional_relevance"]
        together = (reason == Reason.BEYOND_SIZE) & ~(added < _LITTLE * records["relevance"])
        records["lost_to"][together] = None
        records["mutual_information"][together] = records["conditional_relevance"][together] = np.nan
    for code in np.flatnonzero(np.bincount(reason)).tolist():
        set_reason(records, reason == code, Reason(code))
    kept = network.columns
    records["level"][kept] = network.levels
    records["role"][kept] = str(Role.SELECTED)
    if selection.tree:
        records["role"][kept] = np.where(network.levels == 1, str(Role.STRONG), str(Role.WEAK))
        displaced = [f for f, own in selection.figures.items() if "displaced_by" in own]
        records["role"][np.intersect1d(column_of[displaced], kept)] = str(Role.WEAK)
        records["role"][kept[_supporting(information, selection, network)]] = str(Role.SUPPORTING)
        included = facts.reason[kept] == Reason.INCLUDED
        weak = np.where(included, str(Role.INCLUDED), str(Role.TENTATIVE))
        not_significant = records["q_value"][kept] > SIGNIFICANT
        records["role"][kept[not_significant]] = weak[not_significant]
    records["reason"][kept] = Reason.SELECTED.label
    records["reason"][kept[facts.reason[kept] == Reason.INCLUDED]] = Reason.INCLUDED.label
    below = network.parents != ROOT
    records["parent"][kept[below]] = names[kept[network.parents[below]]]
    records["mutual_information"][kept[below]] = network.mutual_information[below]
    records["conditional_relevance"][kept[below]] = network.conditional_relevance[below]
    figures = {
        TableIndex(int(column_of[f])): dict(decision.figures)
        for f, decision in selection.dropped.items()
        if decision.figures
    }
    figures |= {TableIndex(int(column_of[f])): dict(own) for f, own in selection.figures.items()}
    for own in figures.values():
        if "displaced_by" in own:
            own["displaced_by"] = names[column_of[own["displaced_by"]]]
    for column in np.flatnonzero(facts.coding.only_missing & (facts.relevance > 0)).tolist():
        what = "numbers" if facts.coding.cut[column] else "categories"
        figures.setdefault(TableIndex(column), {})["only_missing"] = what
    for column in np.flatnonzero(_has_many_categories(facts)).tolist():
        n_categories = int(facts.coding.columns["n_distinct"][column])
        figures.setdefault(TableIndex(column), {})["n_categories"] = n_categories
    for column, groups in _groups_of_categories(records, facts).items():
        figures.setdefault(TableIndex(column), {})["groups"] = groups
    return records.view(np.recarray), figures


def _groups_of_categories(records: NDArray[Any], facts: ColumnFacts) -> dict[int, list[list[Any]]]:
    """Return the columns about which figures are those of groups of categories, by column.

    These are the column and the one to which it is compared, each with its number of categories and of
    groups of them.
    """
    columns = facts.coding.columns
    n_groups = facts.coding.n_levels - (columns["missing"] != NONE)
    is_grouped = ~columns["cut"] & ~columns["ordered"] & (n_groups > 1)
    is_grouped &= columns["n_distinct"] > n_groups
    grouped = {
        records["name"][column]: [str(records["name"][column]), int(columns["n_distinct"][column]), n]
        for column, n in zip(
            np.flatnonzero(is_grouped).tolist(), n_groups[is_grouped].tolist(), strict=True
        )
    }
    found: dict[int, list[list[Any]]] = {}
    if grouped:
        rows = records[["name", "parent", "lost_to"]].tolist()
        for column, (name, parent, lost_to) in enumerate(rows):
            own = [grouped[one] for one in dict.fromkeys([name, parent, lost_to]) if one in grouped]
            if own:
                found[column] = own
    return found


def _has_many_categories(facts: ColumnFacts) -> NDArray[np.bool_]:
    """Return which columns have so many categories that much of their information may be chance."""
    columns = facts.coding.columns
    by_chance = (columns["n_distinct"] - 1) * (facts.n_classes - 1) / (2 * facts.n_samples)
    several = ~columns["cut"] & ~columns["ordered"] & (columns["n_distinct"] > 2)
    found: NDArray[np.bool_] = several & (facts.relevance > 0) & (by_chance > _MUCH * facts.relevance)
    return found


def _supporting(
    information: Information, selection: Selection, network: TreeNetwork
) -> NDArray[np.bool_]:
    """Return which selected columns add nothing significant to their parent in the tree."""
    found = np.zeros(len(selection.nodes), np.bool_)
    for parent in np.unique(network.parents[network.parents != ROOT]).tolist():
        children = np.flatnonzero(network.parents == parent)
        added = network.conditional_relevance[children]
        columns = selection.nodes[children]
        found[children] = adds_nothing(information, int(selection.nodes[parent]), columns, added)
    return found


def set_reason(records: NDArray[Any], columns: NDArray[Any], reason: Reason) -> None:
    """Record why some columns, given by a mask or indices, were dropped.

    A column that depends significantly on the class is not called irrelevant.
    """
    rows = np.flatnonzero(columns) if columns.dtype == np.bool_ else columns
    records["role"][rows] = str(reason.role)
    if reason.role == Role.IRRELEVANT:
        records["role"][rows[records["q_value"][rows] <= SIGNIFICANT]] = str(Role.TOO_WEAK)
    records["reason"][rows] = reason.label


def _reasons(facts: ColumnFacts, information: Information, selection: Selection) -> NDArray[np.int8]:
    """Return the code of the reason of every column; those of the selected ones have no meaning."""
    reason, column_of = facts.reason.copy(), information.packed.columns
    missed = Reason.OUTRANKED if len(selection.nodes) else Reason.CRITERION_NOT_MET
    packed = column_of[reason[column_of] != Reason.CONDITIONING]
    reason[packed] = Reason.NO_GAIN if selection.otherwise == Reason.NO_GAIN else missed
    dropped = np.fromiter(selection.dropped, np.int64, len(selection.dropped))
    reason[column_of[dropped]] = [decision.reason for decision in selection.dropped.values()]
    cut = {f for f, decision in selection.dropped.items() if decision.reason == Reason.BEYOND_SIZE}
    follow = [f for f, node in selection.lost_to.items() if node in cut]
    reason[column_of[follow]] = Reason.BEYOND_SIZE
    return reason


def _grouped(rivals: dict[int, int]) -> dict[int, NDArray[np.int64]]:
    groups: dict[int, list[int]] = {}
    for loser, winner in rivals.items():
        groups.setdefault(winner, []).append(loser)
    return {winner: np.array(losers) for winner, losers in groups.items()}
