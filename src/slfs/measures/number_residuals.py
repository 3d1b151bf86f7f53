"""Columns -> an additive model of a continuous target with one table per column, and its residuals.

The bins of a target do not tell how far its values are apart: a few values far from the others are a
small part of one bin, but may be most of the variance. So the residuals of the numbers are used beside
those of the bins. The gains of both are score statistics of a likelihood, so they can be added.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slfs.counting.residuals import GAIN_RIDGE, RESIDUAL_SCALE, WEIGHT_SCALE
from slfs.measures.additive import DAMPING, RIDGE

Floats = NDArray[np.float64]
Codes = NDArray[np.uint8]

_LARGEST = 4.0
"""Residuals beyond this many standard deviations of the residuals count as this many."""

_WEIGHT = 1 / _LARGEST**2
"""Weight of a sample: the variance of its residual, in units in which the largest residual is 1."""

_SMALLEST_DEVIATION = 0.03
"""Smallest standard deviation of the residuals, relative to that of the target."""


class NumberModel:
    """An additive model of a continuous target, to which columns can be added.

    Parameters
    ----------
    values : ndarray of shape (n_samples,)
        The target.
    unit : float, default=1.0
        Number of samples that count as one.
    """

    def __init__(self, values: Floats, unit: float = 1.0) -> None:
        largest = float(np.abs(values).max()) or 1.0
        scaled = values / largest  # squares must not overflow
        centred = scaled - scaled.mean()
        self._residuals: Floats = centred / (float(np.sqrt((centred**2).mean())) or 1.0)
        self._ridge = RIDGE * unit
        self._added = GAIN_RIDGE * unit / _WEIGHT
        self._codes: list[Codes] = []
        self._sizes: list[Floats] = []
        self._tables: list[Floats] = []

    def add(self, codes: Codes, n_levels: int, n_sweeps: int) -> None:
        """Add a column, and take steps for its table and those of the columns before it."""
        self._codes.append(codes)
        self._sizes.append(np.bincount(codes, minlength=n_levels).astype(np.float64))
        self._tables.append(np.zeros(n_levels))
        for _ in range(n_sweeps):
            self._sweep(self._added)

    def settle(self, most: int, settled: float) -> None:
        """Take steps until the tables hardly change, as those of columns that are not selected must."""
        for _ in range(most):
            if self._sweep(0.0) < settled:
                break

    def _sweep(self, added: float) -> float:
        """Take a damped step for one table after another, the newest first; return the largest change.

        ``added`` is added to the numbers of samples by which the steps are divided.
        """
        largest = 0.0
        for codes, sizes, table in zip(
            reversed(self._codes), reversed(self._sizes), reversed(self._tables), strict=True
        ):
            sums = np.bincount(codes, self._residuals, minlength=len(table))
            change = DAMPING * (sums - self._ridge * table) / (sizes + self._ridge + added)
            table += change
            self._residuals -= change[codes]
            largest = max(largest, float(np.abs(change).max()))
        return largest

    def write(self, residuals: NDArray[np.int16], weights: NDArray[np.int16]) -> None:
        """Write the residuals and the weights of all samples in fixed point."""
        deviation = max(float(np.sqrt((self._residuals**2).mean())), _SMALLEST_DEVIATION)
        scaled = np.rint(self._residuals * (RESIDUAL_SCALE / (_LARGEST * deviation)))
        residuals[:] = np.clip(scaled, -RESIDUAL_SCALE, RESIDUAL_SCALE - 1)
        weights[:] = round(_WEIGHT * WEIGHT_SCALE)
