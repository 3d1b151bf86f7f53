"""Contingency tables -> statistics and exact p-values of each table (numba)."""

from __future__ import annotations

import math

import numpy as np
from numba import types
from numpy.typing import NDArray

from slfs._core.compile import helper, inlined, kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MAX_ENUMERATED = 400
"""Maximum number of tables with two rows or columns that are enumerated for an exact test."""

TINY = float(np.finfo(float).tiny)
"""The smallest normal float, below which no p-value goes."""

_f1, _i1 = types.float64[::1], types.int64[::1]


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
    if own < TINY:
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
    while left > low and term > max(1e-17 * tails, TINY):
        term /= _rise(left - 1, level, label, rest)
        left -= 1
        tails += term
    term = right_term
    while right < high and term > max(1e-17 * tails, TINY):
        term *= _rise(right, level, label, rest)
        right += 1
        tails += term
    return min(1.0, max(tails, own))


@kernel(types.void(_i1, _i1, types.int64, _f1, types.float64[:, ::1]))
def summarize_tables(
    counts: Ints, offset: Ints, n_classes: int, log_factorial: Floats, out: Floats
) -> None:
    """Summarize each table, in the rows of ``out``.

    These are the number of samples; the smaller of G and Pearson's statistic; the smallest expected
    count; the log probability of the table given its margins; the p-value of the exact test of tables
    with two levels or classes (NaN if it was not computed); the number of levels and the sum of 1 /
    size; the same of the classes. Tables with a single level or class have an exact p-value of 1.
    """
    widest = 1
    for j in range(offset.shape[0] - 1):
        widest = max(widest, (offset[j + 1] - offset[j]) // n_classes)
    levels, classes = np.empty(widest, np.int64), np.empty(n_classes, np.int64)
    sizes, last_sizes = np.empty(widest + n_classes, np.int64), np.zeros(widest + n_classes, np.int64)
    probability = np.empty(MAX_ENUMERATED)
    last_count, last_label, n_tables = 0, np.int64(-1), 0
    pooled = np.empty((widest, n_classes), np.int64)
    for j in range(offset.shape[0] - 1):
        d = (offset[j + 1] - offset[j]) // n_classes
        table = counts[offset[j] : offset[j + 1]].reshape((d, n_classes))
        size = _add_margins(table, levels[:d], classes)
        if _several_single(levels[:d]) or _several_single(classes):
            table = pooled[:d]
            _pool_single(
                counts[offset[j] : offset[j + 1]].reshape((d, n_classes)), levels[:d], classes, table
            )
            size = _add_margins(table, levels[:d], classes)
        own_log_p = -_log_factorial(size, log_factorial)
        n_rows, row_sum, fewest_level = 0, 0.0, np.int64(2**62)
        for a in range(d):
            if levels[a] > 0:
                n_rows += 1
                row_sum += 1.0 / levels[a]
                fewest_level = min(fewest_level, levels[a])
                own_log_p += _log_factorial(levels[a], log_factorial)
        n_columns, column_sum, fewest_class = 0, 0.0, np.int64(2**62)
        for c in range(n_classes):
            if classes[c] > 0:
                n_columns += 1
                column_sum += 1.0 / classes[c]
                fewest_class = min(fewest_class, classes[c])
                own_log_p += _log_factorial(classes[c], log_factorial)
        out[0, j], out[1, j], out[2, j], out[3, j], out[4, j] = size, 0.0, 0.0, 0.0, 1.0
        out[5, j], out[6, j], out[7, j], out[8, j] = n_rows, row_sum, n_columns, column_sum
        if n_rows < 2 or n_columns < 2:
            continue
        likelihood, pearson = 0.0, 0.0
        for a in range(d):
            if levels[a] > 0:
                share = float(levels[a]) / size
                for c in range(n_classes):
                    if classes[c] > 0:
                        expected = share * classes[c]
                        if table[a, c] > 0:
                            count = float(table[a, c])
                            likelihood += 2 * count * math.log(count / expected)
                            own_log_p -= _log_factorial(table[a, c], log_factorial)
                        pearson += (table[a, c] - expected) ** 2 / expected
        out[1, j] = max(min(likelihood, pearson), 0.0)
        out[2, j] = float(fewest_level) * fewest_class / size
        out[3, j] = min(own_log_p, 0.0)
        out[4, j] = np.nan
        if n_rows == 2 and n_columns == 2:
            a, c = 0, 0
            while levels[a] == 0:
                a += 1
            while classes[c] == 0:
                c += 1
            out[4, j] = fisher_exact(table[a, c], levels[a], classes[c], size, log_factorial)
        elif n_rows == 2 or n_columns == 2:
            n_sizes, label = 0, np.int64(2**62)
            if n_columns == 2:
                for a in range(d):
                    if levels[a] > 0:
                        sizes[n_sizes] = levels[a]
                        n_sizes += 1
                label = fewest_class
            else:
                for c in range(n_classes):
                    if classes[c] > 0:
                        sizes[n_sizes] = classes[c]
                        n_sizes += 1
                label = fewest_level
            same = n_sizes == last_count and label == last_label
            if same:
                for i in range(n_sizes):
                    same &= sizes[i] == last_sizes[i]
            if not same:
                last_sizes[:n_sizes] = sizes[:n_sizes]
                last_count, last_label = n_sizes, label
                n_tables = _enumerate(sizes[:n_sizes], label, log_factorial, probability)
            if n_tables > 0:
                total, limit = 0.0, math.exp(own_log_p) * (1 + 1e-7)
                for i in range(n_tables):
                    total += probability[i] if probability[i] <= limit else 0.0
                out[4, j] = min(total, 1.0)


@helper
def _add_margins(table: Ints, levels: Ints, classes: Ints) -> int:
    """Write the numbers of samples of the levels and classes; return the number of all samples."""
    size = np.int64(0)
    classes[:] = 0
    for a in range(table.shape[0]):
        levels[a] = 0
        for c in range(table.shape[1]):
            levels[a] += table[a, c]
            classes[c] += table[a, c]
        size += levels[a]
    return size


@helper
def _several_single(sizes: Ints) -> bool:
    """Whether several levels or classes have a single sample."""
    found = 0
    for a in range(sizes.shape[0]):
        found += sizes[a] == 1
    return found > 1


@helper
def _pool_single(table: Ints, levels: Ints, classes: Ints, out: Ints) -> None:
    """Write the table with all levels of a single sample pooled, and all classes of a single sample."""
    out[:] = 0
    first_level, first_class = -1, -1
    for c in range(table.shape[1]):
        if classes[c] == 1 and first_class < 0:
            first_class = c
    for a in range(table.shape[0]):
        if levels[a] == 1 and first_level < 0:
            first_level = a
        row = first_level if levels[a] == 1 else a
        for c in range(table.shape[1]):
            out[row, first_class if classes[c] == 1 else c] += table[a, c]


@helper
def _enumerate(sizes: Ints, label: int, log_factorial: Floats, probability: Floats) -> int:
    """List the probability of every table with two rows: ``label`` samples are in the first one.

    ``sizes`` are the column sums. Returns the number of tables, or 0 if there may be
    more than fit in ``probability``.
    """
    n_columns = sizes.shape[0]
    largest = sizes.max()
    product, choices = 1.0 / (min(largest, label) + 1), 1.0  # two upper bounds of the number of tables
    for i in range(n_columns):
        product *= min(sizes[i], label) + 1
        choices *= (label + i) / i if i > 0 else 1.0
    if min(product, choices) > probability.shape[0]:
        return 0
    room = np.zeros(n_columns + 1, np.int64)  # samples in this and all later columns
    for i in range(n_columns - 1, -1, -1):
        room[i] = room[i + 1] + sizes[i]
    constant = _log_factorial(label, log_factorial) + _log_factorial(room[0] - label, log_factorial)
    constant -= _log_factorial(room[0], log_factorial)
    for i in range(n_columns):
        constant += _log_factorial(sizes[i], log_factorial)
    taken, left = np.zeros(n_columns, np.int64), np.zeros(n_columns + 1, np.int64)
    log_p = np.empty(n_columns + 1)  # of the columns before this one
    left[0], log_p[0] = label, constant
    n_tables, i = 0, 0
    taken[0] = max(np.int64(0), label - room[1]) - 1
    while i >= 0:
        taken[i] += 1
        if taken[i] > min(sizes[i], left[i]):
            i -= 1
            continue
        left[i + 1] = left[i] - taken[i]
        log_p[i + 1] = (
            log_p[i]
            - _log_factorial(taken[i], log_factorial)
            - _log_factorial(sizes[i] - taken[i], log_factorial)
        )
        if i + 1 < n_columns:
            i += 1
            taken[i] = max(np.int64(0), left[i] - room[i + 1]) - 1
        else:
            probability[n_tables] = math.exp(log_p[n_columns])
            n_tables += 1
    return n_tables


@kernel(types.void(_i1, _i1, types.int64, _f1, types.boolean[::1], _f1))
def test_cells(
    counts: Ints,
    offset: Ints,
    n_classes: int,
    log_factorial: Floats,
    wanted: NDArray[np.bool_],
    out: Floats,
) -> None:
    """Test each cell (this level or not, this class or not) of the wanted tables with Fisher's test.

    Writes the smallest p-value times the number of different tests.
    """
    classes = np.empty(n_classes, np.int64)
    for j in range(offset.shape[0] - 1):
        if not wanted[j]:
            continue
        d = (offset[j + 1] - offset[j]) // n_classes
        table = counts[offset[j] : offset[j + 1]].reshape((d, n_classes))
        size, n_rows, n_columns, smallest = np.int64(0), 0, 0, 1.0
        for c in range(n_classes):
            classes[c] = table[:, c].sum()
            size += classes[c]
            n_columns += classes[c] > 0
        for a in range(d):
            level = table[a].sum()
            n_rows += level > 0
            for c in range(n_classes):
                if level > 0 and classes[c] > 0:
                    cell = fisher_exact(table[a, c], level, classes[c], size, log_factorial)
                    smallest = min(smallest, cell)
                    if n_columns == 2:  # the test of the other class is the same
                        break
        # with two levels or two classes, the tests of both are the same
        different = (n_rows if n_rows > 2 else 1) * (n_columns if n_columns > 2 else 1)
        out[j] = different * smallest
