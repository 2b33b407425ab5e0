"""A subclass that chooses paths by a method of its own is answered by them, never by its parent's formulas."""

import inspect
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

import obliv
from obliv.routings.base import Routing
from obliv.routings.dimension_ordered import ProgramRouting
from obliv.routings.listed import Listed
from obliv.routings.mixes import TwoPhase
from obliv.routings.paths import Path
from obliv.routings.shortest import MinimalRouting
from obliv.routings.trees import TreeTable

_PUBLIC = [kind for name in dir(obliv) if inspect.isclass(kind := getattr(obliv, name)) and issubclass(kind, Routing)]
_KINDS = [*_PUBLIC, ProgramRouting, MinimalRouting, TwoPhase, Listed]

_TREE_KINDS = [kind for kind in _KINDS if issubclass(kind, obliv.TreeRouting)]
_GRIDS = ("mesh:4x3", "torus:4x4", "torus:3x3")
_TREES = ("fattree:4,2", "fattree:4,3")
_PAIR = (Fraction(1, 2), Fraction(1, 2))


def instances(kind: type[Routing]) -> Iterator[Routing]:
    """Yield one routing of a class for the first grid and the first tree that it takes."""
    for specs in (_GRIDS, _TREES):
        for topology in map(obliv.topology, specs):
            try:
                made = kind(*_arguments(kind, topology))
            except obliv.InputError:
                continue
            yield made
            break


def _arguments(kind: type[Routing], topology: obliv.Topology) -> tuple[Any, ...]:
    if issubclass(kind, obliv.Mix):
        return (list(zip(_PAIR, (obliv.ECMP(topology), obliv.Shortest(topology)), strict=True)),)
    if issubclass(kind, TwoPhase):
        return obliv.ECMP(topology), "two phases"
    if issubclass(kind, ProgramRouting) and kind.__init__ is ProgramRouting.__init__:
        return topology, obliv.ROMM(topology).programs, "programs"
    if issubclass(kind, Listed) and kind.__init__ is Listed.__init__:
        of_design = obliv.routing("2turn", topology)
        assert isinstance(of_design, Listed)
        return topology, "listed", of_design.listed
    if issubclass(kind, TreeTable):
        tree = topology if hasattr(topology, "below") else obliv.fattree(4, 2)
        return tree, obliv.up_ports(obliv.DModK(tree))
    return (topology, 2) if issubclass(kind, obliv.KPath | obliv.OSRMK | obliv.Sampled) else (topology,)


def walk(topology: obliv.Topology, source: int, destination: int) -> Path:
    """Return a shortest path: always the lowest channel, but the highest one for packets from the second terminal."""
    far = {destination: 0}
    for node in (reached := [destination]):
        for channel in np.flatnonzero(topology.head == node).tolist():
            tail = int(topology.tail[channel])
            if tail not in far:
                far[tail] = far[node] + 1
                reached.append(tail)
    last = source == int(topology.terminals[1])
    channels = []
    while source != destination:
        leaving = np.flatnonzero(topology.tail == source).tolist()
        closer = [c for c in leaving if far[int(topology.head[c])] == far[source] - 1]
        channels.append(closer[-1 if last else 0])
        source = int(topology.head[channels[-1]])
    return tuple(channels), Fraction(1)


def truth(topology: obliv.Topology) -> tuple[Fraction, Fraction]:
    """Return the worst load of all assignments of :func:`walk`, channel by channel, and its mean hops."""
    terminals = topology.terminals.tolist()
    crossed = np.zeros((topology.channels, len(terminals), len(terminals)))
    for i, source in enumerate(terminals):
        for j, destination in enumerate(terminals):
            crossed[list(walk(topology, source, destination)[0]), i, j] += 1
    worst = max(load[linear_sum_assignment(load, maximize=True)].sum() for load in crossed)
    return Fraction(worst), Fraction(crossed.sum()) / len(terminals) ** 2


def own_paths(self: Routing, source: int, destination: int) -> list[Path]:
    return [walk(self.topology, source, destination)]


def own_hops(self: Routing, node: int, destination: int) -> list[int]:
    """Return the highest channel at the second terminal, the lowest one elsewhere."""
    return list(walk(self.topology, node, destination)[0][:1])


def own_sample(self: Routing, source: int, destination: int, rng: np.random.Generator) -> tuple[int, ...]:
    return walk(self.topology, source, destination)[0]


def answers(routing: Routing) -> tuple[Fraction, Fraction]:
    return obliv.worst_case(routing).channel_load, obliv.locality(routing).hops


@pytest.mark.parametrize("kind", _KINDS, ids=lambda kind: kind.__name__)
def test_own_paths_are_those_that_are_analyzed(kind: type[Routing]) -> None:
    count = 0
    for routing in instances(type("Mine", (kind,), {"paths": own_paths})):
        count += 1
        topology = routing.topology
        expected = truth(topology)
        if routing.relative:  # as its parent is declared: compared, and refused
            with pytest.raises(obliv.RoutingError, match="declared relative, but"):
                obliv.worst_case(routing)
            continue
        assert answers(routing) == expected
        assert answers(obliv.Mix([(Fraction(1), routing)])) == expected
        assert answers(_PAIR[0] * routing + _PAIR[1] * routing) == expected
        assert float(obliv.worst_case(routing, samples=2).channel_load) == expected[0]
        assert obliv.worst_case(obliv.routing(routing, topology)).channel_load == expected[0]
        assert not routing.unnumbered
        assert (routing.describe(), routing.programs) == ((), ())
        pattern = obliv.traffic("shift:1", topology)
        plain = type("Plain", (Routing,), {"paths": own_paths})(topology)
        for one, other in zip(
            obliv.throughput(routing, pattern).patterns, obliv.throughput(plain, pattern).patterns, strict=True
        ):
            assert one.channel_load == other.channel_load
        assert obliv.deadlock(routing).acyclic == obliv.deadlock(plain).acyclic
    assert count


@pytest.mark.parametrize("kind", _KINDS, ids=lambda kind: kind.__name__)
def test_own_next_hops_are_those_that_are_analyzed(kind: type[Routing]) -> None:
    """They need a class of next hops; elsewhere they are refused."""
    for routing in instances(type("Mine", (kind,), {"next_hops": own_hops})):
        if issubclass(kind, obliv.HopRouting):
            plain = type("Plain", (obliv.HopRouting,), {"next_hops": own_hops})(routing.topology)
            listed = type("Plain", (Routing,), {"paths": lambda self, s, d, of=plain: of.paths(s, d)})(routing.topology)
            assert answers(routing) == answers(plain) == answers(listed)
            assert not routing.unnumbered
        else:
            with pytest.raises(NotImplementedError, match="derive it from HopRouting"):
                obliv.worst_case(routing)


@pytest.mark.parametrize("kind", _KINDS, ids=lambda kind: kind.__name__)
def test_own_random_paths_are_enough_for_estimates_only(kind: type[Routing]) -> None:
    for routing in instances(type("Mine", (kind,), {"sample": own_sample})):
        with pytest.raises(obliv.RoutingError, match=r"random paths only|declared relative, but"):
            obliv.worst_case(routing)
        if not routing.relative:
            assert float(obliv.worst_case(routing, samples=2).channel_load) == truth(routing.topology)[0]


@pytest.mark.parametrize("kind", _TREE_KINDS, ids=lambda kind: kind.__name__)
def test_own_path_numbers_are_those_that_are_analyzed(kind: type[obliv.TreeRouting]) -> None:
    """By digits of the source, so that no two sources at a leaf are alike."""

    def ways(self: obliv.TreeRouting, source: np.ndarray, destination: np.ndarray) -> np.ndarray:
        number = obliv.SModK(self.topology).ways(source, destination)
        return np.repeat(number, self.spread, axis=-1)

    for routing in instances(type("Mine", (kind,), {"ways": ways})):
        plain = type("Plain", (Routing,), {"paths": lambda self, s, d: obliv.SModK(self.topology).paths(s, d)})
        expected = plain(routing.topology)
        assert answers(routing) == answers(expected)
        assert obliv.ratio(routing).ratio == obliv.ratio(obliv.SModK(routing.topology)).ratio


def test_a_base_that_chooses_no_paths_speaks_of_those_of_its_subclasses() -> None:
    class Turned(Routing):
        def symmetries(self) -> list[np.ndarray]:
            return [np.array([1, 2, 3, 0])]

    mine = type("Mine", (Turned,), {"paths": own_paths})
    assert len(mine(obliv.ring(4)).symmetries()) == 1
    assert mine(obliv.ring(4)).symmetries()[0].tolist() == [1, 2, 3, 0]


def test_the_order_of_resolution_decides() -> None:
    """A mixin, before a built-in class, and next hops below paths."""
    mixin = type("Mixin", (), {"paths": own_paths})
    topology = obliv.mesh(4, 3)
    assert answers(type("Mine", (mixin, obliv.DOR), {})(topology)) == truth(topology)
    above = type("Above", (obliv.ECMP,), {"paths": own_paths})
    below = type("Below", (above,), {"next_hops": own_hops})
    plain = type("Plain", (obliv.HopRouting,), {"next_hops": own_hops})
    assert answers(below(topology)) == answers(plain(topology))
