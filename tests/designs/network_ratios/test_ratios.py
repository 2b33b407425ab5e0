"""The oblivious ratio on any network: known values, plain linear programs, closed forms, refusals."""

from __future__ import annotations

import sys
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.designs.networks import both_ways, networks
from tests.oracles.optima import oblivious_ratio
from tests.strategies import examples

import obliv
from obliv.designs.network_ratios import bounds
from obliv.designs.network_ratios import bounds as search
from obliv.designs.network_ratios.bounds import network_ratio
from obliv.errors import Interrupted
from obliv.questions.ratio import tree_ratio
from obliv.routings.listed import PathTable

# the Abilene network of the Internet Topology Zoo: 11 nodes, 14 links
ABILENE = [(0, 1), (0, 2), (1, 10), (2, 9), (3, 4), (3, 6), (4, 5), (4, 6), (5, 8)]
ABILENE += [(6, 7), (7, 8), (7, 10), (8, 9), (9, 10)]


def proportional(nodes: int) -> PathTable:
    """Return the routing of a cycle that goes each way with the share of the other way's hops."""
    ring = obliv.ring(nodes)
    clockwise = {v: ring.channels_between(v, (v + 1) % nodes)[0] for v in range(nodes)}
    back = {v: ring.channels_between(v, (v - 1) % nodes)[0] for v in range(nodes)}
    paths: dict[tuple[int, int], list[Any]] = {}
    for s in range(nodes):
        paths[s, s] = [((), Fraction(1))]
        for hops in range(1, nodes):
            there = tuple(clockwise[(s + k) % nodes] for k in range(hops))
            around = tuple(back[(s - k) % nodes] for k in range(nodes - hops))
            paths[s, (s + hops) % nodes] = [(there, Fraction(nodes - hops, nodes)), (around, Fraction(hops, nodes))]
    return PathTable(ring, paths, "proportional")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("nodes", [3, 4, 5, 6, 8, 11])
def test_cycles(nodes: int) -> None:
    """No routing of a cycle is below 2 - 2/n; the one that goes each way in proportion has it."""
    least = 2 - Fraction(2, nodes)
    result = obliv.ratio(proportional(nodes), certificate=True)
    assert result.ratio == least
    assert obliv.verify(result, routing=proportional(nodes)).proved
    for name in ("ecmp", "shortest", "valiant"):
        assert obliv.ratio(obliv.routing(name, obliv.ring(nodes))).lower >= least


@pytest.mark.parametrize("nodes", [4, 5])
def test_direct_paths_in_complete_graphs(nodes: int) -> None:
    """A direct path carries what could be spread over n - 1 paths of bandwidth 1."""
    assert obliv.ratio(obliv.routing("ecmp", obliv.topology(f"complete:{nodes}"))).ratio == nodes - 1


@pytest.mark.nightly
def test_abilene() -> None:
    network = obliv.build("abilene", 11, both_ways(ABILENE))
    result = obliv.ratio(obliv.ECMP(network), certificate=True)
    assert result.ratio == 3  # Applegate and Cohen's programs in another implementation
    assert result.gap is None
    assert obliv.verify(result, topology=network, routing=obliv.ECMP(network)).proved
    mix = Fraction(1, 2) * obliv.ECMP(network) + Fraction(1, 2) * obliv.routing("valiant", network)
    parts = [obliv.ratio(part).upper for part in (obliv.ECMP(network), obliv.routing("valiant", network))]
    assert obliv.ratio(mix).lower <= sum(parts) / 2


@pytest.mark.sampled(15)
@pytest.mark.parametrize("tree", ["fattree:4,2", "fattree:6,2", "fattree:4,3", "eft2:4,3"])
@pytest.mark.parametrize("name", ["dmodk", "omrmn", "hash:seed=1", "kpath:2"])
def test_trees_have_the_ratio_of_the_closed_form(tree: str, name: str) -> None:
    routing = obliv.routing(name, obliv.topology(tree))
    closed = tree_ratio(routing)
    assert network_ratio(routing).ratio == closed.ratio == obliv.ratio(routing).ratio
    assert obliv.ratio(routing).permutation == closed.permutation  # the closed form is used where it holds
    if tree == "fattree:4,2":
        assert closed.ratio == {"dmodk": 2, "omrmn": 1}.get(name, closed.ratio)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("tree", "name"),
    [
        pytest.param("sub-eft2:8,6", "dmodk", marks=pytest.mark.nightly),
        pytest.param("xgft:2;4,4;1,2", "omrmn", marks=pytest.mark.nightly),
        pytest.param("xgft:2;4,4;1,2", "dmodk", marks=pytest.mark.nightly),
        pytest.param("sub-eft2:6,4", "dmodk", marks=pytest.mark.nightly),
        ("xgft:2;3,3;1,2", "omrmn"),
        ("xgft:2;3,3;1,2", "dmodk"),
        ("xgft:1;4;2", "ecmp"),
    ],
)
def test_trees_without_a_closed_form(tree: str, name: str) -> None:
    routing = obliv.routing(name, obliv.topology(tree))
    result = obliv.ratio(routing, certificate=True)
    assert result.ratio == pytest.approx(plain(routing), rel=1e-7)
    assert (result.ratio == 1) == (name != "dmodk" or tree.startswith("sub"))
    assert obliv.verify(result).proved


def plain(routing: obliv.Routing) -> float:
    network = routing.topology
    nodes = network.terminals.tolist()
    links = list(zip(network.tail.tolist(), network.head.tolist(), strict=True))
    paths = {(s, d): [(c, float(p)) for c, p in routing.paths(s, d)] for s in nodes for d in nodes if s != d}
    return oblivious_ratio(network.nodes, links, nodes, paths, list(map(float, network.bandwidth)))


ROUTINGS = ["ecmp", "shortest", "valiant", "updown", "sampled:2,base=valiant", "electrical", "raecke:trees=3", "design"]


def drawn(network: obliv.Topology, seed: int) -> obliv.Routing:
    """Return one of the routings of any network, or one or two random paths per pair."""
    rng = np.random.default_rng(seed)
    name = ROUTINGS[int(rng.integers(len(ROUTINGS)))]
    if name == "design":
        return obliv.design(network, then=None).subject
    with suppress(obliv.OblivError):  # some need links both ways
        routing = obliv.routing(name, network)
        routing.pair_loads()
        return routing
    out: list[list[int]] = [[] for _ in range(network.nodes)]
    for c, tail in enumerate(network.tail.tolist()):
        out[tail].append(c)

    def walk(s: int, d: int) -> tuple[int, ...]:
        """Return a random path without loops: a random walk, its loops taken out."""
        place, path = {s: 0}, list[int]()
        node = s
        while node != d:
            path.append(int(rng.choice(out[node])))
            node = int(network.head[path[-1]])
            if node in place:
                path = path[: place[node]]
                place = {v: k for v, k in place.items() if k <= place[node]}
            place[node] = len(path)
        return tuple(path)

    paths: dict[tuple[int, int], list[Any]] = {}
    for s in network.terminals.tolist():
        for d in network.terminals.tolist():
            share = Fraction(int(rng.integers(1, 4)), 4)
            paths[s, d] = [(walk(s, d), share), (walk(s, d), 1 - share)] if s != d else [((), Fraction(1))]
    return PathTable(network, paths, "drawn")


@examples(30)
@given(st.integers(0, 10**9))
def test_against_plain_programs(seed: int) -> None:
    network = networks(seed)
    routing = drawn(network, seed)
    result = obliv.ratio(routing, certificate=True)
    assert float(result.ratio if result.gap is None else result.lower) == pytest.approx(plain(routing), rel=1e-6)
    assert result.upper <= result.lower * (1 + Fraction(1, 10**6))
    assert obliv.verify(result).proved
    assert obliv.Ratio.from_dict(result.to_dict()) == result


@pytest.mark.nightly
@pytest.mark.sampled(4)
@pytest.mark.parametrize("spec", ["mesh:3x3 romm", "torus:4x4 dor", "hypercube:3 valiant", "torus:5x3 valiant"])
def test_symmetries_change_nothing(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    topology, name = spec.split()
    routing = obliv.routing(name, obliv.topology(topology))
    one = obliv.ratio(routing, certificate=True)
    assert obliv.verify(one).proved
    monkeypatch.setattr(search, "_symmetries", lambda loads: [])
    two = obliv.ratio(routing)
    assert one.ratio == two.ratio


@pytest.mark.nightly
def test_the_same_input_gives_the_same_answer() -> None:
    routing = obliv.ECMP(obliv.build("abilene", 11, both_ways(ABILENE)))
    assert obliv.ratio(routing, certificate=True) == obliv.ratio(routing, certificate=True)


def test_bounds_that_do_not_meet(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where no simple rationals fit the solver's numbers, rounded ones prove bounds close to each other."""
    routing = proportional(7)
    monkeypatch.setattr(bounds, "as_rationals", lambda values: None)
    monkeypatch.setattr(bounds, "_SCALE", 1000)
    monkeypatch.setattr(bounds, "WHOLE", 1000)
    result = obliv.ratio(routing, certificate=True)
    assert result.lower <= Fraction(12, 7) <= result.upper < Fraction(12, 7) * Fraction(101, 100)
    assert result.gap == result.upper / result.lower - 1
    if result.gap is not None:
        assert "gap" in repr(result)
        assert result.to_dict()["ratio"] == {"lower": float(result.lower), "upper": float(result.upper)}
    assert obliv.verify(result, routing=routing).proved
    result.save(tmp_path / "claim.json")
    assert obliv.load(tmp_path / "claim.json") == result


def test_an_interruption_keeps_the_bounds_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    routing = obliv.ECMP(obliv.build("abilene", 11, both_ways(ABILENE)))
    solved = search.worst_traffic
    calls = []

    def stop_at_the_second(*arguments: Any) -> Any:
        calls.append(1)
        if len(calls) > 1:
            raise KeyboardInterrupt
        return solved(*arguments)

    monkeypatch.setattr(search, "worst_traffic", stop_at_the_second)
    with pytest.raises(Interrupted) as stopped:
        obliv.ratio(routing, certificate=True)
    result = stopped.value.so_far
    assert result.lower <= 3 <= result.upper
    assert obliv.verify(result, topology=routing.topology, routing=routing).proved


def test_what_has_no_ratio(monkeypatch: pytest.MonkeyPatch) -> None:
    apart = obliv.build("apart", 4, both_ways([(0, 1), (2, 3)]))
    with pytest.raises(obliv.OblivError, match="no path leads from 0 to 2"):
        obliv.ratio(obliv.ECMP(apart))
    with pytest.raises(obliv.TooLargeError, match="linear programs of up to"):
        obliv.ratio(obliv.routing("dor", obliv.topology("torus:160x160")))
    monkeypatch.setitem(sys.modules, "highspy", None)
    with pytest.raises(obliv.MissingExtraError, match="design"):
        obliv.ratio(obliv.ECMP(obliv.ring(5)))
    assert obliv.ratio(obliv.DModK(obliv.fattree(4, 2))).ratio == 2  # needs no solver
