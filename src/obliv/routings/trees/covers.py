"""Which root the hosts of two leaves take, by their places at their leaves: groups of both, or covers."""

from __future__ import annotations

from math import ceil, isqrt

import numpy as np

from obliv._util.typing import Array

__all__ = ["best_grid", "cover_root", "fewest_lids"]


def best_grid(hosts: int, roots: int) -> tuple[int, int]:
    """Return the numbers of groups of sources and of destinations, with at most as many pairs of them as roots.

    Of equals the one with the fewest groups of sources, since a host needs an address for each; but two at least, as
    the paper has them: with one it would be D-mod-k.
    """

    def key(grid: tuple[int, int]) -> tuple[int, int]:
        return max(ceil(hosts / part) for part in grid), grid[0]

    return min(((a, roots // a) for a in range(min(2, roots), roots + 1)), key=key)


def cover_root(source: Array, destination: Array, k: int, lids: int) -> Array:
    """Return the root for places 0 .. k - 1 of source and destination, such that each has few sources and destinations.

    The distance q = (d - s) mod k is lids · t + c with c < lids, and the root is d - c mod k.  So root i has the
    destinations i + c, `lids` of them, from the sources i - lids · t, ⌈k / lids⌉ of them; to a destination each leaf
    uses the `lids` roots d - c.

    Examples
    --------
    >>> place = np.arange(3)
    >>> cover_root(place[:, None], place, 3, 2).tolist()
    [[0, 0, 2], [0, 1, 1], [2, 1, 2]]
    """
    return np.asarray((destination - (destination - source) % k % lids) % k)


def fewest_lids(k: int) -> int:
    """Return the fewest addresses a host with which :func:`cover_root` attains ⌈√k⌉: one below that, or as many.

    Examples
    --------
    >>> [fewest_lids(k) for k in (2, 3, 4, 8, 12, 18)]
    [1, 2, 2, 3, 3, 4]
    """
    return ceil(k / (isqrt(k - 1) + 1))
