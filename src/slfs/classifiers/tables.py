"""Counts of a network -> smoothed tables of log probabilities; levels -> random values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from slfs.coding.codebook import NONE, Coding
from slfs.network.tree import ROOT
from slfs.selectors._shared.selection import NetworkCounts
from slfs.tables.dates import TimeKind, from_days


@dataclass(frozen=True)
class LogTable:
    """log P(feature | parent, class) of one node.

    ``values`` has shape (n_levels, n_levels of the parent, n_classes); the second axis has length 1 if
    the class is the only parent.
    """

    parent: int
    values: NDArray[np.float64]


def make_tables(
    counts: NetworkCounts,
    tree_parents: NDArray[np.int64],
    structure: str,
    alpha: float,
    backoff: float | None,
) -> list[LogTable]:
    """Estimate the probability table of every node.

    P(f|Y) is estimated with Laplace smoothing; P(f|k,Y) is smoothed towards P(f|Y), which has the weight
    of ``backoff`` samples (Friedman, Geiger and Goldszmidt 1997). In the structure "tree" a feature with
    a parent feature does not depend on the class: P(f|k) is smoothed towards P(f). Without ``backoff``
    Laplace smoothing is used for all tables.
    """
    tables = []
    for node, own in enumerate(counts.class_counts):
        below_class = tree_parents[node] == ROOT
        partner = int(counts.partners[node])
        if partner == ROOT or (below_class and structure != "linked"):
            tables.append(LogTable(ROOT, np.log(_laplace(own, alpha))[:, np.newaxis, :]))
            continue
        joint = counts.joint_counts[node]
        assert joint is not None
        # by level, level of the partner and class; contiguous, as in a model that was loaded
        table: NDArray[Any] = np.ascontiguousarray(joint.transpose(1, 2, 0))
        if structure == "tree":
            table = table.sum(axis=2, keepdims=True)
            own = own.sum(axis=1, keepdims=True)
        if backoff is None:
            smoothed = _laplace(table, alpha)
        else:
            prior = _laplace(own, alpha)[:, np.newaxis, :]
            smoothed = (table + backoff * prior) / (table.sum(axis=0) + backoff)
        tables.append(LogTable(partner, np.log(smoothed)))
    return tables


def decode_levels(
    coding: Coding, node: int, levels: NDArray[np.int64], random: RandomState
) -> NDArray[Any]:
    """Draw a random value for each level of one column; NaN, NaT or None for missing values."""
    values = _decode(coding, node, levels, random)
    kind = coding.time_kind(node)
    if kind == TimeKind.NUMBER:
        return values
    return from_days(np.array(values, np.float64), kind).astype(object)


def _decode(
    coding: Coding, node: int, levels: NDArray[np.int64], random: RandomState
) -> NDArray[np.float64] | NDArray[np.object_]:
    """Draw a number, or a category, for each level of one column."""
    thresholds = coding.column_thresholds(node)
    missing = levels == coding.columns["missing"][node]
    if coding.cut[node]:
        edges = np.concatenate(
            [[coding.columns["low"][node]], thresholds, [coding.columns["high"][node]]]
        )
        interval = np.where(missing, 0, levels)
        low, high = edges[interval], edges[interval + 1]
        share = random.random_sample(len(levels))
        with np.errstate(invalid="ignore"):
            inside = high - share * (high - low)
        values = np.where(np.isfinite(inside), inside, np.where(np.isfinite(high), high, low))
        return np.where(missing, np.nan, values)
    if node not in coding.categories:
        values = np.append(thresholds, np.nan)[np.minimum(levels, len(thresholds))]
        return np.where(missing, np.nan, values)
    names: list[object] = [None] * int(coding.n_levels[node])
    for value, level in reversed(coding.categories[node].items()):
        names[level] = value  # of a group the most frequent one, which comes first
    if coding.columns["rare"][node] != NONE:
        names[int(coding.columns["rare"][node])] = "rare"
    drawn = np.empty(len(levels), dtype=object)
    drawn[:] = [names[level] for level in levels]
    return drawn


def _laplace(counts: NDArray[Any], alpha: float) -> NDArray[np.float64]:
    """Convert counts to smoothed shares along the first axis."""
    shares: NDArray[np.float64] = (counts + alpha) / (counts.sum(axis=0) + alpha * len(counts))
    return shares
