"""Weights do not make categories of noise, such as identifiers, look informative."""

import warnings

import numpy as np
import pandas as pd
import pytest

from slfs import MRMR, SLFS, TAN, MDLPDiscretizer
from slfs.coding.categories import Labels, learn_labels
from slfs.coding.codebook import MAX_LEVELS
from slfs.coding.grouping import group_levels
from slfs.report import make_facts
from slfs.screening.plan import BlockLimits, block_limits
from slfs.tables.table import LabelBlock
from slfs.tables.target import read_target
from slfs.tables.weights import make_layout, make_weights

N_ROWS = 1500


def noise_table(random, n_rows=N_ROWS):
    """Columns of noise with few to many categories, as text and as integers, and one that matters."""
    few = {f"text {k}": random.integers(0, k, n_rows) for k in (2, 10, 30, 100, 300)}
    few["pairs"] = random.permutation(np.arange(n_rows) // 2)
    few["id"] = random.permutation(n_rows)
    X = pd.DataFrame({name: np.char.add("c", codes.astype(str)) for name, codes in few.items()})
    X["codes"], X["numbers"] = random.integers(0, 300, n_rows), random.permutation(n_rows)
    X["gaps"] = X["id"].where(random.random(n_rows) > 0.1)
    X["ordered"] = pd.Categorical(random.integers(0, 60, n_rows), ordered=True)
    X["x"] = random.normal(size=n_rows)
    return X


def target_of(X, kind, random):
    """Return a target that depends on x only, weights of the rows, and the class weight."""
    hidden = X["x"] + 0.8 * random.normal(size=len(X))
    n_rows = len(X)
    return {
        "balanced": lambda: (np.where(hidden > 1.7, "fraud", "ok"), None, "balanced"),
        "rare": lambda: (np.digitize(hidden, [0.0, 2.6]), None, "balanced"),
        "dict": lambda: ((hidden > 1.7).astype(int), None, {1: 20}),
        "uniform": lambda: (np.digitize(hidden, [-0.5, 0.5]), random.uniform(0.5, 1.5, n_rows), None),
        "heavy": lambda: ((hidden > 0).astype(int), np.exp(random.normal(size=n_rows)), None),
        "regression": lambda: (hidden.to_numpy(), random.uniform(0.5, 1.5, n_rows), None),
        "heavy regression": lambda: (hidden.to_numpy(), np.exp(random.normal(size=n_rows)), None),
    }[kind]()


KINDS = ["balanced", "rare", "dict", "uniform", "heavy", "regression", "heavy regression"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_noise_is_not_selected(kind, seed):
    random = np.random.default_rng(seed)
    X = noise_table(random)
    y, weights, class_weight = target_of(X, kind, random)
    parameters = {"class_weight": class_weight, "categorical_features": ["codes", "numbers"]}
    selector = SLFS(**parameters).fit(X, y, sample_weight=weights)
    assert selector.get_feature_names_out().tolist() == ["x"]
    ranked = MRMR(n_features_to_select=1, **parameters).fit(X, y, sample_weight=weights)
    many = ranked.features_[~np.isin(ranked.features_["name"], ["text 2", "text 10", "gaps", "x"])]
    assert not many["relevance"].any(), "a single group, whatever the method selects"
    assert ranked.get_feature_names_out().tolist() == ["x"]


@pytest.mark.parametrize("kind", ["balanced", "rare", "uniform", "heavy", "heavy regression"])
def test_informative_categories_are_found(kind):
    random = np.random.default_rng(0)
    city = random.integers(0, 300, 3000)
    X = pd.DataFrame({"x": np.isin(city, np.arange(150)) * 1.5})
    y, weights, class_weight = target_of(X, kind, random)
    names = np.char.add("city ", city.astype(str))
    for values in (names, city):
        table = pd.DataFrame({"city": values, "id": random.permutation(names)})
        selector = SLFS(class_weight=class_weight, categorical_features=[0])
        selector.fit(table, y, sample_weight=weights)
        assert selector.get_feature_names_out().tolist() == ["city"]


def learned(values, y, weights):
    """Learn the levels of a column of text; return them and the layout of the samples."""
    target = read_target(y)
    layout = make_layout(target.codes, len(target.classes), weights)
    column = [values[row] for row in layout.order]
    block = LabelBlock(column, np.array([value is None for value in column]), "text")
    seen = None if layout.tested is None else layout.tested.counts
    return learn_labels([(Labels(block, slice(None)), layout)], layout.n_classes, seen), layout


def test_levels_are_the_values_with_most_rows():
    """The pooled values do not depend on the weights, although the counts do."""
    random = np.random.default_rng(0)
    values = [f"v{k:03}" for k in random.integers(0, 700, 1200)]
    values[:5] = [None] * 5
    y = (np.arange(1200) % 10 == 0).astype(int)
    plain, _ = learned(values, y, None)
    weights = make_weights(None, "balanced", read_target(y), None)
    balanced, layout = learned(values, y, weights)
    assert plain.coding.columns["rare"][0] == MAX_LEVELS - 1
    assert balanced.coding.categories == plain.coding.categories
    np.testing.assert_array_equal(balanced.seen_counts, plain.class_counts)
    table = balanced.class_counts.reshape(-1, 2)
    ratio = weights.counts[y == 1][0], weights.counts[y == 0][0]
    np.testing.assert_array_equal(table, plain.class_counts.reshape(-1, 2) * ratio[::-1])
    assert group_levels(balanced, layout).coding.n_levels[0] <= 2, "one group and missing values"


def test_frequencies_and_class_weights_together():
    """Copies of a row are different samples; the weight of its class does not add to them."""
    random = np.random.default_rng(1)
    values = np.array([f"v{k:03}" for k in random.integers(0, 900, 1000)])
    y = (np.arange(1000) % 10 == 0).astype(int)
    frequencies = random.integers(1, 4, 1000)
    again = np.repeat(np.arange(1000), frequencies)
    whole = make_weights(frequencies.astype(float), {1: 6}, read_target(y), None)
    copied = make_weights(None, {1: 6}, read_target(y[again]), None)
    one, _ = learned(values.tolist(), y, whole)
    other, _ = learned(values[again].tolist(), y[again], copied)
    assert one.coding.categories == other.coding.categories
    np.testing.assert_array_equal(one.seen_counts, other.seen_counts)
    np.testing.assert_array_equal(one.class_counts, other.class_counts)


@pytest.mark.parametrize("n_rows", [100, 977])
def test_pieces_of_rows_and_streams(n_rows):
    random = np.random.default_rng(2)
    X = noise_table(random).drop(columns="gaps")  # warned about, since missing values are a level
    y, _, _ = target_of(X, "balanced", random)
    parameters = {"class_weight": "balanced", "categorical_features": ["codes", "numbers"]}
    weights = random.gamma(2.0, size=N_ROWS)
    whole = MDLPDiscretizer(**parameters).fit(X, y, sample_weight=weights)
    with block_limits(BlockLimits(n_rows=n_rows)):
        pieces = MDLPDiscretizer(**parameters).fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(pieces.n_levels_, whole.n_levels_)
    text = [name for name in X if name.startswith("text") or name in ("pairs", "id")]
    stream = SLFS(order="given", class_weight="balanced")
    stream.fit_stream([X[text], X[["x"]]], y, sample_weight=weights)
    assert stream.get_feature_names_out().tolist() == ["x"]


@pytest.mark.parametrize("weights", [None, "class", "sample"])
def test_warnings_count_rows(weights):
    """60 categories are no identifier of 600 rows, although these are worth fewer samples."""
    random = np.random.default_rng(0)
    y = (random.random(600) < 0.03).astype(int)
    shop = random.integers(0, 30, 600) + 30 * (random.random(600) < 0.2 + 0.6 * y)
    X = pd.DataFrame({"shop": np.char.add("s", shop.astype(str))})
    class_weight = "balanced" if weights == "class" else None
    w = np.exp(2 * random.normal(size=600)) if weights == "sample" else None
    selector = MRMR(n_features_to_select=1, include=["shop"], class_weight=class_weight)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "1 selected column.* more categories than half")
        selector.fit(X, y, sample_weight=w)
    X["id"] = np.char.add("i", random.permutation(600).astype(str))
    selector = MRMR(n_features_to_select=1, include=["id"], class_weight=class_weight)
    with pytest.warns(UserWarning, match="more categories than half the number of samples: 'id'"):
        selector.fit(X, y, sample_weight=w)


def test_sizes_of_a_continuous_target():
    random = np.random.default_rng(0)
    X, w = pd.DataFrame({"x": random.normal(size=58)}), random.gamma(1.0, size=58)
    selector = SLFS(n_features_to_select=1).fit(X, X["x"] + 0.1 * random.normal(size=58), w)
    facts = make_facts(selector)
    assert selector.target_bins_["n_samples"].sum() == facts["n_samples"] == 58
    assert f"58 rows weighted as {facts['effective_samples']} samples" in facts["summary"]
    assert abs(sum(facts["class_counts"]) - facts["effective_samples"]) <= 2


def test_a_classifier_of_all_columns_does_not_learn_identifiers():
    random = np.random.default_rng(3)
    X = noise_table(random)[["id", "pairs", "x"]]
    y, _, _ = target_of(X, "balanced", random)
    classifier = TAN(class_weight="balanced").fit(X, y)
    assert classifier.network_.names == ("x",)
