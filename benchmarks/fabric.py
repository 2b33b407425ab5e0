"""How long the worst case of an InfiniBand fabric takes: generated fat trees, tables with random changes.

uv run python benchmarks/fabric.py [PORTS ...]        default 16 24 36; three levels of switches each
"""

from __future__ import annotations

import resource
import sys
import time
from typing import Any

import numpy as np

import obliv
from obliv.fabric.generate.from_topology import from_topology
from obliv.fabric.model import Fabric
from obliv.fabric.routes.routing import routing as fabric_routing
from obliv.fabric.routes.trace import trace_all
from obliv.fabric.tables import Tables
from obliv.fabric.topology import network
from obliv.loads.search import search_channels


def climbing(tree: Any, fabric: Fabric, share: float, seed: int = 0) -> Tables:
    """D-mod-k for every switch and host; switches send a share of what goes up by a port drawn at random."""
    rng = np.random.default_rng(seed)
    host = np.arange(tree.below[-1])
    out = np.full((len(fabric.switches), int(fabric.ports.lid.max()) + 1), 255, np.uint8)
    lid = fabric.ports.lid[fabric.endpoints]
    place = 1
    for level in range(1, tree.levels + 1):
        parents = tree.parents[level] if level < tree.levels else 1
        for at in range(tree.first_node[level], tree.first_node[level + 1]):
            sub = (at - tree.first_node[level]) // tree.width[level]
            down = host // tree.below[level - 1] % tree.children[level - 1]
            up = np.where(rng.random(len(host)) < share, rng.integers(parents, size=len(host)), host // place % parents)
            port = np.where(host // tree.below[level] == sub, down, tree.children[level - 1] + up)
            out[at - tree.first_node[1], lid] = 1 + port
        place *= parents
    return Tables("climbing", fabric.switches, out, np.zeros(len(out), np.int32), "opensm")


def timed(what: str, call: Any) -> Any:
    """Call, and print what it took."""
    began = time.perf_counter()
    result = call()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"  {what:<28} {time.perf_counter() - began:8.2f} s   peak {peak:.2f} GB", flush=True)
    return result


def measure(ports: int) -> None:
    """One fat tree of three levels."""
    tree = obliv.topology(f"fattree:{ports},3")
    fabric = from_topology(tree)
    print(repr(fabric))
    topology = timed("network", lambda: network(fabric))
    for share in (0.0, 0.01):
        tables = timed("tables made", lambda share=share: climbing(tree, fabric, share))
        print(f" {share:.0%} of the up ports changed")
        timed("traces", lambda tables=tables: trace_all(fabric, tables))
        routing = timed("routing", lambda tables=tables: fabric_routing(topology, tables))
        loads = timed("loads", routing.pair_loads)
        timed("totals", loads.totals)
        worst = timed("worst case", lambda loads=loads: obliv.worst_case(loads))
        every = np.arange(topology.channels)
        solved = len(search_channels(loads, every).optima)
        print(f"  worst {worst.channel_load}, {solved} of {topology.channels} channels solved")


if __name__ == "__main__":
    for word in sys.argv[1:] or ("16", "24", "36"):
        measure(int(word))
