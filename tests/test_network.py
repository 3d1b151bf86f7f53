"""TreeNetwork: structure, criterion J, and conversions."""

import sys
from dataclasses import replace

import networkx
import numpy as np
import pytest
import sklearn
from sklearn.datasets import load_iris

from slfs import SLFS, TreeNetwork


@pytest.fixture
def network():
    return TreeNetwork(
        names=("a", "b", 'c "quoted"', "d"),
        columns=np.array([5, 2, 7, 0]),
        parents=np.array([-1, 0, 0, -1]),
        levels=np.array([1, 2, 2, 1]),
        relevance=np.array([0.5, 0.1, 0.2, 0.6]),
        entropy=np.array([0.7, 0.6, 0.6, 0.65]),
        mutual_information=np.array([0.5, 0.3, 0.4, 0.6]),
        conditional_relevance=np.array([0.0, 0.05, 0.01, 0.0]),
    )


def test_shape(network):
    assert len(network) == 4
    assert network.children() == [0, 3]
    assert network.children(0) == [1, 2]
    assert network.children(3) == []
    assert network.edges == [("class", "a"), ("a", "b"), ("a", 'c "quoted"'), ("class", "d")]


def test_objective_is_equation_6(network):
    by_hand = (0.5 - 0.7 + 2 * 0.5) + (0.3 - 0.6 + 2 * 0.05) + (0.4 - 0.6 + 2 * 0.19)
    by_hand += 0.6 - 0.65 + 2 * 0.6
    assert network.objective(2.0) == pytest.approx(by_hand)
    assert network.objective() == pytest.approx(by_hand - 0.5 - 0.05 - 0.19 - 0.6), "lambda is 1"


def test_drawing_puts_the_most_relevant_first(network):
    assert str(network).splitlines() == [
        "class",
        "├── d",
        "└── a",
        '    ├── c "quoted"',
        "    └── b",
    ]
    assert repr(network) == "TreeNetwork(4 features, depth 2)"


def test_the_line_goes_on_past_children(network):
    first = replace(network, relevance=np.array([0.9, 0.1, 0.2, 0.6]))
    assert str(first).splitlines() == [
        "class",
        "├── a",
        '│   ├── c "quoted"',
        "│   └── b",
        "└── d",
    ]


def test_no_features_at_all():
    nothing, whole = np.empty(0), np.empty(0, np.int64)
    network = TreeNetwork((), whole, whole, whole, nothing, nothing, nothing, nothing)
    assert repr(network) == "TreeNetwork(0 features, depth 0)"
    assert str(network) == "class"


def test_networkx(network):
    graph = network.to_networkx()
    assert networkx.is_arborescence(graph)
    assert graph.edges["a", "b"] == {"mutual_information": 0.3, "conditional_relevance": 0.05}
    assert graph.nodes["d"] == {"level": 1, "relevance": 0.6, "entropy": 0.65}


def test_the_class_is_at_level_0(network):
    assert network.to_networkx().nodes["class"] == {"level": 0}


def test_dot_line_by_line(network):
    assert network.to_dot().splitlines() == [
        "digraph slfs {",
        "  node [shape=box, style=rounded];",
        '  "class" [shape=ellipse];',
        '  "class" -> "a" [label="0.500"];',
        '  "a" -> "b" [label="0.300"];',
        '  "a" -> "c \\"quoted\\"" [label="0.400"];',
        '  "class" -> "d" [label="0.600"];',
        "}",
    ]


def test_dot_quotes_names(network):
    dot = network.to_dot()
    assert '"a" -> "c \\"quoted\\"" [label="0.400"];' in dot
    assert dot.startswith("digraph")
    assert dot.count("->") == 4


def test_a_feature_called_like_the_class():
    import pandas as pd

    y = pd.Series([0, 1] * 20, name="target")
    network = SLFS().fit(pd.DataFrame({"target": y}), y).network_
    assert network.edges == [("target'", "target")]
    assert networkx.is_arborescence(network.to_networkx())


def test_a_deep_tree_can_be_drawn():
    n = 3000
    chain = TreeNetwork(
        tuple(map(str, range(n))), np.arange(n), np.arange(n) - 1, np.arange(n) + 1, *np.ones((4, n))
    )
    assert len(str(chain).splitlines()) == n + 1


def test_a_notebook_shows_the_tree_of_a_fitted_selector():
    selector = SLFS()
    assert "petal width" not in selector._repr_html_()
    selector.fit(*load_iris(return_X_y=True, as_frame=True))
    assert "petal width" in selector._repr_html_()
    assert "petal width" in selector._repr_mimebundle_()["text/html"]
    with sklearn.config_context(display="text"):
        assert "text/html" not in selector._repr_mimebundle_()
        assert not hasattr(selector, "_repr_html_")


def test_a_graph_without_networkx(network, monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(
        ImportError, match=r"networkx, which is not installed: pip install 'slfs\[plot\]'"
    ):
        network.to_networkx()
