"""A table and several selectors -> accuracy of classifiers on what each of them selects, per fold."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from slfs.evaluation.classify import CLASSIFIERS, FoldScores
from slfs.evaluation.cross_validation import CV, Fold, cross_validate, make_splits
from slfs.selectors.slfs import SLFS
from slfs.tables.target import CLASSIFICATION, read_target

SLFS_SIZE = "slfs"
"""Compare all methods with as many columns as SLFS selects."""

Row = dict[str, Any]


def compare_methods(
    X: Any,
    y: ArrayLike,
    selectors: dict[str, Any],
    classifiers: Sequence[str],
    *,
    n_features_to_select: int | float | str | None = "slfs",
    cv: CV = 5,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> pd.DataFrame:
    """Cross-validate every selector with every classifier, by default with equally many columns.

    A method that selects many columns often has a higher accuracy for that reason alone, so accuracies
    of selections of different sizes say little about the methods. Selectors and classifiers are fitted
    to the training part of each fold. The progress callback (see `slfs.progress_callback`) is called
    after each fold.

    Parameters
    ----------
    X : pandas DataFrame or sparse array of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Class labels.
    selectors : dict of str to selector
        The keys name the methods in the result.
    classifiers : sequence of str
        Keys of `slfs.evaluation.classify.CLASSIFIERS`.
    n_features_to_select : int, float, "slfs" or None, default="slfs"
        Maximum number of columns that each method selects, or a fraction of all columns. With "slfs", it
        is the number that SLFS selects in the same fold: the first `SLFS` in ``selectors``, or one
        with default parameters. With None, each method selects as many columns as its own parameters
        say. Methods such as FCBF may select fewer columns than the maximum.
    cv : int, splitter or iterable of splits, default=5
        Number of stratified folds, a scikit-learn splitter, or an iterable of training and test indices.
    random_state : int, default=0
        Seed of the shuffling if ``cv`` is a number.
    n_jobs : int or None, default=None
        Number of processes.

    Returns
    -------
    rows : DataFrame
        One row per method, classifier and fold: n_features, accuracy, balanced_accuracy, auc (each
        class against the others, averaged), log_loss, and seconds of the selection. Classifiers without
        probabilities, such as SVM, have neither auc nor log_loss (NaN).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from slfs import MRMR, SLFS
    >>> from slfs.evaluation import compare_methods
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> selectors = {"slfs": SLFS(n_features_to_select=5), "mrmr": MRMR()}
    >>> rows = compare_methods(X, y, selectors, ["NB"], cv=3)
    >>> rows.groupby("method")["n_features"].mean().to_dict()
    {'mrmr': 5.0, 'slfs': 5.0}
    """
    _check_size(n_features_to_select)
    for name in classifiers:
        if name not in CLASSIFIERS:
            raise ValueError(f"Unknown classifier {name!r}. Use one of {', '.join(CLASSIFIERS)}.")
    target = read_target(y, CLASSIFICATION)
    score = partial(_score_fold, selectors=selectors, classifiers=classifiers, size=n_features_to_select)
    labels, splits = target.classes[target.codes], make_splits(target, cv, random_state)
    folds = cross_validate(score, X, labels, splits, n_jobs=n_jobs)
    return pd.DataFrame([row for rows in folds for row in rows])


def _score_fold(
    fold: Fold, selectors: dict[str, Any], classifiers: Sequence[str], size: int | float | str | None
) -> list[Row]:
    rows, scores = [], FoldScores(fold)
    with threadpool_limits(1):  # the folds share the cores
        if size == SLFS_SIZE:
            size = max(fold.fit(_reference(selectors)).n_features_, 1)
        for name, selector in selectors.items():
            if size is not None:
                selector = clone(selector).set_params(n_features_to_select=size)
            begin = time.perf_counter()
            fitted = fold.fit(selector)
            seconds = time.perf_counter() - begin
            columns = fitted.indices_
            for classifier in classifiers:
                has_tables = classifier == "BNSLFS" and getattr(fitted, "_additive", None) is not None
                own = fitted.to_classifier() if has_tables and len(columns) else None
                result = scores.metrics(columns, classifier, own)
                if result is not None:
                    row: Row = {"method": name, "classifier": classifier, "fold": fold.number}
                    rows.append({**row, "n_features": len(columns), **result, "seconds": seconds})
    return rows


def _reference(selectors: dict[str, Any]) -> Any:
    """The selector whose size the others have: the first SLFS, or one for the same kinds of columns."""
    for selector in selectors.values():
        if isinstance(selector, SLFS):
            return selector
    kinds = [getattr(selector, "categorical_features", "from_dtype") for selector in selectors.values()]
    return SLFS(categorical_features=kinds[0])


def _check_size(size: int | float | str | None) -> None:
    if isinstance(size, str) and size != SLFS_SIZE:
        raise ValueError(
            f"n_features_to_select must be a number, {SLFS_SIZE!r} or None. Got {size!r} instead."
        )
