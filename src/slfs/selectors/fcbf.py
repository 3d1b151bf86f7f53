"""FCBF: feature selection with the fast correlation-based filter (Yu & Liu)."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from slfs._compat import Interval
from slfs.measures.information import Information
from slfs.screening.facts import ColumnFacts
from slfs.screening.reasons import Decision, Reason
from slfs.selectors._shared.selection import Selection, below_class, packed_as
from slfs.selectors.base import FORCED_CONSTRAINTS, BaseSelector
from slfs.selectors.registry import register


@register("fcbf")
class FCBF(BaseSelector):
    """Select features with the fast correlation-based filter (FCBF).

    Correlation is measured by the symmetrical uncertainty SU(f,k) = 2 I(f;k) / (H(f) + H(k)). Features
    are processed by decreasing SU(f,Y); each selected feature p removes every later feature q with
    SU(p,q) >= SU(q,Y) as redundant.

    Parameters
    ----------
    delta : float, default=0.0
        Features with SU(f,Y) <= ``delta`` are dropped as irrelevant.
    n_features_to_select : int, float or "auto", default="auto"
        Maximum number of features to select, or fraction of the columns. ``"auto"`` keeps all
        features that the method selects; otherwise only those with the largest SU(f,Y) are kept.
    include : array-like, str or None, default=None
        Columns that are selected in any case, given by name, by index or as a mask. They are the first
        ones, and count towards ``n_features_to_select``.
    exclude : array-like, str or None, default=None
        Columns that are never selected.
    condition_on : array-like, str or None, default=None
        Columns such as age, sex or batch whose influence is taken into account, but which are not
        selected: the others are judged by what they tell about the class beyond these. Their p-values
        are given these columns, and a column without significant information given these is dropped.
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
        Selected columns, by decreasing SU(f,Y).
    selection_scores_ : ndarray of shape (n_features_,)
        SU(f,Y) of each selected column.
    scores_ : ndarray of shape (n_features_in_,)
        Relevance I(f;Y) of every column, in nats.
    pvalues_, qvalues_ : ndarray of shape (n_features_in_,)
        p-value of each column for independence from the class, and the corresponding q-value.
    support_, network_, features_, n_features_, n_features_in_, feature_names_in_
        As in `SLFS`.
    target_type_, target_bins_, classes_
        As in `SLFS`. The field ``lost_to`` of ``features_`` is the feature that removed a redundant one.

    References
    ----------
    L. Yu and H. Liu, "Efficient feature selection via analysis of relevance and redundancy",
    JMLR 5, 2004.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from slfs import FCBF
    >>> FCBF().fit(*load_iris(return_X_y=True)).indices_
    array([3, 2])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseSelector._parameter_constraints,
        **FORCED_CONSTRAINTS,
        "delta": [Interval(Real, 0, 1, closed="left")],
    }

    def __init__(
        self,
        *,
        delta: float = 0.0,
        n_features_to_select: float | str = "auto",
        include: Any = None,
        exclude: Any = None,
        condition_on: Any = None,
        target: str = "auto",
        categorical_features: Any = "from_dtype",
        class_weight: Any = None,
        n_jobs: int | None = None,
        memory_limit: int | str | None = None,
        device: str = "cpu",
    ) -> None:
        self.delta = delta
        self.n_features_to_select = n_features_to_select
        self.include = include
        self.exclude = exclude
        self.condition_on = condition_on
        self.target = target
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.device = device

    def _select(self, information: Information, facts: ColumnFacts) -> Selection:
        relevance = class_uncertainty(information)
        # 1. relevant features, by decreasing SU(f,Y); ties: the column with the smaller index
        candidates = packed_as(information, facts, Reason.CANDIDATE)
        order = candidates[np.argsort(-relevance[candidates], kind="stable")]
        rest = order[relevance[order] > self.delta]
        low = Decision(Reason.LOW_UNCERTAINTY)
        dropped = dict.fromkeys(order[len(rest) :].tolist(), low)
        kept: list[int] = []
        lost_to: dict[int, int] = {}
        given = packed_as(information, facts, Reason.CONDITIONING).tolist()
        included = packed_as(information, facts, Reason.INCLUDED).tolist()
        forced = [*given, *included]
        while len(rest) or forced:
            # 2. the first remaining one is predominant, after those that the user has chosen
            if forced:
                p = forced.pop(0)
            else:
                p, rest = int(rest[0]), rest[1:]
            kept.append(p)
            # 3. it removes the columns whose SU with it is at least their SU with the class
            removed = symmetrical_uncertainty(information, p, rest) >= relevance[rest]
            lost_to.update(dict.fromkeys(rest[removed].tolist(), p))
            rest = rest[~removed]
        nodes = np.array(kept[len(given) :], np.int64)
        names = self._feature_names()[information.packed.columns]
        closer = {p: Decision(Reason.CLOSER_TO_ANOTHER, {"given": (str(names[p]),)}) for p in kept}
        dropped |= {q: closer[p] for q, p in lost_to.items()}
        return Selection(
            nodes, below_class(nodes), relevance[nodes], dropped, lost_to, n_included=len(included)
        )


def class_uncertainty(information: Information) -> NDArray[np.float64]:
    """Compute SU(f,Y) of every packed column."""
    classes = information.packed.layout.totals / information.packed.layout.n_samples
    entropy = -(classes * np.log(classes)).sum()
    uncertainty: NDArray[np.float64] = 2 * information.relevance / (information.entropy + entropy)
    return uncertainty


def symmetrical_uncertainty(
    information: Information, f: int, others: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Compute SU(f,k) = 2 I(f;k) / (H(f) + H(k)) for each k in ``others``."""
    shared = information.mutual_information(f, others)
    uncertainty: NDArray[np.float64] = (
        2 * shared / (information.entropy[f] + information.entropy[others])
    )
    return uncertainty
