"""A table -> columns in levels that do not depend on the class, packed or described."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from slfs._core.resources import Resources
from slfs.counting.planes import PackedBlock, PackedColumns, SampleLayout
from slfs.screening.blocks import by_column, pack_each_block, pack_nothing
from slfs.screening.few_levels import FewColumn, FineColumn, learn_few, learn_fine, pack_few
from slfs.screening.p_values import INTERVALS, pack_blind
from slfs.screening.plan import Block
from slfs.tables.table import Table

Mask = NDArray[np.bool_]


def pack_table_blind(
    table: Table,
    categorical: Mask,
    keep: Mask,
    most_levels: int,
    resources: Resources,
    *,
    counts: NDArray[np.int64] | None = None,
    intervals: int = INTERVALS,
) -> PackedColumns:
    """Pack some columns in levels that do not depend on the class, samples in the order of the table.

    ``counts`` says how often each row is repeated; None: once.
    """
    layout = SampleLayout.from_class_codes(np.zeros(table.n_samples, np.int64), 1, counts)
    work = functools.partial(
        _pack_blind, layout=layout, keep=keep, most_levels=most_levels, intervals=intervals
    )
    return pack_each_block(table, layout, categorical, work, resources)


def pack_table_few(
    table: Table,
    layout: SampleLayout,
    categorical: Mask,
    keep: Mask,
    most_levels: int,
    resources: Resources,
) -> PackedColumns:
    """Pack some columns in a few levels that do not depend on the class, none of them rare."""
    work = functools.partial(_pack_few, layout=layout, keep=keep, most_levels=most_levels)
    return pack_each_block(table, layout, categorical, work, resources)


def describe_few(
    table: Table,
    layout: SampleLayout,
    categorical: Mask,
    keep: Mask,
    most_levels: int,
    resources: Resources,
) -> dict[int, FewColumn]:
    """Return the names of the levels of some columns, and the cut points of numbers."""
    work = functools.partial(_describe_few, layout=layout, keep=keep, most_levels=most_levels)
    return by_column(table, layout, categorical, work, resources)


def code_fine(
    table: Table,
    layout: SampleLayout,
    categorical: Mask,
    keep: Mask,
    most_levels: int,
    resources: Resources,
) -> dict[int, FineColumn]:
    """Code some columns like `pack_table_few`, before their levels are merged."""
    work = functools.partial(_code_fine, layout=layout, keep=keep, most_levels=most_levels)
    return by_column(table, layout, categorical, work, resources)


def _pack_blind(
    table: Table,
    block: Block,
    *,
    layout: SampleLayout,
    keep: Mask,
    most_levels: int,
    intervals: int,
) -> PackedBlock:
    columns = block.columns[keep[block.columns]]
    if len(columns) == 0:
        return pack_nothing(layout)
    return pack_blind(table, columns, block.kind, layout, most_levels, intervals)


def _pack_few(
    table: Table, block: Block, *, layout: SampleLayout, keep: Mask, most_levels: int
) -> PackedBlock:
    columns = block.columns[keep[block.columns]]
    if len(columns) == 0:
        return pack_nothing(layout)
    return pack_few(table, columns, block.kind, layout, most_levels)


def _describe_few(
    table: Table, block: Block, *, layout: SampleLayout, keep: Mask, most_levels: int
) -> dict[int, FewColumn]:
    columns = block.columns[keep[block.columns]]
    if len(columns) == 0:
        return {}
    few, _ = learn_few(table, columns, block.kind, layout, most_levels)
    return {column: few.describe(j) for j, column in enumerate(columns.tolist())}


def _code_fine(
    table: Table, block: Block, *, layout: SampleLayout, keep: Mask, most_levels: int
) -> dict[int, FineColumn]:
    columns = block.columns[keep[block.columns]]
    if len(columns) == 0:
        return {}
    fine = learn_fine(table, columns, block.kind, layout, most_levels)
    return dict(zip(columns.tolist(), fine, strict=True))
