"""Facts about each column that are known before columns are compared with each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from slfs.coding.codebook import Coding, join_arrays, join_codings


@dataclass(frozen=True)
class ColumnFacts:
    """Facts about each column on its own: arrays with one entry per column.

    Attributes
    ----------
    n_samples : float
        Number of samples that the data are worth, see `SampleLayout.evidence`.
    n_seen : int
        Number of samples that were seen, whatever they weigh.
    n_classes : int
        Number of classes.
    coding : Coding
        Mapping of values to levels.
    entropy, relevance : ndarray of float
        H(f) and I(f;Y) in nats.
    p_value : ndarray of float
        p-value of independence from the class, on levels that do not depend on the class; NaN if it was
        not requested.
    given_relevance : ndarray of float
        Information about the class that the conditioning columns do not contain, in nats, on the levels
        of the column; NaN without such columns.
    reason : ndarray of int8
        Code of the `Reason` why a column is dropped; `Reason.CANDIDATE` for the others.
    """

    n_samples: float
    n_seen: int
    n_classes: int
    coding: Coding
    entropy: NDArray[np.float64]
    relevance: NDArray[np.float64]
    p_value: NDArray[np.float64]
    given_relevance: NDArray[np.float64]
    reason: NDArray[np.int8]


Judge = Callable[[ColumnFacts], NDArray[np.int8]]
"""Decides about each column on its own: the code of a `Reason` per column. Picklable, for Dask."""


def join_facts(parts: list[ColumnFacts]) -> ColumnFacts:
    """Concatenate the facts of consecutive columns; the list is emptied to save memory."""
    if len(parts) == 1:
        return parts.pop()
    n_samples, n_seen, n_classes = parts[0].n_samples, parts[0].n_seen, parts[0].n_classes
    codings = [part.coding for part in parts]
    names = ("entropy", "relevance", "p_value", "given_relevance", "reason")
    fields = [[getattr(part, name) for part in parts] for name in names]
    parts.clear()
    coding = join_codings(codings)
    return ColumnFacts(n_samples, n_seen, n_classes, coding, *(join_arrays(own) for own in fields))
