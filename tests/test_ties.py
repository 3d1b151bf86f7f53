"""Insertion with ties, and comparison with the reference implementation for any parameters."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slfs import SLFS
from tests import naive
from tests.helpers import dependent_codes


def parents(X, y, **parameters):
    """The parent of each column of the tree, by column; "class" for the root."""
    network = SLFS(categorical_features="all", **parameters).fit(X, y).network_
    return dict(zip(network.names, [parent for parent, _ in network.edges], strict=True))


def noisy(source, share, seed):
    random = np.random.default_rng(seed)
    return np.where(random.random(len(source)) < share, random.integers(0, 3, len(source)), source)


ORDERS = ["conditional", "relevance", "given"]


def test_what_is_as_near_to_a_node_as_to_its_child_goes_on_to_the_child():
    y = np.arange(600) % 3
    first = noisy(y, 0.3, 0)
    X = np.column_stack([first, first, noisy(first, 0.3, 1)])
    assert parents(X, y, order="given", max_depth=3) == {"x0": "class", "x1": "x0", "x2": "x1"}


@pytest.mark.parametrize("order", ORDERS)
def test_what_is_as_near_to_a_node_as_to_the_class_goes_below_the_node(order):
    y = np.arange(600) % 3
    X = np.column_stack([y, noisy(y, 0.5, 0)])
    expected = {"x0": "class", "x1": "x0"} if order == "given" else {"x0": "class"}  # x1 adds nothing
    assert parents(X, y, order=order) == expected


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("places", list(itertools.permutations(range(3))))
def test_what_is_as_near_to_two_siblings_goes_below_the_smaller_column(order, places):
    """a and b contain independent halves of the class; the third column is equally similar to both."""
    grid = np.array(list(itertools.product(range(4), range(4)))).repeat(20, axis=0)
    a, b = grid.T
    shared = 4 * (a % 2) + 2 * (b % 2) + ((a > 1) & (b > 1))
    columns = {"a": a, "b": b, "shared": shared}
    names = [list(columns)[place] for place in places]
    if order == "given":
        names.sort()  # the third comes last
    X = np.column_stack([columns[name] for name in names])
    found = parents(X, 2 * (a > 1) + (b > 1), order=order)
    tree = {names[int(child[1:])]: parent for child, parent in found.items()}
    smaller = min(names.index("a"), names.index("b"))
    assert tree == {"a": "class", "b": "class", "shared": f"x{smaller}"}


def test_the_reason_names_equation_7():
    y = np.arange(400) % 2
    X = np.column_stack([noisy(y, 0.8, seed) for seed in range(6)])
    selector = SLFS(irrelevance="printed", order="conditional", categorical_features="all").fit(X, y)
    excluded = np.flatnonzero(selector.features_["reason"] == "equation 7")
    assert len(excluded)
    significant = selector.qvalues_[excluded] <= 0.05
    expected = np.where(significant, "too weak", "irrelevant")
    np.testing.assert_array_equal(selector.features_["role"][excluded], expected)
    for column in excluded:
        assert "but equation 7 of the paper (irrelevance='printed') excludes it." in selector.explain(
            column
        )


@pytest.mark.parametrize("irrelevance", ["printed", "reversed"])
@pytest.mark.parametrize("repeats", [3, 4, 32, 64])
def test_equation_7_is_strict(irrelevance, repeats):
    """I(f;k) and I(f;Y|k) are the same integer here: neither side is the smaller one."""
    k, half, _noise = np.array(list(itertools.product(range(2), repeat=3))).repeat(repeats, axis=0).T
    f = np.arange(8).repeat(repeats)
    parameters = {"irrelevance": irrelevance, "order": "given", "swap": "never"}
    assert set(parents(np.column_stack([k, f]), 2 * k + half, **parameters)) == {"x0", "x1"}


def check_against_oracle(seed, n_columns, **parameters):
    """The tree is that of the plain insertion, whatever the parameters."""
    codes, y = dependent_codes(seed, 200, n_columns)
    parameters = {"rule": "objective", "irrelevance": "mdl", "swap": "printed", **parameters}
    selector = SLFS(categorical_features="all", **parameters).fit(codes.T, y)
    relevant = np.flatnonzero(~np.isin(selector.features_["role"], ["irrelevant", "too weak"]))
    columns = {int(j): codes[j].tolist() for j in relevant}
    oracle = naive.SLFS(columns, y.tolist(), **parameters).run()
    network = selector.network_
    parent = np.append(network.columns, -1)[network.parents]
    assert dict(zip(network.columns.tolist(), parent.tolist(), strict=True)) == oracle.parent


def test_a_way_that_turns_to_another_node_forgets_what_was_below():
    check_against_oracle(191, 8, relevance_weight=0.5, max_depth=3, max_children=15, order="conditional")
    check_against_oracle(106, 8, relevance_weight=0.2, max_depth=3, max_children=2, order="conditional")


@settings(max_examples=40)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([0.0, 0.2, 0.5, 1.0, 3.0]),
    st.integers(1, 4),
    st.integers(1, 5),
    st.sampled_from(["objective", "printed"]),
    st.sampled_from(ORDERS),
    st.sampled_from(["printed", "objective", "never"]),
)
def test_trees_of_any_parameters(seed, relevance_weight, max_depth, max_children, rule, order, swap):
    limits = {"max_depth": max_depth, "max_children": max_children}
    check_against_oracle(
        seed, 7, relevance_weight=relevance_weight, rule=rule, order=order, swap=swap, **limits
    )


def test_a_column_that_the_class_determines_is_not_turned_away():
    """Equation 7 asks for R(f) < H(f): here they are the same integer."""
    y = np.arange(600) % 3
    X = np.column_stack([noisy(y, 0.9, 0), y > 0])
    assert "x1" in parents(X, y, irrelevance="printed", order="given", swap="never")


def test_a_copy_does_not_take_the_place_of_what_it_copies():
    y = np.arange(600) % 3
    first = noisy(y, 0.3, 0)
    X = np.column_stack([first, first])
    for swap in ("objective", "printed"):
        assert parents(X, y, order="given", swap=swap) == {"x0": "class", "x1": "x0"}
