"""Columns of categories -> levels and their counts -> codes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from slfs.coding.codebook import MAX_LEVELS, NONE, Coding, Learned, make_columns
from slfs.counting.planes import SampleLayout
from slfs.tables.dates import time_kind
from slfs.tables.table import LabelBlock, Table

Ints = NDArray[np.int64]

_MOST_CELLS = 1 << 20
"""Maximum number of counts by value and class that are kept of pooled values."""


class Labels(NamedTuple):
    """The labels of some rows, and the label of each sample, which may be a copy of a row."""

    block: LabelBlock
    place: Ints | slice


def read_labels(table: Table, column: int, order: Ints) -> Labels:
    """Read a column of labels; copies of a row, which are next to each other, are read once."""
    first = _first_copies(order)
    if first.all():
        return Labels(table.label_block(column, order), slice(None))
    return Labels(table.label_block(column, order[first]), np.cumsum(first) - 1)


def learn_labels(
    pieces: Iterable[tuple[Labels, SampleLayout]], n_classes: int, seen: Ints | None = None
) -> Learned:
    """Learn the levels of a categorical column, given in pieces of rows: its distinct values.

    ``seen`` says how often each row of the table was seen. None: as often as it is counted.
    """
    index: dict[Any, int] = {}
    missing, seen_missing = np.zeros((2, n_classes), np.int64)
    cells, sizes, seen_sizes = [], [], []
    for (block, place), layout in pieces:
        gone = block.missing[place]
        cell = _number(block, index)[place][~gone] * n_classes + layout.labels[~gone]
        own, size = _tally(cell, len(index) * n_classes)
        cells.append(own)
        sizes.append(size)
        missing += np.bincount(layout.labels[gone], minlength=n_classes)
        if seen is not None:
            times, number = _times_seen(layout.order, seen), np.searchsorted(own, cell)
            lost = np.bincount(layout.labels[gone], times[gone], minlength=n_classes)
            seen_missing += lost.astype(np.int64)
            seen_sizes.append(np.bincount(number, times[~gone]).astype(np.int64))
    _refuse_mixed_times(index, block.name)
    values = _sorted(list(index))
    order = block.order
    if order is not None:
        position = {value: place for place, value in enumerate(order)}
        values = sorted(index, key=position.__getitem__)
    rank = np.empty(len(values), int)
    rank[[index[value] for value in values]] = np.arange(len(values))
    level, label = np.divmod(np.concatenate(cells), n_classes)
    counted = missing, np.concatenate(sizes)
    unweighted = None if seen is None else (seen_missing, np.concatenate(seen_sizes))
    learned = learn_categories(values, rank[level], label, counted, unweighted)
    learned.coding.columns["ordered"] = order is not None and len(values) <= MAX_LEVELS
    return learned


def _tally(cells: Ints, n_cells: int) -> tuple[Ints, Ints]:
    """Return the different cells, and how often each of them occurs."""
    if n_cells > len(cells):
        return np.unique(cells, return_counts=True)
    sizes = np.bincount(cells, minlength=n_cells)
    found = np.flatnonzero(sizes)
    return found, sizes[found]


def _times_seen(order: Ints, seen: Ints) -> Ints:
    """Return how often the row of each sample was seen; 0 for other copies of a row, which are next."""
    return np.where(_first_copies(order), seen[order], 0)


def _first_copies(order: Ints) -> NDArray[np.bool_]:
    """Return which samples are the first copy of their row; other copies follow it."""
    return np.append(True, order[1:] != order[:-1])


def _number(block: LabelBlock, index: dict[Any, int]) -> NDArray[np.int64]:
    """Number the values, new ones in order of appearance; missing values have no number (-1)."""
    present = [value for value, gone in zip(block.values, block.missing, strict=True) if not gone]
    number = np.full(len(block.values), -1)
    try:
        number[~block.missing] = [index.setdefault(value, len(index)) for value in present]
    except TypeError as error:
        kind = next(type(value).__name__ for value in present if not isinstance(value, Hashable))
        raise TypeError(
            f"The column {block.name!r} of X has a cell of type {kind}, which cannot be a category "
            f"({error}): argument must be a string, a boolean or a number. Expand such cells into "
            "separate columns."
        ) from error
    return number


def _refuse_mixed_times(values: Iterable[Any], name: object) -> None:
    """Raise an error if dates are mixed with other values."""
    if len({time_kind(value) for value in values}) > 1:
        found = sorted({type(value).__name__ for value in values})
        raise ValueError(
            f"The column {name!r} of X mixes dates or times with other values ({', '.join(found)}). "
            "Convert all of them to dates, numbers or text."
        )


def _sorted(values: list[Any]) -> list[Any]:
    """Sort values by type and value, or by their repr if they cannot be compared."""
    try:
        return sorted(values, key=lambda value: (type(value).__name__, value))
    except TypeError:
        return sorted(values, key=lambda value: (type(value).__name__, repr(value)))


def learn_categories(
    values: list[Any],
    level: Ints,
    label: NDArray[np.integer[Any]],
    counted: tuple[Ints, Ints],
    seen: tuple[Ints, Ints] | None = None,
) -> Learned:
    """Convert the sorted values of one column to levels.

    ``level`` and ``label`` are the index of the value and the class of some samples each. ``counted``
    contains the number of samples whose value is missing, by class, and the numbers of these samples;
    ``seen`` the same without weights, None if there are none. With more than MAX_LEVELS values the most
    frequent ones (ties: the first) are levels, and the others are pooled. Values that occur once are
    pooled too: which of them come first depends on their spelling. Weights do not make a value more
    frequent: with those of classes the levels would be the values of the class that weighs most. The
    counts of single values are kept, so that they can be grouped by class.
    """
    missing, size = counted
    n_distinct, n_classes = len(values), len(missing)
    code = np.arange(n_distinct)
    rare = new = NONE
    if n_distinct > MAX_LEVELS:
        count = np.bincount(level, (counted if seen is None else seen)[1], minlength=n_distinct)
        rare = min(MAX_LEVELS - 1, int((count > 1).sum()))
        code[:] = rare
        code[np.sort(np.argsort(-count, kind="stable")[:rare])] = np.arange(rare)
        new = rare if mostly_single(count) else NONE
    n_present = n_distinct if rare == NONE else rare + 1
    cells = code[level] * n_classes + label

    def tabulated(missing: Ints, size: Ints) -> Ints:
        table = np.bincount(cells, size, minlength=n_present * n_classes).astype(np.int64)
        table = table.reshape(n_present, n_classes)
        return np.vstack([table, missing]) if missing.any() else table

    table = tabulated(missing, size)
    missing_level = n_present if missing.any() else NONE
    columns = make_columns(
        1,
        n_levels=len(table),
        rare=rare,
        missing=missing_level,
        new=new,
        n_distinct=n_distinct,
        fallback=table.sum(axis=1).argmax(),
    )
    categories = {0: dict(zip(values, code.tolist(), strict=True))}
    coding = Coding(columns, np.zeros(2, np.int64), np.empty(0), categories)
    seen_counts = None if seen is None else tabulated(*seen).reshape(-1)
    all_values = {}
    if n_distinct > MAX_LEVELS and n_distinct * n_classes <= _MOST_CELLS:
        single = [
            np.bincount(level * n_classes + label, own, minlength=n_distinct * n_classes)
            for own in (size, size if seen is None else seen[1])
        ]
        of_values, seen_of_values = (own.astype(np.int64).reshape(-1, n_classes) for own in single)
        all_values[0] = of_values, seen_of_values
    return Learned(coding, table.reshape(-1), seen_counts, all_values)


def mostly_single(sizes: Ints) -> bool:
    """Whether most of the values occur once, given the number of samples with each."""
    return bool((sizes == 1).sum() > len(sizes) / 2)
