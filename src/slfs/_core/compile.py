"""Python functions -> numba kernels, each with one signature, compiled once per machine."""

from __future__ import annotations

import contextlib
import functools
import logging
import threading
import time
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
_durations: list[float] = []


def kernel(signature: Any) -> Callable[[Function], Function]:
    """Compile a function for a single signature on the first call; it releases the GIL."""

    def decorate(function: Function) -> Function:
        compiled = late_kernel(function)
        if config.DISABLE_JIT:  # type: ignore[attr-defined]
            return compiled
        return cast("Function", _Kernel(compiled, signature))

    return decorate


class _Kernel:
    """A kernel with one signature that is compiled, or loaded from numba's cache, on the first call."""

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
            begin = time.perf_counter()
            self._compiled.compile(self._signature)
            self._compiled.disable_compile()
            _durations.append(time.perf_counter() - begin)
            if not self._compiled.stats.cache_hits:
                _announce()
            self._ready = True


def compile_seconds() -> float:
    """Return the time that this process has spent compiling or loading kernels."""
    return sum(_durations)


@functools.cache
def _announce() -> None:
    """Log once that the first fit on a machine takes longer; users can silence the logger."""
    logger.warning(
        "slfs compiles its kernels; each is compiled once per machine, when it is first needed, which "
        "takes some seconds ..."
    )


def late_kernel(function: Function) -> Function:
    """Compile a function on the first call, for the types of its arguments; it releases the GIL.

    numba stores the result next to the source, or else in the user's cache folder; if it can write to
    neither, every process compiles again.
    """
    compiled: Any = numba.njit(nogil=True)(function)
    if not config.DISABLE_JIT:  # type: ignore[attr-defined]
        with contextlib.suppress(RuntimeError):  # no folder to write to
            compiled._cache = _Cache(function)  # type: ignore[no-untyped-call]
    return cast("Function", compiled)


class _Cache(FunctionCache):
    """numba's cache of one kernel; files that are damaged or cannot be written are not an error."""

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(signature, target_context)  # type: ignore[no-untyped-call]
        except Exception as error:  # a truncated pickle may raise anything
            logger.warning(
                "slfs compiles a kernel again, because its cache in %s is damaged (%s).",
                self.cache_path,
                error,
            )
            with contextlib.suppress(OSError):
                self.flush()  # type: ignore[no-untyped-call]
            return None

    def save_overload(self, signature: Any, data: Any) -> None:
        try:
            super().save_overload(signature, data)  # type: ignore[no-untyped-call]
        except Exception as error:
            logger.warning(
                "slfs could not store a compiled kernel in %s (%s), so it will be compiled again in the "
                "next process. Free some space, or set NUMBA_CACHE_DIR to another folder.",
                self.cache_path,
                error,
            )


def helper(function: Function) -> Function:
    """Compile a function that kernels in the same file call."""
    return cast("Function", numba.njit(nogil=True)(function))


def inlined(function: Function) -> Function:
    """Compile a function that is inlined into the kernels in the same file."""
    return cast("Function", numba.njit(nogil=True, inline="always")(function))


def popcount(word: Any) -> int:
    """Return the number of bits set in an unsigned 64-bit word."""
    return int(word).bit_count()


@intrinsic
def _ctpop(_context: Any, _word: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@overload(popcount, inline="always")
def _popcount(word):  # type: ignore[no-untyped-def]  # noqa: ARG001
    return lambda word: _ctpop(word)  # type: ignore[call-arg]
