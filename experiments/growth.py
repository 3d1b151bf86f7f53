"""Table 1 of the paper: generated tables of growing size -> the time of each method."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from experiments.methods import make
from slfs.files.atomic import replace_file

STATED = {
    "SLFS": "O(N p d²)",
    "mRMR": "O(N p |S|)",
    "Fast-OSFS": "O(N p |S| K^|S|)",
    "alpha-investing": "O(N p |S|²)",
    "Chi2 ranking": "O(N p)",
}
"""The complexity that the paper states, by method."""

_ESTIMATORS = {
    "SLFS": "SLFS",
    "mRMR": "MRMR",
    "Fast-OSFS": "FastOSFS",
    "alpha-investing": "AlphaInvesting",
    "Chi2 ranking": "Chi2Ranking",
}


@dataclass(frozen=True)
class Shape:
    """Shape of a generated table: ``informative`` columns depend on the class, the others are noise."""

    n_samples: int = 1000
    n_features: int = 10000
    informative: int = 20


BASE = Shape()
VARIED = {
    "p": [replace(BASE, n_features=p) for p in (10000, 20000, 40000, 80000)],
    "N": [replace(BASE, n_samples=n) for n in (1000, 2000, 4000, 8000)],
    "|S|": [replace(BASE, informative=s) for s in (5, 10, 20, 40)],
}
"""One quantity grows, the others are constant."""


def measure(path: Path, scale: int, progress: Callable[[int, int], None]) -> pd.DataFrame:
    """Measure the time of every method on every shape, unless the times are already stored in ``path``.

    ``scale`` divides the number of columns and of informative columns.
    """
    if not path.exists():
        found = []
        shapes = [(varied, shape) for varied, shapes in VARIED.items() for shape in shapes]
        for done, (varied, shape) in enumerate(shapes):
            progress(done, len(shapes))
            features, informative = shape.n_features // scale, shape.informative // scale
            smaller = replace(shape, n_features=features, informative=informative)
            found += list(_times(varied, smaller))
        frame = pd.DataFrame(found)
        replace_file(path, lambda draft: frame.to_parquet(draft, index=False))
        progress(len(shapes), len(shapes))
    return pd.read_parquet(path)


def slopes(times: pd.DataFrame) -> pd.DataFrame:
    """Return the exponents of growth by method and varied quantity, fitted on a log-log scale.

    For |S| the quantity is the number of features that the method selected.
    """
    quantity = {"p": "n_features", "N": "n_samples", "|S|": "n_selected"}
    found: dict[str, dict[str, float]] = {}
    for (method, varied), part in times.groupby(["method", "varied"]):
        sizes = np.log(part[quantity[str(varied)]].to_numpy(dtype=float))
        slope = np.polyfit(sizes, np.log(part["seconds"].to_numpy()), 1)[0] if np.ptp(sizes) else np.nan
        found.setdefault(str(method), {})[str(varied)] = float(slope)
    return pd.DataFrame(found).T.loc[list(STATED), list(VARIED)]


def make_table(shape: Shape) -> tuple[NDArray[np.int8], NDArray[np.int64]]:
    """Generate a table with three levels and two classes; given the class, columns are independent."""
    random = np.random.default_rng(1)
    y = random.integers(0, 2, shape.n_samples)
    X = random.integers(0, 3, (shape.n_samples, shape.n_features), dtype=np.int8)
    indices = random.permutation(shape.n_features)[: shape.informative]
    moved = random.random((shape.n_samples, shape.informative)) < 0.35
    X[:, indices] = np.where(moved, 2 * y[:, np.newaxis], X[:, indices])
    return X, y


def _times(varied: str, shape: Shape) -> Iterable[dict[str, Any]]:
    X, y = make_table(shape)
    for method, estimator in _ESTIMATORS.items():
        size = shape.informative if estimator in ("SLFS", "MRMR", "Chi2Ranking") else None
        parameters: dict[str, Any] = (
            {} if estimator == "AlphaInvesting" else {"categorical_features": "all"}
        )
        if estimator == "SLFS":
            parameters["order"] = "conditional"  # the order that the stored rows were measured with
        selector = make(estimator, parameters, size)
        seconds = np.inf
        for _ in range(3):
            begin = time.perf_counter()
            selector.fit(X, y)
            seconds = min(seconds, time.perf_counter() - begin)
        yield {
            "method": method,
            "varied": varied,
            "n_samples": shape.n_samples,
            "n_features": shape.n_features,
            "n_selected": selector.n_features_,
            "seconds": seconds,
        }
