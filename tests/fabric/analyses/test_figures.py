"""Shifts, random permutations and bisections of tables, against sums in plain Python."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from tests.fabric.by_hand import climbing, fabric_of, loads_of, random_fabric, random_tables

import obliv
from obliv.errors import InputError, Interrupted, RoutingError
from obliv.fabric.analyses.permutations import average, bisection, shifts
from obliv.fabric.generate import from_topology, tables_of
from obliv.fabric.kernels.automaton import heaviest, narrowest
from obliv.fabric.model import Tables
from obliv.fabric.results.worst import Bisection, Shifts
from obliv.fabric.routes.routing import FabricRouting
from obliv.fabric.routes.routing import routing as fabric_routing
from obliv.fabric.topology import network


def _case(seed: int) -> tuple[FabricRouting, dict[tuple[int, int], dict[int, Fraction]]]:
    fabric = random_fabric(seed, lmc=seed % 2, mixed=seed % 3 == 0)
    tables = random_tables(fabric, seed)
    spread = seed % 4 == 1
    loads = loads_of(fabric, tables, lambda i, j: list(range(2)) if spread else [0])
    return fabric_routing(network(fabric), tables, "spread" if spread else "0"), loads


def _heaviest(routing: FabricRouting, loads: dict[tuple[int, int], dict[int, Fraction]], image: list[int]) -> Fraction:
    topology = routing.topology
    rate, _ = topology.rates()
    total: dict[int, Fraction] = {}
    for i, j in enumerate(image):
        for slot, amount in loads[i, j].items():
            total[slot] = total.get(slot, Fraction(0)) + amount * min(rate[i], rate[j])
    return max(x / topology.bandwidth_of(int(topology.channel_of[slot])) for slot, x in total.items())


@pytest.mark.sampled(8)
@pytest.mark.parametrize("seed", range(12))
def test_shifts(seed: int) -> None:
    routing, loads = _case(seed)
    each = [_heaviest(routing, loads, [(i + k) % 5 for i in range(5)]) for k in range(1, 5)]
    result = shifts(routing)
    assert result.worst_load == max(each)
    assert result.worst_shift == 1 + each.index(max(each))
    assert result.mean_load == sum(each) / 4
    order = [3, 0, 4, 1, 2]
    place = {t: k for k, t in enumerate(order)}
    moved = [_heaviest(routing, loads, [order[(place[i] + k) % 5] for i in range(5)]) for k in range(1, 5)]
    assert shifts(routing, order=order, jobs=1).mean_load == sum(moved) / 4
    assert Shifts.from_dict(result.to_dict()) == result


@pytest.mark.parametrize("spec", ["fattree:4,3", pytest.param("fattree:8,3", marks=pytest.mark.nightly)])
def test_shifts_of_trees(spec: str) -> None:
    tree = obliv.topology(spec)
    hosts = len(tree.terminals)
    fabric = from_topology(tree)
    topology = network(fabric)
    assert shifts(fabric_routing(topology, tables_of(obliv.routing("dmodk", tree), fabric))).mean_load == 1
    routing = fabric_routing(topology, climbing(tree, fabric, 1.0))
    result = shifts(routing)
    each = obliv.throughput(routing, *(f"shift:{k}" for k in range(1, hosts))).patterns
    assert result.worst_load == max(each[k].channel_load for k in range(hosts - 1))
    assert result.mean_load == sum((each[k].channel_load for k in range(hosts - 1)), Fraction(0)) / (hosts - 1)


@pytest.mark.parametrize("seed", range(8))
def test_bisection(seed: int) -> None:
    routing, loads = _case(seed)
    topology = routing.topology
    result = bisection(routing, 30, seed)
    rng = np.random.default_rng(seed)
    values = []
    for _ in range(30):
        drawn = rng.permutation(5).tolist()
        pairs = list(zip(drawn[:2], drawn[2:4], strict=True))
        total: dict[int, Fraction] = {}
        for pair in pairs:
            for slot, amount in loads[pair].items():
                total[slot] = total.get(slot, Fraction(0)) + amount
        load = {s: x / topology.bandwidth_of(int(topology.channel_of[s])) for s, x in total.items()}
        values.append(sum(1 / max(load[slot] for slot in loads[pair]) for pair in pairs) / 2)
    assert result.smallest == min(values)
    assert result.largest == max(values)
    assert result.bandwidth.value == pytest.approx(float(sum(values)) / 30)
    assert result.bandwidth.stderr == pytest.approx(np.std([float(x) for x in values], ddof=1) / 30**0.5)
    assert Bisection.from_dict(result.to_dict()) == result


def test_a_switch_alone_gives_full_bisection() -> None:
    fabric = fabric_of("hhhhs", [1] * 4 + [4], [((h, 1), (4, h + 1)) for h in range(4)])
    result = bisection(fabric_routing(network(fabric), random_tables(fabric, 0)), 10)
    assert result.smallest == result.largest == 1
    assert result.bandwidth.stderr == 0


@pytest.mark.nightly
@pytest.mark.parametrize("samples", [500, pytest.param(4_000, marks=pytest.mark.nightly)])
def test_average_is_that_of_average_case(samples: int) -> None:
    tree = obliv.topology("fattree:4,3")
    fabric = from_topology(tree)
    routing = fabric_routing(network(fabric), climbing(tree, fabric, 0.5))
    mine, theirs = average(routing, samples), obliv.average_case(routing, samples)
    for name in ("channel_load", "throughput"):
        one, two = getattr(mine, name), getattr(theirs, name)
        assert abs(one.value - two.value) < 5 * (one.stderr**2 + two.stderr**2) ** 0.5
        assert one.stderr == pytest.approx(two.stderr, rel=0.2)
    assert mine.mean_throughput is theirs.mean_throughput is None
    assert mine.mean_throughput_reason[:60] == theirs.mean_throughput_reason[:60]
    assert average(routing, 500, rng=3, jobs=1).channel_load == average(routing, 500, rng=3, jobs=2).channel_load
    assert average(routing, 500, rng=3).channel_load != average(routing, 500, rng=4).channel_load


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(6))
def test_kernels_agree_compiled(seed: int) -> None:
    routing, _ = _case(seed)
    routes = routing.routes
    images = np.array([np.random.default_rng(k).permutation(5) for k in range(10)])
    channels = routing.topology.channels
    most, factor = np.array([[1, 2, 3, 4, 5], [5, 4, 3, 2, 1]]), np.arange(1, channels + 1)
    results = []
    for kernel in (heaviest, heaviest.compiled()):
        result = np.empty(10, np.int64)
        kernel(images, most, factor, routes.arrays, np.zeros(channels, np.int64), result)
        results.append(result.tolist())
    assert results[0] == results[1]
    pairs = np.array([0, 1]), np.array([2, 3])
    results = []
    for kernel in (narrowest, narrowest.compiled()):
        result = np.empty(2, np.int64)
        kernel(*pairs, factor, routes.arrays, result)
        results.append(result.tolist())
    assert results[0] == results[1]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("rule", ["0", "group", "index", "spread", [3, 0, 1, 1, 2]])
@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.nightly)])
def test_the_narrowest_cable_of_a_pair_is_on_its_routes(rule: Any, compiled: bool) -> None:
    cables = [((h, 1), (h % 2, 2 + h // 2)) for h in range(2, 7)]  # the first node is a switch
    turned = fabric_of("sshhhhh", [6, 6, 1, 1, 1, 1, 1], [*cables, ((0, 1), (1, 1)), ((0, 6), (1, 6))], lmc=2)
    pair = fabric_of("hh", [1, 1], [((0, 1), (1, 1))], lmc=2)
    none = Tables("none", pair.switches, np.zeros((0, 9), np.uint8), np.zeros(0, np.int32), "opensm")
    fabrics = (turned, random_fabric(1, lmc=2), random_fabric(2, lmc=2))
    cases = [(fabric, random_tables(fabric, 2, damage=damage)) for fabric in fabrics for damage in (0, 5)]
    for fabric, tables in (*cases, (pair, none)):
        n = len(fabric.endpoints)
        routing = fabric_routing(network(fabric), tables, rule[:n] if isinstance(rule, list) else rule, missing="skip")
        load = np.random.default_rng(1).permutation(routing.topology.channels) + 1
        pairs = [(s, d) for s in range(n) for d in range(n) if s != d]
        right = [max((int(load[c]) for way, _ in routing.paths(s, d) for c in way), default=0) for s, d in pairs]
        result = np.empty(len(pairs), np.int64)
        source, destination = (np.array(ends) for ends in zip(*pairs, strict=True))
        kernel = narrowest.compiled() if compiled else narrowest
        kernel(source, destination, load, routing.routes.arrays, result)
        assert result.tolist() == right


def test_what_cannot_be_had() -> None:
    routing, _ = _case(3)
    with pytest.raises(InputError, match="equal links"):
        average(routing)
    for call in (average, bisection):
        with pytest.raises(InputError, match="at least 2"):
            call(_case(1)[0], 1)
    with pytest.raises(InputError, match="must name every terminal"):
        shifts(routing, order=[0, 0, 1, 2, 3])
    fabric = random_fabric(2)
    broken = random_tables(fabric, 2, damage=60)
    for figure in (shifts, average, bisection):
        with pytest.raises(RoutingError, match="obliv fabric check"):
            figure(fabric_routing(network(fabric), broken))
    alone = fabric_of("hs", [1, 1], [((0, 1), (1, 1))])
    for figure in (shifts, bisection, average):
        with pytest.raises(InputError, match=r"has one (host|terminal)"):
            figure(fabric_routing(network(alone), random_tables(alone, 0)))


def stopped_after(count: int) -> Callable[..., None]:
    calls = iter(range(count))

    def progress(what: str, share: float) -> None:
        if next(calls, None) is None:
            raise KeyboardInterrupt

    return progress


@pytest.mark.nightly
def test_an_interrupt_keeps_what_was_found() -> None:
    tree = obliv.topology("fattree:8,3")
    fabric = from_topology(tree)
    way = fabric_routing(network(fabric), tables_of(obliv.routing("dmodk", tree), fabric))
    with pytest.raises(Interrupted, match="after 6 of 500 samples; draw the others with another seed") as stop:
        bisection(way, 500, progress=stopped_after(5))
    assert stop.value.so_far.to_dict()["bandwidth"] == bisection(way, 6).to_dict()["bandwidth"]
    with pytest.raises(Interrupted, match=r"after \d+ of 100000 samples; draw the others with another seed") as stop:
        average(way, 100_000, progress=stopped_after(1))
    done = stop.value.so_far.samples
    assert stop.value.so_far.channel_load == average(way, done).channel_load
    for useless in (
        lambda: bisection(way, 2, progress=stopped_after(0)),
        lambda: shifts(way, progress=stopped_after(0)),
    ):
        with pytest.raises(KeyboardInterrupt) as nothing:
            useless()
        assert not isinstance(nothing.value, Interrupted)
