"""Plain functions -> numba kernels, each with one signature, compiled once per machine."""

from __future__ import annotations

import contextlib
import functools
import logging
import threading
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba import types
from numba.core import config
from numba.core.caching import FunctionCache
from numba.extending import intrinsic, overload

logger = logging.getLogger("slfs")
Function = TypeVar("Function", bound=Callable[..., Any])

_lock = threading.RLock()


def kernel(signature: Any) -> Callable[[Function], Function]:
    """Compile a function for exactly this signature when it is first called, without the GIL."""

    def decorate(function: Function) -> Function:
        compiled = late_kernel(function)
        if config.DISABLE_JIT:  # type: ignore[attr-defined]
            return compiled
        return cast("Function", _Kernel(compiled, signature))

    return decorate


class _Kernel:
    """A kernel with one signature: compiled, or loaded from numba's cache, on the first call."""

    def __init__(self, compiled: Any, signature: Any) -> None:
        self._compiled, self._signature, self._ready = compiled, signature, False
        functools.update_wrapper(self, compiled.py_func)

    def __call__(self, *arguments: Any) -> Any:
        if not self._ready:
            self._compile()
        return self._compiled(*arguments)

    def _compile(self) -> None:
        with _lock:
            if self._ready:
                return
            self._compiled.compile(self._signature)
            self._compiled.disable_compile()
            if not self._compiled.stats.cache_hits:
                _announce()
            self._ready = True


@functools.cache
def _announce() -> None:
    """Say once that the first fit on a machine takes longer; the user may silence the logger."""
    logger.warning("slfs compiles its kernels, once on this machine (some seconds) ...")


def late_kernel(function: Function) -> Function:
    """Compile a function that few users need when it is first called, without the GIL.

    numba keeps it beside the source, or else in the user's cache folder; where it may write to neither,
    every process compiles anew.
    """
    compiled: Any = numba.njit(nogil=True)(function)
    if not config.DISABLE_JIT:  # type: ignore[attr-defined]
        with contextlib.suppress(RuntimeError):  # no folder to write to
            compiled._cache = _Cache(function)  # type: ignore[no-untyped-call]
    return cast("Function", compiled)


class _Cache(FunctionCache):
    """numba's cache of one kernel; if its files are damaged or cannot be written, it does without."""

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(signature, target_context)  # type: ignore[no-untyped-call]
        except Exception as error:  # a pickle that is cut off may raise anything
            logger.warning(
                "slfs compiles again: the cache in %s is damaged (%s).", self.cache_path, error
            )
            with contextlib.suppress(OSError):
                self.flush()  # type: ignore[no-untyped-call]
            return None

    def save_overload(self, signature: Any, data: Any) -> None:
        try:
            super().save_overload(signature, data)  # type: ignore[no-untyped-call]
        except Exception as error:
            logger.warning(
                "slfs could not keep a compiled kernel in %s (%s): it will be compiled again. Free some "
                "space, or name another folder in NUMBA_CACHE_DIR.",
                self.cache_path,
                error,
            )


def helper(function: Function) -> Function:
    """Compile a function that kernels of its own file call now and then."""
    return cast("Function", numba.njit(nogil=True)(function))


def inlined(function: Function) -> Function:
    """Compile a helper as a part of the kernels of its own file."""
    return cast("Function", numba.njit(nogil=True, inline="always")(function))


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
