"""Codes and a continuous target -> the tables of an additive model, for columns and pairs of columns.

The model is y = mean of y + sum of its tables at the levels of x. A table belongs to one column, or to a
pair of columns. The tables minimize the squared error plus a penalty times the sum of their squares, so
that the penalty has the weight of that many samples in each cell. The penalty, and how many times larger
it is for pairs, have the smallest generalized cross-validation error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator, cg

from slfs._core.ragged import starts

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.uint8]
Cells = NDArray[np.int32]

PENALTIES = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
PAIR_SCALES = (0.0, 0.25, 0.5, 1.0)
"""Scales of the tables of pairs: their penalty is divided by the square; 0 leaves them out."""

MOST_CELLS = 2000
"""Tables of pairs, the largest first, are left out while all tables have more cells than this. If the
tables of the columns alone have more, they are fitted iteratively, with a fixed penalty."""
FIXED_PENALTY = 3.0

MOST_RESIDUALS = 5000
"""Maximum number of samples for which residuals are computed."""
MOST_FACTORS = 256
"""Maximum number of factors of a covariance. The relative error of a standard deviation from random
combinations of that many is about 4%."""

_SEED = 748_301_259
"""Not 0: generated data of users would have the same random numbers, and are not independent of them."""

_ENTRIES = 1 << 18
"""Number of entries of the matrix of samples and cells that are in memory at a time."""

_CHUNK = 1000
_LARGEST_LEVERAGE = 0.9


@dataclass(frozen=True)
class SquaredFit:
    """A fitted additive model of a continuous target.

    Attributes
    ----------
    mean : float
        Mean of the target.
    tables : list of ndarray of shape (n_levels,)
        The table of each column. The mean of every table over the samples is zero.
    pairs : list of ndarray of shape (n_levels, n_levels of the other column), or None
        The table of each pair; None for no pair.
    predictions : ndarray of shape (n_residuals,)
        Predictions for some of the samples.
    residuals : ndarray of shape (n_residuals,)
        By how much the target of each of them exceeds the prediction of the model without that sample.
    weights : ndarray of shape (n_residuals,)
        How many samples each of them is worth.
    spread : ndarray of shape (n_factors, 2, n_columns)
        Factors of the covariance of what the tables of columns (index 0) and of pairs (index 1) add: the
        length of the sum of some of them is the standard deviation of what these tables add together.
    """

    mean: float
    tables: list[Floats]
    pairs: list[Floats | None]
    predictions: Floats
    residuals: Floats
    weights: Floats
    spread: Floats


def fit_squared(
    codes: Codes,
    n_levels: Ints,
    others: Ints,
    values: Floats,
    copies: Ints | None = None,
    unit: float = 1.0,
) -> SquaredFit:
    """Fit one table per column, and one per pair of a column and its ``others``.

    Parameters
    ----------
    codes : ndarray of shape (n_columns, n_positions)
        Level of each position.
    n_levels : ndarray of shape (n_columns,)
        Number of levels.
    others : ndarray of shape (n_columns,)
        The column with which each column makes a pair; negative for none.
    values : ndarray of shape (n_positions,)
        The target.
    copies : ndarray of shape (n_samples,) or None, default=None
        How many consecutive positions are copies of each sample; None means one.
    unit : float, default=1.0
        How many positions are worth one sample; see `slfs.tables.weights`.
    """
    largest = float(np.abs(values).max()) or 1.0
    y = values / largest  # squares must not overflow
    mean = float(y.mean())
    paired = _affordable(np.flatnonzero(others >= 0), n_levels, others)
    sizes = np.concatenate([n_levels, n_levels[paired] * n_levels[others[paired]]])
    copies = np.ones(len(y), np.int64) if copies is None else copies
    n_residuals = min(len(copies), MOST_RESIDUALS)
    samples = np.linspace(0, len(copies) - 1, n_residuals).astype(np.int64)
    rows, weights = starts(copies)[samples], copies[samples] / unit
    spread = np.zeros((0, 2, len(codes)))
    if len(sizes) == 0:
        parts, predictions = [], np.full(len(rows), mean)
        leverage = np.full(len(rows), unit / len(y))
    else:
        cells = _cells(codes, n_levels, paired, others, starts(sizes))
        system = _System(cells, int(sizes.sum()), unit, y - mean)
        of_pair = np.repeat(np.arange(len(sizes)) >= len(codes), sizes)
        solve = _solve_exactly if len(of_pair) <= MOST_CELLS else _solve_iteratively
        coefficients, leverage_of = solve(system, of_pair)
        predictions, leverage = mean + system.fitted(coefficients, rows), leverage_of(rows)
        means = np.add.reduceat(system.shares * coefficients, starts(sizes)[:-1])
        centred = coefficients - np.repeat(means, sizes)
        parts = np.split(largest * centred, starts(sizes)[1:-1])
        factors = _factors(centred[cells[rows]], weights)
        spread = np.zeros((len(factors), 2, len(codes)))
        spread[:, 0], spread[:, 1, paired] = factors[:, : len(codes)], factors[:, len(codes) :]
    residuals = (y[rows] - predictions) / (1 - np.minimum(weights * leverage, _LARGEST_LEVERAGE))
    pairs: list[Floats | None] = [None] * len(codes)
    for column, table in zip(paired.tolist(), parts[len(codes) :], strict=True):
        pairs[column] = table.reshape(int(n_levels[column]), -1)
    return SquaredFit(
        largest * mean,
        parts[: len(codes)],
        pairs,
        largest * predictions,
        largest * residuals,
        weights,
        largest * spread,
    )


def _factors(parts: Floats, weights: Floats) -> Floats:
    """Return a matrix whose products of columns are the weighted means of those of ``parts``.

    If there are too many columns, it consists of random combinations of the samples.
    """
    scaled = parts * np.sqrt(weights / weights.sum())[:, np.newaxis]
    if scaled.shape[1] > MOST_FACTORS:
        signs = np.random.default_rng(_SEED).choice([-1.0, 1.0], (MOST_FACTORS, len(scaled)))
        combined: Floats = signs @ scaled / np.sqrt(MOST_FACTORS)
        return combined
    _, triangle = np.linalg.qr(scaled)
    return triangle


def _affordable(paired: Ints, n_levels: Ints, others: Ints) -> Ints:
    """Leave out the largest tables of pairs while there are too many cells."""
    cells = n_levels[paired] * n_levels[others[paired]]
    order = np.argsort(cells, kind="stable")
    fits = int(n_levels.sum()) + np.cumsum(cells[order]) <= MOST_CELLS
    return np.sort(paired[order[fits]])


def _cells(codes: Codes, n_levels: Ints, paired: Ints, others: Ints, offset: Ints) -> Cells:
    """Return the cell of each table in which a sample is, of shape (n_samples, n_tables)."""
    cells = np.empty((codes.shape[1], len(offset) - 1), np.int32)
    cells[:, : len(codes)] = codes.T
    for table, column in enumerate(paired.tolist(), len(codes)):
        other = int(others[column])
        cells[:, table] = codes[column].astype(np.int32) * np.int32(n_levels[other]) + codes[other]
    cells += offset[:-1].astype(np.int32)
    return cells


class _System:
    """The centred least-squares problem of the tables.

    Sums over the samples are in units: ``unit`` samples count as one. The matrix of samples and cells
    has a one where a sample is in a cell; only some of its rows are in memory at a time.
    """

    def __init__(self, cells: Cells, n_cells: int, unit: float, y: Floats) -> None:
        self.cells, self.unit = cells, unit
        self.total = len(y) / unit
        sizes = np.zeros(n_cells, np.int64)
        for part in self._parts():
            sizes += np.bincount(cells[part].ravel(), minlength=n_cells)
        self.shares: Floats = sizes / len(y)
        self.moments: Floats = self._sums(y)  # the mean of y is zero
        self.squares = float(y @ y) / unit
        self.used = np.flatnonzero(sizes)  # the others have no samples, and stay zero
        self._position = np.cumsum(sizes > 0) - 1

    def _parts(self) -> Iterator[slice]:
        n_samples, n_tables = self.cells.shape
        size = max(1, _ENTRIES // n_tables)
        return (slice(first, first + size) for first in range(0, n_samples, size))

    def _sums(self, values: Floats) -> Floats:
        """Return the sum of values of the samples in each cell."""
        found = np.zeros(len(self.shares))
        for part in self._parts():
            own = self.cells[part]
            weights = np.repeat(values[part], own.shape[1])
            found += np.bincount(own.ravel(), weights, minlength=len(found))
        return found / self.unit

    def design(self, rows: Ints | slice) -> sparse.csr_array:
        """Return the matrix of some samples and the used cells."""
        own = self._position[self.cells[rows]]
        shape = len(own), len(self.used)
        return sparse.csr_array(
            (np.ones(own.size), own.ravel(), np.arange(len(own) + 1) * own.shape[1]), shape=shape
        )

    def gram(self) -> Floats:
        """Return the matrix of the products of the centred cells that are used."""
        found = np.zeros((len(self.used), len(self.used)))
        for part in self._parts():
            design = self.design(part)
            found += (design.T @ design).toarray()
        shares = self.shares[self.used]
        return found / self.unit - self.total * np.outer(shares, shares)

    def product(self, coefficients: Floats) -> Floats:
        """Multiply the matrix of all cells by a vector."""
        along = self.shares @ coefficients
        alone = [coefficients[self.cells[part]].sum(axis=1) for part in self._parts()]
        return self._sums(np.concatenate(alone)) - self.total * self.shares * along

    def fitted(self, coefficients: Floats, rows: Ints) -> Floats:
        """Return what the tables predict for some samples."""
        found: Floats = coefficients[self.cells[rows]].sum(axis=1) - self.shares @ coefficients
        return found


Leverage = Callable[[Ints], Floats]
"""Takes rows; returns by how much each moves its own prediction, as a share, if it is worth a sample."""


def _solve_exactly(system: _System, of_pair: NDArray[np.bool_]) -> tuple[Floats, Leverage]:
    """Solve for all penalties, and choose one by generalized cross-validation."""
    total = system.total
    cells = system.used
    gram, of_pair = system.gram(), of_pair[cells]
    best: tuple[float, float, Floats, Floats, Floats] | None = None
    for scale in PAIR_SCALES if of_pair.any() else (1.0,):
        factor = np.where(of_pair, scale, 1.0)
        matrix = factor[:, np.newaxis] * gram
        matrix *= factor
        values, vectors = _eigen(matrix, factor > 0)
        along = vectors.T @ (factor * system.moments[cells])
        for penalty in PENALTIES:
            shrunk = 1 / (values + penalty)
            error = max(system.squares - float((along**2 * shrunk * (2 - values * shrunk)).sum()), 0.0)
            freedom = 1 + float((values * shrunk).sum())
            score = error / (1 - min(freedom / total, 0.999)) ** 2
            if best is None or score < best[0]:
                best = (score, penalty, values, vectors, factor)
    assert best is not None
    _, penalty, values, vectors, factor = best
    scaled = factor[:, np.newaxis] * vectors
    inverse = (scaled / (values + penalty)) @ scaled.T
    shares = system.shares[cells]
    coefficients = np.zeros(len(system.shares))
    coefficients[cells] = inverse @ system.moments[cells]

    def leverage(rows: Ints) -> Floats:
        found = np.empty(len(rows))
        for first in range(0, len(rows), _CHUNK):
            own = system.design(rows[first : first + _CHUNK])
            across = own @ inverse
            found[first : first + _CHUNK] = own.multiply(across).sum(axis=1) - 2 * across @ shares
        centred: Floats = found + shares @ inverse @ shares + 1 / total
        return centred

    return coefficients, leverage


def _eigen(matrix: Floats, used: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Return eigenvalues and eigenvectors of a matrix whose rows and columns are 0 where not used."""
    if used.all():
        values, vectors = eigh(matrix, driver="evd", overwrite_a=True)
        return np.maximum(values, 0), vectors
    own = np.flatnonzero(used)
    values, vectors = eigh(matrix[np.ix_(own, own)], driver="evd", overwrite_a=True)
    every = np.zeros((len(matrix), len(own)))
    every[own] = vectors
    return np.maximum(values, 0), every


def _solve_iteratively(system: _System, of_pair: NDArray[np.bool_]) -> tuple[Floats, Leverage]:
    """Solve for one penalty by conjugate gradients, and bound the leverages by those of the tables."""
    shape = (len(of_pair), len(of_pair))
    operator = LinearOperator(
        shape, matvec=lambda x: system.product(x) + FIXED_PENALTY * x, dtype=np.float64
    )
    coefficients, _ = cg(operator, system.moments, rtol=1e-8, maxiter=500)
    single = 1 / (system.total * system.shares + FIXED_PENALTY)
    return coefficients, lambda rows: single[system.cells[rows]].sum(axis=1) + 1 / system.total
