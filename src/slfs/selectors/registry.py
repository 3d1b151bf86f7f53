"""Registry of selectors: name -> class, for this package and for other installed packages.

A selector class registers itself with ``@register("name")``. The modules of this package are imported
when `selectors` is first called. Installed packages are found through the entry point group
"slfs.selectors", whose entries name a selector class (or a module that registers some).
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Any, TypeVar

ENTRY_POINTS = "slfs.selectors"

Class = TypeVar("Class", bound=type)

_registered: dict[str, type[Any]] = {}


def register(name: str) -> Callable[[Class], Class]:
    """Register a selector class under the name that the command line uses.

    Parameters
    ----------
    name : str
        Name of the method, for example "fast-osfs".

    Returns
    -------
    decorator : callable
        Registers a class and returns it unchanged.
    """

    def decorate(kind: Class) -> Class:
        known = _registered.get(name)
        if known is not None and (known.__module__, known.__qualname__) != (
            kind.__module__,
            kind.__qualname__,
        ):
            raise ValueError(
                f"Two selectors are registered as {name!r}: {known.__module__}.{known.__qualname__} and "
                f"{kind.__module__}.{kind.__qualname__}. Choose another name for one of them."
            )
        _registered[name] = kind
        return kind

    return decorate


def selectors() -> dict[str, type[Any]]:
    """Return all registered selector classes, sorted by name.

    Returns
    -------
    selectors : dict of str to class

    Examples
    --------
    >>> from slfs.selectors import selectors
    >>> selectors()["mrmr"]
    <class 'slfs.selectors.mrmr.MRMR'>
    """
    _import_all()
    return dict(sorted(_registered.items()))


@functools.cache
def _import_all() -> None:
    """Import the modules of this package, then load the entry points of other packages."""
    package = importlib.import_module("slfs.selectors")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"slfs.selectors.{module.name}")
    for entry in entry_points(group=ENTRY_POINTS):
        entry.load()
