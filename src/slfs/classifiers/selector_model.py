"""What the classifier and the regressor on the columns of a selector have in common."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from slfs.classifiers.model import NetworkModel
from slfs.selectors._shared.nested import DefaultSelectorMixin
from slfs.selectors.base import BaseSelector


class SelectorModel(DefaultSelectorMixin, NetworkModel):
    """A model of the target that keeps the selector from which it was made."""

    _fitted: ClassVar[frozenset[str]] = NetworkModel._fitted | {"selector_"}

    selector_: Any

    def explain(self, column: str | int) -> str:
        """Explain why a column was selected or dropped.

        Parameters
        ----------
        column : str or int
            Name of the column, or its index in the table.

        Returns
        -------
        text : str
            One sentence; for a selected column a second one about the evidence that it depends on the
            class.
        """
        check_is_fitted(self)
        sentence: str = self.selector_.explain(column)
        return sentence

    def _n_jobs(self) -> int | None:
        n_jobs: int | None = self.selector_.n_jobs
        return n_jobs

    def _take_columns(self, columns: NDArray[np.int64]) -> Self:
        copy = super()._take_columns(columns)
        copy.selector_ = self.selector_._take_columns(columns)
        copy.network_ = copy.selector_.network_
        return copy

    def _keep_selector(self, selector: BaseSelector) -> None:
        """Take over the selector and the columns that it has seen."""
        self.selector_ = selector
        self.n_features_in_ = selector.n_features_in_
        self.__dict__.pop("feature_names_in_", None)  # from an earlier fit
        if hasattr(selector, "feature_names_in_"):
            self.feature_names_in_ = selector.feature_names_in_
