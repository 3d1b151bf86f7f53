"""A table, its target and ``cv`` -> folds, and a function applied to each of them.

Everything in slfs that cross-validates goes through `cross_validate`: it makes the folds, silences the
warnings that the user has already seen for the whole table, and reports progress once per fold.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias, TypeVar

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone, is_regressor
from sklearn.model_selection import BaseCrossValidator, StratifiedGroupKFold, StratifiedKFold, check_cv

from slfs._compat import safe_indexing
from slfs._core.interface import remedy
from slfs._core.progress import progress_callback, steps
from slfs._core.warn import quiet
from slfs.evaluation.metrics import Metrics, classification_metrics, regression_metrics
from slfs.tables.arrays import indexable
from slfs.tables.parts import Part
from slfs.tables.registry import is_in_memory, read_table
from slfs.tables.table import ColumnSource
from slfs.tables.target import REGRESSION, Target

Ints = NDArray[np.int64]
Split = tuple[Ints, Ints]
"""Row indices of the training part and of the test part."""

CV: TypeAlias = int | BaseCrossValidator | Iterable[Split]
"""A number of stratified folds, a scikit-learn splitter, or the splits themselves."""

Result = TypeVar("Result")


@dataclass(frozen=True)
class Fold:
    """One training part and one test part of a table.

    Parameters
    ----------
    X : array-like, sparse matrix, dataframe or ColumnSource of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Class labels.
    train, test : ndarray of int
        Row indices of the two parts.
    number : int, default=0
        Position of this fold among all folds.
    groups : ndarray of shape (n_samples,) or None, default=None
        Group of each row.
    """

    X: Any
    y: NDArray[Any]
    train: Ints
    test: Ints
    number: int = 0
    groups: Ints | None = None

    @cached_property
    def train_table(self) -> Any:
        """The rows of the training part."""
        return _take_rows(self.X, self.train)

    @cached_property
    def test_table(self) -> Any:
        """The rows of the test part."""
        return _take_rows(self.X, self.test)

    @property
    def train_labels(self) -> NDArray[Any]:
        """The classes of the training part."""
        return self.y[self.train]

    @property
    def test_labels(self) -> NDArray[Any]:
        """The classes of the test part."""
        return self.y[self.test]

    def fit(self, estimator: Any, columns: Ints | None = None) -> Any:
        """Fit a clone of an estimator to the training part, by default to all its columns."""
        return clone(estimator).fit(_take_columns(self.train_table, columns), self.train_labels)

    def select(self, selector: Any) -> Any:
        """Fit a clone of a selector to the training part; it gets the groups of the rows if it can."""
        if self.groups is None or "groups" not in inspect.signature(selector.fit).parameters:
            return self.fit(selector)
        groups = self.groups[self.train]
        return clone(selector).fit(self.train_table, self.train_labels, groups=groups)

    def test_columns(self, columns: Ints | None = None) -> Any:
        """Return the test part, by default with all its columns."""
        return _take_columns(self.test_table, columns)

    def accuracy(self, fitted: Any, columns: Ints | None = None) -> float:
        """Return the share of test samples that a classifier, fitted to these columns, predicts."""
        return float(np.mean(fitted.predict(self.test_columns(columns)) == self.test_labels))

    def metrics(self, fitted: Any, columns: Ints | None = None) -> Metrics:
        """Return all metrics of a model that was fitted to these columns on the test samples."""
        score = regression_metrics if is_regressor(fitted) else classification_metrics
        return score(fitted, self.test_columns(columns), self.test_labels)


def make_splits(
    target: Target, cv: CV, random_state: int = 0, groups: Ints | None = None
) -> list[Split]:
    """Split the samples into training and test parts.

    An integer means stratified folds, shuffled with ``random_state``; each class must have at least one
    sample per fold. Rows of a group are in the same fold. Splitters and lists of splits are used as they
    are.
    """
    rows = np.zeros(len(target.codes))
    if not isinstance(cv, int | np.integer):
        return list(check_cv(cv, target.codes, classifier=True).split(rows, target.codes, groups))
    if cv < 2:
        raise ValueError(
            f"cv must be an integer of at least 2, a scikit-learn splitter or a list of splits. "
            f"Got {cv!r} instead."
        )
    given = remedy(f"cv={cv}", f"--cv {cv}")
    sizes = np.bincount(target.codes)
    smallest, rarest = int(sizes.min()), target.classes.tolist()[sizes.argmin()]
    if cv > smallest:
        what = "bin of the target" if target.kind == REGRESSION else "class"
        count = f"{smallest} samples" if smallest > 1 else "1 sample"
        advice = f"Use at most {smallest}" if smallest > 1 else "Remove rare classes"
        if smallest > 1 and target.kind != REGRESSION:
            advice += ", or remove rare classes"
        raise ValueError(
            f"{given} is too large: the smallest {what} ({rarest!r}) has {count}. {advice}."
        )
    if groups is None:
        splitter = StratifiedKFold(int(cv), shuffle=True, random_state=random_state)
        return list(splitter.split(rows, target.codes))
    if cv > (n_groups := int(groups.max()) + 1):
        raise ValueError(f"{given} is too large: there are {n_groups} groups. Use at most {n_groups}.")
    splitter = StratifiedGroupKFold(int(cv), shuffle=True, random_state=random_state)
    splits = list(splitter.split(rows, target.codes, groups))
    for train, _ in splits:
        lost = np.flatnonzero(np.bincount(target.codes[train], minlength=len(sizes)) == 0)
        if len(lost):
            _refuse_lost_class(target, int(lost[0]), groups)
    return splits


def _refuse_lost_class(target: Target, code: int, groups: Ints) -> None:
    """Raise an error about a class that the training rows of a fold do not have."""
    label, n_groups = target.classes.tolist()[code], len(np.unique(groups[target.codes == code]))
    what = "bin of the target" if target.kind == REGRESSION else "class"
    if n_groups > 1:
        raise ValueError(
            f"The {what} {label!r} occurs in {n_groups} groups, all of which are left out of a fold. "
            "Use fewer folds, or smaller groups."
        )
    remedy = "Use smaller groups, or fewer bins."
    if target.kind != REGRESSION:
        remedy = "Leave out the rows of this class, or join it with another class."
    raise ValueError(
        f"The {what} {label!r} occurs in a single group, so that no fold can both learn and predict it. "
        f"{remedy}"
    )


def cross_validate(
    score: Callable[[Fold], Result],
    X: Any,
    y: NDArray[Any],
    splits: list[Split],
    *,
    groups: Ints | None = None,
    n_jobs: int | None = None,
    prefer: str | None = None,
) -> list[Result]:
    """Call ``score`` with every fold and return the results in order.

    Warnings of slfs are silenced inside ``score``, because they repeat the warnings about the
    whole table. The progress callback, if there is one, is called after each fold.

    Parameters
    ----------
    score : callable
        Takes a `Fold`.
    X, y
        The whole table and its labels.
    splits : list of (train, test)
        From `make_splits`.
    groups : ndarray of shape (n_samples,) or None, default=None
        Group of each row.
    n_jobs : int or None, default=None
        Number of folds that are processed at the same time, as in joblib.
    prefer : {"threads", "processes"} or None, default=None
        As in `joblib.Parallel`.
    """
    step, results = steps(len(splits)), []
    work = Parallel(n_jobs, prefer=prefer, return_as="generator")(
        delayed(_score_quietly)(score, Fold(X, y, train, test, number, groups))
        for number, (train, test) in enumerate(splits)
    )
    for result in work:
        results.append(result)
        step()
    return results


def _score_quietly(score: Callable[[Fold], Result], fold: Fold) -> Result:
    with quiet(), progress_callback(None):  # progress is counted in folds, not in blocks of columns
        return score(fold)


def _take_rows(X: Any, rows: Ints) -> Any:
    table = X if is_in_memory(X) else read_table(X)
    if isinstance(table, ColumnSource):
        return Part(table, table.names, rows)
    return safe_indexing(indexable(X), rows)


def _take_columns(X: Any, columns: Ints | None) -> Any:
    if columns is None:
        return X
    return X.take(columns) if isinstance(X, ColumnSource) else safe_indexing(X, columns, axis=1)
