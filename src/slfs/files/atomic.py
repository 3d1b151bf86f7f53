"""Files that are either whole or not there."""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_DAY = 24 * 3600.0
_STEM = 40


def replace_file(path: Path, write: Callable[[Path], Any]) -> None:
    """Let ``write`` make a draft beside ``path``, then put it in place at once.

    A link stays a link, to the new content, and a file keeps its permissions. What exists and is no
    regular file (a pipe, a device) is written to as it is. A process that is killed leaves the old file,
    and maybe its draft, a hidden file that ends in .part and the suffix: it is removed a day later, when
    the same file is written again.
    """
    path = path.resolve()
    if path.exists() and not path.is_file():
        write(path)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_old_drafts(path)
    stem = path.stem[:_STEM]  # a name may have 255 bytes
    draft = path.with_name(f".{stem}.{os.getpid()}-{threading.get_ident()}.part{path.suffix}")
    try:
        write(draft)
        _flush(draft)
        if path.exists():
            shutil.copymode(path, draft)
        draft.replace(path)
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        raise OSError(
            error.errno,
            f"there is no room to write {path} ({os.strerror(error.errno)}). What was there is as it "
            "was. Free some space, or write to another place",
        ) from error
    finally:
        draft.unlink(missing_ok=True)


def _flush(draft: Path) -> None:
    """Let the content reach the disk before the name does."""
    with draft.open("rb+") as file:
        os.fsync(file.fileno())


def _remove_old_drafts(path: Path) -> None:
    """Remove what processes that were killed have left of the same file."""
    for draft in path.parent.glob(f".{glob.escape(path.stem[:_STEM])}.*.part{glob.escape(path.suffix)}"):
        with contextlib.suppress(OSError):
            if draft.stat().st_mtime < time.time() - _DAY:
                draft.unlink()
