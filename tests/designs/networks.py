"""Small networks of all kinds."""

from __future__ import annotations

import numpy as np

import obliv

__all__ = ["both_ways", "networks"]


def both_ways(links: list[tuple[int, int]]) -> list[tuple[int, int]]:
    return links + [(head, tail) for tail, head in links]


def networks(seed: int) -> obliv.Topology:
    """Return a small strongly connected network: parallel channels, subsets of terminals, rates and bandwidths."""
    rng = np.random.default_rng(seed)
    nodes = int(rng.integers(2, 6))
    order = rng.permutation(nodes).tolist()
    links = [(order[k - 1], order[k]) for k in range(nodes)]  # a ring through all nodes
    links += [tuple(rng.choice(nodes, 2, replace=False).tolist()) for _ in range(int(rng.integers(0, 7)))]
    if rng.random() < 0.5:
        links = both_ways(links)
    bandwidth = rng.integers(1, 4, len(links)).tolist() if rng.random() < 0.5 else []
    terminals = rng.permutation(nodes)[: int(rng.integers(2, nodes + 1))].tolist()
    network = obliv.build(f"network {seed}", nodes, links, bandwidth=bandwidth, terminals=terminals)
    if rng.random() < 0.3:
        network = network.with_rates(*(rng.integers(1, 4, len(terminals)).tolist() for _ in range(2)))
    return network
