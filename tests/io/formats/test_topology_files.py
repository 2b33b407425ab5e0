"""``file:PATH``: formats told apart, options, the rules of numbering, and files that are none."""

from __future__ import annotations

import gzip
import hashlib
import os
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from tests.io.wide_area import NETWORKS

from obliv.errors import FileError, SpecError
from obliv.io.formats.topology_file import file
from obliv.specs.registry import TOPOLOGIES
from obliv.topologies.base import Topology

Write = Callable[..., Path]

GRAPHML = """<?xml version="1.0"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d0" for="edge" attr.name="speed" attr.type="double"/>
  <graph edgedefault="undirected">
    <node id="a"/><node id="b"/>
    <edge source="a" target="b"><data key="d0">2.5</data></edge>
  </graph>
</graphml>
"""
GML = 'graph [\n  node [ id 1 label "a" ]\n  node [ id 2 label "b" ]\n  edge [ source 1 target 2 speed 2.5 ]\n]\n'
ANYNET = "router 0 node 0 router 1\nrouter 1 node 1\n"
EDGES = "a b 2.5\n"


def channels(topology: Topology) -> list[tuple[int, int]]:
    return list(zip(topology.tail.tolist(), topology.head.tolist(), strict=True))


@pytest.mark.parametrize(
    ("content", "nodes"),
    [(GRAPHML, 2), (GML, 2), ("Creator me\nVersion 1\n" + GML, 2), ("# c\n" + GML, 2), (ANYNET, 4), (EDGES, 2)],
)
def test_format_is_told_by_content(write: Write, content: str, nodes: int) -> None:
    for name in ("network.txt", "network.graphml", "network"):
        topology = TOPOLOGIES.make(f"file:{write(content, name)}")
        assert topology.nodes == nodes


@pytest.mark.parametrize("bom", ["utf-8-sig", "utf-16"])
@pytest.mark.parametrize("content", [GRAPHML, GML, ANYNET, EDGES])
def test_byte_order_marks_and_crlf(write: Write, content: str, bom: str) -> None:
    plain = file(write(content))
    marked = file(write(content.replace("\n", "\r\n").encode(bom)))
    assert channels(marked) == channels(plain)
    assert marked.labels == plain.labels


def test_format_overrides_the_content(write: Write) -> None:
    path = write("node 0\n")
    assert file(path, format="edgelist").labels == ("node", "0")
    with pytest.raises(FileError, match="no router"):
        file(path)
    with pytest.raises(FileError, match=r"network.txt:1: is not GraphML"):
        file(path, format="graphml")
    with pytest.raises(SpecError, match="did you mean graphml"):
        file(path, format="grapml")
    with pytest.raises(SpecError, match="native format"):
        file(path, format="sndlib-xml")


def test_spec_is_canonical_and_makes_the_same_again(write: Write) -> None:
    path = write(EDGES + "b c\n")
    topology = TOPOLOGIES.make(f"file:{path},component=largest,default=0.5,terminals=all,bandwidth=bandwidth")
    assert str(topology) == f"file:{path},bandwidth=bandwidth,default=1/2,component=largest"
    again = TOPOLOGIES.make(str(topology))
    assert str(again) == str(topology)
    assert again.bandwidth == topology.bandwidth == tuple(map(Fraction, ("5/2", "5/2", "1/2", "1/2")))
    assert topology.sources == ((str(path), hashlib.sha256(path.read_bytes()).hexdigest()),)


def test_relative_path_stays_as_given(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(EDGES, "my,network=1.txt")
    monkeypatch.chdir(path.parent)
    assert str(TOPOLOGIES.make("file:my,network=1.txt")) == "file:my,network=1.txt"
    assert TOPOLOGIES.make("file:my,network=1.txt").sources[0][0] == "my,network=1.txt"


def test_misspelt_options_are_not_lost_in_the_path(write: Write) -> None:
    with pytest.raises(FileError, match=r"file not found, but .*did you mean bandwidth"):
        TOPOLOGIES.make(f"file:{write(EDGES)},bandwith=bandwidth")


def test_numbering_links_and_loops(write: Write) -> None:
    topology = file(write("c a\na a\nb c\nc a\n"))
    assert topology.labels == ("c", "a", "b")
    assert channels(topology) == [(0, 1), (0, 2), (0, 1), (1, 0), (1, 0), (2, 0)]
    assert topology.unit_bandwidth
    assert topology.all_terminals
    assert any("1 self-loop dropped" in note for note in topology.notes)


def test_names_that_are_the_numbers_are_no_labels(write: Write) -> None:
    assert file(write("0 1\n1 2\n")).labels == ()
    assert file(write("1 2\n2 3\n")).labels == ("1", "2", "3")


def test_bandwidth_must_be_asked_for(write: Write) -> None:
    topology = file(write(GRAPHML))
    assert topology.unit_bandwidth
    assert any("bandwidth=speed" in note for note in topology.notes)
    for content in (GRAPHML, GML):
        assert file(write(content), bandwidth="speed").bandwidth == (Fraction(5, 2), Fraction(5, 2))


UNITS = """graph [ node [ id 0 ] node [ id 1 ] node [ id 2 ]
edge [ source 0 target 1 LinkSpeed "10" LinkSpeedUnits "G" ]
edge [ source 1 target 2 LinkSpeed "155" LinkSpeedUnits "M" ]
edge [ source 2 target 0 %s ] ]"""


@pytest.mark.parametrize(
    ("third", "bits"),
    [
        ('LinkSpeed "2.5" LinkSpeedUnits "Gbps"', 2_500_000_000),
        ('LinkSpeed "34 Mbit/s"', 34_000_000),
        ('other "1"', 622_000_000),
    ],
)
def test_link_speeds_have_units(third: str, bits: int, write: Write) -> None:
    """As in the Topology Zoo: 10 G is more than 155 M."""
    topology = file(write(UNITS % third), bandwidth="LinkSpeed", default="622M")
    assert TOPOLOGIES.make(str(topology)).bandwidth == topology.bandwidth
    assert sorted(set(topology.bandwidth)) == sorted({Fraction(155 * 10**6), Fraction(bits), Fraction(10**10)})


@pytest.mark.parametrize(
    ("third", "fault"),
    [
        ('LinkSpeed "2.5" LinkSpeedUnits "OC"', r"LinkSpeedUnits of edge '2' - '0' is 'OC': use k, M, G or T"),
        ('LinkSpeed "2.5"', r"LinkSpeedUnits of edge '2' - '0' is missing"),
        ('LinkSpeed "-1G"', "must be a positive"),
    ],
)
def test_unclear_units_are_refused(third: str, fault: str, write: Write) -> None:
    with pytest.raises(FileError, match=fault):
        file(write(UNITS % third), bandwidth="LinkSpeed")


def test_missing_bandwidth_names_the_edge_and_the_remedy(write: Write) -> None:
    path = write("a b 10\nb c\nc a\n")
    with pytest.raises(FileError, match=r"network.txt:2: edge 'b' - 'c' has no bandwidth \(2 of 3 edges.*default="):
        file(path, bandwidth="bandwidth")
    topology = file(path, bandwidth="bandwidth", default="1/3")
    assert sorted(set(topology.bandwidth)) == [Fraction(1, 3), 10]
    assert any("2 of 3 edges without bandwidth" in note for note in topology.notes)
    with pytest.raises(FileError, match="did you mean bandwidth"):
        file(path, bandwidth="bandwith", default="1")
    with pytest.raises(FileError, match="no attributes at all"):
        file(write("a b\n"), bandwidth="bandwidth")
    with pytest.raises(SpecError, match="use both"):
        file(path, default="1")
    with pytest.raises(SpecError, match="positive, finite"):
        file(path, bandwidth="bandwidth", default="-1")


@pytest.mark.parametrize(
    "number",
    [
        "0",
        "-1",
        "inf",
        "-inf",
        "nan",
        "NaN",
        "1e999999999",
        "1e-999999999",
        "1/0",
        "ten",
        "1_0",
        "0x10",
        "٣",
        "9" * 5000,
    ],
)
def test_bad_bandwidths(write: Write, number: str) -> None:
    path = write(f"a b 1\nb c {number}\n")
    with pytest.raises(FileError, match=r"network.txt:2: .*edge 'b' - 'c' is .* number"):
        file(path, bandwidth="bandwidth")
    if number in ("0", "-1"):  # a number that is not asked for may be anything
        assert file(path).channels == 4
    else:
        with pytest.raises(FileError, match="finite number such as"):
            file(path)


@pytest.mark.parametrize("line", ['"New York" Boston', "a -> b", "a -- b", "New York Boston", "'a' b"])
def test_edges_that_are_no_edges(write: Write, line: str) -> None:
    with pytest.raises(FileError, match=r"network.txt:2: "):
        file(write(f"a b\n{line}\n"))


def test_disconnected(write: Write) -> None:
    path = write("a b\nx y\ny z\nu v\n")
    with pytest.raises(FileError, match=r"3 components: 3 nodes \(x, y, z\); 2 nodes \(a, b\); .*component=largest"):
        file(path)
    topology = file(path, component="largest")
    assert topology.labels == ("x", "y", "z")
    assert channels(topology) == [(0, 1), (1, 0), (1, 2), (2, 1)]
    assert topology.notes == ("the largest component of 3 was taken: 3 of 7 nodes",)
    with pytest.raises(SpecError, match="did you mean largest"):
        file(path, component="larges")


def test_largest_component_needs_only_its_own_bandwidths(write: Write) -> None:
    topology = file(write("a b\nx y 2\ny z 3\n"), component="largest", bandwidth="bandwidth")
    assert topology.bandwidth == tuple(map(Fraction, (2, 2, 3, 3)))


def test_directed_must_be_strongly_connected(write: Write) -> None:
    path = write("# directed\na b\nb a\nb c\nd a\n")
    with pytest.raises(FileError, match="not strongly connected: it falls into 3 components"):
        file(path)
    assert channels(file(path, component="largest")) == [(0, 1), (1, 0)]


def test_many_components_make_one_short_line(write: Write) -> None:
    with pytest.raises(FileError) as caught:
        file(write("".join(f"a{k} b{k}\n" for k in range(20_000))))
    assert "20000 components" in str(caught.value)
    assert "and 19995 more" in str(caught.value)
    assert len(str(caught.value)) < 500 + len(str(caught.value.path))


def test_terminals_internal_and_numbered(write: Write) -> None:
    path = write(
        "graph [ node [ id 0 Internal 1 ] node [ id 1 Internal 0 terminal 1 ] node [ id 2 Internal 1 terminal 0 ]\n"
        "edge [ source 0 target 1 ] edge [ source 1 target 2 ] ]"
    )
    assert file(path, terminals="internal").terminals.tolist() == [0, 2]
    assert file(path, terminals="numbered").terminals.tolist() == [2, 1]
    assert file(path).terminals.tolist() == [0, 1, 2]
    with pytest.raises(FileError, match="no node has"):
        file(write(GML), terminals="internal")
    with pytest.raises(FileError, match="no node has"):
        file(write(GML), terminals="numbered")
    with pytest.raises(SpecError, match="did you mean internal"):
        file(path, terminals="interna")


def test_terminal_numbers_must_be_good(write: Write) -> None:
    twice = "graph [ node [ id 0 terminal 1 ] node [ id 1 terminal 1 ] edge [ source 0 target 1 ] ]"
    with pytest.raises(FileError, match="both have the terminal number 1"):
        file(write(twice), terminals="numbered")
    with pytest.raises(FileError, match="must be a whole number"):
        file(write(twice.replace("terminal 1", "terminal -1")), terminals="numbered")


RATED = """graph [
  node [ id 0 label "a" Internal 1 up 2 down 1 ]
  node [ id 1 label "b" Internal 1 up "1/3" down 1.0 ]
  node [ id 2 label "c" down 1 ]
  edge [ source 0 target 1 ] edge [ source 1 target 2 ]
]
"""


def test_rates_are_taken_from_nodes(write: Write) -> None:
    topology = TOPOLOGIES.make(f"file:{write(RATED)},ejection=down,injection=up,terminals=internal")
    assert topology.injection == (2, Fraction(1, 3))
    assert topology.ejection == ()
    assert str(topology).endswith(",terminals=internal,injection=up,ejection=down")
    assert TOPOLOGIES.make(str(topology)).injection == topology.injection


def test_every_terminal_needs_a_rate(write: Write) -> None:
    path = write(RATED)
    with pytest.raises(FileError) as caught:
        file(path, injection="up")
    assert str(caught.value) == (
        f"{path}:4: node 'c' has no up (1 of 3 terminals lacks it): give every terminal one, "
        "choose the terminals with terminals=, or leave injection= out"
    )
    with pytest.raises(FileError, match="no node has the attribute 'dawn' that ejection= names; did you mean down"):
        file(path, ejection="dawn")
    with pytest.raises(FileError, match=r"no attributes at all: GraphML and GML can hold rates.*# node: NAME up=1/2"):
        file(write(EDGES), injection="up")
    with pytest.raises(FileError, match="no attributes at all: GraphML and GML can hold rates"):
        file(write(ANYNET), injection="up")
    with pytest.raises(FileError, match=r"file not found, but .*did you mean injection"):
        TOPOLOGIES.make(f"file:{write(EDGES)},injektion=up")


@pytest.mark.parametrize("number", ["0", "-1", "inf", "nan", "ten", "1/0", "1e999999999", "9" * 5000])
def test_bad_rates(write: Write, number: str) -> None:
    path = write(RATED.replace('"1/3"', f'"{number}"'))
    with pytest.raises(FileError, match=r"network.txt:3: up of node 'b' is .* positive, finite number such as 10"):
        file(path, injection="up", terminals="internal")
    assert file(path).unit_rates


def test_largest_component_needs_only_its_own_rates(write: Write) -> None:
    topology = file(write("# node: b up=2\n# node: c up=3\na a\nb c\n"), injection="up", component="largest")
    assert topology.injection == (2, 3)


def test_rates_must_be_asked_for(write: Write) -> None:
    written = RATED.replace("up", "injection").replace("down", "ejection")
    assert file(write(written), terminals="internal").notes == (
        "every injection rate is 1; the nodes have the attribute injection: use it with injection=injection",
    )


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "the file is empty"),
        (b" \n\t\n", "the file is empty"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "a PNG image"),
        (b"\x1f\x8b\x08\0", "compressed with gzip, but cut short"),
        (b"PK\x03\x04", "unpack it first"),
        (b"\0\x01\x02\x03", "is a binary file"),
        (b"a b\nb \xff\xfe\n", "network.txt:2: is not UTF-8 text"),
        (b"<?xml version='1.0' encoding='klingon'?><graphml/>", "the encoding 'klingon' is unknown"),
        (b"<?xml version='1.0' encoding='rot13'?><graphml/>", "the encoding 'rot13' is unknown"),
        (b'{"nodes": []}', "looks like JSON"),
        (b"[1, 2]", "looks like JSON"),
        (b"digraph g { a -> b }", "directed=no takes every edge as a link"),
        (b"<!DOCTYPE html><html></html>", "a web page"),
        (b"?SNDlib native format; type: network; version: 1.0\n", "no section NODES"),
        (b"<?xml version='1.0'?><network xmlns='http://sndlib.zib.de/network'/>", "get it in the native format"),
        (b"dear reader, this is prose\n", "name its format"),
    ],
)
def test_other_kinds_of_file(write: Write, content: bytes, said: str) -> None:
    with pytest.raises(FileError) as caught:
        file(write(content))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_compressed_files_are_read(write: Write) -> None:
    assert file(write(gzip.compress(b"a b\nb c\n"))).labels == ("a", "b", "c")
    with pytest.raises(FileError, match="cut short"):
        file(write(gzip.compress(b"a b\nb c\n")[:-9]))
    with pytest.raises(FileError, match="damaged"):
        file(write(b"\x1f\x8b" + b"x" * 40))


def test_declared_encodings_are_read(write: Write) -> None:
    text = GRAPHML.replace('"1.0"', '"1.0" encoding="ISO-8859-1"').replace('id="a"', 'id="é"').replace('"a"', '"é"')
    assert file(write(text.encode("latin-1"))).labels == ("é", "b")


def test_places_that_are_no_files(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="file not found"):
        file(tmp_path / "none")
    with pytest.raises(FileError, match="is a directory"):
        file(tmp_path)
    with pytest.raises(FileError, match="cannot be read"):
        file(tmp_path / ("x" * 5000))
    with pytest.raises(FileError, match="not a valid file name"):
        file(tmp_path / "a\0b")
    with pytest.raises(FileError, match="not a regular file"):
        file(Path(os.devnull))


@pytest.mark.parametrize("name", [name for name, network in NETWORKS.items() if network.components == 1])
def test_wide_area_networks(name: str, write: Write) -> None:
    network = NETWORKS[name]
    topology = file(write(network.text(), "network.graphml"))
    both = {(one, two) for one, two in network.links()} | {(two, one) for one, two in network.links()}
    assert (topology.nodes, topology.channels) == (network.nodes, 2 * network.edges)
    assert set(channels(topology)) == both
    assert topology.all_terminals
    assert topology.unit_bandwidth
    assert topology.positions is not None
    assert (len(set(topology.labels)) < network.nodes) == network.repeated_labels


@pytest.mark.parametrize("name", ["two pieces", "many pieces"])
def test_networks_in_pieces(name: str, write: Write) -> None:
    network = NETWORKS[name]
    path = write(network.text(), "network.graphml")
    largest = -(-network.nodes // network.components)
    with pytest.raises(FileError, match=rf"{network.components} components: {largest} nodes .*component=largest"):
        file(path)
    topology = file(path, component="largest")
    inside = [link for link in network.links() if link[0] % network.components == 0]
    assert (topology.nodes, topology.channels) == (largest, 2 * len(inside))
    assert any(f"{largest} of 15 nodes" in note for note in topology.notes)


def test_speeds_and_terminals_of_wide_area_networks(write: Write) -> None:
    fast = file(write(NETWORKS["fast"].text(), "fast.graphml"), bandwidth="LinkSpeedRaw")
    assert len(fast.bandwidth) == 76
    assert set(fast.bandwidth) <= {Fraction(155_000_000), Fraction(10**9), Fraction(25 * 10**8), Fraction(10**10)}
    long = write(NETWORKS["long"].text(), "long.graphml")
    with pytest.raises(FileError, match=r"long.graphml:\d+: .*21 of 61 edges"):
        file(long, bandwidth="LinkSpeedRaw")
    assert len(file(long, bandwidth="LinkSpeedRaw", default="1e9").bandwidth) == 122
    assert len(file(write(NETWORKS["border"].text(), "border.graphml"), terminals="internal").terminals) == 9
