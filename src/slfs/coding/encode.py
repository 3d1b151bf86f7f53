"""A coding and a new table -> codes, for `predict` and `transform`. Plain NumPy, no kernels."""

from __future__ import annotations

import datetime
import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slfs._core.threads import Threads
from slfs._core.warn import UnseenValueWarning, warn
from slfs.coding.codebook import NONE, Coding, Level, missing_codes
from slfs.tables.alleles import recounted
from slfs.tables.dates import TimeKind, as_date, days_of, from_days, time_kind
from slfs.tables.number_text import is_number
from slfs.tables.table import LabelBlock, Table
from slfs.tables.values import to_numbers

_FEW_THRESHOLDS = 24
"""Comparing with each of this few thresholds is faster than a binary search."""

_NAMED, _LONGEST = 5, 40
"""Maximum number of columns, and of characters of a value, in a warning."""

_MOST, _SEVERAL = 1 / 2, 5
"""Columns are warned about if more than this share of their numbers, and as many, are out of range."""

_BLOCK_ENTRIES = 1 << 18
"""Maximum number of values that are read at a time: for some rows of a file, whole columns are read."""


_INTEGER = re.compile(r"\s*[+-]?\d{1,4000}\s*")
"""Text that Python converts to an integer; it refuses more digits."""


@dataclass(frozen=True)
class OutOfRange:
    """Numbers of a column that are outside the range in ``fit``: how many, the first, and the range."""

    n_values: int
    example: float
    low: float
    high: float
    kind: TimeKind


@dataclass(frozen=True)
class Encoded:
    """Codes of some columns of a table.

    Attributes
    ----------
    codes : ndarray of shape (n_columns, n_samples)
        Level of each value. An unknown value, one that was not seen in ``fit``, has the code of
        `missing_codes`.
    unknown : dict of int to ndarray of shape (n_samples,)
        Which values are unknown, for each column with such values: those that were not seen in ``fit``,
        and missing ones if ``fit`` saw too few. Categories are known in columns that have a level of new
        ones.
    examples : dict of int to (int, object)
        How many unknown values of a column to warn about, and the first; None if it is missing.
    outside : dict of int to OutOfRange
        The columns of which most numbers are outside the range in ``fit``.
    rarely : bool
        Whether the unknown values include missing values of columns that hardly ever had one.
    """

    codes: NDArray[np.uint8]
    unknown: dict[int, NDArray[np.bool_]] = field(default_factory=dict)
    examples: dict[int, tuple[int, Any]] = field(default_factory=dict)
    outside: dict[int, OutOfRange] = field(default_factory=dict)
    rarely: bool = False

    def unknown_rows(self) -> NDArray[np.int64]:
        """Return the samples with at least one unknown value."""
        found = np.zeros(self.codes.shape[1], np.bool_)
        for mask in self.unknown.values():
            found |= mask
        return np.flatnonzero(found)

    def unknown_mask(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which values of some samples are unknown, of shape (n_columns, n_rows)."""
        mask = np.zeros((len(self.codes), len(rows)), np.bool_)
        for column, own in self.unknown.items():
            mask[column] = own[rows]
        return mask


def encode_table(table: Table, coding: Coding, columns: NDArray[np.int64], threads: Threads) -> Encoded:
    """Code some columns of a table, given their coding; genotypes may count the other allele."""
    table = recounted(table, coding.alleles, columns)
    found = Encoded(np.empty((len(columns), table.n_samples), np.uint8))
    stand_in = missing_codes(coding)

    def note(column: int, unknown: NDArray[np.bool_], example: Any) -> None:
        found.codes[column, unknown] = stand_in[column]
        found.unknown[column], found.examples[column] = unknown, (int(unknown.sum()), example)

    def encode_values(column: int) -> None:
        block = table.label_block(int(columns[column]), None)
        own = coding.take(np.array([column]))
        levels, numbers = _value_levels(own, block)
        found.codes[column] = levels.astype(np.uint8)
        unknown = levels == NONE
        if unknown.any():
            first = int(unknown.argmax())
            note(column, unknown, None if block.missing[first] else block.values[first])
        if numbers is not None:
            _note_range(found, np.array([column]), own, np.where(unknown, np.nan, numbers)[np.newaxis])

    def encode_numbers(part: NDArray[np.int64]) -> None:
        block = table.number_block(columns[part], None)
        values, own = block.dense(), coding.take(part)
        codes, unknown = _encode_numbers(own, values)
        found.codes[part] = codes
        other_kind = block.time_kinds() != own.columns["time_kind"]
        for j in np.flatnonzero(other_kind).tolist():
            present = ~np.isnan(values[j])  # dates in a column of numbers, or numbers in one of dates
            if present.any():
                unknown[j] = unknown.get(j, present) | present
        for j, mask in unknown.items():
            first = float(values[j, mask.argmax()])
            shown = from_days(np.array([first]), TimeKind(int(block.time_kinds()[j])))[0]
            note(int(part[j]), mask, None if np.isnan(first) else shown)
        same_kind = np.flatnonzero(~other_kind)
        _note_range(found, part[same_kind], own.take(same_kind), values[same_kind])

    def encode(part: NDArray[np.int64]) -> None:
        if by_value[part[0]]:
            encode_values(int(part[0]))
        else:
            encode_numbers(part)

    # text in a column of numbers is not missing, which a block of numbers cannot tell apart
    by_value = ~table.numbers[columns]
    by_value[list(coding.categories)] = True
    if len(columns):
        threads.map(encode, _blocks(by_value, table.n_samples))
    return _without_few_missing(found, coding)


def _note_range(
    found: Encoded, columns: NDArray[np.int64], own: Coding, values: NDArray[np.float64]
) -> None:
    """Note the columns of which most numbers are outside the range in ``fit``."""
    low, high = (own.columns[name][:, np.newaxis] for name in ("low", "high"))
    beyond = ((values < low) | (values > high)) & own.cut[:, np.newaxis]
    n_beyond, n_present = beyond.sum(axis=1), (~np.isnan(values)).sum(axis=1)
    for j in np.flatnonzero((n_beyond >= _SEVERAL) & (n_beyond > _MOST * n_present)).tolist():
        example = float(values[j, beyond[j].argmax()])
        found.outside[int(columns[j])] = OutOfRange(
            int(n_beyond[j]), example, float(low[j, 0]), float(high[j, 0]), own.time_kind(j)
        )


def _without_few_missing(encoded: Encoded, coding: Coding) -> Encoded:
    """Treat missing values as unknown where there were too few of them in ``fit``."""
    unknown, examples = dict(encoded.unknown), dict(encoded.examples)
    rarely = False
    for column in np.flatnonzero(coding.columns["few_missing"]).tolist():
        # unknown values have the code of missing ones
        missing = encoded.codes[column] == coding.columns["missing"][column]
        if not missing.any():
            continue
        n_unseen, example = examples.get(column, (0, None))
        unknown[column], n_unknown = missing, int(missing.sum())
        rarely |= n_unknown > n_unseen
        examples[column] = n_unknown, example
    return replace(encoded, unknown=unknown, examples=examples, rarely=rarely)


def warn_about_unknown(encoded: Encoded, names: Sequence[str], consequence: str) -> None:
    """Issue one warning about values that were not seen in ``fit``, and one about ranges."""
    n_samples = encoded.codes.shape[1]
    described = {
        column: f"{n_values} of {n_samples} rows, e.g. {_shown(example)}"
        for column, (n_values, example) in encoded.examples.items()
    }
    if described:
        seen = "not, or hardly ever, seen" if encoded.rarely else "not seen"
        warn(
            f"{_described(described, names, f'values that were {seen} in fit')}. These values "
            f"{consequence}.",
            UnseenValueWarning,
        )
    if encoded.outside:
        described = {
            column: f"{one.n_values} of {n_samples} rows, e.g. {_with_range(one)}"
            for column, one in encoded.outside.items()
        }
        dates = any(one.kind == TimeKind.DATE for one in encoded.outside.values())
        numbers = any(one.kind != TimeKind.DATE for one in encoded.outside.values())
        advice = [
            *["Are the unit and the scale the same?"] * numbers,
            *["Dates that go on after fit are better used as durations, such as ages."] * dates,
        ]
        warn(
            f"{_described(described, names, 'mostly values outside the range in fit')}. They count as "
            f"the lowest or highest values in fit. {' '.join(advice)}",
            UnseenValueWarning,
        )


def _described(described: dict[int, str], names: Sequence[str], what: str) -> str:
    """Say what columns contain, with the counts of the first few."""
    columns = sorted(described)
    shown = ", ".join(f"{names[column]!r} ({described[column]})" for column in columns[:_NAMED])
    more = f", and {len(columns) - _NAMED} more" if len(columns) > _NAMED else ""
    contain = "column contains" if len(columns) == 1 else "columns contain"
    return f"{len(columns)} {contain} {what}: {shown}{more}"


def _with_range(found: OutOfRange) -> str:
    example, low, high = (
        as_date(value) if found.kind == TimeKind.DATE else f"{value:.10g}"
        for value in (found.example, found.low, found.high)
    )
    unit = " days" if found.kind == TimeKind.DURATION else ""
    return f"{example}{unit}; in fit {low} to {high}{unit}"


def _shown(example: Any) -> str:
    text = "a missing value" if example is None else _text(example)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _text(example: Any) -> str:
    kind = time_kind(example)
    if kind == TimeKind.NUMBER:
        plain = example.item() if isinstance(example, np.generic) else example
        return repr(int(plain) if isinstance(plain, float) and plain.is_integer() else plain)
    return as_date(days_of(example)) if kind == TimeKind.DATE else str(example)


def encode_labels(coding: Coding, column: int, block: LabelBlock) -> NDArray[np.uint8]:
    """Code one column by the values of its categories: an array of shape (1, n_samples).

    The block contains no new values; `encode_table` is for new tables.
    """
    return _label_levels(coding, column, block)[np.newaxis].astype(np.uint8)


def _label_levels(coding: Coding, column: int, block: LabelBlock) -> NDArray[Level]:
    """Return the level of each value of a column of categories; NONE for unknown values.

    A new text has the level of new values only if there was text in ``fit``, a new number likewise.
    """
    missing, new = (int(coding.columns[name][column]) for name in ("missing", "new"))
    levels = coding.categories[column]
    new_level = {isinstance(value, str): new for value in levels}

    def level(value: Any) -> int:
        if not isinstance(value, Hashable):
            return NONE
        return levels.get(value, new_level.get(isinstance(value, str), NONE))

    values = zip(block.values, block.missing, strict=True)
    return np.array([missing if gone else level(value) for value, gone in values], Level)


def _value_levels(
    coding: Coding, block: LabelBlock
) -> tuple[NDArray[Level], NDArray[np.float64] | None]:
    """Return the level of each value of a single column, and its numbers unless it has categories.

    Unknown values have the level NONE.
    """
    kind = coding.time_kind(0)
    if kind == TimeKind.DATE:
        block = replace(block, values=[_as_date(value) for value in block.values])
    elif _holds_numbers(coding):
        block = replace(block, values=[_as_truth(value) for value in block.values])
    if not coding.categories:
        numbers = to_numbers(block.values, kind)
        return _number_levels(coding, block, numbers), numbers
    if kind != TimeKind.NUMBER:  # the categories are numbers of days
        block = replace(block, values=to_numbers(block.values, kind).tolist())
    elif _holds_numbers(coding):
        block = replace(block, values=[_as_number(value) for value in block.values])
    return _label_levels(coding, 0, block), None


def _holds_numbers(coding: Coding) -> bool:
    """Return whether a single column has numbers or booleans, which may be categories."""
    levels = coding.categories.get(0, {})
    return all(is_number(value) or isinstance(value, bool) for value in levels)


def _as_date(value: Any) -> Any:
    """Convert text such as 2024-04-30 to a date in UTC; return anything else unchanged."""
    if not isinstance(value, str) or _INTEGER.fullmatch(value):  # Python would read 20240430
        return value
    try:
        found = datetime.datetime.fromisoformat(value.strip())
    except ValueError:
        return value
    return found if found.tzinfo is None else found.astimezone(datetime.UTC).replace(tzinfo=None)


def _as_truth(value: Any) -> Any:
    """Convert text such as true to a boolean; return anything else unchanged."""
    known = {"true": True, "false": False}
    return known.get(value.strip().lower(), value) if isinstance(value, str) else value


def _as_number(value: Any) -> Any:
    """Convert text such as 3 to a number, integers exactly; return anything else unchanged."""
    if not isinstance(value, str):
        return value
    if _INTEGER.fullmatch(value):
        return int(value)
    (number,) = to_numbers([value])
    return value if np.isnan(number) else float(number)


def _number_levels(coding: Coding, block: LabelBlock, numbers: NDArray[np.float64]) -> NDArray[Level]:
    """Return the level of each value of a column of numbers; NONE for values that are not numbers."""
    codes, unknown = _encode_numbers(coding, numbers[np.newaxis])
    levels: NDArray[Level] = codes[0].astype(Level)
    if 0 in unknown:
        levels[unknown[0]] = NONE
    missing = int(coding.columns["missing"][0])
    if missing != NONE:
        levels[(levels == missing) & ~block.missing] = NONE
    levels[block.missing] = missing
    return levels


def _blocks(by_value: NDArray[np.bool_], n_samples: int) -> list[NDArray[np.int64]]:
    """Split the columns: those coded by value one by one, numbers in blocks that fit in the cache."""
    width = max(1, _BLOCK_ENTRIES // max(n_samples, 1))
    numbers = np.flatnonzero(~by_value)
    blocks = [numbers[start : start + width] for start in range(0, len(numbers), width)]
    return [*blocks, *np.flatnonzero(by_value)[:, np.newaxis]]


def _encode_numbers(
    coding: Coding, values: NDArray[np.float64]
) -> tuple[NDArray[np.uint8], dict[int, NDArray[np.bool_]]]:
    """Code numbers, one row per column, by the number of the column's thresholds below each.

    The second result is the mask of the unknown values of each column that has any.
    """
    codes = np.zeros(values.shape, np.uint8)
    found = {}
    for j, (row, out) in enumerate(zip(values, codes, strict=True)):
        thresholds, missing = coding.column_thresholds(j), coding.columns["missing"][j]
        if len(thresholds) <= _FEW_THRESHOLDS:
            for threshold in thresholds.tolist():
                out += row > threshold
        else:
            out[:] = np.searchsorted(thresholds, row)
        absent = np.isnan(row)
        unknown = absent if missing == NONE else np.zeros_like(absent)
        if not coding.cut[j]:  # the thresholds are the known values: all others are new
            unknown = unknown | (~absent & (np.append(thresholds, np.nan)[out] != row))
        elif np.isnan(coding.columns["low"][j]):  # all values were missing
            unknown = unknown | ~absent
        if missing != NONE and absent.any():
            out[absent] = missing
        if unknown.any():
            found[j] = unknown
    return codes, found
