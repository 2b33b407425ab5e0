"""Against the real programs over ibsim, where they are installed: OpenSM, ibnetdiscover, ibtracert, ibdmchk."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from tests.fabric.by_hand import with_nodes
from tests.fabric.make_fixtures import fabric_of
from tests.fabric.opensm import Simulator, cabling, meaning, needs_opensm, simulated, where

import obliv
from obliv.fabric.files.folder import read, read_fabric
from obliv.fabric.files.lft import write_net, write_tables
from obliv.fabric.generate import from_topology, tables_of
from obliv.fabric.model import NONE, Fabric, Tables
from obliv.fabric.reroute.quality import standing_of
from obliv.fabric.reroute.route import route
from obliv.fabric.results.route import Standing
from obliv.fabric.routes.routing import routing as fabric_routing
from obliv.fabric.routes.trace import Ending, trace
from obliv.fabric.topology import network
from obliv.topologies.make import build

pytestmark = needs_opensm


FABRICS = {
    "ft4_3": "fattree:4,3",
    "ft8_2": "fattree:8,2",
    "torus": "torus:5x5",
    "mesh": "mesh:3x2x2",
    "random": "random-regular:n=18,d=3,seed=4",
    "trunks": "trunks",
    "broken": "broken",
}


@dataclass
class Run:
    fabric: Fabric
    simulator: Simulator
    engine: str
    scanned: Fabric
    tables: Tables

    def file(self, name: str) -> Path:
        return self.simulator.folder / name


def managed(fabric: Fabric, folder: Path, *options: str) -> Iterator[Run]:
    """OpenSM has run over a fabric, which was scanned then."""
    net = folder / "fabric.net"
    assert write_net(fabric, net) == ()
    with simulated(net, folder / "run", "-N", "4096", "-S", "512", "-P", "60000") as simulator:
        engine = simulator.opensm(*options)
        topology = simulator.kept("topology.txt", "ibnetdiscover")
        scanned, tables = read(topology, lft=simulator.folder / "opensm-lfts.dump")
        assert tables is not None
        yield Run(fabric, simulator, engine, scanned, tables)


@pytest.fixture(scope="module", params=FABRICS)
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    yield from managed(fabric_of(FABRICS[request.param]), tmp_path_factory.mktemp(request.param))


def errors(found: tuple[object, ...]) -> list[object]:
    return [each for each in found if getattr(each, "severity", "") != "note"]


@pytest.mark.sampled(4)
def test_a_written_fabric_comes_back_from_a_scan(run: Run) -> None:
    assert cabling(run.scanned) == cabling(run.fabric)
    assert errors(run.scanned.findings) == []
    wanted = {int(guid): text for guid, text in zip(run.fabric.nodes.guid, run.fabric.nodes.description)}
    assert {int(guid): text for guid, text in zip(run.scanned.nodes.guid, run.scanned.nodes.description)} == wanted
    rates = {run.scanned.rate_at(int(slot)) for slot in np.flatnonzero(run.scanned.ports.peer >= 0)}
    assert rates == set(run.fabric.rates)


@pytest.mark.sampled(3)
def test_all_dialects_describe_one_fabric(run: Run) -> None:
    lids = {int(guid): int(lid) for guid, lid in zip(run.scanned.ports.guid, run.scanned.ports.lid) if lid}
    for name, options in (("-p", ("-p",)), ("-f", ("-f",)), ("-g", ("-g",)), ("short", ())):
        if options:
            path = run.simulator.kept(f"topology{name}.txt", "ibnetdiscover", *options)
        else:
            path = run.file("opensm-subnet.lst")
        result = read_fabric(path)
        assert cabling(result) == cabling(run.fabric), name
        own = {int(guid): int(lid) for guid, lid in zip(result.ports.guid, result.ports.lid) if lid and guid}
        assert own.items() <= lids.items(), name
        assert len(own) >= len(run.fabric.endpoints), name


@pytest.mark.sampled(3)
def test_all_spellings_hold_one_table(run: Run) -> None:
    wanted = meaning(run.scanned, run.tables)
    _, dumped = read(run.file("topology.txt"), lft=run.simulator.kept("lfts.txt", "dump_lfts"))
    _, listed = read(run.file("topology.txt"), lft=run.file("opensm.fdbs"))
    assert dumped is not None
    assert listed is not None
    assert meaning(run.scanned, dumped) == wanted
    reached = meaning(run.scanned, listed)
    assert reached == {key: port for key, port in wanted.items() if key in reached}
    assert len(reached) >= len(wanted) - len(run.scanned.switches)  # it leaves out a switch's own LID
    assert errors(run.tables.findings) == errors(dumped.findings) == []


@pytest.mark.sampled(3)
def test_ways_are_those_of_ibtracert(run: Run) -> None:
    fabric, ends = run.scanned, run.scanned.endpoints.tolist()
    rng = np.random.default_rng(1)
    for _ in range(6):
        source, goal = rng.choice(ends, 2, replace=False).tolist()
        lid = int(fabric.ports.lid[goal])
        process = run.simulator.run("ibtracert", str(int(fabric.ports.lid[source])), str(lid))
        hops = re.findall(r"^\[(\d+)\] -> (?:switch|ca) port \{0x([0-9a-f]+)\}\[(\d+)\]", process, re.MULTILINE)
        result = trace(fabric, run.tables, source, lid)
        assert result.ending is Ending.DELIVERED
        wanted = []
        for slot in result.slots:
            far = int(fabric.ports.peer[slot])
            node = int(fabric.node_of[far])
            guid = int(fabric.nodes.guid[node]) if fabric.nodes.kind[node] == "switch" else int(fabric.ports.guid[far])
            wanted.append((fabric.port_of(slot), guid, fabric.port_of(far)))
        assert [(int(port), int(guid, 16), int(there)) for port, guid, there in hops] == wanted, process


def scanned_by_ibdmchk(run: Run) -> tuple[int, int]:
    """CA to CA paths in all, and how many of them lead nowhere."""
    if where("ibdmchk") is None:
        pytest.skip("ibdmchk is not installed: apt-get install ibutils")
    run.file("empty").write_text("")
    subnet, tables, none = (str(run.file(name)) for name in ("opensm-subnet.lst", "opensm.fdbs", "empty"))
    process = run.simulator.run("ibdmchk", "-s", subnet, "-f", tables, "-m", none)
    total = re.search(r"Scanned:(\d+) CA to CA paths", process)
    if total:
        return int(total[1]), 0
    missing = re.search(r"Found (\d+) missing paths out of:(\d+) paths", process)
    assert missing, process
    return int(missing[2]), int(missing[1])


@pytest.mark.sampled(2)
def test_ibdmchk_finds_all_pairs_joined(run: Run) -> None:
    hosts = len(run.scanned.endpoints)
    routing = fabric_routing(network(run.scanned), run.tables, missing="skip")
    assert scanned_by_ibdmchk(run) == (hosts * (hosts - 1), routing.skipped) == (hosts * (hosts - 1), 0)


@pytest.mark.parametrize("harm", ["hole", "loop", "wrong end"])
def test_ibdmchk_misses_the_same_pairs(harm: str, tmp_path: Path) -> None:
    fabric = from_topology(obliv.topology("fattree:4,2"))
    tables = tables_of(obliv.routing("dmodk", obliv.topology("fattree:4,2")), fabric)
    out = tables.out.copy()
    far, near = int(fabric.ports.lid[fabric.endpoints[-1]]), int(fabric.ports.lid[fabric.endpoints[0]])
    if harm == "hole":
        out[0, far] = NONE
    elif harm == "loop":
        out[4:, near] = 2  # the roots send to the second leaf what is for the first
    else:
        out[0, near] = 2
    path = tmp_path / "harmed.lfts"
    write_tables(replace(tables, out=out), fabric, path)
    for run in managed(fabric, tmp_path, "-R", "file", "-U", str(path)):
        assert run.engine == "file"
        routing = fabric_routing(network(run.scanned), run.tables, missing="skip")
        assert routing.skipped > 0
        total, missing = scanned_by_ibdmchk(run)
        assert (total, missing) == (8 * 7, routing.skipped)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("spec", ["fattree:8,2", "fattree:6,2", "fattree:4,3", "eft2:8,6", "torus:4x4", "mesh:4x3"])
def test_written_tables_are_what_opensm_installs(spec: str, tmp_path: Path) -> None:
    routed = route(from_topology(obliv.topology(spec), lids=False))
    installed(routed.fabric, routed.tables, routed.lmc, routed.offset, routed.after, tmp_path)


def installed(fabric: Fabric, tables: Tables, lmc: int, offset: str, wanted: Standing, folder: Path) -> None:
    """Write, let OpenSM load and dump, read again: the same tables and the same worst case."""
    path = folder / "new.lfts"
    write_tables(tables, fabric, path)
    bare = fabric.with_ports(lid=np.zeros_like(fabric.ports.lid), lmc=np.zeros_like(fabric.ports.lmc))
    for run in managed(bare, folder, "-R", "file", "-U", str(path), "-l", str(lmc)):
        assert run.engine == "file"
        assert meaning(run.scanned, run.tables) == meaning(fabric, tables)
        scanned, dumped = read(run.file("topology.txt"), lft=run.simulator.kept("lfts.txt", "dump_lfts"))
        assert dumped is not None
        for each in (run.tables, dumped):
            assert standing_of(fabric_routing(network(scanned), each, offset, missing="skip")) == wanted


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("spec", "engine", "load"),
    [
        ("fattree:8,2", "minhop", 4),
        ("fattree:8,2", "ftree", 4),
        ("fattree:4,3", "minhop", 4),
        ("fattree:4,3", "ftree", 3),
        ("torus:9x9", "dor", 4),
        ("torus:9x9", "minhop", 18),
        ("torus:9x9", "lash", 4),
    ],
)
def test_worst_cases_of_opensm(spec: str, engine: str, load: int, tmp_path: Path) -> None:
    for run in managed(from_topology(obliv.topology(spec), lids=False), tmp_path, "-R", engine):
        assert run.engine == engine
        result = standing_of(fabric_routing(network(run.scanned), run.tables))
        assert (result.worst, result.missing) == (load, 0)
        capacity = network(run.scanned).capacity_load
        assert capacity == (Fraction(10, 9) if spec == "torus:9x9" else 1)  # dor: 0.278 of it, as Towles has it


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("spec", "engine", "load", "lmc"),
    [("fattree:8,2", "osrm2", 2, 1), ("fattree:4,3", "osrm3", 2, 1), ("fattree:8,3", "osrm3-d", 4, 0)],
)
def test_worst_cases_of_obliv_through_opensm(spec: str, engine: str, load: int, lmc: int, tmp_path: Path) -> None:
    routed = route(from_topology(obliv.topology(spec), lids=False), engine)
    found = routed.after
    assert (routed.engine, found.worst, found.missing, found.credit_loops, found.lmc) == (engine, load, 0, False, lmc)
    installed(routed.fabric, routed.tables, routed.lmc, routed.offset, routed.after, tmp_path)


@pytest.mark.nightly
def test_a_thousand_hosts_through_opensm(tmp_path: Path) -> None:
    routed = route(from_topology(obliv.topology("fattree:16,3"), lids=False))
    assert (routed.engine, routed.after.worst, routed.after.missing, routed.lmc) == ("osrm3-d", 8, 0, 0)
    installed(routed.fabric, routed.tables, routed.lmc, routed.offset, routed.after, tmp_path)


@pytest.mark.nightly
def test_tables_in_use_are_replaced_by_better_ones(tmp_path: Path) -> None:
    """What a user does: scan, route, load; LIDs are those that OpenSM gave."""
    for run in managed(from_topology(obliv.topology("fattree:8,3"), lids=False), tmp_path, "-R", "minhop"):
        routed = route(run.scanned, tables=run.tables)
        assert routed.before is not None
        assert routed.before.worst > 4
        assert (routed.engine, routed.after.worst) == ("osrm3-d", 4)
        assert routed.fabric is run.scanned
        path = tmp_path / "new.lfts"
        write_tables(routed.tables, routed.fabric, path)
        assert run.simulator.opensm("-R", "file", "-U", str(path)) == "file"
        again = read(run.file("topology.txt"), lft=run.file("opensm-lfts.dump"))[1]
        assert again is not None
        assert meaning(run.scanned, again) == meaning(run.scanned, routed.tables)


def test_a_fallback_is_told_by_the_log(tmp_path: Path) -> None:
    for run in managed(from_topology(obliv.topology("torus:4x4"), lids=False), tmp_path, "-R", "ftree"):
        assert run.engine == "minhop"


def test_hostile_names_do_no_harm(tmp_path: Path) -> None:
    fabric = from_topology(obliv.topology("fattree:4,2"), lids=False)
    names = (
        'n1"\n[1]\t"S-0002c90200001004"[4]', "=s=9 w=77", "#@x\x00y", "lid 7 lmc 7", "'):\n0x0001 007", "é" * 200,
        "\x1b[2J\u202e\ud800", "", *fabric.nodes.description[8:-1],
        "Unicast lids [0x0-0x1] of switch guid 0x1 \r\nSwitch 4",
    )  # fmt: skip
    fabric = with_nodes(fabric, description=names)
    routed = route(fabric)
    path = tmp_path / "new.lfts"
    write_tables(routed.tables, routed.fabric, path)
    for run in managed(fabric, tmp_path, "-R", "file", "-U", str(path), "-l", str(routed.lmc)):
        assert run.engine == "file"
        assert cabling(run.scanned) == cabling(fabric)
        assert meaning(run.scanned, run.tables) == meaning(routed.fabric, routed.tables)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("switches", [56, 63])
def test_the_last_lid_that_dump_lfts_drops(switches: int, tmp_path: Path) -> None:
    """With 64 LIDs the last is in no table of dump_lfts; OpenSM's own dump has it."""
    hosts = 64 - switches
    links = [(v, v + 1) for v in range(hosts, 63)] + [(h, 63 - h) for h in range(hosts)]
    line = build("line", 64, links + [(b, a) for a, b in links], terminals=range(hosts))
    for run in managed(from_topology(line, lids=False), tmp_path, "-R", "minhop"):
        assert int(run.scanned.ports.lid.max()) == 64
        _, dumped = read(run.file("topology.txt"), lft=run.simulator.kept("lfts.txt", "dump_lfts"))
        assert dumped is not None
        assert (run.tables.out[:, 64] != NONE).all()
        assert dumped.out.shape[1] <= 64 or (dumped.out[:, 64] == NONE).all()
