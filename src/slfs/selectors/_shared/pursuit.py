"""Packed columns -> the order of residual pursuit: who explains best what the model gets wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from slfs.measures.information import Information
from slfs.measures.residuals import AdditiveModel

Ints = NDArray[np.int64]

_FIRST = 128
"""Number of columns to look at first in each step; twice as many each time that this is not enough."""


class Step(NamedTuple):
    """A column that joined the model: its packed index, its score, and the log loss before and after."""

    column: int
    score: float
    log_loss_before: float
    log_loss: float


def describe_steps(steps: list[Step]) -> dict[str, Any]:
    """Return scores and figures of a selection; see `Selection`."""
    figures = {
        step.column: {
            "joined": number,
            "log_loss_before": step.log_loss_before,
            "log_loss": step.log_loss,
        }
        for number, step in enumerate(steps, start=1)
    }
    return {"scores": np.array([step.score for step in steps]), "figures": figures}


class Pursuit:
    """Order columns by their gain: how well they explain the residuals of the columns before them.

    The score of a column is the minimum of its gains over all steps, so it can only fall. A column is
    confronted with the steps that it has missed only when its score could still be the highest.

    Parameters
    ----------
    information : Information
        Counts the packed columns.
    candidates : ndarray or None, default=None
        The packed columns to order. None: all of them.

    Attributes
    ----------
    model : AdditiveModel
        The model of the columns so far.
    """

    def __init__(self, information: Information, candidates: Ints | None = None) -> None:
        self._information = information
        layout = information.packed.layout
        self.model = AdditiveModel(layout.labels, layout.totals)
        self._score = np.full(len(information.packed), -np.inf)
        self._score[candidates if candidates is not None else slice(None)] = np.inf
        self._seen = np.zeros(len(information.packed), np.int64)
        self._steps: list[Ints] = []

    def __iter__(self) -> Iterator[Step]:
        """Add one column after another to the model."""
        packed, loss = self._information.packed, self.model.log_loss()
        for _ in range(int((self._score == np.inf).sum())):
            self._steps.append(self.model.weights())
            f = self._best()
            score = float(self._score[f])
            self._score[f] = -np.inf
            self.model.add(self._information.codes(f), packed.class_counts(f))
            before, loss = loss, self.model.log_loss()
            yield Step(f, score, before, loss)

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
