"""Networks of many runs -> how often each edge came up, and the tree of the most frequent ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slfs.network.tree import ROOT, TreeNetwork

Ints = NDArray[np.int64]

_FIELDS = np.dtype([("parent", np.int64), ("child", np.int64), ("frequency", float)])


@dataclass(frozen=True, repr=False)
class ConsensusNetwork(TreeNetwork):
    """The tree over the features that most runs selected, with how often they did.

    In drawings the edges carry frequencies instead of information.

    Attributes
    ----------
    frequency : ndarray of shape (n_nodes,)
        Share of the runs that selected the feature.
    edge_frequency : ndarray of shape (n_nodes,)
        Share of the runs in which it stood below the same parent as here.
    """

    frequency: NDArray[np.float64] = field(kw_only=True)
    edge_frequency: NDArray[np.float64] = field(kw_only=True)

    def edge_label(self, node: int) -> str:
        """What is written at the edge above a node: how often it came up.

        Parameters
        ----------
        node : int
            Its place among the nodes.

        Returns
        -------
        label : str
        """
        return f"{self.edge_frequency[node]:.2f}"

    def _shown(self, node: int) -> str:
        return f"{self.names[node]} ({self.frequency[node]:.2f}, edge {self.edge_frequency[node]:.2f})"


def count_edges(runs: Iterable[tuple[Ints, Ints]], n_runs: int) -> np.recarray[Any, Any]:
    """How often each edge came up: ``parent`` (-1 for the class), ``child`` and ``frequency``.

    A run is the columns of its network and the place of each one's parent among them. The most frequent
    edge comes first; ties: the smaller child, then the smaller parent.
    """
    counts: Counter[tuple[int, int]] = Counter()
    for columns, parents in runs:
        above = np.append(columns, ROOT)[parents]  # ROOT is -1: the last entry
        counts.update(zip(columns.tolist(), above.tolist(), strict=True))
    order = sorted(counts, key=lambda edge: (-counts[edge], *edge))
    edges = np.zeros(len(order), _FIELDS)
    edges["child"] = [child for child, _ in order]
    edges["parent"] = [parent for _, parent in order]
    edges["frequency"] = [counts[edge] / n_runs for edge in order]
    return edges.view(np.recarray)


def consensus_tree(edges: NDArray[Any], columns: Ints) -> tuple[Ints, NDArray[np.float64]]:
    """The tree over some columns that takes the most frequent edges first.

    An edge that would close a circle gives way to the next one above the same child; where none is left
    the child stands below the class. Where the most frequent parents of all columns make a tree, this is
    it.

    Returns
    -------
    parents : ndarray of shape (n_columns,)
        The place of each one's parent among ``columns``; ROOT for the class.
    frequency : ndarray of shape (n_columns,)
        That of the edge to it.
    """
    place = {ROOT: ROOT, **{column: place for place, column in enumerate(columns.tolist())}}
    parents = np.full(len(columns), ROOT)
    frequency = np.zeros(len(columns))
    placed = np.zeros(len(columns), np.bool_)
    for parent, child, share in edges.tolist():
        if parent not in place or child not in place or placed[place[child]]:
            continue
        node, above = place[child], place[parent]
        top = above
        while top not in (ROOT, node):
            top = int(parents[top])  # one that is not placed yet is below ROOT
        if top == ROOT:
            parents[node], frequency[node], placed[node] = above, share, True
    return parents, frequency
