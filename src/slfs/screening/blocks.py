"""A table and a function of a block -> what the function returns for each block of columns.

The function is applied by threads, or on the workers of a table that is spread over several machines.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from slfs._core.progress import counted
from slfs._core.resources import Resources
from slfs.counting.planes import PackedBlock, PackedColumns, SampleLayout, pack_block
from slfs.counting.store import PlaneStore
from slfs.screening.plan import Block, Plan, make_plan
from slfs.tables.table import SpreadTable, Table

Result = TypeVar("Result")


def each_block(
    table: Table, work: Callable[[Table, Block], Result], plan: Plan, resources: Resources
) -> Iterator[Result]:
    """Apply a function to the blocks of a plan; yield the results in order."""
    if isinstance(table, SpreadTable):
        yield from table.map_blocks(work, plan.blocks)
        return
    reported = counted(functools.partial(work, table), len(plan.blocks))
    yield from resources.threads.each(reported, plan.blocks, plan.at_once)


def by_column(
    table: Table,
    layout: SampleLayout,
    categorical: NDArray[np.bool_],
    work: Callable[[Table, Block], dict[int, Result]],
    resources: Resources,
) -> dict[int, Result]:
    """Apply a function to all blocks; return what it found of each column."""
    plan = make_plan(table, layout.n_samples, categorical, resources)
    parts = each_block(table, work, plan, resources)
    return {column: found for part in parts for column, found in part.items()}


def pack_each_block(
    table: Table,
    layout: SampleLayout,
    categorical: NDArray[np.bool_],
    work: Callable[[Table, Block], PackedBlock],
    resources: Resources,
) -> PackedColumns:
    """Apply a function to all blocks; return the columns that it has packed."""
    plan = make_plan(table, layout.n_samples, categorical, resources)
    store = PlaneStore(layout, plan.plane_bytes)
    for part in each_block(table, work, plan, resources):
        store.append(part)
    return store.packed()


def pack_nothing(layout: SampleLayout) -> PackedBlock:
    """Return a block without columns."""
    none = np.empty(0, np.int64)
    return pack_block(layout, none, np.empty((0, layout.n_samples), np.uint8), none, none)
