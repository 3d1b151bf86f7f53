"""Pairs that interact in a few levels -> p-values given the effects of all levels.

Pairs are tested in a few levels, into which others are merged. If these have different effects on the
class, and the other column depends on which of them a sample has, the effects appear as an interaction.
So the pairs that were found are tested again, with the effects of the levels before they are merged.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from slfs._core.resources import Resources
from slfs.counting.planes import PackedColumns, SampleLayout
from slfs.measures.interactions import interaction_of_groups
from slfs.screening.blind import code_fine
from slfs.screening.few_levels import FineColumn
from slfs.tables.table import Table

Ints = NDArray[np.int64]

_BYTES = 1 << 26
"""Maximum size of the codes of the columns that are in memory at a time."""


def retest_pairs(
    found: NDArray[np.void],
    packed: PackedColumns,
    table: Table,
    categorical: NDArray[np.bool_],
    most_levels: int,
    resources: Resources,
) -> NDArray[np.void]:
    """Return the pairs of `scan_pairs` with p-values that hold for any effects of merged levels.

    A p-value never gets smaller, and neither does a statistic get larger. The result is in order.
    """
    layout, n_levels = packed.layout, packed.arrays.levels.astype(np.int64)
    found = found.copy()
    for part in _parts(found, max(_BYTES // layout.n_samples, 2)):
        pairs = np.stack([found["f"][part], found["k"][part]], axis=1)
        keep = np.zeros(table.n_features, np.bool_)
        keep[packed.columns[pairs]] = True
        fine = code_fine(table, layout, categorical, keep, most_levels, resources)

        def test(index: int, fine: dict[int, FineColumn] = fine) -> None:
            f, k = int(found["f"][index]), int(found["k"][index])
            one, other = fine[int(packed.columns[f])], fine[int(packed.columns[k])]
            if not (one.is_merged or other.is_merged):
                return
            statistic = _statistic(one, other, layout)
            freedom = (n_levels[f] - 1) * (n_levels[k] - 1) * (layout.n_classes - 1)
            found["statistic"][index] = min(found["statistic"][index], statistic)
            found["p_value"][index] = max(found["p_value"][index], chdtrc(freedom, statistic))

        resources.threads.map(test, part.tolist())
    order = np.lexsort((found["k"], found["f"], -found["statistic"], found["p_value"]))
    return found[order]


def _parts(found: NDArray[np.void], most_columns: int) -> Iterator[Ints]:
    """Divide pairs into parts with few columns each."""
    own: list[int] = []
    columns: set[int] = set()
    for index in np.lexsort((found["k"], found["f"])).tolist():
        pair = {int(found["f"][index]), int(found["k"][index])}
        if own and len(columns | pair) > most_columns:
            yield np.array(own)
            own, columns = [], set()
        own.append(index)
        columns |= pair
    if own:
        yield np.array(own)


def _statistic(one: FineColumn, other: FineColumn, layout: SampleLayout) -> float:
    """Count the levels of two columns and the class, and compare the models."""
    shape = (layout.n_classes, len(one.group), len(other.group))
    cell = (layout.labels.astype(np.int64) * shape[1] + one.codes) * shape[2] + other.codes
    counts = np.bincount(cell, minlength=shape[0] * shape[1] * shape[2]).reshape(shape)
    statistic = np.empty(1)
    interaction_of_groups(counts, one.group, other.group, statistic)
    return float(statistic[0])
