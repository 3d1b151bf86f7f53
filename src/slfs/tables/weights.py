"""Sample weights and class weights of the user -> how often each row of the table is counted.

Weights that are whole numbers are frequencies: a row with weight w is counted w times. Other weights,
and class weights, say how much a row matters, not how often it was seen. They are scaled and rounded to
integers, and the rows with weights w together are worth (sum of w)^2 / (sum of w^2) samples, the
effective sample size of Kish: N for equal weights, and less the more they differ. With more, a few heavy
rows would pass for strong evidence. In tests of significance each row is counted once.

L. Kish, "Survey sampling", Wiley 1965.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from slfs._core.interface import parameter
from slfs._core.memory import available_memory, parse_size, show_size
from slfs._core.warn import warn
from slfs.counting.planes import SampleLayout
from slfs.tables.table import Table
from slfs.tables.target import Target, centered_ranks
from slfs.tables.values import in_memory, masked_as_missing, to_numbers

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

FINEST = 8
"""Maximum mean number of times that a row is counted because of weights that are not frequencies."""

ERROR = 0.01
"""Mean rounding error of weights, relative to their mean, that is small enough for a lower number."""

MOST = 2**31 - 1
"""Maximum number of samples, including repeated ones."""

SAMPLE_BYTES = 40
"""Memory per sample that is needed in any case: its row, its class, its entry of n log n, its codes."""

_READING_BYTES, _LABEL_BYTES, _CODE_BYTES, _QUARTILE_BYTES = 130, 0.5, 1, 3 / 8
"""Memory per sample for reading numbers that are no bytes, and per sample and column for the levels of
categories, for columns of more than 64 levels, and for quartiles; measured, and rather too little."""

_CUTS_PER_VALUE = 0.45
"""Levels per distinct number if each row is counted often: MDLP cuts wherever the class changes."""

_USABLE = 0.8
"""Share of the available memory that samples may take: other steps and processes need some."""

_FEW = 1e8
"""Products of samples and columns, at least 100, that are not worth asking for the memory."""

_MANY_ROWS, _LARGE = 100, 5
"""Number of rows, and mean of their frequencies, from which these may be survey weights."""

_LEAST_ROWS, _NEARLY_ALL = 10, 0.9
"""Also of fewer rows, if such a share of them has a number of its own, unlike the cells of a table."""

_READ_ROWS, _READ_COLUMNS = 128, 16
"""Maximum numbers of rows and columns of numbers to look at."""


@dataclass(frozen=True)
class SampleWeights:
    """How often each row of a table is counted.

    Attributes
    ----------
    counts : ndarray of shape (n_rows,)
        How often each row is counted, 0 for rows that are left out.
    unit : float
        Number of counts that are worth one sample.
    frequencies : ndarray of shape (n_rows,) or None
        How often each row is counted in tests of significance. None: as in ``counts``.
    """

    counts: Ints
    unit: float = 1.0
    frequencies: Ints | None = None

    def samples(self) -> Ints:
        """Return the row of each sample: every row as often as it was seen."""
        seen = self.counts if self.frequencies is None else self.frequencies
        return np.repeat(np.arange(len(seen)), seen)

    def of_samples(self, rows: Ints) -> SampleWeights | None:
        """Return the weights of some samples, each of which was seen once; None if they are all 1."""
        if self.frequencies is None:
            return None
        copies = self.counts[rows] // self.frequencies[rows]
        return SampleWeights(copies, self.unit, np.ones(len(rows), np.int64))


def make_layout(
    codes: Ints, n_classes: int, weights: SampleWeights | None, values: Floats | None = None
) -> SampleLayout:
    """Sort the rows by class, repeated as their weights say; None means each row once.

    ``values`` is a continuous target, whose bins are the classes.
    """
    if values is not None:
        return _with_ranks(make_layout(codes, n_classes, weights), values)
    if weights is None:
        return SampleLayout.from_class_codes(codes, n_classes)
    tested = None
    if weights.frequencies is not None:
        tested = SampleLayout.from_class_codes(codes, n_classes, weights.frequencies)
    layout = SampleLayout.from_class_codes(codes, n_classes, weights.counts)
    return replace(layout, unit=weights.unit, tested=tested)


def _with_ranks(layout: SampleLayout, values: Floats) -> SampleLayout:
    """Add a continuous target and its ranks to a layout."""
    tested = None if layout.tested is None else _with_ranks(layout.tested, values)
    ranks = centered_ranks(values, layout.counts)
    return replace(layout, tested=tested, target_ranks=ranks, target_values=values)


def read_sample_weight(sample_weight: Any, n_rows: int) -> Floats:
    """Check the weights that a user has passed: one number per row, at least one of them positive."""
    sample_weight = in_memory(sample_weight)
    if nw.dependencies.is_into_series(sample_weight):
        sample_weight = nw.from_native(sample_weight, series_only=True).to_numpy()
    found = np.asarray(masked_as_missing(sample_weight))
    name = parameter("sample_weight")
    texts = [str(value) for value in found.flat if isinstance(value, str)]
    if texts:
        others = np.isnan(to_numbers(texts))
        text = texts[int(others.argmax())]
        some = others.any() and not others.all()
        what_to_do = "Replace such text, or leave out its rows" if some else "Convert it to numbers"
        raise ValueError(f"{name} must contain numbers. Got the text {text!r} instead. {what_to_do}.")
    if found.dtype.kind in "mM":
        raise ValueError(
            f"{name} must contain numbers. Got {found.dtype} instead. Convert dates and "
            "durations to numbers, or use other weights."
        )
    try:
        values = found.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must contain numbers: {error}.") from None
    if values.ndim != 1:
        raise ValueError(
            f"{name} has shape {values.shape}; expected ({n_rows},), one number for each row of X."
        )
    if len(values) != n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows, "
            f"{name} has {len(values)} numbers. Pass one weight for each row of X."
        )
    wrong = ~(np.isfinite(values) & (values >= 0))
    if wrong.any():
        row = int(wrong.argmax())
        what = "negative" if values[row] < 0 else "missing or infinite"
        raise ValueError(
            f"{name} has {int(wrong.sum())} invalid value(s), the first is {values[row]:g} in "
            f"row {row} (rows count from 0). A weight cannot be {what}; use 0 to leave a row out."
        )
    if not values.any():
        raise ValueError(
            "All sample weights are zero, so that no row is left. Pass at least one positive weight."
        )
    return values


def make_weights(
    values: Floats | None,
    class_weight: Any,
    target: Target,
    memory_limit: int | str | None,
    table: Table | None = None,
) -> SampleWeights | None:
    """Combine sample weights and class weights; None if every row is counted once.

    Parameters
    ----------
    values : ndarray of shape (n_rows,) or None
        Sample weights.
    class_weight : dict, "balanced" or None
        Weight of each class. The sample weights are multiplied by it.
    target : Target
        The classes.
    memory_limit : int, str or None
        Maximum memory of the process. None: what is available on this machine.
    table : Table or None, default=None
        The table, whose columns need memory. None: they are not known, or elsewhere.

    Returns
    -------
    weights : SampleWeights or None
    """
    if values is None and class_weight is None:
        return None
    if class_weight is not None and target.values is not None:
        raise ValueError(
            f"{parameter('class_weight', class_weight)} weights classes, but the target {target.name!r} "
            f"is continuous. Use {parameter('sample_weight')} instead of {parameter('class_weight')}."
        )
    values = np.ones(len(target.codes)) if values is None else values
    whole = bool((values == np.floor(values)).all())
    if whole:
        _check_total(values, memory_limit, table)
        _warn_about_survey(values, table)
        if class_weight is None:
            return None if (values == 1).all() else SampleWeights(values.astype(np.int64))
    frequencies = values.astype(np.int64) if whole else (values > 0).astype(np.int64)
    matters = values / np.maximum(frequencies, 1)  # of one copy of the row
    matters = matters * _class_weights(class_weight, target, values)[target.codes]
    # rounded, so that weights in another unit give the same numbers
    matters = np.round(matters * (frequencies.sum() / (frequencies @ matters)), 9)
    counts = frequencies * _rounded(matters, frequencies)
    _check_total(counts, memory_limit, table)
    if whole and (counts == frequencies).all():
        return None if (counts == 1).all() else SampleWeights(counts)
    copies = counts // np.maximum(frequencies, 1)
    return SampleWeights(counts, float((counts @ copies) / counts.sum()), frequencies)


def _check_total(counts: Floats | Ints, memory_limit: int | str | None, table: Table | None) -> None:
    """Raise an error if there would be more samples than the memory can hold."""
    total, n_columns = float(counts.sum()), 0 if table is None else table.n_features
    if total * max(n_columns, 100) < _FEW:
        return
    remedy = (
        f", or set {parameter('memory_limit')} to at least {show_size(math.ceil(total * SAMPLE_BYTES))}"
    )
    if memory_limit is not None:  # columns are moved to disk where they exceed it
        limit, needed = parse_size(memory_limit), float(SAMPLE_BYTES)
    else:
        limit, needed = available_memory(), _sample_bytes(counts, table) / _USABLE
        remedy += ", so that columns are moved to disk"
    if total > min(MOST, available_memory() // SAMPLE_BYTES):
        remedy = ""  # no limit that the machine has suffices
    most = min(MOST, limit // needed)
    if total > most:
        columns = f" and {n_columns} columns" if n_columns else ""
        raise ValueError(
            f"The sample weights add up to {total:.4g} samples, because whole numbers are frequencies: "
            f"a row with weight 3 is counted three times. With {show_size(limit)} of memory{columns} at "
            f"most about {most:.3g} samples are possible. If the weights are not frequencies, divide "
            f"them by their mean. Otherwise divide them by a whole number and round{remedy}."
        )


def _sample_bytes(counts: Floats | Ints, table: Table | None) -> float:
    """Estimate the memory per sample: what is needed in any case, and the planes of the columns.

    Where rows are counted a few times only, the planes are not much larger than the table.
    """
    if table is None or counts.sum() < _LARGE * len(counts):
        return SAMPLE_BYTES
    n_numbers = int(table.numbers.sum())
    needed = SAMPLE_BYTES + _LABEL_BYTES * (table.n_features - n_numbers)
    if n_numbers == 0:
        return needed
    read = _some_numbers(counts, table)
    are_bytes = bool(((read == np.floor(read)) & (read >= 0) & (read <= 255)).all())
    per_column = [_level_bytes(_n_distinct(column), table.n_samples) for column in read]
    return float(needed + (0 if are_bytes else _READING_BYTES) + n_numbers * np.mean(per_column))


def _level_bytes(n_distinct: int, n_rows: int) -> float:
    """Estimate the memory per sample of the levels and quartiles of a column of numbers."""
    if n_rows > _READ_ROWS and n_distinct > _READ_ROWS / 2:  # other rows have other numbers
        return _CODE_BYTES + _QUARTILE_BYTES
    return _CUTS_PER_VALUE * n_distinct / 8 + _QUARTILE_BYTES * (n_distinct > 4)


def _some_numbers(counts: Floats | Ints, table: Table) -> Floats:
    """Return some columns of numbers, and the first of the rows that are counted."""
    columns = np.flatnonzero(table.numbers)
    chosen = columns[np.linspace(0, len(columns) - 1, min(len(columns), _READ_COLUMNS)).astype(int)]
    return table.number_block(chosen, np.flatnonzero(counts)[:_READ_ROWS]).dense()


def _n_distinct(values: Floats) -> int:
    return len(np.unique(values[np.isfinite(values)]))


def _warn_about_survey(values: Floats, table: Table | None) -> None:
    """Warn about frequencies that may be survey weights: chance would seem significant."""
    if may_be_survey(values, table):
        warn(
            f"{parameter('sample_weight')} contains whole numbers, which are used as frequencies: "
            f"{np.count_nonzero(values)} rows count as {values.sum():.0f} samples, so that chance may "
            "seem significant. If they are survey weights, divide them by their mean."
        )


def may_be_survey(values: Floats, table: Table | None) -> bool:
    """Return whether whole numbers may be survey weights, of which `make_weights` warns.

    They are large, and there are many, or the columns are measurements. Rows of weight 0 do not count.
    """
    n_rows = int(np.count_nonzero(values))
    if values.sum() < _LARGE * n_rows:
        return False
    return n_rows >= _MANY_ROWS or (table is not None and _are_measurements(values, table))


def _are_measurements(values: Floats, table: Table) -> bool:
    """Whether nearly every row has a number of its own, unlike the cells of a table of frequencies.

    Numbers of the rows, such as 1, 2, 3, do not count.
    """
    n_rows = int((values > 0).sum())
    if n_rows < _LEAST_ROWS or not table.numbers.any():
        return False
    for column in _some_numbers(values, table):
        counted = np.ptp(column) == n_rows - 1 and bool((column == np.floor(column)).all())
        if _n_distinct(column) >= _NEARLY_ALL * n_rows and not counted:
            return True
    return False


def _class_weights(class_weight: Any, target: Target, values: Floats) -> Floats:
    """Return the weight of each class."""
    n_classes = len(target.classes)
    if class_weight is None:
        return np.ones(n_classes)
    if not isinstance(class_weight, Mapping):  # "balanced"
        totals = np.bincount(target.codes, weights=values, minlength=n_classes)
        return np.asarray(values.sum() / (n_classes * totals))
    labels = target.classes.tolist()
    unknown = [label for label in class_weight if label not in labels]
    unweighted = [label for label in labels if label not in class_weight]
    if unknown and unweighted:
        raise ValueError(
            f"{parameter('class_weight')} has weights for {unknown[:5]}, which are not classes of y, "
            f"but not for {unweighted[:5]}. Pass the labels as they are in y."
        )
    weights = np.array([class_weight.get(label, 1.0) for label in labels], np.float64)
    if not (np.isfinite(weights) & (weights > 0)).all():
        raise ValueError(
            f"{parameter('class_weight')} must contain positive numbers. Got {dict(class_weight)!r} "
            f"instead. To leave a class out, drop its rows, or set their "
            f"{parameter('sample_weight')} to 0."
        )
    return weights


def _rounded(values: Floats, frequencies: Ints) -> Ints:
    """Round multiples of the weights to integers, at least 1.

    Among the factors up to FINEST, the smallest one is used whose mean rounding error is at most ERROR;
    if there is none, the one with the smallest error.
    """
    size, kept = float(frequencies.sum()), frequencies > 0
    least = float(values[kept].min())
    multiples = np.arange(1, FINEST + 1)
    factors = multiples.astype(np.float64)
    if least * FINEST >= 1:  # so that the smallest weight becomes 1, 2, ...
        factors = np.unique(np.concatenate([factors, multiples / least]))
    best, smallest = values, np.inf
    for factor in factors[factors <= FINEST].tolist():
        counts = np.maximum(np.rint(np.round(values * factor, 6)), 1)
        error = float(frequencies @ np.abs(counts / factor - values)) / size
        if error < smallest:
            best, smallest = counts, error
        if error <= ERROR:
            break
    return best.astype(np.int64)
