"""Kernels: loops over arrays, written once, run interpreted or compiled.

A kernel is a plain function over arrays, numbers and records (named tuples of arrays), in a module named ``_kernels``
or in a package named ``kernels``.  Called directly it is interpreted: this needs no compiler, suits small inputs and
works on Python integers of any size (arrays of dtype ``object``).  :meth:`Kernel.compiled` returns the machine-code
version, which is compiled on first use, cached on disk and releases the interpreter lock.  :func:`run` chooses between
the two.  Where numba is not installed, all kernels are interpreted, and a RuntimeWarning says so.

A kernel may use the following names of its module: other kernels, constants (numbers, strings, tuples, arrays), record
types, and numpy or math.  The cache key covers all of these, across files: when a callee, a constant or the fields of a
record change, the callers are compiled again.  Any other name raises TypeError on compilation, as do keyword-only
parameters.

Notes
-----
Arrays that belong together come as a record.  A call copies all fields of a record and counts their references, so a
kernel that is called in an inner loop takes few arrays.

NumPy computes with elements of a 32-bit array in 32 bits, compiled code in 64.  Where a product or a shift of elements
may exceed 32 bits, convert one factor with ``int(...)``, or use 64-bit arrays.

Each kernel has to be reached by a workload of ``tests/kernels``, where its interpreted and compiled versions are
compared.
"""

from __future__ import annotations

import dis
import functools
import hashlib
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

__all__ = ["COMPILE_ABOVE", "Kernel", "kernel", "run"]

#: Elementary steps above which loading the compiler pays (about a third of a second).
COMPILE_ABOVE = 300_000

_LIBRARIES = ("builtins", "math", "numpy")


class Kernel:
    """A function that runs interpreted or compiled.

    Attributes
    ----------
    python : function
        The interpreted version.
    hot : bool
        Whether :func:`run` has compiled it: small inputs take the machine code from then on.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.python = function
        self.hot = False
        self._machine: Callable[..., Any] | None = None
        functools.update_wrapper(self, function)

    def __call__(self, *args: Any) -> Any:
        return self.python(*args)

    def __reduce__(self) -> str:
        return self.__qualname__  # type: ignore[attr-defined, no-any-return]

    def compiled(self) -> Callable[..., Any]:
        """Return the machine-code version of this kernel."""
        if self._machine is None:
            self._machine = _compile(self)
        return self._machine

    def digest(self) -> str:
        """Return a digest of this kernel and of all kernels, constants and record types that it reaches."""
        return hashlib.sha256(repr(_content(self.python, ())).encode()).hexdigest()


def kernel(function: Callable[..., Any]) -> Kernel:
    """Mark a function as a kernel (decorator)."""
    return Kernel(function)


def run(function: Kernel, work: float, *args: Any) -> Any:
    """Run a kernel, compiled where this pays.

    Parameters
    ----------
    function : Kernel
    work : float
        Estimated number of elementary steps.
    *args
        Arguments of the kernel. Where an array holds Python integers (dtype ``object``), the kernel is interpreted.
    """
    if _unbounded(args):
        return function.python(*args)
    # a compiled version alone says little: it compiles each set of argument types on its first call
    if function.hot or work > COMPILE_ABOVE:
        function.hot = True
        machine = function.compiled()
        if isinstance(machine, types.FunctionType) or not any(isinstance(argument, tuple) for argument in args):
            return machine(*args)
        from obliv._util.progress import deferred

        with deferred():  # machine code takes records apart by calls of Python, and does not see where these fail
            return machine(*args)
    return function.python(*args)


def _unbounded(args: tuple[Any, ...]) -> bool:
    """Return whether an array among the arguments or in a record holds Python integers."""
    for argument in args:  # a plain loop, as this runs before every small kernel
        if isinstance(argument, np.ndarray):
            if argument.dtype.hasobject:
                return True
        elif isinstance(argument, tuple) and _unbounded(argument):
            return True
    return False


def _compile(function: Kernel) -> Callable[..., Any]:
    from obliv._util.progress import deferred

    python = function.python
    try:
        with deferred():
            from obliv._util.machine_code import compile_function
    except ModuleNotFoundError as missing:
        if missing.name not in ("numba", "llvmlite"):
            raise
        _warn_once()
        return np.errstate(over="ignore")(python)  # machine code wraps without a word, too
    digest = function.digest()
    scope = dict(python.__globals__)
    for name in _global_names(python.__code__):  # compiled code calls compiled code only
        callee = scope.get(name)
        if isinstance(callee, Kernel):
            scope[name] = callee.compiled()
    bare = types.FunctionType(python.__code__, scope, python.__name__, python.__defaults__)
    bare.__module__ = python.__module__
    bare.__qualname__ = python.__qualname__
    return compile_function(bare, digest)


@functools.cache
def _warn_once() -> None:
    warnings.warn(
        "numba is not installed: loops are interpreted, some hundred times slower; pip install numba",
        RuntimeWarning,
        stacklevel=2,
    )


def _content(function: Callable[..., Any], callers: tuple[Callable[..., Any], ...]) -> tuple[Any, ...]:
    """Describe all that the machine code of a function depends on, as a tuple with an unambiguous ``repr``."""
    if function in callers:
        raise TypeError(f"kernel {function.__qualname__} calls itself")
    if function.__closure__:
        raise TypeError(f"kernel {function.__qualname__} uses variables of an enclosing function")
    if function.__code__.co_kwonlyargcount:
        raise TypeError(f"kernel {function.__qualname__} has keyword-only parameters, which cannot be compiled")
    names = sorted(set(_global_names(function.__code__)) & function.__globals__.keys())
    described = []
    for name in names:
        value = function.__globals__[name]
        if isinstance(value, Kernel):
            described.append((name, _content(value.python, (*callers, function))))
            continue
        try:
            described.append((name, _constant(value)))
        except TypeError:
            raise TypeError(
                f"kernel {function.__module__}.{function.__qualname__} uses {name}, a {type(value).__name__}; "
                "use kernels, constants, record types, numpy and math only"
            ) from None
    defaults = tuple(_constant(value) for value in function.__defaults__ or ())
    return (function.__qualname__, _code(function.__code__), defaults, tuple(described))


def _code(code: types.CodeType) -> tuple[Any, ...]:
    constants = tuple(_code(c) if isinstance(c, types.CodeType) else _constant(c) for c in code.co_consts)
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    return (code.co_code.hex(), constants, names, code.co_argcount, code.co_flags)


def _constant(value: Any) -> tuple[Any, ...]:
    """Describe a constant, a record type or a name of a library; TypeError for anything else."""
    if value is None or value is ... or isinstance(value, bool | int | float | complex | str | bytes):
        return (type(value).__name__, repr(value))
    if isinstance(value, np.ndarray) and value.dtype != object:
        return ("array", value.dtype.str, value.shape, value.tobytes().hex())
    if isinstance(value, np.generic):
        return ("scalar", value.dtype.str, value.tobytes().hex())
    if isinstance(value, tuple):
        return (type(value).__qualname__, *(_constant(item) for item in value))
    if isinstance(value, slice):  # a constant of the code from Python 3.14 on
        return ("slice", *(_constant(part) for part in (value.start, value.stop, value.step)))
    if isinstance(value, frozenset):
        return ("frozenset", *sorted(_constant(item) for item in value))
    if isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields"):
        return ("record", value.__module__, value.__qualname__, value._fields)
    library = value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", None) or ""
    if library.partition(".")[0] in _LIBRARIES:
        return (library, getattr(value, "__name__", ""))
    raise TypeError(f"{value!r} is not a constant")


def _global_names(code: types.CodeType) -> Iterator[str]:
    """Yield the global names that code reads, inner functions included."""
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield instruction.argval
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _global_names(constant)
