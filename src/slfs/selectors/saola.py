"""SAOLA: scalable and accurate online feature selection by pairwise comparisons (Yu et al.)."""

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
    """Select features online by pairwise comparisons (SAOLA).

    Correlation is measured by the symmetrical uncertainty SU(f,k) = 2 I(f;k) / (H(f) + H(k)). Features
    arrive in the order of the columns. Each new feature f is compared with the selected features k in
    turn: if SU(k,Y) >= SU(f,Y) and SU(f,k) >= SU(f,Y), f is dropped as redundant; if SU(f,Y) >= SU(k,Y)
    and SU(f,k) >= SU(k,Y), k is.

    Parameters
    ----------
    delta : float, default=0.0
        Features with SU(f,Y) <= ``delta`` are dropped as irrelevant; pairs with SU(f,k) <= ``delta`` are
        not compared.
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
        SU(f,Y) of each selected column.
    scores_ : ndarray of shape (n_features_in_,)
        Relevance I(f;Y) of every column, in nats.
    pvalues_, qvalues_ : ndarray of shape (n_features_in_,)
        p-value of each column for independence from the class, and the corresponding q-value.
    support_, network_, features_, n_features_, n_features_in_, feature_names_in_
        As in `SLFS`.
    target_type_, target_bins_, classes_
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
        target: str = "auto",
        categorical_features: Any = "from_dtype",
        class_weight: Any = None,
        n_jobs: int | None = None,
        memory_limit: int | str | None = None,
        device: str = "cpu",
    ) -> None:
        self.delta = delta
        self.n_features_to_select = n_features_to_select
        self.target = target
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.device = device

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
