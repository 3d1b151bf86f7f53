"""Warnings that point at the user's line, and one way to silence them."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_OWN = ("slfs", "sklearn", "joblib", "dask", "distributed", "concurrent", "threading", "contextlib")
"""Packages whose frames are skipped to find the user's line."""

_quiet: ContextVar[bool] = ContextVar("slfs_quiet", default=False)


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line of the user's code that called slfs, unless warnings of slfs are silenced."""
    if not _quiet.get():
        warnings.warn(message, category, stacklevel=_user_level())


@contextmanager
def quiet() -> Iterator[None]:
    """Silence the warnings of slfs, for work on parts of a table about which the user was warned."""
    token = _quiet.set(True)
    try:
        yield
    finally:
        _quiet.reset(token)


def _user_level() -> int:
    """The stack level, as seen from `warn`, of the first frame outside of `_OWN`."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in _OWN:
        level, frame = level + 1, frame.f_back
    return level
