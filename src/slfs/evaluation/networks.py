"""A table and its classes -> the network of a selector, TAN and the Chow-Liu tree, compared."""

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
from slfs._core.warn import quiet
from slfs.classifiers.base import NetworkClassifier
from slfs.classifiers.tan import TAN, ChowLiu
from slfs.evaluation.cross_validation import CV, Fold, Split, cross_validate, make_splits
from slfs.evaluation.network_comparison import FoldScore, NetworkComparison, NetworkPair
from slfs.evaluation.paired_tests import corrected_t_test, mcnemar
from slfs.network.tree import ROOT, TreeNetwork
from slfs.selectors.base import BaseSelector
from slfs.selectors.slfs import SLFS
from slfs.tables.parts import Part
from slfs.tables.registry import read_table
from slfs.tables.table import resolve_categorical
from slfs.tables.target import CLASSIFICATION, read_target
from slfs.tables.values import is_dask

Ints = NDArray[np.int64]
Tested = tuple[FoldScore, NDArray[np.bool_]]
"""The scores of a network on one fold, and which test samples it classified correctly."""


@validate_params(  # type: ignore[untyped-decorator]
    {
        "selector": [HasMethods(["fit", "to_classifier"]), None],
        "structure": [StrOptions({"linked", "augmented", "tree"})],
        "columns": [StrOptions({"selected", "all"})],
        "cv": ["cv_object"],
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
    cv: CV = 5,
    repeats: int = 5,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> NetworkComparison:
    """Compare the network of a selector with TAN and with the Chow-Liu tree on the same data.

    The three networks are learned from all samples, to compare their edges and the criterion J, and by
    repeated cross-validation, to compare how well they predict. In each fold the selector is fitted to
    the training part, and TAN and the Chow-Liu tree use the columns that it selects; all three use the
    same discretization.

    Parameters
    ----------
    X : array-like, sparse matrix or dataframe of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Class labels.
    selector : selector or None, default=None
        Any selector of this library. None means ``SLFS()``. With ``SLFS(order="conditional")``, every
        feature adds information to its parent in the tree; the default order selects features that
        predict the class, and its tree models their distribution less well.
    structure : {"linked", "augmented", "tree"}, default="linked"
        Structure of the selector's classifier, as in `BNSLFS`. The additive classifier is not a network.
    columns : {"selected", "all"}, default="selected"
        Columns that TAN and the Chow-Liu tree use. With "all", their log P(x,y) and J are about other
        columns than those of the selector and cannot be compared with them.
    cv : int, splitter or iterable of splits, default=5
        Number of stratified folds, a scikit-learn splitter, or an iterable of training and test indices.
    repeats : int, default=5
        Number of repetitions with different folds if ``cv`` is a number. A splitter is used once.
    random_state : int, default=0
        Seed of the shuffling if ``cv`` is a number.
    n_jobs : int or None, default=None
        Number of threads; each processes one fold at a time. The result does not depend on it.

    Returns
    -------
    comparison : NetworkComparison
        ``print`` shows it as text; ``to_frame()`` and ``to_dict()`` convert it.

    Notes
    -----
    J is computed from the trees alone, also where the classifiers have additional dependencies.
    McNemar's test counts each sample once, the first time it is tested. The t-test uses all folds and is
    corrected for overlapping training parts (Nadeau and Bengio).

    References
    ----------
    N. Friedman, D. Geiger and M. Goldszmidt, "Bayesian network classifiers", Machine Learning 29, 1997.
    T. G. Dietterich, "Approximate statistical tests for comparing supervised classification learning
    algorithms", Neural Computation 10, 1998 (McNemar's test).
    C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine Learning 52, 2003.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from slfs import SLFS, compare_networks
    >>> X, y = load_wine(return_X_y=True)
    >>> comparison = compare_networks(X, y, selector=SLFS(order="conditional"), repeats=2)
    >>> print(comparison)
    network   features  below the class  other edges  J (weight 0.5)  log P(x,y)  log P(y|x)  accuracy, %
    SLFS            11                9            2          -3.660      -6.808     -0.0949        97.19
    TAN             11                1           10          -6.366      -6.842     -0.0810        98.03
    Chow-Liu        11                9            2          -3.660      -6.787     -0.0594        98.32
    <BLANKLINE>
    edges between features  shared  same direction  both below the class
    SLFS, TAN                    2               1                     1
    SLFS, Chow-Liu               2               2                     9
    TAN, Chow-Liu                2               1                     1
    <BLANKLINE>
    accuracy            points  p (t-test)  right alone  p (McNemar)
    SLFS less TAN        -0.84        0.32        0 : 2          0.5
    SLFS less Chow-Liu   -1.13        0.44        1 : 3         0.62
    TAN less Chow-Liu    -0.29        0.77        1 : 1            1
    """
    if is_dask(X):
        raise TypeError("compare_networks cannot use a Dask table. Use X.compute() instead.")
    base = SLFS() if selector is None else selector
    fitted = clone(base).fit(X, y)
    table, target = read_table(X), read_target(y, CLASSIFICATION)
    known = getattr(fitted, "feature_names_in_", None)
    categorical = resolve_categorical(base.categorical_features, table, known)
    if not isinstance(cv, Integral):
        repeats = 1
    repeated = [make_splits(target, cv, (random_state + repeat) % 2**32) for repeat in range(repeats)]
    learner = _Learner(categorical, base, structure, columns, len(repeated[0]))
    every = np.arange(table.n_samples)
    source = Part(table, fitted._feature_names().tolist(), every)
    with quiet():
        models = learner.learn(Fold(source, target.codes, every, every[:0]), fitted)
    splits = list(itertools.chain(*repeated))
    tested = cross_validate(learner.test, source, target.codes, splits, n_jobs=n_jobs, prefer="threads")
    networks = {
        name: replace(model.network_, class_name=target.name, columns=seen[model.network_.columns])
        for name, (model, seen) in models.items()
    }
    scores = [score for part in tested for score, _ in part]
    correct = _first_tests(list(networks), splits, tested, table.n_samples)
    test_share = sum(len(test) for _, test in splits) / sum(len(train) for train, _ in splits)
    return NetworkComparison(
        networks,
        float(getattr(getattr(base, "selector", base) or SLFS(), "relevance_weight", 1.0)),
        scores,
        [
            _pair(first, second, networks, scores, correct, test_share)
            for first, second in itertools.combinations(networks, 2)
        ],
        learner.n_splits,
        repeats,
        len({frozenset(network.columns.tolist()) for network in networks.values()}) == 1,
    )


@dataclass(frozen=True)
class _Learner:
    """Learns the networks from the training part of a fold and tests them on its test part."""

    categorical: NDArray[np.bool_]
    selector: BaseSelector
    structure: str
    columns: str
    n_splits: int

    def learn(
        self, fold: Fold, fitted: BaseSelector | None = None
    ) -> dict[str, tuple[NetworkClassifier, Ints]]:
        """Fit each network; return it with the indices of the columns that it was given."""
        if fitted is None:
            fitted = fold.fit(clone(self.selector).set_params(n_jobs=1))
        every = np.arange(len(self.categorical))
        own = fitted.to_classifier(structure=self.structure)
        seen = every if self.columns == "all" else np.flatnonzero(fitted.support_)
        found: dict[str, tuple[NetworkClassifier, Ints]] = {type(fitted).__name__: (own, every)}
        for name, kind in (("TAN", TAN), ("Chow-Liu", ChowLiu)):
            if len(seen):
                model = kind(
                    categorical_features=self.categorical[seen], memory_limit=self.selector.memory_limit
                )
                found[name] = fold.fit(model, seen), seen
            else:  # without columns every network predicts the most frequent class
                found[name] = own, every
        return found

    def test(self, fold: Fold) -> list[Tested]:
        """Score each network on one fold."""
        y, found = fold.test_labels, []
        repeat, number = divmod(fold.number, self.n_splits)
        for name, (model, seen) in self.learn(fold).items():
            joint = model.predict_joint_log_proba(fold.test_columns(seen))
            own = joint[np.arange(len(y)), y]
            correct = joint.argmax(axis=1) == y
            figures = (correct.mean(), own.mean(), (own - logsumexp(joint, axis=1)).mean())
            size = len(model.network_)
            found.append((FoldScore(name, repeat, number, size, *map(float, figures)), correct))
        return found


def _first_tests(
    names: list[str], splits: list[Split], tested: list[list[Tested]], n_samples: int
) -> dict[str, NDArray[np.bool_]]:
    """For each network: which samples it classified correctly the first time they were tested."""
    correct = {name: np.zeros(n_samples, np.bool_) for name in names}
    new = np.ones(n_samples, np.bool_)
    for (_, test), part in zip(splits, tested, strict=True):
        for score, hits in part:
            correct[score.network][test] |= hits & new[test]
        new[test] = False
    return correct


def _pair(
    first: str,
    second: str,
    networks: dict[str, TreeNetwork],
    scores: list[FoldScore],
    correct: dict[str, NDArray[np.bool_]],
    test_share: float,
) -> NetworkPair:
    one, other = (_edges(networks[name]) for name in (first, second))
    between = [{edge for edge in edges if ROOT not in edge} for edges in (one, other)]
    reversed_edges = {(child, parent) for parent, child in between[1]}
    accuracy = [
        np.array([score.accuracy for score in scores if score.network == name])
        for name in (first, second)
    ]
    differences = accuracy[0] - accuracy[1]
    first_only = int((correct[first] & ~correct[second]).sum())
    second_only = int((correct[second] & ~correct[first]).sum())
    same = len(between[0] & between[1])
    return NetworkPair(
        first,
        second,
        same + len(between[0] & reversed_edges),
        same,
        len((one - between[0]) & (other - between[1])),
        float(differences.mean()),
        first_only,
        second_only,
        mcnemar(first_only, second_only),
        corrected_t_test(differences, test_share),
    )


def _edges(network: TreeNetwork) -> set[tuple[int, int]]:
    """Return the edges (parent, child) by column index, -1 for the class."""
    above = np.append(network.columns, ROOT)[network.parents]
    return set(zip(above.tolist(), network.columns.tolist(), strict=True))
