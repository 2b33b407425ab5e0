"""The example script for cron: it judges a night, and keeps the last good one to compare with."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.fabric.gate.test_gate import moved

import obliv
from obliv.fabric.files.lft import write_net, write_tables
from obliv.fabric.generate import from_topology, tables_of

SCRIPT = Path(__file__).parents[3] / "examples" / "gate" / "nightly.sh"


@pytest.mark.skipif(shutil.which("sh") is None, reason="needs a shell")
@pytest.mark.skipif(not (Path(sys.executable).parent / "obliv").exists(), reason="needs the installed command")
def test_a_moved_cable_is_found_against_the_last_good_night(tmp_path: Path) -> None:
    scan, tables = tmp_path / "scan.net", tmp_path / "tables"
    tree = obliv.topology("fattree:4,2")
    fabric = from_topology(tree)
    write_net(fabric, scan)
    write_tables(tables_of(obliv.routing("dmodk", tree), fabric), fabric, tables)
    shutil.copy(SCRIPT, tmp_path)
    limits = tmp_path / "fabric.toml"
    limits.write_text('pairs = "all"\n')

    def night(**more: str) -> subprocess.CompletedProcess[str]:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        own = {
            "PATH": path,
            "SCAN": f"cat {scan}",
            "DUMP": f"cat {tables}",
            "NOTIFY": "cat",
            "MAIL": "/var/mail/root",
            "HOME": str(tmp_path),
        }
        own |= {name: os.environ[name] for name in ("NUMBA_CACHE_DIR",) if name in os.environ}
        own |= more
        return subprocess.run(["sh", "nightly.sh"], cwd=tmp_path, env=own, capture_output=True, text=True, timeout=300)

    absent = night(OBLIV="/nowhere/obliv")
    assert (absent.returncode, absent.stdout) == (2, "")
    assert "set OBLIV=/path/to/obliv" in absent.stderr
    assert night().returncode == 0
    good = (tmp_path / "nights" / "good").resolve()
    assert json.loads((good / "report.json").read_text())["ok"] is True
    since = 'since = ["nights/good/topology.txt", "nights/good/tables.txt"]\n'
    limits.write_text('pairs = "all"\nplan = "nights/good/topology.txt"\n' + since)
    write_net(moved(fabric), scan)
    bad = night()
    assert bad.returncode == 1
    assert "plan = nights/good/topology.txt: not kept" in bad.stdout
    assert "worst_load since = 2 before" in bad.stdout
    assert (tmp_path / "nights" / "good").resolve() == good
    scan.unlink()
    failed = night()
    assert failed.returncode == 2
    assert "the scan of the fabric failed" in failed.stderr
