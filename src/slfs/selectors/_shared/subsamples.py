"""Samples -> subsamples in pairs, the selection on each of them, and how often columns are selected."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from slfs.base import TrainingData
from slfs.counting.planes import SampleLayout
from slfs.network.tree import ROOT
from slfs.selectors._shared.size_path import AutomaticSizeMixin
from slfs.tables.parts import Part, WithNoise

Ints = NDArray[np.int64]
Run = tuple[Ints, Ints]
"""The columns that were selected on one subsample, and the position of each one's parent among them."""


def draw(
    layout: SampleLayout, fraction: float, seed: int, second: bool, groups: Ints | None = None
) -> Ints:
    """Draw the rows of the first or the second subsample of a pair, stratified by class.

    The samples of each class are shuffled; the first subsample takes them from one end, the second from
    the other. Where the share is not an integer, one of the two gets one more sample, at random. With
    ``groups``, one number per row, groups are drawn, stratified by their most frequent class.
    """
    seen = layout.tested or layout  # rows are repeated if their weights are frequencies
    if groups is not None:
        counts = np.zeros((int(groups.max()) + 1, layout.n_classes), np.int64)
        np.add.at(counts, (groups[seen.order], seen.labels), 1)
        used = np.flatnonzero(counts.any(axis=1))
        by_class = SampleLayout.from_class_codes(counts[used].argmax(axis=1), layout.n_classes)
        drawn = used[draw(by_class, fraction, seed, second)]
        return np.sort(seen.order[np.isin(groups[seen.order], drawn)])
    random = np.random.default_rng(seed)
    rows = []
    for members in np.split(seen.order, np.cumsum(seen.totals)[:-1]):
        shuffled, more = random.permutation(members), random.random()
        share = fraction * len(members)
        first, last = int(share + more), int(share + 1 - more)
        rows.append(shuffled[len(shuffled) - last :] if second else shuffled[:first])
    return np.sort(np.concatenate(rows))


def select_on_rows(selector: Any, data: TrainingData, names: list[str], rows: Ints) -> Run:
    """Run a selector on some rows of a table."""
    target = data.target
    continuous = target.values is not None
    y = target.values[rows] if target.values is not None else target.codes[rows]
    if len(np.unique(y)) < (3 if continuous else 2):
        nothing = np.empty(0, np.int64)
        return nothing, nothing
    given: dict[str, Any] = {}
    own = None if data.weights is None else data.weights.of_samples(rows)
    if own is not None:
        given["sample_weight"] = own
    if data.groups is not None and isinstance(selector, AutomaticSizeMixin):
        own_groups = data.groups[rows]
        if len(np.unique(own_groups)) > 1:  # a single group cannot be divided into folds
            given["groups"] = own_groups
    selector = clone(selector)
    selector._only_selects = True
    network = selector.fit(Part(data.table, names, rows), y, **given).network_
    return network.columns, network.parents


def only(run: Run, wanted: NDArray[np.bool_], noisy: WithNoise) -> Run:
    """Keep only the noise columns of a run, or only the others, as columns of the original table.

    The children of a column that is removed become children of its parent.
    """
    columns, parents = run
    kept, above = np.append(wanted[columns], True), np.append(parents, ROOT)  # ROOT = -1: the last entry
    while not kept[above].all():
        above = np.where(kept[above], above, above[above])
    position = np.append(np.cumsum(kept[:-1]) - 1, ROOT)
    own = kept[:-1]
    return noisy.source[columns[own]], position[above[:-1][own]]


def count_runs(runs: Sequence[Run], n_features: int) -> Ints:
    """Count the runs in which each column was selected."""
    columns = [columns for columns, _ in runs]
    return np.bincount(np.concatenate(columns or [np.empty(0, np.int64)]), minlength=n_features)


def calibrate(counts: Ints, noise: Ints, rate: float, n_subsamples: int) -> float:
    """Return the smallest number of subsamples that controls the estimated false discovery rate."""
    for needed in range(1, n_subsamples + 1):
        if (1 + (noise >= needed).sum()) / max(1, (counts >= needed).sum()) <= rate:
            return needed
    return math.inf
