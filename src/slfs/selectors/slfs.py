"""SLFS: feature selection by learning a tree Bayesian network (Zare & Niazi)."""

from __future__ import annotations

import functools
import math
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from slfs._compat import Interval, StrOptions
from slfs._core.resources import Resources
from slfs.base import TrainingData
from slfs.measures.false_discovery import LordPlusPlus, q_values
from slfs.measures.information import Information
from slfs.network.tree import ROOT
from slfs.screening.facts import ColumnFacts, Judge
from slfs.screening.judging import drop_costly, drop_insignificant
from slfs.screening.reasons import Decision, Reason
from slfs.selectors._shared.insertion import Growth, Rules, TreeBuilder
from slfs.selectors._shared.selection import Selection
from slfs.selectors._shared.stream import Numbers, StreamSelector
from slfs.selectors.base import BaseSelector
from slfs.selectors.registry import register


@register("slfs")
class SLFS(StreamSelector):
    """Select features by growing a tree Bayesian network below the class.

    A relevant feature becomes a child of the class if that raises the criterion J of the paper more than
    any place below another feature would; otherwise it goes down the tree. What goes down too far is
    redundant and dropped.

    Parameters
    ----------
    relevance_weight : float, default=0.5
        Weight of relevance against redundancy in J.
    max_depth : int or None, default=2
        Deepest level of the tree (MAXDEPTH in the paper, which advises at most 5). None: no limit.
    max_children : int or None, default=15
        Most children of the class and of any feature (NCH in the paper, which advises at most 15).
        None: no limit.
    n_features_to_select : int, float or "auto", default="auto"
        Maximum number of features, or share of the columns: level by level of the tree, and within a
        level in the order in which they joined. "auto": as many as the tree holds.
    rule : {"objective", "printed"}, default="objective"
        "objective" puts a feature where J is largest. "printed" follows eq. 8 to 10 of the paper to the
        letter; hardly anything can then join the class after the first feature.
    irrelevance : {"mdl", "printed", "reversed", "test"}, default="mdl"
        When a feature is irrelevant. "mdl": it does not pay for its own table; MDLP has judged the
        columns that it cut, the others must have 2 N I(f;Y) > (d-1)(c-1) log N. "printed": eq. 7.
        "reversed": eq. 7 with its first inequality turned, as the text below it says. "test": a test of
        independence on levels, or quartiles, that have not seen the class, exact where counts are small,
        with the false discovery rate held at ``fdr``: of all columns at once (Benjamini and Hochberg),
        or column by column with ``order="given"`` (LORD++); columns that MDLP does not cut are out all
        the same, having one level. See `slfs.evaluation.significance`.
    swap : {"printed", "objective", "never"}, default="printed"
        Whether a newcomer may take the place of a node: if it is more relevant (eq. 12), only if J of
        the whole tree rises, or never. Used with ``order="given"`` only.
    order : {"conditional", "relevance", "given"}, default="conditional"
        Who is inserted next: who tells most about the class given any single node of the tree; the most
        relevant; or the columns as they stand. The selection depends on the order of the columns with
        "given" only.
    fdr : float, default=0.05
        False discovery rate for ``irrelevance="test"``.
    categorical_features : "from_dtype", "all" or array-like, default="from_dtype"
        Columns of numbers to take as categories: by type (booleans), all, or a mask, indices or names.
        Strings and categories are always categorical.
    n_jobs : int or None, default=None
        Threads. The result is the same to the bit for any number.
    memory_limit : int, str or None, default=None
        Memory that the process may take in ``fit``, such as ``"2GiB"``: blocks become smaller, and
        planes go to a temporary file. See the page on scaling.

    Attributes
    ----------
    support_ : ndarray of shape (n_features_in_,)
        Mask of the selected features.
    network_ : TreeNetwork
        The tree over them.
    features_ : recarray of shape (n_features_in_,)
        One record for each column: ``name``, ``role`` (one of the paper's four), ``relevance``,
        ``entropy``, ``n_levels``, ``level`` in the tree (0 if dropped), ``parent``, ``lost_to``,
        ``mutual_information`` and ``conditional_relevance`` with either of these, ``p_value``
        (of independence from the class, on levels that have not seen it), ``reason``.
        ``pandas.DataFrame(selector.features_)`` makes a table of it.
    n_features_ : int
        Number of selected features.
    indices_ : ndarray of shape (n_features_,)
        Selected columns in the order in which they joined.
    selection_scores_ : ndarray of shape (n_features_,)
        Their relevance I(f;Y).
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where all are strings.

    See Also
    --------
    BNSLFS : The classifier that comes with the selection.

    Notes
    -----
    With many more columns than samples MDLP cuts some columns of noise by chance, each on its own:
    ``irrelevance="test"`` accounts for their number.

    A feature goes below another as long as there is room, be there news in it or not: a copy of a column
    may stand below it. ``max_depth=1`` keeps children of the class only.

    Theorem 1 of the paper looks at the edge of the swapped pair only. The terms of the grandparent and
    of the children change too, so J of the whole tree may fall after a swap as printed;
    ``swap="objective"`` is the sound version.

    References
    ----------
    H. Zare and M. Niazi, "Relevant based structure learning for feature selection", Engineering
    Applications of Artificial Intelligence 55, 2016.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from slfs import SLFS
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> selector = SLFS(n_features_to_select=1).fit(X, y)
    >>> selector.get_feature_names_out()
    array(['petal width (cm)'], dtype=object)
    >>> selector.explain("petal width (cm)")
    "'petal width (cm)' is kept as strongly relevant: it tells 0.955 nats about the class and ..."
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **StreamSelector._parameter_constraints,
        "relevance_weight": [Interval(Real, 0, None, closed="left")],
        "max_depth": [Interval(Integral, 1, None, closed="left"), None],
        "max_children": [Interval(Integral, 1, None, closed="left"), None],
        "rule": [StrOptions({"objective", "printed"})],
        "irrelevance": [StrOptions({"mdl", "printed", "reversed", "test"})],
        "swap": [StrOptions({"printed", "objective", "never"})],
        "order": [StrOptions({"conditional", "relevance", "given"})],
        "fdr": [Interval(Real, 0, 1, closed="neither")],
    }

    def __init__(
        self,
        *,
        relevance_weight: float = 0.5,
        max_depth: int | None = 2,
        max_children: int | None = 15,
        n_features_to_select: float | str = "auto",
        rule: str = "objective",
        irrelevance: str = "mdl",
        swap: str = "printed",
        order: str = "conditional",
        fdr: float = 0.05,
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
        memory_limit: int | str | None = None,
    ) -> None:
        self.relevance_weight = relevance_weight
        self.max_depth = max_depth
        self.max_children = max_children
        self.n_features_to_select = n_features_to_select
        self.rule = rule
        self.irrelevance = irrelevance
        self.swap = swap
        self.order = order
        self.fdr = fdr
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit

    def _judge(self) -> Judge:
        if self.irrelevance == "mdl":
            return drop_costly
        if self.irrelevance == "test":
            return functools.partial(drop_insignificant, fdr=float(self.fdr))
        return super()._judge()

    def _check_streamable(self) -> None:
        super()._check_streamable()
        if self.order != "given":
            raise ValueError(
                f"order={self.order!r} looks at all columns at once. For a stream use order='given'."
            )

    def _fit_table(self, data: TrainingData, resources: Resources) -> None:
        if self.order == "given":
            super()._fit_table(data, resources)
        else:
            BaseSelector._fit_table(self, data, resources)

    def _select(self, information: Information, facts: ColumnFacts) -> Selection:
        candidates = np.arange(len(information.packed))
        growth = Growth()
        if self.irrelevance == "test":
            found = q_values(facts.p_value)[information.packed.columns] <= self.fdr
            candidates = self._keep_found(candidates, found, growth)
        builder = TreeBuilder(information, self._rules(), growth)
        if self.order == "conditional":
            builder.insert_by_margin(candidates)
        else:
            falling = np.argsort(-information.relevance[candidates], kind="stable")
            builder.insert_in_order(candidates[falling])
        return self._conclude(information, growth)

    def _keep_found(
        self, columns: NDArray[np.int64], found: NDArray[np.bool_], growth: Growth
    ) -> NDArray[np.int64]:
        """Drop the packed columns that are not significant."""
        growth.dropped |= dict.fromkeys(columns[~found].tolist(), Decision(Reason.NOT_SIGNIFICANT))
        return columns[found]

    def _look_ahead(self, facts: ColumnFacts, memory: Growth | None) -> Growth:
        growth = Growth() if memory is None else memory
        if self.irrelevance == "test":
            growth.tests = growth.tests or LordPlusPlus(self.fdr)
            first = growth.tests.n_seen
            growth.discoveries = first + np.flatnonzero(growth.tests.decide(facts.p_value))
        return growth

    def _arrive(
        self,
        information: Information,
        columns: NDArray[np.int64],
        memory: Growth,
        numbers: Numbers,  # noqa: ARG002
    ) -> Growth:
        if self.irrelevance == "test":
            found = np.isin(information.packed.columns[columns], memory.discoveries)
            columns = self._keep_found(columns, found, memory)
        TreeBuilder(information, self._rules(), memory).insert_in_order(columns)
        return memory

    def _conclude(self, information: Information, memory: Growth) -> Selection:  # noqa: ARG002
        nodes = list(memory.tree.parent)
        position = {ROOT: ROOT, **{node: position for position, node in enumerate(nodes)}}
        parents = [position[memory.tree.parent[node]] for node in nodes]
        return Selection(
            np.array(nodes, np.int64),
            np.array(parents, np.int64),
            dropped=memory.dropped,
            lost_to=memory.lost_to,
            tree=True,
        )

    def _rules(self) -> Rules:
        return Rules(
            self.relevance_weight,
            math.inf if self.max_depth is None else self.max_depth,
            math.inf if self.max_children is None else self.max_children,
            self.rule,
            self.irrelevance,
            self.swap if self.order == "given" else "never",
        )
