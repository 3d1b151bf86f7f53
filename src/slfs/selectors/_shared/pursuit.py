"""Packed columns -> the order of residual pursuit: who explains best what the model gets wrong."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from slfs._core.indices import PackedIndex
from slfs.counting.residuals import Queue, Step, residual_gains
from slfs.measures.information import Information
from slfs.measures.residuals import AdditiveModel


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

    Attributes
    ----------
    model : AdditiveModel
        The model of the columns so far.
    """

    def __init__(self, information: Information) -> None:
        self._information = information
        layout = information.packed.layout
        self.model = AdditiveModel(layout.labels, layout.totals)

    def __iter__(self) -> Iterator[tuple[int, float]]:
        """Yield the packed index and the score of one column after another, and add it to the model."""
        packed, backend = self._information.packed, self._information.backend
        queue = Queue(self._first_gains())
        steps: list[Step] = []
        while len(queue):
            backend.settle_first(queue, steps)
            f = queue.remove_first()
            self.model.add(self._information.codes(PackedIndex(f)), packed.class_counts(f))
            yield f, float(queue.bounds[f])
            steps.append(Step.of_rows(self.model.weights()))
            queue.reserve(len(steps))

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
