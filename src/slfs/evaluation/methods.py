"""A table and several selectors -> scores of models on what each of them selects, per fold."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from slfs.evaluation.classify import CLASSIFIERS, REGRESSORS, FoldScores
from slfs.evaluation.cross_validation import CV, Fold, cross_validate, make_splits
from slfs.selectors.slfs import SLFS
from slfs.tables.alignment import warn_about_order
from slfs.tables.choice import read_row_groups
from slfs.tables.target import REGRESSION, read_target

SLFS_SIZE = "slfs"
"""Compare all methods with as many columns as SLFS selects."""

Row = dict[str, Any]


def compare_methods(
    X: Any,
    y: ArrayLike,
    selectors: dict[str, Any],
    models: Sequence[str],
    *,
    target: str = "auto",
    n_features_to_select: float | str | None = "slfs",
    cv: CV = 5,
    groups: ArrayLike | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> pd.DataFrame:
    """Cross-validate every selector with every model, by default with equally many columns.

    A method that selects many columns often has a higher accuracy for that reason alone, so accuracies
    of selections of different sizes say little about the methods. Selectors and models are fitted to
    the training part of each fold. The progress callback (see `slfs.progress_callback`) is called
    after each fold.

    Parameters
    ----------
    X : pandas DataFrame or sparse array of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Class labels, or numbers; see ``target``.
    selectors : dict of str to selector
        The keys name the methods in the result.
    models : sequence of str
        Classifiers: keys of `slfs.evaluation.classify.CLASSIFIERS`. For a continuous target regressors:
        keys of `slfs.evaluation.classify.REGRESSORS`.
    target : {"auto", "classification", "regression"}, default="auto"
        Type of the target, as in `SLFS`. The selectors get the same.
    n_features_to_select : int, float, "slfs" or None, default="slfs"
        Maximum number of columns that each method selects, or a fraction of all columns. With "slfs", it
        is the number that SLFS selects in the same fold (1 if that is none): the first `SLFS` in
        ``selectors``, or one with default parameters. With None, each method selects as many columns as
        its own parameters say. Methods such as FCBF may select fewer columns than the maximum.
    cv : int, splitter or iterable of splits, default=5
        Number of stratified folds, a scikit-learn splitter, or an iterable of training and test indices.
    groups : array-like of shape (n_samples,) or None, default=None
        Group of each row, such as a patient. Rows of a group are in the same fold, also in those with
        which a selector finds its number of columns.
    random_state : int, default=0
        Seed of the shuffling if ``cv`` is a number.
    n_jobs : int or None, default=None
        Number of processes.

    Returns
    -------
    rows : DataFrame
        One row per method, classifier and fold: n_features, accuracy, balanced_accuracy, auc (each
        class against the others, averaged), log_loss, and seconds of the selection. Classifiers without
        probabilities, such as SVM, have neither auc nor log_loss (NaN). For a continuous target one row
        per method, regressor and fold: n_features, r2, rank_correlation (Spearman's),
        mean_absolute_error and seconds.

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
    warn_about_order(X, y)
    found = read_target(y, target)
    regression = found.kind == REGRESSION
    kind, known = ("regressor", REGRESSORS) if regression else ("classifier", CLASSIFIERS)
    for name in models:
        if name not in known:
            raise ValueError(f"Unknown {kind} {name!r}. Use one of {', '.join(known)}.")
    if regression:
        selectors = {name: _for_numbers(selector) for name, selector in selectors.items()}
    score = partial(
        _score_fold,
        regression=regression,
        selectors=selectors,
        models=models,
        size=n_features_to_select,
    )
    labels = found.classes[found.codes] if found.values is None else found.values
    numbered = None if groups is None else read_row_groups(groups, len(found.codes))
    splits = make_splits(found, cv, random_state, numbered)
    folds = cross_validate(score, X, labels, splits, groups=numbered, n_jobs=n_jobs)
    return pd.DataFrame([row for rows in folds for row in rows])


def _score_fold(
    fold: Fold,
    regression: bool,
    selectors: dict[str, Any],
    models: Sequence[str],
    size: float | str | None,
) -> list[Row]:
    kind = "regressor" if regression else "classifier"
    rows, scores = [], FoldScores(fold, REGRESSORS if regression else CLASSIFIERS)
    with threadpool_limits(1):  # the folds share the cores
        if size == SLFS_SIZE:
            size = max(fold.select(_reference(selectors, regression)).n_features_, 1)
        for name, selector in selectors.items():
            if size is not None:
                selector = clone(selector).set_params(n_features_to_select=size)
            begin = time.perf_counter()
            fitted = fold.select(selector)
            seconds = time.perf_counter() - begin
            columns = fitted.indices_
            for model in models:
                has_tables = model == "BNSLFS" and getattr(fitted, "_additive", None) is not None
                make = fitted.to_regressor if regression else fitted.to_classifier
                result = scores.metrics(columns, model, make() if has_tables and len(columns) else None)
                if result is not None:
                    row: Row = {"method": name, kind: model, "fold": fold.number}
                    rows.append({**row, "n_features": len(columns), **result, "seconds": seconds})
    return rows


def _for_numbers(selector: Any) -> Any:
    """Return a selector that treats its target as continuous, also if it has whole numbers only."""
    parameters = selector.get_params()
    names = [name for name in ("target", "selector__target") if name in parameters]
    if not names:
        raise ValueError(
            f"{type(selector).__name__} does not accept a continuous target. Leave it out, or bin y "
            "into classes."
        )
    return clone(selector).set_params(**{names[0]: REGRESSION})


def _reference(selectors: dict[str, Any], regression: bool) -> Any:
    """The selector whose size the others have: the first SLFS, or one for the same kinds of columns."""
    for selector in selectors.values():
        if isinstance(selector, SLFS):
            return selector
    kinds = [getattr(selector, "categorical_features", "from_dtype") for selector in selectors.values()]
    return SLFS(categorical_features=kinds[0], target="regression" if regression else "classification")


def _check_size(size: float | str | None) -> None:
    if isinstance(size, str) and size != SLFS_SIZE:
        raise ValueError(
            f"n_features_to_select must be a number, {SLFS_SIZE!r} or None. Got {size!r} instead."
        )
