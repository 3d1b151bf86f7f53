"""Significance: permutation tests, false discovery rates, streams, and sentences."""

import contextlib
import itertools
import json
import math
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import false_discovery_control, kruskal
from sklearn.datasets import load_breast_cancer

from slfs import MRMR, SLFS, make_network_classification
from slfs.evaluation import significance
from slfs.evaluation.significance import assess, p_values
from slfs.measures.false_discovery import LordPlusPlus, q_values
from slfs.selectors._shared.wording import evidence, grade, percent
from tests.test_contingency import naive_p_value
from tests.test_ranks import rank_p_value

seeds = st.integers(0, 2**32 - 1)


def naive_levels(column):
    """Quartile of the middle sample with the same value; missing values are the fifth level."""
    known = column[~np.isnan(column)]
    levels = []
    for value in column:
        smaller, equal = int((known < value).sum()), int((known == value).sum())
        levels.append(4 if np.isnan(value) else (2 * smaller + equal) * 4 // (2 * len(known)))
    return np.array(levels)


def naive_intervals(column):
    """Interval of the middle sample with the same value; missing values are the seventh level."""
    known = column[~np.isnan(column)]
    levels = []
    for value in column:
        middle = (2 * int((known < value).sum()) + int((known == value).sum())) / (2 * len(known))
        starts = sum(middle * 20 >= start for start in (2, 5, 10, 15, 18))
        levels.append(6 if np.isnan(value) else starts)
    return np.array(levels)


def table_of(levels, y):
    table = np.zeros((levels.max() + 1, y.max() + 1), int)
    np.add.at(table, (levels, y), 1)
    return table


def naive_g(levels, y):
    table = table_of(levels, y)
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / len(y)
    return sum(n * math.log(n / e) for n, e in zip(table.flat, expected.flat, strict=True) if n)


def mixed_table(seed, n_samples=90):
    """Numbers, numbers with ties and missing values, whole numbers, a rare one, words; three classes."""
    random = np.random.default_rng(seed)
    y = np.append([0, 1, 2], random.integers(0, 3, n_samples - 3))
    known = (y + random.normal(size=n_samples)).round()
    missing = np.where(random.random(n_samples) < 0.2, np.nan, known)
    return pd.DataFrame(
        {
            "number": random.normal(size=n_samples) + 0.3 * y,
            "missing": missing,
            "whole": random.integers(0, 6, n_samples),
            "rare": (random.random(n_samples) < 0.05).astype(int),
            "word": random.choice(["a", "b", "c", "d"], n_samples),
        }
    ), y


@given(seeds)
@settings(max_examples=20)
def test_p_values_are_those_of_ranks_and_levels(seed):
    X, y = mixed_table(seed)
    expected = []
    for name in X.columns[:4]:
        column = X[name].to_numpy(float)
        by_table, by_rank = naive_p_value(table_of(naive_intervals(column), y)), rank_p_value(column, y)
        both = min(1, by_rank / 0.75, by_table / 0.25)
        expected.append(by_table if math.isnan(by_rank) else both)
    expected.append(naive_p_value(table_of(pd.factorize(X["word"])[0], y)))
    np.testing.assert_allclose(p_values(X, y), expected, rtol=1e-8)
    np.testing.assert_array_equal(SLFS().fit(X, y).features_["p_value"], p_values(X, y))
    np.testing.assert_array_equal(
        MRMR(n_features_to_select=1).fit(X, y).features_["p_value"], p_values(X, y)
    )


def test_permutations_approach_the_count_of_all_of_them(monkeypatch):
    monkeypatch.setattr(significance, "ENOUGH", 10**9)
    random = np.random.default_rng(0)
    X, y = random.integers(0, 3, (9, 4)), np.array([0, 0, 0, 1, 1, 1, 1, 2, 2])
    everything = np.array(sorted(set(itertools.permutations(y.tolist()))))
    found = p_values(X, y, n_permutations=20_000, categorical_features="all")
    for column, p_value in zip(X.T, found, strict=True):
        own = naive_g(column, y)
        exact = np.mean([naive_g(column, labels) >= own - 1e-9 for labels in everything])
        assert p_value == pytest.approx(exact, abs=5 * math.sqrt(exact / 20_000) + 1e-4)


def test_permutations_are_valid_and_the_same_for_any_number_of_threads():
    random = np.random.default_rng(1)
    y = (random.random(60) < 0.2).astype(int)
    X = np.column_stack([random.normal(size=(60, 1500)), random.integers(0, 3, (60, 1500))])
    categorical = np.arange(3000) >= 1500
    found = p_values(X, y, n_permutations=500, categorical_features=categorical)
    assert found.min() >= 1 / 501
    assert found.max() <= 1
    for level in (0.5, 0.1, 0.02):
        assert (found <= level).mean() <= level + 3 * math.sqrt(level / 3000)
    assert (found <= 0.1).mean() > 0.05
    same = p_values(X, y, n_permutations=500, categorical_features=categorical, n_jobs=3)
    np.testing.assert_array_equal(same, found)
    other = p_values(X, y, n_permutations=500, categorical_features=categorical, random_state=1)
    assert (other != found).any()


def test_a_column_is_given_up_after_twenty_hits():
    y = np.arange(40) % 2
    constant, signal = np.zeros(40), y + 0.0
    found = p_values(np.column_stack([constant, signal]), y, n_permutations=99)
    np.testing.assert_array_equal(found, [1, 0.01])


def test_levels_beyond_what_planes_hold_are_pooled():
    random = np.random.default_rng(0)
    X, y = random.integers(0, 150, (600, 20)), random.integers(0, 90, 600)
    found = p_values(X, y, n_permutations=200, target="classification", categorical_features="all")
    assert 0.2 < np.mean(found) < 0.8


@pytest.mark.parametrize("n_permutations", [0, 400])
def test_relevance_given_the_parent(n_permutations):
    """A grandchild of the class adds no information, a second child of the class does."""
    news, nothing = [], []
    for seed in range(25):
        random = np.random.default_rng(seed)
        y = random.integers(0, 2, 300)
        top = np.where(random.random(300) < 0.8, y, random.integers(0, 3, 300))
        copy = np.where(random.random(300) < 0.7, top, random.integers(0, 3, 300))
        more = np.where(random.random(300) < 0.4, y, copy)
        for below, found in ((copy, nothing), (more, news)):
            X = np.column_stack([top, below])
            selector = SLFS(categorical_features="all", relevance_weight=0, order="given").fit(X, y)
            if selector.network_.parents.tolist() != [-1, 0] or selector.network_.columns[0] != 0:
                continue
            records = assess(selector, X, y, n_permutations=n_permutations, random_state=seed)
            found.append(records["p_given_parent"][1])
            assert math.isnan(records["p_given_parent"][0])
            assert records["p_edge"][0] == records["p_value"][0]
            assert records["p_edge"][1] < 0.01
    assert len(nothing) > 15
    assert len(news) > 10
    assert np.mean(np.array(nothing) < 0.1) < 0.3
    assert np.median(nothing) > 0.2
    assert np.median(news) < 0.01


def test_class_is_permuted_within_the_levels_of_the_parent(monkeypatch):
    monkeypatch.setattr(significance, "ENOUGH", 10**9)
    random = np.random.default_rng(5)
    y = random.integers(0, 2, 900)
    top = np.where(random.random(900) < 0.6, y, random.integers(0, 3, 900))
    below = np.where(random.random(900) < 0.3, top, random.integers(0, 2, 900) + (y > 0))
    X = np.column_stack([top, below])
    selector = SLFS(categorical_features="all", relevance_weight=0).fit(X, y)
    assert selector.network_.parents.tolist() == [-1, 0]
    parent, child = selector.network_.columns
    X, y = random.integers(0, 3, (30, 2)), random.integers(0, 2, 30)
    found = assess(selector, X, y, n_permutations=4000)[child]
    within = edge = 0
    strata = [np.flatnonzero(X[:, parent] == level) for level in range(3)]

    def conditional(labels):
        return sum(naive_g(X[rows, child], labels[rows]) for rows in strata)

    own, own_edge = conditional(y) - 1e-9, naive_g(X[:, child], X[:, parent]) - 1e-9
    for _ in range(2000):
        labels = y.copy()
        for rows in strata:
            labels[rows] = random.permutation(y[rows])
        within += conditional(labels) >= own
        edge += naive_g(X[:, child], random.permutation(X[:, parent])) >= own_edge
    assert 0.02 < within / 2000 < 0.9
    assert found["p_given_parent"] == pytest.approx(within / 2000, abs=0.04)
    assert 0.02 < edge / 2000 < 0.9
    assert found["p_edge"] == pytest.approx(edge / 2000, abs=0.04)


def test_records_of_a_selector_in_any_kind_of_table():
    dask_array = pytest.importorskip("dask.array")
    X, y = load_breast_cancer(return_X_y=True)
    selector = SLFS().fit(X[::2], y[::2])
    records = assess(selector, X[1::2], y[1::2], n_permutations=50)
    chunks = dask_array.from_array(X[1::2], chunks=(100, 7))
    for table, n_jobs in ((pd.DataFrame(X[1::2]), 2), (chunks, 1)):
        other = assess(selector, table, y[1::2], n_permutations=50, n_jobs=n_jobs)
        for field in records.dtype.names:
            np.testing.assert_array_equal(other[field], records[field])
    np.testing.assert_array_equal(records["name"], selector.features_["name"])
    np.testing.assert_allclose(records["q_value"], false_discovery_control(records["p_value"]))
    by = false_discovery_control(records["p_value"], method="by")
    np.testing.assert_allclose(records["q_value_by"], by)
    assert (np.isnan(records["p_edge"]) == ~selector.support_).all()
    plain = assess(selector, X[1::2], y[1::2])
    np.testing.assert_array_equal(plain["p_value"], p_values(X[1::2], y[1::2]))


def test_a_level_of_the_parent_may_be_all_that_is_left():
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 200)
    top = np.where(random.random(200) < 0.9, y, 1 - y)
    X = np.column_stack([top, np.where(random.random(200) < 0.9, top, 1 - top)])
    selector = SLFS(categorical_features="all", relevance_weight=0, order="given").fit(X, y)
    assert len(selector.network_) == 2
    one = X[:, selector.network_.columns[0]] == 0
    for n_permutations in (0, 50):
        records = assess(selector, X[one], y[one], n_permutations=n_permutations)
        assert records["p_edge"][selector.network_.columns[1]] == 1


@pytest.mark.parametrize(
    ("selector", "options", "error", "message"),
    [
        ("slfs", {}, TypeError, "selector must be a fitted selector of slfs.* Got str"),
        (SLFS(), {}, ValueError, "not fitted"),
        (None, {"n_permutations": -1}, ValueError, "'n_permutations' parameter of assess"),
        (None, {"columns": 3}, ValueError, "30 features"),
    ],
)
def test_wrong_calls_are_answered_with_a_remedy(selector, options, error, message):
    X, y = load_breast_cancer(return_X_y=True)
    selector = SLFS().fit(X, y) if selector is None else selector
    X = X[:, : options.pop("columns", 30)]
    with pytest.raises(error, match=message):
        assess(selector, X, y, **options)


def test_q_values_leave_out_what_has_no_p_value():
    found = q_values(np.array([0.01, np.nan, 0.04, 0.03]))
    np.testing.assert_allclose(found, [0.03, np.nan, 0.04, 0.04])
    assert np.isnan(q_values(np.array([np.nan]))).all()


def naive_lord(p_values, alpha):
    """LORD++ as in Ramdas et al., with an initial wealth of alpha / 2."""

    def share(j):
        return 0.079 * math.log(max(j, 2)) / (j * math.exp(math.sqrt(math.log(j)))) if j > 0 else 0

    found = []
    for t in range(1, len(p_values) + 1):
        times = [s + 1 for s, rejected in enumerate(found) if rejected]
        level = share(t) * alpha / 2
        level += (alpha - alpha / 2) * share(t - times[0]) if times else 0
        level += alpha * sum(share(t - s) for s in times[1:])
        found.append(p_values[t - 1] <= level)
    return found


@given(seeds, st.sets(st.integers(1, 79), max_size=5))
def test_lord_equals_the_oracle_however_the_stream_is_cut(seed, cuts):
    random = np.random.default_rng(seed)
    p_values = random.random(80) ** random.integers(1, 8)
    tests = LordPlusPlus(0.2)
    parts = np.split(p_values, sorted(cuts))
    found = np.concatenate([tests.decide(part) for part in parts])
    assert found.tolist() == naive_lord(p_values, 0.2)
    assert tests.n_seen == 80


def test_shares_of_lord_sum_to_at_most_one():
    n = np.arange(1, 10**6 + 1)
    shares = 0.079 * np.log(np.maximum(n, 2)) / (n * np.exp(np.sqrt(np.log(n))))
    root = math.sqrt(math.log(10**6))
    tail = (
        0.079 * 2 * math.exp(-root) * (root**3 + 3 * root**2 + 6 * root + 6)
    )  # the integral from there
    assert 0.99 < shares.sum() + tail <= 1


@pytest.mark.parametrize("sizes", [[150, 46, 4], [60, 30, 4], [100, 76, 20, 2, 2]])
def test_a_rare_class_is_not_pooled_with_another_one(sizes):
    """It was, and a class that lies completely above all others had no evidence."""
    random = np.random.default_rng(0)
    y = np.repeat(np.arange(len(sizes)), sizes)
    noise = random.normal(size=(len(y), 1000))
    shifted = noise.copy()
    shifted[-4:] += 4
    assert np.mean(p_values(shifted, y) <= 0.01) > 0.8
    assert np.mean(p_values(noise, y) <= 0.05) <= 0.06


@pytest.mark.parametrize("value", [0, 1])
def test_a_rare_value_is_not_absorbed_by_a_frequent_one(value):
    """A flag that is 0, or 1, only in a rare class."""
    y = np.repeat([0, 1], [20, 380])
    flag = np.where(y == 0, value, 1 - value).astype(float).reshape(-1, 1)
    assert p_values(flag, y)[0] < 1e-20
    assert p_values(flag, y, n_permutations=99)[0] == 0.01


@pytest.mark.parametrize("sizes", [(4, 5, 6, 6, 7, 8, 9, 12), (4,) * 14, (30, 30)])
def test_shifts_are_found_as_often_as_by_kruskal_wallis_and_permutations(sizes):
    random = np.random.default_rng(0)
    y = np.repeat(np.arange(len(sizes)), sizes)
    X = random.normal(size=(len(y), 3000))
    X[:, :1000] += 0.7 * random.normal(size=(len(sizes), 1000))[y]
    found = q_values(p_values(X, y)) < 0.05
    ranks = [kruskal(*(column[y == c] for c in range(len(sizes)))).pvalue for column in X.T]
    by_rank = false_discovery_control(ranks) < 0.05
    permuted = q_values(p_values(X, y, n_permutations=5000)) < 0.05
    assert found.sum() > 200
    assert (found & by_rank).sum() >= 0.9 * by_rank.sum()
    assert found.sum() >= 0.95 * permuted.sum()
    assert found[1000:].sum() <= 0.1 * found.sum()


@pytest.mark.slow
def test_noise_of_all_kinds_is_not_selected():
    """Mean false discovery proportion at 0.1; ``python -m benchmarks fdr`` uses more tables."""
    wrong, online = [], []
    for seed in range(120):
        random = np.random.default_rng(seed)
        y = (random.random(200) < (0.5 if seed % 2 else 0.07)).astype(int)
        y[:2] = 0, 1
        rare = random.random((200, 150)) < random.uniform(0.01, 0.05, 150)
        X = np.column_stack([random.normal(size=(200, 200)), rare, random.integers(0, 6, (200, 150))])
        categorical = range(200, 500)
        selector = SLFS(irrelevance="test", fdr=0.1, categorical_features=categorical)
        wrong.append(selector.fit(X, y).n_features_ > 0)
        online.append(selector.set_params(order="given").fit(X, y).n_features_ > 0)
    assert np.mean(wrong) <= 0.12
    assert np.mean(online) <= 0.12


@pytest.mark.parametrize("order", ["conditional", "given"])
def test_rate_and_power_on_known_networks(order):
    noise, children = [], []
    for seed in range(15):
        made = make_network_classification(300, n_noise=200, random_state=seed)
        selector = SLFS(irrelevance="test", order=order, fdr=0.1, categorical_features="all")
        found = selector.fit(made.data, made.target).indices_
        noise.append(np.isin(found, made.noise).mean())
        children.append(np.isin(made.blanket, found).mean())
    assert np.mean(noise) <= 0.2, "redundant columns are dropped, which leaves a larger share of noise"
    assert np.mean(children) >= 0.9


def test_the_spread_of_a_continuous_target_is_tested():
    """Incomes in the middle have medium scores and others have high and low ones, all with one mean."""
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 20))
    y = random.normal(size=200) * np.where(np.abs(X[:, 0]) < 0.6, 0.2, 2)
    found = p_values(X, y)
    assert found[0] < 1e-6
    assert (found[1:] > 0.05 / 19).all()
    groups = pd.DataFrame({"group": np.where(np.abs(X[:, 0]) < 0.6, "middle", "other")})
    assert p_values(groups, y)[0] < 1e-6


def test_evidence_in_words():
    """A q-value at the boundary of two grades gets the stronger one."""
    start = "Evidence that it depends on the class:"
    assert evidence(0.0025, 0.03) == f"{start} moderate (p = 0.0025, FDR 3%)."
    assert evidence(1.19e-5, 1e-3) == f"{start} strong (p = 1.2e-05, FDR 0.1%)."
    assert evidence(1e-12, 1e-9) == f"{start} overwhelming (p < 1e-09, FDR < 0.01%)."
    none = "The tests find no evidence that it depends on the class"
    assert evidence(0.25, 0.4) == f"{none} (p = 0.25, FDR 40%)."
    assert evidence(1.0, 1.0) == f"{none} (p = 1, FDR 100%)."
    assert evidence(math.nan, math.nan) == ""
    words = ["overwhelming", "strong", "moderate", "weak", "none", ""]
    assert [grade(q) for q in (1e-9, 0.005, 0.02, 0.1, 0.9, math.nan)] == words
    assert [grade(q) for q in (1e-4, 0.01, 0.05, 0.2)] == words[:4]
    shares = [percent(q) for q in (0.99e-4, 1e-4, 0.0123, 0.0999, 0.1, 0.155, math.nan)]
    assert shares == ["< 0.01%", "0.01%", "1.2%", "10%", "10%", "16%", ""]


def test_a_rounded_share_has_the_grade_of_the_q_value():
    assert evidence(0.001, 0.01027).endswith("moderate (p = 0.001, FDR 1.03%).")
    shares = [percent(q) for q in (0.01, 0.0504, 0.05, 0.2004, 0.2, 1.004e-4)]
    assert shares == ["1%", "5.04%", "5%", "20.04%", "20%", "0.01004%"]


def test_a_selected_column_is_explained_with_its_evidence():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    selector = SLFS(order="conditional").fit(X, y)
    for index, name in enumerate(X.columns):
        known = "Evidence that it depends" if selector.qvalues_[index] <= 0.2 else "no evidence that it"
        assert known in selector.explain(name)
    weak = selector.explain("symmetry error")
    assert weak.endswith("Evidence that it depends on the class: moderate (p = 0.037, FDR 4%).")


def test_evidence_is_shown_beside_every_selected_column(tmp_path, monkeypatch, capsys):
    pytest.importorskip("typer")
    from slfs.cli import main

    frame = load_breast_cancer(as_frame=True).frame
    frame.to_csv(tmp_path / "cancer.csv", index=False)

    def run(*options):
        command = ["slfs", "select", str(tmp_path / "cancer.csv"), "--target", "target", *options]
        monkeypatch.setattr("sys.argv", command)
        with contextlib.suppress(SystemExit):
            main()
        return capsys.readouterr().out

    shown = run("--order", "conditional")
    assert re.search(r"symmetry error .* 4% .*\n", shown)
    assert re.search(r"worst perimeter .* < 0\.01% .*\n", shown)
    facts = json.loads(run("--order", "conditional", "--json"))
    grades = {node["name"]: node["evidence"] for node in facts["nodes"]}
    assert grades["symmetry error"] == "moderate"
    assert grades["worst perimeter"] == "overwhelming"
    assert len(facts["columns"]["q_value"]) == 30


def test_permutations_of_columns_with_many_levels():
    """More than 64 levels have no planes; the rare ones must not be pooled."""
    random = np.random.default_rng(3)
    shares = 1 / np.sqrt(np.arange(1, 101))
    level = random.choice(100, 3000, p=shares / shares.sum())
    effect = np.where(np.arange(100) >= 60, random.choice([-1, 1], 100), 0)
    y = (random.random(3000) < 1 / (1 + np.exp(-0.9 * effect[level]))).astype(int)
    X = pd.DataFrame({"noise": random.integers(0, 5, 3000).astype(str), "shop": level.astype(str)})
    found = p_values(X, y, n_permutations=999)
    assert found[1] == pytest.approx(0.001)
    np.testing.assert_array_equal(found[:1], p_values(X[["noise"]], y, n_permutations=999))
    noise = p_values(X, random.permutation(y), n_permutations=199)
    assert noise[1] > 0.02
