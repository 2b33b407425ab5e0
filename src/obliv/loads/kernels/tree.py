"""Kernels: numbered paths of fat trees."""

from __future__ import annotations

from typing import NamedTuple

from obliv._util.typing import Array
from obliv.kernels import kernel

__all__ = ["NumberedRoutes", "PairPaths", "add_flows", "same_paths"]


class PairPaths(NamedTuple):
    """The numbers of the paths of every pair, and where the pair begins in a table of channels."""

    first: Array
    path: Array


class NumberedRoutes(NamedTuple):
    """The path number of every (row of alike hosts, host), and the hosts of a row.

    ``first[height, host]`` is the first link up from the host's sub-tree of each height, and into it; `parents` are
    those of the nodes of each level.
    """

    number: Array
    alike: int
    first: Array
    parents: Array


@kernel
def add_flows(routes: NumberedRoutes, source: Array, destination: Array, amount: Array, totals: Array) -> None:
    """Add the amount of every flow to ``totals[up, height, link]`` of the links of its path."""
    number, alike, first, parents = routes
    levels = len(parents)
    for f in range(len(source)):
        s, d = source[f], destination[f]
        turn = 0
        while turn < levels and first[turn, s] != first[turn, d]:
            turn += 1
        path = int(number[s // alike, d])
        for h in range(turn - 1, -1, -1):
            totals[1, h, first[h, s] + path] += amount[f]
            totals[0, h, first[h, d] + path] += amount[f]
            path //= parents[h]


@kernel
def same_paths(paths: PairPaths, image: PairPaths, channel: Array, balance: Array) -> bool:
    """Whether the paths of each pair become those of its image, in any order.

    Path w of pair p is identified by the channel ``channel[0, first[p] + w]``, for images ``channel[1, first[p] + w]``;
    nothing is compared where the first is negative. `balance` holds zeros before and after.
    """
    first, path = paths
    image_first, image_path = image
    same = True
    for p in range(len(first)):
        if first[p] < 0:
            continue
        for j in range(path.shape[1]):
            balance[channel[0, first[p] + path[p, j]]] += 1
            balance[channel[1, image_first[p] + image_path[p, j]]] -= 1
        for j in range(path.shape[1]):
            if balance[channel[0, first[p] + path[p, j]]] != 0:
                same = False
            if balance[channel[1, image_first[p] + image_path[p, j]]] != 0:
                same = False
            if not same:
                return False
    return same
