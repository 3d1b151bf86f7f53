"""What a user lets a fit take -> how much is left, and what follows from it."""

from __future__ import annotations

import math
import re
from pathlib import Path

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_UNITS |= {f"{unit}i": 1024**power for power, unit in enumerate("KMGT", 1)}

_SIZE = re.compile(r"\s*(\d+(?:\.\d*)?(?:e\d{1,2})?)\s*([KMGT]?i?)B?\s*", re.IGNORECASE)

_USUAL = 300 << 20
"""What a process with the libraries takes, where the system does not say."""


def parse_size(size: int | str, what: str = "memory_limit") -> int:
    """Turn a size such as ``"2GiB"``, ``"500 MB"`` or a number of bytes into bytes.

    Parameters
    ----------
    size : int or str
    what : str, default="memory_limit"
        What an error calls it.

    Returns
    -------
    n_bytes : int

    Examples
    --------
    >>> from slfs._core.memory import parse_size
    >>> parse_size("2GiB")
    2147483648
    """
    if not isinstance(size, str):
        found = int(size)
    else:
        match = _SIZE.fullmatch(size)
        unit = match[2].capitalize() if match else None
        if match is None or unit not in _UNITS:
            raise ValueError(
                f"{what}={size!r} is no size. Give a number of bytes, or a text such as '2GiB' or "
                "'500MB'."
            )
        found = int(float(match[1]) * _UNITS[unit])
    if found < 1:
        raise ValueError(f"{what}={size!r} is no size: it must be positive.")
    return found


def show_size(n_bytes: float) -> str:
    """A number of bytes as a person reads it."""
    if n_bytes < 1 << 30:
        return f"{math.ceil(n_bytes / (1 << 20))} MiB"
    return f"{math.ceil(10 * n_bytes / (1 << 30)) / 10:g} GiB"


def memory_taken() -> int:
    """What this process has taken of the memory and cannot give back, in bytes."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()
    except OSError:
        return _USUAL
    return (int(pages[1]) - int(pages[2])) * _page_size()


def _page_size() -> int:
    import resource

    return resource.getpagesize()


class Budget:
    """The memory that the process may take in all.

    Parameters
    ----------
    limit : int, str or None
        In bytes, or as in `parse_size`. None: no limit.
    """

    def __init__(self, limit: int | str | None) -> None:
        self.limit = math.inf if limit is None else parse_size(limit)

    def spare(self) -> float:
        """What is left of it now, in bytes."""
        return self.limit if self.limit == math.inf else self.limit - memory_taken()

    def too_small(self, needed: float, what: str) -> MemoryError:
        """The error to raise where the rest cannot be enough, ``needed`` bytes being wanted for what."""
        least = show_size(1.1 * (memory_taken() + needed))
        return MemoryError(
            f"memory_limit={show_size(self.limit)} is too small: the process takes "
            f"{show_size(memory_taken())} already, and {what} {show_size(needed)} more. Give at least "
            f"{least}, or fewer columns or rows."
        )
