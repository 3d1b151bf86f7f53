"""PLINK 1 files (.bed, .bim, .fam) -> tables whose genotypes become bit planes without being decoded.

The .bim and .fam files are six columns of text, which need no library. Blocks of the .bed file are read
when they are needed, not mapped into memory: the memory is then that of a block, and a file that another
program truncates is an error instead of a crash.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from slfs._core.ragged import consecutive_runs
from slfs.files.atomic import replace_file, replace_text
from slfs.files.genotypes import (
    MISSING_PHENOTYPE,
    GenotypeColumns,
    Samples,
    Variants,
    numbers_of,
    phenotypes,
)
from slfs.files.registry import read_in_place_only, register_format
from slfs.tables.table import Columns

if TYPE_CHECKING:
    from slfs.counting.planes import SampleLayout
    from slfs.tables.planes import PlaneBlock

_MAGIC, _BY_VARIANT, _BY_SAMPLE = b"\x6c\x1b", 1, 0
_HEADER = 3
_PER_WORD = 32
"""Genotypes per word of 64 bits."""

_VALUES = np.array([0.0, 1.0, 2.0])
_VALUE_OF_CODE = np.array([2.0, np.nan, 1.0, 0.0])
"""Copies of the first allele for each of the four codes of the .bed format."""


class PlinkColumns(GenotypeColumns):
    """The genotypes of a PLINK 1 file as a table, whose values are 0, 1 and 2 copies of allele 1.

    The files ``.bim`` and ``.fam`` must be next to the ``.bed`` file. Genotypes are not decoded: the two
    bits of each become bit planes, which are what algorithms count.

    Parameters
    ----------
    path : str or Path
        The ``.bed`` file.
    drop : sequence of str, default=()
        Variants to leave out.
    missing : sequence of str, default=()
        Ignored; the format marks missing genotypes itself.

    Attributes
    ----------
    names : list of str
        Names of the variants, followed by those of covariates. Variants without a unique id are
        called ``chromosome:position:allele:allele``, with sorted alleles.
    shape : tuple of int
    variants : Variants
        Id, chromosome, position, and alleles of all variants in the file: ``counted_allele`` is
        allele 1 of the ``.bim`` file.
    samples : Samples
        Family, id, sex (1: male, 2: female) and phenotype of the samples.
    ids : list of str
        Ids of the samples.
    phenotype : ndarray of shape (n_samples,)
        Sixth column of the ``.fam`` file; NaN where it is missing.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from slfs import SLFS
    >>> from slfs.files import PlinkColumns, write_plink
    >>> genotypes = np.random.default_rng(0).integers(0, 3, (300, 4)).astype(float)
    >>> y = 1 + (genotypes[:, 2] > 0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_plink(f"{folder}/cohort.bed", genotypes, phenotype=y)
    ...     cohort = PlinkColumns(f"{folder}/cohort.bed")
    ...     SLFS().fit(cohort, cohort.phenotype).get_feature_names_out().tolist()
    ['variant_3']
    """

    def __init__(
        self,
        path: str | Path,
        *,
        drop: Sequence[str] = (),
        missing: Sequence[str] = (),  # noqa: ARG002
    ) -> None:
        path = Path(path)
        with path.open("rb") as file:
            _check_header(file.read(_HEADER), path)
        variants, samples = _read_bim(path.with_suffix(".bim")), _read_fam(path.with_suffix(".fam"))
        self._n_bytes = -(-len(samples.id) // 4)
        expected, found = _HEADER + len(variants.id) * self._n_bytes, path.stat().st_size
        if found != expected:
            what = "truncated" if found < expected else "too long"
            raise ValueError(
                f"{path} is {what}: {len(variants.id)} variants of the .bim file and {len(samples.id)} "
                f"samples of the .fam file need {expected} bytes, and it has {found}. Use the .bim and "
                ".fam files that belong to it, or write it again with plink --make-bed."
            )
        super().__init__(path, variants, samples, drop)

    @property
    def planes(self) -> NDArray[np.bool_]:
        """Which columns are bit planes: the variants."""
        return self.is_variant

    def plane_block(self, columns: Columns, layout: SampleLayout) -> PlaneBlock:
        """Return variants as planes, with the samples in the order of ``layout``."""
        from slfs.counting.genotypes import split_genotypes  # numba is not needed to list formats
        from slfs.tables.planes import PlaneBlock

        n_pairs = -(-self._n_bytes * 4 // _PER_WORD)
        raw = np.zeros((len(columns), 8 * n_pairs), np.uint8)
        self._read_bytes(self._columns[columns], raw)
        source = np.full(64 * layout.n_words, n_pairs * _PER_WORD, np.uint32)  # bits of no sample
        source[layout.bit_positions()] = self._rows[layout.order]
        words = np.empty((len(columns), len(_VALUES), layout.n_words), np.uint64)
        split_genotypes(raw.view("<u8").astype(np.uint64, copy=False), source, words)
        return PlaneBlock(_VALUES, words, layout)

    def _genotypes(self, variants: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.float64]:
        return _VALUE_OF_CODE[self._codes(variants, rows)]

    def _codes(self, variants: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Return the two bits of genotypes, of shape (n_variants, n_rows)."""
        raw = np.empty((len(variants), self._n_bytes), np.uint8)
        self._read_bytes(variants, raw)
        shift = (2 * (rows % 4)).astype(np.uint8)
        codes: NDArray[np.uint8] = (raw[:, rows // 4] >> shift) & np.uint8(3)
        return codes

    def _read_bytes(self, variants: NDArray[np.int64], out: NDArray[np.uint8]) -> None:
        """Read the bytes of variants into the first bytes of the rows of ``out``."""
        with self.path.open("rb") as file:  # buffered: a raw file may return a part of what is asked for
            for run in consecutive_runs(variants):
                part = np.empty((run.stop - run.start, self._n_bytes), np.uint8)
                file.seek(_HEADER + int(variants[run.start]) * self._n_bytes)
                if file.readinto(part.data) < part.size:
                    raise ValueError(f"{self.path} has been truncated while it was read. Open it again.")
                out[run, : self._n_bytes] = part


def write_plink(
    path: str | Path,
    genotypes: Any,
    *,
    names: Sequence[str] | None = None,
    ids: Sequence[str] | None = None,
    phenotype: Any = None,
    chromosomes: Sequence[Any] | None = None,
    positions: Sequence[int] | None = None,
) -> None:
    """Write genotypes to a PLINK 1 file, with its ``.bim`` and ``.fam`` files.

    Parameters
    ----------
    path : str or Path
        The ``.bed`` file.
    genotypes : array-like of shape (n_samples, n_variants)
        0, 1 or 2 copies of allele 1, which is called A; NaN or a negative number if missing.
    names, ids : sequence of str, optional
        Ids of the variants and of the samples; variant_1, sample_1, ... by default.
    phenotype : array-like of shape (n_samples,), optional
        Numbers, such as 1 for controls and 2 for cases; missing by default.
    chromosomes, positions : sequence, optional
        Where the variants are; chromosome 1 and positions 1, 2, ... by default.

    Examples
    --------
    >>> import tempfile
    >>> from slfs.files import PlinkColumns, write_plink
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_plink(f"{folder}/cohort.bed", [[0, 2], [1, -1]], names=["rs1", "rs2"])
    ...     PlinkColumns(f"{folder}/cohort.bed").read("rs2").tolist()
    [2.0, nan]
    """
    values = np.asarray(genotypes, np.float64)
    if values.ndim != 2 or not np.isin(values[values >= 0], _VALUES).all():
        raise ValueError("genotypes must be a table of 0, 1, 2 and missing values (NaN or negative).")
    n_samples, n_variants = values.shape
    names = [f"variant_{j + 1}" for j in range(n_variants)] if names is None else names
    ids = [f"sample_{i + 1}" for i in range(n_samples)] if ids is None else ids
    chromosomes = [1] * n_variants if chromosomes is None else chromosomes
    positions = range(1, n_variants + 1) if positions is None else positions
    traits = np.full(n_samples, -9) if phenotype is None else np.asarray(phenotype)
    for what, some in (("names", names), ("ids", ids), ("chromosomes", chromosomes)):
        unfit = [one for one in some if str(one).split() != [str(one)]]
        if unfit:
            raise ValueError(
                f"{what} contains {unfit[0]!r}. Columns of PLINK files are separated by white space, so "
                "use texts that are not empty and have none, for example with '_' instead."
            )
    places = zip(chromosomes, names, positions, strict=True)
    bim = "".join(f"{place}\t{name}\t0\t{position}\tA\tG\n" for place, name, position in places)
    people = zip(ids, traits.tolist(), strict=True)
    fam = "".join(f"{one}\t{one}\t0\t0\t0\t{trait}\n" for one, trait in people)
    _write(Path(path), values.T, bim, fam)


def write_subset(table: GenotypeColumns, path: Path, names: Sequence[str]) -> None:
    """Write variants of a table, given by name, to a .bed file with its .bim and .fam files."""
    chosen, samples = table.variant_indices(names), table.samples
    if isinstance(table, PlinkColumns):  # with what is not read: parents and genetic distances
        every = (_lines(table.path.with_suffix(end)) for end in (".bim", ".fam"))
        parts = [[own[i] for i in rows] for own, rows in zip(every, (chosen, table._rows), strict=True)]
    else:
        name, chromosome, position, counted, other = (part[chosen] for part in table.variants)
        places = zip(chromosome, name, position, counted, other, strict=True)
        sexes = np.nan_to_num(samples.sex).astype(int)
        traits = [f"{one:.10g}" for one in np.nan_to_num(samples.phenotype, nan=MISSING_PHENOTYPE)]
        people = zip(samples.family, samples.id, sexes, traits, strict=True)
        parts = [
            [f"{a}\t{b}\t0\t{c}\t{d}\t{e}" for a, b, c, d, e in places],
            [f"{a}\t{b}\t0\t0\t{c}\t{d}" for a, b, c, d in people],
        ]
    bim, fam = ("".join(f"{line}\n" for line in part) for part in parts)
    _write(path, table._genotypes(chosen, table._rows), bim, fam)


def _write(path: Path, genotypes: NDArray[np.float64], bim: str, fam: str) -> None:
    """Write genotypes of shape (n_variants, n_samples), and the two files of text."""
    known = np.where(genotypes >= 0, genotypes, len(_VALUES))  # NaN is not
    codes = np.array([3, 2, 0, 1], np.uint8)[known.astype(np.intp)]
    n_variants, n_samples = codes.shape
    quads = np.zeros((n_variants, -(-n_samples // 4), 4), np.uint8)
    quads.reshape(n_variants, -1)[:, :n_samples] = codes
    packed = quads[:, :, 0] | quads[:, :, 1] << 2 | quads[:, :, 2] << 4 | quads[:, :, 3] << 6
    content = _MAGIC + bytes([_BY_VARIANT]) + packed.tobytes()
    replace_text(path.with_suffix(".bim"), bim)
    replace_text(path.with_suffix(".fam"), fam)
    replace_file(path, lambda draft: draft.write_bytes(content))


def _check_header(header: bytes, path: Path) -> None:
    """Raise an error if a file is not a .bed file with one variant after the other."""
    if len(header) < _HEADER or header[:2] != _MAGIC or header[2] not in (_BY_SAMPLE, _BY_VARIANT):
        raise ValueError(
            f"{path} is not a PLINK .bed file: it begins with {header.hex(' ') or 'nothing'}, expected "
            "6c 1b 01. Write it with plink --make-bed."
        )
    if header[2] == _BY_SAMPLE:
        raise ValueError(
            f"{path} has one sample after the other, as old versions of PLINK wrote it. Write it again "
            "with plink --make-bed."
        )


def _read_bim(path: Path) -> Variants:
    rows = _read_rows(path, "a .bim file: chromosome, id, distance, position, allele 1 and allele 2")
    chromosome, name, _, position, first, second = rows
    try:
        positions = np.array(position, np.int64)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{path} has a position that is not an integer: {error}.") from error
    columns = [np.array(part, object) for part in (name, chromosome, first, second)]
    return Variants(columns[0], columns[1], positions, columns[2], columns[3])


def _read_fam(path: Path) -> Samples:
    rows = _read_rows(path, "a .fam file: family, id, father, mother, sex and phenotype")
    family, name, _, _, sex, phenotype = rows
    codes = numbers_of(sex)
    codes[~np.isin(codes, (1.0, 2.0))] = np.nan
    return Samples(
        np.array(family, object), np.array(name, object), codes, phenotypes(numbers_of(phenotype))
    )


def _lines(path: Path) -> list[str]:
    return [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def _read_rows(path: Path, what: str) -> list[list[str]]:
    """Return the six columns of a file of text."""
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {str(path)!r}, which must be next to the .bed file.")
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not text: {error}. Expected {what}.") from error
    for number, line in enumerate(text.splitlines(), 1):
        if len(line.split()) not in (0, 6):
            raise ValueError(
                f"Line {number} of {path} has {len(line.split())} columns; expected {what}."
            )
    words = text.split()
    return [words[column::6] for column in range(6)]


register_format(
    "bed",
    ["bed"],
    read_in_place_only(
        "PLINK files are read from a folder that also has the .bim and .fam files. Decompress them, and "
        "do not use the standard input or --transpose"
    ),
    open_columns=PlinkColumns,
)
