"""Counts of values by class -> groups of values with similar classes, found at a price per group.

The search starts from single values and merges the two groups that lose the least information, then
moves single values. See `slfs.coding.grouping` for the price.
"""

from __future__ import annotations

import functools
import math

import numpy as np
from numba import types
from numpy.typing import NDArray
from scipy.special import gammaln

from slfs._core.compile import helper, kernel
from slfs.coding.codebook import MAX_LEVELS
from slfs.counting.nlogn import NLogN

Ints = NDArray[np.int64]

PRIOR_WEIGHT = 5.0
"""Weight of the class frequencies in the prediction of a sample, as in the classifiers."""

_MOST_MOVES = 1 << 18
"""Maximum number of counts for which moving values between all levels takes less than a second."""

_MANY_VALUES = 1000
"""The ways to group more values are not counted exactly."""

_ROUNDS = 10
"""Maximum number of times that all values are tried in other groups."""


def best_groups(counts: NDArray[np.int64], nlogn: NLogN, unit: float = 1.0) -> NDArray[np.int64]:
    """Return the group of each value, given its counts by class, of shape (n_values, n_classes).

    Starting from single values, the two groups are merged that lose the least information, until one
    group is left; the best of these groupings is improved by moving single values. Groups are numbered
    in the order of their first value. ``unit`` counts are one sample.
    """
    return _best_groups(counts, nlogn, unit, len(counts))


def group_many(counts: Ints, nlogn: NLogN, unit: float) -> list[Ints]:
    """Return groups of any number of values: the best ones, more of them, and as many as possible.

    There are less than MAX_LEVELS groups. Values with similar shares of the classes are joined first:
    they are sorted by their most typical class, and by its share. These groups are improved by moving
    single values; they are those of all levels. Then they are grouped at the price of groups, and at
    that of their class distributions alone.
    """
    if len(counts) < MAX_LEVELS:
        return [best_groups(counts, nlogn, unit), np.arange(len(counts))]
    size, share = counts.sum(axis=1), np.maximum(counts.sum(axis=0), 1) / counts.sum()
    lift = (counts + PRIOR_WEIGHT * share) / ((size + PRIOR_WEIGHT)[:, np.newaxis] * share)
    order = np.lexsort((lift.max(axis=1), lift.argmax(axis=1)))
    joined = np.empty(len(counts), np.int64)
    joined[order] = (np.cumsum(size[order]) - size[order]) * (MAX_LEVELS - 1) // size.sum()
    similar = _numbered(joined)
    if counts.size <= _MOST_MOVES:
        similar = _improved(counts, similar, nlogn)
    found = []
    for n_values in (len(counts), 0):
        group = _best_groups(add_rows(counts, similar), nlogn, unit, n_values)[similar]
        group = _improved(counts, group, nlogn)
        found.append(_best_groups(add_rows(counts, group), nlogn, unit, n_values)[group])
    return [*found, similar]


def _best_groups(counts: Ints, nlogn: NLogN, unit: float, n_values: int) -> Ints:
    """Do what `best_groups` does, at the price of groups of more values that were joined before.

    If ``n_values`` is 0, groups have no price but that of their class distributions.
    """
    n_classes = counts.shape[1]
    prices = np.arange(-1, len(counts)) * ((n_classes - 1) / 2 * math.log(nlogn.n_samples / unit))
    if n_values:
        prices += log_partitions(n_values)[: len(prices)]
    price = nlogn.scale * unit * prices
    group = np.empty(len(counts), np.int64)
    group_values(np.ascontiguousarray(counts), nlogn.table, price, group)
    return _improved(counts, group, nlogn)


def _improved(counts: Ints, group: Ints, nlogn: NLogN) -> Ints:
    """Move single values to better groups, which are then numbered in the order of their first value."""
    group = _numbered(group)
    move_values(np.ascontiguousarray(counts), nlogn.table, group)
    return _numbered(group)


def _numbered(group: Ints) -> Ints:
    """Number groups in the order of their first value."""
    _, first, index = np.unique(group, return_index=True, return_inverse=True)
    number = np.empty(len(first), np.int64)
    number[np.argsort(first)] = np.arange(len(first))
    return number[index]


@functools.lru_cache(maxsize=MAX_LEVELS)
def log_partitions(n_values: int) -> NDArray[np.float64]:
    """Return log B(V, K) for K = 0 ... V, where V is ``n_values``; the first entry has no meaning.

    For many values, K^V / K! is an upper bound of the ways to form K groups that is nearly reached, and
    K ends at MAX_LEVELS.
    """
    if n_values > _MANY_VALUES:
        k = np.arange(MAX_LEVELS + 1.0)
        ways = n_values * np.log(np.maximum(k, 1)) - gammaln(k + 1)
        return np.logaddexp.accumulate(np.where(k > 0, ways, -np.inf))
    stirling = np.full(n_values + 1, -np.inf)  # log S(v, k), the ways to form exactly k groups
    stirling[0] = 0.0
    log_k = np.log(np.arange(1.0, n_values + 1))
    for _ in range(n_values):
        stirling[1:] = np.logaddexp(stirling[1:] + log_k, stirling[:-1])
        stirling[0] = -np.inf
    return np.logaddexp.accumulate(stirling)


@helper
def _union_cost(one: Ints, other: Ints, sign: int, table: Ints) -> int:
    """Return n H(Y) of the union of two groups with n samples; of the difference if ``sign`` is -1."""
    size, parts = 0, 0
    for c in range(one.shape[0]):
        count = one[c] + sign * other[c]
        size += count
        parts += table[count]
    cost: int = table[size] - parts
    return cost


@kernel(types.void(types.int64[:, ::1], types.int64[::1], types.float64[::1], types.int64[::1]))
def group_values(counts: Ints, table: Ints, price: NDArray[np.float64], group: Ints) -> None:
    """Merge values greedily; ``group`` gets a value of each one's group.

    ``table`` contains n log n as integers, ``price`` the price of each number of groups in their unit.
    """
    n_values, n_classes = counts.shape
    sums = counts.copy()
    empty = np.zeros(n_classes, np.int64)
    cost, rise = np.empty(n_values, np.int64), np.empty(n_values, np.int64)
    nearest, alive = np.empty(n_values, np.int64), np.ones(n_values, np.bool_)
    into, merged = np.empty(n_values, np.int64), np.empty(n_values, np.int64)
    lost = 0
    for a in range(n_values):
        cost[a] = _union_cost(sums[a], empty, 1, table)
    for a in range(n_values):
        _find_nearest(a, sums, alive, cost, table, rise, nearest)
    least, n_merged = price[n_values], 0
    for step in range(n_values - 1):
        a = -1
        for candidate in range(n_values):
            if alive[candidate] and nearest[candidate] >= 0 and (a < 0 or rise[candidate] < rise[a]):
                a = candidate
        b = nearest[a]
        into[step], merged[step], alive[b] = a, b, False
        lost += rise[a]
        for c in range(n_classes):
            sums[a, c] += sums[b, c]
        cost[a] = _union_cost(sums[a], empty, 1, table)
        if lost + price[n_values - step - 1] <= least:
            least, n_merged = lost + price[n_values - step - 1], step + 1
        for one in range(n_values):
            if not alive[one]:
                continue
            if one == a or nearest[one] == a or nearest[one] == b:
                _find_nearest(one, sums, alive, cost, table, rise, nearest)
            elif one < a:
                own = _union_cost(sums[one], sums[a], 1, table) - cost[one] - cost[a]
                if own < rise[one]:
                    rise[one], nearest[one] = own, a
    for a in range(n_values):
        group[a] = a
    for step in range(n_merged):
        for a in range(n_values):
            if group[a] == merged[step]:
                group[a] = into[step]


@helper
def _find_nearest(
    one: int, sums: Ints, alive: NDArray[np.bool_], cost: Ints, table: Ints, rise: Ints, nearest: Ints
) -> None:
    """Find the group after ``one`` whose union with it loses the least information; ties: the first."""
    nearest[one] = -1
    for other in range(one + 1, sums.shape[0]):
        if alive[other]:
            own = _union_cost(sums[one], sums[other], 1, table) - cost[one] - cost[other]
            if nearest[one] < 0 or own < rise[one]:
                rise[one], nearest[one] = own, other


@kernel(types.void(types.int64[:, ::1], types.int64[::1], types.int64[::1]))
def move_values(counts: Ints, table: Ints, group: Ints) -> None:
    """Move single values to another group while information is gained; no group becomes empty."""
    n_values, n_classes = counts.shape
    n_groups = group.max() + 1
    sums, empty = np.zeros((n_groups, n_classes), np.int64), np.zeros(n_classes, np.int64)
    members, cost = np.zeros(n_groups, np.int64), np.zeros(n_groups, np.int64)
    for a in range(n_values):
        members[group[a]] += 1
        for c in range(n_classes):
            sums[group[a], c] += counts[a, c]
    for g in range(n_groups):
        cost[g] = _union_cost(sums[g], empty, 1, table)
    moved, rounds = True, 0
    while moved and rounds < _ROUNDS:
        moved, rounds = False, rounds + 1
        for a in range(n_values):
            home = group[a]
            if members[home] == 1:
                continue
            left = _union_cost(sums[home], counts[a], -1, table) - cost[home]
            best, target = 0, -1
            for g in range(n_groups):
                if members[g] > 0 and g != home:
                    rise = left + _union_cost(sums[g], counts[a], 1, table) - cost[g]
                    if rise < best:
                        best, target = rise, g
            if target >= 0:
                for c in range(n_classes):
                    sums[home, c] -= counts[a, c]
                    sums[target, c] += counts[a, c]
                members[home] -= 1
                members[target] += 1
                cost[home] = _union_cost(sums[home], empty, 1, table)
                cost[target] = _union_cost(sums[target], empty, 1, table)
                group[a], moved = target, True


def add_rows(counts: NDArray[np.int64], group: NDArray[np.int64]) -> NDArray[np.int64]:
    """Add up the rows of each group; rows beyond the groups, of missing values, are kept."""
    n_groups = int(group.max()) + 1
    sums = np.zeros((n_groups + len(counts) - len(group), counts.shape[1]), np.int64)
    np.add.at(sums, group, counts[: len(group)])
    sums[n_groups:] = counts[len(group) :]
    return sums
