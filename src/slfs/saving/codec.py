"""Values -> JSON with references to arrays -> the same values. The package docstring has the format."""

from __future__ import annotations

import base64
import dataclasses
import math
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slfs.saving.errors import ModelFileError
from slfs.saving.registry import LEFT_OUT, PARTS, estimators, fitted_attributes

PLAIN = "biufUS"
"""Kinds of dtypes without Python objects: booleans, numbers, strings of fixed width."""


class Encoder:
    """Convert values to JSON, which refers to ``objects`` and ``arrays()``."""

    def __init__(self) -> None:
        self.objects: list[dict[str, Any]] = []
        self._estimators = estimators()
        self._pieces: dict[np.dtype[Any], list[NDArray[Any]]] = {}
        self._sizes: dict[np.dtype[Any], int] = {}
        # by id; the value is kept as well, so that its id stays valid
        self._known: dict[int, tuple[Any, Any]] = {}

    def arrays(self) -> list[NDArray[Any]]:
        """Return the elements of all arrays, one array per dtype."""
        return [np.concatenate(pieces, dtype=dtype) for dtype, pieces in self._pieces.items()]

    def encode(self, value: Any, path: str) -> Any:
        """Convert a value to JSON; ``path`` is where it was found, for error messages."""
        kind = type(value)
        if value is None or kind in (bool, int, str):
            return value
        if kind is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if kind is list:
            return [self.encode(item, f"{path}[{k}]") for k, item in enumerate(value)]
        if kind is tuple:
            return {"tuple": [self.encode(item, f"{path}[{k}]") for k, item in enumerate(value)]}
        if kind is dict:
            return {
                "dict": [
                    [self.encode(key, f"a key of {path}"), self.encode(item, f"{path}[{key!r}]")]
                    for key, item in value.items()
                ]
            }
        if isinstance(value, np.ndarray):
            return self._once(value, lambda: self._encode_array(value, path))
        if self._estimators.get(kind.__name__) is kind:
            return self._once(value, lambda: self._encode_estimator(value, path))
        if PARTS.get(kind.__name__) is kind:
            return self._once(value, lambda: self._encode_part(value, path))
        return self._encode_scalar(value, path)

    def _once(self, value: Any, encode: Callable[[], Any]) -> Any:
        if id(value) not in self._known:
            self._known[id(value)] = (value, encode())
        return self._known[id(value)][1]

    def _encode_array(self, array: NDArray[Any], path: str) -> Any:
        if array.dtype.kind == "O":
            labels = [self.encode(item, path) for item in array.ravel().tolist()]
            return {"labels": [list(array.shape), labels]}
        if array.dtype.names is not None:
            plain = array.view(np.ndarray)
            return {
                "records": [
                    [field, self.encode(plain[field], f"{path}[{field!r}]")]
                    for field in array.dtype.names
                ]
            }
        if array.dtype.kind not in PLAIN:
            raise _refusal(path, f"an array of {array.dtype}")
        begin = self._sizes.get(array.dtype, 0)
        self._pieces.setdefault(array.dtype, []).append(np.asarray(array).ravel())
        self._sizes[array.dtype] = begin + array.size
        return {"array": [list(self._pieces).index(array.dtype), begin, list(array.shape)]}

    def _encode_estimator(self, estimator: Any, path: str) -> Any:
        name = type(estimator).__name__
        parameters = estimator.get_params(deep=False)
        fitted = {
            key: value
            for key, value in vars(estimator).items()
            if key not in parameters and key != LEFT_OUT
        }
        foreign = sorted(fitted.keys() - fitted_attributes(type(estimator)))
        if foreign:
            raise TypeError(
                f"{path} has attributes that are not part of a fitted {name}: {foreign[:5]}. Delete "
                "them before saving."
            )
        return self._add_object(
            {
                "class": name,
                "parameters": {
                    key: self.encode(_plain_parameter(value), f"{path}.{key}")
                    for key, value in parameters.items()
                },
                "fitted": {key: self.encode(value, f"{path}.{key}") for key, value in fitted.items()},
            }
        )

    def _encode_part(self, part: Any, path: str) -> Any:
        fields = {
            field.name: self.encode(getattr(part, field.name), f"{path}.{field.name}")
            for field in dataclasses.fields(part)
        }
        return self._add_object({"class": type(part).__name__, "fields": fields})

    def _add_object(self, entry: dict[str, Any]) -> Any:
        self.objects.append(entry)
        return {"object": len(self.objects) - 1}

    def _encode_scalar(self, value: Any, path: str) -> Any:
        if isinstance(value, np.generic) and value.dtype.kind in PLAIN and value.dtype != np.longdouble:
            return {"numpy": [value.dtype.str, self.encode(value.item(), path)]}
        if type(value) is bytes:
            return {"bytes": base64.b64encode(value).decode("ascii")}
        if type(value) is Decimal:
            return {"decimal": str(value)}
        if type(value) is Fraction:
            return {"fraction": [value.numerator, value.denominator]}
        if type(value).__name__ == "Interval" and type(value).__module__.split(".")[0] == "pandas":
            ends = [self.encode(end, path) for end in (value.left, value.right)]
            return {"interval": [*ends, value.closed]}
        raise _refusal(path, f"a value of type {type(value).__module__}.{type(value).__qualname__}")


def _refusal(path: str, what: str) -> TypeError:
    return TypeError(
        f"{path} contains {what}, which cannot be saved. Use strings, numbers, booleans or bytes as "
        "categories, labels and parameters."
    )


def _plain_parameter(value: Any) -> Any:
    """Convert an array-like of another library to an array."""
    foreign = not isinstance(value, np.ndarray | np.generic) and hasattr(value, "__array__")
    return np.asarray(value) if foreign or isinstance(value, range) else value


class Decoder:
    """Convert JSON to values, and reject everything that `Encoder` does not write."""

    def __init__(self, objects: list[dict[str, Any]], arrays: Sequence[NDArray[Any]]) -> None:
        self._arrays = arrays
        self._estimators = estimators()
        self._objects: list[Any] = []
        self._views: dict[tuple[int, ...], NDArray[Any]] = {}  # shared arrays stay shared
        self._decoders: dict[str, Callable[[Any], Any]] = {
            "object": lambda index: self._objects[_natural(index)],
            "array": self._array,
            "labels": self._labels,
            "records": self._records,
            "tuple": lambda items: tuple(self.decode(item) for item in items),
            "dict": lambda pairs: {self.decode(key): self.decode(item) for key, item in pairs},
            "numpy": self._numpy_scalar,
            "float": lambda text: {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[text],
            "bytes": lambda text: base64.b64decode(text, validate=True),
            "decimal": Decimal,
            "fraction": lambda ends: Fraction(*ends),
            "interval": self._interval,
        }
        for entry in objects:
            self._objects.append(self._object(entry))

    def decode(self, value: Any) -> Any:
        """Convert JSON to a value."""
        if isinstance(value, list):
            return [self.decode(item) for item in value]
        if not isinstance(value, dict):
            return value
        ((tag, content),) = value.items()
        if tag not in self._decoders:
            raise ModelFileError(f"it contains a value of unknown kind {tag!r}. Upgrade slfs.")
        return self._decoders[tag](content)

    def _object(self, entry: dict[str, Any]) -> Any:
        name = entry["class"]
        if name in PARTS:
            fields = {key: self.decode(value) for key, value in entry["fields"].items()}
            missing = {field.name for field in dataclasses.fields(PARTS[name])} ^ fields.keys()
            if missing:
                raise ModelFileError(
                    f"{name} has missing or unexpected fields: {sorted(missing)}. Save the model again."
                )
            return PARTS[name](**fields)
        if name not in self._estimators:
            raise ModelFileError(
                f"it contains an object of the unknown class {name!r}. Upgrade slfs, or import the "
                "package that registers this selector."
            )
        estimator = self._estimators[name](
            **{key: self.decode(value) for key, value in entry["parameters"].items()}
        )
        for key, value in entry["fitted"].items():
            if key not in fitted_attributes(type(estimator)):
                raise ModelFileError(f"{name} has the unknown attribute {key!r}. Upgrade slfs.")
            setattr(estimator, key, self.decode(value))
        return estimator

    def _array(self, content: Any) -> NDArray[Any]:
        member, begin, shape = content
        size = math.prod(_natural(length) for length in shape)
        key = (_natural(member), _natural(begin), *shape)
        if key not in self._views:
            numbers = self._arrays[member][begin : begin + size]
            self._views[key] = numbers.reshape(shape)  # raises an error if there are too few
        return self._views[key]

    def _labels(self, content: Any) -> NDArray[Any]:
        shape, values = content
        labels = np.empty(len(values), dtype=object)
        labels[:] = [self.decode(value) for value in values]
        return labels.reshape([_natural(length) for length in shape])

    def _records(self, content: Any) -> np.recarray[Any, Any]:
        columns = {field: self.decode(column) for field, column in content}
        types = [(field, column.dtype) for field, column in columns.items()]
        records = np.empty(len(next(iter(columns.values()))), dtype=types)
        for field, column in columns.items():
            records[field] = column
        return records.view(np.recarray)

    def _numpy_scalar(self, content: Any) -> Any:
        name, value = content
        if not re.fullmatch(f"[<>|][{PLAIN}][0-9]+", name):
            raise ModelFileError(f"it contains a number of the unknown type {name!r}. Upgrade slfs.")
        return np.dtype(name).type(self.decode(value))

    def _interval(self, content: Any) -> Any:
        try:
            import pandas as pd
        except ImportError as error:
            raise ModelFileError(
                "some of its categories are pandas intervals, but pandas is not installed. Run "
                "pip install pandas."
            ) from error
        left, right, closed = content
        return pd.Interval(self.decode(left), self.decode(right), closed)


def _natural(number: Any) -> int:
    """Return an index or a length, if it is a non-negative integer."""
    if type(number) is not int or number < 0:
        raise ModelFileError(f"it contains the invalid index {number!r}. Save the model again.")
    return number
