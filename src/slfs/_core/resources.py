"""Threads and memory limit of a fit."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from slfs._core.memory import Budget
from slfs._core.threads import Threads


class Resources:
    """A pool of threads and a memory budget, for the duration of one call.

    Parameters
    ----------
    n_jobs : int or None
        Number of threads, with the same meaning as in scikit-learn.
    memory_limit : int, str or None, default=None
        Maximum memory of the process; None means no limit.

    Attributes
    ----------
    threads : Threads
    budget : Budget
    """

    def __init__(self, n_jobs: int | None, memory_limit: int | str | None = None) -> None:
        self.budget = Budget(memory_limit)
        self.threads = Threads(n_jobs)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.threads.close()
