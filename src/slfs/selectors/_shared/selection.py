"""The selection of a selector -> its network, and the counts from which a classifier is made."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slfs._core.indices import NodeIndex
from slfs.coding.codebook import NONE, Coding
from slfs.counting.planes import SampleLayout
from slfs.measures.information import Information
from slfs.measures.strata import fewest
from slfs.network.tree import ROOT, TreeNetwork
from slfs.screening.facts import ColumnFacts
from slfs.screening.reasons import Decision, Reason

Ints = NDArray[np.int64]

_CELLS_PER_SAMPLE, _FEWEST_CELLS, _MOST_CELLS = 4, 1 << 16, 1 << 20
"""Limits of the size of a table of counts of a node, its partner and the class."""


@dataclass(frozen=True)
class Selection:
    """Selected and dropped columns, by packed index.

    Attributes
    ----------
    nodes : ndarray
        The selected columns, in order of selection.
    parents : ndarray
        Node of each one's parent (its position in ``nodes``); ROOT for the class.
    scores : ndarray or None
        Score of each selected column when it was selected; None means its relevance.
    dropped : dict of int to Decision
        Why packed columns were not selected; columns without an entry were outranked.
    lost_to : dict of int to int
        For a redundant column the column that makes it redundant.
    otherwise : Reason
        Why columns in ``lost_to`` that turn out not to be redundant were dropped.
    pairwise : bool
        Whether a column is redundant if it adds nothing significant to a single other column. Otherwise
        only copies and functions of a column are redundant.
    figures : dict of int to dict
        Figures about selected columns for the sentences of `explain`.
    tree : bool
        Whether the level in the tree distinguishes strongly and weakly relevant columns, as in the
        paper.
    ranked : bool
        Whether ``nodes`` are in order of preference, so that a smaller selection consists of the first
        ones; otherwise it consists of the most relevant ones.
    n_included : int
        Number of nodes that the user has included: the first ones, which stay in a smaller selection.
    """

    nodes: Ints
    parents: Ints
    scores: NDArray[np.float64] | None = None
    dropped: dict[int, Decision] = field(default_factory=dict)
    lost_to: dict[int, int] = field(default_factory=dict)
    otherwise: Reason = Reason.NO_ROOM
    pairwise: bool = True
    figures: dict[int, dict[str, Any]] = field(default_factory=dict)
    tree: bool = False
    ranked: bool = True
    n_included: int = 0

    @property
    def levels(self) -> Ints:
        """Level of each node: 1 for the children of the class, 2 for their children, and so on."""
        levels = np.ones(len(self.nodes), np.int64)
        above = self.parents.copy()
        while (above != ROOT).any():
            below = above != ROOT
            levels[below] += 1
            above[below] = self.parents[above[below]]
        return levels

    def truncate(self, n_features: int | None, relevance: NDArray[np.float64]) -> Selection:
        """Keep at most ``n_features`` columns: level by level, within a level in order of preference."""
        if n_features is None or n_features > len(self.nodes):
            return self
        if n_features == len(self.nodes):
            return replace(self, otherwise=Reason.BEYOND_SIZE)
        preference = np.arange(len(self.nodes)) if self.ranked else -relevance[self.nodes]
        included = np.arange(len(self.nodes)) < self.n_included
        order = np.lexsort((preference, self.levels, ~included))
        kept, cut = np.sort(order[:n_features]), order[n_features:]
        position = np.full(len(self.nodes), ROOT)
        position[kept] = np.arange(len(kept))
        parents = self.parents[kept]
        deep = cut[self.parents[cut] != ROOT]
        above = zip(self.nodes[deep].tolist(), self.nodes[self.parents[deep]].tolist(), strict=True)
        beyond = Decision(Reason.BEYOND_SIZE)
        return replace(
            self,
            otherwise=Reason.BEYOND_SIZE,
            nodes=self.nodes[kept],
            parents=np.where(parents == ROOT, ROOT, position[parents]),
            scores=None if self.scores is None else self.scores[kept],
            lost_to={**self.lost_to, **dict(above)},
            dropped={**self.dropped, **dict.fromkeys(self.nodes[cut].tolist(), beyond)},
        )

    def winners(self) -> dict[int, int]:
        """For each redundant column, find the selected column that makes it redundant, if any.

        The column in ``lost_to`` may itself have been dropped later, because of a swap or
        ``n_features_to_select``; then the chain is followed.
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


def packed_as(information: Information, facts: ColumnFacts, reason: Reason) -> Ints:
    """Return the packed columns that are candidates, included or conditioned on, by the `Reason`."""
    return np.flatnonzero(facts.reason[information.packed.columns] == reason)


def below_class(nodes: Ints) -> Ints:
    """Return the parents of columns that are all children of the class."""
    return np.full(len(nodes), ROOT)


@dataclass(frozen=True)
class NetworkCounts:
    """Counts of the selected columns, from which a classifier of any structure can be made.

    Attributes
    ----------
    coding : Coding
        Coding of the selected columns.
    class_totals : ndarray of shape (n_classes,)
        Number of samples of each class.
    class_counts : list of ndarray of shape (n_levels, n_classes)
        Counts of levels and classes, one array per selected column.
    partners : ndarray
        Node of each column's parent. For a child of the class, the more relevant sibling with the
        largest I(f;k|Y), or ROOT for the most relevant child. ROOT where the counts of both would have
        too many cells.
    joint_counts : list of ndarray of shape (n_classes, n_levels, n_levels of the partner)
        Counts with the partner, one array per selected column; None where there is no partner.
    unit : float
        Number of counts that are one sample: 1, unless there were sample weights that are not whole
        numbers.
    n_rows, n_used : int
        Number of rows of the table, and of those whose weight is not 0.
    """

    coding: Coding
    class_totals: Ints
    class_counts: list[Ints]
    partners: Ints
    joint_counts: list[NDArray[np.int32] | Ints | None]
    unit: float
    n_rows: int
    n_used: int

    @property
    def class_sizes(self) -> list[int]:
        """Number of samples of each class, rounded if they are weighted."""
        sizes: list[int] = np.rint(self.class_totals / self.unit).astype(np.int64).tolist()
        return sizes

    def level_sizes(self, node: int) -> list[list[int]]:
        """Number of samples of each level of a node by class, rounded if they are weighted."""
        sizes = np.rint(self.class_counts[node] / self.unit).astype(np.int64)
        return sizes.tolist()  # type: ignore[no-any-return]

    def joint_sizes(self, node: int) -> Ints | None:
        """Number of samples by class and by levels of a node and its partner, rounded as above."""
        counts = self.joint_counts[node]
        return None if counts is None else np.rint(counts / self.unit).astype(np.int64)

    @property
    def n_samples(self) -> int:
        """Number of samples that the rows are worth, rounded if they are weighted."""
        return round(float(self.class_totals.sum() / self.unit))

    def size_text(self, separator: str = "") -> str:
        """Say how many samples there are, and how many rows if these are weighted."""
        form = f"{separator}d"
        samples = f"{self.n_samples:{form}} sample{'' if self.n_samples == 1 else 's'}"
        return samples if self.unit == 1.0 else f"{self.n_used:{form}} rows weighted as {samples}"


def make_network(
    information: Information,
    selection: Selection,
    names: NDArray[np.object_],
    class_name: str,
) -> TreeNetwork:
    """Create the network of a selection, with names and the information of its edges."""
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
    """Count the selected columns for all structures of a classifier."""
    partners = selection.parents.copy()
    top = np.flatnonzero(partners == ROOT)
    for node in top:
        partners[node] = _closest_sibling(information, selection.nodes, NodeIndex(int(node)), top)
    return count_edges(information, selection, coding, partners)


def count_edges(
    information: Information, selection: Selection, coding: Coding, partners: Ints
) -> NetworkCounts:
    """Count the selected columns, each together with its partner."""
    nodes, layout = selection.nodes, information.packed.layout
    levels = information.packed.arrays.levels[nodes].astype(np.int64)
    partners = without_large_tables(partners, levels, layout)
    own = with_few_missing(information, nodes, coding.take(information.packed.columns[nodes]))
    n_rows = layout.n_samples if layout.counts is None else len(layout.counts)
    return NetworkCounts(
        coding=own,
        class_totals=layout.totals,
        class_counts=[information.packed.class_counts(int(node)) for node in nodes],
        partners=partners,
        joint_counts=[
            None if k == ROOT else _compact(information.joint_counts(int(f), int(nodes[k])))
            for f, k in zip(nodes, partners, strict=True)
        ],
        unit=layout.unit,
        n_rows=n_rows,
        n_used=n_rows if layout.counts is None else int((layout.counts > 0).sum()),
    )


def with_few_missing(information: Information, nodes: Ints, coding: Coding) -> Coding:
    """Mark columns whose values were missing in too few samples, unless nothing else is used of them.

    ``coding`` is that of the columns ``nodes``. Samples are counted, and not what they weigh, unless
    weights are frequencies.
    """
    layout, level = information.packed.layout, coding.columns["missing"]
    columns = coding.columns.copy()
    for j in np.flatnonzero((level != NONE) & ~coding.only_missing).tolist():
        missing = information.codes(nodes[j]) == level[j]
        n_missing = missing.sum() if layout.tested is None else len(np.unique(layout.order[missing]))
        columns["few_missing"][j] = n_missing < fewest(layout.n_seen)
    return replace(coding, columns=columns)


def describe_levels(
    information: Information, nodes: Ints, values: NDArray[np.float64]
) -> list[NDArray[np.float64]]:
    """Return mean and quartiles of a continuous target at each level of the selected columns.

    ``values`` is the target in the order of the table. The result has one array of shape (n_levels, 4)
    per column: mean, lower quartile, median, upper quartile; NaN for a level without samples.
    """
    values = values[information.packed.layout.order]
    levels = information.packed.arrays.levels[nodes].astype(np.int64).tolist()
    described = []
    for node, n_levels in zip(nodes.tolist(), levels, strict=True):
        codes = information.codes(node)
        table = np.full((n_levels, 4), np.nan)
        for level in np.unique(codes).tolist():
            own = values[codes == level]
            table[level, 0] = np.clip((own / len(own)).sum(), own.min(), own.max())
            quartiles = np.quantile(own / 2, (0.25, 0.5, 0.75), method="averaged_inverted_cdf")
            table[level, 1:] = 2 * quartiles  # halves, because the mean of two could overflow
        described.append(table)
    return described


def without_large_tables(partners: Ints, n_levels: Ints, layout: SampleLayout) -> Ints:
    """Leave nodes without a partner if their counts would have many more cells than there are samples.

    Such a table could only be estimated by smoothing, and with hundreds of classes it would take
    gigabytes.
    """
    cells = layout.n_classes * n_levels * np.where(partners == ROOT, 1, n_levels[partners])
    most = min(max(_FEWEST_CELLS, _CELLS_PER_SAMPLE * layout.evidence), _MOST_CELLS)
    return np.where(cells > most, ROOT, partners)


def _compact(counts: Ints) -> NDArray[np.int32] | Ints:
    """Convert counts to 32 bits, which halves the memory, if they fit."""
    return counts.astype(np.int32) if counts.max() <= np.iinfo(np.int32).max else counts


def _closest_sibling(information: Information, nodes: Ints, node: NodeIndex, top: Ints) -> NodeIndex:
    """Return the more relevant child k of the class with the largest I(f;k|Y); ties: smaller index."""
    column = int(nodes[node])
    relevance = information.relevance[nodes[top]]
    own = information.relevance[column]
    ahead = top[(relevance > own) | ((relevance == own) & (nodes[top] < column))]
    if len(ahead) == 0:
        return ROOT
    ahead = ahead[np.argsort(nodes[ahead])]
    return NodeIndex(int(ahead[information.pairs(column, nodes[ahead]).given_class.argmax()]))
