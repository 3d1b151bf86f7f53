"""AlphaInvesting: streaming feature selection with linear regression (Zhou et al.)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from slfs._compat import Interval
from slfs.measures.independence import filled
from slfs.measures.information import Information
from slfs.screening.facts import Judge
from slfs.screening.judging import keep_all
from slfs.screening.reasons import Decision, Reason
from slfs.selectors._shared.selection import Selection, below_class
from slfs.selectors._shared.stream import Numbers, StreamSelector
from slfs.selectors.registry import register


@dataclass
class _Investment:
    """State of the regression: an orthonormal basis of its columns, the residual and the wealth."""

    wealth: float
    basis: NDArray[np.float64]
    residual: NDArray[np.float64]
    n_seen: int = 1  # the constant
    kept: list[int] = field(default_factory=list)
    p_values: list[float] = field(default_factory=list)
    refused: dict[int, Decision] = field(default_factory=dict)


@register("alpha-investing")
class AlphaInvesting(StreamSelector):
    """Select features online by alpha-investing.

    Features are added, in the order of the columns, to a linear regression on the class codes. The i-th
    column (the constant is the first) is tested at the level w / (2 i), where w is the current wealth. A
    feature whose p-value is below the level is selected and raises the wealth by ``payout`` minus the
    level; any other feature lowers the wealth by the level. The p-value of a feature that reduces the
    residual sum of squares from A to B is exp((B - A) / (2 A / N)), as in the authors' LOFS. Columns
    enter as numbers: missing values are replaced by the mean, categories by their codes.

    Parameters
    ----------
    wealth : float, default=0.5
        Initial wealth. More wealth means higher significance levels at the start.
    payout : float, default=0.5
        Amount by which a selected feature raises the wealth, before the level is subtracted.
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
        columns of a categorical dtype are always categorical. This changes ``features_`` and
        ``to_classifier``; the regression uses the numbers of numeric columns in any case.
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
        p-value of each selected column when it was added to the regression.
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
    J. Zhou, D. Foster, R. Stine and L. Ungar, "Streaming feature selection using alpha-investing",
    KDD 2005.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from slfs import AlphaInvesting
    >>> AlphaInvesting().fit(*load_iris(return_X_y=True)).indices_
    array([0, 1, 2, 3])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **StreamSelector._parameter_constraints,
        "wealth": [Interval(Real, 0, None, closed="neither")],
        "payout": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        *,
        wealth: float = 0.5,
        payout: float = 0.5,
        n_features_to_select: float | str = "auto",
        target: str = "auto",
        categorical_features: Any = "from_dtype",
        class_weight: Any = None,
        n_jobs: int | None = None,
        memory_limit: int | str | None = None,
        device: str = "cpu",
    ) -> None:
        self.wealth = wealth
        self.payout = payout
        self.n_features_to_select = n_features_to_select
        self.target = target
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.device = device

    def _judge(self) -> Judge:
        return keep_all  # every column changes the wealth

    def _arrive(
        self,
        information: Information,
        columns: NDArray[np.int64],
        memory: _Investment | None,
        numbers: Numbers,
    ) -> _Investment:
        state = self._start(information) if memory is None else memory
        evidence = information.packed.layout.evidence
        for f in columns.tolist():
            # 1. the level at which this feature is tested
            state.n_seen += 1
            level = state.wealth / (2 * state.n_seen)
            # 2. the p-value of adding it to the regression
            direction = _orthogonal(filled(numbers(f)), state.basis)
            error = float(state.residual @ state.residual)
            gain = float(direction @ state.residual) ** 2
            p_value = math.exp(-gain * evidence / (2 * error)) if error > 0 else 1.0
            # 3. select it or not, and update the wealth
            if p_value < level:
                state.wealth += self.payout - level
                state.basis = np.column_stack([state.basis, direction])
                state.residual = state.residual - direction * (direction @ state.residual)
                state.kept.append(f)
                state.p_values.append(p_value)
            else:
                state.wealth -= level
                figures = {"p_value": p_value, "level": level}
                state.refused[f] = Decision(Reason.NOT_AFFORDABLE, figures)
        return state

    def _start(self, information: Information) -> _Investment:
        labels = information.packed.layout.labels.astype(np.float64)
        constant = np.full((len(labels), 1), 1 / math.sqrt(len(labels)))
        return _Investment(self.wealth, constant, labels - labels.mean())

    def _conclude(self, information: Information, memory: _Investment) -> Selection:  # noqa: ARG002
        nodes, p_values = np.array(memory.kept, np.int64), np.array(memory.p_values)
        return Selection(nodes, below_class(nodes), p_values, memory.refused, ranked=False)


def _orthogonal(values: NDArray[np.float64], basis: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the normalized part of a column that is orthogonal to the basis; 0 if there is none."""
    size = float(np.linalg.norm(values))
    for _ in range(2):  # a second pass removes the rounding errors of the first
        values = values - basis @ (basis.T @ values)
    rest = float(np.linalg.norm(values))
    return values / rest if rest > 1e-10 * size else np.zeros_like(values)
