"""Rows of CSV files with more or fewer fields than the header, and labels and ids that look missing."""

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from slfs.files import csv as csv_files
from slfs.files import fields, read_file


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def model(slfs):
    """A model of two columns of numbers, the file m.slfs."""
    a, b = np.random.default_rng(0).normal(size=(2, 300)).round(3)
    frame = pd.DataFrame({"a": a, "b": b, "note": "x", "y": np.where(a - b > 0, "up", "down")})
    frame.to_csv("train.csv", index=False)
    assert slfs("fit", "train.csv", "-t", "y", "-o", "m.slfs")[0] == 0
    return "m.slfs"


def read(text, **options):
    Path("t.csv").write_text(text)
    return read_file("t.csv", **options)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a,b\n1,2,u\n1,3,v\n", "its header has 2 names ('a', 'b'), but line 2 has 3 fields. Add"),
        ("a\n1,2,u\n2,3,v\n", "its header has 1 name ('a'), but line 2 has 3 fields. Add the missing"),
        (
            "# by Kim\na,b,c\n1,2,3\n",
            "its first line, '# by Kim', looks like a comment above the header",
        ),
        ("a,b\n1,2,u\n3,4\n5,6\n7,8\n", "but line 2 has 3 fields. Fix the row"),
    ],
)
def test_rows_with_more_fields_than_the_header_are_refused(text, expected):
    """pandas would use the first fields as an index, and shift all columns."""
    with pytest.raises(ValueError, match="cannot be read as csv") as error:
        read(text)
    assert expected in str(error.value)


def test_one_comma_too_many_does_not_shift_the_columns_of_a_prediction(model, slfs):
    rows = "2,-2,ok\n2.1,-2.1,ok\n"
    for text in (
        "a,b,note\n" + rows.replace("ok\n", "ok, late\n", 1),
        "a,b,note\n" + rows + "3,-3,a,b\n",
    ):
        Path("new.csv").write_text(text)
        code, _, error = slfs("predict", model, "new.csv")
        assert (code, "fields" in error) == (1, True)


def test_row_names_without_a_name_are_noted():
    file = read("a,b\nr1,1,2\nr2,3,4\n")
    assert file.X["a"].tolist() == [1, 3]
    assert any("one field more than the header" in note for note in file.notes)


@pytest.mark.parametrize("piece", [1 << 24, 7])
def test_short_rows_are_noted(piece, monkeypatch):
    monkeypatch.setattr(fields, "_PIECE", piece)
    file = read('a,b,c\n1,"x, y",2\n\n3,4\n5,"two\nlines",6\n7\n')
    (note,) = file.notes
    assert note.startswith("2 rows have fewer than 3 fields: line 4 has 2.")
    assert len(file.X) == 4
    (note,) = read("a,b,c\n1,2,3\n4,5").notes
    assert "1 row has fewer than 3 fields: line 3 has 2" in note
    assert "cut off" in note
    assert not read('a,b\n1,5" pipe\n2,6" pipe\n').notes
    assert not read('a,b\n5",3"\nx,y\n').notes
    assert read('a,b\nr1,5",3"\nr2,x,y\n').X["b"].tolist() == ['3"', "y"]
    assert not read('\ufeff"a","b"\r\n1,"x ""y"", z"\r\n').notes
    assert not read("a,b\n1,2\n   \n3,4\n").notes


def test_rows_of_a_file_without_header_are_compared_with_the_longest():
    (note,) = read("1,2,3\n4,5\n6,7,8\n", header=False).notes
    assert "1 row has fewer than 3 fields: line 2 has 2" in note


def test_blank_lines_of_a_single_column_are_missing_values():
    assert read("a\n2.0\n\n-2.0\n").X["a"].isna().tolist() == [False, True, False]
    assert len(read("a,b\n2,1\n\n-2,1\n").X) == 2


def test_an_interrupt_while_pandas_reads_is_an_interrupt(monkeypatch):
    def interrupted(*_, **__):
        raise pd.errors.ParserError("Calling read(nbytes) on source failed. Try engine='python'.")

    monkeypatch.setattr(pd, "read_csv", interrupted)
    options = csv_files.ReadOptions((), (), True)
    with pytest.raises(KeyboardInterrupt):
        csv_files._read(io.BytesIO(b"a,b\n1,2\n"), options)


def test_text_that_is_read_as_a_missing_label_is_named(slfs):
    dose = np.random.default_rng(0).normal(size=90).round(2)
    pd.DataFrame({"dose": dose, "y": np.where(dose < 0, "None", "Mild")}).to_csv("t.csv", index=False)
    expected = f"{(dose < 0).sum()} of the labels in 'y' are the text 'None', which is read as a missing"
    for options in ([], ["--drop-missing-target"]):
        assert expected in slfs("select", "t.csv", "-t", "y", *options)[2]
    assert expected not in slfs("select", "t.csv", "-t", "y", "--missing", "None")[2]


def test_a_row_of_totals_does_not_make_its_columns_text(slfs):
    x = np.random.default_rng(0).normal(size=60).round(2)
    rows = "".join(f"{value},{'u' if value > 0 else 'd'}\n" for value in x)
    Path("t.csv").write_text(f"x,y\n{rows}Total,\n")
    code, out, error = slfs("select", "t.csv", "-t", "y", "--drop-missing-target", "--json")
    assert (code, "look like numbers" in error) == (0, False)
    assert json.loads(out)["selected"] == ["x"]


def test_ids_that_look_missing_are_copied(model, slfs):
    Path("new.csv").write_text("key,a,b\nNA,2,-2\nDE,2,-2\n,2,-2\n")
    for suffix, expected in (("jsonl", ["NA", "DE", None]), ("csv", ["NA", "DE", ""])):
        assert slfs("predict", model, "new.csv", "--id", "key", "--out", f"out.{suffix}")[0] == 0
        lines = Path(f"out.{suffix}").read_text().splitlines()
        own = [json.loads(line)["key"] for line in lines] if suffix == "jsonl" else None
        assert (own or [line.partition(",")[0] for line in lines[1:]]) == expected


@pytest.mark.filterwarnings("ignore::slfs.UnseenValueWarning")
def test_numbers_with_decimal_commas_are_read_beside_text(slfs):
    """A stray text must not change how the other rows are read."""
    y = np.arange(200) % 2
    x = np.random.default_rng(0).normal(100 + 40 * y, 10)
    price = [f"{value:.2f}".replace(".", ",") for value in x]
    pd.DataFrame({"price": price, "y": y}).to_csv("t.csv", index=False, sep=";")
    assert slfs("fit", "t.csv", "-t", "y", "-o", "m.slfs")[0] == 0
    found = {}
    for name, rows in (
        ("plain", ["150,00", "1.500"]),
        ("odd", ["150,00", "1.500", "unbekannt", "2 kg"]),
    ):
        Path(f"{name}.csv").write_text("id;price\n" + "".join(f"x;{row}\n" for row in rows))
        _, out, _ = slfs("predict", "m.slfs", f"{name}.csv", "-p")
        found[name] = out.splitlines()[1:3]
    assert found["plain"] == found["odd"]


@pytest.mark.filterwarnings("default")
def test_the_mark_in_a_column_with_thousands_separators_is_named(slfs):
    y = np.arange(200) % 2
    x = np.random.default_rng(0).normal(1500 + 400 * y, 100)
    price = [f"{value:,.2f}".translate(str.maketrans(",.", ".,")) for value in x]
    price[7] = "k.A."
    pd.DataFrame({"price": price, "y": y}).to_csv("t.csv", index=False, sep=";")
    assert "read it as one: --missing 'k.A.' in CSV" in slfs("select", "t.csv", "-t", "y")[2]
    assert slfs("select", "t.csv", "-t", "y", "--missing", "k.A.")[0] == 0


@pytest.mark.filterwarnings("default")
def test_decimal_commas_in_quotation_marks_are_named(slfs):
    pd.DataFrame({"x": [f"{i},5" for i in range(60)], "y": np.arange(60) % 2}).to_csv(
        "t.csv", index=False
    )
    assert (
        "convert them to numbers of one unit, written as -1234.5"
        in slfs("select", "t.csv", "-t", "y")[2]
    )


def test_the_remedy_for_a_column_that_is_a_row(slfs):
    Path("t.csv").write_text("gene,s1,s2\ny,1,2\nb,2,3\n")
    assert "add --transpose" in slfs("select", "t.csv", "-t", "y")[2]
    error = slfs("select", "t.csv", "-t", "s1", "--transpose")[2]
    assert "remove --transpose" in error
    assert "add --transpose" not in error


def test_a_missing_library_without_a_name():
    from slfs.files.registry import formats

    error = formats()["parquet"].missing_library(ImportError("no engine"))
    assert "None" not in str(error)
    assert "slfs[parquet]" in str(error)


def test_lines_above_the_header_and_rows_that_are_too_long_are_named():
    Path("t.gct").write_text("#1.2\n2\t2\nName\tDescription\ts1\ts2\ng\tx\t1\t2\n")
    with pytest.raises(ValueError, match="cannot be read as tsv") as error:
        read_file("t.gct", file_format="tsv")
    assert "tail -n +" in str(error.value)
    assert "C error" not in str(error.value)
    with pytest.raises(ValueError, match=r"line 3 has 3 fields, but the lines above it have 2\. Fix it"):
        read("a,b\n1,2\n3,4,5\n")


def test_values_beyond_the_last_column_are_not_lost():
    assert read("a,b\n" + "1,2,\n" * 30).X.shape == (30, 2)
    with pytest.raises(ValueError, match="the table has 2 columns, but line 27 has 3 fields"):
        read("a,b\n" + "1,2,\n" * 25 + "1,2,3\n")


def test_a_line_of_blanks_does_not_hide_row_names():
    (note,) = read("a,b\n  \n1,1,2\n2,3,4\n").notes
    assert "left out as row names" in note


def test_blank_labels_are_missing(slfs):
    x = np.random.default_rng(0).normal(size=90).round(2)
    labels = np.where(x > 1, " ", np.where(x > 0, "yes", "no"))
    pd.DataFrame({"x": x, "y": labels}).to_csv("t.csv", index=False)
    code, _, error = slfs("select", "t.csv", "-t", "y")
    assert (code, f"{(x > 1).sum()} missing label(s)" in error) == (1, True)
    assert slfs("select", "t.csv", "-t", "y", "--drop-missing-target")[0] == 0


@pytest.mark.parametrize(
    ("last", "noted"),
    [("Total,{a},{b},", True), ("Total,{a},,", True), ("z,{a},7,q", False), ("z,7,{b},q", False)],
)
def test_a_row_of_totals_that_is_used_as_a_sample_is_noted(last, noted, tmp_path):
    rows = [(f"r{i}", 3 * i + 1, i % 7 + 0.5, "pq"[i % 2]) for i in range(30)]
    total = last.format(a=sum(row[1] for row in rows), b=sum(row[2] for row in rows))
    lines = ["id,a,b,c", *(",".join(map(str, row)) for row in rows), total]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    notes = read_file(str(tmp_path / "t.csv"), target="a").notes
    assert any("likely a row of totals" in note for note in notes) == noted


def test_sums_that_are_equal_to_a_value_by_chance_are_no_totals(tmp_path):
    """Sums of -1 and 1 are often -1 or 1; infinite values have none."""
    table = pd.DataFrame(np.random.default_rng(0).choice([-1, 1], (200, 90))).add_prefix("c")
    table["i"] = np.where(np.arange(200) < 4, np.inf, 1.0)
    assert (table.iloc[:-1, :90].sum() == table.iloc[-1, :90]).sum() >= 2
    table.assign(y=np.arange(200) % 2).to_csv(tmp_path / "t.csv", index=False)
    assert not read_file(str(tmp_path / "t.csv"), target="y").notes
