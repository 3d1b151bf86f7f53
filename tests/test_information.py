"""Information from counts: values of the reference implementation, and laws of information."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score

from slfs.counting.nlogn import nlogn_table
from tests import naive
from tests.helpers import dependent_codes, information_of

seeds = st.integers(0, 2**32 - 1)


def all_pairs(information):
    n = len(information.packed)
    return [(f, k) for f in range(n) for k in range(n) if f != k]


@given(seeds, st.integers(10, 400))
def test_figures_equal_the_oracle(seed, n_samples):
    codes, y = dependent_codes(seed, n_samples, 3)
    information = information_of(codes, y)
    columns, labels = codes.tolist(), y.tolist()
    for f in range(3):
        assert information.entropy[f] == pytest.approx(naive.entropy(columns[f]), abs=1e-12)
        expected = naive.mutual_information(columns[f], labels)
        assert information.relevance[f] == pytest.approx(expected, abs=1e-12)
    for f, k in all_pairs(information):
        pair = information.pairs(f, np.array([k]))
        expected = naive.mutual_information(columns[f], columns[k])
        assert pair.mutual_information[0] == pytest.approx(expected, abs=1e-12)
        assert information.mutual_information(f, np.array([k])) == pair.mutual_information
        expected = naive.conditional_information(columns[f], labels, columns[k])
        assert pair.of_one_given_other[0] == pytest.approx(expected, abs=1e-12)
        expected = naive.conditional_information(columns[k], labels, columns[f])
        assert pair.of_other_given_one[0] == pytest.approx(expected, abs=1e-12)
        expected = naive.conditional_information(columns[f], columns[k], labels)
        assert pair.given_class[0] == pytest.approx(expected, abs=1e-12)


@given(seeds, st.integers(2, 400), st.tuples(st.integers(2, 4), st.integers(2, 4)), st.integers(1, 4))
def test_sums_over_few_levels_are_those_of_their_tables(seed, n_samples, levels, n_classes):
    """Columns with 2 and 3 levels are summed without a table: the integers must be the same."""
    random = np.random.default_rng(seed)
    codes = np.stack([random.integers(0, d, n_samples) for d in levels])
    codes[:, 0] = np.array(levels) - 1
    y = random.integers(0, n_classes, n_samples)
    y[0] = n_classes - 1
    information = information_of(codes, y)
    table, nlogn = information.joint_counts(0, 1), information.nlogn
    pair = information.pairs(0, np.array([1]))
    whole = nlogn.table[-1] - information.pooled_sums.sum()
    expected = nlogn.table[table.sum(axis=0)].sum() + whole
    assert pair.mutual_information[0] == max(expected, 0) / (nlogn.scale * n_samples)
    assert information.mutual_information(0, np.array([1]))[0] == pair.mutual_information[0]
    expected = nlogn.table[table].sum() - information.class_sums.sum() + information.sum_of_classes
    assert pair.given_class[0] == max(expected, 0) / (nlogn.scale * n_samples)


@given(seeds)
def test_laws(seed):
    codes, y = dependent_codes(seed, 150, 4)
    information = information_of(codes, y)
    relevance = information.relevance
    for f, k in all_pairs(information):
        one = information.pairs(f, np.array([k]))
        other = information.pairs(k, np.array([f]))
        np.testing.assert_array_equal(one.mutual_information, other.mutual_information)
        np.testing.assert_array_equal(one.of_one_given_other, other.of_other_given_one)
        assert one.mutual_information[0] >= 0
        assert one.of_one_given_other[0] >= 0
        # identity (13) of the paper, and the one that makes I(f;k|Y) free
        assert one.of_other_given_one[0] == pytest.approx(
            one.of_one_given_other[0] - (relevance[f] - relevance[k]), abs=1e-12
        )
        assert one.given_class[0] == pytest.approx(
            one.mutual_information[0] + one.of_one_given_other[0] - relevance[f], abs=1e-12
        )


@given(seeds)
def test_rows_levels_and_threads_do_not_change_a_bit(seed):
    codes, y = dependent_codes(seed, 200, 3)
    random = np.random.default_rng(seed)
    rows = random.permutation(200)
    levels = random.permutation(codes.max() + 1)
    changed = levels[codes[:, rows]]
    first = information_of(codes, y).pairs(0, np.array([1, 2]))
    second = information_of(changed, y[rows], n_jobs=2).pairs(0, np.array([1, 2]))
    np.testing.assert_array_equal(first.mutual_information, second.mutual_information)
    np.testing.assert_array_equal(first.of_one_given_other, second.of_one_given_other)


def test_one_column_meets_all_by_default():
    information = information_of(*dependent_codes(0, 200, 5))
    found, expected = information.pairs(2), information.pairs(2, np.arange(5))
    np.testing.assert_array_equal(found.of_one_given_other, expected.of_one_given_other)


@pytest.mark.parametrize("levels", [(2, 3), (60, 60), (200, 3), (256, 100)])
def test_pooled_counts_are_the_same_bits_however_they_are_counted(levels):
    random = np.random.default_rng(0)
    codes = np.stack([random.integers(0, d, 500) for d in levels])
    codes[:, 0] = np.array(levels) - 1
    information = information_of(codes, random.integers(0, 3, 500))
    others = np.array([1])
    np.testing.assert_array_equal(
        information.mutual_information(0, others), information.pairs(0, others).mutual_information
    )


def test_many_columns_in_pieces_equal_one_by_one():
    codes, y = dependent_codes(0, 1500, 400)
    others = np.arange(1, 400)
    whole = information_of(codes, y, n_jobs=2).pairs(0, np.tile(others, 60))
    alone = information_of(codes, y)
    single = [alone.pairs(0, np.array([k])).of_one_given_other[0] for k in others]
    np.testing.assert_array_equal(whole.of_one_given_other[:399], single)
    expected = mutual_info_score(codes[0], codes[399])
    assert whole.mutual_information[398] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("n_samples", [1, 2, 1000, 10**6])
def test_nlogn_uses_its_bits(n_samples):
    nlogn = nlogn_table(n_samples)
    exact = n_samples * np.log(n_samples)
    assert nlogn.table[-1] < 2**62
    assert nlogn.table[-1] / nlogn.scale == pytest.approx(exact, abs=1 / nlogn.scale)
    assert nlogn.table[0] == nlogn.table[1] == 0
