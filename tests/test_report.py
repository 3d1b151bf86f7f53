"""The report of a selection: its facts agree with the selector, and its page is safe."""

import base64
import contextlib
import hashlib
import io
import json
import re
import shlex
import warnings
from collections import Counter
from datetime import datetime
from html.parser import HTMLParser
from importlib import resources
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import StratifiedKFold, cross_val_score

from slfs import (
    BNSLFS,
    FCBF,
    MRMR,
    OSFS,
    SLFS,
    FastOSFS,
    LeakageWarning,
    NaiveBayes,
    ResidualPursuit,
    StabilitySelection,
)
from slfs.evaluation import accuracy as accuracy_module
from slfs.evaluation.accuracy import compare_accuracy
from slfs.report import make_facts, render_html, write_report
from slfs.report.html import measure_accuracy
from slfs.report.words import ROLES
from slfs.saving import load, save
from slfs.screening.reasons import Role
from slfs.selectors._shared.size_path import SizePath
from slfs.selectors._shared.size_sentences import size_sentence

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    '"><img src=x onerror=alert(3)>',
    "{name} & {reason} $style",
    "line\u2028break\u2029and <!-- comment",
]


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return X, y.map({0: "malignant", 1: "benign"}).rename("diagnosis")


@pytest.fixture(scope="module")
def selector(cancer):
    return SLFS().fit(*cancer)


@pytest.fixture(scope="module")
def hostile(cancer):
    """A selector whose columns, classes and target have names that look like code."""
    X, y = cancer
    X = X.iloc[:, : len(HOSTILE)].set_axis(HOSTILE, axis=1)
    return SLFS().fit(X, y.map({"malignant": "</script>", "benign": "<b>"}).rename("<i>class</i>"))


class Elements(HTMLParser):
    """Parsed page: tags with attributes, and the text of each script, style and of the title."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.scripts, self.styles, self.title = [], [], [], ""
        self.open = ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.open = tag
        if tag == "script":
            self.scripts.append("")
        if tag == "style":
            self.styles.append("")

    def handle_endtag(self, _):
        self.open = ""

    def handle_data(self, data):
        if self.open == "script":
            self.scripts[-1] += data
        if self.open == "style":
            self.styles[-1] += data
        if self.open == "title":
            self.title += data


def test_facts_agree_with_the_selector(selector, cancer):
    facts = make_facts(selector, data="cancer", seconds=0.12345678, fingerprint="abc")
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    assert (facts["n_samples"], facts["n_columns"]) == cancer[0].shape
    assert facts["class_counts"] == cancer[1].value_counts()[facts["classes"]].tolist()
    assert [node["name"] for node in facts["nodes"]] == list(selector.network_.names)
    assert [node["parent"] for node in facts["nodes"]] == selector.network_.parents.tolist()
    for node in facts["nodes"]:
        counts = np.array(node["counts"])
        assert counts.shape == (len(node["levels"]), len(facts["classes"]))
        np.testing.assert_array_equal(counts.sum(axis=0), facts["class_counts"])
        assert node["sentence"] == selector.explain(node["name"])
    records, columns = selector.features_, facts["columns"]
    roles = np.array(facts["roles"], object)[columns["role"]]
    np.testing.assert_array_equal(roles, records["role"])
    assert facts["role_counts"] == {role: (roles == role).sum() for role in facts["role_counts"]}
    assert sum(facts["role_counts"].values()) == facts["n_columns"]
    np.testing.assert_allclose(columns["relevance"], records["relevance"], rtol=1e-3, atol=1e-12)
    others = [None if index < 0 else columns["name"][index] for index in columns["other"]]
    assert others == [record["parent"] or record["lost_to"] for record in records]
    assert (facts["seconds"], facts["fingerprint"]) == (0.1235, "abc")
    n_selected = selector.n_features_
    assert facts["summary"].startswith(f"SLFS selects {n_selected} of 30 columns of cancer to predict")
    assert facts["role_words"].keys() == facts["role_counts"].keys()


@pytest.mark.parametrize(
    "method",
    [
        SLFS(),
        SLFS(n_features_to_select=4),
        SLFS(irrelevance="test"),
        SLFS(order="residual"),
        MRMR(n_features_to_select=4),
        FCBF(),
        OSFS(),
        StabilitySelection(n_subsamples=10),
        StabilitySelection(n_subsamples=10, fdr=0.3),
    ],
)
def test_templates_say_what_explain_says(method, cancer):
    method.fit(*cancer)
    facts = make_facts(method)
    entropy = facts["class_entropy"]
    for index, record in enumerate(method.features_):
        words = {
            "name": repr(record["name"]),
            "other": repr(record["parent"] or record["lost_to"]),
            "relevance": f"{record['relevance']:.3g}",
            "relevance_share": f"{record['relevance'] / entropy:.0%}",
            "mutual_information": f"{record['mutual_information']:.3g}",
            "conditional_relevance": f"{record['conditional_relevance']:.3g}",
        }
        template = facts["sentences"][facts["columns"]["sentence"][index]]
        sentence, text = template.format(**words), method.explain(index)
        assert text.startswith(sentence)
        evidence = text.removeprefix(sentence)
        assert ("vidence" in evidence) == (method.support_[index] or record["p_value"] < 1)
        assert bool(evidence) == ("vidence" in evidence)


def test_levels_in_words():
    random = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 400)
    town = np.array(["ham", "spam", None], object)[np.where(random.random(1200) < 0.8, y, 2)]
    size = np.where(random.random(1200) < 0.05, np.nan, y + random.random(1200) / 2)
    kind = y * 10 + random.integers(0, 2, 1200)
    X = pd.DataFrame({"town": town, "size": size, "kind": kind})
    facts = make_facts(MRMR(n_features_to_select=3, categorical_features=["kind"]).fit(X, y))
    nodes = {node["name"]: node for node in facts["nodes"]}
    assert nodes["town"]["levels"] == ["ham", "spam", "missing"]
    assert nodes["kind"]["levels"] == ["0", "1", "10", "11", "20", "21"]
    low, high = nodes["size"]["cuts"]
    low, high = f"{low:.6g}", f"{high:.6g}"
    assert nodes["size"]["levels"] == [f"≤ {low}", f"{low} < x ≤ {high}", f"> {high}", "missing"]
    counts = np.array(nodes["town"]["counts"])
    expected = [[int(((town == name) & (y == c)).sum()) for c in range(3)] for name in ("ham", "spam")]
    np.testing.assert_array_equal(counts[:2], expected)


def test_groups_of_categories_are_counted_in_words():
    X = pd.DataFrame({"many": [f"v{index % 200}" for index in range(1200)]})
    (node,) = make_facts(MRMR(n_features_to_select=1).fit(X, np.arange(1200) % 2))["nodes"]
    assert node["levels"] == ["v0, v10, v100, +97 others", "v1, v101, v103, +97 others"]
    assert node["counts"] == [[600, 0], [0, 600]]


def test_close_cut_points_have_different_names():
    y = np.repeat([0, 1, 2], 50)
    X = (1000.0 + y * 1e-5 + np.tile(np.arange(50), 3) * 1e-8)[:, np.newaxis]
    (node,) = make_facts(SLFS().fit(X, y))["nodes"]
    assert len(set(node["levels"])) == 3
    assert node["levels"][0] != f"≤ {node['levels'][2][2:]}"


ROWS = np.arange(800)


@pytest.mark.parametrize(
    "x",
    [
        6_016_000_000 + ROWS % 40,
        20_240_101 + ROWS % 30,
        1_700_000_000_000 + ROWS // 2 * 3607,
        2.5e10 + ROWS / 8,
        -6_016_000 - ROWS % 40,
        np.where(ROWS % 3, 6e9, 1e9) + ROWS,
        1 + ROWS * 1e-9,
        np.where(ROWS < 400, 0.17763019800, 0.1776302 + ROWS * 1e-3),
        np.float32(0.1) * (ROWS // 3),
    ],
)
def test_cut_points_in_names_separate_the_same_rows(x):
    """The cut 6016000013.5 was shown as 6.016e+09, beside counts of other rows."""
    (node,) = make_facts(SLFS().fit(x[:, np.newaxis], x > np.median(x)))["nodes"]
    assert (x <= float(node["levels"][0].removeprefix("≤ "))).sum() == np.sum(node["counts"][0])


@pytest.mark.parametrize(
    ("method", "kept"),
    [
        (SLFS(n_features_to_select=1), "1 of 13"),
        (MRMR(n_features_to_select=5), "5 of 13"),
        (FastOSFS(), "of 13"),
        (FCBF(), "of 13"),
    ],
)
def test_other_shapes_of_selection(method, kept):
    X, y = load_wine(return_X_y=True)
    facts = make_facts(method.fit(X, y))
    assert f"selects {kept}" in facts["summary"] or kept == "of 13"
    assert facts["depth"] == 1
    assert all(node["parent"] == -1 for node in facts["nodes"])
    assert facts["data"] == ""
    assert "Selected features" in Elements(render_html(facts)).title


def test_nothing_selected():
    random = np.random.default_rng(0)
    method = SLFS().fit(random.normal(size=(100, 5)), random.integers(0, 2, 100))
    facts = make_facts(method, data="noise")
    assert facts["nodes"] == []
    assert facts["summary"].startswith("SLFS selects none of the 5 columns of noise")
    assert facts["role_counts"] == {"irrelevant": 5}
    render_html(facts)


def test_only_fitted_selectors_have_facts():
    with pytest.raises(TypeError, match="Got NaiveBayes instead"):
        make_facts(NaiveBayes())
    with pytest.raises(NotFittedError):
        make_facts(SLFS())


def test_hostile_names_stay_text(hostile):
    facts = make_facts(hostile, data="</title><script>alert(4)</script> \ud800")
    page = render_html(facts)
    page.encode("utf-8")
    elements = Elements(page)
    assert [tag for tag, _ in elements.tags].count("script") == 2
    assert not {"img", "b", "i"} & {tag for tag, _ in elements.tags}
    assert elements.title.startswith("</title><script>alert(4)</script> ?: ")
    assert json.loads(elements.scripts[0]) == facts
    assert not re.search("[<>&\u2028\u2029]", elements.scripts[0])
    assert facts["columns"]["name"] == HOSTILE


def test_page_asks_the_network_for_nothing(selector):
    page = render_html(make_facts(selector))
    elements = Elements(page)
    targets = [
        value
        for _, attributes in elements.tags
        for name, value in attributes.items()
        if name in ("src", "href", "action", "srcset", "data")
    ]
    assert targets
    assert all(target.startswith("#") for target in targets)
    assert not re.search(r"https?://|@import|url\(", page)
    (policy,) = [
        attributes["content"]
        for tag, attributes in elements.tags
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for text in (elements.scripts[1], elements.styles[0]):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy


def test_scripts_put_text_in_place_as_text():
    for file in resources.files("slfs.report").iterdir():
        if file.name.endswith(".js"):
            assert not re.search(
                "innerHTML|outerHTML|insertAdjacent|document.write|eval|fetch|XMLHttp", file.read_text()
            ), file.name


def test_same_facts_same_page(cancer, selector):
    facts = make_facts(selector)
    again = {**make_facts(SLFS().fit(*cancer)), "created": facts["created"]}
    assert render_html(facts) == render_html(again)
    assert render_html(facts) == render_html(json.loads(json.dumps(facts)))


def test_a_report_from_a_fitted_selector(cancer, selector, tmp_path):
    path = tmp_path / "new" / "report.html"
    about = {"data": "cancer", "seconds": 0.5, "command": "slfs select cancer.csv"}
    write_report(selector, path, **about)
    facts = make_facts(selector, **about)
    page = path.read_text(encoding="utf-8")
    facts["created"] = json.loads(Elements(page).scripts[0])["created"]
    assert page == render_html(facts)
    write_report(selector, str(path), X=cancer[0], y=cancer[1])
    shown = json.loads(Elements(path.read_text(encoding="utf-8")).scripts[0])
    assert shown["accuracy"] == compare_accuracy(selector, *cancer)
    with pytest.raises(ValueError, match="both X and y"):
        write_report(selector, path, X=cancer[0])
    with pytest.raises(NotFittedError):
        write_report(SLFS(), path)
    with pytest.raises(TypeError, match="Got dict instead"):
        write_report(facts, path)
    assert json.loads(Elements(path.read_text(encoding="utf-8")).scripts[0]) == shown
    assert list(path.parent.iterdir()) == [path], "a failing report leaves the old one"


def test_facts_of_a_stability_selection(cancer):
    stable = StabilitySelection(n_subsamples=10).fit(*cancer)
    facts = make_facts(stable)
    assert facts["columns"]["frequency"] == stable.frequencies_.tolist()
    assert facts["stability"]["value"] == pytest.approx(stable.stability_.value, rel=1e-3)
    assert (facts["stability"]["threshold"], facts["stability"]["n_subsamples"]) == (0.6, 10)
    assert facts["nodes"][0]["frequency"] == "10 of 10"
    assert make_facts(SLFS().fit(*cancer))["stability"] is None


@pytest.fixture(scope="module")
def pursuit(cancer):
    return SLFS(order="residual").fit(*cancer)


def test_facts_of_an_automatic_size(cancer, pursuit):
    path, facts = pursuit.size_path_, make_facts(pursuit)
    found = facts["size_path"]
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    assert found["n_features"] == list(range(len(found["log_loss"])))
    np.testing.assert_allclose(found["log_loss"], path.log_loss, rtol=1e-3)
    np.testing.assert_allclose(found["standard_error"], path.standard_error, rtol=1e-3)
    assert (found["best"], found["size"], found["cv"]) == (path.best, path.best, pursuit.cv)
    assert found["sentence"].startswith(f"{path.best} columns are the fewest whose cross-validated log")
    assert f"{path.within_one_standard_error} columns are the fewest within" in found["sentence"]
    fewer = make_facts(ResidualPursuit(one_standard_error=True).fit(*cancer))["size_path"]
    assert fewer["size"] == fewer["within_one_standard_error"] == path.within_one_standard_error
    assert fewer["sentence"].startswith(f"{fewer['size']} columns are the fewest whose")
    for fixed in (ResidualPursuit(2), SLFS(order="conditional"), MRMR(2)):
        assert make_facts(fixed.fit(*cancer))["size_path"] is None


def test_facts_of_what_each_column_added(pursuit, cancer):
    nodes = make_facts(pursuit)["nodes"]
    assert [node["joined"] for node in nodes] == list(range(1, len(nodes) + 1))
    assert all(one["log_loss"] == two["log_loss_before"] for one, two in pairwise(nodes))
    y = cancer[1]
    entropy = -np.log(y.value_counts(normalize=True)[y]).mean()
    assert nodes[0]["log_loss_before"] == pytest.approx(entropy, rel=1e-3)
    figures = [pursuit._figures[node["column"]] for node in nodes]
    losses = [node["log_loss"] for node in nodes]
    np.testing.assert_allclose(losses, [own["log_loss"] for own in figures], rtol=1e-3)
    (node,) = make_facts(MRMR(1).fit(*cancer))["nodes"]
    assert (node["joined"], node["log_loss_before"], node["log_loss"]) == (None, None, None)


def path_of(*losses):
    n_sizes = len(losses)
    return SizePath(np.arange(n_sizes), np.array(losses), np.full(n_sizes, 0.01))


def test_the_number_of_columns_in_words(cancer):
    def words(path, size, n_selected):
        return size_sentence(path, size, n_selected, full=True)

    assert words(path_of(0.6, 0.2, 0.3), 1, 1) == (
        "1 column has the smallest cross-validated log loss of 0 to 2 columns: 0.2 nats (standard error "
        "0.01), compared with 0.6 without columns."
    )
    flat = path_of(0.6, 0.205, 0.2)
    found = words(flat, 2, 1)
    assert found.startswith("2 columns have the smallest")
    assert (
        "1 column is the fewest within one standard error of the smallest. Only 1 could be selected: "
        in found
    )
    assert found.endswith("the tree is full (max_depth, max_children).")
    found = words(flat, 1, 1)
    assert found.startswith("1 column is the fewest whose cross-validated log loss, 0.205 nats, is with")
    assert found.endswith(
        "0.2 nats with 2 columns (standard error 0.01), compared with 0.6 without columns."
    )
    found = words(path_of(0.6, 0.209, 0.2004, 0.2), 1, 1)  # the log losses of 2 and 3 nearly agree
    assert (
        "within one standard error of the smallest of 0 to 3 columns: 0.2 nats with 3 columns" in found
    )
    assert found.endswith("(standard error 0.01), compared with 0.6 without columns.")
    assert words(path_of(0.6, 0.7), 0, 0).startswith("1 column does not have a smaller")
    assert words(path_of(0.6, 0.7), 0, 1).endswith("A column is selected because it is significant.")
    found = words(path_of(0.205, 0.2), 0, 1)
    assert (
        "smallest of 0 to 1 columns: 0.2 nats with 1 column (standard error 0.01), compared with 0.205"
        in found
    )
    assert found.endswith("without columns. A column is selected because it is significant.")
    assert not words(path_of(0.205, 0.2), 0, 0).endswith("significant.")
    assert words(path_of(0.6), 0, 0).startswith("There is no column to try")
    assert words(path_of(0.6), 0, 1).endswith("A column is selected because it is significant.")
    assert words(path_of(0.0), 0, 0).startswith("No class has two samples")
    limited = make_facts(ResidualPursuit(max_features=2).fit(*cancer))["size_path"]
    assert limited["sentence"].endswith(" More were not tried: see max_features=2.")


def test_other_columns_if_one_is_selected_because_it_is_significant():
    random = np.random.default_rng(8)
    X = pd.DataFrame(random.normal(size=(150, 6)), columns=list("abcdef"))
    effect = 0.35 * X["a"] + 0.35 * X["b"] + 0.3 * X["c"]
    selector = SLFS(one_standard_error=True, trends=False).fit(X, effect + random.normal(size=150) > 0)
    path = selector.size_path_
    assert (path.within_one_standard_error, path.best, selector.n_features_) == (0, 1, 1)
    told = selector.explain("b")
    assert "and no number of columns lowers the cross-validated log loss by more than one" in told
    assert "; the one that is selected is significant" in told
    assert selector._size_sentence().endswith("A column is selected because it is significant.")


@pytest.mark.parametrize("selector", [SLFS(trends=False), ResidualPursuit(trends=False)])
def test_the_column_that_is_selected_because_it_is_significant_is_significant(selector):
    random = np.random.default_rng(19)
    y = random.integers(0, 2, 100)
    X = random.normal(size=(100, 300))
    X[:, 0] += y
    selector.set_params(cv=3).fit(X, y)
    q_value = selector.features_["q_value"]
    first = ResidualPursuit(n_features_to_select=1, trends=False).fit(X, y).indices_[0]
    assert q_value[first] > 0.05  # the one with the largest gain is not significant
    assert selector.size_path_.best == 0
    assert selector.indices_.tolist() == [0]
    assert q_value[0] < 0.05
    assert selector._size_sentence().endswith("A column is selected because it is significant.")


def test_a_significant_column_that_no_fold_has_tried():
    random = np.random.default_rng(18)
    x = random.integers(0, 6, 50)
    y = np.where(random.random(50) < 0.5, x, random.integers(0, 6, 50))
    facts = make_facts(SLFS().fit(pd.DataFrame({"x": x.astype(str)}), y))
    path = facts["size_path"]
    assert (path["n_features"], path["best"], path["size"], facts["n_selected"]) == ([0], 0, 1, 1)
    assert path["sentence"].startswith("In the folds of the cross-validation no column passes")
    assert path["sentence"].endswith("A column is selected because it is significant.")


@pytest.mark.parametrize(
    ("n", "seed", "n_tried", "words"), [(36, 11, 0, "no column"), (60, 5, 1, "no more columns")]
)
def test_columns_that_no_fold_has_tried_are_not_said_to_lower_the_log_loss(n, seed, n_tried, words):
    random = np.random.default_rng(seed)
    y = random.integers(0, 6, n)
    columns = {k: np.where(random.random(n) < 0.5, y, random.integers(0, 6, n)) for k in "ab"}
    selector = SLFS().fit(pd.DataFrame(columns).astype(str), y)
    assert (selector.size_path_.n_features[-1], selector.n_features_) == (n_tried, 1)
    told = selector.explain(int(np.flatnonzero(~selector.support_)[0]))
    expected = f"1 other column was preferred, and the folds of the cross-validation had {words} to try"
    assert expected in told


def test_the_sentence_about_dropped_columns_counts_all_of_them(selector):
    facts = make_facts(selector)
    dropped = selector.features_["role"][~selector.support_]
    counted = re.findall(r"(\d+) ([\w ,-]+?) \(", facts["dropped"])
    assert {role: int(count) for count, role in counted} == dict(Counter(dropped.tolist()))
    everything = MRMR(n_features_to_select=4).fit(*load_iris(return_X_y=True))
    assert make_facts(everything)["dropped"] == ""


def test_every_role_has_words_and_a_colour():
    assert ROLES.keys() >= set(map(str, Role))
    style = resources.files("slfs.report").joinpath("parts.css").read_text(encoding="utf-8")
    for words in ROLES.values():
        assert f"\n.{words.tone} {{ --tone: " in style
        assert words.meaning


def test_a_role_without_words_is_shown_by_its_name(cancer):
    method = SLFS().fit(*cancer)
    method.features_["role"][~method.support_] = "unheard-of"
    facts = make_facts(method)
    assert facts["role_words"]["unheard-of"] == {"tone": "grey", "meaning": ""}
    n_dropped = 30 - method.n_features_
    assert facts["role_counts"]["unheard-of"] == n_dropped
    assert facts["dropped"] == f"Not selected: {n_dropped} unheard-of."


def test_leaks_and_duplicates_are_in_the_facts(cancer):
    X, y = cancer
    facts = make_facts(SLFS().fit(X, y))
    assert (facts["leaks"], facts["warnings"], facts["duplicates"]) == ([], [], [])
    with pytest.warns(LeakageWarning):
        method = SLFS().fit(X.assign(copy=X["mean area"], outcome=y), y)
    facts = make_facts(method)
    assert facts["leaks"] == ["outcome"]
    (warning,) = facts["warnings"]
    assert warning.startswith(
        "Possible target leakage: 'outcome' alone contains 100% of the information"
    )
    assert facts["duplicates"] == [["mean area", "copy"]]


def test_the_code_of_a_report_repeats_the_selection(cancer):
    X, y = cancer
    method = StabilitySelection(MRMR(n_features_to_select=3), n_subsamples=10).fit(X, y)
    facts = make_facts(method)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(facts["code"], {"X": X, "y": y})
    assert printed.getvalue() == f"{method.get_feature_names_out()}\n"
    assert datetime.strptime(facts["created"], "%Y-%m-%d %H:%M UTC").year >= 2026


def test_the_report_of_the_command_line_contains_the_command(cancer, tmp_path, monkeypatch):
    testing = pytest.importorskip("typer.testing")
    from slfs.cli.commands import app

    X, y = cancer
    X.assign(diagnosis=y).to_csv(tmp_path / "the data.csv", index=False)
    monkeypatch.chdir(tmp_path)
    arguments = ["select", "the data.csv", "--target", "diagnosis", "--report", "report.html"]
    monkeypatch.setattr("sys.argv", ["/usr/bin/slfs", *arguments])
    assert testing.CliRunner().invoke(app, arguments).exit_code == 0
    facts = json.loads(Elements((tmp_path / "report.html").read_text(encoding="utf-8")).scripts[0])
    assert shlex.split(facts["command"]) == ["slfs", *arguments]


def test_names_can_be_read_without_javascript(selector):
    (names,) = re.findall(
        r"<noscript>.*?Selected columns: (.*?)\.</p>", render_html(make_facts(selector))
    )
    assert set(names.split(", ")) == set(selector.get_feature_names_out())


def test_relevance_as_a_share_of_the_class_entropy():
    X = pd.DataFrame({"copy": [0, 1] * 50, "noise": [0, 0, 1, 1] * 25})
    facts = make_facts(MRMR(n_features_to_select=1).fit(X, X["copy"]))
    assert facts["class_entropy"] == pytest.approx(np.log(2), abs=1e-4)
    assert facts["columns"]["relevance_share"] == [1, 0]


@pytest.mark.slow
def test_a_hundred_thousand_columns_fit_in_15_megabytes(wide):
    facts = make_facts(wide)
    assert len(facts["columns"]["name"]) == 100_000
    assert facts["n_selected"] > 10
    assert len(render_html(facts).encode()) < 15e6


@pytest.fixture(scope="module")
def wide():
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 300)
    noise = sparse.random(300, 99_960, density=0.01, format="csc", random_state=0)
    signal = sparse.csc_matrix((random.random((300, 40)) < 0.1 + 0.5 * y[:, np.newaxis]).astype(float))
    return SLFS().fit(sparse.hstack([noise, signal], format="csc"), y)


def test_accuracy_is_that_of_cross_validation(cancer):
    X, y = cancer
    result = compare_accuracy(SLFS(), X, y)
    splitter = StratifiedKFold(5, shuffle=True, random_state=0)
    for model, name in [(NaiveBayes(), "naive Bayes, all columns"), (BNSLFS(SLFS()), "BNSLFS")]:
        scores = cross_val_score(model, X, y, cv=splitter)
        (found,) = [entry for entry in result["models"] if entry["name"] == name]
        assert found["mean"] == pytest.approx(scores.mean())
        assert found["std"] == pytest.approx(scores.std())
    assert result["majority"] == pytest.approx((y == "benign").mean())
    assert result["models"][0]["n_features"] == [30] * 5
    assert all(0 < count < 30 for count in result["models"][1]["n_features"])


@pytest.mark.parametrize(
    "make", [lambda X: X.to_numpy(), pl.from_pandas, lambda X: X.to_numpy().tolist()]
)
def test_accuracy_takes_any_table(cancer, make):
    X, y = cancer
    X = X.iloc[:, :12]
    assert compare_accuracy(SLFS(), make(X), y.to_numpy()) == compare_accuracy(SLFS(), X, y)


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csc_array, sparse.coo_matrix])
def test_accuracy_of_sparse_tables(make):
    random = np.random.default_rng(0)
    y = random.integers(0, 3, 120)
    X = ((random.random((120, 20)) < 0.15) | (y[:, np.newaxis] == np.arange(20) % 7)).astype(float)
    assert compare_accuracy(SLFS(), make(X), y) == compare_accuracy(SLFS(), X, y)


def test_categorical_columns_are_categorical_in_every_model():
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 300)
    code = random.permutation(20)[random.integers(0, 10, 300) * 2 + y].astype(float)
    X = pd.DataFrame({"noise": random.normal(size=300), "code": code})
    result = compare_accuracy(SLFS(categorical_features=["code"]), X, y)
    assert [model["mean"] for model in result["models"]] == [1.0, 1.0, 1.0]


def test_accuracy_with_small_classes():
    X, y = load_iris(return_X_y=True)
    few = np.r_[0:50, 50:100, 100:103]
    assert compare_accuracy(SLFS(), X[few], y[few])["n_splits"] == 3
    single = compare_accuracy(SLFS(), X[:101], y[:101])
    assert single["models"] == []
    assert "class '2' has only one sample" in single["reason"]
    with pytest.raises(ValueError, match="Got 1 instead"):
        compare_accuracy(SLFS(), X, y, cv=1)


def test_accuracy_without_features_is_that_of_guessing():
    result = compare_accuracy(SLFS(), np.ones((100, 3)), np.repeat([0, 1], [70, 30]))
    assert result["models"][1]["n_features"] == [0] * 5
    assert [model["mean"] for model in result["models"][1:]] == pytest.approx([0.7, 0.7])


def test_accuracy_of_all_columns_is_left_out_of_wide_tables(cancer, monkeypatch):
    monkeypatch.setattr(accuracy_module, "MAX_COLUMNS", 29)
    everything, selected, network = compare_accuracy(SLFS(), *cancer)["models"]
    assert everything["mean"] is None
    assert "more than 29 columns" in everything["reason"]
    assert selected["mean"] > 0.9
    assert network["mean"] > 0.9


def test_accuracies_are_those_of_the_fitted_table(tmp_path):
    X, y = load_iris(return_X_y=True, as_frame=True)
    selector = SLFS().fit(X, y)
    with pytest.raises(ValueError, match="fitted to 150 rows, y has 40"):
        write_report(selector, tmp_path / "r.html", X=X[:40], y=y[:40])
    with pytest.raises(ValueError, match="feature names"):
        write_report(selector, tmp_path / "r.html", X=X.iloc[:, :2], y=y)
    assert not list(tmp_path.iterdir())


def test_a_report_of_a_selection_with_weights_of_zero(tmp_path):
    """The table was refused, because it has more rows than those with a weight."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    selector = SLFS().fit(X, y, sample_weight=(np.arange(150) % 4 > 0).astype(int))
    write_report(selector, tmp_path / "r.html", X=X, y=y)
    assert (tmp_path / "r.html").exists()


@pytest.mark.filterwarnings("ignore:p-values and q-values treat the 150 rows of 30 groups")
@pytest.mark.parametrize("given", ["sample_weight", "groups"])
def test_weights_and_groups_of_rows(given, tmp_path):
    X, y = load_iris(return_X_y=True, as_frame=True)
    selector = SLFS().fit(X, y, **{given: np.arange(150) % (30 if given == "groups" else 6) + 1})
    save(selector, tmp_path / "s.slfs")
    for one in (selector, load(tmp_path / "s.slfs")):
        assert f"selector.fit(X, y, {given}={given})" in make_facts(one)["code"]
        accuracy = measure_accuracy(one, X, y)
        assert accuracy["models"] == []
        assert f"The rows have {given.replace('sample_weight', 'weights')}, which" in accuracy["reason"]
    assert "selector.fit(X, y)" in make_facts(selector.fit(X, y))["code"]
    assert measure_accuracy(selector, X, y)["models"]


def test_the_log_losses_in_words_are_in_their_order():
    for seed in range(6):
        random = np.random.default_rng(seed)
        loss = 1.5 + 0.004 * random.random(9)
        loss[0] = 1.8
        path = SizePath(np.arange(9), loss, np.full(9, 0.01))
        size = path.within_one_standard_error
        told = size_sentence(path, size, size, full=False)
        shown = [float(text) for text in re.findall(r"(\d\.\d+) nats", told)]
        if size == path.best:
            continue
        assert shown[0] >= max(shown[1:])
        assert (shown[0] > shown[1]) == (loss[path.at(size)] > loss[path.at(path.best)])


@pytest.mark.parametrize("given", [{"feature_groups": True}, {"include": ["g7_1"]}])
def test_columns_that_the_user_brings_in_do_not_pass_by_chance(given):
    random = np.random.default_rng(0)
    y = np.repeat(["case", "control"], 50)
    names = [f"g{i // 3}_{i % 3}" for i in range(150)]
    X = pd.DataFrame(random.normal(size=(100, 150)), columns=names)
    X["g0_0"] += 2 * (y == "case")
    X["g1_0"] += 2 * (y == "case")
    if "feature_groups" in given:
        given = {"feature_groups": [name.split("_")[0] for name in names]}
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="Tentative")
        selector = SLFS(n_features_to_select=6 if "feature_groups" in given else 3, **given).fit(X, y)
    unproven = "tentative" if "feature_groups" in given else "included"
    assert (selector.features_["role"] == unproven).any()
