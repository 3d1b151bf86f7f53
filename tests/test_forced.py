"""include, exclude, condition_on: known answers, errors, and what the results must not depend on."""

from __future__ import annotations

import json
from math import comb
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy.stats import chi2, kstest, wilcoxon
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer

from slfs import (
    BNSLFS,
    CMIM,
    DISR,
    FCBF,
    JMI,
    JMIM,
    MRMR,
    OSFS,
    SLFS,
    Chi2Ranking,
    ResidualPursuit,
    StabilitySelection,
)
from slfs.evaluation.significance import assess, p_values
from slfs.report import make_facts
from slfs.saving import load, save
from slfs.screening.plan import BlockLimits, block_limits

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

CONDITIONAL: list[Any] = [
    SLFS(),
    SLFS(order="conditional"),
    SLFS(order="relevance"),
    SLFS(irrelevance="test"),
    ResidualPursuit(),
    MRMR(),
    CMIM(),
    JMI(),
    DISR(),
    JMIM(),
    FCBF(),
]
FORCING: list[Any] = [*CONDITIONAL, Chi2Ranking()]


def names(selectors: list[Any]) -> list[str]:
    return [repr(selector) for selector in selectors]


@pytest.fixture(scope="module")
def confounded() -> tuple[pd.DataFrame, np.ndarray]:
    """The batch drives x and the class; own drives the class; noise and sex do not."""
    random = np.random.default_rng(1)
    n = 600
    batch, own = random.integers(0, 3, n), random.normal(size=n)
    y = (1.5 * (batch - 1) + 1.2 * own + random.normal(size=n) > 0).astype(int)
    X = pd.DataFrame(
        {
            "batch": batch.astype(str),
            "x": batch + 0.5 * random.normal(size=n),
            "own": own,
            "noise": random.normal(size=n),
            "constant": np.ones(n),
            "sex": random.choice(["m", "f"], n),
            "copy": batch.astype(float),
        }
    )
    return X, y


@pytest.mark.parametrize("selector", CONDITIONAL, ids=names(CONDITIONAL))
def test_condition_on_removes_what_it_explains(
    selector: Any, confounded: tuple[pd.DataFrame, np.ndarray]
) -> None:
    X, y = confounded
    fitted = clone(selector).set_params(condition_on=["batch"]).fit(X, y)
    assert fitted.get_feature_names_out().tolist() == ["own"]
    records = pd.DataFrame(fitted.features_).set_index("name")
    assert records.reason[["batch", "x", "copy"]].tolist() == ["conditioning", "explained", "explained"]
    assert records.role[["batch", "x"]].tolist() == ["conditioned on", "redundant"]
    assert records.relevance["x"] > 0.1 > 0.01 > records.relevance_given["x"]
    assert records.relevance_given["own"] > 0.1
    assert records.relevance_given["copy"] < 1e-9
    assert np.isnan(records.p_value["batch"])
    assert "given 'batch' it is not significant" in fitted.explain("x")
    assert "conditioned on" in fitted.explain("batch")
    assert "depends on the class given 'batch': overwhelming" in fitted.explain("own")
    assert fitted.conditioning_ == ["batch"]


@pytest.mark.parametrize("selector", FORCING, ids=names(FORCING))
def test_included_columns_are_selected_and_count(
    selector: Any, confounded: tuple[pd.DataFrame, np.ndarray]
) -> None:
    X, y = confounded
    fitted = clone(selector).set_params(include=["noise", "sex", "constant"]).fit(X, y)
    assert fitted.indices_[:3].tolist() == [3, 4, 5]
    assert {"batch", "own"} & set(fitted.get_feature_names_out())
    assert fitted.features_["reason"][[3, 4, 5]].tolist() == ["included"] * 3
    assert "because it is included" in fitted.explain("constant")
    if isinstance(fitted, SLFS):
        roles = fitted.features_["role"][[3, 4, 5]]  # by name, but not tentative
        assert ((roles == "included") == (fitted.qvalues_[[3, 4, 5]] > 0.05)).all()
        assert "included" in roles
        assert "tentative" not in roles
    assert fitted.features_["n_levels"][[3, 4]].tolist() == [4, 1]  # quartiles; a single value
    few = clone(fitted).set_params(n_features_to_select=4).fit(X, y)
    assert few.n_features_ == 4
    assert few.indices_[:3].tolist() == [3, 4, 5]
    assert BNSLFS.from_selector(few, structure="linked").score(X, y) > 0.6


@pytest.mark.parametrize("selector", FORCING, ids=names(FORCING))
def test_excluded_columns_are_not_candidates(
    selector: Any, confounded: tuple[pd.DataFrame, np.ndarray]
) -> None:
    X, y = confounded
    without = clone(selector).fit(X.drop(columns=["own", "x"]), y)
    fitted = clone(selector).set_params(exclude=[1, 2]).fit(X, y)
    assert_array_equal(fitted.get_feature_names_out(), without.get_feature_names_out())
    assert_array_equal(fitted.selection_scores_, without.selection_scores_)
    assert fitted.features_["role"][[1, 2]].tolist() == ["excluded"] * 2
    assert fitted.explain("own") == "'own' is excluded (exclude): it was not a candidate."
    assert_array_equal(np.delete(fitted.qvalues_, [1, 2]), without.qvalues_)


def test_names_indices_and_masks_mean_the_same(confounded: tuple[pd.DataFrame, np.ndarray]) -> None:
    X, y = confounded
    mask = X.columns == "batch"
    fits = [SLFS(condition_on=choice).fit(X, y) for choice in ("batch", ["batch"], [0], mask)]
    for other in fits[1:]:
        assert_array_equal(other.pvalues_, fits[0].pvalues_)
        assert_array_equal(other.indices_, fits[0].indices_)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"include": ["nois"]}, "Did you mean 'noise'"),
        ({"include": ["x"], "exclude": ["x"]}, "in 'include' and in 'exclude': x"),
        ({"condition_on": ["x"], "exclude": ["x"]}, "in 'exclude' and in 'condition_on': x"),
        ({"include": ["x", "own"], "n_features_to_select": 1}, "more than the 1 of"),
        ({"exclude": list(range(7))}, "'exclude' lists all columns"),
        ({"condition_on": list(range(7))}, "'condition_on' lists all columns"),
        (
            {"condition_on": [0, 1], "exclude": [2, 3, 4, 5, 6]},
            "'exclude' and 'condition_on' list all columns",
        ),
        ({"exclude": [7]}, "has the index 7; X has columns 0 to 6"),
        ({"condition_on": [True]}, r"has shape \(1,\); expected \(7,\)"),
        ({"include": ["x"], "order": "given"}, "cannot be combined with order='given'"),
        ({"include": [1, 2, 3], "max_depth": 1, "max_children": 2}, "than the tree has room for"),
    ],
)
def test_errors_name_the_remedy(
    parameters: dict[str, Any], message: str, confounded: tuple[pd.DataFrame, np.ndarray]
) -> None:
    with pytest.raises(ValueError, match=message):
        SLFS(**parameters).fit(*confounded)


def test_streams_refuse(confounded: tuple[pd.DataFrame, np.ndarray]) -> None:
    X, y = confounded
    with pytest.raises(ValueError, match="exclude cannot be used with a stream"):
        SLFS(order="given", exclude=["x"]).fit_stream([X], y)
    assert "own" not in SLFS(order="given", exclude=["own"]).fit(X, y).get_feature_names_out()
    assert "condition_on" not in OSFS().get_params()


def test_results_do_not_depend_on_threads_or_blocks(
    confounded: tuple[pd.DataFrame, np.ndarray],
) -> None:
    X, y = confounded
    selector = SLFS(include=["noise"], condition_on=["batch", "sex"])
    first = clone(selector).fit(X, y)
    others = [clone(selector).set_params(n_jobs=2).fit(X, y)]
    with block_limits(BlockLimits(n_columns=1)):
        others.append(clone(selector).fit(X, y))
    others.append(clone(selector).set_params(memory_limit="2GiB").fit(X, y))
    for other in others:
        assert_array_equal(other.pvalues_, first.pvalues_)
        assert_array_equal(other.indices_, first.indices_)
        assert_array_equal(other.selection_scores_, first.selection_scores_)


def test_models_are_saved(confounded: tuple[pd.DataFrame, np.ndarray], tmp_path: Any) -> None:
    X, y = confounded
    fitted = SLFS(include=["noise"], exclude=[5], condition_on=X.columns == "batch").fit(X, y)
    save(fitted, tmp_path / "model.slfs")
    loaded = load(tmp_path / "model.slfs")
    for column in X:
        assert loaded.explain(column) == fitted.explain(column)
    assert_array_equal(clone(loaded).fit(X, y).indices_, fitted.indices_)


def test_subsamples_use_the_same_columns(confounded: tuple[pd.DataFrame, np.ndarray]) -> None:
    X, y = confounded
    inner = SLFS(include=["noise"], exclude=["sex"], condition_on=["batch"], n_features_to_select=2)
    for fdr in (None, 0.5):
        stable = StabilitySelection(inner, n_subsamples=4, fdr=fdr).fit(X, y)
        assert stable.indices_.tolist() == ([3, 2] if fdr is None else [3])  # a rate of 0.5: two or none
        assert stable.frequencies_[[0, 3, 5]].tolist() == [0, 1, 0]
        assert stable.features_["role"][[0, 5]].tolist() == ["conditioned on", "excluded"]


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("n_samples", [100, 300, 1000])
def test_p_values_given_a_confounder_are_uniform(n_samples: int, n_classes: int) -> None:
    random = np.random.default_rng(n_samples + n_classes)
    z = random.integers(0, 4, n_samples)
    odds = np.exp(np.outer(z - 1.5, np.linspace(-1, 1, n_classes)))
    shares = (odds / odds.sum(axis=1, keepdims=True)).cumsum(axis=1)
    y = (shares < random.random((n_samples, 1))).sum(axis=1)
    X = z[:, np.newaxis] + random.normal(size=(n_samples, 400))
    X = np.column_stack([z, X])
    found = p_values(X, y, condition_on=[0], categorical_features=[0])
    assert np.isnan(found[0])
    assert 0.025 < (found[1:] < 0.05).mean() < 0.08
    assert (found[1:] < 0.01).mean() < 0.025
    levels = np.clip(X.round(), 0, 3)  # without a test of trend, a single test: uniform
    found = p_values(levels, y, condition_on=[0], categorical_features="all")
    assert kstest(found[1:], "uniform").pvalue > 1e-3
    assert (p_values(X, y)[1:] < 0.05).mean() > 0.5  # without condition_on they depend on the class


def mantel_haenszel(level: np.ndarray, label: np.ndarray, stratum: np.ndarray) -> float:
    """Test two levels and two classes in strata, with hypergeometric variances."""
    difference = variance = 0.0
    for own in (stratum == s for s in np.unique(stratum)):
        n, a, b = own.sum(), level[own].sum(), label[own].sum()
        difference += (level[own] & label[own]).sum() - a * b / n
        variance += a * (n - a) * b * (n - b) / (n**2 * (n - 1))
    return float(chi2.sf(difference**2 / variance, 1))


@pytest.mark.parametrize("size", [2, 3, 4, 10])
def test_p_values_given_small_strata_are_those_of_mantel_and_haenszel(size: int) -> None:
    random = np.random.default_rng(size)
    stratum = np.repeat(np.arange(240 // size), size)
    y, column = random.integers(0, 2, (2, 240))
    X = np.column_stack([stratum, column])
    found = p_values(X, y, condition_on=[0], categorical_features="all")[1]
    assert found == pytest.approx(mantel_haenszel(column, y, stratum), rel=1e-3)


@pytest.mark.parametrize("continuous", [False, True])
def test_noise_given_pairs_is_noise(continuous: bool) -> None:
    random = np.random.default_rng(3)
    X = np.column_stack([np.repeat(np.arange(30), 2), random.normal(size=(60, 1000))])
    y = random.normal(size=60) if continuous else np.tile([0, 1], 30)
    found = p_values(X, y, condition_on=[0], categorical_features=[0])[1:]  # it was 22% and 25%
    assert 0.02 < (found < 0.05).mean() < 0.065
    assert (found < 0.001).mean() < 0.004


def test_pairs_are_tested_with_the_power_of_a_signed_rank_test() -> None:
    random = np.random.default_rng(4)
    y, pair = np.tile([0, 1], 30), np.repeat(np.arange(30), 2)
    own = random.normal(size=(30, 300)).repeat(2, axis=0) * 4
    X = own + 1.5 * y[:, np.newaxis] + random.normal(size=(60, 300))
    found = p_values(np.column_stack([pair, X]), y, condition_on=[0], categorical_features=[0])[1:]
    alone = p_values(X, y)
    reference = wilcoxon(X[1::2] - X[::2]).pvalue
    assert (found < 0.01).mean() > 0.9 * (reference < 0.01).mean() > 0.8  # 30% with quartiles of X
    assert (alone < 0.01).mean() < 0.1


@pytest.mark.parametrize("n_samples", [8, 12, 16])
def test_few_samples_given_a_batch(n_samples: int) -> None:
    y, batch = np.tile([0, 1], n_samples // 2), np.repeat([0, 1], n_samples // 2)
    X = np.column_stack([batch, 10 * y + np.linspace(0, 1, n_samples), y])
    found = p_values(X, y, condition_on=[0], categorical_features=[0, 2])[1:]
    least = 2 / comb(n_samples // 2, n_samples // 4) ** 2  # labelings that leave the batches as they are
    assert (found > 0.999 * least).all()  # the smallest p-value of an exact test
    assert (found < (0.1 if n_samples == 8 else 0.02)).all()  # numbers had p = 1


def test_few_balanced_levels_in_small_batches_are_not_too_significant() -> None:
    random = np.random.default_rng(0)
    y, batch = np.tile([0, 1], 6), np.repeat([0, 1], 6)
    levels = np.tile([0, 0, 0, 1, 1, 1], (1000, 2)).reshape(1000, 2, 6)
    X = np.column_stack([batch, random.permuted(levels, axis=2).reshape(1000, 12).T])
    found = p_values(X, y, condition_on=[0], categorical_features="all")[1:]  # it was 10%
    assert 0 < (found <= 0.05).mean() < 0.05


def test_a_column_with_an_effect_of_its_own_is_found() -> None:
    random = np.random.default_rng(4)
    z = random.normal(size=(400, 2))
    f = z[:, 0] + random.normal(size=400)
    y = (z.sum(axis=1) + 0.8 * (f - z[:, 0]) + random.logistic(size=400) > 0).astype(int)
    X = np.column_stack([z, f])
    assert p_values(X, y, condition_on=[0, 1])[2] < 1e-4
    with pytest.raises(ValueError, match="cannot be combined with condition_on"):
        p_values(X, y, condition_on=[0], n_permutations=99)
    selector = SLFS(condition_on=[0, 1]).fit(X, y)
    assert selector.indices_.tolist() == [2]
    assert assess(selector, X, y).p_value[2] < 1e-4


def test_a_covariate_without_levels_of_its_own_has_quantiles() -> None:
    random = np.random.default_rng(5)
    z, f = random.normal(size=(2, 300))
    y = (f + z**2 > 1).astype(int)  # MDLP finds a cut in f; z depends on the class, too
    X = np.column_stack([random.permutation(z), f])
    selector = CMIM(condition_on=[0]).fit(X, y)
    assert selector.features_["n_levels"][0] == 9  # MDLP finds no cut in it
    assert selector.indices_.tolist() == [1]


def test_a_column_that_tells_something_only_given_a_covariate() -> None:
    random = np.random.default_rng(6)
    z, own = 4 * random.normal(size=400), random.normal(size=400)
    X = np.column_stack([z, z + own])
    y = (own + 0.5 * random.normal(size=400) > 0).astype(int)
    assert SLFS().fit(X, y).features_["n_levels"][1] == 1  # MDLP finds no cut
    selector = SLFS(condition_on=[0]).fit(X, y)
    assert selector.indices_.tolist() == [1]
    assert selector.features_["n_levels"][1] == 4
    assert selector.features_["relevance_given"][1] > selector.features_["relevance"][1]


@pytest.mark.parametrize("weighted", [False, True])
def test_conditioning_in_dask_is_that_of_pandas(weighted: bool) -> None:
    frames = pytest.importorskip("dask.dataframe")
    random = np.random.default_rng(0)
    batch = random.integers(0, 3, 300)
    y = (batch - 1 + random.normal(size=300) > 0).astype(int)
    X = pd.DataFrame(
        {
            "batch": batch.astype(str),
            "explained": batch + random.normal(size=300),
            "own": y + random.normal(size=300),
        }
    )
    weights = random.integers(0, 3, 300) if weighted else None
    selector = SLFS(n_features_to_select=1, condition_on="batch")
    expected = clone(selector).fit(X, y, sample_weight=weights).pvalues_
    spread = frames.from_pandas(X, npartitions=3)
    found = clone(selector).fit(spread, y, sample_weight=weights).pvalues_
    np.testing.assert_allclose(found, expected)
    assert found[1] > 0.01 > 1e-6 > found[2]


@pytest.mark.parametrize("kind", [SLFS, ResidualPursuit])
def test_size_zero_is_the_model_of_the_covariates(
    kind: Any, confounded: tuple[pd.DataFrame, np.ndarray]
) -> None:
    X, y = confounded
    paths = [
        kind(condition_on=["batch"]).fit(X[list(own)], y).size_path_
        for own in (("batch", "own"), ("batch", "noise"))
    ]
    assert paths[0].log_loss[0] == pytest.approx(paths[1].log_loss[0], abs=1e-9)


def test_conditioning_intervals_depend_on_rows_not_on_their_weights() -> None:
    random = np.random.default_rng(7)
    X, y = random.normal(size=(100, 2)), np.arange(100) % 2
    weights = np.where(np.arange(100) % 4 < 2, 0.3, 1.7)
    fitted = [
        SLFS(n_features_to_select=1, condition_on=[0]).fit(X, y, sample_weight=own)
        for own in (None, weights)
    ]
    assert [own.features_["n_levels"][0] for own in fitted] == [5, 5]


def test_levels_of_forced_columns_read_in_pieces() -> None:
    random = np.random.default_rng(8)
    X, y = random.normal(size=(20_000, 3)), random.integers(0, 2, 20_000)
    selector = SLFS(include=[0], feature_groups={"g": [1, 2]}, n_features_to_select=3)
    with block_limits(BlockLimits(n_rows=1000)):
        pieces = selector.fit(X, y)
    counts = pieces.network_counts_
    for node, column in enumerate(pieces.indices_):
        thresholds = counts.coding.thresholds[
            counts.coding.offset[node] : counts.coding.offset[node + 1]
        ]
        level = np.searchsorted(thresholds, X[:, column])
        assert len(thresholds) == 3
        expected = np.zeros((4, 2), np.int64)
        np.add.at(expected, (level, y), 1)
        assert_array_equal(counts.class_counts[node], expected)


def test_the_baseline_of_the_log_loss_is_named() -> None:
    random = np.random.default_rng(22)
    batch = random.integers(0, 3, 200)
    y = (batch + random.normal(size=200) > 1).astype(int)
    X = np.column_stack([batch, random.integers(0, 2, (200, 8))]).astype(str)
    fitted = SLFS(condition_on=[0]).fit(X, y)
    assert fitted.features_["reason"][6] == "no gain"
    assert "log loss than 'x0' alone" in fitted.explain(6)


@pytest.mark.parametrize("selector", [SLFS(irrelevance="test"), CMIM()], ids=repr)
def test_noise_is_not_explained_by_covariates(selector: Any) -> None:
    random = np.random.default_rng(0)
    batch = random.integers(0, 3, 300)
    y = (batch + random.normal(size=300) > 1).astype(int)
    noise = random.integers(0, 2, (300, 10))
    X = np.column_stack([batch, batch > 1, noise]).astype(str)
    fitted = clone(selector).set_params(condition_on=[0]).fit(X, y)
    assert fitted.features_["role"][1] == "redundant"
    alone = p_values(X, y)[2:] <= 0.05
    assert alone.sum() <= 1
    assert_array_equal(fitted.features_["role"][2:] == "redundant", alone)
    dropped = np.flatnonzero(fitted.features_["reason"] == "not significant")
    assert len(dropped) > 2
    column = int(dropped[np.argmax(fitted.pvalues_[dropped])])
    assert "given 'x0' it is not significant (p = " in fitted.explain(column)


@pytest.mark.parametrize("selector", [MRMR(), CMIM(), JMI(), DISR(), JMIM()], ids=repr)
def test_greedy_selectors_find_a_suppressor(selector: Any) -> None:
    """A column that tells nothing on its own, but much given the covariate, is selected by "auto"."""
    random = np.random.default_rng(6)
    z, own, noise = 4 * random.normal(size=400), *random.normal(size=(2, 400))
    X = np.column_stack([z, z + own, noise, z + random.normal(size=400)])
    y = (own + 0.5 * random.normal(size=400) > 0).astype(int)
    fitted = clone(selector).set_params(condition_on=[0]).fit(X, y)
    assert fitted.indices_.tolist() == [1]
    both = np.column_stack([X, own + 2 * random.normal(size=400) + 3 * (y == 1)])
    found = clone(selector).set_params(condition_on=[0]).fit(both, y)
    assert sorted(found.indices_.tolist()) == [1, 4]


@pytest.mark.parametrize("order", ["residual", "conditional"])
def test_explanations_and_results_have_the_information_given_covariates(
    order: str, tmp_path: Any, slfs: Any
) -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    random, given = np.random.default_rng(4), ["age", "sex", "site"]
    X[given] = random.integers(0, 3, (len(y), 3)).astype(str)
    fitted = SLFS(order=order, condition_on=given).fit(X, y)
    weak = np.isin(fitted.features_["role"], ("weakly relevant, non-redundant", "supporting"))
    assert weak.any()
    for record in fitted.features_[weak]:
        words = f"it has {record['relevance_given']:.3g} nats given 'age', 'sex' and 'site'"
        assert words in fitted.explain(record["name"])
    facts = make_facts(fitted)
    sentence = facts["sentences"][facts["columns"]["sentence"][int(np.flatnonzero(weak)[0])]]
    assert "it has {relevance_given} nats given 'age', 'sex' and 'site'" in sentence
    X.assign(y=y).to_csv(tmp_path / "a.csv", index=False)
    options = [tmp_path / "a.csv", "--target", "y", "--order", order]
    written = tmp_path / "results.csv"
    for more in ([], ["--condition-on", "age,sex,site"]):
        assert slfs("select", *options, *more, "--results", written)[0] == 0
        assert ("relevance_given" in pd.read_csv(written)) == bool(more)
    table = pd.read_csv(written, index_col="name")
    assert table.loc[record["name"], "relevance_given"] == pytest.approx(record["relevance_given"])
    _, out, _ = slfs("explain", record["name"], *options, *more, "--json")
    assert json.loads(out)["relevance_given"] == pytest.approx(record["relevance_given"])


def test_pairs_of_samples_are_in_the_same_fold():
    """The partner of a sample has another class, so that it would predict the wrong one."""
    random = np.random.default_rng(0)
    patient, y = np.repeat([f"p{i}" for i in range(100)], 2), np.tile(["normal", "tumor"], 100)
    X = pd.DataFrame(random.normal(size=(200, 40)), columns=[f"g{i}" for i in range(40)])
    X["g0"] += 0.8 * (y == "tumor")
    X["patient"] = patient
    found = SLFS(condition_on="patient").fit(X, y).size_path_
    grouped = SLFS(condition_on="patient").fit(X, y, groups=patient).size_path_
    np.testing.assert_array_equal(found.log_loss, grouped.log_loss)
    assert found.log_loss[0] == pytest.approx(np.log(2), abs=1e-3)
    few = SLFS(condition_on="batch").fit(X.assign(batch=patient > "p5"), y)
    assert few.size_path_.log_loss[0] < 0.7


def test_differences_of_whole_numbers_within_pairs_are_found():
    """Whole numbers were cut as they are, so that both samples of a pair were in the same interval."""
    random = np.random.default_rng(0)
    pair, y = np.repeat([f"p{i}" for i in range(100)], 2), np.tile([0, 1], 100)
    scores = np.repeat(random.integers(5, 60, (100, 40)), 2, axis=0) + random.integers(-1, 2, (200, 40))
    scores[:, :20] += y[:, np.newaxis]
    table = pd.DataFrame(scores).add_prefix("g").assign(pair=pair)
    found = p_values(table, y, condition_on=["pair"])
    assert found[:20].max() < 1e-4
    assert found[20:40].min() > 1e-3


@pytest.mark.parametrize("n_categories", [300, 500])
def test_categories_that_mostly_occur_once_are_conditioned_on(n_categories):
    """More than 255 were pooled if they occur once, so that they had no effect."""
    random = np.random.default_rng(0)
    category = np.arange(n_categories + 20) % n_categories
    y = random.integers(0, 2, len(category))
    X = pd.DataFrame({"id": [f"L{one}" for one in category], "x": random.normal(size=len(y)) + 3 * y})
    assert SLFS().fit(X[["x"]], y).pvalues_[0] < 1e-30
    assert SLFS(condition_on="id").fit(X, y).pvalues_[1] > 1e-6  # of up to 20 pairs
