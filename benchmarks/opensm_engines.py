"""Compares the tables of OpenSM's engines with those of `obliv fabric route`: exact worst loads, lane by lane.

uv run python benchmarks/opensm_engines.py [--engines | --obliv] [FABRIC ...]

OpenSM routes fabrics that ibsim simulates. A load is marked * if the tables have credit loops on one lane and the
engine assigns no others.
"""

from __future__ import annotations

import re
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.fabric.opensm import Simulator, simulated

import obliv
from obliv.errors import RoutingError
from obliv.fabric.files.folder import read
from obliv.fabric.files.lft import write_net
from obliv.fabric.generate import from_topology
from obliv.fabric.model import Fabric
from obliv.fabric.reroute.quality import single_path_bound, standing_of
from obliv.fabric.reroute.route import route
from obliv.fabric.routes.routing import routing as fabric_routing
from obliv.fabric.shape import recognise
from obliv.fabric.topology import network

FABRICS = {
    "torus 4×4": "torus:4x4",
    "torus 6×6": "torus:6x6",
    "torus 4×4×4": "torus:4x4x4",
    "HyperX 4×4": "hyperx:4x4",
    "dragonfly": "dragonfly:p=2,a=8,h=1",
    "Slim Fly": "slimfly:5,p=4",
    "Jellyfish": "random-regular:n=50,d=6,seed=1",
    "FT(8,3)": "damaged:(fattree:8,3),130-160,157-191,160-193,175-207,188-194",
}
ENGINES = ("minhop", "updn", "ftree", "sssp", "dfsssp", "lash", "nue", "nue 2", "nue 4", "torus-2QoS")
LANES = (1, 2, 3, 4)
ON_GRIDS = {4: "two-turn"}  # besides auto
MOST_LMC = {"two-turn": 5}  # one LID for each host elsewhere


def main() -> None:
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    for name, spec in FABRICS.items():
        if words and name not in words:
            continue
        with tempfile.TemporaryDirectory() as folder:
            fabric = from_topology(obliv.topology(spec), lids=False)
            bound, source = single_path_bound(fabric, recognise(fabric)) or (1, "")
            print(f"{name}: {spec}, {len(fabric.switches)} switches, {len(fabric.endpoints)} hosts, "
                  f"bound {bound} {source}", flush=True)  # fmt: skip
            if "--obliv" not in sys.argv:
                for engine, cell in by_opensm(spec, fabric, Path(folder)):
                    print(f"  {engine:12} {cell}", flush=True)
        if "--engines" not in sys.argv:
            for engine, cell in by_obliv(from_topology(obliv.topology(spec))):
                print(f"  {engine:12} {cell}", flush=True)


def by_opensm(spec: str, fabric: Fabric, folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the engines of OpenSM, with their worst load and lanes, or a dash where they do not fit."""
    net = folder / "fabric.net"
    write_net(fabric, net)
    with simulated(net, folder, "-N", "4096", "-S", "1024", "-P", "60000") as simulator:
        for engine in ENGINES:
            yield engine, _cell(engine, spec, fabric, simulator)


def _cell(engine: str, spec: str, fabric: Fabric, simulator: Simulator) -> str:
    folder = simulator.folder
    name, _, lanes = engine.partition(" ")
    options = ["-Q", "-R", name]
    if name == "nue":
        options += ["--nue_max_num_vls", lanes or "1"]
    if name == "updn" or name == "ftree":
        (folder / "roots").write_text("".join(f"{guid:#x}\n" for guid in _roots(spec, fabric)))
        options += ["-a", str(folder / "roots")]
    if name == "torus-2QoS":
        if not spec.startswith("torus"):
            return "–"
        (folder / "torus.conf").write_text(_seed(spec, fabric))
        options += ["--torus_config", str(folder / "torus.conf")]
    used = simulator.opensm(*options)
    if used != name:
        return f"– ({used})"
    read_again, tables = read(simulator.kept("scan.txt", "ibnetdiscover"), lft=folder / "opensm-lfts.dump")
    assert tables is not None
    standing = standing_of(fabric_routing(network(read_again), tables, "0", missing="skip"))
    log = (folder / "osm.log").read_text(errors="replace")
    needed = re.search(r"(?:Virtual Lanes|Lanes) needed: (\d+)", log)
    most = int(needed[1]) if needed else 2 if name == "torus-2QoS" else int(lanes or 1)
    lost = f", {standing.missing} pairs lost" if standing.missing else ""
    return f"{standing.worst}{'*' if standing.credit_loops and most == 1 else ''} @ {most}{lost}"


def _roots(spec: str, fabric: Fabric) -> list[int]:
    """Return the GUIDs of the roots of a tree, of the first switch elsewhere."""
    switches = fabric.nodes.guid[fabric.switches].tolist()
    shape = recognise(fabric)
    if shape is None or shape.levels == 1:
        return [int(switches[0])]
    level = shape.level[fabric.switches].tolist()
    return [int(guid) for guid, height in zip(switches, level, strict=True) if height == max(level)]


def _seed(spec: str, fabric: Fabric) -> str:
    """Return the file of seeds that torus-2QoS needs: the neighbors of a switch along each dimension."""
    radices = [int(radix) for radix in spec.partition(":")[2].split("x")]
    guid = fabric.nodes.guid[fabric.switches].tolist()
    lines = ["torus " + " ".join(str(radix) for radix in [*radices, 1][:3])]
    stride = 1
    for axis, radix in zip("xyz", radices, strict=False):
        for sign, at in product("pm", (stride, (radix - 1) * stride)):
            if (sign == "p") == (at == stride):
                lines.append(f"{axis}{sign}_link {guid[0]:#x} {guid[at]:#x}")
        stride *= radix
    return "\n".join(lines) + "\n"


def by_obliv(fabric: Fabric) -> Iterator[tuple[str, str]]:
    """Yield the tables of obliv by lanes."""
    for lanes in LANES:
        for engine in filter(None, ("auto", ON_GRIDS.get(lanes))):
            began = time.perf_counter()
            try:
                most_lmc = MOST_LMC.get(engine, 0)
                result = route(fabric, engine, lanes=lanes, lane_tables=True, most_lmc=most_lmc, rng=0)
            except RoutingError as error:
                yield f"{engine} {lanes}", f"– ({error})"
            else:
                seconds = f"({result.engine}, {time.perf_counter() - began:.0f} s)"
                yield f"{engine} {lanes}", f"{result.after.worst} @ {result.after.lanes} {seconds}"


if __name__ == "__main__":
    main()
