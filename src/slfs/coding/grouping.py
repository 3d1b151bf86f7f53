"""Levels of categorical columns -> groups of levels with a similar distribution of the classes.

The groups minimize a description length. With N samples, V values, K groups and J classes it is

    N H(Y|groups) + (K - 1)(J - 1)/2 log N + log B(V, K)

where B(V, K) is the number of ways to divide V values into at most K groups. A single group is the best
one if the column tells nothing about the class, and a column with several groups is worth its
parameters: 2 N I(f;Y) > (K - 1)(J - 1) log N. With weights N is the effective sample size, and groups
that do not pay without weights are replaced by those of the unweighted counts.

This is the value grouping of Boullé with another price of the class distributions. His prior, all
distributions equally likely, makes many groups too cheap if there are only a few samples per class: with
26 classes of 5 samples every column of noise would be divided.

M. Boullé, "A Bayes optimal approach for partitioning the values of categorical attributes", Journal of
Machine Learning Research 6, 2005.
"""

from __future__ import annotations

import functools
import math

import numpy as np
from numba import types
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from slfs._core.compile import helper, kernel
from slfs._core.ragged import starts
from slfs.coding.categories import mostly_single
from slfs.coding.codebook import MAX_LEVELS, NONE, Coding, Learned
from slfs.counting.marginals import column_sums
from slfs.counting.nlogn import NLogN, nlogn_table
from slfs.counting.planes import SampleLayout

Ints = NDArray[np.int64]

MANY, MANY_PARAMETERS = 16, 100
"""Columns with more levels are always grouped; those with more parameters if they are not worth them.

Other columns keep their levels: all methods see what the user has given.
"""

_PRIOR_WEIGHT = 5.0
"""Weight of the class frequencies in the prediction of a sample, as in the classifiers."""

_PRIOR_WEIGHTS = (1.0, 5.0, 20.0, 50.0)
"""Small weights suit values that determine the class, larger ones those that shift its shares.

Those that shift them by .15 are best predicted with a weight of about 11."""

_LEAST_SHARE = 0.1
"""Smallest share of the information of a column that its values tell about samples that are left out.

In a column with a smaller one, chance explains the rest."""

_LEAST_TOLD = 0.25
"""The same for groups of more values than a column has levels, which are all chosen by the classes."""

_CLEARLY = 2
"""Groups clearly pay if they tell this many times their price."""

_MOST_MOVES = 1 << 18
"""Maximum number of counts for which moving values between all levels takes less than a second."""

_MANY_VALUES = 1000
"""The ways to group more values are not counted exactly."""

_ROUNDS = 10
"""Maximum number of times that all values are tried in other groups."""


def group_levels(learned: Learned, layout: SampleLayout) -> Learned:
    """Group the levels of categorical columns with many levels, or with levels that cost too much.

    The level of missing values stays on its own. A column with at most `MANY` levels is left as it is if
    the best grouping is a single group: whether it is relevant is decided later.
    """
    columns, n_levels, n_classes = learned.coding.columns, learned.coding.n_levels, layout.n_classes
    n_present = n_levels - (columns["missing"] != NONE)
    candidates = ~columns["cut"] & ~columns["ordered"] & (n_present > 2)
    if n_classes < 2 or not candidates.any():
        return learned
    many, nlogn = n_present > MANY, nlogn_table(layout.n_samples)
    costly = (n_present - 1) * (n_classes - 1) > MANY_PARAMETERS
    if not (candidates & (many | costly)).any():
        return learned
    costly &= ~_worth_parameters(learned, layout)
    offset, groups, new = starts(n_levels), {}, {}
    counts = learned.class_counts.reshape(-1, n_classes)
    seen = counts if learned.seen_counts is None else learned.seen_counts.reshape(-1, n_classes)
    for column in np.flatnonzero(candidates & (many | costly)).tolist():
        own, rows = (table[offset[column] :][: n_present[column]] for table in (counts, seen))
        pooled = _pool_single(rows)
        group = best_groups(_add_rows(own, pooled), nlogn, layout.unit)[pooled]
        if learned.seen_counts is not None and not _pays(rows, group):
            group = best_groups(_add_rows(rows, pooled), nlogn_table(layout.n_seen))[pooled]
        if not many[column] and not 0 < group.max() < n_present[column] - 1:
            continue
        if not _better_alone(_add_rows(rows, pooled), _add_rows(rows, group), layout.n_seen):
            chosen = group
        else:
            chosen = pooled
        has_single = pooled.max() < n_present[column] - 1  # then the pooled values are a safeguard
        if many[column] and not has_single and _mostly_chance(rows, _add_rows(rows, chosen)):
            chosen = np.zeros_like(group)
        if column in learned.all_values:
            of_all = _group_all(*learned.all_values[column], nlogn, layout.unit, _told(rows, chosen))
            if of_all is not None:
                groups[column] = of_all
                new[column] = _level_of_new(NONE, _pool_single(learned.all_values[column][1]), of_all)
                continue
        if chosen.max() < n_present[column] - 1:
            groups[column] = chosen
            new[column] = _level_of_new(columns[column]["new"], pooled, chosen)
    return _regroup(learned, groups, new, n_classes) if groups else learned


def _group_all(counts: Ints, rows: Ints, nlogn: NLogN, unit: float, told: float) -> Ints | None:
    """Return the group of each of more values than a column has levels; None if they are better pooled.

    ``told`` is what the levels of pooled values tell, ``rows`` the counts without weights.
    """
    alike = _pool_single(rows)
    own = _add_rows(rows, alike)
    price = (counts.shape[1] - 1) / 2 * math.log(rows.sum())
    best = None
    for group in group_many(_add_rows(counts, alike), nlogn, unit):
        now = _told(own, group)
        if now > max(told + price, _LEAST_TOLD * _gain(_add_rows(own, group))):
            best, told = group[alike], now
    return best


def _told(counts: Ints, group: Ints) -> float:
    """Return how many nats groups of values, or single ones, tell about new samples.

    This is what they tell less their price, or what single values tell about samples that are left out
    less what they tell apart from each other in a group.
    """
    lost = _gain(counts) - _gain(_add_rows(counts, group))
    alone = left_out_information(counts) * float(counts.sum()) - lost
    return max(alone, _net_gain(counts, group), 0.0)


def _net_gain(counts: Ints, group: Ints) -> float:
    """Return how many nats groups of values tell more than they cost."""
    grouped = _add_rows(counts, group)
    return _gain(grouped) - _price(len(counts), grouped)


def _level_of_new(new: int, pooled: Ints, chosen: Ints) -> int:
    """Return the level of values that are not known yet: that of the values that occur once, if any."""
    if chosen.max() == 0:
        return 0
    if new != NONE:
        return int(chosen[new])
    return int(chosen[pooled.argmax()]) if pooled.max() < len(pooled) - 1 else NONE


def _pool_single(counts: Ints) -> Ints:
    """Number the values; those that occur once share a number if they are the majority.

    As each of them has a single class, they could be divided by class without an error. In a column of
    identifiers, of which a few occur twice, this would be all of the information about the class.
    """
    size = counts.sum(axis=1)
    if not mostly_single(size):
        return np.arange(len(counts))
    single = size == 1
    number = np.cumsum(~single) - 1
    number[single] = int((~single).sum())
    return number


def _pays(counts: Ints, group: Ints) -> bool:
    """Whether groups that were found with weights are worth their price without them.

    The effective sample size is a mean. With 40 of 2000 samples in the smallest of three classes and
    balanced weights, each of the 40 is worth 2.8 samples. In a column of 100 values they would be enough
    to tell the values that one of them has from the others.
    """
    return _net_gain(counts, group) >= 0


def _gain(counts: Ints) -> float:
    """Return N I(f;Y) of a table of counts."""
    return _class_information(counts.sum(axis=0)[np.newaxis]) - _class_information(counts)


def _price(n_values: int, grouped: Ints) -> float:
    """Return the price of groups of values with these counts."""
    n_groups, n_classes = grouped.shape
    splits = (n_groups - 1) * (n_classes - 1) / 2 * math.log(grouped.sum())
    return float(splits + log_partitions(n_values)[n_groups])


def _class_information(counts: Ints) -> float:
    """Return N H(Y|f) of a table of counts."""
    return float(xlogy(counts.sum(axis=1), counts.sum(axis=1)).sum() - xlogy(counts, counts).sum())


def _mostly_chance(counts: Ints, chosen: Ints) -> bool:
    """Whether most of the information of the chosen levels is due to chance.

    Groups are chosen by the classes, and single values have few samples each, so that both have more
    information than they tell about new samples.
    """
    return left_out_information(counts) < _LEAST_SHARE * _gain(chosen) / float(counts.sum())


def left_out_information(counts: Ints) -> float:
    """Return how many nats values tell about the class of a sample that they were not learned from."""
    alone = counts.sum(axis=0)[np.newaxis]
    gains = [
        _left_out_likelihood(counts, weight) - _left_out_likelihood(alone, weight)
        for weight in _PRIOR_WEIGHTS
    ]
    return max(gains) / float(counts.sum())


def _better_alone(counts: Ints, grouped: Ints, n_samples: int) -> bool:
    """Whether single values predict a sample that is left out clearly better than their groups do.

    Of groups that hardly pay, as much as their price may be chance: their values have been chosen by the
    classes of the samples that are left out.

    Clearly means by more than the price of one group. The price of the groups is meant for columns of
    noise. With many small classes not even a copy of the class is worth it, although every value
    determines the class. The counts are those without weights: a heavy row that is left out in part
    would predict itself.
    """
    price: float = (counts.shape[1] - 1) / 2 * math.log(n_samples)
    if _left_out_likelihood(counts) > _left_out_likelihood(grouped) + price:
        return True
    gain, paid = _gain(grouped), _price(len(counts), grouped)
    told = left_out_information(counts) * n_samples
    return gain < _CLEARLY * paid and told > max(gain - paid, 0) + price


def _left_out_likelihood(counts: Ints, weight: float = _PRIOR_WEIGHT) -> float:
    """Log likelihood of the classes, each predicted from all other samples of the same level."""
    prior = counts.sum(axis=0) / counts.sum()
    occurs = counts > 0
    others = counts - 1 + weight * prior
    share = others / (np.maximum(counts.sum(axis=1, keepdims=True) - 1, 0) + weight)
    return float((counts[occurs] * np.log(share[occurs])).sum())


def _worth_parameters(learned: Learned, layout: SampleLayout) -> NDArray[np.bool_]:
    """Whether the levels of each column are worth their parameters: 2 N R(f) > (d-1)(c-1) log N."""
    nlogn, n_levels = nlogn_table(layout.n_samples), learned.coding.n_levels
    sums = column_sums(learned.class_counts, n_levels, layout.n_classes, nlogn)
    information = sums[:, 1] - sums[:, 0] - nlogn.table[layout.totals].sum() + nlogn.table[-1]
    cost = (n_levels - 1) * (layout.n_classes - 1) * math.log(layout.evidence)
    worth: NDArray[np.bool_] = 2 * information / (nlogn.scale * layout.unit) > cost
    return worth


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
    size, share = counts.sum(axis=1), counts.sum(axis=0) / counts.sum()
    lift = (counts + _PRIOR_WEIGHT * share) / ((size + _PRIOR_WEIGHT)[:, np.newaxis] * share)
    order = np.lexsort((lift.max(axis=1), lift.argmax(axis=1)))
    joined = np.empty(len(counts), np.int64)
    joined[order] = (np.cumsum(size[order]) - size[order]) * (MAX_LEVELS - 1) // size.sum()
    similar = _numbered(joined)
    if counts.size <= _MOST_MOVES:
        similar = _improved(counts, similar, nlogn)
    found = []
    for n_values in (len(counts), 0):
        group = _best_groups(_add_rows(counts, similar), nlogn, unit, n_values)[similar]
        group = _improved(counts, group, nlogn)
        found.append(_best_groups(_add_rows(counts, group), nlogn, unit, n_values)[group])
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


def _regroup(learned: Learned, groups: dict[int, Ints], new: dict[int, int], n_classes: int) -> Learned:
    """Replace the levels of some columns by their groups; ``new`` is the group of new values."""
    coding = learned.coding
    columns, categories = coding.columns.copy(), dict(coding.categories)
    offset, n_thresholds = starts(coding.n_levels), np.diff(coding.offset)
    counts = learned.class_counts.reshape(-1, n_classes)
    parts = []
    thresholds = np.ones(len(coding.thresholds), np.bool_)
    for column in range(len(coding)):
        own = counts[offset[column] : offset[column + 1]]
        if column in groups:
            group = groups[column]
            if column not in categories:
                values = coding.column_thresholds(column).tolist()
                levels = dict(zip(values, range(len(group)), strict=True))
                thresholds[coding.offset[column] : coding.offset[column + 1]] = False
                n_thresholds[column] = 0
            elif len(group) > MAX_LEVELS:  # all values are grouped, also those that were pooled
                levels = dict(zip(categories[column], range(len(group)), strict=True))
                n_missing = int(columns["missing"][column] != NONE)
                own = np.vstack([learned.all_values[column][0], own[len(own) - n_missing :]])
            else:
                levels = categories[column]
            size = own.sum(axis=1)
            by_size = sorted(levels, key=lambda value: -size[levels[value]])
            categories[column] = {value: int(group[levels[value]]) for value in by_size}
            own = _add_rows(own, group)
            record = columns[column]
            record["n_levels"], record["rare"], record["new"] = len(own), NONE, new[column]
            record["fallback"] = own.sum(axis=1).argmax()
            if record["missing"] != NONE:
                record["missing"] = len(own) - 1
        parts.append(own)
    ordered = {column: categories[column] for column in sorted(categories)}
    regrouped = Coding(columns, starts(n_thresholds), coding.thresholds[thresholds], ordered)
    return Learned(regrouped, np.concatenate(parts).reshape(-1))


def _add_rows(counts: NDArray[np.int64], group: NDArray[np.int64]) -> NDArray[np.int64]:
    """Add up the rows of each group; rows beyond the groups, of missing values, are kept."""
    n_groups = int(group.max()) + 1
    sums = np.zeros((n_groups + len(counts) - len(group), counts.shape[1]), np.int64)
    np.add.at(sums, group, counts[: len(group)])
    sums[n_groups:] = counts[len(group) :]
    return sums
