"""Class labels of any kind, or numbers -> checked classes, or bins of the numbers, and their codes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import column_or_1d

from slfs._core.interface import parameter, remedy
from slfs._core.warn import warn
from slfs.tables.frames import plain_values
from slfs.tables.number_text import (
    has_codes,
    has_decimal_commas,
    is_written_number,
    look_like_numbers,
    not_numbers,
)
from slfs.tables.target_bins import bin_target
from slfs.tables.values import in_memory, masked_as_missing, missing_values


@dataclass(frozen=True)
class Target:
    """The sorted classes, and for each sample the index of its class.

    The classes of a continuous target are its bins.
    """

    classes: NDArray[Any]
    """Class labels, or the names of the bins, such as "price ≤ 2.5"."""
    codes: NDArray[np.int64]
    name: str
    """Name of the target: that of the series, or "class", for a continuous target "y"."""
    values: NDArray[np.float64] | None = None
    """The numbers of a continuous target; None for classes."""
    bins: np.recarray[Any, Any] | None = None
    """Records of the bins of a continuous target (see `slfs.tables.target_bins`); None for classes."""

    @property
    def kind(self) -> str:
        """The type of the target: "classification" or "regression"."""
        return CLASSIFICATION if self.values is None else REGRESSION


CLASSIFICATION, REGRESSION = "classification", "regression"
KINDS = frozenset({"auto", CLASSIFICATION, REGRESSION})
"""Values of the parameter ``target``."""

_QCUT = "pandas.qcut(y, 5, labels=False)"
_ADD_CLASSES = "add classes to the file"
_CONVERT = "convert y to numbers of one unit, written as -1234.5"

_CONVERSIONS = {
    "m": ("Convert durations to numbers first, for example of days", "y / numpy.timedelta64(1, 'D')"),
    "M": (
        "Convert dates and times first: to classes, such as years, or to numbers, for example of days",
        "(y - y.min()) / numpy.timedelta64(1, 'D')",
    ),
}
"""How to convert targets by the kind of their dtype, and an example in Python."""

_NAMED = 5
"""Maximum number of labels in a warning."""

_WHOLE = re.compile(r"-?\d+(?:\.0*)?")
"""Text of whole numbers, which may be classes: '3', or '3.0', which str() makes of floats."""

MANY_CLASSES = 20
"""A target with more classes, most of them with one sample, is refused."""

_MANY_PAIRS = 100
"""More classes, most of them with two samples, are refused as well."""

_MANY_NUMBERS, _FEW, _FEW_NUMBERS = 30, 10, 5
"""More classes that are numbers are warned about; more than `MANY_CLASSES` if they have few samples,
and more than `_FEW_NUMBERS` if most of them have one."""


def read_target(
    y: Any,
    kind: str = "auto",
    *,
    whole: bool = True,
    weights: NDArray[np.float64] | None = None,
    declared: bool = False,
    assumed: bool = False,
) -> Target:
    """Read a target and check it: one label or number per sample, at least two classes.

    ``kind`` is the parameter ``target`` of the estimator: with "auto", numbers with fractional parts are
    a continuous target. ``whole`` is False for a part of the samples, which may have fewer samples per
    class. Samples whose sample weight is 0 are ignored, as if they were not there; their codes have no
    meaning. Weights that are whole numbers are frequencies. With ``declared`` the user has said that the
    labels are classes, so that a few numbers with fractional parts, such as 0.5, 1 and 1.5, are classes;
    with ``assumed`` a classifier needs classes, and the user has not said that the labels are.
    """
    y = in_memory(y)
    if y is None:
        raise ValueError(
            "requires y to be passed, but the target y is None. Pass one label or number for each row."
        )
    name = getattr(y, "name", None)
    name = name if isinstance(name, str) and name else None
    kept = None if weights is None or weights.all() else weights > 0
    labels = _as_array(y, kept)
    if len(labels) == 0:
        raise ValueError("y is empty. Pass one label or number for each row.")
    classes, codes = np.unique(labels, return_inverse=True)
    continuous = labels.dtype.kind == "f" and bool((classes != np.floor(classes)).any())
    if kind == REGRESSION or (kind == "auto" and continuous):
        if kind == "auto" and len(classes) == 2:
            shown = " and ".join(map(repr, classes.tolist()))
            raise ValueError(
                f"y has only two distinct values ({shown}), which may be classes or numbers. If they "
                f"are a quantity, use {parameter('target', REGRESSION)}. If they are classes, use "
                f"{parameter('target', CLASSIFICATION)}"
                f"{remedy(', or convert them to text: y.astype(str)', '')}."
            )
        return _continuous(labels, classes, name or "y", weights)
    few = len(classes) <= min(MANY_CLASSES, len(labels) / 2)
    if continuous and not (declared and few):
        _refuse_fractions(len(classes), len(labels), few=few)
    if whole:
        _refuse_identifiers(classes, codes)
    with np.errstate(invalid="ignore"):  # scikit-learn casts labels that no integer can hold
        found = type_of_target(labels, input_name="y")
    if found not in ("binary", "multiclass") and not continuous:
        raise ValueError(
            f"Unknown label type: {found}. Pass one label (an integer, string or boolean) or number for "
            "each row."
        )
    if len(classes) < 2:
        raise ValueError(
            f"y contains only one class ({classes.tolist()[0]!r}): no feature can be relevant to it. "
            "Pass samples of at least two classes."
        )
    if whole:
        _warn_about_spellings(classes, name or "class")
        if kind == "auto":
            kinds = parameter("target", REGRESSION), parameter("target", CLASSIFICATION)
            _warn_about_numbers(classes, len(labels), name or "y", *kinds)
        elif assumed:
            regression = remedy("BNSLFSRegressor", "--target-type regression")
            other_names = "y.astype(str)" if classes.dtype.kind in "iuf" else "'class ' + y"
            as_text = remedy(other_names, "--target-type classification")
            _warn_about_numbers(classes, len(labels), name or "y", regression, as_text)
    return Target(classes, _at_kept(codes.astype(np.int64), kept), name or "class")


def _refuse_fractions(n_classes: int, n_samples: int, *, few: bool) -> None:
    """Raise an error about numbers with fractional parts where classes are needed."""
    how = remedy("y.astype(str) converts them to text", f"use {parameter('target', CLASSIFICATION)}")
    if not few:
        how = remedy(f"bin y first, for example with {_QCUT}", _ADD_CLASSES)
    models = remedy(
        "the selectors accept numbers with target='regression', and BNSLFSRegressor predicts them",
        f"use {parameter('target', REGRESSION)}",
    )
    raise ValueError(
        f"Unknown label type: continuous. y has {n_classes} distinct values, some of which are not "
        f"integers, in {n_samples} samples, but class labels are needed here. If they are a quantity, "
        f"{models}. {'If they are classes' if few else 'For a classifier'}, {how}."
    )


def _at_kept(values: NDArray[Any], kept: NDArray[np.bool_] | None) -> NDArray[Any]:
    """Insert zeros for the samples that are not kept."""
    if kept is None or len(values) == len(kept):
        return values
    every = np.zeros(len(kept), values.dtype)
    every[kept] = values
    return every


def _continuous(
    labels: NDArray[Any],
    distinct: NDArray[Any],
    name: str,
    weights: NDArray[np.float64] | None,
) -> Target:
    """Bin a continuous target; ``labels`` are those of the samples whose weight is not 0."""
    if labels.dtype.kind not in "biuf":
        others = not_numbers(distinct.tolist()) if len(distinct) > 1 else []
        shown = _shown(np.array(others, object) if others else distinct)
        models = remedy(" (selectors) or BNSLFS instead of BNSLFSRegressor", "")
        raise ValueError(
            f"{parameter('target', REGRESSION)} needs numbers, but y contains {shown}. "
            f"{_CONVERT.capitalize()}, or use {parameter('target', CLASSIFICATION)}{models}."
        )
    if len(distinct) == 1:
        raise ValueError(
            f"y contains only one value ({distinct.tolist()[0]!r}): no feature can be relevant to it. "
            "Pass samples with different values."
        )
    values = labels.astype(np.float64)
    if len(np.unique(values)) == 1:
        raise ValueError(
            f"y has {len(distinct)} distinct integers, but only one when rounded to 64-bit floats. "
            "Subtract a constant from y."
        )
    frequencies, kept = None, None
    if weights is not None:
        kept = weights > 0
        if (weights == np.floor(weights)).all() and len(values) in (len(weights), kept.sum()):
            frequencies = weights[kept].astype(np.int64)
    codes, bins = bin_target(values, name, frequencies)
    return Target(bins["name"].copy(), _at_kept(codes, kept), name, _at_kept(values, kept), bins)


def centered_ranks(
    values: NDArray[np.float64], frequencies: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """Return twice the midrank of each value, minus its mean: integers that sum to zero.

    ``frequencies`` say how often each value occurs. None: once.
    """
    _, index = np.unique(values, return_inverse=True)
    counts = np.bincount(index, frequencies).astype(np.int64)
    ranks: NDArray[np.int64] = (2 * np.cumsum(counts) - counts - counts.sum())[index]
    return ranks


def _warn_about_spellings(classes: NDArray[Any], name: str) -> None:
    """Warn about classes of text that differ only in case or blanks."""
    spellings: dict[str, list[str]] = {}
    for label in classes.tolist():
        if isinstance(label, str):
            spellings.setdefault(" ".join(label.casefold().split()), []).append(label)
    alike = [labels for labels in spellings.values() if len(labels) > 1]
    if alike:
        shown = "; ".join(", ".join(map(repr, labels[:_NAMED])) for labels in alike[:_NAMED])
        more = "; ..." if len(alike) > _NAMED else ""
        warn(
            f"Some classes of the target {name!r} differ only in upper and lower case or in blanks, and "
            f"are treated as different classes: {shown}{more}. If they mean the same class, write them "
            "in the same way, for example with y.str.strip().str.lower() in pandas.",
            about_focus=True,
        )


def _warn_about_numbers(
    classes: NDArray[Any], n_samples: int, name: str, regression: str, classification: str
) -> None:
    """Warn about many classes that are numbers: they may be a quantity.

    ``regression`` and ``classification`` are the remedies.
    """
    many = MANY_CLASSES if n_samples < _FEW * len(classes) else _MANY_NUMBERS
    if len(classes) > n_samples / 2:  # most classes have one sample
        many = _FEW_NUMBERS
    texts = _are_number_texts(classes) and not all(map(_WHOLE.fullmatch, classes))
    if len(classes) > many and (others := _other_texts(classes)):
        warn(
            f"The target {name!r} has {len(classes)} distinct texts in {n_samples} samples, which are "
            f"treated as class labels, but all except {_quoted(others)} are numbers. "
            f"{_without(others)}, and use {regression}; if not, {classification} avoids this warning.",
            about_focus=True,
        )
    elif len(classes) > many and (classes.dtype.kind in "iuf" or texts):
        example = next(filter(is_written_number, classes.tolist()), "") if texts else ""
        what = f"texts that look like numbers, such as {example!r}," if texts else "integers"
        first = f"{_CONVERT}, and " if texts else ""
        warn(
            f"The target {name!r} has {len(classes)} distinct {what} in {n_samples} samples, which "
            f"are treated as class labels. If it is a quantity, {first}use {regression}. If not, "
            f"{classification} avoids this warning.",
            about_focus=True,
        )


def _refuse_identifiers(classes: NDArray[Any], codes: NDArray[np.intp]) -> None:
    """Raise an error if more than half of the samples are in classes of one sample, or one or two.

    Of two samples each, as many classes are accepted as an experiment with replicates may have.
    """
    if len(classes) <= MANY_CLASSES:
        return
    sizes = np.bincount(codes)
    few = 1 if len(classes) <= _MANY_PAIRS else 2
    if sizes[sizes <= few].sum() > len(codes) / 2:
        only = "one sample" if few == 1 else "one or two samples"
        raise ValueError(
            f"y has {len(classes)} classes in {len(codes)} samples, and most classes have only {only} "
            f"(the first labels are {_shown(classes)}). If y is an identifier, use another column as "
            f"the target.{_numbers_hint(classes)}"
        )


def _other_texts(classes: NDArray[Any]) -> list[str]:
    """Return the texts that spoil a target of numbers, such as 'unknown'.

    None if the numbers have decimal commas: they would stay text without them.
    """
    if classes.dtype.kind not in "OU" or not isinstance(classes.flat[0], str):
        return []
    texts = classes.tolist()
    return [] if has_codes(texts) or has_decimal_commas(texts) else not_numbers(texts)[:_NAMED]


def _without(others: Iterable[str]) -> str:
    """Say how to read the texts that spoil a target of numbers as missing values."""
    options = " ".join(f"--missing {text!r}" for text in others)
    how = remedy(
        "convert it with pandas.to_numeric(y, errors='coerce') and drop the rows that are missing then",
        f"leave out the rows with other text: {options} --drop-missing-target",
    )
    return f"If it is a quantity, {how}"


def _quoted(texts: Iterable[str]) -> str:
    return ", ".join(map(repr, texts))


def _numbers_hint(classes: NDArray[Any]) -> str:
    """Say what to do with numbers that are not identifiers."""
    models, quantity = remedy(" (selectors) or BNSLFSRegressor", ""), parameter("target", REGRESSION)
    if others := _other_texts(classes):
        return (
            f" All of its values except {_quoted(others)} are numbers. {_without(others)}. Then use "
            f"{quantity}{models}."
        )
    if _are_number_texts(classes):
        return f" If it is a quantity, {_CONVERT}, and use {quantity}{models}."
    if classes.dtype.kind not in "iuf":
        return ""
    classes_instead = remedy(f"bin it into classes: {_QCUT} (classifiers)", _ADD_CLASSES)
    return f" If it is a quantity, use {quantity}{models}, or {classes_instead}."


def _are_number_texts(classes: NDArray[Any]) -> bool:
    """Return whether labels are text that looks like numbers, and not like codes such as 007."""
    if classes.dtype.kind not in "OU" or not isinstance(classes.flat[0], str):
        return False
    texts = classes.tolist()
    spoiled = not_numbers(texts) and not has_decimal_commas(texts)
    return look_like_numbers(texts) and not spoiled and not has_codes(texts)


def _shown(classes: NDArray[Any]) -> str:
    return ", ".join(
        f"{str(label)[:20]!r}" if isinstance(label, str) else str(label)
        for label in classes[:3].tolist()
    )


def _as_array(y: Any, kept: NDArray[np.bool_] | None) -> NDArray[Any]:
    """Turn labels into an array of one dimension and one type, without missing or infinite values."""
    if nw.dependencies.is_into_series(y):
        y = plain_values(nw.from_native(y, series_only=True))
    labels: NDArray[Any] = column_or_1d(np.asarray(masked_as_missing(y)), warn=True)
    if kept is not None and len(kept) == len(labels):  # a different length is an error of the caller
        labels = labels[kept]
    if labels.dtype.kind == "T":
        labels = labels.astype(object)
    if labels.dtype.kind in "mM":
        how, code = _CONVERSIONS[labels.dtype.kind]
        raise ValueError(f"y has dtype {labels.dtype}. {how}{remedy(f': {code}', '')}.")
    if labels.dtype.kind in "Of":
        _refuse_missing(labels)
    if labels.dtype == object:
        labels = _of_one_type(labels.tolist())
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        first = int(np.isfinite(labels).argmin())
        raise ValueError(
            "Input y contains infinity or a value too large for dtype('float64'), the first in row "
            f"{first} (rows count from 0). Drop these rows, or replace the value."
        )
    return labels


def _refuse_missing(labels: NDArray[Any]) -> None:
    missing = missing_values(labels.tolist())
    if missing.any():
        raise ValueError(
            f"Input y contains NaN: {missing.sum()} missing label(s), the first in row "
            f"{int(missing.argmax())} (rows count from 0). "
            f"{remedy('Drop these rows', 'Leave them out with --drop-missing-target')}, or, if y has "
            "classes, assign them to a separate class."
        )


def _of_one_type(labels: list[Any]) -> NDArray[Any]:
    """Turn Python labels into an array of their type; strings stay objects."""
    kinds = set(map(type, labels))
    if all(issubclass(kind, str) for kind in kinds):
        return np.array(labels, dtype=object)
    if all(issubclass(kind, bool | np.bool_) for kind in kinds):
        return np.array(labels, dtype=bool)
    if all(issubclass(kind, int | float | np.number | Decimal) and kind is not bool for kind in kinds):
        return np.array(labels, dtype=float if Decimal in kinds else None)
    texts = [label for label in labels if isinstance(label, str)]
    numbers = sum(isinstance(label, Real) for label in labels)
    if texts and len(set(texts)) <= _NAMED and numbers >= _FEW * len(texts):
        different = list(dict.fromkeys(texts))
        raise ValueError(
            f"Unknown label type: y has numbers, and the text {_quoted(different)}. "
            f"{_without(different)}. If they are "
            "classes, pass labels of one type, for example list(map(str, y))."
        )
    names = sorted(kind.__name__ for kind in kinds)
    found = "mixes labels of the types" if len(names) > 1 else "has labels of the type"
    raise ValueError(
        f"Unknown label type: y {found} {', '.join(names)}. Pass labels of one type (integers, strings "
        "or booleans), for example list(map(str, y))."
    )
