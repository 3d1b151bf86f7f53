"""A number with a label -> text, rounded as far as the label stays right."""

from __future__ import annotations

from collections.abc import Callable

_MOST_DIGITS = 17
"""No more are needed to tell two floats apart."""


def rounded(value: float, digits: int, kind: str, label: Callable[[float], str]) -> str:
    """Format a number with some digits, or with more if the rounded number has another label.

    ``kind`` is "f" or "g", as in a format specification.
    """
    texts = (f"{value:.{more}{kind}}" for more in range(digits, _MOST_DIGITS))
    return next((text for text in texts if label(float(text)) == label(value)), repr(value))
