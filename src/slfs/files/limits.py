"""Packed files -> their bytes and arrays, and never more of them than memory can take.

A few kilobytes may unpack to terabytes, and a header of a few bytes may claim an array of that size.
Both are refused before the memory is asked for.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import math
import os
import sys
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from slfs._core.memory import parse_size

LIMIT_VARIABLE = "SLFS_MAX_BYTES"
"""The environment variable that says how many bytes a file may unpack to."""

OPENERS: dict[str, Callable[..., Any]] = {"gz": gzip.open, "bz2": bz2.open, "xz": lzma.open}
"""Ending of the name of a packed file -> what opens it."""

_PIECE = 1 << 20
_USUAL = 4 << 30
"""The limit where the system does not say how much memory there is."""


def max_bytes() -> int:
    """How many bytes a file may unpack to: SLFS_MAX_BYTES, or else half of the memory."""
    text = os.environ.get(LIMIT_VARIABLE, "")
    if text:
        return parse_size(text, LIMIT_VARIABLE)
    if not hasattr(os, "sysconf"):
        return _USUAL
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


class TooLargeError(ValueError):
    """A file would take more memory than it may."""


def refuse_beyond(size: int, what: str) -> None:
    """Raise an error if something would take more bytes than a file may unpack to."""
    limit = max_bytes()
    if size > limit:
        raise TooLargeError(
            f"{what} takes {size} bytes or more, which is above the limit of {limit}. If you trust the "
            f"file, set the environment variable {LIMIT_VARIABLE} to a larger number."
        )


def unpack(path: Path) -> io.BytesIO:
    """The bytes of a file, unpacked if its name ends in .gz, .bz2 or .xz."""
    opener = OPENERS.get(path.suffix[1:].lower())
    if opener is None:
        return io.BytesIO(path.read_bytes())
    content = io.BytesIO()
    with path.open("rb") as stream, opener(stream, "rb") as file:
        try:
            while piece := file.read(_PIECE):
                content.write(piece)
                refuse_beyond(content.tell(), f"{path}, unpacked,")
        except (EOFError, OSError, lzma.LZMAError, zlib.error) as error:
            raise ValueError(f"{path} is damaged: {error}. Mend it, or fetch it again.") from error
    content.seek(0)
    return content


def read_arrays(stream: IO[bytes]) -> dict[str, NDArray[Any]]:
    """The arrays of an .npz file by name; each is as large as its bytes, and none holds objects."""
    with zipfile.ZipFile(stream) as archive:
        refuse_beyond(sum(member.file_size for member in archive.infolist()), "the archive, unpacked,")
        return {
            name.removesuffix(".npy"): read_array(archive.read(name), name)
            for name in archive.namelist()
        }


def read_array(data: bytes, name: str) -> NDArray[Any]:
    """The array of a file of NumPy's format, whose header is checked against the bytes that follow."""
    check_array(io.BytesIO(data), len(data), name)
    array: NDArray[Any] = np.load(io.BytesIO(data), allow_pickle=False)
    if array.dtype.kind == "U":
        points = np.frombuffer(array.tobytes(), np.dtype("u4").newbyteorder(array.dtype.byteorder))
        if ((points > sys.maxunicode) | ((points >= 0xD800) & (points < 0xE000))).any():
            raise ValueError(f"{name!r} has text of characters that do not exist")
    return array


def check_array(stream: IO[bytes], n_bytes: int, name: str) -> None:
    """Refuse a file of NumPy's format whose header does not go with the bytes that follow."""
    version = npy.read_magic(stream)
    readers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
    if version not in readers:
        raise ValueError(f"{name!r} is an array of a foreign version, {version}")
    shape, _, dtype = readers[version](stream)
    room = n_bytes - stream.tell()
    if (
        dtype.hasobject
        or any(length < 0 for length in shape)
        or math.prod(shape) * dtype.itemsize != room
    ):
        raise ValueError(f"{name!r} is an array of {dtype} and shape {shape} in {room} bytes")
