"""MDLPDiscretizer: cut points of other implementations and of the reference, and their laws."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn import datasets

from slfs import SLFS, MDLPDiscretizer, UnseenValueWarning
from slfs.coding.categories import Labels, learn_categories, learn_labels
from slfs.coding.cut_kernels import MAX_CUTS
from slfs.counting.planes import SampleLayout
from slfs.tables.table import LabelBlock
from tests import naive

REFERENCES = json.loads((Path(__file__).parent / "fixtures" / "references.json").read_text())
seeds = st.integers(0, 2**32 - 1)


def load(name):
    return getattr(datasets, f"load_{name}")(return_X_y=True)


@pytest.mark.parametrize("name", sorted(REFERENCES["cut_points"]))
def test_cut_points_equal_orange_weka_and_r(name):
    X, y = load(name)
    found = MDLPDiscretizer(n_jobs=2).fit(X, y).cut_points_
    for cuts, expected in zip(found, REFERENCES["cut_points"][name], strict=True):
        np.testing.assert_allclose(cuts, expected, rtol=1e-5)


@pytest.mark.parametrize("name", sorted(REFERENCES["information"]))
def test_information_of_the_codes_equals_praznik(name):
    X, y = load(name)
    expected = REFERENCES["information"][name]
    features = SLFS().fit(X, y).features_
    np.testing.assert_allclose(features.relevance, expected["relevance"], atol=1e-9)
    np.testing.assert_allclose(features.entropy, expected["entropy"], atol=1e-9)


def columns_of(seed, n_samples, n_classes=3):
    """Columns of several kinds: continuous, integers in a narrow and a wide range, with ties."""
    random = np.random.default_rng(seed)
    y = random.integers(0, n_classes, n_samples)
    y[:n_classes] = np.arange(n_classes)
    shift = y * random.uniform(0, 3)
    return (
        np.column_stack(
            [
                random.normal(size=n_samples) + shift,
                np.round(random.normal(size=n_samples) * 2 + shift),
                np.round(random.normal(size=n_samples) * 1000 + 900 * shift),
                np.round(random.normal(size=n_samples) + shift, 1),
                random.integers(0, 2, n_samples) * shift,
            ]
        ),
        y,
    )


@given(seeds, st.integers(3, 120))
def test_cut_points_equal_the_oracle(seed, n_samples):
    X, y = columns_of(seed, n_samples)
    found = MDLPDiscretizer().fit(X, y).cut_points_
    for j in range(X.shape[1]):
        expected = naive.mdlp(X[:, j].tolist(), y.tolist())
        np.testing.assert_allclose(found[j], expected, rtol=1e-12)


@given(seeds)
def test_increasing_maps_change_no_code(seed):
    X, y = columns_of(seed, 150)
    before = MDLPDiscretizer().fit_transform(X, y)
    for mapped in (X * 3 + 7, np.arctan(X / 100), np.sign(X) * np.sqrt(np.abs(X)), X**3):
        np.testing.assert_array_equal(MDLPDiscretizer().fit_transform(mapped, y), before)


@given(seeds)
def test_sparse_equals_dense(seed):
    random = np.random.default_rng(seed)
    X, y = columns_of(seed, 90)
    X[random.random(X.shape) < 0.7] = 0
    X[random.random(X.shape) < 0.05] = np.nan
    dense = MDLPDiscretizer().fit(X, y)
    for kind in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array):
        matrix = kind(X)
        other = MDLPDiscretizer(n_jobs=2).fit(matrix, y)
        for cuts, expected in zip(other.cut_points_, dense.cut_points_, strict=True):
            np.testing.assert_array_equal(cuts, expected)
        np.testing.assert_array_equal(other.transform(matrix), dense.transform(X))
        np.testing.assert_array_equal(other.transform(X), dense.transform(X))


@pytest.mark.filterwarnings("ignore:.*likely identifiers")
@given(seeds, st.sampled_from([2, 7, 8, 9, 40, 256]), st.booleans())
def test_small_integers_are_coded_as_the_same_floats(seed, n_values, categorical):
    random = np.random.default_rng(seed)
    y = random.integers(0, 3, 150)
    X = random.integers(0, n_values, (150, 5))
    X[:, 1] = (X[:, 1] + y * n_values // 3) % n_values
    X[:, 2] = y * (n_values // 3)
    kind = "all" if categorical else "from_dtype"
    floats = MDLPDiscretizer(categorical_features=kind).fit(X.astype(float), y)
    for whole in (X, np.asfortranarray(X), X.astype(np.uint8)):
        found = MDLPDiscretizer(categorical_features=kind).fit(whole, y)
        for cuts, expected in zip(found.cut_points_, floats.cut_points_, strict=True):
            np.testing.assert_array_equal(cuts, expected)
        np.testing.assert_array_equal(found.transform(whole), floats.transform(X.astype(float)))
        selectors = [SLFS(categorical_features=kind).fit(table, y) for table in (whole, X.astype(float))]
        assert selectors[0].network_.to_dot() == selectors[1].network_.to_dot()


@pytest.mark.parametrize("kind", ["from_dtype", "all"])
def test_sparse_columns_without_any_entry(kind):
    X, y = np.zeros((40, 12)), np.tile([0, 1], 20)
    X[:, 1] = y
    for table in (X, sparse.csr_array(X), sparse.csc_array(X)):
        found = MDLPDiscretizer(categorical_features=kind).fit(table, y)
        assert found.n_levels_.tolist() == [1, 2, *[1] * 10]
        assert SLFS(categorical_features=kind).fit(table, y).get_support(indices=True).tolist() == [1]


def test_intervals_are_closed_on_the_right():
    X, y = np.array([[0.0], [0], [0], [0], [1], [1], [1], [1]]), [0, 0, 0, 0, 1, 1, 1, 1]
    discretizer = MDLPDiscretizer().fit(X, y)
    assert discretizer.cut_points_[0].tolist() == [0.5]
    codes = discretizer.transform([[-9.0], [0.5], [np.nextafter(0.5, 1)], [9.0]])
    assert codes.ravel().tolist() == [0, 0, 1, 1]


def test_extremes_neighbouring_floats_and_infinities():
    tiny = np.nextafter(1.0, 2.0)
    for low, high in ((1.0, tiny), (-np.inf, np.inf), (0.0, np.inf), (-1e308, 1e308)):
        X = np.repeat([low, high], 10).reshape(-1, 1)
        codes = MDLPDiscretizer().fit_transform(X, np.repeat([0, 1], 10))
        assert codes.ravel().tolist() == [0] * 10 + [1] * 10


def test_missing_values_are_the_last_level_and_do_not_move_the_cuts():
    X, y = load("iris")
    holes = np.vstack([X, np.full((6, 4), np.nan)])
    labels = np.append(y, [2] * 6)
    full, holed = MDLPDiscretizer().fit(X, y), MDLPDiscretizer().fit(holes, labels)
    for cuts, expected in zip(holed.cut_points_, full.cut_points_, strict=True):
        np.testing.assert_array_equal(cuts, expected)
    np.testing.assert_array_equal(holed.n_levels_, full.n_levels_ + 1)
    np.testing.assert_array_equal(holed.transform(holes)[-1], full.n_levels_)
    most_frequent = [np.bincount(column).argmax() for column in full.transform(X).T]
    with pytest.warns(UnseenValueWarning, match="4 columns"):
        np.testing.assert_array_equal(full.transform(holes)[-1], most_frequent)


def test_all_missing_and_constant_columns_have_one_level():
    X = np.column_stack([np.full(20, np.nan), np.ones(20), np.zeros(20)])
    discretizer = MDLPDiscretizer().fit(X, np.arange(20) % 2)
    assert discretizer.n_levels_.tolist() == [1, 1, 1]
    assert not discretizer.transform(X).any()


def test_categories_keep_their_levels_and_pool_the_rare():
    random = np.random.default_rng(0)
    names = [f"level {i:03d}" for i in range(300)]
    many = random.permutation(np.repeat(names, np.arange(300) // 100 + 2))
    frame = pd.DataFrame({"few": pd.Categorical(random.choice(["b", "a"], len(many))), "many": many})
    y = random.integers(0, 2, len(many))
    discretizer = MDLPDiscretizer().set_output(transform="pandas").fit(frame, y)
    assert discretizer.n_levels_.tolist() == [2, 1], "the many levels are noise: one group"
    codes = discretizer.transform(frame)
    assert codes["few"][frame["few"] == "a"].unique().tolist() == [0]
    layout = SampleLayout.from_class_codes(y, 2)
    block = LabelBlock(many[layout.order].tolist(), np.zeros(len(many), bool), "many")
    level = learn_labels([(Labels(block, slice(None)), layout)], 2).coding.categories[0]
    rare = frame["many"][frame["many"].map(level) == 254]
    assert rare.value_counts().max() <= frame["many"].value_counts().nlargest(254).min()
    with pytest.warns(UnseenValueWarning, match="1 column .*'few'"):  # many: all values have one level
        unknown = discretizer.transform(pd.DataFrame({"few": ["c"], "many": ["new"]}))
    for column in ("few", "many"):
        assert unknown[column].item() == codes[column].mode().item(), "the most frequent level"


def test_categories_of_numbers_are_coded_as_such():
    X = np.array([[3.0, 10], [1, 10], [3, 20], [7, np.nan], [1, 20], [7, 30]])
    discretizer = MDLPDiscretizer(categorical_features="all").fit(X, [0, 1, 0, 1, 0, 1])
    assert discretizer.n_levels_.tolist() == [3, 4]
    assert discretizer.transform(X).T.tolist() == [[1, 0, 1, 2, 0, 2], [0, 0, 1, 3, 1, 2]]
    with pytest.warns(UnseenValueWarning, match="2 columns"):
        unknown = discretizer.transform([[2.0, 99]])
    assert unknown.tolist() == [[0, 3]], "most frequent, missing"
    assert all(len(cuts) == 0 for cuts in discretizer.cut_points_)


def test_wide_range_of_numeric_categories_pools_too():
    values = np.arange(600, dtype=float).reshape(-1, 1) * 1e6
    discretizer = MDLPDiscretizer(categorical_features=[0]).fit(values, np.arange(600) % 2)
    assert discretizer.n_levels_.tolist() == [1]
    sizes = np.where(np.arange(600) % 2, 1, 2)
    learned = learn_categories(
        values.ravel().tolist(), np.arange(600), np.arange(600) % 2, (np.zeros(2, int), sizes)
    )
    assert learned.coding.n_levels.tolist() == [255]
    codes = np.array(list(learned.coding.categories[0].values()))
    assert codes[: 2 * 254 : 2].tolist() == list(range(254)), "the first ones that occur twice"
    assert set(codes[1::2]) | set(codes[2 * 254 :]) == {254}


def test_at_most_255_intervals():
    n_blocks, size = 600, 40
    values = np.arange(n_blocks * size, dtype=float).reshape(-1, 1)
    y = np.repeat(np.arange(n_blocks) % 2, size)
    discretizer = MDLPDiscretizer().fit(values, y)
    assert len(discretizer.cut_points_[0]) == MAX_CUTS
    assert np.all(np.diff(discretizer.cut_points_[0]) > 0)
    assert discretizer.transform(values).max() == MAX_CUTS


def test_one_value_more_than_the_counting_window():
    values = np.append(np.arange(1025), np.arange(1025)).astype(float).reshape(-1, 1)
    y = (values.ravel() > 600).astype(int)
    assert MDLPDiscretizer().fit(values, y).cut_points_[0].tolist() == [600.5]
    assert MDLPDiscretizer().fit(values[values.ravel() < 1024], y[values.ravel() < 1024]).cut_points_[
        0
    ].tolist() == [600.5]
