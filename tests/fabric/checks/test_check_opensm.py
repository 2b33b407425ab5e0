"""The check of tables that OpenSM made, beside what ibdmchk says of the same ones."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from tests.fabric.opensm import needs_opensm, simulated, where

import obliv
from obliv.fabric.checks.check import check
from obliv.fabric.files.folder import read
from obliv.fabric.files.lft import write_net
from obliv.fabric.generate import from_topology
from obliv.fabric.results.check import FabricCheck

pytestmark = needs_opensm


def checked(spec: str, engine: str, folder: Path) -> dict[str, FabricCheck]:
    """The check of each spelling of the tables that OpenSM makes for a topology."""
    net = folder / "fabric.net"
    write_net(from_topology(obliv.topology(spec), lids=False), net)
    with simulated(net, folder) as simulator:
        simulator.opensm("-R", engine)
        scan = simulator.kept("scan.txt", "ibnetdiscover")
        simulator.kept("lfts.txt", "dump_lfts")
    return {
        name: check(*read(scan, lft=folder / name), folder / "osm.log", engine=engine)
        for name in ("lfts.txt", "opensm-lfts.dump", "opensm.fdbs")
    }


def judged(folder: Path) -> tuple[int, bool]:
    """How many pairs ibdmchk finds served, and whether it finds no credit loop."""
    program = where("ibdmchk")
    if program is None:
        pytest.skip("ibdmchk is not installed: apt-get install ibutils")
    (folder / "none").write_text("")
    messages = subprocess.run(
        [program, "-s", "opensm-subnet.lst", "-f", "opensm.fdbs", "-m", "none"],
        cwd=folder, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL, check=False,
    ).stdout  # fmt: skip
    scanned = re.search(r"Scanned:(\d+) CA to CA paths", messages)
    assert scanned, messages[-2000:]
    free = "no credit loops found" in messages
    assert free != ("credit loops in routing" in messages), messages[-2000:]
    return int(scanned[1]), free


@pytest.mark.sampled(8)
@pytest.mark.parametrize(
    ("spec", "engine", "free"),
    [
        ("torus:5x5", "dor", False),
        ("torus:4x4", "minhop", False),
        ("mesh:4x4", "dor", True),
        ("fattree:4,3", "ftree", True),
        ("fattree:8,2", "updn", True),
    ],
)
def test_deadlock_and_routes_as_ibdmchk_finds_them(spec: str, engine: str, free: bool, tmp_path: Path) -> None:
    results = checked(spec, engine, tmp_path)
    pairs, sound = judged(tmp_path)
    assert sound == free
    for result in results.values():
        assert result.credit is not None
        assert result.credit.acyclic == free
        assert result.pairs == pairs
        assert result.unrouted == 0
        assert result.ok == free
        assert result.engine is not None
        assert result.engine.used == engine


def test_the_last_lid_is_dropped_by_the_real_program(tmp_path: Path) -> None:
    results = checked("xgft:2;5,10;1,4", "minhop", tmp_path)  # 64 LIDs
    dumped = results.pop("lfts.txt")
    assert dumped.unrouted == 49
    assert [finding.severity for finding in dumped.of("dropped-lid")] == ["error"]
    assert "LID 64" in dumped.of("dropped-lid")[0].message
    for result in results.values():
        assert result.ok
        assert result.unrouted == 0


def test_the_engine_that_was_asked_for_and_another_that_came(tmp_path: Path) -> None:
    for result in checked("torus:6", "updn", tmp_path).values():
        assert result.engine.to_dict() == {"used": "minhop", "requested": "updn", "failed": ["updn"]}
        assert "fell back to minhop" in result.of("engine")[0].message
        assert not result.ok
