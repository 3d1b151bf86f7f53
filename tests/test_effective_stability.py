"""Stability with similar features: the measure, the similarity of columns, and groups of features."""

import itertools
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse, stats
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import normalized_mutual_info_score

from slfs import SLFS, StabilitySelection
from slfs.evaluation import feature_groups, feature_similarity
from slfs.evaluation.groups import merged_supports
from slfs.measures import effective_stability, nogueira
from tests import naive

SHAPES = st.tuples(st.integers(2, 5), st.integers(1, 6))


def symmetric(random, n_features):
    """Similarities of any kind: some 0, some 1."""
    upper = np.triu(random.choice([0, 1, 0.3, 0.9], size=(n_features, n_features)), 1)
    return upper + upper.T + np.eye(n_features)


def function_of(matrix):
    return lambda feature, others: matrix[feature, others]


# the measure


@given(arrays(bool, SHAPES), st.integers(0, 1000))
def test_the_measure_is_that_of_the_oracle(supports, seed):
    matrix = symmetric(np.random.default_rng(seed), supports.shape[1])
    found = effective_stability(supports, matrix)
    expected = naive.effective_stability(supports.astype(int).tolist(), matrix.tolist())
    if expected is None:
        assert np.isnan([found.value, found.low, found.high]).all()
        assert "not defined" in str(found)
        return
    assert found.value == pytest.approx(expected, abs=1e-9)
    for same in (sparse.csr_array(matrix), sparse.coo_array(matrix), function_of(matrix)):
        other = effective_stability(sparse.csc_array(supports), same)
        assert other.value == pytest.approx(found.value, abs=1e-9)
        assert other.standard_error == pytest.approx(found.standard_error, abs=1e-9)


@given(arrays(bool, SHAPES))
def test_unrelated_features_give_the_measure_of_nogueira(supports):
    found, plain = effective_stability(supports, np.eye(supports.shape[1])), nogueira(supports)
    for name in ("value", "low", "high", "standard_error", "share"):
        assert getattr(found, name) == pytest.approx(getattr(plain, name), abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("seed", range(3))
def test_random_selections_have_mean_zero_for_all_similarities(seed):
    """The mean over all pairs of selections of three of six features."""
    matrix = symmetric(np.random.default_rng(seed), 6)
    subsets = [np.isin(np.arange(6), one) for one in itertools.combinations(range(6), 3)]
    pairs = itertools.product(subsets, repeat=2)
    assert np.mean([effective_stability(pair, matrix).value for pair in pairs]) == pytest.approx(0)


def test_a_random_member_of_each_group_of_copies_is_perfectly_stable():
    random = np.random.default_rng(0)
    matrix = np.kron(np.eye(5), np.ones((4, 4)))
    supports = np.zeros((30, 20))
    for group in range(3):
        supports[np.arange(30), 4 * group + random.integers(4, size=30)] = 1
    found = effective_stability(supports, matrix)
    assert (found.value, found.low, found.high) == pytest.approx((1, 1, 1))
    assert nogueira(supports).value < 0.4


def test_near_copies_that_are_selected_together_do_not_make_up_for_others():
    """Each run selects both copies of one of two groups: never the same, though never alone."""
    supports = [[1, 1, 0, 0], [0, 0, 1, 1]]
    matrix = np.kron(np.eye(2), np.ones((2, 2)))
    assert nogueira(supports).value == pytest.approx(-1)
    # tr(CS) = 4 and, with a mean similarity of 1/3, tr(C S0) = 2/3 * 2 (1 - 2/4)
    assert effective_stability(supports, matrix).value == pytest.approx(1 - 4 / (2 / 3))


def test_the_interval_covers():
    """Columns that are selected independently, in groups of two copies: S and S0 are known."""
    random = np.random.default_rng(1)
    share = np.repeat([0.9, 0.1], 20)
    matrix = np.kron(np.eye(20), np.ones((2, 2)))
    spread, similar = 40 * 0.09, 1 / 39
    truth = 1 - spread / ((1 - similar) * 20 * 0.5 + similar * spread)
    runs = (effective_stability(random.random((60, 40)) < share, matrix, level=0.9) for _ in range(400))
    assert 0.86 < np.mean([one.low < truth < one.high for one in runs]) < 0.94


def test_the_mean_similarity_of_many_features_is_sampled():
    """3000 features in 30 groups of 100 copies: the mean is 99 / 2999."""
    random = np.random.default_rng(0)
    group = np.arange(3000) % 30
    supports = np.array([np.isin(np.arange(3000), random.choice(3000, 40)) for _ in range(10)])
    asked = []

    def similarity(feature, others):
        asked.append(feature)
        return (group[feature] == group[others]).astype(float)

    found = effective_stability(supports, similarity)
    assert len(asked) <= 1000 + supports.any(axis=0).sum()
    exact = effective_stability(supports, sparse.csr_array(group[:, None] == group, dtype=float))
    assert found.value == pytest.approx(exact.value, abs=0.002)
    assert found.value != exact.value
    assert found == effective_stability(supports, similarity)
    assert found != effective_stability(supports, similarity, random_state=1)


@pytest.mark.parametrize(
    ("similarity", "message"),
    [
        (np.eye(3), "2 each. Got the shape (3, 3)"),
        ([[1, -0.5], [-0.5, 1]], "between 0 and 1. Got -0.5"),
        ([[1, np.nan], [np.nan, 1]], "between 0 and 1. Got nan"),
        ([[0, 0.5], [0.5, 1]], "1 on the diagonal"),
        ([[1, 0.5], [0.2, 1]], "symmetric"),
        (sparse.csr_array([[1, 0.5], [0, 1]]), "symmetric"),
        (lambda _feature, others: np.full(len(others), 2.0), "between 0 and 1. Got 2.0"),
        (lambda _feature, _others: [1.0], "one value per feature"),
    ],
)
def test_the_measure_refuses_what_is_no_similarity(similarity, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        effective_stability([[1, 0], [0, 1]], similarity)


def test_zeros_that_are_stored_are_not_selected():
    stored = sparse.csr_array(([1.0, 0.0, 1.0], [0, 1, 0], [0, 2, 3]), shape=(2, 3))
    assert nogueira(stored).value == 1
    assert feature_groups(stored, np.eye(3)).representative.tolist() == [0]
    assert stored.nnz == 3  # not changed


# the similarity of columns


def mixed(n_samples=160):
    """Columns of all types; the quarters of their known values are equally large."""
    random = np.random.default_rng(0)
    number = random.normal(size=n_samples)
    return pd.DataFrame(
        {
            "number": number,
            "near": number + 0.05 * random.normal(size=n_samples),
            "missing": np.where(random.permutation(n_samples) < 40, np.nan, number),
            "constant": 1.0,
            "flag": number > 0,
            "word": np.where(number > 0, "x", "y"),
            "category": pd.Categorical(random.choice(["a", "b", "c"], n_samples)),
        }
    )


def test_uncertainty_is_that_of_quartiles_and_categories():
    frame = mixed()
    similarity = feature_similarity(frame, threshold=0)
    levels = [pd.qcut(frame[name], 4, labels=False).fillna(-1) for name in ("number", "near", "missing")]
    levels += [pd.factorize(frame[name])[0] for name in ("constant", "flag", "word", "category")]
    for f, k in itertools.permutations(range(7), 2):
        expected = normalized_mutual_info_score(levels[f], levels[k]) if 3 not in (f, k) else 0
        assert similarity(f, [k]) == pytest.approx(expected, abs=1e-6)
    assert (similarity.to_sparse().diagonal() == 1).all()
    assert similarity(4, [5]) == 1  # the same levels under other names
    assert np.array_equal(
        feature_similarity(pl.from_pandas(frame), threshold=0).to_sparse().toarray(),
        similarity.to_sparse().toarray(),
    )


def test_correlation_is_that_of_ranks():
    frame = mixed()[["number", "near", "flag", "constant"]].assign(opposite=lambda own: -own["number"])
    similarity = feature_similarity(frame, measure="correlation", threshold=0)
    for f, k in itertools.permutations(range(5), 2):
        expected = 0 if 3 in (f, k) else stats.spearmanr(frame.iloc[:, f], frame.iloc[:, k]).statistic
        assert similarity(f, [k]) == pytest.approx(abs(expected), abs=1e-6)
    assert similarity(0, [4]) == pytest.approx(1)
    numbers = sparse.random(60, 20, 0.3, random_state=0, format="csr")
    dense = feature_similarity(numbers.toarray(), measure="correlation", threshold=0).to_sparse()
    assert (
        abs(feature_similarity(numbers, measure="correlation", threshold=0).to_sparse() - dense).max()
        == 0
    )


def test_missing_values_have_the_mean_rank():
    frame = mixed()[["number", "missing"]]
    ranks = frame.rank().fillna(frame.rank().mean())
    expected = ranks.corr().iloc[0, 1]
    found = feature_similarity(frame, measure="correlation", threshold=0)(0, [1])
    assert found == pytest.approx(expected, abs=1e-6)


def test_the_default_threshold_keeps_near_copies():
    frame = mixed()
    every = feature_similarity(frame, threshold=0).to_sparse().toarray()
    kept = feature_similarity(frame).to_sparse().toarray()
    assert np.array_equal(kept, np.where(every < 0.5, 0, every))
    assert 0 < every[0, 2] != every[0, 6] == every[6, 0] < 0.5
    numbers = frame[["number", "near", "flag"]]
    kept = feature_similarity(numbers, measure="correlation").to_sparse().toarray()
    assert (kept > 0).tolist() == [[True, True, False], [True, True, False], [False, False, True]]


def test_correlation_refuses_categories():
    with pytest.raises(ValueError, match=r"'word' is categorical. Use measure='uncertainty'"):
        feature_similarity(mixed(), measure="correlation")
    with pytest.raises(ValueError, match="column 1 is categorical"):
        feature_similarity(np.arange(12).reshape(4, 3), measure="correlation", categorical_features=[1])
    with pytest.raises(ValueError, match="'measure' parameter"):
        feature_similarity(mixed(), measure="distance")


@given(arrays(float, st.tuples(st.integers(2, 30), st.integers(2, 5)), elements=st.integers(0, 4)))
def test_similarity_does_not_depend_on_the_order_of_rows_and_columns(table):
    for measure in ("uncertainty", "correlation"):
        found = feature_similarity(table, measure=measure, threshold=0).to_sparse().toarray()
        assert found == pytest.approx(found.T)
        assert ((found >= 0) & (found <= 1)).all()
        turned = feature_similarity(table[::-1, ::-1], measure=measure, threshold=0)
        assert turned.to_sparse().toarray()[::-1, ::-1] == pytest.approx(found, abs=1e-6)


# groups


def test_a_gene_and_its_near_copies():
    """The gene 2 is selected in 40% of the runs, its near-copies in 55%: the group in 95%."""
    supports = np.zeros((20, 6), int)
    supports[:8, 2] = supports[8:15, 4] = supports[15:19, 0] = 1
    supports[:3, 5] = supports[0, 1] = 1
    matrix = np.eye(6)
    for f, k in itertools.permutations((0, 2, 4), 2):
        matrix[f, k] = 0.8
    groups = feature_groups(supports, matrix)
    assert groups.representative.tolist() == [2, 5, 1]
    assert groups.frequency.tolist() == [0.4, 0.15, 0.05]
    assert groups.group_frequency.tolist() == [0.95, 0.15, 0.05]
    assert groups.together.tolist() == [0, 0, 0]
    assert groups.members.tolist() == [[2, 4, 0], [5], [1]]
    assert groups.n_members.tolist() == [3, 1, 1]
    assert feature_groups(supports, matrix, threshold=0.8).n_members.tolist() == [3, 1, 1]
    assert feature_groups(supports, matrix, threshold=0.81).n_members.tolist() == [1] * 5
    assert feature_groups(supports[:, :3] * 0, np.eye(3)).tolist() == []


def test_groups_are_no_chains():
    """0 and 1, 1 and 2 are similar, but not 0 and 2."""
    matrix = np.array([[1, 0.7, 0], [0.7, 1, 0.6], [0, 0.6, 1]])
    groups = feature_groups([[1, 1, 0], [0, 1, 0], [0, 0, 1]], matrix)
    assert groups.members.tolist() == [[1, 0], [2]]
    assert groups.together.tolist() == [1 / 3, 0]


@given(arrays(bool, SHAPES), st.integers(0, 1000))
def test_groups_partition_the_features_that_are_selected(supports, seed):
    matrix = symmetric(np.random.default_rng(seed), supports.shape[1])
    groups = feature_groups(supports, function_of(matrix), threshold=0.5)
    assert sorted(itertools.chain(*groups.members)) == np.flatnonzero(supports.any(axis=0)).tolist()
    for group in groups:
        own, counts = supports[:, group.members], supports.sum(axis=0)
        assert (matrix[np.ix_(group.members, group.members)] >= 0.5).all()
        assert group.members == sorted(group.members, key=lambda f: (-counts[f], f))
        assert group.representative == group.members[0]
        assert group.frequency == own[:, 0].mean()
        assert group.group_frequency == own.any(axis=1).mean()
        assert group.together == (own.sum(axis=1) > 1).mean()
    assert (np.diff(groups.group_frequency) <= 0).all()


def test_groups_of_a_stability_selection_have_names():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    selector = StabilitySelection(SLFS(n_features_to_select=3), n_subsamples=20).fit(X, y)
    similarity = feature_similarity(X)
    groups = feature_groups(selector, similarity)
    assert set(groups[0].members) == {"worst perimeter", "worst radius", "worst area"}
    frequency = dict(zip(X.columns, selector.frequencies_, strict=True))
    assert groups.frequency.tolist() == [frequency[name] for name in groups.representative]
    assert groups[0].group_frequency == 1 > groups[0].frequency
    effective = effective_stability(selector.supports_, similarity)
    assert effective.value > selector.stability_.value + 0.1


def test_copies_that_are_merged_are_selected_every_time():
    """The effective stability was 0, because the subsamples select different numbers of copies."""
    random = np.random.default_rng(0)
    y = np.repeat([0, 1], 40)
    signal = y + 0.3 * random.normal(size=80)
    X = pd.DataFrame(
        {f"w{j}": signal + 0.05 * random.normal(size=80) for j in range(15)}
        | {f"n{j}": random.normal(size=80) for j in range(3)}
    )
    selector = StabilitySelection(SLFS(), n_subsamples=20, threshold=0.1).fit(X, y)
    groups = feature_groups(selector, feature_similarity(X))
    merged = merged_supports(selector, groups)
    dense = np.asarray(selector.supports_.todense())
    own = [dense[:, [X.columns.get_loc(name) for name in group.members]].any(axis=1) for group in groups]
    never = merged.shape[1] - len(own)
    assert never == (dense.sum(axis=0) == 0).sum()
    expected = sorted(map(tuple, [*np.array(own).astype(int).tolist(), *[[0] * 20] * never]))
    assert sorted(map(tuple, merged.todense().T.tolist())) == expected
    assert nogueira(merged).value > selector.stability_.value
