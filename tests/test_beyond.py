"""Information beyond covariates: the drop in log loss of models that are fitted by brute force."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.stats import chi2
from sklearn.metrics import mutual_info_score
from threadpoolctl import threadpool_info, threadpool_limits

from slfs import SLFS, MDLPDiscretizer
from slfs.evaluation.significance import p_values
from slfs.measures.adjusted import fit_covariates
from slfs.measures.beyond import fit_baseline
from slfs.screening.plan import BlockLimits, block_limits

Codes = np.ndarray[Any, Any]


def smallest_log_loss(columns: list[Codes], y: Codes, weights: Codes | None = None) -> float:
    """Fit a log-linear model with one table per column by a general optimizer; return its log loss."""
    weights = np.ones(len(y)) if weights is None else weights
    dummies = [column[:, np.newaxis] == np.unique(column)[1:] for column in columns]
    design = np.column_stack([np.ones(len(y)), *dummies]).astype(float)
    n_classes = int(y.max()) + 1
    hit = np.eye(n_classes)[y]

    def loss(flat: Codes) -> tuple[float, Codes]:
        score = np.column_stack([design @ flat.reshape(design.shape[1], -1), np.zeros(len(y))])
        score -= np.logaddexp.reduce(score, axis=1)[:, np.newaxis]
        slope = design.T @ (weights[:, np.newaxis] * (np.exp(score) - hit))[:, :-1]
        return -(weights @ (hit * score).sum(axis=1)) / weights.sum(), slope.ravel() / weights.sum()

    start = np.zeros(design.shape[1] * (n_classes - 1))
    found = minimize(loss, start, jac=True, method="BFGS", options={"gtol": 1e-8, "maxiter": 3000})
    return float(found.fun)


def conditional_information(f: Codes, y: Codes, given: Codes) -> float:
    """I(f;y|given) of the samples, with interactions."""
    return sum(
        (given == level).mean() * mutual_info_score(f[given == level], y[given == level])
        for level in np.unique(given)
    )


def added(f: Codes, y: Codes, covariates: list[Codes]) -> float:
    codes = [column.astype(np.uint8) for column in covariates]
    return fit_baseline(codes, y, int(y.max()) + 1).added(f.astype(np.uint8))


@pytest.mark.parametrize("closeness", [0, 0.5, 0.95])
@pytest.mark.parametrize(("n_covariates", "n_classes"), [(1, 2), (1, 4), (2, 3), (3, 2)])
def test_it_is_the_drop_in_log_loss(n_covariates: int, n_classes: int, closeness: float) -> None:
    random = np.random.default_rng(n_covariates + 10 * n_classes)
    covariates = list(random.integers(0, 3, (n_covariates, 300)))
    f = np.where(random.random(300) < closeness, covariates[0], random.integers(0, 4, 300))
    kept = random.random(300)
    y = np.where(kept < 0.4, f, np.where(kept < 0.7, covariates[-1], 7 * kept.argsort())) % n_classes
    expected = smallest_log_loss(covariates, y) - smallest_log_loss([*covariates, f], y)
    assert added(f, y, covariates) == pytest.approx(expected, abs=5e-5)
    assert expected > 0.01


def test_levels_without_some_classes() -> None:
    """The best tables are infinite, but the log loss is not."""
    random = np.random.default_rng(0)
    z, y = random.integers(0, 3, 200), random.integers(0, 3, 200)
    f = np.where(y == 2, 2, random.integers(0, 3, 200))  # levels 0 and 1 never occur with class 2
    expected = smallest_log_loss([z], y) - smallest_log_loss([z, f], y)
    assert added(f, y, [z]) == pytest.approx(expected, abs=1e-5)
    assert added(y, y, [z]) == pytest.approx(smallest_log_loss([z], y), abs=1e-9), "all there is to know"


def test_without_interaction_it_is_the_conditional_information() -> None:
    """The counts are those of a model without interaction, so that the additive model is the truth."""
    z, f = np.divmod(np.arange(6), 2)
    share = 1 / (1 + np.exp(-(1.5 * (z - 1) + 2 * f - 1)))
    size = np.array([3000, 1000, 2000, 2000, 1000, 3000])  # z and f depend on each other
    n_cases = np.round(size * share).astype(int)
    z, f = (np.repeat(np.tile(part, 2), np.append(n_cases, size - n_cases)) for part in (z, f))
    y = np.repeat([1, 0], [n_cases.sum(), (size - n_cases).sum()])
    expected = conditional_information(f, y, z)
    assert added(f, y, [z]) == pytest.approx(expected, rel=1e-4)
    assert mutual_info_score(f, y) > 1.3 * expected


def test_columns_that_add_nothing() -> None:
    random = np.random.default_rng(1)
    z, other = random.integers(0, 5, (2, 400))
    y = (z + random.integers(0, 3, 400)) % 2
    assert added(z // 2, y, [z, other]) < 1e-9
    assert added(np.zeros(400, int), y, [z]) == 0
    assert added(random.integers(0, 2, 400), y, [z]) < 5 / 800


def test_weak_effects_are_those_of_the_score_test() -> None:
    random = np.random.default_rng(3)
    z, f = random.integers(0, 3, 500), random.integers(0, 3, 500)
    y = (random.random(500) < 1 / (1 + np.exp(1 - 0.5 * z - 0.3 * f))).astype(int)
    p_value = fit_covariates([z.astype(np.uint8)], y).test(f.astype(np.uint8)[np.newaxis])[0]
    assert p_value == pytest.approx(chi2.sf(2 * 500 * added(f, y, [z]), 2), rel=0.2)
    assert 0 < p_value < 0.2


@pytest.fixture(scope="module")
def study() -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    """A marker that is the class with 97%, in batches that tell nothing."""
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 1000)
    marker = np.where(random.random(1000) < 0.97, y, 1 - y)
    X = pd.DataFrame(
        {
            "batch": random.choice(["a", "b", "c"], 1000),
            "marker": marker.astype(str),
            "number": y + 0.6 * random.normal(size=1000),
        }
    )
    return X, y


def test_noise_as_a_covariate_takes_nothing_away(
    study: tuple[pd.DataFrame, np.ndarray[Any, Any]],
) -> None:
    X, y = study
    selector = SLFS(condition_on="batch").fit(X, y)
    records = pd.DataFrame(selector.features_).set_index("name")
    levels = MDLPDiscretizer().fit(X, y).transform(X)
    batch = X["batch"].astype("category").cat.codes.to_numpy()
    for j, name in enumerate(["marker", "number"], 1):
        truth = conditional_information(levels[:, j], y, batch)
        assert records.relevance_given[name] == pytest.approx(truth, rel=0.01), name
        assert records.relevance_given[name] == pytest.approx(records.relevance[name], rel=0.02)
    assert records.relevance_given["marker"] > 0.5, "more than half a nat"
    assert f"{records.relevance_given['marker']:.3g} nats given 'batch'" in selector.explain("marker")


def test_blocks_and_weights(study: tuple[pd.DataFrame, np.ndarray[Any, Any]]) -> None:
    X, y = study
    random = np.random.default_rng(4)
    whole = random.integers(0, 3, 1000)
    selector = SLFS(condition_on="batch", n_features_to_select=1)
    weighted = selector.fit(X, y, sample_weight=whole).features_["relevance_given"]
    rows = np.repeat(np.arange(1000), whole)
    repeated = selector.fit(X.iloc[rows], y[rows]).features_["relevance_given"]
    np.testing.assert_allclose(weighted, repeated)
    with block_limits(BlockLimits(n_columns=1)):
        np.testing.assert_array_equal(
            selector.fit(X.iloc[rows], y[rows]).features_["relevance_given"], repeated
        )
    half = selector.fit(X, y, sample_weight=np.where(y == 1, 1.5, 0.5)).features_
    batch = X["batch"].astype("category").cat.codes.to_numpy()
    marker = (X["marker"] == "1").to_numpy().astype(int)
    weights = np.where(y == 1, 3.0, 1.0)
    expected = smallest_log_loss([batch], y, weights) - smallest_log_loss([batch, marker], y, weights)
    assert half["relevance_given"][1] == pytest.approx(expected, abs=1e-6)


def test_bins_of_a_target_and_rare_classes() -> None:
    random = np.random.default_rng(5)
    z, f = random.integers(0, 2, (2, 600))
    X = pd.DataFrame({"z": z.astype(str), "f": f.astype(str)})
    target = z + 2 * f + random.random(600)
    selector = SLFS(condition_on="z", target="regression").fit(X, target)
    y = np.searchsorted(selector.target_bins_["upper"][:-1], target)
    expected = smallest_log_loss([z], y) - smallest_log_loss([z, f], y)
    assert selector.features_["relevance_given"][1] == pytest.approx(expected, abs=1e-4)
    rare = np.where(np.arange(600) < 6, 2 + np.arange(600) // 2, f)  # classes of two samples
    found = SLFS(condition_on="z", n_features_to_select=1).fit(X, rare).features_
    expected = smallest_log_loss([z], rare) - smallest_log_loss([z, f], rare)
    assert found["relevance_given"][1] == pytest.approx(expected, abs=1e-4)


def test_columns_whose_gaps_are_explained_are_dropped() -> None:
    """Numbers that depend on the class have no levels: they are too weak, and not without evidence."""
    random = np.random.default_rng(29)
    batch, y = random.integers(0, 3, 400), random.integers(0, 2, 400)
    y = np.where(random.random(400) < 0.4, batch > 1, y)
    gap = (batch == 2) & (random.random(400) < 0.9)
    X = pd.DataFrame({"batch": batch.astype(str)})
    for j in range(3):
        X[f"weak {j}"] = np.where(gap, np.nan, 0.3 * y * (j == 0) + random.normal(size=400))
    own = SLFS().fit(X, y).features_
    assert own["n_levels"][1:].tolist() == [2, 2, 2], "missing or not"
    assert own["relevance"][1] > 0.02
    fitted = SLFS(condition_on="batch").fit(X, y)
    records = fitted.features_[1:]
    assert len(set(records["relevance_given"])) == 1
    assert records["reason"].tolist() == ["gaps not significant", "explained", "explained"]
    assert records["role"][0] == "too weak"
    assert (records["p_value"][1:] > 0.05).all()
    found = p_values(X, y, condition_on="batch")[1]
    assert records["p_value"][0] == pytest.approx(2 * found)
    assert found < 0.01, "the numbers depend on the class"
    told = fitted.explain("weak 0")
    assert "only by whether its value is missing, which is not significant given 'batch'" in told
    assert "(p = " in told


def test_blas_has_one_thread_for_small_matrices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several threads wait for each other, which takes seconds on busy cores."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({name: rng.integers(0, 4, 300) for name in ("age", "a", "b")})
    seen, eigh = set(), np.linalg.eigh

    def n_threads() -> set[int]:
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    def watched(matrix: np.ndarray[Any, Any]) -> Any:
        seen.update(n_threads())
        return eigh(matrix)

    monkeypatch.setattr(np.linalg, "eigh", watched)
    with threadpool_limits(2, user_api="blas"):
        before = n_threads()
        p_values(X, rng.integers(0, 3, 300), condition_on=["age"], n_jobs=2)
        assert seen == {1}
        assert n_threads() == before
