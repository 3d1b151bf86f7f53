"""A selector, a table and its classes -> how well one classifies before and after the selection."""

from __future__ import annotations

import warnings
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from slfs._compat import safe_indexing
from slfs.classifiers.tan import NaiveBayes
from slfs.selectors.base import BaseSelector
from slfs.tables.arrays import indexable
from slfs.tables.registry import read_table
from slfs.tables.table import resolve_categorical
from slfs.tables.target import read_target

MOST_COLUMNS = 5000
"""Naive Bayes on all columns is left out for more columns than this."""

ALL, SELECTED, NETWORK = "naive Bayes, all columns", "naive Bayes, selected columns", "BNSLFS"


def compare_accuracy(
    selector: BaseSelector, X: Any, y: ArrayLike, *, folds: int = 5, random_state: int = 0
) -> dict[str, Any]:
    """Cross-validate classifiers on all columns and on the selected ones.

    The selection is made anew inside each fold, so that no test sample has a say in it.

    Parameters
    ----------
    selector : selector
        Fitted or not; it is cloned.
    X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Class labels.
    folds : int, default=5
        Number of folds; fewer where a class has fewer samples.
    random_state : int, default=0
        Decides which samples go into which fold.

    Returns
    -------
    accuracy : dict
        ``folds``, ``random_state``, ``majority`` (the share of the most frequent class), ``reason`` (why
        there are no figures, or "") and ``models``: for each its ``name``, ``mean`` and ``std`` of the
        accuracy over the folds, ``n_features`` in each fold, and ``reason`` where there are none.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from slfs import SLFS
    >>> from slfs.report.accuracy import compare_accuracy
    >>> accuracy = compare_accuracy(SLFS(), *load_iris(return_X_y=True))
    >>> [(model["name"], round(model["mean"], 2)) for model in accuracy["models"]]
    [('naive Bayes, all columns', 0.93), ('naive Bayes, selected columns', 0.93), ('BNSLFS', 0.93)]
    """
    if folds < 2:
        raise ValueError(f"folds must be a whole number of at least 2. Got {folds!r} instead.")
    target = read_target(y)
    sizes = np.bincount(target.codes)
    result: dict[str, Any] = {
        "folds": int(min(folds, sizes.min())),
        "random_state": random_state,
        "majority": float(sizes.max() / sizes.sum()),
        "reason": "",
        "models": [],
    }
    if sizes.min() < 2:
        alone = str(target.classes[sizes.argmin()])
        result["folds"] = 0
        result["reason"] = (
            f"The class {alone!r} has one sample only, which cannot be both learned from and tested on. "
            "Drop this class, merge it with another, or gather more samples of it."
        )
        return result
    labels = target.classes[target.codes]
    table = read_table(X)
    names = _column_names(X)
    X = indexable(X)
    categorical = resolve_categorical(selector.categorical_features, table, names)
    scores: dict[str, list[float]] = {ALL: [], SELECTED: [], NETWORK: []}
    n_features: dict[str, list[int]] = {ALL: [], SELECTED: [], NETWORK: []}
    splitter = StratifiedKFold(result["folds"], shuffle=True, random_state=random_state)
    for train, test in splitter.split(np.zeros(len(labels)), target.codes):
        known, unknown = safe_indexing(X, train), safe_indexing(X, test)
        with warnings.catch_warnings():  # the selector has said so of the whole table
            warnings.filterwarnings("ignore", message=".*likely identifiers")
            fitted = clone(selector).fit(known, labels[train])
            predicted = {NETWORK: fitted.to_classifier().predict(unknown)}
            if table.n_features <= MOST_COLUMNS:
                model = NaiveBayes(categorical_features=categorical).fit(known, labels[train])
                predicted[ALL] = model.predict(unknown)
            chosen = np.flatnonzero(fitted.support_)
            if len(chosen):
                model = NaiveBayes(categorical_features=categorical[chosen])
                model.fit(safe_indexing(known, chosen, axis=1), labels[train])
                predicted[SELECTED] = model.predict(safe_indexing(unknown, chosen, axis=1))
            else:  # nothing to go by but the classes themselves, as for the network
                predicted[SELECTED] = predicted[NETWORK]
        for name, guess in predicted.items():
            scores[name].append(float(np.mean(guess == labels[test])))
            n_features[name].append(table.n_features if name == ALL else len(chosen))
    result["models"] = [_summary(name, scores[name], n_features[name]) for name in scores]
    return result


def _summary(name: str, scores: list[float], n_features: list[int]) -> dict[str, Any]:
    if not scores:
        reason = f"left out: the table has more than {MOST_COLUMNS} columns"
        return {"name": name, "mean": None, "std": None, "n_features": [], "reason": reason}
    return {
        "name": name,
        "mean": float(np.mean(scores)),
        "std": float(np.std(scores)),
        "n_features": n_features,
        "reason": "",
    }


def _column_names(X: Any) -> NDArray[Any] | None:
    if not nw.dependencies.is_into_dataframe(X):
        return None
    return np.asarray(nw.from_native(X, eager_only=True).columns, dtype=object)
