"""Values -> JSON with references to arrays -> the same values. See the package for the format."""

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
"""Kinds of arrays that are bytes without pointers: booleans, numbers, strings of fixed width."""


class Encoder:
    """Turns values into JSON; ``objects`` and ``arrays()`` hold what the JSON refers to."""

    def __init__(self) -> None:
        self.objects: list[dict[str, Any]] = []
        self._estimators = estimators()
        self._pieces: dict[np.dtype[Any], list[NDArray[Any]]] = {}
        self._sizes: dict[np.dtype[Any], int] = {}
        self._known: dict[int, tuple[Any, Any]] = {}  # by id; the value is held so that the id stays its

    def arrays(self) -> list[NDArray[Any]]:
        """All numbers, one array for each type."""
        return [np.concatenate(pieces, dtype=dtype) for dtype, pieces in self._pieces.items()]

    def encode(self, value: Any, place: str) -> Any:
        """The JSON of a value; ``place`` says where it stands, for errors."""
        kind = type(value)
        if value is None or kind in (bool, int, str):
            return value
        if kind is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if kind is list:
            return [self.encode(item, f"{place}[{k}]") for k, item in enumerate(value)]
        if kind is tuple:
            return {"tuple": [self.encode(item, f"{place}[{k}]") for k, item in enumerate(value)]}
        if kind is dict:
            return {
                "dict": [
                    [self.encode(key, f"a key of {place}"), self.encode(item, f"{place}[{key!r}]")]
                    for key, item in value.items()
                ]
            }
        if isinstance(value, np.ndarray):
            return self._once(value, lambda: self._encode_array(value, place))
        if self._estimators.get(kind.__name__) is kind:
            return self._once(value, lambda: self._encode_estimator(value, place))
        if PARTS.get(kind.__name__) is kind:
            return self._once(value, lambda: self._encode_part(value, place))
        return self._encode_scalar(value, place)

    def _once(self, value: Any, encode: Callable[[], Any]) -> Any:
        if id(value) not in self._known:
            self._known[id(value)] = (value, encode())
        return self._known[id(value)][1]

    def _encode_array(self, array: NDArray[Any], place: str) -> Any:
        if array.dtype.kind == "O":
            labels = [self.encode(item, place) for item in array.ravel().tolist()]
            return {"labels": [list(array.shape), labels]}
        if array.dtype.names is not None:
            plain = array.view(np.ndarray)
            return {
                "records": [
                    [field, self.encode(plain[field], f"{place}[{field!r}]")]
                    for field in array.dtype.names
                ]
            }
        if array.dtype.kind not in PLAIN:
            raise _refusal(place, f"an array of {array.dtype}")
        begin = self._sizes.get(array.dtype, 0)
        self._pieces.setdefault(array.dtype, []).append(np.asarray(array).ravel())
        self._sizes[array.dtype] = begin + array.size
        return {"array": [list(self._pieces).index(array.dtype), begin, list(array.shape)]}

    def _encode_estimator(self, estimator: Any, place: str) -> Any:
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
                f"{place} has attributes that are no part of a fitted {name}: {foreign[:5]}. Delete "
                "them before it is saved."
            )
        return self._add_object(
            {
                "class": name,
                "parameters": {
                    key: self.encode(_plain_parameter(value), f"{place}.{key}")
                    for key, value in parameters.items()
                },
                "fitted": {key: self.encode(value, f"{place}.{key}") for key, value in fitted.items()},
            }
        )

    def _encode_part(self, part: Any, place: str) -> Any:
        fields = {
            field.name: self.encode(getattr(part, field.name), f"{place}.{field.name}")
            for field in dataclasses.fields(part)
        }
        return self._add_object({"class": type(part).__name__, "fields": fields})

    def _add_object(self, entry: dict[str, Any]) -> Any:
        self.objects.append(entry)
        return {"object": len(self.objects) - 1}

    def _encode_scalar(self, value: Any, place: str) -> Any:
        if isinstance(value, np.generic) and value.dtype.kind in PLAIN and value.dtype != np.longdouble:
            return {"numpy": [value.dtype.str, self.encode(value.item(), place)]}
        if type(value) is bytes:
            return {"bytes": base64.b64encode(value).decode("ascii")}
        if type(value) is Decimal:
            return {"decimal": str(value)}
        if type(value) is Fraction:
            return {"fraction": [value.numerator, value.denominator]}
        if type(value).__name__ == "Interval" and type(value).__module__.split(".")[0] == "pandas":
            ends = [self.encode(end, place) for end in (value.left, value.right)]
            return {"interval": [*ends, value.closed]}
        raise _refusal(place, f"a value of type {type(value).__module__}.{type(value).__qualname__}")


def _refusal(place: str, what: str) -> TypeError:
    return TypeError(
        f"{place} holds {what}, which a model file cannot hold. Use strings, numbers, booleans or bytes "
        "as categories, labels and parameters."
    )


def _plain_parameter(value: Any) -> Any:
    """An array-like of another library as an array."""
    foreign = not isinstance(value, np.ndarray | np.generic) and hasattr(value, "__array__")
    return np.asarray(value) if foreign or isinstance(value, range) else value


class Decoder:
    """Turns JSON into values; refuses what `Encoder` does not write."""

    def __init__(self, objects: list[dict[str, Any]], arrays: Sequence[NDArray[Any]]) -> None:
        self._arrays = arrays
        self._estimators = estimators()
        self._objects: list[Any] = []
        self._views: dict[tuple[int, ...], NDArray[Any]] = {}  # what was one array is one again
        self._decoders: dict[str, Callable[[Any], Any]] = {
            "object": lambda place: self._objects[_natural(place)],
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
        """The value of some JSON."""
        if isinstance(value, list):
            return [self.decode(item) for item in value]
        if not isinstance(value, dict):
            return value
        ((tag, content),) = value.items()
        if tag not in self._decoders:
            raise ModelFileError(f"it has a value of the unknown kind {tag!r}. Upgrade slfs.")
        return self._decoders[tag](content)

    def _object(self, entry: dict[str, Any]) -> Any:
        name = entry["class"]
        if name in PARTS:
            fields = {key: self.decode(value) for key, value in entry["fields"].items()}
            missing = {field.name for field in dataclasses.fields(PARTS[name])} ^ fields.keys()
            if missing:
                raise ModelFileError(f"{name} has wrong fields: {sorted(missing)}. Save it again.")
            return PARTS[name](**fields)
        if name not in self._estimators:
            raise ModelFileError(f"it has an object of the unknown class {name!r}. Upgrade slfs.")
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
        place = (_natural(member), _natural(begin), *shape)
        if place not in self._views:
            numbers = self._arrays[member][begin : begin + size]
            self._views[place] = numbers.reshape(shape)  # too few of them: an error
        return self._views[place]

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
            raise ModelFileError(f"it has a number of the unknown type {name!r}. Upgrade slfs.")
        return np.dtype(name).type(self.decode(value))

    def _interval(self, content: Any) -> Any:
        try:
            import pandas as pd
        except ImportError as error:
            raise ModelFileError(
                "some of its categories are intervals of pandas, which is not installed. "
                "pip install pandas, then load it again."
            ) from error
        left, right, closed = content
        return pd.Interval(self.decode(left), self.decode(right), closed)


def _natural(number: Any) -> int:
    """A place or a length, as it must be."""
    if type(number) is not int or number < 0:
        raise ModelFileError(f"it refers to the place {number!r}, which is none. Save it again.")
    return number
