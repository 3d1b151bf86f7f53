"""Atomic file replacement."""

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

_NO_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_DAY = 24 * 3600.0
_STEM = 40


def replace_file(path: Path, write: Callable[[Path], Any]) -> None:
    """Write a file next to ``path`` with ``write``, then rename it to ``path``.

    A symbolic link stays a link, to the new content, and a file keeps its permissions. A pipe or a
    device is written to directly. A process that is killed leaves the old file intact, and possibly a
    hidden draft that ends in .part and the suffix; it is removed when the same file is written a day
    later or more.
    """
    path = path.resolve()
    if path.exists() and not path.is_file():
        write(path)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_old_drafts(path)
    stem = path.stem[:_STEM]  # file names are limited to 255 bytes
    draft = path.with_name(f".{stem}.{os.getpid()}-{threading.get_ident()}.part{path.suffix}")
    try:
        write(draft)
        _flush(draft)
        if path.exists() and os.name != "nt":  # Windows could not remove a draft that is read-only
            shutil.copymode(path, draft)
        draft.replace(path)
    except OSError as error:
        if error.errno not in _NO_SPACE:
            if error.filename != str(draft):
                raise
            remedy = "Write to another folder"
            if path.exists():  # Windows does not replace files that are open or read-only
                remedy = "Close it in other programs, or write to another file"
            raise OSError(
                error.errno, f"{path} cannot be written ({error.strerror}). {remedy}"
            ) from error
        raise OSError(
            error.errno,
            f"not enough space to write {path} ({os.strerror(error.errno)}). An existing file is "
            "unchanged. Free some space, or write to another disk",
        ) from error
    finally:
        with contextlib.suppress(OSError):  # on Windows, if an error has left it open
            draft.unlink(missing_ok=True)


def replace_text(path: Path, text: str) -> None:
    """Replace a file by a text in UTF-8, with the same bytes on every system."""
    replace_file(path, lambda draft: draft.write_text(text, encoding="utf-8", newline="\n"))


def _flush(draft: Path) -> None:
    """Make sure that the content is on disk before the file is renamed."""
    with draft.open("rb+") as file:
        os.fsync(file.fileno())


def _remove_old_drafts(path: Path) -> None:
    """Remove drafts of the same file that were left by processes that were killed."""
    for draft in path.parent.glob(f".{glob.escape(path.stem[:_STEM])}.*.part{glob.escape(path.suffix)}"):
        with contextlib.suppress(OSError):
            if draft.stat().st_mtime < time.time() - _DAY:
                draft.unlink()
