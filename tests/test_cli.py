"""The command line: output, files, error messages, start-up."""

import gzip
import json
import os
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_breast_cancer

from slfs import SLFS, MDLPDiscretizer, StabilitySelection, __version__
from slfs.evaluation import feature_groups, feature_similarity
from slfs.evaluation.groups import merged_supports
from slfs.files.data_file import find_column
from slfs.files.reading import read_file
from slfs.measures import nogueira
from slfs.selectors import selectors


@pytest.fixture(scope="module")
def table():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    frame = X.assign(diagnosis=y.map({0: "malignant", 1: "benign"}))
    frame.iloc[::7, 2] = np.nan
    frame["ward"] = np.where(np.arange(len(frame)) % 3, "north", "south")
    return frame


@pytest.fixture
def here(table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table.to_csv("cancer.csv", index=False)
    return tmp_path


def expected_columns(table):
    X = table.drop(columns="diagnosis")
    return SLFS().fit(X, table["diagnosis"]).get_feature_names_out().tolist()


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "tsv.bz2", "csv.xz", "parquet", "arrow"])
def test_every_format_gives_the_same_selection(ending, here, slfs, table):
    name = f"data.{ending}"
    if "csv" in ending or "tsv" in ending:
        table.to_csv(name, index=False, sep="," if "csv" in ending else "\t")
    elif ending == "parquet":
        table.to_parquet(name)
    else:
        table.to_feather(name)
    code, _, error = slfs("select", name, "--target", "diagnosis", "--out", "selected.csv")
    assert (code, error) == (0, "")
    names = pd.read_csv(here / "selected.csv").columns.tolist()
    assert names == [*expected_columns(table), "diagnosis"]


def test_numbers_only_formats(here, slfs, table):
    X, y = table.iloc[:, :30].fillna(0).to_numpy(), (table["diagnosis"] == "benign").to_numpy(int)
    support = SLFS().fit(X, y).support_
    np.savez("dense.npz", X=X, y=y)
    matrix = sparse.csr_array(X)
    parts = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr}
    np.savez("sparse.npz", **parts, shape=matrix.shape, y=y, classes=np.array(["no", "yes"]))
    dump_svmlight_file(X, y, "data.svm")
    for name in ("dense.npz", "sparse.npz", "data.svm"):
        code, out, _ = slfs("select", name, "--json")
        assert code == 0
        assert json.loads(out)["n_selected"] == support.sum(), name
        assert slfs("select", name, "--out", "part.parquet")[0] == 0
        assert pd.read_parquet(here / "part.parquet").shape == (len(y), support.sum() + 1)


def test_arff(here, slfs):
    lines = [f"{i % 5},{'a' if i % 5 > 2 else '?'},{'p' if i % 5 > 2 else 'q'}" for i in range(100)]
    head = "@relation r\n@attribute x numeric\n@attribute y {a,b}\n@attribute class {p,q}\n@data\n"
    (here / "small.arff").write_text(head + "\n".join(lines))
    code, out, _ = slfs("select", "small.arff", "-t", "class")
    assert code == 0
    assert (
        "Same levels in all samples (copies, recodings, or values that are grouped alike): 'x' = 'y'."
        in out
    )


@pytest.mark.slow
def test_standard_input_and_a_pipe(here):
    command = [sys.executable, "-m", "slfs", "select", "-", "-t", "diagnosis", "-m", "mrmr", "-k", "3"]
    done = subprocess.run(
        command, input=(here / "cancer.csv").read_bytes(), capture_output=True, check=True
    )
    assert b"3 of 31 columns selected" in done.stdout
    assert b"\x1b" not in done.stdout + done.stderr, "no colours, no bars in a pipe"
    assert done.stderr == b""


SELECT_THREE = ["select", "cancer.csv", "-t", "diagnosis", "-m", "mrmr", "-k", "3", "--out", "o.csv"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        pytest.param(["--help"], 0, marks=pytest.mark.slow),
        (["methods"], 0),
        pytest.param(["fit", "--help"], 0, marks=pytest.mark.slow),
        pytest.param(SELECT_THREE, 0, marks=pytest.mark.slow),
        pytest.param(["select", "none.csv", "-t", "diagnosis"], 1, marks=pytest.mark.slow),
    ],
    ids=["help", "methods", "help of a command", "select", "error"],
)
def test_a_closed_pipe_ends_a_command_quietly(here, arguments, code):
    """The exit code was 1, which ends scripts with 'set -o pipefail'."""
    command = [sys.executable, "-m", "slfs", *arguments]
    for errors in (subprocess.PIPE, subprocess.STDOUT):
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run(command, stdout=writer, stderr=errors, check=False)
        os.close(writer)
        assert done.returncode == code
        assert code or not done.stderr
        assert (here / "o.csv").exists() == ("o.csv" in arguments), "files are written nevertheless"


def test_select_says_what_was_selected_and_writes_nothing_else(here, slfs, table):
    code, out, _ = slfs("select", "cancer.csv", "-t", "diagnosis", "--tree")
    assert code == 0
    for name in expected_columns(table):
        assert name in out
    for words in ("weakly relevant", "relevance", "% of class", "parent", "FDR", "(q-value)"):
        assert words in out, "nothing is cut off in a pipe"
    assert "71.9" in out, "relevance of the best column as a share of the class entropy"
    assert "└──" in out
    assert [path.name for path in here.iterdir()] == ["cancer.csv"]


def test_the_report_is_written(here, slfs):
    code, out, _ = slfs("select", "cancer.csv", "-t", "diagnosis", "--report", "report.html")
    assert code == 0
    assert "Written: report.html" in out
    assert "worst perimeter" in (here / "report.html").read_text("utf-8")


def test_fit_predict_explain(here, slfs, table):
    common = ("cancer.csv", "-t", "diagnosis", "--order", "conditional")
    assert slfs("fit", *common, "--model", "m.slfs", "--bif", "m.bif")[0] == 0
    code, out, _ = slfs("predict", "m.slfs", "cancer.csv", "--probabilities")
    assert code == 0
    (here / "predicted.csv").write_text(out)
    found = pd.read_csv(here / "predicted.csv")
    X = table.drop(columns="diagnosis")
    expected = SLFS(order="conditional").fit(X, table["diagnosis"]).to_classifier()
    assert (found["prediction"] == expected.predict(X)).all()
    np.testing.assert_allclose(found[["P(benign)", "P(malignant)"]], expected.predict_proba(X))
    table.drop(columns=["worst area", "diagnosis"]).to_csv("short.csv")
    code, _, error = slfs("predict", "m.slfs", "short.csv")
    assert code == 1
    assert "is missing 1 of the 10 columns that the model uses: 'worst area'." in error
    for source in (["--model", "m.slfs"], common):
        code, out, _ = slfs("explain", "worst radius", *source)
        assert (code, "redundant" in out) == (0, True)
    assert "benign" in (here / "m.bif").read_text()


def test_a_sparse_file_may_lack_the_last_columns(here, slfs):
    random = np.random.default_rng(0)
    X = sparse.random_array((200, 30), density=0.3, rng=random, format="csr")
    y = (X[:, [3]].toarray()[:, 0] > 0).astype(int)
    dump_svmlight_file(X, y, "train.svm")
    dump_svmlight_file(X[:, :20], y, "new.svm")
    assert slfs("fit", "train.svm", "--model", "m.slfs")[0] == 0
    code, out, _ = slfs("predict", "m.slfs", "new.svm")
    assert code == 0
    assert [int(line) for line in out.split()[1:]] == y.tolist()
    assert sorted(path.name for path in here.glob("*.slfs")) == ["m.slfs"]


def test_discretize(here, slfs, table):
    code, out, _ = slfs("discretize", "cancer.csv", "-t", "diagnosis", "--out", "codes.csv", "--json")
    assert code == 0
    X = table.drop(columns="diagnosis")
    model = MDLPDiscretizer().fit(X, table["diagnosis"])
    found = json.loads(out)
    cuts = found["cut_points"]
    assert list(cuts) == list(found["n_levels"]) == list(X.columns)
    assert cuts["mean radius"] == model.cut_points_[0].tolist()
    codes = pd.read_csv(here / "codes.csv")
    np.testing.assert_array_equal(codes.drop(columns="diagnosis"), model.transform(X))


def test_compare(here, slfs):
    options = ["--methods", "slfs,fcbf", "--classifiers", "NB,BNSLFS", "--cv", "3", "-j", "1"]
    code, out, error = slfs(
        "compare", "cancer.csv", "-t", "diagnosis", *options, "--out", "rows.csv", "--plot", "bars.png"
    )
    assert (code, error) == (0, "")
    rows = pd.read_csv(here / "rows.csv")
    assert len(rows) == 2 * 2 * 3
    assert rows["accuracy"].min() > 0.8
    assert (here / "bars.png").read_bytes().startswith(b"\x89PNG")
    assert "fcbf" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["cancer.csv", "-t", "diagnosi"], "no column 'diagnosi'. Did you mean 'diagnosis'"),
        (["cancer.csv", "-t", "99"], "no column 99: it has 32 columns"),
        (
            ["cancer.csv"],
            "cancer.csv does not contain class labels. Set the column with the class labels",
        ),
        (["cancr.csv", "-t", "diagnosis"], "no file 'cancr.csv'. Did you mean cancer.csv"),
        (["CANCER.CSV", "-t", "diagnosis"], "no file 'CANCER.CSV'. Did you mean cancer.csv"),
        (["cancer.csv", "-t", "diagnosis", "-m", "mrmrr"], "Unknown method 'mrmrr'. Did you mean mrmr"),
        (
            ["cancer.csv", "-t", "diagnosis", "--set", "relevance_wait=1"],
            "Did you mean relevance_weight",
        ),
        (["cancer.csv", "-t", "diagnosis", "--set", "max_depth=0"], "'max_depth' parameter of SLFS"),
        (["cancer.csv", "-t", "diagnosis", "--set", "max_depth"], "expected NAME=VALUE"),
        (["cancer.csv", "-t", "diagnosis", "-k", "-1"], "'n_features_to_select' parameter of SLFS"),
        (["cancer.csv", "-t", "diagnosis", "--out", "x.doc"], "unknown suffix '.doc'"),
        (["cancer.csv", "-t", "diagnosis", "--out", "no/x.csv"], "cannot be written"),
        pytest.param(
            ["no such file.csv", "-t", "diagnosis", "--report", "/proc/x.html"],
            "'/proc/x.html' cannot be written: ",
            marks=pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc"),
        ),
        (["cancer.csv", "-t", "diagnosis", "--drop", "wardd"], "Did you mean 'ward'"),
        (["cancer.csv", "-t", "mean radius", "--target-type", "classification"], "continuous"),
        (["broken.parquet", "-t", "y"], "cannot be read as parquet"),
        (["empty.csv", "-t", "y"], "empty.csv is empty."),
        (["cut.csv.gz", "-t", "y"], "damaged"),
        (["data.xyz", "-t", "y"], "cannot be inferred from its suffix"),
        (["empty.npz"], "empty.npz is empty."),
        (["empty.arff", "-t", "y"], "empty.arff is empty."),
        (["flipped.csv.gz", "-t", "y"], "damaged"),
        (["labelled.npz", "-t", "y"], "already contains class labels"),
        (["[/x].csv", "-t", "y"], "no file '[/x].csv'"),
    ],
)
def test_errors_are_one_line(arguments, message, here, slfs):
    (here / "broken.parquet").write_bytes(b"PAR1 and then nothing")
    (here / "empty.csv").write_bytes(b"")
    (here / "cut.csv.gz").write_bytes(gzip.compress(b"a,y\n1,2\n" * 1000)[:30])
    (here / "data.xyz").write_bytes(b"?")
    (here / "empty.npz").write_bytes(b"")
    (here / "empty.arff").write_bytes(b"")
    flipped = bytearray(gzip.compress(b"a,y\n1,2\n" * 1000))
    flipped[20] ^= 255
    (here / "flipped.csv.gz").write_bytes(flipped)
    np.savez(here / "labelled.npz", X=np.eye(4), y=np.arange(4) % 2)
    before = sorted(path.name for path in here.iterdir())
    code, out, error = slfs("select", *arguments)
    assert code == 1
    assert message in error
    assert error.startswith("slfs: ")
    assert "Traceback" not in error + out
    assert sorted(path.name for path in here.iterdir()) == before


def test_settings_reach_the_method(here, slfs, table):
    X, y = table.drop(columns=["diagnosis", "ward"]), table["diagnosis"]
    n_selected = (
        SLFS(relevance_weight=1.0, order="relevance", n_features_to_select=4).fit(X, y).n_features_
    )
    settings = ["--set", "relevance_weight=1.0", "--set", "order=relevance", "-k", "4", "--drop", "ward"]
    code, out, _ = slfs("select", "cancer.csv", "-t", "diagnosis", *settings)
    assert code == 0
    assert f"{n_selected} of 30 columns selected" in out
    dropped = (
        SLFS(relevance_weight=1.0, order="relevance", n_features_to_select=4)
        .fit(X, y)
        .explain("mean area")
    )
    code, out, _ = slfs("explain", "mean area", "cancer.csv", "-t", "diagnosis", *settings)
    expected = dropped.replace("(n_features_to_select)", "(--n-features-to-select)") + "\n"
    assert (code, out) == (0, expected), here


def test_semicolons_missing_texts_and_declared_categories(here):
    (here / "odd.csv").write_text("a;b;y\n1;?;p\n2;x;q\n?;x;p\n")
    file = read_file("odd.csv", target="-1", missing=["?"])
    assert file.target == "y"
    assert file.X["a"].isna().tolist() == [False, False, True]
    assert len(file.fingerprint) == 64


def test_quoted_separators_and_decimal_commas(here):
    (here / "odd.csv").write_text('"a,b,c";y\n1,5;p\n2,25;q\n')
    file = read_file("odd.csv", target="y")
    assert file.X["a,b,c"].tolist() == [1.5, 2.25]


def test_column_indices_are_those_of_the_file(here, slfs):
    pd.DataFrame({name: np.arange(9) for name in "abcd"} | {"y": list("ppqqppqqp")}).to_csv("p.csv")
    file = read_file("p.csv", target="y", drop=["0", "2"])
    assert file.names == ["a", "c", "d"]
    assert file.find("3") == file.find("c") == 1
    with pytest.raises(ValueError, match=r"'b' of .* is already used for another option"):
        file.find("b")
    matrix = sparse.csr_array(np.arange(40.0).reshape(10, 4))
    dump_svmlight_file(matrix, np.arange(10) % 2, "p.svm")
    dropped = read_file("p.svm", drop=["x1", "3"])
    assert dropped.X.shape == (10, 4), "the others keep their numbers"
    np.testing.assert_array_equal(dropped.X.toarray()[:, [0, 2]], matrix.toarray()[:, [0, 2]])
    assert not dropped.X.toarray()[:, [1, 3]].any()
    code, out, _ = slfs("discretize", "p.csv", "-t", "y", "--drop", "0", "--drop", "2", "--json")
    assert (code, list(json.loads(out)["n_levels"])) == (0, ["a", "c", "d"]), here


def test_names_that_look_like_numbers_stay_names(here, slfs):
    zone = np.array(["1", "2", "X"])[np.r_[np.zeros(40, int), np.ones(40, int), [2] * 4]]
    frame = pd.DataFrame({"zone": zone, "y": np.where(zone == "1", "yes", "no")})
    frame.to_csv("old.csv", index=False)
    frame[zone != "X"].to_csv("new.csv", index=False)
    assert slfs("fit", "old.csv", "-t", "y", "-o", "m.slfs")[0] == 0
    assert slfs("predict", "m.slfs", "new.csv", "--out", "found.csv")[0] == 0
    assert (pd.read_csv(here / "found.csv")["prediction"] == frame["y"][:80]).all()


def test_markup_in_names_is_text(here, slfs):
    y = np.tile(["p", "q"], 30)
    pd.DataFrame({"[red]x[/] :key:": y == "p", "y": y}).to_csv("odd.csv", index=False)
    code, out, _ = slfs("select", "odd.csv", "-t", "y")
    assert (code, "[red]x[/] :key:" in out) == (0, True), here


def test_compare_notes_methods_that_select_nothing(here, slfs):
    noise = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 5))).add_prefix("x")
    noise.assign(y=np.arange(60) % 2).to_csv("noise.csv", index=False)
    common = ("compare", "noise.csv", "-t", "y", "--classifiers", "NB", "--cv", "2", "-j", "1")
    code, out, _ = slfs(*common, "--methods", "slfs,mrmr", "--own-size")
    assert code == 0
    for method in ("slfs", "mrmr"):
        assert f"\n{method} selects no column in 2 of 2 folds. There, all classifiers predict" in out
    code, out, _ = slfs("compare", "cancer.csv", "-t", "diagnosis", *common[4:], "--methods", "mrmr")
    assert (code, "selects no column" in out) == (0, False), here


def test_compare_says_what_is_wrong(here, slfs):
    (here / "few.csv").write_text("a,y\n" + "1,p\n" * 9 + "2,q\n")
    (here / "missing-label.csv").write_text("a,y\n" + "1,p\n2,q\n" * 9 + "2,\n")
    for name, message in (
        ("few.csv", "--cv 5 is too large: the smallest class ('q') has 1 sample. Remove rare classes."),
        ("missing-label.csv", "missing label"),
    ):
        code, _, error = slfs("compare", name, "-t", "y", "-j", "1")
        assert (code, message in error) == (1, True), error
    code, _, error = slfs("compare", "few.csv", "-t", "y", "--methods", "")
    assert (code, "at least one name" in error) == (1, True)


def test_a_column_by_index_unless_it_has_that_name():
    assert find_column("1", ["a", "b"], "t") == 1
    assert find_column("1", ["1", "b"], "t") == 0
    assert find_column("-1", ["a", "b"], "t") == 1


@pytest.mark.parametrize(
    "command",
    [
        "",
        "select",
        "explain",
        "fit",
        "predict",
        "compare",
        "interactions",
        "discretize",
        "demo",
        "datasets",
        "methods",
    ],
)
def test_every_help_has_an_example_and_fits_a_screen(command, slfs, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = slfs(*filter(None, [command]), "--help")
    assert code == 0
    assert len(out.splitlines()) <= 70
    assert max(map(len, out.splitlines())) <= 80
    assert "..." not in out.partition("Options:")[2], "no description is cut off"
    if command:
        assert f"slfs {command}" in out
        assert "Example:" in out
    else:
        assert "Exit codes" in out


def test_version_and_datasets(slfs):
    assert slfs("--version") == (0, f"slfs {__version__}\n", "")
    code, out, _ = slfs("datasets")
    assert code == 0
    assert "dorothea" in out


@pytest.mark.parametrize("arguments", ["--version", "--help", "select --help", "compare --help"])
def test_start_up_imports_nothing_but_typer(arguments):
    """Timing depends on the machine; the imports that would make it slow do not."""
    script = f"""
import sys, atexit
heavy = "numpy scipy sklearn numba pandas narwhals joblib rich pyarrow matplotlib dask".split()
atexit.register(lambda: print("imported:", *(name for name in heavy if name in sys.modules)))
sys.argv = "slfs {arguments}".split()
from slfs.cli import main
main()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("imported:\n")


@pytest.mark.parametrize("module", ["typer", "slfs.cli.select", "numpy"])
def test_ctrl_c_while_modules_are_imported(module, here):
    script = f"""
import signal, sys
class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Interrupt())
sys.argv = "slfs select cancer.csv -t diagnosis".split()
from slfs.cli import main
main()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (130, ""), here
    assert "Traceback" not in done.stderr


def test_methods_are_those_of_the_registry(slfs):
    code, out, _ = slfs("methods")
    lines = {line.split()[0]: line for line in out.splitlines()}
    assert code == 0
    for name, kind in selectors().items():
        assert kind.__doc__.partition("\n")[0] in lines[name]


@pytest.mark.parametrize(("size", "expected"), [("4", 4), ("0.2", 6)])
def test_a_number_or_a_share_of_columns(size, expected, here, slfs, table):
    code, out, error = slfs(
        "select", "cancer.csv", "-t", "diagnosis", "-m", "mrmr", "--n-features-to-select", size
    )
    assert (code, error) == (0, ""), here
    assert f"{expected} of 31 columns selected" in out
    assert len(table.columns) == 32
    code, _, error = slfs("select", "cancer.csv", "-t", "diagnosis", "-k", "many")
    assert (code, "'many' is not a number" in error) == (2, True)


def test_select_what_is_chosen_in_most_subsamples(here, slfs, table):
    X, y = table.drop(columns="diagnosis"), table["diagnosis"]
    expected = StabilitySelection(n_subsamples=10).fit(X, y)
    common = ("cancer.csv", "-t", "diagnosis", "--stability", "10")
    code, out, error = slfs("select", *common, "--out", "stable.csv")
    assert (code, error) == (0, "")
    assert "10 of 10  " in out
    assert "Threshold: selected in at least 6 of 10 subsamples." in out
    assert str(expected.stability_).capitalize() in out
    assert "0: no better than chance" in out
    merged = nogueira(merged_supports(expected, feature_groups(expected, feature_similarity(X))))
    assert f"If each group of similar columns counts as one column: {merged}." in out
    names = pd.read_csv(here / "stable.csv").columns.tolist()
    assert names == [*expected.get_feature_names_out(), "diagnosis"]
    code, out, _ = slfs("select", *common, "--fdr", "0.3", "--json", "--report", "stable.html")
    facts = json.loads(out)
    assert code == 0
    calibrated = StabilitySelection(n_subsamples=10, fdr=0.3).fit(X, y)
    assert facts["stability"]["threshold"] == calibrated.threshold_
    assert facts["columns"]["frequency"] == calibrated.frequencies_.tolist()
    assert (here / "stable.html").exists()
    code, out, _ = slfs("explain", "ward", *common)
    assert (code, out) == (0, expected.explain("ward") + "\n")
    few = StabilitySelection(SLFS(n_features_to_select=3), n_subsamples=10, n_features_to_select=3).fit(
        X, y
    )
    out = slfs("select", *common, "-k", "3")[1]
    assert f" {few.n_features_} of 31 columns selected" in out
    similar = (
        r"Similar columns: 'worst perimeter' is selected in \d of 10 subsamples, it or 'w.*' in 10\."
    )
    assert re.search(similar, slfs("select", *common, "-k", "3", "--set", "trends=false")[1])
    assert "Similar columns" not in slfs("select", *common, "-k", "3", "--memory-limit", "1GiB")[1]
    code, _, error = slfs("select", "cancer.csv", "-t", "diagnosis", "--fdr", "0.1")
    assert code == 1
    assert "--fdr needs --stability" in error


def test_compare_networks(here, slfs):
    common = ("compare", "cancer.csv", "-t", "diagnosis", "--networks", "--cv", "2")
    code, out, error = slfs(*common, "--out", "folds.csv")
    assert (code, error) == (0, "")
    for words in (
        "SLFS less Chow-Liu",
        "same direction",
        "log P(y|x)",
        "p (McNemar)",
        "repeated 5 times",
    ):
        assert words in out
    rows = pd.read_csv(here / "folds.csv")
    assert len(rows) == 3 * 2 * 5
    code, out, _ = slfs(*common, "--json", "-k", "3")
    found = json.loads(out)
    assert [entry["n_features"] for entry in found["networks"]] == [3, 3, 3]
    code, _, error = slfs(*common, "--plot", "networks.png")
    assert code == 1
    assert "--plot cannot be combined with --networks" in error


def test_compare_prints_json(here, slfs):
    options = ("--methods", "slfs", "--classifiers", "NB", "--cv", "2", "--json", "--out", "rows.csv")
    code, out, _ = slfs("compare", "cancer.csv", "-t", "diagnosis", "-j", "1", *options)
    assert code == 0
    rows = json.loads(out)["rows"]
    written = pd.read_csv(here / "rows.csv")  # older pandas reads floats to 15 digits
    assert [row["accuracy"] for row in rows] == pytest.approx(written["accuracy"].tolist(), rel=1e-14)


def predictors(n=60):
    """Labels, and a column of numbers that tells them."""
    random = np.random.default_rng(0)
    y = random.integers(0, 2, n)
    return y, y * 3 + random.normal(size=n).round(1)


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_array, sparse.coo_array])
@pytest.mark.usefixtures("here")
def test_sparse_files_of_any_format(make, slfs):
    y, _ = predictors()
    X = (np.random.default_rng(1).random((60, 60)) < 0.3) * 1.0
    X[:, [7, 9]] = y[:, None]
    sparse.save_npz("plain.npz", make(X))
    np.testing.assert_array_equal(read_file("plain.npz").X.toarray(), X)
    code, out, _ = slfs("select", "plain.npz", "--target", "x7", "--json")
    assert code == 0
    assert json.loads(out)["classes"] == ["0.0", "1.0"]
    sparse.save_npz("other.npz", sparse.bsr_array(X))
    code, _, err = slfs("select", "other.npz", "--target", "x7")
    assert code == 1
    assert "format 'bsr'; expected csr, csc or coo" in err


def written(path, header, rows, end=""):
    path.write_text("\n".join([header, *(row + end for row in rows)]) + "\n")
    return str(path)


@pytest.mark.parametrize("first", ["random", "counting"])
@pytest.mark.parametrize("end", ["", ",", ",,"])
def test_lines_that_end_with_a_separator(first, end, tmp_path):
    y, x = predictors()
    own = y if first == "random" else np.arange(60)
    rows = [f"{i},{k},{v}" for i, k, v in zip(own, y, x, strict=True)]
    table = read_file(written(tmp_path / "a.csv", "i,t,b", rows, end), target="t")
    np.testing.assert_array_equal(table.y, y)
    np.testing.assert_array_equal(table.X["i"], own)
    np.testing.assert_array_equal(table.X["b"], x)


@pytest.mark.parametrize("last", ["1.5", "NA", ""])
def test_names_of_rows_as_r_writes_them(last, tmp_path):
    y, x = predictors()
    cells = [last] * 59 + ["2.5"]
    rows = [f"row{i},{k},{v},{c}" for i, (k, v, c) in enumerate(zip(y, x, cells, strict=True))]
    table = read_file(written(tmp_path / "r.csv", "t,b,c", rows[::-1]), target="t")
    np.testing.assert_array_equal(table.y, y[::-1])
    np.testing.assert_array_equal(table.X["b"], x[::-1])


def test_decimal_commas_and_whole_numbers(tmp_path):
    y, x = predictors()
    cells = [f"{value:g}".replace(".", ",") for value in x]
    assert any("," not in cell for cell in cells)
    cells[0] = "1,5E-05"
    rows = [f"{cell};{k}" for cell, k in zip(cells, y, strict=True)]
    found = read_file(written(tmp_path / "a.csv", "a;t", rows), target="t").X["a"]
    np.testing.assert_array_equal(found[1:], x[1:])
    assert found[0] == 1.5e-5


def test_three_decimals_after_a_comma(tmp_path):
    """0,072 has no thousands separator, so that 2,000 in other columns has none either."""
    cells = {"rate": ["0,072", "2,000"], "change": ["-0,216", "1,000"], "size": ["2,000", "1,500"]}
    rows = [f"{';'.join(row)};{index}" for index, row in enumerate(zip(*cells.values(), strict=True))]
    X = read_file(written(tmp_path / "a.csv", f"{';'.join(cells)};t", rows), target="t").X
    assert X.to_dict("list") == {"rate": [0.072, 2], "change": [-0.216, 1], "size": [2, 1.5]}


@pytest.mark.filterwarnings("default::UserWarning")
def test_advice_for_quoted_numbers_with_three_decimals(tmp_path, slfs):
    y, x = predictors(200)
    rows = ['"{}",{}'.format(f"{value:.3f}".replace(".", ","), k) for value, k in zip(x, y, strict=True)]
    _, _, error = slfs("select", written(tmp_path / "a.csv", "a,t", rows), "-t", "t")
    assert "convert them to numbers of one unit, written as -1234.5" in error


@pytest.mark.parametrize(
    ("cells", "others", "text"),
    [
        (["1,2", "3,4,5"], ["7", "8"], []),
        (["1", "1,2"], ["1.5", "2.5"], []),
        (["1,234", "12"], ["7", "8"], []),
        (["007", "12,5"], ["7", "8"], ["a"]),
    ],
    ids=["lists", "points elsewhere", "thousands", "known as text"],
)
def test_commas_that_are_no_decimal_ones(cells, others, text, tmp_path):
    rows = [
        f"{cell};{other};{index}" for index, (cell, other) in enumerate(zip(cells, others, strict=True))
    ]
    X = read_file(written(tmp_path / "a.csv", "a;b;t", rows), target="t", text=text).X
    assert X["a"].tolist() == cells
    assert X["b"].tolist() == [float(other) for other in others]


THOUSANDS = {
    "money": ["2.134", "980", "", "1.250.000"],
    "one": ["2.134", "980", "-1.200", "13.000"],
    "whole": ["2.000", "1.000", "3.000", "1.000"],
    "exact": ["1.004,94", "12,50", "3", "1.000.000,5"],
    "date": ["01.02.2020", "03.04.2021", "05.06.2022", "07.08.2023"],
    "rate": ["0,04", "0,1", "1", ",5"],
}


def test_thousands_separators_next_to_decimal_commas(tmp_path):
    """A column such as 2.134 was read as 2.134, and the decimal commas of the others as text."""
    rows = [
        f"{';'.join(cells)};{index}" for index, cells in enumerate(zip(*THOUSANDS.values(), strict=True))
    ]
    file = read_file(written(tmp_path / "a.csv", f"{';'.join(THOUSANDS)};t", rows), target="t")
    X = file.X
    np.testing.assert_array_equal(X["money"], [2134, 980, np.nan, 1250000])
    np.testing.assert_array_equal(X["one"], [2134, 980, -1200, 13000])
    np.testing.assert_array_equal(X["whole"], [2000, 1000, 3000, 1000])
    np.testing.assert_array_equal(X["exact"], [1004.94, 12.5, 3, 1000000.5])
    np.testing.assert_array_equal(X["rate"], [0.04, 0.1, 1, 0.5])
    assert X["date"].tolist() == THOUSANDS["date"]
    (note,) = file.notes
    assert note.columns == ["one", "whole"], "the others cannot have decimal points"
    assert "(2.134 is 2134), because other columns have decimal commas" in note


def test_a_mark_for_missing_values_does_not_hide_decimal_commas(tmp_path):
    rates = ["0,04", "k.A.", "0,1", "-", "0,35"]
    rows = [f"{rate};{index + 1}.134;{index}" for index, rate in enumerate(rates)]
    X = read_file(written(tmp_path / "a.csv", "rate;size;t", rows), target="t").X
    assert X["size"].tolist() == [1134, 2134, 3134, 4134, 5134]
    assert X["rate"].tolist() == ["0.04", "k.A.", "0.1", "-", "0.35"]


@pytest.mark.parametrize("points", [["2.13", "1.5"], ["2.134", "1200"], ["0.134", "0.200"]])
def test_decimal_points_next_to_decimal_commas(points, tmp_path):
    rows = [
        f"{rate};{point};{index}"
        for index, (rate, point) in enumerate(zip(["0,04", "1"], points, strict=True))
    ]
    file = read_file(written(tmp_path / "a.csv", "rate;size;t", rows), target="t")
    assert file.X["rate"].tolist() == ["0,04", "1"]
    assert file.X["size"].tolist() == list(map(float, points))
    (note,) = file.notes
    assert note.startswith("'rate': numbers with commas, such as '0,04', are read as text")
    assert f"'size' has decimal points, such as {points[0]!r}. Use the same" in note


@pytest.mark.filterwarnings("ignore::slfs.UnseenValueWarning")
@pytest.mark.parametrize("n_missing", [0, 20])
def test_one_odd_cell_does_not_change_other_rows(n_missing, here, slfs):
    y, x = predictors(200)
    flag = pd.Series((y == 1) ^ (np.random.default_rng(2).random(200) < 0.1), dtype=object)
    flag[:n_missing] = None
    pd.DataFrame({"f": flag, "g": x, "t": y}).to_csv("a.csv", index=False)
    slfs("fit", "a.csv", "-t", "t", "-o", "a.slfs", "-m", "mrmr", "-k", "2")
    predictions = []
    for odd in ("", "maybe,1\n", "TRUE,1\n"):
        (here / "new.csv").write_text("f,g\nTrue,4\nFalse,1\n" + odd)
        code, out, _ = slfs("predict", "a.slfs", "new.csv", "-p")
        assert code == 0
        predictions.append(out.splitlines()[:3])
    assert predictions[0] == predictions[1] == predictions[2]


@pytest.mark.parametrize(
    "arguments",
    [
        ("fit", "cancer.csv", "-t", "diagnosis", "-o", "cancer.csv"),
        ("fit", "cancer.csv", "-t", "diagnosis", "-o", "a.slfs", "--bif", "./a.slfs"),
        ("select", "cancer.csv", "-t", "diagnosis", "--report", "cancer.csv"),
        ("select", "cancer.csv", "-t", "diagnosis", "--out", "cancer.csv"),
        ("select", "cancer.csv", "-t", "diagnosis", "--out", "a.csv", "--report", "a.csv"),
        ("discretize", "cancer.csv", "-t", "diagnosis", "--out", "cancer.csv"),
        ("compare", "cancer.csv", "-t", "diagnosis", "--out", "../{}/cancer.csv"),
    ],
)
def test_nothing_is_overwritten_by_accident(arguments, here, slfs):
    before = (here / "cancer.csv").read_bytes()
    code, _, err = slfs(*(argument.format(here.name) for argument in arguments))
    assert code == 1
    two = "is used for two outputs and would be overwritten. Use different file names."
    own = "cancer.csv' is the input and would be overwritten. Use another name for the output."
    assert (own if arguments[-1].endswith("cancer.csv") else two) in err
    assert [path.name for path in here.iterdir()] == ["cancer.csv"]
    assert (here / "cancer.csv").read_bytes() == before


def test_a_target_called_self(here, slfs):
    (here / "a.csv").write_text("a,self\n" + "1,x\n2,y\n" * 10)
    for command in ("select", "discretize"):
        code, _, err = slfs(command, "a.csv", "-t", "self", "--out", "b.csv")
        assert code == 0, err
        assert pd.read_csv("b.csv")["self"].tolist() == ["x", "y"] * 10


def test_indices_to_explain_are_those_of_the_file(here, slfs):
    (here / "a.csv").write_text("t,a,b,c\n" + "0,1,2,3\n1,4,5,6\n" * 10)
    for column, name in (("1", "a"), ("b", "b"), ("3", "c")):
        assert slfs("explain", column, "a.csv", "-t", "0")[1].startswith(f"'{name}' is")
    assert slfs("explain", "3", "a.csv", "-t", "t", "--drop", "a")[1].startswith("'c' is")
    code, _, err = slfs("explain", "0", "a.csv", "-t", "t")
    assert code == 1
    assert "'t' of a.csv is the target." in err


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("order", ["slfs", "mrmr"])
def test_explain_warns_about_its_column_only(here, slfs, order):
    random = np.random.default_rng(0)
    y = np.arange(200) % 2
    pd.DataFrame(
        {
            "row": np.arange(200) + 1000 * y,
            "price": [f"{value:.2f} EUR" for value in random.normal(size=200) + y],
            "mark": np.where(y == 1, "3", random.choice(["1", "2", "?"], size=200)),
            "copy": y,
            "day": pd.date_range("2020-01-01", periods=200).strftime("%Y-%m-%d"),
            "y": np.where(y == 1, random.choice(["yes", "YES", "yes "], size=200), "no"),
        }
    ).to_csv(here / "a.csv", index=False)
    said = {
        "row": "row numbers or identifiers: 'row'",
        "price": "'price' (e.g.",
        "mark": "'mark' (all but '?'",
        "copy": "leakage: 'copy'",
        "day": "'day': dates and durations",
    }
    methods = ("-t", "y", "-m", order)
    everything = slfs("select", "a.csv", *methods)[2]
    for column in ("price", "mark", "day"):
        assert said[column] in everything
    for column in said:
        code, out, err = slfs("explain", column, "a.csv", *methods)
        assert code == 0
        assert out.startswith(f"'{column}' is")
        assert "'YES', 'yes', 'yes '" in err, "the target is always mentioned"
        assert (said[column] in err) == (said[column] in everything)
        assert not any(f"'{other}'" in err for other in said if other != column)


def test_infinite_cut_points_are_json(here, slfs):
    (here / "a.csv").write_text("a,t\n" + "inf,1\n-inf,0\n1,0\n" * 20)
    code, out, _ = slfs("discretize", "a.csv", "-t", "t", "--json")
    assert code == 0
    json.loads(out, parse_constant=lambda name: pytest.fail(name))


def test_a_closed_standard_input(slfs, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    code, _, err = slfs("select", "-", "-t", "t")
    assert code == 1
    assert "The standard input is closed" in err


def test_the_column_to_explain_comes_before_the_file(here, slfs):
    code, _, error = slfs("explain", "cancer.csv", "mean radius", "-t", "diagnosis")
    assert (code, "slfs explain 'mean radius' cancer.csv." in error) == (1, True)
    assert here
