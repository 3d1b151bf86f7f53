"""What is suggested if no column is selected, or fewer than asked for: the tests follow each remedy."""

import re
import shlex
import warnings

import numpy as np
import pandas as pd
import pytest

from slfs import MRMR, SLFS, StabilitySelection
from slfs._core.interface import command_line, parameter, renamed
from slfs._core.threads import Threads
from slfs.selectors import selectors

RANDOM = np.random.default_rng(0)
X = RANDOM.integers(0, 3, (500, 50)).astype(float)
Y = 0.3 * X[:, 0] + RANDOM.normal(size=500)
"""Depends on the first column, in which MDLP finds no cut point."""


def _follow(text, selector):
    """Return a selector with the columns that a warning suggests to include."""
    found = re.search(
        r"(set|use SLFS with) include=(numpy\.argsort\(selector\.pvalues_\)\[:\d+\])\.", text
    )
    assert found, text
    columns = eval(found[2], {"numpy": np, "selector": selector})
    return selector.set_params(include=columns) if found[1] == "set" else SLFS(include=columns)


@pytest.mark.parametrize("size", ["auto", 5])
@pytest.mark.parametrize("method", sorted(selectors()))
def test_significant_columns_that_are_not_cut_can_be_included(method, size):
    selector = selectors()[method](n_features_to_select=size)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        selector.fit(X, Y)
    if selector.n_features_:
        return
    (text,) = [str(one.message) for one in told]
    assert "1 column depends significantly on the target" in text
    assert _follow(text, selector).fit(X, Y).indices_.tolist() == [0]


def test_most_methods_need_that_advice():
    with pytest.warns(UserWarning, match=r"set include=numpy"):
        MRMR(n_features_to_select=5).fit(X, Y)


@pytest.mark.parametrize("wanted", [1, 3, "auto"])
def test_no_more_columns_are_suggested_than_were_asked_for(wanted):
    y = 0.25 * X[:, :6].sum(axis=1) + np.random.default_rng(2).normal(size=500)
    selector = MRMR(n_features_to_select=wanted)
    with pytest.warns(UserWarning, match="selected 0 of") as told:
        selector.fit(X, y)
    n_significant = int((selector.qvalues_ <= 0.05).sum())
    assert n_significant > 3
    followed = _follow(str(told[0].message), selector).fit(X, y)
    assert followed.n_features_ == min(n_significant, 10 if wanted == "auto" else wanted)
    assert (selector.qvalues_[followed.indices_] <= 0.05).all()


def test_a_tree_has_room_for_all_that_is_suggested():
    many = np.random.default_rng(1).integers(0, 3, (500, 40)).astype(float)
    y = 0.15 * many.sum(axis=1) + np.random.default_rng(3).normal(size=500)
    selector = SLFS()
    with pytest.warns(UserWarning, match="with the smallest p-values regardless") as told:
        selector.fit(many, y)
    assert _follow(str(told[0].message), selector).fit(many, y).n_features_ == 10


def test_subsamples_that_never_select_a_significant_column():
    selector = StabilitySelection(MRMR(n_features_to_select=5), n_subsamples=10)
    with pytest.warns(UserWarning, match="use SLFS with include") as told:
        selector.fit(X, Y)
    assert _follow(str(told[0].message), selector).fit(X, Y).indices_.tolist() == [0]


@pytest.fixture
def weak(tmp_path, monkeypatch):
    """A file in which MDLP cuts no column, although two are significant."""
    monkeypatch.chdir(tmp_path)
    names = ["a gene, mutated", "b", *(f"noise{column}" for column in range(48))]
    y = 0.3 * X[:, 0] + 0.3 * X[:, 1] + np.random.default_rng(5).normal(size=500)
    pd.DataFrame(X, columns=names).assign(y=y).to_csv("weak.csv", index=False)
    return ["select", "weak.csv", "-t", "y"]


@pytest.mark.filterwarnings("ignore:.* selected 0 of")
@pytest.mark.parametrize(
    "options",
    [
        *("", "-m mrmr -k 5", "-m mrmr -k 1", "-m saola", "-m fast-osfs", "-m jmi", "--stability 6"),
        *("--stability 6 --fdr 0.1", "--stability 6 --threshold 0.9"),
    ],
)
def test_the_command_names_columns_to_include(weak, slfs, options):
    code, _, error = slfs(*weak, *shlex.split(options))
    assert code == 3
    assert "--method mrmr" not in error
    advice = re.search(
        r"regardless with ((?:--method slfs )?--include .*?)( .without --stability[^)]*.)?\.$",
        error,
        re.MULTILINE,
    )
    kept = options.partition("--stability")[0] if advice[2] else options
    code, out, error = slfs(*weak, *shlex.split(kept), *shlex.split(advice[1]))
    assert code == 0, error
    assert f"{1 if options.endswith('-k 1') else 2} of 50 columns selected" in out


@pytest.mark.filterwarnings("ignore:.* selected 0 of", "ignore:Tentative")
def test_the_command_names_a_sufficient_fdr(weak, slfs):
    frame = pd.read_csv("weak.csv")
    frame["c"] = 0.3 * frame["y"] + np.random.default_rng(6).normal(size=500) * 0.5
    frame.to_csv("weak.csv", index=False)
    strict = ["--set", "irrelevance=test", "--set", "fdr=1e-99"]
    code, _, error = slfs(*weak, *strict)
    assert code == 3
    remedy = re.search(r"with (--set fdr=\S+ -k 5);", error)[1]
    code, out, _ = slfs(*weak, *strict[:2], *remedy.split())
    assert (code, "1 of 51 columns selected" in out) == (0, True)


@pytest.mark.filterwarnings("ignore:.* selected 0 of", "ignore:Tentative")
def test_a_ranking_is_suggested_where_it_selects_columns(tmp_path, monkeypatch, slfs):
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    letters = pd.DataFrame(random.choice(list("uvw"), (80, 5)), columns=list("abcde"))
    numbers = pd.DataFrame(random.normal(size=(80, 5)), columns=list("fghij"))
    y = np.arange(80) % 2
    for frame, n_levels in ((letters, 5), (numbers, 0), (letters[["a", "b", "c"]].join(numbers), 3)):
        frame.assign(y=y).to_csv("noise.csv", index=False)
        code, _, error = slfs("select", "noise.csv", "-t", "y")
        remedy = (
            f"rank the {n_levels} columns that have levels regardless with --method mrmr -k {n_levels}"
        )
        assert (code, "--method mrmr" in error, remedy in error) == (3, n_levels > 0, n_levels > 0)
        number = str(n_levels or 5)
        code, out, error = slfs("select", "noise.csv", "-t", "y", "--method", "mrmr", "-k", number)
        assert (code, f"{n_levels} of {frame.shape[1]} columns selected" in out) == (
            0 if n_levels else 3,
            True,
        )
        assert "--method mrmr" not in error


@pytest.mark.filterwarnings("ignore:.* selected 0 of", "ignore:Tentative")
@pytest.mark.parametrize("options", [[], ["--method", "mrmr"], ["--stability", "6"]])
def test_the_command_names_the_method_that_finds_pairs(tmp_path, monkeypatch, slfs, options):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(np.random.default_rng(1).normal(size=(400, 6)), columns=list("abcdef"))
    frame.assign(y=(frame["a"] > 0) ^ (frame["b"] > 0)).to_csv("xor.csv", index=False)
    code, _, error = slfs("select", "xor.csv", "-t", "y", *options)
    without = " (without --stability)" if "--stability" in options else ""
    assert (code, f"use --method interactions{without} to find columns" in error) == (3, True)
    code, out, _ = slfs("select", "xor.csv", "-t", "y", "--method", "interactions")
    assert (code, "'a' and 'b' (FDR < 0.01%)" in out) == (0, True)
    frame.assign(y=np.arange(400) % 2).to_csv("noise.csv", index=False)
    code, _, error = slfs("select", "noise.csv", "-t", "y", "--method", "interactions")
    assert (code, "combination" in error) == (3, False)


@pytest.mark.filterwarnings("ignore:.* selected 0 of")
def test_no_ranking_of_a_single_column_is_suggested(tmp_path, monkeypatch, slfs):
    """Five columns were to be ranked, although only one had levels."""
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(np.random.default_rng(3).normal(size=(300, 12)))
    frame["letter"] = np.random.default_rng(0).choice(list("abc"), 300)
    frame.assign(y=np.arange(300) % 2).to_csv("noise.csv", index=False)
    code, _, error = slfs("select", "noise.csv", "-t", "y")
    assert (code, "--method mrmr" in error) == (3, False)


@pytest.mark.filterwarnings("always")
def test_fewer_columns_than_asked_for_and_a_long_group_of_duplicates(tmp_path, monkeypatch, slfs):
    monkeypatch.chdir(tmp_path)
    y = np.arange(40) % 2
    random = np.random.default_rng(0)
    frame = pd.DataFrame({f"copy{column}": y + 10 * column for column in range(30)})
    frame["noise"] = random.normal(size=40)
    frame.assign(y=np.where(y, "yes", "no")).to_csv("a.csv", index=False)
    fewer = (
        r"1 column is selected, although 5 were asked for\. The others are 29 with the same levels as "
        r"another column, 1 without a cut point that is worth its cost \(MDLP\)\."
    )
    with pytest.warns(UserWarning, match=fewer):
        SLFS(n_features_to_select=5).fit(frame, y)
    code, out, error = slfs("select", "a.csv", "-t", "y", "-k", "5", "--tree")
    assert (code, bool(re.search(fewer, error))) == (0, True)
    assert "'copy5' and 24 more." in out
    assert "copy20" not in out


def test_pairs_of_columns_are_named_with_their_own_q_value(tmp_path, monkeypatch, slfs):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (400, 6)), columns=list("abcdef"))
    frame.assign(y=frame["a"] ^ frame["b"]).to_csv("xor.csv", index=False)
    code, out, _ = slfs("select", "xor.csv", "-t", "y", "--method", "interactions")
    assert code == 0
    assert "about each column on its own. Pairs that tell more together" in out
    assert "'a' and 'b' (FDR < 0.01%)" in out


@pytest.mark.filterwarnings("default:No pair was tested")
def test_columns_that_cannot_be_tested_in_pairs_are_named(tmp_path, monkeypatch, slfs):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (400, 3)), columns=list("abc"))
    frame.assign(rare=np.arange(400) < 1, y=frame["a"] ^ frame["b"]).to_csv("xor.csv", index=False)
    code, out, _ = slfs("interactions", "xor.csv", "-t", "y", "--columns", "a,b,rare")
    assert code == 0
    assert "1 of 1 pairs is significant" in out
    assert "1 column cannot be tested: constant, or one level is left when rare ones are pooled" in out
    assert "pooled: 'rare'." in out
    _, out, _ = slfs("interactions", "xor.csv", "-t", "y", "--columns", "a,b,c")
    assert "cannot be tested" not in out
    _, out, error = slfs("interactions", "xor.csv", "-t", "y", "--columns", "a,b", "--with", "rare")
    assert "no pair was tested." in out
    assert "With 400 samples, a level needs at least 45 of them" in error


def test_discretize_names_the_level_of_missing_values(tmp_path, monkeypatch, slfs):
    monkeypatch.chdir(tmp_path)
    y = np.arange(100) % 2
    number = np.random.default_rng(0).normal(size=100)
    gap = np.where((y == 1) & (np.arange(100) % 3 > 0), np.nan, number)
    frame = pd.DataFrame(
        {"gap": gap, "both": np.where(np.isnan(gap), np.nan, number + 9 * y), "no": number}
    )
    frame.assign(y=y).to_csv("gaps.csv", index=False)
    code, out, _ = slfs("discretize", "gaps.csv", "-t", "y")
    rows = {line.split()[0]: line.split(maxsplit=2)[1:] for line in out.splitlines()[1:] if line}
    assert code == 0
    assert rows["gap"] == ["2", "missing values"]
    assert rows["both"][0] == "3"
    assert rows["both"][1].endswith(", missing values")
    assert rows["no"] == ["1"]


def test_a_covariate_that_determines_the_class(tmp_path, monkeypatch, slfs):
    """The warning said that no column depends on the class, and the covariate came closest."""
    monkeypatch.chdir(tmp_path)
    y = np.repeat(["a", "b"], 40)
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(80, 20))).add_prefix("g")
    frame["g0"] += 1.5 * (y == "b")
    frame = frame.assign(batch=np.where(y == "a", "B1", "B2"))
    with pytest.warns(UserWarning, match="selected 0 of") as found:
        SLFS(condition_on="batch").fit(frame, y)
    (text,) = [str(one.message) for one in found]
    assert "No column depends significantly on the class given 'batch'" in text
    assert "'batch' tells 100% of the entropy of the class by itself, so that what" in text
    frame.assign(y=y).to_csv("table.csv", index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        code, _, error = slfs("select", "table.csv", "-t", "y", "--condition-on", "batch")
    assert code == 3
    assert "comes closest: 'g0'" in error
    assert "omit --condition-on" in error


def test_a_test_in_subsamples_that_no_column_passes():
    random = np.random.default_rng(0)
    y = np.repeat(["a", "b"], 12)
    X = pd.DataFrame(random.normal(size=(24, 300)))
    X[0] += 2.2 * (y == "b")
    inner = SLFS(irrelevance="test", n_features_to_select=10)
    with pytest.warns(UserWarning, match="in 50 of 50 subsamples no column does"):
        StabilitySelection(inner, n_subsamples=50, threshold=0.2).fit(X, y)
    inner.set_params(irrelevance="mdl")
    assert StabilitySelection(inner, n_subsamples=50, threshold=0.2).fit(X, y).support_[0]


@pytest.mark.filterwarnings("always")
def test_the_command_line_suggests_no_python(tmp_path, monkeypatch, slfs):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(X).add_prefix("c").assign(y=Y).to_csv("weak.csv", index=False)
    code, _, error = slfs("select", "weak.csv", "-t", "y")
    assert (code, "too weakly for SLFS.\n" in error, "--include c0" in error) == (3, True, True)
    assert "numpy" not in error


@pytest.mark.filterwarnings("ignore:.* selected 0 of", "ignore:Tentative")
@pytest.mark.parametrize("options", ["", "-s irrelevance=test"])
def test_the_command_names_a_sufficient_threshold(tmp_path, monkeypatch, slfs, options):
    """A larger false discovery rate was advised, although most columns are significant without it."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    y = np.repeat(["no", "yes"], [12, 9])
    common = random.normal(size=21) + 3 * (y == "yes")
    strong = common[:, np.newaxis] + 0.8 * random.normal(size=(21, 60))
    tail = random.normal(size=(21, 36)) + 4 * (np.arange(21) >= 17)[:, np.newaxis]
    table = pd.DataFrame(np.hstack([strong, tail])).add_prefix("c")
    table.assign(y=y).to_csv("t.csv", index=False)
    command = ["select", "t.csv", "-t", "y", "--stability", "30", *shlex.split(options)]
    code, _, error = slfs(*command)
    assert (code, "fdr" in error.partition("What to try")[2]) == (3, False)
    threshold = re.search(r"What to try: .* (--threshold \S+);", error)[1]
    assert slfs(*command, *threshold.split())[0] == 0


def test_columns_that_are_called_like_parameters(tmp_path, monkeypatch, slfs):
    """Their names were replaced by options: "Did you mean '--weights'?"."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 200)
    frame = pd.DataFrame(random.normal(size=(200, 3)), columns=["a", "sample_weight", "condition_on"])
    frame["a"] += 2 * y
    frame.assign(memory_limit=y + 0.5, y=np.where(y, "x", "z")).to_csv("t.csv", index=False)
    _, _, error = slfs("select", "t.csv", "-t", "y", "--weights", "sample_wieght")
    assert "Did you mean 'sample_weight'?" in error
    _, _, error = slfs("select", "t.csv", "-t", "y", "--condition-on", "condition_no")
    assert "Did you mean 'condition_on'?" in error
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        _, _, error = slfs("select", "t.csv", "-t", "y")
    assert ("'memory_limit'" in error, "--memory-limit" in error) == (True, False)


@pytest.mark.filterwarnings("always")
def test_the_command_line_names_options(tmp_path, monkeypatch, slfs):
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 300)
    frame = pd.DataFrame(random.normal(size=(300, 3)), columns=list("abc")).assign(y=y)
    frame.assign(y=np.where(y, "x", "z"), g=np.arange(300) % 2).to_csv("t.csv", index=False)
    error = slfs("select", "t.csv", "-t", "y")[2]
    assert "xor b, are found by --method interactions." in error
    assert "InteractionSelector" not in error
    error = slfs("select", "t.csv", "-t", "y", "--groups", "g", "-m", "mrmr")[2]
    assert "--groups keep rows together" in error
    assert "Use --method slfs or residual, or --stability 50." in error
    assert "Use --set cv=2, or smaller groups" in slfs("select", "t.csv", "-t", "y", "--groups", "g")[2]
    explained = slfs("explain", "a", "t.csv", "-t", "y", "--exclude", "a")[1]
    assert "'a' is excluded (--exclude)" in explained
    assert "--cv 200 is too large" in slfs("compare", "t.csv", "-t", "y", "--cv", "200")[2]
    frame.assign(y=random.integers(0, 2, 300) + 0.5).to_csv("t.csv", index=False)
    error = slfs("select", "t.csv", "-t", "y")[2]
    assert "use --target-type regression. If they are classes, use --target-type class" in error


def test_options_that_messages_name_exist():
    from typer.main import get_command

    from slfs._core.interface import _OPTIONS
    from slfs.cli.commands import app

    commands = get_command(app).commands
    known = {text for one in commands.values() for option in one.params for text in option.opts}
    assert set(_OPTIONS.values()) <= known


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_threads_have_the_context_of_their_caller(n_jobs):
    """Messages that are made in threads named parameters of Python to users of the commands."""
    with Threads(n_jobs) as threads, command_line():
        tasks = ["memory_limit", "cv"]
        assert threads.map(parameter, tasks) == ["--memory-limit", "--set cv"]
        assert list(threads.each(parameter, tasks, 2)) == ["--memory-limit", "--set cv"]


@pytest.mark.parametrize("n_rows", [50, 200])
@pytest.mark.parametrize("measured", [False, True])
@pytest.mark.filterwarnings("always")
def test_weights_are_said_to_be_frequencies_once(n_rows, measured, tmp_path, monkeypatch, slfs):
    """Both a note and a warning said so about fewer than 100 rows of measurements."""
    monkeypatch.chdir(tmp_path)
    columns = pd.DataFrame(np.random.default_rng(0).normal(size=(n_rows, 3)), columns=list("abc"))
    frame = (columns if measured else columns.round()).assign(y=np.arange(n_rows) % 2)
    weights = 50 + np.arange(n_rows) % 40
    weights[-1] = 0
    frame.assign(w=weights).to_csv("a.csv", index=False)
    error = slfs("select", "a.csv", "-t", "y", "--weights", "w")[2]
    warned = f"{n_rows - 1} rows count as {weights.sum()} samples" in error
    noted = f"{n_rows - 1} rows are {weights.sum():,} samples" in error
    assert (warned, noted) == (measured or n_rows == 200, not measured and n_rows == 50)
    assert error.count("divide them by their mean") == 1


def test_functions_may_give_parameters_other_names():
    with renamed(target="target_type"):
        assert parameter("target", "regression") == "target_type='regression'"
        assert parameter("cv", 5) == "cv=5"
        with pytest.raises(ValueError, match=r"use target_type='regression'\. If they are"):
            SLFS().fit(X, np.where(Y > 0, 0.5, 1.0))
