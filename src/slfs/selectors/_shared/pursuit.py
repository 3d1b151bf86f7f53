"""Packed columns -> the order of residual pursuit: who explains best what the model gets wrong."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from slfs.measures.information import Information
from slfs.measures.residuals import AdditiveModel

Ints = NDArray[np.int64]

_FIRST = 128
"""Number of columns to look at first in each step; twice as many each time that this is not enough."""


class Pursuit:
    """Order columns by their gain: how well they explain the residuals of the columns before them.

    The score of a column is the minimum of its gains over all steps, so it can only fall. A column is
    confronted with the steps that it has missed only when its score could still be the highest.

    Parameters
    ----------
    information : Information
        Counts the packed columns.

    Attributes
    ----------
    model : AdditiveModel
        The model of the columns so far.
    """

    def __init__(self, information: Information) -> None:
        self._information = information
        layout = information.packed.layout
        self.model = AdditiveModel(layout.labels, layout.totals)
        self._score = np.full(len(information.packed), np.inf)
        self._seen = np.zeros(len(information.packed), np.int64)
        self._steps: list[Ints] = []

    def __iter__(self) -> Iterator[tuple[int, float]]:
        """Yield the packed index and the score of one column after another, and add it to the model."""
        packed = self._information.packed
        for _ in range(len(packed)):
            self._steps.append(self.model.weights())
            f = self._best()
            score = float(self._score[f])
            self._score[f] = -np.inf
            self.model.add(self._information.codes(f), packed.class_counts(f))
            yield f, score

    def _best(self) -> int:
        """Return the open column with the highest score; ties: the column with the smaller index."""
        now, size = len(self._steps), _FIRST
        while True:
            current = self._seen == now
            best = float(self._score[current].max(initial=-np.inf))
            stale = np.flatnonzero(~current & (self._score >= best))
            if len(stale) == 0:
                return int(np.flatnonzero(current & (self._score == best))[0])
            if len(stale) > size:
                stale = np.sort(stale[np.argpartition(-self._score[stale], size)[:size]])
            self._information.backend.lower_scores(stale, self._steps, self._seen, self._score, best)
            size *= 2
