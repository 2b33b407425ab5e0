"""Equality by content of values that hold arrays."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

__all__ = ["equal"]


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
