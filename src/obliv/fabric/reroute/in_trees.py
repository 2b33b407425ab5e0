"""A lower bound of the worst load of tables on any fabric: the routes to a host form a tree."""

from __future__ import annotations

from math import gcd

import numpy as np

from obliv._util.typing import Array

__all__ = ["in_tree_bound"]

_STEPS, _SWITCHES = 100_000, 40  # of the search for fewer heavy channels, and of the largest fabric with one


def in_tree_bound(tail: Array, head: Array, hosts: Array) -> int:
    """Return a load that the tables of any fabric attain for some permutation, if hosts have one LID each.

    Parameters
    ----------
    tail, head : int arrays
        The switches at both ends of each channel between switches.
    hosts : int array
        The number of hosts at each switch.

    Notes
    -----
    Call a channel heavy for a destination if more than c hosts reach the destination over it. If on average more than
    D - 1 destinations are heavy on a channel, then D are on some channel, and min(c + 1, D) of the hosts send over it
    to different ones of these destinations. At least this many channels are heavy: the switches that heavy channels
    leave, and that of the destination, form a connected set S, since channels of the tree only become heavier. The
    other switches hang off S in sub-trees of at most c hosts, each at another neighbor of S. A switch with h hosts and
    d neighbors brings S at most d - 2 more such neighbors, so a set that is large enough has at least some size; on
    small fabrics a search finds out whether a set of that size exists.

    Examples
    --------
    >>> import obliv
    >>> torus = obliv.topology("torus:4x4x4")
    >>> in_tree_bound(torus.tail, torus.head, np.ones(64, int))
    2
    """
    count, total = len(hosts), int(hosts.sum())
    unit = gcd(*hosts.tolist()) if total else 0
    if not unit or not len(tail):
        return 0
    near = [0] * count
    for a, b in set(zip(tail.tolist(), head.tolist(), strict=True)):
        near[a] |= 1 << b
    degree = np.array([mask.bit_count() for mask in near])
    best, light, steps = 0, 0, [_STEPS if count <= _SWITCHES else 0]
    while light < total:
        most = light + unit
        gains = hosts + light * (degree - 2)
        fewest = _fewest(total - hosts - light * degree, gains)
        if best < most:
            heavy, needed = int((hosts * fewest).sum()), len(tail) * (most - 1) + 1  # more is of no use
            for switch in np.flatnonzero(hosts).tolist():
                size = int(fewest[switch])
                while steps[0] and heavy < needed and not _exists(switch, size, light, near, hosts, gains, steps):
                    size += 1
                    heavy += int(hosts[switch])
            best = max(best, min(most, -(-heavy // len(tail))))
        if light and not fewest.any():
            break
        light += unit
    return best


def _fewest(lacking: Array, gains: Array) -> Array:
    """Return for every destination's switch how many of the largest gains add up to what is lacking."""
    sums = np.concatenate([[0], np.cumsum(np.sort(gains[gains > 0])[::-1])])
    return np.minimum(np.searchsorted(sums, lacking), len(sums) - 1)


def _exists(switch: int, size: int, light: int, near: list[int], hosts: Array, gains: Array, steps: list[int]) -> bool:
    """Return whether a connected set of a switch and so many others has enough neighbors; True if out of steps."""
    gain, number = int(gains.max()), hosts.tolist()
    total = sum(number)

    def extended(inside: int, around: int, held: int, choices: int, banned: int, left: int) -> bool:
        steps[0] -= 1
        lacking = total - held - light * (around & ~inside).bit_count()
        if lacking <= 0 or steps[0] <= 0:
            return True
        if lacking > left * gain:
            return False
        while choices:
            first = choices & -choices
            choices ^= first
            banned |= first
            v = first.bit_length() - 1
            onward = choices | (near[v] & ~banned & ~inside)
            if extended(inside | first, around | near[v], held + number[v], onward, banned, left - 1):
                return True
        return False

    start = 1 << switch
    found = extended(start, near[switch], number[switch], near[switch], start, size)
    steps[0] = max(steps[0], 0)
    return found
