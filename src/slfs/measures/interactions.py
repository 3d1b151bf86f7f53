"""Tables of two columns and the class -> p-values of the interaction beyond the main effects.

The hypothesis is that the class depends on both columns without an interaction: the log-linear
model with all two-way terms, whose fit has no closed form. Its statistics are G (the likelihood
ratio) and Pearson's; the smaller of the two is compared with a chi-squared distribution. With few
samples per cell G is too large in the bulk and Pearson's statistic in the far tail, the smaller one
in neither. Tables of two levels, two levels and two classes are also tested exactly, because their
statistic has few different values: given all two-way margins, one count determines the table.

The fit is only needed for promising pairs. The superposition approximation of Kirkwood, n(f,k)
n(f,y) n(k,y) / (n(f) n(k) n(y)) scaled to N samples, is a model without interaction, so that its
distance from the table is an upper bound of G (Wan et al., "BOOST", American Journal of Human
Genetics 87, 2010): G <= 2 N (synergy + log eta). The sum eta is at most 1 + sqrt(X2(f) X2(k)) / N,
where X2 is Pearson's statistic of a column and the class (Cauchy and Schwarz), so that most pairs
need only their synergy.
"""

from __future__ import annotations

import math

import numpy as np
from numba import types
from numpy.typing import NDArray
from scipy.special import chdtrc, chdtri

from slfs._core.compile import helper, kernel
from slfs._core.ragged import starts
from slfs.counting.backend import CountingBackend
from slfs.counting.pairs import PairScreen
from slfs.measures.contingency import log_factorials

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_ROUNDS = 500
"""Maximum number of rounds of iterative proportional fitting; few are needed except on the boundary."""

_TOLERANCE = 1e-8
"""Relative error of the margins at which the fit ends."""

_CLOSE = 1e-5
"""The same for fits that are compared with each other."""

_TINY = float(np.finfo(float).tiny)

_ROUNDING = 1e-6
"""Tolerance of the screen, for the rounding of logarithms."""


def pair_screen(backend: CountingBackend, p_limit: float) -> PairScreen:
    """Make the screen that every pair with a p-value of at most ``p_limit`` passes."""
    packed, scale = backend.packed, backend.nlogn.scale
    n_classes, totals, n = packed.layout.n_classes, packed.layout.totals, packed.layout.n_samples
    sums = backend.column_sums()
    counts = packed.arrays.class_counts.reshape(-1, n_classes).astype(np.float64)
    share = counts**2 / np.maximum(counts.sum(axis=1, keepdims=True) * totals, 1.0)
    first = starts(packed.arrays.levels.astype(np.int64))[:-1]
    pearson = np.maximum(n * (np.add.reduceat(share.sum(axis=1), first) - 1), 0.0)
    # slack[f] slack[k] is sqrt(X2(f) X2(k)) in the unit of the sums: at most N, which fits in 64 bits
    slack = np.ceil(np.sqrt(pearson * scale)).astype(np.int64)
    most = int(packed.arrays.levels.max(initial=2)) - 1
    freedom = np.arange(most * most + 1) * (n_classes - 1)
    class_entropy = backend.nlogn.table[n] - backend.nlogn.table[totals].sum()
    needed = (_least_statistic(freedom, p_limit) / 2 - _ROUNDING * n) * scale
    least = needed.astype(np.int64) + class_entropy
    return PairScreen(sums[:, 1] - sums[:, 0], slack, least)


def interaction_p_values(tables: Ints, freedom: Ints, p_limit: float = 1.0) -> tuple[Floats, Floats]:
    """Test tables of shape (n_pairs, n_classes, levels of f, levels of k) for an interaction.

    Returns the statistic and the p-value of each pair; the p-value is NaN if it is certainly above
    ``p_limit``. ``freedom`` are the degrees of freedom. Levels without samples are allowed; they do not
    change the statistic.
    """
    statistic, n_samples = np.empty(len(tables)), int(tables[:1].sum())
    fit_without_interaction(tables, _least_statistic(freedom, p_limit), statistic)
    p_value: Floats = chdtrc(freedom, statistic)
    exact = (freedom == 1) & (p_value <= p_limit)
    if exact.any():
        floor = np.empty(int(exact.sum()))
        exact_p_values(np.ascontiguousarray(tables[exact]), log_factorials(n_samples), floor)
        p_value[exact] = np.maximum(p_value[exact], floor)  # not smaller: the screen must not miss it
    return statistic, np.clip(p_value, _TINY, 1.0)


def classes_by_interaction(counts: Ints) -> Ints:
    """Sort the classes of a table of shape (levels of f, levels of k, n_classes) by their interaction.

    The interaction of a class is that of both columns and whether a sample belongs to the class, so that
    its share in the cells shows it; the largest comes first. Two classes have the same interaction: the
    last one comes first.
    """
    if counts.shape[2] == 2:
        return np.array([1, 0])
    own = np.moveaxis(counts, 2, 0)
    tables = np.ascontiguousarray(np.stack([own, own.sum(axis=0) - own], axis=1))
    statistic = np.empty(len(tables))
    fit_without_interaction(tables, np.full(len(tables), -1.0), statistic)
    return np.argsort(-statistic, kind="stable")


def _least_statistic(freedom: Ints, p_limit: float) -> Floats:
    """Return the statistic of each number of degrees of freedom that has a p-value."""
    if p_limit >= 1.0:
        return np.full(len(freedom), -1.0)
    different, index = np.unique(freedom, return_inverse=True)  # the inverse function is slow
    least: Floats = chdtri(np.maximum(different, 1), p_limit)[index]
    return least


@helper
def _fit_margins(table: Ints, fit: Floats) -> float:
    """Scale a fit to each two-way margin of a table in turn; return the largest relative error."""
    n_classes, d, e = table.shape
    error = 0.0
    for a in range(d):
        for b in range(e):
            wanted, margin = 0.0, 0.0
            for c in range(n_classes):
                wanted += table[c, a, b]
                margin += fit[c, a, b]
            if margin > 0:
                error = max(error, abs(wanted / margin - 1))
                for c in range(n_classes):
                    fit[c, a, b] *= wanted / margin
    for c in range(n_classes):
        for a in range(d):
            wanted, margin = 0.0, 0.0
            for b in range(e):
                wanted += table[c, a, b]
                margin += fit[c, a, b]
            if margin > 0:
                error = max(error, abs(wanted / margin - 1))
                for b in range(e):
                    fit[c, a, b] *= wanted / margin
        for b in range(e):
            wanted, margin = 0.0, 0.0
            for a in range(d):
                wanted += table[c, a, b]
                margin += fit[c, a, b]
            if margin > 0:
                error = max(error, abs(wanted / margin - 1))
                for a in range(d):
                    fit[c, a, b] *= wanted / margin
    return error


@kernel(types.void(types.int64[:, :, :, ::1], types.float64[::1], types.float64[::1]))
def fit_without_interaction(tables: Ints, least: Floats, out: Floats) -> None:
    """Write the smaller of G and Pearson's statistic of each table; NaN if G is below ``least``.

    Iterative proportional fitting, from Kirkwood's approximation. Cells in which a two-way margin is
    empty are fitted exactly.
    """
    n_pairs, n_classes, d, e = tables.shape
    fit = np.empty((n_classes, d, e))
    both, of_f, of_k = np.empty((d, e)), np.empty((n_classes, d)), np.empty((n_classes, e))
    total_f, total_k, total_y = np.empty(d), np.empty(e), np.empty(n_classes)
    for i in range(n_pairs):
        table = tables[i]
        both[:], of_f[:], of_k[:], total_f[:], total_k[:], total_y[:] = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for c in range(n_classes):
            for a in range(d):
                for b in range(e):
                    count = float(table[c, a, b])
                    both[a, b] += count
                    of_f[c, a] += count
                    of_k[c, b] += count
        for c in range(n_classes):
            for a in range(d):
                total_f[a] += of_f[c, a]
                total_y[c] += of_f[c, a]
            for b in range(e):
                total_k[b] += of_k[c, b]
        size, whole, distance = total_y.sum(), 0.0, 0.0
        for c in range(n_classes):
            for a in range(d):
                for b in range(e):
                    product = both[a, b] * of_f[c, a] * of_k[c, b]
                    fit[c, a, b] = 0.0
                    if product > 0:
                        fit[c, a, b] = product / (total_f[a] * total_k[b] * total_y[c])
                        whole += fit[c, a, b]
                        if table[c, a, b] > 0:
                            distance += table[c, a, b] * math.log(table[c, a, b] / fit[c, a, b])
        out[i] = np.nan
        if size == 0 or 2 * (distance + size * math.log(whole / size)) < least[i]:
            continue
        for _ in range(_ROUNDS):
            error = _fit_margins(table, fit)
            if error < _TOLERANCE:
                break
        likelihood, pearson = 0.0, 0.0
        for c in range(n_classes):
            for a in range(d):
                for b in range(e):
                    count, expected = float(table[c, a, b]), fit[c, a, b]
                    if count > 0:
                        likelihood += 2 * count * math.log(count / expected)
                    if expected > 1e-12 * size:
                        pearson += (count - expected) ** 2 / expected
        if likelihood >= least[i]:
            out[i] = max(min(likelihood, pearson), 0.0)


@kernel(types.void(types.int64[:, :, ::1], types.int64[::1], types.int64[::1], types.float64[::1]))
def interaction_of_groups(table: Ints, group_f: Ints, group_k: Ints, out: Floats) -> None:
    """Write the likelihood ratio of an interaction of groups of levels, given effects of all levels.

    ``table`` has the shape (n_classes, levels of f, levels of k). Two models without interaction of the
    levels are compared: one also fits the counts of each class by groups of both columns. So effects of
    levels that are in the same group do not appear as an interaction of the groups.
    """
    n_classes, d, e = table.shape
    n_f, n_k = group_f.max() + 1, group_k.max() + 1
    wanted, fitted = np.empty((n_classes, n_f, n_k)), np.empty((n_classes, n_f, n_k))
    fits = np.ones((2, n_classes, d, e))
    for model in range(2):
        fit = fits[model]
        for _ in range(_ROUNDS):
            error = _fit_margins(table, fit)
            if model == 1:
                wanted[:], fitted[:] = 0.0, 0.0
                for c in range(n_classes):
                    for a in range(d):
                        for b in range(e):
                            wanted[c, group_f[a], group_k[b]] += table[c, a, b]
                            fitted[c, group_f[a], group_k[b]] += fit[c, a, b]
                for c in range(n_classes):
                    for a in range(d):
                        for b in range(e):
                            margin = fitted[c, group_f[a], group_k[b]]
                            if margin > 0:
                                factor = wanted[c, group_f[a], group_k[b]] / margin
                                error = max(error, abs(factor - 1))
                                fit[c, a, b] *= factor
            if error < _CLOSE:
                break
    ratio = 0.0
    for c in range(n_classes):
        for a in range(d):
            for b in range(e):
                if table[c, a, b] > 0:
                    ratio += 2 * table[c, a, b] * math.log(fits[1, c, a, b] / fits[0, c, a, b])
    out[0] = max(ratio, 0.0)


@kernel(types.void(types.int64[:, :, :, ::1], types.float64[::1], types.float64[::1]))
def exact_p_values(tables: Ints, log_factorial: Floats, out: Floats) -> None:
    """Write the exact p-value of tables of two levels, two levels and two classes.

    It is the probability of all tables with the same two-way margins that are not more likely than
    this one if there is no interaction. Moving one sample around keeps the margins: one is added to
    the cells with an even sum of indices and subtracted from the others.
    """
    for i in range(tables.shape[0]):
        up, down = np.int64(2**62), np.int64(2**62)  # how far the table can be moved
        for c in range(2):
            for a in range(2):
                for b in range(2):
                    if (a + b + c) % 2 == 0:
                        down = min(down, tables[i, c, a, b])
                    else:
                        up = min(up, tables[i, c, a, b])
        own, total, as_rare = _log_weight(tables[i], 0, log_factorial), 0.0, 0.0
        # weights are relative to this table's; the most likely one may be much larger
        for direction in (-1, 1):
            reach = up if direction == 1 else down
            for step in range(1, reach + 1):
                weight = math.exp(
                    min(_log_weight(tables[i], direction * step, log_factorial) - own, 700.0)
                )
                total += weight
                if weight <= 1 + 1e-7:
                    as_rare += weight
                    if weight < 1e-17 * total:
                        break
        out[i] = (1.0 + as_rare) / (1.0 + total)


@helper
def _log_weight(table: Ints, shift: int, log_factorial: Floats) -> float:
    """Return the logarithm of the conditional probability of a table, up to a constant."""
    weight = 0.0
    for c in range(2):
        for a in range(2):
            for b in range(2):
                count = table[c, a, b] + (shift if (a + b + c) % 2 == 0 else -shift)
                if count < log_factorial.shape[0]:
                    weight -= log_factorial[count]
                else:
                    weight -= math.lgamma(count + 1.0)
    return weight
