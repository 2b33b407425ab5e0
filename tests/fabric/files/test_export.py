"""Fabrics written for other programs, with names that try to break what is written."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path
from xml.etree import ElementTree

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fabric.by_hand import with_nodes
from tests.fabric.make_fixtures import trunks
from tests.fabric.opensm import cabling, meaning
from tests.strategies import examples

import obliv
from obliv.errors import FileError, InputError, SpecError, TopologyError
from obliv.fabric.files.folder import read, read_fabric
from obliv.fabric.files.lft import export, rate_name, to_networkx, write_anynet, write_graphml, write_net, write_tables
from obliv.fabric.generate import from_topology, tables_of
from obliv.fabric.model import RATES, Fabric
from obliv.topologies.make import build

HOSTILE = (
    'n1"\n[1]\t"S-0002c90200001004"[4]', "=s=9 w=77", "#@x\x00y", "lid 7 lmc 7", "'):\n0x0001 007 : ", "é" * 200,
    "\x1b[2J\u202e\ud800", "", "</data><data key='lid'>7</data>&amp;", "]]>",
    "Unicast lids [0x0-0x1] guid 0x1 \r\nSwitch 4",
    "\x85\u2028\v\f", "0x" + "9" * 5000, "Mellanox Technologies",
)  # fmt: skip
NET = re.compile(
    r"(|(vendid|devid|sysimgguid|caguid)=0x[0-9a-f]+|switchguid=0x[0-9a-f]+\([0-9a-f]+\)"
    r'|(Ca|Switch|Rt)\t\d+ "[^"=#@]+"\t\t# "[^"=#@]*"( base port 0 lid \d+ lmc \d+)?'
    r'|\[\d+\](\([0-9a-f]+\) )?\t"[^"=#@]+"\[\d+\](\([0-9a-f]+\))?\t\t# (lid \d+ lmc \d+ )?"[^"=#@]*" lid \d+'
    r"( \d+x[A-Z]+\d*( s=\d w=\d)?)?)"
)
LFTS = re.compile(
    r"(Unicast lids \[0-\d+\] of switch Lid \d+ guid 0x[0-9a-f]{16} \('[^']*'\):"
    r"|0x[0-9a-f]{4} \d{3} # (Switch|Channel Adapter|Router) portguid 0x[0-9a-f]{16}: '[^']*'|\d+ lids dumped)"
)


def named(fabric: Fabric, names: list[str]) -> Fabric:
    return with_nodes(fabric, description=tuple(names[v % len(names)] for v in range(len(fabric.nodes))))


def clean(text: str) -> list[str]:
    """The lines of a text that holds nothing but printable characters and ends of lines."""
    lines = text.split("\n")
    assert lines.pop() == ""
    assert all(line.replace("\t", "").isprintable() for line in lines)
    return lines


@pytest.mark.nightly
@examples(6)
@given(names=st.lists(st.one_of(st.sampled_from(HOSTILE), st.text(max_size=90)), min_size=1, max_size=14))
def test_names_break_no_line(names: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("names")
    tree = obliv.topology("fattree:4,2")
    fabric = named(from_topology(tree), names)
    tables = tables_of(obliv.routing("dmodk", tree), fabric)
    for suffix in (".net", ".graphml", ".anynet"):
        assert export(fabric, folder / f"a{suffix}") == ()
    write_tables(tables, fabric, folder / "a.lfts")
    lines = clean((folder / "a.net").read_text("utf-8"))
    assert all(NET.fullmatch(line) for line in lines)
    assert max(len(line.encode()) for line in lines) < 250
    result, again = read(folder / "a.net", lft=folder / "a.lfts")
    assert cabling(result) == cabling(fabric)
    assert again is not None
    assert meaning(result, again) == meaning(fabric, tables)
    lines = clean((folder / "a.lfts").read_text("utf-8"))
    assert all(LFTS.fullmatch(line) for line in lines)
    assert sum(line.startswith("Unicast") for line in lines) == 6
    clean((folder / "a.graphml").read_text("utf-8"))
    found_in = [each.tag.partition("}")[2] for each in ElementTree.parse(folder / "a.graphml").iter()]
    assert (found_in.count("node"), found_in.count("edge")) == (14, 16)
    clean((folder / "a.anynet").read_text("utf-8"))


@pytest.mark.parametrize("spec", ["fattree:4,3", "torus:4x3", "random-regular:n=10,d=3,seed=1"])
@pytest.mark.parametrize("lmc", [0, 2])
def test_a_net_file_is_read_back(spec: str, lmc: int, tmp_path: Path) -> None:
    fabric = from_topology(obliv.topology(spec), rate="4xFDR10", lmc=lmc)
    write_net(fabric, tmp_path / "a.net")
    result = read_fabric(tmp_path / "a.net")
    assert (result.nodes.kind, result.nodes.ident, result.nodes.description) == (
        fabric.nodes.kind,
        fabric.nodes.ident,
        fabric.nodes.description,
    )
    assert np.array_equal(result.first_slot, fabric.first_slot)
    assert np.array_equal(result.nodes.guid, fabric.nodes.guid)
    for name in ("peer", "lid", "lmc"):
        assert np.array_equal(getattr(result.ports, name), getattr(fabric.ports, name)), name
    assert [result.rate_at(int(slot)) for slot in result.endpoints] == [40] * len(result.endpoints)
    assert [each for each in result.findings if each.severity != "note"] == []


def test_rates_are_named_and_told_to_ibsim(tmp_path: Path) -> None:
    for name, rate in RATES.items():
        assert RATES[rate_name(rate)] == rate
        assert rate_name(rate) == name or not name.startswith("4x")
    for name, options in (
        ("4xQDR", ""),
        ("4xSDR", " s=1 w=2"),
        ("1xSDR", " s=1 w=1"),
        ("12xDDR", " s=2 w=8"),
        ("4xHDR", ""),
    ):
        write_net(from_topology(obliv.topology("ring:3"), rate=name), tmp_path / "a.net")
        lines = (tmp_path / "a.net").read_text().splitlines()
        assert all(line.endswith(f" {name}{options}") for line in lines if line.startswith("["))


def test_idents_that_ibsim_would_not_take_are_replaced(tmp_path: Path) -> None:
    fabric = from_topology(obliv.topology("fattree:4,2"))
    idents = ("Hca1", 'a"b', "a@b", "a#b", "node3", "\n", "x" * 99, "H-0002c90300100010", *fabric.nodes.ident[8:])
    unknown = fabric.nodes.guid.copy()
    unknown[2:5] = 0
    write_net(with_nodes(fabric, ident=idents, guid=unknown), tmp_path / "a.net")
    result = read_fabric(tmp_path / "a.net")
    assert result.nodes.ident[0] == "Hca1"
    assert result.nodes.ident[2:5] == ("node2", "node4", "node3")
    assert len({*result.nodes.ident}) == 14
    assert np.array_equal(result.ports.peer, fabric.ports.peer)


def test_nodes_of_unknown_type_are_left_out_and_named(tmp_path: Path) -> None:
    fabric = from_topology(obliv.topology("fattree:4,2"))
    odd = with_nodes(fabric, kind=("unknown", *fabric.nodes.kind[1:-1], "router"))
    assert write_net(odd, tmp_path / "a.net") == ("1 nodes of unknown type and their cables",)
    assert "H-0002c90300100000" not in (tmp_path / "a.net").read_text()
    with pytest.raises(FileError, match="no node of known type"):
        write_net(with_nodes(fabric, kind=("unknown",) * 14), tmp_path / "b.net")
    assert not (tmp_path / "b.net").exists()


def test_networkx_has_every_cable_with_its_ports() -> None:
    fabric = from_topology(trunks(), lmc=1)
    graph = to_networkx(fabric)
    assert isinstance(graph, networkx.MultiGraph)
    assert (graph.number_of_nodes(), graph.number_of_edges()) == (24, 34)
    assert nx_cabling(graph) == cabling(fabric)
    assert {about["rate"] for _, _, about in graph.edges(data=True)} == {Fraction(32)}
    assert [about["lid"] for _, about in graph.nodes(data=True) if "lid" in about] == list(range(1, 8))
    assert sorted(about["source_lid"] for _, _, about in graph.edges(data=True) if "source_lid" in about) == list(
        range(8, 42, 2)
    )
    assert graph.nodes[3]["label"] == fabric.nodes.description[3]


def nx_cabling(graph: networkx.MultiGraph) -> set[tuple[int, int, int, int]]:
    names = set()
    for _, _, about in graph.edges(data=True):
        ends = []
        for end in ("source", "target"):
            node = graph.nodes[about[end]]
            guid = int(node["guid"], 16) + (node["kind"] != "switch")  # a host's port is its next GUID here
            ends.append((guid, about[f"{end}_port"]))
        names |= {(*ends[0], *ends[1]), (*ends[1], *ends[0])}
    return names


def test_graphml_is_read_by_networkx_and_by_obliv(tmp_path: Path) -> None:
    fabric = from_topology(trunks())
    write_graphml(fabric, tmp_path / "a.graphml")
    graph = networkx.read_graphml(tmp_path / "a.graphml", force_multigraph=True)
    assert (graph.number_of_nodes(), graph.number_of_edges()) == (24, 34)
    assert graph.nodes["n0"]["label"] == "host0"
    topology = obliv.topology(f"file:{tmp_path / 'a.graphml'},bandwidth=rate,terminals=numbered")
    assert (topology.nodes, topology.channels, len(topology.terminals)) == (24, 68, 17)
    assert set(topology.bandwidth) == {32}


def test_graphml_keeps_fractional_rates(tmp_path: Path) -> None:
    write_graphml(from_topology(obliv.topology("ring:3"), rate="4xFDR"), tmp_path / "a.graphml")
    topology = obliv.topology(f"file:{tmp_path / 'a.graphml'},bandwidth=rate,terminals=numbered")
    assert set(topology.bandwidth) == {Fraction(600, 11)}


def test_anynet_is_read_back(tmp_path: Path) -> None:
    write_anynet(from_topology(obliv.topology("fattree:4,2")), tmp_path / "a.anynet")
    result = obliv.topology(f"file:{tmp_path / 'a.anynet'}")
    assert (result.nodes, result.channels, len(result.terminals)) == (14, 32, 8)


def test_what_anynet_has_no_place_for_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        TopologyError, match=r"parallel cables, and switch17 port 1 and switch17 port 2 both lead to switch21"
    ):
        write_anynet(from_topology(trunks()), tmp_path / "a.anynet")
    looped = build("looped", 3, [(0, 2), (1, 2), (2, 0), (2, 1), (2, 2), (2, 2)], terminals=[0, 1])
    with pytest.raises(TopologyError, match="parallel cables"):
        write_anynet(from_topology(looped), tmp_path / "a.anynet")
    links = [(0, 2), (1, 2), (2, 0), (2, 1)]
    slow = build("slow", 3, links, bandwidth=[1, Fraction(1, 4), 1, Fraction(1, 4)], terminals=[0, 1])
    with pytest.raises(TopologyError, match=r"no speeds, and the cable at host1|no speeds, and the cable at 1 port 1"):
        write_anynet(from_topology(slow), tmp_path / "a.anynet")
    assert list(tmp_path.iterdir()) == []


def test_the_format_is_told_by_the_name(tmp_path: Path) -> None:
    fabric = from_topology(obliv.topology("fattree:4,2"))
    export(fabric, tmp_path / "a.txt", "graphml")
    assert (tmp_path / "a.txt").read_text().startswith("<?xml")
    with pytest.raises(SpecError, match=r"end it in \.net, \.graphml or \.anynet"):
        export(fabric, tmp_path / "b.txt")
    with pytest.raises(SpecError, match="did you mean graphml"):
        export(fabric, tmp_path / "b.txt", "grapml")
    for path in (tmp_path / "no" / "b.net", tmp_path, tmp_path / "\0.net"):
        with pytest.raises(InputError):
            export(fabric, path, "net")


def test_files_are_written_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fabric = from_topology(obliv.topology("fattree:4,2"))
    path = tmp_path / "a.net"
    path.write_text("old")

    def fails(*_: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("obliv.fabric.files.lft._described", fails)
    with pytest.raises(FileError, match="No space left"):
        write_net(fabric, path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
