"""Parameters of a nested selector, such as ``selector__max_depth``, also of the default one."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from slfs.base import TableEstimator
from slfs.selectors.slfs import SLFS

_PREFIX = "selector__"


class DefaultSelectorMixin(TableEstimator):
    """Mixin of estimators with a parameter ``selector`` for which ``None`` means ``SLFS()``.

    ``selector`` stays None until one of its parameters is set, so that `clone` copies what the user has
    passed.
    """

    selector: Any

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Get the parameters of this estimator.

        Parameters
        ----------
        deep : bool, default=True
            Whether to include the parameters of ``selector``; for None those of ``SLFS()``.

        Returns
        -------
        params : dict
            Values of the parameters, by name.
        """
        params: dict[str, Any] = super().get_params(deep=deep)
        if deep and self.selector is None:
            params |= {f"{_PREFIX}{name}": value for name, value in SLFS().get_params().items()}
        return params

    def _take_columns(self, columns: NDArray[np.int64]) -> Self:
        copy: Self = super()._take_columns(columns)
        copy.selector = clone(self.selector, safe=False)  # setting its parameters must not change ours
        return copy

    def set_params(self, **params: Any) -> Self:
        """Set parameters of this estimator, or of its selector.

        Parameters
        ----------
        **params : dict
            Values by name; ``selector__max_depth`` is the parameter ``max_depth`` of the selector. If
            ``selector`` is None, ``SLFS()`` takes its place.

        Returns
        -------
        self : object
            The estimator.
        """
        nested = any(name.startswith(_PREFIX) for name in params)
        if nested and params.get("selector", self.selector) is None:
            params = {**params, "selector": SLFS()}
        super().set_params(**params)
        return self
