"""A file about the samples of genotypes -> a table with their ids; the file may be as PLINK writes it.

Needs pandas.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from slfs.files.csv import check_line_ends
from slfs.files.data_file import DataFile
from slfs.files.genotypes import GenotypeColumns, numbers_of
from slfs.files.inference import TableError
from slfs.files.limits import OPENERS
from slfs.files.registry import ReadOptions, format_of_name, format_of_suffix
from slfs.files.source import fingerprint_of

PHENOTYPE = "phenotype"
"""Name of the target that is in the file of genotypes itself."""

FAMILY, SAMPLE, SEX = "FID", "IID", "sex"
IDS = (FAMILY, SAMPLE, f"#{FAMILY}", f"#{SAMPLE}")
PARENTS_AND_SEX = ("SID", "PAT", "MAT", "SEX")
MISSING = ("-9",)
"""What PLINK writes for a missing value."""


class About(NamedTuple):
    """A table about the samples of a file of genotypes."""

    file: DataFile
    coded: bool
    """Whether its phenotypes are coded as in a .fam file, in which 0 is missing beside 1 and 2."""


def read_about(
    source: str, read: Callable[..., DataFile], missing: Sequence[str], table: GenotypeColumns
) -> About:
    """Read a table about samples: any format, or columns separated by spaces as PLINK writes them.

    A file of text has no header if its first row is a sample of the genotypes; one with a suffix of
    PLINK, also if it has numbers where names would be.
    """
    path = Path(source)
    known = format_of_suffix(path) is not None or path.suffix[1:] in OPENERS
    if not path.is_file() or (known and path.suffix != ".txt"):
        return About(read(source, missing=missing), coded=False)
    with path.open("rb") as content:
        try:
            check_line_ends(content)
        except TableError as error:
            raise ValueError(f"{path} cannot be read: {error}.") from None
    text = path.read_text(encoding="utf-8")
    first = next((line for line in text.splitlines() if line.strip()), "")
    headless = path.suffix != ".fam" and _is_sample(first.split(), table, known)
    if known and set("\t,;") & set(first) and not headless:
        return About(read(source, missing=missing), coded=False)
    return _read_plain(path, text, missing, headless)


def _is_sample(words: list[str], table: GenotypeColumns, is_table: bool) -> bool:
    """Return whether the first row of a file is a sample, and not a header."""
    if not words or words[0] in IDS:
        return False
    if len(words) > 1 and words[1] in set(table.ids):
        return True
    return not is_table and bool(np.isfinite(numbers_of(words[2:])).any())


def _read_plain(path: Path, text: str, missing: Sequence[str], headless: bool) -> About:
    """Read a file as PLINK writes it, in which -9 is a missing value."""
    rows = [line for line in text.splitlines() if line.strip() and not line.startswith("##")]
    tabs = bool(rows) and "\t" in rows[0]
    lines = [[one.strip() for one in row.split("\t")] if tabs else row.split() for row in rows]
    is_fam = path.suffix == ".fam"
    if lines and is_fam:
        lines.insert(0, [FAMILY, SAMPLE, "PAT", "MAT", "SEX", PHENOTYPE])
    elif lines and headless:
        more = [f"{PHENOTYPE}_{number}" for number in range(1, len(lines[0]) - 1)]
        lines.insert(0, [FAMILY, SAMPLE, *more][: len(lines[0])])
    if len({len(line) for line in lines}) != 1:
        raise ValueError(f"The rows of {path} do not have the same number of columns.")
    content = "\n".join("\t".join(line) for line in lines).encode()
    form, options = format_of_name("tsv"), ReadOptions([*missing, *MISSING])
    frame, original = (
        form.read(io.BytesIO(content), options)[0],
        form.original(io.BytesIO(content), options),
    )
    names = list(map(str, frame.columns))
    file = DataFile(
        frame,
        None,
        str(path),
        "",
        fingerprint_of(path),
        names,
        read_originals=lambda wanted: original[wanted],
    )
    return About(file, coded=headless or is_fam or path.suffix == ".psam")


def read_own(table: GenotypeColumns) -> About | None:
    """Return what the .psam file of a .pgen file says about its samples."""
    path = table.path.with_suffix(".psam")
    if table.path.suffix != ".pgen":
        return None
    return _read_plain(path, path.read_text(encoding="utf-8"), (), headless=False)
