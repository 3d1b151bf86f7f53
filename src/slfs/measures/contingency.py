"""Tables of counts -> p-values of independence that hold far out in the tail, also for small counts.

Nothing but counts comes in: the same table gives the same bits in any block, stream or worker.
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
"""Samples that every cell must expect for the chi-square distribution to be used.

The true probability of the smaller of the two statistics was worked out for 3 to 20 levels, classes of
1 % to 50 % and levels of equal and of very different sizes. It is at most about 1.1 times the nominal
one from 1e-3 down to 1e-5; Pearson's alone is up to 3 times too ready, G up to 10. Small tables of equal
levels are the worst, where few different statistics exist: three levels of 12 samples and two classes
reach 0.1 with probability 0.175, and levels of 42 samples 0.001 with 0.00116.
"""

LEAST_CLASS = 4 * LEAST_EXPECTED
"""Smaller classes are pooled: their cells would expect too little in the quarter of a column."""

_f1, _i1 = types.float64[::1], types.int64[::1]
_FEW = 10
"""Degrees of freedom up to which `take_tails` works the tail out."""

_TINY = float(np.finfo(float).tiny)


def independence_p_values(counts: Ints, n_levels: Ints, n_classes: int, most_samples: int) -> Floats:
    """Test of independence for tables of counts, one after another.

    - A table of 2 x 2: Fisher's exact test.
    - If every cell expects `LEAST_EXPECTED` samples: the smaller of G and Pearson's statistic, with
      (levels - 1)(classes - 1) degrees of freedom.
    - Otherwise: Fisher's exact test of each cell (this level or not, this class or not) times the number
      of cells; and the table with its rare classes and rare levels pooled until every cell expects
      enough. The smaller p-value of these two, twice.

    Which way is taken depends on the sizes of levels and classes alone, so that the choice has not seen
    how they go together. Empty levels and classes do not count. Where one level or one class is left
    p = 1.

    Parameters
    ----------
    counts : ndarray
        For each table, level after level, one count for each class.
    n_levels : ndarray of shape (n_tables,)
    n_classes : int
    most_samples : int
        No table has more.

    Returns
    -------
    p_values : ndarray of shape (n_tables,)
        Above 0, at most 1.
    """
    statistic, freedom, p_value, n_ways = _judge(counts, n_levels, n_classes, most_samples)
    take_tails(statistic, freedom, p_value)
    many = np.flatnonzero(freedom > _FEW)
    if len(many):
        p_value[many] = np.minimum(p_value[many], chdtrc(freedom[many], statistic[many]))
    p_value *= n_ways
    return np.clip(p_value, _TINY, 1.0, out=p_value)


def stratified_p_value(tables: Ints) -> float:
    """Test of independence of level and class within strata: counts (strata, levels, classes).

    Strata in which every cell expects `LEAST_EXPECTED` samples share one statistic, the sum of theirs,
    with the sum of their degrees of freedom. The others are tested one by one, exactly. The p-values of
    these parts, which are independent, are combined by Fisher's method. Strata of one level or one class
    say nothing and do not count.
    """
    n_strata, n_levels, n_classes = tables.shape
    sizes = np.full(n_strata, n_levels)
    statistic, freedom, exact, n_ways = _judge(tables, sizes, n_classes, int(tables.sum()))
    plain = (freedom > 0) & (n_ways == 1)
    rest = np.where(freedom > 0, chdtrc(np.maximum(freedom, 1), np.maximum(statistic, 0.0)), np.inf)
    alone = np.minimum(1.0, n_ways * np.minimum(exact, rest))
    telling = (tables.any(axis=2).sum(axis=1) > 1) & (tables.any(axis=1).sum(axis=1) > 1)
    parts = alone[telling & ~plain].tolist()
    if plain.any():
        parts.append(float(chdtrc(freedom[plain].sum(), statistic[plain].sum())))
    if len(parts) <= 1:
        return max([*parts, _TINY]) if parts else 1.0
    combined = -2 * sum(math.log(max(part, _TINY)) for part in parts)
    return max(float(chdtrc(2 * len(parts), combined)), _TINY)


def _judge(
    counts: Ints, n_levels: Ints, n_classes: int, most_samples: int
) -> tuple[Floats, Ints, Floats, Ints]:
    """What `judge_tables` says of each table."""
    n_tables = len(n_levels)
    statistic, exact = np.empty(n_tables), np.empty(n_tables)
    freedom, n_ways = np.empty(n_tables, np.int64), np.empty(n_tables, np.int64)
    offset, log_factorial = starts(n_levels * n_classes), _log_factorials(most_samples)
    judge_tables(counts.reshape(-1), offset, n_classes, log_factorial, statistic, freedom, exact, n_ways)
    return statistic, freedom, exact, n_ways


_MOST_FACTORIALS = 1 << 17
"""Factorials that are looked up; larger ones are worked out, so that tall tables need no long list."""


@functools.lru_cache(maxsize=2)
def _log_factorials(n_samples: int) -> Floats:
    logarithms: Floats = gammaln(np.arange(1.0, min(n_samples, _MOST_FACTORIALS) + 2))
    return logarithms


@inlined
def _log_factorial(n: int, table: Floats) -> float:
    """log n!, from the table of the first ones if it is there."""
    return table[n] if n < table.shape[0] else math.lgamma(n + 1.0)


@inlined
def _rise(both: int, level: int, label: int, rest: int) -> float:
    """How many times likelier a table of ``both`` + 1 is than one of ``both``, the margins as given."""
    return (float(level - both) * float(label - both)) / (float(both + 1) * float(rest + both + 1))


@helper
def fisher_exact(both: int, level: int, label: int, size: int, log_factorial: Floats) -> float:
    """Fisher's two-sided exact test: ``both`` of ``size`` samples have the level and the class.

    The probability of all tables with the same margins that are not more likely than this one, a table
    within a ten-millionth of it counted as equally likely. No term below the least normal float is
    added: the least float of all times 0.9 is itself again, and the sum would not end.
    """
    low, high = max(0, level + label - size), min(level, label)
    if size < 2**31:
        mode = (level + 1) * (label + 1) // (size + 2)
    else:  # the product would not fit
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
    """Put the tail of the chi-square distribution where it is smaller, for a few degrees of freedom.

    The series for a whole number of degrees is finite: several times faster than SciPy.
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
    """Put together what is smaller than ``least``, and the next larger ones until they are enough.

    Those of the same size go together, so that their order does not matter. ``place`` has the new place
    of each, -1 for what is empty. Returns how many there are now.
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

    ``n_ways`` says how many of the two there are to choose from.
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
                    if n_columns == 2:  # the other class says the same
                        break
            if n_rows == 2 and levels[a] > 0:
                break
