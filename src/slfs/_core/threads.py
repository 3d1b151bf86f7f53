"""Independent tasks -> their results in order, computed on one or several threads."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from types import TracebackType
from typing import Self, TypeVar

from joblib import cpu_count, effective_n_jobs
from joblib.parallel import get_active_backend

Item = TypeVar("Item")
Result = TypeVar("Result")

_MAX_THREADS = 32
"""Number of threads that is always allowed; on larger machines the limit is four per core."""


class Threads:
    """A pool of ``n_jobs`` threads, as in scikit-learn; a single thread needs no pool."""

    def __init__(self, n_jobs: int | None) -> None:
        self.count = _count(n_jobs)
        self._pool = ThreadPoolExecutor(self.count) if self.count > 1 else None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop the threads; tasks that have not started are cancelled."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def map(self, function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """Return the results of all items."""
        if self._pool is None or len(items) == 1:
            return [function(item) for item in items]
        return list(self._pool.map(_as_here(function), items))

    def each(
        self, function: Callable[[Item], Result], items: Iterable[Item], at_once: int
    ) -> Iterator[Result]:
        """Yield the results in order; at most ``at_once`` items are being processed or waiting."""
        if self._pool is None or at_once == 1:
            yield from map(function, items)
            return
        work, running = _as_here(function), deque[Future[Result]]()
        for item in items:
            if len(running) == at_once:
                yield running.popleft().result()
            running.append(self._pool.submit(work, item))
        while running:
            yield running.popleft().result()


def _as_here(function: Callable[[Item], Result]) -> Callable[[Item], Result]:
    """Make threads call a function in the context of this one, in which warnings may be silenced."""
    context = copy_context()
    return lambda item: context.copy().run(function, item)


def _count(n_jobs: int | None) -> int:
    """Return the number of threads; inside parallel jobs and Dask workers, a negative value means 1."""
    if n_jobs is None:
        return int(effective_n_jobs(None))  # that of a surrounding joblib.parallel_config, or 1
    if n_jobs == 0:
        raise ValueError("n_jobs is 0; expected None, a positive integer, or -1 for all cores.")
    cores = int(cpu_count())
    if n_jobs > 0:
        return min(int(n_jobs), max(_MAX_THREADS, 4 * cores))
    if get_active_backend()[0].nesting_level or _in_dask_worker():
        return 1
    return max(1, cores + 1 + n_jobs)


def _in_dask_worker() -> bool:
    workers = sys.modules.get("distributed.worker")
    if workers is None:
        return False
    try:
        workers.get_worker()
    except ValueError:
        return False
    return True
