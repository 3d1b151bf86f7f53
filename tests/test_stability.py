"""Stability selection: measure, subsamples, consensus, and calibration with noise columns."""

import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse, stats
from sklearn.datasets import load_breast_cancer

from slfs import (
    BNSLFS,
    FCBF,
    MRMR,
    SLFS,
    AlphaInvesting,
    Chi2,
    StabilitySelection,
    make_network_classification,
)
from slfs._core.progress import progress_callback
from slfs.counting.planes import SampleLayout
from slfs.files import ParquetColumns
from slfs.measures.stability import Stability, nogueira
from slfs.network.consensus import consensus_tree, count_edges
from slfs.network.tree import ROOT
from slfs.report import make_facts
from slfs.selectors._shared.subsamples import draw, only
from slfs.tables.parts import Part, WithNoise
from slfs.tables.registry import read_table
from tests import naive


@pytest.fixture(scope="module")
def cancer():
    return load_breast_cancer(return_X_y=True, as_frame=True)


# the measure


@given(arrays(bool, st.tuples(st.integers(2, 8), st.integers(2, 12))))
def test_the_measure_is_that_of_the_oracle(supports):
    found = nogueira(supports)
    if not supports.any() or supports.all():
        assert np.isnan([found.value, found.low, found.high]).all()
        assert found.word == "not defined"
        return
    value, variance = naive.nogueira_stability(supports.astype(int).tolist())
    assert found.value == pytest.approx(value)
    assert found.standard_error == pytest.approx(np.sqrt(variance), abs=1e-9)
    reach = stats.norm.ppf(0.975) * np.sqrt(variance)
    assert found.low == pytest.approx(value - reach)
    assert found.high == pytest.approx(min(value + reach, 1))
    assert nogueira(sparse.csr_array(supports)).value == pytest.approx(found.value)


def test_the_measure_of_known_selections():
    same = nogueira([[1, 0, 1, 0]] * 5)
    assert (same.value, same.low, same.high, same.word) == (1, 1, 1, "excellent")
    assert nogueira([[1, 0], [0, 1]]).value == -1  # never the same
    random = np.random.default_rng(0)
    chance = nogueira([random.permutation([1] * 20 + [0] * 80) for _ in range(200)])
    assert chance.low < 0 < chance.high
    assert chance.high - chance.low < 0.05


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.396, "0.396"), (0.4, "0.40"), (0.754, "0.754"), (0.75, "0.75"), (0.39999, "0.39999")],
)
def test_a_rounded_stability_has_the_word_of_the_value(value, text):
    found = Stability(value, 0.1, 0.9, 0.95, 0.1, 50, 0.2)
    assert str(found).startswith(f"stability {text} (95% interval 0.10 to 0.90): {found.word}")


def test_the_interval_covers():
    """Selections with known stability: p_f is 0.9 and 0.1, so it is 1 - 0.09 / 0.25."""
    random = np.random.default_rng(1)
    share = np.repeat([0.9, 0.1], 20)
    runs = (nogueira(random.random((60, 40)) < share, level=0.9) for _ in range(400))
    covered = np.mean([one.low < 1 - 0.09 / 0.25 < one.high for one in runs])
    assert 0.86 < covered < 0.94


@pytest.mark.parametrize(
    ("supports", "message"),
    [([1, 0], "two dimensions"), ([[1, 0]], "at least two runs"), ([[1, 2], [0, 1]], "zeros and ones")],
)
def test_the_measure_refuses_what_is_no_selection(supports, message):
    with pytest.raises(ValueError, match=message):
        nogueira(supports)


# subsamples


@pytest.mark.parametrize("fraction", [0.5, 0.3, 0.8])
def test_pairs_of_subsamples(fraction):
    codes = np.repeat([0, 1, 2], [101, 40, 1])
    layout = SampleLayout.from_class_codes(codes, 3)
    sizes = []
    for seed in range(40):
        first, second = draw(layout, fraction, seed, False), draw(layout, fraction, seed, True)
        if fraction == 0.5:
            assert np.array_equal(np.sort(np.concatenate([first, second])), np.arange(142))
        elif fraction < 0.5:
            assert len(np.intersect1d(first, second)) == 0
        for rows in (first, second):
            assert len(np.unique(rows)) == len(rows)
            counts = np.bincount(codes[rows], minlength=3)
            assert (np.abs(counts - fraction * np.array([101, 40, 1])) < 1).all()
            sizes.append(len(rows))
    assert np.mean(sizes) == pytest.approx(fraction * 142, abs=0.5)


def mixed():
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 120)
    frame = pd.DataFrame(
        {
            "number": y + random.normal(size=120),
            "word": np.where(random.random(120) < 0.8, y, 1 - y).astype(str),
            "hole": np.where(random.random(120) < 0.2, np.nan, y + random.normal(size=120)),
            "noise": random.normal(size=120),
        }
    )
    return frame, y


@pytest.mark.parametrize("kind", ["array", "bytes", "sparse", "frame", "objects"])
def test_parts_and_noise_hold_the_values_of_the_table(kind):
    frame, _ = mixed()
    dense = np.arange(60.0).reshape(12, 5) * (np.arange(60).reshape(12, 5) % 3 > 0)
    X = {
        "array": dense,
        "bytes": dense.astype(np.uint8),
        "sparse": sparse.csr_array(dense),
        "frame": frame.iloc[:12],
        "objects": frame.iloc[:12].to_numpy(dtype=object),
    }[kind]
    table = read_table(X)
    values = np.asarray(X.toarray() if kind == "sparse" else X, dtype=object)
    names = [f"x{j}" for j in range(table.n_features)]
    random = np.random.default_rng(0)
    noisy = WithNoise(table, names, random)
    assert noisy.is_noise.sum() == table.n_features
    rows = np.array([9, 2, 4, 11])
    part, order = Part(noisy, noisy.names, rows), np.array([3, 0, 2, 1])
    for column in range(part.n_features):
        source = values[:, noisy.source[column]]
        expected = source[noisy._shuffled] if noisy.is_noise[column] else source
        if part.numbers[column]:
            block = part.number_block(np.array([column]), order).dense()[0]
            np.testing.assert_array_equal(block, expected[rows][order].astype(float))
        else:
            assert part.label_block(column, order).values == expected[rows][order].tolist()
    numbers = np.flatnonzero(part.numbers)
    together = part.number_block(numbers, order).dense()
    alone = [part.number_block(np.array([column]), order).dense()[0] for column in numbers]
    np.testing.assert_array_equal(together, alone)
    few = part.take(numbers[::-1])
    assert few.names == [noisy.names[column] for column in numbers[::-1]]
    np.testing.assert_array_equal(few.number_block(np.arange(len(numbers)), order).dense(), alone[::-1])


# the consensus


def test_the_consensus_takes_the_most_frequent_edges_and_no_circle():
    def run(*edges):
        columns = np.array([child for child, _ in edges])
        position = {column: node for node, column in enumerate(columns.tolist())} | {ROOT: ROOT}
        return columns, np.array([position[parent] for _, parent in edges])

    runs = [
        run((7, ROOT), (3, 7)),
        run((7, ROOT), (3, 7), (5, 3)),
        run((3, ROOT), (7, 3), (5, 9), (9, 3)),
    ]
    edges = count_edges(runs, 3)
    assert edges[0].tolist() == (7, 3, pytest.approx(2 / 3))
    assert edges[1].tolist() == (ROOT, 7, pytest.approx(2 / 3))
    parents, frequency = consensus_tree(edges, np.array([7, 3, 5]))
    assert parents.tolist() == [ROOT, 0, 1]
    np.testing.assert_allclose(frequency, [2 / 3, 2 / 3, 1 / 3])
    circle = count_edges([run((1, ROOT), (2, 1)), run((2, ROOT), (1, 2)), run((1, ROOT), (2, 1))], 3)
    parents, _ = consensus_tree(circle, np.array([1, 2]))
    assert parents.tolist() == [ROOT, 0]
    worse = np.array([(2, 1, 0.9), (1, 2, 0.8)], circle.dtype)  # nobody ever stood below the class
    parents, frequency = consensus_tree(worse, np.array([1, 2]))
    assert parents.tolist() == [1, ROOT]
    assert frequency.tolist() == [0.9, 0.0]


def test_what_stands_below_noise_goes_up_to_its_parent():
    noisy = SimpleNamespace(source=np.array([0, 0, 1, 2, 1, 2, 3, 3]))
    wanted = np.array([True, False, True, True, False, False, True, False])
    columns, parents = only(
        (np.array([0, 1, 4, 2, 3, 6]), np.array([ROOT, 0, 1, 2, 5, ROOT])), wanted, noisy
    )
    assert columns.tolist() == [0, 1, 2, 3]  # 1 stood below noise below noise below 0
    assert parents.tolist() == [ROOT, 0, 3, ROOT]


# the selector


def test_it_is_what_a_plain_loop_gives(cancer):
    X, y = cancer
    selector = StabilitySelection(
        MRMR(n_features_to_select=5), n_subsamples=10, threshold=0.5, random_state=3
    ).fit(X, y)
    layout = SampleLayout.from_class_codes(y.to_numpy(), 2)
    seeds = np.random.RandomState(3).randint(2**31 - 1, size=7)[1:]
    chosen = []
    for run in range(10):
        rows = draw(layout, 0.5, int(seeds[run // 2]), run % 2 == 1)
        chosen.append(MRMR(n_features_to_select=5).fit(X.iloc[rows], y.iloc[rows]).support_)
    np.testing.assert_array_equal(selector.supports_.toarray(), chosen)
    np.testing.assert_allclose(selector.frequencies_, np.mean(chosen, axis=0))
    np.testing.assert_array_equal(selector.support_, np.sum(chosen, axis=0) >= 5)
    assert selector.stability_ == nogueira(chosen)
    assert (np.diff(selector.selection_scores_) <= 0).all()
    np.testing.assert_allclose(selector.features_["frequency"], selector.frequencies_)
    assert set(selector.edges_["parent"]) == {ROOT}  # mRMR has no tree


def test_the_answer_does_not_depend_on_threads_or_the_kind_of_table(cancer, tmp_path):
    X, y = cancer
    X.to_parquet(tmp_path / "cancer.parquet")
    first = StabilitySelection(n_subsamples=12, fdr=0.3).fit(X, y)
    for table, n_jobs in (
        (X, 2),
        (X.to_numpy(), 1),
        (pl.from_pandas(X), 1),
        (sparse.csr_array(X.to_numpy()), 2),
        (ParquetColumns(tmp_path / "cancer.parquet"), 1),
    ):
        again = StabilitySelection(n_subsamples=12, fdr=0.3, n_jobs=n_jobs).fit(table, y)
        np.testing.assert_array_equal(again.frequencies_, first.frequencies_)
        np.testing.assert_array_equal(again.noise_frequencies_, first.noise_frequencies_)
        np.testing.assert_array_equal(again.network_.parents, first.network_.parents)
        np.testing.assert_array_equal(again.edges_, first.edges_)
    other = StabilitySelection(n_subsamples=12, random_state=1).fit(X, y)
    assert not np.array_equal(other.frequencies_, first.frequencies_)


def test_the_consensus_network_is_drawn_and_classifies(cancer):
    X, y = cancer
    selector = StabilitySelection(n_subsamples=20).fit(X, y)
    network, consensus = selector.network_, selector.consensus_
    assert network.names == consensus.names
    np.testing.assert_array_equal(selector.frequencies_[network.columns], consensus.frequency)
    whole = SLFS().fit(X, y)
    kept = network.columns
    np.testing.assert_allclose(network.relevance, whole.features_["relevance"][kept])
    node = int(np.flatnonzero(network.parents != ROOT)[0])
    edge = (network.columns[network.parents[node]], network.columns[node])
    shares = {(parent, child): share for parent, child, share in selector.edges_.tolist()}
    assert consensus.edge_frequency[node] == shares[edge]
    label = f"{consensus.edge_frequency[node]:.2f}"
    assert f'[label="{label}"]' in consensus.to_dot()
    assert f"|{label}|" in consensus.to_mermaid()
    assert f"{network.names[node]} ({consensus.frequency[node]:.2f}, edge {label})" in str(consensus)
    assert selector.to_classifier().score(X, y) > 0.95
    assert BNSLFS(StabilitySelection(n_subsamples=4)).fit(X, y).score(X, y) > 0.9


def test_records_and_sentences_speak_of_subsamples(cancer):
    X, y = cancer
    selector = StabilitySelection(n_subsamples=20, n_features_to_select=3).fit(X, y)
    assert selector.n_features_ == 3
    assert selector.support_.sum() == 3
    first = selector.features_[selector.indices_[0]]
    sentence = selector.explain(first["name"])
    assert "is selected: it was selected in 20 of 20 subsamples, and it has 0.4" in sentence
    below = np.flatnonzero((selector.frequencies_ > 0) & (selector.frequencies_ < 0.6))[0]
    count = round(20 * selector.frequencies_[below])
    sentence = selector.explain(below)
    assert f"selected in {count} of 20 subsamples, fewer than the 12 required" in sentence
    beyond = np.flatnonzero(~selector.support_ & (selector.frequencies_ >= 0.6))[0]
    assert "(n_features_to_select). Evidence that" in selector.explain(beyond)
    assert set(selector.features_["role"][selector.support_]) == {"selected"}


def test_listeners_hear_of_subsamples(cancer):
    for n_jobs in (1, 2):
        calls = []
        with progress_callback(lambda done, total, calls=calls: calls.append((done, total))):
            StabilitySelection(n_subsamples=6, n_jobs=n_jobs).fit(*cancer)
        assert calls[:6] == [(done, 6) for done in range(1, 7)]


@pytest.mark.parametrize("selector", [FCBF(), Chi2(), AlphaInvesting(), SLFS(irrelevance="test")])
def test_any_selector_on_any_columns(selector):
    frame, y = mixed()
    found = StabilitySelection(selector, n_subsamples=6).fit(frame, y)
    assert {"number", "word"} <= set(found.get_feature_names_out())
    noisy = StabilitySelection(selector, n_subsamples=6, fdr=0.5).fit(frame, y)
    assert noisy.noise_frequencies_.mean() <= noisy.frequencies_.mean()
    named = StabilitySelection(SLFS(categorical_features=["word"]), n_subsamples=4).fit(frame, y)
    assert "word" in named.get_feature_names_out()


def test_a_class_of_one_sample_and_no_selection():
    random = np.random.default_rng(0)
    y = np.array([0] * 30 + [1])
    selector = StabilitySelection(n_subsamples=4).fit(random.normal(size=(31, 3)), y)
    assert selector.n_features_ == 0
    assert selector.supports_.shape == (4, 3)
    assert np.isnan(selector.stability_.value)
    assert "not defined" in str(selector.stability_)


def test_many_columns_take_little_memory():
    random = np.random.default_rng(0)
    X = sparse.random_array((60, 100_000), density=0.01, format="csr", rng=random)
    selector = StabilitySelection(MRMR(n_features_to_select=5), n_subsamples=4).fit(
        X, random.integers(0, 2, 60)
    )
    supports = selector.supports_
    assert supports.shape == (4, 100_000)
    assert supports.data.nbytes + supports.indices.nbytes + supports.indptr.nbytes < 1000


def test_tables_of_dask_are_refused_with_a_remedy():
    array = pytest.importorskip("dask.array")
    X = array.from_array(np.eye(8), chunks=(8, 4))
    with pytest.raises(TypeError, match=r"X\.compute\(\)"):
        StabilitySelection().fit(X, [0, 1] * 4)


# noise


@pytest.mark.slow
@pytest.mark.parametrize("selector", [SLFS(), MRMR(n_features_to_select=15)], ids=["SLFS", "mRMR"])
def test_the_false_discovery_rate_is_held_and_has_power(selector):
    wrong, power = [], []
    for seed in range(12):
        made = make_network_classification(
            200, n_children=15, n_descendants=5, n_noise=150, random_state=seed
        )
        X = made.data + np.random.default_rng(seed).normal(scale=0.5, size=made.data.shape)
        found = StabilitySelection(selector, n_subsamples=20, fdr=0.2, random_state=seed, n_jobs=2).fit(
            X, made.target
        )
        noise = found.support_[made.noise].sum()
        wrong.append(noise / max(1, found.n_features_))
        power.append((found.n_features_ - noise) / 20)
    assert np.mean(wrong) < 0.25  # 0.2, and what chance may add to a mean of twelve
    assert np.mean(power) > 0.5


def test_nothing_but_noise_keeps_nothing():
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 100)
    kept = [
        StabilitySelection(MRMR(n_features_to_select=10), n_subsamples=10, fdr=0.2, random_state=seed)
        .fit(random.normal(size=(100, 60)), y)
        .n_features_
        for seed in range(10)
    ]
    assert np.mean(np.array(kept) > 0) <= 0.3


def test_a_rate_that_no_threshold_holds(cancer):
    X, y = cancer
    selector = StabilitySelection(n_subsamples=4, fdr=0.01)
    with pytest.warns(UserWarning, match=r"requires at least 100 columns .* Increase fdr") as caught:
        selector.fit(X, y)
    assert "do not agree" not in str(caught[0].message)
    assert make_facts(selector)["dropped"] == str(caught[0].message)
    assert selector.threshold_ == np.inf
    assert selector.n_features_ == 0
    assert "requires at least 100 columns" in selector.explain("mean area")


def test_columns_without_information_on_all_samples_are_not_selected():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(60, 200)), np.arange(60) % 2
    X[:, 0] += 3 * y
    selector = StabilitySelection(n_subsamples=40, threshold=0.02).fit(X, y)
    often = selector.frequencies_ >= 0.02
    silent = selector.features_["relevance"] == 0
    assert (often & silent).any()
    assert not (selector.support_ & silent).any()
    column = int(np.flatnonzero(often & silent)[0])
    assert "its levels contain no information about the class" in selector.explain(column)
    assert selector.features_["reason"][column] == "no information"
    assert "Evidence that it depends on the class: overwhelming" in selector.explain(0)


def test_a_selection_of_selections_is_refused():
    with pytest.raises(TypeError, match="selector is a StabilitySelection itself"):
        StabilitySelection(StabilitySelection()).fit(np.eye(20), np.arange(20) % 2)


def test_warnings_of_subsamples_are_said_once_and_filters_stay():
    X = np.array([[f"${row},000", "ab"[row % 2]] for row in range(40)], dtype=object)
    y, before = np.arange(40) % 2, list(warnings.filters)
    with pytest.warns(UserWarning, match="look like numbers") as said:
        StabilitySelection(n_subsamples=10, n_jobs=2).fit(X, y)
    assert len(said) == 2, "the other one is about leakage"
    assert warnings.filters == before


LIMITS = []


class Watched:
    """A selector that records the memory limit of each fit."""

    def _fit_table(self, data, resources):
        LIMITS.append(resources.budget.limit)
        super()._fit_table(data, resources)


class WatchedSLFS(Watched, SLFS):
    pass


class WatchedStability(Watched, StabilitySelection):
    pass


def test_the_memory_limit_of_the_selector_applies_to_all():
    random = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = random.normal(size=(80, 10)) + y[:, np.newaxis]
    free = StabilitySelection(n_subsamples=10).fit(X, y)
    LIMITS.clear()
    held = WatchedStability(WatchedSLFS(memory_limit="8GiB"), n_subsamples=10, n_jobs=2).fit(X, y)
    assert LIMITS == [8 << 30] * 11
    np.testing.assert_array_equal(held.frequencies_, free.frequencies_)


def test_reasons_of_the_inner_selector_are_explained_with_its_parameters():
    random = np.random.default_rng(0)
    y = np.repeat([0, 1], 60)
    X = random.normal(size=(120, 12)) + y[:, np.newaxis] * np.linspace(2, 0.4, 12)
    selector = StabilitySelection(SLFS(irrelevance="test", fdr=1e-9), n_subsamples=4).fit(X, y)
    columns = np.flatnonzero(selector.features_["reason"] == "not significant")
    assert len(columns) > 0
    for column in columns:
        assert "fdr=1e-09" in selector.explain(int(column))


def test_a_column_without_levels_on_all_samples_is_explained_by_both():
    """MDLP cuts it in many subsamples, but not in the whole table, so that it has no place in a tree."""
    random = np.random.default_rng(20)
    y = np.repeat(["a", "b"], 30)
    X = random.normal(size=(60, 60))
    X[:, :10] += 0.75 * (y == "b")[:, np.newaxis]
    inner = MRMR(n_features_to_select=8)
    selector = StabilitySelection(inner, n_subsamples=50, threshold=0.3, random_state=0).fit(X, y)
    assert selector.frequencies_[1] > 0.3
    assert "contain no information about the class on all samples together, although" in (
        selector.explain(1)
    )
    assert "selected in 23 of 50 subsamples" in selector.explain(1)
