"""A number -> text for people: few digits, and no exponent unless it is very large or very small."""

from __future__ import annotations

_LARGE = 1e7
"""Numbers from here on have an exponent."""


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
    >>> from slfs._core.number_text import short_number
    >>> [short_number(value) for value in (0.123456, 1955.5, -23934.2, 1.5e9)]
    ['0.1235', '1956', '-23934', '1.5e+09']
    """
    text = f"{value:{sign}.{digits}g}"
    return f"{value:{sign}.0f}" if "e+" in text and abs(value) < _LARGE else text
