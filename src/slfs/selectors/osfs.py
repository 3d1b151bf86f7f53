"""OSFS: online streaming feature selection (Wu et al.); and Fast-OSFS, which tests less."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from slfs.coding.pipeline import ColumnFacts
from slfs.independence import FisherTest, IndependenceTest, TableTest, filled
from slfs.information import Information
from slfs.selectors.selection import Selection
from slfs.selectors.stream import Numbers, OnlineSet, StreamSelector, conclude_set


class _MarkovBlanket(StreamSelector):
    """Base of the two: relevance, then redundancy, for each column that arrives."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **StreamSelector._parameter_constraints,
        "alpha": [Interval(Real, 0, 1, closed="neither")],
        "max_conditioning": [Interval(Integral, 1, None, closed="left")],
        "statistic": [StrOptions({"g2", "chi2", "fisher_z"})],
        "samples_per_df": [Interval(Real, 0, None, closed="left")],
        "degrees_of_freedom": [StrOptions({"full", "adjusted"})],
    }

    def __init__(
        self,
        *,
        alpha: float = 0.01,
        max_conditioning: int = 3,
        statistic: str = "g2",
        samples_per_df: float = 5.0,
        degrees_of_freedom: str = "full",
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.max_conditioning = max_conditioning
        self.statistic = statistic
        self.samples_per_df = samples_per_df
        self.degrees_of_freedom = degrees_of_freedom
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    def _irrelevance(self, facts: ColumnFacts) -> NDArray[np.object_]:
        if self.statistic != "fisher_z":
            return super()._irrelevance(facts)
        constant = ~(facts.coding.low < facts.coding.high) & (facts.coding.n_levels == 1)
        return np.where(constant, "it has one value only", "").astype(object)

    def _arrive(
        self,
        information: Information,
        columns: NDArray[np.int64],
        memory: OnlineSet | None,
        numbers: Numbers,
    ) -> OnlineSet:
        current = OnlineSet() if memory is None else memory
        raw = self.statistic == "fisher_z"
        test: IndependenceTest
        if raw:
            labels = information.packed.layout.labels.astype(np.float64)
            test = FisherTest(current.values, labels, self.alpha)
        else:
            test = TableTest(
                information,
                self.alpha,
                self.statistic,
                self.samples_per_df,
                adjusted=self.degrees_of_freedom == "adjusted",
            )
        for f in columns.tolist():
            if raw:
                current.values[f] = filled(numbers(f))
            # 1. online relevance: independent of the class on its own
            p_value = test.p_value(f)
            if p_value >= self.alpha:
                current.irrelevant[f] = f"independent of the class (p = {p_value:.2g})"
                if p_value == 1.0:
                    current.irrelevant[f] = "counts as independent of the class: too few samples to test"
                current.values.pop(f, None)
                continue
            current.scores[f] = p_value
            # 2. online redundancy: independent of the class given some of the others
            self._weigh(f, current, test)
        return current

    def _weigh(self, f: int, current: OnlineSet, test: IndependenceTest) -> None:
        raise NotImplementedError

    def _conclude(self, information: Information, memory: OnlineSet) -> Selection:
        names = self._feature_names()[information.packed.columns]
        return conclude_set(memory, names, "independent of the class given")


class OSFS(_MarkovBlanket):
    """Keep the features that no few others make independent of the class, as they arrive.

    A new feature that depends on the class joins the set; then each feature of the set leaves it if it
    is independent of the class given some subset of the others. Tests look at levels: numbers are cut
    by MDLP.

    Parameters
    ----------
    alpha : float, default=0.01
        Level of the tests of independence.
    max_conditioning : int, default=3
        Most features in a conditioning set.
    statistic : {"g2", "chi2", "fisher_z"}, default="g2"
        Likelihood ratio, Pearson's with the correction of LOFS, or Fisher's z of the partial correlation
        of the raw numbers with the class codes.
    samples_per_df : float, default=5.0
        With fewer samples than this for each degree of freedom two variables count as independent
        without a test, as in the authors' LOFS. On small data this throws features away whatever they
        say, and the result depends on the order of arrival. 0 turns the rule off.
    degrees_of_freedom : {"full", "adjusted"}, default="full"
        Of a test on levels: all cells of the table, as in LOFS, or less those that are empty.
    categorical_features : "from_dtype", "all" or array-like, default="from_dtype"
        Columns of numbers to take as categories, as in `SLFS`.
    n_jobs : int or None, default=None
        Threads that code the columns.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_features_,)
        Selected columns in the order of arrival.
    scores_ : ndarray of shape (n_features_,)
        p-value of each alone with the class.
    support_, network_, features_, n_features_
        As in `SLFS`.

    See Also
    --------
    FastOSFS : The same idea with fewer tests.

    References
    ----------
    X. Wu, K. Yu, W. Ding, H. Wang and X. Zhu, "Online feature selection with streaming features",
    IEEE TPAMI 35, 2013.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from slfs import OSFS
    >>> OSFS().fit(*load_iris(return_X_y=True)).ranking_
    array([3])
    """

    def _weigh(self, f: int, current: OnlineSet, test: IndependenceTest) -> None:
        current.kept.append(f)
        for x in list(current.kept):
            others = [k for k in current.kept if k != x]
            given = test.separating_set(x, others, self.max_conditioning)
            if given is not None:
                current.leave(x, given)


class FastOSFS(_MarkovBlanket):
    """OSFS that first looks whether the newcomer is redundant, and then tests with it only.

    A new feature that is independent of the class given some subset of the set does not join it. If it
    does join, each other feature leaves if it is independent given a subset that has the newcomer.

    Parameters
    ----------
    alpha : float, default=0.01
        Level of the tests of independence.
    max_conditioning : int, default=3
        Most features in a conditioning set.
    statistic : {"g2", "chi2", "fisher_z"}, default="g2"
        Likelihood ratio, Pearson's with the correction of LOFS, or Fisher's z of the partial correlation
        of the raw numbers with the class codes.
    samples_per_df : float, default=5.0
        With fewer samples than this for each degree of freedom two variables count as independent
        without a test, as in `OSFS`. 0 turns the rule off.
    degrees_of_freedom : {"full", "adjusted"}, default="full"
        Of a test on levels: all cells of the table, as in LOFS, or less those that are empty.
    categorical_features : "from_dtype", "all" or array-like, default="from_dtype"
        Columns of numbers to take as categories, as in `SLFS`.
    n_jobs : int or None, default=None
        Threads that code the columns.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_features_,)
        Selected columns in the order of arrival.
    scores_ : ndarray of shape (n_features_,)
        p-value of each alone with the class.
    support_, network_, features_, n_features_
        As in `SLFS`.

    References
    ----------
    X. Wu, K. Yu, W. Ding, H. Wang and X. Zhu, "Online feature selection with streaming features",
    IEEE TPAMI 35, 2013.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from slfs import FastOSFS
    >>> FastOSFS().fit(*load_iris(return_X_y=True)).ranking_
    array([0, 1])
    """

    def _weigh(self, f: int, current: OnlineSet, test: IndependenceTest) -> None:
        given = test.separating_set(f, current.kept, self.max_conditioning)
        if given is not None:
            current.leave(f, given)
            return
        current.kept.append(f)
        for x in current.kept[:-1]:
            others = [k for k in current.kept if k != x]
            given = test.separating_set(x, others, self.max_conditioning, with_column=f)
            if given is not None:
                current.leave(x, given)
