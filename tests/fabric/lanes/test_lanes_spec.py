"""Lanes in the spec of tables, for the verbs of all networks."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

import obliv
from obliv.cli import main
from obliv.errors import RoutingError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    assert (
        main(["fabric", "generate", "ring:5", "-o", "ring.net", "--routing", "shortest", "--tables", "ring.lfts"]) == 0
    )
    fabric, _ = obliv.fabric.read("ring.net", "ring.lfts")
    lids = [int(fabric.ports.lid[end]) for end in fabric.endpoints]
    lines = [f"{a} {b} {2 * (abs(lids.index(a) - lids.index(b)) > 2)}" for a in lids for b in lids if a != b]
    Path("ring.sl").write_text("\n".join(lines) + "\n")
    return tmp_path


@pytest.mark.parametrize("sl", ["0", "ring.sl"])
def test_deadlock_says_what_the_check_says(folder: Path, sl: str) -> None:
    topology = obliv.topology("fabric:ring.net")
    routing = obliv.routing(f"lft:ring.lfts,sl2vl=identity,sl={sl}", topology)
    assert routing.spec == f"lft:ring.lfts,sl2vl=identity,sl={sl}"
    result = obliv.deadlock(routing)
    fabric, tables = obliv.fabric.read("ring.net", "ring.lfts")
    checked = obliv.fabric.check(fabric, tables, lanes=obliv.fabric.read_lanes(fabric, "identity", sl))
    assert checked.credit is not None
    assert (result.scheme, result.acyclic) == ("lanes", sl != "0")
    assert (result.acyclic, result.dependencies) == (checked.credit.acyclic, checked.credit.dependencies)
    assert not obliv.deadlock(routing, "none").acyclic
    if result.cycle is not None:
        assert len(result.cycle) == 5
        assert {step.virtual_channel for step in result.cycle} == {0}
        assert all(one.head == other.tail for one, other in zip(result.cycle, result.cycle[1:]))
    assert pickle.loads(pickle.dumps(routing)) == routing
    assert obliv.deadlock(pickle.loads(pickle.dumps(routing))) == result


def test_the_files_are_sources(folder: Path) -> None:
    routing = obliv.routing("lft:ring.lfts,sl2vl=identity,sl=ring.sl", obliv.topology("fabric:ring.net"))
    assert [path for path, _ in routing.sources] == ["ring.lfts", "ring.sl"]


def test_lanes_are_refused_without_tables(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(RoutingError, match="needs the lanes of an InfiniBand fabric"):
        obliv.deadlock(obliv.routing("dor", obliv.ring(5)), "lanes")
    capsys.readouterr()
    assert main(["deadlock", "fabric:ring.net", "lft:ring.lfts,sl=ring.sl"]) == 2
    assert "SLs differ, but no SL-to-VL tables" in capsys.readouterr().err


def test_the_verb_of_fabrics(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check = ["fabric", "check", "ring.net", "--lft", "ring.lfts"]
    assert main([*check, "--sl2vl", "identity", "--sl", "ring.sl"]) == 0
    assert "SL 0-14" in capsys.readouterr().out
    assert main([*check, "--sl2vl", "identity", "--sl", "ring.sl", "--oper-vls", "2"]) == 1
    assert main([*check, "--sl2vl", "identity", "--sl", "ring.sl", "--strict"]) == 1
    for wrong, words in (
        (["--sl", "16"], "SL 16 is out of range"),
        (["--sl", "none.psl"], "none.psl"),
        (["--sl2vl", "ring.net"], "contains a topology, not SL-to-VL tables"),
        (["--sl", "ring.lfts"], "contains forwarding tables, not SLs"),
        (["--oper-vls", "5"], "1, 2, 4, 8 or 15"),
        (["--vlarb", "ring.net"], "contains no arbitration table"),
    ):
        capsys.readouterr()
        assert main([*check, *wrong]) == 2
        assert words in capsys.readouterr().err
    assert main(["fabric", "check", "ring.net", "--sl", "1"]) == 2
    assert "add --lft TABLES" in capsys.readouterr().err
