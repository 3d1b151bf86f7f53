"""Selections of several runs -> how stable the selection is."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.stats import norm
from sklearn.utils import check_random_state

from slfs._core.rounding import rounded

__all__ = ["Stability", "effective_stability", "nogueira"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Similarity = Callable[[int, Ints], Floats]
"""Similarity of one feature to several others, given by their indices."""

MAX_EXACT = 2000
"""Maximum number of features for which the mean of a similarity function is computed from all pairs."""

_SAMPLE = 1000
"""Number of features, and of partners of each, in the sample of pairs for larger tables."""

_ROUNDING = 1e-6
"""Largest difference from symmetry, from 1 on the diagonal and from the range that is accepted."""


@dataclass(frozen=True)
class Stability:
    """A stability measure, `nogueira` or `effective_stability`, with a confidence interval.

    Attributes
    ----------
    value : float
        1 if all runs select the same features, about 0 if they select at random. NaN if it is undefined,
        because no run selects any feature, every run selects all features, or all features are copies.
    low, high : float
        Confidence interval; ``high`` is at most 1.
    level : float
        Confidence level of the interval.
    standard_error : float
        Standard error of ``value``.
    n_runs : int
        Number of runs.
    share : float
        Mean share of the features that a run selects. If it is close to 0 or 1, runs cannot agree much
        more than by chance, and the measure is small or uncertain.

    Examples
    --------
    >>> from slfs.measures.stability import nogueira
    >>> print(nogueira([[1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 0]]))
    stability 0.50 (95% interval 0.08 to 0.92): fair
    """

    value: float
    low: float
    high: float
    level: float
    standard_error: float
    n_runs: int
    share: float

    @property
    def word(self) -> str:
        """Interpretation of the paper, after Fleiss: poor (below 0.4), fair, excellent (above 0.75)."""
        return "not defined" if math.isnan(self.value) else _word(self.value)

    def __str__(self) -> str:
        if math.isnan(self.value):
            return (
                "stability not defined: no run selects any feature, every run selects all, or all "
                "features are copies"
            )
        share = f"{100 * self.level:g}% interval {self.low:.2f} to {self.high:.2f}"
        value = rounded(self.value, 2, "f", _word)
        return f"stability {value} ({share}): {self.word}"


def _word(value: float) -> str:
    return "poor" if value < 0.4 else "excellent" if value > 0.75 else "fair"


def nogueira(supports: Any, *, level: float = 0.95) -> Stability:
    """Measure the agreement of the selections of several runs, corrected for chance.

    Parameters
    ----------
    supports : array-like or sparse matrix of shape (n_runs, n_features)
        Mask of the features that each run has selected: zeros and ones, or booleans.
    level : float, default=0.95
        Confidence level of the interval.

    Returns
    -------
    stability : Stability
        The measure with its confidence interval.

    See Also
    --------
    effective_stability : The same measure if some features can replace others.

    Notes
    -----
    With p features, B runs, p_f the share of the runs that select the feature f and k the mean size of a
    selection, the measure is 1 - mean(B/(B-1) p_f (1-p_f)) / (k/p (1-k/p)). The runs may select
    different numbers of features. The interval is asymptotic and assumes independent runs. Runs on
    subsamples of one dataset are independent only given that dataset: the interval describes how
    precisely the stability on this dataset is estimated, not the variation between datasets.

    References
    ----------
    S. Nogueira, K. Sechidis and G. Brown, "On the stability of feature selection algorithms",
    JMLR 18(174), 2018.

    Examples
    --------
    >>> from slfs.measures.stability import nogueira
    >>> nogueira([[1, 0, 1], [1, 0, 1]]).value
    1.0
    """
    chosen = read_supports(supports)
    return _measure(chosen, chosen, 0.0, chosen.shape[1], level)


def effective_stability(
    supports: Any, similarity: Any, *, level: float = 0.95, random_state: Any = 0
) -> Stability:
    """Measure the agreement of selections where a feature counts as selected if a similar one is.

    Parameters
    ----------
    supports : array-like or sparse matrix of shape (n_runs, n_features)
        Mask of the features that each run has selected: zeros and ones, or booleans.
    similarity : array-like or sparse matrix of shape (n_features, n_features), or callable
        Similarity of each pair of features, from 0 (unrelated) to 1 (copies): symmetric, with 1 on the
        diagonal. Or a function ``similarity(feature, others)`` that returns the similarity of one
        feature to several others, given by their indices, such as the result of
        `slfs.evaluation.feature_similarity`. The function is called for features that some run has
        selected, and to estimate the mean over all pairs; see Notes.
    level : float, default=0.95
        Confidence level of the interval.
    random_state : int, RandomState or None, default=0
        Seed of the sample of pairs. Used only if ``similarity`` is a function and there are more than
        2000 features.

    Returns
    -------
    stability : Stability
        The measure with its confidence interval.

    See Also
    --------
    nogueira : The measure that treats all features as different.
    slfs.evaluation.feature_similarity : The similarity of the columns of a table.
    slfs.evaluation.feature_groups : Groups of features that replace each other.

    Notes
    -----
    With C the similarities, S the sample covariance of the columns of ``supports`` and S0 their
    covariance if every run selects at random as many features as it does, the measure is
    1 - tr(CS) / tr(C S0). If all features are unrelated, it is `nogueira`. With p features, k the mean
    size of a selection, v the variance of the sizes and c the mean similarity of two different features,
    tr(C S0) = (1-c) k (1-k/p) + c v: features that no run selects matter only for c. If ``similarity``
    is a function, c is computed from all pairs of at most 2000 features; with more it is estimated from
    a random sample of a million pairs, the same for each call with the same ``random_state``.

    The value is at most 1 if C is positive semidefinite. Similarities that are measured pair by pair
    or set to zero below a threshold need not be: then it can be slightly larger. The interval is that of
    `nogueira` with similarities: asymptotic, for independent runs; c is treated as known.

    References
    ----------
    K. Sechidis, K. Papangelou, S. Nogueira, J. Weatherall and G. Brown, "On the stability of feature
    selection in the presence of feature correlations", ECML PKDD 2019.

    Examples
    --------
    Every run selects one of the first two features, which are copies of each other, and the third:

    >>> from slfs.measures import effective_stability, nogueira
    >>> supports = [[1, 0, 1, 0, 0], [0, 1, 1, 0, 0], [1, 0, 1, 0, 0], [0, 1, 1, 0, 0]]
    >>> similarity = [
    ...     [1, 1, 0, 0, 0], [1, 1, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 1]
    ... ]
    >>> effective_stability(supports, similarity).value
    1.0
    >>> round(nogueira(supports).value, 2)
    0.44
    """
    chosen = read_supports(supports)
    n_features = chosen.shape[1]
    columns = np.unique(chosen.indices).astype(np.int64)
    part, row = chosen[:, columns], read_similarity(similarity, n_features)
    products = np.empty(part.shape)
    for position, column in enumerate(columns.tolist()):
        products[:, position] = part @ row(column, columns)
    if callable(similarity):
        mean = _mean_similarity(row, n_features, random_state)
    else:
        mean = float(np.sum(similarity) - n_features) / max(n_features * (n_features - 1), 1)
    return _measure(part, products, mean, n_features, level)


def _measure(
    chosen: Any, products: Any, mean_similarity: float, n_features: int, level: float
) -> Stability:
    """Compute the measure and its interval from the selections Z and the products Z C.

    ``chosen`` and ``products`` have the columns that some run selects, at least.
    """
    if not 0 < level < 1:
        raise ValueError(f"level must be a float between 0 and 1. Got {level!r} instead.")
    n_runs = chosen.shape[0]
    size = _sums(chosen, 1)
    mean = float(size.mean())
    by_size = mean * (1 - mean / n_features)
    chance = (1 - mean_similarity) * by_size + mean_similarity * float(size.var())  # tr(C S0)
    if chance <= _ROUNDING / n_runs:
        return Stability(math.nan, math.nan, math.nan, level, math.nan, n_runs, mean / n_features)
    share, center = _sums(chosen, 0) / n_runs, _sums(products, 0) / n_runs  # the means of Z and of Z C
    # (z - mean) C (z - mean) of each run z: its mean, times B/(B-1), is tr(CS)
    spread = _sums(chosen.multiply(products), 1) - 2 * (chosen @ center) + share @ center
    ratio = float(spread.sum()) / (n_runs - 1) / chance
    # influence of each run on the ratio, through its spread and through the chance of its size
    slope = (1 - mean_similarity) * (1 - 2 * mean / n_features) - 2 * mean_similarity * mean
    parts = (spread - ratio * (slope * size + mean_similarity * size**2)) / chance
    error = float(np.sqrt(parts.var() / n_runs))
    value, reach = 1 - ratio, float(norm.ppf((1 + level) / 2)) * error
    return Stability(
        value, value - reach, min(value + reach, 1.0), level, error, n_runs, mean / n_features
    )


def _sums(values: Any, axis: int) -> Floats:
    """Sum a dense or sparse matrix along an axis."""
    return np.asarray(values.sum(axis=axis), np.float64).ravel()


def _mean_similarity(row: Similarity, n_features: int, random_state: Any) -> float:
    """Return the mean similarity of two different features, from all pairs or from a sample."""
    if n_features == 1:
        return 0.0
    if n_features <= MAX_EXACT:
        pairs = ((f, np.arange(f + 1, n_features)) for f in range(n_features - 1))
        total = sum(float(row(f, others).sum()) for f, others in pairs)
        return total / (n_features * (n_features - 1) / 2)
    random = check_random_state(random_state)
    means = []
    for f in random.randint(n_features, size=_SAMPLE).tolist():
        others = random.randint(n_features - 1, size=_SAMPLE)
        others += others >= f  # never the feature itself
        means.append(row(f, others).mean())
    return float(np.mean(means))


def read_similarity(similarity: Any, n_features: int) -> Similarity:
    """Return the similarity of one feature to others as a function that checks its values."""
    if callable(similarity):
        return functools.partial(_row, similarity)
    matrix = _read_matrix(similarity, n_features)
    if sparse.issparse(matrix):
        return lambda feature, others: matrix[[feature]].toarray()[0, others]
    return lambda feature, others: matrix[feature, others]


def _row(similarity: Similarity, feature: int, others: Ints) -> Floats:
    """Call a similarity function and check what it returns."""
    values = np.asarray(similarity(feature, others), np.float64)
    if values.shape != others.shape:
        raise ValueError(
            f"similarity must return one value per feature. Got the shape {values.shape} for "
            f"{len(others)} features."
        )
    _check_range(values)
    return values


def _read_matrix(similarity: Any, n_features: int) -> Any:
    """Validate a matrix of similarities."""
    dense = not sparse.issparse(similarity)
    matrix: Any = np.asarray(similarity, np.float64) if dense else sparse.csr_array(similarity)
    if matrix.shape != (n_features, n_features):
        raise ValueError(
            f"similarity must have one row and one column per feature, {n_features} each. Got the shape "
            f"{matrix.shape} instead."
        )
    _check_range(matrix if dense else matrix.data)
    if np.abs(matrix.diagonal() - 1).max() > _ROUNDING:
        raise ValueError("similarity must be 1 on the diagonal: each feature is a copy of itself.")
    if abs(matrix - matrix.T).max() > _ROUNDING:
        raise ValueError("similarity must be symmetric. Use (similarity + similarity.T) / 2.")
    return matrix


def _check_range(values: Floats) -> None:
    if not ((values >= -_ROUNDING) & (values <= 1 + _ROUNDING)).all():
        wrong = values[~((values >= 0) & (values <= 1))]
        raise ValueError(
            f"similarity must be between 0 and 1. Got {wrong[0]}. Use absolute values of correlations."
        )


def read_supports(supports: Any) -> Any:
    """Validate the selections, and convert them to a sparse array of zeros and ones."""
    if not sparse.issparse(supports):
        supports = np.asarray(supports)
        if supports.ndim != 2:
            raise ValueError(
                f"supports must have two dimensions, with one row per run. Got {supports.ndim} instead."
            )
    chosen = sparse.csr_array(supports).astype(np.float64)  # a copy
    chosen.eliminate_zeros()
    if chosen.shape[0] < 2 or chosen.shape[1] < 1:
        raise ValueError(
            "supports must have at least two runs (rows) and one feature (column). Got the shape "
            f"{chosen.shape} instead."
        )
    if not np.isin(chosen.data, (0, 1)).all():
        raise ValueError(
            "supports must contain zeros and ones, or booleans: 1 for each feature that a run selects. "
            f"Got the values {np.unique(chosen.data)[:5].tolist()}."
        )
    return chosen
