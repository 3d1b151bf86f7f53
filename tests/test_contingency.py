"""p-values of contingency tables: equal to those of SciPy, and valid under independence."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency, fisher_exact, gamma, multivariate_hypergeom

from slfs.measures.contingency import independence_p_values, stratified_p_value
from slfs.measures.moments import group_leverages, permutation_moments

seeds = st.integers(0, 2**32 - 1)


def p_value(table):
    table = np.asarray(table, np.int64)
    return independence_p_values(table, np.array([len(table)]), table.shape[1], int(table.sum()))[0]


def naive_moments(rows, columns):
    """Mean and variance of Pearson's statistic over all tables with these margins (Nass 1959)."""
    n = sum(rows)
    sides = []
    for sizes in (rows, columns):
        k = len(sizes)
        v = (k - 1) * (n - k) / (n - 1)
        w = (n * sum(1 / size for size in sizes) - k * k) / (n - 2) if n > 2 else 0
        sides.append((v, w, k))
    (v, w, k), (v2, w2, k2) = sides
    mean = n * (k - 1) * (k2 - 1) / (n - 1)
    first = 2 * n / (n - 3) * (v - w) * (v2 - w2) if n > 3 else 0
    return mean, first + n * n / (n - 1) * w * w2 if n > 2 else 0.0


def naive_statistic(table):
    """The smaller of Pearson's statistic and G, by SciPy."""
    kinds = ("pearson", "log-likelihood")
    return min(chi2_contingency(table, correction=False, lambda_=kind).statistic for kind in kinds)


def probability(table):
    """Probability of a table given its margins."""
    margins = [*table.sum(axis=0), *table.sum(axis=1)]
    total = sum(math.lgamma(size + 1) for size in margins) - math.lgamma(table.sum() + 1)
    return math.exp(total - sum(math.lgamma(count + 1) for count in table.flat))


def naive_exact(table):
    """The test of Freeman and Halton: all tables with the same margins, None if there are too many."""
    two = table if table.shape[1] == 2 else table.T
    levels, label = two.sum(axis=1).tolist(), int(two.sum(axis=0).min())

    def splits(sizes, left):
        if not sizes:
            yield from ([()] if left == 0 else [])
            return
        for taken in range(max(0, left - sum(sizes[1:])), min(sizes[0], left) + 1):
            yield from ((taken, *rest) for rest in splits(sizes[1:], left - taken))

    ranges = sorted(min(level, label) + 1 for level in levels)
    if min(math.prod(ranges[:-1]), math.comb(label + len(levels) - 1, label)) > 400:
        return None
    found = list(splits(levels, label))
    own = probability(table)
    sums = [probability(np.stack([one, np.array(levels) - one])) for one in map(np.array, found)]
    return sum(p for p in sums if p <= own * (1 + 1e-7))


def naive_p_value(table):
    """The rules of the documentation, one after another."""
    table = np.asarray(table)
    table = table[table.any(axis=1)][:, table.any(axis=0)]
    cells = naive_cells(table)
    for _ in range(2):  # levels, and classes, with a single sample are pooled
        table = table.T
        single = table.sum(axis=1) == 1
        if single.sum() > 1:
            table = np.vstack([table[~single], table[single].sum(axis=0)])
    size = table.sum()
    if min(table.shape) < 2:
        return 1.0
    if table.shape == (2, 2):
        return fisher_exact(table).pvalue
    if 2 in table.shape and (exact := naive_exact(table)) is not None:
        return exact
    mean, variance = naive_moments(table.sum(axis=1), table.sum(axis=0))
    p = gamma.sf(naive_statistic(table), mean**2 / variance, scale=variance / mean) if variance else 1
    p = max(p, probability(table))
    if table.sum(axis=0).min() * table.sum(axis=1).min() >= size:
        return p
    return min(1.0, p / 0.75, cells / 0.25)


def naive_cells(table):
    """Smallest p-value of Fisher's test of a cell, times the number of different tests."""
    size, cells = table.sum(), []
    for a, c in itertools.product(*map(range, table.shape)):
        both, level, label = table[a, c], table[a].sum(), table[:, c].sum()
        square = [[both, level - both], [label - both, size - level - label + both]]
        cells.append(fisher_exact(square).pvalue)
    return min(cells, default=1.0) * len(cells) / (2 if 2 in table.shape else 1)


@given(st.lists(st.integers(0, 60), min_size=4, max_size=4))
def test_two_by_two_is_the_exact_test_of_fisher(cells):
    table = np.reshape(cells, (2, 2))
    assert p_value(table) == pytest.approx(naive_p_value(table), rel=1e-9)


def test_fisher_far_out_in_the_tail_and_with_many_samples():
    for table in ([[3, 0], [7, 190]], [[5, 3000], [500, 70_000]], [[900, 100], [100, 900]]):
        assert p_value(table) == pytest.approx(fisher_exact(table).pvalue, rel=1e-8)
    assert p_value([[10**4, 0], [0, 10**4]]) == np.finfo(float).tiny


@given(seeds, st.integers(2, 6), st.integers(2, 5), st.sampled_from([1, 3, 10, 40, 200]))
def test_every_way_equals_its_oracle(seed, n_levels, n_classes, typical):
    random = np.random.default_rng(seed)
    sizes = random.geometric(1 / typical, (n_levels, 1)) * random.uniform(0.05, 1, (1, n_classes))
    table = random.poisson(sizes)
    assert p_value(table) == pytest.approx(naive_p_value(table), rel=1e-8)


@given(seeds, st.integers(2, 7), st.integers(2, 4), st.sampled_from([1, 5, 30]))
def test_order_of_levels_and_classes_and_empty_ones_do_not_matter(seed, n_levels, n_classes, typical):
    random = np.random.default_rng(seed)
    table = random.poisson(typical, (n_levels, n_classes))
    other = table[random.permutation(n_levels)][:, random.permutation(n_classes)]
    other = np.insert(other, random.integers(n_levels + 1), 0, axis=0)
    assert 0 < p_value(table) <= 1
    assert p_value(other) == pytest.approx(p_value(table), rel=1e-9)


def test_many_tables_at_once():
    random = np.random.default_rng(0)
    tables = [random.poisson(random.choice([1, 10, 50]), (d, 3)) for d in (1, 2, 3, 5, 9, 2)]
    flat, n_levels = np.concatenate([t.ravel() for t in tables]), np.array([len(t) for t in tables])
    found = independence_p_values(flat, n_levels, 3, 10**4)
    np.testing.assert_array_equal(found, [p_value(table) for table in tables])


def tables_with(levels, classes):
    """All tables of two classes with these margins, with their probabilities under independence."""
    first = classes[0]
    ranges = [range(min(level, first) + 1) for level in levels[:-1]]
    free = np.array(list(itertools.product(*ranges)))
    last = first - free.sum(axis=1)
    inside = (last >= 0) & (last <= levels[-1])
    one = np.column_stack([free[inside], last[inside]])
    chances = multivariate_hypergeom.pmf(one, m=levels, n=first)
    return np.stack([one, np.array(levels) - one], axis=2), chances


@pytest.mark.parametrize(
    ("levels", "classes"),
    [((3, 17), (5, 15)), ((9, 9, 9, 9), (3, 33)), ((1, 2, 40, 20), (30, 33)), ((5, 5, 5, 5), (4, 16))],
)
def test_exact_p_values_are_never_too_small(levels, classes):
    tables, chances = tables_with(levels, classes)
    found = independence_p_values(
        tables.astype(np.int64), np.full(len(tables), len(levels)), 2, sum(levels)
    )
    order = np.argsort(found)
    reached = np.cumsum(chances[order])
    last = np.append(np.diff(found[order]) > 1e-12 * found[order][1:], True)
    assert chances.sum() == pytest.approx(1)
    assert (reached[last] <= found[order][last] * (1 + 1e-6)).all()


@pytest.mark.parametrize(
    ("levels", "classes"),
    [
        ((50,) * 4, (100, 100)),
        ((50,) * 4, (20, 180)),
        ((50,) * 4, (10, 190)),
        ((150, 30, 20), (60, 140)),
        ((60, 3, 5, 20), (44, 44)),
        ((180, 12, 8), (15, 185)),
    ],
)
def test_small_p_values_are_not_too_small(levels, classes):
    """A correction for many columns looks at small p-values; here the true probability is known."""
    tables, chances = tables_with(levels, classes)
    found = independence_p_values(
        tables.astype(np.int64), np.full(len(tables), len(levels)), 2, sum(levels)
    )
    for level in 10.0 ** np.arange(-2, -9, -1):
        assert chances[found <= level].sum() <= 1.3 * level


@pytest.mark.parametrize(
    ("rows", "columns"), [((2, 3), (1, 4)), ((1, 1), (1, 1)), ((1, 2), (1, 2)), ((2, 2, 3), (3, 4))]
)
def test_moments_are_those_of_all_permutations(rows, columns):
    labels, classes = (np.repeat(np.arange(len(sizes)), sizes) for sizes in (rows, columns))
    statistics = []
    for order in itertools.permutations(range(len(labels))):
        table = np.zeros((len(rows), len(columns)), int)
        np.add.at(table, (labels[list(order)], classes), 1)
        statistics.append(chi2_contingency(table, correction=False).statistic)
    expected = np.mean(statistics), np.var(statistics)
    assert naive_moments(rows, columns) == pytest.approx(expected, abs=1e-12)
    n = np.array([float(sum(rows))])
    sides = []
    for sizes in (rows, columns):
        k = np.array([float(len(sizes))])
        sides += [k - 1, group_leverages(k, np.array([sum(1 / size for size in sizes)]), n)]
    mean, variance = np.empty(1), np.empty(1)
    permutation_moments(n, *sides, mean, variance)
    assert (n * mean, n * n * variance) == pytest.approx(expected, abs=1e-12)


def test_pearson_alone_is_not_fit_for_rare_ones():
    """Three ones, all in a class of one in twenty."""
    table = np.array([[3, 0], [7, 190]])
    assert chi2_contingency(table, correction=False).pvalue < 1e-12
    assert 5e-5 < p_value(table) < 2e-4


def test_strata():
    random = np.random.default_rng(0)
    tables = random.integers(1, 12, (3, 4, 2))
    mean, variance = np.sum([naive_moments(t.sum(axis=1), t.sum(axis=0)) for t in tables], axis=0)
    statistic = sum(map(naive_statistic, tables))
    expected = gamma.sf(statistic, mean**2 / variance, scale=variance / mean)
    assert stratified_p_value(tables) == pytest.approx(expected, rel=1e-9)
    nothing = np.array([[[3, 0], [4, 0]], [[3, 5], [0, 0]]])
    assert stratified_p_value(nothing) == 1
    assert stratified_p_value(np.concatenate([nothing, [[[5, 1], [0, 6]]]])) == pytest.approx(
        fisher_exact([[5, 1], [0, 6]]).pvalue
    )


def test_strata_of_small_counts():
    parts = [tables_with((4, 6), (5, 5)), tables_with((3, 5), (2, 6)), tables_with((6, 6), (6, 6))]
    found, chances = [], []
    for (a, p), (b, q), (c, r) in itertools.product(*(list(zip(*part, strict=True)) for part in parts)):
        found.append(stratified_p_value(np.stack([a, b, c])))
        chances.append(p * q * r)
    found, chances = np.array(found), np.array(chances)
    for level in (0.1, 0.05, 0.01, 1e-3, 1e-4):
        assert chances[found <= level].sum() <= 1.3 * level
