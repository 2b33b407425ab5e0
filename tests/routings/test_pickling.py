"""Routings, their loads and their results survive pickling and are equal to what they were."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import obliv
from obliv.specs.registry import ROUTINGS
from obliv.testing import check_routing

NETWORKS = ("mesh:3x3", "fattree:4,3", "fattree:4,2", "random-regular:n=8,d=3,seed=1", "torus:3x3")
FILES = {"table", "lft", "far", "design"}  # they read a file; tested below and with fabrics


def again(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


def some(name: str) -> obliv.Routing:
    """A routing of a registered name on the first network that carries it."""
    entry = ROUTINGS.find(name)
    for network in NETWORKS:
        try:
            return obliv.routing(entry.example, obliv.topology(network))
        except obliv.InputError:
            continue
    raise AssertionError(f"{entry.example} fits none of {NETWORKS}")


@pytest.mark.sampled(10)
@pytest.mark.parametrize(
    "name", sorted({entry.name for entry in ROUTINGS if entry.make.__module__.startswith("obliv.")} - FILES)
)
def test_every_registered_routing_its_loads_and_results(name: str) -> None:
    routing = some(name)
    loads = routing.pair_loads()
    check_routing(routing)  # fills what it remembers
    copy = again(routing)
    assert copy == routing
    assert hash(copy) == hash(routing)
    assert copy.pair_loads() == loads
    assert again(loads) == loads
    for result in (obliv.worst_case(routing, certificate=True), obliv.locality(routing)):
        assert again(result) == result


def test_mixes_phases_and_tables(tmp_path: Path) -> None:
    mesh = obliv.mesh(3, 3)
    ring = obliv.topology("ring:3")
    (tmp_path / "routes.txt").write_text("".join(f"hop {v} {d} {d}\n" for v in range(3) for d in range(3) if v != d))
    for routing in (
        0.5 * obliv.routing("dor", mesh) + 0.5 * obliv.routing("ecmp", mesh),
        obliv.routing("valiant", obliv.topology("random-regular:n=8,d=3,seed=1")),
        obliv.routing(f"table:{tmp_path / 'routes.txt'}", ring),
    ):
        assert again(routing) == routing
        assert again(routing.pair_loads()) == routing.pair_loads()


def test_what_is_equal() -> None:
    mesh, torus = obliv.mesh(3, 3), obliv.torus(3, 3)
    assert obliv.routing("dor", mesh) == obliv.DOR(obliv.mesh(3, 3))
    assert obliv.routing("dor", mesh) != obliv.routing("dor:yx", mesh)
    assert obliv.routing("dor", mesh) != obliv.routing("dor", torus)
    assert obliv.routing("dor", mesh) != obliv.routing("shortest", mesh)
    dor, shortest = (obliv.routing(name, obliv.topology("line:4")).pair_loads() for name in ("dor", "shortest"))
    assert type(dor) is not type(shortest)
    assert dor == shortest  # the same numbers
    assert obliv.routing("dor", mesh).pair_loads() != obliv.routing("romm", mesh).pair_loads()
    assert obliv.DOR(mesh).pair_loads(samples=5) != obliv.DOR(mesh).pair_loads()


class Weighted:
    """A user's own routing on a ring: upwards with probability 2/3, downwards with 1/3."""

    def __init__(self, topology: obliv.Topology) -> None:
        self.topology = topology

    def paths(self, source: int, destination: int) -> Any:
        n = self.topology.nodes
        if source == destination:
            return [((), 1)]
        return [
            (self._walk(source, (destination - source) % n, 1), "2/3"),
            (self._walk(source, (source - destination) % n, -1), "1/3"),
        ]

    def _walk(self, at: int, hops: int, step: int) -> tuple[int, ...]:
        path = []
        for _ in range(hops):
            there = (at + step) % self.topology.nodes
            first, end = (int(c) for c in self.topology.first_channel[at : at + 2])
            path.append(next(c for c in range(first, end) if self.topology.head[c] == there))
            at = there
        return tuple(path)


class OnlySamples:
    """Random paths alone."""

    def __init__(self, topology: obliv.Topology) -> None:
        self.topology = topology

    def sample(self, source: int, destination: int, rng: np.random.Generator) -> tuple[int, ...]:
        paths = Weighted(self.topology).paths(source, destination)
        return paths[0 if len(paths) == 1 or rng.random() < 2 / 3 else 1][0]


class Astray(OnlySamples):
    """Random paths that end anywhere."""

    def sample(self, source: int, destination: int, rng: np.random.Generator) -> tuple[int, ...]:
        return ()


def test_a_users_class_is_taken_wherever_a_routing_is() -> None:
    ring = obliv.topology("ring:5")
    result = obliv.routing(Weighted, ring)
    exact = obliv.worst_case(result)
    assert obliv.worst_case(Weighted(ring)) == exact == obliv.worst_case(obliv.routing(Weighted(ring)))
    assert obliv.verify(obliv.worst_case(Weighted(ring), certificate=True), routing=result).proved
    dor, own = obliv.compare("ring:5", "dor", Weighted, traffic="tornado", samples=50).entries
    assert (own.routing, own.worst) == ("Weighted", exact.channel_load)
    assert own.hops == obliv.locality(Weighted(ring)).hops > dor.hops
    assert obliv.throughput(Weighted(ring), "uniform").routing == "Weighted"
    assert not obliv.deadlock(Weighted(ring)).acyclic
    assert again(result) != again(obliv.routing("dor", ring))


@pytest.mark.nightly
def test_random_paths_alone_are_enough_for_estimates() -> None:
    ring = obliv.topology("ring:5")
    exact = obliv.worst_case(Weighted(ring)).channel_load
    worst = obliv.worst_case(OnlySamples(ring), samples=400, rng=np.int64(3))
    assert worst.channel_load.samples == 400
    assert abs(worst.channel_load.value - float(exact)) < 6 * worst.channel_load.stderr + 0.1
    assert worst == obliv.worst_case(OnlySamples(ring), samples=400, rng=3)
    with pytest.raises(obliv.RoutingError, match=r"random paths only.*samples"):
        obliv.worst_case(OnlySamples(ring))
    with pytest.raises(obliv.RoutingError, match="ends at"):
        obliv.worst_case(Astray(ring), samples=5)

    class Mine(obliv.Routing):
        def sample(self, source: int, destination: int, rng: np.random.Generator) -> tuple[int, ...]:
            return OnlySamples(self.topology).sample(source, destination, rng)

    assert obliv.worst_case(Mine(ring, "mine"), samples=400, rng=3).channel_load == worst.channel_load
    with pytest.raises(obliv.RoutingError, match="random paths only"):
        obliv.locality(Mine(ring, "mine"))


@pytest.mark.parametrize("analysis", ["worst_case", "throughput", "average_case", "ratio", "locality", "deadlock"])
def test_a_spec_in_place_of_a_routing_is_refused_with_a_hint(analysis: str) -> None:
    with pytest.raises(
        obliv.InputError, match=r"a routing, or a topology and a routing|dor is a routing, which follows the topology"
    ):
        getattr(obliv, analysis)("dor", *(["uniform"] if analysis == "throughput" else []))


def test_numpy_integers_are_seeds() -> None:
    mesh = obliv.topology("mesh:3x3")
    dor = obliv.routing("dor", mesh)
    assert obliv.average_case(dor, 50, np.int64(4)) == obliv.average_case(dor, 50, 4)
    assert (
        obliv.compare(mesh, "dor", samples=50, rng=np.int64(4)).entries
        == obliv.compare(mesh, "dor", samples=50, rng=4).entries
    )
    assert dor.pair_loads(samples=5, rng=np.uint8(4)) == dor.pair_loads(samples=5, rng=4)
    tree = obliv.routing("dmodk", obliv.topology("fattree:4,2"))
    one, two = (obliv.traffic_ratio(tree, "random-permutation", instances=3, rng=seed) for seed in (np.int64(4), 4))
    assert one == two
