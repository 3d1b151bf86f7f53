"""SLFS: select features by residual pursuit, or as in the paper, and arrange them in a tree."""

from __future__ import annotations

import functools
import math
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from slfs._compat import Interval, StrOptions
from slfs._core.interface import parameter
from slfs._core.memory import show_size
from slfs._core.resources import Resources
from slfs._core.warn import warn
from slfs.base import TrainingData
from slfs.counting.planes import SampleLayout
from slfs.measures.false_discovery import LordPlusPlus, q_values
from slfs.measures.information import Information
from slfs.network.tree import ROOT
from slfs.screening.facts import ColumnFacts, Judge
from slfs.screening.judging import drop_costly, drop_insignificant
from slfs.screening.plan import ALL_KINDS, CATEGORIES, least_bytes
from slfs.screening.reasons import Decision, Reason, Role
from slfs.selectors._shared.insertion import Growth, Rules, TreeBuilder
from slfs.selectors._shared.pursuit import Pursuit, Step, describe_steps
from slfs.selectors._shared.redundancy import is_contained
from slfs.selectors._shared.selection import Selection, packed_as
from slfs.selectors._shared.size_path import AutomaticSizeMixin
from slfs.selectors._shared.stream import Numbers, StreamSelector
from slfs.selectors._shared.wording import listed
from slfs.selectors.base import BaseSelector
from slfs.selectors.registry import register

_MOST_WORK = 1e10
"""Samples times classes times squared number of steps above which "auto" does without a pursuit."""

_FEW_TENTATIVE = 0.1
"""Share of tentative columns above which a selection from a wide table is warned about."""


@register("slfs")
class SLFS(StreamSelector, AutomaticSizeMixin):
    """Select the features that predict the class, and arrange them in a tree Bayesian network (SLFS).

    The next feature is the one that best explains what the features selected before it get wrong, and
    cross-validation finds how many are useful. Features are inserted into a tree with the class as root:
    it shows which features have new information, and which resemble each other. A relevant feature
    becomes a child of the class if that raises the criterion J of the paper more than any position below
    another feature; otherwise it moves down the tree, towards the features it is most redundant with.
    ``order`` chooses other rules for which feature is inserted next, and what happens to features that
    add little, among them those of the paper.

    Parameters
    ----------
    relevance_weight : float, default=0.5
        Weight of relevance relative to redundancy in J.
    max_depth : int or None, default=2
        Maximum depth of the tree; deeper trees keep more supporting features (MAXDEPTH in the paper,
        which recommends at most 5). ``None`` means no limit.
    max_children : int or None, default=15
        Maximum number of children of the class and of each feature (NCH in the paper, which recommends
        at most 15). ``None`` means no limit.
    n_features_to_select : int, float or "auto", default="auto"
        Number of features to select, or fraction of the columns.

        With ``order="residual"``, ``"auto"`` takes the number with the smallest cross-validated log
        loss; see ``cv``, ``max_features``, ``one_standard_error`` and ``size_path_``. A number keeps the
        features that were inserted first.

        With other orders, ``"auto"`` keeps all features of the tree; otherwise they are kept level by
        level, and within a level in order of insertion.
    rule : {"objective", "printed"}, default="objective"
        How the position of a feature is chosen. ``"objective"`` maximizes J. ``"printed"`` uses eq. 8 to
        10 of the paper as printed; then few features after the first one become children of the class.
    irrelevance : {"mdl", "printed", "reversed", "test"}, default="mdl"
        Criterion for dropping irrelevant features.

        - ``"mdl"``: features whose information does not exceed the cost of their parameters. Numeric
          columns must have a cut point accepted by MDLP; other columns must satisfy
          2 N I(f;Y) > (d-1)(c-1) log N, with N samples, d levels and c classes.
        - ``"printed"``: eq. 7 of the paper.
        - ``"reversed"``: eq. 7 with its first inequality reversed, as the text of the paper describes
          it.
        - ``"test"``: features that are not significant at a false discovery rate of ``fdr``. The rate is
          controlled with the Benjamini-Hochberg procedure or, with ``order="given"``, with LORD++. The
          tests use ranks and levels that do not depend on the class and are
          exact for small counts; see `slfs.evaluation.significance`. Columns without an MDLP cut point
          are also dropped, because they have a single level.
    swap : {"printed", "objective", "never"}, default="printed"
        When an inserted feature replaces a node of the tree: if it is more relevant (``"printed"``,
        eq. 12), only if J of the whole tree increases (``"objective"``), or never. Used with
        ``order="given"`` only.
    order : {"auto", "residual", "conditional", "relevance", "given"}, default="auto"
        Order in which features are inserted into the tree.

        - ``"auto"``: ``"residual"``, unless this would take minutes, because there are very many samples
          or classes, or needs more than ``memory_limit``, or ``irrelevance`` is a reading of eq. 7; then
          ``"conditional"``. ``order_`` says which it was.
        - ``"residual"``: the next feature is the one whose levels best explain what a log-linear model
          of all features in the tree still gets wrong; see `ResidualPursuit`. It takes the best position
          that has room. Only copies and functions of a single feature of the tree are left out, or what
          is nearly one.
        - ``"conditional"``: the next feature has the largest minimum of I(f;Y) and of I(f;Y|k) over all
          nodes k of the tree. Features that add nothing to their parent are dropped as redundant, and
          those that would be placed below ``max_depth`` for lack of room.
        - ``"relevance"``: by decreasing relevance. Features are dropped as with ``"conditional"``.
        - ``"given"``: in the order of the columns, as in the paper. Only with this value does the
          selection depend on the order of the columns, and only with this value can columns arrive in a
          stream.
    fdr : float, default=0.05
        False discovery rate for ``irrelevance="test"``.
    cv : int, splitter or list of (train, test), default=5
        How to find the number of features by cross-validation: a number of folds, a splitter of
        scikit-learn, or the rows of each split. Each split is one more fit. Used
        with ``order="residual"`` and ``n_features_to_select="auto"`` only, like the next two parameters.
    max_features : int, default=100
        Largest number of features that is tried.
    one_standard_error : bool, default=False
        Take the smallest number of features whose log loss is at most one standard error (or 0.001 nats)
        above the smallest. This selects fewer features, with a slightly larger log loss.
    trends : bool, default=True
        With ``order="residual"``, whether the gain of a column of numbers is the mean of that of its
        levels and, with twice the weight, that of a trend over its quartiles, which the additive
        classifier then uses, too. A continuous target is explained by levels only.
    include : array-like, str or None, default=None
        Columns that are selected in any case, given by name, by index or as a mask. They are the first
        ones, and count towards ``n_features_to_select``.
    exclude : array-like, str or None, default=None
        Columns that are never selected.
    condition_on : array-like, str or None, default=None
        Columns such as age, sex or batch whose influence is taken into account, but which are not
        selected: the others are judged by what they tell about the class beyond these. Their p-values
        are given these columns, and a column without significant information given these is dropped.
    feature_groups : dict, array-like or None, default=None
        Groups of columns that are selected together or not at all, such as the columns of a one-hot
        encoding or the genes of a pathway: a mapping of names to columns, given by name, by index or as
        a mask, or one label per column (``None`` or -1 for a column of its own). A group is judged by
        what the tables of all its columns together explain. ``order`` must be ``"residual"`` or
        ``"auto"``.
    target : {"auto", "classification", "regression"}, default="auto"
        Type of the target. With ``"auto"``, floats with fractional parts are a continuous target, and
        integers, strings and booleans are class labels. A continuous target is cut into bins at its
        quantiles, which are used like classes; with ``order="residual"`` its numbers are explained
        beside the bins. p-values compare columns with the numbers themselves.
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
    support_ : ndarray of shape (n_features_in_,)
        Mask of the selected columns.
    n_features_ : int
        Number of selected columns.
    indices_ : ndarray of shape (n_features_,)
        Selected columns, in order of selection.
    selection_scores_ : ndarray of shape (n_features_,)
        Score of each selected column at the time of its selection: with ``order="residual"`` how well
        its levels explain the residuals, otherwise the relevance I(f;Y), in nats.
    size_path_ : SizePath or None
        Cross-validated log loss by number of features, with the fields ``n_features``, ``log_loss``,
        ``standard_error``, ``best`` and ``within_one_standard_error``. If ``best`` is 0, a feature is
        selected nevertheless if it is significant. None if ``order`` is not ``"residual"`` or the number
        of features was given.
    scores_ : ndarray of shape (n_features_in_,)
        Relevance I(f;Y) of every column, in nats.
    pvalues_ : ndarray of shape (n_features_in_,)
        p-value of each column for independence from the class. The tests use levels that do not depend
        on the class: ranks and six intervals for numeric columns.
    qvalues_ : ndarray of shape (n_features_in_,)
        q-value of each column: the smallest false discovery rate (Benjamini-Hochberg) at which it is
        significant.
    duplicates_ : list of list of str
        Groups of columns with the same levels after discretization: copies and recodings.
    leaks_ : list of str
        Columns that determine the class nearly completely; ``fit`` issues a `LeakageWarning`.
    network_ : TreeNetwork
        The tree over the selected columns.
    order_ : str
        The order in which features were inserted: ``order``, or what ``"auto"`` means for the table.
    features_ : recarray of shape (n_features_in_,)
        One record per column; ``pandas.DataFrame(selector.features_)`` converts it to a dataframe. The
        fields are:

        - ``name``: name of the column.
        - ``role``: "strongly relevant" (child of the class), "weakly relevant, non-redundant" (deeper in
          the tree), "redundant" or "irrelevant", as in the paper; "supporting" (deeper in the tree, adds
          nothing significant to its parent alone), "tentative" (in the tree, but not significant),
          "included" (by ``include``, but not significant), "no room" (the tree is full) or "too weak"
          (significant, but dropped on its own) where these would be wrong; "outranked" (others were
          preferred); "selected" for methods without a tree; "unconfirmed" (selected in too few
          subsamples) for `StabilitySelection`.
        - ``relevance``, ``entropy``: I(f;Y) and H(f), in nats.
        - ``numeric``: whether its numbers are cut into intervals; False for categories.
        - ``n_levels``: number of levels after discretization.
        - ``level``: level in the tree, 1 for the children of the class and 0 for dropped columns.
        - ``parent``: name of the parent in the tree; None for children of the class and dropped columns.
        - ``lost_to``: name of the selected column that a dropped one lost to: it is redundant with it,
          or would be its child if there were room. None for other columns.
        - ``mutual_information``, ``conditional_relevance``: I(f;k) and I(f;Y|k) with the column k in
          ``parent`` or ``lost_to``; NaN without one.
        - ``relevance_given``: information about the class beyond that of the columns of
          ``condition_on``, in nats: the drop in the mean log loss of their model when the levels of the
          column are added; NaN without such columns.
        - ``p_value``, ``q_value``: as in ``pvalues_`` and ``qvalues_``.
        - ``reason``: why the column was selected or dropped, in a few words; ``explain`` returns a
          sentence.
    target_type_ : str
        Type of the target: "classification" or "regression".
    target_bins_ : recarray of shape (n_bins,) or None
        The bins of a continuous target: ``name`` (such as "price ≤ 2.5"), ``lower`` and ``upper``
        (bounds: lower < y <= upper), ``smallest``, ``largest`` and ``mean`` of the values in the bin,
        and their number ``n_samples``. There are 3 bins, from 500 samples on 5; fewer if many values
        are equal. None for classes.
    classes_ : ndarray of shape (n_classes,)
        Class labels. Not defined for a continuous target.
    n_features_in_ : int
        Number of columns seen during ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns seen during ``fit``. Defined only when all of them are strings.

    See Also
    --------
    BNSLFS : Classifier on the selected features.
    ResidualPursuit : The same order as ``order="residual"``, without a tree; copies are selected too.
    slfs.plotting.SizePathDisplay : Plot of ``size_path_``.

    Notes
    -----
    With many more columns than samples, MDLP finds cut points in some columns of pure noise, because
    each column is tested on its own; ``irrelevance="test"`` accounts for the number of columns.

    The algorithm of the paper is ``SLFS(order="given")``; with ``rule="printed"`` its formulas are used
    as printed.

    A feature f is redundant with a feature k of the tree if I(f;Y|k) is not significant at 5%: copies,
    recodings and functions of one column are. With ``order="residual"``, a feature that was selected is
    never called redundant, because it adds information to the features before it taken together, but
    "supporting" if it adds nothing significant to its parent alone. With ``order="given"``, as in the
    paper, a redundant feature becomes a child of k as long as the tree has room, and is called
    "supporting", too. With ``max_depth=1`` only children of the class are selected.

    Theorem 1 of the paper considers only the edge of the swapped pair. The terms of the grandparent and
    of the children change as well, so that J of the whole tree may decrease after a swap with
    ``swap="printed"``. ``swap="objective"`` takes the whole tree into account.

    References
    ----------
    H. Zare and M. Niazi, "Relevant based structure learning for feature selection", Engineering
    Applications of Artificial Intelligence 55, 2016. I. Tsamardinos et al., "The gamma-OMP algorithm for
    feature selection with application to gene expression data", IEEE/ACM TCBB 19, 2022.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from slfs import SLFS
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> selector = SLFS(n_features_to_select=1).fit(X, y)
    >>> selector.get_feature_names_out()
    array(['petal width (cm)'], dtype=object)
    >>> selector.explain("petal width (cm)")
    "'petal width (cm)' is selected as strongly relevant: it has 0.955 nats of information ..."
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **StreamSelector._parameter_constraints,
        **AutomaticSizeMixin._parameter_constraints,
        "relevance_weight": [Interval(Real, 0, None, closed="left")],
        "max_depth": [Interval(Integral, 1, None, closed="left"), None],
        "max_children": [Interval(Integral, 1, None, closed="left"), None],
        "rule": [StrOptions({"objective", "printed"})],
        "irrelevance": [StrOptions({"mdl", "printed", "reversed", "test"})],
        "swap": [StrOptions({"printed", "objective", "never"})],
        "order": [StrOptions({"auto", "residual", "conditional", "relevance", "given"})],
        "fdr": [Interval(Real, 0, 1, closed="neither")],
    }

    _fitted: ClassVar[frozenset[str]] = StreamSelector._fitted | AutomaticSizeMixin._fitted | {"order_"}

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
        order: str = "auto",
        fdr: float = 0.05,
        cv: int = 5,
        max_features: int = 100,
        one_standard_error: bool = False,
        trends: bool = True,
        include: Any = None,
        exclude: Any = None,
        condition_on: Any = None,
        feature_groups: Any = None,
        target: str = "auto",
        categorical_features: Any = "from_dtype",
        class_weight: Any = None,
        n_jobs: int | None = None,
        memory_limit: int | str | None = None,
        device: str = "cpu",
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
        self.cv = cv
        self.max_features = max_features
        self.one_standard_error = one_standard_error
        self.trends = trends
        self.include = include
        self.exclude = exclude
        self.condition_on = condition_on
        self.feature_groups = feature_groups
        self.target = target
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.device = device

    def _judge(self) -> Judge:
        if self.irrelevance == "mdl":
            return drop_costly
        if self.irrelevance == "test":
            return functools.partial(drop_insignificant, fdr=float(self.fdr))
        return super()._judge()

    def _hints(self) -> list[str]:
        return [*self._hints_on_size(), *self._hints_on_chance()]

    def _hints_on_size(self) -> list[str]:
        wanted = self._n_wanted(len(self.features_))
        fewer = wanted is not None and self.n_features_ < wanted <= len(self.features_)
        if not fewer or not self._tree_is_full():
            return []
        text = (
            f"Only {self.n_features_} of n_features_to_select={self.n_features_to_select} columns are "
            "selected, because the tree is full. Increase max_depth or max_children, or set one of "
            "them to None."
        )
        return [text]

    def _tree_is_full(self) -> bool:
        """Whether a column was dropped for want of room, or the tree has no room anywhere."""
        if (self.features_["role"] == Role.NO_ROOM).any():
            return True
        if self.max_depth is None or self.max_children is None:
            return False
        network = self.network_
        above = np.append(ROOT, np.flatnonzero(network.levels < self.max_depth))
        return all((network.parents == node).sum() >= self.max_children for node in above)

    def _hints_on_chance(self) -> list[str]:
        tentative = self.features_["role"] == Role.TENTATIVE
        forced = self._forced()
        if forced is not None and forced.group is not None:
            tentative &= forced.group < 0  # a group is selected as a whole
        n_tentative = int(tentative.sum())
        wide = len(self.features_) > self.network_counts_.n_samples
        if not wide or self.irrelevance != "mdl" or n_tentative <= _FEW_TENTATIVE * self.n_features_:
            return []
        given = f" given {listed(self.conditioning_)}" if self.conditioning_ else ""
        text = (
            f"Tentative columns: {n_tentative} of {self.n_features_} selected. Their dependence on the "
            f"{self._target_noun()}{given} is not significant. With more columns than samples, "
            f"{parameter('irrelevance', 'test')} drops columns that pass by chance."
        )
        return [text]

    def _check_streamable(self) -> None:
        super()._check_streamable()
        if self.order != "given":
            raise ValueError(
                f"order={self.order!r} needs all columns at once, but a stream has only the columns "
                "that have arrived so far. Use order='given'."
            )
        for name in ("include", "exclude", "condition_on"):
            if getattr(self, name) is not None:
                raise ValueError(
                    f"{name} cannot be used with a stream, whose columns are not known beforehand. "
                    "Leave columns out of the blocks instead, or use fit."
                )
        self.order_ = self.order

    def _fit_table(self, data: TrainingData, resources: Resources) -> None:
        self.order_ = self._resolve_order(data, resources) if self.order == "auto" else self.order
        if self.feature_groups is not None and self.order_ != "residual":
            raise ValueError(
                f"feature_groups needs order='residual', which judges columns together, not "
                f"order={self.order!r}."
            )
        if self.order_ == "given":
            self._check_forced_in_order()
            super()._fit_table(data, resources)
            return
        if self.order_ == "residual":
            if self.irrelevance in ("printed", "reversed"):
                raise ValueError(
                    f"{parameter('irrelevance', self.irrelevance)} compares a column with the tree and "
                    f"cannot be combined with {parameter('order', 'residual')}, which does so with all "
                    f"selected columns. Use {parameter('order', 'given')} as in the paper, or "
                    f"{parameter('irrelevance', 'mdl')}."
                )
            self._fit_by_pursuit(data, resources)
            return
        BaseSelector._fit_table(self, data, resources)

    def _check_forced_in_order(self) -> None:
        """Raise an error if there are columns that do not take their turn."""
        for name in ("include", "condition_on"):
            if getattr(self, name) is not None:
                raise ValueError(
                    f"{name}={getattr(self, name)!r} cannot be combined with order='given', the "
                    "algorithm of the paper, in which each column is judged when it arrives. Use "
                    "another order."
                )

    def _resolve_order(self, data: TrainingData, resources: Resources) -> str:
        """Return the order that "auto" means for a table."""
        if self.feature_groups is not None:
            return "residual"
        n_steps = self._n_steps(data.table.n_features)
        work = data.layout.n_samples * data.layout.n_classes * n_steps**2
        if self.irrelevance in ("printed", "reversed") or work > _MOST_WORK:
            return "conditional"
        needed, spare = sum(self._needed_bytes(data)), resources.budget.spare()
        if needed <= spare:
            return "residual"
        if spare >= least_bytes(data.layout.n_samples, data.table.n_features):  # or an error follows
            warn(
                f"order='auto' uses 'conditional': 'residual' would need {show_size(needed)}, which "
                f"{parameter('memory_limit', self.memory_limit)} does not leave. Raise "
                f"{parameter('memory_limit')}, or lower {parameter('max_features')} or "
                f"{parameter('n_features_to_select')}."
            )
        return "conditional"

    def _shared_figures(self) -> dict[str, Any]:
        return {**super()._shared_figures(), "order": self.order_}

    def _set_fitted(self, *args: Any) -> None:
        if self.order_ != "residual":
            self.size_path_ = None
        super()._set_fitted(*args)

    def _fits_additive_tables(self) -> bool:
        return self.order_ == "residual" or super()._fits_additive_tables()

    def _needs_quartiles(self, layout: SampleLayout) -> bool:
        if self.order_ == "residual":
            return super()._needs_quartiles(layout)
        return self.trends and BaseSelector._needs_quartiles(self, layout)

    def _select(self, information: Information, facts: ColumnFacts) -> Selection:
        growth = Growth()
        candidates = self._candidates(information, facts, growth)
        builder = TreeBuilder(information, self._rules(), growth)
        if self.order_ != "residual":
            for f in packed_as(information, facts, Reason.INCLUDED).tolist():
                self._place_included(builder, f)
        given = packed_as(information, facts, Reason.CONDITIONING)
        n_included = len(growth.tree.parent)
        if self.order_ == "residual":
            pursuit = self._pursuit(information, facts)
            return self._select_by_residuals(builder, pursuit, self._size(pursuit, information, facts))
        if self.order_ == "conditional":
            builder.insert_by_margin(candidates, given)
        else:
            least = information.relevance[candidates]
            for node in given.tolist():
                least = np.minimum(least, information.pairs(node, candidates).of_other_given_one)
            builder.insert_in_order(candidates[np.argsort(-least, kind="stable")])
        return replace(self._conclude(information, growth), n_included=n_included)

    def _place_included(self, builder: TreeBuilder, f: int) -> None:
        if not builder.place(f):
            raise ValueError(
                f"'include' lists more columns than the tree has room for: max_depth={self.max_depth}, "
                f"max_children={self.max_children}. Raise one of them, or include fewer."
            )

    def _candidates(
        self, information: Information, facts: ColumnFacts, growth: Growth
    ) -> NDArray[np.int64]:
        """Return the packed columns that may be selected; those that are not significant are dropped."""
        candidates = packed_as(information, facts, Reason.CANDIDATE)
        if self.irrelevance == "test":
            found = q_values(facts.p_value)[information.packed.columns] <= self.fdr
            for group in self._packed_groups(information, facts):
                found[group.columns] = found[group.columns].any()
            candidates = self._keep_found(candidates, found[candidates], growth)
        return candidates

    def _pursuit(self, information: Information, facts: ColumnFacts) -> Pursuit:
        candidates = self._candidates(information, facts, Growth())
        return Pursuit(
            information,
            candidates,
            functools.partial(is_contained, information),
            given=packed_as(information, facts, Reason.CONDITIONING),
            included=packed_as(information, facts, Reason.INCLUDED),
            groups=[
                group
                for group in self._packed_groups(information, facts)
                if np.isin(group.columns, candidates).all()
            ],
        )

    def _tested_in_folds(self) -> frozenset[str]:
        return ALL_KINDS if self.irrelevance == "test" else CATEGORIES  # see drop_costly

    def _select_by_residuals(self, builder: TreeBuilder, pursuit: Pursuit, size: int) -> Selection:
        """Place the columns of a residual pursuit until there are enough or the tree is full."""
        steps: list[Step] = []
        full = False
        for step in pursuit.take(size):
            if step.included:
                self._place_included(builder, step.column)
                steps.append(step)
                continue
            full = not builder.place(step.column)
            if full:
                entered = step.n_after - step.n_together
                for placed in reversed(steps[entered:]):  # a group that has no room as a whole
                    builder.tree.detach(placed.column)
                steps = steps[:entered]
                break
            steps.append(step)
        builder.drop_rest(np.setdiff1d(pursuit.candidates, [step.column for step in steps]))
        ended = not full and len(steps) < size and not pursuit.groups
        described = describe_steps(steps)
        for f, node in builder.growth.displaced.items():
            described["figures"].setdefault(f, {})["displaced_by"] = node
        return replace(
            self._conclude(builder.information, builder.growth),
            otherwise=Reason.NO_ROOM if full else Reason.BEYOND_SIZE if size else Reason.NO_GAIN,
            pairwise=ended,  # then all others are contained in a column of the tree
            **described,
        )

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
            self.swap if self.order_ == "given" else "never",
            drop_redundant=self.order_ != "given",
        )
