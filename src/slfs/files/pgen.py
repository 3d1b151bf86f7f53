"""PLINK 2 files (.pgen, .pvar, .psam) -> tables of genotypes; needs pgenlib (extra ``plink``).

pgenlib decodes genotypes to bytes, so these files are read in the ordinary way, block by block.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from slfs.files.genotypes import GenotypeColumns, Samples, Variants, numbers_of, phenotypes
from slfs.files.registry import read_in_place_only, register_format

_SAMPLE_NAMES = ("FID", "IID", "SID", "PAT", "MAT", "SEX")
"""Columns of a .psam file that are not traits."""


class PgenColumns(GenotypeColumns):
    """The genotypes of a PLINK 2 file as a table: 0, 1 and 2 copies of the alternate allele.

    The files ``.pvar`` and ``.psam`` must be next to the ``.pgen`` file. Hard calls are read; dosages
    and phase are not. Needs ``pip install 'slfs[plink]'``.

    Parameters
    ----------
    path : str or Path
        The ``.pgen`` file.
    drop : sequence of str, default=()
        Variants to leave out.
    missing : sequence of str, default=()
        Ignored; the format marks missing genotypes itself.

    See Also
    --------
    PlinkColumns : The same for ``.bed`` files, which are read faster.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        drop: Sequence[str] = (),
        missing: Sequence[str] = (),  # noqa: ARG002
    ) -> None:
        import pgenlib

        path = Path(path)
        variants, samples = _read_pvar(path.with_suffix(".pvar")), _read_psam(path.with_suffix(".psam"))
        try:
            with pgenlib.PgenReader(
                bytes(path), raw_sample_ct=len(samples.id), variant_ct=len(variants.id)
            ):
                pass
        except (RuntimeError, AssertionError) as error:
            raise ValueError(
                f"{path} cannot be read with {len(variants.id)} variants of the .pvar file and "
                f"{len(samples.id)} samples of the .psam file: {error}"
            ) from error
        super().__init__(path, variants, samples, drop)
        self._n_people = len(samples.id)

    def _genotypes(self, variants: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.float64]:
        import pgenlib

        found = np.empty((len(variants), self._n_people), np.int8)
        with pgenlib.PgenReader(bytes(self.path), raw_sample_ct=self._n_people) as reader:
            reader.read_list(variants.astype(np.uint32), found)
        values = found[:, rows].astype(np.float64)
        values[values < 0] = np.nan
        return values


def _read_pvar(path: Path) -> Variants:
    head, lines = _read_lines(path, ("#CHROM", "POS", "ID", "REF", "ALT"))
    place = {name: head.index(name) for name in ("#CHROM", "POS", "ID", "REF", "ALT")}
    columns = {name: np.array([line[index] for line in lines], object) for name, index in place.items()}
    several = [one for one in columns["ALT"] if "," in one]
    if several:
        raise ValueError(
            f"{path} has variants with several alternate alleles ({several[0]}). Split them with plink2 "
            "--make-pgen multiallelics=-."
        )
    try:
        positions = columns["POS"].astype(np.int64)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{path} has a position that is not an integer: {error}.") from error
    return Variants(columns["ID"], columns["#CHROM"], positions, columns["ALT"], columns["REF"])


def _read_psam(path: Path) -> Samples:
    head, lines = _read_lines(path, ("IID",))
    head = [name.lstrip("#") for name in head]
    columns = {name: [line[index] for line in lines] for index, name in enumerate(head)}
    ids = np.array(columns["IID"], object)
    family = np.array(columns["FID"], object) if "FID" in head else np.array(["0"] * len(ids), object)
    sexes = [{"M": "1", "F": "2"}.get(one.upper(), one) for one in columns.get("SEX", ["0"] * len(ids))]
    sex = numbers_of(sexes)
    sex[~np.isin(sex, (1.0, 2.0))] = np.nan
    traits = [name for name in head if name not in _SAMPLE_NAMES]
    phenotype = numbers_of(columns[traits[0]]) if traits else np.full(len(ids), np.nan)
    return Samples(family, ids, sex, phenotypes(phenotype))


def _read_lines(path: Path, needed: Sequence[str]) -> tuple[list[str], list[list[str]]]:
    """Return the names of the columns and the rows of a file that begins with comments (##)."""
    if not path.is_file():
        raise FileNotFoundError(
            f"There is no file {str(path)!r}, which must be next to the .pgen file, not compressed."
        )
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith("##")]
    head = lines[0].split() if lines else []
    if lacking := [name for name in needed if name not in head and f"#{name}" not in head]:
        raise ValueError(f"{path} has no column {lacking[0]!r} in its header ({' '.join(head[:8])}).")
    rows = [line.split() for line in lines[1:]]
    if any(len(row) != len(head) for row in rows):
        raise ValueError(f"A row of {path} does not have the {len(head)} columns of its header.")
    return head, rows


register_format(
    "pgen",
    ["pgen"],
    read_in_place_only(
        "PLINK 2 files are read from a folder that also has the .pvar and .psam files. Decompress them, "
        "and do not use the standard input or --transpose"
    ),
    open_columns=PgenColumns,
    requirement="slfs[plink]",
)
