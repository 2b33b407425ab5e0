"""Changes of cables and table entries are answered as the changed files analyzed from scratch."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from tests.fabric.outages import fabrics

import obliv
from obliv.cli import main
from obliv.errors import InputError
from obliv.fabric.checks.check import credit_loops
from obliv.fabric.model import NONE
from obliv.fabric.outages.base import kept_tables
from obliv.fabric.outages.certificate import worst_channel
from obliv.fabric.outages.sets import Change, named_failure, without
from obliv.fabric.routes.routing import FabricRouting


def edits(routing: FabricRouting, rng: np.random.Generator) -> tuple[list[str], list[str], list[str]]:
    """Return some cables and at times a switch that fail, entries of tables and new cables, drawn at random."""
    topology, tables = routing.topology, routing.routes.tables
    fabric = topology.fabric
    _, _, slots = fabric.trunks
    slots = slots[slots < fabric.ports.peer[slots]]
    drawn = rng.choice(slots, min(len(slots), int(rng.integers(0, 3))), replace=False).tolist()
    fail = [f"{fabric.nodes.ident[fabric.node_of[slot]]}/{fabric.port_of(slot)}" for slot in drawn]
    if rng.random() < 0.2:
        fail.append(fabric.nodes.ident[int(rng.choice(fabric.switches))])
    entries = {}
    for _ in range(int(rng.integers(0, 4))):
        row, lid = int(rng.integers(len(tables.out))), int(rng.integers(1, tables.out.shape[1]))
        node = int(tables.switch[row])
        port = int(rng.integers(0, fabric.first_slot[node + 1] - fabric.first_slot[node] + 1))
        known = port < fabric.first_slot[node + 1] - fabric.first_slot[node]
        entries[row, lid] = f"{fabric.nodes.ident[node]}/{lid}={port if known else 'none'}"
    return fail, list(entries.values()), additions(routing, fail, rng)


def additions(routing: FabricRouting, fail: list[str], rng: np.random.Generator) -> list[str]:
    """Return new cables between some ports that are free or whose cables fail."""
    failure = named_failure(routing.topology, fail) if fail else Change()
    fabric = without(routing.topology.fabric, failure)
    ports = (np.arange(len(fabric.ports.peer)) != fabric.first_slot[fabric.node_of]) & (fabric.ports.peer < 0)
    switch = fabric.nodes.are("switch") & ~np.isin(np.arange(len(fabric.nodes.kind)), failure.switches)
    free = rng.permutation(np.flatnonzero(ports & switch[fabric.node_of])).tolist()
    pairs = zip(free[::2], free[1::2], strict=False)
    name = [f"{fabric.nodes.ident[fabric.node_of[s]]}/{fabric.port_of(s)}" for s in range(len(fabric.ports.peer))]
    apart = [(a, b) for a, b in pairs if fabric.node_of[a] != fabric.node_of[b]]
    return [f"{name[a]},{name[b]}" for a, b in apart if rng.random() < 0.7]


def from_scratch(
    routing: FabricRouting, offset: str, fail: list[str], entries: list[str], add: list[str]
) -> tuple[FabricRouting, tuple[object, ...]]:
    """Return the changed tables on the changed fabric, and pairs lost, worst load and credit loop."""
    tables = routing.routes.tables
    out = tables.out.copy()
    for text in entries:
        name, _, rest = text.rpartition("/")
        lid, _, port = rest.partition("=")
        node = routing.topology.fabric.nodes.ident.index(name)
        out[tables.row_of[node], int(lid)] = NONE if port == "none" else int(port)
    failure = named_failure(routing.topology, fail) if fail else Change()
    changed = kept_tables(replace(tables, out=out), failure)
    before = routing.skipped
    fabric = without(routing.topology.fabric, failure)
    peer = fabric.ports.peer.copy()
    for text in add:
        one, two = (
            fabric.slot(fabric.nodes.ident.index(name), int(port))
            for name, _, port in (end.rpartition("/") for end in text.split(","))
        )
        peer[one], peer[two] = two, one
    left = obliv.fabric.routing(obliv.fabric.network(fabric.with_ports(peer=peer)), changed, offset, missing="skip")
    load, _, _ = worst_channel(left)
    return left, (left.skipped - before, load, not credit_loops(left.routes.traces).acyclic)


def uses(routing: FabricRouting, cables: list[str]) -> bool:
    """Return whether some path crosses one of the cables."""
    fabric, topology = routing.topology.fabric, routing.topology
    slots = [
        fabric.slot(fabric.nodes.ident.index(name), int(port))
        for text in cables
        for name, _, port in (end.rpartition("/") for end in text.split(","))
    ]
    new = {int(topology.channel_of[slot]) for slot in slots}
    terminals = topology.terminals.tolist()
    pairs = ((s, d) for s in terminals for d in terminals)
    return any(new & set(path) for s, d in pairs for path, _ in routing.paths(s, d))


def compare(seed: int, count: int) -> None:
    """Compare some changes of tables drawn at random, one after the other from the same state."""
    routing, _, _, offset = fabrics.drawn(seed)
    base = obliv.fabric.base_of(routing)
    rng = np.random.default_rng(seed)
    for _ in range(count):
        fail, entries, add = edits(routing, rng)
        found = obliv.fabric.what_if(base, fail=fail, entries=entries, add=add)
        figures = found.pairs_lost, found.after.channel_load, found.after.deadlock
        left, expected = from_scratch(routing, offset, fail, entries, add)
        assert figures == expected, (fail, entries, add)
        assert any("no route" in note for note in found.notes) == (bool(add) and not uses(left, add)), (entries, add)
        if all("/" in text for text in fail):  # of a switch that fails, hosts lose their cables, too
            peer = obliv.fabric.changed(routing.topology.fabric, fail=fail, add=add).ports.peer
            assert (peer == left.topology.fabric.ports.peer).all()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(4))
def test_changes_equal_those_solved_from_scratch(seed: int) -> None:
    compare(seed, 5)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(10, 110))
def test_a_thousand_changes_equal_those_solved_from_scratch(seed: int) -> None:
    compare(seed, 10)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with FT(4, 2) under D-mod-k."""
    monkeypatch.chdir(tmp_path)
    assert main(["fabric", "generate", "fattree:4,2", "-o", "a.net", "--routing", "dmodk", "--tables", "a.lfts"]) == 0
    return tmp_path


FILES = ("fabric", "whatif", "a.net", "--lft", "a.lfts")


def test_a_failed_cable_is_the_failure_of_it(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main([*FILES, "--fail", "switch((0),1)/3", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert main(["fabric", "failures", *FILES[2:], "--fail", "switch((0),1)/3", "--format", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert found["pairs_lost"] == row["pairs_lost"]
    assert {key: found["after"][key] for key in ("channel_load", "channel", "deadlock")}.items() <= row.items()
    assert main([*FILES, "--set", "switch((0),1)/14=none", "--plot", "after.svg"]) == 0
    assert "pairs missing" in (here / "after.svg").read_text()


def test_ports_are_named_as_results_and_findings_name_them(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fabric, _ = obliv.fabric.read("a.net", "a.lfts")
    node = fabric.nodes.description.index("switch((0),1)")
    answers = set()
    for end in ("switch((0),1)/3", "switch((0),1) port 3", f"{int(fabric.nodes.guid[node]):#018x}/3"):
        capsys.readouterr()
        assert main(["fabric", "failures", *FILES[2:], "--fail", end]) == 0
        answers.add(capsys.readouterr().out)
    assert len(answers) == 1


def test_the_changed_fabric_is_written_for_new_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A cable between the ends of two that fail on a ring: the tables do not know it, new ones use it."""
    monkeypatch.chdir(tmp_path)
    words = ["ring:6", "-o", "r.net", "--routing", "shortest", "--tables", "r.lfts"]
    assert main(["fabric", "generate", *words]) == 0
    fabric, _ = obliv.fabric.read("r.net", "r.lfts")
    end = {}
    for slot in np.flatnonzero(fabric.ports.peer >= 0).tolist():
        one, two = (int(fabric.node_of[x]) for x in (slot, fabric.ports.peer[slot]))
        end[fabric.nodes.description[one], fabric.nodes.description[two]] = slot - int(fabric.first_slot[one])
    switches = [fabric.nodes.description[node] for node in fabric.switches.tolist()]
    one, two, three, four = (switches[k] for k in (0, 1, 3, 4))
    fail = ["--fail", f"{one}/{end[one, two]}", "--fail", f"{three}/{end[three, four]}"]
    add = ["--add", f"{two}/{end[two, one]},{four}/{end[four, three]}"]
    capsys.readouterr()
    assert main(["fabric", "whatif", "r.net", "--lft", "r.lfts", *fail, *add, "--net", "n.net"]) == 0
    assert "new tables by  obliv fabric route n.net" in capsys.readouterr().err
    before, after = (obliv.fabric.network(obliv.fabric.read_fabric(name)) for name in ("r.net", "n.net"))
    assert after.channels == before.channels - 2
    assert main(["fabric", "route", "n.net", "-o", "n.lfts"]) == 0
    assert main(["fabric", "check", "n.net", "--lft", "n.lfts"]) == 0


def test_what_fails_is_not_in_the_changed_fabric() -> None:
    fabric = obliv.fabric.from_topology(obliv.fattree(4, 2))
    after = obliv.fabric.changed(fabric, fail=["switch((0),1)"])
    assert len(obliv.fabric.network(after).terminals) == 6  # two hosts have no cable
    assert (obliv.fabric.changed(fabric).ports.peer == fabric.ports.peer).all()


def test_new_cables_have_the_speed_of_those_between_switches() -> None:
    """Hosts have slower links here, and more of them; a cable that is replaced is as before."""
    fabric = obliv.fabric.from_topology(obliv.fattree(4, 2))
    ends = fabric.endpoints
    rate = np.full(len(fabric.ports.peer), 1, np.int32)
    rate[ends] = rate[fabric.ports.peer[ends]] = 0
    fabric = replace(fabric.with_ports(rate=rate), rates=(Fraction(40), Fraction(100)))
    for lost in (["switch((0),1)/3"], ["switch((0),1)/3", "switch((1),1)/4"]):
        bare = obliv.fabric.changed(fabric, fail=lost)
        unknown = bare.ports.rate.copy()
        unknown[bare.ports.peer < 0] = -1  # a port without a cable reports nothing
        bare = bare.with_ports(rate=unknown)
        add = [f"{name},{other}" for name, other in zip(lost, ("switch((0),0)/1", "switch((1),0)/2"), strict=False)]
        whole, again = (obliv.fabric.network(each) for each in (fabric, obliv.fabric.changed(bare, add=add)))
        assert again.same_network(whole)
        assert set(again.bandwidth) == {1, Fraction(5, 2)}
    mixed = rate.copy()
    mixed[fabric.slot(fabric.nodes.description.index("switch((0),1)"), 3)] = 0
    slower = fabric.with_ports(rate=mixed)
    with pytest.raises(InputError, match="differ in speed"):
        obliv.fabric.changed(slower, fail=["switch((1),1)/4"], add=["switch((1),1)/4,switch((1),0)/2"])


MISTAKES = {
    ("--fail", "swich((0),1)/3"): "did you mean switch",
    ("--fail", "switch((0),1)/two"): "the port 'two' is not a number",
    ("--fail", "host(0,0)/1"): "the cable of a host",
    ("--set", "switch((0),1)/14"): "write SWITCH/LID=PORT",
    ("--set", "switch((0),1)/999=1"): "LID 999 is out of range",
    ("--set", "switch((0),1)/14=9"): "port 9 does not exist",
    ("--set", "host(0,0)/14=1"): "not a switch with a table",
    ("--set", "nobody/14=1"): "no such node",
    ("--set", "switch((0),1)/14=1", "--set", "switch((0),1)/14=2"): "set twice",
    ("--add", "switch((0),1)/3"): "write NAME/PORT,NAME/PORT",
    ("--add", "switch((0),1)/3,switch((0),0)/1"): "has a cable: --fail it first",
    ("--add", "switch((0),1)/3,nobody/1"): "no such nodes",
    ("--add", "switch((0),1)/3,host(0,0)/1", "--fail", "switch((0),1)/3"): "is not a switch that is there",
    ("--add", "switch((0),1)/9,switch((0),0)/1"): "port 9 does not exist",
    ("--add", "switch((0),1)/3,switch((0),1)/4", "--fail", "switch((0),1)/3", "--fail", "switch((0),1)/4"): "to itself",
    ("--base", "kept"): "obliv fabric whatif has no --base any more: a change is answered from the files",
}


def test_mistakes_are_one_line(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    for options, message in MISTAKES.items():
        assert main([*FILES, *options]) == 2
        (line,) = capsys.readouterr().err.strip().splitlines()
        assert message in line


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(2, 42))])
def test_changes_of_tables_with_several_lids(seed: int) -> None:
    routing, offset = fabrics.several_lids(seed)
    base, rng = obliv.fabric.base_of(routing), np.random.default_rng(seed)
    for _ in range(5):
        changes = edits(routing, rng)
        found = obliv.fabric.what_if(base, fail=changes[0], entries=changes[1], add=changes[2])
        _, expected = from_scratch(routing, offset, *changes)
        assert (found.pairs_lost, found.after.channel_load, found.after.deadlock) == expected, changes
