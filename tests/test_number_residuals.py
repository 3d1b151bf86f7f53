"""The pursuit of a continuous target also explains the numbers, not only their bins."""

from dataclasses import replace

import numpy as np
import pytest

from slfs import SLFS, ResidualPursuit
from slfs._core.threads import Threads
from slfs.counting.backend import use_backend
from slfs.counting.numpy_backend import NumpyBackend
from slfs.measures.information import Information
from slfs.measures.number_residuals import NumberModel
from slfs.selectors._shared.pursuit import Pursuit
from slfs.tables.target_bins import bin_target
from tests.helpers import dependent_codes, information_of, pack_codes


def tail_table(n_samples=800, seed=0):
    """A few values of y are far from the others: column 0 says which, column 1 explains the others."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_samples, 6))
    far = X[:, 0] > 1.8
    y = np.where(far, -30.0, 0.0) + X[:, 1] + 0.5 * X[:, 2] + 0.2 * random.normal(size=n_samples)
    return X, y


@pytest.mark.parametrize("kind", [ResidualPursuit, SLFS])
def test_few_values_that_are_most_of_the_variance_are_explained_early(kind):
    X, y = tail_table()
    assert kind(n_features_to_select=3, target="regression").fit(X, y).indices_.tolist() == [1, 0, 2]
    bins = bin_target(y, "y")[0]
    assert kind(n_features_to_select=3).fit(X, bins).indices_.tolist() == [1, 2, 0]


def test_a_single_outlier_does_not_select_a_column():
    X, y = tail_table()
    y = X[:, 1] + 0.5 * X[:, 2]
    y[np.argmax(X[:, 4])] = 1e6
    assert ResidualPursuit(2, target="regression").fit(X, y).indices_.tolist() == [1, 2]


@pytest.mark.parametrize(("factor", "shift"), [(2.0, 0.0), (-1.0, 0.0), (2.0**900, 0.0), (8.0, -4096.0)])
def test_the_unit_of_the_target_does_not_matter(factor, shift):
    X, y = tail_table()
    y = np.round(y * 2**20) / 2**20
    one = ResidualPursuit(4, target="regression").fit(X, y)
    other = ResidualPursuit(4, target="regression").fit(X, factor * y + shift)
    np.testing.assert_array_equal(one.indices_, other.indices_)
    np.testing.assert_allclose(one.selection_scores_, other.selection_scores_, rtol=1e-3)


def naive_residuals(codes, y, n_sweeps=2):
    """The model in a few lines: tables of steps, the newest first, ridge 3, and 80 samples added."""
    left = (y - y.mean()) / y.std()
    tables = []
    for column in range(len(codes)):
        tables.append(np.zeros(codes[column].max() + 1))
        for _ in range(n_sweeps):
            for k in reversed(range(column + 1)):
                for level in range(len(tables[k])):
                    own = codes[k] == level
                    step = 0.5 * (left[own].sum() - 3 * tables[k][level]) / (own.sum() + 3 + 80)
                    tables[k][level] += step
                    left = left - step * own
    return left


def test_residuals_are_those_of_a_naive_model():
    codes, labels = dependent_codes(1, 300, 5, n_classes=4)
    y = labels + np.random.default_rng(0).normal(size=300)
    y[:3] = 40.0
    model = NumberModel(y)
    for column in codes:
        model.add(column.astype(np.uint8), column.max() + 1, 2)
    residuals, weights = np.zeros((2, 300), np.int16)
    model.write(residuals, weights)
    left = naive_residuals(codes, y)
    expected = np.clip(left / (4 * np.sqrt((left**2).mean())), -1, 1)
    np.testing.assert_allclose(residuals / 2**15, expected, atol=2**-15)
    assert set(weights.tolist()) == {2**16 // 16}
    assert residuals.max() == 2**15 - 1


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_backends_agree(n_classes):
    codes, labels = dependent_codes(3, 300, 40, n_classes=n_classes)
    y = labels + np.random.default_rng(1).exponential(size=300)

    def pursue(information):
        layout = information.packed.layout
        object.__setattr__(information.packed, "layout", replace(layout, target_values=y))
        return list(Pursuit(information))

    fast = pursue(information_of(codes, labels))
    assert fast == pursue(Information(NumpyBackend(pack_codes(codes, labels), Threads(1))))
    assert fast != list(Pursuit(information_of(codes, labels)))


def test_threads_blocks_and_the_order_of_the_columns_do_not_matter():
    X, y = tail_table(400)
    one = ResidualPursuit(6, target="regression").fit(X, y)
    many = ResidualPursuit(6, target="regression", n_jobs=3).fit(X, y)
    with use_backend("numpy"):
        plain = ResidualPursuit(6, target="regression").fit(X, y)
    turned = ResidualPursuit(6, target="regression").fit(X[:, ::-1], y)
    for other in (many, plain, turned):
        np.testing.assert_array_equal(one.selection_scores_, other.selection_scores_)
    np.testing.assert_array_equal(one.indices_, 5 - turned.indices_)


def test_frequencies_are_repeated_rows():
    X, y = tail_table(300)
    weight = np.random.default_rng(0).integers(0, 4, 300)
    weighted = ResidualPursuit(4, target="regression").fit(X, y, sample_weight=weight)
    repeated = ResidualPursuit(4, target="regression").fit(X.repeat(weight, axis=0), y.repeat(weight))
    np.testing.assert_array_equal(weighted.selection_scores_, repeated.selection_scores_)


def test_given_columns_are_settled():
    X, y = tail_table()
    selector = ResidualPursuit(2, target="regression", condition_on=[0]).fit(X, y)
    assert selector.indices_.tolist() == [1, 2]
    codes = np.repeat(np.arange(2, dtype=np.uint8), 200)
    model = NumberModel(5.0 * codes)
    model.add(codes, 2, 2)
    model.settle(500, 1e-6)
    left = np.zeros((2, 400), np.int16)
    model.write(*left)
    assert np.abs(left[0] / 2**15 * 4 * 0.03).max() == pytest.approx(3 / 203, abs=1e-3)  # the ridge
