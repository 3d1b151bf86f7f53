"""Generated, seeded tables in the shapes in which feature selectors are compared."""

import numpy as np
from scipy import sparse

from slfs.datasets import find

SETS = {
    "A": (1150, 20_000, 3, 2, 1),
    "B": (7797, 617, 5, 26, 2),
    "D": (20_000, 16, 16, 26, 5),
    "E": (200, 10_000, 3, 2, 3),
    "F": (1150, 100_000, 3, 2, 4),
}
"""Arguments of `coded`."""


def coded(n_samples, n_columns, n_levels, n_classes, seed):
    """Generate integers: 40 columns that depend on the class, 200 that depend on these, noise."""
    random = np.random.default_rng(seed)
    y = random.integers(0, n_classes, n_samples)
    X = random.integers(0, n_levels, (n_samples, n_columns), dtype=np.int32)
    chosen = random.permutation(n_columns)[: min(240, n_columns)]
    informative, redundant = chosen[: len(chosen) // 6], chosen[len(chosen) // 6 :]
    for j in informative:
        shares = random.dirichlet(np.full(n_levels, random.uniform(0.5, 3)), n_classes).cumsum(axis=1)
        X[:, j] = (shares[y, :-1] < random.random((n_samples, 1))).sum(axis=1)
    for j in redundant:
        same = random.random(n_samples) < random.uniform(0.3, 0.8)
        X[same, j] = X[same, random.choice(informative)]
    return X, y


def coded_set(name):
    """Generate one of the `SETS`."""
    return coded(*SETS[name])


def set_c():
    """Generate 2600 x 500 floats, two classes: 60 columns shifted by the class, 40 scaled, noise."""
    random = np.random.default_rng(6)
    y = random.integers(0, 2, 2600)
    X = random.normal(size=(2600, 500))
    X[:, :60] += y[:, np.newaxis] * random.uniform(0.2, 1.5, 60)
    X[:, 60:100] = np.abs(X[:, 60:100]) * (1 + y[:, np.newaxis])
    return X, y


def binary_block(number, y, width=10_000):
    """Generate a block of binary columns; in every tenth block one of them depends on the class."""
    random = np.random.default_rng(number)
    block = np.unpackbits(random.integers(0, 256, (len(y), width // 8), dtype=np.uint8), axis=1)
    if number % 10 == 0:
        block[:, 7] = y ^ (random.random(len(y)) < 0.3)
    return block


def paper(name):
    """Load a dataset of the paper as an array or a sparse array, with its class codes."""
    path = find(name)
    if path is None:
        raise FileNotFoundError(f"the dataset {name} is missing; `slfs datasets` shows where to put it")
    with np.load(path) as data:
        if "indptr" in data:
            parts = (data["data"], data["indices"], data["indptr"])
            return sparse.csr_array(parts, shape=tuple(data["shape"])), data["y"]
        return data["X"], data["y"]
