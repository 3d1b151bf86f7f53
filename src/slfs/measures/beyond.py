"""Levels of columns -> information about the class beyond that of other columns, the covariates.

The model of the class is log-linear: one table of levels and classes per covariate. The information of
a column is the drop in the mean log loss when a table of its own is added and all tables are fitted
again, without a penalty: with a single covariate, I(f;Y|covariate) if the effects of both do not depend
on each other.

The tables are fitted by iterative proportional fitting: each one in turn is scaled until the model
agrees with the counts of its levels and classes. Levels without samples of a class need no care, and the
work is proportional to the number of classes. Samples with the same levels of all columns have the same
probabilities, and are processed as one row.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from slfs._core.compile import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.uint8]

_PRECISION, _CYCLES, _WORK = 1e-8, 300, 1e9
"""Gain of a cycle in nats that is small enough to stop, and limits of cycles and of multiplications."""

_BASE_PRECISION, _BASE_CYCLES, _BASE_WORK = 1e-12, 10_000, 1e10
"""The same for the model of the covariates, which is fitted once."""

_FEWEST_CYCLES = 10
"""Number of cycles that is allowed in any case."""

_LONGEST, _LARGE = 1000.0, 30.0
"""Limits of the length of an extrapolation, and of the logarithms of what it finds."""

_f2, _i1, _i2 = types.float64[:, ::1], types.int64[::1], types.int64[:, ::1]


class Rows(NamedTuple):
    """Samples with the same levels of all columns, of which each has a table; the tables are stacked."""

    entries: Ints
    """Rows of the tables, of shape (n_rows, n_tables)."""
    sizes: Ints
    """Number of samples."""
    first: Ints
    """First row of each table, and the end of the last one."""

    def affordable(self, n_classes: int, work: float, most: int) -> int:
        """Return the number of cycles, up to ``most``, that a number of multiplications allows."""
        cycle = self.entries.size * self.entries.shape[1] * n_classes
        return int(min(max(work / cycle, _FEWEST_CYCLES), most))


@dataclass(frozen=True)
class Baseline:
    """The model of the class given the covariates, to which the table of a column is added.

    Attributes
    ----------
    stratum, labels : ndarray of shape (n_samples,)
        Stratum of each sample, as samples with the same levels of all covariates are called; its class.
    entries : ndarray of shape (n_strata, n_covariates)
        Row of each covariate in the tables, which are stacked.
    first : ndarray of shape (n_covariates + 1,)
        First row of each table.
    observed, tables : ndarray of shape (n_rows, n_classes)
        Number of samples, and entry of the model: the exponential of what it adds to the class.
    log_likelihood : float
        Log-likelihood of the samples, in nats.
    """

    stratum: Ints
    labels: NDArray[np.integer]
    entries: Ints
    first: Ints
    observed: Floats
    tables: Floats
    log_likelihood: float

    def added(self, codes: Codes) -> float:
        """Return the information of a column, given by its codes, beyond the covariates, in nats."""
        n_rows, n_classes = self.tables.shape
        width = int(codes.max()) + 1
        cells, sizes = _filled(self.stratum * width + codes, len(self.entries) * width)
        entries = np.column_stack([self.entries[cells // width], n_rows + cells % width])
        own = np.bincount(codes.astype(np.int64) * n_classes + self.labels, minlength=width * n_classes)
        observed = np.concatenate([self.observed, own.reshape(width, n_classes)])
        tables = np.concatenate([self.tables, np.ones((width, n_classes))])
        first = np.append(self.first, n_rows + width)
        rows = Rows(entries, sizes, first)
        cycles = rows.affordable(n_classes, _WORK, _CYCLES)
        _, fitted = fit_margins(rows, observed, tables, _PRECISION, cycles)
        return max(0.0, (fitted - self.log_likelihood) / len(codes))


def fit_baseline(
    codes: Sequence[NDArray[np.integer]], labels: NDArray[np.integer], n_classes: int
) -> Baseline:
    """Fit the model of the class given the covariates, one array of codes per covariate."""
    strata, stratum, sizes = np.unique(
        np.stack(codes, axis=1), axis=0, return_inverse=True, return_counts=True
    )
    first = np.cumsum([0, *(int(own.max()) + 1 for own in codes)], dtype=np.int64)
    observed = np.concatenate(
        [
            np.bincount(own.astype(np.int64) * n_classes + labels, minlength=n_levels * n_classes)
            for own, n_levels in zip(codes, np.diff(first).tolist(), strict=True)
        ]
    )
    observed = observed.reshape(-1, n_classes).astype(np.float64)
    rows = Rows(strata.astype(np.int64) + first[:-1], sizes.astype(np.int64), first)
    cycles = rows.affordable(n_classes, _BASE_WORK, _BASE_CYCLES)
    tables, fitted = fit_margins(rows, observed, np.ones_like(observed), _BASE_PRECISION, cycles)
    return Baseline(stratum.reshape(-1), labels, rows.entries, first, observed, tables, fitted)


def _filled(cells: Ints, n_cells: int) -> tuple[Ints, Ints]:
    """Return the cells that have samples, and the number of these."""
    if n_cells <= 4 * len(cells):
        counts = np.bincount(cells, minlength=n_cells)
        found = np.flatnonzero(counts)
        return found, counts[found]
    found, counts = np.unique(cells, return_counts=True)
    return found, counts.astype(np.int64)


def fit_margins(
    rows: Rows, observed: Floats, tables: Floats, precision: float, max_cycles: int
) -> tuple[Floats, float]:
    """Fit tables to the numbers of samples of their levels and classes.

    Every other cycle starts from a point to which the last two cycles point (SQUAREM), because cycles
    alone are slow if columns are nearly functions of each other. It is used only if it is better.

    R. Varadhan and C. Roland, "Simple and globally convergent methods for accelerating the convergence
    of any EM algorithm", Scandinavian Journal of Statistics 35, 2008.

    Parameters
    ----------
    rows : Rows
        The samples.
    observed : ndarray of shape (n_entries, n_classes)
        Number of samples.
    tables : ndarray of shape (n_entries, n_classes)
        First guess.
    precision : float
        Gain of a cycle, in nats per sample, that is small enough to stop.
    max_cycles : int
        Maximum number of cycles.

    Returns
    -------
    tables : ndarray of shape (n_entries, n_classes)
    log_likelihood : float
    """
    enough = precision * float(rows.sizes.sum())
    now, best = np.where(observed > 0, tables, 0.0), -math.inf
    fallback = now
    for _ in range(max(max_cycles // 2, 1)):
        once = now.copy()
        reached = _scale_tables(*rows, observed, once)
        if reached < best:  # the point was too far away
            now, once = fallback, fallback.copy()
            reached = _scale_tables(*rows, observed, once)
        twice = once.copy()
        best = _scale_tables(*rows, observed, twice)
        if best - reached <= enough:
            break
        fallback, start = twice, now
        now = np.empty_like(start)
        _extrapolate(observed, start, once, twice, now)
    return once, best


@kernel(types.void(_f2, _f2, _f2, _f2, _f2))
def _extrapolate(observed: Floats, start: Floats, once: Floats, twice: Floats, out: Floats) -> None:
    """Find the point to which two cycles point, given their results."""
    step, turn = np.zeros_like(start), np.zeros_like(start)
    distance, bend = 0.0, 0.0
    for e in range(start.shape[0]):
        for c in range(start.shape[1]):
            if observed[e, c] > 0.0:
                zero, one, two = math.log(start[e, c]), math.log(once[e, c]), math.log(twice[e, c])
                step[e, c], turn[e, c] = one - zero, two - 2 * one + zero
                distance += step[e, c] ** 2
                bend += turn[e, c] ** 2
    length = min(max(math.sqrt(distance / bend), 1.0), _LONGEST) if bend > 0.0 else 1.0
    for e in range(start.shape[0]):
        largest = -_LARGE
        for c in range(start.shape[1]):
            if observed[e, c] > 0.0:
                out[e, c] = math.log(start[e, c]) + 2 * length * step[e, c] + length**2 * turn[e, c]
                largest = max(largest, out[e, c])
        for c in range(start.shape[1]):
            found = observed[e, c] > 0.0
            out[e, c] = math.exp(max(out[e, c] - largest, -_LARGE)) if found else 0.0


@kernel(types.float64(_i2, _i1, _i1, _f2, _f2))
def _scale_tables(entries: Ints, sizes: Ints, first: Ints, observed: Floats, tables: Floats) -> float:
    """Scale each table in turn, so that the model has as many samples of its levels and classes.

    Return the log-likelihood before.
    """
    n_rows, n_tables = entries.shape
    n_classes = observed.shape[1]
    share, fitted = np.empty(n_classes), np.zeros_like(tables)
    log_likelihood = 0.0
    for e in range(tables.shape[0]):
        for c in range(n_classes):
            if observed[e, c] > 0.0:
                log_likelihood += observed[e, c] * math.log(tables[e, c])
    for own in range(n_tables):
        for m in range(n_rows):
            for c in range(n_classes):
                share[c] = tables[entries[m, 0], c]
            for t in range(1, n_tables):
                for c in range(n_classes):
                    share[c] *= tables[entries[m, t], c]
            total = share.sum()
            if total == 0.0:  # too small for a float
                return -math.inf
            if own == 0:
                log_likelihood -= sizes[m] * math.log(total)
            for c in range(n_classes):
                fitted[entries[m, own], c] += sizes[m] * share[c] / total
        for e in range(first[own], first[own + 1]):
            for c in range(n_classes):
                if observed[e, c] > 0.0 and fitted[e, c] > 0.0:
                    tables[e, c] *= observed[e, c] / fitted[e, c]
    return log_likelihood
