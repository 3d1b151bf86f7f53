"""Class labels of any kind -> classes and codes, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import column_or_1d

from slfs.tables.values import DATES, is_dask, masked_as_missing, missing_values, plain_values


@dataclass(frozen=True)
class Target:
    """The classes, sorted, and the place of each sample's class among them."""

    classes: NDArray[Any]
    codes: NDArray[np.int64]
    name: str
    """What the class variable is called: the name of the series, or "class"."""


def read_target(y: Any) -> Target:
    """Recognise class labels and check them: one class for each sample, at least two classes."""
    if is_dask(y):
        y = y.compute()
    if y is None:
        raise ValueError(
            "requires y to be passed, but the target y is None. Give one class label for each row."
        )
    name = getattr(y, "name", None)
    if nw.dependencies.is_into_series(y):
        y = plain_values(nw.from_native(y, series_only=True))
    labels = column_or_1d(np.asarray(masked_as_missing(y)), warn=True)
    if labels.dtype.kind == "T":
        labels = labels.astype(object)
    if labels.dtype.kind in "mM":
        raise ValueError(f"y has dtype {labels.dtype}: {DATES}")
    if labels.dtype.kind in "Of":
        _refuse_missing(labels)
    if labels.dtype == object:
        labels = _of_one_type(labels.tolist())
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError(
            "Input y contains infinity or a value too large for dtype('float64'). "
            "Give class labels: integers, strings or booleans."
        )
    with np.errstate(invalid="ignore"):  # it casts labels that no integer can hold
        kind = type_of_target(labels, input_name="y")
    if kind not in ("binary", "multiclass"):
        raise ValueError(
            f"Unknown label type: {kind}. slfs selects for classification: bin y into classes first, "
            "for example with pandas.qcut(y, 3, labels=False)."
        )
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) == 0:
        raise ValueError("y has no labels. Give one class label for each row.")
    if len(classes) < 2:
        raise ValueError(
            f"y contains one class only ({classes.tolist()[0]!r}): nothing can be relevant to it. "
            "Give rows of at least two classes."
        )
    return Target(classes, codes.astype(np.int64), name if isinstance(name, str) and name else "class")


def _refuse_missing(labels: NDArray[Any]) -> None:
    missing = missing_values(labels.tolist())
    if missing.any():
        raise ValueError(
            f"Input y contains NaN: {missing.sum()} missing label(s), the first at row "
            f"{int(missing.argmax())}. Drop these rows, or give them a class of their own."
        )


def _of_one_type(labels: list[Any]) -> NDArray[Any]:
    """Python labels as an array of their own type; strings stay objects."""
    kinds = set(map(type, labels))
    if all(issubclass(kind, str) for kind in kinds):
        return np.array(labels, dtype=object)
    if all(issubclass(kind, bool | np.bool_) for kind in kinds):
        return np.array(labels, dtype=bool)
    if all(issubclass(kind, int | float | np.number) and kind is not bool for kind in kinds):
        return np.array(labels)
    names = sorted(kind.__name__ for kind in kinds)
    what = "mixes labels of the types" if len(names) > 1 else "has labels of the type"
    raise ValueError(
        f"Unknown label type: y {what} {', '.join(names)}. Give labels of one type, integers, strings "
        "or booleans, for example list(map(str, y))."
    )
