"""A table -> columns in levels that do not depend on the class, packed or described."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from slfs._core.resources import Resources
from slfs.counting.planes import PackedBlock, PackedColumns, SampleLayout
from slfs.screening.blocks import Result, by_column, pack_each_block, pack_nothing
from slfs.screening.few_levels import FewColumn, FineColumn, learn_few, learn_fine, pack_few
from slfs.screening.p_values import INTERVALS, pack_blind
from slfs.screening.plan import Block
from slfs.tables.table import Table

Mask = NDArray[np.bool_]
Ints = NDArray[np.int64]


def pack_table_blind(
    table: Table,
    categorical: Mask,
    keep: Mask,
    most_levels: int,
    resources: Resources,
    *,
    counts: Ints | None = None,
    intervals: int = INTERVALS,
) -> PackedColumns:
    """Pack some columns in levels that do not depend on the class, samples in the order of the table.

    ``counts`` says how often each row is repeated; None: once.
    """
    layout = SampleLayout.from_class_codes(np.zeros(table.n_samples, np.int64), 1, counts)
    pack = functools.partial(pack_blind, layout=layout, most_levels=most_levels, intervals=intervals)
    return _pack_kept(table, layout, categorical, keep, pack, resources)


def pack_table_few(
    table: Table,
    layout: SampleLayout,
    categorical: Mask,
    keep: Mask,
    most_levels: int,
    resources: Resources,
) -> PackedColumns:
    """Pack some columns in a few levels that do not depend on the class, none of them rare."""
    pack = functools.partial(pack_few, layout=layout, most_levels=most_levels)
    return _pack_kept(table, layout, categorical, keep, pack, resources)


def describe_few(
    table: Table,
    layout: SampleLayout,
    categorical: Mask,
    keep: Mask,
    most_levels: int,
    resources: Resources,
) -> dict[int, FewColumn]:
    """Return the names of the levels of some columns, and the cut points of numbers."""
    describe = functools.partial(_describe, layout=layout, most_levels=most_levels)
    return by_column(table, layout, categorical, _on_kept(describe, dict, keep), resources)


def code_fine(
    table: Table,
    layout: SampleLayout,
    categorical: Mask,
    keep: Mask,
    most_levels: int,
    resources: Resources,
) -> dict[int, FineColumn]:
    """Code some columns like `pack_table_few`, before their levels are merged."""
    code = functools.partial(_code, layout=layout, most_levels=most_levels)
    return by_column(table, layout, categorical, _on_kept(code, dict, keep), resources)


def _pack_kept(
    table: Table,
    layout: SampleLayout,
    categorical: Mask,
    keep: Mask,
    pack: Callable[[Table, Ints, str], PackedBlock],
    resources: Resources,
) -> PackedColumns:
    nothing = functools.partial(pack_nothing, layout)
    return pack_each_block(table, layout, categorical, _on_kept(pack, nothing, keep), resources)


def _on_kept(
    work: Callable[[Table, Ints, str], Result], nothing: Callable[[], Result], keep: Mask
) -> Callable[[Table, Block], Result]:
    """Make a function of columns one of blocks, which applies it to the columns that are kept."""
    return functools.partial(_apply_to_kept, work, nothing, keep)


def _apply_to_kept(
    work: Callable[[Table, Ints, str], Result],
    nothing: Callable[[], Result],
    keep: Mask,
    table: Table,
    block: Block,
) -> Result:
    columns = block.columns[keep[block.columns]]
    return work(table, columns, block.kind) if len(columns) else nothing()


def _describe(
    table: Table, columns: Ints, kind: str, layout: SampleLayout, most_levels: int
) -> dict[int, FewColumn]:
    few, _ = learn_few(table, columns, kind, layout, most_levels)
    return {column: few.describe(j) for j, column in enumerate(columns.tolist())}


def _code(
    table: Table, columns: Ints, kind: str, layout: SampleLayout, most_levels: int
) -> dict[int, FineColumn]:
    fine = learn_fine(table, columns, kind, layout, most_levels)
    return dict(zip(columns.tolist(), fine, strict=True))
