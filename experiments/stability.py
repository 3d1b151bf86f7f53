"""How stable the selections of the filters are: the same subsamples for all, the same sizes."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from experiments.config import Config
from experiments.methods import make
from slfs._compat import safe_indexing
from slfs._core.threads import Threads
from slfs.counting.planes import SampleLayout
from slfs.datasets.paper import DATASETS, load
from slfs.files.atomic import replace_file
from slfs.measures.stability import Stability, nogueira
from slfs.selectors.stability_selection import draw
from slfs.tables.target import read_target

METHODS = {
    "SLFS": "SLFS",
    "mRMR MID": "MRMR",
    "FCBF": "FCBF",
    "JMI": "JMI",
    "CMIM": "CMIM",
    "Chi2 ranking": "Chi2Ranking",
}
"""Filters that can be cut off after the first features: by name, the estimator."""

FEW = 10
"""A size that many users would ask for."""

FRACTION = 0.5


def measure(
    path: Path, config: Config, n_jobs: int, progress: Callable[[int, int], None]
) -> pd.DataFrame:
    """Select on every subsample of every dataset, unless ``path`` has it already.

    Rows have the columns that a method selected on a subsample at a size: "own" (of SLFS), "equal" (at
    most the median of these) or "few".
    """
    if not path.exists():
        found: list[dict[str, Any]] = []
        for done, name in enumerate(config.datasets):
            progress(done, len(config.datasets))
            found += _select(name, config, n_jobs)
        frame = pd.DataFrame(found)
        replace_file(path, lambda draft: frame.to_parquet(draft, index=False, compression="zstd"))
        progress(len(config.datasets), len(config.datasets))
    return pd.read_parquet(path)


def stabilities(rows: pd.DataFrame, size: str) -> pd.DataFrame:
    """Nogueira's measure at one size: one row for each dataset, one column a method, as `Stability`."""
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
    """Mean number of features at one size: one row for each dataset, one column a method."""
    part = rows[rows["size"] == size]
    return part.pivot_table(index="dataset", columns="method", values="n_selected", sort=False)


def _select(name: str, config: Config, n_jobs: int) -> list[dict[str, Any]]:
    """The rows of one dataset."""
    data = load(name)
    target = read_target(data.target)
    layout = SampleLayout.from_class_codes(target.codes, len(target.classes))
    halves = [(config.seed + place // 2, place % 2 == 1) for place in range(config.subsamples)]

    def select(method: str, size: int | None) -> list[NDArray[np.int64]]:
        def on(half: tuple[int, bool]) -> NDArray[np.int64]:
            rows = draw(layout, FRACTION, *half)
            selector = make(METHODS[method], {}, size)
            columns: NDArray[np.int64] = selector.fit(
                safe_indexing(data.data, rows), target.codes[rows]
            ).indices_
            return columns[:size]

        return threads.map(on, halves)

    with warnings.catch_warnings(), Threads(n_jobs) as threads:
        warnings.simplefilter("ignore")  # columns that a subsample makes identifiers, and the like
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
            "subsample": place,
            "limit": limits.get(size, -1),
            "n_selected": len(columns),
            "columns": json.dumps(columns.tolist()),
            "seed": config.seed,
        }
        for (method, size), selections in found.items()
        for place, columns in enumerate(selections)
    ]
