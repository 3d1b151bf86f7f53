"""Levels of conditioning columns -> strata of samples, and what tests given these columns share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import dpotrs
from scipy.stats import rankdata

from slfs._core.interface import parameter

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.uint8]
Known = Ints | slice
"""The samples whose value is known, or all of them."""

RIDGE = 1e-6
"""Weight of the squares of the parameters."""

_MANY, MOST_PARAMETERS = 255, 1500
"""Number of strata above which they are not parameters of a dense matrix if each has one of its own, and
maximum number of parameters otherwise."""

_FEWEST, _FEWEST_SHARE = 5, 1 / 8
"""Levels and classes with fewer samples, and a smaller share of them, are pooled: a chi-squared
distribution does not suit them."""

_TAIL = 0.1
"""Share of the samples in the lowest and in the highest interval of a column of numbers."""

_LEAST_INFORMATION = 0.5
"""Directions in which the residuals have a smaller variance are left out of a test."""

_MOST_AT_ONCE = 1 << 20
"""Maximum number of entries of arrays about several columns, which are tested at a time."""

_TREND_SHARE = 0.75
"""Share of the error rate that is spent on the trend over ordered levels."""


def make_strata(codes: Sequence[NDArray[np.integer]]) -> tuple[sparse.csr_array, Ints]:
    """Return the levels of each stratum, with a constant, and the stratum of each sample."""
    strata, stratum = np.unique(np.stack(codes, axis=1), axis=0, return_inverse=True)
    n_strata = len(strata)
    blocks = [sparse.csr_array(np.ones((n_strata, 1)))]
    for own in strata.T:
        found, level = np.unique(own, return_inverse=True)
        kept = np.flatnonzero(level > 0)
        shape = n_strata, len(found) - 1
        blocks.append(sparse.csr_array((np.ones(len(kept)), (kept, level[kept] - 1)), shape=shape))
    design = sparse.csr_array(sparse.hstack(blocks, format="csr"))
    n_categories = design.shape[1] - 1 + len(codes)
    if design.shape[1] > MOST_PARAMETERS and not has_many_strata(design):
        raise ValueError(
            f"The columns of {parameter('condition_on')} have {n_categories} categories together, "
            f"but at most {MOST_PARAMETERS} are possible for several columns. Condition on the column "
            "with the most categories alone, or group its categories."
        )
    return design, stratum.reshape(-1).astype(np.int64)


def has_many_strata(design: sparse.csr_array) -> bool:
    """Whether each of many strata has a parameter of its own, as with a single conditioning column."""
    return bool(design.shape[0] == design.shape[1] > _MANY)


def gram_factor(design: sparse.csr_array, stratum: Ints) -> tuple[Floats, bool]:
    """Return the products of the parameters over all samples, ready to be solved for."""
    sizes = np.bincount(stratum, minlength=design.shape[0])
    gram = (design.T @ (design * sizes[:, np.newaxis])).toarray()
    gram[np.diag_indices(len(gram))] += RIDGE
    return cho_factor(gram)  # type: ignore[no-any-return]


def least_squares(design: sparse.csr_array, stratum: Ints, rows: Floats) -> Floats:
    """Return what the parameters of the strata explain of rows of numbers, one per sample."""
    cells = sparse.csr_array(
        (np.ones(len(stratum)), stratum, np.arange(len(stratum) + 1)),
        shape=(len(stratum), design.shape[0]),
    )
    sums = cells.T @ rows.T
    if has_many_strata(design):
        sizes = np.bincount(stratum, minlength=len(sums))
        return np.asarray((sums / np.maximum(sizes, 1)[:, np.newaxis])[stratum].T)
    explained = design @ cho_solve(gram_factor(design, stratum), design.T @ sums)
    return np.asarray(explained[stratum].T)


def cut_rows(numbers: Floats, unexplained: Callable[[Floats, Known], Floats]) -> Codes:
    """Cut rows of numbers by what is not explained of their ranks; missing ones are the last level.

    ``unexplained`` takes rows of ranks, and the samples that they belong to.
    """
    codes = np.empty(numbers.shape, np.uint8)
    missing = np.isnan(numbers)
    whole = ~missing.any(axis=1)
    codes[whole] = cut_by_rank(unexplained(rankdata(numbers[whole], axis=1), slice(None)))
    for row in np.flatnonzero(~whole).tolist():
        known = np.flatnonzero(~missing[row])
        ranks = rankdata(numbers[[row]][:, known], axis=1)
        own = cut_by_rank(unexplained(ranks, known))
        codes[row] = own.max() + 1
        codes[row, known] = own
    return codes


def cut_by_rank(rows: Floats) -> Codes:
    """Cut rows of numbers at quantiles into six intervals, or into four if the tails would be too small.

    There are fewer if numbers are equal.
    """
    share = (rankdata(np.round(rows, 6), axis=1) - 0.5) / rows.shape[1]  # equal ones stay equal
    tails = _TAIL * rows.shape[1] >= _FEWEST
    bounds = [_TAIL, 0.25, 0.5, 0.75, 1 - _TAIL] if tails else [0.25, 0.5, 0.75]
    levels = np.searchsorted(bounds, share, side="right")
    occurs = (levels[:, np.newaxis] == np.arange(len(bounds) + 1)[:, np.newaxis]).any(axis=2)
    number = np.cumsum(occurs, axis=1) - 1  # levels without samples are left out
    return np.take_along_axis(number, levels, axis=1).astype(np.uint8)


@dataclass(frozen=True)
class Pooled:
    """Columns with the same number of levels, after their rare levels were pooled.

    Attributes
    ----------
    rows : ndarray of shape (n_columns,)
        Which columns these are.
    levels : ndarray of shape (n_columns, n_samples)
        Level of each sample.
    sizes : ndarray of shape (n_columns, n_levels)
        Number of samples of each level.
    has_trend : ndarray of bool of shape (n_columns,)
        Columns with an order, no level of which was pooled.
    position : ndarray of shape (n_columns, n_levels)
        Positions of the levels in their order, less their mean; 0 for levels without order.
    """

    rows: Ints
    levels: Ints
    sizes: Ints
    has_trend: NDArray[np.bool_]
    position: Floats

    def count(self, labels: Ints, n_labels: int) -> Ints:
        """Count the samples of each level and label: (n_columns, n_levels, n_labels)."""
        return count_tables(self.levels, labels, self.sizes.shape[1], n_labels)

    def sum(self, numbers: Floats) -> Floats:
        """Return the sums of numbers, one per sample, over the samples of each level."""
        n_columns, n_levels = self.sizes.shape
        cells = np.arange(n_columns)[:, np.newaxis] * n_levels + self.levels
        every = np.broadcast_to(numbers, cells.shape).reshape(-1)
        sums = np.bincount(cells.reshape(-1), every, n_columns * n_levels).astype(np.float64)
        return sums.reshape(n_columns, n_levels)


def without_order(codes: Codes) -> NDArray[np.bool_]:
    """Return the levels that are in ascending order in columns that have none."""
    return np.zeros((len(codes), np.iinfo(codes.dtype).max + 1), np.bool_)


def pool_rare(codes: Codes, ordered: NDArray[np.bool_], n_entries: int) -> Iterator[Pooled]:
    """Pool the levels with few samples, and group the columns by the number of levels that are left.

    Parameters
    ----------
    codes : ndarray of shape (n_columns, n_samples)
        Level of each sample.
    ordered : ndarray of bool of shape (n_columns, 256)
        Levels that are in ascending order.
    n_entries : int
        Number of entries that arrays have per column and level.
    """
    for rows, before in equally_many(codes.max(axis=1, initial=0) + 1, codes.shape[1]):
        levels, new_level, n_left = _without_rare(codes[rows], before)
        for part, n_levels in equally_many(n_left, n_entries):
            own = ordered[rows[part], :before]
            yield _make_pooled(rows[part], levels[part], n_levels, own, new_level[part])


def equally_many(n_levels: NDArray[np.integer], n_entries: int) -> Iterator[tuple[Ints, int]]:
    """Yield the columns with the same number of levels, and this number.

    They are few at a time if arrays have many entries per column and level.
    """
    for number in np.unique(n_levels).tolist():
        rows = np.flatnonzero(n_levels == number)
        size = max(_MOST_AT_ONCE // (number * n_entries), 1)
        for first in range(0, len(rows), size):
            yield rows[first : first + size], number


def _without_rare(codes: Codes, n_levels: int) -> tuple[Ints, Ints, Ints]:
    """Pool the levels of columns with few samples.

    Returns the new levels of the samples, the new level of each level, -1 if it was pooled, and the
    number of new levels of each column.
    """
    sizes = count_tables(codes, np.zeros(codes.shape[1], np.int64), n_levels, 1)[:, :, 0]
    rare = (sizes < fewest(codes.shape[1])) & (sizes > 0)
    kept = np.cumsum(~rare, axis=1) - 1
    target = np.where(rare, (~rare).sum(axis=1)[:, np.newaxis], kept)
    levels = np.take_along_axis(target, codes.astype(np.int64), axis=1)
    return levels, np.where(rare, -1, kept), levels.max(axis=1) + 1


def _make_pooled(
    rows: Ints, levels: Ints, n_levels: int, ordered: NDArray[np.bool_], new_level: Ints
) -> Pooled:
    sizes = count_tables(levels, np.zeros(levels.shape[1], np.int64), n_levels, 1)[:, :, 0]
    n_pooled = (ordered & (new_level < 0)).sum(axis=1)
    has_trend: NDArray[np.bool_] = (ordered.sum(axis=1) > 0) & (n_pooled == 0)
    column, level = np.nonzero(ordered & has_trend[:, np.newaxis])
    place = column, new_level[column, level]
    position, weights = np.zeros(sizes.shape), np.zeros(sizes.shape, np.int64)
    position[place] = (np.cumsum(ordered, axis=1) - 1)[column, level]
    weights[place] = sizes[place]
    mean = (position * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1)
    position[place] -= mean[column]
    return Pooled(rows, levels, sizes, has_trend, position)


def fewest(n_samples: float) -> float:
    """Return the number of samples below which levels and classes are pooled."""
    return min(_FEWEST, n_samples * _FEWEST_SHARE)


def count_cells(
    rows: NDArray[np.integer], columns: NDArray[np.integer], height: int, width: int
) -> Ints:
    """Count the cells of one table."""
    cells: Ints = count_tables(rows[np.newaxis], columns, height, width)[0]
    return cells


def count_tables(
    rows: NDArray[np.integer], columns: NDArray[np.integer], height: int, width: int
) -> Ints:
    """Count the cells of tables: (n, n_samples) rows and the column of each sample."""
    first = np.arange(len(rows))[:, np.newaxis] * (height * width)
    cells = first + rows.astype(np.int64) * width + columns
    counts = np.bincount(cells.reshape(-1), minlength=len(rows) * height * width)
    return counts.reshape(len(rows), height, width)


def quadratic(scores: Floats, variances: Floats) -> tuple[Floats, Ints]:
    """Return the statistics of scores, of shape (n, k), and their degrees of freedom."""
    values, vectors = np.linalg.eigh(variances)
    kept = values > _LEAST_INFORMATION
    parts = (scores[:, np.newaxis] @ vectors)[:, 0]
    statistics = np.where(kept, parts**2 / np.where(kept, values, 1), 0).sum(axis=1)
    return statistics, kept.sum(axis=1)


def trends(position: Floats, scores: Floats, variances: Floats) -> tuple[Floats, Floats]:
    """Return the scores of trends over the levels, and their variances.

    ``position`` has shape (n, n_levels), ``scores`` (n, n_levels * m), ``variances`` the square of it.
    """
    n, n_levels = position.shape
    m = scores.shape[1] // n_levels
    score = (position[:, np.newaxis] @ scores.reshape(n, n_levels, m))[:, 0]
    left = position[:, np.newaxis] @ variances.reshape(n, n_levels, m * n_levels * m)
    return score, (position[:, np.newaxis, np.newaxis] @ left.reshape(n, m, n_levels, m))[:, :, 0]


def solve(factor: tuple[Floats, bool], rows: Floats) -> Floats:
    """Return the products of an inverse with the rows of several matrices, one matrix at a time.

    A product does not depend on the other matrices then.
    """
    return np.stack([dpotrs(factor[0], own.T, factor[1])[0].T for own in rows])


def joint_p_values(by_trend: Floats, by_levels: Floats) -> Floats:
    """Return the p-values of two tests, of the trend over ordered levels and of any difference."""
    return np.minimum(np.minimum(by_trend / _TREND_SHARE, by_levels / (1 - _TREND_SHARE)), 1.0)
