"""Long work -> how much of it is done, for whoever listens."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
Listener = Callable[[int, int | None], None]
"""Is told how many pieces are done, and of how many, if that is known."""

_listener: ContextVar[Listener | None] = ContextVar("slfs_progress", default=None)


@contextmanager
def progress_callback(listener: Listener | None) -> Iterator[None]:
    """Let a function hear how far the coding of a table has come.

    Parameters
    ----------
    listener : callable or None
        Called with (done, total) after each block of columns, one call at a time, from any thread. The
        total is None where blocks come from an iterator. What it raises stops the work. None: nobody
        listens.

    Yields
    ------
    None

    Examples
    --------
    >>> import numpy as np
    >>> from slfs import SLFS
    >>> from slfs._core.progress import progress_callback
    >>> heard = []
    >>> with progress_callback(lambda done, total: heard.append(done / total)):
    ...     selector = SLFS().fit(np.eye(8), [0, 1] * 4)
    >>> heard[-1]
    1.0
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def counted(work: Callable[[Item], Result], total: int) -> Callable[[Item], Result]:
    """The same work, which also tells the listener, if there is one, after each of ``total`` pieces."""
    if _listener.get() is None:
        return work
    step = steps(total)

    def told(item: Item) -> Result:
        result = work(item)
        step()
        return result

    return told


@contextmanager
def counting(total: int | None) -> Iterator[Callable[[], None]]:
    """Count pieces of work by hand: what is yielded tells of one more; work within them is not told."""
    step = steps(total)
    with progress_callback(None):
        yield step


def steps(total: int | None) -> Callable[[], None]:
    """A function that tells the listener, if there is one, of one more piece each time."""
    listener, lock, done = _listener.get(), threading.Lock(), 0

    def step() -> None:
        nonlocal done
        with lock:
            done += 1
            if listener is not None:
                listener(done, total)

    return step
