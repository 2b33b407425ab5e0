"""The checks of ``obliv.testing``: they pass on the project's own, and each of many deliberate mistakes is caught."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import obliv
from obliv.testing import check_loads, check_routing, check_topology

OWN = {
    "mesh:3x3": "dor romm valiant xyx odd-even",
    "torus:4x3": "o1turn ival ecmp",
    "fattree:4,2": "dmodk osrm2",
    "complete:4": "raecke:trees=3,seed=1",
    "graph:petersen": "ecmp",
    "random-regular:n=8,d=3,seed=1": "electrical updown",
    "kautz:2,2": "shortest",
    "twisted-torus:4x2,twist=2": "1/2*ecmp+1/2*valiant",
    "cmesh:2x2,c=2": "ecmp",
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("spec", "words"), OWN.items())
def test_built_in_ones_pass(spec: str, words: str) -> None:
    check_topology(spec)
    for word in words.split():
        check_routing(word, spec, rng=1)


def test_terminals_rates_and_bandwidths_of_any_kind() -> None:
    mesh = obliv.mesh(3, 2).with_rates([Fraction(1, 2), 1, 2, 1, 1, 3], [1] * 6)
    links = [(v, (v + step) % 5) for v in range(5) for step in (1, -1)]
    ring = obliv.build("own", 5, links, bandwidth=[1, 2, 3, 1, 2, 1, 1, 1, 2, 1], terminals=[3, 0, 1])
    for network in (mesh, ring):
        check_topology(network)
        check_routing("ecmp", network)
        check_loads(obliv.routing("ecmp", network).pair_loads())


class Ring(obliv.Routing):
    """The shorter way round a ring, up where both are equally long; some pairs are wrong on purpose."""

    def __init__(self, topology: obliv.Topology, mistake: str = "") -> None:
        super().__init__(topology, f"own {mistake}")
        self.mistake = mistake
        self.asked = 0

    def paths(self, source: int, destination: int) -> Iterable[Any]:
        n = self.topology.nodes
        ahead = (destination - source) % n
        step, hops = (1, ahead) if ahead <= n // 2 else (-1, n - ahead)
        nodes = [(source + step * hop) % n for hop in range(hops + 1)]
        path = tuple(self.topology.channel(a, b) for a, b in itertools.pairwise(nodes))
        self.asked += 1
        if self.mistake == "short" and ahead == 2:
            return [(path[:-1], 1)]
        if self.mistake == "channel" and ahead == 2:
            return [(path[::-1], 1)]
        if self.mistake == "share" and ahead == 2:
            return [(path, Fraction(2, 3))]
        if self.mistake == "changing" and self.asked > n * n:
            return [((), 1)] if source == destination else self._other_way(source, destination)
        return [(path, 1)]

    def _other_way(self, source: int, destination: int) -> list[Any]:
        n = self.topology.nodes
        nodes = [(source - hop) % n for hop in range((source - destination) % n + 1)]
        return [(tuple(self.topology.channel(a, b) for a, b in itertools.pairwise(nodes)), 1)]

    def sample(self, source: int, destination: int, rng: np.random.Generator) -> tuple[int, ...]:
        if self.mistake == "sample" and source != destination:
            return tuple(self._other_way(source, destination)[0][0])
        return super().sample(source, destination, rng)

    def _loads(self, progress: Any) -> Any:
        loads = super()._loads(progress)
        if self.mistake == "loads":
            return _Wrong(loads, "weights")
        return loads


class _Wrong(obliv.PairLoads):
    """Pair loads with a mistake."""

    def __init__(self, right: Any, mistake: str) -> None:
        self.right, self.mistake = right, mistake
        self.topology, self.denominator = right.topology, right.denominator

    def weights(self, channel: int) -> Any:
        return self.right.weights((channel + 2) % 10 if self.mistake == "weights" and channel < 2 else channel)

    def under(self, traffic: Any) -> list[Fraction]:
        loads: list[Fraction] = self.right.under(traffic)
        if self.mistake == "linear":
            return [load**2 for load in loads]
        return loads

    def hops(self) -> Fraction:
        hops: Fraction = self.right.hops()
        return hops + (self.mistake == "hops")

    def keeps(self, node_map: Any) -> bool:
        return self.mistake == "symmetry" or bool(self.right.keeps(node_map))

    def solve_worst(self, channels: Any, progress: Any, calls: Any) -> Any:
        if self.mistake == "worst":  # all but the worst channel
            channels = channels[:0] if not len(channels) else channels[len(channels) - 1 :]
        return self.right.solve_worst(channels, progress, calls)

    def totals(self) -> Any:
        return self.right.totals()

    def bounds(self, supply: Any, demand: Any) -> Any:
        return None


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        ("short", "ends at"),
        ("channel", "takes channel"),
        ("share", "total probability 2/3, not 1"),
        ("changing", "differ when asked for again"),
        ("sample", "which is not one of its paths"),
        ("loads", "but its paths add up to"),
    ],
)
def test_mistakes_of_a_routing_are_caught(mistake: str, message: str) -> None:
    ring = obliv.ring(5)
    check_routing(Ring(ring))
    with pytest.raises(obliv.CheckError, match=message):
        check_routing(Ring(ring, mistake))


def test_a_routing_must_be_relative_where_it_says_so_and_picklable() -> None:
    ring = obliv.ring(5)
    with pytest.raises(obliv.CheckError, match="relative"):
        check_routing(Uneven(ring))

    class Local(Ring):
        """Its class is not at the top of a module."""

    with pytest.raises(obliv.CheckError, match="pickle"):
        check_routing(Local(ring))
    with pytest.raises(obliv.InputError, match="only draws"):
        check_routing(Drawn(ring))


class Uneven(Ring):
    """Declared relative, but node 3 goes the other way."""

    relative = True

    def paths(self, source: int, destination: int) -> Iterable[Any]:
        return self._other_way(source, destination) if source == 3 else super().paths(source, destination)


class Drawn(obliv.Routing):
    """Random paths alone."""

    def sample(self, source: int, destination: int, rng: np.random.Generator) -> tuple[int, ...]:
        return ()


@pytest.mark.parametrize(
    ("mistake", "message"),
    [("linear", "not linear"), ("hops", "mean path length"), ("symmetry", "symmetry"), ("worst", "the worst case is")],
)
def test_mistakes_of_loads_are_caught(mistake: str, message: str) -> None:
    loads = obliv.DOR(obliv.mesh(3, 3)).pair_loads()
    check_loads(loads)
    with pytest.raises(obliv.CheckError, match=message):
        check_loads(_Wrong(loads, mistake))


SQUARE = [(0, 1), (1, 2), (2, 3), (3, 0)]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"generators": [np.array([1, 0, 2, 3])]}, "generator 0 is not an automorphism"),
        ({"translations": [np.array([2, 3, 0, 1])]}, "onto 2 of 4 nodes"),
        ({"capacity_load": Fraction(1)}, "distances allow no less than 3/2"),
        ({"capacity_load": Fraction(2)}, "ecmp needs no more than 3/2"),
    ],
)
def test_mistakes_of_a_topology_are_caught(more: Any, message: str) -> None:
    check_topology(lambda: obliv.build("square", 4, SQUARE))
    with pytest.raises(obliv.CheckError, match=message):
        check_topology(obliv.build("square", 4, SQUARE, **more))


def test_networks_that_differ_or_are_cut_are_caught() -> None:
    with pytest.raises(obliv.CheckError, match="no path leads from terminal 0 to terminal 3"):
        check_topology(obliv.build("cut", 4, [*SQUARE[:2], (3, 0)]))
    made = iter((SQUARE, [*SQUARE[::-1], (0, 2)]))
    with pytest.raises(obliv.CheckError, match="two calls"):
        check_topology(lambda: obliv.build("square", 4, next(made)))
    with pytest.raises(obliv.CheckError, match="its spec makes another"):
        check_topology(obliv.build("ring:4", 4, SQUARE))
