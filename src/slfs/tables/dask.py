"""Dask arrays and dataframes -> tables whose columns are worked on where they are.

The rows of a few columns are brought together on a worker, coded, judged and packed there. The client
receives what is known of the columns, and the planes of those worth keeping.
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
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from slfs._core.progress import steps
from slfs.counting.planes import SampleLayout
from slfs.tables.table import (
    ColumnSource,
    FrameTable,
    LabelBlock,
    NumberBlock,
    Rows,
    Table,
    check_size,
    read_table,
)

_TASKS = 256
"""Most tasks to cut a table into, as long as none becomes too large."""

_SHARES = 16
"""Tasks to cut even a small table into, so that several workers have about the same work."""

_ENTRIES = 1 << 22
"""Values of a task: tens of megabytes, whose work outweighs what Dask does for a task."""

_MOST_ENTRIES = 1 << 24
"""Most values of a task where there are many."""


_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""What glibc calls the settings of malloc."""


class Block(Protocol):
    """Consecutive columns of one kind."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def columns(self) -> NDArray[np.int64]:
        """Their places in the table."""


SomeBlock = TypeVar("SomeBlock", bound=Block)
Result = TypeVar("Result")


def read_dask(X: Any, min_samples: int) -> Table:
    """Recognise a collection of Dask's and check it.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame of shape (n_samples, n_features)
    min_samples : int
        With fewer rows a ValueError is raised.

    Returns
    -------
    table : DaskTable
        It has names where all columns are named by strings.
    """
    kind = type(X).__module__.split(".")[1], type(X).__name__
    try:
        import dask
        import dask.array
    except ImportError as error:
        raise ImportError("Dask arrays and dataframes need dask: pip install 'slfs[dask]'") from error
    if kind == ("array", "Array"):
        if isinstance(X._meta, np.ma.MaskedArray):
            raise TypeError(
                "X is a masked array of Dask's. Give dask.array.ma.filled(X, float('nan')) instead."
            )
        return DaskArrayTable(X, min_samples)
    if kind == ("dataframe", "DataFrame"):
        named = all(isinstance(name, str) for name in X.columns)
        return (NamedDaskTable if named else DaskFrameTable)(X, min_samples)
    raise TypeError(
        f"X is a {type(X).__name__} of dask {dask.__version__}. Give a dask.array.Array of two "
        "dimensions or a dask.dataframe.DataFrame."
    )


class DaskTable(ABC):
    """A table that workers hold in pieces. Which scheduler computes is Dask's own matter.

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
    def take(self, columns: NDArray[np.int64]) -> Any:
        """Some columns in memory: an array or a dataframe."""

    @abstractmethod
    def _widths(self) -> list[int]:
        """Columns of each task, from the left."""

    @abstractmethod
    def _parts(self, groups: list[NDArray[np.int64]]) -> list[Any]:
        """All rows of each group of columns, delayed."""

    def number_block(self, columns: NDArray[np.int64], order: Rows) -> NumberBlock:
        """Columns as numbers, samples in the given order."""
        return read_table(self.take(columns)).number_block(np.arange(len(columns)), order)

    def label_block(self, column: int, order: Rows) -> LabelBlock:
        """One column as Python values, samples in the given order."""
        return _Part(self.take(np.array([column])), column).label_block(column, order)

    def map_blocks(
        self, work: Callable[[Table, SomeBlock], Result], blocks: Sequence[SomeBlock]
    ) -> Iterator[Result]:
        """Do the work on each block of columns, where the columns are.

        Parameters
        ----------
        work : callable
            Takes a table that has the columns of the block, at the same places as this one. It is sent
            once, estimators in it without what they have learned.
        blocks : sequence of Block
            All columns of the table, in order. A block that two tasks share is cut in two.

        Yields
        ------
        result
            One for each block, or piece of it, in the order of the columns.
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

    def _look_at_objects(self, columns: NDArray[np.int64]) -> None:
        """Columns of Python objects are numbers or labels by their values."""
        import dask

        if len(columns) == 0:
            return
        groups = np.array_split(columns, min(len(columns), _TASKS))
        look = dask.delayed(_kinds, pure=False)
        kinds = dask.compute(*[look(part) for part in self._parts(groups)])
        self.numbers[columns] = np.concatenate([numbers for numbers, _ in kinds])
        self.categorical[columns] = np.concatenate([categorical for _, categorical in kinds])


class DaskArrayTable(DaskTable):
    """A Dask array of numbers, booleans, strings or Python objects, in chunks of any shape."""

    def __init__(self, array: Any, min_samples: int) -> None:
        if not isinstance(array._meta, np.ndarray):
            raise TypeError(
                f"X is a Dask array whose chunks are of type {type(array._meta).__name__}; expected "
                "NumPy arrays. Convert the chunks with X.map_blocks."
            )
        if np.isnan(array.shape).any():
            array = array.copy()  # the user's own is left as it is
            array.compute_chunk_sizes()
        objects = array.dtype.kind not in "biufcmM"
        dtype = np.dtype(float) if objects else array.dtype
        alike = read_table(np.broadcast_to(np.zeros((), dtype), array.shape), min_samples=min_samples)
        self._array = array
        self.n_samples, self.n_features = alike.n_samples, alike.n_features
        self.numbers, self.categorical = alike.numbers, alike.categorical
        if objects:
            self._look_at_objects(np.arange(self.n_features))

    def take(self, columns: NDArray[np.int64]) -> NDArray[Any]:
        """Some columns as a NumPy array."""
        values: NDArray[Any] = self._array[:, columns].compute()
        return values

    def _widths(self) -> list[int]:
        """The chunks as they are; very narrow ones are put together, very wide ones cut."""
        least, most = _task_widths(self.n_samples, self.n_features)
        widths = [0]
        for chunk in self._array.chunks[1]:
            if widths[-1] + chunk <= least:
                widths[-1] += chunk
            else:
                pieces = max(1, round(chunk / most))
                widths += [(chunk + piece) // pieces for piece in range(pieces)]
        return [width for width in widths if width]

    def _parts(self, groups: list[NDArray[np.int64]]) -> list[Any]:
        widths = tuple(len(group) for group in groups)
        whole = self._array.rechunk({0: (self.n_samples,), 1: widths}, method="tasks")
        return list(whole.to_delayed().ravel())


class DaskFrameTable(DaskTable):
    """A Dask dataframe, in partitions of known or unknown lengths."""

    def __init__(self, frame: Any, min_samples: int) -> None:
        from dask.dataframe.dispatch import meta_nonempty

        alike = read_table(meta_nonempty(frame._meta))
        self._frame = frame
        self.n_samples, self.n_features = len(frame), alike.n_features
        check_size((self.n_samples, self.n_features), min_samples)
        self.numbers, self.categorical = alike.numbers, alike.categorical
        objects = [isinstance(dtype, np.dtype) and dtype.kind == "O" for dtype in frame.dtypes]
        self._look_at_objects(np.flatnonzero(objects))

    def take(self, columns: NDArray[np.int64]) -> Any:
        """Some columns as a pandas DataFrame."""
        return self._frame[list(self._frame.columns[columns])].compute()

    def _widths(self) -> list[int]:
        _, width = _task_widths(self.n_samples, self.n_features)
        return [min(width, self.n_features - first) for first in range(0, self.n_features, width)]

    def _parts(self, groups: list[NDArray[np.int64]]) -> list[Any]:
        import dask

        partitions = self._frame.to_delayed()
        pick, join = dask.delayed(_pick, pure=False), dask.delayed(_join, pure=False)
        wanted = [_pickled(group) for group in groups]
        return [join([pick(partition, columns) for partition in partitions]) for columns in wanted]


class NamedDaskTable(DaskFrameTable, ColumnSource):
    """A Dask dataframe whose columns have strings for names."""

    def __init__(self, frame: Any, min_samples: int) -> None:
        super().__init__(frame, min_samples)
        self.names = list(frame.columns)


class _Part:
    """Some columns of a table, in memory, at the places that they have in the whole one."""

    def __init__(self, part: Any, first: int) -> None:
        self._table, self._first = read_table(part), first
        self.n_samples = self._table.n_samples
        self.n_features = first + self._table.n_features
        before = np.zeros(first, bool)
        self.numbers = np.concatenate([before, self._table.numbers])
        self.categorical = np.concatenate([before, self._table.categorical])

    def number_block(self, columns: NDArray[np.int64], order: Rows) -> NumberBlock:
        return self._table.number_block(columns - self._first, order)

    def label_block(self, column: int, order: Rows) -> LabelBlock:
        block = self._table.label_block(column - self._first, order)
        return block if isinstance(self._table, FrameTable) else replace(block, name=column)


def _task_widths(n_samples: int, n_features: int) -> tuple[int, int]:
    """The least and the most columns that a task should have."""
    narrow = -(-n_features // _TASKS)
    width = max(narrow, min(_ENTRIES // n_samples, -(-n_features // _SHARES)))
    most = max(1, min(width, _MOST_ENTRIES // n_samples))
    return min(narrow, most), most


def _cut(blocks: Sequence[SomeBlock], bounds: NDArray[np.int64]) -> list[list[SomeBlock]]:
    """Share the blocks out to tasks; those that go over a bound are cut there."""
    groups: list[list[SomeBlock]] = [[] for _ in bounds[1:]]
    for block in blocks:
        first = np.searchsorted(bounds, block.columns[0], side="right") - 1
        inside = bounds[(bounds > block.columns[0]) & (bounds <= block.columns[-1])]
        pieces = np.split(block.columns, inside - block.columns[0])
        for task, columns in enumerate(pieces, first):
            groups[task].append(replace(block, columns=columns))
    return groups


def _pickled(thing: Any) -> bytes:
    """Anything as bytes, functions among it, in what is enough to make it again.

    The order of the samples is sent as their classes, consecutive columns as two numbers.
    """
    import cloudpickle

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]
        def reducer_override(self, part: Any) -> Any:
            if isinstance(part, SampleLayout):
                return _laid_out, (_class_codes(part), part.n_classes)
            if isinstance(part, np.ndarray) and _consecutive(part):
                return np.arange, (int(part[0]), int(part[-1]) + 1)
            return super().reducer_override(part)

    stream = io.BytesIO()
    Pickler(stream).dump(thing)
    return stream.getvalue()


def _class_codes(layout: SampleLayout) -> NDArray[Any]:
    codes = np.empty(layout.n_samples, np.min_scalar_type(layout.n_classes))
    codes[layout.order] = layout.labels
    return codes


def _laid_out(class_codes: NDArray[Any], n_classes: int) -> SampleLayout:
    return SampleLayout.from_class_codes(class_codes.astype(np.int64), n_classes)


def _consecutive(array: NDArray[Any]) -> bool:
    plain = array.ndim == 1 and array.dtype == np.int64 and len(array) > 0
    return plain and bool((np.diff(array) == 1).all())


@functools.lru_cache(maxsize=2)
def _unpickled(work: bytes) -> Callable[..., Any]:
    """Read a function once on each worker, not with every task."""
    function: Callable[..., Any] = pickle.loads(work)
    return function


def _run(work: bytes, part: Any, blocks: bytes) -> bytes:
    """Work on the blocks of one part: this runs on a worker.

    The results go back compressed: most of what is known of most columns is the same.
    """
    function, own = _unpickled(work), pickle.loads(blocks)
    _keep_freed_memory()
    table = _Part(part, int(own[0].columns[0]))
    return zlib.compress(pickle.dumps([function(table, block) for block in own]), level=1)


@functools.cache
def _keep_freed_memory() -> None:
    """Let malloc keep some of what a block frees for the next one.

    Dask tells its workers (MALLOC_TRIM_THRESHOLD_) to give memory back at once, which makes the system
    clear the same pages again for every block: half as much time again. Only glibc is told so.
    """
    if sys.platform.startswith("linux"):
        library = ctypes.CDLL(None)
        if hasattr(library, "mallopt"):
            library.mallopt(_TRIM_THRESHOLD, 64 << 20)
            library.mallopt(_MMAP_THRESHOLD, 32 << 20)


def _received(packed: bytes) -> list[Any]:
    """What a worker has sent."""
    results: list[Any] = pickle.loads(zlib.decompress(packed))
    return results


def _computed(tasks: list[Any]) -> Iterator[Any]:
    """Compute delayed tasks, by the scheduler that Dask would take; results in order."""
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


def _pick(partition: Any, columns: bytes) -> Any:
    return partition.iloc[:, pickle.loads(columns)]


def _join(partitions: list[Any]) -> Any:
    """Put the rows of partitions one after another; categories that differ are united."""
    from dask.dataframe.dispatch import concat

    return concat(partitions) if len(partitions) > 1 else partitions[0]
