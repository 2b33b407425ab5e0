"""Rings, lines, meshes, tori and HyperX recognized in the links of a network, dimension by dimension, or with gaps.

Two links that face each other in a square of four are parallel.  In a product of lines, rings and complete graphs the
parallel links join two adjacent slices; those that cross in some square run along different dimensions.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod

import numpy as np

from obliv._util.arrays import Array
from obliv.topologies.cartesian import Cartesian
from obliv.topologies.families.grids import hyperx, mesh, ring, torus

# A dimension of a grid: its slices in their order, and the slice of every node


Pair = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Slices:
    """A line, ring or clique of `radix` slices.

    ``at`` is the slice of every node, -1 for nodes without one; ``first_step`` is the least node one slice from the
    first node.
    """

    kind: str
    radix: int
    at: Array
    first_step: int


def slices_of(nodes: int, across: Sequence[Pair], along: Sequence[Pair]) -> Slices | None:
    """Return the slices that links `across` connect and links `along` join; None unless they form a line or ring."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    ends = np.array(across, np.int64).reshape(-1, 2)
    joined = coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(nodes, nodes))
    _, part = connected_components(joined.tocsr(), directed=False)
    size = np.bincount(part)
    whole = size > 0.5 * size.max()  # the others have lost links
    near: dict[int, Counter[int]] = {int(k): Counter() for k in np.flatnonzero(whole)}
    for a, b in along:
        one, two = int(part[a]), int(part[b])
        if one == two:
            return None
        if whole[one] and whole[two]:
            near[one][two] += 1
            near[two][one] += 1
    first = {k: int(np.flatnonzero(part == k)[0]) for k in near}
    ordered = _ordered(near, first)
    if ordered is None:
        return None
    kind, order = ordered
    at = np.full(len(size), -1)
    at[order] = np.arange(len(order))
    start = min(first.values())
    steps = [b if a == start else a for a, b in along if start in (a, b)]
    return Slices(kind, len(order), at[part], min(steps, default=nodes))


def _ordered(near: dict[int, Counter[int]], first: dict[int, int]) -> tuple[str, list[int]] | None:
    """Return the kind of dimension and the order of its slices, from the least node towards its lesser neighbor."""
    degrees = sorted(map(len, near.values()))
    m = len(near)
    if m < 2 or degrees[0] < 1:
        return None
    if m > 3 and degrees[0] == m - 1:
        return "clique", sorted(near, key=first.__getitem__)
    ends = [k for k, others in near.items() if len(others) == 1]
    if degrees[-1] > 2 or len(ends) not in (0, 2):
        return None
    order = [min(ends or near, key=first.__getitem__)]
    while len(order) < m:
        on = [k for k in near[order[-1]] if k not in order]
        if not on:
            return None
        order.append(min(on, key=first.__getitem__))
    return ("line" if ends else "ring"), order


NODES, DEGREE = 2000, 40  #: limits of nodes and of links per node, since finding squares takes time
SHARE = 0.75  #: least share of the grid's places that are taken, and of the links that run along it


@dataclass(frozen=True)
class Grid:
    """A grid, and the number in it of every node, -1 for nodes without a place."""

    shape: Cartesian
    number: Array


def grid_of(nodes: int, pairs: Array) -> Grid | None:
    """Return the grid of two dimensions or more that a network forms, or nearly forms; None for other networks."""
    links = sorted({(min(a, b), max(a, b)) for a, b in pairs.tolist() if a != b})
    beside: list[set[int]] = [set() for _ in range(nodes)]
    for a, b in links:
        beside[a].add(b)
        beside[b].add(a)
    if not 4 <= nodes <= NODES or max(map(len, beside)) > DEGREE:
        return None
    families, crossings = _parallel(links, beside)
    dimensions = _dimensions(families, crossings)
    if len(dimensions) < 2:
        return None
    parts = []
    for own in dimensions:
        across = [link for other in dimensions if other is not own for family in other for link in families[family]]
        along = [link for family in own for link in families[family]]
        slices = slices_of(nodes, across, along)
        if slices is None:
            return None
        parts.append(slices)
    return _checked(_paired(sorted(parts, key=lambda part: part.first_step)), beside)


def _parallel(links: Sequence[Pair], beside: Sequence[set[int]]) -> tuple[dict[int, list[Pair]], set[Pair]]:
    """Return families of parallel links, and which of them cross."""
    number = {link: k for k, link in enumerate(links)}
    root = list(range(len(links)))

    def link(a: int, b: int) -> int:
        return number[min(a, b), max(a, b)]

    def top(k: int) -> int:
        while root[k] != k:
            root[k] = k = root[root[k]]
        return k

    crossed = []
    for v, near in enumerate(beside):
        for u, w in combinations(sorted(near), 2):
            if w in beside[u]:
                continue
            corners = beside[u] & beside[w] - {v}
            if len(corners) != 1 or corners & near:  # in a product, two nodes at opposite corners share one square
                continue
            (z,) = corners
            root[top(link(v, u))] = top(link(w, z))
            root[top(link(v, w))] = top(link(u, z))
            crossed.append((link(v, u), link(v, w)))
    families: dict[int, list[Pair]] = {}
    for k, pair in enumerate(links):
        families.setdefault(top(k), []).append(pair)
    families = {k: parallel for k, parallel in families.items() if len(parallel) > 1}
    return families, {(top(a), top(b)) for a, b in crossed} | {(top(b), top(a)) for a, b in crossed}


def _dimensions(families: dict[int, list[Pair]], crossings: set[Pair]) -> list[list[int]]:
    """Return families by dimension; a family joins those that it crosses least, since missing links hide crossings."""
    dimensions: list[list[int]] = []
    for family in sorted(families, key=lambda k: (-len(families[k]), families[k][0])):
        if (family, family) in crossings:
            return []
        shares = [sum((family, other) in crossings for other in group) / len(group) for group in dimensions]
        if shares and min(shares) < 0.5:
            dimensions[int(np.argmin(shares))].append(family)
        else:
            dimensions.append([family])
    return dimensions


def _paired(parts: list[Slices]) -> list[Slices]:
    """Join two dimensions of radix 2 to a ring of 4, which is easier to read, if there are more than two."""
    twos = [part for part in parts if part.radix == 2]
    if len(parts) < 3:
        return parts
    for one, two in zip(twos[::2], twos[1::2], strict=False):
        both = np.where((one.at < 0) | (two.at < 0), -1, 2 * two.at + (one.at ^ two.at))
        parts[parts.index(one)] = Slices("ring", 4, both, one.first_step)
        parts.remove(two)
    return parts


def _checked(parts: Sequence[Slices], beside: Sequence[set[int]]) -> Grid | None:
    """Return the grid with these dimensions if most places are taken, once each, and most links run along it."""
    at = np.column_stack([part.at for part in parts])
    radices = [part.radix for part in parts]
    placed = (at >= 0).all(axis=1)
    number = np.where(placed, at @ np.cumprod([1, *radices[:-1]]), -1)
    places = int(np.prod(radices))
    occupied = number[placed]
    if len(np.unique(occupied)) < len(occupied) or len(occupied) < SHARE * max(places, len(beside)):
        return None
    kinds = {part.kind for part in parts if part.radix > 2}
    if "clique" in kinds and any(part.kind != "clique" and part.radix > 3 for part in parts):
        return None  # a ring of three is a clique, too
    shape = (hyperx if "clique" in kinds else torus if "ring" in kinds else mesh)(*radices)
    _fill(shape, number, beside)
    known = set(zip(shape.tail.tolist(), shape.head.tolist(), strict=True))
    links = [(int(number[v]), int(number[u])) for v, near in enumerate(beside) for u in near]
    return Grid(shape, number) if sum(link in known for link in links) >= SHARE * len(links) else None


def _fill(shape: Cartesian, number: Array, beside: Sequence[set[int]]) -> None:
    """Place nodes that lost too many links for squares on the free place next to most of their neighbors."""
    occupied = set(number.tolist())
    for node in np.flatnonzero(number < 0).tolist():
        votes: Counter[int] = Counter()
        for at in (int(number[near]) for near in beside[node] if number[near] >= 0):
            votes.update(shape.head[slice(*shape.first_channel[at : at + 2].tolist())].tolist())
        free = [place for place, _ in votes.most_common() if place not in occupied]
        if free:
            number[node] = free[0]
            occupied.add(free[0])


# Rings and lines recognized in the links of a network


def ring_of(nodes: int, pairs: Array) -> Grid | None:
    """Return the ring or line that a network forms; None for other networks.

    Examples
    --------
    >>> import numpy as np
    >>> ring_of(3, np.array([(2, 0), (0, 1)])).number
    array([1, 0, 2])
    """
    beside: list[set[int]] = [set() for _ in range(nodes)]
    for a, b in pairs.tolist():
        if a != b:
            beside[a].add(b)
            beside[b].add(a)
    ends = [v for v, near in enumerate(beside) if len(near) == 1]
    if nodes < 2 or any(not 1 <= len(near) <= 2 for near in beside) or len(ends) not in (0, 2):
        return None
    order = [ends[0] if ends else 0]
    while following := beside[order[-1]].difference(order[-2:]):
        if (after := min(following)) == order[0]:
            break
        order.append(after)
    if len(order) < nodes:
        return None
    number = np.empty(nodes, np.int64)
    number[order] = np.arange(nodes)
    return Grid(mesh(nodes) if ends else ring(nodes), number)


# Places for the nodes of a network in a larger one, such that its links join adjacent places


class Steps:
    """A limit of the places that are tried."""

    def __init__(self, left: int) -> None:
        self.left = left

    def take(self) -> bool:
        """Take a step; whether there was one left."""
        self.left -= 1
        return self.left >= 0


def placing_order(beside: Sequence[set[int]]) -> list[int]:
    """Return all nodes of a connected network, each next to as many earlier ones as possible; others are left out."""
    first = max(range(len(beside)), key=lambda v: (len(beside[v]), sum(len(beside[u]) for u in beside[v])))
    earlier, found = [0] * len(beside), {first: 0}
    order: list[int] = []
    queue, placed = [(0, 0, first)], [False] * len(beside)
    while queue:
        _, _, v = heapq.heappop(queue)
        if placed[v]:
            continue
        placed[v] = True
        order.append(v)
        for u in sorted(beside[v]):
            if not placed[u]:
                earlier[u] += 1
                heapq.heappush(queue, (-earlier[u], found.setdefault(u, len(found)), u))
    return order


class _Placement:
    """Places of the first nodes in an order, and what they leave to the others."""

    def __init__(
        self,
        beside: Sequence[set[int]],
        order: Sequence[int],
        near: Sequence[frozenset[int]],
        start: int,
        missing: int,
    ) -> None:
        rank = {v: k for k, v in enumerate(order)}
        self.beside, self.order, self.near, self.start, self.missing = beside, order, near, start, missing
        self.back = [[u for u in beside[v] if rank[u] < k] for k, v in enumerate(order)]
        self.place, self.holder = [-1] * len(beside), dict[int, int]()
        self.taken: list[int] = []  # places in the order of the nodes
        self.open_links = [len(others) for others in beside]  # of every node, to nodes without a place
        self.lacks = [0]

    def choices(self) -> list[tuple[int, int]]:
        """Return the places of the next node and the links that each lacks, those that lack most first."""
        near, holder = self.near, self.holder
        v, others = self.order[len(self.taken)], self.back[len(self.taken)]
        if not others:
            return [(0, self.start)]
        found = []
        for p in near[self.place[others[0]]].intersection(*(near[self.place[u]] for u in others[1:])):
            if p in holder:
                continue
            lack = sum(q in holder for q in near[p]) - len(others)
            free = len(near[p]) - len(others) - lack
            if self.lacks[-1] + lack <= self.missing and len(self.beside[v]) - len(others) <= free:
                found.append((lack, p))
        return sorted(found, reverse=True)

    def take(self, lack: int, p: int) -> bool:
        """Give a place to the next node; whether its neighbors keep enough free places for their other links."""
        v = self.order[len(self.taken)]
        self.place[v], self.holder[p] = p, v
        self.taken.append(p)
        self.lacks.append(self.lacks[-1] + lack)
        for u in self.beside[v]:
            self.open_links[u] -= 1
        for q in self.near[p]:
            other = self.holder.get(q)
            if other in (None, v):
                continue
            if self.open_links[other] > sum(r not in self.holder for r in self.near[q]):
                return False
        return True

    def take_back(self) -> None:
        """Take the place of the latest node from it."""
        self.lacks.pop()
        v = self.holder.pop(self.taken.pop())
        self.place[v] = -1
        for u in self.beside[v]:
            self.open_links[u] += 1


def embedding(
    beside: Sequence[set[int]],
    order: Sequence[int],
    near: Sequence[frozenset[int]],
    start: int,
    missing: int,
    fits: Callable[[list[int]], bool],
    steps: Steps,
) -> list[int] | None:
    """Return a different place for every node, adjacent for adjacent nodes; None if no such places were found.

    Nodes are placed in the given order; where no place is left, the latest choice is taken back.
    """
    placement = _Placement(beside, order, near, start, missing)
    stack = [placement.choices()]
    while stack:
        if len(placement.taken) == len(stack):  # the choice made here led nowhere
            placement.take_back()
        if not stack[-1]:
            stack.pop()
            continue
        if not steps.take():
            return None
        if placement.take(*stack[-1].pop()) and fits(placement.taken):
            if len(placement.taken) == len(order):
                return placement.place
            stack.append(placement.choices())
    return None


# The grid that a network is, or was before some of its nodes and links failed


_STEPS, _STEPS_A_NODE = 200_000, 20  # places tried for all shapes, and for one shape per node
_DIMENSIONS = 4
_PRESENT = 0.65  # least share of the grid's links that are present
_SQUARES = 0.1  # least number of squares for each node; a grid has at least half a square for each


def nearest_grid(nodes: int, pairs: Array) -> Grid | None:
    """Return the grid, ring or line that a network forms, or nearly forms; None for other networks.

    Squares of links show most grids at once. Where they leave nodes without a place, a search tries to place the whole
    network in the smallest grids that have enough links.

    Examples
    --------
    >>> import obliv
    >>> damaged = obliv.topology("damaged:mesh:4x4,(1,2),(0,0)-(1,0)")
    >>> nearest_grid(damaged.nodes, np.stack([damaged.tail, damaged.head], axis=1)).shape.spec
    'mesh:4x4'
    """
    grid = grid_of(nodes, pairs)
    if grid is not None and (grid.number >= 0).all():
        return grid
    return ring_of(nodes, pairs) or _embedded(nodes, pairs) or grid


@dataclass(frozen=True)
class _Kind:
    """A kind of grid, and the links of a line of some radix in it."""

    build: Callable[..., Cartesian]
    links: Callable[[int], int]
    degree: Callable[[int], int]
    least: int  # of the largest radix, so that no grid is of two kinds

    def size(self, radices: tuple[int, ...]) -> int:
        """Return the number of links."""
        return sum(prod(radices) // radix * self.links(radix) for radix in radices)


_KINDS = (
    _Kind(torus, lambda radix: radix if radix > 2 else 1, lambda radix: min(radix - 1, 2), 3),
    _Kind(mesh, lambda radix: radix - 1, lambda radix: min(radix - 1, 2), 2),
    _Kind(hyperx, lambda radix: radix * (radix - 1) // 2, lambda radix: radix - 1, 4),
)


def _embedded(nodes: int, pairs: Array) -> Grid | None:
    """Return the smallest grid in which the whole network was placed."""
    beside: list[set[int]] = [set() for _ in range(nodes)]
    for a, b in pairs.tolist():
        if a != b:
            beside[a].add(b)
            beside[b].add(a)
    links, degree = sum(map(len, beside)) // 2, max(map(len, beside), default=0)
    if not 4 <= nodes <= NODES or degree > DEGREE or _squares(beside) < _SQUARES * nodes:
        return None
    order = placing_order(beside)
    if len(order) < nodes:
        return None
    left = _STEPS
    for missing, kind, radices in sorted(_shapes(nodes, links, degree), key=lambda shape: (shape[0], prod(shape[2]))):
        steps = Steps(min(left, _STEPS_A_NODE * nodes))
        left -= steps.left
        grid = _placed(kind, radices, beside, order, missing, steps)
        left += max(steps.left, 0)
        if grid is not None or left <= 0:
            return grid
    return None


def _squares(beside: list[set[int]]) -> float:
    """Return the number of circles of four nodes."""
    facing = Counter(pair for near in beside for pair in combinations(sorted(near), 2))
    return sum(count * (count - 1) for count in facing.values()) / 4


def _shapes(nodes: int, links: int, degree: int) -> Iterator[tuple[int, _Kind, tuple[int, ...]]]:
    """Yield grids with enough places and links, not too many, and how many of their links would be missing."""
    for radices in _radices(nodes, int(nodes / SHARE), 2, _DIMENSIONS):
        for kind in _KINDS:
            size = kind.size(radices)
            enough = sum(kind.degree(radix) for radix in radices) >= degree
            twice = kind.build is torus and radices.count(2) > 1  # two dimensions of radix 2 are a ring of 4
            if (
                len(radices) > 1
                and max(radices) >= kind.least
                and enough
                and not twice
                and links <= size <= links / _PRESENT
            ):
                yield size - links, kind, radices


def _radices(least: int, most: int, smallest: int, dimensions: int) -> Iterator[tuple[int, ...]]:
    """Yield rising radices whose product is in a range."""
    for radix in range(max(smallest, least), most + 1):
        yield (radix,)
    if dimensions > 1:
        for radix in range(smallest, int(most**0.5) + 1):
            for others in _radices(-(-least // radix), most // radix, radix, dimensions - 1):
                yield (radix, *others)


def _placed(
    kind: _Kind, radices: tuple[int, ...], beside: list[set[int]], order: list[int], missing: int, steps: Steps
) -> Grid | None:
    """Return a grid with all nodes placed, None without one."""
    radices = radices[::-1]
    line = kind.build is mesh  # the first node may be anywhere, so there is room for the grid on all of its sides
    field = mesh(*(2 * radix - 1 for radix in radices)) if line else kind.build(*radices)
    at = np.stack(np.unravel_index(np.arange(field.nodes), [axis.radix for axis in field.axes], order="F"), axis=1)
    near = [
        frozenset(field.head[first:end].tolist())
        for first, end in zip(field.first_channel[:-1].tolist(), field.first_channel[1:].tolist(), strict=True)
    ]
    place_at = at.tolist()
    spans: list[list[tuple[int, int]]] = [[(radix, -1) for radix in radices]]

    def within(taken: list[int]) -> bool:
        """Return whether places fit into the mesh."""
        del spans[len(taken) :]
        spans.append(
            [(min(low, x), max(high, x)) for (low, high), x in zip(spans[-1], place_at[taken[-1]], strict=True)]
        )
        return all(high - low < radix for (low, high), radix in zip(spans[-1], radices, strict=True))

    start = (field.nodes - 1) // 2 if line else 0
    place = embedding(beside, order, near, start, missing, within if line else lambda _: True, steps)
    if place is None:
        return None
    corner = [low for low, _ in spans[-1]] if line else [0] * len(radices)
    number = (at[place] - corner) @ np.cumprod([1, *radices[:-1]])
    return Grid(kind.build(*radices), number)
