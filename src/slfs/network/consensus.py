"""Networks of many runs -> the frequency of each edge, and the tree of the most frequent edges."""

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
    """Tree over the features that most runs selected, with frequencies.

    In drawings the edges are labelled with frequencies instead of information.

    Attributes
    ----------
    frequency : ndarray of shape (n_nodes,)
        Share of the runs that selected the feature.
    edge_frequency : ndarray of shape (n_nodes,)
        Share of the runs in which the feature had the same parent as here.
    """

    frequency: NDArray[np.float64] = field(kw_only=True)
    edge_frequency: NDArray[np.float64] = field(kw_only=True)

    def edge_label(self, node: int) -> str:
        """Return the label of the edge between a node and its parent: its frequency.

        Parameters
        ----------
        node : int
            Index of the node.

        Returns
        -------
        label : str
            The frequency with two decimals.
        """
        return f"{self.edge_frequency[node]:.2f}"

    def _shown(self, node: int) -> str:
        return f"{self.names[node]} ({self.frequency[node]:.2f}, edge {self.edge_frequency[node]:.2f})"


def count_edges(runs: Iterable[tuple[Ints, Ints]], n_runs: int) -> np.recarray[Any, Any]:
    """Compute the frequency of each edge: ``parent`` (-1 for the class), ``child`` and ``frequency``.

    A run consists of the columns of its network and the position of each one's parent among them. The
    most frequent edge comes first; ties: the smaller child, then the smaller parent.
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
    """Build the tree over some columns from the most frequent edges.

    Edges are added by decreasing frequency. An edge that would close a cycle is skipped for the next one
    to the same child; if none is left, the child is placed below the class. If the most frequent parents
    of all columns form a tree, the result is that tree.

    Returns
    -------
    parents : ndarray of shape (n_columns,)
        Position of each one's parent in ``columns``; ROOT for the class.
    frequency : ndarray of shape (n_columns,)
        Frequency of the edge to the parent.
    """
    position = {ROOT: ROOT, **{column: position for position, column in enumerate(columns.tolist())}}
    parents = np.full(len(columns), ROOT)
    frequency = np.zeros(len(columns))
    placed = np.zeros(len(columns), np.bool_)
    for parent, child, share in edges.tolist():
        if parent not in position or child not in position or placed[position[child]]:
            continue
        node, above = position[child], position[parent]
        top = above
        while top not in (ROOT, node):
            top = int(parents[top])  # a node without an edge so far is below ROOT
        if top == ROOT:
            parents[node], frequency[node], placed[node] = above, share, True
    return parents, frequency
