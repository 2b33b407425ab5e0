"""Distances in a network, many times over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import numpy as np

from obliv._util.arrays import starts
from obliv._util.typing import Array
from obliv.kernels import run
from obliv.routings.graphs._kernels import distances_to

__all__ = ["Distances", "Recent"]

T = TypeVar("T")


class Distances:
    """Fewest channels from every node to given ones.

    Parameters
    ----------
    nodes : int
    tail, head : int arrays, shape (channels,)
    times : int
        About how often it will be called, which decides whether the kernel is compiled.

    Examples
    --------
    >>> ring = np.arange(6)
    >>> Distances(6, ring, (ring + 1) % 6)([0, 3]).tolist()
    [0, 2, 1, 0, 2, 1]
    """

    def __init__(self, nodes: int, tail: Array, head: Array, times: int = 1) -> None:
        order = np.argsort(head, kind="stable")
        first = starts(np.bincount(head, minlength=nodes))
        self._incoming = first.astype(np.int64), np.asarray(tail)[order].astype(np.int64)
        self._nodes = nodes
        self._work = 10.0 * len(order) * times

    def __call__(self, goals: Any) -> Array:
        """Return the distance from every node to the nearest of `goals`, -1 where no path leads there."""
        far, queue = np.empty(self._nodes, np.int64), np.empty(self._nodes, np.int64)
        run(distances_to, self._work, np.asarray(goals, np.int64), *self._incoming, far, queue)
        return far


class Recent(Generic[T]):
    """A small cache of a function of destinations, since callers ask for all packets of one destination together."""

    def __init__(self, most: int = 4) -> None:
        self._values: dict[int, T] = {}
        self._most = most

    def get(self, destination: int, make: Callable[[int], T]) -> T:
        """Return the value of a destination, computed if it is not in the cache."""
        value = self._values.get(destination)
        if value is None:
            value = make(destination)
            if len(self._values) >= self._most:
                self._values.clear()
            self._values[destination] = value
        return value
