"""Plain functions -> numba kernels, each with one signature, compiled once per machine."""

from __future__ import annotations

import functools
import logging
import threading
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba import types
from numba.core import config
from numba.extending import intrinsic, overload

logger = logging.getLogger("slfs")
Function = TypeVar("Function", bound=Callable[..., Any])

_registry: list[tuple[Any, Any]] = []
_lock = threading.Lock()


def kernel(signature: Any) -> Callable[[Function], Function]:
    """Register a function to be compiled for exactly this signature, without the GIL."""

    def decorate(function: Function) -> Function:
        compiled = late_kernel(function)
        _registry.append((compiled, signature))
        return compiled

    return decorate


def late_kernel(function: Function) -> Function:
    """Compile a function that few users need when it is first called, without the GIL.

    numba keeps it beside the source, or else in the user's cache folder; where it may write to neither,
    every process compiles anew.
    """
    try:
        return cast("Function", numba.njit(nogil=True, cache=True)(function))
    except RuntimeError:
        return cast("Function", numba.njit(nogil=True)(function))


def helper(function: Function) -> Function:
    """Compile a function that kernels of its own file call now and then."""
    return cast("Function", numba.njit(nogil=True)(function))


def inlined(function: Function) -> Function:
    """Compile a helper as a part of the kernels of its own file."""
    return cast("Function", numba.njit(nogil=True, inline="always")(function))


@functools.cache
def _compile_once() -> None:
    announced = False
    for compiled, signature in _registry:
        compiled.compile(signature)
        compiled.disable_compile()
        if not compiled.stats.cache_hits and not announced:
            announced = True
            logger.warning("slfs compiles its kernels, once on this machine (about 10 s) ...")


def compile_kernels() -> None:
    """Load every registered kernel from numba's cache, or compile it and say so.

    The line goes through the logger "slfs", which writes to stderr unless the user says otherwise.
    """
    if not config.DISABLE_JIT:  # type: ignore[attr-defined]
        with _lock:
            _compile_once()


def popcount(word: Any) -> int:
    """Number of bits set in an unsigned 64-bit word."""
    return int(word).bit_count()


@intrinsic
def _ctpop(_context: Any, _word: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@overload(popcount, inline="always")
def _popcount(word):  # type: ignore[no-untyped-def]  # noqa: ARG001
    return lambda word: _ctpop(word)  # type: ignore[call-arg]
