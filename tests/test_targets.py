"""Targets that are identifiers are refused; many classes take bounded time and memory."""

import re
import subprocess
import sys
import time
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from slfs import BNSLFS, MRMR, SLFS, TAN, MDLPDiscretizer, StabilitySelection
from slfs._core.interface import command_line
from slfs.evaluation import p_values
from slfs.report import write_report
from slfs.tables.target import read_target


@pytest.mark.parametrize(
    "y",
    [
        np.arange(600),
        np.arange(600.0),
        [f"patient {i}" for i in range(600)],
        np.arange(600) // 2,
        np.append(np.arange(400), np.zeros(200, int)),
    ],
)
@pytest.mark.parametrize("estimator", [SLFS(), MRMR(), BNSLFS(), MDLPDiscretizer()], ids=str)
def test_identifiers_are_refused_at_once(estimator, y):
    X = np.random.default_rng(0).normal(size=(600, 20))
    n_classes = len(np.unique(y))
    begin = time.perf_counter()
    with pytest.raises(ValueError, match=f"y has {n_classes} classes in 600 samples") as error:
        estimator.fit(X, y)
    assert time.perf_counter() - begin < 5
    assert "use another column as the target" in str(error.value)
    is_number = not isinstance(y, list)
    assert ("target='regression'" in str(error.value)) == is_number
    assert ("pandas.qcut(y, 5" in str(error.value)) == is_number


@pytest.mark.parametrize("estimator", [SLFS(target="classification"), BNSLFS(), TAN()], ids=str)
def test_continuous_targets_are_refused_where_classes_are_needed(estimator):
    y = np.random.default_rng(0).normal(size=300)
    with pytest.raises(ValueError, match=r"Unknown label type: continuous. y has 300 distinct values"):
        estimator.fit(y.reshape(-1, 1), y)


@pytest.mark.parametrize("kind", [np.array, pd.Series])
def test_a_few_fractions_are_classes_if_the_user_says_so(kind, tmp_path):
    """The advice was to bin three values into five bins, which fails."""
    random = np.random.default_rng(0)
    y = random.choice([0.5, 1.0, 1.5], 300)
    X = np.column_stack([y + 0.3 * random.normal(size=300), random.normal(size=300)])
    for classifier in (BNSLFS(), TAN(), BNSLFS(SLFS(target="classification"))):
        with pytest.raises(ValueError, match=r"If they are classes, y.astype\(str\) converts them"):
            classifier.fit(X, kind(y))
        assert classifier.fit(X, kind(y).astype(str)).score(X, kind(y).astype(str)) > 0.7
    declared = SLFS(target="classification")
    for selector in (declared, StabilitySelection(declared, n_subsamples=4)):
        assert selector.fit(X, kind(y)).classes_.tolist() == [0.5, 1.0, 1.5]
        assert selector.indices_.tolist() == [0]
    write_report(declared, tmp_path / "report.html", X=X, y=kind(y))
    with pytest.raises(ValueError, match="Unknown label type: continuous"):  # half of them occur once
        SLFS(target="classification").fit(X[:4], [0.5, 1.0, 1.5, 1.5])
    with pytest.raises(ValueError, match="use target='classification', or convert them to text"):
        SLFS().fit(X, kind(np.where(y > 0.5, 1.5, 0.5)))


def test_many_classes_of_integers_are_warned_about():
    y = np.repeat(np.arange(40), 4)
    with pytest.warns(UserWarning, match="has 40 distinct integers in 160 samples") as caught:
        read_target(pd.Series(y, name="age"))
    assert "The target 'age'" in str(caught[0].message)
    assert "target='regression'" in str(caught[0].message)
    read_target(y, "classification")  # warnings are errors here
    read_target(y, "regression")
    read_target(y.astype(str))
    read_target(np.repeat(np.arange(30), 10))


@pytest.mark.parametrize("y", [np.arange(2500) % 155 * 100, np.arange(3000) % 73 * 1.0])
def test_many_integers_in_many_samples_are_warned_about_once(y):
    """The larger the table, the fewer warnings there were."""
    x = np.random.default_rng(0).permutation(y) + y
    with pytest.warns(UserWarning, match=f"has {len(set(y))} distinct integers") as caught:
        SLFS(n_features_to_select=1).fit(x.reshape(-1, 1), y)
    assert len([one for one in caught if "distinct integers" in str(one.message)]) == 1


@pytest.mark.parametrize("model", [BNSLFS(), BNSLFS(StabilitySelection(n_subsamples=4)), TAN()])
def test_classifiers_warn_about_integers_that_may_be_a_quantity(model):
    y = np.repeat(np.arange(40), 6)
    X = np.random.default_rng(0).normal(size=(len(y), 2)) + y[:, np.newaxis]
    with pytest.warns(UserWarning, match="If it is a quantity, use BNSLFSRegressor. If not, y.astype"):
        model.fit(X, y)
    for labels in (y - 20, y / 1.0):
        model.fit(X, labels.astype(str))  # the remedy, also for negative numbers and floats
    labels = pd.Series(y / 8.0).astype(str)
    with pytest.warns(UserWarning, match=r"written as -1234\.5, .* If not, 'class ' \+ y avoids"):
        model.fit(X, labels)
    model.fit(X, "class " + labels)
    model.fit(X, y.astype(str))  # warnings are errors here
    BNSLFS(SLFS(target="classification")).fit(X, y)


PRICES = np.random.default_rng(0).integers(50_000, 900_000, 300)


@pytest.mark.parametrize("written", ["${:,}", "{:,} sq ft", "EUR {}", "{},50 €", "{}"])
def test_numbers_written_as_text_are_no_identifiers(written):
    y = pd.Series([written.format(price) for price in PRICES])
    X = PRICES.reshape(-1, 1)
    how = "convert y to numbers of one unit, written as -1234.5, and use target='regression' (selectors)"
    with pytest.raises(ValueError, match=re.escape(f"If it is a quantity, {how} or BNSLFSRegressor.")):
        SLFS().fit(X, y)
    with pytest.raises(ValueError, match=r"needs numbers, but y contains .* Convert y to numbers of"):
        SLFS(target="regression").fit(X, y)
    assert SLFS(target="regression").fit(X, PRICES).target_type_ == "regression"


def test_classes_that_are_numbers_written_as_text_are_warned_about():
    y = pd.Series([f"${price // 20_000 * 20_000:,}" for price in PRICES], name="price")
    with pytest.warns(UserWarning, match="texts that look like numbers, such as '.100,000', in 300 sam"):
        read_target(y)
    read_target(y, "classification")  # warnings are errors here


def test_text_that_spoils_a_target_of_numbers_is_named():
    y = [*map(str, PRICES[:-1]), "?"]
    with pytest.raises(ValueError, match=r"y contains '\?'\. Convert y to numbers"):
        read_target(y, "regression")


@pytest.mark.parametrize(
    "y",
    [
        np.arange(57) % 14,
        np.arange(20),
        np.repeat(np.arange(100), 3),
        np.append(np.arange(19), [0] * 5),
        pd.qcut(np.random.default_rng(0).normal(size=300), 5, labels=False),
    ],
)
def test_small_classes_are_accepted(y):
    assert len(read_target(y, "classification").classes) == len(np.unique(y))


def test_subsamples_may_have_smaller_classes():
    """Half of a class of three samples has one or two; what is refused is decided for the table."""
    y = np.repeat(np.arange(40), 3)
    X = y[:, np.newaxis] + np.random.default_rng(0).normal(size=(120, 3))
    selector = StabilitySelection(SLFS(target="classification"), n_subsamples=4).fit(X, y)
    assert selector.n_features_in_ == 3


MANY = """
import resource, sys, warnings
import numpy as np
from slfs import SLFS
n_samples, n_classes, n_columns = map(int, sys.argv[1:4])
random = np.random.default_rng(0)
y = np.arange(n_samples) % n_classes
shift = lambda: (y * random.integers(1, 7) + random.integers(0, n_classes)) % n_classes
X = np.column_stack([shift() for _ in range(n_columns)])
X = X + 0.2 * random.normal(size=X.shape)
warnings.simplefilter("ignore")
for few, size in ((2, 50), (90, 3000)):  # compiles the kernels
    SLFS().fit(X[:size], y[:size] % few).to_classifier().predict(X[:50])
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
before = peak()
if len(sys.argv) > 4:  # memory that the system cannot drop, without the pages of temporary files
    import threading
    own = lambda: int(open("/proc/self/status").read().split("RssAnon:")[1].split()[0]) // 1024
    used, sampled, done = own(), [], threading.Event()
    def sample():
        while not done.wait(0.01):
            sampled.append(own())
    threading.Thread(target=sample, daemon=True).start()
    import psutil
    SLFS(memory_limit=psutil.Process().memory_info().rss + int(sys.argv[4]) * 2**20).fit(X, y)
    done.set()
    print(max(sampled) - used)
    sys.exit()
selector = SLFS().fit(X, y)
accuracy = (selector.to_classifier().predict(X[:500]) == y[:500]).mean()
print((peak() - before) // 1024, selector.n_features_, accuracy)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs the module resource")
@pytest.mark.parametrize(("n_samples", "n_classes", "most"), [(2000, 200, 200), (20_000, 1000, 500)])
def test_many_classes_take_little_memory(n_samples, n_classes, most):
    """Counts of levels x levels x classes took gigabytes: 200 classes 2 GB, 1000 classes 100 GB."""
    run = [sys.executable, "-c", MANY, str(n_samples), str(n_classes), "40"]
    mebibytes, n_features, accuracy = subprocess.run(
        run, capture_output=True, text=True, check=True, timeout=300
    ).stdout.split()
    assert int(mebibytes) < most
    assert int(n_features) > 10
    assert float(accuracy) > 0.9


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
def test_the_memory_limit_holds_for_many_classes():
    run = [sys.executable, "-c", MANY, "20000", "1000", "200", "250"]
    peak = subprocess.run(run, capture_output=True, text=True, check=True, timeout=300).stdout
    assert int(peak) < 250


@pytest.mark.parametrize("make", [list, np.array, pd.Series, lambda y: pd.Series(y, dtype="category")])
def test_classes_that_differ_in_case_or_blanks_are_warned_about(make):
    labels = ["yes", "no", "YES", "yes ", "no", "a  b", "a\u00a0b"] * 4
    with pytest.warns(UserWarning, match="differ only in upper and lower case or in blanks") as caught:
        target = read_target(make(labels))
    assert len(target.classes) == 6, "they stay different classes"
    message = str(caught[0].message)
    assert "'YES', 'yes', 'yes '; 'a  b', 'a\\xa0b'" in message
    assert "y.str.strip().str.lower()" in message
    assert "'no'" not in message


def test_the_warning_about_classes_comes_once_and_names_the_target():
    labels = pd.Series(["yes", "YES", "no"] * 20, name="bought")
    X = np.random.default_rng(0).normal(size=(60, 3)) + (labels == "no").to_numpy()[:, np.newaxis]
    with pytest.warns(UserWarning, match="differ only") as caught:
        BNSLFS(StabilitySelection(MRMR(1), n_subsamples=4)).fit(X, labels)
    (message,) = [str(one.message) for one in caught if "differ only" in str(one.message)]
    assert "the target 'bought'" in message


@pytest.mark.parametrize("y", [["a", "b", "ab"] * 3, [0, 1] * 3, [True, False] * 3, [1.0, 2.0] * 3])
def test_other_classes_are_not_warned_about(y):
    read_target(y)  # warnings are errors here


def test_decimals_are_numbers():
    y = [Decimal(price) / 10 for price in PRICES.tolist()]
    expected = read_target(PRICES / 10)
    for given in (y, pd.Series(y), pl.Series(y)):
        np.testing.assert_array_equal(read_target(given).values, expected.values)


def test_decimals_written_as_text_are_warned_about():
    y = pd.Series([f"{price / 1e6:.2f}" for price in PRICES], name="price")
    with pytest.warns(UserWarning, match=r"texts that look like numbers.* convert y to numbers of one"):
        read_target(y)
    read_target(pd.Series(np.arange(300) // 6).astype(str))  # the remedy for integers that are classes


def test_durations_can_be_converted():
    y = pd.to_timedelta(PRICES, unit="h")
    with pytest.raises(ValueError, match=r"Convert durations to numbers first.*: y / numpy") as error:
        read_target(y, "regression")
    advice = re.search(r"y / .*'D'\)", str(error.value))[0]
    np.testing.assert_allclose(eval(advice, {"numpy": np, "y": y}), PRICES / 24)


def test_integers_of_which_most_occur_once_are_warned_about():
    y = np.array([48, 60, 71, 55, 62, 41, 37, 32, 39, 51, 30, 52, 35, 42, 50, 41, 25, 43, 30])
    X = np.random.default_rng(0).normal(size=(len(y), 2))
    with pytest.warns(UserWarning, match=r"17 distinct integers in 19 samples.*target='regression'"):
        MRMR(n_features_to_select=1).fit(X, y)


def test_a_stray_text_does_not_hide_that_the_target_is_a_quantity():
    random = np.random.default_rng(0)
    X, price = random.normal(size=(300, 2)), random.uniform(5, 60, 300).round(4)
    texts = [*map(str, price[:-1]), "kUSD"]
    with pytest.raises(ValueError, match=r"except 'kUSD' are numbers.*errors='coerce'"):
        SLFS().fit(X, texts)
    options = r"except 'kUSD' are numbers.*--missing 'kUSD' --drop-missing"
    with command_line(), pytest.raises(ValueError, match=options):
        SLFS().fit(X, texts)
    with pytest.raises(ValueError, match=r"y has numbers, and the text 'unknown'.*errors='coerce'"):
        SLFS().fit(X, np.array([*price[:-1], "unknown"], dtype=object))
    ages = [*map(str, random.integers(20, 75, 299)), "unknown"]
    with pytest.warns(UserWarning, match="all except 'unknown' are numbers. If it is a quantity"):
        SLFS().fit(X, ages)
    numbers = pd.to_numeric(pd.Series(ages), errors="coerce")  # as advised
    kept = numbers.notna().to_numpy()
    assert SLFS(target="regression").fit(X[kept], numbers[kept]).target_type_ == "regression"


@pytest.mark.parametrize(
    ("rows", "labels"),
    [
        (pd.MultiIndex.from_product([range(30), ["l", "r"]]), pd.RangeIndex(60)),
        (
            pd.MultiIndex.from_product([range(30), ["l", "r"]]),
            pd.MultiIndex.from_product([[0], range(30), [0, 1]]),
        ),
        (
            pd.date_range("2020", periods=60, tz="UTC"),
            pd.date_range("2020", periods=60, tz="UTC").tz_convert("CET"),
        ),
        (pd.Index(range(60), dtype="Int64"), pd.Index(range(60))),
        (pd.interval_range(0, 60), pd.IntervalIndex.from_arrays(range(60), range(2, 62))),
        [pd.IntervalIndex.from_arrays(range(60), range(2, 62))] * 2,
        (pd.Index([[row] for row in range(60)]), pd.Index(range(60))),
        [pd.Index([{"row": row} for row in range(60)])] * 2,
    ],
)
def test_other_indexes_are_in_no_other_order(rows, labels):
    """A MultiIndex beside another index, overlapping intervals and lists were an error, and equal times
    of two zones another order."""
    X = pd.DataFrame({"a": np.random.default_rng(0).normal(size=60)}, rows)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="The index of y")
        p_values(X, pd.Series(np.arange(60) % 2, labels))


def test_labels_in_another_order_than_the_rows_are_warned_about():
    ids = [f"s{i}" for i in range(60)]
    y = pd.Series(np.repeat(["a", "b"], 30), ids)
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 5)), ids).add_prefix("g")
    X["g0"] += 2 * (y == "b")
    shuffled = y.sample(frac=1, random_state=1)
    for fit in (SLFS(include=["g0"]).fit, BNSLFS(SLFS(include=["g0"])).fit, p_values):
        with pytest.warns(UserWarning, match=r"in another order.* pass y\.loc\[X\.index\]"):
            fit(X, shuffled)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SLFS().fit(X, shuffled.loc[X.index])
        SLFS().fit(X.sample(frac=1, random_state=2), y.sample(frac=1, random_state=2))
        SLFS().fit(X, y.reset_index(drop=True))
        SLFS().fit(X.to_numpy(), y)


def test_decimal_commas_of_a_target_with_other_text():
    """They were called numbers, and refused as text if the other text was left out."""
    y = [f"{i},{i % 7}" for i in range(40)] + ["n.d."]
    with pytest.raises(
        ValueError, match=r"convert y to numbers of one unit, written as -1234\.5"
    ) as caught:
        SLFS().fit(np.arange(41)[:, np.newaxis], y)
    assert "are numbers" not in str(caught.value)
