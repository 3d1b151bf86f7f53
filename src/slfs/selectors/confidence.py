"""p-values and q-values -> words."""

from __future__ import annotations

import math

GRADES = ((1e-4, "overwhelming"), (0.01, "strong"), (0.05, "moderate"), (0.2, "weak"))
"""The largest share of flukes among columns that look as good, for each grade of evidence."""

_LEAST = 1e-9


def confidence(p_value: float, q_value: float) -> str:
    """Say how far a column can be believed to have to do with the class; "" where it is not known."""
    if math.isnan(p_value) or math.isnan(q_value):
        return ""
    words = (
        f"Evidence that it has to do with the class at all: {grade(q_value)}. By chance "
        f"{chance(p_value)} would look this good"
    )
    if q_value < GRADES[0][0]:
        return f"{words}."
    return (
        f"{words}, and {flukes(q_value)} of the columns that look at least this good are expected to be "
        "flukes."
    )


def grade(q_value: float) -> str:
    """How strong the evidence is; "" where it is not known."""
    if math.isnan(q_value):
        return ""
    return next((word for most, word in GRADES if q_value <= most), "none")


def chance(p_value: float) -> str:
    """How many columns that have nothing to do with the class would look as good."""
    if p_value < _LEAST:
        return "fewer than 1 in a billion unrelated columns"
    if p_value > 2 / 3:
        return "most unrelated columns"
    if p_value > 0.1:
        return f"about {100 * p_value:.0f} % of unrelated columns"
    return f"about 1 in {_two_digits(1 / p_value):,} unrelated columns"


def flukes(q_value: float) -> str:
    """The share of flukes; "" where it is not known."""
    if math.isnan(q_value):
        return ""
    if q_value < GRADES[0][0]:
        return "less than 0.01 %"
    percent = 100 * q_value
    return f"about {percent:.0f} %" if percent >= 10 else f"about {percent:.2g} %"


def _two_digits(number: float) -> int:
    """Rounded to two digits."""
    digits = int(10 ** max(math.floor(math.log10(number)) - 1, 0))
    return round(number / digits) * digits
