"""Columns of many categories that owe much of their information to chance."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest

from slfs import MRMR, SLFS
from slfs.coding.grouping import left_out_information


def dealers_and_calls(seed=0, n_samples=1500):
    """A column of 900 categories with small effects, and one of counts with a larger effect."""
    random = np.random.default_rng(seed)
    effect = random.normal(0, 0.9, 900)
    dealer = random.integers(0, 900, n_samples)
    y = pd.Series(random.random(n_samples) < 1 / (1 + np.exp(1.2 - effect[dealer])))
    return pd.DataFrame(
        {"dealer": np.char.add("D", dealer.astype(str)), "calls": random.poisson(0.6 + y)}
    ), y


@pytest.mark.filterwarnings("default")
def test_a_selected_column_whose_information_is_mostly_due_to_chance_is_warned_about():
    X, y = dealers_and_calls()
    with pytest.warns(UserWarning, match=r"mostly due to chance: 'dealer' \(0\.\d+ nats, 0.\d+ about"):
        selector = MRMR(n_features_to_select=1).fit(X, y)
    nats = float(
        re.search(r"they tell (\S+) nats about samples that are left out", selector.explain("dealer"))[1]
    )
    assert 0 < nats < selector.scores_[0] / 5
    assert "due to chance" not in selector.explain("calls")


@pytest.mark.parametrize("unit", [1, 6])
def test_information_about_samples_that_are_left_out(unit):
    random = np.random.default_rng(0)
    levels, y = random.integers(0, 20, 150), random.integers(0, 3, 150)
    shares = np.bincount(y) / len(y)

    def log_share(i, same):
        others = same & (np.arange(len(y)) != i)
        return np.log((np.sum(others & (y == y[i])) + 5 * shares[y[i]]) / (others.sum() + 5))

    everywhere = np.ones(len(y), bool)
    found = [log_share(i, levels == levels[i]) - log_share(i, everywhere) for i in range(len(y))]
    counts = np.zeros((20, 3), np.int64)
    np.add.at(counts, (levels, y), unit)
    assert left_out_information(counts, unit) == pytest.approx(np.mean(found))


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
    assert "Most of it is due to chance" in selector.explain("dealer")
