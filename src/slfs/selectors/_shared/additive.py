"""Selected columns -> an additive model: tables of columns and of edges, whose entries add up."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, softmax
from scipy.stats import norm

from slfs.coding.codebook import Coding
from slfs.coding.encode import Encoded
from slfs.counting.planes import SampleLayout
from slfs.measures.additive import fit_tables
from slfs.measures.information import Information
from slfs.measures.squared import MOST_RESIDUALS, fit_squared
from slfs.network.spanning_tree import spanning_tree
from slfs.network.tree import ROOT
from slfs.selectors._shared.reference import draw_samples, find_shift
from slfs.selectors._shared.refinement import refine_levels
from slfs.selectors._shared.selection import without_large_tables

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_GROUPS, _SMALLEST_GROUP = 10, 50
"""Maximum number of groups of residuals, and minimum number of samples that each is worth."""

_FREQUENT, _SEVERAL = 0.005, 5
"""Share and number of the samples that have a frequent value of a continuous target."""

_NEAR, _ROUGHLY = 0.1, 0.5
"""Distance from an interval, relative to its width, that is small; the same with unknown values, whose
intervals are not as precise."""

_ALPHA = 0.05
"""Level of the test of dependence given the class."""

_CHUNK = 1000
"""Number of samples with unknown values that are handled at a time."""

_SAME = 1e-12
"""Difference of equal predictions relative to the largest one: they are summed in different orders."""


@dataclass(frozen=True)
class AdditiveTables:
    """A log-linear model of the class, with one table per node and one per edge.

    log P(class | x) is, up to a constant, ``log_prior`` plus the entries of all tables at the levels of
    x. Unknown values add nothing, but shift the scores such that the mean prediction does not change;
    see `reference`. A prediction without known values is that of the class frequencies. The means of the
    tables of edges over the training data are zero, and those of the tables of nodes are all equal.

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
            score[rows] += self._shifts(encoded.unknown_mask(rows))
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
            share = known / np.maximum(known.sum(axis=1, keepdims=True), 1)
            found[rows] += share[:, :, np.newaxis] * self._shifts(~known.T)[:, np.newaxis]
        return found

    def _shifts(self, unknown: NDArray[np.bool_]) -> Floats:
        """Return the shifts of samples; ``unknown`` has the shape (n_nodes, n_samples)."""
        if self.drawn.shape[1] == 0:
            return np.zeros((unknown.shape[1], len(self.log_prior)))
        patterns, index = np.unique(unknown, axis=1, return_inverse=True)
        # that of all values is not quite that of the data; without values it is the class frequencies
        prior, mean = (
            np.exp(self.log_prior),
            softmax(self._sum(Encoded(self.drawn)), axis=1).mean(axis=0),
        )
        every, shifts = np.ones(self.drawn.shape[1], np.bool_), np.empty((patterns.shape[1], len(prior)))
        for shift, pattern in zip(shifts, patterns.T, strict=True):
            drawn = Encoded(self.drawn, dict.fromkeys(np.flatnonzero(pattern).tolist(), every))
            share = pattern.mean()
            shift[:] = find_shift(self._sum(drawn), share * prior + (1 - share) * mean)
        return shifts[index.ravel()]

    def scaled(self, scale: float) -> Self:
        """Multiply what the columns add by a number."""
        nodes = [table * scale for table in self.nodes]
        edges = [None if edge is None else edge * scale for edge in self.edges]
        return replace(self, nodes=nodes, edges=edges, importances=self.importances * scale)


@dataclass(frozen=True)
class RegressionTables(AdditiveTables):
    """An additive model of a continuous target, with one table per node and one per edge.

    There is one class, so to speak: ``log_prior`` is the mean of the target, and the tables add to it.
    Their means over the training data are zero.

    Attributes
    ----------
    limits : ndarray of shape (n_groups - 1,)
        Predictions up to ``limits[0]`` are in the first group, and so on.
    residuals : list of ndarray
        For each group the differences, in ascending order, between the targets of training samples and
        what a model without that sample predicts.
    weights : list of ndarray
        How many samples each residual is worth: 1 without sample weights.
    spread : ndarray of shape (n_factors, 2, n_nodes)
        Factors of the covariance of what nodes (index 0) and edges (index 1) add; see `SquaredFit`.
    frequent, shares : ndarray of shape (n_frequent,)
        Values of the target that are frequent, such as 0, in ascending order; their shares of the
        samples.
    drift : float
        By how much predictions differ from those of the models that the residuals are from.
    """

    limits: Floats
    residuals: list[Floats]
    weights: list[Floats]
    spread: Floats
    frequent: Floats
    shares: Floats
    drift: float = 0.0

    def scaled(self, scale: float) -> Self:
        """Multiply what the columns add by a number."""
        return replace(super().scaled(scale), spread=self.spread * scale)

    @property
    def largest_coverage(self) -> float:
        """Coverage of the interval between the extreme residuals."""
        weights = np.concatenate(self.weights)
        return 1 - 2 / (max(len(weights), float(weights.sum())) + 1)

    def interval(self, encoded: Encoded, coverage: float) -> Floats:
        """Return lower and upper ends around predictions, from the residuals of similar predictions.

        Unknown values add nothing to a prediction. What they would have added varies by its standard
        deviation in the training data, and widens the interval. Where a group has too few residuals for
        the coverage, the interval also contains that of the residuals of all groups.
        """
        predictions = self.scores(encoded)[:, 0]
        ends = np.empty((len(predictions), 2))
        tail = (1 - coverage) / 2
        every, its_weights = np.concatenate(self.residuals), np.concatenate(self.weights)
        order = np.argsort(every, kind="stable")
        widest = _residual_range(every[order], its_weights[order], tail)
        for group, (residuals, weights) in enumerate(zip(self.residuals, self.weights, strict=True)):
            low, high = _residual_range(residuals, weights, tail)
            if (weights.sum() + 1) * tail < 1:
                low, high = min(low, widest[0]), max(high, widest[1])
            own = np.searchsorted(self.limits, predictions) == group
            ends[own, 0] = predictions[own] + min(low, 0.0)
            ends[own, 1] = predictions[own] + max(high, 0.0)
        rows = encoded.unknown_rows()
        around = predictions[rows, np.newaxis]
        missed = norm.ppf(1 - tail) * self._deviations(encoded, rows)
        ends[rows] = around + [-1, 1] * np.hypot(ends[rows] - around, missed[:, np.newaxis])
        near = np.full(len(ends), _NEAR)
        near[rows] = _ROUGHLY
        return self._with_frequent(ends, tail, np.maximum(near * np.ptp(ends, axis=1), self.drift))

    def _with_frequent(self, ends: Floats, tail: float, slack: Floats) -> Floats:
        """Extend intervals to the next value of the target that is too frequent to be missed by little.

        All samples with this value have nearly the same residual, so that intervals which end near it
        contain all of them or none. Those of rarer values do not matter.
        """
        values = self.frequent[self.shares > tail]
        if len(values) == 0:
            return ends
        below = np.searchsorted(values, ends[:, 0]) - 1
        above = np.searchsorted(values, ends[:, 1], side="right")
        lower, upper = values[np.maximum(below, 0)], values[np.minimum(above, len(values) - 1)]
        down = (below >= 0) & (ends[:, 0] - lower <= slack) & (ends[:, 0] > lower)
        up = (above < len(values)) & (upper - ends[:, 1] <= slack)
        return np.column_stack([np.where(down, lower, ends[:, 0]), np.where(up, upper, ends[:, 1])])

    def _deviations(self, encoded: Encoded, rows: Ints) -> Floats:
        """Return the standard deviation of what the unknown values of some samples would have added."""
        found = np.empty(len(rows))
        for first in range(0, len(rows), _CHUNK):
            part = slice(first, first + _CHUNK)
            nodes = encoded.unknown_mask(rows[part])
            # an edge adds nothing if one of its ends is unknown; where there is none, the spread is 0
            edges = nodes | nodes[self.parents]
            left_out = np.tensordot(self.spread, np.stack([nodes, edges]).astype(np.float64), 2)
            found[part] = np.hypot.reduce(left_out, axis=0)  # squares may overflow
        return found


def _residual_range(residuals: Floats, weights: Floats, tail: float) -> tuple[float, float]:
    """Return the sorted residuals beyond which a new one lies with the probability ``tail`` each."""
    ranks = np.cumsum(weights)
    total = ranks[-1] + 1  # the new sample has a rank, too
    low = max(int(np.searchsorted(ranks, total * tail, side="right")) - 1, 0)
    high = min(int(np.searchsorted(ranks, total * (1 - tail))), len(ranks) - 1)
    return float(residuals[low]), float(residuals[high])


def node_scores(log_prior: Floats, nodes: list[Floats], encoded: Encoded) -> Floats:
    """Return the scores of a model without edges; see `AdditiveTables.scores`."""
    score = np.tile(log_prior, (encoded.codes.shape[1], 1))
    for node, table in enumerate(nodes):
        added = table[encoded.codes[node]]
        if node in encoded.unknown:
            added[encoded.unknown[node]] = 0.0
        score += added
    return score


def fit_model(
    information: Information,
    columns: Ints,
    coding: Coding,
    values: Floats | None,
    *,
    edges: bool = True,
) -> AdditiveTables:
    """Fit an additive model of packed columns to the class, or to a continuous target.

    ``values`` is the latter, in the order of the table. Without ``edges`` only columns have tables; a
    model of a continuous target has those edges that it predicts better with.
    """
    if values is None:
        return fit_additive_tables(information, columns, coding, edges=edges)
    return fit_regression_tables(information, columns, coding, values)


def fit_additive_tables(
    information: Information, columns: Ints, coding: Coding, *, edges: bool = True
) -> AdditiveTables:
    """Fit the tables of packed columns, and of the edges of a tree over them, to the class.

    Edges between columns that do not depend significantly on each other given the class are left out.
    If the quartiles of columns are packed, they have tables, too, which are added to those of the
    levels: the levels of ``coding`` are cut where the classes differ most, and may be wide elsewhere.
    """
    layout = information.packed.layout
    codes, n_levels, parents = _columns_and_tree(information, columns)
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
    counts = _counts(fine.codes, fine.coding.n_levels, parents)
    nodes, pairs = _centred(nodes, pairs, counts)
    share = layout.totals / layout.n_samples
    importances = np.empty(len(columns))
    for node, (own, pair) in enumerate(zip(nodes, pairs, strict=True)):
        table = own if pair is None else own[:, np.newaxis] + pair
        contribution = np.abs(table - (table @ share)[..., np.newaxis]) @ share
        importances[node] = np.average(contribution, weights=counts[node])
    drawn = draw_samples(fine.codes, fine.coding.n_levels, parents, layout.labels, layout.totals)
    return AdditiveTables(np.log(share), nodes, parents, pairs, importances, fine.coding, drawn)


def fit_regression_tables(
    information: Information, columns: Ints, coding: Coding, values: Floats
) -> RegressionTables:
    """Fit the tables of packed columns, and of the edges of a tree over them, to a continuous target.

    ``values`` is the target in the order of the table.
    """
    codes, n_levels, parents = _columns_and_tree(information, columns)
    layout = information.packed.layout
    copies = _copies(layout)
    fit = fit_squared(codes, n_levels, parents, values[layout.order], copies, layout.unit)
    parents = np.array(
        [ROOT if pair is None else parent for pair, parent in zip(fit.pairs, parents, strict=True)],
        np.int64,
    )
    nodes = [table[:, np.newaxis] for table in fit.tables]
    edges = [None if pair is None else pair[..., np.newaxis] for pair in fit.pairs]
    importances = np.empty(len(columns))
    for node, sizes in enumerate(_counts(codes, n_levels, parents)):
        edge = edges[node]
        table = nodes[node] if edge is None else nodes[node][:, np.newaxis] + edge
        importances[node] = np.average(np.abs(table[..., 0]), weights=sizes)
    groups = group_residuals(fit.predictions, fit.residuals, fit.weights)
    mean = np.array([fit.mean])
    none = np.empty((len(columns), 0), np.uint8)  # sums need no shift
    found, counts = np.unique(values[layout.order], return_counts=True)
    often = counts >= max(_FREQUENT * layout.n_samples, _SEVERAL)
    frequent = found[often], counts[often] / layout.n_samples
    return RegressionTables(
        mean, nodes, parents, edges, importances, coding, none, *groups, fit.spread, *frequent
    )


def _copies(layout: SampleLayout) -> Ints | None:
    """Return how many consecutive positions of a layout each sample has; None if each has one.

    Rows that are repeated because they were seen several times are samples of their own.
    """
    tested = layout.tested
    if tested is None or layout.counts is None or tested.counts is None:
        return None
    return layout.counts[tested.order] // tested.counts[tested.order]


def _columns_and_tree(information: Information, columns: Ints) -> tuple[NDArray[np.uint8], Ints, Ints]:
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


def _counts(codes: NDArray[np.uint8], n_levels: Ints, parents: Ints) -> list[Ints]:
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


def group_residuals(
    predictions: Floats, residuals: Floats, weights: Floats
) -> tuple[Floats, list[Floats], list[Floats]]:
    """Group residuals by prediction; of very many, some are used.

    Returns the limits of the groups, midway between predictions, and the sorted residuals of each group
    with their weights.
    """
    some = np.linspace(0, len(residuals) - 1, min(len(residuals), MOST_RESIDUALS)).astype(np.int64)
    predictions, residuals, weights = predictions[some], residuals[some], weights[some]
    size = max(_SMALLEST_GROUP, weights.sum() // _GROUPS)
    order = np.lexsort((residuals, predictions))
    ordered, counted, limits = predictions[order], np.cumsum(weights[order]), []
    last = np.flatnonzero(np.diff(ordered) > _SAME * np.abs(ordered).max())  # of equal predictions
    taken = 0.0
    for position in last.tolist():
        # the last group takes what is left
        if counted[position] - taken >= size and counted[-1] - counted[position] >= size:
            limits.append(ordered[position] / 2 + ordered[position + 1] / 2)
            taken = counted[position]
    group = np.searchsorted(limits, predictions)
    members = [np.flatnonzero(group == g) for g in range(len(limits) + 1)]
    members = [own[np.argsort(residuals[own], kind="stable")] for own in members]
    return np.array(limits), [residuals[own] for own in members], [weights[own] for own in members]


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
