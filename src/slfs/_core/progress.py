"""Progress of long computations -> calls of a user function."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
Listener = Callable[[int, int | None], None]
"""Called with the number of finished pieces, and their total number if it is known."""

_listener: ContextVar[Listener | None] = ContextVar("slfs_progress", default=None)


@contextmanager
def progress_callback(listener: Listener | None) -> Iterator[None]:
    """Register a progress callback for the fits inside a ``with`` block.

    Parameters
    ----------
    listener : callable or None
        Called with (done, total) after each block of columns; one call at a time, from any thread. The
        total is None if blocks come from an iterator. An exception that it raises stops the fit. None
        disables progress reports.

    Yields
    ------
    None

    Examples
    --------
    >>> import numpy as np
    >>> from slfs import SLFS
    >>> from slfs._core.progress import progress_callback
    >>> shares = []
    >>> with progress_callback(lambda done, total: shares.append(done / total)):
    ...     selector = SLFS().fit(np.eye(8), [0, 1] * 4)
    >>> shares[-1]
    1.0
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def counted(work: Callable[[Item], Result], total: int) -> Callable[[Item], Result]:
    """Wrap a function so that each of its ``total`` calls is reported to the progress callback."""
    if _listener.get() is None:
        return work
    step = steps(total)

    def reported(item: Item) -> Result:
        result = work(item)
        step()
        return result

    return reported


@contextmanager
def counting(total: int | None) -> Iterator[Callable[[], None]]:
    """Yield a function that reports one more finished piece; work inside the block is not reported."""
    step = steps(total)
    with progress_callback(None):
        yield step


def steps(total: int | None) -> Callable[[], None]:
    """Return a function that reports one more finished piece to the progress callback, if any."""
    listener, lock, done = _listener.get(), threading.Lock(), 0

    def step() -> None:
        nonlocal done
        with lock:
            done += 1
            if listener is not None:
                listener(done, total)

    return step
