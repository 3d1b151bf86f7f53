"""Stability of selections: every filter selects on the same subsamples, at the same sizes."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import sparse

from experiments.config import Config
from experiments.jobs import Load
from experiments.methods import make
from slfs.datasets.paper import DATASETS, load
from slfs.evaluation.cross_validation import Fold
from slfs.files.atomic import replace_file
from slfs.measures.stability import Stability, nogueira

Ints = NDArray[np.int64]

METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "SLFS": ("SLFS", {"order": "conditional"}),
    "mRMR MID": ("MRMR", {}),
    "FCBF": ("FCBF", {}),
    "JMI": ("JMI", {}),
    "CMIM": ("CMIM", {}),
    "Chi2 ranking": ("Chi2Ranking", {}),
}
"""Filters that select columns one after another: estimator and parameters by name."""

FEW = 10
"""Maximum number of columns of the size "few"."""


def measure(
    path: Path,
    config: Config,
    n_jobs: int,
    progress: Callable[[int, int], None],
    load: Load = load,
) -> pd.DataFrame:
    """Select on every subsample of every dataset, unless the rows are already stored in ``path``.

    Each row contains the columns that a method selected on one subsample at one size: "own" (that of
    SLFS), "equal" (at most the median of these) or "few".
    """
    if not path.exists():
        found: list[dict[str, Any]] = []
        for done, name in enumerate(config.datasets):
            progress(done, len(config.datasets))
            found += select_on_subsamples(name, config, n_jobs, load)
        frame = pd.DataFrame(found)
        replace_file(path, lambda draft: frame.to_parquet(draft, index=False, compression="zstd"))
        progress(len(config.datasets), len(config.datasets))
    return pd.read_parquet(path)


def stabilities(rows: pd.DataFrame, size: str) -> pd.DataFrame:
    """Return Nogueira's measure at one size: one row per dataset, one column per method."""
    part = rows[rows["size"] == size]
    found: dict[str, dict[str, Stability]] = {}
    for (dataset, method), own in part.groupby(["dataset", "method"], sort=False):
        chosen = [json.loads(text) for text in own["columns"]]
        starts = np.cumsum([0, *map(len, chosen)])
        ones = np.ones(starts[-1], np.bool_)
        shape = (len(chosen), DATASETS[str(dataset)].n_features)
        supports = sparse.csr_array((ones, np.concatenate(chosen).astype(int), starts), shape=shape)
        found.setdefault(str(method), {})[str(dataset)] = nogueira(supports)
    return pd.DataFrame(found)


def sizes(rows: pd.DataFrame, size: str) -> pd.DataFrame:
    """Return the mean number of features at one size: one row per dataset, one column per method."""
    part = rows[rows["size"] == size]
    return part.pivot_table(index="dataset", columns="method", values="n_selected", sort=False)


def select_on_subsamples(
    name: str, config: Config, n_jobs: int, load: Load = load
) -> list[dict[str, Any]]:
    """Return the rows of one dataset."""
    data = load(name)
    subsamples = [subsample(data, config.seed, number) for number in range(config.subsamples)]

    def select(method: str, size: int | None) -> list[Ints]:
        work = (delayed(selected)(part, method, size) for part in subsamples)
        return list(Parallel(n_jobs, prefer="threads")(work))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about columns that look like identifiers in a subsample
        own = select("SLFS", None)
        limits = {"equal": int(np.median([len(columns) for columns in own])), "few": FEW}
        found = {("SLFS", "own"): own}
        for size, limit in limits.items():
            found |= {(method, size): select(method, limit) for method in METHODS}
    return [
        {
            "dataset": name,
            "method": method,
            "size": size,
            "subsample": number,
            "limit": limits.get(size, -1),
            "n_selected": len(columns),
            "columns": json.dumps(columns.tolist()),
            "seed": config.seed,
        }
        for (method, size), selections in found.items()
        for number, columns in enumerate(selections)
    ]


def selected(part: Fold, method: str, size: int | None) -> Ints:
    """Return the first columns that a method selects on a subsample."""
    columns: Ints = part.fit(make(*METHODS[method], size)).indices_
    return columns[:size]


def subsample(data: Any, seed: int, number: int) -> Fold:
    """Draw a stratified half of the samples; numbers 0 and 1, 2 and 3, ... are complementary.

    The training part is the half. If a class has an odd number of samples, chance decides which of the
    two halves gets one more.
    """
    random = np.random.default_rng(seed + number // 2)
    target = np.asarray(data.target)
    rows = []
    for label in np.unique(target):
        members = np.flatnonzero(target == label)
        shuffled, more = random.permutation(members), random.random()
        half = len(members) / 2
        first, last = int(half + more), int(half + 1 - more)
        rows.append(shuffled[len(shuffled) - last :] if number % 2 else shuffled[:first])
    return Fold(data.data, target, np.sort(np.concatenate(rows)), np.arange(0), number)
