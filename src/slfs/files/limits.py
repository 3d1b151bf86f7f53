"""Compressed files and array headers -> bytes and arrays, within a memory limit.

A few kilobytes may decompress to terabytes, and a header of a few bytes may claim an array of that size.
Both are refused before the memory is allocated.
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

from slfs._core.memory import parse_size, total_memory

LIMIT_VARIABLE = "SLFS_MAX_BYTES"
"""The environment variable that limits how many bytes a file may decompress to."""

OPENERS: dict[str, Callable[..., Any]] = {"gz": gzip.open, "bz2": bz2.open, "xz": lzma.open}
"""Suffix of a compressed file -> the function that opens it."""

_MAGIC = {b"\x1f\x8b": "gz", b"BZh": "bz2", b"\xfd7zXZ\x00": "xz"}
"""How compressed data begin -> their suffix."""

MODEL_CONTENT = "model.json"
"""The member of a saved model, which is a ZIP archive, that describes it."""

_ZIP = b"PK\x03\x04"
"""How a ZIP archive begins."""

_OLE = b"\xd0\xcf\x11\xe0"
"""How files of older versions of Excel begin, and those of any version with a password."""

_PIECE = 1 << 20

_COLUMN_BYTES = 200
"""Least memory per column, even an empty one: a sparse file may name a column with a huge index."""


def max_bytes() -> int:
    """Return how many bytes a file may decompress to: SLFS_MAX_BYTES, by default half of the memory."""
    text = os.environ.get(LIMIT_VARIABLE, "")
    return parse_size(text, LIMIT_VARIABLE) if text else total_memory() // 2


class TooLargeError(ValueError):
    """A file would need more memory than allowed."""


def refuse_beyond(size: int, what: str) -> None:
    """Raise an error if something needs more bytes than a file may decompress to."""
    limit = max_bytes()
    if size > limit:
        raise TooLargeError(
            f"{what} needs at least {size} bytes, which exceeds the limit of {limit}. If you trust the "
            f"file, set the environment variable {LIMIT_VARIABLE} to a larger number."
        )


def decompress(path: Path) -> io.BytesIO:
    """Read a file, and decompress it if its name ends in .gz, .bz2 or .xz, or if it begins like one."""
    with path.open("rb") as stream:
        suffix = path.suffix[1:].lower()
        return _decompressed(stream, suffix if suffix in OPENERS else _compression(stream), str(path))


def decompress_bytes(data: bytes, name: str) -> io.BytesIO:
    """Decompress data if they begin like a gzip, bzip2 or xz file."""
    stream = io.BufferedReader(io.BytesIO(data))
    return _decompressed(stream, _compression(stream), name)


def _compression(stream: io.BufferedReader[Any]) -> str:
    """Return the suffix of a compressed file that begins like this one; "" if there is none."""
    begin = stream.peek(10)[:10]  # a pipe cannot be read twice
    suffix = next((suffix for magic, suffix in _MAGIC.items() if begin.startswith(magic)), "")
    return "" if suffix == "bz2" and begin[4:] != b"1AY&SY" else suffix  # "BZh" may begin a text


def _decompressed(stream: IO[bytes], suffix: str, name: str) -> io.BytesIO:
    if not suffix:
        return io.BytesIO(stream.read())
    content = io.BytesIO()
    with OPENERS[suffix](stream, "rb") as file:
        try:
            while piece := file.read(_PIECE):
                content.write(piece)
                refuse_beyond(content.tell(), f"{name}, decompressed,")
        except (EOFError, OSError, lzma.LZMAError, zlib.error) as error:
            raise ValueError(f"{name} is damaged: {error}. Fix it, or download it again.") from error
    content.seek(0)
    return content


_HDF5 = b"\x89HDF"

_BINARY = {
    b"PAR1\x15": ("a Parquet file", "parquet", "parquet"),
    b"ARROW1\0": ("an Arrow file", "arrow", "arrow"),
    b"\x93NUMPY": ("an npy file", "npy", "npy"),
}
"""How files of formats that are not text begin -> what they are, their suffix and format."""


def old_excel_remark(content: IO[bytes]) -> str:
    """Say what to do with a file that begins like one of older versions of Excel, else ""."""
    begin = content.read(len(_OLE))
    content.seek(0)
    if begin != _OLE:
        return ""
    return (
        "is an Excel file of the old format .xls, or one with a password, which are not supported. Save "
        "it as .xlsx without a password, or as CSV"
    )


def container_remark(content: IO[bytes], name: str) -> str:
    """Say what to do with a file that begins like a ZIP archive or another binary format, else ""."""
    begin = content.read(max(map(len, (_ZIP, *_BINARY))))
    content.seek(0)
    for magic, kind in _BINARY.items():
        if begin.startswith(magic):
            return _other_format(name, *kind)
    if begin.startswith(_HDF5):
        return "is an HDF5 file. If it is AnnData, save it with the suffix .h5ad"
    if not begin.startswith(_ZIP):
        return old_excel_remark(content)
    try:
        names = zipfile.ZipFile(content).namelist()
    except zipfile.BadZipFile:
        names = []
    content.seek(0)
    if MODEL_CONTENT in names:
        return (
            f"is a saved model, not a table. Use it with: slfs predict {name} DATA, or slfs explain "
            f"COLUMN --model {name}"
        )
    if "[Content_Types].xml" in names:
        return _other_format(name, "an Excel file", "xlsx", "excel")
    if names and all(name.endswith(".npy") for name in names):
        return _other_format(name, "an npz file", "npz", "npz")
    shown = f", such as {names[0]!r}" if names else ""
    return f"is a ZIP archive. Unzip it first, and pass the file that it contains{shown}"


def _other_format(name: str, what: str, suffix: str, form: str) -> str:
    """Say how to read a file of another format than its name says; the standard input has no name."""
    rename = "" if name == "stdin" else f"Name it .{suffix}, or a"
    return f"is {what}. {rename or 'A'}dd --format {form}"


class ObjectsError(ValueError):
    """An array of a file contains Python objects."""


def read_arrays(stream: IO[bytes]) -> dict[str, NDArray[Any]]:
    """Read the arrays of an npz file by name, each checked as in `read_array`."""
    with zipfile.ZipFile(stream) as archive:
        refuse_beyond(sum(member.file_size for member in archive.infolist()), "the decompressed archive")
        return {
            name.removesuffix(".npy"): read_array(archive.read(name), name)
            for name in archive.namelist()
        }


def read_array(data: bytes, name: str) -> NDArray[Any]:
    """Read an array in NumPy's format whose header matches the bytes that follow, without objects."""
    check_array(io.BytesIO(data), len(data), name)
    array: NDArray[Any] = np.load(io.BytesIO(data), allow_pickle=False)
    if array.dtype.kind == "U":
        points = np.frombuffer(array.tobytes(), np.dtype("u4").newbyteorder(array.dtype.byteorder))
        if ((points > sys.maxunicode) | ((points >= 0xD800) & (points < 0xE000))).any():
            raise ValueError(f"{name!r} has text with invalid characters")
    return array


def check_array(stream: IO[bytes], n_bytes: int, name: str) -> None:
    """Raise an error if the header of an array in NumPy's format does not match its bytes."""
    version = npy.read_magic(stream)
    readers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
    if version not in readers:
        raise ValueError(f"{name!r} is an array of an unsupported format version, {version}")
    shape, _, dtype = readers[version](stream)
    if dtype.hasobject:
        raise ObjectsError(f"{name!r} is an array of objects, which are not read from files")
    size = n_bytes - stream.tell()
    if any(length < 0 for length in shape) or math.prod(shape) * dtype.itemsize != size:
        raise ValueError(f"{name!r} is an array of {dtype} and shape {shape} in {size} bytes")


def check_sparse(table: Any) -> Any:
    """Return a sparse table as csr if its indices are valid and memory can hold its columns."""
    from scipy import sparse

    from slfs.tables.sparse import check_indices

    refuse_beyond(table.shape[1] * _COLUMN_BYTES, f"a table of {table.shape[1]} columns")
    check_indices(table)
    return sparse.csr_array(table)
