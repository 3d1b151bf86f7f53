"""Class labels -> stratified folds, checked."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from slfs.tables.target import Target

Split = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Rows to learn from, and rows to test on."""


def stratified_folds(target: Target, folds: int, random_state: int) -> list[Split]:
    """Cut the samples into folds; each class must have a sample in each."""
    sizes = np.bincount(target.codes)
    smallest, rarest = int(sizes.min()), target.classes.tolist()[sizes.argmin()]
    if not 2 <= folds <= smallest:
        remedy = f"Give a number from 2 to {smallest}, or leave" if smallest > 1 else "Leave"
        raise ValueError(
            f"folds={folds} does not do: each class must have a sample in each fold, and {rarest!r} has "
            f"{smallest}. {remedy} rare classes out."
        )
    splitter = StratifiedKFold(folds, shuffle=True, random_state=random_state)
    return list(splitter.split(np.zeros(len(target.codes)), target.codes))
