"""Columns of many categories, most of whose information is due to chance."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss, roc_auc_score

from slfs import BNSLFS, MRMR, SLFS
from slfs.coding.grouping import left_out_information


def dealers_and_calls(seed, n_samples):
    """A column of 900 categories with small effects, and one of counts with a larger effect."""
    random = np.random.default_rng(seed)
    effect = np.random.default_rng(99).normal(0, 0.9, 900)
    dealer = random.integers(0, 900, n_samples)
    y = random.random(n_samples) < 1 / (1 + np.exp(1.2 - effect[dealer]))
    names, calls = np.char.add("D", dealer.astype(str)), random.poisson(0.6 + y)
    return pd.DataFrame({"dealer": names, "calls": calls}), y


@pytest.mark.parametrize("seed", range(3))
def test_a_column_whose_information_is_mostly_due_to_chance_is_not_preferred(seed):
    """It had 0.135 nats, 0.11 of them by chance, and was selected by MRMR, JMI and CMIM."""
    X, y = dealers_and_calls(seed, 1500)
    selector = MRMR(n_features_to_select=1).fit(X, y)
    assert selector.get_feature_names_out().tolist() == ["calls"]
    assert selector.scores_[0] == 0
    assert "no grouping of its categories is worth its cost" in SLFS().fit(X, y).explain("dealer")


@pytest.mark.parametrize(("n_values", "size", "spread"), [(200, 10, 0.15), (300, 20, 0.1)])
def test_many_categories_with_small_effects_are_not_chance(n_values, size, spread):
    """With prior weights up to 5 they predicted new samples badly, and were dropped."""
    random = np.random.default_rng({200: 0, 300: 3}[n_values])
    share = np.clip(random.normal(0.5, spread, n_values), 0.001, 0.999)
    X = pd.DataFrame({"c": np.repeat([f"k{i:x}q" for i in range(n_values)], size)})
    y = random.random(len(X)) < np.repeat(share, size)
    model = BNSLFS().fit(X, y)
    assert model.network_.names == ("c",)
    new = np.random.default_rng(1).random(len(X)) < np.repeat(share, size)
    assert roc_auc_score(new, model.predict_proba(X)[:, 1]) > 0.55


@pytest.mark.parametrize("seed", range(4))
def test_dates_as_text_do_not_displace_other_columns(seed):
    def make(seed, n):
        random = np.random.default_rng(seed)
        left = random.random(n) < 0.18
        days = (random.exponential(500, n) * (1.5 - left)).round()
        text = (pd.Timestamp("2026-01-01") - pd.to_timedelta(days, "D")).strftime("%d.%m.%Y")
        calls, score = random.poisson(1 + 1.2 * left), random.normal(7 - 2 * left, 2)
        return pd.DataFrame({"signup": text, "calls": calls, "score": score}), left

    X, y = make(seed, 4000)
    with pytest.warns(UserWarning, match="look like dates"):
        model = BNSLFS().fit(X, y)
    new, target = make(seed + 100, 10_000)
    path = model.selector_.size_path_
    expected = path.log_loss[model.selector_.n_features_]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # new dates
        found = log_loss(target, model.predict_proba(new))
    assert found < expected + 0.02
    assert {"calls", "score"} <= set(model.network_.names)


@pytest.mark.parametrize("shift", [0.0, 3.0, 50.0])
def test_information_about_samples_that_are_left_out(shift):
    random = np.random.default_rng(0)
    levels, y = random.integers(0, 40, 150), random.integers(0, 3, 150)
    y = np.where(random.random(150) < shift / (1 + shift), levels % 3, y)
    shares = np.bincount(y) / len(y)

    def log_share(i, same, weight):
        others = same & (np.arange(len(y)) != i)
        return np.log((np.sum(others & (y == y[i])) + weight * shares[y[i]]) / (others.sum() + weight))

    def gain(weight):
        everywhere = np.ones(len(y), bool)
        known = [log_share(i, levels == levels[i], weight) for i in range(len(y))]
        return np.mean(known) - np.mean([log_share(i, everywhere, weight) for i in range(len(y))])

    counts = np.zeros((40, 3), np.int64)
    np.add.at(counts, (levels, y), 1)
    assert left_out_information(counts) == pytest.approx(max(map(gain, (1, 5, 20, 50))))
