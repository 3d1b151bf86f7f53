"""A path or "-" -> the format, the content and the fingerprint of a file."""

from __future__ import annotations

import codecs
import hashlib
import io
import re
import sys
from collections.abc import Callable
from pathlib import Path

from slfs._core.suggest import similar_names
from slfs.files.encodings import as_utf8
from slfs.files.limits import OPENERS, container_remark, decompress, decompress_bytes
from slfs.files.registry import COHORTS, Format, format_of_name, format_of_suffix, formats

STDIN = "-"

_FIRST = 1024
"""Number of bytes that tell the format of the standard input."""

_FOLDERS = (".zarr",)
"""Suffixes of formats that are folders."""


_STATISTICS = (
    "a file of {0}. Convert it to Parquet or CSV, for example in Python: "
    "pandas.read_{1}('{{0}}').to_parquet('{{1}}.parquet'), and pass {{1}}.parquet"
)

_CONVERT = {
    ".dta": _STATISTICS.format("Stata", "stata"),
    ".sav": _STATISTICS.format("SPSS", "spss"),
    ".sas7bdat": _STATISTICS.format("SAS", "sas"),
    ".vcf": "a VCF file. Convert it to PLINK files, for example with: plink2 --vcf {0} --make-bed --out "
    "{1}, and pass {1}.bed",
    ".bcf": "a BCF file. Convert it to PLINK files, for example with: plink2 --bcf {0} --make-bed --out "
    "{1}, and pass {1}.bed",
    ".gct": "a GCT file. Remove its first two lines, the version and the size of the table, with: tail "
    "-n +3 {0} > {1}.tsv, and pass {1}.tsv with --transpose --drop Description",
    ".biom": "a BIOM file. Convert it with: biom convert --to-tsv -i {0} -o {1}.tsv, remove its first "
    "line with: tail -n +2 {1}.tsv > table.tsv, and pass table.tsv with --transpose",
}
"""Suffixes of formats that other programs convert -> how, given the names of the file and without it."""


def existing_file(source: str) -> Path:
    """Return the path of a file; raise an error that suggests names if there is none."""
    path = Path(source)
    if not path.exists():
        near = similar_names(path.name, [one.name for one in path.parent.glob("*")])
        raise FileNotFoundError(
            f"There is no file {source!r}." + (f" Did you mean {' or '.join(near)}?" if near else "")
        )
    if path.is_dir() and path.suffix not in _FOLDERS:
        raise IsADirectoryError(f"{source!r} is a folder; expected a file.")
    return path


def format_of(source: str, name: str | None = None) -> Format:
    """Return the format of a file: that of the name, if there is one, or of its suffix."""
    if name is not None:
        return format_of_name(name)
    if source == STDIN:
        return format_of_name("csv")
    path = Path(source)
    plain = path.with_suffix("") if is_compressed(source) else path
    found = format_of_suffix(plain)
    if found is None:
        if how := _CONVERT.get(plain.suffix.lower()):
            raise ValueError(f"{source} is {how.format(source, plain.stem)}.")
        if path.is_file():
            with path.open("rb") as file:
                if remark := container_remark(file, source):
                    raise ValueError(f"{source} {remark}.")
        known = sorted(f".{suffix}" for one in formats().values() for suffix in one.suffixes)
        raise ValueError(
            f"The format of {source!r} cannot be inferred from its suffix. Known suffixes are "
            f"{', '.join(known)}. Rename the file, or set --format to one of "
            f"{', '.join(sorted(formats()))}."
        )
    return found


def format_of_second(source: str | None, name: str | None) -> str | None:
    """Return the name of the format of a second file: that of the first one if its suffix is unknown."""
    if source is None or source == STDIN:
        return None
    path = Path(source).with_suffix("") if is_compressed(source) else Path(source)
    return None if format_of_suffix(path) else name


def format_of_text(content: io.BytesIO) -> Format:
    """Return the format of text without a name: JSON and JSON Lines begin with an object, or CSV."""
    first = bytes(as_utf8(content).getbuffer()[:_FIRST]).removeprefix(codecs.BOM_UTF8).lstrip()
    if re.match(rb'\{\s*["}]', first):
        return format_of_name("jsonl")
    return format_of_name("json" if re.match(rb"\[\s*[{\]]", first) else "csv")


def is_cohort(source: str, file_format: str | None = None) -> bool:
    """Return whether a file contains genotypes, by its suffix or the name of its format."""
    return format_of(source, file_format).name in COHORTS


def is_compressed(source: str) -> bool:
    return Path(source).suffix[1:].lower() in OPENERS


def content_of(source: str) -> io.BytesIO:
    if source == STDIN:
        if sys.stdin is None:
            raise ValueError("The standard input is closed and cannot be read.")
        return decompress_bytes(sys.stdin.buffer.read(), "stdin")
    return decompress(existing_file(source))


def content_again(source: str, content: io.BytesIO) -> Callable[[], io.BytesIO]:
    """Return a function that reads a file again; what cannot be read twice is kept in memory."""
    if source == STDIN or not Path(source).is_file():
        return lambda: content
    return lambda: content_of(source)


def joint_fingerprint(*fingerprints: str) -> str:
    """Return the fingerprint of several files: the SHA-256 of their fingerprints, one per line."""
    return hashlib.sha256("".join(f"{one}\n" for one in fingerprints).encode()).hexdigest()


def fingerprint_of(path: Path) -> str:
    """Return the SHA-256 of a file, or of all files of a folder."""
    total = hashlib.sha256()
    for part in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if part.is_file():
            with part.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256")
            if part == path:
                return digest.hexdigest()
            total.update(f"{part.relative_to(path).as_posix()} {digest.hexdigest()}\n".encode())
    return total.hexdigest()
