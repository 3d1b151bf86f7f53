"""Long work -> how much of it is done, for whoever listens."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
Listener = Callable[[int, int], None]
"""Is told how many pieces are done, and of how many."""

_listener: ContextVar[Listener | None] = ContextVar("slfs_progress", default=None)


@contextmanager
def listening(listener: Listener | None) -> Iterator[None]:
    """Let a function hear how far the coding of a table has come.

    Parameters
    ----------
    listener : callable or None
        Called with (done, total) after each block of columns, one call at a time, from any thread.
        None: nobody listens.

    Yields
    ------
    None

    Examples
    --------
    >>> import numpy as np
    >>> from slfs import SLFS
    >>> from slfs.progress import listening
    >>> heard = []
    >>> with listening(lambda done, total: heard.append(done / total)):
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
    listener = _listener.get()
    if listener is None:
        return work
    lock, done = threading.Lock(), 0

    def told(item: Item) -> Result:
        nonlocal done
        result = work(item)
        with lock:
            done += 1
            listener(done, total)
        return result

    return told
