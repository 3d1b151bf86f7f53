"""False discoveries on noise, and power on data from known networks: tables to print."""

import warnings
from collections import defaultdict

import numpy as np

from benchmarks import peers
from benchmarks.internals import LordPlusPlus, q_values, without_early_stopping
from benchmarks.timing import best
from slfs import SLFS, Chi2Ranking, make_network_classification
from slfs.evaluation import p_values

RATE = 0.1


def permutations():
    """1000 permutations of 200 x 10000 numbers, two cores, compared with no early stopping."""
    random = np.random.default_rng(0)
    X, y = random.normal(size=(200, 10_000)), random.integers(0, 2, 200)
    early = best(lambda: p_values(X, y, n_permutations=1000, n_jobs=2), 3)
    with without_early_stopping():
        every = best(lambda: p_values(X, y, n_permutations=1000, n_jobs=2), 3)
    return [("permutation p-values", early, "without early stopping", every)]


def fdr(n_datasets=1000, n_networks=10):
    """False discoveries at q = 0.1: 1000 tables of noise of each kind; known networks."""
    _print_noise(n_datasets)
    _print_networks(n_networks)
    return []


def _print_noise(n_datasets):
    print(f"\n  Noise, {n_datasets} tables of 200 x 500 of each kind: mean false discovery proportion")
    print(f"  {'':<44}{'BH':>8}{'LORD++':>8}{'SLFS':>8}{'given':>8}{'mdl keeps':>11}")
    for name, make in NOISE.items():
        shares = np.mean([_false_shares(*make(seed)) for seed in range(n_datasets)], axis=0)
        print(f"  {name:<44}" + "".join(f"{share:8.3f}" for share in shares[:4]) + f"{shares[4]:11.1f}")


def _false_shares(X, y, categorical):
    """Return whether the tests alone and SLFS select noise, and the default number of columns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tested = SLFS(irrelevance="test", fdr=RATE, categorical_features=categorical).fit(X, y)
        given = SLFS(irrelevance="test", order="given", fdr=RATE, categorical_features=categorical).fit(
            X, y
        )
        plain = SLFS(categorical_features=categorical).fit(X, y)
    found = tested.features_["p_value"]
    return (
        (q_values(found) <= RATE).any(),
        LordPlusPlus(RATE).decide(found).any(),
        tested.n_features_ > 0,
        given.n_features_ > 0,
        plain.n_features_,
    )


def _labels(random, shares):
    """Draw 200 labels with at least two samples of each class."""
    y = random.choice(len(shares), p=shares, size=200)
    y[: 2 * len(shares)] = np.repeat(np.arange(len(shares)), 2)
    return y


def _numbers(seed, shares=(0.5, 0.5)):
    random = np.random.default_rng(seed)
    return random.normal(size=(200, 500)), _labels(random, shares), "from_dtype"


def _factors(seed):
    """Draw correlated numbers with ten common factors."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(200, 10)) @ random.normal(size=(10, 500)) + random.normal(size=(200, 500))
    return X, _labels(random, (0.5, 0.5)), "from_dtype"


def _levels(seed, n_levels, shares, steepness=0.0):
    random = np.random.default_rng(seed)
    weights = 1 / np.arange(1, n_levels + 1) ** steepness
    X = random.choice(n_levels, p=weights / weights.sum(), size=(200, 500))
    return X, _labels(random, shares), "all"


def _rare(seed):
    random = np.random.default_rng(seed)
    X = random.random((200, 500)) < random.uniform(0.01, 0.05, 500)
    return X.astype(np.int8), _labels(random, (0.95, 0.05)), "all"


NOISE = {
    "numbers, two classes": _numbers,
    "numbers, 5% in one class": lambda seed: _numbers(seed, (0.95, 0.05)),
    "correlated numbers": _factors,
    "4 levels, two classes": lambda seed: _levels(seed, 4, (0.5, 0.5)),
    "20 levels, most of them rare; three classes": lambda seed: _levels(
        seed, 20, (0.7, 0.25, 0.05), 1.5
    ),
    "0/1 with 1% to 5% ones, 5% in one class": _rare,
}


def _print_networks(n_networks):
    print(
        f"\n  {n_networks} known networks, N = 200: 6 children of the class, 12 descendants, 282 noise"
    )
    for name, numbers in (("levels", False), ("numbers", True)):
        found = defaultdict(list)
        for seed in range(n_networks):
            for method, figures in _compare(seed, numbers).items():
                found[method].append(figures)
        print(f"\n  {name:<21}{'size':>8}{'children':>10}{'related':>9}{'noise':>8}")
        for method, figures in found.items():
            size, children, related, noise = np.mean(figures, axis=0)
            print(f"  {method:<21}{size:8.1f}{children:10.1%}{related:9.1%}{noise:8.1%}", flush=True)


def _compare(seed, numbers):
    """Return for each method its size, the shares of children and related columns, and of noise."""
    made = make_network_classification(200, n_noise=282, random_state=seed)
    X, y, categorical = made.data, made.target, "all"
    if numbers:
        X = X + np.random.default_rng(seed).normal(scale=0.5, size=X.shape)
        categorical = "from_dtype"
    tested = SLFS(irrelevance="test", fdr=RATE, categorical_features=categorical).fit(X, y)
    plain = SLFS(categorical_features=categorical).fit(X, y)
    size = max(tested.n_features_, 1)
    found = {
        "SLFS, test": tested.indices_,
        "SLFS, test, given": SLFS(
            irrelevance="test", order="given", fdr=RATE, categorical_features=categorical
        )
        .fit(X, y)
        .indices_,
        "the test alone (BH)": np.flatnonzero(q_values(tested.features_["p_value"]) <= RATE),
        "SLFS, default": plain.indices_,
        "SLFS, equal size": SLFS(n_features_to_select=size, categorical_features=categorical)
        .fit(X, y)
        .indices_,
        "chi2, equal size": Chi2Ranking(size, categorical_features=categorical).fit(X, y).indices_,
    }
    boruta = peers.boruta(X, y)
    if boruta is not None:
        support, order = boruta
        found["Boruta, equal size"] = order[:size]
        found["Boruta, its own size"] = np.flatnonzero(support)
    related = np.union1d(made.blanket, made.descendants)
    return {
        method: (
            len(columns),
            np.isin(made.blanket, columns).mean(),
            np.isin(related, columns).mean(),
            np.isin(columns, made.noise).mean() if len(columns) else 0.0,
        )
        for method, columns in found.items()
    }
