"""slfs predict: only the columns that the model uses, ids, JSON, reasons, and clear errors."""

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_breast_cancer

from slfs import BNSLFS, SLFS, MDLPDiscretizer, NaiveBayes
from slfs.files.writing import write_table
from slfs.saving import load, save

testing = pytest.importorskip("typer.testing")


@pytest.fixture
def slfs():
    from slfs.cli.commands import app

    def run(*arguments):
        result = testing.CliRunner().invoke(app, [str(argument) for argument in arguments])
        error = "" if result.exception is None else str(result.exception)
        return result.exit_code, result.stdout, result.stderr + error

    return run


@pytest.fixture(scope="module")
def table():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    names = [f"{row:05d}" for row in range(len(X))]
    names[:3] = ["NA", "1e5", " x "]
    X.insert(0, "patient", names)
    return X.assign(diagnosis=np.array(["malignant", "benign"])[y])


@pytest.fixture
def here(table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = table.drop(columns=["patient", "diagnosis"])
    save(BNSLFS(SLFS(n_features_to_select=4)).fit(X, table["diagnosis"]), "m.slfs")
    return tmp_path


def used(table):
    """The columns that the model uses, in another order, with ids."""
    names = sorted(load("m.slfs").network_.names, reverse=True)
    return table[[*names, "patient"]]


@pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow", "tsv"])
@pytest.mark.usefixtures("here")
def test_only_the_columns_that_the_model_uses_are_needed(suffix, table, slfs):
    path = f"new.{suffix}"
    write_table(used(table).assign(other="text"), Path(path))
    code, out, error = slfs("predict", "m.slfs", path, "--out", "found.csv", "--probabilities")
    assert (code, error) == (0, "")
    assert out == f"{len(table)} predictions. Written: found.csv\n"
    found, model = pd.read_csv("found.csv"), load("m.slfs")
    X = table[model.feature_names_in_]
    assert found["prediction"].tolist() == model.predict(X).tolist()
    np.testing.assert_allclose(found[["P(benign)", "P(malignant)"]], model.predict_proba(X))


@pytest.mark.usefixtures("here")
def test_a_column_that_the_model_uses_is_missing(table, slfs):
    name = load("m.slfs").network_.names[1]
    used(table).drop(columns=name).to_csv("new.csv", index=False)
    code, _, error = slfs("predict", "m.slfs", "new.csv")
    assert code == 1
    assert f"new.csv is missing 1 of the 4 columns that the model uses: '{name}'." in error
    names = [f"column {number}" for number in range(9)]
    y = np.arange(90) % 9
    X = pd.DataFrame({name: y == label for label, name in enumerate(names)})
    save(NaiveBayes().fit(X, y), "n.slfs")
    code, _, error = slfs("predict", "n.slfs", "new.csv")
    assert f"missing 9 of the 9 columns that the model uses: {names[0]!r}, {names[1]!r}" in error
    assert f"{names[7]!r}, ... (9 columns)." in error
    used(table).to_csv("new.csv", index=False)
    code, _, error = slfs("predict", "m.slfs", "new.csv", "--id", name)
    assert code == 1
    assert f"Features are not ids: leave {name!r} out of --id." in error


@pytest.mark.usefixtures("here")
def test_ids_are_carried_along_unchanged(table, slfs):
    used(table).to_csv("new.csv", index=False)
    code, out, _ = slfs("predict", "m.slfs", "new.csv", "--id", "patient")
    lines = out.splitlines()
    assert code == 0
    assert lines[0] == "patient,prediction"
    assert [line.split(",")[0] for line in lines[1:]] == table["patient"].tolist()
    used(table).to_parquet("new.parquet", index=False)
    code, again, _ = slfs("predict", "m.slfs", "new.parquet", "--id", "patient")
    assert (code, again) == (0, out)


@pytest.mark.usefixtures("here")
def test_json_has_one_object_per_sample(table, slfs):
    used(table).head(20).to_csv("new.csv", index=False)
    code, out, error = slfs("predict", "m.slfs", "new.csv", "--id", "patient", "--json", "--explain")
    assert (code, error) == (0, "")
    records = [json.loads(line) for line in out.splitlines()]
    assert [record["patient"] for record in records] == table["patient"].tolist()[:20]
    model = load("m.slfs")
    X = table[model.feature_names_in_].head(20)
    assert [record["prediction"] for record in records] == model.predict(X).tolist()
    shares = [[record["probabilities"][label] for label in model.classes_] for record in records]
    np.testing.assert_array_equal(shares, model.predict_proba(X))
    explanation = model.explain_prediction(X)
    for record, reasons in zip(records, explanation.reasons(3), strict=True):
        assert [tuple(reason.values()) for reason in record["reasons"]] == reasons
        assert list(record["reasons"][0]) == ["feature", "value", "evidence"]
    code, out, _ = slfs("predict", "m.slfs", "new.csv", "--json")
    assert list(json.loads(out.splitlines()[0])) == ["prediction", "probabilities"]
    code, out, _ = slfs("predict", "m.slfs", "new.csv", "--json", "--out", "found.csv")
    assert len(out.splitlines()) == len(pd.read_csv("found.csv")) == 20
    assert [json.loads(line)["prediction"] for line in out.splitlines()] == model.predict(X).tolist()


@pytest.mark.usefixtures("here")
def test_labels_keep_their_types_in_json(table, slfs):
    X = table.drop(columns=["patient", "diagnosis"])
    save(BNSLFS(SLFS(n_features_to_select=2)).fit(X, np.arange(569) % 2 + 1), "n.slfs")
    X.head(1).to_csv("new.csv", index=False)
    assert json.loads(slfs("predict", "n.slfs", "new.csv", "--json")[1])["prediction"] in (1, 2)


@pytest.mark.usefixtures("here")
def test_reasons_are_columns(table, slfs):
    used(table).head(2).to_csv("new.csv", index=False)
    code, _, _ = slfs("predict", "m.slfs", "new.csv", "--explain", "--out", "found.csv")
    assert code == 0
    found, model = pd.read_csv("found.csv"), load("m.slfs")
    assert found.columns.tolist() == ["prediction", "reason 1", "reason 2", "reason 3"]
    name, level, evidence = model.explain_prediction(table[model.feature_names_in_].head(1)).reasons()[
        0
    ][0]
    assert found["reason 1"][0] == f"{name}: {level} ({evidence:+.2f})"


@pytest.mark.usefixtures("here")
def test_reasons_of_many_rows_come_in_order(table, slfs, monkeypatch):
    used(table).to_csv("new.csv", index=False)
    whole = slfs("predict", "m.slfs", "new.csv", "--explain")
    monkeypatch.setattr("slfs.cli.predict._ROWS", 100)
    assert slfs("predict", "m.slfs", "new.csv", "--explain") == whole


@pytest.mark.usefixtures("here")
def test_unseen_values_get_one_warning(table, slfs):
    model = load("m.slfs")
    first, second = model.network_.names[:2]
    new = used(table).head(5).astype(object)
    new.loc[1, first] = "broken"
    new.loc[2, second] = None
    new.to_csv("new.csv", index=False)
    with pytest.warns(match=f"2 columns .* '{first}' \\(1 of 5 rows, e.g. 'broken'\\)") as caught:
        code, out, _ = slfs("predict", "m.slfs", "new.csv", "-p", "--explain")
    assert code == 0
    assert len(caught) == 1
    found = pd.read_csv(io.StringIO(out))
    known = table[model.feature_names_in_].head(5)
    rows = [0, 3, 4]
    np.testing.assert_allclose(
        found[["P(benign)", "P(malignant)"]].iloc[rows], model.predict_proba(known)[rows]
    )


@pytest.mark.parametrize("suffix", ["csv", "parquet", "xlsx"])
@pytest.mark.usefixtures("here")
def test_an_empty_batch(suffix, table, slfs):
    empty = used(table).head(0)
    path = f"new.{suffix}"
    {"csv": empty.to_csv, "parquet": empty.to_parquet, "xlsx": empty.to_excel}[suffix](path, index=False)
    code, out, error = slfs("predict", "m.slfs", path, "-p", "--id", "patient", "--explain")
    assert (code, error) == (0, "")
    assert out == "patient,prediction,P(benign),P(malignant),reason 1,reason 2,reason 3\n"
    assert slfs("predict", "m.slfs", path, "--json") == (0, "", "")


@pytest.mark.parametrize(("name", "content"), [("new.json", "[]"), ("new.jsonl", "")])
@pytest.mark.usefixtures("table")
def test_an_empty_batch_of_json(name, content, here, slfs):
    (here / name).write_text(content)
    assert slfs("predict", "m.slfs", name, "--json", "--id", "patient") == (0, "", "")
    code, out, error = slfs("predict", "m.slfs", name, "--id", "patient", "--explain")
    assert (code, error) == (0, "")
    assert out == "prediction,reason 1,reason 2,reason 3\n"
    code, _, error = slfs("select", name, "--target", "diagnosis")
    assert code == 1
    assert f"{name} is empty" in error or "it has no rows" in error


@pytest.mark.usefixtures("here")
def test_files_that_are_no_models(here, table, slfs):
    used(table).to_csv("new.csv", index=False)
    code, _, error = slfs("predict", "mm.slfs", "new.csv")
    assert code == 1
    assert "There is no file 'mm.slfs'. Did you mean m.slfs?" in error
    code, _, error = slfs("predict", "new.csv", "m.slfs")
    assert code == 1
    assert "new.csv cannot be loaded: it is not a ZIP archive" in error
    assert error.endswith("The model comes first: slfs predict MODEL DATA.")
    code, _, error = slfs("predict", str(here), "new.csv")
    assert code == 1
    assert "is a folder" in error
    X = table.drop(columns=["patient", "diagnosis"])
    save(MDLPDiscretizer().fit(X, table["diagnosis"]), "codes.slfs")
    code, _, error = slfs("predict", "codes.slfs", "new.csv")
    assert code == 1
    assert "codes.slfs contains a MDLPDiscretizer, which cannot predict" in error


@pytest.mark.usefixtures("here")
def test_models_of_other_classes_and_without_columns(table, slfs):
    X = table.drop(columns=["patient", "diagnosis"])
    save(NaiveBayes().fit(X, table["diagnosis"]), "naive.slfs")
    X.head(3).to_csv("new.csv", index=False)
    code, out, _ = slfs("predict", "naive.slfs", "new.csv")
    assert (code, out.split()[1:]) == (0, ["malignant"] * 3)
    noise = np.random.default_rng(0).normal(size=(60, 2))
    y = np.arange(60) % 3 == 0
    for name, data in {"array": noise, "frame": pd.DataFrame(noise, columns=["a", "b"])}.items():
        save(BNSLFS().fit(data, y), f"{name}.slfs")
        code, out, _ = slfs("predict", f"{name}.slfs", "new.csv")
        assert (code, out.split()[1:]) == (0, ["False"] * 3), name
    save(BNSLFS().fit(X.to_numpy(), table["diagnosis"]), "unnamed.slfs")
    code, out, _ = slfs("predict", "unnamed.slfs", "new.csv")
    assert (code, out.split()[1:]) == (0, ["malignant"] * 3)
    X.iloc[:3, :7].to_csv("new.csv", index=False)
    code, _, error = slfs("predict", "unnamed.slfs", "new.csv")
    assert code == 1
    assert "new.csv has 7 columns; the model has no column names and expects 30" in error


def test_text_in_a_column_of_dates_is_no_missing_value(tmp_path, monkeypatch, slfs):
    monkeypatch.chdir(tmp_path)
    rows = [f"2020-01-{day:02},p" for day in range(1, 29)] + [",q"] * 28
    Path("a.csv").write_text("when,y\n" + "\n".join(rows))
    assert slfs("fit", "a.csv", "-t", "y", "-o", "m.slfs")[0] == 0
    Path("new.csv").write_text('when\n2020-01-03\n2020-01-20\n2020-01-04\n""\ngarbage\n2020-02-31\n')
    with pytest.warns(match=r"'when' \(2 of 6 rows, e.g. 'garbage'\)"):
        code, out, error = slfs("predict", "m.slfs", "new.csv", "-p")
    assert code == 0, error
    found = pd.read_csv(io.StringIO(out))["P(q)"]
    assert found[:3].max() < 0.2
    assert found[3] > 0.8
    assert found[4] == found[5] == 0.5, "the class frequencies"


def test_a_model_remembers_the_texts_that_mean_a_missing_value(tmp_path, monkeypatch, slfs):
    monkeypatch.chdir(tmp_path)
    rows = [f"{sample % 7 + 10 * (sample % 2)},{sample % 2}" for sample in range(80)] + ["-999,1"] * 9
    Path("a.csv").write_text("a,y\n" + "\n".join(rows))
    Path("new.csv").write_text("a\n-999\n")
    Path("blank.csv").write_text('a\n""\n')
    options = ("-t", "y", "--missing", "-999", "-o", "m.slfs")
    assert slfs("fit", "a.csv", *options)[0] == 0
    expected = slfs("predict", "m.slfs", "blank.csv", "-p")
    assert expected[0] == 0
    assert slfs("predict", "m.slfs", "new.csv", "-p") == expected


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("prediction", ()),
        ("prediction", ("--json",)),
        ("P(1)", ("-p",)),
        ("reason 2", ("--explain",)),
        ("probabilities", ("--json",)),
        ("P(1)", ("--json", "-p", "--out", "out.csv")),
    ],
)
def test_an_id_with_the_name_of_an_output_column(name, options, tmp_path, monkeypatch, slfs):
    """It was overwritten, or there were two columns of the same name."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{sample % 7 + 10 * (sample % 2)},{sample % 2}" for sample in range(80)]
    Path("a.csv").write_text("a,y\n" + "\n".join(rows))
    Path("new.csv").write_text(f"a,{name}\n3,k1\n14,k2\n")
    assert slfs("fit", "a.csv", "-t", "y", "-o", "m.slfs")[0] == 0
    code, out, error = slfs("predict", "m.slfs", "new.csv", "--id", name, *options)
    assert (code, out) == (1, "")
    assert f"The id column {name!r} of new.csv has the name of a column of the output. Rename" in error
    assert not Path("out.csv").exists()
    Path("new.csv").write_text("a,reasons\n3,k1\n14,k2\n")
    assert slfs("predict", "m.slfs", "new.csv", "--id", "reasons", "--json")[0] == 0


@pytest.mark.parametrize("kind", [bool, float, int, str])
def test_predictions_are_keys_of_the_probabilities(kind, table, here, slfs):
    X = used(table)
    y = (table["diagnosis"] == "benign").astype(kind)
    save(BNSLFS(SLFS(n_features_to_select=2)).fit(X, y), "k.slfs")
    write_table(X.head(20), here / "new.parquet")
    code, out, _ = slfs("predict", "k.slfs", "new.parquet", "--json")
    assert code == 0
    for line in out.splitlines():
        record = json.loads(line)
        prediction = record["prediction"]
        key = prediction if isinstance(prediction, str) else json.dumps(prediction)
        assert record["probabilities"][key] == max(record["probabilities"].values())
    keys = {bool: {"true", "false"}, str: {"True", "False"}, float: {"0.0", "1.0"}, int: {"0", "1"}}
    assert set(record["probabilities"]) == keys[kind]
    written = slfs("predict", "k.slfs", "new.parquet")[1].splitlines()[1:]
    told = [json.loads(line)["prediction"] for line in out.splitlines()]
    assert written == list(map(str, told))


@pytest.fixture
def german(tmp_path, monkeypatch, slfs):
    """A model of 'Steuer', whose dots are thousands separators only because of the column 'm2'."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    tax = random.integers(100, 9999, 300)
    rows = [f"{value:,};{k % 90 + 10},5;{int(value > 4000)}" for k, value in enumerate(tax)]
    Path("a.csv").write_text(
        "Steuer;m2;kauf\n" + "\n".join(rows).replace(",", ".").replace(".5;", ",5;")
    )
    assert slfs("fit", "a.csv", "-t", "kauf", "-o", "m.slfs")[0] == 0
    assert load("m.slfs").network_.names == ("Steuer",)


@pytest.mark.parametrize("name", ["new.csv", "new.tsv"])
@pytest.mark.parametrize("other", ["", "flag"])
@pytest.mark.usefixtures("german")
def test_a_model_remembers_decimal_commas(name, other, slfs):
    """4.100 was read as 4.1 in a file without the column that has decimal commas."""
    separator = ";" if name == "new.csv" else "\t"
    lines = [["Steuer", "flag"], ["4.100", "1"], ["980", "0"]]
    Path(name).write_text("".join(separator.join(line if other else line[:1]) + "\n" for line in lines))
    code, out, error = slfs("predict", "m.slfs", name)
    assert (code, out) == (0, "prediction\n1\n0\n")
    assert "'Steuer': dots are read as thousands separators (4.100 is 4100), as in the file of" in error
    Path("all.csv").write_text("Steuer;m2\n4.100;1,5\n980;2\n")
    assert slfs("predict", "m.slfs", "all.csv") == (0, out, "")


@pytest.mark.usefixtures("german")
def test_decimal_points_where_the_model_has_seen_decimal_commas(slfs):
    Path("new.csv").write_text("Steuer;rate\n4.100;0.5\n980;1.25\n")
    code, out, error = slfs("predict", "m.slfs", "new.csv")
    assert (code, out) == (0, "prediction\n0\n0\n")
    assert (
        "'rate' has decimal points, such as '0.5', but the file of fit had decimal commas. All" in error
    )


@pytest.mark.usefixtures("here")
def test_thousands_separators_where_the_model_has_seen_none(table, slfs):
    """How the columns of the table are used is up to the model, but this is a guess."""
    X = used(table).head(2).drop(columns="patient").astype(str)
    name = X.columns[0]
    X[name] = ["1.234", "2.345"]
    X["m2"] = ["1,5", "2,5"]
    for other in X.columns[1:]:
        X[other] = X[other].str.replace(".", ",")
    X.to_csv("new.csv", sep=";", index=False)
    code, _, error = slfs("predict", "m.slfs", "new.csv")
    assert code == 0
    assert f"{name!r}: dots are read as thousands separators (1.234 is 1234), because other" in error


@pytest.mark.parametrize("out", [None, "p.csv", "p.tsv"])
@pytest.mark.usefixtures("german")
def test_predictions_are_written_like_the_file(out, slfs):
    Path("new.csv").write_text("Kunde;Steuer;m2\n1,5;4.100;1,5\n007;980;2\n")
    options = () if out is None else ("--out", out)
    code, printed, _ = slfs("predict", "m.slfs", "new.csv", "-p", "--id", "Kunde", *options)
    text = printed if out is None else Path(out).read_text()
    separator = "\t" if out == "p.tsv" else ";"
    assert code == 0
    assert text.splitlines()[0].split(separator) == ["Kunde", "prediction", "P(0)", "P(1)"]
    found = pd.read_csv(io.StringIO(text), sep=separator, decimal=",", dtype={"Kunde": str})
    assert found["Kunde"].tolist() == ["1,5", "007"]
    np.testing.assert_allclose(found["P(0)"] + found["P(1)"], 1)
    write_table(found, Path("q.csv"))
    assert Path("q.csv").read_text().startswith("Kunde,prediction,P(0),P(1)\n")


@pytest.mark.usefixtures("german")
def test_predictions_of_a_tsv(slfs):
    Path("new.tsv").write_text("Steuer\tm2\n4.100\t1,5\n980\t2\n")
    _, printed, _ = slfs("predict", "m.slfs", "new.tsv", "-p")
    printed = pd.read_csv(io.StringIO(printed), sep="\t", decimal=",")
    np.testing.assert_allclose(printed["P(0)"] + printed["P(1)"], 1)
    assert slfs("predict", "m.slfs", "new.tsv", "-p", "--out", "p.csv")[0] == 0
    pd.testing.assert_frame_equal(pd.read_csv("p.csv"), printed)


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
@pytest.mark.parametrize("target", [0, 1, 2])
def test_columns_without_names_keep_their_numbers_without_the_target(
    ending, target, tmp_path, monkeypatch, slfs
):
    """All columns behind the target were taken for their neighbours."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 200)
    columns = [random.integers(0, 9, 200) + 9 * y, random.integers(0, 9, 200) - 5 * y]
    columns.insert(target, y)

    def write(path, parts):
        frame = pd.DataFrame(np.column_stack(parts))
        write = frame.to_csv if ending == "csv" else frame.to_excel
        write(path, header=False, index=False)
        return path

    whole, part = write(f"a.{ending}", columns), [one for one in columns if one is not y]
    options = ("-t", target, "--no-header", "-k", 2, "-o", "m.slfs")
    assert slfs("fit", whole, *options)[0] == 0
    code, expected, error = slfs("predict", "m.slfs", whole, "--no-header", "-p")
    assert (code, error) == (0, "")
    new = write(f"new.{ending}", part)
    code, out, error = slfs("predict", "m.slfs", new, "--no-header", "-p")
    assert (code, out) == (0, expected)
    assert error.count("note: The file has 2 columns, one fewer than that of fit: the target") == 1
    assert f"'column_{target + 1}', is taken to be the one that is left out" in error
    new = write(f"fewer.{ending}", part[:1])
    code, out, error = slfs("predict", "m.slfs", new, "--no-header")
    assert (code, out) == (1, "")
    assert "it has 1 columns without names, but the model was fitted to a file with 3 columns" in error
    assert f"3 or 2, without the target (column_{target + 1})." in error
    code, out, error = slfs("predict", "m.slfs", whole)
    assert (code, out) == (1, "")
    assert "The model was fitted with --no-header. If the file has no header either, add it." in error


@pytest.mark.usefixtures("here")
def test_numbers_as_names_that_the_model_knows_are_no_data(slfs):
    """The note advised --no-header, and that error advised --transpose."""
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.random((60, 3)).round(3), columns=["850", "852", "854"])
    X.assign(y=np.where(X["850"] + X["854"] > 1, "a", "b")).to_csv("a.csv", index=False)
    X.to_csv("new.csv", index=False)
    assert slfs("fit", "a.csv", "-t", "y", "-o", "m.slfs")[0] == 0
    code, _, error = slfs("predict", "m.slfs", "new.csv")
    assert (code, error) == (0, "")
    code, _, error = slfs("predict", "m.slfs", "new.csv", "--no-header")
    assert code == 1
    assert error.rstrip().endswith("They are in its first row. Remove --no-header.")
    Path("rows.csv").write_text(Path("new.csv").read_text().partition("\n")[2])
    for option in ([], ["--no-header"]):
        code, _, error = slfs("predict", "m.slfs", "rows.csv", *option)
        assert code == 1
        assert "If the file has no header, add one with the names of the columns." in error


ODD = {
    "when": ["2023-04-30", "soon", 20230430, "2023-04-30T12:00:00Z", None, True],
    "exang": [False, "unclear", 1, "0", "true", None, 0.0],
    "thal": [2, "fixed", "2", 2.5, None, True, "2.5", "2023-04-30"],
    "flag": [True, "maybe", 1, "0", None, "false"],
    "code": [2**53 + 1, "no", str(2**53 + 1), 2**53 + 2, None, 3.0],
}
"""Values of new rows: of the types that ``fit`` has seen, of others, and text."""


@pytest.fixture(scope="module")
def mixed_model(tmp_path_factory):
    """A model of columns of dates, numbers, text, booleans with missing values, and codes."""
    random = np.random.default_rng(0)
    n = 2000
    when = pd.Timestamp("2022-01-01") + pd.to_timedelta(random.integers(0, 1000, n), "D")
    X = pd.DataFrame(
        {
            "when": when,
            "exang": random.integers(0, 2, n),
            "thal": random.choice(["2", "2.5", "fixed", "True", "2023-04-30"], n),
            "flag": pd.Series(random.choice([True, False, None], n), dtype=object),
            "code": random.choice([2**53 + 1, 2**53 + 2, 3], n),
        }
    )
    effects = [when > "2023-06-01", X["exang"] == 1, X["thal"].isin(["2", "True"])]
    effects += [X["flag"].eq(True), X["code"] == 2**53 + 1]
    y = 2 * sum(map(np.asarray, effects)) + random.normal(size=n) > 5
    selector = SLFS(categorical_features=["code"], include=list(X), n_features_to_select=5)
    path = tmp_path_factory.mktemp("model") / "m.slfs"
    save(BNSLFS(selector).fit(X, y), path)
    assert set(load(path).network_.names) == set(X)
    return path


@pytest.mark.filterwarnings("ignore::slfs.UnseenValueWarning")
@pytest.mark.parametrize("suffix", ["json", "jsonl", "xlsx", "csv"])
@pytest.mark.parametrize("column", ODD)
def test_the_prediction_of_a_row_does_not_depend_on_other_rows(
    column, suffix, mixed_model, tmp_path, slfs
):
    """Text in another row made a column text, so that false was not 0, and 2 was the category "2"."""
    first = {"when": "2023-04-30", "exang": 0, "thal": "fixed", "flag": True, "code": 3}
    rows = [first | {column: value} for value in ODD[column]]
    path = tmp_path / f"new.{suffix}"

    def predicted(some):
        write_table(pd.DataFrame(some, dtype=object), path)
        code, out, error = slfs("predict", mixed_model, path, "-p")
        assert code == 0, error
        return pd.read_csv(io.StringIO(out))["P(True)"].tolist()

    alone = [predicted([row])[0] for row in rows]
    assert alone == predicted(rows)
    if column == "thal":
        assert alone[0] == alone[2] != alone[1], "2 is the category '2'"
        assert alone[4] not in alone[:4]
    if column == "exang":
        assert alone[0] == alone[3] == alone[6] != alone[2] == alone[4]


@pytest.mark.filterwarnings("ignore::slfs.UnseenValueWarning")
@pytest.mark.parametrize("rows", ["", ",3\n"])
def test_a_first_column_of_text_without_values(rows, tmp_path, monkeypatch, slfs):
    monkeypatch.chdir(tmp_path)
    cells = [f"{i % 7},{'u,yes' if i % 3 == 0 else 'v,no'}\n" for i in range(60)]
    (tmp_path / "old.csv").write_text("a,b,y\n" + "".join(cells))
    (tmp_path / "new.csv").write_text("b,a\n" + rows)
    assert slfs("fit", "old.csv", "-t", "y", "--model", "m.slfs")[0] == 0
    code, out, error = slfs("predict", "m.slfs", "new.csv")
    assert code == 0, error
    assert len(out.splitlines()) == 1 + len(rows.splitlines())


def test_a_model_of_samples_in_columns(tmp_path, monkeypatch, slfs):
    monkeypatch.chdir(tmp_path)
    names, y = [f"s{i}" for i in range(40)], np.arange(40) % 2
    (tmp_path / "e.csv").write_text(
        ",".join(["", *names]) + "\n" + ",".join(["gene", *map(str, y + np.arange(40) / 100)]) + "\n"
    )
    (tmp_path / "p.csv").write_text("id,y\n" + "".join(f"s{i},{'ab'[i % 2]}\n" for i in range(40)))
    given = ("e.csv", "--transpose", "--targets-from", "p.csv", "-t", "y", "--model", "m.slfs")
    assert slfs("fit", *given)[0] == 0
    code, _, error = slfs("predict", "m.slfs", "e.csv")
    assert code == 1
    assert "If the samples are in columns, add --transpose." in error
    assert slfs("predict", "m.slfs", "e.csv", "--transpose")[0] == 0


def test_an_svmlight_file_for_a_model_with_names(tmp_path, monkeypatch, slfs):
    """The numbers of its columns may begin at 0 or 1."""
    monkeypatch.chdir(tmp_path)
    y = np.arange(60) % 2
    X = np.column_stack([np.ones(60), y, np.arange(60) % 3]).astype(float)
    np.savez("a.npz", X=X, y=y)
    dump_svmlight_file(X[:, :2], y, "b.svm", zero_based=False)
    assert slfs("fit", "a.npz", "--model", "m.slfs")[0] == 0
    code, _, error = slfs("predict", "m.slfs", "b.svm")
    assert code == 1
    assert "columns cannot be matched by position" in error


def test_names_that_are_spelled_differently_and_samples_in_rows(tmp_path, monkeypatch, slfs):
    monkeypatch.chdir(tmp_path)
    x = np.random.default_rng(0).normal(size=60)
    frame = pd.DataFrame({"id": [f"s{i}" for i in range(60)], "sex": x, "y": np.where(x > 0, "a", "b")})
    frame.to_csv("a.csv", index=False)
    assert slfs("fit", "a.csv", "-t", "y", "--id", "id", "--model", "m.slfs")[0] == 0
    frame.rename(columns={"sex": " SEX"}).to_csv("b.csv", index=False)
    code, _, error = slfs("predict", "m.slfs", "b.csv")
    assert code == 1
    assert "Rename ' SEX' to 'sex'." in error
    code, _, error = slfs("predict", "m.slfs", "a.csv", "--transpose")
    assert code == 1
    assert "add --transpose" not in error
    assert "remove --transpose" in error
    rows = (tmp_path / "a.csv").read_text()
    (tmp_path / "c.csv").write_text("Patients of 2024,,\n" + rows)
    code, _, error = slfs("predict", "m.slfs", "c.csv")
    assert code == 1
    assert "The header seems to be in a row below ('id', 'sex', 'y')" in error
    assert "--transpose" not in error


def test_sparse_arrays_have_the_columns_of_dense_ones(here, slfs):
    """The model "was fitted to a table with names", x0 and x1, and the file was "svmlight"."""
    X, y = load_breast_cancer(return_X_y=True)
    np.savez("dense.npz", X=X, y=y)
    assert slfs("fit", "dense.npz", "-k", "3", "-o", "m.slfs")[0] == 0
    sparse.save_npz("sparse.npz", sparse.csr_matrix(X[:50]))
    np.save("dense.npy", X[:50])
    code, out, _ = slfs("predict", "m.slfs", "sparse.npz", "-p")
    assert (code, out) == (0, slfs("predict", "m.slfs", "dense.npy", "-p")[1])
    sparse.save_npz("narrow.npz", sparse.csr_matrix(X[:50, :9]))
    error = slfs("predict", "m.slfs", "narrow.npz")[2]
    assert "has 9 columns without names, but the model was fitted to a table of 30 columns" in error
    assert here


@pytest.mark.usefixtures("here")
def test_losses_of_other_models_than_the_written_one_are_explained(slfs):
    """The log loss that fit printed was that of a model with the covariate, or with other tables."""
    random = np.random.default_rng(0)
    age, x = random.normal(size=(2, 400))
    table = pd.DataFrame({"age": age, "x": x, "y": age + x + random.normal(size=400) > 0})
    table.to_csv("t.csv", index=False)
    fit = ("fit", "t.csv", "-t", "y", "--model", "m.slfs")
    given = slfs(*fit, "--condition-on", "age")[1]
    assert "These models contain 'age', too; the written one does not." in given
    other = slfs(*fit, "--structure", "tree")[1]
    assert "These are losses of additive models. Those of 'tree' models are different." in other
    assert "These" not in slfs(*fit)[1]
    code, _, error = slfs("predict", "m.slfs", "t.csv", "--id", "x")
    assert (code, "Features are not ids: leave 'x' out of --id." in error) == (1, True)
