"""Models of folds and the samples left out of them -> additive tables that are as sure as they can be.

Columns and their cut points are selected on the samples that the tables are fitted to, so with many
columns and few samples predictions are too sure; with many classes they may not be sure enough. What the
columns add is therefore multiplied by the number that predicts the samples left out best, and intervals
are made of the errors on these samples.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

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
from slfs.selectors._shared.additive import (
    AdditiveTables,
    RegressionTables,
    fit_model,
    group_residuals,
)
from slfs.tables.parts import Part

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_DEVIATION = 1.0
"""Standard deviation of the scale around 1 before any sample left out is seen."""
_SMALLEST, _LARGEST = 0.05, 3.0


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

    def predict(self, n_columns: int, threads: Threads, *, edges: bool) -> tuple[Floats, Floats]:
        """Fit the model of the first columns, and predict the samples left out.

        Returns the prediction without columns, and what the columns add to it for each sample.
        """
        information = Information(make_backend(self.packed, threads))
        n_columns = min(n_columns, len(self.order))
        chosen, coding = self.order[:n_columns], self.coding.take(np.arange(n_columns))
        tables = fit_model(information, chosen, coding, self.values, edges=edges)
        encoded = encode_table(self.left_out, tables.coding, self.columns[:n_columns], threads)
        return tables.log_prior, tables.scores(encoded) - tables.log_prior


def fit_calibrated(
    fit: Callable[..., AdditiveTables], folds: Sequence[Fold], threads: Threads
) -> AdditiveTables:
    """Fit a model as models with as many columns predict the samples left out best.

    This decides whether edges have tables, and by what the tables are multiplied. ``fit`` is `fit_model`
    of the selected columns.
    """
    tables = fit()
    n_columns = len(tables.nodes)
    if n_columns == 0 or len(folds) == 0:
        return tables
    predicted = [fold.predict(n_columns, threads, edges=True) for fold in folds]
    if isinstance(tables, RegressionTables):
        return _calibrate_numbers(tables, folds, predicted)
    scale, loss = _find_scale(folds, predicted)
    if n_columns > 1:
        predicted = [fold.predict(n_columns, threads, edges=False) for fold in folds]
        other_scale, other_loss = _find_scale(folds, predicted)
        if other_loss < loss:
            tables, scale = fit(edges=False), other_scale
    return tables.scaled(scale)


def _find_scale(
    folds: Sequence[Fold], predicted: Sequence[tuple[Floats, Floats]]
) -> tuple[float, float]:
    """Return the scale with the smallest log loss on the samples left out, and the log loss."""
    rows = []
    for fold, (prior, added) in zip(folds, predicted, strict=True):
        known = np.flatnonzero(fold.target >= 0)
        rows.append((prior, added[known], fold.target[known].astype(np.int64), fold.weights[known]))

    def loss(scale: float) -> float:
        total = 0.5 * ((scale - 1) / _DEVIATION) ** 2
        for prior, added, target, weights in rows:
            own = log_softmax(prior + scale * added, axis=1)[np.arange(len(target)), target]
            total -= float(weights @ own)
        return total

    found = minimize_scalar(loss, bounds=(_SMALLEST, _LARGEST), method="bounded")
    return float(found.x), float(found.fun)


def _calibrate_numbers(
    tables: RegressionTables, folds: Sequence[Fold], predicted: Sequence[tuple[Floats, Floats]]
) -> RegressionTables:
    """Scale a model of a continuous target, and take the errors on samples left out for intervals."""
    added = np.concatenate([own[:, 0] for _, own in predicted])
    means = np.concatenate([np.repeat(mean, len(own)) for mean, own in predicted])
    weights = np.concatenate([fold.weights for fold in folds])
    target = np.concatenate([fold.target for fold in folds])
    variance = np.average(np.square(target - means - added), weights=weights)
    scale = 1.0
    if variance > 0:
        prior = variance / _DEVIATION**2
        products = weights @ (added * (target - means)) + prior
        scale = float(np.clip(products / (weights @ added**2 + prior), _SMALLEST, _LARGEST))
    predictions = means + scale * added
    limits, residuals, own = group_residuals(predictions, target - predictions, weights)
    return replace(tables.scaled(scale), limits=limits, residuals=residuals, weights=own)
