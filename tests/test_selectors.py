"""The other selectors and classifiers: reference results, and common behavior."""

import itertools
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn import datasets
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.naive_bayes import CategoricalNB

from slfs import (
    CMIM,
    DISR,
    FCBF,
    JMI,
    JMIM,
    MRMR,
    OSFS,
    SAOLA,
    SLFS,
    TAN,
    AlphaInvesting,
    Chi2Ranking,
    FastOSFS,
    MDLPDiscretizer,
    NaiveBayes,
    make_network_classification,
)
from slfs.screening.reasons import Reason
from tests import naive

FIXTURES = Path(__file__).parent / "fixtures"
REFERENCES = json.loads((FIXTURES / "references.json").read_text())

METHODS = {
    "MID": MRMR,
    "MIQ": lambda **parameters: MRMR(criterion="MIQ", **parameters),
    "JMI": JMI,
    "CMIM": CMIM,
    "DISR": DISR,
    "JMIM": JMIM,
}
SELECTORS = [
    MRMR(),
    MRMR(criterion="MIQ"),
    JMI(),
    CMIM(),
    DISR(),
    JMIM(),
    FCBF(delta=0.01),
    Chi2Ranking(),
    OSFS(samples_per_df=1),
    FastOSFS(samples_per_df=1),
    SAOLA(delta=0.01),
    SLFS(),
]
ONLINE = {"osfs_d": OSFS, "fast_osfs_d": FastOSFS, "saola_mi(SU)": SAOLA}
LOFS = [row for row in REFERENCES["lofs"] if row["alg"] in ONLINE]


def load(name):
    """The data of a reference, and the parameters with which slfs uses the same codes."""
    if name == "synthetic":
        with np.load(FIXTURES / "synthetic.npz") as data:
            return data["X"], data["y"], {"categorical_features": "all"}
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    return X, y, {}


@pytest.mark.parametrize(
    ("name", "method"),
    # praznik's DISR selects columns of one level of breast_cancer: the next test
    sorted(set(itertools.product(REFERENCES["orders"], METHODS)) - {("breast_cancer", "DISR")}),
)
def test_orders_and_scores_equal_the_references(name, method):
    X, y, parameters = load(name)
    expected = REFERENCES["orders"][name][method]
    selector = METHODS[method](
        n_features_to_select=len(expected["selected"]), n_jobs=2, **parameters
    ).fit(X, y)
    assert selector.indices_.tolist() == expected["selected"]
    if expected["scores"] is not None:
        np.testing.assert_allclose(selector.selection_scores_, expected["scores"], atol=1e-9)


@pytest.mark.parametrize(("kind", "combine"), [(DISR, sum), (JMIM, min)])
def test_criteria_of_pairs_are_their_definitions(kind, combine):
    """A plain implementation gives the reference with columns of one level, and ours without them."""
    X, y = datasets.load_breast_cancer(return_X_y=True)
    codes, labels = MDLPDiscretizer().fit_transform(X, y).T.tolist(), y.tolist()

    def term(f, s):
        triple = naive.entropy(list(zip(codes[f], codes[s], labels, strict=True)))
        pair = list(zip(codes[f], codes[s], strict=True))
        joint = naive.mutual_information(pair, labels)
        return joint / triple if kind is DISR else joint

    def order(columns, n_columns):
        relevance = {f: naive.mutual_information(codes[f], labels) for f in columns}
        taken = [max(columns, key=relevance.get)]
        scores, terms = [relevance[taken[0]]], {f: [] for f in columns}
        while len(taken) < n_columns:
            rest = [f for f in columns if f not in taken]
            for f in rest:
                terms[f].append(term(f, taken[-1]))
            scores.append(max(combine(terms[f]) for f in rest))
            taken.append(next(f for f in rest if combine(terms[f]) == scores[-1]))
        return taken, scores

    reference = REFERENCES["orders"]["breast_cancer"][kind.__name__]
    selected, scores = order(range(30), 12)
    assert selected == reference["selected"][:12]
    np.testing.assert_allclose(scores, reference["scores"][:12], atol=1e-9)
    selected, scores = order([f for f in range(30) if len(set(codes[f])) > 1], 12)
    fitted = kind(n_features_to_select=12).fit(X, y)
    assert fitted.indices_.tolist() == selected
    np.testing.assert_allclose(fitted.selection_scores_, scores, atol=1e-9)


@pytest.mark.parametrize("row", LOFS, ids=lambda row: f"{row['ds']}-{row['alg']}-{row.get('alpha')}")
def test_online_methods_equal_lofs(row):
    X, y, parameters = load(row["ds"])
    if row["alg"] == "saola_mi(SU)":
        parameters["delta"] = row["threshold"]
    else:
        parameters |= {"alpha": row["alpha"], "statistic": row["test"]}
    selector = ONLINE[row["alg"]](**parameters).fit(X, y)
    assert sorted(selector.indices_.tolist()) == row["sel"]


ZSCORES = [
    row
    for row in REFERENCES["lofs"]
    if "osfs_z" in row["alg"] or row["alg"].startswith("Alpha_Investing([1")
]


@pytest.mark.parametrize("row", ZSCORES, ids=lambda row: f"{row['ds']}-{row['alg']}-{row.get('alpha')}")
def test_methods_on_raw_numbers_equal_lofs(row):
    X, y, _ = load(row["ds"].removesuffix("_continuous").removesuffix("_mdlp"))
    if row["ds"].endswith("_mdlp"):
        X = MDLPDiscretizer().fit_transform(X, y)
    if row["alg"].startswith("Alpha_Investing"):
        expected = [j - 1 for j in row["sel"] if j > 0]  # the constant is the first column there
        assert AlphaInvesting().fit(X, y).indices_.tolist() == expected
        return
    method = FastOSFS if row["alg"].startswith("fast") else OSFS
    selector = method(alpha=row["alpha"], statistic="fisher_z").fit(X, y)
    assert sorted(selector.indices_.tolist()) == row["sel"]


@pytest.mark.parametrize("name", sorted(REFERENCES["tan"]))
def test_tan_equals_the_references(name):
    X, y, parameters = load(name)
    expected = REFERENCES["tan"][name]
    columns = expected.get("columns", range(X.shape[1]))
    classifier = TAN(backoff=None, **parameters).fit(X[:, list(columns)], y)
    network = classifier.network_
    tree = {
        frozenset((columns[network.columns[node]], columns[network.columns[parent]]))
        for node, parent in enumerate(network.parents)
        if parent >= 0
    }
    assert tree == {frozenset(edge) for edge in expected["tree"]}
    assert classifier.score(X[:, list(columns)], y) == pytest.approx(expected["accuracy"], abs=1e-9)
    posteriors = classifier.predict_proba(X[:3, list(columns)]).ravel()
    np.testing.assert_allclose(
        posteriors[: len(expected["first_posteriors"])], expected["first_posteriors"], atol=1e-9
    )


def test_naive_bayes_equals_scikit_learn():
    X, y = datasets.load_breast_cancer(return_X_y=True)
    discretizer = MDLPDiscretizer().fit(X, y)
    codes = discretizer.transform(X)
    expected = CategoricalNB(alpha=0.7).fit(codes, y)
    classifier = NaiveBayes(alpha=0.7).fit(X, y)
    prior = np.log((np.bincount(y) + 0.7) / (len(y) + 1.4)) - expected.class_log_prior_
    joint = expected.predict_joint_log_proba(codes) + prior
    constant = discretizer.n_levels_ == 1
    assert constant.any(), "columns of one level say nothing in either"
    np.testing.assert_allclose(classifier.predict_joint_log_proba(X), joint, atol=1e-9)
    assert (classifier.parents_ == -1).all()


def test_fcbf_is_its_definition():
    X, y = datasets.load_breast_cancer(return_X_y=True)
    codes = MDLPDiscretizer().fit_transform(X, y).T.tolist()
    labels = y.tolist()

    def su(f, k):
        shared = naive.mutual_information(f, k)
        return 2 * shared / (naive.entropy(f) + naive.entropy(k))

    relevance = {j: su(column, labels) for j, column in enumerate(codes) if len(set(column)) > 1}
    rest = sorted(relevance, key=lambda j: (-relevance[j], j))
    kept, lost = [], {}
    while rest:
        p = rest.pop(0)
        kept.append(p)
        lost |= {q: p for q in rest if su(codes[p], codes[q]) >= relevance[q]}
        rest = [q for q in rest if q not in lost]
    selector = FCBF().fit(X, y)
    assert selector.indices_.tolist() == kept
    np.testing.assert_allclose(selector.selection_scores_, [relevance[j] for j in kept], atol=1e-12)
    names = {j: record.lost_to for j, record in enumerate(selector.features_) if record.lost_to}
    assert names == {q: f"x{p}" for q, p in lost.items()}
    assert FCBF(delta=0.4).fit(X, y).n_features_ < len(kept)


def test_chi2_ranking_equals_scipy():
    from scipy.stats import chi2_contingency

    X, y, parameters = load("synthetic")
    selector = Chi2Ranking(n_features_to_select=10, **parameters).fit(X, y)
    statistics = []
    for column in X.T:
        table = np.zeros((column.max() + 1, y.max() + 1))
        np.add.at(table, (column, y), 1)
        statistics.append(chi2_contingency(table, correction=False).statistic)
    expected = np.argsort(-np.array(statistics), kind="stable")[:10]
    assert selector.indices_.tolist() == expected.tolist()
    np.testing.assert_allclose(selector.selection_scores_, np.array(statistics)[expected])


@pytest.mark.parametrize("selector", SELECTORS, ids=str)
def test_noise_comes_last(selector):
    """Columns that depend on the class are selected before the others."""
    X, y = make_classification(
        600, 12, n_informative=6, n_redundant=0, n_clusters_per_class=1, class_sep=2, random_state=3
    )
    noise = np.random.default_rng(0).integers(0, 3, (600, 40))
    table = np.hstack([X, noise])
    fitted = selector.set_params(categorical_features=list(range(12, 52))).fit(table, y)
    relevant = np.flatnonzero(fitted.features_.relevance[:12] > 0.02)
    assert set(fitted.indices_.tolist()) <= set(relevant.tolist())
    assert fitted.n_features_ >= 2


@pytest.mark.parametrize("selector", [MRMR, JMI, CMIM, DISR, JMIM, Chi2Ranking])
def test_k_as_number_share_and_more_than_there_are(selector):
    X, y = datasets.load_breast_cancer(return_X_y=True)
    assert selector(n_features_to_select=7).fit(X, y).n_features_ == 7
    assert selector(n_features_to_select=0.2).fit(X, y).n_features_ == 6
    informative = (MDLPDiscretizer().fit(X, y).n_levels_ > 1).sum()
    assert selector(n_features_to_select=1000).fit(X, y).n_features_ == informative
    first = selector(n_features_to_select=3).fit(X, y).indices_
    np.testing.assert_array_equal(selector(n_features_to_select=9).fit(X, y).indices_[:3], first)
    for bad in (0, -1, 1.5, "all"):
        with pytest.raises(
            ValueError, match=f"The 'n_features_to_select' parameter of {selector.__name__}"
        ):
            selector(n_features_to_select=bad).fit(X, y)


@pytest.mark.parametrize("selector", SELECTORS, ids=str)
def test_every_column_has_a_role_and_a_sentence(selector):
    X, y = datasets.load_breast_cancer(return_X_y=True, as_frame=True)
    fitted = selector.set_params(categorical_features="from_dtype").fit(X, y)
    assert set(fitted.features_.reason) <= {reason.label for reason in Reason} - {"candidate"}
    roles = [
        "selected",
        "strongly relevant",
        "weakly relevant, non-redundant",
        "supporting",
        "tentative",
    ]
    kept = np.isin(fitted.features_.role, roles)
    np.testing.assert_array_equal(kept, fitted.support_)
    for name in X.columns:
        sentence = fitted.explain(name)
        fate = "selected" if name in fitted.get_feature_names_out() else "dropped"
        assert sentence.startswith(f"{name!r} is {fate}")
        assert sentence.endswith(".")
    assert set(fitted.indices_) == set(np.flatnonzero(fitted.support_))
    assert len(fitted.selection_scores_) == fitted.n_features_
    assert fitted.to_classifier().score(X, y) > 0.92


@pytest.mark.parametrize(
    "selector",
    [kind(n_features_to_select=5) for kind in (MRMR, JMI, CMIM, DISR, JMIM)],
    ids=str,
)
def test_threads_and_order_of_columns_do_not_matter(selector):
    X, y = make_classification(2000, 400, n_informative=20, n_classes=4, random_state=0)
    expected = clone(selector).fit(X, y)
    order = np.random.default_rng(0).permutation(400)
    found = selector.set_params(n_jobs=2).fit(X[:, order], y)
    np.testing.assert_array_equal(order[found.indices_], expected.indices_)
    np.testing.assert_array_equal(found.selection_scores_, expected.selection_scores_)


@pytest.mark.parametrize("selector", [OSFS(), FastOSFS()], ids=str)
def test_the_markov_blanket_is_found(selector):
    scores = []
    for seed in range(6):
        made = make_network_classification(5000, random_state=seed)
        fitted = clone(selector).set_params(categorical_features="all").fit(made.data, made.target)
        found, blanket = set(fitted.indices_.tolist()), set(made.blanket.tolist())
        scores.append(2 * len(found & blanket) / (len(found) + len(blanket)))
    assert np.mean(scores) >= 0.9


@pytest.mark.parametrize("selector", SELECTORS, ids=str)
def test_made_noise_is_not_taken_and_the_blanket_comes_first(selector):
    made = make_network_classification(3000, random_state=1)
    fitted = clone(selector).set_params(categorical_features="all").fit(made.data, made.target)
    assert not set(fitted.indices_) & set(made.noise)
    assert len(set(fitted.indices_[:4]) & set(made.blanket)) >= 3


def test_made_data_are_what_they_are_said_to_be():
    made = make_network_classification(20_000, n_classes=3, n_levels=4, random_state=0)
    assert made.data.shape == (20_000, 48)
    assert sorted([*made.blanket, *made.descendants, *made.noise]) == list(range(48))
    np.testing.assert_array_equal(np.flatnonzero(made.parents == -1), made.blanket)
    np.testing.assert_array_equal(np.flatnonzero(made.parents == -2), made.noise)
    labels = made.target.tolist()
    for column in made.descendants[:4]:
        own, parent = made.data[:, column].tolist(), made.data[:, made.parents[column]].tolist()
        assert naive.mutual_information(own, parent) > 0.05
        assert naive.conditional_information(own, labels, parent) < 2e-3
    with pytest.raises(ValueError, match="'n_levels' parameter of make_network_classification"):
        make_network_classification(n_levels=1)


@pytest.mark.parametrize(
    "selector", [MRMR(), MRMR(criterion="MIQ"), JMI(), CMIM(), DISR(), JMIM()], ids=str
)
@pytest.mark.parametrize("n_levels", [30, 100, 290])
def test_noise_with_many_levels_does_not_stop_the_automatic_choice(selector, n_levels):
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 600)
    good = [np.where(random.random(600) < share, y, random.integers(0, 2, 600)) for share in (0.4, 0.5)]
    X = np.column_stack([random.integers(0, n_levels, 600), *good])
    fitted = clone(selector).set_params(categorical_features="all").fit(X, y)
    assert sorted(fitted.indices_.tolist()) == [1, 2]
    assert fitted.features_.reason[0] == "one group"
    assert "no grouping of its categories is worth its cost" in fitted.explain(0)


def test_missing_values_and_text_are_transformed_back():
    """scikit-learn refused them, although the selector had not."""
    X = pd.DataFrame({"a": [1.0, np.nan, 3.0, 4.0], "b": ["x", None, "y", "y"], "c": [0, 0, 1, 1]})
    selector = SLFS(include=["a", "b"], exclude=["c"]).fit(X, [0, 0, 1, 1])
    back = selector.inverse_transform(selector.transform(X))
    assert back.shape == X.shape
    np.testing.assert_array_equal(pd.DataFrame(back).isna(), X.isna())
    assert back[2].tolist() == [3.0, "y", 0]
