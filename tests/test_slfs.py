"""SLFS: the tree of the reference implementation for all rules, its laws, its records."""

import itertools
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, make_classification

from slfs import SLFS
from slfs.screening.plan import BlockLimits, block_limits
from tests import naive
from tests.helpers import dependent_codes

READINGS = [
    (rule, irrelevance, order, swap)
    for rule, irrelevance, (order, swap) in itertools.product(
        ["objective", "printed"],
        ["mdl", "printed", "reversed"],
        [
            ("conditional", "printed"),
            ("relevance", "printed"),
            ("relevance", "objective"),
            ("given", "printed"),
            ("given", "objective"),
            ("given", "never"),
        ],
    )
]


def relevant(column, y):
    """The rule "mdl" for a categorical column."""
    n_samples, levels, classes = len(y), len(set(column)), len(set(y))
    price = (levels - 1) * (classes - 1) * np.log(n_samples)
    return 2 * n_samples * naive.mutual_information(column, y) > price


def as_tree(selector):
    network = selector.network_
    return {
        int(column): int(network.columns[parent]) if parent >= 0 else -1
        for column, parent in zip(network.columns, network.parents, strict=True)
    }


@pytest.mark.parametrize(("rule", "irrelevance", "order", "swap"), READINGS)
@pytest.mark.parametrize(
    ("seed", "relevance_weight", "max_depth", "max_children"),
    [(1, 0.5, 2, 3), (2, 1.0, 3, 2), (3, 1.5, 1, 4)],
)
def test_tree_equals_the_oracle(
    seed, relevance_weight, max_depth, max_children, rule, irrelevance, order, swap
):
    codes, y = dependent_codes(seed, 211, 16)
    parameters = {
        "relevance_weight": relevance_weight,
        "max_depth": max_depth,
        "max_children": max_children,
        "rule": rule,
        "irrelevance": irrelevance,
        "swap": swap,
        "order": order,
    }
    selector = SLFS(categorical_features="all", **parameters).fit(codes.T, y)
    columns = {j: column.tolist() for j, column in enumerate(codes)}
    labels = y.tolist()
    if irrelevance == "mdl":
        columns = {j: column for j, column in columns.items() if relevant(column, labels)}
    oracle = naive.SLFS(columns, labels, **parameters).run()
    assert as_tree(selector) == oracle.parent
    assert oracle.parent, "the case is worth something"
    features = selector.features_
    lost = {
        j: int(record.lost_to[1:]) for j, record in enumerate(features) if record.lost_to is not None
    }
    assert lost == {f: oracle.survivor(f) for f in oracle.redundant}
    assert selector.network_.objective(relevance_weight) == pytest.approx(oracle.objective(), abs=1e-9)


@given(st.integers(0, 2**32 - 1), st.sampled_from(["conditional", "relevance"]))
@settings(max_examples=25)
def test_order_of_columns_does_not_matter(seed, order):
    random = np.random.default_rng(seed)
    X, y = make_classification(
        300, 25, n_informative=6, n_redundant=6, n_classes=3, random_state=seed % 2**31
    )
    shuffled = random.permutation(25)
    first = SLFS(order=order).fit(X, y)
    second = SLFS(order=order).fit(X[:, shuffled], y)
    np.testing.assert_array_equal(first.support_[shuffled], second.support_)
    edges = {(parent, child) for child, parent in as_tree(first).items()}
    back = {-1: -1, **dict(enumerate(shuffled.tolist()))}
    assert edges == {(back[parent], back[child]) for child, parent in as_tree(second).items()}


@pytest.mark.parametrize("order", ["conditional", "relevance", "given"])
def test_threads_do_not_change_a_bit(order):
    X, y = make_classification(2000, 300, n_informative=30, n_classes=5, random_state=0)
    one, two = (SLFS(order=order, n_jobs=n).fit(X, y) for n in (1, 2))
    assert one.n_features_ > 20
    for field in ("relevance", "entropy", "mutual_information", "conditional_relevance"):
        np.testing.assert_array_equal(one.features_[field], two.features_[field])
    np.testing.assert_array_equal(one.network_.columns, two.network_.columns)
    np.testing.assert_array_equal(one.network_.parents, two.network_.parents)


def test_block_size_does_not_change_a_bit():
    X, y = make_classification(300, 60, n_informative=10, random_state=0)
    expected = SLFS().fit(X, y).features_
    with block_limits(BlockLimits(n_columns=2)):
        found = SLFS(n_jobs=2).fit(X, y).features_
    for field in ("relevance", "role", "lost_to", "conditional_relevance"):
        np.testing.assert_array_equal(found[field], expected[field])


@pytest.mark.parametrize("order", ["conditional", "relevance", "given"])
@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_n_features_to_select_is_exact(order, size):
    X, y = load_breast_cancer(return_X_y=True)
    whole = SLFS(order=order, max_depth=3).fit(X, y).network_
    selector = SLFS(order=order, max_depth=3, n_features_to_select=size).fit(X, y)
    assert selector.n_features_ == selector.support_.sum() == min(size, len(whole))
    by_level = sorted(range(len(whole)), key=lambda node: whole.levels[node])
    assert set(selector.network_.columns) == set(whole.columns[by_level[:size]])
    parents = selector.network_.parents
    assert np.all(selector.network_.levels[parents >= 0] > 1)
    cut = np.flatnonzero(selector.features_.reason == "beyond size")
    assert set(whole.columns) - set(selector.network_.columns) <= set(cut)
    assert set(selector.features_.role[cut]) <= {"outranked"}
    asked = f"but only {size} column{'s were' if size > 1 else ' was'} asked for (n_features_to_select)."
    assert all(asked in selector.explain(column) for column in cut)


def test_limits_hold_and_none_lifts_them():
    codes, y = dependent_codes(0, 400, 40)
    X = codes.T
    network = SLFS(max_depth=3, max_children=2).fit(X, y).network_
    assert network.levels.max() <= 3
    assert max(len(network.children(node)) for node in range(-1, len(network))) <= 2
    free = SLFS(max_depth=None, max_children=None).fit(X, y)
    assert not np.any(free.features_.role == "no room")
    assert free.n_features_ > len(network)


def test_records_tell_every_column_its_role_and_reason():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X.assign(noise=np.random.default_rng(0).normal(size=len(X)), constant=1)
    selector = SLFS(order="conditional").fit(X, y)
    features = pd.DataFrame(selector.features_).set_index("name")
    assert features.index.tolist() == X.columns.tolist()
    assert set(features["role"]) == {
        "strongly relevant", "weakly relevant, non-redundant", "redundant", "no room",
        "too weak", "irrelevant",
    }  # fmt: skip
    kept = features["role"].str.contains("strong|weakly")
    np.testing.assert_array_equal(kept, selector.support_)
    assert features.loc[["noise", "constant"], "reason"].tolist() == ["no cut", "constant"]
    assert set(features.loc[kept, "reason"]) == {"selected"}
    assert set(features.loc[features["role"] == "redundant", "reason"]) == {"adds nothing"}
    assert set(features.loc[features["role"] == "no room", "reason"]) == {"no room"}
    lost = features["role"].isin(["redundant", "no room"])
    assert features.loc[lost, "lost_to"].isin(features.index[kept]).all()
    assert features.loc[features["role"] == "strongly relevant", "level"].eq(1).all()
    weak = features[features["role"] == "weakly relevant, non-redundant"]
    assert weak["parent"].isin(features.index[kept]).all()
    assert (weak["level"] == features.loc[weak["parent"], "level"].to_numpy() + 1).all()


def test_explain_answers_in_one_sentence():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X.assign(noise=np.random.default_rng(0).normal(size=len(X)), constant=1)
    selector = SLFS(order="conditional").fit(X, y)
    answers = {
        "worst perimeter": "selected as strongly relevant: it has 0.475 nats of information about",
        "worst area": "selected as weakly relevant.*: it shares .* with its parent 'worst perimeter'",
        "worst radius": "dropped as redundant: it has .* nats of information .* but it shares .* nats "
        r"with 'worst area' and adds no significant information about the class to it \(.* nats\)",
        "noise": "dropped as irrelevant: MDLP finds no cut",
        "constant": "dropped as irrelevant: it has a single value",
    }
    for column, pattern in answers.items():
        sentence = selector.explain(column)
        assert sentence.startswith(f"'{column}' is ")
        assert sentence.endswith(".")
        assert pd.Series([sentence]).str.contains(pattern).item(), sentence
    assert selector.explain(0) == selector.explain("mean radius")
    with pytest.raises(
        ValueError, match=r"no column 'worst perimetre' .* Did you mean 'worst perimeter'"
    ):
        selector.explain("worst perimetre")
    with pytest.raises(ValueError, match=r"no column 99: X had 32 columns. Use an index from 0 to 31"):
        selector.explain(99)


def test_test_of_irrelevance_controls_the_false_discovery_rate():
    """Columns that MDLP cuts by chance must not be significant."""
    wrong = []
    for seed in range(40):
        random = np.random.default_rng(seed)
        X = np.column_stack([random.normal(size=(200, 60)), random.integers(0, 4, (200, 60))])
        y = random.integers(0, 2, 200)
        selector = SLFS(irrelevance="test", fdr=0.1, categorical_features=range(60, 120)).fit(X, y)
        wrong.append(selector.n_features_ > 0)
        assert selector.features_.p_value.min() > 0
    assert np.mean(wrong) <= 0.2


@pytest.mark.parametrize(
    ("n_samples", "n_levels", "n_classes"), [(300, 100, 2), (100, 100, 2), (100, 5, 26), (1000, 300, 3)]
)
def test_small_counts_do_not_make_noise_significant(n_samples, n_levels, n_classes):
    random = np.random.default_rng(0)
    found = []
    for _ in range(60):
        X = np.column_stack([random.integers(0, n_levels, n_samples), random.normal(size=n_samples)])
        y = np.append(np.arange(n_classes), random.integers(0, n_classes, n_samples - n_classes))
        selector = SLFS(irrelevance="test", categorical_features=[True, False])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found.append(selector.fit(X, y).features_.p_value < 0.05)
    assert np.mean(found, axis=0).max() <= 0.15


@pytest.mark.parametrize("irrelevance", ["mdl", "printed", "reversed", "test"])
def test_what_is_exactly_independent_is_irrelevant(irrelevance):
    random = np.random.default_rng(0)
    for _ in range(20):
        rows, columns = random.integers(1, 6, 3), random.integers(1, 6, 2)
        table = np.outer(rows, columns)
        X = np.repeat(np.arange(3), table.sum(axis=1)).reshape(-1, 1)
        y = np.concatenate([np.repeat([0, 1], row) for row in table])
        order = "given" if irrelevance in ("printed", "reversed") else "residual"
        selector = SLFS(order=order, irrelevance=irrelevance, categorical_features="all").fit(X, y)
        assert selector.n_features_ == 0
        assert selector.features_.relevance[0] == 0


@pytest.mark.parametrize(
    "parameters", [{"n_features_to_select": 2}, {"order": "given", "max_children": 3}]
)
def test_who_won_is_in_the_tree(parameters):
    X, y = load_breast_cancer(return_X_y=True)
    selector = SLFS(**parameters).fit(X, y)
    kept = set(selector.network_.names)
    winners = {name for name in selector.features_.lost_to if name is not None}
    assert winners
    assert winners <= kept
    for name in selector.features_.name:
        assert selector.explain(name).startswith(f"'{name}' is ")


def test_test_of_irrelevance_finds_what_is_there():
    X, y = load_breast_cancer(return_X_y=True)
    noise = np.random.default_rng(0).normal(size=X.shape)
    selector = SLFS(irrelevance="test").fit(np.hstack([X, noise]), y)
    assert selector.support_[:30].sum() >= 5
    assert selector.support_[30:].sum() == 0


def test_no_relevant_feature_leaves_an_empty_tree():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(100, 5)), random.integers(0, 2, 100)
    selector = SLFS().fit(X, y)
    assert selector.n_features_ == len(selector.network_) == 0
    assert str(selector.network_) == "class"
    with pytest.warns(UserWarning, match="No features were selected"):
        assert selector.transform(X).shape == (100, 0)
    classifier = selector.to_classifier()
    np.testing.assert_allclose(classifier.predict_proba(X[:1]), [(np.bincount(y) + 1) / 102])


def test_swaps_raise_j():
    """Averaged over small tables, J is highest with swaps by the objective and lowest without swaps."""
    scores = []
    for seed in range(30):
        codes, y = dependent_codes(seed, 150, 12)
        parameters = {"order": "given", "max_depth": 4, "max_children": 3, "categorical_features": "all"}
        scores.append(
            [
                SLFS(swap=swap, **parameters).fit(codes.T, y).network_.objective(0.5)
                for swap in ("objective", "printed", "never")
            ]
        )
    sound, printed, never = np.mean(scores, axis=0)
    assert sound > printed > never


def test_a_child_of_the_class_for_want_of_room_elsewhere_is_weakly_relevant():
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 3000)
    first = np.where(random.random(3000) < 0.9, y, 1 - y)
    copies = [np.where(random.random(3000) < 0.8, first, 1 - first) for _ in range(6)]
    X = pd.DataFrame(np.column_stack([first, *copies]), columns=list("abcdefg")).astype(str)
    selector = SLFS(
        n_features_to_select=6, max_children=4, max_depth=2, relevance_weight=0.1, irrelevance="mdl"
    ).fit(X, y)
    records = selector.features_[selector.indices_]
    full = np.bincount(selector.network_.parents[selector.network_.parents >= 0]).max() == 4
    displaced = records[(records["level"] == 1) & (records["name"] != "a")]
    assert full
    assert len(displaced)
    for record in displaced:
        assert record["role"] != "strongly relevant"
        if record["role"].startswith("weakly"):
            told = selector.explain(record["name"])
            assert re.search(r"It is closest to '\w', below which the tree is full", told)
