"""What is written is read back the same, on networks drawn at random."""

from __future__ import annotations

import re
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import examples

from obliv.errors import MissingExtraError, OblivError, TopologyError
from obliv.io import (
    from_networkx,
    read_anynet,
    read_edgelist,
    read_gml,
    read_graphml,
    to_networkx,
    write_anynet,
    write_edgelist,
    write_gml,
    write_graphml,
)
from obliv.topologies.base import Topology
from obliv.topologies.families.grids import hypercube, mesh, ring, torus
from obliv.topologies.make import build

speeds = st.fractions(min_value=Fraction(1, 10**12), max_value=10**12).filter(bool)
odd = "\ufffe\uffff"  # no characters in XML
labels = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters=odd) | st.sampled_from("\t\n\r"), max_size=8
)
words = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"], exclude_characters=",#"), min_size=1, max_size=8)
places = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def networks(draw: st.DrawFn, *, named: st.SearchStrategy[str] | None = None, every_node: bool = False) -> Topology:
    """Strongly connected multigraphs: a cycle through all nodes and what comes on top."""
    nodes = draw(st.integers(1, 7))
    node = st.integers(0, nodes - 1)
    extra = (
        draw(st.lists(st.tuples(node, node).filter(lambda pair: pair[0] != pair[1]), max_size=15)) if nodes > 1 else []
    )
    cycle = draw(st.permutations(range(nodes)))
    ring = list(zip(cycle, [*cycle[1:], cycle[0]], strict=True)) if nodes > 1 else []
    links = draw(st.permutations([*ring, *extra]))
    more: dict[str, Any] = {}
    if named is not None and draw(st.booleans()):
        more["labels"] = tuple(draw(st.lists(named, min_size=nodes, max_size=nodes, unique=every_node)))
    if not every_node and draw(st.booleans()):
        more["positions"] = np.array(draw(st.lists(st.tuples(places, places), min_size=nodes, max_size=nodes)))
    terminals = draw(st.none() if every_node else st.none() | st.lists(node, min_size=1, unique=True))
    bandwidth = draw(st.just([]) | st.lists(speeds, min_size=len(links), max_size=len(links)))
    topology = build('random & <odd> "spec"', nodes, links, bandwidth=bandwidth, terminals=terminals, **more)
    ends = len(topology.terminals)
    rates = st.just([]) | st.lists(speeds, min_size=ends, max_size=ends)
    return topology.with_rates(draw(rates), draw(rates))


def same(one: Topology, other: Topology) -> None:
    assert one.nodes == other.nodes
    assert one.tail.tolist() == other.tail.tolist()
    assert one.head.tolist() == other.head.tolist()
    assert one.bandwidth == other.bandwidth
    assert one.terminals.tolist() == other.terminals.tolist()
    assert one.rates() == other.rates()
    numbers = tuple(map(str, range(one.nodes)))
    assert (one.labels or numbers) == (other.labels or numbers)
    assert (one.positions is None) == (other.positions is None)
    if one.positions is not None and other.positions is not None:
        np.testing.assert_array_equal(one.positions, other.positions)


def asked(topology: Topology) -> dict[str, str]:
    """The options that take everything that was written."""
    return {
        "bandwidth": "bandwidth" if topology.bandwidth else "",
        "terminals": "" if topology.all_terminals else "numbered",
        "injection": "injection" if topology.injection else "",
        "ejection": "ejection" if topology.ejection else "",
    }


@pytest.mark.nightly
@examples(60)
@given(networks(named=labels.filter(str.strip)))
def test_graphml_and_gml(topology: Topology) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "network")
        write_graphml(topology, path)
        same(read_graphml(path, **asked(topology)), topology)
        write_gml(topology, path)
        same(read_gml(path, **asked(topology)), topology)


@examples(60)
@given(networks(named=words, every_node=True))
def test_edgelist(topology: Topology) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "network")
        write_edgelist(topology, path)
        same(read_edgelist(path, **asked(topology)), topology)


@examples(60)
@given(networks(named=labels.filter(str.strip)))
def test_networkx(topology: Topology) -> None:
    pytest.importorskip("networkx")
    same(from_networkx(to_networkx(topology), **asked(topology)), topology)


@st.composite
def switched(draw: st.DrawFn) -> str:
    """Connected anynet files with hosts, their lines and words in any order."""
    routers, hosts = draw(st.integers(1, 5)), draw(st.integers(1, 6))
    router = st.integers(0, routers - 1)
    pairs = [(f"router {k}", f"router {draw(st.integers(0, k - 1))}") for k in range(1, routers)]
    pairs += [(f"router {a}", f"router {b}") for a, b in draw(st.lists(st.tuples(router, router), max_size=6))]
    pairs += [(f"node {k}", f"router {draw(router)}") for k in range(hosts)]
    lines: list[list[str]] = []
    for pair in draw(st.permutations(pairs)):
        head, body = pair if draw(st.booleans()) else pair[::-1]
        if lines and lines[-1][0] == head and draw(st.booleans()):
            lines[-1].append(body)
        else:
            lines.append([head, body])
    return "".join(" ".join(line) + "\n" for line in lines)


@given(switched())
def test_anynet(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "network")
        path.write_text(text)
        topology = read_anynet(path)
        write_anynet(topology, path)
        again = read_anynet(path)  # a line of the file begins with a router, so nodes may come later than before
        assert sorted(again.labels) == sorted(topology.labels)
        for one, other in ((again, topology), (topology, again)):
            assert {one.channel_name(c) for c in range(one.channels)} <= {
                other.channel_name(c) for c in range(other.channels)
            }
            names = ([net.labels[node] for node in net.terminals] for net in (one, other))
            assert next(names) == next(names)
        write_anynet(again, path)
        same(read_anynet(path), again)


@examples(60)
@given(networks(every_node=True))
def test_anynet_of_any_network_keeps_its_links(topology: Topology) -> None:
    pairs = set(zip(topology.tail.tolist(), topology.head.tolist(), strict=True))
    both = build("both", topology.nodes, sorted(pairs | {(b, a) for a, b in pairs})[::-1])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "network")
        write_anynet(both, path)
        again = read_anynet(path)
    names = {again.channel_name(channel) for channel in range(again.channels)}
    assert {f"router {a} -> router {b}" for a, b in pairs} <= names
    assert again.channels == both.channels + 2 * both.nodes
    assert len(again.terminals) == both.nodes


@pytest.mark.parametrize("topology", [mesh(4, 3), torus(4, 4), torus(2, 3), hypercube(4), ring(5)])
def test_families(topology: Topology, tmp_path: Path) -> None:
    for write, read in ((write_graphml, read_graphml), (write_gml, read_gml), (write_edgelist, read_edgelist)):
        write(topology, tmp_path / "network")
        again = read(tmp_path / "network")
        assert again.tail.tolist() == topology.tail.tolist()
        assert again.head.tolist() == topology.head.tolist()
        assert again.labels == ()
        if write is not write_edgelist:
            np.testing.assert_array_equal(again.positions, topology.positions)
    again = from_networkx(to_networkx(topology))
    assert again.head.tolist() == topology.head.tolist()
    assert not again.notes


def test_networkx_reads_what_is_written(tmp_path: Path) -> None:
    networkx = pytest.importorskip("networkx")
    topology = build(
        "x", 3, [(0, 1), (1, 0), (1, 2), (2, 1), (1, 2)], bandwidth=["1/3", 1, 2, 3, 2**40], labels=("ä", "b", 'c"')
    ).with_rates([1, "1/3", 2**40], [1, 2, 3])
    write_graphml(topology, tmp_path / "graphml")
    write_gml(topology, tmp_path / "gml")
    for graph in (networkx.read_graphml(tmp_path / "graphml"), networkx.read_gml(tmp_path / "gml", label="id")):
        assert graph.is_directed()
        assert graph.is_multigraph()
        assert [label for _, label in graph.nodes(data="label")] == list(topology.labels)
        assert [str(rate) for _, rate in graph.nodes(data="injection")] == ["1", "1/3", str(2**40)]
        assert [rate for _, rate in graph.nodes(data="ejection")] == [1, 2, 3]
        assert graph.number_of_edges() == 5
    write_edgelist(ring(5), tmp_path / "edges")
    assert networkx.read_edgelist(tmp_path / "edges").number_of_edges() == 5


def test_what_networkx_writes_is_read(tmp_path: Path) -> None:
    networkx = pytest.importorskip("networkx")
    graph = networkx.petersen_graph()
    networkx.set_edge_attributes(graph, 2.5, "speed")
    networkx.write_graphml(graph, tmp_path / "graphml")
    networkx.write_gml(graph, tmp_path / "gml")
    networkx.write_edgelist(graph, tmp_path / "edges", data=["speed"])
    wanted = from_networkx(graph, bandwidth="speed")
    assert set(wanted.bandwidth) == {Fraction(5, 2)}
    same(read_graphml(tmp_path / "graphml", bandwidth="speed"), wanted)
    same(read_gml(tmp_path / "gml", bandwidth="speed"), wanted)
    same(
        read_edgelist(tmp_path / "edges", bandwidth="bandwidth").with_terminals(range(10)),
        read_sorted(wanted, tmp_path),
    )


def read_sorted(topology: Topology, folder: Path) -> Topology:
    """An edge list numbers the nodes as its edges name them; here that of the graph's own edges."""
    networkx = pytest.importorskip("networkx")
    order = list(dict.fromkeys(node for edge in networkx.petersen_graph().edges for node in edge))
    number = {node: k for k, node in enumerate(order)}
    links = [(number[a], number[b]) for edge in networkx.petersen_graph().edges for a, b in (edge, edge[::-1])]
    return build("petersen", 10, links, bandwidth=["5/2"] * 30, labels=tuple(map(str, order)))


def test_from_networkx() -> None:
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph(name="a square")
    graph.add_node((0, 0), pos=(0, 0))
    graph.add_node("b", pos=[1, 0.5], label="bee")
    graph.add_edge((0, 0), "b", speed=Fraction(1, 3))
    graph.add_edge("b", "b")
    topology = from_networkx(graph, bandwidth="speed")
    assert str(topology) == "networkx:a square"
    assert topology.labels == ("(0, 0)", "bee")
    assert topology.bandwidth == (Fraction(1, 3), Fraction(1, 3))
    assert topology.positions is not None
    assert topology.positions.tolist() == [[0, 0], [1, 0.5]]
    assert from_networkx(graph, spec="mine").spec == "mine"
    assert not topology.sources


def test_from_networkx_rates() -> None:
    networkx = pytest.importorskip("networkx")
    graph = networkx.path_graph(3)
    networkx.set_node_attributes(graph, {0: 0.5, 1: 2, 2: Fraction(1, 3)}, "up")
    assert from_networkx(graph, injection="up").injection == (Fraction(1, 2), 2, Fraction(1, 3))
    graph.nodes[1]["up"] = float("nan")
    with pytest.raises(TopologyError, match="up of node '1' is 'nan': it must be a positive, finite number"):
        from_networkx(graph, injection="up")
    del graph.nodes[1]["up"]
    with pytest.raises(TopologyError, match=r"node '1' has no up \(1 of 3 terminals lacks it\)"):
        from_networkx(graph, ejection="up")
    with pytest.raises(TopologyError, match=r"no node has the attribute 'upp' .*did you mean up"):
        from_networkx(graph, injection="upp")


def test_to_networkx_gives_rates_to_terminals_only() -> None:
    pytest.importorskip("networkx")
    graph = to_networkx(ring(3).with_terminals([2, 0]).with_rates(["1/2", 2]))
    assert dict(graph.nodes(data="injection")) == {0: 2, 1: None, 2: Fraction(1, 2)}
    assert dict(graph.nodes(data="ejection")) == {0: None, 1: None, 2: None}


def test_from_networkx_faults() -> None:
    networkx = pytest.importorskip("networkx")
    with pytest.raises(TopologyError, match="a NetworkX graph is needed, not int"):
        from_networkx(5)
    with pytest.raises(TopologyError, match="no node"):
        from_networkx(networkx.Graph())
    with pytest.raises(TopologyError, match="2 components"):
        from_networkx(networkx.empty_graph(2))
    with pytest.raises(TopologyError, match="not strongly connected"):
        from_networkx(networkx.path_graph(2, create_using=networkx.DiGraph))
    graph = networkx.path_graph(2)
    graph.edges[0, 1]["speed"] = float("inf")
    with pytest.raises(TopologyError, match="speed of edge '0' - '1' is 'inf'"):
        from_networkx(graph, bandwidth="speed")


@pytest.mark.parametrize(
    ("option", "meant"),
    [
        ({"bandwidth": 2}, "bandwidth=2 is not a text: it is the name of an attribute"),
        ({"default": 2}, 'such as default="10"'),
        ({"terminals": [0, 1]}, "with_terminals takes nodes"),
        ({"component": 1}, "it is largest, or empty"),
        ({"injection": 2}, "it is the name of an attribute"),
        ({"spec": 3}, "a topology is called 3, which is not a text"),
    ],
)
def test_from_networkx_takes_texts(option: dict[str, Any], meant: str) -> None:
    networkx = pytest.importorskip("networkx")
    with pytest.raises(OblivError, match=re.escape(meant)):
        from_networkx(networkx.path_graph(3), **option)


def test_networkx_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "networkx", None)
    with pytest.raises(MissingExtraError, match=r"obliv\[networkx\]"):
        to_networkx(ring(3))
