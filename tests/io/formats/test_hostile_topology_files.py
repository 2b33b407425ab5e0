"""Broken and hostile files: only obliv's own errors, in linear time."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obliv.errors import InputError
from obliv.io.formats.rows import READERS
from obliv.io.formats.topology_file import file

GRAPHML = b"""<?xml version="1.0" encoding="utf-8"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key attr.name="LinkSpeedRaw" attr.type="double" for="edge" id="d0"><default>1</default></key>
  <key attr.name="label" attr.type="string" for="node" id="d1" />
  <key attr.name="Longitude" for="node" id="d2" />
  <key attr.name="Latitude" for="node" id="d3" />
  <key attr.name="rate" for="node" id="d4"><default>1/2</default></key>
  <graph edgedefault="undirected">
    <node id="0"><data key="d1">Bern &amp; Z\xc3\xbcrich</data><data key="d2">1.5</data><data key="d3">2</data></node>
    <node id="1"><data key="d1">Genf</data><data key="d2">-1.5</data><data key="d3">2e1</data></node>
    <node id="2"><data key="d4">3</data></node>
    <edge source="0" target="1"><data key="d0">10000000000.0</data></edge>
    <edge source="1" target="2" directed="false"/>
  </graph>
</graphml>
"""
GML = b"""Creator "me"
graph [
  directed 0
  node [ id 0 label "Bern &#38; Z&#252;rich" Longitude 1.5 Latitude 2.0 Internal 1 rate 2 ]
  node [ id 1 label "Genf" graphics [ x 1 y 2 ] terminal 0 rate "1/3" ]
  edge [ source 0 target 1 LinkSpeedRaw 10000000000.0 ]
  edge [ source 1 target 0 LinkSpeedRaw "1/3" ]
]
"""
EDGES = b"# directed\n# node: c rate=1/2\n# node: a rate=2\na b 10\nb,c,2.5\nc a 1/3 # end\n"
ANYNET = b"router 0 node 0 node 1 router 1 5\nrouter 1 node 2\nrouter 1 router 0 3\n"
SNDLIB = b"""?SNDlib native format; type: network; version: 1.0
META ( unit = ( M ) )
NODES ( a ( 1.5 2 ) b ( 0 0 ) # two
c ( 1 1 ) )
LINKS ( l ( a b ) 0 0 0 1.5 ( 40 8 160 16 ) m ( b c ) 10 0 0 1 ( ) )
DEMANDS ( d ( a b ) 1 28.5 UNLIMITED e ( c a ) 2 1 3 )
ADMISSIBLE_PATHS ( d ( P ( l ) ) )
"""
DOT = b"""// x
strict digraph "g" { node [rate=2]; a -> {b c} [speed="1" + "G"]; subgraph s { b:p -> c -> a [dir=both] }
 label = <i <b>x</b>>; /* y */ c [label="Bern\\N"] }
"""
CSV = b'source,target,"a speed"\na,b,"10 Gbit"\nb,c,1\nc,"a",2.5G\n'
METIS = b"% made\n4 5 001\n2 1 3 2\n1 1 3 1 4 9\n1 2 2 1 4 1\n2 9 3 1\n"
MATRIX = b"%%MatrixMarket matrix coordinate real general\n% x\n3 3 4\n1 2 1.5\n2 3 1\n3 1 2\n1 3 1e3\n"
HPCC = b"5 1 4\n4\n0 4 100Gbps 1us 0\n1 4 100Gbps 1us 0\n2 4 100Gbps 1us 0\n3 4 10Gbps 1us 0\n"
PAJEK = b'*Vertices 3\n1 "a b" 0.1 0.2\n2 b\n*Arcs\n1 2 5\n2 1 4\n*Edges\n2 3 1\n'
LGF = b"@nodes\nlabel rate\na 1\nb 2\nc 3\n@edges\n speed\na b 1G\nb c 2G\n@attributes\nx 1\n"
JSON = b'{"nodes": [{"id": "a"}, {"id": [1, 2], "rate": 2}], "links": [{"source": "a", "target": [1, 2]}]}'
OTHERS = (DOT, CSV, METIS, MATRIX, HPCC, PAJEK, LGF, JSON, b"3 3\n0 1\n1 2\n2 0\n", b":Bc\n", b"% asym\n1 2 3\n2 1 1\n")
VALID = (GRAPHML, GML, EDGES, ANYNET, SNDLIB, *OTHERS)
FORMATS = ("graphml", "gml", "edgelist", "anynet", "sndlib", "dot", "json", "graph6", *READERS)
BITS = st.sampled_from(
    [b"\0", b"\xff", b'"', b"[", b"]", b"<", b"&", b">", b"#", b",", b"-", b"0", b"9" * 400, b"\n", b"{"]
)


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    data = draw(st.sampled_from(VALID))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data)))
        match draw(st.sampled_from(["cut", "flip", "insert", "drop", "double", "swap", "repeat"])):
            case "cut":
                data = data[:at]
            case "flip":
                data = (
                    data[:at] + bytes(byte ^ draw(st.integers(1, 255)) for byte in data[at : at + 1]) + data[at + 1 :]
                )
            case "insert":
                data = data[:at] + draw(BITS) + data[at:]
            case "drop":
                data = data[:at] + data[at + draw(st.integers(1, 30)) :]
            case "repeat":
                data = data[:at] + data[max(0, at - draw(st.integers(1, 30))) :]
            case kind:
                lines = data.split(b"\n")
                one, two = draw(st.integers(0, len(lines) - 1)), draw(st.integers(0, len(lines) - 1))
                if kind == "double":
                    lines.insert(two, lines[one])
                else:
                    lines[one], lines[two] = lines[two], lines[one]
                data = b"\n".join(lines)
    return data


OPTIONS = st.fixed_dictionaries(
    {
        "format": st.sampled_from([*[""] * 12, *FORMATS]),
        "bandwidth": st.sampled_from(["", "LinkSpeedRaw", "bandwidth", "capacity"]),
        "terminals": st.sampled_from(["", "all", "internal", "numbered", "leaves", "a*|[b-c]", "rate>1"]),
        "directed": st.sampled_from(["", "", "yes", "no"]),
        "component": st.sampled_from(["", "largest"]),
        "injection": st.sampled_from(["", "", "rate"]),
        "ejection": st.sampled_from(["", "", "rate"]),
    }
)


def read(data: bytes, options: dict[str, str]) -> None:
    """Either a network comes out, or one clear line."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "network")
        path.write_bytes(data)
        try:
            topology = file(path, **options)
        except InputError as error:
            messages = str(error)
            assert "\n" not in messages
            assert len(messages) < 1000
        else:
            assert topology.nodes > 0
            assert all(number > 0 for numbers in (topology.bandwidth, *topology.rates()) for number in numbers)


@given(mutated(), OPTIONS)
def test_mutated_files(data: bytes, options: dict[str, str]) -> None:
    read(data, options)


@pytest.mark.nightly
@settings(max_examples=5000)
@given(mutated(), OPTIONS)
def test_mutated_files_at_night(data: bytes, options: dict[str, str]) -> None:
    read(data, options)


@given(st.binary(max_size=200) | st.text(max_size=100).map(lambda text: text.encode("utf-8", "replace")), OPTIONS)
def test_anything_at_all(data: bytes, options: dict[str, str]) -> None:
    read(data, options)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("data", VALID)
def test_cut_anywhere(data: bytes) -> None:
    for at in range(len(data)):
        read(data[:at], {"component": "largest"} if at % 2 else {})


def graph(head: str, body: str, count: int, keys: str = "") -> str:
    return f"<graphml>{keys}<graph edgedefault='directed'>{head}{body * count}"


HOSTILE: dict[str, Callable[[int], str]] = {
    "blank lines": lambda size: "\n" * size + "x",
    "spaces": lambda size: "a" + " " * size,
    "comments": lambda size: "#\n" * (size // 2),
    "attributes of a node": lambda size: "# node: a " + "rate=1 " * (size // 7) + "!\na b\n",
    "nodes with attributes": lambda size: "".join(f"# node: {k} rate={k + 1}\n" for k in range(size // 20)) + "0 1\n",
    "spaces after a node": lambda size: "# node: a" + " " * size + "!\na b\n",
    "an attribute without value": lambda size: "# node: a " + "b" * size + "\na b\n",
    "one long word": lambda size: "a" * size,
    "one long line of words": lambda size: "a " * (size // 2),
    "commas": lambda size: "," * size,
    "many edges": lambda size: "".join(f"{k} {k + 1}\n" for k in range(size // 12)),
    "many components": lambda size: "".join(f"{2 * k} {2 * k + 1}\n" for k in range(size // 12)),
    "many parallel edges": lambda size: "a b 1\n" * (size // 6),
    "many loops": lambda size: "a a\n" * (size // 4) + "a b",
    "long numbers": lambda size: f"a b {'9' * 990}\n" * (size // 1000),
    "tags in one another": lambda size: "<graphml>" + "<a>" * (size // 3),
    "tags in a row": lambda size: "<graphml>" + "<a/>" * (size // 4),
    "open tags": lambda size: "<graphml" + "<" * size,
    "a long tag": lambda size: "<graphml " + "a" * size,
    "many attributes": lambda size: "<graphml " + " ".join(f"a{k}='1'" for k in range(size // 12)),
    "many nodes": lambda size: "<graphml><graph>" + "".join(f"<node id='{k}'/>" for k in range(size // 20)),
    "many keys": lambda size: (
        "<graphml>"
        + "".join(f"<key id='{k}' for='edge'><default>1</default></key>" for k in range(size // 100))
        + graph("<node id='a'/><node id='b'/>", "<edge source='a' target='b'/>", size // 60)[9:]
        + "</graph></graphml>"
    ),
    "much data": lambda size: graph("<node id='a'>", "<data key='k'>xxxxx</data>", size // 25, "<key id='k'/>"),
    "long data": lambda size: graph("<node id='a'><data key='k'>", "&amp;", size // 5, "<key id='k'/>"),
    "entities": lambda size: "<!DOCTYPE a [" + "".join(f'<!ENTITY a{k + 1} "&a{k};&a{k};">' for k in range(size // 30)),
    "brackets": lambda size: "graph [" + "[" * size,
    "lists in one another": lambda size: "graph [ " + "a [ " * (size // 4),
    "quotation marks": lambda size: "graph [ a " + '"' * size,
    "texts": lambda size: "graph [ " + 'a "" ' * (size // 5),
    "ampersands": lambda size: 'graph [ a "' + "&" * size + '"',
    "entities of GML": lambda size: 'graph [ a "' + "&#" * (size // 2) + '"',
    "repeated keys": lambda size: "graph [ node [ id 1 " + "label 12345 " * (size // 12) + "] ]",
    "GML nodes": lambda size: "graph [ " + "".join(f"node [ id {k} ] " for k in range(size // 18)) + "]",
    "GML attributes": lambda size: (
        "graph [ node [ id 1 ] node [ id 2 ] "
        + "".join(f"edge [ source 1 target 2 a{k} 1 ] " for k in range(size // 40))
        + "]"
    ),
    "words graph": lambda size: "graph " * (size // 6),
    "one router": lambda size: "router 0 " + "router 1 " * (size // 9),
    "routers with gaps": lambda size: "router 0 " + "".join(f"node {2 * k} " for k in range(size // 12)),
    "routers": lambda size: "router 0 " + "".join(f"router {k} node {k} " for k in range(1, size // 26)),
    "SNDlib parentheses": lambda size: "NODES ( " + "( " * (size // 2),
    "SNDlib nodes": lambda size: "NODES ( " + "".join(f"n{k} ( 0 0 ) " for k in range(size // 16)) + ") LINKS ( )",
    "SNDlib links": lambda size: (
        "NODES ( a ( 0 0 ) b ( 1 1 ) ) LINKS ( "
        + "".join(f"l{k} ( a b ) 0.{k} 0 0 0 ( {k}.5 1 ) " for k in range(size // 40))
        + ")"
    ),
    "SNDlib modules": lambda size: "NODES ( a ( 0 0 ) b ( 1 1 ) ) LINKS ( l ( a b ) 0 0 0 0 ( " + "1 1 " * (size // 4),
    "SNDlib sections": lambda size: "META ( ) " + "META ( " * (size // 7),
    "SNDlib paths": lambda size: "NODES ( a ( 0 0 ) ) ADMISSIBLE_PATHS ( " + "p ( a ) " * (size // 8) + ")",
    "groups in one another": lambda size: "graph " + "{" * size,
    "a chain of edges": lambda size: "graph { a " + "-- a " * (size // 5) + "}",
    "open comments": lambda size: "/*" * (size // 2),
    "comments of DOT": lambda size: "// x\n" * (size // 5) + "graph { a -- b }",
    "tags of DOT": lambda size: "graph { a [label=" + "<" * size,
    "texts of DOT": lambda size: "graph { a [label=" + '"" + ' * (size // 5) + '""] }',
    "attributes of DOT": lambda size: "graph { " + "node [" + "a=b," * (size // 4) + "] a -- b }",
    "columns": lambda size: "source,target" + ",a" * (size // 4) + "\na,b" + ",1" * (size // 4) + "\n",
    "quotes of CSV": lambda size: "source,target\na," + '"' * size,
    "rows of CSV": lambda size: "source;target\n" + "a;b\n" * (size // 4),
    "neighbor lists": lambda size: "".join(f"{k} {k + 1} {k + 2}\n" for k in range(size // 20)) + f"{size} 0 1\n",
    "counts and edges": lambda size: (
        f"{size // 20 + 1} {size // 20}\n" + "".join(f"{k} {k + 1}\n" for k in range(size // 20))
    ),
    "METIS": lambda size: (
        f"{size // 20} {size // 20}\n" + "".join(f"{k + 2}\n{k + 1}\n" for k in range(0, size // 20, 2))
    ),
    "a long list of neighbors": lambda size: "0 " + "1 " * (size // 2) + "\n1 0\n2 1\n",
    "an adjacency matrix": lambda size: ("0 1 " * int(size**0.5 // 2) + "\n") * int(size**0.5 // 2),
    "JSON nodes": lambda size: '{"links": [], "nodes": [' + '{"id": 1}, ' * (size // 11) + "2]}",
    "JSON lists": lambda size: '{"nodes": ' + "[" * size,
    "JSON numbers": lambda size: '{"nodes": [' + "9" * size + '], "links": []}',
    "sections of Pajek": lambda size: "*Vertices 2\n" + "*Edges\n1 2\n" * (size // 12),
    "quotes of Pajek": lambda size: "*Vertices 2\n1 " + '"' * size,
    "one word": lambda size: ":" + "~" * size,
    "graph6": lambda size: "~??" + "~" * size,
    "percent signs": lambda size: "%\n" * (size // 2) + "a b\n",
    "equal signs": lambda size: "a b" + "=" * size + "\n",
    "spaces after a key": lambda size: "a:" + " " * size + "\n",
    "record heads": lambda size: "Switch " * (size // 7),
}


@pytest.mark.sampled(8)
@pytest.mark.parametrize("size", [20_000, pytest.param(5_000_000, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_files_are_read_or_refused(kind: str, size: int, tmp_path: Path) -> None:
    """At quadratic cost the larger size would take hours."""
    path = tmp_path / "network"
    path.write_text(HOSTILE[kind](size))
    for options in ({}, {"bandwidth": "speed"}, {"injection": "rate"}):
        try:
            file(path, **options)
        except InputError as error:
            messages = str(error)
            assert len(messages) < 1000
