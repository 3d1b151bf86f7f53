"""Arrow (Feather) files and streams <-> pandas DataFrames. Needs PyArrow.

PyArrow trusts a file: it decompresses any batch, and its arrays may refer to memory outside the file.
The first is limited here by the sizes that a file claims, the second by ``validate(full=True)``.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slfs.files.limits import refuse_beyond
from slfs.files.marks import Marks
from slfs.files.registry import ReadOptions, register_format

if TYPE_CHECKING:
    import pyarrow as pa

_MAGIC = b"ARROW1"
"""How a file begins and ends. A stream has neither this nor a footer."""

# Numbers of fields in the FlatBuffers tables of Arrow's format (Message.fbs, File.fbs).
_DICTIONARIES, _RECORD_BATCHES = 2, 3  # of Footer
_HEADER = 2  # of Message: a RecordBatch or a DictionaryBatch
_DATA = 1  # of DictionaryBatch: a RecordBatch
_BUFFERS, _COMPRESSION = 2, 3  # of RecordBatch


def _read(content: io.BytesIO, options: ReadOptions) -> tuple[Any, Any]:
    table = Marks(options.missing).remove_arrow(_read_table(content))
    return table.to_pandas(date_as_object=False), None


def _read_original(content: io.BytesIO, _options: ReadOptions) -> Any:
    return original_frame(_read_table(content))


def original_frame(table: pa.Table) -> Any:
    """Convert a table to a DataFrame that keeps the types of Arrow, such as nullable integers."""
    import pandas as pd

    return table.to_pandas(types_mapper=pd.ArrowDtype, ignore_metadata=True)


def _read_table(content: io.BytesIO) -> pa.Table:
    import pyarrow as pa

    data = pa.py_buffer(content.getbuffer())
    if data[:4].to_pybytes() == b"FEA1":
        raise ValueError("it is a Feather file of version 1, which is not supported; write version 2")
    is_file = data[: len(_MAGIC)].to_pybytes() == _MAGIC
    size = 0
    for message in _messages(data) if is_file else pa.ipc.MessageReader.open_stream(data):
        size += _decompressed_size(message)
        refuse_beyond(size, "the decompressed table")
    table = (pa.ipc.open_file if is_file else pa.ipc.open_stream)(data).read_all()
    refuse_beyond(table.num_rows * table.num_columns, "the table")
    table.validate(full=True)
    return table


def _messages(data: pa.Buffer) -> Iterator[pa.Message]:
    """Yield the messages that the footer of a file lists."""
    import pyarrow as pa

    end = data.size - len(_MAGIC) - 4
    (length,) = struct.unpack_from("<i", data, end)
    footer = memoryview(data)[end - length : end]
    for field in (_DICTIONARIES, _RECORD_BATCHES):
        for (begin,) in _structs(footer, "<q16x", field):
            yield pa.ipc.read_message(data[begin:])


def _decompressed_size(message: Any) -> int:
    """Return how many bytes PyArrow will allocate for a message.

    PyArrow neither reports this nor has a limit, and Zstandard compresses zeros 30000 to 1: 37
    kilobytes make it take 1.2 gigabytes. So the sizes are read from the metadata, a FlatBuffers table.
    Every compressed buffer begins with its decompressed size, or with -1 if it is not compressed after
    all.
    """
    body, about = message.body, memoryview(message.metadata)
    if body is None or message.type not in ("record batch", "dictionary"):
        return 0
    batch = (_HEADER, _DATA) if message.type == "dictionary" else (_HEADER,)
    if not _follow(about, *batch, _COMPRESSION):
        return int(body.size)
    size = 0
    for begin, length in _structs(about, "<qq", *batch, _BUFFERS):
        if length > 0:
            (decompressed,) = struct.unpack_from("<q", body, begin)
            size += length if decompressed < 0 else decompressed
    return size


def _structs(data: memoryview, layout: str, *fields: int) -> Iterator[tuple[Any, ...]]:
    """Yield the structs of the vector that some fields lead to."""
    begin = _follow(data, *fields)
    if begin:
        (count,) = struct.unpack_from("<I", data, begin)
        yield from struct.iter_unpack(layout, data[begin + 4 :][: count * struct.calcsize(layout)])


def _follow(data: memoryview, *fields: int) -> int:
    """Follow fields of FlatBuffers tables from the root; return a position, 0 if a field is absent."""
    (position,) = struct.unpack_from("<I", data, 0)
    for field in fields:
        vtable = position - struct.unpack_from("<i", data, position)[0]
        (size,) = struct.unpack_from("<H", data, vtable)
        if 4 + 2 * field >= size:
            return 0
        (offset,) = struct.unpack_from("<H", data, vtable + 4 + 2 * field)
        if offset == 0:
            return 0
        position += offset
        position += struct.unpack_from("<I", data, position)[0]
    return int(position)


def _write(frame: Any, path: Path) -> None:
    frame.to_feather(path)


register_format(
    "arrow",
    ["arrow", "feather", "ipc"],
    _read,
    read_original=_read_original,
    write=_write,
    requirement="slfs[parquet]",
)
