"""Vectors of four floats or eight integers in kernels, since numba vectorizes few loops by itself.

The operations are the same on all machines, and so are the results: the compiler splits vectors where
the processor has shorter ones. Without compilation the functions do the same with small arrays.
"""
# mypy: disable-error-code="call-arg, no-untyped-call, import-untyped"
# numba passes the typing context to intrinsics by itself

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.datamodel import models
from numba.extending import intrinsic, overload, register_model


class _Vector(types.Type):
    """The type of vectors in kernels."""

    def __init__(self, name: str, lanes: ir.VectorType) -> None:
        self.lanes = lanes
        super().__init__(name)


FOUR_FLOATS = _Vector("FourFloats", ir.VectorType(ir.DoubleType(), 4))
EIGHT_INTS = _Vector("EightInts", ir.VectorType(ir.IntType(32), 8))


@register_model(_Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager: Any, vector: _Vector) -> None:
        super().__init__(manager, vector, vector.lanes)


def load_floats(array: Any, i: Any) -> Any:
    """Return ``array[i : i + 4]`` of an array of floats."""
    return array[int(i) : int(i) + 4].copy()


def load_ints(array: Any, i: Any) -> Any:
    """Return ``array[i : i + 8]`` of an array of 16-bit integers, in 32 bits."""
    return array[int(i) : int(i) + 8].astype(np.int32)


def store(vector: Any, array: Any, i: Any) -> None:
    """Write a vector to ``array[i:]``; the type of the array is that of the vector."""
    array[int(i) : int(i) + len(vector)] = vector


def four(number: float) -> Any:
    """Return a vector of four equal floats."""
    return np.full(4, number)


def eight_zeros() -> Any:
    """Return a vector of eight zeros."""
    return np.zeros(8, np.int32)


def total(vector: Any) -> float:
    """Add up four floats, in pairs."""
    return float((vector[0] + vector[1]) + (vector[2] + vector[3]))


def _pointer(context: Any, builder: Any, array: Any, place: Any, kind: Any) -> Any:
    """Return the address of an element of an array (``place``: the array and its index)."""
    data = context.make_array(array)(context, builder, place[0]).data
    return builder.bitcast(builder.gep(data, [place[1]]), kind.as_pointer())


@intrinsic
def _load_floats(_context: Any, array: Any, i: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        place = _pointer(context, builder, signature.args[0], given, FOUR_FLOATS.lanes)
        return builder.load(place, align=8)

    return FOUR_FLOATS(array, i), generate


@intrinsic
def _load_ints(_context: Any, array: Any, i: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        narrow = ir.VectorType(ir.IntType(16), 8)
        place = _pointer(context, builder, signature.args[0], given, narrow)
        return builder.sext(builder.load(place, align=2), EIGHT_INTS.lanes)

    return EIGHT_INTS(array, i), generate


@intrinsic
def _store(_context: Any, vector: Any, array: Any, i: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        place = _pointer(context, builder, signature.args[1], given[1:], vector.lanes)
        builder.store(given[0], place, align=4)
        return context.get_dummy_value()

    return types.void(vector, array, i), generate


@intrinsic
def _four(_context: Any, number: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, given: Any) -> Any:
        vector = ir.Constant(FOUR_FLOATS.lanes, ir.Undefined)
        for lane in range(4):
            vector = builder.insert_element(vector, given[0], ir.IntType(32)(lane))
        return vector

    return FOUR_FLOATS(number), generate


@intrinsic
def _eight_zeros(_context: Any) -> Any:
    return EIGHT_INTS(), lambda _context, _builder, _signature, _given: EIGHT_INTS.lanes(None)


@intrinsic
def _total(_context: Any, vector: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, given: Any) -> Any:
        a, b, c, d = (builder.extract_element(given[0], ir.IntType(32)(lane)) for lane in range(4))
        return builder.fadd(builder.fadd(a, b), builder.fadd(c, d))

    return types.float64(vector), generate


@intrinsic
def _add(_context: Any, left: Any, right: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, given: Any) -> Any:
        return builder.fadd(*given) if left is FOUR_FLOATS else builder.add(*given)

    return left(left, right), generate


@intrinsic
def _multiply(_context: Any, left: Any, right: Any) -> Any:
    return left(left, right), lambda _context, builder, _signature, given: builder.fmul(*given)


def _in_kernels(function: Callable[..., Any], implementation: Callable[..., Any]) -> None:
    overload(function, strict=False, inline="always")(lambda *_given: implementation)


_in_kernels(load_floats, lambda array, i: _load_floats(array, i))
_in_kernels(load_ints, lambda array, i: _load_ints(array, i))
_in_kernels(store, lambda vector, array, i: _store(vector, array, i))
_in_kernels(four, lambda number: _four(number))
_in_kernels(eight_zeros, lambda: _eight_zeros())
_in_kernels(total, lambda vector: _total(vector))


@overload(operator.add, inline="always")
def _add_vectors(left, right):  # type: ignore[no-untyped-def]
    if isinstance(left, _Vector) and left == right:
        return lambda left, right: _add(left, right)
    return None


@overload(operator.mul, inline="always")
def _multiply_vectors(left, right):  # type: ignore[no-untyped-def]
    if left == right == FOUR_FLOATS:
        return lambda left, right: _multiply(left, right)
    return None
