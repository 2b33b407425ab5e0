"""Formats of other programs: each is read as itself, named, or asked about, never read as another network."""

from __future__ import annotations

import gzip
import io
import json
import sys
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from obliv.errors import FileError, InputError, MissingExtraError, SpecError
from obliv.io import from_networkx, read_edgelist, write_dot
from obliv.io.formats.topology_file import file
from obliv.specs.registry import TOPOLOGIES
from obliv.topologies.base import Topology
from obliv.topologies.families.grids import mesh

Write = Callable[..., Path]


def named(topology: Topology) -> Counter[tuple[str, str]]:
    """The channels by the names of their ends."""
    ends = zip(topology.tail.tolist(), topology.head.tolist(), strict=True)
    return Counter((topology.name_of(tail), topology.name_of(head)) for tail, head in ends)


def links(*pairs: str) -> Counter[tuple[str, str]]:
    """Two channels for each pair of one-letter names."""
    return Counter(ends for a, b in pairs for ends in ((a, b), (b, a)))


# a law of all formats


def _lists(graph: networkx.Graph, base: int) -> str:
    return "".join(" ".join(str(v + base) for v in sorted(graph[u])) + "\n" for u in sorted(graph))


def _rows(graph: networkx.Graph, form: str, base: int = 0) -> str:
    return "".join(form.format(u + base, v + base) for u, v in graph.edges)


def _networkx(write: Callable[[networkx.Graph, Any], None]) -> Callable[[networkx.Graph], str]:
    def text(graph: networkx.Graph) -> str:
        stream = io.BytesIO()
        write(graph, stream)
        return stream.getvalue().decode()

    return text


def _size(graph: networkx.Graph) -> str:
    return f"{len(graph)} {graph.size()}\n"


#: A text of a connected graph of nodes 0, 1, ..., the number that the format gives the first node, and its ``format=``.
WRITERS: dict[str, tuple[Callable[[networkx.Graph], str], int, str]] = {
    "edge list": (lambda g: _rows(g, "{} {}\n"), 0, "edgelist"),
    "edge list with weights": (lambda g: _rows(g, "{} {} 3\n"), 0, "edgelist"),
    "edge list after counts": (lambda g: _size(g) + _rows(g, "{} {}\n", 1), 1, "counts"),
    "adjacency list": (_networkx(networkx.write_adjlist), 0, "adjlist"),
    "full adjacency list": (
        lambda g: "".join(f"{u} " + " ".join(map(str, g[u])) + "\n" for u in g),
        0,
        "adjlist",
    ),
    "METIS": (lambda g: f"% made\n{_size(g)}{_lists(g, 1)}", 1, "metis"),
    "METIS with weights": (
        lambda g: (
            f"{len(g)} {g.size()} 011\n"
            + "".join("9 " + " ".join(f"{v + 1} {u + v}" for v in sorted(g[u])) + "\n" for u in sorted(g))
        ),
        1,
        "metis",
    ),
    "EvalNet": (lambda g: _size(g) + _lists(g, 0), 0, "neighbors"),
    "EvalNet, each link once": (
        lambda g: _size(g) + "".join(" ".join(str(v) for v in sorted(g[u]) if v > u) + "\n" for u in sorted(g)),
        0,
        "neighbors",
    ),
    "lists of neighbors": (lambda g: _lists(g, 0), 0, "neighbors"),
    "lists of neighbors from 1": (lambda g: _lists(g, 1), 1, "neighbors"),
    "Inet": (lambda g: _size(g) + "".join(f"{u}\t1\t{u}.5\n" for u in sorted(g)) + _rows(g, "{}\t{}\t7\n"), 0, "inet"),
    "HPCC": (
        lambda g: f"{len(g)} 1 {g.size()}\n0\n" + _rows(g, "{} {} 100Gbps 0.001ms 0\n"),
        0,
        "hpcc",
    ),
    "Matrix Market": (
        lambda g: (
            "%%MatrixMarket matrix coordinate pattern symmetric\n% made\n"
            f"{len(g)} {len(g)} {g.size()}\n{_rows(g, '{1} {0}' + chr(10), 1)}"
        ),
        1,
        "matrix-market",
    ),
    "DIMACS": (lambda g: f"c made\np edge {len(g)} {g.size()}\n{_rows(g, 'e {} {}' + chr(10), 1)}", 1, "dimacs"),
    "KONECT": (lambda g: f"% sym unweighted\n% {g.size()} {len(g)} {len(g)}\n" + _rows(g, "{} {}\n", 1), 1, "konect"),
    "Pajek": (_networkx(lambda g, stream: networkx.write_pajek(g, stream)), 0, "pajek"),
    "LGF": (
        lambda g: (
            "@nodes\nlabel coords\n"
            + "".join(f"{u} (1,{u})\n" for u in sorted(g))
            + "@edges\n\t\tlabel cost\n"
            + "".join(f"{u} {v} {k} 5\n" for k, (u, v) in enumerate(g.edges))
            + "@attributes\nsource 0\n"
        ),
        0,
        "lgf",
    ),
    "DOT": (lambda g: "// made\nSTRICT Graph {\n" + _rows(g, "{} -- {};\n") + "}\n", 0, "dot"),
    "node-link": (lambda g: json.dumps(networkx.node_link_data(g, edges="links")), 0, "json"),
    "node-link with edges": (lambda g: json.dumps(networkx.node_link_data(g, edges="edges")), 0, "json"),
    "graph6": (_networkx(networkx.write_graph6), 0, "graph6"),
    "graph6 without a head": (_networkx(lambda g, s: networkx.write_graph6(g, s, header=False)), 0, "graph6"),
    "sparse6": (_networkx(networkx.write_sparse6), 0, "graph6"),
    "CSV with columns": (lambda g: "source,target,speed\n" + _rows(g, "{},{},10 Gbit/s\n"), 0, "edgelist"),
    "table of Gephi": (
        lambda g: "Source;Target;Type;Id;Label;Weight\n" + _rows(g, "{};{};Undirected;0;;1.0\n"),
        0,
        "edgelist",
    ),
}


@st.composite
def connected(draw: st.DrawFn) -> networkx.Graph:
    n = draw(st.integers(3, 9))
    graph = networkx.empty_graph(n)
    graph.add_edges_from((draw(st.integers(0, v - 1)), v) for v in range(1, n))
    more = st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda e: e[0] != e[1]), max_size=14)
    graph.add_edges_from(draw(more))
    return graph


@pytest.mark.parametrize("kind", WRITERS)
@given(graph=connected(), packed=st.booleans(), windows=st.booleans())
def test_a_graph_is_read_as_it_was_written_or_asked_about(
    kind: str, graph: networkx.Graph, packed: bool, windows: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    text, base, form = WRITERS[kind]
    content = text(graph)
    data = (b"\xef\xbb\xbf" + content.replace("\n", "\r\n").encode()) if windows else content.encode()
    path = tmp_path_factory.getbasetemp() / "network"
    path.write_bytes(gzip.compress(data, 1) if packed else data)
    wanted = Counter((str(u + base), str(v + base)) for a, b in graph.edges for u, v in ((a, b), (b, a)))
    assert named(file(path, format=form)) == wanted
    try:
        topology = file(path)
    except FileError as error:
        assert f"format={form}" in str(error)
    else:
        assert named(topology) == wanted


# rows that look like one another


def test_neighbor_lists_are_never_edges(write: Write) -> None:
    path = write("0 1 2\n1 2 3\n2 3 4\n3 4 0\n4 0 1\n")
    with pytest.raises(FileError, match=r"format=edgelist.*format=adjlist.*say which"):
        file(path)
    topology = file(path, format="adjlist")
    assert (topology.nodes, topology.channels) == (5, 20)  # all pairs
    with pytest.raises(FileError, match="bandwidth of edge '3' - '4' is '0'"):
        file(path, format="edgelist", bandwidth="bandwidth")


def test_long_neighbor_lists_need_no_question(write: Write) -> None:
    assert named(file(write("a b c d\nb c\nc d\nd\n"))) == links("ab", "ac", "ad", "bc", "cd")
    complete = "1 2 3\n0 2 3\n0 1 3\n0 1 2\n"
    with pytest.raises(FileError, match="format=neighbors"):
        file(write(complete))
    assert file(write(complete), format="neighbors").channels == 12
    with pytest.raises(FileError, match=r"adjacency matrix.*numpy.loadtxt"):
        file(write("0 1 1\n1 0 1\n1 1 0\n"))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("5 4\n1 2\n2 3\n3 4\n4 5\n", "counts"),
        ("4 4\n2 4\n1 3\n2 4\n1 3\n", "metis"),
        ("3 3\n1 2\n0 2\n0 1\n", "neighbors"),
    ],
)
def test_a_first_line_of_counts_is_asked_about(text: str, kind: str, write: Write) -> None:
    with pytest.raises(
        FileError, match=rf"format=counts.*format={kind if kind != 'counts' else 'edgelist'}.*say which"
    ):
        file(write(text))
    topology = file(write(text), format=kind)
    assert topology.nodes == int(text[0])
    assert topology.channels == 2 * int(text[2])


def test_counts_that_are_no_edge_are_noted(write: Write) -> None:
    triangle = file(write("4 6\n0 1\n0 2\n0 3\n1 2\n1 3\n2 3\n"))
    assert (triangle.nodes, triangle.channels) == (4, 12)
    assert "line 1 is taken as counts: 4 nodes and 6 edges; if it is an edge, use format=edgelist" in triangle.notes
    with pytest.raises(FileError, match="6 edges promised, the file has 1"):
        file(write("4 6\n0 1\n"), format="counts")


@pytest.mark.parametrize(
    "text",
    ["0 1 10\n1 2 10\n2 0 10\n", "0 1 1\n1 2 2\n2 0 2\n", "a b 1G\nb c 10G\nc a 1G\n", "0 1 3\n0 2 1\n1 3 2\n3 2 1\n"],
)
def test_bandwidths_are_no_neighbors(text: str, write: Write) -> None:
    topology = file(write(text))
    assert topology.channels == 2 * text.count("\n")
    assert "bandwidth=bandwidth" in topology.notes[0]
    assert not file(write(text), bandwidth="bandwidth").unit_bandwidth


def test_a_column_that_is_not_used_is_noted(write: Write) -> None:
    assert file(write("a b 0\nb c -1\nc a 0\n")).notes == (
        "the third column is not used: in 3 lines it cannot be a bandwidth",
    )


def test_headers(write: Write) -> None:
    topology = file(write("source,target\na,b\nb,c\nc,a\n"))
    assert topology.labels == ("a", "b", "c")
    assert topology.notes == ("line 1 taken as the names of columns: source, target",)
    rated = file(
        write('id,from,to,"Speed, nominal"\n7,a b,c,"10 Gbit"\n8,c,d,1G\n9,d,a b,2.5G\n'), bandwidth="Speed, nominal"
    )
    assert rated.labels == ("a b", "c", "d")
    assert sorted(set(rated.bandwidth)) == [10**9, 25 * 10**8, 10**10]
    for text in ("a,b,bw\nn1,n2,10 Gb/s\nn2,n3,1 Gb/s\nn3,n1,10G\n", "a;b;bw\nn1;n2;10 Gb/s\nn2;n3;1G\nn3;n1;10G\n"):
        spaced = file(write(text), bandwidth="bw")
        assert spaced.labels == ("n1", "n2", "n3")
        assert sorted(spaced.bandwidth) == [10**9] * 2 + [10**10] * 4
    assert file(write("x y\n0 1\n1 2\n")).labels == ()
    assert file(write("u v\nv w\nw u\n")).labels == ("u", "v", "w")  # edges: v stands in another line
    assert file(write("Source\tTarget\tType\na\tb\tDirected\nb\ta\tDirected\n")).channels == 2
    with pytest.raises(FileError, match=r"network.txt:3: the row has 1 cell, the first line names 2 columns"):
        file(write("source,target\na,b\nb\n"))


def test_labels_of_lemon_are_no_bandwidths(write: Write) -> None:
    """LEMON numbers its edges in a column `label`, which is no attribute of theirs."""
    assert file(write("@nodes\nlabel\n0\n1\n@edges\n\t\tlabel\n0 1 7\n")).notes == ()
    notes = file(write("@nodes\nlabel\n0\n1\n@edges\n\t\tlabel cap\n0 1 7 5\n")).notes
    assert notes == ("every bandwidth is 1; the edges have cap: use it with bandwidth=cap",)


# refused by their names


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("SwitchName=leaf1 Nodes=node[001-002]\nSwitchName=spine Switches=leaf[1-2]\n", "topology.conf of Slurm"),
        ("# Slurm\nSwitchName=s0 Switches=s[1-2] LinkSpeed=100\n", "topology.conf of Slurm"),
        ("---\n- topology: topo1\n  cluster_default: true\n", "YAML"),
        ("topology: MESH\nmesh_dim_x: 4\nmesh_dim_y: 4\n", "Noxim"),
        ("name: spine\nports: 32\n", "YAML"),
        ("topology = torus;\nk = 8;\nn = 2;\n", "BookSim2"),
        ("[network]\nnodes = 4\n", "lines of settings"),
        ("# source: x\n1|2|-1\n1|3|0\n", "CAIDA"),
        ("Nodes 128\nTiers 3\nPodsize 16\nTier 0\n", "HTSIM"),
        ("router\n# node comment y x\nA NA 1 1\nB NA 1 2\nlink\nA B 1Mbps 1 10ms 20\n", "ndnSIM"),
        (
            "LEDA.GRAPH\nstring\nint\n-2\n2\n|{a}|\n|{b}|\n1\n1 2 0 |{4}|\n",
            "NetworkX's read_leda and obliv.from_networkx",
        ),
        ("Topology: ( 3 Nodes, 2 Edges )\nModel (1 - RTWaxman):  3 10 10 1\n\nNodes: ( 3 )\n", "BRITE"),
        ("NODES 2\nlabel x y\nBern 7.4 46.9\nZug 8.5 47.2\n\nEDGES 2\nlabel src dest weight bw delay\n", "REPETITA"),
        ("dl n=3 format=edgelist1\ndata:\n1 2\n2 3\n", "UCINET"),
        ("% bip unweighted\n1 1\n1 2\n", "'bip' networks are not read"),
        ("<?xml version='1.0'?><network-on-chip xmlns:xsi='u'><abstract/></network-on-chip>", "ratatoskr"),
        ("<gexf xmlns='http://gexf.net/1.3'><graph/></gexf>", "read_gexf"),
        ("<mxfile><diagram/></mxfile>", "draw.io"),
        ("#StartDevice,StartPort,EndDevice,EndPort,LinkType\nsw1,Port 1,sw2,Port 1,Data\n", "cabling plan of UFM"),
        ("Unicast lids [0x0-0xe] of switch Lid 1 guid 0x0002c90200001014 (s):\n", "forwarding tables"),
        ("&DI?AO?\n", "digraph6"),
        ("%%MatrixMarket matrix array real general\n2 2\n0\n1\n1\n0\n", "matrix coordinate"),
        ('{"adjacency": [[{"id": 1}]]}', "adjacency_graph"),
        ("0 1 {'weight': 3}\n", "NetworkX's read_edgelist"),
        ("0 1 {'weight': 3, 'x': 2}\n1 2 {}\n", "NetworkX's read_edgelist"),
        ("# made\na 2\nb {}\nc {'w': 1, 'x': 2}\nb 1\nc {}\nc 0\n", "NetworkX's read_multiline_adjlist"),
        ("a,b,speed\nc,d,fast\n", "the third column of edge 'a' - 'b' is 'speed'"),
        ("a b=1\n", "if that is a name, put  # undirected  or  # directed  first"),
        ("hosts: 4\nleaf1: spine1\n", "YAML"),
        ("a;b\nb;c\n", "not the single word 'a;b'"),
    ],
)
def test_each_refused_format_is_named(text: str, said: str, write: Write) -> None:
    for data in (text.encode(), b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode(), gzip.compress(text.encode())):
        with pytest.raises(FileError) as caught:
            file(write(data))
        assert said in str(caught.value)
        assert "\n" not in str(caught.value)


def test_a_declared_edge_list_takes_any_name(write: Write) -> None:
    topology = file(write("# undirected\nid=1 id=2\nid=2 port:\nport: id=1\n"))
    assert topology.labels == ("id=1", "id=2", "port:")


@pytest.mark.parametrize(
    "text",
    [
        "%%MatrixMarket matrix coordinate pattern general\n1000000000000 1000000000000 1\n1 2\n",
        "p edge 1000000000000 1\ne 1 2\n",
        "*Vertices 1000000000000\n*Edges\n1 2\n",
        "1000000000000 1 1\n4\n0 4 100Gbps 1ms 0\n",
        "6 2 1 1 1000000000000\n4 5\n0 4 100Gbps 1ms 0\n",
        ":~~~~~~~~~~~~~\n",
        "~~?~~~~~~~\n",
        "LEDA.GRAPH\nint\nint\n-2\n1000000000000\n",
        "1000000000000 1000000000000\n1 2\n",
        "1000000000000 2\n1 2\n2 3\n",
        f"graph {{ {{ {' '.join(f'a{k}' for k in range(3000))} }} -- {{ {' '.join(f'b{k}' for k in range(3000))} }} }}",
        "graph {" + "{" * 5000,
        '{"nodes": ' + "[" * 100000,
        '{"nodes": [{"id": ' + "9" * 10000 + '}], "links": []}',
        "@nodes\nlabel\n" + "@" * 10000,
    ],
)
def test_hostile_counts_and_depths(text: str, write: Write) -> None:
    for options in ({}, {"format": "counts"}, {"format": "neighbors"}, {"format": "metis"}):
        try:
            topology = file(write(text), **options)
        except InputError as error:
            assert len(str(error)) < 1500
        else:
            assert topology.nodes < 10_000


# single formats


def test_simai(write: Write) -> None:
    text = "6 2 1 1 5 A100\n4 5\n0 4 2400Gbps 0.000025ms 0\n1 4 2400Gbps 0.000025ms 0\n2 5 100Gbps 0.0005ms 0\n"
    path = write(text + "3 5 100Gbps 0.0005ms 0\n4 5 400Gbps 0.0005ms 0\n")
    topology = file(path, bandwidth="rate")
    assert topology.terminals.tolist() == [0, 1, 2, 3]
    assert {topology.bandwidth_of(c) for c in range(topology.channels)} == {24 * 10**11, 10**11, 4 * 10**11}
    assert "4 hosts are terminals, 2 switches not" in topology.notes
    with pytest.raises(FileError, match="5 links promised, the file has 3"):
        file(write(text))


def test_hosts_of_hpcc_that_could_forward(write: Write) -> None:
    """Host 0 has two switches; the two links of host 1 lead to one switch, so no route passes through it."""
    text = "4 2 5\n2 3\n0 2 1Gbps 1ms 0\n0 3 1Gbps 1ms 0\n1 2 1Gbps 1ms 0\n1 2 1Gbps 1ms 0\n2 3 1Gbps 1ms 0\n"
    notes = file(write(text)).notes
    assert len(notes) == 3
    assert notes[1].startswith("1 host has links to several nodes (0): hosts forward packets here, in ns-3's HPCC")
    assert len(file(write(text.replace("0 3 1G", "0 2 1G"))).notes) == 2


def test_which_attribute_may_be_the_bandwidth(write: Write) -> None:
    """Weights and speeds before other numbers, never identifiers; labels if they have a unit."""

    def noted(attributes: str) -> str:
        edges = "".join(f"edge [ source {k} target {(k + 1) % 3} {attributes} ]\n" for k in range(3))
        nodes = "".join(f"node [ id {k} ]\n" for k in range(3))
        return next(iter(file(write(f"graph [\n{nodes}{edges}]\n")).notes), "")

    assert noted("id 7 length 40 LinkSpeed 10").endswith("have LinkSpeed, length: use it with bandwidth=LinkSpeed")
    assert noted('length 40 label "10 Gb/s"').endswith("bandwidth=label")
    assert noted('length 40 label "12"').endswith("bandwidth=length")
    with pytest.raises(FileError, match=r"known: cap$"):
        file(
            write("graph [\nnode [ id 0 ]\nnode [ id 1 ]\nedge [ source 0 target 1 Id 7 cap 4 ]\n]\n"), bandwidth="Ids"
        )
    assert noted("Id 7 name 5 key 3 edgeId 12 link_id 4") == ""


def test_a_largest_component_of_one_node_is_not_advised(write: Write) -> None:
    with pytest.raises(FileError) as caught:
        file(write("graph [\nnode [ id 0 ]\nnode [ id 1 ]\n]\n"))
    assert "component=largest" not in str(caught.value)
    with pytest.raises(FileError) as caught:
        file(write("# directed\na b\nb c\n"))
    assert str(caught.value).endswith("directed=no takes every edge as a link of two directions")


def test_dot_rules(write: Write) -> None:
    text = """# 1 "pre"
    /* x */ digraph "G" { rankdir=LR; node [shape=box, rate="2"]; edge [speed="10G"];
      subgraph cluster_0 { label = "rack"; a; b [label="Bern"] }
      a:port:n -> {b c} -> d [speed=1G];
      d -> "a" [dir=both] ; c [label="x\\N"]; e -> a [dir=back]; e -> d [dir=none, label=<i<b>>];
      d -> a [speed="1" + "0G"];
    }
    """
    topology = file(write(text), component="largest", bandwidth="speed", injection="rate", terminals="all")
    assert topology.labels == ("a", "Bern", "c", "d", "e")
    assert named(topology) == Counter(
        {("a", "Bern"): 1, ("a", "c"): 1, ("Bern", "d"): 1, ("c", "d"): 1, ("d", "a"): 2, ("a", "d"): 1}
    ) + Counter([("a", "e"), ("e", "d"), ("d", "e")])
    assert sorted(Counter(topology.bandwidth).items()) == [(10**9, 4), (10**10, 6)]
    assert topology.injection == (2,) * 5
    assert file(write("strict digraph { a -> b; a -> b; b -> a }")).channels == 2
    assert file(write("digraph\nG\n{ a -> b; a -> b; b -> a }")).channels == 3


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("graph {\n a -> b\n}", 2, "-> in a graph, whose edges are written --"),
        ("digraph {\n a -> b\n", 2, "a { is still open"),
        ("graph { a -- b }\ngraph { c }", 2, "something follows the graph"),
        ("graph {\n a -- \n}", 3, "a name is expected, not '}'"),
        ('graph {\n a -- "b\n}', 2, "is not expected"),
        ("graph {\n subgraph x -- b\n}", 2, "{ is expected"),
        ("graph {\n a [label=<b]\n}", 2, "is not expected"),
        ("graph { }", None, "there is no node in it"),
    ],
)
def test_dot_faults(text: str, line: int | None, said: str, write: Write) -> None:
    with pytest.raises(FileError) as caught:
        file(write(text))
    assert said in str(caught.value)
    assert caught.value.line == line


def test_own_drawings_are_read_back(tmp_path: Path) -> None:
    write_dot(mesh(3, 2), tmp_path / "mesh.dot")
    assert named(file(tmp_path / "mesh.dot")) == named(mesh(3, 2))


def test_pajek_with_arcs_and_edges(write: Write) -> None:
    text = '*Network x\n*Vertices 4\n1 "New York" 0.1 0.2\n2 b\n*Arcs\n1 2 5\n2 1 5\n*Edges\n2 3 7\n3 4 1\n'
    topology = file(write(text), bandwidth="weight")
    assert topology.labels == ("New York", "b", "3", "4")
    assert topology.channels == 6
    assert sorted(topology.bandwidth) == [1, 1, 5, 5, 7, 7]
    with pytest.raises(FileError, match=r":4: an edge names node '9'"):
        file(write("*Vertices 2\n*Edges\n1 2\n1 9\n"))
    with pytest.raises(FileError, match=r":2: the section '\*Matrix' is not read"):
        file(write("*Vertices 2\n*Matrix\n0 1\n1 0\n"))


@pytest.mark.parametrize(
    ("text", "line"), [("p edge 3 3\ne 1 2\ne 2 3\ne 3 9\n", 4), ("e 1 2\np edge 3 3\ne 2 3\ne 3 1\n", 1)]
)
def test_edges_of_dimacs_name_nodes_that_are_counted(text: str, line: int, write: Write) -> None:
    with pytest.raises(FileError, match=r"which the line p before it does not count") as caught:
        file(write(text))
    assert caught.value.line == line


def test_node_link_of_d3_counts_nodes(write: Write) -> None:
    text = '{"nodes": [{"name": "b"}, {"name": "a"}], "links": [{"source": 0, "target": 1, "value": 2.50}]}'
    topology = file(write(text), bandwidth="value")
    assert topology.labels == ("b", "a")
    assert topology.bandwidth == (Fraction(5, 2),) * 2
    grid = networkx.grid_2d_graph(2, 2)
    topology = file(write(json.dumps(networkx.node_link_data(grid, edges="edges"))))
    assert named(topology) == named(from_networkx(grid))
    with pytest.raises(FileError, match="link 0 has no source or no target"):
        file(write('{"nodes": [{"id": 1}], "links": [{"source": 1}]}'))


def test_without_networkx_graph6_says_what_to_install(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write("Bw\n")
    assert file(path).channels == 6
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(MissingExtraError, match=r"needs networkx to read graph6.*obliv\[networkx\]"):
        file(path)
    with pytest.raises(FileError, match="2 graphs in it"):
        file(write("Bw\nBw\n"), format="graph6")


def test_other_files_of_fabrics_are_fabrics(write: Write) -> None:
    line = "{ CA Ports:01 SystemGUID:%s NodeGUID:%s PortGUID:%s VenID:0 DevID:0 Rev:0 {n%d} LID:000%d PN:01 } "
    line += "{ SW Ports:24 SystemGUID:000000000000000a NodeGUID:000000000000000a PortGUID:000000000000000a VenID:0 "
    line += "DevID:0 Rev:0 {s} LID:0001 PN:0%d } PHY=4x LOG=ACT SPD=10\n"
    guids = ["00000000000000b0", "00000000000000c0"]
    text = "".join(line % (guid, guid, guid, k, k + 2, k + 1) for k, guid in enumerate(guids))
    path = write(text)
    assert str(file(path)) == f"fabric:{path}"
    assert len(file(path).terminals) == 2
    with pytest.raises(SpecError, match="opensm-subnet files define their own terminals"):
        file(path, terminals="leaves")


# names, directions, terminals

YED = """<graphml xmlns:y="http://www.yworks.com/xml/graphml"><key for="node" id="d5" yfiles.type="nodegraphics"/>
<key for="edge" id="d9" yfiles.type="edgegraphics"/><graph edgedefault="directed">
<node id="n0"><data key="d5"><y:ShapeNode><y:NodeLabel>Bern<y:LabelModel/></y:NodeLabel></y:ShapeNode></data></node>
<node id="n1"><data key="d5"><y:ShapeNode><y:NodeLabel/><y:NodeLabel> Zug </y:NodeLabel></y:ShapeNode></data></node>
<edge source="n0" target="n1">
<data key="d9"><y:PolyLineEdge><y:EdgeLabel>10G</y:EdgeLabel></y:PolyLineEdge></data></edge>
</graph><data key="d5"><y:NodeLabel>of no node</y:NodeLabel></data></graphml>"""


def test_drawings_of_yed(write: Write) -> None:
    path = write(YED)
    for component in ("", "largest"):
        with pytest.raises(FileError, match="directed=no takes every edge as a link of two directions"):
            file(path, component=component)
    topology = TOPOLOGIES.make(f"file:{path},directed=no,bandwidth=y:EdgeLabel")
    assert topology.labels == ("Bern", "Zug")
    assert topology.bandwidth == (10**10, 10**10)
    assert str(topology) == f"file:{path},bandwidth=y:EdgeLabel,directed=no"


def test_names_where_all_nodes_have_one(write: Write) -> None:
    text = 'graph [ node [ id 0 name "X" ] node [ id 1 name "Y" %s ] node [ id 2 %s ] '
    text += "edge [ source 0 target 1 ] edge [ source 1 target 2 ] ]"
    assert file(write(text % ("", 'name "Z"'))).labels == ("X", "Y", "Z")
    assert file(write(text % ('label "L"', 'name "Z"'))).labels == ("X", "L", "Z")
    assert file(write(text % ('label "L"', ""))).labels == ("0", "L", "2")


def test_directed_no_joins_edges_that_have_one_back(write: Write) -> None:
    text = "# directed\na b 1\nb a 2\nb c 3\nb c 4\nc b 5\n"
    topology = file(write(text), directed="no", bandwidth="bandwidth")
    assert named(topology) == links("ab", "bc", "bc")
    assert sorted(topology.bandwidth) == [1, 2, 3, 4, 4, 5]
    assert "2 edges with an edge back: the two are one link, a channel each way" in topology.notes
    assert file(write("a b\nb a\n"), directed="yes").channels == 2
    assert read_edgelist(write("a b\nb a\n"), directed="yes").channels == 2
    with pytest.raises(SpecError, match="directed=maybe is unknown: known: no, yes"):
        file(write("a b\n"), directed="maybe")


CHOICE = """graph [ node [ id 0 label "gpu0" numServer 2 type "host" ] node [ id 1 label "gpu1" numServer 0 ]
node [ id 2 label "sw" numServer 4 type "leaf" ] node [ id 3 label "cpu0" ]
edge [ source 0 target 2 ] edge [ source 0 target 2 ] edge [ source 1 target 2 ] edge [ source 3 target 2 ]
edge [ source 3 target 1 ] ]"""


@pytest.mark.parametrize(
    ("terminals", "nodes"),
    [
        ("leaves", [0]),
        ("gpu*", [0, 1]),
        ("cpu?|gpu[1-9]", [1, 3]),
        ("numServer>0", [0, 2]),
        ("numServer>=0", [0, 1, 2]),
        ("numServer<2", [1]),
        ("numServer != 2", [1, 2]),
        ("type=host", [0]),
        ("type!=host", [2]),
    ],
)
def test_terminals_by_degree_name_and_attribute(terminals: str, nodes: list[int], write: Write) -> None:
    path = write(CHOICE)
    topology = TOPOLOGIES.make(f"file:{path},terminals={terminals}")
    assert topology.terminals.tolist() == nodes
    assert TOPOLOGIES.make(str(topology)) == topology


@pytest.mark.parametrize(
    ("terminals", "said"),
    [
        ("tpu*", "terminals=tpu* takes no node: none has such a name; there are gpu0, gpu1, sw, cpu0"),
        ("numServers>0", "no node has the attribute 'numServers' that terminals= names; did you mean numServer?"),
        ("numServer>9", "takes no node: none fits that condition; numServer is 0, 2, 4"),
        ("leafs", "terminals=leafs is unknown: did you mean leaves?"),
    ],
)
def test_terminals_that_are_not_there(terminals: str, said: str, write: Write) -> None:
    with pytest.raises(InputError) as caught:
        file(write(CHOICE), terminals=terminals)
    assert said in str(caught.value)


# rates

G = 10**9


@pytest.mark.parametrize(
    ("text", "bits"),
    [
        ("1 Gbit", G),
        ("100 Mbit", 10**8),
        ("10GbE", 10 * G),
        ("10GE", 10 * G),
        ("10Gb", 10 * G),
        ("10G", 10 * G),
        ("10GigE", 10 * G),
        ("2400Gbps", 2400 * G),
        ("1.6 Tb/s", 1600 * G),
        ("100 gbps", 100 * G),
        ("56 Kbit/sec", 56000),
        ("2.5e3M", 2500 * 10**6),
        ("10", 10),
    ],
)
def test_rates_as_people_write_them(text: str, bits: int, write: Write) -> None:
    gml = f'graph [ node [ id 0 up "{text}" ] node [ id 1 up "1" ] edge [ source 0 target 1 bw "{text}" ] ]'
    topology = file(write(gml), bandwidth="bw", injection="up")
    assert topology.bandwidth == (bits, bits)
    assert topology.injection == (bits, 1)
    assert file(write(f"a b {text}\n"), bandwidth="bandwidth").bandwidth == (bits, bits)
    assert file(write(f"source,target,speed\na,b,{text}\n"), bandwidth="speed").bandwidth == (bits, bits)
    rates = write(f"0 {text}\n", "rates.txt")
    assert TOPOLOGIES.make(f"ring:3,injection={rates}").injection == (bits, 1, 1)


@pytest.mark.parametrize("text", ["10 GB/s", "10GBps", "1 MByte/s", "5 GB"])
def test_bytes_are_refused(text: str, write: Write) -> None:
    gml = f'graph [ node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 bw "{text}" ] ]'
    with pytest.raises(FileError, match="it is in bytes: write bits, such as 10 Gb/s, 8 for each byte"):
        file(write(gml), bandwidth="bw")
    with pytest.raises(FileError, match=r"rates.txt:1: .*it is in bytes"):
        TOPOLOGIES.make(f"ring:3,injection={write(f'0 {text}', 'rates.txt')}")


def test_a_mixture_of_units_and_none_is_noted(write: Write) -> None:
    topology = file(write("a b 10G\nb c 10\n"), bandwidth="bandwidth")
    assert "bandwidth has no unit on 1 edge: taken as bit/s, since others have one" in topology.notes
