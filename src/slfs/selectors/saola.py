"""SAOLA: scalable and accurate online feature selection (Yu et al.), the pairwise online rule."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from slfs._compat import Interval
from slfs.measures.information import Information
from slfs.screening.reasons import Decision, Reason
from slfs.selectors._shared.selection import Selection
from slfs.selectors._shared.stream import Numbers, OnlineSet, StreamSelector, conclude_set
from slfs.selectors.fcbf import class_uncertainty, symmetrical_uncertainty
from slfs.selectors.registry import register


@register("saola")
class SAOLA(StreamSelector):
    """Keep the features that no other one of the set makes superfluous, as they arrive.

    Correlation is the symmetrical uncertainty SU. A new feature f meets the kept features k one after
    another: if k is at least as relevant and SU(f,k) >= SU(f,Y), f goes; if f is at least as relevant
    and SU(f,k) >= SU(k,Y), k goes.

    Parameters
    ----------
    delta : float, default=0.0
        Features with SU(f,Y) <= delta are irrelevant; pairs with SU(f,k) <= delta are not compared.
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
        Their SU(f,Y).
    support_, network_, features_, n_features_
        As in `SLFS`.

    References
    ----------
    K. Yu, X. Wu, W. Ding and J. Pei, "Towards scalable and accurate online feature selection for big
    data", ICDM 2014.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from slfs import SAOLA
    >>> SAOLA().fit(*load_iris(return_X_y=True)).indices_
    array([2, 3])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **StreamSelector._parameter_constraints,
        "delta": [Interval(Real, 0, 1, closed="left")],
    }

    def __init__(
        self,
        *,
        delta: float = 0.0,
        n_features_to_select: float | str = "auto",
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
        memory_limit: int | str | None = None,
    ) -> None:
        self.delta = delta
        self.n_features_to_select = n_features_to_select
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit

    def _arrive(
        self,
        information: Information,
        columns: NDArray[np.int64],
        memory: OnlineSet | None,
        numbers: Numbers,  # noqa: ARG002
    ) -> OnlineSet:
        current = OnlineSet() if memory is None else memory
        relevance = class_uncertainty(information)
        for f in columns.tolist():
            if relevance[f] <= self.delta:
                current.dropped[f] = Decision(Reason.LOW_UNCERTAINTY)
                continue
            current.scores[f] = float(relevance[f])
            kept = np.array(current.kept, np.int64)
            shared = symmetrical_uncertainty(information, f, kept)
            current.kept.append(f)
            for k, common in zip(kept.tolist(), shared, strict=True):
                if common <= self.delta:
                    continue
                if relevance[k] >= relevance[f] and common >= relevance[f]:
                    current.leave(f, (k,))
                    break
                if relevance[f] >= relevance[k] and common >= relevance[k]:
                    current.leave(k, (f,))
        return current

    def _conclude(self, information: Information, memory: OnlineSet) -> Selection:
        names = self._feature_names()[information.packed.columns]
        return conclude_set(memory, names, Reason.CLOSER_TO_ANOTHER)
