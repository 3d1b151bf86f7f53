"""The additive classifier: the minimum of its loss, unknown values, with and without the data."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax
from scipy.stats import chi2
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from slfs import (
    BNSLFS,
    CMIM,
    MRMR,
    SLFS,
    TAN,
    MDLPDiscretizer,
    ResidualPursuit,
    StabilitySelection,
    saving,
)
from slfs._core.warn import UnseenValueWarning
from slfs.coding.codebook import Coding, make_columns
from slfs.coding.encode import Encoded
from slfs.measures.additive import BLOCK, find_runs, fit_tables
from slfs.saving.interchange import to_bif
from slfs.selectors._shared.additive import fit_additive_tables
from slfs.selectors._shared.reference import draw_samples
from tests import naive
from tests.helpers import dependent_codes, information_of


def coding_of(codes):
    """The coding of columns whose levels are categories."""
    n_levels = codes.max(axis=1) + 1
    return Coding(
        make_columns(len(codes), n_levels=n_levels), np.zeros(len(codes) + 1, np.int64), np.empty(0)
    )


def penalized_loss(tables, codes, y, pairs, log_prior):
    """Sum of the log losses of the samples plus 1.5 times the sum of squares, by definition."""
    score = np.tile(log_prior, (len(y), 1))
    for column, table in enumerate(tables[: len(codes)]):
        score += table[codes[column]]
    for (f, k), table in zip(pairs, tables[len(codes) :], strict=True):
        score += table[codes[f], codes[k]]
    own = score[np.arange(len(y)), y] - logsumexp(score, axis=1)
    return -own.sum() + 1.5 * sum((table**2).sum() for table in tables)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_tables_minimize_the_penalized_loss(n_classes):
    codes, y = dependent_codes(4, 300, 4, n_levels=3, n_classes=n_classes)
    others = np.array([-1, 0, 1, 1])
    totals, labels = np.bincount(y), y.astype(np.int32)
    nodes, edges = fit_tables(codes.astype(np.uint8), codes.max(axis=1) + 1, others, labels, totals)
    pairs = [(f, int(k)) for f, k in enumerate(others) if k >= 0]
    tables = [*nodes, *edges[1:]]
    shapes = [table.shape for table in tables]
    ends = np.cumsum([np.prod(shape) for shape in shapes])

    def loss(flat):
        parts = np.split(flat, ends[:-1])
        tables = [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]
        return penalized_loss(tables, codes, y, pairs, np.log(totals / len(y)))

    own = np.concatenate([table.ravel() for table in tables])
    best = minimize(loss, own, method="L-BFGS-B", options={"maxfun": 10**6}).fun
    start = loss(np.zeros_like(own))
    assert loss(own) - best < 0.002 * (start - best)


@pytest.mark.parametrize(("n_samples", "n_rows"), [(1, 1), (256, 1), (257, 3), (1000, 2), (700, 400)])
def test_samples_are_grouped_by_row_in_each_block(n_samples, n_rows):
    rows = np.random.default_rng(n_samples).integers(0, n_rows, n_samples)
    positions, sizes = find_runs(rows, n_rows)
    for first in range(0, n_samples, int(BLOCK)):
        block = rows[first : first + int(BLOCK)]
        start, groups = 0, []
        while start < len(block):
            stop = start + int(sizes[first + start]) + 1
            own = positions[first + start : first + stop].astype(np.int64)
            assert (np.diff(own) > 0).all()
            assert len(np.unique(block[own])) == 1
            groups.append(int(block[own[0]]))
            start = stop
        np.testing.assert_array_equal(np.sort(groups), np.unique(block))
        ends = positions[first : first + len(block)]
        np.testing.assert_array_equal(np.sort(ends), np.arange(len(block)))


def test_a_strong_indicator_of_a_rare_class_has_its_share():
    X = pd.DataFrame({"flag": np.repeat(["no", "yes", "yes"], [9000, 500, 500])})
    y = np.repeat([0, 0, 1], [9000, 500, 500])
    classifier = BNSLFS().fit(X, y)
    no, yes = classifier.predict_proba(X.iloc[[0, -1]])[:, 1]
    assert no < 0.001
    assert abs(yes - 0.5) < 0.02
    assert "lowers the training log loss of the growing model" in classifier.selector_.explain("flag")
    path = classifier.selector_.size_path_.log_loss
    assert path[1] < path[0]


@pytest.mark.parametrize("seed", range(10))
def test_the_tables_are_settled_whatever_the_shares_of_the_classes(seed):
    random = np.random.default_rng(seed)
    n_samples, n_classes = int(10 ** random.uniform(2.5, 4.5)), int(random.integers(2, 5))
    y = np.append(
        np.arange(n_classes), random.choice(n_classes, n_samples, p=random.dirichlet([0.3] * n_classes))
    )
    codes = []
    for n_levels in (2, 3, 5):
        below = random.dirichlet([0.3] * n_levels, size=n_classes).cumsum(axis=1)[:, :-1]
        codes.append((random.random(len(y))[:, np.newaxis] > below[y]).sum(axis=1))
    codes, totals = np.array(codes, np.uint8), np.bincount(y)
    n_levels = codes.max(axis=1).astype(np.int64) + 1
    tables, _ = fit_tables(codes, n_levels, np.full(3, -1), y.astype(np.int32), totals)
    log_prior = np.log(totals / totals.sum())
    found = penalized_loss(tables, codes, y, [], log_prior)
    size, bounds = int(n_levels.sum()), np.cumsum(n_levels)[:-1]
    best = minimize(
        lambda flat: penalized_loss(np.split(flat.reshape(size, -1), bounds), codes, y, [], log_prior),
        np.concatenate(tables).reshape(-1),
        options={"maxiter": 20},
    ).fun
    assert found - best < 1e-3 * len(y)


def test_shifted_tables_make_the_same_predictions():
    codes, y = dependent_codes(4, 300, 5, n_levels=3)
    information = information_of(codes, y)
    found = fit_additive_tables(information, np.arange(5), coding_of(codes))
    order = np.argsort(y, kind="stable")
    encoded = Encoded(np.ascontiguousarray(codes[:, order].astype(np.uint8)))
    nodes, edges = fit_tables(
        encoded.codes, codes.max(axis=1) + 1, found.parents, y[order].astype(np.int32), np.bincount(y)
    )
    raw = replace(found, nodes=nodes, edges=edges)
    np.testing.assert_allclose(
        softmax(found.scores(encoded), axis=1), softmax(raw.scores(encoded), axis=1)
    )
    own = np.array([found.entries(encoded, node).mean(axis=0) for node in range(5)])
    np.testing.assert_allclose(own, np.tile(own[0], (5, 1)), atol=1e-12)
    for node, parent in enumerate(found.parents.tolist()):
        if parent >= 0:
            entries = found.edges[node][encoded.codes[node], encoded.codes[parent]]
            np.testing.assert_allclose(entries.mean(axis=0), 0, atol=1e-12)


def test_leaving_a_value_out_hardly_changes_the_mean_prediction():
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 400)
    X = pd.DataFrame({f"g{j}": random.normal(size=400) + y for j in range(5)})
    classifier = BNSLFS().fit(X, y)
    for name in X.columns:
        with pytest.warns(UnseenValueWarning):
            found = classifier.predict_proba(X.assign(**{name: np.nan}))
        assert found[:, 1].mean() == pytest.approx(y.mean(), abs=0.02)


@pytest.mark.filterwarnings("ignore::slfs.UnseenValueWarning")
def test_the_mean_prediction_without_a_column_that_nearly_excludes_a_class():
    """One level excludes a class, so the other speaks for it: without the column, nothing must."""
    random = np.random.default_rng(0)
    y = random.random(4000) < 0.45
    strong = np.where(y | (random.random(4000) < 0.3), "a", "b")
    X = pd.DataFrame({"strong": strong, "weak": random.normal(size=4000) + 0.5 * y})
    classifier, network = BNSLFS().fit(X, y), BNSLFS(structure="linked").fit(X, y)
    for unknown in ({"strong": None}, {"weak": None}):
        found = classifier.predict_proba(X.assign(**unknown))
        assert found[:, 1].mean() == pytest.approx(y.mean(), abs=0.02)  # it was 0.321 for the first
        expected = network.predict_proba(X.assign(**unknown))
        assert log_loss(y, found) == pytest.approx(log_loss(y, expected), abs=0.01)


@pytest.mark.filterwarnings("ignore::slfs.UnseenValueWarning")
def test_a_column_with_the_opposite_effect_given_others_says_nothing_without_them():
    """Income is low in class 1 given the limit, but on its own it is slightly higher."""
    random = np.random.default_rng(0)
    income = random.normal(size=2000)
    limit = income + 0.5 * random.normal(size=2000)
    y = 3 * limit - 2.5 * income + 0.5 * random.normal(size=2000) > -0.7
    X = pd.DataFrame(
        {"income": income, "limit": limit, "rating": limit + 0.1 * random.normal(size=2000)}
    )
    classifier = BNSLFS().fit(X[:1000], y[:1000])
    new, labels = X[1000:].assign(limit=np.nan, rating=np.nan), y[1000:]
    frequencies = log_loss(labels, np.full(1000, y[:1000].mean()))
    assert log_loss(labels, classifier.predict_proba(new)) < frequencies + 0.01
    assert log_loss(labels, classifier.predict_proba(X[1000:])) < 0.6 * frequencies


def test_samples_are_drawn_from_the_network_of_the_columns():
    """Column 1 is the parent of 0, which is that of 2; the classes are as frequent as in the data."""
    codes, y = dependent_codes(0, 20_000, 3, n_levels=3)
    n_levels, parents = codes.max(axis=1) + 1, np.array([1, -1, 0])
    y = y % 2
    drawn = [
        draw_samples(codes[:, own].astype(np.uint8), n_levels, parents, y[own], np.bincount(y))
        for own in (np.arange(20_000), np.random.default_rng(0).permutation(20_000))
    ]
    np.testing.assert_array_equal(*drawn)  # only counts matter
    classes = np.sort(y)[((np.arange(300) + 0.5) * 20_000 / 300).astype(int)]
    for c in range(2):
        for node, parent in ((0, 1), (2, 0)):
            own, every = classes == c, y == c
            joint = (
                np.histogram2d(drawn[0][parent][own], drawn[0][node][own], bins=[3, 3])[0] / own.sum()
            )
            expected = (
                np.histogram2d(codes[parent][every], codes[node][every], bins=[3, 3])[0] / every.sum()
            )
            np.testing.assert_allclose(joint, expected, atol=0.1)


def test_a_column_that_matters_has_importance():
    """Alone, the second column says nothing: it tells when the first one is wrong."""
    random = np.random.default_rng(0)
    y, flipped = random.integers(0, 2, (2, 500))
    X = pd.DataFrame({"a": y ^ flipped, "b": flipped, "c": random.integers(0, 2, 500)}).astype(str)
    X["d"] = np.where(random.random(500) < 0.3, 1 - y, y).astype(str)
    classifier = BNSLFS(MRMR(4)).fit(X, y)
    importances = dict(zip(X.columns, classifier.feature_importances_, strict=True))
    assert min(importances["a"], importances["b"]) >= 0
    assert max(importances["a"], importances["b"]) > 5 * importances["c"]


def test_the_edges_are_those_of_a_spanning_tree_that_are_significant_given_the_class():
    codes, y = dependent_codes(8, 300, 5)
    columns = [3, 0, 4, 1]
    found = fit_additive_tables(information_of(codes, y), np.array(columns), coding_of(codes[columns]))

    def strength(f, k):
        given = naive.conditional_information(codes[f].tolist(), codes[k].tolist(), y.tolist())
        return round(given, 12)

    inside, expected = {0}, {}
    while len(inside) < 4:
        edges = [
            (strength(columns[f], columns[k]), f, k) for f in inside for k in set(range(4)) - inside
        ]
        shared, f, k = max(edges)
        inside.add(k)
        freedom = codes[columns[f]].max() * codes[columns[k]].max() * (y.max() + 1)
        expected[frozenset((f, k))] = chi2.sf(2 * 300 * shared, freedom) <= 0.05
    assert set(expected.values()) == {False, True}
    edges = {frozenset((f, int(k))) for f, k in enumerate(found.parents) if k >= 0}
    assert edges == {edge for edge, significant in expected.items() if significant}


def quartile_table(seed):
    """Numbers, some rounded and some missing, beside text; the class depends on their order."""
    random = np.random.default_rng(seed)
    X = pd.DataFrame(random.normal(size=(400, 4)), columns=list("abcd"))
    y = (X.sum(axis=1) + random.normal(size=400)).rank().to_numpy() * 3 // 401
    X["b"] = X["b"].round()
    X.loc[random.random(400) < 0.1, "c"] = np.nan
    X["e"] = np.where(X["d"] > 0, "high", "low")
    return X, y.astype(int)


def test_levels_are_divided_at_the_quartiles():
    X, y = quartile_table(0)
    selector = ResidualPursuit(5).fit(X, y)
    classifier = selector.to_classifier()
    for node, column in enumerate(selector.indices_.tolist()):
        name = X.columns[column]
        own = selector.network_counts_.coding.column_thresholds(node)
        fine = classifier._coding.column_thresholds(node)
        assert set(own) <= set(fine)
        if name == "e":
            assert len(fine) == len(own)
            continue
        between = np.searchsorted(fine, X[name].dropna())
        assert len(np.unique(between)) == len(fine) + 1  # no empty level
        shares = np.bincount(between) / len(between)
        assert (shares < 0.5).all() or name == "b"


def test_the_tables_of_levels_and_quartiles_minimize_the_penalized_loss():
    X, y = quartile_table(1)
    selector = ResidualPursuit(5).fit(X, y)
    codes = MDLPDiscretizer().fit(X, y).transform(X).T[selector.indices_]
    quartiles = []
    for name in X.columns[selector.indices_].drop("e"):
        values = X[name]
        rank, tied = values.rank(), values.map(values.value_counts())
        below = rank - (tied + 1) / 2
        level = ((2 * below + tied) * 4 // (2 * values.count())).fillna(9)
        quartiles.append(np.unique(level, return_inverse=True)[1])
    both = np.concatenate([codes, quartiles]).astype(np.uint8)
    parents = selector._additive.parents
    others = np.append(parents, np.full(len(quartiles), -1))
    n_levels = both.max(axis=1).astype(np.int64) + 1
    tables, edges = fit_tables(both, n_levels, others, y.astype(np.int32), np.bincount(y))
    score = np.tile(np.log(np.bincount(y) / len(y)), (len(y), 1))
    for column, (table, edge) in enumerate(zip(tables, edges, strict=True)):
        score += table[both[column]]
        if edge is not None:
            score += edge[both[column], both[parents[column]]]
    np.testing.assert_allclose(
        selector.to_classifier().predict_proba(X), softmax(score, axis=1), atol=1e-3
    )


def test_quartiles_beside_levels_predict_better():
    better = 0
    for seed in range(10):
        X, y = quartile_table(seed)
        train, test = np.arange(0, 400, 2), np.arange(1, 400, 2)
        losses = [
            log_loss(y[test], model.fit(X.iloc[train], y[train]).predict_proba(X.iloc[test]))
            for model in (BNSLFS(SLFS(trends=trends)) for trends in (True, False))
        ]
        better += losses[0] < losses[1]
    assert better >= 9


def test_probabilities_and_contributions_add_up():
    X, y = load_digits(return_X_y=True)
    classifier = ResidualPursuit(12).fit(X, y).to_classifier()
    assert classifier.structure == "additive"
    explanation = classifier.explain_prediction(X[:50])
    scores = explanation.log_prior + explanation.log_factors.sum(axis=1)
    np.testing.assert_allclose(softmax(scores, axis=1), classifier.predict_proba(X[:50]))
    np.testing.assert_allclose(explanation.probabilities, classifier.predict_proba(X[:50]))
    np.testing.assert_array_equal(explanation.predictions, classifier.predict(X[:50]))
    importances = classifier.feature_importances_
    assert importances.sum() == pytest.approx(1)
    assert set(np.flatnonzero(importances)) <= set(classifier.network_.columns)


@pytest.mark.parametrize("selector", [ResidualPursuit(6), SLFS(order="residual"), SLFS(order="given")])
def test_the_same_from_the_selector_and_from_the_data(selector):
    X, y = load_breast_cancer(return_X_y=True)
    fitted = BNSLFS(selector).fit(X, y)
    if fitted.selector.get_params().get("order") == "given":
        with pytest.raises(ValueError, match=r"needs the samples.* fit BNSLFS\(selector"):
            selector.fit(X, y).to_classifier(structure="additive")
        assert selector.to_classifier().structure == "linked"
        return
    again = selector.fit(X, y).to_classifier()
    np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))


def test_on_the_columns_of_any_selector():
    X, y = load_iris(return_X_y=True, as_frame=True)
    for selector in (MRMR(2), CMIM(), StabilitySelection(n_subsamples=10, random_state=0)):
        classifier = BNSLFS(selector).fit(X, y)
        assert classifier.score(X, y) > 0.93
        assert selector.fit(X, y).to_classifier().structure == "linked"  # nothing left behind


def test_less_loss_on_new_data_than_networks_that_count_shared_information_twice():
    X, y = load_breast_cancer(return_X_y=True)
    train, test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0, stratify=y)
    selector = ResidualPursuit(20).fit(train, y_train)
    losses = {
        structure: log_loss(y_test, selector.to_classifier(structure=structure).predict_proba(test))
        for structure in ("additive", "linked", "augmented")
    }
    columns = selector.indices_
    tan = TAN().fit(train[:, columns], y_train).predict_proba(test[:, columns])
    assert losses["additive"] < min(losses["linked"], losses["augmented"], log_loss(y_test, tan))


def test_unknown_values_are_left_out():
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 400)
    noisy = np.where(random.random(400) < 0.2, 1 - y, y)
    X = pd.DataFrame({"a": noisy.astype(str), "b": (noisy ^ (random.random(400) < 0.1)).astype(str)})
    X["c"] = np.where(random.random(400) < 0.3, 1 - y, y).astype(str)
    classifier = BNSLFS(ResidualPursuit(3)).fit(X, y)
    tables = classifier._additive
    new = pd.DataFrame({"a": ["?", "1", "?"], "b": ["1", "?", "?"], "c": ["1", "0", "?"]})
    with pytest.warns(UnseenValueWarning):
        found = classifier.predict_proba(new)
    names = classifier.network_.names

    def plain_score(levels):
        """Add the entries of some nodes up, and of the edges between them."""
        score = tables.log_prior.copy()
        for node, level in levels.items():
            score += tables.nodes[node][level]
            parent = int(tables.parents[node])
            if parent in levels:
                score += tables.edges[node][level, levels[parent]]
        return score

    for row, known in enumerate(({"b": 1, "c": 1}, {"a": 1, "c": 0}, {})):
        nodes = {names.index(name): level for name, level in known.items()}
        shift = np.log(found[row]) - plain_score(nodes)
        rows = tables.drawn.T.tolist()
        mean = [
            softmax([plain_score({node: own[node] for node in some}) + add for own in rows], axis=1)
            for some, add in ((nodes, shift), (range(3), 0))
        ]
        part, whole = (shares.mean(axis=0) for shares in mean)
        wanted = (3 - len(nodes)) / 3 * np.exp(tables.log_prior) + len(nodes) / 3 * whole
        np.testing.assert_allclose(part, wanted, rtol=2e-3)
    np.testing.assert_allclose(found[2], np.exp(tables.log_prior))


def test_what_needs_a_network_is_refused():
    X, y = load_iris(return_X_y=True)
    classifier = BNSLFS(ResidualPursuit(2)).fit(X, y)
    for name in ("sample", "score_samples", "predict_joint_log_proba"):
        assert not hasattr(classifier, name)
        assert hasattr(BNSLFS(ResidualPursuit(2), structure="linked"), name)
    with pytest.raises(AttributeError) as caught:
        classifier.sample()
    assert "structure='linked'" in str(caught.value.__cause__)
    with pytest.raises(ValueError, match="not a Bayesian network"):
        to_bif(classifier)


def test_saved_reduced_and_without_columns(tmp_path):
    X, y = load_breast_cancer(return_X_y=True)
    classifier = BNSLFS(ResidualPursuit(5)).fit(X, y)
    saving.save(classifier, tmp_path / "model.slfs")
    again = saving.load(tmp_path / "model.slfs")
    np.testing.assert_array_equal(again.predict_proba(X), classifier.predict_proba(X))
    np.testing.assert_array_equal(again.feature_importances_, classifier.feature_importances_)
    small = classifier.reduce()
    columns = np.sort(classifier.network_.columns)
    np.testing.assert_array_equal(small.predict_proba(X[:, columns]), classifier.predict_proba(X))
    noise = np.random.default_rng(0).normal(size=(len(y), 3))
    with pytest.warns(UserWarning, match="selected 0 of 3 columns"):
        empty = BNSLFS(ResidualPursuit()).fit(noise, y)
    np.testing.assert_allclose(empty.predict_proba(noise)[0], np.bincount(y) / len(y))
    assert empty.explain_prediction(noise[:2]).log_factors.shape == (2, 0, 2)
