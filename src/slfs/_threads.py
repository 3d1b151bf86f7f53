"""Independent pieces of work -> their results in order, on one or several threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import TypeVar

from joblib import effective_n_jobs

from slfs.memory import Budget

Item = TypeVar("Item")
Result = TypeVar("Result")


class Threads:
    """A pool of ``n_jobs`` threads (as scikit-learn counts them), and the memory that they may take.

    With one thread there is no pool at all.
    """

    def __init__(self, n_jobs: int | None, memory_limit: int | str | None = None) -> None:
        self.count = effective_n_jobs(n_jobs)
        self.budget = Budget(memory_limit)
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
        """The result of each item."""
        if self._pool is None or len(items) == 1:
            return [function(item) for item in items]
        return list(self._pool.map(function, items))

    def each(
        self, function: Callable[[Item], Result], items: Iterable[Item], at_once: int
    ) -> Iterator[Result]:
        """The result of one item after another, at most ``at_once`` being worked on or waiting."""
        if self._pool is None or at_once == 1:
            yield from map(function, items)
            return
        running: deque[Future[Result]] = deque()
        for item in items:
            if len(running) == at_once:
                yield running.popleft().result()
            running.append(self._pool.submit(function, item))
        while running:
            yield running.popleft().result()
