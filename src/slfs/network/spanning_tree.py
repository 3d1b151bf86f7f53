"""Weights of edges -> the maximum spanning tree over columns and the class."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from slfs.network.tree import ROOT


def spanning_tree(
    weight: NDArray[np.float64],
    strength: Callable[[int, NDArray[np.int64]], NDArray[np.float64]],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the columns of the maximum spanning tree in order of insertion, and each one's parent.

    The tree is built with Prim's algorithm. ``weight`` contains the weight of the edge from the class to
    each column, and is overwritten; ``strength`` computes the weights of the edges between one column
    and others. Ties: the class, then the column with the smaller index. Parents are positions in the
    order of insertion.
    """
    rest = np.arange(len(weight))
    parent = np.full(len(weight), ROOT)
    nodes: list[int] = []
    parents: list[int] = []
    while len(rest):
        best = int(weight[rest].argmax())
        node = int(rest[best])
        nodes.append(node)
        parents.append(int(parent[node]))
        rest = np.delete(rest, best)
        found = strength(node, rest)
        nearer = found > weight[rest]
        weight[rest[nearer]] = found[nearer]
        parent[rest[nearer]] = len(nodes) - 1
    return np.array(nodes, np.int64), np.array(parents, np.int64)
