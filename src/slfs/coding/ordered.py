"""Columns of ordered categories -> intervals of categories, cut like numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slfs.coding.codebook import NONE, Coding, Learned
from slfs.coding.numbers import mdlp_cuts
from slfs.coding.run_kernels import Runs
from slfs.counting.nlogn import nlogn_table
from slfs.counting.planes import SampleLayout

Ints = NDArray[np.int64]


def category_runs(learned: Learned, layout: SampleLayout) -> tuple[Runs, Ints]:
    """Count the (position of the category, class) pairs of one column, and missing values by class."""
    counts = learned.class_counts.reshape(-1, layout.n_classes)
    missing = int(learned.coding.columns["missing"][0])
    none = np.zeros((1, layout.n_classes), np.int64)
    if missing != NONE:
        none[0], counts = counts[missing], np.delete(counts, missing, axis=0)
    position, label = np.nonzero(counts)
    start, stop = np.array([0]), np.array([len(position)])
    size = counts[position, label]
    return Runs(start, stop, position.astype(np.float64), label.astype(np.int32), size), none


def cut_categories(learned: Learned, layout: SampleLayout) -> Learned:
    """Join neighbouring categories of one column, whose levels are in order, where MDLP does not cut."""
    runs, _ = category_runs(learned, layout)
    cuts, _ = mdlp_cuts(runs, layout.n_classes, nlogn_table(layout.n_samples), layout.unit)
    return join_categories(learned, layout, cuts)


def join_categories(learned: Learned, layout: SampleLayout, cuts: NDArray[np.float64]) -> Learned:
    """Join the categories of one column between cut points, which are positions of categories."""
    columns, missing = learned.coding.columns.copy(), int(learned.coding.columns["missing"][0])
    counts = learned.class_counts.reshape(-1, layout.n_classes)
    level = np.searchsorted(cuts, np.arange(len(counts) - (missing != NONE)))
    n_levels = int(level[-1]) + 1 if len(level) else 0
    if missing != NONE:
        level = np.append(level, n_levels)
        columns["missing"], n_levels = n_levels, n_levels + 1
    joined = np.zeros((n_levels, layout.n_classes), np.int64)
    np.add.at(joined, level, counts)
    columns["n_levels"], columns["fallback"] = n_levels, joined.sum(axis=1).argmax()
    categories = {value: int(level[before]) for value, before in learned.coding.categories[0].items()}
    coding = Coding(columns, learned.coding.offset, learned.coding.thresholds, {0: categories})
    return Learned(coding, joined.reshape(-1))
