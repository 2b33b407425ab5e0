"""Node-disjoint sets of pairs (Yuan et al., Lemmas 1 to 9): the largest one on each link of a fat tree.

The link that a path takes at each height follows from its number, so no list of pairs is stored. One pass over the
numbers bounds every link by its sources and its destinations; only links whose bound exceeds the largest set so far
need a matching. Where forwarding goes by switch and destination, the hosts of a leaf count as one row.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from obliv._util.arrays import Array
from obliv._util.progress import Progress, require_memory, rising, within
from obliv.errors import InputError, RoutingError
from obliv.kernels import run
from obliv.loads.base import PairLoads
from obliv.questions.kernels.disjoint import RowRoutes, Side, link_bounds, match_link
from obliv.routings.base import Routing
from obliv.routings.paths import checked_paths
from obliv.routings.trees import single_path, way_channels
from obliv.topologies.base import find
from obliv.topologies.trees import NumberedPaths, Tree


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
    """Return the largest node-disjoint set of pairs on a link, the oblivious ratio (Yuan et al., Lemma 7)."""
    paths = find(loads, NumberedPaths)
    if paths is None:
        raise InputError("sets of disjoint pairs are for one numbered path per pair of a fat tree")
    tree = paths.topology
    hosts = tree.below[-1]
    step = rising(progress)
    routes = RowRoutes(_path_table(paths, within(step, 0.0, 0.5)), paths.alike, np.array(tree.below, np.int64))
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


def _bounds(routes: RowRoutes, side: Side, tree: Tree) -> Array:
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


def _cover(tree: Tree, routes: RowRoutes, side: Side, link: int, reached: Array) -> Array:
    """Return the destinations of the pairs of the rows that alternating paths reach."""
    row = np.flatnonzero(reached)
    source, host = row[:, None] * routes.alike, np.arange(tree.below[-1])
    links = tree.links_of(source, host, routes.path[row].astype(np.int64), side.height, side.up)
    return np.asarray((links == link).any(axis=0))


# Node-disjoint sets of pairs, as Yuan et al. define them (section IV), and what links carry under single paths


HostPair = tuple[int, int]


def is_disjoint(pairs: Iterable[HostPair]) -> bool:
    """Return whether no two of different pairs have one source or one destination (Definition 1).

    Examples
    --------
    >>> is_disjoint([(1, 2), (1, 3)]), is_disjoint([(1, 2), (3, 1)])
    (False, True)
    """
    distinct = set(pairs)
    return len({s for s, _ in distinct}) == len(distinct) == len({d for _, d in distinct})


def largest_disjoint_subset(pairs: Iterable[HostPair]) -> set[HostPair]:
    """Return a largest node-disjoint subset of a set of pairs; its size is L(A) (Definition 3).

    Examples
    --------
    >>> len(largest_disjoint_subset([(1, 2), (1, 3), (2, 1), (2, 4), (3, 1)]))
    3
    """
    to: dict[int, list[int]] = defaultdict(list)
    for s, d in set(pairs):
        to[s].append(d)
    taker: dict[int, int] = {}
    for root in to:
        _augment(root, to, taker)
    return {(s, d) for d, s in taker.items()}


def _augment(root: int, to: dict[int, list[int]], taker: dict[int, int]) -> None:
    """Give a source a destination, moving others on where that is needed."""
    came: dict[int, tuple[int, int] | None] = {root: None}  # source -> who asks for which of its destinations
    queue = [root]
    for s in queue:
        for d in to[s]:
            other = taker.get(d)
            if other is None:
                step: tuple[int, int] | None = (s, d)
                while step is not None:
                    who, what = step
                    taker[what] = who
                    step = came[who]
                return
            if other not in came:
                came[other] = (s, d)
                queue.append(other)


def source_set(pairs: Iterable[HostPair], node: int) -> set[HostPair]:
    """Return the pairs with this source, S_s."""
    return {(s, d) for s, d in pairs if s == node}


def destination_set(pairs: Iterable[HostPair], node: int) -> set[HostPair]:
    """Return the pairs with this destination, D_d."""
    return {(s, d) for s, d in pairs if d == node}


def sources(pairs: Iterable[HostPair]) -> set[int]:
    """Return the nodes that are a source, SRC(A)."""
    return {s for s, _ in pairs}


def destinations(pairs: Iterable[HostPair]) -> set[int]:
    """Return the nodes that are a destination, DST(A)."""
    return {d for _, d in pairs}


def largest_star(pairs: Iterable[HostPair]) -> int:
    """Return the most pairs with one source or with one destination, LS(A); 0 for an empty set.

    Examples
    --------
    >>> largest_star([(1, 2), (1, 3), (2, 1), (2, 4), (3, 1)])
    2
    """
    distinct = set(pairs)
    counts = [*Counter(s for s, _ in distinct).values(), *Counter(d for _, d in distinct).values()]
    return max(counts, default=0)


def pairs_on_links(routing: Routing) -> dict[int, set[HostPair]]:
    """Return the pairs of terminals whose path uses each channel, under a routing of single paths."""
    if single_path(routing) is not None:  # single paths: a load is that of one path
        loads = routing.pair_loads()
        tables = {c: loads.weights(c).spread() for c in range(routing.topology.channels)}
        return {c: set(zip(i.tolist(), j.tolist(), strict=True)) for c, (i, j, _) in tables.items() if len(i)}
    terminals = routing.topology.terminals.tolist()
    pairs: dict[int, set[HostPair]] = defaultdict(set)
    for i, s in enumerate(terminals):
        for j, d in enumerate(terminals):
            paths = [(channels, chance) for channels, chance in checked_paths(routing, s, d) if chance]
            if len(paths) > 1 or (paths and paths[0][1] != 1):
                raise RoutingError(f"{routing.spec}: a pair has several paths; disjoint sets are for single paths")
            for channels, _ in paths:
                for c in channels:
                    pairs[c].add((i, j))
    return dict(pairs)


def max_disjoint_sizes(routing: Routing) -> dict[int, int]:
    """Return the maximum disjoint size of every link, mds(r, l): L of the pairs that are routed on it."""
    return {c: len(largest_disjoint_subset(pairs)) for c, pairs in pairs_on_links(routing).items()}


def max_disjoint_size(routing: Routing) -> int:
    """Return the maximum disjoint size of a routing, mds(r), the largest over all links."""
    return max(max_disjoint_sizes(routing).values(), default=0)


def most_through_root(m: int, k: int, x: int) -> int:
    """Return an upper bound of T(X): the pairs that the root of SEFT2(m, k) carries if no disjoint size exceeds `x`.

    k(k - 1) X² for X ≥ m/k (Lemma 8); below, less than that of m/k, since T grows. Never more than all pairs that
    have to pass the root, k(k - 1)(m/2)².

    Examples
    --------
    >>> most_through_root(8, 8, 2), most_through_root(8, 8, 4)
    (224, 896)
    """
    all_pairs = k * (k - 1) * (m // 2) ** 2
    least = max(x, -(-m // k))
    return min(all_pairs, k * (k - 1) * least**2)


# Lemmas 1 to 9 of Yuan et al. (section IV and Lemma 9 of section V), each as the number or the routes that it gives.
#
# A is a set of (source, destination) pairs, L(A) the size of its largest node-disjoint subset (see above).


Pair = tuple[int, int]


def lemma1(pairs: Iterable[Pair]) -> int:
    """Return the smaller number of SRC(A) and DST(A), which is at least L(A).

    Examples
    --------
    >>> lemma1([(1, 2), (1, 3), (2, 1), (2, 4), (3, 1)])
    3
    """
    distinct = set(pairs)
    return min(len(sources(distinct)), len(destinations(distinct)))


def lemma2(one: Iterable[Pair], two: Iterable[Pair]) -> int:
    """Return L(A) + L(B), which is at least L(A ∪ B).

    Examples
    --------
    >>> lemma2([(1, 2), (1, 3)], [(2, 1), (3, 1)])
    2
    """
    return _size(set(one)) + _size(set(two))


def lemma3(pairs: Iterable[Pair], source: int) -> int:
    """Return L(A) - 1, which is L of A without the pairs of a source that has more than L(A) of them.

    Examples
    --------
    >>> lemma3([(1, 2), (1, 3), (1, 4), (2, 2)], 1)
    1
    """
    distinct = set(pairs)
    return _without_one(distinct, source_set(distinct, source), f"source {source}")


def lemma3a(pairs: Iterable[Pair], destination: int) -> int:
    """Return L(A) - 1, which is L of A without the pairs of a destination that has more than L(A) of them.

    Examples
    --------
    >>> lemma3a([(2, 1), (3, 1), (4, 1), (2, 2)], 1)
    1
    """
    distinct = set(pairs)
    return _without_one(distinct, destination_set(distinct, destination), f"destination {destination}")


def _without_one(pairs: set[Pair], star: set[Pair], name: str) -> int:
    size = _size(pairs)
    if len(star) <= size:
        raise InputError(f"{name} has {len(star)} pairs; the lemma is for more than L(A) = {size}")
    return size - 1


def lemma4(pairs: Iterable[Pair]) -> tuple[set[Pair], int]:
    """Return A without the k sources and l destinations that have more than L(A) pairs, and L(A) - k - l, its L.

    Examples
    --------
    >>> lemma4([(1, 2), (1, 3), (1, 4), (2, 2)])
    ({(2, 2)}, 1)
    """
    distinct = set(pairs)
    size = _size(distinct)
    heavy_sources = {s for s in sources(distinct) if len(source_set(distinct, s)) > size}
    heavy_destinations = {d for d in destinations(distinct) if len(destination_set(distinct, d)) > size}
    rest = {(s, d) for s, d in distinct if s not in heavy_sources and d not in heavy_destinations}
    return rest, size - len(heavy_sources) - len(heavy_destinations)


def lemma5(pairs: Iterable[Pair]) -> int:
    """Return L(A) LS(A), which is at least the number of pairs in A.

    Examples
    --------
    >>> lemma5([(1, 2), (1, 3), (2, 1), (2, 4), (3, 1)])
    6
    """
    distinct = set(pairs)
    return _size(distinct) * largest_star(distinct)


def lemma6(tree: Tree, pairs: Iterable[Pair]) -> dict[Pair, tuple[int, ...]]:
    """Return link-disjoint paths of node-disjoint pairs on EFT2(m, k), each by a root of its own.

    Examples
    --------
    >>> import obliv
    >>> tree = obliv.eft2(8, 6)
    >>> paths = lemma6(tree, [(0, 4), (1, 8), (2, 3), (3, 12)])
    >>> channels = [c for path in paths.values() for c in path]
    >>> len(channels) == len(set(channels))
    True
    """
    distinct = list(dict.fromkeys(pairs))
    if tree.levels != 2 or tree.parents[0] != 1:
        raise InputError(f"{tree.spec}: Lemma 6 is for two levels of switches whose hosts have one link, as in eft2")
    roots, hosts = tree.width[2], tree.below[-1]
    if not is_disjoint(distinct):
        raise InputError("two pairs have the same source or the same destination; the pairs must be node-disjoint")
    if len(distinct) > roots:
        raise InputError(f"{len(distinct)} pairs on {tree.spec}: it has {roots} roots, one for each pair")
    for host in (host for pair in distinct for host in pair):
        if not 0 <= host < hosts:
            raise InputError(f"{tree.spec} has no host {host}; hosts are 0 to {hosts - 1}")
    paths = {}
    for root, (s, d) in enumerate(distinct):
        turn = tree.turn(s, d)
        paths[s, d] = way_channels(tree, s, d, turn, root if turn == 2 else 0)
    return paths


def lemma7(routing: Routing) -> int:
    """Return a lower bound on PERF(r) of single paths on EFT2(m, k): the largest disjoint size of a link, up to m/2.

    Examples
    --------
    >>> import obliv
    >>> routing = obliv.routing("dmodk", obliv.eft2(8, 6))
    >>> lemma7(routing), obliv.ratio(routing).ratio
    (4, Fraction(4, 1))
    """
    tree = routing.topology
    if not isinstance(tree, Tree) or tree.levels != 2:
        raise InputError(f"{tree.spec}: Lemma 7 is for two levels of switches, as in eft2")
    return min(max_disjoint_size(routing), tree.width[2])


def lemma8(m: int, k: int, x: int) -> int:
    """Return k(k - 1) X²: on SEFT2(m, k) the root carries no more pairs if no disjoint size of a link exceeds X.

    Examples
    --------
    >>> lemma8(4, 4, 1), lemma8(8, 8, 2)
    (12, 224)
    """
    if x * k < m:
        raise InputError(f"X = {x} is below m/k = {m}/{k}; Lemma 8 is for X from m/k on")
    return k * (k - 1) * x * x


def lemma9(routing: Routing) -> int:
    """Return an upper bound on PERF(r) of single paths on FT(m, n): the largest min(sources, destinations) of a link.

    Examples
    --------
    >>> import obliv
    >>> lemma9(obliv.OSRM3(obliv.fattree(4, 3))), lemma9(obliv.DModK(obliv.fattree(4, 3)))
    (2, 3)
    """
    return max((lemma1(pairs) for pairs in pairs_on_links(routing).values()), default=0)


def _size(pairs: set[Pair]) -> int:
    return len(largest_disjoint_subset(pairs))
