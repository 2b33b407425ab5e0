"""Names of nodes and ports: spellings that are taken, and suggestions that are taken when typed."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.mistakes import mistake
from tests.strategies import examples

import obliv
from obliv.errors import InputError, TopologyError
from obliv.fabric.gate.plan import slots_named
from obliv.fabric.names import NodeNames, nearest
from obliv.fabric.outages.base import Base
from obliv.fabric.outages.sets import named_failure

SWITCHES = ("MF0;leaf-01:MQM8700/U1", "MF0;leaf-02:MQM8700/U1", "MF0;spine-01:MQM8700/U1", "MF0;spine-02:MQM8700/U1")
TREE = "xgft:2;4,2;1,2"  # two leaves with four hosts, two spines


@cache
def base(descriptions: tuple[str, ...] = SWITCHES, hosts: tuple[str, ...] = ()) -> Base:
    """Tables of a tree whose switches and first hosts have these descriptions."""
    topology = obliv.topology(TREE)
    fabric = obliv.fabric.from_topology(topology)
    plain = tuple(f"node{k:03d} mlx5_0" for k in range(len(hosts), 8))
    fabric = replace(fabric, nodes=replace(fabric.nodes, description=hosts + plain + descriptions))
    tables = obliv.fabric.tables_of(obliv.routing("dmodk", topology), fabric)
    return obliv.fabric.base_of(obliv.fabric.routing(obliv.fabric.network(fabric), tables))


def suggested(message: str) -> list[str]:
    return message.partition("did you mean ")[2].removesuffix("?").split(" or ") if "did you mean" in message else []


def test_a_switch_by_a_part_of_its_name() -> None:
    topology = base().topology
    for text, meant in (
        ("leaf-01/5", "MF0;leaf-01:MQM8700/U1/5"),
        ("leaf-1/5", "MF0;leaf-01:MQM8700/U1/5"),
        ("LEAF-02 port 6", "MF0;leaf-02:MQM8700/U1/6"),
        ("spine-01", "MF0;spine-01:MQM8700/U1"),
        ("node003", "node003 mlx5_0/1"),
    ):
        message = mistake(lambda text=text: named_failure(topology, [text]))
        assert suggested(message) == [meant], message
        assert named_failure(topology, [meant])


def test_a_port_is_not_taken_for_its_whole_switch() -> None:
    for text in ("leaf-01/x5", "leaf-01[]", "leaf-01:up", "laef-01/5x"):
        assert "did you mean" not in mistake(lambda text=text: named_failure(base().topology, [text])), text
    for text in ("leaf-01/P5", "leaf-01:5", "leaf-01[5]"):
        message = mistake(lambda text=text: named_failure(base().topology, [text]))
        assert suggested(message) == ["MF0;leaf-01:MQM8700/U1/5"], message
    message = mistake(lambda: named_failure(base().topology, ["MF0;leaf-01:MQM8700/U1[up]"]))
    assert "the port 'up' is not a number" in message
    message = mistake(lambda: named_failure(base().topology, ["leaf-01/9"]))
    assert message.endswith("as for 'MF0;leaf-01:MQM8700/U1/9': port 9 does not exist: ports are 1 to 6")


def test_all_spellings_of_a_port() -> None:
    """A description, an identifier, a GUID, and how results and findings print ports and cables."""
    topology = base().topology
    fabric = topology.fabric
    leaf = int(fabric.switches[0])
    guid, ident, slot = int(fabric.nodes.guid[leaf]), fabric.nodes.ident[leaf], fabric.slot(leaf, 5)
    printed, other = topology.port_name(slot), topology.port_name(int(fabric.ports.peer[slot]))
    for text in (
        "MF0;leaf-01:MQM8700/U1/5",
        f"{ident}/5",
        f"0x{guid:016x}/5",
        f"0X{guid:X}/5",
        f"{guid:016x}/5",
        printed,
        f"{ident} ('MF0;leaf-01:MQM8700/U1') port 5",
        f"{printed} - {other}",
        f"{printed} -> {other}",
        *(f"MF0;leaf-01:MQM8700/U1{port}" for port in ("/P5", "/p5", "/Port 5", ":5", "[5]", " Port 5", ": P5")),
    ):
        assert named_failure(topology, [text]).slots == (slot,), text
    host = int(fabric.endpoints[0])
    for number in (fabric.nodes.guid[fabric.node_of[host]], fabric.ports.guid[host]):
        assert named_failure(topology, [f"0x{int(number):016x}/1"]).slots == (host,)
        assert topology.node(f"0x{int(number):016x}") == 0
    assert topology.node(f"0x{guid:016x}") == topology.hosts
    assert "there is no cable" in mistake(lambda: named_failure(topology, [f"{printed} - {printed}"]))


def test_changes_know_guids() -> None:
    fabric = base().topology.fabric
    guid = f"0x{int(fabric.nodes.guid[fabric.switches[0]]):016x}"
    assert obliv.fabric.what_if(base(), fail=[f"{guid}/5"]) == obliv.fabric.what_if(base(), fail=[f"{SWITCHES[0]}/5"])


def test_entries_and_new_cables() -> None:
    for options, meant in (
        ({"entries": ["leaf-01/5=6"]}, ["MF0;leaf-01:MQM8700/U1/5=6"]),
        (
            {"fail": [f"{SWITCHES[0]}/5"], "add": ["leaf-1/5,spine-1/1"]},
            ["MF0;leaf-01:MQM8700/U1/5,MF0;spine-01:MQM8700/U1/1"],
        ),
    ):
        message = mistake(lambda options=options: obliv.fabric.what_if(base(), **options))
        assert suggested(message) == meant, message
        obliv.fabric.what_if(base(), **(options | {list(options)[-1]: meant}))  # type: ignore[arg-type]


def test_ports_of_entries_and_new_cables_as_people_write_them() -> None:
    leaf, spine = SWITCHES[0], SWITCHES[2]
    plain = obliv.fabric.what_if(base(), fail=[f"{leaf}/5"], entries=[f"{leaf}/8=6"], add=[f"{leaf}/5,{spine}/1"])
    other = obliv.fabric.what_if(base(), fail=[f"{leaf}:5"], entries=[f"{leaf}[8]=P6"], add=[f"{leaf}[5],{spine}:P1"])
    assert (other.after, other.channels, other.solved) == (plain.after, plain.channels, plain.solved)


def test_ports_in_limits() -> None:
    fabric = base().topology.fabric
    slots, reasons = slots_named(fabric, ["leaf-01/5", f"{SWITCHES[0]}[5]", f"{SWITCHES[0]}/77", "zzz/1"])
    leaf = int(fabric.switches[0])
    assert slots == [-1, fabric.slot(leaf, 5), -1, -1]
    assert reasons == {
        "leaf-01/5": f"the fabric has no port leaf-01/5: did you mean {SWITCHES[0]}/5?",
        f"{SWITCHES[0]}/77": f"the port {SWITCHES[0]}/77 does not exist: ports are 1 to 6",
        "zzz/1": "the fabric has no port zzz/1",
    }
    assert slots_named(fabric, [f"{SWITCHES[0]}/5"])[0] == slots[1:2]  # the suggestion
    repeated = base(("same",) * 4).topology.fabric
    assert "4 nodes have this name: use S-" in mistake(lambda: slots_named(repeated, ["same/5"]))


def test_nodes_of_a_topology() -> None:
    with pytest.raises(TopologyError, match="has no node 'leaf-1'; did you mean MF0;leaf-01:MQM8700/U1\\?"):
        base().topology.node("leaf-1")
    with pytest.raises(TopologyError, match="it has 8 hosts and 4 switches, such as node000 mlx5_0"):
        base().topology.node("zzz")


def test_names_that_repeat_are_told_apart() -> None:
    topology = base(("same",) * 4).topology
    message = mistake(lambda: named_failure(topology, ["same/5"]))
    assert "4 nodes have this name: use S-" in message
    for text in message.partition("use ")[2].split(" or "):
        assert topology.fabric.port_of(named_failure(topology, [text]).slots[0]) == 5
    message = mistake(lambda: obliv.fabric.what_if(base(("same",) * 4), entries=["same/5=6"]))
    for text in message.partition("use ")[2].split(" or "):
        obliv.fabric.what_if(base(("same",) * 4), entries=[text])


_WORD = st.one_of(
    st.text("leaf-01;:/U ,='()\\x1bé", max_size=12),
    st.sampled_from([*SWITCHES, "leaf-01", "a/1", "a", "leaf-01 port 5"]),
)


@examples(150)
@given(st.tuples(*[_WORD] * 4), st.tuples(_WORD, _WORD), _WORD, st.sampled_from(["", "/5", "/1", " port 5"]))
def test_what_is_suggested_is_taken(switches: tuple[str, ...], hosts: tuple[str, ...], word: str, port: str) -> None:
    topology = base.__wrapped__(switches, hosts).topology
    try:
        named_failure(topology, [word + port])
    except InputError as error:
        assert "\n" not in str(error)
        message = str(error)
        for mark in ("did you mean ", "as in ", ": use "):
            for text in message.partition(mark)[2].removesuffix("?").split(" or ") if mark in message else ():
                named_failure(topology, [text])


@examples(100)
@given(st.lists(_WORD, max_size=6), _WORD)
def test_names_can_be_typed(words: list[str], name: str) -> None:
    assert set(nearest(name, words)) <= set(words)
    switches = tuple((words + ["x"] * 4)[:4])
    names = NodeNames(base.__wrapped__(switches).topology.fabric)
    for node in range(len(names.fabric.nodes)):
        assert names.find(names.typed(node)) == node
