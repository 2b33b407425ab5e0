"""The check of a fabric: the right finding for every fault, and counts that agree with every route followed."""

from __future__ import annotations

import gzip
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fabric import damage, spelled
from tests.fabric.by_hand import bare_fabric, with_nodes
from tests.strategies import examples

import obliv
from obliv.errors import FileError
from obliv.fabric.checks.check import check, engine_of
from obliv.fabric.files.folder import read, read_fabric
from obliv.fabric.generate import from_topology, tables_of
from obliv.fabric.kernels.automaton import endings, follows
from obliv.fabric.model import NONE, Fabric, Notes, Tables, port_count_known
from obliv.fabric.results.check import EngineRun, FabricCheck
from obliv.fabric.routes.dependencies import by_entry
from obliv.fabric.routes.trace import UNORDERED, Ending, trace, trace_all

SAMPLES = Path(__file__).parents[1] / "samples"


def example(spec: str = "fattree:4,2", routing: str = "dmodk", lmc: int = 0) -> tuple[Fabric, Tables]:
    topology = obliv.topology(spec)
    fabric = from_topology(topology, lmc=lmc)
    return fabric, tables_of(obliv.routing(routing, topology), fabric)


def edited(tables: Tables, *entries: tuple[int, int, int]) -> Tables:
    out = tables.out.copy()
    for row, lid, port in entries:
        out[row, lid] = port
    return replace(tables, out=out)


def kinds(result: FabricCheck, *, notes: bool = False) -> list[str]:
    return [finding.kind for finding in result.findings if notes or finding.severity != "note"]


def only(result: FabricCheck, kind: str, severity: str) -> str:
    findings = result.of(kind)
    assert [finding.severity for finding in findings] == [severity]
    return str(findings[0].message)


def test_a_sound_fabric_has_nothing_but_a_note() -> None:
    fabric, tables = example()
    result = check(fabric, tables)
    assert result.ok
    assert kinds(result) == []
    assert (result.endpoints, result.switches, result.channels) == (8, 6, 32)
    assert (result.unrouted, result.loops, result.dead_ends, result.wrong_ends) == (0, 0, 0, 0)
    assert result.pairs == 56
    assert result.shape == "FT(4,2)"
    assert result.credit is not None
    assert result.credit.acyclic
    assert "hosts do not need them" in only(result, "switch-lids", "note")


@examples(100)
@given(
    spec=st.sampled_from(["fattree:4,2", "torus:3x3", "eft2:6,3"]),
    seed=st.integers(0, 10**6),
    share=st.sampled_from([0.02, 0.2, 0.8]),
    lmc=st.integers(0, 1),
    cut=st.integers(0, 3),
)
def test_counts_agree_with_every_route_followed(spec: str, seed: int, share: float, lmc: int, cut: int) -> None:
    fabric, tables = example(spec, "dor" if spec.startswith("torus") else "dmodk", lmc)
    rng = np.random.default_rng(seed)
    wild = rng.integers(0, int(np.diff(fabric.first_slot).max()) + 1, tables.out.shape)
    wild[wild == int(np.diff(fabric.first_slot).max())] = NONE
    out = np.where(rng.random(tables.out.shape) < share, wild, tables.out).astype(np.uint8)
    rows = np.delete(np.arange(len(out)), rng.integers(0, len(out), int(rng.integers(0, 2))))
    tables = replace(tables, out=out[rows], switch=tables.switch[rows], line=tables.line[rows])
    fabric = damage.without(fabric, rng.choice(damage.cables(fabric), cut, replace=False).tolist())
    result = check(fabric, tables)
    count: Counter[str] = Counter()
    lost: Counter[Ending] = Counter()
    for source in fabric.endpoints.tolist():
        for goal in fabric.endpoints.tolist():
            if source == goal:
                continue
            endings = [
                trace(fabric, tables, source, int(fabric.ports.lid[goal]) + offset).ending
                for offset in range(1 << int(fabric.ports.lmc[goal]))
            ]
            bad = {ending for ending in endings if ending != Ending.DELIVERED}
            count["unrouted"] += bool(bad)
            count["loops"] += Ending.LOOP in bad
            count["wrong_ends"] += Ending.WRONG_END in bad
            count["dead_ends"] += bool(bad - {Ending.LOOP, Ending.WRONG_END})
            lost.update(ending for ending in endings if ending != Ending.DELIVERED)
    for name in ("unrouted", "loops", "wrong_ends", "dead_ends"):
        assert getattr(result, name) == count[name], name
    errors = Counter(finding.kind for finding in result.findings if finding.severity == "error")
    for kind, endings in {
        "no-route": {Ending.NO_ENTRY},
        "dead-end": {Ending.NO_CABLE},
        "loop": {Ending.LOOP},
        "wrong-end": {Ending.WRONG_END},
        "missing-table": {Ending.NO_TABLE},
    }.items():
        assert bool(errors[kind]) == any(lost[ending] for ending in endings), kind
    if lost[Ending.NO_PORT]:
        assert errors["port-beyond"]
    assert result.ok == (not errors)
    assert bool(count["unrouted"]) <= (not result.ok)


def test_without_tables_the_counts_are_null_beside_a_reason() -> None:
    result = check(example()[0])
    data = result.to_dict()
    for name in ("unrouted", "loops", "dead_ends", "wrong_ends"):
        assert data[name] is None
        assert data[f"{name}_reason"] == "no forwarding tables were given"
    assert FabricCheck.from_dict(data) == result


def test_a_hole() -> None:
    fabric, tables = example()
    lid = int(fabric.ports.lid[fabric.endpoints[7]])
    result = check(fabric, edited(tables, (0, lid, NONE)))
    text = only(result, "no-route", "error")
    assert "switch((0),1)" in text
    assert f"LID {lid} of H-0002c90300100070 ('host(3,1)')" in text
    assert "2 pairs cut off" in text
    assert (result.unrouted, result.dead_ends) == (2, 2)
    assert kinds(result) == ["no-route"]


def test_a_loop_is_printed() -> None:
    fabric, tables = example()
    lid = int(fabric.ports.lid[fabric.endpoints[7]])
    up = int(tables.out[0, lid])
    root = int(fabric.node_of[fabric.ports.peer[fabric.slot(int(fabric.switches[0]), up)]])
    result = check(fabric, edited(tables, (tables.row_of[root], lid, 1)))
    text = only(result, "loop", "error")
    assert f"('switch((0),1)') port {up} -> " in text
    assert f"{fabric.nodes.ident[root]}" in text
    assert "6 pairs cut off" in text
    assert (result.unrouted, result.loops) == (6, 6)
    assert result.of("credit-loop") == ()


def test_a_wrong_end_and_a_port_that_is_not_there() -> None:
    fabric, tables = example()
    lid = int(fabric.ports.lid[fabric.endpoints[7]])
    result = check(fabric, edited(tables, (3, lid, 1)))
    assert "port 1, which leads to H-0002c90300100060 ('host(3,0)') port 1: 7 pairs" in only(
        result, "wrong-end", "error"
    )
    assert result.wrong_ends == 7
    result = check(fabric, edited(tables, (3, lid, 9)))
    assert "port 9, but has only 4 ports: 7 pairs" in only(result, "port-beyond", "error")
    result = check(fabric, edited(tables, (0, int(fabric.ports.lid[fabric.first_slot[fabric.switches[1]]]), 9)))
    assert "OpenSM would reject the whole file" in only(result, "port-beyond", "error")
    assert result.unrouted == 0
    assert not result.ok


def test_ports_of_a_switch_that_only_others_speak_of(tmp_path: Path) -> None:
    fabric, tables = example("fattree:8,2")
    record = spelled.ibnetdiscover(fabric).split("\n\n")
    cut = tmp_path / "cut.txt"
    cut.write_text(
        "\n\n".join(part for part in record if f'"{fabric.nodes.ident[fabric.switches[0]]}"\t\t#' not in part)
    )
    short = read_fabric(cut)
    bare = short.nodes.ident.index(fabric.nodes.ident[fabric.switches[0]])
    assert [port_count_known(short, node) for node in short.switches.tolist()].count(False) == 1
    assert not port_count_known(short, bare)
    own = [row for row, node in enumerate(tables.switch.tolist()) if node == fabric.switches[0]]
    moved = replace(
        tables, switch=np.array([short.nodes.ident.index(fabric.nodes.ident[v]) for v in tables.switch], np.int32)
    )
    for lid, severity in (
        (fabric.ports.lid[fabric.endpoints[9]], "error"),
        (fabric.ports.lid[fabric.first_slot[bare]], "warning"),
    ):
        result = check(short, edited(moved, (own[0], int(lid), 9)))
        assert result.of("port-beyond") == ()
        text = only(result, "dead-end", severity)
        assert "to port 9, where " in text
        assert "OpenSM would reject" not in repr(result)
        assert severity == "warning" or "does not give its number of ports" in text


def test_lists_of_ports_do_not_say_how_many_a_switch_has(tmp_path: Path) -> None:
    fabric, tables = example("fattree:8,2")
    last = fabric.slot(int(fabric.switches[0]), 8)
    pulled = damage.without(fabric, [last])
    for text in (spelled.port_list(pulled), spelled.link_info(pulled), spelled.link_info(pulled, long=True)):
        path = tmp_path / "list.txt"
        path.write_text(text)
        listed = read_fabric(path)
        by_guid = {int(guid): node for node, guid in enumerate(listed.nodes.guid) if guid}
        here = np.array([by_guid[int(fabric.nodes.guid[v])] for v in tables.switch], np.int32)
        result = check(listed, replace(tables, switch=here))
        assert result.of("port-beyond") == ()
        beyond, inside = result.of("dead-end")
        assert "to port 8, where no cable is known; the topology does not give its number of ports" in beyond.message
        assert "to port 1, where there is no cable: " in inside.message
    whole = tmp_path / "whole.txt"
    whole.write_text(spelled.ibnetdiscover(pulled))
    assert all(port_count_known(read_fabric(whole), node) for node in range(len(fabric.nodes)))


def test_a_cable_pulled_out() -> None:
    fabric, tables = example()
    slot = fabric.slot(int(fabric.switches[0]), 3)
    result = check(damage.without(fabric, [slot]), tables)
    errors = [finding for finding in result.of("dead-end") if finding.severity == "error"]
    assert len(errors) == 2
    assert all("where there is no cable" in finding.message for finding in errors)
    assert result.shape == "nearly FT(4,2)"
    missing = only(result, "missing-cable", "warning")
    assert "switch((0),1)" in missing
    assert "FT(4,2)" in missing


@pytest.mark.parametrize("spec", ["fattree:8,2", "fattree:4,3", "fattree:4,4", "eft2:8,6", "xgft:2;4,6;1,3"])
@pytest.mark.parametrize("relabel", [False, True])
def test_missing_cables_name_both_ports(spec: str, relabel: bool) -> None:
    """In order, wherever cables are missing; with ports in any order, where one port is free at each end."""
    fabric = from_topology(obliv.topology(spec))
    if relabel:
        fabric = damage.relabelled(fabric, 7)[0]
    rng = np.random.default_rng(5)
    inner = damage.cables(fabric)
    for count in (1,) if relabel else (1, 2, 3):
        slots = rng.choice(inner, count, replace=False).tolist()
        expected = Counter()
        for slot in slots:
            ends = [(int(fabric.node_of[at]), fabric.port_of(at)) for at in (slot, int(fabric.ports.peer[slot]))]
            expected[frozenset(ends)] += 1
        result = check(damage.without(fabric, slots))
        missing: Counter[frozenset[tuple[int, int]]] = Counter()
        for finding in result.of("missing-cable"):
            one = next(v for v, guid in enumerate(fabric.nodes.guid) if finding.guid == f"0x{int(guid):016x}")
            assert finding.peer is not None
            ident, _, port = finding.peer.partition(" ")
            assert finding.message.endswith(finding.peer)
            other = fabric.nodes.ident.index(ident)
            assert finding.port is not None
            missing[frozenset([(one, finding.port), (other, int(port.rsplit(" ", 1)[1]))])] += 1
        assert missing == expected


def test_a_missing_cable_lists_the_free_ports_where_several_fit() -> None:
    """Ports in any order and another port free at the leaf: the port of the cable cannot be known."""
    fabric = damage.relabelled(from_topology(obliv.topology("fattree:8,2")), 3)[0]
    host = int(fabric.ports.peer[fabric.endpoints[0]])  # a port that becomes free at the leaf of this host
    leaf = int(fabric.node_of[host])
    switch = fabric.switch_row[fabric.node_of] >= 0
    up = next(slot for slot in damage.ports(fabric, leaf) if switch[fabric.ports.peer[slot]])
    top = int(fabric.ports.peer[up])
    (finding,) = check(damage.without(fabric, [host, up])).of("missing-cable")
    free = ", ".join(map(str, sorted([fabric.port_of(host), fabric.port_of(up)])))
    leaf_name = f"{fabric.nodes.ident[leaf]} ('{fabric.nodes.description[leaf]}')"
    assert f"{leaf_name} (free ports: {free}) and " in finding.message
    assert finding.port is None
    assert finding.peer is not None
    assert finding.peer.endswith(f" port {fabric.port_of(top)}")


def test_the_last_lid_that_dumps_leave_out() -> None:
    fabric, tables = example()
    lid = fabric.ports.lid.copy()
    last = int(fabric.endpoints[-1])
    old, lid[last] = int(lid[last]), 64
    out = np.full((len(tables.switch), 65), NONE, np.uint8)
    out[:, : tables.out.shape[1]] = tables.out
    out[:, 64], out[:, old] = out[:, old], NONE
    moved = fabric.with_ports(lid=lid)
    whole = replace(tables, out=out, top=64, spelling="ibroute")
    assert check(moved, whole).ok
    short = replace(whole, out=out[:, :64])
    for dumped in (short, replace(whole, out=np.where(np.arange(65) == 64, NONE, out).astype(np.uint8))):
        result = check(moved, dumped)
        text = only(result, "dropped-lid", "error")
        for part in ("LID 64 of H-0002c90300100070", "0x40", "dump_lfts", "multiple of 64", "opensm-lfts.dump"):
            assert part in text
        assert result.unrouted == 7
        assert kinds(result) == ["dropped-lid"]
    opensm = check(moved, replace(short, spelling="opensm"))
    assert opensm.of("dropped-lid") == ()
    assert set(kinds(opensm)) == {"no-route"}
    assert opensm.unrouted == 7


def test_the_dropped_lid_of_a_switch_harms_no_host() -> None:
    fabric, tables = example()
    own = int(fabric.first_slot[fabric.switches[0]])
    lid = fabric.ports.lid.copy()
    lid[own] = 64
    result = check(fabric.with_ports(lid=lid), replace(tables, top=64, spelling="ibroute"))
    assert only(result, "dropped-lid", "note")
    assert result.unrouted == 0


def test_tables_that_lack_or_are_empty() -> None:
    fabric, tables = example()
    short = replace(tables, out=tables.out[1:], switch=tables.switch[1:], line=tables.line[1:])
    result = check(fabric, short)
    assert "switch((0),1)" in only(result, "missing-table", "error")
    assert result.unrouted == 56 - 5 * 6
    empty = edited(tables, *((0, lid, NONE) for lid in range(tables.out.shape[1])))
    result = check(fabric, empty)
    assert "switch((0),1)" in only(result, "empty-table", "error")
    assert kinds(result) == ["empty-table"]
    result = check(fabric, replace(tables, out=np.full_like(tables.out, NONE)))
    assert "no subnet manager has run" in only(result, "empty-table", "error")
    assert result.unrouted == 56
    spare = replace(  # no route leads over the last root
        edited(tables, *((row, lid, 3) for row in range(4) for lid in range(15) if tables.out[row, lid] == 4)),
    )
    rest = replace(spare, out=spare.out[:5], switch=spare.switch[:5], line=spare.line[:5])
    result = check(fabric, rest)
    assert only(result, "missing-table", "warning")
    assert {finding.line for finding in result.findings if finding.kind == "missing-table"} == {0}  # of no line


def test_no_lids() -> None:
    fabric, tables = example()
    bare = fabric.with_ports(lid=np.zeros_like(fabric.ports.lid))
    assert "no subnet manager has run" in only(check(bare, tables), "no-lids", "error")
    result = check(bare)
    assert only(result, "no-lids", "note")
    assert result.ok
    assert result.unrouted is None
    lid = fabric.ports.lid.copy()
    lid[fabric.endpoints[0]] = 0
    result = check(fabric.with_ports(lid=lid), tables)
    assert "host(0,0)" in only(result, "no-lid", "error")
    assert result.unrouted == 7
    assert only(result, "stale-lids", "warning")


def test_tables_of_another_moment() -> None:
    fabric, tables = example()
    own = fabric.first_slot[fabric.switches]
    lid = fabric.ports.lid.copy()
    lid[own[:2]] = lid[own[1::-1]]
    result = check(fabric.with_ports(lid=lid), tables)
    text = only(result, "other-moment", "error")
    assert "has LID 2 in the topology and 1 in its table (2 of 6 switches differ)" in text
    assert not result.ok


def test_one_slow_cable_among_equals() -> None:
    fabric, _ = example("fattree:8,2")
    slot = damage.cables(fabric)[5]
    for ends, several in (
        ([slot, int(fabric.ports.peer[slot])], 1),
        ([slot], 0),
    ):  # where ends differ the reader says it
        rate = fabric.ports.rate.copy()
        rate[ends] = 1
        result = check(replace(fabric.with_ports(rate=rate), rates=(Fraction(32), Fraction(8))))
        assert result.ok
        assert len(result.of("slow-cable")) == several
        assert only(result, "speeds", "note") == (
            "links differ in speed: 31 cables between switches at 32 Gb/s, 1 cable between switches at 8 Gb/s, "
            "32 cables of hosts at 32 Gb/s"
        )
        if several:
            text = only(result, "slow-cable", "warning")
            assert "runs at 8 Gb/s, 31 of 32 cables between switches at 32 Gb/s" in text
    rate = np.where(np.isin(fabric.node_of, fabric.switches), 0, 1)
    rate[fabric.ports.peer[fabric.endpoints]] = 1
    result = check(replace(fabric.with_ports(rate=rate.astype(np.int32)), rates=(Fraction(32), Fraction(8))))
    assert result.of("slow-cable") == ()
    assert only(result, "speeds", "note")


def test_speeds_that_are_not_known() -> None:
    fabric, tables = example("fattree:4,2")
    rate = fabric.ports.rate.copy()
    some = int(fabric.endpoints[0])
    rate[[some, fabric.ports.peer[some]]] = -1
    assert "1 cable of unknown speed, such as that at" in only(
        check(fabric.with_ports(rate=rate)), "unknown-speed", "note"
    )
    none = check(fabric.with_ports(rate=np.full_like(rate, -1)), tables)
    assert "no cable reports a speed" in only(none, "unknown-speed", "note")
    assert none.ok
    assert not check(fabric, tables).of("unknown-speed")


def test_pieces_routers_aggregation_nodes_and_others() -> None:
    fabric, _ = example("fattree:4,2")
    cut = [slot for slot in damage.ports(fabric, int(fabric.switches[0])) if slot in damage.cables(fabric)]
    text = only(check(damage.without(fabric, cut)), "pieces", "error")
    assert "2 pieces: 2 endpoints are cut off from the other 6" in text
    alone = with_nodes(damage.without(fabric, cut), kind=("router", *fabric.nodes.kind[1:]))
    assert "2 pieces: 1 endpoint is cut off from the other 6" in only(check(alone), "pieces", "error")
    kind, words = list(fabric.nodes.kind), list(fabric.nodes.description)
    kind[0], kind[1] = "router", "unknown"
    words[2] = "Mellanox Technologies Aggregation Node"
    result = check(with_nodes(fabric, kind=tuple(kind), description=tuple(words)))
    assert result.endpoints == 5
    assert result.ok
    assert only(result, "router", "note")
    assert only(result, "aggregation", "note")
    assert only(result, "unknown-node", "warning")
    idle = check(damage.without(fabric, damage.cables(fabric, hosts=True)))
    assert only(idle, "no-endpoint", "error")
    assert only(idle, "idle-adapter", "note")


def test_two_hosts_and_no_switch() -> None:
    fabric, tables = example("fattree:4,2")
    peer = np.full_like(fabric.ports.peer, -1)
    one, other, third, fourth = (int(slot) for slot in fabric.endpoints[:4])
    peer[one], peer[other] = other, one
    pair = fabric.with_ports(peer=peer)
    assert check(pair, tables).unrouted == 0
    peer = peer.copy()
    peer[third], peer[fourth] = fourth, third
    result = check(fabric.with_ports(peer=peer), tables)
    assert result.unrouted == 8
    assert len(result.of("no-switch")) == 4
    assert len(result.of("pieces")) == 1


def test_a_deadlock_is_an_error_unless_the_engine_takes_care(tmp_path: Path) -> None:
    fabric, tables = example("torus:5x5", "dor")
    result = check(fabric, tables)
    assert not result.ok
    text = only(result, "credit-loop", "error")
    assert text.count(" -> ") == 5
    assert text.endswith("(updn, or obliv fabric route), or virtual lanes, by dfsssp or lash or nue or torus-2QoS")
    assert result.credit is not None
    assert len(result.credit.cycle) == 5
    log = tmp_path / "osm.log"
    log.write_text("Nov 20 [1] 0x02 -> osm_ucast_mgr_process: torus-2QoS tables configured on all switches\n")
    result = check(fabric, tables, log)
    assert result.ok
    assert "virtual lanes" in only(result, "credit-loop", "warning")
    log.write_text(FELL_BACK.replace("ftree", "torus-2QoS"))
    assert only(check(fabric, tables, log), "credit-loop", "error").endswith("by dfsssp or lash or nue")


FELL_BACK = """Nov 20 15:33:42 541241 [BA] 0x02 -> LMC > 0 is not supported by fat-tree routing.
Falling back to default routing
Nov 20 15:33:42 541245 [BA] 0x01 -> ucast_mgr_route: ftree: cannot build lid matrices
Nov 20 15:33:42 541376 [BA] 0x02 -> osm_ucast_mgr_process: minhop tables configured on all switches
"""


def test_the_fallback_trap(tmp_path: Path) -> None:
    fabric, tables = example()
    log = tmp_path / "osm.log"
    log.write_text(FELL_BACK)
    result = check(fabric, tables, log)
    text = only(result, "engine", "error")
    assert "ftree was requested but failed (LMC > 0 is not supported" in text
    assert "fell back to minhop" in text
    assert (result.findings[0].file, result.findings[0].line) == (str(log), 3)
    assert result.engine == EngineRun("minhop", "ftree", ("ftree",))
    log.write_text(FELL_BACK + FELL_BACK.replace("minhop", "updn").replace("ftree: cannot", "xyz"))  # a later sweep
    assert check(fabric, tables, log, engine="updn").ok
    assert "ftree was not tried" in only(check(fabric, tables, log, engine="ftree"), "engine", "error")
    log.write_text("nothing of that kind\n")
    assert "an excerpt or another file" in only(check(fabric, tables, log), "engine", "warning")
    assert check(fabric, tables, log).engine == EngineRun()


def test_a_misspelled_engine(tmp_path: Path) -> None:
    fabric, tables = example()
    log = tmp_path / "osm.log"
    log.write_text(FELL_BACK.splitlines()[3] + "\n")
    for engine, meant in (("minhopp", "minhop"), ("ftre", "ftree"), ("torus-2qos", "torus-2QoS")):
        text = only(check(fabric, tables, log, engine=engine), "engine", "error")
        assert text.endswith(f"used minhop; {engine} was not tried: did you mean {meant}?")
    for engine in ("ftree", "ar_ftree", "dnup"):
        text = only(check(fabric, tables, log, engine=engine), "engine", "error")
        assert text.endswith("was not tried: start OpenSM with it")
    log.write_text(
        "Nov 20 0x01 -> setup_routing_engines: Failed to setup routing engine 'ftre'\n" + FELL_BACK.splitlines()[3]
    )
    text = only(check(fabric, tables, log), "engine", "error")
    assert text.endswith("OpenSM fell back to minhop; did you mean ftree?")


def test_a_log_is_read_line_by_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "osm.log"
    text = b"\xef\xbb\xbf" + b"Nov 20 0x02 -> chatter \xff\x00\n" * 1000 + FELL_BACK.replace("\n", "\r\n").encode()
    log.write_bytes(text)
    monkeypatch.setattr("obliv._util.progress.free_memory", lambda: 1000.0)
    notes = Notes(str(log))
    assert engine_of(log, notes) == EngineRun("minhop", "ftree", ("ftree",))
    assert [finding.line for finding in notes.findings()] == [1003]
    assert "(LMC > 0 is not supported by fat-tree routing.)" in notes.findings()[0].message
    log.write_bytes(gzip.compress(text[:-40]))  # cut off in the line that names the engine
    notes = Notes(str(log))
    assert engine_of(log, notes).used is None
    assert [finding.severity for finding in notes.findings()] == ["warning"]
    for nothing in (b"", b" \n\n", gzip.compress(b"")):
        log.write_bytes(nothing)
        with pytest.raises(FileError, match="empty"):
            engine_of(log, Notes(str(log)))


def test_hostile_names_stay_on_their_line(tmp_path: Path) -> None:
    fabric, tables = example()
    nasty = "\x1b[2J\nerror: \u202e\x00" + "x" * 5000
    lid = int(fabric.ports.lid[fabric.endpoints[7]])
    result = check(
        with_nodes(
            replace(fabric, name="\x1b[2J\n.net"),
            description=(nasty,) * len(fabric.nodes),
            ident=tuple(f"{nasty}{v}" for v in range(len(fabric.nodes))),
        ),
        replace(edited(tables, (0, lid, NONE), (1, lid, 9), (2, lid, 1)), name="\x1b[2J\r.lfts"),
    )
    page = repr(result)
    assert all(letter.isprintable() for letter in page.replace("\n", ""))
    assert len(page.splitlines()) == 2 + len(result.summary()) - 1
    assert max(map(len, page.splitlines())) < 1200
    assert result._repr_html_().isprintable()
    result.save(tmp_path / "check.json")


@pytest.mark.nightly
def test_a_broken_fabric_prints_one_page_and_keeps_the_counts() -> None:
    fabric, tables = example("fattree:12,3", "osrm3-d")
    rng = np.random.default_rng(1)
    out = np.where(rng.random(tables.out.shape) < 0.1, rng.integers(0, 12, tables.out.shape), tables.out)
    result = check(fabric, replace(tables, out=out.astype(np.uint8)))
    assert len(repr(result).splitlines()) < 60
    assert result.counts["loop"] > 200
    assert len(result.of("loop")) == 201
    assert f"and {result.counts['loop'] - 200} more like these" in result.of("loop")[-1].message
    assert f"and {result.counts['loop'] - 4:,} more of this kind (loop)" in repr(result)


def test_severities_of_one_kind_are_counted_apart() -> None:
    fabric, tables = example("fattree:8,2")
    pulled = [int(fabric.ports.peer[fabric.endpoints[4 * leaf]]) for leaf in range(6)]
    lid = int(fabric.ports.lid[fabric.endpoints[1]])
    row = tables.row_of[int(fabric.node_of[pulled[0]])]
    result = check(damage.without(fabric, pulled), edited(tables, (row, lid, fabric.port_of(pulled[0]))))
    assert Counter(finding.severity for finding in result.of("dead-end")) == {"error": 1, "warning": 5}
    assert result.counts["dead-end"] == 6
    page = repr(result)
    assert "\n  verdict    1 error, 5 warnings, " in page
    assert "and 1 more of this kind (dead-end)" in page
    assert repr(FabricCheck.from_dict(result.to_dict())) == page


def test_findings_that_are_not_kept_are_counted(tmp_path: Path) -> None:
    fabric, tables = example()
    path = tmp_path / "junk.net"
    path.write_text(spelled.ibnetdiscover(fabric) + "junk\n" * 500)
    fabric = read_fabric(path)
    assert sum(finding.count for finding in fabric.findings) == 500
    result = check(fabric, tables)
    assert result.counts["bad-line"] == 500
    assert len(result.of("bad-line")) == 201
    assert result.of("bad-line")[-1].message == "and 300 more like these"
    assert result.of("bad-line")[-1].count == 300
    assert "500 warnings" in repr(result)
    assert "and 496 more of this kind (bad-line)" in repr(result)
    saved = result.to_dict()
    assert saved["finding_counts"]["bad-line"] == 500
    assert repr(FabricCheck.from_dict(saved)) == repr(result)


def test_notes_keep_the_first_of_every_severity_and_kind() -> None:
    notes = Notes("file")
    for line in range(300, 0, -1):
        notes.add("warning", "odd", "w", line)
    for line in range(201):
        notes.add("error", "odd", "e", line)
    notes.add("note", "other", "n")
    findings = notes.findings()
    assert Counter((finding.severity, finding.kind) for finding in findings) == {
        ("warning", "odd"): 201, ("error", "odd"): 201, ("note", "other"): 1,
    }  # fmt: skip
    assert [(finding.severity, finding.count) for finding in findings[-3:]] == [
        ("warning", 100),
        ("error", 1),
        ("note", 1),
    ]
    lines = [finding.line for finding in findings[:400]]
    assert lines == sorted(lines)
    assert [finding.message for finding in findings[-3:-1]] == ["and 100 more like these", "and 1 more like these"]


def test_saved_and_loaded_it_is_the_same() -> None:
    fabric, tables = example()
    result = check(fabric, edited(tables, (0, 14, NONE)))
    again = FabricCheck.from_dict(result.to_dict())
    assert again.to_dict() == result.to_dict()
    assert repr(again) == repr(result)
    assert result.to_dict()["findings"][0] | {"message": ""} == {
        "severity": "error",
        "kind": "no-route",
        "file": "dmodk",
        "line": None,
        "message": "",
        "guid": "0x0002c90200001000",
        "switch": "switch((0),1)",
    }


@pytest.mark.parametrize(
    ("case", "kind", "unrouted"),
    [
        ("loop", "loop", 6),
        ("hole", "no-route", 2),
        ("wrong_ca", "wrong-end", 7),
        ("missing_switch", "missing-table", 26),
        ("port_oob", "port-beyond", 7),
        ("truncated", "cut-off", 56),
    ],
)
def test_bad_tables_as_they_were_loaded(case: str, kind: str, unrouted: int) -> None:
    path = SAMPLES / f"{case}.lfts.gz"
    result = check(*read(SAMPLES / "ft4_2.net.gz", lft=path))
    assert not result.ok
    assert kind in kinds(result)
    assert result.unrouted == unrouted
    if kind != "missing-table":
        assert result.of(kind)[0].file == str(path)
        assert result.of(kind)[0].line > 0


@pytest.mark.parametrize(
    ("case", "kind", "unrouted"),
    [("loop", "loop", 6), ("hole", "no-route", 2), ("wrong_ca", "wrong-end", 7), ("missing_switch", "empty-table", 26)],
)
@pytest.mark.parametrize("tables", ["dump_lfts.txt.gz", "opensm-lfts.dump.gz", "opensm.fdbs.gz"])
def test_bad_tables_as_they_came_out(case: str, kind: str, unrouted: int, tables: str) -> None:
    folder = SAMPLES / case
    result = check(*read(folder / "ibnetdiscover.txt.gz", lft=folder / tables), folder / "osm.log.gz")
    assert result.unrouted == unrouted
    assert set(kinds(result)) == {kind}
    assert result.engine is not None
    assert result.engine.used == "file"


def test_bad_runs() -> None:
    refused = SAMPLES / "port_oob"
    result = check(*read(refused / "ibnetdiscover.txt.gz", lft=refused / "dump_lfts.txt.gz"), refused / "osm.log.gz")
    assert set(kinds(result)) <= {"engine", "idle-cables"}
    assert "Invalid port 9" in only(result, "engine", "error")
    early = SAMPLES / "no_sm"
    result = check(*read(early / "ibnetdiscover.txt.gz", lft=early / "dump_lfts.txt.gz"))
    assert set(kinds(result)) == {"no-lids", "empty-table"}
    assert result.unrouted == 56
    result = check(read(SAMPLES / "ft4_2.net.gz")[0], log=SAMPLES / "no_fallback" / "osm.log.gz")
    assert "no new tables" in only(result, "engine", "error")
    for log in ("ft8_2-ftree_lmc1", "ft8_2-ftree_lmc2", "torus9x9-dfsssp"):
        result = check(read(SAMPLES / "ft4_2.net.gz")[0], log=SAMPLES / "fallback" / f"{log}.log.gz")
        assert "fell back to minhop" in only(result, "engine", "error")


@pytest.mark.nightly
def test_11664_hosts_take_seconds() -> None:
    fabric, tables = example("fattree:36,3", "osrm3-d")
    rng = np.random.default_rng(1)
    out = np.where(rng.random(tables.out.shape) < 0.01, rng.integers(0, 40, tables.out.shape), tables.out)
    for variant in (tables, replace(tables, out=out.astype(np.uint8))):
        result = check(fabric, variant)
        assert result.ok == (variant is tables)
        assert len(repr(result).splitlines()) < 60


@examples(60)
@given(seed=st.integers(0, 10**6), nodes=st.integers(1, 14))
def test_anything_that_is_cabled_can_be_checked(seed: int, nodes: int) -> None:
    """Nodes of any kind with random cables, also to themselves, and random tables, some of them of no switch's size."""
    rng = np.random.default_rng(seed)
    ports = rng.integers(0, 7, nodes)
    first = np.concatenate([[0], np.cumsum(ports + 1)]).astype(np.int64)
    node_of = np.repeat(np.arange(nodes), ports + 1)
    free = rng.permutation(np.delete(np.arange(first[-1]), first[:-1]))
    used = 2 * (int(len(free) * rng.random()) // 2)
    peer = np.full(first[-1], -1)
    one, other = free[:used:2], free[1:used:2]
    peer[one], peer[other] = other, one
    kind = tuple(rng.choice(["switch", "ca", "router", "unknown"], nodes, p=[0.5, 0.35, 0.1, 0.05]).tolist())
    lid = np.where(rng.random(len(node_of)) < 0.8, rng.integers(0, 30, len(node_of)), 0).astype(np.int32)
    fabric = bare_fabric(kind, first, peer, rates=(Fraction(8), Fraction(32))).with_ports(
        lid=lid,
        lmc=rng.integers(0, 3, len(peer)).astype(np.int8),
        rate=rng.integers(-1, 2, len(peer)).astype(np.int32),
    )
    rows = rng.permutation(fabric.switches)[: int(rng.integers(0, nodes + 1))].astype(np.int32)
    out = rng.choice([0, 1, 2, 3, 4, 5, 9, NONE], (len(rows), int(rng.integers(1, 40)))).astype(np.uint8)
    tables = Tables("random", rows, out, np.zeros(len(rows), np.int32), "ibroute", int(rng.integers(0, 3)) * 32)
    for result in (check(fabric), check(fabric, tables)):
        repr(result)
        assert FabricCheck.from_dict(result.to_dict()).to_dict() == result.to_dict()
        assert result.unrouted is None or 0 <= result.unrouted <= max(0, result.pairs)


@pytest.mark.nightly
def test_kernels_do_the_same_compiled() -> None:
    fabric, tables = example("torus:3x3", "dor", 1)
    rng = np.random.default_rng(3)
    out = np.where(rng.random(tables.out.shape) < 0.2, rng.integers(0, 7, tables.out.shape), tables.out)
    tables = replace(tables, out=out.astype(np.uint8))
    traces = trace_all(fabric, tables)
    entries = by_entry(fabric, traces.hops)
    lane = rng.integers(0, 3, len(entries.entry)).astype(np.uint8)
    outputs = []
    for compiled in (False, True):
        code, at = np.zeros_like(traces.code), np.zeros(traces.code.shape, np.int32)
        crossed = np.zeros(len(lane), np.uint16)
        calls = (
            (endings, (traces.leaf, traces.lid, traces.endpoint, traces.hops, code, at, UNORDERED)),
            (follows, (traces.entries, traces.lid, traces.sends, entries.automaton, lane, crossed)),
        )
        for kernel, arrays in calls:
            (kernel.compiled() if compiled else kernel.python)(*arrays)
        outputs.append((code, at, crossed))
    np.testing.assert_array_equal(outputs[0][0], traces.code)
    assert outputs[0][0].any()
    assert outputs[0][2].any()
    for one, other in zip(*outputs, strict=True):
        np.testing.assert_array_equal(one, other)
