"""JSON and arrays -> a ZIP archive -> JSON and arrays. Every member is checked before it is read."""

from __future__ import annotations

import json
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from numpy.lib import format as npy
from numpy.typing import NDArray

from slfs.files.limits import MODEL_CONTENT, read_array
from slfs.saving.codec import PLAIN
from slfs.saving.errors import ModelFileError


def write_archive(path: Path, content: dict[str, Any], arrays: list[NDArray[Any]]) -> None:
    """Write the members of a model. The same model always gives the same bytes."""
    text = json.dumps(content, allow_nan=False, separators=(",", ":"))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(_entry(MODEL_CONTENT), text)
        for index, array in enumerate(arrays):
            with archive.open(_entry(_member(index)), "w", force_zip64=True) as stream:
                npy.write_array(stream, array, version=(1, 0), allow_pickle=False)


def read_archive(
    stream: IO[bytes], max_bytes: int, check_header: Callable[[Any], None]
) -> tuple[dict[str, Any], list[NDArray[Any]]]:
    """Read the members of a model; arrays are read after ``check_header`` has accepted the JSON."""
    if not zipfile.is_zipfile(stream):
        raise ModelFileError(
            "it is not a ZIP archive, or it is truncated. Pass a file written by slfs.saving.save, or "
            "save the model again."
        )
    with zipfile.ZipFile(stream) as archive:
        members = archive.infolist()
        _check_members(members, max_bytes)
        content = json.loads(archive.read(MODEL_CONTENT), parse_constant=_refuse_constant)
        check_header(content)
        n_arrays = len(members) - 1
        if content["arrays"] != n_arrays:
            raise ModelFileError(
                f"its model.json declares {content['arrays']!r} arrays, but it contains {n_arrays}. "
                "Save the model again."
            )
        return content, [_read_array(archive, _member(index)) for index in range(n_arrays)]


def _check_members(members: list[zipfile.ZipInfo], max_bytes: int) -> None:
    """Reject members that `write_archive` does not write, and archives that are too large."""
    expected = {MODEL_CONTENT, *(_member(index) for index in range(len(members) - 1))}
    for member in members:
        mode = member.external_attr >> 16
        plain = member.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
        if member.filename not in expected:
            raise ModelFileError(
                f"its member {member.filename[:80]!r} is unexpected or occurs twice. Pass a file "
                "written by slfs.saving.save."
            )
        if not plain or member.flag_bits & 1 or (stat.S_IFMT(mode) not in (0, stat.S_IFREG)):
            raise ModelFileError(
                f"its member {member.filename!r} is encrypted, uses an unsupported compression or is "
                "not a regular file. Pass a file written by slfs.saving.save."
            )
        expected.remove(member.filename)
    if expected:
        raise ModelFileError(f"its member {min(expected)!r} is missing. Save the model again.")
    size = sum(member.file_size for member in members)
    if size > max_bytes:
        raise ModelFileError(
            f"its members have {size} bytes, more than max_bytes={max_bytes}. If you trust the file, "
            "load it with a larger max_bytes."
        )


def _read_array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    array = read_array(archive.read(name), name)  # zipfile has checked its length and checksum
    if array.ndim != 1 or array.dtype.kind not in PLAIN:
        raise ModelFileError(
            f"its member {name!r} is an array of {array.dtype} and shape {array.shape}; expected a "
            "one-dimensional array of numbers or strings. Save the model again."
        )
    return array


def _refuse_constant(name: str) -> None:
    raise ModelFileError(
        f"its model.json contains the number {name}, which is not valid JSON. Save the model again."
    )


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name)  # dated 1980: the time of writing must not change the bytes
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def _member(index: int) -> str:
    return f"{index}.npy"
