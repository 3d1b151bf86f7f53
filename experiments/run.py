"""A configuration -> rows: one for each dataset, fold, method, size and classifier.

A job is one fold of one dataset. It appends each finished cell (a method at a size, all classifiers) to
a file of its own, so that a run that is killed loses at most the cells in work. When all jobs are done,
the cells become one Parquet file.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import platform
import subprocess
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, ProcessPoolExecutor, wait
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import sklearn
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

import slfs
from experiments.config import Config, Method
from experiments.methods import make
from slfs.datasets.paper import DATASETS, load
from slfs.evaluation.classify import MOST_PAIRED, PAIRED, Fold
from slfs.files.atomic import replace_file

Row = dict[str, Any]

KEY = ["dataset", "fold", "method", "size", "parameters", "seed", "folds"]
"""What a cell is known by. A row of an earlier run counts if all of these agree."""

_WARM = 3.0
"""A fit that took less seconds is timed again: the first of a process loads what was compiled."""


@dataclass(frozen=True)
class Job:
    """One fold of one dataset, with the cells to work out and the file they go to."""

    config: Config
    dataset: str
    fold: int
    journal: Path
    commit: str


def run(
    config: Config, folder: Path, *, n_jobs: int, progress: Callable[[int, int], None]
) -> pd.DataFrame:
    """Work out all rows that ``folder / "rows.parquet"`` lacks, and store them there.

    ``progress`` is told how many cells are done, and how many there are.
    """
    folder.mkdir(parents=True, exist_ok=True)
    stored = folder / "rows.parquet"
    every: list[Row] = _read_stored(stored).to_dict("records") if stored.exists() else []
    cells = folder / "cells"
    _sweep(cells, every)
    wanted = {_key(row) for row in _cells(config)}
    missing = wanted - _finished(every, config)
    if missing:
        cells.mkdir(exist_ok=True)
        pairs = {(dataset, fold) for dataset, fold, *_ in missing}
        commit = _commit()
        jobs = [
            Job(config, dataset, fold, cells / f"{dataset}-{fold}.jsonl", commit)
            for dataset, fold in sorted(pairs, key=lambda pair: (_weight(pair[0]), pair))
        ]
        old = [row for row in every if _key(row) in wanted - missing]
        for job in jobs:
            _carry_over(job, [row for row in old if (row["dataset"], row["fold"]) == _pair(job)])
        elsewhere = sum((dataset, fold) not in pairs for dataset, fold, *_ in wanted)
        _run_jobs(jobs, n_jobs, lambda: progress(elsewhere + _count(jobs, wanted), len(wanted)))
        fresh = [row for job in jobs for row in read_journal(job.journal)]
        _store([*every, *fresh], stored)
        _sweep(cells, [*every, *fresh])
    progress(len(wanted), len(wanted))
    rows = _read_stored(stored)
    asked = [_key(row) in wanted for row in rows[KEY].to_dict("records")]
    return rows[np.array(asked) & rows["classifier"].isin(config.classifiers)].reset_index(drop=True)


def _read_stored(path: Path) -> pd.DataFrame:
    try:
        return pd.read_parquet(path)
    except (OSError, ValueError) as error:
        raise ValueError(
            f"{path} is damaged ({error}). Restore it, or remove it: its rows are then worked out anew."
        ) from error


def _finished(rows: Iterable[Row], config: Config) -> set[tuple[Any, ...]]:
    """The cells that have every classifier of a configuration, but for those that cannot be had."""
    have: dict[tuple[Any, ...], set[str]] = {}
    for row in rows:
        paired = PAIRED if row["n_features"] > MOST_PAIRED else ()
        have.setdefault(_key(row), {*paired}).add(row["classifier"])
    return {key for key, classifiers in have.items() if classifiers.issuperset(config.classifiers)}


def read_journal(path: Path) -> Iterator[Row]:
    """The rows of the finished cells; a line that was cut off or damaged is none."""
    if path.exists():
        for line in path.read_text("utf-8", "replace").split("\n")[:-1]:
            with contextlib.suppress(json.JSONDecodeError):  # what a full disk or a crash left
                yield from json.loads(line)


def _sweep(cells: Path, stored: list[Row]) -> None:
    """Remove drafts, and journals whose rows are all stored, which a run that was killed has left."""
    if cells.is_dir():
        known = {(*_key(row), row["classifier"]) for row in stored}
        for path in cells.iterdir():
            rows = [] if path.name.startswith(".") else read_journal(path)
            if all((*_key(row), row["classifier"]) in known for row in rows):
                path.unlink()
        if not any(cells.iterdir()):
            cells.rmdir()


def run_job(job: Job) -> None:
    """Work out the cells of one fold that its journal lacks."""
    warnings.simplefilter("ignore")  # columns that one fold makes constant, and the like
    done = list(read_journal(job.journal))
    finished = _finished(done, job.config)
    cells = [row for row in _cells(job.config) if (row["dataset"], row["fold"]) == _pair(job)]
    if all(_key(cell) in finished for cell in cells):
        return
    with threadpool_limits(1):
        data = _data(job.dataset)
        train, test = _folds(job.dataset, job.config.folds, job.config.seed)[job.fold]
        fold = Fold(data.data, data.target, train, test)
        for row in done:
            if row["shared"] and row["columns"]:
                columns = np.array(json.loads(row["columns"]), np.int64)
                fold.remember(columns, row["classifier"], row["accuracy"])
        select = _Selectors(fold)
        methods = {method.name: method for method in job.config.methods}
        equal = next((row["n_features"] for row in done if _key(row) == _key(cells[0])), 0)
        for cell in cells:
            if _key(cell) not in finished:
                size = equal if cell["size"] == "equal" else None
                selected = select(methods[cell["method"]], size)
                rows = _run_cell(cell, selected, size, fold, job)
                equal = rows[0]["n_features"] if cell is cells[0] else equal
                _append(job.journal, rows)


class _Selectors:
    """Fits selectors to one training part; those that cannot be told a size once for all sizes."""

    def __init__(self, fold: Fold) -> None:
        self._fold = fold
        self._fitted: dict[str, tuple[Any, float]] = {}

    def __call__(self, method: Method, size: int | None) -> tuple[Any, float]:
        """The fitted selector, and how many seconds it took."""
        selector = make(method.estimator, method.parameters, size)
        key = f"{method.estimator} {selector.get_params()}"
        if key not in self._fitted:
            seconds = self._fit(selector)
            if seconds < _WARM:
                seconds = self._fit(selector)
            self._fitted[key] = selector, seconds
        return self._fitted[key]

    def _fit(self, selector: Any) -> float:
        begin = time.perf_counter()
        selector.fit(self._fold.train, self._fold.train_labels)
        return time.perf_counter() - begin


def _run_cell(
    cell: Row, selected: tuple[Any, float], size: int | None, fold: Fold, job: Job
) -> list[Row]:
    selector, seconds = selected
    columns: NDArray[np.int64] = selector.indices_ if size is None else selector.indices_[:size]
    own = isinstance(selector, slfs.SLFS) and len(columns) > 0
    rows = []
    for classifier in job.config.classifiers:
        fitted = selector.to_classifier() if own and classifier == "BNSLFS" else None
        result = fold.score(columns, classifier, fitted)
        if result is not None:
            row = {
                **cell,
                "classifier": classifier,
                "accuracy": result[0],
                "n_features": len(columns),
                "selection_seconds": seconds,
                "classifier_seconds": result[1],
                "shared": fitted is None,
                "columns": json.dumps(columns.tolist()) if len(columns) < 1000 else "",
            }
            rows.append({**row, **_circumstances(), "commit": job.commit})
    return rows


def _cells(config: Config) -> Iterable[Row]:
    """Every cell, those of one dataset and fold together, the one that decides the size first."""
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


def _key(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in KEY)


def _pair(job: Job) -> tuple[str, int]:
    return job.dataset, job.fold


def _weight(dataset: str) -> int:
    """The heavy ones first, so that no core is idle at the end."""
    entry = DATASETS[dataset]
    return -entry.n_features * entry.n_samples * entry.n_classes


def _run_jobs(jobs: list[Job], n_jobs: int, tick: Callable[[], None]) -> None:
    if n_jobs == 1:
        for job in jobs:
            run_job(job)
            tick()
        return
    with ProcessPoolExecutor(n_jobs, mp_context=get_context("spawn")) as pool:
        try:
            waiting = {pool.submit(run_job, job) for job in jobs}
            while waiting:
                done, waiting = wait(waiting, timeout=1.0, return_when=FIRST_COMPLETED)
                for future in done:
                    future.result()
                tick()
        except BrokenExecutor as error:
            raise ChildProcessError(
                "A worker process was lost: it was killed, or memory ran out. Finished cells are kept: "
                "the same command goes on from there; with fewer --n-jobs it needs less memory."
            ) from error
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _count(jobs: list[Job], wanted: set[tuple[Any, ...]]) -> int:
    """How many of the wanted cells are in the journals."""
    return sum(len(_finished(read_journal(job.journal), job.config) & wanted) for job in jobs)


def _carry_over(job: Job, rows: list[Row]) -> None:
    """Put what an earlier run has stored into the journal of a job, and cut a torn line off."""
    kept = list(read_journal(job.journal))
    known = {_key(row) for row in kept}
    kept += [row for row in rows if _key(row) not in known]
    lines = [list(cell) for _, cell in itertools.groupby(kept, _key)]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    replace_file(job.journal, lambda path: path.write_text(text, "utf-8"))


def _append(journal: Path, rows: list[Row]) -> None:
    with journal.open("a", encoding="utf-8") as file:
        file.write(json.dumps(rows) + "\n")
        file.flush()
        os.fsync(file.fileno())


def _store(rows: list[Row], path: Path) -> None:
    frame = pd.DataFrame(rows).drop_duplicates([*KEY, "classifier"], keep="last")
    frame = frame.sort_values([*KEY, "classifier"], ignore_index=True)
    replace_file(path, lambda draft: frame.to_parquet(draft, compression="zstd", index=False))


@lru_cache(maxsize=1)
def _data(name: str) -> Any:
    return load(name)


@lru_cache(maxsize=1)
def _folds(name: str, folds: int, seed: int) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    splitter = StratifiedKFold(folds, shuffle=True, random_state=seed)
    target = _data(name).target
    return list(splitter.split(np.zeros(len(target)), target))


@lru_cache(maxsize=1)
def _circumstances() -> Row:
    versions = {"slfs": slfs, "scikit-learn": sklearn, "numpy": np, "pandas": pd}
    found = {name: module.__version__ for name, module in versions.items()}
    return {
        "versions": json.dumps({"python": platform.python_version(), **found}),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
    }


def _commit() -> str:
    """The commit of the checkout that runs, "" outside of one."""
    place = Path(slfs.__file__).parent
    found = subprocess.run(
        ["git", "-C", str(place), "describe", "--always", "--dirty", "--abbrev=12"],
        capture_output=True,
        text=True,
        check=False,
    )
    return found.stdout.strip()


def digest(rows: pd.DataFrame) -> str:
    """A short name of what a set of rows says, for the pages made from them."""
    text = rows.sort_values([*KEY, "classifier"])[[*KEY, "classifier", "accuracy"]].to_csv(index=False)
    return hashlib.sha256(text.encode()).hexdigest()[:12]
