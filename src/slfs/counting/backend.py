"""The questions that the rest of the library asks about packed columns: the counting protocol.

A backend answers them with integers, and every backend with the same integers. Where a sum of n log n is
asked for, it is the fixed-point integer sum of `slfs.counting.nlogn`, so that answers are exact and do
not depend on threads, blocks or machines. `NumpyBackend` is the reference for all others.

Columns are named by their packed index, samples stand in the order of the layout (sorted by class).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from slfs._core.indices import PackedIndex
from slfs._core.threads import Threads
from slfs.counting.nlogn import nlogn_table
from slfs.counting.planes import PackedColumns

Ints = NDArray[np.int64]
Codes = NDArray[np.uint8]


class ConditionalCounts(NamedTuple):
    """Counts of a column and the class within the strata of other columns.

    ``table`` has shape (n_strata, n_levels, n_classes); strata in which no sample lies may be left out.
    ``half_g`` is S(f,Y,Z) - S(f,Z) - S(Y,Z) + S(Z): half the G statistic of f and Y given Z, in the unit
    of the n log n table.
    """

    table: Ints
    half_g: int


class CountingBackend(ABC):
    """Answers questions about packed columns with integers.

    S(...) stands for the sum of n log n over the cells of a table of counts, as a fixed-point integer.

    Parameters
    ----------
    packed : PackedColumns
        The columns as bit planes.
    threads : Threads
        A backend may split its work among them.
    """

    def __init__(self, packed: PackedColumns, threads: Threads) -> None:
        self.packed = packed
        self.threads = threads
        self.nlogn = nlogn_table(packed.layout.n_samples)

    # -- one column and the class ----------------------------------------------------------------

    @abstractmethod
    def codes(self, f: PackedIndex) -> Codes:
        """The level of each sample in one column."""

    def class_counts(self, f: PackedIndex) -> Ints:
        """Counts of one column: one row per level, one column per class."""
        return self.packed.class_counts(f)

    @abstractmethod
    def column_sums(self) -> Ints:
        """S(f) and S(f,Y) of every column: an array of shape (n_packed, 2)."""

    # -- one column against many -----------------------------------------------------------------

    @abstractmethod
    def pair_sums(self, f: PackedIndex, others: Ints) -> Ints:
        """S(f,k) and S(f,k,Y) for each k in ``others``: an array of shape (n_others, 2)."""

    @abstractmethod
    def pooled_pair_sums(self, f: PackedIndex, others: Ints) -> Ints:
        """S(f,k) alone for each k in ``others``: an array of shape (n_others,)."""

    # -- tables of counts ------------------------------------------------------------------------

    @abstractmethod
    def joint_counts(self, f: PackedIndex, k: PackedIndex) -> Ints:
        """Counts of two columns: an array of shape (n_classes, levels of f, levels of k)."""

    @abstractmethod
    def conditional_counts(self, f: PackedIndex, given: Sequence[int]) -> ConditionalCounts:
        """Counts of a column and the class for each combination of levels of the given columns."""

    # -- weights and labels that are not in the planes -------------------------------------------

    @abstractmethod
    def weighted_sums(self, columns: Ints, weights: Ints) -> Ints:
        """Sums of integer weights over the samples of each level.

        ``weights`` has shape (n_samples, n_weights); the result has one row per level, column after
        column, and one column per weight.
        """

    @abstractmethod
    def label_sums(self, labels: Codes) -> Ints:
        """S(f, labels) of every column, with other labels than the classes, one per sample."""

    @abstractmethod
    def count_exceedances(
        self, columns: Ints, permuted: Codes, observed: Ints, enough: int, hits: Ints, draws: Ints
    ) -> None:
        """Count how often permuted labels, one permutation per row, reach the observed S(f, labels).

        Adds to ``hits`` and ``draws`` (of all columns) for the given columns. A column is not drawn
        again once it has ``enough`` hits.
        """

    # -- blocks of columns -----------------------------------------------------------------------

    def block_sums(self, left: Ints, right: Ints) -> Ints:
        """S(f,k) and S(f,k,Y) for all pairs: an array of shape (n_left, n_right, 2)."""
        sums = np.empty((len(left), len(right), 2), np.int64)
        for row, f in zip(sums, left.tolist(), strict=True):
            row[:] = self.pair_sums(PackedIndex(f), right)
        return sums


BackendFactory = Callable[[PackedColumns, Threads], CountingBackend]


def _numba(packed: PackedColumns, threads: Threads) -> CountingBackend:
    from slfs.counting.numba_backend import NumbaBackend

    return NumbaBackend(packed, threads)


def _numpy(packed: PackedColumns, threads: Threads) -> CountingBackend:
    from slfs.counting.numpy_backend import NumpyBackend

    return NumpyBackend(packed, threads)


_FACTORIES: dict[str, BackendFactory] = {"numba": _numba, "numpy": _numpy}
_current: ContextVar[str] = ContextVar("slfs_backend", default="numba")


def register_backend(name: str, factory: BackendFactory) -> None:
    """Make a backend available to `use_backend` under a name.

    Parameters
    ----------
    name : str
    factory : callable
        Takes the packed columns and the threads, returns a `CountingBackend`.
    """
    _FACTORIES[name] = factory


@contextmanager
def use_backend(name: str) -> Iterator[None]:
    """Count with another backend inside a ``with`` block, in the current thread.

    Parameters
    ----------
    name : str
        "numba" (the default), "numpy" (slow, the reference) or a registered name.
    """
    if name not in _FACTORIES:
        raise ValueError(f"There is no counting backend {name!r}. Available: {', '.join(_FACTORIES)}.")
    token = _current.set(name)
    try:
        yield
    finally:
        _current.reset(token)


def make_backend(packed: PackedColumns, threads: Threads) -> CountingBackend:
    """The backend in use, over some packed columns."""
    return _FACTORIES[_current.get()](packed, threads)
