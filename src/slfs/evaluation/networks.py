"""A table and its classes -> networks learned from it in different ways, side by side."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp
from sklearn.base import clone

from slfs._compat import HasMethods, Interval, StrOptions, validate_params
from slfs._core.progress import counted, progress_callback
from slfs._core.threads import Threads
from slfs._core.warn import quiet
from slfs.classifiers.base import NetworkClassifier
from slfs.classifiers.tan import TAN, ChowLiu
from slfs.evaluation.folds import Split, stratified_folds
from slfs.evaluation.network_comparison import FoldScore, NetworkComparison, NetworkPair
from slfs.evaluation.paired_tests import corrected_t_test, mcnemar
from slfs.network.tree import ROOT, TreeNetwork
from slfs.selectors.base import BaseSelector
from slfs.selectors.slfs import SLFS
from slfs.tables.parts import Part
from slfs.tables.registry import read_table
from slfs.tables.table import Table, resolve_categorical
from slfs.tables.target import read_target
from slfs.tables.values import is_dask

Ints = NDArray[np.int64]


@validate_params(  # type: ignore[untyped-decorator]
    {
        "selector": [HasMethods(["fit", "to_classifier"]), None],
        "structure": [StrOptions({"linked", "augmented", "tree"})],
        "columns": [StrOptions({"selected", "all"})],
        "folds": [Interval(Integral, 2, None, closed="left")],
        "repeats": [Interval(Integral, 1, None, closed="left")],
        "random_state": [Interval(Integral, 0, 2**32 - 1, closed="both")],
        "n_jobs": [Integral, None],
    },
    prefer_skip_nested_validation=True,
)
def compare_networks(
    X: Any,
    y: ArrayLike,
    *,
    selector: BaseSelector | None = None,
    structure: str = "linked",
    columns: str = "selected",
    folds: int = 5,
    repeats: int = 5,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> NetworkComparison:
    """Compare the network of a selector with TAN and with the Chow-Liu tree on the same data.

    The three are learned from all samples, to compare their edges and the criterion J, and by repeated
    cross-validation, to compare how well they predict. In each training part the selector chooses anew,
    and TAN and the Chow-Liu tree see what it has chosen; all three see the same levels.

    Parameters
    ----------
    X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Class labels.
    selector : selector or None, default=None
        Any selector of this library; None: ``SLFS()``.
    structure : {"linked", "augmented", "tree"}, default="linked"
        Of its classifier, as in `BNSLFS`.
    columns : {"selected", "all"}, default="selected"
        What TAN and the Chow-Liu tree see. With "all" their log P(x,y) and J are over other features
        than the selector's, and cannot be compared with these.
    folds, repeats : int, default=5
        The samples are cut into so many folds, so many times.
    random_state : int, default=0
        Decides about the folds.
    n_jobs : int or None, default=None
        Threads, over the folds. The result is the same for any number.

    Returns
    -------
    comparison : NetworkComparison
        ``print`` shows it; ``to_frame()`` and ``to_dict()`` hand it on.

    Notes
    -----
    J is that of the trees, whatever the classifiers depend on beside them. McNemar's test takes each
    sample once, from the first repeat. The t-test takes all folds, and makes up for training parts that
    overlap (Nadeau and Bengio).

    References
    ----------
    N. Friedman, D. Geiger and M. Goldszmidt, "Bayesian network classifiers", Machine Learning 29, 1997.
    T. G. Dietterich, "Approximate statistical tests for comparing supervised classification learning
    algorithms", Neural Computation 10, 1998 (McNemar's test).
    C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine Learning 52, 2003.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from slfs import compare_networks
    >>> comparison = compare_networks(*load_iris(return_X_y=True), repeats=2)
    >>> print(comparison)
    network   features  below the class  other edges  J (lambda 0.5)  log P(x,y)  log P(y|x)  accuracy, %
    SLFS             4                2            2          -0.381      -2.600     -0.2155        93.00
    TAN              4                1            3          -1.426      -2.577     -0.2328        92.67
    Chow-Liu         4                2            2          -0.381      -2.574     -0.1715        94.00
    <BLANKLINE>
    edges between features  shared  same direction  both below the class
    SLFS, TAN                    1               0                     0
    SLFS, Chow-Liu               2               2                     2
    TAN, Chow-Liu                1               0                     0
    <BLANKLINE>
    accuracy            points  p (t-test)  right alone  p (McNemar)
    SLFS less TAN        +0.33        0.82        3 : 1         0.62
    SLFS less Chow-Liu   -1.00        0.55        2 : 2            1
    TAN less Chow-Liu    -1.33        0.36        1 : 3         0.62
    """
    if is_dask(X):
        raise TypeError("compare_networks needs some rows at a time: give X.compute() instead.")
    chooser = SLFS() if selector is None else selector
    fitted = clone(chooser).fit(X, y)
    table, target = read_table(X), read_target(y)
    names: list[str] = fitted._feature_names().tolist()
    known = getattr(fitted, "feature_names_in_", None)
    categorical = resolve_categorical(chooser.categorical_features, table, known)
    learner = _Learner(table, names, target.codes, categorical, chooser, structure, columns)
    splits = [
        (repeat, fold, split)
        for repeat in range(repeats)
        for fold, split in enumerate(stratified_folds(target, folds, (random_state + repeat) % 2**32))
    ]
    with Threads(n_jobs) as threads:
        models = learner.learn(np.arange(table.n_samples), fitted)
        tested = threads.map(counted(learner.test, len(splits)), splits)
    networks = {
        name: replace(model.network_, class_name=target.name, columns=seen[model.network_.columns])
        for name, (model, seen) in models.items()
    }
    scores = [score for part in tested for score, _ in part]
    right = {name: np.zeros(table.n_samples, np.bool_) for name in networks}
    for (repeat, _, (_, test)), part in zip(splits, tested, strict=True):
        for score, hits in part if repeat == 0 else ():
            right[score.network][test] = hits
    return NetworkComparison(
        networks,
        float(getattr(getattr(chooser, "selector", chooser) or SLFS(), "relevance_weight", 1.0)),
        scores,
        [
            _pair(first, second, networks, scores, right, folds)
            for first, second in itertools.combinations(networks, 2)
        ],
        folds,
        repeats,
        len({frozenset(network.columns.tolist()) for network in networks.values()}) == 1,
    )


@dataclass(frozen=True)
class _Learner:
    """Learns the networks from some rows of a table, and tests them on others."""

    table: Table
    names: list[str]
    codes: Ints
    categorical: NDArray[np.bool_]
    selector: BaseSelector
    structure: str
    columns: str

    @quiet()  # of the whole table it has been said
    def learn(
        self, rows: Ints, fitted: BaseSelector | None = None
    ) -> dict[str, tuple[NetworkClassifier, Ints]]:
        """Each network, fitted to some rows, with the columns of the table that it sees."""
        y = self.codes[rows]
        if fitted is None:
            fitted = clone(self.selector).set_params(n_jobs=1).fit(self._part(rows), y)
        every = np.arange(self.table.n_features)
        own = fitted.to_classifier(structure=self.structure)
        seen = every if self.columns == "all" else np.flatnonzero(fitted.support_)
        found: dict[str, tuple[NetworkClassifier, Ints]] = {type(fitted).__name__: (own, every)}
        for name, kind in (("TAN", TAN), ("Chow-Liu", ChowLiu)):
            if len(seen):
                model = kind(
                    categorical_features=self.categorical[seen], memory_limit=self.selector.memory_limit
                ).fit(self._part(rows, seen), y)
                found[name] = model, seen
            else:  # nothing to go by but the classes themselves
                found[name] = own, every
        return found

    def test(self, split: tuple[int, int, Split]) -> list[tuple[FoldScore, NDArray[np.bool_]]]:
        """The scores of each network on one fold, and which samples it has right."""
        repeat, fold, (train, test) = split
        y, found = self.codes[test], []
        with progress_callback(None):  # whoever listens is told of folds, not of blocks
            for name, (model, seen) in self.learn(train).items():
                joint = model.predict_joint_log_proba(self._part(test, seen))
                own = joint[np.arange(len(y)), y]
                hits = joint.argmax(axis=1) == y
                figures = (hits.mean(), own.mean(), (own - logsumexp(joint, axis=1)).mean())
                size = len(model.network_)
                found.append((FoldScore(name, repeat, fold, size, *map(float, figures)), hits))
        return found

    def _part(self, rows: Ints, columns: Ints | None = None) -> Part:
        if columns is None or len(columns) == self.table.n_features:
            return Part(self.table, self.names, rows)
        return Part(self.table, [self.names[column] for column in columns], rows, columns)


def _pair(
    first: str,
    second: str,
    networks: dict[str, TreeNetwork],
    scores: list[FoldScore],
    right: dict[str, NDArray[np.bool_]],
    folds: int,
) -> NetworkPair:
    one, other = (_edges(networks[name]) for name in (first, second))
    between = [{edge for edge in edges if ROOT not in edge} for edges in (one, other)]
    turned = {(child, parent) for parent, child in between[1]}
    accuracy = [
        np.array([score.accuracy for score in scores if score.network == name])
        for name in (first, second)
    ]
    differences = accuracy[0] - accuracy[1]
    first_only = int((right[first] & ~right[second]).sum())
    second_only = int((right[second] & ~right[first]).sum())
    same = len(between[0] & between[1])
    return NetworkPair(
        first,
        second,
        same + len(between[0] & turned),
        same,
        len((one - between[0]) & (other - between[1])),
        float(differences.mean()),
        first_only,
        second_only,
        mcnemar(first_only, second_only),
        corrected_t_test(differences, 1 / (folds - 1)),
    )


def _edges(network: TreeNetwork) -> set[tuple[int, int]]:
    """(parent, child) by column, -1 for the class."""
    above = np.append(network.columns, ROOT)[network.parents]
    return set(zip(above.tolist(), network.columns.tolist(), strict=True))
