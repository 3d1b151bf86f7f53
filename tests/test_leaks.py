"""Leaks, duplicates, identifiers, and selections without columns are reported."""

import re
import time
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

import slfs
from slfs import BNSLFS, MRMR, SLFS, TAN, LeakageWarning, MDLPDiscretizer, saving
from slfs._core.interface import command_line
from slfs.counting.duplicates import find_duplicates
from slfs.report import make_facts
from slfs.tables.number_text import look_like_numbers
from tests.helpers import pack_codes


@pytest.fixture(scope="module")
def cancer():
    return load_breast_cancer(return_X_y=True, as_frame=True)


@pytest.mark.parametrize(
    ("leak", "words"),
    [
        (lambda y: y.map({0: "malignant", 1: "benign"}), "determines the class completely"),
        (lambda y: 7 - 3 * y, "determines the class completely"),
        (lambda y: y.where(np.arange(len(y)) != 5, 1 - y), "alone contains 98"),
    ],
)
def test_a_column_that_determines_the_class_is_reported(cancer, leak, words):
    X, y = cancer
    X = X.assign(leak=leak(y))
    with pytest.warns(LeakageWarning, match=f"Possible target leakage: 'leak' {words}"):
        selector = SLFS().fit(X, y)
    assert selector.leaks_ == ["leak"]
    assert f"Possible target leakage: it {words}" in selector.explain("leak")
    assert make_facts(selector)["leaks"] == ["leak"]


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer, load_wine])
def test_good_columns_are_no_leaks(load):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert SLFS().fit(*load(return_X_y=True, as_frame=True)).leaks_ == []


def test_few_samples_are_no_evidence_of_a_leak():
    """Among 5000 columns one separates 10 samples by accident."""
    random = np.random.default_rng(0)
    y = np.arange(10) % 2
    X = random.normal(size=(10, 5000))
    X[:, 7] = y
    with warnings.catch_warnings():
        warnings.simplefilter("error", LeakageWarning)
        assert SLFS().fit(X, y).leaks_ == []


def test_a_recoding_of_the_class_beside_many_numbers_is_a_leak():
    """No number of 20 samples is beyond chance among 3000, but there are few columns of text."""
    random = np.random.default_rng(0)
    y = np.repeat(["ALL", "AML"], 10)
    genes = random.normal(size=(20, 3000))
    genes[:, 0] += 9 * (y == "AML")
    X = pd.DataFrame(genes).add_prefix("g").assign(batch=random.choice(["a", "b"], 20))
    assert SLFS(n_features_to_select=2).fit(X, y).leaks_ == []
    with pytest.warns(LeakageWarning, match="'fab' determines the class completely"):
        selector = SLFS(n_features_to_select=2).fit(X.assign(fab=np.where(y == "ALL", "L", "M")), y)
    assert selector.leaks_ == ["fab"]


def test_duplicates_are_groups_of_names(cancer, tmp_path):
    X, y = cancer
    area = X["mean area"]
    X = X.assign(copy=area, negative=-area, named=np.where(area > area.median(), "large", "small"))
    X["renamed"] = X["named"].map({"large": "x", "small": "y"})
    selector = SLFS().fit(X, y)
    assert selector.duplicates_ == [["mean area", "copy", "negative"], ["named", "renamed"]]
    selected = set(selector.get_feature_names_out()) & set(selector.duplicates_[0])
    assert len(selected) == 1
    assert selector.features_["reason"][X.columns.get_loc("copy")] == "duplicate"
    assert f"in these samples its levels are those of '{selected.pop()}'" in selector.explain("copy")
    assert make_facts(selector)["duplicates"] == selector.duplicates_
    saving.save(selector, tmp_path / "model.slfs")
    assert saving.load(tmp_path / "model.slfs").duplicates_ == selector.duplicates_


def test_near_duplicates_are_called_so():
    random = np.random.default_rng(0)
    y = random.integers(0, 3, 500)
    grade = np.where(random.random(500) < 0.5, y, random.integers(0, 3, 500))
    near = np.where(np.arange(500) % 200 == 7, 0, grade)
    selector = SLFS().fit(pd.DataFrame({"grade": grade, "near": near}).astype(str), y)
    assert sorted(selector.features_["reason"]) == ["near duplicate", "selected"]
    dropped = int(np.flatnonzero(~selector.support_)[0])
    assert "it is nearly a copy of" in selector.explain(dropped)


@pytest.mark.parametrize("n_levels", [2, 3, 5, 70])
def test_duplicates_are_found_by_their_codes(n_levels):
    random = np.random.default_rng(0)
    y = np.arange(300) % 3
    codes = random.integers(0, n_levels, (40, 300))
    codes[:, :n_levels] = np.arange(n_levels)
    codes[7], codes[20] = codes[3], random.permutation(n_levels)[codes[3]]
    codes[39] = (codes[30] + 1) % n_levels
    groups = find_duplicates(pack_codes(codes, y), np.zeros((40, 1), np.int64))
    assert [group.tolist() for group in groups] == [[3, 7, 20], [30, 39]]


def test_searching_duplicates_takes_milliseconds():
    """All columns have the same counts, so that all of them are hashed."""
    random = np.random.default_rng(0)
    y = np.arange(500) % 2
    codes = np.array([random.permutation(y) for _ in range(10_000)])
    packed, sums = pack_codes(codes, y), np.zeros((10_000, 1), np.int64)
    find_duplicates(packed, sums)
    begin = time.perf_counter()
    assert find_duplicates(packed, sums) == []
    assert time.perf_counter() - begin < 0.5


def with_text(values, y):
    random = np.random.default_rng(0)
    return pd.DataFrame({"text": values, "x": y + random.normal(size=len(y))})


Y = np.arange(300) % 2
NUMBERS = np.random.default_rng(0).normal(9000, 3000, 300)


@pytest.mark.parametrize(
    "values",
    [
        [f"${value:,.2f}" for value in NUMBERS],
        [f"{value:.1f} kg" for value in NUMBERS],
        [f"{value:.2f}%" for value in NUMBERS],
        [f"{value:.2f}".replace(".", ",") for value in NUMBERS],
        [f"EUR {value:.0f}" for value in NUMBERS],
        [f"{value:,.0f} sq ft" for value in NUMBERS],
        [f"{value:,.0f} sq. ft." for value in NUMBERS],
        [f"${value:.2f} per month" for value in NUMBERS],
        [f"{value / 10_000:.3f}".replace(".", ",") for value in NUMBERS],
        [f"({value:.0f})" if value % 2 > 1 else f"{value:.0f}" for value in NUMBERS],
        ["$ -" if value % 7 < 1 else f"${value:.0f}" for value in NUMBERS],
        [f"{value:.2f}{'*' if value % 7 < 1 else ''}" for value in NUMBERS],
        [f"{value:.2f} ± {value % 1:.1f}" for value in NUMBERS],
        [f"{value:.1f} ({value - 2:.1f}-{value + 2:.1f})" for value in NUMBERS],
        [f"{value:.0f} ({value % 100:.0f}%)" for value in NUMBERS],
        [f"{value:.2f} {'abcdefg'[i % 7]}" for i, value in enumerate(NUMBERS)],  # of a test of pairs
    ],
)
def test_text_that_looks_like_numbers(values):
    with pytest.warns(
        UserWarning, match=r"look like numbers .*'text' \(e\.g\. .*; dropped\).*convert them"
    ):
        SLFS().fit(with_text(values, Y), Y)


def test_a_discretizer_does_not_call_columns_selected_or_dropped():
    values = [f"{value:.1f} kg" for value in NUMBERS]
    with pytest.warns(UserWarning, match=r"'text' \(e\.g\. '[-\d.]+ kg'\)\. If they") as caught:
        MDLPDiscretizer().fit(with_text(values, Y), Y)
    with pytest.warns(UserWarning, match=r"^1 column\(s\) have more categories than half"):
        MDLPDiscretizer().fit(pd.DataFrame({"key": [f"{y}-{i % 85}" for i, y in enumerate(Y)]}), Y)
    assert len(caught) == 1


def test_text_that_spoils_a_column_of_numbers_is_named():
    values = [f"{value:.2f}" for value in NUMBERS]
    values[3::7] = ["?"] * len(values[3::7])
    values[5::9] = ["-"] * len(values[5::9])
    with pytest.warns(UserWarning, match="look like numbers") as caught:
        SLFS().fit(with_text(values, Y), Y)
    (message,) = [str(one.message) for one in caught if "look like numbers" in str(one.message)]
    assert re.search(r"'text' \(all but ('-', '\?'|'\?', '-'); dropped\)", message)
    assert re.search(r"na_values=\['[?-]', '[?-]'\] in pandas.read_csv", message)
    assert "currency" not in message


@pytest.mark.parametrize("marker", ["k.A.", "?", "keine"])
def test_text_that_spoils_a_column_of_numbers_with_decimal_commas(marker):
    values = [f"{value:.2f}".replace(".", ",") for value in NUMBERS]
    values[3::7] = [marker] * len(values[3::7])
    with pytest.warns(UserWarning, match="look like numbers") as caught:
        SLFS().fit(with_text(values, Y), Y)
    (message,) = [str(one.message) for one in caught if "look like numbers" in str(one.message)]
    assert f"'text' (all but {marker!r}; " in message
    assert f"na_values=[{marker!r}] and decimal=',' in pandas.read_csv" in message
    assert "currency" not in message


COUNTS = np.random.default_rng(0).integers(1, 75, 285).tolist()


@pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
@pytest.mark.parametrize("estimator", [SLFS(), BNSLFS(), TAN(), MRMR(n_features_to_select=1)], ids=str)
@pytest.mark.parametrize(
    ("values", "others"),
    [
        ([*NUMBERS[:-1].tolist(), "?"], "'?'"),
        ([*COUNTS, *["?"] * 15], "'?'"),
        ([*([1, 2, 3] * 95), *["unknown"] * 15], "'unknown'"),
        ([*([*range(23)] * 12), *(["refused", "other"] * 12)], "'other', 'refused'"),
    ],
)
def test_text_among_python_numbers_is_named(values, others, estimator, library):
    """pandas.read_excel returns such columns; they were treated as categories without a word."""
    x = Y + np.random.default_rng(0).normal(size=len(Y))
    dtype = object if library is pd else pl.Object
    X = library.DataFrame({"mixed": library.Series(values, dtype=dtype), "x": x})
    with pytest.warns(UserWarning, match=r"1 column\(s\) with text look like numbers") as caught:
        clone(estimator).fit(X, Y)
    (message,) = [str(one.message) for one in caught]
    assert f"'mixed' (all but {others}" in message
    assert "pandas.read_excel, or pandas.to_numeric(column, errors='coerce')" in message


def test_units_among_python_numbers():
    with pytest.warns(UserWarning, match=r"'text' \(e\.g\. '12 kg'; dropped\)\. If they .* unit"):
        SLFS().fit(with_text(pd.Series([*NUMBERS[:-1].tolist(), "12 kg"], dtype=object), Y), Y)


@pytest.mark.parametrize(
    "values",
    [
        [*range(10000, 10299), "02139"],
        [*range(40), *(f"AB{number}" for number in range(260))],
        [True, True, "?"] * 100,
        [1, 2, "many"] * 100,
    ],
)
def test_codes_and_categories_among_python_numbers(values):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SLFS().fit(with_text(pd.Series(values, dtype=object), Y), Y)


def test_many_categories_get_advice_by_their_cause():
    """Users were told not to declare a column categorical that they had not declared."""
    key, code = [f"{y}-{i % 85}" for i, y in enumerate(Y)], [2 * (i % 85) + y for i, y in enumerate(Y)]
    X = pd.DataFrame({"key": key, "code": code})

    def told(columns, **options):
        with pytest.warns(UserWarning, match="have more categories than half") as caught:
            MDLPDiscretizer(**options).fit(X[columns], Y)
        return str(caught[0].message).partition("if they are quantities, ")[2]

    text, declared = "convert their text to numbers", "do not declare numbers categorical"
    assert told(["key"]) == f"{text}."
    assert told(["code"], categorical_features=["code"]) == f"{declared}."
    assert told(["key", "code"], categorical_features=["code"]) == f"{text} and {declared}."


def test_codes_with_leading_zeros_are_not_numbers():
    """The advice was to convert them to numbers, which would remove the zeros."""
    values = [f"{value:05d}" for value in range(len(Y))]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        SLFS().fit(with_text(values, Y), Y)
        SLFS().fit(with_text([*values[:-1], "?"], Y), Y)
    assert not [one for one in caught if "look like numbers" in str(one.message)]


@pytest.mark.parametrize("markers", [("unknown", "-"), ("unknown", "n.a."), ("refused", "do not know")])
def test_several_marks_for_missing_values_in_a_column_of_ages(markers):
    """Of 28 distinct values, two were too many: the column became a category without a word."""
    values = np.arange(65, 91).astype(str).astype(object)[np.arange(len(Y)) % 26]
    for place, marker in enumerate(markers):
        values[place::20] = marker
    with pytest.warns(UserWarning, match="look like numbers") as caught, command_line():
        SLFS().fit(with_text(values, Y), Y)
    (message,) = [str(one.message) for one in caught if "look like numbers" in str(one.message)]
    assert all(f"--missing {marker!r}" in message for marker in markers)


@pytest.mark.parametrize("words", ["K", "north south east west", "a b c d e f"])
def test_words_beside_few_numbers_are_categories(words):
    numbers = 9 if words == "K" else 35
    values = [*map(str, range(numbers)), *words.split()]
    values = np.random.default_rng(0).permutation(values * 40).tolist()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SLFS().fit(with_text(values[: len(Y)], Y), Y)


@pytest.mark.parametrize("marker", ["?", "-", "--", ".", "unknown", "n.a.", "k.A."])
def test_few_numbers_with_a_mark_for_missing_values(marker):
    """A column with few distinct values got no hint."""
    values = np.array(["1", "2", "3"], dtype=object)[np.arange(len(Y)) % 3]
    values[::10] = marker
    with pytest.warns(UserWarning, match="look like numbers") as caught:
        SLFS().fit(with_text(values, Y), Y)
    (message,) = [str(one.message) for one in caught if "look like numbers" in str(one.message)]
    assert f"'text' (all but {marker!r}; " in message
    assert f"read it as one: na_values=[{marker!r}] in pandas.read_csv" in message


@pytest.mark.parametrize("labels", [["1", "2", "3+"], ["0", "1", "many"], ["a", "b", "?"], ["1", "?"]])
def test_categories_among_few_values_are_not_missing_values(labels):
    values = np.array(labels, dtype=object)[np.arange(len(Y)) % len(labels)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        SLFS().fit(with_text(values, Y), Y)
    assert not [one for one in caught if "look like numbers" in str(one.message)]


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%d.%m.%Y", "%m/%d/%y %H:%M", "%d %b %Y", "%B %d, %Y"])
def test_text_that_looks_like_dates(form):
    dates = pd.Series(pd.date_range("2020-01-01", periods=300)).dt.strftime(form)
    with pytest.warns(UserWarning, match=r"look like dates .*'text' .*Convert them to dates"):
        MDLPDiscretizer().fit(with_text(dates, Y), Y)


@pytest.mark.parametrize("stray", [" ", "never", "2020-02-30"])
def test_text_that_spoils_a_column_of_dates_is_named(stray):
    """The advice was to write dates as 2020-12-31, as they were."""
    dates = pd.Series(pd.date_range("2020-01-01", periods=300)).dt.strftime("%Y-%m-%d")
    dates[7] = stray
    with pytest.warns(UserWarning, match=rf"'text' \(all but {stray!r}\)\. .*: pandas\.to_datetime"):
        MDLPDiscretizer().fit(with_text(dates, Y), Y)
    with command_line(), pytest.warns(UserWarning, match=rf"read it as one: --missing {stray!r} in CSV"):
        MDLPDiscretizer().fit(with_text(dates, Y), Y)


def test_the_example_of_dates_is_a_date():
    dates = pd.Series(pd.date_range("2020-01-01", periods=300)).dt.strftime("%d.%m.%Y")
    with pytest.warns(UserWarning, match=r"look like dates .*'text' \(e\.g\. '\d\d\.\d\d\.2020'\)"):
        MDLPDiscretizer().fit(with_text([" ", *dates[1:]], Y), Y)


@pytest.mark.parametrize("form", ["%H:%M", "%H:%M:%S", "%I:%M %p"])
def test_times_of_the_day_are_not_dates(form):
    """The advice made them moments of the current day, which do not fit the cut points tomorrow."""
    times = pd.Series(pd.date_range("2020-01-01", periods=300, freq="4min")).dt.strftime(form)
    with pytest.warns(UserWarning, match=r"look like times .*'text' .*for example of hours"):
        MDLPDiscretizer().fit(with_text(times, Y), Y)


def test_a_selected_column_of_dates_that_occur_once_is_reported():
    """Six days occur often, with the same class; the others are different in each row."""
    days = pd.Series(pd.date_range("2020-01-01", periods=300)).dt.strftime("%Y-%m-%d")
    days[:120], y = "2019-05-01", np.arange(300) < 110
    once = pytest.warns(UserWarning, match="occur once and will not occur again")
    with once, pytest.warns(UserWarning, match="look like dates"):
        SLFS().fit(pd.DataFrame({"day": days}), y)


def test_other_text_is_dropped_without_a_warning():
    for values in ([f"row {i}" for i in range(300)], [f"{i}-{i % 7}x" for i in range(300)]):
        assert SLFS().fit(with_text(values, Y), Y).get_feature_names_out().tolist() == ["x"]


@pytest.mark.parametrize(
    "values",
    [np.arange(300), 5000 - np.arange(300), np.sort(np.random.default_rng(0).integers(0, 10**9, 300))],
)
def test_a_selected_row_number_is_reported(values):
    y = (np.arange(300) > 120) ^ (np.random.default_rng(0).random(300) < 0.1)
    with pytest.warns(UserWarning, match="likely row numbers or identifiers: 'case'"):
        SLFS().fit(pd.DataFrame({"case": values}), y.astype(int))


def test_dates_are_no_row_numbers():
    y = (np.arange(300) > 120) ^ (np.random.default_rng(0).random(300) < 0.1)
    X = pd.DataFrame({"day": pd.date_range("2020", periods=300)})
    assert SLFS().fit(X, y.astype(int)).n_features_ == 1


def test_identifiers_in_any_order_are_reported_and_counts_are_not():
    random = np.random.default_rng(0)
    y = (np.arange(300) > 120).astype(int)
    y[random.random(300) < 0.1] ^= 1
    shuffle = random.permutation(300)
    counts = random.choice(10**6, 300, replace=False) + 300_000 * y
    with pytest.warns(UserWarning, match=r"1 selected .*identifiers: 'key'\."):
        SLFS().fit(pd.DataFrame({"key": np.arange(300), "count": counts}).iloc[shuffle], y[shuffle])


def test_nothing_selected_says_why_and_what_to_try():
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 20))
    X[:, 0] = 1
    with pytest.warns(
        UserWarning, match=r"SLFS selected 0 of 20 columns: 19 without a cut point"
    ) as told:
        SLFS().fit(X, np.arange(60) % 2)
    assert "1 constant. No column depends significantly on the class (the smallest" in str(
        told[0].message
    )


def test_nothing_selected_although_columns_are_significant():
    random = np.random.default_rng(17)
    y = random.integers(0, 2, 400)
    X = (0.32 * y + random.normal(size=400)).reshape(-1, 1)
    with pytest.warns(UserWarning, match="1 column depends significantly on the class, but too weakly"):
        SLFS().fit(X, y)


def test_a_wide_table_of_noise_gets_a_hint():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(100, 2000)), np.arange(100) % 2
    with pytest.warns(UserWarning, match=r"Tentative columns: .*irrelevance='test'"):
        assert SLFS(order="conditional").fit(X, y).n_features_ > 0
    with pytest.warns(UserWarning, match="dependence on the class given 'x0' is not significant"):
        SLFS(order="conditional", condition_on=[0]).fit(X, y)
    with pytest.warns(UserWarning, match="SLFS selected 0 of 2000 columns"):
        SLFS(irrelevance="test").fit(X, y)


def test_the_warning_is_public():
    assert issubclass(slfs.LeakageWarning, UserWarning)


@pytest.mark.parametrize("given", [{"condition_on": ["text"]}, {"categorical_features": ["text"]}])
def test_ids_of_groups_that_the_user_has_declared(given):
    """Numbers would be compared as quantities."""
    random = np.random.default_rng(0)
    group = np.repeat(np.arange(30), 2).astype(str)
    X = pd.DataFrame({"a": random.normal(size=60), "text": group})
    y = np.tile([0, 1], 30)
    X["a"] += 3 * y
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*look like numbers")
        SLFS(**given).fit(X, y)
    with pytest.warns(UserWarning, match="look like numbers"):
        SLFS().fit(X, y)


def test_codes_with_a_check_digit_are_no_numbers_with_a_unit():
    """Books were to be converted to numbers, which cuts off the X and the leading zeros."""
    random = np.random.default_rng(0)
    codes = [f"{number:09d}{'X' if number % 9 == 0 else number % 9}" for number in range(7, 90_000, 300)]
    X = pd.DataFrame({"isbn": random.permutation(codes), "price": random.normal(size=len(codes))})
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        SLFS().fit(X, random.integers(0, 2, len(codes)))
    assert not any("look like numbers" in str(warning.message) for warning in told)


def test_addresses_are_no_numbers_with_units():
    """The dots of abbreviations were decimal points, and decimal commas were none."""
    streets = ["Pine St.", "Oak Ave.", "Elm St.", "Main Rd.", "Lake Dr."]
    assert not look_like_numbers([f"{number} {street}" for number in (105, 12, 7) for street in streets])
    assert look_like_numbers([f"{number}.5 {unit}" for number in range(9) for unit in "abcde"])
    assert look_like_numbers([f"{number},5 {unit}" for number in range(9) for unit in "abcde"])
    assert not look_like_numbers([f"{number}{unit}" for number in range(9) for unit in "ABCDE"])
