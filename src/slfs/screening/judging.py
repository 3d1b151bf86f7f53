"""Facts about columns -> which columns are dropped as irrelevant, and why.

The rules are plain functions, so that they can be pickled and sent to Dask workers.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from slfs.coding.codebook import NONE
from slfs.screening.facts import ColumnFacts
from slfs.screening.reasons import Reason

Reasons = NDArray[np.int8]

CERTAIN = 1e-6
"""Columns with a smaller p-value are kept although their parameters cost more than their information.

With many small classes not even a copy of the class is worth its parameters.
"""


def keep_all(facts: ColumnFacts) -> Reasons:
    """Keep all columns."""
    return np.full(len(facts.coding), Reason.CANDIDATE, np.int8)


def drop_constant(facts: ColumnFacts) -> Reasons:
    """Drop constant columns: those with a single level and a single value."""
    columns = facts.coding.columns
    several = (columns["low"] < columns["high"]) | (columns["n_distinct"] > 1)
    constant = (columns["n_levels"] == 1) & ~several
    reasons = np.where(constant, Reason.CONSTANT, Reason.CANDIDATE).astype(np.int8)
    reasons[constant & columns["rounded"]] = Reason.EQUAL_AS_FLOATS
    reasons[constant & (columns["missing"] != NONE)] = Reason.ALL_MISSING
    return reasons


def drop_one_level(facts: ColumnFacts, *, merged: Reason = Reason.NO_CUT) -> Reasons:
    """Drop columns with a single level; ``merged`` is the reason for numbers with several values."""
    reasons = drop_constant(facts)
    one_level = (facts.coding.columns["n_levels"] == 1) & (reasons == Reason.CANDIDATE)
    reasons[one_level] = np.where(facts.coding.cut[one_level], merged, Reason.ONE_GROUP)
    return reasons


def drop_uninformative(facts: ColumnFacts) -> Reasons:
    """Drop columns with a single level or without information about the class: the default."""
    reasons = drop_one_level(facts)
    reasons[(reasons == Reason.CANDIDATE) & (facts.relevance <= 0)] = Reason.NO_INFORMATION
    return reasons


def _drop_chance_gaps(facts: ColumnFacts) -> Reasons:
    """Also drop numbers without a cut point whose missing values are not worth their parameters.

    The p-value of such a column is that of its numbers, which its levels do not distinguish.
    """
    reasons = drop_uninformative(facts)
    gaps = facts.coding.cut & (np.diff(facts.coding.offset) == 0)
    reasons[(reasons == Reason.CANDIDATE) & gaps & ~pays(facts)] = Reason.NO_CUT
    return reasons


def drop_costly(facts: ColumnFacts) -> Reasons:
    """Also drop columns without MDLP cut points that are not worth their parameters, unless certain."""
    reasons = _drop_chance_gaps(facts)
    cut = facts.coding.cut & (np.diff(facts.coding.offset) > 0)
    cut |= facts.coding.columns["ordered"] & (facts.coding.n_levels > 1)
    doubtful = ~pays(facts) & ~(facts.p_value <= CERTAIN)
    reasons[(reasons == Reason.CANDIDATE) & ~cut & doubtful] = Reason.COSTS_MORE
    return reasons


def drop_insignificant(facts: ColumnFacts, *, fdr: float) -> Reasons:
    """Also drop columns with a p-value above the FDR: their q-value is not smaller."""
    reasons = _drop_chance_gaps(facts)
    reasons[(reasons == Reason.CANDIDATE) & (facts.p_value > fdr)] = Reason.NOT_SIGNIFICANT
    return reasons


def pays(facts: ColumnFacts) -> NDArray[np.bool_]:
    """Whether each column has more information than its parameters cost: 2 N R(f) > (d-1)(c-1) log N."""
    cost = (facts.coding.n_levels - 1) * (facts.n_classes - 1) * math.log(facts.n_samples)
    return 2 * facts.n_samples * facts.relevance > cost
