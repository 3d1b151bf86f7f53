"""Texts and numbers that mean a missing value, in files of all formats."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from slfs import SLFS
from slfs.files import NpyColumns, ParquetColumns, read_file
from slfs.files.writing import write_table

FORMATS = ["csv", "xlsx", "jsonl", "parquet", "arrow"]


def mixed(n_samples=80):
    """A column of each kind, each with a value that means a missing one."""
    random = np.random.default_rng(0)
    y = np.arange(n_samples) % 2
    frame = pd.DataFrame(
        {
            "whole": y * 5 + random.integers(0, 4, n_samples),
            "real": (y + random.random(n_samples)).round(2),
            "text": np.where(y == 1, "p", "q").astype(object),
            "y": np.where(y == 1, "yes", "no"),
        }
    )
    frame.loc[frame.index % 5 == 0, ["whole", "real"]] = -99
    frame.loc[frame.index % 7 == 0, "text"] = "k.A."
    return frame


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def in_memory(source, **options):
    file = read_file(source, target="y", **options)
    return file.in_memory()


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("compressed", [False, True])
def test_marks_are_missing_in_all_formats(ending, compressed, here):
    import gzip

    frame, source = mixed(), f"a.{ending}"
    write_table(frame, here / source)
    if compressed:
        (here / f"{source}.gz").write_bytes(gzip.compress((here / source).read_bytes()))
        source += ".gz"
    table = in_memory(source, missing=["-99", "k.A."])
    assert table["whole"].isna().tolist() == frame["whole"].eq(-99).tolist()
    assert table["real"].isna().tolist() == frame["real"].eq(-99).tolist()
    assert table["text"].isna().tolist() == frame["text"].eq("k.A.").tolist()
    assert table["whole"].sum() == frame["whole"][frame["whole"] != -99].sum()
    assert not in_memory(source)["whole"].isna().any()


def test_the_cut_points_are_the_same_for_all_formats(here, slfs):
    frame, found = mixed(), []
    for ending in FORMATS:
        write_table(frame, here / f"a.{ending}")
        options = ("-t", "y", "--missing", "-99", "--missing", "k.A.")
        code, out, error = slfs("discretize", f"a.{ending}", *options, "--json")
        assert code == 0, error
        found.append(json.loads(out)["cut_points"])
    assert found == found[:1] * len(FORMATS)
    assert min(found[0]["real"]) > 0


def test_predict_applies_the_marks_of_the_model_to_all_formats(here, slfs):
    frame, found = mixed(), []
    write_table(frame, here / "a.csv")
    marks = ("--missing", "-99", "--missing", "k.A.")
    assert slfs("fit", "a.csv", "-t", "y", *marks, "-o", "m.slfs", "--set", "order=relevance")[0] == 0
    for ending in FORMATS:
        write_table(frame.drop(columns="y").head(12), here / f"new.{ending}")
        code, out, error = slfs("predict", "m.slfs", f"new.{ending}", "-p")
        assert code == 0, error
        found.append(out)
    assert len(set(found)) == 1


@pytest.mark.usefixtures("here")
def test_blocks_of_columns_and_rows():
    frame = mixed().astype({"text": "category"})
    frame["single"] = frame["real"].replace(-99, -99.9).astype("float32")
    frame.to_parquet("a.parquet", row_group_size=20)
    plain, y = frame.drop(columns="y"), frame["y"]
    cleaned = plain.replace({"single": {np.float32(-99.9): np.nan}})
    for name in ("whole", "real"):
        cleaned[name] = plain[name].mask(plain[name] == -99)
    cleaned["text"] = plain["text"].cat.remove_categories("k.A.")
    table = ParquetColumns("a.parquet", drop=["y"], missing=["-99", "k.A.", "-99.9"])
    np.testing.assert_array_equal(table.read("whole"), cleaned["whole"])
    block = table.number_block(np.array([0]), np.arange(25, 45)).dense()[0]
    np.testing.assert_array_equal(block, cleaned["whole"][25:45])
    for options in ({}, {"categorical_features": ["whole"]}):
        selector = SLFS(order="relevance", **options)
        expected = selector.fit(cleaned, y).features_["relevance"].tolist()
        assert selector.fit(table, y).features_["relevance"].tolist() == expected
    assert table.originals(["whole"])["whole"].eq(-99).any()


@pytest.mark.usefixtures("here")
def test_npy():
    array = mixed()[["whole", "real"]].to_numpy()
    y = mixed()["y"]
    np.save("a.npy", array)
    np.save("single.npy", np.where(array == -99, -99.9, array).astype(np.float32))
    expected = np.where(array == -99, np.nan, array)
    for path, mark in (("a.npy", "-99"), ("single.npy", "-99.9")):
        table = NpyColumns(path, missing=[mark])
        np.testing.assert_allclose(table.take(np.arange(2)), expected, rtol=1e-6)
        np.testing.assert_allclose(table.read("x0"), expected[:, 0])
        for categorical in ("from_dtype", [0]):
            selector = SLFS(order="relevance", categorical_features=categorical)
            scores = selector.fit(expected, y).scores_.tolist()
            assert selector.fit(table, y).scores_.tolist() == scores


def test_npz_arff_and_svmlight(here):
    np.savez("a.npz", X=np.array([[1, -99], [2, 3]]), y=np.array(["a", "b"]))
    assert read_file("a.npz", missing=["-99"]).X.isna().to_numpy().tolist() == [
        [False, True],
        [False, False],
    ]
    (here / "a.arff").write_text(
        "@relation r\n@attribute a numeric\n@attribute b {p,unknown}\n@data\n-99,p\n1,unknown\n"
    )
    X = read_file("a.arff", missing=["-99", "unknown"]).X
    assert X.isna().to_numpy().tolist() == [[True, False], [False, True]]
    dump_svmlight_file(sparse.csr_array([[1.0, 0.0], [-99.0, 2.0]]), [0, 1], "a.svm")
    X = read_file("a.svm", missing=["-99"]).X
    assert np.isnan(X.toarray()).tolist() == [[False, False], [True, False]]
    with pytest.raises(ValueError, match="--missing 0"):
        read_file("a.svm", missing=["0"])


def test_marks_next_to_dates_text_and_large_integers(here):
    large = 2**60 + 1
    lines = [
        f'{{"when": "2020-01-05", "big": {large}, "flag": true, "cell": [1], "mix": -99.0}}',
        '{"when": -99, "big": -99, "flag": false, "cell": [2], "mix": "a"}',
    ]
    (here / "a.jsonl").write_text("\n".join(lines))
    X = read_file("a.jsonl", missing=["-99", "1"]).X
    assert X["when"].dtype.kind == "M"
    assert X["big"].tolist() == [large, pd.NA]
    assert X["flag"].tolist() == [True, False], "True is not the number 1"
    assert X["cell"].tolist() == [[1], [2]]
    assert X["mix"].isna().tolist() == [True, False]


@pytest.mark.usefixtures("here")
def test_transposed_numbers():
    frame = pd.DataFrame({"gene": ["g1", "g2"], "s1": [1, -99], "s2": [3, 4]})
    frame.to_parquet("a.parquet")
    X = read_file("a.parquet", transpose=True, missing=["-99"]).X
    assert X["g2"].isna().tolist() == [True, False]


@pytest.mark.parametrize("mark", ["<LOD", "n.d.", "ND", "BDL", "<1", "not detected"])
def test_limits_of_detection_in_small_counts_are_named(mark):
    """A few counts are few categories, but one text must not silently make them so."""
    y = np.repeat(["a", "b"], 20)
    counts = np.random.default_rng(2).poisson(np.where(y == "b", 4.5, 2.5)).astype(str).astype(object)
    counts[0] = mark
    with pytest.warns(UserWarning, match=f"look like numbers.*{mark}"):
        SLFS(n_features_to_select=1).fit(
            pd.DataFrame({"c": counts, "d": np.arange(40) % 7 + 9 * (y == "b")}), y
        )


@pytest.mark.usefixtures("here")
def test_labels_that_a_mark_makes_missing_name_the_option(slfs):
    x = np.random.default_rng(0).normal(size=60).round(2)
    for labels, mark in ((x > 0).astype(int), "0"), ((x > 0).astype(float), "0"):
        pd.DataFrame({"x": x, "y": labels}).to_csv("t.csv", index=False)
        code, _, error = slfs("select", "t.csv", "-t", "y", "--missing", mark)
        assert (code, "which --missing 0 makes missing values in all columns" in error) == (1, True)
        assert "give it another name" not in error
    labels = np.where(x > 1, "unknown", np.where(x > 0, "yes", "no"))
    pd.DataFrame({"x": x, "y": labels}).to_csv("t.csv", index=False)
    options = ("-t", "y", "--missing", "unknown", "--drop-missing-target")
    code, _, error = slfs("select", "t.csv", *options)
    assert (code, "which --missing unknown makes missing: these rows are left out, too." in error) == (
        0,
        True,
    )


@pytest.mark.usefixtures("here")
def test_marks_with_spaces_beside_them():
    """The files of UCI have a space after each comma."""
    Path("a.csv").write_text("age,job,y\n1, ?, a\n2, x, b\n3, ?, a\n", encoding="utf-8")
    job = read_file("a.csv", target="y", missing=["?"]).X["job"]
    assert job.isna().tolist() == [True, False, True]


def test_the_text_none_of_a_selected_column_is_named(here, slfs):
    """Of 200 patients 185 had the coma "None", which a report called missing."""
    y = np.arange(60) % 2
    coma = np.where(y == 1, np.where(np.arange(60) % 3 > 0, "Deep", "Stupor"), "None")
    frame = pd.DataFrame({"coma": coma, "x": np.arange(60) % 7, "y": y})
    frame.to_csv(here / "a.csv", index=False)
    assert "the text 'None' of 'coma' (30 rows)" in slfs("select", "a.csv", "-t", "y")[1]
    frame.assign(coma=np.where(y == 1, coma, "")).to_csv(here / "a.csv", index=False)
    assert "None" not in slfs("select", "a.csv", "-t", "y")[1]
