"""Random networks and routings against the definitions alone, in plain Python with fractions.

Networks have parallel channels, bandwidths from 10⁻⁶ to 10⁹, terminals in any order on a subset of the nodes, and
rates; routings are tables of paths with detours and loops, next hops with fine probabilities, up*/down*, and mixes of
mixes of these.
"""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import permutations
from typing import Any

import networkx as nx
import numpy as np
import pytest
from tests import strategies
from tests.strategies import Hops, Paths

import obliv

Law = dict[tuple[int, int], list[tuple[tuple[int, ...], Fraction]]]


def random_network(rng: random.Random) -> Any:
    nodes = rng.randint(2, 6)
    links = strategies.multigraph(rng, nodes, rng.randint(0, 9))
    if rng.random() < 0.4:  # every link leads both ways
        links = sorted((end for a, b in links for end in ((a, b), (b, a))), key=lambda link: link[0])
    speed: list[Any] = []
    if rng.random() < 0.5:
        speed = [Fraction(rng.randint(1, 99)) * Fraction(10) ** rng.randint(-6, 7) for _ in links]
    terminals = rng.sample(range(nodes), rng.randint(2, min(nodes, 5))) if rng.random() < 0.6 or nodes > 5 else None
    topology = obliv.build("random", nodes, links, bandwidth=speed, terminals=terminals)
    if rng.random() < 0.3:
        n = len(topology.terminals)
        sides = [[Fraction(rng.randint(1, 12), rng.choice([1, 4, 7, 10**6])) for _ in range(n)] for _ in range(2)]
        topology = topology.with_rates(*sides)
    return topology


def random_law(rng: random.Random, topology: Any, depth: int = 0) -> tuple[Any, Law]:
    """A routing, and the paths of all pairs with their probabilities."""
    nodes = topology.nodes
    links = list(zip(topology.tail.tolist(), topology.head.tolist(), strict=True))
    kind = rng.choice(
        ["paths", "walks", "hops", "fine hops", "updown", "ecmp", "mix", "mix"] if depth < 2 else ["paths", "hops"]
    )
    if kind == "mix":
        parts = [random_law(rng, topology, depth + 1) for _ in range(rng.randint(2, 3))]
        shares = strategies.split(rng, len(parts), rng.choice([1, 12, 10**9]))
        routing = shares[0] * parts[0][0]
        for share, (part, _) in zip(shares[1:], parts[1:], strict=True):
            routing = routing + share * part
        law: Law = {}
        for share, (_, paths) in zip(shares, parts, strict=True):
            for pair, entries in paths.items():
                law.setdefault(pair, []).extend((path, share * chance) for path, chance in entries)
        return routing, law
    if kind in ("updown", "ecmp"):
        both = {(a, b) for a, b in links} == {(b, a) for a, b in links}
        routing = obliv.routing("updown" if kind == "updown" and both else "ecmp", topology)
        ends = topology.terminals.tolist()
        hops = {(v, d): list(routing.next_hops(v, d)) for v in range(nodes) for d in ends}
        return routing, {(s, d): follow(links, hops, s, d) for s in ends for d in ends}
    if "hops" in kind:
        hops = strategies.hop_table(rng, nodes, links)
        if kind == "fine hops":
            hops = {pair: finer(rng, entries) for pair, entries in hops.items()}
        return Hops(topology, hops), strategies.paths_of_hops(nodes, links, hops)
    law = strategies.path_table(rng, nodes, links, simple=kind == "paths")
    return Paths(topology, law), law


def finer(rng: random.Random, entries: list[Any]) -> list[Any]:
    """The same next hops with probabilities of large denominators."""
    channels = [entry[0] if isinstance(entry, tuple) else entry for entry in entries]
    if not channels:
        return []
    return list(zip(channels, strategies.split(rng, len(channels), rng.choice([10**9, 10**19, 10**25])), strict=True))


def follow(links: list[tuple[int, int]], hops: dict[tuple[int, int], list[int]], node: int, end: int) -> Any:
    if node == end:
        return [((), Fraction(1))]
    share = Fraction(1, len(hops[node, end]))
    return [
        ((channel, *rest), share * chance)
        for channel in hops[node, end]
        for rest, chance in follow(links, hops, links[channel][1], end)
    ]


def most(weights: list[list[Fraction]], supply: list[Fraction], demand: list[Fraction]) -> Fraction:
    """The most that admissible traffic earns, by ways of largest gain that use what is left."""
    n = len(weights)
    flow = [[Fraction(0)] * n for _ in range(n)]
    supply, demand = list(supply), list(demand)
    total = Fraction(0)
    while True:
        gain: list[Any] = [Fraction(0) if left > 0 else None for left in supply]
        reach: list[Any] = [None] * n
        came: list[int] = [-1] * n  # from which source a destination was reached, and the other way round
        back: list[int] = [-1] * n
        for _ in range(2 * n):
            for i, j in ((i, j) for i in range(n) for j in range(n)):
                if gain[i] is not None and (reach[j] is None or gain[i] + weights[i][j] > reach[j]):
                    reach[j], came[j] = gain[i] + weights[i][j], i
            for i, j in ((i, j) for i in range(n) for j in range(n)):
                if reach[j] is not None and flow[i][j] > 0 and (gain[i] is None or reach[j] - weights[i][j] > gain[i]):
                    gain[i], back[i] = reach[j] - weights[i][j], j
        ends = [j for j in range(n) if demand[j] > 0 and reach[j] is not None and reach[j] > 0]
        if not ends:
            return total
        end = max(ends, key=lambda j: reach[j])
        steps, j = [], end
        while True:
            i = came[j]
            steps.append((i, j, 1))
            if back[i] < 0:
                break
            steps.append((i, back[i], -1))
            j = back[i]
        amount = min([demand[end], supply[i], *(flow[a][b] for a, b, way in steps if way < 0)])
        for a, b, way in steps:
            flow[a][b] += way * amount
        supply[i] -= amount
        demand[end] -= amount
        total += amount * reach[end]


def compare(seed: int) -> None:
    """Compare everything that is known of one random network."""
    rng = random.Random(seed)
    topology = random_network(rng)
    routing, law = random_law(rng, topology)
    ends = topology.terminals.tolist()
    n, speed = len(ends), topology.bandwidth or [Fraction(1)] * topology.channels
    weights = [[[Fraction(0)] * n for _ in ends] for _ in range(topology.channels)]
    for i, s in enumerate(ends):
        for j, d in enumerate(ends):
            for path, chance in law[s, d]:
                for c in path:
                    weights[c][i][j] += chance / speed[c]
    loads = routing.pair_loads()
    traffic = [[Fraction(rng.randint(0, 3), 3 * n * 12 * 10**6) for _ in ends] for _ in ends]
    right = [
        sum(w * t for row, sent in zip(table, traffic, strict=True) for w, t in zip(row, sent, strict=True))
        for table in weights
    ]
    assert loads.under(obliv.matrix(traffic)) == right
    supply, demand = (list(side) for side in topology.rates())
    worst = max(most(table, supply, demand) for table in weights)
    if topology.unit_rates:
        images = list(permutations(range(n)))
        assert worst == max(
            sum((t[i][j] for i, j in enumerate(image)), Fraction(0)) for t in weights for image in images
        )
    result = obliv.worst_case(routing, certificate=True, symmetry=rng.choice(["auto", "off"]))
    assert result.channel_load == worst
    if result.channel is not None and worst:
        rows = result.traffic or [(i, j, Fraction(1)) for i, j in enumerate(result.permutation)]
        assert sum(amount * weights[result.channel.id][i][j] for i, j, amount in rows) == worst
    assert obliv.verify(result).proved
    graph: Any = nx.DiGraph()
    for paths in ((law[s, d]) for s in ends for d in ends):
        for path, chance in paths:
            if chance:
                nx.add_path(graph, path)
    assert obliv.deadlock(routing).acyclic == nx.is_directed_acyclic_graph(graph)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("first", range(0, 40, 10))
def test_random_networks(first: int) -> None:
    for seed in range(first, first + 10):
        compare(seed)


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(30))
def test_three_thousand_random_networks(part: int) -> None:
    start = int(np.random.SeedSequence().generate_state(1)[0])
    for seed in range(start, start + 100):
        try:
            compare(seed)
        except Exception as error:
            raise AssertionError(f"compare({seed}): {type(error).__name__}: {error}") from error
