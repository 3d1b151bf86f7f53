"""Columns as the user names them -> their indices: by name, by index or as a mask."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from slfs._core.suggest import similar_names
from slfs.tables.values import in_memory, missing_values

Ints = NDArray[np.int64]

_NAMED = 10
"""Maximum number of columns in an error message."""


def resolve_columns(choice: Any, n_features: int, names: NDArray[Any] | None, parameter: str) -> Ints:
    """Return the indices of the columns that a parameter lists, in increasing order.

    Parameters
    ----------
    choice : str, array-like or None
        Names, indices or a mask; one name on its own; None for no columns.
    n_features : int
        Number of columns of the table.
    names : ndarray or None
        Names of the columns, if they have names.
    parameter : str
        Name of the parameter, for error messages.

    Returns
    -------
    columns : ndarray of int
    """
    if choice is None:
        return np.empty(0, np.int64)
    chosen = np.asarray([choice] if isinstance(choice, str) else choice)
    if chosen.dtype.kind == "T":
        chosen = chosen.astype(object)
    if chosen.size == 0:
        return np.empty(0, np.int64)
    if chosen.dtype == bool:
        if chosen.shape != (n_features,):
            raise ValueError(
                f"The mask {parameter!r} has shape {chosen.shape}; expected ({n_features},), one entry "
                "for each column of X."
            )
        return np.flatnonzero(chosen)
    if chosen.ndim != 1 or chosen.dtype.kind not in "iufUO":
        raise ValueError(
            f"{parameter!r} must list names or indices of columns, or be a mask. Got {choice!r} instead."
        )
    if chosen.dtype.kind in "UO":
        chosen = _by_name(chosen.tolist(), n_features, names, parameter)
    outside = [index for index in chosen.tolist() if index not in range(n_features)]
    if outside:
        raise ValueError(
            f"{parameter!r} has the index {outside[0]}; X has columns 0 to {n_features - 1}."
        )
    return np.unique(chosen.astype(np.int64))


def resolve_groups(
    choice: Any, n_features: int, names: NDArray[Any] | None, parameter: str
) -> tuple[Ints, list[str]]:
    """Return the number of the group of each column, -1 for none, and the names of the groups.

    ``choice`` is a mapping of names to columns, or has one label per column: None, -1 or NaN for columns
    of their own. Groups of one column do not count.
    """
    number, found = np.full(n_features, -1), list[str]()
    for name, columns in _group_members(choice, n_features, parameter).items():
        members = resolve_columns(columns, n_features, names, f"{parameter}[{name!r}]")
        taken = members[number[members] >= 0]
        if len(taken):
            shown = str(taken[0] if names is None else names[taken[0]])
            raise ValueError(
                f"The groups {found[number[taken[0]]]!r} and {str(name)!r} of {parameter!r} overlap: "
                f"both have the column {shown}. A column can be in one group only."
            )
        number[members] = len(found)
        found.append(str(name))
    kept = [group for group in range(len(found)) if (number == group).sum() > 1]
    place = np.full(len(found) + 1, -1)  # the last entry is that of columns without a group
    place[kept] = np.arange(len(kept))
    return place[number], [found[group] for group in kept]


def read_row_groups(groups: Any, n_rows: int) -> Ints:
    """Number the groups of the rows that a user has passed, one label per row."""
    groups = in_memory(groups)
    if nw.dependencies.is_into_series(groups):
        groups = nw.from_native(groups, series_only=True).to_list()
    labels = list(groups)
    if len(labels) != n_rows:
        raise ValueError(
            f"groups has {len(labels)} labels; X has {n_rows} rows. Pass one label for each row: rows "
            "with the same label stay together."
        )
    missing = missing_values(labels)
    if missing.any():
        raise ValueError(
            f"groups has {missing.sum()} missing labels, the first in row {int(missing.argmax())} (rows "
            "count from 0). Give rows of their own a label of their own."
        )
    index: dict[Any, int] = {}
    return np.array([index.setdefault(label, len(index)) for label in labels], np.int64)


def number_categories(
    values: Iterable[Any], missing: Iterable[bool], *, missing_alone: bool = False
) -> Ints:
    """Number the categories of the rows; rows whose value is missing are together, or on their own."""
    index: dict[Any, int] = {}
    keys = (
        ("missing", row * missing_alone) if gone else ("value", value)
        for row, (value, gone) in enumerate(zip(values, missing, strict=True))
    )
    return np.array([index.setdefault(key, len(index)) for key in keys], np.int64)


def _group_members(choice: Any, n_features: int, parameter: str) -> dict[Any, Any]:
    if isinstance(choice, Mapping):
        return dict(choice)
    labels = list(choice)
    if len(labels) != n_features:
        raise ValueError(
            f"{parameter!r} has {len(labels)} labels; X has {n_features} columns. Pass one label per "
            "column (None for a column of its own), or a mapping of names to columns."
        )
    members: dict[Any, list[int]] = {}
    for column, label in enumerate(labels):
        if not (label is None or label == -1 or label != label):
            members.setdefault(label, []).append(column)
    return members


def _by_name(
    chosen: list[Any], n_features: int, names: NDArray[Any] | None, parameter: str
) -> NDArray[np.int64]:
    known = {} if names is None else {name: index for index, name in enumerate(names.tolist())}
    unknown = [name for name in chosen if name not in known]
    if unknown:
        shown = ", ".join(map(repr, list(known)[:_NAMED]))
        hint = f"X has {n_features} columns: {shown}{', ...' if n_features > _NAMED else ''}."
        near = similar_names(str(unknown[0]), list(map(str, known)), cutoff=0.5)
        if near:
            hint = f"Did you mean {' or '.join(map(repr, near))}?"
        if names is None:
            hint = f"X has no column names. Use indices, 0 to {n_features - 1}."
        raise ValueError(f"{parameter!r} names columns that X does not have: {unknown[:5]}. {hint}")
    return np.array([known[name] for name in chosen], np.int64)
