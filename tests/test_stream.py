"""Streams of columns: the result does not depend on how they are split into blocks."""

import copy
import itertools
import pickle
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import norm
from sklearn.datasets import load_breast_cancer

from slfs import OSFS, SAOLA, SLFS, AlphaInvesting, FastOSFS
from slfs._core.progress import progress_callback
from slfs.measures.independence import FisherTest, TableTest
from slfs.screening.reasons import Reason
from slfs.selectors._shared.sentences import _WHY
from tests.helpers import dependent_codes, information_of

ONLINE = [
    SLFS(order="given"),
    SLFS(order="given", swap="objective", irrelevance="reversed", n_features_to_select=3),
    SLFS(order="given", irrelevance="test", fdr=0.2),
    OSFS(samples_per_df=1),
    FastOSFS(samples_per_df=1),
    OSFS(statistic="fisher_z"),
    FastOSFS(statistic="fisher_z"),
    AlphaInvesting(),
    SAOLA(),
]
ONLINE = [selector.set_params(categorical_features="all") for selector in ONLINE]


def assert_same(found, expected):
    np.testing.assert_array_equal(found.support_, expected.support_)
    np.testing.assert_array_equal(found.indices_, expected.indices_)
    np.testing.assert_array_equal(found.selection_scores_, expected.selection_scores_)
    np.testing.assert_array_equal(found.network_.parents, expected.network_.parents)
    for field in ("role", "reason", "relevance", "p_value", "lost_to", "parent"):
        np.testing.assert_array_equal(found.features_[field], expected.features_[field])


@given(st.integers(0, 2**32 - 1), st.sets(st.integers(1, 15), max_size=6))
@settings(max_examples=20)
@pytest.mark.parametrize("selector", ONLINE, ids=str)
def test_splitting_the_stream_changes_nothing(selector, seed, cuts):
    codes, y = dependent_codes(seed, 120, 16)
    X = codes.T
    whole = copy.deepcopy(selector).fit(X, y)
    bounds = [0, *sorted(cuts), 16]
    blocks = [X[:, begin:end] for begin, end in itertools.pairwise(bounds)]
    assert_same(copy.deepcopy(selector).fit_stream(iter(blocks), y), whole)
    grown = copy.deepcopy(selector).fit_stream(blocks[:1], y)
    for block in blocks[1:]:
        grown = pickle.loads(pickle.dumps(grown)).extend(block)
    assert_same(grown, whole)
    probabilities = grown.to_classifier().predict_proba(X)
    np.testing.assert_array_equal(probabilities, whole.to_classifier().predict_proba(X))


def test_blocks_of_different_kinds_with_names():
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 200)
    words = pd.DataFrame({"word": np.where(random.random(200) < 0.8, y, 1 - y).astype(str)})
    numbers = pd.DataFrame({"a": y + random.normal(size=200), "b": random.normal(size=200)})
    selector = SLFS(order="given").fit_stream([words, numbers], pd.Series(y, name="ill"))
    assert selector.feature_names_in_.tolist() == ["word", "a", "b"]
    assert selector.n_features_in_ == 3
    assert selector.network_.class_name == "ill"
    table = pd.concat([words, numbers], axis=1)
    expected = SLFS(order="given").fit(table, y)
    np.testing.assert_array_equal(selector.support_, expected.support_)
    assert selector.transform(table).shape == (200, selector.n_features_)
    sparse_blocks = [sparse.csr_array(numbers[["a"]]), numbers[["b"]].to_numpy()]
    unnamed = SLFS(order="given").fit_stream(sparse_blocks, y)
    assert not hasattr(unnamed, "feature_names_in_")


def test_an_error_leaves_the_selector_as_it_was():
    codes, y = dependent_codes(0, 120, 8)
    selector = SAOLA(categorical_features="all").fit_stream([codes.T], y)
    before = copy.deepcopy(selector)
    with pytest.raises(ValueError, match="block of the stream has 5 rows, but y has 120 labels"):
        selector.extend(codes.T[:5])
    assert_same(selector, before)
    assert_same(selector.extend(codes.T), before.extend(codes.T))


@pytest.mark.parametrize(
    ("selector", "blocks", "error", "message"),
    [
        (SLFS(), [np.eye(4)], ValueError, "order='auto' .* Use order='given'"),
        (SAOLA(), [], ValueError, "blocks is empty"),
        (SAOLA(), np.eye(4), TypeError, r"blocks is a single table.*\[X\]"),
        (SAOLA(), ["a.csv"], TypeError, "X is a path or a string.*Read the file first"),
        (SAOLA(categorical_features=[0]), [np.eye(4)], TypeError, "not a list of columns"),
        (SAOLA(), [pd.DataFrame({"a": range(4)}), np.eye(4)], ValueError, "others do not"),
        (
            SAOLA(),
            [pd.DataFrame({"a": range(4)})] * 2,
            ValueError,
            r"more than one block of the stream: \['a'\]",
        ),
    ],
)
def test_bad_streams_are_answered_with_a_remedy(selector, blocks, error, message):
    with pytest.raises(error, match=message):
        selector.fit_stream(blocks, [0, 1, 0, 1])


def test_extend_needs_a_fitted_selector_that_can():
    X, y = np.random.default_rng(0).normal(size=(50, 3)), np.arange(50) % 2
    with pytest.raises(ValueError, match="needs all columns at once"):
        SLFS().fit(X, y).extend(X)
    with pytest.raises(ValueError, match=r"Call fit_stream\(\[X\], y\) first"):
        SLFS(order="given").fit(X, y).extend(X)
    with pytest.raises(ValueError, match="not fitted"):
        SLFS(order="given").extend(X)


@pytest.mark.parametrize("given_columns", [(), (1,), (2, 1), (1, 2, 3)])
def test_g_test_equals_a_sum_of_tables(given_columns):
    from scipy.stats import chi2, chi2_contingency

    codes, y = dependent_codes(3, 500, 4, n_levels=3)
    strata = np.zeros(500, int)
    for k in given_columns:
        strata = strata * 3 + codes[k]
    statistic, freedom = 0.0, 0
    for z in np.unique(strata):
        table = np.zeros((3, 3))
        np.add.at(table, (codes[0][strata == z], y[strata == z]), 1)
        table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
        if min(table.shape) > 1:
            statistic += chi2_contingency(table, correction=False, lambda_="log-likelihood").statistic
            freedom += (len(table) - 1) * (len(table[0]) - 1)
    expected = chi2.sf(statistic, 4 * 3 ** len(given_columns))
    information = information_of(codes, y)
    test = TableTest(information.backend, 0.05, "g2", samples_per_df=0)
    assert test.p_value(0, given_columns) == pytest.approx(expected, rel=1e-7)
    adjusted = TableTest(information.backend, 0.05, "g2", samples_per_df=0, adjusted=True)
    assert adjusted.p_value(0, given_columns) == pytest.approx(chi2.sf(statistic, freedom), rel=1e-7)


def test_more_strata_than_samples_take_no_more_room_than_samples():
    random = np.random.default_rng(0)
    codes = random.integers(0, 200, (4, 300))
    codes[:, 0] = 199
    y = random.integers(0, 2, 300)
    test = TableTest(information_of(codes, y).backend, 0.05, "g2", samples_per_df=0)
    assert test.p_value(0, (1, 2, 3)) == 1, "eight million strata, all but 300 empty"


@pytest.mark.parametrize("kind", [OSFS, FastOSFS])
def test_words_say_whether_a_column_was_tested_given_others(kind):
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 200)
    X = np.array([np.where(random.random(200) < 0.3, random.integers(0, 6, 200), y) for _ in range(4)]).T
    untested = kind(categorical_features="all", samples_per_df=15).fit(X, y)
    words = [untested.explain(column) for column in range(4)]
    assert any("there are too few samples to test it given 'x" in text for text in words)
    assert not any("it is independent" in text for text in words)
    copies = np.column_stack([X[:, 0], X[:, 0]])
    tested = kind(categorical_features="all", samples_per_df=0).fit(copies, y)
    words = [tested.explain(column) for column in range(2)]
    expected = r"a test does not find that it depends on the class given 'x\d' \(p = .*, alpha = 0.01\)"
    assert any(re.search(expected, text) or "too few samples" in text for text in words)


def test_words_show_enough_digits_to_tell_a_p_value_from_its_limit():
    figures = {"noun": "class", "given": ["x1"], "p_value": 0.010004, "alpha": 0.01}
    assert _WHY[Reason.SEPARATED](None, figures).endswith("(p = 0.010004, alpha = 0.01)")
    assert _WHY[Reason.SEPARATED](None, {**figures, "p_value": 0.234}).endswith(
        "(p = 0.23, alpha = 0.01)"
    )
    words = _WHY[Reason.NOT_AFFORDABLE](None, {"p_value": 0.02504, "level": 0.025})
    assert words == "adding it has p = 0.02504, above the level 0.025"


def test_too_few_samples_count_as_independent_by_the_rule_of_lofs():
    codes, y = dependent_codes(3, 59, 3, n_levels=3)
    information = information_of(codes, y)
    assert TableTest(information.backend, 0.05, "g2", samples_per_df=5).p_value(0, (1,)) == 1
    assert TableTest(information.backend, 0.05, "g2", samples_per_df=4).p_value(0, (1,)) < 1


@pytest.mark.parametrize(("selector", "name"), [(OSFS(), "madelon"), (FastOSFS(), "arcene")])
def test_online_methods_on_the_papers_data(selector, name, paper_data):
    X, y = paper_data(name)
    fitted = selector.fit(X, y)
    assert 1 <= fitted.n_features_ <= 40
    assert set(fitted.features_.reason) <= {
        "selected", "separated", "independent", "too few samples", "no cut", "constant",
        "no information",
    }  # fmt: skip


@pytest.mark.parametrize("given_columns", [(), (1,), (1, 2, 3)])
def test_fisher_z_is_the_partial_correlation(given_columns):
    random = np.random.default_rng(0)
    data = random.normal(size=(200, 5)) @ random.normal(size=(5, 5))
    rest = np.column_stack([np.ones(200), *(data[:, k] for k in given_columns)])
    residual = [v - rest @ np.linalg.lstsq(rest, v)[0] for v in (data[:, 0], data[:, 4])]
    correlation = np.corrcoef(*residual)[0, 1]
    z = np.sqrt(200 - len(given_columns) - 3) * np.arctanh(correlation)
    test = FisherTest(dict(enumerate(data.T)), data[:, 4], 0.05)
    assert test.p_value(0, given_columns) == pytest.approx(2 * norm.sf(abs(z)), rel=1e-6)


def test_alpha_investing_is_its_definition():
    """Wealth, levels and p-values by least squares."""
    X, y = load_breast_cancer(return_X_y=True)
    wealth, kept, model = 0.5, [], np.ones((len(y), 1))
    for j in range(X.shape[1]):
        level = wealth / (2 * (j + 2))
        larger = np.column_stack([model, X[:, j]])
        old, new = (np.sum((y - m @ np.linalg.lstsq(m, y)[0]) ** 2) for m in (model, larger))
        if np.exp((new - old) / (2 * old / len(y))) < level:
            kept.append(j)
            model, wealth = larger, wealth + 0.5 - level
        else:
            wealth -= level
    assert AlphaInvesting().fit(X, y).indices_.tolist() == kept
    incomplete = X.copy()
    incomplete[::7, 3] = np.nan
    assert AlphaInvesting().fit(incomplete, y).n_features_ > 3


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_progress_of_every_block(n_jobs):
    random = np.random.default_rng(0)
    calls = []
    with progress_callback(lambda *counts: calls.append(counts)):
        SLFS(order="conditional", n_jobs=n_jobs).fit(
            random.normal(size=(30, 40)), random.integers(0, 2, 30)
        )
    total = calls[-1][1]
    assert calls == [(done, total) for done in range(1, total + 1)]
    SLFS(n_jobs=n_jobs).fit(random.normal(size=(30, 40)), random.integers(0, 2, 30))
    assert len(calls) == total, "the callback is gone"


def test_progress_of_every_fold():
    random = np.random.default_rng(0)
    calls = []
    with progress_callback(lambda *counts: calls.append(counts)):
        SLFS().fit(random.normal(size=(30, 40)), random.integers(0, 2, 30))
    assert calls == [(done, 6) for done in range(1, 7)]


@pytest.mark.parametrize(("wrap", "total"), [(list, 4), (iter, None)])
def test_progress_of_every_block_of_a_stream(wrap, total):
    random = np.random.default_rng(0)
    X, y = random.normal(size=(30, 40)), random.integers(0, 2, 30)
    calls = []
    with progress_callback(lambda *counts: calls.append(counts)):
        SLFS(order="given").fit_stream(wrap([X[:, j : j + 10] for j in range(0, 40, 10)]), y)
    assert calls == [(done, total) for done in range(1, 5)]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_in_a_progress_callback_stops_the_fit(n_jobs):
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 60)
    X = random.normal(size=(60, 400)) + y[:, np.newaxis]
    calls = []

    def stop(done, _total):
        calls.append(done)
        if done == 2:
            raise KeyboardInterrupt

    selector = SLFS(order="given", n_jobs=n_jobs).fit_stream([X], y)
    before = selector.features_["role"].copy()
    for work in (
        lambda: SLFS(n_jobs=n_jobs).fit(X, y),
        lambda: SLFS(order="given", n_jobs=n_jobs).fit_stream((X[:, [j]] for j in range(400)), y),
        lambda: selector.extend(X[:, ::-1]),
    ):
        calls.clear()
        with progress_callback(stop), pytest.raises(KeyboardInterrupt):
            work()
        assert max(calls) < 10
    np.testing.assert_array_equal(selector.features_["role"], before)
    again = selector.extend(X[:, :5])
    np.testing.assert_array_equal(
        again.support_, SLFS(order="given").fit(np.hstack([X, X[:, :5]]), y).support_
    )


def test_an_error_at_the_end_of_extend_changes_nothing():
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 40)
    X = random.normal(size=(40, 4)) + 3 * y[:, np.newaxis]
    selector = SLFS(order="given").fit_stream([X], y)
    prices = np.array([[f"${row},000"] for row in range(40)], dtype=object)
    with pytest.raises(UserWarning, match="look like numbers"):  # warnings are errors here
        selector.extend(prices)
    assert selector.transform(X).shape == (40, selector.n_features_)
    again = SLFS(order="given").fit(np.hstack([X, X[:, :1]]), y)
    np.testing.assert_array_equal(selector.extend(X[:, :1]).support_, again.support_)


def test_many_conditioning_sets_are_warned_about():
    """FastOSFS took minutes for 784 columns without a word."""
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 4000)
    X = (random.random((4000, 40)) < 0.5 + 0.1 * y[:, np.newaxis]).astype(int)
    with pytest.warns(UserWarning, match=r"up to 5488 sets.*max_conditioning=2 there are at most 528"):
        FastOSFS().fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        FastOSFS(max_conditioning=2).fit(X, y)
