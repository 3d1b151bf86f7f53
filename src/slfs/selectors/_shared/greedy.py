"""Greedy forward selection: select the column with the best score, update the scores, repeat."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from slfs.measures.information import Information
from slfs.screening.facts import ColumnFacts
from slfs.screening.judging import CERTAIN, pays
from slfs.screening.reasons import Decision, Reason
from slfs.selectors._shared.selection import Selection, below_class, packed_as
from slfs.selectors.base import FORCED_CONSTRAINTS, BaseSelector

Floats = NDArray[np.float64]


_FRONT = 256
"""Number of columns to score first, where the relevance bounds the scores: some microseconds of work."""


class GreedySelector(BaseSelector):
    """Base class of methods that select the most relevant column first and rescore the others.

    A method keeps one row of state per column. It defines how a selected column changes the state of
    another column (`_meet`), and the score of a column from its state (`_score`). If no score can exceed
    the relevance (`_bounded`), columns are processed by decreasing relevance, and columns whose
    relevance is below the best score so far are not counted.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseSelector._parameter_constraints,
        **FORCED_CONSTRAINTS,
    }

    def __init__(
        self,
        n_features_to_select: float | str = "auto",
        *,
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

    @abstractmethod
    def _bounded(self) -> bool:
        """Whether the relevance of a column is an upper bound of its score."""

    @abstractmethod
    def _begin(self, relevance: Floats) -> NDArray[Any]:
        """Return the state of the columns before any column is selected, one row per column."""

    @abstractmethod
    def _meet(
        self, information: Information, last: int, others: NDArray[np.int64], memory: NDArray[Any]
    ) -> None:
        """Update the state of ``others`` in place, after ``last`` was selected."""

    @abstractmethod
    def _score(
        self, information: Information, relevance: Floats, memory: NDArray[Any], n_taken: int
    ) -> Floats:
        """Return the scores of columns whose state includes all ``n_taken`` selected columns."""

    def _select(self, information: Information, facts: ColumnFacts) -> Selection:
        wanted = self._n_wanted(len(facts.coding))
        order = packed_as(information, facts, Reason.CANDIDATE)
        order = order[np.argsort(-information.relevance[order], kind="stable")]
        dropped: dict[int, Decision] = {}
        certain = ~np.isnan(facts.given_relevance) & (facts.p_value <= CERTAIN)
        if wanted is None:
            worth = (pays(facts) | certain)[information.packed.columns[order]]
            dropped = dict.fromkeys(order[~worth].tolist(), Decision(Reason.COSTS_MORE))
            order = order[worth]
        included = packed_as(information, facts, Reason.INCLUDED)
        given = packed_as(information, facts, Reason.CONDITIONING).tolist()
        n_open = len(order) if wanted is None else min(wanted - len(included), len(order))
        taken: list[int] = [*given, *included.tolist()]
        max_taken = len(taken) + n_open
        scores: list[float] = information.relevance[included].tolist()
        front = _Front(self, information, order)
        while len(taken) < max_taken:
            position, score = front.best(taken)
            f = int(order[position])
            column = information.packed.columns[f]
            alone = float(facts.given_relevance[column]) if certain[column] else None
            if wanted is None and not _pays_given(information, f, taken, len(given), alone):
                break
            scores.append(score)
            taken.append(f)
            front.open[position] = False
        nodes = np.array(taken[len(given) :], np.int64)
        return Selection(nodes, below_class(nodes), np.array(scores), dropped, n_included=len(included))


class _Front:
    """The columns with up-to-date states: the first ones by decreasing relevance."""

    def __init__(
        self, selector: GreedySelector, information: Information, order: NDArray[np.int64]
    ) -> None:
        self.open = np.ones(len(order), np.bool_)
        self._selector, self._information, self._order = selector, information, order
        self._relevance = information.relevance[order]
        self._memory = selector._begin(self._relevance)
        self._n_met = 0
        self._size = min(_FRONT, len(order)) if selector._bounded() else len(order)

    def best(self, taken: list[int]) -> tuple[int, float]:
        """Return position and score of the best open column; ties: the column with the smaller index."""
        self._meet(taken[self._n_met :], 0, self._size)
        self._n_met = len(taken)
        while True:
            scores = self._scores(len(taken))
            top = float(scores.max())
            beyond = int(np.searchsorted(-self._relevance, -top, side="right"))
            if self._size >= min(beyond, len(self._order)):
                break
            size = min(2 * self._size, len(self._order))
            self._meet(taken, self._size, size)
            self._size = size
        tied = np.flatnonzero(scores == top)
        return int(tied[self._order[tied].argmin()]), top

    def _scores(self, n_taken: int) -> Floats:
        relevance, memory = self._relevance[: self._size], self._memory[: self._size]
        scores = relevance
        if n_taken:
            scores = self._selector._score(self._information, relevance, memory, n_taken)
        return np.where(self.open[: self._size], scores, -np.inf)

    def _meet(self, taken: list[int], begin: int, end: int) -> None:
        others, memory = self._order[begin:end], self._memory[begin:end]
        for column in taken:
            self._selector._meet(self._information, column, others, memory)


def _pays_given(
    information: Information, f: int, taken: list[int], n_given: int, given_relevance: float | None
) -> bool:
    """Whether f has more information than its parameters cost given each selected column (MDL).

    This is the stopping rule of "auto": 2 N I(f;Y|s) > (d-1)(c-1) log N for every selected s. Columns
    that fail the same test on their own are not candidates. The first ``n_given`` columns are
    conditioned on. They have many levels, in each of which a column seems to have information by chance:
    the expected value of that, beyond that of a column without levels to condition on, is deducted.

    A column that certainly depends on the class given these has a ``given_relevance``, which may be more
    than it tells on its own. Each other selected column takes from it what it takes from the relevance.
    """
    layout = information.packed.layout
    n_levels = float(information.packed.arrays.levels[f])
    gain = information.relevance[f]
    if given_relevance is not None:
        others = np.array(taken[n_given:], np.int64)
        shared = gain - information.pairs(f, others).of_one_given_other if len(others) else np.zeros(1)
        gain = given_relevance - max(0.0, float(shared.max()))
    elif taken:
        others = np.array(taken)
        chance = np.zeros(len(taken))
        n_strata = information.packed.arrays.levels[others[:n_given]].astype(np.float64)
        freedom = (n_levels - 1) * (layout.n_classes - 1)
        chance[:n_given] = (n_strata - 1) * freedom / (2 * layout.evidence)
        gain = min(gain, (information.pairs(f, others).of_one_given_other - chance).min())
    cost = (n_levels - 1) * (layout.n_classes - 1) * math.log(layout.evidence)
    return bool(2 * layout.evidence * gain > cost)
