"""Node-disjoint sets of pairs, as Yuan et al. define them (section IV), and what links carry under single paths."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from obliv.errors import RoutingError
from obliv.routings.base import Routing
from obliv.routings.checks import checked_paths

__all__ = [
    "destination_set",
    "destinations",
    "is_disjoint",
    "largest_disjoint_subset",
    "largest_star",
    "max_disjoint_size",
    "max_disjoint_sizes",
    "most_through_root",
    "pairs_on_links",
    "source_set",
    "sources",
]

Pair = tuple[int, int]


def is_disjoint(pairs: Iterable[Pair]) -> bool:
    """Return whether no two of different pairs have one source or one destination (Definition 1).

    Examples
    --------
    >>> is_disjoint([(1, 2), (1, 3)]), is_disjoint([(1, 2), (3, 1)])
    (False, True)
    """
    distinct = set(pairs)
    return len({s for s, _ in distinct}) == len(distinct) == len({d for _, d in distinct})


def largest_disjoint_subset(pairs: Iterable[Pair]) -> set[Pair]:
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


def source_set(pairs: Iterable[Pair], node: int) -> set[Pair]:
    """Return the pairs with this source, S_s."""
    return {(s, d) for s, d in pairs if s == node}


def destination_set(pairs: Iterable[Pair], node: int) -> set[Pair]:
    """Return the pairs with this destination, D_d."""
    return {(s, d) for s, d in pairs if d == node}


def sources(pairs: Iterable[Pair]) -> set[int]:
    """Return the nodes that are a source, SRC(A)."""
    return {s for s, _ in pairs}


def destinations(pairs: Iterable[Pair]) -> set[int]:
    """Return the nodes that are a destination, DST(A)."""
    return {d for _, d in pairs}


def largest_star(pairs: Iterable[Pair]) -> int:
    """Return the most pairs with one source or with one destination, LS(A); 0 for an empty set.

    Examples
    --------
    >>> largest_star([(1, 2), (1, 3), (2, 1), (2, 4), (3, 1)])
    2
    """
    distinct = set(pairs)
    counts = [*Counter(s for s, _ in distinct).values(), *Counter(d for _, d in distinct).values()]
    return max(counts, default=0)


def pairs_on_links(routing: Routing) -> dict[int, set[Pair]]:
    """Return the pairs of terminals whose path uses each channel, under a routing of single paths.

    Raises
    ------
    RoutingError
        If a pair has several paths.
    """
    if routing.by_number is not None:  # single paths: a load is that of one path
        loads = routing.pair_loads()
        tables = {c: loads.weights(c).spread() for c in range(routing.topology.channels)}
        return {c: set(zip(i.tolist(), j.tolist(), strict=True)) for c, (i, j, _) in tables.items() if len(i)}
    terminals = routing.topology.terminals.tolist()
    pairs: dict[int, set[Pair]] = defaultdict(set)
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
