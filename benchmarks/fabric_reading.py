"""Speed and memory of reading a large fabric: ``python benchmarks/fabric_reading.py [PORTS] [SWITCHES]``.

FT(PORTS,3), by default FT(36,3) with 11,664 hosts; tables of SWITCHES of its switches (default 100, 0 for all, which
is 1.6 GB of text for FT(36,3)), made at random, in each spelling.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import obliv
from obliv.fabric.files.folder import read_fabric, read_tables
from obliv.fabric.files.lft import write_net
from obliv.fabric.generate import from_topology
from obliv.fabric.model import Fabric


def write_tables(fabric: Fabric, path: Path, spelling: str, many: int) -> None:
    lids = np.flatnonzero(fabric.ports.lid)
    order = lids[np.argsort(fabric.ports.lid[lids])]
    top, rng = int(fabric.ports.lid.max()), np.random.default_rng(1)
    starts = [f"0x{lid:04x} " if spelling != "fdbs" else f"0x{lid:04X} : " for lid in fabric.ports.lid[order].tolist()]
    ends = []
    for slot in order.tolist():
        node = int(fabric.node_of[slot])
        kind = "Switch" if fabric.nodes.kind[node] == "switch" else "Channel Adapter"
        about = f"{kind} portguid 0x{int(fabric.ports.guid[slot]):016x}: '{fabric.nodes.description[node]}'"
        ends.append({"ibroute": f" : ({about})\n", "opensm": f" # {about}\n", "fdbs": "  : 04   : yes\n"}[spelling])
    with open(path, "w", encoding="utf-8") as out:
        for node in fabric.switches[: many or None].tolist():
            guid = f"0x{int(fabric.nodes.guid[node]):016x}"
            if spelling == "fdbs":
                out.write(f"dump_ucast_routes: Switch {guid}\nLID    : Port : Hops : Optimal\n")
            else:
                range_ = f"[0x0-0x{top:x}]" if spelling == "ibroute" else f"[0-{top}]"
                out.write(f"Unicast lids {range_} of switch Lid {node} guid {guid} ('x'):\n")
            ports = rng.integers(1, 37, len(order)).tolist()
            out.write("".join(f"{a}{p:03d}{b}" for a, p, b in zip(starts, ports, ends, strict=True)))
            if spelling != "fdbs":
                out.write(f"{len(order) if spelling == 'ibroute' else top} lids dumped\n")


def measured(what: str, path: Path, call: Callable[[], object]) -> None:
    best = np.inf
    for _ in range(3):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    size = path.stat().st_size / 1e6
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(f"{what:14}{size:8.1f} MB{best:8.2f} s{size / best:8.0f} MB/s   peak {peak:.0f} MB")


def main() -> None:
    ports = int(sys.argv[1]) if len(sys.argv) > 1 else 36
    many = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    fabric = from_topology(obliv.topology(f"fattree:{ports},3"))
    print(fabric)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fabric.net"
        write_net(fabric, path)
        measured("topology", path, lambda: read_fabric(path))
        for spelling in ("ibroute", "opensm", "fdbs"):
            lft = Path(folder) / "tables"
            write_tables(fabric, lft, spelling, many)
            measured(spelling, lft, lambda lft=lft: read_tables(lft, fabric))  # type: ignore[misc]


if __name__ == "__main__":
    main()
