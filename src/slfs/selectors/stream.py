"""Selectors that take columns as they come: a whole table, a stream of blocks, or later arrivals.

The planes of all relevant columns are kept, so that a column that comes later meets the same counts as
one that came with the rest. Splitting a stream differently changes nothing.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from slfs._compile import compile_kernels
from slfs._threads import Threads
from slfs.coding.pipeline import ColumnFacts, join_facts
from slfs.counting.planes import PackedColumns, SampleLayout, join_packed
from slfs.estimator import TrainingData
from slfs.information import Information
from slfs.network import ROOT
from slfs.selectors.base import BaseSelector
from slfs.selectors.selection import Selection
from slfs.table import Table, read_table, resolve_categorical
from slfs.target import read_target


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


@dataclass(frozen=True)
class _Arrived:
    """What has come so far, and what the method remembers of it."""

    facts: ColumnFacts
    packed: PackedColumns
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
        with Threads(self.n_jobs) as threads:
            arrived, names = None, []
            for block in blocks:
                names.append(_names_of(block))
                self._set_names(_joined_names(names), 0)
                arrived = self._take_in(block, layout, arrived, threads)
            if arrived is None:
                raise ValueError("blocks is empty: give at least one block of columns.")
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
        known = getattr(self, "feature_names_in_", None)
        names = _joined_names([None if known is None else known.tolist(), _names_of(block)])
        with Threads(self.n_jobs) as threads:
            before = replace(self._arrived, memory=copy.deepcopy(self._arrived.memory))
            arrived = self._take_in(block, before.packed.layout, before, threads)
            self._set_names(names, len(arrived.facts.coding))
            self._finish(arrived, self.classes_, self.network_.class_name, threads)
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
        facts, packed = self._code(table, layout, categorical, threads)
        first, done, memory = 0, 0, None
        if before is not None:
            first, done, memory = len(before.facts.coding), len(before.packed), before.memory
            packed = join_packed([before.packed, packed], [first, len(facts.coding)])
            facts = join_facts([before.facts, facts])
        information = Information(packed, threads)

        def numbers(f: int) -> NDArray[np.float64]:
            """The column f as numbers, samples sorted by class: its levels where it has none."""
            column = int(packed.columns[f])
            if column in facts.coding.categories:
                return information.codes(f).astype(np.float64)
            values: NDArray[np.float64] = table.number_block(
                np.array([column - first]), layout.order
            ).dense()[0]
            return values

        memory = self._arrive(information, np.arange(done, len(packed)), memory, numbers)
        return _Arrived(facts, packed, memory)

    def _finish(
        self, arrived: _Arrived, classes: NDArray[Any], class_name: str, threads: Threads
    ) -> None:
        self.n_features_in_ = len(arrived.facts.coding)
        information = Information(arrived.packed, threads)
        selection = self._conclude(information, arrived.memory)
        self._store(information, arrived.facts, selection, classes, class_name)
        self._arrived = arrived

    def _set_names(self, names: list[str] | None, n_features: int) -> None:
        self.n_features_in_ = n_features
        self.__dict__.pop("feature_names_in_", None)
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)


def _joined_names(parts: list[list[str] | None]) -> list[str] | None:
    """The names of the columns of all blocks, or None if none have any."""
    named = [part for part in parts if part is not None]
    if not named:
        return None
    if len(named) < len(parts):
        raise ValueError(
            "Some blocks of the stream have column names and others have none. Name all columns or none."
        )
    joined = [name for part in named for name in part]
    if len(set(joined)) < len(joined):
        twice = [name for name, count in Counter(joined).items() if count > 1]
        raise ValueError(f"Blocks of the stream share column names: {twice[:5]}. Rename the copies.")
    return joined


def _names_of(block: Any) -> list[str] | None:
    """The column names of a dataframe, if all are strings."""
    if not nw.dependencies.is_into_dataframe(block):
        return None
    names = nw.from_native(block, eager_only=True).columns
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
