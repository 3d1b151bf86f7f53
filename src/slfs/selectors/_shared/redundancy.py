"""Information given a column of the tree -> whether other columns are redundant."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, chdtri

from slfs.measures.information import Information
from slfs.screening.reasons import SIGNIFICANT, Reason

NOTHING = 1e-9
"""Information below this value, in nats, is treated as zero."""

_CRITICAL = float(chdtri(1, SIGNIFICANT))
"""Smaller statistics are not significant with any number of degrees of freedom."""

_FEW_CELLS = 1 << 16
"""Maximum number of cells of a table that is counted with bit planes."""

_NEARLY_ALL = 0.95
"""Minimum symmetrical uncertainty of near-duplicates, 2 I(f;k) / (H(f) + H(k))."""


def adds_nothing(
    information: Information, given: int, columns: NDArray[np.int64], added: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Return which columns f are redundant given a column k: I(f;Y|k), ``added``, is not significant.

    2 N I(f;Y|k) has a chi-squared distribution if f tells nothing about the class given k. The degrees
    of freedom are those of the levels and classes that occur: the sum of (levels of f - 1)(classes - 1)
    over the levels of k. Columns that are close to k have few levels at each level of k, and counting
    empty cells would make nearly all of them redundant.
    """
    statistic = 2 * information.packed.layout.evidence * added
    nothing: NDArray[np.bool_] = (added < NOTHING) | (statistic < _CRITICAL)
    rest = np.flatnonzero(~nothing)
    if len(rest) == 0:
        return nothing
    counts = information.packed.class_counts(given)
    classes = np.maximum((counts > 0).sum(axis=1) - 1, 0)
    # an upper bound of the degrees of freedom that needs no joint counts
    others = information.packed.arrays.levels[columns[rest]].astype(np.int64) - 1
    sizes = np.maximum(counts.sum(axis=1) - 1, 0)
    most = np.maximum(np.minimum(others[:, np.newaxis], sizes) @ classes, 1)
    for i in rest[chdtrc(most, statistic[rest]) > SIGNIFICANT].tolist():
        levels = _filled(information, int(columns[i]), given).sum(axis=0) - 1
        freedom = int((np.maximum(levels, 0) * classes).sum())
        nothing[i] = chdtrc(max(freedom, 1), statistic[i]) > SIGNIFICANT
    return nothing


def _filled(information: Information, f: int, k: int) -> NDArray[np.bool_]:
    """Return which pairs of a level of f and a level of k occur."""
    n_levels = information.packed.arrays.levels
    shape = int(n_levels[f]), int(n_levels[k])
    if information.packed.layout.n_classes * shape[0] * shape[1] <= _FEW_CELLS:
        return np.asarray(information.joint_counts(f, k).any(axis=0), np.bool_)
    filled = np.zeros(shape, np.bool_)
    filled[information.codes(f), information.codes(k)] = True
    return filled


def nearly_equal(
    information: Information, one: int, others: NDArray[np.int64], shared: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Return which columns have nearly the same levels as one column; ``shared`` is I(f;k)."""
    both = information.entropy[others] + information.entropy[one]
    near: NDArray[np.bool_] = 2 * shared >= _NEARLY_ALL * both
    return near


def is_contained(information: Information, f: int, columns: list[int]) -> bool:
    """Whether one of the columns contains nearly all of f, to which f adds nothing significant.

    So it is with copies, near-duplicates, and functions of a column. Columns with more levels than half
    the samples, such as identifiers that the user has included, contain all others by accident: only
    what is nearly equal to them is a copy.
    """
    others = np.array(columns, np.int64)
    pair = information.pairs(f, others)
    shared, added = pair.mutual_information, pair.of_one_given_other
    own = information.entropy[f]
    contained = shared >= _NEARLY_ALL * own
    contained &= information.packed.arrays.levels[others] <= information.packed.layout.n_samples / 2
    contained |= nearly_equal(information, f, others, shared)
    return any(
        adds_nothing(information, columns[i], np.array([f]), added[[i]])[0]
        for i in np.flatnonzero(contained).tolist()
    )


def find_copies(
    information: Information, nodes: NDArray[np.int64], columns: NDArray[np.int64]
) -> dict[int, int]:
    """Find the first node with the same levels for each column that has one."""
    found: dict[int, int] = {}
    entropy, relevance = information.entropy, information.relevance
    for node in nodes.tolist():  # columns with equal counts have equal figures, to the bit
        alike = (entropy[columns] == entropy[node]) & (relevance[columns] == relevance[node])
        if not alike.any():
            continue
        others = columns[alike]
        shared = information.pairs(node, others).mutual_information
        for f in others[entropy[node] - shared < NOTHING].tolist():
            found.setdefault(f, node)
    return found


def judge_losers(
    information: Information,
    winner: int,
    losers: NDArray[np.int64],
    shared: NDArray[np.float64],
    added: NDArray[np.float64],
) -> NDArray[np.int8]:
    """Return the `Reason` of columns f that found no place in the tree, given the node k they lost to.

    ``shared`` is I(f;k), ``added`` is I(f;Y|k).
    """
    both = information.entropy[losers] + information.entropy[winner]
    redundant = adds_nothing(information, winner, losers, added)
    reasons = np.where(redundant, Reason.ADDS_NOTHING, Reason.NO_ROOM)
    near = nearly_equal(information, winner, losers, shared)
    reasons[redundant & near] = Reason.NEAR_DUPLICATE
    reasons[redundant & (both - 2 * shared < NOTHING)] = Reason.DUPLICATE
    return reasons.astype(np.int8)
