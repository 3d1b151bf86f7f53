"""Dates and times are numbers of days, the same in every kind of table."""

import datetime
import logging

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from slfs import BNSLFS, SLFS, MDLPDiscretizer, NaiveBayes, UnseenValueWarning, saving
from slfs.evaluation.numbers import Standardizer
from slfs.report import make_facts
from slfs.saving.interchange import to_bif, to_states
from slfs.tables.dates import TimeKind, as_date, days, days_of, from_days
from slfs.tables.registry import read_table

DAYS = pd.date_range("2020-01-01 06:00", periods=60, freq="36h")
Y = np.repeat([0, 1], 30)
NUMBERS = (DAYS - pd.Timestamp(0)) / pd.Timedelta(days=1)


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"when": DAYS, "x": Y}),
        pd.DataFrame({"when": DAYS.tz_localize("UTC").tz_convert("Asia/Tokyo"), "x": Y}),
        pd.DataFrame({"when": DAYS.tz_localize("UTC").tz_convert("America/New_York"), "x": Y}),
        pd.DataFrame({"when": DAYS.tz_localize("UTC").tz_convert("Etc/GMT+5"), "x": Y}),
        pd.DataFrame({"when": DAYS.as_unit("s"), "x": Y}),
        pd.DataFrame({"when": pd.Series(DAYS.to_pydatetime(), dtype=object), "x": Y}),
        pl.DataFrame({"when": DAYS.to_list(), "x": Y}),
        pa.table({"when": DAYS.to_list(), "x": Y}),
        DAYS.to_numpy().reshape(-1, 1),
        np.array([[value] for value in DAYS.to_pydatetime()], dtype=object),
    ],
    ids=[
        *("pandas", "time zone", "underscore", "offset", "seconds", "objects", "polars", "pyarrow"),
        *("array", "array of objects"),
    ],
)
def test_a_date_is_the_same_number_in_every_table(table):
    read = read_table(table)
    assert (read.numbers[0], read.categorical[0]) == (True, False)
    np.testing.assert_array_equal(read.number_block(np.array([0]), None).value, NUMBERS)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([datetime.date(1970, 1, 3), None], [2, np.nan]),
        ([datetime.timedelta(hours=12), datetime.timedelta(days=-1)], [0.5, -1]),
        ([datetime.time(6), datetime.time(18)], [0.25, 0.75]),
    ],
    ids=["dates", "durations", "times"],
)
@pytest.mark.parametrize("make", [pl.DataFrame, pa.table, lambda data: pd.DataFrame(data, dtype=object)])
def test_dates_durations_and_times(values, expected, make):
    block = read_table(make({"a": values, "b": ["p", "q"]})).number_block(np.array([0]), None)
    np.testing.assert_array_equal(block.value, expected)


def test_missing_dates_and_new_ones():
    when = pd.Series(DAYS).where(np.arange(60) % 10 > 0)
    frame = pd.DataFrame({"when": when})
    cuts = MDLPDiscretizer().fit(frame, Y).cut_points_[0]
    assert cuts.tolist() == [(NUMBERS[29] + NUMBERS[31]) / 2], "row 30 has no date"
    classifier = BNSLFS().fit(frame, Y)
    later = pd.DataFrame({"when": [DAYS[0], DAYS[-1] + pd.Timedelta(days=999)]})
    assert classifier.predict(later).tolist() == [0, 1]
    assert classifier.predict(pl.from_pandas(later)).tolist() == [0, 1]


def test_the_logger_is_told(caplog):
    with caplog.at_level(logging.INFO, "slfs"):
        SLFS().fit(pd.DataFrame({"when": DAYS, "x": Y}), Y)
    assert "The columns ['when'] hold dates or durations" in caplog.text


def test_distances_use_days():
    frame = pd.DataFrame({"when": DAYS, "x": Y})
    numbers = Standardizer().fit(frame).transform(frame)
    assert numbers.shape == (60, 2)
    assert (np.diff(numbers[:, 0]) > 0).all()


def test_days_by_hand():
    assert days(np.array(["1969-12-31", "NaT"], "datetime64[D]")).tolist()[0] == -1
    assert np.isnan(days(np.array(["NaT"], "timedelta64[s]"))[0])
    assert days_of(np.datetime64("1970-01-02T12", "h")) == 1.5
    zone = datetime.timezone(datetime.timedelta(hours=2))
    assert days_of(datetime.datetime(1970, 1, 1, 2, tzinfo=zone)) == 0
    assert [as_date(18262.0), as_date(18262.5)] == ["2020-01-01", "2020-01-01 12:00:00"]
    assert as_date(float("inf")) == "inf"
    assert as_date(-1e6) == "-1000000.0"
    assert as_date(0.1, "microseconds") == "1970-01-01 02:24:00.000000"
    for kind in (TimeKind.DATE, TimeKind.DURATION):
        moments = from_days(np.array([18262.25, np.nan]), kind)
        assert np.isnat(moments).tolist() == [False, True]
        np.testing.assert_array_equal(days(moments), [18262.25, np.nan])


FRAME = pd.DataFrame({"when": DAYS, "x": np.arange(60) / 7, "wait": (DAYS - DAYS[0]) / 3})
NAMES = FRAME.columns.tolist()


def swapped(make):
    """Dates where numbers were fitted, numbers where dates or durations were fitted."""
    return make({"when": FRAME["x"], "x": FRAME["when"], "wait": FRAME["x"]})


def as_objects(data):
    """The values of a new table as Python objects, with text among them, so that no column is typed."""
    frame = pd.DataFrame(data).astype(object)
    frame.iloc[0] = "soon"
    return frame


@pytest.mark.parametrize(
    "make",
    [pd.DataFrame, lambda data: pl.from_pandas(pd.DataFrame(data)), as_objects],
    ids=["pandas", "polars", "objects"],
)
def test_dates_are_unknown_to_numbers_and_numbers_to_dates(make):
    """They were used as numbers of days, without a warning."""
    classifier = NaiveBayes().fit(FRAME, Y)
    with pytest.warns(UnseenValueWarning, match=r"^3 columns contain .*60 of 60 rows") as caught:
        found = classifier.predict_proba(swapped(make))
    assert len(caught) == 1
    if make is not as_objects:
        assert "'x' (60 of 60 rows, e.g. 2020-01-01 06:00:00)" in str(caught[0].message)
        assert "'when' (60 of 60 rows, e.g. 0)" in str(caught[0].message)
    np.testing.assert_allclose(found, 0.5)
    discretizer = MDLPDiscretizer().fit(FRAME, Y)
    with pytest.warns(UnseenValueWarning, match="3 columns"):
        assert (discretizer.transform(swapped(make)) == 0).all()


def test_an_array_of_dates_is_not_one_of_numbers():
    dates = DAYS.to_numpy().reshape(-1, 1)
    for first, second in ((dates, days(dates)), (days(dates), dates)):
        classifier = NaiveBayes().fit(first, Y)
        assert classifier.predict(first).tolist() == Y.tolist()
        with pytest.warns(UnseenValueWarning, match="60 of 60 rows"):
            np.testing.assert_allclose(classifier.predict_proba(second), 0.5)


def test_missing_dates_are_not_of_another_kind():
    classifier = NaiveBayes().fit(FRAME.mask(pd.Series(FRAME.index % 10 == 0)), Y)
    gone = pd.DataFrame({name: [np.nan, None] for name in NAMES})
    assert classifier.predict_proba(gone).shape == (2, 2)


def test_text_among_new_dates():
    classifier = NaiveBayes().fit(FRAME[["when"]], Y)
    new = FRAME[["when"]].astype(object)
    new.iloc[3, 0] = "soon"
    with pytest.warns(UnseenValueWarning, match=r"'when' \(1 of 60 rows, e\.g\. 'soon'\)"):
        found = classifier.predict(new)
    assert (found == Y)[np.arange(60) != 3].all()


@pytest.mark.parametrize(("length", "grouped"), [("10D", False), ("4D", True)])
def test_categories_that_are_dates(length, grouped):
    frame = FRAME.assign(when=FRAME["when"].dt.floor(length))
    classifier = NaiveBayes(categorical_features=["when"]).fit(frame, Y)
    assert bool(classifier._coding.categories) == grouped
    classifier.predict(frame)  # without a warning about unseen values
    with pytest.warns(UnseenValueWarning, match=r"'when' \(60 of 60"):
        classifier.predict(frame.assign(when=days(frame["when"].to_numpy())))
    level = classifier.explain_prediction(frame[:1]).levels[0, 0]
    assert level.split(", ")[0] in set(frame["when"].dt.date.map(str))


def test_sampled_dates_are_dates(tmp_path):
    classifier = NaiveBayes().fit(FRAME, Y)
    X, y = classifier.sample(50, random_state=0)
    drawn = pd.DataFrame(X, columns=NAMES)
    assert drawn["when"].between(DAYS[0], DAYS[-1]).all()
    assert (classifier.predict(drawn) == y).mean() > 0.9  # without a warning about unseen values
    saving.save(classifier, tmp_path / "m.slfs")
    again = saving.load(tmp_path / "m.slfs")
    np.testing.assert_array_equal(again.predict_proba(drawn), classifier.predict_proba(drawn))


def test_cut_points_are_shown_as_dates():
    """They were shown as numbers of days."""
    selector = SLFS().fit(FRAME[["when"]], Y)
    classifier = selector.to_classifier(structure="linked")
    day = "2020-02-14 12:00:00"  # the middle of two days
    assert classifier.explain_prediction(FRAME[["when"]]).levels[0, 0] == f"≤ {day}"
    (node,) = make_facts(selector)["nodes"]
    assert (node["cuts"], node["levels"]) == ([day], [f"≤ {day}", f"> {day}"])
    text = to_bif(classifier)
    assert f"cut points: {day}" in text
    assert "up_to_2020_02_14" in text
    assert to_states(classifier, FRAME[["when"]])[0]["when"].startswith("up_to_2020_02_14")


def test_cut_points_within_a_second():
    when = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(60) // 20 * 10, unit="ms")
    discretizer = MDLPDiscretizer().fit(pd.DataFrame({"when": when}), np.arange(60) // 20)
    assert len(discretizer.cut_points_[0]) == 2
    names = NaiveBayes().fit(pd.DataFrame({"when": when}), np.arange(60) // 20)
    levels = names.explain_prediction(pd.DataFrame({"when": when})).levels[:, 0]
    assert len(set(levels)) == 3
