"""Comparison of networks: Chow-Liu against exhaustive search, figures against plain loops."""

import itertools
import json

import networkx
import numpy as np
import pytest
from scipy import sparse, stats
from sklearn.datasets import load_breast_cancer, load_iris

from slfs import MRMR, SLFS, TAN, ChowLiu, StabilitySelection, compare_networks
from slfs._core.progress import progress_callback
from slfs.evaluation.cross_validation import make_splits
from slfs.evaluation.paired_tests import mcnemar
from slfs.network.tree import ROOT
from slfs.tables.target import read_target
from tests import naive
from tests.helpers import dependent_codes


@pytest.fixture(scope="module")
def cancer():
    return load_breast_cancer(return_X_y=True, as_frame=True)


@pytest.mark.parametrize("seed", range(8))
def test_the_tree_of_chow_and_liu_is_the_heaviest_of_all(seed):
    codes, y = dependent_codes(seed, 300, 7)
    network = ChowLiu(categorical_features="all").fit(codes.T, y).network_
    variables = [*codes.tolist(), y.tolist()]
    graph = networkx.Graph()
    for one, other in itertools.combinations(range(8), 2):
        weight = naive.mutual_information(variables[one], variables[other])
        graph.add_edge(one, other, weight=weight)
    heaviest = networkx.maximum_spanning_tree(graph)
    above = np.append(network.columns, 7)[network.parents]
    found = {frozenset(edge) for edge in zip(above.tolist(), network.columns.tolist(), strict=True)}
    assert found == {frozenset(edge) for edge in heaviest.edges}
    assert network.mutual_information.sum() == pytest.approx(heaviest.size("weight"))


def test_the_probabilities_of_chow_and_liu():
    codes, y = dependent_codes(1, 120, 4)
    model = ChowLiu(categorical_features="all").fit(codes.T, y)
    network = model.network_
    columns = {int(column): codes[column].tolist() for column in network.columns}
    parents = {
        int(column): None if parent == ROOT else int(network.columns[parent])
        for column, parent in zip(network.columns, network.parents, strict=True)
    }
    deep = [column for column, parent in parents.items() if parent is not None]
    joint = model.predict_joint_log_proba(codes.T[:5])
    for i, label in itertools.product(range(5), range(3)):
        sample = {column: codes[column, i] for column in columns}
        expected = naive.joint_log_probability(
            sample, label, columns, y.tolist(), parents, 1.0, 5.0, tree_only=deep
        )
        assert joint[i, label] == pytest.approx(expected)


def test_figures_are_those_of_a_plain_loop(cancer):
    X, y = cancer
    found = compare_networks(X, y, cv=3, repeats=2, random_state=4)
    models = {"SLFS": SLFS().fit(X, y)}
    chosen = models["SLFS"].support_
    assert list(found.networks) == ["SLFS", "TAN", "Chow-Liu"]
    for name, kind in (("TAN", TAN), ("Chow-Liu", ChowLiu)):
        network = kind().fit(X.loc[:, chosen], y).network_
        assert found.networks[name].edges == network.edges
        assert set(found.networks[name].columns) == set(np.flatnonzero(chosen))
    scores = iter(found.scores)
    right = {name: np.zeros(len(y), bool) for name in found.networks}
    for repeat in range(2):
        for train, test in make_splits(read_target(y), 3, 4 + repeat):
            selector = SLFS().fit(X.iloc[train], y.iloc[train])
            kept = X.columns[selector.support_]
            part, labels = X.loc[:, kept].iloc[train], y.iloc[train]
            for name, model, columns in (
                ("SLFS", selector.to_classifier(structure="linked"), X.columns),
                ("TAN", TAN().fit(part, labels), kept),
                ("Chow-Liu", ChowLiu().fit(part, labels), kept),
            ):
                score, table = next(scores), X[columns].iloc[test]
                hits = model.predict(table) == y.iloc[test]
                assert (score.network, score.repeat, score.n_features) == (name, repeat, len(kept))
                assert score.accuracy == pytest.approx(hits.mean())
                rows = np.arange(len(test)), y.iloc[test]
                log_class = model.predict_log_proba(table)[rows].mean()
                log_joint = model.predict_joint_log_proba(table)[rows].mean()
                assert score.log_class == pytest.approx(log_class)
                assert score.log_joint == pytest.approx(log_joint)
                if repeat == 0:
                    right[name][test] = hits
    pair = found.pairs[0]
    b, c = (right["SLFS"] & ~right["TAN"]).sum(), (~right["SLFS"] & right["TAN"]).sum()
    assert (pair.first, pair.second, pair.first_only, pair.second_only) == ("SLFS", "TAN", b, c)
    assert pair.mcnemar == pytest.approx(stats.binomtest(int(b), int(b + c)).pvalue)


def test_shared_edges_and_the_criterion(cancer):
    found = compare_networks(*cancer, cv=2, repeats=1)
    for pair in found.pairs:
        first, second = found.networks[pair.first], found.networks[pair.second]
        one, other = ({e for e in net.edges if "target" not in e} for net in (first, second))
        assert pair.same_direction == len(one & other)
        assert pair.shared == len({frozenset(e) for e in one} & {frozenset(e) for e in other})
        children = [set(net.columns[net.parents == ROOT]) for net in (first, second)]
        assert pair.shared_children == len(children[0] & children[1])
    likelihood = {name: network.objective(0.0) for name, network in found.networks.items()}
    assert likelihood["Chow-Liu"] == max(likelihood.values())  # with lambda 0, J is the likelihood
    objective = {row["network"]: row["objective"] for row in found.summary()}
    assert objective["SLFS"] == found.networks["SLFS"].objective(0.5)


def test_a_network_against_itself():
    """With one column every method learns the same star, so nothing can differ."""
    X, y = load_iris(return_X_y=True)
    found = compare_networks(
        X, y, selector=MRMR(n_features_to_select=1), structure="tree", cv=3, repeats=1
    )
    for pair in found.pairs:
        assert (pair.difference, pair.first_only, pair.second_only) == (0, 0, 0)
        assert pair.mcnemar == pair.t_test == 1
    assert len({(score.fold, score.log_joint) for score in found.scores}) == 3


def test_kinds_of_tables_and_threads(cancer):
    X, y = cancer
    first = compare_networks(X, y, cv=2, repeats=1)
    for table in (X.to_numpy(), sparse.csc_array(X.to_numpy())):
        again = compare_networks(table, y, cv=2, repeats=1, n_jobs=2)
        assert again.scores == first.scores
        assert again.pairs == first.pairs
    calls = []
    with progress_callback(lambda done, total: calls.append((done, total))):
        compare_networks(X, y, cv=2, repeats=1)
    assert calls[-2:] == [(1, 2), (2, 2)]


def test_all_columns_nothing_selected_and_other_selectors(cancer):
    X, y = cancer
    every = compare_networks(X, y, columns="all", cv=2, repeats=1)
    assert not every.same_columns
    assert len(every.networks["TAN"]) > len(every.networks["SLFS"])
    noise = np.random.default_rng(0).normal(size=(60, 3))
    nothing = compare_networks(noise, np.arange(60) % 2, cv=2, repeats=1)
    assert {score.accuracy for score in nothing.scores} == {0.5}
    assert all(len(network) == 0 for network in nothing.networks.values())
    stable = compare_networks(X, y, selector=StabilitySelection(n_subsamples=4), cv=2, repeats=1)
    assert list(stable.networks) == ["StabilitySelection", "TAN", "Chow-Liu"]


def test_words_and_plain_values(cancer):
    found = compare_networks(*cancer, cv=2, repeats=1)
    text = str(found)
    for word in ("SLFS less TAN", "Chow-Liu", "same direction", "p (McNemar)"):
        assert word in text
    assert found.to_frame().loc["TAN", "n_features"] == len(found.networks["TAN"])
    plain = json.loads(json.dumps(found.to_dict()))
    assert [entry["network"] for entry in plain["networks"]] == ["SLFS", "TAN", "Chow-Liu"]
    assert plain["networks"][0]["tree"][0] == list(found.networks["SLFS"].edges[0])


def test_wrong_arguments_are_named(cancer):
    X, y = cancer
    with pytest.raises(ValueError, match="'columns' parameter of compare_networks"):
        compare_networks(X, y, columns="few")
    with pytest.raises(
        ValueError, match=r"cv=300 is too large: the smallest class \(0\) has 212 samples"
    ):
        compare_networks(X, y, cv=300)
    array = pytest.importorskip("dask.array")
    with pytest.raises(TypeError, match=r"X\.compute\(\)"):
        compare_networks(array.from_array(np.eye(8), chunks=8), [0, 1] * 4)


@pytest.mark.parametrize(("b", "c", "p"), [(0, 0, 1.0), (5, 5, 1.0), (1, 9, 22 / 1024), (6, 0, 2 / 64)])
def test_mcnemar_by_hand(b, c, p):
    assert mcnemar(b, c) == pytest.approx(p)
    assert mcnemar(c, b) == pytest.approx(p)
