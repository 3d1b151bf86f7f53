"""False discoveries on noise, and power beside peers on data from a known network: tables to print."""

import subprocess
import tempfile
import time
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np

RATE = 0.1
PEERS = Path(".venv-peers/bin/python")

BORUTA = """
import sys
import numpy as np
from boruta import BorutaPy
from sklearn.ensemble import RandomForestClassifier
data = np.load(sys.argv[1])
forest = RandomForestClassifier(max_depth=5, class_weight="balanced", n_jobs=2, random_state=0)
found = BorutaPy(forest, n_estimators="auto", random_state=0).fit(data["X"], data["y"])
importance = np.nanmean(found.importance_history_, axis=0)
print(*found.support_.astype(int))
print(*np.lexsort((-importance, found.indices_)))
"""


def permutations():
    """1000 permutations of 200 x 10000 numbers, two cores, beside as many without giving up early."""
    from slfs.evaluation import significance

    random = np.random.default_rng(0)
    X, y = random.normal(size=(200, 10_000)), random.integers(0, 2, 200)

    def seconds(n_permutations):
        times = []
        for _ in range(4):
            begin = time.perf_counter()
            significance.p_values(X, y, n_permutations=n_permutations, n_jobs=2)
            times.append(time.perf_counter() - begin)
        return min(times)

    early = seconds(1000)
    enough, significance.ENOUGH = significance.ENOUGH, 10**9
    try:
        return [("permutation p-values", early, "drawing all of them", seconds(1000))]
    finally:
        significance.ENOUGH = enough


def fdr(n_datasets=1000, n_networks=10):
    """False discoveries at q = 0.1: 1000 tables of noise of each kind; known networks beside peers."""
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
    """Whether the tests alone and SLFS find anything in noise; how much SLFS keeps by default."""
    from slfs import SLFS
    from slfs.measures.false_discovery import LordPlusPlus, q_values

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tested = SLFS(irrelevance="test", alpha=RATE, categorical_features=categorical).fit(X, y)
        given = SLFS(
            irrelevance="test", order="given", alpha=RATE, categorical_features=categorical
        ).fit(X, y)
        plain = SLFS(categorical_features=categorical).fit(X, y)
    p_values = tested.features_["p_value"]
    return (
        (q_values(p_values) <= RATE).any(),
        LordPlusPlus(RATE).decide(p_values).any(),
        tested.n_features_ > 0,
        given.n_features_ > 0,
        plain.n_features_,
    )


def _labels(random, shares):
    """200 labels, each class at least twice."""
    y = random.choice(len(shares), p=shares, size=200)
    y[: 2 * len(shares)] = np.repeat(np.arange(len(shares)), 2)
    return y


def _numbers(seed, shares=(0.5, 0.5)):
    random = np.random.default_rng(seed)
    return random.normal(size=(200, 500)), _labels(random, shares), "from_dtype"


def _factors(seed):
    """Numbers that hang together: ten of them behind all columns."""
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
    "numbers, 5 % in one class": lambda seed: _numbers(seed, (0.95, 0.05)),
    "numbers that hang together": _factors,
    "4 levels, two classes": lambda seed: _levels(seed, 4, (0.5, 0.5)),
    "20 levels, most of them rare; three classes": lambda seed: _levels(
        seed, 20, (0.7, 0.25, 0.05), 1.5
    ),
    "0/1 with 1 % to 5 % ones, 5 % in one class": _rare,
}


def _print_networks(n_networks):
    print(
        f"\n  {n_networks} known networks, N = 200: 6 children of the class, 12 below these, 282 noise"
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
    """Size, share of children and of related columns found, share of noise, for each method."""
    from slfs import SLFS, Chi2Ranking, make_network_classification
    from slfs.measures.false_discovery import q_values

    made = make_network_classification(200, n_noise=282, random_state=seed)
    X, y, categorical = made.data, made.target, "all"
    if numbers:
        X = X + np.random.default_rng(seed).normal(scale=0.5, size=X.shape)
        categorical = "from_dtype"
    tested = SLFS(irrelevance="test", alpha=RATE, categorical_features=categorical).fit(X, y)
    plain = SLFS(categorical_features=categorical).fit(X, y)
    size = max(tested.n_features_, 1)
    found = {
        "SLFS, test": tested.indices_,
        "SLFS, test, given": SLFS(
            irrelevance="test", order="given", alpha=RATE, categorical_features=categorical
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
    if PEERS.exists():
        support, order = _boruta(X, y)
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


def _boruta(X, y):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "arrays.npz"
        np.savez(path, X=X, y=y)
        command = [str(PEERS), "-W", "ignore", "-c", BORUTA, str(path)]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
    return [np.array(line.split(), int) for line in run.stdout.splitlines()[-2:]]
