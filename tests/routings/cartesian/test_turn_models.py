"""Turn models: their paths are all minimal ones that take allowed turns only, enumerated here from the turns."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

import networkx
import numpy as np
import pytest

import obliv
from obliv._util.progress import silent
from obliv.topologies.base import Topology
from obliv.topologies.cartesian import directions_of

WEST, EAST, SOUTH, NORTH = (0, -1), (0, 1), (1, -1), (1, 1)
Direction = tuple[int, int]
MODELS = ["west-first", "north-last", "negative-first", "odd-even"]


def forbidden(model: str, into: Direction, out: Direction, x: int) -> bool:
    """The turn rules as the papers state them; x is the column of the turn."""
    if model == "west-first":  # Glass and Ni: no turn to the west
        return out == WEST and into in (NORTH, SOUTH)
    if model == "north-last":  # no turn while going north
        return into == NORTH and out in (WEST, EAST)
    if model == "negative-first":  # no turn from a positive into a negative direction
        return into[1] > 0 and out[1] < 0
    if x % 2 == 0:  # Chiu, rules 1 and 2
        return into == EAST and out in (NORTH, SOUTH)
    return into in (NORTH, SOUTH) and out == WEST


def minimal_paths(topology: Topology, source: int, destination: int) -> Iterator[tuple[Direction, ...]]:
    """Yield every minimal path of a mesh as its directions, whatever its turns."""
    offset = np.subtract(topology.coordinates(destination), topology.coordinates(source)).tolist()
    steps = [(dim, 1 if far > 0 else -1) for dim, far in enumerate(offset) if far]
    if not steps:
        yield ()
    for dim, step in steps:
        stride = int(np.prod(topology.radices[:dim]))
        for rest in minimal_paths(topology, source + step * stride, destination):
            yield ((dim, step), *rest)


def allowed_paths(topology: Topology, model: str, source: int, destination: int) -> set[tuple[Direction, ...]]:
    allowed = set()
    for path in minimal_paths(topology, source, destination):
        x = topology.coordinates(source)[0]
        columns = [x := x + (step if dim == 0 else 0) for dim, step in path]
        if not any(forbidden(model, *turn, at) for turn, at in zip(pairwise(path), columns, strict=False)):
            allowed.add(path)
    return allowed


def as_directions(topology: Topology, channels: tuple[int, ...]) -> tuple[Direction, ...]:
    where = directions_of(topology)
    assert where is not None
    return tuple((int(where.dim[c]), int(where.step[c])) for c in channels)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("radices", [(5, 5), (4, 3), (3, 4), (2, 5), (6, 2)])
def test_paths_are_exactly_the_allowed_minimal_ones(model: str, radices: tuple[int, int]) -> None:
    topology = obliv.mesh(*radices)
    routing = obliv.routing(model, topology)
    for source in range(topology.nodes):
        for destination in range(topology.nodes):
            expected = allowed_paths(topology, model, source, destination)
            paths = {
                as_directions(topology, channels): chance for channels, chance in routing.paths(source, destination)
            }
            assert set(paths) == expected
            for path, chance in paths.items():  # uniform at every node among the directions that go on
                choices = [len({p[k] for p in expected if p[:k] == path[:k]}) for k in range(len(path))]
                assert chance == Fraction(1, int(np.prod(choices)) if choices else 1)


@pytest.mark.parametrize("spec", ["mesh:2x3x3", "hypercube:4"])
def test_negative_first_in_more_dimensions(spec: str) -> None:
    topology = obliv.topology(spec)
    routing = obliv.NegativeFirst(topology)
    for destination in range(topology.nodes):
        paths = {as_directions(topology, channels) for channels, _ in routing.paths(topology.nodes // 3, destination)}
        assert paths == allowed_paths(topology, "negative-first", topology.nodes // 3, destination)


@pytest.mark.sampled(12)
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("radices", [(4, 4), (5, 3), (3, 6)])
def test_one_virtual_channel_is_free_of_deadlock(model: str, radices: tuple[int, int]) -> None:
    topology = obliv.mesh(*radices)
    routing = obliv.routing(model, topology)
    graph = networkx.DiGraph()
    for source in range(topology.nodes):
        for destination in range(topology.nodes):
            for channels, _ in routing.paths(source, destination):
                graph.add_edges_from(pairwise(channels))
    assert networkx.is_directed_acyclic_graph(graph)
    verdict = obliv.deadlock(routing)
    assert verdict.acyclic
    assert verdict.dependencies == graph.number_of_edges()
    assert obliv.fewest_virtual_channels(routing).fewest == 1


class Listed:
    def __init__(self, routing: obliv.Routing) -> None:
        self.topology, self.paths = routing.topology, routing.paths


@pytest.mark.sampled(4)
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("topology", [obliv.mesh(4, 4), obliv.mesh(5, 3).with_terminals([11, 2, 7, 0, 14])])
def test_loads_lengths_and_samples_are_those_of_the_paths(model: str, topology: Topology) -> None:
    routing = obliv.routing(model, topology)
    listed = obliv.routing(Listed(routing))
    assert routing.pair_loads() == listed.pair_loads()
    assert routing.path_lengths(silent) == listed.path_lengths(silent)
    worst = obliv.worst_case(routing, certificate=True)
    assert worst.channel_load == obliv.worst_case(listed).channel_load
    assert obliv.verify(worst, topology=topology, routing=routing).proved
    rng = np.random.default_rng(1)
    source, destination = int(topology.terminals[0]), int(topology.terminals[-1])
    assert routing.sample(source, destination, rng) in dict(routing.paths(source, destination))
    assert abs(float(obliv.worst_case(routing, samples=500).channel_load) - float(worst.channel_load)) < 0.5


@pytest.mark.parametrize(
    ("model", "spec", "message"),
    [
        ("odd-even", "torus:4x4", "needs a mesh or a hypercube, torus:4x4 is neither"),
        ("west-first", "hyperx:4x4", "needs a mesh"),
        ("north-last", "mesh:3x3x3", "needs 2 dimensions, mesh:3x3x3 has 3; negative-first fits any"),
        ("odd-even", "line:5", "needs 2 dimensions"),
        ("negative-first", "kautz:2,2", "has no coordinates"),
    ],
)
def test_other_networks_are_refused(model: str, spec: str, message: str) -> None:
    with pytest.raises(obliv.RoutingError, match=message):
        obliv.routing(model, spec)
