"""Pair loads and worst cases of group tables: against every path in plain Python, and against all choices at once."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from tests.fabric.adaptive.by_choices import Loads, loads_by_choices, random_groups, ways
from tests.fabric.by_hand import random_fabric, worst_of
from tests.fabric.routes.test_loads import rule_for

import obliv
from obliv.errors import RoutingError
from obliv.fabric.adaptive.routing import AdaptiveRouting, adaptive_routing
from obliv.fabric.generate import from_topology
from obliv.fabric.model import Fabric
from obliv.fabric.reroute.fill import GROUP_RULES, groups_of
from obliv.fabric.routes.routing import FabricRouting
from obliv.fabric.topology import network
from obliv.loads.stored import from_hops
from obliv.matching.solve import simple_bound
from obliv.patterns.base import Traffic
from obliv.routings.descriptions import NextHops
from obliv.topologies.base import find

TREES = ["fattree:4,2", "fattree:4,3", "eft2:6,4", "xgft:3;2,2,3;1,2,2"]
NETWORKS = [*TREES, "ring:5", "torus:3x3", "hyperx:3x3", "dragonfly:2,3,1", "random-regular:n=10,d=3,seed=1"]


def _offsets(fabric: Fabric, routing: FabricRouting) -> Any:
    size = [1 << int(fabric.ports.lmc[d]) for d in fabric.endpoints.tolist()]
    several, low = routing.routes.denominator, routing.routes.low[routing.routes.class_of].tolist()
    return lambda i, j: [(low[i] + o) % size[j] for o in range(several)]


def _made(seed: int, mode: str) -> tuple[FabricRouting, Loads]:
    fabric = random_fabric(seed, lmc=seed % 3, mixed=seed % 4 == 3)
    groups = random_groups(fabric, seed, damage=seed % 2 * 4)
    routing = adaptive_routing(network(fabric), groups, mode, rule_for(seed, fabric), missing="skip")
    return routing, loads_by_choices(fabric, groups, _offsets(fabric, routing), mode == "worst")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("mode", ["even", "worst"])
@pytest.mark.parametrize("seed", range(24))
def test_loads_are_those_of_all_paths(seed: int, mode: str) -> None:
    routing, right = _made(seed, mode)
    topology, loads = routing.topology, routing.pair_loads()
    slots = topology.slot_of.tolist()
    matrix = [loads.on_channel(c).toarray() for c in range(topology.channels)]
    for (i, j), used in right.items():
        for c, slot in enumerate(slots):
            assert Fraction(int(matrix[c][i, j]), loads.denominator) == used.get(slot, 0), (i, j, c)
    assert loads.totals().tolist() == [int(each.sum()) for each in matrix]
    rng = np.random.default_rng(seed)
    supply = rng.integers(1, 9, 5)
    assert loads.uniform(supply).tolist() == [int((each.sum(axis=1) * supply).sum()) for each in matrix]
    ends = topology.fabric.endpoints.tolist()
    assert routing.skipped == sum(used.get(ends[i], 0) != 1 for (i, j), used in right.items() if i != j)
    rates = loads.rates
    bounds = loads.bounds(rates.supply, rates.demand)
    assert bounds.tolist() == [simple_bound(loads.weights(c), rates) for c in range(topology.channels)]
    flows = {(int(s), int(d)): int(rng.integers(1, 5)) for s, d in rng.integers(0, 5, (6, 2))}
    pairs = np.array(list(flows))
    traffic = Traffic("some", 5, Fraction(0), pairs[:, 0], pairs[:, 1], np.array(list(flows.values())), 4)
    for c, load in enumerate(loads.under(traffic)):
        own = sum(amount * right[pair].get(slots[c], Fraction(0)) for pair, amount in flows.items())
        assert load == own / 4 / topology.bandwidth_of(c)


@pytest.mark.sampled(20)
@pytest.mark.parametrize("mode", ["even", "worst"])
@pytest.mark.parametrize("seed", range(12))
def test_worst_cases_are_those_of_all_permutations(seed: int, mode: str) -> None:
    routing, right = _made(2 * seed, mode)
    if not routing.topology.unit_rates:
        pytest.skip("rates: the worst traffic is no permutation")
    topology = routing.topology
    speed = {slot: topology.bandwidth_of(c) for c, slot in enumerate(topology.slot_of.tolist())}
    result = obliv.fabric.worst(routing, certificate=True)
    assert result.channel_load == worst_of(right, 5, speed)
    assert obliv.verify(result).proved


@pytest.mark.parametrize("spec", ["ring:4", "mesh:2x2", "complete:4", "hyperx:2x2"])
def test_the_worst_choice_is_that_of_all_choices(spec: str) -> None:
    """All permutations, and for each all paths of all pairs at once."""
    fabric = from_topology(obliv.topology(spec))
    groups = groups_of(fabric, "minimal")
    ends = fabric.endpoints.tolist()
    paths = {
        (s, d): list(ways(fabric, groups, s, d, int(fabric.ports.lid[d])) or {}) for s in ends for d in ends if s != d
    }
    best = 0
    for image in permutations(ends):
        pairs = [paths[pair] for pair in zip(ends, image, strict=True) if pair[0] != pair[1]]
        for chosen in product(*pairs):
            crossed = [slot for path in chosen for slot in path]
            best = max([best, *(crossed.count(slot) for slot in set(crossed))])
    assert obliv.worst_case(adaptive_routing(network(fabric), groups, "worst")).channel_load == best


@pytest.mark.sampled(4)
@pytest.mark.parametrize("rule", GROUP_RULES)
@pytest.mark.parametrize("spec", NETWORKS)
def test_static_is_at_most_the_worst_choice_and_so_is_the_even_split(spec: str, rule: str) -> None:
    fabric = from_topology(obliv.topology(spec))
    topology, groups = network(fabric), groups_of(fabric, rule)
    loads = {mode: adaptive_routing(topology, groups, mode) for mode in ("static", "even", "worst")}
    static, even, worst = (obliv.worst_case(loads[mode]).channel_load for mode in ("static", "even", "worst"))
    assert static <= worst
    assert even <= worst
    hops = find(loads["even"], NextHops)
    assert hops is not None
    assert loads["even"].pair_loads() == from_hops(topology, hops.hops_to, "even")  # by the general way
    if spec in TREES:
        assert even == obliv.worst_case(obliv.routing("updown", obliv.topology(spec))).channel_load


@pytest.mark.parametrize(
    ("spec", "most"), [("fattree:4,3", 4), pytest.param("fattree:8,3", 16, marks=pytest.mark.nightly)]
)
def test_even_splits_on_a_full_tree_carry_every_permutation(spec: str, most: int) -> None:
    """OMRMN: FT(m,3) with all up ports in one group."""
    fabric = from_topology(obliv.topology(spec))
    routing = adaptive_routing(network(fabric), groups_of(fabric, "updn"), "even")
    result = obliv.fabric.worst(routing, certificate=True, hottest=1)
    assert result.channel_load == 1
    worst = obliv.fabric.worst(adaptive_routing(network(fabric), groups_of(fabric, "updn"), "worst"), hottest=1)
    assert worst.channel_load == most  # all hosts below a switch of the middle by one of its ports


def test_static_ports_are_spread_over_full_trees() -> None:
    for spec in ("fattree:8,2", "fattree:4,3"):
        tree = obliv.topology(spec)
        fabric = from_topology(tree)
        static = adaptive_routing(network(fabric), groups_of(fabric), "static")
        dmodk = obliv.worst_case(obliv.routing("dmodk", tree)).channel_load
        assert obliv.worst_case(static).channel_load == dmodk


def test_certificates_of_offsets_and_spread_lids_are_proved() -> None:
    fabric = from_topology(obliv.topology("fattree:4,2"), lmc=1)
    for mode in ("even", "worst"):
        for offset in ("0-1", "spread", "1"):
            routing = adaptive_routing(network(fabric), groups_of(fabric), mode, offset)
            assert obliv.verify(obliv.worst_case(routing, certificate=True)).proved, (mode, offset)


def test_choices_without_chances_are_refused() -> None:
    fabric = from_topology(obliv.topology("fattree:4,2"))
    routing = adaptive_routing(network(fabric), groups_of(fabric), "worst")
    assert isinstance(routing, AdaptiveRouting)
    for call in (
        lambda: list(routing.paths(0, 3)),
        lambda: routing.pair_loads(samples=5),
        lambda: obliv.locality(routing),
        lambda: routing.pair_loads().hops(),
    ):
        with pytest.raises(RoutingError, match="adaptive=even"):
            call()
