"""What this package adds is what it claims to be."""

from obliv_skip_rings import Express, opposite, skip_ring

import obliv


def test_topology():
    obliv.testing.check_topology(lambda: skip_ring(9, 3))


def test_routing():
    obliv.testing.check_routing(Express, skip_ring(8, 3))


def test_pattern():
    ring = skip_ring(9, 3)
    routing = obliv.routing(Express, ring)
    assert obliv.throughput(routing, opposite(ring)).patterns[0].hops == 2
