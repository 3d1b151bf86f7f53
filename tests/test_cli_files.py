"""Files of the command line: values are written as they were read, and all formats agree."""

import gzip
import io
import json
import re
import sys
import zipfile
from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse
from sklearn.datasets import dump_svmlight_file, load_wine

from slfs import SLFS
from slfs.files import read_file
from slfs.files.writing import write_table

N = 120
MRMR_2, MRMR_4 = ("--method", "mrmr", "-k", "2"), ("--method", "mrmr", "-k", "4")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def people():
    """A table of many types; all columns but ``noise`` are related to the class."""
    random = np.random.default_rng(0)
    y = random.integers(0, 2, N)
    days = pd.to_datetime("2020-01-01") + pd.to_timedelta(200 * y + random.integers(0, 90, N), "D")
    frame = pd.DataFrame(
        {
            "number": np.round(2.0 * y + random.normal(size=N), 3),
            "count": 10 * y + random.integers(0, 9, N),
            "town": np.where(y ^ (random.random(N) < 0.1), "Rome", "Oslo, N"),
            "member": (y ^ (random.random(N) < 0.1)).astype(bool),
            "joined": days,
            "noise": random.normal(size=N),
            "class": np.where(y, "yes", "no"),
        }
    )
    frame.loc[::11, "number"] = np.nan
    frame.loc[::13, "town"] = None
    frame.loc[5, "joined"] = pd.NaT
    frame["member"] = frame["member"].astype(object).where(np.arange(N) % 17 > 0, None)
    return frame


def write_everywhere(frame):
    """Write a table in all formats that can hold it."""
    dates = frame.assign(joined=frame["joined"].dt.strftime("%Y-%m-%d"))
    dates.to_csv("a.csv", index=False)
    dates.to_csv("a.tsv", index=False, sep="\t")
    dates.to_csv("semicolon.csv", index=False, sep=";", decimal=",")
    dates.to_csv("a.csv.gz", index=False)
    dates.to_json("a.jsonl", orient="records", lines=True)
    dates.to_json("a.json", orient="records", indent=2)
    dates.to_json("lines.json", orient="records", lines=True)
    frame.to_excel("a.xlsx", index=False)
    frame.to_parquet("a.parquet")
    frame.to_feather("a.arrow")
    frame.assign(town=frame["town"].astype("category")).to_parquet("dictionary.parquet")
    return [
        *("a.csv", "a.tsv", "semicolon.csv", "a.csv.gz", "a.jsonl", "a.xlsx", "a.parquet", "a.arrow"),
        *("a.json", "lines.json", "dictionary.parquet"),
    ]


def facts(slfs, *arguments):
    code, out, error = slfs("select", *arguments, "--json")
    assert code == 0, error
    return json.loads(out), error


@pytest.mark.usefixtures("here")
def test_the_same_table_from_every_format_gives_the_same_answer(people, slfs):
    answers = {}
    for name in write_everywhere(people):
        found, error = facts(slfs, name, "-t", "class", *MRMR_4)
        assert "'joined': dates and durations are used as numbers of days (of dates" in error, name
        answers[name] = [found["selected"], found["columns"]["relevance"], found["classes"]]
    assert "noise" not in answers["a.csv"][0]
    assert len(answers["a.csv"][0]) > 2
    for name, answer in answers.items():
        assert answer == answers["a.csv"], name


@pytest.mark.usefixtures("here")
def test_types_that_differ_by_nature_are_noted(slfs):
    y = np.arange(80) % 2
    frame = pd.DataFrame({"code": (y + 2 * (np.arange(80) % 3)).astype(str), "x": y, "y": y})
    frame.to_csv("a.csv", index=False)
    frame.to_parquet("a.parquet")
    frame.astype({"code": "category"}).to_feather("a.arrow")
    assert read_file("a.csv", target="y").X["code"].dtype.kind == "i"
    assert slfs("select", "a.csv", "-t", "y")[2] == ""
    for name in ("a.parquet", "a.arrow"):
        _, _, error = slfs("select", name, "-t", "y")
        assert error == (
            "slfs: note: 'code': numbers that are stored as text or categories are used as categories. "
            "In a CSV file, they would be read as numbers.\n"
        )


ODD = """id,zip,flag,size,quoted,when,blank,y
a1,02139,TRUE,1e5,"say ""hi"", all",2020-01-05,,p
a2,10001,FALSE,1.50,plain,2021-06-30,NA,q
"""


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_values_are_written_as_they_were_read(ending, here, slfs):
    header, first, second = ODD.splitlines()
    (here / "in.csv").write_text("\n".join([header, *[first, second] * 40]) + "\n")
    options = ("-t", "y", "-m", "chi2-ranking", "-k", "7", "--id", "id", "--missing", "none")
    code, _, error = slfs("select", "in.csv", *options, "--out", f"out.{ending}")
    assert code == 0, error
    separator = "," if ending == "csv" else "\t"
    expected = pd.read_csv("in.csv", dtype=str, keep_default_na=False)
    written = pd.read_csv(f"out.{ending}", dtype=str, keep_default_na=False, sep=separator)
    pd.testing.assert_frame_equal(written, expected[written.columns])
    assert {"zip", "flag", "size", "quoted", "when"} <= set(written.columns)
    assert (written.columns[0], written.columns[-1]) == ("id", "y")
    if ending == "csv":
        assert "02139,TRUE,1e5," in (here / "out.csv").read_text()


@pytest.mark.parametrize("ending", ["parquet", "arrow", "xlsx", "jsonl", "json"])
def test_columns_of_text_files_get_types_in_other_formats(ending, here, slfs):
    rows = "1,2.5,TRUE,2020-01-05,02139,0\n2,,FALSE,2021-06-30,10001,1\n" * 40
    (here / "in.csv").write_text("id,size,flag,when,zip,y\n" + rows)
    options = ("-t", "y", "--id", "id", "-m", "chi2-ranking", "-k", "9", "--out", f"out.{ending}")
    code, _, error = slfs("select", "in.csv", *options)
    assert code == 0, error
    out = read_file(f"out.{ending}")
    expected = read_file("in.csv")
    assert out.names == expected.names
    out, expected = out.in_memory(), expected.X
    assert [kind.kind for kind in out.dtypes] == [kind.kind for kind in expected.dtypes]
    assert out["zip"].tolist() == ["02139", "10001"] * 40
    pd.testing.assert_frame_equal(out, expected, check_dtype=False)
    assert slfs("fit", "in.csv", "-t", "y", "--id", "id", "-o", "m.slfs")[0] == 0
    code, _, error = slfs("predict", "m.slfs", "in.csv", "--id", "id", "--out", f"p.{ending}")
    assert code == 0, error
    assert read_file(f"p.{ending}").in_memory()["id"].tolist() == [1, 2] * 40


@pytest.mark.usefixtures("here")
def test_no_digit_is_lost_in_other_formats(slfs):
    big = "9007199254740997"  # beyond what a float can hold
    rows = f"{big},1,{big},0\n,,,0\n7,2,1,1\n8,3,2,1\n" * 20
    Path("in.csv").write_text("id,x,big,y\n" + rows)
    options = ("-t", "y", "--id", "id", "-m", "chi2-ranking", "-k", "9", "--out", "out.parquet")
    code, _, error = slfs("select", "in.csv", *options)
    assert code == 0, error
    out = pq.read_table("out.parquet")[:4]
    assert out["id"].to_pylist() == [int(big), None, 7, 8]
    assert out["big"].to_pylist() == [int(big), None, 1, 2]
    assert out["x"].to_pylist() == [1.0, None, 2.0, 3.0]


@pytest.mark.usefixtures("here")
def test_large_integers_are_text_in_excel_files(slfs):
    """A spreadsheet program shows 15 digits of a number."""
    Path("in.csv").write_text("x,y\n" + "9007199254740997,0\n7,1\n" * 20)
    options = ("-t", "y", "-m", "chi2-ranking", "-k", "1", "--out", "out.xlsx")
    assert slfs("select", "in.csv", *options)[0] == 0
    assert pd.read_excel("out.xlsx", dtype=object)["x"].tolist()[:2] == ["9007199254740997", 7]


def test_a_semicolon_stays_a_semicolon(here, slfs):
    (here / "in.csv").write_text("a;b;y\n" + '1,50;"x;y";p\n2,75;z;q\n' * 30)
    assert (
        slfs("select", "in.csv", "-t", "y", "-m", "chi2-ranking", "-k", "2", "--out", "out.csv")[0] == 0
    )
    assert (here / "out.csv").read_text() == (here / "in.csv").read_text()


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("ending", ["parquet", "arrow"])
@pytest.mark.parametrize("compressed", ["", ".gz"])
def test_columns_keep_the_types_of_the_file(ending, compressed, slfs):
    table = pa.table(
        {
            "id": pa.array(range(60), pa.int32()),
            "small": pa.array([1, 5] * 29 + [1, None], pa.int8()),
            "decimal": pa.array([1, 2] * 30, pa.decimal128(5, 2)),
            "day": pa.array([100, 900] * 30, pa.date32()),
            "kind": pa.array(["u", "v"] * 30).dictionary_encode(),
            "flag": pa.array([True, False] * 29 + [None, False]),
            "y": pa.array([0, 1] * 30, pa.int16()),
        }
    )
    name = f"in.{ending}"
    if ending == "parquet":
        pq.write_table(table, name)
    else:
        pa.feather.write_feather(table, name) if hasattr(pa, "feather") else write_arrow(table, name)
    if compressed:
        with open(name, "rb") as plain, gzip.open(name + compressed, "wb") as file:  # noqa: PTH123
            file.write(plain.read())
    options = ("-t", "y", "--id", "id", "-m", "chi2-ranking", "-k", "9")
    code, _, error = slfs("select", name + compressed, *options, "--out", "out.parquet")
    assert code == 0, error
    written = pq.read_table("out.parquet")
    assert written.num_columns == 7
    for column in table.column_names:
        assert written.schema.field(column).type == table.schema.field(column).type, column
        assert written[column].to_pylist() == table[column].to_pylist(), column
    assert slfs("select", name + compressed, *options, "--out", "out.csv")[0] == 0
    assert pd.read_csv("out.csv", dtype=str)["small"].tolist()[:2] == ["1", "5"], "not 1.0"


def write_arrow(table, name):
    with pa.OSFile(name, "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)


def test_an_id_is_no_candidate_but_is_written_first(here, slfs):
    y = np.repeat([0, 1], 30)
    pd.DataFrame({"x": y, "key": np.arange(60), "k2": np.arange(60)[::-1], "y": y}).to_csv(
        "a.csv", index=False
    )
    found, _ = facts(slfs, "a.csv", "-t", "y", "--id", "key", "--id", "2", "--out", "b.csv")
    assert (found["selected"], found["ids"], found["target"]) == (["x"], ["key", "k2"], "y")
    assert (here / "b.csv").read_text().startswith("key,k2,x,y\n0,59,0,0\n")
    code, _, error = slfs("explain", "key", "a.csv", "-t", "y", "--id", "key")
    assert (code, error) == (1, "slfs: The column 'key' of a.csv is an id.\n")
    assert slfs("discretize", "a.csv", "-t", "y", "--id", "key", "--out", "c.csv")[0] == 0
    assert pd.read_csv("c.csv").columns.tolist() == ["key", "x", "k2", "y"]


def test_a_file_without_header(here, slfs):
    rows = ["5.1,3.5,a", "4.9,3.0,b"] * 20
    (here / "a.csv").write_text("\n".join(rows))
    _, _, error = slfs("select", "a.csv", "-t", "-1")
    assert error == (
        "slfs: note: The first row ('5.1', '3.5', 'a') looks like data, but is used as the names of the "
        "columns. If the file has no header, add --no-header.\n"
    )
    code, out, error = slfs("select", "a.csv", "-t", "column_3", "--no-header", "--json", *MRMR_2)
    assert (code, error) == (0, "")
    assert json.loads(out)["selected"] == ["column_1", "column_2"]
    assert json.loads(out)["n_samples"] == 40
    assert read_file("a.csv", header=False, target="-1").target == "column_3"
    book = openpyxl.Workbook()
    for _ in range(20):
        book.active.append([5.1, 3.5, "a"])
        book.active.append([4.9, 3.0, "b"])
    book.save("a.xlsx")
    assert read_file("a.xlsx", header=False, target="-1").X.shape == (40, 2)


@pytest.mark.parametrize("header", ["x,y,kind", "2019,2020,name", "a,3.5,b"])
def test_a_header_is_not_taken_for_data(header, here):
    (here / "a.csv").write_text(header + "\n" + "5.1,3.5,a\n4.9,3.0,b\n" * 20)
    assert read_file("a.csv").notes == []


def test_names_of_rows_are_left_out(here, slfs):
    (here / "a.csv").write_text(",x,y\n" + "".join(f"{i},{i % 2},{i % 2}\n" for i in range(40)))
    found, error = facts(slfs, "a.csv", "-t", "y")
    assert found["selected"] == ["x"]
    assert "it is left out as row names" in error


def test_duplicate_names_are_noted(here):
    (here / "a.csv").write_text("a,b,a,y\n" + "1,2,3,4\n" * 5)
    file = read_file("a.csv", target="y")
    assert file.names == ["a", "b", "a.1"]
    assert file.notes == ["The column name 'a' occurs more than once. The copies are called 'a.1'."]


@pytest.mark.parametrize(
    ("cell", "kind"),
    [
        ("2020-02-29", "M"),
        ("2020-02-30", "O"),
        ("2020-01-01T10:00:00Z", "M"),
        ("2020-01", "O"),
        ("7", "O"),
    ],
)
def test_dates_are_recognised_if_all_values_are_dates(cell, kind, here):
    (here / "a.csv").write_text(f"when,x,y\n2020-01-01 10:30,1,p\n,1,p\n{cell},2,q\n")
    column = read_file("a.csv", target="y").X["when"]
    assert (column.dtype.kind == "M") == (kind == "M")
    assert read_file("a.csv", target="y", text=["when"]).X["when"].dtype.kind == "O"


def test_cut_points_of_dates_are_shown_as_dates(here, slfs):
    rows = [f"2020-01-{day:02},{'p' if day < 15 else 'q'}" for day in range(1, 29)]
    (here / "a.csv").write_text("when,y\n" + "\n".join(rows))
    assert "2020-01-14 12:00:00" in slfs("discretize", "a.csv", "-t", "y")[1]


@pytest.mark.parametrize(
    "compress", [gzip.compress, __import__("bz2").compress, __import__("lzma").compress]
)
def test_compressed_standard_input(compress, people, slfs, monkeypatch):
    content = people.to_csv(index=False).encode()
    answers = []
    for data in (content, compress(content)):
        stream = io.TextIOWrapper(io.BytesIO(data))
        monkeypatch.setattr(sys, "stdin", stream)
        answers.append(facts(slfs, "-", "-t", "class")[0]["selected"])
    assert answers[0] == answers[1] != []


@pytest.mark.usefixtures("here")
def test_sheets_of_an_excel_file(people, slfs):
    with pd.ExcelWriter("a.xlsx") as writer:
        people.assign(noise="=1+1").to_excel(writer, sheet_name="First", index=False)
        people.rename(columns={"number": "other"}).to_excel(writer, sheet_name="Second", index=False)
    _, error = facts(slfs, "a.xlsx", "-t", "class")
    assert "The sheet 'First' is read, the first of 2. Use --sheet to read another: 'Second'." in error
    found, error = facts(slfs, "a.xlsx", "-t", "class", "--sheet", "Second", "--out", "b.xlsx", *MRMR_4)
    assert "sheet" not in error
    assert "other" in found["selected"]
    written = pd.read_excel("b.xlsx")
    pd.testing.assert_series_equal(written["other"], people["number"], check_names=False)
    code, _, error = slfs("select", "a.xlsx", "-t", "class", "--sheet", "Third")
    assert (code, "it has no sheet 'Third'. Its sheets are 'First', 'Second'." in error) == (1, True)


def test_excel_files_contain_no_formulas(here, slfs):
    (here / "a.csv").write_text("t,y\n" + "=1+1,p\n@x,q\n" * 20)
    assert slfs("select", "a.csv", "-t", "y", "--out", "b.xlsx")[0] == 0
    sheet = openpyxl.load_workbook("b.xlsx").active
    assert (sheet["A2"].value, sheet["A2"].data_type) == ("=1+1", "s")


EXPRESSION = """gene\ts1\ts2\ts3\ts4\ts5\ts6\ts7\ts8\tdescription
TP53\t1.5\t1.25\t9.5\t9\t1.00\t1\t9\t9.5\ta gene
FLAT\t1\t1\t1\t1\t1\t1\t1\t1\tanother
"""


@pytest.fixture
def expression(here):
    (here / "expression.tsv").write_text(EXPRESSION)
    labels = "".join(
        f"{sample},{group}\n"
        for sample, group in zip(EXPRESSION.split("\t")[1:9], "AABBAABB", strict=True)
    )
    (here / "pheno.csv").write_text("sample,group\n" + labels + "s99,A\n")
    return here


def test_samples_in_columns_with_labels_in_another_file(expression, slfs):
    options = ("--transpose", "--targets-from", "pheno.csv", "--target", "group")
    found, error = facts(slfs, "expression.tsv", *options, "--out", "out.tsv", "-m", "mrmr", "-k", "1")
    assert found["selected"] == ["TP53"]
    assert (found["ids"], found["target"], found["n_samples"]) == (["sample"], "group", 8)
    assert (
        "8 of 9 samples of expression.tsv have a label in pheno.csv (the others are left out: "
        "'description'), which labels 1 other."
    ) in error
    lines = (expression / "out.tsv").read_text().splitlines()
    assert lines[:3] == ["sample\tTP53\tgroup", "s1\t1.5\tA", "s2\t1.25\tA"]
    assert lines[5] == "s5\t1.00\tA", "values are unchanged"


def test_a_sample_in_the_place_of_the_names(expression, slfs):
    """Its numbers became the names of the columns without a word."""
    rows = [line.partition("\t")[2] for line in EXPRESSION.splitlines()[:3]]
    (expression / "expression.tsv").write_text("\n".join(rows))
    command = ("--transpose", "--targets-from", "pheno.csv", "-t", "group", "-m", "mrmr", "-k", "1")
    found, error = facts(slfs, "expression.tsv", *command)
    assert found["n_samples"] == 7
    assert "The first column of the file, 's1', is a sample of pheno.csv, but its values, suc" in error
    assert "are used as the names of the columns, and this sample is left out. Insert" in error


@pytest.fixture
def two_files(here):
    """Genes in one file, and what is known about the samples in another one, in another order."""
    random = np.random.default_rng(0)
    ids = [f"s{number:02}" for number in range(60)]
    y = np.arange(60) % 2
    genes = {f"g{column}": random.normal(size=60).round(3) + (column < 3) * 2 * y for column in range(6)}
    batch = np.where((y == 1) | (random.random(60) < 0.2), "01", "02")
    about = {
        "group": np.where(y, "A", "B"),
        "batch": batch,
        "plate": "p" + pd.Series(ids),
        "weight": 1 + y,
    }
    frame = pd.DataFrame({"sample": ids, **genes, **about})
    frame.to_csv("one.csv", index=False)
    frame[["sample", *genes]].to_csv("genes.csv", index=False)
    turned = frame[["sample", *genes]].set_index("sample").T
    turned.to_csv("genes.tsv", sep="\t", index_label="gene")
    frame[["sample", *about]].iloc[::-1].to_csv("about.csv", index=False)
    return here


@pytest.mark.parametrize("source", [("genes.csv", "--id", "sample"), ("genes.tsv", "--transpose")])
@pytest.mark.parametrize(
    "options",
    [
        ("--condition-on", "batch"),
        ("--condition-on", "batch,g5"),
        ("--include", "batch"),
        ("--weights", "weight"),
        ("--weights", "weight", "--condition-on", "batch", "-m", "mrmr", "-k", "3"),
    ],
)
def test_options_name_columns_of_the_file_with_the_target(two_files, slfs, source, options):
    about = [name for name in ("batch", "weight") if not any(name in one for one in options)]
    drop = ["--drop", ",".join([*about, "plate"])]
    one, _ = facts(slfs, "one.csv", "--id", "sample", "-t", "group", *drop, *options, "--out", "a.csv")
    found, error = facts(
        slfs, *source, "--targets-from", "about.csv", "-t", "group", *options, "--out", "b.csv"
    )
    assert "60 of 60 samples" in error
    for name in ("selected", "n_samples", "columns"):
        assert found[name] == one[name]
    assert (two_files / "b.csv").read_text() == (two_files / "a.csv").read_text()


def test_ids_of_the_file_with_the_target_are_kept(two_files, slfs):
    about = ("--targets-from", "about.csv", "-t", "group", "--id", "sample,plate")
    for source in (("genes.csv",), ("genes.tsv", "--transpose")):
        found, _ = facts(slfs, *source, *about, "-k", "1", "--out", "out.csv")
        assert found["ids"] == ["sample", "plate"]
        lines = (two_files / "out.csv").read_text().splitlines()
        assert lines[0] == f"sample,plate,{found['selected'][0]},group"
        assert lines[1].startswith("s00,ps00,")


@pytest.mark.usefixtures("two_files")
@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_an_index_with_the_name_of_a_column_is_left_out(slfs, suffix):
    table = pd.read_csv("genes.csv").drop(columns="sample")
    table["group"] = pd.read_csv("about.csv")["group"]
    table.index = pd.Index(np.where(np.arange(len(table)) % 3, "P", "Q"), name="group")
    if suffix == "parquet":
        table.to_parquet("same.parquet")
    else:
        stored = pa.Table.from_pandas(table)
        with pa.ipc.new_file("same.feather", stored.schema) as writer:
            writer.write_table(stored)
    found, _ = facts(slfs, f"same.{suffix}", "-t", "group", "-k", "1")
    assert set(found["classes"]) == {"A", "B"}


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_the_index_of_a_dataframe_matches_two_files(two_files, slfs, suffix):
    genes = pd.read_csv("genes.csv").set_index("sample")
    table = pa.Table.from_pandas(genes)
    if suffix == "parquet":
        genes.to_parquet("genes.parquet")
    else:
        with pa.ipc.new_file("genes.feather", table.schema) as writer:
            writer.write_table(table)
    about = ("--targets-from", "about.csv", "-t", "group", "--id", "sample", "--condition-on", "batch")
    expected, _ = facts(slfs, "genes.csv", *about, "--out", "a.csv")
    found, error = facts(slfs, f"genes.{suffix}", *about, "--out", "b.csv")
    assert (found["ids"], found["columns"]) == (["sample"], expected["columns"])
    assert (two_files / "b.csv").read_text() == (two_files / "a.csv").read_text()
    assert error == f"slfs: note: 60 of 60 samples of genes.{suffix} have a label in about.csv.\n"


@pytest.mark.parametrize("source", [("genes.csv", "--id", "sample"), ("genes.tsv", "--transpose")])
@pytest.mark.usefixtures("two_files")
def test_the_sheet_of_the_file_with_the_target(slfs, source):
    """Nothing chose it: --sheet is for the first file."""
    about = pd.read_csv("about.csv", dtype=str)
    sheets = {"Read me": pd.DataFrame({"note": ["none"]}), "Samples": about}

    def write():
        with pd.ExcelWriter("about.xlsx") as writer:
            for name, sheet in sheets.items():
                sheet.to_excel(writer, sheet_name=name, index=False)

    write()
    options = ("-t", "group", "--include", "batch")
    expected, _ = facts(slfs, *source, "--targets-from", "about.csv", *options)
    found, _ = facts(slfs, *source, "--targets-from", "about.xlsx", *options)
    assert found["columns"] == expected["columns"]
    command = ["select", *source, "--targets-from", "about.xlsx", "-t"]
    code, _, error = slfs(*command, "gruop")
    assert code == 1
    assert "none of its sheets ('Read me', 'Samples') has a column 'gruop'" in error
    code, _, error = slfs("fit", *source, "--targets-from", "about.csv", *options, "-o", "m.slfs")
    assert code == 0, error
    code, out, error = slfs("predict", "m.slfs", *source, "--targets-from", "about.xlsx")
    assert (code, len(out.splitlines())) == (0, 61), error
    sheets["Old"] = about
    write()
    code, _, error = slfs(*command, "group")
    assert code == 1
    assert "2 of its sheets have a column 'group': 'Samples', 'Old'. Save the one to use as" in error


def test_wrong_columns_of_two_files(two_files, slfs):
    about = ("genes.csv", "--id", "sample", "--targets-from", "about.csv", "-t", "group")
    code, _, error = slfs("select", *about, "--condition-on", "bacth")
    assert (code, two_files.name in error) == (1, False)
    assert "genes.csv (or about.csv) has no column 'bacth'. Did you mean 'batch'?" in error
    code, _, error = slfs("select", *about, "--include", "group")
    assert code == 1
    assert "The column 'group' of about.csv is the target" in error


@pytest.mark.parametrize("source", [("genes.csv", "--id", "sample"), ("genes.tsv", "--transpose")])
def test_a_name_in_both_files(two_files, slfs, source):
    about = pd.read_csv(two_files / "about.csv", dtype=str)
    about.rename(columns={"batch": "g4", "weight": "g5", "group": "g0"}).to_csv("about.csv", index=False)
    options = (*source, "--targets-from", "about.csv", "-t", "g0", "-k", "2")
    for option in (("--condition-on", "g4"), ("--include", "g1,g4"), ("--weights", "g5")):
        code, _, error = slfs("select", *options, *option)
        assert code == 1
        assert f"is a column of {source[0]} and of about.csv. Rename one of them" in error
    code, _, error = slfs("select", *options)
    assert code == 0
    assert f"The column 'g0' of {source[0]} has the name of the target, and is left out; rename" in error


@pytest.mark.parametrize("source", [("genes.csv", "--id", "sample"), ("genes.tsv", "--transpose")])
def test_a_model_uses_columns_of_the_file_with_the_target(two_files, slfs, source):
    about = ("--targets-from", "about.csv")
    options = ("-t", "group", "--include", "batch", "--model", "m.slfs")
    code, _, error = slfs("fit", *source, *about, *options)
    assert code == 0, error
    code, _, error = slfs("predict", "m.slfs", *source)
    assert code == 1
    assert "'batch'. Another file with them and the ids of the samples can be passed" in error
    code, out, error = slfs("predict", "m.slfs", *source, *about)
    assert code == 0, error
    assert "60 of 60 samples" in error
    code, expected, error = slfs("predict", "m.slfs", "one.csv", "--id", "sample")
    assert (code, out.replace("\t", ",")) == (0, expected), error
    pd.read_csv("about.csv", dtype=str)[["sample", "batch"]][:5].to_csv("about.csv", index=False)
    _, out, error = slfs("predict", "m.slfs", *source, *about)
    assert out.replace("\t", ",").splitlines()[1:] == expected.splitlines()[-5:], two_files


def test_a_matrix_as_r_writes_it(expression, slfs):
    lines = [line.rpartition("\t")[0] for line in EXPRESSION.splitlines()]
    lines[0] = lines[0].partition("\t")[2]  # the column of row names has no name
    (expression / "r.tsv").write_text("\n".join(lines))
    options = (
        "--transpose",
        "--targets-from",
        "pheno.csv",
        "--target",
        "group",
        "-m",
        "mrmr",
        "-k",
        "1",
    )
    assert facts(slfs, "r.tsv", *options)[0]["selected"] == ["TP53"]


def test_a_transposed_table_with_its_own_target(expression, slfs):
    rows = ["name,s1,s2,s3,s4,s5,s6", "x,1,2,8,9,1,8", "group,A,A,B,B,A,B"]
    (expression / "t.csv").write_text("\n".join(rows))
    found, _ = facts(slfs, "t.csv", "--transpose", "-t", "group", "-m", "mrmr", "-k", "1")
    assert (found["selected"], found["ids"], found["classes"]) == (["x"], ["sample"], ["A", "B"])


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl", "arrow"])
def test_rows_whose_target_is_missing_can_be_left_out(ending, people, here, slfs):
    """They had to be removed from the file by hand."""
    frame = people.assign(key=[f"{i:03}" for i in range(N)], times=np.arange(N) % 3)
    frame["class"] = (frame["class"] == "yes").astype("Int64")
    frame = frame.drop(columns="joined")
    frame.loc[[2, 7, N - 1], "class"] = pd.NA
    write_table(frame, here / f"a.{ending}")
    write_table(frame.drop([2, 7, N - 1]), here / f"b.{ending}")
    options = ("-t", "class", "--id", "key", "--weights", "times", *MRMR_4)
    code, _, error = slfs("select", f"a.{ending}", *options)
    assert (code, "Leave them out with --drop-missing-target, or, if y" in error) == (1, True)
    found, error = facts(slfs, f"a.{ending}", *options, "--drop-missing-target", "--out", "a_out.csv")
    note = f"3 of {N} rows of a.{ending} are left out, because their target 'class' is missing."
    assert note in error
    expected, error = facts(slfs, f"b.{ending}", *options, "--drop-missing-target", "--out", "b_out.csv")
    assert "left out, because" not in error
    assert found["classes"] == expected["classes"] == ["0", "1"]
    for part in ("selected", "nodes", "n_samples", "class_counts", "columns"):
        assert found[part] == expected[part]
    assert (here / "a_out.csv").read_text() == (here / "b_out.csv").read_text()


@pytest.mark.parametrize("ending", ["csv", "tsv", "xlsx", "jsonl", "json"])
@pytest.mark.parametrize("labels", ["own", "other"])
def test_the_only_text_of_a_column_may_be_in_a_row_that_is_left_out(ending, labels, people, here, slfs):
    """A row of units made text of all columns of numbers, dates and truth values."""
    frame = people.assign(key=np.arange(N), times=1 + np.arange(N) % 3).drop(columns="town")
    frame["joined"] = frame["joined"].dt.strftime("%Y-%m-%d")
    units = dict.fromkeys(frame, "unit") | {"class": None}
    if labels == "other":
        frame[["key", "class"]].to_csv("labels.csv", index=False)
        del frame["class"], units["class"]
    write_table(frame, here / f"a.{ending}")
    write_table(pd.concat([pd.DataFrame([units]), frame.astype(object)]), here / f"b.{ending}")
    options = ["-t", "class", "--id", "key", "--weights", "times", *MRMR_4]
    options += ["--targets-from", "labels.csv"] if labels == "other" else ["--drop-missing-target"]
    expected, before = facts(slfs, f"a.{ending}", *options, "--out", "a_out.xlsx")
    found, error = facts(slfs, f"b.{ending}", *options, "--out", "b_out.xlsx")
    for part in ("selected", "nodes", "n_samples", "class_counts", "columns", "warnings"):
        assert found[part] == expected[part]
    notes = [line for line in error.splitlines() if "left out" not in line]
    assert notes == [line for line in before.splitlines() if f"{N} of {N}" not in line]
    read = [pd.read_excel(f"{name}_out.xlsx") for name in "ab"]
    pd.testing.assert_frame_equal(*read)


def test_ids_of_a_transposed_table_stay_text_without_a_row_of_totals(here):
    rows = [["id", *range(20), "Total"], ["x", *range(20), "sum"], ["y", *"ab" * 10, ""]]
    (here / "a.csv").write_text("\n".join(",".join(map(str, row)) for row in rows))
    file = read_file("a.csv", target="y", transpose=True).with_target_only()
    assert file.X["x"].tolist() == list(range(20))
    assert file.typed_ids.iloc[:, 0].tolist() == list(map(str, range(20)))


@pytest.mark.parametrize("label", ["", "word"])
def test_covariates_of_a_file_of_labels_with_a_row_of_units(label, here):
    y = np.arange(60) % 2
    pd.DataFrame({"id": range(60), "x": y}).to_csv("x.csv", index=False)
    rows = [f"{i},{'ab'[y[i]]},{i % 7},{i / 4}" for i in range(60)]
    (here / "y.csv").write_text("\n".join(["id,y,age,z", f"unit,{label},years,kg", *rows]))
    options = {"targets_from": "y.csv", "ids": ["id"], "covariates": ["age"]}
    file = read_file("x.csv", target="y", **options)
    assert file.X["age"].tolist() == [i % 7 for i in range(60)]
    file = read_file("x.csv", target="z", **options)
    assert file.y.tolist() == [i / 4 for i in range(60)]


@pytest.mark.parametrize(
    "command",
    [
        *(
            ("explain", "x1", "a.npy"),
            ("fit", "a.npy", "-k", "1", "-o", "m.slfs"),
            ("discretize", "a.npy"),
        ),
        ("compare", "a.npy", "-k", "1", "--cv", "2", "--methods", "mrmr", "--classifiers", "NB"),
        ("interactions", "a.npy", "--with", "x0"),
    ],
    ids=lambda command: command[0],
)
@pytest.mark.usefixtures("here")
def test_all_commands_can_leave_out_rows_whose_target_is_missing(command, slfs):
    random = np.random.default_rng(0)
    y = np.append(np.arange(99) % 2, np.nan)
    np.save("a.npy", np.c_[y + random.normal(size=100), random.normal(size=(100, 2)), y])
    code, out, error = slfs(*command, "-t", "x3", "--drop-missing-target", "--json")
    assert code == 0, error
    assert "1 of 100 rows of a.npy are left out, because their target 'x3' is missing." in error
    assert "1.0" not in str(json.loads(out).get("classes"))


def test_labels_in_another_file_are_matched_by_id(here, slfs):
    (here / "data.csv").write_text("key,x\n" + "".join(f"{i:03},{i % 2}\n" for i in range(40)))
    (here / "labels.csv").write_text(
        "key,group\n" + "".join(f"{i:03},{'pq'[i % 2]}\n" for i in reversed(range(1, 40)))
    )
    common = ("data.csv", "-t", "group", "--targets-from", "labels.csv")
    found, error = facts(slfs, *common, "--id", "key", "--out", "out.csv")
    assert (found["selected"], found["n_samples"]) == (["x"], 39)
    assert (
        "39 of 40 samples of data.csv have a label in labels.csv (the others are left out: '000')."
    ) in error
    assert (here / "out.csv").read_text().startswith("key,x,group\n001,1,q\n002,0,p\n")
    (here / "numbers.csv").write_text(
        "key,group\n000,\n" + "".join(f"{i:03},{i % 2}\n" for i in range(1, 39))
    )
    common = ("data.csv", "-t", "group", "--targets-from", "numbers.csv")
    found, error = facts(slfs, *common, "--id", "key")
    assert "(the others are left out: '000', '039'; the label of 1 of them is missing there)" in error
    assert found["classes"] == ["0", "1"]
    common = ("data.csv", "-t", "group", "--targets-from", "labels.csv")
    code, _, error = slfs("select", *common)
    assert (code, "--targets-from needs --id COLUMN" in error) == (1, True)
    code, _, error = slfs("select", *common, "-t", "key", "--id", "key")
    assert (code, "is both the id and the target. Set the column of the ids with --id." in error) == (
        1,
        True,
    )
    (here / "labels.csv").write_text("key,group\na,p\nb,q\n")
    code, _, error = slfs("select", *common, "--id", "key")
    assert code == 1
    assert "No sample of data.csv ('000', '001', '002', ...) is in the column 'key'" in error
    (here / "labels.csv").write_text("key,group\n001,p\n001,q\n")
    code, _, error = slfs("select", *common, "--id", "key")
    assert (code, "The id '001' occurs more than once" in error) == (1, True)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "", "a.csv is empty."),
        ("a.csv", "x,y\n", "a.csv cannot be read as csv: it has a header, but no rows."),
        ("a.tsv", "x\ty\n", "a.tsv cannot be read as tsv: it has a header, but no rows."),
        ("a.csv", "x,y\n1,\n2,\n", "All values of the target 'y' of a.csv are missing. Choose another"),
        ("a.csv", "x,Y\n1,2\n", "a.csv has no column 'y'. Did you mean 'Y'?"),
        (
            "a.csv",
            "y\n1\n2\n",
            "no column besides the target, ids, weights",
        ),
        ("a.csv", b"x,y\n\xe4,1\n", "it is not encoded in UTF-8 (byte 4). Save it as UTF-8"),
        ("a.xyz", "?", "Known suffixes are .arff, .arrow, .bed"),
        ("a.xlsx", "?", "a.xlsx cannot be read as excel: File is not a zip file."),
        ("a.jsonl", '{"y": 1}\n{y: 2}\n', "a.jsonl cannot be read as jsonl: line 2 is not JSON"),
        ("a.jsonl", "[1, 2]\n", "line 1 is an array. Each line must be an object, such as"),
        ("a.jsonl", "\n", "a.jsonl cannot be read as jsonl: it has no rows."),
        (
            "a.jsonl",
            '[{"y": 1},\n{"y": 2}]\n',
            "If the file is one array of objects, set --format json.",
        ),
        (
            "a.json",
            "[1, 2]",
            "a.json cannot be read as json: item 1 of the array is a single value. Each",
        ),
        ("a.json", '[{"y": 1}, {"y": 2', "a.json cannot be read as json: it is not JSON (Expecting"),
        ("a.json", '{"y": [1, 2]}', "It must be an array of objects, such as [{"),
        ("a.json", "[]", "a.json cannot be read as json: it has no rows."),
        (
            "a.arff",
            "@relation r\n% remark\n@attribute x numeric\n@atribute y {a,b}\n@data\n1,a\n",
            "line 4 of its header, '@atribute y {a,b}', is not @relation, @attribute or @data",
        ),
        (
            "a.arff",
            "@relation r\n@attribute x number\n@data\n1\n",
            "line 2 of its header, '@attribute x number', is not '@attribute NAME TYPE', with the type",
        ),
        ("a.arff", "@relation r\n@attribute x numeric\n", "its header has no line @data"),
        ("a.arff", "@attribute x real\n@attribute y real\n@data\n{0 1}\n", "line 4 is a sparse row"),
        ("a.arff", "@attribute y real\n@data\n% c\n1,2\n", "line 4 has 2 values, but there are 1 attr"),
        (
            "a.arff",
            "@attribute y {a,b}\n@data\nc\n",
            "line 3 has 'c' for the attribute 'y', which is not one of 'a', 'b'",
        ),
        (
            "a.arff",
            "@attribute y real\n@data\nc\n",
            "line 3 has 'c' for the attribute 'y', which is not a number",
        ),
        ("a.arff", "@attribute y real\n@data\n1,{2}\n", "line 3 ends with a weight, {2}. Write weights"),
        (
            "a.arff",
            "@attribute y date ww\n@data\n1\n",
            "as arff: the format of dates 'ww' has 'ww', which",
        ),
        ("a.arff", "@attribute y {ä}\n@data\nä\n".encode("latin-1"), "iconv -f WINDOWS-1252 -t utf-8"),
    ],
)
def test_messages_about_files(name, content, message, here, slfs):
    (here / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    code, out, error = slfs("select", name, "-t", "y", "--out", "out.csv")
    assert (code, out) == (1, "")
    assert error.startswith("slfs: ")
    assert message in error
    assert not (here / "out.csv").exists()


@pytest.mark.parametrize("mark", ["'", '"'])
def test_types_quotation_marks_and_blanks_of_an_arff_file(mark, here):
    """Weka writes such files; SciPy, which has read them before, refuses all but numbers."""
    text = """@relation 'a b' % remark
        @ATTRIBUTE x {  C , H , 'a , b' }  % ,
        @attribute 'a name' string
        @attribute day date "yyyy-MM-dd"
        @attribute y REAL
        @data
        % remark
        C, 'It\\'s', 2020-02-01, 1
        'a , b', ?, ?, 2e3

        ?,'50 %',2020-02-03,?
    """.replace("'", mark)
    (here / "a.arff").write_text(text)
    file = read_file("a.arff", target="y", drop=[])
    found = file.X.astype(object).where(file.X.notna(), None)
    assert found["x"].tolist() == ["C", "a , b", None]
    assert file.X["x"].dtype.categories.tolist() == ["C", "H", "a , b"]
    assert found["a name"].tolist() == [f"It{mark}s", None, "50 %"]
    assert found["day"].dropna().tolist() == [pd.Timestamp("2020-02-01"), pd.Timestamp("2020-02-03")]
    assert file.y.tolist()[:2] == [1.0, 2000.0]


def test_the_header_of_a_good_arff_file(here):
    head = "% c\n@RELATION 'a b'\n@attribute 'the x' NUMERIC\n@attribute y { a, b }\n\n@DATA\n"
    (here / "a.arff").write_text(head + "1,a\n2,b\n")
    assert read_file("a.arff", target="y").names == ["the x"]


@pytest.mark.parametrize(
    ("head", "row", "expected"),
    [
        ("{x,y}", "x", "x"),
        (r"{a\b,c}", r"a\b", r"a\b"),
        ("string", "'he said, \"hi\"'", 'he said, "hi"'),
        ("{'it is',\"y 'z'\"}", "\"y 'z'\"", "y 'z'"),
        ("string", "'a\u2028b'", "a\u2028b"),
        ("string", "x" * 200_000, "x" * 200_000),
        ("{' a',a}", "' a'", " a"),
        ("string", "'?'", "?"),
        ("string", "''", ""),
        ("string", "'50 % off'", "50 % off"),
        ("string", "50%", "50%"),
        ("string", "don't", "don't"),
        ("{x, y} % unit {z}", "y", "y"),
        ("{it's,that's}", "it's", "it's"),
        ("string", "nan", "nan"),
        ("numeric", "9007199254740993", 9007199254740993),
        ("numeric", "99999999999999999999999", 99999999999999999999999),
        (
            "date \"yyyy-MM-dd'T'HH:mm:ssZ\"",
            "2020-07-01T00:00:00+0200",
            pd.Timestamp("2020-06-30 22:00"),
        ),
        ("date 'ssSSSmm'", "0512309", pd.Timestamp("1900-01-01 00:09:05.123")),
        ("date \"d MMM yyyy 'at' h a\"", "'3 May 2020 at 2 PM'", pd.Timestamp("2020-05-03 14:00")),
    ],
)
@pytest.mark.parametrize("separator", [",", "\t"])
def test_values_of_arff_files(head, row, expected, separator, here):
    text = f"@attribute a {head}\n@attribute b real\n@attribute c real\n@data\n"
    if separator == "\t" and "," in row:
        pytest.skip("a row with a comma is separated by commas")
    for comment in ("", " % it's a comment"):
        lines = text + separator.join([row, "2", "3"]) + comment + "\n"
        (here / "a.arff").write_text(lines, encoding="utf-8")
        file = read_file("a.arff", target="c")
        assert file.X.iloc[0].tolist() == [expected, 2.0]


def test_numbers_of_arff_files(here, slfs):
    """Numbers were floats, so that ids were changed, and NaN was refused; lines were counted wrongly."""
    rows = ["9007199254740993,NaN,a,2020-01-01T00:00:00+0100", "?,1,b,2020-07-01T00:00:00+0200"] * 800
    head = "".join(
        f"@attribute {one}\n"
        for one in ("id integer", "x numeric", "y {a,b}", "day date \"yyyy-MM-dd'T'HH:mm:ssZ\"")
    )
    (here / "a.arff").write_text("\n".join([f"{head}@data", *rows]))
    X = read_file("a.arff", target="y").X
    assert X["id"][0] == 9007199254740993
    assert X["id"].isna().sum() == X["x"].isna().sum() == 800
    assert X["day"].nunique() == 2
    (here / "a.arff").write_text("\n".join([f"{head}@data", *rows, "1,?,a,x"]))
    assert (
        "line 1606 has 'x' for the attribute 'day', which is not a date like"
        in slfs("select", "a.arff", "-t", "y")[2]
    )
    (here / "a.arff").write_text("\n".join([f"{head}@data", *rows, "1,True,a,?"]))
    assert (
        "line 1606 has 'True' for the attribute 'x', which is not a number"
        in slfs("select", "a.arff", "-t", "y")[2]
    )


@pytest.mark.parametrize("name", ["PAR1", "PAR1,PAR2", "ARROW1"])
def test_names_that_are_the_marks_of_binary_formats(name, here):
    (here / "a.csv").write_text(f"{name},y\n" + "1,2,3\n"[: 2 * name.count(",") + 3] + "\n")
    assert read_file("a.csv", target="y").names == name.split(",")


def test_an_excel_sheet_with_a_wrong_size(here):
    """The file states that its only cell is A1, as those of some programs do."""
    import zipfile

    table = pd.DataFrame({"x": range(30), "y": ["a", "b"] * 15})
    table.to_excel(here / "right.xlsx", index=False)
    with zipfile.ZipFile("right.xlsx") as old, zipfile.ZipFile("wrong.xlsx", "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name.endswith("sheet1.xml"):
                assert b'ref="A1:B31"' in content
                content = content.replace(b'ref="A1:B31"', b'ref="A1"')
            new.writestr(name, content)
    pd.testing.assert_frame_equal(
        read_file("wrong.xlsx", target="y").X, read_file("right.xlsx", target="y").X
    )


@pytest.mark.parametrize(
    ("first", "data"),
    [
        ("CN01,1,2009,9.7", True),
        ('"Autauga County, AL",1,2009,9.7', True),
        ("name,1990,1991,1992", False),
        ("name,900.5,800.5,700.5", False),
        ("name,b,2009,9.7", False),
        ("name,101,57,88", False),
        ("place,57,101,8.8", True),
    ],
)
def test_a_first_row_of_numbers_looks_like_data(first, data, here, slfs):
    """A text that occurs once was taken for a name of a column, whatever the numbers beside it were."""
    rows = "".join(f"place {chr(97 + i)},{i % 7},{i * 37 % 90},{i % 5 / 2}\n" for i in range(26))
    (here / "a.csv").write_text(f"{first}\n{rows}")
    error = slfs("select", "a.csv", "-t", "-1")[2]
    assert ("looks like data" in error) == data


@pytest.mark.parametrize(
    ("header", "data"),
    [
        ("patient,101,57,88,12", False),
        ("p104,101,57,88,12", True),
        (",850,852,854,856", False),
        (",850,852,853,856", True),
        (",1993,1992,1991,1990", False),
        (",900.25,900.5,900.75,901", False),
    ],
)
def test_numbers_in_a_header_beside_ids(header, data, here):
    """Numbers in any order looked like data beside ids, and numbers with equal steps without any."""
    ids = "p{}" if header[0] == "p" else "{}"
    rows = [f"{ids.format(i)},{i * 7 % 60},{i * 37 % 90},{i % 5},{i % 2}" for i in range(26)]
    (here / "a.csv").write_text("\n".join([header, *rows]))
    assert ("looks like data" in "".join(read_file("a.csv", target="-1").notes)) == data


def test_names_of_rows_without_a_name_of_their_own(here, slfs):
    """R writes them: numbers of taxa in the header looked like data, and no --id found the column."""
    rows = "".join(f"s{i},{i * 37 % 90},{i * 7 % 60},{i % 5}\n" for i in range(26))
    (here / "a.csv").write_text(f'"","4695","2983","2554"\n{rows}')
    (here / "b.csv").write_text('"",y\n' + "".join(f"s{i},{'ab'[i % 2]}\n" for i in range(26)))
    (here / "c.csv").write_text("sample,y\n" + "".join(f"s{i},{'ab'[i % 2]}\n" for i in range(26)))
    for labels in ("b.csv", "c.csv"):
        for option in ([], ["--id", ""]):
            error = slfs("select", "a.csv", "-t", "y", "--targets-from", labels, "-k", "1", *option)[2]
            assert "26 of 26 samples" in error
            assert "looks like data" not in error


@pytest.mark.parametrize("ending", ["json", "jsonl", "parquet", "csv"])
def test_ids_have_types_where_the_format_has_some(ending, here, slfs):
    """Numbers with a fractional part, and numbers beside missing ones, were text; dates had a time."""
    rows = "".join(
        f"2024-01-{i % 28 + 1:02},0{i}139,{i + 0.5},{'' if i == 3 else i},{i}.10,{i % 7},{'ab'[i % 2]}\n"
        for i in range(60)
    )
    (here / "a.csv").write_text(f"when,zip,amount,age,price,x,y\n{rows}")
    options = ["-t", "y", "--id", "when,zip,amount,age,price", "--include", "x", "-k", "1"]
    assert slfs("select", "a.csv", *options, "--out", f"b.{ending}")[0] == 0
    if ending == "parquet":
        found = pd.read_parquet("b.parquet")
        assert [kind.kind for kind in found.dtypes] == [*"MOfiOiO"] or str(found.dtypes["zip"]) == "str"
        assert (found["amount"][2], found["age"].tolist()[2:4]) == (2.5, [2, pd.NA])
        return
    text = (here / f"b.{ending}").read_text()
    if ending == "csv":
        assert "\n2024-01-04,03139,3.5,,3.10,3,b\n" in text
    else:
        row = (
            '{"when": "2024-01-04", "zip": "03139", "amount": 3.5, "age": null, "price": "3.10", "x": 3'
        )
        assert f'\n{row}, "y": "b"}}' in text


def test_the_format_of_a_second_file_with_an_unknown_suffix(here, slfs):
    (here / "a.cct").write_text("id\tx\n" + "".join(f"s{i}\t{i * 37 % 90}\n" for i in range(26)))
    (here / "b.tsi").write_text("id\ty\n" + "".join(f"s{i}\t{'ab'[i % 2]}\n" for i in range(26)))
    given = ("select", "a.cct", "--format", "tsv", "--id", "id", "-t", "y", "-k", "1", "--targets-from")
    assert "26 of 26 samples" in slfs(*given, "b.tsi")[2]
    (here / "b.csv").write_text("id,y\n" + "".join(f"s{i},{'ab'[i % 2]}\n" for i in range(26)))
    assert "26 of 26 samples" in slfs(*given, "b.csv")[2]


@pytest.mark.usefixtures("here")
def test_ids_that_are_floats_in_one_file(slfs):
    """As in pandas if one of them was missing."""
    frame = pd.DataFrame({"id": np.arange(40) + 1000.0, "x": np.arange(40) * 37 % 90})
    frame.to_parquet("a.parquet")
    frame.to_csv("a.csv", index=False)
    labels = pd.DataFrame({"id": np.arange(40) + 1000, "y": list("ab") * 20})
    labels.to_csv("b.csv", index=False)
    given = ("-t", "y", "--targets-from", "b.csv", "--id", "id", "-k", "1")
    assert "40 of 40 samples" in slfs("select", "a.parquet", *given)[2]
    code, _, error = slfs("select", "a.csv", *given)
    assert (code, "would match without zeros after the point" in error) == (1, True)


@pytest.mark.usefixtures("here")
def test_ids_of_tables_that_have_none(slfs):
    """A sparse matrix raised a KeyError or an IndexError."""
    X = scipy.sparse.csr_array(np.random.default_rng(0).poisson(1, (20, 5)).astype(float))
    scipy.sparse.save_npz("a.npz", X)
    dump_svmlight_file(X, np.arange(20) % 2, "a.svm")
    np.savez("b.npz", X=X.toarray(), y=np.arange(20) % 2)
    pd.DataFrame({"x0": range(20), "y": list("ab") * 10}).to_csv("y.csv", index=False)
    for name, *options in (("a.svm",), ("b.npz",), ("a.npz", "--target", "4")):
        code, _, error = slfs("select", name, "--id", "x0", *options, "--out", "out.csv")
        assert (code, f"{name} has no columns of ids. Remove --id." in error) == (1, True)
    code, _, error = slfs("select", "a.npz", "--id", "x0", "--targets-from", "y.csv", "-t", "y")
    assert (code, "Write the labels to the file itself" in error) == (1, True)
    np.savez("c.npz", X=X.toarray(), y=np.array(list("ab") * 10, object))
    code, _, error = slfs("select", "c.npz")
    assert (code, "'y.npy' is an array of objects" in error, "y.astype(str)" in error) == (1, True, True)


def test_the_text_of_missing_labels_in_another_file(here, slfs):
    (here / "a.csv").write_text("id,x\n" + "".join(f"s{i},{i * 37 % 90}\n" for i in range(26)))
    labels = "".join(f"s{i},{'None' if i < 3 else 'ab'[i % 2]}\n" for i in range(26))
    (here / "b.csv").write_text(f"id,y\n{labels}")
    error = slfs("select", "a.csv", "-t", "y", "--targets-from", "b.csv", "--id", "id")[2]
    assert "the label of 3 of them is missing there: 'None' is read as missing" in error


def test_numbers_of_genes_in_a_header_do_not_look_like_data(here, slfs):
    rows = "".join(f"s{i},{i * 37 % 90 / 7},{i * 7 % 60},{i % 5 / 2},{'ab'[i % 2]}\n" for i in range(26))
    (here / "a.csv").write_text(f"sample,1956,7157,672,class\n{rows}")
    assert "looks like data" not in slfs("select", "a.csv", "-t", "class")[2]


@pytest.mark.parametrize("weight", ["<5", "high1"])
def test_weights_that_are_text_are_named(weight, here, slfs):
    (here / "a.csv").write_text("x,y,w\n" + "1,a,2\n2,b,3\n" * 20 + f"1,a,{weight}\n")
    code, _, error = slfs("select", "a.csv", "-t", "y", "--weights", "w")
    assert code == 1
    assert f"--weights must contain numbers. Got the text {weight!r} instead. Replace such text" in error


@pytest.mark.parametrize(
    ("weights", "noted"), [([0, 1], False), ([1, 1], False), ([0, 9], True), ([3, 9], True)]
)
def test_whole_weights_of_few_rows_are_noted(weights, noted, here, slfs):
    rows = "".join(f"{i % 7},{'ab'[i % 2]},{weights[i // 3 % 2]}\n" for i in range(60))
    (here / "a.csv").write_text(f"x,y,w\n{rows}")
    error = slfs("select", "a.csv", "-t", "y", "--weights", "w")[2]
    assert ("whole numbers" in error) == noted


def test_missing_ids_are_not_repeated(here, slfs):
    rows = "".join(f"{'NA' if i % 2 else i},{i % 7},{'ab'[i % 2]}\n" for i in range(60))
    (here / "a.csv").write_text(f"id,x,y\n{rows}")
    assert "as a row before" not in slfs("select", "a.csv", "-t", "y", "--id", "id")[2]


def test_dates_of_arff_files_in_another_format(here):
    text = "@attribute a date 'yyyy-MM-dd HH:mm:ss.SSS'\n@attribute y real\n@data\n{},1\n"
    (here / "a.arff").write_text(text.format("'2020-02-01 10:00:00.250'"))
    assert read_file("a.arff", target="y").X["a"][0] == pd.Timestamp("2020-02-01 10:00:00.250")
    (here / "a.arff").write_text(text.format("'1.2.2020'"))
    with pytest.raises(
        ValueError, match=r"'1.2.2020' for the attribute 'a', which is not a date like 'yyyy-MM-dd HH:mm"
    ):
        read_file("a.arff", target="y")


def test_a_missing_model_file(here, slfs):
    (here / "a.csv").write_text("x,y\n1,2\n")
    for arguments in (("predict", "no.slfs", "a.csv"), ("explain", "x", "--model", "no.slfs")):
        code, _, error = slfs(*arguments)
        assert code == 1
        assert "no.slfs" in error
        assert error.startswith("slfs: ")
        assert "Errno" not in error


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("values", [[0, 1], ["01", "02"], [1.5, 2.5]])
def test_classes_are_the_same_in_every_format(values, people):
    frame = people.assign(**{"class": [values[label == "yes"] for label in people["class"]]})
    answers = {}
    for name in write_everywhere(frame):
        found = read_file(name, target="class")
        answers[name] = found.y.tolist() if hasattr(found.y, "tolist") else list(found.y)
    assert set(answers["a.csv"]) == set(values)
    for name, answer in answers.items():
        assert answer == answers["a.csv"], name


def test_the_first_column_may_be_needed_or_not_in_a_file_with_row_names(here, slfs):
    rows = "".join(f"r{i},0{i % 2},{i % 2}\n" for i in range(40))
    (here / "a.csv").write_text("code,y\n" + rows)  # as R writes it: one name less
    found, _ = facts(slfs, "a.csv", "-t", "y", "--out", "b.csv")
    assert found["selected"] == ["code"]
    assert (here / "b.csv").read_text().startswith("code,y\n00,0\n01,1\n")


def test_boolean_labels_of_text_files_stay_as_they_are_written(people, here, slfs):
    truth = people["class"] == "yes"
    for yes, no in (("TRUE", "FALSE"), ("true", "false")):
        people.assign(**{"class": np.where(truth, yes, no)}).to_csv("a.csv", index=False)
        assert read_file("a.csv", target="class").y.tolist() == np.where(truth, yes, no).tolist()
        assert slfs("select", "a.csv", "-t", "class", "--out", "a.parquet")[0] == 0
        assert pd.read_parquet("a.parquet")["class"].tolist() == truth.tolist()
    spellings = np.where(truth, np.where(np.arange(len(truth)) % 2, "True", "TRUE"), "FALSE")
    people.assign(**{"class": spellings}).to_csv("a.csv", index=False)
    assert read_file("a.csv", target="class").y.tolist() == truth.tolist(), here


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_options_for_columns_are_lists_or_names_with_commas(suffix, people, here, slfs):
    people.insert(0, "key", np.arange(N))
    people.insert(1, "visit, no", np.arange(N) % 3)
    write_table(people, here / f"a.{suffix}")
    common = [f"a.{suffix}", "-t", "class"]
    options = ["--drop", "number, count", "--drop", "noise", "--id", "visit, no", "--id", "key,5"]
    found, _ = facts(slfs, *common, *options)
    assert found["ids"] == ["visit, no", "key", "member"]
    assert found["columns"]["name"] == ["town", "joined"]
    found, _ = facts(slfs, *common, "--id", "key", "--condition-on", "visit, no", "--include", "town,-2")
    assert found["roles"][found["columns"]["role"][0]] == "conditioned on"
    assert {"town", "noise"} <= set(found["selected"])
    code, out, _ = slfs(
        "interactions", *common, "--with", "count, member", "--columns", "1,town", "--json"
    )
    assert code == 0
    pairs = {(one["first"], one["second"]) for one in json.loads(out)["pairs"]}
    assert {name for pair in pairs for name in pair} == {"count", "member", "visit, no", "town"}
    code, out, _ = slfs("discretize", *common, "--categorical", "count,visit, no", "--json")
    assert code == 1  # a name with a comma is not found in a list
    code, out, _ = slfs(
        "discretize", *common, "-c", "visit, no", "-c", "count, key", "--drop", "joined", "--json"
    )
    cuts = json.loads(out)["cut_points"]
    assert cuts["number"]
    assert not cuts["count"]
    code, _, error = slfs("select", *common, "--drop", "number,nose")
    assert code == 1
    assert "no column 'nose'. Did you mean 'noise'" in error


@pytest.mark.usefixtures("here")
def test_lists_of_ids_and_columns_to_drop_with_labels_in_another_file(people, slfs):
    people.insert(0, "key", [f"p{row}" for row in range(N)])
    people[["key", "class"]].to_csv("labels.csv", index=False)
    people.drop(columns=["class", "joined"]).to_csv("a.csv", index=False)
    options = ["--targets-from", "labels.csv", "-t", "class"]
    found, error = facts(slfs, "a.csv", *options, "--id", "key,town", "--drop", "noise,member")
    assert found["ids"] == ["key", "town"]
    assert found["columns"]["name"] == ["number", "count"]
    assert "120 of 120 samples" in error
    people[["key", "number", "count", "noise"]].set_index("key").T.to_csv("turned.csv")
    found, _ = facts(slfs, "turned.csv", "--transpose", *options, "--drop", "p0,noise,p1")
    assert found["n_samples"] == N - 2
    assert found["columns"]["name"] == ["number", "count"]
    code, _, error = slfs("select", "turned.csv", "--transpose", *options, "--drop", "p0,nois")
    assert (code, "no column 'nois'. Did you mean 'noise'?" in error) == (1, True)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_the_target_is_not_an_id_or_dropped(suffix, people, here, slfs):
    write_table(people, here / f"a.{suffix}")
    for option, problem in (("--id", "is both the id and the target."), ("--drop", "cannot be dropped")):
        code, _, error = slfs("select", f"a.{suffix}", "-t", "class", option, "class")
        assert (code, f"The column 'class' of a.{suffix} is" in error) == (1, True)
        assert problem in error


@pytest.mark.parametrize("options", [("--no-header",), ("--sheet", "A")])
def test_options_that_do_not_apply(options, people, here, slfs):
    people.to_parquet("a.parquet")
    code, _, error = slfs("select", "a.parquet", "-t", "class", *options)
    assert code == 1
    assert f"{options[0]} is for" in error
    assert "the file is read as parquet." in error, here


@pytest.mark.filterwarnings("ignore:1 column contains values that were not seen in fit")
def test_one_cell_that_is_no_date_does_not_change_other_rows(here, slfs):
    rows = [f"2020-01-{day:02},{'p' if day < 15 else 'q'}" for day in range(1, 29)]
    (here / "a.csv").write_text("when,y\n" + "\n".join(rows))
    assert slfs("fit", "a.csv", "-t", "y", "-o", "m.slfs")[0] == 0
    predictions = []
    for odd in ("", "soon\n"):
        (here / "new.csv").write_text("when\n2020-01-03\n2020-01-20\n2020-01-21 10:00\n" + odd)
        code, out, error = slfs("predict", "m.slfs", "new.csv", "-p")
        assert code == 0, error
        predictions.append(out.splitlines()[:4])
    assert predictions[0] == predictions[1]
    assert [line[0] for line in predictions[0][1:]] == ["p", "q", "q"]


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("ending", ["parquet", "arrow", "xlsx", "jsonl", "json"])
def test_codes_with_leading_zeros_are_text_in_every_format(ending, slfs):
    frame = pd.DataFrame({"zip": ["02139", "10001"] * 30, "y": [0, 1] * 30})
    write_table(frame, Path(f"a.{ending}"))
    assert read_file(f"a.{ending}", target="y").notes == []
    write_table(frame.assign(zip=["2139", "10001"] * 30), Path(f"a.{ending}"))
    assert "In a CSV file" in read_file(f"a.{ending}", target="y").notes[0]
    assert slfs("select", f"a.{ending}", "-t", "y")[0] == 0


MIXED = """100000,2023-09-05,05/03/2022,"$3,482.83",FALSE,job 367,yes
100001,2021-02-18,03/16/2022,$944.08,TRUE,job 154,no
100002,2021-12-17,08/08/2022,"$1,405.46",FALSE,job 380,yes
100003,2021-12-18,09/08/2022,"$1,915.46",TRUE,job 381,no
"""


def test_a_first_row_of_dates_and_amounts_looks_like_data(here, slfs):
    (here / "a.csv").write_text(MIXED)
    (note, *_) = read_file("a.csv", target="-1").notes
    assert "looks like data" in note
    assert "add --no-header" in note
    code, _, error = slfs("select", "a.csv", "-t", "class")
    assert code == 1
    assert "a.csv has no column 'class'." in error
    assert "add --no-header" in error
    (here / "a.csv").write_text("id,day 1,day 2,price,member,job,y\n" + MIXED)
    assert not any("looks like" in note for note in read_file("a.csv", target="y").notes)


def test_errors_about_columns_name_other_sheets_and_transpose(here, slfs):
    with pd.ExcelWriter("a.xlsx") as writer:
        pd.DataFrame({"note": ["read me"]}).to_excel(writer, sheet_name="About", index=False)
        pd.DataFrame({"x": [1, 2], "y": [1, 2]}).to_excel(writer, sheet_name="Data", index=False)
    code, _, error = slfs("select", "a.xlsx", "-t", "y")
    assert code == 1
    assert "a.xlsx has no column 'y'. It has 'note'." in error
    assert "Use --sheet to read another: 'Data'." in error
    (here / "a.csv").write_text("name,s1,s2,s3\nx,1,2,8\ngroup,A,A,B\n")
    code, _, error = slfs("select", "a.csv", "-t", "group")
    assert (code, "add --transpose." in error) == (1, True)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32", "utf-32-be"])
def test_unicode_text_of_excel(encoding, here, slfs):
    content = "größe\ty\n" + "1,5\tü\n2,5\tn\n" * 30
    mark = "\ufeff" if encoding.endswith("-be") else ""
    (here / "a.txt").write_bytes((mark + content).encode(encoding))
    found, error = facts(slfs, "a.txt", "-t", "y", "--out", "b.csv")
    assert (found["selected"], found["classes"], error) == (["größe"], ["n", "ü"], "")
    assert (here / "b.csv").read_text(encoding="utf-8") == content
    (here / "a.txt").write_bytes(b"\xff\xfe\x00")
    code, _, error = slfs("select", "a.txt", "-t", "y")
    assert (code, "it begins like UTF-16, but is not" in error) == (1, True)
    records = [{"größe": value, "y": label} for value, label in ((1.5, "ü"), (2.5, "n"))] * 30
    (here / "a.json").write_bytes((mark + json.dumps(records, ensure_ascii=False)).encode(encoding))
    assert facts(slfs, "a.json", "-t", "y")[0]["selected"] == ["größe"]


@pytest.mark.parametrize(("byte", "name"), [(b"\xe9", "WINDOWS-1252"), (b"\x81", "ISO-8859-1")])
@pytest.mark.parametrize(
    ("suffix", "content"),
    [("csv", b"a,y\n1,p%b\n2,q\n"), ("json", b'[{"a":1,"y":"p%b"}]'), ("jsonl", b'{"a":1,"y":"p%b"}\n')],
)
def test_the_advised_encoding_has_all_bytes_of_the_file(byte, name, suffix, content, here, slfs):
    """iconv stopped at a byte that Windows-1252 does not have."""
    (here / f"a.{suffix}").write_bytes(content % byte)
    error = slfs("select", f"a.{suffix}", "-t", "y")[2]
    assert f"iconv -f {name} -t utf-8" in error
    assert (content % byte).decode(name)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_lines_of_any_length(separator, slfs):
    """Python's csv module refuses fields, and so lines with another separator, of 131072 characters."""
    random = np.random.default_rng(0)
    n = 9000
    frame = pd.DataFrame(random.normal(size=(20, n)), columns=[f"gene_{j:010d}" for j in range(n)])
    frame["gene_0000000007"] += 9 * (np.arange(20) % 2)
    labels = np.where(np.arange(20) % 2, "p", "q")
    frame.assign(y=labels).to_csv("wide.csv", index=False, sep=separator)
    found = facts(slfs, "wide.csv", "-t", "y", "-k", "1")[0]
    assert found["selected"] == ["gene_0000000007"]
    frame.T.set_axis([f"s{i}" for i in range(20)], axis=1).to_csv("genes.csv", sep=separator)
    pd.DataFrame({"id": [f"s{i}" for i in range(20)], "y": labels}).to_csv("labels.csv", index=False)
    options = ("--transpose", "--targets-from", "labels.csv", "-t", "y", "-k", "1")
    assert facts(slfs, "genes.csv", *options)[0]["selected"] == found["selected"]


def test_the_fingerprint_is_that_of_samples_and_labels(here):
    """Two reports of other labels had the same."""
    (here / "a.csv").write_text("id,x\n1,1\n2,2\n3,3\n")
    fingerprints = set()
    for labels in ("pqp", "ppq"):
        rows = "".join(f"{row},{label}\n" for row, label in enumerate(labels, 1))
        (here / "b.csv").write_text(f"id,y\n{rows}")
        file = read_file("a.csv", targets_from="b.csv", target="y", ids=["id"])
        fingerprints.add(file.fingerprint)
    assert len(fingerprints) == 2


def test_the_index_of_a_dataframe_in_a_parquet_file(here, slfs):
    y = np.arange(60) % 2
    frame = pd.DataFrame({"x": y, "z": y[::-1], "c": np.where(y, "p", "q"), "key": np.arange(60) ** 2})
    frame.set_index("c").to_parquet("c.parquet")
    found, error = facts(slfs, "c.parquet", "-t", "z", "--id", "key")
    assert "'c': the index of the dataframe in the file is left out. It can be used with --id" in error
    assert read_file("c.parquet", target="-1").target == "key"
    found, error = facts(slfs, "c.parquet", "-t", "c", "--id", "key", "--out", "out.csv")
    assert (found["target"], found["classes"], error) == ("c", ["p", "q"], "")
    assert (here / "out.csv").read_text().startswith("key,x,c\n0,0,q\n")
    frame.set_index("key").to_parquet("key.parquet")
    found, error = facts(slfs, "key.parquet", "-t", "c", "--id", "key", "--out", "out.csv")
    assert (found["ids"], error) == (["key"], "")
    assert (here / "out.csv").read_text().startswith("key,x,c\n0,0,q\n")
    (here / "key.parquet.gz").write_bytes(gzip.compress((here / "key.parquet").read_bytes()))
    with pa.OSFile("key.arrow", "wb") as sink:
        table = pa.Table.from_pandas(frame.set_index("key"))
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
    for name in ("key.parquet.gz", "key.arrow"):
        assert read_file(name, target="c").notes[0].startswith("'key': the index of the dataframe")
        found, error = facts(slfs, name, "-t", "c", "--id", "key", "--out", "out.csv")
        assert (found["ids"], error) == (["key"], "")
        assert (here / "out.csv").read_text().startswith("key,x,c\n0,0,q\n")
        assert set(read_file(name, target="key").y) == set(frame["key"])
        assert read_file(name, target="-1").target == "c"
    frame.iloc[::-1].to_parquet("unnamed.parquet")
    assert read_file("unnamed.parquet", target="c").notes == []


@pytest.mark.parametrize(
    ("member", "remark"),
    [
        (
            "table.csv",
            "is a ZIP archive. Unzip it first, and pass the file that it contains, such as 'tab",
        ),
        ("[Content_Types].xml", "is an Excel file. Name it .xlsx, or add --format excel."),
        ("a.npy", "is an npz file. Name it .npz, or add --format npz."),
        (
            "model.json",
            "is a saved model, not a table. Use it with: slfs predict a.csv.zip DATA, or slfs explain",
        ),
    ],
)
def test_a_zip_archive_is_not_text_in_another_encoding(member, remark, here, slfs):
    with zipfile.ZipFile("a.csv.zip", "w") as archive:
        archive.writestr(member, "x,y\n1,a\n2,b\n" * 9)
    for options in ((), ("--format", "csv"), ("--format", "jsonl")):
        code, out, error = slfs("select", "a.csv.zip", "-t", "y", *options)
        assert (code, out) == (1, "")
        assert f"a.csv.zip {remark}" in error
        assert "iconv" not in error
    (here / "b.csv").write_bytes(b"PK\x03\x04 damaged")
    assert "b.csv is a ZIP archive. Unzip it first" in slfs("select", "b.csv", "-t", "y")[2]
    assert slfs("select", "b.unknown", "-t", "y")[2].count("cannot be inferred from its suffix") == 1


@pytest.mark.parametrize(
    ("form", "remark"),
    [
        ("parquet", "is a Parquet file. Add --format parquet."),
        ("feather", "is an Arrow file. Add --format arrow."),
        ("excel", "is an Excel file. Add --format excel."),
    ],
)
def test_a_binary_file_is_not_damaged_text(form, remark, here, slfs, monkeypatch):
    """The advice to remove carriage returns and to convert the encoding destroyed the file."""
    table = pd.DataFrame({"x": np.arange(300.0), "y": np.arange(300) % 2})
    getattr(table, f"to_{form}")(here / f"t.{'xlsx' if form == 'excel' else form}")
    content = next(here.glob("t.*")).read_bytes()
    (here / "t.csv").write_bytes(content)
    code, _, error = slfs("select", "t.csv", "-t", "y")
    assert code == 1
    assert re.search("t.csv is an? .* file. Name it .* or add --format", error)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    code, _, error = slfs("select", "-", "-t", "y")
    assert (code, remark in error) == (1, True)


def test_other_sheets_of_a_workbook_with_a_cover_of_one_line(here, slfs):
    with pd.ExcelWriter(here / "cover.xlsx") as book:
        pd.DataFrame(columns=["Report"]).to_excel(book, sheet_name="Cover", index=False)
        pd.DataFrame({"x": [1, 2], "y": [0, 1]}).to_excel(book, sheet_name="Data", index=False)
    error = slfs("select", "cover.xlsx", "-t", "y")[2]
    assert "the sheet 'Cover' has no rows. Its other sheets are 'Data': use --sheet." in error


@pytest.mark.parametrize("name", ["a.xls", "a.xlsx", "a.csv"])
@pytest.mark.parametrize("options", [(), ("--format", "excel")])
def test_an_old_excel_file(name, options, here, slfs):
    (here / name).write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504))
    code, _, error = slfs("select", name, "-t", "y", *options)
    assert code == 1
    assert "is an Excel file of the old format .xls, or one with a password, which are not" in error
    assert "Save it as .xlsx without a password, or as CSV." in error


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("a.vcf", "plink2 --vcf a.vcf --make-bed --out a, and pass a.bed."),
        ("a.vcf.gz", "plink2 --vcf a.vcf.gz --make-bed --out a, and pass a.bed."),
        ("a.biom", "biom convert --to-tsv -i a.biom -o a.tsv, remove its first line with: tail -n +2 "),
    ],
)
def test_files_that_other_programs_convert(name, remedy, here, slfs):
    (here / name).write_bytes(b"any")
    code, _, error = slfs("select", name, "-t", "y")
    assert (code, remedy in error) == (1, True)


def test_a_table_that_biom_has_converted(here, slfs):
    """Its first line is a comment, which the error about the format says how to remove."""
    rows = [
        f"O{row}\t" + "\t".join(str((row + 3) * (i % 2) + i % 3) for i in range(40)) for row in range(3)
    ]
    header = "#OTU ID\t" + "\t".join(f"s{i}" for i in range(40))
    (here / "table.tsv").write_text("\n".join([header, *rows]))
    (here / "l.csv").write_text("sample,y\n" + "".join(f"s{i},{'pq'[i % 2]}\n" for i in range(40)))
    command = ["table.tsv", "--transpose", "--targets-from", "l.csv", "-t", "y", "-m", "mrmr", "-k", "1"]
    found, _ = facts(slfs, *command)
    assert found["n_samples"] == 40
    assert found["selected"][0].startswith("O")


def test_fields_separated_by_blanks(tmp_path, monkeypatch, slfs):
    monkeypatch.chdir(tmp_path)
    Path("blanks.csv").write_text("a  b  c\n3  4  1\n5  6  0\n")
    code, _, error = slfs("select", "blanks.csv", "-t", "c")
    assert code == 1
    assert "has no column 'c'. It has 'a  b  c'. The file has a single column, but 3 words" in error
    Path("texts.csv").write_text("text\na b\nc\n")
    assert "single column" not in slfs("select", "texts.csv", "-t", "c")[2]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("k__A;p__B;g__C,k__A;p__D;g__E,status\n1,2,x\n3,4,y\n", 3),
        ("sp|P1|A_HUMAN,sp|P2|B_HUMAN,status\n1,2,x\n3,4,y\n", 3),
        ("a,b;c,d;e,f;g,h\n1,5;2,5;3,5;4,5\n1,5;2;3;4,5\n", 4),
        ("a;b,c;d,e;status\n1;2,5;3;x\n2;2;3,5;y\n", 4),
        ("a|b|c,d\nr1|1|2|3\nr2|3|4|5\n", 3),
        ('"a;b;c","d,e",f\n1,2,3\n', 3),
        ("a;b;c\n", 3),
    ],
)
def test_names_of_columns_may_contain_other_separators(content, expected, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(content)
    assert len(read_file(str(path), allow_empty=True).all_names) == expected


def test_a_phenotype_file_with_samples_in_columns(here, slfs):
    (here / "e.csv").write_text(",s1,s2,s3,s4\ng1,1,2,3,4\ng2,4,1,3,2\n")
    (here / "p.csv").write_text(",s1,s2,s3,s4\nphase,a,b,a,b\nage,1,2,3,4\n")
    code, _, error = slfs("select", "e.csv", "--transpose", "--targets-from", "p.csv", "-t", "phase")
    assert code == 1
    assert "add --transpose" not in error
    assert "exchange its rows and columns first: the file of --targets-from needs one row" in error


def test_row_names_of_r_as_ids(here, slfs):
    samples = [f"s{i}" for i in range(40)]
    genes = [",".join([f"g{k}", *(str(i * (k + 1) % 7) for i in range(40))]) for k in range(3)]
    (here / "e.csv").write_text("\n".join([",".join(["", *samples]), *genes]) + "\n")
    rows = [f"{one},{'ab'[i % 7 > 3]},{i}" for i, one in enumerate(samples)]
    (here / "p.csv").write_text("\n".join(["phase,age", *rows]) + "\n")
    arguments = ("e.csv", "--transpose", "--targets-from", "p.csv", "-t", "phase")
    code, _, error = slfs("select", *arguments)
    assert code == 1
    assert "To use it with --id or --targets-from, give it a name in the header." in error
    (here / "p.csv").write_text("\n".join(["sample,phase,age", *rows]) + "\n")
    assert facts(slfs, *arguments)[0]["n_samples"] == 40


@pytest.mark.parametrize(
    ("form", "what"),
    [("0{}", "leading zeros"), ("{} ", "spaces around them"), ("S{}", "capital letters")],
)
def test_ids_that_are_not_written_alike(form, what, here, slfs):
    (here / "x.csv").write_text("id,x\n" + "".join(f"s{i},{i % 2}\n" for i in range(20)))
    ids = [f"s{i}" if i < 10 else form.format(f"s{i}").replace("Ss", "S") for i in range(20)]
    rows = [f'"{one}",{"ab"[i % 2]}\n' for i, one in enumerate(ids)]
    (here / "y.csv").write_text("id,y\n" + "".join(rows))
    _, error = facts(slfs, "x.csv", "--targets-from", "y.csv", "-t", "y", "--id", "id")
    assert "10 of 20 samples" in error
    assert f"10 more ids ('s10', 's11', 's12', ...) would match without {what}" in error
    (here / "z.csv").write_text("id,y\n" + "".join(rows[10:]))
    error = slfs("select", "x.csv", "--targets-from", "z.csv", "-t", "y", "--id", "id")[2]
    assert "No sample of x.csv" in error
    assert f" 10 ids ('s10', 's11', 's12', ...) would match without {what}" in error


@pytest.mark.usefixtures("here")
def test_the_order_of_categories_in_a_parquet_file(slfs):
    random = np.random.default_rng(0)
    level = random.integers(0, 12, 400)
    names = [f"grade {letter}" for letter in "LKJIHGFEDCBA"]
    frame = pd.DataFrame({"grade": pd.Categorical.from_codes(level, names, ordered=True)})
    frame["y"] = np.where(random.random(400) < 0.35 + 0.3 * (level >= 6), "yes", "no")
    frame.to_parquet("a.parquet", row_group_size=90)
    expected = SLFS().fit(frame[["grade"]], frame["y"])
    found, _ = facts(slfs, "a.parquet", "-t", "y")
    assert found["selected"] == ["grade"]
    table = pq.read_table("a.parquet")
    own = SLFS().fit(table.select(["grade"]), frame["y"])
    np.testing.assert_array_equal(own.pvalues_, expected.pvalues_)


@pytest.mark.filterwarnings("default::UserWarning")
@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("first", [0, 1])
def test_a_feature_called_0_is_not_the_ids_of_the_samples(first, slfs):
    random = np.random.default_rng(1)
    y = np.repeat(["a", "b"], 20)
    X = random.normal(size=(40, 6)).round(3)
    X[:, 3] += 2.5 * (y == "b")
    X[:, 0] = random.permutation(40) + 1  # could be ids
    frame = pd.DataFrame(X.T, index=range(first, 6 + first), columns=range(1, 41))
    frame.to_csv("e.csv")
    pd.DataFrame({"sample": range(1, 41), "y": y}).to_csv("y.csv", index=False)
    found, _ = facts(slfs, "e.csv", "--transpose", "--targets-from", "y.csv", "-t", "y")
    assert found["selected"] == [str(3 + first)]
    pd.DataFrame(X, columns=map(str, range(6))).assign(y=X[:, 0] > 20).to_csv("r.csv", index=False)
    assert slfs("fit", "r.csv", "-t", "y", "--model", "m.slfs")[0] == 0
    code, out, error = slfs("predict", "m.slfs", "e.csv", "--transpose")
    assert (code, len(out.splitlines())) == ((0, 41) if first == 0 else (1, 0)), error


@pytest.mark.parametrize("name", ["gene", None])
@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_the_index_of_a_transposed_file_has_the_names(name, kind, here, slfs):
    random = np.random.default_rng(0)
    y = np.repeat(["a", "b"], 20)
    X = random.normal(size=(40, 6))
    X[:, 3] += 2.5 * (y == "b")
    frame = pd.DataFrame(X.T, columns=[f"s{i}" for i in range(40)])
    frame = frame.set_axis([f"gene{i}" for i in range(6)]).rename_axis(name)
    getattr(frame, f"to_{kind}")(here / f"e.{kind}")
    pd.DataFrame({"id": frame.columns, "y": y}).to_csv("y.csv", index=False)
    found, _ = facts(slfs, f"e.{kind}", "--transpose", "--targets-from", "y.csv", "-t", "y")
    assert (found["selected"], found["n_samples"]) == (["gene3"], 40)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_copies_of_a_name_beside_a_column_that_has_their_name(suffix, slfs):
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 100)
    cells = np.column_stack([*random.normal(size=(2, 100)), y + 0.2 * random.normal(size=100), y])
    frame = pd.DataFrame(cells, columns=["q", "q", "q.1", "y"]).astype({"y": int})
    write = frame.to_csv if suffix == "csv" else frame.to_excel
    write(f"a.{suffix}", index=False)
    found, error = facts(slfs, f"a.{suffix}", "-t", "y")
    assert found["selected"] == ["q.1"]
    assert "The column name 'q' occurs more than once. The copies are called 'q.2'." in error
    assert read_file(f"a.{suffix}", target="y").names == ["q", "q.2", "q.1"]


@pytest.mark.filterwarnings("default::UserWarning")
def test_commas_are_not_decimal_where_other_numbers_have_points(here, slfs):
    random = np.random.default_rng(0)
    code = random.integers(1, 900, 120).astype(object)
    code[[5, 9]] = "76,77", "1809,1829,1849"
    area = random.normal(50, 9, 120).round(2)
    rows = (f"{c};{a};{'ab'[int(a > 50)]}" for c, a in zip(code, area, strict=True))
    (here / "c.csv").write_text("code;area;y\n" + "\n".join(rows) + "\n")
    _, error = facts(slfs, "c.csv", "-t", "y")
    assert "decimal=','" not in error
    marks = ["--missing", "1809,1829,1849", "--missing", "76,77"]
    assert "--missing '76,77'" in error
    _, error = facts(slfs, "c.csv", "-t", "y", *marks)
    assert "text look like numbers" not in error


@pytest.mark.parametrize("suffix", ["tsv", "txt"])
@pytest.mark.parametrize("comment", ["# Constructed from biom file", '# Program:x v2; Command:"x" "a"'])
def test_a_comment_above_the_header(comment, suffix, here, slfs):
    rows = [comment, "#OTU ID\ts1\ts2", "otu1\t1\t2", "otu2\t0\t5"]
    (here / f"q.{suffix}").write_text("\n".join(rows) + "\n")
    (here / "y.tsv").write_text("sample\tg\ns1\ta\ns2\tb\n")
    for more in ([], ["--transpose", "--targets-from", "y.tsv"]):
        code, _, error = slfs("select", f"q.{suffix}", "-t", "g", *more)
        assert code == 1
        assert "looks like a comment above the header. Remove it, for example with: tail -n +2" in error


@pytest.mark.parametrize(
    "lines",
    [
        ["#id\ttext\ty", "1\tx, y, z, w, v\t0", "2\tq\t1"],
        ["#id,text,y", '1,"x, y, z",0', "2,q,1"],
        ["#id;text;y", '1;"x, y, z, w";0', "2;q;1"],
    ],
)
def test_a_header_that_starts_like_a_comment(lines, here):
    name = "a.tsv" if "\t" in lines[0] else "a.csv"
    (here / name).write_text("\n".join(lines) + "\n")
    assert read_file(name, target="y").X.columns.tolist() == ["#id", "text"]


def test_ids_without_a_name_in_the_second_file(here, slfs):
    (here / "x.csv").write_text("ID,x\n" + "".join(f"s{i},{i % 2}\n" for i in range(20)))
    (here / "y.csv").write_text(",g\n" + "".join(f"s{i},{'ab'[i % 2]}\n" for i in range(20)))
    arguments = ("x.csv", "--targets-from", "y.csv", "-t", "g", "--id", "ID")
    code, _, error = slfs("select", *arguments)
    assert code == 1
    assert "Its first column has no name. If it has the ids, call it 'ID' in the header" in error
    (here / "y.csv").write_text("ID" + (here / "y.csv").read_text())
    assert facts(slfs, *arguments)[0]["n_samples"] == 20


def _write_genes(header, first=("gene",)):
    """Write six genes of forty samples in columns; the first gene is related to the group."""
    random = np.random.default_rng(0)
    names, group = [f"s{i}" for i in range(40)], random.permutation(np.arange(40) % 2)
    values = random.normal(size=(6, 40)).round(3)
    values[0] += 3 * group
    rows = ["\t".join([f"g{j}", *map(str, values[j])]) for j in range(6)]
    Path("genes.tsv").write_text("\n".join(["\t".join([*first, *header(names)]), *rows]) + "\n")
    labels = [f"{one},{'ab'[g]}" for one, g in zip(names, group, strict=True)]
    Path("labels.csv").write_text("\n".join(["id,group", *labels, "t0,a", "t1,b"]) + "\n")
    return ("genes.tsv", "--transpose", "--targets-from", "labels.csv", "-t", "group", "-k", "1")


@pytest.mark.usefixtures("here")
def test_a_transposed_table_whose_header_lacks_names(slfs):
    """Its samples were shifted, and the names of its columns were tuples."""
    assert facts(slfs, *_write_genes(lambda names: names))[0]["selected"] == ["g0"]
    code, _, error = slfs("select", *_write_genes(lambda names: names[:-2]))
    assert code == 1
    assert "its header has 39 names ('gene', 's0', 's1', ...), but line 2 has 41 fields." in error
    note = "so that its first name, 'gene', is used as a sample, but labels.csv has no such id. If it is"
    assert note in slfs("select", *_write_genes(lambda names: names[:-1]))[2]
    found, error = facts(slfs, *_write_genes(lambda names: names, first=()))
    assert (found["selected"], "is used as a sample" in error) == (["g0"], False)


@pytest.mark.usefixtures("here")
def test_a_transposed_table_whose_header_has_names_too_many(slfs):
    _, error = facts(slfs, *_write_genes(lambda names: [*names, "t0", "t1"]))
    assert "6 rows have fewer than 43 fields: line 2 has 41." in error


@pytest.mark.parametrize("name", ["genes.gct", "copy.tsv"])
def test_the_advice_about_gct_files_works(name, here, slfs):
    _, *options = _write_genes(lambda names: names)
    header, *rows = (here / "genes.tsv").read_text().splitlines()
    lines = ["#1.2", "6\t40", header.replace("gene", "Name\tDescription")]
    lines += [row.replace("\t", "\tsome gene\t", 1) for row in rows]
    (here / name).write_text("\n".join(lines))
    code, _, error = slfs("select", name, *options)
    assert (code, "tail -n +3" in error, "--transpose --drop Description." in error) == (1, True, True)
    (here / "table.tsv").write_text("\n".join(lines[2:]))
    found, error = facts(slfs, "table.tsv", *options, "--drop", "Description")
    assert (found["selected"], "40 of 40 samples" in error) == (["g0"], True)


@pytest.mark.parametrize("labels", ["A,\nB,\nC,\nD,\n", "A,\nB,\nC,\nD,\nX,u\nY,v\n"])
def test_samples_whose_labels_are_all_missing_are_not_called_absent(labels, here, slfs):
    (here / "e.csv").write_text("gene,A,B,C,D,E\ng1,1,2,3,4,5\ng2,4,3,2,1,0\n")
    (here / "p.csv").write_text(f"id,group\n{labels}")
    code, _, error = slfs("select", "e.csv", "--transpose", "--targets-from", "p.csv", "-t", "group")
    assert (code, "Set the column of the ids" in error) == (1, False)
    assert "4 of them ('A', 'B', 'C', ...) are in the column 'id' of p.csv, but their values of" in error


@pytest.mark.usefixtures("here")
def test_a_saved_model_is_not_data(slfs):
    pd.DataFrame({"x": [0, 1] * 30, "y": ["a", "b"] * 30}).to_csv("a.csv", index=False)
    assert slfs("fit", "a.csv", "-t", "y", "-o", "m.slfs")[0] == 0
    for command in (("select", "m.slfs", "-t", "y"), ("explain", "x", "m.slfs")):
        code, _, error = slfs(*command)
        assert (code, "m.slfs is a saved model, not a table. Use it with:" in error) == (1, True)
        assert "slfs predict m.slfs DATA, or slfs explain COLUMN --model m.slfs." in error


@pytest.mark.parametrize(
    ("above", "ending", "where"),
    [
        ([["Sales report"]], "xlsx", "row 2"),
        ([["Sales report"], [], ["by region"]], "xlsx", "row 4"),
        ([["Sales report", None, None]], "csv", "a row below"),
    ],
)
@pytest.mark.parametrize("ids", [[], ["--id", "id"]])
@pytest.mark.usefixtures("here")
def test_a_title_above_the_header_is_named(above, ending, where, ids, slfs):
    rows = [*above, ["id", "spend", "churn"], *([i, i % 9, "ny"[i % 2]] for i in range(60))]
    if ending == "xlsx":
        book = openpyxl.Workbook()
        for row in rows:
            book.active.append(row)
        book.save("a.xlsx")
    else:
        pd.DataFrame(rows).to_csv("a.csv", index=False, header=False)
    code, _, error = slfs("select", f"a.{ending}", "-t", "churn", *ids)
    assert (code, "--transpose" in error) == (1, False)
    assert f"The header seems to be in {where} ('id', 'spend', 'churn'), but the first row is" in error
    assert "Remove the rows above the header." in error


@pytest.mark.usefixtures("here")
def test_a_forgotten_transpose_is_named(slfs):
    source, transpose, *options = _write_genes(lambda names: names)
    code, _, error = slfs("select", source, *options)
    assert (code, "such as 's0', are ids in labels.csv: the samples" in error) == (1, True)
    assert f"add {transpose}." in error
    Path("genes.tsv").write_text("a\tb\n1\t2\n3\t4\n")
    code, _, error = slfs("select", source, *options)
    assert (code, "needs --id COLUMN" in error, "--transpose" in error) == (1, True, False)


@pytest.mark.parametrize(
    ("suffix", "function"), [("dta", "stata"), ("sav", "spss"), ("sas7bdat", "sas")]
)
def test_files_of_statistical_programs_can_be_converted(suffix, function, here, slfs):
    (here / f"a.{suffix}").write_bytes(b"data")
    code, _, error = slfs("select", f"a.{suffix}", "-t", "y")
    assert code == 1
    assert f"pandas.read_{function}('a.{suffix}').to_parquet('a.parquet'), and pass a.parquet." in error
    assert callable(getattr(pd, f"read_{function}"))


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "b": "x"}\n{"a": 2, "b": "y"}\n',
        '[\n {"a": 1, "b": "x"},\n {"a": 2, "b": "y"}]',
        "a,b\n1,x\n2,y\n",
    ],
)
def test_json_on_the_standard_input(text, monkeypatch):
    """It was read as CSV, whose columns were missing."""
    for encoding in ("utf-8", "utf-16"):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode(encoding))))
        assert read_file("-").X.to_dict("list") == {"a": [1, 2], "b": ["x", "y"]}
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"[]")))
    assert read_file("-", allow_empty=True).X.shape == (0, 0)


@pytest.mark.parametrize("end", ["\r", "\n", "\r\n"])
def test_line_ends(end, here, slfs):
    """Carriage returns alone, of old Macintosh programs, were an error of Python's csv module."""
    rows = [f"{i % 7},{'pq'[i % 7 > 3]}" for i in range(60)]
    (here / "a.csv").write_bytes(end.join(["x,y", *rows, ""]).encode())
    assert facts(slfs, "a.csv", "-t", "y")[0]["selected"] == ["x"]


def test_names_of_several_lines(here):
    """The separator was searched in the first line only, that is, inside the name."""
    (here / "a.csv").write_bytes(b'"\t\n price;\n",b,c\n1,2,p\n3,4,q\n')
    assert read_file("a.csv", target="c").names == ["\t\n price;\n", "b"]


def test_all_sheets_are_named(here, slfs):
    with pd.ExcelWriter("a.xlsx") as writer:
        for name in "abcdefgh":
            pd.DataFrame({"x": [1, 2]}).to_excel(writer, sheet_name=name, index=False)
    assert "'f', 'g', 'h'." in slfs("select", "a.xlsx", "-t", "y")[2]
    assert here


def test_samples_that_occur_twice_are_not_renamed(here, slfs):
    """The second one was left out as S0.1, and the first one had the label of both."""
    (here / "a.csv").write_text("gene,S0,S0,S1\na,1,2,3\nb,4,5,6\n")
    (here / "b.csv").write_text("id,y\nS0,p\nS1,q\n")
    code, _, error = slfs("select", "a.csv", "--transpose", "--targets-from", "b.csv", "-t", "y")
    assert (code, "the sample 'S0' occurs more than once in its header" in error) == (1, True)


@pytest.mark.usefixtures("here")
@pytest.mark.filterwarnings("always")
def test_advice_about_stray_text_says_what_helps_in_files_with_types(slfs):
    """In Parquet files, --missing was advised, after which the text was still text."""
    dates = pd.Series(pd.date_range("2020-01-01", periods=100).strftime("%Y-%m-%d"), dtype=object)
    numbers = pd.Series(np.random.default_rng(0).normal(size=100).astype(str), dtype=object)
    dates[3] = numbers[5] = "unknown"
    pd.DataFrame({"d": dates, "n": numbers, "y": np.arange(100) % 2}).to_parquet("a.parquet")
    error = slfs("select", "a.parquet", "-t", "y")[2]
    assert error.count("read it as one: --missing 'unknown' in CSV, Excel and JSON files.") == 2
    assert error.count("In other files, such as Parquet, convert the column.") == 2


@pytest.mark.usefixtures("here")
@pytest.mark.filterwarnings("ignore:p-values and q-values treat")
def test_ids_that_occur_twice_and_whole_weights_are_noted(slfs):
    random = np.random.default_rng(0)
    y = np.arange(200) % 2
    table = pd.DataFrame({"x": random.normal(size=200) + y, "who": np.arange(200), "n": 1 + y, "y": y})
    table.to_csv("t.csv", index=False)
    options = ("select", "t.csv", "-t", "y")
    assert slfs(*options, "--id", "who", "--drop", "n")[2] == ""
    error = slfs(*options, "--id", "who", "--weights", "n")[2]
    assert "note: The weights are whole numbers" in error
    assert "200 rows are 300 samples" in error
    pd.concat([table, table[:30]]).to_csv("t.csv", index=False)
    assert "note: 30 rows have the same 'who' as a row before" in slfs(*options, "--id", "who")[2]
    assert "as a row before" not in slfs(*options, "--id", "who", "--groups", "who")[2]
    pd.concat([table, table[:1]]).to_csv("t.csv", index=False)
    error = slfs(*options, "--id", "who")[2]
    assert "note: 1 row has the same 'who' as a row before. Remove it if it is a copy." in error


@pytest.mark.usefixtures("here")
def test_dots_that_may_separate_thousands_are_noted(slfs):
    random = np.random.default_rng(0)
    euros = random.integers(100, 5000, 200)
    dotted = [f"{value:,}".replace(",", ".") for value in euros]
    table = pd.DataFrame({"revenue": dotted, "length": euros / 1000, "y": euros % 2})
    table.to_csv("t.csv", index=False, sep=";")
    error = slfs("select", "t.csv", "-t", "y")[2]
    example = next(text for text in dotted if "." in text)
    assert (
        f"note: 'revenue': all numbers with a dot have three digits behind it, such as {example}"
        in error
    )
    assert f"({example} is {example.replace('.', '')})" in error
    assert "'length'" not in error


@pytest.mark.usefixtures("here")
def test_ids_of_other_names_and_missing_ids(slfs):
    table = pd.DataFrame({"id": [1, None, None, 2, 3, 4], "x": range(6)})
    table.to_csv("x.csv", index=False)
    table.rename(columns={"id": "ID"}).assign(y=[0, 1] * 3)[["ID", "y"]].to_csv("y.csv", index=False)
    code, _, error = slfs("select", "x.csv", "--targets-from", "y.csv", "-t", "y", "--id", "id")
    assert (code, "Both files need a column of ids of the same name, that of --id" in error) == (1, True)
    assert "as a row before" not in slfs("select", "x.csv", "-t", "x", "--id", "id")[2]


@pytest.mark.usefixtures("here")
def test_labels_that_are_declared_missing_are_named_if_their_rows_are_left_out(slfs):
    table = pd.DataFrame({"x": np.arange(60) / 7, "y": np.repeat(["1", "2", "3"], 20)})
    table.to_csv("t.csv", index=False)
    error = slfs("select", "t.csv", "-t", "y", "--missing", "1", "--drop-missing-target")[2]
    assert "20 of the labels in 'y' are the text '1', which --missing 1 makes missing" in error


@pytest.mark.usefixtures("here")
def test_a_first_column_without_a_name_is_noted_if_it_is_used(slfs):
    """Row names such as 1978.1 and 1978.10 are equal numbers: they were selected without a word."""
    random = np.random.default_rng(0)
    years, number = np.repeat([1978, 1979, 1980, 1982], 60), np.tile(np.arange(1, 61), 4)
    names = [f"{year}.{one}" for year, one in zip(years, number, strict=True)]
    y = np.where(random.random(240) < np.where(years < 1980, 0.8, 0.2), "yes", "no")
    pd.DataFrame({"age": random.integers(18, 80, 240), "y": y}, names).to_csv("a.csv")
    pd.DataFrame({"age": random.integers(18, 80, 240), "y": y}, number + years / 1e4).to_csv("b.csv")
    code, _, error = slfs("select", "a.csv", "-t", "y")
    assert code == 0
    left_out = "no name and all its values differ: it is left out as row names"
    assert left_out in slfs("select", "b.csv", "-t", "y")[2]
    advice = "'Unnamed: 0': the first column has no name. If it names the rows, add --drop 'Unnamed: 0'."
    assert advice in error
    assert "no name" not in slfs("select", "a.csv", "-t", "y", "--drop", "Unnamed: 0")[2]
    assert slfs("fit", "a.csv", "-t", "y", "-o", "m.slfs")[0] == 0
    assert "no name" not in slfs("predict", "m.slfs", "a.csv")[2]


def test_decimal_commas_are_written_so_that_they_are_read_as_numbers(here, slfs):
    """Values of TSV files and of transposed ones were written as "3,06" between commas."""
    wine = load_wine(as_frame=True).frame.rename("s{}".format)
    X, y = wine.drop(columns="target"), wine["target"].map("class{}".format)
    form = {"decimal": ",", "index_label": "id"}
    X.T.to_csv("turned.csv", sep=";", **form)
    X.T.to_csv("turned.tsv", sep="\t", **form)
    X.to_csv("rows.tsv", sep="\t", **form)
    X.to_csv("rows.csv", sep=";", **form)
    y.to_csv("y.csv", sep=";", index_label="id")
    predictions = set()
    for name in ("turned.csv", "turned.tsv", "rows.tsv", "rows.csv"):
        turn = ["--transpose"] if "turned" in name else ["--id", "id"]
        given = [name, *turn, "--targets-from", "y.csv", "-t", "target", "-k", "3"]
        assert slfs("select", *given, "--out", "out.csv")[0] == 0
        out = pd.read_csv("out.csv", sep=";", decimal=",", index_col="id")
        pd.testing.assert_frame_equal(out, X[out.columns[:3]].assign(target=y), check_names=False)
        assert slfs("fit", *given, "--model", "m.slfs")[0] == 0
        assert slfs("predict", "m.slfs", name, *turn, "-p", "--out", "p.csv")[0] == 0
        text = (here / "p.csv").read_text().split("\n", 1)[1]
        predictions.add(text if ";" in text else text.replace(",", ";").replace(".", ","))
    (text,) = predictions
    assert re.match(r"s0;class0;0,9\d+;0,0", text)
