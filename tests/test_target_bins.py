"""A continuous target is recognized and cut into bins of equal size, as far as ties allow."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slfs import MRMR, SLFS, BNSLFSRegressor, MDLPDiscretizer, StabilitySelection
from slfs.tables.target import centered_ranks, read_target
from slfs.tables.target_bins import bin_target, cut_counts


@pytest.mark.parametrize(
    ("y", "kind"),
    [
        ([0.5, 1.5, 2.5], "regression"),
        ([1.0, 2.0, 1.0], "classification"),
        ([1, 2, 3], "classification"),
        (["a", "b", "a"], "classification"),
        ([True, False], "classification"),
        (pd.Series([1, 2.5, 7], dtype="Float64"), "regression"),
        (np.array([0.1, 0.2, 0.4], np.float32), "regression"),
        ([1, 2.5, 3], "regression"),
    ],
)
def test_floats_with_fractional_parts_are_continuous(y, kind):
    assert read_target(y).kind == kind


def test_two_distinct_values_are_a_quantity_only_if_the_user_says_so():
    X, y = np.array([[0.0], [1.0]] * 20), np.array([0.5, 2.5] * 20)
    for estimator in (SLFS(), MDLPDiscretizer()):
        with pytest.raises(
            ValueError, match=r"two distinct values \(0.5 and 2.5\).*target='regression'"
        ):
            estimator.fit(X, y)
        estimator.set_params(target="regression").fit(X, y)
    for two in ([0, 1, 1, 0], [True, False, True]):
        assert read_target(two, "regression").kind == "regression"
    selector = SLFS(target="regression").fit(X, y)
    assert selector.target_bins_["mean"].tolist() == [0.5, 2.5]
    regressor = BNSLFSRegressor().fit(X, y)
    np.testing.assert_allclose(regressor.predict(X), selector.to_regressor().predict(X))


def test_integers_are_a_quantity_if_the_user_says_so():
    y = np.arange(600)
    target = read_target(y, "regression")
    assert target.kind == "regression"
    np.testing.assert_array_equal(target.values, y)
    assert target.codes.tolist() == np.repeat(range(5), 120).tolist()


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["a", "b", "c"], r"target='regression' needs numbers, but y contains 'a', 'b', 'c'"),
        ([2.5, 2.5], r"only one value \(2.5\)"),
        ([0.5, np.nan, 1.5], "Input y contains NaN: 1 missing label"),
        ([0.5, np.inf, 1.5], "Input y contains infinity"),
        (
            pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-03"]),
            "Convert dates and times first: to classes",
        ),
        ([2**60, 2**60 + 1, 2**60 + 2], "only one when rounded to 64-bit floats"),
    ],
)
def test_targets_that_are_no_quantity_are_refused(y, message):
    for estimator in (SLFS(target="regression"), MDLPDiscretizer(target="regression")):
        with pytest.raises(ValueError, match=message):
            estimator.fit(np.arange(len(y), dtype=float).reshape(-1, 1), y)


@pytest.mark.parametrize(
    ("estimator", "value"), [(MRMR(2, target="number"), "number"), (SLFS(target=None), None)]
)
def test_other_types_of_targets_are_refused(estimator, value):
    with pytest.raises(ValueError, match=rf"The 'target' parameter .* Got {value!r} instead"):
        estimator.fit([[1.0], [2.0], [3.0]], [0.5, 1.5, 2.5])


@pytest.mark.parametrize(("n_samples", "n_bins"), [(3, 3), (499, 3), (500, 5), (10_000, 5)])
def test_the_number_of_bins_grows_with_the_samples(n_samples, n_bins):
    sizes = np.bincount(bin_target(np.random.default_rng(0).normal(size=n_samples), "y")[0])
    assert len(sizes) == n_bins
    assert np.ptp(sizes) <= 1


@pytest.mark.parametrize(
    ("counts", "sizes"),
    [
        ([600, *[1] * 400], [600, 200, 200]),  # zero inflation
        ([*[1] * 400, 600], [200, 200, 600]),
        ([900, *[1] * 100], [900, 100]),  # thirds of the rest would be too small
        ([50, *[1] * 10, 40], [50, 10, 40]),  # limits at both ends
        ([10, 10, 10], [10, 10, 10]),
        ([98, 1, 1], [98, 2]),
        ([1, 98, 1], [1, 99]),
        ([30, 30, 30, 30], [30, 60, 30]),
        ([1] * 9, [3, 3, 3]),
    ],
)
def test_frequent_values_have_bins_of_their_own(counts, sizes):
    first = cut_counts(np.array(counts), 3)
    found = np.add.reduceat(counts, [0, *first]).tolist()
    assert found in (sizes, sizes[::-1])
    assert sum(found) == sum(counts)


@given(st.lists(st.integers(1, 40), min_size=3, max_size=60), st.integers(3, 5))
def test_bins_are_never_empty_and_at_least_two(counts, n_bins):
    first = cut_counts(np.array(counts), n_bins).tolist()
    assert 1 <= len(first) <= n_bins - 1
    assert first == sorted(set(first))
    assert first[0] > 0
    assert first[-1] < len(counts)
    sizes = np.add.reduceat(counts, [0, *first])
    assert len(first) == 1 or sizes.min() >= sum(counts) / (4 * n_bins)


@given(st.lists(st.integers(-20, 20), min_size=5, max_size=80).filter(lambda y: len(set(y)) > 2))
def test_bins_depend_on_the_order_of_the_values_only(numbers):
    y = np.array(numbers, float)
    codes, bins = bin_target(y, "y")
    other, same = bin_target(np.exp(y / 7) - 3, "y")
    np.testing.assert_array_equal(codes, other)
    np.testing.assert_array_equal(bins["n_samples"], same["n_samples"])
    for value in set(numbers):
        assert len(np.unique(codes[y == value])) == 1, "equal values are in the same bin"
    for code, record in enumerate(bins):
        own = y[codes == code]
        assert ((own > record.lower) & (own <= record.upper)).all()
        assert (own.min(), own.max(), len(own)) == (record.smallest, record.largest, record.n_samples)
        assert record["mean"] == pytest.approx(own.mean())


def test_bins_have_names_with_the_name_of_the_target():
    y = pd.Series(np.arange(9) * 1.25, name="price")
    assert read_target(y).bins["name"].tolist() == [
        "price ≤ 3.12",
        "3.12 < price ≤ 6.88",
        "price > 6.88",
    ]
    close = read_target(1e6 + np.arange(9) / 1000).bins["name"].tolist()
    assert close == ["y ≤ 1000000.002", "1000000.002 < y ≤ 1000000.005", "y > 1000000.005"]
    tiny = np.nextafter([1.0, 1.0, 1.0], 2) * [1, 1, 1]
    assert read_target([1.0, *tiny, 2.5]).bins["name"][0] == "y ≤ 1"


@given(st.lists(st.integers(0, 9), min_size=1, max_size=30))
def test_centered_ranks_are_midranks(numbers):
    from scipy.stats import rankdata

    ranks = centered_ranks(np.array(numbers, float))
    np.testing.assert_array_equal(ranks, 2 * rankdata(numbers) - len(numbers) - 1)
    assert ranks.sum() == 0


def test_large_values_do_not_overflow():
    _, bins = bin_target(np.array([-1.7e308, 1.0, 1.6e308, 1.7e308] * 3), "y")
    assert np.isfinite(bins["mean"]).all()


def test_subsamples_keep_the_type_of_the_target():
    """Of integers, a subsample would have classes; of a quantity with few values, two."""
    random = np.random.default_rng(0)
    y = np.where(random.random(60) < 0.8, 0.0, random.integers(1, 3, 60) + 0.5)
    X = y[:, np.newaxis] + random.normal(size=(60, 2)) * [[0.1, 9]]
    selector = StabilitySelection(n_subsamples=6).fit(X, y)
    assert selector.target_type_ == "regression"
    assert selector.support_.tolist() == [True, False]
    ages = (20 + 30 * random.random(300)).astype(int)
    X = ages[:, np.newaxis] + random.normal(size=(300, 2)) * [[1, 90]]
    selector = StabilitySelection(SLFS(target="regression"), n_subsamples=6).fit(X, ages)
    assert selector.support_.tolist() == [True, False]
