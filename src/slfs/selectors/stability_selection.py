"""Stability selection: a selector on many subsamples -> the features selected in most of them."""

from __future__ import annotations

import functools
import math
from dataclasses import fields, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from slfs._compat import HasMethods, Interval
from slfs._core.progress import counted, progress_callback
from slfs._core.resources import Resources
from slfs._core.warn import quiet
from slfs.base import TrainingData
from slfs.counting.backend import make_backend
from slfs.measures.information import Information
from slfs.measures.stability import Stability, nogueira
from slfs.network.consensus import ConsensusNetwork, consensus_tree, count_edges
from slfs.network.tree import ROOT, TreeNetwork
from slfs.screening.facts import ColumnFacts
from slfs.screening.forced import Forced
from slfs.screening.judging import CERTAIN, keep_all
from slfs.screening.pipeline import screen_table
from slfs.screening.plan import ALL_KINDS
from slfs.screening.reasons import Reason
from slfs.selectors._shared.nested import DefaultSelectorMixin
from slfs.selectors._shared.records import set_reason
from slfs.selectors._shared.row_groups import small_strata
from slfs.selectors._shared.selection import Selection
from slfs.selectors._shared.size_path import AutomaticSizeMixin
from slfs.selectors._shared.subsamples import Run, calibrate, count_runs, draw, only, select_on_rows
from slfs.selectors.base import BaseSelector
from slfs.selectors.slfs import SLFS
from slfs.tables.parts import Part, WithNoise
from slfs.tables.table import SpreadTable

Ints = NDArray[np.int64]
_SMALL = 5
"""Strata of condition_on with at most as many samples are drawn as a whole, as in five folds."""


class StabilitySelection(DefaultSelectorMixin, BaseSelector):
    """Select the features that a selector selects on most subsamples of the data.

    The subsamples are drawn in complementary pairs, stratified by class. A feature is selected if it is
    selected on at least a fraction ``threshold`` of the subsamples. Small groups of samples that the
    selector is conditioned on, such as pairs of a patient (``condition_on``), are drawn as a whole.

    Parameters
    ----------
    selector : selector or None, default=None
        Selector to run on each subsample. Any selector of this library can be used; its ``n_jobs`` is
        ignored. ``None`` means ``SLFS()``, which finds the number of features by cross-validation on
        every subsample; a given number of features is at least five times as fast.
    n_subsamples : int, default=50
        Number of subsamples. Each pair counts as two subsamples.
    fraction : float, default=0.5
        Fraction of the samples in each subsample. Above 0.5 the two subsamples of a pair overlap.
    threshold : float, default=0.6
        Minimum fraction of subsamples on which a feature must be selected. Ignored if ``fdr`` is set. A
        feature that is selected often enough, but has no levels that tell something about the class on
        all samples together (MDLP finds no cut), cannot be part of the network and is dropped.
    n_features_to_select : int, float or "auto", default="auto"
        Maximum number of features to select, or fraction of the columns. ``"auto"`` keeps all
        features that are selected frequently enough; otherwise the most frequently selected ones are
        kept, and ties are broken by relevance.
    fdr : float or None, default=None
        False discovery rate: expected fraction of noise among the selected features. If set, the
        threshold is calibrated with noise columns that are added to the table; see Notes.
    random_state : int, RandomState or None, default=0
        Controls the subsamples and the noise columns.
    n_jobs : int or None, default=None
        Number of subsamples to process in parallel, with one thread each. ``None`` means 1 unless in
        a ``joblib.parallel_backend`` context; ``-1`` means all cores. Results do not depend on it.

    Attributes
    ----------
    support_ : ndarray of shape (n_features_in_,)
        Mask of the selected columns.
    frequencies_ : ndarray of shape (n_features_in_,)
        Fraction of subsamples on which each column was selected.
    threshold_ : float
        Threshold that was used; infinity if no threshold achieves the false discovery rate.
    stability_ : Stability
        Agreement between the subsamples: Nogueira's measure with a confidence interval.
    supports_ : sparse array of shape (n_subsamples, n_features_in_)
        Mask of the columns selected on each subsample.
    edges_ : recarray
        All edges of the networks learned on the subsamples, by decreasing frequency. The fields are
        ``parent`` (index of a column, -1 for the class), ``child`` and ``frequency``.
    network_ : TreeNetwork
        Consensus network: a tree over the selected columns built from the most frequent edges. Edges
        that would close a cycle are skipped. Its information values are computed on all samples.
    consensus_ : ConsensusNetwork
        The same network with frequencies. Drawings show frequencies instead of information.
    edge_frequencies_ : ndarray of shape (n_features_,)
        Frequency of the edge between each node of ``network_`` and its parent.
    noise_frequencies_ : ndarray or None
        Fraction of subsamples on which each noise column was selected; None if ``fdr`` is not set.
    features_ : recarray of shape (n_features_in_,)
        One record per column, as in `SLFS`, with the additional field ``frequency``.
    indices_ : ndarray of shape (n_features_,)
        Selected columns, by decreasing frequency.
    selection_scores_ : ndarray of shape (n_features_,)
        Frequency of each selected column.
    scores_ : ndarray of shape (n_features_in_,)
        Relevance I(f;Y) of every column, in nats.
    pvalues_, qvalues_ : ndarray of shape (n_features_in_,)
        p-value of each column for independence from the class, and the corresponding q-value.
    n_features_, n_features_in_, feature_names_in_, target_type_, target_bins_, classes_
        As in `SLFS`.

    See Also
    --------
    slfs.measures.nogueira : The stability measure, for selections of any kind.
    slfs.measures.effective_stability : The same measure if similar columns count as the same.
    slfs.evaluation.feature_groups : Groups of columns that replace each other on the subsamples.

    Notes
    -----
    With ``fdr=q``, a noise column is added for every column: a copy with permuted rows, with the same
    permutation for all columns. The threshold is the smallest t with (1 + number of noise columns
    with frequency >= t) / max(1, number of columns with frequency >= t) <= q. Because of the 1, either
    no features or at least 1/q features are selected. This is the rule of the knockoff filter, but
    permuted columns are not knockoffs. They represent columns that are independent of the class and of
    all other columns; for these the false discovery rate is controlled approximately, but there is no
    proof. A column whose information about the class is also contained in other columns is not noise in
    this sense. Noise that is correlated with informative columns may be selected more often.

    References
    ----------
    N. Meinshausen and P. Bühlmann, "Stability selection", JRSS B 72, 2010.
    R. D. Shah and R. J. Samworth, "Variable selection with error control: another look at stability
    selection", JRSS B 75, 2013 (complementary pairs).
    R. F. Barber and E. J. Candès, "Controlling the false discovery rate via knockoffs", Annals of
    Statistics 43, 2015.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from slfs import SLFS, StabilitySelection
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> selector = StabilitySelection(SLFS(n_features_to_select=4), n_subsamples=20).fit(X, y)
    >>> selector.get_feature_names_out()
    array(['alcohol', 'flavanoids', 'color_intensity', 'proline'], dtype=object)
    >>> print(selector.stability_)
    stability 0.65 (95% interval 0.56 to 0.75): fair
    >>> selector.explain("hue")
    "'hue' is dropped as unconfirmed: it has ... selected in 8 of 20 subsamples, ..."
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "selector": [HasMethods(["fit", "to_classifier"]), None],
        "n_subsamples": [Interval(Integral, 2, None, closed="left")],
        "fraction": [Interval(Real, 0, 1, closed="neither")],
        "threshold": [Interval(Real, 0, 1, closed="right")],
        "n_features_to_select": BaseSelector._parameter_constraints["n_features_to_select"],
        "fdr": [Interval(Real, 0, 1, closed="neither"), None],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
    }

    _fitted: ClassVar[frozenset[str]] = BaseSelector._fitted | {
        "frequencies_",
        "noise_frequencies_",
        "threshold_",
        "edges_",
        "edge_frequencies_",
        "_chosen",
        "_starts",
    }

    def __init__(
        self,
        selector: BaseSelector | None = None,
        *,
        n_subsamples: int = 50,
        fraction: float = 0.5,
        threshold: float = 0.6,
        n_features_to_select: float | str = "auto",
        fdr: float | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.selector = selector
        self.n_subsamples = n_subsamples
        self.fraction = fraction
        self.threshold = threshold
        self.n_features_to_select = n_features_to_select
        self.fdr = fdr
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Select features for classification.

        Parameters
        ----------
        X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
            Training data. Numbers are discretized by MDLP; strings, booleans and categories are used as
            they are, ordered categories of pandas are cut by MDLP; missing values are a separate level.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weight of each row. Whole numbers are frequencies: the result is the same as if each row were
            repeated as often. Other weights say how much a row matters; their scale is irrelevant, see
            the page "Sample weights" of the documentation. Rows with weight 0 are left out. ``None``
            means 1 for every row.
        groups : array-like of shape (n_samples,) or None, default=None
            Group of each row, such as a patient or a site. Subsamples are drawn of groups, and the
            selector gets the groups too if it finds its number of features by cross-validation.

        Returns
        -------
        self : object
            The fitted selector.
        """
        return self._fit_rows(X, y, sample_weight, groups)

    @property
    def target(self) -> str:  # type: ignore[override]
        """The ``target`` of the selector."""
        target: str = self._inner().target
        return target

    def _declares_classes(self) -> bool:
        declares: bool = self._inner()._declares_classes()
        return declares

    @property
    def categorical_features(self) -> Any:
        """The ``categorical_features`` of the selector."""
        return self._inner().categorical_features

    @property
    def class_weight(self) -> Any:
        """The ``class_weight`` of the selector."""
        return getattr(self._inner(), "class_weight", None)

    @property
    def memory_limit(self) -> int | str | None:  # type: ignore[override]
        """The ``memory_limit`` of the selector; with a limit, subsamples are processed sequentially."""
        limit: int | str | None = self._inner().memory_limit
        return limit

    @property
    def device(self) -> str:  # type: ignore[override]
        """The ``device`` of the selector."""
        device: str = self._inner().device
        return device

    @property
    def supports_(self) -> sparse.csr_array:
        """Mask of the columns selected on each subsample, one row per subsample."""
        check_is_fitted(self)
        shape = (len(self._starts) - 1, self.n_features_in_)
        ones = np.ones(len(self._chosen), np.bool_)
        return sparse.csr_array((ones, self._chosen, self._starts), shape=shape)

    @property
    def stability_(self) -> Stability:
        """Agreement between the subsamples."""
        return nogueira(self.supports_)

    @property
    def consensus_(self) -> ConsensusNetwork:
        """The consensus network with the frequencies of its features and edges."""
        check_is_fitted(self)
        own = {part.name: getattr(self.network_, part.name) for part in fields(TreeNetwork)}
        return ConsensusNetwork(
            **own, frequency=self.selection_scores_, edge_frequency=self.edge_frequencies_
        )

    def _take_columns(self, columns: Ints) -> Self:
        copy = super()._take_columns(columns)
        copy.frequencies_ = self.frequencies_[columns]
        supports = self.supports_[:, columns]
        copy._chosen, copy._starts = supports.indices.astype(np.int64), supports.indptr.astype(np.int64)
        position = np.full(self.n_features_in_ + 1, ROOT - 1)  # its last entry is that of the class
        position[columns], position[ROOT] = np.arange(len(columns)), ROOT
        edges = np.array(self.edges_)
        for end in ("parent", "child"):
            edges[end] = position[edges[end]]
        inside = (edges["parent"] >= ROOT) & (edges["child"] >= 0)
        copy.edges_ = edges[inside].view(np.recarray)
        return copy

    def _shared_figures(self) -> dict[str, Any]:
        """Return the figures for all columns; reasons of the inner selector mention its parameters."""
        needed = self.threshold_ * self.n_subsamples
        return {
            **super()._shared_figures(),
            **self._inner().get_params(deep=False),
            "n_features_to_select": self.n_features_to_select,  # not that of the inner selector
            "needed": None if math.isinf(needed) else round(needed),
            "fdr_of_frequencies": self.fdr,
            "n_empty": int((self.supports_.sum(axis=1) == 0).sum()),
        }

    def _inner(self) -> Any:
        if isinstance(self.selector, StabilitySelection):
            raise TypeError(
                "selector is a StabilitySelection itself. Pass the selector to be run on the subsamples."
            )
        if isinstance(self.selector, type):
            raise TypeError(f"selector is a class. Pass an instance: {self.selector.__name__}().")
        return SLFS() if self.selector is None else self.selector

    def _fit_table(self, data: TrainingData, resources: Resources) -> None:
        if isinstance(data.table, SpreadTable):
            raise TypeError(
                "StabilitySelection does not support Dask collections, because it reads subsets of the "
                "rows many times. Pass X.compute() instead."
            )
        inner = self._inner()
        automatic = isinstance(inner, AutomaticSizeMixin) and inner.n_features_to_select == "auto"
        if automatic and not isinstance(inner.cv, Integral) and not hasattr(inner.cv, "split"):
            raise ValueError(
                "The selector of StabilitySelection has a list of splits as cv. Its row numbers are "
                "those of X, not of a subsample. Use a number of folds or a splitter."
            )
        runs, noise_runs = self._runs(data, resources)
        n_features = data.table.n_features
        counts, noise = count_runs(runs, n_features), count_runs(noise_runs, n_features)
        calibrated = self.fdr is not None
        self.noise_frequencies_ = noise / self.n_subsamples if calibrated else None
        needed: float = math.ceil(round(self.threshold * self.n_subsamples, 9))
        if self.fdr is not None:
            forced = self._forced()
            free = slice(None) if forced is None else forced.reason == Reason.CANDIDATE
            needed = calibrate(counts[free], noise, self.fdr, self.n_subsamples)
        self.threshold_ = needed / self.n_subsamples
        self.frequencies_ = counts / self.n_subsamples
        self._chosen = np.concatenate([np.sort(columns) for columns, _ in runs])
        self._starts = np.cumsum([0, *(len(columns) for columns, _ in runs)])
        self.edges_ = count_edges(runs, self.n_subsamples)
        self._keep(data, resources, np.flatnonzero(counts >= needed))

    def _runs(self, data: TrainingData, resources: Resources) -> tuple[list[Run], list[Run]]:
        """Run the selector on each subsample: the selected columns, and the selected noise columns."""
        seeds = check_random_state(self.random_state).randint(2**31 - 1, size=self.n_subsamples // 2 + 2)
        table, names, categorical = data.table, self._feature_names().tolist(), data.categorical
        noisy = None
        if self.fdr is not None:
            noisy = WithNoise(table, names, np.random.default_rng(int(seeds[0])))
            table, names, categorical = noisy, noisy.names, categorical[noisy.source]
        # a memory limit applies to one fit: then the fits are sequential and use the threads themselves
        own = self.n_jobs if resources.budget.limit < math.inf else 1
        target = data.target
        selector = clone(self._inner()).set_params(
            categorical_features=categorical, n_jobs=own, **self._forced_params(noisy)
        )
        if "target" in selector.get_params():
            selector.set_params(target=target.kind)
        if "class_weight" in selector.get_params():  # the weights of the samples contain it
            selector.set_params(class_weight=None)
        work = functools.partial(select_on_rows, selector, replace(data, table=table), names)
        halves = [(int(seeds[1 + run // 2]), run % 2 == 1) for run in range(self.n_subsamples)]

        together = data.groups
        if together is None:
            together = small_strata(_SMALL, data, self._forced(), self._feature_names())

        def one(half: tuple[int, bool]) -> Run:
            # progress is reported per subsample, and identifiers are warned about once, at the end
            with progress_callback(None), quiet():
                return work(draw(data.layout, self.fraction, *half, groups=together))

        reported = counted(one, self.n_subsamples)
        at_once = resources.threads.count if resources.budget.limit == math.inf else 1
        runs = list(resources.threads.each(reported, halves, at_once))
        if noisy is None:
            return runs, []
        real, noise = ~noisy.is_noise, noisy.is_noise
        return [only(run, real, noisy) for run in runs], [only(run, noise, noisy) for run in runs]

    def _forcing(self) -> Any:
        return self._inner()

    def _forced_params(self, noisy: WithNoise | None) -> dict[str, Any]:
        """Return the parameters of the inner selector that list columns, by index.

        Noise columns that belong to the listed columns are excluded, and those of a group are a group.
        """
        forced = self._forced()
        if forced is None:
            return {}
        reason, group = forced.reason, forced.group
        if noisy is not None:
            if group is not None:
                group = group[noisy.source]
                group = np.where(noisy.is_noise & (group >= 0), group + len(group), group)
            decided = reason[noisy.source] != Reason.CANDIDATE
            reason = np.where(noisy.is_noise & decided, Reason.EXCLUDED, reason[noisy.source])
        codes = {
            "include": Reason.INCLUDED,
            "exclude": Reason.EXCLUDED,
            "condition_on": Reason.CONDITIONING,
        }
        listed = {name: np.flatnonzero(reason == code) for name, code in codes.items()}
        found = {name: columns for name, columns in listed.items() if len(columns)}
        return found if group is None else {**found, "feature_groups": group}

    def _keep(self, data: TrainingData, resources: Resources, columns: Ints) -> None:
        """Set the fitted attributes, given the columns that were selected frequently enough."""
        inner = clone(self._inner())
        cuts = inner._cut_points(data, resources)
        screen = functools.partial(screen_table, layout=data.layout, resources=resources)
        forced = self._forced()
        facts, store = screen(
            data.table,
            categorical=data.categorical,
            judge=inner._judge(),
            pack=False,
            tested=ALL_KINDS,
            cuts=cuts,
            forced=forced,
        )
        included = facts.reason == Reason.INCLUDED
        columns = np.union1d(columns[facts.relevance[columns] > 0], np.flatnonzero(included))
        order = np.lexsort(
            (columns, -facts.relevance[columns], -self.frequencies_[columns], ~included[columns])
        )
        kept = np.sort(columns[order[: self._n_wanted(data.table.n_features)]])
        if len(kept):
            names, every = self._feature_names()[kept].tolist(), np.arange(data.table.n_samples)
            part, own = Part(data.table, names, every, kept), cuts and [cuts[column] for column in kept]
            if forced is not None:  # the levels must be those of the facts
                if len(forced.conditioning):
                    forced = forced.with_found(np.arange(len(included)), facts.p_value <= CERTAIN)
                forced = Forced(forced.coded_as(kept))
            _, store = screen(
                part,
                categorical=data.categorical[kept],
                judge=keep_all,
                quartiles=self._needs_quartiles(data.layout),
                cuts=own,
                forced=forced,
            )
        packed = replace(store.packed(), columns=kept)
        information = Information(make_backend(packed, resources.threads))
        frequency = self.frequencies_[kept]
        nodes = np.lexsort((kept, -information.relevance, -frequency, ~included[kept]))
        parents, self.edge_frequencies_ = consensus_tree(self.edges_, kept[nodes])
        selection = Selection(nodes, parents, frequency[nodes])
        self._set_fitted(information, facts, selection, data.target)
        self.features_ = self._add_frequencies(self.features_, facts)
        self._warn(facts)

    def _warn(self, facts: ColumnFacts) -> None:
        if "frequency" in (self.features_.dtype.names or ()):  # the reasons are those of the subsamples
            super()._warn(facts)

    def _add_frequencies(
        self, records: np.recarray[Any, Any], facts: ColumnFacts
    ) -> np.recarray[Any, Any]:
        """Add the field ``frequency`` to the records, and the reasons that concern subsamples."""
        longer = np.zeros(len(records), [*records.dtype.descr, ("frequency", float)])
        for name in records.dtype.names or ():
            longer[name] = records[name]
        frequency = longer["frequency"] = self.frequencies_
        judged = (frequency == 0) & (facts.reason != Reason.CANDIDATE)
        rare = ~self.support_ & ~judged
        frequent = rare & (frequency >= self.threshold_)
        calibrated = math.isinf(self.threshold_)
        missed = Reason.NO_THRESHOLD if calibrated else Reason.RARELY_SELECTED
        set_reason(longer, rare, missed)
        set_reason(longer, frequent, Reason.BEYOND_SIZE)
        set_reason(longer, frequent & (facts.relevance <= 0), Reason.NO_INFORMATION)
        return longer.view(np.recarray)
