"""Forward selection: the column with the best score, again and again; the rest meets the last one."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slfs.measures.information import Information
from slfs.screening.facts import ColumnFacts
from slfs.screening.judging import pays
from slfs.selectors._shared.selection import Selection, below_class
from slfs.selectors.base import BaseSelector

Floats = NDArray[np.float64]


_FRONT = 128
"""Columns to begin with, where relevance bounds the scores: a few microseconds of counting."""


class GreedySelector(BaseSelector):
    """Base of the methods that take the most relevant column first and then rescore the rest.

    A method says how a column taken changes what is remembered of another one (`_meet`), and how that
    makes its score (`_score`). Where no score can exceed the relevance (`_bounded`), the columns come in
    the order of their relevance, and those whose relevance is below the best score are not counted yet.
    """

    def __init__(
        self,
        n_features_to_select: float | str = "auto",
        *,
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
        memory_limit: int | str | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit

    @abstractmethod
    def _bounded(self) -> bool:
        """Whether the relevance of a column is the most it can score."""

    @abstractmethod
    def _begin(self, relevance: Floats) -> NDArray[Any]:
        """What is remembered of columns before any is taken, one row each."""

    @abstractmethod
    def _meet(
        self, information: Information, last: int, others: NDArray[np.int64], memory: NDArray[Any]
    ) -> None:
        """Change what is remembered of ``others`` now that ``last`` is taken."""

    @abstractmethod
    def _score(
        self, information: Information, relevance: Floats, memory: NDArray[Any], n_taken: int
    ) -> Floats:
        """Scores of columns that have met all of the ``n_taken`` columns taken."""

    def _select(self, information: Information, facts: ColumnFacts) -> Selection:
        wanted = self._n_wanted(len(facts.coding))
        order = np.argsort(-information.relevance, kind="stable")
        if wanted is None:
            order = order[pays(facts)[information.packed.columns[order]]]
        most = len(order) if wanted is None else min(wanted, len(order))
        taken: list[int] = []
        scores: list[float] = []
        front = _Front(self, information, order)
        while len(taken) < most:
            position, score = front.best(taken)
            f = int(order[position])
            if wanted is None and not _pays_given(information, f, taken):
                break
            scores.append(score)
            taken.append(f)
            front.open[position] = False
        nodes = np.array(taken, np.int64)
        return Selection(nodes, below_class(nodes), np.array(scores))


class _Front:
    """The columns that have met all columns taken: the first ones in the order of relevance."""

    def __init__(
        self, selector: GreedySelector, information: Information, order: NDArray[np.int64]
    ) -> None:
        self.open = np.ones(len(order), np.bool_)
        self._selector, self._information, self._order = selector, information, order
        self._relevance = information.relevance[order]
        self._memory = selector._begin(self._relevance)
        self._size = min(_FRONT, len(order)) if selector._bounded() else len(order)

    def best(self, taken: list[int]) -> tuple[int, float]:
        """The place in the order and the score of the best open column; ties: the smaller column."""
        if taken:
            self._meet(taken[-1:], 0, self._size)
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


def _pays_given(information: Information, f: int, taken: list[int]) -> bool:
    """Whether f is worth its table beside each of the columns taken: the rule for "auto".

    2 N I(f;Y|s) > (d-1)(c-1) log N for every s taken. What does not pay alone is no candidate at all.
    """
    layout = information.packed.layout
    n_levels = float(information.packed.arrays.levels[f])
    news = information.relevance[f]
    if taken:
        news = min(news, information.pairs(f, np.array(taken)).of_one_given_other.min())
    price = (n_levels - 1) * (layout.n_classes - 1) * math.log(layout.n_samples)
    return bool(2 * layout.n_samples * news > price)
