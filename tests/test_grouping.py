"""Categories with many levels are grouped before they are judged."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from slfs import BNSLFS, MRMR, SLFS, LeakageWarning, MDLPDiscretizer, NaiveBayes, saving
from slfs.coding.group_search import best_groups, log_partitions
from slfs.coding.level_names import level_names
from slfs.counting.nlogn import nlogn_table
from slfs.evaluation import p_values
from slfs.screening.plan import BlockLimits, block_limits
from tests import naive


def groups_of(counts):
    counts = np.array(counts, np.int64)
    group = best_groups(counts, nlogn_table(int(counts.sum())))
    return [np.flatnonzero(group == k).tolist() for k in range(group.max() + 1)]


def cities(n_samples=3000, n_cities=120, seed=0):
    """Cities of two kinds, a column of noise with as many levels, and the class."""
    random = np.random.default_rng(seed)
    city, noise = random.integers(0, n_cities, (2, n_samples))
    y = random.random(n_samples) < np.where(city % 2, 0.7, 0.3)
    frame = pd.DataFrame({"city": city, "noise": noise})
    return frame.map(lambda value: f"city {value:03}"), y.astype(int)


def test_a_case_worked_by_hand():
    """Values 0 and 2 are of one kind, 1 and 3 of the other; one group costs 40 log 2 = 27.7 nats."""
    counts = [[9, 1], [1, 9], [9, 1], [1, 9]]
    assert groups_of(counts) == [[0, 2], [1, 3]]
    assert naive.grouping_cost(counts, [[0, 1, 2, 3]]) == pytest.approx(40 * np.log(2))
    two = naive.grouping_cost(counts, [[0, 2], [1, 3]])
    # 2 (20 log 20 - 18 log 18 - 2 log 2) + log(40) / 2 + log 8: there are 8 ways to form up to 2 groups
    assert two == pytest.approx(2 * 6.5017 + 1.8444 + 2.0794, abs=1e-3)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_grouping_is_nearly_the_best_of_all(seed):
    random = np.random.default_rng(seed)
    n_values, n_classes = random.integers(2, 7), random.integers(2, 4)
    kinds = random.dirichlet(np.ones(n_classes), 3)
    sizes = random.integers(1, 40, n_values)
    counts = [random.multinomial(size, kinds[random.integers(3)]).tolist() for size in sizes]
    best = min(naive.grouping_cost(counts, groups) for groups in naive.partitions(list(range(n_values))))
    found = naive.grouping_cost(counts, groups_of(counts))
    alone = naive.grouping_cost(counts, [list(range(n_values))])
    assert best - 1e-9 <= found <= min(best + 2.0, alone + 1e-9)


def test_number_of_partitions():
    assert np.exp(log_partitions(5)[1:]) == pytest.approx([1, 16, 41, 51, 52])


@pytest.mark.parametrize("n_values", [12, 300, 1001, 5000])
def test_number_of_partitions_of_many_values(n_values):
    """More than 1000 values are not counted exactly."""
    numbers, total = [], 0
    for k in range(1, 8):
        onto = sum((-1) ** j * math.comb(k, j) * (k - j) ** n_values for j in range(k))
        total += onto // math.factorial(k)
        numbers.append(math.log(total))
    assert log_partitions(n_values)[1:8] == pytest.approx(numbers, abs=1e-4)


def customers(n_customers, n_samples=20_000, seed=0, n_classes=5):
    """Customers, each of a country, a column of noise with as many values, and the country."""
    random = np.random.default_rng(seed)
    customer, noise = random.integers(0, n_customers, (2, n_samples))
    country = random.integers(0, n_classes, n_customers)
    return pd.DataFrame({"customer": customer, "noise": noise}), country[customer]


@pytest.mark.parametrize("as_numbers", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_customers", [256, 700, 4000])
def test_more_categories_than_levels_are_grouped_by_class(n_customers, weighted, as_numbers):
    """All but the 254 most frequent customers were one level: it had half of the information."""
    X, y = customers(n_customers)
    if not as_numbers:
        X = X.map("C{}".format)
    weight = np.random.default_rng(1).integers(1, 4, len(y)) if weighted else None
    with pytest.warns(LeakageWarning, match="'customer' determines the class completely"):
        selector = SLFS(categorical_features="all" if as_numbers else "from_dtype").fit(X, y, weight)
    assert selector.features_["n_levels"][0] == 5
    assert selector.to_classifier().score(X, y) == 1
    if not weighted:
        assert selector.features_["n_levels"][1] == 1
    else:
        rows = np.repeat(np.arange(len(y)), weight)
        copies = clone(selector).fit(X.iloc[rows], y[rows])
        assert copies.network_counts_.coding.categories == selector.network_counts_.coding.categories


def test_many_categories_are_grouped_although_there_are_many_classes():
    """Groups of 57 classes have a high price: most shops were one level, with 73% of the entropy."""
    random = np.random.default_rng(0)
    weight, region = random.lognormal(0, 1, 757), random.integers(0, 57, 757).astype(str)
    shop = random.choice(757, 6200, p=weight / weight.sum())
    X = pd.DataFrame({"shop": shop, "noise": random.normal(size=6200)}).astype({"shop": str})
    X["shop"] = "s" + X["shop"]
    with pytest.warns(LeakageWarning, match="'shop' (determines|alone contains)"):
        model = BNSLFS().fit(X[:5000], region[shop][:5000])
    known = X["shop"].isin(X["shop"][:5000])
    new = known & (X.index >= 5000)
    assert model.score(X[new], region[shop][new]) > 0.97


def test_many_categories_without_a_class():
    """The values of a class may all be missing."""
    X, y = customers(700, n_classes=3)
    X["customer"] = X["customer"].map("C{}".format).where(y != 1)
    with pytest.warns(LeakageWarning, match="'customer' determines the class completely"):
        selector = SLFS().fit(X[["customer"]], y)
    assert selector.features_["n_levels"].tolist() == [3]


def test_what_many_categories_tell_by_chance_is_not_used():
    """Two samples of each of 20 000 values: groups of equal ones have 55% of the entropy, by chance."""
    random = np.random.default_rng(0)
    value = np.repeat(np.arange(20_000), 2)
    y = np.where(random.random(40_000) < 0.4, value % 2, random.integers(0, 2, 40_000))
    selector = MRMR(n_features_to_select=1).fit(pd.DataFrame({"c": [f"C{one}" for one in value]}), y)
    assert selector.features_["relevance"][0] < 0.1


def test_new_values_of_grouped_identifiers_are_like_those_that_occur_once():
    random = np.random.default_rng(0)
    often, once = np.repeat(np.arange(300), 9), np.arange(1000, 1600)
    y = np.concatenate([often % 2, random.random(600) < 0.9]).astype(int)
    X = pd.DataFrame({"c": [f"C{value}" for value in np.concatenate([often, once])]})
    model = BNSLFS(SLFS()).fit(X, y)
    (coding,) = [model.selector_.network_counts_.coding]
    assert coding.n_levels.tolist() == [3]
    assert coding.columns["new"][0] == coding.categories[0]["C1000"] != coding.categories[0]["C0"]


@pytest.mark.parametrize("as_numbers", [False, True])
def test_cities_of_two_kinds_are_selected_and_noise_is_not(as_numbers):
    X, y = cities()
    selector = SLFS()
    if as_numbers:
        X = X.map(lambda name: int(name[-3:]))
        selector = SLFS(categorical_features="all")
    selector.fit(X, y)
    assert selector.get_feature_names_out().tolist() == ["city"]
    assert selector.features_["n_levels"].tolist() == [2, 1]
    assert selector.features_["reason"].tolist() == ["selected", "one group"]
    assert "no grouping of its categories is worth its cost" in selector.explain("noise")
    even = selector.transform(X) if as_numbers else X[["city"]].map(lambda name: int(name[-3:]))
    codes = MDLPDiscretizer(categorical_features="all").fit(X, y).transform(X)[:, 0]
    assert np.mean(codes == codes[0]) > 0.4
    agree = np.mean((np.asarray(even)[:, 0] % 2) == codes)
    assert max(agree, 1 - agree) > 0.9
    assert selector.to_classifier().score(X, y) > 0.67


def test_the_names_of_a_group_are_its_most_frequent_categories():
    X, y = cities()
    coding = SLFS().fit(X, y).network_counts_.coding
    names = level_names(coding, 0)
    counts = X["city"].value_counts()
    for name in names:
        first, *_, rest = name.split(", ")
        assert rest.startswith("+")
        assert rest.endswith(" others")
        others = [value for value, level in coding.categories[0].items() if level == names.index(name)]
        assert len(others) == 3 + int(rest[1:-7])
        assert counts[first] == counts[others].max()


def test_groups_of_integer_codes_have_no_decimal_points():
    X, y = cities()
    codes = X.map(lambda name: int(name[-3:]))
    coding = SLFS(categorical_features="all").fit(codes, y).network_counts_.coding
    named = [part for name in level_names(coding, 0) for part in name.split(", ")[:-1]]
    assert named
    assert set(named) <= {str(code) for code in codes["city"]}
    halves = SLFS(categorical_features="all").fit(codes + 0.5, y).network_counts_.coding
    assert all(part.endswith(".5") for part in level_names(halves, 0)[0].split(", ")[:-1])


def test_p_values_are_those_of_the_levels_without_groups():
    X, y = cities()
    y = np.random.default_rng(1).permutation(y)
    shuffled = SLFS(order="given", irrelevance="printed")
    shuffled.fit(X, y)
    np.testing.assert_allclose(shuffled.pvalues_, p_values(X, y))
    assert (shuffled.pvalues_ > 0.01).all()


def test_few_levels_stay_as_they_are():
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 500)
    X = pd.DataFrame({"worth": y + 2 * random.integers(0, 8, 500), "noise": random.integers(0, 16, 500)})
    discretizer = MDLPDiscretizer(categorical_features="all").fit(X, y)
    assert discretizer.n_levels_.tolist() == [16, 16]


def test_few_levels_that_cost_too_much_are_grouped():
    """Ten levels cost more than they tell about 26 classes; two groups of them do not."""
    random = np.random.default_rng(0)
    y = random.integers(0, 26, 1000)
    level = np.where(random.random(1000) < 0.7, y % 2, random.integers(0, 2, 1000))
    X = pd.DataFrame({"x": level + 2 * random.integers(0, 5, 1000)}).astype(str)
    selector = SLFS().fit(X, y)
    assert selector.features_["n_levels"].tolist() == [2]
    assert selector.n_features_ == 1


def test_missing_values_are_no_member_of_a_group():
    X, y = cities()
    X.loc[::7, "city"] = None
    selector = SLFS().fit(X, y)
    coding = selector.network_counts_.coding
    assert level_names(coding, 0)[-1] == "missing"
    assert coding.columns["missing"].tolist() == [2]
    assert selector.network_counts_.class_counts[0][2].sum() == X["city"].isna().sum()


def test_pieces_of_rows_and_files_change_nothing(tmp_path):
    X, y = cities()
    X["number"] = X["city"].str[-3:].astype(float)
    selector = SLFS(categorical_features=["number"]).fit(X, y)
    with block_limits(BlockLimits(n_rows=500, n_columns=1)):
        pieces = SLFS(categorical_features=["number"]).fit(X, y)
    assert str(pieces.features_.tolist()) == str(selector.features_.tolist())
    saving.save(selector, tmp_path / "model.slfs")
    loaded = saving.load(tmp_path / "model.slfs")
    assert level_names(loaded.network_counts_.coding, 0) == level_names(
        selector.network_counts_.coding, 0
    )
    np.testing.assert_array_equal(loaded.to_classifier().predict(X), selector.to_classifier().predict(X))


def test_an_identifier_becomes_one_group():
    X = pd.DataFrame({"id": [f"row {i}" for i in range(600)]})
    y = np.arange(600) % 3
    X["x"] = y + np.random.default_rng(0).normal(size=600)
    classifier = NaiveBayes().fit(X, y)
    assert classifier.network_.names == ("x",)


@pytest.mark.parametrize(("n_classes", "size"), [(12, 8), (12, 4), (14, 5), (20, 10), (26, 5)])
def test_a_copy_of_a_target_with_many_small_classes_is_not_grouped(n_classes, size):
    random = np.random.default_rng(0)
    y = np.repeat([f"class {c}" for c in range(n_classes)], size)
    X = pd.DataFrame({"copy": np.char.add("label of ", y)})
    for j in range(10):
        X[f"noise {j}"] = [f"v{v}" for v in random.integers(0, n_classes, len(y))]
    with pytest.warns(LeakageWarning, match="'copy' determines the class completely"):
        selector = SLFS().fit(X, y)
    assert selector.indices_.tolist() == [0]
    assert selector.scores_[0] == pytest.approx(np.log(n_classes))
    assert selector.to_classifier().score(X, y) == 1


def test_identifiers_of_many_rows_are_not_relevant_however_they_are_sorted():
    y = np.repeat([0, 1], [250, 2750])
    X = pd.DataFrame({"id": [f"P{i:05}" for i in range(3000)]})
    selector = SLFS().fit(X, y)
    assert selector.n_features_ == 0
    assert selector.pvalues_[0] == 1


@pytest.mark.filterwarnings("ignore:1 selected column")
def test_identifiers_of_which_a_few_occur_twice():
    """Values that occur once could be divided by class without an error."""
    random = np.random.default_rng(0)
    ids = np.append(np.arange(190), random.integers(0, 190, 10))
    y = random.integers(0, 2, 190)[ids]
    selector = SLFS(include=["id"]).fit(pd.DataFrame({"id": [f"id{i}" for i in ids]}), y)
    assert selector.scores_[0] < 0.15 * np.log(2)
    assert selector.features_["n_levels"][0] < 15
