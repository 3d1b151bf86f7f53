"""Columns of categories -> levels and their counts -> codes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slfs.coding.codebook import MAX_LEVELS, NONE, Coding, Learned, make_columns
from slfs.counting.planes import SampleLayout
from slfs.tables.dates import time_kind
from slfs.tables.table import LabelBlock


def learn_labels(pieces: Iterable[tuple[LabelBlock, SampleLayout]], n_classes: int) -> Learned:
    """Learn the levels of a categorical column, given in pieces of rows: its distinct values."""
    index: dict[Any, int] = {}
    missing = np.zeros(n_classes, np.int64)
    cells, sizes = [], []
    for block, layout in pieces:
        level = _number(block, index)
        missing += np.bincount(layout.labels[block.missing], minlength=n_classes)
        own, size = np.unique(level * n_classes + layout.labels[~block.missing], return_counts=True)
        cells.append(own)
        sizes.append(size)
    _refuse_mixed_times(index, block.name)
    values = _sorted(list(index))
    order = block.order
    if order is not None:
        position = {value: place for place, value in enumerate(order)}
        values = sorted(index, key=position.__getitem__)
    rank = np.empty(len(values), int)
    rank[[index[value] for value in values]] = np.arange(len(values))
    level, label = np.divmod(np.concatenate(cells), n_classes)
    learned = learn_categories(values, rank[level], label, missing, np.concatenate(sizes))
    learned.coding.columns["ordered"] = order is not None and len(values) <= MAX_LEVELS
    return learned


def _number(block: LabelBlock, index: dict[Any, int]) -> NDArray[np.int64]:
    """Number the values that are not missing, new values in order of appearance."""
    present = [value for value, gone in zip(block.values, block.missing, strict=True) if not gone]
    try:
        return np.array([index.setdefault(value, len(index)) for value in present], dtype=np.int64)
    except TypeError as error:
        kind = next(type(value).__name__ for value in present if not isinstance(value, Hashable))
        raise TypeError(
            f"The column {block.name!r} of X has a cell of type {kind}, which cannot be a category "
            f"({error}): argument must be a string, a boolean or a number. Expand such cells into "
            "separate columns."
        ) from error


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
    level: NDArray[np.int64],
    label: NDArray[np.integer[Any]],
    missing: NDArray[np.int64],
    size: NDArray[np.int64],
) -> Learned:
    """Convert the sorted values of one column to levels.

    ``level`` and ``label`` are the index of the value and the class of ``size`` samples each. With more
    than MAX_LEVELS values the most frequent ones (ties: the first) are levels, and the others are
    pooled. Values that occur once are pooled too: which of them come first depends on their spelling.
    """
    n_distinct, n_classes = len(values), len(missing)
    code = np.arange(n_distinct)
    rare = NONE
    if n_distinct > MAX_LEVELS:
        count = np.bincount(level, weights=size, minlength=n_distinct)
        rare = min(MAX_LEVELS - 1, int((count > 1).sum()))
        code[:] = rare
        code[np.sort(np.argsort(-count, kind="stable")[:rare])] = np.arange(rare)
    n_present = n_distinct if rare == NONE else rare + 1
    cells = code[level] * n_classes + label
    table = np.bincount(cells, weights=size, minlength=n_present * n_classes).astype(np.int64)
    table = table.reshape(n_present, n_classes)
    missing_level = NONE
    if missing.any():
        missing_level = len(table)
        table = np.vstack([table, missing])
    columns = make_columns(
        1,
        n_levels=len(table),
        rare=rare,
        missing=missing_level,
        n_distinct=n_distinct,
        fallback=table.sum(axis=1).argmax(),
    )
    categories = {0: dict(zip(values, code.tolist(), strict=True))}
    coding = Coding(columns, np.zeros(2, np.int64), np.empty(0), categories)
    return Learned(coding, table.reshape(-1))
