"""A table and its classes -> the pairs of columns that tell more about the class together than alone."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from slfs._compat import Interval, StrOptions, validate_params
from slfs._core.interface import parameter
from slfs._core.progress import progress_callback
from slfs._core.resources import Resources
from slfs._core.warn import warn
from slfs.base import TrainingData
from slfs.counting.backend import DEVICES, CountingBackend, make_backend, use_device
from slfs.measures.false_discovery import leading_q_values
from slfs.measures.information import Information
from slfs.screening.blind import describe_few, pack_table_few
from slfs.screening.few_levels import least_samples
from slfs.screening.pair_levels import retest_pairs
from slfs.screening.pairs import rectangles, scan_pairs
from slfs.selectors.slfs import SLFS
from slfs.tables.choice import resolve_columns

if TYPE_CHECKING:
    import pandas as pd

Ints = NDArray[np.int64]

_NAMED = 5
"""Maximum number of columns in a warning."""

_FIELDS = np.dtype(
    [
        ("first", object),
        ("second", object),
        ("first_index", int),
        ("second_index", int),
        *((name, float) for name in ("synergy", "joint_information", "first_relevance")),
        *((name, float) for name in ("second_relevance", "statistic")),
        ("degrees_of_freedom", int),
        ("p_value", float),
        ("q_value", float),
    ]
)


@dataclass(frozen=True)
class PairTable:
    """Counts of the joint levels of a pair and the classes.

    Attributes
    ----------
    first, second : str
        Names of the columns.
    first_levels, second_levels : list of str
        Names of their levels.
    counts : ndarray of shape (n_first_levels, n_second_levels, n_classes)
        Number of samples.
    """

    first: str
    second: str
    first_levels: list[str]
    second_levels: list[str]
    counts: Ints


@dataclass(frozen=True, repr=False)
class Interactions:
    """Result of `interactions`.

    Attributes
    ----------
    pairs : recarray
        The pairs in order of their p-values: the best ones and all that are significant. ``first`` and
        ``second`` are the names of the columns, ``first_index`` and ``second_index`` their indices;
        ``synergy`` is I(f,k;Y) - I(f;Y) - I(k;Y) in nats, ``joint_information`` I(f,k;Y),
        ``first_relevance`` I(f;Y) and ``second_relevance`` I(k;Y), all of the levels that are tested;
        ``statistic`` and ``degrees_of_freedom`` are those of the test, ``p_value`` its p-value and
        ``q_value`` the same corrected for the number of all pairs.
    tables : list of PairTable
        Counts of the best ``n_top`` pairs.
    n_tested : int
        Number of pairs that were tested.
    n_significant : int
        Number of pairs with a q-value of at most ``fdr``; they are the first ones of ``pairs``.
    fdr : float
        The false discovery rate.
    classes : ndarray
        The classes, or the names of the bins of a continuous target.
    untested : list of str
        Names of columns that cannot be tested in pairs: one level is left when rare ones are pooled.
    """

    pairs: np.recarray[Any, Any]
    tables: list[PairTable]
    n_tested: int
    n_significant: int
    fdr: float
    classes: NDArray[Any]
    untested: list[str]

    def to_frame(self) -> pd.DataFrame:
        """Return the pairs as a pandas DataFrame.

        Returns
        -------
        frame : DataFrame
            One row per pair.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_frame needs pandas: pip install 'slfs[cli]'") from error
        return pd.DataFrame.from_records(self.pairs)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as lists, numbers and text, for JSON.

        Returns
        -------
        result : dict
            The attributes; ``pairs`` is a list of dictionaries.
        """
        names = _FIELDS.names or ()
        return {
            "n_tested": self.n_tested,
            "untested": self.untested,
            "n_significant": self.n_significant,
            "fdr": self.fdr,
            "classes": [str(label) for label in self.classes],
            "pairs": [dict(zip(names, row, strict=True)) for row in self.pairs.tolist()],
            "tables": [{**vars(table), "counts": table.counts.tolist()} for table in self.tables],
        }

    def __repr__(self) -> str:
        are = "is" if self.n_significant == 1 else "are"
        found = f"{self.n_significant} of {self.n_tested} pairs {are} significant"
        lines = [f"{found} (false discovery rate {self.fdr:g})"]
        shown = self.pairs[: max(len(self.tables), 1)]
        if len(shown):
            names = [f"{row.first} x {row.second}" for row in shown]
            width = max(map(len, names))
            lines.append(f"{'':{width}}  synergy  joint inf.    p-value    q-value")
            lines += [
                f"{name:{width}}  {row.synergy:7.4f}  {row.joint_information:10.4f}"
                f"  {row.p_value:9.2g}  {row.q_value:9.2g}"
                for name, row in zip(names, shown, strict=True)
            ]
        return "\n".join(lines)


@validate_params(
    {
        "n_top": [Interval(Integral, 0, None, closed="left")],
        "fdr": [Interval(Real, 0, 1, closed="neither")],
        "max_levels": [Interval(Integral, 2, 5, closed="both")],
        "n_jobs": [None, Integral],
        "memory_limit": [None, Integral, str],
        "device": [StrOptions(set(DEVICES))],
        "checkpoint": [None, str, PathLike],
    },
    prefer_skip_nested_validation=True,
)  # type: ignore[untyped-decorator]
def interactions(
    X: Any,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    columns: ArrayLike | None = None,
    partners: ArrayLike | None = None,
    n_top: int = 20,
    fdr: float = 0.05,
    max_levels: int = 3,
    target: str = "auto",
    categorical_features: Any = "from_dtype",
    n_jobs: int | None = None,
    memory_limit: int | str | None = None,
    device: str = "cpu",
    checkpoint: str | PathLike[str] | None = None,
) -> Interactions:
    """Find pairs of columns that tell more about the class together than each of them alone.

    All pairs of columns are tested for an interaction beyond the main effects of both columns, and the
    p-values are corrected for the number of all pairs.

    Parameters
    ----------
    X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
        Input data.
    y : array-like of shape (n_samples,)
        Class labels, or numbers; see ``target``.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weight of each row. Whole numbers are frequencies. Other weights tell nothing about how often a
        row was seen: such rows are counted once, with a warning, and those with weight 0 are left out.
    columns : array-like or None, default=None
        Columns whose pairs are tested: names, indices or a mask; None means all columns.
    partners : array-like or None, default=None
        Test only pairs of one of ``columns`` and one of these. None means all pairs of ``columns``.
    n_top : int, default=20
        Number of pairs that are returned even if they are not significant, with their tables.
    fdr : float, default=0.05
        Pairs with a q-value of at most this are significant; all of them are returned, or 100,000
        if there are more.
    max_levels : int, default=3
        Maximum number of levels of a column, from 2 to 5. More levels show more kinds of
        interactions, but require more samples.
    target : {"auto", "classification", "regression"}, default="auto"
        Type of the target; see `SLFS`. The bins of a continuous target are used like classes.
    categorical_features : "from_dtype", "all" or array-like, default="from_dtype"
        Numeric columns to treat as categorical; see `SLFS`.
    n_jobs : int or None, default=None
        Number of threads. The result does not depend on it.
    memory_limit : int, str or None, default=None
        Maximum memory of the process, for example ``"2GiB"``; None means no limit.
    device : {"cpu", "cuda", "auto"}, default="cpu"
        Where columns are counted. ``"cuda"`` needs an NVIDIA GPU and the extra ``gpu``; ``"auto"`` uses
        a GPU if there is one. Results do not depend on it.
    checkpoint : str, path or None, default=None
        File in which the state of a long scan is stored twice a minute. If the file exists, the
        scan of the same data with the same parameters goes on from there. It is removed when the
        scan is finished.

    Returns
    -------
    result : Interactions
        The best pairs and all significant ones; ``print`` shows them as text, ``to_frame()`` and
        ``to_dict()`` convert them.

    Notes
    -----
    Numbers are cut at their terciles (for other values of ``max_levels``, into as many intervals),
    and rare categories are pooled: levels that depend on the column only, so that the p-values are
    valid. The test compares the table of both columns and the class with its fit by the log-linear
    model without three-way interaction. The p-value is that of the smaller of the likelihood ratio
    and Pearson's statistic. See the page "Interactions" of the documentation for its calibration
    and its power.

    References
    ----------
    X. Wan et al., "BOOST: a fast approach to detecting gene-gene interactions in genome-wide
    case-control studies", American Journal of Human Genetics 87, 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from slfs import interactions
    >>> X = np.random.default_rng(1).integers(0, 2, (300, 50))
    >>> y = X[:, 7] ^ X[:, 31]
    >>> found = interactions(X, y)
    >>> found.n_significant
    1
    >>> found.pairs[0].first, found.pairs[0].second
    ('x7', 'x31')
    """
    state = None if checkpoint is None else Path(checkpoint)
    if state is not None and (state.is_dir() or not state.parent.is_dir()):
        raise ValueError(
            f"checkpoint={str(state)!r} cannot be written: it is a folder, or its folder does not "
            "exist. Pass a file in an existing folder."
        )
    estimator = SLFS(target=target, categorical_features=categorical_features, memory_limit=memory_limit)
    data = estimator._read_training_data(X, y, sample_weight)
    if data.layout.tested is not None:
        warn(
            f"The tables and tests of pairs do not use {parameter('sample_weight')}, which are not "
            "whole numbers: each row counts once, unless its weight is 0. Whole numbers are frequencies."
        )
    data = replace(data, layout=data.layout.tested or data.layout)
    names = estimator._feature_names()
    own = _indices(columns, names, "columns")
    others = own if partners is None else _indices(partners, names, "partners")
    keep = np.zeros(len(names), np.bool_)
    keep[own] = keep[others] = True
    with use_device(device), Resources(n_jobs, memory_limit) as resources:
        with progress_callback(None):
            packed = pack_table_few(
                data.table, data.layout, data.categorical, keep, max_levels, resources
            )
        backend = make_backend(packed, resources.threads)
        parts = rectangles(_packed(packed.columns, own), _packed(packed.columns, others))
        found = scan_pairs(backend, parts, fdr, state)
        with progress_callback(None):
            found = retest_pairs(found, packed, data.table, data.categorical, max_levels, resources)
        n_tested = sum(part.n_pairs for part in parts)
        q_value = leading_q_values(found["p_value"], n_tested)
        n_significant = int(np.searchsorted(q_value, fdr, side="right"))
        n_kept = max(n_significant, min(n_top, len(found)))
        records = _make_records(backend, found[:n_kept], q_value[:n_kept], names)
        with progress_callback(None):
            tables = _make_tables(backend, records[:n_top], data, max_levels, resources)
    keep[packed.columns] = False
    untested = [str(name) for name in names[keep]]
    if n_tested == 0:
        warn(_nothing_tested(untested, data.layout.n_samples))
    classes = data.target.classes
    return Interactions(records, tables, n_tested, n_significant, float(fdr), classes, untested)


def _nothing_tested(untested: list[str], n_samples: int) -> str:
    """Say why no pair was tested."""
    if not untested:
        return "No pair was tested, because there are no two different columns. Pass more columns."
    shown = ", ".join(map(repr, untested[:_NAMED])) + (", ..." if len(untested) > _NAMED else "")
    return (
        "No pair was tested, so that nothing is known about interactions. With "
        f"{n_samples} samples, a level needs at least {math.ceil(least_samples(n_samples))} of them; "
        f"rarer levels are pooled, and one level is left of {shown}. Unless they are constant, use more "
        "samples, or columns with fewer categories."
    )


def _indices(chosen: Any, names: NDArray[np.object_], parameter: str) -> Ints:
    """Return the sorted indices of columns; None means all of them."""
    if chosen is None:
        return np.arange(len(names))
    return resolve_columns(chosen, len(names), names, parameter)


def _packed(columns: Ints, chosen: Ints) -> Ints:
    """Return the packed indices of columns; those with a single level are not packed."""
    return np.flatnonzero(np.isin(columns, chosen))


def _make_records(
    backend: CountingBackend, found: NDArray[np.void], q_value: NDArray[np.float64], names: Any
) -> np.recarray[Any, Any]:
    """Make the records of pairs."""
    records = np.empty(len(found), _FIELDS)
    if len(found) == 0:
        return records.view(np.recarray)
    columns, information = backend.packed.columns, Information(backend)
    levels = backend.packed.arrays.levels.astype(np.int64)
    f, k = found["f"].astype(np.int64), found["k"].astype(np.int64)
    n, table, scale = backend.packed.layout.n_samples, backend.nlogn.table, backend.nlogn.scale
    counts = backend.pair_tables(np.stack([f, k], axis=1))
    sums = table[counts].sum(axis=(1, 2, 3)) - table[counts.sum(axis=1)].sum(axis=(1, 2))
    class_sum = table[backend.packed.layout.totals].sum() - table[n]
    records["first_index"], records["second_index"] = columns[f], columns[k]
    records["first"], records["second"] = names[columns[f]], names[columns[k]]
    records["joint_information"] = (sums - class_sum) / scale / n
    records["first_relevance"] = information.relevance[f]
    records["second_relevance"] = information.relevance[k]
    records["synergy"] = (
        records["joint_information"] - records["first_relevance"] - records["second_relevance"]
    )
    n_classes = backend.packed.layout.n_classes
    records["degrees_of_freedom"] = (levels[f] - 1) * (levels[k] - 1) * (n_classes - 1)
    records["statistic"], records["p_value"] = found["statistic"], found["p_value"]
    records["q_value"] = q_value
    return records.view(np.recarray)


def _make_tables(
    backend: CountingBackend,
    records: NDArray[Any],
    data: TrainingData,
    max_levels: int,
    resources: Resources,
) -> list[PairTable]:
    """Count the pairs of some records, with the names of their levels."""
    if len(records) == 0:
        return []
    keep = np.zeros(data.table.n_features, np.bool_)
    keep[records["first_index"]] = keep[records["second_index"]] = True
    few = describe_few(data.table, data.layout, data.categorical, keep, max_levels, resources)
    index = np.stack([records["first_index"], records["second_index"]], axis=1)
    counts = backend.pair_tables(np.searchsorted(backend.packed.columns, index))
    tables = []
    for row, table in zip(records, counts, strict=True):
        first, second = few[row.first_index].names, few[row.second_index].names
        own = np.moveaxis(table, 0, 2)[: len(first), : len(second)].copy()
        tables.append(PairTable(str(row.first), str(row.second), first, second, own))
    return tables
