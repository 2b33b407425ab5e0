"""How long the worst case of an InfiniBand fabric takes: generated fat trees, tables with random changes.

uv run python benchmarks/fabric.py [PORTS ...]        default 16 24 36; three levels of switches each
"""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from tests.fabric.by_hand import climbing

import obliv
from obliv.fabric.generate import from_topology
from obliv.fabric.routes.routing import routing as fabric_routing
from obliv.fabric.routes.trace import trace_all
from obliv.fabric.topology import network
from obliv.loads.base import search_channels


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
