"""Speed and memory of exact ratios on fat trees; every size in a process of its own, kernels cached.

    uv run python benchmarks/fat_tree.py [tables] [pairs] [study] [growth]

Tables are forwarding tables of D-mod-k with one per cent of their entries redrawn at random among the valid ports.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time

import numpy as np

import obliv
from obliv.routings.trees import TreeTable

LIMITS = {24: (1.0, 0.5), 36: (4.0, 1.5), 48: (10.0, 2.0)}


def redrawn(m: int) -> TreeTable:
    """D-mod-k on FT(m, 3) as tables, one per cent of the entries at random."""
    tree = obliv.fattree(m, 3)
    k, hosts = m // 2, len(tree.terminals)
    rng = np.random.default_rng(1)
    ports = []
    for level in (1, 2):
        switches = tree.first_node[level + 1] - tree.first_node[level]
        table = np.tile((np.arange(hosts) // k ** (level - 1) % k).astype(np.uint8), (switches, 1))
        place = rng.integers(0, table.size, table.size // 100)
        table.reshape(-1)[place] = rng.integers(0, k, len(place))
        ports.append(table)
    return TreeTable(tree, ports)


def one(kind: str, m: int) -> None:
    """One ratio: seconds of the second of two runs (the first loads kernels on a small tree), and peak memory."""
    small = redrawn(8) if kind == "table" else obliv.routing(kind, obliv.fattree(8, 3))
    obliv.ratio(small)
    routing = redrawn(m) if kind == "table" else obliv.routing(kind, obliv.fattree(m, 3))
    began = time.perf_counter()
    found = obliv.ratio(routing)
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{kind:<6} fattree:{m},3 ({len(routing.topology.terminals):,} hosts): ratio {found.ratio}, "
        f"{seconds:.2f} s, {peak:.2f} GB",
        end="",
    )


def run(kind: str, m: int, target: str) -> None:
    done = subprocess.run([sys.executable, __file__, "one", kind, str(m)], capture_output=True, text=True, check=True)
    print(f"{done.stdout:<70} {target}")


def study() -> None:
    """Table III: ten patterns and routings, 32 placements each."""
    from obliv.papers.fat_tree.variants import mean_ratio as mean

    began = time.perf_counter()
    for m in (8, 16):
        for routing in ("MLID/WSR", "OSRM3"):
            for traffic in ("ring", "mesh2d", "torus3d", "hypercube", "tree"):
                mean(m, 3, routing, traffic)
    print(f"the performance study of Table III: {time.perf_counter() - began:.1f} s   at most 30 s")


if __name__ == "__main__":
    words = sys.argv[1:]
    if words[:1] == ["one"]:
        one(words[1], int(words[2]))
        sys.exit()
    if not words or "tables" in words:
        for ports, (seconds, memory) in LIMITS.items():
            run("table", ports, f"at most {seconds:g} s, {memory:g} GB")
    if not words or "pairs" in words:
        run("osrm3", 24, "at most 3 s")
        run("hash", 24, "at most 30 s")
    if not words or "study" in words:
        study()
    if not words or "growth" in words:
        for ports in (8, 12, 16, 20, 24, 28, 32, 36, 40):
            run("table", ports, "")
