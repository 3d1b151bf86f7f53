"""Pairs of columns that tell more about the class together than alone."""

import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2
from sklearn.datasets import load_iris
from typer.testing import CliRunner

from slfs import SLFS, InteractionSelector, interactions, progress_callback
from slfs._core.threads import Threads
from slfs.cli.commands import app
from slfs.counting.backend import use_backend
from slfs.counting.numba_backend import NumbaBackend
from slfs.counting.numpy_backend import NumpyBackend
from slfs.counting.pairs import PairScreen
from slfs.evaluation import assess
from slfs.measures.contingency import log_factorials
from slfs.measures.interactions import (
    classes_by_interaction,
    exact_p_values,
    interaction_of_groups,
    interaction_p_values,
    pair_screen,
)
from slfs.report import make_facts, write_report
from slfs.saving import load, save
from slfs.screening import pair_levels
from slfs.screening import pairs as pairs_module
from slfs.screening.few_levels import _merge_intervals, _pool_rare
from tests import naive
from tests.helpers import pack_codes


@st.composite
def tables(draw, n_classes=None, levels=None):
    """Tables of classes and levels with small and large counts, and often empty cells."""
    n_classes = n_classes or draw(st.integers(2, 3))
    shape = levels or draw(st.tuples(st.integers(2, 3), st.integers(2, 4)))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    mean = draw(st.sampled_from([0.7, 3.0, 40.0]))
    table = random.poisson(mean * random.random((n_classes, *shape)))
    table[0, 0, 0] += 1
    return table


@given(tables())
@settings(max_examples=20)
def test_statistic_is_that_of_the_reference(table):
    freedom = np.array([(table.shape[1] - 1) * (table.shape[2] - 1) * (table.shape[0] - 1)])
    statistic, p_value = interaction_p_values(table[np.newaxis], freedom)
    expected = min(naive.interaction(table.tolist()))
    # fits on the boundary converge slowly
    assert statistic[0] == pytest.approx(expected, rel=1e-3, abs=0.02)
    if freedom[0] > 1:
        assert p_value[0] == pytest.approx(max(chi2.sf(statistic[0], freedom[0]), 2.3e-308))


@given(tables(levels=(4, 3)), st.permutations([0, 0, 1, 1]), st.permutations([0, 1, 1]))
@settings(max_examples=10)
def test_interactions_of_groups_are_those_of_the_reference(table, group_f, group_k):
    found = np.empty(1)
    interaction_of_groups(table.astype(np.int64), np.array(group_f), np.array(group_k), found)
    expected = naive.interaction_of_groups(table.tolist(), group_f, group_k, rounds=1000)
    assert found[0] == pytest.approx(expected, rel=0.01, abs=0.05)  # fits on the boundary


@given(tables(n_classes=2, levels=(2, 2)))
def test_exact_p_value_is_that_of_the_reference(table):
    found = np.empty(1)
    exact_p_values(table[np.newaxis], log_factorials(int(table.sum())), found)
    assert found[0] == pytest.approx(naive.exact_interaction(table.tolist()), rel=1e-6)


def test_exact_p_value_of_many_samples_is_close_to_chi2():
    table = np.array([[[25_300, 24_700], [24_800, 25_200]], [[25_000, 25_000], [25_100, 24_900]]])
    statistic, p_value = interaction_p_values(table[np.newaxis], np.array([1]))
    assert p_value[0] == pytest.approx(chi2.sf(statistic[0], 1), rel=0.05)


@given(seed=st.integers(0, 2**32 - 1), main=st.sampled_from([0.0, 2.0]), n_classes=st.integers(2, 3))
def test_screen_misses_no_pair(seed, main, n_classes):
    random = np.random.default_rng(seed)
    y = random.integers(0, n_classes, 150)
    y[:n_classes] = np.arange(n_classes)
    shift = main * random.normal(size=(6, n_classes))[:, y]
    codes = np.clip(np.round(random.normal(size=(6, 150)) + shift + 1), 0, 2).astype(int)
    codes[:, :3] = [0, 1, 2]
    backend = NumpyBackend(pack_codes(codes, y), Threads(1))
    every = np.arange(6)
    all_pairs = np.array([(f, k) for f in every for k in every if f < k])
    freedom = np.full(len(all_pairs), 4 * (n_classes - 1))
    _, p_value = interaction_p_values(backend.pair_tables(all_pairs), freedom)
    for limit in (0.5, 0.1, 0.01):
        passed = backend.screen_pairs(every, every, pair_screen(backend, limit), ordered=True)
        assert set(map(tuple, all_pairs[p_value <= limit].tolist())) <= set(map(tuple, passed.tolist()))
        _, again = interaction_p_values(backend.pair_tables(all_pairs), freedom, limit)
        np.testing.assert_array_equal(again[p_value <= limit], p_value[p_value <= limit])


@pytest.mark.parametrize("n_samples", [500, 1500, 4000])
def test_small_and_large_counts_have_the_same_scores(n_samples):
    """Counts below 256 in two classes are looked up at once."""
    random = np.random.default_rng(0)
    y = random.integers(0, 2, n_samples)
    codes = np.stack([random.choice(3, n_samples, p=p) for p in ([0.4, 0.3, 0.3], [0.8, 0.1, 0.1])] * 3)
    packed = pack_codes(codes, y)
    fast, reference = NumbaBackend(packed, Threads(1)), NumpyBackend(packed, Threads(1))
    sums = reference.block_sums(np.arange(6), np.arange(6))
    scores = sums[:, :, 1] - sums[:, :, 0]
    none = np.zeros(6, np.int64)
    for score in np.unique(scores):  # each is the limit once: equality passes, one more does not
        for limit in (score, score + 1):
            screen = PairScreen(none, none, np.full(5, limit))
            found = fast.screen_pairs(np.arange(6), np.arange(6), screen, ordered=False)
            assert sorted(map(tuple, found.tolist())) == list(
                zip(*np.nonzero(scores >= limit), strict=True)
            )


@given(st.lists(st.integers(0, 60), min_size=2, max_size=6), st.integers(2, 4), st.integers(1, 30))
def test_intervals_are_merged_evenly(sizes, most, least):
    counts = np.array([sizes])
    group = _merge_intervals(counts, np.array([-1]), most, least)[0]
    assert (np.diff(group) >= 0).all()
    merged = np.bincount(group, weights=sizes)
    assert len(merged) <= most
    assert len(merged) == 1 or merged.min() >= least
    assert (merged**2).sum() == naive.most_even(sizes, most, least)


def test_missing_values_are_a_level_if_they_are_frequent():
    counts = np.array([[30, 30, 30, 30, 40], [30, 30, 30, 30, 5]])
    group = _merge_intervals(counts, np.array([4, 4]), 3, 20)
    assert group[0].tolist() == [0, 0, 1, 1, 2]
    assert group[1, 4] == group[1, counts[1].argmax()]


@given(st.lists(st.integers(0, 60), min_size=2, max_size=8), st.integers(2, 4), st.integers(1, 30))
def test_rare_categories_are_pooled(sizes, most, least):
    group = _pool_rare(np.array([sizes]), most, least)[0]
    kept = [level for level in range(len(sizes)) if (group == group[level]).sum() == 1]
    assert sorted(kept, key=lambda level: group[level]) == kept
    merged = np.bincount(group, weights=sizes)
    assert len(merged) <= most
    assert len(merged) == 1 or merged.min() >= least


def xor_table(seed, n_samples=300, n_columns=40):
    random = np.random.default_rng(seed)
    X = pd.DataFrame(random.normal(size=(n_samples, n_columns))).add_prefix("c")
    X["kind"] = random.choice(["a", "b", "c"], n_samples)
    y = pd.Series((X["c3"] > 0) ^ (X["c7"] > 0), name="both").map({True: "yes", False: "no"})
    return X, y


def test_xor_is_found():
    X, y = xor_table(0)
    found = interactions(X, y)
    assert found.n_significant == 1
    assert found.n_tested == 41 * 40 // 2
    best = found.pairs[0]
    assert (best.first, best.second, best.first_index, best.second_index) == ("c3", "c7", 3, 7)
    assert best.degrees_of_freedom == 4
    table = found.tables[0]
    assert table.counts.sum() == len(y)
    f = pd.qcut(X["c3"], 3, labels=False).tolist()
    k = pd.qcut(X["c7"], 3, labels=False).tolist()
    expected = naive.joint_counts(f, k, (y == "yes").astype(int).tolist(), (2, 3, 3))
    np.testing.assert_array_equal(np.moveaxis(table.counts, 2, 0), expected)
    together = naive.mutual_information(list(zip(f, k, strict=True)), y.tolist())
    alone = naive.mutual_information(f, y.tolist()), naive.mutual_information(k, y.tolist())
    assert best.joint_information == pytest.approx(together)
    assert best.synergy == pytest.approx(together - sum(alone))
    assert best.q_value == pytest.approx(best.p_value * found.n_tested)


@pytest.mark.parametrize("seed", range(8))
def test_xor_among_2000_columns(seed):
    random = np.random.default_rng(seed)
    X = random.integers(0, 2, (500, 2002))
    found = interactions(X, X[:, 1700] ^ X[:, 90])
    significant = found.pairs[: found.n_significant]
    assert (significant[0].first_index, significant[0].second_index) == (90, 1700)
    assert found.n_significant <= 2


def test_main_effects_are_not_interactions():
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 2000)
    X = random.normal(size=(2000, 60)) + np.outer(y, random.normal(size=60))
    found = interactions(X, y)
    assert found.n_significant == 0
    assert found.pairs.p_value.min() > 1e-5
    assert found.pairs.first_relevance.max() > 0.1


def test_noise_reaches_p_values_as_often_as_it_should():
    random = np.random.default_rng(0)
    y = (np.arange(200) < 60).astype(int)
    X = random.normal(size=(200, 300))
    p_value = interactions(X, y, n_top=10**6).pairs.p_value
    assert 0.5e-2 < (p_value <= 1e-2).sum() / (300 * 299 / 2) < 1.2e-2


def test_sets_of_columns():
    X, y = xor_table(1, n_columns=10)
    every = interactions(X, y, n_top=1000)
    p_value = {(row.first, row.second): row.p_value for row in every.pairs}
    assert len(p_value) == 55
    some = interactions(X, y, columns=["c1", "c3", "c4"], partners=["c3", "c4", "kind"], n_top=1000)
    names = {("c1", "c3"), ("c1", "c4"), ("c1", "kind"), ("c3", "c4"), ("c3", "kind"), ("c4", "kind")}
    assert {(row.first, row.second) for row in some.pairs} == names
    assert some.n_tested == len(names)
    assert all(row.p_value == p_value[row.first, row.second] for row in some.pairs)
    for one in (["c7"], "c7", [7], np.arange(11) == 7):
        alone = interactions(X, y, partners=one)
        assert alone.n_tested == 10
        assert all("c7" in (row.first, row.second) for row in alone.pairs)
    assert interactions(X, y, columns=(np.arange(11) < 4).tolist()).n_tested == 6
    with pytest.raises(ValueError, match=r"'columns' names columns.*'c33'.*Did you mean 'c3'"):
        interactions(X, y, columns=["c33"])
    with pytest.raises(ValueError, match=r"mask 'partners' has shape \(3,\); expected \(11,\)"):
        interactions(X, y, partners=[True, False, True])


def test_result_depends_on_neither_threads_nor_blocks_nor_backend(monkeypatch):
    X, y = xor_table(2, n_columns=30)
    expected = interactions(X, y, n_top=1000).to_dict()
    assert interactions(X, y, n_top=1000, n_jobs=2).to_dict() == expected
    assert interactions(X, y, n_top=1000, memory_limit="8GiB").to_dict() == expected
    with use_backend("numpy"):
        assert interactions(X, y, n_top=1000).to_dict() == expected
    monkeypatch.setattr("slfs.counting.numba_backend.NumbaBackend.PAIR_BLOCK", (3, 5))
    assert interactions(X, y, n_top=1000, n_jobs=2).to_dict() == expected
    shuffled = np.random.default_rng(0).permutation(len(y))
    assert interactions(X.iloc[shuffled], y.iloc[shuffled], n_top=1000).to_dict() == expected


def test_only_the_best_pairs_are_kept(monkeypatch):
    X, y = xor_table(3, n_columns=30)
    monkeypatch.setattr("slfs.evaluation.pairs.retest_pairs", lambda found, *_: found)
    every = interactions(X, y, n_top=1000).pairs
    monkeypatch.setattr(pairs_module, "MOST_KEPT", 20)
    monkeypatch.setattr("slfs.counting.numba_backend.NumbaBackend.PAIR_BLOCK", (3, 5))
    few = interactions(X, y, n_top=1000).pairs
    assert few.p_value.tolist() == every.p_value[:20].tolist()
    monkeypatch.setattr(pairs_module, "_EXPECTED", 1)
    fewer = interactions(X, y, n_top=1000).pairs
    assert 1 <= len(fewer) < 20
    assert fewer.p_value.tolist() == every.p_value[: len(fewer)].tolist()


@pytest.mark.parametrize("block", [(3, 5), (64, 1024), (7, 2)])
def test_blocks_cover_each_pair_once(block):
    columns, partners = np.array([0, 2, 3, 5, 8, 9]), np.array([1, 3, 4, 5, 9, 10, 11])
    parts = pairs_module.rectangles(columns, partners)
    tasks = list(pairs_module._tasks(parts, *block))
    assert len(tasks) == sum(pairs_module._n_tasks(part, *block) for part in parts)
    found = [
        tuple(sorted((f, k)))
        for task in tasks
        for f in task.left.tolist()
        for k in task.right.tolist()
        if not task.ordered or f < k
    ]
    wanted = {tuple(sorted((f, k))) for f in columns.tolist() for k in partners.tolist() if f != k}
    assert sorted(found) == sorted(wanted)
    assert len(found) == sum(part.n_pairs for part in parts)


def test_few_tables_are_counted_at_once(monkeypatch):
    X, y = xor_table(2, n_columns=30)
    expected = interactions(X, y, n_top=1000).to_dict()
    sizes, whole = [], NumbaBackend.pair_tables

    def pair_tables(backend, pairs):
        sizes.append(len(pairs))
        return whole(backend, pairs)

    monkeypatch.setattr(NumbaBackend, "pair_tables", pair_tables)
    monkeypatch.setattr(pairs_module, "_MOST_CELLS", 100 * 2 * 3 * 3)
    assert interactions(X, y, n_top=50).to_dict()["pairs"] == expected["pairs"][:50]
    assert max(sizes) == 100


class StoppedError(Exception):
    pass


def test_a_scan_can_be_continued(tmp_path, monkeypatch):
    X, y = xor_table(4, n_columns=30)
    expected = interactions(X, y, n_top=1000).to_dict()
    monkeypatch.setattr("slfs.counting.numba_backend.NumbaBackend.PAIR_BLOCK", (4, 8))
    monkeypatch.setattr(pairs_module, "_SAVE_SECONDS", 0.0)
    state, seen = tmp_path / "state.npz", []

    def stop(done, total):
        seen.append(done)
        if done == total // 2:
            raise StoppedError

    with progress_callback(stop), pytest.raises(StoppedError):
        interactions(X, y, n_top=1000, checkpoint=state)
    assert state.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["state.npz"]
    with pytest.raises(ValueError, match="belongs to a scan of other data"):
        interactions(X, y, n_top=1000, columns=["c1", "c2"], checkpoint=state)
    tested = []
    monkeypatch.setattr(pairs_module, "_test", lambda *given: tested.append(1) or original(*given))
    assert interactions(X, y, n_top=1000, checkpoint=state).to_dict() == expected
    assert len(tested) < 2 * len(seen)
    assert not state.exists()
    state.write_text("something else")
    with pytest.raises(ValueError, match="is not the state of an unfinished scan"):
        interactions(X, y, checkpoint=state)
    array = tmp_path / "array.npy"
    np.save(array, np.arange(3))
    with pytest.raises(ValueError, match="is not the state of an unfinished scan"):
        interactions(X, y, checkpoint=array)
    for wrong in (tmp_path, tmp_path / "missing" / "state.npz"):
        with pytest.raises(ValueError, match=r"checkpoint=.*cannot be written"):
            interactions(X, y, checkpoint=wrong)


original = pairs_module._test


def test_columns_with_one_level_have_no_pairs():
    X = pd.DataFrame({"a": [1, 2] * 50, "b": [3.0] * 100, "c": [1.0] + [2.0] * 99})
    with pytest.warns(UserWarning, match="one level is left of 'b', 'c'"):
        found = interactions(X, [0, 0, 1, 1] * 25)
    assert found.n_tested == 0
    assert len(found.pairs) == len(found.tables) == 0
    assert "0 of 0 pairs are significant" in repr(found)


def test_missing_values_and_categories():
    random = np.random.default_rng(5)
    missing, kind = random.random(400) < 0.4, random.choice(["u", "v"], 400)
    X = pd.DataFrame({"a": np.where(missing, np.nan, random.normal(size=400)), "b": kind})
    X["c"] = random.choice(list("uvwxyz"), 400, p=[0.4, 0.4, 0.05, 0.05, 0.05, 0.05])
    found = interactions(X, missing ^ (kind == "u"))
    assert found.n_significant == 1
    table = found.tables[0]
    assert (table.first, table.second) == ("a", "b")
    assert table.first_levels[-1] == "missing"
    assert len(table.first_levels) == 3
    names = next(table.second_levels for table in found.tables if table.second == "c")
    assert names == ["u", "v", "w, x, y, z"]


def test_the_result_is_shown_and_converted():
    X, y = xor_table(6, n_columns=9)
    found = interactions(X, y, n_top=3)
    assert repr(found).splitlines()[0] == "1 of 45 pairs is significant (false discovery rate 0.05)"
    assert len(repr(found).splitlines()) == 5
    assert found.to_frame()["first"].tolist() == found.pairs["first"].tolist()
    assert json.loads(json.dumps(found.to_dict()))["pairs"][0]["second"] == "c7"


def test_names_of_intervals_contain_the_values_that_were_counted():
    """A tercile was called "≤ 0.17763", but 101 of its samples had the value 0.177630198."""
    a = np.repeat([0.11, 0.177630198, 0.1776302, 0.3], [66, 101, 20, 63])
    b = np.random.default_rng(0).normal(size=250)
    (table,) = interactions(np.column_stack([a, b]), (a > 0.2) ^ (b > 0)).tables
    assert table.first_levels[-1] == "> 0.177630199"
    for values, levels, other in ((a, table.first_levels, 1), (b, table.second_levels, 0)):
        highest = float(levels[-1].removeprefix("> "))
        assert (values > highest).sum() == table.counts.sum(axis=(other, 2))[-1]


def test_selector_finds_xor_and_main_effects():
    X, y = xor_table(7, n_samples=600, n_columns=30)
    X["own"] = np.where(np.random.default_rng(0).random(600) < 0.8, y == "yes", y != "yes") * 1.0
    selector = InteractionSelector().fit(X, y)
    assert sorted(X.columns[selector.indices_]) == ["c3", "c7", "own"]
    assert selector.pairs_[["first", "second"]].tolist() == [(3, 7)]
    assert "Together with 'c7' it has" in selector.explain("c3")
    assert "more than both on their own" in selector.explain("c7")
    assert "Together" not in selector.explain("own")
    parent = dict(zip(selector.network_.names, selector.network_.parents, strict=True))
    assert parent["c7"] >= 0 or parent["c3"] >= 0
    assert selector.to_classifier().score(X, y) > 0.85
    assert SLFS().fit(X, y).get_feature_names_out().tolist() == ["own"]


def test_pairs_are_selected_as_a_whole():
    X, y = xor_table(7, n_samples=600, n_columns=30)
    X["own"] = (y == "yes") ^ (np.arange(600) % 4 == 0)
    for number, expected in ((1, ["own"]), (2, ["c3", "c7"]), (3, ["c3", "c7", "own"])):
        selector = InteractionSelector(n_features_to_select=number).fit(X, y)
        assert sorted(X.columns[selector.indices_]) == expected
    selector = InteractionSelector(n_features_to_select=1).fit(X, y)
    assert "n_features_to_select leaves no room for it" in selector.explain("c3")
    alone = InteractionSelector(n_features_to_select=1).fit(X.drop(columns="own"), y)
    assert alone.get_feature_names_out().tolist() == ["c3"]


def test_a_column_that_matters_by_its_missing_values_is_explained():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.choice([1.0, np.nan], 400), "b": rng.integers(0, 2, 400)})
    y = X["a"].isna() ^ (X["b"] == 1)
    assert "Only whether its value is missing is used. Together with 'b'" in InteractionSelector().fit(
        X, y
    ).explain("a")


def test_pairs_are_tested_without_weights_that_are_not_whole_numbers():
    X, y = xor_table(12)
    y[:60] = "yes"
    expected = InteractionSelector().fit(X, y)
    weighted = InteractionSelector(class_weight={"yes": 0.37}).fit(X, y)
    assert weighted.pairs_.tolist() == expected.pairs_.tolist()
    assert weighted.selection_scores_.tolist() != expected.selection_scores_.tolist()


def test_weights_that_pairs_do_not_use_are_warned_about():
    X, y = xor_table(12)
    weights = np.where(y == "yes", 0.5, 1.5)
    with pytest.warns(UserWarning, match="do not use sample_weight, which are not whole numbers"):
        found = interactions(X, y, sample_weight=weights)
    expected = interactions(X, y)
    assert found.to_dict() == expected.to_dict()
    assert interactions(X, y, sample_weight=2 * weights).n_tested == expected.n_tested


def test_selector_is_saved_and_reduced(tmp_path):
    X, y = xor_table(8)
    selector = InteractionSelector().fit(X, y)
    save(selector, tmp_path / "model.slfs")
    loaded = load(tmp_path / "model.slfs")
    assert loaded.pairs_.tolist() == selector.pairs_.tolist()
    assert loaded.explain("c3") == selector.explain("c3")
    copy = selector._take_columns(np.array([3, 7, 9]))
    assert copy.pairs_[["first", "second"]].tolist() == [(0, 1)]
    assert len(assess(selector, X, y)) == X.shape[1]


def test_selector_without_anything_to_find():
    X = np.random.default_rng(9).normal(size=(100, 5))
    with pytest.warns(UserWarning, match="selected 0 of 5 columns"):
        selector = InteractionSelector().fit(X, np.arange(100) % 2)
    assert len(selector.pairs_) == 0


def test_report_shows_the_pairs(tmp_path):
    X, y = xor_table(10)
    selector = InteractionSelector().fit(X, y)
    pair = make_facts(selector)["pairs"][0]
    names = [selector.network_.names[pair[end]] for end in ("first", "second")]
    assert sorted(names) == ["c3", "c7"]
    levels = [pd.qcut(X[name], 3, labels=False) for name in names]
    expected = naive.joint_counts(*map(list, levels), list((y == "yes").astype(int)), (2, 3, 3))
    np.testing.assert_array_equal(np.moveaxis(pair["counts"], 2, 0), expected)
    assert pair["synergy"] == pytest.approx(interactions(X, y).pairs[0].synergy, abs=1e-4)
    assert make_facts(SLFS(n_features_to_select=1).fit(*load_iris(return_X_y=True)))["pairs"] == []
    write_report(selector, tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert "Pairs of columns that interact" in text
    assert "Shown are pairs that are edges of the tree" in text
    assert "nats of information about the ${facts.noun}" in text


def test_report_counts_samples_not_copies():
    X, y = xor_table(10)
    weights = np.random.default_rng(0).uniform(0.5, 1.5, len(y))
    facts = make_facts(InteractionSelector().fit(X, y, sample_weight=weights))
    counts, node = np.array(facts["pairs"][0]["counts"]), facts["nodes"][facts["pairs"][0]["first"]]
    np.testing.assert_allclose(counts.sum(axis=1), node["counts"], atol=2)
    assert 250 < counts.sum() < 300


def run_cli(*arguments):
    return CliRunner().invoke(app, ["interactions", *map(str, arguments)])


def test_command_line(tmp_path):
    X, y = xor_table(11, n_columns=10)
    data, out = tmp_path / "data.csv", tmp_path / "pairs.csv"
    X.assign(both=y).to_csv(data, index=False)
    shown = run_cli(data, "-t", "both", "--top", 2, "--out", out, "--resume", tmp_path / "state.npz")
    assert shown.exit_code == 0
    assert "1 of 55 pairs is significant" in shown.output
    assert "Share of yes (samples) by c3 (rows) and c7" in shown.output
    assert pd.read_csv(out)["first"].tolist()[0] == "c3"
    found = json.loads(run_cli(data, "-t", "both", "--with", "c7", "--columns", "c3", "--json").output)
    assert (found["n_tested"], found["pairs"][0]["second"], found["target"]) == (1, "c7", "both")
    on_any = json.loads(run_cli(data, "-t", "both", "--device", "auto", "--json").output)
    assert on_any["pairs"][0]["first"] == "c3"
    assert "'gpu' is not a device" in run_cli(data, "-t", "both", "--device", "gpu").output
    wrong = run_cli(data, "-t", "both", "--with", "c77")
    assert "has no column 'c77'" in str(wrong.exception)


def effects_of_merged_levels(random, kind):
    """Two columns that depend on each other and have effects on the class, but do not interact."""
    if kind == "categories":
        f = random.choice(5, 2000, p=[0.3, 0.2, 0.2, 0.15, 0.15])
        k = (random.random(2000) < np.array([0.3, 0.4, 0.7, 0.4, 0.9])[f]).astype(int)
        logit = np.array([0.0, 0.5, 1.5, -1.5, 2.0])[f] + 0.2 * k
        X = pd.DataFrame({"f": np.array(list("abcde"))[f], "k": k.astype(str)})
    else:
        f = random.normal(size=2000)
        k = 0.8 * f + 0.6 * random.normal(size=2000)
        logit, X = 2 * (f + k), pd.DataFrame({"f": f, "k": k})
    return X, (random.random(2000) < 1 / (1 + np.exp(-logit))).astype(int)


@pytest.mark.parametrize("kind", ["categories", "numbers"])
def test_effects_of_merged_levels_are_not_an_interaction(kind):
    """Of categories 95% of such pairs had a p-value of at most 0.05, of numbers 23%."""
    random = np.random.default_rng(0)
    p_value = [interactions(*effects_of_merged_levels(random, kind)).pairs.p_value[0] for _ in range(60)]
    assert np.mean(np.array(p_value) <= 0.05) <= 0.1
    X, _ = effects_of_merged_levels(random, kind)
    half = X["f"].isin(["a", "b"]) if kind == "categories" else X["f"] > 0
    y = half ^ (X["k"].astype(float) > 0) ^ (random.random(2000) < 0.2)
    found = interactions(X, y)
    assert found.n_significant == 1
    np.testing.assert_array_equal(InteractionSelector().fit(X, y).pairs_["p_value"], found.pairs.p_value)


def test_pairs_are_tested_again_in_parts_with_the_same_result(monkeypatch):
    X, y = xor_table(3, n_columns=12)
    every = interactions(X, y, n_top=100).pairs
    monkeypatch.setattr(pair_levels, "_BYTES", 3 * len(y))
    np.testing.assert_array_equal(interactions(X, y, n_top=100).pairs, every)


def test_the_class_that_interacts_is_shown(tmp_path):
    """A rare third class says nothing about the pair: its share was shown because it is the last."""
    X, y = xor_table(12, n_samples=600, n_columns=10)
    y = y.mask(np.random.default_rng(0).random(len(y)) < 0.05, "zzz")
    X.assign(both=y).to_csv(tmp_path / "data.csv", index=False)
    shown = run_cli(tmp_path / "data.csv", "-t", "both").output
    assert "by c3 (rows) and c7, the class with the largest interaction:" in shown
    assert "Share of zzz" not in shown
    facts = make_facts(InteractionSelector().fit(X, y))
    assert facts["pairs"][0]["classes"][-1] == facts["classes"].index("zzz")
    evidence = {node["name"]: (node["evidence"], node["pair_evidence"]) for node in facts["nodes"]}
    assert evidence == {"c3": ("none", "overwhelming"), "c7": ("none", "overwhelming")}


@given(tables(n_classes=3))
@settings(max_examples=15)
def test_classes_are_sorted_by_the_interaction_of_their_share(table):
    order = classes_by_interaction(np.moveaxis(table, 0, 2))
    rest = [np.stack([own, table.sum(axis=0) - own]) for own in table]
    statistic = [min(naive.interaction(rest[c].tolist())) for c in order]
    assert sorted(order.tolist()) == [0, 1, 2]
    assert statistic == pytest.approx(sorted(statistic, reverse=True), rel=1e-3, abs=0.02)


def test_command_line_with_weights(tmp_path):
    X, y = xor_table(11, n_columns=10)
    weights = np.arange(len(y)) % 3
    table = X.assign(both=y, times=weights)
    table.to_csv(tmp_path / "a.csv", index=False)
    table.loc[np.repeat(table.index, weights)].to_csv(tmp_path / "b.csv", index=False)
    weighted = run_cli(tmp_path / "a.csv", "-t", "both", "--weights", "times", "--json").stdout
    repeated = run_cli(tmp_path / "b.csv", "-t", "both", "--drop", "times", "--json").stdout
    found, expected = json.loads(weighted), json.loads(repeated)
    assert found.pop("data") != expected.pop("data")
    assert found == expected


def test_command_line_says_that_more_pairs_are_significant(tmp_path):
    """--top was said to show this number of pairs "in any case"."""
    X, y = xor_table(11, n_columns=10)
    X.assign(again=X["c3"], both=y).to_csv(tmp_path / "a.csv", index=False)
    shown = run_cli(tmp_path / "a.csv", "-t", "both", "--top", 1).output
    assert "2 of 66 pairs are significant" in shown
    assert "\n1 more pair is significant: --top shows more, --out and --json have all." in shown
    assert "more pair" not in run_cli(tmp_path / "a.csv", "-t", "both", "--top", 2).output


@pytest.mark.skipif("SLFS_DATA" not in os.environ, reason="SLFS_DATA is not set")
def test_informative_columns_of_madelon_are_found():
    with np.load(Path(os.environ["SLFS_DATA"]) / "madelon.npz", allow_pickle=False) as data:
        X, y = data["X"], data["y"]
    informative = {28, 48, 64, 105, 128, 153, 241, 281, 318, 336, 338, 378, 433, 442, 451, 453}
    informative |= {455, 472, 475, 493}
    selector = InteractionSelector().fit(X, y)
    assert informative <= set(selector.indices_.tolist())
    assert selector.n_features_ <= 28


def test_missing_values_that_join_an_interval_are_named():
    random = np.random.default_rng(0)
    a, b = random.normal(size=(2, 600))
    y = (a > 0) ^ (b > 0)
    a[:12] = np.nan
    found = interactions(pd.DataFrame({"a": a, "b": b}), y)
    table = found.tables[0]
    assert sum(name.endswith(" or missing") for name in table.first_levels) == 1
    assert not any("missing" in name for name in table.second_levels)
