"""Chi2: intervals are merged as defined, and consistency is kept."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import chdtri
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from slfs import Chi2
from slfs.coding.cut_kernels import merge_intervals
from slfs.counting.planes import SampleLayout
from slfs.selectors.chi2 import _read_column
from slfs.tables.registry import read_table

# ChiMerge of R's discretization 1.0-1.1 on iris. At 0.05 it also merges the cut at 1.35 of the last
# column away: it leaves out the 0.1 which the paper uses instead of an expected count of 0.
REFERENCE = {
    0.05: [[5.45, 5.75, 7.05], [2.95, 3.35], [2.45, 4.75, 5.15], [0.8, 1.35, 1.75]],
    0.01: [[5.45, 5.75], [2.95, 3.35], [2.45, 4.75, 5.15], [0.8, 1.75]],
}


def naive_chi2(first, second):
    total = 0.0
    for a, b in zip(first, second, strict=True):
        for own, row in ((a, first), (b, second)):
            expected = sum(row) * (a + b) / (sum(first) + sum(second)) or 0.1
            total += (own - expected) ** 2 / expected
    return total


def naive_merge(rows, threshold, most):
    rows = [list(row) for row in rows]
    while len(rows) > 1:
        scores = [naive_chi2(a, b) for a, b in itertools.pairwise(rows)]
        best = min(range(len(scores)), key=lambda i: (round(scores[i], 9), i))
        if scores[best] >= threshold and len(rows) <= most:
            break
        rows[best : best + 2] = [[a + b for a, b in zip(rows[best], rows[best + 1], strict=True)]]
    return rows


@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.floats(0, 12), st.integers(1, 40))
def test_merging_equals_the_oracle(seed, size, threshold, most):
    random = np.random.default_rng(seed)
    counts = random.integers(0, 9, (size, 3)) * random.integers(0, 2, (size, 3))
    counts[:, 0] += counts.sum(axis=1) == 0
    expected = naive_merge(counts.tolist(), threshold, most)
    found, group = counts.copy(), np.empty(size, np.int64)
    left = merge_intervals(found, threshold, most, group)
    assert found[:left].tolist() == expected
    back = np.zeros((left, 3), int)
    np.add.at(back, group, counts)
    assert back.tolist() == expected


@pytest.mark.parametrize("level", REFERENCE)
def test_chimerge_on_iris(level):
    X, y = load_iris(return_X_y=True)
    layout = SampleLayout.from_class_codes(y.astype(np.int64), 3)
    for j, expected in enumerate(REFERENCE[level]):
        column = _read_column(read_table(X), j, layout).merged(float(chdtri(2, level)))
        np.testing.assert_allclose(column.cut_points(), expected)


def inconsistency(codes, y):
    groups = {}
    for row, label in zip(map(tuple, codes), y, strict=True):
        groups.setdefault(row, []).append(label)
    return sum(len(g) - max(g.count(c) for c in set(g)) for g in groups.values()) / len(y)


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
@pytest.mark.parametrize("delta", [0.0, 0.05, 0.2])
def test_the_data_stay_consistent_and_nothing_can_be_merged_further(load, delta):
    X, y = load(return_X_y=True)
    selector = Chi2(delta=delta).fit(X, y)
    codes = np.column_stack(
        [np.searchsorted(cuts, X[:, j]) for j, cuts in enumerate(selector.cut_points_)]
    )
    allowed = max(delta, inconsistency(X, y.tolist()))
    assert inconsistency(codes, y.tolist()) <= allowed
    assert 1 <= selector.n_features_ <= X.shape[1] - (delta > 0)
    np.testing.assert_array_equal(selector.support_, [len(cuts) > 0 for cuts in selector.cut_points_])
    for j in np.flatnonzero(selector.support_):
        without = np.delete(codes, j, axis=1)
        assert inconsistency(without, y.tolist()) > allowed, "the column is needed"


def test_categories_and_missing_values_count_towards_consistency():
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 200)
    X = np.column_stack([y, random.normal(size=200), np.where(y == 1, np.nan, random.normal(size=200))])
    told = Chi2(categorical_features=[0], delta=0).fit(X, y)
    assert told.support_.tolist() == [True, False, True], "a missing value is a level of its own"
    assert not np.concatenate(told.cut_points_).size, "the category tells all, numbers merge"


def test_at_most_255_intervals():
    X = 0.5 * np.arange(1200).reshape(-1, 1)
    selector = Chi2(delta=0).fit(X, np.arange(1200) // 2 % 2)
    assert selector.features_.n_levels[0] <= 255
