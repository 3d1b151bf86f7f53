"""One fold of one dataset -> rows: every method selects, every classifier is scored."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import sklearn
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

import slfs
from experiments.cells import Row, cells, finished, key
from experiments.config import Config, Method
from experiments.methods import STOPS_AT_SIZE, make
from experiments.storage import append, read_journal
from slfs import BNSLFS
from slfs.evaluation.classify import CLASSIFIERS, FoldScores
from slfs.evaluation.cross_validation import Fold, Split

Load = Callable[[str], Any]
"""Takes the name of a dataset and returns a Bunch with ``data`` and ``target``."""

NETWORKS = {
    **CLASSIFIERS,
    "BNSLFS": lambda size: BNSLFS(slfs.Chi2Ranking(n_features_to_select=size), structure="linked"),
}
"""The classifiers, with the Bayesian network of the paper as BNSLFS."""

_WARM_UP = 3.0
"""Seconds: the first fit of a process loads compiled kernels."""


@dataclass(frozen=True)
class Job:
    """One fold of one dataset, and the journal for its finished cells."""

    config: Config
    dataset: str
    fold: int
    journal: Path
    commit: str
    load: Load

    @property
    def group(self) -> tuple[str, int]:
        return self.dataset, self.fold


def run_job(job: Job) -> None:
    """Compute the cells of one fold that its journal does not have."""
    done = list(read_journal(job.journal))
    complete = finished(done, job.config)
    own = [row for row in cells(job.config) if (row["dataset"], row["fold"]) == job.group]
    if all(key(cell) in complete for cell in own):
        return
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # for example about columns that are constant in one fold
        fold = make_fold(job.load, job.dataset, job.fold, job.config)
        methods = {method.name: method for method in job.config.methods}
        scores, select = FoldScores(fold, NETWORKS), Selections(fold, _WARM_UP)
        for row in done:
            select.remember(methods[row["method"]], row)
        for row in done:
            if row["shared"] and row["columns"]:
                columns = np.array(json.loads(row["columns"]), np.int64)
                scores.remember(columns, row["classifier"], row["accuracy"])
        equal = next((row["n_features"] for row in done if key(row) == key(own[0])), 0)
        for cell in own:
            if key(cell) not in complete:
                size = equal if cell["size"] == "equal" else None
                rows = score_cell(cell, select(methods[cell["method"]], size), scores, job)
                equal = rows[0]["n_features"] if cell is own[0] else equal
                append(job.journal, rows)


@dataclass(frozen=True)
class Selection:
    """A fitted selector, its columns (cut off at a size) and the seconds that the fit took.

    The selector is None if the columns are those of a stored row.
    """

    selector: Any
    columns: NDArray[np.int64]
    seconds: float


class Selections:
    """Fits methods to the training part of a fold; a selector with the same parameters only once.

    A fit that took less than ``warm_up`` seconds is timed again.
    """

    def __init__(self, fold: Fold, warm_up: float = 0.0) -> None:
        self._fold, self._warm_up = fold, warm_up
        self._fitted: dict[str, tuple[Any, float]] = {}
        self._stored: dict[str, Selection] = {}

    def remember(self, method: Method, row: Row) -> None:
        """Use the columns of a stored row if the method's smaller selections are cut off from them."""
        if method.estimator not in STOPS_AT_SIZE and row["size"] == "own" and row["columns"]:
            columns = np.array(json.loads(row["columns"]), np.int64)
            self._stored[method.name] = Selection(None, columns, row["selection_seconds"])

    def __call__(self, method: Method, size: int | None) -> Selection:
        """Select at most ``size`` columns, or as many as the method selects by itself (None)."""
        if size is not None and method.name in self._stored:
            stored = self._stored[method.name]
            return Selection(None, stored.columns[:size], stored.seconds)
        selector = make(method.estimator, method.parameters, size)
        name = f"{method.estimator} {selector.get_params()}"
        if name not in self._fitted:
            self._fitted[name] = self._fit(selector)
            if self._fitted[name][1] < self._warm_up:
                self._fitted[name] = self._fit(selector)
        fitted, seconds = self._fitted[name]
        return Selection(fitted, fitted.indices_[:size], seconds)

    def _fit(self, selector: Any) -> tuple[Any, float]:
        begin = time.process_time()
        fitted = self._fold.fit(selector)
        return fitted, time.process_time() - begin


def score_cell(cell: Row, selection: Selection, scores: FoldScores, job: Job) -> list[Row]:
    """Score all classifiers of a configuration on one selection."""
    columns = selection.columns
    own = isinstance(selection.selector, slfs.SLFS) and len(columns) > 0
    rows = []
    for classifier in job.config.classifiers:
        fitted = selection.selector.to_classifier() if own and classifier == "BNSLFS" else None
        result = scores.score(columns, classifier, fitted)
        if result is not None:
            row = {
                **cell,
                "classifier": classifier,
                "accuracy": result[0],
                "n_features": len(columns),
                "selection_seconds": selection.seconds,
                "classifier_seconds": result[1],
                "shared": fitted is None,
                "columns": json.dumps(columns.tolist()) if len(columns) < 1000 else "",
            }
            rows.append({**row, **circumstances(), "commit": job.commit})
    return rows


def make_fold(load: Load, dataset: str, number: int, config: Config) -> Fold:
    """Load a dataset and return one of its folds."""
    data = _data(load, dataset)
    train, test = _splits(load, dataset, config.folds, config.seed)[number]
    return Fold(data.data, data.target, train, test, number)


@lru_cache(maxsize=1)
def _data(load: Load, name: str) -> Any:
    return load(name)


@lru_cache(maxsize=1)
def _splits(load: Load, name: str, folds: int, seed: int) -> list[Split]:
    # not make_splits, which requires one sample per fold of each class: Yeast has a class of 5
    target = _data(load, name).target
    splitter = StratifiedKFold(folds, shuffle=True, random_state=seed)
    return list(splitter.split(np.zeros(len(target)), target))


@lru_cache(maxsize=1)
def circumstances() -> Row:
    versions = {"slfs": slfs, "scikit-learn": sklearn, "numpy": np, "pandas": pd}
    found = {name: module.__version__ for name, module in versions.items()}
    return {
        "versions": json.dumps({"python": platform.python_version(), **found}),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
    }


def current_commit() -> str:
    """Return the commit of the running checkout, or "" outside of a checkout."""
    found = subprocess.run(
        ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty", "--abbrev=12"],
        capture_output=True,
        text=True,
        check=False,
    )
    return found.stdout.strip()
