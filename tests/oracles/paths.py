"""What the paper and the notes define, worked out slowly in plain Python; nothing here comes from obliv.

Cartesian networks: a node is a tuple of coordinates, a channel a tuple (node, dimension, step) where the step is +1 or
-1 on meshes and tori, and the target coordinate on all-to-all dimensions.  A path is a tuple of channels, a routing a
function (network, source, destination) -> list of (path, probability).
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from math import lcm
from operator import getitem
from typing import Any

Node = tuple[int, ...]
Channel = tuple[Node, int, int]
Path = tuple[Channel, ...]
Law = list[tuple[Path, Fraction]]


class Network:
    """A mesh, a torus or a HyperX of given radices."""

    def __init__(self, kind: str, *radices: int) -> None:
        self.kind, self.radices = kind, radices

    @property
    def nodes(self) -> list[Node]:
        """All nodes in the order of their numbers: x fastest."""
        turned = itertools.product(*(range(k) for k in reversed(self.radices)))
        return [tuple(reversed(node)) for node in turned]

    def number(self, node: Node) -> int:
        """node = x + kx (y + ky z)"""
        value = 0
        for coordinate, radix in zip(reversed(node), reversed(self.radices), strict=True):
            value = value * radix + coordinate
        return value

    def head(self, channel: Channel) -> Node:
        node, dim, step = channel
        moved = list(node)
        if self.kind == "hyperx":
            moved[dim] = step
        else:
            moved[dim] += step
            if self.kind == "torus":
                moved[dim] %= self.radices[dim]
            assert 0 <= moved[dim] < self.radices[dim]
        return tuple(moved)

    def channels(self) -> list[Channel]:
        result = []
        for node in self.nodes:
            for dim, k in enumerate(self.radices):
                if self.kind == "hyperx":
                    result += [(node, dim, other) for other in range(k) if other != node[dim]]
                else:
                    result += [(node, dim, s) for s in (1, -1) if self.kind == "torus" or 0 <= node[dim] + s < k]
        return result

    def directions(self, dim: int, a: int, b: int) -> list[tuple[int, int]]:
        """The minimal ways (step, hops) from coordinate a to b; two on a tie."""
        if a == b:
            return [(0, 0)]
        k = self.radices[dim]
        if self.kind == "mesh":
            return [(1, b - a)] if b > a else [(-1, a - b)]
        if self.kind == "hyperx":
            return [(b, 1)]
        up = (b - a) % k
        down = k - up
        if up == down:
            return [(1, up), (-1, down)]
        return [(1, up)] if up < down else [(-1, down)]

    def run(self, node: Node, dim: int, step: int, hops: int) -> tuple[Path, Node]:
        """The channels of a straight run, and where it ends."""
        channels = []
        for _ in range(hops):
            channel = (node, dim, step)
            channels.append(channel)
            node = self.head(channel)
        return tuple(channels), node


def in_order(net: Network, s: Node, d: Node, order: Sequence[int]) -> Law:
    """Dimension order: dimensions one after the other, minimal, ties half and half."""
    laws: list[tuple[Path, Node, Fraction]] = [((), s, Fraction(1))]
    for dim in order:
        grown = []
        for path, node, p in laws:
            ways = net.directions(dim, node[dim], d[dim])
            for step, hops in ways:
                run, end = net.run(node, dim, step, hops)
                grown.append((path + run, end, p / len(ways)))
        laws = grown
    assert all(end == d for _, end, _ in laws)
    return [(path, p) for path, _, p in laws]


def dor(order: Sequence[int] | None = None) -> Callable[[Network, Node, Node], Law]:
    return lambda net, s, d: in_order(net, s, d, order or range(len(net.radices)))


def o1turn(net: Network, s: Node, d: Node) -> Law:
    """An order of the dimensions drawn uniformly (XY or YX, 1/2 each, in two dimensions)."""
    orders = list(itertools.permutations(range(len(net.radices))))
    return [(path, p / len(orders)) for order in orders for path, p in in_order(net, s, d, order)]


def romm(order: Sequence[int] | None = None) -> Callable[[Network, Node, Node], Law]:
    """Quadrant first, then an intermediate node in it, ends included; each phase in one of the n! orders.

    The directions of both phases are those of the quadrant.
    """

    def law(net: Network, s: Node, d: Node) -> Law:
        n = len(net.radices)
        orders = [tuple(order)] if order else list(itertools.permutations(range(n)))
        quadrants = list(itertools.product(*(net.directions(i, s[i], d[i]) for i in range(n))))
        result = []
        for quadrant in quadrants:
            inside = list(itertools.product(*(range(hops + 1) for _, hops in quadrant)))
            p = Fraction(1, len(quadrants) * len(inside) * len(orders) ** 2)
            for stop in inside:
                for first, second in itertools.product(orders, repeat=2):
                    path: Path = ()
                    node = s
                    for dim in first:
                        run, node = net.run(node, dim, quadrant[dim][0], stop[dim])
                        path += run
                    for dim in second:
                        run, node = net.run(node, dim, quadrant[dim][0], quadrant[dim][1] - stop[dim])
                        path += run
                    assert node == d
                    result.append((path, p))
        return result

    return law


def valiant(net: Network, s: Node, d: Node) -> Law:
    """An intermediate node uniform over all nodes; dimension order in both phases, ties drawn anew in each."""
    result = []
    for middle in net.nodes:
        for one, p in in_order(net, s, middle, range(len(net.radices))):
            for two, q in in_order(net, middle, d, range(len(net.radices))):
                result.append((one + two, p * q / len(net.nodes)))
    return result


def towards(net: Network, node: Node, dim: int, target: int) -> list[tuple[Path, Node, Fraction]]:
    """A minimal run in one dimension, ties half and half."""
    ways = net.directions(dim, node[dim], target)
    return [(*net.run(node, dim, step, hops), Fraction(1, len(ways))) for step, hops in ways]


def out_and_back(first: int) -> Callable[[Network, Node, Node], Law]:
    """XYX (first = 0): by way of a uniform column, each segment minimal; directly where y1 = y2.  YXY: first = 1."""

    def law(net: Network, s: Node, d: Node) -> Law:
        other = 1 - first
        if s[other] == d[other]:
            return [(path, p) for path, _, p in towards(net, s, first, d[first])]
        result = []
        for middle in range(net.radices[first]):
            for one, a, p in towards(net, s, first, middle):
                for two, b, q in towards(net, a, other, d[other]):
                    for three, _, r in towards(net, b, first, d[first]):
                        result.append((one + two + three, p * q * r / net.radices[first]))
        return result

    return law


def mixed(*laws: tuple[Fraction, Callable[[Network, Node, Node], Law]]) -> Callable[[Network, Node, Node], Law]:
    return lambda net, s, d: [(path, a * p) for a, law in laws for path, p in law(net, s, d)]


HALF = Fraction(1, 2)
xyx, yxy = out_and_back(0), out_and_back(1)
u2turn_a = mixed((HALF, xyx), (HALF, yxy))


def u2turn(net: Network, s: Node, d: Node) -> Law:
    """Both on square networks; kx > ky: YXY only; kx < ky: XYX only."""
    kx, ky = net.radices
    return (u2turn_a if kx == ky else yxy if kx > ky else xyx)(net, s, d)


def without_loops(net: Network, s: Node, path: Path) -> Path:
    """Cut back to the first visit of every repeated node."""
    visited, remaining = [s], []
    for channel in path:
        node = net.head(channel)
        if node in visited:
            cut = visited.index(node)
            del visited[cut + 1 :], remaining[cut:]
        else:
            visited.append(node)
            remaining.append(channel)
    return tuple(remaining)


def ival(net: Network, s: Node, d: Node) -> Law:
    """Valiant with the second phase in reversed order, XY then YX or YX then XY, loops removed."""
    result = []
    for order in ((0, 1), (1, 0)):
        for middle in net.nodes:
            for one, p in in_order(net, s, middle, order):
                for two, q in in_order(net, middle, d, order[::-1]):
                    result.append((without_loops(net, s, one + two), p * q / (2 * len(net.nodes))))
    return result


def i2turn(net: Network, s: Node, d: Node) -> Law:
    """Out and back on a torus; the middle segment over D links goes + with (k - D)/k, - with D/k.

    Where source and destination share a row (for XYX), one X run by the same rule.
    """

    def run(node: Node, dim: int, target: int) -> list[tuple[Path, Node, Fraction]]:
        k = net.radices[dim]
        up = (target - node[dim]) % k
        both = [(1, up, Fraction(k - up, k)), (-1, (k - up) % k, Fraction(up, k))]
        return [(*net.run(node, dim, step, hops), p) for step, hops, p in both if p]

    result = []
    for first in (0, 1):
        other = 1 - first
        if s[other] == d[other]:
            result += [(path, p / 2) for path, _, p in run(s, first, d[first])]
            continue
        for middle in range(net.radices[first]):
            for one, a, p in towards(net, s, first, middle):
                for two, b, q in run(a, other, d[other]):
                    for three, _, r in towards(net, b, first, d[first]):
                        result.append((one + two + three, p * q * r / (2 * net.radices[first])))
    return result


def loads_of(laws: Iterable[tuple[Iterable[Any], Fraction]]) -> dict[Any, Fraction]:
    """Expected number of crossings of each channel."""
    listed = [(list(path), p) for path, p in laws]
    over = lcm(*(p.denominator for _, p in listed))  # sums of integers are faster than those of fractions
    load: dict[Any, int] = defaultdict(int)
    for path, p in listed:
        for channel in path:
            load[channel] += p.numerator * (over // p.denominator)
    return {channel: Fraction(numerator, over) for channel, numerator in load.items()}


class Numbered:
    """Names the oracle's channels by a topology's channel numbers (ends given by its public tail and head)."""

    def __init__(self, net: Network, topology: Any) -> None:
        self.net = net
        ends = defaultdict(list)
        for number, (tail, head) in enumerate(zip(topology.tail, topology.head, strict=True)):
            ends[int(tail), int(head)].append(number)
        self.number: dict[Channel, int] = {}
        taken: dict[tuple[int, int], int] = defaultdict(int)
        for channel in net.channels():
            key = net.number(channel[0]), net.number(net.head(channel))
            self.number[channel] = ends[key][taken[key]]
            taken[key] += 1
        assert {key: len(result) for key, result in ends.items()} == dict(taken), "the channels differ"


# Graphs: channels are numbers, tail[c] -> head[c].


def distances(nodes: int, tail: Sequence[int], head: Sequence[int], destination: int) -> list[int]:
    """Hops from every node to the destination."""
    far = [nodes] * nodes
    far[destination] = 0
    for _ in range(nodes):
        for a, b in zip(tail, head, strict=True):
            far[a] = min(far[a], far[b] + 1)
    return far


def by_hops(
    next_hops: Callable[[int, int], list[tuple[int, Fraction]]], head: Sequence[int], s: int, d: int
) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    """All paths along next hops."""
    if s == d:
        yield (), Fraction(1)
        return
    for channel, p in next_hops(s, d):
        for rest, q in by_hops(next_hops, head, int(head[channel]), d):
            yield (channel, *rest), p * q


def minimal_hops(
    nodes: int, tail: Sequence[int], head: Sequence[int], one: bool
) -> Callable[[int, int], list[tuple[int, Fraction]]]:
    """`one`: the lowest channel that comes nearer; else all of them, equally likely."""
    far = [distances(nodes, tail, head, d) for d in range(nodes)]

    def next_hops(node: int, destination: int) -> list[tuple[int, Fraction]]:
        down = far[destination]
        near = [c for c, (a, b) in enumerate(zip(tail, head, strict=True)) if a == node and down[b] == down[a] - 1]
        near = near[:1] if one else near
        return [(c, Fraction(1, len(near))) for c in near]

    return next_hops


# Worst cases by trying all permutations.


def worst_of(weights: Sequence[Sequence[Fraction]]) -> Fraction:
    """Largest weight of a permutation of a square matrix, over all N!."""
    n = len(weights)
    scale = lcm(*(w.denominator for row in weights for w in row))
    whole = [[int(w * scale) for w in row] for row in weights]
    return Fraction(max(sum(map(getitem, whole, p)) for p in itertools.permutations(range(n))), scale)


def best_by_subsets(weights: Sequence[Sequence[Any]]) -> Any:
    """Largest weight of a matching of any matrix, any ordered numbers, by dynamic programming over column sets."""
    if not weights or not weights[0]:
        return 0
    best: dict[int, Any] = {0: 0}
    for row in weights:
        grown = dict(best)
        for used, value in best.items():
            for j, w in enumerate(row):
                if not used >> j & 1:
                    key = used | 1 << j
                    if key not in grown or grown[key] < value + w:
                        grown[key] = value + w
        best = grown
    return max(best.values())


def hungarian(weights: Sequence[Sequence[int]]) -> int:
    """Largest weight of a perfect matching of a square matrix of Python integers (Kuhn; potentials, O(n^3))."""
    n = len(weights)
    cost = [[-w for w in row] for row in weights]
    u, v, match = [0] * (n + 1), [0] * (n + 1), [0] * (n + 1)
    for i in range(1, n + 1):
        match[0], j0 = i, 0
        least: list[int | None] = [None] * (n + 1)
        way, used = [0] * (n + 1), [False] * (n + 1)
        while match[j0]:
            used[j0] = True
            i0, delta, j1 = match[j0], None, 0
            for j in range(1, n + 1):
                if used[j]:
                    continue
                slack = cost[i0 - 1][j - 1] - u[i0] - v[j]
                held = least[j]
                if held is None or slack < held:
                    least[j], way[j] = slack, j0
                    held = slack
                if delta is None or held < delta:
                    delta, j1 = held, j
            assert delta is not None
            for j in range(n + 1):
                if used[j]:
                    u[match[j]] += delta
                    v[j] -= delta
                elif least[j] is not None:
                    least[j] -= delta  # type: ignore[operator]
            j0 = j1
        while j0:
            match[j0], j0 = match[way[j0]], way[j0]
    return sum(weights[match[j] - 1][j - 1] for j in range(1, n + 1))


# Closed forms of the notes.


def capacity_load(kind: str, radices: Sequence[int]) -> Fraction:
    """mesh k/4 or (k² - 1)/(4k), k the longest side; torus half of that"""
    k = max(radices)
    mesh = Fraction(k, 4) if k % 2 == 0 else Fraction(k * k - 1, 4 * k)
    return mesh / 2 if kind == "torus" else mesh


def dor_cube(k: int, n: int) -> Fraction:
    """DOR on an odd k-ary n-cube: the largest over dimensions i of h·min(k^(i-1), k^(n-i))."""
    h = (k - 1) // 2
    return Fraction(max(h * min(k ** (i - 1), k ** (n - i)) for i in range(1, n + 1)))


def dor_mesh(kx: int, ky: int) -> Fraction:
    """The exact formula of the notes, section 4."""
    x = [min(i + 1, (kx - 1 - i) * ky) for i in range(kx - 1)]
    y = [min((j + 1) * kx, ky - 1 - j) for j in range(ky - 1)]
    return Fraction(max(x + y))
