"""A number -> text for people, with few digits."""

from __future__ import annotations

from collections.abc import Callable

_LARGE = 1e7
"""Numbers from here on have an exponent."""

_MOST_DIGITS = 17
"""No more are needed to tell two floats apart."""


def short_number(value: float, digits: int = 4, sign: str = "") -> str:
    """Write a number with some significant digits; larger ones as integers, up to ten millions.

    Parameters
    ----------
    value : float
    digits : int, default=4
        Number of significant digits.
    sign : {"", "+"}, default=""
        ``"+"`` writes the sign of positive numbers, too.

    Returns
    -------
    text : str

    Examples
    --------
    >>> from slfs._core.rounding import short_number
    >>> [short_number(value) for value in (0.123456, 1955.5, -23934.2, 1.5e9)]
    ['0.1235', '1956', '-23934', '1.5e+09']
    """
    text = f"{value:{sign}.{digits}g}"
    return f"{value:{sign}.0f}" if "e+" in text and abs(value) < _LARGE else text


def rounded(value: float, digits: int, kind: str, label: Callable[[float], str]) -> str:
    """Format a number with some digits, or with more if the rounded number has another label.

    ``kind`` is "f" or "g", as in a format specification.
    """
    texts = (f"{value:.{more}{kind}}" for more in range(digits, _MOST_DIGITS))
    return next((text for text in texts if label(float(text)) == label(value)), repr(value))
