"""Columns one at a time -> a tree below the class: the insertion of SLFS.

Columns go by their packed index. The class is ROOT.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from slfs.measures.false_discovery import LordPlusPlus
from slfs.measures.information import Information
from slfs.network.tree import ROOT
from slfs.screening.reasons import Decision, Reason

NOTHING = -2
"""Stands for "no such node"."""


@dataclass(frozen=True)
class Rules:
    """The readings of the paper that a tree is grown by; see `SLFS` for their meaning."""

    relevance_weight: float
    max_depth: float
    max_children: float
    rule: str
    irrelevance: str
    swap: str

    @property
    def affinity_weight(self) -> float:
        """The weight of I(f;Y|k) in the affinity of f to k (eq. 9 and 10 print 1)."""
        return self.relevance_weight if self.rule == "objective" else 1.0


@dataclass
class Tree:
    """A tree that grows: parent, level and children of each node, nodes in the order they joined."""

    parent: dict[int, int] = field(default_factory=dict)
    level: dict[int, int] = field(default_factory=lambda: {ROOT: 0})
    children: dict[int, list[int]] = field(default_factory=lambda: {ROOT: []})

    def attach(self, f: int, parent: int) -> None:
        self.parent[f] = parent
        self.level[f] = self.level[parent] + 1
        self.children[f] = []
        self.children[parent].append(f)

    def replace(self, old: int, new: int) -> None:
        """Give ``new`` the place of ``old``: same parent, same children."""
        parent = self.parent.pop(old)
        self.parent[new] = parent
        self.level[new] = self.level.pop(old)
        self.children[new] = self.children.pop(old)
        for child in self.children[new]:
            self.parent[child] = new
        siblings = self.children[parent]
        siblings[siblings.index(old)] = new


@dataclass
class Growth:
    """The tree so far, and what became of the columns that did not stay.

    Attributes
    ----------
    tree : Tree
    lost_to : dict
        For each redundant column the node that it lost against.
    dropped : dict of int to Decision
        Why columns did not stay in the tree.
    tests : LordPlusPlus or None
        The tests of the columns so far, where columns are tested as they come.
    discoveries : ndarray
        Of the columns that arrive now, by their index in the table, those that the tests have found.
    """

    tree: Tree = field(default_factory=Tree)
    lost_to: dict[int, int] = field(default_factory=dict)
    dropped: dict[int, Decision] = field(default_factory=dict)
    tests: LordPlusPlus | None = None
    discoveries: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))


BestChild = Callable[[int, int], tuple[int, float]]


class TreeBuilder:
    """Inserts columns into a growing tree."""

    def __init__(self, information: Information, rules: Rules, growth: Growth) -> None:
        self.information = information
        self.rules = rules
        self.tree = growth.tree
        self.growth = growth

    def insert_in_order(self, columns: NDArray[np.int64]) -> None:
        """Insert columns as they come."""
        for f in columns.tolist():
            self.insert(f, self._nearest_child)

    def insert_by_margin(self, columns: NDArray[np.int64]) -> None:
        """Insert first what tells most about the class that no node tells already.

        The next column has the largest m(f) = min(R(f), min over nodes k of I(f;Y|k)), ties: the
        smaller column. Each node, once attached, meets all columns that still wait; m only falls, so a
        queue with outdated entries finds the next one.
        """
        paths = _Paths(self, columns)
        queue = [(-paths.margin[f], f) for f in columns.tolist()]
        heapq.heapify(queue)
        while queue:
            outdated, f = queue[0]
            if paths.margin[f] < -outdated:
                heapq.heapreplace(queue, (-paths.margin[f], f))
                continue
            heapq.heappop(queue)
            paths.waiting[f] = False
            self.insert(f, paths.best_child)
            if f in self.tree.parent:
                paths.meet(f)

    def insert(self, f: int, best_child: BestChild) -> None:
        """Find the place of one column, or none (section 4.2 and algorithm 1 of the paper).

        ``best_child`` tells which child of a node a column would go on to, and its affinity.
        """
        tree, rules = self.tree, self.rules
        node, affinity = best_child(f, ROOT)
        if self._irrelevant_below(f, node):
            self.growth.dropped[f] = Decision(Reason.EQUATION_7)
            return
        if node == NOTHING or (self._prefers_class(f, node, affinity) and self._has_room(ROOT)):
            tree.attach(f, ROOT)
            return
        moving = f
        while True:
            if self._should_swap(moving, node):
                tree.replace(node, moving)
                moving, node = node, moving
                affinity = float(self._affinities(moving, [node])[0])
            if tree.level[node] == rules.max_depth:
                self.growth.lost_to[moving] = node
                self.growth.dropped[moving] = Decision(Reason.NO_ROOM)
                return
            child, child_affinity = best_child(moving, node)
            if child == NOTHING or (affinity > child_affinity and self._has_room(node)):
                tree.attach(moving, node)
                return
            node, affinity = child, child_affinity

    # -- the decisions ---------------------------------------------------------------------------

    def _irrelevant_below(self, f: int, node: int) -> bool:
        """Eq. 7, as printed or reversed; the other tests of relevance need no tree."""
        if self.rules.irrelevance not in ("printed", "reversed") or node == NOTHING:
            return False
        pair = self.information.pairs(f, np.array([node]))
        affinity = pair.mutual_information[0] - pair.of_one_given_other[0]
        wrong_side = affinity < 0 if self.rules.irrelevance == "printed" else affinity > 0
        return bool(wrong_side and self.information.relevance[f] < self.information.entropy[f])

    def _prefers_class(self, f: int, node: int, affinity: float) -> bool:
        """Eq. 8: below the class rather than below ``node``, the nearest of its children."""
        relevance, relevance_weight = self.information.relevance[f], self.rules.relevance_weight
        if self.rules.rule == "objective":
            return bool(relevance > affinity)
        pair = self.information.pairs(f, np.array([node]))
        below = pair.mutual_information[0] - relevance_weight * pair.of_one_given_other[0]
        return bool(relevance_weight * relevance - self.information.entropy[f] > below)

    def _should_swap(self, moving: int, node: int) -> bool:
        """Eq. 12, or only if J of the whole tree rises, both columns being in it."""
        if self.rules.swap == "never":
            return False
        if self.rules.swap == "printed":
            return bool(self.information.relevance[moving] > self.information.relevance[node])
        parent, children = self.tree.parent[node], self.tree.children[node]
        rise = self._place_value(moving, parent) - self._place_value(node, parent)
        rise += self._place_value(node, moving) - self._place_value(moving, node)
        for child in children:
            rise += self._place_value(child, moving) - self._place_value(child, node)
        return rise > 0

    def _place_value(self, f: int, parent: int) -> float:
        """J(f below parent), but for the terms that are the same below any parent."""
        if parent == ROOT:
            return float(self.information.relevance[f])
        pair = self.information.pairs(f, np.array([parent]))
        return float(
            pair.mutual_information[0] - self.rules.relevance_weight * pair.of_one_given_other[0]
        )

    def _has_room(self, node: int) -> bool:
        return len(self.tree.children[node]) < self.rules.max_children

    def _affinities(self, f: int, nodes: list[int]) -> NDArray[np.float64]:
        pair = self.information.pairs(f, np.array(nodes))
        return pair.mutual_information - self.rules.affinity_weight * pair.of_one_given_other

    def _nearest_child(self, f: int, node: int) -> tuple[int, float]:
        """The child of ``node`` to which f has the largest affinity; ties: the smaller column."""
        children = sorted(self.tree.children[node])
        if not children:
            return NOTHING, -np.inf
        affinities = self._affinities(f, children)
        best = int(affinities.argmax())
        return children[best], float(affinities[best])


class _Paths:
    """For every waiting column: its margin m(f), and the way that it would take down the tree.

    On its way a column goes from a node to the nearest of its children. A new node can only become the
    end of such a way, since it has no child yet: so the ways are kept up to date by one comparison for
    each column and new node, and no table of all columns by all nodes is needed.
    """

    def __init__(self, builder: TreeBuilder, columns: NDArray[np.int64]) -> None:
        self._builder = builder
        self._size = len(builder.information.relevance)
        self.margin = builder.information.relevance.copy()
        self.waiting = np.zeros(self._size, np.bool_)
        self.waiting[columns] = True
        self._nodes: list[NDArray[np.int64]] = []
        self._affinities: list[NDArray[np.float64]] = []

    def best_child(self, f: int, node: int) -> tuple[int, float]:
        """The child of ``node``, which lies on the way of f, that f would go on to."""
        level = self._builder.tree.level[node]
        if level == len(self._nodes):
            return NOTHING, -np.inf
        return int(self._nodes[level][f]), float(self._affinities[level][f])

    def meet(self, node: int) -> None:
        """Confront all waiting columns with a node that has just been attached."""
        tree = self._builder.tree
        others = np.flatnonzero(self.waiting)
        pair = self._builder.information.pairs(node, others)
        self.margin[others] = np.minimum(self.margin[others], pair.of_other_given_one)
        weight = self._builder.rules.affinity_weight
        affinity = pair.mutual_information - weight * pair.of_other_given_one
        level = tree.level[node] - 1
        if level == len(self._nodes):
            self._nodes.append(np.full(self._size, NOTHING))
            self._affinities.append(np.full(self._size, -np.inf))
        nearer = affinity > self._affinities[level][others]
        nearer |= (affinity == self._affinities[level][others]) & (node < self._nodes[level][others])
        if level > 0:
            nearer &= self._nodes[level - 1][others] == tree.parent[node]
        self._nodes[level][others[nearer]] = node
        self._affinities[level][others[nearer]] = affinity[nearer]
        for deeper in range(level + 1, len(self._nodes)):
            self._nodes[deeper][others[nearer]] = NOTHING
            self._affinities[deeper][others[nearer]] = -np.inf
