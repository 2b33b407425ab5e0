"""Lanes that OpenSM sets up on ibsim, with the SLs that it answers, against what ibdmchk says of them."""

from __future__ import annotations

import contextlib
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.fabric.lanes import spelled_lanes as spelled
from tests.fabric.lanes.test_reading_lanes import levels_in
from tests.fabric.opensm import Simulator, needs_opensm, simulated, where

import obliv
from obliv.fabric.checks.check import check
from obliv.fabric.files.folder import read
from obliv.fabric.files.lft import write_net
from obliv.fabric.generate import from_topology
from obliv.fabric.lanes.read import read_lanes
from obliv.fabric.results.check import FabricCheck

pytestmark = [
    needs_opensm,
    pytest.mark.skipif(where("ibdmchk") is None, reason="ibdmchk is not installed: apt-get install ibutils"),
]


@contextlib.contextmanager
def managed(simulator: Simulator, *options: str) -> Iterator[None]:
    """The subnet manager has configured the fabric and answers queries until the block is left."""
    program, log = where("opensm"), simulator.folder / "osm.log"
    assert program
    shim = next(str(found) for found in Path("/usr/lib").glob("**/umad2sim/libumad2sim.so"))
    command = [program, "-e", "-s", "0", "-d2", "-D", "0x43", "--dump_files_dir", str(simulator.folder), "-f", str(log)]
    process = subprocess.Popen(
        [*command, *options], cwd=simulator.folder, env={**simulator.env, "LD_PRELOAD": shim},
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        limit = time.monotonic() + 120
        while not (log.exists() and "SUBNET UP" in log.read_text(errors="replace")):
            assert process.poll() is None, "opensm ended"
            assert time.monotonic() < limit, "opensm did not finish"
            time.sleep(0.05)
        yield
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def judged(folder: Path, *lanes: str) -> bool:
    """Whether ibdmchk finds the tables free of credit loops."""
    program = where("ibdmchk")
    assert program
    (folder / "none").write_text("")
    messages = subprocess.run(
        [program, "-s", "opensm-subnet.lst", "-f", "opensm.fdbs", "-m", "none", *lanes],
        cwd=folder, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL, check=False,
    ).stdout  # fmt: skip
    free = "no credit loops found" in messages
    assert free != ("credit loops in routing" in messages), messages[-2000:]
    return free


def compared(spec: str, options: tuple[str, ...], folder: Path, table: str = "") -> FabricCheck:
    """Check the lanes that OpenSM sets up, and require that ibdmchk agrees: with them and with one lane."""
    net = folder / "fabric.net"
    write_net(from_topology(obliv.topology(spec), lids=False), net)
    if table:
        (folder / "opensm.conf").write_text(f"qos TRUE\nqos_max_vls 15\nqos_sw0_sl2vl {table}\nqos_swe_sl2vl {table}\n")
        options = ("-F", str(folder / "opensm.conf"), *options)
    with simulated(net, folder) as simulator, managed(simulator, "-Q", *options):
        scan = simulator.kept("scan.txt", "ibnetdiscover")
        fabric, tables = read(scan, lft=folder / "opensm-lfts.dump")
        lids = [int(fabric.ports.lid[end]) for end in fabric.endpoints]
        asked = [
            simulator.run("saquery", "PR", "--slid", str(one), "--dlid", str(two))
            for one in lids
            for two in lids
            if one != two
        ]
        (folder / "records").write_text("".join(asked))
        first = int(fabric.first_slot[fabric.switches[0]])
        queried = [
            simulator.run("smpquery", "sl2vl", str(fabric.ports.lid[first]), str(fabric.port_of(slot)))
            for slot in range(first + 1, int(fabric.first_slot[fabric.switches[0] + 1]))
            if fabric.ports.peer[slot] >= 0
        ]
        (folder / "queried").write_text("".join(queried))
    assert tables is not None
    lanes = read_lanes(fabric, folder / "opensm-sl2vl.dump", folder / "records")
    assert [finding for finding in lanes.findings if finding.severity != "note"] == []
    pairs = levels_in(folder / "records", fabric)
    assert len(pairs) == len(lids) * (len(lids) - 1)
    (folder / "paths.psl").write_text(spelled.psl(fabric, pairs))
    node = int(fabric.switches[0])
    same = read_lanes(fabric, folder / "queried", 0).tables
    for entry, exit in np.argwhere(
        same.row[: same.line.size].reshape(-1, int(fabric.first_slot[node + 1]) - first)
    ).tolist():
        for sl in range(16):
            assert same.lane(fabric, node, entry, exit, sl) == lanes.tables.lane(fabric, node, entry, exit, sl)
    result = check(fabric, tables, folder / "osm.log", lanes=lanes)
    assert result.credit is not None
    assert result.one_lane is not None
    assert result.credit.acyclic == judged(folder, "-c", "paths.psl", "-d", "opensm-sl2vl.dump")
    assert result.one_lane.acyclic == judged(folder)
    log = (folder / "osm.log").read_text(errors="replace")
    needed = re.search(r"(?:Virtual Lanes|Lanes) needed: (\d+)", log)
    if needed and not table and "lash tables configured" in log:
        assert len(result.lanes_used) == int(needed[1])
    return result


@pytest.mark.nightly
def test_lash_frees_a_ring(tmp_path: Path) -> None:
    result = compared("ring:6", ("-R", "lash"), tmp_path)
    assert result.credit is not None
    assert result.one_lane is not None
    assert (result.credit.acyclic, result.one_lane.acyclic) == (True, False)
    assert result.lanes_used == (0, 1, 2)
    assert result.of("same-sl")


@pytest.mark.nightly
def test_tables_that_fold_lanes_do_not(tmp_path: Path) -> None:
    table = ",".join(str(sl // 2 % 8) for sl in range(15)) + ",7"
    result = compared("ring:6", ("-R", "lash"), tmp_path, table)
    assert result.credit is not None
    assert not result.credit.acyclic
    assert result.lanes_used == (0, 1)
    assert [loop.lane for loop in result.per_lane if not loop.acyclic] == [0]


SPECS = (
    "ring:5",
    "ring:7",
    "mesh:3x3",
    "torus:3x3",
    "torus:5x2",
    "fattree:4,2",
    "hyperx:3x3",
    "complete:5",
    "hypercube:3",
)
SPECS += ("random-regular:n=10,d=3,seed=1", "random-regular:n=8,d=3,seed=2", "dragonfly:1,2,1")
ENGINES = ("minhop", "sssp", "dor", "lash", "dfsssp", "nue --nue_max_num_vls 2", "nue --nue_max_num_vls 4", "updn")


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(200))
def test_many_fabrics_engines_and_tables(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    spec, engine = SPECS[seed % len(SPECS)], ENGINES[int(rng.integers(len(ENGINES)))]
    lanes = int(rng.choice([1, 2, 3, 4, 8]))
    table = "" if rng.random() < 0.4 else ",".join(str(vl) for vl in rng.integers(0, lanes, 16))
    compared(spec, ("-R", *engine.split()), tmp_path, table)
