"""Kernels: one source that runs interpreted or compiled.

A kernel is a plain function over arrays in a file that holds nothing but kernels.
Called directly it is interpreted, which needs no compiler, suits small inputs and
works on Python integers of any size (arrays of dtype ``object``).  :meth:`Kernel.compiled`
gives the machine-code version, compiled on first use, cached on disk and releasing the
interpreter lock while it runs.

Arrays that belong together come as a named tuple.  A call copies all its fields and counts their references, so what is
called for every packet or move takes few arrays, or unpacks them before its loop.  Compiled code is kept by the source
file of the kernel that was called from Python: after a change in a kernel that it calls, touch that file, too.
"""

from __future__ import annotations

import functools
import types
import warnings
from collections.abc import Callable
from typing import Any

__all__ = ["COMPILE_ABOVE", "Kernel", "kernel", "run"]

#: Elementary steps above which loading the compiler pays (about a third of a second).
COMPILE_ABOVE = 300_000


class Kernel:
    """A function that can be interpreted or compiled; see the module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.python = function
        self._machine: Callable[..., Any] | None = None
        functools.update_wrapper(self, function)

    def __call__(self, *args: Any) -> Any:
        return self.python(*args)

    def compiled(self) -> Callable[..., Any]:
        """The machine-code version of this kernel."""
        if self._machine is None:
            self._machine = _compile(self.python)
        return self._machine


def kernel(function: Callable[..., Any]) -> Kernel:
    """Mark a function as a kernel (decorator)."""
    return Kernel(function)


def run(function: Kernel, work: float, *args: Any) -> Any:
    """Run a kernel, compiled where `work` elementary steps are worth it; never on Python integers."""
    if any(getattr(getattr(argument, "dtype", None), "kind", "") == "O" for argument in args):
        return function.python(*args)
    if function._machine is not None or work > COMPILE_ABOVE:
        return function.compiled()(*args)
    return function.python(*args)


def _compile(function: Callable[..., Any]) -> Callable[..., Any]:
    import numba

    code = function.__code__
    scope = dict(function.__globals__)
    for name in code.co_names:  # the compiler knows its own functions only
        callee = scope.get(name)
        if isinstance(callee, Kernel):
            scope[name] = callee.compiled()
    bare = types.FunctionType(code, scope, function.__name__, function.__defaults__)
    bare.__module__ = function.__module__
    bare.__qualname__ = function.__qualname__
    try:
        machine: Callable[..., Any] = numba.njit(cache=True, nogil=True)(bare)
    except RuntimeError:  # no directory can be written for the cache
        warnings.warn(
            "compiled kernels cannot be cached here; set NUMBA_CACHE_DIR to a writable directory",
            RuntimeWarning,
            stacklevel=2,
        )
        machine = numba.njit(nogil=True)(bare)
    return machine
