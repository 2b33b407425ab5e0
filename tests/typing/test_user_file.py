"""A user's own file: it is type-checked with ``mypy --strict`` like the package itself, and runs."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import assert_type

import numpy as np

import obliv


@obliv.register_topology("typed-star", example="typed-star:4")
def star(leaves: int) -> obliv.Topology:
    """Star: every leaf is joined to the center; the leaves are the terminals."""
    links = [link for leaf in range(leaves) for link in ((leaf, leaves), (leaves, leaf))]
    return obliv.build(f"typed-star:{leaves}", leaves + 1, links, terminals=range(leaves))


@obliv.register_routing("typed-scenic")
class Scenic(obliv.Routing):
    """Both ways round a ring, each with probability 1/2."""

    def paths(self, source: int, destination: int) -> Iterator[tuple[tuple[int, ...], Fraction]]:
        n = self.topology.nodes
        for step, link in ((1, 0), (-1, 1)):
            length = (destination - source) * step % n
            nodes = [(source + step * hop) % n for hop in range(length)]
            yield tuple(int(self.topology.first_channel[node]) + link for node in nodes), Fraction(1, 2)


@obliv.register_pattern("typed-halves")
def halves(topology: obliv.Topology) -> obliv.Traffic:
    """Terminals of the two halves exchange packets."""
    n = len(topology.terminals)
    return obliv.permutation([(i + n // 2) % n for i in range(n)])


def test_own_topology() -> None:
    network = obliv.topology("typed-star:4")
    assert_type(network, obliv.Topology)
    assert_type(star(4), obliv.Topology)
    assert_type(network.capacity_load, Fraction | None)
    assert_type(obliv.torus(3, 3).coordinates(4), tuple[int, ...])
    assert network == star(4)
    assert obliv.worst_case(obliv.routing("shortest", network)).channel_load == 1


def test_own_routing_and_pattern(tmp_path: Path) -> None:
    ring = obliv.ring(6)
    assert_type(ring, obliv.Cartesian)
    scenic = obliv.routing("typed-scenic", ring)
    assert_type(scenic, obliv.Routing)
    assert_type(Scenic(ring), Scenic)
    mix = 0.5 * scenic + 0.5 * obliv.DOR(ring)
    loads = mix.pair_loads()
    assert_type(loads, obliv.PairLoads)

    result = obliv.worst_case(scenic, certificate=True)
    assert_type(result, obliv.WorstCase)
    assert result.channel_load == Fraction(5, 2)
    result.save(tmp_path / "worst.json")
    assert obliv.load(tmp_path / "worst.json") == result
    assert obliv.verify(result).proved

    traffic = obliv.traffic("typed-halves", ring)
    assert_type(traffic, obliv.Traffic)
    assert_type(Fraction(1, 2) * traffic + "1/2" * obliv.traffic("uniform", ring), obliv.Traffic)
    throughput = obliv.throughput(scenic, traffic, "tornado")
    assert_type(throughput, obliv.Throughput)
    assert [row.channel_load for row in throughput.patterns] == [Fraction(3, 2), 2]

    assert_type(obliv.average_case(mix, 20, rng=np.random.default_rng(1)), obliv.Average)
    assert obliv.average_case(mix, 20, rng=np.int64(1)) == obliv.average_case(mix, 20, 1)
    assert_type(obliv.compare(ring, scenic, "dor"), obliv.Comparison)
    assert_type(obliv.deadlock(obliv.routing("dor", ring)), obliv.Deadlock)
    assert_type(obliv.locality(scenic), obliv.Locality)


class Upwards:
    """An object with a topology and next hops, without a base class."""

    def __init__(self, topology: obliv.Topology) -> None:
        self.topology = topology

    def next_hops(self, node: int, destination: int) -> list[int]:
        return [int(self.topology.first_channel[node])]


def test_own_object() -> None:
    ring = obliv.ring(5)
    assert obliv.worst_case(Upwards(ring)).channel_load == obliv.worst_case(obliv.routing(Upwards, ring)).channel_load
    assert_type(obliv.compare([ring, "ring:6"], Upwards, "dor", traffic=["uniform"]), obliv.Comparison)
    assert_type(obliv.locality(Upwards(ring)).hops, Fraction)
