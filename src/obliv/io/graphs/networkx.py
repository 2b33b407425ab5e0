"""Conversion from and to NetworkX graphs."""

from __future__ import annotations

import importlib
from typing import Any

from obliv.errors import TopologyError, extra
from obliv.io.formats._links import Links, Options
from obliv.io.formats._network import network
from obliv.io.formats._write import of_terminals
from obliv.topologies.base import Topology

__all__ = ["from_networkx", "to_networkx"]


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
    links = Links(directed=one_way)
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
    options = Options(bandwidth, default, terminals, component, injection, ejection, directed)
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
