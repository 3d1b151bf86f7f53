"""A table and several selectors -> accuracy of classifiers on what each of them selects, per fold."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import pandas as pd
from numpy.typing import ArrayLike
from threadpoolctl import threadpool_limits

from slfs.evaluation.classify import CLASSIFIERS, FoldScores
from slfs.evaluation.cross_validation import CV, Fold, cross_validate, make_splits
from slfs.tables.target import read_target

Row = dict[str, Any]


def compare_methods(
    X: Any,
    y: ArrayLike,
    selectors: dict[str, Any],
    classifiers: Sequence[str],
    *,
    cv: CV = 5,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> pd.DataFrame:
    """Cross-validate every selector with every classifier.

    Selectors and classifiers are fitted to the training part of each fold. The progress callback (see
    `slfs.progress_callback`) is called after each fold.

    Parameters
    ----------
    X : pandas DataFrame or sparse array of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Class labels.
    selectors : dict of str to selector
        The keys name the methods in the result.
    classifiers : sequence of str
        Keys of `slfs.evaluation.classify.CLASSIFIERS`.
    cv : int, splitter or iterable of splits, default=5
        Number of stratified folds, a scikit-learn splitter, or an iterable of training and test indices.
    random_state : int, default=0
        Seed of the shuffling if ``cv`` is a number.
    n_jobs : int or None, default=None
        Number of processes.

    Returns
    -------
    rows : DataFrame
        One row per method, classifier and fold: accuracy, n_features, and seconds of the selection.
    """
    for name in classifiers:
        if name not in CLASSIFIERS:
            raise ValueError(f"Unknown classifier {name!r}. Use one of {', '.join(CLASSIFIERS)}.")
    target = read_target(y)
    score = partial(_score_fold, selectors=selectors, classifiers=classifiers)
    labels, splits = target.classes[target.codes], make_splits(target, cv, random_state)
    folds = cross_validate(score, X, labels, splits, n_jobs=n_jobs)
    return pd.DataFrame([row for rows in folds for row in rows])


def _score_fold(fold: Fold, selectors: dict[str, Any], classifiers: Sequence[str]) -> list[Row]:
    rows, scores = [], FoldScores(fold)
    with threadpool_limits(1):  # the folds share the cores
        for name, selector in selectors.items():
            begin = time.perf_counter()
            fitted = fold.fit(selector)
            seconds = time.perf_counter() - begin
            columns = fitted.indices_
            for classifier in classifiers:
                own = fitted.to_classifier() if classifier == "BNSLFS" and len(columns) else None
                result = scores.score(columns, classifier, own)
                if result is not None:
                    row = {"method": name, "classifier": classifier, "fold": fold.number}
                    shown = {"accuracy": result[0], "n_features": len(columns)}
                    rows.append({**row, **shown, "seconds": seconds})
    return rows
