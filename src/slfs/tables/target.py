"""Class labels of any kind -> checked classes and class codes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import column_or_1d

from slfs._core.warn import warn
from slfs.tables.frames import plain_values
from slfs.tables.values import is_dask, masked_as_missing, missing_values


@dataclass(frozen=True)
class Target:
    """The sorted classes, and for each sample the index of its class."""

    classes: NDArray[Any]
    codes: NDArray[np.int64]
    name: str
    """Name of the class variable: that of the series, or "class"."""


_QCUT = "pandas.qcut(y, 5, labels=False)"
_BIN = f"Bin y into classes first, for example with {_QCUT}."

_NAMED = 5
"""Maximum number of labels in a warning."""

_MANY_CLASSES = 20
"""A target with more classes, most of them with one or two samples, is refused."""


def read_target(y: Any, *, whole: bool = True) -> Target:
    """Read class labels and check them: one label per sample, at least two classes.

    ``whole`` is False for a part of the samples, which may have fewer samples per class.
    """
    if is_dask(y):
        y = y.compute()
    if type(y).__module__.partition(".")[0] == "cupy":
        y = y.get()
    if y is None:
        raise ValueError(
            "requires y to be passed, but the target y is None. Pass one class label for each row."
        )
    name = getattr(y, "name", None)
    labels = _as_array(y)
    if len(labels) == 0:
        raise ValueError("y is empty. Pass one class label for each row.")
    classes, codes = np.unique(labels, return_inverse=True)
    if labels.dtype.kind == "f" and (classes != np.floor(classes)).any():
        raise ValueError(
            f"Unknown label type: continuous. y has {len(classes)} distinct values, some of which are "
            f"not integers, in {len(labels)} samples, but slfs supports only classification. {_BIN}"
        )
    if whole:
        _refuse_identifiers(classes, codes)
    with np.errstate(invalid="ignore"):  # scikit-learn casts labels that no integer can hold
        kind = type_of_target(labels, input_name="y")
    if kind not in ("binary", "multiclass"):
        raise ValueError(f"Unknown label type: {kind}. slfs supports only classification. {_BIN}")
    if len(classes) < 2:
        raise ValueError(
            f"y contains only one class ({classes.tolist()[0]!r}): no feature can be relevant to it. "
            "Pass samples of at least two classes."
        )
    name = name if isinstance(name, str) and name else "class"
    if whole:
        _warn_about_spellings(classes, name)
    return Target(classes, codes.astype(np.int64), name)


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


def _refuse_identifiers(classes: NDArray[Any], codes: NDArray[np.intp]) -> None:
    """Raise an error if more than half of the samples are in classes of one or two samples."""
    if len(classes) <= _MANY_CLASSES:
        return
    sizes = np.bincount(codes)
    if sizes[sizes <= 2].sum() > len(codes) / 2:
        raise ValueError(
            f"y has {len(classes)} classes in {len(codes)} samples, and most classes have only one or "
            f"two samples (the first labels are {_shown(classes)}). If y is an identifier, use another "
            f"column as the target. If it is a continuous quantity, bin it into classes: {_QCUT}."
        )


def _shown(classes: NDArray[Any]) -> str:
    return ", ".join(
        f"{str(label)[:20]!r}" if isinstance(label, str) else str(label)
        for label in classes[:3].tolist()
    )


def _as_array(y: Any) -> NDArray[Any]:
    """Turn labels into an array of one dimension and one type, without missing or infinite values."""
    if nw.dependencies.is_into_series(y):
        y = plain_values(nw.from_native(y, series_only=True))
    labels: NDArray[Any] = column_or_1d(np.asarray(masked_as_missing(y)), warn=True)
    if labels.dtype.kind == "T":
        labels = labels.astype(object)
    if labels.dtype.kind in "mM":
        raise ValueError(
            f"y has dtype {labels.dtype}, but dates and times are not classes. Convert them to classes "
            "first, for example to years or to before and after a date."
        )
    if labels.dtype.kind in "Of":
        _refuse_missing(labels)
    if labels.dtype == object:
        labels = _of_one_type(labels.tolist())
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError(
            "Input y contains infinity or a value too large for dtype('float64'). "
            "Pass class labels: integers, strings or booleans."
        )
    return labels


def _refuse_missing(labels: NDArray[Any]) -> None:
    missing = missing_values(labels.tolist())
    if missing.any():
        raise ValueError(
            f"Input y contains NaN: {missing.sum()} missing label(s), the first in row "
            f"{int(missing.argmax())} (rows count from 0). Drop these rows, or assign them "
            "to a separate class."
        )


def _of_one_type(labels: list[Any]) -> NDArray[Any]:
    """Turn Python labels into an array of their type; strings stay objects."""
    kinds = set(map(type, labels))
    if all(issubclass(kind, str) for kind in kinds):
        return np.array(labels, dtype=object)
    if all(issubclass(kind, bool | np.bool_) for kind in kinds):
        return np.array(labels, dtype=bool)
    if all(issubclass(kind, int | float | np.number) and kind is not bool for kind in kinds):
        return np.array(labels)
    names = sorted(kind.__name__ for kind in kinds)
    found = "mixes labels of the types" if len(names) > 1 else "has labels of the type"
    raise ValueError(
        f"Unknown label type: y {found} {', '.join(names)}. Pass labels of one type (integers, strings "
        "or booleans), for example list(map(str, y))."
    )
