"""Make the files of fixtures/ again: what the real programs say of obliv's own fabrics.

``python tests/fabric/make_fixtures.py`` where OpenSM, ibsim and infiniband-diags are installed.
"""

from __future__ import annotations

import gzip
import sys
import tempfile
from pathlib import Path

from tests.fabric.damage import cables, without
from tests.fabric.opensm import simulated

import obliv
from obliv.fabric.files.lft import write_net, write_tables
from obliv.fabric.generate import from_topology
from obliv.fabric.model import Fabric
from obliv.fabric.reroute.route import route
from obliv.topologies.base import Topology
from obliv.topologies.make import build

HERE = Path(__file__).parent / "fixtures"

#: name: (fabric, engine of OpenSM or obliv, further options, the exact worst case, which offset sources use)
CASES = {
    "ft8_2-minhop": ("fattree:8,2", "minhop", (), 4, "0"),
    "ft8_2-ftree": ("fattree:8,2", "ftree", (), 4, "0"),
    "ft8_2-osrm2": ("fattree:8,2", "osrm2", (), 2, "0-0-1-1"),
    "ft8_2-minhop-lmc2": ("fattree:8,2", "minhop", ("-l", "2"), 4, "0"),
    "ft4_3-minhop": ("fattree:4,3", "minhop", (), 4, "0"),
    "ft4_3-ftree": ("fattree:4,3", "ftree", (), 3, "0"),
    "ft4_3-osrm3": ("fattree:4,3", "osrm3", (), 2, "0-1"),
    "ft8_3-osrm3-d": ("fattree:8,3", "osrm3-d", (), 4, "0"),
    "torus9x9-dor": ("torus:9x9", "dor", (), 4, "0"),
    "trunks-minhop": ("trunks", "minhop", (), 4, "0"),
    "broken-minhop": ("broken", "minhop", (), 4, "0"),
    "torus5x5-fallback": ("torus:5x5", "ftree", (), 6, "0"),
}
OWN = ("osrm2", "osrm3", "osrm3-d")
LONG = ("ft8_3-osrm3-d", "torus9x9-dor", "torus5x5-fallback")  # of these only what is needed

TOLD = ("tables configured", "SUBNET UP", "ERR", "ucast_mgr")  # what is kept of a log


def trunks() -> Topology:
    """Four leaves with four hosts, two roots, two cables between each; and a switch that hangs on a leaf."""
    links = [(v, 17 + v // 4) for v in range(16)] + [(16, 23)]
    links += [(17 + leaf, 21 + root) for leaf in range(4) for root in range(2) for _ in range(2)] + [(23, 18)]
    return build("trunks", 24, links + [(b, a) for a, b in links], terminals=range(17))


def fabric_of(name: str) -> Fabric:
    """The fabric of a case, without LIDs."""
    if name == "trunks":
        return from_topology(trunks(), lids=False)
    if name == "broken":
        fabric = from_topology(obliv.topology("fattree:4,3"), lids=False)
        return without(fabric, cables(fabric)[5:30:11])
    return from_topology(obliv.topology(name), lids=False)


def make(name: str) -> None:
    what, engine, options, _, _ = CASES[name]
    fabric = fabric_of(what)
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        if engine in OWN:
            routed = route(fabric, engine)
            write_tables(routed.tables, routed.fabric, work / "new.lfts")
            engine, options = "file", ("-U", str(work / "new.lfts"), "-l", str(routed.lmc))
        write_net(fabric, work / "fabric.net")
        with simulated(work / "fabric.net", work / "run") as simulator:
            assert simulator.opensm("-R", engine, *options) == ("minhop" if "fallback" in name else engine)
            files = {"ibnetdiscover.txt": simulator.run("ibnetdiscover")}
            files["opensm-lfts.dump"] = (simulator.folder / "opensm-lfts.dump").read_text()
            if name not in LONG:
                files["dump_lfts.txt"] = simulator.run("dump_lfts")
                files["ibnetdiscover-p.txt"] = simulator.run("ibnetdiscover", "-p")
                for each in ("opensm.fdbs", "opensm-subnet.lst", "guid2lid"):
                    files[each] = (simulator.folder / each).read_text()
            log = (simulator.folder / "osm.log").read_text()
            messages = [line for line in log.splitlines() if any(word in line for word in TOLD)]
            files["osm.log"] = "\n".join(messages) + "\n"
    folder = HERE / name
    folder.mkdir(parents=True, exist_ok=True)
    for each, text in files.items():
        (folder / f"{each}.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))


if __name__ == "__main__":
    for each in sys.argv[1:] or CASES:
        make(each)
