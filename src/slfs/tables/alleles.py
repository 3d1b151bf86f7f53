"""New genotypes -> genotypes that count the alleles that were counted in ``fit``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from slfs._core.warn import warn
from slfs.tables.table import Alleles, Columns, ColumnSource, Table

_UNKNOWN = ("0", ".")
"""What PLINK writes for an allele that it has not seen, as one of two if all people have the other."""

_OWN_COMPLEMENTS = ({"A", "T"}, {"C", "G"})
"""Pairs of alleles that look the same on both strands."""

_NAMED = 3
"""Number of variants that a message names."""


def recounted(table: Table, seen: Mapping[int, Alleles], columns: Columns) -> Table:
    """Make a table count the same alleles as another one.

    Parameters
    ----------
    table : Table
    seen : dict
        The alleles that the numbers counted in ``fit``, by position in ``columns``.
    columns : ndarray of int
        Columns of ``table``.

    Returns
    -------
    table : Table
        The table itself, unless it counts the other allele of some variants.
    """
    if not seen or not isinstance(table, ColumnSource):
        return table
    needed = columns[list(seen)]
    found = zip(needed.tolist(), seen.values(), table.alleles(needed), strict=True)
    pairs = {column: (old, new) for column, old, new in found if new is not None}
    differing = [column for column, (old, new) in pairs.items() if not _match(old, new)]
    foreign = [column for column in differing if not _match(pairs[column][0], pairs[column][1][::-1])]
    if foreign:
        raise ValueError(
            f"The alleles of {len(foreign)} of {len(pairs)} needed variants are not those seen in fit: "
            f"{_some(table, foreign, pairs)}. Such a variant is another one, or was read from the other "
            "strand. Write the new genotypes with the alleles seen in fit, for example with --flip of "
            "PLINK for the other strand, or with --update-alleles for other names of alleles."
        )
    if not differing:
        return table
    unclear = sum({one.upper() for one in pairs[column][0]} in _OWN_COMPLEMENTS for column in differing)
    check = (
        f" The alleles of {unclear} are A and T or C and G, where the other strand looks the same: make "
        "sure that both files have the same strand."
        if unclear
        else ""
    )
    warn(
        f"The genotypes of {len(differing)} of {len(pairs)} needed variants count the other allele than "
        f"in fit: {_some(table, differing, pairs)}. They are recoded (2 - genotype).{check}"
    )
    return _Recounted(table, differing)


class _Recounted(ColumnSource):
    """A table of genotypes with the other allele counted in some columns."""

    def __init__(self, table: ColumnSource, swapped: list[int]) -> None:
        self._table, self._swapped = table, swapped
        self.names, self.n_samples, self.n_features = table.names, table.n_samples, table.n_features
        self.numbers, self.categorical = table.numbers, table.categorical

    def take(self, columns: Columns) -> Any:
        """Read some columns into a pandas DataFrame."""
        part = self._table.take(columns)
        swapped = [self.names[column] for column in columns[np.isin(columns, self._swapped)]]
        return part.assign(**{name: 2 - part[name] for name in swapped})


def _match(old: Alleles, new: Alleles) -> bool:
    """Return whether two variants have the same alleles, as far as these are known."""
    pairs = zip(old, new, strict=True)
    return all(a in _UNKNOWN or b in _UNKNOWN or a.upper() == b.upper() for a, b in pairs)


def _some(table: ColumnSource, columns: list[int], pairs: dict[int, tuple[Alleles, Alleles]]) -> str:
    """Describe the first of some variants."""
    described = [
        f"{table.names[column]!r} ({'/'.join(new)}, in fit {'/'.join(old)})"
        for column, (old, new) in ((column, pairs[column]) for column in columns[:_NAMED])
    ]
    return ", ".join(described) + (", ..." if len(columns) > _NAMED else "")
