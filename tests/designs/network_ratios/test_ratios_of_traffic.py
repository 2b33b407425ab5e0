"""The ratio under given traffic on any network: plain linear programs, closed forms, paths given, refusals."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.designs.networks import networks
from tests.oracles.optima import least_load_of
from tests.strategies import examples

import obliv
from obliv.designs.bounds.congestion import carried, demand_of, least_congestion, least_congestion_over
from obliv.errors import RoutingError
from obliv.routings.listed import Listed, PathList

F = Fraction


def ends(value: Any) -> tuple[Fraction, Fraction]:
    return (value.lower, value.upper) if isinstance(value, obliv.Bounds) else (value, value)


def some_traffic(network: obliv.Topology, seed: int) -> obliv.Traffic:
    n = len(network.terminals)
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 4, (n, n)) * (rng.random((n, n)) < rng.choice([0.3, 1.0]))
    rows[0, 1] = 1
    return obliv.matrix([[F(int(x), 4 * n) for x in row] for row in rows])


@examples(25)
@given(st.integers(0, 10**9))
def test_against_a_plain_linear_program(seed: int) -> None:
    network = networks(seed)
    traffic = some_traffic(network, seed)
    routing = obliv.routing("ecmp", network)
    (row,) = obliv.traffic_ratio(routing, traffic).patterns
    least = least_load_of(network, traffic.to_matrix())
    lower, upper = ends(row.optimal_load)
    assert float(lower) - 1e-7 <= least <= float(upper) + 1e-7
    assert float(upper - lower) <= 1e-6
    (loads,) = obliv.throughput(network, routing, traffic).patterns
    assert ends(row.ratio)[0] <= row.channel_load / lower
    assert row.channel_load <= loads.channel_load
    assert ends(row.ratio)[0] >= 1 - F(1, 10**9)


@examples(25)
@given(st.integers(0, 10**9))
def test_given_paths(seed: int) -> None:
    """Over all paths of the best routing the optimum is the same; over one path for each pair it is their load."""
    network = networks(seed)
    traffic = some_traffic(network, seed)
    demand, scale = demand_of(traffic)
    result = least_congestion(network, demand, scale)
    best = carried(network, demand, scale, result)
    over = least_congestion_over(network, demand, scale, best.paths)
    assert result.lower - F(1, 10**9) <= over.lower <= over.upper <= best.load
    assert over.upper - over.lower <= F(1, 10**6)
    n = len(network.terminals)
    routing = obliv.routing("shortest", network)
    terminals = network.terminals.tolist()
    paths = [next(iter(routing.paths(s, d)))[0] if s != d else () for s in terminals for d in terminals]
    single = PathList(
        np.concatenate([[0], np.cumsum([bool(path) for path in paths])]),
        np.concatenate([[0], np.cumsum([len(path) for path in paths if path])]),
        np.array([c for path in paths for c in path], np.int64),
        np.ones(n * n - n, np.int64),
        1,
    )
    Listed(network, "single", single)  # checks the list
    one = least_congestion_over(network, demand, scale, single)
    load = obliv.throughput(network, routing, traffic).patterns[0].channel_load
    assert one.lower <= one.upper == load
    assert load - one.lower <= F(1, 10**6)


def test_paths_are_needed() -> None:
    ring = obliv.ring(3)
    empty = PathList(np.zeros(10, np.int64), np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64), 1)
    with pytest.raises(RoutingError, match="terminal 0 to 1"):
        least_congestion_over(ring, np.ones((3, 3), np.int64), 3, empty)
    nothing = least_congestion_over(ring, np.eye(3, dtype=np.int64), 1, empty)
    assert nothing.lower == nothing.upper == 0


def test_values_by_hand() -> None:
    """Tornado on a ring of 8: three hops one way or five the other, split 5 to 3; transpose: no better than a cut."""
    ring = obliv.ring(8)
    rows = obliv.traffic_ratio(obliv.routing("dor", ring), "tornado", "uniform").patterns
    assert [row.optimal_load for row in rows] == [F(15, 8), 1]
    assert rows[0].ratio == F(8, 5)
    assert obliv.traffic_ratio(obliv.routing("valiant", ring), "tornado").ratio == F(16, 15)


def test_the_closed_form_agrees() -> None:
    tree = obliv.fattree(4, 2)
    plain = obliv.build("plain", tree.nodes, list(zip(tree.tail, tree.head)), terminals=tree.terminals.tolist())
    for name in ("uniform", "random-permutation:seed=3", "ring"):
        closed = obliv.traffic_ratio(obliv.routing("ecmp", tree), name).ratio
        assert obliv.traffic_ratio(obliv.routing("ecmp", plain), obliv.traffic(name, tree)).ratio == closed


@pytest.mark.nightly
def test_instances_on_any_network() -> None:
    torus = obliv.topology("torus:4x4")
    one, two = (obliv.traffic_ratio(obliv.routing("dor", torus), "ring", instances=3, rng=2) for _ in range(2))
    assert one.patterns == two.patterns
    assert one.ratio.samples == 3  # type: ignore[union-attr]
    assert float(one.ratio) >= 1  # type: ignore[arg-type]


def test_nothing_to_carry() -> None:
    with pytest.raises(obliv.TrafficError, match="no terminal sends"):
        obliv.traffic_ratio(obliv.routing("dor", obliv.ring(4)), "shift:0")


def test_too_many_digits() -> None:
    traffic = obliv.matrix([[F(0), F(1, 2) + F(1, 2**40)], [F(1, 2) - F(1, 3**20), F(0)]])
    with pytest.raises(obliv.TrafficError, match="digits"):
        demand_of(traffic)
