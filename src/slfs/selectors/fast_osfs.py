"""Fast-OSFS: online streaming feature selection with fewer independence tests (Wu et al.)."""

from __future__ import annotations

from slfs.measures.independence import IndependenceTest
from slfs.selectors._shared.markov_blanket import MarkovBlanketSelector
from slfs.selectors._shared.stream import OnlineSet
from slfs.selectors.registry import register


@register("fast-osfs")
class FastOSFS(MarkovBlanketSelector):
    """Select features online with fewer conditional independence tests (Fast-OSFS).

    Features arrive in the order of the columns. A feature that is independent of the class given some
    subset of the selected set is not added. Once a feature is added, every other feature of the set that
    is independent of the class given a subset that contains the new feature is removed.

    Parameters
    ----------
    alpha : float, default=0.01
        Significance level of the independence tests.
    max_conditioning : int, default=3
        Maximum number of features in a conditioning set.
    statistic : {"g2", "chi2", "fisher_z"}, default="g2"
        Test statistic. ``"g2"`` is the likelihood ratio, ``"chi2"`` Pearson's statistic with the
        correction of LOFS, ``"fisher_z"`` Fisher's z of the partial correlation between the raw numbers
        and the class codes.
    samples_per_df : float, default=5.0
        Minimum number of samples per degree of freedom. With fewer samples the test is skipped and the
        feature is treated as independent of the class, as in `OSFS`. 0 disables the rule.
    degrees_of_freedom : {"full", "adjusted"}, default="full"
        Degrees of freedom of a test on levels. ``"full"`` counts all cells of the table, as in LOFS;
        ``"adjusted"`` does not count levels and classes that do not occur.
    n_features_to_select : int, float or "auto", default="auto"
        Maximum number of features to select, or fraction of the columns. ``"auto"`` keeps all
        features that the method selects; otherwise only the most relevant ones are kept.
    target : {"auto", "classification", "regression"}, default="auto"
        Type of the target. With ``"auto"``, floats with fractional parts are a continuous target, and
        integers, strings and booleans are class labels. A continuous target is cut into bins at its
        quantiles, which are used like classes; p-values compare columns with the numbers themselves.
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
    indices_ : ndarray of shape (n_features_,)
        Selected columns, in order of arrival.
    selection_scores_ : ndarray of shape (n_features_,)
        p-value of the unconditional independence test of each selected column with the class.
    scores_ : ndarray of shape (n_features_in_,)
        Relevance I(f;Y) of every column, in nats.
    pvalues_, qvalues_ : ndarray of shape (n_features_in_,)
        p-value of each column for independence from the class, and the corresponding q-value.
    support_, network_, features_, n_features_, n_features_in_, feature_names_in_
        As in `SLFS`.
    target_type_, target_bins_, classes_
        As in `SLFS`.

    See Also
    --------
    OSFS : The original method, with more tests.

    References
    ----------
    X. Wu, K. Yu, W. Ding, H. Wang and X. Zhu, "Online feature selection with streaming features",
    IEEE TPAMI 35, 2013.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from slfs import FastOSFS
    >>> FastOSFS().fit(*load_iris(return_X_y=True)).indices_
    array([0, 1])
    """

    def _weigh(self, f: int, current: OnlineSet, test: IndependenceTest) -> None:
        found = test.separating_set(f, current.kept, self.max_conditioning)
        if found is not None:
            current.leave(f, found.given, found.p_value)
            return
        current.kept.append(f)
        for x in current.kept[:-1]:
            others = [k for k in current.kept if k != x]
            found = test.separating_set(x, others, self.max_conditioning, with_column=f)
            if found is not None:
                current.leave(x, found.given, found.p_value)
