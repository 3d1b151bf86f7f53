"""What a selector has decided -> the network, and the counts that a classifier is made of."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from slfs.coding.codebook import Coding
from slfs.measures.information import Information
from slfs.network.tree import ROOT, TreeNetwork


@dataclass(frozen=True)
class Selection:
    """Kept and dropped columns, by packed index.

    Attributes
    ----------
    nodes : ndarray
        The kept columns, in the order in which they were taken.
    parents : ndarray
        The place among ``nodes`` of each one's parent; ROOT for the class.
    lost_to : dict
        For a redundant column the one that it lost against.
    irrelevant, redundant : dict
        Other columns that were not kept, and why.
    scores : ndarray or None
        What each kept column scored when it was taken, where the method scores.
    outranked : str
        Why the columns that nothing else is said of were not kept.
    """

    nodes: NDArray[np.int64]
    parents: NDArray[np.int64]
    lost_to: dict[int, int] = field(default_factory=dict)
    irrelevant: dict[int, str] = field(default_factory=dict)
    redundant: dict[int, str] = field(default_factory=dict)
    scores: NDArray[np.float64] | None = None
    outranked: str = ""

    @property
    def levels(self) -> NDArray[np.int64]:
        """1 for a child of the class, 2 for its children, and so on."""
        levels = np.ones(len(self.nodes), np.int64)
        place = self.parents.copy()
        while (place != ROOT).any():
            below = place != ROOT
            levels[below] += 1
            place[below] = self.parents[place[below]]
        return levels

    def truncate(self, n_features: int | None) -> Selection:
        """Keep the first columns, level by level and within a level as they were taken."""
        if n_features is None or n_features >= len(self.nodes):
            return self
        order = np.argsort(self.levels, kind="stable")
        kept = np.sort(order[:n_features])
        place = np.full(len(self.nodes), ROOT)
        place[kept] = np.arange(len(kept))
        parents = self.parents[kept]
        cut = order[n_features:]
        deep = cut[self.parents[cut] != ROOT]
        below = zip(self.nodes[deep].tolist(), self.nodes[self.parents[deep]].tolist(), strict=True)
        reason = f"beyond n_features_to_select={n_features}"
        return replace(
            self,
            nodes=self.nodes[kept],
            parents=np.where(parents == ROOT, ROOT, place[parents]),
            lost_to={**self.lost_to, **dict(below)},
            redundant={**self.redundant, **{int(node): reason for node in self.nodes[cut]}},
        )

    def winners(self) -> dict[int, int]:
        """For each column that lost against another: the kept one at the end of the chain, if any.

        Who won may have lost later, to a swap or to ``n_features_to_select``.
        """
        kept = set(self.nodes.tolist())
        found = {}
        for loser, first in self.lost_to.items():
            winner, seen = first, {loser}
            while winner not in kept and winner in self.lost_to and winner not in seen:
                seen.add(winner)
                winner = self.lost_to[winner]
            if winner in kept and loser not in kept:
                found[loser] = winner
        return found


@dataclass(frozen=True)
class NetworkCounts:
    """Counts of the kept columns, from which a classifier of any structure is made.

    Attributes
    ----------
    coding : Coding
        Of the kept columns.
    class_totals : ndarray of shape (n_classes,)
    class_counts : list of ndarray of shape (n_levels, n_classes)
        One for each kept column.
    partners : ndarray
        The place of each column's parent; of the more relevant sibling that it depends on most, given
        the class, where the parent is the class; ROOT for the most relevant of these.
    joint_counts : list of ndarray of shape (n_classes, n_levels, n_levels of the partner)
        One for each kept column; None where there is no partner.
    """

    coding: Coding
    class_totals: NDArray[np.int64]
    class_counts: list[NDArray[np.int64]]
    partners: NDArray[np.int64]
    joint_counts: list[NDArray[np.int32] | NDArray[np.int64] | None]


def make_network(
    information: Information,
    selection: Selection,
    names: NDArray[np.object_],
    class_name: str,
) -> TreeNetwork:
    """Dress the selected tree with names and with what is known of its edges."""
    nodes, parents = selection.nodes, selection.parents
    mutual_information = information.relevance[nodes]
    conditional_relevance = np.zeros(len(nodes))
    for parent in np.unique(parents[parents != ROOT]):
        children = np.flatnonzero(parents == parent)
        pair = information.pairs(int(nodes[parent]), nodes[children])
        mutual_information[children] = pair.mutual_information
        conditional_relevance[children] = pair.of_other_given_one
    columns = information.packed.columns[nodes]
    return TreeNetwork(
        names=tuple(str(name) for name in names[columns]),
        columns=columns,
        parents=parents,
        levels=selection.levels,
        relevance=information.relevance[nodes],
        entropy=information.entropy[nodes],
        mutual_information=mutual_information,
        conditional_relevance=conditional_relevance,
        class_name=class_name,
    )


def count_network(information: Information, selection: Selection, coding: Coding) -> NetworkCounts:
    """Count all that any structure over the kept columns needs."""
    partners = selection.parents.copy()
    top = np.flatnonzero(partners == ROOT)
    for place in top:
        partners[place] = _closest_sibling(information, selection.nodes, int(place), top)
    return count_edges(information, selection, coding, partners)


def count_edges(
    information: Information, selection: Selection, coding: Coding, partners: NDArray[np.int64]
) -> NetworkCounts:
    """Count the kept columns, each together with its partner."""
    nodes = selection.nodes
    return NetworkCounts(
        coding=coding.take(information.packed.columns[nodes]),
        class_totals=information.packed.layout.totals,
        class_counts=[information.packed.class_counts(int(node)) for node in nodes],
        partners=partners,
        joint_counts=[
            None if k == ROOT else _compact(information.joint_counts(int(f), int(nodes[k])))
            for f, k in zip(nodes, partners, strict=True)
        ],
    )


def _compact(counts: NDArray[np.int64]) -> NDArray[np.int32] | NDArray[np.int64]:
    """The same counts in half the memory, where they fit."""
    return counts.astype(np.int32) if counts.max() <= np.iinfo(np.int32).max else counts


def _closest_sibling(
    information: Information, nodes: NDArray[np.int64], place: int, top: NDArray[np.int64]
) -> int:
    """The more relevant child of the class with the largest I(f;k|Y); ties: the smaller column."""
    node = int(nodes[place])
    relevance = information.relevance[nodes[top]]
    own = information.relevance[node]
    ahead = top[(relevance > own) | ((relevance == own) & (nodes[top] < node))]
    if len(ahead) == 0:
        return ROOT
    ahead = ahead[np.argsort(nodes[ahead])]
    return int(ahead[information.pairs(node, nodes[ahead]).given_class.argmax()])
