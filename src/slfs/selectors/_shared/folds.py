"""Classes, groups and covariates of the samples -> the folds that find the number of columns."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold, check_cv

from slfs._core.warn import warn
from slfs.base import TrainingData
from slfs.screening.forced import Forced
from slfs.tables.choice import read_row_groups

Ints = NDArray[np.int64]
Split = tuple[Ints, Ints]
"""The samples to learn from, and those to compute the log loss on."""


def make_folds(
    cv: Any, data: TrainingData, forced: Forced | None, names: NDArray[np.object_]
) -> list[Split]:
    """Return the samples of each fold: those to learn from, and those to compute the log loss on.

    They are given by their rows, which occur several times if their sample weight is a frequency.
    Rows of a group are in the same fold, and so are those of a small stratum of ``condition_on``.
    """
    codes, samples = data.target.codes, data.samples
    if data.groups is None and isinstance(cv, Integral):
        strata = _small_strata(int(cv), data, forced, names)
        if strata is not None and _can_be_divided(strata, codes):
            return make_folds(cv, replace(data, groups=strata), forced, names)
        drawn = _draw_folds(int(cv), codes[samples])
        return [(samples[train], samples[test]) for train, test in drawn]
    splitter = check_cv(cv, codes, classifier=True)
    if data.groups is not None and isinstance(cv, Integral):
        n_groups = int(data.groups.max()) + 1
        if n_groups < 2:
            raise ValueError("groups has a single group, which cannot be divided into folds.")
        n_splits = min(int(cv), n_groups)
        if n_groups < int(cv):
            warn(
                f"cv={cv} is larger than the number of groups, {n_groups}, so the number of "
                f"features is found with {n_groups} folds. Use cv={n_groups}, or smaller groups."
            )
        splitter = StratifiedGroupKFold(n_splits, shuffle=True, random_state=0)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")
        try:
            if isinstance(cv, Integral) and data.groups is not None:  # a weight means copies
                own = codes[samples], data.groups[samples]
                splits = [
                    (np.unique(samples[train]), np.unique(samples[test]))
                    for train, test in splitter.split(np.zeros((len(samples), 1)), *own)
                ]
            else:
                splits = list(splitter.split(np.zeros((len(codes), 1)), codes, data.groups))
        except (TypeError, ValueError) as error:  # scikit-learn 1.6 raises the former without groups
            hint = "" if data.groups is not None else " If it needs groups, pass them to fit."
            raise ValueError(f"cv={cv!r} cannot split the rows: {error}{hint}") from None
    for rows in (part for split in splits for part in split):
        _check_split(np.asarray(rows), len(codes))
    folds = [
        (samples[np.isin(samples, train)], samples[np.isin(samples, test)]) for train, test in splits
    ]
    if any(len(np.unique(codes[train])) < 2 for train, _ in folds):
        where = f"cv={cv!r} has a split whose training rows do not contain two classes."
        if data.groups is None:
            raise ValueError(
                f"{where} Use a splitter that is stratified by class, or a number of folds."
            )
        raise ValueError(
            f"{where} The rows of a group are in the same fold, so every class needs samples in at "
            "least two groups, better in many. Pass smaller groups, or none."
        )
    return [(train, test) for train, test in folds if len(test)]


def _draw_folds(cv: int, codes: Ints) -> Iterator[Split]:
    """Distribute the samples of each class at random over the folds, which are always the same.

    The classes are taken in order of appearance, so that the folds do not depend on their names. A class
    with a single sample is never left out: without it the class would be unknown.
    """
    random = np.random.default_rng(0)
    fold = np.full(len(codes), -1)
    first = 0
    sizes = np.bincount(codes)
    for c in codes[np.sort(np.unique(codes, return_index=True)[1])].tolist():
        if sizes[c] == 1:
            continue
        rows = random.permutation(np.flatnonzero(codes == c))
        fold[rows] = (first + np.arange(len(rows))) % cv
        first += len(rows)
    for number in range(cv):
        test = np.flatnonzero(fold == number)
        if len(test):
            yield np.flatnonzero(fold != number), test


def _small_strata(
    cv: int, data: TrainingData, forced: Forced | None, names: NDArray[np.object_]
) -> Ints | None:
    """Return the groups of rows of a conditioning column of small groups, such as pairs, if any.

    A model learns little about the group of a sample from the few others of its group, and if their
    classes differ, as those of pairs do, it learns the wrong class.
    """
    for column in () if forced is None else forced.conditioning.tolist():
        if data.table.numbers[column] and not data.categorical[column]:
            _warn_about_numbered_groups(cv, data, column, names[column])
            continue
        block = data.table.label_block(column, None)
        groups = [
            ("missing", row) if missing else ("value", value)
            for row, (value, missing) in enumerate(zip(block.values, block.missing, strict=True))
        ]
        found = read_row_groups(groups, data.table.n_samples)
        own = found[data.samples]
        if np.median(np.bincount(own)[own]) <= cv <= found.max():
            return found
    return None


def _warn_about_numbered_groups(cv: int, data: TrainingData, column: int, name: str) -> None:
    """Warn about a conditioning column of numbers that may number small groups, such as patients."""
    values = data.table.number_block(np.array([column]), None).dense()[0]
    found, size = np.unique(values[np.isfinite(values)], return_counts=True)
    whole = len(found) > cv and (found == np.floor(found)).all()
    if whole and size.min() >= 2 and np.median(size) <= cv:
        warn(
            f"The conditioning column {name!r} has {len(found)} whole numbers, each of which occurs "
            "a few times, and is used as a quantity. If they number groups of samples, such as "
            f"patients, declare it categorical: categorical_features=[{name!r}] (--categorical on "
            "the command line)."
        )


def _can_be_divided(groups: Ints, codes: Ints) -> bool:
    """Whether each class has samples in several groups."""
    pairs = np.unique(np.column_stack([codes, groups]), axis=0)
    return bool((np.bincount(pairs[:, 0]) > 1).all())


def _check_split(rows: NDArray[Any], n_rows: int) -> None:
    """Raise an error if one part of a split does not consist of row numbers."""
    if rows.ndim != 1 or (len(rows) and not np.issubdtype(rows.dtype, np.integer)):
        raise ValueError(
            f"cv has a split with an array of {rows.dtype} of shape {rows.shape}; expected row "
            "numbers. Use np.flatnonzero for masks."
        )
    wrong = rows[(rows < 0) | (rows >= n_rows)]
    if len(wrong):
        raise ValueError(
            f"cv has a split with the row {wrong[0]}; X has the rows 0 to {n_rows - 1}. Make the "
            "splits from the rows that are passed to fit."
        )
