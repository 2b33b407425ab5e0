"""Conversion from and to NetworkX and igraph; named graphs of NetworkX and networks of TopoHub as topologies."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import json
import re
import warnings
from collections.abc import Callable
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Unpack

from obliv._util.text import did_you_mean
from obliv.errors import SpecError, TopologyError, extra
from obliv.io.formats.gml import of_terminals
from obliv.io.formats.links import FileLinks, Options, ReadOptions, network
from obliv.specs.registry import register_topology
from obliv.topologies.base import Topology


def from_networkx(
    graph: Any,
    *,
    bandwidth: str = "",
    default: str = "",
    terminals: str = "",
    component: str = "",
    injection: str = "",
    ejection: str = "",
    directed: str = "",
    spec: str = "",
) -> Topology:
    """Convert a NetworkX graph to a topology.

    Parameters
    ----------
    graph : networkx.Graph, DiGraph, MultiGraph or MultiDiGraph
        Nodes are numbered in the order of the graph and labeled by their attribute `label`, or name. An undirected
        edge is two channels. If every edge has a whole-numbered attribute `channel`, as :func:`to_networkx` sets it,
        channels keep that order.
    bandwidth, default, terminals, component, injection, ejection, directed : str
        As for :func:`obliv.io.formats.topology_file.file`.
    spec : str
        What to call the topology; default ``networkx`` with the graph's name.

    Returns
    -------
    Topology

    Raises
    ------
    TopologyError
        If the graph is empty or disconnected, or an attribute is not what it should be.

    Examples
    --------
    >>> import networkx
    >>> from_networkx(networkx.petersen_graph())
    <Topology networkx:Petersen Graph: 10 nodes, 30 channels, 10 terminals>
    """
    try:
        nodes, edges, one_way = list(graph.nodes(data=True)), list(graph.edges(data=True)), graph.is_directed()
    except (AttributeError, TypeError):
        raise TopologyError(f"a NetworkX graph is needed, not {type(graph).__name__}") from None
    links = FileLinks(directed=one_way)
    number = {}
    for k, (node, attributes) in enumerate(nodes):
        number[node] = str(k)
        links.declare(str(k), None, _texts({"label": node, **attributes}))
    places = [_place(attributes.get("pos")) for _, attributes in nodes]
    if places and None not in places:
        links.positions = [place for place in places if place is not None]
    if all(isinstance(attributes.get("channel"), int) for _, _, attributes in edges):
        edges.sort(key=lambda edge: int(edge[2]["channel"]))
    for tail, head, attributes in edges:
        own = {name: value for name, value in attributes.items() if name != "channel"}
        links.join(number[tail], number[head], None, _texts(own))
    name = getattr(graph, "name", "")
    options = ReadOptions(bandwidth, default, terminals, component, injection, ejection, directed)
    return network(links, spec or (f"networkx:{name}" if name else "networkx"), options)


def to_networkx(topology: Topology) -> Any:
    """Convert a topology to a ``networkx.MultiDiGraph``.

    Parameters
    ----------
    topology : Topology
        Nodes become the numbers from 0, with `label`, `pos`, `terminal` (the terminal's number) and its rates
        `injection` and `ejection` if they are not 1; every channel becomes an edge with its number `channel` and its
        `bandwidth`. Rates and bandwidths are Fractions.

    Returns
    -------
    networkx.MultiDiGraph

    Raises
    ------
    MissingExtraError
        If NetworkX is not installed.

    Examples
    --------
    >>> from obliv.topologies.families.grids import ring
    >>> to_networkx(ring(4)).number_of_edges()
    8
    """
    try:
        networkx = importlib.import_module("networkx")
    except ImportError:
        raise extra("networkx", "networkx") from None
    graph = networkx.MultiDiGraph(name=topology.spec)
    for node in range(topology.nodes):
        graph.add_node(node)
        if topology.labels:
            graph.nodes[node]["label"] = topology.labels[node]
        if topology.positions is not None:
            graph.nodes[node]["pos"] = tuple(topology.positions[node].tolist())
    rates = of_terminals(topology)
    for k, node in enumerate(topology.terminals.tolist()):
        graph.nodes[node].update(rates[node], terminal=k)
    for channel, (tail, head) in enumerate(zip(topology.tail.tolist(), topology.head.tolist(), strict=True)):
        graph.add_edge(tail, head, channel=channel, bandwidth=topology.bandwidth_of(channel))
    return graph


def _texts(attributes: dict[Any, Any]) -> dict[str, str]:
    return {str(name): str(value) for name, value in attributes.items() if value is not None}


def _place(value: Any) -> tuple[float, float] | None:
    try:
        x, y = (float(part) for part in value)
    except (TypeError, ValueError):
        return None
    return x, y


# Conversion from and to igraph graphs


def from_igraph(graph: Any, *, spec: str = "", **options: Unpack[Options]) -> Topology:
    """Convert an igraph graph to a topology, with the options of :func:`from_networkx`.

    Examples
    --------
    >>> import igraph
    >>> from_igraph(igraph.Graph.Famous("Petersen"))
    <Topology igraph: 10 nodes, 30 channels, 10 terminals>
    """
    try:
        vertices, edges, one_way = list(graph.vs), list(graph.es), bool(graph.is_directed())
        named = dict.fromkeys(graph.attributes())
    except (AttributeError, TypeError):
        raise TopologyError(f"an igraph graph is needed, not {type(graph).__name__}") from None
    links = FileLinks(directed=one_way)
    for number, vertex in enumerate(vertices):
        own = _texts(vertex.attributes())
        own.setdefault("label", own.get("name", str(number)))
        links.declare(str(number), None, own)
    for edge in edges:
        links.join(str(edge.source), str(edge.target), None, _texts(edge.attributes()))
    name = str(graph["name"]) if "name" in named else ""
    return network(links, spec or (f"igraph:{name}" if name else "igraph"), ReadOptions(**options))


def to_igraph(topology: Topology) -> Any:
    """Convert a topology to a directed ``igraph.Graph``.

    Examples
    --------
    >>> from obliv.topologies.families.grids import ring
    >>> to_igraph(ring(5)).diameter()
    2
    """
    try:
        igraph = importlib.import_module("igraph")
    except ImportError:
        raise extra("igraph", "symmetry") from None
    ends = list(zip(topology.tail.tolist(), topology.head.tolist(), strict=True))
    graph = igraph.Graph(n=topology.nodes, edges=ends, directed=True)
    graph["name"] = topology.spec
    if topology.labels:
        graph.vs["label"] = list(topology.labels)
    if topology.positions is not None:
        graph.vs["x"], graph.vs["y"] = topology.positions.T.tolist()
    rates = of_terminals(topology)
    number = {node: k for k, node in enumerate(topology.terminals.tolist())}
    graph.vs["terminal"] = [number.get(node) for node in range(topology.nodes)]
    for name in sorted({name for own in rates.values() for name in own} - {"terminal"}):
        graph.vs[name] = [rates.get(node, {}).get(name) for node in range(topology.nodes)]
    graph.es["bandwidth"] = [topology.bandwidth_of(channel) for channel in range(topology.channels)]
    return graph


# The networks of TopoHub, a repository of reference topologies, as topologies


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*(/[A-Za-z0-9][A-Za-z0-9_.-]*){0,3}\Z")


@register_topology("topohub", example="topohub:topozoo/Abilene")
def topohub(name: str, component: str = "") -> Topology:
    """Network of TopoHub: Internet Topology Zoo, SNDlib, Gabriel graphs, backbones and others.

    Parameters
    ----------
    name : str
        Group and name as in TopoHub: ``topozoo/Abilene``, ``sndlib/polska``, ``gabriel/25/0``, ``backbone/africa``.
    component : str
        ``largest``: take the largest component. Default: a disconnected network is refused.

    Returns
    -------
    Topology
        Nodes have the order, names and places (longitude, latitude) of TopoHub; every link is two channels of
        bandwidth 1. Its SHA-256 is a source, so that claims about it hold for no other network of that name.

    Raises
    ------
    SpecError
        If TopoHub has no such network.
    MissingExtraError
        If the package topohub is not installed.

    Examples
    --------
    >>> topohub("sndlib/polska").labels[:3]
    ('Gdansk', 'Bydgoszcz', 'Kolobrzeg')
    """
    spec = f"topohub:{name}" + (f",component={component}" if component else "")
    options = ReadOptions(component=component)
    graph = _read(name)
    links = FileLinks(directed=bool(graph.get("directed")))
    places = []
    try:
        for node in graph["nodes"]:
            links.declare(str(node["id"]), None, {"label": str(node.get("name") or node["id"])})
            places.append(node.get("pos"))
        for link in graph["edges"]:
            links.join(str(link["source"]), str(link["target"]))
        links.complete()
        if places and None not in places:
            links.positions = [(float(x), float(y)) for x, y in places]
    except (KeyError, TypeError, ValueError) as error:
        raise SpecError(f"{spec}: topohub gives no network of nodes and links ({error!r})") from None
    content = json.dumps([graph.get("directed"), graph["nodes"], graph["edges"]], sort_keys=True, default=str)
    digest = hashlib.sha256(content.encode("utf-8")).hexdigest()
    return replace(network(links, spec, options), sources=((f"topohub:{name}", digest),))


def _names(data: Path, pattern: str = "**/*.json") -> list[str]:
    """Return the names in TopoHub that fit a pattern of files."""
    return sorted(file.relative_to(data).with_suffix("").as_posix() for file in data.glob(pattern))


def _meant(data: Path, name: str) -> list[str]:
    """Return the names in TopoHub that a name without its group, or with other upper and lower case, may mean."""
    group, _, last = name.rpartition("/")
    names = _names(data, f"{group or '*'}/*.json")
    if group and name in names:
        return []
    return [other for other in names if other.rpartition("/")[2].lower() == last.lower()]


def _read(name: str) -> dict[str, Any]:
    try:
        package = importlib.import_module("topohub")
    except ImportError:
        raise extra("topohub", "topohub") from None
    wrong = f"topohub:{name[:60]}: TopoHub has no such network; names are like topozoo/Abilene and gabriel/25/0"
    if not _NAME.match(name):
        raise SpecError(wrong)
    data = Path(getattr(package, "__file__", None) or "").parent / "data"
    if others := _meant(data, name):
        raise SpecError(f"{wrong}; did you mean {' or '.join(others[:3])}?")  # also where files have no case
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)  # topohub leaves its files for the collector to close
            graph = package.get(name) if "/" in name else None
    except (KeyError, OSError):
        graph = None
    if not isinstance(graph, dict):
        near = get_close_matches(name, _names(data), 1, 0.85)
        raise SpecError(wrong + (f"; did you mean {near[0]}?" if near else ""))
    return graph


# The named graphs of NetworkX as topologies


@register_topology("graph", example="graph:petersen")
def named_graph(name: str) -> Topology:
    """Named graph of NetworkX: petersen, heawood, icosahedral, karate-club and others.

    Parameters
    ----------
    name : str
        The name of its function without ``_graph``; ``-`` stands for ``_``.

    Returns
    -------
    Topology
        Nodes as in :func:`obliv.from_networkx`; every edge is two channels of bandwidth 1.

    Raises
    ------
    SpecError
        If NetworkX has no such named graph.
    MissingExtraError
        If NetworkX is not installed.

    Examples
    --------
    >>> named_graph("petersen")
    <Topology graph:petersen: 10 nodes, 30 channels, 10 terminals>
    """
    word = name.strip().lower().replace("_", "-").removesuffix("-graph")
    graphs = _graphs()
    if word not in graphs:
        raise SpecError(f"graph:{name[:40]}: NetworkX has no such named graph; {did_you_mean(word, graphs)}")
    return from_networkx(graphs[word](), spec=f"graph:{word}")


def _graphs() -> dict[str, Callable[[], Any]]:
    """Return the functions of NetworkX that make one graph each, by name."""
    graphs = {}
    try:
        modules = [importlib.import_module(f"networkx.generators.{kind}") for kind in ("small", "social")]
    except ImportError:
        raise extra("networkx", "networkx") from None
    for module in modules:
        for name in module.__all__:
            make = getattr(module, name)
            parameters = inspect.signature(make).parameters.values()
            if all(p.default is not p.empty or p.kind is p.VAR_KEYWORD for p in parameters):
                graphs[name.removesuffix("_graph").replace("_", "-")] = make
    return graphs
