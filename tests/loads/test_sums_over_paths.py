"""Loads are the sums over paths: every routing and every kind of pair loads, whatever the terminals.

The law is checked on the network as it is, with its terminals in another order, on a subset of them, with unequal rates
and with unequal bandwidths.
"""

from __future__ import annotations

import dataclasses
import importlib
import itertools
import operator
import pkgutil
import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import permutations, product
from math import lcm
from typing import Any

import numpy as np
import pytest
from tests.fabric.by_hand import random_fabric, random_tables

import obliv
import obliv.loads as obliv_loads
from obliv._util.progress import silent
from obliv.errors import InputError
from obliv.fabric.adaptive.loads import AdaptiveLoads
from obliv.fabric.analyses.permutations import average, bisection, shifts
from obliv.fabric.analyses.worst import throughput, worst
from obliv.fabric.generate import from_topology, tables_of
from obliv.fabric.routes.loads import FabricLoads
from obliv.fabric.routes.routing import routing as fabric_routing
from obliv.fabric.topology import network
from obliv.loads.base import LoadsWithoutSelf, PairLoads, Problem
from obliv.loads.mixed import TwoPhaseLoads
from obliv.loads.workers import Calls
from obliv.routings.base import Routing
from obliv.routings.mixes import TwoPhase
from obliv.specs.registry import ROUTINGS as ROUTINGS_BY_NAME

GRID = "dor dor:yx o1turn romm romm:xy valiant xyx yxy u2turn u2turn-a:p=1/3 ival i2turn shortest ecmp updown"
GRID += " u2turn:shortcut=no"
TREE = "omrmn dmodk smodk hash:seed=3 kpath:2 ecmp shortest updown valiant wsr"
ROUTINGS = {
    "mesh:3x3": f"{GRID} 2turn west-first north-last negative-first odd-even",
    "torus:3x3": f"{GRID} weighted-2turn",
    "torus:4x2": "dor romm valiant ival o1turn ecmp",
    "torus:4x4": "dor o1turn romm ecmp 1/3*dor+2/3*ecmp",
    "torus:3x2x2": "dor ecmp",
    "torus:3x2": "1/4*romm+3/4*valiant",
    "mesh:4x2": "dor romm valiant ecmp 1/3*dor+2/3*ecmp",
    "line:5": "dor romm valiant shortest ecmp",
    "hyperx:3x3": "dor o1turn romm valiant ecmp",
    "complete:5": "dor valiant ecmp",
    "mesh:2x2x2": "dor:order=2-0-1 romm valiant ecmp",
    "hypercube:3": "dor romm valiant ecmp",
    "ring:5": "dor valiant shortest ecmp updown",
    "hyperx:3x2": "dor valiant ecmp",
    "random-regular:n=8,d=3,seed=1": "electrical shortest ecmp updown valiant 1/3*shortest+2/3*ecmp",
    "complete:4": "raecke:trees=3,seed=1 sampled:3,base=valiant,seed=1",
    "circulant:9,1x3": "raecke:trees=3,seed=1",
    "kautz:2,2": "shortest ecmp valiant",
    "fattree:4,2": f"{TREE} osrm2 osrm2-c osrmn",
    "fattree:4,3": "omrmn osrm-k:2 osrm3 osrm3-d osrmn dmodk 1/2*dmodk+1/2*smodk",
    "xgft:2;2,3;1,2": "omrmn dmodk ecmp",
}
#: They need the same bandwidth in both directions: tests/routings/graphs/test_electrical.py, test_raecke.py.
UNDIRECTED = ("electrical", "raecke:trees=3,seed=1")
CASES = [(topology, routing) for topology, routings in ROUTINGS.items() for routing in routings.split()]
#: Where the paths of all pairs are many.
LARGE = [
    (topology, routing)
    for topology, routings in (
        ("torus:4x4", "valiant 1/4*romm+3/4*valiant"),
        ("torus:3x2x2", "romm 1/4*romm+3/4*valiant"),
    )
    for routing in routings.split()
]


def _order(topology: Any) -> Any:
    nodes = topology.terminals.tolist()
    random.Random(1).shuffle(nodes)
    return topology.with_terminals(nodes)


def _subset(topology: Any) -> Any:
    nodes = topology.terminals.tolist()
    return topology.with_terminals(random.Random(2).sample(nodes, 1 + len(nodes) // 2))


def _rates(topology: Any) -> Any:
    chance, n = random.Random(3), len(topology.terminals)
    injection, ejection = ([Fraction(chance.randint(1, 3), 2) for _ in range(n)] for _ in range(2))
    return _order(topology.with_rates(injection, ejection))


def _bandwidths(topology: Any) -> Any:
    chance = random.Random(4)
    speeds = tuple(Fraction(chance.randint(1, 4), 3) for _ in range(topology.channels))
    return dataclasses.replace(topology, spec=f"{topology.spec} with bandwidths", bandwidth=speeds, capacity_load=None)


VARIANTS = {"as it is": lambda topology: topology, "order": _order, "subset": _subset, "rates": _rates}
VARIANTS["bandwidths"] = _bandwidths


def check_solutions(loads: PairLoads) -> None:
    """The worst traffic of every channel: admissible, worth its value, proved by its prices; and the worst of all."""
    rates, speeds = loads.rates, loads.topology.bandwidth
    supply, demand = rates.supply.tolist(), rates.demand.tolist()
    optima = []
    for c in range(loads.topology.channels):
        solution = loads.solve(c, rates)
        weights = {(int(i), int(j)): int(w) for i, j, w in zip(*loads.weights(c).spread(), strict=True)}
        sent, taken = [0] * len(supply), [0] * len(demand)
        value = 0
        for i, j, amount in solution.shipments():
            value += weights.get((i, j), 0) * amount
            sent[i] += amount
            taken[j] += amount
        assert all(a <= b for a, b in zip(sent + taken, supply + demand, strict=True))
        assert solution.prices is not None
        prices = [int(v) for v in solution.prices]
        assert min(prices) >= 0
        margins = [0] * len(supply)
        for (i, j), w in weights.items():
            margins[i] = max(margins[i], w - prices[j])
        proof = sum(map(operator.mul, supply, margins)) + sum(map(operator.mul, demand, prices))
        assert value == solution.value == proof
        optima.append(value / (speeds[c] if speeds else Fraction(1)))
    for prices_too in (False, True):
        result = {}
        for group in loads.solve_worst(np.arange(len(optima)), silent, Calls(Problem(loads, rates, prices_too))):
            for c, solution in group:
                assert solution.value / (speeds[c] if speeds else Fraction(1)) == optima[c]
                assert len({s for s, _, _ in solution.shipments()}) <= len(supply)
                result[c] = optima[c]
        assert max(result.values()) == max(optima)


def check_law(routing: Any, loads: PairLoads) -> None:
    """Loads under permutations, a random matrix and uniform traffic, and every weight, against the paths."""
    topology = routing.topology
    nodes = topology.terminals.tolist()
    n = len(nodes)
    crossed: dict[tuple[int, int], dict[int, Fraction]] = {}
    for i, s in enumerate(nodes):
        for j, d in enumerate(nodes):
            used = crossed[i, j] = {}
            for channels, chance in routing.paths(s, d):
                for c in channels:
                    used[c] = used.get(c, Fraction(0)) + chance
    shares = [share for used in crossed.values() for share in used.values()]
    speeds = topology.bandwidth or (Fraction(1),) * topology.channels
    chance = random.Random(5)
    matrix = [[Fraction(chance.randint(0, 3), 3 * n) for _ in range(n)] for _ in range(n)]
    image = chance.sample(range(n), n)
    permutation = [[Fraction(int(image[i] == j)) for j in range(n)] for i in range(n)]
    uniform = [[Fraction(1, n)] * n for _ in range(n)]
    for traffic, rows in (
        (obliv.matrix(matrix), matrix),
        (obliv.permutation(image), permutation),
        (obliv.traffic("uniform", topology), uniform),
    ):
        over = lcm(*(share.denominator for share in (*itertools.chain(*rows), *shares)))
        numerators = [0] * topology.channels  # over its square: sums of integers are faster than those of fractions
        for (i, j), used in crossed.items():
            sent = int(over * rows[i][j])
            for c, share in used.items() if sent else ():
                numerators[c] += sent * share.numerator * (over // share.denominator)
        right = [Fraction(x, over**2) / speed for x, speed in zip(numerators, speeds, strict=True)]
        assert loads.under(traffic) == right, traffic
    for c in range(topology.channels):
        entries = {(int(i), int(j)): int(w) for i, j, w in zip(*loads.weights(c).spread(), strict=True)}
        right_entries = {
            pair: used[c] for pair, used in crossed.items() if used.get(c)
        }  # over the whole denominator, zeros left out
        assert {p: Fraction(w, loads.denominator) for p, w in entries.items() if w} == right_entries, c
    assert loads.hops() == sum(shares, Fraction(0)) / n**2


def is_grid(spec: str) -> bool:
    return spec.partition(":")[0] in ("mesh", "torus", "line", "ring", "hyperx", "hypercube", "complete")


def _variants_in_turn() -> Iterator[Any]:
    changes = [name for name in VARIANTS if name != "as it is"]
    for number, case in enumerate(CASES):
        for variant in VARIANTS:
            # grids as they are: tests/loads/test_definitions.py
            by_day = variant == changes[number % len(changes)] or (variant == "as it is" and not is_grid(case[0]))
            yield pytest.param(*case, variant, marks=[] if by_day else pytest.mark.nightly)
    for case, variant in product(LARGE, VARIANTS):
        yield pytest.param(*case, variant, marks=pytest.mark.nightly)


@pytest.mark.sampled(9)
@pytest.mark.parametrize(("spec", "word", "variant"), list(_variants_in_turn()))
def test_loads_are_sums_over_paths(spec: str, word: str, variant: str) -> None:
    topology = VARIANTS[variant](obliv.topology(spec))
    try:
        routing = obliv.routing(word, topology)
    except InputError:
        if variant == "bandwidths" and word in UNDIRECTED:
            return
        assert variant == "subset"  # rules of fat trees need all hosts
        assert "tree" in spec or "xgft" in spec
        return
    check_law(routing, routing.pair_loads())
    check_solutions(routing.pair_loads())


@pytest.mark.sampled(16)
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("offset", ["0", "group", "index", "spread"])
@pytest.mark.parametrize("damage", [0, 4])
def test_tables_of_fabrics_too(damage: int, offset: str, variant: str) -> None:
    fabric = random_fabric(damage + 3, lmc=2)
    tables = random_tables(fabric, 1, damage=damage)
    topology = network(fabric)
    hosts = topology.with_terminals(topology.terminals[:8].tolist())
    routing = fabric_routing(VARIANTS[variant](hosts), tables, offset, missing="skip")
    check_law(routing, routing.pair_loads())


def test_the_order_of_hosts_once_gave_half_the_load() -> None:
    tree = obliv.topology("fattree:4,2")
    fabric = from_topology(tree)
    topology = network(fabric).with_terminals([0, 2, 4, 6, 1, 3, 5, 7])
    routing = fabric_routing(topology, tables_of(obliv.routing("dmodk", tree), fabric))
    traffic = obliv.permutation([1, 0, 4, 3, 2, 5, 6, 7])
    assert max(routing.pair_loads().under(traffic)) == 2
    check_law(routing, routing.pair_loads())
    check_law(Fraction(1, 2) * routing + Fraction(1, 2) * routing, routing.pair_loads())


@pytest.mark.parametrize("variant", ["order", "subset"])
def test_what_is_asked_of_fabrics_counts_their_terminals(variant: str) -> None:
    tree = obliv.topology("fattree:4,2")
    fabric = from_topology(tree)
    whole = network(fabric)
    topology = whole.with_terminals([6, 1, 0, 3, 7, 2][: 6 if variant == "order" else 4])
    routing = fabric_routing(topology, tables_of(obliv.routing("dmodk", tree), fabric))
    n, node = len(topology.terminals), topology.terminals.tolist()

    def load(image: Sequence[int]) -> Fraction:
        total = [Fraction(0)] * topology.channels
        for i, j in enumerate(image):
            for channels, chance in routing.paths(node[i], node[j]):
                for c in channels:
                    total[c] += chance
        return max(total)

    result = worst(routing)
    assert result.channel_load == max(map(load, permutations(range(n)))) == load(result.permutation or ())
    assert result.hottest[0].lower == result.channel_load
    assert result.terminal_names == tuple(whole.labels[v] for v in node)
    shifted = [load([(i + k) % n for i in range(n)]) for k in range(1, n)]
    assert (shifts(routing).worst_load, shifts(routing).mean_load) == (max(shifted), sum(shifted) / (n - 1))
    assert 1 <= average(routing, 50).channel_load.value <= result.channel_load
    assert bisection(routing, 50).smallest <= 1
    assert throughput(routing, "shift:1").patterns[0].channel_load == shifted[0]


def test_two_phases_whose_terms_have_a_common_divisor() -> None:
    """Two pairs of hosts and a double cable between them: halves of loads, of which every sum is whole."""
    cables = [(0, 4), (1, 4), (2, 5), (3, 5), (4, 5), (4, 5)]
    links = [link for cable in cables for link in (cable, cable[::-1])]
    network = obliv.build("dumbbell", 6, links, terminals=range(4))
    base = obliv.ECMP(network)
    routing = TwoPhase(base, "two phases")
    loads = routing.pair_loads()
    assert isinstance(loads, TwoPhaseLoads)
    assert base.pair_loads().denominator * 4 == 2 * loads.denominator
    check_law(routing, loads)
    check_solutions(loads)


def test_loads_between_different_terminals_only() -> None:
    routing = obliv.routing("valiant", _subset(obliv.topology("mesh:3x3")))
    whole, others = routing.pair_loads(), routing.pair_loads().without_self()
    for c in range(routing.topology.channels):
        right = whole.on_channel(c).toarray()
        np.fill_diagonal(right, 0)
        assert (others.on_channel(c).toarray() == right).all()


def test_a_terminal_that_uses_the_last_channel_only_for_itself() -> None:
    loop = obliv.build("loop", 2, [(0, 1), (1, 0), (1, 1)])

    class Turning(Routing):
        """Packets of node 1 for itself go round its own channel."""

        def paths(self, source: int, destination: int) -> Any:
            return [((2,) if source == destination == 1 else (source,) if source != destination else (), Fraction(1))]

    loads = Turning(loop, "turning").pair_loads()
    assert [loads.on_channel(c).toarray().tolist() for c in range(3)] == [
        [[0, 1], [0, 0]],
        [[0, 0], [1, 0]],
        [[0, 0], [0, 1]],
    ]
    others = loads.without_self()
    assert not others.on_channel(2).nnz
    assert [others.on_channel(c).toarray().tolist() for c in range(2)] == [[[0, 1], [0, 0]], [[0, 0], [1, 0]]]
    assert others.without_self() is others


def test_every_routing_and_every_kind_of_loads_is_under_the_law() -> None:
    names = {word.partition(":")[0] for _, word in CASES}
    ours = [entry for entry in ROUTINGS_BY_NAME if entry.make.__module__.startswith("obliv.")]
    registered = {entry.name for entry in ours if not entry.reads_file}
    assert registered <= names | {"osrm-k"}, "add the new routing to ROUTINGS above"
    for module in pkgutil.walk_packages(obliv_loads.__path__, f"{obliv_loads.__name__}."):
        importlib.import_module(module.name)
    kinds = {type(obliv.routing(word, obliv.topology(spec)).pair_loads()) for spec, word in CASES}
    # by tests of their own, above and, as switches that choose put more on channels than paths add up to, in
    # tests/fabric/adaptive/test_adaptive_loads.py
    others = {FabricLoads, LoadsWithoutSelf, AdaptiveLoads}
    missing = _subclasses(PairLoads) - kinds - others
    assert not missing, (
        f"{missing}: add a routing that returns the new kind of pair loads to ROUTINGS above; if no built-in routing "
        "returns it, call check_law with pair loads of this kind in a test of its own, and add the kind to `others`"
    )


def _subclasses(kind: type) -> set[type]:
    """All concrete classes of obliv that derive from one."""
    result = {below for child in kind.__subclasses__() for below in {child, *_subclasses(child)}}
    return {child for child in result if child.__module__.startswith("obliv.")}
