"""A table and its target -> a warning if they have the same row labels in another order."""

from __future__ import annotations

from typing import Any

import numpy as np

from slfs._core.warn import warn


def warn_about_order(X: Any, y: Any) -> None:
    """Warn if the index of ``y`` has the labels of that of ``X``, but not in the same order.

    Rows are matched by position, as in scikit-learn.
    """
    rows: Any = getattr(X, "index", None)
    labels: Any = getattr(y, "index", None)
    if not (hasattr(rows, "get_indexer_for") and hasattr(labels, "get_indexer_for")):
        return  # these are not indexes of pandas
    if len(rows) != len(labels) or rows.nlevels != labels.nlevels:
        return
    try:
        if not rows.is_unique or not labels.is_unique:
            return
        # labels of other types may be equal, such as times of two zones
        positions = labels.get_indexer_for(rows)
    except TypeError:  # some labels cannot be hashed, such as lists
        return
    if (positions >= 0).all() and (np.diff(positions) != 1).any():
        warn(
            "The index of y has the labels of the index of X in another order, but rows are matched by "
            "position. If equal labels mean the same sample, pass y.loc[X.index].",
            about_focus=True,
        )
