"""Selections of several runs and similarities -> groups of features that replace each other."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, linkage

from slfs._compat import Interval, validate_params
from slfs.measures.stability import Similarity, read_similarity, read_supports
from slfs.selectors.stability_selection import StabilitySelection

Ints = NDArray[np.int64]

_ROUNDING = 1e-9
"""Similarities this far below the threshold reach it."""

_FIELDS = np.dtype(
    [
        ("representative", object),
        ("frequency", float),
        ("group_frequency", float),
        ("together", float),
        ("n_members", int),
        ("members", object),
    ]
)


@validate_params(  # type: ignore[untyped-decorator]
    {"threshold": [Interval(Real, 0, 1, closed="right")]}, prefer_skip_nested_validation=True
)
def feature_groups(selections: Any, similarity: Any, *, threshold: float = 0.5) -> np.recarray[Any, Any]:
    """Group the features that replace each other in the selections of several runs.

    Parameters
    ----------
    selections : StabilitySelection, or array-like or sparse matrix of shape (n_runs, n_features)
        A fitted `StabilitySelection`, or a mask of the features that each run has selected.
    similarity : array-like or sparse matrix of shape (n_features, n_features), or callable
        Similarity of the features, as in `slfs.measures.effective_stability`; see `feature_similarity`.
    threshold : float, default=0.5
        Minimum similarity of two members of a group.

    Returns
    -------
    groups : recarray of shape (n_groups,)
        Groups of the features that some run has selected, by decreasing ``group_frequency``. Each
        feature is in one group; a feature without similar ones is a group of its own. The fields are
        ``representative``, the most often selected member; ``frequency``, the fraction of runs that
        select it; ``group_frequency``, the fraction of runs that select at least one member;
        ``together``, the fraction of runs that select two or more members; ``n_members``; and
        ``members``, a list by decreasing frequency that starts with the representative. Features are
        given by name if ``selections`` is a selector, otherwise by index.

    Notes
    -----
    The features are clustered by complete linkage: any two members of a group are at least as similar as
    ``threshold``, so that groups do not grow by chains of similar features. A ``group_frequency`` well
    above ``frequency`` and a small ``together`` mean that the members replace each other. Memory is
    quadratic in the number of features that some run has selected, whatever the size of the table.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from slfs import SLFS, StabilitySelection
    >>> from slfs.evaluation import feature_groups, feature_similarity
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> selector = StabilitySelection(SLFS(n_features_to_select=3), n_subsamples=20).fit(X, y)
    >>> groups = feature_groups(selector, feature_similarity(X))
    >>> groups[0].members
    ['worst perimeter', 'worst radius', 'worst area']
    >>> float(groups[0].frequency), float(groups[0].group_frequency)
    (0.55, 1.0)
    """
    names: NDArray[Any] | None = None
    if isinstance(selections, StabilitySelection):
        names, selections = selections.features_["name"], selections.supports_
    supports = read_supports(selections).tocsc()
    n_runs, n_features = supports.shape
    names = np.arange(n_features) if names is None else names
    counts = np.diff(supports.indptr)
    ever = np.flatnonzero(counts)
    ever = ever[np.argsort(-counts[ever], kind="stable")]  # the representative comes first
    cluster = _cluster(read_similarity(similarity, n_features), ever, threshold)
    first = np.sort(np.unique(cluster, return_index=True)[1])
    groups = np.recarray(len(first), _FIELDS)
    for group, position in zip(groups, first.tolist(), strict=True):
        members = ever[cluster == cluster[position]]
        selected = np.bincount(supports[:, members].indices, minlength=n_runs)
        group.representative, group.members = names[members[0]], names[members].tolist()
        group.frequency, group.n_members = counts[members[0]] / n_runs, len(members)
        group.group_frequency, group.together = np.mean(selected > 0), np.mean(selected > 1)
    return groups[np.argsort(-groups.group_frequency, kind="stable")].view(np.recarray)


def merged_supports(selector: StabilitySelection, groups: np.recarray[Any, Any]) -> sparse.csr_array:
    """Return what the runs have selected, with one column for each group: whether a member is selected.

    Features that no run has selected keep their columns.
    """
    index = {name: feature for feature, name in enumerate(selector.features_["name"].tolist())}
    first = np.arange(len(index))
    for group in groups:
        members = [index[name] for name in group.members]
        first[members] = members[0]
    column = np.unique(first, return_inverse=True)[1]
    runs, features = sparse.coo_array(selector.supports_).coords
    shape = selector.supports_.shape[0], int(column.max()) + 1
    ones = np.ones(len(runs), np.int64)
    merged = sparse.coo_array((ones, (runs, column[features])), shape=shape)
    return (merged.tocsr() > 0).astype(np.int64)


def _cluster(row: Similarity, features: Ints, threshold: float) -> Ints:
    """Return the number of the cluster of each feature, by complete linkage."""
    if len(features) < 2:
        return np.zeros(len(features), np.int64)
    pairs = [1 - row(int(f), features[i:]) for i, f in enumerate(features[:-1], start=1)]
    tree = linkage(np.concatenate(pairs), "complete")
    clusters: Ints = fcluster(tree, 1 - threshold + _ROUNDING, "distance")
    return clusters
