"""InteractionSelector: columns that depend on the class, alone or together with another one."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from slfs._compat import Interval
from slfs._core.progress import progress_callback
from slfs._core.resources import Resources
from slfs.base import TrainingData
from slfs.counting.backend import make_backend
from slfs.measures.false_discovery import leading_q_values, q_values
from slfs.measures.information import Information
from slfs.network.tree import ROOT
from slfs.screening.blind import describe_few, pack_table_few
from slfs.screening.facts import ColumnFacts, Judge
from slfs.screening.judging import drop_one_level
from slfs.screening.learn import Cuts
from slfs.screening.pair_levels import retest_pairs
from slfs.screening.pairs import rectangles, scan_pairs
from slfs.screening.reasons import Decision, Reason
from slfs.selectors._shared.selection import Selection
from slfs.selectors.base import BaseSelector
from slfs.selectors.registry import register

PAIR = np.dtype(
    [("first", np.int64), ("second", np.int64), ("p_value", np.float64), ("q_value", np.float64)]
)
"""dtype of ``pairs_``."""


@register("interactions")
class InteractionSelector(BaseSelector):
    """Select the features that depend on the class, alone or together with another feature.

    All pairs of columns are tested for an interaction beyond their main effects; see `interactions`. The
    columns of the significant pairs are selected, and those that depend on the class on their own. Other
    methods do not find columns that are informative only in combination, as in y = a xor b.

    Parameters
    ----------
    fdr : float, default=0.05
        Maximum q-value of the selected columns, and of the pairs whose columns are selected.
    max_levels : int, default=3
        Maximum number of levels of a column in the tests of pairs, from 2 to 5.
    n_features_to_select : int, float or "auto", default="auto"
        Maximum number of features to select, or fraction of the columns. ``"auto"`` selects all columns
        that are significant. A column that is informative only in a pair is selected together with the
        other one or, if there is no room for both but for another column, not at all.
    target : {"auto", "classification", "regression"}, default="auto"
        Type of the target. With ``"auto"``, floats with fractional parts are a continuous target, and
        integers, strings and booleans are class labels. A continuous target is cut into bins at its
        quantiles, which are used like classes; p-values of single columns compare
        them with the numbers themselves.
    categorical_features : "from_dtype", "all" or array-like, default="from_dtype"
        Numeric columns to treat as categorical: a mask, indices or column names, or ``"all"`` for all
        columns. With ``"from_dtype"``, all numeric columns are discretized. Booleans, strings and
        columns of a categorical dtype are always categorical.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class, by its label; the classes without an entry have weight 1. ``"balanced"``
        gives all classes the same total weight. Sample weights are multiplied by it.
    n_jobs : int or None, default=None
        Number of threads used for coding and counting. ``None`` means 1 unless in a
        ``joblib.parallel_backend`` context; ``-1`` means all cores. Results do not depend on it.
    memory_limit : int, str or None, default=None
        Maximum memory of the process during ``fit``, for example ``"2GiB"``. To stay below the limit,
        smaller blocks are read and bit planes are moved to a temporary file. ``None`` means no limit.
    device : {"cpu", "cuda", "auto"}, default="cpu"
        Where columns are counted. ``"cuda"`` needs an NVIDIA GPU and the extra ``gpu``; ``"auto"`` uses
        a GPU if there is one. Results do not depend on it.

    Attributes
    ----------
    pairs_ : ndarray
        The significant pairs: indices of both columns (``first``, ``second``), ``p_value`` and
        ``q_value``, in order of the p-values.
    indices_ : ndarray of shape (n_features_,)
        Selected columns, by decreasing score.
    selection_scores_ : ndarray of shape (n_features_,)
        Score of each selected column in nats: its relevance I(f;Y) or, if that is larger, the largest
        synergy I(f,k;Y) - I(f;Y) - I(k;Y) of its significant pairs.
    scores_ : ndarray of shape (n_features_in_,)
        Relevance I(f;Y) of every column, in nats.
    pvalues_, qvalues_ : ndarray of shape (n_features_in_,)
        p-value of each column for independence from the class, and the corresponding q-value.
    target_type_, target_bins_, classes_
        As in `SLFS`.
    support_, network_, features_, n_features_, n_features_in_, feature_names_in_
        As in `SLFS`. In the network, a column that is selected because of a pair is a child of the other
        column of the pair, so that ``to_classifier()`` uses both together.

    Notes
    -----
    Columns of numbers that belong to a significant pair are cut where the pair was tested, at their
    terciles; MDLP would find no cut in a column that tells nothing on its own.

    Examples
    --------
    >>> import numpy as np
    >>> from slfs import InteractionSelector
    >>> X = np.random.default_rng(1).normal(size=(500, 20))
    >>> y = (X[:, 3] > 0) ^ (X[:, 8] > 0)
    >>> selector = InteractionSelector().fit(X, y)
    >>> selector.indices_
    array([3, 8])
    >>> bool(selector.to_classifier().score(X, y) > 0.75)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseSelector._parameter_constraints,
        "fdr": [Interval(Real, 0, 1, closed="neither")],
        "max_levels": [Interval(Integral, 2, 5, closed="both")],
    }

    _fitted: ClassVar[frozenset[str]] = BaseSelector._fitted | {"pairs_"}

    def __init__(
        self,
        *,
        fdr: float = 0.05,
        max_levels: int = 3,
        n_features_to_select: float | str = "auto",
        target: str = "auto",
        categorical_features: Any = "from_dtype",
        class_weight: Any = None,
        n_jobs: int | None = None,
        memory_limit: int | str | None = None,
        device: str = "cpu",
    ) -> None:
        self.fdr = fdr
        self.max_levels = max_levels
        self.n_features_to_select = n_features_to_select
        self.target = target
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.device = device

    def _take_columns(self, columns: NDArray[np.int64]) -> Self:
        copy = super()._take_columns(columns)
        both = np.isin(self.pairs_["first"], columns) & np.isin(self.pairs_["second"], columns)
        copy.pairs_ = self.pairs_[both]
        for name in ("first", "second"):
            copy.pairs_[name] = np.searchsorted(columns, copy.pairs_[name])
        return copy

    def _judge(self) -> Judge:
        return drop_one_level

    def _cut_points(self, data: TrainingData, resources: Resources) -> Cuts:
        """Test all pairs; return the cut points of the columns of significant pairs."""
        every = np.ones(data.table.n_features, np.bool_)
        plan = data.table, data.layout.tested or data.layout, data.categorical
        with progress_callback(None):
            packed = pack_table_few(*plan, every, self.max_levels, resources)
            indices = np.arange(len(packed))
            parts = rectangles(indices, indices)
            found = scan_pairs(make_backend(packed, resources.threads), parts, self.fdr)
            found = retest_pairs(found, packed, *plan[::2], self.max_levels, resources)
            q_value = leading_q_values(found["p_value"], sum(part.n_pairs for part in parts))
            found = found[q_value <= self.fdr]
            self.pairs_ = np.empty(len(found), PAIR)
            self.pairs_["first"], self.pairs_["second"] = packed.columns[[found["f"], found["k"]]]
            self.pairs_["p_value"], self.pairs_["q_value"] = found["p_value"], q_value[: len(found)]
            keep = ~every
            keep[self.pairs_["first"]] = keep[self.pairs_["second"]] = True
            few = describe_few(*plan, keep, self.max_levels, resources)
        numbers = np.flatnonzero(keep & data.table.numbers & ~data.categorical).tolist()
        return {column: few[column].cuts for column in numbers}

    def _select(self, information: Information, facts: ColumnFacts) -> Selection:
        position = np.full(len(facts.coding), -1)
        position[information.packed.columns] = np.arange(len(information.packed))
        pairs = np.stack([position[self.pairs_["first"]], position[self.pairs_["second"]]], axis=1)
        pairs = pairs[(pairs >= 0).all(axis=1)]  # a category that was grouped may have a single level
        synergy, joint = _information(information, pairs)
        score = information.relevance.copy()
        alone = q_values(facts.p_value)[information.packed.columns] <= self.fdr
        kept = alone.copy()
        for (f, k), own in zip(pairs.tolist(), synergy.tolist(), strict=True):
            kept[[f, k]] = True
            score[f], score[k] = max(score[f], own), max(score[k], own)
        nodes = np.flatnonzero(kept)
        nodes = nodes[np.argsort(-score[nodes], kind="stable")]
        best_first = pairs[np.argsort(-synergy, kind="stable")]
        fitting = _whole_pairs(nodes, alone, best_first, self._n_wanted(len(facts.coding)))
        beyond = np.setdiff1d(nodes, fitting).tolist()
        nodes = fitting
        place = {int(node): index for index, node in enumerate(nodes)}
        parents = np.full(len(nodes), ROOT)
        figures: dict[int, dict[str, Any]] = {}
        names = self._feature_names()[information.packed.columns]
        for pair in np.argsort(-synergy, kind="stable").tolist():
            f, k = sorted(pairs[pair].tolist(), key=lambda node: place.get(node, len(nodes)))
            both = f in place and k in place
            if both and synergy[pair] >= score[k] and parents[place[k]] == ROOT and k not in figures:
                parents[place[k]] = place[f]
            for one, other in ((f, k), (k, f)):
                about = {"partner": str(names[other]), "joint_information": float(joint[pair])}
                figures.setdefault(one, {**about, "synergy": float(synergy[pair])})
        weak = Decision(Reason.NOT_SIGNIFICANT)
        dropped = dict.fromkeys(np.flatnonzero(~kept).tolist(), weak)
        dropped.update(dict.fromkeys(beyond, Decision(Reason.BEYOND_SIZE)))
        return Selection(nodes, parents, score[nodes], dropped, figures=figures)


def _whole_pairs(
    nodes: NDArray[np.int64],
    alone: NDArray[np.bool_],
    pairs: NDArray[np.int64],
    wanted: int | None,
) -> NDArray[np.int64]:
    """Take at most ``wanted`` columns, in their order, and of a pair both columns or none.

    One column of a pair is better than nothing if there is no other column. ``pairs`` are in order of
    their synergy. Columns that are relevant ``alone`` need no partner.
    """
    if wanted is None or len(nodes) <= wanted:
        return nodes
    partner: dict[int, int] = {}
    for f, k in pairs.tolist():
        partner.setdefault(f, k)
        partner.setdefault(k, f)
    taken: dict[int, None] = {}
    for node in nodes.tolist():
        needed = [node] if alone[node] or partner[node] in taken else [node, partner[node]]
        if node not in taken and len(taken) + len(needed) <= wanted:
            taken.update(dict.fromkeys(needed))
    return np.array(list(taken) or nodes[:wanted], np.int64)


def _information(
    information: Information, pairs: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the synergy and the joint information of pairs, in nats."""
    joint = np.empty(len(pairs))
    for f in np.unique(pairs[:, 0]).tolist():
        own = np.flatnonzero(pairs[:, 0] == f)
        added = information.pairs(f, pairs[own, 1]).of_other_given_one
        joint[own] = information.relevance[f] + added
    return joint - information.relevance[pairs].sum(axis=1), joint
