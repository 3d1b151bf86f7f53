"""A configuration -> the cells to compute, and those that are left out by its limits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from experiments.quality import classifiers, methods
from experiments.quality.config import OWN, Classifier, Config, Method, Stage
from experiments.quality.data import Data


class Cell(NamedTuple):
    """One score of one dataset."""

    fold: int
    method: str
    size: str
    classifier: str


def cells(config: Config, stage: Stage) -> Iterator[Cell]:
    """Yield the cells of a stage, fold by fold and method by method."""
    for fold in stage.folds:
        for method in config.methods.values():
            for size in method.sizes:
                if size in stage.sizes:
                    for name in stage.classifiers:
                        classifier = config.classifiers[name]
                        if method.name in (classifier.methods or config.methods) and size in (
                            classifier.sizes or config.size_names
                        ):
                            yield Cell(fold, method.name, size, name)


def left_out(method: Method, data: Data, config: Config) -> str:
    """Return why a method does not run on a dataset, or ""."""
    n_train = len(data.y) * (config.folds - 1) / config.folds
    if method.estimator in methods.PAIRWISE and n_train**2 * data.X.shape[1] > config.max_pair_cells:
        return "too many pairs of rows"
    if method.estimator in methods.DENSE and data.n_cells > config.max_dense_cells:
        return "sparse table too large"
    return ""


def not_scored(method: Method, classifier: Classifier, data: Data, config: Config) -> str:
    """Return why a classifier is not scored on the columns of a method, or ""."""
    wide = method.estimator == "AllColumns" and data.n_cells > config.max_dense_cells
    return "sparse table too large" if wide and classifier.estimator in classifiers.DENSE else ""


def largest_size(config: Config, size: str) -> int | None:
    """Return the number of columns to ask a method for: one ranking serves all fixed sizes."""
    return None if size == OWN else max(config.sizes)
