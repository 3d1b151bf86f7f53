"""Levels of columns -> score tests of independence from the class, given the levels of other columns.

The model of the class is log-linear in the levels of the conditioning columns. A column is tested by the
sums of its residuals at the levels of the column: their variance is that of the sums less what the
parameters of the model explain. Samples with the same levels of all conditioning columns, a stratum,
have the same probabilities, so that all sums follow from the counts of levels and strata.

Fitted probabilities are closer to the classes than the true ones, the more so the fewer samples there
are per parameter: p (1 - p) is too small by the leverage of a sample. Divided by one minus the leverage,
the variances are those of Cochran, Mantel and Haenszel where each stratum has a parameter of its own.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from scipy.special import chdtrc, gammaln, softmax

from slfs.measures.strata import (
    MOST_PARAMETERS,
    RIDGE,
    Known,
    Pooled,
    count_cells,
    count_tables,
    cut_rows,
    equally_many,
    fewest,
    has_many_strata,
    joint_p_values,
    least_squares,
    make_strata,
    pool_rare,
    quadratic,
    solve,
    trends,
    without_order,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.uint8]

_MOST_CLASSES, _MOST_ENTRIES = 32, 1e7
"""Limits of the number of classes, and of the number of products of weights and levels.

With more classes the rarest are pooled.
"""

_FEW_PARAMETERS = 256
"""Number of parameters per class above which there may be few classes, so that a matrix of all
parameters is not too large."""

_LARGEST_LEVERAGE = 0.9

_EXACT_SAMPLES = 200
"""Maximum number of samples for which the probability of the table itself is computed."""

_DENSE = 1 << 20
"""Maximum number of entries of a design that is converted to a dense array."""

_ENOUGH, _ROUNDS = 1e-9, 100
"""When to stop fitting the parameters."""


@dataclass(frozen=True)
class Covariates:
    """A log-linear model of the class given the levels of some columns.

    Attributes
    ----------
    stratum : ndarray of shape (n_samples,)
        Stratum of each sample: samples with the same levels are in the same one.
    labels : ndarray of shape (n_samples,)
        Class of each sample; rare classes may be pooled.
    probability : ndarray of shape (n_strata, n_classes)
        P(class | stratum) of the model.
    design : csr_array of shape (n_strata, n_parameters)
        The levels of each stratum, with a constant.
    """

    stratum: Ints
    labels: Ints
    probability: Floats
    design: sparse.csr_array

    @functools.cached_property
    def _counts(self) -> Ints:
        """Number of samples of each stratum and class."""
        return count_cells(self.stratum, self.labels, *self.probability.shape)

    @functools.cached_property
    def _correction(self) -> Floats:
        """By how much the variance of a sample of each stratum is larger than that of the fit."""
        if has_many_strata(self.design):
            leverage = 1 / self._counts.sum(axis=1)
        else:
            leverage = _leverage(self.design, self._counts, self.probability)
        found: Floats = 1 / (1 - np.minimum(leverage, _LARGEST_LEVERAGE))
        return found

    @functools.cached_property
    def _weights(self) -> Floats:
        """Covariances of the classes in each stratum, all but the last class."""
        return self._correction[:, np.newaxis, np.newaxis] * _covariances(self.probability)

    @functools.cached_property
    def _products(self) -> sparse.csr_array | Floats:
        """Weights times levels, of shape (n_strata, n_classes - 1, n_classes - 1, n_parameters)."""
        weights = self._weights.reshape(len(self._weights), -1)
        rows = np.repeat(np.arange(len(weights)), np.diff(self.design.indptr))
        entries = weights[rows] * self.design.data[:, np.newaxis]
        n_parameters = self.design.shape[1]
        column = np.arange(weights.shape[1]) * n_parameters + self.design.indices[:, np.newaxis]
        index = np.repeat(rows, weights.shape[1]), column.reshape(-1)
        shape = len(weights), weights.shape[1] * n_parameters
        products = sparse.csr_array((entries.reshape(-1), index), shape=shape)
        return products.toarray() if math.prod(shape) <= _DENSE else products

    @functools.cached_property
    def _solved(self) -> tuple[Floats, tuple[Floats, bool]]:
        """Sums of residuals of the parameters, and their information, ready to be solved for."""
        return _score(self.design, self._counts, self.probability, self._correction)

    def cut_residuals(self, numbers: Floats) -> Codes:
        """Cut columns of numbers at quantiles, after removing what strata explain.

        This is done with ranks: by least squares with the levels of the conditioning columns. Since the
        class has no part in it, the test is valid for these levels as well.

        Parameters
        ----------
        numbers : ndarray of shape (n_columns, n_samples)
        """

        def unexplained(ranks: Floats, known: Known) -> Floats:
            return ranks - least_squares(self.design, self.stratum[known], ranks)

        return cut_rows(numbers, unexplained)

    def test(self, codes: Codes, ordered: NDArray[np.bool_] | None = None) -> Floats:
        """Test columns for independence from the class given the columns of the model.

        Parameters
        ----------
        codes : ndarray of shape (n_columns, n_samples)
            Level of each sample.
        ordered : ndarray of bool of shape (n_columns, 256), default=None
            Levels that are in ascending order, for a test of trend. Others, such as that of missing
            values, have no order; by default all.

        Returns
        -------
        p_values : ndarray of shape (n_columns,)
            1 if the columns of the model determine the column. In small tables at least twice the
            probability of the table, given the counts of levels and of classes in each stratum.
        """
        n_strata, n_parameters = self.design.shape
        p_values = np.empty(len(codes))
        n_entries = max(n_strata, self.probability.shape[1] ** 2 * n_parameters)
        ordered = without_order(codes) if ordered is None else ordered
        for columns in pool_rare(codes, ordered, n_entries):
            p_values[columns.rows] = self._score_tests(columns)
        if codes.shape[1] <= _EXACT_SAMPLES:
            least = np.minimum(2 * self._probabilities_of(codes), 1.0)
            p_values = np.where(p_values < 1, np.maximum(p_values, least), p_values)
        return p_values

    def _probabilities_of(self, codes: Codes) -> Floats:
        """Return the probability of levels and classes if the levels are shuffled in each stratum.

        Strata that share parameters are treated as one.
        """
        n_strata, n_classes = self.probability.shape
        if self.design.shape[1] == n_strata:
            stratum, by_class = self.stratum, self._counts
        else:
            stratum, by_class = np.zeros_like(self.stratum), self._counts.sum(axis=0, keepdims=True)
        log_factorial = gammaln(np.arange(1, codes.shape[1] + 2))
        given = log_factorial[by_class].sum() - log_factorial[by_class.sum(axis=1)].sum()
        found = np.empty(len(codes))
        for rows, n_levels in equally_many(codes.max(axis=1, initial=0) + 1, by_class.size):
            cells = count_tables(codes[rows], stratum * n_classes + self.labels, n_levels, by_class.size)
            by_level = cells.reshape(len(rows), n_levels, len(by_class), n_classes).sum(axis=3)
            logs = (log_factorial[table.reshape(len(rows), -1)] for table in (by_level, cells))
            of_levels, of_cells = (own.sum(axis=1) for own in logs)
            found[rows] = np.exp(given + of_levels - of_cells)
        return found

    def _explained_by_strata(self, by_stratum: Ints) -> Floats:
        """Return what the strata explain of the variances, if each has parameters of its own."""
        n_strata, n = self._weights.shape[:2]
        n_columns, n_levels = by_stratum.shape[:2]
        share = by_stratum / self._counts.sum(axis=1)
        weights = self._weights.reshape(n_strata, n * n)
        blocks = np.stack([(own[:, np.newaxis] * by_stratum) @ weights for own in share.swapaxes(0, 1)])
        parts = blocks.reshape(n_levels, n_columns, n_levels, n, n).transpose(1, 0, 3, 2, 4)
        return parts.reshape(n_columns, n_levels * n, n_levels * n)

    def _score_tests(self, columns: Pooled) -> Floats:
        n_strata, n_classes = self.probability.shape
        n_columns, n_levels = columns.sizes.shape
        n = n_classes - 1
        by_stratum = columns.count(self.stratum, n_strata)
        by_class = columns.count(self.labels, n_classes)
        residual = by_class[:, :, :-1] - by_stratum @ self.probability[:, :-1]
        information = by_stratum @ self._weights.reshape(n_strata, -1)
        scores = residual.reshape(n_columns, n_levels * n)
        if has_many_strata(self.design):
            variances = -self._explained_by_strata(by_stratum)
        else:
            dense = isinstance(self._products, np.ndarray)
            rows = by_stratum if dense else by_stratum.reshape(-1, n_strata)
            crossed: Floats = (rows @ self._products).reshape(n_columns, n_levels * n, -1)
            nuisance, factor = self._solved
            solved = solve(factor, crossed)
            scores = scores - solved @ nuisance
            variances = -crossed @ solved.swapaxes(1, 2)
        for level in range(n_levels):
            own = slice(level * n, (level + 1) * n)
            variances[:, own, own] += information[:, level].reshape(n_columns, n, n)
        statistics, freedom = quadratic(scores, variances)
        if n_levels * n_classes == 4 and columns.levels.shape[1] <= _EXACT_SAMPLES:
            distance = np.maximum(np.abs(scores[:, 0]) - 0.5, 0.0)  # counts are whole numbers
            variance = np.where(freedom > 0, variances[:, 0, 0], 1.0)
            statistics = np.where(freedom > 0, distance**2 / variance, 0.0)
        p_values = np.where(freedom > 0, chdtrc(np.maximum(freedom, 1), statistics), 1.0)
        several = np.flatnonzero(columns.has_trend & (freedom > n))
        if len(several) == 0:
            return p_values
        own_scores, own_variances = trends(
            columns.position[several], scores[several], variances[several]
        )
        statistics, freedom = quadratic(own_scores, own_variances)
        by_trend = chdtrc(np.maximum(freedom, 1), statistics)
        joint = joint_p_values(by_trend, p_values[several])
        p_values[several] = np.where(freedom > 0, joint, p_values[several])
        return p_values


def fit_covariates(codes: Sequence[NDArray[np.integer]], labels: NDArray[np.integer]) -> Covariates:
    """Fit the model of the class given the levels of some columns, one array of codes per column."""
    design, stratum = make_strata(codes)
    most = int((_MOST_ENTRIES / max(design.nnz, 1)) ** 0.5)
    if design.shape[1] > _FEW_PARAMETERS and not has_many_strata(design):
        most = min(most, 1 + MOST_PARAMETERS // design.shape[1])
    labels = _few_classes(labels, min(max(most, 2), _MOST_CLASSES))
    counts = count_cells(stratum, labels, design.shape[0], int(labels.max()) + 1)
    if has_many_strata(design):
        return Covariates(stratum, labels, counts / counts.sum(axis=1, keepdims=True), design)
    return Covariates(stratum, labels, _fit(design, counts), design)


def _fit(design: sparse.csr_array, counts: Ints) -> Floats:
    """Return P(class | stratum) of the model with the largest likelihood, by Newton's method."""
    sizes = counts.sum(axis=1)
    beta = np.zeros((design.shape[1], counts.shape[1]))
    share = counts.sum(axis=0) / sizes.sum()
    beta[0] = np.log(share) - np.log(share[-1])

    def loss(at: Floats) -> float:
        log_p = design @ at
        log_p -= np.logaddexp.reduce(log_p, axis=1)[:, np.newaxis]
        return float(-(counts * log_p).sum() + RIDGE / 2 * (at**2).sum())

    now = loss(beta)
    for _ in range(_ROUNDS):
        score, factor = _score(design, counts, softmax(design @ beta, axis=1))
        score -= RIDGE * beta[:, :-1].T.reshape(-1)
        step = np.zeros_like(beta)
        step[:, :-1] = cho_solve(factor, score).reshape(-1, len(beta)).T
        size = 1.0
        while (then := loss(beta + size * step)) > now and size > 1e-6:
            size /= 2
        beta += size * step
        if now - then <= _ENOUGH * (1 + abs(now)):
            break
        now = then
    probability: Floats = softmax(design @ beta, axis=1)
    return probability


def _covariances(probability: Floats) -> Floats:
    """Return the covariances of the classes of a sample of each stratum, all but the last class."""
    p = probability[:, :-1]
    return p[:, :, np.newaxis] * (np.eye(p.shape[1]) - p[:, np.newaxis])


def _leverage(design: sparse.csr_array, counts: Ints, probability: Floats) -> Floats:
    """Return by how much a sample of each stratum moves its own fit, as a mean over the classes."""
    covariances = _covariances(probability)
    n, q = covariances.shape[1], design.shape[1]
    _, factor = _score(design, counts, probability)
    inverse = cho_solve(factor, np.eye(n * q)).reshape(n, q, n, q)
    leverage = np.zeros(len(counts))
    for a in range(n):
        for b in range(n):
            own = design.multiply(design @ inverse[a, :, b]).sum(axis=1)
            leverage += covariances[:, a, b] * np.asarray(own).reshape(-1) / n
    return leverage


def _score(
    design: sparse.csr_array, counts: Ints, probability: Floats, correction: Floats | float = 1.0
) -> tuple[Floats, tuple[Floats, bool]]:
    """Return the sums of residuals of all parameters, class by class, and their information.

    ``correction`` multiplies the variances of the samples of each stratum.
    """
    sizes, p = counts.sum(axis=1), probability[:, :-1]
    residual = counts[:, :-1] - sizes[:, np.newaxis] * p
    sizes = sizes * correction
    n, q = p.shape[1], design.shape[1]
    information = np.empty((n, q, n, q))
    dense = design.toarray() if design.shape[0] * q <= _DENSE else None  # much faster if it is small
    for a in range(n):
        for b in range(a, n):
            weight = sizes * p[:, a] * ((a == b) - p[:, b])
            if dense is None:
                own = (design.T @ (design * weight[:, np.newaxis])).toarray()
            else:
                own = dense.T @ (dense * weight[:, np.newaxis])
            information[a, :, b], information[b, :, a] = own, own.T
    flat = information.reshape(n * q, n * q)
    flat[np.diag_indices(n * q)] += RIDGE
    return (design.T @ residual).T.reshape(-1), cho_factor(flat)


def _few_classes(labels: NDArray[np.integer], most: int) -> Ints:
    """Pool the rarest classes, so that there are few and none has few samples."""
    sizes = np.bincount(labels)
    order = np.argsort(-sizes, kind="stable")
    frequent = order[: most - 1 if len(order) > most else most]
    frequent = np.sort(frequent[sizes[frequent] >= fewest(len(labels))])
    if len(frequent) < len(sizes) and len(frequent) == 0:
        frequent = order[:1]
    place = np.full(len(sizes), len(frequent))
    place[frequent] = np.arange(len(frequent))
    pooled: Ints = place[labels].astype(np.int64)
    return pooled
