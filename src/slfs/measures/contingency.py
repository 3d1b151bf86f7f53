"""Contingency tables -> p-values of independence that are accurate in the tail and for small counts.

The p-value depends on the counts only: the same table gives the same bits in any block, stream or
worker.
"""

from __future__ import annotations

import functools
import math

import numpy as np
from numba import types
from numpy.typing import NDArray
from scipy.special import chdtrc, gammaln

from slfs._core.compile import helper, inlined, kernel
from slfs._core.ragged import starts

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LEAST_EXPECTED = 5
"""Minimum expected count of every cell for the chi-squared distribution to be used.

The true probability of the smaller of the two statistics was computed for 3 to 20 levels, classes of 1 %
to 50 %, and levels of equal and of very different sizes. It is at most about 1.1 times the nominal one
between 1e-3 and 1e-5; for Pearson's statistic alone it is up to 3 times, for G alone up to 10 times the
nominal one. Small tables with levels of equal size are the worst case, because few different values of
the statistic exist: with three levels of 12 samples and two classes p <= 0.1 has probability 0.175, and
with levels of 42 samples p <= 0.001 has probability 0.00116.
"""

LEAST_CLASS = 4 * LEAST_EXPECTED
"""Smaller classes are pooled: in a quartile their expected counts would be too small."""

_f1, _i1 = types.float64[::1], types.int64[::1]
_FEW = 10
"""Maximum degrees of freedom for which `take_tails` computes the tail."""

_TINY = float(np.finfo(float).tiny)


def independence_p_values(counts: Ints, n_levels: Ints, n_classes: int, most_samples: int) -> Floats:
    """Test the independence of levels and classes in each of several contingency tables.

    - 2 x 2 tables: Fisher's exact test.
    - If the expected count of every cell is at least `LEAST_EXPECTED`: the smaller of G and Pearson's
      statistic, with (levels - 1)(classes - 1) degrees of freedom.
    - Otherwise two p-values are computed: the smallest of Fisher's exact tests of each cell (this level
      or not, this class or not) times the number of cells; and that of the table with rare classes and
      rare levels pooled until the expected counts are large enough. The result is twice the smaller one.

    The choice depends on the sizes of levels and classes only, not on their association, so that it does
    not bias the p-value. Empty levels and classes are ignored. If a single level or class remains, p =
    1.

    Parameters
    ----------
    counts : ndarray
        Counts of all tables, one after another: level by level, one count per class.
    n_levels : ndarray of shape (n_tables,)
        Number of levels of each table.
    n_classes : int
        Number of classes of all tables.
    most_samples : int
        Upper bound of the number of samples of a table.

    Returns
    -------
    p_values : ndarray of shape (n_tables,)
        p-value of each table, greater than 0 and at most 1.
    """
    statistic, freedom, p_value, n_ways = _judge(counts, n_levels, n_classes, most_samples)
    take_tails(statistic, freedom, p_value)
    many = np.flatnonzero(freedom > _FEW)
    if len(many):
        p_value[many] = np.minimum(p_value[many], chdtrc(freedom[many], statistic[many]))
    p_value *= n_ways
    return np.clip(p_value, _TINY, 1.0, out=p_value)


def stratified_p_value(tables: Ints) -> float:
    """Test the independence of level and class within strata: counts (strata, levels, classes).

    Strata in which all expected counts are at least `LEAST_EXPECTED` are combined in one statistic, the
    sum of theirs, with the sum of their degrees of freedom. Each other stratum is tested separately. The
    p-values of these parts are independent and are combined with Fisher's method. Strata with a single
    level or class contain no information and are ignored.
    """
    n_strata, n_levels, n_classes = tables.shape
    sizes = np.full(n_strata, n_levels)
    statistic, freedom, exact, n_ways = _judge(tables, sizes, n_classes, int(tables.sum()))
    plain = (freedom > 0) & (n_ways == 1)
    rest = np.where(freedom > 0, chdtrc(np.maximum(freedom, 1), np.maximum(statistic, 0.0)), np.inf)
    alone = np.minimum(1.0, n_ways * np.minimum(exact, rest))
    informative = (tables.any(axis=2).sum(axis=1) > 1) & (tables.any(axis=1).sum(axis=1) > 1)
    parts = alone[informative & ~plain].tolist()
    if plain.any():
        parts.append(float(chdtrc(freedom[plain].sum(), statistic[plain].sum())))
    if len(parts) <= 1:
        return max([*parts, _TINY]) if parts else 1.0
    combined = -2 * sum(math.log(max(part, _TINY)) for part in parts)
    return max(float(chdtrc(2 * len(parts), combined)), _TINY)


def _judge(
    counts: Ints, n_levels: Ints, n_classes: int, most_samples: int
) -> tuple[Floats, Ints, Floats, Ints]:
    """Allocate the outputs of `judge_tables` and call it."""
    n_tables = len(n_levels)
    statistic, exact = np.empty(n_tables), np.empty(n_tables)
    freedom, n_ways = np.empty(n_tables, np.int64), np.empty(n_tables, np.int64)
    offset, log_factorial = starts(n_levels * n_classes), _log_factorials(most_samples)
    judge_tables(counts.reshape(-1), offset, n_classes, log_factorial, statistic, freedom, exact, n_ways)
    return statistic, freedom, exact, n_ways


_MAX_FACTORIALS = 1 << 17
"""Length of the table of log factorials; larger ones are computed on demand to save memory."""


@functools.lru_cache(maxsize=2)
def _log_factorials(n_samples: int) -> Floats:
    logarithms: Floats = gammaln(np.arange(1.0, min(n_samples, _MAX_FACTORIALS) + 2))
    return logarithms


@inlined
def _log_factorial(n: int, table: Floats) -> float:
    """Return log n!, from the table if n is in it."""
    return table[n] if n < table.shape[0] else math.lgamma(n + 1.0)


@inlined
def _rise(both: int, level: int, label: int, rest: int) -> float:
    """Return P(``both`` + 1) / P(``both``) for tables with the given margins."""
    return (float(level - both) * float(label - both)) / (float(both + 1) * float(rest + both + 1))


@helper
def fisher_exact(both: int, level: int, label: int, size: int, log_factorial: Floats) -> float:
    """Fisher's two-sided exact test: ``both`` of ``size`` samples have the level and the class.

    The p-value is the probability of all tables with the same margins that are not more likely than this
    one; tables within a relative tolerance of 1e-7 count as equally likely. Terms below the smallest
    normal float are not added: the smallest subnormal float times 0.9 is rounded to itself, and the loop
    would not end.
    """
    low, high = max(0, level + label - size), min(level, label)
    if size < 2**31:
        mode = (level + 1) * (label + 1) // (size + 2)
    else:  # the product would overflow
        mode = np.int64((level + 1.0) * ((label + 1.0) / (size + 2.0)))
    mode = min(max(mode, low), high)
    if both == mode:
        return 1.0
    rest = size - level - label
    margins = (
        _log_factorial(level, log_factorial)
        + _log_factorial(size - level, log_factorial)
        + _log_factorial(label, log_factorial)
    )
    margins += _log_factorial(size - label, log_factorial) - _log_factorial(size, log_factorial)
    top = math.exp(
        margins
        - _log_factorial(mode, log_factorial)
        - _log_factorial(level - mode, log_factorial)
        - _log_factorial(label - mode, log_factorial)
        - _log_factorial(rest + mode, log_factorial)
    )
    own = math.exp(
        margins
        - _log_factorial(both, log_factorial)
        - _log_factorial(level - both, log_factorial)
        - _log_factorial(label - both, log_factorial)
        - _log_factorial(rest + both, log_factorial)
    )
    if own < _TINY:
        return own
    limit = own * (1 + 1e-7)
    if top <= limit:
        return 1.0
    middle, term, right = top, top, mode
    while right < high:
        term *= _rise(right, level, label, rest)
        right += 1
        if term <= limit:
            break
        middle += term
    else:
        term, right = 0.0, high + 1
    right_term = term
    term, left = top, mode
    while left > low:
        term /= _rise(left - 1, level, label, rest)
        left -= 1
        if term <= limit:
            break
        middle += term
    else:
        term, left = 0.0, low - 1
    if middle < 0.9:
        return min(1.0, max(1.0 - middle, own))
    tails = right_term + term
    while left > low and term > max(1e-17 * tails, _TINY):
        term /= _rise(left - 1, level, label, rest)
        left -= 1
        tails += term
    term = right_term
    while right < high and term > max(1e-17 * tails, _TINY):
        term *= _rise(right, level, label, rest)
        right += 1
        tails += term
    return min(1.0, max(tails, own))


@kernel(types.void(_f1, _i1, _f1))
def take_tails(statistic: Floats, freedom: Ints, p_value: Floats) -> None:
    """Lower ``p_value`` to the tail of the chi-squared distribution, for up to `_FEW` degrees of
    freedom.

    The series for an integer number of degrees of freedom is finite, and several times faster than
    SciPy.
    """
    for j in range(statistic.shape[0]):
        if freedom[j] == 0 or freedom[j] > _FEW:
            continue
        half = 0.5 * statistic[j]
        odd = freedom[j] % 2
        tail, term = 0.0, math.exp(-half)
        if odd:
            tail = math.erfc(math.sqrt(half))
            term *= 2 * math.sqrt(half / math.pi)
        for k in range(freedom[j] // 2):
            tail += term
            term *= half / (k + 1 + 0.5 * odd)
        p_value[j] = min(p_value[j], tail)


@helper
def _pool(totals: Ints, least: float, place: Ints) -> int:
    """Pool the groups smaller than ``least``, and the next larger ones until the pool is large enough.

    Groups of the same size are pooled together, so that their order does not matter. The new index of
    each group is written to ``place``, -1 for empty groups. Returns the new number of groups.
    """
    bound, pooled = 0.0, 0
    for a in range(totals.shape[0]):
        if 0 < totals[a] < least:
            bound = max(bound, float(totals[a]))
    found = 0
    while bound > 0:
        pooled, following = 0, np.inf
        for a in range(totals.shape[0]):
            if totals[a] <= bound:
                pooled += totals[a]
            else:
                following = min(following, float(totals[a]))
        if pooled >= least or following == np.inf:
            found = 1
            break
        bound = following
    for a in range(totals.shape[0]):
        if totals[a] == 0:
            place[a] = -1
        elif totals[a] <= bound:
            place[a] = 0
        else:
            place[a] = found
            found += 1
    return found


@kernel(types.void(_i1, _i1, types.int64, _f1, _f1, _i1, _f1, _i1))
def judge_tables(
    counts: Ints,
    offset: Ints,
    n_classes: int,
    log_factorial: Floats,
    statistic: Floats,
    freedom: Ints,
    exact: Floats,
    n_ways: Ints,
) -> None:
    """Test each table: a statistic with its degrees of freedom (0: none), an exact p-value (inf: none).

    ``n_ways`` is the number of p-values of which the smaller one is taken, 1 or 2.
    """
    widest = 1
    for j in range(offset.shape[0] - 1):
        widest = max(widest, (offset[j + 1] - offset[j]) // n_classes)
    levels, level_place = np.empty(widest, np.int64), np.empty(widest, np.int64)
    classes, class_place = np.empty(n_classes, np.int64), np.empty(n_classes, np.int64)
    pooled = np.empty((widest, n_classes), np.int64)
    pooled_levels, pooled_classes = np.empty(widest, np.int64), np.empty(n_classes, np.int64)
    for j in range(offset.shape[0] - 1):
        d = (offset[j + 1] - offset[j]) // n_classes
        table = counts[offset[j] : offset[j + 1]].reshape((d, n_classes))
        size = np.int64(0)
        classes[:] = 0
        n_rows, n_columns = 0, 0
        fewest_level, fewest_class = np.inf, np.inf
        for a in range(d):
            levels[a] = 0
            for c in range(n_classes):
                levels[a] += table[a, c]
                classes[c] += table[a, c]
            if levels[a] > 0:
                n_rows += 1
                fewest_level = min(fewest_level, float(levels[a]))
            size += levels[a]
        for c in range(n_classes):
            if classes[c] > 0:
                n_columns += 1
                fewest_class = min(fewest_class, float(classes[c]))
        statistic[j], freedom[j], exact[j], n_ways[j] = 0.0, 0, np.inf, 1
        if n_rows < 2 or n_columns < 2:
            exact[j] = 1.0
            continue
        if n_rows == 2 and n_columns == 2:
            a, c = 0, 0
            while levels[a] == 0:
                a += 1
            while classes[c] == 0:
                c += 1
            exact[j] = fisher_exact(table[a, c], levels[a], classes[c], size, log_factorial)
            continue
        roomy = fewest_level * fewest_class >= LEAST_EXPECTED * size
        least = 0.0 if roomy or n_columns == 2 else float(LEAST_CLASS)
        shared_columns = _pool(classes, least, class_place)
        pooled_classes[:] = 0
        for c in range(n_classes):
            if classes[c] > 0:
                pooled_classes[class_place[c]] += classes[c]
        smallest = size
        for c in range(shared_columns):
            smallest = min(smallest, pooled_classes[c])
        least = float(LEAST_EXPECTED) * size / smallest
        shared_rows = _pool(levels[:d], least if n_rows > 2 else 0.0, level_place[:d])
        whole = shared_rows == n_rows and shared_columns == n_columns
        pooled_levels[:] = 0
        for a in range(d):
            if levels[a] > 0:
                pooled_levels[level_place[a]] += levels[a]
        fewest = size
        for a in range(shared_rows):
            fewest = min(fewest, pooled_levels[a])
        pooled[:shared_rows, :shared_columns] = 0
        for a in range(d):
            if levels[a] > 0:
                for c in range(n_classes):
                    if classes[c] > 0:
                        pooled[level_place[a], class_place[c]] += table[a, c]
        if shared_rows == 2 and shared_columns == 2:
            exact[j] = fisher_exact(
                pooled[0, 0], pooled_levels[0], pooled_classes[0], size, log_factorial
            )
        elif shared_rows > 1 and shared_columns > 1 and fewest >= least:
            likelihood, pearson = 0.0, 0.0
            for a in range(shared_rows):
                for c in range(shared_columns):
                    expected = float(pooled_levels[a]) * float(pooled_classes[c]) / size
                    count = float(pooled[a, c])
                    if count > 0:
                        likelihood += 2 * count * math.log(count / expected)
                    pearson += (count - expected) ** 2 / expected
            statistic[j] = max(min(likelihood, pearson), 0.0)
            freedom[j] = (shared_rows - 1) * (shared_columns - 1)
            if whole:
                continue
        n_ways[j] = 2 if freedom[j] > 0 or exact[j] < np.inf else 1
        n_cells = n_rows * n_columns
        if n_columns == 2:
            n_cells = n_rows
        elif n_rows == 2:
            n_cells = n_columns
        for a in range(d):
            for c in range(n_classes):
                if levels[a] > 0 and classes[c] > 0:
                    cell = fisher_exact(table[a, c], levels[a], classes[c], size, log_factorial)
                    exact[j] = min(exact[j], n_cells * cell)
                    if n_columns == 2:  # the test of the other class is the same
                        break
            if n_rows == 2 and levels[a] > 0:
                break
