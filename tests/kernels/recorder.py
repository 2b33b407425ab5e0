"""Kernels of the package, and recorded calls of them: arguments before, arguments after, result."""

from __future__ import annotations

import copy
import gc
import importlib
import pkgutil
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

import obliv
from obliv.kernels import Kernel

PER_SIGNATURE = 3  #: Calls recorded of each kernel, workload and combination of argument types.
LARGEST = 2_000_000  #: Calls with more elements are not recorded.


@dataclass(frozen=True, eq=False)
class Call:
    """One interpreted call of a kernel."""

    before: tuple[Any, ...]
    after: tuple[Any, ...]
    result: Any


def all_kernels() -> dict[str, Kernel]:
    """Every kernel of the package by its full name."""
    kernels = {}
    for module in pkgutil.walk_packages(obliv.__path__, "obliv."):
        parts = module.name.split(".")
        if parts[-1] == "_kernels" or "kernels" in parts[1:-1]:
            for value in vars(importlib.import_module(module.name)).values():
                if isinstance(value, Kernel) and value.__module__ == module.name:
                    kernels[f"{module.name}.{value.__qualname__}"] = value
    return kernels


@contextmanager
def recording() -> Iterator[dict[str, list[Call]]]:
    """Run all kernels interpreted and record calls of each."""
    calls: dict[str, list[Call]] = defaultdict(list)
    kernels = all_kernels()
    gc.unfreeze()  # of conftest: frozen objects would not be listed
    # variants of kernels call recorded ones, unless they are compiled already
    saved = [(kernel, kernel.python, kernel._machine) for kernel in gc.get_objects() if isinstance(kernel, Kernel)]
    for kernel, _, _ in saved:
        kernel._machine = None
    for name, kernel in kernels.items():
        kernel.python = kernel._machine = _recorder(kernel.python, calls[name])
    try:
        yield calls
    finally:
        for kernel, python, machine in saved:
            kernel.python, kernel._machine = python, machine


def _recorder(function: Callable[..., Any], calls: list[Call]) -> Callable[..., Any]:
    counts: dict[Any, int] = defaultdict(int)

    def recorded(*args: Any) -> Any:
        kind = signature(args)
        if kind is None or counts[kind] >= PER_SIGNATURE or _size(args) > LARGEST:
            return function(*args)
        counts[kind] += 1
        before = _copied(args)
        result = function(*args)
        calls.append(Call(before, copy.deepcopy(args), copy.deepcopy(result)))
        return result

    return recorded


def signature(args: tuple[Any, ...]) -> Any:
    """The types of arguments as the compiler tells them apart; None where it takes them not at all."""
    kinds = []
    for argument in args:
        if isinstance(argument, tuple):
            kind = signature(argument)
            if kind is None:
                return None
            kinds.append((type(argument).__name__, kind))
        elif isinstance(argument, np.ndarray):
            if argument.dtype == object:
                return None
            kinds.append((argument.dtype.str, argument.ndim))
        elif isinstance(argument, np.generic) and argument.dtype.kind == "u":
            kinds.append((argument.dtype.str, 0))
        elif isinstance(argument, bool | np.bool_):
            kinds.append(("bool", 0))
        elif isinstance(argument, int | np.integer):
            if not -(2**63) <= argument < 2**63:
                return None
            kinds.append(("int", 0))
        else:
            kinds.append((type(argument).__name__, 0))
    return tuple(kinds)


def as_passed(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """A copy of arguments whose numbers are those of Python, as one kernel passes them to another."""
    return tuple(_copied(argument, lambda number: number.item()) for argument in args)


def _copied(argument: Any, number: Callable[[Any], Any] = copy.copy) -> Any:
    """A copy, with `number` of each number of numpy; arrays that may not be written to are a type of their own."""
    if isinstance(argument, tuple):
        fields = [_copied(value, number) for value in argument]
        return type(argument)(*fields) if hasattr(argument, "_fields") else tuple(fields)
    if isinstance(argument, np.bool_ | np.signedinteger):
        return number(argument)
    copied = copy.deepcopy(argument)
    if isinstance(argument, np.ndarray):
        copied.flags.writeable = argument.flags.writeable
    return copied


def alike(one: Any, two: Any) -> bool:
    """Whether values are equal, element by element; floating-point numbers to rounding."""
    if isinstance(one, tuple | list):
        return len(one) == len(two) and all(alike(a, b) for a, b in zip(one, two, strict=True))
    if one is None or two is None:
        return one is two
    first, second = np.asarray(one), np.asarray(two)
    if first.dtype.kind == "f" or second.dtype.kind == "f":
        return first.shape == second.shape and bool(np.allclose(first, second, rtol=1e-12, atol=0, equal_nan=True))
    return bool(np.array_equal(first, second))


def _size(args: tuple[Any, ...]) -> int:
    return sum(_size(a) if isinstance(a, tuple) else getattr(a, "size", 0) for a in args)
