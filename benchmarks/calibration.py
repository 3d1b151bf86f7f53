"""How often noise reaches a p-value, and how many true columns are found: tables to print."""

import numpy as np
from scipy.stats import chi2, fisher_exact, kruskal, rankdata, spearmanr

from benchmarks.internals import q_values
from slfs.evaluation import p_values

LEVELS = (0.05, 0.01, 1e-3, 1e-4)
EIGHT = (4, 5, 6, 6, 7, 8, 9, 12)
"""Sizes of eight small classes, 57 samples in all."""


def calibration(n_columns=400_000, width=500):
    """How often columns of noise reach a p-value, divided by it; false discoveries at q = 0.1."""
    kinds = {
        name: (np.repeat(np.arange(len(sizes)), sizes), make, options)
        for name, (sizes, make, options) in NOISE.items()
    }
    return _calibration(kinds, n_columns, width)


def target_calibration(n_columns=400_000, width=500):
    """The same for continuous targets."""
    kinds = {
        f"{name}, {n} samples": (draw(np.random.default_rng(n), n), make, options)
        for name, n, draw, make, options in TARGET_NOISE
    }
    return _calibration(kinds, n_columns, width)


def _calibration(kinds, n_columns, width):
    print(f"\n  Noise, {n_columns} columns of each kind, in tables of {width}: probability / p")
    print(f"  {'':<52}" + "".join(f"{level:>9g}" for level in LEVELS) + f"{'FDR at 0.1':>12}")
    for name, (y, make, options) in kinds.items():
        columns = max(400 * width, min(n_columns, 400_000_000 // len(y)))
        found = []
        for seed in range(columns // width):
            random = np.random.default_rng(seed)
            found.append(p_values(make(random, (len(y), width)), y, **options))
        rates = [np.mean(np.concatenate(found) <= level) / level for level in LEVELS]
        false = np.mean([(q_values(part) <= 0.1).any() for part in found])
        print(f"  {name:<52}" + "".join(f"{rate:9.2f}" for rate in rates) + f"{false:12.3f}", flush=True)
    return []


def power(n_permutations=20_000):
    """Discoveries at q < 0.05 beside Kruskal-Wallis and Fisher's exact test, and permutations."""
    print("\n  Discoveries at q < 0.05")
    print(f"  {'':<44}{'slfs':>8}{'SciPy':>8}{'of these':>9}{'permuted':>9}")
    for name, (make, peer, options) in SHIFTS.items():
        X, y = make(np.random.default_rng(0))
        tests = (
            p_values(X, y, **options),
            peer(X, y),
            p_values(X, y, n_permutations=n_permutations, **options),
        )
        ours, theirs, permuted = (q_values(found) < 0.05 for found in tests)
        both = (ours & theirs).sum() / max(theirs.sum(), 1)
        print(f"  {name:<44}{ours.sum():8}{theirs.sum():8}{both:9.0%}{permuted.sum():9}", flush=True)
    return []


def target_power():
    """Discoveries at q < 0.05 for continuous targets, beside SciPy's tests."""
    print("\n  Discoveries at q < 0.05, continuous targets")
    print(f"  {'':<52}{'slfs':>8}{'spearmanr':>11}{'kruskal':>9}")
    for name, (n_samples, n_true, n_columns, relate, options) in TRENDS.items():
        random = np.random.default_rng(0)
        y = random.normal(size=n_samples)
        shape, levels = (n_samples, n_columns), "categorical_features" in options
        X = random.integers(6, size=shape) if levels else random.normal(size=shape)
        X[:, :n_true] = relate(random, y[:, np.newaxis], X[:, :n_true])
        tests = (
            p_values(X, y, **options),
            np.array([spearmanr(x, y).pvalue for x in X.T]),
            np.array([_kruskal(x if levels else _quarters(x), y) for x in X.T]),
        )
        ours, by_rank, by_group = ((q_values(found) < 0.05).sum() for found in tests)
        print(f"  {name:<52}{ours:8}{by_rank:11}{by_group:9}", flush=True)
    return []


def _quarters(x):
    return np.searchsorted(np.quantile(x, (0.25, 0.5, 0.75)), x)


def _kruskal(groups, y):
    return kruskal(*(y[groups == group] for group in np.unique(groups))).pvalue


def _normal(random, shape):
    return random.normal(size=shape)


def _zeros(share):
    return lambda random, shape: np.where(random.random(shape) < share, 0.0, random.normal(size=shape))


def _missing(share):
    return lambda random, shape: np.where(
        random.random(shape) < share, np.nan, random.normal(size=shape)
    )


def _counts(mean):
    return lambda random, shape: random.poisson(mean, shape).astype(float)


def _levels(number, steepness=0.0):
    weights = 1 / np.arange(1, number + 1) ** steepness
    return lambda random, shape: random.choice(number, p=weights / weights.sum(), size=shape)


CATEGORIES = {"categorical_features": "all"}
NOISE = {
    "numbers, 4 + 4 samples": ((4, 4), _normal, {}),
    "numbers, 6 + 6": ((6, 6), _normal, {}),
    "numbers, 10 + 10": ((10, 10), _normal, {}),
    "numbers, 4 + 16": ((4, 16), _normal, {}),
    "numbers, 8 classes of 4 to 12": (EIGHT, _normal, {}),
    "numbers, 14 classes of 4": ((4,) * 14, _normal, {}),
    "numbers, 100 + 100": ((100, 100), _normal, {}),
    "numbers, 10 + 190": ((10, 190), _normal, {}),
    "numbers, 50 classes of 4": ((4,) * 50, _normal, {}),
    "numbers, 50 classes of 20": ((20,) * 50, _normal, {}),
    "numbers, 500 + 9 500": ((500, 9_500), _normal, {}),
    "numbers, 50 000 + 50 000": ((50_000, 50_000), _normal, {}),
    "20% missing, 8 classes of 4 to 12": (EIGHT, _missing(0.2), {}),
    "80% zeros, 10 + 190": ((10, 190), _zeros(0.8), {}),
    "90% zeros, 8 classes of 4 to 12": (EIGHT, _zeros(0.9), {}),
    "counts (mean 1), 8 classes of 4 to 12": (EIGHT, _counts(1), {}),
    "counts (mean 0.1), 10 + 190": ((10, 190), _counts(0.1), {}),
    "3% ones, 10 + 190": ((10, 190), lambda random, shape: random.random(shape) < 0.03, CATEGORIES),
    "10% ones, 8 classes of 4 to 12": (
        EIGHT,
        lambda random, shape: random.random(shape) < 0.1,
        CATEGORIES,
    ),
    "4 levels, 100 + 100": ((100, 100), _levels(4), CATEGORIES),
    "20 levels, most of them rare; 20 + 60 + 120": ((20, 60, 120), _levels(20, 1.2), CATEGORIES),
    "20 levels, most of them rare; 10 + 190": ((10, 190), _levels(20, 1.2), CATEGORIES),
    "80 levels, 100 + 100": ((100, 100), _levels(80), CATEGORIES),
}


def kruskal_wallis(X, y):
    """The test of Kruskal and Wallis of each column, with ties, as SciPy's ``kruskal``."""
    ranks, sizes = rankdata(X, axis=0) - (len(y) + 1) / 2, np.bincount(y)
    sums = np.stack([ranks[y == c].sum(axis=0) for c in range(len(sizes))])
    statistic = (len(y) - 1) * (sums**2 / sizes[:, np.newaxis]).sum(axis=0) / (ranks**2).sum(axis=0)
    return chi2.sf(statistic, len(sizes) - 1)


def fisher(X, y):
    """Fisher's exact test of each column of zeros and ones."""
    tables = [[[np.sum((x == a) & (y == c)) for c in (0, 1)] for a in (0, 1)] for x in X.T]
    return np.array([fisher_exact(table).pvalue for table in tables])


def _shifted(sizes, n_true, n_columns, scale):
    """Draw numbers; in the first columns the classes differ by normal shifts."""

    def make(random):
        y = np.repeat(np.arange(len(sizes)), sizes)
        X = random.normal(size=(len(y), n_columns))
        X[:, :n_true] += scale * random.normal(size=(len(sizes), n_true))[y]
        return X, y

    return make


def _ones(random):
    """Draw zeros and ones; in the first columns ones are three times as frequent in the rare class."""
    y = np.repeat([0, 1], [40, 160])
    X = random.random((200, 3000)) < 0.15
    X[:40, :600] = random.random((40, 600)) < 0.45
    return X.astype(int), y


SHIFTS = {
    "8 classes of 4 to 12, 2500 of 6830 shifted": (_shifted(EIGHT, 2500, 6830, 0.6), kruskal_wallis, {}),
    "14 classes of 4, 2500 of 6830 shifted": (
        _shifted((4,) * 14, 2500, 6830, 0.7),
        kruskal_wallis,
        {},
    ),
    "3 classes of 30, 500 of 5000 shifted": (_shifted((30,) * 3, 500, 5000, 0.5), kruskal_wallis, {}),
    "100 + 100, 500 of 5000 shifted": (_shifted((100, 100), 500, 5000, 0.4), kruskal_wallis, {}),
    "20 + 180, 500 of 5000 shifted": (_shifted((20, 180), 500, 5000, 0.6), kruskal_wallis, {}),
    "0/1, 40 + 160, 600 of 3000 differ": (_ones, fisher, CATEGORIES),
}


def _mostly_zero(random, n_samples):
    return np.where(random.random(n_samples) < 0.6, 0.0, random.normal(size=n_samples))


def _any_number(random, n_samples):
    return random.normal(size=n_samples)


def _five_values(random, n_samples):
    return random.integers(5, size=n_samples).astype(float)


REGRESSION = {"target": "regression"}
TARGET_NOISE = (
    ("numbers", 20, _any_number, _normal, REGRESSION),
    ("numbers", 200, _any_number, _normal, REGRESSION),
    ("numbers", 1000, _any_number, _normal, REGRESSION),
    ("numbers, 30% missing", 20, _any_number, _missing(0.3), REGRESSION),
    ("10% ones", 200, _any_number, lambda random, shape: random.random(shape) < 0.1, REGRESSION),
    ("numbers; 60% of the target are 0", 20, _mostly_zero, _normal, REGRESSION),
    ("80% zeros; 60% of the target are 0", 200, _mostly_zero, _zeros(0.8), REGRESSION),
    ("counts, 90% zeros", 200, _any_number, _counts(0.1), REGRESSION),
    ("3 values; target with 5 values", 200, _five_values, _levels(3), REGRESSION),
    ("6 levels", 20, _any_number, _levels(6), REGRESSION | CATEGORIES),
    ("40 levels", 200, _any_number, _levels(40), REGRESSION | CATEGORIES),
    ("40 levels; 60% of the target are 0", 200, _mostly_zero, _levels(40), REGRESSION | CATEGORIES),
)


def _monotone(slope):
    return lambda _, y, x: x + slope * y


def _in_the_middle(_, y, x):
    """Columns that are near zero where the target is high."""
    return x * np.exp(-0.25 * y)


def _levels_of_target(random, y, x):
    """Half of the samples have the sixth of the target as level."""
    own = np.clip((y + 1.5) * 2, 0, 5).astype(int)
    return np.where(random.random(x.shape) < 0.35, own, x)


def _spread(_, y, x):
    """Columns that are larger where the target is far from its mean, on either side."""
    return x + 0.8 * np.abs(y)


TRENDS = {
    "monotone, 30 samples": (30, 500, 3000, _monotone(0.8), REGRESSION),
    "monotone, 100 samples": (100, 500, 3000, _monotone(0.5), REGRESSION),
    "monotone, 400 samples": (400, 500, 3000, _monotone(0.2), REGRESSION),
    "the target is high in the middle, 400 samples": (400, 500, 3000, _in_the_middle, REGRESSION),
    "the target varies more where the column is high, 400": (400, 500, 3000, _spread, REGRESSION),
    "six levels, 100 samples": (100, 100, 600, _levels_of_target, REGRESSION | CATEGORIES),
}
