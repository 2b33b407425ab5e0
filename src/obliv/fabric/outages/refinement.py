"""A search for maps of a network of tables onto itself, by colors of nodes that are refined until all differ.

What it returns is only a guess: two nodes whose colors agree by chance, or a choice that leads nowhere, give a map that
is none, or no map at all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from obliv._util.typing import Array

__all__ = ["Net", "colors_of", "guess"]

_ODD = np.uint64(0x9E3779B97F4A7C15)


class Net(NamedTuple):
    """A network with its tables.

    Parameters
    ----------
    onward : int array, shape (switches, terminals)
        The node to which each switch forwards packets for each terminal; the number of nodes for none.
    switches, terminals : int arrays
        The nodes.
    tail, head : int arrays, shape (channels,)
    """

    onward: Array
    switches: Array
    terminals: Array
    tail: Array
    head: Array


def colors_of(start: Array, net: Net) -> Array:
    """Return a color for every node that does not depend on numbers, refined until no more colors come up.

    Parameters
    ----------
    start : uint64 array, shape (nodes,)
        Colors to begin with.
    net : Net
    """
    colors, count = start, 0
    while (now := len(np.unique(colors))) > count:
        colors, count = _refined(colors, net), now
    return colors


def guess(here: list[int], there: list[int], start: Array, net: Net) -> Array | None:
    """Return a map of nodes that may carry some nodes onto others and all else onto itself; None if none was found.

    Parameters
    ----------
    here, there : list of int
        Nodes, and their images.
    start : uint64 array, shape (nodes,)
        Colors to begin with.
    net : Net
    """
    one, two = start.copy(), start.copy()
    for mark, (a, b) in enumerate(zip(here, there, strict=True), 1):
        one[[a]], two[[b]] = _mixed(one[[a]] + np.uint64(mark)), _mixed(two[[b]] + np.uint64(mark))
    for _ in range(len(start)):
        one, two = (colors_of(colors, net) for colors in (one, two))
        order, image = np.argsort(one, kind="stable"), np.argsort(two, kind="stable")
        if not np.array_equal(one[order], two[image]):
            return None
        same = np.flatnonzero(one[order][1:] == one[order][:-1])
        if not len(same):
            found = np.empty(len(start), np.int64)
            found[order] = image
            return found
        a = int(order[same[0]])
        b = a if two[a] == one[a] else int(image[same[0]])  # what can stay does
        one[[a]], two[[b]] = _mixed(one[[a]] + _ODD), _mixed(two[[b]] + _ODD)
    return None


def _refined(colors: Array, net: Net) -> Array:
    """Return colors that also count the colors of neighbors, and from where to where packets are forwarded."""
    onward, switches, terminals, tail, head = net
    next_color = np.append(_mixed(colors), _ODD)[onward]
    rows = _mixed(next_color + colors[terminals][None, :] * np.uint64(3)).sum(axis=1)
    columns = _mixed(next_color + colors[switches][:, None] * np.uint64(5)).sum(axis=0)
    beside = np.zeros(len(colors), np.uint64)
    np.add.at(beside, tail, _mixed(colors[head] * np.uint64(7)))
    total = colors + np.uint64(13) * beside
    total[switches] += np.uint64(11) * rows
    total[terminals] += np.uint64(17) * columns
    return _mixed(total)


def _mixed(values: Array) -> Array:
    """Return 64-bit numbers scattered by a bijection (the finalizer of splitmix64)."""
    with np.errstate(over="ignore"):
        values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(values ^ (values >> np.uint64(31)))
