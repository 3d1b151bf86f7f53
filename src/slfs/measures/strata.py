"""Levels of conditioning columns -> strata of samples, and what tests given these columns share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
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
    levels: Codes = np.searchsorted(bounds, share, side="right").astype(np.uint8)
    for row in levels:  # levels without samples are left out
        row[:] = np.unique(row, return_inverse=True)[1]
    return levels


def pool_rare(codes: Codes) -> tuple[Ints, Ints]:
    """Pool the levels with few samples; return the new codes, and the new level of each level.

    The latter is -1 for levels that were pooled with others.
    """
    sizes = np.bincount(codes)
    rare = (sizes < fewest(len(codes))) & (sizes > 0)
    kept = np.cumsum(~rare) - 1
    return np.where(rare, int((~rare).sum()), kept)[codes], np.where(rare, -1, kept)


def fewest(n_samples: float) -> float:
    """Return the number of samples below which levels and classes are pooled."""
    return min(_FEWEST, n_samples * _FEWEST_SHARE)


def count_cells(
    rows: NDArray[np.integer], columns: NDArray[np.integer], height: int, width: int
) -> Ints:
    cells = np.bincount(rows.astype(np.int64) * width + columns, minlength=height * width)
    return cells.reshape(height, width)


def quadratic(score: Floats, variance: Floats) -> tuple[float, int]:
    """Return the statistic of a score, and its degrees of freedom."""
    values, vectors = np.linalg.eigh(variance)
    kept = values > _LEAST_INFORMATION
    parts = (vectors.T @ score)[kept]
    return float((parts**2 / values[kept]).sum()), int(kept.sum())


def centred_positions(sizes: Ints, ordered: Ints) -> Floats:
    """Return the positions of levels in their order, less their mean; 0 for levels without order."""
    position = np.zeros(len(sizes))
    position[ordered] = np.arange(len(ordered))  # pooled levels are next to each other rarely
    position[ordered] -= np.average(position[ordered], weights=sizes[ordered])
    return position


def joint_p_value(by_trend: float, by_levels: float) -> float:
    """Return the p-value of two tests, of the trend over ordered levels and of any difference."""
    return min(by_trend / _TREND_SHARE, by_levels / (1 - _TREND_SHARE), 1.0)
