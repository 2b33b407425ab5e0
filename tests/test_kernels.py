"""Every kernel does the same interpreted and compiled; loads that need big integers use the former."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import obliv


def chain(splits: int) -> tuple[obliv.Topology, obliv.Routing]:
    """Diamonds in a row: 0 splits to 1 and 2, which meet in 3, and so on; back from the end to the start."""
    links, bandwidth = [], []
    for k in range(splits):
        a = 3 * k
        links += [(a, a + 1), (a, a + 2), (a + 1, a + 3), (a + 2, a + 3)]
    last = 3 * splits
    links.append((last, 0))
    bandwidth = [1] * len(links)
    topology = obliv.build(f"diamonds-{splits}", last + 1, links, bandwidth=bandwidth, terminals=[0, last])
    return topology, obliv.ECMP(topology)


def test_denominators_beyond_64_bits() -> None:
    links = []
    for k in range(70):  # a ladder of single steps: 2^-70 of the traffic is left at the end
        links += [(k, k + 1), (k, 100)]
    links += [(70, 100), (100, 0)]

    class Halving(obliv.HopRouting):
        def next_hops(self, node: int, destination: int) -> list[int]:
            first, end = self.topology.first_channel[node : node + 2]
            return list(range(int(first), int(end)))

    topology = obliv.build("ladder", 101, links, terminals=[0, 100])
    loads = Halving(topology, "halving").pair_loads()
    assert loads.denominator == 2**70
    # the last two channels that leave the ladder carry what is left after 70 halvings
    load = loads.under(obliv.permutation([1, 0]))
    rung = [c for c in range(topology.channels) if topology.tail[c] == 70]
    assert [load[c] for c in rung] == [Fraction(1, 2**70)]
    result = obliv.worst_case(loads)
    assert result.channel_load == 1


def test_diamonds() -> None:
    _, routing = chain(80)
    result = obliv.worst_case(routing, certificate=True)
    assert result.channel_load == 1  # the way back
    assert obliv.verify(result).proved
    loads = routing.pair_loads()
    assert max(loads.under(obliv.permutation([1, 0]))[:320]) == Fraction(1, 2)


@pytest.mark.nightly
def test_ecmp_on_a_mesh_whose_denominator_is_beyond_64_bits() -> None:
    topology = obliv.mesh(36, 36)
    loads = obliv.ECMP(topology.with_terminals([0, 35, 36 * 35, 36 * 36 - 1])).pair_loads()
    assert loads.denominator > 2**62
    assert loads.weights(0).weight.dtype == object
    total = sum(loads.under(obliv.permutation([3, 2, 1, 0])), Fraction(0))
    assert total == 4 * 70  # every path is minimal: corner to corner
    assert obliv.worst_case(loads).channel_load >= Fraction(1, 2)
    assert np.array_equal(loads.weights(0).ptr[:1], [0])
