"""Groups of columns -> the gain of all of them together, which copies do not add to."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slfs._core.indices import PackedIndex
from slfs.counting.residuals import (
    GAIN_RIDGE,
    RESIDUAL_SCALE,
    TREND_SHARE,
    WEIGHT_SCALE,
    Residuals,
)
from slfs.measures.information import Information

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_ENTRIES = 1 << 22
"""Maximum number of entries of the matrix of samples and levels that is in memory at a time."""


@dataclass(frozen=True)
class Group:
    """Packed columns that enter the model together, and the name of their group."""

    columns: Ints
    name: str


def joint_gain(information: Information, columns: Ints, residuals: Residuals) -> float:
    """Compute how well several columns together explain the residuals of a model.

    As for a single column, this is what a Newton step of tables and of trends lowers the log loss by,
    but the step is taken for all columns at once: columns that tell the same share what they explain.
    Many columns explain some of any residuals; what as many columns of noise would explain, more than
    one of them, is deducted.
    """
    backend, packed = information.backend, information.packed
    codes = [backend.codes(PackedIndex(f)) for f in columns.tolist()]
    one_hot = [np.eye(n_levels) for n_levels in packed.arrays.levels[columns].tolist()]
    gain = _gain(codes, one_hot, residuals, packed.layout.unit, centred=False)
    if backend.quartiles is None:
        return gain
    quartiles = backend.quartiles
    values = one_hot  # of columns without a trend
    for place, f in enumerate(columns.tolist()):
        scores = quartiles.packed.scores_of(f)
        if scores[0]:
            missing = np.isnan(scores)
            terms = [np.where(missing, 0.0, scores), missing][: 1 + missing.any()]
            codes[place] = quartiles.codes(PackedIndex(f))
            values[place] = np.column_stack(terms).astype(np.float64)
    trend = _gain(codes, values, residuals, packed.layout.unit, centred=True)
    return (1 - TREND_SHARE) * gain + TREND_SHARE * trend


def _gain(
    codes: list[NDArray[np.uint8]],
    values: list[Floats],
    residuals: Residuals,
    unit: float,
    *,
    centred: bool,
) -> float:
    """Compute the gain of a linear model of the levels of several columns.

    ``values`` has the terms of each level of each column, ``centred`` deducts what a constant explains.
    """
    n_residuals, n_samples = residuals.n_residuals, len(codes[0])
    n_terms = sum(own.shape[1] for own in values)
    rows = residuals.weights().astype(np.float64)
    score, linear = np.zeros((n_residuals, n_terms)), np.zeros((n_residuals, n_terms))
    squares = np.zeros((n_residuals, n_terms, n_terms))
    height = max(1, _ENTRIES // n_terms)
    for begin in range(0, n_samples, height):
        part = slice(begin, min(begin + height, n_samples))
        design = np.hstack([own[level[part]] for own, level in zip(values, codes, strict=True)])
        for c in range(n_residuals):  # of one-hot levels: sums of integers, which floats hold exactly
            weight = rows[part, n_residuals + c]
            score[c] += design.T @ rows[part, c]
            linear[c] += design.T @ weight
            squares[c] += design.T @ (design * weight[:, np.newaxis])
    gain = 0.0
    for c in range(n_residuals):
        own = squares[c] / WEIGHT_SCALE
        total = float(rows[:, n_residuals + c].sum()) / WEIGHT_SCALE
        if centred and total > 0:
            own -= np.outer(linear[c], linear[c]) / (WEIGHT_SCALE**2 * total)
        ridged = own + GAIN_RIDGE * unit * np.eye(n_terms)
        u = score[c] / RESIDUAL_SCALE
        solved = np.linalg.solve(ridged, np.column_stack([u, own]))
        by_chance = np.trace(solved[:, 1:]) * (1 - 1 / len(codes)) * unit
        gain += float(u @ solved[:, 0]) - float(by_chance)
    return 2.0 * gain if n_residuals == 1 else gain


class GroupQueue:
    """Groups by decreasing upper bound of their score: the minimum of their gains over all steps."""

    def __init__(self, information: Information, groups: list[Group], start: Residuals) -> None:
        self._information, self._groups = information, groups
        self._heap = [
            (-self._gain(place, start), int(group.columns[0]), place)
            for place, group in enumerate(groups)
        ]
        self._waiting: list[list[Residuals]] = [[] for _ in groups]
        heapq.heapify(self._heap)

    def add(self, residuals: Residuals) -> None:
        """Take note of the residuals of a step."""
        for waiting in self._waiting:
            waiting.append(residuals)

    def best(self, rival: float, column: int, room: float) -> tuple[float, Group] | None:
        """Take out the best group that fits and beats a column with a score; None if there is none.

        Groups that do not fit are given up: the room only shrinks.
        """
        while self._heap:
            bound, first, place = self._heap[0]
            if len(self._groups[place].columns) > room:
                heapq.heappop(self._heap)
                continue
            if -bound < rival or (-bound == rival and first > column):
                return None
            if not self._waiting[place]:
                heapq.heappop(self._heap)
                return -bound, self._groups[place]
            gain = self._gain(place, self._waiting[place].pop())  # the newest tells most
            heapq.heapreplace(self._heap, (max(bound, -gain), first, place))
        return None

    def _gain(self, place: int, residuals: Residuals) -> float:
        return joint_gain(self._information, self._groups[place].columns, residuals)
