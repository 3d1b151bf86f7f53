"""Base of all Dask tables: blocks of columns are processed on the workers that store them.

A worker brings the rows of some columns together, then codes, screens and packs them. The client
receives the facts about all columns, and the bit planes of the candidate columns. The tables themselves
are in `dask_array.py` and `dask_frame.py`.
"""

from __future__ import annotations

import ctypes
import functools
import io
import itertools
import pickle
import sys
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar, NoReturn, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from slfs._core.progress import steps
from slfs.counting.planes import SampleLayout
from slfs.tables.frames import FrameTable, PandasTable
from slfs.tables.registry import read_table
from slfs.tables.table import Columns, LabelBlock, NumberBlock, Order, Table

_TASKS = 256
"""Maximum number of tasks per table, as long as no task becomes too large."""

_SHARES = 16
"""Number of tasks even for a small table, so that several workers get about the same work."""

_ENTRIES = 1 << 22
"""Values per task: tens of megabytes, so that the work outweighs Dask's overhead per task."""

_MOST_ENTRIES = 1 << 24
"""Maximum number of values per task."""

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""Numbers of the settings in glibc's mallopt."""


class Block(Protocol):
    """Consecutive columns of one kind."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def columns(self) -> NDArray[np.int64]:
        """Their indices in the table."""


SomeBlock = TypeVar("SomeBlock", bound=Block)
Result = TypeVar("Result")


def refuse(X: Any) -> NoReturn:
    """Raise an error for a Dask collection that is not a table."""
    raise TypeError(
        f"X is a Dask {type(X).__name__}; expected a dask.array.Array of two dimensions or a "
        "dask.dataframe.DataFrame."
    )


def import_dask() -> Any:
    """Import Dask, or raise an error that explains how to install it."""
    try:
        import dask
        import dask.array
    except ImportError as error:
        raise ImportError("Dask arrays and dataframes need dask: pip install 'slfs[dask]'") from error
    return dask


class DaskTable(ABC):
    """A table in pieces on Dask workers, computed by whichever scheduler Dask is configured to use.

    Attributes
    ----------
    n_samples, n_features, numbers, categorical
        As in `Table`.
    """

    n_samples: int
    n_features: int
    numbers: NDArray[np.bool_]
    categorical: NDArray[np.bool_]

    @abstractmethod
    def take(self, columns: Columns) -> Any:
        """Compute some columns: an array or a dataframe in memory."""

    @abstractmethod
    def _widths(self) -> list[int]:
        """Return the number of columns of each task, from left to right."""

    @abstractmethod
    def _parts(self, groups: list[Columns]) -> list[Any]:
        """Return all rows of each group of columns, delayed."""

    def number_block(self, columns: Columns, order: Order) -> NumberBlock:
        """Return columns as numbers."""
        return read_table(self.take(columns)).number_block(np.arange(len(columns)), order)

    def label_block(self, column: int, order: Order) -> LabelBlock:
        """Return one column as Python values."""
        return _Part(self.take(np.array([column])), column).label_block(column, order)

    def map_blocks(
        self, work: Callable[[Table, SomeBlock], Result], blocks: Sequence[SomeBlock]
    ) -> Iterator[Result]:
        """Call a function for each block of columns on the workers that hold them.

        Parameters
        ----------
        work : callable
            Takes a table that has the columns of the block, with the same indices as in this one, and
            the block. It is pickled and sent once.
        blocks : sequence of Block
            All columns of the table, in order. A block that belongs to two tasks is split.

        Yields
        ------
        result
            One per block, or part of a block, in the order of the columns.
        """
        import dask

        bounds = np.cumsum([0, *self._widths()])
        groups = _cut(blocks, bounds)
        parts = self._parts([np.arange(*pair) for pair in itertools.pairwise(bounds)])
        sent = dask.delayed(_pickled(work))
        run = dask.delayed(_run, pure=False)
        tasks = [run(sent, part, _pickled(group)) for part, group in zip(parts, groups, strict=True)]
        for packed in _computed(tasks):
            yield from _received(packed)

    def _inspect_objects(self, columns: Columns) -> None:
        """Determine from the values which columns of Python objects contain numbers."""
        import dask

        if len(columns) == 0:
            return
        groups = np.array_split(columns, min(len(columns), _TASKS))
        inspect = dask.delayed(_kinds, pure=False)
        kinds = dask.compute(*[inspect(part) for part in self._parts(groups)])
        self.numbers[columns] = np.concatenate([numbers for numbers, _ in kinds])
        self.categorical[columns] = np.concatenate([categorical for _, categorical in kinds])


class _Part:
    """Some columns of a table, in memory, with the indices that they have in the whole table."""

    def __init__(self, part: Any, first: int) -> None:
        self._table, self._first = read_table(part), first
        self.n_samples = self._table.n_samples
        self.n_features = first + self._table.n_features
        before = np.zeros(first, bool)
        self.numbers = np.concatenate([before, self._table.numbers])
        self.categorical = np.concatenate([before, self._table.categorical])

    def number_block(self, columns: Columns, order: Order) -> NumberBlock:
        return self._table.number_block(columns - self._first, order)

    def label_block(self, column: int, order: Order) -> LabelBlock:
        block = self._table.label_block(column - self._first, order)
        return (
            block if isinstance(self._table, FrameTable | PandasTable) else replace(block, name=column)
        )


def task_widths(n_samples: int, n_features: int) -> tuple[int, int]:
    """Return the minimum and the maximum number of columns that a task should have."""
    narrow = -(-n_features // _TASKS)
    width = max(narrow, min(_ENTRIES // n_samples, -(-n_features // _SHARES)))
    most = max(1, min(width, _MOST_ENTRIES // n_samples))
    return min(narrow, most), most


def _cut(blocks: Sequence[SomeBlock], bounds: NDArray[np.int64]) -> list[list[SomeBlock]]:
    """Assign the blocks to tasks; a block that crosses a bound is split there."""
    groups: list[list[SomeBlock]] = [[] for _ in bounds[1:]]
    for block in blocks:
        first = np.searchsorted(bounds, block.columns[0], side="right") - 1
        inside = bounds[(bounds > block.columns[0]) & (bounds <= block.columns[-1])]
        pieces = np.split(block.columns, inside - block.columns[0])
        for task, columns in enumerate(pieces, first):
            groups[task].append(replace(block, columns=columns))
    return groups


def _pickled(thing: Any) -> bytes:
    """Pickle an object, including functions, in few bytes.

    The order of the samples is sent as their classes, consecutive columns as two numbers.
    """
    import cloudpickle

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]
        def reducer_override(self, part: Any) -> Any:
            if isinstance(part, SampleLayout):
                return _laid_out, _described(part)
            if isinstance(part, np.ndarray) and _consecutive(part):
                return np.arange, (int(part[0]), int(part[-1]) + 1)
            return super().reducer_override(part)

    stream = io.BytesIO()
    Pickler(stream).dump(thing)
    return stream.getvalue()


def _described(layout: SampleLayout) -> tuple[Any, ...]:
    """Return the arguments of `_laid_out` for a layout."""
    counts = layout.counts
    n_rows = layout.n_samples if counts is None else len(counts)
    codes = np.zeros(n_rows, np.min_scalar_type(layout.n_classes))
    codes[layout.order] = layout.labels
    if counts is not None:
        counts = counts.astype(np.min_scalar_type(int(counts.max())))
    return codes, layout.n_classes, counts, layout.unit, layout.tested, layout.target_ranks


def _laid_out(
    class_codes: NDArray[Any],
    n_classes: int,
    counts: NDArray[Any] | None,
    unit: float,
    tested: SampleLayout | None,
    target_ranks: NDArray[np.int64] | None,
) -> SampleLayout:
    counts = None if counts is None else counts.astype(np.int64)
    layout = SampleLayout.from_class_codes(class_codes.astype(np.int64), n_classes, counts)
    return replace(layout, unit=unit, tested=tested, target_ranks=target_ranks)


def _consecutive(array: NDArray[Any]) -> bool:
    plain = array.ndim == 1 and array.dtype == np.int64 and len(array) > 0
    return plain and bool((np.diff(array) == 1).all())


@functools.lru_cache(maxsize=2)
def _unpickled(work: bytes) -> Callable[..., Any]:
    """Unpickle a function once per worker, not once per task."""
    function: Callable[..., Any] = pickle.loads(work)
    return function


def _run(work: bytes, part: Any, blocks: bytes) -> bytes:
    """Work on the blocks of one part; this runs on a worker.

    The results are sent back compressed, since most columns have much in common.
    """
    function, own = _unpickled(work), pickle.loads(blocks)
    _keep_freed_memory()
    table = _Part(part, int(own[0].columns[0]))
    return zlib.compress(pickle.dumps([function(table, block) for block in own]), level=1)


@functools.cache
def _keep_freed_memory() -> None:
    """Let malloc keep some of the memory that a block frees for the next block.

    Dask sets MALLOC_TRIM_THRESHOLD_ for its workers, so that they return memory at once, and the system
    clears the same pages again for every block. That takes half as much time again. Only glibc has these
    settings.
    """
    if sys.platform.startswith("linux"):
        library = ctypes.CDLL(None)
        if hasattr(library, "mallopt"):
            library.mallopt(_TRIM_THRESHOLD, 64 << 20)
            library.mallopt(_MMAP_THRESHOLD, 32 << 20)


def _received(packed: bytes) -> list[Any]:
    """Unpack the results that a worker has sent."""
    results: list[Any] = pickle.loads(zlib.decompress(packed))
    return results


def _computed(tasks: list[Any]) -> Iterator[Any]:
    """Compute delayed tasks with the configured scheduler and yield the results in order."""
    import dask
    from dask.callbacks import Callback

    client = getattr(dask.base.get_scheduler(collections=tasks), "__self__", None)
    step = steps(len(tasks))
    if client is None:
        keys = {task.key for task in tasks}
        with Callback(posttask=lambda key, *_: step() if key in keys else None):
            results = dask.compute(*tasks)
        yield from results
        return
    futures = client.compute(tasks)
    try:
        for future in futures:
            yield future.result()
            step()
    finally:
        client.cancel(futures)


def _kinds(part: Any) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    table = read_table(part)
    return table.numbers, table.categorical
