"""A table -> the similarity of its columns; selections of several runs -> groups of similar features."""

from __future__ import annotations

from abc import ABC, abstractmethod
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.stats import rankdata
from sklearn.utils.validation import validate_data

from slfs._compat import Interval, StrOptions, validate_params
from slfs._core.resources import Resources
from slfs._core.threads import Threads
from slfs.counting.backend import make_backend
from slfs.counting.planes import MAX_PLANE_LEVELS, PackedColumns
from slfs.measures.information import Information
from slfs.screening.blind import pack_table_blind
from slfs.selectors.slfs import SLFS
from slfs.tables.registry import read_table
from slfs.tables.table import ColumnSource, Table, resolve_categorical

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

NEAR_COPIES = {"uncertainty": 0.5, "correlation": 0.9}
"""Default threshold of each measure."""

_BLOCK = 1 << 22
"""Number of values that are ranked at a time."""


class FeatureSimilarity(ABC):
    """Similarity of the columns of a table, from 0 (unrelated) to 1 (copies); see `feature_similarity`.

    It is computed when it is asked for: ``similarity(feature, others)`` returns the similarity of one
    column to several others, given by their indices.

    Parameters
    ----------
    n_features : int
        Number of columns.
    threshold : float
        Smaller similarities are set to 0.
    """

    def __init__(self, n_features: int, threshold: float) -> None:
        self.n_features = n_features
        self.threshold = threshold

    @abstractmethod
    def _values(self, feature: int, others: Ints) -> Floats:
        """Return the similarity of one column to others; anything for the column itself."""

    def __call__(self, feature: int, others: Any) -> Floats:
        """Return the similarity of one column to several others.

        Parameters
        ----------
        feature : int
            Index of a column.
        others : array-like of int
            Indices of the other columns.

        Returns
        -------
        values : ndarray of shape (n_others,)
            The similarity to each of them; 1 for the column itself.
        """
        others = np.asarray(others, np.int64)
        values = np.clip(self._values(feature, others), 0.0, 1.0)
        values[values < self.threshold] = 0.0
        values[others == feature] = 1.0
        return values

    def to_sparse(self) -> sparse.csr_array:
        """Compute the similarity of all pairs of columns.

        Returns
        -------
        matrix : sparse array of shape (n_features, n_features)
            The similarities that are not 0.
        """
        every = np.arange(self.n_features)
        rows = [sparse.csr_array(self(f, every)[np.newaxis]) for f in range(self.n_features)]
        return sparse.csr_array(sparse.vstack(rows))


class _Uncertainty(FeatureSimilarity):
    """Symmetrical uncertainty of packed columns: 2 I(f;k) / (H(f) + H(k)), 0 for constant columns."""

    def __init__(self, packed: PackedColumns, threshold: float) -> None:
        super().__init__(len(packed), threshold)
        self._information = Information(make_backend(packed, Threads(1)))

    def _values(self, feature: int, others: Ints) -> Floats:
        entropy = self._information.entropy
        both = entropy[feature] + entropy[others]
        shared = self._information.mutual_information(feature, others)
        values: Floats = np.divide(2 * shared, both, out=np.zeros(len(others)), where=both > 0)
        return values


class _Correlation(FeatureSimilarity):
    """Absolute rank correlation of columns of numbers: one row of standardized ranks per column."""

    def __init__(self, ranks: NDArray[np.float32], threshold: float) -> None:
        super().__init__(len(ranks), threshold)
        self._ranks = ranks

    def _values(self, feature: int, others: Ints) -> Floats:
        values: Floats = np.abs(self._ranks[others] @ self._ranks[feature]).astype(np.float64)
        return values


@validate_params(  # type: ignore[untyped-decorator]
    {
        "measure": [StrOptions({"uncertainty", "correlation"})],
        "threshold": [Interval(Real, 0, 1, closed="both"), None],
    },
    prefer_skip_nested_validation=True,
)
def feature_similarity(
    X: Any,
    *,
    measure: str = "uncertainty",
    threshold: float | None = None,
    categorical_features: Any = "from_dtype",
) -> FeatureSimilarity:
    """Measure how similar the columns of a table are to each other.

    Parameters
    ----------
    X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
        Input data.
    measure : {"uncertainty", "correlation"}, default="uncertainty"
        ``"uncertainty"`` is the symmetrical uncertainty 2 I(f;k) / (H(f) + H(k)), for columns of all
        types; see Notes. ``"correlation"`` is the absolute value of Spearman's rank correlation, for
        columns of numbers and booleans only; missing values have the mean rank.
    threshold : float or None, default=None
        Smaller similarities are set to 0, so that only near-copies count as similar. ``None`` means 0.5
        for ``"uncertainty"`` and 0.9 for ``"correlation"``.
    categorical_features : "from_dtype", "all" or array-like, default="from_dtype"
        Numeric columns to treat as categorical; see `SLFS`.

    Returns
    -------
    similarity : FeatureSimilarity
        A function of a column and other columns, for `slfs.measures.effective_stability` and
        `feature_groups`. No matrix of all pairs is computed.

    Notes
    -----
    The symmetrical uncertainty is computed on levels that do not depend on the class: quartiles of
    numbers, categories, and a level for missing values. It is smaller than a correlation: for two normal
    columns with a correlation of 0.8, 0.9, 0.95 and 0.99 it is about 0.26, 0.39, 0.51 and 0.71. Constant
    columns are not similar to any other.

    Without a threshold, all weak similarities count in `slfs.measures.effective_stability`, and there
    are many more pairs than features: the value then mostly says whether the features that one run
    selects are more similar to each other than to those of another run, and is often negative.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from slfs.evaluation import feature_similarity
    >>> X, _ = load_iris(return_X_y=True, as_frame=True)
    >>> similarity = feature_similarity(X)
    >>> similarity(2, [0, 1, 3]).round(2)  # petal length
    array([0.  , 0.  , 0.52])
    >>> feature_similarity(X, measure="correlation", threshold=0)(2, [0, 1, 3]).round(2)
    array([0.88, 0.31, 0.94])
    """
    threshold = NEAR_COPIES[measure] if threshold is None else threshold
    table = read_table(X, min_samples=2)
    reader = SLFS()
    validate_data(reader, table if isinstance(table, ColumnSource) else X, skip_check_array=True)
    names = (
        table.names if isinstance(table, ColumnSource) else getattr(reader, "feature_names_in_", None)
    )
    categorical = resolve_categorical(
        categorical_features, table, None if names is None else np.asarray(names, object)
    )
    if measure == "correlation":
        return _Correlation(_standardized_ranks(table, categorical, names), threshold)
    every = np.ones(table.n_features, np.bool_)
    with Resources(1) as resources:
        packed = pack_table_blind(table, categorical, every, MAX_PLANE_LEVELS, resources)
    return _Uncertainty(packed, threshold)


def _standardized_ranks(table: Table, categorical: NDArray[np.bool_], names: Any) -> NDArray[np.float32]:
    """Return the ranks of each column with mean 0 and length 1; 0 for constant columns."""
    other = np.flatnonzero(~table.numbers | (categorical & ~_has_two_values(table, categorical)))
    if len(other):
        name = repr(names[other[0]]) if names is not None else f"column {other[0]}"
        raise ValueError(
            f"measure='correlation' needs columns of numbers, but {name} is categorical. Use "
            "measure='uncertainty', or drop such columns."
        )
    ranks = np.empty((table.n_features, table.n_samples), np.float32)
    width = max(1, _BLOCK // table.n_samples)
    for begin in range(0, table.n_features, width):
        columns = np.arange(begin, min(begin + width, table.n_features))
        values = rankdata(table.number_block(columns, None).dense(), axis=1, nan_policy="omit")
        known = ~np.isnan(values)
        count = known.sum(axis=1, keepdims=True)
        values -= np.nansum(values, axis=1, keepdims=True) / np.maximum(count, 1)
        values[~known] = 0.0
        length = np.sqrt((values**2).sum(axis=1, keepdims=True))
        ranks[columns] = np.divide(values, length, out=np.zeros_like(values), where=length > 0)
    return ranks


def _has_two_values(table: Table, categorical: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which categorical columns are numbers with at most two values, such as booleans."""
    few = np.zeros(table.n_features, np.bool_)
    for column in np.flatnonzero(table.numbers & categorical):
        values = table.number_block(np.array([column]), None).dense()
        few[column] = len(np.unique(values[~np.isnan(values)])) <= 2
    return few
