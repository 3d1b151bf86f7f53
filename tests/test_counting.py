"""Counts from planes and from codes equal those of the reference implementation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slfs.counting.kernels import MAX_PLANES
from slfs.counting.strata import strata_by_planes, strata_by_samples
from tests import naive
from tests.helpers import information_of, pack_codes


@st.composite
def coded_pairs(draw):
    """Two columns and a class, with few or many levels and samples."""
    n_samples = draw(st.integers(2, 300))
    levels = draw(st.tuples(st.sampled_from([2, 3, 4, 9, 40, 64, 65, 256]), st.integers(2, 70)))
    n_classes = draw(st.integers(2, 6))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    codes = np.stack([random.integers(0, d, n_samples) for d in levels])
    y = random.integers(0, n_classes, n_samples)
    codes[:, -1] = np.array(levels) - 1
    y[-1] = n_classes - 1
    return codes, y


@given(coded_pairs())
def test_joint_counts_equal_the_oracle(data):
    codes, y = data
    shape = (y.max() + 1, codes[0].max() + 1, codes[1].max() + 1)
    expected = naive.joint_counts(codes[0].tolist(), codes[1].tolist(), y.tolist(), shape)
    np.testing.assert_array_equal(information_of(codes, y).joint_counts(0, 1), expected)


@pytest.mark.parametrize("levels", [2, 3, 8, 64])
@pytest.mark.parametrize("n_samples", [63, 64, 65, 1000])
def test_counts_at_the_edges_of_words(levels, n_samples):
    random = np.random.default_rng(levels * n_samples)
    codes = random.integers(0, levels, (2, n_samples))
    codes[:, 0] = levels - 1
    y = np.arange(n_samples) % 2
    table = information_of(codes, y).joint_counts(0, 1)
    assert table.sum() == n_samples
    np.testing.assert_array_equal(table.sum(axis=(1, 2)), np.bincount(y))
    np.testing.assert_array_equal(table, naive.joint_counts(codes[0], codes[1], y, (2, levels, levels)))


def test_both_ways_of_counting_are_taken():
    """Pairs that are counted in either way, depending on the cost, agree with the reference."""
    from slfs.counting.kernels import most_levels_by_planes

    random = np.random.default_rng(0)
    y = random.integers(0, 2, 400)
    codes = np.stack([random.integers(0, d, 400) for d in (2, 3, 60, 60, 200)])
    codes[:, 0] = [1, 2, 59, 59, 199]
    information = information_of(codes, y)
    arrays = information.packed.arrays
    index = np.arange(5).astype(np.uint64)
    assert most_levels_by_planes(arrays, index[0]) >= 3
    assert most_levels_by_planes(arrays, index[2]) < 60
    assert most_levels_by_planes(arrays, index[4]) == 0
    assert arrays.levels[4] > MAX_PLANES + 1, "kept as codes"
    for f, k in [(0, 1), (2, 3), (4, 0), (1, 4), (4, 3)]:
        shape = (2, codes[f].max() + 1, codes[k].max() + 1)
        expected = naive.joint_counts(codes[f], codes[k], y, shape)
        np.testing.assert_array_equal(information.joint_counts(f, k), expected)


def test_a_class_without_a_full_word_and_one_sample():
    codes, y = np.array([[0, 1, 1], [1, 0, 1]]), np.array([0, 1, 1])
    table = information_of(codes, y).joint_counts(0, 1)
    assert table.tolist() == [[[0, 1], [0, 0]], [[0, 0], [1, 1]]]


def test_planes_take_the_bytes_that_the_design_says():
    packed = pack_codes(np.arange(300).reshape(1, -1) % 3, np.arange(300) % 2)
    assert packed.arrays.words.nbytes == 2 * 2 * 3 * 8, "2 planes x 2 classes x 3 words"


@given(st.integers(0, 2**32 - 1), st.integers(4, 300), st.integers(0, 3), st.integers(1, 4))
def test_strata_are_counted_alike_by_planes_and_by_samples(seed, n_samples, n_given, n_classes):
    random = np.random.default_rng(seed)
    levels = random.integers(2, 5, 4)
    codes = np.stack([random.integers(0, d, n_samples) for d in levels])
    codes[:, 0] = levels - 1
    y = random.integers(0, n_classes, n_samples)
    y[0] = n_classes - 1
    information = information_of(codes, y)
    arrays, layout = information.packed.arrays, information.packed.layout
    given_columns = np.arange(1, n_given + 1).astype(np.uint64)
    strata, n_strata = np.zeros(n_samples, np.uint64), 1
    for k in range(1, n_given + 1):
        strata = strata * np.uint64(levels[k]) + information.codes(k)
        n_strata *= levels[k]
    shape = (n_strata, levels[0], n_classes)
    one, two, expected = (np.zeros(shape, np.int64) for _ in range(3))
    nlogn = information.nlogn.table
    bits = layout.sample_bits()
    first = strata_by_planes(arrays, np.uint64(0), given_columns, bits, nlogn, one)
    second = strata_by_samples(information.codes(0), strata, layout.first_sample, nlogn, two)
    np.add.at(expected, (strata.astype(int), codes[0][layout.order], y[layout.order]), 1)
    np.testing.assert_array_equal(one, expected)
    np.testing.assert_array_equal(two, expected)
    assert first == second
