"""Memory limit -> remaining memory."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from slfs._core.interface import parameter

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_UNITS |= {f"{unit}i": 1024**power for power, unit in enumerate("KMGT", 1)}

_SIZE = re.compile(r"\s*(\d+(?:\.\d*)?(?:e\d{1,2})?)\s*([KMGT]?i?)B?\s*", re.IGNORECASE)


_LIBRARIES = 40 << 20
"""Memory for kernels and libraries that are loaded later."""

_VARIATION = 40 << 20
"""By how much the memory of a process differs from call to call."""


def parse_size(size: int | str, name: str = "memory_limit") -> int:
    """Convert a size such as ``"2GiB"``, ``"500 MB"`` or a number of bytes to bytes.

    Parameters
    ----------
    size : int or str
    name : str, default="memory_limit"
        Name of the parameter in error messages.

    Returns
    -------
    n_bytes : int

    Examples
    --------
    >>> from slfs._core.memory import parse_size
    >>> parse_size("2GiB")
    2147483648
    """
    if isinstance(size, str):
        match = _SIZE.fullmatch(size)
        unit = match[2].capitalize() if match else None
        n_bytes = int(float(match[1]) * _UNITS[unit]) if match and unit in _UNITS else 0
    else:
        n_bytes = int(size)
    if n_bytes < 1:
        raise ValueError(
            f"Invalid {name} {size!r}: expected a positive number of bytes, or a string such as '2GiB' "
            "or '500MB'."
        )
    return n_bytes


def show_size(n_bytes: float) -> str:
    """Format a number of bytes as human-readable text."""
    if n_bytes < 1 << 30:
        return f"{math.ceil(n_bytes / (1 << 20))} MiB"
    return f"{math.ceil(10 * n_bytes / (1 << 30)) / 10:g} GiB"


def memory_taken() -> int:
    """Return the resident memory of this process in bytes.

    Where the system reports them (Linux, Windows), pages shared with files are left out: the system
    can reclaim them, so that a memory-mapped table does not count.
    """
    import psutil  # late: a fit without memory_limit does not need it

    info = psutil.Process().memory_info()
    resident = info.rss - getattr(info, "shared", 0)
    return int(min(resident, getattr(info, "private", resident)))  # "private" is a field of Windows


def total_memory() -> int:
    """Return the physical memory of this machine in bytes."""
    import psutil

    return int(psutil.virtual_memory().total)


def available_memory() -> int:
    """Return the memory in bytes that processes can still take on this machine."""
    import psutil

    return int(psutil.virtual_memory().available)


class Budget:
    """The memory that the process may use in total.

    Parameters
    ----------
    limit : int, str or None
        In bytes, or as in `parse_size`. None: no limit.
    """

    def __init__(self, limit: int | str | None) -> None:
        self.limit = math.inf if limit is None else parse_size(limit)
        self._given = limit
        self._promised = 0.0 if limit is None else memory_taken() + _LIBRARIES

    def spare(self) -> float:
        """Return the number of bytes that are left."""
        return self.limit - (0 if self.limit == math.inf else self._used())

    def _used(self) -> float:
        """Return the number of bytes that are taken or promised to the steps of a context."""
        return max(memory_taken(), self._promised)

    @contextmanager
    def reserve(self, needed: float, what: str, beside: float = 0.0) -> Iterator[None]:
        """Leave some bytes to the steps in this context, or raise an error if there are too few.

        What they have already taken of these bytes does not count twice. ``beside`` is what they need
        in addition, which is not reserved, because they share it.
        """
        if needed + beside > self.spare():
            raise self.too_small(needed + beside, what)
        before = self._promised
        if self.limit < math.inf:
            self._promised = self._used() + needed
        try:
            yield
        finally:
            self._promised = before

    def too_small(self, needed: float, what: str) -> MemoryError:
        """Make the error to raise if the ``needed`` bytes for ``what`` exceed the limit."""
        taken, enough = memory_taken(), self._used() + needed
        return MemoryError(
            f"{parameter('memory_limit', self._given)} is too small: the process uses "
            f"{show_size(taken)} already, and {what} need {show_size(enough - taken)} more. Set "
            f"{parameter('memory_limit')} to {show_size(enough + _VARIATION)}, or pass fewer columns or "
            "rows."
        )


@functools.cache
def reuse_freed_memory() -> None:
    """Make malloc reuse the memory of one block for the next one.

    glibc returns freed blocks to the system, so that every page must be mapped again, until a block of
    that size has been freed once; this saves a quarter of the time of MDLP. The pages allocated here are
    never touched.
    """
    np.empty(30 << 20, np.uint8)
