"""Base class of the models of a target given the columns of a network: classifiers and regressors."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from slfs._core.threads import Threads
from slfs.base import TableEstimator
from slfs.classifiers.explanation import UNKNOWN
from slfs.coding.codebook import Coding
from slfs.coding.encode import Encoded, encode_table, warn_about_unknown
from slfs.coding.level_names import level_names
from slfs.network.tree import TreeNetwork


class NetworkModel(TableEstimator):
    """Base class of the models that predict a target from the columns of a network."""

    _fitted: ClassVar[frozenset[str]] = TableEstimator._fitted | {
        "network_", "parents_", "_coding",
    }  # fmt: skip

    network_: TreeNetwork
    parents_: NDArray[np.int64]
    _coding: Coding

    _reading: dict[str, Any]
    """How 'slfs fit' has read its file, for the files of 'slfs predict'; not all keys must be there.

    ``"missing"``: list of text that means a missing value. ``"decimal"``: "," if numbers have decimal
    commas. ``"like"``: of a file without header, the number of columns and the index of the target.
    """

    def _n_jobs(self) -> int | None:
        """Return the number of threads for predictions."""
        return getattr(self, "n_jobs", None)

    def _mean_contributions(self) -> NDArray[np.float64]:
        """Return the mean contribution of each node, to the true class or to the target."""
        raise NotImplementedError

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Importance of each column, as a share of the sum.

        For a Bayesian network this is the mean contribution to the true class over the distribution of
        the network, which is computed from its probabilities. With ``structure="additive"`` it is the
        mean absolute difference between the log factors of the classes and their mean over the classes,
        weighted by the class frequencies, in the training data. For a regressor it is the mean absolute
        contribution in the training data. Columns that are not in the network have importance 0.
        """
        check_is_fitted(self)
        importances = np.zeros(self.n_features_in_)
        importances[self.network_.columns] = self._mean_contributions()
        total = importances.sum()
        return importances / total if total > 0 else importances

    def reduce(self) -> Self:
        """Create a model that expects only the columns that it uses.

        Its tables have the columns of the network, in the order of the original table; predictions are
        the same. The fitted attributes describe these columns only. The parameters are unchanged: they
        say how the model was fitted.

        Returns
        -------
        model : object
            A fitted model of the same class. This one is not changed.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from slfs import BNSLFS, SLFS
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> small = BNSLFS(SLFS(n_features_to_select=2)).fit(X, y).reduce()
        >>> small.feature_names_in_
        array(['worst perimeter', 'worst concave points'], dtype=object)
        >>> small.predict(X[["worst perimeter", "worst concave points"]].head(3))
        array([0, 0, 0])
        """
        check_is_fitted(self)
        if len(self.network_) == 0:
            raise ValueError(
                f"The {type(self).__name__} cannot be reduced: it uses none of the columns of X and "
                "predicts the same for every sample. Fit it on informative columns."
            )
        return self._take_columns(np.sort(self.network_.columns))

    def _take_columns(self, columns: NDArray[np.int64]) -> Self:
        copy = super()._take_columns(columns)
        copy.network_ = self.network_.take_columns(columns)
        return copy

    def _check_columns(self, X: Any) -> None:
        try:
            super()._check_columns(X)
        except ValueError as error:
            n_used = len(self.network_)
            names = getattr(X, "columns", None)
            lacks = names is not None and not set(self.network_.names).issubset(map(str, names))
            if lacks or not 0 < n_used < self.n_features_in_:
                raise
            raise ValueError(
                f"{error}\nThis {type(self).__name__} uses only {n_used} of {self.n_features_in_} "
                "columns: reduce() returns a model that expects only these."
            ) from None

    def _encode(self, X: Any) -> Encoded:
        """Read a table and code the columns of the network; warn about values not seen in fit."""
        table = self._read_new_data(X)
        with Threads(self._n_jobs()) as threads:
            encoded = encode_table(table, self._coding, self.network_.columns, threads)
        warn_about_unknown(encoded, self.network_.names, "carry no information in the prediction")
        return encoded

    def _name_levels(
        self, encoded: Encoded
    ) -> tuple[list[str], NDArray[np.object_], NDArray[np.bool_], NDArray[np.int64]]:
        """Return what explanations show: names, levels as text, which are known, and the nodes.

        The columns are in the order of the table.
        """
        order = np.argsort(self.network_.columns)
        n_samples = encoded.codes.shape[1]
        known = ~encoded.unknown_mask(np.arange(n_samples))[order].T
        levels = np.empty((n_samples, len(order)), dtype=object)
        for position, node in enumerate(order.tolist()):
            names = np.array(level_names(self._coding, node), dtype=object)
            levels[:, position] = names[encoded.codes[node]]
        levels[~known] = UNKNOWN
        return [self.network_.names[node] for node in order], levels, known, order
