"""A configuration -> rows: one for each dataset, fold, method, size and classifier.

A job computes one fold of one dataset. When all jobs are done, their rows are stored in one file.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, ProcessPoolExecutor, wait
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.cells import KEY, Key, Row, cells, finished, key
from experiments.config import Config
from experiments.jobs import Job, Load, current_commit, run_job
from experiments.storage import read_journal, read_rows, remove_stored, start_journal, store_rows
from slfs.datasets.paper import DATASETS, load


def run(
    config: Config,
    folder: Path,
    *,
    n_jobs: int,
    progress: Callable[[int, int], None],
    load: Load = load,
) -> pd.DataFrame:
    """Compute all rows that ``folder / "rows.parquet"`` does not have, and store them there.

    Parameters
    ----------
    config : Config
    folder : Path
        Folder of the stored rows, and of the journals of a run in progress.
    n_jobs : int
        Number of processes.
    progress : callable
        Called with the number of finished cells and the number of all cells.
    load : callable
        Loads a dataset by name. It must be picklable if ``n_jobs`` is larger than 1.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path, journals = folder / "rows.parquet", folder / "cells"
    stored: list[Row] = read_rows(path).to_dict("records") if path.exists() else []
    remove_stored(journals, stored)
    wanted = {key(cell) for cell in cells(config)}
    missing = wanted - finished(stored, config)
    if missing:
        journals.mkdir(exist_ok=True)
        groups = {(dataset, fold) for dataset, fold, *_ in missing}
        commit = current_commit()
        jobs = [
            Job(config, dataset, fold, journals / f"{dataset}-{fold}.jsonl", commit, load)
            for dataset, fold in sorted(groups, key=lambda group: (_weight(group[0]), group))
        ]
        old = [row for row in stored if key(row) in wanted - missing]
        for job in jobs:
            start_journal(
                job.journal, [row for row in old if (row["dataset"], row["fold"]) == job.group]
            )
        elsewhere = sum((dataset, fold) not in groups for dataset, fold, *_ in wanted)
        _run_jobs(jobs, n_jobs, lambda: progress(elsewhere + _count(jobs, wanted), len(wanted)))
        stored += [row for job in jobs for row in read_journal(job.journal)]
        store_rows(stored, path)
        remove_stored(journals, stored)
    progress(len(wanted), len(wanted))
    rows = read_rows(path)
    asked = [key(row) in wanted for row in rows[KEY].to_dict("records")]
    return rows[np.array(asked) & rows["classifier"].isin(config.classifiers)].reset_index(drop=True)


def _weight(dataset: str) -> int:
    """Sort large datasets first, so that no core is idle at the end."""
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
                "A worker process was lost: it was killed, or there was not enough memory. Finished "
                "cells are kept. Run the same command to continue; a smaller --n-jobs needs less memory."
            ) from error
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _count(jobs: list[Job], wanted: set[Key]) -> int:
    """Count the wanted cells that are in the journals."""
    return sum(len(finished(read_journal(job.journal), job.config) & wanted) for job in jobs)
