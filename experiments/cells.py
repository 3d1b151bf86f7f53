"""A configuration -> its cells: one per dataset, fold, method and size.

The rows of a cell are the scores of all classifiers on the columns that the method selects.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable
from typing import Any

from experiments.config import Config
from slfs.evaluation.classify import MAX_PAIRED_COLUMNS, PAIRED

Row = dict[str, Any]
Key = tuple[Any, ...]

KEY = ["dataset", "fold", "method", "size", "parameters", "seed", "folds"]
"""Identifies a cell. A row of an earlier run is used if it agrees in all of these."""


def cells(config: Config) -> Iterable[Row]:
    """Yield every cell, grouped by dataset and fold; the first of a group decides the equal size."""
    for dataset, fold in itertools.product(config.datasets, range(config.folds)):
        for method in config.methods:
            for size in method.sizes:
                yield {
                    "dataset": dataset,
                    "fold": fold,
                    "method": method.name,
                    "size": size,
                    "parameters": json.dumps([method.estimator, method.parameters], sort_keys=True),
                    "seed": config.seed,
                    "folds": config.folds,
                }


def key(row: Row) -> Key:
    """Return the identity of the cell that a row belongs to."""
    return tuple(row[name] for name in KEY)


def finished(rows: Iterable[Row], config: Config) -> set[Key]:
    """Return the cells that have every classifier, except those that are skipped for many columns."""
    have: dict[Key, set[str]] = {}
    for row in rows:
        skipped = PAIRED if row["n_features"] > MAX_PAIRED_COLUMNS else ()
        have.setdefault(key(row), {*skipped}).add(row["classifier"])
    return {cell for cell, classifiers in have.items() if classifiers.issuperset(config.classifiers)}
