"""A selector, a table and its classes -> cross-validated accuracy with and without the selection."""

from __future__ import annotations

from functools import partial
from numbers import Integral
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray

from slfs.classifiers.bnslfs import BNSLFS
from slfs.classifiers.tan import NaiveBayes
from slfs.evaluation.cross_validation import CV, Fold, cross_validate, make_splits
from slfs.evaluation.metrics import METRICS, Metrics
from slfs.selectors.base import BaseSelector
from slfs.tables.alignment import warn_about_order
from slfs.tables.registry import read_table
from slfs.tables.table import resolve_categorical
from slfs.tables.target import CLASSIFICATION, read_target

MAX_COLUMNS = 5000
"""Naive Bayes on all columns is skipped for tables with more columns than this."""

ALL, SELECTED, NETWORK = "naive Bayes, all columns", "naive Bayes, selected columns", "BNSLFS"

_MAX_SIZES = 25


def compare_accuracy(
    selector: BaseSelector, X: Any, y: ArrayLike, *, cv: CV = 5, random_state: int = 0
) -> dict[str, Any]:
    """Cross-validate classifiers on all columns and on the selected ones.

    The selector is fitted to the training part of each fold, so that test samples do not influence the
    selection. All classifiers have the ``class_weight`` of the selector.

    Parameters
    ----------
    selector : selector
        Fitted or not; it is cloned.
    X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Class labels.
    cv : int, splitter or iterable of splits, default=5
        Number of stratified folds (reduced to the size of the smallest class if that is smaller), a
        scikit-learn splitter, or an iterable of training and test indices.
    random_state : int, default=0
        Seed of the shuffling if ``cv`` is a number.

    Returns
    -------
    accuracy : dict
        ``n_splits``, ``random_state``, ``majority`` (the share of the most frequent class), ``reason``
        (why there are no results, or "") and ``models``: for each its ``name``, ``mean`` and ``std`` of
        the accuracy over the folds, the means of ``balanced_accuracy``, ``auc`` (each class against the
        others, averaged) and ``log_loss``, ``n_features`` in each fold, and ``reason`` if it was
        skipped.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from slfs import SLFS
    >>> from slfs.evaluation import compare_accuracy
    >>> accuracy = compare_accuracy(SLFS(), *load_iris(return_X_y=True))
    >>> [(model["name"], round(model["mean"], 2)) for model in accuracy["models"]]
    [('naive Bayes, all columns', 0.93), ('naive Bayes, selected columns', 0.93), ('BNSLFS', 0.95)]
    """
    warn_about_order(X, y)
    target, table = read_target(y, CLASSIFICATION), read_table(X)
    sizes = np.bincount(target.codes)
    result = {"random_state": random_state, "majority": float(sizes.max() / sizes.sum())}
    if isinstance(cv, Integral):
        if sizes.min() < 2:
            reason = _single_sample(target.classes[sizes.argmin()])
            return {"n_splits": 0, **result, "reason": reason, "models": []}
        cv = min(cv, int(sizes.min()))
    splits = make_splits(target, cv, random_state)
    categorical = resolve_categorical(selector.categorical_features, table, _column_names(X))
    inner = getattr(selector, "selector", None)  # of StabilitySelection
    naive_bayes = partial(NaiveBayes, class_weight=(inner or selector).get_params().get("class_weight"))

    def score(fold: Fold) -> dict[str, tuple[Metrics, int]]:
        fitted = fold.fit(BNSLFS(selector))
        chosen = np.flatnonzero(fitted.selector_.support_)
        network = selected = fold.metrics(fitted)
        if len(chosen):  # otherwise both predict the most frequent class
            model = fold.fit(naive_bayes(categorical_features=categorical[chosen]), chosen)
            selected = fold.metrics(model, chosen)
        found = {SELECTED: (selected, len(chosen)), NETWORK: (network, len(chosen))}
        if table.n_features <= MAX_COLUMNS:
            model = fold.fit(naive_bayes(categorical_features=categorical))
            found[ALL] = fold.metrics(model), table.n_features
        return found

    folds = cross_validate(score, X, target.classes[target.codes], splits)
    models = [
        _summary(name, [found[name] for found in folds if name in found])
        for name in (ALL, SELECTED, NETWORK)
    ]
    return {"n_splits": len(splits), **result, "reason": "", "models": models}


def accuracy_curve(
    selector: Any, X: Any, y: ArrayLike, *, classifier: Any = None, cv: CV = 5, random_state: int = 0
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Cross-validate a classifier on growing numbers of selected columns.

    Parameters
    ----------
    selector : object
        It is cloned and fitted to the training part of each fold; its ``indices_`` are used.
    X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    classifier : object, optional
        Classifier for the selected columns; by default `NaiveBayes`.
    cv : int, splitter or iterable of splits, default=5
        Number of stratified folds, a scikit-learn splitter, or an iterable of training and test indices.
    random_state : int, default=0
        Seed of the shuffling if ``cv`` is a number.

    Returns
    -------
    sizes : ndarray of shape (n_sizes,)
        Numbers of columns, on a logarithmic scale up to the smallest selection.
    accuracy : ndarray of shape (n_sizes, n_splits)
    """
    classifier = NaiveBayes() if classifier is None else classifier
    warn_about_order(X, y)
    target = read_target(y, CLASSIFICATION)
    labels, splits = target.classes[target.codes], make_splits(target, cv, random_state)
    rankings = cross_validate(lambda fold: fold.fit(selector).indices_, X, labels, splits)
    shortest = min(map(len, rankings))
    if shortest == 0:
        raise ValueError(f"{selector} selects no columns in at least one fold, so there is no curve.")
    sizes = np.unique(np.geomspace(1, shortest, _MAX_SIZES).round().astype(int))

    def score(fold: Fold) -> list[float]:
        prefixes = [rankings[fold.number][:size] for size in sizes]
        return [fold.accuracy(fold.fit(classifier, columns), columns) for columns in prefixes]

    return sizes, np.array(cross_validate(score, X, labels, splits)).T


def _summary(name: str, scores: list[tuple[Metrics, int]]) -> dict[str, Any]:
    if not scores:
        reason = f"skipped: the table has more than {MAX_COLUMNS} columns"
        nothing = dict.fromkeys(("mean", "std", *METRICS[1:]))
        return {"name": name, **nothing, "n_features": [], "reason": reason}
    metrics, n_features = zip(*scores, strict=True)
    accuracy = [found["accuracy"] for found in metrics]
    means = {metric: float(np.mean([found[metric] for found in metrics])) for metric in METRICS[1:]}
    return {
        "name": name,
        "mean": float(np.mean(accuracy)),
        "std": float(np.std(accuracy)),
        **{metric: None if np.isnan(value) else value for metric, value in means.items()},
        "n_features": list(n_features),
        "reason": "",
    }


def _single_sample(label: Any) -> str:
    return (
        f"The class {str(label)!r} has only one sample, but cross-validation needs at least two. Drop "
        "this class, merge it with another one, or collect more samples of it."
    )


def _column_names(X: Any) -> NDArray[Any] | None:
    if not nw.dependencies.is_into_dataframe(X):
        return None
    return np.asarray(nw.from_native(X, eager_only=True).columns, dtype=object)
