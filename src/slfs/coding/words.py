"""A coding -> what its levels are called."""

from __future__ import annotations

from slfs.coding.codebook import NONE, Coding

MISSING, RARE = "missing", "rare"


def level_names(coding: Coding, column: int) -> list[str]:
    """A name for each level of a column: an interval, a value, "missing" or "rare"."""
    count = int(coding.n_levels[column])
    names = [""] * count
    if column in coding.categories:
        for value, level in coding.categories[column].items():
            names[level] = str(value)
    elif coding.mdlp[column]:
        cuts = [f"{point:.6g}" for point in coding.column_thresholds(column)]
        bounds = ["", *cuts, ""]
        intervals = count - (coding.missing[column] != NONE)
        for level in range(int(intervals)):
            names[level] = _interval(bounds[level], bounds[level + 1])
    else:
        for level, value in enumerate(coding.column_thresholds(column)):
            names[level] = f"{value:.6g}"
    if coding.rare[column] != NONE:
        names[coding.rare[column]] = RARE
    if coding.missing[column] != NONE:
        names[coding.missing[column]] = MISSING
    return names


def _interval(low: str, high: str) -> str:
    if not low:
        return f"≤ {high}" if high else "any number"
    return f"{low} < x ≤ {high}" if high else f"> {low}"
