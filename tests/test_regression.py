"""Selection for a continuous target: known answers, all ways in, words, saving, report, commands."""

import json
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from slfs import BNSLFS, SLFS, MDLPDiscretizer, StabilitySelection
from slfs._core.warn import LeakageWarning
from slfs.evaluation import compare_accuracy
from slfs.report import make_facts, write_report
from slfs.saving import load, save
from slfs.screening.plan import BlockLimits, block_limits
from slfs.selectors import selectors


def make_data(n_samples=400, n_noise=10, seed=0):
    """y depends on a (monotone), b (a bump) and c (a category); the other columns are noise."""
    random = np.random.default_rng(seed)
    X = pd.DataFrame(random.normal(size=(n_samples, 2)), columns=["a", "b"])
    X["c"] = random.choice(["x", "y", "z"], n_samples)
    for k in range(n_noise):
        X[f"noise{k}"] = random.normal(size=n_samples)
    y = X["a"] + 1.5 * (X["b"].abs() < 0.6) + 1.5 * (X["c"] == "z") + 0.5 * random.normal(size=n_samples)
    return X, y.rename("price")


@pytest.mark.parametrize("name", selectors())
def test_every_selector_finds_the_columns_that_matter(name):
    X, y = make_data()
    selector = selectors()[name]().fit(X, y)
    assert selector.target_type_ == "regression"
    assert not hasattr(selector, "classes_")
    assert selector.support_[[0, 2]].all()
    assert not selector.support_[3:].any() or name == "chi2"


def test_slfs_finds_exactly_the_columns_that_matter():
    X, y = make_data(800)
    selector = SLFS(irrelevance="test").fit(X, y)
    assert sorted(selector.get_feature_names_out()) == ["a", "b", "c"]
    assert selector.network_.class_name == "price"
    assert len(selector.target_bins_) == 5


def test_noise_gives_nothing():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(300, 60)), random.normal(size=300)
    with pytest.warns(UserWarning, match="No column depends significantly on the target"):
        selector = SLFS(irrelevance="test").fit(X, y)
    assert selector.n_features_ == 0


@pytest.mark.parametrize("function", [np.exp, np.abs, lambda x: -(x**3), np.round])
def test_a_function_of_one_column_is_found_and_called_a_leak(function):
    X, _ = make_data()
    y = function(X["a"]) + 0.5
    with pytest.warns(LeakageWarning, match="'a' .* the bin of the target"):
        selector = SLFS().fit(X, y)
    assert selector.leaks_ == ["a"]
    assert selector.get_feature_names_out().tolist() == ["a"]
    assert "Possible target leakage: it" in selector.explain("a")


def test_sentences_speak_of_the_target():
    X, y = make_data()
    selector = SLFS().fit(X, y)
    for name in X:
        assert "class" not in selector.explain(name)
    assert "nats of information about the target" in selector.explain("a")
    assert "of the entropy of its bins" in selector.explain("a")
    assert "Evidence that it depends on the target: overwhelming" in selector.explain("a")
    assert str(selector.network_).startswith("price\n")


def test_refitting_with_classes_forgets_the_bins():
    X, y = make_data()
    selector = SLFS().fit(X, y)
    selector.fit(X, (y > 0).astype(int))
    assert selector.target_bins_ is None
    assert selector.target_type_ == "classification"
    assert selector.classes_.tolist() == [0, 1]
    selector.fit(X, y)
    assert not hasattr(selector, "classes_")


def test_a_classifier_needs_classes():
    X, y = make_data()
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        BNSLFS().fit(X, y)
    with pytest.raises(ValueError, match=r"model needs target='classification'\. Use BNSLFSRegressor"):
        BNSLFS(SLFS(target="regression")).fit(X, y)
    with pytest.raises(ValueError, match="was fitted to a continuous target"):
        SLFS().fit(X, y).to_classifier()
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        compare_accuracy(SLFS(), X, y)


def test_stability_selection():
    X, y = make_data()
    selector = StabilitySelection(SLFS(n_features_to_select=3), n_subsamples=10).fit(X, y)
    assert selector.support_[[0, 2]].all()  # half of the samples are too few for b
    assert not selector.support_[3:].any()
    assert selector.target_type_ == "regression"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        noisy = StabilitySelection(
            SLFS(n_features_to_select=3, irrelevance="test"), n_subsamples=10, fdr=0.4
        ).fit(X, y)
    assert noisy.support_[[0, 2]].all()


def test_a_stream_gives_the_same_as_fit():
    X, y = make_data()
    whole = SLFS(order="given", irrelevance="test").fit(X, y)
    stream = SLFS(order="given", irrelevance="test").fit_stream([X[["a", "b"]], X[["c"]]], y)
    stream.extend(X.iloc[:, 3:])
    np.testing.assert_array_equal(stream.pvalues_, whole.pvalues_)
    np.testing.assert_array_equal(stream.indices_, whole.indices_)
    np.testing.assert_array_equal(stream.target_bins_, whole.target_bins_)
    assert stream.target_type_ == "regression"


def test_dask_gives_the_same_as_fit():
    dask_frame = pytest.importorskip("dask.dataframe")
    X, y = make_data()
    whole = SLFS(irrelevance="test").fit(X, y)
    spread = SLFS(irrelevance="test").fit(dask_frame.from_pandas(X, npartitions=3), y)
    np.testing.assert_array_equal(spread.pvalues_, whole.pvalues_)
    np.testing.assert_array_equal(spread.indices_, whole.indices_)
    lazy = dask_frame.from_pandas(y, npartitions=3)
    np.testing.assert_array_equal(SLFS().fit(X, lazy).target_bins_, whole.target_bins_)


def test_rows_read_in_pieces_and_a_memory_limit():
    X, y = make_data(2000)
    whole = SLFS(n_features_to_select=4).fit(X, y)
    with block_limits(BlockLimits(n_rows=300, plane_bytes=2000)):
        pieces = SLFS(n_features_to_select=4).fit(X, y)
    np.testing.assert_allclose(pieces.pvalues_, whole.pvalues_, rtol=1e-9)
    np.testing.assert_array_equal(pieces.indices_, whole.indices_)
    limited = SLFS(n_features_to_select=4, memory_limit="8GiB").fit(X, y)
    np.testing.assert_array_equal(limited.pvalues_, whole.pvalues_)


def test_the_discretizer_cuts_columns_against_the_bins():
    X, y = make_data()
    discretizer = MDLPDiscretizer().fit(X, y)
    assert len(discretizer.cut_points_[0]) > 0
    assert all(len(cuts) == 0 for cuts in discretizer.cut_points_[3:])
    codes = np.searchsorted(discretizer.target_bins_["upper"][:-1], y)
    same = MDLPDiscretizer().fit(X, codes)
    assert same.target_bins_ is None
    np.testing.assert_array_equal(same.transform(X), discretizer.transform(X))


def test_in_a_pipeline_with_a_regressor():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    selector = SLFS(target="regression", n_features_to_select=4)
    scores = cross_val_score(make_pipeline(selector, Ridge(1e-3)), X, y)
    assert scores.mean() > 0.4
    assert clone(selector).get_params()["target"] == "regression"


@pytest.mark.parametrize("make", [SLFS, lambda: StabilitySelection(n_subsamples=4), MDLPDiscretizer])
def test_saving_keeps_the_bins(make, tmp_path):
    X, y = make_data()
    fitted = make().fit(X, y)
    save(fitted, tmp_path / "model.slfs")
    loaded = load(tmp_path / "model.slfs")
    np.testing.assert_array_equal(loaded.target_bins_, fitted.target_bins_)
    if not isinstance(fitted, MDLPDiscretizer):
        assert loaded.target_type_ == "regression"
        assert not hasattr(loaded, "classes_")
        assert loaded.explain("a") == fitted.explain("a")
        assert make_facts(loaded)["nodes"] == make_facts(fitted)["nodes"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda selector: setattr(selector, "target_bins_", None),
        lambda selector: setattr(selector, "target_type_", "classification"),
        lambda selector: setattr(selector, "classes_", np.arange(3)),
        lambda selector: setattr(selector, "target_bins_", selector.target_bins_[:2]),
        lambda selector: setattr(selector, "target_bins_", selector.target_bins_[::-1]),
        lambda selector: setattr(selector, "_target_by_level", None),
        lambda selector: setattr(
            selector, "_target_by_level", [np.zeros((9, 4))] * selector.n_features_
        ),
    ],
)
def test_inconsistent_models_are_not_saved(damage, tmp_path):
    selector = SLFS(n_features_to_select=2).fit(*make_data())
    damage(selector)
    with pytest.raises(ValueError, match="cannot be saved: its parts are inconsistent"):
        save(selector, tmp_path / "model.slfs")


def test_the_report_has_the_target_at_each_level(tmp_path):
    X, y = make_data()
    selector = SLFS(n_features_to_select=3).fit(X, y)
    facts = make_facts(selector, data="houses")
    assert facts["summary"] == (
        "SLFS selects 3 of 13 columns of houses to predict the number price (3 bins, 400 samples)."
    )
    assert facts["classes"] == selector.target_bins_["name"].tolist()
    assert facts["target_bins"][0]["lower"] is None
    (node,) = [node for node in facts["nodes"] if node["name"] == "c"]
    at = dict(zip(node["levels"], node["target"], strict=True))
    own = y[X["c"] == "z"]
    assert at["z"]["mean"] == pytest.approx(own.mean(), rel=1e-5)
    assert at["z"]["median"] == pytest.approx(own.median())
    assert at["x"]["upper"] < at["z"]["upper"]
    assert json.dumps(facts, allow_nan=False)
    write_report(selector, tmp_path / "report.html", X=X, y=y)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "as a share of the entropy of the bins of the target" in page
    assert "Accuracy is a share of classes, but the target is a quantity. slfs compare" in page


def test_plots_show_the_target_at_each_level():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    from slfs.plotting import DistributionDisplay, NetworkDisplay, RelevanceDisplay, SizePathDisplay

    X, y = make_data()
    selector = SLFS().fit(X, y)
    display = DistributionDisplay.from_estimator(selector, "c")
    assert display.ax_.get_ylabel() == "price: median, quartiles"
    medians = display.ax_.lines[0].get_ydata()
    assert medians[list(display.levels).index("z")] == max(medians)
    for kind in (NetworkDisplay, RelevanceDisplay, SizePathDisplay):
        kind.from_estimator(selector)
    pyplot.close("all")


def run(*arguments):
    command = [sys.executable, "-m", "slfs", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_commands(tmp_path):
    X, y = make_data()
    X.assign(price=y).to_csv(tmp_path / "houses.csv", index=False)
    selected = run("select", tmp_path / "houses.csv", "--target", "price", "-k", "3")
    assert selected.returncode == 0, selected.stderr
    assert "3 of 13 columns selected to predict 'price' (400 samples: a number from" in selected.stdout
    assert "relation to the target" in selected.stdout
    assert "class" not in selected.stdout
    found = json.loads(run("select", tmp_path / "houses.csv", "-t", "price", "--json").stdout)
    assert found["target_type"] == "regression"
    assert len(found["target_bins"]) == 3
    options = ("--target-type", "classification", "--model", tmp_path / "m.slfs")
    refused = run("fit", tmp_path / "houses.csv", "-t", "price", *options)
    assert refused.returncode == 1
    assert "Unknown label type: continuous" in refused.stderr
    assert "--target-type regression" in refused.stderr


def test_commands_with_integers(tmp_path):
    X, y = make_data()
    X.assign(price=(1000 * y).astype(int)).to_csv(tmp_path / "houses.csv", index=False)
    refused = run("select", tmp_path / "houses.csv", "--target", "price")
    assert refused.returncode == 1
    assert "If it is a quantity, use --target-type regression" in refused.stderr
    options = ("--target", "price", "--target-type", "regression")
    assert run("select", tmp_path / "houses.csv", *options).returncode == 0
    explained = run("explain", "a", tmp_path / "houses.csv", *options)
    assert "information about the target" in explained.stdout
    assert run("discretize", tmp_path / "houses.csv", *options).returncode == 0
    wrong = run("select", tmp_path / "houses.csv", "--target", "price", "--target-type", "number")
    assert wrong.returncode == 1
    assert "'target' parameter" in wrong.stderr


@pytest.mark.parametrize("selector", [SLFS(irrelevance="test"), SLFS(order="given")], ids=str)
def test_whole_weights_are_repeated_rows(selector):
    X, y = make_data(250)
    X.loc[::9, "a"] = np.nan
    weights = np.random.default_rng(1).integers(0, 4, len(y))
    rows = np.repeat(np.arange(len(y)), weights)
    weighted = clone(selector).fit(X, y.where(weights > 0), sample_weight=weights)
    repeated = clone(selector).fit(X.iloc[rows], y.iloc[rows])
    np.testing.assert_array_equal(weighted.target_bins_, repeated.target_bins_)
    np.testing.assert_array_equal(weighted.pvalues_, repeated.pvalues_)
    np.testing.assert_array_equal(weighted.scores_, repeated.scores_)
    np.testing.assert_array_equal(weighted.indices_, repeated.indices_)
    stream = SLFS(order="given").fit_stream([X], y.where(weights > 0), sample_weight=weights)
    np.testing.assert_array_equal(stream.pvalues_, repeated.pvalues_)


def test_other_weights_do_not_change_p_values(tmp_path):
    X, y = make_data()
    weights = np.random.default_rng(2).random(len(y)) + 0.5
    selector = SLFS(n_features_to_select=3).fit(X, y, sample_weight=weights)
    plain = SLFS(n_features_to_select=3).fit(X, y)
    np.testing.assert_array_equal(selector.pvalues_, plain.pvalues_)
    np.testing.assert_array_equal(selector.target_bins_, plain.target_bins_)
    save(selector, tmp_path / "model.slfs")
    assert load(tmp_path / "model.slfs").explain("a") == selector.explain("a")


def test_class_weights_need_classes():
    with pytest.raises(
        ValueError, match="class_weight='balanced' weights classes, but the target 'price'"
    ):
        SLFS(class_weight="balanced").fit(*make_data())
