"""Forward selection: the column with the best score, again and again; the rest meets the last one."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from slfs.coding.pipeline import ColumnFacts
from slfs.information import Information
from slfs.network import ROOT
from slfs.selectors.base import K_CONSTRAINTS, BaseSelector, limit, outranked, pays
from slfs.selectors.selection import Selection

Floats = NDArray[np.float64]


class GreedySelector(BaseSelector):
    """Base of the methods that take the most relevant column first and then rescore the rest.

    A method says how the last column taken changes the scores of the others (`_rescore`). Memory is
    that of a few numbers a column; each step counts one column against the rest.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseSelector._parameter_constraints,
        "k": K_CONSTRAINTS,
    }
    _memory_type: type = float

    def __init__(
        self,
        k: float | str = "auto",
        *,
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
    ) -> None:
        self.k = k
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    @abstractmethod
    def _rescore(self, information: Information, taken: list[int], memory: NDArray[Any]) -> Floats:
        """Score all columns after ``taken``; ``memory`` keeps a number for each, 0 at first."""

    def _select(self, information: Information, facts: ColumnFacts) -> Selection:
        n_packed = len(information.packed)
        most = n_packed
        if self.k != "auto":
            most = min(most, limit(self.k, len(facts.coding)))
        score = information.relevance.copy()
        memory: NDArray[Any] = np.zeros(n_packed, self._memory_type)
        taken: list[int] = []
        scores: list[float] = []
        closed: list[int] = []
        if self.k == "auto":
            closed = np.flatnonzero(~pays(facts)[information.packed.columns]).tolist()
            score[closed] = -np.inf
        while len(taken) < most and len(closed) < n_packed:
            f = int(score.argmax())  # ties: the smaller column
            if self.k == "auto" and not _pays_given(information, f, taken):
                break
            scores.append(float(score[f]))
            taken.append(f)
            closed.append(f)
            if len(taken) < most:
                score = self._rescore(information, taken, memory)
                score[closed] = -np.inf
        return Selection(
            np.array(taken, np.int64),
            np.full(len(taken), ROOT),
            scores=np.array(scores),
            outranked=outranked(len(taken)),
        )


def _pays_given(information: Information, f: int, taken: list[int]) -> bool:
    """Whether f is worth its table beside each of the columns taken: the rule of ``k="auto"``.

    2 N I(f;Y|s) > (d-1)(c-1) log N for every s taken. What does not pay alone is no candidate at all.
    """
    layout = information.packed.layout
    n_levels = float(information.packed.arrays.levels[f])
    news = information.relevance[f]
    if taken:
        news = min(news, information.pairs(f, np.array(taken)).of_one_given_other.min())
    price = (n_levels - 1) * (layout.n_classes - 1) * math.log(layout.n_samples)
    return bool(2 * layout.n_samples * news > price)
