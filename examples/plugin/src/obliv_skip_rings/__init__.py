"""Rings with skips: a topology, a routing and a traffic pattern for obliv."""

from __future__ import annotations

import numpy as np

import obliv

__all__ = ["Express", "opposite", "skip_ring"]


def skip_ring(nodes: int, skip: int) -> obliv.Topology:
    """Ring with channels one node and `skip` nodes ahead."""
    if not 2 <= skip < nodes:
        raise obliv.TopologyError(f"skip-ring: skip {skip} must be at least 2 and less than the {nodes} nodes")
    links = [(v, (v + step) % nodes) for v in range(nodes) for step in (1, skip)]
    one_ahead = np.roll(np.arange(nodes), -1)
    return obliv.build(f"skip-ring:{nodes},{skip}", nodes, links, translations=[one_ahead])


class Express(obliv.HopRouting):
    """Skips first, then single steps."""

    def __init__(self, topology: obliv.Topology) -> None:
        super().__init__(topology)
        self.skip = (int(topology.head[1]) - int(topology.tail[1])) % topology.nodes  # channels 0 and 1 leave node 0

    def next_hops(self, node: int, destination: int) -> list[tuple[int, int]]:
        """Return the only next channel: channel 2v leads one node ahead, 2v + 1 skips."""
        ahead = (destination - node) % self.topology.nodes
        return [(2 * node + (ahead >= self.skip), 1)]


def opposite(topology: obliv.Topology) -> obliv.Traffic:
    """Every terminal sends to the one half way round."""
    n = len(topology.terminals)
    return obliv.permutation([(i + n // 2) % n for i in range(n)], "opposite")
