"""Arrays: integers that never wrap (64 bits where they suffice, Python integers elsewhere), and equality."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from obliv._util.typing import Array

__all__ = ["INT64_SAFE", "equal", "product_sum", "whole"]

#: Sums and products below this bound are safe in int64, with room for one more addition.
INT64_SAFE = 2**62


def whole(values: list[int]) -> Array:
    """Return whole numbers as int64, or as Python integers where 64 bits do not hold them."""
    small = all(-(INT64_SAFE) < value < INT64_SAFE for value in values)
    return np.array(values, np.int64 if small else object)


def product_sum(one: Array, two: Array) -> int:
    """Return Σ one·two as a Python integer that never wraps."""
    if one.dtype != object and two.dtype != object and len(one):
        bound = int(one.max()) * int(two.max()) * len(one)
        if bound < INT64_SAFE:
            return int(one @ two)
    return sum(int(a) * int(b) for a, b in zip(one, two, strict=True) if a)


def equal(one: Any, other: Any) -> bool:
    """Return whether two values are equal, arrays number by number.

    Tuples, lists and dataclasses without an ``==`` of their own are compared part by part.

    Examples
    --------
    >>> import numpy as np
    >>> equal((np.arange(3), "a"), (np.arange(3), "a")), equal(np.arange(3), None)
    (True, False)
    """
    if one is other:
        return True
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        same_type = isinstance(one, np.ndarray) and isinstance(other, np.ndarray) and one.dtype.kind == other.dtype.kind
        return bool(same_type and np.array_equal(one, other))
    if type(one) is type(other):
        if isinstance(one, tuple | list):
            return len(one) == len(other) and all(map(equal, one, other))
        if dataclasses.is_dataclass(one) and type(one).__eq__ is object.__eq__:
            return all(equal(getattr(one, each.name), getattr(other, each.name)) for each in dataclasses.fields(one))
    return bool(one == other)
