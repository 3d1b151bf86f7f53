"""Stored rows -> whether the methods still select the same columns."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from experiments import stability
from experiments.cells import KEY, Row, cells, key
from experiments.config import Config
from experiments.jobs import Load, Selections, make_fold
from experiments.methods import OWN
from experiments.sensitivity import sensitivity_config
from slfs.datasets.paper import load

SKIPPED = ("Chi2",)
"""Selectors that take minutes."""


@dataclass(frozen=True)
class Comparison:
    """A stored selection and what the code selects now."""

    name: str
    stored: list[int] | int
    """The columns; only their number where the rows do not contain the columns."""
    selected: NDArray[np.int64]

    @property
    def agrees(self) -> bool:
        if isinstance(self.stored, int):
            return len(self.selected) == self.stored
        return bool(self.selected.tolist() == self.stored)


def check(
    config: Config, folder: Path, progress: Callable[[int, int], None], load: Load = load
) -> list[Comparison]:
    """Repeat the selections of fold 0 and of the first subsample of every dataset.

    Only the selectors of slfs are checked, without those in `SKIPPED`.
    """
    table3 = sensitivity_config(config)
    rows = _by_key(folder / "rows.parquet"), _by_key(folder / "sensitivity" / "rows.parquet")
    subsamples = pd.read_parquet(folder / "stability.parquet")
    found: list[Comparison] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for done, dataset in enumerate(config.datasets):
            progress(done, len(config.datasets))
            found += _check_fold(config, dataset, rows[0], load)
            found += _check_subsample(config, dataset, subsamples, load)
            if dataset in table3.datasets:
                found += _check_fold(table3, dataset, rows[1], load)
    progress(len(config.datasets), len(config.datasets))
    return found


def report(found: list[Comparison]) -> str:
    """Describe the comparisons: how many agree, and the ones that differ."""
    wrong = [one for one in found if not one.agrees]
    lines = [f"{len(found) - len(wrong)} of {len(found)} stored selections are unchanged."]
    for one in wrong:
        stored = one.stored if isinstance(one.stored, int) else f"{len(one.stored)}: {one.stored}"
        lines.append(f"{one.name}\n  stored {stored}\n  now {len(one.selected)}: {one.selected}")
    return "\n".join(lines)


def _by_key(path: Path) -> dict[Any, Row]:
    rows = pd.read_parquet(path)
    return {key(row): row for row in rows.drop_duplicates(KEY).to_dict("records")}


def _check_fold(
    config: Config, dataset: str, stored: dict[Any, Row], load: Load
) -> Iterator[Comparison]:
    select = Selections(make_fold(load, dataset, 0, config))
    methods = {method.name: method for method in config.methods}
    equal = 0
    for cell in cells(config):
        method = methods[cell["method"]]
        if (cell["dataset"], cell["fold"]) != (dataset, 0) or method.estimator not in OWN:
            continue
        if method.estimator in SKIPPED:
            continue
        row = stored[key(cell)]
        equal = equal or row["n_features"]  # of the first cell, which decides the equal size
        selection = select(method, equal if cell["size"] == "equal" else None)
        name = f"{dataset}, fold 0, {cell['method']}, {cell['size']} size"
        columns = json.loads(row["columns"]) if row["columns"] else row["n_features"]
        yield Comparison(name, columns, selection.columns)


def _check_subsample(
    config: Config, dataset: str, rows: pd.DataFrame, load: Load
) -> Iterator[Comparison]:
    part = stability.subsample(load(dataset), config.seed, 0)
    own = rows[(rows["dataset"] == dataset) & (rows["subsample"] == 0)]
    for row in own.to_dict("records"):
        size = None if row["size"] == "own" else row["limit"]
        columns = stability.selected(part, row["method"], size)
        name = f"{dataset}, subsample 0, {row['method']}, size {row['size']}"
        yield Comparison(name, json.loads(row["columns"]), columns)
