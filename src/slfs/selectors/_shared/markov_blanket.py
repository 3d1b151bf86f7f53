"""Base class of OSFS and Fast-OSFS: test the relevance, then the redundancy of each new column."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from slfs._compat import Interval, StrOptions
from slfs._core.warn import warn
from slfs.measures.independence import FisherTest, IndependenceTest, TableTest, filled
from slfs.measures.information import Information
from slfs.screening.facts import Judge
from slfs.screening.judging import drop_constant
from slfs.screening.reasons import Decision, Reason
from slfs.selectors._shared.selection import Selection
from slfs.selectors._shared.stream import Numbers, OnlineSet, StreamSelector, conclude_set

_MANY_SETS = 5000
"""Number of conditioning sets that are tested for each column, from which a fit may take minutes."""


class MarkovBlanketSelector(StreamSelector):
    """Base class of OSFS and Fast-OSFS, which differ in how a relevant column is handled (`_weigh`)."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **StreamSelector._parameter_constraints,
        "alpha": [Interval(Real, 0, 1, closed="neither")],
        "max_conditioning": [Interval(Integral, 1, None, closed="left")],
        "statistic": [StrOptions({"g2", "chi2", "fisher_z"})],
        "samples_per_df": [Interval(Real, 0, None, closed="left")],
        "degrees_of_freedom": [StrOptions({"full", "adjusted"})],
    }

    def __init__(
        self,
        *,
        alpha: float = 0.01,
        max_conditioning: int = 3,
        statistic: str = "g2",
        samples_per_df: float = 5.0,
        degrees_of_freedom: str = "full",
        n_features_to_select: float | str = "auto",
        target: str = "auto",
        categorical_features: Any = "from_dtype",
        class_weight: Any = None,
        n_jobs: int | None = None,
        memory_limit: int | str | None = None,
        device: str = "cpu",
    ) -> None:
        self.alpha = alpha
        self.max_conditioning = max_conditioning
        self.statistic = statistic
        self.samples_per_df = samples_per_df
        self.degrees_of_freedom = degrees_of_freedom
        self.n_features_to_select = n_features_to_select
        self.target = target
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.device = device

    def _judge(self) -> Judge:
        return drop_constant if self.statistic == "fisher_z" else super()._judge()

    def _arrive(
        self,
        information: Information,
        columns: NDArray[np.int64],
        memory: OnlineSet | None,
        numbers: Numbers,
    ) -> OnlineSet:
        current = OnlineSet() if memory is None else memory
        raw = self.statistic == "fisher_z"
        test: IndependenceTest
        if raw:
            layout = information.packed.layout
            labels = layout.labels.astype(np.float64)
            test = FisherTest(current.values, labels, self.alpha, layout.unit)
        else:
            test = TableTest(
                information.backend,
                self.alpha,
                self.statistic,
                self.samples_per_df,
                adjusted=self.degrees_of_freedom == "adjusted",
            )
        warned = False
        for f in columns.tolist():
            if raw:
                current.values[f] = filled(numbers(f))
            # 1. relevance: drop the column if it is independent of the class
            p_value = test.p_value(f)
            if p_value >= self.alpha:
                current.dropped[f] = Decision(Reason.INDEPENDENT, {"p_value": p_value})
                if p_value == 1.0:
                    current.dropped[f] = Decision(Reason.TOO_FEW_SAMPLES)
                current.values.pop(f, None)
                continue
            current.scores[f] = p_value
            # 2. redundancy: drop columns that are independent of the class given some others
            self._weigh(f, current, test)
            if not warned and len(current.kept) > self.max_conditioning:
                warned = self._warn_about_time(len(current.kept))
        return current

    def _warn_about_time(self, n_kept: int) -> bool:
        """Warn if there are very many conditioning sets for each column; return whether there are."""
        numbers = [
            sum(math.comb(n_kept, size) for size in range(1, most + 1))
            for most in range(1, self.max_conditioning + 1)
        ]
        if numbers[-1] <= _MANY_SETS or len(numbers) == 1:
            return False
        warn(
            f"{n_kept} columns are selected so far, so that each further one is tested given up to "
            f"{numbers[-1]} sets of them, which may take minutes. With max_conditioning="
            f"{self.max_conditioning - 1} there are at most {numbers[-2]} sets."
        )
        return True

    def _weigh(self, f: int, current: OnlineSet, test: IndependenceTest) -> None:
        """Add a relevant column to the set, and remove the columns that are redundant."""
        raise NotImplementedError

    def _conclude(self, information: Information, memory: OnlineSet) -> Selection:
        names = self._feature_names()[information.packed.columns]
        return conclude_set(memory, names, Reason.SEPARATED)
