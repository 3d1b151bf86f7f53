"""A user's own table -> how methods and classifiers do on it, by cross-validation."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from slfs.evaluation.classify import CLASSIFIERS, Fold
from slfs.evaluation.folds import stratified_folds
from slfs.tables.target import read_target

Row = dict[str, Any]


def compare_methods(
    X: Any,
    y: NDArray[Any],
    selectors: dict[str, Any],
    classifiers: Sequence[str],
    *,
    folds: int,
    random_state: int,
    n_jobs: int,
    progress: Callable[[int, int], None],
    size: int | None = None,
) -> pd.DataFrame:
    """Cross-validate every selector with every classifier; all is learned inside the folds.

    Parameters
    ----------
    X : DataFrame or sparse array
    y : ndarray
    selectors : dict
        By the name that they have in the result.
    classifiers : sequence of str
        Of `slfs.evaluation.classify.CLASSIFIERS`.
    folds, random_state, n_jobs : int
    progress : callable
        Told how many folds are done, and how many there are.
    size : int, optional
        Take the first so many columns of each selection.

    Returns
    -------
    rows : DataFrame
        One row for each method, classifier and fold: accuracy, n_features, seconds of the selection.
    """
    for name in classifiers:
        if name not in CLASSIFIERS:
            raise ValueError(f"There is no classifier {name!r}. There are {', '.join(CLASSIFIERS)}.")
    splits = stratified_folds(read_target(y), folds, random_state)
    work = Parallel(n_jobs, return_as="generator")(
        delayed(_one_fold)(number, X, y, train, test, selectors, classifiers, size)
        for number, (train, test) in enumerate(splits)
    )
    rows: list[Row] = []
    for done, part in enumerate(work, start=1):
        rows += part
        progress(done, folds)
    return pd.DataFrame(rows)


def _one_fold(
    number: int,
    X: Any,
    y: NDArray[Any],
    train: NDArray[np.int64],
    test: NDArray[np.int64],
    selectors: dict[str, Any],
    classifiers: Sequence[str],
    size: int | None,
) -> list[Row]:
    rows = []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fold = Fold(X, y, train, test)
        for name, selector in selectors.items():
            begin = time.perf_counter()
            fitted = clone(selector).fit(fold.train, fold.train_labels)
            seconds = time.perf_counter() - begin
            columns = fitted.indices_[:size]
            whole = 0 < len(columns) == fitted.n_features_
            for classifier in classifiers:
                own = fitted.to_classifier() if classifier == "BNSLFS" and whole else None
                result = fold.score(columns, classifier, own)
                if result is not None:
                    row = {"method": name, "classifier": classifier, "fold": number}
                    shown = {"accuracy": result[0], "n_features": len(columns)}
                    rows.append({**row, **shown, "seconds": seconds})
    return rows
