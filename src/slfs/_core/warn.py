"""Warnings that point at the user's line, and context managers that silence or collect them."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np
from numpy.typing import NDArray

_OWN = ("slfs", "sklearn", "joblib", "dask", "distributed", "concurrent", "threading", "contextlib")
"""Packages whose frames are skipped to find the user's line."""

_quiet: ContextVar[bool] = ContextVar("slfs_quiet", default=False)
_focus: ContextVar[str | None] = ContextVar("slfs_focus", default=None)
_collected: ContextVar[list[str] | None] = ContextVar("slfs_collected", default=None)


class LeakageWarning(UserWarning):
    """Warning: a column determines the class nearly completely.

    Such a column is often a copy of the class, derived from it, or recorded after the class was known. A
    model that uses it is useless for new data.

    Examples
    --------
    Treat leaks as an error:

    >>> import warnings
    >>> from slfs import LeakageWarning
    >>> warnings.simplefilter("error", LeakageWarning)  # doctest: +SKIP
    """


class UnseenValueWarning(UserWarning):
    """Warning: new data contain values that were not seen in ``fit``.

    Such a value is a new category, a missing value in a column that had none, text or a date in a column
    of numbers, or a number in a column of text or dates. New categories are expected, and have a level,
    in columns whose categories mostly occurred once, or all have the same level. Numbers outside the
    range in ``fit`` are warned about if they are most of a column.

    Examples
    --------
    Treat such values as an error:

    >>> import warnings
    >>> from slfs import UnseenValueWarning
    >>> warnings.simplefilter("error", UnseenValueWarning)  # doctest: +SKIP
    """


def warn(message: str, category: type[Warning] = UserWarning, *, about_focus: bool = False) -> None:
    """Issue a warning at the line of the user's code that called slfs, unless silenced by `quiet`.

    While there is a `focus`, only warnings with ``about_focus`` are issued: those about the target, or
    about columns that `in_focus` has returned.
    """
    if not _quiet.get() and (about_focus or _focus.get() is None):
        collected = _collected.get()
        if collected is not None and category is not LeakageWarning:
            collected.append(message)
        warnings.warn(message, category, stacklevel=_user_level())


@contextmanager
def collect() -> Iterator[list[str]]:
    """Collect the texts of the warnings that are issued, except those about leaks.

    A fitted selector has its leaks as an attribute.
    """
    texts: list[str] = []
    token = _collected.set(texts)
    try:
        yield texts
    finally:
        _collected.reset(token)


@contextmanager
def focus(column: str) -> Iterator[None]:
    """Silence warnings, except those about one column and about the target."""
    token = _focus.set(column)
    try:
        yield
    finally:
        _focus.reset(token)


def in_focus(columns: Sequence[int] | NDArray[np.int64], names: NDArray[np.object_]) -> list[int]:
    """Return those of some columns that warnings should be about: all of them, or that of `focus`."""
    found = _focus.get()
    return [int(column) for column in columns if found is None or names[column] == found]


@contextmanager
def quiet() -> Iterator[None]:
    """Silence the warnings of slfs, for repeated fits on parts of a table."""
    token = _quiet.set(True)
    try:
        yield
    finally:
        _quiet.reset(token)


def _user_level() -> int:
    """Return the stack level, as seen from `warn`, of the first frame outside of `_OWN`."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in _OWN:
        level, frame = level + 1, frame.f_back
    return level
