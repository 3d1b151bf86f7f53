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

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from slfs._core.ragged import starts
from slfs.coding.categories import mostly_single
from slfs.coding.codebook import MAX_LEVELS, NONE, Coding, Learned
from slfs.coding.group_search import PRIOR_WEIGHT, add_rows, best_groups, group_many, log_partitions
from slfs.counting.marginals import column_sums
from slfs.counting.nlogn import NLogN, nlogn_table
from slfs.counting.planes import SampleLayout

Ints = NDArray[np.int64]

MANY, MANY_PARAMETERS = 16, 100
"""Columns with more levels are always grouped; those with more parameters if they are not worth them.

Other columns keep their levels: all methods see what the user has given.
"""

_PRIOR_WEIGHTS = (1.0, 5.0, 20.0, 50.0)
"""Small weights suit values that determine the class, larger ones those that shift its shares.

Those that shift them by .15 are best predicted with a weight of about 11."""

_LEAST_SHARE = 0.1
"""Smallest share of the information of a column that its values tell about samples that are left out.

In a column with a smaller one, chance explains the rest."""

_LEAST_TOLD = 0.5
"""The same for groups of more values than a column has levels, which are all chosen by the classes."""

_CLEARLY = 2
"""Groups clearly pay if they tell this many times their price."""


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
        group = best_groups(add_rows(own, pooled), nlogn, layout.unit)[pooled]
        if learned.seen_counts is not None and not _pays(rows, group):
            group = best_groups(add_rows(rows, pooled), nlogn_table(layout.n_seen))[pooled]
        if not many[column] and not 0 < group.max() < n_present[column] - 1:
            continue
        if not _better_alone(add_rows(rows, pooled), add_rows(rows, group), layout.n_seen):
            chosen = group
        else:
            chosen = pooled
        has_single = pooled.max() < n_present[column] - 1  # then the pooled values are a safeguard
        if many[column] and not has_single and _mostly_chance(rows, add_rows(rows, chosen)):
            chosen = np.zeros_like(group)
        if column in learned.all_values:
            every, every_row = learned.all_values[column]
            alike, told = _pool_single(every_row), _told(rows, chosen, _left_out(rows))
            of_all = _group_all(every, every_row, alike, nlogn, layout.unit, told)
            if of_all is not None:
                groups[column] = of_all
                new[column] = _level_of_new(NONE, alike, of_all)
                continue
        if chosen.max() < n_present[column] - 1:
            groups[column] = chosen
            new[column] = _level_of_new(columns[column]["new"], pooled, chosen)
    return _regroup(learned, groups, new, n_classes) if groups else learned


def _group_all(
    counts: Ints, rows: Ints, alike: Ints, nlogn: NLogN, unit: float, told: float
) -> Ints | None:
    """Return the group of each of more values than a column has levels; None if they are better pooled.

    ``rows`` are the counts without weights, ``alike`` the numbers of `_pool_single`, and ``told`` is
    what the levels of pooled values tell.
    """
    own = add_rows(rows, alike)
    left_out = _left_out(own)
    price = (counts.shape[1] - 1) / 2 * math.log(rows.sum())
    best = None
    for group in group_many(add_rows(counts, alike), nlogn, unit):
        now, gain = _told(own, group, left_out), _gain(add_rows(own, group))
        pays = _net_gain(own, group) > told + price
        if pays or now > max(told + price, _LEAST_TOLD * gain):
            best, told = group[alike], now
    return best


def _told(counts: Ints, group: Ints, left_out: float) -> float:
    """Return how many nats groups of values, or single ones, tell about new samples.

    This is what they tell less their price, or what single values tell about samples that are left out,
    ``left_out``, less what they tell apart from each other in a group.
    """
    lost = _gain(counts) - _gain(add_rows(counts, group))
    return max(left_out - lost, _net_gain(counts, group), 0.0)


def _left_out(counts: Ints) -> float:
    """Return how many nats values tell about all samples, each of them left out."""
    return left_out_information(counts) * float(counts.sum())


def _net_gain(counts: Ints, group: Ints) -> float:
    """Return how many nats groups of values tell more than they cost."""
    grouped = add_rows(counts, group)
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


def _left_out_likelihood(counts: Ints, weight: float = PRIOR_WEIGHT) -> float:
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
            own = add_rows(own, group)
            record = columns[column]
            record["n_levels"], record["rare"], record["new"] = len(own), NONE, new[column]
            record["fallback"] = own.sum(axis=1).argmax()
            if record["missing"] != NONE:
                record["missing"] = len(own) - 1
        parts.append(own)
    ordered = {column: categories[column] for column in sorted(categories)}
    regrouped = Coding(columns, starts(n_thresholds), coding.thresholds[thresholds], ordered)
    return Learned(regrouped, np.concatenate(parts).reshape(-1))
