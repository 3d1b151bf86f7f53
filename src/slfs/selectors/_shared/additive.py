"""Selected columns -> an additive model: tables of columns and of edges, whose entries add up."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, softmax

from slfs.coding.codebook import Coding
from slfs.coding.encode import Encoded
from slfs.measures.additive import fit_tables
from slfs.measures.information import Information
from slfs.network.spanning_tree import spanning_tree
from slfs.network.tree import ROOT
from slfs.selectors._shared.reference import draw_samples, find_scale, find_shift
from slfs.selectors._shared.refinement import refine_levels
from slfs.selectors._shared.selection import without_large_tables

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_ALPHA = 0.05
"""Level of the test of dependence given the class."""


@dataclass(frozen=True)
class AdditiveTables:
    """A log-linear model of the class, with one table per node and one per edge.

    log P(class | x) is, up to a constant, ``log_prior`` plus the entries of all tables at the levels of
    x. Unknown values add nothing, but what the others add is corrected such that the mean prediction
    does not change; see `reference`. A prediction without known values is that of the class frequencies.
    The means of the tables of edges over the training data are zero, and those of the tables of nodes
    are all equal.

    Attributes
    ----------
    log_prior : ndarray of shape (n_classes,)
        Logarithms of the class frequencies.
    nodes : list of ndarray of shape (n_levels, n_classes)
        The table of each node.
    parents : ndarray of shape (n_nodes,)
        The node at the other end of each node's edge; ROOT for none.
    edges : list of ndarray of shape (n_levels, n_levels of the parent, n_classes), or None
        The table of the edge to the parent of each node; None without a parent.
    importances : ndarray of shape (n_nodes,)
        Mean absolute difference between what each node adds to a class and the mean over the classes, in
        the training data.
    coding : Coding
        The levels of the nodes. Those of numbers are divided at the quartiles.
    drawn : ndarray of shape (n_nodes, n_drawn)
        Levels of samples that are drawn from a network of the nodes; see `draw_samples`.
    """

    log_prior: Floats
    nodes: list[Floats]
    parents: Ints
    edges: list[Floats | None]
    importances: Floats
    coding: Coding
    drawn: NDArray[np.uint8]

    def entries(self, encoded: Encoded, node: int) -> Floats:
        """Return what a node and its edge add to each class, of shape (n_samples, n_classes)."""
        own, parent = encoded.codes[node], int(self.parents[node])
        found: Floats = self.nodes[node][own]
        edge = self.edges[node]
        if edge is not None:
            both = edge[own, encoded.codes[parent]]
            if parent in encoded.unknown:
                both[encoded.unknown[parent]] = 0.0
            found += both
        if node in encoded.unknown:
            found[encoded.unknown[node]] = 0.0
        return found

    def scores(self, encoded: Encoded) -> Floats:
        """Return the logarithm of each class's probability up to a constant per sample."""
        score, rows = self._sum(encoded), encoded.unknown_rows()
        if len(rows):
            scale, shift = self._adjustments(encoded.unknown_mask(rows))
            added = score[rows] - self.log_prior
            score[rows] = self.log_prior + scale[:, np.newaxis] * added + shift
        return score

    def _sum(self, encoded: Encoded) -> Floats:
        """Return the sum of all entries, without shifts."""
        score = np.tile(self.log_prior, (encoded.codes.shape[1], 1))
        for node in range(len(self.nodes)):
            score += self.entries(encoded, node)
        return score

    def log_factors(self, encoded: Encoded) -> Floats:
        """Return what each node adds to the scores, of shape (n_samples, n_nodes, n_classes).

        The shift of samples with unknown values is divided between the known ones.
        """
        found = np.empty((encoded.codes.shape[1], len(self.nodes), len(self.log_prior)))
        for node in range(len(self.nodes)):
            found[:, node] = self.entries(encoded, node)
        rows = encoded.unknown_rows()
        if len(rows):
            known = ~encoded.unknown_mask(rows).T
            scale, shift = self._adjustments(~known.T)
            share = known / np.maximum(known.sum(axis=1, keepdims=True), 1)
            found[rows] *= scale[:, np.newaxis, np.newaxis]
            found[rows] += share[:, :, np.newaxis] * shift[:, np.newaxis]
        return found

    def _adjustments(self, unknown: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """Return by what to multiply what the known values of samples add, and what to add to it.

        ``unknown`` has the shape (n_nodes, n_samples).
        """
        n_classes = len(self.log_prior)
        if self.drawn.shape[1] == 0:
            return np.ones(unknown.shape[1]), np.zeros((unknown.shape[1], n_classes))
        patterns, index = np.unique(unknown, axis=1, return_inverse=True)
        every, prior = np.ones(self.drawn.shape[1], np.bool_), np.exp(self.log_prior)
        whole = self._sum(Encoded(self.drawn)) - self.log_prior
        # that of all values is not quite that of the data; without values it is the class frequencies
        mean = softmax(self.log_prior + whole, axis=1).mean(axis=0)
        usual = find_scale(whole, self.log_prior, mean) or 1.0
        scales, shifts = np.empty(patterns.shape[1]), np.empty((patterns.shape[1], n_classes))
        for number, pattern in enumerate(patterns.T):
            drawn = Encoded(self.drawn, dict.fromkeys(np.flatnonzero(pattern).tolist(), every))
            added, share = self._sum(drawn) - self.log_prior, pattern.mean()
            wanted = share * prior + (1 - share) * mean
            scales[number] = min(find_scale(added, self.log_prior, wanted) / usual, 1.0)
            shifts[number] = find_shift(self.log_prior + scales[number] * added, wanted)
        index = index.ravel()
        return scales[index], shifts[index]

    def scaled(self, scale: float) -> Self:
        """Multiply what the columns add by a number."""
        nodes = [table * scale for table in self.nodes]
        edges = [None if edge is None else edge * scale for edge in self.edges]
        return replace(self, nodes=nodes, edges=edges, importances=self.importances * scale)


def node_scores(log_prior: Floats, nodes: list[Floats], encoded: Encoded) -> Floats:
    """Return the scores of a model without edges; see `AdditiveTables.scores`."""
    score = np.tile(log_prior, (encoded.codes.shape[1], 1))
    for node, table in enumerate(nodes):
        added = table[encoded.codes[node]]
        if node in encoded.unknown:
            added[encoded.unknown[node]] = 0.0
        score += added
    return score


def fit_additive_tables(
    information: Information, columns: Ints, coding: Coding, *, edges: bool = True
) -> AdditiveTables:
    """Fit the tables of packed columns, and of the edges of a tree over them, to the class.

    Edges between columns that do not depend significantly on each other given the class are left out.
    If the quartiles of columns are packed, they have tables, too, which are added to those of the
    levels: the levels of ``coding`` are cut where the classes differ most, and may be wide elsewhere.
    """
    layout = information.packed.layout
    codes, n_levels, parents = columns_and_tree(information, columns)
    parents = _dependent(
        information, columns, n_levels, parents if edges else np.full_like(parents, ROOT)
    )
    fine = refine_levels(information, columns, codes, coding)
    both = np.concatenate([codes, fine.quartile_codes])
    n_both = np.append(n_levels, fine.quartile_codes.max(axis=1, initial=0).astype(np.int64) + 1)
    others = np.append(parents, np.full(len(fine.quartile_codes), ROOT))
    tables, pairs = fit_tables(both, n_both, others, layout.labels, layout.totals, layout.unit)
    trends = dict(zip(fine.divided.tolist(), tables[len(columns) :], strict=True))
    nodes = [fine.node(node, tables[node], trends.get(node)) for node in range(len(columns))]
    pairs = [
        None if pair is None else fine.edge(node, int(parents[node]), pair)
        for node, pair in enumerate(pairs[: len(columns)])
    ]
    counts = level_counts(fine.codes, fine.coding.n_levels, parents)
    nodes, pairs = _centred(nodes, pairs, counts)
    share = layout.totals / layout.n_samples
    importances = np.empty(len(columns))
    for node, (own, pair) in enumerate(zip(nodes, pairs, strict=True)):
        table = own if pair is None else own[:, np.newaxis] + pair
        contribution = np.abs(table - (table @ share)[..., np.newaxis]) @ share
        importances[node] = np.average(contribution, weights=counts[node])
    drawn = draw_samples(fine.codes, fine.coding.n_levels, parents, layout.labels, layout.totals)
    return AdditiveTables(np.log(share), nodes, parents, pairs, importances, fine.coding, drawn)


def columns_and_tree(information: Information, columns: Ints) -> tuple[NDArray[np.uint8], Ints, Ints]:
    """Return the codes of columns, their numbers of levels, and each one's parent in a tree.

    The tree maximizes the sum of I(f;k|Y) over its edges.
    """
    layout = information.packed.layout
    parents = np.full(len(columns), ROOT)
    order, above = spanning_tree(
        np.full(len(columns), -1.0),
        lambda node, rest: information.pairs(int(columns[node]), columns[rest]).given_class,
    )
    has_parent = above != ROOT
    parents[order[has_parent]] = order[above[has_parent]]
    n_levels = information.packed.arrays.levels[columns].astype(np.int64)
    codes = np.empty((len(columns), layout.n_samples), np.uint8)
    for node, column in enumerate(columns.tolist()):
        codes[node] = information.codes(column)
    return codes, n_levels, without_large_tables(parents, n_levels, layout)


def _dependent(information: Information, columns: Ints, n_levels: Ints, parents: Ints) -> Ints:
    """Return the parents of nodes, ROOT for those that may be independent of theirs given the class.

    This is a G-test; a table of columns that are independent adds noise to every prediction.
    """
    layout, kept = information.packed.layout, parents.copy()
    for node in np.flatnonzero(parents != ROOT).tolist():
        parent = int(parents[node])
        shared = information.pairs(int(columns[parent]), columns[[node]]).given_class[0]
        freedom = (n_levels[node] - 1) * (n_levels[parent] - 1) * layout.n_classes
        if chdtrc(freedom, 2 * layout.evidence * shared) > _ALPHA:
            kept[node] = ROOT
    return kept


def level_counts(codes: NDArray[np.uint8], n_levels: Ints, parents: Ints) -> list[Ints]:
    """Return the number of samples of each node by level, or by levels of both ends of its edge."""
    counts = []
    for node, parent in enumerate(parents.tolist()):
        own, size = codes[node].astype(np.int64), int(n_levels[node])
        if parent == ROOT:
            counts.append(np.bincount(own, minlength=size))
            continue
        width = int(n_levels[parent])
        both = np.bincount(own * width + codes[parent], minlength=size * width)
        counts.append(both.reshape(size, width))
    return counts


def _centred(
    nodes: list[Floats], edges: list[Floats | None], counts: list[Ints]
) -> tuple[list[Floats], list[Floats | None]]:
    """Shift tables by constants that add up to zero; see `AdditiveTables` for the result.

    ``counts`` are the numbers of samples: by level, or by levels of both ends of the edge.
    """
    nodes, edges = list(nodes), list(edges)
    for node, edge in enumerate(edges):
        if edge is not None:
            mean = np.average(edge.reshape(-1, edge.shape[2]), axis=0, weights=counts[node].ravel())
            edges[node], nodes[node] = edge - mean, nodes[node] + mean
    if not nodes:
        return nodes, edges
    means = [
        np.average(table, axis=0, weights=own.reshape(len(table), -1).sum(axis=1))
        for table, own in zip(nodes, counts, strict=True)
    ]
    common = np.mean(means, axis=0)
    return [table - mean + common for table, mean in zip(nodes, means, strict=True)], edges
