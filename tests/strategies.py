"""Hypothesis strategies for generated networks, routings, traffic and weights.

The shape is drawn by hypothesis (so that it shrinks), the filling by a random generator seeded from it (so that an
example costs little).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

import obliv

NIGHT = settings.get_current_profile_name() == "night"


def examples(count: int) -> settings:
    """A fifth of the examples by day, at least four; ten times as many (and others every time) at night."""
    return settings(max_examples=count * 10 if NIGHT else min(count, max(4, count // 5)))


Path = tuple[tuple[int, ...], Fraction]


@dataclass(repr=False)
class Case:
    """A network with everything about it in plain Python, and the obliv objects made from that."""

    nodes: int
    links: list[tuple[int, int]]
    bandwidth: list[Fraction]
    terminals: list[int]
    paths: dict[tuple[int, int], list[Path]]
    topology: Any
    routing: Any

    def __repr__(self) -> str:
        return f"Case({self.links}, {self.bandwidth}, {self.terminals}, {self.paths})"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))

    def weights(self, channel: int) -> list[list[Fraction]]:
        """Pair loads of a channel over its bandwidth, from the paths."""
        rows = []
        for s in self.terminals:
            row = []
            for d in self.terminals:
                crossings = sum((p * path.count(channel) for path, p in self.paths[s, d]), Fraction())
                row.append(crossings / self.bandwidth[channel])
            rows.append(row)
        return rows


def table(loads: Any, channel: int) -> list[list[Fraction]]:
    """The pair loads of a channel as obliv has them, whatever the size of the denominator."""
    n = loads.terminals
    rows = [[Fraction()] * n for _ in range(n)]
    numerators = [[0] * n for _ in range(n)]
    for i, j, value in zip(*loads.weights(channel).spread(), strict=True):
        assert not rows[i][j], "an entry stands twice"
        numerators[i][j] = int(value)
        rows[i][j] = Fraction(int(value), loads.denominator)
    if loads.weights(channel).weight.dtype != object:
        sparse = loads.on_channel(channel).toarray()
        assert sparse.shape == (n, n)
        assert numerators == sparse.tolist()
    return rows


class Paths(obliv.Routing):
    """A user's routing that lists its paths."""

    def __init__(self, topology: Any, paths: dict[tuple[int, int], list[Path]]) -> None:
        super().__init__(topology, "listed")
        self.listed = paths

    def paths(self, source: int, destination: int) -> list[Path]:
        return self.listed[source, destination]


class Hops(obliv.HopRouting):
    """A user's routing that lists its next hops."""

    def __init__(self, topology: Any, hops: dict[tuple[int, int], Any]) -> None:
        super().__init__(topology, "listed hops")
        self.listed = hops

    def next_hops(self, node: int, destination: int) -> Any:
        return self.listed[node, destination]


def split(rng: random.Random, parts: int, largest: int = 12) -> list[Fraction]:
    """Positive rationals that add up to one."""
    cuts = [rng.randint(1, largest) for _ in range(parts)]
    return [Fraction(cut, sum(cuts)) for cut in cuts]


def multigraph(rng: random.Random, nodes: int, extra: int) -> list[tuple[int, int]]:
    """A strongly connected directed multigraph, links sorted by tail (the numbers that obliv must give them)."""
    ring = list(range(nodes))
    rng.shuffle(ring)
    links = [(ring[i - 1], ring[i]) for i in range(nodes)]
    for _ in range(extra):
        if rng.random() < 0.25:
            links.append(rng.choice(links))
        else:
            links.append(tuple(rng.sample(range(nodes), 2)))  # type: ignore[arg-type]
    return sorted(links, key=lambda link: link[0])


def walk(rng: random.Random, links: Sequence[tuple[int, int]], s: int, d: int, simple: bool) -> tuple[int, ...]:
    """A random walk from s to d; simple: without its loops."""
    node, channels, seen = s, [], [s]
    while node != d or not channels:
        channel = rng.choice([c for c, (tail, _) in enumerate(links) if tail == node])
        channels.append(channel)
        node = links[channel][1]
        if simple and node in seen and node != d:
            cut = seen.index(node)
            del channels[cut:], seen[cut + 1 :]
        else:
            seen.append(node)
        if simple and s == d:
            break
    return tuple(channels) if node == d else ()


def path_table(
    rng: random.Random, nodes: int, links: list[tuple[int, int]], simple: bool
) -> dict[tuple[int, int], list[Path]]:
    """Random paths with random probabilities for every pair; now and then a self-pair really goes out."""
    table: dict[tuple[int, int], list[Path]] = {}
    for s in range(nodes):
        for d in range(nodes):
            if s == d and (simple or rng.random() < 0.7):
                table[s, d] = [((), Fraction(1))]
                continue
            count = rng.randint(1, 4)
            table[s, d] = [
                (walk(rng, links, s, d, simple), p) for p in split(rng, count, rng.choice([1, 3, 12, 10**6]))
            ]
    return table


def hop_table(rng: random.Random, nodes: int, links: list[tuple[int, int]]) -> dict[tuple[int, int], Any]:
    """Random loop-free next hops with probabilities: always into a node of lower rank."""
    hops: dict[tuple[int, int], Any] = {}
    for d in range(nodes):
        ranked = [d]
        while len(ranked) < nodes:
            ranked.append(rng.choice([a for a, b in links if b in ranked and a not in ranked]))
        rank = {node: i for i, node in enumerate(ranked)}
        hops[d, d] = []
        for node in ranked[1:]:
            down = [c for c, (a, b) in enumerate(links) if a == node and rank[b] < rank[node]]
            chosen = rng.sample(down, rng.randint(1, len(down)))
            if rng.random() < 0.5:
                hops[node, d] = chosen
            else:
                hops[node, d] = list(zip(chosen, split(rng, len(chosen)), strict=True))
    return hops


def paths_of_hops(
    nodes: int, links: list[tuple[int, int]], hops: dict[tuple[int, int], Any]
) -> dict[tuple[int, int], list[Path]]:
    """All paths along next hops, with their probabilities."""

    def follow(node: int, d: int) -> list[Path]:
        if node == d:
            return [((), Fraction(1))]
        result = []
        for hop in hops[node, d]:
            channel, p = hop if isinstance(hop, tuple) else (hop, Fraction(1, len(hops[node, d])))
            result += [((channel, *rest), p * q) for rest, q in follow(links[channel][1], d)]
        return result

    return {(s, d): follow(s, d) for s in range(nodes) for d in range(nodes)}


def make_case(
    rng: random.Random,
    nodes: int,
    extra: int,
    *,
    kind: str = "paths",
    unequal: bool = False,
    subset: bool = False,
) -> Case:
    links = multigraph(rng, nodes, extra)
    bandwidth = [Fraction(1)] * len(links)
    if unequal:
        bandwidth = [Fraction(rng.randint(1, 6), rng.randint(1, 4)) for _ in links]
    terminals = list(range(nodes))
    if subset:
        terminals = rng.sample(range(nodes), rng.randint(2, nodes))
    topology = obliv.build(
        "generated",
        nodes,
        links,
        bandwidth=bandwidth if unequal else (),
        terminals=terminals if subset else None,
    )
    if kind == "hops":
        hops = hop_table(rng, nodes, links)
        return Case(
            nodes, links, bandwidth, terminals, paths_of_hops(nodes, links, hops), topology, Hops(topology, hops)
        )
    paths = path_table(rng, nodes, links, simple=kind == "paths")
    return Case(nodes, links, bandwidth, terminals, paths, topology, Paths(topology, paths))


@st.composite
def cases(draw: st.DrawFn, largest: int = 6, kinds: Sequence[str] = ("paths", "walks", "hops")) -> Case:
    """Generated networks with generated routings."""
    return make_case(
        random.Random(draw(st.integers(0, 2**32))),
        draw(st.integers(2, largest)),
        draw(st.integers(0, 8)),
        kind=draw(st.sampled_from(list(kinds))),
        unequal=draw(st.booleans()),
        subset=draw(st.booleans()),
    )


@st.composite
def birkhoff(draw: st.DrawFn, n: int) -> list[list[Fraction]]:
    """A doubly sub-stochastic matrix: a random mix of permutation matrices, scaled by at most one."""
    rng = random.Random(draw(st.integers(0, 2**32)))
    scale = draw(st.sampled_from([Fraction(1), Fraction(1), Fraction(9, 10), Fraction(1, 3)]))
    matrix = [[Fraction()] * n for _ in range(n)]
    for share in split(rng, draw(st.integers(1, 6)), 1000):
        order = list(range(n))
        rng.shuffle(order)
        for i, j in enumerate(order):
            matrix[i][j] += scale * share
    return matrix


@st.composite
def sinkhorn(draw: st.DrawFn, n: int) -> list[list[Fraction]]:
    """A doubly sub-stochastic matrix: random numbers balanced in floating point, then rounded down to rationals."""
    rng = random.Random(draw(st.integers(0, 2**32)))
    power = draw(st.integers(1, 6))
    numbers = [[rng.random() ** power + 1e-6 for _ in range(n)] for _ in range(n)]
    for _ in range(20):
        for row in numbers:
            total = sum(row)
            row[:] = [x / total for x in row]
        for j in range(n):
            total = sum(row[j] for row in numbers)
            for row in numbers:
                row[j] /= total
    grid = draw(st.sampled_from([10, 997, 10**5]))  # rows within 10^-6 of one would be scaled to one
    matrix = [[Fraction(int(x * grid), grid) for x in row] for row in numbers]
    worst = max(*(sum(row) for row in matrix), *(sum(row[j] for row in matrix) for j in range(n)), Fraction(1))
    return [[x / worst for x in row] for row in matrix]


@st.composite
def weight_matrices(draw: st.DrawFn, largest: int = 7, bits: int = 4) -> list[list[int]]:
    """Non-negative integers, any shape, with many zeros and ties."""
    rows, columns = draw(st.integers(1, largest)), draw(st.integers(1, largest))
    values = [*draw(st.lists(st.integers(0, 2**bits), min_size=1, max_size=4)), 0]
    entry = st.sampled_from(values) | st.integers(0, 2**bits)
    return [[draw(entry) for _ in range(columns)] for _ in range(rows)]


def ladder_of_skips(nodes: int) -> obliv.Topology:
    """Return nodes in a circle with channels one and two nodes ahead: 2 v and 2 v + 1 leave node v."""
    channels = [(v, (v + step) % nodes) for v in range(nodes) for step in (1, 2)]
    return obliv.build(f"skips-{nodes}", nodes, channels)
