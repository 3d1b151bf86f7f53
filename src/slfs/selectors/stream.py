"""Selectors that take columns as they come: a whole table, a stream of blocks, or later arrivals.

The planes of all relevant columns are kept, so that a column that comes later meets the same counts as
one that came with the rest. Splitting a stream differently changes nothing.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sized
from dataclasses import dataclass, field, replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from slfs._core.compile import compile_kernels
from slfs._core.progress import counting
from slfs._core.threads import Threads
from slfs.base import TrainingData
from slfs.counting.planes import SampleLayout
from slfs.counting.store import PlaneStore
from slfs.measures.information import Information
from slfs.network.tree import ROOT
from slfs.screening.pipeline import ColumnFacts, join_facts
from slfs.selectors.base import BaseSelector
from slfs.selectors.selection import Selection
from slfs.tables.registry import read_table
from slfs.tables.table import ColumnSource, Table, resolve_categorical
from slfs.tables.target import read_target
from slfs.tables.values import is_dask


@dataclass
class OnlineSet:
    """The memory of the methods that keep a set, in packed columns.

    Attributes
    ----------
    kept : list
        The set, in the order of arrival.
    scores : dict
        What each column that was ever in it scored.
    blankets : dict
        For each redundant column those that made it so.
    irrelevant : dict
        Columns that never joined, and why.
    values : dict
        Raw numbers of the columns in the set, where the method looks at these.
    """

    kept: list[int] = field(default_factory=list)
    scores: dict[int, float] = field(default_factory=dict)
    blankets: dict[int, tuple[int, ...]] = field(default_factory=dict)
    irrelevant: dict[int, str] = field(default_factory=dict)
    values: dict[int, NDArray[np.float64]] = field(default_factory=dict)

    def leave(self, f: int, blanket: tuple[int, ...]) -> None:
        """Take a column out of the set, or do not let it in, because of some others."""
        if f in self.kept:
            self.kept.remove(f)
        self.values.pop(f, None)
        self.blankets[f] = blanket


Numbers = Callable[[int], NDArray[np.float64]]


_MOST_SMALL = 32


@dataclass(frozen=True)
class _Arrived:
    """What has come so far, and what the method remembers of it.

    The facts stay in parts: joining them for each block would take time that grows with the square of
    the stream. The last ``n_small`` parts are those of single blocks; before they become many they are
    joined, since small arrays that stay between large ones that go leave holes in the memory.
    """

    parts: list[ColumnFacts]
    n_small: int
    n_columns: int
    store: PlaneStore
    n_packed: int
    memory: Any


class StreamSelector(BaseSelector):
    """Base of the online methods: one hook for the columns that arrive, one for what they leave."""

    _arrived: _Arrived

    @abstractmethod
    def _arrive(
        self, information: Information, columns: NDArray[np.int64], memory: Any, numbers: Numbers
    ) -> Any:
        """Take in packed columns in order.

        ``memory`` is what the last call returned, None at first. ``numbers(f)`` gives the raw values of
        an arriving column.
        """

    def _look_ahead(self, facts: ColumnFacts, memory: Any) -> Any:  # noqa: ARG002
        """Take in what is known of each arriving column alone: the memory that `_arrive` is given."""
        return memory

    @abstractmethod
    def _conclude(self, information: Information, memory: Any) -> Selection:
        """Say what is selected now."""

    def _check_streamable(self) -> None:
        """Raise an error if the parameters need all columns at once."""
        if not isinstance(self.categorical_features, str):
            raise TypeError(
                "A stream takes categorical_features='from_dtype' or 'all', not a list of columns "
                f"({self.categorical_features!r}). Give such columns a string or categorical type."
            )

    def fit_stream(self, blocks: Iterable[Any], y: ArrayLike) -> StreamSelector:
        """Select from blocks of columns as they arrive.

        Parameters
        ----------
        blocks : iterable of tables
            Each with the same samples in the same order, of any kind that ``fit`` takes; all with
            column names, or none.
        y : array-like of shape (n_samples,)
            Class labels.

        Returns
        -------
        self : object
            The same as ``fit`` on all columns at once.
        """
        self._validate_params()
        self._check_streamable()
        if hasattr(blocks, "shape"):
            raise TypeError(
                "blocks is one table. Give an iterable of tables, for example [X], or call fit(X, y)."
            )
        compile_kernels()
        target = read_target(y)
        layout = SampleLayout.from_class_codes(target.codes, len(target.classes))
        with Threads(self.n_jobs, self.memory_limit) as threads:
            arrived, names = None, _Names()
            with counting(len(blocks) if isinstance(blocks, Sized) else None) as step:
                for block in blocks:
                    names.add(_names_of(block))
                    arrived = self._take_in(block, layout, arrived, threads)
                    step()
            if arrived is None:
                raise ValueError("blocks is empty: give at least one block of columns.")
            self._set_names(names.joined)
            self._finish(arrived, target.classes, target.name, threads)
        return self

    def extend(self, block: Any) -> StreamSelector:
        """Take in columns that came later, for the same samples in the same order.

        Parameters
        ----------
        block : table of shape (n_samples, n_new_features)

        Returns
        -------
        self : object
            The same as if the columns had come with the others. If an error is raised, nothing has
            changed.
        """
        check_is_fitted(self)
        self._check_streamable()
        names, known = _Names(), getattr(self, "feature_names_in_", None)
        names.add(None if known is None else known.tolist())
        names.add(_names_of(block))
        known_state = self.__dict__.copy()
        try:
            with Threads(self.n_jobs, self.memory_limit) as threads:
                before = replace(self._arrived, memory=copy.deepcopy(self._arrived.memory))
                arrived = self._take_in(block, before.store.layout, before, threads)
                self._set_names(names.joined)
                self._finish(arrived, self.classes_, self.network_.class_name, threads)
        except BaseException:
            self.__dict__ = known_state
            raise
        return self

    def _fit_table(self, data: TrainingData, threads: Threads) -> None:
        arrived = self._take_in_table(data.table, data.layout, data.categorical, None, threads)
        self._finish(arrived, data.target.classes, data.target.name, threads)

    def _take_in(
        self, block: Any, layout: SampleLayout, before: _Arrived | None, threads: Threads
    ) -> _Arrived:
        """Read a block, code it, and let its columns arrive."""
        table = read_table(block)
        if table.n_samples != layout.n_samples:
            raise ValueError(
                f"A block of the stream has {table.n_samples} rows, but y has {layout.n_samples} "
                "labels. Every block must have the same samples in the same order."
            )
        categorical = resolve_categorical(self.categorical_features, table, None)
        return self._take_in_table(table, layout, categorical, before, threads)

    def _take_in_table(
        self,
        table: Table,
        layout: SampleLayout,
        categorical: NDArray[np.bool_],
        before: _Arrived | None,
        threads: Threads,
    ) -> _Arrived:
        first, done, memory, store, parts, n_small = 0, 0, None, None, [], 0
        if before is not None:
            first, done, memory = before.n_columns, before.n_packed, before.memory
            store = before.store.start_of(done)  # a copy of us, or a call that failed, may have gone on
            parts, n_small = before.parts, before.n_small
        facts, store = self._code(table, layout, categorical, threads, None, store, first)
        packed = store.packed()
        n_columns, labels = len(facts.coding), facts.coding.categories
        parts, n_small = [*parts, facts], n_small + 1
        if n_small == _MOST_SMALL:
            parts, n_small = [*parts[:-n_small], join_facts(parts[-n_small:])], 0
        information = Information(packed, threads)

        def numbers(f: int) -> NDArray[np.float64]:
            """The column f as numbers, samples sorted by class: its levels where it has none."""
            column = int(packed.columns[f]) - first
            if column in labels:
                return information.codes(f).astype(np.float64)
            values: NDArray[np.float64] = table.number_block(np.array([column]), layout.order).dense()[0]
            return values

        memory = self._look_ahead(facts, memory)
        memory = self._arrive(information, np.arange(done, len(packed)), memory, numbers)
        return _Arrived(parts, n_small, first + n_columns, store, len(packed), memory)

    def _finish(
        self, arrived: _Arrived, classes: NDArray[Any], class_name: str, threads: Threads
    ) -> None:
        self.n_features_in_ = arrived.n_columns
        facts = join_facts(arrived.parts)
        information = Information(arrived.store.packed(arrived.n_packed), threads)
        selection = self._conclude(information, arrived.memory)
        self._store(information, facts, selection, classes, class_name)
        self._arrived = replace(arrived, parts=[facts], n_small=0)

    def _set_names(self, names: list[str] | None) -> None:
        self.__dict__.pop("feature_names_in_", None)
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)


class _Names:
    """The names of the columns of all blocks so far: of all of them, or of none."""

    def __init__(self) -> None:
        self.joined: list[str] | None = None
        self._known: set[str] = set()
        self._empty = True

    def add(self, names: list[str] | None) -> None:
        """Take in the names of one more block, None where it has none."""
        if not self._empty and (names is None) != (self.joined is None):
            raise ValueError(
                "Some blocks of the stream have column names and others have none. Name all columns or "
                "none."
            )
        self._empty = False
        if names is not None:
            twice = [name for name in names if name in self._known]
            if twice:
                raise ValueError(
                    f"Blocks of the stream share column names: {twice[:5]}. Rename the copies."
                )
            self._known.update(names)
            self.joined = [] if self.joined is None else self.joined
            self.joined += names


def _names_of(block: Any) -> list[str] | None:
    """The column names of a table that has some, if all are strings."""
    if isinstance(block, ColumnSource):
        return block.names
    if is_dask(block):
        names = getattr(block, "columns", [None])
    elif nw.dependencies.is_into_dataframe(block):
        names = nw.from_native(block, eager_only=True).columns
    else:
        return None
    return list(names) if all(isinstance(name, str) for name in names) else None


def conclude_set(memory: OnlineSet, names: NDArray[np.object_], reason: str) -> Selection:
    """The selection that an online set stands for: its columns below the class.

    ``names`` are those of the packed columns, ``reason`` says why a column leaves, before the names of
    those that made it so.
    """
    nodes = np.array(memory.kept, np.int64)
    return Selection(
        nodes,
        np.full(len(nodes), ROOT),
        {f: blanket[0] for f, blanket in memory.blankets.items() if len(blanket) == 1},
        memory.irrelevant,
        {
            f: f"{reason} {' and '.join(repr(str(names[k])) for k in blanket)}"
            for f, blanket in memory.blankets.items()
        },
        scores=np.array([memory.scores[f] for f in memory.kept]),
    )
