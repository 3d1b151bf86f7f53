"""Python or the command line -> what a message calls parameters, and which of two remedies it names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_OPTIONS = {
    "categorical_features": "--categorical",
    "class_weight": "--class-weight",
    "condition_on": "--condition-on",
    "coverage": "--coverage",
    "exclude": "--exclude",
    "groups": "--groups",
    "include": "--include",
    "memory_limit": "--memory-limit",
    "n_features_to_select": "--n-features-to-select",
    "order": "--order",
    "sample_weight": "--weights",
    "target": "--target-type",
    "threshold": "--threshold",
}
"""Parameters that are options of the commands; ``--set`` sets the others."""

_NO_VALUE = object()

_in_command: ContextVar[bool] = ContextVar("slfs_in_command", default=False)
_renamed: ContextVar[Mapping[str, str] | None] = ContextVar("slfs_renamed", default=None)


@contextmanager
def command_line() -> Iterator[None]:
    """Make `remedy` and `parameter` return what a user of the commands can write."""
    token = _in_command.set(True)
    try:
        yield
    finally:
        _in_command.reset(token)


@contextmanager
def renamed(**names: str) -> Iterator[None]:
    """Give parameters other names in messages: those of the function that the user has called."""
    token = _renamed.set(names)
    try:
        yield
    finally:
        _renamed.reset(token)


def remedy(in_python: str, on_command_line: str) -> str:
    """Return the wording for the interface that the user works with."""
    return on_command_line if _in_command.get() else in_python


def parameter(name: str, value: Any = _NO_VALUE) -> str:
    """Return how the user writes a parameter, with a value or without.

    Messages name parameters with this function, because text that is replaced in a finished message may
    be the name of a column.
    """
    if not _in_command.get():
        name = (_renamed.get() or {}).get(name, name)
        return name if value is _NO_VALUE else f"{name}={value!r}"
    if name in _OPTIONS:
        return _OPTIONS[name] if value is _NO_VALUE else f"{_OPTIONS[name]} {value}"
    return f"--set {name}" if value is _NO_VALUE else f"--set {name}={value}"
