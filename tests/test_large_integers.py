"""Integers above 2**53 are compared exactly as categories; a warning says that numbers are rounded."""

import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from slfs import OSFS, SLFS, LeakageWarning, MDLPDiscretizer, NaiveBayes
from slfs.evaluation import p_values
from slfs.files.reading import read_file
from slfs.screening.plan import BlockLimits, block_limits

Y = np.repeat([0, 1], 50)
CODES = 2**60 + 2 * Y + np.arange(100) % 2
"""Four integers that are one 64-bit float; the class follows from them."""


def columns(dtype):
    return np.column_stack([CODES, np.arange(100) % 3]).astype(dtype)


@pytest.mark.parametrize(
    "X",
    [
        columns(np.int64),
        columns(np.uint64),
        columns(object),
        pd.DataFrame(columns(np.int64), columns=["x0", "x1"]),
        pd.DataFrame({"x0": CODES, "x1": pd.array([None, *[1, 2] * 49, 3], "Int64")}),
        pl.DataFrame(columns(np.int64), schema=["x0", "x1"]),
        pd.DataFrame({"x0": [2**70 + int(code) for code in CODES], "x1": 1}),
    ],
    ids=["int64", "uint64", "objects", "pandas", "nullable", "polars", "beyond 64 bits"],
)
@pytest.mark.parametrize("n_rows", [np.inf, 7])
@pytest.mark.filterwarnings("ignore::slfs.LeakageWarning")
def test_categories_are_told_apart(X, n_rows):
    with block_limits(BlockLimits(n_rows=n_rows)):
        selector = SLFS(categorical_features=[0]).fit(X, Y)
    assert selector.get_feature_names_out().tolist() == ["x0"]
    assert selector.network_counts_.coding.n_levels.tolist() == [4]
    assert selector.to_classifier().predict(X).tolist() == Y.tolist()


@pytest.mark.parametrize("missing", ["polars", "Int64"])
@pytest.mark.filterwarnings("ignore::slfs.LeakageWarning")
def test_missing_values_do_not_round_the_others(missing):
    values = [None, *CODES[1:].tolist()]
    frame = (
        pl.DataFrame({"a": values})
        if missing == "polars"
        else pd.DataFrame({"a": pd.array(values, "Int64")})
    )
    discretizer = MDLPDiscretizer(categorical_features="all").fit(frame, Y)
    assert discretizer.n_levels_.tolist() == [5]
    assert discretizer.transform(frame)[:3, 0].tolist() == [4, 1, 0]


def test_significance_of_large_categories():
    X = columns(np.int64)
    assert p_values(X, Y, categorical_features="all")[0] < 1e-6
    assert p_values(X, Y, categorical_features="all", n_permutations=99)[0] == 0.01


@pytest.mark.parametrize(
    "estimator", [SLFS(), OSFS(), MDLPDiscretizer(), NaiveBayes()], ids=lambda own: type(own).__name__
)
def test_rounded_numbers_are_warned_about(estimator):
    X = columns(np.int64)
    X[:, 1] = Y
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeakageWarning)
        with pytest.warns(UserWarning, match=r"2\*\*53.*rounded to 64-bit floats: 'x0'\. .*categorical"):
            estimator.fit(X, Y)
    if hasattr(estimator, "explain"):
        assert "single value" not in estimator.explain(0)
        assert "differ, but are all the same number when rounded" in estimator.explain(0)


def test_large_numbers_that_stay_different_are_not_warned_about():
    large = np.linspace(1e17, 1e18, 100).astype(np.int64)[np.arange(100) * 37 % 100]
    X = np.column_stack([large, np.full(100, 2**60), Y])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", LeakageWarning)
        selector = SLFS().fit(X, Y)
        MDLPDiscretizer().fit(X, Y)
    assert "it has a single value" in selector.explain(1)


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_files_keep_all_digits(tmp_path, suffix):
    """A column with a missing value was read as floats."""
    values = [2**53 + 1, None, 2**53 + 3, 5]
    path = tmp_path / f"ids.{suffix}"
    if suffix == "csv":
        pd.DataFrame({"a": pd.array(values, "Int64"), "y": [0, 1, 0, 1]}).to_csv(path, index=False)
    else:
        records = [{"a": value, "y": index % 2} for index, value in enumerate(values)]
        path.write_text("\n".join(map(json.dumps, records)))
    column = read_file(str(path), target="y").X["a"]
    assert column.isna().tolist() == [False, True, False, False]
    assert [int(value) for value in column.dropna()] == [2**53 + 1, 2**53 + 3, 5]


def test_large_floats_in_files_stay_floats(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,y\n1e300,0\n,1\n2.5,0\n")
    assert read_file(str(path), target="y").X["a"].dtype == float


@pytest.mark.filterwarnings("default")
def test_the_command_tells_categories_apart(tmp_path, slfs):
    path = tmp_path / "codes.csv"
    values = ["", *map(str, CODES[1:].tolist())]
    path.write_text("code,y\n" + "".join(f"{v},{y}\n" for v, y in zip(values, Y, strict=True)))
    code, out, _ = slfs("explain", "code", path, "--target", "y", "--categorical", "code")
    assert code == 0
    assert "strongly relevant" in out
    _, out, err = slfs("explain", "code", path, "--target", "y")
    assert "2**53" in err
    assert "single value" not in out
