"""The largest node-disjoint set of pairs on each link of a fat tree, for a routing of single paths.

Since a path has a number and the link at each height is part of it, no list of pairs is ever made: one pass over the
numbers bounds every link by its sources and its destinations, and a matching is needed only where a bound is larger
than what was found.  Where forwarding goes by switch and destination, the hosts of a leaf count as one row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from obliv._util.memory import require_memory
from obliv._util.progress import Progress, silent, within
from obliv._util.typing import Array
from obliv.analysis.ratios._kernels import Routes, Side, link_bounds, match_link
from obliv.errors import InputError
from obliv.kernels import run
from obliv.loads.tree import TreeLoads
from obliv.topologies.trees import Tree

__all__ = ["Disjoint", "largest_disjoint", "path_table"]


@dataclass(frozen=True, eq=False)
class Disjoint:
    """What was found.

    Parameters
    ----------
    size : int
        The most node-disjoint pairs on any link.
    channel : int
        A channel that has them.
    pairs : list of (source, destination)
        They.
    covers : mapping from channel to bool array, shape (terminals,)
        For channels that the count of sources or destinations does not bound by `size`: destinations which, together
        with as many sources as are missing, cover all pairs.
    by_height : mapping from (height, up) to int
        The most on the links of each height and direction; where not all were asked for, an upper bound of it that is
        no larger than `size`.
    matched : int
        How many links needed a matching.
    """

    size: int
    channel: int
    pairs: list[tuple[int, int]]
    covers: dict[int, Array]
    by_height: dict[tuple[int, bool], int]
    matched: int


def path_table(loads: TreeLoads, progress: Progress | None = None) -> Array:
    """Return the number of the path from every row of alike hosts to every host, in as few bytes as hold it."""
    tree, n = loads.topology, loads.terminals
    rows = n // loads.alike
    kind: Any = np.uint8 if tree.width[-1] <= 2**8 else np.uint16 if tree.width[-1] <= 2**16 else np.uint32
    require_memory((np.dtype(kind).itemsize + 1.0) * rows * n, f"the numbers of all paths of {tree.spec}")
    table = np.empty((rows, n), kind)
    hosts = np.arange(n)
    step = max(1, (1 << 18) // n)
    report = progress or silent
    for first in range(0, rows, step):
        row = np.arange(first, min(rows, first + step))
        table[row] = loads.ways(row[:, None] * loads.alike, hosts)[..., 0]
        report("paths", (first + len(row)) / rows)
    return table


def largest_disjoint(loads: TreeLoads, *, every: bool = False, progress: Progress | None = None) -> Disjoint:
    """Return the largest node-disjoint set of pairs on a link, the oblivious ratio (Yuan et al., Lemma 7).

    Parameters
    ----------
    loads : TreeLoads
        Of a routing with one path per pair.
    every : bool
        Find the most of each height and direction as well.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Returns
    -------
    Disjoint

    Raises
    ------
    InputError
        If pairs have several paths.
    """
    if loads.denominator != 1:
        raise InputError("pairs have several paths: sets of disjoint pairs are for single-path routings")
    tree = loads.topology
    step = progress or silent
    table = path_table(loads, within(step, 0.0, 0.5))
    below = np.array(tree.below, np.int64)
    alone = loads.terminals < 2  # else a host's own link carries its one pair
    best, channel, pairs, matched = (0, -1, [], 0) if alone else (1, int(tree.up_channel(0, 0)), [(0, 1)], 0)
    by_height = {(0, up): best for up in (True, False)}
    covers: dict[int, tuple[int, Array]] = {}
    sides = [(height, up) for height in range(tree.levels - 1, 0, -1) for up in (True, False)]
    for at, (height, up) in enumerate(sides):
        sources = min(tree.below[height], loads.terminals - tree.below[height])  # below a link, or beyond it
        if sources <= best and not every:
            by_height[height, up] = sources
            step("links", 0.5 + 0.5 * (at + 1) / len(sides))
            continue
        link_port = _ports(tree, height)
        bound = _bounds(table, loads.alike, below, link_port, height, up, tree)
        most = 0
        for link in np.argsort(-bound, kind="stable").tolist():
            if bound[link] <= (most if every else max(best, most)):
                break
            owner, reached = np.empty(loads.terminals, np.int64), np.empty(len(table), np.bool_)
            routes, side = Routes(table, loads.alike, below), Side(link_port, height, up, tree.width[height + 1])
            size = int(run(match_link, 1e7, routes, side, link, int(bound[link]), owner, reached))
            matched += 1
            here = int((tree.up_channel if up else tree.down_channel)(height, link))
            if size < bound[link]:
                covers[here] = (int(bound[link]), _cover(loads, height, up, link, link_port, table, reached))
            most = max(most, size)
            if size > best:
                best, channel, pairs = size, here, _pairs(owner, loads.alike)
        by_height[height, up] = max(most, int(bound.max(initial=0)) if not every and most == 0 else 0)
        step("links", 0.5 + 0.5 * (at + 1) / len(sides))
    kept = {c: cover for c, (bounded, cover) in covers.items() if bounded > best}
    return Disjoint(best, channel, pairs, kept, by_height, matched)


def _ports(tree: Tree, height: int) -> Array:
    """Return the port at a height of every path number, by the level where the path turns."""
    ports = np.zeros((tree.levels + 1, tree.width[-1]), np.int32)
    for turn in range(height + 1, tree.levels + 1):
        numbers = np.arange(tree.width[turn])
        ports[turn, : tree.width[turn]] = numbers // (tree.width[turn] // tree.width[height + 1])
    return ports


def _bounds(table: Array, alike: int, below: Array, ports: Array, height: int, up: bool, tree: Tree) -> Array:
    """At most so many disjoint pairs are on each link: no more than sources, and than destinations."""
    sources, destinations = np.zeros(tree.links(height), np.int64), np.zeros(tree.links(height), np.int64)
    width = tree.width[height + 1]
    routes, side = Routes(table, alike, below), Side(ports, height, up, width)
    run(link_bounds, 5.0 * table.size, routes, side, sources, destinations)
    return np.minimum(sources, destinations)


def _pairs(owner: Array, alike: int) -> list[tuple[int, int]]:
    """Return the pairs of a matching; the hosts of a row take turns."""
    pairs = []
    sent: dict[int, int] = {}
    for d in np.flatnonzero(owner >= 0).tolist():
        r = int(owner[d])
        pairs.append((r * alike + sent.get(r, 0), d))
        sent[r] = sent.get(r, 0) + 1
    return pairs


def _cover(loads: TreeLoads, height: int, up: bool, link: int, ports: Array, table: Array, reached: Array) -> Array:
    """Return the destinations of the pairs of the rows that alternating paths reach."""
    n = loads.terminals
    row = np.flatnonzero(reached)
    source, host = row[:, None] * loads.alike, np.arange(n)
    on_it = loads.links_of(source, host, table[row].astype(np.int64), height, up) == link
    return np.asarray(on_it.any(axis=0))
