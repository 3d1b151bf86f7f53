"""Figures and names -> the words for them in sentences, tables and reports."""

from __future__ import annotations

import math
from typing import Any

from slfs._core.rounding import rounded

GRADES = ((1e-4, "overwhelming"), (0.01, "strong"), (0.05, "moderate"), (0.2, "weak"))
"""Maximum q-value for each grade of evidence."""

_MIN_P = 1e-9
"""Smaller p-values are shown as "p < 1e-09"."""


def frequency(share: float, n_subsamples: int) -> str:
    """Describe a selection frequency as a number of subsamples."""
    return f"selected in {round(share * n_subsamples)} of {n_subsamples} subsamples"


def evidence(
    p_value: float,
    q_value: float,
    given: str = "",
    noun: str = "class",
    *,
    alone: bool = False,
    subject: str = "it depends",
) -> str:
    """Describe the evidence that a column depends on the class or target; "" if it is unknown.

    ``given`` lists the columns that are conditioned on. ``alone`` adds that the column was tested alone,
    where a pair was tested as well. ``subject`` says what was tested.
    """
    if math.isnan(p_value) or math.isnan(q_value):
        return ""
    figures = f"({p_text(p_value)}, FDR {percent(q_value)})"
    depends = f"{subject} on the {noun}" + (f" given {given}" if given else "")
    depends += " on its own" if alone else ""
    if grade(q_value) == "none":
        tests = (
            "The tests, which compare the level of the target,"
            if given and noun != "class"
            else "The tests"
        )
        return f"{tests} find no evidence that {depends} {figures}."
    return f"Evidence that {depends}: {grade(q_value)} {figures}."


def p_text(p_value: float) -> str:
    """Format a p-value."""
    return f"p < {_MIN_P:g}" if p_value < _MIN_P else f"p = {p_value:.2g}"


def grade(q_value: float) -> str:
    """Return the grade of evidence for a q-value, a single word; "" if it is unknown."""
    if math.isnan(q_value):
        return ""
    return next((word for bound, word in GRADES if q_value <= bound), "none")


def percent(q_value: float) -> str:
    """Format a q-value as a percentage that has the same grade; "" if it is unknown."""
    if math.isnan(q_value):
        return ""
    if q_value < GRADES[0][0]:
        return "< 0.01%"
    digits, kind = (0, "f") if q_value >= 0.1 else (2, "g")
    return f"{rounded(100 * q_value, digits, kind, lambda share: grade(share / 100))}%"


def listed(names: Any) -> str:
    """List names in quotes: 'a', 'b' and 'c'."""
    return enumerated([repr(str(name)) for name in names])


def enumerated(parts: list[str]) -> str:
    """Join parts of a sentence: a, b and c."""
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))


def apart(*numbers: float, least: int = 3) -> list[str]:
    """Format numbers with as many digits, ``least`` to 6, as tell different ones apart."""
    written = [[f"{number:.{digits}g}" for number in numbers] for digits in range(least, 7)]
    most = max(len(set(texts)) for texts in written)
    return next(texts for texts in written if len(set(texts)) == most)
