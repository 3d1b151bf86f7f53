"""Threads and memory limit of a fit."""

from __future__ import annotations

import functools
from contextlib import ExitStack
from types import TracebackType
from typing import Self

from threadpoolctl import ThreadpoolController

from slfs._core.memory import Budget
from slfs._core.threads import Threads


class Resources:
    """A pool of threads and a memory budget, for the duration of one call.

    Meanwhile BLAS has a single thread: its matrices are small, and several threads would wait for each
    other, for seconds if the cores are busy.

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
        self._opened = ExitStack()

    def __enter__(self) -> Self:
        self._opened.callback(self.threads.close)
        self._opened.enter_context(_pools().limit(limits=1, user_api="blas"))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._opened.close()


@functools.cache
def _pools() -> ThreadpoolController:
    """Find the thread pools of the process, which takes milliseconds."""
    return ThreadpoolController()
