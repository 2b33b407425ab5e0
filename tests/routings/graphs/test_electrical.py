"""Electrical routing: against the pseudoinverse of the Laplacian, the general solver, and forged claims."""

from __future__ import annotations

import copy
import dataclasses
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.claims import save_claim
from tests.loads.test_sums_over_paths import check_law, check_solutions

import obliv
from obliv.matching.solve import Rates, ship
from obliv.topologies.base import find
from obliv.topologies.cartesian import LinkFlows, links_of


def network(seed: int) -> obliv.Topology:
    """A connected random network with parallel links, bandwidths by link and some nodes that are not terminals."""
    chance = random.Random(seed)
    nodes = chance.randint(2, 8)
    edges = [(node, chance.randrange(node)) for node in range(1, nodes)]
    for _ in range(chance.randint(0, nodes)):
        one, two = chance.sample(range(nodes), 2)
        edges += [(one, two)] * chance.randint(1, 2)
    speeds = [Fraction(chance.randint(1, 4), chance.choice([1, 2])) for _ in edges]
    terminals = chance.sample(range(nodes), chance.randint(1, nodes))
    return obliv.build(
        f"random-{seed}",
        nodes,
        [link for edge in edges for link in (edge, edge[::-1])],
        bandwidth=[speed for speed in speeds for _ in range(2)],
        terminals=terminals,
    )


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", [*range(8), *(pytest.param(k, marks=pytest.mark.nightly) for k in range(8, 200))])
def test_loads_are_electrical_flows(seed: int) -> None:
    topology = network(seed)
    routing = obliv.routing("electrical", topology)
    loads = routing.pair_loads()
    rates = loads.rates
    speed = np.array([float(topology.bandwidth_of(c)) for c in range(topology.channels)])
    laplacian = np.zeros((topology.nodes, topology.nodes))
    for tail, head, conductance in zip(topology.tail, topology.head, speed, strict=True):
        laplacian[tail, tail] += conductance
        laplacian[tail, head] -= conductance
    resistance = np.linalg.pinv(laplacian)[:, topology.terminals]
    beyond = Rates(*(tuple(Fraction(int(rate) << 50) for rate in side) for side in (rates.supply, rates.demand)))
    for c in range(topology.channels):
        x = speed[c] * (resistance[topology.tail[c]] - resistance[topology.head[c]])
        right = np.maximum(0, x[:, None] - x)
        assert np.allclose(loads.on_channel(c).toarray() / loads.denominator, right, atol=2.0**-34)
        solution = ship(loads.weights(c), rates, loads.terminals)
        assert loads.solve(c, rates).value == solution.value
        assert loads.solve(c, beyond).value == solution.value << 50
    check_law(routing, loads)
    check_solutions(loads)


def test_flows_on_trees_are_exact() -> None:
    line = obliv.routing("electrical", obliv.line(7))
    assert line.pair_loads() == obliv.DOR(obliv.line(7)).pair_loads()
    assert obliv.worst_case(obliv.routing("electrical", obliv.ring(8))).channel_load == 2


def test_symmetric_pairs_have_equal_loads() -> None:
    """Links that carry nothing by symmetry carry nothing after rounding, outside the spanning tree."""
    loads = obliv.routing("electrical", obliv.torus(4, 4)).pair_loads()
    assert obliv.worst_case(loads).channel_load == pytest.approx(1, abs=1e-10)
    assert float(loads.hops()) == pytest.approx(sum(loads.totals()) / loads.denominator / 16**2)


def claim_of(tmp_path: Path, topology: Any = "mesh:3x3") -> dict[str, Any]:
    import json

    result = obliv.worst_case(obliv.routing("electrical", obliv.topology(topology)), certificate=True)
    result.save(tmp_path / "claim.json")
    assert obliv.verify(tmp_path / "claim.json").proved
    content: dict[str, Any] = json.loads((tmp_path / "claim.json").read_text())
    return content


def proved(content: dict[str, Any], tmp_path: Path) -> bool:

    save_claim(content, tmp_path / "forged.json")
    return obliv.verify(tmp_path / "forged.json").proved


def test_forged_claims_are_refused(tmp_path: Path) -> None:
    honest = claim_of(tmp_path)
    assert proved(copy.deepcopy(honest), tmp_path)
    forged = copy.deepcopy(honest)
    entries = forged["certificate"]["channels"]
    for threshold in (entries[honest["channel"]["id"]]["threshold"] + 2**39, 10**40, -(10**40)):
        entries[honest["channel"]["id"]]["threshold"] = threshold
        assert not proved(forged, tmp_path)
    forged = copy.deepcopy(honest)
    load = Fraction(honest["channel_load"]["exact"]) - Fraction(1, 2**40)
    for key, value in (("channel_load", load), ("throughput", 1 / load)):
        forged[key] = {"exact": str(value), "value": value.numerator / value.denominator}
    share = (1 / load) / obliv.mesh(3, 3).capacity_load ** -1
    forged["fraction_of_capacity"] = {"exact": str(share), "value": share.numerator / share.denominator}
    assert not proved(forged, tmp_path)
    forged = copy.deepcopy(honest)
    forged["routing"] = "ecmp"
    assert not proved(forged, tmp_path)


def test_a_flow_that_is_not_conserved_is_refused(tmp_path: Path) -> None:
    topology = obliv.mesh(3, 3)
    routing = obliv.routing("electrical", topology)
    result = obliv.worst_case(routing, certificate=True)
    flows = find(routing, LinkFlows)
    assert flows is not None
    amount = flows.amount.copy()
    amount[3, 5] += 1
    vars(routing)["_flows"] = dataclasses.replace(flows, amount=amount)
    verdict = obliv.verify(result, routing=routing)
    assert not verdict.proved
    assert "not conserved" in str(verdict)


def test_mixes_and_certificates_of_mixes() -> None:
    mix = Fraction(1, 2) * obliv.routing("electrical", obliv.mesh(3, 3)) + Fraction(1, 2) * obliv.DOR(obliv.mesh(3, 3))
    assert obliv.verify(obliv.worst_case(mix, certificate=True)).proved


@pytest.mark.parametrize(
    ("topology", "match"),
    [
        (obliv.build("one-way", 3, [(0, 1), (1, 2), (2, 0)]), "undirected network.*channel 0 .0 -> 1. has none"),
        (obliv.build("uneven", 2, [(0, 1), (1, 0)], bandwidth=[1, 2]), "opposite of the same bandwidth"),
        (obliv.build("parts", 4, [(0, 1), (1, 0), (2, 3), (3, 2)]), "2 cannot be reached from 0"),
        (
            obliv.build("wide", 3, [(0, 1), (1, 0), (1, 2), (2, 1)], bandwidth=[1, 1, 10**7, 10**7]),
            r"at most 2\*\*20 times",
        ),
    ],
)
def test_networks_without_electrical_flows(topology: obliv.Topology, match: str) -> None:
    with pytest.raises(obliv.OblivError, match=match):
        obliv.routing("electrical", topology).pair_loads()


def test_links_of_a_multigraph() -> None:
    links = links_of(obliv.build("two", 2, [(0, 1), (1, 0), (0, 1), (1, 0)]), "test")
    assert links.forward.tolist() == [0, 1]
    assert links.backward.tolist() == [2, 3]


@pytest.mark.parametrize("spec", ["mesh:6x6", "random-regular:n=60,d=4,seed=1", "line:40"])
def test_flows_do_not_depend_on_the_solver(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    topology = obliv.topology(spec)
    dense = find(obliv.routing("electrical", topology), LinkFlows)
    monkeypatch.setattr("obliv.routings.congestion._DENSE", 0)
    monkeypatch.setattr("obliv.routings.congestion._COLUMNS", 7)
    sparse = find(obliv.routing("electrical", topology), LinkFlows)
    assert dense is not None
    assert sparse is not None
    assert (dense.amount == sparse.amount).all()
