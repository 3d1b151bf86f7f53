"""A table and its classes, or a fitted selector -> valid p-values and q-values.

All p-values are computed from ranks and levels that do not depend on the class: quartiles of numeric
columns (and a level for missing values), and the categories of categorical columns. MDLP uses the class
to choose its intervals, so a test on them would find noise significant.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from slfs._compat import Interval, StrOptions, validate_params
from slfs._core.indices import PackedIndex
from slfs._core.resources import Resources
from slfs.base import TrainingData
from slfs.coding.codebook import MAX_LEVELS
from slfs.counting.backend import DEVICES, make_backend, use_device
from slfs.counting.nlogn import nlogn_table
from slfs.counting.planes import MAX_PLANE_LEVELS, PackedColumns, SampleLayout, pack_block
from slfs.counting.store import PlaneStore
from slfs.measures.contingency import independence_p_values, stratified_p_value
from slfs.measures.false_discovery import q_values
from slfs.network.tree import ROOT
from slfs.screening.blind import pack_table_blind
from slfs.screening.forced import Forced
from slfs.screening.p_values import pool_levels
from slfs.screening.pipeline import table_p_values
from slfs.selectors.base import BaseSelector
from slfs.selectors.slfs import SLFS
from slfs.tables.parts import Part

Floats = NDArray[np.float64]
Codes = NDArray[np.uint8]

ENOUGH = 20
"""Number of permutations with at least the observed statistic after which a test stops early."""

_MAX_LABELS = MAX_PLANE_LEVELS
_MAX_PAIR_LEVELS = 8
"""Maximum number of levels of a column and of its parent in a joint table, which has up to 64 rows."""

_DRAW_ENTRIES = 1 << 22
_MAX_DRAWN = 256

_FIELDS = np.dtype(
    [
        ("name", object),
        *((name, float) for name in ("p_value", "q_value", "q_value_by", "p_given_parent", "p_edge")),
    ]
)

_COMMON = {
    "n_permutations": [Interval(Integral, 0, None, closed="left")],
    "random_state": ["random_state"],
    "n_jobs": [None, Integral],
}


@validate_params(  # type: ignore[untyped-decorator]
    {**_COMMON, "device": [StrOptions(set(DEVICES))]}, prefer_skip_nested_validation=True
)
def p_values(
    X: Any,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    n_permutations: int = 0,
    condition_on: Any = None,
    target: str = "auto",
    categorical_features: Any = "from_dtype",
    random_state: Any = 0,
    n_jobs: int | None = None,
    device: str = "cpu",
) -> Floats:
    """Test every column of a table for independence from the target.

    Parameters
    ----------
    X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
        Input data.
    y : array-like of shape (n_samples,)
        Class labels, or numbers; see ``target``.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weight of each row. Whole numbers are frequencies. Other weights tell nothing about how often a
        row was seen: such rows are counted once, and those with weight 0 are left out.
    n_permutations : int, default=0
        Number of permutations of the class with which the G statistic is compared; fewer are drawn for
        columns that are clearly irrelevant. With 0, other tests are used; see Notes.
    condition_on : array-like, str or None, default=None
        Columns, given by name, by index or as a mask, that may explain why others depend on the class,
        such as age, sex or batch. The others are tested for independence from the class given these.
    target : {"auto", "classification", "regression"}, default="auto"
        Type of the target; see `SLFS`.
    categorical_features : "from_dtype", "all" or array-like, default="from_dtype"
        Numeric columns to treat as categorical; see `SLFS`.
    random_state : int, RandomState or None, default=0
        Seed of the permutations.
    n_jobs : int or None, default=None
        Number of threads. The result does not depend on it.
    device : {"cpu", "cuda", "auto"}, default="cpu"
        Where permutations are counted; see `SLFS`.

    Returns
    -------
    p_values : ndarray of shape (n_features,)
        The p-value of each column, in (0, 1]; NaN for the columns of ``condition_on``.

    Notes
    -----
    Without permutations, columns of numbers are tested with the rank test of Kruskal and Wallis and by
    six intervals (cut at 10, 25, 50, 75 and 90%), other columns by their levels. The statistics are
    compared with distributions that have their exact mean and variance over all permutations of the
    class, so that the p-values are valid for small classes and ties; small tables are tested exactly.
    See the page "Significance" of the documentation.

    With ``condition_on``, the class is modelled by the levels of these columns (four to ten intervals of
    equal frequency for numbers, more with more samples) in a log-linear model without interactions. A
    column is tested by the sums of the residuals of this model at its levels, and for numbers by their
    trend over the quartiles. This is a score test; its variance accounts for the parameters of the
    model, and it needs no permutations.

    A continuous target is compared by its ranks: with Spearman's test and the test of Kruskal and Wallis
    over the quartiles of columns of numbers, and with the latter over the levels of other columns. With
    permutations, with ``condition_on``, and in the tests given a parent of `assess`, its bins are used.

    With m permutations, of which b have at least the observed G, the p-value is (b + 1) / (m + 1). If
    there are 20 such permutations after l draws, no more are drawn and the p-value is 20 / l. Both are
    valid p-values. They are at least 1 / (m + 1): after a correction for p columns, none is significant
    at level q unless m is much larger than p / q.

    References
    ----------
    B. Phipson and G. K. Smyth, "Permutation p-values should never be zero", Statistical Applications in
    Genetics and Molecular Biology 9, 2010. J. Besag and P. Clifford, "Sequential Monte Carlo p-values",
    Biometrika 78, 1991.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from slfs.evaluation.significance import p_values
    >>> X, y = load_iris(return_X_y=True)
    >>> bool((p_values(X, y) < 1e-9).all())
    True
    >>> p_values(X, y, n_permutations=999)
    array([0.001, 0.001, 0.001, 0.001])
    """
    if n_permutations and condition_on is not None:
        raise ValueError(
            f"n_permutations={n_permutations} cannot be combined with condition_on: permutations of the "
            "class would destroy its relation to these columns. Use n_permutations=0."
        )
    selector = SLFS(target=target, categorical_features=categorical_features, condition_on=condition_on)
    data = selector._read_training_data(X, y, sample_weight)
    with use_device(device), Resources(n_jobs) as resources:
        return _relevance(data, n_permutations, _seed(random_state), resources, selector._forced())


@validate_params(_COMMON, prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
def assess(
    selector: BaseSelector,
    X: Any,
    y: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    n_permutations: int = 0,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> np.recarray[Any, Any]:
    """Compute p-values of all columns and of the edges of a selector's tree.

    Parameters
    ----------
    selector : selector
        A fitted selector of this library.
    X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
        A table with the columns that the selector was fitted to. Use other samples than those of the
        fit: on the same samples ``p_given_parent`` and ``p_edge`` are too small, because columns and
        parents were selected on them.
    y : array-like of shape (n_samples,)
        Class labels.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weight of each row. Whole numbers are frequencies. Other weights tell nothing about how often a
        row was seen: such rows are counted once, and those with weight 0 are left out.
    n_permutations : int, default=0
        As in `p_values`; for ``p_given_parent`` the class is permuted within the levels of the parent.
    random_state : int, RandomState or None, default=0
        Seed of the permutations.
    n_jobs : int or None, default=None
        Number of threads. The result does not depend on it.

    Returns
    -------
    records : recarray of shape (n_features,)
        ``name``; ``p_value`` of independence from the class; ``q_value`` and ``q_value_by``, the same
        corrected for the number of columns with the methods of Benjamini and Hochberg and of Benjamini
        and Yekutieli; ``p_given_parent`` of independence from the class given the level or quartile of
        the parent; ``p_edge`` of independence from the parent. The last two are NaN for columns that are
        not in the tree. For children of the class, ``p_edge`` is ``p_value`` and ``p_given_parent`` is
        NaN.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from slfs import SLFS
    >>> from slfs.evaluation.significance import assess
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> selector = SLFS().fit(X[::2], y[::2])
    >>> found = assess(selector, X[1::2], y[1::2])
    >>> float(found[X.columns.get_loc("worst area")].p_given_parent.round(2))
    0.12
    """
    if not isinstance(selector, BaseSelector):
        raise TypeError(
            f"selector must be a fitted selector of slfs, such as SLFS().fit(X, y). "
            f"Got {type(selector).__name__} instead."
        )
    check_is_fitted(selector)
    copy = clone(selector)
    data = copy._read_training_data(X, y, sample_weight)
    selector._check_columns(X)
    seed = _seed(random_state)
    records = np.empty(data.table.n_features, _FIELDS)
    records["name"] = selector.features_["name"]
    records["p_given_parent"] = records["p_edge"] = np.nan
    with use_device(selector.device), Resources(n_jobs) as resources:
        forced = None if n_permutations else copy._forced()
        records["p_value"] = _relevance(data, n_permutations, seed, resources, forced)
        _assess_tree(records, selector, data, n_permutations, seed, resources)
    records["q_value"] = q_values(records["p_value"])
    records["q_value_by"] = q_values(records["p_value"], method="by")
    return records.view(np.recarray)


def _seed(random_state: Any) -> int:
    return int(check_random_state(random_state).randint(2**31 - 1))


def _repeated(data: TrainingData) -> TrainingData:
    """Return the rows that are tested, each as often as its weight says."""
    weights = data.weights
    if weights is None:
        return data
    rows = weights.samples()
    codes = data.target.codes[rows]
    return TrainingData(
        Part(data.table, [f"x{column}" for column in range(data.table.n_features)], rows),
        replace(data.target, codes=codes),
        SampleLayout.from_class_codes(codes, len(data.target.classes)),
        data.categorical,
    )


def _relevance(
    data: TrainingData,
    n_permutations: int,
    seed: int,
    resources: Resources,
    forced: Forced | None = None,
) -> Floats:
    """Return the p-value of each column."""
    if n_permutations == 0:
        layout = data.layout.tested or data.layout
        return table_p_values(data.table, layout, data.categorical, resources, forced)
    data = _repeated(data)
    every = np.ones(data.table.n_features, np.bool_)
    packed = pack_table_blind(data.table, data.categorical, every, MAX_LEVELS, resources)
    labels = _few(data.target.codes, _MAX_LABELS)
    return _by_permutation(packed, labels, None, n_permutations, [seed], resources)


def _assess_tree(
    records: NDArray[Any],
    selector: BaseSelector,
    data: TrainingData,
    n_permutations: int,
    seed: int,
    resources: Resources,
) -> None:
    """Fill in the p-values of the edges, and of each column given its parent."""
    network, data = selector.network_, _repeated(data)
    top = network.columns[network.parents == ROOT]
    records["p_edge"][top] = records["p_value"][top]
    codes = _codes_of(data, network.columns, resources)
    y = data.target.codes
    for parent in np.unique(network.parents[network.parents != ROOT]).tolist():
        children = np.array(network.children(parent))
        columns = network.columns[children]
        if n_permutations == 0:
            tables = [_count(codes[parent], codes[child], y) for child in children]
            records["p_given_parent"][columns] = [stratified_p_value(table) for table in tables]
            records["p_edge"][columns] = [_test_pair(table.sum(axis=2)) for table in tables]
            continue
        strata = codes[parent]
        both = codes[children] * np.uint8(_MAX_PAIR_LEVELS) + strata
        own = [seed, int(network.columns[parent])]
        labels = _few(y, _MAX_LABELS)
        records["p_given_parent"][columns] = _by_permutation(
            _pack(both, np.argsort(strata, kind="stable")),
            labels,
            strata,
            n_permutations,
            [*own, 1],
            resources,
        )
        packed = _pack(codes[children], np.arange(len(y)))
        records["p_edge"][columns] = _by_permutation(
            packed, strata, None, n_permutations, [*own, 2], resources
        )


def _codes_of(data: TrainingData, columns: NDArray[np.int64], resources: Resources) -> Codes:
    """Encode some columns without the class, one row each."""
    keep = np.zeros(data.table.n_features, np.bool_)
    keep[columns] = True
    packed = pack_table_blind(data.table, data.categorical, keep, _MAX_PAIR_LEVELS, resources)
    backend = make_backend(packed, resources.threads)
    indices = np.searchsorted(packed.columns, columns).tolist()
    codes = [backend.codes(PackedIndex(index)) for index in indices]
    return np.array(codes, np.uint8).reshape(len(columns), data.table.n_samples)


def _count(strata: Codes, codes: Codes, y: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return counts of shape (strata, levels, classes)."""
    shape = (int(strata.max()) + 1, int(codes.max()) + 1, int(y.max()) + 1)
    cells = np.ravel_multi_index((strata, codes, y), shape)
    return np.bincount(cells, minlength=math.prod(shape)).reshape(shape)


def _test_pair(table: NDArray[np.int64]) -> float:
    p_value = independence_p_values(table, np.array([len(table)]), table.shape[1], int(table.sum()))
    return float(p_value[0])


def _few(labels: NDArray[np.int64], most: int) -> Codes:
    """Convert labels to bytes; if there are more than ``most``, pool the rarest."""
    return labels.astype(np.uint8) if labels.max() < most else pool_levels(labels, most)


def _pack(codes: Codes, order: NDArray[np.int64]) -> PackedColumns:
    """Pack columns of codes, samples in the given order."""
    layout = SampleLayout.from_class_codes(np.zeros(len(order), np.int64), 1)
    n_levels = codes.max(axis=1).astype(np.int64) + 1
    counts = [np.bincount(row, minlength=d) for row, d in zip(codes, n_levels, strict=True)]
    ordered = np.ascontiguousarray(codes[:, order])
    store = PlaneStore(layout)
    store.append(pack_block(layout, np.arange(len(codes)), ordered, n_levels, np.concatenate(counts)))
    return store.packed()


def _by_permutation(
    packed: PackedColumns,
    labels: Codes,
    strata: Codes | None,
    n_permutations: int,
    seed: list[int],
    resources: Resources,
) -> Floats:
    """Compare the G statistic of each packed column and the labels with that of permuted labels.

    With ``strata`` the labels are permuted within each; the samples of ``packed`` are sorted by them.
    """
    sizes = [len(labels)]
    if strata is not None:
        labels, sizes = labels[np.argsort(strata, kind="stable")], np.bincount(strata).tolist()
    few = np.flatnonzero(packed.arrays.levels <= MAX_PLANE_LEVELS)
    many = np.setdiff1d(np.arange(len(packed)), few)
    coded = make_backend(packed, resources.threads)
    codes = [coded.codes(PackedIndex(column)) for column in many.tolist()]
    backend = make_backend(packed.take(few), resources.threads) if len(many) else coded
    observed = backend.label_sums(labels) if len(few) else np.empty(0, np.int64)
    hits, draws = np.zeros((2, len(packed)), np.int64)
    own_hits, own_draws = hits[few], draws[few]
    for permuted in _permutations(labels, sizes, n_permutations, np.random.default_rng(seed)):
        alive = np.flatnonzero(own_hits < ENOUGH)
        if len(alive):
            backend.count_exceedances(alive, permuted, observed, ENOUGH, own_hits, own_draws)
        for column, own in zip(many.tolist(), codes, strict=True):
            _count_by_codes(own, labels, permuted, hits[column : column + 1], draws[column : column + 1])
    hits[few], draws[few] = own_hits, own_draws
    return np.where(hits < ENOUGH, (hits + 1) / (draws + 1), hits / draws)


def _count_by_codes(
    codes: Codes, labels: Codes, permuted: Codes, hits: NDArray[np.int64], draws: NDArray[np.int64]
) -> None:
    """Count the permutations with at least the statistic of the labels, for a column without planes."""
    nlogn, n_labels = nlogn_table(len(codes)).table, int(labels.max()) + 1
    cells = codes.astype(np.int64) * n_labels
    observed = nlogn[np.bincount(cells + labels)].sum()
    for row in permuted:
        if hits[0] >= ENOUGH:
            return
        hits[0] += nlogn[np.bincount(cells + row)].sum() >= observed
        draws[0] += 1


def _permutations(
    labels: Codes, sizes: list[int], number: int, random: np.random.Generator
) -> Iterator[Codes]:
    """Yield permutations of the labels within consecutive parts, several at a time."""
    some = max(1, min(_MAX_DRAWN, _DRAW_ENTRIES // len(labels)))
    bounds = np.cumsum([0, *sizes])
    for begin in range(0, number, some):
        drawn = np.repeat(labels[np.newaxis], min(some, number - begin), axis=0)
        for low, high in itertools.pairwise(bounds.tolist()):
            random.permuted(drawn[:, low:high], axis=1, out=drawn[:, low:high])
        yield drawn
