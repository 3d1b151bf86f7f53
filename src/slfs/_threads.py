"""Independent pieces of work -> their results in order, on one or several threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import TypeVar

from joblib import effective_n_jobs

Item = TypeVar("Item")
Result = TypeVar("Result")


class Threads:
    """A pool of ``n_jobs`` threads (as scikit-learn counts them); with one, no pool at all."""

    def __init__(self, n_jobs: int | None) -> None:
        if n_jobs == 0:
            raise ValueError("n_jobs is 0; expected None, a number of threads, or -1 for one a core.")
        self.count = effective_n_jobs(n_jobs)
        self._pool = ThreadPoolExecutor(self.count) if self.count > 1 else None

    def __enter__(self) -> Threads:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def map(self, function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        if self._pool is None or len(items) == 1:
            return [function(item) for item in items]
        return list(self._pool.map(function, items))
