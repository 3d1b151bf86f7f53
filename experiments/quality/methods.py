"""A method of the configuration and a training part -> the selected columns, in order.

The selectors of slfs discretize by themselves, inside the fold. The others are rankings of standardized
columns; their packages (the dependency group ``quality``) are imported when they are used.
"""

from __future__ import annotations

import contextlib
import importlib
import signal
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import f_regression, mutual_info_regression
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.svm import l1_min_c

from slfs.selectors.registry import selectors
from slfs.tables.target_bins import cut_counts

if TYPE_CHECKING:
    from experiments.quality.config import Method
    from experiments.quality.data import Part

Ints = NDArray[np.int64]

Rank = Callable[["Part", int], Ints]
"""Takes a training part and a number of columns; returns the best columns, best first."""

SLOW = "more than"
"""How the note of a selection that was given up begins."""

_FACTORS = 1.3 ** np.arange(1, 30)
"""Penalties of the L1 path, relative to the one at which the first column enters."""


def all_columns(train: Part, _size: int) -> Ints:
    """Keep every column."""
    return np.arange(train.X.shape[1])


def forest_ranking(train: Part, size: int) -> Ints:
    """Rank by the importance in a random forest (mean decrease of impurity)."""
    kind = RandomForestRegressor if train.is_continuous else RandomForestClassifier
    forest = kind(200, random_state=0).fit(train.X, train.y)
    return _largest(forest.feature_importances_, size)


def l1_path(train: Part, size: int) -> Ints:
    """Rank by the order of entry into one-vs-rest L1 logistic regressions with falling penalty.

    Columns that enter at the same penalty are sorted by their largest coefficient.
    """
    X = _standardize(train)
    order: list[int] = []
    classes = np.unique(train.y)
    targets = [train.y == label for label in (classes if len(classes) > 2 else classes[1:])]
    firsts = [l1_min_c(X, target, loss="log") for target in targets]
    for factor in _FACTORS:
        coefficients = np.zeros(X.shape[1])
        for target, first in zip(targets, firsts, strict=True):
            model = LogisticRegression(
                C=factor * first, solver="liblinear", l1_ratio=1.0, tol=0.01, random_state=0
            )
            np.maximum(coefficients, np.abs(model.fit(X, target).coef_[0]), out=coefficients)
        coefficients[order] = 0
        entered = np.flatnonzero(coefficients)
        order += entered[np.argsort(-coefficients[entered], kind="stable")].tolist()
        if len(order) >= size:
            break
    return np.array(order[:size], np.int64)


def fast_can(train: Part, size: int) -> Ints:
    """Rank by fastcan: the largest sum of squared canonical correlations with the classes."""
    kind = late_import("fastcan", "FastCan")
    X = _standardize(train)
    varied = np.flatnonzero(X.std(axis=0) > 0)
    targets = np.eye(int(train.y.max()) + 1)[train.y]
    # a target that the others determine has no direction of its own
    ranker = kind(min(size, len(varied)), verbose=0).fit(X[:, varied], targets[:, 1:])
    return varied[np.asarray(ranker.indices_, np.int64)]


def multi_surf(train: Part, size: int) -> Ints:
    """Rank by MultiSURF, a method of the Relief family."""
    kind = late_import("skrebate", "MultiSURF")
    X = _standardize(train)
    ranker = kind(n_features_to_select=min(size, X.shape[1]), n_jobs=1).fit(X, train.y)
    return _largest(ranker.feature_importances_, size)


def by_mutual_information(train: Part, size: int) -> Ints:
    """Rank by the mutual information with a continuous target, estimated from nearest neighbours."""
    return _largest(mutual_info_regression(_standardize(train), train.y, random_state=0), size)


def by_correlation(train: Part, size: int) -> Ints:
    """Rank by the F statistic of the correlation with a continuous target."""
    return _largest(np.nan_to_num(f_regression(train.dense(), train.y)[0], nan=-1.0), size)


def mrmr_selection(train: Part, size: int) -> Ints:
    """Rank by mRMR of the package mrmr_selection: F statistics and correlations."""
    function = late_import("mrmr", "mrmr_regression")
    table, y = pd.DataFrame(train.dense()), pd.Series(train.y)
    return np.array(function(table, y, K=size, n_jobs=1, show_progress=False), np.int64)


RANKINGS: dict[str, Rank] = {
    "AllColumns": all_columns,
    "ForestRanking": forest_ranking,
    "L1Path": l1_path,
    "FastCan": fast_can,
    "MultiSURF": multi_surf,
    "MutualInfoRegression": by_mutual_information,
    "FRegression": by_correlation,
    "MRMRSelection": mrmr_selection,
}

SELECTORS = {kind.__name__: kind for kind in selectors().values()}
"""The selectors of slfs, by class name."""

METHODS = {**SELECTORS, **RANKINGS}
"""All estimators that a configuration can name."""

DENSE = ("FastCan", "MultiSURF")
"""Estimators without sparse input."""

PAIRWISE = ("MultiSURF",)
"""Estimators that compare all pairs of rows in all columns."""


def select(method: Method, train: Part, size: int | None) -> tuple[Ints, float]:
    """Return the columns that a method selects from the training part, and its seconds of CPU time.

    Workers have one thread each, so that CPU time is the time on an idle machine. ``size`` is the number
    of columns; None lets the method choose.
    """
    begin = time.process_time()
    if method.estimator in RANKINGS:
        columns = RANKINGS[method.estimator](train, size or train.X.shape[1])
    else:
        parameters: dict[str, Any] = dict(method.parameters)
        if size is not None:
            parameters["n_features_to_select"] = min(size, train.X.shape[1])
        if train.categorical.any():
            parameters["categorical_features"] = train.categorical
        y = train.y
        if "target_bins" in parameters:
            y = cut_target(y, parameters.pop("target_bins"))
        elif train.is_continuous:
            parameters["target"] = "regression"
        columns = SELECTORS[method.estimator](**parameters).fit(train.X, y).indices_
    return np.asarray(columns[:size], np.int64), time.process_time() - begin


def cut_target(y: NDArray[np.float64], n_bins: int) -> Ints:
    """Cut a continuous target into another number of bins than the selectors do by themselves."""
    _, index, counts = np.unique(y, return_inverse=True, return_counts=True)
    return np.searchsorted(cut_counts(counts, n_bins), index, side="right")


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TimeoutError in the block after this much CPU time, where the platform has alarms."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def stop(_signal: int, _frame: object) -> None:
        raise TimeoutError(f"{SLOW} {seconds:g} seconds")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def late_import(module: str, name: str) -> Any:
    """Import a class of a package that only this benchmark needs."""
    try:
        return getattr(importlib.import_module(module), name)
    except ImportError as error:
        raise ImportError(f"{module} is not installed. Use pip install --group quality.") from error


def _standardize(train: Part) -> Any:
    if sparse.issparse(train.X):  # not centred: the zeros stay zeros
        return StandardScaler(with_mean=False).fit_transform(
            sparse.csr_matrix(train.X, dtype=np.float64)
        )
    return StandardScaler().fit_transform(train.dense())


def _largest(scores: NDArray[np.float64], size: int) -> Ints:
    """Return the indices of the largest scores; ties go to the smaller column index."""
    return np.argsort(-np.asarray(scores), kind="stable")[:size]
