"""Selected columns -> an additive model of a continuous target, with intervals of its predictions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from slfs.coding.codebook import Coding
from slfs.coding.encode import Encoded
from slfs.counting.planes import SampleLayout
from slfs.measures.information import Information
from slfs.measures.squared import MOST_RESIDUALS, fit_squared
from slfs.network.tree import ROOT
from slfs.selectors._shared.additive import (
    AdditiveTables,
    columns_and_tree,
    fit_additive_tables,
    level_counts,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_GROUPS, _SMALLEST_GROUP = 10, 50
"""Maximum number of groups of residuals, and minimum number of samples that each is worth."""

_FREQUENT, _SEVERAL = 0.005, 5
"""Share and number of the samples that have a frequent value of a continuous target."""

_NEAR, _ROUGHLY = 0.1, 0.5
"""Distance from an interval, relative to its width, that is small; the same with unknown values, whose
intervals are not as precise."""

_CHUNK = 1000
"""Number of samples with unknown values that are handled at a time."""

_SAME = 1e-12
"""Difference of equal predictions relative to the largest one: they are summed in different orders."""


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


def fit_regression_tables(
    information: Information, columns: Ints, coding: Coding, values: Floats
) -> RegressionTables:
    """Fit the tables of packed columns, and of the edges of a tree over them, to a continuous target.

    ``values`` is the target in the order of the table.
    """
    codes, n_levels, parents = columns_and_tree(information, columns)
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
    for node, sizes in enumerate(level_counts(codes, n_levels, parents)):
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
