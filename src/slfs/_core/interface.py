"""Python or the command line -> which of two remedies a message names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_in_command: ContextVar[bool] = ContextVar("slfs_in_command", default=False)


@contextmanager
def command_line() -> Iterator[None]:
    """Make `remedy` return what a user of the commands can do."""
    token = _in_command.set(True)
    try:
        yield
    finally:
        _in_command.reset(token)


def remedy(in_python: str, on_command_line: str) -> str:
    """Return the wording for the interface that the user works with."""
    return on_command_line if _in_command.get() else in_python
