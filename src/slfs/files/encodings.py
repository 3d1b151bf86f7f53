"""The bytes of a text file -> the same text in UTF-8, or what to do about its encoding."""

from __future__ import annotations

import codecs
import io
import re

from slfs.files.inference import TableError

_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",  # begins with the mark of UTF-16
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
"""First bytes of a file -> its encoding."""

_SINGLE_BYTES = ("WINDOWS-1252", "ISO-8859-1")
"""Common encodings with one byte per character; the last one has a character for each byte."""


def as_utf8(content: io.BytesIO) -> io.BytesIO:
    """Convert UTF-16, which Excel writes as "Unicode text", and UTF-32 to UTF-8.

    The lines of files of old Macintosh programs, which end with carriage returns only, end as usual.
    """
    content = _decoded(content)
    text = content.getbuffer()
    if re.search(rb"\n", text) is None and re.search(rb"\r", text):
        return io.BytesIO(bytes(text).replace(b"\r", b"\n"))
    return content


def _decoded(content: io.BytesIO) -> io.BytesIO:
    first = bytes(content.getbuffer()[:4])
    encoding = next((name for mark, name in _MARKS.items() if first.startswith(mark)), None)
    if encoding is None:
        return content
    try:
        return io.BytesIO(content.getvalue().decode(encoding).encode())
    except UnicodeDecodeError as error:
        raise TableError(
            f"it begins like {encoding.upper()}, but is not (byte {error.start})"
        ) from error


def not_utf8(content: bytes, position: int) -> str:
    """Say how to convert a file to UTF-8 that has another byte at this position."""
    return (
        f"it is not encoded in UTF-8 (byte {position}). Save it as UTF-8, or convert it, for example "
        f"with: iconv -f {_single_byte_encoding(content)} -t utf-8 OLD > NEW"
    )


def _single_byte_encoding(content: bytes) -> str:
    for name in _SINGLE_BYTES[:-1]:
        try:
            content.decode(name)
        except UnicodeDecodeError:
            continue
        return name
    return _SINGLE_BYTES[-1]
