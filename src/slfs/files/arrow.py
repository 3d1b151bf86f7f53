"""Files of Arrow and Parquet -> tables that are what they say, and fit in memory. Needs PyArrow.

PyArrow trusts what a file of Arrow's says about itself: lengths to which parts unpack, and places in its
own bytes. A forged one makes it ask for any amount of memory, or read outside of its own. Parquet has a
long text once and repeats its number, so that few bytes may be very many: such text is read in pieces.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from slfs.files.limits import max_bytes, refuse_beyond

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

_MAGIC = b"ARROW1"
"""How a file begins and ends. A stream has neither this nor a list of its batches."""

# Places of fields in the tables of Arrow's format.
_DICTIONARIES, _BATCHES = 2, 3  # of Footer
_HEADER = 2  # of Message
_BATCH_OF_DICTIONARY = 1  # of DictionaryBatch
_BUFFERS, _COMPRESSION = 2, 3  # of RecordBatch


def read_arrow(content: io.BytesIO) -> pa.Table:
    """Read the table of a file or a stream, if memory can take what it unpacks to."""
    import pyarrow as pa

    data = pa.py_buffer(content.getbuffer())
    if data[:4].to_pybytes() == b"FEA1":
        raise ValueError("it is of the first version of Feather, which nobody writes now")
    is_file = data[: len(_MAGIC)].to_pybytes() == _MAGIC
    size = 0
    for message in _batches(data) if is_file else pa.ipc.MessageReader.open_stream(data):
        size += unpacked_size(message)
        refuse_beyond(size, "the table, unpacked,")
    table = (pa.ipc.open_file if is_file else pa.ipc.open_stream)(data).read_all()
    refuse_beyond(table.num_rows * table.num_columns, "the table")
    table.validate(full=True)
    return table


def open_parquet(source: Any) -> tuple[pq.ParquetFile, dict[str, int]]:
    """Open a Parquet file; and the columns whose text could be too large, with rows that can not be."""
    import pyarrow.parquet as pq

    file = pq.ParquetFile(source)
    about, leaves, names, limit = file.metadata, file.schema, file.schema_arrow.names, max_bytes()
    refuse_beyond(8 * about.num_rows, "a column")
    if len(set(names)) < len(names):
        raise ValueError("it has columns of the same name. Rename the copies.")
    careful = {}
    for place in range(about.num_columns):
        if leaves.column(place).physical_type != "BYTE_ARRAY":
            continue
        parts = [about.row_group(group).column(place) for group in range(about.num_row_groups)]
        longest = max((part.total_uncompressed_size for part in parts), default=0)  # that a text can be
        if longest * about.num_rows > limit:
            careful[leaves.column(place).path] = max(limit // longest, 1)
    return file, careful


def read_parquet(
    file: pq.ParquetFile, careful: dict[str, int], groups: range, columns: list[str]
) -> pa.Table:
    """Read columns of some row groups, if memory can take their text."""
    import pyarrow as pa

    table = file.read_row_groups(groups, columns=[name for name in columns if name not in careful])
    size = 0
    for name in columns:
        if name not in careful:
            continue
        pieces = []
        for batch in file.iter_batches(careful[name], row_groups=list(groups), columns=[name]):
            size += batch.nbytes
            refuse_beyond(size, f"the text of {name!r}")
            pieces.append(batch.column(0))
        table = table.append_column(batch.schema.field(0), pa.chunked_array(pieces))
    table.validate(full=True)
    return table.select(columns)


def _batches(data: pa.Buffer) -> Iterator[pa.Message]:
    """The messages that the list at the end of a file names."""
    import pyarrow as pa

    end = data.size - len(_MAGIC) - 4
    (length,) = struct.unpack_from("<i", data, end)
    about = memoryview(data)[end - length : end]
    footer = _follow(about, 0)
    for field in (_DICTIONARIES, _BATCHES):
        for (begin,) in _vector(about, footer, field, "<q16x"):
            yield pa.ipc.read_message(data[begin:])


def unpacked_size(message: Any) -> int:
    """How many bytes the body of a message of Arrow's has when it is unpacked.

    A message begins with a table of the FlatBuffers format; that of a batch has a list of the buffers of
    its body. Each packed buffer begins with its length, or with -1 if it is not packed after all.
    """
    body, about = message.body, memoryview(message.metadata)
    if body is None or message.type not in ("record batch", "dictionary"):
        return 0
    batch = _follow(about, _field(about, _follow(about, 0), _HEADER))
    if message.type == "dictionary":
        batch = _follow(about, _field(about, batch, _BATCH_OF_DICTIONARY))
    if not _field(about, batch, _COMPRESSION):
        return int(body.size)
    size = 0
    for begin, length in _vector(about, batch, _BUFFERS, "<qq"):
        if length > 0:
            (unpacked,) = struct.unpack_from("<q", body, begin)
            size += length if unpacked < 0 else unpacked
    return size


def _vector(data: memoryview, table: int, number: int, layout: str) -> Iterator[tuple[Any, ...]]:
    """The structs of a list in a table."""
    place = _field(data, table, number)
    if place:
        begin = _follow(data, place)
        (count,) = struct.unpack_from("<I", data, begin)
        end = begin + 4 + count * struct.calcsize(layout)
        yield from struct.iter_unpack(layout, data[begin + 4 : end])


def _follow(data: memoryview, place: int) -> int:
    """Where the offset at a place leads to."""
    return place + int(struct.unpack_from("<I", data, place)[0])


def _field(data: memoryview, table: int, number: int) -> int:
    """The place of a field of a table; 0 if the table has it not."""
    fields = table - struct.unpack_from("<i", data, table)[0]
    (size,) = struct.unpack_from("<H", data, fields)
    if 4 + 2 * number >= size:
        return 0
    (offset,) = struct.unpack_from("<H", data, fields + 4 + 2 * number)
    return table + int(offset) if offset else 0
