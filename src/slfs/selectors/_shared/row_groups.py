"""Groups of rows, and columns of condition_on -> small strata, and what groups mean for tests."""

from __future__ import annotations

import inspect
import shlex
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slfs._core.interface import parameter, remedy
from slfs._core.warn import warn
from slfs.base import TrainingData
from slfs.screening.forced import Forced
from slfs.tables.choice import number_categories

Ints = NDArray[np.int64]

GIVEN, MIXED, MOSTLY, ALIKE = GROUPINGS = ("given", "mixed", "mostly", "alike")
"""Groups that a column of condition_on tells, others whose rows have different classes, and groups whose
rows mostly, or always, have the same class."""

_MOST = 0.75
"""Share of the variance of the target that lies between groups whose rows mostly have the same class."""


def row_arguments(selector: Any, sample_weight: Any, groups: Any) -> dict[str, Any]:
    """Return the arguments of ``fit`` that have one value per row, without those that are None."""
    if groups is not None and "groups" not in inspect.signature(selector.fit).parameters:
        others = remedy(
            "SLFS, ResidualPursuit or StabilitySelection",
            "--method slfs or residual, or --stability 50",
        )
        raise ValueError(
            f"{parameter('groups')} keep rows together where rows are divided, which "
            f"{type(selector).__name__} does not do. Use {others}."
        )
    given = {"sample_weight": sample_weight, "groups": groups}
    return {name: value for name, value in given.items() if value is not None}


def warn_about_tests(groups: Ints, kind: str, noun: str) -> None:
    """Warn that p-values do not take groups of rows into account, unless each row is a group."""
    n_groups = len(np.unique(groups))
    if kind == GIVEN or n_groups == len(groups):
        return
    if kind != MIXED:
        effect = "too small if the rows of a group are alike"
    else:
        alike = "the target has the same mean in all groups"
        if noun == "class":
            alike = "all groups have the same shares of the classes, as pairs do"
        effect = f"wrong if the rows of a group are alike: too large if {alike}, and too small if not"
    warn(
        f"p-values and q-values treat the {len(groups)} rows of {n_groups} groups as independent "
        f"samples, so they are {effect}. For valid ones, {instead_of_rows(kind, noun)}"
    )


def instead_of_rows(kind: str, noun: str) -> str:
    """Say what to test instead of rows that belong to groups."""
    if kind != MIXED:
        of_class = " of the most frequent class" if (kind, noun) == (MOSTLY, "class") else ""
        return f"test one row per group, such as the means of its rows{of_class}."
    target = "the share of a class" if noun == "class" else "the mean of the target"
    return (
        "test columns that vary within groups given the group, with its labels as a column of "
        f"categories that {parameter('condition_on')} names, and other columns with one row per group "
        f"and {target} as the target."
    )


def grouping(groups: Ints, data: TrainingData, forced: Forced | None) -> str:
    """Return what groups of rows mean for tests.

    Tests treat the rows of a group as independent samples. That is right given a column of categories
    that tells the group of each row, such as the number of the pair: what the rows of a group have in
    common is then part of the model. A column that tells less, such as a batch of many patients, leaves
    the rows of a patient dependent.
    """
    used = np.unique(data.samples)
    own = groups[used]
    for column in () if forced is None else forced.conditioning.tolist():
        strata = None if _is_quantity(data, column) else _strata(data, column, missing_alone=False)
        if strata is not None and _tells(strata[used], own):
            return GIVEN
    share = _share_told(own, data.target.codes[used])
    return ALIKE if share >= 1 else MOSTLY if share > _MOST else MIXED


def _share_told(groups: Ints, codes: Ints) -> float:
    """Return the share of the variance of classes, or bins, that lies between groups of several rows.

    This is the tau of Goodman and Kruskal: 1 if the rows of each group have the same class, 0 if all
    groups have the same shares of the classes.
    """
    size = np.bincount(groups)
    several = size[groups] > 1
    groups, codes = groups[several], codes[several]
    if len(np.unique(codes)) < 2:
        return 1.0
    n_classes = int(codes.max()) + 1
    cells, counts = np.unique(groups * n_classes + codes, return_counts=True)
    alone = float((np.bincount(codes) ** 2).sum()) / len(codes)
    return (float((counts**2 / size[cells // n_classes]).sum()) - alone) / (len(codes) - alone)


def small_strata(
    n_parts: int, data: TrainingData, forced: Forced | None, names: NDArray[np.object_]
) -> Ints | None:
    """Return the groups of rows of a conditioning column of small groups, such as pairs, if any.

    They have at most ``n_parts`` samples, as a rule. A model learns little about the group of a sample
    from the few others of its group, and if their classes differ, as those of pairs do, it learns the
    wrong class. So these groups stay together when the rows are divided. Groups that cannot be divided,
    because a class is in one of them only, do not.
    """
    for column in () if forced is None else forced.conditioning.tolist():
        if _is_quantity(data, column):
            _warn_about_numbered_groups(n_parts, data, column, names[column])
            continue
        found = _strata(data, column, missing_alone=True)
        own = found[data.samples]
        if np.median(np.bincount(own)[own]) <= n_parts <= found.max():
            return found if _can_be_divided(found, data.target.codes) else None
    return None


def _is_quantity(data: TrainingData, column: int) -> bool:
    """Whether a column is used as numbers, in intervals."""
    return bool(data.table.numbers[column] and not data.categorical[column])


def _strata(data: TrainingData, column: int, *, missing_alone: bool) -> Ints:
    """Number the categories of the rows; rows whose value is missing are on their own, or together."""
    block = data.table.label_block(column, None)
    return number_categories(block.values, block.missing, missing_alone=missing_alone)


def _warn_about_numbered_groups(n_parts: int, data: TrainingData, column: int, name: str) -> None:
    """Warn about a conditioning column of numbers that may number small groups, such as patients."""
    values = data.table.number_block(np.array([column]), None).dense()[0]
    found, size = np.unique(values[np.isfinite(values)], return_counts=True)
    whole = len(found) > n_parts and (found == np.floor(found)).all()
    if whole and size.min() >= 2 and np.median(size) <= n_parts:
        how = remedy(f"categorical_features=[{name!r}]", f"--categorical {shlex.quote(name)}")
        warn(
            f"The conditioning column {name!r} has {len(found)} whole numbers, each of which occurs "
            "a few times, and is used as a quantity. If they number groups of samples, such as "
            f"patients, declare it categorical: {how}."
        )


def _tells(first: Ints, second: Ints) -> bool:
    """Whether the first number of a row tells its second one."""
    pairs = np.unique(np.column_stack([first, second]), axis=0)
    return len(pairs) == len(np.unique(first))


def _can_be_divided(groups: Ints, codes: Ints) -> bool:
    """Whether each class has samples in several groups."""
    pairs = np.unique(np.column_stack([codes, groups]), axis=0)
    return bool((np.bincount(pairs[:, 0]) > 1).all())
