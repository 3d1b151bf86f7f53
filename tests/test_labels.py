"""A label and its evidence never disagree: roles, q-values, and what is called redundant."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from slfs import CMIM, FCBF, MRMR, OSFS, SLFS, MDLPDiscretizer, ResidualPursuit, StabilitySelection
from slfs.coding.level_names import level_names
from slfs.report import make_facts
from slfs.report.words import sentence_templates
from slfs.selectors import selectors
from slfs.selectors._shared.selection import Selection
from tests import naive

TREE = ["strongly relevant", "weakly relevant, non-redundant", "supporting"]
SELECTED = {*TREE, "tentative", "selected"}


def random_table(seed):
    """Informative columns, copies, functions of columns, near copies, categories and noise."""
    random = np.random.default_rng(seed)
    n_samples = int(random.integers(60, 400))
    y = random.integers(0, random.integers(2, 5), n_samples)
    strong, weak = y + random.normal(size=(2, n_samples)) * [[0.8], [4]]
    city = (y + random.integers(0, 30, n_samples)) % 30
    near = np.where(random.random(n_samples) < 0.02, random.normal(size=n_samples), strong)
    columns = {
        "strong": strong, "weak": weak, "copy": strong, "reversed": -strong, "near": near,
        "rounded": strong.round(), "sign": np.where(strong > 0.5, "a", "b"),
        "city": [f"city {c}" for c in city], "other": 2 * y + random.normal(size=n_samples) * 3,
        **{f"noise {j}": random.normal(size=n_samples) for j in range(8)},
    }  # fmt: skip
    names = random.permutation(list(columns)).tolist()
    return pd.DataFrame({name: columns[name] for name in names}), y


def check_labels(selector):
    features = selector.features_
    q_value, role = features["q_value"], features["role"]
    assert not np.any((role == "irrelevant") & (q_value <= 0.05)), "irrelevant, but significant"
    assert not np.any((role == "too weak") & (q_value > 0.05)), "depends on the class, but it does not"
    assert not np.any(np.isin(role, TREE) & (q_value > 0.05)), "relevant, but not significant"
    np.testing.assert_array_equal(np.isin(role, list(SELECTED)), selector.support_)


def check_redundancy(selector, codes, y):
    """Compare who adds nothing, redundant or supporting, with the test of I(f;Y|k) on the codes."""
    features = selector.features_
    column = {name: codes[:, j].tolist() for j, name in enumerate(features["name"])}
    labels = y.tolist()
    for record in features:
        other = record["parent"] or record["lost_to"]
        if other is None or record["role"] == "outranked":
            continue
        oracle = naive.SLFS({0: column[record["name"]], 1: column[other]}, labels, *[None] * 7)
        nothing = record["role"] in ("redundant", "supporting")
        if record["role"] != "tentative":
            assert oracle.adds_nothing(0, 1) == nothing, record["name"]


@pytest.mark.filterwarnings("ignore:Only . of n_features_to_select")
@given(st.integers(0, 2**32 - 1), st.sampled_from(["residual", "given"]))
@settings(max_examples=15, deadline=None)
def test_what_adds_nothing_to_its_parent_is_not_called_non_redundant(seed, order):
    X, y = random_table(seed)
    selector = SLFS(order=order, n_features_to_select=8).fit(X, y)
    check_labels(selector)
    codes = pd.DataFrame(MDLPDiscretizer().fit(X, y).transform(X), columns=X.columns)
    for record in selector.features_[selector.support_]:
        if record["parent"] is None or record["role"] == "tentative":
            continue
        pair = {0: codes[record["name"]].tolist(), 1: codes[record["parent"]].tolist()}
        nothing = naive.SLFS(pair, y.tolist(), *[None] * 7).adds_nothing(0, 1)
        assert nothing == (record["role"] == "supporting"), record["name"]


@pytest.mark.parametrize("order", ["residual", "given"])
def test_a_supporting_column(order):
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    selector = SLFS(order=order).fit(X, y)
    supporting = np.flatnonzero(selector.features_["role"] == "supporting")
    assert len(supporting) > 1
    templates = list(sentence_templates(selector))
    why = "it improves the model of all selected columns" if order == "residual" else "the tree has room"
    for column in supporting.tolist():
        record, sentence = selector.features_[column], selector.explain(column)
        assert (
            f"is selected as supporting: it shares {record['mutual_information']:.3g} nats" in sentence
        )
        nats = f"{record['conditional_relevance']:.3g} nats"
        assert f"adds no significant information about the class ({nats}), but {why}" in sentence
        assert "is selected as supporting: it shares {mutual_information} nats" in templates[column]


@pytest.mark.parametrize("order", ["residual", "conditional", "relevance"])
def test_a_copy_names_the_column_that_it_is_a_copy_of(order):
    """Of two columns that it adds nothing to, the one with the same levels is named."""
    random = np.random.default_rng(0)
    fine = random.integers(0, 4, 300)
    y = (fine >= 2) ^ (random.random(300) < 0.1)
    X = pd.DataFrame({"fine": fine, "half": fine // 2, "copy": 1 - fine // 2}).astype(str)
    selector = SLFS(order=order, include=["fine", "half"], max_children=None).fit(X, y)
    assert selector.features_["reason"].tolist() == ["included", "included", "duplicate"]
    assert selector.features_["lost_to"][2] == "half"
    assert "its levels are those of 'half'" in selector.explain("copy")


@given(st.integers(0, 2**32 - 1), st.sampled_from(["conditional", "relevance"]), st.integers(1, 3))
@settings(max_examples=25, deadline=None)
def test_no_label_contradicts_its_evidence(seed, order, max_depth):
    X, y = random_table(seed)
    selector = SLFS(order=order, max_depth=max_depth, max_children=4).fit(X, y)
    check_labels(selector)
    check_redundancy(selector, MDLPDiscretizer().fit(X, y).transform(X), y)
    kept = set(selector.get_feature_names_out())
    assert len(kept & {"strong", "copy", "reversed"}) <= 1, "a copy is redundant"
    role = dict(zip(selector.features_["name"], selector.features_["role"], strict=True))
    if "strong" in kept:
        assert role["copy"] == role["reversed"] == "redundant"
        assert "copy" not in kept


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris, load_wine, load_digits])
@pytest.mark.parametrize(
    "selector",
    [
        SLFS(), SLFS(order="relevance"), SLFS(order="given"), SLFS(irrelevance="test", fdr=0.3),
        SLFS(irrelevance="reversed", order="given"), MRMR(n_features_to_select=4), CMIM(), FCBF(),
        OSFS(), StabilitySelection(n_subsamples=6),
    ],
    ids=str,
)  # fmt: skip
def test_no_label_of_a_real_table_contradicts_its_evidence(load, selector):
    X, y = load(return_X_y=True, as_frame=True)
    X["noise"] = np.random.default_rng(0).normal(size=len(X))
    check_labels(selector.fit(X, y))


def test_no_room_is_not_redundant():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    small = SLFS(max_depth=1, max_children=2).fit(X, y)
    full = np.flatnonzero(small.features_["role"] == "no room")
    assert len(full) > 5
    for column in full:
        sentence = small.explain(column)
        assert "is dropped because there is no room" in sentence
        assert "raise max_depth or max_children" in sentence
    large = SLFS(max_depth=None, max_children=None).fit(X, y)
    assert "no room" not in large.features_["role"]
    assert large.n_features_ > 10


def test_a_significant_column_that_mdlp_does_not_cut_is_too_weak():
    random = np.random.default_rng(17)
    y = random.integers(0, 2, 400)
    X = pd.DataFrame({"weak": 0.32 * y + random.normal(size=400)})
    selector = SLFS().fit(X, y)
    assert selector.qvalues_[0] < 0.05
    assert selector.features_["role"].tolist() == ["too weak"]
    sentence = selector.explain("weak")
    assert (
        "too weak: it depends on the class, but MDLP finds no cut that is worth its cost, " in sentence
    )
    assert "FDR" in sentence


def test_a_selected_column_without_evidence_is_tentative():
    """MDLP cuts some of 2000 columns of noise by chance; none of them is significant."""
    X, y = np.random.default_rng(0).normal(size=(100, 2000)), np.arange(100) % 2
    selector = SLFS(order="conditional").fit(X, y)
    assert selector.n_features_ > 0
    assert set(selector.features_["role"][selector.support_]) == {"tentative"}
    sentence = selector.explain(selector.indices_[0])
    assert "is selected as tentative: it has" in sentence
    assert "but its FDR is above 5%. Evidence that it depends on the class:" in sentence


def test_degrees_of_freedom_ignore_empty_cells():
    """A column that takes one level at each level of its parent, but one, is not redundant by far."""
    random = np.random.default_rng(0)
    k = np.repeat(np.arange(10), 100)
    y = (k % 2) ^ (random.random(1000) < 0.2)
    inner = k == 4
    y[inner] = random.integers(0, 2, 100)
    f = np.where(inner & (y == 1) & (random.random(1000) < 0.3), 10, k)
    added = naive.conditional_information(f.tolist(), y.tolist(), k.tolist())
    assert chi2.sf(2 * 1000 * added, 1) < 1e-6 < 0.05 < chi2.sf(2 * 1000 * added, 100)
    X = pd.DataFrame({"k": k, "f": f}).astype(str)
    selector = SLFS(order="relevance").fit(X, y.astype(int))
    assert set(selector.get_feature_names_out()) <= {"k", "f"}
    assert selector.features_["role"].tolist().count("redundant") == 1


def test_names_that_differ_in_case_are_suggested():
    X = pd.DataFrame({"APOE": [0, 1] * 20, "sample": range(40)})
    selector = MRMR(1).fit(X, [0, 1] * 20)
    with pytest.raises(ValueError, match="Did you mean 'APOE'"):
        selector.explain("apoe")


def test_a_column_of_gaps_has_levels_with_names():
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 200)
    X = np.where((random.random(200) < 0.8) & (y == 1), np.nan, 1.0)
    assert level_names(MRMR(1).fit(X[:, np.newaxis], y).network_counts_.coding, 0) == [
        "not missing",
        "missing",
    ]


def test_columns_with_a_large_false_discovery_rate_are_tentative_though_it_was_allowed():
    random = np.random.default_rng(3)
    y = np.arange(300) % 2
    X = random.integers(0, 2, (300, 60))
    X[:, :12] = np.where(random.random((300, 12)) < 0.15, y[:, np.newaxis], X[:, :12])
    selector = SLFS(order="relevance", irrelevance="test", fdr=0.3, categorical_features="all").fit(X, y)
    q_values, roles = selector.qvalues_[selector.support_], selector.features_["role"][selector.support_]
    assert ((q_values > 0.05) & (q_values <= 0.3)).any()
    np.testing.assert_array_equal(roles == "tentative", q_values > 0.05)


def test_a_chance_gap_does_not_make_a_column_relevant():
    """The p-value is that of the numbers, but the only levels are missing and not missing."""
    y = np.repeat(["control", "case"], 30)
    x = np.random.default_rng(5).normal(size=60) + 0.8 * (y == "case")
    gap = np.where(np.arange(60) == 7, np.nan, x)
    X = pd.DataFrame({"complete": x, "gap": gap, "other": x * 3 * (y == "case") + 2 * (y == "case")})
    for irrelevance in ("mdl", "test"):
        selector = SLFS(irrelevance=irrelevance).fit(X, y)
        assert selector.features_["role"][:2].tolist() == ["too weak", "too weak"]
        assert "MDLP finds no cut" in selector.explain("gap")
    informative = np.where((y == "case") & (np.arange(60) % 3 > 0), np.nan, x)
    found = SLFS().fit(X.assign(informative=informative)[["gap", "informative"]], y)
    assert found.get_feature_names_out().tolist() == ["informative"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("shape", [(2, 3), (30, 10)])
@pytest.mark.parametrize("name", [*selectors(), "stability", "stability with fdr"])
def test_no_method_calls_columns_outranked_if_it_selects_nothing(name, shape):
    random = np.random.default_rng(0)
    X = pd.DataFrame({"a": random.normal(size=shape[0])})
    X = X.join(pd.DataFrame(random.integers(0, 3, shape).astype(str)).add_prefix("c"))
    stable = {"stability": StabilitySelection(n_subsamples=10), "stability with fdr": StabilitySelection(
        n_subsamples=10, fdr=0.1)}  # fmt: skip
    selector = stable[name] if name in stable else selectors()[name]()
    selector.fit(X, np.arange(shape[0]) % 2)
    if selector.n_features_ == 0:
        assert "outranked" not in selector.features_["role"]
    for column in X:
        assert "no column met" not in selector.explain(column), "the criterion is named"


class SelectsNothing(MRMR):
    def _select(self, information, facts):  # noqa: ARG002
        return Selection(np.empty(0, np.int64), np.empty(0, np.int64))


def test_an_own_method_may_select_nothing():
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.warns(UserWarning, match="that do not meet the selection criterion"):
        selector = SelectsNothing().fit(X, y)
    assert selector.features_["role"][0] == "too weak"
    assert (
        selector.explain(0).partition(", but ")[2].startswith("no column met the selection criterion.")
    )


def test_columns_of_too_few_subsamples_are_unconfirmed():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    selector = StabilitySelection(SLFS(n_features_to_select=3), n_subsamples=10, random_state=0)
    few = selector.fit(X, y).features_
    assert {"selected", "unconfirmed"} <= set(few["role"])
    assert (few["role"][few["reason"] == "rarely selected"] == "unconfirmed").all()
    with pytest.warns(UserWarning, match="an FDR of 0.01 requires at least 100"):
        none = selector.set_params(fdr=0.01).fit(X, y)
    assert none.frequencies_.max() > 0.6
    name = none.features_["name"][none.frequencies_.argmax()]
    assert "is dropped as unconfirmed: it has" in none.explain(name)


def test_missing_values_in_words():
    random = np.random.default_rng(0)
    y = np.repeat([0, 1], 50)
    gap = np.where((y == 1) & (random.random(100) < 0.6), np.nan, random.normal(size=100))
    X = pd.DataFrame(
        {"empty": np.nan, "none": [None] * 100, "one": 1, "gap": gap, "noise": random.normal(size=100)}
    )
    for selector in (SLFS(), MRMR(1)):
        selector.fit(X, y)
        for name in ("empty", "none"):
            assert (
                selector.explain(name)
                == f"{name!r} is dropped as irrelevant: all its values are missing."
            )
        assert selector.explain("one").endswith("it has a single value.")
        told = selector.explain("gap")
        assert selector.get_feature_names_out().tolist() == ["gap"]
        assert "Only whether its value is missing is used: MDLP finds no cut of its numbers" in told
        template = list(sentence_templates(selector))[X.columns.get_loc("gap")]
        assert "Only whether its value is missing is used" in template


@pytest.mark.parametrize("selector", [SLFS, ResidualPursuit])
def test_nothing_is_outranked_if_nothing_is_selected(selector):
    X = np.random.default_rng(1).normal(size=(8, 5000))
    with pytest.warns(UserWarning, match=r"do not lower the cross-validated log loss\. No column"):
        fitted = selector().fit(X, np.repeat([0, 1], 4))
    assert set(fitted.features_["role"]) == {"irrelevant"}
    dropped = int(np.flatnonzero(fitted.features_["reason"] == "no gain")[0])
    assert "than predicting the class frequencies" in fitted.explain(dropped)


def test_two_samples_cannot_be_cross_validated():
    X = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})
    with pytest.warns(
        UserWarning, match=r"selected 0 of 2 columns: 2 that could not be tried in cross-validation\."
    ):
        selector = SLFS().fit(X, [0, 1])
    assert set(selector.features_["role"]) == {"irrelevant"}
    assert "no column could be tried in cross-validation" in selector.explain("a")
    assert selector._size_sentence().startswith("No class has two samples")


def test_a_full_tree_is_said_aloud():
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.warns(UserWarning, match="Only 2 of n_features_to_select=10 .* Increase max_depth"):
        SLFS(n_features_to_select=10, max_depth=1, max_children=2).fit(X, y)


def test_the_smallest_log_loss_is_that_of_the_path():
    X, y = load_breast_cancer(return_X_y=True)
    selector = SLFS().fit(X, y)
    path, sentence = selector.size_path_, selector._size_sentence()
    least = int(path.log_loss.argmin())
    assert selector.n_features_ == path.best < least
    assert f"{path.log_loss[least]:.3g} nats with {least} columns" in sentence
    assert "the smallest cross-validated" not in sentence


@pytest.mark.filterwarnings("ignore::slfs.LeakageWarning")
def test_nothing_is_strongly_relevant_beside_a_column_that_determines_the_class():
    """Given that column, all others tell nothing: a tie, which rounding must not break."""
    random = np.random.default_rng(0)
    y = np.repeat(["a", "b"], [27, 11])
    X = pd.DataFrame({"perfect": 3 * (y == "b") + random.random(38)})
    for number in range(12):
        X[f"g{number}"] = 2.2 * (y == "b") + random.normal(size=38)
    selector = SLFS(n_features_to_select=10).fit(X, y)
    strong = selector.features_["name"][selector.features_["role"] == "strongly relevant"]
    assert strong.tolist() == ["perfect"]


def test_columns_that_are_contained_in_selected_ones_are_redundant_where_no_other_is_left():
    random = np.random.default_rng(2)
    place, shapes = np.linspace(0, 1, 100), random.normal(size=(170, 4))
    waves = sum(
        shapes[:, [i]] * np.exp(-((place - c) ** 2) / 0.05) for i, c in enumerate((0.1, 0.4, 0.6, 0.9))
    )
    y = shapes[:, 0] + 0.5 * shapes[:, 2] + random.normal(0, 1, 170) > 0
    selector = SLFS(n_features_to_select=80).fit(pd.DataFrame(waves), y)
    assert selector.n_features_ < 80
    assert "beyond size" not in selector.features_["reason"]
    dropped = selector.features_[~selector.support_ & (selector.features_["reason"] != "no cut")]
    assert set(dropped["role"]) == {"redundant"}
    assert "asked for" not in selector.explain(int(np.flatnonzero(dropped["name"])[0]))


def test_a_group_that_does_not_fit_is_not_called_beyond_a_smaller_size():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    names = X.columns.tolist()
    groups = {"first": names[:10], "second": names[10:20], "third": names[20:]}
    selector = SLFS(feature_groups=groups, n_features_to_select=15).fit(X, y)
    other = names[int(np.flatnonzero(selector.features_["reason"] == "beyond size")[0])]
    assert selector.n_features_ == 10
    assert "its group has more columns than n_features_to_select=15 has room" in selector.explain(other)


@pytest.mark.filterwarnings("ignore::slfs.LeakageWarning")
def test_a_tree_without_room_is_said_aloud_though_the_others_are_redundant():
    y = np.repeat(["a", "b"], [27, 11])
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(38, 60)) + 2 * (y == "b")[:, np.newaxis])
    X.insert(0, "perfect", 9 * (y == "b"))
    X.columns = X.columns.map(str)
    with pytest.warns(UserWarning, match="Only 12 of n_features_to_select=30 columns.* max_children"):
        selector = SLFS(n_features_to_select=30, max_children=3).fit(X, y)
    assert selector._tree_is_full()


def test_columns_beyond_the_size_are_not_said_to_lack_room():
    X, y = load_digits(return_X_y=True, as_frame=True)
    for max_children in (5, 50):
        tree = {"order": "conditional", "max_children": max_children, "max_depth": 5}
        selector = SLFS(n_features_to_select=8, **tree).fit(X, y)
        assert "no room" not in selector.features_["role"]
        assert "only 8 columns were asked for" in selector.explain("pixel_0_1")


def test_an_included_identifier_does_not_contain_the_other_columns():
    random = np.random.default_rng(0)
    y = random.choice(["a", "b"], 300)
    x = random.normal(size=300) + 1.5 * (y == "a")
    X = pd.DataFrame({"x": x, "note": [f"n{i}" for i in range(300)]})
    with pytest.warns(UserWarning, match="more categories than half"):
        selector = SLFS(include=["note"]).fit(X, y)
    assert selector.support_.all()


def test_relevance_of_many_categories_is_that_of_these_samples(tmp_path, slfs):
    """Chance alone gives 186 categories some information about the class."""
    random = np.random.default_rng(3)
    shop, x = random.integers(0, 186, 1500), random.normal(size=1500)
    effect = random.normal(size=186)
    y = np.where(random.random(1500) < 1 / (1 + np.exp(-2 * effect[shop] - x)), "yes", "no")
    X = pd.DataFrame({"shop": [f"s{i}" for i in shop], "x": x})
    selector = SLFS().fit(X, y)
    assert "It has 186 categories, and likely less information about new samples." in selector.explain(
        "shop"
    )
    assert "new samples" not in selector.explain("x")
    nodes = make_facts(selector)["nodes"]
    assert {node["name"]: node["n_categories"] for node in nodes} == {"shop": 186, "x": None}
    X.assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    out = slfs("select", str(tmp_path / "t.csv"), "-t", "y")[1]
    assert "Columns with many categories are likely\nless relevant in new ones: 'shop' (186)." in out
    many = pd.concat([X] * 200, ignore_index=True)
    assert "new samples" not in SLFS().fit(many, np.tile(y, 200)).explain("shop")


def test_more_columns_that_raise_the_log_loss_do_not_hardly_lower_it():
    random = np.random.default_rng(5)
    y = np.arange(300) % 2
    X = pd.DataFrame({"a": y + random.normal(size=300), "b": y + random.normal(size=300)})
    for j in range(6):
        X[f"copy {j}"] = X["a"] + 0.3 * random.normal(size=300)
    selector = SLFS().fit(X, y)
    path = selector.size_path_
    assert selector.n_features_ == path.n_features[path.log_loss.argmin()] < len(X.columns)
    dropped = X.columns[selector.features_["reason"] == "beyond size"]
    assert len(dropped)
    for name in dropped:
        assert "more columns do not lower the cross-validated log loss" in selector.explain(name)


def test_copies_are_left_out_of_three_samples():
    """A column with more levels than half the samples was no copy of itself."""
    X = pd.DataFrame({"a": [0, 0, 2], "b": [0, 0, 2], "c": [1, 1, 3]})
    with pytest.warns(UserWarning, match="Tentative|1 column is selected, although 3"):
        selector = SLFS(n_features_to_select=3).fit(X, ["u", "u", "v"])
    assert selector.get_feature_names_out().tolist() == ["a"]
    assert selector.features_["reason"].tolist() == ["selected", "duplicate", "duplicate"]


def test_figures_of_groups_of_categories_say_so():
    """A function of a grouped column was said to add information to it."""
    random = np.random.default_rng(0)
    country = random.integers(0, 30, 3000)
    region = country // 6
    y = (random.random(3000) < np.array([0.2, 0.35, 0.5, 0.65, 0.8])[region]).astype(int)
    X = pd.DataFrame({"country": [f"c{i}" for i in country], "region": [f"r{i}" for i in region]})
    X["x"] = random.normal(size=3000)
    selector = ResidualPursuit(n_features_to_select=2).fit(X, y)
    n_levels = selector.features_["n_levels"][0]
    assert n_levels < 30
    text = f"The figures are those of groups of categories: {n_levels} for the 30 of 'country'."
    assert text in selector.explain("country")
    assert "groups of" not in selector.explain("x")
    below = SLFS(include=["region"], n_features_to_select=2, relevance_weight=0.1).fit(X, y)
    lost = below.features_[["parent", "lost_to"]].tolist()
    for name, others in zip(X.columns, lost, strict=True):
        assert (text in below.explain(name)) == ("country" in (name, *others)), name


def test_dropped_columns_say_that_only_missing_values_are_used():
    """The numbers of a column that is missing for all women were said to depend on the class."""
    random = np.random.default_rng(0)
    sex = random.integers(0, 2, 600)
    y = (random.random(600) < 0.3 + 0.4 * sex).astype(int)
    X = pd.DataFrame(
        {"sex": np.where(sex, "m", "f"), "bmi": np.where(sex, random.normal(size=600), np.nan)}
    )
    selector = SLFS(include=["sex"], n_features_to_select=1).fit(X, y)
    assert selector.get_feature_names_out().tolist() == ["sex"]
    told = selector.explain("bmi")
    assert "Only whether its value is missing is used: MDLP finds no cut of its numbers" in told
    assert "Evidence that its numbers and missing values depend on the class" in told
