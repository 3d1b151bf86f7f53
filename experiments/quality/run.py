"""A configuration -> rows: selections and scores that are not stored yet, stage by stage.

A task is one stage of one dataset. No two tasks of the same dataset run at the same time, because each
of them writes the files of its dataset, after every method of every fold.
"""

from __future__ import annotations

import itertools
import os
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from experiments.jobs import circumstances, current_commit
from experiments.quality.classifiers import FoldScores
from experiments.quality.config import OWN, Config, Method, Stage
from experiments.quality.data import Data, Part, find, load, split
from experiments.quality.methods import SLOW, select, time_limit
from experiments.quality.plan import Cell, cells, largest_size, left_out, not_scored
from experiments.quality.storage import Rows, Selection

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")

_LIMITS = ("too many pairs of rows", "sparse table too large")
"""Notes of selections that are tried again if the limits of the configuration have changed."""


@dataclass(frozen=True)
class Task:
    """One stage of one dataset."""

    config: Config
    stage: int
    dataset: str
    data: Path
    rows: Path
    commit: str
    deadline: float
    parent: int

    def exit_if_orphaned(self) -> None:
        """End a worker whose main process was killed: another run may have started."""
        if self.parent not in (os.getpid(), os.getppid()):
            os._exit(1)


def run(
    config: Config,
    data: Path,
    rows: Path,
    *,
    n_jobs: int,
    seconds: float = np.inf,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> bool:
    """Compute all rows that the folder ``rows`` does not have; return whether it has all of them.

    ``data`` is the folder of the datasets, ``seconds`` the time after which no further method is
    started, and ``progress`` is called with the number of finished tasks and of all tasks.
    """
    deadline, commit = time.time() + seconds, current_commit()
    # small files first; a stage is finished on all datasets before the next one begins
    order = sorted(config.datasets, key=lambda name: (cost(name, config, data), name))
    tasks = [
        Task(config, stage, dataset, data, rows, commit, deadline, os.getpid())
        for stage, dataset in itertools.product(range(len(config.stages)), order)
    ]
    results = _run_here(tasks) if n_jobs == 1 else _run_in_processes(tasks, n_jobs)
    finished = 0
    for complete in results:
        finished += complete
        progress(finished, len(tasks))
    return finished == len(tasks)


def cost(dataset: str, config: Config, folder: Path) -> float:
    """Estimate the time that a dataset takes relative to others."""
    if config.task == "regression":
        return load(dataset, config, folder).n_cells
    with np.load(find(dataset, config, folder)) as arrays:
        y = arrays["y"]
        n_columns = int(arrays["shape"][1]) if "shape" in arrays else arrays["X"].shape[1]
    n_classes = len(np.unique(y))
    return min(len(y), config.max_rows) * (n_columns + 100 * n_classes)


def run_task(task: Task) -> bool:
    """Compute the missing rows of one stage of one dataset; return whether it is complete."""
    rows = Rows(task.config, task.rows, task.dataset)
    stage = task.config.stages[task.stage]
    if not any(_is_missing(cell, rows) for cell in cells(task.config, stage)) and not _may_change(rows):
        return True
    if time.time() > task.deadline:
        return False
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # columns that are constant in a fold, SVMs without convergence
        data = load(task.dataset, task.config, task.data)
        _reconsider(rows, data, task.config)
        return all(_run_fold(task, stage, fold, data, rows) for fold in stage.folds)


def _run_fold(task: Task, stage: Stage, fold: int, data: Data, rows: Rows) -> bool:
    config = task.config
    missing = [cell for cell in cells(config, stage) if cell.fold == fold and _is_missing(cell, rows)]
    if not missing:
        return True
    train, test = split(data, config, fold)
    scores = FoldScores(train, test, config)
    for cell, row in rows.scores.items():
        selection = rows.find(cell.fold, cell.method, cell.size)
        if cell.fold == fold and selection is not None and not row["note"]:
            used = _columns(selection, cell.size, data)
            scores.remember(cell.classifier, used, {name: row[name] for name in config.metrics})
    for method, group in itertools.groupby(missing, lambda cell: cell.method):
        if time.time() > task.deadline:
            return False
        wanted = list(group)
        for size in dict.fromkeys(cell.size for cell in wanted):
            if rows.find(fold, method, size) is None:
                found = _given_up(rows, method, size) or _select(
                    config.methods[method], train, largest_size(config, size), data, task
                )
                rows.selections[fold, method, size == OWN] = found
        for cell in wanted:
            if _is_missing(cell, rows):
                rows.scores[cell] = _score(cell, rows, scores, data, config)
        task.exit_if_orphaned()
        rows.save()
    return True


def _given_up(rows: Rows, method: str, size: str) -> Selection | None:
    """Return the record of another fold in which the method took too long."""
    for (_, name, own), selection in rows.selections.items():
        if (name, own) == (method, size == OWN) and selection.note.startswith(SLOW):
            return selection
    return None


def _select(method: Method, train: Part, size: int | None, data: Data, task: Task) -> Selection:
    known = {**circumstances(), "commit": task.commit}
    note = left_out(method, data, task.config)
    if note:
        return Selection(None, np.nan, note, 0, known)
    try:
        with time_limit(task.config.max_seconds):
            columns, seconds = select(method, train, size)
            if seconds < 1.0:  # the first call of a process loads compiled kernels and packages
                columns, seconds = select(method, train, size)
    except ImportError:
        raise
    except TimeoutError as error:
        return Selection(None, np.nan, str(error), 0, known)
    except Exception as error:  # a method that fails on one dataset must not stop the others
        return Selection(None, np.nan, f"failed: {type(error).__name__}: {error}", 0, known)
    everything = method.estimator == "AllColumns"
    return Selection(None if everything else columns, seconds, "", len(columns), known)


def _score(cell: Cell, rows: Rows, scores: FoldScores, data: Data, config: Config) -> dict[str, object]:
    method, classifier = config.methods[cell.method], config.classifiers[cell.classifier]
    selection = rows.find(cell.fold, cell.method, cell.size)
    assert selection is not None
    columns = _columns(selection, cell.size, data)
    note = not_scored(method, classifier, data, config)
    begin = time.process_time()
    metrics = dict.fromkeys(config.metrics, np.nan) if note else scores.score(classifier, columns)
    seconds = time.process_time() - begin
    return {"n_features": len(columns), **metrics, "seconds": seconds, "note": note}


def _columns(selection: Selection, size: str, data: Data) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    columns = np.arange(data.X.shape[1]) if selection.columns is None else selection.columns
    return columns if size == OWN else columns[: int(size)]


def _is_missing(cell: Cell, rows: Rows) -> bool:
    selection = rows.find(cell.fold, cell.method, cell.size)
    return cell not in rows.scores and (selection is None or not selection.note)


def _may_change(rows: Rows) -> bool:
    return any(selection.note in _LIMITS for selection in rows.selections.values())


def _reconsider(rows: Rows, data: Data, config: Config) -> None:
    """Forget the methods that were left out by limits of an earlier configuration."""
    for key, selection in list(rows.selections.items()):
        if selection.note in _LIMITS and not left_out(config.methods[key[1]], data, config):
            del rows.selections[key]


def _run_here(tasks: list[Task]) -> Iterator[bool]:
    for task in tasks:
        yield run_task(task)


def _run_in_processes(tasks: list[Task], n_jobs: int) -> Iterator[bool]:
    """Run tasks in their order, but no two of the same dataset at the same time."""
    os.environ.update(dict.fromkeys(THREADS, "1"))  # inherited by the processes
    waiting, running = list(tasks), dict[Future[bool], str]()
    with ProcessPoolExecutor(n_jobs, mp_context=get_context("spawn")) as pool:
        try:
            while waiting or running:
                busy = set(running.values())
                for task in [task for task in waiting if task.dataset not in busy]:
                    if len(running) < n_jobs and task.dataset not in running.values():
                        running[pool.submit(run_task, task)] = task.dataset
                        waiting.remove(task)
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    del running[future]
                    yield future.result()
        except BrokenExecutor as error:
            raise ChildProcessError(
                "A worker process was lost: it was killed, or there was not enough memory. Finished "
                "rows are kept. Run the same command to continue; a smaller --jobs needs less memory."
            ) from error
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
