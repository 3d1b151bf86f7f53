"""Packed columns -> the order of residual pursuit: who explains best what the model gets wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from slfs._core.indices import PackedIndex
from slfs.counting.planes import PackedColumns, SampleLayout
from slfs.counting.queue import Queue
from slfs.counting.residuals import Residuals, residual_gains, row_length
from slfs.measures.information import Information
from slfs.measures.residuals import AdditiveModel, n_residuals
from slfs.selectors._shared.joint_gain import Group, GroupQueue

Ints = NDArray[np.int64]


class Step(NamedTuple):
    """A column that joined the model, on its own or with others of its group.

    Attributes
    ----------
    column : int
        Its packed index.
    score : float
        Its score, or that of its group.
    log_loss_before, log_loss : float
        The log loss before and after it, or its group, joined.
    n_after : int
        Number of selected columns after it, or its group, joined.
    included : bool
        Whether the user has included it.
    group : str or None
        The name of its group.
    n_together : int
        Number of columns that joined at the same time.
    """

    column: int
    score: float
    log_loss_before: float
    log_loss: float
    n_after: int
    included: bool = False
    group: str | None = None
    n_together: int = 1


def describe_steps(steps: list[Step]) -> dict[str, Any]:
    """Return scores and figures of a selection; see `Selection`."""
    figures = {
        step.column: {
            "joined": step.n_after - step.n_together + 1,
            "log_loss_before": step.log_loss_before,
            "log_loss": step.log_loss,
            **({} if step.group is None else {"group": step.group, "n_together": step.n_together}),
        }
        for step in steps
        if not step.included
    }
    scores = np.array([step.score for step in steps])
    n_included = sum(step.included for step in steps)
    return {"scores": scores, "figures": figures, "n_included": n_included}


def pursuit_bytes(n_steps: int, layout: SampleLayout) -> int:
    """Return the memory that a pursuit needs: codes, their runs and residuals of each step, and odds.

    It suffices for the tables that are fitted afterwards: of quartiles and edges, without residuals.
    """
    n_classes = layout.n_classes
    continuous = layout.target_values is not None
    residuals = 2 * row_length(n_residuals(n_classes, continuous=continuous))
    return layout.n_samples * (n_steps * max(residuals + 6, 11) + 3 * 8 * (n_classes + 3))


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
    groups : list of Group, default=()
        Candidates that join together.

    Attributes
    ----------
    candidates : ndarray
        The packed columns to order.
    model : AdditiveModel
        The model of the columns so far: those that are given, those that are included, and the others.
    groups : list of Group
        Candidates that join together.
    """

    def __init__(
        self,
        information: Information,
        candidates: Ints | None = None,
        skips: Callable[[int, list[int]], bool] | None = None,
        *,
        given: Ints | None = None,
        included: Ints | None = None,
        groups: Sequence[Group] = (),
    ) -> None:
        self._information, self._skips = information, skips
        self.candidates = np.arange(len(information.packed)) if candidates is None else candidates
        layout = information.packed.layout
        values = None if layout.target_values is None else layout.target_values[layout.order]
        self.model = AdditiveModel(layout.labels, layout.totals, layout.unit, values)
        self.given = np.empty(0, np.int64) if given is None else given
        self.included = np.empty(0, np.int64) if included is None else included
        self.groups = list(groups)
        self._ordered = self.candidates

    def limit_to(self, columns: Ints) -> None:
        """Order only some of the candidates, and only groups whose columns are among them."""
        self._ordered = columns
        self.groups = [group for group in self.groups if np.isin(group.columns, columns).all()]

    def __iter__(self) -> Iterator[Step]:
        """Add one column after another to the model."""
        return self.take(len(self._information.packed))

    def take(self, n_columns: int) -> Iterator[Step]:
        """Add up to a number of columns to the model; the included ones are the first.

        A group for which there is no room as a whole is left out. The given columns are in the model
        when this returns, before the first step.
        """
        for f in self.given.tolist():
            self._add(f)
        self.model.settle()
        return self._steps(n_columns)

    def _steps(self, n_columns: int) -> Iterator[Step]:
        packed, columns = self._information.packed, self.included.tolist()
        loss = self.model.log_loss()
        for number, f in enumerate(columns, start=1):
            score = float(self._information.backend.gains(np.array([f]), self._residuals())[0])
            self._add(f)
            before, loss = loss, self.model.log_loss()
            yield Step(f, score / packed.layout.unit, before, loss, number, included=True)
        self.model.settle()
        loss = self.model.log_loss()
        bounds = self._first_gains()
        grouped = np.concatenate([[], *(group.columns for group in self.groups)]).astype(np.int64)
        queue = Queue(bounds, np.setdiff1d(self._ordered, grouped))
        groups = None
        if self.groups:
            groups = GroupQueue(self._information, self.groups, self._residuals())
        residuals: list[Residuals] = []
        while len(columns) < n_columns:
            f, score = len(packed), -np.inf
            if len(queue):
                self._information.backend.settle_first(queue, residuals)
                f = int(queue.columns[0])
                score = float(queue.bounds[f])
            room = n_columns - len(columns)
            found = None if groups is None else groups.best(score, f, room)
            if found is None:
                if not len(queue):
                    return
                queue.remove_first()
                if self._skips is not None and self._skips(f, columns):
                    continue
                joined, name = [f], None
            else:
                score, group = found
                joined, name = group.columns.tolist(), group.name
            columns += joined
            for column in joined:
                self._add(column)
            before, loss = loss, self.model.log_loss()
            score, together = score / packed.layout.unit, len(joined)
            for column in joined:
                yield Step(column, score, before, loss, len(columns), group=name, n_together=together)
            if len(columns) == n_columns:
                return
            residuals.append(self._residuals())
            queue.reserve(len(residuals))
            if groups is not None:
                groups.add(residuals[-1])

    def _add(self, f: int) -> None:
        """Add a column to the model."""
        counts = self._information.packed.class_counts(f)
        self.model.add(self._information.codes(PackedIndex(f)), counts)

    def _residuals(self) -> Residuals:
        return Residuals.of_rows(self.model.weights(), self.model.n_residuals)

    def _first_gains(self) -> NDArray[np.float64]:
        """Compute the gains of the first step.

        The samples of a class have the same residuals, unless the model has columns already or the
        target is continuous.
        """
        backend, packed = self._information.backend, self._information.packed
        if len(self.given) + len(self.included) or packed.layout.target_values is not None:
            gains = np.zeros(len(packed))
            gains[self.candidates] = backend.gains(self.candidates, self._residuals())
            return gains
        first = packed.layout.first_sample[:-1].astype(np.int64)
        of_class = self.model.weights()[first, : 2 * self.model.n_residuals].astype(np.int64)

        def sums(columns: PackedColumns) -> Ints:
            by_level: Ints = columns.arrays.class_counts.reshape(-1, packed.layout.n_classes)
            return by_level @ of_class

        trends = None if packed.quartiles is None else sums(packed.quartiles)
        return residual_gains(packed, np.arange(len(packed)), sums(packed), trends)
