"""Kernels: numbered paths of fat trees."""

from __future__ import annotations

from typing import NamedTuple

from obliv._util.typing import Array
from obliv.kernels import kernel

__all__ = ["PairWays", "same_ways"]


class PairWays(NamedTuple):
    """The numbers of the ways of every pair, and where the pair begins in a table of channels."""

    first: Array
    way: Array


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
