"""Limits of a fabric: kept or not, and what other programs read about them."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from tests.mistakes import mistake

import obliv
from obliv.fabric.generate import from_topology, tables_of
from obliv.fabric.model import NONE, Fabric, Tables
from obliv.fabric.results.check import FabricCheck


@pytest.fixture(scope="module")
def tree() -> tuple[Fabric, Tables]:
    topology = obliv.topology("fattree:4,2")
    fabric = from_topology(topology)
    return fabric, tables_of(obliv.routing("dmodk", topology), fabric)


def judged(text: str, folder: Path, fabric: Fabric, tables: Tables | None) -> FabricCheck:
    (folder / "fabric.toml").write_text(text)
    limits = obliv.fabric.read_limits(folder / "fabric.toml")
    return obliv.fabric.within_limits(obliv.fabric.check(fabric, tables), limits, tables)


KEPT = [
    ("worst_load = 2", "worst_load = 1", "2"),
    ('worst_load = "7/2"', "worst_load = 1.99", "2"),
    ("uniform_load = 1", "uniform_load = 0.87", "7/8"),
    ("idle_cables = 0", "", "0"),
    ('pairs = "all"', "pairs = 57", "56 of 56"),
    ("credit_loops = false", "", "none"),
    ("hosts = 8", "hosts = 9", "8"),
    ("switches = 6", "switches = 5", "6"),
    ('shape = "FT(4,2)"', 'shape = "FT(4,3)"', "FT(4,2)"),
    ("warnings = 0", "", "0"),
]


def test_each_limit_is_kept_or_not(tree: tuple[Fabric, Tables], tmp_path: Path) -> None:
    for kept, broken, found in KEPT:
        result = judged(f"# limits\n{kept}", tmp_path, *tree)
        assert result.ok, kept
        assert [(limit.kept, limit.found) for limit in result.limits] == [(True, found)]
        if broken:
            result = judged(f"# limits\n{broken}", tmp_path, *tree)
            assert not result.ok, broken
            (finding,) = result.of("limit")
            assert (finding.severity, finding.line) == ("error", 2)
            assert found in finding.message
    assert result.to_dict()["limits"][0]["kept"] is True


def test_no_worse_than_another_night(tree: tuple[Fabric, Tables], tmp_path: Path) -> None:
    """Uniform traffic tells tables apart whose worst case is the same; lost pairs are not made up for by low loads."""
    fabric, tables = tree
    obliv.fabric.write_net(fabric, tmp_path / "good.net")
    obliv.fabric.write_tables(tables, fabric, tmp_path / "good.lfts")
    limit = 'since = ["good.net", "good.lfts"]'
    same = judged(limit, tmp_path, *tree)
    assert same.ok
    assert [(one.name, one.value) for one in same.limits] == [
        ("pairs since", 56),
        ("worst_load since", 2),
        ("uniform_load since", Fraction(7, 8)),
    ]
    assert len(same.provenance.sources) == 3  # the limits and both files
    leaf = next(row for row, node in enumerate(tables.switch) if fabric.nodes.description[node] == "switch((0),1)")
    out = tables.out.copy()
    out[leaf][out[leaf] == 4] = 3  # all that leaves this leaf takes one cable
    worse = judged(limit, tmp_path, fabric, replace(tables, out=out))
    assert [one.kept for one in worse.limits] == [True, True, False]
    assert worse.limits[2].value == Fraction(3, 2)  # two hosts send 6/8 each to other leaves
    (finding,) = worse.of("limit")
    assert finding.message == "uniform_load since = 7/8 before, found 3/2"
    (tmp_path / "same.toml").write_text(limit.replace('"good', f'"{tmp_path}/good'))
    discarding = replace(obliv.fabric.check(*tree), dropped_pairs=4)  # as they did that night
    limits = obliv.fabric.read_limits(tmp_path / "same.toml")
    assert obliv.fabric.within_limits(discarding, limits, tables).limits[0].kept
    lost = out.copy()
    lost[:, fabric.ports.lid[fabric.endpoints[5]]] = NONE
    assert not judged(limit, tmp_path, fabric, replace(tables, out=lost)).limits[0].kept


def test_jobs_are_limits(tree: tuple[Fabric, Tables], tmp_path: Path) -> None:
    names = obliv.fabric.network(tree[0])
    order = [names.name_of(int(host)) for host in np.random.default_rng(3).permutation(names.terminals)]
    (tmp_path / "hosts").write_text("\n".join(order) + "\n")
    load = obliv.fabric.job(obliv.fabric.routing(names, tree[1]), tmp_path / "hosts", "ring").load
    assert load > 1
    text = '[[job]]\nhosts = "hosts"\npattern = "ring"\nload = {}\n'
    assert judged(text.format(load), tmp_path, *tree).ok
    result = judged(text.format(1) + text.format(load), tmp_path, *tree)
    assert [limit.kept for limit in result.limits] == [False, True]
    assert result.of("limit")[0].line == 1
    out = tree[1].out.copy()  # the tables lose a host
    out[:, int(tree[0].ports.lid[tree[0].endpoints[0]])] = 255
    result = judged("worst_load = 9" + chr(10) + text.format(9), tmp_path, tree[0], replace(tree[1], out=out))
    assert not result.ok
    worst, ring = result.limits
    assert "among the pairs that are connected" in worst.found
    assert (ring.kept, ring.found.endswith(", but 1 pair of it cut off")) == (False, True)
    lost = names.name_of(int(names.terminals[0]))
    (tmp_path / "hosts").write_text("\n".join(name for name in order if name != lost) + "\n")
    (ring,) = judged(text.format(9), tmp_path, tree[0], replace(tree[1], out=out)).limits
    assert ring.kept


def test_lanes_that_discard_packets_keep_no_limits(tree: tuple[Fabric, Tables], tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text("host(0,0)\nhost(1,0)\n")
    text = 'pairs = {}\n[[job]]\nhosts = "hosts"\npattern = "ring"\nload = 9\n'
    for pairs, discarded, kept in (('"all"', 0, [True, True]), ('"all"', 3, [False, False]), (53, 3, [True, False])):
        (tmp_path / "fabric.toml").write_text(text.format(pairs))
        check = replace(obliv.fabric.check(*tree), dropped_pairs=discarded)
        found = obliv.fabric.within_limits(check, obliv.fabric.read_limits(tmp_path / "fabric.toml"), tree[1])
        assert [limit.kept for limit in found.limits] == kept
        assert ("lanes discard packets of 3" in found.limits[1].found) == (discarded == 3)


def test_loads_with_several_lids_by_an_offset(tmp_path: Path) -> None:
    tree = obliv.topology("fattree:8,2")
    routed = obliv.fabric.route(from_topology(tree), engine="osrm2")
    assert routed.tables is not None
    fabric, offset = routed.fabric, routed.offset
    assert offset != "0"
    base = obliv.fabric.worst(obliv.fabric.routing(obliv.fabric.network(fabric), routed.tables, "0")).channel_load
    best = obliv.fabric.worst(obliv.fabric.routing(obliv.fabric.network(fabric), routed.tables, offset)).channel_load
    assert best < base
    for words, load in (("", base), (f'offset = "{offset}"\n', best)):
        (limit,) = judged(f"{words}worst_load = {load}", tmp_path, fabric, routed.tables).limits
        assert (limit.kept, limit.found) == (True, str(load))
    for words in ('offset = "0-9-x"', "offset = 900"):
        message = mistake(lambda words=words: judged(f"worst_load = 1\n{words}", tmp_path, fabric, routed.tables))
        assert "fabric.toml:2: " in message


def moved(fabric: Fabric) -> Fabric:
    """The fabric with two cables between switches plugged into each other's port at one end."""
    peer = fabric.ports.peer.copy()
    _, _, trunks = fabric.trunks
    one, other = (int(slot) for slot in trunks[[0, 2]])
    for a, b in ((one, peer[other]), (other, peer[one])):
        peer[a], peer[b] = b, a
    assert (np.sort(peer) == np.sort(fabric.ports.peer)).all()
    return fabric.with_ports(peer=peer)


def test_a_cable_moved_by_hand(tree: tuple[Fabric, Tables], tmp_path: Path) -> None:
    fabric, _ = tree
    obliv.fabric.write_net(fabric, tmp_path / "planned.net")
    slots = [(slot, end) for slot, end in enumerate(fabric.ports.peer.tolist()) if slot < end]
    ident = fabric.nodes.ident
    rows = [[cell for slot in pair for cell in (ident[fabric.node_of[slot]], fabric.port_of(slot))] for pair in slots]
    lines = [",".join(map(str, row)) for row in rows]
    (tmp_path / "planned.csv").write_text("\n".join(["name,port,name,port", *lines]) + "\n")
    for plan in ("planned.net", "planned.csv"):
        assert judged(f'plan = "{plan}"', tmp_path, fabric, None).ok
        result = judged(f'plan = "{plan}"', tmp_path, moved(fabric), None)
        assert [(limit.found, limit.kept) for limit in result.limits] == [("14 of 16", False)]
        assert len(result.of("plan")) == 2
        assert all(Path(finding.file).name == plan and finding.line for finding in result.of("plan"))
    (tmp_path / "planned.csv").write_text("\n".join(lines[1:]) + "\nnobody,1,nobody,2\n")
    result = judged('plan = "planned.csv"', tmp_path, fabric, None)
    assert result.limits[0].found == "15 of 16, 1 others"
    named = [f"{row[0]}/{row[1]}" for row in rows], [f"{row[2]}/{row[3]}" for row in rows]
    wanted = [list(pair) for pair in zip(*named, strict=True)][:3]
    assert judged(f"cables = {json.dumps(wanted)}", tmp_path, fabric, None).ok
    assert not judged(f'cables = [["{named[0][0]}", "{named[1][1]}"]]', tmp_path, fabric, None).ok


def test_what_build_servers_read(tree: tuple[Fabric, Tables], tmp_path: Path) -> None:
    result = judged('worst_load = 1\npairs = "all"', tmp_path, *tree)
    hostile = "</failure><script>\x00\x1b[31m ]]> \ud800"
    result = replace(result, findings=(*result.findings, replace(result.findings[0], kind="x\x01", message=hostile)))
    suite = ET.fromstring(obliv.fabric.junit_of(result))
    cases = suite.findall("testcase")
    failed = [case.get("name") for case in cases if case.find("failure") is not None]
    assert failed == ["worst_load", "x?"]
    assert (int(suite.get("tests", "")), int(suite.get("failures", ""))) == (len(cases), len(failed))
    log = json.loads(obliv.fabric.sarif_of(result))
    (run,) = log["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert [each["level"] for each in run["results"]].count("error") == 2
    assert all(rules[each["ruleIndex"]] == each["ruleId"] for each in run["results"])
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place["region"]["startLine"] == 1
    assert place["artifactLocation"]["uri"].endswith("/fabric.toml")


MISTAKES = [
    ("# none", "contains no limit"),
    ("offset = 1", "contains no limit"),
    ("offset = -1", 'as "0-0-1-1"'),
    ("worst_load =", "invalid TOML"),
    ("wurst_load = 1", "did you mean worst_load"),
    ('worst_load = "many"', "a number at least 0"),
    ("worst_load = -1", "a number at least 0"),
    ("worst_load = nan", "a number at least 0"),
    ("worst_load = true", "a number at least 0"),
    ('pairs = "most"', '"all" or a whole number'),
    ("hosts = 1.5", "whole number"),
    ('warnings = "0"', 'warnings = "0": a whole number'),
    ('# none\ncables = [["a", "b/1"]]', "fabric.toml:2: cables: 'a' is not a port: write NAME/PORT"),
    ("hosts = true", "hosts = true: a whole"),
    ("credit_loops = 0", "true or false"),
    ('cables = [["a/1"]]', "pairs of ports"),
    ('cables = [["a", "b"]]', "write NAME/PORT"),
    ('# none\nplan = "missing.csv"', "fabric.toml:2: plan: "),
    ('plan = ""', "name of a file"),
    ("job = 1", "write [[job]]"),
    ('[[job]]\nhosts = "x"', "job 1 has no pattern"),
    ('[[job]]\nhosts = "missing"\npattern = "ring"\nload = 1', "fabric.toml:1: job 1: "),
    ('hosts = 8\n[[job]]\nhosts = "four.hosts"\npattern = "rign"\nload = 1', "fabric.toml:2: job 1: unknown"),
    ("[[job]]\nhosts = 1\npattern = 2\nload = 1", "name of a file"),
    ("[[job]]\nrank = 1", "is not a limit"),
    ('since = "nights/good"', 'two files are needed, as ["nights/good/topology.txt", "nights/good/tables.txt"]'),
    ('hosts = 8\nsince = ["no.net", "no.lfts"]', "fabric.toml:2: since: "),
    ('# none\nengine = "ftree"', "fabric.toml:2: the limit engine is compared with OpenSM's log: give log"),
]


def test_mistakes(tree: tuple[Fabric, Tables], tmp_path: Path) -> None:
    (tmp_path / "four.hosts").write_text("host(0,0) host(1,0) host(2,0) host(3,0)")
    for text, part in MISTAKES:
        assert part in mistake(lambda text=text: judged(text, tmp_path, *tree)), text
    message = mistake(lambda: judged("hosts = 8\nworst_load = 1", tmp_path, tree[0], None))
    assert message.endswith("fabric.toml:2: the limit worst_load needs forwarding tables: give tables")
    for rows, part in (
        ("a,b\n", "name,port,name,port"),
        ("# none\n", "contains no cable"),
        ("a,1,b,x\n", "name,port,name,port"),
    ):
        (tmp_path / "plan.csv").write_text(rows)
        assert part in mistake(lambda: judged('plan = "plan.csv"', tmp_path, tree[0], None))
