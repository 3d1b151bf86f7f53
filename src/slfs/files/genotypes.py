"""Files of genotypes -> tables with one column per variant, and columns of covariates beside them.

A genotype is a number: 0, 1 or 2 copies of the counted allele, or missing. `plink.py` and `pgen.py` read
the files; what they have in common is here.
"""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from slfs.files.columns import FileColumns
from slfs.files.matching import in_both
from slfs.tables.table import (
    Alleles,
    Columns,
    LabelBlock,
    NumberBlock,
    Order,
    Table,
    dense_block,
    interleave,
)

MISSING_PHENOTYPE = -9.0
"""What PLINK writes for a phenotype that is missing."""


class Variants(NamedTuple):
    """What a file says about its variants, as arrays with one entry per variant."""

    id: NDArray[np.object_]
    chromosome: NDArray[np.object_]
    position: NDArray[np.int64]
    counted_allele: NDArray[np.object_]
    other_allele: NDArray[np.object_]


class Samples(NamedTuple):
    """What a file says about its samples, as arrays with one entry per sample."""

    family: NDArray[np.object_]
    id: NDArray[np.object_]
    sex: NDArray[np.float64]
    phenotype: NDArray[np.float64]

    def take(self, rows: NDArray[np.int64]) -> Samples:
        """Return some of the samples."""
        return Samples(self.family[rows], self.id[rows], self.sex[rows], self.phenotype[rows])


class GenotypeColumns(FileColumns):
    """A file of genotypes as a table; subclasses implement ``_genotypes``.

    Parameters
    ----------
    path : Path
    variants : Variants
    samples : Samples
    drop : sequence of str
        Variants to leave out.
    """

    def __init__(self, path: Path, variants: Variants, samples: Samples, drop: Sequence[str]) -> None:
        if not len(variants.id) or not len(samples.id):
            raise ValueError(f"{path} has no variants or no samples.")
        self.variants, self.samples = variants, samples
        self._n_variants = len(variants.id)
        self._rows = np.arange(len(samples.id))
        self._covariates: Any = None
        self._covariate_table: Table | None = None
        names = _unique_names(variants)
        self._columns = np.arange(len(names))
        super().__init__(path, names, len(self._rows), drop)

    @property
    def ids(self) -> list[str]:
        """Ids of the samples, in the order of the rows."""
        return [str(one) for one in self.samples.id]

    @property
    def phenotype(self) -> NDArray[np.float64]:
        """Phenotype of each sample that the file contains, NaN where it is missing."""
        return self.samples.phenotype

    def without(self, columns: Sequence[str]) -> Self:
        """Leave columns out.

        Parameters
        ----------
        columns : sequence of str

        Returns
        -------
        table : GenotypeColumns
            The same file with fewer columns.
        """
        return self.only(super().without(columns).names)

    def only(self, columns: Sequence[str]) -> Self:
        """Keep some columns, such as those that a model needs.

        Parameters
        ----------
        columns : sequence of str

        Returns
        -------
        table : GenotypeColumns
            The same file with these columns, in this order. It knows which alleles are counted, which a
            DataFrame does not.
        """
        place = {name: index for index, name in enumerate(self.names)}
        lacking = [name for name in columns if name not in place]
        if lacking:
            raise ValueError(f"{self.path} does not have {len(lacking)} of the columns: {lacking[:5]}.")
        table = super().without([])  # a copy
        table.names, table.n_features = list(columns), len(columns)
        table._columns = self._columns[[place[name] for name in columns]]
        vars(table).pop("is_variant", None)
        return table

    def match(self, frame: Any, covariates: Sequence[str] = ()) -> Self:
        """Keep the samples that another table has, and add columns of it.

        Parameters
        ----------
        frame : DataFrame
            A table with one row per sample, whose index contains the ids of the samples (IID).
        covariates : sequence of str, default=()
            Columns of ``frame`` to add after the genotypes.

        Returns
        -------
        table : GenotypeColumns
            Rows in the order of the file.
        """
        ids, own = [str(one) for one in frame.index], self.ids
        for what, some in (("index of the frame", ids), (f"samples of {self.path}", own)):
            twice = [one for one, count in Counter(some).items() if count > 1]
            if twice:
                raise ValueError(f"The id {twice[0]!r} occurs more than once in the {what}.")
        rows, found = in_both(own, ids)
        if len(rows) == 0:
            raise ValueError(
                f"No sample of {self.path} ({', '.join(map(repr, own[:3]))}, ...) is in the index "
                f"of the frame ({', '.join(map(repr, ids[:3]))}, ...)."
            )
        return self._of_samples(rows, frame[list(covariates)].iloc[found].reset_index(drop=True))

    def _of_samples(self, rows: NDArray[np.int64], covariates: Any = None) -> Self:
        """Return some of the samples, with columns of covariates added if there are any."""
        from slfs.tables.registry import read_table

        table = super().without([])  # a copy
        table.samples, table._rows, table.n_samples = (
            self.samples.take(rows),
            self._rows[rows],
            len(rows),
        )
        if self._covariates is not None:
            table._covariates = self._covariates.iloc[rows].reset_index(drop=True)
        if covariates is not None and covariates.shape[1]:
            known = set(self._all_names)
            clash = [name for name in covariates.columns if name in known]
            if clash:
                raise ValueError(f"{self.path} already has a column {clash[0]!r}. Rename the covariate.")
            both = [part for part in (table._covariates, covariates) if part is not None]
            import pandas as pd

            table._covariates = pd.concat(both, axis=1)
            added = [str(name) for name in covariates.columns]
            table._columns = np.append(self._columns, len(self._all_names) + np.arange(len(added)))
            table._all_names, table.names = [*self._all_names, *added], [*self.names, *added]
            table.n_features = len(table.names)
            vars(table).pop("is_variant", None)
        if table._covariates is not None:
            table._covariate_table = read_table(table._covariates)
        return table

    def take(self, columns: Columns) -> Any:
        """Read some columns into a pandas DataFrame.

        Parameters
        ----------
        columns : ndarray of int
            Their indices in ``names``.

        Returns
        -------
        frame : DataFrame
        """
        import pandas as pd

        source = self._columns[columns]
        variants = iter(self._genotypes(source[source < self._n_variants], self._rows))
        return pd.DataFrame(
            {
                self.names[column]: next(variants)
                if index < self._n_variants
                else self._covariate(index)
                for column, index in zip(columns, source, strict=True)
            },
            index=range(self.n_samples),
        )

    def number_block(self, columns: Columns, order: Order) -> NumberBlock:
        source = self._columns[columns]
        own = source < self._n_variants
        rows = self._rows if order is None else self._rows[order]
        if own.all():
            return dense_block(self._genotypes(source, rows))
        assert self._covariate_table is not None
        others = self._covariate_table.number_block(source[~own] - self._n_variants, order)
        if not own.any():
            return others
        return interleave(dense_block(self._genotypes(source[own], rows)), others, ~own)

    def label_block(self, column: int, order: Order) -> LabelBlock:
        source = int(self._columns[column])
        if source >= self._n_variants:
            assert self._covariate_table is not None
            return self._covariate_table.label_block(source - self._n_variants, order)
        return super().label_block(column, order)

    def alleles(self, columns: Columns) -> list[Alleles | None]:
        """Return the alleles of variants.

        Parameters
        ----------
        columns : ndarray of int
            Indices of the columns.

        Returns
        -------
        alleles : list
            The counted and the other allele of each variant; None for other columns.
        """
        counted, other = self.variants.counted_allele, self.variants.other_allele
        return [
            (str(counted[index]), str(other[index])) if index < self._n_variants else None
            for index in self._columns[columns].tolist()
        ]

    @functools.cached_property
    def is_variant(self) -> NDArray[np.bool_]:
        """Which columns are variants; the others are covariates."""
        found: NDArray[np.bool_] = self._columns < self._n_variants
        return found

    def annotations(self) -> Any:
        """Return what is known about the columns.

        Returns
        -------
        frame : DataFrame
            Chromosome, position and alleles of each column; missing for covariates.
        """
        import pandas as pd

        frame = pd.DataFrame(
            {
                "chromosome": self.variants.chromosome,
                "position": pd.array(self.variants.position, dtype="Int64"),
                "counted_allele": self.variants.counted_allele,
                "other_allele": self.variants.other_allele,
            }
        )
        return frame.reindex(np.where(self.is_variant, self._columns, -1)).reset_index(drop=True)

    def variant_indices(self, names: Sequence[str]) -> NDArray[np.int64]:
        """Return the indices in the file of variants given by name.

        Parameters
        ----------
        names : sequence of str
            Names of the variants. Other names are ignored.

        Returns
        -------
        indices : ndarray of int
            In ascending order.
        """
        wanted = set(names)
        chosen = np.array([name in wanted for name in self.names], np.bool_) & self.is_variant
        if not chosen.any():
            raise ValueError(
                f"No variant of {self.path} is among the selected columns, so there is none to write. "
                "Write the columns to a .csv file instead."
            )
        return np.sort(self._columns[chosen])

    def write_list(self, path: str | Path, names: Sequence[str]) -> None:
        """Write the ids of variants, one per line, as PLINK's ``--extract`` reads them.

        Parameters
        ----------
        path : str or Path
        names : sequence of str
            Names of the variants. Other names are ignored.
        """
        from slfs.files.atomic import replace_text

        ids = self.variants.id[self.variant_indices(names)].tolist()
        counts = Counter(self.variants.id.tolist())
        unclear = [one for one in ids if counts[one] > 1]
        if unclear:
            raise ValueError(
                f"{self.path} has several variants with the id {unclear[0]!r}, so a list of ids does "
                "not identify them. Give them ids with plink2 --set-all-var-ids, or write a .bed file."
            )
        replace_text(Path(path), "".join(f"{one}\n" for one in ids))

    def _kind(self, name: str) -> tuple[bool, bool]:
        raise NotImplementedError  # the properties below need no names

    @property
    def numbers(self) -> NDArray[np.bool_]:  # type: ignore[override]
        """Which columns hold numbers."""
        return self._mask("numbers", True)

    @property
    def categorical(self) -> NDArray[np.bool_]:  # type: ignore[override]
        """Which columns are categorical by their type."""
        return self._mask("categorical", False)

    def _mask(self, attribute: str, of_variants: bool) -> NDArray[np.bool_]:
        mask = np.full(self.n_features, of_variants)
        if self._covariate_table is not None:
            own = getattr(self._covariate_table, attribute)
            mask[~self.is_variant] = own[self._columns[~self.is_variant] - self._n_variants]
        return mask

    def _values(self, name: str) -> NDArray[Any]:
        index = self._all_names.index(name)
        if index >= self._n_variants:
            return self._covariate(index)
        genotypes: NDArray[Any] = self._genotypes(np.array([index]), self._rows)[0]
        return genotypes

    def _covariate(self, index: int) -> NDArray[Any]:
        """Return the values of a covariate, given its index among all columns."""
        values: NDArray[Any] = self._covariates.iloc[:, index - self._n_variants].array
        return values

    @abstractmethod
    def _genotypes(self, variants: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return genotypes as numbers, of shape (n_variants, n_rows), with NaN for missing ones."""


def numbers_of(texts: Sequence[str]) -> NDArray[np.float64]:
    """Return texts as numbers, NaN for other texts."""

    def number(text: str) -> float:
        try:
            return float(text)
        except ValueError:
            return np.nan

    return np.array([number(text) for text in texts], np.float64)


def phenotypes(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mark missing phenotypes: -9, and 0 if all others are 1 (control) or 2 (case)."""
    values = np.where(values == MISSING_PHENOTYPE, np.nan, values)
    if np.isin(values[~np.isnan(values)], (0.0, 1.0, 2.0)).all() and (values == 2).any():
        values = np.where(values == 0, np.nan, values)
    return values


def _unique_names(variants: Variants) -> list[str]:
    """Return the ids of the variants, or place and alleles of those whose id is not unique.

    The alleles are sorted: the name does not depend on which one is counted.
    """
    names: list[str] = variants.id.tolist()
    distinct = set(names)
    if len(distinct) < len(names) or "." in distinct:
        counts = Counter(names)
        unclear = [index for index, one in enumerate(names) if one == "." or counts[one] > 1]
        taken = {one for one, count in counts.items() if one != "." and count == 1}
        copies: Counter[str] = Counter()
        for index in unclear:
            _, chromosome, position, *alleles = (part[index] for part in variants)
            place = name = ":".join([str(chromosome), str(position), *sorted(map(str, alleles))])
            while name in taken:
                copies[place] += 1
                name = f"{place}:{copies[place] + 1}"
            taken.add(name)
            names[index] = name
    assert len(set(names)) == len(names)
    return names
