"""Columns of many categories that owe much of their information to chance."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import mutual_info_score

from slfs import MRMR, SLFS


def dealers_and_calls(seed=0, n_samples=1500):
    """A column of 900 categories with small effects, and a column of counts with a larger one."""
    random = np.random.default_rng(seed)
    effect = random.normal(0, 0.9, 900)
    dealer = random.integers(0, 900, n_samples)
    y = random.random(n_samples) < 1 / (1 + np.exp(1.2 - effect[dealer]))
    return pd.DataFrame(
        {"dealer": np.char.add("D", dealer.astype(str)), "calls": random.poisson(0.6 + y)}
    ), y


@pytest.mark.filterwarnings("default")
def test_a_selected_column_with_much_information_by_chance_is_warned_about():
    X, y = dealers_and_calls()
    with pytest.warns(
        UserWarning, match=r"many categories about the class is due to chance: 'dealer' \(255"
    ):
        selector = MRMR(n_features_to_select=1).fit(X, y)
    nats = float(selector.explain("dealer").rpartition("about ")[2].split()[0])
    found, counts = np.unique(X["dealer"], return_counts=True)
    kept = X["dealer"].isin(found[np.argsort(-counts, kind="stable")[:254]])
    levels, random = np.where(kept, X["dealer"], ""), np.random.default_rng(0)
    shuffled = [mutual_info_score(levels, random.permutation(y)) for _ in range(20)]
    assert nats == pytest.approx(np.mean(shuffled), rel=0.25)
    assert "due to chance" not in selector.explain("calls")


def test_columns_with_few_categories_or_much_information_are_not():
    X, y = dealers_and_calls()
    random = np.random.default_rng(1)
    few = np.char.add("T", random.integers(0, 12, len(y)).astype(str))
    region = np.char.add("R", (random.integers(0, 10, len(y)) + 10 * y).astype(str))
    table = pd.DataFrame({"few": few, "region": region, "calls": X["calls"]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message="Possible target leakage")
        selector = MRMR(n_features_to_select=3).fit(table, y)
    assert not any("due to chance" in selector.explain(name) for name in table)


def test_included_columns_are_not_warned_about():
    X, y = dealers_and_calls()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        selector = SLFS(n_features_to_select=2, include=["dealer"]).fit(X, y)
    assert "nats are due to chance" in selector.explain("dealer")
