"""Dates and times are numbers of days, the same in every kind of table."""

import datetime
import logging

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from slfs import BNSLFS, SLFS, MDLPDiscretizer
from slfs.evaluation.numbers import Standardizer
from slfs.tables.dates import as_date, days, days_of
from slfs.tables.registry import read_table

DAYS = pd.date_range("2020-01-01 06:00", periods=60, freq="36h")
Y = np.repeat([0, 1], 30)
NUMBERS = (DAYS - pd.Timestamp(0)) / pd.Timedelta(days=1)


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"when": DAYS, "x": Y}),
        pd.DataFrame({"when": DAYS.tz_localize("UTC").tz_convert("Asia/Tokyo"), "x": Y}),
        pd.DataFrame({"when": DAYS.as_unit("s"), "x": Y}),
        pd.DataFrame({"when": pd.Series(DAYS.to_pydatetime(), dtype=object), "x": Y}),
        pl.DataFrame({"when": DAYS.to_list(), "x": Y}),
        pa.table({"when": DAYS.to_list(), "x": Y}),
        DAYS.to_numpy().reshape(-1, 1),
        np.array([[value] for value in DAYS.to_pydatetime()], dtype=object),
    ],
    ids=["pandas", "time zone", "seconds", "objects", "polars", "pyarrow", "array", "array of objects"],
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
    assert "The columns ['when'] hold dates or times" in caplog.text


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
