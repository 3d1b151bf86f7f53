"""p-values of contingency tables: equal to those of SciPy, and valid under independence."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2, chi2_contingency, fisher_exact, multivariate_hypergeom

from slfs.measures.contingency import independence_p_values, stratified_p_value

seeds = st.integers(0, 2**32 - 1)


def p_value(table):
    table = np.asarray(table, np.int64)
    return independence_p_values(table, np.array([len(table)]), table.shape[1], int(table.sum()))[0]


def naive_pool(totals, least):
    """Groups of indices: those below ``least`` and the next larger ones, until they are large enough."""
    sizes = sorted(set(totals))
    bound = max((size for size in sizes if size < least), default=0)
    while bound and sum(t for t in totals if t <= bound) < least and bound < sizes[-1]:
        bound = next(size for size in sizes if size > bound)
    small = [index for index, total in enumerate(totals) if total <= bound]
    return ([small] if small else []) + [[p] for p, total in enumerate(totals) if total > bound]


def naive_approximation(table):
    """The larger p-value of the G-test and Pearson's test (SciPy); Fisher's test for 2 x 2 tables."""
    if table.shape == (2, 2):
        return fisher_exact(table).pvalue
    kinds = ("pearson", "log-likelihood")
    return max(chi2_contingency(table, correction=False, lambda_=kind).pvalue for kind in kinds)


def naive_p_value(table):
    """The rules of the documentation, one after another."""
    table = np.asarray(table)
    table = table[table.any(axis=1)][:, table.any(axis=0)]
    (n_levels, n_classes), size = table.shape, table.sum()
    if min(table.shape) < 2:
        return 1.0
    if table.shape == (2, 2):
        return fisher_exact(table).pvalue
    if table.sum(axis=0).min() * table.sum(axis=1).min() >= 5 * size:
        return naive_approximation(table)
    classes = naive_pool(table.sum(axis=0).tolist(), 20 if n_classes > 2 else 0)
    shared = np.stack([table[:, group].sum(axis=1) for group in classes], axis=1)
    least = 5 * size / shared.sum(axis=0).min()
    levels = naive_pool(table.sum(axis=1).tolist(), least if n_levels > 2 else 0)
    shared = np.stack([shared[group].sum(axis=0) for group in levels])
    enough = shared.sum(axis=1).min() >= least or shared.shape == (2, 2)
    ways = [naive_approximation(shared)] if min(shared.shape) > 1 and enough else []
    if ways and shared.shape == table.shape:
        return ways[0]
    cells = []
    for a, c in itertools.product(range(n_levels), range(n_classes)):
        both, level, label = table[a, c], table[a].sum(), table[:, c].sum()
        square = [[both, level - both], [label - both, size - level - label + both]]
        cells.append(fisher_exact(square).pvalue)
    different = len(cells) // (2 if 2 in table.shape else 1)
    ways.append(different * min(cells))
    return min(1.0, len(ways) * min(ways))


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
    [
        ((3, 17), (5, 15)),
        ((9, 9, 9, 9), (3, 33)),
        ((50, 50, 50, 50), (10, 190)),
        ((1, 2, 40, 20), (30, 33)),
        ((60, 3, 5, 20), (44, 44)),
    ],
)
def test_chance_reaches_exact_p_values_no_more_often_than_they_say(levels, classes):
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
    ("levels", "classes"), [((50,) * 4, (100, 100)), ((50,) * 4, (20, 180)), ((150, 30, 20), (60, 140))]
)
def test_chi_square_holds_far_out_in_the_tail(levels, classes):
    """Corrections for multiple tests depend on small p-values."""
    tables, chances = tables_with(levels, classes)
    found = independence_p_values(
        tables.astype(np.int64), np.full(len(tables), len(levels)), 2, sum(levels)
    )
    for level in 10.0 ** np.arange(-2, -9, -1):
        assert chances[found <= level].sum() <= 1.1 * level


def test_pearson_alone_is_not_fit_for_rare_ones():
    """Three ones, all in a class with 5% of the samples."""
    table = np.array([[3, 0], [7, 190]])
    assert chi2_contingency(table, correction=False).pvalue < 1e-12
    assert 5e-5 < p_value(table) < 2e-4


def test_strata():
    random = np.random.default_rng(0)
    large = random.integers(20, 60, (3, 4, 2))
    statistics = [
        min(
            chi2_contingency(table, correction=False, lambda_=kind).statistic
            for kind in ("pearson", "log-likelihood")
        )
        for table in large
    ]
    assert stratified_p_value(large) == pytest.approx(chi2.sf(sum(statistics), 9), rel=1e-9)
    small = random.integers(0, 4, (2, 3, 2))
    parts = [naive_p_value(table) for table in small]
    parts.append(chi2.sf(sum(statistics[:2]), 6))
    both = np.concatenate([np.pad(small, ((0, 0), (0, 1), (0, 0))), large[:2]])
    combined = chi2.sf(-2 * sum(map(math.log, parts)), 6)
    assert stratified_p_value(both) == pytest.approx(combined, rel=1e-9)
    nothing = np.array([[[3, 0], [4, 0]], [[3, 5], [0, 0]]])
    assert stratified_p_value(nothing) == 1
    assert stratified_p_value(np.concatenate([nothing, [[[5, 1], [0, 6]]]])) == pytest.approx(
        fisher_exact([[5, 1], [0, 6]]).pvalue
    )


def test_strata_of_small_counts_hold():
    parts = [tables_with((4, 6), (5, 5)), tables_with((3, 5), (2, 6)), tables_with((6, 6), (6, 6))]
    found, chances = [], []
    for (a, p), (b, q), (c, r) in itertools.product(*(list(zip(*part, strict=True)) for part in parts)):
        found.append(stratified_p_value(np.stack([a, b, c])))
        chances.append(p * q * r)
    found, chances = np.array(found), np.array(chances)
    for level in found:
        assert chances[found <= level * (1 + 1e-9)].sum() <= level * (1 + 1e-6)
