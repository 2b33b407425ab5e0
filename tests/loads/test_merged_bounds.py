"""Channels are bounded by merged transports before they are solved, and tables are kept within limits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import obliv
from obliv._util.arrays import cached_arrays
from obliv.loads import separable, separable_blocks
from obliv.loads.base import PairLoads
from obliv.loads.separable import SeparableLoads
from obliv.loads.separable_blocks import MergedBounds

NETWORKS = ["mesh:5x5", "mesh:7x4", "torus:6x5", "mesh:3x3x2", "hyperx:5x4", "torus:8x9"]


def _loads(network: str, routing: str) -> SeparableLoads:
    loads = obliv.routing(routing, obliv.topology(network)).pair_loads()
    assert isinstance(loads, SeparableLoads)
    return loads


@pytest.mark.sampled(12)
@pytest.mark.parametrize("routing", ["romm", "romm:xy", "1/3*romm+2/3*valiant"])
@pytest.mark.parametrize("network", NETWORKS)
def test_no_channel_carries_more_than_its_bound(network: str, routing: str) -> None:
    topology = obliv.topology(network)
    order = "-".join(map(str, range(len(topology.radices))))
    loads = _loads(network, routing.replace("xy", order))
    bounds = MergedBounds(loads)
    assert bounds.parts[0] == 1
    for channel in range(0, loads.topology.channels, 3):
        load = loads.solve(channel, loads.rates).value
        assert all(bounds.bound(channel, parts) >= load for parts in (1, 2))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("network", NETWORKS)
def test_the_worst_case_is_the_same_with_merged_bounds(monkeypatch: pytest.MonkeyPatch, network: str) -> None:
    routing = obliv.routing("romm", obliv.topology(network))
    monkeypatch.setattr(separable, "_MANY", 1 << 60)
    one = obliv.worst_case(routing, symmetry="off")
    monkeypatch.setattr(separable, "_MANY", -1)
    other = obliv.worst_case(routing, symmetry="off")
    assert (one.channel_load, one.channel) == (other.channel_load, other.channel)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("network", ["mesh:6x5", "mesh:4x3x3"])
def test_a_channel_in_blocks_is_solved_as_between_all_pairs(monkeypatch: pytest.MonkeyPatch, network: str) -> None:
    loads = _loads(network, "romm")
    monkeypatch.setattr(separable, "_HUBS", -1)
    monkeypatch.setattr(separable_blocks, "_FEWER", 0)
    pairs = np.arange(loads.terminals)
    for channel in range(0, loads.topology.channels, 5):
        solution, plain = loads.solve(channel, loads.rates), PairLoads.solve(loads, channel, loads.rates)
        source, destination, amount = np.array(solution.shipments()).T
        assert solution.value == plain.value == (loads.between(channel, source, destination) * amount).sum()
        assert max(np.bincount(source).max(), np.bincount(destination).max()) == 1
        assert solution.prices is not None
        gain = np.stack([loads.between(channel, pairs * 0 + i, pairs) - solution.prices for i in pairs]).max(axis=1)
        assert gain.clip(0).sum() + solution.prices.sum() == plain.value


@pytest.mark.nightly
def test_few_channels_of_a_mesh_are_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    solved: list[int] = []
    solve = SeparableLoads.solve
    monkeypatch.setattr(SeparableLoads, "solve", lambda self, c, rates: solved.append(c) or solve(self, c, rates))
    monkeypatch.setattr(separable, "_MANY", -1)
    assert obliv.worst_case("mesh:10x10", "romm").focus_channels == 45
    assert len(solved) < 6


@pytest.mark.nightly
def test_the_refined_bounds_of_a_mesh_beyond_64_bits() -> None:
    loads = _loads("mesh:47x47", "romm")
    assert loads.denominator > 2**62
    bounds, channel = MergedBounds(loads), loads.topology.channel((23, 22), (24, 22))
    load = loads.solve(channel, loads.rates).value
    falling = [bounds.bound(channel, parts) for parts in bounds.parts]
    assert len(falling) == 3
    assert falling == sorted(falling, reverse=True)
    assert load <= falling[-1] < load * 101 // 100


def test_cached_arrays_are_limited_by_their_size() -> None:
    calls: list[int] = []

    @cached_arrays(1000)
    def zeros(size: int) -> Any:
        calls.append(size)
        return np.zeros(size, np.uint8)

    for size in (400, 500, 400, 500, 300, 400, 2000, 2000, 300):
        assert len(zeros(size)) == size
    assert calls == [400, 500, 300, 400, 2000, 300]
