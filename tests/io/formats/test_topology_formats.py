"""Each format's own rules, and what each says of a broken file."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from obliv.errors import FileError, InputError, TopologyError
from obliv.io import (
    read_anynet,
    read_edgelist,
    read_gml,
    read_graphml,
    write_anynet,
    write_edgelist,
    write_gml,
    write_graphml,
)
from obliv.topologies.base import Topology
from obliv.topologies.families.grids import mesh, ring, torus
from obliv.topologies.make import build

Write = Callable[..., Path]


def channels(topology: Topology) -> list[tuple[int, int]]:
    return list(zip(topology.tail.tolist(), topology.head.tolist(), strict=True))


def graphml(body: str, keys: str = "", default: str = 'edgedefault="undirected"') -> str:
    return f"<graphml>{keys}\n<graph {default}>\n{body}\n</graph></graphml>"


NODES = '<node id="a"/><node id="b"/><node id="c"/>\n'


# GraphML


def test_graphml_labels_ids_and_positions(write: Write) -> None:
    keys = "".join(
        f'<key id="k{k}" for="node" attr.name="{name}"/>' for k, name in enumerate(("label", "Longitude", "Latitude"))
    )
    place = '<data key="k1">{}</data><data key="k2">{}</data>'
    body = (
        f'<node id="a"><data key="k0"> Bern </data>{place.format(7.4, 46.9)}</node>'
        f'<node id="b"><data key="k0"/>{place.format(1, 2)}</node>'
        f'<node id="c"><desc>x<data key="none">y</data></desc>{place.format("{}", 3)}</node>'
        '<edge source="a" target="b"/><edge source="b" target="c"/>'
    )
    topology = read_graphml(write(graphml(body.format(5), keys)))
    assert topology.labels == (" Bern ", "b", "c")
    assert topology.positions is not None
    np.testing.assert_array_equal(topology.positions, [[7.4, 46.9], [1, 2], [5, 3]])
    for bad in ("east", "inf", "1e999", ""):
        assert read_graphml(write(graphml(body.format(bad), keys))).positions is None


def test_graphml_first_mention_numbers(write: Write) -> None:
    body = '<edge source="c" target="a"/>' + NODES + '<edge source="b" target="a"/>'
    assert read_graphml(write(graphml(body))).labels == ("c", "a", "b")


def test_graphml_directed_edges(write: Write) -> None:
    body = NODES + '<edge source="a" target="b" directed="false"/><edge source="b" target="c"/>'
    body += '<edge source="c" target="a" directed="true"/>'
    path = write(graphml(body, default='edgedefault="directed"'))
    assert channels(read_graphml(path)) == [(0, 1), (1, 0), (1, 2), (2, 0)]
    assert "edgedefault is missing" in read_graphml(write(graphml(body, default=""))).notes[0]


def test_graphml_defaults_of_keys(write: Write) -> None:
    keys = '<key id="w" for="edge" attr.name="speed"><default>3/2</default></key>'
    keys += '<key id="i" for="all" attr.name="Internal"><default>1</default></key>'
    body = '<node id="a"/><node id="b"><data key="i">0</data></node>'
    body += '<edge source="a" target="b"/><edge source="a" target="b"><data key="w">2</data></edge>'
    topology = read_graphml(write(graphml(body, keys)), bandwidth="speed", terminals="internal")
    assert topology.bandwidth == tuple(map(Fraction, ("3/2", "2", "3/2", "2")))
    assert topology.terminals.tolist() == [0]


def test_graphml_rates_and_their_defaults(write: Write) -> None:
    keys = '<key id="u" for="node" attr.name="up"><default>1/2</default></key>'
    keys += '<key id="d" for="node" attr.name="down" attr.type="double"/>'
    body = (
        '<node id="a"><data key="d"> 2.0 </data></node><node id="b"><data key="u">3</data><data key="d">1</data></node>'
    )
    body += '<edge source="a" target="b"/>'
    topology = read_graphml(write(graphml(body, keys)), injection="up", ejection="down")
    assert topology.injection == (Fraction(1, 2), 3)
    assert topology.ejection == (2, 1)


def test_graphml_namespace_prefixes(write: Write) -> None:
    text = graphml(NODES + '<edge source="a" target="b"/><edge source="b" target="c"/>')
    text = text.replace("<", "<g:").replace("<g:/", "</g:").replace("<g:graphml", '<g:graphml xmlns:g="u"', 1)
    assert read_graphml(write(text)).channels == 4


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (graphml(NODES + '<edge source="a" target="z"/>'), 4, "node 'z', which the file does not declare"),
        (graphml(NODES + '<node id="a"/>'), 4, "node 'a' appears twice (first in line 3)"),
        (graphml("<node/>"), 3, "<node> has no id"),
        (graphml(NODES + '<edge source="a"/>'), 4, "<edge> has no target"),
        (graphml('<node id="a"><data key="k9">1</data></node>'), 3, "key 'k9', which no <key> declares"),
        (graphml("<node id='a'><data>1</data></node>"), 3, "<data> has no key"),
        (graphml('<node id="a"><graph/></node>'), 3, "a graph inside a node is not read"),
        (graphml("<hyperedge/>"), 3, "a hyperedge inside a graph is not read"),
        (graphml("</graph><graph>"), 3, "a second <graph> begins"),
        (graphml(NODES, default='edgedefault="both"'), 2, "edgedefault is 'both'"),
        (graphml('<edge source="a" target="b" directed="maybe"/>'), 3, "directed is 'maybe'"),
        (graphml(NODES)[:-20], 3, "the file ends in the middle"),
        (graphml(NODES)[:40], 2, "the file ends in the middle"),
        (graphml(NODES + "<node id='d'></edge>"), 4, "mismatched tag"),
        (graphml(NODES + "&bomb;"), 4, "undefined entity"),
        ("<graphml>\n<key id='a'/>\n</graphml>", 3, "there is no <graph>"),
        ("<gexf/>", 1, "the outermost element is <gexf>"),
        ("a b\n", 1, "an XML file starts with <"),
        ('{"a": 1}', 1, "it looks like json"),
        ("<graphml>" + "<a>" * 200, 1, "nested"),
        ('<?xml version="1.0"?>\n<!DOCTYPE graphml [<!ENTITY a "b">]><graphml/>', 2, "<!DOCTYPE> is refused"),
        (graphml(""), None, "there is no node in it"),
    ],
)
def test_graphml_faults(write: Write, text: str, line: int | None, said: str) -> None:
    with pytest.raises(FileError) as caught:
        read_graphml(write(text))
    assert said in str(caught.value)
    assert caught.value.line == line


def test_graphml_repeated_data_is_no_number(write: Write) -> None:
    keys = '<key id="w" for="edge" attr.name="speed"/>'
    body = '<node id="a"/><node id="b"/><edge source="a" target="b"><data key="w">1</data><data key="w">2</data></edge>'
    with pytest.raises(FileError, match="'1,2'"):
        read_graphml(write(graphml(body, keys)), bandwidth="speed")


# GML


def test_gml_strings_comments_and_nested_lists(write: Write) -> None:
    text = """# made by hand
Creator "a & b"
graph
[ directed 0 label "graph [ node"
  node [ id 1 label "Z&#252;rich &amp; &quot;so&quot; &nothing; &#xD800; &lt" graphics [ x 1 id 7 ] ]  # here
  node [ id 2
label "two
lines" ]
  edge [ target 2 source 1 bandwidth "1/3" ]
]
after 1
"""
    topology = read_gml(write(text), bandwidth="bandwidth")
    assert topology.labels == ('Zürich & "so" &nothing; &#xD800; &lt', "two\nlines")
    assert channels(topology) == [(0, 1), (1, 0)]
    assert topology.bandwidth == (Fraction(1, 3), Fraction(1, 3))


def test_gml_directed(write: Write) -> None:
    text = "graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 ] edge [ source 2 target 1 ] directed 1 ]"
    assert read_gml(write(text)).channels == 2
    assert read_gml(write(text.replace("directed 1", "directed 0"))).channels == 4


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("graph [\n node [ id 1 ]\n node [ id 2 ]\n edge [ source 1 target 2 ]\n", 4, "1 list is still open"),
        ("graph [\n node [ id 1 label", 2, "ends in the middle, after the key 'label'"),
        ('graph [\n node [ id 1 label "Be', 2, 'no closing "'),
        ("graph [\n node [ id 1 ]\n]\n]\n", 4, "closes nothing"),
        ("graph [\n node [ id ]\n]\n", 2, "the key 'id' has no value"),
        ("graph [\n [ id 1 ]\n]\n", 2, "a list has no key"),
        ('graph [\n "id" 1 ]\n', 2, "a text has no key"),
        ("graph [\n node [ id 1 7 8 ]\n]\n", 2, "a key is expected, not '7'"),
        ("graph [\n node [ label 1 ]\n]\n", 2, "a node has no id"),
        ("graph [\n edge [ source 1 ]\n]\n", 2, "an edge has no target"),
        ("graph [\n node [ id 1 id 2 ]\n]\n", 2, "id appears twice in this node"),
        ("graph [\n node [ id 1 ]\n node [ id 1 ]\n]\n", 3, "node '1' appears twice (first in line 2)"),
        ("graph [\n node [ id 1 ]\n edge [ source 1 target 2 ]\n]\n", 3, "node '2', which the file does not declare"),
        ("graph [\n directed yes\n]\n", 2, "directed is 'yes'"),
        ("graph [\n]\ngraph [\n]\n", 3, "a second graph begins"),
        ("a " + "[ a " * 200, 1, "nested"),
        ("a 1\n", None, "there is no  graph [ ... ]"),
        ("graph [ ]", None, "there is no node"),
    ],
)
def test_gml_faults(write: Write, text: str, line: int | None, said: str) -> None:
    with pytest.raises(FileError) as caught:
        read_gml(write(text))
    assert said in str(caught.value)
    assert caught.value.line == line


# Edge lists


def test_edgelist_separators_comments_and_names(write: Write) -> None:
    text = "# from somewhere\n\n  New+York\tParis  {}\nParis,Rome\n Rome , a#1  # no name\n"
    topology = read_edgelist(write(text))
    assert topology.labels == ("New+York", "Paris", "Rome", "a#1")
    assert channels(topology) == [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2)]


def test_edgelist_third_column(write: Write) -> None:
    path = write("a b 10\nb c .5\nc,a,1/3\n")
    topology = read_edgelist(path, bandwidth="bandwidth")
    assert topology.bandwidth == tuple(map(Fraction, ("10", "1/3", "10", "1/2", "1/2", "1/3")))
    assert read_edgelist(path).unit_bandwidth
    assert "bandwidth=bandwidth" in read_edgelist(path).notes[0]


@pytest.mark.parametrize(
    ("comment", "directed"),
    [
        ("# directed", True),
        ("#DIRECTED", True),
        ("# Directed graph (each unordered pair of nodes is saved once)", True),
        ("# undirected", False),
        ("# not directed", False),
        ("# a b", False),
    ],
)
def test_edgelist_directed(write: Write, comment: str, directed: bool) -> None:
    topology = read_edgelist(write(f"{comment}\na b\nb c\nc a\n# directed\n"))
    assert topology.channels == (3 if directed else 6)
    assert bool(topology.notes) == ("graph" in comment)


def test_edgelist_says_when_both_directions_are_given(write: Write) -> None:
    topology = read_edgelist(write("a b\nb a\n"))
    assert topology.channels == 4
    assert "put  # directed  first" in topology.notes[0]
    assert not read_edgelist(write("a b\na b\n")).notes


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("a b\nc\n", 2, "the single word 'c'"),
        ("a b\na b c d\n", 2, "4 words"),
        ("a b\na,b c\n", 2, "both commas and spaces"),
        ("a b\na,,b\n", 2, "commas with nothing between"),
        ("a b\na b,\n", 2, "commas with nothing between"),
        ("# only this\n", None, "there is no edge"),
        ("a b {'weight': 1}\n", 1, "NetworkX's read_edgelist"),
    ],
)
def test_edgelist_faults(write: Write, text: str, line: int | None, said: str) -> None:
    with pytest.raises(FileError) as caught:
        read_edgelist(write(text))
    assert said in str(caught.value)
    assert caught.value.line == line


def test_edgelist_attributes_of_nodes(write: Write) -> None:
    text = "# directed\n#node:b  up=1/2 down=2 \n# node: a down=1 up=.5\na b\nb a\n# node: a up=9\n"
    topology = read_edgelist(write(text), injection="up", ejection="down")
    assert topology.labels == ("b", "a")
    assert topology.injection == (Fraction(1, 2), Fraction(1, 2))
    assert topology.ejection == (2, 1)


def test_edgelist_comments_that_are_no_attributes(write: Write) -> None:
    assert read_edgelist(write("# node: b is first\n# node: b up = 1\n# node: b =1\na b\n")).labels == ("a", "b")
    with pytest.raises(FileError, match=r"network.txt:1: up of node 'a' is '1,1': it must be"):
        read_edgelist(write("# node: a up=1 up=1\n# node: b up=1\na b\n"), injection="up")
    with pytest.raises(FileError, match=r"network.txt:2: node 'a' appears twice \(first in line 1\)"):
        read_edgelist(write("# node: a up=1\n# node: a up=1\na b\n"))


# anynet


def test_anynet_of_routers_in_a_triangle(write: Write) -> None:
    lines = [
        f"router {r} " + " ".join(f"node {3 * r + k}" for k in range(3)) + f" router {(r + 1) % 3}" for r in range(3)
    ]
    topology = read_anynet(write("\n".join(lines)))
    assert topology.nodes == 12
    assert topology.channels == 2 * (9 + 3)
    assert topology.labels[:5] == ("router 0", "node 0", "node 1", "node 2", "router 1")
    assert [topology.labels[node] for node in topology.terminals] == [f"node {k}" for k in range(9)]
    everything = read_anynet(write("\n".join(lines)), terminals="all")
    assert everything.all_terminals
    assert str(everything).endswith(",format=anynet,terminals=all")


def test_anynet_rules(write: Write) -> None:
    text = "router 1 node 2 4 router 0 7\n\nrouter 0 node 0 router 1 5\nrouter 0 node 1\nrouter 1 router 0\n"
    topology = read_anynet(write(text + "node 2 router 1 3\nrouter 1 router 1\n"))
    assert topology.labels == ("router 1", "node 2", "router 0", "node 0", "node 1")
    assert topology.terminals.tolist() == [3, 4, 1]
    assert channels(topology) == [(0, 1), (0, 2), (1, 0), (2, 0), (2, 3), (2, 4), (3, 2), (4, 2)]
    assert topology.notes[0] == "latencies are ignored (4 are given)"
    assert "self-loop" in topology.notes[-1]


def test_anynet_spacing_is_forgiven_with_a_note(write: Write) -> None:
    assert not read_anynet(write("router 0 node 0 router 1\r\nrouter 1 node 1\r\n")).notes
    notes = read_anynet(write("router 0 node 0 router 1\nnode 1 router 1\nnode 2 router 0\n")).notes
    assert notes == ("line 3 begins with node 2: BookSim2 itself would add a router 2, and hang",)
    notes = read_anynet(write("router 0 node 0 router 1\nrouter\t1  node 1\n")).notes
    assert notes == ("line 2 has tabs or repeated spaces, BookSim2 itself takes single spaces only",)


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("router 0 node 0\nrouter 1 node 0\n", 2, "node 0 is at router 1, and at router 0 in line 1"),
        ("router 0 node 0 router 2\nrouter 2 node 1\n", None, "router 1 is missing: the 2 routers"),
        ("router 0 node 1\n", None, "node 0 is missing"),
        ("router 0 node 0\nnode 1\n", None, "node 1 has no router"),
        ("node 0 node 1\n", 1, "a node joins a router"),
        ("node 0\n", None, "there is no router"),
        ("router 0 router 1\n", None, "these routers have no nodes"),
        ("router 0 node 0 # here\n", 1, "'#' is not expected here"),
        ("router 0 5 node 0\n", 1, "'5' is not expected here"),
        ("router 0 node 0 5 6\n", 1, "'6' is not expected here"),
        ("router 0 node 0 -5\n", 1, "'-5' is not expected here"),
        ("router 0 node\n", 1, "nothing follows"),
        ("router 0 node x\n", 1, "'x' follows"),
        ("router 0 node 99999999999999999999\n", 1, "needs a whole number"),
        ("router 0 node 0\nrouter 1 node 1\n", None, "2 components: 2 nodes (router 0, node 0)"),
    ],
)
def test_anynet_faults(write: Write, text: str, line: int | None, said: str) -> None:
    with pytest.raises(FileError) as caught:
        read_anynet(write(text))
    assert said in str(caught.value)
    assert caught.value.line == line


def test_anynet_component_keeps_the_order_of_terminals(write: Write) -> None:
    topology = read_anynet(write("router 0 node 2 node 1\nrouter 1 node 0\n"), component="largest")
    assert [topology.labels[node] for node in topology.terminals] == ["node 1", "node 2"]


def test_anynet_of_a_network_whose_routers_are_terminals(tmp_path: Path) -> None:
    write_anynet(mesh(3, 2), tmp_path / "mesh")
    topology = read_anynet(tmp_path / "mesh")
    assert (topology.nodes, topology.channels, len(topology.terminals)) == (12, 14 + 12, 6)
    names = {topology.channel_name(channel) for channel in range(topology.channels)}
    wanted = {f"router {a} -> router {b}" for a, b in channels(mesh(3, 2))}
    assert names == wanted | {f"router {k} -> node {k}" for k in range(6)} | {
        f"node {k} -> router {k}" for k in range(6)
    }


def test_anynet_refuses_what_it_cannot_hold(tmp_path: Path) -> None:
    for topology, messages in (
        (torus(2, 2), "parallel"),
        (build("x", 2, [(0, 1), (1, 0)], bandwidth=[2, 2]), "bandwidths"),
        (build("x", 3, [(0, 1), (1, 2), (2, 0)]), "0 -> 1 has no channel back"),
    ):
        with pytest.raises(TopologyError, match=messages):
            write_anynet(topology, tmp_path / "none")
    assert not list(tmp_path.iterdir())


# Writing


def test_rates_and_terminals_are_not_dropped_in_silence(tmp_path: Path) -> None:
    with pytest.raises(TopologyError, match="with_rates"):
        write_anynet(ring(3).with_rates([1, 2, 3]), tmp_path / "none")
    with pytest.raises(TopologyError, match="with_terminals"):
        write_edgelist(ring(3).with_terminals([1]), tmp_path / "none")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("label", ["", "two words", "a,b", "#a", "é\u2003", "1", '"q"', "'tis", "--"])
def test_edgelist_refuses_labels_that_are_no_words(tmp_path: Path, label: str) -> None:
    topology = build("x", 2, [(0, 1), (1, 0)], labels=("1", label))
    with pytest.raises(FileError, match="write GraphML"):
        write_edgelist(topology, tmp_path / "none")


@pytest.mark.parametrize("write", [write_anynet, write_edgelist, write_gml, write_graphml])
def test_writing_where_one_cannot(tmp_path: Path, write: Callable[[Topology, str | Path], None]) -> None:
    with pytest.raises(FileError, match="its directory does not exist"):
        write(ring(3), tmp_path / "none" / "file")
    with pytest.raises(FileError, match="is a directory"):
        write(ring(3), tmp_path)
    with pytest.raises(FileError, match="not a valid file name"):
        write(ring(3), tmp_path / "a\0b")
    write(ring(3), tmp_path / "file")
    write(ring(3), str(tmp_path / "file"))
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_xml_has_no_control_characters(tmp_path: Path) -> None:
    topology = build("x", 2, [(0, 1), (1, 0)], labels=("a\x01", "b"))
    with pytest.raises(FileError, match="control character"):
        write_graphml(topology, tmp_path / "none")
    write_gml(topology, tmp_path / "file")
    assert read_gml(tmp_path / "file").labels == topology.labels


def test_half_characters_are_refused(tmp_path: Path) -> None:
    topology = build("x", 2, [(0, 1), (1, 0)], labels=("\ud800", "b"))
    for write in (write_edgelist, write_gml, write_graphml):
        with pytest.raises(InputError, match="surrogate"):
            write(topology, tmp_path / "none")
    assert not list(tmp_path.iterdir())
