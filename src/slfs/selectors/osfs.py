"""OSFS: online streaming feature selection (Wu et al.)."""

from __future__ import annotations

from slfs.measures.independence import IndependenceTest
from slfs.selectors._shared.markov_blanket import MarkovBlanketSelector
from slfs.selectors._shared.stream import OnlineSet
from slfs.selectors.registry import register


@register("osfs")
class OSFS(MarkovBlanketSelector):
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
    n_features_to_select : int, float or "auto", default="auto"
        Maximum number of features, or share of the columns; "auto": all that the method selects. If the
        method selects more, the most relevant ones are kept.
    categorical_features : "from_dtype", "all" or array-like, default="from_dtype"
        Columns of numbers to take as categories, as in `SLFS`.
    n_jobs : int or None, default=None
        Threads that code the columns.
    memory_limit : int, str or None, default=None
        Memory that the process may take in ``fit``, such as ``"2GiB"``: blocks become smaller, and
        planes go to a temporary file. See the page on scaling.

    Attributes
    ----------
    indices_ : ndarray of shape (n_features_,)
        Selected columns in the order of arrival.
    selection_scores_ : ndarray of shape (n_features_,)
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
    >>> OSFS().fit(*load_iris(return_X_y=True)).indices_
    array([3])
    """

    def _weigh(self, f: int, current: OnlineSet, test: IndependenceTest) -> None:
        current.kept.append(f)
        for x in list(current.kept):
            others = [k for k in current.kept if k != x]
            given = test.separating_set(x, others, self.max_conditioning)
            if given is not None:
                current.leave(x, given)
