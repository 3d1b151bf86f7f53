"""Ordered categories are cut, not enumerated."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from slfs import BNSLFS, SLFS, MDLPDiscretizer
from slfs._core.warn import UnseenValueWarning
from slfs.coding.level_names import level_names
from slfs.evaluation.significance import p_values
from slfs.saving import load, save
from slfs.screening.plan import BlockLimits, block_limits

GRADES = ["none", "low", "medium", "high", "very high", "maximum", "never"]

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.fixture(scope="module")
def table() -> tuple[pd.DataFrame, np.ndarray]:
    random = np.random.default_rng(0)
    n = 500
    grade = random.integers(0, 6, n)
    y = (grade + random.normal(size=n) > 2.7).astype(int)
    ordered = pd.Categorical.from_codes(
        np.where(random.random(n) < 0.1, -1, grade), GRADES, ordered=True
    )
    noise = pd.Categorical.from_codes(random.integers(0, 6, n), GRADES, ordered=True)
    return pd.DataFrame({"grade": ordered, "noise": noise, "name": ordered.as_unordered()}), y


def test_they_are_cut_like_their_positions(table: tuple[pd.DataFrame, np.ndarray]) -> None:
    X, y = table
    codes = X["grade"].cat.codes.where(X["grade"].notna()).astype(float)
    discretizer = MDLPDiscretizer().fit(X, y)
    names = [level_names(discretizer._coding, column) for column in range(3)]
    assert names[0] == ["none..low", "medium..high", "very high..maximum", "missing"]
    assert names[1] == ["none..maximum"]
    assert len(names[2]) == 7
    as_numbers = MDLPDiscretizer().fit(codes.to_frame(), y)
    np.testing.assert_array_equal(
        np.asarray(discretizer.transform(X))[:, 0],
        np.asarray(as_numbers.transform(codes.to_frame()))[:, 0],
    )


def test_they_are_tested_like_their_positions(table: tuple[pd.DataFrame, np.ndarray]) -> None:
    X, y = table
    codes = X["grade"].cat.codes.where(X["grade"].notna()).astype(float)
    assert p_values(X, y)[0] == p_values(codes.to_frame(), y)[0]
    assert p_values(X, y)[0] < p_values(X, y)[2]


def test_unseen_and_missing_values(table: tuple[pd.DataFrame, np.ndarray], tmp_path: Any) -> None:
    X, y = table
    classifier = BNSLFS().fit(X[["grade"]], y)
    new = pd.DataFrame({"grade": ["never", "maximum", "very high", None]})
    with pytest.warns(UnseenValueWarning, match="'never'"):
        found = classifier.predict_proba(new)
    np.testing.assert_allclose(found[0], np.bincount(y) / len(y))
    np.testing.assert_array_equal(found[1], found[2])
    assert found[3, 1] != pytest.approx(found[0, 1])
    save(classifier, tmp_path / "model.slfs")
    loaded = load(tmp_path / "model.slfs")
    with pytest.warns(UnseenValueWarning):
        np.testing.assert_array_equal(loaded.predict_proba(new), found)


def test_roles_and_blocks_of_rows(table: tuple[pd.DataFrame, np.ndarray]) -> None:
    X, y = table
    selector = SLFS().fit(X, y)
    assert selector.features_["role"][1] == "irrelevant"
    assert selector.features_["n_levels"][:2].tolist() == [4, 1]
    with block_limits(BlockLimits(n_rows=50)):
        other = SLFS().fit(X, y)
    np.testing.assert_array_equal(selector.pvalues_, other.pvalues_)
    np.testing.assert_array_equal(selector.indices_, other.indices_)
    included = SLFS(include=["noise"], condition_on=["grade"]).fit(X, y)
    assert included.features_["n_levels"].tolist()[:2] == [7, 6]
    assert included.features_["reason"][2] == "explained"


def test_weights_are_not_evidence() -> None:
    """Cut points of ordered categories are those of numbers, also with weights."""
    random = np.random.default_rng(1)
    grade = random.integers(0, 6, 300)
    y = (grade + 4 * random.normal(size=300) > 2.5).astype(int)
    weights = np.where(random.random(300) < 0.1, 20.3, 0.4)
    ordered = pd.DataFrame({"grade": pd.Categorical.from_codes(grade, GRADES, ordered=True)})
    found = MDLPDiscretizer().fit(ordered, y, sample_weight=weights)
    numbers = MDLPDiscretizer().fit(grade[:, np.newaxis].astype(float), y, sample_weight=weights)
    assert found._coding.n_levels.tolist() == numbers._coding.n_levels.tolist()
