"""Kernels: numbered paths of fat trees."""

from __future__ import annotations

from typing import NamedTuple

from obliv._util.typing import Array
from obliv.kernels import kernel

__all__ = ["NumberedRoutes", "PairWays", "add_flows", "same_ways"]


class PairWays(NamedTuple):
    """The numbers of the ways of every pair, and where the pair begins in a table of channels."""

    first: Array
    way: Array


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
        way = int(number[s // alike, d])
        for h in range(turn - 1, -1, -1):
            totals[1, h, first[h, s] + way] += amount[f]
            totals[0, h, first[h, d] + way] += amount[f]
            way //= parents[h]


@kernel
def same_ways(ways: PairWays, image: PairWays, channel: Array, balance: Array) -> bool:
    """Whether the ways of each pair become those of its image, in any order.

    Way w of pair p is identified by the channel ``channel[0, first[p] + w]``, for images ``channel[1, first[p] + w]``;
    nothing is compared where the first is negative. `balance` holds zeros before and after.
    """
    first, way = ways
    image_first, image_way = image
    same = True
    for p in range(len(first)):
        if first[p] < 0:
            continue
        for j in range(way.shape[1]):
            balance[channel[0, first[p] + way[p, j]]] += 1
            balance[channel[1, image_first[p] + image_way[p, j]]] -= 1
        for j in range(way.shape[1]):
            if balance[channel[0, first[p] + way[p, j]]] != 0:
                same = False
            if balance[channel[1, image_first[p] + image_way[p, j]]] != 0:
                same = False
            if not same:
                return False
    return same
