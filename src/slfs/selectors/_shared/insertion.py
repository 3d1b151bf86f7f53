"""Columns, one at a time -> a tree below the class: the insertion step of SLFS.

Columns are identified by their packed index; the class is ROOT.
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
from slfs.selectors._shared.redundancy import NOTHING as NO_INFORMATION
from slfs.selectors._shared.redundancy import adds_nothing

NOTHING = -2
"""Index that means "no such node"."""


_EQUATION_7, _NO_ROOM = Decision(Reason.EQUATION_7), Decision(Reason.NO_ROOM)
_ADDS_NOTHING = Decision(Reason.ADDS_NOTHING)


@dataclass(frozen=True)
class Rules:
    """Parameters of `SLFS` that control how the tree grows."""

    relevance_weight: float
    max_depth: float
    max_children: float
    rule: str
    irrelevance: str
    swap: str
    drop_redundant: bool
    """Whether columns that add nothing to their parent are dropped; not so in the paper."""

    @property
    def affinity_weight(self) -> float:
        """Weight of I(f;Y|k) in the affinity of f to k (1 in eq. 9 and 10 as printed)."""
        return self.relevance_weight if self.rule == "objective" else 1.0


@dataclass
class Tree:
    """A growing tree: parent, level and children of each node, nodes in order of insertion."""

    parent: dict[int, int] = field(default_factory=dict)
    level: dict[int, int] = field(default_factory=lambda: {ROOT: 0})
    children: dict[int, list[int]] = field(default_factory=lambda: {ROOT: []})

    def attach(self, f: int, parent: int) -> None:
        self.parent[f] = parent
        self.level[f] = self.level[parent] + 1
        self.children[f] = []
        self.children[parent].append(f)

    def detach(self, f: int) -> None:
        """Take out a node, with the nodes below it."""
        for child in list(self.children[f]):
            self.detach(child)
        self.children[self.parent.pop(f)].remove(f)
        del self.level[f], self.children[f]

    def replace(self, old: int, new: int) -> None:
        """Replace the node ``old`` by ``new``, which gets its parent and children."""
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
    """The tree so far, and the columns that are not in it.

    Attributes
    ----------
    tree : Tree
        The nodes inserted so far.
    lost_to : dict
        For each column that did not find a place, the node that it lost to.
    dropped : dict of int to Decision
        Why columns are not in the tree.
    displaced : dict
        For each column that is a child of the class because the node closest to it is full, this node.
    tests : LordPlusPlus or None
        State of the online tests, where columns are tested one by one.
    discoveries : ndarray
        Significant columns among those that arrive now, by their index in the table.
    """

    tree: Tree = field(default_factory=Tree)
    lost_to: dict[int, int] = field(default_factory=dict)
    dropped: dict[int, Decision] = field(default_factory=dict)
    displaced: dict[int, int] = field(default_factory=dict)
    tests: LordPlusPlus | None = None
    discoveries: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))


BestChild = Callable[[int, int], tuple[int, float]]
Closest = Callable[[int], tuple[int, float]]


class TreeBuilder:
    """Insert columns into a growing tree."""

    def __init__(self, information: Information, rules: Rules, growth: Growth) -> None:
        self.information = information
        self.rules = rules
        self.tree = growth.tree
        self.growth = growth

    def insert_in_order(self, columns: NDArray[np.int64]) -> None:
        """Insert columns in the given order."""
        for f in columns.tolist():
            self.insert(f, self._nearest_child, self._closest)

    def insert_by_margin(self, columns: NDArray[np.int64], given: NDArray[np.int64]) -> None:
        """Insert the column with the most information about the class that no node contains first.

        The next column maximizes the margin m(f) = min(R(f), min over nodes k of I(f;Y|k)); ties: the
        column with the smaller index. After each insertion the margins of all waiting columns are
        updated; they only decrease, so a priority queue with outdated entries finds the next column. The
        columns ``given`` count like nodes, but are not in the tree.
        """
        paths = _Paths(self, columns)
        for f in given.tolist():
            paths.lower(f)
        for f in list(self.tree.parent):  # in order, so that parents come before their children
            paths.meet(f)
        queue = [(-paths.margin[f], f) for f in columns.tolist()]
        heapq.heapify(queue)
        while queue:
            outdated, f = queue[0]
            if paths.margin[f] < -outdated:
                heapq.heapreplace(queue, (-paths.margin[f], f))
                continue
            heapq.heappop(queue)
            paths.waiting[f] = False
            self.insert(f, paths.best_child, paths.closest)
            if f in self.tree.parent:
                paths.meet(f)

    def insert(self, f: int, best_child: BestChild, closest: Closest) -> None:
        """Find the position of one column, or drop it (section 4.2 and algorithm 1 of the paper).

        ``best_child`` returns the child of a node that a column would move down to, and its affinity.
        ``closest`` returns the node given which a column tells least about the class, and how much that
        is.
        """
        tree, rules = self.tree, self.rules
        node, affinity = best_child(f, ROOT)
        if self._irrelevant_below(f, node):
            self.growth.dropped[f] = _EQUATION_7
            return
        near, added = closest(f) if rules.drop_redundant else (NOTHING, np.inf)
        if added < NO_INFORMATION:
            self._drop(f, near, _ADDS_NOTHING)
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
                self._drop(moving, node if near == NOTHING or moving != f else near, _NO_ROOM)
                return
            child, child_affinity = best_child(moving, node)
            if child == NOTHING or (affinity > child_affinity and self._has_room(node)):
                if rules.drop_redundant and self._adds_nothing(moving, node):
                    self._drop(moving, node, _ADDS_NOTHING)
                else:
                    tree.attach(moving, node)
                return
            node, affinity = child, child_affinity

    def place(self, f: int) -> bool:
        """Insert a column that is to be in the tree, and return whether there was room.

        If the position of section 4.2 of the paper has no room, the column gets the best one that has.
        """
        tree = self.tree
        nodes = list(tree.parent)
        affinity = dict(zip(nodes, self._affinities(f, nodes).tolist(), strict=True))
        affinity[ROOT] = float(self.information.relevance[f]) - NO_INFORMATION  # not in a rounded tie

        def nearest(children: list[int]) -> int:
            """Return the node with the largest affinity to f; ties: the smaller index."""
            return max(sorted(children), key=affinity.__getitem__, default=NOTHING)

        node: int = ROOT
        child = nearest(tree.children[ROOT])
        while child != NOTHING and not self._stays(f, node, child, affinity):
            node, child = child, nearest(tree.children[child])
        if not self._has_place_below(node):
            full, node = node, nearest([node for node in affinity if self._has_place_below(node)])
            if node == ROOT and self.rules.max_depth > 1:
                self.growth.displaced[f] = full
        if node == NOTHING:
            return False
        tree.attach(f, node)
        return True

    def _stays(self, f: int, node: int, child: int, affinity: dict[int, float]) -> bool:
        """Whether f is placed below a node that has room rather than moving down to its child."""
        if not self._has_room(node):
            return False
        if node == ROOT:
            return self._prefers_class(f, child, affinity[child])
        return affinity[node] > affinity[child]

    def _has_place_below(self, node: int) -> bool:
        return self.tree.level[node] < self.rules.max_depth and self._has_room(node)

    def drop_rest(self, columns: NDArray[np.int64]) -> None:
        """Drop columns; each one lost to the node given which it tells least about the class."""
        least, closest = np.full(len(columns), np.inf), np.full(len(columns), NOTHING)
        for node in self.tree.parent:
            added = self.information.pairs(node, columns).of_other_given_one
            less = added < least
            least[less], closest[less] = added[less], node
        for f, node in zip(columns.tolist(), closest.tolist(), strict=True):
            if node != NOTHING:
                self._drop(f, node, _NO_ROOM)

    def _drop(self, f: int, node: int, why: Decision) -> None:
        self.growth.lost_to[f] = node
        self.growth.dropped[f] = why

    # -- the decisions ---------------------------------------------------------------------------

    def _irrelevant_below(self, f: int, node: int) -> bool:
        """Eq. 7, as printed or reversed; the other rules for irrelevance do not depend on the tree."""
        if self.rules.irrelevance not in ("printed", "reversed") or node == NOTHING:
            return False
        pair = self.information.pairs(f, np.array([node]))
        affinity = pair.mutual_information[0] - pair.of_one_given_other[0]
        wrong_side = affinity < 0 if self.rules.irrelevance == "printed" else affinity > 0
        return bool(wrong_side and self.information.relevance[f] < self.information.entropy[f])

    def _prefers_class(self, f: int, node: int, affinity: float) -> bool:
        """Eq. 8: whether f is placed below the class rather than below its nearest child, ``node``."""
        relevance, relevance_weight = self.information.relevance[f], self.rules.relevance_weight
        if self.rules.rule == "objective":
            return bool(relevance - affinity > NO_INFORMATION)
        pair = self.information.pairs(f, np.array([node]))
        below = pair.mutual_information[0] - relevance_weight * pair.of_one_given_other[0]
        return bool(relevance_weight * relevance - self.information.entropy[f] > below)

    def _should_swap(self, moving: int, node: int) -> bool:
        """Eq. 12, or whether the swap increases J of the whole tree with both columns in it."""
        if self.rules.swap == "never":
            return False
        if self.rules.swap == "printed":
            return bool(self.information.relevance[moving] > self.information.relevance[node])
        parent, children = self.tree.parent[node], self.tree.children[node]
        gain = self._position_value(moving, parent) - self._position_value(node, parent)
        gain += self._position_value(node, moving) - self._position_value(moving, node)
        for child in children:
            gain += self._position_value(child, moving) - self._position_value(child, node)
        return gain > 0

    def _position_value(self, f: int, parent: int) -> float:
        """J of f below a parent, without the terms that are the same for all parents."""
        if parent == ROOT:
            return float(self.information.relevance[f])
        pair = self.information.pairs(f, np.array([parent]))
        return float(
            pair.mutual_information[0] - self.rules.relevance_weight * pair.of_one_given_other[0]
        )

    def _adds_nothing(self, f: int, node: int) -> bool:
        columns = np.array([f])
        added = self.information.pairs(node, columns).of_other_given_one
        return bool(adds_nothing(self.information, node, columns, added)[0])

    def _has_room(self, node: int) -> bool:
        return len(self.tree.children[node]) < self.rules.max_children

    def _affinities(self, f: int, nodes: list[int]) -> NDArray[np.float64]:
        pair = self.information.pairs(f, np.array(nodes, np.int64))
        return pair.mutual_information - self.rules.affinity_weight * pair.of_one_given_other

    def _nearest_child(self, f: int, node: int) -> tuple[int, float]:
        """The child of ``node`` with the largest affinity to f; ties: the smaller index."""
        children = sorted(self.tree.children[node])
        if not children:
            return NOTHING, -np.inf
        affinities = self._affinities(f, children)
        best = int(affinities.argmax())
        return children[best], float(affinities[best])

    def _closest(self, f: int) -> tuple[int, float]:
        """Return the first node given which f tells least about the class, and how much that is."""
        nodes = np.fromiter(self.tree.parent, np.int64, len(self.tree.parent))
        if len(nodes) == 0:
            return NOTHING, np.inf
        added = self.information.pairs(f, nodes).of_one_given_other
        return int(nodes[added.argmin()]), float(added.min())


class _Paths:
    """For every waiting column: its margin m(f), and its path down the tree.

    On its path a column moves from a node to the nearest child. A new node can only become the end of a
    path, because it has no children yet. The paths are therefore updated by one comparison per column
    and new node, and no table of all columns by all nodes is needed.
    """

    def __init__(self, builder: TreeBuilder, columns: NDArray[np.int64]) -> None:
        self._builder = builder
        self._size = len(builder.information.relevance)
        self.margin = builder.information.relevance.copy()
        self._closest = np.full(self._size, NOTHING)
        self._added = np.full(self._size, np.inf)
        self.waiting = np.zeros(self._size, np.bool_)
        self.waiting[columns] = True
        self._nodes: list[NDArray[np.int64]] = []
        self._affinities: list[NDArray[np.float64]] = []

    def best_child(self, f: int, node: int) -> tuple[int, float]:
        """Return the next node on the path of f after ``node``, and the affinity of f to it."""
        level = self._builder.tree.level[node]
        if level == len(self._nodes):
            return NOTHING, -np.inf
        return int(self._nodes[level][f]), float(self._affinities[level][f])

    def closest(self, f: int) -> tuple[int, float]:
        """Return the first node given which f tells least about the class, and how much that is."""
        return int(self._closest[f]), float(self._added[f])

    def lower(self, given: int) -> None:
        """Lower the margins of all waiting columns to what they tell given a column."""
        others = np.flatnonzero(self.waiting)
        added = self._builder.information.pairs(given, others).of_other_given_one
        self.margin[others] = np.minimum(self.margin[others], added)

    def meet(self, node: int) -> None:
        """Update margins and paths of all waiting columns after a node was attached."""
        tree = self._builder.tree
        others = np.flatnonzero(self.waiting)
        pair = self._builder.information.pairs(node, others)
        added = pair.of_other_given_one
        less = added < self._added[others]
        self._closest[others[less]], self._added[others[less]] = node, added[less]
        self.margin[others] = np.minimum(self.margin[others], added)
        weight = self._builder.rules.affinity_weight
        affinity = pair.mutual_information - weight * added
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
