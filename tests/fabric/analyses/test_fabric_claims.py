"""Claims about forwarding tables: proved by walking the tables, refused where they say less."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from tests.claims import refused, save_claim
from tests.fabric import spelled

import obliv
from obliv.fabric.analyses.worst import worst
from obliv.fabric.files.lft import write_net, write_tables
from obliv.fabric.generate import from_routing
from obliv.fabric.model import NONE
from obliv.fabric.routes.routing import FabricHops, FabricRouting
from obliv.routings.hops import HopRouting

CASES = [("fattree:4,3", "dmodk"), ("fattree:8,2", "dmodk"), ("torus:5x5", "dor"), ("eft2:6,4", "wsr")]


def tables(spec: str, name: str) -> FabricRouting:
    return from_routing(obliv.routing(name, obliv.topology(spec)))


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("spec", "name"), CASES)
def test_next_hops_are_the_ports_of_the_tables(spec: str, name: str) -> None:
    routing = tables(spec, name)
    assert isinstance(routing, FabricHops)
    topology, forwarding, fabric = routing.topology, routing.routes.tables, routing.topology.fabric
    for d, end in enumerate(fabric.endpoints.tolist()):
        for v in range(topology.nodes):
            slot = int(fabric.endpoints[v]) if v < topology.hosts else -1
            if v >= topology.hosts:
                switch = int(fabric.switches[v - topology.hosts])
                slot = fabric.slot(switch, int(forwarding.out[forwarding.row_of[switch], fabric.ports.lid[end]]))
            channel = -1 if slot < 0 or v == d else int(topology.channel_of[slot])
            assert routing.next_hops(v, d) == ([channel] if channel >= 0 else [])
        quick, plain = routing.hops_to(d), HopRouting.hops_to(routing, d)
        for field in ("ptr", "channel", "share", "total"):
            np.testing.assert_array_equal(getattr(quick, field), getattr(plain, field))


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("spec", "name"), CASES)
def test_a_claim_from_files_is_proved_and_a_lower_one_is_not(
    spec: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    cells = tables(spec, name)
    write_net(cells.topology.fabric, "f.net")
    write_tables(cells.routes.tables, cells.topology.fabric, "f.lfts")
    topology = obliv.topology("fabric:f.net")
    result = worst(obliv.routing("lft:f.lfts", topology), certificate=True)
    assert result.channel_load == obliv.worst_case(cells).channel_load
    result.save("claim.json")
    assert obliv.verify("claim.json").proved
    again = obliv.load("claim.json")
    assert isinstance(again, obliv.FabricWorst)
    assert again.terminal_names == result.terminal_names
    claim = json.loads(Path("claim.json").read_text())
    less = Fraction(claim["channel_load"]["exact"]) - 1
    claim["channel_load"] = {"exact": str(less), "value": float(less)}
    if less:
        claim["throughput"] = {"exact": str(1 / less), "value": float(1 / less)}
    assert refused(claim, Path("less.json"))


def test_other_tables_in_the_file_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cells = tables("fattree:8,2", "dmodk")
    write_net(cells.topology.fabric, "f.net")
    write_tables(cells.routes.tables, cells.topology.fabric, "f.lfts")
    worst(obliv.routing("lft:f.lfts", obliv.topology("fabric:f.net")), certificate=True).save("claim.json")
    lines = Path("f.lfts").read_text().splitlines(keepends=True)
    at = next(n for n, line in enumerate(lines) if "Channel Adapter" in line)
    lines[at] = lines[at][:7] + ("005" if lines[at][7:10] != "005" else "006") + lines[at][10:]
    Path("f.lfts").write_text("".join(lines))
    report = obliv.verify("claim.json")
    assert not report.proved
    assert any("changed" in each.detail for each in report.checks)


@pytest.mark.parametrize(("spec", "name"), [("fattree:4,3", "dmodk"), ("torus:5x5", "dor")])
def test_claims_about_tables_with_holes(spec: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cells = tables(spec, name)
    fabric, whole = cells.topology.fabric, cells.routes.tables
    out = whole.out.copy()
    out[2, fabric.ports.lid[fabric.endpoints[[0, 5]]]] = NONE
    write_net(fabric, "f.net")
    write_tables(replace(whole, out=out), fabric, "f.lfts")
    result = worst(obliv.routing("lft:f.lfts,missing=skip", obliv.topology("fabric:f.net")), certificate=True)
    assert result.skipped > 0
    result.save("claim.json")
    report = obliv.verify("claim.json")
    assert report.proved
    assert "left out" in [each.check for each in report.checks]
    claim = json.loads(Path("claim.json").read_text())
    claim["routing"] = "lft:f.lfts"
    assert refused(claim, Path("whole.json"))
    claim |= {"routing": "lft:f.lfts,missing=skip", "skipped": 0}
    save_claim(claim, Path("fewer.json"))
    report = obliv.verify("fewer.json")
    assert [each.check for each in report.checks if not each.ok] == ["left out"]


def test_claims_about_a_fabric_whose_lids_stand_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cells = tables("fattree:4,2", "dmodk")
    fabric = cells.topology.fabric
    write_net(fabric.with_ports(lid=np.zeros_like(fabric.ports.lid)), "f.net")
    Path("g").write_text(spelled.guid2lid(fabric))
    Path("f.lfts").write_text(spelled.tables_text(cells.routes.tables, fabric, "a -n"))  # names no ports
    topology = obliv.topology("fabric:f.net,guid2lid=g")
    assert [path for path, _ in topology.sources] == ["f.net", "g"]
    worst(obliv.routing("lft:f.lfts", topology), certificate=True).save("claim.json")
    assert obliv.verify("claim.json").proved
    Path("g").write_text(spelled.guid2lid(fabric) + "\n")
    assert not obliv.verify("claim.json").proved
