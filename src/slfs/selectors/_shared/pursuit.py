"""Packed columns -> the order of residual pursuit: who explains best what the model gets wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from slfs._core.indices import PackedIndex
from slfs.counting.planes import SampleLayout
from slfs.counting.residuals import Queue, Residuals, residual_gains, row_length
from slfs.measures.information import Information
from slfs.measures.residuals import AdditiveModel

Ints = NDArray[np.int64]


class Step(NamedTuple):
    """A column that joined the model: its packed index, its score, and the log loss before and after."""

    column: int
    score: float
    log_loss_before: float
    log_loss: float
    included: bool = False


def describe_steps(steps: list[Step]) -> dict[str, Any]:
    """Return scores and figures of a selection; see `Selection`."""
    figures = {
        step.column: {
            "joined": number,
            "log_loss_before": step.log_loss_before,
            "log_loss": step.log_loss,
        }
        for number, step in enumerate(steps, start=1)
        if not step.included
    }
    scores = np.array([step.score for step in steps])
    n_included = sum(step.included for step in steps)
    return {"scores": scores, "figures": figures, "n_included": n_included}


def pursuit_bytes(n_steps: int, layout: SampleLayout) -> int:
    """Return the memory that a pursuit needs: codes and residuals of each step, and odds."""
    n_classes = layout.n_classes
    residuals = 2 * row_length(n_classes if n_classes > 2 else 1)
    return layout.n_samples * (n_steps * (residuals + 2) + 3 * 8 * (n_classes + 3))


class Pursuit:
    """Order columns by their gain: how well they explain the residuals of the columns before them.

    The score of a column is the minimum of its gains over all steps, so any of its gains is an upper
    bound. The column with the highest bound is confronted with the newest step that it has not seen,
    until one that has seen all steps is in front. Gains tend to fall, so the newest step tells most, and
    most columns are looked at once in a while only.

    Parameters
    ----------
    information : Information
        Counts the packed columns.
    candidates : ndarray or None, default=None
        The packed columns to order. None: all of them.
    skips : callable or None, default=None
        Takes a column and the columns before it; returns whether to leave it out. None: never.
    given, included : ndarray or None, default=None
        The packed columns that are conditioned on, and those that are selected in any case. They are in
        the model before the first step.

    Attributes
    ----------
    candidates : ndarray
        The packed columns to order.
    model : AdditiveModel
        The model of the columns so far: those that are given, those that are included, and the others.
    """

    def __init__(
        self,
        information: Information,
        candidates: Ints | None = None,
        skips: Callable[[int, list[int]], bool] | None = None,
        *,
        given: Ints | None = None,
        included: Ints | None = None,
    ) -> None:
        self._information, self._skips = information, skips
        self.candidates = np.arange(len(information.packed)) if candidates is None else candidates
        layout = information.packed.layout
        self.model = AdditiveModel(layout.labels, layout.totals)
        self.given = np.empty(0, np.int64) if given is None else given
        self.included = np.empty(0, np.int64) if included is None else included

    def __iter__(self) -> Iterator[Step]:
        """Add one column after another to the model; the included ones are the first."""
        packed = self._information.packed
        for f in self.given.tolist():
            self.model.add(self._information.codes(PackedIndex(f)), packed.class_counts(f))
        self.model.settle()
        loss = self.model.log_loss()
        for f in self.included.tolist():
            score = float(self._gains(np.array([f]))[0])
            self.model.add(self._information.codes(PackedIndex(f)), packed.class_counts(f))
            before, loss = loss, self.model.log_loss()
            yield Step(f, score, before, loss, included=True)
        self.model.settle()
        loss = self.model.log_loss()
        bounds = self._first_gains()
        if len(self.given) + len(self.included):
            bounds[self.candidates] = self._gains(self.candidates)
        queue = Queue(bounds, self.candidates)
        columns: list[int] = self.included.tolist()
        residuals: list[Residuals] = []
        while len(queue):
            self._information.backend.settle_first(queue, residuals)
            f = queue.remove_first()
            if self._skips is not None and self._skips(f, columns):
                continue
            columns.append(f)
            self.model.add(self._information.codes(PackedIndex(f)), packed.class_counts(f))
            before, loss = loss, self.model.log_loss()
            yield Step(f, float(queue.bounds[f]), before, loss)
            residuals.append(Residuals.of_rows(self.model.weights()))
            queue.reserve(len(residuals))

    def _gains(self, columns: Ints) -> NDArray[np.float64]:
        """Compute the gains of columns from the residuals of the model."""
        weights = self.model.weights()[:, : 2 * self.model.n_residuals].astype(np.int64)
        sums = self._information.backend.weighted_sums(columns, weights)
        return residual_gains(sums, self._information.packed.arrays.levels[columns].astype(np.int64))

    def _first_gains(self) -> NDArray[np.float64]:
        """Compute the gains of the first step, where all samples of a class have the same residuals."""
        packed = self._information.packed
        n_classes = packed.layout.n_classes
        first = packed.layout.first_sample[:-1].astype(np.int64)
        of_class = self.model.weights()[first, : 2 * self.model.n_residuals]
        by_level = packed.arrays.class_counts.reshape(-1, n_classes)
        return residual_gains(
            by_level @ of_class.astype(np.int64), packed.arrays.levels.astype(np.int64)
        )
