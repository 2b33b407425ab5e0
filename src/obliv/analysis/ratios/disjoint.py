"""The largest node-disjoint set of pairs on each link of a fat tree, for a routing of single paths.

The link that a path takes at each height follows from its number, so no list of pairs is stored. One pass over the
numbers bounds every link by its sources and its destinations; only links whose bound exceeds the largest set so far
need a matching. Where forwarding goes by switch and destination, the hosts of a leaf count as one row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from obliv._util.cost import require_memory
from obliv._util.progress import Progress, rising, within
from obliv._util.typing import Array
from obliv.analysis.ratios._kernels import Routes, Side, link_bounds, match_link
from obliv.errors import InputError
from obliv.kernels import run
from obliv.loads.base import PairLoads
from obliv.topologies.trees import NumberedPaths, Tree

__all__ = ["Disjoint", "largest_disjoint"]


@dataclass(frozen=True, eq=False)
class Disjoint:
    """The largest node-disjoint set of pairs.

    Parameters
    ----------
    size : int
        The most node-disjoint pairs on any link.
    channel : int
        A channel that has them.
    pairs : list of (source, destination)
        The pairs.
    covers : mapping from channel to bool array, shape (terminals,)
        For channels that the count of sources or destinations does not bound by `size`: destinations which, together
        with as many sources as are missing, cover all pairs.
    by_height : mapping from (height, up) to int
        The most on the links of each height and direction; unless all were asked for, an upper bound of it that is
        no larger than `size`.
    """

    size: int
    channel: int
    pairs: list[tuple[int, int]]
    covers: dict[int, Array]
    by_height: dict[tuple[int, bool], int]


def largest_disjoint(loads: PairLoads, *, every: bool = False, progress: Progress | None = None) -> Disjoint:
    """Return the largest node-disjoint set of pairs on a link, the oblivious ratio (Yuan et al., Lemma 7).

    Parameters
    ----------
    loads : PairLoads
        Of a routing with one numbered path per pair.
    every : bool
        Find the most of each height and direction as well.
    progress : callable, optional
        Called with what is being done and the share that is done.

    Raises
    ------
    InputError
        If the loads are of another kind.
    """
    paths = loads.numbered_paths
    if paths is None:
        raise InputError("sets of disjoint pairs are for one numbered path per pair of a fat tree")
    tree = paths.topology
    hosts = tree.below[-1]
    step = rising(progress)
    routes = Routes(_path_table(paths, within(step, 0.0, 0.5)), paths.alike, np.array(tree.below, np.int64))
    alone = hosts < 2  # otherwise the link of a host carries one disjoint pair
    best, channel, pairs = (0, -1, []) if alone else (1, int(tree.up_channel(0, 0)), [(0, 1)])
    by_height = {(0, up): best for up in (True, False)}
    covers: dict[int, tuple[int, Array]] = {}
    sides = [(height, up) for height in range(tree.levels - 1, 0, -1) for up in (True, False)]
    for at, (height, up) in enumerate(sides):
        most = 0
        outside = min(tree.below[height], hosts - tree.below[height])  # sources below a link, or beyond it
        if outside <= best and not every:
            most = outside
        else:
            side = Side(_ports(tree, height), height, up, tree.width[height + 1])
            bound = _bounds(routes, side, tree)
            work = 5.0 * routes.path.size * len(bound)  # of all links: whether to compile is decided once
            for link in np.argsort(-bound, kind="stable").tolist():
                if bound[link] <= (most if every else max(best, most)):
                    break
                owner, reached = np.empty(hosts, np.int64), np.empty(len(routes.path), np.bool_)
                size = int(run(match_link, work, routes, side, link, int(bound[link]), owner, reached))
                of_link = int((tree.up_channel if up else tree.down_channel)(height, link))
                if size < bound[link]:
                    covers[of_link] = int(bound[link]), _cover(tree, routes, side, link, reached)
                most = max(most, size)
                if size > best:
                    best, channel, pairs = size, of_link, _pairs(owner, paths.alike)
            if not every and not most:
                most = int(bound.max(initial=0))
        by_height[height, up] = most
        step("links", 0.5 + 0.5 * (at + 1) / len(sides))
    needed = {c: cover for c, (bounded, cover) in covers.items() if bounded > best}
    return Disjoint(best, channel, pairs, needed, by_height)


def _path_table(paths: NumberedPaths, report: Progress) -> Array:
    """Return the number of the path from every row of alike hosts to every host, in as few bytes as hold it."""
    tree = paths.topology
    hosts = np.arange(tree.below[-1])
    rows = len(hosts) // paths.alike
    kind: Any = np.min_scalar_type(tree.width[-1] - 1)
    require_memory((kind.itemsize + 1.0) * rows * len(hosts), f"the numbers of all paths of {tree.spec}")
    table = np.empty((rows, len(hosts)), kind)
    step = max(1, (1 << 18) // len(hosts))
    for first in range(0, rows, step):
        row = np.arange(first, min(rows, first + step))
        table[row] = paths.ways(row[:, None] * paths.alike, hosts)[..., 0]
        report("paths", (first + len(row)) / rows)
    return table


def _ports(tree: Tree, height: int) -> Array:
    """Return the port at a height of every path number, by the level where the path turns."""
    ports = np.zeros((tree.levels + 1, tree.width[-1]), np.int32)
    for turn in range(height + 1, tree.levels + 1):
        numbers = np.arange(tree.width[turn])
        ports[turn, : tree.width[turn]] = numbers // (tree.width[turn] // tree.width[height + 1])
    return ports


def _bounds(routes: Routes, side: Side, tree: Tree) -> Array:
    """Bound the disjoint pairs on each link of a side by the sources and the destinations of its pairs."""
    sources, destinations = np.zeros((2, tree.links(side.height)), np.int64)
    run(link_bounds, 5.0 * routes.path.size, routes, side, sources, destinations)
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


def _cover(tree: Tree, routes: Routes, side: Side, link: int, reached: Array) -> Array:
    """Return the destinations of the pairs of the rows that alternating paths reach."""
    row = np.flatnonzero(reached)
    source, host = row[:, None] * routes.alike, np.arange(tree.below[-1])
    links = tree.links_of(source, host, routes.path[row].astype(np.int64), side.height, side.up)
    return np.asarray((links == link).any(axis=0))
