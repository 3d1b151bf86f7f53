"""slfs fit, predict and compare with a continuous target: files and errors."""

import io
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes

from slfs import BNSLFSRegressor
from slfs._core.rounding import short_number
from slfs.saving import load

testing = pytest.importorskip("typer.testing")
pytest.importorskip("slfs.cli.commands")


@pytest.fixture
def slfs():
    from slfs.cli.commands import app

    def run(*arguments):
        result = testing.CliRunner().invoke(app, [str(argument) for argument in arguments])
        error = "" if result.exception is None else str(result.exception)
        return result.exit_code, result.stdout, result.stderr + error

    return run


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A file with a quantity that has fractional parts, and one of new samples without it."""
    monkeypatch.chdir(tmp_path)
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    table = X.assign(price=y / 10, kind=np.where(y > 150, "high", "low"))
    table.iloc[:400].drop(columns="kind").to_csv("known.csv", index=False)
    table.iloc[:400].drop(columns="price").to_csv("classes.csv", index=False)
    X.iloc[400:].assign(patient=range(42)).to_csv("new.csv", index=False)
    return tmp_path


@pytest.mark.usefixtures("here")
def test_a_quantity_is_predicted_with_an_interval(slfs):
    code, out, error = slfs("fit", "known.csv", "--target", "price", "--model", "m.slfs")
    assert (code, error) == (0, "")
    assert "Written: m.slfs" in out
    known, new = pd.read_csv("known.csv"), pd.read_csv("new.csv")
    expected = BNSLFSRegressor().fit(known.drop(columns="price"), known["price"])
    assert isinstance(load("m.slfs"), BNSLFSRegressor)
    code, out, error = slfs("predict", "m.slfs", "new.csv", "--id", "patient", "--explain")
    assert (code, error) == (0, "")
    found = pd.read_csv(io.StringIO(out))
    assert list(found)[:4] == ["patient", "prediction", "lower", "upper"]
    X = new[expected.feature_names_in_]
    np.testing.assert_allclose(found["prediction"], expected.predict(X))
    np.testing.assert_allclose(found[["lower", "upper"]], expected.predict_interval(X, 0.9))
    name, level, added = expected.explain_prediction(X.head(1)).reasons(1)[0][0]
    assert found["reason 1"][0] == f"{name}: {level} ({added:+.4g})"
    code, out, error = slfs("predict", "m.slfs", "new.csv", "--json", "--explain", "--coverage", "0.5")
    assert (code, error) == (0, "")
    record = json.loads(out.splitlines()[0])
    assert record["prediction"] == pytest.approx(expected.predict(X)[0])
    assert [record["lower"], record["upper"]] == pytest.approx(expected.predict_interval(X, 0.5)[0])
    assert record["reasons"][0] == {"feature": name, "value": level, "contribution": added}


@pytest.mark.filterwarnings("ignore::slfs.UnseenValueWarning")
@pytest.mark.usefixtures("here")
def test_intervals_are_wider_where_a_value_is_missing(slfs):
    assert slfs("fit", "known.csv", "--target", "price", "--model", "m.slfs")[0] == 0
    new = pd.read_csv("new.csv")
    new.loc[:9, "bmi"] = np.nan
    new.to_csv("missing.csv", index=False)
    widths = []
    for file in ("new.csv", "missing.csv"):
        code, out, _ = slfs("predict", "m.slfs", file)
        assert code == 0
        found = pd.read_csv(io.StringIO(out))
        widths.append(found["upper"] - found["lower"])
    assert widths[1][:10].mean() > widths[0][:10].mean()
    assert (widths[1][10:] == widths[0][10:]).all()


@pytest.mark.usefixtures("here")
def test_fit_says_what_the_target_is(slfs):
    for file, target, about in (
        ("known.csv", "price", {"target_type": "regression"}),
        ("classes.csv", "kind", {"target_type": "classification", "classes": ["high", "low"]}),
    ):
        code, out, _ = slfs("fit", file, "--target", target, "--model", "m.slfs", "--json")
        assert code == 0
        assert about.items() <= json.loads(out).items()


@pytest.mark.usefixtures("here")
def test_options_that_do_not_fit_the_target_are_refused(slfs):
    for option in (["--structure", "linked"], ["--bif", "m.bif"]):
        code, _, error = slfs("fit", "known.csv", "-t", "price", "-o", "m.slfs", *option)
        assert code != 0
        assert f"{option[0]} is for classifiers, but the target is a quantity" in error
    assert slfs("fit", "known.csv", "-t", "price", "-o", "m.slfs")[0] == 0
    assert slfs("fit", "classes.csv", "-t", "kind", "-o", "c.slfs")[0] == 0
    assert "--probabilities is for classifiers" in slfs("predict", "m.slfs", "new.csv", "-p")[2]
    assert "must be between 0 and 1. Got 90" in slfs("predict", "m.slfs", "new.csv", "--coverage", 90)[2]
    with pytest.warns(UserWarning, match="is too large for the number of training samples"):
        slfs("predict", "m.slfs", "new.csv", "--coverage", 0.9999)
    assert "--coverage is for quantities" in slfs("predict", "c.slfs", "new.csv", "--coverage", 0.9)[2]
    for file, target, option, remedy in (
        ("known.csv", "price", "--classifiers", "--regressors"),
        ("classes.csv", "kind", "--regressors", "--classifiers"),
    ):
        code, _, error = slfs("compare", file, "-t", target, option, "3-NN")
        assert code != 0
        assert f"Use {remedy}" in error


@pytest.mark.usefixtures("here")
def test_methods_are_compared_by_r2(slfs):
    options = ["--methods", "slfs,mrmr", "--regressors", "ridge,BNSLFS", "--cv", "2", "-j", "1"]
    code, out, error = slfs(
        "compare", "known.csv", "-t", "price", *options, "--out", "r.csv", "--plot", "r.png"
    )
    assert (code, error) == (0, "")
    assert "R²" in out
    assert "rank correlation: Spearman's" in out
    rows = pd.read_csv("r.csv")
    assert list(rows)[:3] == ["method", "regressor", "fold"]
    assert len(rows) == 2 * 2 * 2
    code, out, _ = slfs("compare", "known.csv", "-t", "price", *options, "--json")
    summary = json.loads(out)["summary"]
    assert (summary[0]["regressor"], summary[0]["method"]) == ("ridge", "slfs")
    means = rows.groupby(["regressor", "method"])["r2"].mean()
    assert summary[0]["r2"] == pytest.approx(means["ridge", "slfs"])


@pytest.mark.usefixtures("here")
def test_money_has_no_exponent(slfs):
    """'s5: > 4.6 (-2.393e+04)' and bins such as 'price > 1.22e+05' are hard to read."""
    known = pd.read_csv("known.csv")
    known.assign(price=known["price"] * 12345.6, bmi=known["bmi"] * 1e5).to_csv("money.csv", index=False)
    code, out, _ = slfs("fit", "money.csv", "--target", "price", "--model", "m.slfs")
    assert code == 0
    code, out, _ = slfs("predict", "m.slfs", "money.csv", "--explain")
    assert code == 0
    reasons = pd.read_csv(io.StringIO(out)).filter(like="reason").stack()
    assert reasons.str.contains(r"^bmi: .*\d{7} \([+-]\d{4,6}\)$").any()
    assert not reasons.str.contains(r"e\+\d").any()
    bins = load("m.slfs").selector_.target_bins_
    low, high = bins["largest"][0], bins["smallest"][1]
    assert low <= float(bins["name"][0].removeprefix("price ≤ ")) < high
    assert not any("e+" in name for name in bins["name"])
    explanation = load("m.slfs").explain_prediction(
        pd.read_csv("money.csv").drop(columns="price").head(1)
    )
    assert "e+" not in str(explanation)
    out = slfs("select", "money.csv", "--target", "price", "--drop", "age")[1]
    assert "a number from 30" in out
    assert "e+" not in out


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.123456, "0.1235"),
        (0.0001, "0.0001"),
        (1955.5, "1956"),
        (9999.9, "10000"),
        (-23934.2, "-23934"),
        (9_999_999.4, "9999999"),
        (1.5e9, "1.5e+09"),
        (1.5e-9, "1.5e-09"),
        (0, "0"),
        (float("inf"), "inf"),
    ],
)
def test_numbers_for_people(value, text):
    assert short_number(value) == text
    assert short_number(abs(value), sign="+") == f"+{text.removeprefix('-')}"


def test_a_few_fractions_are_classes_if_the_option_says_so(slfs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    y = random.choice([0.5, 1.0, 1.5], 300)
    table = pd.DataFrame({"a": y + 0.3 * random.normal(size=300), "b": random.normal(size=300), "y": y})
    table.to_csv("t.csv", index=False)
    declared = ("t.csv", "-t", "y", "--target-type", "classification")
    code, _, error = slfs("fit", *declared, "--model", "m.slfs")
    assert (code, error) == (0, "")
    assert load("m.slfs").classes_.tolist() == ["0.5", "1", "1.5"]
    code, out, _ = slfs("predict", "m.slfs", "t.csv")
    assert (code, (pd.read_csv(io.StringIO(out))["prediction"] == y).mean() > 0.7) == (0, True)
    code, out, error = slfs("select", *declared, "--json")
    found = json.loads(out)
    assert (code, found["selected"], found["classes"]) == (0, ["a"], ["0.5", "1", "1.5"])
    code, out, error = slfs("compare", *declared, "--methods", "mrmr", "--cv", "2")
    assert (code, error) == (0, "")
    assert slfs("select", *declared, "--report", "report.html")[0] == 0
    table.assign(y=np.where(y > 0.5, 1.5, 0.5)).to_csv("two.csv", index=False)
    code, _, error = slfs("select", "two.csv", "-t", "y")
    assert code == 1
    assert error.rstrip().endswith("If they are classes, use --target-type classification.")
    code, _, error = slfs("fit", "t.csv", "-t", "b", "--target-type", "classification", "--model", "m")
    assert (code, "For a classifier, add classes to the file." in error) == (1, True)
