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

from slfs._core.interface import parameter
from slfs._core.warn import warn
from slfs.base import TrainingData
from slfs.screening.forced import Forced
from slfs.selectors._shared.row_groups import small_strata

Ints = NDArray[np.int64]

_NAMED = 3
"""Maximum number of classes that a warning names."""

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
        strata = small_strata(int(cv), data, forced, names)
        if strata is not None:
            return make_folds(cv, replace(data, groups=strata), forced, names)
        drawn = _draw_folds(int(cv), codes[samples])
        return [(samples[train], samples[test]) for train, test in drawn]
    splitter = check_cv(cv, codes, classifier=True)
    if data.groups is not None and isinstance(cv, Integral):
        n_groups = int(data.groups.max()) + 1
        if n_groups < 2:
            raise ValueError(
                f"{parameter('groups')} has a single group, which cannot be divided into folds."
            )
        n_splits = min(int(cv), n_groups)
        if n_groups < int(cv):
            warn(
                f"{parameter('cv', cv)} is larger than the number of groups, {n_groups}, so the number "
                f"of features is found with {n_groups} folds. Use {parameter('cv', n_groups)}, or "
                "smaller groups."
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
            raise ValueError(f"{parameter('cv', cv)} cannot split the rows: {error}{hint}") from None
    for rows in (part for split in splits for part in split):
        _check_split(np.asarray(rows), len(codes))
    folds = [
        (samples[np.isin(samples, train)], samples[np.isin(samples, test)]) for train, test in splits
    ]
    if any(len(np.unique(codes[train])) < 2 for train, _ in folds):
        where = f"{parameter('cv', cv)} has a split whose training rows do not contain two classes."
        if data.groups is None:
            raise ValueError(
                f"{where} Use a splitter that is stratified by class, or a number of folds."
            )
        raise ValueError(
            f"{where} The rows of a group are in the same fold, so every class needs samples in at "
            "least two groups, better in many. Pass smaller groups, or none."
        )
    lost = [np.setdiff1d(codes[test], codes[train]) for train, test in folds]
    if any(map(len, lost)):
        _warn_about_lost_classes(np.unique(np.concatenate(lost)), data)
    return [(train, test) for train, test in folds if np.isin(codes[test], codes[train]).any()]


def _warn_about_lost_classes(lost: Ints, data: TrainingData) -> None:
    """Warn about classes that the rows to learn from do not have in some folds."""
    labels = data.target.classes[lost[:_NAMED]].tolist()
    names = ", ".join(map(repr, labels)) + f" and {len(lost) - _NAMED} more" * (len(lost) > _NAMED)
    kind = (
        ("class" if len(lost) == 1 else "classes") if data.target.values is None else "bin of the target"
    )
    why = f"Some folds have no rows of the {kind} {names} to learn from"
    if data.groups is not None and all(np.ptp(data.groups[data.target.codes == c]) == 0 for c in lost):
        why = f"All rows of the {kind} {names} are in one group{' each' * (len(lost) > 1)}"
    it = "it" if len(lost) == 1 else "them"
    warn(
        f"{why}, so that cross-validation cannot predict {it}: these rows do not count in the log loss "
        "by which the number of columns is chosen."
    )


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
