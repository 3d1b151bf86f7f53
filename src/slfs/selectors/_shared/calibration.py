"""Models of folds and the samples left out of them -> additive tables that are as sure as they can be.

Columns and their cut points are selected on the samples that the tables are fitted to, so with many
columns and few samples predictions are too sure; with many classes they may not be sure enough. What the
columns add is therefore multiplied by the number that predicts the samples left out best, and intervals
are made of the errors on these samples.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from slfs._core.threads import Threads
from slfs.coding.codebook import Coding
from slfs.coding.encode import encode_table
from slfs.counting.backend import make_backend
from slfs.counting.planes import PackedColumns
from slfs.measures.information import Information
from slfs.selectors._shared.additive import AdditiveTables
from slfs.selectors._shared.additive_numbers import RegressionTables, fit_model, group_residuals
from slfs.tables.parts import Part

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_FOLDS = 20
"""Models are not calibrated with more folds, which are not kept: each has models of its own."""
_DEVIATION = 1.0
"""Standard deviation of the scale around 1 before any sample left out is seen."""
_SMALLEST, _LARGEST = 0.05, 3.0
_MOST = 0.95
"""Share of the samples whose predictions differ by less than what is called the drift."""


@dataclass(frozen=True)
class Fold:
    """The columns that were selected without a fold, and the samples of the fold.

    Attributes
    ----------
    packed : PackedColumns
        The training samples of the selected columns.
    order : ndarray
        Packed index of each column, in order of selection.
    coding : Coding
        The levels of these columns.
    columns : ndarray
        Their indices in the table.
    left_out : Part
        The samples of the fold.
    target : ndarray
        The class of each of them, or -1 if the training samples do not have it; or its number.
    weights : ndarray
        How many samples each of them is worth.
    values : ndarray or None
        The continuous target of the training samples; None for classes.
    """

    packed: PackedColumns
    order: Ints
    coding: Coding
    columns: Ints
    left_out: Part
    target: NDArray[np.float64] | Ints
    weights: Floats
    values: Floats | None

    @property
    def n_samples(self) -> float:
        """How many samples those of the training data and of the fold are worth."""
        return self.packed.layout.evidence + float(self.weights.sum())

    def predict(self, n_columns: int, threads: Threads) -> Predicted:
        """Fit models of the first columns, and predict the samples left out."""
        information = Information(make_backend(self.packed, threads))
        n_columns = min(n_columns, len(self.order))
        chosen = self.order[:n_columns]
        coding = self.coding.take(np.arange(n_columns))
        fit = functools.partial(fit_model, information, chosen, coding, self.values)
        tables = plain = fit()
        if self.values is None and any(edge is not None for edge in tables.edges):
            plain = fit(edges=False)
        encoded = encode_table(self.left_out, tables.coding, self.columns[:n_columns], threads)
        added = tables.scores(encoded) - tables.log_prior
        alone = added if plain is tables else plain.scores(encoded) - tables.log_prior
        return Predicted(tables.log_prior, added, alone)


class Predicted(NamedTuple):
    """A prediction without columns, and what columns add for each sample, with and without edges."""

    prior: Floats
    added: Floats
    without_edges: Floats


def fit_calibrated(
    fit: Callable[..., AdditiveTables], columns: Ints, folds: Sequence[Fold], threads: Threads
) -> AdditiveTables:
    """Fit a model as models with as many columns predict the samples left out best.

    This decides whether edges have tables, and by what the tables are multiplied. ``fit`` is `fit_model`
    of the selected columns, whose indices in the table are ``columns``.
    """
    tables = fit()
    n_columns = len(tables.nodes)
    if n_columns == 0 or len(folds) == 0:
        return tables
    predicted = [fold.predict(n_columns, threads) for fold in folds]
    if isinstance(tables, RegressionTables):
        found, predictions = _calibrate_numbers(tables, folds, predicted)
        encoded = [encode_table(fold.left_out, found.coding, columns, threads) for fold in folds]
        own = np.concatenate([found.scores(part)[:, 0] for part in encoded])
        return replace(found, drift=float(np.quantile(np.abs(own - predictions), _MOST)))
    scale, loss = _find_scale(folds, [(own.prior, own.added) for own in predicted])
    if any(own.added is not own.without_edges for own in predicted):
        alone = _find_scale(folds, [(own.prior, own.without_edges) for own in predicted])
        if alone[1] < loss:
            tables, scale = fit(edges=False), alone[0]
    return tables.scaled(scale)


def _once(folds: Sequence[Fold]) -> float:
    """Return by what to multiply weights so that a sample in several folds counts once."""
    return min(folds[0].n_samples / sum(float(fold.weights.sum()) for fold in folds), 1.0)


def _find_scale(
    folds: Sequence[Fold], predicted: Sequence[tuple[Floats, Floats]]
) -> tuple[float, float]:
    """Return the scale with the smallest log loss on the samples left out, and the log loss."""
    rows, once = [], _once(folds)
    for fold, (prior, added) in zip(folds, predicted, strict=True):
        known = np.flatnonzero(fold.target >= 0)
        weights = once * fold.weights[known]
        rows.append((prior, added[known], fold.target[known].astype(np.int64), weights))

    def loss(scale: float) -> float:
        total = 0.5 * ((scale - 1) / _DEVIATION) ** 2
        for prior, added, target, weights in rows:
            own = log_softmax(prior + scale * added, axis=1)[np.arange(len(target)), target]
            total -= float(weights @ own)
        return total

    found = minimize_scalar(loss, bounds=(_SMALLEST, _LARGEST), method="bounded")
    return float(found.x), float(found.fun)


def _calibrate_numbers(
    tables: RegressionTables, folds: Sequence[Fold], predicted: Sequence[Predicted]
) -> tuple[RegressionTables, Floats]:
    """Scale a model of a continuous target, and take the errors on samples left out for intervals.

    The errors of the fit are kept if less than half of the samples are left out of some fold. Also
    returns the predictions of the samples left out.
    """
    added = np.concatenate([own.added[:, 0] for own in predicted])
    means = np.concatenate([np.repeat(own.prior, len(own.added)) for own in predicted])
    weights = _once(folds) * np.concatenate([fold.weights for fold in folds])
    target = np.concatenate([fold.target for fold in folds])
    unit = max(float(np.abs(target - means).max()), float(np.abs(added).max()))
    scale = 1.0
    if unit > 0:
        around, parts = (target - means) / unit, added / unit  # squares must not overflow
        prior = np.average(np.square(around - parts), weights=weights) / _DEVIATION**2
        products, squares = weights @ (parts * around) + prior, weights @ parts**2 + prior
        scale = float(np.clip(products / squares, _SMALLEST, 1.0)) if squares > 0 else 1.0
    scaled, predictions = tables.scaled(scale), means + scale * added
    if weights.sum() < folds[0].n_samples / 2:
        return scaled, predictions
    limits, residuals, own = group_residuals(predictions, target - predictions, weights)
    return replace(scaled, limits=limits, residuals=residuals, weights=own), predictions
