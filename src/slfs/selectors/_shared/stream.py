"""Base class of online selectors, which process columns in order: a table, or a stream of blocks.

`fit_stream` keeps the packed samples of all candidate columns, so that `extend` gives the same result as
if the new columns had been part of the stream. The result does not depend on how a stream is split.
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

from slfs._core.progress import counting
from slfs._core.resources import Resources
from slfs.base import TrainingData
from slfs.counting.backend import make_backend, use_device
from slfs.counting.planes import SampleLayout
from slfs.counting.store import PlaneStore
from slfs.measures.information import Information
from slfs.screening.facts import ColumnFacts, join_facts
from slfs.screening.pipeline import screen_table
from slfs.screening.plan import ALL_KINDS
from slfs.screening.reasons import Decision, Reason
from slfs.selectors._shared.selection import Selection, below_class
from slfs.selectors.base import BaseSelector
from slfs.tables.registry import is_in_memory, read_table
from slfs.tables.table import ColumnSource, Table, resolve_categorical
from slfs.tables.target import Target
from slfs.tables.weights import SampleWeights, make_layout, make_weights, read_sample_weight


@dataclass
class OnlineSet:
    """State of the methods that maintain a set of selected columns, by packed index.

    Attributes
    ----------
    kept : list
        The selected columns, in order of arrival.
    scores : dict
        Score of each column that was ever selected.
    blankets : dict
        For each redundant column the columns that make it redundant.
    p_values : dict
        For each redundant column the p-value of the test given these, if the method tests.
    dropped : dict of int to Decision
        Why columns were never selected.
    values : dict
        Raw numbers of the selected columns, if the method uses them.
    """

    kept: list[int] = field(default_factory=list)
    scores: dict[int, float] = field(default_factory=dict)
    blankets: dict[int, tuple[int, ...]] = field(default_factory=dict)
    p_values: dict[int, float] = field(default_factory=dict)
    dropped: dict[int, Decision] = field(default_factory=dict)
    values: dict[int, NDArray[np.float64]] = field(default_factory=dict)

    def leave(self, f: int, blanket: tuple[int, ...], p_value: float | None = None) -> None:
        """Remove a column from the set, or do not add it, because ``blanket`` makes it redundant."""
        if f in self.kept:
            self.kept.remove(f)
        self.values.pop(f, None)
        self.blankets[f] = blanket
        if p_value is not None:
            self.p_values[f] = p_value


Numbers = Callable[[int], NDArray[np.float64]]


_MAX_SMALL = 32
"""Number of single blocks after which their facts are joined."""


@dataclass(frozen=True)
class _Arrived:
    """The columns that have arrived so far, and the state of the method.

    The facts are kept in parts: joining them after every block would take quadratic time. The last
    ``n_small`` parts belong to single blocks; they are joined from time to time, because many small
    arrays that stay between large temporary ones fragment the memory.
    """

    parts: list[ColumnFacts]
    n_small: int
    n_columns: int
    store: PlaneStore
    n_packed: int
    n_rows: int
    memory: Any
    target: Target | None = None


class StreamSelector(BaseSelector):
    """Base class of online methods, with a hook for new columns and one for the final selection."""

    _arrived: _Arrived

    @abstractmethod
    def _arrive(
        self, information: Information, columns: NDArray[np.int64], memory: Any, numbers: Numbers
    ) -> Any:
        """Process new packed columns in order, and return the new state.

        ``memory`` is the state returned by the last call, None at first. ``numbers(f)`` returns the raw
        values of a new column.
        """

    def _look_ahead(self, facts: ColumnFacts, memory: Any) -> Any:  # noqa: ARG002
        """Process the facts about all new columns; returns the state that is passed to `_arrive`."""
        return memory

    @abstractmethod
    def _conclude(self, information: Information, memory: Any) -> Selection:
        """Return the selection for the current state."""

    def _check_streamable(self) -> None:
        """Raise an error if the parameters need all columns at once."""
        if not isinstance(self.categorical_features, str):
            raise TypeError(
                "A stream accepts categorical_features='from_dtype' or 'all', not a list of columns. "
                f"Got {self.categorical_features!r} instead. Convert these columns to strings or to a "
                "categorical type."
            )

    def fit_stream(
        self, blocks: Iterable[Any], y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> StreamSelector:
        """Select features from a stream of blocks of columns.

        The packed samples are kept, so that `extend` can add columns later.

        Parameters
        ----------
        blocks : iterable of tables
            Blocks of columns, each with the same samples in the same order, of any type that ``fit``
            accepts. Either all blocks have column names, or none.
        y : array-like of shape (n_samples,)
            Class labels, or numbers; see ``target``.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weight of each row; see `SLFS.fit`.

        Returns
        -------
        self : object
            The fitted selector, with the same result as ``fit`` on all columns at once.
        """
        self._validate_params()
        self._check_streamable()
        if hasattr(blocks, "shape"):
            raise TypeError(
                "blocks is a single table. Pass an iterable of tables, for example [X], or call "
                "fit(X, y)."
            )
        target, weights = self._read_weighted_target(y, sample_weight)
        layout = make_layout(target.codes, len(target.classes), weights, target.values)
        n_rows = len(target.codes)
        with use_device(self.device), Resources(self.n_jobs, self.memory_limit) as resources:
            arrived, names = None, _Names()
            with counting(len(blocks) if isinstance(blocks, Sized) else None) as step:
                for X in blocks:
                    block = X if is_in_memory(X) else read_table(X)
                    names.add(_names_of(block))
                    arrived = self._take_in(block, layout, n_rows, arrived, resources)
                    step()
            if arrived is None:
                raise ValueError("blocks is empty. Pass at least one block of columns.")
            self._set_names(names.joined)
            self._finish(arrived, target, resources, keep=True)
        return self

    def extend(self, block: Any) -> StreamSelector:
        """Add columns to a selector that was fitted with `fit_stream`.

        ``fit`` and loading from a file do not keep the packed samples that this method needs.

        Parameters
        ----------
        block : table of shape (n_samples, n_new_features)
            New columns, for the same samples in the same order.

        Returns
        -------
        self : object
            The fitted selector, with the same result as if the columns had been part of the stream. If
            an error is raised, the selector is unchanged.
        """
        check_is_fitted(self)
        self._check_streamable()
        if not hasattr(self, "_arrived"):
            raise ValueError(
                f"This {type(self).__name__} does not keep the samples that extend needs, because it "
                "was fitted with fit or was loaded from a file. Call fit_stream([X], y) first."
            )
        names, known = _Names(), getattr(self, "feature_names_in_", None)
        names.add(None if known is None else known.tolist())
        block = block if is_in_memory(block) else read_table(block)
        names.add(_names_of(block))
        known_state = self.__dict__.copy()
        try:
            with use_device(self.device), Resources(self.n_jobs, self.memory_limit) as resources:
                before = replace(self._arrived, memory=copy.deepcopy(self._arrived.memory))
                layout, n_rows = before.store.layout, before.n_rows
                arrived = self._take_in(block, layout, n_rows, before, resources)
                self._set_names(names.joined)
                target = self._arrived.target
                assert target is not None  # fit_stream keeps it
                self._finish(arrived, target, resources, keep=True)
        except BaseException:
            self.__dict__ = known_state
            raise
        return self

    def _read_weighted_target(
        self, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[Target, SampleWeights | None]:
        """Read target and weights of a stream, whose number of rows is that of the target."""
        values = None
        if sample_weight is not None:
            values = read_sample_weight(sample_weight, len(y))  # type: ignore[arg-type]
        target = self._read_target(y, values)
        return target, make_weights(values, self.class_weight, target, self.memory_limit)

    def _fit_table(self, data: TrainingData, resources: Resources) -> None:
        arrived = self._take_in_table(data.table, data.layout, data.categorical, None, resources)
        self._finish(arrived, data.target, resources, keep=False)

    def _take_in(
        self,
        block: Any,
        layout: SampleLayout,
        n_rows: int,
        before: _Arrived | None,
        resources: Resources,
    ) -> _Arrived:
        """Read a block, code it, and process its columns."""
        table = read_table(block)
        if table.n_samples != n_rows:
            raise ValueError(
                f"A block of the stream has {table.n_samples} rows, but y has {n_rows} "
                "labels. Every block must have the same samples in the same order."
            )
        categorical = resolve_categorical(self.categorical_features, table, None)
        return self._take_in_table(table, layout, categorical, before, resources)

    def _take_in_table(
        self,
        table: Table,
        layout: SampleLayout,
        categorical: NDArray[np.bool_],
        before: _Arrived | None,
        resources: Resources,
    ) -> _Arrived:
        first, done, memory, store, parts, n_small = 0, 0, None, None, [], 0
        if before is not None:
            first, done, memory = before.n_columns, before.n_packed, before.memory
            # the store may contain more columns, from a copy of this selector or from a call that failed
            store = before.store.start_of(done)
            parts, n_small = before.parts, before.n_small
        facts, store = screen_table(
            table,
            layout,
            categorical,
            resources,
            self._judge(),
            tested=ALL_KINDS,
            forced=self._forced(),
            store=store,
            first=first,
        )
        packed = store.packed()
        n_columns, labels = len(facts.coding), facts.coding.categories
        parts, n_small = [*parts, facts], n_small + 1
        if n_small == _MAX_SMALL:
            parts, n_small = [*parts[:-n_small], join_facts(parts[-n_small:])], 0
        information = Information(make_backend(packed, resources.threads))

        def numbers(f: int) -> NDArray[np.float64]:
            """Return column f as numbers, samples sorted by class; levels for a categorical column."""
            column = int(packed.columns[f]) - first
            if column in labels:
                return information.codes(f).astype(np.float64)
            values: NDArray[np.float64] = table.number_block(np.array([column]), layout.order).dense()[0]
            return values

        memory = self._look_ahead(facts, memory)
        memory = self._arrive(information, np.arange(done, len(packed)), memory, numbers)
        return _Arrived(parts, n_small, first + n_columns, store, len(packed), table.n_samples, memory)

    def _finish(self, arrived: _Arrived, target: Target, resources: Resources, *, keep: bool) -> None:
        """Set the fitted attributes; ``keep`` also keeps the packed samples that `extend` needs."""
        self.n_features_in_ = arrived.n_columns
        facts = join_facts(arrived.parts)
        information = Information(
            make_backend(arrived.store.packed(arrived.n_packed), resources.threads)
        )
        selection = self._conclude(information, arrived.memory)
        self._set_fitted(information, facts, selection, target)
        self.__dict__.pop("_arrived", None)
        if keep:
            self._arrived = replace(arrived, parts=[facts], n_small=0, target=target)

    def _set_names(self, names: list[str] | None) -> None:
        self.__dict__.pop("feature_names_in_", None)
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)


class _Names:
    """Column names of all blocks so far; either all blocks have names, or none."""

    def __init__(self) -> None:
        self.joined: list[str] | None = None
        self._known: set[str] = set()
        self._empty = True

    def add(self, names: list[str] | None) -> None:
        """Add the names of another block; None if it has no names."""
        if not self._empty and (names is None) != (self.joined is None):
            raise ValueError(
                "Some blocks of the stream have column names and others do not. Use blocks with column "
                "names only, or without column names only."
            )
        self._empty = False
        if names is not None:
            repeated = [name for name in names if name in self._known]
            if repeated:
                raise ValueError(
                    f"Column names occur in more than one block of the stream: {repeated[:5]}. Rename "
                    "these columns."
                )
            self._known.update(names)
            self.joined = [] if self.joined is None else self.joined
            self.joined += names


def _names_of(block: Any) -> list[str] | None:
    """Return the column names of a table, if it has names and all are strings."""
    if isinstance(block, ColumnSource):
        return block.names
    if not nw.dependencies.is_into_dataframe(block):
        return None
    names = nw.from_native(block, eager_only=True).columns
    return list(names) if all(isinstance(name, str) for name in names) else None


def conclude_set(memory: OnlineSet, names: NDArray[np.object_], reason: Reason) -> Selection:
    """Return the selection for an online set, with all its columns as children of the class.

    ``names`` are the names of the packed columns; ``reason`` is why columns are removed from the set.
    """
    nodes = np.array(memory.kept, np.int64)
    blankets = {}
    for f, blanket in memory.blankets.items():
        figures: dict[str, Any] = {"given": tuple(str(names[k]) for k in blanket)}
        if f in memory.p_values:
            figures["p_value"] = memory.p_values[f]
        blankets[f] = Decision(reason, figures)
    return Selection(
        nodes,
        below_class(nodes),
        np.array([memory.scores[f] for f in memory.kept]),
        {**memory.dropped, **blankets},
        {f: blanket[0] for f, blanket in memory.blankets.items() if len(blanket) == 1},
        ranked=False,
    )
