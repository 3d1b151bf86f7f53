"""Values of a column that is not numeric -> whether they look like numbers, and which of them do not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from numbers import Real

_SAMPLE_VALUES = 200
"""Number of values whose text is examined."""

_NEARLY_ALL, _MOST = 0.95, 0.8
"""Share of the values that must look like numbers: of text, and if some are Python numbers."""

_MIN_NUMBERS = 2
"""Minimum number of distinct numbers in a column of which all other values look missing."""

_FEW_WORDS, _NUMBERS_PER_WORD = 5, 10
"""Number of different words in a column of numbers that are few, and how many numbers there are for
each of them."""

_COMMAS = 0.1
"""Minimum share of texts with a comma if it is the decimal separator: 12,13 may also be a list."""

_MAX_UNITS = 3
"""Maximum number of different currencies and units in a column."""

_UNIT = r"[A-Za-zµ²³/]"
_CURRENCY = r"[A-Z]{0,2}\$|[€£¥₹]|(?:Rs|Fr)\.?|USD|EUR|GBP|CHF|JPY|INR|[A-Z]{3}\b"
_DIGITS = r"(?:\d{1,3}(?:[,.' \u00a0\u202f]\d{3})+|\d+)(?:[.,]\d+)?(?:[eE][-+]?\d+)?"
_ERROR = rf"(?:±|\+/?-)\s*{_DIGITS}|[(\[]{_DIGITS}\s*%?(?:\s*(?:[-–,;]|to)\s*{_DIGITS})?\s*[)\]]"
_NUMBER = re.compile(
    rf"\s*[-+(−]?\s*(?P<before>{_CURRENCY})?\s*[-+(−]?(?P<number>{_DIGITS})(?:\s*(?:{_ERROR}))?"
    rf"\s*(?P<after>[%‰$€£¥°]?{_UNIT}{{0,8}}\.?(?: {_UNIT}{{1,8}}\.?){{0,2}})\s*[)*†‡#!?-]{{0,3}}\s*"
)
"""A number with a currency or a unit, a standard error or an interval, and marks such as *."""
_ZERO = re.compile(rf"\s*(?:{_CURRENCY})\s*[-–—]+\s*")
"""How the accounting format of Excel writes 0: a currency and a dash."""
_PLAIN_NUMBER = re.compile(r"\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\s*")
_COMMA_NUMBER = re.compile(r"\s*[-+]?(?:\d+,?\d*|,\d+)(?:[eE][-+]?\d+)?\s*")
_COMMA_THOUSANDS = re.compile(r"\s*[-+]?(?:[1-9]\d{0,2}(?:,\d{3})+|\d{1,3})\s*")
_DIGIT = re.compile(r"\d")
_FRACTION = re.compile(r"[.,]\d")
_CODE = re.compile(r"\s*0\d+[A-Za-z]?\s*")
"""An integer with leading zeros: a code, such as a postcode; a letter may be its check digit."""

_MISSING_MARKER = re.compile(
    r"[\W_]*|\s*(?:n\.?/?a\.?n?|k\. ?a\.|none|nil|null|missing|unknown|unk)\s*"
    r"|\s*(?:not|no) (?:available|known|applicable|data|answer|detected)\s*"
    r"|\s*(?:n\.? ?d\.?|[<>]? ?lo[dq]|b[dq]l|[<>]=? ?\d+(?:[.,]\d+)?)\s*",
    re.IGNORECASE,
)
"""Text that often means a missing value: signs such as ?, -- and *, words, and limits of detection."""


def is_number(value: object) -> bool:
    """Return whether a value of Python is a number; booleans are not."""
    return isinstance(value, Real | Decimal) and not isinstance(value, bool)


def has_codes(values: Iterable[object]) -> bool:
    """Return whether some values are integers with leading zeros, which must stay text."""
    return any(isinstance(value, str) and _CODE.fullmatch(value) for value in values)


def some_texts(values: Sequence[object]) -> list[str]:
    """Return the text of some values, evenly spaced; that of a number is "0"."""
    return _texts(values[:: -(-len(values) // _SAMPLE_VALUES) or 1])


def look_like_numbers(values: Sequence[object]) -> bool:
    """Return whether nearly all values are numbers.

    Integers have at most a few currencies and units: 12A and 7B may be codes, 12 Oak Ave. is an address,
    4.2 a and 3,1 b are numbers.
    """
    texts = some_texts(values)
    matches = [match for match in map(_NUMBER.fullmatch, texts) if match is not None]
    units = {(match["before"], match["after"]) for match in matches}
    share = _MOST if any(map(is_number, values)) else _NEARLY_ALL
    fractions = sum(_FRACTION.search(match["number"]) is not None for match in matches)
    few = len(units) <= _MAX_UNITS or fractions > len(matches) / 2
    return len(matches) >= share * len(texts) and few


def is_written_number(text: str) -> bool:
    """Return whether a text is a number, which may have a currency, a unit and separators."""
    return _NUMBER.fullmatch(text) is not None or _ZERO.fullmatch(text) is not None


def not_numbers(values: Sequence[object]) -> list[str]:
    """Return the text that spoils a column of plain numbers; none if it has units or the like."""
    texts = _texts(values)
    others = not_plain(texts)
    if len(texts) - len(others) >= _MIN_NUMBERS and all(map(_MISSING_MARKER.fullmatch, others)):
        return others
    few = len(others) <= min(_FEW_WORDS, (len(texts) - len(others)) / _NUMBERS_PER_WORD)
    few = few and not any(map(_DIGIT.search, others))
    share = _MOST if any(map(is_number, values)) else _NEARLY_ALL
    written = all(map(is_written_number, others))
    many = not few and len(others) > (1 - share) * len(texts)
    return [] if written or many else others


def not_plain(texts: Sequence[str]) -> list[str]:
    """Return the text that is not a number without currency sign, unit or thousands separator."""
    number = _COMMA_NUMBER if has_decimal_commas(texts) else _PLAIN_NUMBER
    return [text for text in texts if number.fullmatch(text) is None]


def has_decimal_commas(texts: Iterable[str]) -> bool:
    """Return whether texts have decimal commas: not a few commas, and not only between thousands."""
    texts = list(texts)
    commas = [text for text in texts if "," in text]
    return len(commas) >= _COMMAS * len(texts) and any(
        _COMMA_NUMBER.fullmatch(text) and not _COMMA_THOUSANDS.fullmatch(text) for text in commas
    )


def _texts(values: Iterable[object]) -> list[str]:
    return ["0" if is_number(value) else str(value) for value in values]
