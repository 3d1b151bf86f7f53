"""Files that are either whole or not there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any


def replace_file(path: Path, write: Callable[[Path], Any]) -> None:
    """Let ``write`` make a draft beside ``path``, then put it in place at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.stem}.part{path.suffix}")
    try:
        write(draft)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
